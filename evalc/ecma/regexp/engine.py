"""Matches patterns as `new RegExp(pattern, flags).test(text)` does."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Final, final

from evalc.ecma.regexp.errors import PatternError
from evalc.ecma.regexp.nodes import (
    Alternation,
    Character,
    Class,
    ClassMember,
    Group,
    Look,
    Pattern,
    PatternSequence,
    Range,
    Repeat,
    SetOperation,
    Term,
)
from evalc.ecma.regexp.parser import parse
from evalc.ecma.regexp.route import Translation, translate
from evalc.ecma.text import SPACES

if TYPE_CHECKING:
    from collections.abc import Callable

    from evalc.ecma.regexp.quickjs_engine import QuickJS

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
        case Range():
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


def matcher(translation: Translation) -> Callable[[bytes], bool | None] | None:
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

_SYNTAX: Final = "^$\\.*+?()[]{}|/"
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
    if character in _SYNTAX:
        return "\\" + character
    if character in _CONTROLS:
        return _CONTROLS[character]
    if character in _ALSO_ESCAPED or "\ud800" <= character <= "\udfff":
        code = ord(character)
        return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"
    return character


def _quickjs() -> QuickJS:
    from evalc.ecma.regexp import quickjs_engine  # noqa: PLC0415 - deferred for start-up time: it is seldom needed

    return quickjs_engine.engine()
