"""Emits the checks of a case and of its layers in canonical order, and their links to criteria."""

from __future__ import annotations

import re
from collections.abc import Iterator, Set
from operator import attrgetter
from typing import Final, final

import msgspec

from evalc.base.source import Span
from evalc.check.contract import judge_check, rank, single_values, without
from evalc.check.tree import At, Bounds, Check, Measure, Of, Test, Turn
from evalc.compiler import ir
from evalc.compiler.emit.check import CheckEmitter, is_plain
from evalc.compiler.emit.emission import Emission
from evalc.compiler.merge import Picked, PlacedCheck
from evalc.diagnostics import Finding
from evalc.diagnostics.raised import outside
from evalc.dsl.nodes import Node
from evalc.dsl.places import node_at
from evalc.dsl.tree import CheckLeaf
from evalc.ecma import class_name
from evalc.model import case as m
from evalc.model.numbers import WEIGHT


@final
class _Written(msgspec.Struct, frozen=True, gc=False):
    """A check, the criterion that it counts for and where that is named, and its weight."""

    check: ir.Check
    criterion: str | None = None
    criterion_at: ir.Where | None = None
    weight: int | float = 1


def checks_of(emission: Emission) -> tuple[tuple[ir.Check, ...], tuple[ir.Link, ...]]:
    """The checks of a case, what its nearer layers replace left out, and its links."""
    rubric = [] if emission.case.tree.rubric is None else _rubric(emission, emission.case.tree.rubric)
    dimensions = {dimension.dimension: 1 for dimension, _ in rubric} if rubric else {}
    written: list[_Written] = []
    for layer in emission.case.checks:
        brought = _brought(emission, layer, dimensions)
        written = [*_less_replaced(written, brought), *brought] if written else brought
    if rubric:
        judged = (ir.Check(check=judge_check(dimension), where=where) for dimension, where in rubric)
        written = [*map(_Written, judged), *written]
    label = emission.case.picked.get("label")
    if label is not None and (check := _label_check(emission, label)) is not None:
        written.append(_Written(check))
    if len(written) > 1:
        written = _in_order(written)
    return tuple(map(_check_of, written)), tuple(_links(written))


_check_of: Final = attrgetter("check")
_tree_of: Final = attrgetter("check.check")


def label_of(emission: Emission) -> m.Label | None:
    """The label that the agent should give, templates filled."""
    picked = emission.case.pick("label")
    expected = None if picked is None else emission.filled(picked.value.expected, "the label", picked.source)
    if picked is None or expected is None:
        return None
    path = picked.value.path
    return m.Label(expected=expected) if path is None else m.Label(expected=expected, source=f"at {path}")


def _label_check(emission: Emission, picked: Picked) -> ir.Check | None:
    """The check that the label of a case brings, at the label's place."""
    tree = emission.case.tree
    if tree.label is None and (
        tree.turns is not None or tree.user is not None
    ):  # an inherited one; its own was refused
        turns, span = ("user", tree.user.span) if tree.user is not None else ("turns", tree.span)
        emission.problems.add(tree.source, span, Finding("EV421", key="label", turns=turns))
        emission.failed = True
        return None
    label = label_of(emission)
    where = emission.at(picked.source, picked.value)
    return None if label is None else ir.Check(check=check_of_label(label), where=where)


def check_of_label(label: m.Label) -> Check:
    """The check that a label brings: the place, or the whole response without surrounding white space, is that text."""
    expected = class_name(label.expected, label.path)
    if label.path is None:
        escaped = _ESCAPED.sub(r"\\\g<0>", expected)
        return Test("matches", (rf"^\s*{escaped}\s*$", "u"))
    return Of(At(label.path), Test("equals", expected))


_ESCAPED: Final = re.compile(r"[\^$.*+?()\[\]{}|/\\]")


def _in_order(written: list[_Written]) -> list[_Written]:
    places = list(map(rank, map(_tree_of, written)))
    if places == sorted(places):
        return written
    return [written[index] for index in sorted(range(len(places)), key=places.__getitem__)]


def _brought(emission: Emission, layer: tuple[PlacedCheck, ...], dimensions: dict[str, int]) -> list[_Written]:
    """The checks of one layer, as they are written."""
    brought: list[_Written] = []
    emitter: CheckEmitter | None = None
    for placed in layer:
        source, tree = placed.source, placed.tree
        criterion, criterion_at = None, None
        if placed.criterion is not None:
            named_in, name = placed.criterion
            criterion, criterion_at = name.value, emission.at(named_in, name)
        where = tree.at if source is emission.home else ir.Located(source, tree.span)
        weight = placed.weight
        beyond = None if weight == 1 else outside("the weight", weight, WEIGHT)  # of several `use:`, multiplied
        if beyond is not None:
            emission.problems.add(source, tree.span, beyond)
        body = tree.body
        if placed.turn is None and isinstance(body, CheckLeaf) and is_plain(body.check):
            brought.append(_Written(ir.Check(check=body.check, where=where), criterion, criterion_at, weight))
            continue
        if emitter is None or emitter.scope is not placed.scope or emitter.source is not source:
            emitter = CheckEmitter(case=emission, source=source, scope=placed.scope)
        for made in emitter.emit(body):
            check = made if placed.turn is None else Of(Turn(placed.turn), made)
            if isinstance(check, Test) and check.predicate == "judge":
                check = _named(check, criterion, dimensions)
            item = ir.Check(check=check, where=where, names=emitter.names)
            brought.append(_Written(item, criterion, criterion_at, weight))
    return brought


def _named(check: Test, criterion: str | None, taken: dict[str, int]) -> Test:
    """The judge's check with a dimension of its own in the case: the criterion's name, else the question's words.

    `taken` holds the known names, each with the last number that was added to it.
    """
    name = base = check.operand[0] if criterion is None else criterion
    while name in taken:
        taken[base] += 1
        name = f"{base}-{taken[base]}"
    taken[name] = 1
    return Test("judge", (name, *check.operand[1:]))


def _less_replaced(written: list[_Written], nearer: list[_Written]) -> Iterator[_Written]:
    """The checks without those whose one value is replaced by a nearer one."""
    replaced = {name for entry in nearer for name in single_values(entry.check.check).values()}
    for entry in written:
        rest = without(entry.check.check, replaced)
        if rest is entry.check.check:
            yield entry
        elif rest is not None:
            yield msgspec.structs.replace(entry, check=msgspec.structs.replace(entry.check, check=rest))


def _rubric(emission: Emission, rubric: Node) -> list[tuple[m.RubricDimension, Span]]:
    """The dimensions of a `rubric:` block, each where it was written; of two with one name, the first."""
    source = emission.case.tree.source
    dimensions = emission.typed(source, rubric, tuple[m.RubricDimension, ...], "`rubric`")
    found: dict[str, tuple[m.RubricDimension, Span]] = {}
    for index, dimension in enumerate(dimensions or ()):
        here = dimension, node_at(rubric, f"/{index}").span
        earlier = found.setdefault(dimension.dimension, here)
        if earlier is not here:
            emission.failed = True
            line = source.position(earlier[1].start).line
            finding = Finding("EV206", what="dimension", name=dimension.dimension, line=line)
            emission.problems.add(source, node_at(rubric, f"/{index}/dimension").span, finding)
    return list(found.values())


# --- links -----------------------------------------------------------------------------------------------------------


def _links(written: list[_Written]) -> list[ir.Link]:
    """The links of the checks that count for a criterion, by another weight than 1, or apart from their other half."""
    apart = _halves(written)
    links: list[ir.Link] = []
    for index, entry in enumerate(written):
        if entry.criterion is not None or entry.weight != 1 or index in apart:
            where = entry.check.where if entry.criterion_at is None else entry.criterion_at
            links.append(ir.Link(criterion=entry.criterion, checks=(index,), weight=entry.weight, where=where))
    return links


def _halves(written: list[_Written]) -> Set[int]:
    """The lower and the upper bound on lines of their own, by index.

    Together they fill the two fields of one range, which would count as one check if nothing linked them apart.
    """
    halves: dict[tuple[str, bool], int] = {}
    for index, entry in enumerate(written):
        match entry.check.check:
            case Of(Measure("chars" | "calls" as of, ""), Test("between", Bounds(low, high, None, None))):
                if low and high is None:
                    halves.setdefault((of, False), index)
                elif high and low is None:
                    halves.setdefault((of, True), index)
    return {index for (of, is_upper), index in halves.items() if (of, not is_upper) in halves} if halves else set()
