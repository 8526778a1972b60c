"""Writes the lines that kill survivors into eval files, where it is proved that they do and harm nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple, final

from evalc.challenge.cure import kills, passes
from evalc.challenge.insert import with_check
from evalc.challenge.tally import Survived
from evalc.compiler.compiled import Compilation
from evalc.dsl.quoting import as_item
from evalc.importers.check_line import LITERALLY, line_of
from evalc.model import checks as c
from evalc.model.case import Case
from evalc.model.result import PASSING
from evalc.model.suite import LocatedCase, Place
from evalc.runtime.run.run_case import CaseOptions, result_of
from evalc.source import Source

_VACUITY: Final = frozenset(f"EV50{number}" for number in range(1, 7))

Compile = Callable[[Source], Compilation]
"""Compiles a text that is to take a file's place, with every problem that it has."""


class Insertion(NamedTuple):
    """A file with lines put into it: what it held, what it is to hold, and the lines by the ids of their cases."""

    source: Source
    text: str
    lines: Mapping[str, tuple[str, ...]]


class _Wanted(NamedTuple):
    """A check that one case in the source is to get, and the survivors that it kills."""

    place: Place
    check: c.Check
    killed: tuple[Survived, ...]


async def insertions(
    curable: Iterable[Survived], read: Callable[[Path], Source | None], compile_: Compile, options: CaseOptions
) -> list[Insertion]:
    """The files with every line in them that kills its mutants, passes all recorded answers, and is no new finding."""
    by_file: dict[str, dict[Place, list[Survived]]] = {}
    for survived in curable:
        place = survived.located.places.get("")
        if place is not None and survived.goods and not place.file.lower().endswith(".json"):
            by_file.setdefault(place.file, {}).setdefault(place, []).append(survived)
    found = []
    for name, cases in by_file.items():
        source = read(Path(name))
        if source is not None:
            # From the end of the file to its beginning, so that what is inserted moves no place that is still needed.
            places = sorted(cases, key=lambda place: (place.line, place.column), reverse=True)
            wanted = [each for place in places for each in await _chosen(place, cases[place], options)]
            proof = _Proof(source, compile_, options)
            kept = await proof.try_(wanted)
            if kept:
                found.append(_insertion(source, proof.text, kept))
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
            [await passes(other.located.case, cure, good, options) for other in survivors for good in other.goods]
        ):
            chosen.append(_Wanted(place, cure, (survived,)))
    return chosen


@final
class _Proof:
    """Puts lines into a file, as long as they do no harm. `text` is the file with those that it has got so far."""

    def __init__(self, source: Source, compile_: Compile, options: CaseOptions) -> None:
        self.text = source.text
        self._name = source.name
        self._compile = compile_
        self._options = options
        self._before = _findings(compile_(source))

    async def try_(self, wanted: Sequence[_Wanted]) -> list[_Wanted]:
        """Put in all of them, else as many as can be; those that were."""
        if not wanted:
            return []
        text = await self._with(wanted)
        if text is not None:
            self.text = text
            return list(wanted)
        if len(wanted) == 1:
            return []
        half = len(wanted) // 2
        return [*await self.try_(wanted[:half]), *await self.try_(wanted[half:])]

    async def _with(self, wanted: Sequence[_Wanted]) -> str | None:
        """The text with the lines, None where they cannot be put there or something is wrong with it then."""
        text = self.text
        for each in wanted:
            item = _item(each)
            inserted = None if item is None else with_check(Source(self._name, text), each.place, item)
            if inserted is None:
                return None
            text = inserted
        compilation = self._compile(Source(self._name, text))
        if compilation.has_errors or _findings(compilation) - self._before:
            return None
        ids = {survived.located.case.id for each in wanted for survived in each.killed}
        cases: dict[tuple[str, str, str], Case] = {
            (suite.ir.tool, suite.tier, located.case.id): located.case
            for suite in compilation.suites
            for located in suite.located()
            if located.case.id in ids
        }
        for survived in (survived for each in wanted for survived in each.killed):
            case = cases.get((survived.suite.tool_name, survived.suite.tier, survived.located.case.id))
            if case is None or not await _holds(case, survived, self._options):
                return None
        return text


async def _holds(case: Case, survived: Survived, options: CaseOptions) -> bool:
    """Whether the case, as it is now, fails the mutant and passes every good answer."""
    located = LocatedCase(case, {})
    if (await result_of(located, survived.mutant.answer, options)).result.status in PASSING:
        return False
    return all([(await result_of(located, good, options)).result.status in PASSING for good in survived.goods])


def _findings(compilation: Compilation) -> Counter[str]:
    """How often the file has each finding that no line may add."""
    return Counter(
        problem.code for problem in compilation.problems if problem.severity == "error" or problem.code in _VACUITY
    )


def _item(wanted: _Wanted) -> str | None:
    line = line_of(wanted.check, LITERALLY, str)
    return None if line is None else as_item(line)


def _insertion(source: Source, text: str, kept: Sequence[_Wanted]) -> Insertion:
    """The insertion, with its lines in the order in which they stand in the file."""
    lines: dict[str, tuple[str, ...]] = {}
    for each in sorted(kept, key=lambda each: (each.place.line, each.place.column)):
        id_ = each.killed[0].located.case.id
        lines[id_] = (*lines.get(id_, ()), _item(each) or "")
    return Insertion(source, text, lines)
