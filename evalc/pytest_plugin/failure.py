"""From the result of a case that did not pass to what pytest shows of it: no traceback, but the authored line."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Protocol, final

from evalc.model.result import CaseResult
from evalc.report.case_lines import SourceContext, reason_lines
from evalc.report.case_words import main_reason
from evalc.report.symbols import symbols_of
from evalc.terminal import Screen, shortened, visible

_LONGEST_RESPONSE: Final = 500
_MOST_TOOLS: Final = 20


@final
class NotPassed(Exception):
    """A case failed, or broke. `result` says how."""

    def __init__(self, result: CaseResult) -> None:
        super().__init__(result.id)
        self.result = result


class _Writer(Protocol):
    """What pytest writes to a terminal with."""

    hasmarkup: bool
    fullwidth: int

    def line(self, s: str = "") -> None: ...


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Crash:
    """What pytest's summary says of a failure in one line, and where its place is."""

    path: str
    lineno: int
    message: str

    def __str__(self) -> str:
        return f"{self.path}:{self.lineno}: {self.message}"


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """A failure as pytest prints it: on a terminal in its colours and width, elsewhere as plain text."""

    result: CaseResult
    told: SourceContext
    reprcrash: Crash

    def toterminal(self, tw: _Writer) -> None:
        """Write the lines."""
        for line in self.lines(Screen(color=tw.hasmarkup, width=max(tw.fullwidth, 40))):
            tw.line(line)

    def __str__(self) -> str:
        # Where only the text is passed on, as by xdist, its beginning stands in pytest's short summary.
        return "\n".join(self.lines(Screen())).lstrip()

    def lines(self, screen: Screen) -> Iterator[str]:
        """The reasons with their authored lines, then the response and the tools that were called."""
        symbols = symbols_of(screen)
        if self.result.status == "error":
            yield "    error: the agent or a check broke, so the case neither passed nor failed"
        yield from reason_lines(self.result, symbols, screen, self.told)
        details = self.result.details
        if details.response is not None:
            yield f"    the response ({details.response_length} characters):"
            yield f"      {shortened(visible(details.response[: _LONGEST_RESPONSE + 1]), _LONGEST_RESPONSE)}"
        if details.tools_called:
            names = ", ".join(map(visible, details.tools_called[:_MOST_TOOLS]))
            yield f"    tools called: {names}"


def failure_of(result: CaseResult, told: SourceContext) -> Failure:
    """The failure of a case."""
    reason = main_reason(result)
    place = None if reason is None else reason.place
    return Failure(
        result=result,
        told=told,
        reprcrash=Crash(
            path="" if place is None else os.fspath(place.file),
            lineno=0 if place is None else place.line,
            message=f"{'error: ' if result.status == 'error' else ''}{'' if reason is None else reason.in_short()}",
        ),
    )
