"""From a check's tree to the model's checks: texts filled, patterns read, compositions in their simplest form."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, Final, TypeVar, assert_never, cast, final

from evalc.compiler.emit.emission import Emission
from evalc.compiler.emit.json_check import json_check
from evalc.compiler.fill import fill, not_texts, tokens, variables
from evalc.compiler.ir import Located
from evalc.compiler.merge.include import Scope
from evalc.compiler.packages import unknown_custom
from evalc.compiler.patterns import examine
from evalc.compiler.slug import dimension_of
from evalc.compiler.token_slips import slips_in
from evalc.diagnostics.catalogue.contract import AlmostToken, InputLooksLikeToken, SnapshotInRegression, TokenNotAllowed
from evalc.diagnostics.catalogue.names import UnknownVariable
from evalc.diagnostics.catalogue.values import BadPattern, EmptyValue, LinkInsideGroup, NotOneText
from evalc.diagnostics.problem import Diagnostics, Finding
from evalc.dsl.fields import described
from evalc.dsl.nodes import Mapping, Node, Scalar, span_of
from evalc.dsl.nodes import Sequence as Sequence_
from evalc.dsl.places import locate
from evalc.dsl.tree import CheckBody, CheckGroup, CheckJson, CheckLeaf, CheckUse
from evalc.ecma.regexp import escape
from evalc.grammar import nodes as g
from evalc.grammar.atoms import offset_in_text
from evalc.grammar.parse import parse_template
from evalc.model import checks as c
from evalc.model.checks.declaration import Filled
from evalc.source import Source, Span

W = TypeVar("W", bound=str)
_TOKEN = re.compile(r"\{\{\s*(?:seed|snapshot):.*?\}\}", re.DOTALL)


@final
class CheckEmitter:
    """Turns the checks of one case into the model's: those that stand in `source` and use the rules of `scope`.

    `names` are the places of the tools, parameters and values that the check which was emitted last names, by their
    texts.
    """

    def __init__(
        self, *, case: Emission, source: Source, scope: Scope, names: dict[str, Located] | None = None
    ) -> None:
        self.source = source
        self.scope = scope
        self.names: dict[str, Located] = {} if names is None else names
        self._case = case
        self._failed = False

    def emit(self, body: CheckBody) -> tuple[c.Check, ...]:
        """The checks that an entry of `validate:` means: the operands of a top-level `and`, else one.

        None, when something is wrong with it, which is reported; the case then says that it failed.
        """
        self._failed = False
        self.names = {}
        check = self._check(body.check, body) if isinstance(body, CheckLeaf) else self._body(body)
        if self._failed:
            self._case.failed = True
            return ()
        return check.checks if isinstance(check, c.AllOf) else (check,)

    def _body(self, body: CheckBody) -> c.Check:
        match body:
            case CheckLeaf():
                return self._check(body.check, body)
            case CheckGroup(op="any_of"):
                return any_of([self._body(item) for item in body.items])
            case CheckGroup(op="all_of"):
                return all_of([self._body(item) for item in body.items])
            case CheckGroup():
                return negated(self._body(body.items[0]))
            case CheckUse():
                return self._used(body)
            case CheckJson():
                return self._in_json(body)

    def _used(self, use: CheckUse) -> c.Check:
        """A rule within a composition: all of its checks. One that is unknown was reported where names are."""
        rule = self.scope.rules.get(use.name.value)
        if rule is None:
            return c.AllOf(checks=())
        if any(check.criterion is not None for check in rule.tree.checks):
            self._add(use.span, LinkInsideGroup())
        inner = CheckEmitter(case=self._case, source=rule.tree.source, scope=rule.scope, names=self.names)
        check = all_of([inner._body(check.body) for check in rule.tree.checks])
        self._failed |= inner._failed
        return check

    def _in_json(self, body: CheckJson) -> c.Check:
        def filled(text: Scalar, role: Filled) -> str:
            def place(start: int, end: int) -> Span:
                return locate(self.source, span_of(text), start, end)

            if "{{" not in text.text:
                return text.text
            return self._filled(
                text.text, place, role.no_tokens_in, escape if role.is_pattern else str, json_too=role.json_too
            )

        for text in _scalars(body.node):
            self.names.setdefault(text.text, Located(self.source, span_of(text)))
        found = Diagnostics()
        check = json_check(self.source, body, filled, found)
        for problem in found:
            self._add(problem.span, problem.finding)
        return c.AllOf(checks=()) if check is None else check

    def _check(self, check: g.Check, leaf: CheckLeaf) -> c.Check:  # noqa: C901 - one arm a check
        match check:
            case g.Contains():
                value = self._text(check.text, leaf)
                return c.IContains(value=value) if check.ignore_case else c.Contains(value=value)
            case g.ContainsAny():
                return c.ContainsAny(values=self._texts(check.texts, leaf))
            case g.Matches():
                pattern = self._pattern(check.regexp, leaf)
                return c.Regex(pattern=pattern, flags=check.regexp.flags)
            case g.Not():
                return negated(self._check(check.check, leaf))
            case g.Length():
                return c.Length(min=_whole(check.min), max=_whole(check.max), unit=_same(check.unit))
            case g.Json():
                return self._json(check, leaf)
            case g.Structure():
                fields = tuple(c.RequiredField(path=field.path.text, type=field.type) for field in check.fields)
                return c.Structure(fields=fields, headings=self._plain_texts(check.headings, leaf, "a heading"))
            case g.Equals():
                return c.Equals(value=self._text(check.text, leaf))
            case g.StartsWith():
                return c.StartsWith(value=self._text(check.text, leaf))
            case g.NonEmpty():
                return c.NonEmpty()
            case g.Similar():
                return self._similar(check, leaf)
            case g.Custom():
                return self._custom(check, leaf)
            case g.ToolsCalled():
                return c.ToolsCalled(names=self._tools(check.names, leaf))
            case g.ToolsAcceptable():
                return c.ToolsAcceptable(sets=tuple(self._tools(names, leaf) or ("__none__",) for names in check.sets))
            case g.ToolsNotCalled():
                return c.ToolsNotCalled(names=self._tools(check.names, leaf))
            case g.ToolCount():
                return c.ToolCount(min=_whole(check.min), max=_whole(check.max))
            case g.ToolParam():
                return self._param(check, leaf)
            case g.NoToolErrors():
                return c.NoToolErrors()
            case g.Latency():
                return c.Latency(max=_number(check.max))
            case g.Tokens():
                return c.Tokens(max=_number(check.max))
            case g.Cost():
                return c.Cost(max=_number(check.max))
            case g.Judge():
                return self._judge(check, leaf)
            case g.At():
                return c.At(path=check.path.text, check=self._check(check.check, leaf))
            case g.AnyOf():
                return any_of([self._check(item, leaf) for item in check.checks])
            case g.AllOf():
                return all_of([self._check(item, leaf) for item in check.checks])
            case _:
                assert_never(check)

    def _json(self, check: g.Json, leaf: CheckLeaf) -> c.Check:
        if check.schema is None:
            return c.Json(mode=_same(check.mode))
        span = self._span(check.schema, leaf)
        schema = self._case.schemas.load(self.source, check.schema.value, span, self._case.problems)
        self._failed |= schema is None
        return c.Json(mode=_same(check.mode), schema=schema)

    def _similar(self, check: g.Similar, leaf: CheckLeaf) -> c.Check:
        value = self._text(check.text, leaf)
        if check.threshold is None or check.threshold.value == _SIMILAR_ENOUGH:
            return c.Similar(value=value)
        return c.Similar(value=value, threshold=_number(check.threshold))

    def _judge(self, check: g.Judge, leaf: CheckLeaf) -> c.Check:
        question = self._text(check.question, leaf, no_tokens_in="what a judge is asked", json_too=True)
        if not question.strip():
            self._add(self._span(check.question, leaf), EmptyValue(what="the question"))
        scale = 1 if check.scale is None else _number(check.scale)
        least = 1 if check.min is None else _number(check.min)
        return c.Judge(dimension=dimension_of(question), criteria=question, max_score=scale, min_score=least)

    def _custom(self, check: g.Custom, leaf: CheckLeaf) -> c.Check:
        unknown = unknown_custom(check.name.value)
        if unknown is not None:
            self._add(self._span(check.name, leaf), unknown)
        values = [(item.name, self._value(item.value, leaf)) for item in check.arguments]
        return c.Custom(
            name=check.name.value,
            args=tuple(value for name, value in values if name is None),
            options={name.value: value for name, value in values if name is not None},
        )

    def _value(self, value: g.Value, leaf: CheckLeaf) -> Any:
        match value:
            case g.Text():
                return self._text(value, leaf, json_too=True)
            case g.Constant():
                return value.value
            case g.Array():
                return [self._value(item, leaf) for item in value.items]
            case g.Object():
                return {member.key.value: self._value(member.value, leaf) for member in value.members}
            case _:
                assert_never(value)

    def _param(self, check: g.ToolParam, leaf: CheckLeaf) -> c.Check:
        value: str | tuple[str, ...] | None = None
        if check.op == "oneOf":
            value = self._placed(check.values, self._texts(check.values, leaf), leaf)
        elif check.value is not None:
            (value,) = self._placed((check.value,), (self._text(check.value, leaf),), leaf)
        elif check.regexp is not None:
            value = self._pattern(check.regexp, leaf, tokens_allowed=True)
        named = (check.tool, check.param)
        (tool, param) = self._placed(named, self._plain_texts(named, leaf, "a tool's or parameter's name"), leaf)
        return c.ToolParam(tool=tool, param_name=param, assertion=check.op, value=value)

    def _tools(self, names: Sequence[g.Text], leaf: CheckLeaf) -> tuple[str, ...]:
        return self._placed(names, self._plain_texts(names, leaf, "a tool's name"), leaf)

    def _placed(self, written: Sequence[g.Text], texts: tuple[str, ...], leaf: CheckLeaf) -> tuple[str, ...]:
        """The texts, whose places are kept for the passes that look at what they name."""
        for node, text in zip(written, texts, strict=True):
            self.names.setdefault(text, Located(self.source, self._span(node, leaf)))
        return texts

    # --- texts ---

    def _texts(self, texts: Sequence[g.Text], leaf: CheckLeaf) -> tuple[str, ...]:
        return tuple(self._text(text, leaf) for text in texts)

    def _plain_texts(self, texts: Sequence[g.Text], leaf: CheckLeaf, what: str) -> tuple[str, ...]:
        """Texts in which no token may stand."""
        return tuple(self._text(text, leaf, no_tokens_in=what) for text in texts)

    def _text(self, text: g.Text, leaf: CheckLeaf, *, no_tokens_in: str = "", json_too: bool = False) -> str:
        if "{{" not in text.value:
            return text.value

        def place(start: int, end: int) -> Span:
            return self._within(text, leaf, start, end)

        return self._filled(text.value, place, no_tokens_in, json_too=json_too)

    def _filled(
        self,
        value: str,
        place: Callable[[int, int], Span],
        no_tokens_in: str,
        transform: Callable[[str], str] = str,
        *,
        json_too: bool = False,
    ) -> str:
        """The text with its templates filled; `place` gives the span of a stretch of it.

        Lists and mappings fill it only where `json_too` says that whoever reads it makes sense of JSON.
        """
        parse = parse_template(value, lenient=True)
        for fault in parse.faults:
            self._add(place(fault.start, fault.end), fault.finding)
        if parse.node is None:
            return value
        for variable, _ in variables(parse.node.parts):
            if not self._case.knows_all:
                self._failed |= variable.name not in self._case.inputs
            elif variable.name not in self._case.known:
                finding = UnknownVariable(name=variable.name, known=tuple(sorted(self._case.known)))
                self._add(place(variable.start, variable.end), finding)
        if not json_too:
            for variable, node in not_texts(parse.node.parts, self._case.inputs):
                not_one = NotOneText(name=variable.name, found=described(node))
                self._add(place(variable.start, variable.end), not_one)
        for slip in slips_in(value):
            self._add(place(slip.start, slip.end), AlmostToken(text=slip.text, meant=slip.meant))
        written = tuple(tokens(parse.node.parts))
        for token in written:
            if no_tokens_in:
                self._add(place(token.start, token.end), TokenNotAllowed(token=token.text, where=no_tokens_in))
            elif self._case.tier == "regression" and token.source == "snapshot":
                self._add(place(token.start, token.end), SnapshotInRegression(token=token.text))
        filled = fill(parse.node, self._case.inputs, transform=transform)
        brought = [token for token in _TOKEN.findall(filled) if token not in {token.text for token in written}]
        if brought:
            self._add(place(0, len(value)), InputLooksLikeToken(token=brought[0]))
        return filled

    def _pattern(self, regexp: g.Regexp, leaf: CheckLeaf, *, tokens_allowed: bool = False) -> str:
        pattern = regexp.pattern
        if "{{" in pattern and _TEMPLATE.search(pattern):
            where = "" if tokens_allowed else "a regular expression"
            pattern = self._filled(pattern, partial(self._in_pattern, regexp, leaf), where, escape)
        if tokens_allowed and _TOKEN.search(pattern):
            return pattern  # what it will be is known only when the eval runs
        error = examine(pattern, regexp.flags).error
        if error is not None:
            within = (error.offset, error.end) if pattern == regexp.pattern else (0, len(regexp.pattern))
            self._add(self._in_pattern(regexp, leaf, *within), BadPattern(reason=error.message))
        return pattern

    # --- places ---

    def _span(self, node: g.Node, leaf: CheckLeaf) -> Span:
        if leaf.origin is None:
            return Span(node.start, node.end)
        return locate(self.source, leaf.origin.span, node.start, node.end)

    def _within(self, text: g.Text, leaf: CheckLeaf, start: int, end: int) -> Span:
        """The span of a stretch of a text's value."""
        if leaf.origin is None:
            return locate(self.source, Span(text.start, text.end), start, end)
        written = leaf.origin.value
        first, last = offset_in_text(written, text, start), offset_in_text(written, text, end)
        return locate(self.source, leaf.origin.span, first, last)

    def _in_pattern(self, regexp: g.Regexp, leaf: CheckLeaf, start: int, end: int) -> Span:
        """The span of a stretch of a pattern."""
        if leaf.origin is None:
            first, last = regexp.pattern_at + start, regexp.pattern_at + end
            return locate(self.source, Span(regexp.start, regexp.end), first, last)
        written = leaf.origin.value
        first, last = offset_in_text(written, regexp, start), offset_in_text(written, regexp, end)
        return locate(self.source, leaf.origin.span, first, last)

    def _add(self, span: Span, finding: Finding) -> None:
        self._failed = True
        self._case.problems.add(self.source, span, finding)


_TEMPLATE = re.compile(r"\{\{\s*[#/A-Za-z_]")


_SIMILAR_ENOUGH: Final = c.Similar(value="").threshold


def _same(word: W) -> W:
    """The one object of a word: a field is left out of JSON where it *is* its default, and not where it equals it."""
    return cast("W", sys.intern(word))


def _number(number: g.Number) -> int | float:
    """A limit, the same however it was written: `1.0` is 1."""
    value = number.value
    return int(value) if value == int(value) else value


def _whole(number: g.Number | None) -> int | None:
    return None if number is None else int(number.value)


def _scalars(node: Node) -> Iterator[Scalar]:
    """The values of all keys and items in a node."""
    match node:
        case Scalar():
            yield node
        case Sequence_(items=items):
            for item in items:
                yield from _scalars(item)
        case Mapping(pairs=pairs):
            for _, value in pairs:
                yield from _scalars(value)


# --- compositions in their simplest form ---------------------------------------------------------------------------


def any_of(checks: Sequence[c.Check]) -> c.Check:
    """`or`: nested ones are flattened; texts that may be contained become one synonym group."""
    flat = tuple(_operands(checks, c.AnyOf))
    if len(flat) == 1:
        return flat[0]
    if all(isinstance(check, c.Contains | c.ContainsAny) for check in flat):
        values = [v for check in flat for v in (check.values if isinstance(check, c.ContainsAny) else (_value(check),))]
        return c.ContainsAny(values=tuple(dict.fromkeys(values)))
    return c.AnyOf(checks=flat)


def all_of(checks: Sequence[c.Check]) -> c.Check:
    """`and`: nested ones are flattened."""
    flat = tuple(_operands(checks, c.AllOf))
    return flat[0] if len(flat) == 1 else c.AllOf(checks=flat)


def negated(check: c.Check) -> c.Check:
    """`not`: twice is not at all; `contains` and `not_contains` are each other's."""
    match check:
        case c.Not():
            return check.check
        case c.Contains(value=value):
            return c.NotContains(value=value)
        case c.NotContains(value=value):
            return c.Contains(value=value)
        case _:
            return c.Not(check=check)


def _operands(checks: Sequence[c.Check], kind: type[c.AnyOf] | type[c.AllOf]) -> Iterator[c.Check]:
    for check in checks:
        if isinstance(check, kind):
            yield from check.checks
        else:
            yield check


def _value(check: c.Check) -> str:
    assert isinstance(check, c.Contains)  # noqa: S101 - for the type checker
    return check.value
