"""Run ids, and the folders of earlier runs by their names.

An id is a UUID of version 7, so that ids sort as the runs began. Wherever a command takes a run, it is named by
`latest`, `latest~N` (the N-th before it), its id, the beginning of an id that no other run has, or the path of its
folder.
"""

from __future__ import annotations

import os
import re
import time
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

from evalc.base.errors import UsageError
from evalc.base.terminal import first_of
from evalc.runtime.store.journaled import FILE_NAME as JOURNAL_NAME

LATEST: Final = "latest"

_LATEST: Final = re.compile(r"latest(?:~([0-9]{1,6}))?")
_SHORTEST_BEGINNING: Final = 4
_MOST_LISTED: Final = 5

Holds = Callable[[Path], bool]
"""Whether a path has what is wanted of a run: its results, or its journal."""

_RANDOM_BITS: Final = 74
_ID: Final = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}")
_END_OF_TIME: Final = 250_000_000_000
"""The year 9892, in seconds since 1970."""


def steps_back(name: str) -> int | None:
    """How many runs before the latest are meant: 0 for `latest`, N for `latest~N`; None for any other name."""
    found = _LATEST.fullmatch(name)
    return None if found is None else int(found[1] or 0)


def find_folder(name: str, output_dir: Path, holds: Holds) -> Path | None:
    """The folder (or where `holds` allows it the file) of the run called `name`; None if there is none.

    Raises:
        UsageError: the name is empty, several runs begin with it, or there are not as many as `latest~N` goes back.
    """
    if not name:
        raise UsageError(f"an empty text names no run; the newest is `{LATEST}`")
    back = steps_back(name)
    if back is not None:
        return _newest(back, output_dir, holds)
    named = (output_dir / name, Path(name)) if Path(name).name == name else (Path(name),)
    return next((path for path in named if _holds(path, holds)), None) or _beginning_with(name, output_dir, holds)


def _newest(back: int, output_dir: Path, holds: Holds) -> Path | None:
    folders = sorted(run_folders(output_dir, holds), key=age, reverse=True)
    if folders and back >= len(folders):
        there = "is only one run" if len(folders) == 1 else f"are only {len(folders)} runs"
        raise UsageError(f"there {there} in `{output_dir}`, so none is `{LATEST}~{back}`")
    return folders[back] if folders else None


def _beginning_with(name: str, output_dir: Path, holds: Holds) -> Path | None:
    if len(name) < _SHORTEST_BEGINNING:
        return None
    found = sorted(folder for folder in _folders(output_dir) if folder.name.startswith(name) and _holds(folder, holds))
    if len(found) > 1:
        named = first_of(found, _MOST_LISTED, lambda folder: f"`{folder.name}`")
        raise UsageError(f"{len(found)} runs begin with `{name}`: {named}")
    return found[0] if found else None


def run_folders(output_dir: Path, holds: Holds) -> list[Path]:
    """The folders of the runs in the output folder, in no order."""
    return [folder for folder in _folders(output_dir) if _holds(folder, holds)]


def _folders(output_dir: Path) -> Iterator[Path]:
    try:
        yield from (folder for folder in output_dir.iterdir() if folder.is_dir())
    except OSError:
        return


def _holds(path: Path, holds: Holds) -> bool:
    try:
        return holds(path)
    except (OSError, ValueError):  # a name that is too long or holds NUL, a folder that may not be read
        return False


def result_files(folder: Path) -> list[Path]:
    """The files of a run's folder that may be results: beside its journal, folders of agents hold them, too."""
    patterns = ("*.json", "*/*.json") if (folder / JOURNAL_NAME).is_file() else ("*.json",)
    return sorted(file for pattern in patterns for file in folder.glob(pattern) if file.is_file())


def has_results(folder: Path) -> bool:
    """Whether the run of the folder ended."""
    return bool(result_files(folder))


def unfinished_since(output_dir: Path, newest: Path | None) -> list[Path]:
    """The runs that have a journal and no results, the newest first; of those, what began after `newest`, if given."""
    oldest = None if newest is None else age(newest)

    def is_meant(folder: Path) -> bool:
        is_later = oldest is None or age(folder) > oldest
        return is_later and (folder / JOURNAL_NAME).is_file() and not has_results(folder)

    return sorted(run_folders(output_dir, is_meant), key=age, reverse=True)


def age(folder: Path) -> tuple[float, str]:
    """When a run's folder began, and its name: what comes later is greater."""
    began = began_at(folder.name)
    return (folder.stat().st_mtime if began is None else began, folder.name)


# --- ids -------------------------------------------------------------------------------------------------------------


def new_run_id(output_dir: Path | None = None) -> str:
    """An id for a run that begins now (RFC 9562, 5.7), and sorts after those in the output folder.

    A run that was made while the clock was ahead is not the latest until real time has caught up: what begins later
    sorts later.
    """
    milliseconds = max(time.time_ns() // 1_000_000, _last_in(output_dir) + 1)
    noise = int.from_bytes(os.urandom(10), "big") >> (80 - _RANDOM_BITS)
    return str(uuid.UUID(int=milliseconds << 80 | 0x7 << 76 | (noise >> 62) << 64 | 0b10 << 62 | noise & (1 << 62) - 1))


def _last_in(output_dir: Path | None) -> int:
    """The latest time in the ids of a folder's runs, in milliseconds since 1970, as far as a calendar has it."""
    try:
        names = [] if output_dir is None else [folder.name for folder in output_dir.iterdir()]
    except OSError:  # it is not there yet, or cannot be read, which is told where it is written to
        return 0
    # Ids sort as their times do, so that only the last that is one needs to be read.
    for name in sorted(names, reverse=True):
        if _ID.fullmatch(name) and (began := began_at(name)) is not None and began < _END_OF_TIME:
            return round(began * 1000)
    return 0


def began_at(run_id: str) -> float | None:
    """The time in the id, in seconds since 1970; None if it is no UUID of version 7."""
    try:
        parsed = uuid.UUID(run_id)
    except ValueError:
        return None
    return (parsed.int >> 80) / 1000 if parsed.version == 7 else None
