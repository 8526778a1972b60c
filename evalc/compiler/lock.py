"""Compares regression cases, and the gates of their suites, with `evalc.lock`, and names what has changed."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, Final, NamedTuple, final

import msgspec

from evalc.base.files import is_named, write_atomic
from evalc.base.source import Source, Span
from evalc.compiler import ir
from evalc.compiler.compiled import CompiledSuite
from evalc.compiler.lower import lower
from evalc.diagnostics import Diagnostics, Finding
from evalc.dsl.read_toml import NotValid, decode, locate
from evalc.dsl.sources import read_source

_LONGEST: Final = 160
"""Texts of more characters are locked as their hashes, so that a lock stays small however long its prompts are."""
_SHOWN: Final = 60
_MOST_CHANGES: Final = 3
_HASHED: Final = "sha256:"

Fields = Mapping[str, Any]
"""A compiled case as JSON: texts, numbers, lists and mappings."""


def locked_text(fields: Fields) -> str:
    """The case on one line of JSON, its keys sorted and its long texts hashed."""
    return msgspec.json.encode(_shortened(fields), order="sorted").decode()


def _shortened(value: Any) -> Any:
    match value:
        case str() if len(value) > _LONGEST:
            import hashlib  # noqa: PLC0415 - for start-up: OpenSSL is loaded with it

            return _HASHED + hashlib.sha256(value.encode("utf-8", "surrogatepass")).hexdigest()
        case dict():
            return {_shortened(key): _shortened(of_key) for key, of_key in value.items()}
        case list():
            return [_shortened(item) for item in value]
        case _:
            return value


def changes(locked: str, now: str) -> str:
    """The first differences between two lines of `locked_text`."""
    found = _changes("", msgspec.json.decode(locked), msgspec.json.decode(now))
    shown = list(islice(found, _MOST_CHANGES + 1))
    more = ["and more"] if len(shown) > _MOST_CHANGES else []
    return "; ".join(shown[:_MOST_CHANGES] + more)


def _changes(path: str, was: Any, now: Any) -> Iterator[str]:
    if was == now and type(was) is type(now):
        return
    match was, now:
        case dict(), dict():
            for key in sorted({*was, *now}):
                inner = f"{path}.{key}" if path else key
                if key not in now:
                    yield f"`{inner}` is gone, which was {_shown(was[key])}"
                elif key not in was:
                    yield f"`{inner}` is new: {_shown(now[key])}"
                else:
                    yield from _changes(inner, was[key], now[key])
        case list(), list():
            yield from _items(path, was, now)
        case _:
            yield f"`{path}` was {_shown(was)}, and is {_shown(now)}"


def _items(path: str, was: Sequence[Any], now: Sequence[Any]) -> Iterator[str]:
    gone = [item for item in was if item not in now]
    new = [item for item in now if item not in was]
    if len(gone) == len(new) == 1:
        yield from _changes(path, gone[0], new[0])
        return
    yield from (f"`{path}` has no {_shown(item)} any more" for item in gone)
    yield from (f"`{path}` has {_shown(item)} besides" for item in new)
    if not (gone or new):
        yield f"`{path}` is in another order, or has items more or less often"


def _shown(value: Any) -> str:
    if isinstance(value, str) and value.startswith(_HASHED):
        return "another long text"
    text = msgspec.json.encode(value).decode()
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."


LOCK_NAME: Final = "evalc.lock"
LOCKED_TIER: Final = "regression"

_HASH: Final = re.compile(r"[0-9a-f]{64}")
_HEAD: Final = """\
# Written by `evalc lock`: the regression cases as they are, long texts as hashes. A case that stands here may not
# change; `archived: "why"` retires it. Gates of its suite may not become weaker. To resolve a conflict of a merge, keep
# the lines of both sides.
"""


class LockedSuite(NamedTuple):
    """The locked cases of one suite by id, and the file that held them (relative to the lock, with `/`).

    A case is its line of `locked_text`; in locks that were written before there were such lines, a hash. So are `gates`
    the line of what decides the suite as a whole; None in locks that were written before they had it.
    """

    file: str
    cases: Mapping[str, str]
    gates: str | None = None


@final
class Lock(msgspec.Struct, frozen=True, kw_only=True):
    """The contents of a lock file."""

    folder: Path  # the folder of the lock file, which the files of suites are relative to
    # the locked suites by the name of their compiled file without its ending: `get_weather.regression`
    suites: Mapping[str, LockedSuite] = msgspec.field(default_factory=dict)


# --- the pass --------------------------------------------------------------------------------------------------------


def check_lock(
    suites: Sequence[CompiledSuite], lock: Lock, problems: Diagnostics, *, searched: Sequence[Path] = ()
) -> None:
    """Report each locked case that has changed or is gone.

    A case can only be found missing where its suite was looked at: where the suite is among `suites`, or another
    part of the file that held it, or where the file was to be in one of the folders `searched`. What is `partial` has
    errors of its own, and nothing follows from it.
    """
    looked_at = {file: suite for suite in suites if (file := _file_of(suite, lock.folder)) is not None}
    compiled = {str(suite.key): suite for suite in suites}
    for key, locked in _renamed(lock, suites).items():
        suite = compiled.get(key) or looked_at.get(locked.file)
        if suite is not None:
            _check_suite(suite, key, locked, problems)
        elif any((lock.folder / locked.file).resolve().is_relative_to(folder) for folder in searched):
            _report_gone(key, locked, lock, problems)


def _renamed(lock: Lock, suites: Iterable[CompiledSuite]) -> Mapping[str, LockedSuite]:
    """The locked suites by what they are called now: earlier versions called them what their tool is called."""
    by_tool: dict[str, list[CompiledSuite]] = {}
    for suite in suites:
        by_tool.setdefault(f"{suite.ir.tool}.{suite.tier}", []).append(suite)

    def name_of(key: str, locked: LockedSuite) -> str:
        """The key of the only suite of the tool in the file, or of the tool where the file is gone; else the same."""
        there = by_tool.get(key, [])
        keys = [str(suite.key) for suite in there if _file_of(suite, lock.folder) == locked.file]
        if not keys and not (lock.folder / locked.file).exists():
            keys = [str(suite.key) for suite in there]
        return keys[0] if len(keys) == 1 and keys[0] not in lock.suites else key

    named = {str(suite.key) for suite in suites}
    return {key if key in named else name_of(key, locked): locked for key, locked in lock.suites.items()}


def _report_gone(key: str, locked: LockedSuite, lock: Lock, problems: Diagnostics) -> None:
    """Report the cases of a suite that a search did not find: deleted, or left out of searches."""
    path = lock.folder / LOCK_NAME
    source = read_source(path, problems.add, name=os.path.relpath(path)) or Source(os.path.relpath(path), "")
    places = locate(source.text, "TOML").places
    for id_ in locked.cases:
        place = places.get((key, "cases", id_))
        span = Span(0, 0) if place is None else Span(place.key.start, place.key.end)
        problems.add(source, span, Finding("EV451", case=id_, suite=key, file=locked.file))


def _check_suite(suite: CompiledSuite, key: str, locked: LockedSuite, problems: Diagnostics) -> None:
    if locked.gates is not None and not suite.ir.partial and _is_weaker(locked.gates, now := _gates_of(suite)):
        finding = Finding("EV453", suite=key, changed=changes(locked.gates, now))
        problems.add(*suite.ir.place(suite.ir.where), finding)
    found = {case.id: case for case in _cases_of(suite)} if str(suite.key) == key else {}
    for id_, was in locked.cases.items():
        case = found.get(id_)
        if case is None:
            if not suite.ir.partial:
                problems.add(*suite.ir.place(suite.ir.where), Finding("EV451", case=id_, suite=key))
        elif not (case.partial or case.archived is not None) and (changed := _changed(was, case, suite)) is not None:
            problems.add(*suite.ir.place(case.place_of("/id")), Finding("EV450", case=id_, changed=changed))


def _changed(was: str, case: ir.Case, suite: CompiledSuite) -> str | None:
    """The changes of a case since it was locked: None for nothing, empty if only the hash differs."""
    import hashlib  # noqa: PLC0415 - as above

    fields = _fields_of(case, suite)
    if _HASH.fullmatch(was):
        now = hashlib.sha256(msgspec.json.encode(fields, order="sorted")).hexdigest()
        return None if now == was else ""
    now = locked_text(fields)
    return None if now == was else changes(was, now)


def _fields_of(case: ir.Case, suite: CompiledSuite) -> dict[str, Any]:
    """The compiled case, without the mark that retires it."""
    fields: dict[str, Any] = msgspec.to_builtins(lower(case, suite.ir.criteria))
    fields.pop("archived", None)
    return fields


def _gates_of(suite: CompiledSuite) -> str:
    """The gates of the suite and the threshold of its score, on one line of JSON."""
    gates = {} if suite.ir.gates is None else msgspec.to_builtins(suite.ir.gates)
    threshold = {} if suite.ir.threshold is None else {"threshold": suite.ir.threshold}
    return locked_text(({"gates": gates} if gates else {}) | threshold)


_MOST: Final = "gates.maxP95Ms"
_SAME: Final = "gates.confidence"  # more of it asks more of some gates, and less of that on regressions
_RATE: Final = "gates.minPassRate"


def _is_weaker(locked: str, now: str) -> bool:
    """Whether a suite may pass that would have failed by the locked gates. Without gates, all of its cases have to."""
    was, limits = (dict(_limits("", msgspec.json.decode(line))) for line in (locked, now))
    had, has = (any(name.startswith("gates") for name in each) for each in (was, limits))
    if has and (not had or was.get(_SAME) != limits.get(_SAME)):
        return True
    if not has:
        was = {name: limit for name, limit in was.items() if name not in (_RATE, _SAME)}
    return any(
        name not in limits or (limits[name] > limit if name == _MOST else limits[name] < limit)
        for name, limit in was.items()
    )


def _limits(path: str, value: Any) -> Iterator[tuple[str, float]]:
    if not isinstance(value, dict):
        yield path, value
        return
    for key, of_key in value.items():
        yield from _limits(f"{path}.{key}" if path else key, of_key)


def _cases_of(suite: CompiledSuite) -> Iterator[ir.Case]:
    return (case for case in suite.ir.cases if case.tier == suite.tier)


def _file_of(suite: CompiledSuite, folder: Path) -> str | None:
    """The suite's file as the lock names it; None for standard input and other texts without a file."""
    name = suite.ir.source.name
    if name.startswith("<"):
        return None
    return Path(os.path.relpath(Path(name).resolve(), folder.resolve())).as_posix()


# --- a lock that is up to date ---------------------------------------------------------------------------------------


def locked_anew(suites: Iterable[CompiledSuite], lock: Lock) -> Lock:
    """The lock with what the suites add to it: new cases come in, retired ones go.

    What is locked already stays as it is, changed, gone or weaker: that is for `check_lock` to report.
    """

    entries = dict(_renamed(lock, suites))
    for suite in suites:
        if suite.tier != LOCKED_TIER:
            continue
        before = entries.get(str(suite.key), LockedSuite("", {}))
        known, gates = before.cases, _gates_of(suite)
        cases = dict(known)
        for case in _cases_of(suite):
            if case.archived is not None:
                cases.pop(case.id, None)
            elif case.id not in known:
                cases[case.id] = locked_text(_fields_of(case, suite))
        file = _file_of(suite, lock.folder) or suite.ir.source.name
        if before.gates is not None and _is_weaker(before.gates, gates):
            gates = before.gates
        entries[str(suite.key)] = LockedSuite(file, cases, gates)
    return Lock(folder=lock.folder, suites={key: entry for key, entry in entries.items() if entry.cases})


# --- the file --------------------------------------------------------------------------------------------------------


def read_lock(folder: Path, problems: Diagnostics) -> Lock:
    """The lock of a project; an empty one if there is none. What is wrong with the file is reported."""
    path = folder / LOCK_NAME
    if not is_named(path):
        return Lock(folder=folder)
    faults = Diagnostics()
    source = read_source(path, faults.add, name=os.path.relpath(path))
    suites: Mapping[str, LockedSuite] = {}
    if source is not None and not faults.has_errors:
        try:
            suites = _suites_of(source)
        except NotValid as fault:
            faults.add(source, Span(fault.at, fault.at), Finding("EV452", what=fault.what))
    problems.extend(faults)
    return Lock(folder=folder, suites=suites)


def _suites_of(source: Source) -> dict[str, LockedSuite]:
    """The suites of the file's text.

    Raises:
        NotValid: when it is not what `write_lock` writes.
    """
    content = decode(source.text, "TOML")

    def wrong(what: str, *path: str) -> NotValid:
        places = locate(source.text, "TOML").places
        return NotValid(what, places[path].key.start if path in places else 0)

    suites: dict[str, LockedSuite] = {}
    for key, entry in content.items():
        match entry:
            case {"file": str(file), "cases": dict(cases), **others} if not others.keys() - {"gates"}:
                gates: Any = others.get("gates")
                suites[key] = LockedSuite(file, cases, gates)
            case _:
                raise wrong(f"`{key}` has to be a table with `file`, `gates` and `cases`", key)
        if gates is not None and not (isinstance(gates, str) and _is_of_limits(gates)):
            raise wrong("`gates` has to be what decides the suite, on one line of JSON", key, "gates")
        for id_, case in cases.items():
            if not (isinstance(case, str) and (_HASH.fullmatch(case) or _is_object(case))):
                raise wrong(f"`{id_}` has to be the case on one line of JSON", key, "cases", id_)
    return suites


def _is_object(text: str) -> bool:
    try:
        return isinstance(msgspec.json.decode(text), dict)
    except (msgspec.DecodeError, RecursionError):
        return False


def _is_of_limits(text: str) -> bool:
    try:
        return _is_object(text) and all(
            isinstance(limit, int | float) for _, limit in _limits("", msgspec.json.decode(text))
        )
    except RecursionError:
        return False


def write_lock(lock: Lock) -> Path:
    """Write the lock into its folder, whole or not at all; one without cases too. Returns the file.

    Raises:
        OSError: the file cannot be written.
    """
    path = lock.folder / LOCK_NAME
    write_atomic(path, lock_text(lock).encode())
    return path


def lock_text(lock: Lock) -> str:
    """The text of the lock file: TOML, sorted, one case per line, so that merges of new cases rarely meet."""
    return "\n".join((_HEAD, *(_suite_text(key, lock.suites[key]) for key in sorted(lock.suites))))


def _suite_text(key: str, locked: LockedSuite) -> str:
    table = _quoted(key)
    cases = (f"{_quoted(id_)} = {_literal(locked.cases[id_])}\n" for id_ in sorted(locked.cases))
    gates = "" if locked.gates is None else f"gates = {_literal(locked.gates)}\n"
    return f"[{table}]\nfile = {_quoted(locked.file)}\n{gates}[{table}.cases]\n" + "".join(cases)


def _literal(text: str) -> str:
    """The text between single quotes of TOML, if it can be written so; that makes JSON easier to read."""
    return _quoted(text) if "'" in text or not text.isprintable() else f"'{text}'"


def _quoted(text: str) -> str:
    """The text as a basic string of TOML, whose escapes JSON's are, but for DEL, which JSON leaves as it is."""
    return msgspec.json.encode(text).decode().replace("\x7f", "\\u007f")
