"""Laws of every text and of every check."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from evalc.compiler.emit.check import all_of, any_of, negated
from evalc.compiler.spelling import AS_TEMPLATES, line_of
from evalc.grammar.nodes import Variable
from evalc.grammar.parse import RULE_TYPES, Parsed, parse_check, parse_criterion, parse_rule, parse_template
from evalc.model import checks as c
from evalc.model.json import only_key, path_of_key
from tests.compiler.logic.checks import CHECKS

# --- no text raises --------------------------------------------------------------------------------------------------

PIECES = r"""
    contains matches length json has fields headings equals starts with ends non-empty tools tool called one of not none
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


# --- what is spelled parses to what was spelled ----------------------------------------------------------------------


@given(check=CHECKS)
@settings(max_examples=1_000, deadline=None)
def test_a_check_on_a_line_parses_to_itself(check: c.Check) -> None:
    line = line_of(check, AS_TEMPLATES, lambda _schema: "")
    assume(line is not None)
    node, faults = parse_check(line or "")
    assert faults == ()
    assert node is not None
    assert simplest(node.check) == simplest(without_schema(check))


def simplest(check: c.Check) -> c.Check:
    """The check as the compiler has it, whatever parentheses it was written with."""
    match check:
        case c.Not(check=inner):
            return negated(simplest(inner))
        case c.AnyOf(checks=checks):
            return any_of([*map(simplest, checks)])
        case c.AllOf(checks=checks):
            return all_of([*map(simplest, checks)])
        case c.At(path=path, check=inner):
            return c.At(path=shortest(path), check=simplest(inner))
        case c.InTurn(turn=turn, check=inner):
            return c.InTurn(turn=turn, check=simplest(inner))
        case c.Structure(fields=fields):
            shorter = (c.RequiredField(path=shortest(field.path), type=field.type) for field in fields)
            return c.Structure(fields=tuple(shorter), headings=check.headings)
        case c.ToolParam(assertion="exists" | "notExists"):
            return c.ToolParam(tool=check.tool, param_name=check.param_name, assertion=check.assertion)
        case c.ToolsAcceptable(sets=sets):
            return c.ToolsAcceptable(sets=tuple(names or (c.NO_TOOL,) for names in sets))
        case c.Judge():
            return c.Judge(dimension="", criteria=check.criteria, min_score=check.min_score, max_score=check.max_score)
        case _:
            return check


def shortest(path: str) -> str:
    key = only_key(path)
    return path if key is None else path_of_key(key)


def without_schema(check: c.Check) -> c.Check:
    """The check without its schemas, of which a line has the path."""
    match check:
        case c.Json(mode=mode):
            return c.Json(mode=mode)
        case c.Not(check=inner):
            return c.Not(check=without_schema(inner))
        case c.At(path=path, check=inner):
            return c.At(path=path, check=without_schema(inner))
        case c.InTurn(turn=turn, check=inner):
            return c.InTurn(turn=turn, check=without_schema(inner))
        case c.AnyOf(checks=checks):
            return c.AnyOf(checks=tuple(map(without_schema, checks)))
        case c.AllOf(checks=checks):
            return c.AllOf(checks=tuple(map(without_schema, checks)))
        case _:
            return check
