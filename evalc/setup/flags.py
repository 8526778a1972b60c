"""The flags of a run, declared once for `evalc run` and `evalc.run`. Those of settings say what the settings say."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from inspect import Parameter, cleandoc, signature
from pathlib import Path
from textwrap import TextWrapper
from types import UnionType
from typing import (
    TYPE_CHECKING,
    Any,
    Final,
    Literal,
    NamedTuple,
    TypedDict,
    TypeVar,
    Union,
    cast,
    get_args,
    get_origin,
    get_type_hints,
)

from evalc.base.errors import UsageError
from evalc.config import KEY_OF_FLAG
from evalc.config.tables import spelled
from evalc.diagnostics.near import did_you_mean

if TYPE_CHECKING:
    from evalc.runtime.agents import Agent

F = TypeVar("F", bound=Callable[..., Any])

CHOICE: Final = "Selecting cases"
HOW: Final = "Running"
DATA: Final = "Inputs"
STOPS: Final = "Stopping"
GATES: Final = "Gates, instead of requiring every case to pass"
SHOWN: Final = "Output"
INSTEAD: Final = "Instead of running"

PANELS: Final = (CHOICE, HOW, DATA, STOPS, GATES, SHOWN, INSTEAD)
"""The groups of the help text, in their order."""


class _OldFlags(TypedDict, total=False):
    """Old spellings, which mean what they always did."""

    failed_from: str | Path | None
    filter: str | Sequence[str] | None
    judge_samples: int | None
    max_p95_ms: float | None
    no_judge_cache: bool
    not_tag: str | Sequence[str] | None
    ray_address: str | None
    rubrics: Literal["passed", "always"] | None
    timeout_ms: float | None


class RunFlags(_OldFlags, total=False):
    """Arguments of `evalc.run`: the flags of `evalc run`, by their names in Python, with the same meaning."""

    agent: str | Agent | Callable[..., Any] | object | Sequence[str | Agent | Callable[..., Any] | object] | None
    all_assertions: bool
    baseline: str | Path | None
    changed_since: str | None
    concurrency: int | Literal["auto"] | None
    confidence: float | str | None
    config: str | Path | None
    engine: str | None
    env_file: str | Path | None
    fail_on_regression: bool
    judge: str | Callable[..., Any] | Sequence[str | Callable[..., Any]] | None
    keywords: str | None
    last_failed: bool | str | Path | None
    max_cost: float | None
    max_errors: int | None
    max_p95: str | None
    maxfail: int | None
    min_pass_rate: float | None
    min_score: float | None
    otel: str | None
    output_dir: str | Path | None
    prompt_id: str | None
    prompts: str | Path | None
    record: str | Path | None
    repeat: int | None
    resume: str | Path | None
    retry_errors: bool
    rpm: int | None
    save: bool | None
    seed_manifest: str | Path | None
    shard: str | None
    shard_by: Literal["id", "duration"] | None
    snapshot: str | Path | Callable[..., Any] | None
    stop_when_sure: bool
    strict: bool
    tag: str | Sequence[str] | None
    tier: str | Sequence[str] | None
    timeout: str | None
    tools: str | Path | None
    user: str | Callable[..., Any] | object | None


class Flag(NamedTuple):
    """A flag as the command line has it."""

    metavar: str = ""  # the placeholder of its value in help texts; empty if it has none
    panel: str = ""  # the group of the help text; the last one where it is empty
    help: str = ""  # its help text, where its setting has none
    names: tuple[str, ...] = ()  # how it is written, if that is not the name in Python with dashes
    least: int | None = None  # the least number that it takes
    # the help texts that list it; the old flags in none of them have no new spelling but a setting
    shown: Literal["help", "help-all", "nowhere", "calls"] = "help"


FLAGS: Final[Mapping[str, Flag]] = {
    "prompt_id": Flag("ID", CHOICE, "Suites of this prompt."),
    "keywords": Flag(
        "EXPR",
        CHOICE,
        "Cases whose id, suite, tool or tags contain these words, joined by `and`, `or`, `not` and parentheses.",
        names=("-k",),
    ),
    "tag": Flag("TAG", CHOICE, "Cases with this tag; with `!TAG`, cases without it. May be repeated."),
    "filter": Flag("PATTERN", CHOICE, "Cases whose id matches a glob or /REGEX/.", shown="nowhere"),
    "tier": Flag("TIER", CHOICE, "Cases of this tier. May be repeated."),
    "last_failed": Flag(
        "[=RUN]",
        CHOICE,
        "Cases that did not pass in the newest run, or all cases if none failed; with RUN, cases that did not pass in "
        "that run.",
        names=("--last-failed", "--lf"),
    ),
    "changed_since": Flag("REF", CHOICE, "Suites whose files differ from those of a git commit."),
    "shard": Flag(
        "K/N",
        CHOICE,
        "One of N parts of the cases, such as `1/4`; `evalc merge` joins the parts.",
        shown="help-all",
    ),
    "shard_by": Flag(
        "id|duration",
        CHOICE,
        "Divide the cases by their ids, or by the durations of the newest run, so that all shards take about as long. "
        "Default: `id`.",
        shown="help-all",
    ),
    "agent": Flag("AGENT", HOW),
    "repeat": Flag("N", HOW, "How often each case is run.", least=1),
    "concurrency": Flag("N|auto", HOW),
    "rpm": Flag("N", HOW),
    "engine": Flag("local|ray[:ADDRESS]", HOW, shown="help-all"),
    "ray_address": Flag("ADDRESS", HOW, shown="nowhere"),
    "timeout": Flag("TIME", HOW),
    "all_assertions": Flag("", HOW),
    "judge": Flag("JUDGE", HOW),
    "user": Flag("USER", HOW),
    "judge_samples": Flag("N", HOW, shown="nowhere"),
    "rubrics": Flag("passed|always", HOW, shown="nowhere"),
    "no_judge_cache": Flag("", HOW, shown="nowhere"),
    "record": Flag("DIR", HOW, "Record all requests and answers, for the agent `replay:DIR`."),
    "prompts": Flag("DIR", DATA),
    "seed_manifest": Flag("FILE", DATA),
    "snapshot": Flag("SOURCE", DATA),
    "tools": Flag("PATH", DATA),
    "env_file": Flag("FILE", DATA, "Variables that the environment does not set."),
    "maxfail": Flag("N", STOPS, "Stop after N cases that fail.", least=1),
    "max_cost": Flag("USD", STOPS),
    "max_errors": Flag("N", STOPS),
    "stop_when_sure": Flag("", STOPS),
    "min_pass_rate": Flag("SHARE", GATES),
    "min_score": Flag("SCORE", GATES),
    "max_p95": Flag("TIME", GATES),
    "fail_on_regression": Flag("", GATES),
    "confidence": Flag(
        "PERCENT",
        GATES,
        "How sure gates have to be, such as `95%`; a gate that is less certain is undecided. Without it, gates compare "
        "the measured values.",
    ),
    "baseline": Flag("RUN", GATES),
    "output_dir": Flag("DIR", SHOWN),
    "save": Flag(
        help="Keep the results; with `False`, leave no files. Default: those of files are kept, and those of a `Suite` "
        "or `Source` where the call or the configuration says an `output_dir`.",
        shown="calls",
    ),
    "otel": Flag("URL", SHOWN, shown="help-all"),
    "resume": Flag("RUN", INSTEAD, "Finish a run that did not end: its id, its folder, or `latest`."),
    "retry_errors": Flag("", INSTEAD, "With `--resume`, also run the cases again that ended in error."),
    "strict": Flag(),
    "config": Flag("FILE", "", "Use this configuration instead of the nearest one."),
}
"""The flags as the command line has them, by their names in Python."""

KEYWORDS: Final = tuple(name for name, flag in FLAGS.items() if flag.shown != "nowhere")
"""The flags that documentation lists."""

OLD: Final[Mapping[str, tuple[str, str]]] = {
    "failed_from": ("last_failed", "{}"),
    "max_p95_ms": ("max_p95", "{}ms"),
    "not_tag": ("tag", "!{}"),
    "timeout_ms": ("timeout", "{}ms"),
    "tool_registry": ("tools", "{}"),
}
"""Old spellings: the flag that took the place of each, and the value that says the same there."""


def modern(flags: Mapping[str, Any]) -> dict[str, Any]:
    """The flags with old spellings replaced; a journal or a caller may say them."""
    said = {name: value for name, value in flags.items() if name not in OLD}
    for old, (name, form) in OLD.items():
        if (value := flags.get(old)) is None:
            continue
        if name == "tag":
            said[name] = [*several(said.get(name)), *(form.format(each) for each in several(value))]
        elif said.get(name):
            raise both_spellings(old, name)
        else:
            said[name] = form.format(value)
    return said


def both_spellings(old: str, name: str) -> UsageError:
    """The error for a flag that takes one value and is given in its old spelling, too."""
    return UsageError(f"`{spelled(old)}` is the old name of `{spelled(name)}`: give one of them")


def several(value: Any) -> tuple[Any, ...]:
    """The values of a flag that may be repeated, given once or several times."""
    if value is None:
        return ()
    return tuple(value) if isinstance(value, Sequence) and not isinstance(value, str | bytes) else (value,)


def sentence_of(name: str) -> str:
    """The sentence about a flag: its own, or its setting's, with the default."""
    flag = FLAGS[name]
    if flag.help:
        return flag.help
    key = KEY_OF_FLAG[spelled(name)]
    default = key.otherwise or ("" if isinstance(key.default, bool | tuple | None) else f"`{key.written(key.default)}`")
    return f"{key.sentence}{default and f' Default: {default}.'}"


def documented(function: F) -> F:
    """List the flags that a function takes in its docstring, and in its signature in place of `**flags`.

    A keyword that it does not take is a `TypeError` that names the near one.
    """
    own = signature(function)
    parameters = [each for each in own.parameters.values() if each.kind is not Parameter.VAR_KEYWORD]
    takes_flags = len(parameters) < len(own.parameters)
    known = [*(each.name for each in parameters), *(RunFlags.__annotations__ if takes_flags else ())]
    if takes_flags:
        parameters += map(_parameter, KEYWORDS)

    @wraps(function)
    def documented_function(*args: Any, **flags: Any) -> Any:
        for name in flags:
            if name not in known:
                meant = did_you_mean(name, known)
                named = f"evalc.{function.__name__}"
                raise TypeError(f"`{named}` got an unexpected keyword argument `{name}`{meant and f'; {meant}'}")
        return function(*args, **flags)

    documented_function.__signature__ = own.replace(parameters=parameters)  # type: ignore[attr-defined]
    lines = TextWrapper(100, initial_indent=" " * 4, subsequent_indent=" " * 8, break_on_hyphens=False)
    flags = (each.name for each in parameters if each.name in FLAGS)
    listed = "".join(lines.fill(f"{name}: {sentence_of(name)}") + "\n" for name in flags)
    text = cleandoc(function.__doc__ or "") + "\n"
    documented_function.__doc__ = re.sub(
        r"^Args:\n(?: .*\n)+", lambda args: args[0] + listed, text, count=1, flags=re.MULTILINE
    )
    return cast("F", documented_function)


def _parameter(name: str) -> Parameter:
    taken = taken_by(name)
    default = False if taken == "bool" else None
    return Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=taken)


def taken_by(name: str) -> str:
    """The type of values that a flag takes in a call."""
    return str(RunFlags.__annotations__[name].__forward_arg__)


def refuse_what_is_not_taken(flags: RunFlags) -> None:
    """Reject values of other types than that `RunFlags` declares."""
    from evalc.setup.compile import type_of  # noqa: PLC0415 - for start-up: `--help` takes no flags

    declared = get_type_hints(RunFlags, localns={"Agent": object})
    for name, value in flags.items():
        if value is not None and not _is_of(declared[name], value):
            raise TypeError(f"`{name}` of `evalc.run` takes `{taken_by(name)}`, not `{type_of(value)}`")


def _is_of(declared: Any, value: Any) -> bool:
    """Whether a value is of a declared type.

    Texts that a `Literal` lacks and objects that are not agents are accepted here, and reported where they are used.
    """
    parts = get_args(declared)
    match get_origin(declared):
        case origin if origin in {Union, UnionType}:
            return any(_is_of(part, value) for part in parts)
        case origin if origin is Literal:
            return isinstance(value, tuple(map(type, parts)))
        case origin if origin is Callable:
            return callable(value)
        case origin if origin is Sequence:
            listed = isinstance(value, Sequence) and not isinstance(value, str | bytes)
            return listed and all(_is_of(parts[0], each) for each in value)
        case _ if declared in {int, float}:
            return isinstance(value, int | declared) and not isinstance(value, bool)
        case _:
            return isinstance(value, declared)
