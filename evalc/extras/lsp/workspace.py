"""The open documents, the projects that they belong to, and what the compiler finds in them."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path
from typing import Final, NamedTuple, final

from evalc.base.files import is_below, project_root
from evalc.base.source import Source, Span
from evalc.compiler.names import suite_name
from evalc.compiler.pipeline import is_json
from evalc.compiler.prompts import PromptLibrary
from evalc.config.load import Loaded, load_settings
from evalc.config.settings import Settings
from evalc.diagnostics.problem import Diagnostics, Problem
from evalc.dsl.build_prompt import PromptTree
from evalc.dsl.build_suite import SuiteTree
from evalc.dsl.document_kind import Kind, is_meant_as_eval, names_an_eval
from evalc.dsl.nodes import is_cut
from evalc.dsl.sources import read_source, unsaved
from evalc.extras.lsp.document import (
    CaseSpans,
    Document,
    DocumentProblems,
    Encoding,
    Outline,
    outline,
    path_of,
    uri_of,
    with_case,
)
from evalc.setup.compile import collector_off, compiled, options_for, policy_of
from evalc.tools.load import load_tools
from evalc.tools.registry import ToolRegistry

_YAML: Final = (".yaml", ".yml")
_PROMPT_KEYS: Final = tuple(re.compile(rf"^{key}[ \t]*:", re.MULTILINE) for key in ("id", "prompt"))


class _Read(NamedTuple):
    """A file as it was read: when it was written, and its contents."""

    written: int
    outline: Outline | None


@final
class Workspace:
    """Open documents, and the files around them."""

    def __init__(self) -> None:
        self.encoding = Encoding()
        self._documents: dict[str, Document] = {}
        self._outlines: dict[str, tuple[Source, Outline]] = {}
        self._focus: tuple[Source, Span, Outline] | None = None
        self._files: dict[Path, _Read] = {}
        self._settings: dict[Path, Loaded] = {}
        self._libraries: dict[Path, PromptLibrary] = {}
        self._tools: dict[Path, ToolRegistry | None] = {}

    # --- documents ---

    def open(self, uri: str, text: str, version: int) -> Document:
        """An editor has opened a document."""
        document = Document(uri, text, version, self.encoding)
        self._documents[_key(uri)] = document
        return document

    def close(self, uri: str) -> None:
        """An editor has closed a document: what counts is the file again."""
        self._documents.pop(_key(uri), None)
        self._outlines.pop(_key(uri), None)
        self.forget()

    def get(self, uri: str) -> Document | None:
        """The open document of an address."""
        return self._documents.get(_key(uri))

    @property
    def documents(self) -> tuple[Document, ...]:
        """All that is open."""
        return tuple(self._documents.values())

    def forget(self) -> None:
        """Read settings and prompts anew: a file has been saved, or has changed on disk."""
        self._settings.clear()
        self._libraries.clear()
        self._tools.clear()

    # --- their contents ---

    def outline(self, document: Document) -> Outline:
        """The outline of a document as it is now."""
        key = _key(document.uri)
        known = self._outlines.get(key)
        if known is None or known[0] is not document.source:
            with collector_off():
                known = (document.source, outline(document.source))
            self._outlines[key] = known
        return known[1]

    def around(self, document: Document, offset: int) -> Outline:
        """The outline of a document, in which of many cases only the one at the offset need be."""
        known = self._outlines.get(_key(document.uri))
        case = document.cases.around(offset) if document.cases else None
        if case is None or document.cases is None or (known is not None and known[0] is document.source):
            return self.outline(document)
        if self._focus is None or self._focus[:2] != (document.source, case):
            with collector_off():
                alone = Source(document.source.name, document.cases.alone(document.source.text, case))
                self._focus = (document.source, case, outline(alone))
        return self._focus[2]

    def outline_of(self, path: Path) -> Outline | None:
        """The outline of a file: of its open document if there is one; None if it cannot be read."""
        document = self.get(uri_of(path))
        if document is not None:
            return self.outline(document)
        try:
            written = path.stat().st_mtime_ns
        except OSError:
            return None
        known = self._files.get(path)
        if known is None or known.written != written:
            source = read_source(path, Diagnostics().add)
            known = _Read(written, None if source is None else outline(source))
            self._files[path] = known
        return known.outline

    def project_files(self, path: Path) -> Iterator[Path]:
        """The YAML files of the project that a file belongs to, the open ones among them."""
        settings = self.settings(path)
        root = settings.root
        found = {Path(os.path.realpath(each)) for each in options_for(settings).finder.search(root, _YAML)}
        found |= {document.path.resolve() for document in self.documents if document.path.suffix.lower() in _YAML}
        return iter(sorted(each for each in found if each.is_relative_to(os.path.realpath(root))))

    def settings(self, path: Path) -> Settings:
        """The settings that hold for a file."""
        return self._loaded(path).settings

    def _loaded(self, path: Path) -> Loaded:
        folder = path.absolute().parent
        if folder not in self._settings:
            start = folder
            while not start.is_dir():  # of a file that is not saved yet
                start = start.parent
            self._settings[folder] = load_settings(start)
        return self._settings[folder]

    # --- what is wrong with them ---

    def check(self, document: Document, before: DocumentProblems | None = None) -> DocumentProblems:
        """Compile a document, with the other open documents as they are in the editor.

        What was found `before` holds for the part after a syntax error that is still there.
        """
        own = uri_of(document.path)
        if not self._is_ours(document):
            return DocumentProblems(problems={own: ()})
        found = self._compiled(document, document.source)
        if self._is_of_another_kind(document, found):
            return DocumentProblems(problems={own: ()})
        problems: dict[str, list[Problem]] = {own: []}
        for problem in (*found, *self._loaded(document.path).problems):
            problems.setdefault(uri_of(problem.source.name), []).append(problem)
        if not document.cases and document.path.suffix.lower() in _YAML:
            document.cases = CaseSpans(document.source)
        unread = None if before is None or document.edited is not None else before.unread
        return DocumentProblems(problems={uri: tuple(each) for uri, each in problems.items()}, unread=unread)

    def check_case(self, document: Document, before: DocumentProblems) -> DocumentProblems | None:
        """Compile the one case that has been edited since the check before; None if it is not one case.

        What a case shares with others, such as a repeated id, is only found by a check of the whole document.
        """
        edited = document.edited
        case = None if document.cases is None or edited is None else document.cases.around(edited.start)
        if case is None or edited is None or document.cases is None or edited.end > case.end:
            return None
        source = document.source
        alone = Source(source.name, document.cases.alone(source.text, case))
        found = [each for each in self._compiled(document, alone) if each.source is alone]
        return with_case(before, source, case, found)

    def _compiled(self, document: Document, source: Source) -> tuple[Problem, ...]:
        settings = self.settings(document.path)
        with collector_off(), self._as_edited():
            policy, prompts = policy_of(settings), self._library(document)
            return compiled([source], settings, policy, errors_stay=False, known_prompts=prompts).problems

    def _as_edited(self) -> AbstractContextManager[None]:
        """Read the open documents as they are in the editor."""
        return unsaved({os.path.realpath(each.path): each.source.text for each in self.documents})

    def prompt_ids(self, document: Document) -> tuple[str, ...]:
        """The ids of the prompts of the project that a document belongs to."""
        with self._as_edited():
            return self._library(document).ids

    def name_of(self, document: Document, suite: SuiteTree) -> str:
        """The name of a suite of a document; what is wrong with it is reported elsewhere."""
        return suite_name(suite, partial(self.prompts, document), Diagnostics())

    def prompts(self, document: Document, prompt_id: str) -> list[PromptTree]:
        """The prompts with an id, in the project that a document belongs to."""
        with self._as_edited():
            return self._library(document).find(prompt_id)

    def _library(self, document: Document) -> PromptLibrary:
        """The prompts of a project, which are read when one is first looked up; anew while a prompt is edited."""
        settings = self.settings(document.path)
        folder = settings.prompts or settings.root
        if document.edited is not None and all(key.search(document.source.text) for key in _PROMPT_KEYS):
            self._libraries.pop(folder, None)
        return self._libraries.setdefault(folder, PromptLibrary(folder, options_for(settings).finder))

    def tools(self, document: Document) -> ToolRegistry | None:
        """The tool registry of the project that a document belongs to, as far as it can be read."""
        folder = document.path.absolute().parent
        if folder not in self._tools:
            file = options_for(self.settings(document.path)).tools
            self._tools[folder] = None if file is None else load_tools(file, Diagnostics())
        return self._tools[folder]

    def _is_ours(self, document: Document) -> bool:
        """Whether a text may be an eval file; an editor opens YAML and JSON of all kinds."""
        name = document.path.name
        if is_json(document.source) or names_an_eval(name):
            return True
        found = self.outline(document)
        if found.kinds - {Kind.SHARED}:
            return True
        if found.kinds:  # many programs have files with `rules:`
            return bool(self.includers(document))
        is_broken = not found.documents or any(map(is_cut, found.documents))
        return is_broken and is_meant_as_eval(name, document.source.text)

    def _is_of_another_kind(self, document: Document, problems: tuple[Problem, ...]) -> bool:
        """Whether the compiler found that it is not an eval file, and nothing says that it should be one."""
        of_another = any(problem.code in {"EV640", "EV641"} for problem in problems)
        return of_another and not names_an_eval(document.path.name)

    def includers(self, document: Document) -> list[Document]:
        """The other open documents that include a document, or a file that does."""
        own = document.path.resolve()
        return [each for each in self.documents if each is not document and own in self.closure(each.path.resolve())]

    def closure(self, path: Path, outline: Outline | None = None) -> dict[Path, Outline]:
        """A file and all that it includes, the nearest first; `outline` is the file's own, where it is known."""
        pending, seen = [path], dict[Path, Outline]()
        while pending:
            current = pending.pop(0)
            found = outline if current == path and outline is not None else self.outline_of(current)
            if current not in seen and found is not None:
                seen[current] = found
                files = (beside(current, file.value) for each in found.shares for file in each.includes)
                pending += [file for file in files if file is not None]
        return seen


def beside(path: Path, name: str) -> Path | None:
    """The file that a file names; None if it lies outside of the project, from which nothing is read."""
    named = path.parent / name
    return named.resolve() if is_below(named, project_root(path)) else None


def _key(uri: str) -> str:
    """An address in one spelling: editors differ in what they escape, and a file may be reached through links."""
    return os.path.realpath(path_of(uri)) if uri.startswith("file:") else uri
