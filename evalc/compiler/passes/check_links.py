"""From the links of a suite's cases to those that name no criterion of the suite."""

from __future__ import annotations

from evalc.compiler import ir
from evalc.diagnostics.catalogue.names import UnknownCriterion
from evalc.diagnostics.problem import Diagnostics


def check_links(suite: ir.Suite, problems: Diagnostics) -> None:
    """Report checks that count for a criterion which the suite does not declare; none where some may be lacking."""
    if suite.criteria_partial:
        return
    known = tuple(criterion.name for criterion in suite.criteria)
    for case in suite.cases:
        for link in case.links:
            if link.criterion is not None and link.criterion not in known:
                finding = UnknownCriterion(name=link.criterion, known=known)
                problems.add(*suite.place(link.where), finding)
