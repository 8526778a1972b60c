"""Fills templates with a case's inputs. Nothing is evaluated, and inputs are never read as templates."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Final, assert_never

from evalc.base.source import Span
from evalc.diagnostics.problem import Finding
from evalc.dsl.nodes import Node, Scalar, Sequence
from evalc.dsl.scalars import to_plain
from evalc.dsl.walk import is_null
from evalc.grammar import nodes as g

Inputs = Mapping[str, Node]

OPENS_TEMPLATE: Final = re.compile(r"\{\{\s*[#/A-Za-z_]")
"""The beginning of a template in a pattern, where braces may as well be its own."""


def fill(template: g.Template, inputs: Inputs, *, transform: Callable[[str], str] = str) -> str:
    """The text of a template; a name that has no input is empty, and a scalar is as it was written.

    The text of each input is transformed before it goes in (escaped, in a pattern).
    """
    return "".join(_parts(template.parts, inputs, transform, None))


def _parts(parts: tuple[g.Part, ...], inputs: Inputs, transform: Callable[[str], str], this: Node | None) -> list[str]:
    texts: list[str] = []
    for part in parts:
        match part:
            case g.Words():
                texts.append(part.value)
            case g.Variable():
                node = this if this is not None and part.name == "this" else inputs.get(part.name)
                if node is not None:
                    texts.append(transform(text_of_input(node)))
            case g.TemplateToken():
                texts.append(part.text)
            case g.If():
                node = this if this is not None and part.name.name == "this" else inputs.get(part.name.name)
                chosen = part.then if _is_truthy(node) is not part.negated else part.otherwise
                texts += _parts(chosen, inputs, transform, this)
            case g.Each():
                for item in _items(inputs.get(part.name.name)):
                    texts += _parts(part.body, inputs, transform, item)
            case _:
                assert_never(part)
    return texts


def text_of_input(node: Node) -> str:
    """An input as a text: a scalar as it was written, null as nothing, a list or mapping as JSON."""
    if isinstance(node, Scalar):
        return "" if node.style == "plain" and is_null(node) else node.text
    return json.dumps(plain(node), ensure_ascii=False)


def plain(node: Node) -> object:
    """A node as plain data. Values that cannot be read were reported when the tree was checked."""
    return to_plain(node, _already_reported)


def _already_reported(_span: Span, _finding: Finding) -> None:
    """Findings about the values of inputs are made once, where inputs are resolved."""


def _is_truthy(node: Node | None) -> bool:
    """Whether `#if` takes its first branch: not for null, false, 0, an empty text, list or mapping."""
    return node is not None and bool(plain(node))


def _items(node: Node | None) -> tuple[Node, ...]:
    return node.items if isinstance(node, Sequence) else () if node is None else (node,)


def variables(parts: tuple[g.Part, ...], guarded: frozenset[str] = frozenset()) -> Iterator[tuple[g.Variable, bool]]:
    """Every name that a template uses, and whether it may be absent there: as a condition, or below its own `#if`."""
    for part in parts:
        match part:
            case g.Words() | g.TemplateToken():
                pass
            case g.Variable():
                if part.name != "this":
                    yield part, part.name in guarded
            case g.If():
                if part.name.name != "this":
                    yield part.name, True
                inside = guarded | {part.name.name}
                yield from variables(part.then, guarded if part.negated else inside)
                yield from variables(part.otherwise, inside if part.negated else guarded)
            case g.Each():
                yield part.name, True
                yield from variables(part.body, guarded | {part.name.name})
            case _:
                assert_never(part)


def not_texts(parts: tuple[g.Part, ...], inputs: Inputs) -> Iterator[tuple[g.Variable, Node]]:
    """The variables of a template whose value is a list or mapping, which would become JSON."""
    for part in parts:
        match part:
            case g.Variable():
                node = inputs.get(part.name)
                if node is not None and not isinstance(node, Scalar):
                    yield part, node
            case g.If():
                yield from not_texts((*part.then, *part.otherwise), inputs)
            case g.Each():
                for item in _items(inputs.get(part.name.name)):
                    yield from not_texts(part.body, {**inputs, "this": item})
            case g.Words() | g.TemplateToken():
                pass
            case _:
                assert_never(part)


def tokens(parts: tuple[g.Part, ...]) -> Iterator[g.TemplateToken]:
    """Every `{{seed:...}}` and `{{snapshot:...}}` of a template."""
    for part in parts:
        match part:
            case g.TemplateToken():
                yield part
            case g.If():
                yield from tokens(part.then)
                yield from tokens(part.otherwise)
            case g.Each():
                yield from tokens(part.body)
            case g.Words() | g.Variable():
                pass
            case _:
                assert_never(part)
