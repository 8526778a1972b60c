"""Emits the checks of the model: texts filled, patterns read, compositions in their simplest form.

An entry of `expect.checks` has the case model's JSON form even in YAML.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any, Final, NamedTuple, assert_never, final

import msgspec

from evalc.base.source import Source, Span
from evalc.compiler.emit.emission import Emission
from evalc.compiler.fill import OPENS_TEMPLATE, fill, not_texts, root_of, tokens, variables
from evalc.compiler.include import Scope
from evalc.compiler.ir import Located
from evalc.compiler.lift.check_case import check_vocabulary
from evalc.compiler.packages import unknown_custom
from evalc.compiler.patterns import examine
from evalc.compiler.places import NodePlaces
from evalc.compiler.shape import mismatches
from evalc.compiler.slug import dimension_of
from evalc.compiler.token_typos import typos_in
from evalc.diagnostics.problem import Diagnostics, Finding
from evalc.dsl import nodes as n
from evalc.dsl.nodes import Node, Report, Scalar, span_of
from evalc.dsl.places import locate
from evalc.dsl.scalars import to_plain, value_of
from evalc.dsl.tree import CheckBody, CheckGroup, CheckJson, CheckLeaf, CheckUse
from evalc.dsl.walk import described
from evalc.ecma.regexp import escape
from evalc.grammar import nodes as g
from evalc.grammar.atoms import offset_in_text
from evalc.grammar.parse import parse_template
from evalc.model import checks as c
from evalc.model.checks.declaration import (
    MATCHED,
    Arguments,
    Filled,
    by_type,
    members,
    text_fields,
    texts_of,
    worded_keys,
)
from evalc.model.json import pointer_step

Fill = Callable[[Scalar, Filled], str]
"""Fills the templates of a text."""

_PLAIN: Final = Filled("a name")
"""A text of another key: a unit, a mode, the name of a check."""


class _Keys(NamedTuple):
    """Keys of checks by their contents: those whose scalars are texts, as they were written, and the roles of texts."""

    worded: frozenset[str]
    roles: Mapping[str, Filled]


_KINDS: Final[Mapping[str, type[msgspec.Struct]]] = by_type(c.Check)


@cache
def _keys(kind: type[msgspec.Struct]) -> _Keys:
    return _Keys(worded_keys(kind) | {"type"}, {field.key: field.role for field in text_fields(kind)})


def json_check(source: Source, body: CheckJson, fill: Fill, problems: Diagnostics) -> c.Check | None:
    """The check; None when something is wrong with it, which is reported."""
    places = NodePlaces(source, body.node, problems)
    data = _data(body.node, fill, lambda span, finding: problems.add(source, span, finding))
    faults = tuple(mismatches(data, c.Check, what="a check"))
    for pointer, finding in faults:
        places.add(pointer, finding)
    if faults:
        return None
    check: c.Check = msgspec.convert(data, c.Check)
    check_vocabulary(places, check, "")
    return check


def _data(node: Node, fill: Fill, report: Report, role: Filled = _PLAIN, *, worded: bool = False) -> Any:
    """The value of a key as JSON, its texts filled; a scalar is a text where it is `worded`."""
    match node:
        case _ if role is Arguments:
            return _argument(node, fill, report)
        case Scalar():
            return fill(node, role) if worded else to_plain(node, report)
        case n.Sequence(items=items):
            return [_data(item, fill, report, role, worded=worded) for item in items]
        case n.Mapping():
            return _record(node, fill, report)
        case _:
            assert_never(node)


def _record(node: n.Mapping, fill: Fill, report: Report) -> dict[str, Any]:
    """A check, or a part of a check. A user's own keys (`x-...`) are left out."""
    texts = {key.text: value.text for key, value in node.pairs if isinstance(value, Scalar)}
    keys = _keys(_KINDS.get(texts.get("type", ""), c.RequiredField))
    record: dict[str, Any] = {}
    for key, value in node.pairs:
        name = key.text
        if name == "schema":
            record[name] = to_plain(value, report)
        elif not name.startswith("x-"):
            is_match = name == "value" and texts.get("assertion") == "matches"
            role = Filled(is_pattern=True) if is_match else keys.roles.get(name, _PLAIN)
            record[name] = _data(value, fill, report, role, worded=name in keys.worded)
    return record


def _argument(node: Node, fill: Fill, report: Report) -> Any:
    """An argument of a package's check, its texts filled; keys are kept as they are written, as on a line."""
    match node:
        case Scalar():
            value = value_of(node, report)
            return fill(node, Arguments) if isinstance(value, str) else value
        case n.Sequence(items=items):
            return [_argument(item, fill, report) for item in items]
        case n.Mapping(pairs=pairs):
            return {name.text: _argument(value, fill, report) for name, value in pairs}
        case _:
            assert_never(node)


_OF_TEXTS: Final = frozenset(kind for kind in members(c.TextCheck | c.LimitCheck) if kind is not c.Regex)
"""The checks that stay as they were written if there is no template to fill."""
_OF_TEXTS_OR_PATTERNS: Final = _OF_TEXTS | {c.Regex}
_TOKEN: Final = re.compile(r"\{\{\s*(?:seed|snapshot):.*?\}\}", re.DOTALL)


_Find = Callable[[], Iterator[tuple[str, Located]]]
"""Finds texts that a check names, and their places."""


@final
class _NamedPlaces(Mapping[str, Located]):
    """Places by their texts, of two equal ones the first; found the first time that somebody asks."""

    __slots__ = ("_find", "_known")

    def __init__(self, find: Sequence[_Find]) -> None:
        self._find = find
        self._known: dict[str, Located] | None = None

    def _found(self) -> dict[str, Located]:
        if self._known is None:
            self._known = {}
            for find in self._find:
                for text, place in find():
                    self._known.setdefault(text, place)
        return self._known

    def __getitem__(self, text: str) -> Located:
        return self._found()[text]

    def __iter__(self) -> Iterator[str]:
        return iter(self._found())

    def __len__(self) -> int:
        return len(self._found())


def check_of_texts(leaf: CheckLeaf) -> c.Check | None:
    """The check in its simplest form, if only templates in its texts could change it; else None."""
    check = negated(leaf.check.check) if isinstance(leaf.check, c.Not) else leaf.check
    return check if type(check) in _OF_TEXTS_OR_PATTERNS else None


def as_written(body: CheckBody) -> c.Check | None:
    """The check where it is for certain what was written, whatever fills its case; of None nothing follows."""
    if not isinstance(body, CheckLeaf):
        return None
    check = check_of_texts(body)
    if check is None or _holds_braces(check, body):
        return None
    is_broken = isinstance(check, c.Regex) and examine(check.pattern, check.flags).error is not None
    return None if is_broken else check


def _holds_braces(check: c.Check, leaf: CheckLeaf) -> bool:
    """Whether there may be a template or a token in some text of a check of a leaf."""
    if leaf.origin is not None:
        return "{{" in leaf.origin.value
    for field in text_fields(type(check)):
        value = getattr(check, field.name)
        if ("{{" in value) if isinstance(value, str) else any("{{" in text for text in value or ()):
            return True
    return False


@final
class CheckEmitter:
    """Turns the checks of one case into the model's: those in `source` and use the rules of `scope`."""

    def __init__(self, *, case: Emission, source: Source, scope: Scope, named: list[_Find] | None = None) -> None:
        self.source = source
        self.scope = scope
        self._named: list[_Find] = [] if named is None else named
        self._case = case
        self._failed = False

    def emit(self, body: CheckBody) -> tuple[c.Check, ...]:
        """The checks that an entry of `validate:` means: the operands of a top-level `and`, else one.

        None, when something is wrong with it, which is reported; the case then says that it failed.
        """
        self._failed = False
        self._named = []
        check = self._check(body.check, body) if isinstance(body, CheckLeaf) else self._body(body)
        if self._failed:
            self._case.failed = True
            return ()
        return check.checks if isinstance(check, c.AllOf) else (check,)

    @property
    def names(self) -> Mapping[str, Located]:
        """The places of the tools, parameters and values that the check emitted last names, by their texts."""
        return _NamedPlaces(self._named) if self._named else {}

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
            self._add(use.span, Finding("EV311"))
        inner = CheckEmitter(case=self._case, source=rule.tree.source, scope=rule.scope, named=self._named)
        check = all_of([inner._body(check.body) for check in rule.tree.checks])
        self._failed |= inner._failed
        return check

    def _in_json(self, body: CheckJson) -> c.Check:
        def filled(text: Scalar, role: Filled) -> str:
            def place(start: int, end: int) -> Span:
                return locate(self.source, span_of(text), start, end)

            if "{{" not in text.text:
                return text.text
            return self._filled(text.text, role, place)

        self._named.append(lambda: ((text.text, Located(self.source, span_of(text))) for text in _scalars(body.node)))
        found = Diagnostics()
        check = json_check(self.source, body, filled, found)
        for problem in found:
            self._add(problem.span, problem.finding)
        return c.AllOf(checks=()) if check is None else check

    # --- a check ---

    def _check(self, check: c.Check, leaf: CheckLeaf, at: str = "") -> c.Check:
        """The check at the pointer `at` in a leaf, filled and in its simplest form."""
        if type(check) in _OF_TEXTS and not _holds_braces(check, leaf):
            return check
        match check:
            case c.Not():
                return negated(self._check(check.check, leaf, f"{at}/check"))
            case c.AnyOf():
                return any_of([self._check(part, leaf, f"{at}/checks/{i}") for i, part in enumerate(check.checks)])
            case c.AllOf():
                return all_of([self._check(part, leaf, f"{at}/checks/{i}") for i, part in enumerate(check.checks)])
            case c.At() | c.InTurn():
                return msgspec.structs.replace(check, check=self._check(check.check, leaf, f"{at}/check"))
            case _:
                made = self._with_texts(check, leaf, at)
        match made:
            case c.Json():
                return self._with_schema(made, leaf, at)
            case c.Judge():
                if not (made.criteria.strip() or self._failed):
                    self._add(self._span(leaf, f"{at}/criteria"), Finding("EV309", what="the question"))
                return msgspec.structs.replace(made, dimension=dimension_of(made.criteria))
            case c.Custom():
                unknown = unknown_custom(made.name)
                if unknown is not None:
                    self._add(self._span(leaf, f"{at}/name"), unknown)
            case _:
                pass
        if made.of_calls:
            self._named.append(lambda: self._places(made, leaf, at))
        return made

    def _with_texts(self, check: c.Check, leaf: CheckLeaf, at: str) -> c.Check:
        """The check with its texts filled, as their roles have it; the same one where that changes nothing."""
        changes: dict[str, Any] = {}
        is_match = isinstance(check, c.ToolParam) and check.assertion == "matches"
        for name, key, role in text_fields(type(check)):
            value = getattr(check, name)
            filled = self._value(value, MATCHED if is_match and name == "value" else role, leaf, f"{at}/{key}")
            if filled is not value:
                changes[name] = filled
        if isinstance(check, c.Regex):
            self._examine(check.flags, changes.get("pattern", check.pattern), leaf, f"{at}/pattern")
        return msgspec.structs.replace(check, **changes) if changes else check

    def _value(self, value: Any, role: Filled, leaf: CheckLeaf, at: str) -> Any:
        """A value of a field, its texts filled."""
        match value:
            case str():
                filled = self._text(value, role, leaf, at)
                if role is MATCHED and not _TOKEN.search(filled):  # with one, it is known only when the eval runs
                    self._examine("", filled, leaf, at)
                return filled
            case tuple() | list():
                items = [self._value(item, role, leaf, f"{at}/{index}") for index, item in enumerate(value)]
                same = all(item is was for item, was in zip(items, value, strict=True))
                return value if same else type(value)(items)
            case dict():
                return {key: self._value(item, role, leaf, f"{at}/{pointer_step(key)}") for key, item in value.items()}
            case msgspec.Struct():
                parts = ((name, getattr(value, name), key, inner) for name, key, inner in text_fields(type(value)))
                return msgspec.structs.replace(
                    value, **{name: self._value(part, inner, leaf, f"{at}/{key}") for name, part, key, inner in parts}
                )
            case _:
                return value

    def _text(self, value: str, role: Filled, leaf: CheckLeaf, at: str) -> str:
        if "{{" not in value or (role.is_pattern and not OPENS_TEMPLATE.search(value)):
            return value

        def place(start: int, end: int) -> Span:
            return self._within(leaf, at, start, end)

        return self._filled(value, role, place)

    def _examine(self, flags: str, pattern: str, leaf: CheckLeaf, at: str) -> None:
        """Report what is wrong with a pattern, at its place if that is the pattern as it was written."""
        error = examine(pattern, flags).error
        if error is None:
            return
        atom = leaf.atoms[at]
        written = atom.pattern if isinstance(atom, g.PatternAtom) else atom.value
        within = (error.offset, error.end) if pattern == written else (0, len(written))
        self._add(self._within(leaf, at, *within), Finding("EV306", reason=error.message))

    def _with_schema(self, check: c.Json, leaf: CheckLeaf, at: str) -> c.Check:
        atom = leaf.atoms.get(f"{at}/schema")
        if not isinstance(atom, g.Text):
            return check
        span = self._span(leaf, f"{at}/schema")
        schema = self._case.schemas.load(self.source, atom.value, span, self._case.problems)
        self._failed |= schema is None
        return msgspec.structs.replace(check, schema=schema)

    # --- texts ---

    def _filled(self, value: str, role: Filled, place: Callable[[int, int], Span]) -> str:
        """The text with its templates filled, as its role has it; `place` gives the span of a stretch of it."""
        parse = parse_template(value, lenient=True)
        for fault in parse.faults:
            self._add(place(fault.start, fault.end), fault.finding)
        if parse.node is None:
            return value
        filled = fill(parse.node, self._case.inputs, transform=escape if role.is_pattern else str)
        if not self._case.quiet:
            self._check_names(parse.node, role, place)
            self._check_tokens(value, filled, parse.node, role, place)
        return filled

    def _check_names(self, template: g.Template, role: Filled, place: Callable[[int, int], Span]) -> None:
        """Report names that nobody gives, and values that are not texts."""
        if not self._case.knows_all:
            self._failed |= any(
                root_of(variable.name, self._case.inputs) is None for variable, _ in variables(template.parts)
            )
        for variable, finding, at in self._case.misnamed(template):
            if at is None:
                self._add(place(variable.start, variable.end), finding)
            else:
                self._case.problems.add(*at, finding)
                self._failed = True
        if not role.json_too:
            for variable, node in not_texts(template.parts, self._case.inputs):
                not_one = Finding("EV316", name=variable.name, found=described(node))
                self._add(place(variable.start, variable.end), not_one)

    def _check_tokens(
        self, value: str, filled: str, template: g.Template, role: Filled, place: Callable[[int, int], Span]
    ) -> None:
        """Report tokens where they are not allowed, near misses, and tokens that an input contains."""
        for typo in typos_in(value):
            self._add(place(typo.start, typo.end), Finding("EV418", text=typo.text, meant=typo.meant))
        written = tuple(tokens(template.parts))
        for token in written:
            if role.no_tokens_in:
                self._add(place(token.start, token.end), Finding("EV405", token=token.text, where=role.no_tokens_in))
            elif self._case.tier == "regression" and token.source == "snapshot":
                self._add(place(token.start, token.end), Finding("EV404", token=token.text))
        brought = [token for token in _TOKEN.findall(filled) if token not in {token.text for token in written}]
        if brought:
            self._add(place(0, len(value)), Finding("EV415", token=brought[0]))

    # --- places ---

    def _places(self, check: c.Check, leaf: CheckLeaf, at: str) -> Iterator[tuple[str, Located]]:
        """The texts of a check, and their places."""
        for _, text, pointer in texts_of(check):
            if at + pointer in leaf.atoms:
                yield text, Located(self.source, self._span(leaf, at + pointer))

    def _span(self, leaf: CheckLeaf, at: str) -> Span:
        atom = leaf.atoms[at]
        if leaf.origin is None:
            return Span(atom.start, atom.end)
        return locate(self.source, leaf.origin.span, atom.start, atom.end)

    def _within(self, leaf: CheckLeaf, at: str, start: int, end: int) -> Span:
        """The span of a stretch of a text's value, or of a pattern."""
        atom = leaf.atoms[at]
        if leaf.origin is None:
            ahead = atom.pattern_at if isinstance(atom, g.PatternAtom) else 0
            return locate(self.source, Span(atom.start, atom.end), ahead + start, ahead + end)
        written = leaf.origin.value
        first, last = offset_in_text(written, atom, start), offset_in_text(written, atom, end)
        return locate(self.source, leaf.origin.span, first, last)

    def _add(self, span: Span, finding: Finding) -> None:
        self._failed |= finding.entry.severity == "error"
        self._case.problems.add(self.source, span, finding)


def _scalars(node: n.Node) -> Iterator[Scalar]:
    """The values of all keys and items in a node."""
    match node:
        case Scalar():
            yield node
        case n.Sequence(items=items):
            for item in items:
                yield from _scalars(item)
        case n.Mapping(pairs=pairs):
            for _, value in pairs:
                yield from _scalars(value)


# --- compositions in their simplest form -----------------------------------------------------------------------------


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
