"""Workflow commands for GitHub: what the runner reads back is what was said, whatever is in it."""

from __future__ import annotations

import re
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from evalc.base.source import Source, Span
from evalc.base.terminal import visible
from evalc.diagnostics.problem import Finding, Problem
from evalc.diagnostics.render_github import render_github


def rendered(name: str, finding: Finding) -> str:
    source = Source(name, "eval:\n  - containz\n")
    return render_github([Problem(source=source, span=Span(10, 18), finding=finding, severity=finding.entry.severity)])


def read_back(command: str) -> tuple[str, dict[str, str], str]:
    """A command as the runner reads it."""
    match = re.fullmatch(r"::(\w+) ([^\r\n]*?)::([^\r\n]*)\n", command)
    assert match is not None
    pairs = (pair.split("=", 1) for pair in match[2].split(","))
    unescaped = {key: value.replace("%3A", ":").replace("%2C", ",") for key, value in pairs}
    return match[1], {key: _plain(value) for key, value in unescaped.items()}, _plain(match[3])


def _plain(text: str) -> str:
    return text.replace("%0D", "\r").replace("%0A", "\n").replace("%25", "%")


def test_an_error_and_a_warning() -> None:
    assert rendered("a.yaml", Finding("EV203", name="containz", known=("contains",))) == (
        "::error file=a.yaml,line=2,endLine=2,col=5,endColumn=13,title=EV203::"
        "`containz` is not a check%0Adid you mean `contains`?%0Athe checks are contains\n"
    )
    warning = rendered("a.yaml", Finding("EV501", check="`length >= 0`", why="nothing is shorter"))
    assert warning.startswith("::warning file=a.yaml,line=2,")


def test_nothing_is_printed_for_nothing() -> None:
    assert render_github([]) == ""


def test_hostile_names_and_texts() -> None:
    name = "a,line=9::b%0A:\n::set-env name=X::\r.yaml"
    kind, properties, message = read_back(rendered(name, Finding("EV203", name="x\n::error::y\r%0A\x1b[2J", known=())))
    assert (kind, properties["file"], properties["line"]) == ("error", visible(name), "2")
    assert message.startswith("`x\\n::error::y\\r%0A\\x1b[2J` is not a check\n")


@given(name=st.text(min_size=1), word=st.text())
def test_annotations_read_back_as_written(name: str, word: str) -> None:
    finding = Finding("EV203", name=word, known=())
    kind, properties, message = read_back(rendered(name, finding))
    assert kind == "error"
    assert list(properties) == ["file", "line", "endLine", "col", "endColumn", "title"]
    assert properties["file"] == visible(Path(name).as_posix())
    assert message.count("\n") == 1
