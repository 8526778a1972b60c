"""Matches patterns as `new RegExp(pattern, flags).test(text)` does, in one of two engines.

RE2 answers in linear time, inside the process; QuickJS has the whole language, in a process that is killed at a
deadline. QuickJS is asked where RE2's answer might be another one, or late:

1. of a pattern with a lookaround, a backreference, a property, a set operation, modifiers or over 1000 repetitions;
2. of a pattern or a text with characters beyond U+FFFF, which are two units of UTF-16 in a pattern without `u`;
3. with the flag `i` or `\\B`, of a pattern or a text beyond ASCII: Unicode has foldings of case and letters of its own;
4. with `^` or `$` under the flag `m`, of a text with line ends other than LF;
5. of a pattern that RE2 finds too big, or a text so long that its match could take over a second.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Final, assert_never, final

import msgspec

from evalc.ecma import LINE_TERMINATORS, SPACES
from evalc.ecma.regexp.classes import SYNTAX_CHARACTERS
from evalc.ecma.regexp.nodes import (
    Alternation,
    AnyCharacter,
    Backreference,
    Character,
    CharacterRange,
    CharacterSet,
    Class,
    ClassMember,
    Group,
    LineEnd,
    LineStart,
    Look,
    Pattern,
    PatternError,
    PatternSequence,
    Property,
    Repeat,
    SetOperation,
    Strings,
    Term,
    WordBoundary,
)
from evalc.ecma.regexp.parser import parse
from evalc.model.json_schema import FORMATS

if TYPE_CHECKING:
    from jsonschema import FormatChecker

    from evalc.ecma.regexp.quickjs import QuickJS

_MOST_REPETITIONS: Final = 1000


class RE2Pattern(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """An RE2 pattern, and the texts that it may be asked about."""

    pattern: str  # in RE2's syntax
    ascii_only: bool  # only ASCII texts: case is ignored, or the pattern has `\B`
    newline_only: bool  # only texts whose lines end at LF alone: `^` or `$` is multiline

    def encoded(self, text: str) -> bytes | None:
        """The text for RE2, or None if its answer might differ from ECMAScript's."""
        if self.newline_only and any(mark in text for mark in "\r\u2028\u2029"):
            return None
        if text.isascii():
            return text.encode()
        # A character beyond U+FFFF is two units of UTF-16: the quickest way to see whether there is one.
        if self.ascii_only or len(text.encode("utf-16-le", "surrogatepass")) != 2 * len(text):
            return None
        try:
            return text.encode()
        except UnicodeEncodeError:  # half a surrogate pair
            return None


def translate(pattern: Pattern) -> RE2Pattern | None:
    """The pattern in RE2's syntax, or None if its meaning there is not certainly the same."""
    translator = _Translator(ignore_case="i" in pattern.flags)
    try:
        body = translator.term(pattern.body)
    except _NotTheSame:
        return None
    return RE2Pattern(
        pattern=f"(?i){body}" if translator.ignore_case else body,
        ascii_only=translator.ignore_case or translator.not_at_boundary,
        newline_only=translator.multiline,
    )


class _NotTheSame(Exception):
    """RE2 lacks this, or means something else by it."""


@final
class _Translator:
    def __init__(self, *, ignore_case: bool) -> None:
        self.ignore_case = ignore_case
        self.not_at_boundary = False
        self.multiline = False

    def term(self, term: Term) -> str:
        match term:
            case Character():
                return self._character(term.code)
            case AnyCharacter():
                return _ANY if term.dot_all else _ANY_IN_LINE
            case CharacterSet():
                return f"[{_SETS[term.letter]}]"
            case Class():
                return self._class(term)
            case LineStart() | LineEnd():
                return self._line_edge(term)
            case WordBoundary():
                self.not_at_boundary = self.not_at_boundary or term.negated
                return r"\B" if term.negated else r"\b"
            case Group():
                if term.modifiers:
                    raise _NotTheSame
                return f"(?:{self.term(term.body)})"
            case Repeat():
                return self._repeat(term)
            case PatternSequence():
                return "".join(map(self.term, term.items))
            case Alternation():
                return "|".join(map(self.term, term.branches))
            case Look() | Backreference() | Property():
                raise _NotTheSame
            case _:
                assert_never(term)

    def _line_edge(self, edge: LineStart | LineEnd) -> str:
        at_start = isinstance(edge, LineStart)
        if edge.multiline:
            self.multiline = True
            return "(?m:^)" if at_start else "(?m:$)"
        return r"\A" if at_start else r"\z"

    def _repeat(self, repeat: Repeat) -> str:
        most = repeat.min if repeat.max is None else repeat.max
        if most > _MOST_REPETITIONS:
            raise _NotTheSame
        bounds = f"{{{repeat.min},{'' if repeat.max is None else repeat.max}}}"
        return f"(?:{self.term(repeat.body)}){bounds}"

    def _class(self, brackets: Class) -> str:
        if not brackets.members:
            return _ANY if brackets.negated else _NOTHING
        members = "".join(map(self._member, brackets.members))
        return f"[{'^' if brackets.negated else ''}{members}]"

    def _member(self, member: ClassMember) -> str:
        match member:
            case Character():
                return self._character(member.code)
            case CharacterRange():
                return f"{self._character(member.first)}-{self._character(member.last)}"
            case CharacterSet():
                return _SETS[member.letter]
            case Property() | Strings() | SetOperation() | Class():
                raise _NotTheSame
            case _:
                assert_never(member)

    def _character(self, code: int) -> str:
        if code > 0xFFFF or 0xD800 <= code <= 0xDFFF or (self.ignore_case and code > 0x7F):
            raise _NotTheSame
        return _literal(code)


@lru_cache
def _literal(code: int) -> str:
    character = chr(code)
    return character if character.isascii() and character.isalnum() else f"\\x{{{code:x}}}"


def _complement(characters: str) -> str:
    """Ranges of all characters but these."""
    ranges: list[str] = []
    following = 0
    for code in sorted(map(ord, characters)):
        if code > following:
            ranges.append(f"{_literal(following)}-{_literal(code - 1)}")
        following = code + 1
    return "".join(ranges) + f"{_literal(following)}-{_literal(0x10FFFF)}"


_ANY: Final = r"[\x{0}-\x{10ffff}]"
_NOTHING: Final = r"[^\x{0}-\x{10ffff}]"
_ANY_IN_LINE: Final = f"[^{''.join(_literal(ord(mark)) for mark in LINE_TERMINATORS)}]"
# RE2's own `\s` is ASCII's without \v. Its `\W` and `\D` stay as they are: written as ranges they would, if case
# is ignored, take in `s` and `k` as foldings of U+017F and U+212A.
_SETS: Final = {
    "d": r"\d",
    "D": r"\D",
    "w": r"\w",
    "W": r"\W",
    "s": "".join(_literal(ord(space)) for space in SPACES),
    "S": _complement(SPACES),
}


_ESCAPES: Final = {"-": r"\x2d", "/": r"\x2f"}


def respell(pattern: Pattern) -> str:
    """The pattern's text with every `-` and `/` that is literal escaped."""
    source = pattern.source
    if "-" not in source and "/" not in source:
        return source
    pieces: list[str] = []
    at = 0
    for start, end in _characters(pattern.body):
        if escape := _ESCAPES.get(source[start:end]):
            pieces += (source[at:start], escape)
            at = end
    return "".join(pieces) + source[at:]


def _characters(term: Term | ClassMember) -> Iterator[tuple[int, int]]:
    """The places of the characters of a term, first ends of ranges included, in the order in which they are written."""
    match term:
        case Character():
            yield term.start, term.end
        case CharacterRange():
            yield term.start, term.start + 1
        case (
            PatternSequence(items=inner)
            | Alternation(branches=inner)
            | Class(members=inner)
            | SetOperation(operands=inner)
        ):
            for part in inner:
                yield from _characters(part)
        case Look() | Group() | Repeat():
            yield from _characters(term.body)
        case _:
            return


_MOST_WORK: Final = 5 * 10**8
"""Program size x length of the text: the steps, at some 2 ns each, of a match whose automaton grew too big."""

_MOST_MEMORY: Final = 4 << 20


def matcher(translation: RE2Pattern) -> Callable[[bytes], bool | None] | None:
    """A test of encoded texts; it answers None if that could take over a second. None where RE2 refuses."""
    # Deferred for start-up time: most commands match nothing.
    import re2  # type: ignore[import-untyped]  # noqa: PLC0415

    options = re2.Options()
    options.log_errors = False
    options.never_capture = True
    options.max_mem = _MOST_MEMORY
    try:
        compiled = re2.compile(translation.pattern, options)
    except re2.error:
        return None
    size: int = compiled.programsize
    search = compiled.search

    def test(text: bytes) -> bool | None:
        if size * len(text) > _MOST_WORK:
            return None
        return search(text) is not None

    return test


DEFAULT_TIMEOUT: Final = 1.0

_CONTROLS: Final = {"\t": "\\t", "\n": "\\n", "\v": "\\v", "\f": "\\f", "\r": "\\r"}
_ALSO_ESCAPED: Final = frozenset(",-=<>#&!%:;@~'`\"" + SPACES)


@final
class Regexp:
    """A pattern made ready to be tested against texts, by whichever engine has the answer soonest."""

    def __init__(self, tree: Pattern) -> None:
        self.tree = tree

    def __repr__(self) -> str:
        return f"Regexp(/{self.tree.source}/{self.tree.flags})"

    def test(self, text: str, *, timeout: float = DEFAULT_TIMEOUT) -> bool:
        """Whether the pattern matches somewhere in the text.

        Raises:
            RegexpTimeout: no answer within `timeout` seconds.
            PatternError: the engine refuses the pattern though its syntax is right (an unknown script's name).
            RegexpError: no answer for another reason: no memory, no worker process.
        """
        answer = self.by_re2(text)
        if answer is not None:
            return answer
        try:
            return _quickjs().test(self.for_quickjs, self.tree.flags, text, timeout)
        except PatternError as error:
            raise self.refused(error) from None

    def by_re2(self, text: str) -> bool | None:
        """RE2's answer, or None if it is not the one to ask."""
        if self._re2 is None:
            return None
        encoded, test = self._re2
        data = encoded(text)
        return None if data is None else test(data)

    @cached_property
    def for_quickjs(self) -> str:
        """The pattern as QuickJS reads it."""
        return respell(self.tree)

    def refused(self, error: PatternError) -> PatternError:
        """QuickJS's refusal as one of the pattern as it was given: its own spelling may be longer."""
        return PatternError(0, len(self.tree.source), error.message)

    @cached_property
    def _re2(self) -> tuple[Callable[[str], bytes | None], Callable[[bytes], bool | None]] | None:
        translation = translate(self.tree)
        test = matcher(translation) if translation else None
        return (translation.encoded, test) if translation and test else None


@lru_cache(maxsize=256)
def compile_pattern(pattern: str, flags: str = "") -> Regexp:
    """The pattern made ready; the last 256 are kept, at up to 4 MB each.

    Raises:
        PatternError: the pattern or its flags are malformed.
    """
    return Regexp(parse(pattern, flags))


async def test_async(regexp: Regexp, text: str, *, timeout: float = DEFAULT_TIMEOUT) -> bool:  # noqa: PT028 - no test
    """`regexp.test(text)` that leaves the event loop free while the slower engine works."""
    answer = regexp.by_re2(text)
    if answer is not None:
        return answer
    try:
        return await _quickjs().test_async(regexp.for_quickjs, regexp.tree.flags, text, timeout)
    except PatternError as error:
        raise regexp.refused(error) from None


def escape(text: str) -> str:
    """A pattern that matches the text literally, under any flags but `i` and anywhere in a pattern: `RegExp.escape`."""
    if text[:1].isascii() and text[:1].isalnum():
        # Behind `\\0`, `\\x1` or `\\c` a plain letter or digit would become part of the escape.
        return f"\\x{ord(text[0]):02x}" + "".join(map(_escaped, text[1:]))
    return "".join(map(_escaped, text))


def _escaped(character: str) -> str:
    if character in SYNTAX_CHARACTERS:
        return "\\" + character
    if character in _CONTROLS:
        return _CONTROLS[character]
    if character in _ALSO_ESCAPED or "\ud800" <= character <= "\udfff":
        code = ord(character)
        return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"
    return character


def _quickjs() -> QuickJS:
    from evalc.ecma.regexp import quickjs  # noqa: PLC0415 - deferred for start-up time: it is seldom needed

    return quickjs.engine()


# --- the formats of JSON Schema, whose `regex` is a pattern of ECMAScript --------------------------------------------


@lru_cache
def pattern_format() -> FormatChecker:
    """A checker of this format alone, for `check_schema`."""
    return _checker_of({})


@lru_cache
def all_formats() -> FormatChecker:
    """A checker of all formats, for the values that a schema describes."""
    return _checker_of(FORMATS)


def _checker_of(others: Mapping[str, Callable[[str], bool]]) -> FormatChecker:
    from jsonschema import FormatChecker  # noqa: PLC0415 - deferred for start-up time

    checker = FormatChecker(formats=())
    checker.checks("regex", raises=PatternError)(_of_texts(lambda text: bool(compile_pattern(text))))
    for name, has_format in others.items():
        checker.checks(name)(_of_texts(has_format))
    return checker


def _of_texts(has_format: Callable[[str], bool]) -> Callable[[object], bool]:
    """The check of a format as JSON Schema has it: what is not a text is not asked."""
    return lambda value: not isinstance(value, str) or has_format(value)
