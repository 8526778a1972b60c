"""Reads the files that `include:` names, and those that they include, for their rules and defaults."""

from __future__ import annotations

from graphlib import CycleError, TopologicalSorter
from itertools import repeat
from operator import attrgetter
from pathlib import Path
from typing import Final, final

import msgspec

from evalc.base.files import is_below, project_root
from evalc.base.source import Source, Span
from evalc.compiler.discover import shown
from evalc.diagnostics.problem import Diagnostics, Finding
from evalc.dsl.build_case import CaseFields
from evalc.dsl.build_suite import RuleTree, SharedTree, build_shared_file
from evalc.dsl.document_kind import Kind, kind_of_document
from evalc.dsl.nodes import Mapping
from evalc.dsl.read_yaml import read_yaml
from evalc.dsl.sources import read_source
from evalc.dsl.tree import CheckBody, CheckGroup, CheckTree, CheckUse, Str

LARGEST_RULE: Final = 10_000
"""How many checks a rule may insert, including those of the rules that it uses."""

DEEPEST_RULE: Final = 100
"""How many levels of compositions and of rules that use rules there may be."""


@final
class NamedRule(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """A named rule, and where the names that it uses are looked up."""

    tree: RuleTree
    scope: Scope
    size: int  # how many checks it inserts, including those of the rules that it uses
    depth: int  # how many levels of compositions and rules there are in it
    partial: bool  # something of it, or of a rule that it uses, was wrong and left out


@final
class Scope(msgspec.Struct, frozen=True, eq=False):
    """The rules that `use:` can name in one document: its own, and those that it includes.

    `partial` says that there may have been more: a file could not be included, or a list of rules be read.
    """

    rules: dict[str, NamedRule] = msgspec.field(default_factory=dict)
    partial: bool = False


@final
class Layer(msgspec.Struct, frozen=True, kw_only=True, eq=False, gc=False):
    """Fields of a case from one document; their rules are looked up there."""

    fields: CaseFields
    scope: Scope


@final
class Shared(msgspec.Struct, frozen=True, kw_only=True):
    """Rules by name, and the defaults, nearest first, that a document offers its cases.

    `files` are the names of the files that it comes from: its own, and those that it includes.
    """

    scope: Scope
    defaults: tuple[Layer, ...]
    files: frozenset[str] = frozenset()


@final
class IncludeLibrary:
    """The shared rules files of a compilation, each read once."""

    def __init__(self) -> None:
        self._opened: dict[Path, Shared | None] = {}

    def open(self, tree: SharedTree, problems: Diagnostics, trail: tuple[Path, ...] = ()) -> Shared:
        """Open what a document shares with its cases; `trail` are the files that are being opened on the way to it."""
        way = (*trail, Path(tree.source.name).resolve())
        opened = [(file, self._include(tree.source, file, problems, way)) for file in tree.includes]
        torn = any(included is None or included.scope.partial for _, included in opened)
        scope = Scope(partial=tree.partial or torn)
        defaults: list[Layer] = []
        for file, included in opened:
            if included is not None:
                defaults = [*included.defaults, *(layer for layer in defaults if layer not in included.defaults)]
                _take_in(scope, included.scope, tree.source, file, problems)
        if tree.defaults is not None:
            defaults.insert(0, Layer(fields=tree.defaults, scope=scope))
        _declare(scope, tree.rules, problems)
        check_uses(scope, tree.source, tree.defaults.checks if tree.defaults is not None else (), problems)
        files = frozenset(name for _, included in opened if included is not None for name in included.files)
        return Shared(scope=scope, defaults=tuple(defaults), files=files | {tree.source.name})

    def _include(self, source: Source, file: Str, problems: Diagnostics, trail: tuple[Path, ...]) -> Shared | None:
        path = Path(source.name).parent / file.value
        root = project_root(Path(source.name))
        if not is_below(path, root):
            problems.add(source, file.span, Finding("EV608", path=file.value, root=str(root)))
            return None
        real = path.resolve()
        if real in trail:
            names = " -> ".join(step.name for step in (*trail[trail.index(real) :], real))
            problems.add(
                source, file.span, Finding("EV615", path=file.value, reason=f"it comes back to itself: {names}")
            )
            return None
        if real not in self._opened:
            self._opened[real] = None
            tree = _read(path, source, file, problems)
            self._opened[real] = None if tree is None else self.open(tree, problems, trail)
        elif self._opened[real] is None:
            problems.add(source, file.span, Finding("EV615", path=file.value, reason="it is not a shared rules file"))
        return self._opened[real]


def _read(path: Path, includer: Source, file: Str, problems: Diagnostics) -> SharedTree | None:
    """The tree of a file that is included; None if it has none."""

    def report(source: Source, span: Span, finding: Finding) -> None:
        """Mistakes in the text are reported there; a missing file, where it is named."""
        problems.add(*((source, span) if source.text else (includer, file.span)), finding)

    source = read_source(path, report, name=shown(path))
    if source is None:
        return None
    documents = read_yaml(source, lambda span, finding: problems.add(source, span, finding))
    first = documents[0] if documents else None
    if len(documents) != 1 or not isinstance(first, Mapping) or kind_of_document(first) is not Kind.SHARED:
        reason = "it is not a shared rules file (`rules:`, `defaults:`, `include:`, and no cases)"
        problems.add(includer, file.span, Finding("EV615", path=file.value, reason=reason))
        return None
    return build_shared_file(source, first, problems)


def _take_in(scope: Scope, included: Scope, source: Source, file: Str, problems: Diagnostics) -> None:
    """Bring the rules of a file into a scope; two of one name from two files are a mistake."""
    for name, rule in included.rules.items():
        if scope.rules.setdefault(name, rule) is not rule:
            problems.add(source, file.span, Finding("EV206", what="rule", name=name))


def _declare(scope: Scope, trees: tuple[RuleTree, ...], problems: Diagnostics) -> None:
    """Put a document's own rules into its scope, each after those that it uses, without those that would never end."""
    own = {tree.name.value: tree for tree in trees}
    for name, tree in own.items():
        if name in scope.rules:
            problems.add(tree.source, tree.name.span, Finding("EV206", what="rule", name=name))
            del scope.rules[name]
    for name in _in_order(own, problems):
        scope.rules[name] = _rule(own[name], scope, problems)
    for tree in trees:
        check_uses(scope, tree.source, tree.checks, problems)


def _rule(tree: RuleTree, scope: Scope, problems: Diagnostics) -> NamedRule:
    used = [(level, scope.rules.get(use.name.value)) for use, level in uses(tree.checks)]
    size = len(tree.checks) + sum(rule.size for _, rule in used if rule is not None)
    depth = max((level + rule.depth for level, rule in used if rule is not None), default=0) + 1
    partial = tree.partial or any(rule is None or rule.partial for _, rule in used)
    if size > LARGEST_RULE or depth > DEEPEST_RULE:
        finding = Finding("EV611", limit=LARGEST_RULE) if size > LARGEST_RULE else Finding("EV610", limit=DEEPEST_RULE)
        problems.add(tree.source, tree.name.span, finding)
        tree = _emptied(tree)
        size, depth, partial = 0, 0, True
    return NamedRule(tree=tree, scope=scope, size=size, depth=depth, partial=partial)


def _in_order(own: dict[str, RuleTree], problems: Diagnostics) -> list[str]:
    """The names of the rules, each after those that it uses; a rule that uses itself is emptied."""
    used = {
        name: [use.name.value for use, _ in uses(tree.checks) if use.name.value in own] for name, tree in own.items()
    }
    while True:
        try:
            return list(TopologicalSorter(used).static_order())
        except CycleError as error:
            way: list[str] = error.args[1][:0:-1]  # from each rule to another that it uses
            first = min(way, key=lambda name: own[name].name.span)
            at = way.index(first)
            path = (*way[at:], *way[:at], first)
            problems.add(
                own[first].source, own[first].name.span, Finding("EV214", name=path[0], path=" -> ".join(path))
            )
            own[first] = _emptied(own[first])
            used[first] = []


def _emptied(tree: RuleTree) -> RuleTree:
    return RuleTree(source=tree.source, name=tree.name, partial=True)


def uses(checks: tuple[CheckTree, ...]) -> list[tuple[CheckUse, int]]:
    """Every `use:` in checks, and how many compositions it is in."""
    pending: list[tuple[CheckBody, int]] = [*zip(map(attrgetter("body"), checks), repeat(0))]
    found: list[tuple[CheckUse, int]] = []
    while pending:
        body, level = pending.pop()
        if isinstance(body, CheckUse):
            found.append((body, level))
        elif isinstance(body, CheckGroup):
            pending.extend((item, level + 1) for item in body.items)
    return found


def check_uses(scope: Scope, source: Source, checks: tuple[CheckTree, ...], problems: Diagnostics) -> bool:
    """Report uses of unknown rules, if all rules are known; return whether all are known and complete."""
    whole = True
    for use, _ in uses(checks):
        rule = scope.rules.get(use.name.value)
        if rule is None and not scope.partial:
            problems.add(source, use.name.span, Finding("EV213", name=use.name.value, known=tuple(scope.rules)))
        whole = whole and rule is not None and not rule.partial
    return whole
