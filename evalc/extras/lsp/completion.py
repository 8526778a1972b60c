"""Completions at the cursor: keys, check words, criteria, rules, inputs, seed paths, tools, parameters."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator
from functools import cache, partial, reduce
from itertools import islice, takewhile
from typing import Any, Final, Literal, NamedTuple, final

from jsonschema import Draft202012Validator
from lsprotocol import types as lsp

from evalc.base.source import Source, Span
from evalc.check.predicates import PREDICATES, SUBJECTS, Predicate
from evalc.check.shapes import RECORDS, sentence_of
from evalc.compiler.pipeline import is_json
from evalc.dsl.kinds import Schema
from evalc.dsl.nodes import Mapping, Node, Scalar, Sequence
from evalc.dsl.read_yaml import read_yaml
from evalc.extras.lsp.names import KnownNames, share_of
from evalc.extras.lsp.workspace import Document, Outline, Workspace
from evalc.grammar.lalr import Token, following, load
from evalc.grammar.read_check import read_check
from evalc.grammar.unexpected import words_of
from evalc.schema.published import compiled_file, language
from evalc.setup.compile import options_for

# --- where the cursor is ---------------------------------------------------------------------------------------------


_MARK: Final = "\ue000"
"""Stands where the cursor is while the text is read. No keyboard has it."""
_UNFINISHED_KEY: Final = re.compile(r"[ ]*(?:- +)*[\w-]*")

Step = tuple[Mapping | Sequence, str | int]
"""A collection, and the key or the index by which the path continues."""


class ScalarPlace(NamedTuple):
    """A scalar, and the way to it from the document."""

    steps: tuple[Step, ...]  # the way; the last of them is the key or the index of the scalar itself
    scalar: Scalar
    is_key: bool  # whether it is a key; its mapping is then the last step's

    @property
    def keys(self) -> tuple[str | int, ...]:
        """The keys and indexes of the way."""
        return tuple(key for _, key in self.steps)


def place_at(documents: Iterable[Node], offset: int) -> ScalarPlace | None:
    """The scalar that an offset is in, or at the end of."""
    return _first(documents, lambda node: node.start <= offset <= node.end)


def _first(documents: Iterable[Node | None], holds: Callable[[Node], bool]) -> ScalarPlace | None:
    """The first scalar that holds what is looked for, as do all collections around it."""
    places = (_first_within(node, (), holds) for node in documents if node is not None and holds(node))
    return next(filter(None, places), None)


def _first_within(node: Node, steps: tuple[Step, ...], holds: Callable[[Node], bool]) -> ScalarPlace | None:
    if isinstance(node, Scalar):
        return ScalarPlace(steps, node, is_key=False)
    entries = node.pairs if isinstance(node, Mapping) else [(None, item) for item in node.items]
    for index, (key, value) in enumerate(entries):
        way = (*steps, (node, index if key is None else key.text))
        if key is not None and holds(key):
            return ScalarPlace(way, key, is_key=True)
        if value.alias is None and holds(value) and (found := _first_within(value, way, holds)) is not None:
            return found
    return None


class Unfinished(NamedTuple):
    """A place that is being written: the part of its text before the cursor."""

    place: ScalarPlace
    before: str


def unfinished_at(source: Source, offset: int) -> list[Unfinished]:
    """The possible readings of the text at the cursor: a key, a value, an item of a list, or several of these."""
    text = source.text
    start = source.offset(source.position(offset)._replace(column=1))
    ends = text[offset:].partition("\n")[0].strip()
    found = []
    if not ends and _UNFINISHED_KEY.fullmatch(text, start, offset):
        found.append(_marked(text, offset, f"{_MARK}:"))
    if not _UNFINISHED_KEY.fullmatch(text, start, offset) or "-" in text[start:offset]:
        found.append(_marked(text, offset, _MARK))
    return [each for each in found if each is not None]


def _marked(text: str, offset: int, mark: str) -> Unfinished | None:
    documents = read_yaml(Source("", text[:offset] + mark + text[offset:]))
    place = _first(documents, lambda node: not isinstance(node, Scalar) or _MARK in node.text)
    return None if place is None else Unfinished(place, place.scalar.text.partition(_MARK)[0])


def plain(node: Node, depth: int = 4) -> Any:
    """A node as data, its scalars as texts; what lies deeper than so many levels is left out."""
    match node:
        case Scalar():
            return node.text
        case Sequence():
            return [plain(item, depth - 1) for item in node.items] if depth else []
        case Mapping():
            pairs = ((key.text, value) for key, value in node.pairs if _MARK not in key.text)
            return {key: plain(value, depth - 1) for key, value in pairs} if depth else {}


# --- what the schemas say --------------------------------------------------------------------------------------------


def shapes_of(found: Outline) -> Shapes:
    """The shapes of a text: those of eval JSON, or those of the source language, which may be written in JSON, too."""
    return _shapes(of_json=is_json(found.source) and not found.kinds)


@cache
def _shapes(*, of_json: bool) -> Shapes:
    return Shapes(compiled_file() if of_json else language())


@final
class Shapes:
    """A JSON Schema, to be asked about places."""

    def __init__(self, schema: Schema) -> None:
        self._schema = schema

    def around(self, place: ScalarPlace) -> list[Schema]:
        """Schemas of the collection around the scalar."""
        shapes: list[Schema] = [self._schema]
        nodes = [node for node, _ in place.steps]
        for node, key in place.steps[:-1]:
            shapes = _inside([each for shape in shapes for each in self._applying(shape, node)], key)
        return [each for shape in shapes for each in self._applying(shape, nodes[-1])] if nodes else shapes

    def at(self, place: ScalarPlace) -> list[Schema]:
        """Schemas of the scalar; for a key, of its value."""
        shapes = _inside(self.around(place), place.steps[-1][1] if place.steps else "")
        return [each for shape in shapes for each in self._applying(shape, place.scalar)]

    def described(self, place: ScalarPlace) -> str:
        """The sentence that says what the key is for that the scalar is or belongs to."""
        return next(filter(None, (shape.get("description", "") for shape in self.at(place))), "")

    def is_check(self, place: ScalarPlace) -> bool:
        """Whether the scalar may be a check on one line."""
        return any(shape.get("title") == "check on one line" for shape in self.at(place))

    def _applying(self, shape: Schema, node: Node) -> Iterator[Schema]:
        """The shape and all that it refers to, without what does not apply to the node."""
        yield shape
        name = shape.get("$ref", "").removeprefix("#/$defs/")
        if name in self._schema["$defs"]:
            yield from self._applying(self._schema["$defs"][name], node)
        for every in ("anyOf", "oneOf", "allOf"):
            for each in shape.get(every, ()):
                yield from self._applying(each, node)
        if "if" in shape:
            holds = Draft202012Validator(shape["if"]).is_valid(plain(node))
            branch = shape.get("then" if holds else "else")
            if isinstance(branch, dict):
                yield from self._applying(branch, node)


def _inside(shapes: list[Schema], key: str | int) -> list[Schema]:
    found: list[Schema] = []
    for shape in shapes:
        inner = shape.get("items") if isinstance(key, int) else shape.get("properties", {}).get(key)
        if inner is None and isinstance(key, str) and isinstance(shape.get("additionalProperties"), dict):
            inner = shape["additionalProperties"]
        if isinstance(inner, dict) and inner not in found:
            found.append(inner)
    return found


# --- a check while it is written -------------------------------------------------------------------------------------


Names = Literal["criteria", "tools", "parameters"]

_WORD: Final = re.compile(r"[A-Za-z][\w-]*$")
_BEFORE_CHECK: Final = frozenset({"AND", "OR", "LPAR"})
_TOOL_LISTS: Final = frozenset({"CALLED", "ONE_OF", "INCLUDE", "ORDER", "ONLY", "OF"})
_KEYWORD: Final = re.compile(r"[a-z][a-z\s-]*")
_NAMES: Final = frozenset({"PATH", "NAME", "CHECK_NAME", "PARAM"})
"""Terminals of words that an author chooses."""
_SAMPLES: Final = (("NAME.PARAM", "t.p"), ("NAME", "t"), ("TOOL", "t"), ("PATH", "x"), ("N", "2"))
"""Stand-ins for words in capitals while a line is read."""


following_check = partial(following, load("check"), "line")


class Phrase(NamedTuple):
    """A subject or a predicate: its fixed words, what editors say of it, and the terminals that it begins with."""

    words: str
    described: str
    terminals: tuple[str, ...]
    example: str  # a check, or the beginning of one


@cache
def phrases() -> tuple[Phrase, ...]:
    """The phrases of checks: of predicates, then of subjects."""
    found = [phrase for row in PREDICATES.values() for phrase in _of_predicate(row)]
    for subject in SUBJECTS:
        sample = reduce(lambda text, each: text.replace(*each), _SAMPLES, subject.line)
        tokens = following_check(sample).tokens
        words = " ".join(takewhile(str.islower, subject.line.split()))
        described = f"**{subject.line}**\n\n{subject.sentence}"
        asked = f"{words} >= 1" if subject.gives == "number" else words
        found.append(Phrase(words, described, tuple(token.type for token in tokens), asked))
    return tuple(found)


def _of_predicate(row: Predicate) -> Iterator[Phrase]:
    """The phrases that the examples of a predicate begin with."""
    listed = "\n".join(f"`{example}`  " for example in row.examples)
    for example, line in zip(row.examples, row.lines, strict=True):
        subject = line.removesuffix(example)
        tokens = [token for token in following_check(line).tokens if token.start_pos >= len(subject)]
        fixed = [*takewhile(lambda token: _KEYWORD.fullmatch(token) and token.type not in _NAMES, tokens)]
        words = example[: fixed[-1].end_pos - len(subject)] if fixed else ""
        title = f"{subject * (subject == 'tools ')}{words or 'a number'}"
        described = f"**{title}**\n\n{row.sentence}\n\n{listed}"
        yield Phrase(words, described, tuple(token.type for token in tokens[: len(fixed) + 1]), example)


class Continuation(NamedTuple):
    """How a check may go on."""

    word: str  # what of the next word is there already
    words: tuple[str, ...]  # the words and signs that may come next
    names: Names | None = None  # which names may; None if none may
    tool: str = ""  # the tool whose parameters these are


def continuation(before: str) -> Continuation | None:
    """How the check before the cursor may continue; None inside a text, or after a mistake."""
    match = _WORD.search(before)
    word = match[0] if match else ""
    head = before[: len(before) - len(word)]
    tokens, at, terminals = following_check(head)
    if head[at:].strip():
        return None
    if word and tokens and tokens[-1].end_pos == len(head) and tokens[-1].type not in {"LPAR", "LSQB", "DOT", "COMMA"}:
        return None
    names, tool = _names_after(tokens, terminals)
    begin = next((token.end_pos for token in reversed(tokens) if token.type in _BEFORE_CHECK), 0)
    words: list[str] = []
    begun = {token.type for token in tokens[-1:]}
    for phrase in phrases():
        types = _read_behind(head, phrase.words) if phrase.words else ()
        if types and types == phrase.terminals[: len(types)] and types[0] != (tokens[-1].type if tokens else ""):
            begun.add(types[0])
            if _fits(head[begin:] + phrase.example):
                words.append(phrase.words)
    others = [
        spelt
        for each in sorted(terminals - begun)
        for spelt in words_of(each)
        if _read_behind(head, spelt) == (each,) and _fits(head[begin:] + spelt)
    ]
    return Continuation(word, tuple(dict.fromkeys((*words, *others))), names, tool)


def _fits(line: str) -> bool:
    """Whether the predicate of a check may be asked of its subject, as far as the check can be read."""
    return all(fault.finding.code != "EV160" for fault in read_check(line).faults)


def _read_behind(head: str, words: str) -> tuple[str, ...]:
    """The terminals that words are behind the beginning of a check; none where they cannot follow it."""
    text = f"{head}{words}"
    tokens, at, _ = following_check(text)
    return tuple(token.type for token in tokens if token.start_pos >= len(head)) if at == len(text) else ()


def _names_after(tokens: tuple[Token, ...], terminals: frozenset[str]) -> tuple[Names | None, str]:
    last = tokens[-1].type if tokens else ""
    types = [token.type for token in tokens]
    if last == "FOR":
        return "criteria", ""
    if "PARAM" in terminals and last == "DOT":
        return "parameters", _text(tokens[-2])
    if last in {"HAS", "COMMA"} and "CALL" in types and "PATH" in terminals and "RETURNS" not in types:
        called = types.index("OF", types.index("CALL"))
        return "parameters", _text(tokens[called + 1])
    if "NAME" not in terminals and "STRING" not in terminals:
        return None, ""
    if last in {"TOOL", "BEFORE", "AFTER"} or (last == "OF" and "CALL" in types):
        return "tools", ""
    if last in {"LSQB", "COMMA"} and "TOOLS" in types and _TOOL_LISTS.intersection(types):
        return "tools", ""
    return None, ""


def _text(token: Token) -> str:
    return token[1:-1] if token.type == "STRING" else str(token)


def phrase_at(line: str, offset: int) -> Phrase | None:
    """The phrase at an offset of a line, or the last one before it; None if there is none."""
    tokens = following_check(line).tokens
    types = [token.type for token in tokens]
    for index in reversed([index for index, token in enumerate(tokens) if token.start_pos <= offset]):
        known = [each for each in phrases() if [*each.terminals] == types[index : index + len(each.terminals)]]
        if known:
            return max(known, key=lambda phrase: len(phrase.terminals))
    return None


@cache
def described_type(type_: str) -> str:
    """The description of a type of check for editors, in Markdown; empty for a type of a package."""
    return f"**{type_}**\n\n{sentence_of(type_)}" if type_ in RECORDS else ""


# --- what is offered -------------------------------------------------------------------------------------------------


TRIGGERS: Final = (" ", ":", ".", "[", "{", "-", "/")
"""The characters after which an editor asks by itself."""

_TEMPLATE: Final = re.compile(
    r"\{\{\s*(?:(?P<seed>seed:\s*(?P<path>[^{}]*))|(?:#(?:if|unless|each)\s+)?(?P<name>[\w.[\]-]*))$"
)
_FILE_KEYS: Final = frozenset({"include", "prompt_file", "file"})
_SUFFIXES: Final = (".yaml", ".yml", ".csv", ".jsonl", ".json")
_MOST_FILES: Final = 500


class _Asked(NamedTuple):
    """Context of a completion: a document, the names that it can use, and its schema."""

    document: Document
    known: KnownNames
    shapes: Shapes

    def in_quotes(self, place: ScalarPlace, text: str, behind: str = "") -> str:
        """A text as it is written at a place: what is in quotes already stays in them, and JSON needs them."""
        if place.scalar.style in {"single", "double"}:
            return text
        return f'"{text}"{behind}' if is_json(self.document.source) else f"{text}{behind}"


class _Offer(NamedTuple):
    """Something that may be written: in place of how much, and what an editor shows of it."""

    label: str
    kind: lsp.CompletionItemKind
    written: str
    detail: str = ""
    documentation: str = ""
    insert: str | None = None


def completion(workspace: Workspace, document: Document, position: lsp.Position) -> lsp.CompletionList:
    """Completions at a place."""
    offset = document.offset(position)
    offers: dict[str, _Offer] = {}
    found = workspace.around(document, offset)
    asked = _Asked(document, KnownNames(workspace, document, offset), shapes_of(found))
    for unfinished in unfinished_at(found.source, offset):
        for offer in _offers(asked, unfinished):
            offers.setdefault(offer.label, offer)
    items = [_item(document, offset, offer, index) for index, offer in enumerate(offers.values())]
    return lsp.CompletionList(is_incomplete=False, items=items)


def _item(document: Document, offset: int, offer: _Offer, index: int) -> lsp.CompletionItem:
    text = offer.label if offer.insert is None else offer.insert
    documentation = lsp.MarkupContent(lsp.MarkupKind.Markdown, offer.documentation) if offer.documentation else None
    return lsp.CompletionItem(
        label=offer.label,
        kind=offer.kind,
        detail=offer.detail or None,
        documentation=documentation,
        sort_text=f"{index:05}",
        filter_text=offer.label,
        text_edit=lsp.TextEdit(document.range_of(Span(offset - len(offer.written), offset)), text),
    )


def _offers(asked: _Asked, unfinished: Unfinished) -> Iterator[_Offer]:
    place, before = unfinished
    template = _TEMPLATE.search(before)
    if template is not None:
        yield from _in_template(asked.known, template)
    elif place.is_key:
        yield from _inputs_given(asked, place, before)
        yield from _keys(asked, place, before)
    else:
        yield from _values(asked, place, before)


def _in_template(known: KnownNames, template: re.Match[str]) -> Iterator[_Offer]:
    if template["seed"] is not None:
        for path in known.seed_paths:
            yield _Offer(path, lsp.CompletionItemKind.Constant, template["path"], known.seed_value(path) or "")
        return
    for declared in known.inputs:
        yield _Offer(declared.name.value, lsp.CompletionItemKind.Variable, template["name"], "input")
    for path in known.given_paths:
        yield _Offer(path, lsp.CompletionItemKind.Variable, template["name"], "value of the case or its rows")
    if known.settings.seed_file is not None:
        yield _Offer("seed:", lsp.CompletionItemKind.Keyword, template["name"], "a value of the seed manifest")


def _inputs_given(asked: _Asked, place: ScalarPlace, before: str) -> Iterator[_Offer]:
    """The inputs that a case has not given yet."""
    if len(place.keys) > 2 and place.keys[-2] == "inputs" and isinstance(place.keys[-3], int):
        given = _given(place)
        for name, is_required in ((each.name.value, each.required) for each in asked.known.inputs):
            if name not in given:
                detail = f"{'required' if is_required else 'optional'} input"
                insert = asked.in_quotes(place, name, ": ")
                yield _Offer(name, lsp.CompletionItemKind.Variable, before, detail, insert=insert)


def _given(place: ScalarPlace) -> set[str]:
    mapping = place.steps[-1][0]
    return {key.text for key, _ in mapping.pairs} if isinstance(mapping, Mapping) else set()


def _keys(asked: _Asked, place: ScalarPlace, before: str) -> Iterator[_Offer]:
    given = _given(place)
    for shape in asked.shapes.around(place):
        required = shape.get("required", ())
        properties = shape.get("properties", {})
        for key in sorted(properties, key=lambda key: key not in required):
            if key not in given and isinstance(properties[key], dict):
                detail = "required" if key in required else ""
                sentence = properties[key].get("description", "")
                is_block = _first_type(properties[key]) in {"array", "object"}
                insert = asked.in_quotes(place, key, ":" if is_block else ": ")
                yield _Offer(key, lsp.CompletionItemKind.Property, before, detail, sentence, insert)


def _values(asked: _Asked, place: ScalarPlace, before: str) -> Iterator[_Offer]:
    key = next((each for each in reversed(place.keys) if isinstance(each, str)), "")
    if asked.shapes.is_check(place):
        yield from _in_check(asked.known, before)
    yield from _names(asked, key, before)
    for shape in asked.shapes.at(place):
        for value in filter(None, shape.get("enum", ())):
            described = described_type(value) if key == "type" else ""
            insert = asked.in_quotes(place, value)
            yield _Offer(value, lsp.CompletionItemKind.EnumMember, before, "", described, insert)
        if _first_type(shape) == "boolean":
            yield from (_Offer(word, lsp.CompletionItemKind.EnumMember, before) for word in ("true", "false"))


def _first_type(shape: Schema) -> str:
    types = shape.get("type", ())
    return types if isinstance(types, str) else next(iter(types), "")


def _names(asked: _Asked, key: str, before: str) -> Iterator[_Offer]:
    known = asked.known
    match key:
        case "criterion":
            yield from _criteria(known, before)
        case "use":
            for rule in known.rules:
                yield _Offer(rule.name.value, lsp.CompletionItemKind.Function, before, f"{len(rule.checks)} checks")
        case "prompt_id":
            yield from (_Offer(each, lsp.CompletionItemKind.Reference, before, "prompt") for each in known.prompt_ids)
        case "tool":
            yield from _tools(known, before)
        case _ if key in _FILE_KEYS:
            folder = asked.document.path.parent  # below which a search for evals finds what a suite can name
            found = options_for(known.settings).finder.search(folder, _SUFFIXES)
            for path in islice(found, _MOST_FILES):
                yield _Offer(os.path.relpath(path, folder), lsp.CompletionItemKind.File, before)


def _criteria(known: KnownNames, before: str) -> Iterator[_Offer]:
    for each in known.criteria:
        share = share_of(each, known.criteria)
        detail = "" if share is None else f"{share} of the score"
        yield _Offer(each.name.value, lsp.CompletionItemKind.Value, before, detail, each.description or "")


def _tools(known: KnownNames, before: str) -> Iterator[_Offer]:
    for tool in known.tools.values():
        yield _Offer(tool.name, lsp.CompletionItemKind.Method, before, "tool", tool.description or "")


def _in_check(known: KnownNames, before: str) -> Iterator[_Offer]:
    found = continuation(before)
    if found is None:
        return
    match found.names:
        case "criteria":
            yield from _criteria(known, found.word)
        case "tools":
            yield from _tools(known, found.word)
        case "parameters":
            yield from _parameters(known, found)
    documentation = {phrase.words: phrase.described for phrase in reversed(phrases())}
    for word in found.words:
        yield _Offer(word, lsp.CompletionItemKind.Keyword, found.word, "", documentation.get(word, ""))


def _parameters(known: KnownNames, found: Continuation) -> Iterator[_Offer]:
    tool = known.tools.get(found.tool)
    properties = {} if tool is None else (tool.parameters or {}).get("properties", {})
    for name, shape in properties.items():
        said = shape if isinstance(shape, dict) else {}
        type_, sentence = str(said.get("type", "")), said.get("description", "")
        yield _Offer(name, lsp.CompletionItemKind.Field, found.word, type_, sentence)
