"""From a text of `fields:...`, where a key with dots stands in brackets and quotes, to the check that it means."""

from __future__ import annotations

import re
from typing import Final

import msgspec

from evalc.dsl.read_json import half_characters
from evalc.grammar.nodes import CheckLine
from evalc.grammar.parse import parse_rule
from evalc.grammar.parsed import Parsed
from evalc.model import checks as c

_QUOTED_KEY: Final = re.compile(r'(?<!\.)\["(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"\](?=[\s,:.\[]|\Z)')
"""`["a.b"]`, as paths of the case model have it."""


def parse_fields(text: str) -> Parsed[CheckLine]:
    """The parse of a `structure` rule. Keys in quotes are read as plain ones that are as long, so that places hold."""
    if '["' not in text or not text.lstrip().startswith("fields"):
        return parse_rule("structure", text)
    halves = tuple(half for key in _QUOTED_KEY.finditer(text) for half in half_characters(text, *key.span()))
    if halves:
        return Parsed(None, halves)
    parse = parse_rule("structure", _QUOTED_KEY.sub(_plain_key, text))
    line = parse.node
    if line is None or not isinstance(line.check, c.Structure):
        return parse
    places = (line.atoms[f"/fields/{index}/path"] for index in range(len(line.check.fields)))
    fields = tuple(
        msgspec.structs.replace(field, path=text[place.start : place.end])
        for field, place in zip(line.check.fields, places, strict=True)
    )
    return Parsed(msgspec.structs.replace(line, check=c.Structure(fields=fields)), parse.faults)


def _plain_key(quoted: re.Match[str]) -> str:
    """A key without quotes as long as one with them; behind another step, with a dot before it."""
    before = quoted.string[quoted.start() - 1 : quoted.start()]
    begins = not before or before in ",:" or before.isspace()
    return ("k" if begins else ".") + "k" * (len(quoted[0]) - 1)
