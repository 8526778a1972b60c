"""Writes and reads `evals/baseline.json`, the baseline that a project commits.

The file is small and sorted, one case per line, so that merges of different cases seldom meet. It names no run and no
time. A run of one agent is accepted for any agent; one of several, for each by its name. A case is there once for an
agent, and for any agent or for some, never both: nothing would say which holds.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence, Set
from pathlib import Path
from typing import Final, NamedTuple, final

import msgspec

from evalc.base.errors import UsageError
from evalc.base.files import JSON_LIMIT, is_named, make_folder, only_writer, read_limited, write_atomic
from evalc.model.result import PASSING, Status
from evalc.model.suite import SuiteKey, key_of
from evalc.runtime.store.journal import Header
from evalc.runtime.store.runs import PastResults, header_beside, places_in, read_results
from evalc.runtime.store.scope import OWN_ALONE, Place, Scope


class AcceptedCase(msgspec.Struct, frozen=True, omit_defaults=True):
    """How a case ended. `digest` is that of the case as it was then."""

    status: Status
    score: float | None = None
    digest: str | None = None

    @property
    def passed(self) -> bool:
        """The contract's `passed`."""
        return self.status in PASSING


class AcceptedSuite(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """The cases of a suite by id.

    `suite` is its name, which earlier versions did not write. `file` is where it was found, from the project's
    folder, `also` what links within the project call that file, and `digest` that of its content; `agent` is set in a
    run of several. `configs` are the configurations that find it, as in a `Place`; None for the project's own alone.
    """

    suite: str | None = None
    tool_name: str = msgspec.field(name="tool")
    tier: str
    digest: str
    file: str | None = None
    also: tuple[str, ...] = ()
    configs: tuple[str, ...] | None = None
    agent: str | None = None
    cases: Mapping[str, AcceptedCase] = {}

    @property
    def key(self) -> SuiteKey:
        """The key that it is matched by."""
        return key_of(self)

    @property
    def place(self) -> Place:
        """Where it was found."""
        return Place(self.file, self.also, OWN_ALONE if self.configs is None else self.configs)


class _File(msgspec.Struct, frozen=True):
    baseline: int
    suites: tuple[AcceptedSuite, ...]


_KEYS: Final = frozenset(
    field.encode_name for kind in (_File, AcceptedSuite, AcceptedCase) for field in msgspec.structs.fields(kind)
)


class _Metadata(msgspec.Struct, frozen=True, rename="camel"):
    eval_file_hash: str


class _Case(msgspec.Struct, frozen=True, rename="camel"):
    id: str
    status: Status
    score: float | None = None
    case_hash: str | None = None


class _Skipped(msgspec.Struct, frozen=True):
    id: str
    stopped: bool = False


class _Suite(msgspec.Struct, frozen=True, rename="camel"):
    """The accepted part of an EvalSuiteResult."""

    tool_name: str
    tier: str
    agent_endpoint: str
    metadata: _Metadata
    cases: tuple[_Case, ...]
    suite: str | None = None
    skipped: tuple[_Skipped, ...] = ()
    selected: object = None
    stopped: str | None = None

    @property
    def key(self) -> SuiteKey:
        return key_of(self)

    def left(self, broken: Set[str]) -> Callable[[str], bool]:
        """Whether the run says nothing of a case: flags selected others, it stopped before, or it is `broken`."""
        if self.selected is not None:
            return lambda _: True
        return (broken | {each.id for each in self.skipped if each.stopped}).__contains__


class Accepted(NamedTuple):
    """The outcome of `accept`: the suites of the run as they are in the file now.

    `kept` of their cases were there before, since the run does not have them; `only_part` says that the run left cases
    out that the file does not have either. `removed` are the cases and suites that are not there any more, by name.
    """

    suites: Sequence[AcceptedSuite]
    kept: int
    only_part: bool
    removed: Sequence[str]


def accept(results: PastResults, file: Path) -> Accepted:
    """Write the suites of a run into the file, in place of what it had of them, with whatever agents.

    Suites and cases that the run did not get to stay, and so do cases that ended in an error, which says nothing of
    how the agent does; those that the run should have had are removed. A suite that the run's configuration hides by
    now stays for the other configurations that found it.

    Raises:
        UsageError: the results or the file cannot be read, or a case that stays is in the file twice.
        OSError: the file cannot be written.
    """
    warnings: list[str] = []
    of_run = list(read_results(results, _Suite, warnings))
    if warnings:
        raise UsageError(warnings[0])
    make_folder(file.parent)
    with only_writer(file.parent):
        before = _named(_read(file), of_run) if is_named(file) else _Read((), ())
        newer = _Newer(of_run, None if results.is_part else header_beside(results.folder), before.suites)
        _reject_repeated_cases(file, (twice for twice in before.twice if not newer.replaces(twice.suite, twice.case)))
        entries = [newer.withdrawn(suite) for suite in before.suites]
        stay = [
            msgspec.structs.replace(
                suite, cases={id_: case for id_, case in suite.cases.items() if not newer.replaces(suite, id_)}
            )
            for suite in entries
            if not newer.lacks(suite)
        ]
        suites = _united((*(suite for suite in stay if suite.cases or not newer.has(suite)), *newer.accepted))
        write_atomic(file, _text(suites).encode())
    return Accepted(
        suites=[suite for suite in suites if newer.has(suite)],
        kept=sum(len(suite.cases) for suite in stay if newer.has(suite)),
        only_part=not newer.parts <= {suite.key for suite in before.suites},
        removed=_removed(before.suites, suites),
    )


def _removed(before: Iterable[AcceptedSuite], now: Iterable[AcceptedSuite]) -> Sequence[str]:
    """The suites, and the cases of other suites, that are in the file no more, with whatever agents."""
    there: dict[SuiteKey, set[str]] = {}
    for suite in now:
        there.setdefault(suite.key, set()).update(suite.cases)
    names: dict[str, None] = {}
    for suite in before:
        if suite.key in there:
            names.update((f"`{case}`", None) for case in suite.cases if case not in there[suite.key])
        else:
            names[f"the suite `{suite.key.title()}`"] = None
    return tuple(names)


@final
class _Newer:
    """The suites of a run that is accepted, and what of the file, the suites `before`, they replace."""

    def __init__(self, suites: Sequence[_Suite], header: Header | None, before: Iterable[AcceptedSuite]) -> None:
        self._scope = None if header is None else Scope.of(header.flags)
        places = places_in(header)
        several = len({suite.agent_endpoint for suite in suites}) > 1
        self.parts: set[SuiteKey] = set()  # the keys of those of which cases were left out
        self.accepted: list[AcceptedSuite] = []  # the suites as the file will have them
        self._left: dict[SuiteKey, list[tuple[AcceptedSuite, Callable[[str], bool]]]] = {}
        configs: dict[SuiteKey, set[str]] = {}
        for entry in before:
            configs.setdefault(entry.key, set()).update(entry.place.configs)
        for suite in suites:
            agent = suite.agent_endpoint if several else None
            broken = frozenset(case.id for case in suite.cases if case.status == "error")  # which says nothing of them
            if suite.selected or any(each.stopped for each in suite.skipped) or broken:
                self.parts.add(suite.key)
            place = places.get(suite.key, Place())
            now = _accepted(suite, place, agent, without=broken)
            now = _found_by(now, configs.get(suite.key, set()).union(place.configs))
            self.accepted.append(now)
            self._left.setdefault(suite.key, []).append((now, suite.left(broken)))

    def withdrawn(self, suite: AcceptedSuite) -> AcceptedSuite:
        """A suite of the file without the run's configuration, if that hides the suite and another one found it."""
        if self._scope is None or not self.lacks(suite) or self._scope.configured.finds(suite.place):
            return suite
        others = set(suite.place.configs) - {self._scope.configured.file}
        return _found_by(suite, others) if others else suite

    def has(self, suite: AcceptedSuite) -> bool:
        """Whether the run had a suite of the file."""
        return suite.key in self._left

    def lacks(self, suite: AcceptedSuite) -> bool:
        """Whether the run should have had it, and did not."""
        return not self.has(suite) and self._scope is not None and self._scope.has(suite.place, suite.tier)

    def replaces(self, suite: AcceptedSuite, case: str) -> bool:
        """Whether a case of the file gives way: the run has it, or is certain that it is gone.

        An agent of the run keeps the cases that it did not get to, whatever the others did.
        """
        same = self._left.get(suite.key)
        if same is None:
            return self.lacks(suite)
        own = [each for each in same if each[0].agent == suite.agent] or same
        return any(case in now.cases for now, _ in own) or not any(left(case) for _, left in own)


def _found_by(suite: AcceptedSuite, configs: Iterable[str]) -> AcceptedSuite:
    ordered = tuple(sorted(configs))
    return msgspec.structs.replace(suite, configs=None if ordered == OWN_ALONE else ordered)


def _accepted(suite: _Suite, place: Place, agent: str | None, *, without: Container[str]) -> AcceptedSuite:
    return AcceptedSuite(
        suite=suite.key.name,
        tool_name=suite.tool_name,
        tier=suite.tier,
        digest=suite.metadata.eval_file_hash,
        file=place.file,
        also=place.also,
        agent=agent,
        cases={
            case.id: AcceptedCase(status=case.status, score=case.score, digest=case.case_hash)
            for case in suite.cases
            if case.id not in without
        },
    )


def read_accepted(file: Path) -> Sequence[AcceptedSuite]:
    """The suites of the file."""
    read = _read(file)
    _reject_repeated_cases(file, read.twice)
    return _united(read.suites)


def _named(read: _Read, of_run: Sequence[_Suite]) -> _Read:
    """The file, in which suites that name only their tool are called as the suite of the run that has their cases."""

    def named(suite: AcceptedSuite) -> AcceptedSuite:
        tool = suite.tool_name, suite.tier
        same = (each for each in of_run if suite.suite is None and (each.tool_name, each.tier) == tool)
        names = {each.key.name for each in same if any(case.id in suite.cases for case in each.cases)}
        return msgspec.structs.replace(suite, suite=names.pop()) if len(names) == 1 else suite

    return _Read(
        tuple(map(named, read.suites)), tuple(twice._replace(suite=named(twice.suite)) for twice in read.twice)
    )


class _Twice(NamedTuple):
    """A case that a suite has twice: the lines of both."""

    suite: AcceptedSuite
    case: str
    lines: tuple[int, int]


class _Read(NamedTuple):
    """A file: its suites as they stand there, and the cases that are there twice."""

    suites: Sequence[AcceptedSuite]
    twice: Sequence[_Twice]


def _read(file: Path) -> _Read:
    try:
        data = read_limited(file, JSON_LIMIT)
        suites = msgspec.json.decode(data, type=_File).suites
        repeated = _repeated_keys(data)
    except OSError as error:
        raise UsageError(f"the baseline `{file}` cannot be read: {error.strerror}") from error
    except (msgspec.DecodeError, ValueError, RecursionError) as error:
        raise UsageError(
            f"the baseline `{file}` is not what `evalc accept` writes: {error}; after a merge, take the file of one "
            "side, and run `evalc accept` again"
        ) from error
    for key in _KEYS.intersection(repeated):
        raise UsageError(f"the baseline `{file}` has the key `{key}` twice in the same object: remove one")
    return _Read(suites, tuple(_cases_twice(suites, data.decode())) if repeated or _overlap(suites) else ())


def _reject_repeated_cases(file: Path, twice: Iterable[_Twice]) -> None:
    first = next(iter(twice), None)
    if first is not None:
        one, other = first.lines
        title = first.suite.key.title()
        raise UsageError(
            f"the baseline `{file}` has the case `{first.case}` of `{title}` twice, on lines {one} and {other}: "
            "remove one of them (a merge may have kept both sides), or run all cases and `evalc accept` the run"
        )


def _repeated_keys(data: bytes) -> Sequence[str]:
    """The keys that an object of the file has twice: decoders silently take the last."""
    repeated: list[str] = []

    def notice(pairs: list[tuple[str, object]]) -> None:
        if len(dict(pairs)) < len(pairs):
            repeated.extend(name for name, count in Counter(name for name, _ in pairs).items() if count > 1)

    json.loads(data, object_pairs_hook=notice)
    return repeated


def _overlap(suites: Iterable[AcceptedSuite]) -> bool:
    """Whether a case is in several entries of its suite that one run is compared with: the same agent's, and any's."""
    met: set[tuple[SuiteKey, str | None, str]] = set()
    for suite in sorted(suites, key=lambda suite: suite.agent or ""):
        for case in suite.cases:
            if (suite.key, suite.agent, case) in met or (suite.key, None, case) in met:
                return True
            met.add((suite.key, suite.agent, case))
    return False


def _cases_twice(suites: Sequence[AcceptedSuite], text: str) -> Iterator[_Twice]:
    met: dict[tuple[SuiteKey, str], dict[str | None, int]] = {}
    for number, case, line in _case_lines(text):
        suite = suites[number]
        lines = met.setdefault((suite.key, case), {})
        others = lines if suite.agent is None else {key: lines[key] for key in (None, suite.agent) if key in lines}
        if others:
            yield _Twice(suite, case, (next(iter(others.values())), line))
        lines[suite.agent] = line


_TOKEN: Final = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\]]')


def _case_lines(text: str) -> Iterator[tuple[int, str, int]]:
    """The number of its suite, the id and the line of each case of a file that can be read."""
    depth, suite, line, end, name = 0, -1, 1, 0, ""
    for token in _TOKEN.finditer(text):
        line += text.count("\n", end, token.start())
        end = token.start()
        match token[0]:
            case "{" | "[":
                depth += 1
                suite += depth == 3
            case "}" | "]":
                depth -= 1
            case key if depth == 3:
                name = key
            case key if depth == 4 and name == '"cases"':
                yield suite, json.loads(key), line


def _united(suites: Iterable[AcceptedSuite]) -> Sequence[AcceptedSuite]:
    """The suites, those of one key and agent as one."""
    found: dict[tuple[SuiteKey, str | None], AcceptedSuite] = {}
    for suite in suites:
        before = found.get((suite.key, suite.agent))
        cases = {} if before is None else before.cases
        found[suite.key, suite.agent] = msgspec.structs.replace(suite, cases={**cases, **suite.cases})
    return tuple(found.values())


def _text(suites: Iterable[AcceptedSuite]) -> str:
    """The file: JSON, everything sorted, one case per line."""
    ordered = sorted(suites, key=lambda suite: (suite.key, suite.agent or ""))
    return '{"baseline": 1, "suites": [\n' + ",\n".join(map(_suite_text, ordered)) + "\n]}\n"


def _suite_text(suite: AcceptedSuite) -> str:
    head = _json({key: value for key, value in msgspec.to_builtins(suite).items() if key != "cases"})
    lines = (f"  {_json(name)}: {_json(suite.cases[name])}" for name in sorted(suite.cases))
    return f'{head[:-1]}, "cases": {{\n' + ",\n".join(lines) + "\n}}"


def _json(value: object) -> str:
    return msgspec.json.format(msgspec.json.encode(value), indent=0).decode()
