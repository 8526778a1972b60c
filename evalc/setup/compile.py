"""From subjects and settings to compiled suites and problems, under the policy that the settings ask for."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from evalc.compiler.checked import check_sources
from evalc.compiler.compiled import Compilation
from evalc.compiler.discover import Finder
from evalc.compiler.options import CompileOptions
from evalc.compiler.pipeline import compile_sources
from evalc.config import Settings
from evalc.diagnostics.ignores import silenced
from evalc.diagnostics.policy import Policy, Selection
from evalc.dsl.texts import texts_of
from evalc.source import Source

if TYPE_CHECKING:
    from evalc.diagnostics.problem import Problem
    from evalc.tools.load import RegistryFile

Subject = str | Path | Source
"""What can be compiled: a path of a file or folder, a glob, or a text with a name."""


def subjects_of(paths: Sequence[Subject], stdin: str | None) -> list[Subject]:
    """The subjects, each once, of which `-` is the text `stdin`."""
    return [Source("<stdin>", stdin or "") if path == "-" else path for path in dict.fromkeys(paths)]


def compiled(
    subjects: Iterable[Subject], settings: Settings, policy: Policy, *, errors_stay: bool, prompt_id: str | None = None
) -> Compilation:
    """Compile under a policy; `errors_stay` where something is to be made of the suites."""
    return _under(policy, compile_sources(subjects, options_for(settings, prompt_id)), errors_stay=errors_stay)


def checked(subjects: Iterable[Subject], settings: Settings, policy: Policy) -> Compilation:
    """Find the problems under a policy; what is sound is not compiled to suites where there is much to read."""
    return _under(policy, check_sources(subjects, options_for(settings)), errors_stay=False)


def _under(policy: Policy, compilation: Compilation, *, errors_stay: bool) -> Compilation:
    complete = (suite.ir.source for suite in compilation.suites)
    problems = policy.reported(silenced(compilation.problems, complete, texts_of), errors_stay=errors_stay)
    failed = any(problem.severity == "error" for problem in problems)
    return msgspec.structs.replace(compilation, suites=() if failed else compilation.suites, problems=problems)


def options_for(settings: Settings, prompt_id: str | None = None) -> CompileOptions:
    """How the settings want to be compiled; how strict to be is up to the policy, which knows what is ignored."""
    return CompileOptions(
        prompts=settings.prompts,
        prompt_id=prompt_id,
        lock_folder=settings.root,
        tools=_registry_file(settings),
        inputs_sent=frozenset() if settings.body is None else settings.body.inputs,
        finder=Finder(
            exclude=settings.exclude,
            output_folders=settings.written_folders,
        ),
    )


def _registry_file(settings: Settings) -> RegistryFile | None:
    path = settings.tool_registry_path
    if path is None:
        return None
    from evalc.tools.load import RegistryFile  # noqa: PLC0415 - for start-up: most projects name no registry

    return RegistryFile(path, settings.root, required="tool_registry_path" in settings.given)


def problems_of(source: Source, *, settings: Settings) -> Sequence[Problem]:
    """Every problem of one text as it is found, whatever of it would be reported."""
    return compile_sources([source], options_for(settings)).problems


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
