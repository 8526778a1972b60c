"""From a small suite to real answers and real judgements by a model on this machine: `make demo-local`.

Neither a key nor the network is needed once it is installed. Exits with 0 where the run came to its end and no case
broke: which answers so small a model gets right, and what it says of them, is not for this command to decide.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[1]
RUN: Final = ("run", "examples/local", "--agent", "local", "--judge", "local")
PATIENTLY: Final = ("--config", "examples/local/evalc.toml", "--no-judge-cache", "--verbose")
BROKE: Final = 3


def main() -> int:
    """Run the suite, and show what the model said."""
    print(f"$ evalc {' '.join(RUN)}", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "report.json"
        ended = subprocess.run(
            [sys.executable, "-m", "evalc", *RUN, *PATIENTLY, "--output-dir", folder, "--output", str(file)],
            cwd=ROOT,
            check=False,
        )
        if ended.returncode > 1:
            return BROKE
        report = json.loads(file.read_text(encoding="utf-8"))
    print("\nWhat the model judged:")
    for case in (case for suite in report["suites"] for case in suite["cases"]):
        for criterion in case.get("criteria") or ():
            judged = criterion.get("judged") or {}
            print(f"  {case['id']}, {criterion['name']}: {judged.get('score')} of 5, {judged.get('reason')!r}")
    print("\nA model of 135 million parameters answers and judges badly; any other GGUF can be named: local:MODEL.gguf")
    return 0


if __name__ == "__main__":
    sys.exit(main())
