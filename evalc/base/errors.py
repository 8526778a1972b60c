"""The exceptions that evalc raises: broken promises of the world or of a caller, never mistakes in an eval file.

    EvalcError
    +-- UsageError               what was asked for cannot be done: exit code 2, nothing was run
        +-- NothingToDo          there is nothing to do, and nothing is wrong: exit code 0
    +-- SourceError              the eval files have errors; carries the problems: exit code 2
    +-- AgentError               the agent broke: the case ends in `error`
        +-- AgentTimeout         no complete answer in time: the case ends in `failed` (contract, timeoutMs)
        +-- AgentUnavailable     no connection, or an answer that says "not now"
        +-- AgentProtocolError   an answer that is not of the agreed shape; carries the body, shortened
    +-- JudgeError               the judge gave no score: the case ends in `error`
    +-- PlayerError              whoever plays the user said nothing that it could say: the case ends in `error`
    +-- EngineError              no case can be run any more: exit code 3, what was finished is kept
    +-- MachineError             this machine lacks something, such as space: exit code 70, what was finished is kept

A mistake in an eval file is a value, a `Problem`; `SourceError` only carries them out of the Python API.

UsageError and SourceError are raised wherever a user asked for something that cannot be done, and listed only where
evalc itself goes on without: else only the end of a command, and callers from Python, catch them.
"""

from __future__ import annotations

import errno
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final, final

if TYPE_CHECKING:
    from evalc.diagnostics import Problem


class EvalcError(Exception):
    """The base of everything that evalc raises on purpose."""


class UsageError(EvalcError):
    """A request that cannot be done; the message says what to ask instead."""


class NothingToDo(UsageError):
    """There is nothing to do, and nothing is wrong."""


class SourceError(EvalcError):
    """The eval files have errors, and nothing was run.

    Attributes:
        problems: every problem found, warnings included, in the order of files and lines.
    """

    def __init__(self, problems: Sequence[Problem]) -> None:
        self.problems = tuple(problems)
        errors = [problem for problem in self.problems if problem.severity == "error"]
        lines = [f"{error}\n  help: {advice}" if (advice := error.finding.help()) else str(error) for error in errors]
        super().__init__("\n".join(lines))


class AgentError(EvalcError):
    """The agent broke."""


class AgentTimeout(AgentError):
    """The agent gave no complete answer in time."""


class AgentUnavailable(AgentError):
    """The agent could not be reached, or said that it cannot answer now.

    Attributes:
        status: the HTTP status by which it said so, such as 429; None if there was no answer.
    """

    def __init__(self, message: str, *, status: int | None = None) -> None:
        super().__init__(message)
        self.status = status


class AgentProtocolError(AgentError):
    """The agent answered something that is not of the agreed shape.

    Attributes:
        body: what it answered, shortened; empty if there was nothing.
        status: the HTTP status by which it refused the request; None if there was another reason.
    """

    def __init__(self, message: str, body: str = "", *, status: int | None = None) -> None:
        super().__init__(f"{message}: {body}" if body else message)
        self.body = body
        self.status = status


class JudgeError(EvalcError):
    """A judge, or too many of a panel, gave no score."""


class PlayerError(EvalcError):
    """Whoever plays a user said nothing that this user could say; the message says why."""


class MachineError(EvalcError):
    """This machine lacks what a run needs, such as space on a disk: the run ends, and what was finished is kept."""


class EngineError(EvalcError):
    """Where cases are run has broken: the run ends, and what was finished is kept."""


FULL: Final = frozenset((errno.ENOSPC, errno.EDQUOT))
"""The numbers of errors of a disk without space, or a quota without any left."""


def not_writable(what: str, error: OSError) -> UsageError | MachineError:
    """The error for a place that cannot be written to: of the machine where its disk is full or broken."""
    kind = MachineError if error.errno in {*FULL, errno.EIO} else UsageError
    return kind(f"{what}: {error.strerror}")


_LACKING: Final = frozenset((errno.EMFILE, errno.ENFILE, errno.EAGAIN, errno.ENOMEM, errno.ENOBUFS))


@final
class MachineFailed(BaseException):
    """Raised where this machine lacks something, so that no agent is to blame and the run ends.

    No `Exception`, so that no code takes it for the failure of an agent, a judge or a check.
    """

    @classmethod
    def of(cls, what: str, error: BaseException) -> MachineFailed | None:
        """The failure that the exception is, of what could not be done; None if others may be to blame."""
        for each in causes(error):
            lacks = isinstance(each, OSError) and each.errno in _LACKING
            if lacks or (isinstance(each, RuntimeError) and "new thread" in str(each)):
                more = "run fewer cases at a time (`--concurrency`), or allow more (`ulimit -n`, `ulimit -u`)"
                return cls(f"{what}: {getattr(each, 'strerror', None) or each}: {more}")
        return None


def causes(error: BaseException) -> Iterator[BaseException]:
    """The exception, and those that it was made of: of a group its first. Chains end where they lead back to a link."""
    seen: set[int] = set()
    each: BaseException | None = error
    while each is not None and id(each) not in seen:
        seen.add(id(each))
        if isinstance(each, BaseExceptionGroup):
            each = each.exceptions[0]
            continue
        yield each
        each = each.__context__ if each.__cause__ is None else each.__cause__
