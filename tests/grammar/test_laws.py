"""Laws of every text and of every check."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evalc.grammar.nodes import Parsed, Variable
from evalc.grammar.parse import RULE_TYPES, parse_criterion, parse_rule, parse_template
from evalc.grammar.read_check import read_check
from tests.support.laws import examples

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
    "check": read_check,
    "criterion": parse_criterion,
    "prompt": parse_template,
    "text": lambda text: parse_template(text, lenient=True),
    **{type_: lambda text, type_=type_: parse_rule(type_, text) for type_ in sorted(RULE_TYPES)},  # type: ignore[misc]
}


@pytest.mark.parametrize("parser", PARSERS)
@given(text=hostile)
@settings(max_examples=examples(300))
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
@settings(max_examples=examples(1_000))
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
