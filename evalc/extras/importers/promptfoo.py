"""Imports promptfoo configurations, and names everything that has no counterpart at its place."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import compress
from pathlib import Path
from typing import Any, Final, final

from evalc.base.source import Source, Span
from evalc.diagnostics import Diagnostics, Finding
from evalc.dsl import nodes
from evalc.dsl.nodes import Node, Scalar, fields_of
from evalc.dsl.write_yaml import Anchored, Noted
from evalc.extras.importers.imported import (
    FOR_TOML,
    IN_CONFIGURATION,
    LONG_TEXT,
    NO_COUNTERPART,
    CaseNames,
    Imported,
    Schemas,
    SideFile,
    Unmappable,
    document_of,
    name_of,
    refused,
    says_all,
    taken_out,
    yaml_of,
)
from evalc.extras.importers.promptfoo_agents import agents_of, makes_objects
from evalc.extras.importers.promptfoo_checks import Checks
from evalc.extras.importers.promptfoo_code import Code
from evalc.extras.importers.promptfoo_prompts import Prompt, Variables, prompts_of
from evalc.extras.importers.promptfoo_rows import comments_of, in_rows
from evalc.extras.importers.promptfoo_source import Configuration, Loss
from evalc.extras.importers.promptfoo_templates import template_of
from evalc.extras.importers.promptfoo_tests import PromptfooTest, Tests
from evalc.model.suite import slug

_SHORT: Final = 60
_LINE: Final = 300
_IS_NAME: Final = re.compile(r"(?!\[|\w+://)[^{\n]*[^\W_][^{\n]*\Z")
"""A line with a letter or digit that is no address, and no list or template."""
_OFTEN: Final = 3
"""How many losses of one reason are said once, in the head."""
_MOST_PLACES: Final = 20
_CRITERION: Final = re.compile(r"[^():\s]+(?: [^():\s]+)*")
"""A name that is a criterion as it stands."""
_MARKS: Final = ("prompts", "tests", "scenarios", "defaultTest")
_READ: Final = (*_MARKS, "description", "$schema", "assertionTemplates")
_ELSEWHERE: Final[dict[str, str]] = {
    "env": "an eval file reads no environment",
    **dict.fromkeys(
        ("evaluateOptions", "commandLineOptions", "envPath", "outputPath", "sharing", "writeLatestResults"),
        IN_CONFIGURATION,
    ),
    "extensions": "code does not run in an eval file",
    "nunjucksFilters": "templates have no filters",
    "derivedMetrics": "scores are made of criteria and their weights",
}


def is_promptfoo(document: Node | None) -> bool:
    """Whether a document looks like a promptfoo configuration."""
    return not fields_of(document).keys().isdisjoint(_MARKS)


def import_promptfoo(source: Source, folder: Path, problems: Diagnostics) -> Imported | None:
    """The suite of a promptfoo configuration, for `folder`; None if the file has errors."""
    root = document_of(source, problems, is_promptfoo, "a promptfoo configuration")
    return _Importer(source, folder, problems, root).imported() if isinstance(root, nodes.Mapping) else None


@final
class _Importer:
    def __init__(self, source: Source, folder: Path, problems: Diagnostics, root: nodes.Mapping) -> None:
        self._source = source
        self._problems = problems
        self._given = Configuration(source, folder, problems)
        self._names = CaseNames()
        self._naming = ""
        self._above: dict[str, list[str]] = {}
        self._for_toml: list[str] = []
        self._knows_prompt = True
        self._suite = _suite_name(Path(source.name))
        self._path = folder / f"{self._suite}.eval.yaml"
        self._root = root
        self._values = values = fields_of(root)
        self._schemas = Schemas(self._suite)
        asked = (values.get("providers", values.get("targets")), values.get("prompts"))
        gives_objects = makes_objects(*(None if node is None else self._given.plain(node) for node in asked))
        self._code = Code(self._given, self._suite, gives_objects=gives_objects)
        self._reader = Tests(self._given, self._code)
        self._variables = Variables(self._given, self._reader)
        self._checks = Checks(self._given, self._schemas)

    def imported(self) -> Imported | None:
        values, root = self._values, self._root
        above = self._above = {key.text: self._given.comments_above(self._source, key) for key, _ in root.pairs}
        self._checks.of_default += above.get("defaultTest", [])
        for key, value in root.pairs:
            if key.text in ("providers", "targets"):
                self._for_toml += agents_of(self._given, value)
            elif key.text not in _READ:
                self._given.say_in_head(key, f"`{key.text}`", _ELSEWHERE.get(key.text, NO_COUNTERPART))
        prompts = prompts_of(self._given, values.get("prompts"))
        reader = self._reader
        default = reader.default(values.get("defaultTest"))
        tests = reader.all_of(values, default)
        self._for_toml += [reader.judge] if reader.judge else []
        self._knows_prompt = bool(prompts) and not any(each.messages or each.template for each in prompts.values())
        self._naming = _naming(tests)
        notes = [self._given.comments_above(test.source, test.node) for test in tests]
        made = [*self._made(tests, prompts, notes)]
        whole = [each for each in made if isinstance(each, dict)]
        reasons = iter(self._refused(whole))
        cases: list[Any] = []
        over: list[PromptfooTest] = []
        waiting: list[str] = []
        for test, made_of, above_it in zip(tests, made, notes, strict=True):
            waiting += above_it
            reason = made_of if isinstance(made_of, str) else next(reasons)
            if reason:
                named = f"the test `{test.description}`" if test.description else "a test"
                waiting += [*test.comments, self._given.leave_out(test.source, test.node, named, reason)]
            else:
                cases.append(Noted(made_of, (*waiting, *test.comments)))
                over.append(test)
                waiting = []
        if not cases:
            self._problems.add(self._source, Span(0, 0), Finding("EV656", why=_why_none(tests, prompts)))
            return None
        cases, self._given.head = _losses_once(
            cases, self._given.head, [self._checks.of_default, waiting], self._given.losses
        )
        data = self._prompts_and_inputs(prompts, [noted.value for noted in cases])
        shared = taken_out([case.value for case in compress(cases, [test.inherits for test in over])], default.vars)
        for case, test in zip(cases, over, strict=True):
            if shared and not test.inherits:
                name, rest = case.value.pop("name"), dict(case.value)
                case.value.clear()
                case.value.update({"name": name, "inherit": False, **rest})
        if shared:
            shared["defaults"] = Noted(shared["defaults"], tuple(self._checks.of_default))
        else:
            self._given.head += self._checks.of_default
        for name in [*data][:1]:
            data[name] = Noted(data[name], tuple(above.get("prompts", ())))
        if prompts:
            cases = in_rows(cases, [test.table for test in over], self._naming, data.get("inputs", {}))
        _said_once(cases)
        text = self._written(data | shared, cases, waiting)
        if text is None:
            return None
        return Imported(
            text=text,
            side_files=self._side_files(),
            checks=self._code.files(),
            compares_meanings=self._checks.compares_meanings,
            models=tuple(self._for_toml),
            file_name=self._path.name,
            cases=len(over),
            weaker=sum(not test.is_whole for test in over),
            lost=len(tests) - len(over),
        )

    def _made(
        self, tests: Sequence[PromptfooTest], prompts: Mapping[str, Prompt], notes: Sequence[list[str]]
    ) -> Iterator[dict[str, Any] | str]:
        """The case of each test, or why there is none; where most tests have one note above, that may be the name."""
        are_names = sum(len(each) == 1 for each in notes) * 2 >= len(tests)
        for number, (test, above) in enumerate(zip(tests, notes, strict=True), 1):
            try:
                yield self._case(test, prompts, number, above if are_names else [])
            except Unmappable as reason:
                yield f"{reason}"

    def _refused(self, cases: Sequence[dict[str, Any]]) -> list[str]:
        """Why each case would stop the others from being compiled; empty for those that do not."""
        if not cases:
            return []
        faults = refused(cases, self._criteria(), self._path, self._side_files(), self._code.files())
        return [faults.get(number, "") for number in range(len(cases))]

    def _side_files(self) -> tuple[SideFile, ...]:
        return (*self._schemas.files(), *self._code.side_files())

    def _criteria(self) -> dict[str, Any]:
        """The criteria that the metrics are, which have no weights in promptfoo."""
        named = [name if _CRITERION.fullmatch(name) else {"name": name} for name in self._checks.metrics]
        return {"criteria": named} if named else {}

    def _written(self, shared: Mapping[str, Any], cases: list[Any], behind: list[str]) -> str | None:
        """The text of the suite; None if it cannot be written, which is reported."""
        data: dict[str, Any] = {"suite": self._suite}
        description = self._values.get("description")
        if isinstance(description, Scalar):
            data["description"] = description.text
        data |= shared
        data["eval"] = {**self._criteria(), "test_cases": Noted(cases, (*self._above.get("tests", ()), *behind))}
        about = next(iter(self._above.values()), [])
        for_toml = [*self._for_toml]
        if checks := self._code.files():
            for_toml.insert(0, f"checks = {json.dumps([self._given.in_project(each) for each in checks])}")
        if self._checks.compares_meanings:
            for_toml.insert(0, 'similarity = "embeddings"')
        lines = (f"{FOR_TOML}{line}" for line in for_toml)
        head = (f"Imported from {Path(self._source.name).name} (promptfoo).", *about, *lines, *self._given.head)
        return yaml_of(data, self._source, self._problems, head=head)

    def _prompts_and_inputs(self, prompts: Mapping[str, Prompt], cases: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        """The prompts, and the declarations that let every case fill them, if it does not do so without."""
        first, *others = prompts.values() or [None]
        if first is None or all(not case.keys().isdisjoint(("message", "messages")) for case in cases):
            return {}
        if others:
            written = {name: {"file": each.file} if each.file else each.text for name, each in prompts.items()}
            keys: dict[str, Any] = {"prompts": written}
        else:
            keys = {"prompt_file": first.file} if first.file else {"prompt": first.text}
        given = [frozenset(case.get("inputs", ())) for case in cases]
        everywhere = frozenset.intersection(*given)
        used = dict.fromkeys(name for each in prompts.values() for name in each.variables)
        if used.keys() <= everywhere:
            return keys
        names = dict.fromkeys((*used, *(name for each in given for name in sorted(each))))
        return keys | {"inputs": {name: {"required": name in everywhere} for name in names}}

    # --- cases ---

    def _case(
        self, test: PromptfooTest, prompts: Mapping[str, Prompt], number: int, notes: list[str]
    ) -> dict[str, Any]:
        if test.why_not:
            raise Unmappable(test.why_not[0])
        values = self._variables.of(test, prompts)
        if values != test.vars:
            test.table = None
        if not prompts:
            if not values:
                raise Unmappable("its prompt is not imported, and it has no variables to send")
            test.is_whole = False
        own = self._own_prompt(test, prompts)
        described = {"description": test.description} if test.description else {}
        of_test = {"metadata": test.metadata or {}} | described
        code = self._code.of_test(of_test, knows_prompt=self._knows_prompt and not test.unknown)
        checks, behind = self._checks.of(test, values, code, self._reader.stored)
        if not checks:
            test.comments += behind
            asserts = test.assertions or test.inherited
            raise Unmappable("nothing of it is checked here" if asserts else "it asserts nothing")
        called = test.called or _named_in(test.metadata) or str(values.get(self._naming, ""))
        if not (test.description or called) and len(notes) == 1:
            called = notes[0]
            notes[:] = [] if says_all(name_of(called), called) else notes
        case: dict[str, Any] = {**self._names.keys(test.description, f"test_{number}", called=called)}
        case |= self._sent(test, own or next(iter(prompts.values()), Prompt()), values)
        if own is not None and case.keys().isdisjoint(("message", "messages")):
            case["message"] = template_of(own.raw, values)
        if values:
            case["inputs"] = values
        case["validate"] = Noted(checks, tuple(behind))
        if test.repeat > 1:
            case["repeat"] = test.repeat
        if test.metadata is not None:
            case["x-metadata"] = test.metadata
        return case

    def _own_prompt(self, test: PromptfooTest, prompts: Mapping[str, Prompt]) -> Prompt | None:
        """The only prompt that a test is asked with; None if it is asked with all."""
        asked = [each for each in prompts.values() if test.prompts is None or each.is_among(test.prompts)]
        if len(asked) == len(prompts):
            return None
        if not asked:
            raise Unmappable("none of the prompts that it is asked with is imported")
        if len(asked) > 1:
            why = "a case has a prompt of its own, or all of them"
            test.comments.append(self._given.leave_out(test.source, test.node, "`prompts`", why))
            return None
        return asked[0]

    def _sent(self, test: PromptfooTest, prompt: Prompt, values: Mapping[str, Any]) -> dict[str, Any]:
        """The keys that send a prompt which is filled in for each case."""
        try:
            return prompt.sent_with(values)
        except Unmappable as reason:
            if not values:
                raise
            test.comments.append(self._given.leave_out(test.source, test.node, "its prompt", f"{reason}"))
            test.is_whole = False
            return {}


# --- parts -----------------------------------------------------------------------------------------------------------


_SAY_NOTHING: Final = frozenset(("", "promptfooconfig", "promptfoo", "eval", "evals", "evaluation", "test", "tests"))
"""Names of files and folders that every project has."""


def _suite_name(path: Path) -> str:
    """The name of the file as a slug, or of a folder above it that says more, with what is between name and ending."""
    if path.name == "<stdin>":
        return "promptfoo"
    stem, *more = path.name.split(".")[:-1] or [""]
    names = (stem, *(folder.name for folder in path.absolute().parents[:3]))
    name = next((name for name in names if name.lower() not in _SAY_NOTHING), names[1])
    return slug("-".join((name, *more))) or "promptfoo"


def _named_in(metadata: object) -> str:
    """The name that metadata give a test, if they do."""
    name = metadata.get("name") if isinstance(metadata, dict) else None
    return name if isinstance(name, str) else ""


def _naming(tests: Sequence[PromptfooTest]) -> str:
    """The variable with the most short values, else lines, by which tests are named; empty if there is none.

    It distinguishes at least half of the tests.
    """
    for longest in (_SHORT, _LINE):
        values: dict[str, set[object]] = {}
        for test in tests:
            for name, value in test.vars.items():
                text = str(value) if isinstance(value, str | int | float) else ""
                if len(text) <= longest and _IS_NAME.match(text):
                    values.setdefault(name, set()).add(value)
        best = max(values, key=lambda name: len(values[name]), default="")
        if best and len(values[best]) * 2 >= len(tests):
            return best
    return ""


def _why_none(tests: Sequence[PromptfooTest], prompts: Mapping[str, Prompt]) -> str:
    if not tests:
        return "it has no tests that can be read"
    if not any(test.assertions or (test.inherits and test.inherited) for test in tests):
        return "no test asserts anything"
    if not prompts:
        return "none of its prompts can be taken over"
    return "no assertion has a counterpart"


# --- what would be said often ----------------------------------------------------------------------------------------


def _losses_once(
    cases: Sequence[Noted], head: Sequence[str], lists: Sequence[list[str]], losses: Mapping[str, Loss]
) -> tuple[list[Noted], list[str]]:
    """The cases without the comments on what is lost three times or more, and the head, which says that once.

    It is taken out of the other `lists` of comments, too.
    """
    said = [*head, *(each for comments in lists for each in comments)]
    said += [comment for case in cases for comment in comments_of(case)]
    reasons = {comment: (loss.how, loss.why) for comment, loss in losses.items()}
    groups: dict[tuple[str, str], list[Loss]] = {}
    for comment in filter(losses.__contains__, said):
        groups.setdefault(reasons[comment], []).append(losses[comment])
    in_head = Counter(reasons[comment] for comment in head if comment in losses)
    often = {reason for reason, each in groups.items() if len(each) >= _OFTEN or in_head[reason] > 1}

    def others(comments: Iterable[str]) -> tuple[str, ...]:
        return tuple(each for each in comments if reasons.get(each) not in often)

    for comments in lists:
        comments[:] = others(comments)
    found = []
    for case in cases:
        checks = case.value["validate"]
        entries = [Noted(entry.value, others(entry.comments)) for entry in checks.value]
        case.value["validate"] = Noted(entries, others(checks.comments))
        found.append(Noted(case.value, others(case.comments)))
    return found, [*others(head), *(_all_of(each) for reason, each in groups.items() if reason in often)]


def _all_of(losses: Sequence[Loss]) -> str:
    """One comment for losses that have the same reason."""
    places: dict[str, list[str]] = {}
    for loss in losses:
        places.setdefault(loss.what, []).append(loss.place)
    parts = (f"{what}{_places(each)}" for what, each in places.items())
    return f"{losses[0].how}: {', '.join(parts)}: {losses[0].why}"


def _places(places: Sequence[str]) -> str:
    """The places of one file after the other, as ` (a.yaml:1:3)` or `, 3 times (a.yaml:1:3, 2:3, b.yaml:1:5)`."""
    files = ["", *(place.partition(":")[0] for place in places)]
    shown = [
        place.removeprefix(f"{file}:") if file == before else place
        for place, file, before in zip(places, files[1:], files, strict=False)
    ]
    more = f" and {len(shown) - _MOST_PLACES} more" if len(shown) > _MOST_PLACES else ""
    listed = f" ({', '.join(shown[:_MOST_PLACES])}{more})" if any(shown) else ""
    return f", {len(shown)} times{listed}" if len(shown) > 1 else listed


def _said_once(cases: Sequence[Noted]) -> None:
    """Write inputs and messages that are long and repeated once, and refer to them elsewhere."""
    places = [
        (holder, key)
        for case in cases
        for holder, keys in (
            (case.value, ("message", "messages")),
            (case.value.get("inputs"), case.value.get("inputs")),
        )
        if isinstance(holder, dict)
        for key in keys or ()
        if key in holder
    ]
    sizes = Counter(json.dumps(holder[key]) for holder, key in places)
    names: dict[str, str] = {}
    taken = CaseNames()
    for holder, key in places:
        text = json.dumps(holder[key])
        if sizes[text] > 1 and (len(text) > LONG_TEXT or key == "messages"):
            is_alias = text in names
            if not is_alias:
                names[text] = taken.make(key, "text")
            holder[key] = Anchored(holder[key], names[text], is_alias=is_alias)
