"""Runs the suite of `examples/frameworks` against a real agent of each framework: `make test-frameworks`.

The agents' models are scripts, so that nothing needs a key. Each framework has an environment of its own in
`.venv-frameworks`, with its newest release that goes together with evalc. One that cannot be installed is named, and
is no failure.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
import venv
from pathlib import Path
from typing import Final, NamedTuple

ROOT: Final = Path(__file__).parents[1]
EXAMPLES: Final = ROOT / "examples"


class Framework(NamedTuple):
    """Packages to install, and the agents of `examples/frameworks/NAME_desk.py` to ask."""

    packages: tuple[str, ...]
    agents: tuple[str, ...] = ("agent",)


FRAMEWORKS: Final = {
    "pydantic_ai": Framework(("pydantic-ai-slim",)),
    "langgraph": Framework(("langgraph", "langchain"), ("agent", "forgetful")),
    "openai_agents": Framework(("openai-agents",)),
    "google_adk": Framework(("google-adk",)),
    "strands": Framework(("strands-agents",), ("agent", "shared")),
    "smolagents": Framework(("smolagents",), ("agent", "coder")),
    "agent_framework": Framework(("agent-framework-core",)),
    "agno": Framework(("agno",)),
    "llama_index": Framework(("llama-index-core",)),
    "crewai": Framework(("crewai",), ("answer",)),
    "claude_agent_sdk": Framework(("claude-agent-sdk",), ("Desk",)),
}


def main(names: list[str]) -> int:
    """Test the named frameworks, or all; 1 if a suite does not pass."""
    unknown = sorted(set(names) - set(FRAMEWORKS))
    if unknown:
        print(f"unknown: {', '.join(unknown)}; there are {', '.join(FRAMEWORKS)}")
        return 2
    failed = [name for name in names or FRAMEWORKS if not passes(name, FRAMEWORKS[name])]
    if failed:
        print(f"failed: {', '.join(failed)}")
    return 1 if failed else 0


def passes(name: str, framework: Framework) -> bool:
    """Whether every case passes with every agent; True if the framework cannot be had."""
    folder = ROOT / ".venv-frameworks" / name
    python = folder / "bin/python"
    if not python.exists():
        venv.create(folder, with_pip=True)
    pip = [str(python), "-m", "pip", "--quiet", "--disable-pip-version-check"]
    installed = ran([*pip, "install", "--upgrade", "--editable", str(ROOT), *framework.packages])
    if installed.returncode:
        errors = re.findall(r"^ERROR: (.*)", installed.stderr, re.MULTILINE) or ["pip failed"]
        print(f"{name}: not tested, since it cannot be installed here: {errors[-1]}", flush=True)
        return True
    listed = ran([*pip, "freeze"]).stdout.splitlines()
    versions = [each for each in listed if each.partition("==")[0].lower() in framework.packages]
    failed = [agent for agent in framework.agents if not asked(name, agent, python, " ".join(versions))]
    return not failed


def asked(name: str, agent: str, python: Path, versions: str) -> bool:
    """Whether every case passes with the agent."""
    target = f"python:frameworks/{name}_desk.py:{agent}"
    with tempfile.TemporaryDirectory() as results:
        command = ["run", "frameworks/desk.eval.yaml", "--agent", target, "--output-dir", results, "--concurrency", "4"]
        run = ran([str(python), "-m", "evalc", *command])
    counts = re.search(r"(\d+)/(\d+) passed", run.stdout)
    has_passed = run.returncode == 0 and counts is not None
    print(f"{name} ({versions}), {agent}: {counts[0] if counts else 'nothing ran'}", flush=True)
    for warning in re.findall(r"⚠ (.*)", run.stdout):
        print(f"  {warning}", flush=True)
    if not has_passed:
        print(run.stdout, run.stderr, sep="\n", flush=True)
    return has_passed


def ran(command: list[str]) -> subprocess.CompletedProcess[str]:
    """The command, once it has ended in the folder of the examples."""
    return subprocess.run(command, cwd=EXAMPLES, capture_output=True, text=True, check=False)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
