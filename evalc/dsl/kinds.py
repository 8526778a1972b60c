"""Declares shapes: the keys of a mapping, what each holds, and the sentence that says what it is for.

Reading, the JSON Schemas, completion and hover follow from the declarations. Nothing here reads anything: a kind asks
the `Fields` of a mapping (`evalc.dsl.walk`) for its value.

The schemas describe data as YAML reads it. A key without a value, which is null there, counts as absent; if a text is
expected, a number and the like is taken as it was written. So most schemas take more types than the one they are named
after, which always comes first: it is what editors insert.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, NamedTuple

if TYPE_CHECKING:
    from evalc.dsl.walk import Fields

Schema = dict[str, Any]
Read = Callable[["Fields", str], Any]
"""Reads the value of a key; what is wrong with it is reported, and None stands for what is not there."""

UNREADABLE: Final = object()
"""The value of a scalar that is wrong in itself, which is reported."""
DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"

# --- kinds -----------------------------------------------------------------------------------------------------------


class Kind:
    """A kind of value: how it is read, its name in messages, and its JSON Schema.

    Args:
        schema: the JSON Schema of the value.
        read: how the value of a key is read; without it the value is kept as the node that it is.
        texts: what the texts in it are for, as `evalc.dsl.cut_texts` has it.
    """

    expected: str = "a value"
    """The expected value in messages."""
    looks: frozenset[str] = frozenset()
    """The look of a value that is meant to be of this kind, as `Tree.look` has it."""

    texts: str = ""

    def __init__(self, schema: Schema, read: Read | None = None, *, texts: str = "") -> None:
        self.schema = schema
        self.texts = texts or self.texts
        if read is not None:
            self.read = read  # type: ignore[method-assign, assignment] # one call fewer for each value

    def read(self, fields: Fields, key: str) -> Any:
        """The value of a key; None if it is absent or wrong."""
        node = fields.node(key)
        return None if node is None else self.take(fields, node, f"`{key}`")

    def take(self, _fields: Fields, node: Any, _what: str) -> Any:
        """The value that a node is, which messages call `what`; None if it is not of the kind, which is reported."""
        return node


class Text(Kind):
    """A text; if it is `filled`, one with something in it."""

    expected = "a text"
    looks = frozenset({"text"})

    def __init__(self, schema: Schema, *, filled: bool = False, texts: str = "") -> None:
        super().__init__(schema, texts=texts)
        self._filled = filled

    def read(self, fields: Fields, key: str) -> Any:
        return fields.filled(key) if self._filled else fields.text(key)

    def take(self, fields: Fields, node: Any, what: str) -> Any:
        return fields.text_of(node, what)


class Number(Kind):
    """A number of one of some types, at least `least`."""

    looks = frozenset({"whole", "number"})
    texts = "settings"

    def __init__(self, schema: Schema, *types: type, expected: str = "a number", least: float | None = None) -> None:
        super().__init__(schema)
        self.expected = expected
        self._types = types
        self._least = least
        if float not in types:
            self.looks = frozenset({"whole"})

    def take(self, fields: Fields, node: Any, what: str) -> Any:
        value = fields.tree.value(node)
        if value is UNREADABLE:
            fields.partial = True
            return None
        is_number = isinstance(value, self._types) and not isinstance(value, bool)
        if is_number and (self._least is None or value >= self._least):
            return fields.tree.number(value, node)
        meant = share_of(value) if float in self._types and isinstance(value, str) else ""
        return fields.wrong(node, what, self.expected, meant)


class Flag(Kind):
    """`true` or `false`."""

    expected = "`true` or `false`"
    looks = frozenset({"flag"})
    texts = "settings"

    def take(self, fields: Fields, node: Any, what: str) -> Any:
        value = fields.tree.value(node)
        if isinstance(value, bool):
            return value
        meant = _FLAGS.get(str(value).lower(), "") if isinstance(value, str | int) else ""
        return fields.wrong(node, what, self.expected, meant)


class Choice(Kind):
    """One of a few texts; messages call it `called`, by default as its key."""

    expected = "a text"
    looks = frozenset({"text"})
    texts = "settings"

    def __init__(self, choices: tuple[str, ...], *, called: str = "") -> None:
        super().__init__(choice(choices))
        self._choices = choices
        self._called = called

    def take(self, fields: Fields, node: Any, what: str) -> Any:
        text = fields.text_of(node, what)
        if text is None or text.value in self._choices:
            return text
        return fields.no_choice(node, self._called or what.strip("`"), text.value, self._choices)


class ListOf(Kind):
    """A list; if it is `filled`, one with something in it. `called` is what messages call an item."""

    expected = "a list"
    looks = frozenset({"list"})

    def __init__(self, item: Kind, *, called: str = "", filled: bool = False) -> None:
        super().__init__(filled_list_of(item.schema) if filled else list_of(item.schema))
        self._item = item
        self._called = called
        self._filled = filled

    def read(self, fields: Fields, key: str) -> Any:
        if self._filled:
            fields.forbid_empty(key)
        items = fields.items(key)
        if items is None:
            return None
        taken = self._each(fields, items, f"`{key}`")
        if len(taken) < len(items):
            fields.leave_out(key)
        return taken

    def take(self, fields: Fields, node: Any, what: str) -> Any:
        items = fields.items_of(node, what)
        return None if items is None else self._each(fields, items, what)

    def _each(self, fields: Fields, items: Sequence[Any], what: str) -> tuple[Any, ...]:
        called = self._called or f"an item of {what}"
        taken = [self._item.take(fields, item, called) for item in items]
        return tuple([item for item in taken if item is not None])


class MapOf(Kind):
    """A mapping whose keys are the author's own; messages put `called` before the key of a value."""

    expected = "a mapping"
    looks = frozenset({"mapping"})

    def __init__(self, item: Kind, schema: Schema, *, called: str = "", texts: str = "") -> None:
        super().__init__(schema, texts=texts)
        self._item = item
        self._called = called

    def read(self, fields: Fields, key: str) -> Any:
        node = fields.mapping(key)
        return None if node is None else self.take(fields, node, f"`{key}`")

    def take(self, fields: Fields, node: Any, what: str) -> Any:
        pairs = fields.pairs_of(node, what)
        if pairs is None:
            return None
        taken = []
        for key, value in pairs:
            called = f"{self._called} `{key.text}`" if self._called else f"value of {what}"
            taken.append((key.text, self._item.take(fields, value, called)))
        return tuple([(name, value) for name, value in taken if value is not None])


class OneOf(Kind):
    """A value of the first of several kinds that it looks like; messages name those that say what they expect."""

    def __init__(self, *kinds: Kind) -> None:
        super().__init__(any_of(*(kind.schema for kind in kinds)))
        named = [kind for kind in kinds if kind.expected]
        # Where other kinds are named, that a number may be whole goes without saying.
        others = [kind for kind in named if kind.looks != frozenset({"whole"})]
        self.expected = " or ".join(dict.fromkeys(kind.expected for kind in others or named))
        self.looks = frozenset().union(*(kind.looks for kind in kinds))
        self._kinds = kinds
        self._only = named[0] if len(named) == 1 else None

    def take(self, fields: Fields, node: Any, what: str) -> Any:
        look = fields.tree.look(node)
        kind = next((kind for kind in self._kinds if not kind.looks or look in kind.looks), self._only)
        return fields.wrong(node, what, self.expected) if kind is None else kind.take(fields, node, what)


_PERCENT: Final = re.compile(r"([0-9]{1,4}(?:\.[0-9]{1,4})?) ?%")
_FLAGS: Final = {
    **dict.fromkeys(("yes", "y", "on", "1", "true"), "true"),
    **dict.fromkeys(("no", "n", "off", "0", "false"), "false"),
}


def share_of(text: str) -> str:
    """A text such as `70%` as the share of 1 that it is; empty for others."""
    percent = _PERCENT.fullmatch(text)
    return "" if percent is None else f"{float(percent[1]) / 100:.10g}"


# --- shapes ----------------------------------------------------------------------------------------------------------


class Key(NamedTuple):
    """A key of a shape.

    Attributes:
        holds: what its value is.
        sentence: what it is for.
        examples: values that editors offer.
        required: whether it has to be there, perhaps with what to do about it where it is not.
        aka: what other tools call it.
        kept: whether it belongs to others, so that evalc keeps it unread.
        into: the attribute that it is read into; by default of its own name.
        excludes: the keys that cannot stand beside it.
    """

    holds: Kind
    sentence: str = ""
    examples: tuple[Any, ...] = ()
    required: bool | str = False
    aka: tuple[str, ...] = ()
    kept: bool = False
    into: str = ""
    excludes: tuple[str, ...] = ()


_UNREAD: Final[tuple[str, Read | None, tuple[str, ...]]] = ("", None, ())


class Shape(Kind):
    """A mapping with declared keys.

    Args:
        what: what messages call it: `a test case`; by default what is around calls it.
        keys: its keys.
        name: the name of its definition in the JSON Schema.
        title: its title there; by default its name.
        where: how messages say where its keys belong: `in a case`.
        expected: what messages say in place of `a mapping` where it is none.
        stands_alone: whether something wrong within it leaves nothing out of what is around.
        foreign: set where the mapping is not evalc's own, to the keys that evalc cannot do without: any other key is
            allowed, and a key that is nearly the name of another is reported.
        build: makes of the fields, and of the values that the keys have, what the shape is read into.
        narrow: what the JSON Schema says besides.
    """

    looks = frozenset({"mapping"})
    extensible = True
    """Whether keys that begin with `x-` are the author's own."""
    otherwise = ""
    """The words of messages for a key that is near none of its own."""

    def __init__(
        self,
        what: str,
        keys: Mapping[str, Key],
        *,
        name: str = "",
        title: str = "",
        where: str = "",
        expected: str = "",
        stands_alone: bool = False,
        foreign: tuple[str, ...] | None = None,
        build: Callable[[Fields, dict[str, Any]], Any] = lambda _, given: given,
        narrow: Schema | None = None,
    ) -> None:
        super().__init__(ref(name))
        self.what = what
        self.keys = keys
        self.known = tuple(keys)
        self.where = where
        self.name = name
        self.expected = expected
        self.foreign = foreign
        self._stands_alone = stands_alone
        self._title = title or name
        self._build = build
        self.narrow = narrow or {}
        self._required = {
            key: each.required if isinstance(each.required, str) else "" for key, each in keys.items() if each.required
        }
        self._readers = {
            key: (each.into or key, each.holds.read, each.excludes) for key, each in keys.items() if not each.kept
        }

    def only(self, *keys: str) -> dict[str, Key]:
        """Some of the keys, none of them required."""
        return {key: self.keys[key]._replace(required=False) for key in keys}

    def read(self, fields: Fields, key: str) -> Any:
        node = fields.mapping(key)
        return None if node is None else self.take(fields, node, f"`{key}`")

    def take(self, fields: Fields, node: Any, what: str) -> Any:
        pairs = fields.tree.pairs(node)
        if pairs is None:
            return fields.wrong(node, self.what or what, self.expected or fields.tree.mapping)
        inner = fields.inside(node, self, what, pairs)
        built = self.of(inner)
        fields.partial |= inner.partial and not self._stands_alone
        return built

    def of(self, fields: Fields) -> Any:
        """The struct that the fields of a mapping of this shape are read into."""
        for key, why in self._required.items():
            fields.require(key, why=why)
        readers = self._readers
        given: dict[str, Any] = {}
        for key in fields.by_key:  # only keys that are there are looked at: mappings have few of the many
            into, read, excludes = readers.get(key, _UNREAD)
            for other in excludes:
                if other in fields.by_key:
                    fields.exclude(other, key)
            if read is not None and (value := read(fields, key)) is not None:
                given[into] = value
        return self._build(fields, given)

    def meant_by(self, word: str) -> str:
        """The key that other tools call so; empty if there is none."""
        return next((key for key, each in self.keys.items() if word in each.aka), "")

    def definition(self) -> Schema:
        """The JSON Schema of the mapping."""
        properties = {key: described(each) for key, each in self.keys.items()}
        schema = mapping(properties, title=self._title, required=[*self._required], extensible=self.extensible)
        return {**schema, **({"additionalProperties": True} if self.foreign is not None else {}), **self.narrow}


def described(key: Key) -> Schema:
    """The JSON Schema of a key's value, with its sentence and its examples."""
    schema = {**({"description": key.sentence} if key.sentence else {}), **key.holds.schema}
    return {**schema, "examples": list(key.examples)} if key.examples else schema


# --- JSON Schemas ----------------------------------------------------------------------------------------------------

# Null, said so that no editor offers it as a value.
_ABSENT: Schema = {"not": {"type": ["string", "number", "boolean", "object", "array"]}}


def text() -> Schema:
    """A text, or what is taken as one."""
    return {"type": ["string", "number", "boolean", "null"]}


def filled() -> Schema:
    """A text with something in it; absent where it is null."""
    return {"type": ["string", "number", "boolean", "null"], "pattern": r"\S"}


def required_text() -> Schema:
    """A text with something in it that has to be there."""
    return {"type": ["string", "number", "boolean"], "pattern": r"\S"}


def number(**limits: float) -> Schema:
    """A number."""
    return {"type": ["number", "null"], **limits}


def whole(**limits: int) -> Schema:
    """A whole number."""
    return {"type": ["integer", "null"], **limits}


def flag() -> Schema:
    """True or false."""
    return {"type": ["boolean", "null"]}


def choice(values: Iterable[str]) -> Schema:
    """One of a few texts."""
    return any_of({"enum": [*values]}, _ABSENT)


def anything() -> Schema:
    """A value that evalc does not look into."""
    return {}


def free_mapping() -> Schema:
    """A mapping whose keys are the author's own."""
    return {"type": ["object", "null"]}


def list_of(item: Schema, **limits: int) -> Schema:
    """A list; absent where it is null."""
    return {"type": ["array", "null"], "items": item, **limits}


def filled_list_of(item: Schema) -> Schema:
    """A list with at least one item, which has to be there."""
    return {"type": "array", "items": item, "minItems": 1}


def ref(name: str) -> Schema:
    """A reference to a definition of the same schema."""
    return {"$ref": f"#/$defs/{name}"}


def or_absent(schema: Schema) -> Schema:
    """A shape, or null, which counts as absent."""
    return any_of(schema, {"type": "null"})


def any_of(*alternatives: Schema) -> Schema:
    """At least one of several shapes."""
    return {"anyOf": list(alternatives)}


def mapping(
    properties: Mapping[str, Schema],
    *,
    title: str,
    required: Sequence[str] = (),
    description: str = "",
    extensible: bool = True,
) -> Schema:
    """A mapping that has these keys and no others, but for `x-anything` if it is extensible."""
    schema: Schema = {"title": title}
    if description:
        schema["description"] = description
    schema |= {"type": "object", "properties": dict(properties)}
    if extensible:
        schema["patternProperties"] = {"^x-": {}}
    if required:
        schema["required"] = list(required)
    return {**schema, "additionalProperties": False}


# --- the usual kinds -------------------------------------------------------------------------------------------------

ANYTHING: Final = Kind(anything())
"""A value that evalc does not look into."""
TEXT: Final = Text(text())
SENT: Final = Text(text(), texts="data")
"""A text that is sent, or that answers are compared with."""
FILLED: Final = Text(filled(), filled=True)
NAME: Final = Text(required_text(), filled=True)
"""A text with something in it that has to be there."""
NUMBER: Final = Number(number(), int, float)
SHARE: Final = Number(number(minimum=0, maximum=1), int, float)
WHOLE: Final = Number(whole(), int, expected="a whole number")
COUNT: Final = Number(whole(minimum=1), int, expected="a whole number")
FLAG: Final = Flag(flag())
TEXTS: Final = Kind(list_of(text()), read=lambda fields, key: fields.texts(key))


@lru_cache
def keyed(what: str, keys: tuple[str, ...]) -> Shape:
    """The shape of a mapping of which only the keys are declared."""
    return Shape(what, dict.fromkeys(keys, Key(ANYTHING)))
