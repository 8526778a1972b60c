"""Challenges suites by themselves, or the answers of a run, and finds the lines that their cases lack."""

from __future__ import annotations

import os
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from itertools import accumulate
from pathlib import Path
from typing import Final, NamedTuple, final

from msgspec.structs import replace

from evalc.base.source import Source
from evalc.compiler.compiled import Compilation
from evalc.config import Settings
from evalc.diagnostics import Diagnostics, Edit, Problem
from evalc.diagnostics.fixing import applied
from evalc.dsl import nodes
from evalc.dsl.quoting import as_item, quoted_line, unquoted_line
from evalc.dsl.read_yaml import read_yaml
from evalc.dsl.sources import read_source
from evalc.extras.challenge.coverage import coverage_of
from evalc.extras.challenge.strength import (
    Challenge,
    Cure,
    GoodAnswers,
    Survived,
    Tally,
    challenge,
    outcome_of,
    strength_of,
)
from evalc.model.answer import AgentAnswer
from evalc.model.case import Case
from evalc.model.reports import Strength
from evalc.model.result import PASSING
from evalc.model.suite import CaseKey, KnownSuites, LocatedCase, Place, Suite
from evalc.runtime.agents.wire import fingerprint_of
from evalc.runtime.judges.panel import JudgePool
from evalc.runtime.run.again_rescore import recorded_answers
from evalc.runtime.run.ask import request_of
from evalc.runtime.run.case import CaseOptions, result_of
from evalc.runtime.run.engine import local_models
from evalc.runtime.store import journal
from evalc.runtime.store.journal import kept_snapshot
from evalc.runtime.store.resume import PastRun
from evalc.setup.compile import compiled, policy_of
from evalc.setup.request import ToRun
from evalc.setup.runner import options_of

__all__ = ["Finished", "Insertion", "coverage_of", "run_challenge"]


# --- lines put into a file -------------------------------------------------------------------------------------------


class Inserted(NamedTuple):
    """A text with items in it: where each case begins in it, and the cases that no item can be put into."""

    text: str
    starts: Mapping[Place, int]
    refused: frozenset[Place]


def with_checks(source: Source, missing: Mapping[Place, Sequence[str]]) -> Inserted:
    """The text with more items in the `validate:` of cases, which are known by the places of their names.

    The items are as `cure` writes them: `- json`.
    """
    cases = _cases_by_place(source)
    starts: dict[Place, int] = {}
    edits: list[Edit] = []
    refused: list[Place] = []
    for place, items in missing.items():
        case = cases.get((place.line, place.column))
        edit = None if case is None else _edit(source.text, case, [item.removeprefix("- ") for item in items])
        if case is None or edit is None:
            refused.append(place)
        else:
            starts[place] = case.start
            edits.append(edit)
    edits.sort()
    ends, shifts = [edit.end for edit in edits], [0, *accumulate(len(edit.text) for edit in edits)]
    moved = {place: start + shifts[bisect_right(ends, start)] for place, start in starts.items()}
    return Inserted(applied(source.text, edits), moved, frozenset(refused))


def _edit(text: str, case: nodes.Mapping, lines: Sequence[str]) -> Edit | None:
    """The insertion of lines; None if a line cannot be put there."""
    checks = next((value for key, value in case.pairs if key.text == "validate"), None)
    if checks is None:
        return _with_key(text, case, lines)
    if not isinstance(checks, nodes.Sequence) or checks.alias is not None or not checks.items:
        return None
    if not case.start <= checks.start <= checks.end <= case.end:
        return None  # what an anchor elsewhere holds
    if text.startswith("[", checks.start):
        return _insert(checks.items[-1].end, "".join(f", {_quoted(line)}" for line in lines))
    dash = text.rfind("-", 0, checks.items[-1].start)
    indent = text[_line_start(text, dash) : dash]
    if indent.strip(" "):
        return None  # what is in front of the dash is no indent, as in `- - a`
    return _below(text, checks.items[-1].end, [f"{indent}- {line}" for line in lines])


def _with_key(text: str, case: nodes.Mapping, lines: Sequence[str]) -> Edit:
    """A `validate:` for a case that has none."""
    key, value = case.pairs[-1]
    if text.startswith("{", case.start):
        return _insert(value.end, f", validate: [{', '.join(map(_quoted, lines))}]")
    first, _ = case.pairs[0]
    indent = " " * (first.start - _line_start(text, first.start))
    return _below(text, max(value.end, key.end), [f"{indent}validate:", *(f"{indent}  - {line}" for line in lines)])


def _quoted(line: str) -> str:
    """The check in quotes, whatever brackets it is in."""
    plain = unquoted_line(line) if as_item(unquoted_line(line)) == f"- {line}" and line.startswith("'") else line
    return quoted_line(plain)


def _insert(at: int, text: str) -> Edit:
    return Edit(at, at, text)


def _below(text: str, end: int, lines: Sequence[str]) -> Edit:
    """Lines below the one in which something ends."""
    end -= text[:end].endswith("\n")
    at = text.find("\n", end)
    newline = "\r\n" if "\r\n" in text else "\n"
    if at < 0:
        return _insert(len(text), "".join(newline + line for line in lines) + newline)
    return _insert(at + 1, "".join(line + newline for line in lines))


def _line_start(text: str, at: int) -> int:
    return text.rfind("\n", 0, at) + 1


def _cases_by_place(source: Source) -> dict[tuple[int, int], nodes.Mapping]:
    """The mappings that may be cases, by the place of the name, or else of the first key."""
    found: dict[tuple[int, int], nodes.Mapping] = {}
    for node in nodes.nodes_of(read_yaml(source)):
        if isinstance(node, nodes.Mapping) and node.pairs:
            start = next((value.start for key, value in node.pairs if key.text == "name"), node.pairs[0][0].start)
            found.setdefault(source.position(start), node)
    return found


# --- lines that do no harm -------------------------------------------------------------------------------------------


_VACUITY: Final = frozenset(f"EV50{number}" for number in range(1, 7))

Compile = Callable[[Source], Compilation]
"""Compiles a text that is to take a file's place, with every problem that it has."""


class _Missing(NamedTuple):
    """A check that one case in the source is to get, and the survivor that it kills."""

    place: Place
    cure: Cure
    killed: Survived


class Insertion(NamedTuple):
    """A file with lines put into it: what it held, what it is to hold, and the checks in the order of the file."""

    source: Source
    text: str
    added: Sequence[_Missing]

    @property
    def lines(self) -> Mapping[str, tuple[str, ...]]:
        """The lines by the ids of their cases."""
        lines: dict[str, tuple[str, ...]] = {}
        for each in self.added:
            id_ = each.killed.located.case.id
            lines[id_] = (*lines.get(id_, ()), each.cure.line)
        return lines


async def insertions(
    curable: Iterable[Survived],
    found_before: Sequence[Problem],
    read: Callable[[Path], Source | None],
    compile_: Compile,
    options: CaseOptions,
) -> list[Insertion]:
    """The files with every line that kills its mutants, passes all recorded answers, and causes no new finding."""
    by_file: dict[str, dict[Place, list[Survived]]] = {}
    for survived in curable:
        place = survived.place
        if place is not None and survived.goods and not place.file.lower().endswith(".json"):
            by_file.setdefault(place.file, {}).setdefault(place, []).append(survived)
    found = []
    for name, cases in by_file.items():
        source = read(Path(name))
        if source is not None:
            missing = [each for place, survivors in cases.items() for each in await _chosen(place, survivors, options)]
            proof = _Proof(source, found_before, compile_, options)
            await proof.put_in(missing)
            if proof.kept:
                in_order = sorted(proof.kept, key=lambda each: (each.place.line, each.place.column))
                found.append(Insertion(source, proof.text, in_order))
    return found


async def _chosen(place: Place, survivors: Sequence[Survived], options: CaseOptions) -> list[_Missing]:
    """As few of the cures as kill what any of them kills; each passes the good answers of every row of the case."""
    goods = {id(good): (survived.located.case, good) for survived in survivors for good in survived.goods}
    chosen: list[_Missing] = []
    refused: set[str] = set()  # the rows of a table often lack the same line
    for survived in sorted(survivors, key=lambda each: each.cure is not None and each.cure.fixes_wording):
        cure = survived.cure
        if cure is None or cure.line in refused or await _killing(survived, [each.cure for each in chosen], options):
            continue
        for case, good in goods.values():
            if await outcome_of(case, cure.check, good, options) != "passed":
                refused.add(cure.line)
                break
        else:
            chosen.append(_Missing(place, cure, survived))
    return chosen


async def _killing(survived: Survived, cures: Iterable[Cure], options: CaseOptions) -> Cure | None:
    """The first of the cures that the survivor fails."""
    case, answer = survived.located.case, survived.mutant.answer
    for cure in cures:
        if await outcome_of(case, cure.check, answer, options) == "failed":
            return cure
    return None


async def with_proved(tally: Tally, added: Mapping[Place, Sequence[Cure]], options: CaseOptions) -> None:
    """Give the survivors of a case the lines that are put into the file, where one of them kills them."""
    for number, survived in enumerate(tally.survivors):
        cures = added.get(survived.place, ()) if survived.place is not None else ()
        if cure := await _killing(survived, cures, options):
            tally.survivors[number] = survived._replace(cure=cure, proved=True)


@final
class _Proof:
    """Puts lines into a file, as long as they do no harm.

    `kept` are the lines that it has got so far, `text` is the file with them. `found_before` are the problems of the
    file without them.
    """

    def __init__(
        self, source: Source, found_before: Sequence[Problem], compile_: Compile, options: CaseOptions
    ) -> None:
        self.text = source.text
        self.kept: list[_Missing] = []
        self._source = source
        self._compile = compile_
        self._options = options
        self._found_before = found_before

    async def put_in(self, missing: Sequence[_Missing]) -> None:
        """Put in all of them; where some do harm, a line of every case at a time, without those."""
        if not await self._harmed(missing):
            return
        by_case: dict[Place, list[_Missing]] = {}
        for each in missing:
            by_case.setdefault(each.place, []).append(each)
        while by_case:
            tried = [lines.pop(0) for lines in by_case.values()]
            while tried and (harmed := await self._harmed(tried)):
                tried = [each for each in tried if each.place not in harmed]
            by_case = {place: lines for place, lines in by_case.items() if lines}

    async def _harmed(self, more: Sequence[_Missing]) -> frozenset[Place]:
        """The cases that more lines do harm to; if there are none, the file has these lines now."""
        missing = [*self.kept, *more]
        items: dict[Place, list[str]] = {}
        for each in missing:
            items.setdefault(each.place, []).append(each.cure.line)
        inserted = with_checks(self._source, items)
        if inserted.refused:
            return inserted.refused
        places = frozenset(each.place for each in more)
        compilation = self._compile(Source(self._source.name, inserted.text))
        unchanged = with_checks(self._source, dict.fromkeys(items, ()))
        before = self._findings(self._found_before, unchanged)
        worse = {place for place, _ in self._findings(compilation.problems, inserted) - before}
        if worse:
            return places & worse or places
        cases = _cases_of(compilation, {each.killed.located.case.id for each in more})
        harmed = frozenset([each.place for each in more if not await _holds(cases, each.killed, self._options)])
        if not harmed:
            self.text, self.kept = inserted.text, missing
        return harmed

    def _findings(self, problems: Sequence[Problem], text: Inserted) -> Counter[tuple[Place | None, str]]:
        """How often each case has each finding that no line may add; None means findings outside of cases."""
        places = sorted(text.starts, key=text.starts.__getitem__)
        starts = [text.starts[place] for place in places]
        found: Counter[tuple[Place | None, str]] = Counter()
        for problem in problems:
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


# --- the challenge ---------------------------------------------------------------------------------------------------


class Finished(NamedTuple):
    """A finished challenge: what it found, the warnings about the eval files, and files with lines to be inserted."""

    strength: Strength
    problems: Sequence[Problem]
    insertions: Sequence[Insertion]


async def run_challenge(what: ToRun, settings: Settings, *, of: PastRun | None, good: PastRun | None) -> Finished:
    """Challenge suites, and look for lines to insert.

    `of` is the run whose answers are changed; None challenges the suites by themselves. Each line has to pass the
    answers of the run `good`, else those of `of`; without either there are none.

    Raises:
        UsageError: the run has no answers, or a file that the settings name cannot be used.
    """
    # No agent is asked, and nobody plays a user: what they need may be missing. A judge costs money: one is asked only
    # where the command line names it.
    judges = settings.judge.use if "judge.use" in settings.given else ()
    asked = settings.replace(
        snapshot=None, user=None, agent=settings.agent.replace(use=()), judge=settings.judge.replace(use=judges)
    )
    options = await options_of(asked, os.environ, what.tools)
    answers = of or good
    recorded, unusable = ({}, {}) if answers is None else answers_of(answers, what.suites)
    snapshot = None if answers is None or answers.header is None else kept_snapshot(answers.header)
    how = Challenge(
        options=replace(options.of_cases, all_assertions=True, snapshot=snapshot),
        tools=what.tools,
        run_id=None if of is None else of.run_id,
        recorded=recorded,
        unusable=unusable,
        max_cost=settings.max_cost,
    )
    async with local_models((), options.panel):
        how.judges = None if options.panel is None else JudgePool(options.panel)
        try:
            tallies, skipped, warnings = await challenge(what.suites, how)
        finally:
            if how.judges is not None:
                await how.judges.close()

    def compile_(source: Source) -> Compilation:
        return compiled([source], settings, policy_of(settings), errors_stay=True)

    curable = [each for tally in tallies for each in tally.survivors if each.cure is not None]

    def read(path: Path) -> Source | None:
        return read_source(path, Diagnostics().add)

    files = await insertions(curable, what.problems, read, compile_, how.options)
    added: dict[Place, list[Cure]] = {}
    for each in (each for file in files for each in file.added):
        added.setdefault(each.place, []).append(each.cure)
    for tally in tallies:
        await with_proved(tally, added, how.options)
    return Finished(strength_of(tallies, skipped, how.run_id, warnings), what.problems, files)


def answers_of(past: PastRun, suites: Sequence[Suite]) -> tuple[GoodAnswers, dict[CaseKey, str]]:
    """The recorded answers of each case, of all agents and attempts; and why a case has no usable answer.

    Raises:
        UsageError: the run has no answers.
    """
    header, cases = journal.read_journal(past.folder)
    sent = {
        CaseKey(suite.key, located.case.id): fingerprint_of(request_of(located.case))
        for suite in suites
        for located in suite.cases
    }
    known = KnownSuites((suite.key, suite.tool_name) for suite in suites)
    answers: dict[CaseKey, list[AgentAnswer]] = {}
    unusable = dict.fromkeys(sent, "no recorded answer")
    for number, suite in enumerate(header.suites):
        for case, name in cases.ids(number):
            key = next((key for each in known.candidates(suite) if (key := CaseKey(each, name)) in sent), None)
            entry = cases.entry(number, case)
            if key is None or entry is None:
                continue
            if entry.struck:
                unusable[key] = "secrets were struck out of its recorded answer"
            elif entry.sent != sent[key]:
                unusable[key] = "what it sends has changed since its answer was recorded"
            else:
                unusable.pop(key, None)
                answers.setdefault(key, []).extend(recorded_answers(entry))
    return answers, unusable
