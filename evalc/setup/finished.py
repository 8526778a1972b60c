"""A finished run, as a call from Python gets it: to be looked at, compared and saved."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from html import escape
from importlib import import_module
from importlib.util import find_spec
from itertools import islice
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, final

import msgspec
from msgspec.structs import asdict

from evalc.base import Anew
from evalc.base.errors import UsageError
from evalc.base.files import TemporaryFolder
from evalc.base.terminal import shown_path, visible
from evalc.diagnostics.near import listed
from evalc.model.json import to_json
from evalc.model.numbers import rounded
from evalc.report import ChecksOf, ReportedRun, ReportedSuite, no_checks
from evalc.report.console import totals_of
from evalc.report.words import main_reason, not_met
from evalc.runtime.store.runs import Closing

if TYPE_CHECKING:
    from evalc.compiler.compiled import Inventory
    from evalc.diagnostics import Problem
    from evalc.model.result import CaseResult, MissingSuite, RunComparison, RunSummary, SuiteResult
    from evalc.model.suite import Selected
    from evalc.report.outputs import Format
    from evalc.runtime.run.finish import FinishedRun


@final
class Run(msgspec.Struct, frozen=True, kw_only=True):
    """A finished run.

    Attributes:
        problems: the warnings about the eval files.
        notes: what else the user should know, such as a configured file that is not there.
        strict: whether a case that verified nothing fails the run.
        selected: which of all cases were chosen; None if it was all of them.
        inventory: which eval files were read for it, and which were skipped.
        redact: strikes secrets out of what reports quote from eval files.
        temporary: where a run is that is not saved, for as long as this object is there.
        checks: the checks of its cases, also those that passed.
    """

    finished: FinishedRun
    problems: tuple[Problem, ...] = ()
    notes: tuple[str, ...] = ()
    strict: bool = False
    selected: Selected | None = None
    inventory: Inventory
    redact: Callable[[str], str] = str
    temporary: TemporaryFolder | None = None
    checks: ChecksOf = no_checks

    def __repr__(self) -> str:
        return f"<Run {'; '.join((f'{self.run_id}: {totals_of(self.summary)}', *self._why()))}>"

    def _repr_html_(self) -> str:
        return "".join(_html(self))

    def __bool__(self) -> bool:
        """Whether all is well, so that `assert evalc.run(...)` fails with the run."""
        return self.exit_code == 0

    def _why(self) -> Iterator[str]:
        """The first gate that is not met and the first case that did not pass, of a run that is false."""
        if not self:
            yield from islice(not_met(self.reported()), 1)
            cases = (case for suite in self.finished.suites for case in suite.cases() if not case.passed)
            why = ((case, main_reason(case)) for case in cases)
            yield from islice((f"{case.id}: {reason.in_short()}" for case, reason in why if reason is not None), 1)

    @property
    def run_id(self) -> str:
        """The run's id, a UUID that its suites share."""
        return self.finished.run_id

    @property
    def folder(self) -> Path:
        """The folder of the run's result files."""
        return self.finished.folder

    @property
    def summary(self) -> RunSummary:
        """The totals of all suites."""
        return self.finished.summary

    @property
    def missing(self) -> tuple[MissingSuite, ...]:
        """The suites of the baseline that the run should have had."""
        return self.finished.missing

    @property
    def suites(self) -> tuple[SuiteResult, ...]:
        """The suites with all their cases, read from their files."""
        return tuple(suite.load() for suite in self.finished.suites)

    @property
    def cases(self) -> tuple[CaseResult, ...]:
        """The results of all cases, suite by suite."""
        return tuple(case for suite in self.finished.suites for case in suite.cases())

    @property
    def failures(self) -> tuple[CaseResult, ...]:
        """The results of the cases that did not pass."""
        return tuple(case for case in self.cases if not case.passed)

    @property
    def exit_code(self) -> int:
        """0: all is well; 1: a case or a gate failed, or the run stopped; 3: the agent or a check broke (3 beats 1)."""
        if self.summary.errors:
            return 3
        verified_nothing = self.summary.unverified or not self.summary.total_cases
        return 1 if self.finished.failed or (self.strict and verified_nothing) else 0

    @property
    def closing(self) -> Closing:
        """The facts about it that its result files lack."""
        return Closing(
            exit_code=self.exit_code,
            gates=self.finished.gates,
            below=self.finished.below_threshold,
            selected=self.selected,
            missing=self.missing,
            warnings=(*self.notes, *self.finished.warnings),
        )

    def to_json(self) -> bytes:
        """`{runId, suites: [EvalSuiteResult...], summary}`, one JSON document with a line end."""
        return to_json(self.finished.load()) + b"\n"

    def to_frame(self) -> Any:
        """A data frame of pandas, or else of polars: a row for each case, with the columns of the CSV report.

        Raises:
            UsageError: neither is installed.
        """
        from evalc.report.formats import COLUMNS, rows_of  # noqa: PLC0415 - for start-up

        library = next((name for name in ("pandas", "polars") if find_spec(name)), None)
        if library is None:
            raise UsageError("`to_frame` needs pandas or polars: `pip install pandas`")
        rows = list(rows_of(self.reported()))
        return import_module(library).DataFrame({column: [row.get(column) for row in rows] for column in COLUMNS})

    def diff(self, before: Run | str | Path = "latest~1") -> RunComparison:
        """Compare an earlier run with this one; a text is its id, its folder, or a name such as `latest~1`.

        Raises:
            UsageError: there is no such run, the two have no suite in common, or a name is given and this run is not
                saved.
        """
        from evalc.runtime.run.again_load import compare_past  # noqa: PLC0415 - for start-up

        earlier = before.folder if isinstance(before, Run) else before
        if self.temporary is not None and not Path(earlier).exists():
            raise UsageError(
                f"`{before}` names a saved run, and this one is not saved: run with `save=True`, or give the earlier "
                "run itself"
            )
        return compare_past(str(earlier), str(self.folder), self.folder.parent)

    def save(self, file: str | Path, format: Format | None = None) -> None:  # noqa: A002 - as everybody calls it
        """Write a report, by default in the format that the file's name says: `.html`, `.csv`, `.xml` for JUnit, ...

        Raises:
            UsageError: the name says no format, or there is none called so.
            OSError: it cannot be written, or the file is there and is no report.
        """
        from evalc.report.outputs import FORMATS, SUFFIXES, format_of, write  # noqa: PLC0415 - for start-up

        chosen = format or format_of(str(file))
        if chosen is None:
            raise UsageError(f"the name `{file}` says no format: end it with {listed(sorted(SUFFIXES))}")
        if chosen not in FORMATS:
            raise UsageError(f"there is no format `{chosen}`: the formats are {listed(FORMATS)}")
        write(chosen, self.reported(), Path(file))

    def reported(self) -> ReportedRun:
        """The run as reports show it."""
        finished = self.finished
        return ReportedRun(
            **asdict(self.closing),
            run_id=finished.run_id,
            folder=shown_path(finished.folder) if self.temporary is None else "",
            suites=tuple(
                ReportedSuite(result=suite.result, cases=Anew(suite.cases), skipped=Anew(suite.skipped))
                for suite in finished.suites
            ),
            summary=finished.summary,
            root=Path.cwd(),
            redact=self.redact,
            checks=self.checks,
        )


# --- in a notebook ---------------------------------------------------------------------------------------------------

_MOST_ROWS: Final = 200
_STYLE: Final = {"passed": "color: #1a7f37", "failed": "color: #cf222e", "error": "color: #cf222e"}


def _html(run: Run) -> Iterator[str]:
    """The totals and a table of the cases, those that did not pass first."""
    yield f"<p><b>{escape(totals_of(run.summary))}</b> <code>{escape(run.run_id)}</code></p>"
    yield "<table><thead><tr><th>case</th><th>status</th><th>score</th><th>ms</th><th>why</th></tr></thead><tbody>"
    cases = sorted(run.cases, key=attrgetter("passed"))
    for case in cases[:_MOST_ROWS]:
        reason = main_reason(case)
        cells = (
            case.id,
            case.status,
            "" if case.score is None else rounded(case.score),
            f"{case.duration_ms:.0f}",
            "" if reason is None else reason.in_short(),
        )
        written = "".join(f"<td>{escape(visible(cell))}</td>" for cell in cells)
        yield f'<tr style="{_STYLE.get(case.status, "")}">{written}</tr>'
    yield "</tbody></table>"
    if len(cases) > _MOST_ROWS:
        yield f"<p>and {len(cases) - _MOST_ROWS} more: <code>run.save(&quot;report.html&quot;)</code></p>"
