"""Reports what only a suite as a whole shows: ids that two cases have, odd weights, and links to unknown criteria."""

from __future__ import annotations

from typing import final

from evalc.check.tree import asks
from evalc.compiler import ir
from evalc.compiler.fingerprints import Fingerprints
from evalc.diagnostics.problem import Diagnostics, Finding
from evalc.diagnostics.raised import outside
from evalc.model.numbers import WEIGHT


def check_criteria(suite: ir.Suite, problems: Diagnostics) -> None:
    """Report weights that add up to nothing, and those that look like a typo (the language, Weights)."""
    beyond = False
    for criterion in suite.criteria:
        finding = outside(f"the weight of `{criterion.name}`", criterion.weight, WEIGHT)
        if finding is not None:
            problems.add(*suite.place(criterion.where), finding)
            beyond = True
    if not (suite.criteria or suite.criteria_partial or suite.weights_partial or suite.partial):
        gates = {} if suite.gates is None else {"min_score": suite.gates.min_score}
        for name, limit in {"threshold": suite.threshold, **gates}.items():
            if limit and limit <= 1:
                never = Finding("EV419", what=f"`{name}: {limit:g}`")
                problems.add(*suite.place(suite.where), never, at_most=suite.gravest)
    if not suite.criteria or suite.weights_partial or beyond:
        return
    total = sum(criterion.weight for criterion in suite.criteria)
    first = suite.place(suite.criteria[0].where)
    if total == 0:
        problems.add(*first, Finding("EV304"))
    for criterion in suite.criteria:
        if criterion.weight > 1:
            found = f"the weight of `{criterion.name}` is {criterion.weight:g}"
            problems.add(*suite.place(criterion.where), Finding("EV305", found=found))
    if all(criterion.weight == 1 for criterion in suite.criteria):
        return  # none is written, or all are the same
    if total and all(criterion.weight <= 1 for criterion in suite.criteria) and abs(total - 1) > 0.05:
        problems.add(*first, Finding("EV305", found=f"the weights of the criteria add up to {total:g}"))


@final
class Links:
    """Reports which checks count for unknown criteria, and where none counts for any; the cases come in pieces."""

    def __init__(self) -> None:
        self._cases = 0
        self._unlinked = 0
        self._first = ""
        self._is_scored_otherwise = False

    def check(self, suite: ir.Suite, problems: Diagnostics) -> None:
        """Report checks that count for a criterion which the suite does not declare; none where some may be lacking."""
        if suite.criteria_partial:
            return
        known = tuple(criterion.name for criterion in suite.criteria)
        for case in suite.cases:
            is_linked = False
            for link in case.links:
                is_linked |= link.criterion is not None
                if link.criterion is not None and link.criterion not in known:
                    finding = Finding("EV204", name=link.criterion, known=known)
                    problems.add(*suite.place(link.where), finding)
            if not case.checks and case.expected is None:
                continue  # it asserts nothing, which is reported
            self._cases += 1
            if not is_linked and len(known) > 1:
                self._is_scored_otherwise = self._is_scored_otherwise or case.partial or _is_judged(case)
                self._unlinked += 1
                self._first = self._first or case.id

    def finish(self, suite: ir.Suite, problems: Diagnostics) -> None:
        """Report that all criteria have the same score, in each case or in some of them."""
        several = len({criterion.name for criterion in suite.criteria}) > 1
        if not several or not self._unlinked or suite.partial or suite.weights_partial or self._is_scored_otherwise:
            return
        place = suite.place(suite.criteria[0].where)
        if self._unlinked == self._cases:
            problems.add(*place, Finding("EV424", criteria=len(suite.criteria)))
        else:
            problems.add(*place, Finding("EV425", unlinked=self._unlinked, of=self._cases, case=self._first))


def _is_judged(case: ir.Case) -> bool:
    """Whether the case needs a judge, who then scores the criteria that no check names."""
    return case.tier == "rubric" or any(asks(item.check, "judge") for item in case.checks)


def check_ids(suite: ir.Suite, seen: Fingerprints, problems: Diagnostics) -> None:
    """Report cases whose id another one has: a row `Paris` of `weather`, and a case named `weather@Paris`.

    `seen` are the ids of earlier cases. Ids that are the same as they are written were
    reported where names are.
    """
    for case in suite.cases:
        if seen.add(case.id) is not None and not suite.from_json:
            where = case.where if "@" in case.id else case.row
            if where is not None:
                problems.add(*suite.place(where), Finding("EV206", what="id", name=case.id))
