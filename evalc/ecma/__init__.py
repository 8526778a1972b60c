"""JavaScript's semantics: white space and lengths of texts, JSON values as texts, the values that tokens name.

Values are written as by `String` and `JSON.stringify`, but whole numbers exactly. Sentences are counted besides, in
linear time and without a dictionary.
"""

from __future__ import annotations

import enum
import re
from collections.abc import Iterator
from json.encoder import encode_basestring
from math import inf, isfinite, isnan
from typing import Final, Literal, cast

import msgspec

Unit = Literal["chars", "words", "lines", "bytes", "sentences"]

LINE_TERMINATORS: Final = "\n\r\u2028\u2029"

# ECMA-262 WhiteSpace and LineTerminator. Python's own notion differs: it has \x1c-\x1f and \x85, and lacks U+FEFF.
SPACES: Final = (
    "\t\n\v\f\r \u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000\ufeff"
)
_WORD: Final = re.compile(f"[^{SPACES}]+")
_LINE_END: Final = re.compile(r"\r\n?|\n")


def trim(text: str) -> str:
    """The text without ECMAScript's WhiteSpace and LineTerminator characters at both ends."""
    return text.strip(SPACES)


def class_name(text: str, path: str | None) -> str:
    """The class that a label or an answer names: at a path the text itself, else without surrounding white space.

    The check of a label and the count of classes both read it here, so that they agree.
    """
    return trim(text) if path is None else text


def length_of(text: str, unit: Unit) -> int:
    """Unicode code points, runs of what JavaScript takes for no white space, lines, bytes of UTF-8, or sentences.

    A line end that nothing follows begins no further line; an empty text has none.
    """
    match unit:
        case "chars":
            return len(text)
        case "words":
            return sum(1 for _ in _WORD.finditer(text))
        case "lines":
            ends = sum(1 for _ in _LINE_END.finditer(text))
            return ends if not text or text[-1] in "\r\n" else ends + 1
        case "bytes":
            return len(text.encode("utf-8", "surrogatepass"))
        case "sentences":
            return sum(1 for _ in sentences(text))


# --- sentences -------------------------------------------------------------------------------------------------------

# Quotes, brackets, and marks of Markdown.
_OPENING: Final = "\"'“‘«‹(\\[*_`"  # noqa: RUF001 - these characters are meant
_CLOSING: Final = "\"'”’»›)\\]}*_`"  # noqa: RUF001
_ENDS: Final = ".!?…‼⁇⁈⁉؟۔।॥։።᠃"  # noqa: RUF001
_WIDE_ENDS: Final = "。！？｡．"  # noqa: RUF001
_WIDE_CLOSING: Final = "」』）】》〉"  # noqa: RUF001
# Patterns are texts that `re` compiles when they are first used, for start-up time: few suites count sentences.
_HEADING: Final = r"(?m)^ {0,3}#{1,6}[ \t].*+$"
_BLOCK_END: Final = r"\n(?:[ \t]*+\n|(?=[ \t]*+(?:[-*+•]|\d{1,3}[.)])[ \t]))"
_SENTENCE_END: Final = rf"(?<![{_ENDS}])[{_ENDS}]++[{_CLOSING}]*+(?!\S)|[{_WIDE_ENDS}]++[{_CLOSING}{_WIDE_CLOSING}]*+"
_FOLLOWING: Final = rf"\s*+[{_OPENING}]*+(.?)"
_LAST_WORD: Final = r"(?<![\w.])(?:\w+\.)*\w+\Z"
_LONGEST_ABBREVIATION: Final = 12
_ABBREVIATION: Final = (
    "Mr|Mrs|Ms|Mx|Dr|Prof|St|Gen|Sen|Gov|Capt|Sgt|Lt|Col|Rev|Hon|Fr|Hr|Mme|Mlle|Sra|Dra|Nr"
    "|[Ff]igs?|[Ee]q|[Vv]ol|pp|vs|cf|ca|approx|viz|resp|incl|excl|bzw"
)
_DAYTIMES: Final = frozenset({"a.m", "p.m", "A.M", "P.M"})


def sentences(text: str) -> Iterator[str]:
    """The sentences of a text, as its reader would count them; each has a letter or a digit.

    A sentence ends at `.`, `!`, `?` or `…`, and the quotes and brackets that close there, before white space; at a
    Chinese or Japanese `。` also without. It ends at a blank line and before an item of a list. Headings do not
    count. It goes on after the full stop of an abbreviation (`Dr.`, `e.g.`), an initial (`J. Smith`) or an item's
    number, after any other before a small letter (`etc. and`), and after a quoted text before a small letter
    (`"Stop!" she said.`).
    """
    for block in re.split(_BLOCK_END, re.sub(_HEADING, "\n", _LINE_END.sub("\n", text))):
        start = 0
        for end in re.finditer(_SENTENCE_END, block):
            if not _goes_on(block, end):
                yield from _if_worded(block[start : end.end()])
                start = end.end()
        yield from _if_worded(block[start:])


def _if_worded(text: str) -> Iterator[str]:
    if any(map(str.isalnum, text)):
        yield text


def _goes_on(block: str, end: re.Match[str]) -> bool:
    """Whether a sentence goes on after what looks like its end."""
    mark = end[0]
    following = re.compile(_FOLLOWING).match(block, end.end())
    if mark[0] in _WIDE_ENDS or following is None or not following[1]:
        return False
    if following[1].islower() and (mark[0] in ".…" or mark[-1] in _CLOSING):
        return True
    word = re.compile(_LAST_WORD).search(block, max(end.start() - _LONGEST_ABBREVIATION, 0), end.start())
    if mark != "." or word is None:
        return False
    if word[0].isdigit():
        return word.end() <= _LONGEST_ABBREVIATION and not block[: word.start()].strip()
    if word[0] in {"No", "no"}:
        return following[1].isdigit()
    return re.fullmatch(_ABBREVIATION, word[0]) is not None or _is_initials(word[0])


def _is_initials(word: str) -> bool:
    """Whether it is a letter, or such as `e.g`, `U.S` and `Ph.D`; `I` and times of day may be last in a sentence."""
    parts = word.split(".")
    if word == "I" or word in _DAYTIMES:
        return False
    return all(part.isalpha() and part.upper() != part.lower() for part in parts) and (
        len(word) == 1 or (len(parts) > 1 and all(len(part) <= 2 for part in parts))
    )


# --- values ----------------------------------------------------------------------------------------------------------


class Undefined(enum.Enum):
    """The type of `UNDEFINED`, the value of a missing property; `None` is JSON's null."""

    UNDEFINED = "undefined"


UNDEFINED: Final = Undefined.UNDEFINED

_LARGEST_ARRAY_INDEX: Final = 2**32 - 2
_ARRAY_INDEX: Final = re.compile(r"0|[1-9][0-9]{0,9}")
_PAIR: Final = re.compile("[\ud800-\udbff][\udc00-\udfff]")
_SURROGATE: Final = re.compile("[\ud800-\udfff]")


def to_string(value: object) -> str:
    """ECMAScript's `String(value)` of a decoded JSON value or `UNDEFINED`; a whole number has all of its digits.

    Raises:
        TypeError: the value is of a type that JSON does not have.
    """
    match value:
        case str():
            return value
        case list() | tuple():
            return ",".join(_leaves(value))
        case dict():
            return "[object Object]"
        case Undefined():
            return "undefined"
        case _:
            return _scalar(value)


def to_json(value: object) -> str:
    """ECMAScript's `JSON.stringify(value)` of a decoded JSON value, without spaces; whole numbers have all digits.

    Raises:
        TypeError: the value, or one inside it, is of a type that JSON does not have.
    """
    written: list[str] = []
    # The work left, the next of it last: a text to write, and the value that follows it. A stack of our own, because
    # the interpreter's would end at a nesting that JSON decoders let through.
    pending: list[tuple[str, object]] = [("", value)]
    while pending:
        lead, item = pending.pop()
        written.append(lead)
        match item:
            case Undefined():
                pass
            case str():
                written.append(_quoted(item))
            case list() | tuple() if item:
                pending.append(("]", UNDEFINED))
                pending += [(",", element) for element in item[:0:-1]]
                pending.append(("[", item[0]))
            case list() | tuple():
                written.append("[]")
            case dict() if item:
                pending.append(("}", UNDEFINED))
                members = [(f"{_quoted(key)}:", item[key]) for key in _in_property_order(item)]
                pending += [("," + name, member) for name, member in members[:0:-1]]
                pending.append(("{" + members[0][0], members[0][1]))
            case dict():
                written.append("{}")
            case float() if not isfinite(item):
                written.append("null")
            case _:
                text = _scalar(item)
                written.append("null" if text.endswith("Infinity") else text)
    return "".join(written)


def token_text(value: object) -> str:
    """The contract's text of a resolved token: `String()` of scalars, `JSON.stringify()` of objects and arrays."""
    return to_json(value) if isinstance(value, dict | list | tuple) else to_string(value)


def _scalar(value: object) -> str:
    match value:
        case None:
            return "null"
        case True:
            return "true"
        case False:
            return "false"
        case int():
            return _integer(value)
        case float():
            return _number(value)
        case _:
            raise TypeError(f"not a JSON value: {type(value).__name__}")


def _integer(value: int) -> str:
    try:
        return str(value)  # JavaScript would round beyond 2^53, so that one id would be taken for another
    except ValueError:  # more digits than Python writes
        return _number(inf if value > 0 else -inf)


def _number(value: float) -> str:
    """Number::toString: the shortest digits that read back as `value`, without a point or an `e` where JS has none."""
    if isnan(value):
        return "NaN"
    if value in {inf, -inf}:
        return "Infinity" if value > 0 else "-Infinity"
    if value == 0:
        return "0"
    mantissa, _, exponent = repr(abs(value)).partition("e")
    whole, _, fraction = mantissa.partition(".")
    digits = (whole + fraction).lstrip("0")
    # The value is 0.DIGITS times ten to the power of `point`.
    point = len(whole) + int(exponent or 0) - (len(whole + fraction) - len(digits))
    return ("-" if value < 0 else "") + _laid_out(digits.rstrip("0"), point)


def _laid_out(digits: str, point: int) -> str:
    if len(digits) <= point <= 21:
        return digits.ljust(point, "0")
    if 0 < point <= 21:
        return f"{digits[:point]}.{digits[point:]}"
    if -6 < point <= 0:
        return "0." + "0" * -point + digits
    mantissa = digits if len(digits) == 1 else f"{digits[0]}.{digits[1:]}"
    return f"{mantissa}e{point - 1:+d}"


def _leaves(array: list[object] | tuple[object, ...]) -> Iterator[str]:
    """The texts that `join` puts commas between; a nested array's own join is its leaves in its place."""
    pending: list[object] = [*reversed(array)]
    if not pending:
        yield ""
    while pending:
        match pending.pop():
            case None | Undefined():
                yield ""
            case (list() | tuple()) as nested if nested:
                pending += reversed(nested)
            case leaf:
                yield to_string(leaf)


def _in_property_order(members: dict[str, object]) -> list[str]:
    """The keys as JavaScript lists an object's own: array indexes ascending, then the others as they came."""
    indexes = [key for key in members if _is_array_index(key)]
    if not indexes:
        return list(members)
    return sorted(indexes, key=int) + [key for key in members if not _is_array_index(key)]


def _is_array_index(key: str) -> bool:
    return _ARRAY_INDEX.fullmatch(key) is not None and int(key) <= _LARGEST_ARRAY_INDEX


def _quoted(text: str) -> str:
    quoted = encode_basestring(text)
    if quoted.isascii() or _SURROGATE.search(quoted) is None:
        return quoted
    # To JavaScript two halves side by side are one character; only a half alone is written as an escape.
    whole = _PAIR.sub(lambda pair: pair[0].encode("utf-16", "surrogatepass").decode("utf-16"), quoted)
    return _SURROGATE.sub(lambda half: f"\\u{ord(half[0]):04x}", whole)


# --- the tokens `{{seed:path}}` and `{{snapshot:path}}` --------------------------------------------------------------

TokenSource = Literal["seed", "snapshot"]

_TOKEN: Final = re.compile(rf"\{{\{{[{SPACES}]*(seed|snapshot):")
_INDEXED: Final = re.compile(r"([A-Za-z0-9_]+)((?:\[[0-9]+\])+)")
_INDEX: Final = re.compile(r"0|[1-9][0-9]{0,14}")


class ValueToken(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A token in a text: `text` is the stretch `[start, end)` as written, `path` what follows the colon, trimmed."""

    start: int
    end: int
    text: str
    source: TokenSource
    path: str


class Unresolved(msgspec.Struct, frozen=True, gc=False):
    """The tokens, as written and in their order, that name nothing or null."""

    tokens: tuple[str, ...]


def find_tokens(text: str) -> list[ValueToken]:
    """The tokens of a text in their order; a token ends at the first `}}` after its colon."""
    if "{{" not in text:
        return []
    tokens: list[ValueToken] = []
    at = 0
    while opening := _TOKEN.search(text, at):
        close = text.find("}}", opening.end())
        if close < 0:
            break
        at = close + 2
        tokens.append(
            ValueToken(
                start=opening.start(),
                end=at,
                text=text[opening.start() : at],
                source=cast(TokenSource, opening[1]),
                path=trim(text[opening.end() : close]),
            )
        )
    return tokens


def resolve(text: str, seed: object, snapshot: object) -> str | Unresolved:
    """The text with every token replaced by its value's text; what a value contains is not looked at again."""
    tokens = find_tokens(text)
    if not tokens:
        return text
    pieces: list[str] = []
    unresolved: list[str] = []
    at = 0
    for token in tokens:
        value = walk(seed if token.source == "seed" else snapshot, token.path)
        if value is UNDEFINED or value is None:
            unresolved.append(token.text)
        else:
            pieces += (text[at : token.start], token_text(value))
        at = token.end
    if unresolved:
        return Unresolved(tuple(unresolved))
    return "".join(pieces) + text[at:]


def walk(data: object, path: str) -> object:
    """The value that a token's path leads to, or `UNDEFINED`."""
    value = data
    for segment in path.split("."):
        for key in _keys(segment):
            value = _own_property(value, key)
    return value


def _keys(segment: str) -> list[str]:
    """`name` is one key, `name[0][1]` three; any other characters are part of the key."""
    if segment.endswith("]") and (indexed := _INDEXED.fullmatch(segment)):
        return [indexed[1], *(index.lstrip("0") or "0" for index in indexed[2][1:-1].split("]["))]
    return [segment]


def _own_property(value: object, key: str) -> object:
    """Objects have their keys and arrays their indexes: `length` and the like are not data."""
    match value:
        case dict():
            return value.get(key, UNDEFINED)
        case list() | tuple() if _INDEX.fullmatch(key):
            index = int(key)
            return value[index] if index < len(value) else UNDEFINED
        case _:
            return UNDEFINED
