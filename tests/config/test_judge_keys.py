"""The keys about judges: what they take, and what is said of what they do not."""

from __future__ import annotations

from pathlib import Path

import pytest

from evalc.config.load import load_settings
from evalc.config.settings import Settings


def loaded(folder: Path, text: str) -> tuple[Settings, list[str]]:
    (folder / "evalc.toml").write_text(text)
    settings, problems = load_settings(folder)
    return settings, [problem.finding.message() for problem in problems]


@pytest.mark.parametrize(
    ("text", "judges"),
    [
        ('judges = "openai:m"', ("openai:m",)),
        ('judges = [" openai:m ", "python:a:b"]', ("openai:m", "python:a:b")),
        ("judges = []", ()),
        ("", ()),
    ],
)
def test_who_judges(tmp_path: Path, text: str, judges: tuple[str, ...]) -> None:
    settings, problems = loaded(tmp_path, text)
    assert problems == []
    assert settings.judges == judges


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("judges = 5", "`judges` must be a text, or a list of texts"),
        ("judges = [5]", "an item of `judges` must be a text"),
        ('judges = [" "]', "an item of `judges` must be a text that is not empty"),
        ('judges = ["a", "a"]', "`judges` must be judges that are each named once"),
        ("[judge]\nsamples = 0", "`samples` must be between 1 and 99"),
        ('[judge]\nrubrics = "never"', "`rubrics` must be one of `passed`, `always`"),
        ("[judge]\ntimeoutMs = 0", "`timeoutMs` must be above 0"),
        ("[judge]\ncahce = true", "`cahce`"),
    ],
)
def test_invalid_values_of_keys_about_judges_are_refused(tmp_path: Path, text: str, said: str) -> None:
    _, (message,) = loaded(tmp_path, text)
    assert said in message
