"""EV5xx: checks that cannot fail, cannot pass, or contradict each other. Errors under `--strict`."""

from __future__ import annotations

from typing import ClassVar, NamedTuple

from evalc.diagnostics.problem import Finding, Severity


class Other(NamedTuple):
    """Another check of the case, and its line."""

    check: str
    line: int

    def __str__(self) -> str:
        return f"{self.check} on line {self.line}"


def _listed(others: tuple[Other, ...]) -> str:
    return " and ".join(map(str, others))


class CannotFail(Finding, frozen=True, kw_only=True):
    """A check that passes whatever the agent does.

    It looks like a test, but it tests nothing: the eval reports "passed" whatever the agent answers.

    Example:
        eval:
          test_cases:
            - {name: a, message: hi, validate: [length >= 0 chars, contains "x"]}

    Cure:
        eval:
          test_cases:
            - {name: a, message: hi, validate: [length >= 20 chars, contains "x"]}
    """

    code: ClassVar[str] = "EV501"
    blocks: ClassVar[bool] = False
    severity: ClassVar[Severity] = "warning"
    check: str
    why: str

    def message(self) -> str:
        return f"{self.check} cannot fail: {self.why}"

    def help(self) -> str:
        return "remove it, or say what it should rule out"


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
    blocks: ClassVar[bool] = False
    check: str
    why: str

    def message(self) -> str:
        return f"{self.check} cannot pass: {self.why}"


class Contradiction(Finding, frozen=True, kw_only=True):
    """Checks of one case that cannot all pass.

    Whatever the agent answers, one of them fails, so the case says nothing about the agent. That holds across criteria
    too: a case passes when every check does.

    `length >= 500 chars` contradicts `length <= 100 chars`, `equals "no"` contradicts `contains "yes"`, `json`
    contradicts `starts with "Sure"`, and `tools called [search]` contradicts `tools not called [search]`. Of two checks
    of one parameter evalc says that the case passes only where the tool is not called: then neither is evaluated.

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
    blocks: ClassVar[bool] = False
    check: str
    others: tuple[Other, ...]
    tool: str = ""

    def message(self) -> str:
        end = f"pass only where `{self.tool}` is not called" if self.tool else "never pass"
        return f"{self.check} contradicts {_listed(self.others)}: the case can {end}"


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
    blocks: ClassVar[bool] = False
    severity: ClassVar[Severity] = "warning"
    check: str
    line: int

    def message(self) -> str:
        return f"{self.check} is already on line {self.line}"


class Implied(Finding, frozen=True, kw_only=True):
    """A check that cannot fail where the others of its case pass: they say it already, and more.

    The case passes and fails with it as without it. It may be a leftover, or weaker than it was meant to be:
    `contains "re"` beside `contains "refund"`, `length >= 10 chars` beside a `starts with` of twenty.

    Checks that count for different criteria are not compared, because each earns its own criterion's score. Nothing is
    said of `non-empty` and `tools not called`: they are guards, evaluated early, whose failure says plainly what went
    wrong. A check that several cases share, by `defaults`, `use` or `for_each`, is reported if all of them imply it.

    Example:
        eval:
          test_cases:
            - name: a
              message: hi
              validate: [contains "refund within 14 days", contains "refund"]

    Cure:
        eval:
          test_cases:
            - name: a
              message: hi
              validate: [contains "refund within 14 days"]
    """

    code: ClassVar[str] = "EV505"
    blocks: ClassVar[bool] = False
    severity: ClassVar[Severity] = "warning"
    check: str
    others: tuple[Other, ...]

    def message(self) -> str:
        return f"{self.check} is implied by {_listed(self.others)}"

    def help(self) -> str:
        return "remove it, or make it stricter than the other check"


class NeverReached(Finding, frozen=True, kw_only=True):
    """A check of a parameter of a tool that another check of the case rules out.

    The first call of a tool is the one whose parameters are checked. Where the tool is not called nothing is checked,
    and the assertion neither passes nor fails.

    Example:
        eval:
          test_cases:
            - name: a
              message: hi
              validate: ['tools not called [search]', tool search.query contains "rain"]

    Cure:
        eval:
          test_cases:
            - name: a
              message: hi
              validate: ['tools called [search]', tool search.query contains "rain"]
    """

    code: ClassVar[str] = "EV506"
    blocks: ClassVar[bool] = False
    severity: ClassVar[Severity] = "warning"
    check: str
    tool: str
    other: Other

    def message(self) -> str:
        return f"{self.check} is never checked: {self.other} says that `{self.tool}` is not called"
