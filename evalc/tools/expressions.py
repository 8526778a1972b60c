"""Evaluates an expression of a module as far as possible without running anything."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Final, final

from evalc.tools.calls import defined, literal, text_of
from evalc.tools.exports import ExportLists
from evalc.tools.modules import Declaration, Expression, Import, Local, Module, ModuleLoader, is_relative, required
from evalc.tools.values import CODE, Items, ModulePlace, Record, Unread, Value
from evalc.tools.zod import schema_of

if TYPE_CHECKING:
    from tree_sitter import Node

    from evalc.tools.modules import Binding, Export

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
    """Tells the values of expressions, of each name once."""

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
            return None if name == "undefined" else Unread(f"nothing in the module tells what `{name}` is", at)
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
            return _foreign(imported)
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


def _foreign(imported: Import) -> Unread:
    return Unread(f"it comes from the package `{imported.path}`", imported.at)


def _why(value: Value, at: ModulePlace) -> Unread:
    return value if isinstance(value, Unread) else Unread("it is computed", at)
