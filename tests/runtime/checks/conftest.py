"""Evaluates a check on parts of an answer, in one call."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import msgspec
import pytest

from evalc.check.forms import check_of
from evalc.check.tree import Check
from evalc.model import checks as c
from evalc.runtime.checks.evaluate import evaluate
from evalc.runtime.checks.verdict import Evidence, Verdict


class Ask:
    """`ask(check, response, **evidence)` evaluates a check."""

    def __call__(
        self, check: Check | c.Check, response: str = "", *, beside: Sequence[Check] = (), **evidence: Any
    ) -> Verdict:
        tree = check if isinstance(check, Check) else check_of(msgspec.to_builtins(check))
        return asyncio.run(evaluate(tree, Evidence(response=response, **evidence), beside=beside))


@pytest.fixture
def ask() -> Ask:
    return Ask()
