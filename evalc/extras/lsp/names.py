"""Names: where a text has them, what they mean there, which can be written, and where a project has the same."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache, cached_property, partial
from itertools import islice
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple, final

from evalc.base.files import JSON_LIMIT
from evalc.base.source import Source, Span
from evalc.check.predicates import SCHEMA, TOOL, Role, texts_of
from evalc.check.tree import NO_TOOL
from evalc.compiler.fill import root_of
from evalc.compiler.rows import find_rows, say_nothing
from evalc.diagnostics import Diagnostics
from evalc.dsl.build_prompt import InputTree, PromptTree
from evalc.dsl.build_suite import CriterionTree, RuleTree, SharedTree, SuiteTree
from evalc.dsl.nodes import stretch_of
from evalc.dsl.places import locate
from evalc.dsl.read_json import JsonPlaces, read_json
from evalc.dsl.scalars import to_plain
from evalc.dsl.sources import read_source
from evalc.dsl.tree import CheckBody, CheckGroup, CheckLeaf, CheckTree, CheckUse, Str
from evalc.ecma import find_tokens, resolve
from evalc.extras.lsp.workspace import Document, Outline, Workspace, beside
from evalc.model.json import pointer_step
from evalc.tools import Tool

# --- names in a text -------------------------------------------------------------------------------------------------


Kind = Literal["rule", "criterion", "prompt", "input", "seed", "tool", "file"]

_VARIABLE: Final = re.compile(
    r"(?<!\\)\{\{\s*(?:#(?:if|unless|each)\s+)?(?!else\s*\}\})(?P<name>[A-Za-z_][\w.[\]-]*)\s*\}\}"
)


class Mention(NamedTuple):
    """A name in a text."""

    kind: Kind  # what it names
    name: str
    span: Span  # its place, without its quotes
    defines: bool = False  # whether what it names is declared here
    document: int = -1  # the number of the suite or shared document among those of its text; -1 for all of them


def mentions(found: Outline) -> tuple[Mention, ...]:
    """Every name that an outline has, in the order of their places."""
    source = found.source
    documents = [_in_suite(source, suite) for suite in found.suites]
    documents += [_in_shared(source, shared) for shared in found.shared]
    every = {_mention(source, *named, number) for number, document in enumerate(documents) for named in document}
    every |= {_mention(source, *named, -1) for prompt in found.prompts for named in _in_prompt(prompt)}
    for number, suite in enumerate(found.suites):
        prompted = () if suite.prompt is None else suite.prompt.inputs or ()
        inputs = {each.name.value for each in (*(suite.inputs or ()), *prompted)}
        own = next(each for each in found.documents if each.start <= suite.span.start <= each.end)
        for use in _VARIABLE.finditer(source.text, own.start, own.end):
            root, at = root_of(use["name"], inputs), use.start("name")
            if root is not None:
                every.add(Mention("input", root, Span(at, at + len(root)), document=number))
    for token in find_tokens(source.text):
        if token.source == "seed":
            at = source.text.find(token.path, token.start + len("{{seed:"))
            every.add(Mention("seed", token.path, Span(at, at + len(token.path))))
    return tuple(sorted(every, key=lambda each: (each.span, each)))


def mention_at(every: Iterable[Mention], offset: int) -> Mention | None:
    """The mention that an offset is in or at the end of: the shortest, if one is in another."""
    around = [each for each in every if each.span.start <= offset <= each.span.end]
    return min(around, key=lambda each: each.span.end - each.span.start, default=None)


_Named = tuple[Kind, Str, bool]
"""The kind of a name, the name, and whether it is declared there."""


def _mention(source: Source, kind: Kind, name: Str, defines: bool, number: int) -> Mention:
    """The mention of a name, without the quotes or the prefix that its token may have."""
    start, end = name.span
    at = source.text.find(name.value, start, end)
    return Mention(kind, name.value, Span(at, at + len(name.value)) if at >= 0 else Span(start, end), defines, number)


def _uses(kind: Kind, names: Iterable[Str | None]) -> Iterator[_Named]:
    return ((kind, name, False) for name in names if name is not None)


def _in_suite(source: Source, suite: SuiteTree) -> Iterator[_Named]:
    yield from _in_shared(source, suite.shared)
    if suite.prompt is not None and suite.prompt.source is source:
        yield from _in_prompt(suite.prompt)
    yield from (("input", each.name, True) for each in suite.inputs or ())
    yield from (("criterion", each.name, True) for each in suite.criteria)
    yield from _uses("prompt", (suite.prompt_id, *(variant.id for variant in suite.prompts)))
    yield from _uses("file", (suite.prompt_file, *(variant.file for variant in suite.prompts)))
    yield from _uses("tool", (suite.tool,))
    for case in suite.cases:
        yield from _in_checks(source, case.checks)
        yield from _uses("input", (given.name for given in case.inputs or ()))
        yield from _uses("prompt", (case.prompt_id,))
        yield from _uses("file", () if case.for_each is None else (case.for_each.file,))


def _in_prompt(prompt: PromptTree) -> Iterator[_Named]:
    if prompt.id is not None:
        yield "prompt", prompt.id, True
    yield from (("input", each.name, True) for each in prompt.inputs or ())


def _in_shared(source: Source, shared: SharedTree) -> Iterator[_Named]:
    yield from _uses("file", shared.includes)
    for rule in shared.rules:
        yield "rule", rule.name, True
        yield from _in_checks(source, rule.checks)
    if shared.defaults is not None:
        yield from _in_checks(source, shared.defaults.checks)


def _in_checks(source: Source, checks: Iterable[CheckTree]) -> Iterator[_Named]:
    for check in checks:
        yield from _uses("criterion", (check.criterion,))
        yield from _in_body(source, check.body)


def _in_body(source: Source, body: CheckBody) -> Iterator[_Named]:
    """The rules, the tools and the schema's file that a check names."""
    if isinstance(body, CheckUse):
        yield "rule", body.name, False
    elif isinstance(body, CheckGroup):
        for item in body.items:
            yield from _in_body(source, item)
    elif isinstance(body, CheckLeaf):
        for (role, text), place in zip(texts_of(body.check), body.places, strict=True):
            kind = _KINDS.get(role)
            if kind is not None and isinstance(text, str) and text != NO_TOOL:
                span = Span(place.start, place.end)
                at = stretch_of(span if body.line is None else locate(source, body.span, *span))
                yield kind, Str(at, text), False


_KINDS: Final[Mapping[Role, Kind]] = {TOOL: "tool", SCHEMA: "file"}


# --- names that can be written ---------------------------------------------------------------------------------------


_MOST_SEED_PATHS: Final = 2_000
_MOST_ROWS: Final = 20


@final
class KnownNames:
    """The names that can be used at a place in a document; of several suites in a file, each has names of its own."""

    def __init__(self, workspace: Workspace, document: Document, offset: int) -> None:
        self._workspace = workspace
        self._document = document
        self._outline = workspace.around(document, offset)
        self._offset = offset
        self.settings = workspace.settings(document.path)

    @property
    def suite(self) -> SuiteTree | None:
        """The suite at the place."""
        suites = self._outline.suites
        before = [suite for suite in suites if suite.span.start <= self._offset]
        return before[-1] if before else next(iter(suites), None)

    @property
    def criteria(self) -> tuple[CriterionTree, ...]:
        """The criteria of the suite; in a file of shared rules, those of the open suites that include it."""
        if self.suite is not None:
            return self.suite.criteria
        others = self._workspace.includers(self._document)
        found = (suite.criteria for each in others for suite in self._workspace.outline(each).suites)
        return tuple({each.name.value: each for criteria in found for each in criteria}.values())

    @property
    def rules(self) -> tuple[RuleTree, ...]:
        """The rules of the file and of those that it includes, the nearest first."""
        named: dict[str, RuleTree] = {}
        for found in self._workspace.closure(self._document.path.resolve(), self._outline).values():
            for shared in found.shares:
                for rule in shared.rules:
                    named.setdefault(rule.name.value, rule)
        return tuple(named.values())

    @property
    def inputs(self) -> tuple[InputTree, ...]:
        """The inputs that the suite, or a prompt that it uses, declares."""
        return tuple({each.name.value: each for _, each in self._declared_inputs()}.values())

    @property
    def given_paths(self) -> tuple[str, ...]:
        """The paths of the values that the case at the place gives, or its first rows do, as templates name them."""
        before = [case for case in (self.suite.cases if self.suite else ()) if case.span.start <= self._offset]
        if not before or self.suite is None:
            return ()
        case = before[-1]
        given = [*(case.inputs or ())]
        rows = None if case.for_each is None else find_rows(self.suite.source, case.for_each, "", Diagnostics())
        if rows is not None:
            given += [cell for row in islice(rows.read(say_nothing), _MOST_ROWS) for cell in row.cells]
        paths = (path for each in given for path in _paths(to_plain(each.value), each.name.value, inner_too=True))
        written = (path for path in islice(paths, _MOST_SEED_PATHS) if _VARIABLE.fullmatch(f"{{{{{path}}}}}"))
        return tuple(dict.fromkeys(written))

    def input_place(self, name: str) -> tuple[Source, Span] | None:
        """Where an input is declared: in the suite, or in a prompt that it uses."""
        places = ((source, each.name.span) for source, each in self._declared_inputs() if each.name.value == name)
        return next(places, None)

    def _declared_inputs(self) -> Iterator[tuple[Source, InputTree]]:
        if self.suite is not None:
            yield from ((self._outline.source, each) for each in self.suite.inputs or ())
        for prompt in self._prompts():
            yield from ((prompt.source, each) for each in prompt.inputs or ())

    def _prompts(self) -> Iterator[PromptTree]:
        """The prompts that the suite uses; where there is no suite, those of the file."""
        suite = self.suite
        if suite is None:
            yield from self._outline.prompts
            return
        if suite.prompt is not None:
            yield suite.prompt
        ids = (suite.prompt_id, *(variant.id for variant in suite.prompts), *(case.prompt_id for case in suite.cases))
        for id_ in dict.fromkeys(each.value for each in ids if each is not None):
            yield from self._workspace.prompts(self._document, id_)
        for file in (suite.prompt_file, *(variant.file for variant in suite.prompts)):
            path = None if file is None else beside(self._document.path, file.value)
            found = None if path is None else self._workspace.outline_of(path)
            if found is not None:
                yield from found.prompts
                yield from (each.prompt for each in found.suites if each.prompt is not None)

    @property
    def prompt_ids(self) -> tuple[str, ...]:
        """The ids of the project's prompts."""
        return self._workspace.prompt_ids(self._document)

    @property
    def tools(self) -> Mapping[str, Tool]:
        """The tools of the registry that the project names; none if it names none."""
        return self._workspace.tools(self._document) or {}

    @cached_property
    def _seed(self) -> tuple[Source, Any] | None:
        """The seed manifest, which is read once however many of its values are asked for."""
        path = self.settings.seed_file
        if path is None:
            return None
        source = read_source(Path(path), Diagnostics().add, limit=JSON_LIMIT)
        return None if source is None else (source, read_json(source))

    @property
    def seed_paths(self) -> tuple[str, ...]:
        """The paths of the values of the seed manifest."""
        return () if self._seed is None else tuple(islice(_paths(self._seed[1], ""), _MOST_SEED_PATHS))

    def seed_value(self, path: str) -> str | None:
        """The text that a token with this path becomes; None if there is none."""
        found = self._seed
        text = None if found is None else resolve(f"{{{{seed:{path}}}}}", found[1], None)
        return text if isinstance(text, str) else None

    def seed_place(self, path: str) -> tuple[Source, Span] | None:
        """The place in the seed manifest of the value of a path."""
        found = self._seed
        if found is None or self.seed_value(path) is None:
            return None
        steps = path.replace("[", ".").replace("]", "").split(".")
        pointer = "".join(f"/{pointer_step(step)}" for step in steps)
        return found[0], JsonPlaces(found[0]).key(pointer)


def _paths(value: Any, at: str, *, inner_too: bool = False) -> Iterator[str]:
    """The paths of the scalars in a value; with `inner_too`, those of lists and mappings and of null as well."""
    is_inner = isinstance(value, Mapping | list)
    if inner_too or (not is_inner and value is not None):
        yield at
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _paths(inner, f"{at}.{key}" if at else str(key), inner_too=inner_too)
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from _paths(inner, f"{at}[{index}]", inner_too=inner_too)


def share_of(criterion: CriterionTree, criteria: Sequence[CriterionTree]) -> str | None:
    """The share of all weights that a criterion has, in per cent; None if its suite has no sound weights."""
    weights = {each.name.value: 1.0 if each.weight is None else float(each.weight.value) for each in criteria}
    total = sum(weights.values())
    if total <= 0 or min(weights.values(), default=0) < 0:
        return None
    share = 100 * weights.get(criterion.name.value, 0.0) / total
    return f"{share:.0f} %" if abs(share - round(share)) < 0.05 else f"{share:.1f} %"


# --- the same name elsewhere -----------------------------------------------------------------------------------------


class Location(NamedTuple):
    """A mention in a source."""

    source: Source
    mention: Mention


def occurrences(workspace: Workspace, path: Path, mention: Mention) -> list[Location]:
    """Where a project names the same thing as a mention in one of its files does, the mention among them."""
    named = cache(partial(_named_alike, workspace, mention))
    path = path.resolve()
    if mention.kind == "input":
        return [each for each in named(path) if each.mention.document == mention.document]
    paths = [each for each in workspace.project_files(path) if named(each)]
    if mention.kind == "rule":  # declared in one file, and named in those that include it and declare none nearer

        def home(of: Path) -> Path | None:
            declaring = (each for each in workspace.closure(of) if any(at.mention.defines for at in named(each)))
            return next(declaring, None)

        own = home(path)
        paths = [each for each in paths if home(each) == own]
    if mention.kind == "criterion":
        return [*_of_criterion(workspace, named, paths, path, mention.document)]
    return [location for each in paths for location in named(each)]


def _named_alike(workspace: Workspace, mention: Mention, path: Path) -> list[Location]:
    """Where a file names what the mention does, as far as kind and name say."""
    found = workspace.outline_of(path)
    every = () if found is None else mentions(found)
    return [Location(found.source, each) for each in every if found is not None and each[:2] == mention[:2]]


def _of_criterion(
    workspace: Workspace, named: Callable[[Path], list[Location]], paths: list[Path], path: Path, document: int
) -> Iterator[Location]:
    """A criterion belongs to a suite; rules that suites share tie the criteria of one name together."""
    shared = {each for each in paths if (found := workspace.outline_of(each)) is not None and not found.suites}
    pending: list[tuple[Path, int]] = [(path, -1 if path in shared else document)]
    seen: set[tuple[Path, int]] = set()
    while pending:
        node = pending.pop()
        if node in seen:
            continue
        seen.add(node)
        path, document = node
        yield from (each for each in named(path) if document in {-1, each.mention.document})
        if path in shared:
            includers = [each for each in paths if each not in shared and path in workspace.closure(each)]
            declared = [(each, at.mention) for each in includers for at in named(each) if at.mention.defines]
            pending += [(each, at.document) for each, at in declared]
        else:
            pending += [(each, -1) for each in workspace.closure(path) if each in shared]
