"""The answered turns of conversations under way, a line each: a killed run continues after the last of them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final, final

import msgspec

from evalc.base.files import open_regular, refuse_link_out
from evalc.model.answer import AgentResponse, AnsweredTurn, PlayedUser
from evalc.runtime.store.redact import Redactor, encoded, redacted

FILE_NAME: Final = "turns.jsonl"

_Attempt = tuple[int, int, int]
"""An attempt at a case of a suite, by their numbers from 0."""


class _Line(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    suite: int
    case: int
    attempt: int
    conversation: str
    message: str
    response: AgentResponse
    duration_ms: float
    user: PlayedUser | None = None


@final
class TurnLog:
    """The file of a run's turns. It is there only while the run is not finished, and only if it holds conversations.

    A turn in which a secret was struck out is not kept: checks would read another text than the agent's. It and those
    after it are asked again.
    """

    def __init__(self, folder: Path, redactor: Redactor | None, *, resumed: bool) -> None:
        self._path = folder / FILE_NAME
        self._redactor = redactor
        self._begun = dict(_read(self._path)) if resumed else {}
        self._is_whole = not resumed
        self._let_go: set[_Attempt] = set()
        self.failure: str | None = None  # why turns could not be kept; None if all were

    def attempt(self, suite: int, case: int, attempt: int) -> AttemptLog:
        """The log of one attempt at a case."""
        return AttemptLog(self, (suite, case, attempt))

    def begun(self, attempt: _Attempt) -> tuple[str, list[AnsweredTurn]] | None:
        """The conversation that an attempt had begun, by its id, and its turns."""
        lines = self._begun.get(attempt)
        if not lines:
            return None
        same = [line for line in lines if line.conversation == lines[-1].conversation]
        return same[0].conversation, [
            AnsweredTurn(line.message, line.response, line.duration_ms, line.user) for line in same
        ]

    def keep(self, attempt: _Attempt, conversation: str, turn: AnsweredTurn) -> None:
        """Write a turn to the end of the file."""
        if attempt in self._let_go or self.failure is not None:
            return
        suite, case, number = attempt
        line = _Line(
            suite=suite,
            case=case,
            attempt=number,
            conversation=conversation,
            message=turn.message,
            response=turn.response,
            duration_ms=turn.duration_ms,
            user=turn.user,
        )
        try:
            written = encoded(line)
            _, struck = redacted(line, written, self._redactor)
            if struck != written:
                self._let_go.add(attempt)
                return
            self._append(written)
        except OSError as error:
            self.failure = f"the turns of conversations could not be kept: {error.strerror}"
        except Exception:  # what cannot be written is asked again; the journal says what is wrong with it
            self._let_go.add(attempt)

    def _append(self, line: bytes) -> None:
        # After a kill the last line may be torn; what is written after it must not become a part of it.
        start = b"" if self._is_whole else b"\n"
        refuse_link_out(self._path)
        file = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | getattr(os, "O_BINARY", 0), 0o666)
        rest = memoryview(start + line + b"\n")
        try:
            while rest:  # of a disk that is nearly full only the next attempt says so
                rest = rest[os.write(file, rest) :]
        finally:
            os.close(file)
        self._is_whole = True

    def remove(self) -> None:
        """Remove the file: the run is finished, and its journal has all of it."""
        # A file that stays is harmless: a finished run is not gone on with.
        with suppress(OSError):
            self._path.unlink(missing_ok=True)


@final
class AttemptLog:
    """The log of the conversation of one attempt at a case."""

    def __init__(self, log: TurnLog, attempt: _Attempt) -> None:
        self._log = log
        self._attempt = attempt

    def begun(self) -> tuple[str, list[AnsweredTurn]] | None:
        """The conversation that was under way when the run was killed, by its id, and its turns."""
        return self._log.begun(self._attempt)

    def keep(self, conversation: str, turn: AnsweredTurn) -> None:
        """Keep a turn that was answered."""
        self._log.keep(self._attempt, conversation, turn)


def _read(path: Path) -> Iterator[tuple[_Attempt, list[_Line]]]:
    """The lines of each attempt. A torn line is left out: its turn was asked again, and is in a later line."""
    found: dict[_Attempt, list[_Line]] = {}
    try:
        with open_regular(path) as file:
            for text in file:
                try:
                    line = _decoder.decode(text)
                except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
                    continue
                found.setdefault((line.suite, line.case, line.attempt), []).append(line)
    except OSError:  # a run without conversations, or a finished run
        return
    yield from found.items()


_decoder: Final = msgspec.json.Decoder(_Line)
