"""From cases as they finish to one line on a terminal that says how far a run is, or a line a suite elsewhere."""

from __future__ import annotations

import time
from types import TracebackType
from typing import Self, TextIO, final

from evalc.model.result import CaseResult, SkippedCase
from evalc.model.suite import Suite
from evalc.terminal import Screen, padded, shortened, visible

_SECONDS_BETWEEN_DRAWINGS = 0.1


@final
class Progress:
    """Observes a run; the line is gone when the block ends.

    Args:
        stream: where to write, standard error.
        screen: what it can show.
        drawn: whether to draw a line and draw it again, as a terminal can.
    """

    def __init__(self, stream: TextIO, screen: Screen, *, drawn: bool) -> None:
        self._stream = stream
        self._screen = screen
        self._drawn = drawn
        self._last_drawing = 0.0
        self._done = 0
        self._not_passed = 0
        self._of = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._drawn:
            self._stream.write(f"\r{' ' * (self._screen.width - 1)}\r")
            self._stream.flush()

    def suite_started(self, suite: Suite) -> None:
        """A suite's first case is about to be sent."""
        self._of += suite.size
        if not self._drawn:
            self._stream.write(f"running {visible(suite.title)}: {suite.size} case{'' if suite.size == 1 else 's'}\n")

    def loading(self, name: str, size: int) -> None:
        """A model of so many bytes is being loaded, which may take a while."""
        if self._drawn:
            self._draw(f"loading {visible(name)} ({size / 1e6:.0f} MB)")

    def cases_kept(self, suite: Suite, count: int) -> None:  # noqa: ARG002 - whichever it is
        """Cases were done before the run was resumed: there are fewer to wait for."""
        self._of -= count

    def case_finished(self, suite: Suite, result: CaseResult) -> None:
        """A case has its result."""
        self._done += 1
        self._not_passed += not result.passed
        if self._drawn and (now := time.monotonic()) - self._last_drawing >= _SECONDS_BETWEEN_DRAWINGS:
            self._last_drawing = now
            self._draw(f"{self._done}/{self._of} cases, {self._not_passed} failed, {visible(suite.tool_name)}")

    def case_skipped(self, suite: Suite, skipped: SkippedCase) -> None:  # noqa: ARG002 - whichever it is
        """A case is not run: there is one less to wait for."""
        self._of -= 1

    def suite_finished(self, suite: Suite, finished: object) -> None:
        """A suite's result is written: the report tells it."""

    def _draw(self, line: str) -> None:
        # The last column stays free: some terminals go to a new line when it is filled.
        width = self._screen.width - 1
        self._stream.write(f"\r{padded(shortened(line, width, '...'), width)}")
        self._stream.flush()
