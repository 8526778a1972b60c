"""Reads which cases passed in an earlier run (contract, Baseline Diffing)."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Final, final

import msgspec

from evalc.errors import UsageError
from evalc.model.suite import Selected
from evalc.project import below_working_folder
from evalc.runtime.run.finished import read_closing
from evalc.runtime.store.past.accepted import is_accepted_file, passed, read_accepted
from evalc.runtime.store.past.results import read_result
from evalc.runtime.store.past.runs import (
    age,
    find_folder,
    has_results,
    result_files,
    run_folders,
    steps_back,
)


class _PastCase(msgspec.Struct, frozen=True, rename="camel"):
    id: str
    passed: bool
    status: str | None = None
    case_hash: str | None = None


class _SuiteResult(msgspec.Struct, frozen=True, rename="camel"):
    """What a comparison needs of an EvalSuiteResult, of any runner."""

    tool_name: str
    tier: str
    cases: tuple[_PastCase, ...]
    run_id: str | None = None
    agent_endpoint: str | None = None


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class PastSuite:
    """A suite of an earlier run: which case ids passed, which ended in error, and digests of the cases, where known.

    `run_id` is the run's, or the path of an accepted baseline.
    """

    run_id: str
    passed: Mapping[str, bool]
    errors: frozenset[str] = frozenset()
    digests: Mapping[str, str] = field(default_factory=dict)


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Baseline:
    """What a run is compared with: past suites by tool, tier, and agent. `name` is what was asked for.

    A run of one agent is what any agent is compared with: its suites are under None.
    """

    name: str
    suites: Mapping[tuple[str, str, str | None], PastSuite]

    def of(self, tool_name: str, tier: str, agent: str | None = None) -> PastSuite | None:
        """The suite as it was, with that agent if there are several; None if the baseline does not have it."""
        own = None if agent is None else without_local_port(agent)
        return self.suites.get((tool_name, tier, own)) or self.suites.get((tool_name, tier, None))


def find_baseline(
    name: str,
    output_dir: Path,
    file_names: Sequence[str],
    *,
    agents: Sequence[str] = (),
    before: Path | None = None,
    accepted: Path | None = None,
) -> Baseline | None:
    """The run called `name`, as `find_folder` knows it, or the path of a result file or of an accepted baseline.

    The latest is the `accepted` baseline where that file is there. Else it is that of each suite: the newest run which
    met its gates, has the suite's result file, one of `file_names`, with one of `agents`, and began before the run of
    the folder `before`; `latest~1` is the run before that. None if there is no such run yet.
    Of a run of several agents, the results with any of `agents` count.

    Raises:
        UsageError: there is no such run, it has several agents and none of `agents`, or its results cannot be read.
    """
    back = steps_back(name)
    if back == 0 and accepted is not None and accepted.exists():
        return _accepted(accepted)
    if back is not None:
        folders = _before(before, run_folders(output_dir, has_results))
        met = cache(met_its_gates)
        found = [
            _newest(file, agent, folders, back, met)
            for file in file_names
            for agent in map(without_local_port, agents or ("",))
        ]
        files = list(dict.fromkeys(file for file in found if file is not None))
        return _load(files, name, []) if files else None
    path = find_folder(name, output_dir, Path.exists)
    if path is None:
        raise UsageError(f"the baseline `{name}` is neither a run in `{output_dir}` nor a result file or folder")
    if path.is_file() and is_accepted_file(path):
        return _accepted(path)
    files = result_files(path) if path.is_dir() else [path]
    if not files:
        raise UsageError(f"the baseline `{path}` holds no results: the run did not end")
    baseline = _load(files, name, [path if path.is_dir() else path.parent])
    there = {agent for _, _, agent in baseline.suites}
    if None not in there and not there.intersection(map(without_local_port, agents)):
        listed = ", ".join(f"`{agent}`" for agent in sorted(filter(None, there)))
        now = " and ".join(f"`{agent}`" for agent in agents)
        raise UsageError(f"the baseline `{name}` is of the agents {listed}, and not of {now}")
    return baseline


_LOCAL_PORT: Final = re.compile(r"(?<=^http://)(localhost|127\.[0-9.]+|\[::1\]):[0-9]+")


def without_local_port(agent: str) -> str:
    """What results call an agent, without the port of this machine, which may be another for each run."""
    return _LOCAL_PORT.sub(r"\1", agent)


def _before(run: Path | None, folders: Iterable[Path]) -> list[Path]:
    """The folders of the runs that began before a run, the newest first."""
    ordered = sorted(folders, key=age, reverse=True)
    return ordered if run is None else [folder for folder in ordered if age(folder) < age(run)]


def _newest(file: str, agent: str, folders: Iterable[Path], back: int, met: Callable[[Path], bool]) -> Path | None:
    """The result with an agent that is so many before the newest, of the runs that `met` their gates.

    Those of runs which left cases out count if no other is.
    """

    def there() -> Iterator[Path]:
        for folder in folders:
            if (path := _result_in(folder, file, agent)) is not None and met(folder):
                yield path

    whole = next(islice(filter(_is_whole, there()), back, None), None)
    return whole or next(islice(there(), back, None), None)


def _result_in(folder: Path, file: str, agent: str) -> Path | None:
    """The result of the file's suite in a run with an agent."""
    results = (path for path in result_files(folder) if path.name == Path(file).name)
    return next((path for path in results if _agent_of(path) in {agent, None}), None)


class _Agent(msgspec.Struct, frozen=True, rename="camel"):
    agent_endpoint: str | None = None


def _agent_of(file: Path) -> str | None:
    """The agent of a result, without a local port; None where another runner does not say it."""
    agent = read_result(file, _Agent, what="baseline").agent_endpoint
    return None if agent is None else without_local_port(agent)


class _Extent(msgspec.Struct, frozen=True):
    """Whether all cases of a suite ran."""

    selected: Selected | None = None
    stopped: str | None = None


def _is_whole(file: Path) -> bool:
    extent = read_result(file, _Extent, what="baseline")
    return extent.selected is None and extent.stopped is None


class _Gate(msgspec.Struct, frozen=True):
    passed: bool


class _Verdicts(msgspec.Struct, frozen=True):
    """What decides whether a suite is as it should be."""

    cases: tuple[_PastCase, ...] = ()
    gates: tuple[_Gate, ...] = ()
    stopped: str | None = None


def met_its_gates(folder: Path) -> bool:
    """Whether the run of a folder is one to compare with: its exit code was 0, as far as its files say."""
    closing, _ = read_closing(folder)
    if closing.exit_code or closing.below or not all(gate.passed for gate in closing.gates):
        return False
    for file in result_files(folder):
        suite = read_result(file, _Verdicts, what="baseline")
        errors = any(case.status == "error" for case in suite.cases)
        if errors or suite.stopped or not all(gate.passed for gate in suite.gates):
            return False
        if not (closing.gates or suite.gates or all(case.passed for case in suite.cases)):
            return False
    return True


def _load(files: Iterable[Path], name: str, of_one_agent: Collection[Path]) -> Baseline:
    """The results; those in the folders `of_one_agent` are a baseline for any agent."""
    suites: dict[tuple[str, str, str | None], PastSuite] = {}
    for file in files:
        suite = read_result(file, _SuiteResult, what="baseline")
        of_any = suite.agent_endpoint is None or file.parent in of_one_agent
        agent = None if of_any else without_local_port(suite.agent_endpoint or "")
        suites[suite.tool_name, suite.tier, agent] = PastSuite(
            run_id=suite.run_id or file.parent.name,
            passed={case.id: case.passed for case in suite.cases},
            errors=frozenset(case.id for case in suite.cases if case.status == "error"),
            digests={case.id: case.case_hash for case in suite.cases if case.case_hash is not None},
        )
    return Baseline(name=name, suites=suites)


def _accepted(file: Path) -> Baseline:
    """The baseline that a project has accepted."""
    name = str(below_working_folder(file))
    return Baseline(
        name=name,
        suites={
            (suite.tool, suite.tier, None if suite.agent is None else without_local_port(suite.agent)): PastSuite(
                run_id=name,
                passed={id_: passed(case) for id_, case in suite.cases.items()},
                errors=frozenset(id_ for id_, case in suite.cases.items() if case.status == "error"),
                digests={id_: case.digest for id_, case in suite.cases.items() if case.digest is not None},
            )
            for suite in read_accepted(file)
        },
    )
