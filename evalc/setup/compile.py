"""Compiles what is named: for a check, and for a run with the cases that it chooses."""

from __future__ import annotations

import gc
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, final

import msgspec

from evalc.base.errors import SourceError, UsageError
from evalc.base.source import Source
from evalc.check.contract import assertions
from evalc.check.tree import Not, Of, Test, asks
from evalc.compiler import ir
from evalc.compiler.compiled import Compilation, CompiledSuite, Inventory
from evalc.compiler.discover import Finder
from evalc.compiler.options import CompileOptions
from evalc.compiler.pipeline import compile_sources
from evalc.config.settings import Settings
from evalc.diagnostics.policy import Policy, Selection, silenced
from evalc.diagnostics.problem import Finding, Problem
from evalc.dsl.texts import texts_of
from evalc.model.case import Case
from evalc.model.suite import Place, Selected, Suite

if TYPE_CHECKING:
    from evalc.compiler.prompts import PromptLibrary
    from evalc.runtime.run.again_merge import Part
    from evalc.runtime.store.journal import Header
    from evalc.runtime.store.resume import PastRun
    from evalc.runtime.store.scope import CaseFilter
    from evalc.tools.load import RegistryFile
    from evalc.tools.registry import ToolRegistry

Subject = str | Path | Source
"""A subject to compile: a path of a file or folder, a glob, or a text with a name."""


def subjects_of(paths: Sequence[Subject], stdin: str | None) -> list[Subject]:
    """The subjects, each once; `-` is the text `stdin`."""
    return [Source("<stdin>", stdin or "") if path == "-" else path for path in dict.fromkeys(paths)]


def compiled(
    subjects: Iterable[Subject],
    settings: Settings,
    policy: Policy,
    *,
    errors_stay: bool,
    prompt_id: str | None = None,
    known_prompts: PromptLibrary | None = None,
    kept_alive: list[object] | None = None,
    output_folder: Path | None = None,
) -> Compilation:
    """Compile under a policy; `errors_stay` where something is to be made of the suites."""
    options = msgspec.structs.replace(
        options_for(settings, prompt_id),
        hashed=errors_stay,
        known_prompts=known_prompts,
        kept_alive=kept_alive,
        output_folder=output_folder,
    )
    compilation = compile_sources(subjects, options)
    compilation = msgspec.structs.replace(compilation, inventory=_without(compilation.inventory, settings))
    compilation = _under(policy, compilation, errors_stay=errors_stay)
    return msgspec.structs.replace(compilation, problems=_with_helpful_suggestions(compilation.problems, options))


def _under(policy: Policy, compilation: Compilation, *, errors_stay: bool) -> Compilation:
    problems = policy.reported(_not_ignored(compilation), errors_stay=errors_stay)
    failed = any(problem.severity == "error" for problem in problems)
    return msgspec.structs.replace(compilation, suites=() if failed else compilation.suites, problems=problems)


def _not_ignored(compilation: Compilation) -> Sequence[Problem]:
    """The problems that no comment in their file ignores, and what is wrong with such comments."""
    return silenced(compilation.problems, (suite.ir.source for suite in compilation.suites), texts_of)


def _with_helpful_suggestions(problems: tuple[Problem, ...], options: CompileOptions) -> tuple[Problem, ...]:
    """The problems, with only those suggestions that leave fewer errors."""
    if not problems:
        return ()
    from evalc.diagnostics.fixing import without_idle_suggestions  # noqa: PLC0415 - for start-up: only for problems

    alone = msgspec.structs.replace(options, hashed=False, kept_alive=None)
    return without_idle_suggestions(problems, partial(_problems_of, options=alone))


def _without(inventory: Inventory, settings: Settings) -> Inventory:
    """The inventory without the files that the settings name for other ends."""
    ours = {os.path.realpath(file) for file in (settings.seed_file, settings.tools, settings.file) if file}
    others, unparsed = (
        tuple(name for name in names if os.path.realpath(name) not in ours)
        for names in (inventory.others, inventory.unparsed)
    )
    return msgspec.structs.replace(inventory, others=others, unparsed=unparsed)


def options_for(settings: Settings, prompt_id: str | None = None) -> CompileOptions:
    """How the settings want to be compiled; how strict to be is up to the policy, which knows what is ignored."""
    return CompileOptions(
        prompts=settings.prompts,
        prompt_id=prompt_id,
        lock_folder=settings.root,
        tools=_registry_file(settings),
        inputs_sent=frozenset() if settings.agent.body is None else settings.agent.body.inputs,
        judged=bool(settings.judge.use),
        finder=Finder(
            exclude=settings.exclude,
            outputs=settings.written_paths,
        ),
    )


def _registry_file(settings: Settings) -> RegistryFile | None:
    path = settings.tools
    if path is None:
        return None
    from evalc.tools.load import RegistryFile  # noqa: PLC0415 - for start-up: most projects name no registry

    return RegistryFile(path, settings.root, required="tools" in settings.given)


def problems_of(source: Source, *, settings: Settings) -> Sequence[Problem]:
    """Every problem of one text that no comment in it ignores, whatever of it would be reported."""
    return _problems_of(source, options_for(settings))


def _problems_of(source: Source, options: CompileOptions) -> Sequence[Problem]:
    return tuple(_not_ignored(compile_sources([source], options)))


def nothing_found(subjects: Sequence[Subject], inventory: Inventory) -> str:
    """The message that the named files hold no evals, and what they hold instead."""
    named = ", ".join(f"`{subject.name if isinstance(subject, Source) else subject}`" for subject in subjects)
    message = f"there are no evals in {named}"
    if inventory.read:
        message += f": {inventory.read} without test cases"
    if inventory.skipped:
        message += f"{',' if inventory.read else ':'} {inventory.skipped} skipped"
    if inventory.with_examples:
        message += f"; `evalc import {inventory.with_examples[0]}` makes cases of a prompt's examples"
    return message


def files_of(paths: Sequence[str], *, settings: Settings) -> frozenset[str]:
    """The files that the paths name or that are found in them, by the names that they have in problems."""
    finder = options_for(settings).finder
    return frozenset(str(found.path) for found in finder.expand(path for path in paths if path != "-"))


def policy_of(settings: Settings, selection: Selection | None = None) -> Policy:
    """The policy by which problems are reported."""
    configured = Selection(settings.select, settings.ignore)
    narrowing = () if selection is None else (selection,)
    return Policy(
        strict=settings.strict,
        selections=narrowing if selection is not None and selection.select else (configured, *narrowing),
        severities=settings.severity,
        per_file=settings.per_file_ignores,
        root=settings.root,
    )


def subjects_among(subject: Subject | Iterable[Subject]) -> Sequence[Subject]:
    """The subjects; a single one need not be in a list.

    Raises:
        TypeError: something else is among them.
    """
    given: Any = subject  # a caller without types may give anything
    several = isinstance(given, Iterable) and not isinstance(given, str | bytes)
    subjects: tuple[Any, ...] = tuple(given) if several else (given,)
    for each in subjects:
        if not isinstance(each, Subject):
            raise TypeError(f"eval files are given as `str`, `Path` or `Source`, not as `{type_of(each)}`")
        held = (each.name, each.text) if isinstance(each, Source) else ()
        if not all(isinstance(text, str) for text in held):
            types = " and ".join(f"`{type_of(text)}`" for text in held)
            raise TypeError(f"a `Source` has a name and a text, both of them `str`, not {types}")
    return subjects


def type_of(value: Any) -> str:
    """The type of a value, and of a list those of its items; never the value, which may be a secret."""
    name = type(value).__name__
    if not isinstance(value, list | tuple):
        return name
    return f"{name}[{' | '.join(sorted({type_of(each) for each in value}))}]"


# --- cases that need somebody ----------------------------------------------------------------------------------------


class _Asking(NamedTuple):
    """A case, and its check that asks for what not everybody has."""

    suite: CompiledSuite
    case: ir.Case
    check: ir.Check


@final
class _Needs(msgspec.Struct):
    """The needs of cases that not everybody can meet.

    `judge` and `language` are the first checks that ask a judge, and in which language a text is; `user` is whether
    some case has a simulated user.
    """

    judge: _Asking | None = None
    language: _Asking | None = None
    user: bool = False


def _needs_of(suites: Iterable[CompiledSuite]) -> _Needs:
    """The needs of the cases of suites. The rows of a table have the same checks, and a user each or none."""
    needs = _Needs()
    for suite in suites:
        for part in suite.ir.cases.parts:
            case = next(part.expand(), None) if isinstance(part, ir.CaseRows) else part
            if case is None:
                continue
            needs.user = needs.user or case.user is not None
            for check in case.checks:
                test = check.check.check if isinstance(check.check, Of | Not) else check.check
                if type(test) is Test and test.predicate not in ("judge", "language"):
                    continue
                if asks(check.check, "judge", "language") and case.running and case.tier == suite.tier:
                    if needs.judge is None and asks(check.check, "judge"):
                        needs.judge = _Asking(suite, case, check)
                    if needs.language is None and asks(check.check, "language"):
                        needs.language = _Asking(suite, case, check)
    return needs


def judge_warning(suites: Iterable[CompiledSuite]) -> Problem | None:
    """The warning that a judge is needed, at the first check that asks one; None if none does."""
    found = _needs_of(suites).judge
    if found is None:
        return None
    source, span = found.suite.ir.place(found.check.where)
    return Problem(source=source, span=span, finding=Finding("EV420", case=found.case.id), severity="warning")


def _first(chosen: Iterable[Suite], needs: Callable[[Case], bool]) -> str | None:
    """The id of the first chosen case that needs something. To look is to make all cases, and few suites need any."""
    cases = (located.case for suite in chosen for located in suite.cases)
    return next((case.id for case in cases if case.running and needs(case)), None)


def _asks(case: Case, predicate: str) -> bool:
    is_scored = predicate == "judge" and bool(case.rubric)
    return is_scored or any(asks(assertion.check, predicate) for assertion in assertions(case.expect))


@final
class ToRun(msgspec.Struct, frozen=True, kw_only=True):
    """The suites and cases of a run."""

    suites: tuple[Suite, ...]  # the suites, with the cases that were chosen
    problems: tuple[Problem, ...]  # the warnings about the eval files
    tools: ToolRegistry | None  # the tool registry, where one is named and can be read
    selected: Selected | None  # which of all cases were chosen; None if it is all of them
    inventory: Inventory  # what was read for it, and what was skipped
    selection: CaseFilter | None = None  # how they were chosen
    notes: tuple[str, ...] = ()  # what the user should know of the choice
    needs_judge: str | None = None  # the id of the first case that asks a judge; None if none does, or a judge is named
    # the id of the first case with a simulated user whom nobody plays; None if there is none
    needs_user: str | None = None
    asks_language: bool = False  # whether a case asks in which language a text is, for which there is an extra


def to_run(
    subjects: Sequence[Subject],
    settings: Settings,
    prompt_id: str | None,
    selection: CaseFilter | None = None,
    outputs: Sequence[Path] = (),
) -> ToRun:
    """Compile, and select cases.

    It takes as long as the files are large, and knows no event loop, in which neither Ctrl-C nor a request to terminate
    would be heard until it is done.

    Raises:
        SourceError: the eval files have errors.
        NothingToDo: what failed in a run or changed since a commit is selected, and nothing did.
        UsageError: nothing would be run, or one of the `outputs` would overwrite what is read.
    """
    # For start-up: `check` and `compile` run nothing.
    from evalc.runtime.run.select import select_cases, selected_of  # noqa: PLC0415
    from evalc.runtime.store.scope import CaseFilter  # noqa: PLC0415
    from evalc.setup.choice import known_of  # noqa: PLC0415
    from evalc.setup.prepare import redactor_of  # noqa: PLC0415

    compilation = soundly_compiled(subjects, settings, prompt_id)
    _refuse_to_write_over(_read_files(compilation, settings), outputs)
    all_suites = [suite.to_suite() for suite in compilation.suites]
    selection = selection or CaseFilter()
    known = known_of(selection, compilation.suites, settings, lambda path: _names_of(path, settings))
    if selection.failed_from is not None and known.failed is None:
        selection = msgspec.structs.replace(selection, none_failed=True)
    try:
        suites = select_cases(all_suites, selection, known)
    except UsageError as error:  # it quotes what chooses, which may hold a secret
        raise type(error)(redactor_of(settings, os.environ).redact(str(error))) from None
    needs = _needs_of(compilation.suites)
    return ToRun(
        suites=suites,
        problems=compilation.problems,
        tools=compilation.tools,
        selected=selected_of(suites, all_suites, selection),
        selection=selection,
        inventory=compilation.inventory,
        notes=known.notes,
        needs_judge=_first(suites, lambda case: _asks(case, "judge"))
        if needs.judge and not settings.judge.use
        else None,
        needs_user=_first(suites, lambda case: case.input.user is not None)
        if needs.user and not settings.user
        else None,
        asks_language=needs.language is not None and _first(suites, lambda case: _asks(case, "language")) is not None,
    )


def soundly_compiled(subjects: Sequence[Subject], settings: Settings, prompt_id: str | None) -> Compilation:
    """The suites, at least one.

    Raises:
        SourceError: the eval files have errors.
        UsageError: there are no eval files.
    """
    compilation = compiled(subjects, settings, policy_of(settings), errors_stay=True, prompt_id=prompt_id)
    if compilation.has_errors:
        raise SourceError(compilation.problems)
    if not compilation.suites:
        raise UsageError(_nothing_to_run(subjects, prompt_id, compilation.inventory))
    return compilation


def _read_files(compilation: Compilation, settings: Settings) -> Iterator[Path]:
    """The files that a run reads, as far as they are known before it begins."""
    for suite in compilation.suites:
        yield from map(Path, (suite.ir.source.name, *suite.ir.files))
    yield from settings.files


def _refuse_to_write_over(read: Iterable[Path], outputs: Sequence[Path]) -> None:
    by_place = {os.path.realpath(file): file for file in outputs}
    over = next((by_place[place] for file in read if (place := os.path.realpath(file)) in by_place), None)
    if over is not None:
        raise UsageError(f"`--output` would overwrite `{over}`, which the run reads")


def _names_of(path: str, settings: Settings) -> frozenset[str]:
    """The names that the files of a path have as sources."""
    return frozenset({"<stdin>"}) if path == "-" else files_of([path], settings=settings)


def to_rescore(paths: Sequence[str], past: PastRun, settings: Settings) -> ToRun:
    """Compile the checks of the paths, else those of the past run's own files.

    Raises:
        SourceError: the eval files have errors.
        UsageError: there are no eval files, or the run has no answers.
    """
    if past.header is None:
        raise UsageError(f"the run `{past.run_id}` has no answers: it ended before its journal began")
    return to_run(paths or origins_of(past.header), settings, past.header.flags.get("prompt_id"))


def origins_of(header: Header) -> tuple[str, ...]:
    """The files that the suites of a run came from."""
    return tuple(dict.fromkeys(suite.origin for suite in header.suites))


def to_merge(parts: Sequence[Part], settings: Settings) -> ToRun:
    """Compile the files that the parts are of, and choose the cases that they all were chosen from.

    Raises:
        SourceError: the eval files have errors.
        UsageError: there are no eval files, or the parts were chosen from different cases.
    """
    whole = msgspec.structs.replace(parts[0].selection, shard=None)
    for part in parts:
        if msgspec.structs.replace(part.selection, shard=None) != whole:
            raise UsageError(f"{part.name} and {parts[0].name} are parts of different choices of cases")
    header = parts[0].header
    what = to_run(origins_of(header), settings, header.flags.get("prompt_id"), whole)
    return msgspec.structs.replace(what, needs_judge=None)


def _nothing_to_run(subjects: Sequence[Subject], prompt_id: str | None, inventory: Inventory) -> str:
    if prompt_id is None:
        return nothing_found(subjects, inventory)
    named = ", ".join(f"`{subject.name if isinstance(subject, Source) else subject}`" for subject in subjects)
    return f"there is no suite of the prompt `{prompt_id}` in {named}"


@final
class AuthoredPlaces:
    """Compiles each file once, when the first of its cases is asked for.

    Results hold the places of what did not pass; those of what passed would make them twice as long.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._files: dict[str, Mapping[str, Mapping[str, Place]]] = {}

    def of(self, file: str, id_: str) -> Mapping[str, Place]:
        """The places of the parts of a case, by JSON pointers from its root; empty if it is not in the file."""
        if file not in self._files:
            self._files[file] = self._read(file)
        return self._files[file].get(id_, {})

    def _read(self, file: str) -> Mapping[str, Mapping[str, Place]]:
        compilation = compile_sources([file], options_for(self._settings))
        suites = [suite.to_suite() for suite in compilation.suites]
        return {located.case.id: located.places for suite in suites for located in suite.cases}


@contextmanager
def collector_off() -> Iterator[None]:
    """Leave the collector out while a file is compiled: all that it would look through, again and again, is needed."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            if gc.get_freeze_count() == 0:
                # What was made counts as old from now on. As young, all of it would be looked through at once.
                gc.freeze()
                gc.unfreeze()
            gc.enable()
