"""What holds of every text and of every check."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evalc.grammar.nodes import (
    AllOf,
    AnyOf,
    Argument,
    Array,
    At,
    Check,
    Constant,
    Contains,
    ContainsAny,
    Cost,
    Custom,
    Equals,
    HasField,
    Json,
    Judge,
    Latency,
    Length,
    Matches,
    Member,
    NonEmpty,
    Not,
    NoToolErrors,
    Number,
    Object,
    Path,
    Regexp,
    Similar,
    StartsWith,
    Structure,
    Text,
    Tokens,
    ToolCount,
    ToolParam,
    ToolsAcceptable,
    ToolsCalled,
    ToolsNotCalled,
    Value,
    Variable,
)
from evalc.grammar.parse import RULE_TYPES, Parsed, parse_check, parse_criterion, parse_rule, parse_template
from tests.grammar.printing import printed

# --- no text raises ------------------------------------------------------------------------------------------------

PIECES = r"""
    contains matches length json has fields headings equals starts with non-empty tools tool called one of not none
    similar to judge check f( f = { } "k": true false null / %
    count exists no errors latency tokens cost at and or for response any ignoring case as number "x" "\ ' /x/ /[
    a.b [ ] [] ( ) , .. . <= >= == 1 -1 1.5 30s $ chars ms min: max: fields: headings: schema: strict : % (0.3)
    {{ }} {{x}} {{#if {{#if x}} {{#each y}} {{else}} {{/if}} {{/each}} {{seed:a}} {{snapshot: \{{ \
""".split()  # noqa: SIM905 - a list of them is a page long

hostile = st.one_of(
    st.text(st.characters(exclude_categories=())),
    st.lists(st.one_of(st.sampled_from(PIECES), st.characters(exclude_categories=()))).map(" ".join),
    st.lists(st.sampled_from(PIECES)).map("".join),
)

PARSERS: dict[str, Callable[[str], Parsed[Any]]] = {
    "check": parse_check,
    "criterion": parse_criterion,
    "prompt": parse_template,
    "text": lambda text: parse_template(text, lenient=True),
    **{type_: lambda text, type_=type_: parse_rule(type_, text) for type_ in sorted(RULE_TYPES)},  # type: ignore[misc]
}


@pytest.mark.parametrize("parser", PARSERS)
@given(text=hostile)
@settings(max_examples=300, deadline=None)
def test_every_text_has_a_node_or_faults_inside_it(parser: str, text: str) -> None:
    node, faults = PARSERS[parser](text)
    assert (node is None) == bool(faults)
    for fault in faults:
        assert 0 <= fault.start <= fault.end <= len(text)
        assert fault.finding.message()
        assert isinstance(fault.finding.label() + fault.finding.help(), str)
    if node is not None:
        assert 0 <= node.start <= node.end <= len(text)


@given(text=hostile)
@settings(max_examples=1_000, deadline=None)
def test_the_parts_of_a_template_stand_side_by_side(text: str) -> None:
    node, _ = parse_template(text, lenient=True)
    if node is not None:
        at = 0
        for part in node.parts:
            start, end = tag_around(part, text) if isinstance(part, Variable) else (part.start, part.end)
            assert start == at
            at = end
        assert at == len(text)


def tag_around(variable: Variable, text: str) -> tuple[int, int]:
    """Where the braces around a name begin and end; between them and the name there is only white space."""
    start, end = text.rindex("{{", 0, variable.start), text.index("}}", variable.end) + 2
    assert text[variable.start : variable.end] == variable.name
    assert text[start + 2 : end - 2].strip() == variable.name
    return start, end


# --- what is printed parses to what was printed ----------------------------------------------------------------------

HERE = {"start": 0, "end": 0}
texts = st.builds(Text, start=st.just(0), end=st.just(0), value=st.text())
some_texts = st.lists(texts, min_size=1, max_size=3).map(tuple)
counts = st.builds(Number, start=st.just(0), end=st.just(0), value=st.integers(0, 10**14))
dollars = st.builds(Number, start=st.just(0), end=st.just(0), value=st.sampled_from([0, 1, 0.02, 12.5]))
maybe_counts = st.tuples(counts, st.none()) | st.tuples(st.none(), counts) | st.tuples(counts, counts)
regexps = st.builds(
    lambda pattern, flags, literal: Regexp(
        **HERE, pattern=pattern, flags="".join(sorted(flags)) if literal else "", pattern_at=0, literal=literal
    ),
    st.sampled_from(["x", "a\\/b", "[/]", "^(a|b)+$", "\\d{2}"]),
    st.sets(st.sampled_from("imsu")),
    st.booleans(),
)
paths = st.sampled_from(
    [
        Path(**HERE, steps=("title",), text="title"),
        Path(**HERE, steps=("items", None, "id"), text="items[].id"),
        Path(**HERE, steps=("and", 0, "x-y"), text="and[0].x-y"),
        Path(**HERE, steps=(None, "for"), text="[].for"),
    ]
)


def node(kind: type, **fields: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.builds(kind, start=st.just(0), end=st.just(0), **fields)


def bounded(kind: type, **fields: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.builds(lambda ends, **rest: kind(**HERE, min=ends[0], max=ends[1], **rest), maybe_counts, **fields)


names = st.builds(Text, start=st.just(0), end=st.just(0), value=st.sampled_from(["a", "true", "null", "in-order", "_"]))
values: st.SearchStrategy[Value] = st.recursive(
    texts
    | node(Constant, value=st.none() | st.booleans() | st.integers(-(10**14), 10**14) | st.sampled_from([0.5, -2.25])),
    lambda inner: (
        node(Array, items=st.lists(inner, max_size=3).map(tuple))
        | node(
            Object,
            members=st.lists(node(Member, key=texts, value=inner), max_size=3, unique_by=lambda m: m.key.value).map(
                tuple
            ),
        )
    ),
    max_leaves=4,
)
arguments = st.tuples(
    st.lists(node(Argument, value=values), max_size=2),
    st.lists(node(Argument, name=names, value=values), max_size=2, unique_by=lambda argument: argument.name.value),
).map(lambda given: (*given[0], *given[1]))
fields = node(HasField, path=paths, type=st.sampled_from([None, "string", "number", "array"]))
about_response: st.SearchStrategy[Check] = st.one_of(
    node(Contains, text=texts, ignore_case=st.booleans()),
    node(ContainsAny, texts=some_texts),
    node(Matches, regexp=regexps),
    bounded(Length, unit=st.sampled_from(["chars", "words", "lines", "bytes"])),
    node(Json, mode=st.sampled_from(["strict", "lenient", "object", "array"]), schema=st.none() | texts),
    node(Structure, fields=st.lists(fields, min_size=1, max_size=3).map(tuple)),
    node(Structure, headings=some_texts),
    node(Equals, text=texts),
    node(StartsWith, text=texts),
    node(NonEmpty),
    node(Similar, text=texts, threshold=st.none() | dollars),
    node(Custom, name=texts, arguments=arguments),
)
about_run: st.SearchStrategy[Check] = st.one_of(
    node(ToolsCalled, names=st.just(()) | some_texts),
    node(ToolsAcceptable, sets=st.lists(st.just(()) | some_texts, min_size=1, max_size=3).map(tuple)),
    node(ToolsNotCalled, names=some_texts),
    bounded(ToolCount),
    node(ToolParam, tool=texts, param=texts, op=st.sampled_from(["equals", "contains"]), value=texts),
    node(ToolParam, tool=texts, param=texts, op=st.just("oneOf"), values=some_texts),
    node(ToolParam, tool=texts, param=texts, op=st.just("matches"), regexp=regexps),
    node(ToolParam, tool=texts, param=texts, op=st.sampled_from(["exists", "notExists"])),
    node(NoToolErrors),
    node(Latency, max=counts),
    node(Tokens, max=counts),
    node(Cost, max=dollars),
    node(Judge, question=texts),
    node(Judge, question=texts, min=counts, scale=counts),
)


def composed(inner: st.SearchStrategy[Check]) -> st.SearchStrategy[Check]:
    several = st.lists(inner, min_size=2, max_size=3).map(tuple)
    return node(AllOf, checks=several) | node(AnyOf, checks=several) | node(Not, check=inner)


checks = st.recursive(
    about_response | about_run | node(At, path=paths, check=about_response | node(Not, check=about_response)),
    composed,
    max_leaves=6,
)


@given(check=checks)
@settings(max_examples=1_000, deadline=None)
def test_a_printed_check_parses_to_itself(check: Check) -> None:
    node, faults = parse_check(printed(check))
    assert faults == ()
    assert node is not None
    assert placeless(node.check) == placeless(check)


def placeless(node: Any) -> Any:
    """A node as plain data, its places left out."""
    match node:
        case msgspec.Struct():
            kept = (name for name in node.__struct_fields__ if name not in ("start", "end", "pattern_at"))
            return {"node": type(node).__name__, **{name: placeless(getattr(node, name)) for name in kept}}
        case tuple():
            return [placeless(each) for each in node]
        case _:
            return node
