"""From what a run would be to lines about it: its cases, its requests, its settings. Nothing is sent."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from evalc.cli.ending import ExitCode
from evalc.cli.printing import print_warning
from evalc.terminal import visible

if TYPE_CHECKING:
    from evalc.api import ToRun
    from evalc.config.settings import Settings


def print_settings(settings: Settings) -> int:
    """The settings, and where each comes from."""
    from evalc.cli.settings_shown import settings_lines  # noqa: PLC0415 - for start-up: seldom asked for

    sys.stdout.writelines(f"{line}\n" for line in settings_lines(settings, os.environ))
    return ExitCode.OK


def list_cases(to_run: ToRun, *, quiet: bool) -> int:
    """A line a case: `PATH::ID`, as `evalc run` takes it; `quiet` leaves the ids alone."""
    for suite in to_run.suites:
        for located in suite.cases:
            identity = visible(located.case.id)
            sys.stdout.write(f"{identity}\n" if quiet else f"{visible(suite.origin)}::{identity}\n")
    if not quiet:
        sys.stdout.write(f"{_counted(to_run)}\n")
    return ExitCode.OK


def list_requests(to_run: ToRun, settings: Settings, *, quiet: bool) -> int:
    """What would be sent: the cases of each suite, how many requests, how many tokens they have, what these cost."""
    from evalc.cli.plan import plan_lines  # noqa: PLC0415 - for start-up: seldom asked for
    from evalc.runtime.agents.http.address import shown_url  # noqa: PLC0415 - likewise
    from evalc.setup.run import price_of, redactor_of  # noqa: PLC0415 - likewise

    redactor = redactor_of(settings, os.environ)
    prices = {
        redactor.redact(shown_url(agent)): price_of(agent, settings, os.environ) for agent in settings.agent_endpoints
    }
    lines = plan_lines(to_run.suites, prices=prices, quiet=quiet)
    sys.stdout.writelines(f"{line}\n" for line in (*lines, _counted(to_run)))
    if to_run.needs_user is not None:
        print_warning(f"the case `{to_run.needs_user}` has a simulated user, and nobody plays it: add `--user`")
    if to_run.needs_judge is not None:
        print_warning(f"the case `{to_run.needs_judge}` needs a judge, and none is named: add `--judge`")
    return ExitCode.OK


def _counted(to_run: ToRun) -> str:
    from evalc.report.selected import selected_line  # noqa: PLC0415 - for start-up

    return selected_line(to_run.selected, sum(suite.size for suite in to_run.suites))
