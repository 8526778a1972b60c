"""From the fields of a case that hold a number to that number: shares, counts, how often it runs and has to pass."""

from __future__ import annotations

from math import ceil

from evalc.compiler.emit.emission import Emission
from evalc.diagnostics.catalogue.values import BadRequirement, OutOfRange
from evalc.diagnostics.problem import Diagnostics
from evalc.dsl.tree import Num
from evalc.source import Source


def share(source: Source, number: Num | None, problems: Diagnostics) -> int | float | None:
    """A threshold; one that is no share of 1 is reported."""
    if number is not None and not 0 <= number.value <= 1:
        finding = OutOfRange(what="`threshold`", value=f"{number.value}", allowed="between 0 and 1")
        problems.add(source, number.span, finding)
        return None
    return None if number is None else number.value


def threshold_of(emission: Emission) -> int | float | None:
    """The threshold of a case."""
    picked = emission.case.pick("threshold")
    return None if picked is None else share(picked.source, picked.value, emission.problems)


def count_of(emission: Emission, field: str) -> int | None:
    """A field that counts something, 1 or more."""
    picked = emission.case.pick(field)
    if picked is None:
        return None
    if picked.value.value < 1:
        finding = OutOfRange(what=f"`{field}`", value=f"{picked.value.value}", allowed="1 or more")
        emission.problems.add(picked.source, picked.value.span, finding)
        return None
    return int(picked.value.value)


def repetitions_of(emission: Emission) -> tuple[int | None, int | None]:
    """How often the case is run, and how often it has to pass."""
    case = emission.case
    repeat = count_of(emission, "repeat")
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
