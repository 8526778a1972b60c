"""What all parts of a case share while it is emitted: its layers, its row and its prompt."""

from __future__ import annotations

from functools import partial
from typing import Any, TypeVar, final

import msgspec

from evalc.compiler import ir
from evalc.compiler.fill import Inputs, fill, tokens, variables
from evalc.compiler.merge.cases import GivenInput, MergedCase
from evalc.compiler.merge.rows import Row
from evalc.compiler.node_places import node_at
from evalc.compiler.resolve.names import Names, Variant
from evalc.compiler.schemas import SchemaLoader
from evalc.compiler.shape import mismatches
from evalc.diagnostics.catalogue.contract import TokenNotAllowed
from evalc.diagnostics.catalogue.names import UnknownVariable
from evalc.diagnostics.catalogue.values import EmptyValue
from evalc.diagnostics.problem import Diagnostics
from evalc.dsl.nodes import Node, Scalar, span_of
from evalc.dsl.places import locate
from evalc.dsl.scalars import kind_of, to_plain
from evalc.dsl.tree import Str
from evalc.grammar.parse import parse_template
from evalc.model import case as m
from evalc.source import Source, Span

T = TypeVar("T")


@final
class Emission(msgspec.Struct):
    """One case on its way into the IR.

    Attributes:
        home: the source of the suite.
        case: the case with what it takes in.
        row: the row that it is made for; None where it stands for itself.
        variant: what it is sent with.
        tier: its tier, which says what tokens may stand in its checks.
        names: what the suite's names stand for.
        schemas: where the JSON Schemas come from that its checks name.
        given: its inputs by name.
        inputs: what fills its texts: those, over the defaults that are declared.
        knows_all: whether there are no other names than `known`; else a text that uses another one is left out
            without a word.
        problems: where findings go.
        quiet: the case was made before, and nothing was wrong with it.
        failed: something of it was wrong and left out.
    """

    home: Source
    case: MergedCase
    row: Row | None
    variant: Variant
    tier: m.Tier
    names: Names
    schemas: SchemaLoader
    given: dict[str, GivenInput]
    inputs: Inputs
    knows_all: bool
    problems: Diagnostics
    quiet: bool
    failed: bool = False

    @property
    def known(self) -> frozenset[str]:
        """The names that its templates may use."""
        return frozenset(self.inputs) | frozenset(self.variant.declared or ())

    def at(self, source: Source, span: Span) -> ir.Where:
        """A place as the IR has it: a span where it stands in the suite's own source."""
        return span if source is self.home else ir.Located(source, span)

    def filled(self, text: Str | None, what: str, source: Source | None = None) -> str | None:
        """The same as `text` of one that must hold something: that its inputs leave it empty is reported."""
        filled = self.text(text, source)
        if text is not None and filled is not None and not (filled.strip() or self.quiet or self._lacks_names(text)):
            at = (source or self.case.tree.source, text.span) if self.row is None else (self.row.source, self.row.span)
            self.problems.add(*at, EmptyValue(what=what))
            self.failed = True
        return filled

    def _lacks_names(self, text: Str) -> bool:
        """Whether names of the text are unknown, which is reported, or may be."""
        parse = parse_template(text.value)
        names = set() if parse.node is None else {variable.name for variable, _ in variables(parse.node.parts)}
        return not (self.knows_all and names <= self.known)

    def text(self, text: Str | None, source: Source | None = None) -> str | None:
        """A text with its templates filled; None when it is absent or has faults.

        It stands in `source`: where none is given, in that of the case.
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
        if self.quiet:
            return fill(parse.node, self.inputs)
        for variable, _ in variables(parse.node.parts):
            if variable.name not in self.inputs and self.knows_all and variable.name not in self.known:
                finding = UnknownVariable(name=variable.name, known=tuple(sorted(self.known)), case=tree.name.value)
                self.problems.add(source, locate(source, text.span, variable.start, variable.end), finding)
        for token in tokens(parse.node.parts):
            where = "a message" if text is tree.message else "this text"
            span = locate(source, text.span, token.start, token.end)
            self.problems.add(source, span, TokenNotAllowed(token=token.text, where=where))
        return fill(parse.node, self.inputs)

    def typed(self, source: Source, node: Node | None, type_: type[T], what: str) -> T | None:
        """A node as a value of a type of the model; what does not fit is reported."""
        if node is None:
            return None
        data = to_plain(node, lambda span, finding: self.problems.add(source, span, finding))
        faults = tuple(mismatches(data, type_, what=what))
        for pointer, finding in faults:
            self.problems.add(source, span_of(node_at(node, pointer)), finding)
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
