"""Runs cases in a process of their own, which reads the agent's code anew and may crash."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from evalc.base.errors import EvalcError
from evalc.model.result import CaseResult
from evalc.model.suite import CaseKey, key_of
from evalc.runtime.store.past.load import load_run
from evalc.runtime.store.past.results import find_results
from evalc.runtime.store.past.runs import LATEST
from evalc.setup.choice import id_in_pattern

_LONGEST_FILTER = 100_000
"""The characters that a choice of cases may take on a command line; of more cases, all are run."""


def run_cases(
    paths: Sequence[str], chosen: Sequence[CaseKey] | None, flags: Sequence[str]
) -> dict[CaseKey, CaseResult]:
    """Run the chosen cases of the paths, or all: how each ended; nothing else is kept of the run.

    Its progress, and why it cannot run, go to this process's standard error. An interrupt ends both.
    """
    with tempfile.TemporaryDirectory(prefix="evalc-watch-") as folder:
        command = [sys.executable, "-m", "evalc", "run", *paths, *flags, "--output-dir", folder]
        command += _choice(chosen)
        nothing = subprocess.DEVNULL
        subprocess.run(command, stdin=nothing, stdout=nothing, check=False)  # noqa: S603 - ourselves
        try:
            run = load_run(find_results(LATEST, Path(folder)))[0]
        except (EvalcError, OSError):
            return {}
        return {CaseKey(key_of(suite.result), case.id): case for suite in run.suites for case in suite.cases}


def _choice(chosen: Sequence[CaseKey] | None) -> list[str]:
    if chosen is None:
        return []
    ids = "|".join(id_in_pattern(key.id) for key in chosen)
    return ["--filter", f"/^(?:{ids})$/"] if len(ids) < _LONGEST_FILTER else []
