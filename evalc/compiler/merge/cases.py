"""Merges the defaults into each case of a suite, and attaches the rows of its table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, final

import msgspec

from evalc.compiler.merge.include import IncludeLibrary, Layer, Scope, Shared, check_uses
from evalc.compiler.merge.rows import Row, Rows, find_rows
from evalc.diagnostics.problem import Diagnostics
from evalc.dsl.nodes import Node
from evalc.dsl.tree import CaseTree, CheckTree, CheckUse, Str, SuiteTree
from evalc.source import Source


@final
class GivenInput(msgspec.Struct, frozen=True, gc=False):
    """An input, and the file that gives it."""

    source: Source
    name: Str
    value: Node


@final
class Picked(msgspec.Struct, frozen=True, gc=False):
    """The value of a field, and the file that gives it."""

    source: Source
    value: Any


@final
class PlacedCheck(msgspec.Struct, frozen=True, gc=False):
    """A check behind every `use:` that led to it: what it counts for there, and where its own names are looked up.

    `turn` is the number of the turn that it is about, None for the case as a whole.
    """

    source: Source
    scope: Scope
    tree: CheckTree
    criterion: tuple[Source, Str] | None
    weight: int | float
    turn: int | None = None


@final
class MergedCase(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """A case with what it takes in.

    Attributes:
        tree: the case as it was written.
        layers: its own fields, then the defaults, nearest first.
        picked: the fields that can hold one value and do, each as the nearest layer has it.
        checks: the checks, a tuple for each layer, the farthest first.
        rows: the rows that it stands for; None when it stands for itself.
        inputs_partial: it may have been meant to give or to inherit more inputs than it does.
        partial: something of it, of its defaults or of its rules was wrong and left out.
    """

    tree: CaseTree
    layers: tuple[Layer, ...]
    picked: Mapping[str, Picked]
    checks: tuple[tuple[PlacedCheck, ...], ...]
    rows: Rows | None
    inputs_partial: bool
    partial: bool

    def pick(self, field: str) -> Picked | None:
        """A field that can hold one value: the nearest one."""
        return self.picked.get(field)

    def inputs(self, row: Row | None) -> dict[str, GivenInput]:
        """The inputs by name: the defaults', over them the case's, over them the row's."""
        given: dict[str, GivenInput] = {}
        for layer in reversed(self.layers):
            source = layer.fields.source
            for item in layer.fields.inputs or ():
                given[item.name.value] = GivenInput(source, item.name, item.value)
        if row is not None:
            given |= {cell.name.value: GivenInput(row.source, cell.name, cell.value) for cell in row.cells}
        return given

    def tags(self) -> tuple[str, ...] | None:
        """The tags of the defaults and the case's own, each once."""
        given = [layer.fields.tags for layer in reversed(self.layers) if layer.fields.tags is not None]
        return tuple(dict.fromkeys(tag for tags in given for tag in tags)) if given else None

    def allowed(self) -> dict[str, str] | None:
        """The faults that do not count for the case, each with its reason. The case's own override the defaults'."""
        given = [layer.fields.allow for layer in reversed(self.layers) if layer.fields.allow is not None]
        return {name: reason for allowed in given for name, reason in allowed} or None


@final
class MergedSuite(msgspec.Struct, frozen=True, kw_only=True):
    """A suite with its cases as they are meant; `files` are its own and those that it includes."""

    tree: SuiteTree
    cases: tuple[MergedCase, ...]
    files: frozenset[str]


def merge(tree: SuiteTree, library: IncludeLibrary, problems: Diagnostics) -> MergedSuite:
    """Open what a suite includes, and lay its defaults under its cases."""
    shared = library.open(tree.shared, problems)
    nothing = _Inherited()
    defaults = _inherited(shared)
    cases: list[MergedCase] = []
    for case in tree.cases:
        inherited = defaults if case.inherits else nothing
        own = Layer(fields=case, scope=shared.scope)
        rows = None if case.for_each is None else find_rows(tree.source, case.for_each, problems)
        uses_are_whole = check_uses(shared.scope, tree.source, case.checks, problems)
        cases.append(
            MergedCase(
                tree=case,
                layers=(own, *inherited.layers),
                picked=_picked(own, inherited.picked),
                checks=(*inherited.checks, _checks(own)),
                rows=rows,
                inputs_partial=case.inputs_partial
                or inherited.inputs_partial
                or (case.for_each is not None and rows is None),
                partial=case.partial
                or inherited.partial
                or not uses_are_whole
                or (case.for_each is not None and rows is None),
            )
        )
    return MergedSuite(tree=tree, cases=tuple(cases), files=shared.files)


@final
class _Inherited(msgspec.Struct, frozen=True, kw_only=True):
    """What cases take in from the defaults, as `MergedCase` has it."""

    layers: tuple[Layer, ...] = ()
    picked: Mapping[str, Picked] = {}
    checks: tuple[tuple[PlacedCheck, ...], ...] = ()
    inputs_partial: bool = False
    partial: bool = False


def _inherited(shared: Shared) -> _Inherited:
    picked: Mapping[str, Picked] = {}
    for layer in reversed(shared.defaults):
        picked = _picked(layer, picked)
    return _Inherited(
        layers=shared.defaults,
        picked=picked,
        checks=tuple(_checks(layer) for layer in reversed(shared.defaults)),
        inputs_partial=shared.scope.partial or any(layer.fields.inputs_partial for layer in shared.defaults),
        partial=shared.scope.partial or not all(map(_is_whole, shared.defaults)),
    )


def _picked(layer: Layer, farther: Mapping[str, Picked]) -> Mapping[str, Picked]:
    """What a layer and those behind it say of the fields that can hold one value."""
    fields = layer.fields
    given = [(name, value) for name in _PICKED if (value := getattr(fields, name)) is not None]
    return {**farther, **{name: Picked(fields.source, value) for name, value in given}} if given else farther


_PICKED: Final = ("difficulty", "max_turns", "threshold", "repeat", "require", "label")


def _is_whole(layer: Layer) -> bool:
    unheard = Diagnostics()  # unknown rules of defaults were reported where these were opened
    return not layer.fields.partial and check_uses(layer.scope, layer.fields.source, layer.fields.checks, unheard)


def _checks(layer: Layer) -> tuple[PlacedCheck, ...]:
    placed: list[PlacedCheck] = []
    _place(layer.fields.source, layer.scope, layer.fields.checks, None, 1, placed, None)
    return tuple(placed)


def _place(
    source: Source,
    scope: Scope,
    checks: tuple[CheckTree, ...],
    criterion: tuple[Source, Str] | None,
    weight: int | float,
    placed: list[PlacedCheck],
    turn: int | None,
) -> None:
    """Put the checks behind those that are placed, every `use:` opened.

    A criterion at a `use:` holds for all its checks; weights are multiplied.
    """
    for tree in checks:
        own = criterion or (None if tree.criterion is None else (source, tree.criterion))
        if not isinstance(tree.body, CheckUse):
            placed.append(PlacedCheck(source, scope, tree, own, tree.weight * weight, tree.turn or turn))
        elif (rule := scope.rules.get(tree.body.name.value)) is not None:
            within = tree.turn or turn
            _place(rule.tree.source, rule.scope, rule.tree.checks, own, tree.weight * weight, placed, within)
