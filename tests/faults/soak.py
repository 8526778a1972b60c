"""Kills a run of 2,000 cases with SIGKILL at 100 random moments, resumes it until it ends, and notes what came of it.

    python -m tests.faults.soak [KILLS]

SOAK_SECONDS in the environment sets how long to go on, instead of how many kills. The result stands in
`benchmarks/results/soak.md`; with anything wrong the exit status is 1.
"""

from __future__ import annotations

import os
import platform
import random
import sys
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path

from tests.faults.killing import finished, kill_until_finished, make_site

CASES = 2_000
KILLS_A_RUN = 4
SEED = 20_261_122
RESULTS = Path(__file__).parents[2] / "benchmarks" / "results" / "soak.md"


def main() -> int:
    """Soak, and say how it went."""
    kills = float(sys.argv[1]) if len(sys.argv) > 1 else 100
    if "SOAK_SECONDS" in os.environ:
        kills = float("inf")
    end = time.monotonic() + float(os.environ.get("SOAK_SECONDS", "inf"))
    draw = random.Random(SEED)
    landed = runs = asked = 0
    wrong: list[str] = []
    with tempfile.TemporaryDirectory() as folder:
        whole = make_site(Path(folder) / "whole", CASES)
        started = time.perf_counter()
        whole.begin().wait()
        seconds = time.perf_counter() - started
        expected = finished(whole.results)
        while landed < kills and time.monotonic() < end:
            runs += 1
            site = make_site(Path(folder) / str(runs), CASES)
            outcome = kill_until_finished(site, draw, seconds / 2, int(min(KILLS_A_RUN, kills - landed)))
            landed += outcome.landed
            asked += outcome.asked
            wrong += outcome.wrong
            if finished(site.results) != expected:
                wrong.append(f"run {runs}: its results are not those of the undisturbed run")
            print(f"{landed} of {kills:g} kills, {runs} runs, {len(wrong)} wrong", flush=True)
        undisturbed = runs * len(whole.asked())
    RESULTS.write_text(_page(landed, runs, seconds, asked - undisturbed, wrong))
    print("\n".join(wrong))
    return 1 if wrong else 0


def _page(landed: int, runs: int, seconds: float, again: int, wrong: list[str]) -> str:
    machine = f"{os.cpu_count()} cores, {platform.system()}, Python {platform.python_version()}"
    return f"""\
# Killed and resumed

`make soak`, on {datetime.now(UTC):%Y-%m-%d}, {machine}:

| | |
|---|---|
| cases a run | {CASES} |
| time of an undisturbed run, whole process | {seconds:.1f} s |
| kills (SIGKILL) that met a living process, at random moments (seed {SEED}) | {landed} |
| runs, each resumed after every kill until it ended | {runs} |
| cases lost, doubled or asked again after they were journaled, and runs that ended differently | {len(wrong)} |
| requests on top of those of undisturbed runs, for cases that were under way at a kill | {again} |
"""


if __name__ == "__main__":
    sys.exit(main())
