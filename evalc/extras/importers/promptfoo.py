"""Imports promptfoo configurations, and names everything that has no counterpart at its place."""

from __future__ import annotations

import csv
import json
import os
import re
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import compress, islice, product
from pathlib import Path
from typing import Any, Final, final

import msgspec
from msgspec.structs import replace

from evalc.base.files import is_below, project_root
from evalc.base.source import Source, Span
from evalc.check.tree import Check
from evalc.diagnostics import Diagnostics, Finding
from evalc.dsl import nodes
from evalc.dsl.nodes import Node, Scalar, stretch
from evalc.dsl.read_yaml import read_yaml
from evalc.dsl.scalars import to_plain
from evalc.dsl.sources import read_source
from evalc.dsl.write_yaml import Noted
from evalc.extras.importers.imported import (
    NO_COUNTERPART,
    CaseNames,
    Imported,
    Schemas,
    as_template,
    documents_of,
    entry_of,
    left_out,
    name_of,
    yaml_of,
)
from evalc.extras.importers.promptfoo_assertions import (
    PromptfooTest,
    Unmappable,
    checks_of,
    ignored_keys,
    of_one_test,
    rendered,
    rows_of,
    template_of,
    variables_of,
)
from evalc.grammar.write_check import AS_TEMPLATES
from evalc.model.json import is_number
from evalc.model.suite import slug

_FILE: Final = "file://"
_PATH_TO_FILE: Final = re.compile(r"[^\s{}]+\.(?:txt|md|json|jsonl|ya?ml|csv|j2|py|js|cjs|mjs|ts|rb|sh)(?::\w+)?")
_SEPARATOR: Final = re.compile(r"^[^\S\n]*---[^\S\n]*$", re.MULTILINE)
_MOST_COMBINATIONS: Final = 1000
_LIMIT: Final = re.compile(r"(latency|cost) <= \S+")
_MOST_FILES: Final = 100
_TEXTS: Final = (".txt", ".md", ".csv", ".diff", ".html", ".patch", ".sql", ".xml")
_LONGEST: Final = 100_000
_SHORT: Final = 60
_PLAIN: Final = re.compile(r"[A-Za-z0-9\s_.,:;!?-]*")
"""A description of which a name says as much."""
_MARKS: Final = ("prompts", "tests", "scenarios", "defaultTest")
_TEST_KEYS: Final = frozenset({"description", "vars", "assert", "threshold", "metadata", "options"})
_TEST_TABLES: Final = (".csv", ".tsv")
_TEST_FILES: Final = (".yaml", ".yml", ".json")
_ELSEWHERE: Final[dict[str, str]] = {
    "providers": "agents are named in the configuration or with `--agent`",
    "targets": "agents are named in the configuration or with `--agent`",
    "env": "an eval file reads no environment",
    "evaluateOptions": "how a run is made is said in the configuration",
    "commandLineOptions": "how a run is made is said in the configuration",
    "outputPath": "results go where the configuration says",
    "extensions": "code does not run in an eval file",
    "nunjucksFilters": "templates have no filters",
    "derivedMetrics": "scores are made of criteria and their weights",
}
_OPTIONS: Final[dict[str, str]] = {
    "provider": "the judge is named in the configuration",
    "rubricPrompt": "the judge has a prompt of its own",
}


def is_promptfoo(document: Node | None) -> bool:
    """Whether a document looks like a promptfoo configuration."""
    return isinstance(document, nodes.Mapping) and any(key.text in _MARKS for key, _ in document.pairs)


def import_promptfoo(source: Source, folder: Path, problems: Diagnostics) -> Imported | None:
    """The suite of a promptfoo configuration, for `folder`; None if the file has errors."""
    documents = documents_of(source, problems)
    if documents is None:
        return None
    root = documents[0] if len(documents) == 1 else None
    if not isinstance(root, nodes.Mapping) or not is_promptfoo(root):
        problems.add(source, Span(0, 0), Finding("EV652", expected="a promptfoo configuration"))
        return None
    return _Importer(source, folder, problems).imported(root)


@final
class _Prompt(msgspec.Struct):
    """A prompt: a template, the path of one, or a conversation."""

    text: str = ""
    file: str = ""
    messages: tuple[Mapping[str, str], ...] = ()
    variables: tuple[str, ...] = ()


@final
class _Importer:
    def __init__(self, source: Source, folder: Path, problems: Diagnostics) -> None:
        self._source = source
        self._folder = folder
        self._problems = problems
        self._names = CaseNames()
        self._naming = ""
        self._head: list[str] = []
        self._open_files: set[str] = set()
        self._is_folding_noted = False
        self._metrics: dict[str, None] = {}
        self._suite = _suite_name(Path(source.name))
        self._schemas = Schemas(self._suite)
        self._root = project_root(Path(source.name))

    def imported(self, root: nodes.Mapping) -> Imported | None:
        values = {key.text: value for key, value in root.pairs}
        for key, _ in root.pairs:
            if key.text in _ELSEWHERE:
                self._say_in_head(key, f"`{key.text}`", _ELSEWHERE[key.text])
            elif key.text not in (*_MARKS, "description", "$schema"):
                self._say_in_head(key, f"`{key.text}`", NO_COUNTERPART)
        prompts = self._prompts(values.get("prompts"))
        default = self._default(values.get("defaultTest"))
        tests = [*self._tests(self._source, values.get("tests"), default)]
        tests += self._scenarios(values.get("scenarios"), default)
        self._naming = _naming(tests)
        cases: list[Any] = []
        inherits: list[bool] = []
        weaker = 0
        waiting: list[str] = []
        for number, test in enumerate(tests, 1):
            try:
                case = self._case(test, prompts, number)
            except Unmappable as reason:
                named = f"the test `{test.description}`" if test.description else "a test"
                waiting += [*test.comments, self._leave_out(test.source, test.node, named, f"{reason}")]
            else:
                cases.append(Noted(case, (*waiting, *test.comments)))
                inherits.append(test.inherits)
                weaker += not test.is_whole
                waiting = []
        if not cases:
            self._problems.add(self._source, Span(0, 0), Finding("EV656", why=_why_none(tests, prompts)))
            return None
        data = self._prompts_and_inputs(prompts, [noted.value for noted in cases])
        shared = _taken_out([case.value for case in compress(cases, inherits)], default.vars)
        for case, inherits_them in zip(cases, inherits, strict=True):
            if shared and not inherits_them:
                name, rest = case.value.pop("name"), dict(case.value)
                case.value.clear()
                case.value.update({"name": name, "inherit": False, **rest})
        written = self._written(values, data | shared, cases, waiting)
        return written and replace(written, weaker=weaker, lost=len(tests) - len(cases))

    def _written(
        self, values: Mapping[str, Node], shared: Mapping[str, Any], cases: list[Any], behind: list[str]
    ) -> Imported | None:
        data: dict[str, Any] = {"suite": self._suite}
        description = values.get("description")
        if isinstance(description, Scalar):
            data["description"] = description.text
        data |= shared
        # Promptfoo's metrics have no weights.
        share = round(1 / len(self._metrics), 2) if len(self._metrics) > 1 else 1
        criteria = {"criteria": [{"name": name, "weight": share} for name in self._metrics]} if self._metrics else {}
        data["eval"] = {**criteria, "test_cases": Noted(cases, tuple(behind))}
        head = (f"Imported from {Path(self._source.name).name} (promptfoo).", *self._head)
        text = yaml_of(data, self._source, self._problems, head=head)
        if text is None:
            return None
        files, file_name = self._schemas.files(), f"{self._suite}.eval.yaml"
        return Imported(text=text, side_files=files, file_name=file_name, cases=len(cases))

    def _prompts_and_inputs(self, prompts: Mapping[str, _Prompt], cases: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        """The prompts, and the declarations that let every case fill them, if it does not do so without."""
        first, *others = prompts.values()
        if first.messages:
            return {}
        if others:
            written = {name: {"file": each.file} if each.file else each.text for name, each in prompts.items()}
            keys: dict[str, Any] = {"prompts": written}
        else:
            keys = {"prompt_file": first.file} if first.file else {"prompt": first.text}
        given = [frozenset(case.get("inputs", ())) for case in cases]
        everywhere = frozenset.intersection(*given)
        used = dict.fromkeys(name for each in prompts.values() for name in each.variables)
        if used.keys() <= everywhere and not others:
            return keys
        names = dict.fromkeys((*used, *(name for each in given for name in sorted(each))))
        return keys | {
            "inputs": [{"name": name, **({} if name in everywhere else {"required": False})} for name in names]
        }

    # --- prompts ---

    def _prompts(self, node: Node | None) -> dict[str, _Prompt]:
        """The prompts that map, by their names; the others are left out."""
        if node is None:
            return {"prompt": _Prompt(text="{{prompt}}", variables=("prompt",))}
        found: dict[str, _Prompt] = {}
        names = CaseNames()
        for item in node.items if isinstance(node, nodes.Sequence) else (node,):
            try:
                for label, prompt in self._of_item(item):
                    if found and (prompt.messages or any(each.messages for each in found.values())):
                        why = "`prompts` compares texts, and no conversations"
                        self._say_in_head(item, "a further prompt", why)
                    else:
                        found[names.make(label, f"prompt_{len(found) + 1}")] = prompt
            except Unmappable as reason:
                self._say_in_head(item, "a further prompt" if found else "the prompt", f"{reason}")
        return found

    def _of_item(self, node: Node) -> Iterator[tuple[str, _Prompt]]:
        """The prompts of an entry, with what each is called."""
        label = ""
        if isinstance(node, nodes.Mapping):
            fields = {key.text: value for key, value in node.pairs}
            raw = fields.get("raw", fields.get("id"))
            if raw is None or "function" in fields:
                raise Unmappable("it is made by code")
            named = fields.get("label")
            label = named.text if isinstance(named, Scalar) else ""
            for key in (key for key, value in node.pairs if value not in (raw, named)):
                why = "how a model is asked is said of the agent" if key.text == "config" else NO_COUNTERPART
                self._say_in_head(key, f"`{key.text}` of the prompt", why)
            node = raw
        if not isinstance(node, Scalar):
            raise Unmappable("it is not a text")
        text = node.text
        path = text.strip().removeprefix(_FILE)
        if text.startswith(_FILE) or _PATH_TO_FILE.fullmatch(path):
            for each in self._matching(path):
                yield from ((label or name, prompt) for name, prompt in self._prompt_file(each))
        elif text.startswith(("exec:", "langfuse://", "portkey://", "helicone://", "http://", "https://")):
            raise Unmappable("it comes from elsewhere")
        else:
            yield label, _prompt_of(text)

    def _prompt_file(self, path: str) -> Iterator[tuple[str, _Prompt]]:
        """The prompts of a file, with its name: a text, several between lines of `---`, or a conversation as data."""
        source = self._read(path, (".txt", ".md", *_TEST_FILES))
        name = Path(path).name.partition(".")[0]
        try:
            if path.endswith(_TEST_FILES):
                conversation = _conversation(self._data_of(source))
                if conversation is None:
                    raise Unmappable("only messages are a prompt, each a `role` and a text as `content`")
                yield name, conversation
            elif len(parts := _SEPARATOR.split(source.text)) > 1 and path.endswith(".txt"):
                yield from ((name, _prompt_of(part.strip())) for part in parts if part.strip())
            else:
                yield name, _Prompt(file=self._relative(path), variables=variables_of(source.text))
        except Unmappable as reason:
            raise Unmappable(f"in `{path}`, {reason}") from reason

    # --- files beside the configuration ---

    def _read(self, path: str, endings: tuple[str, ...]) -> Source:
        """A file that the configuration names, if it is of a kind that can be read and lies within the project."""
        if not path.endswith(endings) or "*" in path:
            raise Unmappable(f"`{path}` is not a file that can be imported ({', '.join(endings)})")
        file = Path(self._source.name).parent / path
        if not is_below(file, self._root):
            raise Unmappable(f"`{path}` lies outside of the project")
        found = Diagnostics()
        source = read_source(file, found.add)
        if source is None or found.has_errors:
            raise Unmappable(next(iter(found)).finding.message())
        return source

    def _matching(self, path: str) -> list[str]:
        """The path, or the paths that a pattern matches."""
        if "*" not in path:
            return [path]
        folder = Path(self._source.name).parent
        try:
            found = sorted(islice(folder.glob(path), _MOST_FILES))
        except (ValueError, NotImplementedError, OSError) as error:
            raise Unmappable(f"`{path}` is no pattern of files") from error
        if not found:
            raise Unmappable(f"`{path}` matches no file")
        return [Path(os.path.relpath(each, folder)).as_posix() for each in found]

    def _data_of(self, source: Source) -> Any:
        """The data of a file of YAML or JSON."""
        documents = documents_of(source, Diagnostics())
        if documents is None or len(documents) != 1 or documents[0] is None:
            raise Unmappable("it is not one document of YAML or JSON")
        return _data(documents[0])

    def _of_file(self, name: str, value: Any) -> Any:
        """The value of a variable; the text of the file that it names, as promptfoo reads it."""
        if not isinstance(value, str) or not value.startswith(_FILE):
            return value
        path = value.removeprefix(_FILE)
        try:
            source = self._read(path, (*_TEXTS, *_TEST_FILES))
            if len(source.text) > _LONGEST:
                raise Unmappable(f"`{path}` has more than {_LONGEST:,} characters")
            return json.dumps(self._data_of(source)) if path.endswith((".yaml", ".yml")) else source.text.strip()
        except Unmappable as reason:
            raise Unmappable(f"its variable `{name}` is in a file: {reason}") from reason

    def _relative(self, path: str) -> str:
        """A path that counts from the configuration as a path that counts from the suite's folder."""
        file = Path(self._source.name).parent / path
        return Path(os.path.relpath(file, self._folder)).as_posix()

    def _keep_schema(self, schema: object) -> str:
        if isinstance(schema, str):
            path = schema.removeprefix(_FILE)
            self._read(path, (".json",))
            return self._relative(path)
        return self._schemas.keep(schema)

    # --- tests ---

    def _default(self, node: Node | None) -> PromptfooTest:
        default = PromptfooTest(self._source, node or Scalar(stretch(0, 0), "", "plain"))
        if node is not None:
            self._read_test(default, self._source, node)
            self._head += default.comments
            default.comments = []
        default.assertions, default.inherited = [], default.assertions
        return default

    def _tests(self, source: Source, node: Node | None, default: PromptfooTest) -> Iterator[PromptfooTest]:
        if node is None:
            return
        for item in node.items if isinstance(node, nodes.Sequence) else (node,):
            if isinstance(item, Scalar):
                yield from self._tests_of_file(source, item, default)
            elif isinstance(item, nodes.Mapping) and any(key.text == "path" for key, _ in item.pairs):
                self._say_in_head(item, "tests", "they are made by code", source)
            else:
                yield from self._expanded(_merged(default, self._read_test(PromptfooTest(source, item), source, item)))

    def _tests_of_file(self, source: Source, item: Scalar, default: PromptfooTest) -> Iterator[PromptfooTest]:
        path = item.text.removeprefix(_FILE)
        try:
            file = self._read(path, _TEST_TABLES + _TEST_FILES)
        except Unmappable as reason:
            self._say_in_head(item, f"the tests of `{path}`", f"{reason}", source)
            return
        if file.name in self._open_files:
            self._say_in_head(item, f"the tests of `{path}`", "the file names itself", source)
        elif path.endswith(_TEST_TABLES):
            try:
                for test, ignored in rows_of(file, "\t" if path.endswith(".tsv") else ","):
                    test.comments = [self._leave_out(file, test.node, f"`{key}`", why) for key, why in ignored]
                    yield from self._expanded(_merged(default, test))
            except csv.Error as error:
                self._say_in_head(item, f"the tests of `{path}`", f"{error}", source)
        else:
            self._open_files.add(file.name)
            documents = read_yaml(file, lambda span, finding: self._problems.add(file, span, finding))
            for document in documents:
                yield from self._tests(file, document, default)
            self._open_files.remove(file.name)

    def _scenarios(self, node: Node | None, default: PromptfooTest) -> Iterator[PromptfooTest]:
        for item in node.items if isinstance(node, nodes.Sequence) else ():
            fields = {key.text: value for key, value in item.pairs} if isinstance(item, nodes.Mapping) else {}
            config, tests = fields.get("config"), fields.get("tests")
            if not isinstance(config, nodes.Sequence) or not isinstance(tests, nodes.Sequence):
                self._say_in_head(item, "a scenario", "only scenarios in the configuration itself are imported")
                continue
            for key, _ in item.pairs if isinstance(item, nodes.Mapping) else ():
                if key.text not in ("config", "tests"):
                    self._say_in_head(key, f"`{key.text}` of the scenario", NO_COUNTERPART)
            for values in config.items:
                given = _merged(default, self._read_test(PromptfooTest(self._source, values), self._source, values))
                yield from self._tests(self._source, tests, given)

    def _read_test(self, test: PromptfooTest, source: Source, node: Node) -> PromptfooTest:
        """The fields of a test, unread."""
        if not isinstance(node, nodes.Mapping):
            self._problems.add(source, node.span, Finding("EV654", what="a test", expected="a mapping"))
            return test
        for key, value in node.pairs:
            match key.text:
                case "description" if isinstance(value, Scalar):
                    test.description = value.text
                case "vars" if isinstance(value, nodes.Mapping):
                    test.vars = {name.text: _data(each) for name, each in value.pairs}
                case "vars":
                    test.why_not.append("its `vars` are in another file")
                case "assert" if isinstance(value, nodes.Sequence):
                    test.assertions = [(source, item, _data(item)) for item in value.items]
                case "threshold" | "metadata":
                    setattr(test, key.text, _data(value))
                case "options":
                    self._read_options(test, source, value)
                case name if name in _TEST_KEYS:
                    self._problems.add(
                        source, value.span, Finding("EV654", what=f"`{name}`", expected="a list or text")
                    )
                case name:
                    why = _ELSEWHERE.get(f"{name}s", NO_COUNTERPART)
                    test.comments.append(self._leave_out(source, key, f"`{name}`", why))
        return test

    def _read_options(self, test: PromptfooTest, source: Source, value: Node) -> None:
        for key, each in value.pairs if isinstance(value, nodes.Mapping) else ():
            if key.text in ("transform", "postprocess", "transformVars", "prefix", "suffix", "storeOutputAs"):
                test.why_not.append(f"`{key.text}` changes what is sent or checked")
            elif key.text == "disableDefaultAsserts" and isinstance(each, Scalar):
                test.inherits = _data(each) is not True
            else:
                why = _OPTIONS.get(key.text, NO_COUNTERPART)
                test.comments.append(self._leave_out(source, key, f"`{key.text}`", why))

    def _expanded(self, test: PromptfooTest) -> Iterator[PromptfooTest]:
        """A test for each combination of the variables that are lists, as promptfoo runs them."""
        lists = {name: value for name, value in test.vars.items() if isinstance(value, list)}
        combinations = product(*lists.values())
        for index, combination in enumerate(islice(combinations, _MOST_COMBINATIONS + 1)):
            if index == _MOST_COMBINATIONS:
                why = f"only the first {_MOST_COMBINATIONS} are imported"
                self._say_in_head(test.node, "combinations of variables", why, test.source)
                return
            chosen = dict(zip(lists, combination, strict=True))
            comments = list(test.comments) if index == 0 else []
            yield replace(test, vars={**test.vars, **chosen}, comments=comments)

    # --- cases ---

    def _case(self, test: PromptfooTest, prompts: Mapping[str, _Prompt], number: int) -> dict[str, Any]:
        if test.why_not:
            raise Unmappable(test.why_not[0])
        if not prompts:
            raise Unmappable("its prompt is not imported")
        messages = next(iter(prompts.values())).messages
        values = _filled({name: self._of_file(name, value) for name, value in test.vars.items()})
        checks, behind = self._checks(test, frozenset(values))
        if not checks:
            test.comments += behind
            raise Unmappable("nothing of it is checked here")
        called = test.description or str(values.get(self._naming, ""))
        case: dict[str, Any] = {"name": self._names.make(called, f"test_{number}")}
        says_more = _PLAIN.fullmatch(test.description) is None
        if says_more or name_of(test.description, longest=_LONGEST) not in ("", case["name"]):
            case["description"] = as_template(test.description)
        if messages:
            case["messages"] = list(messages)
        if values:
            case["inputs"] = values
        case["validate"] = Noted(checks, tuple(behind))
        if test.metadata is not None:
            case["x-metadata"] = test.metadata
        if isinstance(test.threshold, int | float) and test.threshold != 1:
            why = "in promptfoo a score of that much is enough, here every check has to hold"
            test.comments.append(self._leave_out(test.source, test.node, f"`threshold: {test.threshold}`", why))
            test.is_whole = False
        return case

    def _checks(self, test: PromptfooTest, variables: frozenset[str]) -> tuple[list[Noted], list[str]]:
        """The entries of `validate:`, and comments to stand behind the last of them."""
        waiting: list[str] = []
        found: list[tuple[Check, Mapping[str, Any], tuple[str, ...]]] = []
        for source, node, data in (*test.inherited, *test.assertions):
            if not isinstance(data, dict):
                self._problems.add(source, node.span, Finding("EV654", what="an assertion", expected="a mapping"))
                continue
            type_ = f"`{data.get('type')}`"
            if data.get("weight") == 0 and not isinstance(data.get("weight"), bool):
                why = "its weight is 0, so it decides nothing in promptfoo; here every check has to hold"
                waiting.append(self._leave_out(source, _type_of(node), type_, why))
                continue
            try:
                checks = checks_of(data, variables, self._keep_schema)
            except Unmappable as reason:
                waiting.append(self._leave_out(source, _type_of(node), type_, f"{reason}"))
                test.is_whole = False
                continue
            if "{{" in str(data.get("metric", "")):
                waiting.append(self._leave_out(source, node, f"`metric` of {type_}", "criteria have no templates"))
            for key, why in ignored_keys(data).items():
                waiting.append(self._leave_out(source, node, f"`{key}` of {type_}", why))
            if "icontains" in str(data.get("type")):
                waiting.append(self._note_folding(source, node, type_))
            for check in checks:
                found.append((check, data, tuple(waiting)))
                waiting = []
        scored = [not data.keys().isdisjoint(("metric", "weight")) for _, data, _ in found]
        placed = of_one_test([check for check, _, _ in found], scored=scored)
        entries, behind = list[Noted](), list[str]()
        for kept, (_, data, notes) in zip(placed, found, strict=True):
            if kept is None:
                behind += notes
            else:
                entries.append(Noted(self._entry(kept, data), notes))
        return entries, [*behind, *waiting]

    def _entry(self, check: Check, assertion: Mapping[str, Any]) -> object:
        """The entry of `validate:` that is a check with its metric and weight."""
        metric, weight = assertion.get("metric"), assertion.get("weight", 1)
        criterion = metric if isinstance(metric, str) and metric and "{{" not in metric else None
        if criterion is not None:
            self._metrics.setdefault(criterion)
        is_weight = is_number(weight) and weight >= 0
        return entry_of(check, criterion, weight if is_weight else 1, AS_TEMPLATES, self._keep_schema)

    # --- what is left out ---

    def _leave_out(self, source: Source, node: Node, what: str, why: str) -> str:
        """Report what is not imported; the comment that says so in the suite, empty if one says so already."""
        finding = Finding("EV651", what=what, why=why)
        before = len(self._problems)
        self._problems.add(source, node.span, finding)
        # Else it was said where the first case was that it concerns.
        return left_out(finding, source, node.start) if len(self._problems) > before else ""

    def _say_in_head(self, node: Node, what: str, why: str, source: Source | None = None) -> None:
        """Report what is not imported, and say so in the head of the suite."""
        self._head.append(self._leave_out(source or self._source, node, what, why))

    def _note_folding(self, source: Source, node: Node, type_: str) -> str:
        """Report, once for the file, how cases of letters are compared; the comment that says so in the suite."""
        if self._is_folding_noted:
            return ""
        self._is_folding_noted = True
        why = "`ignoring case` takes `ß` for `ss` and the ligature `ﬁ` for `fi`, which promptfoo does not"
        finding = Finding("EV655", what=type_, why=why)
        self._problems.add(source, _type_of(node).span, finding)
        return finding.message()


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


def _naming(tests: Sequence[PromptfooTest]) -> str:
    """The variable with the most short values, by which tests are named; empty if there is none."""
    values: dict[str, set[object]] = {}
    for test in tests:
        for name, value in test.vars.items():
            is_short = isinstance(value, str | int | float) and 0 < len(str(value)) <= _SHORT and "{" not in str(value)
            if is_short and not str(value).startswith(_FILE):
                values.setdefault(name, set()).add(value)
    best = max(values, key=lambda name: len(values[name]), default="")
    return best if best and (len(values[best]) > 1 or len(tests) == 1) else ""


def _why_none(tests: Sequence[PromptfooTest], prompts: Mapping[str, _Prompt]) -> str:
    if not tests:
        return "it has no tests that can be read"
    if not prompts:
        return "none of its prompts can be taken over"
    if not any(test.assertions or (test.inherits and test.inherited) for test in tests):
        return "no test asserts anything"
    return "no assertion has a counterpart"


def _prompt_of(text: str) -> _Prompt:
    data: object = None
    if text.lstrip().startswith("["):
        with suppress(ValueError):
            data = json.loads(text)
    return _conversation(data) or _Prompt(text=template_of(text), variables=variables_of(text))


def _conversation(data: object) -> _Prompt | None:
    """The prompt that is a list of messages; None for any other data."""
    if not isinstance(data, list) or not data:
        return None
    if not all(
        isinstance(each, dict) and each.keys() == {"role", "content"} and isinstance(each["content"], str)
        for each in data
    ):
        return None
    filled = tuple({"role": each["role"], "content": template_of(each["content"])} for each in data)
    variables = dict.fromkeys(name for each in data for name in variables_of(each["content"]))
    return _Prompt(messages=filled, variables=tuple(variables))


def _merged(default: PromptfooTest, test: PromptfooTest) -> PromptfooTest:
    """A test with what `defaultTest` gives it: the assertions of both, its own variables winning."""
    return replace(
        test,
        description=test.description or default.description,
        vars={**default.vars, **test.vars},
        assertions=[*default.assertions, *test.assertions],
        inherited=list(default.inherited) if test.inherits else [],
        threshold=test.threshold if test.threshold is not None else default.threshold,
        metadata=test.metadata if test.metadata is not None else default.metadata,
        why_not=[*default.why_not, *test.why_not],
        comments=[*default.comments, *test.comments],
    )


def _taken_out(cases: Sequence[dict[str, Any]], given: Container[str]) -> dict[str, Any]:
    """Take out the checks that all cases have, and inputs that are `given`; the key `defaults` that says them."""
    if len(cases) < 2:
        return {}
    checks: dict[str, list[Noted]] = {}
    for case in cases:
        for each in case["validate"].value:
            checks.setdefault(json.dumps(each.value), []).append(each)
    had = [[each.value for each in case["validate"].value] for case in cases]
    shared = {
        key: Noted(each[0].value, tuple(comment for one in each for comment in one.comments))
        for key, each in checks.items()
        if len(each) > 1 and all(each[0].value in own or _limited(each[0].value) & _limited(*own) for own in had)
    }
    inputs = {
        name: value
        for name, value in cases[0].get("inputs", {}).items()
        if name in given and all(case["inputs"].get(name, ...) == value for case in cases)
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


def _filled(values: Mapping[str, Any]) -> dict[str, Any]:
    """The variables with the templates in them filled by each other, as promptfoo fills them.

    Promptfoo takes the line break off the end of a variable.
    """
    values = {name: value.removesuffix("\n") if isinstance(value, str) else value for name, value in values.items()}
    texts = {name: value if isinstance(value, str) else json.dumps(value) for name, value in values.items()}
    filled: dict[str, Any] = {}
    for name, value in values.items():
        try:
            has_tag = isinstance(value, str) and any(opening in value for opening in ("{{", "{%", "{#"))
            filled[name] = rendered(value, texts) if has_tag else value
        except Unmappable as reason:
            raise Unmappable(f"in its variable `{name}`, {reason}") from reason
    return filled


def _data(node: Node) -> Any:
    return to_plain(node, lambda _span, _finding: None)


def _type_of(node: Node) -> Node:
    """The `type` of an assertion, where messages about it point."""
    pairs: Iterable[tuple[Scalar, Node]] = node.pairs if isinstance(node, nodes.Mapping) else ()
    return next((value for key, value in pairs if key.text == "type"), node)
