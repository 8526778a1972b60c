"""Writes the TextMate grammar of eval files, which editors colour them by (`make pages`).

Its words are those of the parser's grammar, so a new check is coloured as soon as it can be written.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final

from evalc.grammar.lalr import following, load

ROOT: Final = Path(__file__).parents[1]
GRAMMAR: Final = ROOT / "editors" / "vscode" / "syntaxes" / "evalc.tmLanguage.json"
_KEYWORD: Final = re.compile(r"(?:\(\?:)*[a-z]")
"""The beginning of the pattern of a terminal that is a word of the language."""
_COLOURS: Final = {
    "keyword.operator.evalc": ("AND", "OR", "NOT", "FOR"),
    "constant.language.evalc": ("TRUE", "FALSE", "NULL", "NONE"),
    "support.type.evalc": ("TYPE", "FIELD_TYPE", "FORMAT", "JSON_MODE"),
    "keyword.other.unit.evalc": ("DURATION", "COUNTED"),
}
"""The colours of terminals that have one of their own; the other words of the language share one."""


def grammar() -> dict[str, Any]:
    """The grammar: YAML, and in it the checks that stand on one line."""
    table = load("check")
    patterns = {terminal.name: terminal.pattern for terminal in table.terminals}
    starts = {patterns[start] for start in following(table, "line", "").terminals}
    begins = rf"(?=\(|(?![\w-]+[ \t]*:)(?:{_any(filter(_KEYWORD.match, starts))}))"
    inside = [{"include": f"#{name}"} for name in ("strings", "patterns", "templates", "criterion", "words", "numbers")]
    check = {"name": "meta.check.evalc", "patterns": inside}
    plain = {**check, "begin": rf"(?<=-)[ \t]+{begins}", "end": r"(?=[ \t]+#)|$"}
    in_list = {**check, "begin": rf"(?<=[\[,])[ \t]*{begins}", "end": r"(?=[,\]])|$"}
    quoted = {
        **check,
        "begin": rf"(?<=[-\[,])([ \t]*)(')(?={begins[3:]}",
        "beginCaptures": {"2": {"name": "punctuation.definition.string.begin.evalc"}},
        "end": r"'(?!')|$",
        "endCaptures": {"0": {"name": "punctuation.definition.string.end.evalc"}},
    }
    return {
        "name": "evalc",
        "scopeName": "source.evalc",
        "fileTypes": ["eval.yaml", "eval.yml", "cases.yaml", "cases.yml", "prompt.yaml", "prompt.yml"],
        "patterns": [{"include": "source.yaml"}],
        "injections": {
            "L:source.evalc - comment - meta.check - string.quoted - string.unquoted.block": {
                "patterns": [plain, quoted, in_list]
            },
            "L:source.evalc string": {"patterns": [{"include": "#templates"}]},
        },
        "repository": {
            "strings": {
                "patterns": [
                    _between("string.quoted.double.evalc", '"', '"'),
                    _between("string.quoted.single.evalc", "''", "''"),
                ]
            },
            "patterns": {
                "match": r"(?<=matches )(/)((?:[^/\\\r\n]|\\.)+)(/)([a-z]*)",
                "captures": {
                    "2": {"name": "string.regexp.evalc"},
                    "4": {"name": "keyword.other.flags.evalc"},
                },
            },
            "templates": {
                "match": r"\{\{[^{}\r\n]*\}\}",
                "name": "variable.other.template.evalc",
            },
            "criterion": {
                "match": r"\b(for)[ \t]+([\w-]+)",
                "captures": {
                    "1": {"name": "keyword.operator.evalc"},
                    "2": {"name": "entity.name.tag.criterion.evalc"},
                },
            },
            "words": {
                "patterns": [
                    *(_words(name, (patterns[each] for each in terminals)) for name, terminals in _COLOURS.items()),
                    _words("keyword.control.check.evalc", _keywords(patterns)),
                    {"match": r"\.\.|[<>=!]=?|&&|\|\|", "name": "keyword.operator.evalc"},
                ]
            },
            "numbers": {"match": r"(?<!\w)(?<![0-9]\.)[0-9]+(?:\.[0-9]+)?", "name": "constant.numeric.evalc"},
        },
    }


def _keywords(patterns: Mapping[str, str]) -> Iterable[str]:
    """The patterns of the words of the language but those that have a colour of their own."""
    own = {terminal for terminals in _COLOURS.values() for terminal in terminals}
    return (each for name, each in patterns.items() if name not in own and _KEYWORD.match(each))


def _any(patterns: Iterable[str]) -> str:
    """A pattern of any of the patterns."""
    return "|".join(sorted(set(patterns)))


def _words(name: str, patterns: Iterable[str]) -> dict[str, str]:
    return {"match": rf"(?<![\w.-])(?:{_any(patterns)})", "name": name}


def _between(name: str, begin: str, end: str) -> dict[str, Any]:
    escape = {"match": r"\\.", "name": "constant.character.escape.evalc"}
    return {"name": name, "begin": begin, "end": f"{end}|$", "patterns": [escape, {"include": "#templates"}]}


def main() -> None:
    """Write the grammar."""
    GRAMMAR.parent.mkdir(exist_ok=True)
    GRAMMAR.write_text(json.dumps(grammar(), indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
