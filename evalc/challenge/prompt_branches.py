"""Finds the prompts whose instructions no case would miss, and the branches of prompts that no case renders."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from evalc.compiler import ir
from evalc.dsl.places import locate
from evalc.grammar import nodes as g
from evalc.model import checks as c


class Branch(NamedTuple):
    """One way through a prompt: where its tag begins in the template, and which of its parts is meant."""

    at: int
    part: str


def branches_of(suite: ir.Suite) -> dict[str, bool]:
    """The branches of the suite's prompts, in words with their places, and whether a case renders them."""
    found: dict[str, bool] = {}
    for prompt in suite.prompts:
        rendered: set[Branch] = set()
        for case in suite.cases:
            if case.running and case.wheres.get("/input/message") == prompt.where:
                _render(prompt.template.parts, {**prompt.defaults, **(case.inputs or {})}, None, rendered)
        for branch, tag in _branches(prompt.template.parts):
            found[f"{_place(suite, prompt, tag)}: {branch.part}"] = branch in rendered
    return found


def prompts_of(suite: ir.Suite, *, judged: bool) -> dict[str, bool]:
    """The suite's prompts by their places, and whether a case renders each and looks at what comes of it.

    Of the others, any instruction could be removed, and no case would notice. `judged`: a judge scores criteria.
    """
    looks = judged and bool(suite.criteria)
    rendered = {case.wheres.get("/input/message") for case in suite.cases if case.running and (looks or _looks(case))}
    return {_place(suite, prompt, prompt.template): prompt.where in rendered for prompt in suite.prompts}


def _looks(case: ir.Case) -> bool:
    """Whether a case looks at what was said or done, and not only at how long that took and what it cost."""
    return bool(case.expected) or not all(isinstance(each.check, c.Latency | c.Cost) for each in case.checks)


def _place(suite: ir.Suite, prompt: ir.PromptTemplate, tag: g.Node) -> str:
    source, span = suite.place(prompt.where)
    line, column = source.position(locate(source, span, tag.start, tag.end).start)
    return f"{source.name}:{line}:{column}"


def _branches(parts: tuple[g.Part, ...]) -> Iterator[tuple[Branch, g.If | g.Each]]:
    for part in parts:
        match part:
            case g.If():
                for taken in (True, False):
                    yield _of_if(part, taken=taken), part
                yield from _branches(part.then)
                yield from _branches(part.otherwise)
            case g.Each():
                yield _of_each(part), part
                yield from _branches(part.body)
            case _:
                continue


def _render(parts: tuple[g.Part, ...], inputs: Mapping[str, Any], this: Any, rendered: set[Branch]) -> None:
    """Note the branches that these inputs render, as `compiler/fill` chooses them."""
    for part in parts:
        match part:
            case g.If(name=name):
                value = this if name.name == "this" and this is not None else inputs.get(name.name)
                taken = bool(value) is not part.negated
                rendered.add(_of_if(part, taken=taken))
                _render(part.then if taken else part.otherwise, inputs, this, rendered)
            case g.Each(name=name):
                value = inputs.get(name.name)
                for item in value if isinstance(value, list) else [] if value is None else [value]:
                    rendered.add(_of_each(part))
                    _render(part.body, inputs, item, rendered)
            case _:
                continue


def _of_if(tag: g.If, *, taken: bool) -> Branch:
    word = "unless" if tag.negated else "if"
    return Branch(tag.start, f"{{{{#{word} {tag.name.name}}}}} {'taken' if taken else 'not taken'}")


def _of_each(tag: g.Each) -> Branch:
    return Branch(tag.start, f"{{{{#each {tag.name.name}}}}} with an item")
