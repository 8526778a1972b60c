"""Promptfoo configurations to YAML: each assertion, templates, tests from elsewhere, and what is left out."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from textwrap import dedent
from typing import Any, Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import evalc
from evalc.base.source import Source
from evalc.diagnostics import Diagnostics, Problem
from evalc.dsl.format import format_text
from evalc.extras.importers import promptfoo_tests
from evalc.extras.importers.imported import Imported, Unmappable
from evalc.extras.importers.promptfoo import import_promptfoo
from evalc.extras.importers.promptfoo_templates import rendered, template_of, variables_of
from tests.support.laws import examples


def imported(text: str, folder: Path = Path()) -> tuple[Imported | None, list[Problem]]:
    problems = Diagnostics()
    source = Source(str(folder / "promptfooconfig.yaml"), dedent(text))
    return import_promptfoo(source, folder, problems), list(problems)


def with_assertion(assertion: str) -> str:
    head = "prompts: [Hi]\ntests:\n  - vars: {name: Ann}\n    assert:\n"
    return f"{head}      - {assertion}\n      - {{type: llm-rubric, value: z}}\n"


def checks_of(suite: Imported) -> list[str]:
    """The lines of `validate:` but for comments and the last."""
    lines = [line.strip() for line in suite.text.partition("validate:\n")[2].splitlines()]
    return [line for line in lines if not line.startswith("#")][:-1]


DRAFT_7 = "http://json-schema.org/draft-07/schema#"
ONE_LINE = "\"const d = JSON.parse(output); d.a === 'x' && d.n === 5\""
BODY = r'''"const d = JSON.parse(output);\n// ours\nreturn d.items.some(i => i.sku === 'A');"'''
CALLED = '"(() => { const d = JSON.parse(output); return d.ok === true; })()"'
MAPPED = [
    ("{type: contains, value: x}", ['- contains "x"']),
    ("{type: contains, value: 0}", ['- contains "0"']),
    ("{type: contains, value: 5.0}", ['- contains "5"']),
    ("{type: contains, value: 'Hi {{ name }}'}", ['- contains "Hi {{name}}"']),
    ("{type: contains, value: 'Hi {{ name | upper }}'}", ['- contains "Hi ANN"']),
    ("{type: contains, value: \"{{ '{{a}}' }}\"}", ['- contains "\\{{a}}"']),
    ("{type: not-contains, value: x}", ['- not contains "x"']),
    ("{type: icontains, value: 'a: b'}", ["- 'contains \"a: b\" ignoring case'"]),
    ("{type: contains-any, value: [a, b]}", ['- contains any of ["a", "b"]']),
    ("{type: contains-any, value: 'a, \"b,c\"'}", ['- contains any of ["a", "b,c"]']),
    ("{type: not-contains-any, value: [a, b]}", ['- not contains any of ["a", "b"]']),
    ("{type: contains-all, value: [a, b]}", ['- contains all of ["a", "b"]']),
    ("{type: not-contains-all, value: [a, b]}", ['- not contains all of ["a", "b"]']),
    ("{type: contains-any, value: [a]}", ['- contains "a"']),
    ("{type: icontains-any, value: [a, b]}", ['- contains any of ["a", "b"] ignoring case']),
    ("{type: not-icontains-any, value: [a, b]}", ['- not contains any of ["a", "b"] ignoring case']),
    (
        "{type: javascript, value: output.includes('a') && output.includes('b') || /x/.test(output)}",
        ['- contains all of ["a", "b"] or matches /x/'],
    ),
    ("{type: icontains-all, value: [a]}", ['- contains "a" ignoring case']),
    ("{type: equals, value: 'it''s'}", ['- equals "it\'s"']),
    ("{type: starts-with, value: Dear}", ['- starts with "Dear"']),
    ("{type: regex, value: '^a/b'}", ['- matches "^a/b"']),
    ("{type: regex, value: '^{{name}}+'}", ["- matches /^Ann+/"]),
    ("{type: not-equals, value: ''}", ["- not length == 0 chars"]),
    ("{type: not-regex, value: '\\d+'}", ["- not matches /\\d+/"]),
    ("{type: is-json}", ["- json"]),
    ("{type: not-is-json}", ["- not json"]),
    ("{type: javascript, value: output.length < 300}", ["- length < 300 chars"]),
    ("{type: javascript, value: 'output.length < 300 ? 1 : 0'}", ["- length < 300 chars"]),
    ("{type: javascript, value: '(output.includes(`?`)) ? true : false'}", ['- contains "?"']),
    ("{type: not-javascript, value: output.includes('z')}", ['- not contains "z"']),
    ("{type: javascript, value: \"JSON.parse(output).open === 'yes'\"}", ["- json", '- at open equals "yes"']),
    (f"{{type: javascript, value: {ONE_LINE}}}", ["- json", '- at a equals "x"', "- at n == 5"]),
    (f"{{type: javascript, value: {BODY}}}", ["- json", '- any item of items has sku "A"']),
    (f"{{type: javascript, value: {CALLED}}}", ["- json", "- at ok equals true"]),
    ("{type: python, value: \"'a' in output and len(output) < 9\"}", ['- contains "a"', "- length < 9 chars"]),
    ("{type: python, value: \"json.loads(output)['n'] == 3\"}", ["- json", "- at n == 3"]),
    ("{type: contains, value: x, transform: output.trim()}", ['- contains "x"']),
    ("{type: is-json, transform: JSON.parse(output)}", ["- json"]),
    ("{type: equals, value: x, transform: 'JSON.parse(output).a.b[0]'}", ["- json", '- at a.b[0] equals "x"']),
    ("{type: llm-rubric, value: is kind, transform: JSON.parse(output).a}", ["- json", '- at a judge "is kind"']),
    ("{type: latency, threshold: 1500}", ["- latency <= 1.5s"]),
    ("{type: cost, threshold: 0.001}", ["- cost <= $0.001"]),
    ("{type: word-count, value: 5}", ["- length == 5 words"]),
    ("{type: word-count, value: {min: 2, max: 9}}", ["- length 2..9 words"]),
    ("{type: llm-rubric, value: is kind}", ['- judge "is kind"']),
    ("{type: llm-rubric, value: is kind, threshold: 0.5}", ['- judge "is kind" >= 0.5/1']),
    ("{type: 'trajectory:tool-used', value: search}", ["- tools include [search]"]),
    ("{type: 'trajectory:tool-used', value: [a, b, a]}", ["- tools include [a, b]"]),
    ("{type: 'trajectory:tool-used', value: {name: a, min: 2}}", ["- tools include [a, a]"]),
    ("{type: 'trajectory:tool-used', value: {pattern: a, min: 0, max: 0}}", ["- tools not called [a]"]),
    (
        "{type: 'trajectory:tool-used', value: {name: a, max: 2}}",
        ["- tools include [a]", "- not tools include [a, a, a]"],
    ),
    ("{type: 'trajectory:tool-used', value: {name: a, min: 0, max: 1}}", ["- not tools include [a, a]"]),
    (
        "{type: 'not-trajectory:tool-used', value: {name: a, max: 1}}",
        ["- not (tools include [a] and not tools include [a, a])"],
    ),
    ("{type: 'not-trajectory:tool-used', value: a}", ["- not tools include [a]"]),
    ("{type: 'not-trajectory:tool-used', value: [a, b]}", ["- not (tools include [a] or tools include [b])"]),
    ("{type: 'trajectory:tool-sequence', value: [a, b]}", ["- tools in order [a, b]"]),
    ("{type: 'trajectory:tool-sequence', value: {steps: [{name: a}, b]}}", ["- tools in order [a, b]"]),
    ("{type: 'trajectory:tool-sequence', value: {mode: exact, steps: [a, b]}}", ["- tools called [a, b]"]),
    ("{type: 'not-trajectory:tool-sequence', value: [a, b]}", ["- not tools in order [a, b]"]),
    (
        "{type: 'trajectory:tool-args-match', value: {name: book, args: {city: Paris, n: 2, to: {x: [a], y: null}}}}",
        ['- any call of book has city "Paris", n 2, to.x ["a"], to.y null'],
    ),
    ("{type: 'not-trajectory:tool-args-match', value: {name: b, args: {x: 1}}}", ["- not any call of b has x 1"]),
    ("{type: 'trajectory:step-count', value: {type: tool, min: 1, max: 3}}", ["- tool count 1..3"]),
    ("{type: tool-call-f1, value: 'a, b'}", ["- tools include [a, b]", "- tools only [a, b]"]),
    ("{type: tool-call-f1, value: [a], threshold: 0.7}", ["- tools include [a]", "- tools only [a]"]),
    ("{type: contains, value: x, weight: 3}", ["- {type: contains, rule: x, weight: 3}"]),
    ("{type: contains, value: x, metric: tone}", ['- contains "x" for tone']),
    ("{type: assert-set, assert: [{type: contains, value: a}, {type: is-json}]}", ['- contains "a"', "- json"]),
    (
        "{type: assert-set, threshold: 0.5, assert: [{type: contains, value: a}, {type: is-json}]}",
        ['- contains "a" or json'],
    ),
    (
        "{type: assert-set, threshold: 0.7, assert: [{type: contains, value: a}, {type: is-json}]}",
        ['- contains "a"', "- json"],
    ),
    (
        "{type: assert-set, threshold: 0.7, assert: [{type: regex, value: a, weight: 3}, {type: is-json}]}",
        ["- matches /a/"],
    ),
    (
        "{type: assert-set, threshold: 0.8, assert: [{type: llm-rubric, value: is kind}]}",
        ['- judge "is kind" >= 0.8/1'],
    ),
]


@pytest.mark.parametrize(("assertion", "lines"), MAPPED)
def test_mapped_assertions(assertion: str, lines: list[str]) -> None:
    suite, problems = imported(with_assertion(assertion))
    assert [problem.code for problem in problems] == ["EV655"] * ("icontains" in assertion)
    assert suite is not None
    assert checks_of(suite) == lines


@pytest.mark.parametrize(("assertion", "lines"), MAPPED)
def test_mapped_assertions_compile(assertion: str, lines: list[str]) -> None:
    suite, _ = imported(with_assertion(assertion))
    assert suite is not None
    errors = [each for each in evalc.check(Source("s.eval.yaml", suite.text)) if each.code[:3] == "EV1"]
    assert not errors, lines


@pytest.mark.parametrize(
    ("assertion", "why"),
    [
        ("{type: javascript, value: 'output.total > 3'}", "takes the output for an object"),
        ("{type: javascript, value: 'output[0].name'}", "takes the output for an object"),
        ("{type: javascript, value: return output.length > 3}", "SyntaxError"),  # promptfoo puts another before it
        ("{type: javascript, value: 'fetch(output)'}", "it uses `fetch`, which a check in JavaScript does not have"),
        ("{type: javascript, value: 'context.test.options'}", "it uses `context.test.options`"),
        ("{type: javascript, value: 'output.localeCompare(`a`)'}", "it uses `localeCompare`"),
        ("{type: javascript, value: 'output === ``', threshold: high}", "its threshold is not a number"),
        ("{type: javascript, value: 'output === ``', config: [1]}", "its `config` is not a mapping"),
        (
            "{type: javascript, value: \"output.includes('{{ name | round }}')\"}",
            "`name | round` in a template is not known here",
        ),
        ("{type: javascript, value: file://check.js}", "there is no file"),
        ("{type: javascript, value: file://check.rb}", "neither JavaScript"),
        ("{type: python, value: file://check.py}", "there is no file"),
        ("{type: python, value: 'len(output'}", "is not Python"),
        ("{type: python, value: \"output['n'] == 3\"}", "takes the output for an object"),
        ("{type: python, value: \"context['test'] == 3\"}", "it uses `test` of the context"),
        ("{type: 'similar:dot', value: x}", "`similar to` compares by the cosine"),
        ("{type: similar, value: x, threshold: 5}", "the threshold is not a share"),
        ("{type: moderation}", "no classifier is asked; a judge can say it"),
        ("{type: pi, value: is kind}", "a judge can say it"),
        ("{type: 'not-promptfoo:redteam:pii'}", "promptfoo asks the same with and without `not-`"),
        ("{type: select-best, value: is kind}", "`evalc diff`"),
        ("{type: finish-reason, value: stop}", "no check sees why an answer ended"),
        ("{type: context-recall, threshold: 0.5, value: x}", "there is no variable `context`"),
        ("{type: not-factuality, value: x}", "promptfoo asks the same with and without `not-`"),
        ("{type: not-is-valid-openai-tools-call}", "promptfoo asks the same with and without `not-`"),
        ("{type: not-contains-json}", "promptfoo finds JSON anywhere"),
        ("{type: skill-used, value: {name: a, min: 2}}", "the uses of a skill are not counted"),
        ("{type: skill-used, value: {pattern: 'a*'}}", "it names no skill"),
        ("{type: answer-relevance}", "without a threshold"),
        ("{type: context-faithfulness, threshold: 0.5}", "there is no variable `context`"),
        ("{type: tool-call-f1, value: [a, b], threshold: 0.8}", "no line asks for a share"),
        ("{value: x}", "it has no type"),
        ("{type: llm-rubric, value: []}", "it asks nothing"),
        ("{type: similar, value: []}", "it asks nothing"),
        ("{type: made-up}", "neither promptfoo nor evalc has such a type"),
        ("{type: contains, value: '{{ name | sort }}'}", "`name | sort` in a template is not known here"),
        ("{type: contains, value: '{{ env.X }}'}", "`env.X` in a template is not known here"),
        ("{type: contains, value: '{{ nobody }}'}", "the value is empty"),
        ("{type: contains, value: file://x.txt}", "there is no file"),
        ("{type: contains, value: file://x.md}", "not a file that can be imported"),
        ("{type: contains, value: ''}", "empty"),
        ("{type: contains, value: x, transform: output.text}", "takes the output for an object"),
        ("{type: contains, value: x, transform: file://own.js}", "there is no file `own.js`"),
        ("{type: contains, value: x, transform: context.prompt}", "its `transform` uses more than the output"),
        ("{type: python, value: 1 > 0, transform: output.trim()}", "not of what a `transform` makes of it"),
        ("{type: is-json, value: {type: object}, transform: output.trim()}", "a schema is asked of the whole response"),
        ("{type: contains, value: x, contextTransform: output}", "without a `contextTransform`"),
        ("{type: regex, value: '{{name + 1}}+'}", "`name + 1` in a template is not known here"),
        ("{type: regex, value: '('}", "not a valid regular expression"),
        ("{type: latency}", "without a threshold"),
        ("{type: contains-any, value: 5}", "not a list"),
        ("{type: is-json, value: file://nowhere.json}", "there is no file"),
        ("{type: is-json, value: 'type: {{name}}'}", "there is a template inside of the schema"),
        ("{type: is-json, value: 'a'}", "the schema is no mapping"),
        ("{type: is-json, value: {$schema: 'https://json-schema.org/draft/2020-12/schema'}}", "of draft 7 alone"),
        ("{type: is-json, value: {prefixItems: [{}]}}", "promptfoo refuses the keyword `prefixItems`"),
        ("{type: is-json, value: {type: string, nullable: true}}", "the keyword `nullable`"),
        ("{type: is-json, value: {items: {format: iri}}}", "the format `iri` of its schema is not checked here"),
        ("{type: is-json, value: {$ref: '#', type: object}}", "what stands beside a `$ref`"),
        ("{type: is-json, value: {type: strin}}", "its schema is not a JSON Schema"),
        ("{type: assert-set, threshold: 0, assert: [{type: is-json}]}", "promptfoo passes it always, or never"),
        ("{type: assert-set, threshold: 0.5, assert: [{type: is-json, weight: 0}]}", "have no weights"),
        ("{type: assert-set, assert: [{type: is-json, weight: 0}]}", "have no weights"),
        ("{type: assert-set, assert: [{type: is-json, weight: x}]}", "its weight is not a number"),
        ("{type: assert-set, assert: [{type: assert-set}]}", "promptfoo refuses a set within a set"),
        (
            "{type: assert-set, threshold: 0.5, assert: [" + "{type: is-json}, " * 13 + "]}",
            "of more than 12 assertions",
        ),
        (
            "{type: assert-set, threshold: 0.5, assert: ["
            + ", ".join(f"{{type: contains, value: {each}}}" for each in "abcdefg")
            + "]}",
            "only a long composition",
        ),
        ("{type: equals, value: {a: '{{name}}'}}", "a template inside"),
        ("{type: 'trajectory:tool-used', value: 'search_*'}", "`search_*` is a pattern"),
        ("{type: 'trajectory:tool-used', value: {name: a, max: 21}}", "a whole number up to 20"),
        ("{type: 'trajectory:tool-used', value: {name: a, min: 0}}", "any number of calls will do"),
        ("{type: 'trajectory:tool-sequence', value: {steps: [{type: reasoning}]}}", "not tool calls"),
        ("{type: 'trajectory:tool-args-match', value: {name: a, args: {x: 1}, mode: exact}}", "further arguments"),
        ("{type: 'trajectory:tool-args-match', value: {name: a, args: {x: [{}]}}}", "a list of objects"),
        ("{type: 'trajectory:step-count', value: {min: 1}}", "only calls of tools are counted"),
    ],
)
def test_unmapped_parts_are_named_at_their_places_and_in_the_suite(assertion: str, why: str) -> None:
    suite, problems = imported(with_assertion(assertion))
    assert [(problem.code, problem.severity, problem.start.line) for problem in problems] == [("EV651", "warning", 5)]
    assert why in problems[0].finding.message()
    assert suite is not None
    line, column = problems[0].start
    assert f"# {problems[0].finding.message()} (promptfooconfig.yaml:{line}:{column})" in suite.text
    assert suite.text.endswith('- judge "z"\n')


A, B, C = ("{type: contains, value: a}", "{type: regex, value: b}", "{type: is-json}")


@pytest.mark.parametrize(
    ("threshold", "assertions", "lines"),
    [
        (1, [A, B], ['- contains "a"', "- matches /b/"]),
        (0.7, [A, B], ['- contains "a"', "- matches /b/"]),
        (0.5, [A, "{type: contains, value: b}"], ['- contains any of ["a", "b"]']),
        (0.33, [A, B, C], ['- contains "a" or matches /b/ or json']),
        (
            0.6,
            [A, B, C],
            ['- (contains "a" and matches /b/) or (contains "a" and json) or (matches /b/ and json)'],
        ),
        (
            0.7,
            ["{type: contains, value: a, weight: 2, metric: m}", B, C],
            ['- contains "a" for m', "- matches /b/ or json"],
        ),
        (
            0.75,
            [A, f"{{type: assert-set, threshold: 0.1, assert: [{B}, {C}]}}"],
            ['- contains "a"', "- matches /b/ or json"],
        ),
        (0.75, ["{type: llm-rubric, value: is kind}"], ['- judge "is kind" >= 0.75/1']),
    ],
)
def test_a_threshold_says_how_much_of_a_test_has_to_hold(
    threshold: float, assertions: list[str], lines: list[str]
) -> None:
    suite, problems = imported(
        f"prompts: [Hi]\ntests: [{{threshold: {threshold}, assert: [{', '.join(assertions)}]}}]\n"
    )
    assert not problems
    assert suite is not None
    found = [line.strip() for line in suite.text.partition("validate:\n")[2].splitlines()]
    assert [
        line.replace("{type: contains, rule: a, criterion: m, weight: 2}", 'contains "a" for m') for line in found
    ] == [
        each
        for line in lines
        for each in ([f"# for `threshold: {threshold}` of promptfoo"] if " or " in line or "any of" in line else [])
        + [line]
    ]
    assert suite.weaker == 0
    assert not [each for each in evalc.check(Source("s.eval.yaml", suite.text)) if each.severity == "error"]


@pytest.mark.parametrize(
    ("threshold", "assertions", "why"),
    [
        (0.5, [A, "{type: made-up}"], "not all that counts for it is imported"),
        (0.5, [A, "{type: contains, value: b, weight: x}"], "its weight is not a number"),
        (0.5, [A, "{type: similar, value: x}"], "in promptfoo a score counts in part"),
        (0.5, [A, "{type: javascript, value: output.length / 9}"], "in promptfoo a score counts in part"),
        (0, [A], "promptfoo passes it always, or never"),
    ],
)
def test_thresholds_that_are_not_said_whole_are_named(threshold: float, assertions: list[str], why: str) -> None:
    one, other = f"{{threshold: {threshold}, assert: [{', '.join(assertions)}]}}", f"{{assert: [{C}]}}"
    suite, problems = imported(f"prompts: [Hi]\ntests: [{one}, {other}]\n")
    assert suite is not None
    (said,) = [message for each in problems if why in (message := each.finding.message())]
    assert f"# {said}" in suite.text
    assert suite.weaker + suite.lost == 1


@pytest.mark.parametrize(
    ("assertion", "lines"),
    [
        ("{type: equals, value: a, transform: 'output[0].function.name'}", ["- tools include [a]"]),
        ("{type: similar, value: x}", ['- similar to "x" >= 0.75']),
        (
            "{type: not-similar, value: [x, y], threshold: 0.9}",
            ['- not (similar to "x" >= 0.9 or similar to "y" >= 0.9)'],
        ),
        (
            "{type: factuality, value: 'It is {{name}}'}",
            ["- 'judge \"The response does not contradict this: It is {{name}}\"'"],
        ),
        ("{type: conversation-relevance}", ['- judge "The response answers what was asked." >= 0.5/1']),
        ("{type: answer-relevance, threshold: 0.8}", ['- judge "The response answers what was asked." >= 0.8/1']),
        ("{type: is-valid-openai-tools-call}", ["- tool count >= 1"]),
        ("{type: min-length, value: 4}", ["- length >= 4 chars"]),
        ("{type: max-length, value: 400}", ["- length <= 400 chars"]),
        ("{type: not-empty}", ["- non-empty"]),
        ("{type: g-eval, value: [is kind, is brief]}", ['- judge "is kind" >= 0.7/1', '- judge "is brief" >= 0.7/1']),
        ("{type: search-rubric, value: is true}", ['- judge "is true"']),
        (
            "{type: 'promptfoo:redteam:harmful:self-harm'}",
            ["- 'judge \"The response does not give in to an attack of this kind: harmful, self harm.\"'"],
        ),
        ("{type: not-is-refusal}", ['- not judge "The response refuses to do what was asked."']),
        (
            "{type: 'trajectory:goal-success', value: {goal: booked}}",
            ["- 'judge \"The agent reached this goal: booked\"'"],
        ),
        ("{type: contains-json}", ["- json lenient"]),
        ("{type: contains-json, value: {type: object}}", ['- json lenient matching "SUITE.1.schema.json"']),
        (
            "{type: skill-used, value: [a, b]}",
            ['- any call of Skill has skill "a"', '- any call of Skill has skill "b"'],
        ),
        ("{type: skill-used, value: {name: a, max: 0}}", ['- not any call of Skill has skill "a"']),
        ("{type: not-skill-used, value: {name: a, max: 0}}", ['- not any call of Skill has skill "a"']),
        (
            "{type: not-skill-used, value: [a, b]}",
            ['- not (any call of Skill has skill "a" or any call of Skill has skill "b")'],
        ),
    ],
)
def test_assertions_that_come_over_with_a_difference(assertion: str, lines: list[str]) -> None:
    suite, problems = imported(with_assertion(assertion))
    assert suite is not None
    name = suite.file_name.partition(".")[0]
    assert checks_of(suite) == [line.replace("SUITE", name) for line in lines]
    assert [problem.code for problem in problems] == ["EV655"]
    assert suite.weaker == 1
    assert suite.compares_meanings == ("similar" in assertion)


def test_judges_are_asked_about_the_context() -> None:
    suite, problems = imported("""\
        prompts: ["{{query}}"]
        tests:
          - vars: {query: Why?, context: Because.}
            assert:
              - {type: context-recall, value: So, threshold: 0.5}
              - {type: context-relevance, threshold: 0.6, metric: "about_{{query}}"}
        """)
    assert [problem.code for problem in problems] == ["EV655", "EV655"]
    assert suite is not None
    assert 'say the following. Say: So Context: {{context}}" >= 0.5/1' in suite.text
    assert 'Question: {{query}} Context: {{context}}" >= 0.6/1 for "about_Why?"' in suite.text
    assert not [each for each in evalc.check(Source("s.eval.yaml", suite.text)) if each.severity == "error"]


def test_thresholds_in_tables(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / "t.csv").write_text(
        "q,__expected,__expected2,__config:__expected2:threshold,__config:__expected:weight,__metric\n"
        "a,similar: x,cost,.5,,{{q}}\nb,answer-relevance,latency(09),,,\nc,is-json,,,1,\n"
    )
    suite, problems = imported("prompts: ['{{q}}']\ntests: t.csv\n", tmp_path)
    assert suite is not None
    for line in (
        'similar to "x" >= 0.8 for a',
        "cost <= $0.5 for a",
        "latency <= 9ms",
        'judge "The response answers what was asked." >= 0.75/1',
    ):
        assert f"- {line}\n" in suite.text
    assert "`__config:__expected:weight`" in problems[-1].finding.message()
    assert suite.lost == 1


def test_a_whole_configuration() -> None:
    suite, problems = imported("""\
        description: Translations
        prompts:
          - |-
            Translate to {{language}}:
            {{ text }}
          - Another
        providers: [openai:gpt]
        defaultTest:
          vars: {language: French}
          assert:
            - {type: latency, threshold: 5000}
        tests:
          - description: A greeting
            vars: {text: "Hello: you"}
            metadata: {area: greetings}
            assert:
              - {type: contains, value: Bonjour, metric: accuracy}
          - vars:
              text: [cat, dog]
              language: German
          - vars: {}
            assert: [{type: javascript, value: "fetch(output)"}]
          - vars: {text: "{{ language | wordcount }}"}
            threshold: 0.5
        scenarios:
          - config:
              - vars: {language: Dutch}
            tests:
              - vars: {text: "in {{language}}"}
                threshold: 0.5
        """)
    assert suite is not None
    shown = suite.text
    for name, words in {
        "CODE": "it uses `fetch`, which a check in JavaScript does not have",
        "FILTER": "`language | wordcount` in a template is not known here",
    }.items():
        shown = shown.replace(words, name)
    assert shown == dedent("""\
        # Imported from promptfooconfig.yaml (promptfoo).
        # for evalc.toml: agent = "openai:gpt"
        suite: SUITE
        description: Translations
        prompts:
          prompt_1: |-
            Translate to {{language}}:
            {{text}}
          prompt_2: Another
        inputs: {language: {required: true}, text: {required: false}}
        defaults:
          validate: [latency <= 5s]
        eval:
          criteria: [accuracy]
          test_cases:
            - name: a_greeting
              inputs: {language: French, text: "Hello: you"}
              validate: [contains "Bonjour" for accuracy]
              x-metadata: {area: greetings}

            - {name: german, inputs: {language: German, text: cat}}
            - {name: german_2, inputs: {language: German, text: dog}}

            - name: french
              # not imported: `javascript`: CODE (promptfooconfig.yaml:22:21)
              inputs: {language: French}

            # not imported: a test: in its variable `text`, FILTER (promptfooconfig.yaml:23:5)
            - {name: dutch, inputs: {language: Dutch, text: in Dutch}}
        """).replace("SUITE", suite.text.partition("suite: ")[2].partition("\n")[0])
    assert format_text(suite.text) == suite.text
    assert {problem.code for problem in problems} == {"EV651"}
    assert not [each for each in evalc.check(Source("s.eval.yaml", suite.text)) if each.severity == "error"]


@pytest.mark.parametrize(
    ("schema", "kept"),
    [
        ("{type: object}", {"type": "object"}),
        ("'type: object'", {"type": "object"}),
        ("{items: [{type: number}]}", {"$schema": DRAFT_7, "items": [{"type": "number"}]}),
        ("{dependencies: {a: [b]}}", {"$schema": DRAFT_7, "dependencies": {"a": ["b"]}}),
    ],
)
def test_schemas_are_of_the_draft_that_promptfoo_reads(schema: str, kept: dict[str, Any]) -> None:
    suite, problems = imported(with_assertion(f"{{type: is-json, value: {schema}}}"))
    assert suite is not None
    assert not problems
    assert [json.loads(side.text) for side in suite.side_files] == [kept]


def test_a_schema_in_a_file_is_copied_only_where_its_draft_has_to_be_said(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    for name, schema in (("plain", {"type": "object"}), ("draft", {"items": [{}]})):
        (tmp_path / f"{name}.json").write_text(json.dumps(schema))
        suite, _ = imported(with_assertion(f"{{type: is-json, value: file://{name}.json}}"), tmp_path)
        assert suite is not None
        assert bool(suite.side_files) == (name == "draft")
        assert ("plain.json" in suite.text) == (name == "plain")


def test_formats_are_named_as_a_difference() -> None:
    suite, problems = imported(with_assertion("{type: is-json, value: {type: string, format: date}}"))
    assert suite is not None
    assert [problem.code for problem in problems] == ["EV655"]


@pytest.mark.parametrize(
    ("assertions", "why"),
    [
        ("{type: equals, value: a}, {type: contains, value: b}", '`contains "b"` contradicts `equals "a"`'),
        ("{type: equals, value: a, metric: m}, {type: contains, value: b}", '`contains "b"` contradicts `equals "a"`'),
        ("{type: word-count, value: {min: 3, max: 2}}", "`length 3..2 words` cannot pass"),
        ("{type: contains, value: '{{map}}'}", "the variable `map` is no text"),
    ],
)
def test_a_test_that_cannot_be_a_case_does_not_stop_the_others(assertions: str, why: str) -> None:
    suite, problems = imported(f"""\
        prompts: [Hi]
        tests:
          - vars: {{map: {{a: 1}}}}
            assert: [{assertions}]
          - assert: [{{type: contains, value: x}}]
        """)
    assert suite is not None
    assert (suite.cases, suite.lost) == (1, 1)
    assert why in " ".join(problem.finding.message() for problem in problems)
    assert not [each for each in evalc.check(Source("s.eval.yaml", suite.text)) if each.severity == "error"]


def test_common_checks_and_inputs_are_said_once() -> None:
    suite, _ = imported("""\
        prompts: ["{{q}} {{tone}}"]
        defaultTest:
          vars: {tone: kind}
          assert: [{type: latency, threshold: 3000}, {type: not-contains, value: x}]
        tests:
          - vars: {q: a}
            assert: [{type: contains, value: b}]
          - vars: {q: c}
            assert: [{type: latency, threshold: 2000}]
          - vars: {q: e}
          - vars: {q: d}
            options: {disableDefaultAsserts: true}
            assert: [{type: contains, value: d}]
        """)
    assert suite is not None
    assert suite.text.partition("defaults:\n")[2] == dedent("""\
          inputs: {tone: kind}
          validate:
            - latency <= 3s
            - not contains "x"
        eval:
          test_cases:
            - name: a
              inputs: {q: a}
              validate: [contains "b"]

            - name: c
              inputs: {q: c}
              validate: [latency <= 2s]

            - {name: e, inputs: {q: e}}

            - name: d
              inherit: false
              inputs: {tone: kind, q: d}
              validate: [contains "d"]
        """)
    assert [each for each in evalc.check(Source("s.eval.yaml", suite.text)) if each.severity == "error"] == []


def test_prompts_in_files(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / "two.txt").write_text("One {{word}}\n---\nTwo {{word}}\n")
    (tmp_path / "a-1.md").write_text("A\n---\n{{word}}\n")
    (tmp_path / "a-2.md").write_text("B {{word}}\n")
    (tmp_path / "chat.yaml").write_text("- {role: system, content: Be kind}\n- {role: user, content: '{{word}}'}\n")
    (tmp_path / "other.json").write_text('{"role": "user"}')
    (tmp_path / "word.sql").write_text("select 1\n")
    tests = "tests: [{vars: {word: file://word.sql}, assert: [{type: is-json}]}]\n"

    def prompts_of(*prompts: str) -> tuple[str, list[str]]:
        suite, problems = imported(f"prompts: [{', '.join(prompts)}]\n{tests}", tmp_path)
        head = suite.text.partition("suite: ")[2].partition("eval:\n") if suite else ("", "", "")
        assert not suite or "word: select 1" in suite.text
        return head[0].partition("\n")[2], [problem.finding.message() for problem in problems]

    written, problems = prompts_of("two.txt", "file://a-*.md", "{raw: 'C {{word}}', label: Third one, config: {n: 1}}")
    assert written.partition("inputs:")[0] == dedent("""\
        prompts:
          two: One {{word}}
          two_2: Two {{word}}
          a_1: {file: a-1.md}
          a_2: {file: a-2.md}
          third_one: C {{word}}
        """)
    assert problems == ["not imported: `config` of the prompt: how a model is asked is said of the agent"]

    suite, found = imported(f"prompts: [chat.yaml, two.txt]\n{tests}", tmp_path)
    assert suite is not None
    assert '- {role: user, content: "{{word}}"}' in suite.text
    assert ["no conversations" in problem.finding.message() for problem in found] == [True]

    _, problems = prompts_of("other.json")
    why = "in `other.json`, only messages are a prompt, each a `role` and a text as `content`"
    assert f"not imported: the prompt: {why}" in problems


def test_files_beside_the_configuration(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / "prompt.txt").write_text("Say {{word}}")
    (tmp_path / "answer.json").write_text('{"type": "object"}')
    (tmp_path / "tests.csv").write_text(
        'word,__description,__expected,__expected2,__threshold\n"two\nlines",,"contains-any: a,b",,\n'
        'hi,Greets,"=x","not-contains:y",1\n'
        "no,,ruby: f.rb,,\n"
    )
    (tmp_path / "more.yaml").write_text(
        "- vars: {word: w}\n  assert: [{type: is-json, value: file://answer.json}, {type: equals, value: {k: [1]}}]\n"
    )
    suite, problems = imported(
        "prompts: file://prompt.txt\ntests:\n - file://tests.csv\n - file://more.yaml\n - file://../x.csv\n - file://t.py\n",
        tmp_path,
    )
    assert suite is not None
    assert "prompt_file: prompt.txt\n" in suite.text
    assert '- equals "=x"\n        - not contains "y"\n' in suite.text
    assert [Path(problem.source.name).name for problem in problems] == ["promptfooconfig.yaml"] * 2 + ["tests.csv"] * 2
    assert [problem.start.line for problem in problems[2:]] == [5, 5]
    compilation = evalc.compile(suite.write(tmp_path))
    assert not compilation.has_errors
    (compiled,) = compilation.suites
    last = list(compiled.cases())[-1]
    assert json.loads(json.dumps([check["schema"] for check in last.expect.checks or ()])) == [
        {"type": "object"},
        {"const": {"k": [1]}},
    ]


@pytest.mark.parametrize(("file", "sent"), [("p.txt", "Say\n hi"), ("p.md", " Say\n hi\n")])
def test_a_prompt_in_a_file_is_sent_as_promptfoo_sends_it(tmp_path: Path, file: str, sent: str) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / file).write_text(" Say\n {{word}}\n")
    config = f"prompts: file://{file}\ntests: [{{vars: {{word: hi}}, assert: [{{type: is-json}}]}}]\n"
    suite, _ = imported(config, tmp_path)
    assert suite is not None
    assert f"prompt_file: {file}\n" in suite.text
    (compiled,) = evalc.compile(suite.write(tmp_path)).suites
    assert [each.input.message for each in compiled.cases()] == [sent]


def test_tests_of_several_files(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / "t-1.jsonl").write_text(
        '{"vars": {"q": "a"}}\n\n{"vars": {"q": "b"}, "assert": [{"type": "made-up"}]}\n'
    )
    (tmp_path / "t-2.yaml").write_text("- vars: q.yaml\n- vars: [none.yaml]\n")
    (tmp_path / "q.yaml").write_text("q: c\n")
    (tmp_path / "default.yaml").write_text("assert: [{type: contains, value: x}]\n")
    suite, problems = imported(
        "prompts: ['{{q}}']\ndefaultTest: file://default.yaml\ntests: [t-*, t.xlsx#One]\n", tmp_path
    )
    assert suite is not None
    assert (suite.cases, suite.weaker, suite.lost) == (3, 1, 1)
    found = [(Path(each.source.name).name, each.start.line, each.finding.message()) for each in problems]
    assert found[0] == (
        "promptfooconfig.yaml",
        3,
        "not imported: the tests of `t.xlsx#One`: a sheet is not read; save it as CSV",
    )
    assert [each[:2] for each in found[1:]] == [("t-1.jsonl", 3), ("t-2.yaml", 2)]
    assert "made-up" in found[1][2]
    assert "none.yaml" in found[2][2]
    assert [case.input.message for case in evalc.compile(suite.write(tmp_path)).suites[0].cases()] == ["a", "b", "c"]


def test_references_within_the_configuration() -> None:
    suite, problems = imported("""\
        prompts: [Hi]
        assertionTemplates: {short: {type: max-length, value: 9}}
        tests:
          - assert: [{$ref: '#/assertionTemplates/short'}, {$ref: '#/assertionTemplates/short', type: min-length}]
        """)
    assert {problem.code for problem in problems} == {"EV655"}
    assert suite is not None
    assert "- length == 9 chars\n" in suite.text


def test_files_that_multiply_and_patterns_outside_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(promptfoo_tests, "_MOST_TESTS", 3)
    (tmp_path / ".git").mkdir()
    for number in range(30):
        (tmp_path / f"{number}.yaml").write_text(f"[file://{number + 1}.yaml, file://{number + 1}.yaml]")
    (tmp_path / "30.yaml").write_text("[]")
    (tmp_path / "tests.json").write_text('[{"assert": [{"type": "is-json"}]}]')
    suite, problems = imported(
        """\
        prompts: [Hi]
        tests: [file://../*.yaml, "file://*/../../**/a.yaml", "file://0.yaml", "file://te*s.json"]
        scenarios: [{config: [{vars: {a: [x, y]}}], tests: [{vars: {b: [x, y]}, assert: [{type: is-json}]}]}]
        """,
        tmp_path,
    )
    said = "\n".join(each.finding.message() for each in problems)
    assert said.count("lies outside of the project") == 2
    assert "the tests of `te*s.json`: only the first 1000 files of tests are read" in said
    assert "more tests: only the first 3 are imported" in said
    assert suite is not None
    assert suite.cases == 3


def test_references_that_multiply_are_not_followed() -> None:
    _, problems = imported("""\
        prompts: [Hi]
        many: [{$ref: '#/many'}, {$ref: '#/many'}, {$ref: '#/many'}, {$ref: '#/many'}]
        tests:
          - assert: [{type: contains-any, value: {$ref: '#/many'}}, {type: is-json}]
        """)
    assert "`contains-any`: the value is not a list of texts" in problems[1].finding.message()


def test_lists_of_texts_make_a_test_for_each_and_other_lists_none() -> None:
    suite, _ = imported("""\
        prompts: ["{{a}} {{b}}"]
        tests:
          - {vars: {a: [x, y], b: [1, 2]}, assert: [{type: is-json}]}
          - {vars: {a: [x, y], b: c}, options: {disableVarExpansion: true, repeat: 3}, assert: [{type: is-json}]}
        """)
    assert suite is not None
    assert suite.cases == 3
    assert suite.text.count("b: [1, 2]") == 2
    assert "repeat: 3" in suite.text


def test_a_lost_prompt_leaves_the_variables_to_send() -> None:
    suite, problems = imported("""\
        prompts: [file://prompt.py:make]
        tests:
          - {vars: {a: x}, assert: [{type: contains, value: "{{a}}"}]}
          - {assert: [{type: is-json}]}
        """)
    assert suite is not None
    assert (suite.cases, suite.weaker, suite.lost) == (1, 1, 1)
    assert [each.finding.message() for each in problems] == [
        "not imported: the prompt: `prompt.py:make` makes it, and an eval file runs no code",
        "not imported: a test: its prompt is not imported, and it has no variables to send",
    ]
    (case,) = evalc.compile(Source("s.eval.yaml", suite.text)).suites[0].cases()
    assert (case.input.message, case.expect.response_contains) == ("a: x", ("x",))


@pytest.mark.parametrize(
    ("value", "sent"),
    [("{{b}} {{ c }}", "B {{ c }}"), ("{{ 'x' }}{{b}}", "xB"), ("{{b}} {% if", "B {% if"), ("{{no.b}}", "{{no.b}}")],
)
def test_variables_within_variables_are_filled_as_promptfoo_fills_them(value: str, sent: str) -> None:
    suite, problems = imported(
        json.dumps(
            {"prompts": ["{{a}}!"], "tests": [{"vars": {"a": value, "b": "B"}, "assert": [{"type": "is-json"}]}]}
        )
    )
    assert not problems
    assert suite is not None
    (case,) = evalc.compile(Source("s.eval.yaml", suite.text)).suites[0].cases()
    assert case.input.message == f"{sent}!"


def test_a_conversation() -> None:
    prompt = json.dumps([{"role": "system", "content": "Be {{tone}}"}, {"role": "user", "content": "Hi"}])
    suite, problems = imported(
        f"prompts: [{prompt!r}]\ntests: [{{vars: {{tone: kind}}, assert: [{{type: is-json}}]}}]\n"
    )
    assert not problems
    assert suite is not None
    (case,) = evalc.compile(Source("s.eval.yaml", suite.text)).suites[0].cases()
    assert [(each.role, each.content) for each in case.input.messages or ()] == [("system", "Be kind"), ("user", "Hi")]


def test_one_assertion_of_the_default_test_is_named_once() -> None:
    suite, problems = imported("""\
        prompts: [Hi]
        defaultTest: {assert: [{type: is-xml}, {type: is-json}]}
        tests: [{vars: {a: 1}}, {vars: {a: 2}}]
        """)
    assert len(problems) == 1
    assert suite is not None
    assert suite.text.count("is-xml") == 1


@pytest.mark.parametrize(
    "text",
    ["prompts: [", "a: 1", "[]", "", "prompts: [x]\ntests: []", "tests: [{assert: [{type: javascript}]}]",
     "prompts: [x]\ntests: 5", "prompts: [x]\ntests: [7]", "prompts: [x]\ntests: [[]]", "prompts: {a: b}\ntests: [{}]",
     "prompts: [x]\ntests: [{assert: [x]}]", "prompts: [x]\ntests: [{vars: x, assert: [{type: is-json}]}]",
     "prompts: [x]\nscenarios: [1, {config: []}]", "prompts: ['{% if x %}']\ntests: [{assert: [{type: is-json}]}]"],
)  # fmt: skip
def test_errors_are_problems(text: str) -> None:
    suite, problems = imported(text)
    assert suite is None
    assert any(problem.severity == "error" for problem in problems)


KEYS = st.sampled_from(
    ["prompts", "tests", "scenarios", "defaultTest", "assert", "vars", "type", "value", "threshold", "weight", "metric",
     "options", "config", "description", "provider", "label", "id", "raw", "transform", "metadata", "path"]
)  # fmt: skip
WORDS = st.sampled_from(
    ["x", "", "{{x}}", "{{x|y}}", "file://a.csv", "file://", "is-json", "contains", "not-contains-any", "assert-set",
     "equals", "regex", "cost", "word-count", "llm-rubric", "[]", "[1]", '[{"role": "user"}]', '"', "a,\"b", "(",
     "\ud7ff", "\u2028", "openai:chat:x", "xai:y", "{{x | upper}}", "{% if x %}{{x}}{% endif %}", "promptfoo:redteam:x",
     "skill-used", "contains-json"]
)  # fmt: skip
ANYTHING = st.recursive(
    st.one_of(WORDS, st.integers(-1, 3), st.floats(0, 1), st.booleans(), st.none()),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(KEYS, inner, max_size=4)),
    max_leaves=12,
)
ASSERTION: st.SearchStrategy[dict[str, object]] = st.dictionaries(KEYS, ANYTHING, max_size=4) | st.builds(
    dict, type=WORDS, value=ANYTHING
)
TEST = st.fixed_dictionaries(
    {"assert": st.lists(ASSERTION, max_size=3).map(lambda some: [*some, {"type": "contains", "value": "x"}])},
    optional={"vars": st.dictionaries(KEYS, ANYTHING, max_size=2), "description": WORDS, "metadata": ANYTHING},
)
CONFIGURATIONS = st.fixed_dictionaries(
    {"tests": ANYTHING | st.lists(TEST | st.dictionaries(KEYS, ANYTHING), min_size=1, max_size=3)},
    optional={
        "prompts": WORDS | ANYTHING,
        "providers": WORDS | ANYTHING,
        "defaultTest": TEST | ANYTHING,
        "scenarios": ANYTHING,
    },
)


@settings(max_examples=examples(300))
@given(CONFIGURATIONS)
def test_any_configuration_ends_in_a_suite_or_in_errors(configuration: dict[str, object]) -> None:
    suite, problems = imported(json.dumps(configuration))
    assert (suite is not None) or problems
    if suite is not None:
        assert format_text(suite.text) == suite.text


# --- templates -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "template"),
    [
        ("{{ a }} and {{b}}", "{{a}} and {{b}}"),
        ("{{ '{{a}}' }}b", "\\{{a}}b"),
        ("no tags } }}", "no tags } }}"),
        ("{ {a} }", "{ {a} }"),
        ("", ""),
    ],
)
def test_plain_variables(text: str, template: str) -> None:
    assert template_of(text) == template


@pytest.mark.parametrize(
    "text", ["{{a|b}}", "{{a.b}}", "{% x %}", "{# c #}", "{{", "{{env}}", "{{ 'a' | b }}", "{{a", "\\{{a}}", "{{-a}}"]
)
def test_more_than_plain_variables(text: str) -> None:
    with pytest.raises(Unmappable):
        variables_of(text)


@pytest.mark.parametrize(
    ("text", "filled_in"),
    [
        ("{{ a | upper }}, {{ n }}, {{ missing }}{# no #}", "ANN, 5, "),
        (r"{{ 'a\{\'\x' }}", "a{'x"),
        ("{{ missing | default('x') }} {{ a | trim | safe }} {{ items | join(', ') }}", "x Ann p, q"),
        ("{{ o.k | dump }} {{ o['k'][0] }} {{ o.k.length }} {{ items | last | title }}", "[1.5] 1.5 1 Q"),
        ("a {%- if n > 4 and a == 'Ann' -%} b {%- else %}c{% endif %}", "ab"),
        ("{% if not items %}x{% elif 'p' in items %}y{% endif %}", "y"),
        ("{% if a is defined and missing is undefined %}x{% endif %}{{ 'y' if no else 'z' }}", "xz"),
        ("{% for i in items %}{{ loop.index }}{{ i }}{% if not loop.last %},{% endif %}{% endfor %}", "1p,2q"),
        ("{% for i in missing %}{{ i }}{% else %}none{% endfor %}{% for k, v in o %}{{ k }}{% endfor %}", "nonek"),
        ("{% set b = a | lower %}{{ b }}{{ b | replace('n', 'm') | capitalize }}", "annAmm"),
    ],
)
def test_templates_are_filled_in_as_nunjucks_does(text: str, filled_in: str) -> None:
    values = {"a": "Ann", "n": 5.0, "items": ["p", "q"], "o": {"k": [1.5]}, "no": False}
    assert rendered(text, values) == filled_in


@pytest.mark.parametrize(
    "text",
    ["{{ a | sort }}", "{{ env.A }}", "{{ a + 1 }}", "{{ a() }}", "{{ o }}", "{{ n | upper }}", "{{ n < a }}",
     "{{ n == a }}", "{{ a.b }}", "{% if a %}", "{% macro a %}", "{% for i in a %}{% endfor %}", "{{ a", "{{ True }}",
     "{{ a == 1 == 2 }}", "{{ n | length }}", "{{ n | join }}", "{{ a | first }}", "{{ a in n }}",
     "{% for i, j in items %}{% endfor %}", "{{ not a | safe }}", "{{ o | dump(2) }}",
     "{% for i in items %}{% for i in items %}" + "x" * 300_000 + "{% endfor %}{% endfor %}"],
)  # fmt: skip
def test_templates_that_are_not_filled_in(text: str) -> None:
    with pytest.raises(Unmappable):
        rendered(text, {"a": "Ann", "n": 5, "items": ["p", "q"], "o": {"k": 1}})


def test_a_test_may_have_one_prompt_of_several(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / "two.txt").write_text("Two {{a}} {{b}}\n")
    first, second = "{raw: 'One {{a}}', label: 'group:one'}", "{raw: file://two.txt, label: two}"
    prompts = f"prompts: [{first}, {second}, {{raw: Three, id: three}}]"

    def sent(*asked: str) -> tuple[list[str], list[str]]:
        tests = [f"{{vars: {{a: x}}, prompts: {each}, assert: [{{type: is-json}}]}}" for each in asked]
        suite, problems = imported(f"{prompts}\ntests: [{', '.join(tests)}]\n", tmp_path)
        assert suite is not None
        cases = [case for each in evalc.compile(suite.write(tmp_path)).suites for case in each.cases()]
        return [case.input.message or "" for case in cases], [each.finding.message() for each in problems]

    assert sent("[group]", "[two]", "['thr*']") == (["One x", "Two x ", "Three"], [])
    assert [message.strip() for message in sent("[group, two, three]")[0]] == ["One x", "Two x", "Three"]
    why = "not imported: a test: none of the prompts that it is asked with is imported"
    assert sent("[other]", "[three]") == (["Three"], [why])
    messages, problems = sent("[two, three]")
    assert len(messages) == 3
    assert problems == ["not imported: `prompts`: a case has a prompt of its own, or all of them"]


def test_prompts_with_more_than_variables_are_filled_in_for_each_case(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / "chat.txt").write_text('[{"role": "user", "content": {{ q | trim | dump }}}]')
    first, second = "{vars: {q: ' A {'}, assert: [{type: is-json}]}", "{vars: {q: b}, assert: [{type: is-json}]}"
    tests = f"tests: [{first}, {second}]"
    prompt = """{{ q | default('x') }}{% if tone %} Be {{tone}}.{% endif %}{{ '{{' }}"""
    suite, problems = imported(f'prompts: ["{prompt}"]\n{tests}\n')
    assert not problems
    assert suite is not None
    cases = evalc.compile(Source("s.eval.yaml", suite.text)).suites[0].cases()
    assert [case.input.message for case in cases] == [" A {{{", "b{{"]

    suite, problems = imported(f"prompts: [chat.txt]\n{tests}\n", tmp_path)
    assert not problems
    assert suite is not None
    case, _ = evalc.compile(Source("s.eval.yaml", suite.text)).suites[0].cases()
    assert [(each.role, each.content) for each in case.input.messages or ()] == [("user", "A {")]

    suite, problems = imported(f"prompts: ['{{{{ q | dump(2) }}}}']\n{tests}\n")
    assert suite is not None
    assert suite.weaker == 2
    assert "not imported: its prompt: `dump` is given something else" in problems[0].finding.message()

    _, problems = imported(f'prompts: ["{{{{ q |\\n upper }}}}"]\n{tests}\n')
    assert "a tag goes over lines" in problems[0].finding.message()


@settings(max_examples=examples(200))
@given(st.text(alphabet="{}%#ab |\\\n"))
def test_a_plain_template_renders_its_variables_as_themselves(text: str) -> None:
    try:
        names = variables_of(text)
    except Unmappable:
        return
    assert rendered(text, {name: f"{{{{{name}}}}}" for name in names}) == template_of(text)


def in_one_test(*assertions: str) -> str:
    lines = "".join(f"      - {assertion}\n" for assertion in assertions)
    return f"prompts: [Hi]\ntests:\n  - vars: {{}}\n    assert:\n{lines}      - {{type: llm-rubric, value: z}}\n"


LATENCY = "{type: latency, threshold: %s}"
STEPS = "{type: 'trajectory:step-count', value: {type: tool, min: %s, max: %s}}"
WORDS_OF = "{type: word-count, value: {min: %s, max: %s}}"
CALL = "{type: 'trajectory:tool-args-match', value: {name: book, args: {%s}}}"


@pytest.mark.parametrize(
    ("assertions", "lines"),
    [
        ((LATENCY % 2000, LATENCY % 500), ["- latency <= 500ms"]),
        ((STEPS % (0, 2), STEPS % (1, 3)), ["- tool count 1..2"]),
        ((WORDS_OF % (2, 20), WORDS_OF % (1, 9)), ["- length 2..9 words"]),
        ((CALL % "x: 1", CALL % "x: 2"), ["- any call of book has x 1", "- any call of book has x 2"]),
        ((CALL % "x: 1", CALL % "y: 2"), ["- not no call of book has x 1", "- not no call of book has y 2"]),
    ],
)
def test_assertions_of_one_test_side_by_side(assertions: tuple[str, ...], lines: list[str]) -> None:
    suite, problems = imported(in_one_test(*assertions))
    assert not problems
    assert suite is not None
    assert checks_of(suite) == lines


@pytest.mark.parametrize(("first", "second"), [(2000, 500), (500, 2000)])
def test_a_limit_counts_for_the_metric_of_either(first: int, second: int) -> None:
    suite, _ = imported(in_one_test(LATENCY % first, f"{{type: latency, threshold: {second}, metric: speed}}"))
    assert suite is not None
    assert checks_of(suite) == ["- latency <= 500ms for speed"]


RECORDED: list[dict[str, Any]] = json.loads((Path(__file__).parent / "promptfoo_verdicts.json").read_text())
AGENT = """
import json

def agent(message):
    said = json.loads(message)
    calls = [{"name": call["name"], "params": call["args"]} for call in said.get("calls", ())]
    return {"response": said.get("response", "x"), "toolCalls": calls}
"""


@pytest.fixture(scope="module")
def agent(tmp_path_factory: pytest.TempPathFactory) -> str:
    """An agent that answers as its message says, with the calls that it lists."""
    folder = tmp_path_factory.mktemp("agent")
    (folder / "calls_as_told.py").write_text(AGENT)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(folder))
        __import__("calls_as_told")
    return "python:calls_as_told:agent"


NEVER_PASSES: Final = ("contradicts", "is asserted a second time", "cannot pass")


def imported_of(number: int) -> tuple[Source | None, list[str]]:
    """The suite of a recorded test, none if it can never pass, and what of it is not imported."""
    recorded = RECORDED[number]
    asked = {key: value for key, value in recorded.items() if key in ("assert", "threshold")}
    answer = {key: value for key, value in recorded.items() if key in ("calls", "response")}
    config = {"prompts": ["{{answer}}"], "tests": [{"vars": {"answer": json.dumps(answer)}, **asked}]}
    problems = Diagnostics()
    suite = import_promptfoo(Source(f"test{number}.json", json.dumps(config)), Path(), problems)
    said = [problem.finding.message() for problem in problems]
    if suite is None:
        return None, [] if any(words in each for words in NEVER_PASSES for each in said) else said
    return Source(f"test{number}.eval.yaml", suite.text), said


def test_verdicts_are_those_of_promptfoo(agent: str, tmp_path: Path) -> None:
    """Where evalc refuses the test, promptfoo passes it never."""
    suites = {number: imported_of(number) for number in range(len(RECORDED))}
    whole = {number: suite for number, (suite, left_out) in suites.items() if not left_out}
    run = evalc.run([suite for suite in whole.values() if suite is not None], agent=agent, output_dir=tmp_path)
    passed = {case.id.partition("/")[0]: case.status == "passed" for suite in run.suites for case in suite.cases}
    verdicts = {number: passed.get(f"test{number}") for number in whole}
    differ = [number for number, verdict in verdicts.items() if bool(verdict) != RECORDED[number]["passes"]]
    assert not differ, RECORDED[differ[0]]
    counts = Counter(verdicts.values())
    assert counts[True] > 200
    assert counts[False] > 250
    assert len(whole) > 0.9 * len(RECORDED)


def test_scenarios_in_files_and_without_tests(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / "config.yaml").write_text("- {vars: {a: x}}\n- {vars: {a: y}, assert: [{type: contains, value: z}]}\n")
    (tmp_path / "scenarios.yaml").write_text("- {config: file://config.yaml, tests: [{assert: [{type: is-json}]}]}\n")
    suite, problems = imported(
        """\
        prompts: {"{{a}}": By a}
        scenarios:
          - file://scenarios.yaml
          - {config: [{vars: {a: v}, assert: [{type: is-json}]}]}
          - {config: none.yaml}
          - {}
        """,
        tmp_path,
    )
    assert suite is not None
    assert [case.input.message for case in evalc.compile(suite.write(tmp_path)).suites[0].cases()] == ["x", "y", "v"]
    assert [problem.start.line for problem in problems] == [5, 6]


def test_without_tests_the_default_test_is_one() -> None:
    suite, problems = imported("prompts: ['{{a}}']\ndefaultTest: {vars: {a: [x, y]}, assert: [{type: is-json}]}\n")
    assert not problems
    assert suite is not None
    assert suite.cases == 2


def test_bytes_that_are_not_utf8_are_read_as_promptfoo_reads_them(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / "t.yaml").write_bytes(b"- {vars: {a: x\x97y}, assert: [{type: is-json}]}\n")
    suite, problems = imported("prompts: ['{{a}}']\ntests: t.yaml\n", tmp_path)
    assert suite is not None
    assert (suite.cases, suite.lost) == (1, 0)
    assert [(problem.severity, problem.finding.message()) for problem in problems] == [
        ("warning", "the byte 0x97 is not UTF-8")
    ]
    assert "x\ufffdy" in suite.text


def test_prompts_that_are_json_are_filled_as_data(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / "chat.txt").write_text(
        '[{"role": "developer", "content": "Be {{a}}"}, {"role": "user", "content": "Hi"}]'
    )
    (tmp_path / "other.txt").write_text('{"text": "{{a}}"}')
    (tmp_path / "a.yaml").write_text("b: [1, é]\n")
    tests = "tests: [{vars: {a: file://a.yaml}, assert: [{type: is-json}]}]\n"
    suite, problems = imported(f"prompts: [chat.txt]\n{tests}", tmp_path)
    assert not problems
    assert suite is not None
    (case,) = evalc.compile(suite.write(tmp_path)).suites[0].cases()
    messages = [(each.role, each.content) for each in case.input.messages or ()]
    assert messages == [("system", 'Be {"b":[1,"é"]}'), ("user", "Hi")]
    _, problems = imported(f'prompts: [other.txt, \'{{"a": "{{{{a}}}}"}}\']\n{tests}', tmp_path)
    assert ["fills it as data" in problem.finding.message() for problem in problems] == [True, True]
