"""The README and the guides, followed from top to bottom in a new project: their commands print what is shown."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import typer
from typer.core import TyperGroup

from tests.cli.conftest import Invoke, Outcome
from tests.extras.test_pytest import WITHOUT
from tests.support.command_line import app
from tests.support.pages import PAGES, README, ROOT, WALKED, blocks
from tests.support.servers import Exchange, serving

pytest_plugins = ["pytester"]

Follow = Callable[[str], Outcome]

COMMANDS = {
    "sh": r"^(?!evalc watch)((?:evalc|git|pytest)\b.*)",
    "yaml": r"^ +- (?:run: )?(evalc .*)",  # of a workflow
    "groovy": r"sh '(evalc .*?)'",
    "console": r"\A\$ (.*)",
}
SHOWN = re.compile(r"""(?:^|[ ;"])evalc ([a-z][^\n|;"&]*)""", re.MULTILINE)
YOUR_AGENT = "http://localhost:3000/chat"
RUN_ID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")


async def says(exchange: Exchange) -> None:
    """Answer as a model does: a question to a judge with the best score, anything else with the weather."""
    asked = exchange.request.json
    content = "In Tokyo and in Paris it is 21°C."
    if "response_format" in asked:
        score = asked["response_format"]["json_schema"]["schema"]["properties"]["score"]
        content = json.dumps({"reason": "It is.", "score": score.get("maximum", score.get("enum", [1])[-1])})
    choice = {"index": 0, "message": {"role": "assistant", "content": content}, "finish_reason": "stop"}
    usage = {"prompt_tokens": 9, "completion_tokens": 9, "total_tokens": 18}
    await exchange.respond(200, json.dumps({"model": "MODEL", "choices": [choice], "usage": usage}).encode())


@pytest.fixture(scope="module")
def model() -> Iterator[str]:
    """The address of an API of models."""
    with serving(says) as server:
        yield server.url


def program(*command: str) -> Outcome:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return Outcome(code=done.returncode, out=done.stdout, err=done.stderr)


@pytest.fixture
def follow(
    invoke: Invoke, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pytester: pytest.Pytester, model: str
) -> Follow:
    """Run a command of a page in a new project, as a process of its own would: no module is imported yet."""
    project = tmp_path / "project"
    project.mkdir()
    monkeypatch.chdir(project)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    for name, value in {
        "COLUMNS": "100",
        "OPENAI_BASE_URL": model,
        "OPENAI_API_KEY": "a key of mine",
        "CHAT_TOKEN": "a token of mine",
        "GITLAB_CI": "true",  # pages run what a job does; this one is for no merge request
    }.items():
        monkeypatch.setenv(name, value)
    git = ("git", "-c", "user.name=someone", "-c", "user.email=someone@example.com")
    program(*git, "init", "--quiet", "--initial-branch=main")
    program(*git, "commit", "--quiet", "--allow-empty", "--message=nothing yet")

    def run(command: str) -> Outcome:
        name, *arguments = shlex.split(command.replace(YOUR_AGENT, "demo"), comments=True)
        if name == "git":
            return program(*git, *arguments)
        before = set(sys.modules)
        try:
            if name == "pytest":
                return Outcome(code=pytester.runpytest_inprocess(*WITHOUT, *arguments).ret, out="", err="")
            return invoke(*arguments)
        finally:
            for module in set(sys.modules) - before:
                if (getattr(sys.modules[module], "__file__", None) or "").startswith(str(project)):
                    del sys.modules[module]

    return run


@pytest.mark.parametrize("page", WALKED, ids=lambda page: page.stem)
def test_who_follows_a_page_sees_what_it_shows(page: Path, follow: Follow, update_goldens: bool) -> None:
    text = page.read_text(encoding="utf-8")
    for block in blocks(page):
        if block.title:  # which GitHub does not show
            assert f"`{block.title}`" in text.partition(f'title="{block.title}"')[0]
            Path(block.title).parent.mkdir(parents=True, exist_ok=True)
            Path(block.title).write_text(block.text, encoding="utf-8")
        for command in re.findall(COMMANDS.get(block.tag, r"(?!)"), block.text, re.MULTILINE):
            outcome = follow(command)
            if block.tag != "console":
                assert (command, outcome.code, outcome.err) == (command, 0, outcome.err)
                continue
            shown = f"$ {command}\n{steady(outcome.out.rstrip())}\n"
            assert update_goldens or shown == block.text, "run this test with --update-goldens, and read the change"
            text = text.replace(f"\n{block.text}```\n", f"\n{shown}```\n", 1)
    if any(block.title.endswith(".eval.yaml") for block in blocks(page)):
        assert follow("evalc check").out.startswith("all good")
    if update_goldens:
        page.write_text(text, encoding="utf-8")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_the_command_line_takes_every_command_that_a_page_names(page: Path) -> None:
    group = typer.main.get_command(app)
    assert isinstance(group, TyperGroup)
    text = page.read_text(encoding="utf-8")
    named = re.findall(r"`evalc ([a-z][^`\n\[]*)`", text)
    named += [command for block in blocks(page) if block.tag.startswith("sh") for command in SHOWN.findall(block.text)]
    for name, *arguments in (shlex.split(command, comments=True) for command in named):
        assert name in group.commands
        if arguments and not arguments[0].startswith("--help"):
            group.commands[name].make_context(name, arguments)


def steady(output: str) -> str:
    """The output without durations and ids, which differ in every run."""
    return RUN_ID.sub("01a1f3c2-5b7e-7d40-9c1a-8e2f6b4d7a90", re.sub(r"( {1,2}) *\d+ms\b", r"\g<1>0ms", output))


def test_the_first_suite_prints_what_is_shown(invoke: Invoke, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = README.read_text(encoding="utf-8")
    [(suite, shown)] = re.findall(r"^```yaml\n(suite: weather.*?)^```.*?^```text\n(.*?)^```", text, re.M | re.DOTALL)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "evals").mkdir(exist_ok=True)
    (tmp_path / "evals" / "weather.eval.yaml").write_text(suite, encoding="utf-8")
    printed = invoke("run", "evals/", "--agent", "demo").out.partition("\n\n")[0]
    assert re.sub(r"\b\d+ms", "0ms", printed) == shown.rstrip()
