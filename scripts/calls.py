"""Counts the Python calls that a case costs: `python scripts/calls.py` prints them by file, for `check` and for `run`.

The case has three trivial checks, and an async agent in the process answers at once. What a case costs is the
difference between suites of two sizes. A call is what `sys.setprofile` calls one: a function of Python that is entered,
or a coroutine or generator that goes on.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from math import inf
from pathlib import Path
from types import FrameType
from typing import Any, Final

ROOT: Final = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from benchmarks.suites import AGENT, write_trivial_suite  # noqa: E402 - scripts have no packages

SIZES: Final = (100, 600)
COMMANDS: Final = {"check": (), "run": ("--quiet", "--agent", "python:answering:answer", "--output-dir", "results")}


def calls_of(command: str) -> Counter[str]:
    """The calls that a command makes for the cases by which the second suite is larger, by `file:function`."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "answering.py").write_text(AGENT, encoding="utf-8")
        few, many = (_counted(command, cases, folder) for cases in SIZES)
    many.subtract(few)
    return many


def _counted(command: str, cases: int, folder: Path) -> Counter[str]:
    suite, counts = folder / f"{cases}.eval.yaml", folder / "counts.json"
    write_trivial_suite(suite, cases)
    arguments = [command, suite.name, *COMMANDS[command]]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    process = [sys.executable, __file__, str(counts), *arguments]
    subprocess.run(process, cwd=folder, env=environment, check=True, stdout=subprocess.DEVNULL)
    return Counter(json.loads(counts.read_text(encoding="utf-8")))


def _count(counts: Path, arguments: list[str]) -> None:
    """Run a command in this process, where it neither forks nor ends the process, and write down its calls."""
    from evalc.cli.app import command_line  # noqa: PLC0415 - what is imported before the command is not counted
    from evalc.runtime.run import engine  # noqa: PLC0415 - as above

    vars(engine)["_YIELD_SECONDS"] = inf  # the turns that a slow machine gives to others are no calls of a case
    called: Counter[str] = Counter()

    def profile(frame: FrameType, event: str, _: Any) -> None:
        if event == "call":
            file = frame.f_code.co_filename.removeprefix(f"{ROOT}/evalc/")
            called[f"{file}:{frame.f_code.co_qualname}"] += 1

    sys.argv = ["evalc", *arguments]
    sys.setprofile(profile)
    try:
        command_line(arguments[0])()
    except SystemExit as end:
        if end.code:
            raise
    finally:
        sys.setprofile(None)
    counts.write_text(json.dumps(called), encoding="utf-8")


def main() -> None:
    """Print the calls of a case, by file and function."""
    for command in COMMANDS:
        cases = SIZES[1] - SIZES[0]
        called = calls_of(command)
        print(f"{command}: {called.total() / cases:.1f} calls a case")
        files: Counter[str] = Counter()
        for name, count in called.items():
            files[name.partition(":")[0]] += count
        for file, count in files.most_common():
            if count / cases >= 0.5:
                parts = [
                    (name.partition(":")[2], n / cases)
                    for name, n in called.most_common()
                    if name.startswith(f"{file}:")
                ]
                print(f"{count / cases:7.1f} {file}: ", ", ".join(f"{part} {n:.1f}" for part, n in parts if n >= 0.3))


if __name__ == "__main__":
    if sys.argv[1:]:
        _count(Path(sys.argv[1]), sys.argv[2:])
    else:
        main()
