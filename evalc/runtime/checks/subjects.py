"""Follows the steps of a check to its subject: a part of the answer, and what messages call it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, Literal, NamedTuple

import msgspec

from evalc.base.terminal import counted
from evalc.check.tree import Argument, At, Call, Check, Failure, Items, Measure, Of, Result, Step, Test, Tools, Turn
from evalc.check.values import CannotAsk, count, measure
from evalc.ecma.values import UNDEFINED, to_string
from evalc.model.json import EVERY, MISSING, path_of_key, steps, values_at
from evalc.runtime.checks import calls, words
from evalc.runtime.checks.json_text import NotJson, parse_leniently
from evalc.runtime.checks.limits import count_tokens, spent, used
from evalc.runtime.checks.verdict import NOT_APPLICABLE, Verdict, View, broken, unasked
from evalc.runtime.checks.wording import quoted, shown, so_often

TOO_DEEP: Final = "the response is nested too deeply to be read as JSON"


def json_of(text: str) -> Any:
    """The JSON of a response, as `lenient` reads it, or the verdict that it has none."""
    try:
        return parse_leniently(text)
    except NotJson as error:
        return unasked(not_json(error, text))
    except RecursionError:
        return broken(TOO_DEEP)


def not_json(error: NotJson, text: str) -> str:
    """The message of a check that needs JSON and got none."""
    return f"expected JSON but got {quoted(text)}: {shown(str(error))}"


# --- steps that lead to several subjects -----------------------------------------------------------------------------


class Several(NamedTuple):
    """The subjects of a quantifier, and how many of them have to do; `fault` is the verdict where there can be none.

    `noun` is what messages call one of them, and `nothing` says that there is none.
    """

    which: Literal["any", "every", "no"]
    views: list[View]
    noun: str = ""
    nothing: str = ""
    fault: Verdict | None = None


def is_quantified(step: Step, view: View) -> bool:
    """Whether a step leads to several subjects; a path with `[]` does so in a call."""
    match step:
        case Items():
            return True
        case Call(_, which):
            return which in ("any", "every", "no")
        case At(path):
            return view.in_call and _is_many(path)
        case _:
            return False


def _is_many(path: str) -> bool:
    return ("every", EVERY) in steps(path)


def views_of(step: Step, view: View) -> Several:
    """The subjects that such a step leads to."""
    match step:
        case Call(tool, "any" | "every" | "no" as which):
            noun = f"call of {quoted(tool)}"
            return Several(which, _calls(tool, view), noun, f"expected a {noun} but it was not called", view.fault)
        case Items(path, which):
            return _items(path, which, view)
        case At(path):
            whole = _as_json(view)
            found = [] if whole.fault else [each for each in values_at(whole.value, path) if each is not MISSING]
            views = [_value(whole, each, path) for each in found] or [_missing(whole, path)]
            return Several("any", views, fault=whole.fault)
        case _:
            raise TypeError(step)


def _calls(tool: str, view: View) -> list[View]:
    made = [call for call in view.evidence.tool_calls if call.name == tool]
    views = (view._replace(kind="call", value=call, where=None, reads_json=False, in_call=True) for call in made)
    return [each._replace(name=f"call {number}") for number, each in enumerate(views, 1)]


def _items(path: str, which: Literal["any", "every", "no"], view: View) -> Several:
    """The items of a list, or what a path leads to in each; every list on the way must be there."""
    views = [_as_json(view)]
    for kind, step in steps(path):
        if kind == "every":
            fault = next((each.fault for each in map(_list, views) if each.fault), None)
            if fault:
                return Several(which, [], fault=fault)
            views = [_value(each, item, f"[{index}]") for each in views for index, item in enumerate(each.value)]
        else:
            one = path_of_key(step) if isinstance(step, str) else f"[{step}]"
            views = [_at(At(one), each) for each in views]
    return Several(which, views, "item", f"{shown(path)} has no items")


def _list(view: View) -> View:
    if view.fault is not None or isinstance(view.value, list):
        return view
    return view._replace(fault=unasked(words.cannot_ask(CannotAsk("a list", view.value), view)))


# --- steps that lead to one subject ----------------------------------------------------------------------------------


def is_about_calls(check: Check) -> bool:
    """Whether a check begins with what the agent has to report of its calls."""
    match check:
        case Of(Tools() | Call()) | Of(Measure("calls" | "errors")):
            return True
        case Test("numbers_from" | "quotes_from", sources):
            return "tools" in sources
        case _:
            return False


def step_to(step: Step, view: View) -> View:
    """The one subject that a step leads to; where there is none it has the verdict as its `fault`."""
    return _STEPS[type(step)](step, view)


def _turn(step: Turn, view: View) -> View:
    if view.fault is not None:
        return view
    if view.evidence.turn is not None:
        return view._replace(fault=broken("it is about a turn of a turn"))
    # A case without follow-ups is a conversation of one turn.
    turns = view.evidence.turns or (msgspec.structs.replace(view.evidence, turn=1),)
    if step.number > len(turns):
        return view._replace(fault=unasked(f"the conversation ended after {counted(len(turns), 'turn')}"))
    return View.of(turns[step.number - 1], calls.of_turn(step, view.beside))


def _at(step: At, view: View) -> View:
    whole = _as_json(view)
    if whole.fault is not None:
        return whole
    if _is_many(step.path):
        return view._replace(fault=broken(f"{quoted(step.path)} is more than one place"))
    value = next(values_at(whole.value, step.path))
    return _missing(whole, step.path) if value is MISSING else _value(whole, value, step.path)


def _as_json(view: View) -> View:
    """The JSON in which a place is sought: of a call its arguments, of a response or a result what its text says."""
    if view.fault is not None:
        return view
    if view.kind == "call":
        return view._replace(kind="value", value=view.value.params, name="")
    value = json_of(view.value) if view.reads_json else view.value
    if isinstance(value, Verdict):
        return view._replace(fault=value)
    return view._replace(kind="value", value=value, text=value, reads_json=False)


def _value(view: View, value: Any, path: str) -> View:
    where = None if view.where is None else _joined(view.where, path)
    return view._replace(kind="value", value=value, text=value, name=_joined(view.name, path), where=where)


def _missing(view: View, path: str) -> View:
    there = _value(view, MISSING, path)
    return there._replace(fault=unasked(f"{shown(there.name)} is not there"))


def _joined(before: str, path: str) -> str:
    return f"{before}{'' if path.startswith('[') else '.'}{path}" if before and path else before or path


def _nth(step: Call, view: View) -> View:
    """A call by its number; where there is no first one, nothing is asked of it (contract, toolParams)."""
    if view.fault is not None:
        return view
    made = _calls(step.tool, view)
    number = step.which if isinstance(step.which, int) else 1
    if len(made) >= number:
        return made[number - 1]._replace(name=step.tool if step.which == "first" else f"call {number}")
    so_many = f"it was called {so_often(len(made))}" if made else "it was not called"
    missing = unasked(f"expected call {number} of {quoted(step.tool)} but {so_many}")
    return view._replace(kind="call", value=None, fault=NOT_APPLICABLE if step.which == "first" else missing)


def _argument(step: Argument, view: View) -> View:
    if view.fault is not None:
        return view
    name = f"{view.name}.{step.name}"
    value = view.value.params.get(step.name, MISSING)
    fault = unasked(f"{shown(name)} was not sent") if value is MISSING else None
    text = to_string(UNDEFINED if value is MISSING else value)
    return view._replace(kind="argument", value=value, text=text, name=name, fault=fault)


def _outcome(step: Result | Failure, view: View) -> View:
    if view.fault is not None:
        return view
    value = calls.result_of(view.value) if isinstance(step, Result) else calls.failure_of(view.value)
    name = "the result" if isinstance(step, Result) else "the error"
    if isinstance(value, Verdict):
        return view._replace(fault=value)
    there = view._replace(kind="value", value=value, text=value, name=name, reads_json=isinstance(value, str))
    return there._replace(fault=unasked(f"{name} is not there")) if value is MISSING else there


def _tools(_: Tools, view: View) -> View:
    names = tuple([call.name for call in view.evidence.tool_calls])
    return view._replace(kind="names", value=names, name="tools", where=None)


def _measured(step: Measure, view: View) -> View:
    if view.fault is not None:
        return view
    try:
        value, unit = _MEASURES[step.of](step, view)
    except CannotAsk as error:
        return view._replace(fault=unasked(words.cannot_ask(error, view)))
    if isinstance(value, Verdict):
        return view._replace(fault=value)
    return view._replace(kind="count", value=value, text=value, unit=unit, where=None)


def _length(step: Measure, view: View) -> tuple[Any, str]:
    return measure(view.value, step.of), "characters" if step.of == "chars" else step.of  # type: ignore[arg-type]


def _tokens(_: Measure, view: View) -> tuple[Any, str]:
    measure(view.value, "chars")  # of a text only
    return count_tokens(view.value), "tokens"


def _count(_: Measure, view: View) -> tuple[Any, str]:
    value = json_of(view.value) if view.kind == "response" else view.value
    return value if isinstance(value, Verdict) else count(value), "items"


def _calls_made(step: Measure, view: View) -> tuple[Any, str]:
    if step.tool:
        return len(_calls(step.tool, view)), f"calls of {quoted(step.tool)}"
    return len(view.evidence.tool_calls), "tool calls"


def _errors(_: Measure, view: View) -> tuple[Any, str]:
    found = calls.errors(view.evidence)
    return found if isinstance(found, Verdict) else len(found), "tool errors"


_MEASURES: Final[Mapping[str, Callable[[Measure, View], tuple[Any, str]]]] = {
    **dict.fromkeys(("chars", "words", "lines", "bytes", "sentences"), _length),
    **dict.fromkeys(("total_tokens", "input_tokens", "output_tokens"), lambda step, view: used(step.of, view.evidence)),
    "tokens": _tokens,
    "items": _count,
    "calls": _calls_made,
    "errors": _errors,
    "ms": lambda _, view: (view.evidence.duration_ms, "ms"),
    "dollars": lambda _, view: (spent(view.evidence), "$"),
}
_STEPS: Final[Mapping[type, Callable[[Any, View], View]]] = {
    Turn: _turn,
    At: _at,
    Call: _nth,
    Argument: _argument,
    Result: _outcome,
    Failure: _outcome,
    Tools: _tools,
    Measure: _measured,
}
