"""Makes a node of the parse tree of a one-line criterion."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from evalc.grammar.atoms import number_of, trimmed
from evalc.grammar.lalr import Stumble, read
from evalc.grammar.nodes import CriterionLine, Number, Parsed, parsed
from evalc.grammar.unexpected import spoken, unexpected

if TYPE_CHECKING:
    from evalc.diagnostics.problem import Fault
    from evalc.grammar.lalr import Token


def criterion_line(text: str) -> Parsed[CriterionLine]:
    """A whole one-line criterion."""
    tree = read("criterion", "criterion", text)
    if isinstance(tree, Stumble):
        return Parsed(None, (unexpected(text, tree, spoken(tree.expected)),))
    faults: list[Fault] = []
    name, *rest = cast("list[Token]", tree.children)
    weight = description = None
    for token in rest:
        match token.type:
            case "NUMBER":
                weight = number_of(token, faults)
            case "PERCENT" if weight is not None:
                weight = Number(start=weight.start, end=token.end_pos or 0, value=weight.value / 100)
            case "DESCRIPTION":
                description = trimmed(token)
    last = description.end if description else rest[-1].end_pos or 0 if rest else trimmed(name).end
    start = name.start_pos or 0
    return parsed(
        CriterionLine(start=start, end=last, name=trimmed(name), weight=weight, description=description), faults
    )
