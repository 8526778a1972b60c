"""A compiled suite, one for each tier. Its cases are lowered as they are asked for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Final, final

import msgspec

from evalc import __version__
from evalc.base import Anew
from evalc.base.files import JSON_LIMIT
from evalc.base.source import Source
from evalc.base.terminal import counted
from evalc.compiler import ir
from evalc.compiler.lower import lower, own_assertions, wheres_of
from evalc.diagnostics import Diagnostics, Finding, Problem
from evalc.dsl.sources import read_source
from evalc.model import case as m
from evalc.model.case import EnvelopeWriter, encode_envelope
from evalc.model.json import short_hash, to_json
from evalc.model.suite import Copied, LocatedCase, Place, Suite, SuiteKey

if TYPE_CHECKING:
    from evalc.tools import ToolRegistry

_VERSION: Final = 1


class _SourceMap(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A source map. `file_hash` is that of the compiled file, so that a map is not believed of another one."""

    version: int
    source: str
    source_hash: str
    file_hash: str
    places: dict[str, Place]


def encode_source_map(source: Source, file_hash: str, places: dict[str, Place]) -> bytes:
    """The bytes of a source map: JSON pointers into the compiled file, each with its place in the source."""
    import hashlib  # noqa: PLC0415 - for start-up: OpenSSL is loaded with it, and most files are not hashed

    digest = hashlib.sha256(source.text.encode()).hexdigest()
    content = _SourceMap(version=_VERSION, source=source.name, source_hash=digest, file_hash=file_hash, places=places)
    return msgspec.json.format(msgspec.json.encode(content), indent=2) + b"\n"


def read_source_map(compiled: Source) -> Mapping[str, Place]:
    """The places of a compiled file, from the map beside it.

    Empty if there is none, if it cannot be read, or if the file has changed since: then messages have its own places.
    """
    path = Path(f"{compiled.name}.map")
    if not path.is_file():
        return {}
    source = read_source(path, Diagnostics().add, limit=JSON_LIMIT)
    try:
        found = msgspec.json.decode(source.text, type=_SourceMap) if source is not None else None
    except (msgspec.DecodeError, UnicodeEncodeError):
        return {}
    if found is None or found.version != _VERSION or found.file_hash != short_hash(compiled.text):
        return {}
    return found.places


GENERATED_BY: Final = f"evalc {__version__}"


def file_name(suite: str, tier: str) -> str:
    """`<suite>.<tier>.json`, the suite as a slug with dashes (the case model's convention)."""
    return f"{suite.replace('_', '-')}.{tier}.json"


@final
class CompiledSuite:
    """The cases of one suite that share a tier: one compiled file, one result file."""

    def __init__(self, suite: ir.Suite, tier: m.Tier) -> None:
        self.ir = suite
        self.tier = tier
        self.file_name = file_name(suite.name, tier)
        self._cases = suite.cases.of_tier(tier)

    @property
    def key(self) -> SuiteKey:
        """The key that identifies it in a run."""
        return SuiteKey(self.ir.name, self.tier)

    @property
    def is_output(self) -> bool:
        """Whether it was read from a file that evalc compiled."""
        authored = self.ir.authored
        return authored is not None and (authored.generated_by or "").startswith("evalc ")

    @cached_property
    def metadata(self) -> m.Metadata:
        """The envelope's metadata; of an authored JSON file, what its author wrote stays."""
        return msgspec.structs.replace(self.head, requires=self._requires)

    @cached_property
    def head(self) -> m.Metadata:
        """The metadata but for `requires`, which says something of every case."""
        return _head_of(self.ir, self.tier)

    @cached_property
    def _requires(self) -> tuple[str, ...] | None:
        names: set[str] = set()
        for part, lowered in zip(self._cases.parts, self._written_out, strict=True):
            if isinstance(part, ir.CaseRows):
                names |= part.own
            elif lowered is not None:
                names |= own_assertions(lowered)
        return tuple(sorted(names)) or None

    def __len__(self) -> int:
        return len(self._cases)

    def ids(self) -> Iterator[str]:
        """The ids of the cases."""
        return (case.id for case in self._cases)

    def cases(self) -> Iterator[m.Case]:
        """The cases, lowered one at a time."""
        return map(itemgetter(1), self._lowered())

    def copied(self) -> Iterator[Copied]:
        """The files and folders that agents are given copies of in its cases."""
        for part in self._cases.parts:
            for case in part.expand() if isinstance(part, ir.CaseRows) else (part,):
                if not case.files and case.skill is None:
                    break  # nor have the cases of other rows of its table
                yield from (Copied(path) for path in (case.files or {}).values())
                if case.skill is not None:
                    yield Copied(case.skill, is_skill=True)

    def _lowered(self) -> Iterator[tuple[ir.Case, m.Case]]:
        """The cases, and what they are lowered to: of a table each time anew, of others once."""
        for part, lowered in zip(self._cases.parts, self._written_out, strict=True):
            if isinstance(part, ir.CaseRows):
                yield from ((case, lower(case, self.ir.criteria)) for case in part.expand())
            elif lowered is not None:
                yield part, lowered

    @cached_property
    def _written_out(self) -> Sequence[m.Case | None]:
        """The cases that were written one by one, each lowered; None for a table."""
        parts = self._cases.parts
        return [None if isinstance(part, ir.CaseRows) else lower(part, self.ir.criteria) for part in parts]

    def encode(self) -> Iterator[bytes]:
        """The bytes of the compiled file, in pieces; the same on every machine."""
        return encode_envelope(self.metadata, self.cases())

    def encode_line(self) -> bytes:
        """The envelope as one line of JSON."""
        return to_json(m.Envelope(metadata=self.metadata, cases=tuple(self.cases()))) + b"\n"

    @cached_property
    def file_hash(self) -> str:
        """The contract's `evalFileHash`: of the eval JSON file itself, else of the compiled bytes."""
        if self.ir.from_json:
            return short_hash(self.ir.source.text)
        hashing = _Hashing(self.metadata)
        hashing.add(self.cases())
        return hashing.hexdigest()

    def portability(self) -> Problem | None:
        """The warning that a runner of the contract alone would check less; None if it would check everything."""
        if self._requires is None:
            return None
        source, span = self.ir.place(self.ir.where)
        finding = Finding("EV413", file=self.file_name, requires=self._requires)
        return Problem(source=source, span=span, finding=finding, severity="warning")

    # --- for the runner ---

    def to_suite(self) -> Suite:
        """The suite as the runtime runs it."""
        return Suite(
            metadata=None if self.ir.bare else self.head,
            name=self.ir.name,
            tool_name=self.ir.tool,
            tier=self.tier,
            file_hash=self.file_hash,
            origin=self.ir.source.name,
            cases=Anew(self.located),
            size=len(self),
        )

    def located(self) -> Iterator[LocatedCase]:
        """The cases with the places that their parts were authored at."""
        for case, lowered in self._lowered():
            yield LocatedCase(lowered, _Places(self.ir, case, self._authored))

    @cached_property
    def _authored(self) -> Mapping[str, Place]:
        """Where the parts of a compiled file were authored, by its source map; empty for what was written by hand."""
        return read_source_map(self.ir.source) if self.ir.from_json else {}

    def source_map(self) -> bytes:
        """JSON pointers into the compiled file, each with its place in the source (`NAME.json.map`)."""
        places: dict[str, Place] = {}
        for index, (_, located) in enumerate(self.located()):
            places |= {f"/cases/{index}{pointer}": located[pointer] for pointer in located}
        return encode_source_map(self.ir.source, short_hash(b"".join(self.encode())), places)


def _head_of(suite: ir.Suite, tier: m.Tier) -> m.Metadata:
    """The metadata of the compiled file of a tier, but for `requires`."""
    authored = suite.authored
    description = suite.tool_description
    return m.Metadata(
        tool_name=suite.tool,
        suite=None if suite.name == suite.tool else suite.name,
        tier=tier,
        tool_version=suite.tool_version,
        description_hash=(None if authored is None else authored.description_hash)
        or (None if description is None else short_hash(description)),
        description=description,
        registry_size=suite.registry_size,
        generated_by=GENERATED_BY,
        criteria=tuple(
            m.Criterion(name=item.name, weight=item.weight, description=item.description) for item in suite.criteria
        )
        or None,
        threshold=suite.threshold,
        gates=suite.gates,
    )


@final
class _Hashing:
    """The hash of a compiled file whose cases come one after the other."""

    def __init__(self, metadata: m.Metadata) -> None:
        import hashlib  # noqa: PLC0415 - for start-up: OpenSSL is loaded with it, and most files are not hashed

        self.metadata = metadata
        self._writer = EnvelopeWriter(metadata)
        self._digest = hashlib.sha256(self._writer.head)

    def add(self, cases: Iterable[m.Case]) -> None:
        """Add the next cases."""
        for case in cases:
            self._digest.update(self._writer.case(case))

    def hexdigest(self) -> str:
        """The first twelve digits."""
        digest = self._digest.copy()
        digest.update(self._writer.end())
        return digest.hexdigest()[:12]


@final
class HashingOnTheWay:
    """Hashes the compiled files of a suite while its cases go by for the first time, in pieces.

    A file begins with what its cases require, which is taken to be what those of the first piece do. Where others
    require more, the hash is of no use, and the compiled suite makes it by itself.
    """

    def __init__(self, suite: ir.Suite) -> None:
        self._suite = suite
        self._files: dict[m.Tier, _Hashing] = {}

    def add(self, piece: Iterable[ir.Case]) -> None:
        """Add the next cases."""
        by_tier: dict[m.Tier, list[m.Case]] = {}
        for case in piece:
            by_tier.setdefault(case.tier, []).append(lower(case, self._suite.criteria))
        for tier, cases in by_tier.items():
            file = self._files.get(tier)
            if file is None:
                requires = tuple(sorted(set().union(*map(own_assertions, cases)))) or None
                metadata = msgspec.structs.replace(_head_of(self._suite, tier), requires=requires)
                file = self._files[tier] = _Hashing(metadata)
            file.add(cases)

    def report(self, compiled: CompiledSuite) -> None:
        """Let a compiled suite, all of whose cases were added, know its hash."""
        file = self._files.get(compiled.tier)
        if file is not None and file.metadata == compiled.metadata:
            compiled.file_hash = file.hexdigest()


_OF_CHECKS: Final = ("/expect/", "/rubric/")
"""The beginnings of the pointers for which checks have to be lowered."""


@final
class _Places(Mapping[str, Place]):
    """JSON pointers from a case's root to places, which are computed when they are looked up."""

    __slots__ = ("_authored", "_case", "_found", "_suite")

    def __init__(self, suite: ir.Suite, case: ir.Case, authored: Mapping[str, Place]) -> None:
        self._suite = suite
        self._case = case
        self._authored = authored
        self._found: Mapping[str, ir.Where] | None = None

    @property
    def _wheres(self) -> Mapping[str, ir.Where]:
        if self._found is None:
            self._found = wheres_of(self._case)
        return self._found

    def __getitem__(self, pointer: str) -> Place:
        case = self._case
        if not pointer:
            where = case.where
        elif pointer.startswith(_OF_CHECKS):
            where = self._wheres[pointer]
        elif self._authored and isinstance(case.where, str):
            return self._authored[case.where + pointer]
        else:
            where = case.wheres[pointer]
        if isinstance(where, str) and where in self._authored:
            return self._authored[where]
        source, span = self._suite.place(where)
        line, column = source.position(span.start)
        return Place(file=source.name, line=line, column=column)

    def __iter__(self) -> Iterator[str]:
        return iter(self._wheres)

    def __len__(self) -> int:
        return len(self._wheres)


def by_tier(suite: ir.Suite) -> Iterator[CompiledSuite]:
    """One compiled suite for each tier that the suite's cases have, in the order of their first case."""
    for tier in suite.cases.tiers:
        yield CompiledSuite(suite, tier)


@final
class Inventory(msgspec.Struct, frozen=True, kw_only=True):
    """Counts of the files that a compilation has read and skipped."""

    suites: int = 0  # how many suites there were, of YAML and of JSON
    prompts: int = 0  # how many files held prompts and no evals
    shared: int = 0  # how many files of shared rules were named
    # those of the prompt files that have examples, of which `evalc import` could make cases
    with_examples: tuple[str, ...] = ()
    others: tuple[str, ...] = ()  # the YAML and JSON files of other kinds that a search found
    unparsed: tuple[str, ...] = ()  # those that cannot be read as YAML or JSON, and in which nothing looks like evals
    copies: tuple[str, ...] = ()  # compiled files that a search found beside their sources
    # the sentences of evals of skills that became checks: the place of each, and the line of the check
    exact: tuple[tuple[str, str], ...] = ()
    judged: int = 0  # how many others a judge decides

    @property
    def is_empty(self) -> bool:
        """Whether nothing was read."""
        return not (self.suites or self.prompts or self.shared)

    @property
    def read(self) -> str:
        """The files read, in words: `12 suites, 3 prompts`; empty if there are none."""
        kinds = ((self.suites, "suite"), (self.prompts, "prompt"), (self.shared, "shared rules file"))
        return ", ".join(counted(count, noun) for count, noun in kinds if count)

    @property
    def skipped(self) -> str:
        """The files skipped, in words: `4 other files, 1 that cannot be parsed`; empty if there are none."""
        kinds = (
            (len(self.copies), "compiled copy", "compiled copies"),
            (len(self.others), "other file", "other files"),
        )
        counts = [f"{count} {one if count == 1 else several}" for count, one, several in kinds if count]
        return ", ".join([*counts, *([f"{len(self.unparsed)} that cannot be parsed"] if self.unparsed else [])])


@final
class Compilation(msgspec.Struct, frozen=True, kw_only=True):
    """The result of a compilation.

    Attributes:
        suites: the compiled suites; empty when any problem is an error.
        problems: every problem, in the order of files, lines and columns.
        inventory: what was read, and what was skipped.
        tools: the tool registry, where one is named and can be read.
    """

    suites: tuple[CompiledSuite, ...]
    problems: tuple[Problem, ...]
    inventory: Inventory
    tools: ToolRegistry | None = None

    @property
    def has_errors(self) -> bool:
        """Whether any problem is an error."""
        return any(problem.severity == "error" for problem in self.problems)
