"""Flags in front of the configuration, and the paths that a command looks at."""

from __future__ import annotations

from pathlib import Path

import pytest

from evalc.base.errors import SourceError, UsageError
from evalc.cli.options import settings_of
from evalc.config import KEY_OF_FLAG, Settings
from evalc.config.tables import spelled
from evalc.setup.flags import FLAGS, OLD, RunFlags, sentence_of
from tests.cli.conftest import Invoke


def test_the_flags_of_the_command_line_are_those_of_a_call() -> None:
    assert {*FLAGS, *OLD} - {"tool_registry"} == RunFlags.__annotations__.keys()
    assert KEY_OF_FLAG.keys() <= {spelled(name) for name in FLAGS}
    assert all(sentence_of(name) for name in FLAGS)


def test_flags_win_where_they_are_given(project: Path) -> None:
    (project / "evalc.toml").write_text('concurrency = 2\nstrict = true\nagentEndpoint = "demo"\n')
    settings = settings_of({"concurrency": 4, "agent": [], "rpm": None, "strict": False, "all_assertions": True})
    assert (settings.concurrency, settings.agent.use) == (4, ("demo",))
    assert (settings.strict, settings.all_assertions) == (True, True)


def test_flags_about_judges_win_over_their_table(project: Path) -> None:
    (project / "evalc.toml").write_text('judges = "python:a:b"\n[judge]\nsamples = 2\nrubrics = "always"\n')
    settings = settings_of({"judge": ["openai:m", "python:c:d"], "judge_samples": 3, "no_judge_cache": True})
    assert (settings.judge.use, settings.judge.samples) == (("openai:m", "python:c:d"), 3)
    assert (settings.judge.cache, settings.judge.rubrics) == (False, "always")
    settings = settings_of({"judge": None, "judge_samples": None, "no_judge_cache": False})
    assert (settings.judge.use, settings.judge.samples, settings.judge.cache) == (("python:a:b",), 2, True)


def test_a_flag_with_a_wrong_value_is_named(project: Path) -> None:
    with pytest.raises(UsageError, match="`--timeout` must be above 0"):
        settings_of({"timeout": "0s"})


def test_a_configuration_with_errors_has_no_settings(project: Path) -> None:
    (project / "evalc.toml").write_text("concurrency = 0\n")
    with pytest.raises(SourceError, match="EV623"):
        settings_of({})
    (project / "other.toml").write_text("concurrency = 3\n")
    assert settings_of({"config": "other.toml"}).concurrency == 3


def test_paths_are_the_given_else_the_configured_else_the_working_folder() -> None:
    configured = Settings(root=Path(), paths=("a",))
    assert configured.looked_at(["b"]) == ["b"]
    assert configured.looked_at([]) == ("a",)
    assert Settings(root=Path()).looked_at(()) == (".",)


@pytest.mark.parametrize("written", ["1_0", " 1", "१", "x", "1.0", "1e1", "9" * 5_000])
@pytest.mark.parametrize("option", ["--repeat", "--maxfail", "--rpm", "--judge-samples", "--concurrency"])
def test_whole_numbers_are_those_that_people_write(invoke: Invoke, option: str, written: str) -> None:
    outcome = invoke("run", "--dry-run", "--agent", "demo", option, written)
    assert outcome.code == 2
    assert "whole number" in outcome.err
    assert invoke("run", "--dry-run", "--agent", "demo", option, "2").code == 0


@pytest.mark.parametrize("written", ["0.5_0", " 0.5", "0.\u0665", "nan", "1e400"])
def test_shares_are_numbers_that_people_write(invoke: Invoke, written: str) -> None:
    for arguments in (("run", "--min-pass-rate"), ("run", "--max-cost"), ("challenge", "--min-strength")):
        outcome = invoke(*arguments, written)
        assert outcome.code == 2
        assert f"`{written}` is not a number." in outcome.err


def test_numbers_of_options_have_limits(invoke: Invoke) -> None:
    assert "0 is not at least 1." in invoke("history", "--limit", "0").err
    assert "70000 is not between 0 and 65535." in invoke("demo-agent", "--port", "70000").err
