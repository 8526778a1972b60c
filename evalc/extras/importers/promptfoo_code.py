"""Promptfoo's assertions in code: the line that says the same, else a function in a file beside the suite.

Promptfoo gives code the output and a context, and takes true or false, a number above 0 or of at least the threshold,
or `{pass, score, reason}`. `evalc.ecma.scripts` runs JavaScript alike; a file of checks in Python calls what was there.
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterator, Mapping, Sequence, Set
from copy import copy
from functools import lru_cache
from pathlib import Path
from typing import Any, Final, NamedTuple, final

from evalc.base.terminal import shortened
from evalc.check.tree import Bounds, Check, Test, all_of, within
from evalc.compiler.custom import declared_in
from evalc.diagnostics import Diagnostics
from evalc.dsl.scalars import to_plain
from evalc.ecma import scripts, to_string
from evalc.ecma.modules import SCRIPTS, Script, ScriptError, Scripts
from evalc.ecma.scripts import body_of_function, caller, functions_of, is_surely_verdict, used_in_script
from evalc.extras.importers.imported import SideFile, Unmappable, name_of, untaken
from evalc.extras.importers.promptfoo_source import DATA_FILES, FILE, Configuration
from evalc.extras.importers.promptfoo_templates import has_template, rendered
from evalc.model.json import is_number
from evalc.translate import check_of_script

_GIVEN: Final[Mapping[str, Set[str]]] = {
    "javascript": {"output", "JSON", "Array", "Number", "String", "undefined"},
    "python": {"output", "json", "all", "any", "dict", "isinstance", "len", "list", "str"},
}
"""The names that code of a language finds in promptfoo, as far as a check can say them."""
_REMEMBERED: Final = 256
"""How many texts of code are remembered, since those of `defaultTest` are in every test."""
_PARSES: Final = re.compile(r"\bJSON\.parse\(|\bjson\.loads\(")
_READ_OTHERWISE: Final[Mapping[str, re.Pattern[str]]] = {
    "javascript": re.compile(r"\|\||\?|!|[^=!]==[^=]|(?<!=)[<>]|\bif\b"),
    "python": re.compile(r"!|\b(?:or|not|if)\b"),
}
"""Operators that may hold where a place of the JSON is not there, or of another type than what it is compared with."""
_OR_NOT: Final = re.compile(r"\?\s*(?:1\s*:\s*0|true\s*:\s*false)\s*;?\s*\Z")
"""The end of a condition of which nothing else is made."""
_SIZE: Final = re.compile(r"\.length\s*[<>]")
_NOT_THERE: Final = frozenset(
    ("import", *scripts.NAMES, *(f".{each}" for each in scripts.METHODS), *(f"context.{each}" for each in scripts.KEYS))
)
"""The names, methods and members of the context that promptfoo's code may use, and a check may not."""
_OF_TEXTS: Final = frozenset(
    ("at", "charAt", "charCodeAt", "codePointAt", "concat", "endsWith", "includes", "indexOf", "lastIndexOf", "length",
     "match", "matchAll", "normalize", "padEnd", "padStart", "repeat", "replace", "replaceAll", "search", "slice",
     "split", "startsWith", "substr", "substring", "toLowerCase", "toString", "toUpperCase", "trim", "trimEnd",
     "trimStart")
)  # fmt: skip
_MAY_BE_A_TEXT: Final = re.compile(r"typeof\s*\(?\s*output\b|JSON\s*\.\s*parse\s*\(\s*output\b")
_AN_OBJECT: Final = re.compile(r"""\boutput(?:\[["']|\.get\()""")
_NOT_IN_PYTHON: Final = re.compile(rf"""\bcontext(?:\[|\.get\()\s*["']({"|".join(scripts.KEYS)})["']""")
_PROMPT: Final = re.compile(
    r"""\bcontext\b(?:\??\.|\[["']|\.get\(["'])prompt\b|\{[^{}]*\bprompt\b[^{}]*\}\s*(?:\)\s*=>|=\s*context)"""
)
_TEST: Final = re.compile(r"\bcontext\s*\??\.\s*test\b(?:\s*\??\.\s*(\w+))?")
_OF_TEST: Final = frozenset(("description", "metadata", "vars"))
"""The parts of its test that code is given."""
_NO_TEST: Final = "it uses `context.test`, and a `transform` comes before it"
_ASYNC: Final = re.compile(r"\b(?:async|await|Promise)\b")
_REQUIRED: Final = re.compile(r"""\brequire\(\s*["']([^"']+)["']""")
_DIFFERING: Final = frozenset(("Date", "context", "performance", ".random"))
"""Names of what differs from run to run."""
_COMMENT: Final = re.compile(r"^\s*(?://|#|/\*)\s*(?P<text>.*?)\s*(?:\*/)?\s*$", re.MULTILINE)
_TAG: Final = re.compile(r"\{[{%#]")
_INDENTED: Final = re.compile(r"^(?!\s*$)\s+", re.MULTILINE)
_LONGEST_NAME: Final = 60
_SIGNS: Final = {"=>": "", ">=": "at least", "<=": "at most", "!": "not", ">": "over", "<": "under"}
"""Words for signs that a name cannot have."""
COMMENT: Final = "#"
"""The key of an assertion's fields that has the comment above it."""
_SHOWN: Final = 120


@lru_cache(_REMEMBERED)
def check_of_expression(type_: str, code: str) -> Check | None:
    """The check that code is; where it parses JSON, that the whole response is JSON goes with it."""
    language = type_.removeprefix("not-")
    returns = re.search(r"^\s*return\b", code, re.MULTILINE) is not None
    if returns != ("\n" in code):
        return None  # promptfoo puts `return` before a single line, and only there
    if language == "javascript":
        code = _OR_NOT.sub("", code)
    check, notes = check_of_script(language, code.strip(), _GIVEN[language]) or (None, frozenset())
    if check is None or not notes <= {"case", "fence"}:
        return None
    if "fence" not in notes:
        return check
    is_sure = _PARSES.search(code) and not _READ_OTHERWISE[language].search(_SIZE.sub("", code)) and type_ == language
    operands = [each.operand for each in within(check) if isinstance(each, Test)]
    if not is_sure or any(map(_is_scalar, operands)):  # `equals "9"` holds for the number, too
        return None
    return all_of((Test("json", ("strict", None)), check))


def _is_scalar(operand: object) -> bool:
    """Whether a text may be the JSON of something else."""
    return isinstance(operand, str) and re.match(r"-?\d[\d.eE+-]*\Z|(?:true|false|null)\Z|[\[{\"]", operand) is not None


@final
class _File(NamedTuple):
    """A file of JavaScript: the functions that promptfoo finds in it, and the code, with that of what it imports.

    By their names, or nothing, these are the functions: how each is had of the file's exports, and the check that it
    is if it is found without running the file.
    """

    names: Mapping[str, tuple[str, str]]
    codes: tuple[str, ...]
    of_test: Set[str]
    scripts: Scripts
    declared: Set[str]  # the checks that it has once it is named


@final
class Code:
    """The code of a configuration's assertions, in files beside the suite that the configuration of evalc names."""

    def __init__(self, given: Configuration, suite: str, *, gives_objects: bool) -> None:
        self.gives_objects = gives_objects  # whether promptfoo reads every output as JSON before it gives it to code
        self._knows_prompt = True
        self._test: Mapping[str, Any] = {}
        self._given = given
        self._suite = suite
        self._prefix = re.sub(r"\W|^(?=\d)", "_", suite, flags=re.ASCII)
        self._functions: dict[str, dict[str, str]] = {"javascript": {}, "python": {}}  # with `_NAME` for their names
        self._files: dict[str, Path] = {}  # the checks of files that are there, with the file
        self._read: dict[str, _File | Unmappable] = {}  # files of JavaScript, by their paths
        self._constants: dict[str, str] = {}  # the names of functions of such files, by what they are there

    def of_test(self, test: Mapping[str, Any], *, knows_prompt: bool) -> Code:
        """The code of one test, which is given its parts, in the same files.

        It `knows_prompt` if what is sent is the text that promptfoo gives to code, which has conversations as JSON.
        """
        code = copy(self)
        code._test, code._knows_prompt = test, knows_prompt
        return code

    def check(self, fields: Mapping[str, Any], values: Mapping[str, Any]) -> Check:
        """The check that an assertion is, whose values its templates may use.

        Raises:
            Unmappable: the code needs what no check is given.
        """
        type_, code = str(fields.get("type")), fields.get("value")
        language = type_.removeprefix("not-")
        if not isinstance(code, str):
            raise Unmappable("the value is not a text")
        self._refuse_prompts(code)
        if language == "javascript" and self.gives_objects:
            return self.transformed(language, fields, values, ())
        threshold, options = _threshold_and_config(fields)
        above = Bounds(above=0) if threshold is None else Bounds(min=threshold)
        if code.startswith(FILE):
            path, function = _path_and_function(code)
            if path.endswith(SCRIPTS):
                name = self._exported(path, function)
                return Test("check", (name, (), options | self._given_of_test(self._file(path).of_test), above))
            if not path.endswith(".py"):
                raise Unmappable(f"`{path}` is neither JavaScript or TypeScript nor Python")
            return Test("check", (self._of_python(path, function or "get_assert", threshold), (), options, Bounds()))
        code = with_values(code, values)
        code = code.rstrip() if language == "javascript" else code
        if threshold is None and not options and (said := check_of_expression(type_, code)) is not None:
            return said
        is_script = language == "javascript"
        text = _javascript_of(code) if is_script else _python_of(code, threshold, is_object=self.gives_objects)
        name = self._added(language, text, _called(fields) or f"{language}_")
        options |= self._given_of_test(_of_test(code)) if is_script else {}
        is_verdict = language == "python" or (threshold is None and is_surely_verdict(code))
        return Test("check", (name, (), options, Bounds() if is_verdict else above))

    def transformed(
        self, name: str, fields: Mapping[str, Any], values: Mapping[str, Any], transforms: Sequence[str]
    ) -> Check:
        """The check of what code makes of the output.

        Raises:
            Unmappable: the code needs what no check is given, or there is no JavaScript that asks this.
        """
        value, (threshold, options) = fields.get("value"), _threshold_and_config(fields)
        if name == "javascript" and isinstance(value, str) and value.startswith(FILE):
            body = f"return {self._required(*_path_and_function(value), is_text=not transforms)}(output, context);"
        elif name == "javascript" and isinstance(value, str):
            self._refuse_prompts(value)
            asked = with_values(value, values).rstrip()
            body = asked if "\n" in asked else body_of_function(asked)
        elif name in _ASKED_OF_TEXT:
            is_list = name.endswith(("-any", "-all"))
            value = split(value) if is_list else value
            of = value if isinstance(value, list) else [] if value is None else [value]
            if not all(isinstance(each, str) or is_number(each) for each in of) and name != "is-json":
                raise Unmappable("the value is not a text")
            texts = [with_values(each, values) if isinstance(each, str) else to_string(each) for each in of]
            if "" in texts or not (texts or name == "is-json"):
                raise Unmappable("the value is empty")
            if texts and name == "is-json":
                raise Unmappable("a schema is asked of the whole response, and not of what a `transform` makes of it")
            written = json.dumps(texts if is_list else texts[0] if texts else None, ensure_ascii=False)
            body = f"return {_ASKED_OF_TEXT[name].replace('VALUE', written)};"
            threshold, options = None, {}
        else:
            raise Unmappable("it is asked of the whole response, and not of what a `transform` makes of it")
        made = ["output = read(output);"] if self.gives_objects else []
        for code in transforms:
            made.append(f"output = transformed({self._step(code, is_text=not made)});")
        is_async = any("(await " in each for each in made)
        above = Bounds(above=0) if threshold is None else Bounds(min=threshold)
        is_verdict = name in _ASKED_OF_TEXT or (threshold is None and is_surely_verdict(body))
        body = f"return ((output) => {{\n{body}\n}})(output);" if is_async and "await" in body else body
        text = _javascript_of("\n".join((*made, body)), is_text=False, is_async=is_async)
        named = self._added("javascript", text, _called(fields) or f"{name}_")
        return Test("check", (named, (), options, Bounds() if is_verdict else above))

    def _given_of_test(self, asked: Set[str]) -> dict[str, Any]:
        """The argument with the parts of the test that code asks for."""
        test = {name: value for name, value in self._test.items() if name in asked}
        if has_template(str(test)):
            raise Unmappable("there is a template in what it asks of its test")
        return {"test": test} if asked else {}

    def _step(self, code: str, *, is_text: bool) -> str:
        """The expression of what a `transform` makes of the output."""
        if code.startswith(FILE):
            path, function = _path_and_function(code)
            called = self._required(path, function if function in self._file(path).names else "", is_text=is_text)
            if any(map(_PROMPT.search, self._file(path).codes)):
                raise Unmappable("its `transform` uses more than the output and the variables")
            return f"(await {called}(output, context))"
        _refuse_javascript(code)
        self._refuse_prompts(code)
        if is_text:
            _refuse_objects(code)
        if re.search(r"\bcontext\.(?!vars\b)", code):
            raise Unmappable("its `transform` uses more than the output and the variables")
        function = f"{{\n{code}\n}}" if "\n" in code else f"({code})"
        call = f"((output) => {function})(output)"
        return f"(await {call})" if _ASYNC.search(code) else call

    def variables(self, code: str, given: Mapping[str, Any]) -> dict[str, Any]:
        """The variables that a `transformVars` makes of others; it is run here, as checks in JavaScript are.

        Raises:
            Unmappable: it needs what no check is given or what differs from run to run, or makes no variables.
        """
        if code.startswith(FILE):
            path, function = _path_and_function(code)
            file = self._file(path)
            found = file.names.get(function) or file.names.get("")
            if found is None:
                raise Unmappable(f"promptfoo finds no function in `{path}`")
            imports = {"file": next(iter(file.scripts))}
            files = {"": Script(_MAKES.replace("MADE", f'$module.require("file"){found[0]}'), imports), **file.scripts}
            codes = file.codes
        else:
            _refuse_javascript(code)
            function = f"(vars) => {{\n{code if chr(10) in code else f'return {code}'}\n}}"
            files, codes = {"": Script(_MAKES.replace("MADE", function), {})}, (code,)
        if differs := sorted(_DIFFERING & used_in_script("\n".join(codes))):
            raise Unmappable(f"it uses `{differs[0].removeprefix('.')}`, which differs from run to run")
        try:
            is_made, said = caller(files, "make")(json.dumps(given), {})
        except ScriptError as error:
            raise Unmappable(f"{error}") from None
        made = json.loads(said) if is_made else None
        if not isinstance(made, dict):
            raise Unmappable(f"it makes no variables: {said}")
        return made

    def data_of(self, path: str) -> Any:
        """The data of a file of YAML or JSON that an assertion names, or the text of a file."""
        source = self._given.read(path, (".txt", *DATA_FILES))
        return source.text.strip() if path.endswith(".txt") else to_plain(self._given.document(source))

    def side_files(self) -> tuple[SideFile, ...]:
        """The files that hold the code of the configuration itself."""
        source = re.sub(r"[^\w .()-]", "_", Path(self._given.source.name).name)
        text = "".join(self._functions["javascript"])
        used = set(re.findall(r"\bfrom_\w+", text))
        required = "".join(f"const {name} = {value};\n" for value, name in self._constants.items() if name in used)
        parts = (required, _HELPERS * ("output = " in text), _WITH_TEST * ("withTest(" in text))
        helpers = "".join(f"\n{each}" for each in parts if each)
        heads = {"javascript": _JAVASCRIPT.format(source=source) + helpers, "python": _PYTHON.format(source=source)}
        return tuple(
            SideFile(path=self._file_of(language), text="\n".join((heads[language], *_filled(functions))))
            for language, functions in self._functions.items()
            if functions
        )

    def files(self) -> tuple[str, ...]:
        """The files of checks that evalc's configuration has to name, as the suite's folder sees them."""
        there = dict.fromkeys(self._given.relative(str(path)) for path in self._files.values())
        return (*(each.path for each in self.side_files()), *there)

    def _file_of(self, language: str) -> str:
        return f"{self._suite}.checks.js" if language == "javascript" else f"{self._prefix}_checks.py"

    # --- inline ---

    def _added(self, language: str, text: str, said: str) -> str:
        """The name of a function with this text, which is called by what is said about it."""
        functions = self._functions[language]
        if text not in functions:
            number = len(functions) + 1 if said.endswith("_") else ""
            name = name_of(f"{said}{number}", longest=_LONGEST_NAME)
            functions[text] = self._named(name or f"{language}_{len(functions) + 1}")
        return functions[text]

    def _refuse_prompts(self, code: str) -> None:
        if not self._knows_prompt and _PROMPT.search(code):
            raise Unmappable("it uses `prompt` of the context, and another is sent here")

    def _named(self, said: str) -> str:
        """A name that no other check has."""
        taken = {*self._functions["javascript"].values(), *self._functions["python"].values(), *self._files}
        return untaken(f"{self._prefix}_{said}", taken)

    # --- in files ---

    def _exported(self, path: str, function: str) -> str:
        """The check that is a function of a file of JavaScript: the file's own, or else the suite's."""
        required, file = self._required(path, function, with_test=True), self._file(path)
        declared = file.names[function][1]
        if file.of_test:
            required, declared = f"withTest({required})", ""
        # All functions of a file are checks once it is named.
        if declared and all(self._files.get(each, Path(path)) == Path(path) for each in file.declared):
            self._files |= dict.fromkeys(file.declared, Path(path))
            return declared
        return self._added("javascript", f"exports.{_NAME} = {required};\n", f"{Path(path).stem} {function}")

    def _required(self, path: str, function: str, *, is_text: bool = True, with_test: bool = False) -> str:
        """The constant that is a function of a file of JavaScript."""
        file = self._file(path)
        self._refuse_prompts("\n".join(file.codes))
        if is_text and not self.gives_objects:
            _refuse_objects(file.codes[0])
        if file.of_test and not with_test:
            raise Unmappable(_NO_TEST)
        if function not in file.names:
            raise Unmappable(f"promptfoo finds no function{f' `{function}`' if function else ''} in `{path}`")
        there = self._given.relative(path)
        value = f"require({json.dumps(there if there.startswith('../') else f'./{there}')}){file.names[function][0]}"
        name = re.sub(r"\W", "_", f"from_{Path(path).stem}_{function}", flags=re.ASCII).rstrip("_")
        same = sum(each == name or each.startswith(f"{name}__") for each in self._constants.values())
        return self._constants.setdefault(value, f"{name}__{same + 1}" if same else name)

    def _file(self, path: str) -> _File:
        """A file of JavaScript that the configuration names; to read it may take seconds."""
        if path not in self._read:
            try:
                self._read[path] = self._read_file(path)
            except Unmappable as reason:
                self._read[path] = reason
        if isinstance(found := self._read[path], Unmappable):
            raise found
        return found

    def _read_file(self, path: str) -> _File:
        file = Path(self._given.read(path, SCRIPTS).name)
        try:
            files = self._given.linked(file)
            codes = tuple(script.code for name, script in files.items() if not name.endswith(".json"))
            for each in codes:
                _refuse_javascript(each)
        except ScriptError as error:
            raise Unmappable(f"{error}") from None
        try:
            names = functions_of(files)
        except ScriptError as error:
            raise Unmappable(f"`{path}`: {error}") from None
        declared = {each for each, *_ in declared_in(file, Diagnostics())}
        # Beside an export `default` promptfoo finds no other.
        is_only = "default" in names and (next(iter(files.values())).is_es or "exports.default" in codes[0])
        found = {}
        for each in ("default",) if is_only else names:
            check, access = (file.stem, ".default" * is_only) if each == "default" else (each, f".{each}")
            found["" if each == "default" else each] = (access, check if check in declared else "")
        return _File(found, codes, frozenset().union(*map(_of_test, codes)), files, declared)

    def _of_python(self, path: str, function: str, threshold: Any) -> str:
        """The name of the check that calls a function of a file in Python."""
        source = self._given.read(path, (".py",))
        self._refuse_prompts(source.text)
        _refuse_python(source.text, is_object=self.gives_objects)
        if not re.search(rf"^(?:async +)?def +{re.escape(function)}\b", source.text, re.MULTILINE):
            raise Unmappable(f"`{path}` has no function `{function}`")
        call = f'\n{_NAME}_said = function_of({json.dumps(self._given.relative(path))}, "{function}")\n'
        text = call + _python_check(threshold, is_object=self.gives_objects)
        functions = self._functions["python"]
        if text not in functions:
            own = "" if function == "get_assert" else f"_{function}"
            functions[text] = self._named(re.sub(r"\W", "_", Path(path).stem) + own)
        return functions[text]


@lru_cache(_REMEMBERED)
def _javascript_of(code: str, *, is_text: bool = True, is_async: bool = False) -> str:
    """The function that JavaScript is the body of, or the value."""
    _refuse_javascript(code)
    if is_text:
        _refuse_objects(code)
    elif _of_test(code):
        raise Unmappable(_NO_TEST)
    body = body_of_function(code) if "\n" not in code else code
    is_value = body.startswith("return ") and "//" not in body and "\n" not in body
    function = f"(output, context) => {f'({body[7:]})' if is_value else f'{{{chr(10)}{body}{chr(10)}}}'}"
    function = f"{'async ' * is_async}{function}"
    text = f"exports.{_NAME} = {f'withTest({function})' if _of_test(code) else function};\n"
    if isinstance(names := _functions_of(_HELPERS + _WITH_TEST + text.replace(_NAME, "a")), ScriptError):
        raise Unmappable(f"`{_short(code)}`: {names}")
    return text


@lru_cache(_REMEMBERED)
def _functions_of(text: str) -> tuple[str, ...] | ScriptError:
    """The names of the functions that a file exports, or why it has none: to find that may take seconds."""
    try:
        return functions_of({"": Script(text, {})})
    except ScriptError as error:
        return error


def _python_of(code: str, threshold: Any, *, is_object: bool) -> str:
    """The function that Python is the body of, or the value, and the check that calls it."""
    _refuse_python(code, is_object=is_object)
    indent = found[0] if "\n" in code and (found := _INDENTED.search(code)) else "    "
    lines = code.split("\n") if "\n" in code else [f"return {code}"]
    body = "\n".join(indent + line if line.strip() else "" for line in lines).rstrip()
    text = f"\ndef {_NAME}_said(output, context):\n{body}\n{_python_check(threshold, is_object=is_object)}"
    try:
        compile(text.replace(_NAME, "a"), "", "exec")
    except (SyntaxError, ValueError) as error:
        raise Unmappable(f"`{_short(code)}` is not Python") from error
    return text


def _python_check(threshold: Any, *, is_object: bool) -> str:
    return (
        _PYTHON_CHECK.replace("NAME", _NAME)
        .replace("LEAST", "" if threshold is None else f", {threshold!r}")
        .replace("READ", ", output_of=read" * is_object)
    )


def _filled(functions: Mapping[str, str]) -> Iterator[str]:
    return (text.replace(_NAME, name) for text, name in functions.items())


def _refuse_javascript(code: str) -> None:
    lacking = sorted(used_in_script(code) & _NOT_THERE - {"context.test"})
    if unknown := sorted(_of_test(code) - _OF_TEST):
        lacking.append(f"context.test{unknown[0] and '.'}{unknown[0]}")
    if lacking:
        packages = f" of {', '.join(dict.fromkeys(_REQUIRED.findall(code)))}" if lacking[0] == "require" else ""
        name = lacking[0].removeprefix(".")
        raise Unmappable(f"it uses `{name}`{packages}, which a check in JavaScript does not have")


def _of_test(code: str) -> frozenset[str]:
    """The members of `context.test` that JavaScript asks for; an empty name is the whole."""
    return frozenset(_TEST.findall(code))


def _refuse_objects(code: str) -> None:
    of_output = {each.removeprefix("output.") for each in used_in_script(code) if each.startswith("output.")}
    if not (of_output <= _OF_TEXTS or _MAY_BE_A_TEXT.search(code)):
        raise Unmappable(f"`{_short(code)}` takes the output for an object, and a response is a text")


def _refuse_python(code: str, *, is_object: bool) -> None:
    if (lacking := _NOT_IN_PYTHON.search(code)) is not None:
        raise Unmappable(f"it uses `{lacking[1]}` of the context, which no check is given")
    if not is_object and _AN_OBJECT.search(code) and "isinstance(output" not in code:
        raise Unmappable(f"`{_short(code)}` takes the output for an object, and a response is a text")


def split(value: Any) -> Any:
    """A text with commas as the list that promptfoo makes of it; any other value as it is.

    Raises:
        Unmappable: the text cannot be split.
    """
    if not isinstance(value, str):
        return value
    try:
        return [item.strip() for item in next(csv.reader([value], skipinitialspace=True), [])]
    except csv.Error as error:
        raise Unmappable(f"the value is not a list of texts: {error}") from error


def _threshold_and_config(fields: Mapping[str, Any]) -> tuple[Any, dict[str, Any]]:
    threshold, config = fields.get("threshold"), fields.get("config")
    if not (threshold is None or is_number(threshold)):
        raise Unmappable("its threshold is not a number")
    if not (config is None or isinstance(config, dict)) or has_template(str(config or "")):
        raise Unmappable("its `config` is not a mapping of plain values")
    return threshold, config or {}


def _short(code: str) -> str:
    return shortened(" ".join(code.split()), _SHOWN, "...")


def _path_and_function(reference: str) -> tuple[str, str]:
    path, _, function = reference.removeprefix(FILE).partition(":")
    return path, function


def _called(fields: Mapping[str, Any]) -> str:
    """The words that an assertion is called by: what it or its code says, the comment above it, its metric or code."""
    code = str(fields.get("value")).strip() if str(fields.get("type")).endswith(("javascript", "python")) else ""
    comment = _COMMENT.match(code)
    said = (fields.get("description"), comment and comment["text"], fields.get(COMMENT), fields.get("metric"))
    for sign, word in _SIGNS.items():
        code = code.replace(sign, f" {word} ")
    is_short = "\n" not in code and len(name_of(code, longest=len(code))) <= _LONGEST_NAME
    return next((each for each in said if isinstance(each, str) and not each.isupper()), code if is_short else "")


def with_values(code: str, values: Mapping[str, Any]) -> str:
    """Code with the values of variables filled in, as promptfoo fills it."""
    return rendered(code, values) if _TAG.search(code) else code


# --- the text of the files --------------------------------------------------------------------------------------------


_NAME: Final = "\0"
"""Stands for the name of a function in its text."""

_JAVASCRIPT: Final = """\
// The JavaScript of {source}. evalc runs it if its configuration names this file under `checks`.
"""
_HELPERS: Final = """\
const read = (value) => { try { return JSON.parse(value); } catch { return value; } };
const transformed = (value) => {
  if (value === null || value === undefined) throw new Error("the transform returned no value");
  return value;
};
const text = (value) => (typeof value === "string" ? value : JSON.stringify(value));
const isJson = (value) => { try { JSON.parse(value); return true; } catch { return false; } };
"""
_WITH_TEST: Final = """\
const withTest = (check) => (output, context) => {
  const { test, ...config } = context.config;
  const own = { value: Object.keys(config).length ? config : undefined };
  return check(output, Object.create(context, { test: { value: { ...test, vars: context.vars } }, config: own }));
};
"""
_MAKES: Final = """\
exports.make = async (vars) => {
  const value = await (MADE)(JSON.parse(vars));
  const pass = typeof value === "object" && value !== null && !Object.values(value).includes(undefined);
  return { pass, score: 1, reason: JSON.stringify(value) ?? "" };
};
"""
_ASKED_OF_TEXT: Final[Mapping[str, str]] = {
    "contains": "text(output).includes(VALUE)",
    "icontains": "text(output).toLowerCase().includes(VALUE.toLowerCase())",
    "contains-any": "VALUE.some((each) => text(output).includes(each))",
    "icontains-any": "VALUE.some((each) => text(output).toLowerCase().includes(each.toLowerCase()))",
    "contains-all": "VALUE.every((each) => text(output).includes(each))",
    "icontains-all": "VALUE.every((each) => text(output).toLowerCase().includes(each.toLowerCase()))",
    "equals": "text(output) === VALUE",
    "starts-with": "text(output).startsWith(VALUE)",
    "regex": "new RegExp(VALUE).test(text(output))",
    "is-json": "isJson(text(output))",
}
"""JavaScript that asks of an output, whatever it is, what an assertion does."""
_PYTHON: Final = '''\
"""The Python of {source}. evalc runs it if its configuration names this file under `checks`."""

import asyncio
import json
import sys
from pathlib import Path
from runpy import run_path

import evalc


def context_of(answer, config):
    return {{"vars": dict(answer.inputs), "prompt": answer.message, **({{"config": config}} if config else {{}})}}


def read(text):
    try:
        return json.loads(text)
    except ValueError:
        return text


def outcome(function, answer, config, threshold=None, output_of=str):
    try:
        said = function(output_of(answer.text), context_of(answer, config))
        said = asyncio.run(said) if asyncio.iscoroutinefunction(function) else said
        said = json.loads(json.dumps(said, allow_nan=False))
        if isinstance(said, str):
            said = json.loads(said if said.startswith("{{") else said.lower())
        if isinstance(said, dict):
            passed, score, reason = said.get("pass", said.get("pass_")), said.get("score"), said.get("reason")
            if type(passed) is not bool or type(score) not in (int, float) or type(reason) is not str:
                raise TypeError("it returned no {{pass, score, reason}}")
            return evalc.Outcome(passed=passed and (threshold is None or score >= threshold), reason=reason)
        if not isinstance(said, bool):
            said = said > 0 if threshold is None else said >= threshold
        return evalc.Outcome(passed=said)
    except Exception as error:
        return evalc.Outcome(reason=f"{{type(error).__name__}}: {{error}}")


def function_of(file, name):
    path = Path(__file__).parent / file
    sys.path.append(str(path.parent))
    return run_path(str(path))[name]
'''
_PYTHON_CHECK: Final = """

@evalc.custom_check
def NAME(answer, **config):
    return outcome(NAME_said, answer, configLEASTREAD)
"""
