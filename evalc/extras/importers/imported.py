"""The result of an import of a file of evals, and how its checks are written."""

from __future__ import annotations

import json
import os
import re
from bisect import bisect
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import count
from pathlib import Path
from typing import Any, Final, NamedTuple, final

import msgspec

from evalc.base.source import Source, Span
from evalc.check.contract import PAIRS, assertions, judge_check, rank
from evalc.check.forms import TYPES, check_of, record_of
from evalc.check.predicates import mapped
from evalc.check.tree import All, Check, Some, Test
from evalc.compiler.emit.check import check_of_label, simplest
from evalc.compiler.pipeline import CompileOptions, compile_sources
from evalc.diagnostics import Diagnostics, Finding
from evalc.dsl.build_rule import CHECK_TYPES
from evalc.dsl.nodes import Node
from evalc.dsl.read_yaml import read_yaml
from evalc.dsl.sources import unsaved
from evalc.dsl.write_yaml import Noted, NotWritable, write_yaml
from evalc.grammar.write_check import LITERALLY, KeepSchema, Spelling, line_of, linked_to
from evalc.model import case as m
from evalc.model.suite import dimension_of

_OTHER: Final = re.compile(r"[^a-z0-9]+")
_PLAIN: Final = re.compile(r"[A-Za-z0-9\s_.,:;!?'\"()\[\]/&\u2013\u2014-]*")
"""A description of which a name says as much."""
_OF_A_LINE: Final = re.compile(r" on line \d+")
_LONGEST_NAME: Final = 48
"""Of a name that does not say all of a text."""
_LONGEST_WHOLE: Final = 64

FOR_TOML: Final = "for evalc.toml: "
"""Begins a comment that is a line of a configuration."""
NO_COUNTERPART: Final = "it has no counterpart here"
"""Why something is not imported, unless there is more to say."""
IN_CONFIGURATION: Final = "the configuration, or flags, say whom to ask and how"
"""Why agents, judges and the manner of a run are not in an eval file."""


@final
class SideFile(msgspec.Struct, frozen=True, kw_only=True):
    """A file that the suite names: its path relative to the suite, and what it holds."""

    path: str
    text: str


@final
class Imported(msgspec.Struct, frozen=True, kw_only=True):
    """An eval file made of another tool's."""

    text: str  # the YAML of the suite
    side_files: tuple[SideFile, ...] = ()  # the files that it names, to be written beside it
    checks: tuple[str, ...] = ()  # the files of checks that the configuration has to name, as its folder sees them
    compares_meanings: bool = False  # whether `similarity` in the configuration has to be `embeddings`
    models: tuple[str, ...] = ()  # lines of a configuration that name the models it was asked of, and its judge
    file_name: str  # what to call it if only a folder is known
    cases: int  # how many cases it holds
    weaker: int = 0  # how many of them check less than the tests that they were
    lost: int = 0  # how many tests became no case

    def without(self, settings: Iterable[str]) -> Imported:
        """The same without the comments for lines of a configuration that begin so."""
        said = tuple(f"# {FOR_TOML}{line}" for line in settings)
        kept = (line for line in self.text.splitlines(keepends=True) if not line.startswith(said))
        return msgspec.structs.replace(self, text="".join(kept))

    def write(self, folder: Path) -> Path:
        """Write the suite and its side files into a folder; the path of the suite."""
        for side in self.side_files:
            (folder / side.path).write_text(side.text, encoding="utf-8")
        path = folder / self.file_name
        path.write_text(self.text, encoding="utf-8")
        return path


def documents_of(source: Source, problems: Diagnostics) -> Sequence[Node | None] | None:
    """The YAML documents of a text; None if it has errors, which are reported."""
    own = Diagnostics()
    documents = read_yaml(source, lambda span, finding: own.add(source, span, finding))
    problems.extend(own)
    return None if own.has_errors else documents


def document_of(source: Source, problems: Diagnostics, is_meant: Callable[[Node], bool], expected: str) -> Node | None:
    """The only YAML document of a text; None if it has errors or is not `expected`, which is reported."""
    documents = documents_of(source, problems)
    if documents is None:
        return None
    root = documents[0] if len(documents) == 1 else None
    if root is None or not is_meant(root):
        problems.add(source, Span(0, 0), Finding("EV652", expected=expected))
        return None
    return root


def yaml_of(data: Mapping[str, Any], source: Source, problems: Diagnostics, *, head: tuple[str, ...]) -> str | None:
    """The data as YAML below comments; None if it cannot be written, which is reported."""
    try:
        return write_yaml(data, head=head)
    except NotWritable as refusal:
        problems.add(
            source, Span(0, 0), Finding("EV651", what="the file", why=f"it cannot be written in YAML: {refusal}")
        )
        return None


def refused(cases: Sequence[Any], more: Mapping[str, Any], path: Path, imported: Imported) -> dict[int, str]:
    """The cases that do not compile in a suite of this path, by their numbers, and why: they would stop all others.

    `imported` has the files that they name.
    """
    text = write_yaml({"suite": "a", "prompt": "a", "eval": {"test_cases": [*cases], **more}}, for_others=False)
    starts = [found.start() for found in re.finditer(r"^    - ", text, re.MULTILINE)]
    beside = {os.path.realpath(path.parent / side.path): side.text for side in imported.side_files}
    checks = tuple(path.parent / each for each in imported.checks)
    with unsaved(beside):
        problems = compile_sources([Source(str(path), text)], CompileOptions(checks=checks)).problems
    return {
        bisect(starts, problem.span.start) - 1: _OF_A_LINE.sub("", problem.finding.message())
        for problem in reversed(problems)
        if problem.severity == "error" and problem.source.name == str(path)
    }


def as_template(text: str) -> str:
    """A template that renders to the text, whatever braces are in it."""
    return text.replace("{{", r"\{{")


def left_out(problems: Diagnostics, source: Source, span: Span, what: str, why: str) -> str:
    """Report what is not imported; the comment that says so in the suite, empty if one says so already."""
    finding = Finding("EV651", what=what, why=why)
    before = len(problems)
    problems.add(source, span, finding)
    line, column = source.position(span.start)
    # Else it was said where the first case was that it concerns.
    return f"{finding.message()} ({Path(source.name).name}:{line}:{column})" if len(problems) > before else ""


@final
class Schemas:
    """The JSON Schemas that were within a file, each a file beside the suite."""

    def __init__(self, stem: str) -> None:
        self._stem = stem
        self._paths: dict[str, str] = {}

    def keep(self, schema: object) -> str:
        """The path of the file that a schema is put into; equal schemas share one."""
        text = json.dumps(schema, ensure_ascii=False, indent=2) + "\n"
        return self._paths.setdefault(text, f"{self._stem}.{len(self._paths) + 1}.schema.json")

    def files(self) -> tuple[SideFile, ...]:
        """All of them, in the order in which they were first kept."""
        return tuple(SideFile(path=path, text=text) for text, path in self._paths.items())


@final
class CaseNames:
    """Names for cases, each given once."""

    def __init__(self, taken: Iterable[str] = ()) -> None:
        self._taken = set(taken)

    def make(self, description: str, otherwise: str) -> str:
        """A name made of the words of a description; `otherwise` where that has no letters."""
        name = name_of(description) or name_of(otherwise) or "case"
        numbered = (f"{name}_{number}" if number > 1 else name for number in count(1))
        unique = next(each for each in numbered if each not in self._taken)
        self._taken.add(unique)
        return unique

    def keys(self, description: str, otherwise: str, *, called: str = "") -> dict[str, str]:
        """The keys that name a case: a name, and the description where that says more.

        What it is `called` makes the name where there is no description, or no other than of an earlier case.
        """
        is_taken = name_of(description) in self._taken
        name = self.make(f"{description} {called}" if is_taken else description or called, otherwise)
        more = {} if says_all(name, description) else {"description": as_template(description)}
        return {"name": name, **more}


def says_all(name: str, text: str) -> bool:
    """Whether a name says as much as a text."""
    return _PLAIN.fullmatch(text) is not None and name.startswith(name_of(text, longest=len(text)))


def name_of(text: str, *, longest: int = _LONGEST_WHOLE) -> str:
    """`Asks for a city's weather` is `asks_for_a_citys_weather`; cut between words when it is longer than `longest`."""
    words = _OTHER.sub("_", text.lower().replace("'", "")).strip("_")
    if len(words) <= longest:
        return words
    cut = min(longest, _LONGEST_NAME)
    return words[: cut + 1].rpartition("_")[0] or words[:cut]


def _record(check: Check) -> Any:
    """The check as the case model writes it, its texts as templates that mean them.

    An `all_of` is within another: an entry of `expect.checks` that is an `all_of` counts as its operands.
    """
    written = mapped(check, lambda role, text: (LITERALLY.pattern if role.is_pattern else LITERALLY.text)(str(text)))
    return record_of(All((written,)) if isinstance(written, All) else written)


_LONG: Final = 100
_REGEX_PATTERN: Final = ("/expect/regexPattern",)
"""A pattern that any tier of eval JSON may have; in YAML a pattern has to be in the labeled tier."""

LeaveOut = Callable[[str, str], str]
"""Reports what of a check, by its pointer in the case, was left out and why; gives the comment that says so."""


class _Entry(NamedTuple):
    """A check of a case: what it asks, the pointers of its assertions, and what it counts for."""

    at: tuple[str, ...]
    check: Check
    criterion: str | None = None
    weight: int | float = 1

    @property
    def is_linked(self) -> bool:
        return self.criterion is not None or self.weight != 1


def write_checks(case: m.Case, tier: m.Tier, schemas: Schemas, leave_out: LeaveOut) -> dict[str, Any]:
    """The keys of a case that say its checks.

    What no line says exactly goes into `expect.checks` in the model's form. There nothing can be linked, and what
    is there comes after the checks of `validate:`; so must all that follow it among their kind.
    """
    rubric, entries = _judged(case)
    validate: list[Noted] = []
    records: list[Any] = []
    behind: set[tuple[int, bool, bool]] = set()
    comments: list[str] = []
    for entry in (*_without_label(case, [*_entries(case)]), *entries):
        if entry.at == _REGEX_PATTERN and tier in ("golden", "regression"):
            comments.append(leave_out(entry.at[0], "in YAML a pattern has to be in the labeled tier"))
            continue
        needs_record = isinstance(entry.check, All) or simplest(entry.check) != entry.check
        literally = not entry.is_linked and (needs_record or rank(entry.check) in behind)
        has_line = not literally and line_of(entry.check, LITERALLY, lambda _: "") is not None
        written = entry_of(entry.check, entry.criterion, entry.weight, LITERALLY, schemas.keep) if has_line else None
        if written is None:
            if entry.is_linked:
                comments.append(leave_out(entry.at[0], "no line says the same, so that it counts for no criterion"))
            records.append(_record(entry.check))
            behind.add(rank(entry.check))
        else:
            validate.append(Noted(written, tuple(comments)))
            comments = []
    keys = {"validate": validate, "expect": {"checks": records} if records else None, "rubric": rubric}
    filled: dict[str, Any] = {key: value for key, value in keys.items() if value}
    first = next(iter(filled), None)
    return filled if first is None else {**filled, first: Noted(filled[first], tuple(comments))}


# --- entries ---------------------------------------------------------------------------------------------------------


def _entries(case: m.Case) -> Iterator[_Entry]:
    """The checks of `expect`, in the contract's order, each with what it counts for."""
    links = _links(case)
    checks = {assertion.at: assertion.check for assertion in assertions(case.expect)}
    done: set[str] = set()
    for at, check in checks.items():
        if at in done:
            continue
        criterion, link = links.get(at, (None, None))
        upper = next((f"/expect/{high}" for low, high in PAIRS if at == f"/expect/{low}"), "")
        weight = 1 if link is None else link.weight
        if upper in checks and upper not in links and not (link and len(link.at) == 1):
            done.add(upper)
            yield _Entry((at, upper), check_of({**record_of(checks[upper]), **record_of(check)}), criterion, weight)
        else:
            yield _Entry((at,), check, criterion, weight)


def _without_label(case: m.Case, entries: list[_Entry]) -> list[_Entry]:
    """The entries without the check that the case's label brings in YAML."""
    brought = None if case.label is None else _Entry((), check_of_label(case.label))
    same = [entry for entry in entries if brought is not None and entry._replace(at=()) == brought]
    return [entry for entry in entries if entry not in same[-1:]]


def _judged(case: m.Case) -> tuple[list[Any], list[_Entry]]:
    """The dimensions that go into `rubric:`, up to the first linked one; from there on, each as a check."""
    links = _links(case)
    rubric: list[Any] = []
    entries: list[_Entry] = []
    for index, dimension in enumerate(case.rubric or ()):
        at = f"/rubric/{index}"
        criterion, link = links.get(at, (None, None))
        if link is None and not entries:
            rubric.append(msgspec.to_builtins(dimension))
            continue
        named = dimension
        if criterion is not None and re.fullmatch(re.escape(criterion) + r"(?:-\d+)?", dimension.dimension):
            # It has its dimension from the criterion: a line has no words for one.
            named = msgspec.structs.replace(dimension, dimension=dimension_of(dimension.criteria))
        entries.append(_Entry((at,), judge_check(named), criterion, link.weight if link else 1))
    return rubric, entries


def _links(case: m.Case) -> dict[str, tuple[str | None, m.CheckLink]]:
    """The links of a case with their criteria, by their first pointers."""
    unlinked = {link.at[0]: (None, link) for link in case.unlinked or () if link.at}
    return unlinked | {
        link.at[0]: (criterion.name, link) for criterion in case.criteria or () for link in criterion.checks or ()
    }


# --- how one is written ----------------------------------------------------------------------------------------------


_OF_ONE_TEXT: Final = {("value",), ("value", "ignoringCase")}


def entry_of(
    check: Check, criterion: str | None, weight: int | float, spelling: Spelling, keep_schema: KeepSchema
) -> Any:
    """The entry of `validate:` that says a check, which has a line, and what it counts for."""
    line = str(line_of(check, spelling, keep_schema))
    if weight == 1 and not (isinstance(check, Some | All) and len(line) > _LONG):
        return line if criterion is None else linked_to(line, criterion)
    linked = {} if criterion is None else {"criterion": criterion}
    record = record_of(check)
    type_ = record.pop("type")
    keys = TYPES[type_][0].keys if type_ in CHECK_TYPES and type_ in TYPES else ("",)
    said: dict[str, Any] = {"all_of": [line]}
    if isinstance(check, Some | All):
        said = {type_: [line_of(each, spelling, keep_schema) for each in check.checks]}
    elif isinstance(check, Test) and check.predicate == "judge" and not check.operand[0] and len(line) <= _LONG:
        _, scale, question, least = check.operand
        points = {} if (least, scale) == (1, 1) else {"min": least, "scale": scale}
        said = {"type": "judge", "rule": spelling.text(question), **points}
    elif keys in _OF_ONE_TEXT and list(record) == ["value"] and isinstance(record["value"], str):
        said = {"type": type_, "rule": spelling.text(record["value"])}
    elif not keys:
        said = {"type": type_}
    return {**said, **linked, **({} if weight == 1 else {"weight": weight})}
