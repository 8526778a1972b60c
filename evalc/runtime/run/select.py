"""Selects the cases of a run, in their order, by names, tags and expressions such as `paris and not (slow or flaky)`.

A word of an expression holds where any text contains it, whatever its case. `not` binds closer than `and`, `and` closer
than `or`.
"""

from __future__ import annotations

import re
from array import array
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from fnmatch import fnmatchcase
from heapq import heappop, heappush
from itertools import chain, islice
from math import ceil
from statistics import fmean
from typing import Final, NamedTuple, final

import msgspec

from evalc.base import Anew
from evalc.base.errors import NothingToDo, UsageError
from evalc.base.terminal import counted, shortened
from evalc.ecma.regexp import compile_pattern
from evalc.ecma.regexp.nodes import PatternError
from evalc.model.case import Case
from evalc.model.suite import CaseKey, LocatedCase, Selected, Suite, SuiteKey
from evalc.runtime.store.scope import CaseFilter, Shard

Expression = Callable[[Sequence[str]], bool]
"""Whether texts, folded to one case, satisfy the expression."""

_TOKEN: Final = re.compile(r"""\s*(?:(?P<sign>[()])|"(?P<quoted>[^"]+)"|(?P<word>[^\s()"]+))""")
_DEEPEST: Final = 50
_SHOWN: Final = 80
"""How many characters of an expression a message shows."""

_WORDS: Final = frozenset({"and", "or", "not"})


class _Token(NamedTuple):
    """A token: `(`, `)`, an operator, or a word to look for. `at` counts from 1."""

    kind: str
    text: str
    at: int


def parse_keywords(text: str) -> Expression:
    """The expression."""
    parser = _Parser(text)
    expression = parser.either(0)
    parser.expect_end()
    return expression


@final
class _Parser:
    """The tokens that are left."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = deque(self._split(text))

    def _split(self, text: str) -> Iterator[_Token]:
        at, end = 0, len(text.rstrip())
        while at < end:
            match = _TOKEN.match(text, at)
            if match is None:
                raise self._error("a closing quote is missing", text.index('"', at) + 1)
            word = match["sign"] or match["quoted"] or match["word"]
            kind = "word" if match["quoted"] or word not in {"(", ")", *_WORDS} else word
            yield _Token(kind, word.casefold(), match.end() - len(match[0].lstrip()) + 1)
            at = match.end()
        yield _Token("end", "", len(text) + 1)

    def either(self, depth: int) -> Expression:
        """`A or B`."""
        parts = [self._both(depth)]
        while self._accept("or"):
            parts.append(self._both(depth))
        return parts[0] if len(parts) == 1 else lambda texts: any(part(texts) for part in parts)

    def _both(self, depth: int) -> Expression:
        parts = [self._one(depth)]
        while self._accept("and"):
            parts.append(self._one(depth))
        return parts[0] if len(parts) == 1 else lambda texts: all(part(texts) for part in parts)

    def _one(self, depth: int) -> Expression:
        token = self._tokens.popleft()
        if depth > _DEEPEST:
            raise self._error("it is nested too deep", token.at)
        match token.kind:
            case "word":
                return lambda texts: any(token.text in text for text in texts)
            case "not":
                negated = self._one(depth + 1)
                return lambda texts: not negated(texts)
            case "(":
                inner = self.either(depth + 1)
                if not self._accept(")"):
                    raise self._unexpected(self._tokens[0], "`)`, `and` or `or`")
                return inner
            case _:
                raise self._unexpected(token, "a word, `not` or `(`")

    def expect_end(self) -> None:
        """Nothing may follow."""
        if self._tokens[0].kind != "end":
            raise self._unexpected(self._tokens[0], "`and` or `or`")

    def _accept(self, kind: str) -> bool:
        if self._tokens[0].kind != kind:
            return False
        self._tokens.popleft()
        return True

    def _unexpected(self, token: _Token, expected: str) -> UsageError:
        found = "its end" if token.kind == "end" else f"`{shortened(token.text, _SHOWN)}`"
        return self._error(f"expected {expected}, found {found}", token.at)

    def _error(self, what: str, at: int) -> UsageError:
        return UsageError(f"`-k {_around(self._text, at)}`: {what} at column {at}")


def _around(text: str, at: int) -> str:
    """The text, or, if it is long, the part around a column."""
    begin = max(0, at - 1 - _SHOWN // 2)
    shown = text[begin : begin + _SHOWN]
    return f"{'…' if begin else ''}{shown}{'…' if begin + _SHOWN < len(text) else ''}"


_MOST_IDS: Final = 10_000
"""The ids among which a near name is looked for."""


def shard_of(suite: Suite, case: Case, shards: int) -> int:
    """The number of the shard that a case is in: by its id and its suite's name and tier alone, so that it stays."""
    import hashlib  # noqa: PLC0415 - for start-up: OpenSSL is loaded with it

    name = "\0".join((*suite.key, case.id)).encode("utf-8", "surrogatepass")
    return 1 + int.from_bytes(hashlib.blake2b(name, digest_size=8).digest()) % shards


def balanced(
    cases: Iterable[tuple[Suite, Case]], durations: Mapping[SuiteKey, Mapping[str, float]], shards: int
) -> Mapping[CaseKey, int]:
    """The numbers of the shards of cases, so that each takes about as long: the longest first, to the shard with least.

    A case that was not there before is taken to last as long as the others did on average.
    """
    known = [taken for of_suite in durations.values() for taken in of_suite.values()]
    usual = fmean(known) if known else 1.0
    named = {CaseKey(suite.key, case.id) for suite, case in cases}
    lasting = sorted((-durations.get(name.suite, {}).get(name.id, usual), name) for name in named)
    loads = [(0.0, number) for number in range(1, shards + 1)]
    numbers: dict[CaseKey, int] = {}
    for duration, name in lasting:
        load, number = heappop(loads)
        numbers[name] = number
        heappush(loads, (load - duration, number))
    return numbers


@final
class NamedCases(msgspec.Struct, frozen=True, kw_only=True):
    """`PATH::CASE`: the files of the path, by the names that suites have for them, and the case.

    `argument` is how it was said. An id alone is its own case, of all files.
    """

    argument: str
    files: frozenset[str]
    case: str


@final
class Known(msgspec.Struct, frozen=True, kw_only=True):
    """The facts that the choice needs beyond the suites."""

    named: tuple[NamedCases, ...] = ()  # the cases that are named with their files
    failed: Mapping[SuiteKey, frozenset[str]] | None = None  # by suite, the ids that did not pass; None for all cases
    notes: tuple[str, ...] = ()  # what the user should know of the choice
    changed: frozenset[str] | None = None  # the files of the suites that have changed; None if that was not asked for
    # by suite, the milliseconds that the cases took; None where shards go by ids
    durations: Mapping[SuiteKey, Mapping[str, float]] | None = None


def select_cases(suites: Sequence[Suite], selection: CaseFilter, known: Known) -> tuple[Suite, ...]:
    """The suites with the cases that are selected; a suite without selected cases is left out.

    Raises:
        NothingToDo: what failed in a run or changed since a commit is selected, and nothing of the suites did.
        UsageError: no case is left, a named case does not exist, or an expression is invalid.
    """
    words = selection.words()
    if not words:
        return tuple(_repeated(suite, selection.repeat) for suite in suites)
    _refuse_nothing_to_do(suites, selection, known)
    choice = _Choice(selection, known)
    if selection.shard is not None:
        choice.keep_to(selection.shard, suites)
    chosen = [_chosen(suite, choice, words) for suite in suites]
    _refuse_unknown(suites, known.named, choice.met)
    if selection.shard is not None:
        # Every part has every suite, so that the parts can be put together; what decides a suite is judged then.
        return tuple(_undecided(_repeated(suite, selection.repeat)) for suite in chosen)
    if not any(suite.size for suite in chosen):
        total = sum(suite.size for suite in suites)
        raise UsageError(f"`{' '.join(words)}` selects none of {counted(total, 'case')}")
    return tuple(_repeated(suite, selection.repeat) for suite in chosen if suite.size)


def _undecided(suite: Suite) -> Suite:
    """The suite without its gates and threshold."""
    if suite.metadata is None:
        return suite
    return msgspec.structs.replace(suite, metadata=msgspec.structs.replace(suite.metadata, gates=None, threshold=None))


def _refuse_nothing_to_do(suites: Sequence[Suite], selection: CaseFilter, known: Known) -> None:
    """Why no case can be selected, whatever the other flags say; that is not an error."""
    if known.failed is not None and not (selection.else_all or any(known.failed.get(suite.key) for suite in suites)):
        raise NothingToDo(f"nothing to run: no case of these suites failed in the run `{selection.failed_from}`")
    if known.changed is not None and not any(suite.origin in known.changed for suite in suites):
        nothing = f"nothing to run: no file of these suites has changed since `{selection.changed_since}`"
        raise NothingToDo("; ".join((nothing, *known.notes)))


def selected_of(chosen: Sequence[Suite], suites: Sequence[Suite], selection: CaseFilter) -> Selected | None:
    """The selection from the cases of all suites; None if all were chosen."""
    cases, of = (sum(suite.size for suite in some) for some in (chosen, suites))
    return None if cases == of else Selected(cases=cases, of=of, by=selection.words())


@final
class _Choice:
    """Whether a case is selected. `met` are the arguments `PATH::CASE` that named a case so far."""

    def __init__(self, selection: CaseFilter, known: Known) -> None:
        self.met: set[str] = set()
        self._selection = selection
        self._known = known
        self._keywords: Expression | None = None if selection.keywords is None else parse_keywords(selection.keywords)
        self._any_tag = {tag for tag in selection.tags if not tag.startswith("!")}
        self._no_tag = {tag[1:] for tag in selection.tags if tag.startswith("!")}
        self._ids = [_id_test(pattern) for pattern in selection.ids]
        self._in_shard: Callable[[Suite, Case], bool] = lambda _suite, _case: True

    def keep_to(self, shard: Shard, suites: Sequence[Suite]) -> None:
        """Take only the cases of one shard, of those that are selected otherwise."""
        if self._known.durations is None:
            self._in_shard = lambda suite, case: shard_of(suite, case, shard.of) == shard.number
            return
        selection = (
            (suite, located.case)
            for suite in suites
            if self.takes_suite(suite)
            for located in suite.cases
            if self.takes(suite, located.case)
        )
        numbers = balanced(selection, self._known.durations, shard.of)
        self._in_shard = lambda suite, case: numbers[CaseKey(suite.key, case.id)] == shard.number

    def takes_suite(self, suite: Suite) -> bool:
        """Whether cases of the suite may be selected at all."""
        changed, tiers = self._known.changed, self._selection.tiers
        return (not tiers or suite.tier in tiers) and (changed is None or suite.origin in changed)

    def narrows(self, suite: Suite) -> bool:
        """Whether cases of the suite may be deselected one by one, also those that it no longer has."""
        if msgspec.structs.replace(self._selection, cases=()).selects_cases:
            return True
        return any(suite.origin in named.files for named in self._known.named)

    def takes(self, suite: Suite, case: Case) -> bool:
        """Whether a case of such a suite is selected."""
        tags = set(case.tags or ())
        return (
            self._in_shard(suite, case)
            and self._is_named(suite, case)
            and (not self._any_tag or not tags.isdisjoint(self._any_tag))
            and tags.isdisjoint(self._no_tag)
            and (not self._ids or any(test(case.id) for test in self._ids))
            and (self._keywords is None or self._keywords(_texts(suite, case)))
            and self._failed(suite, case)
        )

    def _is_named(self, suite: Suite, case: Case) -> bool:
        """Whether the case is among those named of its file; if none are, all are meant."""
        of_file = [named for named in self._known.named if suite.origin in named.files]
        meant = [named.argument for named in of_file if _is_meant(named.case, case.id)]
        self.met.update(meant)
        return bool(meant) or not of_file

    def _failed(self, suite: Suite, case: Case) -> bool:
        failed = self._known.failed
        if failed is None:
            return True
        of_suite = failed.get(suite.key)
        return self._selection.else_all if of_suite is None else case.id in of_suite


def _texts(suite: Suite, case: Case) -> tuple[str, ...]:
    return tuple(text.casefold() for text in (case.id, suite.name, suite.tool_name, *(case.tags or ())))


def _names(identity: str) -> tuple[str, ...]:
    """The names of a case: its id, its name, and either without the variant or row."""
    names = (identity, identity.partition("/")[2] or identity)
    return (*names, *(name.partition("@")[0] for name in names))


def _is_meant(pattern: str, identity: str) -> bool:
    names = _names(identity)
    return pattern in names or any(fnmatchcase(name, pattern) for name in names)


def _id_test(pattern: str) -> Callable[[str], bool]:
    """A glob over the whole id, or a regular expression between slashes that matches somewhere in it."""
    if len(pattern) > 2 and pattern.startswith("/") and pattern.endswith("/"):
        try:
            return compile_pattern(pattern[1:-1]).test
        except PatternError as error:
            raise UsageError(f"`--filter {pattern}` is not a valid regular expression: {error}") from None
    return lambda identity: fnmatchcase(identity, pattern)


def _chosen(suite: Suite, choice: _Choice, words: tuple[str, ...]) -> Suite:
    numbers = array("Q")
    if choice.takes_suite(suite):
        numbers.extend(number for number, located in enumerate(suite.cases) if choice.takes(suite, located.case))
    suite = msgspec.structs.replace(suite, narrowed=choice.narrows(suite))
    if len(numbers) == suite.size:
        return suite
    selected = Selected(cases=len(numbers), of=suite.size, by=words)
    return msgspec.structs.replace(
        suite, cases=Anew(_numbered, suite.cases, numbers), size=len(numbers), selected=selected
    )


def _numbered(cases: Iterable[LocatedCase], numbers: array[int]) -> Iterator[LocatedCase]:
    """The cases with these numbers."""
    left, at = iter(cases), 0
    for number in numbers:
        yield from islice(left, number - at, number - at + 1)
        at = number + 1


def _refuse_unknown(suites: Sequence[Suite], named: Sequence[NamedCases], met: set[str]) -> None:
    for each in named:
        if each.argument not in met and _is_missing(suites, each):
            why = "is neither a path nor the id of a case" if each.argument == each.case else "names no case"
            raise UsageError(f"`{each.argument}` {why}{_near(suites, each)}")


def _is_missing(suites: Sequence[Suite], named: NamedCases) -> bool:
    """Whether no suite of the file has the case; a case that another flag leaves out counts."""
    located = chain.from_iterable(suite.cases for suite in suites if suite.origin in named.files)
    return not any(_is_meant(named.case, each.case.id) for each in located)


def _near(suites: Sequence[Suite], named: NamedCases) -> str:
    located = chain.from_iterable(suite.cases for suite in suites if suite.origin in named.files)
    names = {name: None for each in islice(located, _MOST_IDS) for name in _names(each.case.id)}
    near = get_close_matches(named.case[:80], list(names), n=3, cutoff=0.6)
    return f"; near are {', '.join(f'`{name}`' for name in near)}" if near else ""


# --- how often -------------------------------------------------------------------------------------------------------


def _repeated(suite: Suite, times: int | None) -> Suite:
    return suite if times is None else msgspec.structs.replace(suite, cases=Anew(_repeating, suite.cases, times))


def _repeating(cases: Iterable[LocatedCase], times: int) -> Iterator[LocatedCase]:
    """The cases, each run this often; a case that required K of N passes requires the same share."""
    for located in cases:
        case = located.case
        require = case.require and ceil(case.require * times / (case.repeat or 1))
        yield located._replace(case=msgspec.structs.replace(case, repeat=times, require=require))
