"""The compiler's pipeline, phase by phase, from source texts to compiled suites."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence, Set
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple, final

import msgspec

from evalc.base.files import JSON_LIMIT, project_root
from evalc.base.json_fault import NO_COMMENTS
from evalc.base.source import Source, Span
from evalc.compiler import ir
from evalc.compiler.compiled import Compilation, CompiledSuite, HashingOnTheWay, Inventory, by_tier
from evalc.compiler.discover import Finder, Found, is_folder
from evalc.compiler.emit.suite import Emitted, emit
from evalc.compiler.libraries import IncludeLibrary, PromptLibrary, SchemaLoader
from evalc.compiler.lock import check_lock, read_lock
from evalc.compiler.lower import verify
from evalc.compiler.merge import merge
from evalc.compiler.names import CustomChecks, resolve_names
from evalc.compiler.passes.check_contract import Links, check_contract, check_criteria, check_gates, check_ids
from evalc.compiler.passes.check_logic import Contradictions, check_meanings, check_vacuity
from evalc.diagnostics import Diagnostics, Finding
from evalc.dsl.build_suite import CaseMaker, SuiteTree, build_prompt, build_shared_file, build_suite
from evalc.dsl.document_kind import (
    Kind,
    MisspeltKey,
    has_evals,
    has_examples,
    is_meant_as_eval,
    is_of_skills,
    kind_of_document,
    names_an_eval,
    near_miss,
    plain,
    tool_of,
    tool_of_data,
    typo_in,
    with_key,
)
from evalc.dsl.nodes import Mapping, Node, is_cut
from evalc.dsl.read_json import JsonPlaces
from evalc.dsl.read_yaml import read_yaml
from evalc.dsl.sources import YAML_LIMIT, beginning_of, read_source
from evalc.dsl.walk import is_null
from evalc.model.json import Fingerprints, pointer_step
from evalc.model.suite import SuiteKey

if TYPE_CHECKING:
    from evalc.tools import ToolRegistry
    from evalc.tools.load import RegistryFile


@final
class CompileOptions(msgspec.Struct, frozen=True, kw_only=True):
    """Options of a compilation."""

    prompts: Path | None = None  # the folder where prompts are looked up by id; None: the project's root
    prompt_id: str | None = None  # only the suites of this prompt are compiled
    checks: tuple[Path, ...] = ()  # the files that declare the project's checks
    # the folder whose `evalc.lock` the regression cases are compared with; None: with none
    lock_folder: Path | None = None
    tools: RegistryFile | None = None  # the tool registry that names of tools are looked up in; None: they are not
    # names of inputs that the agent is sent whether or not a template uses them
    inputs_sent: frozenset[str] = frozenset()
    judged: bool = False  # whether the project has a judge, who scores the criteria that no check names
    finder: Finder = msgspec.field(default_factory=Finder)  # how folders are searched
    # the prompts of the project, read already; None: they are read when they are needed
    known_prompts: PromptLibrary | None = None
    # where compiled files will be written: those of the same suites there are replaced; None: nowhere
    output_folder: Path | None = None
    hashed: bool = False  # whether the hashes of the compiled files will be asked for
    # takes in what is needed no more, up to a limit, where the process ends soon; None: it is let go. Taking syntax
    # trees apart is a twentieth of the time that a check takes.
    kept_alive: list[object] | None = None


STDIN: Final = "<stdin>"
_PIECE: Final = 1000
"""How many cases are made and looked at together: those of tables are never all there at once."""

_MOST_KEPT_ALIVE: Final = 10_000_000
"""How many characters of sources, whose trees take some thirty times as much memory, may be kept beyond their use."""

_BEGINS_AS_JSON: Final = re.compile(r"""\s*(\[\s*)?\{\s*["}]""")


def compile_sources(subjects: Iterable[str | Path | Source], options: CompileOptions) -> Compilation:
    """Compile sources, and the eval files of paths (files, folders, globs).

    Raises nothing for what authors wrote: every problem of every file is in the compilation.
    """
    compiler = Compiler(options)
    for text in compiler.open(subjects):
        compiler.add(text)
    return compiler.finish()


class SourceToCompile(NamedTuple):
    """A text to compile; `named` and `legible` say what it has to be, as of a `Found`."""

    source: Source
    named: bool
    legible: bool = True


class _Document(NamedTuple):
    """A document of a YAML file, and what kind it is."""

    node: Node
    kind: Kind | None

    def typo(self, *, by_name: bool) -> MisspeltKey | None:
        """The misspelt key of its evals; `by_name` if it has to be an eval."""
        return None if self.has_suite else typo_in(self.node, by_name=by_name)

    @property
    def mapping(self) -> Mapping:
        """The document, where it is of some kind."""
        assert isinstance(self.node, Mapping)  # noqa: S101 - for the type checker: else it has no kind
        return self.node

    @property
    def has_suite(self) -> bool:
        """Whether there is a suite in it, or what suites include."""
        return self.kind is not None and (self.kind is not Kind.PROMPT or has_evals(self.node))

    @property
    def is_prompt(self) -> bool:
        """Whether it is a prompt without evals, whole."""
        return self.kind is Kind.PROMPT and not (has_evals(self.node) or is_cut(self.node))


def _as_meant(document: _Document) -> tuple[_Document, MisspeltKey | None]:
    """The document as if the misspelt key of its evals were right, so that everything below it is checked too."""
    typo = document.typo(by_name=True)
    node = None if typo is None else with_key(document.node, typo)
    return (document if node is None else _Document(node, kind_of_document(node))), typo


class _PromptFile(NamedTuple):
    """A file that holds prompts and no evals: what is wrong with it, and whether there are examples in it."""

    source: Source
    problems: Diagnostics
    has_examples: bool


@final
class Compiler:
    """One compilation: what its files share, and what has come of them so far."""

    def __init__(self, options: CompileOptions) -> None:
        self._options = options
        self._problems = Diagnostics()
        self._tools = None if options.tools is None else _load_tools(options.tools, self._problems)
        self._schemas = SchemaLoader()
        self._checks = CustomChecks(options.checks, options.lock_folder, self._problems)
        self._includes = IncludeLibrary()
        self._library = options.known_prompts
        self._suites: list[ir.Suite] = []
        self._compiled: list[CompiledSuite] = []
        self._prompt_files: list[_PromptFile] = []
        self._shared = 0
        self._others: list[str] = []
        self._unparsed: list[str] = []
        self._copies: Sequence[str] = ()
        self._exact: list[tuple[str, str]] = []
        self._judged = 0
        self._found_by_search: set[str] = set()
        self._searched: list[Path] = []
        self._may_be_kept = _MOST_KEPT_ALIVE

    def finish(self) -> Compilation:
        """Finish the compilation: the suites, or only the problems when any is an error."""
        compiled = self._without_copies(tuple(self._compiled))
        self._report_collisions(compiled)
        made_of = frozenset(os.path.realpath(name) for suite in self._suites for name in suite.files)
        self._report_prompts(made_of)
        if self._options.lock_folder is not None:
            lock = read_lock(self._options.lock_folder, self._problems)
            check_lock(compiled, lock, self._problems, searched=self._searched)
        if self._problems.block:
            compiled = ()
        return Compilation(
            suites=compiled, problems=tuple(self._problems), inventory=self._inventory(made_of), tools=self._tools
        )

    def open(self, subjects: Iterable[str | Path | Source]) -> Iterator[SourceToCompile]:
        """The texts among the subjects, then those of the files; what cannot be read is reported."""
        selected = list(subjects)
        yield from (SourceToCompile(source, named=True) for source in selected if isinstance(source, Source))
        paths = [path for path in selected if not isinstance(path, Source)]
        if self._options.prompt_id is None:  # else suites of other prompts are left out
            self._searched = [Path(path).resolve() for path in paths if is_folder(Path(path))]
        for found in self._options.finder.expand(paths, self._problems.add):
            text = self._read(found)
            if text is not None:
                yield text

    def _read(self, found: Found) -> SourceToCompile | None:
        """The text of a file; None for a file that a search found and that cannot be meant as an eval."""
        problems = Diagnostics()
        name = found.path.name
        limit = JSON_LIMIT if name.lower().endswith(".json") else YAML_LIMIT
        source = read_source(found.path, problems.add, limit=limit)
        if not (
            found.named
            or found.legible
            or not len(problems)
            or _may_not_be_read(problems)
            or is_meant_as_eval(name, beginning_of(found.path))
        ):
            self._unparsed.append(str(found.path))
            return None
        self._problems.extend(problems)
        return None if source is None else SourceToCompile(source, found.named, found.legible)

    def add(self, text: SourceToCompile) -> None:
        """Compile a text: the suites in it; of a file that a search found and that is not an eval file, nothing."""
        source, named, legible = text
        problems = Diagnostics()
        read = self._read_json if is_json(source) else self._read_yaml
        suites = read(source, problems, named=named)
        if suites is None and not named and not self._is_reported(source, problems, legible=legible):
            (self._unparsed if problems.has_errors else self._others).append(source.name)
            self._problems.extend(problem for problem in problems if problem.code == "EV619")
            return
        if suites is None and not problems.has_errors:
            problems.add(source, Span(0, 0), Finding("EV640", path=source.name))
        if not named:
            self._found_by_search.add(source.name)
        for suite in suites or ():
            self._finish_suite(suite, problems)
        self._problems.extend(problems)

    def _is_reported(self, source: Source, problems: Diagnostics, *, legible: bool) -> bool:
        """Whether mistakes are reported of a file that a search found and that has no evals."""
        if not problems.has_errors:
            return False
        if is_meant_as_eval(Path(source.name).name, source.text):
            return True
        return legible and not any(_is_of_another_kind(problem.finding) for problem in problems)

    def _report_prompts(self, made_of: Set[str]) -> None:
        """Report what is wrong with prompts: if no case uses one, it is a warning, and blocks nothing.

        `made_of` are the real paths of the files that suites were made of.
        """
        for source, problems, _ in self._prompt_files:
            used = os.path.realpath(source.name) in made_of
            self._problems.extend(problems, at_most="error" if used else "warning")
        read = {os.path.realpath(source.name) for source, _, _ in self._prompt_files}
        for name, problems in () if self._library is None else self._library.problems:
            if (real := os.path.realpath(name)) in made_of and real not in read:
                self._problems.extend(problems)

    def _inventory(self, made_of: Set[str]) -> Inventory:
        return Inventory(
            suites=len(self._suites) - len(self._copies),
            prompts=len(self._prompt_files),
            shared=self._shared,
            with_examples=tuple(source.name for source, _, has_examples in self._prompt_files if has_examples),
            others=tuple(name for name in self._others if os.path.realpath(name) not in made_of),
            unparsed=tuple(name for name in self._unparsed if os.path.realpath(name) not in made_of),
            copies=tuple(self._copies),
            exact=tuple(self._exact),
            judged=self._judged,
        )

    # --- the front ends: each gives None for a text of another kind ---

    def _read_json(self, source: Source, problems: Diagnostics, *, named: bool) -> list[Emitted] | None:
        # For start-up: most suites are YAML.
        from evalc.compiler.lift import (  # noqa: PLC0415
            is_eval_json,
            is_result,
            is_suite_in_json,
            lift,
            read_document,
            typo_in_json,
        )

        data = read_document(source, problems)
        if is_result(data):
            if named:
                problems.add(source, Span(0, 0), Finding("EV641", path=source.name))
            return None
        if is_of_skills(data):
            return self._read_skills(source, problems)
        if tool := tool_of_data(data):
            if named:
                problems.add(source, Span(0, 0), Finding("EV640", path=source.name, tool=tool))
            return None
        by_name = named or names_an_eval(Path(source.name).name)
        if is_eval_json(data, by_name=by_name):
            lifted = lift(source, data, self._checks, problems)
            return [Emitted(lifted, iter(lifted.cases))]
        if is_suite_in_json(data):
            return self._read_yaml(source, problems, named=named)
        typo = typo_in_json(data, by_name=by_name)
        if typo is not None:
            at = JsonPlaces(source).key(f"/{pointer_step(typo)}")
            problems.add(source, at, Finding("EV640", path=source.name, key=typo, meant="cases"))
            lifted = lift(source, data, self._checks, problems, cases_at=typo)
            return [Emitted(lifted, iter(lifted.cases))]
        if not named:
            _report_near_miss(source, data, problems)
        return None

    def _read_skills(self, source: Source, problems: Diagnostics) -> list[Emitted]:
        from evalc.compiler.skills import SkillEvals  # noqa: PLC0415 - for start-up: most projects are no skills

        (document,) = read_yaml(source, lambda span, finding: problems.add(source, span, finding))
        evals = SkillEvals(source, problems)
        suite = evals.as_suite(document) if document is not None else None
        if suite is None:
            return []
        self._exact += evals.exact
        self._judged += evals.judged
        return [self._front_end(build_suite(source, suite, Kind.SUITE, problems), problems)]

    def _read_yaml(self, source: Source, problems: Diagnostics, *, named: bool) -> list[Emitted] | None:
        found = Diagnostics()
        maker = CaseMaker(source)
        nodes = read_yaml(source, lambda span, finding: found.add(source, span, finding), keep=maker.keep)
        written = (node for node in nodes if node is not None and not is_null(node))
        documents = [_Document(node, kind_of_document(node)) for node in written]
        self._keep_alive(source, nodes)
        typos = any(document.typo(by_name=named) for document in documents)
        if documents and not typos and all(document.is_prompt for document in documents):
            for document in documents:
                build_prompt(source, document.mapping, found)
            self._prompt_files.append(_PromptFile(source, found, any(has_examples(doc.node) for doc in documents)))
            return []
        problems.extend(found)
        kinds = {document.kind for document in documents} - {None}
        # Other files with `rules:` are not ours, and a shared file is checked with its suites.
        tool = next(filter(None, (tool_of(document.node) for document in documents)), "") if named else ""
        if tool:
            problems.add(source, Span(0, 0), Finding("EV640", path=source.name, tool=tool))
        recognised = typos or bool(kinds if named else kinds - {Kind.SHARED})
        if recognised:
            return [*self._suites_of(source, documents, problems)]
        if not named:
            for document in documents:
                _report_near_miss(source, plain(document.node), problems)
        return None

    def _suites_of(self, source: Source, documents: list[_Document], problems: Diagnostics) -> Iterator[Emitted]:
        """The suites of a file of evals, in which every document has to be something of ours."""
        for read in documents:
            document, typo = _as_meant(read)
            node, kind = document
            if typo is not None:
                problems.add(
                    source, typo.key.span, Finding("EV640", path=source.name, key=typo.key.text, meant=typo.meant)
                )
            if kind is None or not isinstance(node, Mapping):
                if typo is None and not is_cut(node):
                    problems.add(source, _beginning(node), Finding("EV640", path=source.name))
            elif kind is Kind.SHARED:
                self._shared += 1
                self._includes.open(build_shared_file(source, node, problems), problems)
            elif document.has_suite:
                tree = build_suite(source, node, kind, problems)
                if self._is_selected(tree):
                    yield self._front_end(tree, problems)
            else:
                build_prompt(source, node, problems)

    def _front_end(self, tree: SuiteTree, problems: Diagnostics) -> Emitted:
        suite = merge(tree, self._includes, problems)
        self._keep_alive(tree.source, suite)
        names = resolve_names(suite, self._prompts(tree.source), self._checks, self._options.inputs_sent, problems)
        emitted = emit(suite, names, self._schemas, problems)
        return emitted._replace(suite=with_tool_state(emitted.suite, self._tools))

    def _keep_alive(self, source: Source, trees: object) -> None:
        """Keep trees of a source that will not be needed any more, if that was asked for and is not too much."""
        kept = self._options.kept_alive
        if kept is not None and len(source.text) <= self._may_be_kept:
            self._may_be_kept -= len(source.text)
            kept.append(trees)

    # --- on the IR, whichever front end it came from ---

    def _finish_suite(self, emitted: Emitted, problems: Diagnostics) -> None:
        """Let the cases of a suite be made, and look through them as they come.

        What emitting them finds goes to `problems`, what is wrong with their meaning to those of the compilation.
        Compiled files of tables are hashed on the way where that will be asked for.
        """
        suite = emitted.suite
        hashing = HashingOnTheWay(suite) if emitted.has_tables and self._options.hashed else None
        ids = Fingerprints()
        links = Links()
        contradictions = Contradictions()
        for cases in ir.in_pieces(emitted.cases, _PIECE):
            piece = msgspec.structs.replace(suite, cases=cases)
            check_ids(piece, ids, self._problems)
            links.check(piece, self._problems)
            check_contract(piece, self._problems)
            check_vacuity(piece, self._problems)
            check_meanings(piece, self._problems)
            contradictions.check(piece, self._problems)
            if self._tools is not None:
                _check_tools(piece, self._tools, self._problems)
            if not (problems.block or self._problems.block):
                verify(piece)
                if hashing is not None:
                    hashing.add(cases)
        suite = emitted.complete(suite)
        check_criteria(suite, self._problems)
        if not self._options.judged:
            links.finish(suite, self._problems)
        if suite.gates is not None:
            check_gates(suite, self._problems)
        contradictions.finish(suite, self._problems)
        compiled = [*by_tier(suite)]
        if hashing is not None and not (problems.block or self._problems.block):
            for each in compiled:
                hashing.report(each)
        self._suites.append(suite)
        self._compiled += compiled

    def _without_copies(self, suites: tuple[CompiledSuite, ...]) -> tuple[CompiledSuite, ...]:
        """The suites less evalc's own output that a search found beside its sources.

        That is output all of whose cases an authored suite of its name has, or, as earlier versions named their
        output for the tool, those of its tool. It is also output in place of which a suite will be written.
        """
        folder = self._options.output_folder
        authored: dict[SuiteKey, list[CompiledSuite]] = {}
        for suite in suites:
            if not suite.is_output:
                for name in (suite.ir.name, suite.ir.tool):
                    authored.setdefault(SuiteKey(name, suite.tier), []).append(suite)
        ids = cache(lambda key: {identity for suite in authored[key] for identity in suite.ids()})

        def is_copy(output: CompiledSuite) -> bool:
            of = authored.get(output.key, ())
            if folder is not None and any(
                os.path.realpath(output.ir.source.name) == os.path.realpath(folder / suite.file_name) for suite in of
            ):
                return True
            return bool(of) and all(identity in ids(output.key) for identity in output.ids())

        outputs = filter(self._is_found_output, suites)
        self._copies = [output.ir.source.name for output in outputs if is_copy(output)]
        return tuple(suite for suite in suites if suite.ir.source.name not in self._copies)

    def _is_found_output(self, suite: CompiledSuite) -> bool:
        return suite.is_output and suite.ir.source.name in self._found_by_search

    def _report_collisions(self, suites: tuple[CompiledSuite, ...]) -> None:
        first: dict[str, CompiledSuite] = {}
        for suite in suites:
            earlier = first.setdefault(suite.file_name, suite)
            if earlier is not suite:
                other = f"{earlier.ir.source.name}:{earlier.ir.line(earlier.ir.name_at)}"
                outputs = [each.ir.source.name for each in (suite, earlier) if self._is_found_output(each)]
                finding = Finding(
                    "EV210",
                    this=f"`{suite.ir.name}`{_named_after(suite.ir)}",
                    tier=suite.tier,
                    first=f"{other}{_named_after(earlier.ir)}",
                    output=next(iter(outputs), ""),
                )
                self._problems.add(*suite.ir.place(suite.ir.name_at), finding)

    def _is_selected(self, tree: SuiteTree) -> bool:
        """Whether the suite is one of those that `--prompt-id` asks for."""
        selected = self._options.prompt_id
        own = tree.prompt.id if tree.prompt is not None else tree.prompt_id
        return selected is None or (own is not None and own.value == selected)

    def _prompts(self, source: Source) -> PromptLibrary:
        if self._library is None:
            folder = self._options.prompts or project_root(Path() if source.name == STDIN else Path(source.name))
            self._library = PromptLibrary(folder, self._options.finder)
        return self._library


def _load_tools(file: RegistryFile, problems: Diagnostics) -> ToolRegistry | None:
    from evalc.tools.load import load_tools  # noqa: PLC0415 - for start-up: most projects name no registry

    return load_tools(file, problems)


def _check_tools(suite: ir.Suite, tools: ToolRegistry, problems: Diagnostics) -> None:
    from evalc.compiler.passes.check_tools import check_tools  # noqa: PLC0415 - as above

    check_tools(suite, tools, problems)


def is_json(source: Source) -> bool:
    """Whether a text is read as JSON: by its name, and from standard input by how it begins."""
    if source.name == STDIN:
        return _BEGINS_AS_JSON.match(source.text) is not None
    return source.name.lower().endswith(".json")


def _report_near_miss(source: Source, data: object, problems: Diagnostics) -> None:
    holds = near_miss(data)
    if holds:
        problems.add(source, Span(0, 0), Finding("EV619", path=source.name, holds=holds))


def _named_after(suite: ir.Suite) -> str:
    return f" (named after {suite.named_after})" if suite.named_after else ""


def _is_of_another_kind(finding: Finding) -> bool:
    """Whether something is wrong with a file only if it is YAML or JSON: comments in JSON, tags, templates."""
    if finding.code == "EV127":
        return bool(finding.fields["found"] == NO_COMMENTS)
    return finding.code in {"EV116", "EV118"}


def _may_not_be_read(problems: Diagnostics) -> bool:
    """Whether a file may not be read, so that nothing is known of what is in it."""
    return any(problem.code in {"EV602", "EV618"} for problem in problems)


def _beginning(node: Node) -> Span:
    """Where messages about a document as a whole point."""
    return Span(node.start, min(node.start + 1, node.end))


def with_tool_state(suite: ir.Suite, tools: ToolRegistry | None) -> ir.Suite:
    """The suite with what the registry says of its tool, where the author does not say it.

    Later runs of the compiled file compare it with the registry of their time. Of a tool that the registry does not
    have, nothing is said.
    """
    tool = None if tools is None else tools.get(suite.tool)
    if tools is None or tool is None:
        return suite
    return msgspec.structs.replace(
        suite,
        tool_version=tool.version if suite.tool_version is None else suite.tool_version,
        tool_description=tool.description if suite.tool_description is None else suite.tool_description,
        registry_size=tools.size if suite.registry_size is None else suite.registry_size,
    )
