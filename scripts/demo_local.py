"""Lets a model on this machine answer, judge and play a user: `make demo-local`.

Neither a key nor the network is needed once it is installed. Exits with 0 if both runs came to their end and no agent
broke: which answers so small a model gets right, and what it says of them, is not for this command to decide. As a
user it may end its case in error, since evalc refuses what such a user could not say.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).parents[1]
ANSWERING: Final = ("run", "examples/local/short-answers.eval.yaml", "--agent", "local", "--judge", "local")
PLAYING: Final = (
    *("run", "examples/local/guest.eval.yaml"),
    *("--agent", "python:examples.conversations.desk:Desk", "--user", "local"),
)
PATIENTLY: Final = ("--config", "examples/local/evalc.toml", "--verbose")
BROKE: Final = 3


def main() -> int:
    """Run the suites, and show what the model said."""
    answers = run(ANSWERING)
    if answers is None:
        return BROKE
    print("\nWhat the model judged:")
    for case in cases_of(answers):
        for criterion in case.get("criteria") or ():
            judged = criterion.get("judged") or {}
            print(f"  {case['id']}, {criterion['name']}: {judged.get('score')} of 5, {judged.get('reason')!r}")
    print("\nThe model as a user, who wants a room:")
    conversations = run(PLAYING, worst=BROKE)
    if conversations is None:
        return BROKE
    print("\nA model of 135 million parameters answers, judges and plays badly; name any other: local:MODEL.gguf")
    return 0


def run(command: Sequence[str], worst: int = 1) -> Mapping[str, Any] | None:
    """The report of a run; None if its exit code is worse than this one."""
    print(f"$ evalc {' '.join(command)}", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "report.json"
        ended = subprocess.run(
            [sys.executable, "-m", "evalc", *command, *PATIENTLY, "--output-dir", folder, "--output", str(file)],
            cwd=ROOT,
            check=False,
        )
        if ended.returncode > worst:
            return None
        report: Mapping[str, Any] = json.loads(file.read_text(encoding="utf-8"))
        return report


def cases_of(report: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """The cases of all suites."""
    return (case for suite in report["suites"] for case in suite["cases"])


if __name__ == "__main__":
    sys.exit(main())
