"""From a case's message, its prompt, its messages or its inputs to what is sent, and what is said before it."""

from __future__ import annotations

from typing import get_args

from evalc.compiler.emit.emission import Emission
from evalc.compiler.fill import fill, text_of_input, variables
from evalc.compiler.node_places import node_at
from evalc.diagnostics.catalogue.contract import MessageFromInputs, NothingToSend
from evalc.diagnostics.catalogue.values import WrongType
from evalc.dsl.nodes import Mapping, Node, Sequence, span_of
from evalc.dsl.tree import Str
from evalc.grammar.parse import parse_template
from evalc.model import case as m


def message_of(emission: Emission, messages: tuple[m.Message, ...] | None) -> str | None:
    """What is sent; None when there is nothing or when it could not be made."""
    tree, prompt = emission.case.tree, emission.variant.prompt
    if tree.message is not None:
        return emission.text(tree.message)
    if tree.has_own_words:
        return next((message.content for message in reversed(messages or ()) if message.role == "user"), "")
    if prompt is not None:
        return None if prompt.template is None else fill(prompt.template, emission.inputs)
    if tree.prompt_id is not None or emission.names.wants_prompt:
        return None
    if emission.given:
        span = tree.inputs_span or tree.span
        emission.problems.add(tree.source, span, MessageFromInputs(case=tree.name.value))
        return "\n".join(f"{name}: {text_of_input(given.value)}" for name, given in emission.given.items())
    if not emission.case.partial:
        emission.problems.add(tree.source, tree.span, NothingToSend(case=tree.name.value))
    return None


def system_of(emission: Emission) -> str | None:
    """The prompt's role and instructions. They are metadata to other tools: what is no template of ours stays."""
    prompt = emission.variant.prompt
    if prompt is None or not prompt.tree.system:
        return None
    return "\n\n".join(_filled_where_known(emission, part) for part in prompt.tree.system) or None


def _filled_where_known(emission: Emission, text: str) -> str:
    parse = parse_template(text) if "{{" in text else None
    if parse is None or parse.node is None or parse.faults:
        return text
    names = {variable.name for variable, _ in variables(parse.node.parts)}
    return fill(parse.node, emission.inputs) if names <= emission.known else text


def messages_of(emission: Emission) -> tuple[m.Message, ...] | None:
    """The messages of a conversation, the templates in their contents filled."""
    tree = emission.case.tree
    if tree.messages is None or _report_roles_as_keys(emission, tree.messages):
        return None
    messages = emission.typed(tree.source, tree.messages, tuple[m.Message, ...], "`messages`")
    if messages is None:
        return None
    filled: list[m.Message] = []
    for index, message in enumerate(messages):
        place = node_at(tree.messages, f"/{index}/content")
        content = emission.text(Str(message.content, span_of(place)))
        filled.append(m.Message(role=message.role, content=content or ""))
    return tuple(filled)


def _report_roles_as_keys(emission: Emission, messages: Node) -> bool:
    """Whether there are items such as `user: Hello`, each of which is told as one mistake."""
    found = False
    for item in messages.items if isinstance(messages, Sequence) else ():
        if isinstance(item, Mapping) and len(item.pairs) == 1 and item.pairs[0][0].text in get_args(m.Role):
            key = item.pairs[0][0]
            finding = WrongType(
                what="an item of `messages`",
                expected="`role` and `content`",
                found=f"`{key.text}`",
                corrected=f"{{role: {key.text}, content: ...}}",
            )
            emission.problems.add(emission.case.tree.source, span_of(key), finding)
            found = emission.failed = True
    return found
