"""The command line prints no secrets, and no texts that a terminal or a log's reader would obey."""

from __future__ import annotations

from pathlib import Path

import pytest

from evalc.base.terminal import annotation
from evalc.report import quoted
from evalc.runtime.store.redact import Redactor
from tests.cli.conftest import Invoke
from tests.support.servers import answers_bytes, serving

SETTINGS = """\
agentEndpoint = "http://user:pw@localhost:1/chat?api_key=abc&x#frag"
snapshot = "https://me:pw@host/x?token=abc"
[openai]
base_url = "http://me:pw@host/v1?key=abc"
"""


@pytest.mark.parametrize("flag", ["--show-settings", "--dry-run"])
def test_urls_are_shown_without_credentials(invoke: Invoke, project: Path, flag: str) -> None:
    (project / "evalc.toml").write_text(SETTINGS)
    outcome = invoke("run", flag)
    output = outcome.out + outcome.err
    assert "http://localhost:1/chat?api_key=***&***" in output
    assert not [part for part in ("pw", "abc", "user:", "frag") if part in output]


def test_a_secret_that_a_header_echoes_is_struck_out_though_it_is_cut(
    invoke: Invoke, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret = "s3cret-" * 60
    monkeypatch.setenv("MY_TOKEN", secret)
    with serving(answers_bytes(b"x", headers={"Content-Encoding": f"gzip-{secret}"})) as server:
        (project / "evalc.toml").write_text(f'agent = "{server.url}"\nsecrets = ["MY_TOKEN"]\n')
        outcome = invoke("run")
    assert outcome.code == 3
    assert "the answer is compressed (`gzip-***" in outcome.out
    assert "s3cret" not in outcome.out
    (results,) = (project / "evals" / "results").glob("*/weather*.json")
    assert "s3cret" not in results.read_text()


@pytest.mark.parametrize(
    ("variables", "warning"),
    [
        ({"DB_PASSWORD": "hunter2"}, "the value of `DB_PASSWORD` in `secrets` has fewer than 8 characters"),
        ({"DB_PASWORD": "hunter2-hunter2"}, "`DB_PASSWORD` in `secrets` is not set, and the value of `DB_PASWORD` is"),
        ({"DB_PASSWORD": "hunter2-hunter2"}, ""),
        ({"DB_PASSWORD": "", "DB_PASWORD": "x"}, ""),
        ({"OTHER": "hunter2-hunter2"}, ""),
    ],
)
def test_a_run_warns_of_secrets_that_are_not_struck_out(
    invoke: Invoke, project: Path, monkeypatch: pytest.MonkeyPatch, variables: dict[str, str], warning: str
) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    (project / "evalc.toml").write_text("secrets = ['DB_PASSWORD']\n")
    out = " ".join(invoke("run", "--agent", "demo").out.split())
    assert warning in out
    assert ("in `secrets`" in out) is bool(warning)


@pytest.mark.parametrize(
    "named", ["agent = 'python:says:x'", "judge = 'python:says:x'", "user = 'python:says:x'", "checks = ['says.py']"]
)
def test_a_secret_that_code_says_when_it_is_imported_is_struck_out(
    invoke: Invoke, project: Path, monkeypatch: pytest.MonkeyPatch, named: str
) -> None:
    monkeypatch.setenv("MY_TOKEN", "hunter2-hunter2")
    (project / "says.py").write_text("import os\nraise ValueError(os.environ['MY_TOKEN'])\n")
    (project / "evalc.toml").write_text(f"secrets = ['MY_TOKEN']\n{named}\n")
    if named.startswith("user"):
        played = "suite: played\neval:\n  test_cases: [{name: a, user: {goal: Ask}, validate: [non-empty]}]\n"
        (project / "evals" / "played.eval.yaml").write_text(played)
    outcome = invoke("run", *(() if named.startswith("agent") else ("--agent", "demo")))
    assert (outcome.code, outcome.out) == (2, "")
    assert "`says` cannot be imported: ValueError: ***" in outcome.err


def test_a_line_is_cut_after_secrets_are_struck_out_of_it() -> None:
    line = "x" * 290 + "hunter2-hunter2-hunter2"
    assert quoted(line, Redactor(["hunter2-hunter2-hunter2"]).redact) == "x" * 290 + "***"


def test_an_annotation_holds_nothing_that_a_terminal_obeys() -> None:
    hostile = "\x1b[31m\x1b]0;x\x07\x9b2J\u202egolden\r\n::error::"
    line = annotation("error", {"title": f"{hostile}: failed", "file": f"{hostile}.yaml"}, [hostile])
    assert line.isprintable()
    assert line.count("::") == 4, "two of the command's own, and two in the message"
