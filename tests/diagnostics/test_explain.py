"""The explanations of codes, from the docstrings of the catalogue."""

from __future__ import annotations

from typing import ClassVar

from evalc.diagnostics.catalogue.config import UnknownSetting
from evalc.diagnostics.catalogue.syntax_yaml import CommentInString
from evalc.diagnostics.explain import Explanation, explain, split_docstring
from evalc.diagnostics.problem import Finding


class Invented(Finding, frozen=True, kw_only=True):
    """The base of findings that are not of the catalogue, which lists its own by their base."""


class Wordy(Invented, frozen=True, kw_only=True):
    """A finding whose summary
    takes two lines.

    It matters for a reason that is long enough to need more than one line of any terminal that one would still
    like to read on.

    And for another.

    Example:
        eval:
          test_cases: []

        # the end

    Cure:
        eval: {}
    """

    code: ClassVar[str] = "EV998"


class Bare(Invented, frozen=True, kw_only=True):
    """Only a summary."""

    code: ClassVar[str] = "EV997"


def test_the_parts_of_a_docstring() -> None:
    parts = split_docstring(Wordy)
    assert parts.summary == "A finding whose summary takes two lines."
    assert parts.why.startswith("It matters")
    assert parts.why.endswith("And for another.")
    assert parts.example == "eval:\n  test_cases: []\n\n# the end\n"
    assert parts.cure == "eval: {}\n"


def test_parts_may_be_missing() -> None:
    assert split_docstring(Bare) == Explanation("Only a summary.", "", "", "")
    assert explain(Bare) == "EV997 (error)\n\nOnly a summary.\n"


def test_an_explanation_for_a_terminal() -> None:
    assert explain(UnknownSetting) == (
        "EV621 (error)\n"
        "\n"
        "A key that is not a setting.\n"
        "\n"
        "A misspelt setting would silently keep its default.\n"
        "\n"
        "Example:\n"
        "\n"
        "    concurency = 4\n"
        "\n"
        "Cure:\n"
        "\n"
        "    concurrency = 4\n"
    )


def test_paragraphs_are_filled() -> None:
    text = explain(Wordy)
    assert max(map(len, text.split("\n"))) <= 88
    assert "\n\nAnd for another.\n\n" in text


def test_what_can_be_fixed_is_said() -> None:
    assert explain(CommentInString).startswith("EV121 (error, in safe cases fixable with `evalc check --fix`)\n")
