"""`evalc check --fix` and `--diff`: what is written, and what is left alone."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from tests.cli.conftest import SUITE, Invoke

BROKEN = SUITE + "        - contains Tokyo\n"
SOUND = SUITE + '        - contains "Tokyo"\n'


@pytest.fixture
def file(project: Path) -> Path:
    file = project / "evals" / "weather.eval.yaml"
    file.write_text(BROKEN)
    return file


def test_fixable_problems_are_counted(invoke: Invoke, file: Path) -> None:
    assert invoke("check").out.endswith("\n1 error in 1 file (1 fixable with `evalc check --fix`)\nread 1 suite\n")


def test_fix(invoke: Invoke, file: Path) -> None:
    outcome = invoke("check", "--fix")
    assert (outcome.code, outcome.out, outcome.err) == (0, "all good: 1 suite\n", "fixed 1 problem in 1 file\n")
    assert file.read_text() == SOUND
    again = invoke("check", "--fix")
    assert (again.code, again.out, again.err) == (0, "all good: 1 suite\n", "nothing to fix\n")


def test_remaining_problems_are_printed(invoke: Invoke, file: Path) -> None:
    file.write_text(BROKEN + '        - containz "x"\n')
    outcome = invoke("check", "--fix")
    assert (outcome.code, outcome.err) == (2, "fixed 1 problem in 1 file\n")
    assert outcome.out.startswith("error[EV203]: `containz` is not a check\n")
    assert outcome.out.endswith("\n1 error in 1 file (1 fixable with `--fix --unsafe-fixes`)\nread 1 suite\n")
    assert file.read_text() == SOUND + '        - containz "x"\n'
    shown = invoke("check", "--diff")
    assert (shown.code, shown.out) == (2, "")
    assert shown.err == "nothing to fix\n" + outcome.out.removesuffix("read 1 suite\n")


@pytest.mark.parametrize("flags", [(), ("--unsafe-fixes",)])
@pytest.mark.parametrize("fixable", ["", "        - contains Tokyo\n"])
def test_a_diff_names_what_fix_would_leave(invoke: Invoke, file: Path, fixable: str, flags: tuple[str, ...]) -> None:
    file.write_text(f'{SUITE}{fixable}        - no tools\n        - containz "x"\n')
    shown = invoke("check", "--fix", "--diff", *flags)
    written = invoke("check", "--fix", *flags)
    assert (shown.code, written.code) == (2, 2)
    assert "error[EV" in written.out
    assert shown.err == written.err.replace("fixed", "would fix") + written.out.removesuffix("read 1 suite\n")


def test_a_fix_that_would_bring_another_problem_about_is_neither_made_nor_counted(invoke: Invoke, file: Path) -> None:
    file.write_text(SUITE + "        - any_of: contains '{{gone}}'\n")
    outcome = invoke("check", "--fix")
    assert (outcome.code, outcome.err) == (2, "nothing to fix\n")
    assert outcome.out.endswith("\n1 error in 1 file\nread 1 suite\n")
    assert "help" not in outcome.out


def test_diff_changes_nothing_and_is_a_patch(invoke: Invoke, file: Path) -> None:
    for flags in (("--diff",), ("--fix", "--diff")):
        outcome = invoke("check", *flags)
        assert (outcome.code, outcome.err) == (2, "would fix 1 problem in 1 file\n")
        assert file.read_text() == BROKEN
    subprocess.run(["git", "apply", "-p0", "-"], input=outcome.out, text=True, check=True)
    assert file.read_text() == SOUND


def test_bytes_outside_the_fixes_stay(invoke: Invoke, file: Path) -> None:
    file.write_bytes(b"\xef\xbb\xbf" + BROKEN.replace("\n", "\r\n").encode() + b"# caf\xc3\xa9  \r\n\r\n")
    file.chmod(0o640)
    assert invoke("check", "--fix").code == 0
    assert file.read_bytes() == b"\xef\xbb\xbf" + SOUND.replace("\n", "\r\n").encode() + b"# caf\xc3\xa9  \r\n\r\n"
    assert file.stat().st_mode & 0o777 == 0o640


def test_a_file_that_is_not_utf8_is_left_as_it_is(invoke: Invoke, file: Path) -> None:
    data = BROKEN.encode() + b"# caf\xe9\n"
    file.write_bytes(data)
    outcome = invoke("check", "--fix")
    assert outcome.code == 2
    assert "error: `evals/weather.eval.yaml` no longer holds the text that was checked, or is not UTF-8" in outcome.err
    assert file.read_bytes() == data


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_file_that_cannot_be_written(invoke: Invoke, file: Path) -> None:
    file.parent.chmod(0o500)
    try:
        assert invoke("check", "--fix").code == 2
    finally:
        file.parent.chmod(0o700)
    assert file.read_text() == BROKEN


def test_standard_input_is_not_written_to(invoke: Invoke) -> None:
    outcome = invoke("check", "-", "--fix", stdin=BROKEN)
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err == "error: `--fix` writes files: name a file instead of `-`, or use `--diff`\n"
    diff = invoke("check", "-", "--diff", stdin=BROKEN)
    assert diff.out.startswith("--- <stdin>\n+++ <stdin>\n@@ -8,4 +8,4 @@\n")


def test_only_what_is_reported_is_fixed(invoke: Invoke, file: Path) -> None:
    file.write_text(BROKEN + '        - Contains "x"\n')
    assert invoke("check", "--fix", "--unsafe-fixes", "--ignore", "EV203").err == "fixed 1 problem in 1 file\n"
    assert file.read_text() == SOUND + '        - Contains "x"\n'


def test_a_prompt_file_that_nobody_named_is_left_as_it_is(invoke: Invoke, project: Path, file: Path) -> None:
    prompt = "id: greet\nprompt: Hello\nInputs: []\n"
    (project / "prompts").mkdir()
    (project / "prompts" / "greet.yaml").write_text(prompt)
    file.write_text("prompt_id: greet\ntest_cases:\n  - name: a\n    inputs: {}\n    validate: [contains Tokyo]\n")
    invoke("check", "evals", "--fix")
    assert 'contains "Tokyo"' in file.read_text()
    assert (project / "prompts" / "greet.yaml").read_text() == prompt


def test_formats_stay_whole(invoke: Invoke, file: Path) -> None:
    assert invoke("check", "--fix", "--format", "json").out == "[]\n"


def test_unsafe_fixes_are_made_only_where_they_are_asked_for(invoke: Invoke, file: Path) -> None:
    text = SUITE.replace('contains "', 'containz "', 1)
    file.write_text(text)
    shown = invoke("check", "--diff", "--unsafe-fixes", "evals")
    assert '+        - contains "' in shown.out
    assert file.read_text() == text
    alone = invoke("check", "--unsafe-fixes", "evals")
    assert (alone.code, alone.err) == (
        2,
        "error: `--unsafe-fixes` needs `--fix`, or `--diff` to preview the changes\n",
    )
    invoke("check", "--fix", "evals")
    assert "containz" in file.read_text()
    invoke("check", "--fix", "--unsafe-fixes", "evals")
    assert "containz" not in file.read_text()
