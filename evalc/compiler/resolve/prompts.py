"""From a prompt's id to the prompt: the prompt files below a folder, indexed when the first one is asked for."""

from __future__ import annotations

import re
from pathlib import Path
from typing import final

from evalc.compiler.discover import Finder, shown
from evalc.diagnostics.problem import Diagnostics
from evalc.dsl.build_prompt import build_prompt
from evalc.dsl.nodes import Mapping
from evalc.dsl.read_yaml import read_yaml
from evalc.dsl.tree import PromptTree
from evalc.files import read_source
from evalc.source import Source

_MAYBE_PROMPT = re.compile(r"""^["']?prompt["']?[ \t]*:""", re.MULTILINE)


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
            ignored = Diagnostics()  # files that are no prompt files are none of our business
            for path in self._finder.search(self.folder, (".yaml", ".yml")):
                source = read_source(path, ignored.add, name=shown(path))
                for prompt in read_prompts(source, ignored) if source is not None else ():
                    if prompt.id is not None:
                        self._prompts.setdefault(prompt.id.value, []).append(prompt)
        return self._prompts


def read_prompts(source: Source, problems: Diagnostics) -> list[PromptTree]:
    """The prompts that a YAML text holds."""
    if not _MAYBE_PROMPT.search(source.text):
        return []
    documents = read_yaml(source, lambda span, finding: problems.add(source, span, finding))
    mappings = (document for document in documents if isinstance(document, Mapping))
    prompts = (build_prompt(source, mapping, problems) for mapping in mappings)
    return [prompt for prompt in prompts if prompt is not None]
