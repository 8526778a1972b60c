"""Translates promptfoo's assertions into checks, or says why none means the same.

Semantics as in promptfoo's reference of assertions: `contains` and its kin compare the text of the value; a `not-` in
front inverts any of them; `is-json` parses the whole output; `cost` and `latency` pass at the threshold itself. Names
of tools are compared as they are, which promptfoo does in any case of their letters.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, Final, NamedTuple, final

from evalc.check.forms import together, type_of
from evalc.check.tree import All, At, Bounds, Call, Check, Measure, Of, Some, Test, Tools
from evalc.compiler.patterns import examine
from evalc.extras.importers.imported import NO_COUNTERPART, mapping_of
from evalc.extras.importers.promptfoo_templates import NotPlain, template_of, variables_of
from evalc.grammar.parse import parse_check
from evalc.grammar.write_check import AS_TEMPLATES, KeepSchema, line_of, quoted
from evalc.model.json import path_inside, path_of_key

_CODE: Final = "code does not run in an eval file; a package can provide a check (entry point `evalc.checks`)"
_WHY_NOT: Final[dict[str, str]] = {
    **dict.fromkeys(("javascript", "python", "ruby", "webhook"), _CODE),
    "trajectory:goal-success": "a judge sees the response and no calls; nearest is `judge`",
    "similar": "promptfoo compares embeddings, `similar to` here compares the letters",
    "levenshtein": "promptfoo counts edits, `similar to` here takes a share",
    "contains-json": "promptfoo takes JSON anywhere in the output; nearest is `json lenient`",
    "is-valid-openai-tools-call": "nearest are the checks of `tool NAME.PARAM`",
    "is-valid-openai-function-call": "nearest are the checks of `tool NAME.PARAM`",
    "is-valid-function-call": "nearest are the checks of `tool NAME.PARAM`",
    "factuality": "nearest is `expected:` with a `judge` check",
    "select-best": "a case is not compared with the others",
    "max-score": "a case is not compared with the others",
}
_IGNORED_KEYS: Final[dict[str, str]] = {
    "provider": "the judge is named in the configuration",
    "rubricPrompt": "the judge has a prompt of its own",
    "config": "it belongs to an assertion that runs code",
    "normalizeUnicode": "texts are compared as they are",
}
_KEYS: Final = frozenset({"type", "value", "threshold", "weight", "metric", "assert"})
_GEVAL_THRESHOLD: Final = 0.7
_MOST_CALLS: Final = 20
"""Calls of one tool are counted by naming it so often."""


@final
class Unmappable(Exception):
    """Nothing here means the same; the message says why."""


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class MappedCheck:
    """A line of a check, and the mapping that means the same for when a weight is added.

    `check` is the check itself, unless the line was made of others.
    """

    line: str
    mapping: Mapping[str, Any]
    check: Check | None = None


_Build = Callable[["_Assertion"], "MappedCheck | tuple[MappedCheck, ...]"]


class _Assertion(NamedTuple):
    """An assertion: its fields, as plain data; the variables that its texts may use; where a JSON Schema goes."""

    fields: Mapping[str, Any]
    variables: frozenset[str]
    keep_schema: KeepSchema

    @property
    def value(self) -> Any:
        return self.fields.get("value")

    def text(self, value: object) -> str:
        """A value as the text that promptfoo compares with, its variables as those of a template."""
        if isinstance(value, bool) or value is None or isinstance(value, dict | list):
            raise Unmappable("the value is not a text")
        text = value if isinstance(value, str) else json.dumps(value)
        try:
            unknown = [name for name in variables_of(text) if name not in self.variables]
            template = template_of(text)
        except NotPlain as reason:
            raise Unmappable(f"{reason}") from reason
        if unknown:
            raise Unmappable(f"the variable `{unknown[0]}` does not exist")
        if not text:
            raise Unmappable("the value is empty")
        return template

    def texts(self) -> tuple[str, ...]:
        """A list, or a text with commas, as promptfoo reads it."""
        value = self.value
        if isinstance(value, str):
            try:
                value = [item.strip() for item in next(csv.reader([value], skipinitialspace=True), [])]
            except csv.Error as error:
                raise Unmappable(f"the value is not a list of texts: {error}") from error
        if not isinstance(value, list) or not value:
            raise Unmappable("the value is not a list of texts")
        return tuple(map(self.text, value))


def checks_of(
    assertion: Mapping[str, Any], variables: frozenset[str], keep_schema: KeepSchema
) -> tuple[MappedCheck, ...]:
    """The checks that an assertion, as plain data, means; all of them must hold.

    `variables` are those that its texts may use, and `keep_schema` is where a JSON Schema goes.

    Raises:
        Unmappable: nothing here means the same.
    """
    type_ = str(assertion.get("type", ""))
    name = type_.removeprefix("not-")
    inverse = name != type_
    if name in _WHY_NOT:
        raise Unmappable(_WHY_NOT[name])
    if "transform" in assertion or "contextTransform" in assertion:
        raise Unmappable("a response is checked as it is, without a `transform`")
    if name not in _BUILDERS:
        raise Unmappable("evalc has no such check")
    value = assertion.get("value")
    if isinstance(value, str) and value.startswith("file://") and name != "is-json":
        raise Unmappable("the value is not read from a file")
    built = _BUILDERS[name](_Assertion(assertion, variables, keep_schema))
    checks = (built,) if isinstance(built, MappedCheck) else built
    checks = (_inverted(checks),) if inverse else checks
    if any(parse_check(check.line).faults for check in checks):
        raise Unmappable("no line says the same")
    return checks


def of_one_test(checks: Sequence[MappedCheck], *, scored: Sequence[bool]) -> Sequence[MappedCheck | None]:
    """The checks of a test as they are in a case; None for a check that an earlier one includes.

    One call may answer several assertions of promptfoo, where `any call of` would want a call for each: if a call could
    have the arguments of two, both deny that there is none. A case has a limit once, as the narrowest of the
    limits without a weight or metric of their own (`scored`).
    """
    calls = [_call_of(check.check) for check in checks]
    placed: list[MappedCheck | None] = []
    limits: dict[str, tuple[int, Check]] = {}
    for mapped, call, is_scored in zip(checks, calls, scored, strict=True):
        check = mapped.check
        if call is not None and any(other is not None and call.may_be(other) for other in calls if other is not call):
            placed.append(_line(f"not {_check(Of(Call(call.tool, 'no'), call.asked)).line}"))
            continue
        type_ = "" if check is None else type_of(check)
        if check is not None and type_ in _ONCE and not is_scored:
            index, first = limits.setdefault(type_, (len(placed), check))
            both = _both(first, check)
            if index < len(placed) and both is not None:
                limits[type_] = (index, both)
                placed[index] = _check(both)
                placed.append(None)
                continue
        placed.append(mapped)
    return placed


_ONCE: Final = frozenset({"tool_count", "tools_called", "latency", "cost"})
"""The types of checks that a case can have once."""


def _both(first: Check, second: Check) -> Check | None:
    """The one check that holds where both do; None if there is none."""
    match first, second:
        case Of(step, Test("between", Bounds() as one)), Of(_, Test("between", Bounds() as other)):
            least = max((bound for bound in (one.min, other.min) if bound is not None), default=None)
            most = min((bound for bound in (one.max, other.max) if bound is not None), default=None)
            is_empty = least is not None and most is not None and least > most
            return None if is_empty else Of(step, Test("between", Bounds(least, most)))
        case _:
            return first if first == second else None


class _OfCall(NamedTuple):
    """A check of any call of a tool: what it asks, and the tests of its arguments by their paths."""

    tool: str
    asked: Check
    tests: Mapping[str, Check]

    def may_be(self, other: _OfCall) -> bool:
        """Whether one call of the tool could be what this check requires, and what another one requires."""
        return other.tool == self.tool and all(other.tests.get(path, test) == test for path, test in self.tests.items())


def _call_of(check: Check | None) -> _OfCall | None:
    match check:
        case Of(Call(tool), asked):
            parts = asked.checks if isinstance(asked, All) else (asked,)
            tests = {part.step.path: part.check for part in parts if isinstance(part, Of) and isinstance(part.step, At)}
            return _OfCall(tool, asked, tests)
        case _:
            return None


def ignored_keys(assertion: Mapping[str, Any]) -> dict[str, str]:
    """The keys of an assertion and its members that have no counterpart, and why; it means the same without them."""
    ignored = {
        key: _IGNORED_KEYS.get(key, NO_COUNTERPART)
        for key in assertion
        if key not in _KEYS and key not in ("transform", "contextTransform")
    }
    members = assertion.get("assert")
    for member in members if isinstance(members, list) else ():
        if isinstance(member, dict):
            ignored |= ignored_keys(member)
            ignored |= {"metric": "a check within a set has no criterion of its own"} if "metric" in member else {}
    return ignored


# --- by type ---------------------------------------------------------------------------------------------------------


def _check(check: Check, schema_path: str = "") -> MappedCheck:
    line = line_of(check, AS_TEMPLATES, lambda _schema: schema_path)
    if line is None:
        raise Unmappable("no line says the same")
    return MappedCheck(line=line, mapping=mapping_of(check, line, AS_TEMPLATES), check=check)


def _one(make: Callable[[str], Check]) -> _Build:
    return lambda asked: _check(make(asked.text(asked.value)))


def _each(make: Callable[[str], Check]) -> _Build:
    return lambda asked: tuple(_check(make(text)) for text in asked.texts())


def _limit(make: Callable[[int | float], Check]) -> _Build:
    def build(asked: _Assertion) -> MappedCheck:
        limit = asked.fields.get("threshold")
        if isinstance(limit, bool) or not isinstance(limit, int | float):
            raise Unmappable("without a threshold it measures and checks nothing")
        return _check(make(limit))

    return build


def _starts_with(asked: _Assertion) -> MappedCheck:
    if not isinstance(asked.value, str):
        raise Unmappable("promptfoo takes only a text here, and never passes it")
    return _check(Test("starts_with", asked.text(asked.value)))


def _any_of(checks: tuple[Check, ...]) -> MappedCheck:
    return _check(Some(checks) if len(checks) > 1 else checks[0])


def _equals(asked: _Assertion) -> MappedCheck:
    """A text is compared; a list or mapping is what the output, parsed as JSON, has to be."""
    value = asked.value
    if isinstance(value, dict | list):
        if "{{" in json.dumps(value) or "{%" in json.dumps(value):
            raise Unmappable("there is a template inside of the value")
        return _check(Test("json", ("strict", {"const": value})), asked.keep_schema({"const": value}))
    return _check(Test("equals", asked.text(value)))


def _regex(asked: _Assertion) -> MappedCheck:
    pattern = asked.value
    if not isinstance(pattern, str) or not pattern:
        raise Unmappable("the value is not a pattern")
    if "{{" in pattern or "{%" in pattern:
        raise Unmappable("what fills a pattern would be escaped here")
    error = examine(pattern, "").error
    if error is not None:
        raise Unmappable(f"it is not a valid regular expression: {error.message}")
    return _check(Test("matches", (pattern, "")))


def _is_json(asked: _Assertion) -> MappedCheck:
    schema = asked.value
    if schema in (None, "", False):  # promptfoo asks for a schema only where the value is truthy
        return _check(Test("json", ("strict", None)))
    if isinstance(schema, str) and not schema.startswith("file://"):
        raise Unmappable("the schema is a text; write it as a mapping")
    return _check(Test("json", ("strict", True)), asked.keep_schema(schema))


def _word_count(asked: _Assertion) -> MappedCheck:
    bounds = asked.value if isinstance(asked.value, dict) else {"min": asked.value, "max": asked.value}
    least, most = _bounds(bounds, "the value is neither a whole number nor `min` and `max`")
    return _check(Of(Measure("words"), Test("between", Bounds(least, most))))


def _bounds(value: Mapping[str, Any], why_not: str) -> tuple[int | None, int | None]:
    """`min` and `max`, at least one of them, as whole numbers."""
    least, most = value.get("min"), value.get("max")
    if any(bound is not None and type(bound) is not int for bound in (least, most)) or least is most is None:
        raise Unmappable(why_not)
    return least, most


def _judge(asked: _Assertion) -> tuple[MappedCheck, ...]:
    """A question to a judge, or several."""
    questions = asked.value if isinstance(asked.value, list) else [asked.value]
    threshold = asked.fields.get("threshold", _GEVAL_THRESHOLD if asked.fields.get("type") == "g-eval" else None)
    least = "" if threshold is None else f" >= {threshold}/1"
    return tuple(_line(f"judge {quoted(asked.text(question))}{least}") for question in questions)


def _line(line: str) -> MappedCheck:
    return MappedCheck(line=line, mapping={"all_of": [line]})


def _assert_set(asked: _Assertion) -> MappedCheck | tuple[MappedCheck, ...]:
    """A set in which all, or one, must pass."""
    members = asked.fields.get("assert")
    if not isinstance(members, list) or not members or not all(isinstance(member, dict) for member in members):
        raise Unmappable("the set holds no assertions")
    if any(member.get("weight", 1) != 1 for member in members):
        raise Unmappable("the assertions of the set have weights")
    built = [checks_of(member, asked.variables, asked.keep_schema) for member in members]
    threshold = asked.fields.get("threshold", 1)
    if threshold == 1:
        return tuple(check for checks in built for check in checks)
    if not isinstance(threshold, int | float) or not 0 < threshold <= 1 / len(members) + 1e-9:
        raise Unmappable(f"no composition says that {threshold} of the set has to pass")
    operands = [" and ".join(check.line for check in checks) for checks in built]
    line = " or ".join(f"({each})" if _needs_parentheses(each) else each for each in operands)
    return MappedCheck(line=line, mapping={"any_of": operands})


def _needs_parentheses(line: str) -> bool:
    return " and " in line or " or " in line or line.startswith("tool ")


def _inverted(checks: tuple[MappedCheck, ...]) -> MappedCheck:
    """The negation of all of the checks together."""
    inside = " and ".join(check.line for check in checks)
    return _line(f"not {inside}" if len(checks) == 1 and " or " not in inside else f"not ({inside})")


# --- calls of tools --------------------------------------------------------------------------------------------------


def _tool(step: object) -> str:
    """The name of the tool that a step is."""
    if isinstance(step, dict):
        if step.get("type", "tool") != "tool":
            raise Unmappable("it is about steps that are not tool calls")
        step = step.get("pattern") or step.get("name")
    if not isinstance(step, str) or not step:
        raise Unmappable("a step names no tool")
    if any(sign in step for sign in ("*", "?", "{{", "{%")):
        raise Unmappable(f"`{step}` is a pattern, and a tool is named here")
    return step


def _of_names(predicate: str, *names: str) -> Check:
    return Of(Tools(), Test(predicate, names))


def _tool_used(asked: _Assertion) -> MappedCheck | tuple[MappedCheck, ...]:
    """Tools that were all called, or a tool that was called this often; inverted, tools that were not called."""
    value = asked.value
    if isinstance(value, dict):
        name, least, most = _tool(value), value.get("min", 1), value.get("max")
        if (least, most) == (0, 0):
            return _check(_of_names("not_called", name))
        if any(type(bound) is not int or not 0 <= bound <= _MOST_CALLS for bound in (least, most or 0)):
            raise Unmappable(f"a count of calls is a whole number up to {_MOST_CALLS} here")
        if not least and most is None:
            raise Unmappable("it checks nothing: any number of calls will do")
        included = (_check(_of_names("include", *[name] * least)),) if least else ()
        excluded = () if most is None else (_inverted((_check(_of_names("include", *[name] * (most + 1))),)),)
        return (*included, *excluded)
    names = tuple(dict.fromkeys(map(_tool, value if isinstance(value, list) else [value])))
    if not names:
        raise Unmappable("it names no tool")
    if not str(asked.fields.get("type", "")).startswith("not-"):
        return _check(_of_names("include", *names))
    return _any_of(tuple(_of_names("include", name) for name in names))


def _tool_sequence(asked: _Assertion) -> MappedCheck:
    value = asked.value
    mode, steps = (
        (value.get("mode", "in_order"), value.get("steps")) if isinstance(value, dict) else ("in_order", value)
    )
    if not isinstance(steps, list) or not steps or mode not in ("in_order", "exact"):
        raise Unmappable("the value is not a list of steps")
    names = tuple(map(_tool, steps))
    return _check(_of_names("called" if mode == "exact" else "in_order", *names))


def _tool_arguments(asked: _Assertion) -> MappedCheck:
    """A call whose arguments hold at least these; those of nested objects one by one."""
    value = asked.value
    if not isinstance(value, dict):
        raise Unmappable("the value is not a mapping")
    if value.get("mode", "partial") != "partial" or "defaults" in value or "ignore" in value:
        raise Unmappable("a call may have further arguments here, whatever they are")
    args = value.get("args", value.get("arguments"))
    if not isinstance(args, dict) or not args:
        raise Unmappable("it names no arguments")
    tests = {path_of_key(key): test for key, test in args.items()}
    while any(isinstance(test, dict) for test in tests.values()):
        tests = dict(chain.from_iterable(_inside(path, test) for path, test in tests.items()))
    values = {path: _argument(test, asked) for path, test in tests.items()}
    equal = [Of(At(path), Test("equals" if isinstance(each, str) else "is", each)) for path, each in values.items()]
    return _check(Of(Call(_tool(value)), together(equal)))


def _inside(path: str, value: Any) -> list[tuple[str, Any]]:
    """The members of an object by their paths; any other value by its own."""
    if not isinstance(value, dict):
        return [(path, value)]
    if not value:
        raise Unmappable("no check says that an argument is an object")
    return [(path_inside(path, str(key)), inner) for key, inner in value.items()]


def _argument(value: Any, asked: _Assertion) -> Any:
    if isinstance(value, list):
        if any(isinstance(item, dict | list) for item in value):
            raise Unmappable("no check looks into a list of objects")
        return [_argument(item, asked) for item in value]
    return asked.text(value) if isinstance(value, str) and value else value


def _step_count(asked: _Assertion) -> MappedCheck:
    value = asked.value
    if not isinstance(value, dict) or value.get("type") != "tool" or value.get("pattern") or value.get("name"):
        raise Unmappable("only calls of tools are counted, all of them together")
    least, most = _bounds(value, "neither `min` nor `max` is a whole number")
    return _check(Of(Measure("calls"), Test("between", Bounds(least, most))))


_BUILDERS: Final[dict[str, _Build]] = {
    "contains": _one(lambda text: Test("contains", text)),
    "icontains": _one(lambda text: Test("contains", text, True)),
    "contains-any": lambda asked: _check(Test("contains_any", asked.texts())),
    "icontains-any": lambda asked: _any_of(tuple(Test("contains", text, True) for text in asked.texts())),
    "contains-all": _each(lambda text: Test("contains", text)),
    "icontains-all": _each(lambda text: Test("contains", text, True)),
    "equals": _equals,
    "starts-with": _starts_with,
    "regex": _regex,
    "is-json": _is_json,
    "latency": _limit(lambda limit: Of(Measure("ms"), Test("between", Bounds(max=limit)))),
    "cost": _limit(lambda limit: Of(Measure("dollars"), Test("between", Bounds(max=limit)))),
    "word-count": _word_count,
    "llm-rubric": _judge,
    "model-graded-closedqa": _judge,
    "g-eval": _judge,
    "assert-set": _assert_set,
    "trajectory:tool-used": _tool_used,
    "trajectory:tool-sequence": _tool_sequence,
    "trajectory:tool-args-match": _tool_arguments,
    "trajectory:step-count": _step_count,
}
