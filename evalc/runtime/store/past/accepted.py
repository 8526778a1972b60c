"""Writes and reads `evals/baseline.json`, the baseline that a project commits.

The file is small and sorted, with a case a line, so that merges of different cases seldom meet. It names no run and no
time. A run of one agent is accepted for any agent; one of several, for each by its name.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple

import msgspec

from evalc.errors import UsageError
from evalc.model.result import PASSING, Status
from evalc.regular import read_limited, write_atomic
from evalc.runtime.store.past.results import PastResults, read_results

_LARGEST: Final = 256_000_000


SuiteKey = tuple[str, str]
"""What a suite is matched by: its tool and tier."""


class AcceptedCase(msgspec.Struct, frozen=True, omit_defaults=True):
    """How a case ended. `digest` is that of the case as it was then."""

    status: Status
    score: float | None = None
    digest: str | None = None


class AcceptedSuite(msgspec.Struct, frozen=True, omit_defaults=True):
    """The cases of a suite by id. `digest` is that of the suite's file; `agent` is set in a run of several."""

    tool: str
    tier: str
    digest: str
    agent: str | None = None
    cases: Mapping[str, AcceptedCase] = {}

    @property
    def key(self) -> SuiteKey:
        """What it is matched by."""
        return (self.tool, self.tier)


class _File(msgspec.Struct, frozen=True):
    baseline: int
    suites: tuple[AcceptedSuite, ...]


class _Metadata(msgspec.Struct, frozen=True, rename="camel"):
    eval_file_hash: str


class _Case(msgspec.Struct, frozen=True, rename="camel"):
    id: str
    status: Status
    score: float | None = None
    case_hash: str | None = None


class _Suite(msgspec.Struct, frozen=True, rename="camel"):
    """What is accepted of an EvalSuiteResult."""

    tool_name: str
    tier: str
    agent_endpoint: str
    metadata: _Metadata
    cases: tuple[_Case, ...]
    selected: object = None
    stopped: str | None = None


class Accepted(NamedTuple):
    """What `accept` wrote: the suites of the run as they are in the file now.

    `kept` of their cases were there before, since the run does not have them; `only_part` says that the run left cases
    out that the file does not have either.
    """

    suites: Sequence[AcceptedSuite]
    kept: int
    only_part: bool


def accept(results: PastResults, file: Path) -> Accepted:
    """Write the suites of a run into the file, in place of what it had of them.

    Suites that the run does not have stay, and so do the cases of suites of which the run has only some.

    Raises:
        UsageError: the results or the file cannot be read.
        OSError: the file cannot be written.
    """
    warnings: list[str] = []
    of_run = list(read_results(results, _Suite, warnings))
    if warnings:
        raise UsageError(warnings[0])
    several = len({suite.agent_endpoint for suite in of_run}) > 1
    there = {(suite.key, suite.agent): suite for suite in (read_accepted(file) if file.exists() else ())}
    accepted: list[AcceptedSuite] = []
    kept, only_part = 0, False
    for suite in of_run:
        now = AcceptedSuite(
            tool=suite.tool_name,
            tier=suite.tier,
            digest=suite.metadata.eval_file_hash,
            agent=suite.agent_endpoint if several else None,
            cases={
                case.id: AcceptedCase(status=case.status, score=case.score, digest=case.case_hash)
                for case in suite.cases
            },
        )
        if suite.selected or suite.stopped:
            before = there.get((now.key, now.agent))
            only_part |= before is None
            cases = {} if before is None else before.cases
            kept += len(cases.keys() - now.cases.keys())
            now = msgspec.structs.replace(now, cases={**cases, **now.cases})
        there[now.key, now.agent] = now
        accepted.append(now)
    file.parent.mkdir(parents=True, exist_ok=True)
    write_atomic(file, _text(there.values()).encode())
    return Accepted(accepted, kept, only_part)


def read_accepted(file: Path) -> Sequence[AcceptedSuite]:
    """The suites of the file.

    Raises:
        UsageError: it cannot be read, or is not such a file.
    """
    try:
        return msgspec.json.decode(read_limited(file, _LARGEST), type=_File).suites
    except OSError as error:
        raise UsageError(f"the baseline `{file}` cannot be read: {error.strerror}") from error
    except (msgspec.DecodeError, RecursionError) as error:
        raise UsageError(
            f"the baseline `{file}` is not what `evalc accept` writes: {error}; after a merge, keep the lines of both "
            "sides, or run `evalc accept` again"
        ) from error


def is_accepted_file(file: Path) -> bool:
    """Whether a file is what `accept` writes, rather than the result of a suite."""
    try:
        return b'"baseline"' in read_limited(file, _LARGEST)[:40]
    except (OSError, ValueError):
        return False


def passed(case: AcceptedCase) -> bool:
    """The contract's `passed`."""
    return case.status in PASSING


def _text(suites: Iterable[AcceptedSuite]) -> str:
    """The file: JSON, everything sorted, a case a line."""
    ordered = sorted(suites, key=lambda suite: (suite.tool, suite.tier, suite.agent or ""))
    return '{"baseline": 1, "suites": [\n' + ",\n".join(map(_suite_text, ordered)) + "\n]}\n"


def _suite_text(suite: AcceptedSuite) -> str:
    head = _json({key: value for key, value in msgspec.to_builtins(suite).items() if key != "cases"})
    lines = (f"  {_json(name)}: {_json(suite.cases[name])}" for name in sorted(suite.cases))
    return f'{head[:-1]}, "cases": {{\n' + ",\n".join(lines) + "\n}}"


def _json(value: object) -> str:
    return msgspec.json.format(msgspec.json.encode(value), indent=0).decode()
