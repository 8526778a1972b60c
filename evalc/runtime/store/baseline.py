"""Reads which cases passed in an earlier run (contract, Baseline Diffing)."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache, partial
from itertools import islice
from pathlib import Path
from typing import Final, final

import msgspec

from evalc.base.errors import UsageError
from evalc.base.files import below_working_folder, is_accepted_baseline, is_named
from evalc.model.result import MissingSuite
from evalc.model.suite import RENEWED_BY_RUN, KnownSuites, Suite, SuiteKey, key_of
from evalc.runtime.store.accepted import AcceptedSuite, read_accepted
from evalc.runtime.store.runs import (
    PastCase,
    PastResult,
    age,
    find_folder,
    has_results,
    header_beside,
    places_in,
    possible_names,
    read_closing,
    read_result,
    result_files,
    run_folders,
    steps_back,
)
from evalc.runtime.store.scope import Place, Scope


@final
class PastSuite(msgspec.Struct, frozen=True, kw_only=True):
    """A suite of an earlier run: which case ids passed, ended in error or verified nothing, and digests, where known.

    `run_id` is the run's, or the path of an accepted baseline. `place` is where the suite was found.
    """

    run_id: str
    passed: Mapping[str, bool]
    errors: frozenset[str] = frozenset()
    unverified: frozenset[str] = frozenset()
    digests: Mapping[str, str] = {}
    place: Place = Place()

    @classmethod
    def of(cls, run_id: str, cases: Iterable[tuple[str, bool, str | None, str | None]], place: Place) -> PastSuite:
        """The suite of these cases: ids, whether they passed, statuses and digests."""
        known = [*cases]
        return cls(
            run_id=run_id,
            passed={id_: passed for id_, passed, _, _ in known},
            errors=frozenset(id_ for id_, _, status, _ in known if status == "error"),
            unverified=frozenset(id_ for id_, _, status, _ in known if status == "unverified"),
            digests={id_: digest for id_, _, _, digest in known if digest is not None},
            place=place,
        )


@final
class Baseline(msgspec.Struct, frozen=True, kw_only=True):
    """The baseline of a run: past suites, each by agent. `name` is what was asked for.

    A run of one agent is what any agent is compared with: its suites are under None. `warnings` say what is left out.
    """

    name: str
    suites: Mapping[SuiteKey, Mapping[str | None, PastSuite]]
    warnings: tuple[str, ...] = ()

    @classmethod
    def made(
        cls,
        name: str,
        suites: Iterable[tuple[SuiteKey, str | None, PastSuite]],
        warnings: Callable[[], Iterable[str]] = tuple,
    ) -> Baseline:
        """The baseline of such suites. What an agent's own entry lacks of a suite is as it was with any agent.

        Of two entries of a suite and an agent, the second holds where both have a case. `warnings` are asked for when
        the suites have gone by.
        """
        by_key: dict[SuiteKey, dict[str | None, PastSuite]] = {}
        for key, agent, suite in suites:
            of_suite = by_key.setdefault(key, {})
            of_suite[agent] = _joined(suite, of_suite[agent]) if agent in of_suite else suite
        for by_agent in by_key.values():
            for_any = by_agent.get(None)
            for agent, suite in by_agent.items():
                if for_any is not None and agent is not None:
                    by_agent[agent] = _joined(suite, for_any)
        return cls(name=name, suites=by_key, warnings=tuple(warnings()))

    def of(self, key: SuiteKey, agent: str | None = None) -> PastSuite | None:
        """The suite as it was, with that agent if there are several; None if the baseline does not have it."""
        by_agent = self.suites.get(key, {})
        return by_agent.get(agent) or by_agent.get(None)

    def missing(
        self, there: Collection[SuiteKey], agents: Iterable[str], scope: Scope | None
    ) -> Iterator[MissingSuite]:
        """The suites that it has of these agents, that are not `there`, and that the run should have had."""
        for key, by_agent in self.suites.items():
            past = next((by_agent[agent] for agent in (*agents, None) if agent in by_agent), None)
            if scope is not None and past is not None and key not in there and scope.has(past.place, key.tier):
                file = msgspec.UNSET if past.place.file is None else past.place.file
                yield MissingSuite(suite=key.name, tier=key.tier, cases=len(past.passed), file=file)

    @property
    def agents(self) -> frozenset[str | None]:
        """Whom its suites are of; None stands for any."""
        return frozenset(agent for by_agent in self.suites.values() for agent in by_agent)


def _joined(suite: PastSuite, more: PastSuite) -> PastSuite:
    """The suite, with the cases of another that it lacks."""
    return PastSuite(
        run_id=suite.run_id,
        passed={**more.passed, **suite.passed},
        errors=suite.errors | (more.errors - suite.passed.keys()),
        unverified=suite.unverified | (more.unverified - suite.passed.keys()),
        digests={**more.digests, **suite.digests},
        place=suite.place,
    )


@final
class _KnownCases(KnownSuites):
    """The suites of a run, by which records of earlier runs are recognised."""

    def __init__(self, suites: Sequence[Suite]) -> None:
        by_key = {suite.key: suite for suite in suites}
        super().__init__(
            ((suite.key, suite.tool_name) for suite in suites),
            lambda key: (located.case.id for located in by_key[key].cases) if key in by_key else (),
        )
        # the names that files of each suite's results may have
        self.names = {suite.key: possible_names(suite.key, suite.tool_name) for suite in suites}

    def suite_of(self, record: PastResult | AcceptedSuite) -> SuiteKey | None:
        """The suite that a record is of; None if it may be of several."""
        return self.key_of(record, {case if isinstance(case, str) else case.id for case in record.cases})


def find_baseline(
    name: str | None,
    output_dir: Path,
    suites: Sequence[Suite],
    *,
    agents: Sequence[str] = (),
    before: Path | None = None,
    accepted: Path | None = None,
    scope: Scope | None = None,
) -> Baseline | None:
    """The run called `name`, as `find_folder` knows it, or the path of a result file or of an accepted baseline.

    The latest is the `accepted` baseline where that file is there. Else it is that of each suite: the newest run which
    met its gates, has the suite, one of `suites`, with one of `agents`, and began before the run of the folder
    `before`; `latest~1` is the run before that. None if there is no such run yet, or no name. What else it should have
    had is what the newest such run had that looked at the same files, which is its `scope`. Of a run of several agents,
    the results with any of `agents` count.
    """
    if not name:
        return None
    back, known = steps_back(name), _KnownCases(suites)
    if back == 0 and accepted is not None and is_named(accepted):
        return _accepted(accepted, known)
    if back is not None:
        past = _PastRuns(_before(before, run_folders(output_dir, has_results)), known, is_alone=len(agents) <= 1)
        found = [past.newest(key, agent, back) for key in known.names for agent in agents or ("",)]
        found += [file for agent in agents or ("",) for file in past.others(agent, back, scope)]
        files = list(dict.fromkeys(file for file in found if file is not None))
        return _load(files, name, known, is_of_any=lambda _: past.is_alone) if files else None
    path = find_folder(name, output_dir, Path.exists)
    if path is None:
        raise UsageError(f"the baseline `{name}` is neither a run in `{output_dir}` nor a result file or folder")
    if is_accepted_baseline(path):
        return _accepted(path, known)
    files = result_files(path) if path.is_dir() else [path]
    if not files:
        raise UsageError(f"the baseline `{path}` holds no results: the run did not end")
    folder = path if path.is_dir() else path.parent
    baseline = _load(files, name, known, is_of_any=lambda file: file.parent == folder)
    there = baseline.agents
    if there and None not in there and there.isdisjoint(agents):
        listed = ", ".join(f"`{agent}`" for agent in sorted(filter(None, there)))
        now = " and ".join(f"`{agent}`" for agent in agents)
        raise UsageError(f"the baseline `{name}` is of the agents {listed}, and not of {now}")
    return baseline


_LOCAL_PORT: Final = re.compile(r"(?<=^http://)(localhost|127\.[0-9.]+|\[::1\]):[0-9]+")


def _without_local_port(agent: str) -> str:
    """The name of an agent in results, without the port of this machine, which may be another for each run."""
    return _LOCAL_PORT.sub(r"\1", agent)


def _before(run: Path | None, folders: Iterable[Path]) -> list[Path]:
    """The folders of the runs that began before a run, the newest first."""
    ordered = sorted(folders, key=age, reverse=True)
    return ordered if run is None else [folder for folder in ordered if age(folder) < age(run)]


@final
class _PastRuns:
    """The runs of these folders, the newest first. `is_alone` says whether the run to compare has a single agent."""

    def __init__(self, folders: Sequence[Path], known: _KnownCases, *, is_alone: bool) -> None:
        self._folders = folders
        self._known = known
        self._key_of = cache(lambda file: known.suite_of(read_result(file, PastResult, what="baseline")))
        self.is_alone = is_alone
        self._met = cache(met_its_gates)
        self._agent_of = cache(lambda file: read_result(file, _Extent, what="baseline").agent_endpoint)

    def newest(self, key: SuiteKey, agent: str, back: int) -> Path | None:
        """The result of a suite with an agent that is so many before the newest, of the runs that met their gates.

        The same agent at another port of this machine counts if neither run has several agents, and if none has this
        one. Results of runs which left cases out count if no other does.
        """
        for fits in self._ways():
            there = partial(self._results, key, partial(fits, agent))
            whole = next(islice(filter(_is_whole, there()), back, None), None)
            found = whole or next(islice(there(), back, None), None)
            if found is not None:
                return found
        return None

    def others(self, agent: str, back: int, scope: Scope | None) -> Iterator[Path]:
        """The results of other suites with an agent, in the run so many before the newest of this scope."""
        if scope is None:
            return
        for fits in self._ways():
            of_scope = (folder for folder in self._folders if _asked(folder) == scope.asked and self._met(folder))
            folders = (folder for folder in of_scope if any(fits(agent, folder, path) for path in result_files(folder)))
            folder = next(islice(folders, back, None), None)
            if folder is not None:
                there = (path for path in result_files(folder) if self._key_of(path) not in self._known.names)
                yield from (path for path in there if fits(agent, folder, path))
                return

    def _ways(self) -> Sequence[Callable[[str, Path, Path], bool]]:
        """How results of an agent are recognised, the surest first."""
        return (self._is_same, self._is_same_but_for_the_port) if self.is_alone else (self._is_same,)

    def _results(self, key: SuiteKey, fits: Callable[[Path, Path], bool]) -> Iterator[Path]:
        for folder in self._folders:
            results = (path for path in result_files(folder) if path.name in self._known.names[key])
            found = next((path for path in results if fits(folder, path) and self._key_of(path) == key), None)
            if found is not None and self._met(folder):
                yield found

    def _is_same(self, agent: str, _folder: Path, file: Path) -> bool:
        return self._agent_of(file) in {agent, None}  # another runner does not say it

    def _is_same_but_for_the_port(self, agent: str, folder: Path, file: Path) -> bool:
        """In a run of several agents, each has a folder of its own."""
        there = self._agent_of(file)
        return there is None or (file.parent == folder and _without_local_port(there) == _without_local_port(agent))


def _asked(folder: Path) -> tuple[object, ...] | None:
    header = header_beside(folder)
    scope = None if header is None else Scope.of(header.flags)
    return None if scope is None else scope.asked


class _Gate(msgspec.Struct, frozen=True):
    passed: bool


class _Extent(msgspec.Struct, frozen=True, rename="camel"):
    """How much of a suite ran, and how that ended; other files in the folder of a run have none of the fields."""

    cases: tuple[PastCase, ...] = ()
    gates: tuple[_Gate, ...] = ()
    agent_endpoint: str | None = None
    selected: object = None
    stopped: str | None = None


def _is_whole(file: Path) -> bool:
    result = read_result(file, _Extent, what="baseline")
    return result.selected is None and result.stopped is None


def met_its_gates(folder: Path) -> bool:
    """Whether the run of a folder is one to compare with: its exit code was 0, as far as its files say."""
    closing, _ = read_closing(folder)
    if closing.exit_code or closing.below or not all(gate.passed for gate in closing.gates):
        return False
    for file in result_files(folder):
        suite = read_result(file, _Extent, what="baseline")
        errors = any(case.status == "error" for case in suite.cases)
        if errors or suite.stopped or not all(gate.passed for gate in suite.gates):
            return False
        if not (closing.gates or suite.gates or all(case.passed for case in suite.cases)):
            return False
    return True


def _load(files: Iterable[Path], name: str, known: _KnownCases, *, is_of_any: Callable[[Path], bool]) -> Baseline:
    """The results; those that are `of_any` are a baseline for any agent."""
    suites: dict[tuple[SuiteKey, str | None], PastSuite] = {}
    places = cache(lambda folder: places_in(header_beside(folder)))
    for file in files:
        suite = read_result(file, PastResult, what="baseline")
        agent = None if is_of_any(file) else suite.agent_endpoint
        key = known.suite_of(suite)
        if key is None:
            continue
        if (key, agent) in suites:
            title = key.title(agent)
            raise UsageError(f"the baseline `{name}` has more than one result of `{title}`: `{file}` is the second")
        cases = ((case.id, case.passed, case.status, case.case_hash) for case in suite.cases)
        place = places(file.parent).get(key_of(suite), Place())
        suites[key, agent] = PastSuite.of(suite.run_id or file.parent.name, cases, place)
    return Baseline.made(
        name,
        ((key, agent, suite) for (key, agent), suite in suites.items()),
        lambda: known.warnings(f"the baseline `{name}`", RENEWED_BY_RUN),
    )


def _accepted(file: Path, known: _KnownCases) -> Baseline:
    """The baseline that a project has accepted."""
    name = str(below_working_folder(file))

    def suites() -> Iterator[tuple[SuiteKey, str | None, PastSuite]]:
        # Of cases that an entry with the suite's name has too, that one is newer.
        for suite in sorted(read_accepted(file), key=lambda suite: suite.suite is not None):
            key = known.suite_of(suite)
            if key is not None:
                cases = ((id_, case.passed, case.status, case.digest) for id_, case in suite.cases.items())
                yield key, suite.agent, PastSuite.of(name, cases, suite.place)

    return Baseline.made(name, suites(), lambda: known.warnings(f"the baseline `{name}`", "`evalc accept` renews it"))
