"""Ignore comments: which warnings they silence, and what is said about those that silence none."""

from __future__ import annotations

import pytest

import evalc
from evalc.base.source import Source

VACUOUS = "length >= 0 chars"


def codes_of(text: str, name: str = "a.eval.yaml") -> list[str]:
    """The reported problems as `CODE line:column`."""
    found = evalc.check(Source(name, text))
    return [f"{problem.code} {problem.start.line}:{problem.start.column}" for problem in found]


def suite(*lines: str, above: str = "", message: str = "hi") -> str:
    """A suite of one case, whose checks begin on line 6 where nothing stands above."""
    head = f"eval:\n  test_cases:\n    - name: a\n      message: {message}\n      validate:\n"
    return above + head + "".join(f"        {line}\n" for line in (*lines, '- contains "x"'))


def test_without_a_comment_the_warning_is_there() -> None:
    assert codes_of(suite(f"- {VACUOUS}")) == ["EV501 6:11"]


@pytest.mark.parametrize(
    "comment",
    [
        "# evalc: ignore[EV501]",
        "# evalc: ignore",
        "#evalc: ignore[ev501]",
        "# evalc: ignore[EV5]",
        "# evalc: ignore [ EV501 ]",
        "# evalc: ignore[EV501] because it is meant so",
        "# a note # evalc: ignore[EV501]",
    ],
)
def test_at_the_end_of_its_line_or_above_it(comment: str) -> None:
    assert codes_of(suite(f"- {VACUOUS}  {comment}")) == []
    assert codes_of(suite(comment, f"- {VACUOUS}")) == []
    assert codes_of(suite(comment, "# another", f"- {VACUOUS}")) == []


def test_another_line_is_not_meant() -> None:
    assert codes_of(suite('- contains "y" # evalc: ignore[EV501]', f"- {VACUOUS}")) == ["EV680 6:40", "EV501 7:11"]
    assert codes_of(suite("# evalc: ignore", "", f"- {VACUOUS}")) == ["EV680 6:9", "EV501 8:11"]


def test_for_the_whole_file() -> None:
    for above in (
        "# evalc: ignore-file[EV501]\n",
        "\n# a\n---\n# evalc: ignore-file\n",
        "%YAML 1.1\n--- # evalc: ignore-file\n",
    ):
        assert codes_of(suite(f"- {VACUOUS}", "- length >= 0 words", above=above)) == []


def test_for_the_whole_file_but_too_late() -> None:
    assert codes_of(suite("# evalc: ignore-file[EV501]", f"- {VACUOUS}")) == ["EV683 6:9", "EV501 7:11"]


@pytest.mark.parametrize(
    "message",
    [
        '"hi # evalc: ignore"',
        "'hi # evalc: ignore'",
        "|\n        hi # evalc: ignore\n        # evalc: ignore",
        ">-\n        hi # evalc: ignore",
        '"hi\n        # evalc: ignore\n        ho"',
        "hi#evalc: ignore",
        "&a 'hi # evalc: ignore'",
    ],
)
def test_a_text_holds_no_comment(message: str) -> None:
    """Were one seen in it, it would be reported as ignoring nothing."""
    try:
        assert codes_of(suite(message=message)) == []
    except AssertionError:
        # `evalc: ` in a plain text is a key to YAML: an error, and no comment either way
        assert not any(code.startswith("EV68") for code in codes_of(suite(message=message)))


def test_a_comment_behind_the_sign_of_a_block_is_one() -> None:
    assert codes_of(suite(message="| # evalc: ignore\n        hi")) == ["EV680 4:18"]
    assert codes_of(suite(message="|\n        hi\n      # evalc: ignore")) == ["EV680 6:7"]


def test_every_name_that_ignores_nothing_is_reported() -> None:
    assert codes_of(suite(f"- {VACUOUS} # evalc: ignore[EV504, EV501]")) == ["EV680 6:45"]
    assert codes_of(suite(above="# evalc: ignore-file[EV501]\n")) == ["EV680 1:22"]


def test_the_second_comment_for_the_same_thing_ignores_nothing() -> None:
    assert codes_of(suite("# evalc: ignore[EV501]", f"- {VACUOUS} # evalc: ignore[EV501]")) == ["EV680 7:45"]
    assert codes_of(suite(f"- {VACUOUS} # evalc: ignore[EV501, EV501]")) == ["EV680 6:52"]


def test_errors_are_not_ignored() -> None:
    found = codes_of(suite('- containz "x" # evalc: ignore', '- containz "x" # evalc: ignore[EV203, EV402]'))
    assert found == ["EV203 6:11", "EV203 7:11", "EV681 7:40", "EV681 7:47"]


def test_unknown_codes_are_reported() -> None:
    text = suite(f"- {VACUOUS} # evalc: ignore[EV5O1]")
    assert codes_of(text) == ["EV501 6:11", "EV682 6:45"]
    assert evalc.check(evalc.Source("a.eval.yaml", text))[1].finding.label() == "did you mean `EV501`?"
    for comment in ("# evalc: ignore[EV501", "# evalc: ignore[]", "# evalc: ignore[ , ]"):
        assert codes_of(suite(f"- {VACUOUS} {comment}")) == ["EV501 6:11", "EV682 6:29"]


def test_texts_that_only_look_like_comments_ignore_nothing() -> None:
    for comment in ("# evalc: ignored", "# evalc: ignore-me", "# evalc ignore"):
        assert codes_of(suite(f"- {VACUOUS} {comment}")) == ["EV501 6:11"]


def test_json_has_no_comments() -> None:
    text = (
        '{"metadata": {"toolName": "t", "tier": "labeled"}, "cases": [{"id": "t/a", "description": "# evalc: ignore",'
        ' "difficulty": "edge", "input": {"message": "hi"}, "expect": {"responseContains": ["x"]}}]}'
    )
    assert codes_of(text, "a.json") == []


def test_an_ignored_warning_is_no_error_under_strict() -> None:
    text = suite(f"- {VACUOUS} # evalc: ignore[EV501]")
    compiled = evalc.compile(Source("a.eval.yaml", text), strict=True)
    assert (compiled.problems, len(compiled.suites)) == ((), 1)


def test_thousands_of_comments() -> None:
    """Each comment of a block of thousands is about the line below the block; the first of a name counts."""
    above = "# evalc: ignore-file[EV504]\n" * 20_000
    found = codes_of(suite(*["# evalc: ignore[EV501]"] * 20_000, f"- {VACUOUS}", above=above))
    assert {code.split()[0] for code in found} == {"EV680"}
    assert len(found) == 20_000 + 19_999
