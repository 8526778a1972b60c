"""Names: where a text has them, what they mean there, which can be written, and where a project has the same."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple, final, get_args

from evalc.base.source import Source, Span
from evalc.diagnostics.problem import Diagnostics
from evalc.dsl.places import locate
from evalc.dsl.read_json import JsonPlaces, read_json
from evalc.dsl.sources import JSON_LIMIT, read_source
from evalc.dsl.tree import (
    CaseTree,
    CheckBody,
    CheckGroup,
    CheckLeaf,
    CheckTree,
    CheckUse,
    CriterionTree,
    InputTree,
    PromptTree,
    RuleTree,
    SharedTree,
    Str,
    SuiteTree,
)
from evalc.ecma.tokens import find_tokens, resolve
from evalc.extras.lsp.document import Document, Outline
from evalc.extras.lsp.workspace import Workspace, beside
from evalc.grammar.nodes import Text
from evalc.model.checks.declaration import ToolName, texts_of
from evalc.model.json import pointer_step
from evalc.tools.registry import ToolRegistry

Kind = Literal["rule", "criterion", "prompt", "input", "seed", "tool", "file"]

_TOOL: Final = get_args(ToolName)[1]
_VARIABLE: Final = re.compile(r"\{\{\s*(?:#(?:if|unless|each)\s+)?(?!else\s*\}\})(?P<name>[A-Za-z_][\w.-]*)\s*\}\}")


class Mention(NamedTuple):
    """A name in a text.

    Attributes:
        kind: what it names.
        name: the name.
        span: its place, without its quotes.
        defines: whether what it names is declared here.
        document: the number of the suite or shared document among those of its text; -1 for all of them.
    """

    kind: Kind
    name: str
    span: Span
    defines: bool = False
    document: int = -1


def mentions(found: Outline) -> tuple[Mention, ...]:
    """Every name that an outline has, in the order of their places."""
    every = (*_of_suites(found), *_of_tokens(found.source))
    return tuple(sorted(dict.fromkeys(every), key=lambda each: each.span))


def mention_at(every: Iterable[Mention], offset: int) -> Mention | None:
    """The mention that an offset is in or at the end of: the shortest, if one is in another."""
    around = [each for each in every if each.span.start <= offset <= each.span.end]
    return min(around, key=lambda each: each.span.end - each.span.start, default=None)


def _of_suites(found: Outline) -> Iterator[Mention]:
    source = found.source
    for number, suite in enumerate(found.suites):
        yield from _of_suite(source, suite, number)
    for number, shared in enumerate(found.shared, len(found.suites)):
        yield from _of_shared(source, shared, number)
    for prompt in found.prompts:
        yield from _of_prompt(source, prompt, -1)


def _of_suite(source: Source, suite: SuiteTree, number: int) -> Iterator[Mention]:
    yield from _of_shared(source, suite.shared, number)
    if suite.prompt is not None and suite.prompt.source is source:
        yield from _of_prompt(source, suite.prompt, number)
    inputs = {each.name.value for each in (*(suite.inputs or ()), *(_inputs_of(suite.prompt)))}
    yield from _declared(source, suite.inputs, number)
    for criterion in suite.criteria:
        yield _named(source, "criterion", criterion.name, number, defines=True)
    for name in (suite.prompt_id, *(variant.id for variant in suite.prompts)):
        if name is not None:
            yield _named(source, "prompt", name, number)
    for file in (suite.prompt_file, *(variant.file for variant in suite.prompts)):
        if file is not None:
            yield _named(source, "file", file, number)
    if suite.tool is not None:
        yield _named(source, "tool", suite.tool, number)
    for case in suite.cases:
        yield from _of_case(source, case, number)
    for match in _VARIABLE.finditer(source.text) if inputs else ():
        if match["name"] in inputs:
            yield Mention("input", match["name"], Span(*match.span("name")), document=number)


def _inputs_of(prompt: PromptTree | None) -> tuple[InputTree, ...]:
    return () if prompt is None or prompt.inputs is None else prompt.inputs


def _declared(source: Source, inputs: tuple[InputTree, ...] | None, number: int) -> Iterator[Mention]:
    for each in inputs or ():
        yield _named(source, "input", each.name, number, defines=True)


def _of_prompt(source: Source, prompt: PromptTree, number: int) -> Iterator[Mention]:
    if prompt.id is not None:
        yield _named(source, "prompt", prompt.id, number, defines=True)
    yield from _declared(source, prompt.inputs, number)


def _of_case(source: Source, case: CaseTree, number: int) -> Iterator[Mention]:
    yield from _of_checks(source, case.checks, number)
    for given in case.inputs or ():
        yield _named(source, "input", given.name, number)
    if case.prompt_id is not None:
        yield _named(source, "prompt", case.prompt_id, number)
    if case.for_each is not None and case.for_each.file is not None:
        yield _named(source, "file", case.for_each.file, number)


def _of_shared(source: Source, shared: SharedTree, number: int) -> Iterator[Mention]:
    for file in shared.includes:
        yield _named(source, "file", file, number)
    for rule in shared.rules:
        yield _named(source, "rule", rule.name, number, defines=True)
        yield from _of_checks(source, rule.checks, number)
    if shared.defaults is not None:
        yield from _of_checks(source, shared.defaults.checks, number)


def _of_checks(source: Source, checks: Iterable[CheckTree], number: int) -> Iterator[Mention]:
    for check in checks:
        if check.criterion is not None:
            yield _named(source, "criterion", check.criterion, number)
        yield from _of_body(source, check.body, number)


def _of_body(source: Source, body: CheckBody, number: int) -> Iterator[Mention]:
    match body:
        case CheckUse():
            yield _named(source, "rule", body.name, number)
        case CheckGroup():
            for item in body.items:
                yield from _of_body(source, item, number)
        case CheckLeaf():
            yield from _of_leaf(source, body, number)
        case _:
            pass


def _of_leaf(source: Source, leaf: CheckLeaf, number: int) -> Iterator[Mention]:
    """The tools and the schema's file that a check names."""
    for role, value, pointer in texts_of(leaf.check):
        if role is _TOOL and (atom := leaf.atoms.get(pointer)) is not None:
            yield _named(source, "tool", Str(value, _place(source, leaf, atom.start, atom.end)), number)
    for pointer, written in leaf.atoms.items():
        if pointer.endswith("/schema") and isinstance(written, Text):
            yield _named(source, "file", Str(written.value, _place(source, leaf, written.start, written.end)), number)


def _place(source: Source, leaf: CheckLeaf, start: int, end: int) -> Span:
    return Span(start, end) if leaf.origin is None else locate(source, leaf.origin.span, start, end)


def _named(source: Source, kind: Kind, name: Str, number: int, *, defines: bool = False) -> Mention:
    """The mention of a name, without the quotes or the prefix that its token may have."""
    start, end = name.span
    at = source.text.find(name.value, start, end)
    span = Span(at, at + len(name.value)) if at >= 0 else Span(start, end)
    return Mention(kind, name.value, span, defines, number)


def _of_tokens(source: Source) -> Iterator[Mention]:
    for token in find_tokens(source.text):
        if token.source == "seed":
            at = source.text.find(token.path, token.start + len("{{seed:"))
            yield Mention("seed", token.path, Span(at, at + len(token.path)))


_MOST_SEED_PATHS = 2_000


@final
class KnownNames:
    """The names that a document can use.

    Args:
        workspace: the documents around it.
        document: the document.
        offset: where in it; of several suites in a file, each has names of its own.
    """

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
        suite = self.suite
        if suite is None:
            return tuple(each for prompt in self._outline.prompts for each in prompt.inputs or ())
        declared = [*(suite.inputs or ())]
        for prompt in self._prompts_of(suite):
            declared += prompt.inputs or ()
        return tuple({each.name.value: each for each in declared}.values())

    def input_place(self, name: str) -> tuple[Source, Span] | None:
        """Where an input is declared: in the suite, or in a prompt that it uses."""
        suite = self.suite
        own = [(self._outline.source, each) for each in (suite.inputs or ())] if suite is not None else []
        prompts = self._outline.prompts if suite is None else tuple(self._prompts_of(suite))
        for source, each in (*own, *((prompt.source, each) for prompt in prompts for each in prompt.inputs or ())):
            if each.name.value == name:
                return source, each.name.span
        return None

    def _prompts_of(self, suite: SuiteTree) -> Iterator[PromptTree]:
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
    def tools(self) -> ToolRegistry | None:
        """The tool registry, where the project names one."""
        return self._workspace.tools(self._document)

    @cached_property
    def _seed(self) -> tuple[Source, Any] | None:
        """The seed manifest, which is read once however many of its values are asked for."""
        path = self.settings.seed_manifest
        if path is None:
            return None
        source = read_source(Path(path), Diagnostics().add, limit=JSON_LIMIT)
        return None if source is None else (source, read_json(source, lambda _span, _finding: None))

    @property
    def seed_paths(self) -> tuple[str, ...]:
        """The paths of the values of the seed manifest."""
        found = self._seed
        if found is None:
            return ()
        paths = (path for path, _ in zip(_paths(found[1], ""), range(_MOST_SEED_PATHS), strict=False))
        return tuple(paths)

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


def _paths(value: Any, at: str) -> Iterator[str]:
    match value:
        case Mapping():
            for key, inner in value.items():
                yield from _paths(inner, f"{at}.{key}" if at else str(key))
        case list():
            for index, inner in enumerate(value):
                yield from _paths(inner, f"{at}[{index}]")
        case None:
            pass
        case _:
            yield at


def share_of(criterion: CriterionTree, criteria: Sequence[CriterionTree]) -> str | None:
    """The share of all weights that a criterion has, in per cent; None if its suite has no sound weights."""
    weights = {each.name.value: 1.0 if each.weight is None else float(each.weight.value) for each in criteria}
    total = sum(weights.values())
    if total <= 0 or min(weights.values(), default=0) < 0:
        return None
    share = 100 * weights.get(criterion.name.value, 0.0) / total
    return f"{share:.0f} %" if abs(share - round(share)) < 0.05 else f"{share:.1f} %"


class Location(NamedTuple):
    """A mention in a source."""

    source: Source
    mention: Mention


def occurrences(workspace: Workspace, path: Path, mention: Mention) -> list[Location]:
    """Where a project names the same thing as a mention in one of its files does, the mention among them."""
    files = _Files(workspace, path.resolve())
    match mention.kind:
        case "rule":
            return [*_of_rule(files, mention)]
        case "criterion":
            return [*_of_criterion(files, mention)]
        case "input":
            return [each for each in files.named(files.path, mention) if each.mention.document == mention.document]
        case _:
            return [each for path in files.all() for each in files.named(path, mention)]


class _Files:
    """The files of a project, and what they name."""

    def __init__(self, workspace: Workspace, path: Path) -> None:
        self.path = path
        self._workspace = workspace
        self._mentions: dict[Path, tuple[Mention, ...]] = {}

    def all(self) -> list[Path]:
        """Every file of the project."""
        return list(self._workspace.project_files(self.path))

    def closure(self, path: Path) -> list[Path]:
        """A file and those that it includes, the nearest first."""
        return list(self._workspace.closure(path))

    def outline(self, path: Path) -> Outline | None:
        """The contents of a file."""
        return self._workspace.outline_of(path)

    def named(self, path: Path, mention: Mention) -> Iterator[Location]:
        """Where a file names what the mention does, as far as kind and name say."""
        found = self.outline(path)
        if found is None:
            return
        if path not in self._mentions:
            self._mentions[path] = mentions(found)
        for each in self._mentions[path]:
            if (each.kind, each.name) == (mention.kind, mention.name):
                yield Location(found.source, each)

    def defining(self, path: Path, mention: Mention) -> Path | None:
        """The nearest file of the closure that declares the name."""
        declares: Callable[[Path], bool] = lambda each: any(  # noqa: E731 - read beside its use
            named.mention.defines for named in self.named(each, mention)
        )
        return next(filter(declares, self.closure(path)), None)


def _of_rule(files: _Files, mention: Mention) -> Iterator[Location]:
    """A rule is declared in one file, and named in those that include it and declare none of that name nearer."""
    home = files.defining(files.path, mention)
    for path in files.all():
        if any(True for _ in files.named(path, mention)) and files.defining(path, mention) == home:
            yield from files.named(path, mention)


def _of_criterion(files: _Files, mention: Mention) -> Iterator[Location]:
    """A criterion belongs to a suite; rules that suites share tie the criteria of one name together."""
    paths = [path for path in files.all() if any(True for _ in files.named(path, mention))]
    shared = {path for path in paths if (found := files.outline(path)) is not None and not found.suites}
    pending: list[tuple[Path, int]] = [(files.path, -1 if files.path in shared else mention.document)]
    seen: set[tuple[Path, int]] = set()
    while pending:
        node = pending.pop()
        if node in seen:
            continue
        seen.add(node)
        path, document = node
        here = [each for each in files.named(path, mention) if document in {-1, each.mention.document}]
        yield from here
        if path in shared:
            includers = [other for other in paths if other not in shared and path in files.closure(other)]
            pending += [
                (other, each.mention.document)
                for other in includers
                for each in files.named(other, mention)
                if each.mention.defines
            ]
        else:
            pending += [(each, -1) for each in files.closure(path) if each in shared]
