"""Finds the run to go on with, refuses another one, and keeps the turns of conversations that it broke off."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, final

import msgspec

from evalc.base.errors import UsageError
from evalc.base.files import open_regular, refuse_link_out
from evalc.model.answer import AgentResponse, AnsweredTurn, PlayedUser
from evalc.model.json import UNREADABLE
from evalc.model.suite import KnownSuites, Suite, key_of
from evalc.runtime.store.journal import FILE_NAME, Asked, CaseNumbers, Header, JournaledSuite, read_header
from evalc.runtime.store.redact import Redactor, encoded, redacted
from evalc.runtime.store.runs import HOW_RUNS_COME, find_folder, is_announced, steps_back, unless_saved

_DECIDING: Final = {
    "timeoutMs": "`--timeout` in milliseconds",
    "allAssertions": "`--all-assertions`",
    "judges": "`--judge`",
    "judgements": "the number of judgements of each question",
    "user": "`--user`",
    "rubricsAlways": '`rubrics = "always"` of judges',
    "similarity": "`similarity`",
}
"""The options that change verdicts, and how a message calls them; data are compared by their hashes."""

_HASHED: Final = {
    "seedHash": "the seed manifest",
    "snapshotHash": "the snapshot",
    "skillsHash": "what is in the skills of the agent",
}


@final
class PastRun(msgspec.Struct, frozen=True, kw_only=True):
    """A run that has a journal. `header` is None if the run was ended before it was written, and nothing was run."""

    folder: Path
    header: Header | None

    @property
    def run_id(self) -> str:
        """The run's id."""
        return self.folder.name if self.header is None else self.header.run_id


def find_run(name: str, output_dir: Path, *, to_resume: bool = False) -> PastRun:
    """The run called `name`, as `find_folder` knows it, that has a journal; `to_resume`, even if it has none yet.

    So `latest` is not an earlier run where the latest was killed before its journal began.
    """
    folder = find_folder(
        name, output_dir, lambda path: (path / FILE_NAME).is_file() or (to_resume and is_announced(path))
    )
    if folder is None and steps_back(name) is not None:
        raise UsageError(f"there is no run in `{output_dir}` yet: {HOW_RUNS_COME}")
    if folder is None and is_announced(Path(name)):
        raise UsageError(f"the run `{name}` ended before its first case: remove its folder, and run it again")
    if folder is None:
        where = f"neither a run in `{output_dir}` nor the folder of a run"
        raise UsageError(f"`{name}` is {where}: it has no `{FILE_NAME}`{unless_saved(name)}")
    journal = folder / FILE_NAME
    return PastRun(folder=folder, header=read_header(journal) if journal.exists() else None)


def refuse_another_run(past: Header, now: Header) -> None:
    """Compare what was run with what would be run."""
    refuse_rescored(past)
    changes = "; ".join(differences(past, now))
    if changes:
        raise UsageError(f"the run `{past.run_id}` cannot be resumed: {changes}")


def refuse_rescored(past: Header) -> None:
    """Reject a run that asked no agent."""
    if past.rescored_from is not None:
        made = f"it was made by `evalc rescore {past.rescored_from}`"
        raise UsageError(f"`{past.run_id}` cannot be resumed: {made}: resume that run, and rescore it again")


def differences(past: Header, now: Header) -> Iterator[str]:
    """The differences that keep the cases of one run from standing beside those of the other."""
    known = KnownSuites.named_by(now.suites)
    yield from _changed_suites(_by_name(past, known), _by_name(now, known))
    if past.agent_endpoint != now.agent_endpoint:
        yield f"its agent was `{past.agent_endpoint}`, and not `{now.agent_endpoint}`"
    for key, name in _DECIDING.items():
        before, after = past.options.get(key), now.options.get(key)
        if before != after:
            yield f"{name} was {_shown(before)} and is {_shown(after)} now"
    yield from _asked_otherwise(past.asked, now.asked)
    for key, name in _HASHED.items():
        if key in past.options and past.options[key] != now.options.get(key):
            yield f"{name} is another one now"


def _asked_otherwise(past: Asked | None, now: Asked | None) -> Iterator[str]:
    """The settings by which agents, judges or the player are asked in another way."""
    if past is None or now is None:  # which `not_compared` says
        return
    for name in dict.fromkeys((*past, *now)):
        before, after = past.get(name), now.get(name)
        if before == after:
            continue
        *table, key = name.rsplit(".", 1)  # as the configuration spells it
        key = ".".join([*table, re.sub("[A-Z]", lambda capital: f"_{capital[0].lower()}", key)])
        shown = f"`{key.removesuffix('_ms')}`{' in milliseconds' if key.endswith('_ms') else ''}"
        if any(isinstance(value, dict) for value in (before, after)):
            yield f"{shown} is another one now"
        else:
            yield f"{shown} was {_shown(before)} and is {_shown(after)} now"


def not_compared(headers: Sequence[Header], suites: Iterable[Suite]) -> Iterator[str]:
    """Warnings of what runs of an earlier evalc do not say, which could not be compared. `suites` are those of now."""
    unasked = [header.run_id for header in headers if header.asked is None]
    if unasked:
        yield (
            f"{_begun_earlier(unasked)} how the agent was asked: whether `body`, `response`, the model's settings or "
            "headers have changed could not be compared"
        )
    unread = [header.run_id for header in headers if "skillsHash" not in header.options]
    if unread and any(suite.copied_hash is not None for suite in suites):
        yield (
            f"{_begun_earlier(unread)} what was in the files that cases give to the agent: whether they have changed "
            "could not be compared"
        )


def _begun_earlier(run_ids: Iterable[str]) -> str:
    return f"an earlier evalc began the run {', '.join(f'`{run_id}`' for run_id in run_ids)} and did not keep"


def checks_of(header: Header) -> str | None:
    """The hash of the text of a run's checks; None if it had none, or an earlier evalc did not keep that."""
    found = header.options.get("checksHash")
    return found if isinstance(found, str) else None


def checked_otherwise(checks: Iterable[str | None], run_id: str) -> tuple[str, ...]:
    """The warning that not all cases of a run were checked by the same text."""
    if len({each for each in checks if each is not None}) <= 1:
        return ()
    alike = f"`evalc rescore {run_id}` checks all of them alike"
    return (f"the files of `checks` have changed between cases of this run, which keep their verdicts: {alike}",)


def _by_name(header: Header, known: KnownSuites) -> Mapping[str, JournaledSuite]:
    keys = [(known.key_of(suite) or key_of(suite), suite) for suite in header.suites]
    return {f"`{key.name}` ({key.tier})": suite for key, suite in keys}


def _changed_suites(past: Mapping[str, JournaledSuite], now: Mapping[str, JournaledSuite]) -> Iterator[str]:
    for name, suite in past.items():
        if name not in now:
            yield f"the suite {name} of `{suite.origin}` is not there"
        elif suite.file_hash != now[name].file_hash:
            yield f"the suite {name} of `{suite.origin}` has changed since"
        elif suite.copied_hash not in (None, now[name].copied_hash):
            yield f"files that cases of the suite {name} give to the agent have changed since"
        elif suite.cases != now[name].cases:
            yield f"{suite.cases} cases of the suite {name} were to be run, and not {now[name].cases}"
    for name in now:
        if name not in past:
            yield f"the suite {name} was not part of it"
    if list(past) != list(now) and set(past) == set(now):
        yield "its suites came in another order"


def _shown(value: Any) -> str:
    if value is None or isinstance(value, list):
        return ", ".join(map(str, value or ())) or "not given"
    return str(value).lower() if isinstance(value, bool) else f"{value:g}" if isinstance(value, float) else str(value)


# --- turns of conversations ------------------------------------------------------------------------------------------


TURNS_FILE: Final = "turns.jsonl"

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
    after it are asked again. The conversations of the cases `but_for` begin anew.
    """

    def __init__(
        self,
        folder: Path,
        redactor: Redactor,
        *,
        resumed: bool,
        but_for: frozenset[CaseNumbers] = frozenset(),
    ) -> None:
        self._path = folder / TURNS_FILE
        self._redactor = redactor
        found = _read(self._path) if resumed else {}
        self._begun = {attempt: lines for attempt, lines in found.items() if attempt[:2] not in but_for}
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


def _read(path: Path) -> Mapping[_Attempt, list[_Line]]:
    """The lines of each attempt. A torn line is left out: its turn was asked again, and is in a later line."""
    found: dict[_Attempt, list[_Line]] = {}
    # Without a file it is a run without conversations, or a finished run.
    with suppress(OSError), open_regular(path) as file:
        for text in file:
            with suppress(*UNREADABLE):
                line = _decoder.decode(text)
                found.setdefault((line.suite, line.case, line.attempt), []).append(line)
    return found


_decoder: Final = msgspec.json.Decoder(_Line)
