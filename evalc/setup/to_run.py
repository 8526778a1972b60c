"""Compiles suites and selects the cases of a run."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, final

import msgspec

from evalc.base.errors import SourceError, UsageError
from evalc.base.source import Source
from evalc.config.settings import Settings
from evalc.setup.compile import Subject, compiled, files_of, needing_judge, needing_user, nothing_found, policy_of

if TYPE_CHECKING:
    from evalc.compiler.compiled import Compilation, Inventory
    from evalc.diagnostics.problem import Problem
    from evalc.model.suite import Selected, Suite
    from evalc.runtime.run.select import Wanted
    from evalc.runtime.store.journaled import Header
    from evalc.runtime.store.past.merge import Part
    from evalc.runtime.store.past.resume import PastRun
    from evalc.tools.registry import ToolRegistry


@final
class ToRun(msgspec.Struct, frozen=True, kw_only=True):
    """What a run would run.

    Attributes:
        suites: the suites, with the cases that were chosen.
        problems: the warnings about the eval files.
        tools: the tool registry, where one is named and can be read.
        selected: which of all cases were chosen; None if it is all of them.
        wanted: how they were chosen.
        inventory: what was read for it, and what was skipped.
        notes: what the user should know of the choice.
        needs_user: the id of the first case with a simulated user whom nobody plays; None if there is none.
        needs_judge: the id of the first case that asks a judge; None if none does, or a judge is named.
    """

    suites: tuple[Suite, ...]
    problems: tuple[Problem, ...]
    tools: ToolRegistry | None
    selected: Selected | None
    inventory: Inventory
    wanted: Wanted | None = None
    notes: tuple[str, ...] = ()
    needs_judge: str | None = None
    needs_user: str | None = None


def to_run(
    subjects: Sequence[Subject],
    settings: Settings,
    prompt_id: str | None,
    wanted: Wanted | None = None,
    outputs: Sequence[Path] = (),
) -> ToRun:
    """Compile, and choose the cases that are wanted.

    It takes as long as the files are large, and knows no event loop, in which neither Ctrl-C nor a request to terminate
    would be heard until it is done.

    Raises:
        SourceError: the eval files have errors.
        NothingToDo: what failed in a run or changed since a commit is wanted, and nothing did.
        UsageError: nothing would be run, or one of the `outputs` would overwrite what is read.
    """
    # For start-up: `check` and `compile` run nothing.
    from evalc.runtime.run.select import Wanted, select_cases, selected_of  # noqa: PLC0415
    from evalc.setup.choice import known_of  # noqa: PLC0415
    from evalc.setup.run import redactor_of  # noqa: PLC0415

    compilation = soundly_compiled(subjects, settings, prompt_id)
    _refuse_to_write_over(_read_files(compilation, settings), outputs)
    all_suites = [suite.to_suite() for suite in compilation.suites]
    wanted = wanted or Wanted()
    known = known_of(wanted, compilation.suites, settings, lambda path: _names_of(path, settings))
    if wanted.failed_from is not None and known.failed is None:
        wanted = msgspec.structs.replace(wanted, none_failed=True)
    try:
        suites = select_cases(all_suites, wanted, known)
    except UsageError as error:  # it quotes what chooses, which may hold a secret
        raise type(error)(redactor_of(settings, os.environ).redact(str(error))) from None
    return ToRun(
        suites=suites,
        problems=compilation.problems,
        tools=compilation.tools,
        selected=selected_of(suites, all_suites, wanted),
        wanted=wanted,
        inventory=compilation.inventory,
        notes=known.notes,
        needs_judge=None if settings.judges else needing_judge(compilation.suites, suites),
        needs_user=None if settings.user else needing_user(compilation.suites, suites),
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
    named = (settings.file, settings.seed_manifest, settings.tool_registry_path)
    yield from (file for file in named if file is not None)
    if settings.snapshot_source is not None:
        yield Path(settings.snapshot_source)


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
    whole = msgspec.structs.replace(parts[0].wanted, shard=None)
    for part in parts:
        if msgspec.structs.replace(part.wanted, shard=None) != whole:
            raise UsageError(f"{part.name} and {parts[0].name} are parts of different choices of cases")
    header = parts[0].header
    what = to_run(origins_of(header), settings, header.flags.get("prompt_id"), whole)
    return msgspec.structs.replace(what, needs_judge=None)


def _nothing_to_run(subjects: Sequence[Subject], prompt_id: str | None, inventory: Inventory) -> str:
    if prompt_id is None:
        return nothing_found(subjects, inventory)
    named = ", ".join(f"`{subject.name if isinstance(subject, Source) else subject}`" for subject in subjects)
    return f"there is no suite of the prompt `{prompt_id}` in {named}"
