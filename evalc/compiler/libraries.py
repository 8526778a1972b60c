"""Reads the files that eval files name, each once: shared rules, prompts and JSON Schemas."""

from __future__ import annotations

import re
from collections.abc import Iterator, Set
from functools import cached_property
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import Any, Final, NamedTuple, cast, final
from urllib.parse import unquote

import msgspec

from evalc.base.files import is_below, project_root
from evalc.base.source import Source, Span
from evalc.check.forms import Record
from evalc.compiler.discover import Finder, shown
from evalc.diagnostics import Diagnostics, Fault, Finding
from evalc.diagnostics.raised import idle_parts
from evalc.dsl.build_case import CaseFields
from evalc.dsl.build_prompt import PromptTree
from evalc.dsl.build_suite import RuleTree, SharedTree, build_prompt, build_shared_file
from evalc.dsl.document_kind import Kind, kind_of_document
from evalc.dsl.nodes import Mapping
from evalc.dsl.read_json import HOLE, JsonPlaces, read_json
from evalc.dsl.read_yaml import read_yaml
from evalc.dsl.sources import read_source
from evalc.dsl.tree import CheckBody, CheckGroup, CheckLeaf, CheckTree, CheckUse, Str
from evalc.ecma.regexp import pattern_format
from evalc.model.json import key_of_step, pointer_step
from evalc.model.json_schema import MAPS, dialect_of, schemas_within


def named_file(source: Source, file: Str, problems: Diagnostics) -> Path | None:
    """The path that a source names, from its own; None if it leads out of the project, which is reported."""
    path, root = Path(source.name).parent / file.value, project_root(Path(source.name))
    if is_below(path, root):
        return path
    problems.add(source, file.span, Finding("EV608", path=file.value, root=str(root)))
    return None


def from_root(path: Path) -> str:
    """A path as compiled files have it: from the root of the project that evalc works in, if it is below that."""
    root = project_root(Path())
    return path.resolve().relative_to(root).as_posix() if is_below(path, root) else str(path.resolve())


def read_named(path: Path, source: Source, file: Str, problems: Diagnostics) -> Source | None:
    """The text of a file that a source names; mistakes in it are reported there, a missing file where it is named."""

    def report(where: Source, span: Span, finding: Finding) -> None:
        problems.add(*((where, span) if where.text else (source, file.span)), finding)

    return read_source(path, report, name=shown(path))


# --- shared rules ----------------------------------------------------------------------------------------------------

LARGEST_RULE: Final = 10_000
"""How many checks a rule may insert, including those of the rules that it uses."""

DEEPEST_RULE: Final = 100
"""How many levels of compositions and of rules that use rules there may be."""


@final
class NamedRule(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """A named rule, and where the names that it uses are looked up."""

    tree: RuleTree
    scope: Scope
    size: int  # how many checks it inserts, including those of the rules that it uses
    depth: int  # how many levels of compositions and rules there are in it
    partial: bool  # something of it, or of a rule that it uses, was wrong and left out


@final
class Scope(msgspec.Struct, frozen=True, eq=False):
    """The rules that `use:` can name in one document: its own, and those that it includes.

    `partial` says that there may have been more: a file could not be included, or a list of rules be read.
    """

    rules: dict[str, NamedRule] = msgspec.field(default_factory=dict)
    partial: bool = False


@final
class Layer(msgspec.Struct, frozen=True, kw_only=True, eq=False, gc=False):
    """Fields of a case from one document; their rules are looked up there."""

    fields: CaseFields
    scope: Scope


@final
class Shared(msgspec.Struct, frozen=True, kw_only=True):
    """Rules by name, and the defaults, nearest first, that a document offers its cases.

    `files` are the names of the files that it comes from: its own, and those that it includes.
    """

    scope: Scope
    defaults: tuple[Layer, ...]
    files: frozenset[str] = frozenset()


@final
class IncludeLibrary:
    """The shared rules files of a compilation, each read once."""

    def __init__(self) -> None:
        self._opened: dict[Path, Shared | None] = {}

    def open(self, tree: SharedTree, problems: Diagnostics, trail: tuple[Path, ...] = ()) -> Shared:
        """Open what a document shares with its cases; `trail` are the files that are being opened on the way to it."""
        way = (*trail, Path(tree.source.name).resolve())
        opened = [(file, self._include(tree.source, file, problems, way)) for file in tree.includes]
        torn = any(included is None or included.scope.partial for _, included in opened)
        scope = Scope(partial=tree.partial or torn)
        defaults: list[Layer] = []
        for file, included in opened:
            if included is not None:
                defaults = [*included.defaults, *(layer for layer in defaults if layer not in included.defaults)]
                _take_in(scope, included.scope, tree.source, file, problems)
        if tree.defaults is not None:
            defaults.insert(0, Layer(fields=tree.defaults, scope=scope))
        _declare(scope, tree.rules, problems)
        check_uses(scope, tree.source, tree.defaults.checks if tree.defaults is not None else (), problems)
        files = frozenset(name for _, included in opened if included is not None for name in included.files)
        return Shared(scope=scope, defaults=tuple(defaults), files=files | {tree.source.name})

    def _include(self, source: Source, file: Str, problems: Diagnostics, trail: tuple[Path, ...]) -> Shared | None:
        path = named_file(source, file, problems)
        if path is None:
            return None
        real = path.resolve()
        if real in trail:
            names = " -> ".join(step.name for step in (*trail[trail.index(real) :], real))
            problems.add(
                source, file.span, Finding("EV615", path=file.value, reason=f"it comes back to itself: {names}")
            )
            return None
        if real not in self._opened:
            self._opened[real] = None
            tree = _read(path, source, file, problems)
            self._opened[real] = None if tree is None else self.open(tree, problems, trail)
        elif self._opened[real] is None:
            problems.add(source, file.span, Finding("EV615", path=file.value, reason="it is not a shared rules file"))
        return self._opened[real]


def _read(path: Path, includer: Source, file: Str, problems: Diagnostics) -> SharedTree | None:
    """The tree of a file that is included; None if it has none."""
    source = read_named(path, includer, file, problems)
    if source is None:
        return None
    documents = read_yaml(source, lambda span, finding: problems.add(source, span, finding))
    first = documents[0] if documents else None
    if len(documents) != 1 or not isinstance(first, Mapping) or kind_of_document(first) is not Kind.SHARED:
        reason = "it is not a shared rules file (`rules:`, `defaults:`, `include:`, and no cases)"
        problems.add(includer, file.span, Finding("EV615", path=file.value, reason=reason))
        return None
    return build_shared_file(source, first, problems)


def _take_in(scope: Scope, included: Scope, source: Source, file: Str, problems: Diagnostics) -> None:
    """Bring the rules of a file into a scope; two of one name from two files are a mistake."""
    for name, rule in included.rules.items():
        if scope.rules.setdefault(name, rule) is not rule:
            problems.add(source, file.span, Finding("EV206", what="rule", name=name))


def _declare(scope: Scope, trees: tuple[RuleTree, ...], problems: Diagnostics) -> None:
    """Put a document's own rules into its scope, each after those that it uses, without those that would never end."""
    own = {tree.name.value: tree for tree in trees}
    for name, tree in own.items():
        if name in scope.rules:
            problems.add(tree.source, tree.name.span, Finding("EV206", what="rule", name=name))
            del scope.rules[name]
    for name in _in_order(own, problems):
        scope.rules[name] = _rule(own[name], scope, problems)
    for tree in trees:
        check_uses(scope, tree.source, tree.checks, problems)


def _rule(tree: RuleTree, scope: Scope, problems: Diagnostics) -> NamedRule:
    used = [(level, scope.rules.get(use.name.value)) for use, level in uses(tree.checks)]
    size = len(tree.checks) + sum(rule.size for _, rule in used if rule is not None)
    depth = max((level + rule.depth for level, rule in used if rule is not None), default=0) + 1
    partial = tree.partial or any(rule is None or rule.partial for _, rule in used)
    if size > LARGEST_RULE or depth > DEEPEST_RULE:
        finding = Finding("EV611", limit=LARGEST_RULE) if size > LARGEST_RULE else Finding("EV610", limit=DEEPEST_RULE)
        problems.add(tree.source, tree.name.span, finding)
        tree = _emptied(tree)
        size, depth, partial = 0, 0, True
    return NamedRule(tree=tree, scope=scope, size=size, depth=depth, partial=partial)


def _in_order(own: dict[str, RuleTree], problems: Diagnostics) -> list[str]:
    """The names of the rules, each after those that it uses; a rule that uses itself is emptied."""
    used = {
        name: [use.name.value for use, _ in uses(tree.checks) if use.name.value in own] for name, tree in own.items()
    }
    while True:
        try:
            return list(TopologicalSorter(used).static_order())
        except CycleError as error:
            way: list[str] = error.args[1][:0:-1]  # from each rule to another that it uses
            first = min(way, key=lambda name: own[name].name.span)
            at = way.index(first)
            path = (*way[at:], *way[:at], first)
            problems.add(
                own[first].source, own[first].name.span, Finding("EV214", name=path[0], path=" -> ".join(path))
            )
            own[first] = _emptied(own[first])
            used[first] = []


def _emptied(tree: RuleTree) -> RuleTree:
    return RuleTree(source=tree.source, name=tree.name, partial=True)


def uses(checks: tuple[CheckTree, ...]) -> list[tuple[CheckUse, int]]:
    """Every `use:` in checks, and how many compositions it is in."""
    pending: list[tuple[CheckBody, int]] = []
    for each in checks:
        if type(each.body) is not CheckLeaf:  # as nearly all are
            pending.append((each.body, 0))  # noqa: PERF401 - a comprehension is a call, for each case
    found: list[tuple[CheckUse, int]] = []
    while pending:
        body, level = pending.pop()
        if isinstance(body, CheckUse):
            found.append((body, level))
        elif isinstance(body, CheckGroup):
            pending.extend((item, level + 1) for item in body.items)
    return found


def check_uses(scope: Scope, source: Source, checks: tuple[CheckTree, ...], problems: Diagnostics) -> bool:
    """Report uses of unknown rules, if all rules are known; return whether all are known and complete."""
    whole = True
    for use, _ in uses(checks):
        rule = scope.rules.get(use.name.value)
        if rule is None and not scope.partial:
            problems.add(source, use.name.span, Finding("EV213", name=use.name.value, known=tuple(scope.rules)))
        whole = whole and rule is not None and not rule.partial
    return whole


# --- prompts ---------------------------------------------------------------------------------------------------------

_MAYBE_PROMPT: Final = re.compile(r"""^["']?prompt["']?[ \t]*:""", re.MULTILINE)


@final
class PromptLibrary:
    """The prompts of a project, whose files are looked for in a folder."""

    def __init__(self, folder: Path, finder: Finder) -> None:
        self.folder = folder
        self.problems: list[tuple[str, Diagnostics]] = []  # those of each prompt file that has been read
        self._finder = finder

    def find(self, prompt_id: str) -> list[PromptTree]:
        """The prompts with an id: one, none, or too many."""
        return self._prompts.get(prompt_id, [])

    @property
    def ids(self) -> tuple[str, ...]:
        """Every id there is."""
        return tuple(sorted(self._prompts))

    @cached_property
    def _prompts(self) -> dict[str, list[PromptTree]]:
        by_id: dict[str, list[PromptTree]] = {}
        for path in self._finder.search(self.folder, (".yaml", ".yml")):
            found = Diagnostics()
            source = read_source(path, found.add, name=shown(path))
            for prompt in read_prompts(source, found, with_id=True) if source is not None else ():
                if prompt.id is not None:
                    by_id.setdefault(prompt.id.value, []).append(prompt)
            self.problems.append((shown(path), found))
        return by_id


def read_prompts(source: Source, problems: Diagnostics, *, with_id: bool = False) -> list[PromptTree]:
    """The prompts that a YAML text holds; with `with_id`, only documents that have an id count."""
    if not _MAYBE_PROMPT.search(source.text):
        return []
    documents = read_yaml(source, lambda span, finding: problems.add(source, span, finding))
    mappings = (
        document
        for document in documents
        if isinstance(document, Mapping) and (not with_id or kind_of_document(document) is Kind.PROMPT)
    )
    prompts = (build_prompt(source, mapping, problems) for mapping in mappings)
    return [prompt for prompt in prompts if prompt is not None]


# --- schemas ---------------------------------------------------------------------------------------------------------

_DATA: Final = frozenset(("const", "enum", "default", "examples"))
"""The keywords whose values are data, in which `$ref` is a key like any other."""
_ANCHORS: Final = ("$anchor", "$dynamicAnchor")


class Flaw(NamedTuple):
    """Why a value cannot serve as a schema, and the JSON pointer of what is wrong in it."""

    reason: str
    pointer: str = ""


def _flaw_of_references(schema: Any) -> Flaw | None:
    """The flaw of a reference; None where each leads somewhere within the schema.

    Raises:
        RecursionError: the schema is nested too deep to be looked through.
    """
    nodes = list(_schemas(schema, ""))
    references = [(f"{at}/$ref", node["$ref"]) for at, node in nodes if isinstance(node.get("$ref"), str)]
    for pointer, reference in references:
        if not reference.startswith("#"):
            return Flaw(f"refers to `{reference}`, which is outside of it", pointer)
    if any("$id" in node for _, node in nodes):
        return None  # what a reference counts from is another base, by rules of their own
    within = dict(schemas_within(schema))
    names = {f"{pointer}/{key}" for pointer, part in within.items() for key in MAPS if key in part} - within.keys()
    anchors = {node[key] for _, node in nodes for key in _ANCHORS if isinstance(node.get(key), str)}
    for pointer, reference in references:
        name = unquote(reference[1:])
        if name not in anchors and not _leads_somewhere(schema, name):
            return Flaw(f"refers to `{reference}`, which is not there", pointer)
        if name in names:
            return Flaw(f"refers to `{reference}`, which holds schemas and is none", pointer)
    return None


def _schemas(value: Any, at: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Every object of a schema that is not data, with its pointer, in the order of the text."""
    if isinstance(value, dict):
        yield at, value
        for key, inner in value.items():
            if key not in _DATA:
                yield from _schemas(inner, f"{at}/{pointer_step(key)}")
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from _schemas(inner, f"{at}/{index}")


def _leads_somewhere(schema: Any, pointer: str) -> bool:
    if pointer and not pointer.startswith("/"):
        return False
    for step in pointer.split("/")[1:]:
        key = key_of_step(step)
        if isinstance(schema, dict) and key in schema:
            schema = schema[key]
        elif isinstance(schema, list) and key.isascii() and key.isdecimal() and int(key) < len(schema):
            schema = schema[int(key)]
        else:
            return False
    return True


Schema = dict[str, Any] | bool


class _Loaded(NamedTuple):
    """A schema, and warnings of what it asks for in vain."""

    schema: Schema
    advice: tuple[Finding, ...]


@final
class SchemaLoader:
    """Reads each schema once."""

    def __init__(self) -> None:
        self._read: dict[Path, _Loaded | str] = {}
        self._named: dict[str, set[str]] = {}

    def load(self, source: Source, path: str, span: Span, problems: Diagnostics) -> Schema | None:
        """The schema that a check names, relative to the file; None if it cannot be used, which is reported."""
        file = Path(source.name).parent / path
        root = project_root(Path(source.name))
        if not is_below(file, root):
            problems.add(source, span, Finding("EV310", path=path, reason=f"lies outside of the project's root {root}"))
            return None
        named = self._named.setdefault(source.name, set())
        if file not in self._read:
            self._read[file] = _read_schema(file, path)
        loaded = self._read[file]
        if isinstance(loaded, str):
            problems.add(source, span, Finding("EV310", path=path, reason=loaded))
            return None
        for finding in () if str(file) in named else loaded.advice:
            problems.add(source, span, finding)
        named.add(str(file))
        return loaded.schema

    def named_in(self, source_name: str) -> Set[str]:
        """The files of the schemas that the checks of a source named so far."""
        return self._named.get(source_name, set())


def _read_schema(file: Path, path: str) -> _Loaded | str:
    """The schema, or what is wrong with it; messages about it call it by the path."""
    found = Diagnostics()
    source = read_source(file, found.add)
    for problem in found:
        return f"cannot be read: {problem.finding.message()}"
    if source is None:
        return "cannot be read"
    faults: list[Fault] = []
    schema = read_json(source, lambda span, finding: faults.append(Fault(*span, finding)))
    if schema is HOLE:
        first = faults[0]
        return f"cannot be read: {first.finding.message()} (line {source.position(first.start).line})"
    flaw = unusable(schema)
    places = JsonPlaces(source)
    if flaw is None:
        advice = tuple(
            finding.replaced(path=path, line=source.position(places.value(pointer).start).line)
            for pointer, finding in idle_parts(schema)
        )
        return _Loaded(cast("Schema", schema), advice)
    line = source.position(places.value(flaw.pointer).start).line
    return f"{flaw.reason} (line {line})" if flaw.pointer else flaw.reason


def unusable(schema: object) -> Flaw | None:
    """The flaw of a value that is to serve as the schema of a check; None if there is none."""
    if not isinstance(schema, dict | bool):
        return Flaw("is neither an object nor true or false")
    from jsonschema import SchemaError  # noqa: PLC0415 - only a check that names a schema needs it

    try:
        flaw = _flaw_of_references(schema)
        if flaw is None:
            dialect_of(schema).check_schema(schema, format_checker=pattern_format())
    except SchemaError as error:
        pointer = "".join(f"/{pointer_step(str(step))}" for step in error.absolute_path)
        return Flaw(f"is not a JSON Schema: {error.message}", pointer)
    except RecursionError:
        return Flaw("is nested too deep")
    return flaw


def findings_in(schema: object) -> Iterator[tuple[str, Finding]]:
    """The mistakes of a schema, and the parts that ask in vain, each with its JSON pointer; `#` means the key."""
    flaw = unusable(schema)
    if flaw is not None:
        yield flaw.pointer, Finding("EV310", reason=flaw.reason)
    for pointer, idle in () if flaw is not None else idle_parts(schema):
        yield ("" if pointer.endswith("/format") else "#") + pointer, idle


def schema_findings(record: Record, at: str = "") -> Iterator[tuple[str, Finding]]:
    """The findings about the schemas that a check in JSON holds."""
    schema = record.get("schema")
    for pointer, finding in () if schema is None else findings_in(schema):
        yield f"{'#' if pointer.startswith('#') else ''}{at}/schema{pointer.removeprefix('#')}", finding
    if "check" in record:
        yield from schema_findings(record["check"], f"{at}/check")
    for index, part in enumerate(record.get("checks", ())):
        yield from schema_findings(part, f"{at}/checks/{index}")
