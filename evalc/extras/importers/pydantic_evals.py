"""Imports datasets of pydantic-evals, in YAML or JSON.

Semantics as in `pydantic_evals.evaluators`: every evaluator that gives a verdict must pass, and those of the dataset
are asked of each case. An evaluator is its name, `Name: argument` with the first of its arguments, or `Name: {...}`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final, NamedTuple, final

from evalc.base.source import Source
from evalc.check.tree import At, Bounds, Check, Measure, Of, Test
from evalc.diagnostics import Diagnostics
from evalc.dsl import nodes
from evalc.dsl.nodes import Node, Scalar, fields_of, items_of
from evalc.dsl.scalars import to_plain
from evalc.dsl.write_yaml import Noted
from evalc.extras.importers.imported import (
    FURTHER,
    IN_CONFIGURATION,
    NO_COUNTERPART,
    OWN_CHECK,
    Imported,
    Importing,
    Unmappable,
    as_template,
    call_with,
    document_of,
    entry,
    is_value,
    tools,
)
from evalc.grammar.write_check import escaped
from evalc.model.json import is_number, path_inside
from evalc.model.suite import slug

_NAME: Final = re.compile(r"[A-Za-z_]\w*", re.ASCII)
_NO_VERDICT: Final = "it gives a score and no verdict; nearest is `judge` with a least score"


def import_pydantic_evals(source: Source, problems: Diagnostics) -> Imported | None:
    """The suite of a dataset; None if the file has errors or no case comes over, which is reported."""
    expected = "a dataset of pydantic-evals with `cases`"
    root = document_of(source, problems, lambda root: bool(items_of(fields_of(root).get("cases"))), expected)
    return None if root is None else _Importer(source, problems).imported(fields_of(root))


class _Asked(NamedTuple):
    """An evaluator: where it is, its name, and its arguments, of which the first may stand under an empty name."""

    node: Node
    name: str
    arguments: Mapping[str, Any]


@final
class _Importer(Importing):
    def imported(self, root: Mapping[str, Node]) -> Imported | None:
        self.head.append(f"Imported from {Path(self.source.name).name} (pydantic-evals).")
        for key, value in root.items():
            if key not in ("$schema", "name", "cases", "evaluators"):
                why = "reports are made of every run" if key == "report_evaluators" else NO_COUNTERPART
                if to_plain(value):
                    self.head.append(self.leave_out(value, f"`{key}`", why, decides=False))
        items = items_of(root["cases"])
        everywhere = [*map(_asked, items_of(root.get("evaluators")))]
        keys = self._prompt([given for each in items if (given := fields_of(each).get("inputs")) is not None])
        suite = slug(str(to_plain(root.get("name")) or "")) or slug(Path(self.source.name).stem) or "dataset"
        case_of = partial(self._case, everywhere, has_prompt="prompt" in keys)
        named = [(str(to_plain(fields_of(each).get("name")) or ""), each) for each in items]
        return self.imported_cases(suite, keys, named, case_of)

    # --- what is sent ---

    def _prompt(self, inputs: Sequence[Node]) -> dict[str, Any]:
        """The prompt that inputs fill, if all of them are mappings; else each case has a message."""
        given = [*map(to_plain, inputs)]
        names = dict.fromkeys(name for each in given if isinstance(each, dict) for name in each)
        if not names or not all(isinstance(each, dict) for each in given) or not all(map(_NAME.fullmatch, names)):
            return {}
        needed = {name for name in names if all(each.get(name) is not None for each in given)}
        filled = {name: f"{name}: {{{{{name}}}}}" if len(names) > 1 else f"{{{{{name}}}}}" for name in names}
        lines = [line if name in needed else f"{{{{#if {name}}}}}{line}{{{{/if}}}}" for name, line in filled.items()]
        declared = [{"name": name, **({} if name in needed else {"required": False})} for name in names]
        why = "the task is given an object, and the agent this prompt; change it to what your agent reads"
        prompt = Noted("\n".join(lines), self.differs(inputs[0], "`inputs`", why, decides=False))
        return {"prompt": prompt, **({} if len(needed) == len(names) else {"inputs": declared})}

    # --- cases ---

    def _case(self, everywhere: Sequence[_Asked], node: Node, *, has_prompt: bool) -> tuple[dict[str, Any], list[str]]:
        values = fields_of(node)
        if "inputs" not in values:
            raise Unmappable("it has no `inputs`")
        comments = self.further(values, ("name", "inputs", "metadata", "expected_output", "evaluators"))
        inputs, expected = to_plain(values["inputs"]), to_plain(values.get("expected_output"))
        asked = [*everywhere, *map(_asked, items_of(values.get("evaluators")))]
        entries, behind = self._checks(asked, expected)
        is_reference = any(each.arguments.get("include_expected_output") for each in asked if each.name == "LLMJudge")
        if not entries and expected is None:
            raise Unmappable("nothing of it is checked here")
        if not _text(inputs).strip():
            raise Unmappable("its `inputs` are empty")
        case: dict[str, Any] = {"message": as_template(_text(inputs))}
        if has_prompt:
            case = {"inputs": {name: each for name, each in inputs.items() if each is not None}}
        if expected is not None and (is_reference or not entries):
            case["expected"] = escaped(_text(expected))
            if not is_reference:
                why = "without an evaluator nothing compares it there; here a judge does, or else its words"
                comments += self.differs(values["expected_output"], "`expected_output`", why)
        if entries:
            case["validate"] = Noted(entries, tuple(behind))
        else:
            comments += behind
        if to_plain(values.get("metadata")) is not None:
            case["x-metadata"] = to_plain(values["metadata"])
        return case, comments

    def _checks(self, asked: Sequence[_Asked], expected: Any) -> tuple[list[Noted], list[str]]:
        """The entries that evaluators mean, and comments to stand behind the last of them."""
        found: list[Check] = []
        notes: list[tuple[str, ...]] = []
        waiting: list[str] = []
        for each in asked:
            try:
                checks = self._checks_of(each, expected, waiting)
            except Unmappable as reason:
                waiting.append(self.leave_out(each.node, f"`{each.name}`", f"{reason}"))
                continue
            for check in checks:
                found.append(check)
                notes.append(tuple(waiting))
                waiting.clear()
        entries = []
        for kept, comments in zip(_narrowed(found), notes, strict=True):
            if kept is None:
                waiting += comments
            else:
                entries.append(entry(kept, comments))
        return entries, waiting

    def _checks_of(self, asked: _Asked, expected: Any, waiting: list[str]) -> Sequence[Check]:
        if asked.name not in EVALUATORS:
            raise Unmappable(OWN_CHECK)
        if asked.name == "EqualsExpected" and expected is None:
            return ()
        first, make = EVALUATORS[asked.name]
        arguments = {first if key == "" else key: value for key, value in asked.arguments.items()}
        ignored = [key for key in arguments if key in _IGNORED and arguments[key] not in (None, False)]
        waiting += [
            self.leave_out(asked.node, f"`{key}` of `{asked.name}`", _IGNORED[key], decides=False) for key in ignored
        ]
        arguments = {key: value for key, value in arguments.items() if key not in _UNREAD}
        if make in (_equals_expected, _contains):
            arguments["expected"] = expected
        if isinstance(make, str):
            raise Unmappable(make)
        try:
            making = make(**arguments)
        except TypeError as error:
            raise Unmappable("it does not have these arguments") from error
        checks: list[Check] = []
        for each in making:
            if isinstance(each, _Differs):
                waiting += self.differs(asked.node, f"`{asked.name}`", each.why, decides=each.decides)
            else:
                checks.append(each)
        if not checks and not self.is_said(asked.name):
            self.head.append(f"`{asked.name}` holds of every answer.")
        return checks


def _asked(node: Node) -> _Asked:
    if isinstance(node, Scalar):
        return _Asked(node, node.text, {})
    fields = fields_of(node)
    if "name" in fields and fields.keys() <= {"name", "arguments"}:
        name, value = str(to_plain(fields["name"])), fields.get("arguments")
        given = items_of(value)
        return _Asked(node, name, {"": to_plain(given[0])} if given else to_plain(value) or {})
    name, value = next(iter(fields.items()), ("", node))
    is_named = isinstance(value, nodes.Mapping)
    return _Asked(node, name, to_plain(value) if is_named else {"": to_plain(value)})


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


# --- evaluators ------------------------------------------------------------------------------------------------------

_IGNORED: Final[Mapping[str, str]] = {
    "evaluation_name": "a check is called by its line",
    "model": IN_CONFIGURATION,
    "model_settings": IN_CONFIGURATION,
    "score": "a judge's score counts for a criterion",
}
_UNREAD: Final = frozenset((*_IGNORED, "include_input", "include_expected_output"))
_TYPES: Final[Mapping[str, str]] = {
    "bool": "boolean",
    "dict": "object",
    "float": "number",
    "int": "integer",
    "list": "array",
    "tuple": "array",
}
_DURATION: Final = re.compile(r"PT(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?")
_LIMITED: Final = frozenset((Measure("ms"), Measure("calls")))
"""The measures whose limits a case has once."""


class _Differs(NamedTuple):
    """How an evaluator differs from the checks that come nearest to it, and whether that may decide a verdict."""

    why: str
    decides: bool = True


Made = Iterator[Check | _Differs]


def _narrowed(checks: Sequence[Check]) -> list[Check | None]:
    """The checks with one limit of each measure, the narrowest; None where an earlier one includes a check."""
    placed: list[Check | None] = []
    for check in checks:
        at, first = next(((at, each) for at, each in enumerate(placed) if _is_one(each, check)), (0, None))
        if isinstance(first, Of) and isinstance(check, Of) and first != check:
            both = [each.check.operand for each in (first, check) if isinstance(each.check, Test)]
            least = [each.min for each in both if each.min is not None]
            bounds = Bounds(max(least, default=None), min(each.max for each in both))
            placed[at] = Of(check.step, Test("between", bounds))
        placed.append(check if first is None else None)
    return placed


def _is_one(first: Check | None, check: Check) -> bool:
    """Whether a case says both checks as one."""
    match first, check:
        case Of(step), Of(same) if step == same and step in _LIMITED:
            return True
        case _:
            return first == check


def _names(value: Any) -> list[str]:
    if not isinstance(value, list) or not all(isinstance(each, str) and each for each in value):
        raise Unmappable("it does not name tools")
    return value


def _equals(*, value: Any) -> Made:
    yield is_value(value)


def _equals_expected(*, expected: Any) -> Made:
    yield is_value(expected)


def _contains(*, value: Any, expected: Any, case_sensitive: bool = True, as_strings: bool = False) -> Made:
    if isinstance(expected, dict) and isinstance(value, str) and not as_strings:
        yield Of(At(path_inside("", value)), Test("exists"))
    elif isinstance(value, str) and value:
        if not case_sensitive:
            why = "`ignoring case` takes `ß` for `ss` and the ligature `ﬁ` for `fi`, which pydantic-evals does not"
            yield _Differs(why, decides=False)
        yield Test("contains", value, not case_sensitive)
    elif isinstance(value, dict) and value and not as_strings:
        yield from (Of(At(path_inside("", key)), is_value(each)) for key, each in value.items())
    elif is_number(value):
        if not as_strings:
            yield Test("is_a", "array")
        yield Test("contains", _text(value) if as_strings else value)
    else:
        raise Unmappable(NO_COUNTERPART)


def _is_instance(*, type_name: Any) -> Made:
    if type_name in ("str", "string"):
        return
    if not isinstance(type_name, str) or type_name not in _TYPES:
        raise Unmappable("an answer has no class; nearest is `json matching` with a schema")
    yield Test("is_a", _TYPES[type_name])


def _max_duration(*, seconds: Any) -> Made:
    if isinstance(seconds, str) and (found := _DURATION.fullmatch(seconds)) is not None:
        seconds = sum(float(each or 0) * unit for each, unit in zip(found.groups(), (3600, 60, 1), strict=True))
    if not is_number(seconds):
        raise Unmappable("it is not a number of seconds")
    yield Of(Measure("ms"), Test("between", Bounds(max=round(seconds * 1000))))


def _judge(*, rubric: Any, assertion: Any = None) -> Made:
    if assertion is False:
        raise Unmappable(_NO_VERDICT)
    if not isinstance(rubric, str) or not rubric.strip():
        raise Unmappable("its rubric is not a text")
    yield Test("judge", ("", 1, rubric.strip(), 1))


def _tool_correctness(*, expected_tools: Any, allow_extra: bool = False) -> Made:
    names = _names(expected_tools)
    if not names and allow_extra:
        raise Unmappable("it checks nothing")
    yield tools("include" if names else "called", names)
    if names and not allow_extra:
        yield Of(Measure("calls"), Test("between", Bounds(len(names), len(names))))


def _trajectory(*, expected_trajectory: Any, order: str = "in_order") -> Made:
    names = _names(expected_trajectory)
    if order != "any_order":
        yield _Differs("there it is a score between 0 and 1; here the calls have to be these")
        yield tools("called", names)
    else:
        yield _Differs("there it is a score between 0 and 1; here the calls have to be these, in any order")
        yield from _tool_correctness(expected_tools=names)


def _arguments(
    *, tool_name: str, expected_arguments: Any, match_mode: str = "subset", occurrence: Any = "first"
) -> Made:
    number = 0 if occurrence == "first" else occurrence
    if type(number) is not int:
        raise Unmappable("calls are counted from the first")
    if not isinstance(expected_arguments, dict) or not expected_arguments:
        raise Unmappable("it names no arguments")
    if match_mode == "exact":
        yield _Differs(FURTHER)
    yield call_with(str(tool_name), number + 1, expected_arguments)


def _max_tool_calls(*, max_calls: Any) -> Made:
    if type(max_calls) is not int:
        raise Unmappable("it is not a number of calls")
    yield Of(Measure("calls"), Test("between", Bounds(max=max_calls)))


EVALUATORS: Final[Mapping[str, tuple[str, Callable[..., Made] | str]]] = {
    "Equals": ("value", _equals),
    "EqualsExpected": ("evaluation_name", _equals_expected),
    "Contains": ("value", _contains),
    "IsInstance": ("type_name", _is_instance),
    "MaxDuration": ("seconds", _max_duration),
    "LLMJudge": ("rubric", _judge),
    "GEval": ("criteria", _NO_VERDICT),
    "HasMatchingSpan": ("query", "spans are not looked at; nearest are the checks of tools"),
    "ToolCorrectness": ("expected_tools", _tool_correctness),
    "TrajectoryMatch": ("expected_trajectory", _trajectory),
    "ArgumentCorrectness": ("tool_name", _arguments),
    "MaxToolCalls": ("max_calls", _max_tool_calls),
    "MaxModelRequests": ("max_requests", "requests to the model are not counted; nearest is `total tokens`"),
}
"""The evaluators of pydantic-evals: each with its first argument, and what makes its checks, or why there is none."""
