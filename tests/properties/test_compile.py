"""Laws of the compiler: writing and reading, spellings, repetition."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import evalc
from evalc.compiler import ir
from evalc.compiler.compiled import CompiledSuite
from evalc.compiler.ir_text import ir_text
from evalc.compiler.verify import verify
from evalc.model.codec import decode_envelope
from tests.support.suites import SIMPLE, Written, can_pass, composed, suites


def written(suite: dict[str, Any], *, flow: bool = False) -> str:
    return yaml.safe_dump(suite, allow_unicode=True, sort_keys=False, default_flow_style=flow or None, width=60)


def compiled(text: str, name: str = "generated.eval.yaml") -> CompiledSuite:
    compilation = evalc.compile(evalc.Source(name, text))
    assert [str(problem) for problem in compilation.problems if problem.severity == "error"] == [], text
    (suite,) = compilation.suites
    return suite


def encoded(suite: CompiledSuite) -> str:
    return b"".join(suite.encode()).decode()


def meaning(suite: ir.Suite) -> list[Any]:
    """All that an IR says, but for names that JSON has no place for, and for places."""
    criteria = [(item.name, item.weight, item.description) for item in suite.criteria]
    cases = [
        [
            [getattr(case, name) for name in case.__struct_fields__ if name not in _PLACES],
            [item.check for item in case.checks],
            [(link.criterion, link.checks, link.weight) for link in case.links],
        ]
        for case in suite.cases
    ]
    return [suite.tool, suite.tier, suite.threshold, criteria, cases]


_PLACES = {"name", "checks", "links", "where", "wheres"}


@given(suite=suites(), flow=st.booleans())
@settings(max_examples=150, deadline=None)
def test_what_is_written_reads_back_as_the_same(suite: dict[str, Any], flow: bool) -> None:
    first = compiled(written(suite, flow=flow))
    text = encoded(first)
    again = compiled(text, "generated.labeled.json")
    verify(first.ir)
    verify(again.ir)
    assert meaning(again.ir) == meaning(first.ir)
    assert ir_text(again.ir) == ir_text(first.ir)
    assert encoded(again) == text
    assert len(decode_envelope(text.encode()).cases) == len(first)


@pytest.mark.parametrize("name", SIMPLE)
@given(data=st.data())
@settings(max_examples=12, deadline=None)
def test_the_spellings_of_a_check_compile_to_equal_json(name: str, data: st.DataObject) -> None:
    check = data.draw(SIMPLE[name])
    spellings: list[dict[str, Any]] = [{"validate": [check.mapping]}, {"validate": [check.line]}]
    if check.field is not None:
        spellings.append({"expect": {check.field: check.value}})
    assert len({encoded(compiled(written(one_case(spelling)))) for spelling in spellings}) == 1


@given(data=st.data(), op=st.sampled_from(["any_of", "all_of", "not"]))
@settings(max_examples=40, deadline=None)
def test_both_spellings_of_a_composition_compile_to_equal_json(data: st.DataObject, op: str) -> None:
    inner = st.one_of(SIMPLE["contains"], SIMPLE["equals"], SIMPLE["json"], SIMPLE["contains_any"])
    check: Written = composed(data.draw(inner), data.draw(inner), op)
    assume(can_pass([check]))
    spellings = [one_case({"validate": [spelling]}) for spelling in (check.mapping, check.line)]
    assert len({encoded(compiled(written(spelling))) for spelling in spellings}) == 1


def one_case(asserting: dict[str, Any]) -> dict[str, Any]:
    return {"suite": "one", "eval": {"test_cases": [{"name": "a", "message": "hi", **asserting}]}}


@given(suite=suites())
@settings(max_examples=30, deadline=None)
def test_compiling_twice_gives_the_same_bytes(suite: dict[str, Any]) -> None:
    text = written(suite)
    assert encoded(compiled(text)) == encoded(compiled(text))


def test_the_bytes_do_not_hang_on_the_hash_seed() -> None:
    suite = Path(__file__).parents[1] / "golden" / "suites" / "language.eval.yaml"
    command = [sys.executable, "-m", "evalc", "compile", "-o", "-", str(suite)]
    outputs = {
        subprocess.run(
            command, env={**os.environ, "PYTHONHASHSEED": seed}, capture_output=True, check=True, timeout=60
        ).stdout
        for seed in ("0", "1", "2")
    }
    assert len(outputs) == 1
    assert outputs.pop()
