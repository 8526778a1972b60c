"""Tells where the time of a run goes, part by part: `python -m benchmarks.where FILE`.

Every few milliseconds of processor time, it notes the part of evalc that the innermost function of evalc on the stack
belongs to. A library's time counts for the part that called it; the event loop's, which no part called, for itself.
"""

from __future__ import annotations

import signal
import sys
import time
from collections import defaultdict
from pathlib import Path
from types import FrameType
from typing import Final

import evalc

EVERY: Final = 0.001
"""Seconds of processor time between two looks, where the system looks so often."""
IMPORTS: Final = "imports"
LOOP: Final = "the event loop"
_PACKAGE: Final = str(Path(evalc.__file__).parent)


def main() -> None:
    """Run the suite; then print the milliseconds of each part, a line each, to standard error."""
    took: defaultdict[str, float] = defaultdict(float)
    last = time.process_time()

    def look(_number: int, frame: FrameType | None) -> None:
        nonlocal last
        now = time.process_time()
        took[_part_of(frame)] += now - last
        last = now

    signal.signal(signal.SIGPROF, look)
    signal.setitimer(signal.ITIMER_PROF, EVERY, EVERY)
    sys.argv = ["evalc", "run", *sys.argv[1:], "--quiet"]
    from evalc.cli.app import command_line  # noqa: PLC0415 - its imports are part of what is measured

    try:
        command_line("run")()
    except SystemExit as end:
        if end.code:
            raise
    signal.setitimer(signal.ITIMER_PROF, 0)
    for part, seconds in sorted(took.items(), key=lambda item: -item[1]):
        print(f"{seconds * 1e3:.0f} {part}", file=sys.stderr)  # standard output was the run's


def _part_of(frame: FrameType | None) -> str:
    """The part of evalc that a stack is in: a folder, of the runtime one of its rooms."""
    part: str | None = None
    while frame is not None:
        file = frame.f_code.co_filename
        if "importlib" in file:
            return IMPORTS
        if part is None and file.startswith(_PACKAGE):
            folders = Path(file[len(_PACKAGE) + 1 :]).parts[:-1]
            part = "/".join(folders[: 2 if folders[:1] == ("runtime",) else 1])
        frame = frame.f_back
    return part or LOOP


if __name__ == "__main__":
    main()
