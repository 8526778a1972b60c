"""Writes a case as JSON of the case model, as a hand would: the compiler's reference.

Texts are filled by a table of tags, checks are put into the fields of `expect` that the case model has for them, and
what none can hold into `expect.checks`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any, Final, NamedTuple

Record = dict[str, Any]

# --- templates -------------------------------------------------------------------------------------------------------

_TAGS: Final = re.compile(
    r"\\\{\{|\{\{#(if|unless|each) (\w+)\}\}(.*?)(?:\{\{else\}\}(.*?))?\{\{/\1\}\}"
    r"|\{\{\s*(?!seed|snapshot)(\w+)\s*\}\}",
    re.DOTALL,
)


def filled(value: Any, inputs: Mapping[str, Any]) -> Any:
    """A value with the tags in its texts filled."""
    match value:
        case str():
            return _TAGS.sub(lambda tag: _filled_tag(tag, inputs), value)
        case list():
            return [filled(item, inputs) for item in value]
        case {"type": "regex", "pattern": pattern}:
            return {**value, "pattern": filled(pattern, {name: _escaped(text) for name, text in inputs.items()})}
        case dict():
            return {key: item if key == "schema" else filled(item, inputs) for key, item in value.items()}
        case _:
            return value


def _filled_tag(tag: re.Match[str], inputs: Mapping[str, Any]) -> str:
    kind, subject, body, otherwise, name = tag.groups()
    if name is not None:
        return _text(inputs.get(name))
    if kind is None:
        return "{{"
    given = inputs.get(subject)
    if kind == "each":
        return "".join(body.replace("{{this}}", _text(item)) for item in given or ())
    return str(filled(body if bool(given) is (kind == "if") else otherwise or "", inputs))


def _text(value: Any) -> str:
    return "" if value is None else value if isinstance(value, str) else str(value)


def shown(value: Any) -> str:
    """An input as it is sent where only inputs are: a text as it is, others as JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _escaped(value: Any) -> str:
    """As ECMAScript's `RegExp.escape` writes a text of ASCII letters and digits, which is all that fills a pattern."""
    text = _text(value)
    return f"\\x{ord(text[0]):02x}{text[1:]}" if text else ""


# --- compositions ----------------------------------------------------------------------------------------------------


def simplified(record: Record) -> Record:
    """A composition in its simplest form, as the language has it; other checks as they are."""
    match record["type"]:
        case "any_of" | "all_of" as op:
            parts: list[Record] = []
            for part in map(simplified, record["checks"]):
                parts += part["checks"] if part["type"] == op else [part]
            if op == "any_of" and all(part["type"] in ("contains", "contains_any") for part in parts):
                values = [value for part in parts for value in part.get("values", [part.get("value")])]
                return {"type": "contains_any", "values": list(dict.fromkeys(values))}
            return {"type": op, "checks": parts}
        case "not":
            inner = simplified(record["check"])
            if inner["type"] == "not":
                return dict(inner["check"])
            opposite = {"contains": "not_contains", "not_contains": "contains"}.get(inner["type"])
            return {**inner, "type": opposite} if opposite else {"type": "not", "check": inner}
        case _:
            return record


# --- fields ----------------------------------------------------------------------------------------------------------

_SINGLE: Final = {
    "tools_called": ("toolsCalled", "names"),
    "tools_acceptable": ("toolsAcceptable", "sets"),
    "tools_not_called": ("toolsNotCalled", "names"),
    "latency": ("maxLatencyMs", "max"),
    "tokens": ("maxTokens", "max"),
    "cost": ("maxCost", "max"),
}
_EACH: Final = {
    "contains": ("responseContains", "value"),
    "contains_any": ("responseContainsAny", "values"),
    "not_contains": ("responseNotContains", "value"),
    "regex": ("responseMatches", "pattern"),
}
_BOUNDS: Final = {"length": ("minLength", "maxLength"), "tool_count": ("minToolCalls", "maxToolCalls")}
_FLAGS: Final = {"non_empty": "responseNonEmpty", "no_tool_errors": "noToolErrors"}


def fields_of(record: Record) -> dict[str, Any]:
    """The fields of `expect` that say a check, a list if a field holds several; none where no field can."""
    kind = record["type"]
    if kind in _SINGLE:
        field, key = _SINGLE[kind]
        return {field: record[key]}
    if kind in _EACH and "flags" not in record:
        field, key = _EACH[kind]
        return {field: [record[key]]}
    if kind in _BOUNDS and "unit" not in record:
        low, high = _BOUNDS[kind]
        return {field: record[key] for field, key in ((low, "min"), (high, "max")) if key in record}
    if kind in _FLAGS:
        return {_FLAGS[kind]: True}
    if kind == "tool_param":
        return {"toolParams": [{key: value for key, value in record.items() if key != "type"}]}
    if kind == "json" and record.keys() == {"type"}:
        return {"jsonValid": True}
    if kind == "structure" and all(_is_flat(field) for field in record.get("fields", [{"path": "."}])):
        return {"requiredKeys": [_key(field["path"]) for field in record["fields"]]}
    return {}


def read_only_fields_of(record: Record) -> dict[str, Any]:
    """The fields of `expect` that say a check and are read, but written as another one."""
    match record:
        case {"type": "regex", "pattern": pattern, **rest} if not rest:
            return {"regexPattern": pattern}
        case {"type": "not", "check": {"type": "icontains", "value": phrase}}:
            return {"copOutPhrases": [phrase]}
        case {"type": "structure", "fields": fields} if all(
            "type" in field and _key(field["path"]) is not None for field in fields
        ):
            return {"typeChecks": {_key(field["path"]): field["type"] for field in fields}}
        case _:
            return {}


def _is_flat(field: Mapping[str, str]) -> bool:
    return "type" not in field and _key(field["path"]) is not None


def _key(path: str) -> str | None:
    """The key that a path is, if it is one."""
    if path.startswith('["'):
        return str(json.loads(path)[0])
    return None if set(path) & set(".[]") else path


LISTS: Final = frozenset(
    {"responseContains", "responseContainsAny", "responseNotContains", "responseMatches", "toolParams", "copOutPhrases"}
)
"""The fields that several checks may share."""


def put(expect: dict[str, Any], record: Record) -> list[str]:
    """Write a check into `expect`; the pointers to it from the case's root."""
    fields = fields_of(record)
    if not fields or not (fields.keys() & LISTS or fields.keys().isdisjoint(expect)):
        fields = {"checks": [record]}
    pointers = []
    for field, value in fields.items():
        if field in LISTS or field == "checks":
            expect.setdefault(field, []).extend(value)
            pointers.append(f"/expect/{field}/{len(expect[field]) - 1}")
        else:
            expect[field] = value
            pointers.append(f"/expect/{field}")
    return pointers


# --- judges ----------------------------------------------------------------------------------------------------------


def judges_in(record: Record) -> bool:
    """Whether a check asks a judge, itself or in one of its parts."""
    return record["type"] == "judge" or any(map(judges_in, _parts(record)))


def _parts(record: Record) -> list[Record]:
    return [*record.get("checks", ()), *([record["check"]] if "check" in record else ())]


def _named(record: Record) -> Record:
    """The check with a dimension for each judge within it, made of the question's words."""
    match record["type"]:
        case "judge":
            return {**record, "dimension": "-".join(re.findall(r"\w+", record["criteria"].lower()))}
        case "any_of" | "all_of":
            return {**record, "checks": [*map(_named, record["checks"])]}
        case "not":
            return {**record, "check": _named(record["check"])}
        case _:
            return record


# --- checks of a case ------------------------------------------------------------------------------------------------


class Meant(NamedTuple):
    """A check as it is meant: the record with templates in it, and what it counts for.

    `literally`: it stands there as the model's record, so that nobody simplifies it.
    """

    record: Record
    criterion: str | None = None
    weight: int = 1
    literally: bool = False


def asserted(
    checks: Iterable[Meant], inputs: Mapping[str, Any], criteria: list[dict[str, Any]], rubric: list[dict[str, Any]]
) -> dict[str, Any]:
    """The fields of a case of the model for its checks: `expect`, `rubric`, `criteria`, `unlinked`."""
    expect: dict[str, Any] = {}
    dimensions = list(rubric)
    links: dict[str | None, list[dict[str, Any]]] = {}
    for check in checks:
        record_ = filled(check.record, inputs)
        whole = record_ if check.literally else simplified(_named(record_))
        for record in whole["checks"] if whole["type"] == "all_of" else [whole]:
            if record["type"] == "judge":
                dimension = {**{key: value for key, value in record.items() if key != "type"}}
                dimensions.append({**dimension, "dimension": check.criterion or record["dimension"]})
                at = [f"/rubric/{len(dimensions) - 1}"]
            else:
                at = put(expect, record)
            if check.criterion is not None or check.weight != 1:
                links.setdefault(check.criterion, []).append({"at": at, "weight": check.weight})
    linked = [{**each, **({"checks": links[each["name"]]} if each["name"] in links else {})} for each in criteria]
    found = {"rubric": dimensions, "criteria": linked, "unlinked": links.get(None, [])}
    return {"expect": expect, **{key: value for key, value in found.items() if value}}
