"""Begins a run, as flags or a call say, or as the run that is resumed did: chooses its cases and compiles its files."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, final

import msgspec

from evalc.base import PROVIDERS
from evalc.base.errors import UsageError
from evalc.base.files import (
    below_working_folder,
    changed_files,
    commit_of,
    deleted_files,
    find_project,
    ignored_files,
    links_to,
)
from evalc.base.source import Source
from evalc.base.terminal import first_of
from evalc.check.contract import assertions
from evalc.check.tree import asks
from evalc.compiler.compiled import Compilation, CompiledSuite, Inventory
from evalc.config import KEY_OF_FLAG, Settings
from evalc.config.load import settings_with, with_env_file
from evalc.diagnostics import Problem
from evalc.dsl.build_case import TIERS
from evalc.dsl.document_kind import names_an_eval
from evalc.model.case import Case
from evalc.model.suite import KnownSuites, Selected, Suite, SuiteKey
from evalc.runtime.run.run import Observer
from evalc.runtime.run.select import Known, NamedCases, select_cases, selected_of
from evalc.runtime.store.resume import PastRun, find_run
from evalc.runtime.store.runs import (
    LATEST,
    find_folder,
    find_results,
    has_results,
    header_beside,
    new_run_id,
    read_result,
    steps_back,
)
from evalc.runtime.store.scope import MOST_SHARDS, CaseFilter, Configured, in_project, scope_paths
from evalc.setup.compile import Subject, files_of, needs_of, soundly_compiled, subjects_among
from evalc.setup.flags import RunFlags, modern, refuse_what_is_not_taken, several
from evalc.setup.runner import Running, redactor_of, run

if TYPE_CHECKING:
    from evalc.runtime.run.again_merge import Part
    from evalc.runtime.store.journal import Header
    from evalc.tools.registry import ToolRegistry

SEPARATOR: Final = "::"
EVERY_CASE: Final = CaseFilter()
_MOST_NAMED: Final = 10


# --- what is run -----------------------------------------------------------------------------------------------------


@final
class ToRun(msgspec.Struct, frozen=True, kw_only=True):
    """The suites and cases of a run."""

    suites: tuple[Suite, ...]  # the suites, with the cases that were chosen
    problems: tuple[Problem, ...]  # the warnings about the eval files
    tools: ToolRegistry | None  # the tool registry, where one is named and can be read
    selected: Selected | None  # which of all cases were chosen; None if it is all of them
    inventory: Inventory  # what was read for it, and what was skipped
    selection: CaseFilter  # how they were chosen
    notes: tuple[str, ...] = ()  # what the user should know of the choice
    needs_judge: str | None = None  # the id of the first case that asks a judge; None if none does, or a judge is named
    # the id of the first case with a simulated user whom nobody plays; None if there is none
    needs_user: str | None = None
    functions: Mapping[str, Callable[..., Any]] = {}  # the checks that suites in Python have brought, by their names
    asks_language: bool = False  # whether a case asks in which language a text is, for which there is an extra


def to_run(
    subjects: Sequence[Subject],
    settings: Settings,
    prompt_id: str | None = None,
    selection: CaseFilter = EVERY_CASE,
    outputs: Sequence[Path] = (),
) -> ToRun:
    """Compile, and select cases. None of the `outputs` may overwrite what is read.

    It takes as long as the files are large, and knows no event loop, in which neither Ctrl-C nor a request to terminate
    would be heard until it is done.

    Raises:
        NothingToDo: what failed in a run or changed since a commit is selected, and nothing did.
    """
    compilation = soundly_compiled(subjects, settings, prompt_id)
    _refuse_to_write_over(compilation, settings, outputs)
    all_suites = [suite.to_suite() for suite in compilation.suites]
    known = _known_of(selection, compilation.suites, settings)
    if selection.failed_from is not None and known.failed is None:
        selection = msgspec.structs.replace(selection, none_failed=True)
    try:
        suites = select_cases(all_suites, selection, known)
    except UsageError as error:  # it quotes what chooses, which may hold a secret
        raise type(error)(redactor_of(settings, os.environ).redact(str(error))) from None
    needs = needs_of(compilation.suites)
    is_judged, is_played = bool(settings.judge.use), bool(settings.user)
    return ToRun(
        suites=suites,
        problems=compilation.problems,
        tools=compilation.tools,
        selected=selected_of(suites, all_suites, selection),
        selection=selection,
        inventory=compilation.inventory,
        notes=known.notes,
        functions=_brought_by(compilation.suites),
        needs_judge=_first(suites, lambda case: _asks(case, "judge")) if needs.judge and not is_judged else None,
        needs_user=_first(suites, lambda case: case.input.user is not None) if needs.user and not is_played else None,
        asks_language=needs.language and _first(suites, lambda case: _asks(case, "language")) is not None,
    )


def _brought_by(suites: Iterable[CompiledSuite]) -> Mapping[str, Callable[..., Any]]:
    """The checks that suites in Python have brought."""
    brought: dict[str, Callable[..., Any]] = {}
    for suite in suites:
        for name, function in suite.ir.source.functions.items():
            if brought.setdefault(name, function) is not function:
                raise UsageError(f"two suites have brought a check `{name}`, each another one: name them apart")
    return brought


def _first(chosen: Iterable[Suite], needs: Callable[[Case], bool]) -> str | None:
    """The id of the first chosen case that needs something. To look is to make all cases, and few suites need any."""
    cases = (located.case for suite in chosen for located in suite.cases)
    return next((case.id for case in cases if case.running and needs(case)), None)


def _asks(case: Case, predicate: str) -> bool:
    is_scored = predicate == "judge" and bool(case.rubric)
    return is_scored or any(asks(assertion.check, predicate) for assertion in assertions(case.expect))


def _refuse_to_write_over(compilation: Compilation, settings: Settings, outputs: Sequence[Path]) -> None:
    """Reject outputs in place of files that the run reads, as far as they are known before it begins."""
    of_suites = (file for suite in compilation.suites for file in (suite.ir.source.name, *suite.ir.files))
    read = {os.path.realpath(file) for file in (*of_suites, *map(str, settings.files))} if outputs else set()
    for file in outputs:
        if os.path.realpath(file) in read:
            raise UsageError(f"`--output` would overwrite `{file}`, which the run reads")


def to_rescore(paths: Sequence[str], past: PastRun, settings: Settings) -> ToRun:
    """Compile the checks of the paths, else those of the past run's own files. Nobody is asked to play a user."""
    if past.header is None:
        raise UsageError(f"the run `{past.run_id}` has no answers: it ended before its journal began")
    what = to_run(paths or origins_of(past.header), settings, past.header.flags.get("prompt_id"))
    return msgspec.structs.replace(what, needs_user=None)


def origins_of(header: Header) -> tuple[str, ...]:
    """The files that the suites of a run came from."""
    return tuple(dict.fromkeys(suite.origin for suite in header.suites))


def to_merge(parts: Sequence[Part], settings: Settings) -> ToRun:
    """Compile the files that the parts are of, and choose the cases that they all were chosen from."""
    whole = msgspec.structs.replace(parts[0].selection, shard=None)
    for part in parts:
        if msgspec.structs.replace(part.selection, shard=None) != whole:
            raise UsageError(f"{part.name} and {parts[0].name} are parts of different choices of cases")
    header = parts[0].header
    return to_run(origins_of(header), settings, header.flags.get("prompt_id"), whole)


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
    return argument.partition(SEPARATOR)[0] if names_case(argument) else argument


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


def _known_of(selection: CaseFilter, suites: Sequence[CompiledSuite], settings: Settings) -> Known:
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
        result = read_result(file, _Result)
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
    path, _, case = argument.partition(SEPARATOR)
    if not case:
        raise UsageError(f"`{argument}` names no case after `{SEPARATOR}`")
    files = frozenset({"<stdin>"}) if path == "-" else files_of([path], settings=settings)
    return NamedCases(argument=argument, files=files, case=case)


def _changed(commit: str, suites: Sequence[CompiledSuite], settings: Settings) -> frozenset[str]:
    """The names of the sources whose suites have a file among those that have changed."""
    made_of = {name: _read_for(name) for suite in suites for name in (suite.ir.source.name, *suite.ir.files)}
    # What git ignores may have changed, for all that git knows.
    ignored = ignored_files((file for files in made_of.values() for file in files), settings.root)
    changed = changed_files(commit, settings.root)
    whole = any(_read_for(str(file)) & changed for file in settings.files)
    return frozenset(
        suite.ir.source.name
        for suite in suites
        if whole or any(made_of[name] & (changed | ignored) for name in (suite.ir.source.name, *suite.ir.files))
    )


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


class _Case(msgspec.Struct, frozen=True, rename="camel"):
    id: str
    passed: bool
    duration_ms: float = 0.0


class _Result(msgspec.Struct, frozen=True, rename="camel"):
    """The needed part of an EvalSuiteResult."""

    tool_name: str
    tier: str
    cases: tuple[_Case, ...]
    suite: str | None = None


_Verdicts = dict[SuiteKey, dict[str, bool]]
"""By suite, whether each case passed, with every agent."""


def _verdicts_of(name: str, output_dir: Path, known: KnownSuites) -> _Verdicts:
    """The verdicts of the run: its id, `latest`, its folder or a result."""
    verdicts: _Verdicts = {}
    for file in find_results(name, output_dir).files:
        result = read_result(file, _Result)
        suite = known.key_of(result, {case.id for case in result.cases})
        if suite is None:
            continue
        of_suite = verdicts.setdefault(suite, {})
        for case in result.cases:
            of_suite[case.id] = case.passed and of_suite.get(case.id, True)
    return verdicts


def _verdicts_since(name: str, output_dir: Path, known: KnownSuites) -> _Verdicts:
    """The verdicts of the run, and for cases that it left out those of the runs that it was chosen from.

    A run with `--last-failed` has only some cases of the run that it was chosen from, so it continues that one.
    """
    verdicts = _verdicts_of(name, output_dir, known)
    seen = {name}
    while (earlier := _chosen_from(output_dir / name)) is not None and earlier not in seen:
        seen.add(name := earlier)
        if not has_results(output_dir / name):
            break
        for suite, passed in _verdicts_of(name, output_dir, known).items():
            verdicts[suite] = passed | verdicts.get(suite, {})
    return verdicts


def _chosen_from(folder: Path) -> str | None:
    """The run whose failed cases the run of a folder was to run, if it was begun with `--last-failed`."""
    selection = _selection_of(folder)
    run = selection.get("failed_from") if selection.get("else_all") else None
    # A name that leads elsewhere is not ours: a journal may come from anyone.
    return run if isinstance(run, str) and Path(run).name == run else None


def _selection_of(folder: Path) -> Mapping[str, Any]:
    """How the cases of a run were chosen, as far as its journal says."""
    header = header_beside(folder)
    selection = None if header is None else header.flags.get("wanted")
    return selection if isinstance(selection, dict) else {}


def _is_no_shard(folder: Path) -> bool:
    """Whether a folder has the results of a run that was not a shard of another."""
    return has_results(folder) and not _selection_of(folder).get("shard")


# --- how a run begins ------------------------------------------------------------------------------------------------

_NOT_KEPT: Final = frozenset({"output_dir", "otel", "snapshot"})
"""The flags that a resumed run does not take from its journal: where it is found says the folder of results, the
journal itself has the snapshot, and no journal decides who is sent the results."""
_HARMLESS: Final = frozenset({"demo", *PROVIDERS})
"""The kinds of agents that run no code of this machine; a URL is not harmless, since it is sent configured headers."""


@final
class Start(msgspec.Struct, frozen=True, kw_only=True):
    """How a run begins."""

    run_id: str
    settings: Settings
    subjects: Sequence[Subject]  # what is run
    agents: Sequence[object] = ()  # those that a caller brings, specs too, in place of the specs among the settings
    prompt_id: str | None = None  # the prompt whose suites alone are run
    # those of the command line that a resumed run needs again
    flags: Mapping[str, Any] = msgspec.field(default_factory=dict)
    past: PastRun | None = None  # the run that is resumed; None for a new one
    record: Path | None = None  # where what is sent and answered is recorded
    selection: CaseFilter = EVERY_CASE  # which cases are run
    max_fail: int | None = None  # after so many cases that did not pass the run stops; None for never

    @property
    def folder(self) -> Path:
        """Where the results go."""
        return self.settings.results_folder / self.run_id if self.past is None else self.past.folder


def compiled_run(start: Start, observer: Observer | None = None, outputs: Sequence[Path] = ()) -> Running:
    """Compile what is run; what is returned runs it. None of the `outputs` may overwrite what is read."""
    what = to_run(start.subjects, start.settings, start.prompt_id, start.selection, outputs)
    return lambda: run(what, start, observer)


@final
class RunRequest(msgspec.Struct, frozen=True, kw_only=True):
    """A request for a run by a command line or a call from Python."""

    # those that win over the configuration, by their names in Python; None and False are not given
    flags: Mapping[str, Any]
    paths: Sequence[Subject] = ()  # what is run; nothing is what the configuration says
    agents: Sequence[object] = ()  # those that a caller brings, specs too, in place of the specs among the flags
    # the judges and the user that a caller brings, by what follows `python:` in the specs that stand for them
    brought: Mapping[str, object] = {}
    config: str | None = None  # the configuration file, in place of the nearest one upwards
    prompt_id: str | None = None  # the prompt whose suites alone are run
    record: str | None = None  # where what is sent and answered is recorded
    env_file: str | None = None  # the file of variables that the environment does not set
    selection: CaseFilter = EVERY_CASE  # the cases that are run, by names that may mean others tomorrow
    max_fail: int | None = None  # after so many cases that did not pass the run stops
    past: PastRun | None = None  # the run that is resumed

    def settings(self) -> Settings:
        """The settings of the run, with the variables of the `env_file` in the environment."""
        settings = settings_with(self.config, self.flags).sound().replace(brought=self.brought)
        return settings if self.env_file is None else with_env_file(settings, self.env_file)

    def start(self, settings: Settings) -> Start:
        """How the run begins, with the run and the commit that it means by names which stay."""
        if self.max_fail is not None and self.max_fail < 1:
            raise UsageError("`--maxfail` has to be 1 or above")
        if self.record == "":
            raise UsageError("`--record` names no folder; the working folder is `.`")
        selection = pinned(self.selection, settings)
        subjects = settings.looked_at(self.paths)
        if not self.paths and self.prompt_id is not None and settings.prompts is not None:
            subjects = (*subjects, str(settings.prompts))  # where the prompt's own evals are
        return Start(
            run_id=new_run_id(settings.results_folder) if self.past is None else self.past.run_id,
            settings=settings,
            subjects=subjects,
            agents=self.agents,
            prompt_id=self.prompt_id,
            flags=self._kept(selection, settings, subjects),
            past=self.past,
            record=None if self.record is None else Path(self.record),
            selection=selection,
            max_fail=self.max_fail,
        )

    def _kept(self, selection: CaseFilter, settings: Settings, subjects: Sequence[Subject]) -> dict[str, Any]:
        """The part of the request that the journal keeps: its subjects, and enough to resume it by its id."""
        named = (each.name if isinstance(each, Source) else str(each) for each in subjects)
        whole = not self.paths and bool(settings.paths)
        said = _said(self.flags) | {
            "config": self.config,
            "prompt_id": self.prompt_id,
            "record": self.record,
            "env_file": self.env_file,
            "wanted": msgspec.to_builtins(selection) or None,
            "looked_at": scope_paths(named, settings.root, whole=whole),
            "configured": msgspec.to_builtins(_configured(settings)) or None,
        }
        if self.past is not None and self.past.header is not None:
            # A run is resumed by the files of its suites, but should have had all that it was begun with.
            said |= {name: self.past.header.flags.get(name) for name in ("looked_at", "configured")}
        return {name: value for name, value in said.items() if value is not None and name not in _NOT_KEPT}


def _configured(settings: Settings) -> Configured:
    """The part of the configuration that a scope needs."""
    file, own = settings.file, find_project(settings.root).file
    is_own = file is None or (own is not None and file.resolve() == own.resolve())
    return Configured(
        file="" if is_own else in_project(str(file), settings.root),
        paths=scope_paths(settings.paths, settings.root, whole=not settings.paths),
        exclude=settings.exclude,
    )


def resumed(given: RunRequest, name: str) -> RunRequest:
    """The request that the run called `name` began with, and over it the flags given now."""
    # Only the configuration may say where runs are.
    where = {"output_dir": given.flags.get("output_dir")}
    results = settings_with(given.config, where).sound().results_folder
    past = find_run(name, results)
    if past.header is None:
        if not given.paths:
            raise UsageError(
                f"the journal of the run `{past.run_id}` holds nothing yet: name what to run, "
                f"as in `evalc run PATH --resume {past.run_id}`"
            )
        return msgspec.structs.replace(given, past=past)
    if given.selection != EVERY_CASE:
        raise UsageError("`--resume` runs the cases that the run was begun with: leave out what chooses others")
    said = {name: value for name, value in modern(past.header.flags).items() if name not in _NOT_KEPT}
    now = _said(given.flags)
    if given.agents:
        said["agent"], now["agent"] = None, now.get("agent")
    if said.get("agent", "") is None and "agent" not in now:
        raise UsageError("the value of `--agent` is not in the journal, since it may hold secrets: give it again")
    if past.folder.resolve().parent != results.resolve():
        _refuse_what_a_stranger_may_say(given, said, now)
    origins = dict.fromkeys("-" if suite.origin == "<stdin>" else suite.origin for suite in past.header.suites)
    return msgspec.structs.replace(
        given,
        past=past,
        flags={name: now.get(name, said.get(name)) for name in given.flags},
        paths=given.paths or tuple(origins),
        selection=selection_from(said.get("wanted") or {}),
        **{name: getattr(given, name) or said.get(name) for name in ("config", "prompt_id", "record", "env_file")},
    )


def _said(flags: Mapping[str, Any]) -> dict[str, Any]:
    """Those that are given; 0 is a value."""
    return {name: value for name, value in flags.items() if value is not None and value is not False}


def _refuse_what_a_stranger_may_say(given: RunRequest, said: Mapping[str, Any], now: Mapping[str, Any]) -> None:
    """Of a run that does not lie among the project's own, whose journal may come from anyone.

    It may not say what code is run, who is sent credentials, and which files are read or written.
    """
    missing = [
        f"`{flag}`"
        for flag, is_needed in (
            ("--agent", "agent" not in now and not _is_harmless(said.get("agent"))),
            ("--judge", "judge" not in now and not _is_harmless(said.get("judge"))),
            ("--user", "user" not in now and not _is_harmless(said.get("user"))),
            ("--config", given.config is None and said.get("config") is not None),
            ("--env-file", given.env_file is None and said.get("env_file") is not None),
            ("--record", given.record is None and said.get("record") is not None),
        )
        if is_needed
    ]
    if missing:
        raise UsageError(
            "the run does not lie among the project's own, so its journal does not decide what is run, read or "
            f"written: give {', '.join(missing)} again"
        )


def _is_harmless(specs: object) -> bool:
    """Whether anyone may name these agents or judges."""
    listed = specs if isinstance(specs, list) else [] if specs is None else [specs]
    return all(str(spec).strip().lower().partition(":")[0] in _HARMLESS for spec in listed)


def _spec_of(given: object, brought: dict[str, object]) -> str:
    """The spec of a judge or of a user: a text is one, and an object that is brought gets one by its name."""
    if isinstance(given, str):
        return given
    from evalc.runtime.agents.python import name_of  # noqa: PLC0415 - for start-up: of calls from Python alone

    name = name_of(given)
    while brought.get(name, given) is not given:  # another object of the same name
        name += "'"
    brought[name] = given
    return f"python:{name}"


def given_by(subject: Subject | Iterable[Subject] | None, flags: RunFlags) -> RunRequest:
    """The request of a call.

    Raises:
        TypeError: a flag is unknown, or has a value that it does not take.
    """
    refuse_what_is_not_taken(flags)
    said = modern({name: str(value) if isinstance(value, Path) else value for name, value in flags.items()})
    subjects = () if subject is None else subjects_among(subject)
    if subject is not None and not subjects:
        raise UsageError("the list of what is to be run is empty: leave it out for what the configuration names")
    agents = several(said.get("agent"))
    if said.get("agent") is not None and not agents:
        raise UsageError("the list of agents is empty: leave it out for what the configuration names")
    said["agent"] = [agent for agent in agents if isinstance(agent, str)] or None
    brought: dict[str, object] = {}
    for name in ("judge", "user"):
        if said.get(name) is not None:
            specs = [_spec_of(each, brought) for each in several(said[name])]
            said[name] = specs[0] if name == "user" and len(specs) == 1 else specs
    given = RunRequest(
        flags={name: said.get(name) for name in (flag.removeprefix("--").replace("-", "_") for flag in KEY_OF_FLAG)},
        paths=[
            path_of(each) if isinstance(each, str) else each
            for each in subjects
            if not (isinstance(each, str) and is_case_id(each))
        ],
        agents=agents,
        brought=brought,
        config=said.get("config"),
        prompt_id=said.get("prompt_id"),
        record=said.get("record"),
        env_file=said.get("env_file"),
        selection=selection_of([each for each in subjects if isinstance(each, str)], said),
        max_fail=said.get("maxfail"),
    )
    past = said.get("resume")
    return given if past is None else resumed(given, past)
