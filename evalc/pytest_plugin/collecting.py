"""Collects the test items of an eval file, or one error with everything that is wrong with it."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Protocol, assert_never, final

import pytest
from msgspec import UNSET

from evalc.base.errors import EvalcError, SourceError
from evalc.base.terminal import Screen, shortened, visible
from evalc.compiler.discover import shown
from evalc.diagnostics.problem import Problem
from evalc.diagnostics.render_text import render_text, summary_line
from evalc.model.result import CaseResult
from evalc.model.suite import LocatedCase
from evalc.pytest_plugin.session import EvalSession
from evalc.report.case_lines import SourceContext, reason_lines
from evalc.report.transcript import transcript
from evalc.report.words import main_reason, symbols_of
from evalc.runtime.run.attempts import skipped_case

_LONGEST_RESPONSE: Final = 500
_MOST_TOOLS: Final = 20


@final
class NotPassed(Exception):
    """A case failed, or broke. `result` says how."""

    def __init__(self, result: CaseResult) -> None:
        super().__init__(result.id)
        self.result = result


class _Writer(Protocol):
    """What pytest writes to a terminal with."""

    hasmarkup: bool
    fullwidth: int

    def line(self, s: str = "") -> None: ...


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Crash:
    """What pytest's summary says of a failure in one line, and where its place is."""

    path: str
    lineno: int
    message: str

    def __str__(self) -> str:
        return f"{self.path}:{self.lineno}: {self.message}"


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """A failure as pytest prints it: on a terminal in its colours and width, elsewhere as plain text."""

    result: CaseResult
    told: SourceContext
    reprcrash: Crash

    def toterminal(self, tw: _Writer) -> None:
        """Write the lines."""
        for line in self.lines(Screen(color=tw.hasmarkup, width=max(tw.fullwidth, 40))):
            tw.line(line)

    def __str__(self) -> str:
        # Where only the text is passed on, as by xdist, pytest's short summary shows its beginning.
        return "\n".join(self.lines(Screen())).lstrip()

    def lines(self, screen: Screen) -> Iterator[str]:
        """The reasons with their authored lines, then the response and the tools that were called."""
        symbols = symbols_of(screen)
        if self.result.status == "error":
            yield "    error: the agent or a check broke, so the case neither passed nor failed"
        yield from reason_lines(self.result, symbols, screen, self.told)
        details = self.result.details
        if details.turns is not UNSET:
            for line in (transcript(self.result) or "").splitlines():
                yield f"    {shortened(visible(line), _LONGEST_RESPONSE)}"
        elif details.response is not None:
            yield f"    the response ({details.response_length} characters):"
            yield f"      {shortened(visible(details.response[: _LONGEST_RESPONSE + 1]), _LONGEST_RESPONSE)}"
        if details.tools_called:
            names = ", ".join(map(visible, details.tools_called[:_MOST_TOOLS]))
            yield f"    tools called: {names}"


def failure_of(result: CaseResult, told: SourceContext) -> Failure:
    """The failure of a case."""
    reason = main_reason(result)
    place = None if reason is None else reason.place
    return Failure(
        result=result,
        told=told,
        reprcrash=Crash(
            path="" if place is None else os.fspath(place.file),
            lineno=0 if place is None else place.line,
            message=f"{'error: ' if result.status == 'error' else ''}{'' if reason is None else reason.in_short()}",
        ),
    )


_PYTESTS_OWN: Final = frozenset({"filterwarnings", "parametrize", "skip", "skipif", "usefixtures", "xfail"})
"""Marks that would do more than name a case: a tag of that name makes no mark."""


class EvalcWarning(pytest.PytestWarning):
    """What evalc warns of: doubtful eval files, and cases that verified nothing."""


@final
class EvalFile(pytest.File):
    """An eval file: its cases are its items."""

    def __init__(self, *, evals: EvalSession, **given: Any) -> None:
        super().__init__(**given)
        self.evals = evals

    def collect(self) -> Iterable[EvalCase]:
        """The cases of all its suites.

        Raises:
            CollectError: the file or the configuration has errors.
        """
        try:
            if not self._is_named() and self.evals.leaves_out(self.path):
                return
            suites, problems = self.evals.compiled(shown(self.path))
        except SourceError as error:
            raise self.CollectError(f"{render_text(error.problems)}\n{summary_line(error.problems)}") from None
        except EvalcError as error:
            raise self.CollectError(visible(str(error))) from None
        self._warn(problems)
        for number, suite in suites:
            for index, located in enumerate(suite.cases):
                yield EvalCase.of(self, (number, index), located)

    def _warn(self, problems: Iterable[Problem]) -> None:
        try:
            for problem in problems:
                self.warn(EvalcWarning(str(problem)))
        except EvalcWarning as error:  # pytest is told to make errors of them
            raise self.CollectError(visible(str(error))) from None

    def _is_named(self) -> bool:
        """Whether the command line says this very file, rather than a folder that it is in."""
        folder = self.config.invocation_params.dir
        return any((folder / str(argument).partition("::")[0]) == self.path for argument in self.config.args)


def _case(evalc_agent: object) -> None:
    """What pytest takes for the function of a case: it says which fixture that needs."""


@final
class EvalCase(pytest.Function):
    """A case: sent to the agent, checked, and reported without a traceback."""

    evals: EvalSession
    number: tuple[int, int]
    located: LocatedCase

    @classmethod
    def of(cls, file: EvalFile, number: tuple[int, int], located: LocatedCase) -> EvalCase:
        """The item of a case; `number` is that of its suite in the session, and its own in the suite."""
        case = located.case
        item: EvalCase = cls.from_parent(file, name=visible(case.id), callobj=_case)
        item.evals, item.number, item.located = file.evals, number, located
        item.add_marker("evalc")
        for tag in case.tags or ():
            if tag not in _PYTESTS_OWN and not tag.startswith("_"):
                file.config.addinivalue_line("markers", f"{tag}: a tag of cases.")
                item.add_marker(tag)
        skipped = skipped_case(case)
        if skipped is not None:
            reason = f"archived: {skipped.reason}" if skipped.archived else skipped.reason
            item.add_marker(pytest.mark.skip(reason=visible(reason)))
        return item

    def reportinfo(self) -> tuple[Path, int | None, str]:
        """The file, the line of the case from 0 if the file itself says it, and the case's id."""
        place = self.located.places.get("")
        return self.path, None if place is None else place.line - 1, self.name

    def runtest(self) -> None:
        """Run the case.

        Raises:
            NotPassed: it failed, or the agent or a check broke.
            UsageError: the agent is unknown, or something that a run needs is missing.
        """
        result = self.evals.run(self.number, self.located, self.funcargs["evalc_agent"])
        match result.status:
            case "passed":
                return
            case "unverified" if not self.evals.strict:
                self.warn(EvalcWarning(f"{self.name}: {_why(result)}"))
            case "expected-failure":
                pytest.xfail(visible(str(result.expected_failure)))
            case "failed" | "error" | "unverified" | "unexpected-pass":
                raise NotPassed(result)
            case status:
                assert_never(status)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], *_: object, **__: object) -> Any:
        """What the report shows: the authored line and the reason; a traceback only if no case is at fault."""
        match excinfo.value:
            case NotPassed() as error:
                return failure_of(error.result, self.evals.told)
            case SourceError() as error:
                return f"{render_text(error.problems)}\n{summary_line(error.problems)}"
            case EvalcError() | EvalcWarning() as error:  # a warning, where pytest is told to make errors of them
                return f"error: {visible(str(error))}"
            case _:
                return super().repr_failure(excinfo)


def _why(result: CaseResult) -> str:
    reason = main_reason(result)
    return "nothing was checked" if reason is None else reason.in_short()
