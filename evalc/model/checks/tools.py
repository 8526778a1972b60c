"""Checks of the calls of tools."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Final, Literal

import msgspec
from msgspec import Meta

from evalc.model.checks.declaration import Arguments, Declared, Field, Matched, ParamName, Text, ToolName

ParamAssertion = Literal["equals", "contains", "oneOf", "exists", "notExists", "matches"]
NO_TOOL: Final = "__none__"
"""The only member of the set that means no tool at all."""


class _CallCheck(Declared, frozen=True, kw_only=True):
    of_calls: ClassVar = True


class ToolsCalled(_CallCheck, frozen=True, kw_only=True, tag="tools_called"):
    """Exactly these tools were called, in this order."""

    line: ClassVar = "tools called {names}"
    examples: ClassVar = (["get_weather"], [])
    contract: ClassVar = (Field("tools_called", "names", once=True),)

    names: Annotated[tuple[ToolName, ...], Meta(description="The names of the tools.")]


class ToolsAcceptable(_CallCheck, frozen=True, kw_only=True, tag="tools_acceptable"):
    """The tools that were called are one of these sets; `none` is the empty set, `["__none__"]` in JSON."""

    line: ClassVar = "tools one of {sets}"
    examples: ClassVar = ([["get_weather"], ["get_weather", "get_forecast"], "none"],)
    contract: ClassVar = (Field("tools_acceptable", "sets", once=True),)

    sets: Annotated[
        tuple[tuple[ToolName, ...], ...], Meta(description="The sets of tools; `__none__` alone is the empty set.")
    ]


class ToolsNotCalled(_CallCheck, frozen=True, kw_only=True, tag="tools_not_called"):
    """None of these tools was called."""

    line: ClassVar = "tools not called {names}"
    examples: ClassVar = (["delete_account"],)
    contract: ClassVar = (Field("tools_not_called", "names"),)

    names: Annotated[tuple[ToolName, ...], Meta(description="The names of the tools.")]


class ToolsInclude(_CallCheck, frozen=True, kw_only=True, tag="tools_include"):
    """These tools were called, in any order and among any others. A name that is listed twice requires two calls."""

    line: ClassVar = "tools include {names}"
    examples: ClassVar = (["search", "search", "book"],)

    names: Annotated[tuple[ToolName, ...], Meta(description="The names of the tools.")]


class ToolsInOrder(_CallCheck, frozen=True, kw_only=True, tag="tools_in_order"):
    """These tools were called in this order, with any other calls in between."""

    line: ClassVar = "tools in order {names}"
    examples: ClassVar = (["search", "book"],)

    names: Annotated[tuple[ToolName, ...], Meta(description="The names of the tools.")]


class ToolsOnly(_CallCheck, frozen=True, kw_only=True, tag="tools_only"):
    """No tool was called but these, each any number of times."""

    line: ClassVar = "tools only {names}"
    examples: ClassVar = (["search", "book"],)

    names: Annotated[tuple[ToolName, ...], Meta(description="The names of the tools.")]


class ToolParam(_CallCheck, frozen=True, kw_only=True, tag="tool_param"):
    """A parameter of the first call of a tool has this value. `value` is a list for `oneOf`."""

    begins: ClassVar = ("tool NAME.PARAM",)
    contract: ClassVar = (Field("tool_params", each=True),)

    tool: Annotated[ToolName, Meta(description="The name of the tool.")]
    param_name: Annotated[ParamName, Meta(description="The name of the parameter.")]
    assertion: Annotated[ParamAssertion, Meta(description="How the parameter is compared.")]
    value: Annotated[
        Text | tuple[Text, ...] | None, Meta(description="What it is compared with: a text, or a list for `oneOf`.")
    ] = None


class ArgTest(
    msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True, rename="camel"
):
    """A test of one argument of a call; all that is given has to hold. Numbers are compared as numbers."""

    equals: Annotated[Any, Arguments, Meta(description="The value that it equals, of any type.")] = msgspec.UNSET
    contains: Annotated[Text | None, Meta(description="A text in it, or an item of it.")] = None
    matches: Annotated[Matched | None, Meta(description="A pattern that it matches.")] = None
    one_of: Annotated[
        tuple[Any, ...] | None, Arguments, Meta(description="The values, one of which it must equal.")
    ] = None
    exists: Annotated[bool | None, Meta(description="Whether it was sent.")] = None
    min: Annotated[int | float | None, Meta(description="The least number that it is.")] = None
    max: Annotated[int | float | None, Meta(description="The greatest number that it is.")] = None


class CallHas(_CallCheck, frozen=True, kw_only=True, tag="call_has"):
    """A call of a tool has these arguments: any of them, every one, the Nth, or no call.

    Several checks of a case that say `any` of one tool are about different calls: each takes a call for itself.
    """

    begins: ClassVar = ("any call of TOOL has", "every call of TOOL has", "no call of TOOL has", "call N of TOOL has")

    tool: Annotated[ToolName, Meta(description="The name of the tool.")]
    which: Annotated[
        Literal["any", "every", "no"] | Annotated[int, Meta(ge=1)],
        Meta(description="Which of the tool's calls: `any`, `every`, `no`, or its number from 1."),
    ] = "any"
    args: Annotated[
        dict[str, ArgTest],
        Arguments,
        Meta(description="What the arguments have to be, by their paths in the call."),
    ]


class NoToolErrors(_CallCheck, frozen=True, kw_only=True, tag="no_tool_errors"):
    """No call of a tool failed."""

    line: ClassVar = "no tool errors"
    contract: ClassVar = (Field("no_tool_errors"),)


class ToolCount(_CallCheck, frozen=True, kw_only=True, tag="tool_count"):
    """The number of tool calls is within the bounds, both inclusive."""

    line: ClassVar = "tool count {bounds}"
    examples: ClassVar = ("min:1,max:3",)
    contract: ClassVar = (Field("min_tool_calls", "min", once=True), Field("max_tool_calls", "max", once=True))

    min: Annotated[int | None, Meta(description="The least number allowed.")] = None
    max: Annotated[int | None, Meta(description="The greatest number allowed.")] = None

    def has_field(self) -> bool:
        # A lower bound of 0 asserts nothing in the contract.
        return (self.min, self.max) != (None, None) and self.min != 0


ToolCheck = (
    ToolsCalled
    | ToolsAcceptable
    | ToolsNotCalled
    | ToolsInclude
    | ToolsInOrder
    | ToolsOnly
    | ToolParam
    | CallHas
    | NoToolErrors
    | ToolCount
)
