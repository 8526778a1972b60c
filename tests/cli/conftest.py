"""A project to work in, and the command line to call there."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tests.support.command_line import app

SUITE = """\
suite: weather
eval:
  criteria:
    - "clarity (1): Clear"
  test_cases:
    - name: paris
      message: What is the weather in Paris?
      validate:
        - contains "Paris" for clarity
        - tools called [get_weather]
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """How a command ended."""

    code: int
    out: str
    err: str


Invoke = Callable[..., Outcome]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with one sound suite, which is the working folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("EVALC_DEBUG", raising=False)
    (tmp_path / ".git").mkdir()
    (tmp_path / "evals").mkdir()
    (tmp_path / "evals" / "weather.eval.yaml").write_text(SUITE)
    return tmp_path


@pytest.fixture
def invoke(project: Path) -> Invoke:
    """Call the command line in the project."""

    def call(*arguments: str, stdin: str | bytes = "") -> Outcome:
        result = CliRunner().invoke(app, arguments, input=stdin)
        assert result.exception is None or isinstance(result.exception, SystemExit)
        return Outcome(code=result.exit_code, out=result.stdout, err=result.stderr)

    return call
