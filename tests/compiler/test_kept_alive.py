"""Trees that a compilation keeps for a process that ends at once: all, up to a limit, and none unasked."""

from __future__ import annotations

import pytest

from evalc.base.source import Source
from evalc.compiler import pipeline
from evalc.compiler.pipeline import CompileOptions, compile_sources

SUITE = """\
eval:
  test_cases:
    - name: a
      message: Hi
      validate: [non-empty]
"""


@pytest.mark.parametrize(("limit", "files_kept"), [(10_000_000, 2), (len(SUITE) * 3, 1), (0, 0)])
def test_trees_are_kept_up_to_a_limit(monkeypatch: pytest.MonkeyPatch, limit: int, files_kept: int) -> None:
    monkeypatch.setattr(pipeline, "_MOST_KEPT_ALIVE", limit)
    kept: list[object] = []
    sources = [Source(f"{name}.eval.yaml", SUITE) for name in "ab"]
    compilation = compile_sources(sources, CompileOptions(kept_alive=kept))
    assert len(compilation.suites) == 2
    assert len(kept) == 2 * files_kept + (limit == len(SUITE) * 3)  # nodes and the tree of each


def test_nothing_else_changes() -> None:
    source = Source("a.eval.yaml", SUITE.replace("non-empty", "contians x"))
    assert (
        compile_sources([source], CompileOptions(kept_alive=[])).problems
        == compile_sources([source], CompileOptions()).problems
        != ()
    )
