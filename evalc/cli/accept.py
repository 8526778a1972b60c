"""`evalc accept`: makes a past run the baseline that the project commits."""

from __future__ import annotations

import sys
from typing import Final

from evalc.base.terminal import counted, first_of, visible
from evalc.cli.ending import ExitCode
from evalc.cli.flags import sound_settings_from
from evalc.cli.options import Config, OutputDir
from evalc.cli.past_run import PastRun
from evalc.cli.streams import print_warning, shown_path

_MOST_NAMED: Final = 10


def accept_run(run: PastRun = "latest", output_dir: OutputDir = None, config: Config = None) -> int:
    """Make a run the baseline of the project.

    evalc writes evals/baseline.json, which you commit. --fail-on-regression and --baseline latest compare with that
    file from then on, on every machine. A run in which cases fail is accepted too: these cases may go on failing.
    Cases that flags or paths left out stay in the file. Cases that are gone from the eval files are removed from it.

    \b
    Examples:
      evalc accept
      evalc accept 01a200e6
    """
    # For start-up: `--help` reads no run.
    from evalc.runtime.store.past.accepted import accept, passed  # noqa: PLC0415
    from evalc.runtime.store.past.results import find_results  # noqa: PLC0415

    settings = sound_settings_from(config, output_dir=output_dir)
    results = find_results(run, settings.results_folder)
    accepted = accept(results, settings.accepted_baseline)
    cases = [case for suite in accepted.suites for case in suite.cases.values()]
    failing = sum(not passed(case) for case in cases)
    told = f"{counted(len(cases) - accepted.kept, 'case')} of the run {results.name}"
    told += f" and {accepted.kept} from before" if accepted.kept else ""
    told += f", {failing} of which may keep failing" if failing else ""
    sys.stdout.write(f"wrote {shown_path(settings.accepted_baseline)}: {told}\n")
    if accepted.removed:
        sys.stdout.write(f"no longer in it: {first_of(accepted.removed, _MOST_NAMED, visible)}\n")
    if accepted.only_part:
        print_warning("this run left out some of the cases, which will be new to a comparison with this baseline")
    return ExitCode.OK
