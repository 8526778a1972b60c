"""Run ids, the folders of earlier runs by their names, and what these hold: results, verdicts, how the run closed.

An id is a UUID of version 7, so that ids sort as the runs began. Wherever a command takes a run, it is named by
`latest`, `latest~N` (the N-th before it), its id, the beginning of an id that no other run has, or the path of its
folder. `RUN/AGENT` names the results of one of several agents.
"""

from __future__ import annotations

import os
import re
import time
import uuid
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from itertools import pairwise
from pathlib import Path
from typing import Any, Final, TypeVar, final

import msgspec
from msgspec.structs import replace

from evalc.base.errors import UsageError
from evalc.base.files import TooLarge, make_folder, read_limited, write_atomic
from evalc.base.terminal import first_of
from evalc.compare.rates import Noise, noise_of_attempts
from evalc.model.json import UNREADABLE, short_hash
from evalc.model.result import PASSING, GateResult, MissingSuite
from evalc.model.suite import KnownSuites, Selected, Suite, SuiteKey, key_of
from evalc.runtime.store.journal import FILE_NAME, Header, read_header
from evalc.runtime.store.redact import Redactor, encoded, redacted
from evalc.runtime.store.scope import Configured, Place

LATEST: Final = "latest"

HOW_RUNS_COME: Final = "`evalc run` makes one, and so does `evalc.run(..., save=True)`"

_LATEST: Final = re.compile(r"latest(?:~([0-9]{1,6}))?")
_SHORTEST_BEGINNING: Final = 4
_MOST_LISTED: Final = 5

Holds = Callable[[Path], bool]
"""Whether a path has the needed part of a run: its results, or its journal."""

_RANDOM_BITS: Final = 74
_ID: Final = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}")
_END_OF_TIME: Final = 250_000_000_000
"""The year 9892, in seconds since 1970."""


def steps_back(name: str) -> int | None:
    """How many runs before the latest are meant: 0 for `latest`, N for `latest~N`; None for any other name."""
    found = _LATEST.fullmatch(name)
    return None if found is None else int(found[1] or 0)


def find_folder(name: str, output_dir: Path, holds: Holds) -> Path | None:
    """The folder (or where `holds` allows it the file) of the run called `name`; None if there is none."""
    if not name:
        raise UsageError(f"an empty text names no run; the newest is `{LATEST}`")
    back = steps_back(name)
    if back is not None:
        return _newest(back, output_dir, holds)
    named = (output_dir / name, Path(name)) if Path(name).name == name else (Path(name),)
    found = next((path for path in named if _holds(path, holds)), None)
    return found or _of_agent(name, output_dir, holds) or _beginning_with(name, output_dir, holds)


def _of_agent(name: str, output_dir: Path, holds: Holds) -> Path | None:
    """The folder of an agent of a run, which is named as its folder is, or as results call it."""
    run, _, agent = name.partition("/")
    folder = find_folder(run, output_dir, has_results) if run and agent else None
    header = None if folder is None else header_beside(folder)
    if folder is None or header is None or not header.agents:
        return None
    for called, own in agent_folders(header.agents).items():
        if agent in (called, own):
            return folder / own if _holds(folder / own, holds) else None
    there = first_of(header.agents, _MOST_LISTED, "`{}`".format)
    raise UsageError(f"the run `{folder.name}` has no agent `{agent}`: its agents are {there}")


def names_of(output_dir: Path) -> Mapping[str, str]:
    """The names by which commands take the runs with results, by their folders: `latest`, `latest~1` and so on."""
    folders = sorted(run_folders(output_dir, has_results), key=age, reverse=True)
    return {folder.name: f"{LATEST}~{back}" if back else LATEST for back, folder in enumerate(folders)}


def _newest(back: int, output_dir: Path, holds: Holds) -> Path | None:
    folders = sorted(run_folders(output_dir, holds), key=age, reverse=True)
    if folders and back >= len(folders):
        there = "is only one run" if len(folders) == 1 else f"are only {len(folders)} runs"
        raise UsageError(f"there {there} in `{output_dir}`, so none is `{LATEST}~{back}`")
    return folders[back] if folders else None


def _beginning_with(name: str, output_dir: Path, holds: Holds) -> Path | None:
    if len(name) < _SHORTEST_BEGINNING:
        return None
    found = sorted(folder for folder in _folders(output_dir) if folder.name.startswith(name) and _holds(folder, holds))
    if len(found) > 1:
        named = first_of(found, _MOST_LISTED, lambda folder: f"`{folder.name}`")
        raise UsageError(f"{len(found)} runs begin with `{name}`: {named}")
    return found[0] if found else None


def unless_saved(name: str) -> str:
    """The end of the message that a run is not found: one of a suite in Python, if an id names it, may not be saved."""
    return "; a run of a suite in Python is only kept with `save=True`" if _ID.fullmatch(name) else ""


def run_folders(output_dir: Path, holds: Holds) -> list[Path]:
    """The folders of the runs in the output folder, in no order."""
    return [folder for folder in _folders(output_dir) if _holds(folder, holds)]


def _folders(output_dir: Path) -> Iterator[Path]:
    try:
        yield from (folder for folder in output_dir.iterdir() if folder.is_dir())
    except OSError:
        return


def _holds(path: Path, holds: Holds) -> bool:
    try:
        return holds(path)
    except (OSError, ValueError):  # a name that is too long or holds NUL, a folder that may not be read
        return False


def result_files(folder: Path) -> list[Path]:
    """The files of a run's folder that may be results: beside its journal, folders of agents hold them, too."""
    patterns = ("*.json", "*/*.json") if (folder / FILE_NAME).is_file() else ("*.json",)
    return sorted(file for pattern in patterns for file in folder.glob(pattern) if file.is_file())


def has_results(folder: Path) -> bool:
    """Whether the run of the folder ended."""
    return bool(result_files(folder))


def unfinished_since(output_dir: Path, newest: Path | None) -> list[Path]:
    """The runs that have a journal and no results, the newest first; of those, what began after `newest`, if given."""
    oldest = None if newest is None else age(newest)

    def is_meant(folder: Path) -> bool:
        is_later = oldest is None or age(folder) > oldest
        return is_later and (folder / FILE_NAME).is_file() and not has_results(folder)

    return sorted(run_folders(output_dir, is_meant), key=age, reverse=True)


def age(folder: Path) -> tuple[float, str]:
    """When a run's folder began, and its name: what comes later is greater."""
    began = began_at(folder.name)
    return (folder.stat().st_mtime if began is None else began, folder.name)


def announce(folder: Path) -> Sequence[Path]:
    """Make the folder of a run before anything else, so that it is the latest run whenever it is killed.

    These are the folders that were made. If it cannot be made, the run says so when it makes its journal.
    """
    made = [path for path in (folder, *folder.parents) if not path.exists()]
    with suppress(OSError):
        make_folder(folder)
    return made


@contextmanager
def withdrawn_if_refused(folders: Sequence[Path]) -> Iterator[None]:
    """Remove the folders of a run that is refused before it has begun."""
    try:
        yield
    except Exception:
        for folder in folders:
            with suppress(OSError):  # it has begun, so that they are not empty
                folder.rmdir()
        raise


def is_announced(folder: Path) -> bool:
    """Whether a folder is that of a run, and nothing more of the run is there."""
    return _ID.fullmatch(folder.name) is not None and folder.is_dir() and not any(folder.iterdir())


# --- ids -------------------------------------------------------------------------------------------------------------


def new_run_id(output_dir: Path | None = None) -> str:
    """An id for a run that begins now (RFC 9562, 5.7), and sorts after those in the output folder.

    A run that was made while the clock was ahead is not the latest until real time has caught up: what begins later
    sorts later.
    """
    milliseconds = max(time.time_ns() // 1_000_000, _last_in(output_dir) + 1)
    noise = int.from_bytes(os.urandom(10), "big") >> (80 - _RANDOM_BITS)
    return str(uuid.UUID(int=milliseconds << 80 | 0x7 << 76 | (noise >> 62) << 64 | 0b10 << 62 | noise & (1 << 62) - 1))


def _last_in(output_dir: Path | None) -> int:
    """The latest time in the ids of a folder's runs, in milliseconds since 1970, as far as a calendar has it."""
    try:
        names = [] if output_dir is None else [folder.name for folder in output_dir.iterdir()]
    except OSError:  # it is not there yet, or cannot be read, which is reported where it is written to
        return 0
    # Ids sort as their times do, so that only the last that is one needs to be read.
    for name in sorted(names, reverse=True):
        if _ID.fullmatch(name) and (began := began_at(name)) is not None and began < _END_OF_TIME:
            return round(began * 1000)
    return 0


def began_at(run_id: str) -> float | None:
    """The time in the id, in seconds since 1970; None if it is no UUID of version 7."""
    try:
        parsed = uuid.UUID(run_id)
    except ValueError:
        return None
    return (parsed.int >> 80) / 1000 if parsed.version == 7 else None


# --- how a run closed ------------------------------------------------------------------------------------------------

CLOSING_FILE: Final = "closing.jsonl"
"""Its suffix distinguishes it from results, which any runner may read."""


_LARGEST_CLOSING: Final = 16_000_000


class Closing(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """The facts about a run that its result files lack.

    `gates` are those of the run as a whole, `below` the suites whose score does not meet their threshold, `selected`
    which of all cases were chosen, `missing` the suites of the baseline that it should have had, `warnings` those that
    belong to no suite, `exit_code` how the run ended, None where that is not known.
    """

    exit_code: int | None = None
    gates: tuple[GateResult, ...] = ()
    below: tuple[str, ...] = ()
    selected: Selected | None = None
    missing: tuple[MissingSuite, ...] = ()
    warnings: tuple[str, ...] = ()


def write_closing(folder: Path, closing: Closing, redactor: Redactor) -> str | None:
    """Write the file, if there is anything to say. A run never fails by that: the answer is a warning."""
    file = folder / CLOSING_FILE
    try:
        if closing == Closing():
            file.unlink(missing_ok=True)  # a run that is resumed may have had more to say
        else:
            _, written = redacted(closing, encoded(closing), redactor)
            write_atomic(file, written + b"\n")
    except OSError as error:
        return f"`evalc show` will not know the gates and warnings of the run: {error.strerror}"
    return None


def read_closing(folder: Path) -> tuple[Closing, tuple[str, ...]]:
    """The closing of the run of a folder, empty if it has no file; a warning if that cannot be read."""
    file = folder / CLOSING_FILE
    try:
        if not file.is_file():  # a named pipe would be waited for
            return Closing(), ()
        return msgspec.json.decode(read_limited(file, _LARGEST_CLOSING), type=Closing), ()
    except OSError as error:
        return Closing(), (f"`{file}` cannot be read: {error.strerror}",)
    except UNREADABLE as error:
        return Closing(), (f"`{file}` is not what a run said at its end: {error}",)


# --- results ---------------------------------------------------------------------------------------------------------

LARGEST: Final = 4_000_000_000
"""The bytes of a result file that is read."""

T = TypeVar("T")
Record = TypeVar("Record", bound=msgspec.Struct)


@final
class PastResults(msgspec.Struct, frozen=True, kw_only=True):
    """The result files of a run."""

    name: str  # what the run is called
    folder: Path  # where the files are
    files: tuple[Path, ...]  # all of them, or the named one
    is_part: bool = False  # whether a file was named


def find_results(name: str, output_dir: Path) -> PastResults:
    """The results of the run called `name`, which may be the path of a single result file, too.

    Raises:
        UsageError: there is no such run, or it has no results.
    """
    path = find_folder(name, output_dir, lambda path: path.is_file() or bool(result_files(path)))
    if path is None and name == LATEST:
        raise UsageError(f"there is no run with results in `{output_dir}` yet: {HOW_RUNS_COME}")
    if path is None:
        raise UsageError(
            f"`{name}` is neither a run with results in `{output_dir}` nor a result file or folder{unless_saved(name)}"
        )
    if path.is_file():
        return PastResults(name=_called(path), folder=path.parent, files=(path,), is_part=True)
    return PastResults(name=_called(path), folder=path, files=tuple(result_files(path)))


def _called(path: Path) -> str:
    """The name of a run's folder; of an agent's folder within it, or of a result file, the run's and its own."""
    own = path.resolve()
    run = next((folder for folder in own.parents[:2] if (folder / FILE_NAME).is_file()), None)
    return own.name if run is None or (own / FILE_NAME).exists() else own.relative_to(run.parent).as_posix()


def header_beside(folder: Path) -> Header | None:
    """The header of the run whose results a folder holds, those of all agents or of one.

    None if it has no journal that can be read, as the runs of other runners.
    """
    try:
        return (
            read_header(folder / FILE_NAME) if (folder / FILE_NAME).exists() else read_header(folder.parent / FILE_NAME)
        )
    except UsageError:
        return None


def places_in(header: Header | None) -> Mapping[SuiteKey, Place]:
    """Where the suites of a run were found, as its journal says."""
    if header is None:
        return {}
    try:
        configured = Configured.of(header.flags)
    except msgspec.ValidationError:
        configured = Configured()
    places = ((key_of(suite), Place(suite.file, suite.also, (configured.file,))) for suite in header.suites)
    return {key: place if configured.finds(place) else replace(place, configs=()) for key, place in places}


def results_before(later: PastResults, output_dir: Path) -> PastResults:
    """The results of the run before another one: of those that began earlier, the newest with most of its suites."""
    suites = {name for file in later.files for name in _names_of(file)}
    at = later.folder.resolve()
    shared = {
        folder: len(suites & {file.name for file in result_files(folder)})
        for folder in run_folders(output_dir, has_results)
        if age(folder) < age(later.folder) and not at.is_relative_to(folder.resolve())
    }
    found = max(filter(shared.get, shared), key=lambda folder: (shared[folder], age(folder)), default=None)
    if found is None:
        raise UsageError(f"no run in `{output_dir}` that began before `{later.name}` has any of its suites")
    return find_results(str(found), output_dir)


def _names_of(file: Path) -> Iterator[str]:
    """The name of a result's file, and those that it may have in other runs."""
    yield file.name
    with suppress(UsageError):
        result = read_result(file, PastResult)
        yield from possible_names(key_of(result), result.tool_name)


def read_results(results: PastResults, kind: type[Record], warnings: list[str]) -> Iterator[Record]:
    """The results one after the other; a file that is not a result adds a warning.

    Raises:
        UsageError: none of the files is a result.
    """
    return each_result(results, lambda file: read_result(file, kind), warnings)


def each_result(results: PastResults, read: Callable[[Path], T], warnings: list[str]) -> Iterator[T]:
    """The value of `read` for each file; a file that is not a result adds a warning.

    Raises:
        UsageError: none of the files is a result.
    """
    failures = 0
    for file in results.files:
        try:
            yield read(file)
        except UsageError as error:
            failures += 1
            if failures == len(results.files):
                raise
            warnings.append(str(error))


def read_result(file: Path, kind: type[Record], *, what: str = "file") -> Record:
    """Read as much of an EvalSuiteResult as `kind` has fields for; `what` is what messages call the file.

    Raises:
        UsageError: it cannot be read, is too large, or is not such a result.
    """
    if not file.is_file():  # a named pipe would be waited for, and a device may have no end
        raise UsageError(f"the {what} `{file}` is neither a file nor a folder")
    try:
        return msgspec.json.decode(read_limited(file, LARGEST), type=kind)
    except TooLarge:
        raise UsageError(f"the {what} `{file}` is larger than {LARGEST // 1_000_000_000} GB") from None
    except OSError as error:
        raise UsageError(f"the {what} `{file}` cannot be read: {error.strerror}") from error
    except UNREADABLE as error:
        raise no_result(file, error, what=what) from error


def no_result(file: Path, error: BaseException, *, what: str = "file") -> UsageError:
    """The error for a file that is not a result, or is damaged."""
    return UsageError(f"the {what} `{file}` is not a suite result: {error}")


# --- earlier verdicts ------------------------------------------------------------------------------------------------

_MOST_RUNS: Final = 10
"""How many of the newest runs are looked at."""


class _Past(msgspec.Struct, frozen=True, rename="camel"):
    pass


class _Attempt(_Past, frozen=True):
    status: str


class PastCase(_Past, frozen=True):
    """A case of an earlier run, as far as its verdict goes."""

    id: str
    passed: bool
    status: str | None = None
    case_hash: str | None = None
    duration_ms: float = 0.0
    attempts: tuple[_Attempt, ...] = ()
    not_attempted: int = 0


class PastResult(_Past, frozen=True):
    """A suite of an earlier run, of any runner, as far as its verdicts go."""

    tool_name: str
    tier: str
    cases: tuple[PastCase, ...]
    suite: str | None = None
    run_id: str | None = None
    agent_endpoint: str | None = None
    selected: Any = None
    stopped: str | None = None
    rescored_from: str | None = None

    def measured(self, *, single: bool) -> Mapping[str, PastCase]:
        """The cases that did not end in error, by their ids: those with a single attempt, or those with several."""
        return {case.id: case for case in self.cases if case.status != "error" and single is not bool(case.attempts)}

    @property
    def is_fair(self) -> bool:
        """Whether its cases were not chosen by how they end, and its answers are of its own."""
        return not (self.selected or self.stopped or self.rescored_from)


def earlier_verdicts(output_dir: Path, known: KnownSuites) -> Mapping[SuiteKey, Sequence[PastResult]]:
    """By suite, the suites of the newest runs that ran whole, the newest first."""
    newest = sorted(run_folders(output_dir, has_results), key=age, reverse=True)[:_MOST_RUNS]
    found: dict[SuiteKey, list[PastResult]] = {}
    for file in (file for folder in newest for file in result_files(folder)):
        try:
            suite = read_result(file, PastResult)
        except UsageError:  # a plan is good without it
            continue
        key = known.key_of(suite)
        if suite.is_fair and key is not None:
            found.setdefault(key, []).append(suite)
    return found


def of_attempts(suite: PastResult) -> Noise | None:
    """The noise of the attempts at a suite's cases; None of too few, and where attempts were left out."""
    if any(case.not_attempted for case in suite.cases):
        return None
    measured = ([a.status in PASSING for a in case.attempts if a.status != "error"] for case in suite.cases)
    return noise_of_attempts((len(passed), sum(passed)) for passed in measured)


def pairs_of(runs: Sequence[PastResult], *, single: bool) -> Iterator[tuple[bool, bool]]:
    """The verdicts of the same cases in two runs of an agent, one after the other; `single` are of one attempt."""
    for agent in dict.fromkeys(run.agent_endpoint for run in runs):
        of_agent = [run.measured(single=single) for run in runs if run.agent_endpoint == agent]
        for after, before in pairwise(of_agent):
            for name, case in after.items():
                then = before.get(name)
                if then is not None and then.case_hash == case.case_hash:
                    yield then.passed, case.passed


# --- names of result files -------------------------------------------------------------------------------------------

_LONGEST_SLUG: Final = 100


def file_names(suites: Sequence[Suite]) -> list[str]:
    """`<suite>.<tier>.json` for each suite; suites whose names have the same slug are identified by a hash.

    In a run of several agents each has a folder: `<agent>/<suite>.<tier>.json`.
    """
    folders = agent_folders([suite.agent for suite in suites if suite.agent is not None])
    plain = plain_names(dict.fromkeys(suite.key for suite in suites))
    names = [plain[suite.key] for suite in suites]
    return [
        name if suite.agent is None else f"{folders[suite.agent]}/{name}"
        for name, suite in zip(names, suites, strict=True)
    ]


def agent_folders(agents: Iterable[str]) -> Mapping[str, str]:
    """The name of each agent's folder; agents whose names have the same slug are identified by a hash."""
    slugs = {agent: _slug(agent, "agent") for agent in agents}
    taken = Counter(slug.casefold() for slug in slugs.values())
    return {
        agent: slug if taken[slug.casefold()] == 1 else f"{slug}-{short_hash(agent)}" for agent, slug in slugs.items()
    }


def plain_names(keys: Collection[SuiteKey]) -> Mapping[SuiteKey, str]:
    """The names of the files of different suites."""
    plain = [_name(key) for key in keys]
    taken = Counter(name.casefold() for name in plain)
    return {
        key: name if taken[name.casefold()] == 1 else _name_with_hash(key)
        for name, key in zip(plain, keys, strict=True)
    }


def possible_names(key: SuiteKey, tool_name: str) -> Collection[str]:
    """The names that files of a suite's results may have, whatever other suites were in the run.

    Earlier versions named them for the tool.
    """
    keys = (key, SuiteKey(tool_name, key.tier))
    return {*map(_name, keys), *map(_name_with_hash, keys)}


def _name(key: SuiteKey) -> str:
    return f"{_slug(key.name, 'suite')}.{_slug(key.tier, 'tier')}.json"


def _name_with_hash(key: SuiteKey) -> str:
    return f"{_slug(key.name, 'suite')}-{short_hash(key.name)}.{_slug(key.tier, 'tier')}.json"


def _slug(name: str, what: str) -> str:
    slug = re.sub(r"[^A-Za-z0-9]+", "-", name).strip("-")[:_LONGEST_SLUG]
    return slug or f"{what}-{short_hash(name)}"
