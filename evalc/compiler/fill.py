"""Fills templates with a case's inputs. Nothing is evaluated, and inputs are never read as templates."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Container, Iterator, Mapping
from functools import lru_cache
from typing import Final, NamedTuple, assert_never

from evalc.dsl import nodes as n
from evalc.dsl.nodes import Node, Scalar, one_or_many
from evalc.dsl.scalars import to_plain
from evalc.dsl.walk import is_null
from evalc.grammar import nodes as g

Inputs = Mapping[str, Node]


def fill(template: g.Template, inputs: Inputs, *, transform: Callable[[str], str] = str) -> str:
    """The text of a template; a name that has no input is empty, and a scalar is as it was written.

    The text of each input is transformed before it goes in (escaped, in a pattern).
    """
    return "".join(_parts(template.parts, inputs, transform))


def _parts(parts: tuple[g.Part, ...], inputs: Inputs, transform: Callable[[str], str]) -> list[str]:
    texts: list[str] = []
    for part in parts:
        match part:
            case g.Words():
                texts.append(part.value)
            case g.Variable():
                node = inputs.get(part.name) or value_of(part.name, inputs)
                if node is not None:
                    texts.append(transform(text_of_input(node)))
            case g.TemplateToken():
                texts.append(part.text)
            case g.If():
                texts += _parts(_branch(part, inputs), inputs, transform)
            case g.Each():
                for scope in _scopes(part, inputs):
                    texts += _parts(part.body, scope, transform)
            case _:
                assert_never(part)
    return texts


def _branch(part: g.If, inputs: Inputs) -> tuple[g.Part, ...]:
    """The branch that `#if` takes: the other one for null, false, 0, an empty text, list or mapping."""
    node = value_of(part.name.name, inputs)
    is_true = node is not None and bool(to_plain(node))
    return part.then if is_true is not part.negated else part.otherwise


def _scopes(part: g.Each, inputs: Inputs) -> Iterator[Inputs]:
    """The inputs for each item of a list, which is `this` there."""
    return ({**inputs, "this": item} for item in one_or_many(value_of(part.name.name, inputs)))


# --- names and paths -------------------------------------------------------------------------------------------------

_STEP: Final = re.compile(r"\.(?P<key>[^.\[]*)|\[(?P<index>[0-9]+)\]")


@lru_cache(4_096)
def readings(name: str) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """The ways to read a name of a template: as an input and the steps from there, the longest input first.

    An input may have dots in its name, so `a.b` is an input before it is a place in `a`.
    """
    if "." not in name and "[" not in name:
        return ((name, ()),)
    steps = list(_STEP.finditer(name))
    keys = tuple(step["key"] if step["index"] is None else step["index"] for step in steps)
    ends = [steps[0].start(), *(step.end() for step in steps)]
    return tuple((name[: ends[at]], keys[at:]) for at in reversed(range(len(ends))))


def root_of(name: str, known: Container[str]) -> str | None:
    """The input that a name begins with; None if none of those that are known is meant."""
    return next((root for root, _ in readings(name) if root in known), None)


def value_of(name: str, inputs: Inputs) -> Node | None:
    """The value that a name in a template stands for; None if there is none."""
    node = inputs.get(name)
    if node is not None or ("." not in name and "[" not in name):
        return node
    for root, steps in readings(name):
        node = inputs.get(root)
        if node is not None:
            for step in steps:
                node = None if node is None else _member(node, step)
            return node
    return None


class Astray(NamedTuple):
    """Where a path leads nowhere: the input that it begins in, how far it leads, what is there and the next step."""

    root: str
    reached: str
    value: Node
    step: str


def _end_of(name: str, inputs: Inputs) -> Astray | None:
    """Where the path that a name is leads nowhere; None if it leads to a value, or begins in no input."""
    root = root_of(name, inputs)
    if root is None:
        return None
    node, at = inputs[root], len(root)
    for step in dict(readings(name))[root]:
        inner = _member(node, step)
        if inner is None:
            return Astray(root, name[:at], node, step)
        node = inner
        at += len(step) + (2 if name[at] == "[" else 1)
    return None


def _member(node: Node, step: str) -> Node | None:
    """The value of a key, or the item of a list at an index; None if there is none."""
    match node:
        case n.Mapping(pairs=pairs):
            return next((value for key, value in pairs if key.text == step), None)
        case n.Sequence(items=items) if step.isascii() and step.isdigit() and int(step) < len(items):
            return items[int(step)]
        case _:
            return None


def astray(parts: tuple[g.Part, ...], inputs: Inputs) -> Iterator[tuple[g.Variable, Astray]]:
    """The paths of a template that lead nowhere, in the parts that these inputs leave in.

    A condition and a list to repeat for may lead to what is absent, though not into a text.
    """
    for part in parts:
        match part:
            case g.Variable():
                found = None if value_of(part.name, inputs) is not None else _end_of(part.name, inputs)
                if found is not None:
                    yield part, found
            case g.If():
                yield from _astray_at_a_block(part.name, inputs)
                yield from astray(_branch(part, inputs), inputs)
            case g.Each():
                yield from _astray_at_a_block(part.name, inputs)
                root = root_of(part.name.name, inputs) or part.name.name
                for scope in _scopes(part, inputs):
                    inner = astray(part.body, scope)
                    yield from ((one, at._replace(root=root) if at.root == "this" else at) for one, at in inner)
            case g.Words() | g.TemplateToken():
                pass
            case _:
                assert_never(part)


def _astray_at_a_block(variable: g.Variable, inputs: Inputs) -> Iterator[tuple[g.Variable, Astray]]:
    found = _end_of(variable.name, inputs)
    if found is not None and isinstance(found.value, Scalar) and not is_null(found.value):
        yield variable, found


# --- values ----------------------------------------------------------------------------------------------------------


def text_of_input(node: Node) -> str:
    """An input as a text: a scalar as it was written, null as nothing, a list or mapping as JSON."""
    if isinstance(node, Scalar):
        return "" if node.style == "plain" and is_null(node) else node.text
    return json.dumps(to_plain(node), ensure_ascii=False)


def variables(
    parts: tuple[g.Part, ...], guarded: frozenset[str] = frozenset(), *, repeated: bool = False
) -> Iterator[tuple[g.Variable, bool]]:
    """Every name that a template uses, and whether it may be absent there: as a condition, or below its own `#if`.

    `this` is not among them; nor is a path into it where the part is `repeated`, below an `#each`.
    """
    for part in parts:
        match part:
            case g.Words() | g.TemplateToken():
                pass
            case g.Variable():
                if part.name != "this" and not (repeated and root_of(part.name, _THIS)):
                    yield part, bool(guarded) and root_of(part.name, guarded) is not None
            case g.If():
                if part.name.name != "this" and not (repeated and root_of(part.name.name, _THIS)):
                    yield part.name, True
                inside = guarded | {part.name.name}
                yield from variables(part.then, guarded if part.negated else inside, repeated=repeated)
                yield from variables(part.otherwise, inside if part.negated else guarded, repeated=repeated)
            case g.Each():
                if not (repeated and root_of(part.name.name, _THIS)):
                    yield part.name, True
                yield from variables(part.body, guarded | {part.name.name}, repeated=True)
            case _:
                assert_never(part)


_THIS: Final = ("this",)


def only_names(template: g.Template, inputs: Inputs) -> bool:
    """Whether a template is texts and names that have values alone, so that nothing can be wrong with it."""
    for part in template.parts:
        if type(part) is g.Words:
            continue
        if type(part) is not g.Variable or (part.name not in inputs and value_of(part.name, inputs) is None):
            return False
    return True


def is_of_plain_texts(template: g.Template, inputs: Inputs) -> bool:
    """Whether a template is words and names of texts without braces alone, so that nothing can be wrong with it."""
    for part in template.parts:
        if type(part) is g.Words:
            text = part.value
        elif type(part) is g.Variable:
            node = value_of(part.name, inputs)
            if not isinstance(node, Scalar):
                return False
            text = node.text
        else:
            return False
        if "{{" in text:
            return False
    return True


def not_texts(parts: tuple[g.Part, ...], inputs: Inputs) -> Iterator[tuple[g.Variable, Node]]:
    """The variables of a template whose value is a list or mapping, which would become JSON."""
    for part in parts:
        match part:
            case g.Variable():
                node = value_of(part.name, inputs)
                if node is not None and not isinstance(node, Scalar):
                    yield part, node
            case g.If():
                yield from not_texts((*part.then, *part.otherwise), inputs)
            case g.Each():
                for scope in _scopes(part, inputs):
                    yield from not_texts(part.body, scope)
            case _:
                pass


def tokens(parts: tuple[g.Part, ...]) -> Iterator[g.TemplateToken]:
    """Every `{{seed:...}}` and `{{snapshot:...}}` of a template."""
    for part in parts:
        if isinstance(part, g.TemplateToken):
            yield part
        for inside in ("then", "otherwise", "body"):
            yield from tokens(getattr(part, inside, ()))
