"""The front door: its names, its docstrings as they stand, and what its functions promise."""

from __future__ import annotations

import doctest
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

import evalc
from evalc import api
from evalc.runtime.agents import scripted

PUBLIC = {
    "AgentError",
    "AgentProtocolError",
    "AgentResponse",
    "AgentTimeout",
    "AgentUnavailable",
    "Answer",
    "Compilation",
    "EvalcError",
    "Outcome",
    "Problem",
    "Run",
    "ScriptedAgent",
    "Source",
    "SourceError",
    "ToolCall",
    "UsageError",
    "check",
    "compile",
    "run",
    "run_async",
}


def test_the_public_names_are_these_and_all_there() -> None:
    assert set(evalc.__all__) == PUBLIC
    assert all(getattr(evalc, name).__doc__ for name in PUBLIC)
    assert set(dir(evalc)) == PUBLIC | {"__version__"}


@pytest.mark.parametrize("module", [api, scripted], ids=lambda module: str(module.__name__))
def test_the_docstrings_run(module: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    outcome = doctest.testmod(module, optionflags=doctest.ELLIPSIS)
    assert outcome.attempted > 0
    assert outcome.failed == 0


def test_importing_evalc_imports_nothing_else_of_it() -> None:
    code = "import sys, evalc; print(sorted(name for name in sys.modules if name.startswith('evalc.')))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_source_with_errors_is_not_run(tmp_path: Path) -> None:
    source = evalc.Source("x.eval.yaml", "eval: {test_cases: [{name: a, message: hi}]}")
    with pytest.raises(evalc.SourceError) as raised:
        evalc.run(source, agent=evalc.ScriptedAgent(default="hello"), output_dir=tmp_path)
    assert [problem.code for problem in raised.value.problems] == ["EV401"]
    assert list(tmp_path.iterdir()) == []
