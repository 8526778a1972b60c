"""`evalc fmt`."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from evalc.dsl import format as formatting
from evalc.dsl.format import Unformattable
from tests.cli.conftest import SUITE, Invoke

NEAT = SUITE.replace("weather\n", "weather  # its name\n", 1)
UGLY = (
    NEAT.replace("suite: ", "suite:   ")
    .replace("    - name", "    -   name")
    .replace("      message", "        message")
    .replace("      validate", "        validate")
)


@pytest.fixture
def ugly(project: Path) -> Path:
    path = project / "evals" / "ugly.eval.yaml"
    path.write_text(UGLY)
    return path


def test_it_writes_what_is_not_in_the_style(invoke: Invoke, ugly: Path) -> None:
    ugly.chmod(0o640)
    outcome = invoke("fmt", "evals")
    assert (outcome.code, outcome.out) == (0, "formatted evals/ugly.eval.yaml\n")
    assert outcome.err == "1 file formatted, 1 file left unchanged\n"
    assert ugly.read_text() == NEAT
    assert ugly.stat().st_mode & 0o777 == 0o640
    again = invoke("fmt")
    assert (again.code, again.out, again.err) == (0, "", "2 files left unchanged\n")


def test_words_of_checks_change_only_when_canonical_ones_are_asked_for(invoke: Invoke, project: Path) -> None:
    path = project / "evals" / "words.eval.yaml"
    path.write_text(NEAT.replace("non-empty", "length>=1   chars") + "        - length>=1   chars\n")
    before = path.read_text()
    assert invoke("fmt", str(path)).code == 0
    assert path.read_text() == before
    assert invoke("fmt", "--canonical", str(path)).code == 0
    assert path.read_text() == before.replace("length>=1   chars", "length >= 1 chars")


def test_check_lists_and_writes_nothing(invoke: Invoke, ugly: Path) -> None:
    before = ugly.read_bytes()
    outcome = invoke("fmt", "--check")
    assert (outcome.code, outcome.out) == (1, "would format evals/ugly.eval.yaml\n")
    assert outcome.err == "1 file would be formatted, 1 file would be left unchanged\n"
    assert ugly.read_bytes() == before
    assert invoke("fmt", "--check", "evals/weather.eval.yaml").code == 0


def test_diff_shows_what_would_change(invoke: Invoke, ugly: Path) -> None:
    before = ugly.read_bytes()
    outcome = invoke("fmt", "--diff", "evals/ugly.eval.yaml")
    assert outcome.code == 0
    assert outcome.out.startswith("--- evals/ugly.eval.yaml\n+++ evals/ugly.eval.yaml\n@@ ")
    assert "-suite:   weather  # its name\n+suite: weather  # its name\n" in outcome.out
    assert ugly.read_bytes() == before
    assert invoke("fmt", "--diff", "--check", "evals").code == 1


def test_diff_of_a_missing_line_end(invoke: Invoke, project: Path) -> None:
    (project / "a.eval.yaml").write_text(SUITE.rstrip("\n"))
    assert "\\ No newline at end of file\n" in invoke("fmt", "--diff", "a.eval.yaml").out


def test_standard_input_is_printed(invoke: Invoke) -> None:
    outcome = invoke("fmt", "-", stdin=UGLY)
    assert (outcome.code, outcome.out, outcome.err) == (0, NEAT, "")
    assert invoke("fmt", "-", "--check", stdin=UGLY).out == "would format <stdin>\n"
    unchanged = invoke("fmt", "-", stdin=SUITE)
    assert unchanged.out == SUITE


def test_a_byte_order_mark_is_removed(invoke: Invoke, project: Path) -> None:
    path = project / "evals" / "weather.eval.yaml"
    path.write_bytes(b"\xef\xbb\xbf" + SUITE.encode())
    assert invoke("fmt", "--check").code == 1
    assert invoke("fmt").code == 0
    assert path.read_text() == SUITE


def test_line_breaks_stay_what_they_are(invoke: Invoke, ugly: Path) -> None:
    ugly.write_bytes(UGLY.replace("\n", "\r\n").encode())
    assert invoke("fmt").code == 0
    assert ugly.read_bytes() == NEAT.replace("\n", "\r\n").encode()


def test_files_with_errors_are_reported_and_left_alone(invoke: Invoke, ugly: Path, project: Path) -> None:
    broken = project / "evals" / "broken.eval.yaml"
    broken.write_text("eval: {test_cases: [\n")
    outcome = invoke("fmt")
    assert outcome.code == 2
    assert "evals/broken.eval.yaml" in outcome.err
    assert "error[EV1" in outcome.err
    assert broken.read_text() == "eval: {test_cases: [\n"
    assert ugly.read_text() == NEAT
    assert invoke("fmt", "-", stdin="eval: [").code == 2


def test_mistakes_that_are_not_of_yaml_are_no_matter(invoke: Invoke, project: Path) -> None:
    path = project / "evals" / "weather.eval.yaml"
    path.write_text(SUITE.replace("contains", "containz").replace("suite: ", "suite:  "))
    assert invoke("fmt").code == 0
    assert path.read_text() == SUITE.replace("contains", "containz")


def test_other_files_are_passed_over_unless_they_are_named(invoke: Invoke, project: Path) -> None:
    other = project / "evals" / "compose.yaml"
    other.write_text("services:   {}\n")
    (project / "evals" / "a.json").write_text('{"cases":   []}')
    assert (invoke("fmt").code, other.read_text()) == (0, "services:   {}\n")
    named = invoke("fmt", "evals/compose.yaml")
    assert (named.code, "error[EV640]" in named.err) == (2, True)
    json = invoke("fmt", "evals/a.json")
    assert (json.code, json.err) == (0, "there is nothing to format\n")
    missing = invoke("fmt", "nowhere.yaml")
    assert (missing.code, "error[EV600]" in missing.err) == (2, True)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
def test_a_named_pipe_is_not_waited_for(invoke: Invoke, project: Path) -> None:
    os.mkfifo(project / "pipe.yaml")
    assert invoke("fmt", "pipe.yaml").code == 2


def test_a_change_of_meaning_is_an_error_and_not_written(
    invoke: Invoke, ugly: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_text: str) -> str:
        raise Unformattable("would change what the file means")

    monkeypatch.setattr(formatting, "format_text", refuse)
    before = ugly.read_bytes()
    outcome = invoke("fmt", "evals/ugly.eval.yaml")
    assert outcome.code == 2
    assert "error[EV650]: the file is unchanged: formatting would change what the file means" in outcome.err
    assert ugly.read_bytes() == before


def test_a_link_is_followed(invoke: Invoke, ugly: Path, project: Path) -> None:
    link = project / "link.eval.yaml"
    link.symlink_to(ugly)
    assert invoke("fmt", "link.eval.yaml").code == 0
    assert link.is_symlink()
    assert ugly.read_text() == NEAT


def test_help(invoke: Invoke) -> None:
    outcome = invoke("fmt", "--help")
    assert outcome.code == 0
    assert all(flag in outcome.out for flag in ("--check", "--diff", "evalc fmt evals/"))
