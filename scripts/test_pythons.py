"""Tests each supported version of Python that is installed: `make test-pythons`.

`make test` runs the whole suite on one Python. This runs the part that touches what differs between versions (parsers,
regular expressions, typing, asyncio) on each of the others, in an environment of its own, and says which
versions it did not find. Another patch release of the same version is tested, too: `re` of Python 3.11.2 differs from
that of 3.11.7. Last, the package is installed with each, as by `make test-package`.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[1]
SUPPORTED: Final = ("3.11", "3.12", "3.13", "3.14")
TESTED: Final = (
    *("tests/compiler", "tests/config", "tests/dsl", "tests/grammar", "tests/model", "tests/tools"),
    *("tests/runtime/checks", "tests/runtime/test_mapping.py", "tests/runtime/test_run_suite.py"),
    *("tests/runtime/test_attempts.py", "tests/runtime/test_any_encoding.py", "tests/runtime/test_redact.py"),
)
PACKAGES: Final = (
    *("pytest>=8.3", "pytest-xdist>=3.6", "hypothesis>=6.120"),
    *("lark[interegular]>=1.2,<2", "regex>=2024.5.10"),
)


def main() -> int:
    """Test every supported Python but this one; 1 if the tests of one fail, or the package does."""
    this = version_of(sys.executable)
    found = {minor: python for minor in SUPPORTED if (python := find(minor, this)) is not None}
    missing = [minor for minor in SUPPORTED if minor not in found and not this.startswith(f"{minor}.")]
    print(f"Python {this} runs the whole suite by `make test`", flush=True)
    failed = [python for python in found.values() if not passes(python)]
    if missing:
        print(f"not tested, since they are not installed: Python {', '.join(missing)}")
    if failed:
        print(f"failed on {', '.join(failed)}")
    package = [sys.executable, str(ROOT / "scripts" / "test_package.py"), *found.values()]
    return 1 if failed or (found and subprocess.run(package, check=False).returncode) else 0


def find(minor: str, this: str) -> str | None:
    """A working interpreter of a version such as `3.12`, but not of the release `this`: on PATH, or one of pyenv's."""
    versions = ((python, version_of(python)) for python in _candidates(minor))
    return next((python for python, version in versions if version.startswith(f"{minor}.") and version != this), None)


def _candidates(minor: str) -> Iterator[str]:
    on_path = (Path(folder) / f"python{minor}" for folder in os.get_exec_path())
    yield from (str(python) for python in on_path if os.access(python, os.X_OK))
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    yield from map(str, sorted(pyenv.glob(f"{minor}.*/bin/python{minor}"), reverse=True))


def version_of(python: str) -> str:
    """The release that an interpreter says it is, such as `3.12.1`; empty if it does not run or has no `venv`."""
    asked = [python, "-c", "import sys, venv; print('%d.%d.%d' % sys.version_info[:3])"]
    done = subprocess.run(asked, capture_output=True, text=True, check=False)
    return done.stdout.strip() if done.returncode == 0 else ""


def passes(python: str) -> bool:
    """Whether the tests pass there; what they print goes through."""
    print(f"Python {version_of(python)}: {python}", flush=True)
    with tempfile.TemporaryDirectory(prefix="evalc-") as folder:
        subprocess.run([python, "-m", "venv", folder], check=True)
        inside = str(Path(folder) / "bin" / "python")
        install = [inside, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*install, "--editable", ".", *PACKAGES], cwd=ROOT, check=True)
        brief = "--hypothesis-profile=brief"  # the laws are tried at length on one Python
        tested = [inside, "-m", "pytest", "-q", "-n", "auto", "-p", "no:cacheprovider", brief, *TESTED]
        return subprocess.run(tested, cwd=ROOT, check=False).returncode == 0


if __name__ == "__main__":
    sys.exit(main())
