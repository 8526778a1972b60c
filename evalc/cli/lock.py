"""`evalc lock`: locks regression cases in `evalc.lock`."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from evalc.base.terminal import counted
from evalc.cli.ending import ExitCode
from evalc.cli.flags import sound_settings_from
from evalc.cli.options import Config, Paths, Prompts
from evalc.cli.streams import print_problems, shown_path


def lock(
    paths: Paths = None,
    check: Annotated[
        bool, typer.Option("--check", help="Write nothing; exit with 1 if the lock is out of date.")
    ] = False,
    prompts: Prompts = None,
    config: Config = None,
) -> int:
    """Lock regression cases, so that changes to them are errors.

    New cases are locked, and archived cases are released. A case that has changed or is gone is an error here too; to
    lock it again on purpose, delete its line in evalc.lock first.

    \b
    Examples:
      evalc lock
      evalc lock --check
    """
    from evalc import api  # noqa: PLC0415 - for start-up: `--help` compiles nothing
    from evalc.base.files import only_writer  # noqa: PLC0415
    from evalc.compiler.lock import LOCK_NAME, locked_anew, read_lock, write_lock  # noqa: PLC0415
    from evalc.diagnostics.problem import Diagnostics  # noqa: PLC0415 - as above

    settings = sound_settings_from(config, prompts=prompts)
    problems = Diagnostics()
    with only_writer(settings.root):
        locked = read_lock(settings.root, problems)
        compilation = api.compile_paths(settings.looked_at(paths or ()), settings=settings)
        problems.extend(compilation.problems)
        if problems.has_errors:
            print_problems(tuple(problems), sys.stderr)
            return ExitCode.USAGE
        anew = locked_anew(compilation.suites, locked)
        if anew.suites == locked.suites:
            told = f"{LOCK_NAME} is up to date" if locked.suites else "there are no regression cases to lock"
            sys.stdout.write(f"{told}\n")
            return ExitCode.OK
        if check:
            sys.stdout.write(f"{LOCK_NAME} is not up to date: run `evalc lock`\n")
            return ExitCode.FAILED
        file = write_lock(anew)
    cases = sum(len(suite.cases) for suite in anew.suites.values())
    sys.stdout.write(f"wrote {shown_path(file)}: {counted(cases, 'locked case')}\n")
    return ExitCode.OK
