"""Follows the steps of a check to its subject: a part of the answer, and what messages call it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

import msgspec
from msgspec.structs import replace

from evalc.base.terminal import counted, so_often, well_formed
from evalc.check import tree as t
from evalc.check.texts import NotJson, parse_leniently
from evalc.check.values import CannotAsk, as_text, count, measure
from evalc.model.answer import MOST_WRITTEN, ToolCall, Usage, has_room
from evalc.model.json import EVERY, MISSING, path_of_key, steps, values_at
from evalc.runtime.checks import (
    NOT_APPLICABLE,
    Evidence,
    NoAnswer,
    Verdict,
    View,
    ViewKind,
    broken,
    unasked,
    unknown,
    words,
)
from evalc.runtime.checks.words import quoted, shown

TOO_DEEP: Final = "the response is nested too deeply to be read as JSON"
NO_FOLDER: Final = "only programs and coding agents have a folder in which they can write files"
SILENT: Final = "the agent does not say whether its tool calls succeeded"
_ENCODING: Final = "o200k_base"
"""The vocabulary that tokens are counted with, whatever the agent's own."""


class Several(NamedTuple):
    """The subjects of a quantifier, and how many of them must hold.

    Messages call one of them by `noun`; `nothing` is the message if there is none.
    """

    which: t.Which
    views: list[View]
    noun: str = ""
    nothing: str = ""


def led_to(step: t.Step, view: View) -> View | Several:
    """The subject that a step leads to, or several; the `fault` of a missing subject is the verdict on it."""
    if view.fault is not None:  # a place in nothing is nothing, too; but a file that is not there has no places
        is_place = isinstance(step, t.At) and not _is_many(step.path) and view.kind != "file"
        return view if is_place else replace(view, value=None)
    try:
        return _STEPS[type(step)](step, view)
    except NoAnswer as error:
        return replace(view, value=None, fault=error.verdict)
    except CannotAsk as error:
        return replace(view, value=None, fault=cannot(error, view))


def cannot(error: CannotAsk, view: View) -> Verdict:
    """The verdict on a value whose type cannot be asked; if a response is not JSON, it says why."""
    try:
        if view.is_whole_text:
            json_of(view.value)
    except NoAnswer as not_json:
        return not_json.verdict
    return unasked(words.cannot_ask(error, view))


def json_of(text: str) -> Any:
    """The JSON of a response, as `lenient` reads it.

    Raises:
        NoAnswer: it has none.
    """
    try:
        return parse_leniently(text)
    except NotJson as error:
        raise NoAnswer(unasked(words.not_json(error, text))) from None
    except RecursionError:
        raise NoAnswer(broken(TOO_DEEP)) from None


def _there(view: View, kind: ViewKind, value: Any, name: str, absent: str = "is not there") -> View:
    fault = unasked(f"{shown(name)} {absent}", absent=True) if value is MISSING else None
    return replace(view, kind=kind, value=value, name=name, fault=fault)


def _turn(step: t.Turn, view: View) -> View:
    if view.evidence.turn is not None:
        raise NoAnswer(broken("it is about a turn of a turn"))
    # A case without follow-ups is a conversation of one turn.
    turns = view.evidence.turns or (replace(view.evidence, turn=1),)
    if step.number > len(turns):
        raise NoAnswer(unasked(f"the conversation ended after {counted(len(turns), 'turn')}"))
    return View.of(turns[step.number - 1], view.beside.in_turn(step))


# --- places in JSON --------------------------------------------------------------------------------------------------


def _at(step: t.At, view: View) -> View | Several:
    """The value at a place; a path with `[]` leads to several values, any of which may hold in a call."""
    whole = _as_json(view)
    found = list(values_at(whole.value, step.path))
    if not _is_many(step.path):
        return _place(whole, found[0], step.path)
    if not view.in_call:
        raise NoAnswer(broken(f"{quoted(step.path)} is more than one place"))
    there = [each for each in found if each is not MISSING] or [MISSING]
    return Several("any", [_place(whole, each, step.path) for each in there])


def _is_many(path: str) -> bool:
    return ("every", EVERY) in steps(path)


def _items(step: t.Items, view: View) -> Several:
    """The items of a list, or the values at a path in each; every list on the way must be there."""
    views = [_as_json(view)]
    for kind, key in steps(step.path):
        if kind == "every":
            views = [_place(each, item, f"[{index}]") for each in views for index, item in enumerate(_list(each))]
        else:
            at = t.At(path_of_key(key) if isinstance(key, str) else f"[{key}]")
            views = [led_to(at, each) for each in views]  # type: ignore[misc] # the path is one place
    path = _inside(view.name, step.path)
    items = [replace(each, item=(each.name, path)) for each in views]
    return Several(step.which, items, "item", f"{shown(step.path)} has no items")


def _list(view: View) -> list[Any]:
    if view.fault is not None:
        raise NoAnswer(view.fault)
    if not isinstance(view.value, list):
        raise NoAnswer(unasked(words.cannot_ask(CannotAsk("a list", view.value), view)))
    return view.value


def _as_json(view: View) -> View:
    """The JSON in which a place is looked up: a call's arguments, or the JSON of the text of a response or a result."""
    if view.kind == "call":
        return replace(view, kind="value", value=view.value.params, name="")
    is_text = view.is_whole_text or (view.kind == "result" and isinstance(view.value, str))
    return replace(view, kind="value", value=json_of(view.value) if is_text else view.value)


def _place(view: View, value: Any, path: str) -> View:
    return _there(view, "value", value, _inside(view.name, path))


def _inside(before: str, path: str) -> str:
    return f"{before}{'' if path.startswith('[') else '.'}{path}" if before and path else before or path


_UNCHANGED: Final = "as the agent was given it"


def _file(step: t.File, view: View) -> View:
    """A file that the agent wrote; if it has no text, or was given and left as it was, only `exists` can be asked."""
    written, unchanged = view.evidence.written, view.evidence.unchanged
    if written is None:
        raise NoAnswer(broken(f"{shown(step.path)}: {NO_FOLDER}"))
    there = replace(view, kind="file", name=step.path, in_file=True)
    number, file = next((found for found in enumerate(written) if found[1].path == step.path), (0, None))
    if file is None and step.path in unchanged:
        return replace(there, value=_UNCHANGED, fault=unasked(f"{shown(step.path)} is {_UNCHANGED}"))
    if file is None:
        if not view.evidence.all_unchanged:
            why = f"the run kept the paths of {MOST_WRITTEN} files that the agent left as they were; there may be more"
            raise NoAnswer(broken(f"{shown(step.path)}: {why}"))
        if len(written) >= MOST_WRITTEN:
            raise NoAnswer(
                broken(f"{shown(step.path)}: the agent wrote more than {MOST_WRITTEN} files, which are not all kept")
            )
        return replace(there, value=MISSING, fault=unasked(f"{shown(step.path)} was not written", absent=True))
    if file.text is None:
        size = counted(file.size, "byte")
        if not has_room(file.size, written[:number]):
            why = f"{shown(step.path)} was not kept, since it or the files together are too long: it has {size}"
            return replace(there, value=size, fault=broken(why))
        return replace(there, value=size, fault=unasked(f"{shown(step.path)} is no text in UTF-8: it has {size}"))
    return replace(there, value=file.text)


# --- calls -----------------------------------------------------------------------------------------------------------


def _call(step: t.Call, view: View) -> View | Several:
    """The calls of a tool, or one by its number; without a first call, nothing is checked (contract, toolParams)."""
    made = [
        replace(view, kind="call", value=call, name=f"call {number}", in_call=True)
        for number, call in enumerate((call for call in view.evidence.tool_calls if call.name == step.tool), 1)
    ]
    match step.which:
        case "any" | "every" | "no" as which:
            noun = f"call of {quoted(step.tool)}"
            return Several(which, made, noun, f"expected a {noun} but it was not called")
        case "first":
            if not made:
                raise NoAnswer(NOT_APPLICABLE)
            return replace(made[0], name=step.tool)
        case int() as number if number > len(made):
            so_many = f"it was called {so_often(len(made))}" if made else "it was not called"
            raise NoAnswer(unasked(f"expected call {number} of {quoted(step.tool)} but {so_many}"))
        case number:
            return made[number - 1]


def _argument(step: t.Argument, view: View) -> View:
    value = view.value.params.get(step.name, MISSING)
    return _there(view, "argument", value, f"{view.name}.{step.name}", "was not sent")


def _outcome(step: t.Result | t.Failure, view: View) -> View:
    """The result or the error of a call; it is missing only if the agent says so."""
    key, ends_without, what = _OUTCOMES[type(step)]
    value = getattr(view.value, key)
    if value is msgspec.UNSET:
        if view.value.success is not ends_without:
            where = f"(map it by `agent.response.{key}` in the configuration)"
            raise NoAnswer(broken(f"the agent does not say {what} {where}"))
        value = MISSING
    return _there(view, "result", value, f"the {key}")


_OUTCOMES: Final = {
    t.Result: ("result", False, "what its tools gave back"),
    t.Failure: ("error", True, "why its tool calls failed"),
}
"""The key of a call, the success with which it has none, and what an agent that has neither does not say."""


def _tools(_: t.Tools, view: View) -> View:
    return replace(view, kind="names", value=tuple([call.name for call in view.evidence.tool_calls]), name="tools")


# --- measures --------------------------------------------------------------------------------------------------------


def _measured(step: t.Measure, view: View) -> View:
    unit, of = _MEASURES[step.of]
    if step.of == "calls" and step.tool:
        unit = f"calls of {quoted(step.tool)}"
    value = measure(view.value, step.of) if of is None else of(step, view)  # type: ignore[arg-type] # one of its units
    return replace(view, kind="count", value=value, unit=unit)


def _calls_made(step: t.Measure, view: View) -> int:
    return sum([step.tool in ("", call.name) for call in view.evidence.tool_calls])


def errors(evidence: Evidence) -> list[ToolCall]:
    """The calls that failed; with stubs, those without one, with arguments that are no object, or a stub's error.

    Raises:
        NoAnswer: the tools were not executed, or the agent does not say.
    """
    if evidence.every_tool_has_a_stub:
        return [call for call in evidence.tool_calls if _failed_stub(call, evidence)]
    if evidence.tool_mode == "routing":
        raise NoAnswer(NOT_APPLICABLE)
    found = [call for call in evidence.tool_calls if call.success is False]
    if not found and any(call.success is None for call in evidence.tool_calls):
        raise NoAnswer(unknown(f"noToolErrors: {SILENT}"))
    return found


def _failed_stub(call: ToolCall, evidence: Evidence) -> bool:
    is_stubbed = call.name in (evidence.stubs or ())
    return not is_stubbed or call.arguments is not None or (evidence.tool_mode == "stubbed" and bool(call.error))


def _spent(_: t.Measure, view: View) -> float:
    """The cost that the agent reports, or by a model's list price; an unknown cost is an error, not a low cost."""
    usage = view.evidence.usage or Usage()
    if usage.cost_usd is None:
        why = "the agent's answer has no `usage.costUsd`, and its model has no list price to compute it from"
        raise NoAnswer(broken(f"what it cost is not known: {why}"))
    return usage.cost_usd


def _used(step: t.Measure, view: View) -> int:
    """The tokens that the agent reports; if it reports none, nothing is checked."""
    usage = view.evidence.usage or Usage()
    counts = {"input_tokens": usage.input_tokens, "output_tokens": usage.output_tokens}
    used = [counts[step.of]] if step.of in counts else counts.values()
    if None in used:
        raise NoAnswer(unknown(f"{_MEASURES[step.of][0]}: the agent does not report the tokens that it used"))
    return sum(used)  # type: ignore[arg-type] # none of them is None


def count_tokens(text: str) -> int:
    """The number of tokens of a text; special tokens count as text, and half a surrogate pair as U+FFFD."""
    from toktok import truncate  # noqa: PLC0415 - its vocabulary takes a fifth of a second to load

    total: int = truncate(well_formed(text), 0, _ENCODING)[1]  # of the whole text; counting in batches starts a thread
    return total


_MEASURES: Final[Mapping[str, tuple[str, Callable[[t.Measure, View], Any] | None]]] = {
    "chars": ("characters", None),
    **{unit: (unit, None) for unit in ("words", "lines", "bytes", "sentences")},
    **{f"{kind}_tokens": (f"{kind} tokens", _used) for kind in ("total", "input", "output")},
    "tokens": ("tokens", lambda _, view: count_tokens(as_text(view.value))),
    "items": ("items", lambda _, view: count(json_of(view.value) if view.is_whole_text else view.value)),
    "calls": ("tool calls", _calls_made),
    "errors": ("tool errors", lambda _, view: len(errors(view.evidence))),
    "ms": ("ms", lambda _, view: view.evidence.duration_ms),
    "dollars": ("$", _spent),
}
"""The unit of each measure, and the function that takes it; None where it is the length of a text in that unit."""
_STEPS: Final[Mapping[type[t.Step], Callable[[Any, View], View | Several]]] = {
    t.Turn: _turn,
    t.At: _at,
    t.Items: _items,
    t.File: _file,
    t.Call: _call,
    t.Argument: _argument,
    t.Result: _outcome,
    t.Failure: _outcome,
    t.Tools: _tools,
    t.Measure: _measured,
}
