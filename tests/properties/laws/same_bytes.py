"""Laws of bytes: a suite compiles to the same ones each time, in every process, and however it is formatted."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from evalc.dsl.format import format_text
from tests.properties.drawing.suites import Project
from tests.properties.trying import Tried, compiled, encoded

_COMMENT = re.compile(r"#[^\r\n#]*§")
_ELSEWHERE = """
import sys
from pathlib import Path
import evalc

for main in sys.stdin.read().split():
    suites = evalc.compile(Path(main)).suites
    Path(main).with_name("elsewhere").write_bytes(b"".join(b"".join(suite.encode()) for suite in suites))
"""


def compiles_to_the_same_again(tried: Tried) -> None:
    """Twice in one process."""
    assert [*map(encoded, compiled(tried.main))] == [*tried.texts.values()]


def compiles_to_the_same_formatted(tried: Tried) -> None:
    """Formatted, in another folder."""
    with TemporaryDirectory() as folder:
        assert [*map(encoded, compiled(_formatted(tried.project).write(Path(folder))))] == [*tried.texts.values()]


def _formatted(project: Project) -> Project:
    """The project with its YAML formatted, which comes to rest at once and keeps every comment."""
    files = {name: format_text(text) if name.endswith(".yaml") else text for name, text in project.files.items()}
    for name, text in files.items():
        assert _COMMENT.findall(text) == _COMMENT.findall(project.files[name])
        assert not name.endswith(".yaml") or format_text(text) == text
    return replace(project, files=files)


def compile_to_the_same_elsewhere(all_tried: Sequence[Tried], path: Path, hash_seed: int) -> None:
    """In another process, with `path` on its own and with another hash seed."""
    subprocess.run(
        [sys.executable, "-c", _ELSEWHERE],
        input="\n".join(str(tried.main) for tried in all_tried),
        text=True,
        env={**os.environ, "PYTHONHASHSEED": str(hash_seed), "PYTHONPATH": os.pathsep.join([str(path), *sys.path])},
        check=True,
        timeout=300,
    )
    for tried in all_tried:
        elsewhere = tried.main.with_name("elsewhere").read_bytes().decode()
        assert elsewhere == "".join(tried.texts.values()), tried.main.read_text(encoding="utf-8")
