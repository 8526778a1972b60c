"""Builds the tree of a suite: its fields, gates, named rules, defaults and includes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import msgspec

from evalc.base.source import Source, Span
from evalc.diagnostics.problem import Diagnostics, Finding
from evalc.dsl.build_case import TIERS, build_case, build_defaults
from evalc.dsl.build_check import build_checks
from evalc.dsl.build_criterion import build_criterion
from evalc.dsl.build_prompt import PROMPT_KEYS, PROMPT_READ, build_inputs, build_variants, inline_prompt
from evalc.dsl.cut_texts import report_cut_texts
from evalc.dsl.document_kind import Kind, has_evals
from evalc.dsl.fields import Fields, Foreign, described
from evalc.dsl.nodes import Mapping, Node, Scalar, span_of
from evalc.dsl.tree import CaseTree, CriterionTree, GatesTree, Num, PromptTree, RuleTree, SharedTree, Str, SuiteTree

EVAL_KEYS = ("criteria", "test_cases")
SHARED_KEYS = ("rules", "defaults", "include")
"""The keys of a document that say what it shares."""

_OWN_KEYS = (
    "suite",
    "tier",
    "tool",
    "tool_version",
    "tool_description",
    "registry_size",
    "threshold",
    "gates",
    "description",
)
_PROMPTS = ("prompt", "prompts", "prompt_file", "prompt_id")
KEYS = {
    Kind.SUITE: (*_OWN_KEYS, *_PROMPTS, "inputs", *SHARED_KEYS, "eval"),
    Kind.PROMPT: (*_OWN_KEYS, *(key for key in PROMPT_KEYS if key not in _OWN_KEYS), *SHARED_KEYS, "eval"),
    Kind.CASES: (*_OWN_KEYS, "prompt_id", "inputs", *SHARED_KEYS, *EVAL_KEYS),
}
"""The keys of each kind of document; those of a prompt file include PromptSpec's, most of which evalc keeps unread."""

_OF_PROMPT = Foreign(
    read=tuple(dict.fromkeys((*_OWN_KEYS, *PROMPT_READ, *SHARED_KEYS, "eval", *EVAL_KEYS))), required=("id", "prompt")
)


def build_prompt(source: Source, node: Mapping, problems: Diagnostics) -> PromptTree | None:
    """The prompt of a document whose evals, if there are any, are not wanted; None if it has no usable text."""
    report_cut_texts(source, node, problems)
    keys = (*KEYS[Kind.PROMPT], *EVAL_KEYS)
    fields = Fields(source, node, what="a prompt file", keys=keys, foreign=_OF_PROMPT, problems=problems)
    prompt = inline_prompt(fields, build_inputs(fields))
    return None if prompt is None else msgspec.structs.replace(prompt, has_evals=has_evals(node))


def build_suite(source: Source, node: Mapping, kind: Kind, problems: Diagnostics) -> SuiteTree:
    """The tree of one document of a known kind; what is wrong is reported and left out."""
    report_cut_texts(source, node, problems)
    keys = KEYS[kind] if any(key.text == "eval" for key, _ in node.pairs) else (*KEYS[kind], *EVAL_KEYS)
    foreign = _OF_PROMPT if kind is Kind.PROMPT else None
    fields = Fields(source, node, what=f"a {kind.value}", keys=keys, foreign=foreign, problems=problems)
    _allow_one_prompt(fields)
    if kind is Kind.PROMPT:
        fields.filled("id")
    block = _eval_block(fields, node)
    inputs = build_inputs(fields)
    shared = build_shared(fields)
    criteria, weights_partial = _criteria(block)
    return SuiteTree(
        source=source,
        span=fields.anchor,
        name=fields.filled("suite"),
        tier=fields.choice("tier", "tier", TIERS),
        tool=fields.filled("tool"),
        tool_version=fields.text("tool_version"),
        tool_description=fields.text("tool_description"),
        registry_size=fields.integer("registry_size"),
        prompt=inline_prompt(fields, inputs),
        prompts=build_variants(fields),
        prompt_file=fields.text("prompt_file"),
        prompt_id=fields.text("prompt_id"),
        prompt_partial=any(map(fields.has_hole, _PROMPTS)),
        inputs=inputs,
        inputs_partial=fields.has_hole("inputs"),
        criteria=criteria,
        criteria_partial=block.has_hole("criteria"),
        weights_partial=weights_partial or block.has_hole("criteria"),
        cases=_cases(block),
        shared=shared,
        threshold=fields.number("threshold"),
        gates=build_gates(fields),
        partial=fields.partial or block.partial,
    )


def _eval_block(fields: Fields, node: Mapping) -> Fields:
    """The fields that hold criteria and cases: those of `eval:`, else of the document itself."""
    if "eval" not in fields:
        return fields
    block = fields.mapping("eval")
    if block is None:
        fields.require("eval")
        block = Mapping(node.start, node.start, (), cut=True)
    return fields.inside(block, what="`eval`", keys=EVAL_KEYS)


def _allow_one_prompt(fields: Fields) -> None:
    given = [key for key in _PROMPTS if key in fields]
    for key in given[1:]:
        fields.fault(fields.key(key), Finding("EV312", key=key, other=given[0]))


def _criteria(block: Fields) -> tuple[tuple[CriterionTree, ...], bool]:
    """The criteria, and whether something of them is wrong and left out."""
    others_are_partial, block.partial = block.partial, False
    built = [build_criterion(block, item) for item in block.items("criteria") or ()]
    if None in built:
        block.leave_out("criteria")
    is_partial = block.partial
    block.partial |= others_are_partial
    return tuple(criterion for criterion in built if criterion is not None), is_partial


def _cases(block: Fields) -> tuple[CaseTree, ...]:
    block.require("test_cases")
    block.forbid_empty("test_cases")
    built = (_case(block, item) for item in block.items("test_cases") or ())
    return tuple(case for case in built if case is not None)


def _case(block: Fields, item: Node) -> CaseTree | None:
    if not isinstance(item, Mapping):
        block.fault(item, Finding("EV301", what="a test case", expected="a mapping", found=described(item)))
        return None
    return build_case(block, item)


GATE_KEYS: Final = (
    "min_pass_rate",
    "min_score",
    "max_p95_ms",
    "fail_on_regression",
    "confidence",
    "recall",
    "precision",
    "macro_f1",
)


def build_gates(fields: Fields) -> GatesTree | None:
    """The gates of a suite; None if it has none."""
    mapping = fields.mapping("gates")
    if mapping is None:
        return None
    gates = fields.inside(mapping, what="`gates`", keys=GATE_KEYS)
    tree = GatesTree(
        min_pass_rate=gates.number("min_pass_rate"),
        min_score=gates.number("min_score"),
        max_p95_ms=gates.number("max_p95_ms"),
        fail_on_regression=gates.boolean("fail_on_regression"),
        confidence=gates.share("confidence"),
        recall=_by_class(gates, "recall"),
        precision=_by_class(gates, "precision"),
        macro_f1=gates.number("macro_f1"),
        places=dict(_places_of_gates(gates)),
    )
    fields.partial |= gates.partial
    return tree


def _places_of_gates(gates: Fields) -> Iterator[tuple[str, Span]]:
    """Where each gate is written; of one by class also each class, as in `recall.refund`."""
    for key, value in gates.pairs:
        yield key.text, span_of(key)
        for name, _ in value.pairs if isinstance(value, Mapping) else ():
            yield f"{key.text}.{name.text}", span_of(name)


def _by_class(gates: Fields, key: str) -> tuple[tuple[str, Num], ...]:
    """The least of a measure for each class, by the class's label."""
    mapping = gates.mapping(key)
    if mapping is None:
        return ()
    inner = gates.inside(mapping, what=f"`{key}`", keys=tuple(name.text for name, _ in mapping.pairs))
    given = [(name.text, inner.number(name.text)) for name, _ in mapping.pairs]
    gates.partial |= inner.partial
    return tuple((name, number) for name, number in given if number is not None)


def build_shared_file(source: Source, node: Mapping, problems: Diagnostics) -> SharedTree:
    """The tree of a shared rules file."""
    report_cut_texts(source, node, problems)
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
            fields.fault(file.span, Finding("EV309", what="an item of `include`"))
    return tuple(file for file in files if file.value.strip())
