"""Emits the checks of a case: texts filled, patterns and schemas read, compositions in their simplest form.

The checks of a case and of its layers come in canonical order, with their links to criteria. An entry of
`expect.checks` has the case model's JSON form even in YAML.
"""

from __future__ import annotations

import re
from collections import UserDict
from collections.abc import Callable, Container, Iterator, Mapping, Sequence, Set
from functools import cached_property
from operator import attrgetter
from typing import Any, Final, assert_never, final

import msgspec
from msgspec.structs import astuple

from evalc.base.source import AliasedSpan, Source, Span
from evalc.check import tree as t
from evalc.check.contract import judge_check, rank, single_values, without
from evalc.check.forms import Placed, bare, check_of, places_of
from evalc.check.predicates import EXAMINED, FILE, HEADING, MATCHED, PARAM, QUESTION, TOOL, Role, mapped
from evalc.check.tree import At, Bounds, Call, Check, Measure, Of, Test, Turn, Which
from evalc.compiler import ir
from evalc.compiler.emit.emission import Emission
from evalc.compiler.examine import examine, typos_in
from evalc.compiler.fill import fill, is_of_plain_texts, not_texts, root_of, tokens, variables
from evalc.compiler.ir import Located
from evalc.compiler.libraries import Scope, findings_in, schema_findings
from evalc.compiler.merge import Picked, PlacedCheck
from evalc.compiler.shape import mismatches
from evalc.diagnostics import Finding
from evalc.diagnostics.near import listed
from evalc.diagnostics.raised import outside
from evalc.dsl import nodes as n
from evalc.dsl.nodes import Node, Report, Scalar
from evalc.dsl.places import locate, node_at
from evalc.dsl.scalars import to_plain, value_of
from evalc.dsl.tree import CheckBody, CheckGroup, CheckJson, CheckLeaf, CheckUse, Str
from evalc.dsl.walk import described
from evalc.ecma import class_name
from evalc.ecma.regexp import escape
from evalc.grammar import nodes as g
from evalc.grammar.nodes import offset_in_text
from evalc.grammar.parse import OPENS_TEMPLATE, parse_template
from evalc.model import case as m
from evalc.model.answer import NOT_LOOKED_AT
from evalc.model.numbers import WEIGHT
from evalc.model.suite import dimension_of

_TOKEN: Final = re.compile(r"\{\{\s*(?:seed|snapshot):.*?\}\}", re.DOTALL)
_BELOW: Final = re.compile(t.BELOW)
_NEVER_BLANK: Final = frozenset((TOOL, PARAM, HEADING, FILE))

_Find = Callable[[], Iterator[tuple[str, Located]]]
"""Finds texts that a check names, and their places."""


@final
class _NamedPlaces(UserDict[str, Located]):
    """Places by their texts, of two equal ones the first; found the first time that somebody asks."""

    def __init__(self, find: Sequence[_Find]) -> None:  # the data is made below
        self._find = find

    @cached_property
    def data(self) -> dict[str, Located]:  # type: ignore[override] # it is only read
        """The places."""
        found = [item for find in self._find for item in find()]
        return dict(reversed(found))


@final
class CheckEmitter:
    """Turns the checks of one case into the IR's: those in `source` and use the rules of `scope`."""

    def __init__(self, *, case: Emission, source: Source, scope: Scope, named: list[_Find] | None = None) -> None:
        self.source = source
        self.scope = scope
        self._named: list[_Find] = [] if named is None else named
        self._case = case
        self._failed = False
        self._is_left_out = False

    def emit(self, body: CheckBody) -> tuple[t.Check, ...]:
        """The checks that an entry of `validate:` means: the operands of a top-level `and`, else one.

        None, when something is wrong with it, which is reported; the case then says that it failed.
        """
        self._failed = self._is_left_out = False
        self._named = []
        check = self._body(body)
        self._case.failed |= self._failed
        if self._failed or self._is_left_out:
            return ()
        return t.conjuncts(check)

    @property
    def names(self) -> Mapping[str, Located]:
        """The places of the tools, parameters and values that the check emitted last names, by their texts."""
        return _NamedPlaces(self._named) if self._named else {}

    def _body(self, body: CheckBody, *, denied: bool = False) -> t.Check:
        """The check of an entry, which is `denied` below `not`, also as one of several below `any_of`."""
        match body:
            case CheckLeaf():
                return simplest(self._filled(body))
            case CheckGroup(op="any_of"):
                return t.some_of([self._body(item, denied=denied) for item in body.items])
            case CheckGroup(op="all_of"):
                return t.all_of([self._body(item) for item in body.items])
            case CheckGroup():
                return t.negated(self._body(body.items[0], denied=True))
            case CheckUse():
                check = self._used(body)
                if denied and isinstance(check, t.All) and len(check.checks) > 1:
                    self._add(body.span, Finding("EV442", rule=body.name.value))
                return check
            case CheckJson():
                leaf = self._in_json(body)
                return t.All(()) if leaf is None else self._filled(leaf)

    def _used(self, use: CheckUse) -> t.Check:
        """A rule within a composition: all of its checks. One that is unknown was reported where names are."""
        rule = self.scope.rules.get(use.name.value)
        if rule is None:
            return t.All(())
        if any(check.criterion is not None for check in rule.tree.checks):
            self._add(use.span, Finding("EV311"))
        inner = CheckEmitter(case=self._case, source=rule.tree.source, scope=rule.scope, named=self._named)
        check = t.all_of([inner._body(check.body) for check in rule.tree.checks])
        self._failed |= inner._failed
        self._is_left_out |= inner._is_left_out
        return check

    def _in_json(self, body: CheckJson) -> CheckLeaf | None:
        """An entry of `expect.checks` as a check; None when it is none, which is reported."""
        from evalc.check import shapes  # noqa: PLC0415 - for start-up: only these entries are held to them
        from evalc.compiler.examine import unaskable  # noqa: PLC0415 - as above

        def span_at(pointer: str) -> Span:
            span, alias = node_at(body.node, pointer).span, body.node.alias
            return span if alias is None else AliasedSpan(span, alias)

        record = _record(body.node, shapes.worded_keys, self._add)
        plain = bare(record)
        faults = tuple(mismatches(plain, shapes.Check, what="a check"))
        for pointer, finding in faults or (*schema_findings(plain), *unaskable(plain)):
            self._add(span_at(pointer), finding)
        return None if faults else CheckLeaf(body.at, check=check_of(plain), places=places_of(record))

    # --- a check ---

    def _filled(self, leaf: CheckLeaf) -> t.Check:
        """The check of a leaf with its texts filled, as their roles have it; what is wrong with them is reported."""
        seen: list[tuple[Role, Any]] = []

        def change(role: Role, text: str | t.Blank) -> Any:
            seen.append((role, self._value(role, text, leaf, len(seen))))
            return seen[-1][1]

        check = mapped(leaf.check, change)
        test = check.check if type(check) is t.Not else check
        if type(test) is not t.Test or test.predicate in EXAMINED:
            self._look_at(check, leaf, seen)
        return check

    def _value(self, role: Role, text: str | t.Blank, leaf: CheckLeaf, index: int) -> Any:
        """The value that takes the place of a text of a leaf; `index` is its place among the leaf's texts."""
        if isinstance(text, t.Blank):
            from evalc.compiler.emit.blanks import UNFILLED, operand_of  # noqa: PLC0415 - for start-up

            def report(start: int, end: int, finding: Finding) -> None:
                self._add(self._within(leaf, index, start, end), finding)

            operand = operand_of(self._case, text, report)
            self._is_left_out |= operand is UNFILLED
            return operand
        written = text
        match role.names:
            case "schema":
                schema = self._case.schemas.load(self.source, text, self._span(leaf, index), self._case.problems)
                self._failed |= schema is None
                return schema
            case "check":
                pass
            case _:
                if "{{" in text and (not role.is_pattern or OPENS_TEMPLATE.search(text)):
                    text = self._text(text, role, lambda start, end: self._within(leaf, index, start, end))
        if not text.strip() and role in _NEVER_BLANK:
            is_template = "{{" in written
            if is_template and self._case.is_left_out:  # such a row may lack anything
                self._is_left_out = True
            elif not (is_template and self._case.lacks_names(written)):
                self._add(self._span(leaf, index), Finding("EV309", what=role.no_tokens_in))
        elif role is FILE:
            self._look_at_file(text, self._span(leaf, index))
        return text

    def _look_at_file(self, path: str, span: Span) -> None:
        """Report a path where no file of an agent is looked at, of which `not exists` could never fail."""
        self._case.asks_files = True
        if not (self._failed or _BELOW.search(path)):
            expected = f"a path in the folder of the attempt, and not in a hidden folder or {listed(NOT_LOOKED_AT)}"
            self._add(span, Finding("EV301", what=FILE.no_tokens_in, expected=expected, found=f"`{path}`"))

    def _look_at(self, check: t.Check, leaf: CheckLeaf, seen: list[tuple[Role, Any]]) -> None:
        """Report what is wrong with patterns, schemas and questions, now that they are filled; remember names."""
        patterns = ((role, index) for index, (role, _) in enumerate(seen) if role.is_pattern)
        questions = (index for index, (role, _) in enumerate(seen) if role is QUESTION)
        names = (index for index, (role, _) in enumerate(seen) if role.names == "check")
        for test, was in zip(t.within(check), t.within(leaf.check), strict=True):
            match test:
                case t.Test("matches", (str() as pattern, flags)):
                    role, index = next(patterns)
                    if role is not MATCHED or not _TOKEN.search(pattern):  # with one, it is known when the eval runs
                        self._examine(flags, pattern, leaf, index)
                case t.Test("judge", (_, _, criteria, _)):
                    index = next(questions)
                    if not (criteria.strip() or self._failed):
                        self._add(self._span(leaf, index), Finding("EV309", what="the question"))
                case t.Test("check", (name, args, options, _)):
                    index = next(names)
                    if (fault := self._case.names.checks.fault(name, args, options)) is not None:
                        self._add(self._span(leaf, index), fault)
                case t.Test("json", (_, dict() | bool() as schema)) if test is was and leaf.line is not None:
                    for _, finding in findings_in(schema):
                        self._add(leaf.span, finding)
                case t.Of(t.Call() | t.Tools()):
                    self._named.append(lambda: self._places(leaf, seen))
                case _:
                    pass

    def _examine(self, flags: str, pattern: str, leaf: CheckLeaf, index: int) -> None:
        """Report what is wrong with a pattern, at its place if that is the pattern as it was written."""
        error = examine(pattern, flags).error
        if error is None:
            return
        atom = leaf.places[index]
        written = atom.pattern if isinstance(atom, g.PatternAtom) else atom.value
        stretch = (error.offset, error.end) if pattern == written else (0, len(written))
        self._add(self._within(leaf, index, *stretch), Finding("EV306", reason=error.message))

    # --- texts ---

    def _text(self, value: str, role: Role, place: Callable[[int, int], Span]) -> str:
        """The text with its templates filled, as its role has it; `place` gives the span of a stretch of it."""
        parse = parse_template(value, lenient=True)
        for fault in parse.faults:
            self._add(place(fault.start, fault.end), fault.finding)
        if parse.node is None:
            return value
        filled = fill(parse.node, self._case.inputs, transform=escape if role.is_pattern else str)
        if not (self._case.quiet or is_of_plain_texts(parse.node, self._case.inputs)):
            self._check_names(parse.node, role, place)
            self._check_tokens(value, filled, parse.node, role, place)
        return filled

    def _check_names(self, template: g.Template, role: Role, place: Callable[[int, int], Span]) -> None:
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
        self, value: str, filled: str, template: g.Template, role: Role, place: Callable[[int, int], Span]
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

    def _places(self, leaf: CheckLeaf, seen: Sequence[tuple[Role, Any]]) -> Iterator[tuple[str, Located]]:
        """The texts of a check, and their places."""
        for index, (_, text) in enumerate(seen):
            if isinstance(text, str):
                yield text, Located(self.source, self._span(leaf, index))

    def _span(self, leaf: CheckLeaf, index: int) -> Span:
        place = leaf.places[index]
        if leaf.line is None:
            return Span(place.start, place.end)
        return locate(self.source, leaf.span, place.start, place.end)

    def _within(self, leaf: CheckLeaf, index: int, start: int, end: int) -> Span:
        """The span of a stretch of a text's value, or of a pattern."""
        place = leaf.places[index]
        if leaf.line is None or isinstance(place, Str):
            ahead = place.pattern_at if isinstance(place, g.PatternAtom) else 0
            return locate(self.source, Span(place.start, place.end), ahead + start, ahead + end)
        written = leaf.line
        first, last = offset_in_text(written, place, start), offset_in_text(written, place, end)
        return locate(self.source, leaf.span, first, last)

    def _add(self, span: Span, finding: Finding) -> None:
        self._failed |= finding.entry.severity == "error"
        self._case.problems.add(self.source, span, finding)


def is_plain(check: t.Check) -> bool:
    """Whether a check is in its simplest form, has nothing to fill or to look at, and names no tool."""
    if type(check) is t.Test:
        operand = check.operand
        if type(operand) is str:
            return check.predicate not in EXAMINED and "{{" not in operand
        match check.predicate, operand:
            case "matches", (str() as pattern, str() as flags):
                return "{{" not in pattern and examine(pattern, flags).error is None
            case "between", t.Bounds():
                return _NUMBERS.issuperset(map(type, astuple(operand)))
            case "is" | "exists" | "non_empty", int() | float() | None:
                return True
            case _:
                return False
    match check:
        case t.Not(t.Test() | t.Of() as denied):
            return is_plain(denied)
        case t.Of(t.At(text), part) | t.Of(t.Measure(_, text), part):
            return "{{" not in text and is_plain(part)
        case _:
            return False


_NUMBERS: Final = frozenset((int, float, type(None)))


def simplest(check: t.Check) -> t.Check:
    """A check whose texts are filled in its simplest form; a question is called by its words."""
    match check:
        case t.Test("judge", (_, top, criteria, least)):
            return t.Test("judge", (dimension_of(criteria), top, criteria, least))
        case t.Test():
            return check
        case t.Of(step, part):
            return t.Of(step, simplest(part))
        case t.Not(part):
            return t.negated(simplest(part))
        case t.All(parts):
            return t.all_of([simplest(part) for part in parts])
        case t.Some(parts):
            return t.some_of([simplest(part) for part in parts])


# --- entries of `expect.checks` --------------------------------------------------------------------------------------


def _record(node: Node, worded_keys: Callable[[str], Container[str]], report: Report) -> Any:
    """A check, or a part of one, as JSON whose texts know where they were written; a user's own keys are left out."""
    if isinstance(node, n.Sequence):
        return [_record(item, worded_keys, report) for item in node.items]
    if isinstance(node, Scalar):
        return _json(node, report)
    record: dict[str, Any] = {}
    type_ = next((value.text for key, value in node.pairs if key.text == "type" and isinstance(value, Scalar)), "")
    worded = worded_keys(type_)
    for key, value in node.pairs:
        if key.text == "schema":
            record[key.text] = to_plain(value, report)
        elif key.text in _OF_RECORDS:
            record[key.text] = _record(value, worded_keys, report)
        elif not key.text.startswith("x-"):
            record[key.text] = _json(value, report, worded=key.text in worded)
    return record


def _json(node: Node, report: Report, *, worded: bool = False) -> Any:
    """A value whose texts know where they were written; a scalar is a text where it is `worded`."""
    match node:
        case Scalar():
            value = node.text if worded else value_of(node, report)
            return _placed(node) if isinstance(value, str) else value
        case n.Sequence(items=items):
            return [_json(item, report, worded=worded) for item in items]
        case n.Mapping(pairs=pairs):
            return {_placed(key): _json(value, report) for key, value in pairs}
        case _:
            assert_never(node)


def _placed(node: Scalar) -> Placed:
    return Placed(node.text, g.Text(*node.span, node.text))


_OF_RECORDS: Final = frozenset({"check", "checks", "fields"})


@final
class _Written(msgspec.Struct, frozen=True, gc=False):
    """A check, the criterion that it counts for and where that is named, and its weight."""

    check: ir.Check
    criterion: str | None = None
    criterion_at: ir.Where | None = None
    weight: int | float = 1


def checks_of(emission: Emission) -> tuple[tuple[ir.Check, ...], tuple[ir.Link, ...]]:
    """The checks of a case, what its nearer layers replace left out, and its links."""
    rubric = [] if emission.case.tree.rubric is None else _rubric(emission, emission.case.tree.rubric)
    dimensions = {dimension.dimension: 1 for dimension, _ in rubric} if rubric else {}
    written: list[_Written] = []
    for layer in emission.case.checks:
        brought = _brought(emission, layer, dimensions)
        written = [*_less_replaced(written, brought), *brought] if written else brought
    if rubric:
        judged = (ir.Check(check=judge_check(dimension), where=where) for dimension, where in rubric)
        written = [*map(_Written, judged), *written]
    label = emission.case.picked.get("label")
    if label is not None and (check := _label_check(emission, label)) is not None:
        written.append(_Written(check))
    if len(written) > 1:
        written = _in_order(written)
    return tuple(map(_check_of, written)), tuple(_links(written))


_check_of: Final = attrgetter("check")
_tree_of: Final = attrgetter("check.check")


def label_of(emission: Emission) -> m.Label | None:
    """The label that the agent should give, templates filled."""
    picked = emission.case.pick("label")
    expected = None if picked is None else emission.filled(picked.value.expected, "the label", picked.source)
    if picked is None or expected is None:
        return None
    label = m.Label(expected=expected, source=picked.value.source)
    if label.skill is not None and label.expected not in m.TRIGGERS:
        finding = Finding("EV302", what="class of a skill", value=label.expected, choices=m.TRIGGERS)
        emission.fail(picked.source, picked.value.expected.span, finding)
    return label


def _label_check(emission: Emission, picked: Picked) -> ir.Check | None:
    """The check that the label of a case brings, at the label's place."""
    tree = emission.case.tree
    if tree.label is None and (
        tree.turns is not None or tree.user is not None
    ):  # an inherited one; its own was refused
        turns, span = ("user", tree.user.span) if tree.user is not None else ("turns", tree.span)
        emission.problems.add(tree.source, span, Finding("EV421", key="label", turns=turns))
        emission.failed = True
        return None
    label = label_of(emission)
    where = emission.at(picked.source, picked.value)
    return None if label is None else ir.Check(check=check_of_label(label), where=where)


def check_of_label(label: m.Label) -> Check:
    """The check that a label brings: the place, or the whole response without surrounding white space, is that text.

    Of a skill, it is that a call loads it, or that none does.
    """
    if label.skill is not None:
        which: Which = "any" if label.expected == m.TRIGGERS[0] else "no"
        return Of(Call(m.SKILL_TOOL, which), Of(At("skill"), Test("equals", label.skill)))
    expected = class_name(label.expected, label.path)
    if label.path is None:
        escaped = _ESCAPED.sub(r"\\\g<0>", expected)
        return Test("matches", (rf"^\s*{escaped}\s*$", "u"))
    return Of(At(label.path), Test("equals", expected))


_ESCAPED: Final = re.compile(r"[\^$.*+?()\[\]{}|/\\]")


def _in_order(written: list[_Written]) -> list[_Written]:
    places = list(map(rank, map(_tree_of, written)))
    if places == sorted(places):
        return written
    return [written[index] for index in sorted(range(len(places)), key=places.__getitem__)]


def _brought(emission: Emission, layer: tuple[PlacedCheck, ...], dimensions: dict[str, int]) -> list[_Written]:
    """The checks of one layer, as they are written."""
    brought: list[_Written] = []
    emitter: CheckEmitter | None = None
    for placed in layer:
        source, tree = placed.source, placed.tree
        criterion, criterion_at = None, None
        if placed.criterion is not None:
            named_in, name = placed.criterion
            criterion, criterion_at = name.value, emission.at(named_in, name)
        where = tree.at if source is emission.home else ir.Located(source, tree.span)
        weight = placed.weight
        beyond = None if weight == 1 else outside("the weight", weight, WEIGHT)  # of several `use:`, multiplied
        if beyond is not None:
            emission.problems.add(source, tree.span, beyond)
        body = tree.body
        if placed.turn is None and isinstance(body, CheckLeaf) and is_plain(body.check):
            brought.append(_Written(ir.Check(check=body.check, where=where), criterion, criterion_at, weight))
            continue
        if emitter is None or emitter.scope is not placed.scope or emitter.source is not source:
            emitter = CheckEmitter(case=emission, source=source, scope=placed.scope)
        for made in emitter.emit(body):
            check = made if placed.turn is None else Of(Turn(placed.turn), made)
            if isinstance(check, Test) and check.predicate == "judge":
                check = _named(check, criterion, dimensions)
            item = ir.Check(check=check, where=where, names=emitter.names)
            brought.append(_Written(item, criterion, criterion_at, weight))
    return brought


def _named(check: Test, criterion: str | None, taken: dict[str, int]) -> Test:
    """The judge's check with a dimension of its own in the case: the criterion's name, else the question's words.

    `taken` holds the known names, each with the last number that was added to it.
    """
    name = base = check.operand[0] if criterion is None else criterion
    while name in taken:
        taken[base] += 1
        name = f"{base}-{taken[base]}"
    taken[name] = 1
    return Test("judge", (name, *check.operand[1:]))


def _less_replaced(written: list[_Written], nearer: list[_Written]) -> Iterator[_Written]:
    """The checks without those whose one value is replaced by a nearer one."""
    replaced = {name for entry in nearer for name in single_values(entry.check.check).values()}
    for entry in written:
        rest = without(entry.check.check, replaced)
        if rest is entry.check.check:
            yield entry
        elif rest is not None:
            yield msgspec.structs.replace(entry, check=msgspec.structs.replace(entry.check, check=rest))


def _rubric(emission: Emission, rubric: Node) -> list[tuple[m.RubricDimension, Span]]:
    """The dimensions of a `rubric:` block, each where it was written; of two with one name, the first."""
    source = emission.case.tree.source
    dimensions = emission.typed(source, rubric, tuple[m.RubricDimension, ...], "`rubric`")
    found: dict[str, tuple[m.RubricDimension, Span]] = {}
    for index, dimension in enumerate(dimensions or ()):
        here = dimension, node_at(rubric, f"/{index}").span
        earlier = found.setdefault(dimension.dimension, here)
        if earlier is not here:
            emission.failed = True
            line = source.position(earlier[1].start).line
            finding = Finding("EV206", what="dimension", name=dimension.dimension, line=line)
            emission.problems.add(source, node_at(rubric, f"/{index}/dimension").span, finding)
    return list(found.values())


# --- links -----------------------------------------------------------------------------------------------------------


def _links(written: list[_Written]) -> list[ir.Link]:
    """The links of the checks that count for a criterion, by another weight than 1, or apart from their other half."""
    apart = _halves(written)
    links: list[ir.Link] = []
    for index, entry in enumerate(written):
        if entry.criterion is not None or entry.weight != 1 or index in apart:
            where = entry.check.where if entry.criterion_at is None else entry.criterion_at
            links.append(ir.Link(criterion=entry.criterion, checks=(index,), weight=entry.weight, where=where))
    return links


def _halves(written: list[_Written]) -> Set[int]:
    """The lower and the upper bound on lines of their own, by index.

    Together they fill the two fields of one range, which would count as one check if nothing linked them apart.
    """
    halves: dict[tuple[str, bool], int] = {}
    for index, entry in enumerate(written):
        match entry.check.check:
            case Of(Measure("chars" | "calls" as of, ""), Test("between", Bounds(low, high, None, None))):
                if low and high is None:
                    halves.setdefault((of, False), index)
                elif high and low is None:
                    halves.setdefault((of, True), index)
    return {index for (of, is_upper), index in halves.items() if (of, not is_upper) in halves} if halves else set()
