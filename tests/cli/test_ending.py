"""Exit codes and reasons for what a command returns or raises."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest

from evalc.base.errors import AgentUnavailable, SourceError, UsageError
from evalc.base.source import Source, Span
from evalc.cli.ending import exits
from evalc.diagnostics import Finding, Problem

PROBLEM = Problem(
    source=Source("evalc.toml", "a b\n"),
    span=Span(2, 3),
    finding=Finding("EV620", language="TOML", what="expected '='"),
    severity="error",
)


def code_of(error: BaseException | None = None, returned: int = 0) -> int:
    def command() -> int:
        if error is not None:
            raise error
        return returned

    with pytest.raises(SystemExit) as caught:
        exits(command)()
    assert isinstance(caught.value.code, int)
    return caught.value.code


@pytest.mark.parametrize("code", [0, 1, 2, 3])
def test_the_returned_number_is_the_exit_code(code: int, capsys: pytest.CaptureFixture[str]) -> None:
    assert code_of(returned=code) == code
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("error", "code", "message"),
    [
        (UsageError("no agent is named"), 2, "error: no agent is named\n"),
        (UsageError("`\x1b[2J` is odd"), 2, "error: `\\x1b[2J` is odd\n"),
        (AgentUnavailable("no connection"), 3, "error: no connection\n"),
        (KeyboardInterrupt(), 130, "error: interrupted\n"),
        (OSError(errno.ENOSPC, "No space left on device", "r.json"), 70, "error: `r.json`: No space left on device\n"),
        (OSError(errno.EIO, "Input/output error"), 70, "error: Input/output error\n"),
        (
            FileNotFoundError(errno.ENOENT, "No usable temporary directory found in ['/tmp']"),
            70,
            "error: No usable temporary directory found in ['/tmp']\n",
        ),
    ],
)
def test_errors_are_sentences(
    error: BaseException, code: int, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert code_of(error) == code
    assert capsys.readouterr() == ("", message)


def test_problems_of_sources_are_rendered(capsys: pytest.CaptureFixture[str]) -> None:
    assert code_of(SourceError([PROBLEM])) == 2
    assert capsys.readouterr().err == (
        "error[EV620]: this is not valid TOML: expected '='\n"
        " --> evalc.toml:1:3\n"
        "  |\n"
        "1 | a b\n"
        "  |   ^\n"
        "\n"
        "1 error in 1 file\n"
    )


@pytest.mark.parametrize("error", [ZeroDivisionError("a secret"), RecursionError(), OSError("no number")])
def test_a_fault_of_ours_is_one_line_that_quotes_nothing(
    error: Exception, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("EVALC_DEBUG", raising=False)
    assert code_of(error) == 70
    shown = capsys.readouterr().err
    assert shown == (
        f"error: evalc broke ({type(error).__name__}); "
        "please report it, with what EVALC_DEBUG=1 makes this command print\n"
    )


@pytest.mark.parametrize(("number", "code"), [(errno.EROFS, 2), (errno.EACCES, 2), (errno.ENOSPC, 70), (errno.EIO, 70)])
def test_a_place_that_may_not_be_written_is_no_broken_machine(
    number: int, code: int, capsys: pytest.CaptureFixture[str]
) -> None:
    assert code_of(OSError(number, os.strerror(number), "evals/baseline.json")) == code
    assert capsys.readouterr().err == f"error: `evals/baseline.json`: {os.strerror(number)}\n"


def test_the_traceback_is_shown_on_request(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EVALC_DEBUG", "1")
    assert code_of(ZeroDivisionError("why")) == 70
    assert "ZeroDivisionError: why" in capsys.readouterr().err


@pytest.mark.parametrize("flags", [(), ("--json",), ("-o", "report.xml")])
def test_a_run_leaves_no_file_open(project: Path, flags: tuple[str, ...]) -> None:
    command = [sys.executable, "-X", "dev", "-W", "error::ResourceWarning", "-m", "evalc", "run", "--agent", "demo"]
    ended = subprocess.run([*command, *flags], capture_output=True, text=True, check=False, timeout=60)
    assert ended.returncode == 0
    assert "ResourceWarning" not in ended.stderr
