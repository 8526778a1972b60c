"""Imported `trajectory:*` assertions against what promptfoo itself said of the same calls (`make test-promptfoo`)."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import evalc
from evalc.base.errors import SourceError
from evalc.base.source import Source
from evalc.diagnostics.problem import Diagnostics
from evalc.extras.importers.promptfoo import import_promptfoo

RECORDED: list[dict[str, Any]] = json.loads((Path(__file__).parent / "promptfoo_verdicts.json").read_text())
AGENT = """
import json

def agent(message):
    calls = json.loads(message)
    return {"response": "x", "toolCalls": [{"name": call["name"], "params": call["args"]} for call in calls]}
"""


@pytest.fixture(scope="module")
def agent(tmp_path_factory: pytest.TempPathFactory) -> str:
    """An agent that makes the calls that its message lists."""
    folder = tmp_path_factory.mktemp("agent")
    (folder / "calls_as_told.py").write_text(AGENT)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(folder))
        __import__("calls_as_told")
    return "python:calls_as_told:agent"


def imported(number: int) -> tuple[Source | None, list[str]]:
    """The suite of a recorded test, and what of it is not imported."""
    recorded = RECORDED[number]
    test = {"vars": {"calls": json.dumps(recorded["calls"])}, "assert": recorded["assert"]}
    config = {"prompts": ["{{calls}}"], "tests": [test]}
    problems = Diagnostics()
    suite = import_promptfoo(Source("promptfooconfig.json", json.dumps(config)), Path(), problems)
    assert suite is not None
    return Source(f"test{number}.eval.yaml", suite.text), [problem.finding.message() for problem in problems]


def verdict(number: int, agent: str, folder: Path) -> bool | None:
    """Whether evalc passes a recorded test; None where it has errors, such as checks that contradict each other."""
    suite, _ = imported(number)
    assert suite is not None
    try:
        run = evalc.run(suite, agent=agent, output_dir=folder)
    except SourceError as error:
        codes = {problem.code for problem in error.problems if problem.severity == "error"}
        return None if codes <= {"EV503", "EV412"} else pytest.fail(f"{codes}\n{suite.text}")
    (case,) = (case for suite in run.suites for case in suite.cases)
    return case.status == "passed"


def test_verdicts_are_those_of_promptfoo(agent: str, tmp_path: Path) -> None:
    """Where evalc refuses the suite, promptfoo passes the test never."""
    whole = [number for number in range(len(RECORDED)) if not imported(number)[1]]
    verdicts = {number: verdict(number, agent, tmp_path / str(number)) for number in whole}
    differ = [number for number, passed in verdicts.items() if bool(passed) != RECORDED[number]["passes"]]
    assert not differ, RECORDED[differ[0]]
    counts = Counter(verdicts.values())
    assert counts[True] > 150
    assert counts[False] > 200
    assert len(whole) > 0.9 * len(RECORDED)
