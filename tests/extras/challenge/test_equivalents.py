"""How many mutants mean the same as the answer they were made of, by the labels of a sample.

`labels.json` lists the mutants of the sample answers that a person took for as good as the answer they were made of.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from evalc.extras.challenge.mutations import Around, mutations, names_in
from evalc.model.answer import AgentAnswer, AgentResponse, ToolCall
from evalc.model.case import Case, Input

ANSWERS: Final = Path(__file__).parent / "answers.json"
LABELS: Final = Path(__file__).parent / "labels.json"
PAGE: Final = Path(__file__).parents[3] / "specs" / "challenge.md"


def mutants() -> Iterator[tuple[str, str, str]]:
    """The mutants of all sample answers: the answer's id, the fault and the difference."""
    samples: list[dict[str, Any]] = json.loads(ANSWERS.read_text(encoding="utf-8"))
    names = tuple(dict.fromkeys(name for sample in samples for name in names_in(sample["response"])))
    for sample in samples:
        calls = tuple(
            ToolCall(name=call["name"], params=call["params"], success=True) for call in sample.get("calls", ())
        )
        case = Case(id=sample["id"], description="", input=Input(message=sample["message"]))
        answer = AgentAnswer(1.0, AgentResponse(response=sample["response"], tool_calls=calls))
        for mutant in mutations(case, answer, Around(names=names)):
            yield sample["id"], mutant.challenger, mutant.difference


def test_the_page_states_the_rate_of_the_sample() -> None:
    made = list(mutants())
    same = [tuple(label) for label in json.loads(LABELS.read_text(encoding="utf-8"))]
    assert set(same) <= set(made)
    said = re.search(r"(\d+) of (\d+) mutants \((\d+) %\)", PAGE.read_text(encoding="utf-8"))
    assert said is not None
    assert [int(number) for number in said.groups()] == [len(same), len(made), round(100 * len(same) / len(made))]
