"""Writes the TextMate grammar of eval files, which editors colour them by (`make pages`).

Its words are those of the parser's grammar, so a new check is coloured as soon as it can be written.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

from evalc.grammar.check_nodes import CHECK_STARTS
from evalc.grammar.lalr import load
from evalc.grammar.unexpected import check_lines, words_of

ROOT: Final = Path(__file__).parents[1]
GRAMMAR: Final = ROOT / "editors" / "vscode" / "syntaxes" / "evalc.tmLanguage.json"
_WORD: Final = re.compile(r"[a-z][\w-]*")
_JOINING: Final = frozenset({"and", "or", "not", "for"})
_UNITS: Final = frozenset({"chars", "words", "lines", "bytes", "ms", "s", "m"})
_CONSTANTS: Final = frozenset({"true", "false", "null", "none"})
_TYPES: Final = frozenset({"string", "number", "integer", "boolean", "array", "object", "strict", "lenient"})


def grammar() -> dict[str, Any]:
    """The grammar: YAML, and in it the checks that stand on one line."""
    starts = _any(word for start in CHECK_STARTS - {"LPAR"} for word in words_of(start))
    begins = rf"(?=\(|(?:not\s+)*(?:{starts})(?![\w:-]))"
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
                    _words("keyword.operator.evalc", _JOINING),
                    _words("constant.language.evalc", _CONSTANTS),
                    _words("support.type.evalc", _TYPES),
                    _words("keyword.other.unit.evalc", _UNITS),
                    _words("keyword.control.check.evalc", _keywords()),
                    {"match": r"\.\.|[<>=]=", "name": "keyword.operator.evalc"},
                ]
            },
            "numbers": {"match": r"(?<!\w)(?<![0-9]\.)[0-9]+(?:\.[0-9]+)?", "name": "constant.numeric.evalc"},
        },
    }


def _keywords() -> frozenset[str]:
    """Every word of the language of checks but those that have a colour of their own."""
    terminals = load("check").meaningful
    words = {word for terminal in terminals for word in words_of(terminal) if _WORD.fullmatch(word)}
    words |= {word for line in check_lines() for word in line.split() if _WORD.fullmatch(word)}
    return frozenset(words - _JOINING - _CONSTANTS - _UNITS - _TYPES)


def _any(words: Iterable[str]) -> str:
    """A pattern of the words, the longest first, since the first that fits is taken."""
    return "|".join(map(re.escape, sorted(set(words), key=lambda word: (-len(word), word)))).replace(r"\-", "-")


def _words(name: str, words: Iterable[str]) -> dict[str, str]:
    return {"match": rf"(?<![\w.-])(?:{_any(words)})(?![\w-])", "name": name}


def _between(name: str, begin: str, end: str) -> dict[str, Any]:
    escape = {"match": r"\\.", "name": "constant.character.escape.evalc"}
    return {"name": name, "begin": begin, "end": f"{end}|$", "patterns": [escape, {"include": "#templates"}]}


def main() -> None:
    """Write the grammar."""
    GRAMMAR.parent.mkdir(exist_ok=True)
    GRAMMAR.write_text(json.dumps(grammar(), indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
