"""The commands of the README and the guide, one after the other in a new project: each does what is said of it."""

from __future__ import annotations

import re
import shlex
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.conftest import Invoke

ROOT = Path(__file__).parents[2]
README, GUIDE = ROOT / "README.md", ROOT / "docs" / "guide.md"
NEVER_ENDS = "evalc watch"
OLD = """\
prompts: ["What is the weather in {{city}}?"]
tests:
  - vars: {city: Paris}
    assert: [{type: contains, value: Paris}]
"""
TOOLS = '[{"name": "get_weather", "description": "The weather", "inputSchema": {"type": "object", "properties": {}}}]'
YOUR_AGENT = "http://localhost:3000/chat"


def commands() -> Iterator[str]:
    for page in (README, GUIDE):
        for block in re.findall(r"^```sh\n(.*?)^```", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL):
            yield from (line for line in block.splitlines() if line.startswith(("evalc ", "git ")))


def git(*arguments: str) -> None:
    identity = ("-c", "user.name=someone", "-c", "user.email=someone@example.com")
    subprocess.run(["git", *identity, *arguments], check=True, capture_output=True)


def test_each_command_does_what_is_said_of_it(invoke: Invoke, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    project = tmp_path / "project"
    project.mkdir()
    monkeypatch.chdir(project)
    Path("old.yaml").write_text(OLD)
    Path("tools.json").write_text(TOOLS)
    git("init", "--quiet", "--initial-branch=main")
    git("commit", "--quiet", "--allow-empty", "--message=nothing yet")
    typed = [command for command in commands() if not command.startswith(NEVER_ENDS)]
    assert len(typed) > 25
    for command in typed:
        program, *arguments = shlex.split(command.replace(YOUR_AGENT, "demo"), comments=True)
        if program == "git":
            git(*arguments)
            continue
        outcome = invoke(*arguments)
        assert outcome.code == 0, (command, outcome)
        if arguments == ["init"]:
            configuration = Path("evalc.toml").read_text()
            Path("evalc.toml").write_text(configuration.replace("# agent =", 'agent = "demo" #', 1))


def test_the_first_suite_prints_what_is_shown(invoke: Invoke, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = README.read_text(encoding="utf-8")
    [(suite, shown)] = re.findall(r"^```yaml\n(suite: weather.*?)^```.*?^```text\n(.*?)^```", text, re.M | re.DOTALL)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "evals").mkdir(exist_ok=True)
    (tmp_path / "evals" / "weather.eval.yaml").write_text(suite, encoding="utf-8")
    printed = invoke("run", "evals/", "--agent", "demo").out.partition("\n\n")[0]
    assert re.sub(r"\b\d+ms", "0ms", printed) == shown.rstrip()
