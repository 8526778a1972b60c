"""The names that can be written at a place: criteria, rules, inputs, prompts, tools, seed values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any, final

from evalc.base.source import Source, Span
from evalc.diagnostics.problem import Diagnostics
from evalc.dsl.read_json import JsonPlaces, read_json
from evalc.dsl.sources import JSON_LIMIT, read_source
from evalc.dsl.tree import CriterionTree, InputTree, PromptTree, RuleTree, SuiteTree
from evalc.ecma.tokens import resolve
from evalc.lsp.document import Document
from evalc.lsp.workspace import Workspace, beside
from evalc.model.json import pointer_step
from evalc.tools.registry import ToolRegistry

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
