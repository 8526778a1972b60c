"""Caches judgements in files, by everything that decides them.

The name of a file is a hash of everything that a judge looked at and was asked, so an entry is never out of date. Files
are written whole or not at all, so that processes may share the folder; what cannot be read is as if it were not there.
So is what was not written with the user's key: a project that somebody else has made brings no judgements of its own.
"""

from __future__ import annotations

import hashlib
import hmac
import os
from collections.abc import Mapping
from functools import cached_property
from hmac import compare_digest
from pathlib import Path
from typing import Any, Final, final

import msgspec

from evalc.base.files import make_folder, read_limited, write_atomic
from evalc.model.answer import Exhibit, Question
from evalc.runtime.judges import Said
from evalc.runtime.judges.model import Malformed, Score, read_score
from evalc.runtime.store.redact import NO_SECRETS, Redactor, encoded, redacted

VARIABLE: Final = "EVALC_CACHE_KEY"
"""The variable that holds a key, for machines that share a cache: any text of 16 characters or more."""

_SHORTEST: Final = 16
_BYTES: Final = 32
_LARGEST_KEY: Final = 1_000


def cache_key(environ: Mapping[str, str]) -> bytes | None:
    """The key: from the variable, else the user's own, which is created if there is none.

    None if there is neither, such as in a home that cannot be written to: judgements are not kept then.
    """
    given = environ.get(VARIABLE, "")
    if given:
        return given.encode(errors="surrogateescape") if len(given) >= _SHORTEST else None
    try:
        # The user's own, wherever a link of theirs puts it: no project decides where it is.
        file = Path(os.path.realpath(_state_folder(environ) / "judge-cache.key"))
        return _read(file) or _made(file)
    except (OSError, ValueError, RuntimeError):  # RuntimeError: there is no home
        return None


def _state_folder(environ: Mapping[str, str]) -> Path:
    """Where programs keep what is neither settings nor to be deleted at will (XDG Base Directory, or as in Windows)."""
    named = environ.get("XDG_STATE_HOME") or environ.get("LOCALAPPDATA")
    return (Path(named) if named and Path(named).is_absolute() else Path.home() / ".local" / "state") / "evalc"


def _read(file: Path) -> bytes | None:
    try:
        key = read_limited(file, _LARGEST_KEY)
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


_LARGEST: Final = 1_000_000
_IGNORED: Final = b"# Made by evalc; can be deleted at any time.\n*\n"


class _Entry(msgspec.Struct, frozen=True, kw_only=True):
    """The content of a file; `judge` and `question` are for people who look at it, `seal` is of all that decides."""

    score: int | float
    reason: str
    judge: str
    question: str
    seal: str


class _NoKey(Exception):
    """Nothing can be sealed."""


@final
class JudgeCache:
    """The judgements of a project. Secrets are struck out of what is written.

    Args:
        folder: where they are.
        redactor: strikes secrets out.
        environ: the variables that hold the user's key.
    """

    def __init__(self, folder: Path, redactor: Redactor = NO_SECRETS, environ: Mapping[str, str] = os.environ) -> None:
        self._folder = folder
        self._redactor = redactor
        self._environ = environ

    @cached_property
    def _key(self) -> bytes | None:
        return cache_key(self._environ)

    def get(self, key: str, question: Question) -> Score | None:
        """The judgement; None if there is no usable one."""
        try:
            entry = msgspec.json.decode(read_limited(self._path(key), _LARGEST), type=_Entry)
            if not compare_digest(entry.seal.encode(), self._seal(key, entry.score, entry.reason).encode()):
                return None
            return read_score(Said({"score": entry.score, "reason": entry.reason}), question)
        except (OSError, msgspec.DecodeError, UnicodeError, RecursionError, Malformed, _NoKey):
            return None

    def put(self, key: str, score: Score, *, judge: str, question: Question) -> str | None:
        """Keep a judgement; why it cannot be kept, if so: the judge is then asked again the next time."""
        entry = _Entry(score=score.score, reason=score.reason, judge=judge, question=question.name, seal="")
        written, _ = redacted(entry, encoded(entry), self._redactor)
        path = self._path(key)
        try:
            sealed = msgspec.structs.replace(written, seal=self._seal(key, written.score, written.reason))
            make_folder(path.parent)
            if not (ignored := self._folder / ".gitignore").exists():
                write_atomic(ignored, _IGNORED)
            write_atomic(path, encoded(sealed) + b"\n")
        except OSError as error:
            return error.strerror or type(error).__name__
        except _NoKey:
            return f"there is no place for a key: set {VARIABLE}"
        return None

    def _seal(self, key: str, score: float, reason: str) -> str:
        """A seal that only the owner of the user's key can write.

        Raises:
            _NoKey: there is none.
        """
        if self._key is None:
            raise _NoKey
        return hmac.digest(self._key, msgspec.json.encode([key, score, reason]), "sha256").hex()

    def _path(self, key: str) -> Path:
        return self._folder / key[:2] / f"{key[2:]}.json"


def key_of(identity: Mapping[str, Any], sample: int, question: Question, exhibit: Exhibit) -> str:
    """The key of a judgement. `sample` distinguishes equal judges of a panel."""
    whole = {"judge": identity, "sample": sample, "question": question, "exhibit": exhibit}
    return hashlib.sha256(msgspec.json.encode(whole, order="sorted")).hexdigest()
