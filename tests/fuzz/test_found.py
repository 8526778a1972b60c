"""Every text that the fuzzer ever found fault with, replayed."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.fuzz.targets import TARGETS

FOUND = Path(__file__).parent / "found"
FILES = sorted(path for path in FOUND.rglob("*") if path.is_file())


@pytest.mark.parametrize("file", FILES, ids=lambda file: f"{file.parent.name}/{file.name[:20]}")
def test_inputs_found_by_fuzzing_raise_no_more(file: Path) -> None:
    TARGETS[file.parent.name](file.read_bytes().decode("utf-8", errors="replace"))


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(
    "text", ["", "\x00", "\ufeff", "{{", "}}", "\\", "\U0001f600" * 99, "[" * 999, "'", "%", "&a [*a]"]
)
def test_the_targets_take_any_text(target: str, text: str) -> None:
    TARGETS[target](text)
