"""EV40x, EV41x: what the eval runner contract and the case model ask of a case."""

from __future__ import annotations

from typing import ClassVar

from evalc.diagnostics.near import Slip
from evalc.diagnostics.problem import Finding, Severity


class AssertsNothing(Finding, frozen=True, kw_only=True):
    """A case that checks nothing: it would pass whatever the agent does.

    Example:
        eval:
          test_cases:
            - {name: a, message: hi}

    Cure:
        eval:
          test_cases:
            - {name: a, message: hi, validate: [non-empty]}
    """

    code: ClassVar[str] = "EV401"
    blocks: ClassVar[bool] = False
    case: str

    def message(self) -> str:
        return f"the case `{self.case}` asserts nothing, so it can never fail"

    def help(self) -> str:
        return "add a check under `validate:`, or an `expected:` text"


class BothToolExpectations(Finding, frozen=True, kw_only=True):
    """`toolsCalled` and `toolsAcceptable` in one case: the case model allows one of them.

    Example:
        eval:
          test_cases:
            - name: a
              message: hi
              validate:
                - tools called [get_weather]
                - tools one of [[get_weather], [get_forecast]]

    Cure:
        eval:
          test_cases:
            - name: a
              message: hi
              validate:
                - tools one of [[get_weather], [get_forecast]]
    """

    code: ClassVar[str] = "EV402"

    def message(self) -> str:
        return "one case has both `toolsCalled` and `toolsAcceptable`"

    def help(self) -> str:
        return "keep toolsCalled where one set of tools is right, toolsAcceptable where several are"


class BesideTurns(Finding, frozen=True, kw_only=True):
    """A case says what is sent in two ways: turn by turn or by a simulated user, and by a message.

    Example:
        eval:
          test_cases:
            - name: a
              message: Hello
              turns:
                - say: A room for two, please.
                  validate: [contains "when"]

    Cure:
        eval:
          test_cases:
            - name: a
              turns:
                - say: Hello
                - say: A room for two, please.
                  validate: [contains "when"]
    """

    code: ClassVar[str] = "EV421"
    key: str
    turns: str

    def message(self) -> str:
        return f"`{self.key}` cannot be used with `{self.turns}`"

    def help(self) -> str:
        if self.key == "label":
            return "a label is the class of a single answer; to inherit none, add `inherit: false` to the case"
        if self.turns == "user":
            return "a case has written turns or a simulated user, whose first words are `opens`"
        return "begin `turns` with what the user says first"


class NoSuchTurn(Finding, frozen=True, kw_only=True):
    """A check of a turn that the conversation does not have.

    Example:
        eval:
          test_cases:
            - name: a
              turns:
                - say: A room for two, please.
                - say: Tomorrow.
              validate: [turn 3 contains "booked"]

    Cure:
        eval:
          test_cases:
            - name: a
              turns:
                - say: A room for two, please.
                - say: Tomorrow.
              validate: [turn 2 contains "booked"]
    """

    code: ClassVar[str] = "EV422"
    turn: int
    turns: int

    def message(self) -> str:
        there = "one turn" if self.turns == 1 else f"{self.turns} turns"
        return f"this is about turn {self.turn}, and the case has {there}"

    def help(self) -> str:
        return "turns are counted from 1"


class NotInThisTier(Finding, frozen=True, kw_only=True):
    """An assertion that the contract allows in the labeled tier only: `responseMatches` and `maxTokens`.

    Example:
        tier: golden
        eval:
          test_cases:
            - name: a
              message: hi
              validate: ['tools called [t]', no tool errors, non-empty, matches "a+b"]

    Cure:
        tier: golden
        eval:
          test_cases:
            - name: a
              message: hi
              validate: ['tools called [t]', no tool errors, non-empty, contains "ab"]
    """

    code: ClassVar[str] = "EV403"
    blocks: ClassVar[bool] = False
    field: str
    tier: str

    def message(self) -> str:
        return f"`{self.field}` is allowed in the labeled tier only, and this case is {self.tier}"

    def help(self) -> str:
        return "use `contains`, or move the case to `tier: labeled`"


class SnapshotInRegression(Finding, frozen=True, kw_only=True):
    """A `{{snapshot:...}}` token in a regression case, which has to hold for ever on stable values.

    Example:
        tier: regression
        eval:
          test_cases:
            - name: a
              message: hi
              created_at: 2026-05-03
              bug_ref: "#12"
              validate: ['contains "{{snapshot:price}}"']

    Cure:
        tier: regression
        eval:
          test_cases:
            - name: a
              message: hi
              created_at: 2026-05-03
              bug_ref: "#12"
              validate: ['contains "{{seed:price}}"']
    """

    code: ClassVar[str] = "EV404"
    token: str

    def message(self) -> str:
        return f"a regression case uses `{self.token}`"

    def help(self) -> str:
        return "regression cases use seed-stable values only: use `{{seed:...}}` or a fixed text"


class TokenNotAllowed(Finding, frozen=True, kw_only=True):
    """A `{{seed:...}}` or `{{snapshot:...}}` token where the contract does not allow one.

    Tokens are resolved when the eval runs, and only in the texts of response checks and in the values of tool
    parameters. Elsewhere the runner would use the token's own letters.

    Example:
        eval:
          test_cases:
            - name: a
              message: "What is {{seed:holdings.name}} worth?"
              validate: [contains "x"]

    Cure:
        eval:
          test_cases:
            - name: a
              message: "What is AAPL worth?"
              validate: [contains "x"]
    """

    code: ClassVar[str] = "EV405"
    token: str
    where: str

    def message(self) -> str:
        return f"`{self.token}` is not resolved in {self.where}"

    def help(self) -> str:
        return "tokens belong in the texts of response checks and in the values of tool parameters"


class MissingInTier(Finding, frozen=True, kw_only=True):
    """A golden case without one of the assertions that the case model requires of it.

    A golden case is the routing sanity check: it asserts `toolsCalled`, `noToolErrors` and `responseNonEmpty`.

    Example:
        tier: golden
        eval:
          test_cases:
            - {name: a, message: hi, validate: ['tools called [t]', non-empty]}

    Cure:
        tier: golden
        eval:
          test_cases:
            - {name: a, message: hi, validate: ['tools called [t]', non-empty, no tool errors]}
    """

    code: ClassVar[str] = "EV406"
    severity: ClassVar[Severity] = "warning"
    case: str
    fields: tuple[str, ...]

    def message(self) -> str:
        return f"the golden case `{self.case}` does not assert {' and '.join(f'`{field}`' for field in self.fields)}"

    def help(self) -> str:
        return "a golden case asserts `tools called`, `no tool errors` and `non-empty`"


class OutsideTier(Finding, frozen=True, kw_only=True):
    """A field of the contract that the case model does not list for the case's tier.

    Example:
        tier: golden
        eval:
          test_cases:
            - name: a
              message: hi
              validate: ['tools called [t]', no tool errors, non-empty, 'tools not called [u]']

    Cure:
        tier: golden
        eval:
          test_cases:
            - name: a
              message: hi
              validate: ['tools called [t]', no tool errors, non-empty]
    """

    code: ClassVar[str] = "EV407"
    severity: ClassVar[Severity] = "warning"
    field: str
    tier: str

    def message(self) -> str:
        return f"`{self.field}` is not among the fields of a {self.tier} case"

    def help(self) -> str:
        return "evalc checks it; another runner of the contract may not"


class OddId(Finding, frozen=True, kw_only=True):
    """An id in an eval JSON file that follows none of the documented forms.

    They are `gs-`, `ls-` or `rg-`, the tool with dashes, and a number of three digits or more; or `<suite>/<name>`.

    Example:
        {"metadata": {"toolName": "get_weather", "tier": "labeled"}, "cases": [
          {"id": "first", "description": "a", "difficulty": "edge", "input": {"message": "hi"},
           "expect": {"responseContains": ["x"]}}]}

    Cure:
        {"metadata": {"toolName": "get_weather", "tier": "labeled"}, "cases": [
          {"id": "ls-get-weather-001", "description": "a", "difficulty": "edge", "input": {"message": "hi"},
           "expect": {"responseContains": ["x"]}}]}
    """

    code: ClassVar[str] = "EV408"
    severity: ClassVar[Severity] = "warning"
    id: str
    example: str

    def message(self) -> str:
        return f"the id `{self.id}` has none of the documented forms"

    def help(self) -> str:
        return f"such as `{self.example}`, or `<suite>/<name>`"


class NothingToSend(Finding, frozen=True, kw_only=True):
    """A case without a prompt, a message or inputs: there is nothing to send to the agent.

    Example:
        eval:
          test_cases:
            - {name: a, validate: [contains "x"]}

    Cure:
        eval:
          test_cases:
            - {name: a, message: hi, validate: [contains "x"]}
    """

    code: ClassVar[str] = "EV409"
    case: str

    def message(self) -> str:
        return f"the case `{self.case}` has nothing to send: no `message`, no `inputs`, and the suite has no prompt"

    def help(self) -> str:
        return "add `message:` to the case or `prompt:` to the suite"


class MessageFromInputs(Finding, frozen=True, kw_only=True):
    """The suite has no prompt, so a case's inputs themselves are the message, one `name: value` a line.

    That runs, but it is rarely what the agent gets in earnest.

    Example:
        eval:
          test_cases:
            - {name: a, inputs: {city: Paris}, validate: [contains "x"]}

    Cure:
        prompt: "What is the weather in {{city}}?"
        eval:
          test_cases:
            - {name: a, inputs: {city: Paris}, validate: [contains "x"]}
    """

    code: ClassVar[str] = "EV410"
    severity: ClassVar[Severity] = "warning"
    case: str

    def message(self) -> str:
        return f"the case `{self.case}` has no prompt: its inputs are sent as the message, one `name: value` a line"

    def help(self) -> str:
        return "add `prompt:` (or `prompt_file:`, `prompt_id:`) to the suite, or `message:` to the case"


class WeakExpected(Finding, frozen=True, kw_only=True):
    """`expected:` is the only thing that a case checks, and without a judge that is weak.

    The response passes when it contains the text (ignoring case), or else when 60 % of the text's key terms occur
    in it: an answer that says the opposite in the same words passes too.

    Example:
        eval:
          test_cases:
            - {name: a, message: hi, expected: Should mention type hints}

    Cure:
        eval:
          test_cases:
            - {name: a, message: hi, expected: Should mention type hints, validate: [contains "type hint"]}
    """

    code: ClassVar[str] = "EV411"
    severity: ClassVar[Severity] = "warning"
    case: str

    def message(self) -> str:
        return f"the case `{self.case}` is checked by the words of its `expected` alone"

    def help(self) -> str:
        return "say what has to be there as a check under `validate:`"


class AssertedTwice(Finding, frozen=True, kw_only=True):
    """A field that can hold one value is asserted twice in one case.

    Example:
        eval:
          test_cases:
            - name: a
              message: hi
              validate: [latency <= 10s, latency <= 20s]

    Cure:
        eval:
          test_cases:
            - name: a
              message: hi
              validate: [latency <= 10s]
    """

    code: ClassVar[str] = "EV412"
    field: str

    def message(self) -> str:
        return f"`{self.field}` is asserted a second time in this case"

    def help(self) -> str:
        return "it can hold one value: keep one of them"


class OnlyEvalcChecks(Finding, frozen=True, kw_only=True):
    """A compiled file uses assertions that a runner which knows only the contract's fields would not check.

    evalc checks them; so does `metadata.requires` list them. Reported by `compile`, not by `check`.
    """

    code: ClassVar[str] = "EV413"
    severity: ClassVar[Severity] = "warning"
    file: str
    requires: tuple[str, ...]

    def message(self) -> str:
        names = ", ".join(f"`{name}`" for name in self.requires)
        return f"{self.file}: a runner that knows only the contract would not check {names}"


class NeedsValue(Finding, frozen=True, kw_only=True):
    """An assertion about a tool parameter has no value, or a value that it cannot use.

    Example:
        eval:
          test_cases:
            - name: a
              message: hi
              expect:
                toolParams: [{tool: get_weather, paramName: city, assertion: equals}]

    Cure:
        eval:
          test_cases:
            - name: a
              message: hi
              expect:
                toolParams: [{tool: get_weather, paramName: city, assertion: equals, value: Paris}]
    """

    code: ClassVar[str] = "EV414"
    assertion: str
    wants: str

    def message(self) -> str:
        return f"`{self.assertion}` {self.wants}"


class InputLooksLikeToken(Finding, frozen=True, kw_only=True):
    """A check's text, filled from the inputs, contains what a runner would take for a token.

    What an input contains is data and never a template; but the compiled file has no way to say so, and a runner
    would resolve it.

    Example:
        eval:
          test_cases:
            - name: a
              message: hi
              inputs: {word: "{{seed:x}}"}
              validate: ['contains "{{word}}"']

    Cure:
        eval:
          test_cases:
            - name: a
              message: hi
              inputs: {word: "seed"}
              validate: ['contains "{{word}}"']
    """

    code: ClassVar[str] = "EV415"
    token: str

    def message(self) -> str:
        return f"the inputs put `{self.token}` into this text, where a runner would resolve it as a token"

    def help(self) -> str:
        return "write the token in the check itself if it is meant, or change the input"


class AlmostToken(Finding, frozen=True, kw_only=True):
    """A text in a check looks like a misspelt token, such as `{{sed:a.b}}` or `{{seed:a}`.

    evalc takes it literally, so a `contains` with it fails whatever the agent answers, and a `not contains` with it can
    never fail. A token is `{{seed:PATH}}` or `{{snapshot:PATH}}`; an index in its path is a number in brackets. To mean
    the braces themselves, write `\\{{`. In eval JSON this is a warning.

    Example:
        eval:
          test_cases:
            - {name: a, message: hi, validate: ['not contains "{{sed:user.name}}"']}

    Cure:
        eval:
          test_cases:
            - {name: a, message: hi, validate: ['not contains "{{seed:user.name}}"']}
    """

    code: ClassVar[str] = "EV418"
    text: str
    meant: str

    def message(self) -> str:
        return f"`{self.text}` looks like a token, but is taken literally"

    def slip(self) -> Slip | None:
        return Slip(self.text, self.meant) if self.meant else None

    def help(self) -> str:
        return "a token is `{{seed:PATH}}` or `{{snapshot:PATH}}`, with numbers as indexes: `items[0].id`"


class SlashedPattern(Finding, frozen=True, kw_only=True):
    """A pattern is written with slashes and flags in a place where they become part of the pattern.

    `matches /x/i` on a line, and `type: regex` with `rule: /x/i`, are a pattern with a flag. In the `value` of a
    parameter, in `args`, in quotes and in eval JSON, the whole text is the pattern, slashes included.

    Example:
        eval:
          test_cases:
            - name: a
              message: hi
              validate:
                - {type: tool_param, tool: t, param: p, op: matches, value: /Par/i}

    Cure:
        eval:
          test_cases:
            - name: a
              message: hi
              validate:
                - {type: tool_param, tool: t, param: p, op: matches, value: (?i:Par)}
    """

    code: ClassVar[str] = "EV423"
    severity: ClassVar[Severity] = "warning"
    pattern: str
    flags: str

    def message(self) -> str:
        return f"the slashes and the flags of `/{self.pattern}/{self.flags}` are part of this pattern"

    def slip(self) -> Slip | None:
        return Slip(f"/{self.pattern}/{self.flags}", self.meant) if self.flags in {"", "i"} else None

    @property
    def meant(self) -> str:
        """The pattern without slashes; with the flag `i` as a part of it, which no other flag can be."""
        return f"(?i:{self.pattern})" if self.flags == "i" else self.pattern

    def help(self) -> str:
        return "write the pattern without slashes; `(?i:...)` ignores case"


class NeverScored(Finding, frozen=True, kw_only=True):
    """A threshold on a score if nothing is scored: it can never be met.

    The score of a case or suite is the weighted mean of its criteria. A suite without criteria has no score, so every
    run of it would fail by the threshold.

    Example:
        eval:
          test_cases:
            - {name: a, message: hi, threshold: 0.8, validate: [contains "x"]}

    Cure:
        eval:
          criteria: [clarity]
          test_cases:
            - {name: a, message: hi, threshold: 0.8, validate: [contains "x"]}
    """

    code: ClassVar[str] = "EV419"
    blocks: ClassVar[bool] = False
    what: str

    def message(self) -> str:
        return f"{self.what} can never be met: the suite has no criteria, so nothing is scored"

    def help(self) -> str:
        return "add `criteria:` to the suite, or remove it; every check has to pass anyway"


class OneScore(Finding, frozen=True, kw_only=True):
    """No check of a suite says which criterion it counts for, so that all criteria have the same score.

    A criterion is scored by the checks that name it, else by a judge, else by the case's other checks. Where no check
    names one and there is no judge, all checks score each criterion alike, and the weights decide nothing. This is not
    reported where a judge is certain: if the configuration names `judges`, in the tier `rubric`, or if a check asks a
    judge.

    Example:
        eval:
          criteria: ["tone (0.4): Is it kind?", "facts (0.6): Is it right?"]
          test_cases:
            - {name: a, message: hi, validate: [contains "sorry", contains "14 days"]}

    Cure:
        eval:
          criteria: ["tone (0.4): Is it kind?", "facts (0.6): Is it right?"]
          test_cases:
            - {name: a, message: hi, validate: [contains "sorry" for tone, contains "14 days" for facts]}
    """

    code: ClassVar[str] = "EV424"
    blocks: ClassVar[bool] = False
    severity: ClassVar[Severity] = "warning"
    criteria: int

    def message(self) -> str:
        return f"no check names a criterion, so the {self.criteria} criteria always have the same score"

    def help(self) -> str:
        return "end a check with `for NAME`, or name a judge in the configuration (`judges`)"


class PartlyLinked(Finding, frozen=True, kw_only=True):
    """In some cases checks say which criterion they count for, and in others none does.

    The score of a criterion is the mean over all cases. In those where no check names a criterion, all checks score
    each criterion alike: a case about facts then lowers the score for tone. Like EV424, this is not reported where a
    judge is certain.

    Example:
        eval:
          criteria: ["tone (0.4): Is it kind?", "facts (0.6): Is it right?"]
          test_cases:
            - {name: a, message: hi, validate: [contains "sorry" for tone, contains "14 days" for facts]}
            - {name: b, message: bye, validate: [contains "21 days"]}

    Cure:
        eval:
          criteria: ["tone (0.4): Is it kind?", "facts (0.6): Is it right?"]
          test_cases:
            - {name: a, message: hi, validate: [contains "sorry" for tone, contains "14 days" for facts]}
            - {name: b, message: bye, validate: [contains "21 days" for facts]}
    """

    code: ClassVar[str] = "EV425"
    blocks: ClassVar[bool] = False
    severity: ClassVar[Severity] = "warning"
    unlinked: int
    of: int
    case: str

    def message(self) -> str:
        return f"in {self.unlinked} of {self.of} cases no check names a criterion, so all have the same score there"

    def help(self) -> str:
        return f"end their checks with `for NAME` as in the other cases; the first is `{self.case}`"


class NeedsJudge(Finding, frozen=True, kw_only=True):
    """A check asks a judge, and the configuration names none.

    `evalc run` does not begin such a run: each of these cases would be sent to the agent and then end in an error.
    Name a judge with `--judge`, or with `judges` in the configuration.
    """

    code: ClassVar[str] = "EV420"
    severity: ClassVar[Severity] = "warning"
    case: str

    def message(self) -> str:
        return f"the case `{self.case}` needs a judge, but none is configured"

    def help(self) -> str:
        return "name one with `--judge`, or with `judges` in the configuration"


class MissingCaseField(Finding, frozen=True, kw_only=True):
    """A field that the case model requires in the case's tier is missing.

    Example:
        tier: regression
        eval:
          test_cases:
            - {name: a, message: hi, bug_ref: "#12", validate: [contains "x"]}

    Cure:
        tier: regression
        eval:
          test_cases:
            - {name: a, message: hi, created_at: 2026-05-03, bug_ref: "#12", validate: [contains "x"]}
    """

    code: ClassVar[str] = "EV416"
    blocks: ClassVar[bool] = False
    field: str
    tier: str
    case: str

    def message(self) -> str:
        return f"the {self.tier} case `{self.case}` has no `{self.field}`"


class WrongDifficulty(Finding, frozen=True, kw_only=True):
    """A difficulty that the case model does not allow in the case's tier.

    Labeled cases are straightforward, ambiguous or edge; the difficulty of a regression case is `regression`.

    Example:
        eval:
          test_cases:
            - {name: a, message: hi, difficulty: regression, validate: [contains "x"]}

    Cure:
        eval:
          test_cases:
            - {name: a, message: hi, difficulty: edge, validate: [contains "x"]}
    """

    code: ClassVar[str] = "EV417"
    blocks: ClassVar[bool] = False
    difficulty: str
    tier: str
    allowed: tuple[str, ...]

    def message(self) -> str:
        return f"the difficulty `{self.difficulty}` does not go with the tier {self.tier}"

    def help(self) -> str:
        if not self.allowed:
            return f"a {self.tier} case has no difficulty"
        return f"here it is {' or '.join(f'`{name}`' for name in self.allowed)}"
