"""Writes the lines that kill survivors into eval files, where it is proved that they do and harm nothing."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple, final

from evalc.base.source import Source
from evalc.challenge.cure import kills, passes
from evalc.challenge.insert import Inserted, with_checks
from evalc.challenge.tally import Survived
from evalc.compiler.compiled import Compilation
from evalc.model import checks as c
from evalc.model.case import Case
from evalc.model.result import PASSING
from evalc.model.suite import CaseKey, LocatedCase, Place
from evalc.runtime.run.run_case import CaseOptions, result_of

_VACUITY: Final = frozenset(f"EV50{number}" for number in range(1, 7))

Compile = Callable[[Source], Compilation]
"""Compiles a text that is to take a file's place, with every problem that it has."""


class Insertion(NamedTuple):
    """A file with lines put into it: what it held, what it is to hold, and the lines by the ids of their cases."""

    source: Source
    text: str
    lines: Mapping[str, tuple[str, ...]]


class _Wanted(NamedTuple):
    """A check that one case in the source is to get, its line, and the survivor that it kills."""

    place: Place
    check: c.Check
    item: str
    killed: Survived


async def insertions(
    curable: Iterable[Survived], read: Callable[[Path], Source | None], compile_: Compile, options: CaseOptions
) -> list[Insertion]:
    """The files with every line that kills its mutants, passes all recorded answers, and causes no new finding."""
    by_file: dict[str, dict[Place, list[Survived]]] = {}
    for survived in curable:
        place = survived.located.places.get("")
        if place is not None and survived.goods and not place.file.lower().endswith(".json"):
            by_file.setdefault(place.file, {}).setdefault(place, []).append(survived)
    found = []
    for name, cases in by_file.items():
        source = read(Path(name))
        if source is not None:
            wanted = [each for place, survivors in cases.items() for each in await _chosen(place, survivors, options)]
            proof = _Proof(source, compile_, options)
            await proof.put_in(wanted)
            if proof.kept:
                found.append(_insertion(source, proof.text, proof.kept))
    return found


async def _chosen(place: Place, survivors: Sequence[Survived], options: CaseOptions) -> list[_Wanted]:
    """As few of the cures as kill what any of them kills; each passes the good answers of every row of the case."""
    chosen: list[_Wanted] = []
    for survived in survivors:
        case, answer = survived.located.case, survived.mutant.answer
        if any([await kills(case, each.check, answer, options) for each in chosen]):
            continue
        cure = survived.cure
        if cure is not None and all(
            [await passes(other.located.case, cure.check, good, options) for other in survivors for good in other.goods]
        ):
            chosen.append(_Wanted(place, cure.check, cure.line, survived))
    return chosen


@final
class _Proof:
    """Puts lines into a file, as long as they do no harm.

    `kept` are the lines that it has got so far, `text` is the file with them.
    """

    def __init__(self, source: Source, compile_: Compile, options: CaseOptions) -> None:
        self.text = source.text
        self.kept: list[_Wanted] = []
        self._source = source
        self._compile = compile_
        self._options = options
        self._unchanged = compile_(source)

    async def put_in(self, wanted: Sequence[_Wanted]) -> None:
        """Put in all of them; where some do harm, a line of every case at a time, without those."""
        if not await self._harmed(wanted):
            return
        by_case: dict[Place, list[_Wanted]] = {}
        for each in wanted:
            by_case.setdefault(each.place, []).append(each)
        while by_case:
            tried = [lines.pop(0) for lines in by_case.values()]
            while tried and (harmed := await self._harmed(tried)):
                tried = [each for each in tried if each.place not in harmed]
            by_case = {place: lines for place, lines in by_case.items() if lines}

    async def _harmed(self, more: Sequence[_Wanted]) -> frozenset[Place]:
        """The cases that more lines do harm to; if there are none, the file has these lines now."""
        wanted = [*self.kept, *more]
        items: dict[Place, list[str]] = {}
        for each in wanted:
            items.setdefault(each.place, []).append(each.item)
        inserted = with_checks(self._source, items)
        if inserted.refused:
            return inserted.refused
        places = frozenset(each.place for each in more)
        compilation = self._compile(Source(self._source.name, inserted.text))
        unchanged = with_checks(self._source, dict.fromkeys(items, ()))
        before = self._findings(self._unchanged, unchanged)
        worse = {place for place, _ in self._findings(compilation, inserted) - before}
        if worse:
            return places & worse or places
        cases = _cases_of(compilation, {each.killed.located.case.id for each in more})
        harmed = frozenset([each.place for each in more if not await _holds(cases, each.killed, self._options)])
        if not harmed:
            self.text, self.kept = inserted.text, wanted
        return harmed

    def _findings(self, compilation: Compilation, text: Inserted) -> Counter[tuple[Place | None, str]]:
        """How often each case has each finding that no line may add; None means findings outside of cases."""
        places = sorted(text.starts, key=text.starts.__getitem__)
        starts = [text.starts[place] for place in places]
        found: Counter[tuple[Place | None, str]] = Counter()
        for problem in compilation.problems:
            if problem.severity == "error" or problem.code in _VACUITY:
                number = bisect_right(starts, problem.span.start) if problem.source.name == self._source.name else 0
                found[places[number - 1] if number else None, problem.code] += 1
        return found


_Cases = Mapping[CaseKey, Case]
"""Cases as they are now."""


def _cases_of(compilation: Compilation, ids: Collection[str]) -> _Cases:
    return {
        CaseKey(suite.key, located.case.id): located.case
        for suite in compilation.suites
        for located in suite.located()
        if located.case.id in ids
    }


async def _holds(cases: _Cases, survived: Survived, options: CaseOptions) -> bool:
    """Whether the case, as it is now, fails the mutant and passes every good answer."""
    case = cases.get(CaseKey(survived.suite.key, survived.located.case.id))
    if case is None:
        return False
    located = LocatedCase(case, {})
    if (await result_of(located, survived.mutant.answer, options)).result.status in PASSING:
        return False
    return all([(await result_of(located, good, options)).result.status in PASSING for good in survived.goods])


def _insertion(source: Source, text: str, kept: Sequence[_Wanted]) -> Insertion:
    """The insertion, with its lines in the order in which they are in the file."""
    lines: dict[str, tuple[str, ...]] = {}
    for each in sorted(kept, key=lambda each: (each.place.line, each.place.column)):
        id_ = each.killed.located.case.id
        lines[id_] = (*lines.get(id_, ()), each.item)
    return Insertion(source, text, lines)
