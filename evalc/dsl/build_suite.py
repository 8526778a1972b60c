"""Declares the keys of suites, prompt files, cases files and shared rules, and builds their trees."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from typing import Any, Final, NamedTuple, final

import msgspec

from evalc.base.source import Source, Span
from evalc.diagnostics import Diagnostics, Finding, Fix, Problem
from evalc.dsl import kinds as k
from evalc.dsl.build_case import CASE, DEFAULTS, FOR_EACH, LABEL, TIERS, TURN, USER, CaseFields, CaseTree
from evalc.dsl.build_check import build_checks
from evalc.dsl.build_prompt import (
    DECLARATIONS,
    PROMPT_SPEC,
    VARIANTS,
    InputTree,
    PromptTree,
    VariantTree,
    inline_prompt,
)
from evalc.dsl.cut_texts import OF_CHECKS, may_have_cut_texts, report_cut_texts
from evalc.dsl.document_kind import HEADS, has_evals
from evalc.dsl.document_kind import Kind as Document
from evalc.dsl.nodes import Keep, Mapping, Node, Scalar, Sequence, Stretch, stretch, stretch_of
from evalc.dsl.places import locate
from evalc.dsl.tree import CheckTree, Num, Str
from evalc.dsl.walk import Fields, Yaml, described
from evalc.grammar.parse import parse_criterion
from evalc.model import numbers

# --- the trees -------------------------------------------------------------------------------------------------------


class CriterionTree(msgspec.Struct, frozen=True, kw_only=True):
    """A weighted criterion."""

    span: Span
    name: Str
    weight: Num | None = None
    description: str | None = None


# --- reading ---------------------------------------------------------------------------------------------------------

_NAME: Final = re.compile(r"\s*([^():\s][^():]*)")
"""The name of a line with a mistake after it, so that links to the name are not reported as well."""

_LOOSE_WEIGHT: Final = re.compile(r"(.*[^\s\d=])[\s=]+([0-9]{1,3}(?:\.[0-9]+)?%|0?\.[0-9]+)")
"""A name that ends with what looks like a weight: `tone 40%`."""
_WEIGHT: Final = re.compile(r"([0-9]{1,9}(?:\.[0-9]{1,9})?) ?(%)?")


def build_criterion(fields: Fields, item: Node) -> CriterionTree | None:
    """The criterion, or None if it has no usable name; what is wrong after the name is left out."""
    match item:
        case Scalar():
            text = fields.text_of(item, "a criterion")
            return None if text is None else _one_line(fields, text, None)
        case Mapping(pairs=((key, Scalar() as value),)) if key.text not in CRITERION.keys:
            weight = _weight_of(value) if "(" not in key.text else None
            if weight is not None:  # `politeness: 50%` is `politeness (50%)`
                name = Str(key.at, key.text.strip())
                return CriterionTree(span=name.span, name=name, weight=Num(value.at, weight))
            return _one_line(fields, Str(key.at, key.text), value)
        case Mapping():
            tree: CriterionTree | None = CRITERION.take(fields, item, "a criterion")
            return tree
        case _:
            expected = "a mapping or `name (weight): description`"
            fields.fault(item, Finding("EV301", what="a criterion", expected=expected, found=described(item)))
            return None


def _weight_of(value: Scalar) -> int | float | None:
    """The weight that a value is which is written as one, a number or a share; None for any other text."""
    written = _WEIGHT.fullmatch(value.text) if value.style == "plain" else None
    if written is None:
        return None
    number = float(written[1])
    return number / 100 if written[2] else int(number) if number.is_integer() else number


def _build(_inner: Fields, given: dict[str, Any]) -> CriterionTree | None:
    name, description = given.get("name"), given.get("description")
    if name is None:
        return None
    text = None if description is None else description.value
    return CriterionTree(span=name.span, name=name, weight=given.get("weight"), description=text)


def _one_line(fields: Fields, text: Str, behind: Scalar | None) -> CriterionTree | None:
    """`clarity (0.3): Clear`; to YAML the unquoted form is a mapping, whose value `behind` is the description."""
    parse = parse_criterion(text.value)

    def at(start: int, end: int) -> Stretch:
        return stretch_of(locate(fields.source, text.span, start, end))

    for fault in parse.faults:
        fields.fault(locate(fields.source, text.span, fault.start, fault.end), fault.finding)
    line = parse.node
    if line is None:
        legible = _NAME.match(text.value)
        if legible is None:
            return None
        name, start = legible[1].rstrip(), legible.start(1)
        return CriterionTree(span=text.span, name=Str(at(start, start + len(name)), name))
    description = line.description.value if line.description is not None else None
    if line.weight is None and (loose := _LOOSE_WEIGHT.fullmatch(line.name.value)) is not None:
        span = locate(fields.source, text.span, line.name.start, line.name.end)
        meant = f"{loose[1]} ({loose[2]})"
        fix = Fix.of(fields.source.text, span.start, span.end, meant)
        fields.warn(span, Finding("EV305", fix=fix, found=f"`{loose[2]}` is part of the name here", line=meant))
    return CriterionTree(
        span=text.span,
        name=Str(at(line.name.start, line.name.end), line.name.value),
        weight=None if line.weight is None else Num(at(line.weight.start, line.weight.end), line.weight.value),
        description=behind.text if behind is not None else description,
    )


CRITERION: Final = k.Shape(
    "a criterion",
    {
        "name": k.Key(
            k.NAME,
            "The criterion's name, which checks are linked to; unique in the suite.",
            ("clarity",),
            required=True,
        ),
        "description": k.Key(k.TEXT, "What a good answer is by this criterion."),
        "weight": k.Key(
            k.Number(k.number(minimum=0), int, float), "How much the criterion counts; by default 1.", (0.3,)
        ),
    },
    name="criterion",
    build=_build,
)


# --- the trees -------------------------------------------------------------------------------------------------------


class RuleTree(msgspec.Struct, frozen=True, kw_only=True):
    """A named group of checks."""

    source: Source
    name: Str
    checks: tuple[CheckTree, ...] = ()
    partial: bool = False


class SharedTree(msgspec.Struct, frozen=True, kw_only=True):
    """Shared parts of a document: its named rules and defaults, and the files that it takes others from.

    `partial` says that there may have been more rules, or more files, than it has.
    """

    source: Source
    rules: tuple[RuleTree, ...] = ()
    defaults: CaseFields | None = None
    includes: tuple[Str, ...] = ()
    partial: bool = False


class GatesTree(msgspec.Struct, frozen=True, kw_only=True):
    """Gates of a suite as a whole."""

    min_pass_rate: Num | None = None
    min_score: Num | None = None
    max_p95_ms: Num | None = None
    fail_on_regression: bool = False
    confidence: Num | None = None
    recall: tuple[tuple[str, Num], ...] = ()
    precision: tuple[tuple[str, Num], ...] = ()
    macro_f1: Num | None = None
    places: dict[str, Span] = {}
    """Where each gate is written."""


class SuiteTree(msgspec.Struct, frozen=True, kw_only=True):
    """One document: a suite, a prompt file with its `eval:` block, or an external cases file.

    At most one of `prompt`, `prompts`, `prompt_file` and `prompt_id` is set; `prompt_partial` says that one may have
    been meant if none is. `inputs_partial` and `criteria_partial` say that something of these is left out, so that a
    name that is not among them may yet have been declared; `weights_partial`, that a criterion or something of one is.
    """

    source: Source
    span: Span
    name: Str | None = None
    tier: Str | None = None
    tool: Str | None = None
    tool_version: Str | None = None
    tool_description: Str | None = None
    registry_size: Num | None = None
    prompt: PromptTree | None = None
    prompts: tuple[VariantTree, ...] = ()
    prompt_file: Str | None = None
    prompt_id: Str | None = None
    prompt_partial: bool = False
    inputs: tuple[InputTree, ...] | None = None
    inputs_partial: bool = False
    criteria: tuple[CriterionTree, ...] = ()
    criteria_partial: bool = False
    weights_partial: bool = False
    cases: tuple[CaseTree, ...] = ()
    shared: SharedTree
    threshold: Num | None = None
    gates: GatesTree | None = None
    partial: bool = False


# --- cases -----------------------------------------------------------------------------------------------------------


class _Made(Mapping, frozen=True, kw_only=True, gc=False):
    """A case of which only its tree is there, with what was found in it, and whether something of it was left out."""

    tree: CaseTree | None
    found: tuple[Problem, ...] = ()
    partial: bool = False


class _Case(k.Kind):
    """A case, its tree made or not."""

    def take(self, fields: Fields, node: Any, what: str) -> CaseTree | None:
        if not isinstance(node, _Made):
            tree: CaseTree | None = CASE.take(fields, node, what)
            return tree
        fields.tree.take_in(node.found)
        fields.partial |= node.partial
        return node.tree


@final
class CaseMaker:
    """Makes the tree of each case of a text when it is read: nodes of many cases take more memory than their trees."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._may_have_cut_texts = False
        self._begin()

    def _begin(self) -> None:
        self._found = Diagnostics()
        self._around = Fields(Yaml(self._source, self._found, LANGUAGE), Mapping(stretch(0, 0), ()), EVAL)

    def keep(self, way: list[str], around: Collection[str]) -> Keep | None:
        """The form of the items of a list, for a reader: if it certainly is that of the cases, their trees."""
        is_of_cases = way == ["eval", "test_cases"] or (way == ["test_cases"] and not HEADS.isdisjoint(around))
        if not is_of_cases:
            return None
        self._may_have_cut_texts = may_have_cut_texts(self._source)
        return self._made

    def _made(self, node: Node) -> Node:
        if not isinstance(node, Mapping):
            return node
        around = self._around
        if self._may_have_cut_texts:
            key = Scalar(node.at, "test_cases", "plain")
            document = Mapping(node.at, ((key, Sequence(stretch(0, 0), (node,))),))
            report_cut_texts(self._source, document, HOLDS, self._found)
        tree: CaseTree | None = CASE.take(around, node, _CASE)
        if not (around.partial or len(self._found)):
            return _Made(node.at, (), tree=tree)
        made = _Made(node.at, (), tree=tree, found=tuple(self._found), partial=around.partial)
        self._begin()
        return made


_CASE: Final = "a test case"


# --- reading ---------------------------------------------------------------------------------------------------------

PROMPTS: Final = ("prompt", "prompts", "prompt_file", "prompt_id")
"""The keys, of which a document has at most one."""


def build_prompt(source: Source, node: Mapping, problems: Diagnostics) -> PromptTree | None:
    """The prompt of a document whose evals, if any, are ignored; None if it has no usable text."""
    fields = _fields(source, node, FLAT[Document.PROMPT], problems)
    prompt = inline_prompt(fields, DECLARATIONS.read(fields, "inputs"))
    return None if prompt is None else msgspec.structs.replace(prompt, has_evals=has_evals(node))


def build_suite(source: Source, node: Mapping, kind: Document, problems: Diagnostics) -> SuiteTree:
    """The tree of one document of a known kind; what is wrong is reported and left out."""
    shape = (WITH_BLOCK if any(key.text == "eval" for key, _ in node.pairs) else FLAT)[kind]
    tree: SuiteTree = shape.of(_fields(source, node, shape, problems))
    return tree


def _fields(source: Source, node: Mapping, shape: k.Shape, problems: Diagnostics) -> Fields:
    """The fields of a document, the texts of which are looked at for what a `#` cuts off."""
    if may_have_cut_texts(source):
        report_cut_texts(source, node, HOLDS, problems)
    return Fields(Yaml(source, problems, LANGUAGE), node, shape)


def _build_suite(fields: Fields, given: dict[str, Any]) -> SuiteTree:
    for key in ("description", "id", "role", "instructions"):
        given.pop(key, None)
    fields.allow_one(PROMPTS)
    block: _Block = given.pop("eval", None) or _Block(fields, given)
    criteria: _Criteria = block.given.pop("criteria", _Criteria((), is_partial=False))
    inputs = given.get("inputs")
    return SuiteTree(
        source=fields.source,
        span=fields.anchor.span,
        cases=block.given.pop("test_cases", None) or (),
        criteria=criteria.trees,
        criteria_partial=block.fields.has_hole("criteria"),
        weights_partial=criteria.is_partial or block.fields.has_hole("criteria"),
        prompt=inline_prompt(fields, inputs),
        prompt_partial=any(map(fields.has_hole, PROMPTS)),
        inputs_partial=fields.has_hole("inputs"),
        shared=_build_shared(fields, given),
        **{key: value for key, value in given.items() if key != "prompt"},
        partial=fields.partial or block.fields.partial,
    )


class _Block(NamedTuple):
    """The mapping of criteria and cases: `eval:`, else the document itself."""

    fields: Fields
    given: dict[str, Any]


def _block(fields: Fields, key: str) -> _Block:
    node = fields.mapping(key)
    if node is None:
        fields.require(key)
        node = Mapping(stretch(0, 0), (), cut=True)
    block = fields.inside(node, EVAL)
    return _Block(block, EVAL.of(block))


class _Criteria(NamedTuple):
    """The criteria, and whether something of them is wrong and left out."""

    trees: tuple[CriterionTree, ...]
    is_partial: bool


def _criteria(block: Fields, key: str) -> _Criteria:
    others_are_partial, block.partial = block.partial, False
    built = [build_criterion(block, item) for item in block.items(key) or ()]
    if None in built:
        block.leave_out(key)
    is_partial = block.partial
    block.partial |= others_are_partial
    return _Criteria(tuple(criterion for criterion in built if criterion is not None), is_partial)


def _build_gates(gates: Fields, given: dict[str, Any]) -> GatesTree:
    gates.allow_one(("max_p95", "max_p95_ms"))
    return GatesTree(**given, places=dict(_places_of_gates(gates)))


def _places_of_gates(gates: Fields) -> Iterator[tuple[str, Span]]:
    """Where each gate is written; of one by class also each class, as in `recall.refund`."""
    for key, value in gates.by_key.values():
        yield "max_p95_ms" if key.text == "max_p95" else key.text, key.span
        for name, _ in value.pairs if isinstance(value, Mapping) else ():
            yield f"{key.text}.{name.text}", name.span


def _confidence(gates: Fields, key: str) -> Num | None:
    """A number, or one in per cent: `95%` is 0.95."""
    node = gates.node(key)
    share = k.share_of(node.text.strip()) if isinstance(node, Scalar) else ""
    number: Num | None = Num(node.at, float(share)) if share else k.NUMBER.read(gates, key)
    return number


def _duration(gates: Fields, key: str) -> Num | None:
    """A time above 0 with its unit, such as `5s`, in milliseconds."""
    node = gates.node(key)
    if isinstance(node, Scalar) and (milliseconds := numbers.milliseconds_of(node.text)):
        return Num(node.at, milliseconds)
    if node is not None:
        gates.wrong(node, f"`{key}`", f"{numbers.DURATION_WORDS}, above 0")
    return None


def _by_class(gates: Fields, key: str) -> tuple[tuple[str, Num], ...]:
    """The least of a measure for each class, by the class's label."""
    mapping = gates.mapping(key)
    if mapping is None:
        return ()
    inner = gates.inside(mapping, k.keyed(f"`{key}`", tuple(name.text for name, _ in mapping.pairs)))
    given = [(name.text, k.NUMBER.read(inner, name.text)) for name, _ in mapping.pairs]
    gates.partial |= inner.partial
    return tuple((name, number) for name, number in given if number is not None)


def build_shared_file(source: Source, node: Mapping, problems: Diagnostics) -> SharedTree:
    """The tree of a shared rules file."""
    tree: SharedTree = SHARED.of(_fields(source, node, SHARED, problems))
    return tree


def _build_shared(fields: Fields, given: dict[str, Any]) -> SharedTree:
    return SharedTree(
        source=fields.source,
        rules=given.pop("rules", ()),
        defaults=given.pop("defaults", None),
        includes=given.pop("include", ()),
        partial=fields.has_hole("rules") or fields.has_hole("include"),
    )


def _rules(fields: Fields, key: str) -> tuple[RuleTree, ...]:
    node = fields.mapping(key)
    if node is None:
        return ()
    return tuple(_rule(fields, name, value) for name, value in node.pairs)


def _rule(fields: Fields, key: Scalar, value: Node) -> RuleTree:
    alone = Mapping(stretch(key.start, value.end), ((key, value),))
    inner = fields.inside(alone, k.keyed("`rules`", (key.text,)))
    inner.require(key.text)
    checks = build_checks(inner, key.text)
    fields.partial |= inner.partial
    return RuleTree(source=inner.source, name=Str(key.at, key.text), checks=checks, partial=inner.partial)


def _includes(fields: Fields, key: str) -> tuple[Str, ...]:
    """The files of `include:`: a list, or one by itself."""
    if isinstance(fields.node(key), Scalar):
        file = fields.filled(key)
        if file is None:
            fields.leave_out(key)
        return () if file is None else (file,)
    fields.forbid_empty(key)
    files = fields.texts(key) or ()
    for file in files:
        if not file.value.strip():
            fields.leave_out(key)
            fields.fault(file.span, Finding("EV309", what="an item of `include`"))
    return tuple(file for file in files if file.value.strip())


# --- the keys --------------------------------------------------------------------------------------------------------

_BY_CLASS: Final = k.Kind({"type": ["object", "null"], "additionalProperties": k.SHARE.schema}, read=_by_class)

GATES: Final = k.Shape(
    "`gates`",
    {
        "min_pass_rate": k.Key(k.SHARE, "The least share of the cases that pass, from 0 to 1.", (0.9,)),
        "min_score": k.Key(k.SHARE, "The least score of the suite, from 0 to 1.", (0.8,)),
        "max_p95": k.Key(
            k.Kind({**numbers.DURATION_SCHEMA, "type": ["string", "null"]}, read=_duration),
            "The time that 95 % of the cases keep to, such as `5s`.",
            ("5s",),
            into="max_p95_ms",
        ),
        "max_p95_ms": k.Key(
            k.Number(k.number(exclusiveMinimum=0), int, float),
            "The same in milliseconds; `max_p95` is preferred.",
            (5000,),
        ),
        "fail_on_regression": k.Key(k.FLAG, "Whether no case may fail that passed in the baseline.", (True,)),
        "confidence": k.Key(
            k.Kind(
                {
                    "type": ["number", "string", "null"],
                    "exclusiveMinimum": 0.5,
                    "exclusiveMaximum": 1,
                    "pattern": "%\\s*$",
                },
                read=_confidence,
            ),
            "How sure a gate has to be, above 0.5 and below 1; what is less certain is undecided.",
            ("95%", 0.99),
        ),
        "recall": k.Key(_BY_CLASS, "The least recall of classes, by their labels.", ({"refund": 0.95},)),
        "precision": k.Key(_BY_CLASS, "The least precision of classes, by their labels.", ({"refund": 0.9},)),
        "macro_f1": k.Key(k.SHARE, "The least mean of the F1 of all classes, from 0 to 1.", (0.8,)),
    },
    name="gates",
    where="in `gates`",
    build=_build_gates,
)
EVAL: Final = k.Shape(
    "`eval`",
    {
        "criteria": k.Key(
            k.Kind(k.list_of(k.ref("criterion")), read=_criteria, texts="criteria"),
            "What the answers are scored by, with weights.",
        ),
        "test_cases": k.Key(
            k.ListOf(_Case(CASE.schema), called=_CASE, filled=True), "The cases.", required=True, aka=("cases", "tests")
        ),
    },
    name="eval",
    where="in `eval`",
)
_OWN: Final = {
    "suite": k.Key(
        k.FILLED,
        "The suite's name, a slug; by default the prompt's id, else the file's name.",
        ("code-review",),
        into="name",
        aka=("name",),
    ),
    "tier": k.Key(k.Choice(TIERS), "The tier of the cases, which says what they may assert; by default `labeled`."),
    "tool": k.Key(
        k.FILLED,
        "The tool that the suite is about, which names its files and results; by default the suite's name.",
        ("get_weather",),
    ),
    "tool_version": k.Key(k.TEXT, "The tool's version that the evals were written for.", ("1.0.0",)),
    "tool_description": k.Key(k.TEXT, "The tool's description that the evals were written for."),
    "registry_size": k.Key(k.WHOLE, "How many tools there were when the evals were written."),
    "threshold": k.Key(k.SHARE, "The least score of the suite, from 0 to 1.", (0.8,)),
    "gates": k.Key(
        k.Kind(k.or_absent(GATES.schema), read=GATES.read, texts="settings"),
        "What the suite must reach as a whole; this decides instead of its cases.",
        ({"min_pass_rate": 0.9},),
    ),
    "description": k.Key(k.ANYTHING, "What this is about, for readers."),
}
_PROMPT_ID: Final = k.Key(
    k.TEXT, "The `id` of a prompt file, which is looked up in the folder of the prompts.", ("code-review-v1",)
)
_SHARED: Final = {
    "rules": k.Key(
        k.Kind(
            {"type": ["object", "null"], "additionalProperties": k.filled_list_of(k.ref("check"))},
            read=_rules,
            texts="checks",
        ),
        "Groups of checks by name, for `use: NAME`.",
        ({"no_cop_outs": ['not contains "I don\'t know"']},),
    ),
    "defaults": k.Key(
        k.Kind(k.or_absent(DEFAULTS.schema), read=DEFAULTS.read),
        "What every case has, unless it says `inherit: false`.",
    ),
    "include": k.Key(
        k.Kind(k.any_of(k.filled_list_of(k.TEXT.schema), k.NAME.schema), read=_includes),
        "Files with named rules and defaults.",
        (["shared/rules.eval.yaml"],),
    ),
}
_EVAL: Final = {"eval": k.Key(k.Kind(EVAL.schema, read=_block), "The criteria and the cases.")}
DOCUMENTS: Final = {
    Document.SUITE: {
        **_OWN,
        "prompt": PROMPT_SPEC["prompt"],
        "prompts": k.Key(
            VARIANTS,
            "Variants of the prompt by name; every case runs with each of them.",
            ({"short": "Weather in {{city}}?", "long": {"file": "prompts/long.md"}},),
        ),
        "prompt_file": k.Key(k.TEXT, "The path of the prompt, relative to this file.", ("prompts/review.md",)),
        "prompt_id": _PROMPT_ID,
        "inputs": PROMPT_SPEC["inputs"],
        **_SHARED,
        **_EVAL,
    },
    Document.PROMPT: {**_OWN, **{key: PROMPT_SPEC[key] for key in PROMPT_SPEC if key not in _OWN}, **_SHARED, **_EVAL},
    Document.CASES: {**_OWN, "prompt_id": _PROMPT_ID, "inputs": PROMPT_SPEC["inputs"], **_SHARED, **EVAL.keys},
    Document.SHARED: {**_SHARED, "description": _OWN["description"]},
}
"""The keys of each kind of document; those of a prompt file include PromptSpec's, most of which evalc keeps unread."""


def _document(kind: Document, keys: dict[str, k.Key]) -> k.Shape:
    foreign = ("id", "prompt") if kind is Document.PROMPT else None
    return k.Shape(f"a {kind.value}", keys, title=kind.value, where="in a suite", foreign=foreign, build=_build_suite)


_WITH_EVALS: Final = (Document.SUITE, Document.PROMPT, Document.CASES)
WITH_BLOCK: Final = {kind: _document(kind, DOCUMENTS[kind]) for kind in _WITH_EVALS}
"""The documents that hold their criteria and cases in `eval:`."""
FLAT: Final = {kind: _document(kind, {**DOCUMENTS[kind], **EVAL.keys}) for kind in _WITH_EVALS}
"""The documents that hold them at the top."""
SHARED: Final = k.Shape(
    "a shared rules file", DOCUMENTS[Document.SHARED], title=Document.SHARED.value, build=_build_shared
)
LANGUAGE: Final = (GATES, WITH_BLOCK[Document.SUITE], EVAL, CASE, TURN, USER)
"""The levels of an eval file, at which a key may belong that stands at another."""
HOLDS: Final = {
    **OF_CHECKS,
    **{
        key: each.holds.texts
        for keys in (
            *DOCUMENTS.values(),
            EVAL.keys,
            CRITERION.keys,
            USER.keys,
            TURN.keys,
            LABEL.keys,
            FOR_EACH.keys,
            CASE.keys,
        )
        for key, each in keys.items()
        if each.holds.texts
    },
}
"""Contents of the values of keys, where they differ from those of the mapping."""
