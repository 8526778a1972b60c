"""From an eval file to the test items of its cases, or one collection error with all that is wrong with it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final, final

import pytest

from evalc.compiler.discover import shown
from evalc.diagnostics.render_text import render_text, summary_line
from evalc.errors import EvalcError, SourceError
from evalc.model.result import CaseResult
from evalc.pytest_plugin.failure import Failure, NotPassed, failure_of
from evalc.pytest_plugin.session import EvalSession
from evalc.report.case_words import main_reason
from evalc.runtime.declared import skipped_case
from evalc.terminal import visible

_PYTESTS_OWN: Final = frozenset({"filterwarnings", "parametrize", "skip", "skipif", "usefixtures", "xfail"})
"""Marks that would do more than name a case: a tag of that name is none."""


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
        name = shown(self.path)
        if self._is_copy():
            return
        try:
            suites, problems = self.evals.compiled(name)
        except SourceError as error:
            raise self.CollectError(f"{render_text(error.problems)}\n{summary_line(error.problems)}") from None
        except EvalcError as error:
            raise self.CollectError(visible(str(error))) from None
        for problem in problems:
            self.warn(EvalcWarning(str(problem)))
        for suite, number in suites:
            for index, located in enumerate(suite.cases):
                yield EvalCase.of(self, (number, index), located)

    def _is_copy(self) -> bool:
        """Whether a search came upon what evalc compiled from a file beside it."""
        return self.path.suffix == ".json" and not self._is_named() and self.evals.is_copy(self.path)

    def _is_named(self) -> bool:
        folder = self.config.invocation_params.dir
        return any((folder / str(argument).partition("::")[0]) == self.path for argument in self.config.args)
