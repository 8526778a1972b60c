"""Merges the defaults into each case of a suite, and attaches the rows of its table."""

from __future__ import annotations

from collections.abc import Mapping
from operator import attrgetter
from typing import Any, Final, final

import msgspec

from evalc.base.source import Source
from evalc.compiler.libraries import IncludeLibrary, Layer, Scope, Shared, check_uses
from evalc.compiler.rows import Row, Rows, find_rows
from evalc.diagnostics import Diagnostics
from evalc.dsl.build_case import CaseFields, CaseTree
from evalc.dsl.build_suite import SuiteTree
from evalc.dsl.nodes import Node
from evalc.dsl.tree import CheckTree, CheckUse, Str


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
class GivenText(msgspec.Struct, frozen=True, gc=False):
    """A text of a case, and the file that gives it."""

    source: Source
    text: Str


@final
class PlacedCheck(msgspec.Struct, frozen=True, gc=False):
    """A check, after every `use:` that led to it: what it counts for there, and where its own names are looked up.

    `turn` is the number of the turn that it is about, None for the case as a whole.
    """

    source: Source
    scope: Scope
    tree: CheckTree
    criterion: tuple[Source, Str] | None
    weight: int | float
    turn: int | None = None


@final
class MergedCase(msgspec.Struct, frozen=True, kw_only=True, eq=False, gc=False):
    """A case with what it takes in."""

    tree: CaseTree  # the case as it was written
    layers: tuple[Layer, ...]  # its own fields, then the defaults, nearest first
    picked: Mapping[str, Picked]  # the fields that can hold one value and do, each as the nearest layer has it
    inherited: tuple[tuple[PlacedCheck, ...], ...]  # the checks of the defaults, a tuple for each layer, farthest first
    own: tuple[PlacedCheck, ...] | None  # its own, if it is repeated for rows; those of others are made when asked for
    tags: tuple[GivenText, ...] | None  # the tags of the defaults and the case's own
    # the faults that do not count for the case, each with its reason; its own override the defaults'
    allowed: Mapping[str, GivenText]
    rows: Rows | None  # the rows that it is repeated for; None if it has none
    inputs_partial: bool  # it may have been meant to give or to inherit more inputs than it does
    partial: bool  # something of it, of its defaults or of its rules was wrong and left out

    @property
    def checks(self) -> tuple[tuple[PlacedCheck, ...], ...]:
        """The checks, a tuple for each layer, the farthest first."""
        return (*self.inherited, _checks(self.layers[0]) if self.own is None else self.own)

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
        called = case.name if case.id is None else case.id
        rows = None if case.for_each is None else find_rows(tree.source, case.for_each, called.value, problems)
        uses_are_whole = check_uses(shared.scope, tree.source, case.checks, problems)
        cases.append(
            MergedCase(
                tree=case,
                layers=(own, *inherited.layers),
                picked=_picked(own, inherited.picked),
                inherited=inherited.checks,
                own=None if case.for_each is None else _checks(own),
                tags=inherited.tags if case.tags is None else _tags(case, inherited.tags),
                allowed=inherited.allowed if case.allow is None else _allowed(case, inherited.allowed),
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
    """The part of a `MergedCase` that comes from the defaults."""

    layers: tuple[Layer, ...] = ()
    picked: Mapping[str, Picked] = {}
    checks: tuple[tuple[PlacedCheck, ...], ...] = ()
    tags: tuple[GivenText, ...] | None = None
    allowed: Mapping[str, GivenText] = {}
    inputs_partial: bool = False
    partial: bool = False


def _inherited(shared: Shared) -> _Inherited:
    picked: Mapping[str, Picked] = {}
    tags: tuple[GivenText, ...] | None = None
    allowed: Mapping[str, GivenText] = {}
    for layer in reversed(shared.defaults):
        picked = _picked(layer, picked)
        tags = _tags(layer.fields, tags)
        allowed = _allowed(layer.fields, allowed)
    return _Inherited(
        layers=shared.defaults,
        picked=picked,
        checks=tuple(_checks(layer) for layer in reversed(shared.defaults)),
        tags=tags,
        allowed=allowed,
        inputs_partial=shared.scope.partial or any(layer.fields.inputs_partial for layer in shared.defaults),
        partial=shared.scope.partial or not all(map(_is_whole, shared.defaults)),
    )


def _tags(fields: CaseFields, farther: tuple[GivenText, ...] | None) -> tuple[GivenText, ...] | None:
    if fields.tags is None:
        return farther
    return (*(farther or ()), *(GivenText(fields.source, tag) for tag in fields.tags))


def _allowed(fields: CaseFields, farther: Mapping[str, GivenText]) -> Mapping[str, GivenText]:
    if not fields.allow:
        return farther
    merged = {name: GivenText(fields.source, why) for name, why in fields.allow if why is not None}
    names = {name for name, _ in fields.allow}
    return {name: given for name, given in farther.items() if name not in names} | merged


def _picked(layer: Layer, farther: Mapping[str, Picked]) -> Mapping[str, Picked]:
    """The single values of a layer and those below it."""
    fields = layer.fields
    values = _values_picked(fields)
    if values == _NONE_PICKED:
        return farther
    given = {
        name: Picked(fields.source, value) for name, value in zip(_PICKED, values, strict=True) if value is not None
    }
    return {**farther, **given}


_PICKED: Final = ("difficulty", "max_turns", "threshold", "repeat", "require", "label")
_NONE_PICKED: Final = (None,) * len(_PICKED)
_values_picked: Final = attrgetter(*_PICKED)


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
    """Put the checks after those that are placed, every `use:` opened.

    A criterion at a `use:` holds for all its checks; weights are multiplied.
    """
    for tree in checks:
        own = criterion or (None if tree.criterion is None else (source, tree.criterion))
        if not isinstance(tree.body, CheckUse):
            placed.append(PlacedCheck(source, scope, tree, own, tree.weight * weight, tree.turn or turn))
        elif (rule := scope.rules.get(tree.body.name.value)) is not None:
            within = tree.turn or turn
            _place(rule.tree.source, rule.scope, rule.tree.checks, own, tree.weight * weight, placed, within)
