"""Decides how a run begins: as flags or a call say, or as the run that is resumed did."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import UnionType
from typing import Any, Final, Literal, Union, final, get_args, get_origin, get_type_hints

import msgspec

from evalc.base.errors import UsageError
from evalc.base.files import find_project
from evalc.base.installed import PROVIDERS
from evalc.base.source import Source
from evalc.config.load import settings_with, with_env_file
from evalc.config.settings import KEY_OF_FLAG, Settings
from evalc.runtime.agents import Agent
from evalc.runtime.run.run import Observer
from evalc.runtime.store.resume import PastRun, find_run
from evalc.runtime.store.runs import new_run_id
from evalc.runtime.store.scope import CaseFilter, Configured, in_project, scope_paths
from evalc.setup.choice import EVERY_CASE, is_case_id, path_of, pinned, selection_from, selection_of, to_run
from evalc.setup.compile import Subject, subjects_among, type_of
from evalc.setup.flags import RunFlags, modern, several
from evalc.setup.runner import Running, run

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
    config: str | None = None  # the configuration file, in place of the nearest one upwards
    prompt_id: str | None = None  # the prompt whose suites alone are run
    record: str | None = None  # where what is sent and answered is recorded
    env_file: str | None = None  # the file of variables that the environment does not set
    selection: CaseFilter = EVERY_CASE  # the cases that are run, by names that may mean others tomorrow
    max_fail: int | None = None  # after so many cases that did not pass the run stops
    past: PastRun | None = None  # the run that is resumed

    def settings(self) -> Settings:
        """The settings of the run, with the variables of the `env_file` in the environment."""
        settings = settings_with(self.config, self.flags).sound()
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
    """The request that the run called `name` began with, and over it the flags given now.

    Raises:
        SourceError: the configuration has errors.
        UsageError: the run does not exist, or something has to be given again.
    """
    # Only the configuration may say where runs are.
    where = {"output_dir": given.flags.get("output_dir")}
    results = settings_with(given.config, where).sound().results_folder
    past = find_run(name, results)
    ours = past.folder.resolve().parent == results.resolve()
    return msgspec.structs.replace(_merged(given, past, ours=ours), past=past)


def _merged(given: RunRequest, past: PastRun, *, ours: bool) -> RunRequest:
    """The request that the run began with, and over it the flags given now.

    Args:
        given: what is given now.
        past: the run.
        ours: whether it lies among the project's own runs. The journal of any other may come from anyone: it may not
            say what code is run, who is sent credentials, and which files are read or written.

    Raises:
        UsageError: something has to be given again.
    """
    if past.header is None:
        if not given.paths:
            raise UsageError(
                f"the journal of the run `{past.run_id}` holds nothing yet: name what to run, "
                f"as in `evalc run PATH --resume {past.run_id}`"
            )
        return given
    if given.selection != EVERY_CASE:
        raise UsageError("`--resume` runs the cases that the run was begun with: leave out what chooses others")
    said = {name: value for name, value in modern(past.header.flags).items() if name not in _NOT_KEPT}
    now = _said(given.flags)
    if given.agents:
        said["agent"], now["agent"] = None, now.get("agent")
    if said.get("agent", "") is None and "agent" not in now:
        raise UsageError("the value of `--agent` is not in the journal, since it may hold secrets: give it again")
    if not ours:
        _refuse_what_a_stranger_may_say(given, said, now)
    origins = dict.fromkeys("-" if suite.origin == "<stdin>" else suite.origin for suite in past.header.suites)
    config, prompt_id, record, env_file, selection = (
        said.pop(name, None) for name in ("config", "prompt_id", "record", "env_file", "wanted")
    )
    return RunRequest(
        flags={name: now.get(name, said.get(name)) for name in given.flags},
        paths=given.paths or tuple(origins),
        config=given.config or config,
        prompt_id=given.prompt_id or prompt_id,
        record=given.record or record,
        env_file=given.env_file or env_file,
        agents=given.agents,
        selection=selection_from(selection or {}),
        max_fail=given.max_fail,
    )


def _said(flags: Mapping[str, Any]) -> dict[str, Any]:
    """Those that are given; 0 is a value."""
    return {name: value for name, value in flags.items() if value is not None and value is not False}


def _refuse_what_a_stranger_may_say(given: RunRequest, said: Mapping[str, Any], now: Mapping[str, Any]) -> None:
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


def given_by(subject: Subject | Iterable[Subject] | None, flags: RunFlags) -> RunRequest:
    """The request of a call.

    Raises:
        TypeError: a flag is unknown, or has a value that it does not take.
        SourceError: the configuration has errors.
        UsageError: nothing is named, the flags do not go together, or the run to resume is not there.
    """
    _refuse_what_is_not_taken(flags)
    said = modern({name: str(value) if isinstance(value, Path) else value for name, value in flags.items()})
    subjects = () if subject is None else subjects_among(subject)
    if subject is not None and not subjects:
        raise UsageError("the list of what is to be run is empty: leave it out for what the configuration names")
    agents = several(said.get("agent"))
    if said.get("agent") is not None and not agents:
        raise UsageError("the list of agents is empty: leave it out for what the configuration names")
    said["agent"] = [agent for agent in agents if isinstance(agent, str)] or None
    given = RunRequest(
        flags={name: said.get(name) for name in (flag.removeprefix("--").replace("-", "_") for flag in KEY_OF_FLAG)},
        paths=[
            path_of(each) if isinstance(each, str) else each
            for each in subjects
            if not (isinstance(each, str) and is_case_id(each))
        ],
        agents=agents,
        config=said.get("config"),
        prompt_id=said.get("prompt_id"),
        record=said.get("record"),
        env_file=said.get("env_file"),
        selection=selection_of([each for each in subjects if isinstance(each, str)], said),
        max_fail=said.get("maxfail"),
    )
    past = said.get("resume")
    return given if past is None else resumed(given, past)


def _refuse_what_is_not_taken(flags: RunFlags) -> None:
    """Reject unknown flags, and values of other types than that `RunFlags` declares."""
    declared = get_type_hints(RunFlags, localns={"Agent": Agent})
    for name, value in flags.items():
        if name not in declared:
            raise TypeError(f"`evalc.run` got an unexpected keyword argument `{name}`")
        if value is not None and not _is_of(declared[name], value):
            taken = RunFlags.__annotations__[name].__forward_arg__
            raise TypeError(f"`{name}` of `evalc.run` takes `{taken}`, not `{type_of(value)}`")


def _is_of(declared: Any, value: Any) -> bool:
    """Whether a value is of a declared type.

    Texts that a `Literal` lacks and objects that are not agents are accepted here, and reported where they are used.
    """
    parts = get_args(declared)
    match get_origin(declared):
        case origin if origin in {Union, UnionType}:
            return any(_is_of(part, value) for part in parts)
        case origin if origin is Literal:
            return isinstance(value, tuple(map(type, parts)))
        case origin if origin is Sequence:
            listed = isinstance(value, Sequence) and not isinstance(value, str | bytes)
            return listed and all(_is_of(parts[0], each) for each in value)
        case _ if declared is Agent:
            return True
        case _ if declared in {int, float}:
            return isinstance(value, int | declared) and not isinstance(value, bool)
        case _:
            return isinstance(value, declared)
