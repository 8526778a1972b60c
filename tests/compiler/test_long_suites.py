"""Suites of many cases: their trees are made as they are read, which changes no finding and saves memory."""

from __future__ import annotations

import tracemalloc

import pytest

from evalc.base.source import Source
from evalc.compiler.pipeline import CompileOptions, compile_sources
from evalc.dsl.build_suite import CaseMaker
from evalc.dsl.read_lines import read_lines

_SOUND = """\
    - name: case_{n}
      inputs: {{code: "f{n}(a)"}}
      validate:
        - contains "hint {n}" for clarity
        - type: regex
          rule: (consider|suggest) b{n}
        - not contains "sorry {n}"
"""
_FAULTY = """\
    - name: case_{n}
      validte: [non-empty]
    - message: Where is order #4711?
      validate:
        - contians "x"
        - type: regex
          rule: (
        - contains what #4711
    - [a list]
    - {{name: flow_{n}, message: Hi}}
    - name: case_0
      inputs: {{cod: x}}
      difficulty: hard
      for_each: no-such-file.csv
      validate: []
"""
_HEADS = (
    "suite: long\nprompt: Review {{code}}\neval:\n  criteria: [clarity]\n  test_cases:\n",
    "prompt: Review {{code}}\neval:\n  criteria: [clarity]\n  test_cases:\n",
    "suite: long\nprompt: Review {{code}}\ncriteria: [clarity]\ntest_cases:\n",
    "prompt: Review {{code}}\ntest_cases:\n",
    "suite: long\nprompt: Review {{code}}\nevals:\n  test_cases:\n",
    "x-other:\n  test_cases:\n",
)

_SOUND_HEADS = _HEADS[:3]


def _source(head: str, *, faults: int) -> Source:
    cases = "".join((_FAULTY if faults and n % (600 // faults) == 7 else _SOUND).format(n=n) for n in range(600))
    text = head + cases
    assert len(text) > 100_000
    assert read_lines(text, depth=100) is not None
    return Source("long.eval.yaml", text)


@pytest.mark.parametrize("faults", [0, 1, 6])
@pytest.mark.parametrize("head", _HEADS)
def test_the_same_is_found_whenever_trees_are_made(monkeypatch: pytest.MonkeyPatch, head: str, faults: int) -> None:
    source = _source(head, faults=faults)
    made = compile_sources([source], CompileOptions())
    monkeypatch.setattr(CaseMaker, "keep", lambda *_: None)
    read_first = compile_sources([source], CompileOptions())
    assert made.problems == read_first.problems
    assert [list(suite.encode()) for suite in made.suites] == [list(suite.encode()) for suite in read_first.suites]
    assert bool(made.suites) is (head in _SOUND_HEADS and not faults)


def test_a_case_takes_little_memory() -> None:
    compile_sources([_source(_HEADS[0], faults=0)], CompileOptions())  # what is loaded and remembered once
    source = Source("long.eval.yaml", _HEADS[0] + "".join(_SOUND.format(n=n) for n in range(5_000)))
    tracemalloc.start()
    try:
        compile_sources([source], CompileOptions())
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 5_000 * 6_500
