"""From the environment to the key by which judgements that are kept prove to be this user's, and nobody else's.

The cache lies in the project, where a commit or an archive can plant a judgement. The key lies outside of it.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from evalc.atomic import write_atomic
from evalc.regular import read_limited

VARIABLE: Final = "EVALC_CACHE_KEY"
"""The variable that holds a key, for machines that share a cache: any text of 16 characters or more."""

_SHORTEST: Final = 16
_BYTES: Final = 32
_LARGEST: Final = 1_000


def cache_key(environ: Mapping[str, str]) -> bytes | None:
    """The key: that of the variable, else the user's own, which is made when there is none.

    None where there is neither, such as in a home that cannot be written to: judgements are not kept then.
    """
    given = environ.get(VARIABLE, "")
    if given:
        return given.encode(errors="surrogateescape") if len(given) >= _SHORTEST else None
    file = _state_folder(environ) / "judge-cache.key"
    try:
        return _read(file) or _made(file)
    except (OSError, ValueError, RuntimeError):  # RuntimeError: there is no home
        return None


def _state_folder(environ: Mapping[str, str]) -> Path:
    """Where programs keep what is neither settings nor to be deleted at will (XDG Base Directory, or as in Windows)."""
    named = environ.get("XDG_STATE_HOME") or environ.get("LOCALAPPDATA")
    return (Path(named) if named and Path(named).is_absolute() else Path.home() / ".local" / "state") / "evalc"


def _read(file: Path) -> bytes | None:
    try:
        key = read_limited(file, _LARGEST)
    except FileNotFoundError:
        return None
    return key if len(key) >= _SHORTEST else None


def _made(file: Path) -> bytes | None:
    """A new key, or that of another process that was quicker."""
    file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    if not file.exists():
        write_atomic(file, os.urandom(_BYTES))
        file.chmod(0o600)
    return _read(file)
