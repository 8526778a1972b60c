"""From a suite tree and its names to the IR: messages filled, defaults put in, checks in the canonical order."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeVar

import msgspec

from evalc.compiler import ir
from evalc.compiler.emit_check import CheckEmitter
from evalc.compiler.fill import Inputs, fill, plain, text_of_input, tokens, variables
from evalc.compiler.order import rank
from evalc.compiler.resolve import Names
from evalc.compiler.schemas import SchemaLoader
from evalc.compiler.shape import is_timestamp, mismatches, unescape
from evalc.diagnostics.catalogue.contract import MessageFromInputs, NothingToSend, TokenNotAllowed
from evalc.diagnostics.catalogue.names import UnknownVariable
from evalc.diagnostics.catalogue.values import BadTimestamp, OutOfRange
from evalc.diagnostics.problem import Diagnostics
from evalc.dsl.nodes import Mapping, Node, Sequence, span_of
from evalc.dsl.places import locate
from evalc.dsl.scalars import to_plain
from evalc.dsl.tree import CaseTree, CriterionTree, Num, Str, SuiteTree
from evalc.grammar.parse import parse_template
from evalc.model import case as m
from evalc.model import checks as c
from evalc.model.assertions import judge
from evalc.source import Source, Span

T = TypeVar("T")
_Written = tuple[ir.Check, Str | None, int | float]
"""A check, the criterion that it counts for, and its weight."""


def emit(tree: SuiteTree, names: Names, schemas: SchemaLoader, problems: Diagnostics) -> ir.Suite:
    """The IR of a suite; what could not be emitted is reported, and its case says that it is partial."""
    source = tree.source
    tier: m.Tier = msgspec.convert(tree.tier.value, m.Tier) if tree.tier is not None else "labeled"
    criteria = tuple(map(_criterion, tree.criteria))
    cases = [_case(tree, case, tier, names, schemas, problems) for case in tree.cases]
    return ir.Suite(
        source=source,
        name=names.suite,
        tool=names.tool,
        tier=tier,
        tool_version=_value(tree.tool_version),
        tool_description=_value(tree.tool_description),
        registry_size=None if tree.registry_size is None else int(tree.registry_size.value),
        criteria=criteria,
        threshold=_share(source, tree.threshold, problems),
        cases=cases,
        where=tree.span,
        locate=_locate,
        partial=tree.partial or not cases,
    )


def _locate(where: ir.Where) -> Span:
    return where if isinstance(where, Span) else Span(0, 0)


def _criterion(tree: CriterionTree) -> ir.Criterion:
    return ir.Criterion(
        name=tree.name.value,
        weight=1 if tree.weight is None else tree.weight.value,
        description=tree.description,
        where=tree.weight.span if tree.weight is not None else tree.name.span,
    )


def _case(
    tree: SuiteTree, case: CaseTree, tier: m.Tier, names: Names, schemas: SchemaLoader, problems: Diagnostics
) -> ir.Case:
    source = tree.source
    inputs = names.inputs_of(case)
    declared = names.declared_for(case)
    known = frozenset(inputs) | frozenset(declared or ())
    emitter = CheckEmitter(source=source, inputs=inputs, known=known, schemas=schemas, problems=problems)
    own_tier: m.Tier = tier if case.tier is None else msgspec.convert(case.tier.value, m.Tier)
    message = _message(tree, case, names, inputs, known, problems)
    rubric = _typed(source, case.rubric, tuple[m.RubricDimension, ...], "`rubric`", problems) or ()
    checks, links = _checks(case, emitter, rubric)
    difficulty: m.Difficulty | None = None
    if case.difficulty is not None:
        difficulty = msgspec.convert(case.difficulty.value, m.Difficulty)
    elif own_tier in ("labeled", "regression"):
        difficulty = "regression" if own_tier == "regression" else "straightforward"
    if case.created_at is not None and not is_timestamp(case.created_at.value):
        problems.add(source, case.created_at.span, BadTimestamp(value=case.created_at.value))
    return ir.Case(
        id=case.id.value if case.id is not None else f"{names.suite}/{case.name.value}",
        name=case.name.value,
        description=_text(case.description, case, inputs, known, source, problems) or case.name.value,
        tier=own_tier,
        difficulty=difficulty,
        created_at=_value(case.created_at),
        bug_ref=_value(case.bug_ref),
        message=message or "",
        messages=_messages(case, inputs, known, source, problems),
        inputs=_plain_inputs(case),
        stubs=_mapping(source, case.stubs, "`stubs`", problems),
        max_turns=_positive(source, case.max_turns, "`max_turns`", problems),
        checks=checks,
        links=links,
        reference_data=_mapping(source, case.reference_data, "`reference_data`", problems),
        expected=_text(case.expected, case, inputs, known, source, problems),
        threshold=_share(source, case.threshold, problems),
        tags=case.tags,
        where=case.span,
        wheres=dict(_wheres(tree, case, names)),
        partial=case.partial or message is None or emitter.failed,
    )


# --- checks --------------------------------------------------------------------------------------------------------


def _checks(
    case: CaseTree, emitter: CheckEmitter, rubric: tuple[m.RubricDimension, ...]
) -> tuple[tuple[ir.Check, ...], tuple[ir.Link, ...]]:
    """The checks in the canonical order, and the links whose indexes count in it."""
    written: list[_Written] = [(item, None, 1) for item in _rubric(case, rubric)]
    dimensions = {dimension.dimension: 1 for dimension in rubric}
    for tree in case.checks:
        for check in emitter.emit(tree.body):
            named = _named(check, tree.criterion, dimensions) if isinstance(check, c.Judge) else check
            written.append((ir.Check(check=named, where=tree.span), tree.criterion, tree.weight))
    written.sort(key=lambda entry: rank(entry[0].check))
    apart = _halves(written)
    links = tuple(
        ir.Link(
            criterion=None if criterion is None else criterion.value,
            checks=(index,),
            weight=weight,
            where=check.where if criterion is None else criterion.span,
        )
        for index, (check, criterion, weight) in enumerate(written)
        if criterion is not None or weight != 1 or index in apart
    )
    return tuple(check for check, _, _ in written), links


def _rubric(case: CaseTree, rubric: tuple[m.RubricDimension, ...]) -> Iterator[ir.Check]:
    """The dimensions of a `rubric:` block, each where it was written."""
    for index, dimension in enumerate(rubric):
        assert case.rubric is not None  # noqa: S101 - for the type checker: the dimensions stand there
        yield ir.Check(check=judge(dimension), where=span_of(_node_at(case.rubric, f"/{index}")))


def _named(check: c.Judge, criterion: Str | None, taken: dict[str, int]) -> c.Judge:
    """The judge's check with a dimension of its own in the case: the criterion's name, else the question's words.

    `taken` holds the names that there are, each with the last number that was put behind it.
    """
    name = base = check.dimension if criterion is None else criterion.value
    while name in taken:
        taken[base] += 1
        name = f"{base}-{taken[base]}"
    taken[name] = 1
    return msgspec.structs.replace(check, dimension=name)


def _halves(written: list[_Written]) -> frozenset[int]:
    """The lower and the upper bound that stand on lines of their own, by index.

    Together they fill the two fields of one range, which would count as one check if nothing linked them apart.
    """
    halves: dict[tuple[type, bool], int] = {}
    for index, (item, _, _) in enumerate(written):
        check = item.check
        if isinstance(check, c.ToolCount) or (isinstance(check, c.Length) and check.unit == "chars"):
            if check.min and check.max is None:
                halves.setdefault((type(check), False), index)
            elif check.max and check.min is None:
                halves.setdefault((type(check), True), index)
    return frozenset(index for (kind, is_upper), index in halves.items() if (kind, not is_upper) in halves)


# --- texts ---------------------------------------------------------------------------------------------------------


def _message(
    tree: SuiteTree,
    case: CaseTree,
    names: Names,
    inputs: Inputs,
    known: frozenset[str],
    problems: Diagnostics,
) -> str | None:
    """What is sent; None when there is nothing or when it could not be made."""
    if case.message is not None:
        return _text(case.message, case, inputs, known, tree.source, problems)
    prompt = names.prompt_of(case)
    if prompt is not None:
        return None if prompt.template is None else fill(prompt.template, inputs)
    if case.prompt_id is not None or names.wants_prompt:
        return None
    if case.messages is not None and not (isinstance(case.messages, Sequence) and not case.messages.items):
        return ""
    if case.inputs:
        problems.add(tree.source, case.inputs_span or case.span, MessageFromInputs(case=case.name.value))
        return "\n".join(f"{item.name.value}: {text_of_input(item.value)}" for item in case.inputs)
    if not case.partial:
        problems.add(tree.source, case.span, NothingToSend(case=case.name.value))
    return None


def _messages(
    case: CaseTree, inputs: Inputs, known: frozenset[str], source: Source, problems: Diagnostics
) -> tuple[m.Message, ...] | None:
    """The messages of a conversation, the templates in their contents filled."""
    messages = _typed(source, case.messages, tuple[m.Message, ...], "`messages`", problems)
    if messages is None or case.messages is None:
        return None
    filled: list[m.Message] = []
    for index, message in enumerate(messages):
        written = _node_at(case.messages, f"/{index}/content")
        content = _text(Str(message.content, span_of(written)), case, inputs, known, source, problems)
        filled.append(m.Message(role=message.role, content=content or ""))
    return tuple(filled)


def _text(
    text: Str | None,
    case: CaseTree,
    inputs: Inputs,
    known: frozenset[str],
    source: Source,
    problems: Diagnostics,
) -> str | None:
    """A text of a case with its templates filled; None when it is absent or has faults."""
    if text is None or "{{" not in text.value:
        return None if text is None else text.value
    parse = parse_template(text.value)
    for fault in parse.faults:
        problems.add(source, locate(source, text.span, fault.start, fault.end), fault.finding)
    if parse.node is None:
        return None
    for variable, _ in variables(parse.node.parts):
        if variable.name not in known:
            finding = UnknownVariable(name=variable.name, known=tuple(sorted(known)), case=case.name.value)
            problems.add(source, locate(source, text.span, variable.start, variable.end), finding)
    for token in tokens(parse.node.parts):
        where = "a message" if text is case.message else "this text"
        span = locate(source, text.span, token.start, token.end)
        problems.add(source, span, TokenNotAllowed(token=token.text, where=where))
    return fill(parse.node, inputs)


# --- plain values --------------------------------------------------------------------------------------------------


def _value(text: Str | None) -> str | None:
    return None if text is None else text.value


def _plain_inputs(case: CaseTree) -> dict[str, Any] | None:
    return {item.name.value: plain(item.value) for item in case.inputs} if case.inputs else None


def _mapping(source: Source, node: Node | None, what: str, problems: Diagnostics) -> dict[str, Any] | None:
    return _typed(source, node, dict[str, Any], what, problems)


def _typed(source: Source, node: Node | None, type_: type[T], what: str, problems: Diagnostics) -> T | None:
    """A node as a value of a type of the model; what does not fit is reported."""
    if node is None:
        return None
    data = to_plain(node, lambda span, finding: problems.add(source, span, finding))
    faults = tuple(mismatches(data, type_, what=what))
    for pointer, finding in faults:
        problems.add(source, span_of(_node_at(node, pointer)), finding)
    return None if faults else msgspec.convert(data, type_)


def _node_at(node: Node, pointer: str) -> Node:
    """The node that a JSON pointer leads to from another one; with a leading `#`, its key."""
    key: Node = node
    for step in pointer.removeprefix("#").split("/")[1:]:
        name = unescape(step)
        if isinstance(node, Sequence):
            key = node = node.items[int(name)]
        elif isinstance(node, Mapping):
            key, node = next(pair for pair in node.pairs if pair[0].text == name)
    return key if pointer.startswith("#") else node


def _share(source: Source, number: Num | None, problems: Diagnostics) -> int | float | None:
    if number is not None and not 0 <= number.value <= 1:
        finding = OutOfRange(what="`threshold`", value=f"{number.value}", allowed="between 0 and 1")
        problems.add(source, number.span, finding)
        return None
    return None if number is None else number.value


def _positive(source: Source, number: Num | None, what: str, problems: Diagnostics) -> int | None:
    if number is not None and number.value < 1:
        problems.add(source, number.span, OutOfRange(what=what, value=f"{number.value}", allowed="1 or more"))
        return None
    return None if number is None else int(number.value)


def _wheres(tree: SuiteTree, case: CaseTree, names: Names) -> Iterator[tuple[str, ir.Where]]:
    """Where the fields of the case were written, by their JSON pointers."""
    prompt = names.prompt_of(case)
    if case.message is not None:
        yield "/input/message", case.message.span
    elif prompt is not None and prompt.tree.source is tree.source:
        yield "/input/message", prompt.tree.text.span
    for pointer, text in (
        ("/id", case.id),
        ("/description", case.description),
        ("/difficulty", case.difficulty),
        ("/createdAt", case.created_at),
        ("/bugRef", case.bug_ref),
        ("/expected", case.expected),
        ("/threshold", case.threshold),
    ):
        if text is not None:
            yield pointer, text.span
    if case.inputs_span is not None:
        yield "/input/inputs", case.inputs_span
