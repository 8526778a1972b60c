"""From an item of `test_cases:` to a case tree."""

from __future__ import annotations

from evalc.dsl.build_check import build_checks
from evalc.dsl.build_expect import build_expect
from evalc.dsl.fields import Fields
from evalc.dsl.nodes import Mapping, span_of
from evalc.dsl.tree import CaseTree, InputValue, Str

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
    "expected",
    "validate",
    "expect",
    "stubs",
    "max_turns",
    "rubric",
    "reference_data",
    "threshold",
    "tags",
)
TIERS = ("golden", "labeled", "regression", "rubric")
DIFFICULTIES = ("straightforward", "ambiguous", "edge", "regression")


def build_case(block: Fields, item: Mapping) -> CaseTree:
    """The case; one without a usable name goes by its place in the file, and says that it is partial."""
    fields = block.inside(item, what="a test case", keys=CASE_KEYS)
    fields.require("name", why="add `name:`: results are matched by it")
    name = fields.filled("name")
    inputs = fields.mapping("inputs")
    tags = fields.texts("tags")
    checks = build_checks(fields, "validate") + build_expect(fields)
    return CaseTree(
        span=fields.anchor if name is None else name.span,
        name=name or Str("", fields.anchor),
        id=fields.filled("id"),
        description=fields.text("description"),
        tier=fields.choice("tier", "tier", TIERS),
        difficulty=fields.choice("difficulty", "difficulty", DIFFICULTIES),
        created_at=fields.text("created_at"),
        bug_ref=fields.text("bug_ref"),
        prompt_id=fields.text("prompt_id"),
        message=fields.text("message"),
        messages=fields.node("messages"),
        inputs=None
        if inputs is None
        else tuple(InputValue(name=Str(key.text, span_of(key)), value=value) for key, value in inputs.pairs),
        inputs_span=None if inputs is None else span_of(fields.key("inputs")),
        expected=fields.text("expected"),
        checks=checks,
        stubs=fields.mapping("stubs"),
        max_turns=fields.integer("max_turns"),
        rubric=fields.node("rubric"),
        reference_data=fields.mapping("reference_data"),
        threshold=fields.number("threshold"),
        tags=None if tags is None else tuple(tag.value for tag in tags),
        partial=fields.partial or name is None,
    )
