"""Promptfoo's assertions in code: the files that they become, and promptfoo's own verdicts."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

import evalc
from evalc.base.source import Source
from evalc.checks import _checks_of as checks_by_name
from evalc.diagnostics import Diagnostics
from evalc.ecma import scripts
from evalc.extras.importers.imported import Imported
from evalc.extras.importers.promptfoo import import_promptfoo
from evalc.extras.importers.promptfoo_agents import makes_objects

WORDS = "the quick brown fox"
OUTPUTS = ("", WORDS, '{"n": "3", "tags": ["a"], "open": true}', "the {{name}}", "Ann is here")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The folder of a project that nothing configures yet."""
    (tmp_path / ".git").mkdir()
    monkeypatch.chdir(tmp_path)
    checks_by_name.cache_clear()
    yield tmp_path
    checks_by_name.cache_clear()


def imported(folder: Path, *assertions: dict[str, Any], name: str = "support.yaml") -> tuple[Imported, list[str]]:
    tests = [{"vars": {"name": "Ann", "at": str(at)}, "assert": [*assertions]} for at in range(len(OUTPUTS))]
    problems = Diagnostics()
    text = json.dumps({"prompts": ["{{at}}"], "tests": tests})
    suite = import_promptfoo(Source(str(folder / name), text), folder, problems)
    assert suite is not None, [str(problem) for problem in problems]
    return suite, [problem.finding.message() for problem in problems]


def verdicts(folder: Path, suite: Imported) -> list[str]:
    """The statuses of the cases if the answers are `OUTPUTS`."""
    suite.write(folder)
    (folder / "evalc.toml").write_text(f"checks = {list(suite.checks)}\n")
    run = evalc.run(str(folder / suite.file_name), agent=lambda message: OUTPUTS[int(message)], save=False)
    return [str(case.status) for case in run.cases]


OF_PROMPTFOO = [  # asked of promptfoo 0.121.20: + for each of the outputs that passes
    ("javascript", "output.trim().split(' ').length > 2", "-++-+"),
    ("javascript", "output.length / 10", "-++++"),
    ("javascript", "const d = JSON.parse(output); d.n > 2", "--+--"),
    ("javascript", "JSON.parse(output).n != 4", "--+--"),
    ("not-javascript", "JSON.parse(output).open === true", "-----"),
    ("javascript", "const d = JSON.parse(output);\nif (d.tags) return d.tags.includes('a');\n", "--+--"),
    ("javascript", "try { return JSON.parse(output).n; } catch (e) { return 1; }\n// last", "++-++"),
    ("javascript", "const pass = output.includes('x');\nreturn { pass, score: 0, reason: 'r' };\n", "-+---"),
    ("javascript", "// passes\nreturn { pass: true };\n", "-----"),
    ("javascript", "output && output.includes('fox')", "-+---"),
    ("javascript", "output.length > 3\n", "-++++"),
    ("javascript", "output.startsWith('{{name}}') || output.endsWith(context.vars.name)", "----+"),
    ("not-javascript", "output.match(/fox/).length", "-----"),
    ("javascript", "new Promise((resolve) => resolve(output === ''))", "+----"),
    ("python", "len(output.split()) > 2", "-++-+"),
    ("python", "len(output.split()) > 2\n", "-----"),
    ("python", "import re\nreturn bool(re.search('fox', output))\n", "-+---"),
    ("python", "data = json.loads(output)\nreturn {'pass': data['open'], 'score': 1, 'reason': 'r'}", "--+--"),
    ("not-python", "json.loads(output)['open']", "-----"),
    ("python", "context['vars']['name'] in output", "----+"),
    ("python", "len(output) / 10", "-++++"),
    ("python", "'True' if 'fox' in output else 'false'", "-+---"),
    ("not-python", "str(len(output) - 19)", "++-++"),
    ("python", "{'pass': True, 'reason': 'r'}", "-----"),
    ("python", "{'pass': True, 'score': 1, 'reason': 'r', 'more': {1}}", "-----"),
    ("python", "float('inf')", "-----"),
    ("not-python", "(False, 1)", "-----"),
]  # fmt: skip


@pytest.mark.parametrize(("type_", "code", "passed"), OF_PROMPTFOO)
def test_verdicts_are_those_of_promptfoo(folder: Path, type_: str, code: str, passed: str) -> None:
    suite, problems = imported(folder, {"type": type_, "value": code})
    assert problems == []
    assert "".join("+" if each == "passed" else "-" for each in verdicts(folder, suite)) == passed


@pytest.mark.parametrize(
    ("threshold", "code", "passed"),
    [
        (1, "output.length / 10", "-++++"),
        (2, "output.length / 10", "--+--"),
        (5, "output === ''", "+----"),
        (0.5, "({ pass: true, score: 0.1, reason: '' })", "+++++"),
    ],
)
def test_thresholds_are_compared_with_numbers_alone(folder: Path, threshold: float, code: str, passed: str) -> None:
    suite, _ = imported(folder, {"type": "javascript", "value": code, "threshold": threshold})
    assert "".join("+" if each == "passed" else "-" for each in verdicts(folder, suite)) == passed


STRIPS = "let text = output.trim();\nif (text.startsWith('the')) text = text.slice(4);\nreturn text;\n"


@pytest.mark.parametrize(
    ("transform", "assertion", "passed"),  # the verdicts are those of promptfoo 0.121.20
    [
        ("output.toUpperCase()", {"type": "contains", "value": "FOX"}, "-+---"),
        ("output.toUpperCase()", {"type": "not-icontains", "value": "fox"}, "+-+++"),
        ("output.split(' ')[1]", {"type": "equals", "value": "quick"}, "-+---"),
        ("output.split(' ')[1]", {"type": "not-equals", "value": "quick"}, "--+++"),
        ("JSON.parse(output).tags", {"type": "contains-any", "value": ["z", '["a"]']}, "--+--"),
        ("output.toUpperCase()", {"type": "contains-all", "value": 'BROWN, "FOX"'}, "-+---"),
        ("JSON.parse(output).n", {"type": "javascript", "value": "output > 2"}, "--+--"),
        ("JSON.parse(output).n", {"type": "equals", "value": 3}, "--+--"),
        ("JSON.parse(output).tags.length", {"type": "equals", "value": 1}, "--+--"),
        ("JSON.parse(output).n;", {"type": "equals", "value": 3}, "--+--"),
        ("JSON.parse(output).n\n", {"type": "equals", "value": 3}, "-----"),
        ("return JSON.parse(output).n\n", {"type": "equals", "value": 3}, "--+--"),
        ("output.trim()\n", {"type": "contains", "value": "fox"}, "-----"),
        ("JSON.parse(output).open", {"type": "not-equals", "value": "true"}, "-----"),
        ("JSON.parse(output)", {"type": "not-is-json"}, "-----"),
        ("JSON.parse(output)", {"type": "javascript", "value": "const t = output.tags;\nreturn t.length;\n"}, "--+--"),
        ("context.vars.name + output", {"type": "starts-with", "value": "Ann{{name}}"}, "----+"),
        (STRIPS, {"type": "regex", "value": "^quick"}, "-+---"),
        (STRIPS, {"type": "icontains-all", "value": ["BROWN", "fox"]}, "-+---"),
        (STRIPS, {"type": "not-is-json"}, "++-++"),
    ],
)
def test_the_transformed_output_is_asked(folder: Path, transform: str, assertion: dict[str, Any], passed: str) -> None:
    suite, _ = imported(folder, assertion | {"transform": transform})
    assert "".join("+" if each == "passed" else "-" for each in verdicts(folder, suite)) == passed


def test_the_transform_of_all_tests_comes_before_that_of_an_assertion(folder: Path) -> None:
    problems = Diagnostics()
    own = {"type": "equals", "value": "QUICK", "transform": "output.split(' ')[1]"}
    test = {"vars": {"at": "1"}, "assert": [own, {"type": "contains", "value": "BROWN"}]}
    given = {"prompts": ["{{at}}"], "defaultTest": {"options": {"transform": "output.toUpperCase()"}}, "tests": [test]}
    suite = import_promptfoo(Source(str(folder / "support.yaml"), json.dumps(given)), folder, problems)
    assert suite is not None
    assert verdicts(folder, suite) == ["passed"]
    assert suite.side_files[0].text.endswith(
        dedent("""\
        exports.support_equals_1 = (output, context) => {
        output = transformed(((output) => (output.toUpperCase()))(output));
        output = transformed(((output) => (output.split(' ')[1]))(output));
        return text(output) === "QUICK";
        };

        exports.support_contains_2 = (output, context) => {
        output = transformed(((output) => (output.toUpperCase()))(output));
        return text(output).includes("BROWN");
        };
        """)
    )


def test_code_becomes_functions_that_are_named_and_shared(folder: Path) -> None:
    counts = "// Counts the words\nreturn output.split(' ').length;\n"
    suite, problems = imported(
        folder,
        {"type": "javascript", "value": "output.trim() !== context.prompt"},
        {"type": "javascript", "value": counts},
        {"type": "javascript", "value": counts, "weight": 2},
        {"type": "javascript", "value": "output.includes(context.config.of)", "config": {"of": "fox"}},
        {"type": "python", "value": "output.isupper()", "description": "Is loud"},
    )
    assert problems == []
    assert suite.checks == ("support.checks.js", "support_checks.py")
    assert suite.side_files[0].text == dedent("""\
        // The JavaScript of support.yaml. evalc runs it if its configuration names this file under `checks`.

        exports.support_output_trim_not_context_prompt = (output, context) => (output.trim() !== context.prompt);

        exports.support_counts_the_words = (output, context) => {
        // Counts the words
        return output.split(' ').length;
        };

        exports.support_output_includes_context_config_of = (output, context) => (output.includes(context.config.of));
        """)
    assert suite.side_files[1].text.endswith(
        dedent("""\


            def support_is_loud_said(output, context):
                return output.isupper()


            @evalc.custom_check
            def support_is_loud(answer, **config):
                return outcome(support_is_loud_said, answer, config)
            """)
    )
    lines = suite.text.partition("defaults:\n  validate:\n")[2].splitlines()[:5]
    assert [line.strip() for line in lines] == [
        "- check support_output_trim_not_context_prompt()",
        "- check support_counts_the_words() > 0",
        '- {all_of: ["check support_counts_the_words() > 0"], weight: 2}',
        '- check support_output_includes_context_config_of(of="fox")',
        "- check support_is_loud()",
    ]
    assert '# for evalc.toml: checks = ["support.checks.js", "support_checks.py"]\n' in (suite.text)


def test_functions_in_files_are_called_where_they_are(folder: Path) -> None:
    (folder / "lib").mkdir()
    (folder / "lib" / "one.js").write_text("module.exports = (output) => output.length;\n")
    (folder / "lib" / "more.mjs").write_text("export const short = (output) => output.length < 5;\n")
    (folder / "lib" / "own.py").write_text(
        "from beside import WORD\n\ndef get_assert(output, context):\n    return {'pass_': WORD in output, 'score': 1, "
        "'reason': ''}\n\nasync def other(output, context):\n    return len(output) / 100\n"
    )
    (folder / "lib" / "beside.py").write_text("WORD = 'fox'\n")
    suite, problems = imported(
        folder,
        {"type": "javascript", "value": "file://lib/one.js"},
        {"type": "not-javascript", "value": "file://lib/more.mjs:short"},
        {"type": "python", "value": "file://lib/own.py"},
        {"type": "python", "value": "file://lib/own.py:other", "threshold": 0.1},
    )
    assert problems == []
    assert suite.checks == ("support_checks.py", "lib/one.js", "lib/more.mjs")
    lines = ["check one() > 0", "not check short() > 0", "check support_own()", "check support_own_other()"]
    assert "".join(f"    - {line}\n" for line in lines) in suite.text
    assert verdicts(folder, suite) == ["failed", "passed", "failed", "failed", "failed"]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("const fs = require('fs');\nmodule.exports = () => true;\n", "it uses `require` of fs, which a check"),
        ("import fs from 'fs';\nexport default () => true;\n", "`own.js` imports `fs`, and a check has only files"),
        ("const { a } = require('./no');\n", "`own.js` imports `./no`, and there is no such file"),
        ("module.exports = { a: () => true };\n", "promptfoo finds no function in `own.js`"),
        ("module.exports = (\n", "`own.js`: SyntaxError"),
    ],
)
def test_files_that_cannot_be_called(folder: Path, text: str, why: str) -> None:
    (folder / "own.js").write_text(text)
    given = {"type": "javascript", "value": "file://own.js"}
    _, (problem, *_) = imported(folder, given, {"type": "equals", "value": "x"})
    assert why in problem


@pytest.mark.parametrize(
    "code", ["context.prompt.length > 3", "(({ prompt }) => prompt.length > 3)(context)", "context['prompt'] !== ''"]
)
def test_code_that_uses_a_conversation_is_named(folder: Path, code: str) -> None:
    chat = [{"role": "system", "content": "Be kind"}, {"role": "user", "content": "{{at}}"}]
    assertion = {"type": "javascript", "value": code}
    tests = [{"vars": {"at": "1"}, "assert": [assertion, {"type": "equals", "value": "x"}]}]
    problems = Diagnostics()
    given = {"prompts": [json.dumps(chat)], "tests": tests}
    assert import_promptfoo(Source(str(folder / "support.yaml"), json.dumps(given)), folder, problems) is not None
    (problem,) = problems
    assert "it uses `prompt` of the context, and another is sent here" in problem.finding.message()


def test_no_name_of_a_file_is_code(folder: Path) -> None:
    name = 'a"""\nraise SystemExit #.yaml'
    (folder / '"o.py').write_text("def get_assert(output, context):\n    return 'fox' in output\n")
    suite, _ = imported(folder, {"type": "python", "value": 'file://"o.py'}, name=name)
    assert verdicts(folder, suite) == ["failed", "passed", "failed", "failed", "failed"]


def test_a_pass_in_python_is_a_bool(folder: Path) -> None:
    code = "return {'pass': 'false', 'score': 1, 'reason': ''}\n"
    for type_ in ("python", "not-python"):
        suite, _ = imported(folder, {"type": type_, "value": code})
        assert {*verdicts(folder, suite)} == {"failed"}


def test_code_that_does_not_end_is_tried_once(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scripts, "TIMEOUT", 0.3)
    (folder / "own.js").write_text("while (true);\n")
    begin = time.monotonic()
    _, problems = imported(folder, *[{"type": "javascript", "value": "file://own.js"}] * 10, {"type": "is-json"})
    assert "it did not end within 0.3 s" in problems[0]
    assert time.monotonic() - begin < 5


def test_functions_in_files_that_have_no_name_of_their_own_here(folder: Path) -> None:
    (folder / "lib").mkdir()
    (folder / "own.js").write_text("module.exports = (output) => output.length > 3;\n")
    (folder / "lib" / "own.js").write_text("module.exports = { ...require('./more'), ...require('../data.json') };\n")
    (folder / "lib" / "more.js").write_text("exports.own = (output, { vars }) => output.includes(vars.name);\n")
    (folder / "data.json").write_text("{}")
    suite, problems = imported(
        folder,
        {"type": "javascript", "value": "file://own.js"},
        {"type": "javascript", "value": "file://lib/own.js:own"},
    )
    assert problems == []
    assert suite.checks == ("support.checks.js", "own.js")
    assert suite.side_files[0].text == dedent("""\
        // The JavaScript of support.yaml. evalc runs it if its configuration names this file under `checks`.

        const from_own_own = require("./lib/own.js").own;

        exports.support_own_own = from_own_own;
        """)
    assert verdicts(folder, suite) == ["failed", "failed", "failed", "failed", "passed"]


def test_typescript_in_files_is_called_where_it_is(folder: Path) -> None:
    (folder / "lib").mkdir()
    (folder / "lib" / "own.ts").write_text(
        "import { type Context, most } from './more';\n"
        "export const short = (output: string, to: Context): boolean => output.length < most(to);\n"
    )
    (folder / "lib" / "more.ts").write_text(
        "export type Context = { vars: Record<string, string> };\n"
        "export const most = ({ vars }: Context) => vars.name.length;\n"
    )
    (folder / "own.ts").write_text("export default (output: string): number => output.length;\n")
    (folder / "bad.ts").write_text("enum A { B }\nexport default () => A.B;\n")
    suite, problems = imported(
        folder,
        {"type": "javascript", "value": "file://lib/own.ts:short"},
        {"type": "not-javascript", "value": "file://./own.ts"},
        {"type": "javascript", "value": "file://bad.ts"},
    )
    assert suite.checks == ("lib/own.ts", "own.ts")
    assert ["`bad.ts` is more than JavaScript with types" in each for each in problems] == [True] * len(OUTPUTS)
    assert verdicts(folder, suite) == ["passed", "failed", "failed", "failed", "failed"]


FORMAT = {"response_format": {"type": "json_schema", "json_schema": {"name": "a", "schema": {"type": "object"}}}}
OF_OBJECTS = [  # asked of promptfoo 0.121.20, given what its provider makes of the outputs
    ("javascript", "output.n === '3'", "--+--"),
    ("not-javascript", "output.open", "-----"),
    ("javascript", "JSON.parse(output).open", "-----"),
    ("javascript", "typeof output === 'string' && output.includes('fox')", "-+---"),
    ("javascript", "file://own.js", "--+--"),
    ("python", "output['open']", "--+--"),
    ("python", "isinstance(output, str)", "++-++"),
    ("equals", ("output.n", "3"), "--+--"),
    ("equals", ("output.tags.length", "1"), "--+--"),
    ("not-equals", ("output.n", "4"), "--+--"),
    ("contains", ("output.tags", "a"), "--+--"),
]


@pytest.mark.parametrize(("type_", "code", "passed"), OF_OBJECTS)
def test_code_is_given_the_object_that_promptfoo_makes(folder: Path, type_: str, code: Any, passed: str) -> None:
    (folder / "own.js").write_text("module.exports = async (output) => output.tags.length;\n")
    asked = (
        {"type": type_, "value": code}
        if isinstance(code, str)
        else {"type": type_, "transform": code[0], "value": code[1]}
    )
    tests = [{"vars": {"at": str(at)}, "assert": [asked]} for at in range(len(OUTPUTS))]
    problems = Diagnostics()
    given = {"providers": ["openai:gpt-5"], "prompts": [{"raw": "{{at}}", "config": FORMAT}], "tests": tests}
    suite = import_promptfoo(Source(str(folder / "support.yaml"), json.dumps(given)), folder, problems)
    assert suite is not None
    assert "".join("+" if each == "passed" else "-" for each in verdicts(folder, suite)) == passed


@pytest.mark.parametrize(
    ("providers", "prompts", "expected"),
    [
        (["openai:gpt-5"], {"raw": "a", "config": FORMAT}, True),
        ([{"id": "openai:chat:gpt-5", "config": FORMAT}, {"openai:responses:gpt-5": {"config": FORMAT}}], ["a"], True),
        ([{"id": "https://example.com", "config": {"transformResponse": "json"}}], ["a"], True),
        ([{"id": "https://example.com", "config": {"transformResponse": "json.text"}}], ["a"], False),
        (["openai:gpt-5"], [{"raw": "a", "config": FORMAT}, "b"], False),
        (["openai:gpt-5", "mistral:small"], [{"raw": "a", "config": FORMAT}], False),
        ([{"id": "openai:gpt-5", "config": {"response_format": {"type": "json_object"}}}], ["a"], False),
        (["openai:embedding:a"], [{"raw": "a", "config": FORMAT}], False),
        (None, None, False),
    ],
)
def test_when_promptfoo_surely_makes_objects(providers: Any, prompts: Any, expected: bool) -> None:
    assert makes_objects(providers, prompts) is expected


@pytest.mark.parametrize(
    ("transform", "assertion", "passed"),  # the verdicts are those of promptfoo 0.121.20
    [
        ("file://lib/own.js:words", {"type": "equals", "value": "4"}, "-+---"),
        ("file://lib/own.js:words", {"type": "javascript", "value": "output > 2"}, "-++-+"),
        ("file://lib/own.js", {"type": "contains", "value": "FOX"}, "-+---"),
        ("file://lib/own.js:other", {"type": "contains", "value": "FOX"}, "-+---"),
        ("file://lib/more.mjs:words", {"type": "starts-with", "value": "Ann: the"}, "-+-+-"),
        ("file://lib/own.js:words", {"type": "javascript", "value": "file://lib/own.js:few"}, "+--+-"),
        ("Promise.resolve(output.length)", {"type": "javascript", "value": "output > 12"}, "-++--"),
    ],
)
def test_a_transform_in_a_file_is_called(folder: Path, transform: str, assertion: dict[str, Any], passed: str) -> None:
    (folder / "lib").mkdir()
    (folder / "lib" / "own.js").write_text(
        "module.exports = (output) => output.toUpperCase();\n"
        "module.exports.words = async (output) => output.split(' ').length;\n"
        "module.exports.few = (output) => output < 3;\n"
    )
    (folder / "lib" / "more.mjs").write_text(
        "import { sep } from './sep.mjs';\n"
        "export default (output, { vars }) => vars.name + sep + output;\nexport const words = () => 1;\n"
    )
    (folder / "lib" / "sep.mjs").write_text("export const sep = ': ';\n")
    suite, _ = imported(folder, assertion | {"transform": transform})
    assert "".join("+" if each == "passed" else "-" for each in verdicts(folder, suite)) == passed


def transformed(folder: Path, code: str, *assertions: dict[str, Any], **variables: Any) -> tuple[Imported, list[str]]:
    problems = Diagnostics()
    default = {"options": {"transformVars": code}, "assert": [*assertions]}
    given = {"prompts": ["{{a}} {{b}}"], "defaultTest": default, "tests": [{"vars": {"a": "1", **variables}}]}
    suite = import_promptfoo(Source(str(folder / "support.yaml"), json.dumps(given)), folder, problems)
    assert suite is not None, [str(problem) for problem in problems]
    return suite, [problem.finding.message() for problem in problems]


@pytest.mark.parametrize(
    ("code", "inputs"),  # the variables are those of promptfoo 0.121.20
    [
        ("{ ...vars, b: vars.a + 1 }", '{a: "1", "n": [2], b: "11"}'),
        ("const b = vars.n.length;\nreturn { n: 5, b };\n", '{a: "1", "n": 5, b: 1}'),
        ("file://lib/vars.mjs", '{a: "1", "n": [2], b: "a!"}'),
        ("file://lib/vars.mjs:more", '{a: "1", "n": [2], b: "a!"}'),
    ],
)
def test_variables_are_made_once(folder: Path, code: str, inputs: str) -> None:
    (folder / "lib").mkdir()
    (folder / "lib" / "vars.mjs").write_text(
        "import { more } from './more.mjs';\nexport default async () => ({ b: more('a') });\nexport { more };\n"
    )
    (folder / "lib" / "more.mjs").write_text("export const more = (a) => `${a}!`;\n")
    suite, problems = transformed(folder, code, {"type": "contains", "value": "{{b}}"}, n=[2])
    assert problems == []
    assert f"inputs: {inputs}\n" in suite.text
    assert suite.weaker == 0


@pytest.mark.parametrize(
    ("code", "why"),
    [
        ("{ b: new Date().getDay() }", "it uses `Date`, which differs from run to run"),
        ("{ b: context.uuid }", "it uses `context`, which differs from run to run"),
        ("{ b: require('fs') }", "it uses `require` of fs"),
        ("vars.no.such", "it makes no variables: TypeError"),
        ("'text'", 'it makes no variables: "text"'),
        ("file://vars.js", "it uses `require` of nunjucks"),
    ],
)
def test_variables_that_are_not_made(folder: Path, code: str, why: str) -> None:
    (folder / "vars.js").write_text("const n = require('nunjucks');\nmodule.exports = (vars) => vars;\n")
    kept = {"type": "contains", "value": "x"}
    lost = [
        {"type": "contains", "value": "{{b}}"},
        {"type": "javascript", "value": "output.includes(context.vars.b)"},
        {"type": "javascript", "value": "output.includes(context.prompt)"},
        {"type": "equals", "value": "x", "transform": "context.vars.a"},
    ]
    suite, problems = transformed(folder, code, kept, *lost)
    assert any(each.startswith(f"not imported: `transformVars`: {why}") for each in problems)
    refusals = ("code makes a variable that it may use", "another is sent here")
    assert sum(any(why in each for why in refusals) for each in problems) == len(lost)
    assert 'inputs: {a: "1"}' in suite.text
    assert suite.weaker == 1


@pytest.mark.parametrize(
    ("transform", "lines"),
    [
        ("output.trim()", 1),
        (r"output.replace(/```(?:json)?\n?/g, '').replace('x', '').trim()", 2),
        ("output.replace(/a/, 'b')", 0),
        ("output.slice(3)", 0),
    ],
)
def test_a_judge_sees_what_is_not_stripped(folder: Path, transform: str, lines: int) -> None:
    judged = {"type": "llm-rubric", "value": "Is kind", "transform": transform}
    suite, problems = imported(folder, judged, {"type": "contains", "value": "x"})
    assert ('judge "Is kind"' in suite.text) == bool(lines)
    assert any("strips the response" in each for each in problems) == (lines == 2)


@pytest.mark.parametrize(
    ("code", "passed"),  # asked of promptfoo 0.121.20
    [
        ("output.includes(context.test.metadata.words[0])", "-+---"),
        ("const { n } = context?.test?.metadata ?? {};\nreturn n > 1 && context.config === undefined;\n", "+++++"),
        ("context.test.description === 'Finds it' && output.includes(context.test.vars.name)", "----+"),
        ("file://lib/own.mjs", "-+--+"),
    ],
)
def test_code_is_given_of_its_test_what_it_asks(folder: Path, code: str, passed: str) -> None:
    (folder / "lib").mkdir()
    (folder / "lib" / "own.mjs").write_text(
        "import { words } from './words.mjs';\nexport default (output, context) => words(context).test(output);\n"
    )
    (folder / "lib" / "words.mjs").write_text(
        "export const words = (context) => new RegExp(context.test.metadata.words.join('|'));\n"
    )
    tests = [
        {"description": "Finds it", "vars": {"name": "Ann", "at": str(at)}, "metadata": {"words": ["fox", "Ann"]}}
        for at in range(len(OUTPUTS))
    ]
    default = {"metadata": {"n": 2, "words": []}, "assert": [{"type": "javascript", "value": code}]}
    problems = Diagnostics()
    text = json.dumps({"prompts": ["{{at}}"], "defaultTest": default, "tests": tests})
    suite = import_promptfoo(Source(str(folder / "support.yaml"), text), folder, problems)
    assert suite is not None, [str(problem) for problem in problems]
    assert "".join("+" if each == "passed" else "-" for each in verdicts(folder, suite)) == passed


@pytest.mark.parametrize(
    ("assertion", "why"),
    [
        ({"value": "context.test.assert.length"}, "it uses `context.test.assert`, which a check in JavaScript"),
        ({"value": "JSON.stringify(context.test) !== ''"}, "it uses `context.test`, which a check in JavaScript"),
        ({"value": "context.test.metadata.n", "transform": "output + 1"}, "and a `transform` comes before it"),
    ],
)
def test_code_that_asks_more_of_its_test_is_left_out(folder: Path, assertion: dict[str, Any], why: str) -> None:
    _, problems = imported(folder, {"type": "javascript", **assertion}, {"type": "equals", "value": "x"})
    assert why in problems[0]
