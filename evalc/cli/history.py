"""`evalc history`: lists all runs, and the course of each suite."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from itertools import islice
from typing import TYPE_CHECKING, Annotated, Final

import typer

from evalc import extras
from evalc.base.errors import UsageError
from evalc.base.terminal import Screen, counted, first_of
from evalc.cli.ending import ExitCode
from evalc.cli.flags import sound_settings_from
from evalc.cli.options import Config, Json, OutputDir
from evalc.cli.past_run import warn_of_unfinished
from evalc.cli.streams import print_warning

if TYPE_CHECKING:
    from evalc.model.reports import HistoryEntry

_MOST_LISTED: Final = 10


def history(
    suite: Annotated[
        str | None,
        typer.Argument(metavar="[SUITE]", help="Only this suite: its name or its tool, or NAME.TIER."),
    ] = None,
    limit: Annotated[
        int, typer.Option("--limit", metavar="N", min=1, help="How many results to list. Default: 20.")
    ] = 20,
    rebuild: Annotated[bool, typer.Option("--rebuild", help="Rebuild the index from the result files.")] = False,
    output_dir: OutputDir = None,
    json: Json = False,
    config: Config = None,
) -> int:
    """List past runs, newest first, and each suite's trend.

    \b
    Examples:
      evalc history
      evalc history code-review --limit 50
    """
    # For start-up: `--help` reads no history.
    from evalc.model.json import to_json  # noqa: PLC0415
    from evalc.model.reports import History  # noqa: PLC0415
    from evalc.report.history import history_lines, short_names  # noqa: PLC0415

    settings = sound_settings_from(config, output_dir=output_dir)
    folder = settings.results_folder
    with extras.history.Index.followed(folder, rebuild=rebuild) as index:
        if index.warning is not None:
            print_warning(index.warning)
        if (strangers := index.strangers()) > 0:
            files = counted(strangers, "JSON file")
            print_warning(f"no results of suites: {files} in the folders of runs in `{folder}`")
        all_entries = tuple(index.entries(suite))
        every = tuple(index.entries())
        names = short_names([entry.run for entry in every])
    if suite is not None and not all_entries:
        raise UsageError(f"no run in `{folder}` has results of the suite `{suite}`{_there_is(suite, every)}")
    found = History(entries=tuple(islice(all_entries, limit)), trends=extras.history.trends_of(all_entries))
    if json:
        sys.stdout.buffer.write(to_json(found) + b"\n")
    elif not all_entries:
        sys.stdout.write(f"there are no runs with results in {folder}\n")
    else:
        screen = Screen.of(sys.stdout, os.environ)
        sys.stdout.writelines(f"{line}\n" for line in history_lines(found, screen, names=names))
    warn_of_unfinished(settings)
    return ExitCode.OK


def _there_is(wanted: str, entries: Sequence[HistoryEntry]) -> str:
    """What could have been meant: the nearest name, else the suites of the newest runs."""
    from evalc.diagnostics.near import did_you_mean  # noqa: PLC0415 - for start-up: only for a mistake
    from evalc.model.suite import key_of  # noqa: PLC0415 - as above

    suites = tuple(dict.fromkeys(str(key_of(entry)) for entry in entries))
    if not suites:
        return ""
    near = did_you_mean(wanted, (name for entry in entries for name in (entry.suite, entry.tool_name)))
    return f"; {near}" if near else f"; there are {first_of(suites, _MOST_LISTED, '`{}`'.format)}"
