"""Evaluates a check on parts of an answer, in one call."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

from evalc.check.tree import Check
from evalc.grammar.read_check import read_check
from evalc.runtime.checks import Beside, Evidence, Verdict, View
from evalc.runtime.checks.evaluate import evaluate


class Ask:
    """`ask(check, response, **evidence)` evaluates a check."""

    def __call__(self, check: Check, response: str = "", *, beside: Sequence[Check] = (), **evidence: Any) -> Verdict:
        return asyncio.run(evaluate(check, View.of(Evidence(response=response, **evidence), Beside(beside))))


@pytest.fixture
def ask() -> Ask:
    return Ask()


def check_in(line: str) -> Check:
    """The check that a line is."""
    found = read_check(line).node
    assert found is not None
    return found.check
