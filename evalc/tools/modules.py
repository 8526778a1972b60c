"""Reads what modules of TypeScript and JavaScript declare, import and export, and finds the modules they import.

Exports, also those by `export *`, are found without evaluating them.
"""

from __future__ import annotations

import os
import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from enum import Enum
from functools import cached_property
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple, final

import msgspec

from evalc.base.files import is_there
from evalc.base.source import Source, Span
from evalc.diagnostics import Diagnostics, Finding
from evalc.dsl.sources import read_source
from evalc.ecma.modules import TYPED, is_relative, parser

if TYPE_CHECKING:
    from tree_sitter import Node


class ModulePlace(NamedTuple):
    """A place in a module."""

    source: Source
    span: Span


class NotData(Enum):
    """The type of `CODE`."""

    CODE = "code"


CODE: Final = NotData.CODE
"""A function, a class, a regular expression: what is surely no tool's definition."""


@final
class Unread(msgspec.Struct, frozen=True):
    """A value that only running the module could give, and why."""

    why: str
    at: ModulePlace


@final
class Record(msgspec.Struct, frozen=True, eq=False):
    """An object."""

    at: ModulePlace
    members: Mapping[str, Value]  # its own members, in order
    places: Mapping[str, ModulePlace] = {}  # the places of the members
    complete: bool = True  # whether these are all: not where it spreads something that cannot be read
    made_by_call: bool = False  # whether a call made it of such an object: `defineTool({...})`, `new Tool({...})`
    optional: bool = False  # of a schema in a mapping of parameters, whether the parameter may be left out
    is_schema: bool = False  # whether it is known to be a JSON Schema


@final
class Items(msgspec.Struct, frozen=True, eq=False):
    """An array; `complete` unless it spreads something that cannot be read."""

    at: ModulePlace
    items: Sequence[Value]
    complete: bool = True


Value = str | int | float | bool | None | NotData | Unread | Record | Items


ENDINGS: Final = (".ts", ".tsx", ".mts", ".cts", ".js", ".jsx", ".mjs", ".cjs")
"""How the names of modules end, in the order in which an import without an ending tries them."""

_ASSIGNED: Final = re.compile(
    r"(?<![\w$.])([\w$]+)"  # only the name is taken: what follows it may hold others
    r"(?=\s*(?:(?:\?|!)?\.\s*[\w$]+\s*|\[[^\]\n]*\]\s*)*(?:[-+*/%&|^?]{0,3}=(?![=>])))"
)
_MERGED: Final = re.compile(r"\bObject\s*\.\s*assign\s*\(\s*([\w$]+)")
_ESCAPES: Final = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "v": "\v", "0": "\0"}


@final
class Script:
    """A parsed file. Nodes count in bytes; `place` turns them into spans of the source."""

    def __init__(self, source: Source, ending: str) -> None:
        self.source = source
        self._data = source.text.encode("utf-8", "surrogatepass")
        self._ascii = source.text.isascii()
        self._tree = parser(jsx=ending not in TYPED).parse(self._data)

    @property
    def root(self) -> Node:
        """The whole program. What does not parse is in nodes of the type `ERROR`."""
        return self._tree.root_node

    def text(self, node: Node) -> str:
        """The text of a node."""
        return self._data[node.start_byte : node.end_byte].decode("utf-8", "surrogatepass")

    def place(self, node: Node) -> ModulePlace:
        """The place of a node."""
        return ModulePlace(self.source, Span(self._offset(node.start_byte), self._offset(node.end_byte)))

    def errors(self) -> Iterator[Node]:
        """The outermost nodes that do not parse; walked by iteration, since nesting has no limit."""
        waiting = [self.root] if self.root.has_error else []
        while waiting:
            node = waiting.pop()
            if node.is_error or node.is_missing:
                yield node
            else:
                waiting += [child for child in reversed(node.children) if child.has_error]

    @cached_property
    def assigned(self) -> dict[str, list[int]]:
        """Where something seems to be assigned to a name or to a member of it, in order."""
        places: dict[str, list[int]] = {}
        for pattern in (_ASSIGNED, _MERGED):
            for found in pattern.finditer(self.source.text):
                places.setdefault(found[1], []).append(found.start())
        return places

    def literal(self, node: Node) -> str:
        """The value of a `string`, or of the parts of a template: fragments and escapes."""
        return "".join(self.piece(child) for child in node.named_children)

    def piece(self, node: Node) -> str:
        """The value of a fragment or of an escape."""
        written = self.text(node)
        # ECMAScript reads every line end in a template as LF.
        return unescaped(written) if node.type == "escape_sequence" else written.replace("\r\n", "\n")

    def _offset(self, at: int) -> int:
        if self._ascii:
            return at
        in_bytes, in_characters = self._lines
        line = bisect_right(in_bytes, at) - 1
        return in_characters[line] + len(self._data[in_bytes[line] : at].decode("utf-8", "surrogatepass"))

    @cached_property
    def _lines(self) -> tuple[list[int], list[int]]:
        """Where the lines begin: in bytes, and in characters."""
        lines = self._data.split(b"\n")
        characters = (len(line.decode("utf-8", "surrogatepass")) + 1 for line in lines)
        return list(accumulate((len(line) + 1 for line in lines), initial=0)), list(accumulate(characters, initial=0))


def unescaped(escape: str) -> str:
    """The character of one escape of ECMAScript."""
    kind, rest = escape[1:2], escape[2:]
    if kind in {"u", "x"}:
        try:
            return chr(int(rest.strip("{}"), 16))
        except (ValueError, OverflowError):
            return escape
    if kind in "\r\n\u2028\u2029":
        return ""  # a continued line
    return _ESCAPES.get(kind, kind) + rest


LARGEST: Final = 4_000_000
"""The largest module that is read, in bytes."""

MOST_MODULES: Final = 1_000
"""How many modules of one registry are read."""

_EMITTED: Final = {".js": (".ts", ".tsx"), ".jsx": (".tsx",), ".mjs": (".mts",), ".cjs": (".cts",)}
"""TypeScript names a module by what it will be compiled to."""


class Expression(NamedTuple):
    """A name that means the value of an expression; `changed` says that something assigns to it later."""

    node: Node
    changed: bool = False


class Import(NamedTuple):
    """A name that means an export of another module; `*` for all of them."""

    path: str
    name: str
    at: ModulePlace


class Declaration(NamedTuple):
    """A function, class, type or enum: no tool."""


class Local(NamedTuple):
    """An export that is a name of the module itself."""

    name: str
    at: ModulePlace


Binding = Expression | Import | Declaration
Export = Expression | Import | Declaration | Local


@final
class Module(msgspec.Struct, eq=False):
    """The exports of a module. `everything_of` are its `export * from`, with their places among the exports."""

    path: Path
    script: Script
    names: dict[str, Binding] = {}
    exports: dict[str, Export] = {}
    everything_of: list[Import] = []


@final
class ModuleLoader:
    """Reads each module once; what is wrong with one is reported where it is asked for."""

    def __init__(self, root: Path, problems: Diagnostics) -> None:
        self.complete = True
        self._root = root
        self._problems = problems
        self._modules: dict[Path, Module | None] = {}
        self._imported: dict[Path, Module | None] = {}

    def open(self, path: Path, name: str) -> Module | None:
        """The module of a file; None if it cannot be read, which is reported. `name` is for messages."""
        key = path.resolve()
        if key not in self._modules:
            self._modules[key] = self._read(path, name)
        return self._modules[key]

    def imported(self, module: Module, link: Import) -> Module | None:
        """The module that an import of another leads to; None if there is none to read, which is reported."""
        path = module.path.parent / link.path
        if path in self._imported:
            return self._imported[path]
        found = next((file for file in _candidates(path) if is_there(file) and file.is_file()), None)
        if found is None:
            self._add(link.at, Finding("EV664", what="module", module=link.path))
        elif not found.resolve().is_relative_to(self._root.resolve()):
            self._add(link.at, Finding("EV608", path=link.path, root=str(self._root)))
        elif len(self._modules) >= MOST_MODULES and found.resolve() not in self._modules:
            self._add(link.at, Finding("EV666", what=f"{MOST_MODULES:,} modules"))
        else:
            self._imported[path] = self.open(found, os.path.relpath(found))
            return self._imported[path]
        return None

    def _add(self, at: ModulePlace, finding: Finding) -> None:
        self.complete = False
        self._problems.add(*at, finding)

    def _read(self, path: Path, name: str) -> Module | None:
        source = read_source(path, self._problems.add, name=name, limit=LARGEST)
        if source is None:
            self.complete = False
            return None
        module = Module(path, Script(source, path.suffix.lower()))
        node = next(module.script.errors(), None)  # one mistake often leads to more, which say nothing new
        if node is not None:
            in_part = Finding("EV663", what="this part", why="it does not parse")
            # Modules of others are read as far as possible; the first module is the named one.
            self._add(module.script.place(node), in_part if self._modules else Finding("EV667", path=name))
        _read_statements(module)
        return module


def _candidates(path: Path) -> Iterator[Path]:
    """The files that an import may mean, the likeliest first."""
    if path.suffix in _EMITTED:
        yield from (path.with_suffix(ending) for ending in _EMITTED[path.suffix])
    if path.suffix in ENDINGS:
        yield path
    yield from (path.with_name(path.name + ending) for ending in ENDINGS if path.name)
    yield from (path / f"index{ending}" for ending in ENDINGS)


# --- statements ------------------------------------------------------------------------------------------------------


def _read_statements(module: Module) -> None:
    for node in module.script.root.named_children:
        match node.type:
            case "import_statement":
                _read_import(module, node)
            case "export_statement":
                _read_export(module, node)
            case "lexical_declaration" | "variable_declaration":
                module.names.update(_variables(module, node))
            case "expression_statement":
                _read_assignment(module, node)
            case _:
                module.names.update(_declaration(module, node))


def _read_import(module: Module, node: Node) -> None:
    path = _path(module, node)
    clause = _child(node, "import_clause")
    if path is None or clause is None or _has_token(node, "type"):
        return
    script = module.script
    for part in clause.named_children:
        match part.type:
            case "identifier":
                module.names[script.text(part)] = Import(path, "default", script.place(part))
            case "namespace_import":
                alias = part.named_children[-1]
                module.names[script.text(alias)] = Import(path, "*", script.place(alias))
            case "named_imports":
                for name, known_as, at in _specifiers(module, part):
                    module.names[known_as] = Import(path, name, at)


def _read_export(module: Module, node: Node) -> None:
    script = module.script
    path = _path(module, node)
    source = node.child_by_field_name("source")
    clause = _child(node, "export_clause")
    namespace = _child(node, "namespace_export")
    declaration = node.child_by_field_name("declaration")
    value = node.child_by_field_name("value")
    if _has_token(node, "type"):
        return
    if clause is not None:
        for name, alias, at in _specifiers(module, clause):
            module.exports[alias] = Local(name, at) if path is None else Import(path, name, at)
    elif namespace is not None and path is not None:
        module.exports[script.text(namespace.named_children[-1])] = Import(path, "*", script.place(source or node))
    elif path is not None:
        module.everything_of.append(Import(path, "*", script.place(source or node)))
        module.exports[f"* {len(module.everything_of)}"] = module.everything_of[-1]
    elif value is not None:
        module.exports["default"] = Expression(value)
    elif declaration is not None:
        is_variable = declaration.type in {"lexical_declaration", "variable_declaration"}
        named = dict((_variables if is_variable else _declaration)(module, declaration))
        module.names.update(named)
        module.exports.update({"default": Declaration()} if _has_token(node, "default") else named)
    elif _has_token(node, "=") and node.named_children:
        module.exports["default"] = Expression(node.named_children[-1])


def _read_assignment(module: Module, node: Node) -> None:
    """CommonJS: `module.exports = ...`, `exports.name = ...`."""
    assignment = node.named_children[0] if node.named_children else node
    left, right = assignment.child_by_field_name("left"), assignment.child_by_field_name("right")
    if assignment.type != "assignment_expression" or left is None or right is None:
        return
    target = _EXPORTS.fullmatch(module.script.text(left))
    if target is not None:
        module.exports[target["name"] or target["bare"] or "default"] = Expression(right)


_EXPORTS: Final = re.compile(r"module\s*\.\s*exports(?:\.(?P<name>[\w$]+))?|exports\.(?P<bare>[\w$]+)")


def _declaration(module: Module, node: Node) -> Iterator[tuple[str, Binding]]:
    name = node.child_by_field_name("name")
    if name is not None:
        yield module.script.text(name), Declaration()


def _variables(module: Module, node: Node) -> Iterator[tuple[str, Binding]]:
    for declarator in node.named_children:
        name, value = declarator.child_by_field_name("name"), declarator.child_by_field_name("value")
        if name is None or value is None:
            continue
        if name.type == "identifier":
            text = module.script.text(name)
            yield text, Expression(value, changed=_is_changed(module.script, name, text))
        elif name.type == "object_pattern":
            yield from _unpacked(module, name, value)


def _unpacked(module: Module, pattern: Node, value: Node) -> Iterator[tuple[str, Binding]]:
    """`const { a, b: c } = require("./x")`."""
    path = required(module, value)
    for part in pattern.named_children if path is not None else ():
        key = part.child_by_field_name("key") or part
        name = part.child_by_field_name("value") or part
        yield module.script.text(name), Import(path or "", module.script.text(key), module.script.place(part))


def required(module: Module, node: Node) -> str | None:
    """The path of a `require("...")`; None for everything else."""
    function, arguments = node.child_by_field_name("function"), node.child_by_field_name("arguments")
    if node.type != "call_expression" or function is None or arguments is None:
        return None
    if module.script.text(function) != "require" or [part.type for part in arguments.named_children] != ["string"]:
        return None
    return module.script.literal(arguments.named_children[0])


def _is_changed(script: Script, name: Node, text: str) -> bool:
    """Whether something seems to assign to the name or to a member of it, so that its first value is not to be trusted.

    Decided by the text: what only looks like it, as in a comment, costs a warning.
    """
    declared = script.place(name).span.start
    return any(at != declared for at in script.assigned.get(text, ()))


# --- parts of statements ---------------------------------------------------------------------------------------------


def _path(module: Module, node: Node) -> str | None:
    source = node.child_by_field_name("source")
    return None if source is None else module.script.literal(source)


def _specifiers(module: Module, clause: Node) -> Iterator[tuple[str, str, ModulePlace]]:
    """The name in the other module, the name here, and the place of each entry between braces; types are left out."""
    for part in clause.named_children:
        name = part.child_by_field_name("name")
        if name is None or _has_token(part, "type"):
            continue
        alias = part.child_by_field_name("alias") or name
        yield _word(module, name), _word(module, alias), module.script.place(name)


def _word(module: Module, node: Node) -> str:
    return module.script.literal(node) if node.type == "string" else module.script.text(node)


def _child(node: Node, type_: str) -> Node | None:
    return next((child for child in node.children if child.type == type_), None)


def _has_token(node: Node, token: str) -> bool:
    return any(child.type == token for child in node.children)


class Exported(NamedTuple):
    """An export, and its module."""

    name: str
    export: Export
    of: Module


@final
class ExportLists:
    """Lists the exports of each module once."""

    def __init__(self, loader: ModuleLoader) -> None:
        self._loader = loader
        self._lists: dict[Module, tuple[Exported, ...]] = {}
        self._by_name: dict[Module, dict[str, Exported]] = {}

    def of(self, module: Module) -> tuple[Exported, ...]:
        """Everything that a module exports, in order."""
        if module not in self._lists:
            self._lists[module] = tuple(self._listed(module))
        return self._lists[module]

    def named(self, name: str, module: Module) -> Exported | None:
        """The first export of a name; None if there is none."""
        if module not in self._by_name:
            self._by_name[module] = {exported.name: exported for exported in reversed(self.of(module))}
        return self._by_name[module].get(name)

    def _listed(self, module: Module) -> Iterator[Exported]:
        seen = {module}
        waiting = [Exported(*item, module) for item in reversed(module.exports.items())]
        while waiting:
            exported = waiting.pop()
            _, export, of = exported
            if not isinstance(export, Import) or export not in of.everything_of or not is_relative(export.path):
                yield exported
            elif (inner := self._loader.imported(of, export)) is not None and inner not in seen:
                seen.add(inner)
                waiting += [Exported(*item, inner) for item in reversed(inner.exports.items()) if item[0] != "default"]
