"""Where a text names something: rules, criteria, prompts, inputs, seed values, tools and files."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final, Literal, NamedTuple, get_args

from evalc.base.source import Source, Span
from evalc.dsl.places import locate
from evalc.dsl.tree import (
    CaseTree,
    CheckBody,
    CheckGroup,
    CheckLeaf,
    CheckTree,
    CheckUse,
    InputTree,
    PromptTree,
    SharedTree,
    Str,
    SuiteTree,
)
from evalc.ecma.tokens import find_tokens
from evalc.grammar.nodes import Text
from evalc.lsp.outline import Outline
from evalc.model.checks.declaration import ToolName, texts_of

Kind = Literal["rule", "criterion", "prompt", "input", "seed", "tool", "file"]

_TOOL: Final = get_args(ToolName)[1]
_VARIABLE: Final = re.compile(r"\{\{\s*(?:#(?:if|unless|each)\s+)?(?!else\s*\}\})(?P<name>[A-Za-z_][\w.-]*)\s*\}\}")


class Mention(NamedTuple):
    """A name in a text.

    Attributes:
        kind: what it names.
        name: the name.
        span: its place, without its quotes.
        defines: whether what it names is declared here.
        document: the number of the suite or shared document among those of its text; -1 for all of them.
    """

    kind: Kind
    name: str
    span: Span
    defines: bool = False
    document: int = -1


def mentions(found: Outline) -> tuple[Mention, ...]:
    """Every name that an outline has, in the order of their places."""
    every = (*_of_suites(found), *_of_tokens(found.source))
    return tuple(sorted(dict.fromkeys(every), key=lambda each: each.span))


def mention_at(every: Iterable[Mention], offset: int) -> Mention | None:
    """The mention that an offset is in or at the end of: the shortest, if one is in another."""
    around = [each for each in every if each.span.start <= offset <= each.span.end]
    return min(around, key=lambda each: each.span.end - each.span.start, default=None)


def _of_suites(found: Outline) -> Iterator[Mention]:
    source = found.source
    for number, suite in enumerate(found.suites):
        yield from _of_suite(source, suite, number)
    for number, shared in enumerate(found.shared, len(found.suites)):
        yield from _of_shared(source, shared, number)
    for prompt in found.prompts:
        yield from _of_prompt(source, prompt, -1)


def _of_suite(source: Source, suite: SuiteTree, number: int) -> Iterator[Mention]:
    yield from _of_shared(source, suite.shared, number)
    if suite.prompt is not None and suite.prompt.source is source:
        yield from _of_prompt(source, suite.prompt, number)
    inputs = {each.name.value for each in (*(suite.inputs or ()), *(_inputs_of(suite.prompt)))}
    yield from _declared(source, suite.inputs, number)
    for criterion in suite.criteria:
        yield _named(source, "criterion", criterion.name, number, defines=True)
    for name in (suite.prompt_id, *(variant.id for variant in suite.prompts)):
        if name is not None:
            yield _named(source, "prompt", name, number)
    for file in (suite.prompt_file, *(variant.file for variant in suite.prompts)):
        if file is not None:
            yield _named(source, "file", file, number)
    if suite.tool is not None:
        yield _named(source, "tool", suite.tool, number)
    for case in suite.cases:
        yield from _of_case(source, case, number)
    for match in _VARIABLE.finditer(source.text) if inputs else ():
        if match["name"] in inputs:
            yield Mention("input", match["name"], Span(*match.span("name")), document=number)


def _inputs_of(prompt: PromptTree | None) -> tuple[InputTree, ...]:
    return () if prompt is None or prompt.inputs is None else prompt.inputs


def _declared(source: Source, inputs: tuple[InputTree, ...] | None, number: int) -> Iterator[Mention]:
    for each in inputs or ():
        yield _named(source, "input", each.name, number, defines=True)


def _of_prompt(source: Source, prompt: PromptTree, number: int) -> Iterator[Mention]:
    if prompt.id is not None:
        yield _named(source, "prompt", prompt.id, number, defines=True)
    yield from _declared(source, prompt.inputs, number)


def _of_case(source: Source, case: CaseTree, number: int) -> Iterator[Mention]:
    yield from _of_checks(source, case.checks, number)
    for given in case.inputs or ():
        yield _named(source, "input", given.name, number)
    if case.prompt_id is not None:
        yield _named(source, "prompt", case.prompt_id, number)
    if case.for_each is not None and case.for_each.file is not None:
        yield _named(source, "file", case.for_each.file, number)


def _of_shared(source: Source, shared: SharedTree, number: int) -> Iterator[Mention]:
    for file in shared.includes:
        yield _named(source, "file", file, number)
    for rule in shared.rules:
        yield _named(source, "rule", rule.name, number, defines=True)
        yield from _of_checks(source, rule.checks, number)
    if shared.defaults is not None:
        yield from _of_checks(source, shared.defaults.checks, number)


def _of_checks(source: Source, checks: Iterable[CheckTree], number: int) -> Iterator[Mention]:
    for check in checks:
        if check.criterion is not None:
            yield _named(source, "criterion", check.criterion, number)
        yield from _of_body(source, check.body, number)


def _of_body(source: Source, body: CheckBody, number: int) -> Iterator[Mention]:
    match body:
        case CheckUse():
            yield _named(source, "rule", body.name, number)
        case CheckGroup():
            for item in body.items:
                yield from _of_body(source, item, number)
        case CheckLeaf():
            yield from _of_leaf(source, body, number)
        case _:
            pass


def _of_leaf(source: Source, leaf: CheckLeaf, number: int) -> Iterator[Mention]:
    """The tools and the schema's file that a check names."""
    for role, value, pointer in texts_of(leaf.check):
        if role is _TOOL and (atom := leaf.atoms.get(pointer)) is not None:
            yield _named(source, "tool", Str(value, _place(source, leaf, atom.start, atom.end)), number)
    for pointer, written in leaf.atoms.items():
        if pointer.endswith("/schema") and isinstance(written, Text):
            yield _named(source, "file", Str(written.value, _place(source, leaf, written.start, written.end)), number)


def _place(source: Source, leaf: CheckLeaf, start: int, end: int) -> Span:
    return Span(start, end) if leaf.origin is None else locate(source, leaf.origin.span, start, end)


def _named(source: Source, kind: Kind, name: Str, number: int, *, defines: bool = False) -> Mention:
    """The mention of a name, without the quotes or the prefix that its token may have."""
    start, end = name.span
    at = source.text.find(name.value, start, end)
    span = Span(at, at + len(name.value)) if at >= 0 else Span(start, end)
    return Mention(kind, name.value, span, defines, number)


def _of_tokens(source: Source) -> Iterator[Mention]:
    for token in find_tokens(source.text):
        if token.source == "seed":
            at = source.text.find(token.path, token.start + len("{{seed:"))
            yield Mention("seed", token.path, Span(at, at + len(token.path)))
