"""From the name of an earlier run to which of its cases passed (contract, Baseline Diffing)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import final

import msgspec

from evalc.errors import UsageError
from evalc.model.suite import Selected
from evalc.runtime.past.results import read_result
from evalc.runtime.past.runs import (
    age,
    find_folder,
    has_results,
    result_files,
    run_folders,
    steps_back,
)


class _PastCase(msgspec.Struct, frozen=True):
    id: str
    passed: bool
    status: str | None = None


class _SuiteResult(msgspec.Struct, frozen=True, rename="camel"):
    """What a comparison needs of an EvalSuiteResult, of whichever runner."""

    tool_name: str
    tier: str
    cases: tuple[_PastCase, ...]
    run_id: str | None = None
    agent_endpoint: str | None = None


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class PastSuite:
    """A suite of an earlier run: which case ids passed, and which ended in error."""

    run_id: str
    passed: Mapping[str, bool]
    errors: frozenset[str] = frozenset()


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Baseline:
    """What a run is compared with: past suites by tool, tier, and agent. `name` is what was asked for.

    A run of one agent is what any agent is compared with: its suites stand under None.
    """

    name: str
    suites: Mapping[tuple[str, str, str | None], PastSuite]

    def of(self, tool_name: str, tier: str, agent: str | None = None) -> PastSuite | None:
        """The suite as it was, with that agent where there are several; None where the baseline does not have it."""
        return self.suites.get((tool_name, tier, agent)) or self.suites.get((tool_name, tier, None))


def find_baseline(
    name: str,
    output_dir: Path,
    file_names: Sequence[str],
    *,
    agents: Sequence[str] = (),
    before: Path | None = None,
) -> Baseline | None:
    """The run called `name`, as `find_folder` knows it, or the path of a result file.

    The latest is that of each suite: the newest run which has its result file, one of `file_names`, and which began
    before the run of the folder `before`; `latest~1` is the one before that. None where there is no such run yet.
    Of a run of several agents, the results with any of `agents` count.

    Raises:
        UsageError: there is no such run, it has several agents and none of `agents`, or its results cannot be read.
    """
    back = steps_back(name)
    if back is not None:
        folders = _before(before, run_folders(output_dir, has_results))
        found = [_newest(file, agent, folders, back) for file in file_names for agent in agents or ("",)]
        files = list(dict.fromkeys(file for file in found if file is not None))
        return _load(files, name, folders) if files else None
    path = find_folder(name, output_dir, Path.exists)
    if path is None:
        raise UsageError(f"the baseline `{name}` is neither a run in `{output_dir}` nor a result file or folder")
    files = result_files(path) if path.is_dir() else [path]
    if not files:
        raise UsageError(f"the baseline `{path}` holds no results: the run did not end")
    baseline = _load(files, name, [path if path.is_dir() else path.parent])
    there = {agent for _, _, agent in baseline.suites}
    if None not in there and not there.intersection(agents):
        listed = ", ".join(f"`{agent}`" for agent in sorted(filter(None, there)))
        now = " and ".join(f"`{agent}`" for agent in agents)
        raise UsageError(f"the baseline `{name}` is of the agents {listed}, and not of {now}")
    return baseline


def _before(run: Path | None, folders: Iterable[Path]) -> list[Path]:
    """The folders of the runs that began before a run, the newest first."""
    ordered = sorted(folders, key=age, reverse=True)
    return ordered if run is None else [folder for folder in ordered if age(folder) < age(run)]


def _newest(file: str, agent: str, folders: Iterable[Path], back: int) -> Path | None:
    """The result that is so many before the newest; those of runs which left cases out count where no other is."""
    having = [path for folder in folders if (path := _result_in(folder, file, agent)) is not None]
    whole = (path for path in having if _is_whole(path))
    return next(islice(whole, back, None), None) or (having[back] if back < len(having) else None)


def _result_in(folder: Path, file: str, agent: str) -> Path | None:
    """The result of the file's suite in a run: the only one, or the agent's."""
    if (folder / file).is_file():
        return folder / file
    of_agents = (path for path in result_files(folder) if path.name == file)
    return next((path for path in of_agents if _agent_of(path) == agent), None)


class _Agent(msgspec.Struct, frozen=True, rename="camel"):
    agent_endpoint: str


def _agent_of(file: Path) -> str:
    return read_result(file, _Agent, what="baseline").agent_endpoint


class _Extent(msgspec.Struct, frozen=True):
    """Whether all cases of a suite ran."""

    selected: Selected | None = None
    stopped: str | None = None


def _is_whole(file: Path) -> bool:
    extent = read_result(file, _Extent, what="baseline")
    return extent.selected is None and extent.stopped is None


def _load(files: Iterable[Path], name: str, folders: Collection[Path]) -> Baseline:
    """The results; what lies in a folder within those of the runs is that of one of several agents."""
    suites: dict[tuple[str, str, str | None], PastSuite] = {}
    for file in files:
        suite = read_result(file, _SuiteResult, what="baseline")
        agent = None if file.parent in folders else suite.agent_endpoint
        suites[suite.tool_name, suite.tier, agent] = PastSuite(
            run_id=suite.run_id or file.parent.name,
            passed={case.id: case.passed for case in suite.cases},
            errors=frozenset(case.id for case in suite.cases if case.status == "error"),
        )
    return Baseline(name=name, suites=suites)
