"""Builds the trees of test cases, and of the `defaults:` that every case inherits."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Final, NamedTuple

import msgspec

from evalc.diagnostics.problem import Finding
from evalc.dsl.build_check import build_checks
from evalc.dsl.build_expect import build_expect
from evalc.dsl.fields import Fields, described
from evalc.dsl.nodes import Mapping, Node, Scalar, Sequence, span_of
from evalc.dsl.reasons import reason_of
from evalc.dsl.tree import (
    CaseFields,
    CaseTree,
    CheckTree,
    ForEachTree,
    InputValue,
    LabelTree,
    Requirement,
    Str,
    UserTree,
)
from evalc.grammar.parse import parse_place
from evalc.model.case import CHALLENGERS

_COUNT: Final = re.compile(r"(?P<count>[0-9]{1,9})(?:\s*/\s*(?P<of>[0-9]{1,9}))?")
_SHARE: Final = re.compile(r"(?P<percent>[0-9]{1,9}(?:\.[0-9]+)?)\s*%")
FOR_EACH_KEYS = ("rows", "file", "key")
"""The keys of `for_each:` where it is a mapping."""


def build_requirement(fields: Fields) -> Requirement | None:
    """The requirement; whether it can be met is seen where the number of repetitions is known."""
    text = fields.text("require")
    if text is None:
        return None
    written = text.value.strip()
    if match := _COUNT.fullmatch(written):
        of = None if match["of"] is None else int(match["of"])
        return Requirement(span=text.span, count=int(match["count"]), of=of)
    if match := _SHARE.fullmatch(written):
        return Requirement(span=text.span, share=float(match["percent"]) / 100)
    expected = "a number of repetitions such as `8`, `8/10` or `80%`"
    fields.fault(text.span, Finding("EV301", what="`require`", expected=expected, found=f"`{text.value}`"))
    return None


_Reader = Callable[[Fields, str], object]
"""Reads the value of a key; what is wrong with it is reported."""

TIERS = ("golden", "labeled", "regression", "rubric")
DIFFICULTIES = ("straightforward", "ambiguous", "edge", "regression")


def build_case(block: Fields, item: Mapping) -> CaseTree:
    """The case; one without a usable name goes by its place in the file, and says that it is partial."""
    fields = block.inside(item, what="a test case", keys=CASE_KEYS)
    fields.require("name", why="add `name:`: results are matched by it")
    given = _given(fields, _READERS)
    name = given.pop("name", None)
    return CaseTree(
        **given,
        span=fields.anchor if name is None else name.span,
        name=name or Str("", fields.anchor),
        partial=fields.partial or name is None,
    )


def build_defaults(fields: Fields) -> CaseFields | None:
    """What `defaults:` says for every case."""
    node = fields.mapping("defaults")
    if node is None:
        return None
    inner = fields.inside(node, what="`defaults`", keys=DEFAULT_KEYS)
    defaults = CaseFields(**_given(inner, _DEFAULT_READERS), partial=inner.partial)
    fields.partial |= inner.partial
    return defaults


def _given(fields: Fields, readers: dict[str, _Reader]) -> dict[str, Any]:
    """The fields of a tree that a mapping gives. Only keys that are there are looked at: cases have few of the many."""
    given: dict[str, Any] = {
        key.text: readers[key.text](fields, key.text) for key, _ in fields.pairs if key.text in readers
    }
    if "inherit" in given:
        given["inherits"] = given.pop("inherit")
    if given.get("inputs") is not None:
        given["inputs_span"] = span_of(fields.key("inputs"))
    given["inputs_partial"] = fields.has_hole("inputs")
    turns: tuple[_Turn, ...] | None = given.pop("turns", None)
    if turns is not None:
        given["turns"] = tuple(turn.say for turn in turns)
    of_turns = tuple(check for turn in turns or () for check in turn.checks)
    given["checks"] = given.pop("validate", ()) + given.pop("expect", ()) + of_turns
    given["source"] = fields.source
    return given


# --- what each key holds -------------------------------------------------------------------------------------------


def _choice(*choices: str) -> _Reader:
    return lambda fields, key: fields.choice(key, key, choices)


def _inputs(fields: Fields, key: str) -> tuple[InputValue, ...] | None:
    mapping = fields.mapping(key)
    if mapping is None:
        return None
    return tuple([InputValue(name=Str(name.text, span_of(name)), value=value) for name, value in mapping.pairs])


def _allowed(fields: Fields, key: str) -> tuple[tuple[str, Str | None], ...] | None:
    """The faults that do not count for the case, each with its reason; without one the fault counts."""
    fields.forbid_empty(key)
    node = fields.mapping(key)
    if node is None:
        return None
    inner = fields.inside(node, what=f"`{key}`", keys=CHALLENGERS)
    reasons = tuple((name, _reason(inner, name)) for name in CHALLENGERS if name in inner)
    fields.partial |= inner.partial
    return reasons


LABEL_KEYS = ("expected", "from")
"""The keys of `label:`."""
LABEL_PLACES = "`response`, or `at PATH` for a place in a JSON response"
"""What `from:` of a label takes, in words."""


def _label(fields: Fields, key: str) -> LabelTree | None:
    """The class that the agent should give."""
    for other in ("turns", "user"):
        if other in fields:
            fields.fault(fields.key(key), Finding("EV421", key=key, turns=other))
    fields.forbid_empty(key)
    node = fields.mapping(key)
    if node is None:
        return None
    inner = fields.inside(node, what=f"`{key}`", keys=LABEL_KEYS)
    inner.require("expected")
    expected, source = inner.filled("expected"), inner.filled("from") if "from" in inner else None
    path: str | None = None
    if source is not None and source.value.strip() != "response":
        path = parse_place(source.value.strip())
        if path is None:
            inner.fault(source.span, Finding("EV301", what="`from`", expected=LABEL_PLACES, found=f"`{source.value}`"))
    fields.partial |= inner.partial
    if expected is None or inner.partial:
        return None
    return LabelTree(span=span_of(fields.key(key)), expected=expected, path=path)


def _inherits(fields: Fields, key: str) -> bool:
    return fields.boolean(key, default=True)


def _reason(fields: Fields, key: str) -> Str | None:
    """Why a case is skipped, retired or expected to fail; a template is read when it is filled."""
    text = fields.text(key)
    if text is None or "{{" in text.value:
        return text
    return text if reason_of(text.value, key, lambda finding: fields.fault(text.span, finding)) is not None else None


class _Turn(NamedTuple):
    """What the user says, and the checks of the answer."""

    say: Str
    checks: tuple[CheckTree, ...]


TURN_KEYS = ("say", "validate")
"""The keys of an entry of `turns:`."""


def _turns(fields: Fields, key: str) -> tuple[_Turn, ...]:
    """The turns of a conversation; what is not a turn is reported and left out."""
    for other in ("message", "messages"):
        if other in fields:
            fields.fault(fields.key(other), Finding("EV421", key=other, turns=key))
    fields.forbid_empty(key)
    node = fields.node(key)
    if node is not None and not isinstance(node, Sequence):
        expected = "a list with `say`, and `validate` for its checks, in each item"
        fields.fault(node, Finding("EV301", what="`turns`", expected=expected, found=described(node)))
        return ()
    items = fields.items(key)
    turns = [_turn(fields, item, number) for number, item in enumerate(items or (), 1)]
    return tuple(turn for turn in turns if turn is not None)


def _turn(fields: Fields, item: Node, number: int) -> _Turn | None:
    if not isinstance(item, Mapping):
        expected = "a mapping with `say`, and `validate` for its checks"
        fields.fault(item, Finding("EV301", what="a turn", expected=expected, found=described(item)))
        return None
    inner = fields.inside(item, what="a turn", keys=TURN_KEYS)
    inner.require("say")
    say, checks = inner.text("say"), build_checks(inner, "validate")
    fields.partial |= inner.partial
    of_turn = tuple(msgspec.structs.replace(check, turn=number) for check in checks)
    return None if say is None else _Turn(say, of_turn)


USER_KEYS = ("goal", "persona", "facts", "opens", "max_turns", "stop_when")
"""The keys of `user:`."""


def _user(fields: Fields, key: str) -> UserTree | None:
    """A simulated user."""
    for other in ("turns", "message", "messages"):
        if other in fields:
            fields.fault(fields.key(other), Finding("EV421", key=other, turns=key))
    fields.forbid_empty(key)
    node = fields.mapping(key)
    if node is None:
        return None
    inner = fields.inside(node, what="a simulated user", keys=USER_KEYS)
    inner.require("goal")
    facts = inner.mapping("facts")
    named: list[tuple[str, Str]] = []
    for name, value in () if facts is None else facts.pairs:
        text = inner.text_of(value, f"the fact `{name.text}`")
        if text is not None:
            named.append((name.text, text))
    user = UserTree(
        span=span_of(fields.key(key)),
        goal=inner.filled("goal"),
        persona=inner.text("persona"),
        facts=tuple(named),
        opens=inner.filled("opens") if "opens" in inner else None,
        max_turns=inner.integer("max_turns"),
        stop_when=inner.text("stop_when"),
    )
    fields.partial |= inner.partial
    return user


def _rubric(fields: Fields, key: str) -> Node | None:
    return _with_json_names(fields.node(key))


_JSON_NAMES: Final = {"max_score": "maxScore", "min_score": "minScore"}


def _with_json_names(node: Node | None) -> Node | None:
    """A rubric with the names of the case model, whose records its entries are."""
    if not isinstance(node, Sequence):
        return node
    items = tuple(_renamed(item) if isinstance(item, Mapping) else item for item in node.items)
    return msgspec.structs.replace(node, items=items)


def _renamed(mapping: Mapping) -> Mapping:
    written = {key.text for key, _ in mapping.pairs}
    pairs = tuple((_renamed_key(key, written), value) for key, value in mapping.pairs)
    return msgspec.structs.replace(mapping, pairs=pairs)


def _renamed_key(key: Scalar, written: set[str]) -> Scalar:
    name = _JSON_NAMES.get(key.text, key.text)
    return key if name == key.text or name in written else msgspec.structs.replace(key, text=name)


_READERS: Final[dict[str, _Reader]] = {
    "name": Fields.filled,
    "description": Fields.text,
    "id": Fields.filled,
    "tier": _choice(*TIERS),
    "difficulty": _choice(*DIFFICULTIES),
    "created_at": Fields.text,
    "bug_ref": Fields.text,
    "prompt_id": Fields.text,
    "message": Fields.text,
    "messages": Fields.node,
    "turns": _turns,
    "user": _user,
    "inputs": _inputs,
    "for_each": lambda fields, _: build_for_each(fields),
    "inherit": _inherits,
    "expected": Fields.text,
    "validate": build_checks,
    "expect": lambda fields, _: build_expect(fields),
    "stubs": Fields.mapping,
    "max_turns": Fields.integer,
    "rubric": _rubric,
    "reference_data": Fields.mapping,
    "threshold": Fields.number,
    "repeat": Fields.integer,
    "require": lambda fields, _: build_requirement(fields),
    "expected_failure": _reason,
    "skip": _reason,
    "archived": _reason,
    "tags": Fields.texts,
    "allow": _allowed,
    "label": _label,
}
CASE_KEYS = tuple(_READERS)
"""The keys of a case."""
DEFAULT_KEYS = (
    "inputs",
    "validate",
    "expect",
    "difficulty",
    "stubs",
    "max_turns",
    "threshold",
    "tags",
    "repeat",
    "require",
    "allow",
    "label",
)
"""The keys of `defaults:`."""
_DEFAULT_READERS: Final = {key: _READERS[key] for key in DEFAULT_KEYS}


def build_for_each(fields: Fields) -> ForEachTree | None:
    """The rows of a case; None if it has none, or if they are not a table, which is reported."""
    fields.forbid_empty("for_each")
    node = fields.node("for_each")
    if node is None:
        return None
    match node:
        case Scalar():
            file = fields.filled("for_each")
            return None if file is None else ForEachTree(span=file.span, file=file)
        case Sequence():
            return _listed(fields, "for_each", None)
        case Mapping():
            return _written_out(fields, node)


def _written_out(fields: Fields, node: Mapping) -> ForEachTree | None:
    inner = fields.inside(node, what="`for_each`", keys=FOR_EACH_KEYS)
    if "rows" not in inner:
        inner.forbid_empty("file")
    key = inner.filled("key")
    file = inner.filled("file")
    tree: ForEachTree | None = None
    if file is not None:
        tree = ForEachTree(span=file.span, file=file, key=key)
        if "rows" in inner:
            inner.fault(inner.key("rows"), Finding("EV312", key="rows", other="file"))
    elif "rows" in inner:
        inner.forbid_empty("rows")
        tree = _listed(inner, "rows", key)
    elif not inner.partial:
        inner.fault(
            inner.anchor, Finding("EV202", key="rows", what="`for_each`", why="add `rows:` with a list, or `file:`")
        )
    fields.partial |= inner.partial
    return tree


def _listed(fields: Fields, key: str, column: Str | None) -> ForEachTree | None:
    items = fields.items(key)
    if items is None:
        return None
    if not items and not fields.is_cut(key):
        fields.fault(fields.key(key), Finding("EV309", what=f"`{key}`"))
    rows = tuple(row for row in (_row(fields, item) for item in items) if row is not None)
    return ForEachTree(span=span_of(fields.key(key)), rows=rows, key=column)


def _row(fields: Fields, item: Node) -> Mapping | None:
    if isinstance(item, Mapping):
        return item
    fields.fault(item, Finding("EV301", what="a row of `for_each`", expected="a mapping", found=described(item)))
    return None
