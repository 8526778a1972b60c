"""The open documents, as places, trees and cases; the projects they belong to; what the compiler finds in them."""

from __future__ import annotations

import os
import re
from bisect import bisect_right
from collections.abc import Iterator
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path
from typing import Final, final
from urllib.parse import quote

import msgspec
from lsprotocol import types as lsp
from pygls.uris import to_fs_path

from evalc.base import collector_off
from evalc.base.files import is_below, project_root
from evalc.base.source import Position, Source, Span
from evalc.compiler.libraries import PromptLibrary
from evalc.compiler.names import suite_name
from evalc.compiler.pipeline import is_json
from evalc.config import Settings
from evalc.config.load import Loaded, load_settings
from evalc.diagnostics import Diagnostics, Problem
from evalc.diagnostics.fixing import ends_the_file
from evalc.dsl.build_prompt import PromptTree
from evalc.dsl.build_suite import SharedTree, SuiteTree, build_prompt, build_shared_file, build_suite
from evalc.dsl.document_kind import Kind, has_evals, is_meant_as_eval, kind_of_document, names_an_eval
from evalc.dsl.nodes import Mapping, Node, Sequence, fields_of, is_cut
from evalc.dsl.read_yaml import read_yaml
from evalc.dsl.sources import read_source, unsaved
from evalc.setup.compile import compiled, options_for, policy_of
from evalc.tools import ToolRegistry
from evalc.tools.load import load_tools

# --- a document ------------------------------------------------------------------------------------------------------


_FEWEST: Final = 20
"""Files with fewer cases are read whole: that takes no time."""
_MORE_THAN_A_BREAK: Final = re.compile(r"[^\r\n]")
_ANCHOR: Final = re.compile(r"(?:^[ ]*|[:,\[{-][ ]+)[&*]\w", re.MULTILINE)
_DASH: Final = re.compile(r"[ ]*-[ ]+")


_NOTHING: Final = Source("", "")


@final
class CaseSpans:
    """The stretches of a text that hold one case each, from the line of its dash to that of the next.

    There are none if a case may need another: with anchors, several documents, a list in brackets.
    """

    def __init__(self, source: Source = _NOTHING) -> None:
        self._starts = _starts(source)  # and the end of the last one
        self._blank = _MORE_THAN_A_BREAK.sub(" ", source.text) if self._starts else ""
        self._dash = len(_DASH.match(source.text, self._starts[0])[0]) if self._starts else 0  # type: ignore[index]

    def __bool__(self) -> bool:
        """Whether it is known where the cases are."""
        return bool(self._starts)

    def edited(self, start: int, end: int, inserted: str) -> None:
        """The characters `[start, end)` have been replaced: what follows them has moved.

        An edit of a dash, or over the bounds of a case, makes other cases of them, which only the whole text shows.
        """
        case = self.around(start)
        if case is None or start < case.start + self._dash or end >= case.end or _ANCHOR.search(inserted):
            self._starts = []
            return
        delta = len(inserted) - (end - start)
        behind = bisect_right(self._starts, start)
        self._starts[behind:] = [each + delta for each in self._starts[behind:]]
        self._blank = self._blank[:start] + _MORE_THAN_A_BREAK.sub(" ", inserted) + self._blank[end:]

    def around(self, offset: int) -> Span | None:
        """The case at an offset; None if there is none."""
        behind = bisect_right(self._starts, offset)
        return Span(*self._starts[behind - 1 : behind + 1]) if 0 < behind < len(self._starts) else None

    def alone(self, text: str, case: Span) -> str:
        """The text with all other cases left blank, so that everything left keeps its place."""
        first, last = self._starts[0], self._starts[-1]
        before, behind = self._blank[first : case.start], self._blank[case.end : last]
        return "".join((text[:first], before, text[slice(*case)], behind, text[last:]))


def _starts(source: Source) -> list[int]:
    """Where the line of each case begins, and where the last case ends; nothing if they cannot be distinguished."""
    nodes = read_yaml(source)
    cases = _cases_of(nodes[0]) if len(nodes) == 1 else None
    if cases is None or len(cases.items) < _FEWEST or cases.cut or _ANCHOR.search(source.text):
        return []
    starts = [source.text.rfind("\n", 0, item.start) + 1 for item in cases.items]
    stand_apart = all(
        _DASH.fullmatch(source.text, start, item.start) for start, item in zip(starts, cases.items, strict=True)
    )
    end = source.text.find("\n", cases.items[-1].end)
    return [*starts, len(source.text) if end < 0 else end + 1] if stand_apart else []


def _cases_of(node: Node | None) -> Sequence | None:
    """The list of test cases of a document, which may be in its `eval:`."""
    if not isinstance(node, Mapping) or node.cut:
        return None
    by_key = fields_of(node)
    found = by_key.get("test_cases")
    if found is None:
        return _cases_of(by_key.get("eval"))
    return found if isinstance(found, Sequence) else None


_BYTES_A_UNIT: Final = {"utf-8": ("utf-8", 1), "utf-16": ("utf-16-le", 2), "utf-32": ("utf-32-le", 4)}


@final
class Encoding:
    """How a client counts the characters of a line: in units of UTF-8, UTF-16 or UTF-32."""

    def __init__(self, name: str = "utf-16") -> None:
        self._codec, self._size = _BYTES_A_UNIT[name]
        self._counts_characters = name == "utf-32"

    def units(self, text: str) -> int:
        """How many units a text takes."""
        if self._counts_characters or text.isascii():
            return len(text)
        return len(text.encode(self._codec, "surrogatepass")) // self._size

    def characters(self, line: str, units: int) -> int:
        """How many characters of a line so many units take; a character that they end in is left out."""
        if self._counts_characters or line.isascii():
            return min(units, len(line))
        data = line.encode(self._codec, "surrogatepass")[: units * self._size]
        return len(data.decode(self._codec, "ignore"))


@final
class Document:
    """A text that an editor has open."""

    def __init__(self, uri: str, text: str, version: int, encoding: Encoding) -> None:
        self.uri = uri  # its address, as the editor writes it
        self.path = path_of(uri)
        self.version = version  # the editor's number of this state of the text
        self.source = Source(str(self.path), text)  # the text; its name is the path
        self.cases = CaseSpans()  # the places of its cases, once the text has been read as a whole
        self.edited: Span | None = None  # from where to where it is another since it was checked; None if it is not
        self._encoding = encoding

    def change(self, changes: list[lsp.TextDocumentContentChangeEvent], version: int) -> None:
        """Take over what was typed, one change after the other."""
        for change in changes:
            text = change.text
            if isinstance(change, lsp.TextDocumentContentChangePartial):
                start, end = self.offset(change.range.start), self.offset(change.range.end)
                end = max(start, end)
                self._note(start, end, text)
                text = self.source.text[:start] + text + self.source.text[end:]
            else:
                self.cases = CaseSpans()
                self.edited = Span(0, len(text))
            self.source = Source(self.source.name, text)
        self.version = version

    def _note(self, start: int, end: int, text: str) -> None:
        """Keep account of what has been edited since the last check."""
        self.cases.edited(start, end, text)
        delta = len(text) - (end - start)
        if self.edited is None:
            self.edited = Span(start, start + len(text))
        else:
            first, last = self.edited
            behind = last + delta if start <= last else start + len(text)
            self.edited = Span(min(first, start), max(behind, start + len(text)))

    def offset(self, position: lsp.Position) -> int:
        """The offset of a place of the protocol."""
        line = self.source.line(position.line + 1)
        column = self._encoding.characters(line, position.character)
        return self.source.offset(Position(position.line + 1, column + 1))

    def range_of(self, span: Span) -> lsp.Range:
        """A stretch of the text, as the protocol has it."""
        return range_in(self.source, span, self._encoding)


def range_in(source: Source, span: Span, encoding: Encoding) -> lsp.Range:
    """A stretch of a source, as the protocol has it."""
    return lsp.Range(_position(source, span.start, encoding), _position(source, span.end, encoding))


def _position(source: Source, offset: int, encoding: Encoding) -> lsp.Position:
    line, column = source.position(offset)
    return lsp.Position(line - 1, encoding.units(source.line(line)[: column - 1]))


def path_of(uri: str) -> Path:
    """The file of an address; for any other address, a name in the working folder."""
    path = to_fs_path(uri) if uri.startswith("file:") else None
    return Path(path) if path else Path(quote(uri, safe=""))


def uri_of(path: Path | str) -> str:
    """The address of a file."""
    return Path(os.path.abspath(path)).as_uri()  # noqa: PTH100 - which takes no `..` out


@final
class DocumentProblems(msgspec.Struct, frozen=True, kw_only=True):
    """The compiler's findings in a document."""

    # by the address of the file that they are in; the document's own are there even if there are none
    problems: dict[str, tuple[Problem, ...]]
    # while a syntax error in a case ends the file, what was last found after that case; None if that is not known
    unread: tuple[Problem, ...] | None = None


def with_case(before: DocumentProblems, source: Source, case: Span, found: list[Problem]) -> DocumentProblems | None:
    """The problems of a document in which one case has been edited; None if all of it has to be checked.

    `source` is the text with the edit, and `found` what a check of the case alone has found, at the same offsets.
    """
    found = [msgspec.structs.replace(each, source=source) for each in found if case.start <= each.span.start < case.end]
    own = uri_of(source.name)
    behind_case = len(source.text) - case.end  # the length of what has only moved
    in_front, inside, behind = list[Problem](), list[Problem](), list[Problem]()
    for problem in before.problems.get(own, ()):
        if problem.source.name != source.name:
            in_front.append(problem)
        elif problem.span.start < case.start:
            in_front.append(msgspec.structs.replace(problem, source=source))
        elif len(problem.source.text) - problem.span.start <= behind_case:
            behind.append(problem)
        else:
            inside.append(problem)
    was_read, is_read = not any(map(ends_the_file, inside)), not any(map(ends_the_file, found))
    unread = before.unread
    if any(map(ends_the_file, in_front)):
        found, unread = [], None
    elif not is_read:
        behind, unread = [], (tuple(behind) if was_read else unread)
    elif not was_read:
        if unread is None:
            return None  # what follows has not been read before
        behind, unread = list(unread), None
    moved = [_moved(each, source, len(source.text) - len(each.source.text)) for each in behind]
    in_order = sorted((*in_front, *found, *moved), key=lambda each: each.span)
    return DocumentProblems(problems={**before.problems, own: tuple(in_order)}, unread=unread)


def _moved(problem: Problem, source: Source, by: int) -> Problem:
    """The problem in a text that is longer or shorter in front of it."""
    span = Span(problem.span.start + by, problem.span.end + by)
    finding = (
        problem.finding if problem.finding.fix is None else problem.finding.replaced(problem.finding.fix.moved(by))
    )
    return msgspec.structs.replace(problem, source=source, span=span, finding=finding, row=None, alias=None)


@final
class Outline(msgspec.Struct, frozen=True, kw_only=True):
    """The trees of a text, without what is broken in it."""

    source: Source
    documents: tuple[Node, ...]  # its YAML documents
    kinds: frozenset[Kind]  # the kinds of those documents that are of evalc's
    suites: tuple[SuiteTree, ...]  # those that have test cases
    shared: tuple[SharedTree, ...]  # those that other files include
    prompts: tuple[PromptTree, ...]  # those that other files name; a suite's own prompt is in the suite

    @property
    def shares(self) -> tuple[SharedTree, ...]:
        """The rules, defaults and includes of its suites and of what other files include."""
        return (*(suite.shared for suite in self.suites), *self.shared)


def outline(source: Source) -> Outline:
    """The outline of a YAML text; its mistakes are left out, and reported elsewhere."""
    ignored = Diagnostics()
    nodes = read_yaml(source)
    suites: list[SuiteTree] = []
    shared: list[SharedTree] = []
    prompts: list[PromptTree] = []
    kinds: set[Kind] = set()
    for node in nodes:
        kind = kind_of_document(node)
        if kind is None or not isinstance(node, Mapping):
            continue
        kinds.add(kind)
        if kind is Kind.SHARED:
            shared.append(build_shared_file(source, node, ignored))
        elif kind is Kind.PROMPT and not has_evals(node):
            prompt = build_prompt(source, node, ignored)
            prompts += [] if prompt is None else [prompt]
        else:
            suites.append(build_suite(source, node, kind, ignored))
    return Outline(
        source=source,
        documents=tuple(node for node in nodes if node is not None),
        kinds=frozenset(kinds),
        suites=tuple(suites),
        shared=tuple(shared),
        prompts=tuple(prompts),
    )


# --- all documents ---------------------------------------------------------------------------------------------------


_YAML: Final = (".yaml", ".yml")
_PROMPT_KEYS: Final = tuple(re.compile(rf"^{key}[ \t]*:", re.MULTILINE) for key in ("id", "prompt"))


@final
class Workspace:
    """Open documents, and the files around them."""

    def __init__(self) -> None:
        self.encoding = Encoding()
        self._documents: dict[str, Document] = {}
        self._outlines: dict[str, tuple[Source, Outline]] = {}
        self._focus: tuple[Source, Span, Outline] | None = None
        self._files: dict[Path, tuple[int, Outline | None]] = {}  # when they were written, and their contents
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
        case = document.cases.around(offset)
        if case is None or (known is not None and known[0] is document.source):
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
        if known is None or known[0] != written:
            source = read_source(path, Diagnostics().add)
            known = (written, None if source is None else outline(source))
            self._files[path] = known
        return known[1]

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
        is_of_another_kind = any(problem.code in {"EV640", "EV641"} for problem in found)
        if is_of_another_kind and not names_an_eval(document.path.name):
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
        case = None if edited is None else document.cases.around(edited.start)
        if case is None or edited is None or edited.end > case.end:
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
