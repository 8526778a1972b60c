"""EV5xx: checks that cannot fail, cannot pass, or contradict each other. Errors under `--strict`."""

from __future__ import annotations

from typing import ClassVar

from evalc.diagnostics.problem import Finding, Severity


class CannotFail(Finding, frozen=True, kw_only=True):
    """A check that passes whatever the agent does.

    It looks like a test and is none: the eval reports "passed" for something that was never in question.

    Example:
        eval:
          test_cases:
            - {name: a, message: hi, validate: [length >= 0 chars, contains "x"]}

    Cure:
        eval:
          test_cases:
            - {name: a, message: hi, validate: [length >= 1 chars, contains "x"]}
    """

    code: ClassVar[str] = "EV501"
    severity: ClassVar[Severity] = "warning"
    check: str
    why: str

    def message(self) -> str:
        return f"{self.check} cannot fail: {self.why}"

    def help(self) -> str:
        return "take it out, or say what it should rule out"


class CannotPass(Finding, frozen=True, kw_only=True):
    """A check that fails whatever the agent does.

    Example:
        eval:
          test_cases:
            - {name: a, message: hi, validate: [length 200..100 chars]}

    Cure:
        eval:
          test_cases:
            - {name: a, message: hi, validate: [length 100..200 chars]}
    """

    code: ClassVar[str] = "EV502"
    check: str
    why: str

    def message(self) -> str:
        return f"{self.check} cannot pass: {self.why}"


class Contradiction(Finding, frozen=True, kw_only=True):
    """Two checks of one case that cannot both pass.

    Example:
        eval:
          test_cases:
            - name: a
              message: hi
              validate: [contains "sorry", not contains "sorry"]

    Cure:
        eval:
          test_cases:
            - name: a
              message: hi
              validate: [not contains "sorry"]
    """

    code: ClassVar[str] = "EV503"
    check: str
    other: str
    line: int

    def message(self) -> str:
        return f"{self.check} contradicts {self.other} on line {self.line}: the case can never pass"


class Repeated(Finding, frozen=True, kw_only=True):
    """The same check twice in one case: the second can never tell anything new.

    Example:
        eval:
          test_cases:
            - name: a
              message: hi
              validate: [contains "rain", contains "rain"]

    Cure:
        eval:
          test_cases:
            - name: a
              message: hi
              validate: [contains "rain"]
    """

    code: ClassVar[str] = "EV504"
    severity: ClassVar[Severity] = "warning"
    check: str
    line: int

    def message(self) -> str:
        return f"{self.check} stands already on line {self.line}"
