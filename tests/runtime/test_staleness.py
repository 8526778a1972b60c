"""The contract's staleness checks, in its words."""

from __future__ import annotations

from typing import Any

import pytest

from evalc.model.case import Metadata
from evalc.model.json import short_hash
from evalc.runtime.run.finish import check_staleness
from evalc.tools import Tool, ToolRegistry


def registry(size: int = 1, version: str | None = "2.1.0") -> ToolRegistry:
    tools = {"get_weather": Tool(name="get_weather", description="The weather.", version=version)}
    tools.update({f"t{n}": Tool(name=f"t{n}") for n in range(size - 1)})
    return ToolRegistry(tools=tools)


def metadata(**fields: Any) -> Metadata:
    return Metadata(tool_name="get_weather", tier="golden", **fields)


def test_nothing_to_compare() -> None:
    assert check_staleness(None, registry()) == (False, ())
    assert check_staleness(metadata(description_hash="x"), None) == (False, ())
    assert check_staleness(metadata(), registry()) == (False, ())
    assert check_staleness(metadata(description_hash=short_hash("The weather.")), registry()) == (False, ())


def test_another_description_is_stale() -> None:
    found = check_staleness(metadata(description_hash="abc123"), registry())
    current = short_hash("The weather.")
    assert found.stale
    (warning,) = found.warnings
    assert warning == (
        f"Evals for get_weather generated against description hash abc123, current is {current}. "
        "Results may not reflect current routing contract."
    )


@pytest.mark.parametrize(
    ("then", "now", "warns"), [(2, 3, False), (2, 4, True), (3, 4, False), (3, 5, True), (0, 1, True)]
)
def test_a_registry_that_grew_by_more_than_half(then: int, now: int, warns: bool) -> None:
    found = check_staleness(metadata(registry_size=then), registry(now))
    expected = (
        f"Registry has grown from {then} to {now} tools. Labeled evals may have under-specified toolsAcceptable sets."
    )
    assert (found.stale, found.warnings) == (False, (expected,) if warns else ())


@pytest.mark.parametrize(
    ("then", "now", "warns"),
    [
        ("1.9.9", "2.0.0", True),
        ("2.0.0", "2.9.0", False),
        ("v2", "2.1.0", False),
        ("2.0.0", None, False),
        ("next", "2.0.0", True),
        ("12.0", "1.2", True),
    ],
)
def test_another_major_version(then: str, now: str | None, warns: bool) -> None:
    found = check_staleness(metadata(tool_version=then), registry(version=now))
    expected = f"Tool get_weather is version {now}, evals were generated for {then}. Schema may have changed."
    assert (found.stale, found.warnings) == (False, (expected,) if warns else ())
