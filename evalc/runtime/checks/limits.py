"""Checks of what an answer took: time, tokens, money."""

from __future__ import annotations

import importlib.machinery
import importlib.util
from functools import cache
from typing import Any, Final

from evalc.base.terminal import well_formed
from evalc.model import checks as c
from evalc.runtime.checks.verdict import PASSED, Evidence, Verdict, broken, failed
from evalc.runtime.checks.wording import number

ENCODING: Final = "o200k_base"
"""The vocabulary that tokens are counted with, whatever the agent's own."""


def latency(check: c.Latency, evidence: Evidence) -> Verdict:
    """Contract, 8. maxLatencyMs."""
    if evidence.duration_ms <= check.max:
        return PASSED
    return failed(f"expected at most {number(check.max)} ms but took {number(evidence.duration_ms)} ms")


def tokens(check: c.Tokens, evidence: Evidence) -> Verdict:
    """Contract, 9. maxTokens."""
    count = count_tokens(evidence.response)
    if count <= check.max:
        return PASSED
    return failed(f"expected at most {number(check.max)} tokens but got {count}")


def cost(check: c.Cost, evidence: Evidence) -> Verdict:
    """The cost that the agent reports, or that a model's list price gives; an unknown cost is not a low cost."""
    spent = evidence.usage.cost_usd if evidence.usage else None
    if spent is None:
        return broken(
            "what it cost is not known: the agent's answer has no `usage.costUsd`, "
            "and its model has no list price to compute it from"
        )
    if spent <= check.max:
        return PASSED
    return failed(f"expected at most ${number(check.max)} but it cost ${number(spent)}")


def count_tokens(text: str) -> int:
    """The tokens of a text; what looks like a special token is text, half a surrogate pair is U+FFFD."""
    return int(_tokenizer().count(well_formed(text)))


@cache
def _tokenizer() -> Any:
    """The tokenizer, its vocabulary loaded: a twentieth of a second, when first needed.

    The package's compiled module is loaded by itself. The Python around it would read every vocabulary a second time
    (half a second, 75 MB), and refuses long texts that the module counts in linear time.
    """
    package = importlib.util.find_spec("bpe_openai")
    folders = package.submodule_search_locations if package else None
    spec = importlib.machinery.PathFinder.find_spec("bpe_openai._bindings", folders)
    if spec is None or spec.loader is None:
        raise ImportError("the package `bpe-openai` is not installed")
    module: Any = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.tokenizer_for_encoding(ENCODING)
