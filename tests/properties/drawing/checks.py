"""Draws checks that hold of an answer, or do not: the record of the model, and each spelling in YAML.

The texts of all of them are templates. What fills them (see `cases.given_inputs`) is in every answer.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, Final, NamedTuple, TypeVar

from hypothesis import strategies as st

from tests.properties.drawing.worlds import CALLS, COMMON, DATA_SCHEMA, NEVER, PARAMS, World

T = TypeVar("T")

Draw = st.DrawFn
Record = dict[str, Any]


class Spelt(NamedTuple):
    """One check: the model's record, an item of `validate:`, and a line. `of_run`: it is not about the response."""

    record: Record
    mapping: Any
    line: str
    of_run: bool = False


Make = Callable[[Draw, World], Spelt]

# --- texts -----------------------------------------------------------------------------------------------------------

_FILLED: Final = ("{{name}}", "{{ count }}", "{{#if flag}}Paris{{else}}rain{{/if}}", "{{#unless flag}}18{{/unless}}")
_FILLED_NEVER: Final = ("zzz {{name}}", "n#{{#each items}}<{{this}}>{{/each}}", "\\{{name}} zzz", "{{ zzz")


def chosen(draw: Draw, options: Sequence[T]) -> T:
    """One of the options."""
    return options[draw(_below(len(options)))]


@cache
def _below(number: int) -> st.SearchStrategy[int]:
    """A strategy is made once a number: making one anew for each draw takes half the time of drawing."""
    return st.integers(0, number - 1)


def present(draw: Draw, world: World, *, tokens: bool = True) -> str:
    """A text that the answer contains, once it is filled and resolved."""
    return str(chosen(draw, (*world.pieces, *COMMON, *_FILLED, *(world.tokens if tokens else ()))))


def absent(draw: Draw, *, tokens: bool = True) -> str:
    """A text that the answer does not contain."""
    return str(chosen(draw, (*NEVER, *_FILLED_NEVER, *(("zzz {{seed:city}}",) if tokens else ()))))


def quoted(text: str) -> str:
    """A text as it stands in a line: by its length in one or the other quotes, so that both are drawn."""
    if len(text) % 2 and "'" not in text:
        return "'" + json.dumps(text, ensure_ascii=False)[1:-1].replace('\\"', '"') + "'"
    return json.dumps(text, ensure_ascii=len(text) % 3 == 0)


def listed(texts: list[str]) -> str:
    return f"[{', '.join(map(quoted, texts))}]"


# --- texts of the response -------------------------------------------------------------------------------------------


def one_text(type_: str, words: str, text: str) -> Spelt:
    """A check that is one text."""
    return Spelt({"type": type_, "value": text}, {"type": type_, "rule": text}, f"{words} {quoted(text)}")


def contains(text: str) -> Spelt:
    return one_text("contains", "contains", text)


def not_contains(text: str) -> Spelt:
    return one_text("not_contains", "not contains", text)


def icontains(text: str) -> Spelt:
    line = f"contains {quoted(text)} ignoring case"
    return Spelt({"type": "icontains", "value": text}, {"type": "icontains", "rule": text}, line)


def not_icontains(text: str) -> Spelt:
    record, mapping, line, _ = icontains(text)
    return Spelt({"type": "not", "check": record}, {"not": mapping}, f"not {line}")


def contains_any(texts: list[str]) -> Spelt:
    mapping = {"type": "contains_any", "rule": texts}
    return Spelt({"type": "contains_any", "values": texts}, mapping, f"contains any of {listed(texts)}")


def _one_of_them(draw: Draw, world: World) -> Spelt:
    others = [absent(draw) for _ in range(draw(st.integers(0, 2)))]
    return contains_any(list(dict.fromkeys([*others, present(draw, world, tokens=False)])))


def regex(draw: Draw, pattern: str, flags: str) -> Spelt:
    literal = f"/{pattern}/{flags}"
    as_text = not flags and draw(st.booleans())
    record = {"type": "regex", "pattern": pattern, **({"flags": flags} if flags else {})}
    mapping = {"type": "regex", "rule": pattern if as_text else literal}
    return Spelt(record, mapping, f"matches {quoted(pattern) if as_text else literal}")


def _matching(draw: Draw, world: World) -> Spelt:
    return regex(draw, *chosen(draw, (*world.patterns, ("{{name}}|x", ""))))


def _similar(draw: Draw, world: World) -> Spelt:
    percent = draw(st.integers(1, 60))
    text = world.text.replace("{", "").replace("[", "")
    mapping = {"type": "similar", "rule": text, "threshold": percent / 100}
    shown = f"{percent}%" if percent % 2 else f"{percent / 100}"
    record = {"type": "similar", "value": text, "threshold": percent / 100}
    return Spelt(record, mapping, f"similar to {quoted(text)} >= {shown}")


def _bounded(draw: Draw, type_: str, words: str, length: int, units: tuple[str, ...] = ()) -> Spelt:
    """A range that the length is in, often on its edge."""
    low = length - draw(st.integers(0, length - 1)) if draw(st.booleans()) else None
    high = length + draw(st.integers(0, 3)) if low is None or draw(st.booleans()) else None
    bounds = {"min": low, "max": high}
    given = {key: value for key, value in bounds.items() if value is not None}
    unit = f" {units[0]}" if units else ""
    record = {"type": type_, **given, **({"unit": units[0]} if units and units[0] != "chars" else {})}
    rule = ",".join(f"{key}:{value}" for key, value in given.items())
    if low is None or high is None:
        line = f">= {low}" if high is None else f"<= {high}"
    else:
        line = f"== {low}" if low == high else f"{low}..{high}"
    return Spelt(record, {"type": type_, "rule": rule + unit}, f"{words} {line}{unit}", type_ == "tool_count")


def _length(draw: Draw, world: World) -> Spelt:
    text = world.text
    sizes = {"chars": len(text), "words": len(text.split()), "lines": text.count("\n") + 1, "bytes": len(text.encode())}
    unit = chosen(draw, tuple(sizes))
    return _bounded(draw, "length", "length", sizes[unit], (unit,))


# --- forms of the response -------------------------------------------------------------------------------------------


def json_form(mode: str) -> Spelt:
    record = {"type": "json", **({"mode": mode} if mode != "strict" else {})}
    return Spelt(record, {"type": "json", "rule": mode}, "json" if mode == "strict" else f"json {mode}")


def _json(draw: Draw, world: World) -> Spelt:
    if draw(st.integers(0, 3)) == 0:
        record = {"type": "json", "schema": DATA_SCHEMA}
        return Spelt(record, {"type": "json", "rule": "schema:data.schema.json"}, 'json matching "data.schema.json"')
    return json_form(chosen(draw, ("strict", *world.forms)))  # which alone has a field of `expect`


def _fields(draw: Draw, world: World) -> Spelt:
    keys = [field for field in world.fields if field[0].isidentifier()]
    some = chosen(draw, (world.fields, [key for key in keys if key[1]], [key for key in keys if not key[1]]))
    picked = draw(st.lists(st.sampled_from(some), min_size=1, max_size=3, unique_by=lambda field: field[0]))
    record = {"type": "structure", "fields": [{"path": p, **({"type": t} if t else {})} for p, t in picked]}
    rule = "fields:" + ",".join(f"{path}:{type_}" if type_ else path for path, type_ in picked)
    line = "has fields " + ", ".join(f"{_place(p)} as {t}" if t else _place(p) for p, t in picked)
    return Spelt(record, {"type": "structure", "rule": rule}, line)


def _place(path: str) -> str:
    """A path as it stands on a line, where a key in quotes may hold anything."""
    return path[1:-1] if path.startswith('["') else path


def _headings(draw: Draw, world: World) -> Spelt:
    picked = draw(st.lists(st.sampled_from(world.headings), min_size=1, unique=True))
    line = "has headings " + ", ".join(map(quoted, picked))
    mapping = {"type": "structure", "rule": f"headings:{','.join(picked)}"}
    return Spelt({"type": "structure", "headings": picked}, mapping, line)


def _at(draw: Draw, world: World) -> Spelt:
    path, text = chosen(draw, world.places)
    inner = chosen(draw, (contains(text), icontains(text), contains_any(["zzz", text]), not_contains(absent(draw))))
    line = f"at {_place(path)} {inner.line}"
    return Spelt({"type": "at", "path": path, "check": inner.record}, {**inner.mapping, "at": path}, line)


def _in_place(path: str, record: Record, rule: Any, words: str) -> Spelt:
    mapping = {"type": record["type"], "rule": rule, "at": path}
    return Spelt({"type": "at", "path": path, "check": record}, mapping, f"at {_place(path)} {words}")


def _value(draw: Draw, world: World) -> Spelt:
    path, value = chosen(draw, world.values)
    return _in_place(path, {"type": "value", "value": value}, value, f"equals {json.dumps(value)}")


def _number(draw: Draw, world: World) -> Spelt:
    path, value = chosen(draw, [(path, each) for path, each in world.values if type(each) in (int, float)])
    bounds: tuple[tuple[Record, Any, str], ...] = (
        ({"min": value, "max": value}, value, f"== {value}"),
        ({"min": -1}, "min:-1", ">= -1"),
        ({"min": 0.5, "max": value}, f"min:0.5,max:{value}", f"0.5..{value}"),
    )
    given, rule, words = chosen(draw, bounds)
    return _in_place(path, {"type": "number", **given}, rule, words)


def _count(draw: Draw, world: World) -> Spelt:
    path, size = chosen(draw, [(path, len(each)) for path, each in world.values if isinstance(each, list)])
    bounds: tuple[tuple[Record, Any, str], ...] = (
        ({"min": size, "max": size}, size, f"count {size}"),
        ({"max": size + 1}, f"max:{size + 1}", f"count <= {size + 1}"),
    )
    given, rule, words = chosen(draw, bounds)
    return _in_place(path, {"type": "count", **given}, rule, words)


def _grounded(draw: Draw, what: str) -> Spelt:
    """A grounding check that holds: the results of the tools have the whole answer in them."""
    sources = chosen(draw, (["tools"], ["tools", "message"], ["message", "tools"]))
    record = {"type": f"{what}_from", **({} if sources == ["tools"] else {"sources": sources})}
    rule = "tools" if sources == ["tools"] and draw(st.booleans()) else sources
    return Spelt(record, {"type": f"{what}_from", "rule": rule}, f"{what} from {', '.join(sources)}")


def _in_turn(draw: Draw, world: World) -> Spelt:
    """A case that is no conversation has one turn."""
    inner = chosen(draw, (_tools_called, _call_has, _length, _one_of_them))(draw, world)
    record = {"type": "turn", "turn": 1, "check": inner.record}
    return Spelt(record, f"turn 1 {inner.line}", f"turn 1 {inner.line}", True)


def _tools_called(_: Draw, __: World) -> Spelt:
    return _of_names("tools_called", "tools called", _CALLED)


def _custom(draw: Draw, _: World) -> Spelt:
    """A check of the package that `tests.support.calm` installs: it holds whatever it is given."""
    args = draw(st.lists(st.sampled_from([3, -1.5, True, None, "a: b", "{{name}}", ["x", {}]]), max_size=2))
    options = {"to": "x {{name}}"} if draw(st.booleans()) else {}
    record = {
        "type": "check",
        "name": "calm",
        **({"args": args} if args else {}),
        **({"options": options} if options else {}),
    }
    shown = [json.dumps(arg) for arg in args] + [f"{name}={json.dumps(value)}" for name, value in options.items()]
    mapping = {"type": "calm", **({"rule": args} if args else {}), **options}
    return Spelt(record, mapping, f"check calm({', '.join(shown)})")


# --- the run ---------------------------------------------------------------------------------------------------------

_CALLED: Final = [call.name for call in CALLS]
_UNCALLED: Final = ("delete_account", "for", "a b")


def names(texts: list[str]) -> str:
    """Names of tools in a line; a name that is no word of the language needs no quotes."""
    return f"[{', '.join(text if text.isidentifier() and text != 'for' else quoted(text) for text in texts)}]"


def _of_names(type_: str, words: str, tools: list[str]) -> Spelt:
    return Spelt({"type": type_, "names": tools}, {"type": type_, "rule": tools}, f"{words} {names(tools)}", True)


def _acceptable(draw: Draw, _: World) -> Spelt:
    others: list[list[str]] = draw(st.lists(st.sampled_from([["__none__"], ["a b"], ["get_weather"]]), max_size=2))
    sets = [*others, _CALLED[:: draw(st.sampled_from([1, -1]))]]
    shown = ["none" if each == ["__none__"] else names(each) for each in sets]
    rule = ["none" if each == ["__none__"] else each for each in sets]
    mapping = {"type": "tools_acceptable", "rule": rule}
    return Spelt({"type": "tools_acceptable", "sets": sets}, mapping, f"tools one of [{', '.join(shown)}]", True)


def _param(draw: Draw, _: World) -> Spelt:
    tool, param, whole, piece, pattern = chosen(draw, PARAMS)
    op = chosen(draw, ("equals", "contains", "oneOf", "exists", "notExists", "matches"))
    if op == "notExists":
        param = "nothing"
    value: Any = {"equals": whole, "contains": piece, "oneOf": ["zzz", whole], "matches": pattern}.get(op)
    shown = {
        "equals": f"equals {quoted(whole)}",
        "contains": f"contains {quoted(piece)}",
        "oneOf": f"one of {listed(['zzz', whole])}",
        "matches": f"matches /{pattern}/",
        "exists": "exists",
        "notExists": "not exists",
    }[op]
    given = {} if value is None else {"value": value}
    record = {"type": "tool_param", "tool": tool, "paramName": param, "assertion": op, **given}
    mapping = {"type": "tool_param", "tool": tool, "param": param, "op": op, **given}
    named = tool if tool.isidentifier() else quoted(tool)
    return Spelt(record, mapping, f"tool {named}.{param if len(param) % 2 else quoted(param)} {shown}", True)


def _call_has(draw: Draw, _: World) -> Spelt:
    """A call of a tool that is known; `any` takes one for itself, so that it is drawn only in `ONCE`."""
    tool, param, whole, piece, pattern = chosen(draw, PARAMS)
    named = tool if tool.isidentifier() else quoted(tool)
    path, key = (param, param) if param.isidentifier() else (f"[{json.dumps(param)}]", quoted(param))
    tests: dict[str, tuple[Record, Any, str]] = {
        "contains": ({"contains": piece}, {"contains": piece}, f"contains {quoted(piece)}"),
        "matches": ({"matches": pattern}, {"matches": pattern}, f"matches /{pattern}/"),
        "exists": ({"exists": True}, {"exists": True}, "exists"),
        "never": ({"equals": [whole, None]}, {"equals": [whole, None]}, json.dumps([whole, None])),
        "few": ({"max": -1, "oneOf": [0, {}]}, {"max": -1, "one_of": [0, {}]}, ""),
    }
    which = chosen(draw, ("every", "no", 1))
    op = chosen(draw, ("never", "few") if which == "no" else ("contains", "matches", "exists"))
    record, mapping, words = tests[op]
    words = f"{key} <= -1, {key} one of [0, {{}}]" if op == "few" else f"{key} {words}"
    line = f"{f'call {which}' if which == 1 else f'{which} call'} of {named} has {words}"
    return Spelt(
        {"type": "call_has", "tool": tool, "which": which, "args": {path: record}},
        {"type": "call_has", "tool": tool, "which": which, "args": {path: mapping}},
        line,
        True,
    )


def _limit(type_: str, record_max: float, rule: Any, line: str) -> Spelt:
    return Spelt({"type": type_, "max": record_max}, {"type": type_, "rule": rule}, line, True)


def _latency(draw: Draw, _: World) -> Spelt:
    number, unit, times = chosen(draw, ((30, "s", 1000), (1.5, "m", 60_000), (90_000, "ms", 1)))
    return _limit("latency", int(number * times), f"{number}{unit}", f"latency <= {number}{unit}")


def _tokens(draw: Draw, _: World) -> Spelt:
    limit = draw(st.integers(200, 900))
    return _limit("tokens", limit, limit, f"tokens <= {limit}")


def _cost(draw: Draw, _: World) -> Spelt:
    limit = draw(st.integers(1, 500)) / 100
    return _limit("cost", limit, chosen(draw, (f"${limit}", f"{limit}")), f"cost <= ${limit}")


def judged(draw: Draw) -> Spelt:
    """A question to a judge."""
    least, more = draw(st.integers(1, 3)), draw(st.integers(0, 2))
    question = "Is it kind, {{name}}?" if least == 1 else "Is it kind?"
    record = {"type": "judge", "criteria": question, "maxScore": least + more, "minScore": least}
    mapping = {"type": "judge", "rule": question, "min": least, "scale": least + more}
    return Spelt(record, mapping, f'judge "{question}" >= {least}/{least + more}', True)


# --- all of them -----------------------------------------------------------------------------------------------------


def _fixed(record: Record, mapping: Record, line: str, of_run: bool = False) -> Make:
    return lambda _draw, _world: Spelt(record, mapping, line, of_run)


MANY: Final[dict[str, Make]] = {
    "contains": lambda draw, world: contains(present(draw, world)),
    "not_contains": lambda draw, _: not_contains(absent(draw)),
    "icontains": lambda draw, world: icontains(present(draw, world)),
    "not_icontains": lambda draw, _: not_icontains(absent(draw)),
    "contains_any": _one_of_them,
    "starts_with": lambda draw, world: one_text("starts_with", "starts with", world.text[: draw(st.integers(1, 12))]),
    "ends_with": lambda draw, world: one_text("ends_with", "ends with", world.text[-draw(st.integers(1, 12)) :]),
    "similar": _similar,
    "tools_not_called": lambda draw, _: _of_names("tools_not_called", "tools not called", [chosen(draw, _UNCALLED)]),
    "tools_include": lambda draw, _: _of_names("tools_include", "tools include", [chosen(draw, _CALLED)]),
    "tools_in_order": lambda draw, _: _of_names("tools_in_order", "tools in order", [chosen(draw, _CALLED)]),
    "tools_only": lambda draw, _: _of_names(
        "tools_only", "tools only", [*dict.fromkeys(_CALLED), chosen(draw, _UNCALLED)]
    ),
    "custom": _custom,
    "tool_param": _param,
}
"""Checks that hold in any world; a case may have several of each."""

ONCE: Final[dict[str, Make]] = {
    "equals": lambda _, world: one_text("equals", "equals", world.text.replace("{{", "\\{{")),
    "length": _length,
    "non_empty": _fixed({"type": "non_empty"}, {"type": "non_empty"}, "non-empty"),
    "tools_called": _tools_called,
    "turn": _in_turn,
    "call_has": _call_has,
    "tool_count": lambda draw, _: _bounded(draw, "tool_count", "tool count", len(CALLS)),
    "no_tool_errors": _fixed({"type": "no_tool_errors"}, {"type": "no_tool_errors"}, "no tool errors", True),
    "latency": _latency,
    "cost": _cost,
    "numbers_from": lambda draw, _: _grounded(draw, "numbers"),
    "quotes_from": lambda draw, _: _grounded(draw, "quotes"),
}
"""Checks that fill a field of one value, or that a second time would say nothing."""

LABELED: Final[dict[str, Make]] = {"regex": _matching, "tokens": _tokens, "tools_acceptable": _acceptable}
"""Checks for the labeled tier alone, or best kept to it."""

OF_VALUES: Final[dict[str, Make]] = {"value": _value, "number": _number, "count": _count}
OF_DATA: Final[dict[str, Make]] = {"json": _json, "fields": _fields, "at": _at, **OF_VALUES}
OF_PROSE: Final[dict[str, Make]] = {"headings": _headings}

FAILING: Final[dict[str, Make]] = {
    "contains": lambda draw, _: contains(absent(draw)),
    "not_contains": lambda draw, world: not_contains(chosen(draw, world.pieces)),
    "icontains": lambda draw, _: icontains(absent(draw)),
    "contains_any": lambda draw, _: contains_any(list(dict.fromkeys([absent(draw), absent(draw)]))),
    "starts_with": lambda draw, _: one_text("starts_with", "starts with", absent(draw)),
    "ends_with": lambda draw, _: one_text("ends_with", "ends with", absent(draw)),
    "equals": lambda draw, _: one_text("equals", "equals", absent(draw)),
    "length": _fixed(
        {"type": "length", "min": 9_999, "unit": "words"},
        {"type": "length", "rule": "min:9999 words"},
        "length >= 9999 words",
    ),
    "json": lambda *_: json_form("array"),
    "tools_called": lambda draw, _: _of_names("tools_called", "tools called", [*_UNCALLED[: draw(st.integers(0, 2))]]),
    "tools_not_called": lambda *_: _of_names("tools_not_called", "tools not called", ["get_weather"]),
    "tools_include": lambda draw, _: _of_names("tools_include", "tools include", [chosen(draw, _UNCALLED)]),
    "tools_in_order": lambda draw, _: _of_names("tools_in_order", "tools in order", [chosen(draw, _UNCALLED)]),
    "tools_only": lambda draw, _: _of_names("tools_only", "tools only", [chosen(draw, _UNCALLED)]),
    "tool_count": _fixed(
        {"type": "tool_count", "min": 50}, {"type": "tool_count", "rule": "min:50"}, "tool count >= 50", of_run=True
    ),
    "cost": lambda *_: _limit("cost", 0.001, "$0.001", "cost <= $0.001"),
}
"""Checks that hold in no world, each of which could."""


def about(world: World) -> dict[str, Make]:
    """The checks of the form of the answer that hold in a world."""
    return OF_DATA if world.forms else OF_PROSE
