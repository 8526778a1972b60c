"""The laws of what compiles, each tried on the same projects: drawing one costs as much as compiling it."""

from __future__ import annotations

from itertools import count
from pathlib import Path

from tests.properties.drawing.suites import Project
from tests.properties.laws.compiled_alone import comes_back, is_run_by_any_runner
from tests.properties.laws.same_bytes import (
    compile_to_the_same_elsewhere,
    compiles_to_the_same_again,
    compiles_to_the_same_formatted,
)
from tests.properties.laws.twins import is_its_twin, reads_back
from tests.properties.trying import Tried, parts, try_on_projects


@parts
def test_the_laws_hold(part: int, tmp_path: Path, calm: Path) -> None:
    numbers = count()
    all_tried: list[Tried] = []

    def hold(project: Project) -> None:
        folder = tmp_path / str(next(numbers))
        folder.mkdir()
        tried = Tried(project=project, main=project.write(folder))
        is_its_twin(tried)
        reads_back(tried)
        compiles_to_the_same_again(tried)
        compiles_to_the_same_formatted(tried)
        is_run_by_any_runner(tried)
        comes_back(tried)
        all_tried.append(tried)

    try_on_projects(hold, part)
    compile_to_the_same_elsewhere(all_tried, calm, hash_seed=part)
