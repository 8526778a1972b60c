"""Reports what the contract and the case model do not allow in a case of its tier, and in a suite as a whole.

Of gates it reports those that no outcome of so few cases could meet, or miss, at their confidence.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final, final

from evalc.base.terminal import counted
from evalc.check.contract import KEYS, fields_of, single_values
from evalc.check.forms import record_of, texts_at
from evalc.check.tree import All, Call, Measure, Not, Of, Some, Test, Tools, Turn, asks, within
from evalc.compiler import ir
from evalc.compiler.examine import typos_in
from evalc.diagnostics import Diagnostics, Finding
from evalc.diagnostics.raised import outside
from evalc.ecma import class_name
from evalc.model.case import Gates
from evalc.model.json import Fingerprints, pointer_step, to_json
from evalc.model.numbers import CONFIDENCE, SHARE, WEIGHT, shown_confidence


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
                # A judge scores the criteria that no check names.
                is_judged = case.tier == "rubric" or any(asks(item.check, "judge") for item in case.checks)
                self._is_scored_otherwise = self._is_scored_otherwise or case.partial or is_judged
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


_TOKEN: Final = re.compile(r"\{\{\s*(seed|snapshot):.*?\}\}", re.DOTALL)
_NO_TOKENS_IN: Final = "the names of tools, in patterns and in a rubric"
_GOLDEN: Final = ("toolsCalled", "noToolErrors", "responseNonEmpty")
_REQUIRED: Final = {
    "labeled": (("difficulty", "difficulty"),),
    "regression": (("difficulty", "difficulty"), ("createdAt", "created_at"), ("bugRef", "bug_ref")),
}
"""The fields that a case of a tier has to have, in JSON and in YAML, where a difficulty need not be written out."""
_AS_IN: Final = {"created_at": "created_at: 2026-03-02", "bug_ref": 'bug_ref: "#17"'}
_OUTSIDE: Final = {
    "golden": frozenset(("toolsAcceptable", "toolsNotCalled")),
    "regression": frozenset(("toolsNotCalled",)),
}
_DIFFICULTIES: Final[dict[str, tuple[str, ...]]] = {
    "golden": (),
    "labeled": ("straightforward", "ambiguous", "edge"),
    "regression": ("regression",),
}
_ID_PREFIX: Final = {"golden": "gs", "labeled": "ls", "regression": "rg"}
_ID: Final = re.compile(r"(?:gs|ls|rg)-[\w.-]+-\d{3,}|[^/\s][^/]*/.+")


def check_contract(suite: ir.Suite, problems: Diagnostics) -> None:
    """Report what the contract forbids or asks for, case by case."""
    for case in suite.cases:
        for where, finding in _findings(suite, case):
            by_row = finding.code == "EV401" and case.expected is not None  # which its row leaves empty
            row = suite.row_of(case) if by_row else None
            at_most = suite.gravest if _is_of_meaning(finding) else "error"
            problems.add(*suite.place(where), finding, row=row, at_most=at_most)


def _is_of_meaning(finding: Finding) -> bool:
    """Whether a runner of the contract runs the case all the same."""
    code = finding.code
    return code in {"EV417", "EV418", "EV419"} or (code == "EV416" and finding.fields["field"] == "difficulty")


def _findings(suite: ir.Suite, case: ir.Case) -> Iterator[tuple[ir.Where, Finding]]:
    kinds = set[Any]()
    for item in case.checks:
        check = item.check.check if type(item.check) is Not else item.check
        kinds.add(check.predicate if type(check) is Test else type(check.step) if type(check) is Of else type(check))
    if not kinds or suite.from_json or case.tier != "labeled":
        yield from _completeness(suite, case)
    allowed = _DIFFICULTIES.get(case.tier)
    if allowed is not None and case.difficulty not in (None, *allowed):
        finding = Finding("EV417", difficulty=case.difficulty, tier=case.tier, allowed=allowed)
        yield case.place_of("/difficulty"), finding
    if not kinds.isdisjoint(_COMPOSED):
        yield from _turns(case)
    if not kinds <= _WITHOUT_PATTERN:
        yield from _slashed_patterns(case)
    if not kinds.isdisjoint(_OF_CALLS):
        yield from _fields_of_calls(case)
    by_expected = not case.checks and bool(case.expected)  # which is checked by itself, with a score
    if case.threshold and case.threshold <= 1 and not (suite.criteria or suite.partial or by_expected):
        yield case.place_of("/threshold"), Finding("EV419", what=f"`threshold: {case.threshold:g}`")
    if case.tier in _OUTSIDE:
        yield from _tier(case)
    if suite.from_json or case.tier == "regression":
        yield from _tokens(suite, case)
    if suite.from_json and case.tier in _ID_PREFIX and not _ID.fullmatch(case.id):
        example = f"{_ID_PREFIX[case.tier]}-{suite.tool.replace('_', '-')}-001"
        yield case.place_of("/id"), Finding("EV408", id=case.id, example=example)


def _completeness(suite: ir.Suite, case: ir.Case) -> Iterator[tuple[ir.Where, Finding]]:
    if case.partial:
        return
    if not case.checks:
        if case.expected is None or not case.expected.strip():
            if case.running or case.row is None:  # a row that is skipped may lack anything
                yield case.where, Finding("EV401", case=case.name)
        else:
            yield case.place_of("/expected"), Finding("EV411", case=case.name)
    for key, field in _REQUIRED.get(case.tier, ()):
        if not getattr(case, field) and (suite.from_json or field != "difficulty"):
            shown = key if suite.from_json else field
            example = "" if suite.from_json else _AS_IN.get(field, "")
            yield case.where, Finding("EV416", field=shown, tier=case.tier, case=case.name, example=example)
    if case.tier == "golden":
        held = {KEYS[field] for item in case.checks for field in fields_of(item.check)}
        if missing := tuple(name for name in _GOLDEN if name not in held):
            yield case.where, Finding("EV406", case=case.name, fields=missing)


def _turns(case: ir.Case) -> Iterator[tuple[ir.Where, Finding]]:
    there = 1 + len(case.follow_ups or ()) if case.user is None else case.user.max_turns
    for item in () if case.partial else case.checks:
        steps = (part.step for part in within(item.check) if isinstance(part, Of))
        beyond = next((step.number for step in steps if isinstance(step, Turn) and step.number > there), None)
        if beyond is not None:
            yield item.where, Finding("EV422", turn=beyond, turns=there)


def _slashed_patterns(case: ir.Case) -> Iterator[tuple[ir.Where, Finding]]:
    for item in case.checks:
        for part in (item.check,) if type(item.check) is Test else within(item.check):
            if type(part) is not Test or part.predicate != "matches":
                continue
            pattern, flags = part.operand
            if isinstance(pattern, str) and pattern[:1] == "/" and not flags and (match := _SLASHED.fullmatch(pattern)):
                where = item.where if isinstance(item.where, str) else item.names.get(pattern, item.where)
                meant = f"(?i:{match['pattern']})" if match["flags"] == "i" else ""
                yield where, Finding("EV423", written=match[0], meant=meant)


_WITHOUT_PATTERN: Final = frozenset(("contains", "contains_any", Measure, Tools))
"""Kinds that most cases have, and that hold no pattern."""
_SLASHED: Final = re.compile(r"/(?P<pattern>(?:[^/\\\[\r\n]|\\.|\[(?:[^\]\\\r\n]|\\.)*\])+)/(?P<flags>[gimsuvy]{1,7})")


_COMPOSED: Final = frozenset((Turn, Some, All, Not))
_OF_CALLS: Final = frozenset((Tools, Measure, Call))


def _fields_of_calls(case: ir.Case) -> Iterator[tuple[ir.Where, Finding]]:
    """The mistakes in fields that hold one value, and in values of parameters."""
    places: dict[str, ir.Where] = {}
    for item in case.checks:
        if type(item.check) is not Of:
            continue
        for value in single_values(item.check).values():
            if value in places:
                yield item.where, Finding("EV412", field=value)
            places.setdefault(value, item.where)
        match record_of(item.check) if type(item.check.step) is Call else {}:
            case {"type": "tool_param", "assertion": assertion, **rest} if assertion not in ("exists", "notExists"):
                wants_list = assertion == "oneOf"
                if not isinstance(rest.get("value"), list if wants_list else str):
                    wants = f"needs a `value` that is a {'list of texts' if wants_list else 'text'}"
                    yield item.where, Finding("EV414", assertion=assertion, wants=wants)
    if {"toolsCalled", "toolsAcceptable"} <= places.keys():
        yield places["toolsAcceptable"], Finding("EV402")


def _tier(case: ir.Case) -> Iterator[tuple[ir.Where, Finding]]:
    outside = _OUTSIDE[case.tier]
    for item in case.checks:
        # tool-forge allows eval JSON's `regexPattern` in every tier
        is_pattern = isinstance(item.where, str) and item.where.endswith("/expect/regexPattern")
        for field in map(KEYS.__getitem__, fields_of(item.check)):
            if (field == "responseMatches" and not is_pattern) or field == "maxTokens":
                yield item.where, Finding("EV403", field=field, tier=case.tier)
            if field in outside:
                yield item.where, Finding("EV407", field=field, tier=case.tier)


def _tokens(suite: ir.Suite, case: ir.Case) -> Iterator[tuple[ir.Where, Finding]]:
    if suite.from_json:
        for token in _TOKEN.finditer(case.message):
            yield case.place_of("/input/message"), Finding("EV405", token=token[0], where="a message")
    for item in case.checks:
        if b"{{" not in to_json(item.check):
            continue
        for role, text, pointer in texts_at(record_of(item.check)):
            if suite.from_json and not role.no_tokens_in and isinstance(item.where, str):
                for typo in typos_in(text):
                    yield item.where + pointer, Finding("EV418", text=typo.text, meant=typo.meant)
            for token in _TOKEN.finditer(text) if "{{" in text else ():
                where = item.where + pointer if isinstance(item.where, str) else item.where
                if role.no_tokens_in and suite.from_json:
                    yield where, Finding("EV405", token=token[0], where=_NO_TOKENS_IN)
                elif case.tier == "regression" and token[1] == "snapshot":
                    yield where, Finding("EV404", token=token[0])


_JSON_NAMES: Final = {
    "min_pass_rate": "minPassRate",
    "min_score": "minScore",
    "max_p95_ms": "maxP95Ms",
    "fail_on_regression": "failOnRegression",
    "confidence": "confidence",
    "recall": "recall",
    "precision": "precision",
    "macro_f1": "macroF1",
}
_IN_TIME: Final = 0.95


def check_gates(suite: ir.Suite, problems: Diagnostics) -> None:
    """Report gates that nothing misses, and what their confidence cannot be had for (the language, Gates)."""
    gates = suite.gates
    if gates is not None:
        _check_limits(suite, gates, problems)
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
        found |= dict(_gates_unmet(gates, gates.confidence, cases)) if cases else {}
    for name, finding in found.items():
        problems.add(*_place(suite, name), finding, at_most=suite.gravest)


def _check_limits(suite: ir.Suite, gates: Gates, problems: Diagnostics) -> None:
    """Report limits that no outcome is below. With such a gate, nothing asks any more that the cases pass."""
    limits = {name: getattr(gates, name) for name in ("min_pass_rate", "min_score", "macro_f1")}
    limits |= {f"recall.{label}": limit for label, limit in (gates.recall or {}).items()}
    limits |= {f"precision.{label}": limit for label, limit in (gates.precision or {}).items()}
    for name, limit in limits.items():
        if limit == 0:
            found = Finding("EV501", check=f"`{name.replace('.', ': {', 1)}: 0{'}' * ('.' in name)}`", why=_BELOW_ZERO)
            problems.add(*_place(suite, name), found, at_most=suite.gravest)


_BELOW_ZERO: Final = "no outcome is below 0"


def _check_classes(suite: ir.Suite, gates: Gates, problems: Diagnostics) -> None:
    """Report gates on classes that no case has as its label."""
    if not (gates.recall or gates.precision or gates.macro_f1):
        return
    labels = (case.label for case in suite.cases if case.label is not None)
    known = tuple(sorted({class_name(label.expected, label.path) for label in labels}))
    for name, limits in (("recall", gates.recall), ("precision", gates.precision)):
        for label in limits or {}:
            if label not in known:
                place = _place(suite, f"{name}.{label}")
                problems.add(*place, Finding("EV704", name=label, known=known), at_most=suite.gravest)
    if gates.macro_f1 and not known:
        problems.add(*_place(suite, "macro_f1"), Finding("EV704", name=None, known=()), at_most=suite.gravest)


def _gates_unmet(gates: Gates, confidence: float, cases: int) -> Iterator[tuple[str, Finding]]:
    # For start-up: few suites have such gates.
    from evalc.compare.rates import fewest_changes, fewest_to_fail, fewest_to_hold  # noqa: PLC0415

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
    gate, of_class, label = name.partition(".")
    pointer = f"/{pointer_step(label)}" if of_class else ""
    return suite.place(suite.gate_places.get(name, f"/metadata/gates/{_JSON_NAMES[gate]}{pointer}"))
