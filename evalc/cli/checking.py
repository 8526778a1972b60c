"""Checks files for `evalc check`, and prints or fixes what is wrong with them.

Apart from the declaration of the command, since it is called without one if only paths are given.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from difflib import unified_diff
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from evalc.base import collector_off
from evalc.base.errors import UsageError
from evalc.base.files import JSON_LIMIT, read_limited, write_atomic
from evalc.base.source import Source
from evalc.base.terminal import counted, first_of, visible
from evalc.cli.ending import ExitCode, inventory_lines, print_error, print_lines, print_problems, with_standard_input

if TYPE_CHECKING:
    from evalc.cli.importing import From
    from evalc.config import Settings
    from evalc.diagnostics import Problem
    from evalc.diagnostics.fixing import Fixed
    from evalc.diagnostics.policy import Policy, Selection
    from evalc.diagnostics.render import Tried
    from evalc.setup.compile import Subject


class ProblemFormat(StrEnum):
    """How problems are printed."""

    TEXT = "text"
    JSON = "json"
    SARIF = "sarif"
    GITHUB = "github"


def check_files(  # noqa: PLR0913 - the parameters are the command's
    paths: Sequence[str],
    *,
    output_format: ProblemFormat = ProblemFormat.TEXT,
    select: Sequence[str] = (),
    ignore: Sequence[str] = (),
    fix: bool = False,
    diff: bool = False,
    unsafe_fixes: bool = False,
    prompts: str | None = None,
    tools: str | None = None,
    strict: bool = False,
    exit_zero: bool = False,
    quiet: bool = False,
    verbose: bool = False,
    config: str | None = None,
    origin: From | None = None,
    kept_alive: list[object] | None = None,
) -> int:
    """Print what is wrong in the files, and with `fix` put right what is sure; the parameters are the command's.

    `kept_alive` takes in what a process that ends at once need not take apart.
    """
    # For start-up: `--help` compiles nothing.
    from evalc.config.load import settings_with  # noqa: PLC0415
    from evalc.dsl.sources import unsaved  # noqa: PLC0415
    from evalc.setup.compile import checked, files_of, nothing_found, policy_of  # noqa: PLC0415

    settings, of_config = settings_with(config, {"prompts": prompts, "strict": strict, "tools": tools})
    looked_at = settings.looked_at(paths)
    if fix and not diff and "-" in looked_at:
        raise UsageError("`--fix` writes files: name a file instead of `-`, or use `--diff`")
    if unsafe_fixes and not (fix or diff):
        raise UsageError("`--unsafe-fixes` needs `--fix`, or `--diff` to preview the changes")
    if origin is not None and (fix or diff):
        raise UsageError("`--from` reads files of another tool, and no fix is written to them: leave out `--fix`")
    selection = _selection(select, ignore)
    subjects: Sequence[Subject] = with_standard_input(looked_at) if origin is None else ()
    beside: Mapping[str, str] = {}
    if origin is not None:
        from evalc.cli.importing import subjects_of  # noqa: PLC0415 - for start-up: seldom asked for

        subjects, beside, settings, _folder = subjects_of(looked_at, origin, settings)
    with collector_off(), unsaved(beside):
        found = checked(subjects, settings, selection, kept_alive)
    if kept_alive is not None:
        kept_alive.append(found)
    tried: Tried = "nothing"
    left: Sequence[Problem] = ()
    if fix or diff:
        files = files_of(looked_at, settings=settings) | ({"<stdin>"} if "-" in looked_at else frozenset())
        task = _Task(files, settings, policy_of(settings, selection), unsafe_fixes)
        made = [each for each in _fixed(found.problems, task) if diff or write_unless_changed(each[0], each[1].text)]
        if diff:
            left = _print_diffs(found.problems, made, task)
        fixes, verb = sum(fixed.fixes for _, fixed in made), "would fix" if diff else "fixed"
        said = f"{verb} {counted(fixes, 'problem')} in {counted(len(made), 'file')}" if fixes else "nothing to fix"
        print_lines([said], sys.stderr)
        if fixes and not diff:
            found = checked(subjects, settings, selection)
        print_lines(_held_back(left if diff else found.problems, task), sys.stderr)
        tried = "all fixes" if unsafe_fixes else "sure fixes"
    problems = (*of_config, *found.problems)
    if diff:
        print_problems((*of_config, *left), sys.stderr, tried=tried)  # standard output is a patch
    else:
        _print_found(problems, output_format, tried=tried)
    if found.inventory.is_empty and not problems:
        raise UsageError(nothing_found(subjects, found.inventory))
    if output_format is ProblemFormat.TEXT and not diff and not quiet:
        print_lines(inventory_lines(found.inventory, all_good=not problems, verbose=verbose), sys.stdout)
    failed = any(problem.severity == "error" for problem in problems)
    return ExitCode.USAGE if failed and not exit_zero else ExitCode.OK


def _selection(select: Sequence[str], ignore: Sequence[str]) -> Selection | None:
    """The codes that the flags select and ignore; None if they are not given."""
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


def _print_found(problems: Sequence[Problem], output_format: ProblemFormat, *, tried: Tried) -> None:
    """Print what was found; in words also how much of it fixes would cure that were not `tried`."""
    if output_format is ProblemFormat.TEXT:
        if problems:
            print_problems(problems, sys.stdout, tried=tried)
        return
    from evalc.diagnostics.render import render_github, render_json, render_sarif  # noqa: PLC0415 - for start-up

    renderers = {
        ProblemFormat.JSON: render_json,
        ProblemFormat.SARIF: render_sarif,
        ProblemFormat.GITHUB: render_github,
    }
    sys.stdout.write(renderers[output_format](problems))


_NAMED: Final = 5
"""How many places are named one by one."""
_BOM: Final = b"\xef\xbb\xbf"


class _Task(NamedTuple):
    """Files that may be changed, how they are checked, and which problems are reported, since only those are fixed.

    With `unsafe`, fixes are made that a reader has to look at.
    """

    files: Container[str]
    settings: Settings
    policy: Policy
    unsafe: bool = False


def write_unless_changed(source: Source, text: str) -> bool:
    """Write a file's new text; whether it was written. One that has changed since it was read is left as it is."""
    path = Path(source.name)
    data = _unchanged_bytes(path, source)
    if data is None:
        print_error(f"`{source.name}` no longer holds the text that was checked, or is not UTF-8, and is left as it is")
        return False
    write_atomic(path, (_BOM if data.startswith(_BOM) else b"") + text.encode())
    return True


def _print_diffs(problems: Sequence[Problem], made: Iterable[tuple[Source, Fixed]], task: _Task) -> Sequence[Problem]:
    """Print the fixed texts as unified diffs; returns the problems that would be left."""
    from evalc.diagnostics.render import render_diff  # noqa: PLC0415 - for start-up: seldom asked for
    from evalc.setup.compile import compiled  # noqa: PLC0415 - as above

    left = list(problems)
    for source, fixed in made:
        diff = render_diff(visible(source.name), source.text, fixed.text)
        sys.stdout.write(_harmless(diff) if sys.stdout.isatty() else diff)
        after = compiled([Source(source.name, fixed.text)], task.settings, task.policy, errors_stay=False)
        left = [problem for problem in left if problem.source.name != source.name]
        left += [problem for problem in after.problems if problem.source.name == source.name]
    return left


def difference(source: Source, text: str) -> Iterator[str]:
    """The lines of a unified diff from a source's text to another."""
    before, after = source.text.splitlines(keepends=True), text.splitlines(keepends=True)
    name = visible(source.name)
    for line in unified_diff(before, after, fromfile=name, tofile=name):
        yield line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"


def _held_back(problems: Sequence[Problem], task: _Task) -> Iterator[str]:
    """A line on fixes not made, since other mistakes keep the file from being read."""
    held = [problem for problem in problems if problem.source.name in task.files and _is_made(problem, task)]
    if held:
        places = first_of(held, _NAMED, lambda problem: f"{visible(problem.source.name)}:{problem.start.line}")
        fixes = counted(len(held), "fix", "fixes")
        yield f"held back {fixes}, at {places}: first mend the syntax errors that no fix cures"


def _is_made(problem: Problem, task: _Task) -> bool:
    """Whether a problem has a fix that the task makes."""
    fix = problem.fix
    return fix is not None and (fix.is_safe or task.unsafe)


def _fixed(problems: Sequence[Problem], task: _Task) -> Iterator[tuple[Source, Fixed]]:
    """Those of the files in which anything is fixed, with their fixed texts."""
    from evalc.diagnostics.fixing import fixed  # noqa: PLC0415 - for start-up: only for fixes
    from evalc.setup.compile import problems_of  # noqa: PLC0415 - as above

    check = partial(problems_of, settings=task.settings)

    def selected(problem: Problem) -> bool:
        return bool(task.policy.reported((problem,), errors_stay=False))

    fixable = (problem.source for problem in problems if _is_made(problem, task))
    for source in dict.fromkeys(source for source in fixable if source.name in task.files):
        result = fixed(source, check(source), check, selected=selected, unsafe=task.unsafe)
        if result.fixes:
            yield source, result


def _unchanged_bytes(path: Path, source: Source) -> bytes | None:
    """The bytes of the file, None if they are not those of the source."""
    try:
        data = read_limited(path, JSON_LIMIT)
    except OSError:
        return None
    return data if data.removeprefix(_BOM) == source.text.encode("utf-8", "surrogatepass") else None


def _harmless(diff: str) -> str:
    """The diff without anything that a terminal would obey; tabs and line ends stay."""
    lines = diff.replace("\r\n", "\n").split("\n")
    return "\n".join("\t".join(map(visible, line.split("\t"))) for line in lines)
