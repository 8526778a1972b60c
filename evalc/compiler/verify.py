"""Verifies what later phases rely on. A failure here is a bug in the compiler."""

from __future__ import annotations

from math import inf
from typing import NoReturn

from evalc.compiler import ir
from evalc.compiler.order import ranks


class BrokenPromiseError(AssertionError):
    """The IR is not what it promises to be: a mistake of the compiler, never of an author."""


def verify(suite: ir.Suite) -> None:
    """Hold a suite without errors to what `ir` says about it.

    Raises:
        BrokenPromiseError: it is not so.
    """
    if not suite.cases:
        _break("a suite has cases", suite.name)
    names = {criterion.name for criterion in suite.criteria}
    if len(names) != len(suite.criteria):
        _break("the names of criteria are unique", suite.name)
    ids: set[int] = set()  # their hashes, since there may be very many
    for case in suite.cases:
        _verify_case(case, names)
        ids.add(hash(case.id))
    if len(ids) != len(suite.cases):
        _break("ids are unique", suite.name)


def _verify_case(case: ir.Case, criteria: set[str]) -> None:
    if case.partial:
        _break("nothing was left out", case.id)
    if len(case.checks) > 1:
        in_order = ranks(case.checks)
        if in_order != sorted(in_order):
            _break("checks stand in the canonical order", case.id)
    if case.links:
        _verify_links(case, criteria)


def _verify_links(case: ir.Case, criteria: set[str]) -> None:
    count = len(case.checks)
    for link in case.links:
        if link.criterion is not None and link.criterion not in criteria:
            _break("a link names a criterion of the suite", case.id)
        if not link.checks or min(link.checks) < 0 or max(link.checks) >= count:
            _break("links lead to checks", case.id)
        if not 0 <= link.weight < inf:
            _break("weights are finite and not negative", case.id)
    heads = [link.checks for link in case.links]
    if len(heads) > 1 and heads != sorted(heads):
        _break("links stand in the order of their checks", case.id)


def _break(promise: str, where: str) -> NoReturn:
    raise BrokenPromiseError(f"{where}: it does not hold that {promise}")
