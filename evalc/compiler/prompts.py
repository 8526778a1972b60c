"""From a prompt's id to the prompt: the prompt files below a folder, indexed when the first one is asked for."""

from __future__ import annotations

import re
from pathlib import Path
from typing import final

from evalc.compiler.discover import Finder
from evalc.diagnostics.problem import Diagnostics
from evalc.dsl.build_prompt import build_prompt
from evalc.dsl.nodes import Mapping
from evalc.dsl.read_yaml import read_yaml
from evalc.dsl.tree import PromptTree
from evalc.files import read_source

_MAYBE_PROMPT = re.compile(r"^prompt[ \t]*:", re.MULTILINE)


@final
class PromptLibrary:
    """The prompts of a project.

    Args:
        folder: where prompt files are looked for.
        finder: how folders are searched.
    """

    def __init__(self, folder: Path, finder: Finder) -> None:
        self.folder = folder
        self._finder = finder
        self._prompts: dict[str, list[PromptTree]] | None = None

    def find(self, prompt_id: str) -> list[PromptTree]:
        """The prompts with an id: one, none, or too many."""
        return self._index().get(prompt_id, [])

    @property
    def ids(self) -> tuple[str, ...]:
        """Every id there is."""
        return tuple(sorted(self._index()))

    def _index(self) -> dict[str, list[PromptTree]]:
        if self._prompts is None:
            self._prompts = {}
            for path in self._finder.search(self.folder, (".yaml", ".yml")):
                for prompt in self.read(path):
                    if prompt.id is not None:
                        self._prompts.setdefault(prompt.id.value, []).append(prompt)
        return self._prompts

    def read(self, path: Path, problems: Diagnostics | None = None) -> list[PromptTree]:
        """The prompts that a file holds. Without `problems`, a file that cannot be read holds none."""
        found = Diagnostics() if problems is None else problems
        source = read_source(path, found.add)
        if source is None or not _MAYBE_PROMPT.search(source.text):
            return []
        documents = read_yaml(source, lambda span, finding: found.add(source, span, finding))
        mappings = (document for document in documents if isinstance(document, Mapping))
        prompts = (build_prompt(source, mapping, found) for mapping in mappings)
        return [prompt for prompt in prompts if prompt is not None]
