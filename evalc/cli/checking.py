"""Checks files for `evalc check`, and prints or fixes what is wrong with them.

Apart from the declaration of the command, since it is called without one if only paths are given.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from enum import StrEnum
from typing import TYPE_CHECKING

from evalc.base.errors import UsageError
from evalc.cli.ending import ExitCode
from evalc.cli.flags import settings_from
from evalc.cli.streams import inventory_lines, print_problems, standard_input
from evalc.setup.collector import collector_off

if TYPE_CHECKING:
    from evalc.diagnostics.policy import Selection
    from evalc.diagnostics.problem import Problem
    from evalc.diagnostics.render_text import Tried


class Format(StrEnum):
    """How problems are printed."""

    TEXT = "text"
    JSON = "json"
    SARIF = "sarif"
    GITHUB = "github"


def check_files(  # noqa: PLR0913 - the parameters are the command's
    paths: Sequence[str],
    *,
    output_format: Format = Format.TEXT,
    select: Sequence[str] = (),
    ignore: Sequence[str] = (),
    fix: bool = False,
    diff: bool = False,
    unsafe_fixes: bool = False,
    prompts: str | None = None,
    tools: str | None = None,
    strict: bool = False,
    exit_zero: bool = False,
    verbose: bool = False,
    config: str | None = None,
    kept_alive: list[object] | None = None,
) -> int:
    """Print what is wrong in the files, and with `fix` put right what is sure; the parameters are the command's.

    `kept_alive` takes in what a process that ends at once need not take apart.
    """
    from evalc import api  # noqa: PLC0415 - for start-up: `--help` compiles nothing

    settings, of_config = settings_from(config, prompts=prompts, strict=strict, tools=tools)
    looked_at = settings.looked_at(paths)
    if fix and not diff and "-" in looked_at:
        raise UsageError("`--fix` writes files: name a file instead of `-`, or use `--diff`")
    if unsafe_fixes and not (fix or diff):
        raise UsageError("`--unsafe-fixes` needs `--fix`, or `--diff` to preview the changes")
    selection = _selection(select, ignore)
    stdin = standard_input(looked_at)
    with collector_off():
        checked = api.check_paths(looked_at, settings=settings, stdin=stdin, selection=selection, kept_alive=kept_alive)
    if kept_alive is not None:
        kept_alive.append(checked)
    tried: Tried = "nothing"
    left: Sequence[Problem] = ()
    if fix or diff:
        from evalc.cli.fix import Task, fix_files, held_back_line, print_diffs  # noqa: PLC0415 - for start-up: seldom asked for

        files = api.files_of(looked_at, settings=settings) | ({"<stdin>"} if stdin is not None else frozenset())
        task = Task(files, settings, api.policy_of(settings, selection), unsafe_fixes)
        counted, left = print_diffs(checked.problems, task) if diff else (fix_files(checked.problems, task), ())
        sys.stderr.write(counted.line("would fix" if diff else "fixed"))
        if counted.fixes and not diff:
            checked = api.check_paths(looked_at, settings=settings, stdin=stdin, selection=selection)
        sys.stderr.write(held_back_line(left if diff else checked.problems, task))
        tried = "all fixes" if unsafe_fixes else "sure fixes"
    problems = (*of_config, *checked.problems)
    if diff:
        print_problems((*of_config, *left), sys.stderr, tried=tried)  # standard output is a patch
    else:
        _print(problems, output_format, tried=tried)
    if checked.inventory.is_empty and not problems:
        raise UsageError(api.nothing_found(looked_at, checked.inventory))
    if output_format is Format.TEXT and not diff:
        sys.stdout.writelines(inventory_lines(checked.inventory, all_good=not problems, verbose=verbose))
    failed = any(problem.severity == "error" for problem in problems)
    return ExitCode.USAGE if failed and not exit_zero else ExitCode.OK


def _selection(select: Sequence[str], ignore: Sequence[str]) -> Selection | None:
    """What the flags select and ignore; None if they are not given.

    Raises:
        UsageError: a code is unknown, or cannot be ignored.
    """
    if not select and not ignore:
        return None
    from evalc.diagnostics.policy import Selection, selector, silencer  # noqa: PLC0415 - for start-up

    return Selection(_codes("--select", select, selector), _codes("--ignore", ignore, silencer))


def _codes(flag: str, given: Sequence[str], read: Callable[[str], str]) -> tuple[str, ...]:
    names = [name for text in given for name in text.split(",") if name.strip()]
    if given and not names:
        raise UsageError(f"`{flag}` names no code")
    try:
        return tuple(map(read, names))
    except ValueError as bad:
        raise UsageError(f"`{flag}`: {bad}") from None


def _print(problems: Sequence[Problem], output_format: Format, *, tried: Tried) -> None:
    """Print what was found; in words also how much of it fixes would cure that were not `tried`."""
    # Each is deferred for start-up: a command prints in one format.
    match output_format:
        case Format.JSON:
            from evalc.diagnostics.render_json import render_json  # noqa: PLC0415

            sys.stdout.write(render_json(problems))
        case Format.SARIF:
            from evalc.diagnostics.render_sarif import render_sarif  # noqa: PLC0415

            sys.stdout.write(render_sarif(problems))
        case Format.GITHUB:
            from evalc.diagnostics.render_github import render_github  # noqa: PLC0415

            sys.stdout.write(render_github(problems))
        case Format.TEXT if problems:
            print_problems(problems, sys.stdout, tried=tried)
