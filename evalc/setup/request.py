"""Begins a run, as flags or a call say, or as the run that is resumed did, and compiles its files."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, final

import msgspec

from evalc.base import PROVIDERS, kind_of
from evalc.base.errors import UsageError
from evalc.base.files import TemporaryFolder, find_project
from evalc.base.source import Source
from evalc.base.terminal import shown_path, well_formed
from evalc.check.contract import assertions
from evalc.check.tree import asks
from evalc.compiler.compiled import Compilation, CompiledSuite, Inventory
from evalc.config import KEY_OF_FLAG, Settings
from evalc.config.load import settings_with, with_env_file
from evalc.diagnostics import Problem
from evalc.model.case import Case
from evalc.model.suite import Selected, Suite
from evalc.runtime.run.engine import NOBODY, Observer
from evalc.runtime.run.select import select_cases, selected_of
from evalc.runtime.store.journal import FILE_NAME
from evalc.runtime.store.resume import PastRun, find_run, refuse_rescored
from evalc.runtime.store.runs import announce, new_run_id, steps_back, withdrawn_if_refused
from evalc.runtime.store.scope import CaseFilter, Configured, in_project, scope_paths
from evalc.setup.compile import Subject, needs_of, soundly_compiled, subjects_among
from evalc.setup.flags import RunFlags, modern, refuse_what_is_not_taken, several
from evalc.setup.runner import Running, copied_hash, redactor_of, run
from evalc.setup.selection import EVERY_CASE, is_case_id, known_of, path_of, pinned, selection_from, selection_of

if TYPE_CHECKING:
    from evalc.runtime.run.again_merge import Part
    from evalc.runtime.store.journal import Header
    from evalc.setup.finished import Run
    from evalc.tools import ToolRegistry


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
    is_judged: bool = True  # whether a judge that is named is asked anything
    is_played: bool = True  # whether a case has a simulated user
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
    all_suites = [_with_what_it_copies(suite, settings) for suite in compilation.suites]
    known = known_of(selection, compilation.suites, settings)
    if selection.failed_from is not None and known.failed is None:
        selection = msgspec.structs.replace(selection, none_failed=True)
    try:
        suites = select_cases(all_suites, selection, known)
    except UsageError as error:  # it quotes what chooses, which may hold a secret
        raise type(error)(redactor_of(settings, os.environ).redact(str(error))) from None
    needs = needs_of(compilation.suites)
    judged = _first(suites, may_be_judged) if needs.may_be_judged else None
    played = _first(suites, has_a_user) if needs.user else None
    return ToRun(
        suites=suites,
        problems=compilation.problems,
        tools=compilation.tools,
        selected=selected_of(suites, all_suites, selection),
        selection=selection,
        inventory=compilation.inventory,
        notes=known.notes,
        functions=_brought_by(compilation.suites),
        needs_judge=_first(suites, _needs_judge) if needs.judge and not settings.judge.use else None,
        needs_user=None if settings.user else played,
        # All shards of a run have the same judges and the same player, whichever of their cases ask them.
        is_judged=needs.may_be_judged if selection.shard else judged is not None,
        is_played=needs.user if selection.shard else played is not None,
        asks_language=needs.language and _first(suites, partial(_asks, predicate="language")) is not None,
    )


def _with_what_it_copies(suite: CompiledSuite, settings: Settings) -> Suite:
    """The suite as it is run, with the hash of what its cases give to agents."""
    return msgspec.structs.replace(suite.to_suite(), copied_hash=copied_hash(suite.copied(), settings))


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


def _needs_judge(case: Case) -> bool:
    return bool(case.rubric) or _asks(case, "judge")


def may_be_judged(case: Case) -> bool:
    """Whether a judge is asked if there is one: for criteria too, and for `expected` that stands by itself."""
    by_itself = bool(case.expected) and not assertions(case.expect)
    return by_itself or bool(case.criteria) or _needs_judge(case)


def has_a_user(case: Case) -> bool:
    """Whether somebody has to play its user."""
    return case.input.user is not None


def _asks(case: Case, predicate: str) -> bool:
    return any(asks(assertion.check, predicate) for assertion in assertions(case.expect))


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
    return tuple(dict.fromkeys(_named_on_disk(suite.origin) for suite in header.suites))


def _named_on_disk(origin: str) -> str:
    """The file that a journal names: JSON cannot hold a name that is not UTF-8, and has U+FFFD in places."""
    path = Path(origin)
    if "\ufffd" not in path.name:
        return origin
    try:
        like = [each for each in path.parent.iterdir() if well_formed(each.name) == path.name]
    except OSError:
        return origin
    return str(like[0]) if len(like) == 1 else origin


def to_merge(parts: Sequence[Part], settings: Settings) -> ToRun:
    """Compile the files that the parts are of, and choose the cases that they all were chosen from."""
    whole = msgspec.structs.replace(parts[0].selection, shard=None)
    for part in parts:
        if msgspec.structs.replace(part.selection, shard=None) != whole:
            raise UsageError(f"{part.name} and {parts[0].name} are parts of different choices of cases")
    header = parts[0].header
    return to_run(origins_of(header), settings, header.flags.get("prompt_id"), whole)


# --- how a run begins ------------------------------------------------------------------------------------------------

_NOT_KEPT: Final = frozenset({"output_dir", "otel", "snapshot"})
"""The flags that a resumed run does not take from its journal: where it is found says the folder of results, the
journal itself has the snapshot, and no journal decides who is sent the results."""
_HARMLESS: Final = frozenset({"demo", *PROVIDERS})
"""The kinds of agents that run no code of this machine; a URL is not harmless, since it is sent configured headers."""


@final
class Start(msgspec.Struct, frozen=True, kw_only=True):
    """How a run begins."""

    request: RunRequest  # what was asked for
    run_id: str
    settings: Settings
    subjects: Sequence[Subject]  # what is run
    # those of the command line that a resumed run needs again
    flags: Mapping[str, Any] = msgspec.field(default_factory=dict)
    command: str  # the command that resumes the run; empty if it is not saved
    selection: CaseFilter = EVERY_CASE  # which cases are run, by names that stay
    temporary: TemporaryFolder | None = None  # where the results go of a run that is not saved

    @property
    def folder(self) -> Path:
        """Where the results go."""
        past = self.request.past
        return self.settings.results_folder / self.run_id if past is None else past.folder

    @property
    def has_begun(self) -> bool:
        """Whether there is something to resume."""
        return (self.folder / FILE_NAME).exists()


def compiled_run(start: Start, observer: Observer = NOBODY, outputs: Sequence[Path] = ()) -> Running:
    """Compile what is run; what is returned runs it. None of the `outputs` may overwrite what is read."""
    made = announce(start.folder) if start.temporary is None else ()
    with withdrawn_if_refused(made):
        what = to_run(start.subjects, start.settings, start.request.prompt_id, start.selection, outputs)

    async def running() -> Run:
        with withdrawn_if_refused(made):
            return await run(what, start, observer)

    return running


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
    save: bool | None = True  # whether the results stay; None for what is run and the settings to decide
    retry_errors: bool = False  # whether its cases that ended in error are run again

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
        is_saved = self._is_saved(settings)
        if not is_saved:
            settings = settings.replace(judge=settings.judge.replace(cache=False))  # which is a file in the project
        if not self.paths and self.prompt_id is not None and settings.prompts is not None:
            subjects = (*subjects, str(settings.prompts))  # where the prompt's own evals are
        run_id = new_run_id(settings.results_folder) if self.past is None else self.past.run_id
        return Start(
            request=self,
            run_id=run_id,
            settings=settings,
            subjects=subjects,
            flags=self._kept(selection, settings, subjects),
            command=self._command(run_id if self.past is None else self.past.folder.name) if is_saved else "",
            selection=selection,
            temporary=None if is_saved else TemporaryFolder(),
        )

    def _is_saved(self, settings: Settings) -> bool:
        """Whether the results stay: those of files do, those of objects alone where somebody has asked for it."""
        if self.save is None:
            return self.past is not None or settings.output_dir is not None or not _are_objects(self.paths)
        if not self.save and (self.past is not None or self.flags.get("output_dir") is not None):
            raise UsageError("`save=False` keeps no results: leave it out beside `output_dir` and `resume`")
        return self.save

    def _command(self, run: str) -> str:
        where = (("--config", self.config), ("--output-dir", self.flags.get("output_dir")))
        said = (word for flag, value in where if value for word in (flag, shown_path(Path(value))))
        return shlex.join(["evalc", "run", "--resume", run, *said])

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


def _are_objects(subjects: Sequence[Subject]) -> bool:
    """Whether all that is run was made in Python, and no file is named."""
    return bool(subjects) and all(isinstance(each, Source) for each in subjects)


def resumed(given: RunRequest, name: str) -> RunRequest:
    """The request that the run called `name` began with, and over it the flags given now."""
    # Only the configuration may say where runs are.
    where = {"output_dir": given.flags.get("output_dir")}
    results = settings_with(given.config, where).sound().results_folder
    past = find_run(name, results, to_resume=True)
    if past.header is None:
        if not given.paths:
            raise UsageError(
                f"the journal of the run `{past.run_id}` holds nothing yet: name what to run, "
                f"as in `evalc run PATH --resume {name if steps_back(name) is None else past.run_id}`"
            )
        return msgspec.structs.replace(given, past=past)
    refuse_rescored(past.header)
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
    origins = ["-" if origin == "<stdin>" else origin for origin in origins_of(past.header)]
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
    return all(kind_of(str(spec)) in _HARMLESS for spec in listed)


def _spec_of(given: object, brought: dict[str, object]) -> str:
    """The spec of a judge, a user or a snapshot: a text is one, and an object that is brought gets one by its name."""
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
    for name in ("judge", "user", "snapshot"):
        if said.get(name) is not None:
            specs = [_spec_of(each, brought) for each in several(said[name])]
            said[name] = specs[0] if name != "judge" and len(specs) == 1 else specs
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
        save=said.get("save"),
        retry_errors=bool(said.get("retry_errors")),
    )
    past = said.get("resume")
    if past is not None:
        return resumed(given, past)
    if given.retry_errors:
        raise UsageError("`--retry-errors` runs the cases of an earlier run again: name it with `--resume RUN`")
    return given
