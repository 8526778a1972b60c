"""evalc: a compiler and runner for evals of LLM agents.

The public names, imported when they are first used (PEP 562), so that the command line starts fast.
"""

import sys

__version__ = "0.1.0"

TYPE_CHECKING = False  # as in typing, whose import would take as long as the rest of `evalc --version`

if TYPE_CHECKING:
    from types import ModuleType

    from evalc.api import check, compile, run, run_async  # noqa: A004
    from evalc.base.errors import (
        AgentError,
        AgentProtocolError,
        AgentTimeout,
        AgentUnavailable,
        EvalcError,
        SourceError,
        UsageError,
    )
    from evalc.base.source import Source
    from evalc.checks import Answer, Outcome, custom_check
    from evalc.compiler.compiled import Compilation
    from evalc.diagnostics import Problem
    from evalc.model.answer import AgentResponse, ToolCall
    from evalc.runtime.agents.recording import ScriptedAgent
    from evalc.setup.finished import Run
    from evalc.suites import (
        Case,
        Suite,
        Turn,
        contains,
        contains_all_of,
        contains_any_of,
        ends_with,
        equals,
        judge,
        matches,
        one_of,
        similar_to,
        starts_with,
        within,
    )
else:
    ModuleType = type(sys)

_HOMES = {
    "AgentError": "evalc.base.errors",
    "AgentProtocolError": "evalc.base.errors",
    "AgentResponse": "evalc.model.answer",
    "AgentTimeout": "evalc.base.errors",
    "AgentUnavailable": "evalc.base.errors",
    "Answer": "evalc.checks",
    "Case": "evalc.suites",
    "Compilation": "evalc.compiler.compiled",
    "EvalcError": "evalc.base.errors",
    "Outcome": "evalc.checks",
    "Problem": "evalc.diagnostics",
    "Run": "evalc.setup.finished",
    "ScriptedAgent": "evalc.runtime.agents.recording",
    "Source": "evalc.base.source",
    "SourceError": "evalc.base.errors",
    "Suite": "evalc.suites",
    "ToolCall": "evalc.model.answer",
    "Turn": "evalc.suites",
    "UsageError": "evalc.base.errors",
    "check": "evalc.api",
    "compile": "evalc.api",
    "contains": "evalc.suites",
    "contains_all_of": "evalc.suites",
    "contains_any_of": "evalc.suites",
    "custom_check": "evalc.checks",
    "ends_with": "evalc.suites",
    "equals": "evalc.suites",
    "judge": "evalc.suites",
    "matches": "evalc.suites",
    "one_of": "evalc.suites",
    "run": "evalc.api",
    "run_async": "evalc.api",
    "similar_to": "evalc.suites",
    "starts_with": "evalc.suites",
    "within": "evalc.suites",
}

__all__ = [
    "AgentError",
    "AgentProtocolError",
    "AgentResponse",
    "AgentTimeout",
    "AgentUnavailable",
    "Answer",
    "Case",
    "Compilation",
    "EvalcError",
    "Outcome",
    "Problem",
    "Run",
    "ScriptedAgent",
    "Source",
    "SourceError",
    "Suite",
    "ToolCall",
    "Turn",
    "UsageError",
    "check",
    "compile",
    "contains",
    "contains_all_of",
    "contains_any_of",
    "custom_check",
    "ends_with",
    "equals",
    "judge",
    "matches",
    "one_of",
    "run",
    "run_async",
    "similar_to",
    "starts_with",
    "within",
]


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module  # noqa: PLC0415 - the point of this function is to import late

    return getattr(import_module(_HOMES[name]), name)


class _Package(ModuleType):
    """The package: a room of the same name, once imported, does not take the place of a public name (`evalc.check`)."""

    def __setattr__(self, name: str, value: object) -> None:
        if name not in _HOMES or not isinstance(value, ModuleType):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
