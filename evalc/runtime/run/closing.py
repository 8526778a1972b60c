"""Stores what a run says beside its suites: gates, choice, warnings."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import msgspec

from evalc.atomic import write_atomic
from evalc.model.result import GateResult
from evalc.model.suite import Selected
from evalc.regular import read_limited
from evalc.runtime.store.written import Redacting, encoded, redacted

FILE_NAME: Final = "closing.jsonl"
"""Its suffix tells it from results, which any runner may read."""

_LARGEST: Final = 16_000_000


class Closing(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """What the result files of a run do not say.

    `gates` are those of the run as a whole, `below` the suites whose score does not meet their threshold, `selected`
    which of all cases were chosen, `warnings` those that belong to no suite, `exit_code` how the run ended.
    """

    exit_code: int = 0

    gates: tuple[GateResult, ...] = ()
    below: tuple[str, ...] = ()
    selected: Selected | None = None
    warnings: tuple[str, ...] = ()


def write_closing(folder: Path, closing: Closing, redactor: Redacting | None) -> str | None:
    """Write the file, where there is anything to say. A run never fails by that: the answer is a warning."""
    file = folder / FILE_NAME
    try:
        if closing == Closing():
            file.unlink(missing_ok=True)  # a run that is resumed may have had more to say
        else:
            _, written = redacted(closing, encoded(closing), redactor)
            write_atomic(file, written + b"\n")
    except OSError as error:
        return f"`evalc show` will not know the gates and warnings of the run: {error.strerror}"
    return None


def read_closing(folder: Path) -> tuple[Closing, tuple[str, ...]]:
    """What the run of a folder said at its end, nothing where it has no file; a warning where that cannot be read."""
    file = folder / FILE_NAME
    try:
        if not file.is_file():  # a named pipe would be waited for
            return Closing(), ()
        return msgspec.json.decode(read_limited(file, _LARGEST), type=Closing), ()
    except OSError as error:
        return Closing(), (f"`{file}` cannot be read: {error.strerror}",)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        return Closing(), (f"`{file}` is not what a run said at its end: {error}",)
