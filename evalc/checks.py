"""Checks of your own: functions from an agent's answer to whether it holds what you ask for.

A check of your project is a function, or an async function, in a Python file that the configuration names
(`checks = ["evals/checks.py"]`). It is given the answer, then what the suite says
(`check max_links(3, to="example.com")`), and says whether the check holds, with a reason if it does not:

    import evalc

    @evalc.custom_check
    def max_links(answer: evalc.Answer, most: int, *, to: str = "") -> evalc.Outcome:
        count = answer.text.count(f"https://{to}")
        return evalc.Outcome(passed=count <= most, reason=f"found {count} links, expected at most {most}")

`max_links(answer, 3)` calls it, in a test for instance; `max_links(3)` is the check of a case in Python. A package
offers such functions by entry points:

    [project.entry-points."evalc.checks"]
    max_links = "my_package.checks:max_links"

A function that a file of JavaScript exports is a check, too; the guide to checks of your own says what it is given.

A check that measures a share returns a number, or an `Outcome` with a `score`. The suite compares it,
`check overlap("...") >= 0.7`, or scores a criterion by it, `check overlap("...") for grounded`.

Whatever it raises makes the case an error, and so does anything else that it returns, and a number that no line
compares and no criterion is scored by: neither a pass nor a failure. It may take as long as a case may. It runs in a
thread of its own, beside the checks of other cases, so what it keeps outside itself must be safe for threads.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from decimal import Decimal
from functools import cache, partial, update_wrapper
from inspect import signature, unwrap
from pathlib import Path
from typing import Any, Concatenate, Final, Generic, NamedTuple, ParamSpec, Protocol, final, overload

import msgspec

from evalc import base
from evalc.base.errors import AgentError, UsageError
from evalc.base.files import read_limited
from evalc.base.guard import guarded_call, imported
from evalc.ecma.modules import SCRIPTS, ScriptError, linked, with_imports
from evalc.model.answer import ToolCall, Usage, WrittenFile
from evalc.model.json import short_hash

P = ParamSpec("P")

_LARGEST: Final = 32_000_000
"""The bytes of a file of checks."""

__all__ = ["Answer", "BoundCheck", "Check", "CustomCheck", "Outcome", "ToolCall", "Usage", "custom_check"]


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """The input of a check: the answer, and the case that asked for it. It belongs to the check alone.

    Attributes:
        text: the response; under `at PATH`, the text of that place.
        tool_calls: the tool calls, in order.
        duration_ms: how long the answer took.
        usage: what the answer used, where the agent says so.
        written: the files that the agent wrote, each with its `path`, its `size` in bytes, and its `text` unless it is
            long or no UTF-8; None if it had no folder to write in. Under `turn N`, as they were when that turn ended.
        case_id: the id of the case.
        message: what was sent; under `turn N`, what the user said in that turn.
        messages: the messages of the case, each with its `role` and `content`; of a conversation all that was said.
        inputs: the variables that the message was made from.
        expected: the case's reference, if it has one.
        reference_data: the case's ground truth, if it has some.
    """

    text: str
    tool_calls: tuple[ToolCall, ...] = ()
    duration_ms: float = 0.0
    usage: Usage | None = None
    written: tuple[WrittenFile, ...] | None = None
    case_id: str = ""
    message: str = ""
    messages: tuple[Mapping[str, str], ...] = ()
    inputs: Mapping[str, Any] = {}
    expected: str | None = None
    reference_data: Mapping[str, Any] = {}


class _NamingItsKeywords(type(msgspec.Struct)):  # type: ignore[misc]
    """Says which keywords a record takes, where it is given another."""

    def __call__(cls, *args: Any, **given: Any) -> Any:
        unknown = next((name for name in given if name not in cls.__struct_fields__), None)
        if unknown is not None:
            *first, last = (f"`{field}`" for field in cls.__struct_fields__)
            takes = f"it takes {', '.join(first)} and {last}"
            raise TypeError(f"`evalc.{cls.__name__}` got an unexpected keyword argument `{unknown}`; {takes}")
        return super().__call__(*args, **given)


class Outcome(msgspec.Struct, frozen=True, kw_only=True, metaclass=_NamingItsKeywords):
    """Whether a check holds, or what it measured, and why it does not hold; the reason is only shown if it does not.

    `score` is compared by a line (`>= 0.7`), or, from 0 to 1, is the score of the criterion that the check counts for.
    With `passed=False` the check does not hold, whatever the score. A reason alone says why the answer could not be
    asked, such as that it is no JSON: then the check fails, with `not` before it, too.
    """

    passed: bool | None = None
    reason: str = ""
    score: float | None = None


class Check(Protocol):
    """The object that an entry point names: called with the answer, and with JSON values by place and by name."""

    def __call__(self, answer: Answer, /, *args: Any, **options: Any) -> Any:
        """Whether the check holds: a `bool`, a number, an `Outcome`, or an awaitable of one of them."""
        ...


@final
class BoundCheck(NamedTuple):
    """A check with its arguments, which a case in Python has among its `checks`."""

    function: Callable[..., Any]
    args: tuple[Any, ...]
    options: Mapping[str, Any]
    criterion: str = ""
    bound: str = ""

    def counting_for(self, criterion: str) -> BoundCheck:
        """The same check, counting for a criterion: `check NAME(...) for CRITERION` on a line."""
        return self._replace(criterion=criterion)

    def __ge__(self, least: float) -> BoundCheck:  # type: ignore[override] # a check has no order
        """The same check, whose number a line compares: `check NAME(...) >= 0.7`."""
        return self._replace(bound=f" >= {as_json(least)}")

    def __gt__(self, least: float) -> BoundCheck:  # type: ignore[override]
        return self._replace(bound=f" > {as_json(least)}")

    def __le__(self, most: float) -> BoundCheck:  # type: ignore[override]
        return self._replace(bound=f" <= {as_json(most)}")

    def __lt__(self, most: float) -> BoundCheck:  # type: ignore[override]
        return self._replace(bound=f" < {as_json(most)}")

    @property
    def name(self) -> str:
        """The name of its function, by which lines call it."""
        return self.function.__name__

    def __str__(self) -> str:
        """The line of an eval file that says the same."""
        given = [*map(as_json, self.args), *(f"{name}={as_json(value)}" for name, value in self.options.items())]
        return f"check {self.name}({', '.join(given)}){self.bound}{self.criterion and f' for {self.criterion}'}"


def as_json(value: Any) -> str:
    """The value as JSON; what JSON has not, such as a set, bytes or NaN, is refused, and not made into something else.

    Raises:
        TypeError: it is no JSON value.
        ValueError: it holds a number that is not finite, or itself.
    """
    if isinstance(value, float) and "e" in repr(value):  # lines know no exponents
        return f"{Decimal(repr(value)):f}"
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


@final
class CustomCheck(Generic[P]):
    """A check of a project, which suites use by the name of its function.

    Raises:
        TypeError: it has no name by which a line could call it, as a lambda and a `partial` have none, or takes no
            answer.
    """

    def __init__(self, function: Callable[Concatenate[Answer, P], Any]) -> None:
        if not str(getattr(function, "__name__", "")).isidentifier():
            raise TypeError("a check needs a name, by which suites call it: declare it with `def`")
        if not signature(function).parameters:
            raise TypeError(f"the check `{function.__name__}` has no parameter for the answer")
        update_wrapper(self, function)
        self.function = function

    @overload
    def __call__(self, answer: Answer, /, *args: P.args, **options: P.kwargs) -> Any: ...
    @overload
    def __call__(self, *args: P.args, **options: P.kwargs) -> BoundCheck: ...
    def __call__(self, *args: Any, **options: Any) -> Any:  # type: ignore[misc] # the first of them may be an answer
        """The value of the function if an answer is given, else the check with these arguments."""
        if args and isinstance(args[0], Answer):
            return self.function(*args, **options)
        return BoundCheck(self.function, args, options)


def custom_check(function: Callable[Concatenate[Answer, P], Any]) -> CustomCheck[P]:
    """Declare a function as a check: `check NAME(...)` in a suite calls it with the answer and the arguments there."""
    return CustomCheck(function)


@final
class ProjectChecks(msgspec.Struct, frozen=True, kw_only=True):
    """The files that declare a project's checks, and the functions that suites in Python have brought."""

    files: tuple[str, ...] = ()  # absolute
    root: Path = Path()  # the project's folder
    functions: Mapping[str, Callable[..., Any]] = {}

    def by_name(self) -> Mapping[str, Callable[..., Any]]:
        """The functions of the checks; a file is imported once.

        Raises:
            UsageError: a file cannot be imported.
        """
        return {**_checks_of(self.files, self.root), **self.functions}

    def text_hash(self) -> str | None:
        """Identifies the text of the files, with what JavaScript imports, whatever ends its lines; None without files.

        Raises:
            OSError: a file cannot be read.
        """
        files = [*with_imports(map(Path, self.files), self.root)]
        texts = [(os.path.relpath(file, self.root), read_limited(file, _LARGEST).splitlines()) for file in files]
        return short_hash(repr(texts)) if texts else None

    def joined_by(self, functions: Mapping[str, Callable[..., Any]]) -> ProjectChecks:
        """These checks, and those that suites in Python have brought.

        Raises:
            UsageError: one of them is called as another check of the project or of an installed package is.
        """
        known: dict[str, Any] = {**_checks_of(self.files, self.root)}
        offered = base.names_offered("evalc.checks") if functions else ()
        for name, function in functions.items():
            if name in offered and name not in known:
                known[name] = guarded_call(partial(base.load_offered, "evalc.checks", name))
            if name in known and _declared_at(function) != _declared_at(known[name]):
                raise UsageError(
                    f"a suite has brought a check `{name}`, and another of the project or of a package has that name"
                )
        return msgspec.structs.replace(self, functions=functions)


def _declared_at(function: Callable[..., Any]) -> object:
    """Where a function is written, since a file that is imported under two names makes two; of others, themselves."""
    code = getattr(unwrap(function), "__code__", None)
    return function if code is None else (os.path.realpath(code.co_filename), code.co_firstlineno)


@cache
def _checks_of(files: tuple[str, ...], root: Path) -> Mapping[str, Callable[..., Any]]:
    scripts = [file for file in files if file.endswith(SCRIPTS)]
    modules = [imported(file, root) for file in files if file not in scripts]
    found = [
        (each.function.__name__, each.function)
        for module in modules
        for each in vars(module).values()
        if isinstance(each, CustomCheck) and each.__module__ == module.__name__  # not what it imports
    ]
    for file in {os.path.realpath(each): each for each in scripts}.values():
        found += _exported(Path(file), root).items()
    checks = dict(found)
    for name, function in found:
        if function is not checks[name]:  # `evalc check` sees only what a file declares plainly
            raise UsageError(f"two files of `checks` declare a check `{name}`")
    return checks


def _exported(file: Path, root: Path) -> dict[str, Callable[..., Any]]:
    """The checks of a file of JavaScript; a function that it exports without a name is called as the file is.

    Raises:
        UsageError: the file, or a file that it imports, cannot be read or evaluated.
    """
    from evalc.ecma.scripts import caller, functions_of  # noqa: PLC0415 - for start-up: seldom needed

    try:
        files = linked(file, root)
        names = functions_of(files)
    except ScriptError as error:
        raise UsageError(f"`{file}` cannot be read: {error}") from None

    def check(
        call: Callable[..., tuple[bool | float | None, str]], answer: Answer, /, **config: Any
    ) -> float | Outcome:
        given = {"vars": answer.inputs, "prompt": answer.message, **({"config": config} if config else {})}
        try:
            value, reason = call(answer.text, given)
        except ScriptError as error:
            raise AgentError(str(error)) from None
        return Outcome(passed=value, reason=reason) if value is None or isinstance(value, bool) else value

    return {file.stem if name == "default" else name: partial(check, caller(files, name)) for name in names}
