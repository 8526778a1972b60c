"""The examples of the small languages' findings: each yields its code and no other, and its cure none."""

from __future__ import annotations

import re
from collections.abc import Iterator
from textwrap import dedent
from typing import Any

import pytest
import yaml

from evalc.diagnostics.catalogue import syntax_grammar
from evalc.diagnostics.problem import Finding
from evalc.grammar.parse import parse_check, parse_template

FINDINGS: list[type[Finding]] = [
    found
    for found in vars(syntax_grammar).values()
    if isinstance(found, type) and found.__base__ is Finding and found.__module__ == syntax_grammar.__name__
]


@pytest.mark.parametrize("finding", FINDINGS, ids=[finding.__name__ for finding in FINDINGS])
def test_example_and_cure(finding: type[Finding]) -> None:
    assert set(codes(block(finding, "Example"))) == {finding.code}
    assert list(codes(block(finding, "Cure"))) == []


def test_codes_are_unique_and_in_their_range() -> None:
    codes = [finding.code for finding in FINDINGS]
    assert codes == sorted(set(codes))
    assert all("EV131" <= code <= "EV169" for code in codes)


def block(finding: type[Finding], head: str) -> str:
    doc = dedent("    " + (finding.__doc__ or ""))
    found = re.search(rf"^{head}:\n((?:    .*\n|\n)+)", doc, re.MULTILINE)
    assert found is not None
    return dedent(found[1])


def codes(text: str) -> Iterator[str]:
    suite: dict[str, Any] = yaml.safe_load(text)
    (case,) = suite["eval"]["test_cases"]
    for prompt in (suite.get("prompt", ""), case.get("message", "")):
        yield from (fault.finding.code for fault in parse_template(prompt).faults)
    for check in case["validate"]:
        yield from (fault.finding.code for fault in parse_check(check).faults)
