"""Finds the run to resume, and says why one run cannot continue as another."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final, final

import msgspec

from evalc.base.errors import UsageError
from evalc.model.suite import KnownSuites, key_of
from evalc.runtime.store.journal import FILE_NAME, Asked, Header, JournaledSuite, read_header
from evalc.runtime.store.runs import find_folder, steps_back

_DECIDING: Final = {
    "timeoutMs": "`--timeout` in milliseconds",
    "allAssertions": "`--all-assertions`",
    "judges": "`--judge`",
    "judgements": "the number of judgements of each question",
    "user": "`--user`",
    "rubricsAlways": '`rubrics = "always"` of judges',
    "similarity": "`similarity`",
}
"""The options that change verdicts, and how a message calls them; data are compared by their hashes."""

_HASHED: Final = {"seedHash": "the seed manifest", "snapshotHash": "the snapshot"}


@final
class PastRun(msgspec.Struct, frozen=True, kw_only=True):
    """A run that has a journal. `header` is None if the run was ended before it was written, and nothing was run."""

    folder: Path
    header: Header | None

    @property
    def run_id(self) -> str:
        """The run's id."""
        return self.folder.name if self.header is None else self.header.run_id


def find_run(name: str, output_dir: Path) -> PastRun:
    """The run called `name`, as `find_folder` knows it, that has a journal.

    Raises:
        UsageError: there is no such run, or its journal cannot be read.
    """
    folder = find_folder(name, output_dir, lambda path: (path / FILE_NAME).is_file())
    if folder is None and steps_back(name) is not None:
        raise UsageError(f"there is no run in `{output_dir}`")
    if folder is None:
        where = f"neither a run in `{output_dir}` nor the folder of a run"
        raise UsageError(f"`{name}` is {where}: it has no `{FILE_NAME}`")
    return PastRun(folder=folder, header=read_header(folder / FILE_NAME))


def refuse_another_run(past: Header, now: Header) -> None:
    """Compare what was run with what would be run.

    Raises:
        UsageError: when the cases that are left would not be run as the others were; it says what has changed.
    """
    if past.rescored_from is not None:
        raise UsageError(f"`{past.run_id}` cannot be resumed: it was made by `evalc rescore {past.rescored_from}`")
    changes = "; ".join(differences(past, now))
    if changes:
        raise UsageError(f"the run `{past.run_id}` cannot be resumed: {changes}")


def differences(past: Header, now: Header) -> Iterator[str]:
    """The differences that keep the cases of one run from standing beside those of the other."""
    known = KnownSuites.named_by(now.suites)
    yield from _changed_suites(_by_name(past, known), _by_name(now, known))
    if past.agent_endpoint != now.agent_endpoint:
        yield f"its agent was `{past.agent_endpoint}`, and not `{now.agent_endpoint}`"
    for key, name in _DECIDING.items():
        before, after = past.options.get(key), now.options.get(key)
        if before != after:
            yield f"{name} was {_shown(before)} and is {_shown(after)} now"
    yield from _asked_otherwise(past.asked, now.asked)
    for key, name in _HASHED.items():
        if past.options.get(key) != now.options.get(key):
            yield f"{name} is another one now"


def _asked_otherwise(past: Asked | None, now: Asked | None) -> Iterator[str]:
    """The settings by which agents, judges or the player are asked in another way."""
    if past is None or now is None:  # which `not_compared` says
        return
    for name in dict.fromkeys((*past, *now)):
        before, after = past.get(name), now.get(name)
        if before == after:
            continue
        key = re.sub("[A-Z]", lambda capital: f"_{capital[0].lower()}", name)  # as the configuration spells it
        shown = f"`{key.removesuffix('_ms')}`{' in milliseconds' if key.endswith('_ms') else ''}"
        if any(isinstance(value, dict) for value in (before, after)):
            yield f"{shown} is another one now"
        else:
            yield f"{shown} was {_shown(before)} and is {_shown(after)} now"


def not_compared(headers: Iterable[Header]) -> tuple[str, ...]:
    """The warning that a run of an earlier evalc does not say how it was asked, which could not be compared."""
    silent = [header.run_id for header in headers if header.asked is None]
    if not silent:
        return ()
    runs = ", ".join(f"`{run_id}`" for run_id in silent)
    unknown = f"an earlier evalc began the run {runs} and did not keep how the agent was asked: whether"
    return (f"{unknown} `body`, `response`, the model's settings or headers have changed could not be compared",)


def _by_name(header: Header, known: KnownSuites) -> Mapping[str, JournaledSuite]:
    keys = [(known.key_of(suite) or key_of(suite), suite) for suite in header.suites]
    return {f"`{key.name}` ({key.tier})": suite for key, suite in keys}


def _changed_suites(past: Mapping[str, JournaledSuite], now: Mapping[str, JournaledSuite]) -> Iterator[str]:
    for name, suite in past.items():
        if name not in now:
            yield f"the suite {name} of `{suite.origin}` is not there"
        elif suite.file_hash != now[name].file_hash:
            yield f"the suite {name} of `{suite.origin}` has changed since"
        elif suite.cases != now[name].cases:
            yield f"{suite.cases} cases of the suite {name} were to be run, and not {now[name].cases}"
    for name in now:
        if name not in past:
            yield f"the suite {name} was not part of it"
    if list(past) != list(now) and set(past) == set(now):
        yield "its suites came in another order"


def _shown(value: Any) -> str:
    if value is None or isinstance(value, list):
        return ", ".join(map(str, value or ())) or "not given"
    return str(value).lower() if isinstance(value, bool) else f"{value:g}" if isinstance(value, float) else str(value)
