"""Laws of spellings: each check says the same in each of its spellings, alone and in compositions."""

from __future__ import annotations

from typing import Any

import pytest
import yaml
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tests.properties.trying import compiled_text, encoded
from tests.support.laws import examples
from tests.support.suites import SIMPLE, Written, can_pass, composed


def written(suite: dict[str, Any], *, flow: bool = False) -> str:
    return yaml.safe_dump(suite, allow_unicode=True, sort_keys=False, default_flow_style=flow or None, width=60)


@pytest.mark.parametrize("name", SIMPLE)
@given(data=st.data())
@settings(max_examples=examples(50))
def test_the_spellings_of_a_check_compile_to_equal_json(name: str, data: st.DataObject) -> None:
    check = data.draw(SIMPLE[name])
    spellings: list[dict[str, Any]] = [{"validate": [check.mapping]}, {"validate": [check.line]}]
    if check.field is not None:
        spellings.append({"expect": {check.field: check.value}})
    assert len({encoded(compiled_text(written(one_case(spelling)))) for spelling in spellings}) == 1


@given(data=st.data(), op=st.sampled_from(["any_of", "all_of", "not"]))
@settings(max_examples=examples(300))
def test_both_spellings_of_a_composition_compile_to_equal_json(data: st.DataObject, op: str) -> None:
    inner = st.one_of(SIMPLE["contains"], SIMPLE["equals"], SIMPLE["json"], SIMPLE["contains_any"])
    check: Written = composed(data.draw(inner), data.draw(inner), op)
    assume(can_pass([check]))
    spellings = [one_case({"validate": [spelling]}) for spelling in (check.mapping, check.line)]
    assert len({encoded(compiled_text(written(spelling))) for spelling in spellings}) == 1


def one_case(asserting: dict[str, Any]) -> dict[str, Any]:
    return {"suite": "one", "eval": {"test_cases": [{"name": "a", "message": "hi", **asserting}]}}
