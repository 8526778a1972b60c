"""From source texts to compiled suites, phase by phase: the pipeline on one screen."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence, Set
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, final

import msgspec

from evalc.compiler import ir
from evalc.compiler.compiled import Compilation, CompiledSuite, by_tier, outputs_of
from evalc.compiler.discover import Found, project_root
from evalc.compiler.emit.suite import emit
from evalc.compiler.lock import check_lock, read_lock
from evalc.compiler.merge.cases import merge
from evalc.compiler.merge.include import IncludeLibrary
from evalc.compiler.options import CompileOptions
from evalc.compiler.passes.check_contract import check_contract
from evalc.compiler.passes.check_contradictions import Contradictions
from evalc.compiler.passes.check_criteria import check_criteria
from evalc.compiler.passes.check_ids import check_ids
from evalc.compiler.passes.check_links import check_links
from evalc.compiler.passes.check_vacuity import check_vacuity
from evalc.compiler.resolve.names import resolve_names
from evalc.compiler.resolve.prompts import PromptLibrary
from evalc.compiler.schemas import SchemaLoader
from evalc.compiler.tool_state import with_tool_state
from evalc.compiler.verify import verify
from evalc.diagnostics.catalogue.files import NotAnEvalFile, ResultFile
from evalc.diagnostics.catalogue.names import SuiteCollision
from evalc.diagnostics.problem import Diagnostics
from evalc.dsl.build_prompt import build_prompt
from evalc.dsl.build_shared import build_shared_file
from evalc.dsl.build_suite import build_suite
from evalc.dsl.kinds import Kind, kind_of_document, looks_like_eval, probably_meant
from evalc.dsl.nodes import Mapping
from evalc.dsl.read_yaml import read_yaml
from evalc.dsl.tree import SuiteTree
from evalc.files import JSON_LIMIT, YAML_LIMIT, read_source
from evalc.source import Source, Span

if TYPE_CHECKING:
    from evalc.tools.load import RegistryFile
    from evalc.tools.registry import ToolRegistry

STDIN = "<stdin>"
_PIECE = 1000
"""How many cases are made and looked at together: those of tables are never all there at once."""

_BEGINS_AS_JSON = re.compile(r"""\s*(\[\s*)?\{\s*["}]""")


def compile_sources(subjects: Iterable[str | Path | Source], options: CompileOptions) -> Compilation:
    """Compile sources, and the eval files of paths (files, folders, globs).

    Raises nothing for what authors wrote: every problem of every file is in the compilation.
    """
    compiler = Compiler(options)
    for text in compiler.open(subjects):
        compiler.add(text)
    return compiler.finish()


class Text(NamedTuple):
    """A text to compile; `named` says that the user named it, so that it has to be an eval file."""

    source: Source
    named: bool


class Added(NamedTuple):
    """A suite that a compilation has taken in, with the hashes of the ids of its cases."""

    suite: ir.Suite
    ids: Set[int]


@final
class Compiler:
    """One compilation: what its files share, and what has come of them so far."""

    def __init__(self, options: CompileOptions) -> None:
        self.files = 0
        self._options = options
        self._none_wanted = False
        self._problems = Diagnostics(strict=options.strict)
        self._tools = None if options.tools is None else _load_tools(options.tools, self._problems)
        self._schemas = SchemaLoader()
        self._includes = IncludeLibrary()
        self._library: PromptLibrary | None = None
        self._suites: list[ir.Suite] = []
        self._come_upon: set[str] = set()

    def of_sound_texts(self) -> Compiler:
        """An empty compilation with the same tools, in which a text that has a problem raises `NotSound`."""
        compiler = Compiler(msgspec.structs.replace(self._options, tools=None))
        compiler._none_wanted = True
        compiler._problems = Diagnostics(none_wanted=True)
        compiler._tools = self._tools
        return compiler

    def finish(self) -> Compilation:
        """What came of all sources: the suites, or only the problems when any is an error."""
        compiled = tuple(suite for parts in map(by_tier, self._suites) for suite in parts)
        compiled = self._without_copies(compiled)
        self._report_collisions(compiled)
        if self._options.lock_folder is not None:
            check_lock(compiled, read_lock(self._options.lock_folder, self._problems), self._problems)
        if self._problems.has_errors:
            compiled = ()
        return Compilation(suites=compiled, problems=tuple(self._problems), files=self.files, tools=self._tools)

    def open(self, subjects: Iterable[str | Path | Source]) -> Iterator[Text]:
        """The texts among the subjects, then those of the files; what cannot be read is reported."""
        wanted = list(subjects)
        yield from (Text(source, named=True) for source in wanted if isinstance(source, Source))
        for found in self._options.finder.expand(path for path in wanted if not isinstance(path, Source)):
            text = self._read(found)
            if text is not None:
                yield text

    def _read(self, found: Found) -> Text | None:
        """The text of a file; None for one that a search came upon and that is none, and cannot be meant as an eval."""
        problems = Diagnostics()
        limit = JSON_LIMIT if found.path.suffix == ".json" else YAML_LIMIT
        source = read_source(found.path, problems.add, limit=limit)
        if found.named or (source is not None and (not len(problems) or looks_like_eval(source.text))):
            self._problems.extend(problems)
            return None if source is None else Text(source, named=found.named)
        return None

    def add(self, text: Text) -> Sequence[Added] | None:
        """Compile a text: the suites in it. None for one that a search came upon and that is no eval file."""
        source, named = text
        problems = Diagnostics(none_wanted=self._none_wanted)
        read = self._read_json if is_json(source) else self._read_yaml
        suites = read(source, problems, named=named)
        if suites is None and not named and not (problems.has_errors and looks_like_eval(source.text)):
            return None
        if suites is None and not problems.has_errors:
            problems.add(source, Span(0, 0), NotAnEvalFile(path=source.name, meant=None))
        self.files += 1
        self._problems.extend(problems)
        if not named:
            self._come_upon.add(source.name)
        added = [Added(suite, self._lint(suite)) for suite in suites or ()]
        self._suites += (suite for suite, _ in added)
        return added

    @property
    def outputs(self) -> Iterator[str]:
        """The names of the files that the suites are compiled to."""
        return (name for suite in self._suites for name in outputs_of(suite))

    # --- the front ends: each gives None for a text of another kind ---

    def _read_json(self, source: Source, problems: Diagnostics, *, named: bool) -> list[ir.Suite] | None:
        # For start-up: most suites are YAML.
        from evalc.compiler.lift.suite import (  # noqa: PLC0415
            is_eval_json,
            is_result,
            is_suite_in_json,
            lift,
            read_document,
        )

        data = read_document(source, problems)
        if is_result(data):
            if named:
                problems.add(source, Span(0, 0), ResultFile(path=source.name))
            return None
        if is_eval_json(data):
            return [lift(source, data, problems)]
        return self._read_yaml(source, problems, named=named) if is_suite_in_json(data) else None

    def _read_yaml(self, source: Source, problems: Diagnostics, *, named: bool) -> list[ir.Suite] | None:
        documents = read_yaml(source, lambda span, finding: problems.add(source, span, finding))
        recognised = False
        suites: list[ir.Suite] = []
        for document in documents:
            kind = kind_of_document(document)
            if kind is Kind.SHARED and not named:
                continue  # what else has `rules:` is none of our business, and a shared file is checked with its suites
            if kind is None or not isinstance(document, Mapping):
                meant = probably_meant(document, by_name=named or recognised)
                if meant is not None:
                    problems.add(source, _key_span(document, meant), NotAnEvalFile(path=source.name, meant=meant))
                    recognised = True
                continue
            recognised = True
            if kind is Kind.SHARED:
                self._includes.open(build_shared_file(source, document, problems), problems)
                continue
            if kind is Kind.PROMPT and not any(key.text == "eval" for key, _ in document.pairs):
                build_prompt(source, document, problems)
                continue
            tree = build_suite(source, document, kind, problems)
            if self._is_wanted(tree):
                suites.append(self._front_end(tree, problems))
        return suites if recognised else None

    def _front_end(self, tree: SuiteTree, problems: Diagnostics) -> ir.Suite:
        suite = merge(tree, self._includes, problems)
        names = resolve_names(suite, self._prompts(tree.source), self._options.inputs_sent, problems)
        return with_tool_state(emit(suite, names, self._schemas, problems), self._tools)

    # --- on the IR, whichever front end it came from ---

    def _lint(self, suite: ir.Suite) -> Set[int]:
        """Report what is wrong with a suite; the hashes of the ids of its cases."""
        check_criteria(suite, self._problems)
        ids: set[int] = set()
        contradictions = Contradictions()
        for cases in suite.cases.in_pieces(_PIECE):
            piece = msgspec.structs.replace(suite, cases=cases)
            check_ids(piece, ids, self._problems)
            check_links(piece, self._problems)
            check_contract(piece, self._problems)
            check_vacuity(piece, self._problems)
            contradictions.check(piece, self._problems)
            if self._tools is not None:
                _check_tools(piece, self._tools, self._problems)
            if not self._problems.has_errors:
                verify(piece)
        contradictions.finish(suite, self._problems)
        return ids

    def _without_copies(self, suites: tuple[CompiledSuite, ...]) -> tuple[CompiledSuite, ...]:
        """The suites less evalc's own output that a search came upon beside what it was compiled from."""
        authored = {suite.file_name for suite in suites if not suite.ir.from_json}
        return tuple(
            suite
            for suite in suites
            if not (suite.is_output and suite.file_name in authored and suite.ir.source.name in self._come_upon)
        )

    def _report_collisions(self, suites: tuple[CompiledSuite, ...]) -> None:
        first: dict[str, CompiledSuite] = {}
        for suite in suites:
            earlier = first.setdefault(suite.file_name, suite)
            if earlier is not suite:
                other = f"{earlier.ir.source.name}:{earlier.ir.line(earlier.ir.tool_at)}"
                finding = SuiteCollision(tool=suite.ir.tool, tier=suite.tier, other=other)
                self._problems.add(*suite.ir.place(suite.ir.tool_at), finding)

    def _is_wanted(self, tree: SuiteTree) -> bool:
        """Whether the suite is one of those that `--prompt-id` asks for."""
        wanted = self._options.prompt_id
        own = tree.prompt.id if tree.prompt is not None else tree.prompt_id
        return wanted is None or (own is not None and own.value == wanted)

    def _prompts(self, source: Source) -> PromptLibrary:
        if self._library is None:
            folder = self._options.prompts or project_root(Path() if source.name == STDIN else Path(source.name))
            self._library = PromptLibrary(folder, self._options.finder)
        return self._library


def _load_tools(file: RegistryFile, problems: Diagnostics) -> ToolRegistry | None:
    from evalc.tools.load import load_tools  # noqa: PLC0415 - for start-up: most projects name no registry

    return load_tools(file, problems)


def _check_tools(suite: ir.Suite, tools: ToolRegistry, problems: Diagnostics) -> None:
    from evalc.compiler.passes.check_tools import check_tools  # noqa: PLC0415 - likewise

    check_tools(suite, tools, problems)


def is_json(source: Source) -> bool:
    """Whether a text is read as JSON: by its name, and from standard input by how it begins."""
    return source.name.endswith(".json") or (source.name == STDIN and _BEGINS_AS_JSON.match(source.text) is not None)


def _key_span(document: object, key: str) -> Span:
    assert isinstance(document, Mapping)  # noqa: S101 - `probably_meant` found the key in it
    return next(Span(node.start, node.end) for node, _ in document.pairs if node.text == key)
