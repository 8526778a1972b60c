"""Emits the IR of a suite: a case for each test case, each of its rows and each prompt compared."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from operator import attrgetter
from typing import Final, NamedTuple, final

import msgspec

from evalc.base.source import Source, Span
from evalc.base.terminal import counted
from evalc.check.contract import fields_of
from evalc.check.forms import type_of
from evalc.check.predicates import texts_of
from evalc.compiler import ir
from evalc.compiler.emit.case import CaseEmitter
from evalc.compiler.emit.emission import gates_of, number_of
from evalc.compiler.libraries import SchemaLoader
from evalc.compiler.lower import lower, own_assertions
from evalc.compiler.merge import MergedCase, MergedSuite
from evalc.compiler.names import Names, Variant, stem
from evalc.compiler.rows import Row, Rows
from evalc.diagnostics import Diagnostics, Finding, Problem
from evalc.dsl.build_suite import CriterionTree, SuiteTree
from evalc.dsl.scalars import to_plain
from evalc.dsl.tree import CheckBody, CheckLeaf, Str
from evalc.model import case as m
from evalc.model.suite import slug

MOST_FAULTS: Final = 10
"""How many problems of the rows of one case are reported one by one."""

MOST_KEPT: Final = 2_000
"""How many cases of one table are kept, rather than made anew each time."""


class Emitted(NamedTuple):
    """A suite whose cases are made one after the other."""

    suite: ir.Suite  # the suite, without its cases unless all of them are there at once
    # every case, as it is made. Those of long tables are made once more for whoever asks the suite for them.
    cases: Iterator[ir.Case]
    # the suite with what only its cases show, when all of them have gone by
    complete: Callable[[ir.Suite], ir.Suite] = lambda suite: suite
    has_tables: bool = False  # whether some cases are made from rows


def emit(suite: MergedSuite, names: Names, schemas: SchemaLoader, problems: Diagnostics) -> Emitted:
    """The IR of a suite; what cannot be emitted is reported, and its case says that it is partial.

    It is done with the suite and its tree when it returns; of the cases, it lets go of each that is made.
    """
    tree = suite.tree
    tier: m.Tier = msgspec.convert(tree.tier.value, m.Tier) if tree.tier is not None else "labeled"
    emitter = CaseEmitter(home=tree.source, tier=tier, names=names, schemas=schemas)
    parts: list[ir.Case | ir.CaseRows] = []
    emitted = ir.Suite(
        source=tree.source,
        name=names.suite,
        tool=names.tool,
        tier=tier,
        tool_version=_value(tree.tool_version),
        tool_description=_value(tree.tool_description),
        registry_size=None if tree.registry_size is None else int(tree.registry_size.value),
        criteria=tuple(map(_criterion, tree.criteria)),
        criteria_partial=tree.criteria_partial,
        weights_partial=tree.weights_partial,
        threshold=number_of(tree.source, tree.threshold, "threshold", problems),
        gates=gates_of(tree.source, tree.gates, problems),
        gate_places={} if tree.gates is None else tree.gates.places,
        prompts=tuple(_prompts(tree.source, names)),
        cases=ir.Cases(),
        where=tree.span,
        name_at=_first_of(tree, tree.name, tree.tool),
        named_after=_named_after(tree, names.suite),
        tool_at=_first_of(tree, tree.tool, tree.name),
        locate=_locate,
        partial=tree.partial or any(map(attrgetter("partial"), suite.cases)),
    )

    own, files = suite.files, frozenset(_files(suite, names))

    def complete(emitted: ir.Suite) -> ir.Suite:
        named = files.union(*map(schemas.named_in, own))
        is_partial = emitted.partial or not parts
        return msgspec.structs.replace(emitted, cases=ir.Cases(parts), files=named, partial=is_partial)

    return Emitted(
        suite=emitted,
        cases=_cases([*reversed(suite.cases)], names, emitter, parts, problems),
        complete=complete,
        has_tables=any(map(attrgetter("rows"), suite.cases)),
    )


def _first_of(tree: SuiteTree, *names: Str | None) -> Span:
    """The place of the first name that the suite has, else of what it is called after."""
    prompt_id = tree.prompt_id if tree.prompt is None else tree.prompt.id
    return next((name.span for name in (*names, prompt_id) if name is not None), tree.span)


def _named_after(tree: SuiteTree, name: str) -> str:
    if tree.name is not None:
        return ""
    has_prompt = tree.prompt_id is not None or (tree.prompt is not None and tree.prompt.id is not None)
    if not has_prompt or name == slug(stem(tree.source.name)):
        return "its file"
    return "its prompt's id" if tree.prompt_id is None else "its prompt's id and its path"


def _prompts(home: Source, names: Names) -> Iterator[ir.PromptTemplate]:
    """The prompts of the suite and of its cases, as far as they can be read."""
    given = [(variant.prompt, variant.defaults) for variant in names.variants]
    given += [
        (prompt, {each.name.value: each.default for each in prompt.tree.inputs or () if each.default is not None})
        for prompt in names.case_prompts.values()
    ]
    for prompt, defaults in given:
        if prompt is not None and prompt.template is not None:
            source, text = prompt.tree.source, prompt.tree.text
            where = text.at if source is home else ir.Located(source, text.span)
            values = {name: to_plain(node) for name, node in defaults.items()}
            yield ir.PromptTemplate(where=where, template=prompt.template, defaults=values)


def _files(suite: MergedSuite, names: Names) -> Iterator[str]:
    """The files that the suite is made of, but for the schemas that its checks name, each by its path."""
    yield from suite.files
    yield from (str(case.rows.path) for case in suite.cases if case.rows is not None and case.rows.path is not None)
    prompts = (*(variant.prompt for variant in names.variants), *names.case_prompts.values())
    yield from (prompt.tree.source.name for prompt in prompts if prompt is not None)


def _locate(where: Span | str) -> Span:
    return where if isinstance(where, Span) else Span(0, 0)


def _value(text: Str | None) -> str | None:
    return None if text is None else text.value


def _criterion(tree: CriterionTree) -> ir.Criterion:
    return ir.Criterion(
        name=tree.name.value,
        weight=1 if tree.weight is None else tree.weight.value,
        description=tree.description,
        where=tree.weight.span if tree.weight is not None else tree.name.span,
    )


def _cases(
    cases: list[MergedCase],
    names: Names,
    emitter: CaseEmitter,
    parts: list[ir.Case | ir.CaseRows],
    problems: Diagnostics,
) -> Iterator[ir.Case]:
    """Every case as it is made, the last of the list first.

    `parts` takes in those that are kept, and what those of many rows are made from.
    """
    while cases:
        case = cases.pop()
        variants = names.variants_of(case.tree)
        if case.rows is not None:
            checked = yield from _check_rows(case, case.rows, variants, emitter, problems)
            if checked.made is not None:
                parts += checked.made
            else:
                parts.append(_rows(case, case.rows, variants, emitter, checked))
        elif case.tree.for_each is None:
            for variant in variants:
                made = emitter.emit(case, None, variant, problems)
                parts.append(made)
                yield made


# --- rows ------------------------------------------------------------------------------------------------------------


@final
class _CheckedRows(msgspec.Struct, frozen=True, kw_only=True):
    """Findings about the rows of a case."""

    rows: int  # how many rows there are
    running: int  # how many of their cases are neither skipped nor archived
    sound: bool  # whether each row of the file is one of them
    clean: bool  # whether nothing at all is wrong with them
    made: list[ir.Case] | None  # all of the cases; None if they are too many to keep
    own: frozenset[str]  # the assertions of the cases that only evalc checks


def _rows(
    case: MergedCase, rows: Rows, variants: tuple[Variant, ...], emitter: CaseEmitter, checked: _CheckedRows
) -> ir.CaseRows:
    def expand() -> Iterator[ir.Case]:
        first: dict[str | None, ir.Case] = {}
        for row in rows.read_again(sound=checked.sound):
            for variant in variants:
                made = emitter.emit(case, row, variant, None, like=first.get(variant.name))
                if checked.clean:
                    first.setdefault(variant.name, made)
                yield made

    return ir.CaseRows(
        name=case.tree.name.value,
        tier=emitter.tier_of(case.tree),
        size=checked.rows * len(variants),
        running=checked.running,
        own=checked.own,
        expand=expand,
    )


def _placed(
    found: Diagnostics,
    case: MergedCase,
    rows: Rows,
    row: Row,
    variant: Variant,
    emitter: CaseEmitter,
    like: ir.Case | None,
) -> Iterator[Problem]:
    """The problems of a case, those with the cells of its row at their places, which are looked for now."""
    if rows.path is None:
        yield from found
        return
    elsewhere = [problem for problem in found if problem.source is not row.source]
    yield from elsewhere
    if len(elsewhere) < len(found):
        again = Diagnostics()
        emitter.emit(case, rows.placed(row), variant, again, like=like)
        yield from (problem for problem in again if problem.source is row.source)


def _stands_in(problem: Problem, row: Row) -> bool:
    end = max((cell.value.span.end for cell in row.cells), default=row.span.end)
    return problem.source is row.source and row.span.start <= problem.span.start <= end


@final
class _OwnAssertions:
    """The names of the assertions that only evalc checks, of the cases of a table."""

    def __init__(self, case: MergedCase) -> None:
        self.names: set[str] = set()
        self._shapes: set[tuple[object, ...]] = set()
        bodies = [placed.tree.body for layer in case.checks for placed in layer]
        # What the checks of a row are is decided by a bare template, a path, an `expected` that a row leaves empty, and
        # by whether a row is skipped: then it may lack what a check needs.
        decisive = (case.tree.expected, case.tree.skip, case.tree.archived)
        self._may_differ = decisive != (None, None, None) or not all(map(_holds_texts_alone, bodies))

    def add(self, case: ir.Case, like: ir.Case | None) -> None:
        """Add those of a case; `like` is the case of an earlier row."""
        if like is not None and not self._may_differ:
            return
        shape = *[tuple(fields_of(item.check)) or type_of(item.check) for item in case.checks], bool(case.expected)
        if shape not in self._shapes:
            self._shapes.add(shape)
            self.names |= own_assertions(lower(case, ()))


def _holds_texts_alone(body: CheckBody) -> bool:
    """Whether a row fills texts of the check, and no path: tests at one path make another check than at two."""
    return isinstance(body, CheckLeaf) and all(
        isinstance(text, str) and not (role.names == "path" and "{{" in text) for role, text in texts_of(body.check)
    )


def _check_rows(
    case: MergedCase, rows: Rows, variants: tuple[Variant, ...], emitter: CaseEmitter, problems: Diagnostics
) -> Generator[ir.Case, None, _CheckedRows]:
    """The case of each row. What is wrong with the rows is reported, the first few problems one by one."""
    tree = rows.tree
    faults = 0
    size = running = 0
    kept: list[ir.Case] | None = []
    numbered = False
    own = _OwnAssertions(case)
    clean = True
    first: dict[str | None, ir.Case] = {}

    def report(source: Source, span: Span, finding: Finding) -> None:
        """Mistakes in a row are reported there; a missing file, where it is named."""
        nonlocal faults
        if not source.text and tree.file is not None:
            problems.add(rows.source, tree.file.span, finding)
            return
        faults += 1
        if faults <= MOST_FAULTS:
            problems.add(source, span, finding)

    for row in rows.read(report):
        size += 1
        numbered |= row.numbered
        for variant in variants:
            found = Diagnostics()
            like = first.get(variant.name)
            made = emitter.emit(case, row, variant, found, like=like)
            if like is None and not len(found):
                first[variant.name] = made
            own.add(made, like)
            running += made.running
            clean = clean and not len(found)
            if kept is not None:
                kept.append(made)
                if len(kept) > MOST_KEPT:
                    kept = None
            for problem in _placed(found, case, rows, row, variant, emitter, like):
                if problem.source is row.source and rows.path is not None:
                    report(problem.source, problem.span, problem.finding)
                else:
                    # What is wrong with the first row is mostly wrong with all of them.
                    is_of_row = size > 1 and not _stands_in(problem, row)
                    first_seen = (row.source, row.span) if is_of_row else None
                    problems.add(problem.source, problem.span, problem.finding, row=first_seen)
            yield made
    if faults > MOST_FAULTS:
        problems.add(rows.source, tree.span, Finding("EV614", more=counted(faults - MOST_FAULTS, "more problem")))
    if numbered and not faults:
        problems.add(rows.source, tree.span, Finding("EV216", case=case.tree.name.value))
    if not size and not faults and tree.file is not None and not problems.has_errors:
        problems.add(rows.source, tree.span, Finding("EV612", path=tree.file.value, reason="has no rows"))
    return _CheckedRows(
        rows=size, running=running, sound=not faults, clean=clean and not faults, made=kept, own=frozenset(own.names)
    )
