"""How many mutants mean the same as the answer they were made of, by the labels of a sample."""

from __future__ import annotations

import json
import re
from pathlib import Path

from tests.extras.challenge.equivalents import LABELS, mutants

_DOCS = Path(__file__).parents[3] / "specs" / "challenge.md"


def test_the_page_states_the_rate_of_the_sample() -> None:
    made = list(mutants())
    same = [tuple(label) for label in json.loads(LABELS.read_text(encoding="utf-8"))]
    assert set(same) <= set(made)
    said = re.search(r"(\d+) of (\d+) mutants \((\d+) %\)", _DOCS.read_text(encoding="utf-8"))
    assert said is not None
    assert [int(number) for number in said.groups()] == [len(same), len(made), round(100 * len(same) / len(made))]
