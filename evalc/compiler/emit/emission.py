"""The context in which the parts of a case are emitted: its layers, its row and its prompt."""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Sequence as AnySequence
from functools import partial
from math import ceil
from typing import Any, TypeVar, final

import msgspec

from evalc.base.source import Source, Span
from evalc.base.terminal import counted, so_often
from evalc.compiler import fill as f
from evalc.compiler import ir
from evalc.compiler.libraries import SchemaLoader
from evalc.compiler.merge import GivenInput, MergedCase
from evalc.compiler.names import Names, Variant
from evalc.compiler.rows import Row
from evalc.compiler.shape import mismatches
from evalc.diagnostics import Diagnostics, Finding
from evalc.diagnostics.near import nearest, typo_of
from evalc.diagnostics.raised import outside
from evalc.dsl.build_suite import GatesTree
from evalc.dsl.nodes import InSource, Mapping, Node, Scalar, Sequence
from evalc.dsl.places import locate, node_at
from evalc.dsl.scalars import kind_of, reason_of, to_plain
from evalc.dsl.tree import Num, Str
from evalc.dsl.walk import described, is_null
from evalc.grammar import nodes as g
from evalc.grammar.parse import parse_template
from evalc.model import case as m
from evalc.model.case import Gates
from evalc.model.numbers import RANGES, SHARE

T = TypeVar("T")


@final
class Emission(msgspec.Struct):
    """One case on its way into the IR."""

    home: Source  # the source of the suite
    case: MergedCase  # the case with what it takes in
    row: Row | None  # the row that it is made for; None if it is not made from a row
    variant: Variant  # what it is sent with
    tier: m.Tier  # its tier, which says what tokens its checks may have
    names: Names  # what the suite's names mean
    schemas: SchemaLoader  # where the JSON Schemas come from that its checks name
    given: dict[str, GivenInput]  # its inputs by name
    inputs: f.Inputs  # what fills its texts: those, over the defaults that are declared
    # whether there are no other names than `known`; else a text that uses another name is left out without a word
    knows_all: bool
    problems: Diagnostics  # where findings go
    quiet: bool  # the case was made before, and nothing was wrong with it
    has_sound_row: bool  # nothing was wrong with the case of an earlier row
    failed: bool = False  # something of it was wrong and left out
    asks_files: bool = False  # a check of it is about a file that the agent writes

    @property
    def known(self) -> frozenset[str]:
        """The names that its templates may use."""
        columns = () if self.row is None or self.case.rows is None else self.case.rows.columns
        return frozenset(self.inputs).union(self.variant.declared or (), columns)

    def at(self, source: Source, what: InSource) -> ir.Where:
        """A place as the IR has it: a stretch if it is in the suite's own source."""
        return what.at if source is self.home else ir.Located(source, what.span)

    def filled(self, text: Str | None, what: str, source: Source | None = None) -> str | None:
        """Like `text`, for a text that must not be empty: it is reported if its inputs leave it empty."""
        filled = self.text(text, source)
        if (
            text is not None
            and filled is not None
            and not (filled.strip() or self.quiet or self.lacks_names(text.value))
        ):
            at = (source or self.case.tree.source, text.span) if self.row is None else (self.row.source, self.row.span)
            self.fail(*at, Finding("EV309", what=what))
        return filled

    def one_text(self, text: Str, source: Source | None = None) -> str | None:
        """Like `text`, for a text that a list or mapping cannot fill; None if one does, which is reported.

        A row need not give what it is filled with.
        """
        filled = self.text(text, source, may_lack=True)
        if filled is not None and not self.quiet and "{{" in text.value:
            source = source or self.case.tree.source
            template = parse_template(text.value).node
            for variable, node in f.not_texts(() if template is None else template.parts, self.inputs):
                span = locate(source, text.span, variable.start, variable.end)
                self.problems.add(source, span, Finding("EV316", name=variable.name, found=described(node)))
                filled = None
        return filled

    def texts(self, text: Str, source: Source) -> tuple[str, ...]:
        """The text with its templates filled, for each item where it is a template of a list alone."""
        if "{{" not in text.value:
            return (text.value,)
        alone = text.value.strip()
        template = parse_template(alone).node
        match None if template is None else template.parts:
            case (g.Variable(name=name),):
                node = f.value_of(name, self.inputs)
            case _:
                name, node = "", None
        if isinstance(node, Scalar) and alone == text.value:
            return (f.text_of_input(node),)
        if not isinstance(node, Sequence):
            filled = self.one_text(text, source)
            return () if filled is None else (filled,)
        for item in node.items:
            if not isinstance(item, Scalar):
                place = (source, text.span) if self.row is None else (self.row.source, item.span)
                self.fail(*place, Finding("EV316", name=name, found=f"a list with {described(item)} in it"))
        return tuple(f.text_of_input(item) for item in node.items if isinstance(item, Scalar))

    def reason(self, text: Str, key: str, source: Source | None = None) -> str | None:
        """The reason that a text gives, its templates filled; None if its inputs say no."""
        filled = self.one_text(text, source)
        if filled is None or "{{" not in text.value:  # without a template, it has been read
            return filled
        place = (source or self.case.tree.source, text.span) if self.row is None else (self.row.source, self.row.span)
        return reason_of(filled, key, lambda finding: self.fail(*place, finding))

    def fail(self, source: Source, span: Span, finding: Finding) -> None:
        """Report a finding; the case is then without something."""
        self.problems.add(source, span, finding)
        self.failed = True

    def lacks_names(self, text: str) -> bool:
        """Whether names of the text have no value, which is reported, or may have none."""
        template = parse_template(text).node
        return not self.knows_all or (template is not None and any(self.misnamed(template)))

    def misnamed(
        self, template: g.Template, case: str = "", *, may_lack: bool = False
    ) -> Iterator[tuple[g.Variable, Finding, tuple[Source, Span] | None]]:
        """The names of a template that nothing gives and the paths that lead nowhere, each with its finding.

        Of a value that a row has wrong, or lacks unless the text `may_lack` it, the place is there. A row that is
        skipped may lack anything.
        """
        for variable, may_be_absent in f.variables(template.parts):
            if variable.name in self.inputs or f.root_of(variable.name, self.inputs) is not None:
                continue
            known = self.known
            root = f.root_of(variable.name, known)
            if root is None and self.knows_all:
                if not nearest(variable.name, known):
                    variable = _without_steps(variable)  # noqa: PLW2901
                yield variable, Finding("EV205", name=variable.name, known=tuple(sorted(known)), case=case), None
            elif self._is_column(root) and not (may_lack or may_be_absent or self.is_left_out) and self.row is not None:
                finding = Finding("EV208", name=root, case=self.case.tree.name.value, in_row=True)
                yield variable, finding, (self.row.source, self.row.span)
        for variable, path in f.astray(template.parts, self.inputs):
            if self.row is not None and self.is_left_out:
                return
            finding, place = self._astray(variable, path, case)
            yield variable, finding, place

    def _is_column(self, name: str | None) -> bool:
        """Whether other rows give an input, and nothing declares it."""
        return name is not None and self.row is not None and name not in (self.variant.declared or ())

    def _astray(self, variable: g.Variable, path: f.Astray, case: str) -> tuple[Finding, tuple[Source, Span] | None]:
        """The finding about a path that leads nowhere; its place is that of a value that a row has wrong."""
        keys = tuple(key.text for key, _ in path.value.pairs) if isinstance(path.value, Mapping) else ()
        beyond = variable.name[len(path.reached) + 1 + len(path.step) :]
        alike = tuple(f"{path.reached}.{key}{beyond}" for key in keys)
        if not self.has_sound_row and typo_of(variable.name, alike):
            return Finding("EV205", name=variable.name, known=alike, case=case), None
        size = len(path.value.items) if isinstance(path.value, Sequence) else None
        finding = Finding(
            "EV180",
            path=variable.name,
            reached=path.reached,
            step=path.step,
            found="null" if is_null(path.value) else described(path.value),
            items=None if size is None else counted(size, "item"),
            known=keys,
        )
        return finding, self.place_in_row(path.root, path.value)

    def place_in_row(self, name: str, node: Node) -> tuple[Source, Span] | None:
        """The place of a value of an input, if its case is made from a row."""
        given = self.given.get(name)
        return None if given is None or self.row is None else (given.source, node.span)

    def is_cell(self, name: str) -> bool:
        """Whether an input is a cell of CSV, which has no type."""
        given, rows = self.given.get(name), self.case.rows
        return (
            rows is not None
            and rows.is_csv
            and self.row is not None
            and given is not None
            and (given.source is self.row.source)
        )

    @property
    def is_left_out(self) -> bool:
        """Whether the case is skipped or retired, for which its inputs may give the reason."""
        tree = self.case.tree
        texts = [(key, text) for key, text in (("skip", tree.skip), ("archived", tree.archived)) if text is not None]
        parsed = [(key, parse_template(text.value).node) for key, text in texts]
        filled = [(key, f.fill(template, self.inputs)) for key, template in parsed if template is not None]
        return any(reason_of(text, key, lambda _: None) is not None for key, text in filled)

    def text(self, text: Str | None, source: Source | None = None, *, may_lack: bool = False) -> str | None:
        """A text with its templates filled; None if it is absent or has faults.

        It is in `source`, or if none is given, in the source of the case. If it `may_lack` what it is filled with,
        it is empty in a row that does not give that.
        """
        if text is None or "{{" not in text.value:
            return None if text is None else text.value
        tree = self.case.tree
        source = source or tree.source
        parse = parse_template(text.value)
        for fault in parse.faults:
            self.problems.add(source, locate(source, text.span, fault.start, fault.end), fault.finding)
        if parse.node is None:
            self.failed = True
            return None
        if self.quiet or f.only_names(parse.node, self.inputs):
            return f.fill(parse.node, self.inputs)
        for variable, finding, in_row in self.misnamed(parse.node, tree.name.value, may_lack=may_lack):
            place = (source, locate(source, text.span, variable.start, variable.end)) if in_row is None else in_row
            self.problems.add(*place, finding)
        for token in f.tokens(parse.node.parts):
            where = "a message" if text is tree.message else "this text"
            span = locate(source, text.span, token.start, token.end)
            self.problems.add(source, span, Finding("EV405", token=token.text, where=where))
        return f.fill(parse.node, self.inputs)

    def typed(self, source: Source, node: Node | None, type_: type[T], what: str) -> T | None:
        """A node as a value of a type of the model; what does not fit is reported."""
        if node is None:
            return None
        data = to_plain(node, lambda span, finding: self.problems.add(source, span, finding))
        faults = tuple(mismatches(data, type_, what=what))
        for pointer, finding in faults:
            self.problems.add(source, node_at(node, pointer).span, finding)
            self.failed = True
        return None if faults else msgspec.convert(data, type_)

    def plain_inputs(self) -> dict[str, Any] | None:
        """The inputs as plain data; values that cannot be read are reported."""
        plain: dict[str, Any] = {}
        for name, given in self.given.items():
            value = given.value
            if isinstance(value, Scalar) and kind_of(value) == "str":
                plain[name] = value.text
            else:
                plain[name] = to_plain(value, partial(self.problems.add, given.source))
        return plain or None


def _without_steps(variable: g.Variable) -> g.Variable:
    """The input that a path would begin in."""
    root = f.readings(variable.name)[-1][0]
    return g.Variable(start=variable.start, end=variable.start + len(root), name=root)


def number_of(source: Source, number: Num | None, name: str, problems: Diagnostics) -> int | float | None:
    """The number of a field; a number that the field does not take is reported and left out."""
    finding = None if number is None else outside(f"`{name}`", number.value, RANGES[name])
    if number is None or finding is None:
        return None if number is None else number.value
    problems.add(source, number.span, finding)
    return None


def number_in_case(emission: Emission, name: str) -> int | float | None:
    """The number of a field of a case."""
    picked = emission.case.pick(name)
    return None if picked is None else number_of(picked.source, picked.value, name, emission.problems)


def count_in_case(emission: Emission, name: str) -> int | None:
    """The number of a field of a case that counts something."""
    number = number_in_case(emission, name)
    return None if number is None else int(number)


def gates_of(source: Source, tree: GatesTree | None, problems: Diagnostics) -> Gates | None:
    """The gates; None if nothing is asked."""
    if tree is None:
        return None
    gates = Gates(
        min_pass_rate=number_of(source, tree.min_pass_rate, "min_pass_rate", problems),
        min_score=number_of(source, tree.min_score, "min_score", problems),
        max_p95_ms=number_of(source, tree.max_p95_ms, "max_p95_ms", problems),
        fail_on_regression=tree.fail_on_regression or None,
        confidence=number_of(source, tree.confidence, "confidence", problems),
        recall=_by_class(source, tree.recall, "recall", problems),
        precision=_by_class(source, tree.precision, "precision", problems),
        macro_f1=number_of(source, tree.macro_f1, "macro_f1", problems),
    )
    return None if gates == Gates() else gates


def _by_class(
    source: Source, limits: AnySequence[tuple[str, Num]], name: str, problems: Diagnostics
) -> dict[str, int | float] | None:
    """The limits by class; a limit that is not a share is reported and left out."""
    found: dict[str, int | float] = {}
    for label, number in limits:
        finding = outside(f"the {name} of `{label}`", number.value, SHARE)
        if finding is None:
            found[label] = number.value
        else:
            problems.add(source, number.span, finding)
    return found or None


def repetitions_of(emission: Emission) -> tuple[int | None, int | None]:
    """How often the case is run, and how often it has to pass."""
    case = emission.case
    repeat = count_in_case(emission, "repeat")
    picked = case.pick("require")
    if picked is None or (repeat is None and (case.partial or case.pick("repeat") is not None)):
        return repeat, None
    required, times = picked.value, 1 if repeat is None else repeat
    least = ceil(required.share * times - 1e-9) if required.share is not None else required.count
    reason = ""
    if required.of is not None and required.of != times:
        reason = f"this says {required.of} runs, and the case is run {so_often(times)}"
    elif least > times:
        reason = f"this requires more passes than runs: the case is run {so_often(times)}"
    elif least < 1:
        reason = "this requires no passes at all"
    if reason:
        emission.problems.add(picked.source, required.span, Finding("EV313", reason=reason))
        return repeat, None
    return repeat, least
