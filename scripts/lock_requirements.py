"""Writes `requirements-dev.txt`: the versions and hashes of everything that development installs (`make requirements`).

It needs pip-tools, for which the command has an environment of its own.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[1]
LOCK: Final = ROOT / "requirements-dev.txt"
HEAD: Final = (
    "# The development requirements, with the hashes of every file of each version. Written by `make requirements`.\n"
)
FLAGS: Final = (
    "--generate-hashes", "--strip-extras", "--allow-unsafe", "--no-header", "--no-annotate", "--no-emit-index-url",
    "--no-emit-find-links", "--no-emit-trusted-host", "--no-emit-options", "--quiet",
)  # fmt: skip


def requirements() -> list[str]:
    """What evalc and its development need, as `pyproject.toml` has it."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    found: list[str] = [*project["project"]["dependencies"], *project["dependency-groups"]["dev"]]
    return found


def main() -> None:
    """Resolve the requirements and write the lock."""
    with tempfile.TemporaryDirectory() as folder:
        wanted, locked = Path(folder) / "in.txt", Path(folder) / "out.txt"
        wanted.write_text("\n".join(requirements()) + "\n", encoding="utf-8")
        command = [sys.executable, "-m", "piptools", "compile", *FLAGS, "--output-file", str(locked), str(wanted)]
        subprocess.run(command, check=True)
        LOCK.write_text(HEAD + locked.read_text(encoding="utf-8"), encoding="utf-8")


if __name__ == "__main__":
    main()
