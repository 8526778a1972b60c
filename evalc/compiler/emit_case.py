"""From a case, one of its rows and one of its prompts to a case of the IR: texts filled, checks in canonical order."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from math import ceil
from typing import Any, TypeVar, final

import msgspec

from evalc.compiler import ir
from evalc.compiler.declared import check_inputs
from evalc.compiler.emit_check import CheckEmitter
from evalc.compiler.fill import Inputs, fill, plain, text_of_input, tokens, variables
from evalc.compiler.merge import GivenInput, MergedCase, PlacedCheck
from evalc.compiler.order import rank
from evalc.compiler.resolve import Names, Variant, unguarded
from evalc.compiler.rows import Row
from evalc.compiler.schemas import SchemaLoader
from evalc.compiler.shape import is_timestamp, mismatches, unescape
from evalc.compiler.single import single_fields, without
from evalc.diagnostics.catalogue.contract import MessageFromInputs, NothingToSend, TokenNotAllowed
from evalc.diagnostics.catalogue.names import DuplicateName, UnknownVariable
from evalc.diagnostics.catalogue.values import BadRequirement, BadTimestamp, OutOfRange
from evalc.diagnostics.problem import Diagnostics, Problem
from evalc.dsl.nodes import Mapping, Node, Sequence, span_of
from evalc.dsl.places import locate
from evalc.dsl.scalars import to_plain
from evalc.dsl.tree import CaseTree, Num, Str, SuiteTree
from evalc.grammar.parse import parse_template
from evalc.model import case as m
from evalc.model import checks as c
from evalc.model.assertions import judge
from evalc.source import Source, Span

T = TypeVar("T")


@final
@dataclass(frozen=True, slots=True)
class _Written:
    """A check, the criterion that it counts for and where that is named, and its weight."""

    check: ir.Check
    criterion: str | None = None
    criterion_at: ir.Where | None = None
    weight: int | float = 1


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class CaseEmitter:
    """Makes the cases of one suite.

    Attributes:
        suite: the suite's tree.
        tier: its tier, which a case's own goes before.
        names: what its names stand for.
        schemas: where the JSON Schemas come from that its checks name.
        unknown: where a name of nobody has been reported: cases share texts, by defaults, rules and aliases.
    """

    suite: SuiteTree
    tier: m.Tier
    names: Names
    schemas: SchemaLoader
    unknown: set[tuple[str, Span]] = field(default_factory=set)

    def tier_of(self, tree: CaseTree) -> m.Tier:
        """The tier of a case."""
        return self.tier if tree.tier is None else msgspec.convert(tree.tier.value, m.Tier)

    def emit(self, case: MergedCase, row: Row | None, variant: Variant, problems: Diagnostics | None) -> ir.Case:
        """The case; what is wrong is reported, unless `problems` is None because all of it was reported before."""
        found = Diagnostics()
        emission = _Emission(self, case, row, variant, found)
        if problems is None:
            return emission.case()
        emission.check_inputs()
        made = emission.case()
        for problem in found:
            if not isinstance(problem.finding, UnknownVariable) or self._is_first_at(problem):
                problems.add(problem.source, problem.span, problem.finding)
        return made

    def _is_first_at(self, problem: Problem) -> bool:
        place = problem.source.name, problem.span
        is_first = place not in self.unknown
        self.unknown.add(place)
        return is_first


@final
class _Emission:
    """One case on its way into the IR."""

    def __init__(
        self, emitter: CaseEmitter, case: MergedCase, row: Row | None, variant: Variant, problems: Diagnostics
    ) -> None:
        self._suite = emitter.suite
        self._names = emitter.names
        self._schemas = emitter.schemas
        self._tier = emitter.tier_of(case.tree)
        self._case = case
        self._tree = case.tree
        self._row = row
        self._variant = variant
        self._problems = problems
        self._given = case.inputs(row)
        defaults = {name: tree.default for name, tree in (variant.declared or {}).items() if tree.default is not None}
        self._inputs: Inputs = defaults | {name: given.value for name, given in self._given.items()}
        self._known = frozenset(self._inputs) | frozenset(variant.declared or ())
        self._knows_all = not (variant.partial or case.inputs_partial)
        self._failed = False

    def case(self) -> ir.Case:
        """The case, with everything reported that is wrong with it."""
        tree, source = self._tree, self._tree.source
        messages = self._messages()
        message = self._message(messages)
        checks, links = self._checks()
        if tree.created_at is not None and not is_timestamp(tree.created_at.value):
            self._problems.add(source, tree.created_at.span, BadTimestamp(value=tree.created_at.value))
        repeat, require = self._repetitions()
        reference_data = self._typed(source, tree.reference_data, dict[str, Any], "`reference_data`")
        expected, stubs = self._text(tree.expected), self._stubs()
        return ir.Case(
            id=self._id(),
            name=tree.name.value,
            description=self._text(tree.description) or tree.name.value,
            tier=self._tier,
            difficulty=self._difficulty(),
            created_at=_value(tree.created_at),
            bug_ref=_value(tree.bug_ref),
            message=message or "",
            messages=messages,
            inputs=_plain_inputs(self._given),
            stubs=stubs,
            max_turns=self._count("max_turns"),
            checks=checks,
            links=links,
            reference_data=reference_data,
            expected=expected,
            threshold=self._threshold(),
            tags=self._case.tags(),
            repeat=repeat,
            require=require,
            expected_failure=_value(tree.expected_failure),
            skip=_value(tree.skip),
            archived=_value(tree.archived),
            variant=self._variant.name,
            where=tree.span,
            wheres=dict(self._wheres()),
            partial=self._case.partial or message is None or self._failed,
        )

    def _id(self) -> str:
        """The id: as it is given, else of the suite and the name; a row and a prompt that is compared add their own."""
        tree = self._tree
        base = tree.id.value if tree.id is not None else f"{self._names.suite}/{tree.name.value}"
        added = (None if self._row is None else self._row.key, self._variant.name)
        return "@".join([base, *(name for name in added if name is not None)])

    def _difficulty(self) -> m.Difficulty | None:
        """The case's own; the defaults' where its tier knows difficulties and has no other one."""
        if self._tree.difficulty is None and self._tier == "regression":
            return "regression"
        written = self._tree.difficulty
        if written is None and self._tier == "labeled":
            picked = self._case.pick("difficulty")
            written = Str("straightforward", self._tree.span) if picked is None else picked.value
        difficulty: m.Difficulty | None = None
        if written is not None:
            difficulty = msgspec.convert(written.value, m.Difficulty)
        return difficulty

    # --- inputs ---

    def check_inputs(self) -> None:
        """Report what is wrong with the inputs."""
        for given in self._given.values():
            to_plain(given.value, partial(self._problems.add, given.source))
        if self._tree.message is not None:
            return
        wanted = unguarded(self._variant.prompt) & self._names.given
        declared, partial_ = self._variant.declared, self._variant.partial
        check_inputs(
            self._case, self._given, self._row, declared, partial=partial_, needed=wanted, problems=self._problems
        )

    # --- checks ---

    def _checks(self) -> tuple[tuple[ir.Check, ...], tuple[ir.Link, ...]]:
        """The checks in the canonical order, and the links whose indexes count in it."""
        rubric = self._rubric()
        dimensions = {dimension.dimension: 1 for dimension, _ in rubric}
        written: list[_Written] = []
        for layer in self._case.checks:
            brought: list[_Written] = []
            for placed in layer:
                emitter = CheckEmitter(
                    source=placed.source,
                    scope=placed.scope,
                    inputs=self._inputs,
                    known=self._known,
                    knows_all=self._knows_all,
                    schemas=self._schemas,
                    problems=self._problems,
                )
                checks = emitter.emit(placed.tree.body)
                self._failed |= emitter.failed
                brought += (self._written(placed, check, dimensions) for check in checks)
            written = [*_less_replaced(written, brought), *brought]
        judged = (ir.Check(check=judge(dimension), where=where) for dimension, where in rubric)
        written = [*map(_Written, judged), *written]
        written.sort(key=lambda entry: rank(entry.check.check))
        apart = _halves(written)
        links = tuple(
            ir.Link(
                criterion=entry.criterion,
                checks=(index,),
                weight=entry.weight,
                where=entry.check.where if entry.criterion_at is None else entry.criterion_at,
            )
            for index, entry in enumerate(written)
            if entry.criterion is not None or entry.weight != 1 or index in apart
        )
        return tuple(entry.check for entry in written), links

    def _written(self, placed: PlacedCheck, check: c.Check, dimensions: dict[str, int]) -> _Written:
        criterion = None if placed.criterion is None else placed.criterion[1].value
        at = None if placed.criterion is None else self._at(placed.criterion[0], placed.criterion[1].span)
        named = _named(check, criterion, dimensions) if isinstance(check, c.Judge) else check
        where = self._at(placed.source, placed.tree.span)
        return _Written(ir.Check(check=named, where=where), criterion, at, placed.weight)

    def _rubric(self) -> list[tuple[m.RubricDimension, Span]]:
        """The dimensions of a `rubric:` block, each where it was written; of two with one name, the first."""
        source, rubric = self._tree.source, self._tree.rubric
        dimensions = self._typed(source, rubric, tuple[m.RubricDimension, ...], "`rubric`")
        found: dict[str, tuple[m.RubricDimension, Span]] = {}
        for index, dimension in enumerate(dimensions or ()):
            assert rubric is not None  # noqa: S101 - for the type checker: the dimensions stand there
            here = dimension, span_of(_node_at(rubric, f"/{index}"))
            earlier = found.setdefault(dimension.dimension, here)
            if earlier is not here:
                self._failed = True
                line = source.position(earlier[1].start).line
                finding = DuplicateName(what="dimension", name=dimension.dimension, line=line)
                self._problems.add(source, span_of(_node_at(rubric, f"/{index}/dimension")), finding)
        return list(found.values())

    # --- texts ---

    def _message(self, messages: tuple[m.Message, ...] | None) -> str | None:
        """What is sent; None when there is nothing or when it could not be made."""
        tree, prompt = self._tree, self._variant.prompt
        if tree.message is not None:
            return self._text(tree.message)
        if prompt is not None:
            return None if prompt.template is None else fill(prompt.template, self._inputs)
        if tree.prompt_id is not None or self._names.wants_prompt:
            return None
        if tree.messages is not None and not (isinstance(tree.messages, Sequence) and not tree.messages.items):
            return next((message.content for message in reversed(messages or ()) if message.role == "user"), "")
        if self._given:
            span = tree.inputs_span or tree.span
            self._problems.add(tree.source, span, MessageFromInputs(case=tree.name.value))
            return "\n".join(f"{name}: {text_of_input(given.value)}" for name, given in self._given.items())
        if not self._case.partial:
            self._problems.add(tree.source, tree.span, NothingToSend(case=tree.name.value))
        return None

    def _messages(self) -> tuple[m.Message, ...] | None:
        """The messages of a conversation, the templates in their contents filled."""
        written = self._tree.messages
        messages = self._typed(self._tree.source, written, tuple[m.Message, ...], "`messages`")
        if messages is None or written is None:
            return None
        filled: list[m.Message] = []
        for index, message in enumerate(messages):
            place = _node_at(written, f"/{index}/content")
            content = self._text(Str(message.content, span_of(place)))
            filled.append(m.Message(role=message.role, content=content or ""))
        return tuple(filled)

    def _text(self, text: Str | None) -> str | None:
        """A text of the case with its templates filled; None when it is absent or has faults."""
        if text is None or "{{" not in text.value:
            return None if text is None else text.value
        source = self._tree.source
        parse = parse_template(text.value)
        for fault in parse.faults:
            self._problems.add(source, locate(source, text.span, fault.start, fault.end), fault.finding)
        if parse.node is None:
            self._failed = True
            return None
        for variable, _ in variables(parse.node.parts):
            if self._knows_all and variable.name not in self._known:
                known = tuple(sorted(self._known))
                finding = UnknownVariable(name=variable.name, known=known, case=self._tree.name.value)
                span = locate(source, text.span, variable.start, variable.end)
                self._problems.add(source, span, finding)
        for token in tokens(parse.node.parts):
            where = "a message" if text is self._tree.message else "this text"
            span = locate(source, text.span, token.start, token.end)
            self._problems.add(source, span, TokenNotAllowed(token=token.text, where=where))
        return fill(parse.node, self._inputs)

    # --- plain values ---

    def _stubs(self) -> dict[str, Any] | None:
        """The stubs: the case's own go before those of the defaults."""
        stubs: dict[str, Any] = {}
        given = [layer.fields for layer in reversed(self._case.layers) if layer.fields.stubs is not None]
        for fields in given:
            stubs |= self._typed(fields.source, fields.stubs, dict[str, Any], "`stubs`") or {}
        return stubs if given else None

    def _typed(self, source: Source, node: Node | None, type_: type[T], what: str) -> T | None:
        """A node as a value of a type of the model; what does not fit is reported."""
        if node is None:
            return None
        data = to_plain(node, lambda span, finding: self._problems.add(source, span, finding))
        faults = tuple(mismatches(data, type_, what=what))
        for pointer, finding in faults:
            self._problems.add(source, span_of(_node_at(node, pointer)), finding)
            self._failed = True
        return None if faults else msgspec.convert(data, type_)

    def _threshold(self) -> int | float | None:
        picked = self._case.pick("threshold")
        return None if picked is None else share(picked.source, picked.value, self._problems)

    def _count(self, field: str) -> int | None:
        """A field that counts something, 1 or more."""
        picked = self._case.pick(field)
        if picked is None:
            return None
        if picked.value.value < 1:
            finding = OutOfRange(what=f"`{field}`", value=f"{picked.value.value}", allowed="1 or more")
            self._problems.add(picked.source, picked.value.span, finding)
            return None
        return int(picked.value.value)

    def _repetitions(self) -> tuple[int | None, int | None]:
        """How often the case is run, and how often it has to pass."""
        repeat = self._count("repeat")
        picked = self._case.pick("require")
        unsure = repeat is None and (self._case.partial or self._case.pick("repeat") is not None)
        if picked is None or unsure:
            return repeat, None
        wanted, times = picked.value, 1 if repeat is None else repeat
        count_ = ceil(wanted.share * times - 1e-9) if wanted.share is not None else wanted.count
        reason = ""
        if wanted.of is not None and wanted.of != times:
            reason = f"this speaks of {wanted.of} runs, and the case is run {_times(times)}"
        elif count_ > times:
            reason = f"this asks for more passes than the case is run, which is {_times(times)}"
        elif count_ < 1:
            reason = "this asks for no pass at all"
        if reason:
            self._problems.add(picked.source, wanted.span, BadRequirement(reason=reason))
            return repeat, None
        return repeat, count_

    # --- places ---

    def _at(self, source: Source, span: Span) -> ir.Where:
        """A place as the IR has it: a span where it stands in the suite's own source."""
        return span if source is self._suite.source else ir.Located(source, span)

    def _wheres(self) -> Iterator[tuple[str, ir.Where]]:
        """Where the fields of the case were written, by their JSON pointers."""
        tree, prompt = self._tree, self._variant.prompt
        if tree.message is not None:
            yield "/input/message", tree.message.span
        elif prompt is not None:
            yield "/input/message", self._at(prompt.tree.source, prompt.tree.text.span)
        for pointer, text in (
            ("/id", tree.id),
            ("/description", tree.description),
            ("/createdAt", tree.created_at),
            ("/bugRef", tree.bug_ref),
            ("/expected", tree.expected),
            ("/expectedFailure", tree.expected_failure),
            ("/skip", tree.skip),
            ("/archived", tree.archived),
        ):
            if text is not None:
                yield pointer, text.span
        for pointer, name in _PICKED:
            picked = self._case.pick(name)
            if picked is not None:
                yield pointer, self._at(picked.source, picked.value.span)
        if self._row is not None:
            yield "/id", self._at(self._row.source, self._row.span)
            yield "/input/inputs", self._at(self._row.source, self._row.span)
        elif tree.inputs_span is not None:
            yield "/input/inputs", tree.inputs_span


_PICKED = (
    ("/difficulty", "difficulty"),
    ("/threshold", "threshold"),
    ("/maxTurns", "max_turns"),
    ("/repeat", "repeat"),
    ("/require", "require"),
)


# --- checks --------------------------------------------------------------------------------------------------------


def _less_replaced(written: list[_Written], nearer: list[_Written]) -> Iterator[_Written]:
    """The checks without those whose one value is replaced by a nearer one."""
    replaced = frozenset(field for entry in nearer for field in single_fields(entry.check.check))
    for entry in written:
        check = without(entry.check.check, replaced)
        if check is not None:
            yield replace(entry, check=ir.Check(check=check, where=entry.check.where))


def _named(check: c.Judge, criterion: str | None, taken: dict[str, int]) -> c.Judge:
    """The judge's check with a dimension of its own in the case: the criterion's name, else the question's words.

    `taken` holds the names that there are, each with the last number that was put behind it.
    """
    name = base = check.dimension if criterion is None else criterion
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
    for index, entry in enumerate(written):
        check = entry.check.check
        if isinstance(check, c.ToolCount) or (isinstance(check, c.Length) and check.unit == "chars"):
            if check.min and check.max is None:
                halves.setdefault((type(check), False), index)
            elif check.max and check.min is None:
                halves.setdefault((type(check), True), index)
    return frozenset(index for (kind, is_upper), index in halves.items() if (kind, not is_upper) in halves)


# --- plain values --------------------------------------------------------------------------------------------------


def _value(text: Str | None) -> str | None:
    return None if text is None else text.value


def _times(count_: int) -> str:
    return "once" if count_ == 1 else f"{count_} times"


def _plain_inputs(given: dict[str, GivenInput]) -> dict[str, Any] | None:
    return {name: plain(item.value) for name, item in given.items()} or None


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


def share(source: Source, number: Num | None, problems: Diagnostics) -> int | float | None:
    """A threshold; one that is no share of 1 is reported."""
    if number is not None and not 0 <= number.value <= 1:
        finding = OutOfRange(what="`threshold`", value=f"{number.value}", allowed="between 0 and 1")
        problems.add(source, number.span, finding)
        return None
    return None if number is None else number.value
