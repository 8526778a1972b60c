"""Declares shapes: the keys of a mapping, what each holds, and the sentence that says what it is for.

Reading, the JSON Schemas, completion and hover follow from the declarations. Nothing here reads anything: a kind asks
the `Fields` of a mapping (`evalc.dsl.walk`) for its value.

The schemas describe data as YAML reads it. A key without a value, which is null there, counts as absent; if a text is
wanted, a number and the like is taken as it was written. So most schemas take more types than the one they are named
after, which always comes first: it is what editors insert.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, NamedTuple

if TYPE_CHECKING:
    from evalc.dsl.walk import Fields, Tree

Schema = dict[str, Any]
Read = Callable[["Fields", str], Any]
"""Reads the value of a key; what is wrong with it is reported, and None stands for what is not there."""

DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"

# --- kinds ---------------------------------------------------------------------------------------------------------


class Kind:
    """What a value is: how it is read, what messages call it, and its JSON Schema.

    Args:
        schema: the JSON Schema of the value.
        read: how the value of a key is read; without it the value is kept as the node that it is.
    """

    expected: str = "a value"
    """What messages say that the value has to be."""

    def __init__(self, schema: Schema, read: Read | None = None) -> None:
        self.schema = schema
        if read is not None:
            self.read = read  # type: ignore[method-assign, assignment] # one call fewer for each value

    def read(self, fields: Fields, key: str) -> Any:
        """The value of a key; None if it is absent or wrong."""
        node = fields.node(key)
        return None if node is None else self.take(fields, node, f"`{key}`")

    def take(self, _fields: Fields, node: Any, _what: str) -> Any:
        """The value that a node is, which messages call `what`; None if it is not of the kind, which is reported."""
        return node

    def fits(self, _tree: Tree, _node: Any) -> bool:
        """Whether a node is meant to be of this kind, whatever is wrong within."""
        return True


class Text(Kind):
    """A text; if it is `filled`, one with something in it."""

    expected = "a text"

    def __init__(self, schema: Schema, *, filled: bool = False) -> None:
        super().__init__(schema)
        self._filled = filled

    def read(self, fields: Fields, key: str) -> Any:
        return fields.filled(key) if self._filled else fields.text(key)

    def take(self, fields: Fields, node: Any, what: str) -> Any:
        return fields.text_of(node, what)

    def fits(self, tree: Tree, node: Any) -> bool:
        return tree.text(node) is not None


class Number(Kind):
    """A number of one of some types, at least `least`."""

    def __init__(self, schema: Schema, *types: type, expected: str = "a number", least: float | None = None) -> None:
        super().__init__(schema)
        self.types = types
        self.least = least
        self.expected = expected

    def read(self, fields: Fields, key: str) -> Any:
        return fields.number(key, self)

    def take(self, fields: Fields, node: Any, what: str) -> Any:
        return fields.number_of(node, self, what)

    def fits(self, tree: Tree, node: Any) -> bool:
        value = tree.value(node)
        return isinstance(value, self.types) and not isinstance(value, bool)


class Flag(Kind):
    """`true` or `false`; where the key is absent, `default`."""

    expected = "`true` or `false`"

    def __init__(self, schema: Schema, *, default: bool = False) -> None:
        super().__init__(schema)
        self._default = default

    def read(self, fields: Fields, key: str) -> Any:
        return fields.boolean(key, default=self._default)

    def take(self, fields: Fields, node: Any, what: str) -> Any:
        return fields.boolean_of(node, what)

    def fits(self, tree: Tree, node: Any) -> bool:
        return isinstance(tree.value(node), bool)


class Choice(Kind):
    """One of a few texts; messages call it `called`, by default as its key."""

    expected = "a text"

    def __init__(self, choices: tuple[str, ...], schema: Schema | None = None, *, called: str = "") -> None:
        super().__init__(choice(choices) if schema is None else schema)
        self.choices = choices
        self._called = called

    def read(self, fields: Fields, key: str) -> Any:
        return fields.choice(key, self._called or key, self.choices)

    def take(self, fields: Fields, node: Any, what: str) -> Any:
        return fields.choice_of(node, what, self._called or bare(what), self.choices)

    def fits(self, tree: Tree, node: Any) -> bool:
        return tree.text(node) is not None


def bare(what: str) -> str:
    """What messages call a value, without backticks around it."""
    return what.strip("`") if what.startswith("`") else what


class ListOf(Kind):
    """A list; if it is `filled`, one with something in it. `called` is what messages call an item."""

    expected = "a list"

    def __init__(self, item: Kind, *, called: str = "", filled: bool = False) -> None:
        super().__init__(filled_list_of(item.schema) if filled else list_of(item.schema))
        self.item = item
        self._called = called
        self._filled = filled

    def read(self, fields: Fields, key: str) -> Any:
        if self._filled:
            fields.forbid_empty(key)
        items = fields.items(key)
        return None if items is None else self._items(fields, items, f"`{key}`", key)

    def take(self, fields: Fields, node: Any, what: str) -> Any:
        items = fields.items_of(node, what)
        return None if items is None else self._items(fields, items, what, None)

    def _items(self, fields: Fields, items: Sequence[Any], what: str, key: str | None) -> tuple[Any, ...]:
        called = self._called or f"an item of {what}"
        taken = tuple([self.item.take(fields, item, called) for item in items])
        if None not in taken:
            return taken
        if key is not None:
            fields.leave_out(key)
        return tuple([item for item in taken if item is not None])

    def fits(self, tree: Tree, node: Any) -> bool:
        return tree.items(node) is not None


class MapOf(Kind):
    """A mapping whose keys are the author's own; messages put `called` before the key of a value."""

    def __init__(self, item: Kind, schema: Schema, *, called: str = "") -> None:
        super().__init__(schema)
        self.item = item
        self._called = called

    def read(self, fields: Fields, key: str) -> Any:
        node = fields.mapping(key)
        return None if node is None else self.take(fields, node, f"`{key}`")

    def take(self, fields: Fields, node: Any, what: str) -> Any:
        pairs = fields.pairs_of(node, what)
        if pairs is None:
            return None
        taken: list[tuple[str, Any]] = []
        for key, node_of_key in pairs:
            called = f"{self._called} `{key.text}`" if self._called else f"value of {what}"
            value = self.item.take(fields, node_of_key, called)
            if value is not None:
                taken.append((key.text, value))
        return tuple(taken)

    def fits(self, tree: Tree, node: Any) -> bool:
        return tree.pairs(node) is not None


class OneOf(Kind):
    """A value of the first of several kinds that it fits; messages name those that say what they expect."""

    def __init__(self, *kinds: Kind, schema: Schema | None = None) -> None:
        super().__init__(any_of(*(kind.schema for kind in kinds)) if schema is None else schema)
        named = [kind for kind in kinds if kind.expected]
        # Where other kinds are named, that a number may be whole goes without saying.
        others = [kind for kind in named if not isinstance(kind, Number) or float in kind.types]
        self.expected = " or ".join(dict.fromkeys(kind.expected for kind in others or named))
        self._kinds = kinds
        self._only = named[0] if len(named) == 1 else None

    def take(self, fields: Fields, node: Any, what: str) -> Any:
        kind = next((kind for kind in self._kinds if kind.fits(fields.tree, node)), self._only)
        if kind is not None:
            return kind.take(fields, node, what)
        fields.wrong(node, what, self.expected)
        return None

    def fits(self, tree: Tree, node: Any) -> bool:
        return any(kind.fits(tree, node) for kind in self._kinds)


# --- shapes --------------------------------------------------------------------------------------------------------


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
    """

    holds: Kind
    sentence: str = ""
    examples: tuple[Any, ...] = ()
    required: bool | str = False
    aka: tuple[str, ...] = ()
    kept: bool = False
    into: str = ""


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
            allowed, and one that is nearly the name of a key is reported.
        build: makes of the fields, and of the values that the keys have, what the shape is read into.
        narrow: what the JSON Schema says besides.
    """

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
        self._narrow = narrow or {}
        self._required = {key: each.required for key, each in keys.items() if each.required}
        self._readers = {key: (each.into or key, each.holds.read) for key, each in keys.items() if not each.kept}

    def only(self, *keys: str) -> dict[str, Key]:
        """Some of the keys, none of them required."""
        return {key: self.keys[key]._replace(required=False) for key in keys}

    def read(self, fields: Fields, key: str) -> Any:
        node = fields.mapping(key)
        return None if node is None else self.take(fields, node, f"`{key}`")

    def take(self, fields: Fields, node: Any, what: str) -> Any:
        if fields.tree.pairs(node) is None:
            fields.wrong(node, self.what or what, self.expected or fields.tree.mapping)
            return None
        inner = fields.inside(node, self, what)
        built = self.of(inner)
        fields.partial |= inner.partial and not self._stands_alone
        return built

    def of(self, fields: Fields) -> Any:
        """What the fields of a mapping of this shape are read into."""
        for key, why in self._required.items():
            fields.require(key, why="" if why is True else why)
        readers = self._readers
        given: dict[str, Any] = {}
        for key, _ in fields.pairs:  # only keys that are there are looked at: mappings have few of the many
            reader = readers.get(key.text)
            if reader is not None and (value := reader[1](fields, key.text)) is not None:
                given[reader[0]] = value
        return self._build(fields, given)

    def fits(self, tree: Tree, node: Any) -> bool:
        return tree.pairs(node) is not None

    def meant_by(self, word: str) -> str:
        """The key that other tools call so; empty if there is none."""
        return next((key for key, each in self.keys.items() if word in each.aka), "")

    def definition(self) -> Schema:
        """The JSON Schema of the mapping."""
        properties = {key: described(each) for key, each in self.keys.items()}
        schema = mapping(properties, title=self._title, required=[*self._required])
        return {**schema, **({"additionalProperties": True} if self.foreign is not None else {}), **self._narrow}


def described(key: Key) -> Schema:
    """The JSON Schema of a key's value, with its sentence and its examples."""
    schema = {**({"description": key.sentence} if key.sentence else {}), **key.holds.schema}
    return {**schema, "examples": list(key.examples)} if key.examples else schema


# --- JSON Schemas --------------------------------------------------------------------------------------------------

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
    """What a definition of the same schema says."""
    return {"$ref": f"#/$defs/{name}"}


def or_absent(schema: Schema) -> Schema:
    """A shape, or null, which counts as absent."""
    return any_of(schema, {"type": "null"})


def any_of(*alternatives: Schema) -> Schema:
    """At least one of several shapes."""
    return {"anyOf": list(alternatives)}


def mapping(
    properties: Mapping[str, Schema], *, title: str, required: Sequence[str] = (), description: str = ""
) -> Schema:
    """A mapping that has these keys and no others, but for `x-anything`."""
    schema: Schema = {"title": title}
    if description:
        schema["description"] = description
    schema |= {"type": "object", "properties": dict(properties), "patternProperties": {"^x-": {}}}
    if required:
        schema["required"] = list(required)
    return {**schema, "additionalProperties": False}


# --- the usual kinds -----------------------------------------------------------------------------------------------

ANYTHING: Final = Kind(anything())
"""A value that evalc does not look into."""
TEXT: Final = Text(text())
FILLED: Final = Text(filled(), filled=True)
NAME: Final = Text(required_text(), filled=True)
"""A text with something in it that has to be there."""
NUMBER: Final = Number(number(), int, float)
SHARE: Final = Number(number(minimum=0, maximum=1), int, float)
WHOLE: Final = Number(whole(), int, expected="a whole number")
COUNT: Final = Number(whole(minimum=1), int, expected="a whole number")
FLAG: Final = Flag(flag())
TEXTS: Final = ListOf(TEXT)


@lru_cache
def keyed(what: str, keys: tuple[str, ...]) -> Shape:
    """The shape of a mapping of which only the keys are declared."""
    return Shape(what, dict.fromkeys(keys, Key(ANYTHING)))
