"""Tries a law on many projects, in parts that run beside one another."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Final, final

import pytest
from hypothesis import HealthCheck, given, seed, settings

import evalc
from evalc.compiler.compiled import CompiledSuite
from tests.properties.drawing.suites import Project, projects
from tests.support.laws import examples

EXAMPLES: Final = 600
"""How many projects every law is tried on."""
PARTS: Final = 8

parts = pytest.mark.parametrize("part", range(PARTS))


def try_on_projects(test: Callable[[Project], None], part: int) -> None:
    """Call a test with the projects of one part: other ones than those of the other parts."""
    limits = settings(max_examples=examples(EXAMPLES // PARTS), suppress_health_check=[HealthCheck.too_slow])
    tried = limits(given(projects())(test))
    if settings().derandomize:
        tried = seed(part)(tried)
    tried()


@final
@dataclass(frozen=True, kw_only=True)
class Tried:
    """A project whose files stand in a folder, as `main` and what it names, and what it compiles to."""

    project: Project
    main: Path

    @cached_property
    def suites(self) -> tuple[CompiledSuite, ...]:
        """The compiled suites; there are no errors."""
        return compiled(self.main)

    @cached_property
    def texts(self) -> dict[str, str]:
        """The compiled files by their names."""
        return {suite.file_name: encoded(suite) for suite in self.suites}


def compiled(given: Path | evalc.Source) -> tuple[CompiledSuite, ...]:
    """The suites of an eval file without errors."""
    compilation = evalc.compile(given)
    assert [str(problem) for problem in compilation.problems if problem.severity == "error"] == []
    return compilation.suites


def compiled_text(text: str, name: str = "generated.eval.yaml") -> CompiledSuite:
    """The one suite that a text compiles to, which has no errors."""
    (suite,) = compiled(evalc.Source(name, text))
    return suite


def encoded(suite: CompiledSuite) -> str:
    """The bytes of a compiled file, as a text."""
    return b"".join(suite.encode()).decode()
