"""Evaluates expressions of a module as far as possible without running anything.

Zod schemas, such as `z.object({...}).strict()`, become the JSON Schema of what they certainly demand. A method that is
not known here is left out, so that the schema accepts more, never less.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Final, NamedTuple, final

from msgspec.structs import replace

from evalc.ecma import trim
from evalc.ecma.modules import is_relative
from evalc.tools.modules import (
    CODE,
    Binding,
    Declaration,
    Export,
    ExportLists,
    Expression,
    Import,
    Items,
    Local,
    Module,
    ModuleLoader,
    ModulePlace,
    Record,
    Unread,
    Value,
    required,
)

if TYPE_CHECKING:
    from tree_sitter import Node

_CODE: Final = frozenset(
    {"arrow_function", "function_expression", "function", "generator_function", "class", "regex", "class_expression"}
)
_CONSTANTS: Final[Mapping[str, Value]] = {"true": True, "false": False, "null": None, "undefined": None}


def literal(node: Node, module: Module, at: ModulePlace) -> Value:
    """The value of an expression that holds no other."""
    match node.type:
        case "string":
            return module.script.literal(node)
        case "number" | "unary_expression":
            return _number(module.script.text(node), at)
        case kind if kind in _CONSTANTS:
            return _CONSTANTS[kind]
        case kind if kind in _CODE:
            return CODE
        case _:
            return Unread("it is computed", at)


def _number(text: str, at: ModulePlace) -> Value:
    try:
        return int(text.replace("_", ""), 0)
    except ValueError:
        pass
    try:
        return float(text.replace("_", ""))
    except ValueError:
        return Unread("it is not a JSON number", at)


_DEFINER: Final = re.compile(r"tool|define", re.IGNORECASE)


def text_of(method: str, of: Value, arguments: list[Value]) -> Value:
    """The value of `text.trim()` and `[...].join()`; None if it is unknown."""
    match method, of, arguments:
        case "trim", str(), []:
            return trim(of)
        case "join", Items(complete=True), [str() as separator]:
            texts = [item for item in of.items if isinstance(item, str)]
            return separator.join(texts) if len(texts) == len(of.items) else None
        case _:
            return None


def defined(name: str, arguments: list[Value], at: ModulePlace) -> Value:
    """The definition that is handed to a function which makes a tool of it, as its name says."""
    record = next((value for value in arguments if isinstance(value, Record)), None)
    if record is None or not _DEFINER.search(name):
        return Unread(f"`{name or 'a function'}` would have to be called", at)
    members = dict(record.members)
    if "name" not in members and isinstance(arguments[0], str):
        members["name"] = arguments[0]
    return Record(record.at, members, record.places, record.complete, made_by_call=True)


_TYPES: Final = {"string": "string", "number": "number", "boolean": "boolean", "int": "integer", "array": "array"}
_OBJECTS: Final = {"object": None, "strictObject": False, "looseObject": True}
_LONGEST_CHAIN: Final = 200


class _Call(NamedTuple):
    """One link of a chain of calls."""

    method: str
    arguments: tuple[Node, ...]


def schema_of(node: Node, module: Module, value_of: Callable[[Node], Value]) -> Record | None:
    """The schema that a chain of calls on `z` makes; None for every other expression."""
    chain = _chain(node, module)
    if not chain:
        return None
    at = module.script.place(node)
    coerces = chain[0].method == "coerce"
    base, *rest = chain[1:] if coerces else chain
    schema = Record(at, {}, is_schema=True) if coerces else _base(base, at, value_of)
    for call in rest:
        schema = _modified(schema, call, value_of)
    return schema


def _chain(node: Node, module: Module) -> list[_Call]:
    """The calls from `z` on, in their order; empty if the expression begins with something else."""
    calls: list[_Call] = []
    here: Node | None = node
    arguments: tuple[Node, ...] = ()
    while here is not None and len(calls) < _LONGEST_CHAIN:
        match here.type:
            case "call_expression":
                given = here.child_by_field_name("arguments")
                arguments = () if given is None else tuple(x for x in given.named_children if x.type != "comment")
                here = here.child_by_field_name("function")
            case "member_expression":
                name = here.child_by_field_name("property")
                calls.append(_Call("" if name is None else module.script.text(name), arguments))
                arguments = ()
                here = here.child_by_field_name("object")
            case "identifier":
                return calls[::-1] if module.script.text(here) in {"z", "zod"} else []
            case _:
                return []
    return []


def _base(call: _Call, at: ModulePlace, value_of: Callable[[Node], Value]) -> Record:
    first = value_of(call.arguments[0]) if call.arguments else None
    members: dict[str, Value] = {}
    if call.method in _OBJECTS:
        return object_schema(first, at, extra=_OBJECTS[call.method])
    if call.method in _TYPES:
        members["type"] = _TYPES[call.method]
    if call.method == "array" and isinstance(first, Record):
        members["items"] = first
    elif call.method == "enum" and isinstance(first, Items) and first.complete:
        members |= {"type": "string", "enum": first}
    elif call.method == "literal" and isinstance(first, str | int | float):
        members["const"] = first
    return Record(at, members, optional=call.method == "optional", is_schema=True)


def object_schema(shape: Value, at: ModulePlace, *, extra: bool | None = None) -> Record:
    """The schema of an object with these keys; without others unless `extra`."""
    if not isinstance(shape, Record):
        return Record(at, {"type": "object"}, is_schema=True)
    needed = (name for name, value in shape.members.items() if not (isinstance(value, Record) and value.optional))
    members: dict[str, Value] = {"type": "object", "properties": shape, "required": Items(shape.at, tuple(needed))}
    # What zod's own conversion writes: an object takes no other keys unless it says so.
    members["additionalProperties"] = bool(extra)
    return Record(at, members, complete=shape.complete, is_schema=True)


def _modified(schema: Record, call: _Call, value_of: Callable[[Node], Value]) -> Record:
    match call.method:
        case "optional" | "default" | "nullish" | "catch" | "prefault":
            optional = replace(schema, optional=True)
            return _any_value(optional) if call.method == "nullish" else optional
        case "nullable" | "or" | "and" | "transform" | "pipe" | "preprocess":
            return _any_value(schema)
        case "int":
            return replace(schema, members={**schema.members, "type": "integer"})
        case "describe" if call.arguments:
            return replace(schema, members={**schema.members, "description": value_of(call.arguments[0])})
        case "passthrough" | "loose" | "catchall":
            return replace(schema, members={**schema.members, "additionalProperties": True})
        case "array":
            return Record(schema.at, {"type": "array", "items": schema}, is_schema=True)
        case "extend" | "merge" | "pick" | "omit" | "partial" | "required" | "keyof" | "safeExtend" | "deepPartial":
            return Record(schema.at, {"type": "object"}, is_schema=True)  # its keys are others now
        case _:
            return schema


def _any_value(schema: Record) -> Record:
    """A schema that says nothing of the value; its description stays."""
    return replace(schema, members={k: v for k, v in schema.members.items() if k == "description"})


DEEPEST: Final = 100
"""How many values within values are read, and how many names of names are followed."""

MOST_STEPS: Final = 500_000
"""How many expressions of one registry are looked at."""

_TRANSPARENT: Final = {
    "parenthesized_expression": 0,
    "as_expression": 0,
    "satisfies_expression": 0,
    "non_null_expression": 0,
    "type_assertion": -1,
}
"""Nodes that only add a type or parentheses, and the part that is the value."""

_SCHEMA_MAKERS: Final = frozenset({"zodToJsonSchema", "z.toJSONSchema", "jsonSchema", "zodSchema"})


@final
class Evaluator:
    """Evaluates expressions, each name once."""

    def __init__(self, loader: ModuleLoader) -> None:
        self._loader = loader
        self._exports = ExportLists(loader)
        self._known: dict[tuple[int, str], Value] = {}
        self._open: set[tuple[int, str]] = set()
        self._steps = 0

    def exports(self, module: Module, depth: int = 0) -> Iterator[tuple[str, Value]]:
        """Everything that a module exports: names and values, in order."""
        for name, export, of in self._exports.of(module):
            yield name, self._exported(of, name, export, depth)

    def value(self, node: Node, module: Module, depth: int = 0) -> Value:
        """Evaluate an expression."""
        self._steps += 1
        at = module.script.place(node)
        if depth > DEEPEST:
            return Unread(f"it is nested more than {DEEPEST} levels deep", at)
        if self._steps > MOST_STEPS:
            return Unread("the registry is too large", at)
        kind = node.type
        if kind in _TRANSPARENT and node.named_children:
            return self.value(node.named_children[_TRANSPARENT[kind]], module, depth + 1)
        reader = _READERS.get(kind)
        return literal(node, module, at) if reader is None else reader(self, node, module, depth)

    # --- names ---

    def _identifier(self, node: Node, module: Module, depth: int) -> Value:
        return self._named(module.script.text(node), module, module.script.place(node), depth)

    def _named(self, name: str, module: Module, at: ModulePlace, depth: int) -> Value:
        binding = module.names.get(name)
        if binding is None:
            return None if name == "undefined" else Unread(f"the module does not say what `{name}` is", at)
        return self._once((id(module), name), binding, module, at, depth)

    def _once(self, key: tuple[int, str], binding: Binding, module: Module, at: ModulePlace, depth: int) -> Value:
        if key in self._open:
            return Unread("it refers to itself", at)
        if key not in self._known:
            self._open.add(key)
            value = self._bound(binding, module, at, depth)
            self._open.discard(key)
            if isinstance(value, Unread) and depth > DEEPEST // 2:
                return value  # from nearer by, it may be read
            self._known[key] = value
        return self._known[key]

    def _bound(self, binding: Binding, module: Module, at: ModulePlace, depth: int) -> Value:
        match binding:
            case Expression(changed=True):
                return Unread("something assigns to it later", at)
            case Expression():
                return self.value(binding.node, module, depth + 1)
            case Import():
                return self._imported(module, binding, depth)
            case Declaration():
                return CODE

    def _exported(self, module: Module, name: str, export: Export, depth: int) -> Value:
        match export:
            case Local():
                return self._named(export.name, module, export.at, depth + 1)
            case _:
                key = (id(module), f"export {name}")
                return self._once(key, export, module, self._place_of(module, export), depth + 1)

    def _imported(self, module: Module, imported: Import, depth: int) -> Value:
        if depth > DEEPEST:
            return Unread(f"more than {DEEPEST} names refer to each other", imported.at)
        if not is_relative(imported.path):
            return Unread(f"it comes from the package `{imported.path}`", imported.at)
        inner = self._loader.imported(module, imported)
        if inner is None:
            return Unread("its module does not exist", imported.at)
        if imported.name == "*":
            return self._namespace(inner, imported.at, depth)
        found = self._exports.named(imported.name, inner)
        if found is not None:
            return self._exported(found.of, found.name, found.export, depth + 1)
        common = (
            self._exported(inner, "default", inner.exports["default"], depth) if "default" in inner.exports else None
        )
        if isinstance(common, Record) and imported.name in common.members:
            return common.members[imported.name]
        return Unread(f"its module does not export `{imported.name}`", imported.at)

    def _namespace(self, module: Module, at: ModulePlace, depth: int) -> Value:
        members = dict(self.exports(module, depth + 1))
        if set(members) == {"default"}:
            return members["default"]  # `require` of a module that assigns to `module.exports`
        return Record(at, members)

    def _place_of(self, module: Module, export: Export) -> ModulePlace:
        match export:
            case Local() | Import():
                return export.at
            case Expression():
                return module.script.place(export.node)
            case Declaration():
                return module.script.place(module.script.root)

    # --- parts ---

    def _template(self, node: Node, module: Module, depth: int) -> Value:
        pieces: list[str] = []
        for part in node.named_children:
            if part.type != "template_substitution":
                pieces.append(module.script.piece(part))
                continue
            value = self.value(part.named_children[0], module, depth + 1) if part.named_children else CODE
            if not isinstance(value, str):
                return _why(value, module.script.place(part))
            pieces.append(value)
        return "".join(pieces)

    def _sum(self, node: Node, module: Module, depth: int) -> Value:
        """Texts joined by `+`; its left operand is a sum again, which is walked by iteration."""
        operands: list[Node] = []
        left: Node | None = node
        while left is not None and left.type == "binary_expression":
            right, operator = left.child_by_field_name("right"), left.child_by_field_name("operator")
            if right is None or operator is None or operator.type != "+":
                return Unread("it is computed", module.script.place(node))
            operands.append(right)
            left = left.child_by_field_name("left")
        operands += [] if left is None else [left]
        pieces: list[str] = []
        for operand in reversed(operands):
            value = self.value(operand, module, depth + 1)
            if not isinstance(value, str):
                return _why(value, module.script.place(operand))
            pieces.append(value)
        return "".join(pieces)

    def _array(self, node: Node, module: Module, depth: int) -> Value:
        items: list[Value] = []
        complete = True
        for part in node.named_children:
            if part.type == "comment":
                continue
            spread = part.type == "spread_element"
            value = self.value(part.named_children[-1] if spread else part, module, depth + 1)
            if spread and isinstance(value, Items):
                items += value.items
                complete = complete and value.complete
            else:
                items.append(value)
                complete = complete and not spread
        return Items(module.script.place(node), items, complete)

    def _object(self, node: Node, module: Module, depth: int) -> Value:
        members: dict[str, Value] = {}
        places: dict[str, ModulePlace] = {}
        complete = True
        for part in node.named_children:
            if part.type == "comment":
                continue
            if part.type == "spread_element":
                spread = self.value(part.named_children[-1], module, depth + 1)
                if isinstance(spread, Record):
                    members.update(spread.members)
                    places.update(spread.places)
                if not isinstance(spread, Record) or not spread.complete:
                    complete = False
                    members = _replaced(members, module.script.place(part))
                continue
            key = self._key(part, module)
            if key is None:
                complete = False
                members = _replaced(members, module.script.place(part))
                continue
            members.pop(key, None)
            members[key] = self._member_value(part, module, depth)
            places[key] = module.script.place(part)
        return Record(module.script.place(node), members, places, complete)

    def _key(self, part: Node, module: Module) -> str | None:
        key = part.child_by_field_name("key") or part.child_by_field_name("name") or part
        match key.type:
            case "string":
                return module.script.literal(key)
            case "property_identifier" | "number" | "shorthand_property_identifier":
                return module.script.text(key)
            case _:
                return None

    def _member_value(self, part: Node, module: Module, depth: int) -> Value:
        value = part.child_by_field_name("value")
        if value is not None:
            return self.value(value, module, depth + 1)
        if part.type == "shorthand_property_identifier":
            return self._named(module.script.text(part), module, module.script.place(part), depth + 1)
        is_getter = any(child.type == "get" for child in part.children)
        return Unread("a getter computes it", module.script.place(part)) if is_getter else CODE

    def _member(self, node: Node, module: Module, depth: int) -> Value:
        of, name = node.child_by_field_name("object"), node.child_by_field_name("property")
        at = module.script.place(node)
        if of is None or name is None:
            return Unread("it is computed", at)
        value = self.value(of, module, depth + 1)
        key = module.script.text(name)
        if isinstance(value, Record) and key in value.members:
            return value.members[key]
        return value if isinstance(value, Unread) else Unread("it is computed", at)

    # --- calls ---

    def _call(self, node: Node, module: Module, depth: int) -> Value:
        at = module.script.place(node)
        callee = node.child_by_field_name("function") or node.child_by_field_name("constructor")
        arguments = node.child_by_field_name("arguments")
        path = required(module, node)
        if path is not None:
            return self._imported(module, Import(path, "*", at), depth + 1)
        if callee is None or arguments is None:
            return Unread("it is computed", at)
        schema = schema_of(node, module, lambda inner: self.value(inner, module, depth + 1))
        if schema is not None:
            return schema
        name = module.script.text(callee) if callee.end_byte - callee.start_byte < 200 else ""
        values = [self.value(part, module, depth + 1) for part in arguments.named_children if part.type != "comment"]
        return self._known_call(name, callee, values, module, depth) or defined(name, values, at)

    def _known_call(self, name: str, callee: Node, values: list[Value], module: Module, depth: int) -> Value:
        """Evaluate the few functions that lists of tools and texts are often written with; None for all others."""
        match name, values:
            case "Object.freeze", [value]:
                return value
            case "Object.values", [Record() as record]:
                return Items(record.at, tuple(record.members.values()), record.complete)
            case _, [Record() as schema, *_] if name in _SCHEMA_MAKERS:
                return schema
            case _ if name.endswith((".join", ".trim")):
                of = callee.child_by_field_name("object")
                value = None if of is None else self.value(of, module, depth + 1)
                return text_of(name.rpartition(".")[2], value, values)
            case _:
                return None


_READERS: Final[Mapping[str, Callable[[Evaluator, Node, Module, int], Value]]] = {
    "template_string": Evaluator._template,
    "object": Evaluator._object,
    "array": Evaluator._array,
    "identifier": Evaluator._identifier,
    "member_expression": Evaluator._member,
    "binary_expression": Evaluator._sum,
    "call_expression": Evaluator._call,
    "new_expression": Evaluator._call,
}
"""How each kind of expression with parts is read."""


def _replaced(members: Mapping[str, Value], by: ModulePlace) -> dict[str, Value]:
    """The members of an object that something unknown follows, which may replace any of them."""
    return dict.fromkeys(members, Unread("what follows it may replace it", by))


def _why(value: Value, at: ModulePlace) -> Unread:
    return value if isinstance(value, Unread) else Unread("it is computed", at)
