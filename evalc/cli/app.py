"""Puts the commands together into one command line."""

from __future__ import annotations

from typing import Annotated, Any, final

import typer
from typer.core import TyperCommand, TyperOption

from evalc import __version__
from evalc.cli.accept import accept_run
from evalc.cli.challenge import challenge
from evalc.cli.check import check
from evalc.cli.compile import compile_files
from evalc.cli.coverage import coverage
from evalc.cli.demo_agent import demo_agent
from evalc.cli.diff import diff
from evalc.cli.ending import exits
from evalc.cli.explain import explain
from evalc.cli.fmt import fmt
from evalc.cli.history import history
from evalc.cli.import_ import import_files
from evalc.cli.init import init
from evalc.cli.judge import judge_labels
from evalc.cli.lock import lock
from evalc.cli.lsp import lsp
from evalc.cli.merge import merge_runs
from evalc.cli.plan import plan
from evalc.cli.report import report_run
from evalc.cli.rescore import rescore
from evalc.cli.run import run_evals
from evalc.cli.schema import schema
from evalc.cli.show import show
from evalc.cli.watch import watch
from evalc.setup.run_flags import PANELS

_REST = "Options"


@final
class GroupedHelp(TyperCommand):
    """A command whose options are grouped by their `rich_help_panel`, without rich."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the groups in the order of `PANELS`; what has no group comes last."""
        groups: dict[str, list[tuple[str, str]]] = {panel: [] for panel in PANELS}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            if record is not None and isinstance(parameter, TyperOption):
                groups.setdefault(parameter.rich_help_panel or _REST, []).append(record)
        rest = groups.pop(_REST, [])
        for title, records in (*groups.items(), (_REST, rest)):
            if records:
                with formatter.section(title):
                    formatter.write_dl(records)


app = typer.Typer(
    name="evalc",
    add_completion=False,
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _print_version(wanted: bool) -> None:
    if wanted:
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


app.command()(exits(check))
app.command("compile")(exits(compile_files))
app.command("run", cls=GroupedHelp)(exits(run_evals))
app.command(short_help="Check the recorded answers of a run again with the current checks.")(exits(rescore))
app.command(short_help="Say which tools, arguments and criteria no case checks.")(exits(coverage))
app.command(short_help="Say what a run can show, and what it costs, before it is run.")(exits(plan))
app.command(short_help="Give the checks faulty answers, and report what they miss.")(exits(challenge))
app.command("merge", short_help="Put the runs of all shards together.")(exits(merge_runs))
app.command("judge", short_help="Measure how well a judge agrees with human labels.")(exits(judge_labels))
app.command(short_help="List earlier runs, and the trend of each suite.")(exits(history))
app.command()(exits(show))
app.command("accept", short_help="Make a run the baseline that the project commits.")(exits(accept_run))
app.command(short_help="Compare two runs, and say which changes may be chance.")(exits(diff))
app.command("report", short_help="Write a run as one HTML page, or in another format.")(exits(report_run))
app.command(short_help="Format eval files.")(exits(fmt))
app.command("import", short_help="Write eval files from the evals of other tools.")(exits(import_files))
app.command(short_help="Lock the regression cases, so that changes to them are reported.")(exits(lock))
app.command(short_help="Set up a project with evals that run out of the box.")(exits(init))
app.command(short_help="Print a JSON Schema, for editors and other tools.")(exits(schema))
app.command(short_help="Check on each save, and run the cases that have changed.")(exits(watch))
app.command(short_help="Serve an editor: mistakes, completions and fixes as you type.")(exits(lsp))
app.command()(exits(explain))
app.command("demo-agent")(exits(demo_agent))
