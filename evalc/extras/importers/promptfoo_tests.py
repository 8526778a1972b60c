"""Reads the tests of a promptfoo configuration: in it, in files of data and in tables."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import accumulate, chain, islice, product
from pathlib import Path
from typing import Any, Final, final

import msgspec
from msgspec.structs import replace

from evalc.base.source import Source
from evalc.compiler.rows import csv_reader
from evalc.dsl import nodes
from evalc.dsl.nodes import Node, Scalar, fields_of, one_or_many, stretch
from evalc.dsl.read_yaml import read_yaml
from evalc.dsl.scalars import to_plain
from evalc.extras.importers.imported import IN_CONFIGURATION, NO_COUNTERPART, Unmappable
from evalc.extras.importers.promptfoo_agents import judge_of
from evalc.extras.importers.promptfoo_assertions import TYPES
from evalc.extras.importers.promptfoo_code import Code
from evalc.extras.importers.promptfoo_rows import Table
from evalc.extras.importers.promptfoo_source import DATA_FILES, FILE, Configuration

_MOST_COMBINATIONS: Final = 1000
_MOST_TESTS: Final = 100_000
_MOST_FILES: Final = 1000
"""How many files of tests are read: each may name others, and those others again."""
_TEST_KEYS: Final = frozenset({"description", "vars", "assert", "threshold", "metadata", "options", "prompts"})
_TABLES: Final = (".csv", ".tsv")
_LINES: Final = (".jsonl", ".ndjson")
_SHEETS: Final = re.compile(r".*\.xlsx?(?:#.*)?")
_WHY_NOT: Final[dict[str, str]] = {
    "provider": IN_CONFIGURATION,
    "assertScoringFunction": "code does not run in an eval file",
    "providerOutput": "answers come from the agent",
}
_DECIDES: Final = ("assertScoringFunction", "providerOutput")
"""Keys of a test without which it has another verdict."""
_OPTIONS: Final[dict[str, str]] = {
    "provider": IN_CONFIGURATION,
    "rubricPrompt": "the judge has a prompt of its own",
}


@final
class PromptfooTest(msgspec.Struct):
    """A test on its way to a case: its parts with the file that each is in, and why no case can mean the same.

    Of an assertion these are the file, the place and the data. Those of `defaultTest` are `inherited`, unless the test
    says that it `inherits` none. Its variables that are lists make several tests if it `is_expanded`. It `is_whole` if
    everything that decides its verdict came over.
    """

    source: Source
    node: Node
    description: str = ""
    called: str = ""  # the name or id that is written beside no description, of which promptfoo knows nothing
    vars: dict[str, Any] = {}
    assertions: list[tuple[Source, Node, Any]] = []
    inherited: list[tuple[Source, Node, Any]] = []
    inherits: bool = True
    threshold: object = None
    metadata: object = None
    prompts: list[str] | None = None  # the labels or ids of those that it is asked with, if not with all
    repeat: int = 1
    transform: str = ""  # of the output, in JavaScript
    transform_vars: tuple[Source, Node, str] | None = None  # where it is written what makes further variables
    unknown: tuple[str, ...] = ()  # variables whose values only promptfoo knows; `*` is any
    table: Table | None = None
    why_not: list[str] = []
    comments: list[str] = []
    is_expanded: bool = True
    is_default: bool = False
    is_whole: bool = True


class Tests:
    """The tests of a configuration."""

    def __init__(self, configuration: Configuration, code: Code) -> None:
        self._configuration = configuration
        self._code = code
        self._open_files: set[str] = set()
        self._files_read = 0
        self.judge = ""  # the line of a configuration that names the grader of all tests
        self.stored: dict[str, None] = {}  # the variables that are answers to other tests
        self.shared: dict[str, Any] = {}  # the variables of `defaultTest`

    def default(self, node: Node | None) -> PromptfooTest:
        """The test that gives every other its parts: `defaultTest`."""
        given = self._configuration
        source, place = given.source, node or Scalar(stretch(0, 0), "", "plain")
        if isinstance(node, Scalar):
            try:
                source = given.read(node.text, DATA_FILES)
                place = given.document(source)
            except Unmappable as reason:
                given.say_in_head(node, "`defaultTest`", f"{reason}")
                node = None
        default = PromptfooTest(source, place, is_default=True)
        if node is not None:
            self._fill(default, source, place)
            given.head += default.comments
            default.comments = []
        default.assertions, default.inherited = [], default.assertions
        self.shared = default.vars
        return default

    def of(self, source: Source, node: Node | None, default: PromptfooTest) -> Iterator[PromptfooTest]:
        """The tests of a list, or of the files that it names."""
        for item in one_or_many(node):
            if isinstance(item, Scalar):
                yield from self._of_files(source, item, default)
            elif "path" in fields_of(item):
                self._configuration.say_in_head(item, "tests", "they are made by code", source)
            else:
                test = PromptfooTest(source, item)
                self._fill(test, source, item)
                yield from self._expanded(_merged(default, test))

    def all_of(self, values: Mapping[str, Node], default: PromptfooTest) -> list[PromptfooTest]:
        """All tests; promptfoo makes one of `defaultTest` where there are no others."""
        given = self._configuration
        listed = self.of(given.source, values.get("tests"), default)
        tests = [*islice(chain(listed, self.of_scenarios(values.get("scenarios"), default)), _MOST_TESTS + 1)]
        if len(tests) > _MOST_TESTS:
            beyond, why = tests.pop(), f"only the first {_MOST_TESTS:,} are imported"
            given.say_in_head(beyond.node, "more tests", why, beyond.source)
        if not tests and default.inherited and not values.keys() & {"tests", "scenarios"}:
            tests = [*self._expanded(_merged(default, PromptfooTest(default.source, default.node)))]
        return tests

    def of_scenarios(self, node: Node | None, default: PromptfooTest) -> Iterator[PromptfooTest]:
        """Each test of a scenario with each entry of its `config`, or the entries alone."""
        given = self._configuration
        for source, item in self._items(given.source, node, "scenarios"):
            fields = fields_of(item)
            if "config" not in fields:
                given.say_in_head(item, "a scenario", "it has no `config`", source)
                continue
            for key, _ in item.pairs if isinstance(item, nodes.Mapping) else ():
                if key.text not in ("config", "tests"):
                    given.say_in_head(key, f"`{key.text}` of the scenario", NO_COUNTERPART, source)
            for beside, values in self._items(source, fields["config"], "the `config` of a scenario"):
                test = PromptfooTest(beside, values)
                self._fill(test, beside, values)
                merged = _merged(default, test)
                tests = fields.get("tests")
                yield from self._expanded(merged) if tests is None else self.of(source, tests, merged)

    def _items(self, source: Source, node: Node | None, called: str) -> Iterator[tuple[Source, Node]]:
        """The items of a list, or of the lists in the files that are named in its place."""
        for item in one_or_many(node):
            if not isinstance(item, Scalar):
                yield source, item
                continue
            try:
                for path in self._configuration.matching(item.text):
                    file = self._configuration.read(path, DATA_FILES)
                    inside = self._configuration.document(file)
                    yield from ((file, each) for each in one_or_many(inside))
            except Unmappable as reason:
                self._configuration.say_in_head(
                    item, f"{called} in `{item.text.removeprefix(FILE)}`", f"{reason}", source
                )

    # --- files ---

    def _of_files(self, source: Source, item: Scalar, default: PromptfooTest) -> Iterator[PromptfooTest]:
        try:
            if _SHEETS.fullmatch(item.text):
                raise Unmappable("a sheet is not read; save it as CSV")
            for path in self._configuration.matching(item.text):
                file = self._configuration.read(path, _TABLES + _LINES + DATA_FILES)
                if file.name in self._open_files:
                    raise Unmappable("the file names itself")
                if self._files_read == _MOST_FILES:
                    raise Unmappable(f"only the first {_MOST_FILES} files of tests are read")
                self._files_read += 1
                self._open_files.add(file.name)
                yield from self._of_file(file, default)
                self._open_files.remove(file.name)
        except (Unmappable, csv.Error) as reason:
            self._configuration.say_in_head(item, f"the tests of `{item.text.removeprefix(FILE)}`", f"{reason}", source)

    def _of_file(self, file: Source, default: PromptfooTest) -> Iterator[PromptfooTest]:
        given = self._configuration
        if file.name.endswith(_TABLES):
            rows = [*rows_of(file, "\t" if file.name.endswith(".tsv") else ",")]
            table = Table(given.relative_to_suite(Path(file.name)), tuple(rows[0][0].vars), len(rows)) if rows else None
            for test, ignored in rows:
                test.table = table if file.name.endswith(".csv") else None
                test.comments = [given.leave_out(file, test.node, f"`{key}`", why) for key, why in ignored]
                yield from self._expanded(_merged(default, test))
            return
        if file.name.endswith(_LINES):  # as one list, in which a line is where it was
            lines = "\n".join(f"{line}," if line.strip() else line for line in file.text.split("\n"))
            file = Source(file.name, f"[{lines}]")
        for document in read_yaml(file, partial(given.problems.add, file)):
            yield from self.of(file, document, default)

    # --- a test ---

    def _fill(self, test: PromptfooTest, source: Source, node: Node) -> None:
        """Read the fields of a test."""
        given = self._configuration
        if not isinstance(node, nodes.Mapping):
            given.expect(source, node, "a test", "a mapping")
            return
        fields = fields_of(node)
        for key, value in node.pairs:
            match key.text:
                case "description" if isinstance(value, Scalar):
                    test.description = value.text
                case "name" | "id" if isinstance(value, Scalar) and "description" not in fields and not test.called:
                    test.called = value.text
                case "vars":
                    self._read_variables(test, value)
                case "assert" if isinstance(value, nodes.Sequence):
                    test.assertions = [(source, item, given.plain(item)) for item in value.items]
                case "threshold" | "metadata":
                    setattr(test, key.text, to_plain(value))
                case "prompts" if isinstance(value, nodes.Sequence):
                    test.prompts = [str(each) for each in to_plain(value)]
                case "options":
                    self._read_options(test, source, value)
                case name if name in _TEST_KEYS:
                    given.expect(source, value, f"`{name}`", "a list or text")
                case name:
                    why = _WHY_NOT.get(name.removesuffix("s"), _WHY_NOT.get(name, NO_COUNTERPART))
                    test.is_whole = test.is_whole and name not in _DECIDES
                    test.comments.append(given.leave_out(source, key, f"`{name}`", why))

    def _read_variables(self, test: PromptfooTest, node: Node) -> None:
        """Read variables, or those of the files that are named in their place."""
        if isinstance(node, nodes.Mapping):
            test.vars = {**test.vars, **{name.text: to_plain(each) for name, each in node.pairs}}
            return
        given = self._configuration
        try:
            for item in one_or_many(node):
                for path in given.matching(item.text) if isinstance(item, Scalar) else ():
                    variables = to_plain(given.document(given.read(path, DATA_FILES)))
                    if not isinstance(variables, dict):
                        raise Unmappable(f"`{path}` holds no variables")
                    test.vars = {**test.vars, **variables}
        except Unmappable as reason:
            test.why_not.append(f"its `vars` are in another file: {reason}")

    def _read_options(self, test: PromptfooTest, source: Source, value: Node) -> None:
        for key, each in value.pairs if isinstance(value, nodes.Mapping) else ():
            said = to_plain(each)
            if key.text in ("transform", "postprocess") and isinstance(each, Scalar):
                test.transform = test.transform if key.text == "postprocess" and test.transform else each.text
            elif key.text in ("transform", "postprocess", "prefix", "suffix"):
                test.why_not.append(f"`{key.text}` changes what is sent or checked")
            elif key.text == "storeOutputAs" and isinstance(said, str):
                self.stored[said] = None
            elif key.text == "transformVars" and isinstance(each, Scalar):
                test.transform_vars = (source, key, each.text)
            elif key.text == "disableDefaultAsserts" and isinstance(each, Scalar):
                test.inherits = said is not True
            elif key.text == "disableVarExpansion" and isinstance(said, bool):
                test.is_expanded = not said
            elif key.text == "provider" and test.is_default and (judge := judge_of(said)):
                self.judge = judge
            elif key.text == "repeat" and type(said) is int and said > 0:
                test.repeat = said
            else:
                why = _OPTIONS.get(key.text, NO_COUNTERPART)
                test.comments.append(self._configuration.leave_out(source, key, f"`{key.text}`", why))

    def _expanded(self, test: PromptfooTest) -> Iterator[PromptfooTest]:
        """A test for each combination of the variables that are lists of texts, as promptfoo runs them."""
        if test.transform_vars is not None:
            source, key, code = test.transform_vars
            try:
                test = replace(test, vars={**test.vars, **self._code.variables(code, test.vars)}, table=None)
            except Unmappable as reason:
                why = f"{reason}; a case sends the variables that are written"
                comment = self._configuration.leave_out(source, key, "`transformVars`", why)
                test = replace(test, unknown=("*",), is_whole=False, comments=[*test.comments, comment])
        lists = {name: values for name, value in test.vars.items() if (values := self._values(value)) != [value]}
        if not lists or not test.is_expanded:
            yield test
            return
        combinations = product(*lists.values())
        for index, combination in enumerate(islice(combinations, _MOST_COMBINATIONS + 1)):
            if index == _MOST_COMBINATIONS:
                why = f"only the first {_MOST_COMBINATIONS} are imported"
                self._configuration.say_in_head(test.node, "combinations of variables", why, test.source)
                return
            chosen = dict(zip(lists, combination, strict=True))
            comments = list(test.comments) if index == 0 else []
            yield replace(test, vars={**test.vars, **chosen}, comments=comments)

    def _values(self, value: Any) -> list[Any]:
        """The values that a variable has one after the other."""
        if isinstance(value, list) and value and isinstance(value[0], str):
            return value
        if isinstance(value, str) and value.startswith(FILE) and "*" in value:
            try:
                return [FILE + path for path in self._configuration.matching(value)]
            except Unmappable:
                return [value]  # which is no file
        return [value]


def _both(default: object, own: object) -> object:
    """The metadata of a test and of those that give it theirs."""
    if isinstance(default, dict) and isinstance(own, dict):
        return {**default, **own}
    return default if own is None else own


def _merged(default: PromptfooTest, test: PromptfooTest) -> PromptfooTest:
    """A test with what `defaultTest` gives it: the assertions of both, its own variables winning."""
    return replace(
        test,
        description=test.description or default.description,
        vars={**default.vars, **test.vars},
        assertions=[*default.assertions, *test.assertions],
        inherited=list(default.inherited) if test.inherits else [],
        threshold=test.threshold if test.threshold is not None else default.threshold,
        prompts=test.prompts if test.prompts is not None else default.prompts,
        metadata=_both(default.metadata, test.metadata),
        repeat=test.repeat if test.repeat > 1 else default.repeat,
        transform=test.transform or default.transform,
        transform_vars=test.transform_vars or default.transform_vars,
        unknown=(*default.unknown, *test.unknown),
        is_expanded=test.is_expanded and default.is_expanded,
        is_whole=test.is_whole and default.is_whole,
        why_not=[*default.why_not, *test.why_not],
        comments=[*default.comments, *test.comments],
    )


# --- tables ----------------------------------------------------------------------------------------------------------


_ASSERTION: Final = re.compile(
    rf"(?P<type>(?:not-)?(?:{'|'.join(sorted(map(re.escape, TYPES), key=len, reverse=True))}))"
    r"(?:\((?P<threshold>\d+(?:\.\d+)?)\))?(?::(?P<value>.*))?",
    re.DOTALL,
)
"""A text that begins with no type is what the output has to equal."""
_WRITTEN_CODE: Final = re.compile(
    r"(?P<language>javascript|fn|eval|python|ruby):|file://.*\.(?:[cm]?[jt]s|(?P<python>py))(?::\w+)?\Z", re.DOTALL
)
_WITH_THRESHOLD: Final = frozenset(
    ("answer-relevance", "classifier", "context-faithfulness", "context-recall", "context-relevance", "cost", "latency",
     "levenshtein", "perplexity", "perplexity-score", "rouge-n", "similar", "starts-with")
)  # fmt: skip
"""The types whose number in parentheses counts in promptfoo."""
_COLUMN_WHY_NOT: Final[dict[str, str]] = {
    "__prefix": "it changes what is sent",
    "__suffix": "it changes what is sent",
    "__providerOutput": "answers come from the agent",
}
_READ: Final = frozenset(("__description", "__metric", "__threshold"))
_METADATA: Final = "__metadata"
_NUMBER: Final = re.compile(r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?", re.ASCII)
"""Wider than an author's numbers: promptfoo takes any, and no test reaches a threshold of `1e999`."""
_CONFIG: Final = re.compile(r"__config:__expected(?P<number>\d*):threshold")


def rows_of(source: Source, delimiter: str) -> Iterator[tuple[PromptfooTest, Sequence[tuple[str, str]]]]:
    """The tests of the rows below the header, each with what is ignored of it, and why.

    Raises:
        csv.Error: the text is not a table: a cell is too long, or a quote is never closed.
    """
    reader = csv_reader(io.StringIO(source.text, newline=""), delimiter=delimiter)
    header = [name.strip() for name in next(reader, [])]
    starts = [0, *accumulate(map(len, io.StringIO(source.text, newline="")))]  # as the reader of tables counts lines
    line = reader.line_num
    for cells in reader:
        at = starts[min(line, len(starts) - 1)]
        line = reader.line_num
        if any(cells):
            fields = dict(zip(header, cells, strict=False))
            place = Scalar(stretch(at, at), "", "plain")
            more = [(text, "it has no heading") for text in cells[len(header) :] if text]
            yield _test_of(fields, source, place), [*_ignored(fields), *more]


def _test_of(cells: Mapping[str, str], source: Source, place: Node) -> PromptfooTest:
    unknown = (
        key
        for key in cells
        if cells[key] and key.startswith("__") and not key.startswith(("__expected", _METADATA)) and key not in _READ
        if not (_CONFIG.fullmatch(key) and _NUMBER.fullmatch(cells[key].strip()))
    )
    metric = {"metric": cells["__metric"]} if cells.get("__metric") else {}
    threshold = cells.get("__threshold", "").strip()
    expected = (text.strip() for key, text in cells.items() if key.startswith("__expected") and text.strip())
    thresholds = {
        int(found["number"] or 1): {"threshold": _number(text)}
        for key, text in cells.items()
        if (found := _CONFIG.fullmatch(key)) and _NUMBER.fullmatch(text.strip())
    }
    return PromptfooTest(
        source,
        place,
        cells.get("__description", ""),
        vars={key: text for key, text in cells.items() if not key.startswith("__")},
        assertions=[
            (source, place, _assertion(text) | metric | thresholds.get(number, {}))
            for number, text in enumerate(expected, 1)
        ],
        threshold=float(threshold) if _NUMBER.fullmatch(threshold) else None,
        metadata=dict(_metadata(cells)) or None,
        why_not=[f"its column `{key}`: {_COLUMN_WHY_NOT.get(key, NO_COUNTERPART)}" for key in unknown],
    )


def _ignored(cells: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    threshold = cells.get("__threshold", "").strip()
    if threshold and not _NUMBER.fullmatch(threshold):
        yield "__threshold", f"`{threshold}` is not a number"
    if cells.get(_METADATA):
        yield _METADATA, "it names no key"


def _metadata(cells: Mapping[str, str]) -> Iterator[tuple[str, object]]:
    """The metadata in the columns `__metadata:key` and, for lists, `__metadata:key[]`."""
    for column, text in cells.items():
        if column.startswith(f"{_METADATA}:") and text.strip():
            key = column.removeprefix(f"{_METADATA}:")
            items = [item.strip().replace("\\,", ",") for item in re.split(r"(?<!\\),", text)]
            yield (key[:-2], items) if key.endswith("[]") else (key, text)


def _number(text: str) -> float:
    number = float(text)
    return int(number) if number.is_integer() else number


def _assertion(text: str) -> dict[str, Any]:
    """An assertion that is written as a text, `contains-any: a, b`; any other text is what the output has to equal."""
    code = _WRITTEN_CODE.match(text)
    if code is not None:
        language = "python" if code["python"] else code["language"]
        value = text.partition(":")[2] if code["language"] else text
        return {"type": language if language in ("python", "ruby") else "javascript", "value": value.strip()}
    if text.startswith("grade:"):
        return {"type": "llm-rubric", "value": text[6:].strip()}
    match = _ASSERTION.fullmatch(text)
    if match is None:
        return {"type": "equals", "value": text}
    found: dict[str, Any] = {"type": match["type"]}
    name, value = match["type"].removeprefix("not-"), (match["value"] or "").strip()
    if value:
        found["value"] = int(value) if name == "word-count" and value.isdecimal() else value
    if name in _WITH_THRESHOLD:
        found["threshold"] = _number(match["threshold"] or ("0.8" if name == "similar" else "0.75"))
    return found
