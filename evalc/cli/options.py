"""Declares the options that commands share, and reads the old spellings of options."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from inspect import Parameter, Signature, signature
from itertools import takewhile
from typing import TYPE_CHECKING, Annotated, Any, Final, TypeVar, final, get_args, get_origin, get_type_hints

import typer
from typer.core import TyperCommand, TyperOption

from evalc.config import Settings
from evalc.config.tables import spelled
from evalc.model.numbers import number_in, whole_in
from evalc.setup.flags import CHOICE, FLAGS, OLD, PANELS, SHOWN, RunFlags, both_spellings, sentence_of

if TYPE_CHECKING:
    from evalc.runtime.store.resume import PastRun

C = TypeVar("C", bound=Callable[..., int])

_ARGUMENTS: Final = "Arguments"
_REST: Final = "Options"

_OLD: Final[Mapping[str, str]] = {
    **{spelled(old): f"{spelled(name)}={form}" for old, (name, form) in OLD.items()},
    "--collect-only": "--dry-run",
    "--fail-fast": "-x",
}
"""Old spellings of options, and what says the same; `{}` is the value."""
_OLD_NAMES_OF_ARGUMENTS: Final = {"run": "--eval", "judge": "--calibrate"}
_ALONE: Final = FLAGS["last_failed"].names
"""The options that take a value only after `=`."""
NO_VALUE: Final = "\0"
"""The value of such an option alone; no argument of a process holds it."""


@final
class Command(TyperCommand):
    """A command that reads old spellings, and whose help groups options by their `rich_help_panel`, without rich."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the arguments, old spellings replaced."""
        argument = _OLD_NAMES_OF_ARGUMENTS.get(self.name or "")
        given = {arg.partition("=")[0] for arg in takewhile("--".__ne__, args)}
        for old, (name, _) in OLD.items():
            if name != "tag" and spelled(old) in given and given.intersection(FLAGS[name].names or [spelled(name)]):
                ctx.fail(str(both_spellings(old, name)))
        return super().parse_args(ctx, list(_respelled(args, _OLD if argument is None else {argument: "{}", **_OLD})))

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the groups in the order of `PANELS`; what has no group comes last. Help texts name the defaults."""
        groups: dict[str, list[tuple[str, str]]] = {panel: [] for panel in (_ARGUMENTS, *PANELS, _REST)}
        parameters: list[Any] = self.get_params(ctx)
        grouped = any(getattr(parameter, "rich_help_panel", None) == CHOICE for parameter in parameters)
        for parameter in parameters:
            parameter.show_default = False
            if (record := parameter.get_help_record(ctx)) is not None:
                panel = (parameter.rich_help_panel if grouped else "") or _REST
                groups[panel if isinstance(parameter, TyperOption) else _ARGUMENTS].append(record)
        for title, records in groups.items():
            if records:
                with formatter.section(title):
                    formatter.write_dl(records)


def _respelled(args: Sequence[str], old: Mapping[str, str]) -> Iterator[str]:
    rest = iter(args)
    for arg in rest:
        option, equals, value = arg.partition("=")
        form = old.get(option)
        if arg == "--":
            yield from (arg, *rest)
        elif arg in _ALONE:
            yield f"{arg}={NO_VALUE}"
        elif form is None or "{}" not in form:
            yield form or arg
        elif not equals and (following := next(rest, None)) is None:
            yield form.partition("=")[0] if "=" in form else arg  # which is reported to lack a value
        else:
            yield form.format(value if equals else following)


Json = Annotated[bool, typer.Option("--json", rich_help_panel=SHOWN, help="Print the result as JSON.")]
Paths = Annotated[list[str] | None, typer.Argument(metavar="[PATH]...", help="Eval files, folders or globs.")]
PathsOrStdin = Annotated[
    list[str] | None, typer.Argument(metavar="[PATH]...", help="Eval files, folders or globs; - is standard input.")
]
Quiet = Annotated[
    bool, typer.Option("--quiet", "-q", rich_help_panel=SHOWN, help="Show only the cases that did not pass.")
]
Verbose = Annotated[
    bool, typer.Option("--verbose", "-v", rich_help_panel=SHOWN, help="Show the assertions of each case.")
]

_ELSEWHERE: Final = {
    "confidence": "How sure a result has to be. Default: 95%.",
    "output_dir": "Where runs are. Default: evals/results.",
}
"""The help texts of flags of a run in other commands, if they differ."""


def with_flags(*names: str) -> Callable[[C], C]:
    """Declare options for these flags of a run, or for all of them, in place of a command's `**flags`."""

    def declared(command: C) -> C:
        hints = get_type_hints(command, include_extras=True)
        own = [each for each in signature(command).parameters.values() if each.kind is not Parameter.VAR_KEYWORD]
        parameters = [each.replace(annotation=hints[each.name]) for each in own]
        taken = get_type_hints(RunFlags, localns={"Agent": str})
        for name in names or (name for name, flag in FLAGS.items() if flag.shown != "calls"):
            type_ = _on_a_command_line(taken[name])
            text = _ELSEWHERE.get(name, "") if names else ""
            annotation = Annotated[type_, _option(name, text, type_)]  # type: ignore[valid-type]
            default = False if type_ is bool else None
            parameters.append(Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=annotation))
        command.__annotations__ = {each.name: each.annotation for each in parameters}
        command.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
        return command

    return declared


def whole(least: int | None = None, most: int | None = None) -> Callable[[Any], int]:
    """How an option reads a whole number within these limits."""

    def read(value: Any) -> int:
        number = whole_in(value) if isinstance(value, str) else value  # which is the default
        if number is None:
            raise typer.BadParameter(f"`{value}` is not a whole number.")
        if (least is not None and number < least) or (most is not None and number > most):
            beyond = f"at least {least}" if most is None else f"between {least} and {most}"
            raise typer.BadParameter(f"{number} is not {beyond}.")
        return int(number)

    return read


def number(value: str) -> float:
    """Read an option that is a number."""
    if (found := number_in(value)) is None:
        raise typer.BadParameter(f"`{value}` is not a number.")
    return found


def _option(name: str, text: str, type_: Any) -> Any:
    flag = FLAGS[name]
    parts = {*get_args(type_)} or {type_}
    return typer.Option(
        *(flag.names or (spelled(name),)),
        metavar=flag.metavar or None,
        parser=number if float in parts else whole(flag.least) if int in parts else None,
        hidden=flag.shown != "help",
        rich_help_panel=flag.panel or None,
        help=text or sentence_of(name).replace("`", ""),
    )


def _on_a_command_line(taken: Any) -> Any:
    """The type of an option, from what `evalc.run` takes."""
    parts = get_args(taken) or (taken,)
    if any(get_origin(part) is Sequence for part in parts):
        return list[str] | None
    if str in parts:
        return str | None
    return bool if bool in parts else taken if {*parts} <= {int, float, type(None)} else str | None


def show_all_help(ctx: typer.Context, asked: bool) -> None:
    """Print the help text with the flags that `--help` leaves out."""
    if not asked:
        return
    for parameter in ctx.command.params:
        flag = FLAGS.get(parameter.name or "")
        if flag is not None and flag.shown == "help-all":
            parameter.hidden = False  # type: ignore[attr-defined]
    typer.echo(ctx.get_help())
    raise typer.Exit


_READ_WITH: Final = ("prompts", "seed_manifest", "tools")
"""The flags with which a run's eval files were read, and without which they may not be the same again."""


def settings_of(flags: Mapping[str, Any], past: PastRun | None = None) -> Settings:
    """The settings of the working folder, with the flags of a command over them.

    With a past run they are those to read its eval files again: prompts, seed manifest and tools are the run's, unless
    they are given now.
    """
    from evalc.config.load import settings_with  # noqa: PLC0415 - for start-up: `--help` needs no settings

    said = {} if past is None or past.header is None else past.header.flags
    kept = {name: said.get(name) for name in _READ_WITH}
    given = {name: value for name, value in flags.items() if value is not None and value != [] and name != "config"}
    return settings_with(flags.get("config"), kept | given).sound()
