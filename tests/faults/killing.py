"""A run that is killed at random moments and resumed until it ends; what it must then be."""

from __future__ import annotations

import json
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

_SUITES = """\
suite: many
eval:
  criteria:
    - "echo (1): Says what was said"
    - "length (2): Says enough"
  test_cases:
    - for_each: many.jsonl
      name: c
      message: "many {{n}}"
      validate:
        - contains "{{n}}" for echo
        - length >= 9 chars for length
---
suite: others
eval:
  test_cases:
    - {name: skipped, message: no, skip: "not now", validate: [non-empty]}
    - for_each: few.jsonl
      name: c
      message: "others {{n}}"
      repeat: 2
      require: 1
      validate: [contains "1"]
    - {name: broken, message: others broken, validate: [non-empty]}
    - {name: archived, message: no, archived: "gone", validate: [non-empty]}
"""

_AGENT = """\
import os
log = os.open("asked.log", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
async def answer(message):
    os.write(log, message.encode() + b"\\n")
    if message.endswith("broken"):
        raise ValueError("broken")
    return message
"""

_FEW = 100

_LIMITED = """\
import os, resource, sys
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[1]),) * 2)
os.execv(sys.argv[2], sys.argv[2:])
"""


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    """A project with two suites, and an agent that writes down what it is asked."""

    folder: Path

    @property
    def results(self) -> Path:
        """Where the runs' folders are."""
        return self.folder / "results"

    def start(
        self, *arguments: str, largest_file: int | None = None, stdout: int | None = None
    ) -> subprocess.Popen[bytes]:
        """Begin `evalc run` with these arguments; `largest_file` is how many bytes any file may have."""
        command = [sys.executable, "-m", "evalc", "run", "--output-dir", "results", *arguments]
        log = (self.folder / "output.log").open("ab")
        if largest_file is not None:
            command = [sys.executable, "-c", _LIMITED, str(largest_file), *command]
        with log:
            return subprocess.Popen(command, cwd=self.folder, stdout=log if stdout is None else stdout, stderr=log)

    def begin(
        self, *arguments: str, largest_file: int | None = None, stdout: int | None = None
    ) -> subprocess.Popen[bytes]:
        """Begin the run anew."""
        return self.start(
            "many.eval.yaml", "--agent", "python:asked:answer", "--concurrency", "4", *arguments,
            largest_file=largest_file, stdout=stdout,
        )  # fmt: skip

    def asked(self) -> list[str]:
        """The messages that the agent got so far, in order."""
        log = self.folder / "asked.log"
        return log.read_text().splitlines() if log.exists() else []

    def output(self) -> str:
        """The output of the commands."""
        return (self.folder / "output.log").read_text()


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """How killing went: how many kills met a living process, what was wrong, and how often the agent was asked."""

    landed: int
    wrong: tuple[str, ...]
    asked: int


def make_site(folder: Path, cases: int) -> Site:
    """Write the project, with so many cases in all."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "evalc.toml").write_text("")
    (folder / "many.eval.yaml").write_text(_SUITES)
    for name, count in (("many", cases - _FEW - 3), ("few", _FEW)):
        (folder / f"{name}.jsonl").write_text("".join(f'{{"id": "r{n}", "n": {n}}}\n' for n in range(count)))
    (folder / "asked.py").write_text(_AGENT)
    return Site(folder=folder)


def finished(folder: Path) -> dict[str, Any]:
    """The results of a finished run, without what differs from run to run: ids and durations."""
    (run,) = folder.glob("*/")
    results = {file.name: json.loads(file.read_bytes()) for file in sorted(run.glob("*.json"))}
    for result in results.values():
        del result["runId"], result["timestamp"], result["summary"]["totalDurationMs"]
        for case in result["cases"]:
            for timed in (case, *case.get("attempts", ())):
                del timed["durationMs"]
    return results


def journaled(journal: Path) -> list[tuple[int, int]]:
    """The cases whose lines a journal holds whole."""
    whole, _, _ = journal.read_bytes().rpartition(b"\n")
    return [(line["suite"], line["case"]) for line in map(json.loads, whole.splitlines()[1:])]


def kill_until_finished(site: Site, draw: random.Random, seconds: float, kills: int) -> Outcome:
    """Run the suite and kill it as often as said, each time at a random moment of `seconds`; then let it end."""
    done: set[str] = set()
    wrong: list[str] = []
    landed = asked = 0
    process = site.begin()
    for _ in range(kills):
        journal = awaited_journal(site, process)
        time.sleep(draw.uniform(0, seconds))  # the random moment
        landed += process.poll() is None
        process.send_signal(signal.SIGKILL)
        process.wait()
        wrong += _asked_again(site, asked, done)
        asked = len(site.asked())
        done = {message for case in journaled(journal) for message in _message_of(*case)}
        process = site.start("--resume", "latest")
    code = process.wait()
    wrong += _asked_again(site, asked, done)
    if code != 3:  # one case is broken
        wrong.append(f"it ended with {code}: {site.output()[-500:]}")
    cases = journaled(awaited_journal(site, process))
    wrong += [f"{case} has {count} lines" for case, count in Counter(cases).items() if count > 1]
    return Outcome(landed=landed, wrong=tuple(wrong), asked=len(site.asked()))


def awaited_journal(site: Site, process: subprocess.Popen[bytes]) -> Path:
    """The journal of the only run, once it has its header."""
    while True:
        for journal in site.results.glob("*/journal.jsonl"):
            if b"\n" in journal.read_bytes():
                return journal
        if process.poll() is not None:
            raise AssertionError(f"the run ended before it began: {site.output()}")
        time.sleep(0.002)


def _message_of(suite: int, case: int) -> Iterator[str]:
    """The messages of a case; a skipped one has none."""
    if suite == 0:
        yield f"many {case}"
    elif 1 <= case <= _FEW:
        yield f"others {case - 1}"
    elif case == _FEW + 1:
        yield "others broken"


def _asked_again(site: Site, since: int, done: set[str]) -> list[str]:
    """Messages that were sent although their case was journaled before."""
    return [f"`{message}` was asked again" for message in site.asked()[since:] if message in done]
