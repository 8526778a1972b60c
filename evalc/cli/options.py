"""Declares the flags of a run as typer's options, for `run` and the commands that share some."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from inspect import Parameter, Signature, signature
from typing import Annotated, Any, TypeVar, get_args, get_origin, get_type_hints

import typer

from evalc.setup.run_flags import FLAGS, SHOWN, RunFlags, help_of, spelled

C = TypeVar("C", bound=Callable[..., int])


def option(name: str, *, panel: str = "", text: str = "") -> Any:
    """The option of a flag; `panel` and `text` take the place of what it says in the help text of `run`."""
    flag = FLAGS[name]
    names = flag.names or (spelled(name),)
    return typer.Option(
        *names, metavar=flag.metavar or None, min=flag.least, rich_help_panel=panel or None, help=text or help_of(name)
    )


Config = Annotated[str | None, option("config")]
Judge = Annotated[list[str] | None, option("judge")]
JudgeSamples = Annotated[int | None, option("judge_samples")]
NoJudgeCache = Annotated[bool, option("no_judge_cache")]
OutputDir = Annotated[str | None, option("output_dir", text="Where runs are. Default: evals/results.")]
Prompts = Annotated[str | None, option("prompts")]
Quiet = Annotated[
    bool, typer.Option("--quiet", "-q", rich_help_panel=SHOWN, help="Show only the cases that did not pass.")
]
Strict = Annotated[bool, option("strict")]
Tools = Annotated[str | None, option("tools")]
Verbose = Annotated[
    bool, typer.Option("--verbose", "-v", rich_help_panel=SHOWN, help="Show the assertions of each case.")
]


def with_run_flags(command: C) -> C:
    """The command with an option for each flag of a run, in place of its `**flags`."""
    declared = get_type_hints(command, include_extras=True)
    own = [each for each in signature(command).parameters.values() if each.kind is not Parameter.VAR_KEYWORD]
    parameters = [each.replace(annotation=declared[each.name]) for each in own]
    taken = get_type_hints(RunFlags, localns={"Agent": str})
    for name, flag in FLAGS.items():
        type_ = _on_a_command_line(taken[name])
        annotation = Annotated[type_, option(name, panel=flag.panel)]  # type: ignore[valid-type]
        default = False if type_ is bool else None
        parameters.append(Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=annotation))
    command.__annotations__ = {each.name: each.annotation for each in parameters}
    command.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
    return command


def _on_a_command_line(taken: Any) -> Any:
    """The type of an option, from what `evalc.run` takes."""
    parts = get_args(taken) or (taken,)
    if bool in parts:
        return bool
    if any(get_origin(part) is Sequence for part in parts):
        return list[str] | None
    return taken if {*parts} <= {int, float, type(None)} else str | None
