"""From the arguments of a call from Python to what they say of a run, as a command line would say it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal, TypedDict

from evalc.config.flags import SETTING_OF_FLAG
from evalc.runtime.agents.base import Agent
from evalc.setup.choice import path_of, wanted_cases
from evalc.setup.compile import Subject
from evalc.setup.given import Given, resumed
from evalc.source import Source


class RunFlags(TypedDict, total=False):
    """What `evalc.run` may be told: the flags of `evalc run`, by their names in Python, with the same meaning.

    None and False are not given. Where a flag may be repeated, one value or several are taken. `keywords` is `-k`.
    """

    agent: str | Agent | Sequence[str | Agent] | None
    all_assertions: bool
    baseline: str | Path | None
    changed_since: str | None
    concurrency: int | Literal["auto"] | None
    config: str | Path | None
    env_file: str | Path | None
    fail_on_regression: bool
    failed_from: str | Path | None
    filter: str | Sequence[str] | None
    judge: str | Sequence[str] | None
    judges: int | None
    keywords: str | None
    last_failed: bool
    max_cost: float | None
    max_p95_ms: float | None
    maxfail: int | None
    min_pass_rate: float | None
    min_score: float | None
    no_judge_cache: bool
    not_tag: str | Sequence[str] | None
    otel: str | None
    output_dir: str | Path | None
    prompt_id: str | None
    prompts: str | Path | None
    record: str | Path | None
    repeat: int | None
    resume: str | Path | None
    rpm: int | None
    rubrics: Literal["passed", "always"] | None
    seed_manifest: str | Path | None
    snapshot: str | None
    strict: bool
    tag: str | Sequence[str] | None
    tier: str | Sequence[str] | None
    timeout_ms: float | None
    tools: str | Path | None


def given_by(subject: Subject | Sequence[Subject] | None, flags: RunFlags) -> Given:
    """What a call says of a run.

    Raises:
        TypeError: there is no such flag.
        SourceError: the configuration has errors.
        UsageError: the flags do not go together, or the run to resume is not there.
    """
    if unknown := flags.keys() - RunFlags.__annotations__.keys():
        raise TypeError(f"`evalc.run` got an unexpected keyword argument `{min(unknown)}`")
    said: dict[str, Any] = {name: str(value) if isinstance(value, Path) else value for name, value in flags.items()}
    subjects = subjects_among(subject)
    agents = _several(said.get("agent"))
    said["agent"] = [agent for agent in agents if isinstance(agent, str)] or None
    given = Given(
        flags={name: said.get(name) for name in map(_in_python, SETTING_OF_FLAG)},
        paths=[path_of(each) if isinstance(each, str) else each for each in subjects],
        agents=agents,
        config=said.get("config"),
        prompt_id=said.get("prompt_id"),
        record=said.get("record"),
        env_file=said.get("env_file"),
        wanted=wanted_cases(
            [each for each in subjects if isinstance(each, str)],
            keywords=said.get("keywords"),
            tags=_several(said.get("tag")),
            not_tags=_several(said.get("not_tag")),
            ids=_several(said.get("filter")),
            tiers=_several(said.get("tier")),
            failed_from=said.get("failed_from"),
            last_failed=said.get("last_failed", False),
            changed_since=said.get("changed_since"),
            repeat=said.get("repeat"),
        ),
    )
    past = said.get("resume")
    return given if past is None else resumed(given, past)


def subjects_among(subject: Subject | Sequence[Subject] | None) -> Sequence[Subject]:
    """The subjects, where one may stand for itself."""
    return () if subject is None else [subject] if isinstance(subject, str | Path | Source) else subject


def _several(value: Any) -> tuple[Any, ...]:
    """What was said once or several times."""
    if value is None:
        return ()
    return tuple(value) if isinstance(value, Sequence) and not isinstance(value, str) else (value,)


def _in_python(flag: str) -> str:
    return flag.removeprefix("--").replace("-", "_")
