"""From the Pythons that are installed to the tests that each of the supported versions passes: `make test-pythons`.

`make test` runs the whole suite on one Python. This runs the part that touches what differs between versions (parsers,
regular expressions, typing, asyncio) on every other one that it finds, in an environment of its own, and says which
versions it did not find.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[1]
SUPPORTED: Final = ("3.11", "3.12", "3.13", "3.14")
TESTED: Final = (
    *("tests/compiler", "tests/config", "tests/dsl", "tests/grammar", "tests/mapping", "tests/model", "tests/tools"),
    *("tests/runtime/checks", "tests/runtime/test_run_suite.py", "tests/runtime/test_attempts.py"),
)
PACKAGES: Final = ("pytest>=8.3", "pytest-xdist>=3.6", "hypothesis>=6.120")


def main() -> int:
    """Test every supported Python but this one; 1 where the tests of one fail."""
    this = version_of(sys.executable)
    found = {version: python for version in SUPPORTED if version != this and (python := find(version)) is not None}
    missing = [version for version in SUPPORTED if version != this and version not in found]
    print(f"Python {this} runs the whole suite by `make test`", flush=True)
    failed = [version for version, python in found.items() if not passes(version, python)]
    if missing:
        print(f"not tested, since they are not installed: Python {', '.join(missing)}")
    if failed:
        print(f"failed on Python {', '.join(failed)}")
    return 1 if failed else 0


def find(version: str) -> str | None:
    """A working interpreter of the version: on PATH, or among those of pyenv."""
    return next((python for python in _candidates(version) if version_of(python) == version), None)


def _candidates(version: str) -> Iterator[str]:
    if (on_path := shutil.which(f"python{version}")) is not None:
        yield on_path
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    yield from map(str, sorted(pyenv.glob(f"{version}.*/bin/python{version}"), reverse=True))


def version_of(python: str) -> str:
    """The version that an interpreter says it is, such as `3.12`; empty where it does not run."""
    asked = [python, "-c", "import sys, venv; print('%d.%d' % sys.version_info[:2])"]
    done = subprocess.run(asked, capture_output=True, text=True, check=False)
    return done.stdout.strip() if done.returncode == 0 else ""


def passes(version: str, python: str) -> bool:
    """Whether the tests pass there; what they print goes through."""
    print(f"Python {version}: {python}", flush=True)
    with tempfile.TemporaryDirectory(prefix=f"evalc-{version}-") as folder:
        subprocess.run([python, "-m", "venv", folder], check=True)
        inside = str(Path(folder) / "bin" / "python")
        install = [inside, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*install, "--editable", ".", *PACKAGES], cwd=ROOT, check=True)
        tested = [inside, "-m", "pytest", "-q", "-n", "auto", "-p", "no:cacheprovider", *TESTED]
        return subprocess.run(tested, cwd=ROOT, check=False).returncode == 0


if __name__ == "__main__":
    sys.exit(main())
