"""Settings of an HTTP agent: body, paths and the rest, and their mistakes, in place."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from evalc.config.load import load_settings
from evalc.runtime.mapping import Values


def load(folder: Path, text: str) -> tuple[Any, list[str]]:
    """The settings, and what is wrong with them."""
    (folder / ".git").mkdir()
    (folder / "evalc.toml").write_text(text, encoding="utf-8")
    loaded = load_settings(folder)
    return loaded.settings, [str(problem) for problem in loaded.problems]


def test_everything_at_once(tmp_path: Path) -> None:
    settings, problems = load(
        tmp_path,
        """
        concurrency = "auto"
        rpm = 90
        [agent]
        method = "PUT"
        body = { q = "{{message}}", n = [1, true] }
        redirects = 2
        acceptedStatuses = [202]
        verifyTls = false
        caFile = "ca.pem"
        connectTimeoutMs = 500
        [agent.response]
        response = "out.text"
        toolCalls = "calls || `[]`"
        [agent.stream]
        text = "delta"
        done = "last"
        """,
    )
    assert problems == []
    assert (settings.concurrency, settings.rpm, settings.agent.method, settings.agent.redirects) == (
        "auto",
        90,
        "PUT",
        2,
    )
    assert (settings.agent.verify_tls, settings.agent.ca_file) == (False, tmp_path / "ca.pem")
    assert (settings.agent.connect_timeout_ms, settings.agent.accepted_statuses) == (500, (202,))
    assert settings.agent.response.response.text == "out.text"
    assert settings.agent.response.name is None
    assert (settings.agent.stream.text.text, settings.agent.stream.done.text) == ("delta", "last")
    values = Values(message="Hi", messages=(), case_id="", inputs={})
    assert settings.agent.body.fill(values) == {"q": "Hi", "n": [1, True]}


def test_a_body_may_be_a_text_of_json(tmp_path: Path) -> None:
    settings, problems = load(tmp_path, """agent.body = '''{"q": ["{{id}}"], "none": null}'''""")
    assert problems == []
    assert settings.agent.body.fill(Values(message="", messages=(), case_id="c", inputs={})) == {
        "q": ["c"],
        "none": None,
    }


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('concurrency = "4"', "1:15: error[EV623]: `concurrency` must be a whole number, or `auto`"),
        ('agent.method = "GET"', "1:16: error[EV623]: `method` must be one of `POST`, `PUT`, `PATCH`"),
        (
            '[agent.response]\nresponse = "a..b"',
            "2:12: error[EV623]: `response` must be a JMESPath expression: `.` at character 3 is not allowed there",
        ),
        (
            '[agent.response]\ntoolCals = "a"',
            "2:12: error[EV623]: `toolCals` must be one of the keys `response`, `toolCalls`",
        ),
        ("agent.acceptedStatuses = 202", "1:26: error[EV622]: `acceptedStatuses` must be a list of statuses"),
        ("agent.acceptedStatuses = [202, 404]", "error[EV623]: an item of `acceptedStatuses` must be 202 or 206"),
        ("[agent.response]\nname = 1", "2:8: error[EV622]: `name` must be a text, not a number"),
        ('[agent.stream]\ndone = "x"', "error[EV623]: `stream` must be a table with the path of the `text`"),
        (
            '[agent.body]\nq = ["{{mesage}}"]',
            "2:6: error[EV623]: an item of `q` must be one with the placeholders",
        ),
        ('[agent]\nbody = "{"', "2:8: error[EV623]: `body` must be valid JSON: "),
        (
            """[agent]\nbody = '{"m": {{messages}}}'""",
            "; put a placeholder in quotes: it becomes the value itself",
        ),
        ("agent.body = 1", "1:14: error[EV622]: `body` must be a table, a list, or a text"),
        ('agent.body = "7"', "1:14: error[EV622]: `body` must be a table, a list, or a text"),
    ],
)
def test_mistakes_are_reported_in_place(tmp_path: Path, text: str, problem: str) -> None:
    _, problems = load(tmp_path, text)
    assert len(problems) == 1
    assert problem in problems[0]


def test_a_misspelt_key_has_a_near_name(tmp_path: Path) -> None:
    _, problems = load(tmp_path, '[agent.response]\ntoolCals = "a"')
    assert "did you mean `toolCalls`?" in problems[0]


def test_a_body_is_never_quoted(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / "evalc.toml").write_text('[agent.body]\nkey = "sk-planted {{nothing}}"')
    from evalc.diagnostics.render_text import render_text

    assert "sk-planted" not in render_text(load_settings(tmp_path).problems)
