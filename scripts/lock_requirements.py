"""Writes the locks in `requirements/`: versions and hashes of all that is installed (`make requirements`).

It needs pip-tools, for which the command has an environment of its own.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[1]
FOLDER: Final = ROOT / "requirements"
PURPOSES: Final = {
    "runtime": "What evalc needs to run",
    "tests": "What `make test` needs beyond runtime.txt",
    "external": "What the tests against other programs need beyond runtime.txt",
    "docs": "What `make docs` needs beyond runtime.txt",
}
HEAD: Final = "# {purpose}, with the hashes of every file of each version. Written by `make requirements`.\n"
FLAGS: Final = (
    "--generate-hashes", "--strip-extras", "--allow-unsafe", "--no-header", "--no-annotate", "--no-emit-index-url",
    "--no-emit-find-links", "--no-emit-trusted-host", "--no-emit-options", "--quiet",
)  # fmt: skip


def requirements() -> dict[str, list[str]]:
    """The requirements of each lock, as `pyproject.toml` has them."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    return {"runtime": project["project"]["dependencies"], **project["dependency-groups"]}


def entries(lock: str) -> dict[str, str]:
    """The entries of a lock by the names of their packages."""
    return {entry[: entry.index("==")]: entry for entry in re.findall(r"^[\w.-]+==(?:.*\\\n)*.*\n", lock, re.MULTILINE)}


def main() -> None:
    """Resolve the requirements and write the locks. Locked versions are kept where they still fit."""
    requires = requirements()
    runtime: dict[str, str] = {}
    for name, purpose in PURPOSES.items():
        with tempfile.TemporaryDirectory() as folder:
            source, constraints, lock = (Path(folder) / file for file in ("in.txt", "constraints.txt", "out.txt"))
            source.write_text("\n".join([*requires["runtime"], *requires[name]]) + "\n", encoding="utf-8")
            lock.write_text(
                "".join(path.read_text(encoding="utf-8") for path in FOLDER.glob("*.txt")), encoding="utf-8"
            )
            constraints.write_text("".join(f"{entry.split()[0]}\n" for entry in runtime.values()), encoding="utf-8")
            command = ["piptools", "compile", *FLAGS, "--constraint", str(constraints), "--output-file", str(lock)]
            subprocess.run([sys.executable, "-m", *command, str(source)], check=True)
            found = entries(lock.read_text(encoding="utf-8"))
        runtime = runtime or found
        own = found if name == "runtime" else {key: entry for key, entry in found.items() if key not in runtime}
        text = HEAD.format(purpose=purpose) + "".join(own.values())
        (FOLDER / f"{name}.txt").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
