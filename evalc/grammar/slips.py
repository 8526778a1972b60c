"""From a line that is no check to the check that was probably meant, in words that people use and evalc does not.

A guess is only made where the line that comes of it is a check.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Final

from evalc.grammar.parse import parse_check

_LONGEST: Final = 1_000
_STRING: Final = r"""(?:"[^"\\]*(?:\\.[^"\\]*)*"|'[^'\\]*(?:\\.[^'\\]*)*')"""
_NAMES: Final = r"[\w.-]+(?:\s*,\s*[\w.-]+)*"
_END: Final = r"(?P<end>(?:\s+ignoring case)?(?:\s+for\s+[\w-]+)?)"


def meant_line(text: str) -> str | None:
    """The check, as it is written; None where nobody can say."""
    if len(text) > _LONGEST:
        return None
    line = " ".join(text.split())
    for pattern, rewrite in _SLIPS:
        match = pattern.fullmatch(line)
        if match is None:
            continue
        line = rewrite(match)
        if not parse_check(line).faults:
            return line
    return None


def line_of_pair(words: str, value: str) -> str | None:
    """The check that `words: value` was meant as: without the colon, the value as it is written or in quotes."""
    candidates = (f"{words} {value}".strip(), f"{words} {_quoted(value)}")
    return next((line for line in candidates if not parse_check(line).faults), None) or meant_line(candidates[0])


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _in_quotes(match: re.Match[str]) -> str:
    return f"{match['start']} {_quoted(match['text'])}{match['end']}"


def _in_brackets(match: re.Match[str]) -> str:
    return f"tools {match['words']} [{match['names']}]{match['end']}"


def _any_of(match: re.Match[str]) -> str:
    texts = re.findall(_STRING, match["texts"])
    return f"contains any of [{', '.join(texts)}]{match['end']}"


def _each(match: re.Match[str]) -> str:
    texts = re.findall(_STRING, match["texts"])
    return " and ".join(f"contains {text}" for text in texts) + match["end"]


def _bounded(match: re.Match[str]) -> str:
    """`length > 20` counts whole things, so that it is `length >= 21`."""
    number, sign = match["number"], match["sign"]
    is_strict = sign in {">", "<", "over", "under", "more than", "less than", "fewer than"}
    is_least = sign in {">", "over", "more than", "at least"}
    if is_strict and match["what"] in {"length", "tool count", "tokens"}:
        number = str(max(int(number) + (1 if is_least else -1), 0))
    comparison = "==" if sign in {"=", "is", "exactly"} else ">=" if is_least else "<="
    return f"{match['what']} {comparison} {number}{match['end']}"


_MEASURED: Final = (
    r"(?P<what>length|tool count|tokens|latency|cost) ?"
    r"(?P<sign>[<>]=?|==?|is|exactly|over|under|more than|less than|fewer than|at least|at most) ?"
    r"(?P<number>\$?\d+)(?P<end>.*)"
)
_UNQUOTED: Final = (
    r"(?P<start>(?:not )?(?:contains|equals|starts with|similar to|judge))"
    rf" (?P<text>(?![\"'\[/])(?:(?! (?:and|or) ).)+?){_END}"
)
_NEGATION: Final = r"(?:(?:does|do|must|should|may|can) ?no?t|doesn't|mustn't|shouldn't)"
_PATTERNS: Final[tuple[tuple[str, Callable[[re.Match[str]], str]], ...]] = (
    (r"(?:the )?(?:response |answer |output )(?P<rest>.+)", "{rest}".format_map),
    (rf"{_NEGATION} (?P<rest>.+)", "not {rest}".format_map),
    (r"(?:must be|should be|must|should|has to be|has to|is|be|to be) (?P<rest>.+)", "{rest}".format_map),
    (r"(?:a )?(?:valid )?(?:json|JSON)(?P<end>.*)", "json{end}".format_map),
    (r"not (?:be )?(?:a )?(?:valid )?(?:json|JSON)", "not json".format_map),
    (r"(?:not|non)[ -]?(?:be )?empty", "non-empty".format_map),
    (r"(?P<no>(?:not )?)(?:contain|includes?|mentions?) (?P<rest>.+)", "{no}contains {rest}".format_map),
    (r"(?P<no>(?:not )?)(?:equal to|equals to|equal|exactly) (?P<rest>.+)", "{no}equals {rest}".format_map),
    (r"(?P<no>(?:not )?)(?:match|regex) (?P<rest>.+)", "{no}matches {rest}".format_map),
    (r"(?P<no>(?:not )?)(?:start|begins?) with (?P<rest>.+)", "{no}starts with {rest}".format_map),
    (rf"tools? (?P<words>called|not called) (?P<names>{_NAMES}){_END}", _in_brackets),
    (rf"contains(?: any of| either)? (?P<texts>{_STRING}(?:(?:,| or|, or) {_STRING})+){_END}", _any_of),
    (rf"contains(?: both)? (?P<texts>{_STRING}(?:(?:,| and|, and) {_STRING})+){_END}", _each),
    (_MEASURED, _bounded),
    (_UNQUOTED, _in_quotes),
)
_SLIPS: Final = tuple((re.compile(pattern), rewrite) for pattern, rewrite in _PATTERNS)
"""What people write, and what it is in evalc's words; tried in this order, each on what the one before has made."""
