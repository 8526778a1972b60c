"""Laws of what is shared: a suite with rules, defaults and rows says what the suite that is written out says."""

from __future__ import annotations

from typing import Any

import yaml
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import evalc
from tests.support.laws import examples
from tests.support.suites import NAMES, TEXTS, suites


def encoded(suite: dict[str, Any]) -> bytes | None:
    """The compiled bytes; None where the suite has errors."""
    text = yaml.safe_dump(suite, allow_unicode=True, sort_keys=False)
    compilation = evalc.compile(evalc.Source("generated.eval.yaml", text))
    return b"".join(piece for part in compilation.suites for piece in part.encode()) or None


def with_cases(suite: dict[str, Any], cases: list[dict[str, Any]], **head: Any) -> dict[str, Any]:
    return {**suite, **head, "eval": {**suite["eval"], "test_cases": cases}}


@given(suite=suites(), depth=st.integers(1, 3))
@settings(max_examples=examples(60))
def test_checks_may_stand_in_rules_that_use_rules(suite: dict[str, Any], depth: int) -> None:
    rules: dict[str, Any] = {}
    cases = []
    for index, case in enumerate(suite["eval"]["test_cases"]):
        uses = case.get("validate")
        for level in range(depth if uses else 0):
            rules[f"r{index}_{level}"] = uses
            uses = [{"use": f"r{index}_{level}"}]
        cases.append({**case, **({"validate": uses} if uses else {})})
    written = encoded(suite)
    assert written is not None
    assert encoded(with_cases(suite, cases, rules=rules)) == written


@given(suite=suites(), text=TEXTS, tags=st.lists(NAMES, max_size=2, unique=True))
@settings(max_examples=examples(60))
def test_a_common_beginning_of_cases_may_stand_in_defaults(suite: dict[str, Any], text: str, tags: list[str]) -> None:
    shared = {"type": "contains", "rule": text}
    plain = [{**case, "tags": []} for case in suite["eval"]["test_cases"]]
    written_out = [{**case, "tags": tags, "validate": [shared, *case.get("validate", [])]} for case in plain]
    twin = encoded(with_cases(suite, written_out))
    assume(twin is not None)
    assert encoded(with_cases(suite, plain, defaults={"validate": [shared], "tags": tags})) == twin
    assert encoded(with_cases(suite, [{**case, "inherit": False} for case in plain], defaults={"tags": tags})) == (
        encoded(with_cases(suite, plain))
    )


@given(rows=st.dictionaries(NAMES, TEXTS, min_size=1, max_size=4), split=st.booleans())
@settings(max_examples=examples(60))
def test_rows_are_cases_that_are_written_out(rows: dict[str, str], split: bool) -> None:
    case: dict[str, Any] = {"description": "d", "message": "say {{text}}", "validate": ['contains "{{text}}!"']}
    table = [{"key": key, "text": text} for key, text in rows.items()]
    if split:
        case |= {"inputs": {"shared": 1}}
    by_row = {"name": "a", **case, "for_each": {"key": "key", "rows": table}}
    by_case = [{"name": f"a@{row['key']}", **case, "inputs": {**case.get("inputs", {}), **row}} for row in table]
    suite: dict[str, Any] = {"suite": "generated", "eval": {}}
    written_out = encoded(with_cases(suite, by_case))
    assert written_out is not None
    assert encoded(with_cases(suite, [by_row])) == written_out
