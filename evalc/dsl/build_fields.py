"""From a text of `fields:...`, where a key with dots stands in brackets and quotes, to the check that it means."""

from __future__ import annotations

import re
from typing import Final

import msgspec

from evalc.dsl.read_json import half_characters
from evalc.grammar import nodes as g
from evalc.grammar.parse import parse_rule
from evalc.grammar.parsed import Parsed
from evalc.model.paths import EVERY, steps

_QUOTED_KEY: Final = re.compile(r'(?<!\.)\["(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"\](?=[\s,:.\[]|\Z)')
"""`["a.b"]`, as paths of the case model have it."""


def parse_fields(text: str) -> Parsed[g.Check]:
    """The parse of a `structure` rule. Keys in quotes are read as plain ones that are as long, so that places hold."""
    if '["' not in text or not text.lstrip().startswith("fields"):
        return parse_rule("structure", text)
    halves = tuple(half for key in _QUOTED_KEY.finditer(text) for half in half_characters(text, *key.span()))
    if halves:
        return Parsed(None, halves)
    parse = parse_rule("structure", _QUOTED_KEY.sub(_plain_key, text))
    if not isinstance(parse.node, g.Structure):
        return parse
    fields = tuple(msgspec.structs.replace(field, path=_as_written(field.path, text)) for field in parse.node.fields)
    return Parsed(msgspec.structs.replace(parse.node, fields=fields), parse.faults)


def _plain_key(quoted: re.Match[str]) -> str:
    """A key without quotes as long as one with them; behind another step, with a dot before it."""
    before = quoted.string[quoted.start() - 1 : quoted.start()]
    begins = not before or before in ",:" or before.isspace()
    return ("k" if begins else ".") + "k" * (len(quoted[0]) - 1)


def _as_written(path: g.Path, text: str) -> g.Path:
    written = text[path.start : path.end]
    found = tuple(None if step == EVERY else step for _, step in steps(written))
    return msgspec.structs.replace(path, text=written, steps=found)
