"""Looks up prompts by id. The prompt files below a folder are indexed on the first lookup."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final, final

from evalc.base.source import Source
from evalc.compiler.discover import Finder, shown
from evalc.diagnostics.problem import Diagnostics
from evalc.dsl.build_prompt import PromptTree
from evalc.dsl.build_suite import build_prompt
from evalc.dsl.document_kind import Kind, kind_of_document
from evalc.dsl.nodes import Mapping
from evalc.dsl.read_yaml import read_yaml
from evalc.dsl.sources import read_source

_MAYBE_PROMPT: Final = re.compile(r"""^["']?prompt["']?[ \t]*:""", re.MULTILINE)


@final
class PromptLibrary:
    """The prompts of a project, whose files are looked for in a folder."""

    def __init__(self, folder: Path, finder: Finder) -> None:
        self.folder = folder
        self._finder = finder
        self._prompts: dict[str, list[PromptTree]] | None = None
        self._problems: list[tuple[str, Diagnostics]] = []

    def find(self, prompt_id: str) -> list[PromptTree]:
        """The prompts with an id: one, none, or too many."""
        return self._index().get(prompt_id, [])

    @property
    def ids(self) -> tuple[str, ...]:
        """Every id there is."""
        return tuple(sorted(self._index()))

    @property
    def problems(self) -> Iterator[tuple[str, Diagnostics]]:
        """The problems of each prompt file that has been read."""
        return iter(self._problems)

    def _index(self) -> dict[str, list[PromptTree]]:
        if self._prompts is None:
            self._prompts = {}
            for path in self._finder.search(self.folder, (".yaml", ".yml")):
                found = Diagnostics()
                source = read_source(path, found.add, name=shown(path))
                for prompt in read_prompts(source, found, with_id=True) if source is not None else ():
                    if prompt.id is not None:
                        self._prompts.setdefault(prompt.id.value, []).append(prompt)
                self._problems.append((shown(path), found))
        return self._prompts


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
