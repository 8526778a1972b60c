"""The entry point, as a process."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

import evalc
from tests.cli.conftest import Invoke
from tests.support.command_line import app


def run(*arguments: str, **environ: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "evalc", *arguments]
    return subprocess.run(command, capture_output=True, text=True, env={**os.environ, **environ}, check=False)


def modules_after(*arguments: str) -> set[str]:
    """The modules that are imported once the command line has ended, however it ends the process."""
    code = f"import sys; sys.argv = ['evalc', *{list(arguments)!r}]; from evalc.cli.main import main; main()"
    command = [sys.executable, "-X", "importtime", "-c", code]
    lines = subprocess.run(command, capture_output=True, text=True, check=True).stderr.splitlines()
    imported = {line.rpartition("|")[2].strip() for line in lines if line.startswith("import time:")}
    assert "evalc.cli.main" in imported
    return imported


def rooms_of(imported: set[str]) -> set[str]:
    """The rooms of which anything is imported, but for what settings are declared with."""
    needed = {f"evalc.{name}" for name in ("dsl", "dsl.kinds", "model", "model.numbers", "runtime", "runtime.mapping")}
    own = imported - needed
    return {name.split(".")[1] for name in own if name.startswith("evalc.")}


def test_version() -> None:
    result = run("--version")
    assert (result.returncode, result.stdout, result.stderr) == (0, f"evalc {evalc.__version__}\n", "")


def test_the_version_is_answered_before_anything_is_imported() -> None:
    ours = {name for name in modules_after("--version") if name.startswith("evalc")}
    assert ours == {"evalc", "evalc.cli", "evalc.cli.main"}
    assert not {"typer", "msgspec", "pathlib"} & modules_after("--version")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="Linux alone has a device that is full")
@pytest.mark.parametrize("arguments", ["--version", "--help", "run --help", "schema case"])
def test_output_that_cannot_be_written_is_reported_in_a_line(arguments: str) -> None:
    line = f"exec '{sys.executable}' -m evalc {arguments} >/dev/full"
    ended = subprocess.run(["sh", "-c", line], capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stderr) == (70, "error: No space left on device\n")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="Linux alone has a device that is full")
@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ("check s.eval.yaml", 0),
        ("check gone.eval.yaml", 2),
        ("run s.eval.yaml --agent demo", 0),
        ("run s.eval.yaml --agent python:greeter:answer", 0),
        ("run s.eval.yaml --agent python:gone:answer", 2),
        ("show", 2),
    ],
)
def test_standard_error_that_cannot_be_written_decides_nothing(tmp_path: Path, arguments: str, code: int) -> None:
    (tmp_path / "evalc.toml").touch()
    (tmp_path / "greeter.py").write_text("def answer(message):\n    return 'hi'\n")
    (tmp_path / "s.eval.yaml").write_text(
        "suite: s\neval:\n  test_cases: [{name: a, message: hi, validate: [non-empty]}]\n"
    )
    line = f"exec '{sys.executable}' -m evalc {arguments} 2>/dev/full"
    ended = subprocess.run(["sh", "-c", line], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert ended.returncode == code


@pytest.mark.parametrize("arguments", ["--version", "--help"])
def test_closed_output_is_not_reported(arguments: str) -> None:
    line = f"exec '{sys.executable}' -m evalc {arguments} >&-"
    ended = subprocess.run(["sh", "-c", line], capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stderr) == (0, "")


def test_the_version_with_something_else() -> None:
    assert run("--version", "check").stdout == f"evalc {evalc.__version__}\n"


@pytest.mark.parametrize("command", [(), ("run",)])
def test_help_imports_no_library_of_the_work(command: tuple[str, ...]) -> None:
    imported = modules_after(*command, "--help")
    assert "typer" in imported
    assert not {"rich", "yaml", "lark", "httpx", "evalc.api", "evalc.config.load"} & imported
    rooms = {"compiler", "dsl", "ecma", "grammar", "model", "report", "runtime", "tools"}
    assert not rooms & rooms_of(imported)


def test_check_imports_nothing_of_a_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".git").mkdir()
    (tmp_path / "a.yaml").write_text("eval: {test_cases: [{name: a, message: hi, validate: [non-empty]}]}\n")
    imported = modules_after("check")
    assert not {"rich", "httpx", "asyncio", "ssl"} & imported
    assert "runtime" not in rooms_of(imported)


def test_a_run_imports_no_http_library_unless_it_sends_something(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.yaml").write_text("eval: {test_cases: [{name: a, message: hi, validate: [non-empty]}]}\n")
    assert not {"httpx", "httpcore", "urllib.request"} & modules_after("run", "--agent", "demo")


@pytest.mark.parametrize(("command", "last"), [("run", "evalc.cli.app"), ("check", "evalc.cli.checking")])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_is_heard_before_there_is_a_command(command: str, last: str, number: signal.Signals) -> None:
    code = (
        "import signal, sys\n"
        "class WhileImporting:\n"
        "    def find_spec(self, name, *_):\n"
        f"        if name == {last!r}: signal.raise_signal({int(number)})\n"
        "sys.meta_path.insert(0, WhileImporting())\n"
        f"sys.argv = ['evalc', {command!r}]\n"
        "from evalc.cli.main import main\n"
        "main()\n"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stdout, ended.stderr) == (130, "", "error: interrupted\n")


SUITE = """\
suite: greeting
prompt: "Greet {{who}}"
eval:
  criteria: ["clarity (1): Clear"]
  test_cases:
    - name: hi
      inputs: {who: Anna}
      validate:
        - type: contains
          rule: hello
          criterion: clarity
        - not matches /bye/i
"""


def test_check_imports_only_what_a_sound_suite_needs(tmp_path: Path) -> None:
    suite = tmp_path / "greeting.eval.yaml"
    suite.write_text(SUITE, encoding="utf-8")
    unneeded = {"typer", "lark", "httpx", "jsonschema", "ruamel", "rich", "asyncio", "hashlib", "tempfile", "pickle"}
    unneeded |= {"evalc.compiler.lift", "evalc.dsl.yaml_complaints", "evalc.diagnostics.fixing", "secrets"}
    unneeded |= {"evalc.diagnostics.catalogue", "evalc.diagnostics.render"}
    assert not unneeded & modules_after("check", str(suite))


@pytest.mark.parametrize("paths", [(), ("evals",), ("missing.eval.yaml", "-")])
def test_check_of_paths_alone_is_check_with_an_option(
    paths: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "evals").mkdir()
    (tmp_path / "evals" / "greeting.eval.yaml").write_text(SUITE + "        - contains\n", encoding="utf-8")
    plain, with_option = run("check", *paths), run("check", "--format", "text", *paths)
    assert plain.returncode == 2
    assert (plain.returncode, plain.stdout, plain.stderr) == (
        with_option.returncode,
        with_option.stdout,
        with_option.stderr,
    )


def test_without_arguments_the_help_is_shown() -> None:
    result = run()
    assert result.returncode == 2
    assert "Usage: " in result.stdout + result.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("chekc",), "No such command 'chekc'"),
        (("run", "--agnet", "demo"), "No such option: --agnet"),
        (("run", "--concurrency", "many"), "must be a whole number, or `auto`"),
        (("check", "--format", "xml"), "'xml' is not one of"),
    ],
)
def test_a_usage_error_of_the_command_line_exits_with_2(arguments: tuple[str, ...], message: str) -> None:
    result = run(*arguments)
    assert result.returncode == 2
    assert message in result.stderr
    assert "Traceback" not in result.stderr


GROUP: Any = get_command(app)
COMMANDS = {name: command for name, command in GROUP.commands.items() if not command.hidden}


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help_with_an_example(invoke: Invoke, command: str) -> None:
    result = invoke(command, "--help")
    assert result.code == 0
    assert "\n  Example" in result.out
    assert f"\n    evalc {command}" in result.out
    assert max(map(len, result.out.split("\n"))) <= 80
    assert "<str>" not in result.out


def test_no_summary_of_a_command_is_cut(invoke: Invoke) -> None:
    _, _, listed = invoke("--help").out.partition("Write:\n")
    names = [line.split()[0] for line in listed.splitlines() if line.startswith("  ")]
    assert names == [*COMMANDS]
    assert "..." not in listed


def test_the_help_of_run_leaves_out_what_few_need(invoke: Invoke) -> None:
    usual, whole = (
        set(re.findall(r"--?[a-z][a-z0-9-]*", invoke("run", flag).out)) for flag in ("--help", "--help-all")
    )
    assert whole - usual == {"--engine", "--otel", "--shard", "--shard-by"}
    shown = [name for option in COMMANDS["run"].params for name in option.opts if name in usual]
    assert len(shown) <= 47


def test_a_closed_pipe_ends_quietly() -> None:
    command = [sys.executable, "-m", "evalc", "explain"]
    reader, writer = os.pipe()
    os.close(reader)
    with subprocess.Popen(command, stdout=writer, stderr=subprocess.PIPE, text=True) as process:
        os.close(writer)
        _, errors = process.communicate()
    assert (process.returncode, errors) == (141, "")


def test_an_encoding_that_lacks_a_character_breaks_nothing() -> None:
    result = run("explain", "EV201", PYTHONIOENCODING="ascii")
    assert result.returncode == 0
    assert run("explain", "ü", PYTHONIOENCODING="ascii").stderr == (
        "error: `\\xfc` is no code, check, key or setting; `evalc explain` lists all codes\n"
    )
