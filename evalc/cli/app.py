"""Puts the commands together into one command line."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Annotated, Any, Final, final

import typer
from typer.core import TyperGroup

from evalc import __version__
from evalc.cli.ending import exits
from evalc.cli.options import Command


@final
class Groups(TyperGroup):
    """The commands, listed in groups by their `rich_help_panel`, without rich."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:  # noqa: ARG002 - typer's
        """Write the groups in the order of their first commands."""
        shown = [(name, command) for name, command in self.commands.items() if not command.hidden]
        limit = formatter.width - 6 - max(len(name) for name, _ in shown)
        for group in dict.fromkeys(command.rich_help_panel for _, command in shown):  # type: ignore[attr-defined]
            of_group = [(name, command) for name, command in shown if command.rich_help_panel == group]  # type: ignore[attr-defined]
            with formatter.section(group):
                formatter.write_dl([(name, command.get_short_help_str(limit)) for name, command in of_group])


def _print_version(asked: bool) -> None:
    if asked:
        typer.echo(f"evalc {__version__}")
        raise typer.Exit


def evalc(
    _version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """Compile and run evals of LLM agents.

    \b
    Check eval files, run them against the built-in agent, look up a problem:
      evalc check evals/
      evalc run evals/ --agent demo
      evalc explain EV203

    \b
    Exit codes:
      0    all is well
      1    a case or a gate failed, or the run was stopped
      2    the eval files or the command have errors; nothing was run
      3    the agent broke during the run
      70   evalc or the machine broke
      130  interrupted
    """


_COMMANDS: Final[Mapping[str, Mapping[str, str]]] = {
    "Write": {
        "init": "write:init",
        "check": "write:check",
        "fmt": "write:fmt",
        "import": "importing:import_files",
        "watch": "write:watch",
        "explain": "write:explain",
        "lock": "write:lock",
    },
    "Run": {"run": "run:run_evals", "rescore": "past:rescore", "merge": "past:merge_runs"},
    "Read": {
        "show": "past:show",
        "report": "past:report_run",
        "diff": "past:diff",
        "history": "past:history",
        "accept": "past:accept_run",
    },
    "Trust": {
        "challenge": "trust:challenge",
        "coverage": "trust:coverage",
        "plan": "trust:plan",
        "calibrate": "trust:calibrate",
    },
    "Plumbing": {
        "compile": "plumbing:compile_files",
        "config": "plumbing:show_config",
        "schema": "plumbing:schema",
        "lsp": "plumbing:lsp",
        "demo-agent": "plumbing:demo_agent",
    },
    "": {"judge": "trust:calibrate"},  # as it was called
}
"""The commands in their groups, each with its module and function. Those of no group are hidden."""


def command_line(asked: str = "") -> typer.Typer:
    """The command line. If a command is asked for, it has only that: each takes a millisecond or more to make."""
    line = typer.Typer(
        name="evalc",
        cls=Groups,
        add_completion=False,
        no_args_is_help=True,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    line.callback()(evalc)
    is_known = any(asked in commands for commands in _COMMANDS.values())
    for group, commands in _COMMANDS.items():
        for name, place in commands.items():
            if name == asked or not is_known:
                module, _, function = place.partition(":")
                command: Callable[..., int] = getattr(import_module(f"evalc.cli.{module}"), function)
                line.command(name, cls=Command, rich_help_panel=group, hidden=not group)(exits(command))
    return line
