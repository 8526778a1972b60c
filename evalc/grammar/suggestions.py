"""Suggests the check that was meant by a line in words that people use and evalc does not.

A guess is only made where the line that comes of it is a check.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from itertools import combinations
from typing import Final, NamedTuple

from evalc.grammar.parse import parse_check
from evalc.model.checks import TextCheck
from evalc.model.checks.declaration import beginnings, members

_LONGEST: Final = 1_000
_MOST_CHOICES: Final = 10
_STRING: Final = r"""(?:"[^"\\]*(?:\\.[^"\\]*)*"|'[^'\\]*(?:\\.[^'\\]*)*')"""
_NAMES: Final = r"[\w.-]+(?:\s*,\s*[\w.-]+)*"
_TAIL: Final = r"(?:\s+ignoring case)?(?:\s+for\s+[\w-]+)?"
_END: Final = f"(?P<end>{_TAIL})"


class Meant(NamedTuple):
    """The lines that may be meant, the likeliest first, and whether that one surely is."""

    lines: tuple[str, ...]
    is_sure: bool


def meant_by(text: str) -> Meant | None:
    """The check, as it is written; None if nobody can say."""
    if len(text) > _LONGEST:
        return None
    line = " ".join(text.split())
    guessed = False
    for pattern, rewrite in _SLIPS:
        match = pattern.fullmatch(line)
        if match is None:
            continue
        line = rewrite(match)
        guessed |= rewrite in _GUESSES
        if not parse_check(line).faults:
            return Meant((line,), not guessed)
    bare = _UNCOMPARED.fullmatch(line)
    lines = tuple(f"{bare['what']} {sign} {bare['rest']}" for sign in (">=", "<=", "==")) if bare is not None else ()
    sound = tuple(line for line in lines if not parse_check(line).faults)
    return Meant(sound, len(sound) == 1) if sound else None


def meant_by_pair(words: str, value: str) -> Meant | None:
    """The check that `words: value` was meant as.

    Behind the words of a check the colon is one too many, and the value is the rule as it is written or in quotes; in
    a text that lacks its quotes it belongs to the text.
    """
    candidates = (f"{words} {value}".strip(), f"{words} {_quoted(value)}")
    sound = next((line for line in candidates if not parse_check(line).faults), None)
    if sound is not None:
        return Meant((sound,), True)
    return meant_by(f"{words}: {value}") or meant_by(candidates[0])


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _in_quotes(match: re.Match[str]) -> str:
    return f"{match['start']} {_quoted(match['text'])}{match['end']}"


def _in_brackets(match: re.Match[str]) -> str:
    return f"tools {match['words']} [{match['names']}]{match['end']}"


def _straight(match: re.Match[str]) -> str:
    return _CURLY.sub(lambda text: _quoted(text[1] or text[2]), match[0])


def _as_pattern(match: re.Match[str]) -> str:
    pattern = match["text"].replace("/", r"\/")
    return f"{match['start']} /{pattern}/{match['end']}"


def _contains_any(match: re.Match[str]) -> str:
    return f"contains any of [{', '.join(_texts(match['texts']))}]{match['end']}"


def _one_of(match: re.Match[str]) -> str:
    return f"{match['words']} [{', '.join(_texts(match['texts']))}]{match['end']}"


def _each(match: re.Match[str]) -> str:
    return " and ".join(f"contains {text}" for text in _texts(match["texts"])) + match["end"]


def _at_least(match: re.Match[str]) -> str:
    """Each choice of this many of the texts, joined; none if there are too many to help."""
    texts, least = _texts(match["texts"]), int(match["least"])
    if least == 1:
        return f"contains any of [{', '.join(texts)}]{match['end']}"
    choices = [" and ".join(f"contains {text}" for text in some) for some in combinations(texts, least)]
    if not choices or len(choices) > _MOST_CHOICES:
        return match[0]
    joined = choices[0] if len(choices) == 1 else " or ".join(f"({choice})" for choice in choices)
    return f"{joined}{match['end']}"


def _on_a_scale(match: re.Match[str]) -> str:
    """A least score with the scale that it is probably meant on: to 1, 5 or 10."""
    least = float(match["least"])
    scale = next((scale for scale in (1, 5, 10) if least <= scale), None)
    return match[0] if scale is None else f"{match['start']} >= {match['least']}/{scale}{match['end']}"


def _of_any_call(match: re.Match[str]) -> str:
    """A bound of a parameter, as a check of any call has it."""
    comparison = ">=" if match["sign"] in _LEAST else "<="
    return f"any call of {match['tool']} has {match['param']} {comparison} {match['number']}{match['end']}"


_GUESSES: Final = (_on_a_scale, _of_any_call)
"""The rewritings of which only the author knows whether they are meant."""


def _either(match: re.Match[str]) -> str:
    return " or ".join(f"{match['words']} {text}" for text in _texts(match["texts"])) + match["end"]


def _texts(listed: str) -> list[str]:
    """The texts of a list, in quotes: those that have none are names or words between commas."""
    listed = _JOINED.sub(", ", listed)
    return [text if text[0] in "\"'" else _quoted(text) for text in re.findall(rf"{_STRING}|{_BARE}", listed)]


def _headings(match: re.Match[str]) -> str:
    return f"has headings {', '.join(_texts(match['texts']))}{match['end']}"


def _with_words(match: re.Match[str]) -> str:
    """The line with `and` and `or` for the signs of programming languages."""
    return re.sub(rf"({_STRING})|&&?|\|\|?", lambda sign: sign[1] or ("and" if "&" in sign[0] else "or"), match[0])


def _bounded(match: re.Match[str]) -> str:
    """`length > 20` counts whole things, so that it is `length >= 21`."""
    number, sign = match["number"], match["sign"]
    is_strict = sign in {">", "<", "over", "above", "under", "below", "more than", "less than", "fewer than"}
    is_least = sign in _LEAST
    if is_strict and match["what"] in {"length", "tool count", "tokens"}:
        number = str(max(int(number) + (1 if is_least else -1), 0))
    comparison = "==" if sign in {"=", "==", "is", "exactly"} else ">=" if is_least else "<="
    return f"{match['what']} {comparison} {number}{match['end']}"


def _in_unit(match: re.Match[str]) -> str:
    return f"{match['start']}{_UNITS[match['unit']]}{match['end']}"


_UNITS: Final = {
    **dict.fromkeys(("millisecond", "milli", "msec"), "ms"),
    **dict.fromkeys(("second", "sec"), "s"),
    **dict.fromkeys(("minute", "min"), "m"),
    **dict.fromkeys(("character", "char", "letter"), " chars"),
    "word": " words",
    "line": " lines",
    "byte": " bytes",
}
_SIGN: Final = (
    r"(?:[<>]=?|==?|is|exactly|over|above|under|below|more than|less than|fewer than|at least|at most"
    r"|max(?:imum)?|min(?:imum)?|no (?:more|less) than|up to)"
)
_LEAST: Final = frozenset({">", ">=", "over", "above", "more than", "at least", "min", "minimum", "no less than"})
_MEASURED: Final = (
    rf"(?P<what>length|tool count|tokens|latency|cost) ?(?P<sign>{_SIGN}) ?"
    r"(?P<number>\$?\d+)(?P<end>.*)"
)
_UNCOMPARED: Final = re.compile(r"(?P<what>length|tool count|tokens|latency|cost):? (?P<rest>\$?\d.*)")
_CURLY: Final = re.compile(r"[“„”]([^“„”]*)[“”]|`([^`]*)`")
_MEANS_MORE: Final = re.compile(r"[\\^$.*+?()\[\]{}|/]")
_JOINED: Final = re.compile(r"(?<=[\"']),? (?:and|or) (?=[\"'])")
_BARE: Final = r"[^\s\"',\[\]](?:[^\"',\[\]]*[^\s\"',\[\]])?"
_LIST: Final = rf"\[?(?P<texts>(?:{_STRING}|{_BARE})(?:, ?(?:{_STRING}|{_BARE}))*)\]?"
_STRINGS: Final = rf"{_STRING}(?:(?:,| %s|, %s) {_STRING})+"
_SOME: Final = _STRINGS % ("or", "or")
_ALL: Final = _STRINGS % ("and", "and")
_PARAM: Final = r"tool [\w-]+\.[\w.-]+"
_TEXT: Final = r"(?![\"'\[/])(?P<text>(?:(?! (?:and|or) )[^\"])+?)"
_OF_A_TEXT: Final = "|".join(line for kind in members(TextCheck) if "{value}" in kind.line for line in beginnings(kind))
_UNQUOTED: Final = (
    rf"(?P<start>(?:not )?(?:{_OF_A_TEXT}|judge)|{_PARAM} (?:not )?(?:equals|contains)"
    rf"|at \S+ (?:not )?(?:{_OF_A_TEXT})) {_TEXT}(?P<end>(?: >= [\d./]+%?)?{_TAIL})"
)
_WITHOUT_SLASHES: Final = (
    rf"(?P<start>(?:(?:{_PARAM}|at \S+) )?(?:not )?matches) (?![\"'/])(?P<text>(?:(?! (?:and|or) ).)+?){_END}"
)
_NEGATION: Final = r"(?:(?:does|do|must|should|may|can) ?no?t|doesn't|mustn't|shouldn't|never)"
_COUNTED: Final = r"(?P<what>length|tokens|tool count|latency|cost)"
_PATTERNS: Final[tuple[tuple[str, Callable[[re.Match[str]], str]], ...]] = (
    (r"[^“„”`]*(?:[“„”][^“„”]*[“”]|`[^`]*`).*", _straight),
    (r"[^/]*(?:&|\|)[^/]*", _with_words),
    (r"(?:the )?(?:response |answer |output )(?P<rest>.+)", "{rest}".format_map),
    (rf"(?:is not|isn't|is no|!=|not equal(?:s| to)?) (?P<rest>{_STRING}.*)", "not equals {rest}".format_map),
    (rf"(?:is|==?) (?P<rest>{_STRING}.*)", "equals {rest}".format_map),
    (
        r"(?P<no>(?:not )?)match(?:es)? (?:the )?(?:regexp?|pattern|regular expression) (?P<rest>.+)",
        "{no}matches {rest}".format_map,
    ),
    (rf"(?P<sign>max(?:imum)?|min(?:imum)?) {_COUNTED}[: ]+(?P<number>\$?\d+)(?P<end>.*)", _bounded),
    (rf"contains at least (?P<least>\d) of {_LIST}{_END}", _at_least),
    (rf"(?P<start>judge {_STRING}) >= (?P<least>0?\.\d+|\d+)(?P<end>{_TAIL})", _on_a_scale),
    (rf"{_NEGATION} (?P<rest>.+)", "not {rest}".format_map),
    (r"(?:must be|should be|must|should|has to be|has to|is|be|to be) (?P<rest>.+)", "{rest}".format_map),
    (r"(?:a )?(?:valid )?(?:json|JSON)(?P<end>.*)", "json{end}".format_map),
    (r"not (?:be )?(?:a )?(?:valid )?(?:json|JSON)", "not json".format_map),
    (r"(?:not|non)[ -]?(?:be )?empty", "non-empty".format_map),
    (r"no (?:tool )?errors?(?P<end>.*)", "no tool errors{end}".format_map),
    (r"no tools? (?:called|calls?)(?P<end>.*)", "tools called []{end}".format_map),
    (rf"(?:not|no|without) (?P<rest>{_STRING}.*)", "not contains {rest}".format_map),
    (
        r"(?P<no>(?:not )?)icontains (?P<rest>\S.*?)(?P<end>(?: for [\w-]+)?)",
        "{no}contains {rest} ignoring case{end}".format_map,
    ),
    (r"(?P<no>(?:not )?)(?:contain|includes?|mentions?) (?P<rest>.+)", "{no}contains {rest}".format_map),
    (
        r"(?P<no>(?:not )?)contains (?:the )?(?:word|phrase|text|string|term) (?P<rest>.+)",
        "{no}contains {rest}".format_map,
    ),
    (
        r"(?P<rest>.+?),? \(?(?:case[ -]insensitive|ignor(?:e|es|ing)(?: the)? case)\)?(?P<end>(?: for [\w-]+)?)",
        "{rest} ignoring case{end}".format_map,
    ),
    (rf"(?P<start>{_PARAM}) (?:==?|is|equal|equal to) (?P<rest>.+)", "{start} equals {rest}".format_map),
    (rf"(?P<start>{_PARAM}) (?:exist|is there|is set)(?P<end>.*)", "{start} exists{end}".format_map),
    (rf"(?P<words>{_PARAM} (?:not )?one of) {_LIST}{_END}", _one_of),
    (r"(?P<no>(?:not )?)(?:equal to|equals to|equal|exactly) (?P<rest>.+)", "{no}equals {rest}".format_map),
    (r"(?P<no>(?:not )?)(?:match|regex) (?P<rest>.+)", "{no}matches {rest}".format_map),
    (r"(?P<no>(?:not )?)(?:start|begins?) with (?P<rest>.+)", "{no}starts with {rest}".format_map),
    (r"(?P<no>(?:not )?)end with (?P<rest>.+)", "{no}ends with {rest}".format_map),
    (rf"tools? (?P<words>called|not called) (?P<names>{_NAMES}|{_STRING}(?:, ?{_STRING})*){_END}", _in_brackets),
    (rf"tools? (?P<names>{_NAMES}) (?:(?:is|are|was|were) )?(?P<words>called|not called){_END}", _in_brackets),
    (rf"calls? (?:the )?(?:tools? )?(?P<names>{_NAMES}){_END}", "tools called [{names}]{end}".format_map),
    (rf"contains (?:(?:any|one|either)(?: of)? )?(?P<texts>{_SOME}){_END}", _contains_any),
    (rf"contains (?:any|one|either)(?: of)? {_LIST}{_END}", _contains_any),
    (rf"contains(?: both| all(?: of)?)? (?P<texts>{_ALL}){_END}", _each),
    (rf"contains all(?: of)? {_LIST}{_END}", _each),
    (rf"(?P<words>starts with|ends with|equals) (?P<texts>{_SOME}){_END}", _either),
    (
        rf"has (?:the )?(?:fields?|keys?) (?P<open>\[?)(?P<names>{_NAMES})(?(open)\]?){_END}",
        "has fields {names}{end}".format_map,
    ),
    (rf"has (?:the )?(?:headings?|sections?) {_LIST}{_END}", _headings),
    (rf"(?P<rest>{_SIGN} \d+ (?:char|word|line|byte|letter).*)", "length {rest}".format_map),
    (
        r"(?P<what>length|tool count) (?:between |from )?(?P<least>\d+) ?(?:and|to|-) ?(?P<most>\d+)(?P<end>.*)",
        "{what} {least}..{most}{end}".format_map,
    ),
    (_MEASURED, _bounded),
    (
        rf"tool (?P<tool>[\w-]+)\.(?P<param>[\w.-]+) (?P<sign>(?!=|is |exactly){_SIGN}) ?(?P<number>-?[\d.]+){_END}",
        _of_any_call,
    ),
    (
        rf"(?P<start>(?:latency|length) [^a-z]*[\d.]+) ?(?P<unit>{'|'.join(_UNITS)})s?{_END}",
        _in_unit,
    ),
    (rf"(?P<start>cost <= \$?[\d.]+) ?(?:USD|dollars?|\$){_END}", "{start}{end}".format_map),
    (
        rf"(?P<start>(?:similar to|judge) {_STRING}) (?:at least |at |> ?)?(?P<least>[\d.]+(?:%|/\d+)?){_END}",
        "{start} >= {least}{end}".format_map,
    ),
    (_UNQUOTED, _in_quotes),
    (_WITHOUT_SLASHES, _as_pattern),
)
_SLIPS: Final = tuple((re.compile(pattern), rewrite) for pattern, rewrite in _PATTERNS)
"""What people write, and what it is in evalc's words; tried in this order, each on what the one before has made."""
