"""Prints the IR of a suite for people: one line a check, with or without places."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

import msgspec

from evalc.check.tree import Test
from evalc.compiler import ir
from evalc.grammar.write_check import describe


def ir_text(suite: ir.Suite, *, places: bool = False) -> str:
    """The suite as lines of text; `places` adds line and column, where a thing was written."""
    return "\n".join(_Printer(suite, places=places).lines()) + "\n"


class _Printer:
    def __init__(self, suite: ir.Suite, *, places: bool) -> None:
        self._suite = suite
        self._places = places

    def lines(self) -> Iterator[str]:
        suite = self._suite
        facts = {"tier": suite.tier, "version": suite.tool_version, "threshold": suite.threshold}
        facts |= {} if suite.gates is None else msgspec.to_builtins(suite.gates)
        yield self._line(f"suite {suite.tool}{_facts(facts)}", suite.where)
        for criterion in suite.criteria:
            words = "" if criterion.description is None else f": {criterion.description}"
            yield self._line(f"  criterion {criterion.name} ({criterion.weight:g}){words}", criterion.where)
        for case in suite.cases:
            yield from self._case(case)

    def _case(self, case: ir.Case) -> Iterator[str]:
        facts = {"tier": case.tier, "difficulty": case.difficulty, "created": case.created_at, "bug": case.bug_ref}
        yield self._line(f"  case {case.id}{_facts(facts)}", case.where)
        yield f"    description {_quoted(case.description)}"
        yield self._line(f"    message {_quoted(case.message)}", case.place_of("/input/message"))
        for message in case.messages or ():
            yield f"    {message.role} {_quoted(message.content)}"
        more = {
            "system": case.system,
            "inputs": case.inputs,
            "stubs": case.stubs,
            "max_turns": case.max_turns,
            "expected": case.expected,
            "reference": case.reference_data,
            "threshold": case.threshold,
            "tags": case.tags,
            "repeat": case.repeat,
            "require": case.require,
            "expected_failure": case.expected_failure,
            "skip": case.skip,
            "archived": case.archived,
            "variant": case.variant,
            "allow": case.allow,
        }
        yield from (f"    {name} {_quoted(value)}" for name, value in more.items() if value is not None)
        for index, item in enumerate(case.checks):
            dimension = (
                f" scores {item.check.operand[0]}"
                if isinstance(item.check, Test) and item.check.predicate == "judge"
                else ""
            )
            yield self._line(f"    {index} {describe(item.check)}{dimension}", item.where)
        for link in case.links:
            indexes = " and ".join(map(str, link.checks))
            weight = "" if link.weight == 1 else f" with weight {link.weight:g}"
            yield self._line(f"    {indexes} for {link.criterion or 'no criterion'}{weight}", link.where)

    def _line(self, words: str, where: ir.Where) -> str:
        if not self._places:
            return words
        source, span = self._suite.place(where)
        line, column = source.position(span.start)
        file = "" if source is self._suite.source else f"{source.name}:"
        return f"{words}  @{file}{line}:{column}"


def _facts(facts: Mapping[str, object]) -> str:
    known = ", ".join(f"{name} {value}" for name, value in facts.items() if value is not None)
    return f" ({known})" if known else ""


def _quoted(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)
