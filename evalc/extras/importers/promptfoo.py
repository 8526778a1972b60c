"""Imports promptfoo configurations, and names everything that has no counterpart at its place."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import compress
from pathlib import Path
from typing import Any, Final, NamedTuple, final

from evalc.base.source import Source, Span
from evalc.check.tree import All, Check, Test, all_of, asks, within
from evalc.diagnostics import Diagnostics, Finding
from evalc.dsl import nodes
from evalc.dsl.nodes import Node, Scalar, fields_of
from evalc.dsl.scalars import to_plain
from evalc.dsl.write_yaml import Noted
from evalc.extras.importers.imported import (
    FOR_TOML,
    IN_CONFIGURATION,
    NO_COUNTERPART,
    CaseNames,
    Imported,
    Schemas,
    SideFile,
    document_of,
    entry_of,
    name_of,
    refused,
    says_all,
    yaml_of,
)
from evalc.extras.importers.promptfoo_agents import agents_of, makes_objects
from evalc.extras.importers.promptfoo_assertions import checks_of, ignored_keys, is_graded
from evalc.extras.importers.promptfoo_code import COMMENT, Code, with_values
from evalc.extras.importers.promptfoo_prompts import Prompt, prompts_of
from evalc.extras.importers.promptfoo_rows import in_rows
from evalc.extras.importers.promptfoo_scores import Scored, enough_of, members_of, weight_of
from evalc.extras.importers.promptfoo_shape import losses_once, of_one_test, said_once, taken_out, with_lists
from evalc.extras.importers.promptfoo_source import CODE, FILE, Configuration
from evalc.extras.importers.promptfoo_templates import Unmappable, filled, template_of, uses, without_environment
from evalc.extras.importers.promptfoo_tests import PromptfooTest, Tests
from evalc.grammar.write_check import AS_TEMPLATES
from evalc.model.json import is_number, to_json
from evalc.model.suite import slug

_MEDIA: Final = re.compile(
    r"\.(?:pdf|jpe?g|png|gif|bmp|webp|svg|mp[34]|webm|ogg|mov|avi|wmv|mkv|m4[av]|wav|aac|flac|wma|aiff|opus)\Z", re.I
)
_SECRET: Final = re.compile(r"(?:\A|/)\.env[^/]*\Z", re.IGNORECASE)
_LONGEST: Final = 100_000
_SHORT: Final = 60
_LINE: Final = 300
_IS_NAME: Final = re.compile(r"(?!\[|\w+://)[^{\n]*[^\W_][^{\n]*\Z")
"""A line with a letter or digit that is no address, and no list or template."""
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
    return _Importer(source, folder, problems).imported(root) if isinstance(root, nodes.Mapping) else None


class _Found(NamedTuple):
    """The check of an assertion, with the comments above it, and the set that it counts for."""

    check: Check
    assertion: Mapping[str, Any]
    notes: tuple[str, ...]
    of_set: tuple[int, float] | None = None


@final
class _Importer:
    def __init__(self, source: Source, folder: Path, problems: Diagnostics) -> None:
        self._source = source
        self._problems = problems
        self._given = Configuration(source, folder, problems)
        self._names = CaseNames()
        self._naming = ""
        self._above: dict[str, list[str]] = {}
        self._for_toml: list[str] = []
        self._of_default: list[str] = []
        self._is_folding_noted = False
        self._knows_prompt = True
        self._unknown: set[str] = set()  # variables of which the head says that they are not known
        self._compares_meanings = False
        self._metrics: dict[str, None] = {}
        self._suite = _suite_name(Path(source.name))
        self._schemas = Schemas(self._suite)
        self._code = Code(self._given, self._suite)
        self._reader = Tests(self._given, self._code)

    def imported(self, root: nodes.Mapping) -> Imported | None:
        values = fields_of(root)
        above = self._above = {key.text: self._given.comments_above(self._source, key) for key, _ in root.pairs}
        self._of_default += above.get("defaultTest", [])
        for key, value in root.pairs:
            if key.text in ("providers", "targets"):
                self._for_toml += agents_of(self._given, value)
            elif key.text not in _READ:
                self._given.say_in_head(key, f"`{key.text}`", _ELSEWHERE.get(key.text, NO_COUNTERPART))
        prompts = prompts_of(self._given, values.get("prompts"))
        self._code.gives_objects = makes_objects(
            *map(self._plain, (values.get("providers", values.get("targets")), values.get("prompts")))
        )
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
        cases, self._given.head = losses_once(cases, self._given.head, [self._of_default, waiting], self._given.losses)
        data = self._prompts_and_inputs(prompts, [noted.value for noted in cases])
        shared = taken_out([case.value for case in compress(cases, [test.inherits for test in over])], default.vars)
        for case, test in zip(cases, over, strict=True):
            if shared and not test.inherits:
                name, rest = case.value.pop("name"), dict(case.value)
                case.value.clear()
                case.value.update({"name": name, "inherit": False, **rest})
        if shared:
            shared["defaults"] = Noted(shared["defaults"], tuple(self._of_default))
        else:
            self._given.head += self._of_default
        for name in [*data][:1]:
            data[name] = Noted(data[name], tuple(above.get("prompts", ())))
        if prompts:
            cases = in_rows(cases, [test.table for test in over], self._naming)
        said_once(cases)
        text = self._written(values, data | shared, cases, waiting)
        if text is None:
            return None
        return Imported(
            text=text,
            side_files=self._side_files(),
            checks=self._code.files(),
            compares_meanings=self._compares_meanings,
            models=tuple(self._for_toml),
            file_name=f"{self._suite}.eval.yaml",
            cases=len(over),
            weaker=sum(not test.is_whole for test in over),
            lost=len(tests) - len(over),
        )

    def _plain(self, node: Node | None) -> Any:
        return None if node is None else self._given.plain(node)

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
        path = self._given.in_folder(f"{self._suite}.eval.yaml")
        imported = Imported(
            text="", side_files=self._side_files(), file_name=path.name, cases=len(cases), checks=self._code.files()
        )
        faults = refused(cases, self._criteria(), path, imported) if cases else {}
        return [faults.get(number, "") for number in range(len(cases))]

    def _side_files(self) -> tuple[SideFile, ...]:
        return (*self._schemas.files(), *self._code.side_files())

    def _criteria(self) -> dict[str, Any]:
        """The criteria that the metrics are, which have no weights in promptfoo."""
        named = [name if _CRITERION.fullmatch(name) else {"name": name} for name in self._metrics]
        return {"criteria": named} if named else {}

    def _written(
        self, values: Mapping[str, Node], shared: Mapping[str, Any], cases: list[Any], behind: list[str]
    ) -> str | None:
        """The text of the suite; None if it cannot be written, which is reported."""
        data: dict[str, Any] = {"suite": self._suite}
        description = values.get("description")
        if isinstance(description, Scalar):
            data["description"] = description.text
        data |= shared
        data["eval"] = {**self._criteria(), "test_cases": Noted(cases, (*self._above.get("tests", ()), *behind))}
        about = next(iter(self._above.values()), [])
        for_toml = [*self._for_toml]
        if checks := self._code.files():
            for_toml.insert(0, f"checks = {json.dumps([self._given.in_project(each) for each in checks])}")
        if self._compares_meanings:
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
        values = self._values(test, prompts)
        if values != test.vars:
            test.table = None
        if not prompts:
            if not values:
                raise Unmappable("its prompt is not imported, and it has no variables to send")
            test.is_whole = False
        own = self._own_prompt(test, prompts)
        self._code.test = {"metadata": test.metadata or {}} | (
            {"description": test.description} if test.description else {}
        )
        self._code.knows_prompt = self._knows_prompt and not test.unknown
        checks, behind = self._checks(test, values)
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

    def _checks(self, test: PromptfooTest, values: Mapping[str, Any]) -> tuple[list[Noted], list[str]]:
        """The entries of `validate:`, and comments to stand behind the last of them."""
        waiting: list[str] = []
        found: list[_Found] = []
        are_all = True
        for source, node, data, is_inherited, of_set in _asserted(test):
            lost = self._of_default if is_inherited else waiting
            above = self._given.comments_above(source, node)
            if not isinstance(data, dict):
                self._problems.add(source, node.span, Finding("EV654", what="an assertion", expected="a mapping"))
                continue
            type_ = f"`{data.get('type')}`"
            if data.get("weight") == 0 and type_ != "`assert-set`" and not isinstance(data.get("weight"), bool):
                why = "its weight is 0, so it decides nothing in promptfoo; here every check has to hold"
                lost += [*above, self._given.leave_out(source, _type_of(node), type_, why)]
                continue
            try:
                self._refuse_unknown({**data, "of": test.transform}, (*test.unknown, *self._reader.stored))
                fields = {**data, COMMENT: " ".join(above)} if above else data
                checks, differences = checks_of(fields, values, test.transform, self._keep_schema, self._code)
            except Unmappable as reason:
                lost += [*above, self._given.leave_out(source, _type_of(node), _shown(data), f"{reason}")]
                test.is_whole = are_all = False
                continue
            functions = _functions_of(checks)
            waiting += [] if _are_named(functions, " ".join(above)) else above
            if "{{" in str(data.get("metric", "")):
                try:
                    data = {**data, "metric": with_values(str(data["metric"]), values)}  # noqa: PLW2901
                except Unmappable as reason:
                    waiting.append(self._given.leave_out(source, node, f"`metric` of {type_}", f"{reason}"))
            if isinstance(said := data.get("description"), str) and not _are_named(functions, said):
                waiting.append(said)
            for key, why in ignored_keys(data).items():
                waiting.append(self._given.leave_out(source, node, f"`{key}` of {type_}", why))
            self._compares_meanings |= any(asks(each, "similar") for each in checks)
            for why in differences:
                waiting.append(self._given.differ(source, _type_of(node), type_, why))
                test.is_whole = False
            if "icontains" in str(data.get("type")):
                self._note_folding(source, node, type_)
            found.append(_Found(all_of(checks), data, tuple(waiting), of_set))
            waiting = []
        if is_number(test.threshold):
            found = self._enough(test, found, are_all=are_all)
        single = [(part, data, notes) for check, data, above, _ in found for part, notes in _parts(check, above)]
        scored = [not data.keys().isdisjoint(("metric", "weight")) for _, data, _ in single]
        placed = of_one_test([check for check, _, _ in single], scored=scored)
        entries, behind = list[Noted](), list[str]()
        for kept, (_, data, notes) in zip(placed, single, strict=True):
            if kept is None:
                behind += notes
            else:
                entries.append(Noted(self._entry(kept, data), notes))
        return entries, [*behind, *waiting]

    def _enough(self, test: PromptfooTest, found: list[_Found], *, are_all: bool) -> list[_Found]:
        """The checks that hold where the score of a test reaches its threshold."""
        what, threshold = f"`threshold: {test.threshold}`", float(str(test.threshold))
        if not 0 < threshold <= 1:
            raise Unmappable(f"with {what}, promptfoo passes it always, or never")
        if not found:
            return []
        try:
            if not are_all:
                raise Unmappable("not all that counts for it is imported")
            scored = [Scored(check, weight_of(data), is_graded(data, check), of) for check, data, _, of in found]
            needed, some, differences = enough_of(scored, threshold)
        except Unmappable as reason:
            why = f"{reason}; in promptfoo a score of that much is enough, here every check has to hold"
            test.comments.append(self._given.leave_out(test.source, test.node, what, why))
            test.is_whole = False
            return found
        for why in differences:
            test.comments.append(self._given.differ(test.source, test.node, what, why))
            test.is_whole = False
        kept = [each._replace(check=needed[index]) for index, each in enumerate(found) if index in needed]
        if some is not None:
            others = [each for index, each in enumerate(found) if index not in needed]
            notes = [note for each in others for note in each.notes]
            if any("metric" in each.assertion for each in others):
                why = "a check within a composition has no criterion of its own"
                notes.append(self._given.leave_out(test.source, test.node, "`metric`", why))
            kept.append(_Found(some, {}, (*notes, f"for {what} of promptfoo")))
        return kept

    def _entry(self, check: Check, assertion: Mapping[str, Any]) -> object:
        """The entry of `validate:` that is a check with its metric and weight."""
        metric, weight = assertion.get("metric"), assertion.get("weight", 1)
        criterion = metric if isinstance(metric, str) and metric and "{{" not in metric else None
        if criterion is not None:
            self._metrics.setdefault(criterion)
        is_weight = is_number(weight) and weight >= 0
        return entry_of(with_lists(check), criterion, weight if is_weight else 1, AS_TEMPLATES, self._keep_schema)

    # --- files and notes ---

    def _values(self, test: PromptfooTest, prompts: Mapping[str, Prompt]) -> dict[str, Any]:
        """The values of a test's variables, but for those that only promptfoo knows."""
        values: dict[str, Any] = {}
        left_out: dict[str, str] = {}
        for name, value in test.vars.items():
            text = value if isinstance(value, str) else ""
            if any(uses(text, each) for each in self._reader.stored):
                raise Unmappable(f"its variable `{name}` uses the answer to another test")
            filled_in, lacking = without_environment(text, self._given.environment) if "{{" in text else (text, "")
            if filled_in != text:
                test.unknown = (*test.unknown, name)
            path = filled_in.removeprefix(FILE) if filled_in.startswith(FILE) else ""
            if lacking and path:
                left_out[name] = f"the environment is not read, and `{lacking}` names its file"
            elif CODE.search(path):
                left_out[name] = f"`{path}` is code, and an eval file runs none"
            elif _MEDIA.search(path):
                values[name] = path
                self._say_of_variable(test, name, "it is the path of a file, of which promptfoo sends what it holds")
            else:
                try:
                    values[name] = self._of_file(name, filled_in if text else value)
                except Unmappable:
                    if "*" not in test.unknown:
                        raise
                    values[name] = value  # which the code may read in a way of its own
                if lacking:
                    why = f"the environment is not read, so `{lacking}` is filled as where it is not set"
                    self._say_of_variable(test, name, why)
        found, faults = _filled(values)
        left_out |= faults
        left_out |= dict.fromkeys(_using(left_out, values), "it uses another that is not imported")
        values = {name: value for name, value in found.items() if name not in left_out}
        asked = {name for each in prompts.values() for name in each.variables}
        for name, why in left_out.items():
            if name in asked and self._reader.shared.get(name) != test.vars[name]:
                raise Unmappable(f"in its variable `{name}`, {why}")  # the prompt is about it
        for name, why in left_out.items():
            self._say_of_variable(test, name, why, is_left_out=True)
        test.unknown = (*test.unknown, *_using(test.unknown, test.vars))
        return values

    def _say_of_variable(self, test: PromptfooTest, name: str, why: str, *, is_left_out: bool = False) -> None:
        """Say in the head, once for each variable, that it is another one here or is left out."""
        test.is_whole = False
        test.unknown = (*test.unknown, name)
        if name not in self._unknown:
            self._unknown.add(name)
            say = self._given.leave_out if is_left_out else self._given.differ
            self._given.head.append(say(test.source, test.node, f"the variable `{name}`", why))

    def _refuse_unknown(self, assertion: Mapping[str, Any], unknown: Sequence[str]) -> None:
        """Refuse an assertion that uses a variable whose value is not known here."""
        text, value = json.dumps(assertion), assertion.get("value")
        path = value.removeprefix(FILE).partition(":")[0] if isinstance(value, str) and value.startswith(FILE) else ""
        code = self._given.read(path).text if path and unknown else ""
        for name in unknown:
            may_use = uses(text + code, name) or re.search(r"\b(?:import|require)\b", code)
            if may_use or (name == "*" and text.count(FILE) > bool(path)):
                why = "code makes a variable that it may use" if name == "*" else f"`{name}` is not known here"
                raise Unmappable(why)

    def _of_file(self, name: str, value: Any) -> Any:
        """The value of a variable; the text of the file that it names, as promptfoo reads it."""
        if not isinstance(value, str) or not value.startswith(FILE):
            return value
        path = value.removeprefix(FILE)
        try:
            if _SECRET.search(path):
                raise Unmappable(f"`{path}` may hold secrets")
            source = self._given.read(path)
            if len(source.text) > _LONGEST:
                raise Unmappable(f"`{path}` has more than {_LONGEST:,} characters")
            is_yaml = path.endswith((".yaml", ".yml"))
            return to_json(to_plain(self._given.document(source))).decode() if is_yaml else source.text.strip()
        except Unmappable as reason:
            raise Unmappable(f"its variable `{name}` is in a file: {reason}") from reason

    def _keep_schema(self, schema: object) -> str:
        if isinstance(schema, str):
            self._given.read(schema, (".json",))
            return self._given.relative(schema)
        return self._schemas.keep(schema)

    def _note_folding(self, source: Source, node: Node, type_: str) -> None:
        """Report, once for the file, how cases of letters are compared, and say so in the head of the suite."""
        if not self._is_folding_noted:
            self._is_folding_noted = True
            why = "`ignoring case` takes `ß` for `ss` and the ligature `ﬁ` for `fi`, which promptfoo does not"
            self._given.head.append(self._given.differ(source, _type_of(node), type_, why))


# --- parts -----------------------------------------------------------------------------------------------------------


def _suite_name(path: Path) -> str:
    """The file's name as a slug; of `promptfooconfig.yaml`, the folder's, with what is between the name and its end."""
    if path.name == "<stdin>":
        return "promptfoo"
    stem, *more = path.name.split(".")[:-1] or [""]
    if stem in ("promptfooconfig", ""):
        stem = path.absolute().parent.name
        return slug("-".join((stem, *more))) or "promptfoo"
    return slug(stem) or "promptfoo"


def _named_in(metadata: object) -> str:
    """The name that metadata give a test, if they do."""
    name = metadata.get("name") if isinstance(metadata, dict) else None
    return name if isinstance(name, str) else ""


def _functions_of(checks: Sequence[Check]) -> list[str]:
    """The names of the functions that checks call."""
    tests = (each for check in checks for each in within(check) if isinstance(each, Test))
    return [each.operand[0] for each in tests if each.predicate == "check"]


def _are_named(functions: Sequence[str], said: str) -> bool:
    """Whether the names of functions say all that this says."""
    words = name_of(said, longest=len(said))
    return bool(words) and any(each.endswith(f"_{words}") for each in functions)


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


def _using(names: Iterable[str], values: Mapping[str, Any]) -> list[str]:
    """The variables, but for these, that are filled with one of them, or with another that is."""
    found = [*names]
    for known in found:  # which grows
        found += [each for each, text in values.items() if each not in found and uses(str(text), known)]
    return [name for name in found if name not in {*names}]


def _filled(values: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, str]]:
    """The variables with the templates in them filled by each other, as promptfoo fills them, and why some are not.

    Promptfoo takes the line break off the end of a variable.
    """
    values = {name: value.removesuffix("\n") if isinstance(value, str) else value for name, value in values.items()}
    found: dict[str, Any] = {}
    faults: dict[str, str] = {}
    for name, value in values.items():
        try:
            has_tag = isinstance(value, str) and any(opening in value for opening in ("{{", "{%", "{#"))
            found[name] = filled(value, values) if has_tag else value
        except Unmappable as reason:
            faults[name] = f"{reason}"
    return found, faults


_OfSet = tuple[int, float] | None


def _asserted(test: PromptfooTest) -> Iterator[tuple[Source, Node, Any, bool, _OfSet]]:
    """The assertions of a test, with whether `defaultTest` has them, and the set where a score decides."""
    for index, (source, node, data) in enumerate((*test.inherited, *test.assertions)):
        members, of_set = [data], None
        if is_number(test.threshold) and isinstance(data, dict) and data.get("type") == "assert-set":
            with suppress(Unmappable):  # which is said of the set
                members, of_set = members_of(data), (index, weight_of(data))
        yield from ((source, node, each, index < len(test.inherited), of_set) for each in members)


def _parts(check: Check, notes: tuple[str, ...]) -> Iterator[tuple[Check, tuple[str, ...]]]:
    """The checks that all have to hold, the first with the notes."""
    first, *more = check.checks if isinstance(check, All) else (check,)
    yield first, notes
    yield from ((each, ()) for each in more)


def _shown(assertion: Mapping[str, Any]) -> str:
    """An assertion that is lost, with its value where that is short; of code, the reason shows it."""
    type_, value = assertion.get("type"), assertion.get("value")
    is_code = str(type_).endswith(("javascript", "python"))
    is_short = isinstance(value, str) and 0 < len(value) <= _SHORT and not {"`", "\n"} & {*value} and not is_code
    return f"`{type_}: {value}`" if is_short else f"`{type_}`"


def _type_of(node: Node) -> Node:
    """The `type` of an assertion, where messages about it point."""
    return fields_of(node).get("type", node)
