"""The Python calls that a case costs stay within a bound: calls are counted, since time depends on the machine."""

import importlib.util
from pathlib import Path
from typing import Any

import pytest

MOST = {"check": 105, "run": 220}
"""The calls of `check`, and of `run`, which checks the case first."""


def counting() -> Any:
    """The module `scripts/calls.py`."""
    path = Path(__file__).parents[1] / "scripts" / "calls.py"
    spec = importlib.util.spec_from_file_location("calls", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("command", MOST)
def test_a_case_costs_no_more_calls(command: str) -> None:
    calls = counting()
    cases = calls.SIZES[1] - calls.SIZES[0]
    called = calls.calls_of(command)
    assert called.total() / cases <= MOST[command], called.most_common(20)
    assert called.total() > cases  # it has counted
