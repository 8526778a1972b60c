"""Fuzzes a target: `python -m tests.fuzz.drive TARGET SECONDS`, in an environment with atheris.

A crash is any exception, a hang more than two seconds for one text, too much memory 500 MB for the process. The text
that does it is written to `tests/fuzz/found/TARGET/`, where `test_found.py` replays it from then on.
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

import atheris  # type: ignore[import-not-found, import-untyped, unused-ignore]  # has an environment of its own

with atheris.instrument_imports(include=["evalc"]):
    from tests.fuzz.targets import TARGETS

from tests.fuzz.seeds import write_seeds

HERE = Path(__file__).parent


def main(target: str, seconds: str) -> None:
    """Fuzz one target; the process ends with what libFuzzer says."""
    run = TARGETS[target]
    found = HERE / "found" / target
    found.mkdir(parents=True, exist_ok=True)
    work = Path(tempfile.mkdtemp(prefix=f"fuzz-{target}-"))
    write_seeds(target, work / "seeds")
    corpus = work / "corpus"
    corpus.mkdir()
    flags = [
        f"-dict={HERE / 'words.dict'}",
        f"-artifact_prefix={found}/",
        f"-max_total_time={seconds}",
        "-timeout=2",
        "-rss_limit_mb=500",
        "-max_len=8192",
        "-print_final_stats=1",
        "-verbosity=1",
    ]
    os.chdir(work)  # an empty folder, lest a suite finds files

    def one(data: bytes) -> None:
        run(data.decode("utf-8", errors="replace"))

    atheris.Setup([sys.argv[0], str(corpus), str(work / "seeds"), *flags], one)
    atheris.Fuzz()


if __name__ == "__main__":
    main(*sys.argv[1:])
