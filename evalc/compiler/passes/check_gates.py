"""Reports gates that no outcome of so few cases could meet, or miss, at their confidence."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from evalc.base.terminal import counted
from evalc.compare.rates import fewest_changes, fewest_to_fail, fewest_to_hold
from evalc.compiler import ir
from evalc.diagnostics import Diagnostics, Finding
from evalc.ecma import class_name
from evalc.model.case import Gates
from evalc.model.json import pointer_step
from evalc.model.numbers import CONFIDENCE, SHARE, shown_confidence

_JSON_NAMES: Final = {
    "min_pass_rate": "minPassRate",
    "max_p95_ms": "maxP95Ms",
    "fail_on_regression": "failOnRegression",
    "confidence": "confidence",
    "recall": "recall",
    "precision": "precision",
    "macro_f1": "macroF1",
}
_IN_TIME: Final = 0.95


def check_gates(suite: ir.Suite, problems: Diagnostics) -> None:
    """Report what the confidence of the suite's gates cannot be had for (the language, Gates)."""
    gates = suite.gates
    if gates is not None and not suite.partial:
        _check_classes(suite, gates, problems)
    if gates is None or gates.confidence is None or suite.partial or not CONFIDENCE.takes(gates.confidence):
        return
    if not gates:
        problems.add(*_place(suite, "confidence"), Finding("EV703"), at_most=suite.gravest)
        return
    found: dict[str, Finding] = {}
    for tier in suite.cases.tiers:
        cases = sum(int(part.running) for part in suite.cases.parts if part.tier == tier)
        found |= dict(_findings(gates, gates.confidence, cases)) if cases else {}
    for name, finding in found.items():
        problems.add(*_place(suite, name), finding, at_most=suite.gravest)


def _check_classes(suite: ir.Suite, gates: Gates, problems: Diagnostics) -> None:
    """Report gates on classes that no case has as its label."""
    if not (gates.recall or gates.precision or gates.macro_f1):
        return
    labels = (case.label for case in suite.cases if case.label is not None)
    known = tuple(sorted({class_name(label.expected, label.path) for label in labels}))
    for name, limits in (("recall", gates.recall), ("precision", gates.precision)):
        for label in limits or {}:
            if label not in known:
                where = suite.gate_places.get(f"{name}.{label}", f"/metadata/gates/{name}/{pointer_step(label)}")
                problems.add(*suite.place(where), Finding("EV704", name=label, known=known), at_most=suite.gravest)
    if gates.macro_f1 and not known:
        problems.add(*_place(suite, "macro_f1"), Finding("EV704", name=None, known=()), at_most=suite.gravest)


def _findings(gates: Gates, confidence: float, cases: int) -> Iterator[tuple[str, Finding]]:
    sure, these = shown_confidence(confidence), counted(cases, "case")
    rate = gates.min_pass_rate
    limits = {} if rate is None or not SHARE.takes(rate) else {"min_pass_rate": (rate, f"a pass rate of {rate:g}")}
    if gates.max_p95_ms is not None:
        limits["max_p95_ms"] = (_IN_TIME, "that 95 % are in time")
    for name, (limit, what) in limits.items():
        holds, fails = fewest_to_hold(limit, confidence), fewest_to_fail(limit, confidence)
        if holds is None or cases < holds:
            yield name, Finding("EV701", what=what, cases=these, confidence=sure, needed=holds)
        elif fails is not None and cases < fails:
            needed = f"{counted(fails, 'case')} that all fail are needed"
            yield name, Finding("EV702", what=f"less than {what}", cases=these, confidence=sure, needed=needed)
    if gates.fail_on_regression and cases < (fewest := fewest_changes(confidence)):
        needed = f"{fewest} that get worse are needed"
        yield (
            "fail_on_regression",
            Finding("EV702", what="a regression", cases=these, confidence=sure, needed=needed),
        )


def _place(suite: ir.Suite, name: str) -> ir.Located:
    return suite.place(suite.gate_places.get(name, f"/metadata/gates/{_JSON_NAMES[name]}"))
