"""From a document's fields to what it shares: named rules, defaults, and the files that it takes others from."""

from __future__ import annotations

from evalc.diagnostics.catalogue.values import EmptyValue
from evalc.diagnostics.problem import Diagnostics
from evalc.dsl.build_case import build_defaults
from evalc.dsl.build_check import build_checks
from evalc.dsl.fields import Fields
from evalc.dsl.nodes import Mapping, Node, Scalar, span_of
from evalc.dsl.tree import RuleTree, SharedTree, Str
from evalc.source import Source

SHARED_KEYS = ("rules", "defaults", "include")
"""The keys of a document that say what it shares."""


def build_shared_file(source: Source, node: Mapping, problems: Diagnostics) -> SharedTree:
    """The tree of a shared rules file."""
    keys = (*SHARED_KEYS, "description")
    return build_shared(Fields(source, node, what="a shared rules file", keys=keys, problems=problems))


def build_shared(fields: Fields) -> SharedTree:
    """What the document with these fields shares."""
    return SharedTree(
        source=fields.source,
        rules=_rules(fields),
        defaults=build_defaults(fields),
        includes=_includes(fields),
        partial=fields.has_hole("rules") or fields.has_hole("include"),
    )


def _rules(fields: Fields) -> tuple[RuleTree, ...]:
    node = fields.mapping("rules")
    if node is None:
        return ()
    return tuple(_rule(fields, key, value) for key, value in node.pairs)


def _rule(fields: Fields, key: Scalar, value: Node) -> RuleTree:
    alone = Mapping(key.start, value.end, ((key, value),))
    inner = fields.inside(alone, what="`rules`", keys=(key.text,))
    inner.require(key.text)
    checks = build_checks(inner, key.text)
    fields.partial |= inner.partial
    return RuleTree(source=inner.source, name=Str(key.text, span_of(key)), checks=checks, partial=inner.partial)


def _includes(fields: Fields) -> tuple[Str, ...]:
    """The files of `include:`: a list, or one by itself."""
    if isinstance(fields.node("include"), Scalar):
        file = fields.filled("include")
        if file is None:
            fields.leave_out("include")
        return () if file is None else (file,)
    fields.forbid_empty("include")
    files = fields.texts("include") or ()
    for file in files:
        if not file.value.strip():
            fields.leave_out("include")
            fields.fault(file.span, EmptyValue(what="an item of `include`"))
    return tuple(file for file in files if file.value.strip())
