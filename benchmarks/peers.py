"""The commands of the peers, each of which is installed into an environment of its own.

The cases are those of `benchmarks/run.py`: three checks of a text, and an agent in the process that answers at once.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import venv
from collections.abc import Sequence
from pathlib import Path
from typing import Final

ENVIRONMENTS: Final = Path(__file__).parents[1] / ".venv-peers"
PYDANTIC: Final = "pydantic-evals==2.62.0"
INSPECT: Final = "inspect-ai==0.3.285"
PROMPTFOO: Final = "promptfoo@0.121.20"  # the newest that runs on Node 20

Commands = dict[str, Sequence[str]]

PYDANTIC_SCRIPT: Final = """\
import sys
from dataclasses import dataclass
from pydantic_evals import Case, Dataset
from pydantic_evals.evaluators import Contains, Evaluator
from pydantic_evals.reporting import EvaluationReportAdapter

@dataclass
class NotContains(Evaluator):
    value: str
    def evaluate(self, ctx):
        return self.value not in ctx.output

@dataclass
class Length(Evaluator):
    low: int
    high: int
    def evaluate(self, ctx):
        return self.low <= len(ctx.output) <= self.high

cases = [
    Case(
        name=f"case_{n}",
        inputs=f"question number {n}",
        evaluators=(Contains(value=f"question number {n}"), NotContains(f"sorry {n}"), Length(5, 200 + n % 50)),
    )
    for n in range(int(sys.argv[1]))
]

async def agent(message):
    return message

report = Dataset(name="bench", cases=cases).evaluate_sync(agent)
if "print" in sys.argv:
    report.print()
open("report.json", "wb").write(EvaluationReportAdapter.dump_json(report))
"""

INSPECT_SCRIPT: Final = """\
import sys
from inspect_ai import Task, eval
from inspect_ai.dataset import Sample
from inspect_ai.model import ModelOutput
from inspect_ai.scorer import Score, accuracy, scorer
from inspect_ai.solver import solver

@solver
def agent():
    async def solve(state, generate):
        state.output = ModelOutput.from_content("agent", state.input_text)
        return state
    return solve

@scorer(metrics=[accuracy()])
def checks():
    async def score(state, target):
        text, n = state.output.completion, state.metadata["n"]
        passed = f"question number {n}" in text and f"sorry {n}" not in text and 5 <= len(text) <= 200 + n % 50
        return Score(value=int(passed))
    return score

samples = [Sample(input=f"question number {n}", id=f"case_{n}", metadata={"n": n}) for n in range(int(sys.argv[1]))]
(log,) = eval(Task(dataset=samples, solver=agent(), scorer=checks()), model="mockllm/model", display="none")
assert log.status == "success"
"""

PROMPTFOO_AGENT: Final = """\
module.exports = class {
  id() { return 'agent'; }
  async callApi(prompt) { return { output: prompt }; }
};
"""


ALL_PASSED: Final = " passed (100%)"
"""The end of promptfoo's report; its logger may break after that, when the process ends."""


def commands(folder: Path, cases: int) -> Commands:
    """The commands by what they do, to be run in the folder; a peer that cannot be had here is left out."""
    return {**_pydantic(folder, cases), **_inspect(folder, cases), **_promptfoo(folder, cases)}


def _pydantic(folder: Path, cases: int) -> Commands:
    python = _python("pydantic-evals", PYDANTIC)
    if python is None:
        return {}
    (folder / "with_pydantic.py").write_text(PYDANTIC_SCRIPT)
    return {
        f"`{PYDANTIC}`, its report as JSON": [python, "with_pydantic.py", str(cases)],
        f"`{PYDANTIC}`, and printed": [python, "with_pydantic.py", str(cases), "print"],
    }


def _inspect(folder: Path, cases: int) -> Commands:
    python = _python("inspect-ai", INSPECT)
    if python is None:
        return {}
    (folder / "with_inspect.py").write_text(INSPECT_SCRIPT)
    return {f"`{INSPECT}`": [python, "with_inspect.py", str(cases)]}


def _promptfoo(folder: Path, cases: int) -> Commands:
    if shutil.which("npm") is None:
        print("there is no npm here: promptfoo is not measured")
        return {}
    program = ENVIRONMENTS / "promptfoo" / "node_modules" / ".bin" / "promptfoo"
    if not program.exists():
        program.parents[2].mkdir(parents=True, exist_ok=True)
        install = ["npm", "install", "--prefix", str(program.parents[2]), "--no-audit", "--no-fund", PROMPTFOO]
        if not _installed("promptfoo", install):
            return {}
    tests = [
        {
            "vars": {"message": f"question number {n}"},
            "assert": [
                {"type": "contains", "value": f"question number {n}"},
                {"type": "not-contains", "value": f"sorry {n}"},
                {"type": "javascript", "value": f"output.length >= 5 && output.length <= {200 + n % 50}"},
            ],
        }
        for n in range(cases)
    ]
    (folder / "agent.cjs").write_text(PROMPTFOO_AGENT)
    config = {"prompts": ["{{message}}"], "providers": ["file://agent.cjs"], "tests": tests}
    (folder / "promptfooconfig.json").write_text(json.dumps(config))
    # What it would send or look up on the network is turned off.
    quiet = ["PROMPTFOO_DISABLE_TELEMETRY=1", "PROMPTFOO_DISABLE_UPDATE=1", f"PROMPTFOO_CONFIG_DIR={folder}/promptfoo"]
    flags = ["--no-cache", "--no-table", "--no-progress-bar", "-c", "promptfooconfig.json", "-o", "report.json"]
    return {f"`{PROMPTFOO}`": ["env", *quiet, str(program), "eval", *flags]}


def _python(name: str, requirement: str) -> str | None:
    """The interpreter of an environment with the peer; None where that cannot be had."""
    python = ENVIRONMENTS / name / "bin" / "python"
    if not python.exists():
        venv.create(ENVIRONMENTS / name, with_pip=True)
        if not _installed(name, [str(python), "-m", "pip", "install", "--quiet", requirement]):
            return None
    return str(python)


def _installed(name: str, command: list[str]) -> bool:
    """Install a peer into its environment, of which nothing is left where that fails; whether it is there."""
    if subprocess.run(command, capture_output=True, check=False).returncode == 0:
        return True
    shutil.rmtree(ENVIRONMENTS / name)
    print(f"{name} cannot be installed here: it is not measured")
    return False
