"""The import of a file that is a list of cases: each with its name and checks, what all have said once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final

from evalc.base.source import Source, Span
from evalc.check.forms import together
from evalc.check.tree import At, Call, Check, Of, Test, Tools, Which
from evalc.diagnostics import Diagnostics, Finding
from evalc.dsl.nodes import Node
from evalc.dsl.write_yaml import Noted
from evalc.extras.importers.imported import CaseNames, Imported, entry_of, left_out, yaml_of
from evalc.extras.importers.promptfoo_shape import taken_out
from evalc.extras.importers.promptfoo_templates import Unmappable
from evalc.grammar.write_check import LITERALLY
from evalc.model.json import path_inside

FURTHER: Final = "there a call may have no further arguments, which no line says"
"""How an exact comparison of arguments differs from `call_with`."""

CaseOf = Callable[[Node], tuple[dict[str, Any], Sequence[str]]]
"""The keys of a case behind those that name it, and the comments above it; it may raise `Unmappable`."""


class Importing:
    """An import on its way: what it has called cases, left out and said."""

    def __init__(self, source: Source, problems: Diagnostics) -> None:
        self.source = source
        self.problems = problems
        self.names = CaseNames()
        self.head: list[str] = []
        self.is_whole = True  # of the case at hand; before the first one, of what all cases have
        self._said: set[str] = set()

    def leave_out(self, node: Node, what: str, why: str, *, decides: bool = True) -> str:
        """Report what is not imported; the comment that says so. The case is weaker if it `decides` the verdict."""
        self.is_whole &= not decides
        return left_out(self.problems, self.source, node.span, what, why)

    def differs(self, node: Node, what: str, why: str, *, decides: bool = True) -> tuple[str, ...]:
        """Report, once for the file, what means only nearly the same; the comments that say so.

        The case is weaker if the difference may `decide` the verdict.
        """
        self.is_whole &= not decides
        if self.is_said(what):
            return ()
        finding = Finding("EV655", what=what, why=why)
        self.problems.add(self.source, node.span, finding)
        return (finding.message(),)

    def is_said(self, what: str) -> bool:
        """Whether this was asked before."""
        before = len(self._said)
        self._said.add(what)
        return len(self._said) == before

    def imported_cases(
        self, suite: str, keys: Mapping[str, Any], items: Iterable[tuple[str, Node]], case_of: CaseOf
    ) -> Imported | None:
        """The suite with these keys, and a case of each item, with its name there; None if there is none."""
        are_whole, weaker, lost = self.is_whole, 0, 0
        cases: list[Noted] = []
        waiting: list[str] = []
        for number, (called, node) in enumerate(items, 1):
            self.is_whole = are_whole
            try:
                case, comments = case_of(node)
            except Unmappable as reason:
                waiting.append(self.leave_out(node, f"the case `{called or number}`", f"{reason}"))
                lost += 1
            else:
                named = self.names.keys(called, f"case {number}")
                cases.append(Noted({**named, **case}, (*waiting, *comments)))
                waiting.clear()
                weaker += not self.is_whole
        if not cases:
            self.problems.add(self.source, Span(0, 0), Finding("EV656", why="no case has a check that means the same"))
            return None
        values = [case.value for case in cases]
        shared = taken_out(values, ()) if all("validate" in each for each in values) else {}
        data = {"suite": suite, **keys, **shared, "eval": {"test_cases": Noted(cases, tuple(waiting))}}
        text = yaml_of(data, self.source, self.problems, head=tuple(self.head))
        if text is None:
            return None
        return Imported(text=text, file_name=f"{suite}.eval.yaml", cases=len(cases), weaker=weaker, lost=lost)


def tools(predicate: str, names: Iterable[str]) -> Check:
    """A check of the names of the tools that were called."""
    return Of(Tools(), Test(predicate, tuple(names)))


def call_with(tool: str, which: int | Which, arguments: Mapping[str, Any]) -> Check:
    """A check that a call has these arguments, among others."""
    return Of(
        Call(tool, which), together(Of(At(path_inside("", key)), is_value(each)) for key, each in arguments.items())
    )


def is_value(value: Any) -> Check:
    """A check that its subject is this value, which of a text is its text."""
    return Test("equals" if isinstance(value, str) else "is", value)


def entry(check: Check, comments: Sequence[str] = ()) -> Noted:
    """The entry of `validate:` that is a check, whose texts are no templates."""
    return Noted(entry_of(check, None, 1, LITERALLY, str), tuple(comments))
