"""Writes `benchmarks/results/check.md`: what `evalc check` of generated suites takes, beside a bare YAML loader.

    python -m benchmarks.check

Whole processes, from a cold start, in turn: `evalc check FILE`, and a process that composes the same file to
positioned nodes with PyYAML's C loader, its garbage collector off. A ratio is that of the medians, by the
clock.
"""

from __future__ import annotations

import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, NamedTuple, get_args

from benchmarks.editor import section
from benchmarks.suites import Form, write_suite

RESULTS: Final = Path(__file__).parent / "results" / "check.md"
ROUNDS: Final = 9
SIZES: Final = (1_000, 10_000, 100_000)
GOALS: Final[dict[Form, float]] = {"mapping": 2.0, "one-line": 3.0}

# Compiled modules are kept, as wherever a program is installed, whatever the environment of the benchmark says.
_CACHE: Final = tempfile.TemporaryDirectory(prefix="pycache-")
_ENVIRONMENT: Final = {
    **{name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"},
    "PYTHONPYCACHEPREFIX": _CACHE.name,
}

COMPOSE: Final = "import gc, sys, yaml; gc.disable(); yaml.compose(open(sys.argv[1], encoding='utf-8'), yaml.CLoader)"
CHECK: Final = ("-m", "evalc", "check")
PASS: Final = ("-c", "pass")


class Cost(NamedTuple):
    """The cost of a command: seconds by the clock and of processors, and its largest process in megabytes."""

    seconds: float
    processor: float
    megabytes: float


class Row(NamedTuple):
    """A suite, and what checking and composing it took."""

    form: Form
    cases: int
    megabytes: float
    check: Cost
    compose: Cost


def main() -> None:
    """Measure, and write the results down."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        small = folder / "small.eval.yaml"
        write_suite(small, 3, "mapping")
        starts = _in_turn([(*CHECK, str(small)), PASS], ROUNDS * 2)
        rows = [_row(folder, form, cases) for form in get_args(Form) for cases in SIZES]
    RESULTS.write_text(f"{_report(rows, *starts).rstrip()}\n\n{section()}", encoding="utf-8")
    print(RESULTS.read_text(encoding="utf-8"))


def _row(folder: Path, form: Form, cases: int) -> Row:
    suite = folder / f"{form}-{cases}.eval.yaml"
    write_suite(suite, cases, form)
    rounds = ROUNDS if cases <= 10_000 else 1
    check, compose = _in_turn([(*CHECK, str(suite)), ("-c", COMPOSE, str(suite))], rounds)
    return Row(form, cases, suite.stat().st_size / 1e6, check, compose)


def _in_turn(commands: list[tuple[str, ...]], rounds: int) -> list[Cost]:
    """The medians of commands that are run in turn, so that a busy moment of the machine touches all of them."""
    costs: list[list[Cost]] = [[] for _ in commands]
    if rounds > 1:
        for command in commands:
            _run(command)  # files and compiled modules are then in memory
    for _ in range(rounds):
        for command, seen in zip(commands, costs, strict=True):
            seen.append(_run(command))
    return [Cost(*map(statistics.median, zip(*seen, strict=True))) for seen in costs]


def _run(arguments: tuple[str, ...]) -> Cost:
    started = time.perf_counter()
    process = subprocess.Popen([sys.executable, *arguments], stdout=subprocess.DEVNULL, env=_ENVIRONMENT)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{arguments} ended with {process.returncode}")
    unit = 1e6 if sys.platform == "darwin" else 1e3
    return Cost(time.perf_counter() - started, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / unit)


def _report(rows: list[Row], small: Cost, nothing: Cost) -> str:
    lines = [
        "<!-- Written by `make bench` (benchmarks/check.py). -->",
        "# What `evalc check` costs",
        "",
        f"{datetime.now(UTC):%d %B %Y}, {machine()}.",
        "",
        f"Whole processes from a cold start, run in turn; medians of {ROUNDS} (100,000 cases: one run). The peer",
        "composes the same file to positioned nodes with PyYAML's C loader, its collector off, and does nothing else:",
        f'`python -c "{COMPOSE}" FILE`. Each case has three checks; no two checks of a suite are the same.',
        "",
        "Both are one process. The first ratio is by the clock, the second by processor time.",
        "",
        "| form | cases | file | `evalc check` | peer | ratio | goal | processor | peer | ratio | memory | peer |",
        "|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|",
        *map(_line, rows),
        "",
        "## Growth",
        "",
        "Milliseconds for each case, start-up included:",
        "",
        f"| form | {' | '.join(f'{cases:,}' for cases in SIZES)} |",
        f"|---|{'---:|' * len(SIZES)}",
        *(_growth([row for row in rows if row.form == form]) for form in get_args(Form)),
        "",
        "## Start-up",
        "",
        _start_up(small, nothing),
        "",
    ]
    return "\n".join(lines)


def machine() -> str:
    """The interpreter and the machine, and how busy it was."""
    system = f"Python {platform.python_version()}, {platform.system()} {platform.machine()}, {os.cpu_count()} cores"
    return f"{system}, load average at the end {os.getloadavg()[0]:.1f}"


def _start_up(small: Cost, nothing: Cost) -> str:
    return (
        f"`evalc check` of a suite of three cases: {small.seconds * 1e3:.0f} ms, "
        f"{small.seconds / nothing.seconds:.1f} times `python -c pass` ({nothing.seconds * 1e3:.0f} ms); "
        "the goal is 13 times."
    )


def _line(row: Row) -> str:
    check, compose = row.check, row.compose
    goal = f"{GOALS[row.form]:.0f}" if row.cases == 10_000 else ""
    return (
        f"| {row.form} | {row.cases:,} | {row.megabytes:.1f} MB | {check.seconds:.2f} s | {compose.seconds:.2f} s | "
        f"{check.seconds / compose.seconds:.2f} | {goal} | {check.processor:.2f} s | {compose.processor:.2f} s | "
        f"{check.processor / compose.processor:.2f} | {check.megabytes:.0f} MB | {compose.megabytes:.0f} MB |"
    )


def _growth(rows: list[Row]) -> str:
    each = (f"{row.check.seconds * 1e3 / row.cases:.3f}" for row in rows)
    return f"| {rows[0].form} | {' | '.join(each)} |"


if __name__ == "__main__":
    main()
