"""EV3xx: values of the wrong type, out of range, or not among those allowed."""

from __future__ import annotations

from typing import ClassVar

from evalc.diagnostics.near import Slip, listed, slip_of
from evalc.diagnostics.problem import Finding, Severity
from evalc.model.numbers import Range, shown_number


class WrongType(Finding, frozen=True, kw_only=True):
    """A value has the wrong type.

    Example:
        eval:
          test_cases:
            - name: a
              message: [hi]
              validate: [contains "x"]

    Cure:
        eval:
          test_cases:
            - name: a
              message: hi
              validate: [contains "x"]
    """

    code: ClassVar[str] = "EV301"
    what: str
    expected: str
    found: str
    corrected: str = ""
    """The line as it must be written, in YAML."""

    def message(self) -> str:
        return f"{self.what} must be {self.expected}, not {self.found}"

    def help(self) -> str:
        return f"write it as `{self.corrected}`" if self.corrected else ""


class NotAChoice(Finding, frozen=True, kw_only=True):
    """A value that is not one of those allowed.

    Example:
        tier: gold
        eval:
          test_cases: [{name: a, message: hi, validate: [contains "x"]}]

    Cure:
        tier: labeled
        eval:
          test_cases: [{name: a, message: hi, validate: [contains "x"]}]
    """

    code: ClassVar[str] = "EV302"
    what: str
    value: str
    choices: tuple[str, ...]

    def message(self) -> str:
        return f"`{self.value}` is not a {self.what}"

    def slip(self) -> Slip | None:
        return slip_of(self.value, self.choices)

    def help(self) -> str:
        return f"it is one of {listed(self.choices)}"


class OutOfRange(Finding, frozen=True, kw_only=True):
    """A number outside the range that makes sense.

    Example:
        eval:
          criteria:
            - {name: clarity, weight: -0.3}
            - {name: depth, weight: 1}
          test_cases: [{name: a, message: hi, validate: [contains "x" for depth]}]

    Cure:
        eval:
          criteria:
            - {name: clarity, weight: 0}
            - {name: depth, weight: 1}
          test_cases: [{name: a, message: hi, validate: [contains "x" for depth]}]
    """

    code: ClassVar[str] = "EV303"
    what: str
    value: str
    allowed: str

    def message(self) -> str:
        return f"{self.what} is {self.value}; it has to be {self.allowed}"


def outside(what: str, number: float | None, range_: Range) -> OutOfRange | None:
    """What is wrong with a number that its field does not take; None if it takes it, or has none."""
    if number is None or range_.takes(number):
        return None
    shown = shown_number(number)
    rounded = not isinstance(number, int) and range_.takes(float(shown))
    return OutOfRange(what=what, value=f"{number}" if rounded else shown, allowed=range_.words)


class WeightsSumToNothing(Finding, frozen=True, kw_only=True):
    """All criteria have the weight 0, so that no score can be computed.

    Example:
        eval:
          criteria:
            - {name: clarity, weight: 0}
          test_cases: [{name: a, message: hi, validate: [contains "x"]}]

    Cure:
        eval:
          criteria:
            - {name: clarity, weight: 1}
          test_cases: [{name: a, message: hi, validate: [contains "x"]}]
    """

    code: ClassVar[str] = "EV304"

    def message(self) -> str:
        return "the weights of the criteria add up to 0"

    def help(self) -> str:
        return "the score is divided by their sum: give at least one criterion a weight above 0"


class OddWeights(Finding, frozen=True, kw_only=True):
    """Weights that are allowed and yet look like a slip: above 1, or far from adding up to 1.

    The score is divided by the sum of the weights, so any positive weights work; but a weight is meant to lie
    between 0 and 1, and a sum of 0.7 often means that a criterion was forgotten.

    Example:
        eval:
          criteria:
            - {name: clarity, weight: 0.3}
            - {name: depth, weight: 0.3}
          test_cases: [{name: a, message: hi, validate: [contains "x" for depth]}]

    Cure:
        eval:
          criteria:
            - {name: clarity, weight: 0.5}
            - {name: depth, weight: 0.5}
          test_cases: [{name: a, message: hi, validate: [contains "x" for depth]}]
    """

    code: ClassVar[str] = "EV305"
    severity: ClassVar[Severity] = "warning"
    found: str

    def message(self) -> str:
        return self.found

    def help(self) -> str:
        return "weights lie between 0 and 1 and usually add up to 1"


class BadPattern(Finding, frozen=True, kw_only=True):
    """A regular expression that is not one (ECMAScript, as `new RegExp` reads it).

    Example:
        eval:
          test_cases:
            - name: a
              message: hi
              validate: [matches "colou(r"]

    Cure:
        eval:
          test_cases:
            - name: a
              message: hi
              validate: [matches "colou(r)"]
    """

    code: ClassVar[str] = "EV306"
    reason: str

    def message(self) -> str:
        return f"not a regular expression: {self.reason}"

    def help(self) -> str:
        return "patterns are ECMAScript's, as in JavaScript's `new RegExp(...)`"


class BadTimestamp(Finding, frozen=True, kw_only=True):
    """A time that is not written as ISO 8601 has it.

    Example:
        tier: regression
        eval:
          test_cases:
            - {name: a, message: hi, created_at: 03/05/2026, bug_ref: "#12", validate: [contains "x"]}

    Cure:
        tier: regression
        eval:
          test_cases:
            - {name: a, message: hi, created_at: 2026-05-03, bug_ref: "#12", validate: [contains "x"]}
    """

    code: ClassVar[str] = "EV307"
    value: str

    def message(self) -> str:
        return f"`{self.value}` is not an ISO 8601 date or time"

    def help(self) -> str:
        return "a date looks like 2026-05-03 or 2026-05-03T14:00:00Z"


class NotASlug(Finding, frozen=True, kw_only=True):
    """A suite's name has to be usable in file names and ids: letters, digits, `-`, `_` and `.`.

    Example:
        suite: Code Review!
        eval:
          test_cases: [{name: a, message: hi, validate: [contains "x"]}]

    Cure:
        suite: code-review
        eval:
          test_cases: [{name: a, message: hi, validate: [contains "x"]}]
    """

    code: ClassVar[str] = "EV308"
    what: str
    value: str
    suggestion: str

    def message(self) -> str:
        return f"`{self.value}` cannot be a {self.what}"

    def slip(self) -> Slip | None:
        return Slip(self.value, self.suggestion) if self.suggestion else None

    def label(self) -> str:
        return f"write `{self.suggestion}`" if self.suggestion else ""

    def help(self) -> str:
        return "use letters, digits, `-`, `_` and `.`, beginning with a letter or digit"


class EmptyValue(Finding, frozen=True, kw_only=True):
    """A value that has to hold something is empty.

    Example:
        eval:
          test_cases: []

    Cure:
        eval:
          test_cases: [{name: a, message: hi, validate: [contains "x"]}]
    """

    code: ClassVar[str] = "EV309"
    what: str

    def message(self) -> str:
        return f"{self.what} is empty"


class NoReason(Finding, frozen=True, kw_only=True):
    """A key that takes a reason does not say why.

    `skip`, `archived`, `expected_failure` and the faults of `allow` take the reason, which reports show. With `false`,
    `no`, `off`, `0`, `0.0`, null or an empty text they count as left out. `true`, other numbers, single letters, and
    what tools write into cells that have no value (`none`, `nan`, `n/a`, `-`) say neither why nor no.

    Example:
        eval:
          test_cases:
            - {name: a, message: hi, skip: true, validate: [contains "x"]}

    Cure:
        eval:
          test_cases:
            - {name: a, message: hi, skip: the service is down, validate: [contains "x"]}
    """

    code: ClassVar[str] = "EV317"
    key: str
    value: str

    def message(self) -> str:
        return f"`{self.key}: {self.value}` does not say why"

    def help(self) -> str:
        return f"write why in place of `{self.value}`, or leave `{self.key}` out (in a table: leave the cell empty)"


class BadSchema(Finding, frozen=True, kw_only=True):
    """A JSON Schema that a `json` check names cannot be used.

    Schemas are files below the project's root; they are compiled into the eval, so their `$ref`s have to stay
    within the schema itself.

    Example:
        eval:
          test_cases:
            - name: a
              message: hi
              validate: [json matching "no-such-schema.json"]

    Cure:
        eval:
          test_cases:
            - name: a
              message: hi
              validate: [json]
    """

    code: ClassVar[str] = "EV310"
    path: str = ""
    reason: str

    def message(self) -> str:
        return f"the schema `{self.path}` {self.reason}" if self.path else f"the schema {self.reason}"


class MisspeltKeyword(Finding, frozen=True, kw_only=True):
    """A JSON Schema has a key that is nearly a keyword.

    JSON Schema ignores keys that it does not know, so a misspelt keyword checks nothing. Keys that resemble no keyword
    and keys that begin with `x-` are not reported: they belong to other programs.

    Example:
        eval:
          test_cases:
            - name: a
              message: hi
              expect: {checks: [{type: json, schema: {require: [id]}}]}

    Cure:
        eval:
          test_cases:
            - name: a
              message: hi
              expect: {checks: [{type: json, schema: {required: [id]}}]}
    """

    code: ClassVar[str] = "EV158"
    severity: ClassVar[Severity] = "warning"
    path: str = ""
    line: int = 0
    keyword: str
    meant: str

    def message(self) -> str:
        return f"{_schema(self.path)} has the key `{self.keyword}`, which checks nothing{_on_line(self.line)}"

    def help(self) -> str:
        return f"JSON Schema has `{self.meant}`; begin a key of your own with `x-`"


class UncheckedFormat(Finding, frozen=True, kw_only=True):
    """A JSON Schema names a format that evalc does not check.

    evalc checks `date`, `time`, `date-time`, `uuid`, `email`, `uri`, `url`, `hostname`, `ipv4`, `ipv6` and `regex`. Any
    text passes any other `format`. Write a `pattern` instead.

    Example:
        eval:
          test_cases:
            - name: a
              message: hi
              expect: {checks: [{type: json, schema: {format: phone}}]}

    Cure:
        eval:
          test_cases:
            - name: a
              message: hi
              expect: {checks: [{type: json, schema: {pattern: '^[+0-9 ]+$'}}]}
    """

    code: ClassVar[str] = "EV159"
    severity: ClassVar[Severity] = "warning"
    path: str = ""
    line: int = 0
    name: str

    def message(self) -> str:
        return f"{_schema(self.path)} names the format `{self.name}`, which is not checked{_on_line(self.line)}"

    def help(self) -> str:
        from evalc.model.json_schema import CHECKED  # noqa: PLC0415 - for start-up: compiles patterns

        return f"the checked formats are {listed(CHECKED)}; write a `pattern` for any other"


def _schema(path: str) -> str:
    return f"the schema `{path}`" if path else "the schema"


def _on_line(line: int) -> str:
    return f" (line {line})" if line else ""


class OnlyOneOf(Finding, frozen=True, kw_only=True):
    """Two keys exclude each other, such as `prompt` and `prompt_file`.

    Example:
        prompt: "Say hello."
        prompt_id: greeting
        eval:
          test_cases: [{name: a, validate: [contains "hello"]}]

    Cure:
        prompt: "Say hello."
        eval:
          test_cases: [{name: a, validate: [contains "hello"]}]
    """

    code: ClassVar[str] = "EV312"
    key: str
    other: str

    def message(self) -> str:
        return f"`{self.key}` and `{self.other}` exclude each other"

    def help(self) -> str:
        return "keep one of them"


class LinkInsideGroup(Finding, frozen=True, kw_only=True):
    """`for CRITERION` on a check within a group: a group counts for a criterion as a whole.

    Example:
        eval:
          criteria: ["clarity (1): Clear"]
          test_cases:
            - name: a
              message: hi
              validate:
                - any_of:
                    - contains "x" for clarity
                    - contains "y"

    Cure:
        eval:
          criteria: ["clarity (1): Clear"]
          test_cases:
            - name: a
              message: hi
              validate:
                - any_of:
                    - contains "x"
                    - contains "y"
                  criterion: clarity
    """

    code: ClassVar[str] = "EV311"

    def message(self) -> str:
        return "a check within a group cannot count for a criterion by itself"

    def help(self) -> str:
        return "put `criterion:` beside the group"


class BadRequirement(Finding, frozen=True, kw_only=True):
    """`require:` does not fit how often the case is run.

    Example:
        eval:
          test_cases:
            - {name: a, message: hi, repeat: 5, require: 8/10, validate: [contains "x"]}

    Cure:
        eval:
          test_cases:
            - {name: a, message: hi, repeat: 10, require: 8/10, validate: [contains "x"]}
    """

    code: ClassVar[str] = "EV313"
    reason: str

    def message(self) -> str:
        return self.reason

    def help(self) -> str:
        return "`repeat: 10` with `require: 8/10`, `8` or `80%` asks that 8 of 10 runs pass"


class WrongInputType(Finding, frozen=True, kw_only=True):
    """An input is given a value of another type than its declaration says.

    Example:
        prompt: "Give me {{count}} ideas."
        inputs:
          - {name: count, type: integer}
        eval:
          test_cases:
            - {name: a, inputs: {count: many}, validate: [contains "x"]}

    Cure:
        prompt: "Give me {{count}} ideas."
        inputs:
          - {name: count, type: integer}
        eval:
          test_cases:
            - {name: a, inputs: {count: 3}, validate: [contains "x"]}
    """

    code: ClassVar[str] = "EV314"
    name: str
    expected: str
    found: str

    def message(self) -> str:
        return f"the input `{self.name}` is declared as {self.expected}, and this is {self.found}"


class NotOneText(Finding, frozen=True, kw_only=True):
    """A list or mapping is to fill the text of a check, a tag or a reason.

    The text would hold its JSON, such as `["a", "b"]`: `not contains` of that can never fail, and `contains` of it
    fails the right answer.

    Example:
        eval:
          test_cases:
            - name: a
              message: hi
              inputs: {banned: [idiot, fool]}
              validate: ['not contains "{{banned}}"']

    Cure:
        eval:
          test_cases:
            - name: a
              message: hi
              validate: [not contains "idiot", not contains "fool"]
    """

    code: ClassVar[str] = "EV316"
    name: str
    found: str

    def message(self) -> str:
        return f"`{self.name}` is {self.found}, and one text is needed here"

    def help(self) -> str:
        return "write a check for each item, or `contains any of [...]`; in a prompt, `{{#each}}` lists the items"


class NotAnOption(Finding, frozen=True, kw_only=True):
    """An input is given a value that is not among the options of its declaration.

    Example:
        prompt: "Review this {{language}} code."
        inputs:
          - {name: language, options: [Python, Go]}
        eval:
          test_cases:
            - {name: a, inputs: {language: Pyton}, validate: [contains "x"]}

    Cure:
        prompt: "Review this {{language}} code."
        inputs:
          - {name: language, options: [Python, Go]}
        eval:
          test_cases:
            - {name: a, inputs: {language: Python}, validate: [contains "x"]}
    """

    code: ClassVar[str] = "EV315"
    name: str
    value: str
    options: tuple[str, ...]

    def message(self) -> str:
        return f"`{self.value}` is not an option of the input `{self.name}`"

    def slip(self) -> Slip | None:
        return slip_of(self.value, self.options)

    def help(self) -> str:
        return f"the options are {listed(self.options)}"
