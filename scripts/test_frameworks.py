"""Runs the suite of `examples/frameworks` against a real agent of each framework: `make test-frameworks`.

The agents' models are scripts, so that nothing needs a key. The agents that `docs/guides/frameworks.md` shows are made,
and not asked. Each framework has an environment of its own in
`.venv-frameworks`, with its newest release that goes together with evalc. One that cannot be installed is named, and
is no failure.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import venv
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Final, NamedTuple

ROOT: Final = Path(__file__).parents[1]
EXAMPLES: Final = ROOT / "examples"
GUIDE: Final = ROOT / "docs" / "guides" / "frameworks.md"
IS_KNOWN: Final = "import agent, evalc.runtime.agents.python as known; print(known.agent_of(agent.agent).endpoint)"


class Framework(NamedTuple):
    """Packages to install, and the agents of `examples/frameworks/NAME_desk.py` to ask."""

    packages: tuple[str, ...]
    agents: tuple[str, ...] = ("agent",)
    section: str = ""
    """Where the guide shows an agent."""

    models: tuple[str, ...] = ()
    """Packages that this agent needs for its model."""


FRAMEWORKS: Final = {
    "pydantic_ai": Framework(("pydantic-ai-slim",), section="Pydantic AI", models=("pydantic-ai-slim[openai]",)),
    "langgraph": Framework(("langgraph", "langchain"), ("agent", "forgetful"), "LangGraph", ("langchain-openai",)),
    "openai_agents": Framework(("openai-agents",), section="OpenAI Agents SDK"),
    "google_adk": Framework(("google-adk",), section="Google ADK"),
    "strands": Framework(("strands-agents",), ("agent", "shared"), "Strands Agents", ("strands-agents[openai]",)),
    "smolagents": Framework(("smolagents",), ("agent", "coder"), "smolagents", ("smolagents[openai]",)),
    "agent_framework": Framework(
        ("agent-framework-core",), section="Microsoft Agent Framework", models=("agent-framework-openai",)
    ),
    "agno": Framework(("agno",), section="Agno", models=("openai",)),
    "llama_index": Framework(("llama-index-core",), section="LlamaIndex", models=("llama-index-llms-openai",)),
    "crewai": Framework(("crewai",), ("answer",), "CrewAI"),
    "claude_agent_sdk": Framework(("claude-agent-sdk",), ("Desk",)),
}


NODE: Final = "vercel_ai"
"""The AI SDK of Vercel, whose agent answers over HTTP, under Node."""


def main(names: list[str]) -> int:
    """Test the named frameworks, or all; 1 if a suite does not pass."""
    unknown = sorted(set(names) - {*FRAMEWORKS, NODE})
    if unknown:
        print(f"unknown: {', '.join(unknown)}; there are {', '.join((*FRAMEWORKS, NODE))}")
        return 2
    tests: dict[str, Callable[[], bool]] = {name: partial(passes, name, each) for name, each in FRAMEWORKS.items()}
    tests[NODE] = node_passes
    failed = [name for name in names or tests if not tests[name]()]
    if failed:
        print(f"failed: {', '.join(failed)}")
    return 1 if failed else 0


def passes(name: str, framework: Framework) -> bool:
    """Whether every case passes with every agent; True if the framework cannot be had."""
    python, installed = environment(name, *framework.packages, *framework.models)
    if installed.returncode:
        errors = re.findall(r"^ERROR: (.*)", installed.stderr, re.MULTILINE) or ["pip failed"]
        print(f"{name}: not tested, since it cannot be installed here: {errors[-1]}", flush=True)
        return True
    listed = ran([str(python), "-m", "pip", "freeze"]).stdout.splitlines()
    versions = [each for each in listed if each.partition("==")[0].lower() in framework.packages]
    known = f"{name} ({' '.join(versions)})"
    failed = [
        agent
        for agent in framework.agents
        if not asked(f"{known}, {agent}", python, "--agent", f"python:frameworks/{name}_desk.py:{agent}")
    ]
    return (not framework.section or is_known(name, framework.section, python)) and not failed


def environment(name: str, *packages: str) -> tuple[Path, subprocess.CompletedProcess[str]]:
    """The Python of an environment of its own with evalc and these packages, and what pip said."""
    folder = ROOT / ".venv-frameworks" / name
    python = folder / "bin/python"
    if not python.exists():
        venv.create(folder, with_pip=True)
    pip = [str(python), "-m", "pip", "--quiet", "--disable-pip-version-check"]
    return python, ran([*pip, "install", "--upgrade", "--editable", str(ROOT), *packages])


def node_passes() -> bool:
    """Whether every case passes with the agent under Node; True if Node or the SDK cannot be had."""
    python, _ = environment(NODE)
    desk = ROOT / ".venv-frameworks" / NODE / "desk"
    shutil.copytree(EXAMPLES / "frameworks" / NODE, desk, dirs_exist_ok=True)
    npm = shutil.which("npm")
    if npm is None or ran([npm, "install", "--prefix", str(desk), "--no-audit", "--no-fund"]).returncode:
        print(f"{NODE}: not tested, since Node or its packages cannot be had here", flush=True)
        return True
    version = json.loads((desk / "node_modules/ai/package.json").read_text(encoding="utf-8"))["version"]
    begin = {"cwd": desk, "env": {**os.environ, "PORT": "0"}, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen(["node", "desk.mjs"], **begin) as server:  # type: ignore[call-overload]
        try:
            port = server.stdout.readline().split()[-1]
            flags = ("--agent", f"http://127.0.0.1:{port}/", "--config", f"frameworks/{NODE}/evalc.toml")
            return asked(f"{NODE} (ai=={version})", python, *flags)
        finally:
            server.terminate()


def is_known(name: str, section: str, python: Path) -> bool:
    """Whether evalc knows the agent that a section of the guide shows."""
    guide = GUIDE.read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as folder:
        for file, before in {"tools.py": "", "agent.py": f"\n## {section}\n"}.items():
            _, _, code = guide[guide.index(before) :].partition("```python")
            code = code.partition("\n")[2].partition("```")[0].replace("MODEL", "gpt-4o-mini")
            Path(folder, file).write_text(code, encoding="utf-8")
        environment = {**os.environ, "OPENAI_API_KEY": "none"}
        command = [str(python), "-c", IS_KNOWN]
        made = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    print(f"{name}, as the guide shows it: {made.stdout.strip() or made.stderr}", flush=True)
    return made.returncode == 0


def asked(what: str, python: Path, *flags: str) -> bool:
    """Whether every case passes with an agent."""
    with tempfile.TemporaryDirectory() as results:
        command = ["run", "frameworks/desk.eval.yaml", *flags, "--output-dir", results, "--concurrency", "4"]
        run = ran([str(python), "-m", "evalc", *command])
    counts = re.search(r"(\d+)/(\d+) passed", run.stdout)
    has_passed = run.returncode == 0 and counts is not None
    print(f"{what}: {counts[0] if counts else 'nothing ran'}", flush=True)
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
