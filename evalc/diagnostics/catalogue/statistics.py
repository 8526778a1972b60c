"""EV7xx: gates that so few cases cannot decide."""

from __future__ import annotations

from typing import ClassVar

from evalc.diagnostics.near import Slip, listed, slip_of
from evalc.diagnostics.problem import Finding, Severity


class TooFewToHold(Finding, frozen=True, kw_only=True):
    """A gate that so few cases can never meet at its confidence, even if all of them pass.

    The gate stays undecided whatever the agent does, so the run always fails.

    Example:
        gates: {min_pass_rate: 0.9, confidence: 95%}
        eval:
          test_cases:
            - {name: a, message: hi, validate: [contains "x"]}
            - {name: b, message: ho, validate: [contains "y"]}

    Cure:
        gates: {min_pass_rate: 0.9}
        eval:
          test_cases:
            - {name: a, message: hi, validate: [contains "x"]}
            - {name: b, message: ho, validate: [contains "y"]}
    """

    code: ClassVar[str] = "EV701"
    blocks: ClassVar[bool] = False
    what: str
    cases: str
    confidence: str
    needed: int | None

    def message(self) -> str:
        return f"{self.cases} cannot show {self.what} at {self.confidence}, even if every one passes"

    def help(self) -> str:
        if self.needed is None:
            return "no number of cases can: lower the rate, or remove `confidence`"
        return f"{self.needed} cases can, if all of them pass; or remove `confidence`"


class TooFewToFail(Finding, frozen=True, kw_only=True):
    """A gate that so few cases could never miss at its confidence.

    Whatever the agent does, the result could be chance.

    Example:
        gates: {fail_on_regression: true, confidence: 95%}
        eval:
          test_cases:
            - {name: a, message: hi, validate: [contains "x"]}
            - {name: b, message: ho, validate: [contains "y"]}

    Cure:
        gates: {fail_on_regression: true}
        eval:
          test_cases:
            - {name: a, message: hi, validate: [contains "x"]}
            - {name: b, message: ho, validate: [contains "y"]}
    """

    code: ClassVar[str] = "EV702"
    blocks: ClassVar[bool] = False
    severity: ClassVar[Severity] = "warning"
    what: str
    cases: str
    confidence: str
    needed: str

    def message(self) -> str:
        return f"{self.cases} cannot show {self.what} at {self.confidence}: {self.needed}"

    def help(self) -> str:
        return "add cases, lower the confidence, or remove `confidence`"


class NoSuchClass(Finding, frozen=True, kw_only=True):
    """A gate on a class that no case has as its label. It can never be met.

    Example:
        gates: {recall: {refunds: 0.9}}
        eval:
          test_cases:
            - {name: a, message: hi, label: {expected: refund}}

    Cure:
        gates: {recall: {refund: 0.9}}
        eval:
          test_cases:
            - {name: a, message: hi, label: {expected: refund}}
    """

    code: ClassVar[str] = "EV704"
    blocks: ClassVar[bool] = False
    name: str | None
    known: tuple[str, ...]

    def message(self) -> str:
        return "no case has a `label`" if self.name is None else f"no case has the label `{self.name}`"

    def slip(self) -> Slip | None:
        return None if self.name is None else slip_of(self.name, self.known)

    def help(self) -> str:
        return f"the labels are {listed(self.known)}" if self.known else "add `label:` to the cases, or remove the gate"


class ConfidenceOfNothing(Finding, frozen=True, kw_only=True):
    """A `confidence` without a gate.

    Example:
        gates: {confidence: 95%}
        eval:
          test_cases: [{name: a, message: hi, validate: [contains "x"]}]

    Cure:
        gates: {min_pass_rate: 0.5, confidence: 80%}
        eval:
          test_cases:
            - {name: a, message: 1, validate: [contains "x"]}
            - {name: b, message: 2, validate: [contains "x"]}
            - {name: c, message: 3, validate: [contains "x"]}
    """

    code: ClassVar[str] = "EV703"
    blocks: ClassVar[bool] = False
    severity: ClassVar[Severity] = "warning"

    def message(self) -> str:
        return "`confidence` has no effect without a gate"

    def help(self) -> str:
        return "add `min_pass_rate`, `min_score`, `max_p95_ms` or `fail_on_regression` beside it"
