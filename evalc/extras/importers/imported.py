"""An import of a file of evals, and its result: names of cases, how checks are written, what all cases have."""

from __future__ import annotations

import json
import os
import re
from bisect import bisect
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any, Final, final

import msgspec

from evalc.base.source import Source, Span
from evalc.check.forms import TYPES, record_of, together
from evalc.check.tree import All, At, Call, Check, Of, Some, Test, Tools, Which
from evalc.compiler.pipeline import CompileOptions, compile_sources
from evalc.diagnostics import Diagnostics, Finding
from evalc.dsl.build_rule import CHECK_TYPES
from evalc.dsl.nodes import Node
from evalc.dsl.read_yaml import read_yaml
from evalc.dsl.sources import unsaved
from evalc.dsl.write_yaml import Noted, NotWritable, write_yaml
from evalc.grammar.write_check import LITERALLY, KeepSchema, Spelling, line_of, linked_to
from evalc.model.json import path_inside

_OTHER: Final = re.compile(r"[^a-z0-9]+")
_PLAIN: Final = re.compile(r"[A-Za-z0-9\s_.,:;!?'\"()\[\]/&\u2013\u2014-]*")
"""A description of which a name says as much."""
_OF_A_LINE: Final = re.compile(r" on line \d+")
_LONGEST_NAME: Final = 48
"""Of a name that does not say all of a text."""
_LONGEST_WHOLE: Final = 64
_LIMIT: Final = re.compile(r"(latency|cost) <= \S+")
LONG_TEXT: Final = 240
"""Of a text that a suite says once if several cases have it."""

FOR_TOML: Final = "for evalc.toml: "
"""Begins a comment that is a line of a configuration."""
NO_COUNTERPART: Final = "it has no counterpart here"
"""Why something is not imported, unless there is more to say."""
OWN_CHECK: Final = "a check of the project in Python can say it (`@evalc.custom_check`)"
"""Where to go with what only code asks."""
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


@final
class Unmappable(Exception):
    """Nothing here means the same; the message says why."""


def require(condition: object, why_not: str) -> None:
    """Go on where the condition holds.

    Raises:
        Unmappable: it does not.
    """
    if not condition:
        raise Unmappable(why_not)


def documents_of(source: Source, problems: Diagnostics) -> Sequence[Node | None] | None:
    """The YAML documents of a text; None if it has errors, which are reported."""
    own = Diagnostics()
    documents = read_yaml(source, partial(own.add, source))
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


def refused(
    cases: Sequence[Any], more: Mapping[str, Any], path: Path, side_files: Iterable[SideFile], checks: Iterable[str]
) -> dict[int, str]:
    """The cases that do not compile in a suite of this path, by their numbers, and why: they would stop all others.

    The `side_files`, and the files of `checks`, are those that they name.
    """
    text = write_yaml({"suite": "a", "prompt": "a", "eval": {"test_cases": [*cases], **more}}, for_others=False)
    starts = [found.start() for found in re.finditer(r"^    - ", text, re.MULTILINE)]
    with unsaved({os.path.realpath(path.parent / side.path): side.text for side in side_files}):
        options = CompileOptions(checks=tuple(path.parent / each for each in checks))
        problems = compile_sources([Source(str(path), text)], options).problems
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
        name = untaken(name_of(description) or name_of(otherwise) or "case", self._taken)
        self._taken.add(name)
        return name

    def keys(self, description: str, otherwise: str, *, called: str = "") -> dict[str, str]:
        """The keys that name a case: a name, and the description where that says more.

        What it is `called` makes the name where there is no description, or no other than of an earlier case.
        """
        is_taken = name_of(description) in self._taken
        name = self.make(f"{description} {called}" if is_taken else description or called, otherwise)
        more = {} if says_all(name, description) else {"description": as_template(description)}
        return {"name": name, **more}


def untaken(name: str, taken: Container[str]) -> str:
    """The name, with a number behind it where it is taken."""
    numbered = (f"{name}_{number}" if number > 1 else name for number in count(1))
    return next(each for each in numbered if each not in taken)


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


# --- how a check is written ------------------------------------------------------------------------------------------


_LONG: Final = 100
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


def tools(predicate: str, names: Iterable[str]) -> Check:
    """A check of the names of the tools that were called."""
    return Of(Tools(), Test(predicate, tuple(names)))


def call_with(tool: str, which: int | Which, arguments: Mapping[str, Any]) -> Check:
    """A check that a call has these arguments, among others."""
    return Of(
        Call(tool, which), together(Of(At(path_inside("", key)), is_value(each)) for key, each in arguments.items())
    )


def is_value(value: Any) -> Check:
    """A check that its subject is this value, which of a text is its text."""
    return Test("equals" if isinstance(value, str) else "is", value)


def entry(check: Check, comments: Sequence[str] = ()) -> Noted:
    """The entry of `validate:` that is a check, whose texts are no templates."""
    return Noted(entry_of(check, None, 1, LITERALLY, str), tuple(comments))


# --- a file that is a list of cases ----------------------------------------------------------------------------------


FURTHER: Final = "there a call may have no further arguments, which no line says"
"""How an exact comparison of arguments differs from `call_with`."""

CaseOf = Callable[[Node], tuple[dict[str, Any], Sequence[str]]]
"""The keys of a case behind those that name it, and the comments above it; it may raise `Unmappable`."""


class Importing:
    """An import on its way: what it has called cases, left out and said."""

    def __init__(self, source: Source, problems: Diagnostics) -> None:
        self.source = source
        self.problems = problems
        self.names = CaseNames()
        self.head: list[str] = []
        self.is_whole = True  # of the case at hand; before the first one, of what all cases have
        self._said: set[str] = set()

    def leave_out(self, node: Node, what: str, why: str, *, decides: bool = True) -> str:
        """Report what is not imported; the comment that says so. The case is weaker if it `decides` the verdict."""
        self.is_whole &= not decides
        return left_out(self.problems, self.source, node.span, what, why)

    def further(self, values: Mapping[str, Node], known: Container[str]) -> list[str]:
        """Report the keys that are not known, without which all else means the same; the comments that say so."""
        others = ((key, value) for key, value in values.items() if key not in known)
        return [self.leave_out(value, f"`{key}`", NO_COUNTERPART, decides=False) for key, value in others]

    def differs(self, node: Node, what: str, why: str, *, decides: bool = True) -> tuple[str, ...]:
        """Report, once for the file, what means only nearly the same; the comments that say so.

        The case is weaker if the difference may `decide` the verdict.
        """
        self.is_whole &= not decides
        if self.is_said(what):
            return ()
        finding = Finding("EV655", what=what, why=why)
        self.problems.add(self.source, node.span, finding)
        return (finding.message(),)

    def is_said(self, what: str) -> bool:
        """Whether this was asked before."""
        before = len(self._said)
        self._said.add(what)
        return len(self._said) == before

    def imported_cases(
        self, suite: str, keys: Mapping[str, Any], items: Iterable[tuple[str, Node]], case_of: CaseOf
    ) -> Imported | None:
        """The suite with these keys, and a case of each item, with its name there; None if there is none."""
        are_whole, weaker, lost = self.is_whole, 0, 0
        cases: list[Noted] = []
        waiting: list[str] = []
        for number, (called, node) in enumerate(items, 1):
            self.is_whole = are_whole
            try:
                case, comments = case_of(node)
            except Unmappable as reason:
                waiting.append(self.leave_out(node, f"the case `{called or number}`", f"{reason}"))
                lost += 1
            else:
                named = self.names.keys(called, f"case {number}")
                cases.append(Noted({**named, **case}, (*waiting, *comments)))
                waiting.clear()
                weaker += not self.is_whole
        if not cases:
            self.problems.add(self.source, Span(0, 0), Finding("EV656", why="no case has a check that means the same"))
            return None
        values = [case.value for case in cases]
        shared = taken_out(values, ()) if all("validate" in each for each in values) else {}
        data = {"suite": suite, **keys, **shared, "eval": {"test_cases": Noted(cases, tuple(waiting))}}
        text = yaml_of(data, self.source, self.problems, head=tuple(self.head))
        if text is None:
            return None
        return Imported(text=text, file_name=f"{suite}.eval.yaml", cases=len(cases), weaker=weaker, lost=lost)


def taken_out(cases: Sequence[dict[str, Any]], given: Container[str]) -> dict[str, Any]:
    """Take out the checks that all cases have, and inputs that are `given`; the key `defaults` that says them."""
    if len(cases) < 2:
        return {}
    checks: dict[str, list[Noted]] = {}
    for case in cases:
        for each in case["validate"].value:
            checks.setdefault(json.dumps(each.value), []).append(each)
    had = [[each.value for each in case["validate"].value] for case in cases]
    shared = {
        key: Noted(each[0].value, tuple(dict.fromkeys(comment for one in each for comment in one.comments)))
        for key, each in checks.items()
        if len(each) > 1 and all(each[0].value in own or _limited(each[0].value) & _limited(*own) for own in had)
    }
    inputs = {
        name: value
        for name, value in cases[0].get("inputs", {}).items()
        if (name in given or (isinstance(value, str) and len(value) > LONG_TEXT))
        and all(case.get("inputs", {}).get(name, ...) == value for case in cases)
    }
    for case in cases:
        rest = {name: value for name, value in case.get("inputs", {}).items() if name not in inputs}
        own = [each for each in case["validate"].value if json.dumps(each.value) not in shared]
        comments = case["validate"].comments
        for key, left in (("inputs", rest), ("validate", Noted(own, comments) if own else None)):
            if left:
                case[key] = left
            else:
                case.pop(key, None)
        if comments and not own:
            last = [*case][-1]
            case[last] = Noted(case[last], comments)
    found = {key: value for key, value in (("inputs", inputs), ("validate", [*shared.values()])) if value}
    return {"defaults": found} if found else {}


def _limited(*entries: object) -> set[str]:
    """The measures that the entries limit. A limit of a case replaces that of the defaults."""
    return {found[1] for each in entries if isinstance(each, str) and (found := _LIMIT.fullmatch(each))}
