"""`evalc init`: sets up a project with evals that pass."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import Annotated, Final

import typer

from evalc import extras
from evalc.base.errors import UsageError
from evalc.cli.ending import ExitCode
from evalc.cli.streams import print_warning, shown_path

_NEXT: Final = """\
  evalc run --agent demo
  evalc accept    # the baseline for CI: commit evals/baseline.json
"""


def init(
    folder: Annotated[str, typer.Argument(metavar="[DIR]", help="The folder. Default: the working folder.")] = ".",
) -> int:
    """Set up a project with evals that run out of the box.

    evalc writes a configuration, two suites for the demo agent, and a CI workflow. It overwrites nothing: if files are
    in the way, it lists them and writes nothing.

    \b
    Example:
      evalc init my-evals
    """
    from evalc.base.files import make_folder  # noqa: PLC0415 - for start-up

    target = Path.cwd() / folder
    if target.exists() and not target.is_dir():
        raise UsageError(f"`{shown_path(target)}` is not a folder")
    obstacles = extras.scaffold.in_the_way(target)
    if obstacles:
        named = ", ".join(f"`{shown_path(path)}`" for path in obstacles)
        raise UsageError(f"nothing was written, since this is in the way: {named}")
    make_folder(target)
    installed_from = extras.scaffold.requirement()
    for file in extras.scaffold.write_project(target, requirement=installed_from):
        sys.stdout.write(f"wrote {shown_path(file)}\n")
    change = "" if target.resolve() == Path.cwd().resolve() else f"cd {shlex.quote(folder)} && "
    sys.stdout.write(f"\nNext:\n  {change}evalc check\n{_NEXT}")
    if installed_from is None:
        workflow = extras.scaffold.WORKFLOW
        print_warning(f"evalc was installed from this machine: say in {workflow} what CI installs it from")
    return ExitCode.OK
