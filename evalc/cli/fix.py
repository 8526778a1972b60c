"""Applies fixes to files, or prints the diff that would."""

from __future__ import annotations

import sys
from collections.abc import Container, Iterator, Sequence
from difflib import unified_diff
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from evalc.base.files import read_limited, write_atomic
from evalc.base.terminal import counted, first_of, visible
from evalc.cli.streams import print_error

if TYPE_CHECKING:
    from evalc.base.source import Source
    from evalc.config.settings import Settings
    from evalc.diagnostics.fixing import Fixed
    from evalc.diagnostics.policy import Policy
    from evalc.diagnostics.problem import Problem

_NAMED: Final = 5
"""How many places are named one by one."""
_BOM = b"\xef\xbb\xbf"


class Task(NamedTuple):
    """Which files may be changed, how they are checked, and what of it is reported, which alone is fixed.

    With `unsafe`, fixes are made that a reader has to look at.
    """

    files: Container[str]
    settings: Settings
    policy: Policy
    unsafe: bool = False


class Counted(NamedTuple):
    """How many problems were fixed, in how many files."""

    fixes: int = 0
    files: int = 0

    def line(self, verb: str) -> str:
        """As a sentence: `fixed 3 problems in 2 files`."""
        if not self.fixes:
            return "nothing to fix\n"
        return f"{verb} {counted(self.fixes, 'problem')} in {counted(self.files, 'file')}\n"


def fix_files(problems: Sequence[Problem], task: Task) -> Counted:
    """Write the fixed text of every one of the files with sure fixes; everything else keeps its bytes."""
    counted = Counted()
    for source, fixed in _fixed_sources(problems, task):
        if write_unless_changed(source, fixed.text):
            counted = Counted(counted.fixes + fixed.fixes, counted.files + 1)
    return counted


def write_unless_changed(source: Source, text: str) -> bool:
    """Write a file's new text; whether it was written. One that has changed since it was read is left as it is."""

    path = Path(source.name)
    data = _unchanged_bytes(path, source)
    if data is None:
        print_error(f"`{source.name}` no longer holds the text that was checked, or is not UTF-8, and is left as it is")
        return False
    write_atomic(path, (_BOM if data.startswith(_BOM) else b"") + text.encode())
    return True


def print_diffs(problems: Sequence[Problem], task: Task) -> tuple[Counted, Sequence[Problem]]:
    """Print what `fix_files` would change, as a unified diff; also returns the problems that would be left."""
    from evalc.base.source import Source  # noqa: PLC0415 - as above
    from evalc.diagnostics.render_diff import render_diff  # noqa: PLC0415 - for start-up: seldom asked for
    from evalc.setup.compile import compiled  # noqa: PLC0415 - as above

    counted = Counted()
    left = list(problems)
    for source, fixed in _fixed_sources(problems, task):
        diff = render_diff(visible(source.name), source.text, fixed.text)
        sys.stdout.write(_harmless(diff) if sys.stdout.isatty() else diff)
        counted = Counted(counted.fixes + fixed.fixes, counted.files + 1)
        after = compiled([Source(source.name, fixed.text)], task.settings, task.policy, errors_stay=False)
        left = [problem for problem in left if problem.source.name != source.name]
        left += [problem for problem in after.problems if problem.source.name == source.name]
    return counted, left


def difference(source: Source, text: str) -> Iterator[str]:
    """The lines of a unified diff from a source's text to another."""
    before, after = source.text.splitlines(keepends=True), text.splitlines(keepends=True)
    name = visible(source.name)
    for line in unified_diff(before, after, fromfile=name, tofile=name):
        yield line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"


def held_back_line(problems: Sequence[Problem], task: Task) -> str:
    """Which fixes were not made, since what is left would keep the file from being read; empty if there are none."""
    from evalc.diagnostics.fixes import edit_for  # noqa: PLC0415 - for start-up, as below

    edit_of = partial(edit_for, unsafe=task.unsafe)
    held = [problem for problem in problems if problem.source.name in task.files and edit_of(problem) is not None]
    if not held:
        return ""
    places = first_of(held, _NAMED, lambda problem: f"{visible(problem.source.name)}:{problem.start.line}")
    fixes = counted(len(held), "fix", "fixes")
    return f"held back {fixes}, at {places}: first mend the syntax errors that no fix cures\n"


def _fixed_sources(problems: Sequence[Problem], task: Task) -> Iterator[tuple[Source, Fixed]]:
    """Those of the files in which anything is fixed, with their fixed texts."""
    from evalc import api  # noqa: PLC0415 - for start-up, as in `check`
    from evalc.diagnostics.fixes import edit_for  # noqa: PLC0415 - as above
    from evalc.diagnostics.fixing import fixed  # noqa: PLC0415 - as above

    def check(source: Source) -> Sequence[Problem]:
        # What it includes may have problems too, at places of their own.
        found = api.problems_of(source, settings=task.settings)
        return [problem for problem in found if problem.source.name == source.name]

    def wanted(problem: Problem) -> bool:
        return bool(task.policy.reported((problem,), errors_stay=False))

    edit_of = partial(edit_for, unsafe=task.unsafe)
    fixable = (problem.source for problem in problems if edit_of(problem) is not None)
    for source in dict.fromkeys(source for source in fixable if source.name in task.files):
        result = fixed(source, check(source), check, wanted=wanted, edit_of=edit_of)
        if result.fixes:
            yield source, result


def _unchanged_bytes(path: Path, source: Source) -> bytes | None:
    """The bytes of the file, None if they are not those of the source."""
    from evalc.dsl.sources import JSON_LIMIT  # noqa: PLC0415 - for start-up, as above

    try:
        data = read_limited(path, JSON_LIMIT)
    except OSError:
        return None
    return data if data.removeprefix(_BOM) == source.text.encode("utf-8", "surrogatepass") else None


def _harmless(diff: str) -> str:
    """The diff without anything that a terminal would obey; tabs and line ends stay."""
    lines = diff.replace("\r\n", "\n").split("\n")
    return "\n".join("\t".join(map(visible, line.split("\t"))) for line in lines)
