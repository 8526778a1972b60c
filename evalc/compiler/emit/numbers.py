"""Emits the numbers of suites, gates and cases, each checked against its range."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil

from evalc.compiler.emit.emission import Emission
from evalc.diagnostics.catalogue.values import BadRequirement, outside
from evalc.diagnostics.problem import Diagnostics
from evalc.dsl.tree import GatesTree, Num
from evalc.model.gates import Gates
from evalc.model.numbers import RANGES, SHARE
from evalc.source import Source


def number_of(source: Source, number: Num | None, name: str, problems: Diagnostics) -> int | float | None:
    """The number of a field; one that the field does not take is reported and left out."""
    finding = None if number is None else outside(f"`{name}`", number.value, RANGES[name])
    if number is None or finding is None:
        return None if number is None else number.value
    problems.add(source, number.span, finding)
    return None


def number_in_case(emission: Emission, name: str) -> int | float | None:
    """The number of a field of a case."""
    picked = emission.case.pick(name)
    return None if picked is None else number_of(picked.source, picked.value, name, emission.problems)


def count_in_case(emission: Emission, name: str) -> int | None:
    """The number of a field of a case that counts something."""
    number = number_in_case(emission, name)
    return None if number is None else int(number)


def gates_of(source: Source, tree: GatesTree | None, problems: Diagnostics) -> Gates | None:
    """The gates; None where nothing is asked."""
    if tree is None:
        return None
    gates = Gates(
        min_pass_rate=number_of(source, tree.min_pass_rate, "min_pass_rate", problems),
        min_score=number_of(source, tree.min_score, "min_score", problems),
        max_p95_ms=number_of(source, tree.max_p95_ms, "max_p95_ms", problems),
        fail_on_regression=tree.fail_on_regression or None,
        confidence=number_of(source, tree.confidence, "confidence", problems),
        recall=_by_class(source, tree.recall, "recall", problems),
        precision=_by_class(source, tree.precision, "precision", problems),
        macro_f1=number_of(source, tree.macro_f1, "macro_f1", problems),
    )
    return None if gates == Gates() else gates


def _by_class(
    source: Source, limits: Sequence[tuple[str, Num]], name: str, problems: Diagnostics
) -> dict[str, int | float] | None:
    """The limits by class; one that is no share is reported and left out."""
    found: dict[str, int | float] = {}
    for label, number in limits:
        finding = outside(f"the {name} of `{label}`", number.value, SHARE)
        if finding is None:
            found[label] = number.value
        else:
            problems.add(source, number.span, finding)
    return found or None


def repetitions_of(emission: Emission) -> tuple[int | None, int | None]:
    """How often the case is run, and how often it has to pass."""
    case = emission.case
    repeat = count_in_case(emission, "repeat")
    picked = case.pick("require")
    if picked is None or (repeat is None and (case.partial or case.pick("repeat") is not None)):
        return repeat, None
    wanted, times = picked.value, 1 if repeat is None else repeat
    least = ceil(wanted.share * times - 1e-9) if wanted.share is not None else wanted.count
    reason = ""
    if wanted.of is not None and wanted.of != times:
        reason = f"this speaks of {wanted.of} runs, and the case is run {_times(times)}"
    elif least > times:
        reason = f"this asks for more passes than the case is run, which is {_times(times)}"
    elif least < 1:
        reason = "this asks for no pass at all"
    if reason:
        emission.problems.add(picked.source, wanted.span, BadRequirement(reason=reason))
        return repeat, None
    return repeat, least


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"
