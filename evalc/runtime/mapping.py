"""Maps what an agent is sent and what it answers, as the configuration says: paths, and bodies with placeholders.

A placeholder as in `{"q": "{{message}}"}` is filled as a value: what a message holds is never read as JSON or as a
placeholder. A text that is only one placeholder becomes the value itself, such as a list of messages; within a longer
text a value that is not a text becomes JSON. `\\{{` is a literal `{{`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from itertools import chain
from math import isfinite
from typing import Any, Final, final
from uuid import uuid4

import msgspec

INCOMPLETE_STATUSES: Final = frozenset({202, 206})
"""The statuses of success that say that the answer is still to come, or that it is a part of it."""


class NotSearchable(Exception):
    """An expression that has no result in a document, such as the length of a number."""


@final
class AnswerPaths(msgspec.Struct, frozen=True, kw_only=True):
    """The paths into an agent's answer; None for what is as the contract says.

    The paths from `name` to `error` are applied to each of the `tool_calls`.
    """

    response: JsonPath | None = None
    tool_calls: JsonPath | None = None
    name: JsonPath | None = None
    success: JsonPath | None = None
    duration_ms: JsonPath | None = None
    params: JsonPath | None = None
    result: JsonPath | None = None
    error: JsonPath | None = None
    input_tokens: JsonPath | None = None
    output_tokens: JsonPath | None = None
    cost_usd: JsonPath | None = None


@final
class StreamPaths(msgspec.Struct, frozen=True, kw_only=True):
    """The paths into each event of a stream; what an event lacks adds nothing.

    `done` finds something true in the event that ends the stream; where it is None, the end of the body does.
    """

    text: JsonPath
    tool_calls: JsonPath | None = None
    done: JsonPath | None = None


def or_rather(name: str, known: Iterable[str]) -> str:
    """`; did you mean X?`, or an empty text if no known name is near."""
    near = get_close_matches(name, list(known), n=1, cutoff=0.7) if len(name) <= 80 else []
    return f"; did you mean `{near[0]}`?" if near and near[0] != name else ""


class BadPath(Exception):
    """A text that is no JMESPath expression, and why."""


@final
class JsonPath(msgspec.Struct, frozen=True):
    """A JMESPath expression. `text` is how it was written."""

    text: str
    compiled: Any

    @classmethod
    def of(cls, text: str) -> JsonPath:
        """The expression that a text is.

        Raises:
            BadPath: it is not an expression.
        """
        import jmespath  # noqa: PLC0415 - for start-up: paths are seldom configured
        from jmespath.functions import Functions  # noqa: PLC0415 - as above

        try:
            compiled = jmespath.compile(text)
        except jmespath.exceptions.JMESPathError as error:
            raise BadPath(_why(text, error)) from None
        except RecursionError:
            raise BadPath("it is nested too deeply") from None
        known = tuple(Functions.FUNCTION_TABLE)
        for name in _functions(compiled.parsed):
            if name not in known:
                raise BadPath(f"unknown function `{name}`{or_rather(name, known)}")
        return cls(text, compiled)

    def find(self, document: Any) -> Any:
        """The value there in the document; None if there is none.

        Raises:
            NotSearchable: a function of the expression does not take the value.
        """
        try:
            return self.compiled.search(document)
        except (TypeError, ValueError) as error:  # as those of JMESPath are
            raise NotSearchable(f"`{self.text}` cannot be applied: {error}") from None


def _why(text: str, error: ValueError) -> str:
    from jmespath import exceptions  # noqa: PLC0415 - as above

    match error:
        case exceptions.EmptyExpressionError():
            return "it is empty"
        case exceptions.IncompleteExpressionError():
            return "it ends too early"
        case exceptions.LexerError():
            return f"`{error.token_value}` at character {error.lex_position + 1} has no meaning there"
        case exceptions.ParseError():
            return f"`{error.token_value}` at character {error.lex_position + 1} is not allowed there"
        case _:
            return str(error).replace(text, "it")


def _functions(node: Mapping[str, Any]) -> Iterator[str]:
    """The names of the functions that a parsed expression calls."""
    if node["type"] == "function_expression":
        yield node["value"]
    for child in node["children"]:
        if isinstance(child, Mapping):
            yield from _functions(child)


_PLACEHOLDER: Final = re.compile(r"\\\{\{|\{\{(.*?)\}\}", re.DOTALL)
_NAMES: Final = ("message", "messages", "id", "session")
_INPUT: Final = "input."


class BadBody(Exception):
    """A body that cannot be filled: why, and the way to the part that is wrong."""

    def __init__(self, why: str, within: tuple[str | int, ...] = ()) -> None:
        super().__init__(why)
        self.within = within


class NoInput(Exception):
    """A case has no input of the name that the body asks for."""

    def __init__(self, name: str) -> None:
        super().__init__(f"the body needs the input `{name}`, which the case does not have")


@final
class Values(msgspec.Struct, frozen=True, kw_only=True):
    """The values of the placeholders of a body."""

    message: str
    messages: Sequence[Mapping[str, str]]
    case_id: str
    inputs: Mapping[str, Any]
    conversation: str | None = None

    def of(self, name: str) -> Any:
        """The value of a placeholder.

        Raises:
            NoInput: it is an input that the case does not have.
        """
        match name:
            case "message":
                return self.message
            case "messages":
                # A case without a conversation is one of a single turn.
                return self.messages or [{"role": "user", "content": self.message}]
            case "id":
                return self.case_id
            case "session":
                # A case of one turn is a conversation of its own, too.
                return self.conversation or str(uuid4())
        name = name.removeprefix(_INPUT)
        if name not in self.inputs:
            raise NoInput(name)
        return self.inputs[name]


@final
class _Name(msgspec.Struct, frozen=True):
    """A placeholder, by the name of its value."""

    name: str


@final
class _Pieces(msgspec.Struct, frozen=True):
    """A text with placeholders in it."""

    pieces: tuple[str | _Name, ...]


@final
class BodyTemplate(msgspec.Struct, frozen=True):
    """A body whose placeholders can all be filled."""

    _parts: Any

    @classmethod
    def of(cls, value: Any) -> BodyTemplate:
        """The template of a JSON value.

        Raises:
            BadBody: when a placeholder names nothing, or something in it is no JSON.
        """
        return cls(_parsed(value, ()))

    @property
    def inputs(self) -> frozenset[str]:
        """The names of the inputs that it asks for."""
        return frozenset(name.removeprefix(_INPUT) for name in _names(self._parts) if name.startswith(_INPUT))

    def fill(self, values: Values) -> Any:
        """The body with its placeholders filled.

        Raises:
            NoInput: when it needs an input that the case does not have.
        """
        return _filled(self._parts, values)


def _parsed(value: Any, within: tuple[str | int, ...]) -> Any:
    match value:
        case str():
            return _parsed_text(value, within)
        case dict():
            for key in value:
                if "{{" in key:
                    raise BadBody("a body without placeholders in its keys", within)
            return {key: _parsed(item, (*within, key)) for key, item in value.items()}
        case list():
            return [_parsed(item, (*within, index)) for index, item in enumerate(value)]
        case None | bool() | int() | float() if not isinstance(value, float) or isfinite(value):
            return value
        case _:
            raise BadBody("a value that JSON can say", within)


def _parsed_text(text: str, within: tuple[str | int, ...]) -> str | _Name | _Pieces:
    pieces: list[str | _Name] = []
    at = 0
    for match in _PLACEHOLDER.finditer(text):
        pieces.append(text[at : match.start()])
        pieces.append("{{" if match[1] is None else _Name(_checked(match[1].strip(), within)))
        at = match.end()
    pieces.append(text[at:])
    if "{{" in text[at:]:
        raise BadBody("a text in which every `{{` is closed by `}}`, or written as `\\{{`", within)
    solid = tuple(piece for piece in pieces if piece)
    match solid:
        case (_Name() as name,):
            return name
        case _ if any(isinstance(piece, _Name) for piece in solid):
            return _Pieces(solid)
        case _:
            return "".join(piece for piece in solid if isinstance(piece, str))


def _checked(name: str, within: tuple[str | int, ...]) -> str:
    if name not in _NAMES and not (name.startswith(_INPUT) and name != _INPUT):
        known = "`{{message}}`, `{{messages}}`, `{{id}}`, `{{session}}` and `{{input.NAME}}`"
        raise BadBody(f"one with the placeholders {known}, not `{{{{{name[:60]}}}}}`{or_rather(name, _NAMES)}", within)
    return name


def _names(part: Any) -> Iterator[str]:
    """The placeholders in a part of a body."""
    match part:
        case _Name(name):
            yield name
        case _Pieces(pieces):
            yield from (piece.name for piece in pieces if isinstance(piece, _Name))
        case dict():
            yield from chain.from_iterable(map(_names, part.values()))
        case list():
            yield from chain.from_iterable(map(_names, part))


def _filled(part: Any, values: Values) -> Any:
    match part:
        case _Name(name):
            return values.of(name)
        case _Pieces(pieces):
            return "".join(_text(piece, values) for piece in pieces)
        case dict():
            return {key: _filled(item, values) for key, item in part.items()}
        case list():
            return [_filled(item, values) for item in part]
        case _:
            return part


def _text(piece: str | _Name, values: Values) -> str:
    value = piece if isinstance(piece, str) else values.of(piece.name)
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()
