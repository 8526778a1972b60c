"""Links files of JavaScript and TypeScript with the files of their project that they import, for `evalc.ecma.scripts`.

A module of ECMAScript becomes one of CommonJS, and TypeScript becomes JavaScript, without its types. Packages, and what
Node brings, are not linked.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple, final

from evalc.base.files import is_below, read_limited

if TYPE_CHECKING:
    from tree_sitter import Node, Parser

TYPED: Final = (".ts", ".mts", ".cts")
SCRIPTS: Final = (".js", ".cjs", ".mjs", *TYPED)
"""How the names of files end that are JavaScript, or TypeScript."""
_EMITTED: Final = {".js": ".ts", ".mjs": ".mts", ".cjs": ".cts"}
"""TypeScript names a file by what it becomes."""
_LARGEST: Final = 4_000_000
_MOST: Final = 500
"""The largest file that is read, in bytes, and how many files are linked."""


class ScriptError(Exception):
    """A file of JavaScript cannot be used, or a function of it gave no verdict."""


@final
class Script(NamedTuple):
    """The JavaScript of a file: a function of `$module`, and of `module` and `exports` unless it `is_es`.

    `imports` are the files that its relative imports lead to, by what it calls them.
    """

    code: str
    imports: dict[str, str]
    is_es: bool = False


Scripts = dict[str, Script]
"""Files by their paths within the project; the first imports the others."""


def linked(file: Path, root: Path, text: str | None = None) -> Scripts:
    """A file with those that it imports, all below the root of the project; `text` stands for what the file holds.

    Raises:
        ScriptError: one cannot be read or imports what is no file of the project, or files import each other.
    """
    found: Scripts = {}
    _link(file, root.resolve(), found, (), text)
    return found


def with_imports(files: Iterable[Path], root: Path) -> Iterator[Path]:
    """The files, and what JavaScript among them imports; an unreadable file stands for itself alone."""
    for file in files:
        yield file
        if file.suffix in SCRIPTS:
            with suppress(ScriptError):
                yield from (root / name for name in linked(file, root))


def _link(file: Path, root: Path, found: Scripts, importers: tuple[str, ...], text: str | None = None) -> str:
    """Add a file to those that are found; its path within the project."""
    name = Path(os.path.relpath(file.resolve(), root)).as_posix()
    if name in importers:
        raise ScriptError(f"`{importers[-1]}` and `{name}` import each other")
    if name in found:
        return name
    if len(found) == _MOST:
        raise ScriptError(f"it imports more than {_MOST} files")
    try:
        text = read_limited(file, _LARGEST).decode("utf-8-sig") if text is None else text
    except UnicodeError:
        raise ScriptError(f"`{name}` is not UTF-8") from None
    except OSError as error:
        raise ScriptError(f"`{name}` cannot be read: {error.strerror}") from None
    if name.endswith(".json"):
        found[name] = Script(f"module.exports = JSON.parse({json.dumps(text)});", {})
        return name
    code, paths, is_es = script_of(text, is_typed=name.endswith(TYPED), name=name)
    found[name] = Script(code, {}, is_es)
    for path in paths:
        # As Node has it; the folder of a file that is yet to be written need not be there.
        there: Path | None = Path(os.path.normpath(file.resolve().parent / path))
        if there is not None and is_below(there, root):
            there = _file_of(there, is_typed=name.endswith(TYPED))
        if there is None:
            raise ScriptError(f"`{name}` imports `{path}`, and there is no such file")
        if not is_below(there, root):
            raise ScriptError(f"`{name}` imports `{path}`, which lies outside of the project")
        found[name].imports[path] = _link(there, root, found, (*importers, name))
    return name


def _file_of(path: Path, *, is_typed: bool) -> Path | None:
    """The file that a path in an import means; None if there is none."""
    endings = (*TYPED, *SCRIPTS[:3], ".json") if is_typed else (*SCRIPTS[:3], ".json", *TYPED)
    emitted = [path.with_suffix(_EMITTED[path.suffix])] if path.suffix in _EMITTED else []
    more = [Path(f"{path}{ending}") for ending in endings] + [path / f"index{ending}" for ending in endings]
    named = [*emitted, path] if is_typed else [path, *emitted]
    return next((each for each in (*named, *more) if each.suffix in (*SCRIPTS, ".json") and each.is_file()), None)


# --- a file ----------------------------------------------------------------------------------------------------------

_TYPES: Final = frozenset(
    ("accessibility_modifier", "ambient_declaration", "asserts_annotation", "function_signature", "implements_clause",
     "interface_declaration", "override_modifier", "readonly", "type_alias_declaration", "type_annotation",
     "type_arguments", "type_parameters", "type_predicate_annotation")
)  # fmt: skip
_MORE_THAN_TYPES: Final = frozenset(
    ("abstract_class_declaration", "decorator", "enum_declaration", "import_alias",
     "import_require_clause", "internal_module", "module",
     "type_assertion")
)  # fmt: skip
_BEHIND: Final = frozenset(("as_expression", "satisfies_expression", "non_null_expression"))
"""Expressions that are their first part alone."""
_MARKED: Final = frozenset(
    ("optional_parameter", "public_field_definition", "variable_declarator", "method_definition")
)
"""Declarations whose `?` or `!` is of the type."""
_CHANGING: Final = {
    "assignment_expression": "left",
    "augmented_assignment_expression": "left",
    "update_expression": "argument",
}
"""Expressions that change a variable, and which part of them it is."""
_STATEMENTS: Final = frozenset(("export_statement", "import_statement"))


@cache
def parser(*, jsx: bool = False) -> Parser:
    """A parser of TypeScript, which JavaScript is, too; that of JSX does not know `<T>value`."""
    # For start-up: only where a script is read.
    from tree_sitter import Language, Parser  # noqa: PLC0415
    from tree_sitter_typescript import language_tsx, language_typescript  # noqa: PLC0415

    return Parser(Language(language_tsx() if jsx else language_typescript()))


def parsed(code: str) -> Node:
    """The tree of a text."""
    return parser().parse(code.encode("utf-8", "surrogatepass")).root_node


def script_of(text: str, *, is_typed: bool = False, name: str = "it") -> tuple[str, list[str], bool]:
    """A file as `Script` has its code, the relative paths that it imports, and whether it is a module of ECMAScript.

    Raises:
        ScriptError: it imports a package, or is no TypeScript, or has what is more than a type, such as an `enum`.
    """
    data = text.encode("utf-8", "surrogatepass")
    root = parsed(text)
    edits = [(each.start_byte, each.end_byte, "") for each in root.children[:1] if each.type == "hash_bang_line"]
    try:
        edits += [(begin, end, " ") for begin, end in _types_in(root)] if is_typed else []
    except (_MoreThanTypes, RecursionError):
        raise ScriptError(f"`{name}` is more than JavaScript with types") from None
    reader = _Imports(root, name, is_typed=is_typed)
    kept, at = list[bytes](), 0
    for begin, end, instead in sorted((*edits, *reader.edits), key=lambda edit: edit[:2]):
        if begin >= at:
            kept += (data[at:begin], instead.encode("utf-8", "surrogatepass"))
        at = max(at, end)
    code = b"".join((*kept, data[at:])).decode("utf-8", "surrogatepass")
    head = f'"use strict"; {"".join(reader.head)}\n' if reader.is_es else ""
    return head + code, [*dict.fromkeys(reader.paths)], reader.is_es and "module.exports" not in code


class _Imports:
    """Reads what a file imports and exports: the edits that take it out, and the statements that stand for it."""

    def __init__(self, root: Node, name: str, *, is_typed: bool) -> None:
        self.head: list[str] = []
        self.paths: list[str] = []
        self.edits: list[tuple[int, int, str]] = []
        self.is_es = False
        self._name = name
        self._exports: dict[str, str] = {}
        self._everything: list[str] = []
        types = _TYPES | {"nested_type_identifier", "type_query"} if is_typed else frozenset()
        self._used = frozenset(_names_in(root, types)) if is_typed else None
        for node in root.named_children:
            if node.type in _STATEMENTS and not (is_typed and _is_of_types(node)):
                self.is_es = True
                self._read_import(node) if node.type == "import_statement" else self._read_export(node)
        getters = (f"{json.dumps(name)}: () => {value}" for name, value in self._exports.items())
        self.head += [f"$module.export({{ {', '.join(getters)} }}); "] if self._exports else []
        self.head += self._everything
        variables = {*_variables(root)}.intersection(self._exports.values())
        for node in within(root, types):
            self._read_call(node)
            changed = text_of(node.child_by_field_name(_CHANGING.get(node.type, "")))
            if changed in variables:  # those who import it would see its first value
                raise ScriptError(f"`{name}` exports `{changed}` and changes it")

    def _imported(self, source: Node, names: str = "") -> str:
        """The call whose value is a module."""
        path = text_of(source)[1:-1]
        if not is_relative(path):
            raise ScriptError(f"`{self._name}` imports `{path}`, and a check has only files of its project")
        self.paths.append(path)
        return f"$module.import({json.dumps(path)}{names})"

    def _read_import(self, node: Node) -> None:
        source, clause = node.child_by_field_name("source"), child_of(node, "import_clause")
        if source is None:
            return
        self.edits.append((node.start_byte, node.end_byte, ""))
        names = dict[str, str]()
        for part in clause.named_children if clause else ():
            match part.type:
                case "identifier" if self._is_used(text_of(part)):
                    names[text_of(part)] = "default"
                case "namespace_import" if self._is_used(text_of(part.named_children[-1])):
                    names[text_of(part.named_children[-1])] = "*"
                case "named_imports":
                    names |= {own: name for own, name in _specified(part) if self._is_used(own)}
        if clause is not None and not names and self._used is not None:
            return  # they are types
        named = {own: name for own, name in names.items() if name != "*"}
        is_sure = named and self._used is None  # else they may be types
        call = self._imported(source, f", {json.dumps([*named.values()])}" if is_sure else "")
        self.head += [f"const {own} = {call}; " for own, name in names.items() if name == "*"]
        unpacked = ", ".join(f"{_quoted(name)}: {own}" for own, name in named.items())
        self.head += [f"const {{ {unpacked} }} = {call}; "] if named else [] if names else [f"{call}; "]

    def _read_export(self, node: Node) -> None:
        source, declaration = node.child_by_field_name("source"), node.child_by_field_name("declaration")
        value, clause, begin = node.child_by_field_name("value"), child_of(node, "export_clause"), node.start_byte
        if declaration is not None:
            self.edits.append((begin, declaration.start_byte, ""))
            names = [*_declared(declaration)]
            is_default = any(each.type == "default" for each in node.children)
            self._exports |= {"default" if is_default else name: name for name in names}
        elif value is not None:
            self.edits += [(begin, value.start_byte, "const $default = "), (value.end_byte, value.end_byte, ";")]
            self._exports["default"] = "$default"
        elif clause is not None or source is not None:
            self.edits.append((begin, node.end_byte, ""))
            of = self._imported(source) if source is not None else ""
            namespace = child_of(node, "namespace_export")
            if namespace is not None:
                self._exports[_word(namespace.named_children[-1])] = of
            elif clause is None:
                self._everything.append(f"$module.export({of}, true); ")
            for alias, name in _specified(clause) if clause else ():
                self._exports[alias] = f"{of}[{json.dumps(name)}]" if of else name
            self.head += [f"{of}; "] if of else []
        else:
            raise ScriptError(f"`{self._name}` exports by `=`")

    def _read_call(self, node: Node) -> None:
        """A `require` of a file, which is found when it is called; code of modules is not imported so."""
        called, arguments = node.child_by_field_name("function"), node.child_by_field_name("arguments")
        if node.type != "call_expression" or called is None or arguments is None:
            return
        given = [each for each in arguments.named_children if each.type != "comment"]
        path = text_of(given[0])[1:-1] if [each.type for each in given] == ["string"] else ""
        if called.type == "import":
            raise ScriptError(f"`{self._name}` uses `{' '.join(text_of(node).split())}`")
        if text_of(called) == "require" and is_relative(path):
            self.paths.append(path)
            self.edits.append((called.start_byte, called.end_byte, "$module.require"))

    def _is_used(self, name: str) -> bool:
        """Whether an imported name is more than a type."""
        return self._used is None or name in self._used


def is_relative(path: str) -> bool:
    """Whether an import names a file, and not a package."""
    return path.startswith(("./", "../")) or path in {".", ".."}


def _specified(clause: Node) -> Iterator[tuple[str, str]]:
    """Of each entry between braces, the name behind `as` and the name before it; types are left out."""
    for part in clause.named_children:
        name, alias = part.child_by_field_name("name"), part.child_by_field_name("alias")
        if name is not None and child_of(part, "type") is None:
            yield _word(alias or name), _word(name)


def _declared(node: Node) -> Iterator[str]:
    """The names that a declaration declares."""
    name = node.child_by_field_name("name")
    if name is not None and not name.type.endswith("_pattern"):
        yield text_of(name)
        return
    if node.type in ("identifier", "shorthand_property_identifier_pattern"):
        yield text_of(node)
    for each in node.named_children:
        is_value = any(each == node.child_by_field_name(field) for field in ("key", "right", "type"))
        if not is_value and not (name is not None and each != name):
            yield from _declared(each)


def _variables(root: Node) -> Iterator[str]:
    """The names of variables of a file that may be assigned to."""
    for each in root.named_children:
        node = each.child_by_field_name("declaration") or each
        if node.type == "variable_declaration" or (node.type == "lexical_declaration" and child_of(node, "let")):
            yield from _declared(node)


def _word(node: Node) -> str:
    return text_of(node)[1:-1] if node.type == "string" else text_of(node)


def _quoted(name: str) -> str:
    return name if name.isidentifier() else json.dumps(name)


def child_of(node: Node, type_: str) -> Node | None:
    """The first child of a type."""
    return next((each for each in node.children if each.type == type_), None)


def text_of(node: Node | None) -> str:
    """The text of a node."""
    return node.text.decode("utf-8", "surrogatepass") if node and node.text else ""


def within(root: Node, without: frozenset[str] = frozenset()) -> Iterator[Node]:
    """A node and those in it, but not in nodes of the types that are left out; without recursion."""
    waiting = [root]
    while waiting:
        node = waiting.pop()
        yield node
        waiting += [child for child in node.children if child.type not in without]


# --- types -----------------------------------------------------------------------------------------------------------


class _MoreThanTypes(Exception):
    """There is what JavaScript has not, beside types."""


def _is_of_types(node: Node) -> bool:
    """Whether an import or export is of types alone."""
    return any(each.type in ("type", *_TYPES) for each in node.children)


def _names_in(root: Node, types: frozenset[str]) -> Iterator[str]:
    """The names that are used as values."""
    for node in within(root, types | {"import_statement"}):
        if node.type in ("identifier", "shorthand_property_identifier"):
            yield text_of(node)


def _types_in(node: Node) -> Iterator[tuple[int, int]]:
    """The places of the types in a node."""
    if node.type in _MORE_THAN_TYPES or _declares_a_field(node) or (node.type == "program" and node.has_error):
        raise _MoreThanTypes
    if node.type in _TYPES or (node.type in _STATEMENTS and _is_of_types(node)):
        yield node.start_byte, node.end_byte
        return
    if node.type in _BEHIND:
        yield node.children[0].end_byte, node.end_byte
        yield from _types_in(node.children[0])
        return
    for each in node.children:
        if node.type in _MARKED and each.type in ("?", "!"):
            yield each.start_byte, each.end_byte
        else:
            yield from _types_in(each)


def _declares_a_field(node: Node) -> bool:
    """Whether a parameter is a field, too, or is `this`."""
    if node.type not in ("required_parameter", "optional_parameter"):
        return False
    return any(
        each.type in ("accessibility_modifier", "override_modifier", "readonly", "this") for each in node.children
    )
