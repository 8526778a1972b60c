"""Compiles what is named: for a check, and for a run with the cases that it chooses."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from functools import cache, lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, final

import msgspec

from evalc.base.errors import SourceError, UsageError
from evalc.base.source import Source
from evalc.check.tree import Check, Not, Of, Test, asks
from evalc.compiler import ir
from evalc.compiler.compiled import Compilation, CompiledSuite, Inventory
from evalc.compiler.discover import Finder
from evalc.compiler.pipeline import CompileOptions, compile_sources
from evalc.config import Settings
from evalc.diagnostics import Finding, Problem
from evalc.diagnostics.policy import Policy, Selection, silenced
from evalc.dsl.read_yaml import texts_of
from evalc.model.suite import LocatedCase

if TYPE_CHECKING:
    from evalc.compiler.libraries import PromptLibrary
    from evalc.report import AuthoredCheck, ChecksOf
    from evalc.tools.load import RegistryFile

Subject = str | Path | Source
"""A subject to compile: a path of a file or folder, a glob, or a text with a name."""


def compiled(
    subjects: Iterable[Subject],
    settings: Settings,
    policy: Policy,
    *,
    errors_stay: bool,
    named: bool = True,
    prompt_id: str | None = None,
    known_prompts: PromptLibrary | None = None,
    kept_alive: list[object] | None = None,
    output_folder: Path | None = None,
) -> Compilation:
    """Compile under a policy; `errors_stay` where something is to be made of the suites.

    Files that nobody `named` come from another search, and need not hold evals.
    """
    options = options_for(settings, prompt_id)
    options = msgspec.structs.replace(
        options,
        finder=msgspec.structs.replace(options.finder, named=named),
        hashed=errors_stay,
        known_prompts=known_prompts,
        kept_alive=kept_alive,
        output_folder=output_folder,
    )
    compilation = compile_sources(subjects, options)
    problems = policy.reported(_not_ignored(compilation), errors_stay=errors_stay)
    failed = any(problem.severity == "error" for problem in problems)
    return msgspec.structs.replace(
        compilation,
        suites=() if failed else compilation.suites,
        problems=_with_helpful_suggestions(problems, options),
        inventory=_without(compilation.inventory, settings),
    )


def checked(
    subjects: Iterable[Subject],
    settings: Settings,
    selection: Selection | None = None,
    kept_alive: list[object] | None = None,
) -> Compilation:
    """Compile for a report of what is wrong; that a judge is needed where none is named is a warning.

    `selection` narrows down what the settings report; a selection of codes replaces theirs. `kept_alive` is the
    compiler's option.
    """
    policy = policy_of(settings, selection)
    compilation = compiled(subjects, settings, policy, errors_stay=False, kept_alive=kept_alive)
    asking = None if settings.judge.use else needs_of(compilation.suites).judge
    if asking is None:
        return compilation
    suite, case, check = asking
    source, span = suite.ir.place(check.where)
    warning = Problem(source=source, span=span, finding=Finding("EV420", case=case.id), severity="warning")
    reported = policy.reported((warning,), errors_stay=False)
    return msgspec.structs.replace(compilation, problems=(*compilation.problems, *reported))


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
    bodies = [settings.agent.body, *(agent.body for _, agent in settings.agents)]
    return CompileOptions(
        prompts=settings.prompts,
        prompt_id=prompt_id,
        lock_folder=settings.root,
        checks=settings.checks,
        tools=_registry_file(settings),
        inputs_sent=frozenset(name for body in bodies if body for name in body.inputs),
        judged=bool(settings.judge.use),
        finder=Finder(exclude=settings.exclude, outputs=settings.written_paths),
    )


def _registry_file(settings: Settings) -> RegistryFile | None:
    path = settings.tools
    if path is None:
        return None
    from evalc.tools.load import RegistryFile  # noqa: PLC0415 - for start-up: most projects name no registry

    return RegistryFile(path, settings.root, required="tools" in settings.given)


def problems_of(source: Source, *, settings: Settings) -> Sequence[Problem]:
    """Every problem of one text that no comment in it ignores, whatever of it would be reported.

    What it includes may have problems, too, which are at places of their own.
    """
    return [each for each in _problems_of(source, options_for(settings)) if each.source.name == source.name]


def _problems_of(source: Source, options: CompileOptions) -> Sequence[Problem]:
    return tuple(_not_ignored(compile_sources([source], options)))


def nothing_found(subjects: Sequence[Subject], inventory: Inventory, prompt_id: str | None = None) -> str:
    """The message that the named files hold no evals, or none of the prompt, and what they hold instead."""
    named = ", ".join(f"`{subject.name if isinstance(subject, Source) else subject}`" for subject in subjects)
    if prompt_id is not None:
        return f"there is no suite of the prompt `{prompt_id}` in {named}"
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
            raise TypeError(
                "eval files are given as `str`, `Path`, `Source` or `evalc.Suite(NAME, cases=[...])`, "
                f"not as `{type_of(each)}`"
            )
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


@final
class Needs(msgspec.Struct):
    """The needs of cases that not everybody can meet."""

    judge: tuple[CompiledSuite, ir.Case, ir.Check] | None = None  # the first check that asks a judge
    may_be_judged: bool = False  # whether a judge is asked something if there is one
    language: bool = False  # whether a check asks in which language a text is
    user: bool = False  # whether a case has a simulated user


def needs_of(suites: Iterable[CompiledSuite]) -> Needs:
    """The needs of the cases of suites. The rows of a table have the same checks, and a user each or none."""
    needs = Needs()
    for suite in suites:
        for part in suite.ir.cases.parts:
            case = next(part.expand(), None) if isinstance(part, ir.CaseRows) else part
            if case is None:
                continue
            needs.user = needs.user or case.user is not None
            is_bare = case.expected is not None and not case.checks
            needs.may_be_judged = needs.may_be_judged or is_bare or bool(suite.ir.criteria)
            for check in case.checks:
                test = check.check.check if isinstance(check.check, Of | Not) else check.check
                if type(test) is Test and test.predicate not in ("judge", "language"):
                    continue
                if asks(check.check, "judge", "language") and case.running and case.tier == suite.tier:
                    if needs.judge is None and asks(check.check, "judge"):
                        needs.judge = suite, case, check
                        needs.may_be_judged = True
                    needs.language = needs.language or asks(check.check, "language")
    return needs


def soundly_compiled(subjects: Sequence[Subject], settings: Settings, prompt_id: str | None) -> Compilation:
    """The suites, at least one."""
    compilation = compiled(subjects, settings, policy_of(settings), errors_stay=True, prompt_id=prompt_id)
    if compilation.has_errors:
        raise SourceError(compilation.problems)
    if not compilation.suites:
        raise UsageError(nothing_found(subjects, compilation.inventory, prompt_id))
    return compilation


def checks_in(settings: Settings) -> ChecksOf:
    """Finds the checks of a case, filled; none if the case is not in the file.

    Results hold those that did not pass; those that passed would make them twice as long. A file is compiled when the
    first of its cases is asked for.
    """

    @cache
    def in_file(file: str) -> Mapping[str, LocatedCase]:
        if file.endswith(".py"):  # of suites in Python only results know the checks
            return {}
        suites = compile_sources([file], options_for(settings)).suites
        return {located.case.id: located for suite in suites for located in suite.to_suite().cases}

    @lru_cache(1)  # it is asked for each assertion of one case after the other
    def of_case(file: str, id_: str) -> Mapping[str, AuthoredCheck]:
        from evalc.report import AuthoredCheck  # noqa: PLC0415 - for start-up: few reports show what passed
        from evalc.runtime.run.case import lines_of, place_of  # noqa: PLC0415 - as above

        located = in_file(file).get(id_)
        if located is None:
            return {}
        described = enumerate(each.description for each in located.case.criteria or ())
        lines = (*lines_of(located.case, line_of), *((f"/criteria/{index}", line) for index, line in described))
        return {at: AuthoredCheck(line, place_of(located.places, at)) for at, line in lines if line is not None}

    return of_case


def line_of(check: Check) -> str:
    """The check as an author would write it."""
    from evalc.grammar.write_check import describe  # noqa: PLC0415 - for start-up: only what fails is written

    return describe(check)
