"""Verifies what later phases rely on. A failure here is a bug in the compiler."""

from __future__ import annotations

from math import inf

from evalc.compiler import ir
from evalc.compiler.order import rank


class BrokenPromiseError(AssertionError):
    """The IR is not what it promises to be: a mistake of the compiler, never of an author."""


def verify(suite: ir.Suite) -> None:
    """Hold a suite without errors to what `ir` says about it.

    Raises:
        BrokenPromiseError: it is not so.
    """
    _hold(bool(suite.cases), "a suite has cases", suite.name)
    names = {criterion.name for criterion in suite.criteria}
    _hold(len(names) == len(suite.criteria), "the names of criteria are unique", suite.name)
    ids: set[int] = set()  # their hashes, since there may be very many
    for case in suite.cases:
        _verify_case(case, names)
        ids.add(hash(case.id))
    _hold(len(ids) == len(suite.cases), "ids are unique", suite.name)


def _verify_case(case: ir.Case, criteria: set[str]) -> None:
    _hold(not case.partial, "nothing was left out", case.id)
    if len(case.checks) > 1:
        ranks = [rank(item.check) for item in case.checks]
        _hold(ranks == sorted(ranks), "checks stand in the canonical order", case.id)
    if case.links:
        _verify_links(case, criteria)


def _verify_links(case: ir.Case, criteria: set[str]) -> None:
    count = len(case.checks)
    for link in case.links:
        named = link.criterion is None or link.criterion in criteria
        _hold(named, "a link names a criterion of the suite", case.id)
        leads = bool(link.checks) and min(link.checks) >= 0 and max(link.checks) < count
        _hold(leads, "links lead to checks", case.id)
        _hold(0 <= link.weight < inf, "weights are finite and not negative", case.id)
    heads = [link.checks for link in case.links]
    _hold(heads == sorted(heads), "links stand in the order of their checks", case.id)


def _hold(promise: bool, words: str, where: str) -> None:
    if not promise:
        raise BrokenPromiseError(f"{where}: {words}")
