"""Shows how far a run is: one live line on a terminal, elsewhere a line for each suite and each minute."""

from __future__ import annotations

import time
from collections.abc import Mapping
from types import TracebackType
from typing import Final, Self, TextIO, final

from msgspec import UNSET

from evalc.base.terminal import Screen, counted, padded, shortened, visible
from evalc.model.result import CaseResult, SkippedCase
from evalc.model.suite import Suite
from evalc.report.words import Writer, main_reason
from evalc.runtime.run.engine import Observer

_SECONDS_BETWEEN_DRAWINGS: Final = 0.1
_SECONDS_BETWEEN_LINES: Final = 60.0
"""In a log: a runner of CI may take a job for dead that says nothing for ten minutes."""
_MOST_NAMED: Final = 5


def draws(stream: TextIO, environ: Mapping[str, str]) -> bool:
    """Whether a line can be drawn again on the stream: on a terminal that moves its cursor, and not in CI's logs."""
    in_ci = environ.get("CI", "").lower() not in ("", "0", "false")
    return stream.isatty() and environ.get("TERM") != "dumb" and not in_ci


@final
class Progress(Observer):
    """Observes a run; the line is gone when the block ends.

    Where it is `drawn` (see `draws`), the line is drawn again and again, as a terminal can.
    """

    def __init__(self, stream: TextIO, screen: Screen, *, drawn: bool) -> None:
        self._stream = stream
        self._screen = screen
        self._drawn = drawn
        self._last_drawing = 0.0
        self._done = 0
        self._kept = 0
        self._passed = 0
        self._named = 0
        self._of = 0
        self._cost_usd = 0.0
        self._started = 0.0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._drawn:
            self._stream.write(f"\r{' ' * (self._screen.width - 1)}\r")
            self._stream.flush()

    def run_started(self, cases: int, kept: int) -> None:
        self._of, self._kept = cases, kept
        self._started = time.monotonic()
        if not self._drawn:
            self._last_drawing = self._started

    def suite_started(self, suite: Suite) -> None:
        if not self._drawn:
            self._stream.write(f"running {visible(suite.title)}: {counted(suite.size, 'case')}\n")

    def loading(self, name: str, size: int) -> None:
        if self._drawn:
            self._draw(f"loading {visible(name)} ({size / 1e6:.0f} MB)")

    def case_finished(self, suite: Suite, result: CaseResult) -> None:
        """A case has its result; on a terminal, a case that did not pass is named at once."""
        self._done += 1
        self._passed += result.passed
        for usage in (result.details.usage, result.details.judge_usage):
            if usage is not UNSET:
                self._cost_usd += usage.get("costUsd", 0)
        if self._drawn and not result.passed:
            self._name(result)
        between = _SECONDS_BETWEEN_DRAWINGS if self._drawn else _SECONDS_BETWEEN_LINES
        if (now := time.monotonic()) - self._last_drawing >= between:
            self._last_drawing = now
            if self._drawn:
                self._draw(self._line(suite, now))
            else:
                self._stream.write(f"{self.so_far()}\n")
                self._stream.flush()

    def case_skipped(self, suite: Suite, skipped: SkippedCase) -> None:  # noqa: ARG002 - whichever it is
        """A case is not run: there is one less to wait for."""
        self._of -= 1

    def so_far(self) -> str:
        """How far the run is: `12 of 40 cases finished: 9 passed, 3 did not`, and how many were before."""
        before = f", {self._kept} of them before it was resumed" if self._kept else ""
        ended = f"{self._done + self._kept} of {counted(self._of, 'case')} finished{before}"
        return f"{ended}: {self._passed} passed, {self._done - self._passed} did not" if self._done else ended

    def _name(self, result: CaseResult) -> None:
        """Above the line, which the next drawing puts back."""
        self._named += 1
        if self._named > _MOST_NAMED + 1:
            return
        width = self._screen.width - 1
        reason = main_reason(result)
        why = f"  {reason.in_short('...')}" if reason is not None else ""
        said = f"{Writer(self._screen).mark(result.status)} {visible(result.id)}{why}"
        line = said if self._named <= _MOST_NAMED else "the report names all that did not pass"
        self._stream.write(f"\r{padded(shortened(line, width, '...'), width)}\n")
        self._last_drawing = 0.0

    def _line(self, suite: Suite, now: float) -> str:
        """The progress line, the most important part first: a narrow terminal shows the beginning."""
        parts = [f"{self._done + self._kept}/{self._of} cases", f"{100 * self._passed // self._done}% passed"]
        if (left := self._seconds_left(now)) is not None:
            parts.append(f"{_duration(left)} left")
        if self._cost_usd:
            parts.append(f"${self._cost_usd:.4f}")
        return ", ".join([*parts, visible(suite.name)])

    def _seconds_left(self, now: float) -> float | None:
        """As the cases so far took; None if there are no more."""
        waiting = self._of - self._kept - self._done
        return (now - self._started) / self._done * waiting if waiting > 0 else None

    def _draw(self, line: str) -> None:
        # The last column stays free: some terminals go to a new line when it is filled.
        width = self._screen.width - 1
        self._stream.write(f"\r{padded(shortened(line, width, '...'), width)}")
        self._stream.flush()


def _duration(seconds: float) -> str:
    """The two largest units of a time: `1h 5m`, `2m 10s`, `9s`."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours}h {minutes}m"
    return f"{minutes}m {rest}s" if minutes else f"{rest}s"
