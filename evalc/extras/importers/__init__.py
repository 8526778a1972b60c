"""Tells which tool a text comes from, and imports it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final, NamedTuple, final

import msgspec

from evalc.base.source import Source, Span
from evalc.check.contract import PAIRS, assertions, judge_check, rank
from evalc.check.forms import check_of, record_of
from evalc.check.predicates import mapped
from evalc.check.tree import All, Check
from evalc.compiler.compiled import CompiledSuite
from evalc.compiler.emit.check import check_of_label, simplest
from evalc.compiler.lift import FREE, is_eval_json, read_document
from evalc.compiler.pipeline import CompileOptions, compile_sources
from evalc.diagnostics import Diagnostics, Finding
from evalc.diagnostics.near import nearest, typo_of
from evalc.dsl.build_case import DIFFICULTIES, STUB
from evalc.dsl.document_kind import Kind, has_examples, is_of_skills, kind_of_document, tool_of, tool_of_data
from evalc.dsl.nodes import Mapping, Node, Scalar, fields_of, items_of
from evalc.dsl.read_json import JsonPlaces
from evalc.dsl.read_yaml import read_yaml
from evalc.dsl.scalars import to_plain
from evalc.dsl.walk import is_null
from evalc.dsl.write_yaml import Noted
from evalc.extras.importers.adk import import_adk
from evalc.extras.importers.imported import (
    NO_COUNTERPART,
    CaseNames,
    Imported,
    Schemas,
    as_template,
    documents_of,
    entry_of,
    left_out,
    yaml_of,
)
from evalc.extras.importers.promptfoo import import_promptfoo, is_promptfoo
from evalc.extras.importers.promptfoo_source import CODE
from evalc.extras.importers.pydantic_evals import import_pydantic_evals
from evalc.grammar.write_check import LITERALLY, escaped, line_of
from evalc.model import case as m
from evalc.model.json import key_of_step, pointer_step, to_json
from evalc.model.suite import dimension_of, slug

__all__ = ["Imported", "import_source"]


def import_source(source: Source, tool: str, folder: Path, problems: Diagnostics) -> Imported | None:
    """The suite made of a text, for `folder`; None if the text has errors, which are reported.

    The `tool` is called as `evalc import --from` calls it; if it is `auto`, the text itself says whose it is.
    """
    if CODE.search(source.name):
        problems.add(
            source, Span(0, 0), Finding("EV656", why="it is code, which is not run; import the JSON that it makes")
        )
        return None
    match _tool_of(source, problems) if tool == "auto" else tool:
        case "tool-forge":
            return import_tool_forge(source, problems)
        case "promptfoo":
            return import_promptfoo(source, folder, problems)
        case "promptos":
            return import_prompt_spec(source, problems)
        case "pydantic-evals":
            return import_pydantic_evals(source, problems)
        case "adk":
            return import_adk(source, problems)
        case _:
            if not problems.has_errors:
                expected = "a file of one of the tools that `evalc import --help` names"
                is_ready = is_of_skills(read_document(source, Diagnostics()))
                problems.add(source, Span(0, 0), Finding("EV652", expected=expected, is_ready=is_ready))
            return None


def _tool_of(source: Source, problems: Diagnostics) -> str:
    """Whose evals a text holds; empty if nobody's. If its errors hide that, these are reported."""
    unheard = Diagnostics()
    is_json = source.text.lstrip()[:1] in ("{", "[")
    data = read_document(source, unheard) if is_json else None
    if is_json and is_eval_json(data) and not tool_of_data(data):
        return "tool-forge"
    own = Diagnostics()
    documents = read_yaml(source, partial(own.add, source))
    if tool := next(filter(None, map(tool_of, documents)), ""):
        return tool
    if any(map(is_promptfoo, documents)):
        return "promptfoo"
    if any(map(is_prompt_with_examples, documents)):
        return "promptos"
    problems.extend(unheard if is_json and unheard.has_errors else own)
    return ""


_DIFFICULTIES: Final[dict[m.Tier, m.Difficulty]] = {"labeled": "straightforward", "regression": "regression"}
_TEMPLATES: Final = frozenset(
    {"description", "expected", "bug_ref", "tags", "expected_failure", "skip", "archived", "allow"}
)
_APART: Final = frozenset(
    {"id", "input", "expect", "criteria", "unlinked", "rubric", "variant", "stubs", "stub_answers"}
)
"""The fields of a case that are written in a way of their own, or that no key of a case says (a variant's name)."""


def import_tool_forge(source: Source, problems: Diagnostics) -> Imported | None:
    """The suite of an eval JSON file; None if the file has errors, which are reported."""
    compilation = compile_sources([source], CompileOptions())
    if compilation.has_errors:
        problems.extend(problem for problem in compilation.problems if problem.severity == "error")
        return None
    if len(compilation.suites) != 1:
        problems.add(source, Span(0, 0), Finding("EV652", expected="eval JSON"))
        return None
    return _Importer(source, compilation.suites[0], problems).imported()


@final
class _Importer:
    def __init__(self, source: Source, suite: CompiledSuite, problems: Diagnostics) -> None:
        self._source = source
        self._suite = suite
        self._problems = problems
        self._places = JsonPlaces(source)
        self._stem = suite.file_name.removesuffix(".json")
        self._schemas = Schemas(self._stem)
        self._base = "/cases" if not suite.ir.bare else ""
        self._incomplete: set[str] = set()

    def imported(self) -> Imported | None:
        cases = list(self._suite.cases())
        prefix = f"{self._suite.ir.name}/"
        names = CaseNames(case.id.removeprefix(prefix) for case in cases if case.id.startswith(prefix))
        written = [self._case(case, f"{self._base}/{index}", names, prefix) for index, case in enumerate(cases)]
        self._keep_own_keys(written)
        criteria = self._suite.metadata.criteria or ()
        scored = {"criteria": msgspec.to_builtins(criteria)} if criteria else {}
        data = {**self._head(), "eval": {**scored, "test_cases": written}}
        head = (f"Imported from {Path(self._source.name).name}.",)
        text = yaml_of(data, self._source, self._problems, head=head)
        if text is None:
            return None
        files, file_name = self._schemas.files(), f"{self._stem}.eval.yaml"
        imported = Imported(text=text, side_files=files, file_name=file_name, cases=len(cases))
        return imported if self._compare(imported, cases) else None

    # --- the suite ---

    def _head(self) -> dict[str, Any]:
        metadata = self._suite.metadata
        fields = {
            "suite": self._suite.ir.name,
            "tier": metadata.tier,
            "tool": metadata.tool_name,
            "tool_version": metadata.tool_version,
            "tool_description": metadata.description,
            "registry_size": metadata.registry_size,
            "threshold": metadata.threshold,
            "gates": _said(msgspec.structs.asdict(metadata.gates)) or None if metadata.gates else None,
        }
        return _said(fields)

    # --- the cases ---

    def _case(self, case: m.Case, pointer: str, names: CaseNames, prefix: str) -> dict[str, Any]:
        own_name = case.id.removeprefix(prefix).strip() if case.id.startswith(prefix) else ""
        if prefix + own_name != case.id:
            own_name = ""
        written: dict[str, Any] = {"name": own_name or names.make(case.description, case.id)}
        if not own_name:
            written["id"] = case.id
        if case.description != written["name"]:
            written["description"] = escaped(case.description)
        if case.difficulty is not None and case.difficulty != _DIFFICULTIES.get(self._suite.tier):
            if case.difficulty in DIFFICULTIES:
                written["difficulty"] = case.difficulty
            else:
                self._leave_out(pointer, "/difficulty", f"`{case.difficulty}` is not a difficulty of the contract")
        written |= _fields_of(case, ("created_at", "bug_ref"))
        written |= _input(case.input)
        for field in ("files", "skill"):
            if getattr(case.input, field):
                self._leave_out(pointer, f"/input/{field}", "its paths begin at the project, and at the suite in YAML")
        written |= _checks(case, self._suite.tier, self._schemas, partial(self._leave_out, pointer))
        if case.label is not None:
            written["label"] = {"expected": escaped(case.label.expected), "from": case.label.source}
        if (stubs := _stubs(case)) is not None:
            written["stubs"] = stubs
        others = (field for field in case.__struct_fields__ if field not in _APART and field not in written)
        written |= _fields_of(case, tuple(field for field in others if field not in ("description", "difficulty")))
        return written

    def _keep_own_keys(self, written: list[dict[str, Any]]) -> None:
        """Keep the `x-` keys of cases, and report all others, which have no place in YAML."""
        for pointer, value in _own_keys(read_document(self._source, Diagnostics()), ""):
            index, _, key = pointer.removeprefix(f"{self._base}/").partition("/")
            if index.isdecimal() and key.startswith("x-"):
                written[int(index)][key_of_step(key)] = value
            else:
                finding = Finding("EV651", what=f"`{pointer}`", why=NO_COUNTERPART)
                self._problems.add(self._source, self._places.key(pointer), finding)

    def _leave_out(self, case: str, pointer: str, why: str) -> str:
        self._incomplete.add(case)
        return left_out(self._problems, self._source, self._places.value(case + pointer), f"`{pointer}`", why)

    # --- the law ---

    def _compare(self, imported: Imported, cases: Sequence[m.Case]) -> bool:
        """Compile what was written, and report where it is not what was read; False if it has errors."""
        with TemporaryDirectory(prefix="evalc-") as folder:
            compilation = compile_sources([imported.write(Path(folder))], CompileOptions())
        if not compilation.suites:
            for problem in compilation.problems:
                if problem.severity == "error":
                    finding = Finding("EV651", what="the suite", why=problem.finding.message())
                    self._problems.add(self._source, Span(0, 0), finding)
            return False
        (suite,) = compilation.suites
        if not self._incomplete and _comparable(suite.metadata) != _comparable(self._suite.metadata):
            self._differs("/metadata", "the metadata")
        for index, (ours, theirs) in enumerate(zip(cases, suite.cases(), strict=True)):
            pointer = f"{self._base}/{index}"
            if msgspec.to_builtins(ours) != msgspec.to_builtins(theirs) and pointer not in self._incomplete:
                self._differs(pointer, f"the case `{ours.id}`")
        return True

    def _differs(self, pointer: str, what: str) -> None:
        self._problems.add(self._source, self._places.value(pointer), Finding("EV653", what=what))


def _own_keys(data: object, pointer: str) -> Iterator[tuple[str, object]]:
    """The `x-` keys, by their JSON pointers, with their values."""
    if isinstance(data, list):
        for index, item in enumerate(data):
            yield from _own_keys(item, f"{pointer}/{index}")
    for key, value in data.items() if isinstance(data, dict) else ():
        at = f"{pointer}/{pointer_step(key)}"
        if key.startswith("x-"):
            yield at, value
        elif key not in FREE:
            yield from _own_keys(value, at)


# --- parts of a case -------------------------------------------------------------------------------------------------


def _said(fields: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in fields.items() if value is not None}


def _input(given: m.Input) -> dict[str, Any]:
    written: dict[str, Any] = {}
    if given.user is not None and not given.messages:
        written["user"] = _user(given.user)
    elif given.follow_ups and not given.messages:
        written["turns"] = [{"say": escaped(text)} for text in (given.message, *given.follow_ups)]
    elif given.message or not given.messages:
        written["message"] = escaped(given.message)
    if given.messages:
        written["messages"] = [{"role": each.role, "content": escaped(each.content)} for each in given.messages]
    if given.inputs:
        written["inputs"] = given.inputs
    return written


def _stubs(case: m.Case) -> dict[str, Any] | None:
    """The stubs; a result that has a key of a stub, or nearly, is under `answer`, where it is only a result."""
    if case.stubs is None and case.stub_answers is None:
        return None
    results = {
        name: {"answer": each} if _looks_like_a_stub(each) else each for name, each in (case.stubs or {}).items()
    }
    answers: dict[str, Any] = msgspec.to_builtins(case.stub_answers or {})
    return results | answers


def _looks_like_a_stub(result: object) -> bool:
    items = result if isinstance(result, list) else [result]
    return any(typo_of(key, STUB.keys) is not None for item in items if isinstance(item, dict) for key in item)


def _user(user: m.SimulatedUser) -> dict[str, Any]:
    usual = m.SimulatedUser(goal="")
    names = ("goal", "persona", "opens", "stop_when", "facts", "max_turns")
    return {name: _escaped(getattr(user, name)) for name in names if getattr(user, name) != getattr(usual, name)}


def _fields_of(case: m.Case, fields: Sequence[str]) -> dict[str, Any]:
    """Fields of a case under the names that they have in YAML, where they hold something."""
    values = {field: msgspec.to_builtins(getattr(case, field)) for field in fields}
    return {
        field: _escaped(value) if field in _TEMPLATES else value for field, value in values.items() if value is not None
    }


def _escaped(value: Any) -> Any:
    match value:
        case str():
            return escaped(value)
        case list() | tuple():
            return [_escaped(item) for item in value]
        case dict():
            return {key: _escaped(item) for key, item in value.items()}
        case _:
            return value


def _comparable(metadata: m.Metadata) -> bytes:
    return to_json(msgspec.structs.replace(metadata, generated_by=None))


# --- the checks of eval JSON -----------------------------------------------------------------------------------------


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


def _checks(case: m.Case, tier: m.Tier, schemas: Schemas, leave_out: LeaveOut) -> dict[str, Any]:
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


def _record(check: Check) -> Any:
    """The check as the case model writes it, its texts as templates that mean them.

    An `all_of` is within another: an entry of `expect.checks` that is an `all_of` counts as its operands.
    """
    written = mapped(check, lambda role, text: (LITERALLY.pattern if role.is_pattern else LITERALLY.text)(str(text)))
    return record_of(All((written,)) if isinstance(written, All) else written)


# --- PromptOS --------------------------------------------------------------------------------------------------------


_READ: Final = ("name", "description", "inputs", "expected_output")
"""The keys of an example that are read."""


def is_prompt_with_examples(document: Node | None) -> bool:
    """Whether a document is a prompt file with examples."""
    return document is not None and kind_of_document(document) is Kind.PROMPT and has_examples(document)


def import_prompt_spec(source: Source, problems: Diagnostics) -> Imported | None:
    """The cases of a prompt's examples; None if the file has errors or no examples, which is reported."""
    documents = documents_of(source, problems)
    if documents is None:
        return None
    prompt = next(filter(is_prompt_with_examples, documents), None)
    if not isinstance(prompt, Mapping):
        problems.add(source, Span(0, 0), Finding("EV652", expected="a prompt file with examples"))
        return None
    fields = fields_of(prompt)
    prompt_id = fields["id"]
    identity = prompt_id.text if isinstance(prompt_id, Scalar) else ""
    cases = [*_cases(source, fields["examples"], problems)]
    data = {"prompt_id": identity, "test_cases": cases}
    text = yaml_of(data, source, problems, head=(f"Imported from the examples of {Path(source.name).name}.",))
    file_name = (slug(identity) or "prompt") + ".cases.yaml"
    return None if text is None else Imported(text=text, file_name=file_name, cases=len(cases))


def _cases(source: Source, examples: Node, problems: Diagnostics) -> Iterator[dict[str, Any]]:
    names = CaseNames()
    for number, example in enumerate(items_of(examples), 1):
        if not isinstance(example, Mapping):
            problems.add(source, example.span, Finding("EV651", what=f"example {number}", why="it is not a mapping"))
            continue
        plain: Any = to_plain(example, partial(problems.add, source))
        case: dict[str, Any] = {"name": names.make(str(plain.get("name") or ""), f"example {number}")}
        if plain.get("description"):
            case["description"] = as_template(str(plain["description"]))
        if isinstance(plain.get("inputs"), dict):
            case["inputs"] = plain["inputs"]
        for key, value in example.pairs:
            why = _why_not(key.text, value)
            if why:
                problems.add(source, key.span, Finding("EV651", what=f"`{key.text}` of example {number}", why=why))
        expected = plain.get("expected_output")
        if expected in (None, ""):
            finding = Finding("EV651", what=f"what example {number} expects", why="it has no `expected_output`")
            problems.add(source, example.span, finding)
            case["validate"] = ["non-empty"]
        else:
            case["expected"] = as_template(expected if isinstance(expected, str) else to_json(expected).decode())
        yield case


def _why_not(key: str, value: Node) -> str:
    """Why a key of an example is not imported; empty for those that are."""
    if key == "inputs":
        return "" if isinstance(value, Mapping) or is_null(value) else "inputs are a mapping"
    if key in _READ:
        return ""
    near = nearest(key, _READ)
    return f"an example has `{near}`" if near is not None else NO_COUNTERPART
