"""Tools: what eval files say of tools that the registry does not have (EV23x), and what is wrong with it (EV66x)."""

from __future__ import annotations

from typing import ClassVar

from evalc.base.terminal import first_of
from evalc.diagnostics.near import Slip, slip_of
from evalc.diagnostics.problem import Finding, Severity

_MOST_LISTED = 20


def _some(names: tuple[str, ...]) -> str:
    return first_of(names, _MOST_LISTED, "`{}`".format)


def _tools_are(known: tuple[str, ...]) -> str:
    return f"the tools are {_some(known)}" if known else "the registry has no tools"


class UnknownTool(Finding, frozen=True, kw_only=True):
    """A check or a stub names a tool that the tool registry does not have.

    No agent with these tools can call it, so the check fails whatever the agent does. The registry is the file that
    `toolRegistryPath` of the configuration or `--tools` names; without one nothing is compared. Nothing is reported
    either where some of the registry could not be read.
    """

    code: ClassVar[str] = "EV230"
    name: str
    known: tuple[str, ...]

    def message(self) -> str:
        return f"`{self.name}` is not a tool of the registry"

    def slip(self) -> Slip | None:
        return slip_of(self.name, self.known)

    def help(self) -> str:
        return _tools_are(self.known)


class UnknownParameter(Finding, frozen=True, kw_only=True):
    """A check looks at a parameter that the tool's schema does not have.

    Reported where the schema lists its properties and neither allows others (`additionalProperties`,
    `patternProperties`) nor is composed of several schemas. That a parameter does *not* exist may be asked of any name.
    """

    code: ClassVar[str] = "EV231"
    name: str
    tool: str
    known: tuple[str, ...]

    def message(self) -> str:
        return f"the tool `{self.tool}` has no parameter `{self.name}`"

    def slip(self) -> Slip | None:
        return slip_of(self.name, self.known)

    def help(self) -> str:
        return f"its parameters are {_some(self.known)}" if self.known else "it has no parameters"


class ImpossibleArgument(Finding, frozen=True, kw_only=True):
    """A check expects a value of a parameter that the tool's schema rules out.

    evalc reports it only if it is certain: the value is not in the `enum`, is not the `const`, or is a text that no
    number, integer or boolean could have.
    """

    code: ClassVar[str] = "EV232"
    value: str
    parameter: str
    tool: str
    allowed: tuple[str, ...] = ()
    type: str = ""

    def message(self) -> str:
        return f"`{self.parameter}` of the tool `{self.tool}` is never `{self.value[:60]}`"

    def slip(self) -> Slip | None:
        return slip_of(self.value, self.allowed)

    def help(self) -> str:
        if self.allowed:
            return f"its schema allows {_some(self.allowed)}"
        return f"its schema requires {self.type}"


class ForbidsUnknownTool(Finding, frozen=True, kw_only=True):
    """A check forbids a call of a tool that the tool registry does not have.

    Nothing can call it, so that the check holds whatever the agent does: most often the name is misspelt, and the tool
    that was meant is not watched.
    """

    code: ClassVar[str] = "EV233"
    severity: ClassVar[Severity] = "warning"
    name: str
    known: tuple[str, ...]

    def message(self) -> str:
        return f"`{self.name}` is not a tool of the registry, so it is never called"

    def slip(self) -> Slip | None:
        return slip_of(self.name, self.known)

    def help(self) -> str:
        return _tools_are(self.known)


class MisspeltSuiteTool(Finding, frozen=True, kw_only=True):
    """The suite's tool is not in the tool registry, and a tool there has nearly the same name.

    A suite need not be about one tool, so other names pass. Staleness is looked up by this name: a suite of a misspelt
    one is never found stale.
    """

    code: ClassVar[str] = "EV234"
    severity: ClassVar[Severity] = "warning"
    name: str
    near: str

    def message(self) -> str:
        return f"the suite's tool `{self.name}` is not in the registry"

    def slip(self) -> Slip | None:
        return Slip(self.name, self.near)


class JsonDisagreesWithRegistry(Finding, frozen=True, kw_only=True):
    """Eval JSON says something of tools that does not go with the tool registry.

    In eval files in YAML this is an error. Eval JSON is often made by a program for the tools of its time, and the
    contract has it run even if they have changed, so here it is a warning.
    """

    code: ClassVar[str] = "EV235"
    severity: ClassVar[Severity] = "warning"
    finding: Finding

    def message(self) -> str:
        return self.finding.message()

    def label(self) -> str:
        return self.finding.label()

    def help(self) -> str:
        return self.finding.help()


# --- the registry itself -------------------------------------------------------------------------------------------


class NotARegistry(Finding, frozen=True, kw_only=True):
    """The file that is to be the tool registry defines no tools.

    Read are: a list of definitions; a mapping of names to definitions; either under `tools`, also in an answer to MCP's
    `tools/list`; the `tools` of requests to the APIs of OpenAI and Anthropic; and TypeScript or JavaScript modules that
    export definitions.
    """

    code: ClassVar[str] = "EV660"
    path: str

    def message(self) -> str:
        return f"`{self.path}` defines no tools"

    def help(self) -> str:
        return "a registry is a list of tools, a mapping of names to tools, or a module that exports them"


class BadToolField(Finding, frozen=True, kw_only=True):
    """A tool's definition has a key of the wrong type, or lacks its name.

    A definition is an object with a `name`, a `description`, maybe a `version`, and the JSON Schema of its parameters
    as `parameters`, `inputSchema`, `input_schema` or `schema`.
    """

    code: ClassVar[str] = "EV661"
    what: str
    expected: str
    found: str

    def message(self) -> str:
        return f"{self.what} is to be {self.expected}, not {self.found}"


class DuplicateTool(Finding, frozen=True, kw_only=True):
    """Two tools of the registry have the same name.

    A model could not tell which one it calls.
    """

    code: ClassVar[str] = "EV662"
    name: str
    first: str

    def message(self) -> str:
        return f"the tool `{self.name}` is defined a second time (first at {self.first})"


class NotReadable(Finding, frozen=True, kw_only=True):
    """Something of the tool registry cannot be read.

    Most often it can only be told by running the module, which evalc never does. What cannot be read is left out and
    never guessed: a computed description is not compared, and where a whole tool may be missing, names that the
    registry does not have are not reported. The first page of an answer to MCP's `tools/list` is not all of it either.
    """

    code: ClassVar[str] = "EV663"
    severity: ClassVar[Severity] = "warning"
    what: str
    why: str

    def message(self) -> str:
        return f"{self.what} cannot be read: {self.why}"


class MissingModule(Finding, frozen=True, kw_only=True):
    """A module of the tool registry imports or re-exports something that is not there."""

    code: ClassVar[str] = "EV664"
    what: str
    module: str

    def message(self) -> str:
        return f"there is no {self.what} `{self.module}`"


class RegistryAbsent(Finding, frozen=True, kw_only=True):
    """The tool registry that the configuration names is not there.

    Names of tools are not checked then, nor is staleness. A registry that a flag names has to be there.
    """

    code: ClassVar[str] = "EV665"
    severity: ClassVar[Severity] = "warning"
    path: str

    def message(self) -> str:
        return f"the configured tool registry `{self.path}` does not exist"


class RegistryTooLarge(Finding, frozen=True, kw_only=True):
    """The tool registry has more modules, or expands to more values, than any set of tools needs."""

    code: ClassVar[str] = "EV666"
    what: str

    def message(self) -> str:
        return f"the tool registry has more than {self.what}"


class BrokenModule(Finding, frozen=True, kw_only=True):
    """The module that is named as the tool registry is not valid TypeScript or JavaScript.

    No runtime could run it, and nobody can tell which tools it defines. In a module that it imports, which may use
    newer syntax, the same problem is a warning (EV663).
    """

    code: ClassVar[str] = "EV667"
    path: str

    def message(self) -> str:
        return f"the module `{self.path}` does not parse here"
