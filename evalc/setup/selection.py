"""Chooses the cases of a run: by its arguments and flags, by earlier runs, and by what git says has changed."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, Final

import msgspec

from evalc.base.errors import UsageError
from evalc.base.files import below_working_folder, changed_files, commit_of, deleted_files, ignored_files, links_to
from evalc.base.terminal import first_of
from evalc.compiler.compiled import CompiledSuite
from evalc.config import Settings
from evalc.dsl.build_case import TIERS
from evalc.dsl.document_kind import names_an_eval
from evalc.ecma.modules import with_imports
from evalc.model.suite import KnownSuites, SuiteKey
from evalc.runtime.run.select import Known, NamedCases
from evalc.runtime.store.runs import (
    LATEST,
    PastResult,
    age,
    find_folder,
    find_results,
    has_results,
    header_beside,
    read_closing,
    read_result,
    result_files,
    run_folders,
    steps_back,
)
from evalc.runtime.store.scope import MOST_SHARDS, CaseFilter
from evalc.setup.compile import files_of
from evalc.setup.flags import several

SEPARATOR: Final = "::"
EVERY_CASE: Final = CaseFilter()
_MOST_NAMED: Final = 10


# --- what flags ask for ----------------------------------------------------------------------------------------------


def selection_of(named: Sequence[str], flags: Mapping[str, Any]) -> CaseFilter:
    """The choice that the flags of a run ask for. `named` are the arguments, `PATH::CASE` among them."""
    tiers, last_failed = several(flags.get("tier")), flags.get("last_failed")
    shard, shard_by = flags.get("shard"), flags.get("shard_by")
    for tier in tiers:
        if tier not in TIERS:
            raise UsageError(f"`--tier {tier}`: the tiers are {', '.join(f'`{known}`' for known in TIERS)}")
    if shard_by not in (None, "id", "duration"):
        raise UsageError(f"`--shard-by {shard_by}`: shards go by `id` or by `duration`")
    if shard_by is not None and shard is None:
        raise UsageError("`--shard-by` says how `--shard` divides the cases: give that too")
    return selection_from(
        {
            "cases": [argument for argument in named if names_case(argument) or is_case_id(argument)],
            "keywords": flags.get("keywords"),
            "tags": several(flags.get("tag")),
            "ids": several(flags.get("filter")),
            "tiers": tiers,
            "failed_from": LATEST if last_failed is True else None if last_failed is False else last_failed,
            "else_all": last_failed is True,
            "changed_since": flags.get("changed_since"),
            "repeat": flags.get("repeat"),
            "shard": None if shard is None else _shard(shard),
            "durations_of": LATEST if shard_by == "duration" else None,  # the name that `pinned` replaces
        }
    )


def selection_from(said: Mapping[str, Any]) -> CaseFilter:
    """The choice whose attributes a command line or a journal says."""
    try:
        return msgspec.convert(said, CaseFilter)
    except msgspec.ValidationError as error:
        raise UsageError(f"what chooses cases has a value that cannot be: {error}") from None


def _shard(said: str) -> list[int]:
    numbers = re.fullmatch(r"([0-9]{1,9})/([0-9]{1,9})", said.strip(), re.ASCII)
    number, of = (int(numbers[1]), int(numbers[2])) if numbers else (0, 0)
    if not 1 <= number <= of <= MOST_SHARDS:
        raise UsageError(f"`--shard {said}`: a shard is one of N, such as 1/4 to 4/4; N is {MOST_SHARDS:,} at most")
    return [number, of]


def names_case(argument: str) -> bool:
    """Whether an argument is `PATH::CASE`, rather than a file that is called so."""
    return SEPARATOR in argument and not os.path.lexists(argument)


def path_of(argument: str) -> str:
    """The path of `PATH::CASE`; any other argument as it is."""
    return _parted(argument)[0] if names_case(argument) else argument


def _parted(argument: str) -> tuple[str, str]:
    """The path and the case: names of files may have `::` in them, too."""
    parts = argument.split(SEPARATOR)
    paths = (SEPARATOR.join(parts[:count]) for count in range(len(parts) - 1, 0, -1))
    path = next(filter(os.path.lexists, paths), parts[0])
    return path, argument.removeprefix(path + SEPARATOR)


def is_case_id(argument: str) -> bool:
    """Whether an argument is the id of a case, as results print it (`weather/paris`), rather than a path.

    Ids have a slash and no ending of files; an existing file of that name is a path.
    """
    if (
        SEPARATOR in argument
        or os.path.lexists(argument)
        or argument.startswith((".", "/", "~"))
        or argument.endswith("/")
    ):
        return False
    suffix = Path(argument).suffix.lower()
    looks_like_id = "/" in argument or _CONTRACT_ID.fullmatch(argument) is not None
    return looks_like_id and not any(mark in argument for mark in "*?") and suffix not in _SUFFIXES


_CONTRACT_ID: Final = re.compile(r"(?:gs|ls|rg)-[\w.-]+-\d{3,}")
_SUFFIXES: Final = frozenset((".yaml", ".yml", ".json", ".jsonl"))


def id_in_pattern(id_: str) -> str:
    """An id as it is written within `--filter /REGEX/`, where it means itself."""
    return re.escape(id_).replace("/", "\\/")


def pinned(selection: CaseFilter, settings: Settings) -> CaseFilter:
    """The choice with names in place of what will mean something else tomorrow: the latest run, a branch."""
    run, results = selection.failed_from, settings.results_folder
    if run is not None and steps_back(run) is not None:
        newest = find_folder(run, results, has_results)
        if newest is None and not selection.else_all:
            raise UsageError(f"there is no run with results in `{results}`")
        run = None if newest is None else newest.name
    commit = selection.changed_since
    return msgspec.structs.replace(
        selection,
        failed_from=run,
        durations_of=_run_with_durations(selection.durations_of, settings),
        changed_since=None if commit is None else commit_of(commit, settings.root),
    )


def _run_with_durations(name: str | None, settings: Settings) -> str | None:
    """The newest run that is not a shard, of the folder of results, else of the usual one."""
    if name is None or steps_back(name) is None:
        return name
    folders = (settings.results_folder, settings.default_results_folder)
    newest = next(filter(None, (find_folder(name, folder, _is_no_shard) for folder in folders)), None)
    if newest is None:
        raise UsageError(f"no run in `{folders[0]}` has durations that `--shard-by duration` can use")
    return newest.name


# --- what choosing needs ---------------------------------------------------------------------------------------------


def known_of(selection: CaseFilter, suites: Sequence[CompiledSuite], settings: Settings) -> Known:
    """The facts that a selection needs."""
    known = KnownSuites(
        ((suite.key, suite.ir.tool) for suite in suites),
        lambda key: (case.id for suite in suites if suite.key == key for case in suite.cases()),
    )
    failed, notes = _failed(selection, suites, settings.results_folder, known)
    return Known(
        named=tuple(_named(argument, suites, settings) for argument in selection.cases),
        failed=failed,
        notes=(*notes, *_deleted(selection.changed_since, settings)),
        changed=None if selection.changed_since is None else _changed(selection.changed_since, suites, settings),
        durations=None if selection.durations_of is None else _durations(selection.durations_of, settings, known),
    )


def _durations(name: str, settings: Settings, known: KnownSuites) -> Mapping[SuiteKey, Mapping[str, float]]:
    """By suite, the milliseconds that each case of the run took; in a run of several agents, of all together."""
    in_usual_folder = not has_results(settings.results_folder / name)
    output_dir = settings.default_results_folder if in_usual_folder else settings.results_folder
    durations: dict[SuiteKey, dict[str, float]] = {}
    for file in find_results(name, output_dir).files:
        result = read_result(file, PastResult)
        for suite in known.candidates(result):
            of_suite = durations.setdefault(suite, {})
            for case in result.cases:
                of_suite[case.id] = of_suite.get(case.id, 0.0) + case.duration_ms
    return durations


def _failed(
    selection: CaseFilter, suites: Sequence[CompiledSuite], results: Path, known: KnownSuites
) -> tuple[Mapping[SuiteKey, frozenset[str]] | None, tuple[str, ...]]:
    """The ids that failed in the run, None for all cases; and warnings about suites that the run does not have."""
    run = selection.failed_from
    if run is None:
        return None, ()
    verdicts = (_verdicts_since if selection.else_all else _verdicts_of)(run, results, known)
    failed = {suite: frozenset(id_ for id_, passed in cases.items() if not passed) for suite, cases in verdicts.items()}
    unclear = known.warnings(f"the run `{run}`", "the next run names its suites")
    absent = [suite for suite in suites if suite.key not in failed]
    known_by_name = (case for suite in suites for case in suite.cases() if case.id in failed.get(suite.key, ()))
    whole = selection.else_all and next(known_by_name, None) is None
    if len(absent) == len(suites):
        has = f"the run `{run}` has none of these suites"
        if not whole:
            raise UsageError("; ".join((*unclear, f"{has}, so it does not say which of their cases failed")))
        return None, (*unclear, f"{has}, so all of their cases run")
    if whole:
        return None, (f"no case of these suites failed in the run `{run}`, so all of them run",)
    then = "all of its cases run" if selection.else_all else "none of its cases run"
    return failed, (
        *unclear,
        *(f"the run `{run}` does not have the suite `{suite.ir.name}` ({suite.tier}), so {then}" for suite in absent),
    )


def _named(argument: str, suites: Iterable[CompiledSuite], settings: Settings) -> NamedCases:
    if SEPARATOR not in argument:
        return NamedCases(argument=argument, files=frozenset(suite.ir.source.name for suite in suites), case=argument)
    path, case = _parted(argument)
    if not case:
        raise UsageError(f"`{argument}` names no case after `{SEPARATOR}`")
    files = frozenset({"<stdin>"}) if path == "-" else files_of([path], settings=settings)
    return NamedCases(argument=argument, files=files, case=case)


def _changed(commit: str, suites: Sequence[CompiledSuite], settings: Settings) -> frozenset[str]:
    """The names of the sources whose suites have a file among those that have changed."""
    made_of = [frozenset(chain(*map(_read_for, _files_of(suite, settings)))) for suite in suites]
    # What git ignores may have changed, for all that git knows.
    changed = changed_files(commit, settings.root) | ignored_files(chain(*made_of), settings.root)
    touched = changed.union(*(file.parents for file in changed))  # a folder is, where something in it has changed

    def is_other(files: Iterable[Path]) -> bool:
        return any(file in touched or not changed.isdisjoint(file.parents) for file in files)

    common = (*settings.files, *with_imports(settings.checks, settings.root))
    whole = is_other(chain(*(_read_for(str(file)) for file in common)))
    pairs = zip(suites, made_of, strict=True)
    return frozenset(suite.ir.source.name for suite, files in pairs if whole or is_other(files))


def _files_of(suite: CompiledSuite, settings: Settings) -> Iterator[str]:
    """The files that a suite is made of, and the files and folders that its cases give to agents."""
    yield from (suite.ir.source.name, *suite.ir.files)
    yield from (str(settings.root / copied.path) for copied in dict.fromkeys(suite.copied()))


def _deleted(commit: str | None, settings: Settings) -> Iterator[str]:
    """A warning that names the eval files that were deleted, whose suites such a run does not miss."""
    every = () if commit is None else deleted_files(commit, settings.root)
    gone = [below_working_folder(file) for file in every if names_an_eval(file.name)]
    if gone:
        yield f"deleted since `{commit}`, and not missed by this run: {first_of(gone, _MOST_NAMED, '`{}`'.format)}"


def _read_for(name: str) -> frozenset[Path]:
    """A file, and the links on the way to it: the same path leads to another file where one of them has changed."""
    path = Path(name)
    return frozenset((path.resolve(), *(link.path for link in links_to(path))))


# --- earlier runs ----------------------------------------------------------------------------------------------------


_Verdicts = dict[SuiteKey, dict[str, bool]]
"""By suite, whether each case passed, with every agent."""


def _verdicts_of(name: str, output_dir: Path, known: KnownSuites) -> _Verdicts:
    """The verdicts of the run: its id, `latest`, its folder or a result."""
    return _verdicts_in(map(_past_result, find_results(name, output_dir).files), known)


def _verdicts_since(name: str, output_dir: Path, known: KnownSuites) -> _Verdicts:
    """The verdicts of the run, and for cases that it left out those of the runs before it, back to a whole one."""
    folder = output_dir / name
    before = [each for each in run_folders(output_dir, has_results) if age(each) < age(folder)]
    verdicts: _Verdicts = {}
    for each in (folder, *sorted(before, key=age, reverse=True)):
        results = [*map(_past_result, result_files(each))]
        for suite, passed in _verdicts_in(results, known).items():
            verdicts[suite] = passed | verdicts.get(suite, {})
        closing, _ = read_closing(each)
        if closing.selected is None and all(result.is_fair for result in results):
            break
    return verdicts


def _past_result(file: Path) -> PastResult:
    return read_result(file, PastResult)


def _verdicts_in(results: Iterable[PastResult], known: KnownSuites) -> _Verdicts:
    verdicts: _Verdicts = {}
    for result in results:
        suite = known.key_of(result, {case.id for case in result.cases})
        if suite is None:
            continue
        of_suite = verdicts.setdefault(suite, {})
        for case in result.cases:
            of_suite[case.id] = case.passed and of_suite.get(case.id, True)
    return verdicts


def _is_no_shard(folder: Path) -> bool:
    """Whether a folder has the results of a run that was not a shard of another, as far as its journal says."""
    header = header_beside(folder) if has_results(folder) else None
    chosen = None if header is None else header.flags.get("wanted")
    return has_results(folder) and not (isinstance(chosen, dict) and chosen.get("shard"))
