"""EV20x, EV21x: names that are unknown, missing or used twice."""

from __future__ import annotations

from typing import ClassVar, Final

from evalc.diagnostics.meant_line import MeantLine
from evalc.diagnostics.near import Slip, listed, nearest_of, slip_of
from evalc.diagnostics.problem import Finding, Severity

_MOST_KEYS: Final = 12
"""Of a longer table of keys, a message names the nearest."""


class UnknownKey(Finding, frozen=True, kw_only=True):
    """A key that evalc does not know.

    A misspelt key is the quietest way to lose a check: the eval runs, and what the key was meant to say is not
    looked at. Keys of your own may be named `x-anything`.

    Example:
        eval:
          test_cases:
            - name: a
              message: hi
              validte: [contains "x"]
              expected: x

    Cure:
        eval:
          test_cases:
            - name: a
              message: hi
              validate: [contains "x"]
              expected: x
    """

    code: ClassVar[str] = "EV201"
    key: str
    what: str
    known: tuple[str, ...]
    meant: str = ""
    """The key that others call so, if there is one."""

    def message(self) -> str:
        return f"`{self.key}` is not a key of {self.what}"

    def slip(self) -> Slip | None:
        return Slip(self.key, self.meant) if self.meant else slip_of(self.key, self.known)

    def help(self) -> str:
        if self.meant:
            return ""
        near = nearest_of(self.key, self.known, 3) if len(self.known) > _MOST_KEYS else ()
        match near:
            case ():
                return f"the keys of {self.what} are {listed(self.known)}"
            case (one,):
                return f"the nearest key of {self.what} is `{one}`"
            case _:
                return f"the nearest keys of {self.what} are {listed(near)}"


class MissingKey(Finding, frozen=True, kw_only=True):
    """A key that has to be there and is not.

    Example:
        eval:
          test_cases:
            - message: hi
              validate: [contains "x"]

    Cure:
        eval:
          test_cases:
            - name: a
              message: hi
              validate: [contains "x"]
    """

    code: ClassVar[str] = "EV202"
    key: str
    what: str
    why: str = ""
    meant_line: MeantLine | None = None
    instead: tuple[int, int, str] | None = None
    """What `why` says to write instead of a stretch of the source."""

    def message(self) -> str:
        return f"{self.what} has no `{self.key}`"

    def help(self) -> str:
        if self.meant_line is not None:
            return f"{self.why}: {self.meant_line.help()}"
        return self.why or f"add `{self.key}:`"


class UnknownCheck(Finding, frozen=True, kw_only=True):
    """A check that does not exist.

    evalc never guesses what a misspelt check means: a check that it did not understand would silently not be made.

    Example:
        eval:
          test_cases:
            - name: a
              message: hi
              validate:
                - type: containz
                  rule: x

    Cure:
        eval:
          test_cases:
            - name: a
              message: hi
              validate:
                - type: contains
                  rule: x
    """

    code: ClassVar[str] = "EV203"
    name: str
    known: tuple[str, ...]
    meant: str = ""
    offered: tuple[str, ...] | None = None
    """What installed packages provide, where the check was to be one of these."""
    meant_line: MeantLine | None = None

    def message(self) -> str:
        if self.offered is None:
            return f"`{self.name}` is not a check"
        return f"no installed package provides the check `{self.name}`"

    def slip(self) -> Slip | None:
        if self.meant_line is not None:
            return None
        if self.meant:
            return Slip(self.name, self.meant)
        return slip_of(self.name, (*(self.offered or ()), *self.known))

    def help(self) -> str:
        if self.meant_line is not None:
            return self.meant_line.help()
        if self.offered is None:
            return f"the checks are {', '.join(self.known)}"
        if self.offered:
            return f"installed packages provide {listed(self.offered)}"
        return "a check of a package is there when the package is installed"


class UnknownCriterion(Finding, frozen=True, kw_only=True):
    """A check is linked to a criterion that the suite does not declare.

    The check would run, and the criterion it was meant for would be scored without it.

    Example:
        eval:
          criteria:
            - "clarity (1): Clear"
          test_cases:
            - name: a
              message: hi
              validate: [contains "x" for clarify]

    Cure:
        eval:
          criteria:
            - "clarity (1): Clear"
          test_cases:
            - name: a
              message: hi
              validate: [contains "x" for clarity]
    """

    code: ClassVar[str] = "EV204"
    name: str
    known: tuple[str, ...]

    def message(self) -> str:
        return f"`{self.name}` is not a criterion of this suite"

    def slip(self) -> Slip | None:
        return slip_of(self.name, self.known)

    def help(self) -> str:
        if not self.known:
            return "the suite declares no criteria: add them under `eval: criteria:`"
        return f"the criteria are {listed(self.known)}"


class UnknownVariable(Finding, frozen=True, kw_only=True):
    """A template names something that is neither a declared input nor an input of the case.

    A runner that filled it with nothing would send a prompt with a hole in it, and the eval would measure that.

    Example:
        prompt: "Review this {{langage}} code."
        eval:
          test_cases:
            - name: a
              inputs: {language: Python}
              validate: [contains "x"]

    Cure:
        prompt: "Review this {{language}} code."
        eval:
          test_cases:
            - name: a
              inputs: {language: Python}
              validate: [contains "x"]
    """

    code: ClassVar[str] = "EV205"
    name: str
    known: tuple[str, ...]
    case: str = ""

    def message(self) -> str:
        where = f" (case `{self.case}`)" if self.case else ""
        return f"`{self.name}` is not an input{where}"

    def slip(self) -> Slip | None:
        return slip_of(self.name, self.known)

    def help(self) -> str:
        return f"the inputs are {listed(self.known)}" if self.known else "no inputs are given or declared here"


class DuplicateName(Finding, frozen=True, kw_only=True):
    """A name that has to be unique is used twice.

    Results, baselines and criteria are matched by name: of two with one name, one would be lost. Names that differ only
    in how Unicode composes them, such as `é` and `e` with an accent, are one: nobody could tell them apart.

    Example:
        eval:
          test_cases:
            - {name: a, message: hi, validate: [contains "x"]}
            - {name: a, message: ho, validate: [contains "x"]}

    Cure:
        eval:
          test_cases:
            - {name: a, message: hi, validate: [contains "x"]}
            - {name: b, message: ho, validate: [contains "x"]}
    """

    code: ClassVar[str] = "EV206"
    what: str
    name: str
    line: int = 0

    def message(self) -> str:
        first = f" (first on line {self.line})" if self.line else ""
        return f"the {self.what} `{self.name}` is repeated here{first}"

    def help(self) -> str:
        seen = "" if self.name.isascii() else "; texts that Unicode writes in two ways and that look alike are one"
        return f"give each {self.what} a name of its own{seen}"


class UndeclaredInput(Finding, frozen=True, kw_only=True):
    """A case gives an input that the prompt does not declare.

    Nothing in the prompt can use it, so a misspelt input would be dropped without a word.

    Example:
        prompt: "Review this {{language}} code."
        inputs:
          - {name: language, default: Python}
        eval:
          test_cases:
            - name: a
              inputs: {langage: Go}
              validate: [contains "x"]

    Cure:
        prompt: "Review this {{language}} code."
        inputs:
          - {name: language, default: Python}
        eval:
          test_cases:
            - name: a
              inputs: {language: Go}
              validate: [contains "x"]
    """

    code: ClassVar[str] = "EV207"
    name: str
    known: tuple[str, ...]

    def message(self) -> str:
        return f"`{self.name}` is not a declared input"

    def slip(self) -> Slip | None:
        return slip_of(self.name, self.known)

    def help(self) -> str:
        return f"the declared inputs are {listed(self.known)}"


class MissingInput(Finding, frozen=True, kw_only=True):
    """A case does not give an input that the prompt declares as required.

    Example:
        prompt: "Review this {{language}} code."
        inputs:
          - {name: language, required: true}
        eval:
          test_cases:
            - name: a
              inputs: {}
              validate: [contains "x"]

    Cure:
        prompt: "Review this {{language}} code."
        inputs:
          - {name: language, required: true}
        eval:
          test_cases:
            - name: a
              inputs: {language: Go}
              validate: [contains "x"]
    """

    code: ClassVar[str] = "EV208"
    name: str
    case: str

    def message(self) -> str:
        return f"the case `{self.case}` does not give the required input `{self.name}`"

    def help(self) -> str:
        return f"add `{self.name}:` under its `inputs:`, or a `default:` to the declaration"


class UnknownPrompt(Finding, frozen=True, kw_only=True):
    """A prompt is looked up by an id that no prompt file has.

    Prompt files are looked for below the folder that `--prompts DIR` or `prompts` in the configuration names, else
    below the project's root.

    Example:
        prompt_id: code-reviw-v1
        test_cases:
          - name: a
            inputs: {language: Go}
            validate: [contains "x"]
    """

    code: ClassVar[str] = "EV209"
    id: str
    known: tuple[str, ...]
    folder: str

    def message(self) -> str:
        return f"no prompt file has the id `{self.id}`"

    def slip(self) -> Slip | None:
        return slip_of(self.id, self.known)

    def help(self) -> str:
        if not self.known:
            return f"there are no prompt files below {self.folder}; name their folder with --prompts DIR"
        return f"the prompts below {self.folder} are {listed(self.known[:20])}"


class SuiteCollision(Finding, frozen=True, kw_only=True):
    """Two suites of one run have the same name and tier.

    Results are filed by a suite's name and tier, and baselines are matched by them: one would overwrite the other.
    A suite without `suite:` is named after its prompt or its file, and the message says which.
    Suites may share a tool. A file that evalc compiled, and that a search finds beside the suite, is skipped as a copy
    only if it has no other cases.

    Example:
        suite: a
        eval: {test_cases: [{name: a, message: hi, validate: [contains "x"]}]}
        ---
        suite: a
        eval: {test_cases: [{name: a, message: hi, validate: [contains "x"]}]}

    Cure:
        suite: a
        eval: {test_cases: [{name: a, message: hi, validate: [contains "x"]}]}
        ---
        suite: b
        eval: {test_cases: [{name: a, message: hi, validate: [contains "x"]}]}
    """

    code: ClassVar[str] = "EV210"
    name: str
    tier: str
    other: str
    outputs: tuple[str, ...] = ()
    named_after: str = ""
    other_named_after: str = ""

    def message(self) -> str:
        this, other = (f" (named after {of})" if of else "" for of in (self.named_after, self.other_named_after))
        return f"this is a second suite `{self.name}`{this} in the tier {self.tier}; the first is {self.other}{other}"

    def help(self) -> str:
        if self.outputs:
            file = self.outputs[0]
            cure = "if it is out of date, compile again or delete it; else rename its suite"
            return f"evalc compiled `{file}` from other cases: {cure}"
        return "give one of them another name (`suite:`) or `tier:`"


class DanglingLink(Finding, frozen=True, kw_only=True):
    """A criterion of an eval JSON case counts an assertion that the case does not make.

    `at` holds JSON pointers from the case's root to assertions in `expect`. If one leads nowhere, the criterion
    would be scored by fewer checks than its author meant.

    Example:
        {"metadata": {"toolName": "greet", "tier": "labeled"}, "cases": [
          {"id": "greet/a", "description": "a", "difficulty": "edge", "input": {"message": "hi"},
           "expect": {"responseContains": ["x"]},
           "criteria": [{"name": "tone", "checks": [{"at": ["/expect/responseContains/1"]}]}]}]}

    Cure:
        {"metadata": {"toolName": "greet", "tier": "labeled"}, "cases": [
          {"id": "greet/a", "description": "a", "difficulty": "edge", "input": {"message": "hi"},
           "expect": {"responseContains": ["x"]},
           "criteria": [{"name": "tone", "checks": [{"at": ["/expect/responseContains/0"]}]}]}]}
    """

    code: ClassVar[str] = "EV212"
    pointer: str
    known: tuple[str, ...]

    def message(self) -> str:
        return f"`{self.pointer}` is not an assertion of this case"

    def help(self) -> str:
        if not self.known:
            return "the case asserts nothing that could be pointed at"
        return f"its assertions are {listed(self.known[:20])}"


class AmbiguousPrompt(Finding, frozen=True, kw_only=True):
    """Two prompt files have the id that is looked up."""

    code: ClassVar[str] = "EV211"
    id: str
    files: tuple[str, ...]

    def message(self) -> str:
        return f"{len(self.files)} prompt files have the id `{self.id}`: {', '.join(self.files)}"

    def help(self) -> str:
        return "ids are unique: rename one, or narrow the folder with --prompts DIR"


class UnknownRule(Finding, frozen=True, kw_only=True):
    """`use:` names a rule that neither the file nor what it includes has.

    Example:
        rules:
          no_cop_outs:
            - not contains "I don't know"
        eval:
          test_cases:
            - name: a
              message: hi
              validate: [{use: no_cop_out}]

    Cure:
        rules:
          no_cop_outs:
            - not contains "I don't know"
        eval:
          test_cases:
            - name: a
              message: hi
              validate: [{use: no_cop_outs}]
    """

    code: ClassVar[str] = "EV213"
    name: str
    known: tuple[str, ...]

    def message(self) -> str:
        return f"there is no rule `{self.name}`"

    def slip(self) -> Slip | None:
        return slip_of(self.name, self.known)

    def help(self) -> str:
        if not self.known:
            return "name a group of checks under `rules:`, or include a file that has one with `include:`"
        return f"the rules are {listed(self.known)}"


class RuleCycle(Finding, frozen=True, kw_only=True):
    """A rule uses itself, by way of others or directly: it would never end.

    Example:
        rules:
          polite: [{use: kind}]
          kind: [contains "please", {use: polite}]
        eval:
          test_cases:
            - {name: a, message: hi, validate: [{use: kind}]}

    Cure:
        rules:
          polite: [contains "thank"]
          kind: [contains "please", {use: polite}]
        eval:
          test_cases:
            - {name: a, message: hi, validate: [{use: kind}]}
    """

    code: ClassVar[str] = "EV214"
    path: tuple[str, ...]

    def message(self) -> str:
        return f"the rule `{self.path[0]}` uses itself: {' -> '.join(self.path)}"


class RowWithoutKey(Finding, frozen=True, kw_only=True):
    """A row has nothing that its case could be named by.

    Results and baselines are matched by id, and the id of a row's case is made of its key.

    Example:
        eval:
          test_cases:
            - name: a
              message: "Weather in {{city}}?"
              for_each: {key: city, rows: [{city: Paris}, {city: ""}]}
              validate: [contains "x"]

    Cure:
        eval:
          test_cases:
            - name: a
              message: "Weather in {{city}}?"
              for_each: {key: city, rows: [{city: Paris}, {city: Rome}]}
              validate: [contains "x"]
    """

    code: ClassVar[str] = "EV215"
    column: str

    def message(self) -> str:
        return f"this row has no `{self.column}`" if self.column else "the key of this row is empty"

    def help(self) -> str:
        return "it names its case, and results are matched by that name"


class NumberedRows(Finding, frozen=True, kw_only=True):
    """The cases of rows are named by the rows' numbers.

    If a row is inserted, every case after it changes its name, and its results are compared with those of another row.
    Add a column `id` or `name`, or name a column with `key:`, to identify rows whatever their order.

    Example:
        eval:
          test_cases:
            - name: a
              message: "Weather in {{city}}?"
              for_each: [{city: Paris}, {city: Rome}]
              validate: [contains "x"]

    Cure:
        eval:
          test_cases:
            - name: a
              message: "Weather in {{city}}?"
              for_each: {key: city, rows: [{city: Paris}, {city: Rome}]}
              validate: [contains "x"]
    """

    code: ClassVar[str] = "EV216"
    severity: ClassVar[Severity] = "warning"
    case: str

    def message(self) -> str:
        return f"the rows of `{self.case}` are identified only by their numbers"

    def help(self) -> str:
        return "name the column that tells them apart: `for_each: {key: COLUMN, ...}`"


class UnusedInput(Finding, frozen=True, kw_only=True):
    """An input is declared and nothing uses it.

    Example:
        prompt: "Review this code."
        inputs:
          - {name: language, required: false}
        eval:
          test_cases:
            - {name: a, validate: [contains "x"]}

    Cure:
        prompt: "Review this {{language}} code."
        inputs:
          - {name: language, required: false}
        eval:
          test_cases:
            - {name: a, validate: [contains "x"]}
    """

    code: ClassVar[str] = "EV217"
    severity: ClassVar[Severity] = "warning"
    name: str

    def message(self) -> str:
        return f"the input `{self.name}` is declared and never used"

    def help(self) -> str:
        return f"write `{{{{{self.name}}}}}` where it belongs, or remove the declaration"


class OddPromptKey(Finding, frozen=True, kw_only=True):
    """A key of a prompt file looks like a misspelt key that evalc reads.

    A prompt belongs to its library, so it may have any key, and those that evalc does not know are kept. This one
    is so close to a key that evalc reads that it is probably a misspelling.

    Example:
        id: greet-v1
        prompt: Greet {{name}}.
        inputs:
          - {name: name, requierd: false}
        eval:
          test_cases:
            - {name: a, inputs: {name: Ada}, validate: [contains "Ada"]}

    Cure:
        id: greet-v1
        prompt: Greet {{name}}.
        inputs:
          - {name: name, required: false}
        eval:
          test_cases:
            - {name: a, inputs: {name: Ada}, validate: [contains "Ada"]}
    """

    code: ClassVar[str] = "EV219"
    severity: ClassVar[Severity] = "warning"
    key: str
    what: str
    meant: str

    def message(self) -> str:
        return f"`{self.key}` is not a key of {self.what} that evalc reads"

    def slip(self) -> Slip | None:
        return Slip(self.key, self.meant)


class OddMetadataKey(Finding, frozen=True, kw_only=True):
    """A key in the metadata of eval JSON looks like a misspelt key that evalc reads.

    The metadata may hold any keys, so this is not an error, but evalc ignores the value under a misspelt key.

    Example:
        {"metadata": {"toolName": "greet", "tier": "labeled", "toolVersio": "2"}, "cases": [
          {"id": "greet/a", "description": "a", "difficulty": "edge", "input": {"message": "hi"},
           "expect": {"responseContains": ["x"]}}]}

    Cure:
        {"metadata": {"toolName": "greet", "tier": "labeled", "toolVersion": "2"}, "cases": [
          {"id": "greet/a", "description": "a", "difficulty": "edge", "input": {"message": "hi"},
           "expect": {"responseContains": ["x"]}}]}
    """

    code: ClassVar[str] = "EV218"
    severity: ClassVar[Severity] = "warning"
    key: str
    known: tuple[str, ...]

    def message(self) -> str:
        return f"`{self.key}` is not a key of the metadata that evalc reads"

    def slip(self) -> Slip | None:
        return slip_of(self.key, self.known)
