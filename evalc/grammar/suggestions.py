"""Suggests the check that was meant by a line that is not a check.

The parser says where the line stops making sense. There, and only there, one of three repairs is tried: other words for
the same thing are replaced, a misspelt keyword is corrected, or the rest of the line is put in quotes or brackets.
Everything else stays as it was written. A line is only suggested if the result is a check.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from functools import cache
from typing import Final, NamedTuple

from evalc.diagnostics.near import typo_of
from evalc.grammar.lalr import load
from evalc.grammar.parse import follow_check, parse_check
from evalc.grammar.unexpected import check_words, words_of

_LONGEST: Final = 1_000
_MOST_REPAIRS: Final = 8
_BARE: Final = re.compile(r"[\w .-]+")


class Meant(NamedTuple):
    """The line that was meant, and whether it surely was: then only quotes and brackets were added."""

    line: str
    is_sure: bool


def meant_by(text: str) -> Meant | None:
    """The check that a line was meant as; None if nobody can say."""
    if len(text) > _LONGEST or text != text.strip():
        return None
    meant = Meant(text, True)
    for _ in range(_MOST_REPAIRS):
        repaired = _repaired(meant.line)
        if repaired is None:
            return None
        meant = Meant(repaired.line, meant.is_sure and repaired.is_sure)
        if not parse_check(meant.line).faults:
            return meant
    return None


def meant_by_pair(words: str, rule: str | None, text: str | None, written: str) -> str | None:
    """The check that a key (`words`) and its value were meant as; None if nobody can say.

    `rule` is the value as it is written, unless it is in quotes; `text` is the text that it is, unless it is a list or
    a mapping. `written` is the key, the value, and what is between them: their colon is only left out where it is not
    part of a text.
    """
    if not _BARE.fullmatch(words):
        return None
    as_rule = None if rule is None else f"{words} {rule}".strip()
    is_text = text is not None and (rule is None or may_be_text(rule, of=words))
    as_text = f"{words} {json.dumps(text, ensure_ascii=False)}" if is_text else None
    candidates = [line for line in (as_rule, as_text) if line is not None]
    sound = next((line for line in candidates if not parse_check(line).faults), None)
    if sound is not None:
        return sound
    with_colon = None if rule is None else written
    of_rule = as_rule if follow_check(words).at >= len(words) else None
    tried = (meant_by(line) for line in (with_colon, as_text, of_rule) if line is not None)
    meant = next((each for each in tried if each is not None), None)
    return None if meant is None else meant.line


def _repaired(line: str) -> Meant | None:
    """The line with a repair where the parser stops."""
    follows = follow_check(line)
    before, rest = line[: follows.at], line[follows.at :]
    for phrase in _PHRASES:
        if phrase.terminal in follows.terminals and (found := phrase.pattern.match(rest)) is not None:
            written = phrase.replacement(before, found)
            if written is not None:
                return Meant(f"{before}{written}{rest[found.end() :]}", False)
    return _quoted(before, rest, follows.terminals) or _respelt(before, rest, follows.terminals)


# --- quotes and brackets ---------------------------------------------------------------------------------------------

_VALUES: Final = frozenset(("STRING", "REGEXP", "ANY", "NUMBER", "TRUE", "FALSE", "NULL", "LSQB", "LBRACE"))
"""Terminals that may follow the words of a check that only lack a text."""
_WORD: Final = re.compile(r"[^\W\d_]+(?:['\u2019][^\W\d_]+)*")
_TEXT: Final = re.compile(r"(?!.*(?:\.\w|(?<!\w)/|(?<!\w)&|&(?!\w)|(?<!\w)['!\u2019]))[\w '\u2019.!?:;/&%°@#$€+-]+")
"""A text that may have lost its quotes: no sign in it is an operator, a path, a list or a quote."""
_PATTERN: Final = re.compile(r"(?!.*(?:\w\.\w|\$\.|\[\*\]|[=<>~]=))[^\s/\"'{}]+")
_WORDS: Final = re.compile(r"[^\W\d_]+(?:['\u2019-][^\W\d_]+)*(?: [^\W\d_]+(?:['\u2019-][^\W\d_]+)*)*")
_NAMES: Final = re.compile(r"[A-Za-z_][\w-]*(?: ?, ?[A-Za-z_][\w-]*)*", re.ASCII)
_SURE_NAMES: Final = re.compile(r"[,_A-Z0-9-]")
_DESCRIBES: Final = re.compile(
    "an?|the|th(?:is|at|[eo]se)|some|each|n?either|both|all|(?:an)?other|its|his|her|their|our|your|my|wh(?:at|ich)|such"
    "|exactly|more|most|less|least|few(?:er|est)?|many|much|several|enough|about|over|under|up|between"
    "|(?:some|any|every|no)thing|two|three|four|five|six|seven|eight|nine|ten|once|twice"
    "|(?:lower|upper)[ -]?case|capital(?:ized)?|valid|is|are|be|been|was|were"
)
"""Words that begin the description of a text rather than a text: `contains an email address`."""


@cache
def keywords() -> frozenset[str]:
    """The words of the grammar."""
    words = (word for terminal in load("check").meaningful for word in words_of(terminal))
    return frozenset(part for word in words for part in _WORD.findall(word))


def may_be_text(unquoted: str, *, of: str) -> bool:
    """Whether unquoted words can be the text of a check: nothing in them belongs to the language."""
    is_pattern = of.endswith(("regex", "matches")) and _PATTERN.fullmatch(unquoted)
    return bool(is_pattern or _TEXT.fullmatch(unquoted)) and _says_no_more(unquoted, of)


def _says_no_more(unquoted: str, before: str) -> bool:
    """Whether no word is a keyword, and they do not describe a text; a question may."""
    words = _WORD.findall(unquoted.lower())
    if keywords().intersection(words):
        return False
    return _is_question(before) or not unquoted[:1].isalpha() or not _DESCRIBES.fullmatch(words[0])


def _is_question(before: str) -> bool:
    return before.rstrip().endswith("judge")


def _quoted(before: str, rest: str, terminals: frozenset[str]) -> Meant | None:
    """The line with the rest of it in quotes or brackets, if the words before it lack nothing else."""
    if not before.endswith((" ", ",")) or not rest or not terminals <= _VALUES:
        return None
    if terminals == {"LSQB"} and not parse_check(f"{before}[name]").faults:
        return _names(before, rest)
    if not _says_no_more(rest, before):
        return None
    if terminals == {"LSQB"}:
        return _texts(before, rest, "[{}]")
    if "STRING" not in terminals:
        return None
    if before.rstrip().endswith("headings"):
        return _texts(before, rest, "{}")
    is_sure = _is_name(rest)
    if "REGEXP" in terminals and not is_sure:
        return Meant(f"{before}/{rest}/", False) if _PATTERN.fullmatch(rest) else None
    if not _TEXT.fullmatch(rest):
        return None
    return Meant(f'{before}"{rest}"', is_sure or (_is_question(before) and not re.search(r"[\d&/]", rest)))


def _names(before: str, rest: str) -> Meant | None:
    """The line with brackets around the names of its list; a part of a name, as in `lookup_order`, is no keyword."""
    names = rest.lower().replace(",", " ").split()
    if not _NAMES.fullmatch(rest) or keywords().intersection(names) or _DESCRIBES.fullmatch(names[0]):
        return None
    return Meant(f"{before}[{rest}]", _SURE_NAMES.search(rest) is not None)


def _texts(before: str, rest: str, form: str) -> Meant | None:
    """The texts between the commas of the rest, each in quotes."""
    pieces = re.split(r"(\s*,\s*)", rest)
    texts = pieces[::2]
    if not all(_TEXT.fullmatch(text) for text in texts):
        return None
    pieces[::2] = [f'"{text}"' for text in texts]
    return Meant(f"{before}{form.format(''.join(pieces))}", all(map(_is_name, texts)))


def _is_name(text: str) -> bool:
    """Whether a text is words with capital letters, or of a script without: it does not describe another text."""
    words = text.split() if _WORDS.fullmatch(text) else ()
    return bool(words) and all(len(word) > 1 and not word[0].islower() and not word[1].isupper() for word in words)


# --- other words -----------------------------------------------------------------------------------------------------

_Replacement = Callable[[str, re.Match[str]], "str | None"]


class _Phrase(NamedTuple):
    """Other words for a part of a check: nothing is lost where the replacement stands in their place."""

    terminal: str
    pattern: re.Pattern[str]
    replacement: _Replacement


def _phrase(terminal: str, pattern: str, replacement: str | _Replacement) -> _Phrase:
    if isinstance(replacement, str):
        template = replacement
        return _Phrase(terminal, re.compile(pattern), lambda _before, found: found.expand(template))
    return _Phrase(terminal, re.compile(pattern), replacement)


_MORE: Final = ">|over|above|more than"


def _whole_bound(before: str, found: re.Match[str]) -> str | None:
    """A strict bound of what is counted in whole things: `length > 20` is `length >= 21`."""
    number = int(found["number"])
    if not before.rstrip().endswith(("length", "tool count", "tokens", " count")):
        return None
    if re.fullmatch(_MORE, found["sign"]):
        return f">= {number + 1}"
    return f"<= {number - 1}" if number else None


_TEXT_IN_QUOTES: Final = r"""(?:"[^"\\]*(?:\\.[^"\\]*)*"|'[^'\\]*(?:\\.[^'\\]*)*')"""
_WITH_TEXT: Final = "contains|equals|starts with|ends with|matches"
_LIKE_BEFORE: Final = re.compile(
    rf"(?P<verb>{_WITH_TEXT}) {_TEXT_IN_QUOTES}(?: (?:and|or) (?P=verb) {_TEXT_IN_QUOTES})* (?:and|or) "
)


def _with_verb(before: str, found: re.Match[str]) -> str | None:
    """A text with the words of the check before it: `contains "a" or "b"`."""
    like = _LIKE_BEFORE.fullmatch(before)
    return None if like is None else f"{like['verb']} {found[0]}"


_PHRASES: Final = (
    _phrase("CONTAINS", _TEXT_IN_QUOTES, _with_verb),
    _phrase("STRING", r"[“„”]([^“„”\"\\]*)[“”]|`([^`\"\\]*)`", lambda _before, found: f'"{found[1] or found[2]}"'),
    _phrase("NOT", r"(?:(?:does|do|must|should|may|can) ?not|(?:does|do|must|should)n['\u2019]t|never)(?= \w)", "not"),
    _phrase("NOT", r"!(?=\w)", "not "),
    _phrase("NOT", rf"(?:!==?|is not|isn['\u2019]t)(?= ?{_TEXT_IN_QUOTES})", "not equals"),
    _phrase("EQUALS", rf"(?:===?|=|is|equal(?:s? to)?)(?= ?{_TEXT_IN_QUOTES})", "equals"),
    _phrase("EQUALS", r"equal(?:s? to)?(?= \S)", "equals"),
    _phrase("CONTAINS", rf"icontains ({_TEXT_IN_QUOTES})", r"contains \1 ignoring case"),
    _phrase("CONTAINS", r"(?:contain|includes?|mentions?)(?= \S)", "contains"),
    _phrase("MATCHES", r"(?:match|regex)(?= ?[/\"'])", "matches"),
    _phrase("STARTS", r"(?:start|begins?)[ -]?[wW]ith(?= \S)|starts[-_]?[wW]ith(?= \S)", "starts with"),
    _phrase("ENDS", r"end[ -]?[wW]ith(?= \S)|ends[-_]?[wW]ith(?= \S)", "ends with"),
    _phrase("IGNORING", r"\(?(?:ignor(?:e|es|ing)(?: the)? case|case[ -]insensitive)\)?(?![\w-])", "ignoring case"),
    _phrase("AND", r"&&", "and"),
    _phrase("OR", r"\|\|", "or"),
    _phrase("GE", r"(?:at least|no less than|min(?:imum)?)(?= \$?\d)", ">="),
    _phrase("LE", r"(?:at most|no more than|max(?:imum)?|up to)(?= \$?\d)", "<="),
    _phrase("EQ", r"(?:exactly|===?|=)(?= ?\d)", "=="),
    _phrase("GE", rf"(?P<sign>{_MORE}) ?(?P<number>\d{{1,9}})(?![\d.])", _whole_bound),
    _phrase("LE", r"(?P<sign><|under|below|less than|fewer than) ?(?P<number>\d{1,9})(?![\d.])", _whole_bound),
    _phrase("NUMBER", r"between (\d+) and (\d+)|(?:from )?(\d+) ?(?:to|-) ?(\d+)", r"\1\3..\2\4"),
    _phrase("LENGTH", r"(?:max(?:imum)?|up to)(?= \d+ (?:char|word|line|byte))", "length <="),
    _phrase("LENGTH", r"min(?:imum)?(?= \d+ (?:char|word|line|byte))", "length >="),
    _phrase("UNIT", r"char(?:acter(?:s)?)?(?!\w)", "chars"),
    _phrase("TIME_UNIT", r"(?:milliseconds?|millis?|msecs?)(?!\w)", "ms"),
    _phrase("TIME_UNIT", r"(?:seconds?|secs?)(?!\w)", "s"),
    _phrase("TIME_UNIT", r"(?:minutes?|mins?)(?!\w)", "m"),
)
"""Phrases that people write, and the check that means exactly that."""


# --- misspelt keywords -----------------------------------------------------------------------------------------------

_MISSPELT: Final = re.compile(r"[^\W\d][\w-]*")


def _respelt(before: str, rest: str, terminals: frozenset[str]) -> Meant | None:
    """The line with the keyword that may be meant by the word where the parser stops."""
    found = _MISSPELT.match(rest)
    if found is None:
        return None
    words = {word: word for terminal in terminals for word in words_of(terminal) if word[0].isalpha()}
    known = check_words() | words if "MATCHES" in terminals and "EXISTS" not in terminals else words
    typo = typo_of(found[0], known)
    return None if typo is None else Meant(f"{before}{known[typo.meant]}{rest[found.end() :]}", False)
