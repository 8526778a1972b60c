"""A runner that knows the contract's fields and nothing of evalc, to hold verdicts against.

It reads plain JSON, passes over every key that the contract does not have, and evaluates the assertions in the
contract's order up to the first failure. Patterns are read by Python, which suits those that tests draw.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from evalc.model.answer import AgentResponse

_TOKEN: Final = re.compile(r"\{\{(seed|snapshot):(.+?)\}\}")
_STEP: Final = re.compile(r"(\w+)\[(\d+)\]")


class Outcome(NamedTuple):
    """The field whose assertion failed first, if any, and how many assertions were run and skipped until then."""

    failed: str | None
    run: int
    skipped: int


def run_by_contract(case: dict[str, Any], answer: AgentResponse, seed: Any) -> Outcome:
    """The verdict on one case (contract, 3. Assertion Execution)."""
    run = skipped = 0
    for field, holds in _assertions(case.get("expect", {}), answer, seed):
        if holds is None:
            skipped += 1
            continue
        run += 1
        if not holds:
            return Outcome(field, run, skipped)
    return Outcome(None, run, skipped)


def _assertions(expect: dict[str, Any], answer: AgentResponse, seed: Any) -> Iterator[tuple[str, bool | None]]:
    """The assertions in the contract's order, and whether they hold; None for those that cannot be resolved."""
    called = [call.name for call in answer.tool_calls]
    text = answer.response
    if "toolsCalled" in expect:
        yield "toolsCalled", called == expect["toolsCalled"]
    if "toolsAcceptable" in expect:
        yield "toolsAcceptable", any({*called} == {*names} - {"__none__"} for names in expect["toolsAcceptable"])
    if "toolsNotCalled" in expect:
        yield "toolsNotCalled", not {*called} & {*expect["toolsNotCalled"]}
    for entry in expect.get("toolParams", ()):
        params = next((call.params for call in answer.tool_calls if call.name == entry["tool"]), None)
        if params is not None:
            yield "toolParams", _param_holds(entry, params, seed)
    if expect.get("noToolErrors"):
        yield "noToolErrors", all(call.success for call in answer.tool_calls)
    if expect.get("responseNonEmpty"):
        yield "responseNonEmpty", bool(text.strip())
    for value in expect.get("responseContains", ()):
        resolved = _resolved(value, seed)
        yield "responseContains", None if resolved is None else resolved in text
    for group in expect.get("responseContainsAny", ()):
        values = [value for value in (_resolved(each, seed) for each in group) if value is not None]
        yield "responseContainsAny", any(value in text for value in values) if values else None
    for value in expect.get("responseNotContains", ()):
        resolved = _resolved(value, seed)
        yield "responseNotContains", None if resolved is None else resolved not in text
    for pattern in expect.get("responseMatches", ()):
        yield "responseMatches", re.search(pattern, text) is not None
    if expect.get("maxLatencyMs"):
        yield "maxLatencyMs", True  # the tests' agent answers at once
    if expect.get("maxTokens"):
        yield "maxTokens", len(text.encode()) <= expect["maxTokens"]  # no vocabulary counts more tokens than bytes


def _param_holds(entry: dict[str, Any], params: dict[str, Any], seed: Any) -> bool | None:
    name = entry["paramName"]
    value: Any = entry.get("value")
    match entry["assertion"]:
        case "exists" | "notExists" as op:
            return (name in params) is (op == "exists")
        case "oneOf":
            values = [resolved for each in value if (resolved := _resolved(each, seed)) is not None]
            return str(params.get(name)) in values if values else None
        case op:
            resolved, actual = _resolved(value, seed), str(params.get(name))
            if resolved is None:
                return None
            return {"equals": actual == resolved, "contains": resolved in actual}.get(
                op, bool(re.search(resolved, actual))
            )


def _resolved(text: str, seed: Any) -> str | None:
    """The text with its tokens resolved; None where one cannot be (contract, Template Token Resolution)."""
    values = {token[0]: _walk(token[2], seed if token[1] == "seed" else None) for token in _TOKEN.finditer(text)}
    if None in values.values():
        return None
    return _TOKEN.sub(lambda token: str(values[token[0]]), text)


def _walk(path: str, value: Any) -> Any:
    for step in path.split("."):
        indexed = _STEP.fullmatch(step)
        name = indexed[1] if indexed else step
        value = value.get(name) if isinstance(value, dict) else None
        if indexed:
            value = value[int(indexed[2])] if isinstance(value, list) else None
    return value
