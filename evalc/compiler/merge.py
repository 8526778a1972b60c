"""From a suite tree to its cases as they are meant: with the defaults, and with the rows that they stand for."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple, final

from evalc.compiler.include import IncludeLibrary, Layer, Scope, check_uses
from evalc.compiler.rows import Row, Rows, find_rows
from evalc.diagnostics.problem import Diagnostics
from evalc.dsl.nodes import Node
from evalc.dsl.tree import CaseTree, CheckTree, CheckUse, Str, SuiteTree
from evalc.source import Source


class GivenInput(NamedTuple):
    """An input, and the file that gives it."""

    source: Source
    name: Str
    value: Node


class Given(NamedTuple):
    """The value of a field, and the file that gives it."""

    source: Source
    value: Any


class PlacedCheck(NamedTuple):
    """A check behind every `use:` that led to it: what it counts for there, and where its own names are looked up."""

    source: Source
    scope: Scope
    tree: CheckTree
    criterion: tuple[Source, Str] | None
    weight: int | float


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class MergedCase:
    """A case with what it takes in.

    Attributes:
        tree: the case as it was written.
        layers: its own fields, then the defaults, nearest first.
        checks: the checks, a tuple for each layer, the farthest first.
        rows: the rows that it stands for; None when it stands for itself.
        inputs_partial: it may have been meant to give or to inherit more inputs than it does.
        partial: something of it, of its defaults or of its rules was wrong and left out.
    """

    tree: CaseTree
    layers: tuple[Layer, ...]
    checks: tuple[tuple[PlacedCheck, ...], ...]
    rows: Rows | None
    inputs_partial: bool
    partial: bool

    def pick(self, field: str) -> Given | None:
        """A field that can hold one value: the nearest one."""
        for layer in self.layers:
            value = getattr(layer.fields, field)
            if value is not None:
                return Given(layer.fields.source, value)
        return None

    def inputs(self, row: Row | None) -> dict[str, GivenInput]:
        """The inputs by name: the defaults', over them the case's, over them the row's."""
        given: dict[str, GivenInput] = {}
        for layer in reversed(self.layers):
            source = layer.fields.source
            given |= {item.name.value: GivenInput(source, item.name, item.value) for item in layer.fields.inputs or ()}
        if row is not None:
            given |= {cell.name.value: GivenInput(row.source, cell.name, cell.value) for cell in row.cells}
        return given

    def tags(self) -> tuple[str, ...] | None:
        """The tags of the defaults and the case's own, each once."""
        given = [layer.fields.tags for layer in reversed(self.layers) if layer.fields.tags is not None]
        return tuple(dict.fromkeys(tag for tags in given for tag in tags)) if given else None


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class MergedSuite:
    """A suite with its cases as they are meant."""

    tree: SuiteTree
    cases: tuple[MergedCase, ...]


def merge(tree: SuiteTree, library: IncludeLibrary, problems: Diagnostics) -> MergedSuite:
    """Open what a suite includes, and lay its defaults under its cases."""
    shared = library.open(tree.shared, problems)
    whole = {layer: _is_whole(layer) for layer in shared.defaults}
    brought = tuple(_checks(layer) for layer in reversed(shared.defaults))
    cases: list[MergedCase] = []
    for case in tree.cases:
        defaults = shared.defaults if case.inherits else ()
        lacks_defaults = case.inherits and shared.scope.partial
        own = Layer(fields=case, scope=shared.scope)
        rows = None if case.for_each is None else find_rows(tree.source, case.for_each, problems)
        uses_are_whole = check_uses(shared.scope, tree.source, case.checks, problems)
        cases.append(
            MergedCase(
                tree=case,
                layers=(own, *defaults),
                checks=(*(brought if case.inherits else ()), _checks(own)),
                rows=rows,
                inputs_partial=lacks_defaults
                or case.inputs_partial
                or any(layer.fields.inputs_partial for layer in defaults),
                partial=case.partial
                or lacks_defaults
                or not uses_are_whole
                or not all(whole[layer] for layer in defaults)
                or (case.for_each is not None and rows is None),
            )
        )
    return MergedSuite(tree=tree, cases=tuple(cases))


def _is_whole(layer: Layer) -> bool:
    unheard = Diagnostics()  # unknown rules of defaults were reported where these were opened
    return not layer.fields.partial and check_uses(layer.scope, layer.fields.source, layer.fields.checks, unheard)


def _checks(layer: Layer) -> tuple[PlacedCheck, ...]:
    return tuple(_placed(layer.fields.source, layer.scope, layer.fields.checks, None, 1))


def _placed(
    source: Source,
    scope: Scope,
    checks: tuple[CheckTree, ...],
    criterion: tuple[Source, Str] | None,
    weight: int | float,
) -> Iterator[PlacedCheck]:
    """The checks with every `use:` opened. A criterion at a `use:` holds for all its checks; weights are multiplied."""
    for tree in checks:
        own = criterion or (None if tree.criterion is None else (source, tree.criterion))
        if not isinstance(tree.body, CheckUse):
            yield PlacedCheck(source, scope, tree, own, tree.weight * weight)
        elif (rule := scope.rules.get(tree.body.name.value)) is not None:
            yield from _placed(rule.tree.source, rule.scope, rule.tree.checks, own, tree.weight * weight)
