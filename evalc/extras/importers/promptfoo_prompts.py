"""Reads the prompts of a promptfoo configuration."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, final

import msgspec

from evalc.dsl import nodes
from evalc.dsl.nodes import Node, Scalar, fields_of, one_or_many
from evalc.dsl.scalars import to_plain
from evalc.extras.importers.imported import NO_COUNTERPART, CaseNames, Unmappable, as_template
from evalc.extras.importers.promptfoo_source import DATA_FILES, FILE, Configuration
from evalc.extras.importers.promptfoo_templates import has_template, rendered, template_of, variables_of

_PATH_TO_FILE: Final = re.compile(r"[^\s{}]+\.(?:txt|md|json|jsonl|ya?ml|csv|j2|py|js|cjs|mjs|ts|rb|sh)(?::[\w.]+)?")
_CODE: Final = re.compile(r".*\.(?:py|[cm]?[jt]s|rb|sh)(?::[\w.]+)?")
_SEPARATOR: Final = re.compile(r"^[^\S\n]*---[^\S\n]*$", re.MULTILINE)
_ROLES: Final = {"system": "system", "developer": "system", "user": "user", "assistant": "assistant"}
"""The roles of messages; a `developer` is what OpenAI calls the system."""
_OVER_LINES: Final = re.compile(r"\{%[^%]*$|\{\{[^}]*$|\{#[^#]*$", re.MULTILINE)
_ELSEWHERE: Final = ("exec:", "langfuse://", "portkey://", "helicone://", "http://", "https://")


@final
class Prompt(msgspec.Struct):
    """A prompt: a template, the path of one, or a conversation as promptfoo has it, or a template of its own.

    `raw` is the text as promptfoo has it, and `called` are the label and the id that tests may ask for.
    """

    text: str = ""
    file: str = ""
    messages: tuple[Mapping[str, str], ...] = ()
    template: str = ""
    variables: tuple[str, ...] = ()
    raw: str = ""
    called: tuple[str, ...] = ()

    def is_among(self, asked: Sequence[str]) -> bool:
        """Whether a test that asks for prompts by these names means this one."""
        return any(
            name == each or name.startswith(f"{each}:") or (each.endswith("*") and name.startswith(each[:-1]))
            for name in self.called
            for each in asked
        )

    def sent_with(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """The keys of a case that send a conversation, or a template of promptfoo's; empty for any other prompt.

        Raises:
            Unmappable: the values cannot be filled in.
        """
        if not self.template:
            messages = [{**each, "content": template_of(each["content"], values)} for each in self.messages]
            return {"messages": messages} if messages else {}
        text = rendered(self.template, values)
        conversation = _messages_of(_json_of(text))
        if conversation is None:
            return {"message": as_template(text)}
        return {"messages": [{**each, "content": as_template(each["content"])} for each in conversation]}


def prompts_of(configuration: Configuration, node: Node | None) -> dict[str, Prompt]:
    """The prompts that map, by their names; the others are left out."""
    if node is None:
        return {"prompt": Prompt(text="{{prompt}}", variables=("prompt",))}
    found: dict[str, Prompt] = {}
    names = CaseNames()
    items: list[tuple[Node, str]] = [(item, "") for item in one_or_many(node)]
    if isinstance(node, nodes.Mapping) and fields_of(node).keys().isdisjoint(("raw", "id")):
        items = [(key, value.text if isinstance(value, Scalar) else "") for key, value in node.pairs]
    for item, called in items:
        try:
            for label, prompt in _of_item(configuration, item, called):
                if any(each.messages or each.template for each in (prompt, *found.values())) and found:
                    why = "`prompts` compares texts, and no conversations, nor texts that each case fills in"
                    configuration.say_in_head(item, "a further prompt", why)
                else:
                    found[names.make(label, f"prompt_{len(found) + 1}")] = prompt
        except Unmappable as reason:
            configuration.say_in_head(item, "a further prompt" if found else "the prompt", f"{reason}")
    return found


def _of_item(configuration: Configuration, node: Node, label: str) -> Iterator[tuple[str, Prompt]]:
    """The prompts of an entry, each with its label, which an entry may say itself."""
    called: tuple[str, ...] = (label,) if label else ()
    has_label = bool(label)
    if isinstance(node, nodes.Mapping):
        fields = fields_of(node)
        raw = fields.get("raw", fields.get("id"))
        if raw is None or "function" in fields:
            raise Unmappable("it is made by code")
        named = fields.get("label", fields.get("id") if "raw" in fields else None)
        label = named.text if isinstance(named, Scalar) else ""
        for key in (key for key, value in node.pairs if value not in (raw, named) and key.text != "id"):
            why = "how a model is asked is said of the agent" if key.text == "config" else NO_COUNTERPART
            configuration.say_in_head(key, f"`{key.text}` of the prompt", why)
        called = tuple(each.text for each in map(fields.get, ("label", "id")) if isinstance(each, Scalar))
        has_label = "label" in fields
        node = raw
    if not isinstance(node, Scalar):
        raise Unmappable("it is not a text")
    text = node.text
    path = text.strip().removeprefix(FILE)
    if text.startswith(FILE) or _PATH_TO_FILE.fullmatch(path):
        if _CODE.fullmatch(path):
            raise Unmappable(f"`{path}` makes it, and an eval file runs no code")
        for each in configuration.matching(path):
            for name, prompt in _of_file(configuration, each):
                prompt.called = called[:has_label]  # the id is not that of what is in a file
                yield label or name, prompt
    elif text.startswith(_ELSEWHERE):
        raise Unmappable("it comes from elsewhere")
    else:
        prompt = _prompt_of(text)
        prompt.called = called or (text,)
        yield label, prompt


def _of_file(configuration: Configuration, path: str) -> Iterator[tuple[str, Prompt]]:
    """The prompts of a file, with its name: a text, several between lines of `---`, or a conversation as data."""
    source = configuration.read(path, (".txt", ".md", ".j2", *DATA_FILES))
    name = Path(path).name.partition(".")[0]
    try:
        if path.endswith(DATA_FILES):
            messages = _messages_of(to_plain(configuration.document(source)))
            if messages is None:
                raise Unmappable("only messages are a prompt, each a `role` and a text as `content`")
            yield name, _conversation(messages)
        elif len(parts := _SEPARATOR.split(source.text)) > 1 and path.endswith(".txt"):
            yield from ((name, _prompt_of(part.strip())) for part in parts if part.strip())
        elif _is_plain(source.text) and not re.search(r"\{\{\s*'", source.text) and _json_of(source.text) is None:
            variables, raw = variables_of(source.text), source.text.strip() if path.endswith(".txt") else source.text
            yield name, Prompt(file=configuration.relative(path), variables=variables, raw=raw)
        else:
            yield name, _prompt_of(source.text.strip())  # it is no template of evalc's
    except Unmappable as reason:
        raise Unmappable(f"in `{path}`, {reason}") from reason


def _prompt_of(text: str) -> Prompt:
    data = _json_of(text)
    conversation = _messages_of(data)
    if conversation is not None:
        return _conversation(conversation)
    if data is not None and has_template(text):
        raise Unmappable("promptfoo fills it as data; only messages are, each a `role` and a text as `content`")
    if _is_plain(text):
        return Prompt(text=template_of(text), variables=variables_of(text), raw=text)
    rendered(text, None)
    if _OVER_LINES.search(text):
        raise Unmappable("a tag goes over lines, and promptfoo sends it as it is")
    return Prompt(template=text, raw=text)


def _is_plain(text: str) -> bool:
    """Whether a text has no more than variables."""
    try:
        variables_of(text)
    except Unmappable:
        return False
    return True


def _json_of(text: str) -> object:
    """The list or object that a text is in JSON; None for any other."""
    if text.lstrip()[:1] in ("[", "{"):
        with suppress(ValueError):
            return json.loads(text)
    return None


def _messages_of(data: object) -> tuple[dict[str, str], ...] | None:
    """The messages that data are, with the roles of evalc; None for any other data."""
    if not isinstance(data, list) or not data:
        return None
    if not all(
        isinstance(each, dict)
        and each.keys() == {"role", "content"}
        and isinstance(each["content"], str)
        and each["role"] in _ROLES
        for each in data
    ):
        return None
    return tuple({"role": _ROLES[each["role"]], "content": each["content"]} for each in data)


def _conversation(messages: tuple[dict[str, str], ...]) -> Prompt:
    for each in messages:
        rendered(each["content"], None)
    return Prompt(messages=messages)
