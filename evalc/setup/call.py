"""Reads the arguments of a call from Python as a command line would state them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from evalc.config.settings import KEY_OF_FLAG
from evalc.errors import UsageError
from evalc.runtime.agents.base import Agent
from evalc.setup.choice import is_case_id, path_of, wanted_cases
from evalc.setup.compile import Subject, subjects_among, type_of
from evalc.setup.run_flags import RunFlags
from evalc.setup.run_request import RunRequest, resumed


def given_by(subject: Subject | Iterable[Subject] | None, flags: RunFlags) -> RunRequest:
    """What a call says of a run.

    Raises:
        TypeError: there is no such flag, or one is given what it does not take.
        SourceError: the configuration has errors.
        UsageError: nothing is named, the flags do not go together, or the run to resume is not there.
    """
    _refuse_what_is_not_taken(flags)
    said: dict[str, Any] = {name: str(value) if isinstance(value, Path) else value for name, value in flags.items()}
    subjects = () if subject is None else subjects_among(subject)
    if subject is not None and not subjects:
        raise UsageError("the list of what is to be run is empty: leave it out for what the configuration names")
    agents = _several(said.get("agent"))
    if said.get("agent") is not None and not agents:
        raise UsageError("the list of agents is empty: leave it out for what the configuration names")
    said["agent"] = [agent for agent in agents if isinstance(agent, str)] or None
    given = RunRequest(
        flags={name: said.get(name) for name in map(_in_python, KEY_OF_FLAG)},
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
        wanted=wanted_cases(
            [each for each in subjects if isinstance(each, str)],
            keywords=said.get("keywords"),
            tags=_several(said.get("tag")),
            not_tags=_several(said.get("not_tag")),
            ids=_several(said.get("filter")),
            tiers=_several(said.get("tier")),
            failed_from=said.get("failed_from"),
            last_failed=said.get("last_failed", False),
            changed_since=said.get("changed_since"),
            repeat=said.get("repeat"),
            shard=said.get("shard"),
            shard_by=said.get("shard_by"),
        ),
    )
    past = said.get("resume")
    return given if past is None else resumed(given, past)


def _refuse_what_is_not_taken(flags: RunFlags) -> None:
    """Refuse flags that there are not, and values that are not of the types that `RunFlags` declares."""
    declared = get_type_hints(RunFlags, localns={"Agent": Agent})
    for name, value in flags.items():
        if name not in declared:
            raise TypeError(f"`evalc.run` got an unexpected keyword argument `{name}`")
        if value is not None and not _is_of(declared[name], value):
            taken = RunFlags.__annotations__[name].__forward_arg__
            raise TypeError(f"`{name}` of `evalc.run` takes `{taken}`, not `{type_of(value)}`")


def _is_of(declared: Any, value: Any) -> bool:
    """Whether a value is of a declared type.

    What is told better where it is used is let through: another text than those of a `Literal`, and what is no agent.
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


def _several(value: Any) -> tuple[Any, ...]:
    """What was said once or several times."""
    if value is None:
        return ()
    return tuple(value) if isinstance(value, Sequence) and not isinstance(value, str | bytes) else (value,)


def _in_python(flag: str) -> str:
    return flag.removeprefix("--").replace("-", "_")
