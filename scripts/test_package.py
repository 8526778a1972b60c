"""Builds the wheel and the sdist twice, installs each into an empty environment, and uses it: `make test-package`.

Both builds must give the same bytes, and so must a wheel that is built from the sdist. Arguments name the Pythons to
install with, in place of this one: `make test-pythons`.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[1]
LEFT_OUT: Final = shutil.ignore_patterns(
    ".git", ".venv*", ".*_cache", ".hypothesis", "__pycache__", "dist", "results", "build"
)
EPOCH: Final = "1767225600"
"""The time that stands in the archives: 2026-01-01."""

SUITE: Final = """\
suite: weather
eval:
  criteria: ["clarity (1): Clear"]
  test_cases:
    - name: paris
      message: What is the weather in Paris?
      validate:
        - contains "Paris" for clarity
        - tools called [get_weather]
        - matches /\\d/
"""
USES: Final = (
    ("--version",),
    ("check", "evals"),
    ("compile", "evals", "-o", "build"),
    ("run", "evals", "--agent", "demo", "-o", "report.html", "-o", "junit.xml"),
    ("run", "build/weather.labeled.json", "--agent", "demo", "--fail-on-regression"),
    ("show", "-v"),
    ("explain", "EV401"),
    ("schema", "case"),
    ("init", "started"),
)


def main() -> int:
    """Build, compare, install and use; 1 where anything of it fails."""
    pythons = sys.argv[1:] or [sys.executable]
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        first, second = (built(work / name) for name in ("first", "a longer name of a folder"))
        if digests(first) != digests(second):
            print(f"two builds differ: {digests(first)} and {digests(second)}")
            return 1
        (sdist,) = first.glob("*.tar.gz")
        (wheel,) = first.glob("*.whl")
        unpacked = work / "unpacked"
        shutil.unpack_archive(sdist, unpacked)
        (source,) = unpacked.iterdir()
        again = build(source, work / "again", "--wheel")
        if digests(again)[wheel.name] != digests(first)[wheel.name]:
            print("a wheel that is built from the sdist is another one")
            return 1
        installs = [(python, archive) for python in pythons for archive in (wheel, sdist)]
        failure = next(filter(None, (used(*each, work / str(n)) for n, each in enumerate(installs))), None)
    done = f"{wheel.name} and the sdist: built twice to the same bytes, installed and used in empty environments of "
    print(failure or done + ", ".join(pythons))
    return 1 if failure else 0


def built(folder: Path) -> Path:
    """Build a copy of the tree that lies in the folder."""
    shutil.copytree(ROOT, folder / "tree", ignore=LEFT_OUT)
    return build(folder / "tree", folder / "dist", "--wheel", "--sdist")


def build(tree: Path, target: Path, *kinds: str) -> Path:
    """Build with what is installed; returns the folder of the archives."""
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(target), *kinds, str(tree)]
    environment = {**os.environ, "SOURCE_DATE_EPOCH": EPOCH}
    subprocess.run(command, env=environment, check=True, stdout=subprocess.DEVNULL)
    return target


def digests(folder: Path) -> dict[str, str]:
    """The SHA-256 of each archive, by its name."""
    return {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in sorted(folder.iterdir())}


def used(python: str, archive: Path, work: Path) -> str | None:
    """Install an archive and call its commands with an empty environment; what went wrong, if anything did."""
    subprocess.run([python, "-m", "venv", str(work / "venv")], check=True)
    install = [str(work / "venv" / "bin" / "python"), "-m", "pip", "install", "--quiet", str(archive)]
    installed = subprocess.run([*install, "--disable-pip-version-check"], capture_output=True, text=True, check=False)
    if installed.returncode:
        return f"{python} cannot install {archive.name}:\n{installed.stderr}"
    project = work / "project"
    (project / "evals").mkdir(parents=True)
    (project / "evals" / "weather.eval.yaml").write_text(SUITE, encoding="utf-8")
    environment = {"PATH": "/usr/bin:/bin", "HOME": str(work / "home")}
    for arguments in USES:
        command = [str(work / "venv" / "bin" / "evalc"), *arguments]
        done = subprocess.run(command, cwd=project, env=environment, capture_output=True, text=True, check=False)
        if done.returncode:
            ended = f"`evalc {' '.join(arguments)}` of {archive.name} ended with {done.returncode} on {python}"
            return f"{ended}:\n{done.stdout}{done.stderr}"
    return None


if __name__ == "__main__":
    sys.exit(main())
