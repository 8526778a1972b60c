"""Evaluates a check on parts of an answer, in one call."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

from evalc.check.tree import Check
from evalc.runtime.checks import Beside, Evidence, Verdict, View
from evalc.runtime.checks.evaluate import evaluate


class Ask:
    """`ask(check, response, **evidence)` evaluates a check."""

    def __call__(self, check: Check, response: str = "", *, beside: Sequence[Check] = (), **evidence: Any) -> Verdict:
        return asyncio.run(evaluate(check, View.of(Evidence(response=response, **evidence), Beside(beside))))


@pytest.fixture
def ask() -> Ask:
    return Ask()
