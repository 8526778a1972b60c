"""Compiles subjects under the policy that the settings ask for, and finds the cases that need a judge or a user."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import msgspec

from evalc.base.source import Source
from evalc.compiler import ir
from evalc.compiler.compiled import Compilation, CompiledSuite, Inventory
from evalc.compiler.discover import Finder
from evalc.compiler.options import CompileOptions
from evalc.compiler.pipeline import compile_sources
from evalc.config.settings import Settings
from evalc.diagnostics.policy import Policy, Selection, silenced
from evalc.diagnostics.problem import Finding, Problem
from evalc.dsl.texts import texts_of
from evalc.model import checks as c
from evalc.model.assertions import asks_judge, assertions
from evalc.model.case import Case
from evalc.model.checks.declaration import has_parts, members
from evalc.model.suite import Suite

if TYPE_CHECKING:
    from evalc.compiler.prompts import PromptLibrary
    from evalc.tools.load import RegistryFile

Subject = str | Path | Source
"""What can be compiled: a path of a file or folder, a glob, or a text with a name."""

_MAY_ASK: Final = frozenset(kind for kind in members(c.Check) if kind is c.Judge or has_parts(kind))
"""The kinds of checks that may ask a judge."""


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
    """What was read and skipped, without the files that the settings name for other ends."""
    ours = {
        os.path.realpath(file) for file in (settings.seed_manifest, settings.tool_registry_path, settings.file) if file
    }
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
        judged=bool(settings.judges),
        finder=Finder(
            exclude=settings.exclude,
            outputs=settings.written_paths,
        ),
    )


def _registry_file(settings: Settings) -> RegistryFile | None:
    path = settings.tool_registry_path
    if path is None:
        return None
    from evalc.tools.load import RegistryFile  # noqa: PLC0415 - for start-up: most projects name no registry

    return RegistryFile(path, settings.root, required="toolRegistryPath" in settings.given)


def problems_of(source: Source, *, settings: Settings) -> Sequence[Problem]:
    """Every problem of one text that no comment in it ignores, whatever of it would be reported."""
    return _problems_of(source, options_for(settings))


def _problems_of(source: Source, options: CompileOptions) -> Sequence[Problem]:
    return tuple(_not_ignored(compile_sources([source], options)))


def nothing_found(subjects: Sequence[Subject], inventory: Inventory) -> str:
    """That the named files hold no evals, and what they hold instead."""
    named = ", ".join(f"`{subject.name if isinstance(subject, Source) else subject}`" for subject in subjects)
    told = f"there are no evals in {named}"
    if inventory.read:
        told += f": {inventory.read} without test cases"
    if inventory.skipped:
        told += f"{',' if inventory.read else ':'} {inventory.skipped} skipped"
    if inventory.with_examples:
        told += f"; `evalc import {inventory.with_examples[0]}` makes cases of a prompt's examples"
    return told


def files_of(paths: Sequence[str], *, settings: Settings) -> frozenset[str]:
    """The files that the paths name or that are found in them, by the names that they have in problems."""
    finder = options_for(settings).finder
    return frozenset(str(found.path) for found in finder.expand(path for path in paths if path != "-"))


def policy_of(settings: Settings, selection: Selection | None = None) -> Policy:
    """What of the problems is reported."""
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
    """A case, and its check that asks a judge."""

    suite: CompiledSuite
    case: ir.Case
    check: ir.Check


def judge_warning(suites: Iterable[CompiledSuite]) -> Problem | None:
    """That a judge is needed, at the first check that asks one; None if none does."""
    found = next(_asking(suites), None)
    if found is None:
        return None
    source, span = found.suite.ir.place(found.check.where)
    return Problem(source=source, span=span, finding=Finding("EV420", case=found.case.id), severity="warning")


def needing_judge(compiled: Iterable[CompiledSuite], chosen: Iterable[Suite]) -> str | None:
    """The id of the first chosen case that asks a judge; None if none does."""
    if next(_asking(compiled), None) is None:  # few suites ask one, and choosing makes all cases
        return None
    return _first(chosen, _asks)


def needing_user(compiled: Iterable[CompiledSuite], chosen: Iterable[Suite]) -> str | None:
    """The id of the first chosen case with a simulated user; None if none has one."""
    if not any(case.user is not None for suite in compiled for case in _samples(suite)):
        return None
    return _first(chosen, lambda case: case.input.user is not None)


def _first(chosen: Iterable[Suite], needs: Callable[[Case], bool]) -> str | None:
    cases = (located.case for suite in chosen for located in suite.cases)
    return next((case.id for case in cases if case.running and needs(case)), None)


def _samples(suite: CompiledSuite) -> Iterator[ir.Case]:
    """A case of each part of a suite: the rows of a table have the same checks, and a user each or none."""
    for part in suite.ir.cases.parts:
        case = next(part.expand(), None) if isinstance(part, ir.CaseRows) else part
        if case is not None:
            yield case


def _asking(suites: Iterable[CompiledSuite]) -> Iterator[_Asking]:
    for suite in suites:
        for case in _samples(suite):
            if case.running and case.tier == suite.tier:
                for check in case.checks:
                    if type(check.check) in _MAY_ASK and asks_judge(check.check):
                        yield _Asking(suite, case, check)


def _asks(case: Case) -> bool:
    return bool(case.rubric) or any(asks_judge(assertion.check) for assertion in assertions(case.expect))
