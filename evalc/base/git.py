"""Lists the files that have changed since a commit, with those that git does not know yet.

git is called with arguments, never by a shell; no hook, monitor or external differ of the repository is run. Where it
cannot answer, that is a UsageError.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import Final

from evalc.base.errors import UsageError

_DIFF: Final = ("diff", "--name-only", "--no-renames", "--no-ext-diff", "--no-textconv", "-z")
_QUIETLY: Final = ("-c", "core.fsmonitor=false", "-c", f"core.hooksPath={os.devnull}", "--no-optional-locks")


def commit_of(ref: str, folder: Path) -> str:
    """The hash of the commit that a name means."""
    _top(folder)
    found = _git(folder, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{ref}^{{commit}}")
    if found.returncode != 0:
        raise UsageError(f"`--changed-since {ref}`: git knows no such commit")
    return os.fsdecode(found.stdout).strip()


def changed_files(commit: str, folder: Path) -> frozenset[Path]:
    """The files and links that differ from the commit; new files that git does not ignore, too.

    So may those that git was set not to look at, by `git update-index --assume-unchanged` or `--skip-worktree`.

    A link is named itself, by a path without links on the way to it: git knows where it leads, and not what is there.
    """
    top = _top(folder).resolve()
    listings = (
        (*_DIFF, commit, "--"),
        ("ls-files", "--others", "--exclude-standard", "-z"),
    )
    unseen = (name[2:] for name in _names(top, "ls-files", "-v", "-z") if name[0].islower() or name[0] == "S")
    return frozenset(top / name for name in chain(unseen, *(_names(top, *listing) for listing in listings)))


def deleted_files(commit: str, folder: Path) -> list[Path]:
    """The files of the commit that are not there any more, in the order of their names."""
    top = _top(folder).resolve()
    return [top / name for name in _names(top, *_DIFF, "--diff-filter=D", commit, "--")]


def ignored_files(files: Iterable[Path], folder: Path) -> frozenset[Path]:
    """Those of the files, given by absolute paths, that git ignores and does not track."""
    top = _top(folder).resolve()
    asked = [file for file in dict.fromkeys(files) if file.is_relative_to(top)]
    if not asked:
        return frozenset()
    done = _git(top, "check-ignore", "-z", "--stdin", given=b"\0".join(map(os.fsencode, asked)))
    if done.returncode not in (0, 1):  # 1: none is ignored
        raise UsageError(f"git cannot say what it ignores: {_first_line(done.stderr)}")
    return frozenset(Path(os.fsdecode(name)) for name in done.stdout.split(b"\0") if name)


def _names(top: Path, *arguments: str) -> Iterator[str]:
    done = _git(top, *arguments)
    if done.returncode != 0:
        raise UsageError(f"git cannot say what has changed: {_first_line(done.stderr)}")
    return (os.fsdecode(name) for name in done.stdout.split(b"\0") if name)


def _top(folder: Path) -> Path:
    found = _git(folder, "rev-parse", "--show-toplevel")
    if found.returncode != 0:
        raise UsageError(f"`--changed-since` needs a git repository, and `{folder}` is in none")
    return Path(os.fsdecode(found.stdout.rstrip(b"\n")))


def _git(folder: Path, *arguments: str, given: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    try:
        return subprocess.run(  # noqa: S603 - arguments, no shell
            ["git", *_QUIETLY, *arguments],  # noqa: S607 - the user's own git
            cwd=folder,
            input=given,
            capture_output=True,
            check=False,
        )
    except OSError as error:
        raise UsageError(f"`--changed-since` needs git, which cannot be run: {error.strerror}") from error


def _first_line(message: bytes) -> str:
    return message.decode(errors="replace").strip().partition("\n")[0]
