"""From an item of `test_cases:` to a case tree, and from `defaults:` to what every case takes in."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

import msgspec

from evalc.dsl.build_check import build_checks
from evalc.dsl.build_expect import build_expect
from evalc.dsl.build_for_each import build_for_each
from evalc.dsl.build_requirement import build_requirement
from evalc.dsl.fields import Fields
from evalc.dsl.nodes import Mapping, Node, Scalar, Sequence, span_of
from evalc.dsl.tree import CaseFields, CaseTree, InputValue, Str

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
)
"""The keys of `defaults:`."""

CASE_KEYS = (
    "name",
    "description",
    "id",
    "tier",
    "difficulty",
    "created_at",
    "bug_ref",
    "prompt_id",
    "message",
    "messages",
    "inputs",
    "for_each",
    "inherit",
    "expected",
    "validate",
    "expect",
    "stubs",
    "max_turns",
    "rubric",
    "reference_data",
    "threshold",
    "repeat",
    "require",
    "expected_failure",
    "skip",
    "archived",
    "tags",
)
TIERS = ("golden", "labeled", "regression", "rubric")
DIFFICULTIES = ("straightforward", "ambiguous", "edge", "regression")


def build_case(block: Fields, item: Mapping) -> CaseTree:
    """The case; one without a usable name goes by its place in the file, and says that it is partial."""
    fields = block.inside(item, what="a test case", keys=CASE_KEYS)
    fields.require("name", why="add `name:`: results are matched by it")
    name = fields.filled("name")
    shared = _shared(fields)
    return CaseTree(
        **shared,
        span=fields.anchor if name is None else name.span,
        name=name or Str("", fields.anchor),
        id=fields.filled("id"),
        description=fields.text("description"),
        tier=fields.choice("tier", "tier", TIERS),
        created_at=fields.text("created_at"),
        bug_ref=fields.text("bug_ref"),
        prompt_id=fields.text("prompt_id"),
        message=fields.text("message"),
        messages=fields.node("messages"),
        expected=fields.text("expected"),
        rubric=_with_json_names(fields.node("rubric")),
        reference_data=fields.mapping("reference_data"),
        for_each=build_for_each(fields),
        expected_failure=_reason(fields, "expected_failure"),
        skip=_reason(fields, "skip"),
        archived=_reason(fields, "archived"),
        inherits=fields.boolean("inherit", default=True),
        partial=fields.partial or name is None,  # asked for last: what is wrong comes to light with any field
    )


def build_defaults(fields: Fields) -> CaseFields | None:
    """What `defaults:` says for every case."""
    node = fields.mapping("defaults")
    if node is None:
        return None
    inner = fields.inside(node, what="`defaults`", keys=DEFAULT_KEYS)
    defaults = CaseFields(**_shared(inner), partial=inner.partial)
    fields.partial |= inner.partial
    return defaults


def _shared(fields: Fields) -> dict[str, Any]:
    """The fields that a case and `defaults:` have in common."""
    inputs = fields.mapping("inputs")
    tags = fields.texts("tags")
    return {
        "source": fields.source,
        "difficulty": fields.choice("difficulty", "difficulty", DIFFICULTIES),
        "inputs": None if inputs is None else tuple(_inputs(inputs)),
        "inputs_partial": fields.has_hole("inputs"),
        "inputs_span": None if inputs is None else span_of(fields.key("inputs")),
        "checks": build_checks(fields, "validate") + build_expect(fields),
        "stubs": fields.mapping("stubs"),
        "max_turns": fields.integer("max_turns"),
        "threshold": fields.number("threshold"),
        "tags": None if tags is None else tuple(tag.value for tag in tags),
        "repeat": fields.integer("repeat"),
        "require": build_requirement(fields),
    }


def _inputs(mapping: Mapping) -> Iterable[InputValue]:
    return (InputValue(name=Str(key.text, span_of(key)), value=value) for key, value in mapping.pairs)


def _reason(fields: Fields, key: str) -> Str | None:
    """Why a case is skipped, retired or expected to fail: a reason is worth nothing when it is empty."""
    fields.forbid_empty(key)
    return fields.filled(key)


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
