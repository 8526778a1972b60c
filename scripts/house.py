"""Measures the structure of the code: `python scripts/house.py` prints a table of sizes, names and paths.

It counts what a newcomer meets: files and lines, the share of lines that are module docstrings and imports, class names
that mean more than one thing, and the files that one run of one case enters.
"""

from __future__ import annotations

import ast
import inspect
import os
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from types import FrameType
from typing import Any, Final
from unittest.mock import patch

ROOT: Final = Path(__file__).parents[1]
PACKAGE: Final = ROOT / "evalc"
CATALOGUE: Final = PACKAGE / "diagnostics" / "catalogue.txt"
SUITE: Final = """\
suite: weather
eval:
  test_cases:
    - name: tokyo
      message: What is the weather in Tokyo?
      validate:
        - contains "Tokyo"
"""


def main() -> int:
    """Print the table."""
    verbose = "-v" in sys.argv
    files = sorted(PACKAGE.rglob("*.py"))
    texts = {file: file.read_text(encoding="utf-8") for file in files}
    lines = sum(text.count("\n") for text in texts.values())
    table = CATALOGUE.read_text(encoding="utf-8").count("\n")
    headers = sum(_header_lines(text) for text in texts.values())
    named = ambiguous_classes(texts)
    entered, imported = entered_by_a_run()
    rows = [
        ("files in evalc/", f"{len(files)}"),
        ("lines in evalc/", f"{lines + table}, of which {table} are the table of findings"),
        ("lines that are module docstrings and imports", f"{headers / lines:.1%}"),
        ("class names that stand for several classes", f"{len(named)}: {', '.join(sorted(named))}"),
        ("files that name anthropic", f"{sum('anthropic' in text.lower() for text in texts.values())}"),
        ("files that one run of one case enters", f"{len(entered)}, and {len(imported)} more while they are imported"),
    ]
    for what, count in rows:
        print(f"{what}: {count}")
    if verbose:
        print("\n".join(sorted(str(file.relative_to(ROOT)) for file in entered)))
        print("while they are imported:")
        print("\n".join(sorted(str(file.relative_to(ROOT)) for file in imported)))
    return 0


def _header_lines(text: str) -> int:
    """The lines of a module's docstring and of its imports."""
    tree = ast.parse(text)
    numbers: set[int] = set()
    for index, node in enumerate(tree.body):
        docstring = index == 0 and isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        if docstring or isinstance(node, ast.Import | ast.ImportFrom):
            numbers.update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    return len(numbers)


def ambiguous_classes(texts: dict[Path, str]) -> dict[str, list[Path]]:
    """The public class names that are defined in several files."""
    found: dict[str, list[Path]] = defaultdict(list)
    for file, text in texts.items():
        for node in ast.parse(text).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                found[node.name].append(file)
    return {name: places for name, places in found.items() if len(places) > 1}


def entered_by_a_run() -> tuple[set[Path], set[Path]]:
    """The files of evalc whose functions a run of one case enters, in a folder of its own, with the demo agent.

    Apart from them, the files of which it only enters functions that make their tables while they are imported.
    """
    from evalc.cli.main import main as evalc  # noqa: PLC0415 - what is imported before the run is not counted

    entered: Counter[str] = Counter()
    imported: Counter[str] = Counter()

    def profile(frame: FrameType, event: str, _: Any) -> None:
        if event == "call" and frame.f_code.co_flags & inspect.CO_OPTIMIZED:  # of a function, not a module or class
            (imported if _is_imported(frame) else entered)[frame.f_code.co_filename] += 1

    with tempfile.TemporaryDirectory() as folder:
        suite = Path(folder) / "weather.eval.yaml"
        suite.write_text(SUITE, encoding="utf-8")
        sys.argv = ["evalc", "run", str(suite), "--agent", "demo", "--output-dir", f"{folder}/runs"]
        os.chdir(folder)  # the configuration of the working folder is none of the run's
        with patch("evalc.cli.ending.leave", sys.exit), suppress(SystemExit):  # `leave` would end this process
            sys.setprofile(profile)
            try:
                evalc()
            finally:
                sys.setprofile(None)
                os.chdir(ROOT)
    run = set(_of_the_package(entered))
    return run, set(_of_the_package(imported)) - run


def _is_imported(frame: FrameType | None) -> bool:
    """Whether a frame runs because a module is being imported."""
    while frame is not None:
        if frame.f_code.co_filename.startswith("<frozen importlib"):
            return True
        frame = frame.f_back
    return False


def _of_the_package(names: Counter[str]) -> Iterator[Path]:
    for name in names:
        path = Path(name)
        if PACKAGE in path.parents:
            yield path


if __name__ == "__main__":
    sys.exit(main())
