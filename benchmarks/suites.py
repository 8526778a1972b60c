"""Generates the suites that the benchmarks check and run."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Final, Literal

Form = Literal["mapping", "one-line"]

_HEAD = """\
suite: bench
tool: review_code
prompt: |
  Review this {{language}} code: {{code}}
inputs:
  - {name: language, required: true}
  - {name: code, required: true}
eval:
  criteria:
    - {name: completeness, description: Covers all of it, weight: 0.6}
    - "clarity (0.4): Clear and well-structured"
  test_cases:
"""

_MAPPING = """\
    - name: case_{n}
      inputs: {{language: Python, code: "f{n}(a)"}}
      validate:
        - type: contains
          rule: {a} hint {n}
          criterion: completeness
        - type: regex
          rule: (consider|suggest) {b}{n}
        - type: not_contains
          rule: {c} {n}
"""

_LINES = """\
    - name: case_{n}
      description: A review for {a}, number {n}
      inputs: {{language: Python, code: "f{n}(a)"}}
      validate:
        - contains "{a} hint {n}" for completeness
        - matches /(consider|suggest) {b}{n}/
        - not contains "{c} {n}"
"""

_WORDS = ("type", "doc", "name", "test", "loop", "class", "error", "value", "import", "return")


def write_suite(path: Path, cases: int, form: Form) -> None:
    """Write a suite whose checks all differ, the same one each time."""
    chance = random.Random(cases)
    template = _MAPPING if form == "mapping" else _LINES
    with path.open("w", encoding="utf-8") as file:
        file.write(_HEAD)
        for n in range(cases):
            a, b, c = chance.choices(_WORDS, k=3)
            file.write(template.format(n=n, a=a, b=b, c=c))


AGENT: Final = "async def answer(message):\n    return message\n"
"""The module of an agent that answers at once."""

_TRIVIAL: Final = """\
    - name: case_{n}
      message: "question number {n}"
      validate:
        - contains "question number {n}"
        - not contains "sorry {n}"
        - length 5..{most} chars
"""


def write_trivial_suite(path: Path, cases: int) -> None:
    """Write a suite of cases of three trivial checks, which that agent passes."""
    body = "".join(_TRIVIAL.format(n=n, most=200 + n % 50) for n in range(cases))
    path.write_text("suite: bench\neval:\n  test_cases:\n" + body, encoding="utf-8")
