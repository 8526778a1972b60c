"""Writes `benchmarks/results/run.md` and `docs/speed.svg`: what a whole run takes, beside the peers.

    python -m benchmarks.run [--million]

Whole processes, from a cold start, in turn, with results on disk: `evalc run` of 1,000 to 100,000 cases in each form,
and the same cases with each peer (`benchmarks/peers.py`). The agent is an async function in the process that answers at
once. A ratio is that of the medians of three, by the clock.
"""

from __future__ import annotations

import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from typing import Final, NamedTuple

from benchmarks import peers
from benchmarks.check import machine
from benchmarks.suites import AGENT, write_trivial_suite

RESULTS: Final = Path(__file__).parent / "results" / "run.md"
PLOT: Final = Path(__file__).parents[1] / "docs" / "speed.svg"
ROUNDS: Final = 3
SIZES: Final = (1_000, 10_000, 100_000)
COMPARED: Final = 10_000

CONFIGURATION: Final = 'agentEndpoint = "python:answering:answer"\n'

TABLE: Final = """\
suite: table
eval:
  test_cases:
    - name: row
      message: "{{{{question}}}}"
      for_each: {{file: {file}, key: id}}
      validate:
        - 'contains "{{{{question}}}}"'
        - 'not contains "{{{{never}}}}"'
        - length 5..200 chars
"""


LIMITS: Final = """\
## Why it is not faster

The goals are a tenth of the time that pydantic-evals takes from YAML, and a twentieth from JSON. Neither is met. Of
1.44 s of processor time of a run from YAML, 0.20 s go into the start, 0.55 s into compiling, 0.13 s into lowering and
hashing, 0.47 s into the cases and 0.09 s into results and the end. There is no peak: no function takes more than 5 %.
A case passes through about 220 calls, each of which makes, checks or writes something that the result needs.

What helped last (10,000 cases, in turn with the version before):

- Asking a case only for what it has, and making its record once: it passes through 219 calls in place of 763, and a run
  takes half the processor time.
- Taking the first step of an agent's task at once, leaving the process without taking apart what it holds, and
  declaring records as structs rather than dataclasses: a run takes a fifth less, one of one case a third.
- Looking through the cases as they are made, rather than when all are there, and fewer calls for a check that stands
  as it was written: `evalc check` takes a third less, a run from YAML a tenth.
- Making the rows of a table twice in place of three times: a run of a table takes 30 % less. Examining the patterns
  that rows fill by their shape: `evalc check` of a table with a pattern takes a third of the time.

What was tried without enough to show for it:

- Compiling the 21 busiest modules of the compiler with mypyc: `evalc check` takes 8 to 12 % less, for wheels that
  would have to be built for each platform and Python.
- Importing less before a run: of the 170 modules that `run` imports beyond those of `check`, the ones that a Python
  agent does not need take 15 ms together.
"""
"""Obstacles to the goals, written by hand."""


class Cost(NamedTuple):
    """The cost of a process: seconds by the clock, and the megabytes of its largest process at its peak."""

    seconds: float
    megabytes: float


def main() -> None:
    """Measure, and write the results down."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "answering.py").write_text(AGENT)
        (folder / "evalc.toml").write_text(CONFIGURATION)
        measure = _Measuring(folder)
        files = {form: {cases: write(folder, cases) for cases in SIZES} for form, write in FORMS.items()}
        commands = {f"evalc, {form}": measure.run_of(files[form][COMPARED]) for form in FORMS}
        compared = measure.in_turn({**commands, **peers.commands(folder, COMPARED)})
        growth = {
            form: {
                cases: compared[f"evalc, {form}"]
                if cases == COMPARED
                else [measure.cost(measure.run_of(files[form][cases]))]
                for cases in SIZES
            }
            for form in FORMS
        }
        parts = {form: measure.parts_of(files[form][COMPARED]) for form in PROFILED}
        million = measure.cost(measure.run_of(_table(folder, 1_000_000))) if "--million" in sys.argv else None
    RESULTS.write_text(_report(compared, growth, parts, million), encoding="utf-8")
    PLOT.write_text(_plot({name: _seconds(costs) for name, costs in compared.items()}), encoding="utf-8")
    print(RESULTS.read_text(encoding="utf-8"))


def _yaml(folder: Path, cases: int) -> Path:
    file = folder / f"yaml-{cases}.eval.yaml"
    write_trivial_suite(file, cases)
    return file


def _json(folder: Path, cases: int) -> Path:
    """The same suite as `evalc compile` writes it."""
    out = folder / f"compiled-{cases}"
    command = [sys.executable, "-m", "evalc", "compile", str(_yaml(folder, cases)), "-o", str(out)]
    subprocess.run(command, check=True, capture_output=True)
    (file,) = out.glob("*.json")
    return file


def _without_newline(folder: Path, cases: int) -> Path:
    file = folder / f"bare-{cases}.labeled.json"
    file.write_bytes(_json(folder, cases).read_bytes().rstrip())
    return file


def _table(folder: Path, cases: int) -> Path:
    with (folder / f"rows-{cases}.jsonl").open("w") as rows:
        for n in range(cases):
            row = {"id": f"r{n}", "question": f"question number {n}", "never": f"sorry {n}"}
            rows.write(json.dumps(row) + "\n")
    file = folder / f"table-{cases}.eval.yaml"
    file.write_text(TABLE.format(file=f"rows-{cases}.jsonl"))
    return file


PROFILED: Final = ("YAML", "compiled JSON")
FORMS: Final[dict[str, Callable[[Path, int], Path]]] = {
    "YAML": _yaml,
    "compiled JSON": _json,
    "JSON without a newline at its end": _without_newline,
    "a table of JSON Lines": _table,
}


class _Measuring:
    """Runs commands in a folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
        self._environment = {**kept, "PYTHONPYCACHEPREFIX": str(folder / "pycache")}

    def run_of(self, file: Path) -> Sequence[str]:
        """The command that runs a suite."""
        return [
            sys.executable,
            "-m",
            "evalc",
            "run",
            str(file),
            "--quiet",
            "--output-dir",
            str(self._folder / "results"),
        ]

    def in_turn(self, commands: dict[str, Sequence[str]]) -> dict[str, list[Cost]]:
        """The costs of the commands, run in turn, so that a busy moment of the machine touches all of them."""
        for command in commands.values():
            self.cost(command)  # files and compiled modules are then in memory
        rounds = [{name: self.cost(command) for name, command in commands.items()} for _ in range(ROUNDS)]
        return {name: [costs[name] for costs in rounds] for name in commands}

    def parts_of(self, file: Path) -> dict[str, int]:
        """The milliseconds that each part of evalc takes of a run, the greatest first."""
        command = [sys.executable, "-m", "benchmarks.where", str(file), "--output-dir", str(self._folder / "results")]
        environment = {**self._environment, "PYTHONPATH": str(Path(__file__).parents[1])}
        done = subprocess.run(command, cwd=self._folder, env=environment, check=True, capture_output=True, text=True)
        shutil.rmtree(self._folder / "results")
        lines = (line.partition(" ") for line in done.stderr.splitlines() if line[:1].isdigit())
        return {part: int(milliseconds) for milliseconds, _, part in lines}

    def cost(self, command: Sequence[str]) -> Cost:
        """The cost of a command. A peer whose report says that all passed has done its work, however it ends."""
        said = self._folder / "said.txt"
        started = time.perf_counter()
        with said.open("wb") as output:
            process = subprocess.Popen(
                command, cwd=self._folder, env=self._environment, stdout=output, stderr=subprocess.STDOUT
            )
            peak = 0.0
            while process.poll() is None:
                peak = max(peak, *(_resident(pid) for pid in (process.pid, *_children(process.pid))))
                time.sleep(0.01)
        seconds = time.perf_counter() - started
        for left in ("results", "logs", "promptfoo"):  # each run begins without what the last one has kept
            shutil.rmtree(self._folder / left, ignore_errors=True)
        printed = said.read_text(errors="replace")
        if process.returncode and peers.ALL_PASSED not in printed:
            raise SystemExit(f"{command} ended with {process.returncode}:\n{printed[-2_000:]}")
        return Cost(seconds, peak)


def _children(pid: int) -> list[int]:
    try:
        return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except OSError:
        return []


def _resident(pid: int) -> float:
    """The megabytes that a process has had at most; 0 where the system does not say."""
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return 0.0
    lines = (line.split() for line in status.splitlines() if line.startswith("VmHWM:"))
    return next((int(kilobytes) / 1e3 for _, kilobytes, *_ in lines), 0.0)


def _report(
    compared: dict[str, list[Cost]],
    growth: dict[str, dict[int, list[Cost]]],
    parts: dict[str, dict[str, int]],
    million: Cost | None,
) -> str:
    yaml = _seconds(compared["evalc, YAML"])
    lines = [
        "<!-- Written by `make bench-run` (benchmarks/run.py). -->",
        "# What a run costs",
        "",
        f"{datetime.now(UTC):%d %B %Y}, {machine()}.",
        "",
        f"Whole processes from a cold start, run in turn, with results on disk; medians of {ROUNDS}, least to greatest",
        f"in brackets. {COMPARED:,} cases of three checks, an async agent in the process that answers at once. The",
        "peers run with their defaults.",
        "",
        "| what | seconds | times evalc from YAML |",
        "|---|---:|---:|",
        *(
            f"| {name} | {_seconds(costs):.2f} ({_spread(costs)}) | {_seconds(costs) / yaml:.1f} |"
            for name, costs in compared.items()
        ),
        "",
        "## Growth",
        "",
        "Milliseconds for each case, start-up included, and the peak of memory:",
        "",
        f"| form | {' | '.join(f'{cases:,}' for cases in SIZES)} |",
        f"|---|{'---:|' * len(SIZES)}",
        *(
            f"| {form} | "
            + " | ".join(
                f"{1e3 * _seconds(costs) / cases:.3f} ({max(cost.megabytes for cost in costs):.0f} MB)"
                for cases, costs in sizes.items()
            )
            + " |"
            for form, sizes in growth.items()
        ),
        "",
        "Milliseconds for each further case, so without start-up:",
        "",
        f"| form | {' | '.join(f'{less:,} to {more:,}' for less, more in pairwise(SIZES))} |",
        f"|---|{'---:|' * (len(SIZES) - 1)}",
        *(
            f"| {form} | "
            + " | ".join(
                f"{1e3 * (_seconds(sizes[more]) - _seconds(sizes[less])) / (more - less):.3f}"
                for less, more in pairwise(SIZES)
            )
            + " |"
            for form, sizes in growth.items()
        ),
        "",
        "## Where the time goes",
        "",
        f"Milliseconds of processor time for {COMPARED:,} cases, by the part of evalc that is at work, or for which a",
        "library is (`python -m benchmarks.where FILE`; one run each, looked at every few milliseconds):",
        "",
        f"| part | {' | '.join(parts)} |",
        f"|---|{'---:|' * len(parts)}",
        *(
            f"| {part} | {' | '.join(f'{took.get(part, 0)}' for took in parts.values())} |"
            for part in dict.fromkeys(part for took in parts.values() for part in took)
        ),
    ]
    lines += ["", *LIMITS.splitlines()]
    if million is not None:
        lines += [
            "",
            "## A million rows",
            "",
            f"1,000,000 rows of a table: {million.seconds:.0f} s, {million.megabytes:.0f} MB at the peak.",
        ]
    return "\n".join(lines) + "\n"


def _seconds(costs: Sequence[Cost]) -> float:
    return statistics.median(cost.seconds for cost in costs)


def _spread(costs: Sequence[Cost]) -> str:
    seconds = [cost.seconds for cost in costs]
    return f"{min(seconds):.2f} to {max(seconds):.2f}"


def _plot(seconds: dict[str, float]) -> str:
    """A bar for each command, as SVG that follows the reader's light or dark theme."""
    left, right, height = 300, 420, 26
    scale = right / max(seconds.values())
    bars = []
    for row, (name, value) in enumerate(seconds.items()):
        y, kind = 16 + row * height, "evalc" if name.startswith("evalc") else "peer"
        bars += [
            f'<text x="{left - 10}" y="{y + 13}" text-anchor="end">{name.replace("`", "")}</text>',
            f'<rect class="{kind}" x="{left}" y="{y}" width="{max(1.0, value * scale):.1f}" height="18" rx="2"/>',
            f'<text x="{left + value * scale + 8:.1f}" y="{y + 13}">{value:.1f} s</text>',
        ]
    style = (
        "text{font:13px system-ui,sans-serif;fill:#1f2328}.evalc{fill:#0969da}.peer{fill:#8c959f}"
        "@media(prefers-color-scheme:dark){text{fill:#e6edf3}.evalc{fill:#4493f8}.peer{fill:#6e7681}}"
    )
    size = f'width="{left + right + 80}" height="{24 + len(seconds) * height}"'
    title = f"Seconds for {COMPARED:,} cases, whole process"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" aria-label="{title}">\n'
        f"<title>{title}</title>\n<style>{style}</style>\n" + "\n".join(bars) + "\n</svg>\n"
    )


if __name__ == "__main__":
    main()
