"""Reads the prompts of a promptfoo configuration, and the variables that fill them, which are the inputs of cases."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, final

import msgspec

from evalc.dsl import nodes
from evalc.dsl.nodes import Node, Scalar, fields_of, one_or_many
from evalc.dsl.scalars import to_plain
from evalc.extras.importers.imported import NO_COUNTERPART, CaseNames, Unmappable, as_template
from evalc.extras.importers.promptfoo_source import CODE, DATA_FILES, FILE, Configuration
from evalc.extras.importers.promptfoo_templates import (
    filled,
    has_template,
    rendered,
    template_of,
    uses,
    variables_of,
    without_environment,
)
from evalc.extras.importers.promptfoo_tests import PromptfooTest, Tests
from evalc.model.json import to_json

_PATH_TO_FILE: Final = re.compile(r"[^\s{}]+\.(?:txt|md|json|jsonl|ya?ml|csv|j2|py|js|cjs|mjs|ts|rb|sh)(?::[\w.]+)?")
_CODE: Final = re.compile(r".*\.(?:py|[cm]?[jt]s|rb|sh)(?::[\w.]+)?")
_SEPARATOR: Final = re.compile(r"^[^\S\n]*---[^\S\n]*$", re.MULTILINE)
_ROLES: Final = {"system": "system", "developer": "system", "user": "user", "assistant": "assistant"}
"""The roles of messages; a `developer` is what OpenAI calls the system."""
_OVER_LINES: Final = re.compile(r"\{%[^%]*$|\{\{[^}]*$|\{#[^#]*$", re.MULTILINE)
_MEDIA: Final = re.compile(
    r"\.(?:pdf|jpe?g|png|gif|bmp|webp|svg|mp[34]|webm|ogg|mov|avi|wmv|mkv|m4[av]|wav|aac|flac|wma|aiff|opus)\Z", re.I
)
_SECRET: Final = re.compile(r"(?:\A|/)\.env[^/]*\Z", re.IGNORECASE)
_LONGEST: Final = 100_000
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


# --- variables -------------------------------------------------------------------------------------------------------


@final
class Variables:
    """The variables of a configuration's tests."""

    def __init__(self, given: Configuration, reader: Tests) -> None:
        self._given = given
        self._reader = reader
        self._unknown: set[str] = set()  # those of which the head says that they are not known

    def of(self, test: PromptfooTest, prompts: Mapping[str, Prompt]) -> dict[str, Any]:
        """The values of a test's variables, but for those that only promptfoo knows.

        Raises:
            Unmappable: one is not known and a prompt asks for it, or one uses the answer to another test.
        """
        values: dict[str, Any] = {}
        left_out: dict[str, str] = {}
        for name, value in test.vars.items():
            text = value if isinstance(value, str) else ""
            if any(uses(text, each) for each in self._reader.stored):
                raise Unmappable(f"its variable `{name}` uses the answer to another test")
            filled_in, lacking = without_environment(text, self._given.environment) if "{{" in text else (text, "")
            if filled_in != text:
                test.unknown = (*test.unknown, name)
            path = filled_in.removeprefix(FILE) if filled_in.startswith(FILE) else ""
            if lacking and path:
                left_out[name] = f"the environment is not read, and `{lacking}` names its file"
            elif CODE.search(path):
                left_out[name] = f"`{path}` is code, and an eval file runs none"
            elif _MEDIA.search(path):
                values[name] = path
                self._say_of_variable(test, name, "it is the path of a file, of which promptfoo sends what it holds")
            else:
                try:
                    values[name] = self._of_file(name, filled_in if text else value)
                except Unmappable:
                    if "*" not in test.unknown:
                        raise
                    values[name] = value  # which the code may read in a way of its own
                if lacking:
                    why = f"the environment is not read, so `{lacking}` is filled as where it is not set"
                    self._say_of_variable(test, name, why)
        found, faults = _filled(values)
        left_out |= faults
        left_out |= dict.fromkeys(_using(left_out, values), "it uses another that is not imported")
        values = {name: value for name, value in found.items() if name not in left_out}
        asked = {name for each in prompts.values() for name in each.variables}
        for name, why in left_out.items():
            if name in asked and self._reader.shared.get(name) != test.vars[name]:
                raise Unmappable(f"in its variable `{name}`, {why}")  # the prompt is about it
        for name, why in left_out.items():
            self._say_of_variable(test, name, why, is_left_out=True)
        test.unknown = (*test.unknown, *_using(test.unknown, test.vars))
        return values

    def _say_of_variable(self, test: PromptfooTest, name: str, why: str, *, is_left_out: bool = False) -> None:
        """Say in the head, once for each variable, that it is another one here or is left out."""
        test.is_whole = False
        test.unknown = (*test.unknown, name)
        if name not in self._unknown:
            self._unknown.add(name)
            say = self._given.leave_out if is_left_out else self._given.differ
            self._given.head.append(say(test.source, test.node, f"the variable `{name}`", why))

    def _of_file(self, name: str, value: Any) -> Any:
        """The value of a variable; the text of the file that it names, as promptfoo reads it."""
        if not isinstance(value, str) or not value.startswith(FILE):
            return value
        path = value.removeprefix(FILE)
        try:
            if _SECRET.search(path):
                raise Unmappable(f"`{path}` may hold secrets")
            source = self._given.read(path)
            if len(source.text) > _LONGEST:
                raise Unmappable(f"`{path}` has more than {_LONGEST:,} characters")
            is_yaml = path.endswith((".yaml", ".yml"))
            return to_json(to_plain(self._given.document(source))).decode() if is_yaml else source.text.strip()
        except Unmappable as reason:
            raise Unmappable(f"its variable `{name}` is in a file: {reason}") from reason


def _using(names: Iterable[str], values: Mapping[str, Any]) -> list[str]:
    """The variables, but for these, that are filled with one of them, or with another that is."""
    found = [*names]
    for known in found:  # which grows
        found += [each for each, text in values.items() if each not in found and uses(str(text), known)]
    return [name for name in found if name not in {*names}]


def _filled(values: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, str]]:
    """The variables with the templates in them filled by each other, as promptfoo fills them, and why some are not.

    Promptfoo takes the line break off the end of a variable.
    """
    values = {name: value.removesuffix("\n") if isinstance(value, str) else value for name, value in values.items()}
    found: dict[str, Any] = {}
    faults: dict[str, str] = {}
    for name, value in values.items():
        try:
            has_tag = isinstance(value, str) and any(opening in value for opening in ("{{", "{%", "{#"))
            found[name] = filled(value, values) if has_tag else value
        except Unmappable as reason:
            faults[name] = f"{reason}"
    return found, faults
