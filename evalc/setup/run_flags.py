"""The flags of a run, declared once for `evalc run` and `evalc.run`. Those of settings say what the settings say."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, TypedDict

from evalc.config.settings import KEY_OF_FLAG

if TYPE_CHECKING:
    from evalc.runtime.agents.base import Agent

CHOICE: Final = "Selecting cases"
HOW: Final = "Running"
DATA: Final = "Inputs"
STOPS: Final = "Stopping"
GATES: Final = "Gates, instead of requiring every case to pass"
SHOWN: Final = "Output"
INSTEAD: Final = "Instead of running"

PANELS: Final = (CHOICE, HOW, DATA, STOPS, GATES, SHOWN, INSTEAD)
"""The groups of the help text, in their order."""


class RunFlags(TypedDict, total=False):
    """What `evalc.run` may be told: the flags of `evalc run`, by their names in Python, with the same meaning.

    None and False are not given. Where a flag may be repeated, one value or several are taken; no tags, ids or tiers
    leave the cases as they are. `keywords` is `-k`.
    """

    agent: str | Agent | Sequence[str | Agent] | None
    all_assertions: bool
    baseline: str | Path | None
    changed_since: str | None
    concurrency: int | Literal["auto"] | None
    confidence: float | str | None
    config: str | Path | None
    engine: Literal["local", "ray"] | None
    env_file: str | Path | None
    fail_on_regression: bool
    failed_from: str | Path | None
    filter: str | Sequence[str] | None
    judge: str | Sequence[str] | None
    judge_samples: int | None
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
    ray_address: str | None
    record: str | Path | None
    repeat: int | None
    resume: str | Path | None
    rpm: int | None
    rubrics: Literal["passed", "always"] | None
    seed_manifest: str | Path | None
    shard: str | None
    shard_by: Literal["id", "duration"] | None
    snapshot: str | None
    stop_when_sure: bool
    strict: bool
    tag: str | Sequence[str] | None
    tier: str | Sequence[str] | None
    timeout_ms: float | None
    tools: str | Path | None
    user: str | None


class Flag(NamedTuple):
    """A flag as the command line has it.

    Attributes:
        metavar: the placeholder of its value in help texts; empty if it has none.
        panel: the group of the help text; the last one where it is empty.
        help: what it says, where its setting does not.
        names: how it is written, if that is not the name in Python with dashes.
        least: the least number that it takes.
    """

    metavar: str = ""
    panel: str = ""
    help: str = ""
    names: tuple[str, ...] = ()
    least: int | None = None


FLAGS: Final[Mapping[str, Flag]] = {
    "prompt_id": Flag("ID", CHOICE, "Run only the suites of this prompt."),
    "keywords": Flag(
        "EXPR",
        CHOICE,
        "Cases whose id, suite, tool or tags contain these words, joined by and, or, not and parentheses.",
        names=("-k",),
    ),
    "tag": Flag("TAG", CHOICE, "Cases with this tag; !TAG without it. May be repeated."),
    "not_tag": Flag("TAG", CHOICE, "Cases without this tag. May be repeated."),
    "filter": Flag("PATTERN", CHOICE, "Cases whose id matches a glob such as 'weather/*', or /REGEX/."),
    "tier": Flag("TIER", CHOICE, "Cases of this tier. May be repeated."),
    "failed_from": Flag("RUN", CHOICE, "Cases that did not pass in a run: its id, a path, or latest."),
    "last_failed": Flag(
        "",
        CHOICE,
        "Cases that did not pass in the newest run (all if none failed), and suites that it does not have.",
        names=("--last-failed", "--lf"),
    ),
    "changed_since": Flag("REF", CHOICE, "Suites whose files differ from those of a git commit."),
    "shard": Flag("K/N", CHOICE, "The Kth of N parts of the cases; evalc merge puts the parts together."),
    "shard_by": Flag(
        "id|duration",
        CHOICE,
        "Divide the cases by their ids (default), or so that the shards take as long by the newest run's durations.",
    ),
    "agent": Flag("AGENT", HOW),
    "repeat": Flag("N", HOW, "How often each case is run.", least=1),
    "concurrency": Flag("N|auto", HOW),
    "rpm": Flag("N", HOW),
    "engine": Flag("local|ray", HOW),
    "ray_address": Flag("ADDRESS", HOW),
    "timeout_ms": Flag("N", HOW),
    "all_assertions": Flag("", HOW),
    "judge": Flag("JUDGE", HOW),
    "user": Flag("USER", HOW),
    "judge_samples": Flag("N", HOW, "Ask each judge N times, and take the median."),
    "rubrics": Flag("passed|always", HOW),
    "no_judge_cache": Flag("", HOW, "Ignore cached judgements, and ask judges again."),
    "record": Flag("DIR", HOW, "Record what is sent and answered, for --agent replay:DIR."),
    "prompts": Flag("DIR", DATA),
    "seed_manifest": Flag("FILE", DATA),
    "snapshot": Flag("SOURCE", DATA),
    "tools": Flag("PATH", DATA, names=("--tools", "--tool-registry")),
    "env_file": Flag("FILE", DATA, "Variables that the environment does not set."),
    "maxfail": Flag("N", STOPS, "Stop after N cases that fail.", least=1),
    "max_cost": Flag("USD", STOPS),
    "stop_when_sure": Flag("", STOPS),
    "min_pass_rate": Flag("SHARE", GATES),
    "min_score": Flag("SCORE", GATES),
    "max_p95_ms": Flag("N", GATES),
    "fail_on_regression": Flag("", GATES),
    "confidence": Flag("PERCENT", GATES),
    "baseline": Flag("RUN", GATES),
    "output_dir": Flag("DIR", SHOWN),
    "otel": Flag("URL", SHOWN),
    "resume": Flag("RUN", INSTEAD, "Finish a run that did not end: its id, its folder, or latest."),
    "strict": Flag(),
    "config": Flag("FILE", "", "Use this configuration instead of the nearest one."),
}
"""The flags as the command line has them, by their names in Python."""


def spelled(name: str) -> str:
    """A flag as it is written, from its name in Python."""
    return f"--{name.replace('_', '-')}"


def help_of(name: str) -> str:
    """What a flag says: of itself, or what its setting says, with what holds without it."""
    flag = FLAGS[name]
    if flag.help:
        return flag.help
    key = KEY_OF_FLAG[spelled(name)]
    default = key.setting.otherwise or ("" if isinstance(key.default, bool | tuple | None) else str(key.default))
    return f"{key.setting.sentence}{default and f' Default: {default}.'}".replace("`", "")
