"""Puts the commands together into one command line."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Annotated, Any, Final, final

import typer
from typer.core import TyperGroup

from evalc import __version__
from evalc.cli.ending import exits
from evalc.cli.options import Command
from evalc.cli.past import accept_run, diff, history, merge_runs, report_run, rescore, show
from evalc.cli.plumbing import compile_files, demo_agent, lsp, schema, show_config
from evalc.cli.run import run_evals
from evalc.cli.trust import calibrate, challenge, coverage, plan
from evalc.cli.write import check, explain, fmt, import_files, init, lock, watch


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


app = typer.Typer(
    name="evalc",
    cls=Groups,
    add_completion=False,
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _print_version(asked: bool) -> None:
    if asked:
        typer.echo(f"evalc {__version__}")
        raise typer.Exit


@app.callback()
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


_COMMANDS: Final[Mapping[str, Mapping[str, Callable[..., int]]]] = {
    "Write": {
        "init": init,
        "check": check,
        "fmt": fmt,
        "import": import_files,
        "watch": watch,
        "explain": explain,
        "lock": lock,
    },
    "Run": {"run": run_evals, "rescore": rescore, "merge": merge_runs},
    "Read": {"show": show, "report": report_run, "diff": diff, "history": history, "accept": accept_run},
    "Trust": {"challenge": challenge, "coverage": coverage, "plan": plan, "calibrate": calibrate},
    "Plumbing": {
        "compile": compile_files,
        "config": show_config,
        "schema": schema,
        "lsp": lsp,
        "demo-agent": demo_agent,
    },
}
"""The commands in their groups."""

for group, commands in _COMMANDS.items():
    for name, command in commands.items():
        app.command(name, cls=Command, rich_help_panel=group)(exits(command))
app.command("judge", cls=Command, hidden=True)(exits(calibrate))  # as it was called
