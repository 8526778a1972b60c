"""An imported suite says what its cases share once, and keeps the comments of the configuration."""

from __future__ import annotations

import json
from pathlib import Path
from textwrap import dedent

import pytest

import evalc
from evalc.base.source import Source
from evalc.diagnostics import Diagnostics
from evalc.dsl.format import format_text
from evalc.extras.importers.imported import IN_CONFIGURATION
from evalc.extras.importers.promptfoo import import_promptfoo
from evalc.model.case import Case


def imported(text: str, folder: Path) -> tuple[str, list[Case]]:
    """The text below `suite:`, and the cases of it."""
    _, below, cases = all_of(text, folder)
    return below, cases


def all_of(text: str, folder: Path) -> tuple[list[str], str, list[Case]]:
    """The comments above `suite:` but the first, the text below it, and the cases."""
    (folder / ".git").mkdir(exist_ok=True)
    source = Source(str(folder / "promptfooconfig.yaml"), dedent(text))
    suite = import_promptfoo(source, folder, Diagnostics())
    assert suite is not None
    assert format_text(suite.text) == suite.text
    compilation = evalc.compile(suite.write(folder))
    assert not compilation.has_errors, [each.finding.message() for each in compilation.problems]
    cases = [case for each in compilation.suites for case in each.cases()]
    assert len({case.id.partition("@")[0] for case in cases}) == suite.cases
    head, _, rest = suite.text.partition("suite: ")
    return [line.removeprefix("# ") for line in head.splitlines()[1:]], rest.partition("\n")[2], cases


def test_alike_cases_in_a_row_are_rows_of_one(tmp_path: Path) -> None:
    text, cases = imported(
        r"""
        prompts: ["Capital of {{country}}?"]
        tests:
          - {vars: {country: France}, assert: [{type: contains, value: Paris}, {type: is-json}]}
          # Not Milan
          - {vars: {country: Italy}, assert: [{type: contains, value: 'a "\d" }}'}, {type: is-json}, {type: made-up}]}
          - {vars: {country: Peru}, assert: [{type: contains, value: '42'}, {type: is-json}]}
          - {vars: {country: Oman}, assert: [{type: contains, value: '{{country}}'}, {type: is-json}]}
        """,
        tmp_path,
    )
    assert text == dedent(r"""
        prompt: Capital of {{country}}?
        defaults:
          validate: [json]
        eval:
          test_cases:
            - name: "{{country}}"
              for_each:
                - {country: France, expected: Paris}
                # Not Milan
                # not imported: `made-up`: neither promptfoo nor evalc has such a type (promptfooconfig.yaml:6:101)
                - {country: Italy, expected: 'a "\d" }}'}
                - {country: Peru, expected: "42"}
                - {country: Oman, expected: Oman}
              validate:
                - contains "{{expected}}"
        """).lstrip("\n")
    assert [case.expect.response_contains for case in cases] == [("Paris",), ('a "\\d" }}',), ("42",), ("Oman",)]
    assert [case.input.message for case in cases][3] == "Capital of Oman?"


def test_rows_have_the_names_of_their_tests(tmp_path: Path) -> None:
    text, cases = imported(
        """
        prompts: ["{{id}} {{x}}"]
        tests:
          - {description: Says hello, vars: {id: 1, x: b}, assert: [{type: llm-rubric, value: a}]}
          - {description: Says goodbye! & more, vars: {id: 1, x: b}, assert: [{type: llm-rubric, value: b}]}
          - {description: Says it's 100 %, vars: {id: 1, x: b}, assert: [{type: llm-rubric, value: c}]}
          - {description: Says no + yes, vars: {id: 1, x: b}, assert: [{type: llm-rubric, value: d}]}
        """,
        tmp_path,
    )
    names = ["says_hello", "says_goodbye_more", "Says it's 100 %", "Says no + yes"]
    assert [case.id.partition("/")[2] for case in cases] == names
    assert [case.description for case in cases] == names
    assert '- judge "{{rubric}}"' in text
    assert "- {name: Says no + yes, rubric: d}" in text


def test_rows_are_called_by_what_differs_from_all_other_cases(tmp_path: Path) -> None:
    row = "\n  - {description: X, vars: {q: a}, assert: [{type: contains, value: X}]}"
    rows = "".join(row.replace("X", each) for each in "bcd")
    text, cases = imported(f"prompts: ['{{{{q}}}}']\ntests:{rows}", tmp_path)
    assert '- name: "{{name}}"\n      inputs: {q: a}\n      for_each:\n        - {name: b, expected: b}\n' in text
    assert [case.id for case in cases] == [f"{cases[0].id[:-1]}{each}" for each in "bcd"]

    row = "{vars: {q: Q}, assert: [{type: equals, value: A}]}"
    first = "{description: x, vars: {q: y}, assert: [{type: is-json}]}"
    alike = ", ".join(row.replace("Q", q).replace("A", q * 2) for q in ("X!", "Y", "Z"))
    text, cases = imported(f"prompts: ['{{{{q}}}}']\ntests: [{first}, {alike}]", tmp_path)
    assert [case.id.partition("/")[2] for case in cases] == ["x", "x_2", "y", "z"]
    assert '- {name: x_2, q: "X!", expected: "X!X!"}' in text


def test_a_table_is_read_where_it_is(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("q,topic\na,x\nb,y\nc,z\n")
    config = "prompts: ['{{q}}']\ndefaultTest: {assert: [{type: contains, value: '{{topic}}'}]}\ntests: file://t.csv\n"
    text, cases = imported(config, tmp_path)
    assert text.endswith('    - {name: "{{q}}", for_each: t.csv}\n')
    assert [(case.input.message, case.expect.response_contains) for case in cases][2] == ("c", ("z",))

    (tmp_path / "t.csv").write_text('q,topic\na,x\n"b\n",y\nc,z\n')  # promptfoo takes the line break off
    text, cases = imported(config, tmp_path)
    assert "t.csv" not in text
    assert [case.input.message for case in cases] == ["a", "b", "c"]


def test_no_rows_where_the_variables_are_what_is_sent(tmp_path: Path) -> None:
    text, cases = imported(
        """
        prompts: [file://p.py]
        tests:
          - {vars: {q: a}, assert: [{type: equals, value: x}]}
          - {vars: {q: b}, assert: [{type: equals, value: y}]}
          - {vars: {q: c}, assert: [{type: equals, value: z}]}
        """,
        tmp_path,
    )
    assert "for_each" not in text
    assert [case.input.message for case in cases] == ["q: a", "q: b", "q: c"]


def test_long_inputs_and_messages_are_said_once(tmp_path: Path) -> None:
    (tmp_path / "long.txt").write_text("word " * 100)
    text, cases = imported(
        """
        prompts: ['[{"role": "system", "content": "Be {{kind}}"}, {"role": "user", "content": "{{a}} {{b}}"}]']
        tests:
          - {vars: {a: file://long.txt, b: x, kind: k}, assert: [{type: equals, value: x}]}
          - {vars: {a: file://long.txt, b: y, kind: k}, assert: [{type: is-json}]}
          - {vars: {a: y, b: file://long.txt, kind: l}, assert: [{type: cost, threshold: 1}]}
        """,
        tmp_path,
    )
    assert text.count("&a ") == 1
    assert text.count("*a\n") == 2
    assert text.count("word") < 120
    assert [case.input.messages[0].content for case in cases if case.input.messages] == ["Be k", "Be k", "Be l"]


def test_comments_are_kept_where_they_were(tmp_path: Path) -> None:
    text, _ = imported(
        """\
        # yaml-language-server: $schema=https://promptfoo.dev/config-schema.json
        # Run: npx promptfoo@latest eval -c x.yaml
        # ---------
        # Our weather
        #
        description: Weather
        # The prompt
        prompts: ["{{q}}"]
        providers:
          # - not ours
        # For all
        defaultTest:
          assert:
            # Cheap
            - {type: cost, threshold: 1}
            # Not here
            - {type: made-up}
        tests:
          # First
          - vars: {q: a}
            assert:
              # Why
              - {type: contains, value: a}
              # Also
              - {type: made-up}
          # Lost
          - {vars: {q: "{{q + 1}}"}, assert: [{type: is-json}]}
          # Second
          - {vars: {q: b}, assert: [{type: is-json}]}
        """,
        tmp_path,
    )
    shown = [line.strip().partition(": neither")[0] for line in text.splitlines() if line.strip().startswith("#")]
    lost = "# not imported: a test: in its variable `q`, `q + 1` in a template is not known here"
    assert [line.partition(" (promptfoo")[0] for line in shown] == [
        "# The prompt",
        "# For all",
        "# Not here",
        "# not imported: `made-up`",
        "# Cheap",
        "# First",
        "# Also",
        "# not imported: `made-up`",
        "# Why",
        "# Lost",
        lost,
        "# Second",
    ]


def test_a_loss_that_is_often_is_said_once(tmp_path: Path) -> None:
    lost = "  - {vars: {a: b}}\n" * 2
    case = "  - vars: {a: %d}\n    tags: x\n    assert: [{type: is-json}, {type: made-up}]\n"
    config = f"prompts: ['{{{{a}}}}']\nzzz: 1\ntests:\n{lost}{case % 1}{case % 2}"
    text, _ = imported(config, tmp_path)
    assert "# not imported: a test: it asserts nothing (promptfooconfig.yaml:4:5)\n" in text
    unknown = "neither promptfoo nor evalc has such a type"
    assert text.count(f"# not imported: `made-up`: {unknown} (promptfooconfig.yaml") == 2
    assert "zzz" not in text

    (tmp_path / "more.yaml").write_text("- vars: {a: 3}\n  assert: [{type: is-json}, {type: made-up}]\n")
    head, text, _ = all_of(f"{config}  - {{vars: {{a: b}}}}\n  - file://more.yaml\n", tmp_path)
    assert "not imported" not in text
    said = "`zzz` (promptfooconfig.yaml:2:1)", "`tags`, 2 times (promptfooconfig.yaml:7:5, 10:5)"
    assert head == [
        f"not imported: {', '.join(said)}: it has no counterpart here",
        "not imported: a test, 3 times (promptfooconfig.yaml:4:5, 5:5, 12:5): it asserts nothing",
        f"not imported: `made-up`, 3 times (promptfooconfig.yaml:8:38, 11:38, more.yaml:2:36): {unknown}",
    ]


def test_rows_and_prompts_say_nothing_twice(tmp_path: Path) -> None:
    row = "  - vars: {a: %s}\n    assert:\n      # Of every row\n      - {type: equals, value: %s}\n"
    rows = "".join(row % (each, each * 2) for each in "abc")
    text, _ = imported(
        f"prompts: [{{id: p, raw: '{{{{a}}}}', label: one}}, {{id: two, raw: x}}]\ntests:\n{rows}", tmp_path
    )
    assert text.count("# Of every row\n") == 1
    assert 'prompts: {one: "{{a}}", two: x}\n' in text


def test_names_are_made_of_what_sets_tests_apart(tmp_path: Path) -> None:
    _, cases = imported(
        """
        prompts: ["{{word}} {{url}} {{limit}}"]
        tests:
          - {description: Says it, vars: {limit: '0.5', word: one, url: http://a}, assert: [{type: is-json}]}
          - {description: Says it, vars: {limit: '0.5', word: two, url: http://b}, assert: [{type: is-json}]}
          - {vars: {limit: '0.8', word: three, url: http://c}, assert: [{type: is-json}]}
        """,
        tmp_path,
    )
    assert [case.id.partition("/")[2] for case in cases] == ["says_it", "says_it_two", "three"]
    assert [case.description for case in cases] == ["says_it", "says_it_two", "three"]


def test_rows_have_only_what_differs(tmp_path: Path) -> None:
    row = "  - {vars: {q: %s, long: %s}, assert: [{type: equals, value: %s}]}\n"
    rows = [row % (f"q{number}", "same", "x" if number < 6 else "y") for number in range(12)]
    text, cases = imported(f"prompts: ['{{{{q}}}} {{{{long}}}}']\ntests:\n{''.join(rows)}", tmp_path)
    assert len(cases) == 12
    assert text.count("inputs: {long: same}\n") == 2
    assert '        - q: q5\n      validate: [equals "x"]\n' in text
    assert text.endswith('        - q: q11\n      validate: [equals "y"]\n')


def test_functions_are_called_by_the_comment_above(tmp_path: Path) -> None:
    source = Source(
        str(tmp_path / "s.yaml"),
        """\
prompts: ["Hi"]
tests:
  - assert:
      # Says more than
      # one thing!
      - {type: javascript, value: "output.trim().length > context.vars.x"}
      # == HEADING ==
      - {type: javascript, value: "/x/.test(output) ? 1 : output.length >= context.vars.w"}
      # Kept: it says more than the name, which is cut after some of so many words
      - {type: javascript, value: "output.trim().length > context.vars.y"}
      - {type: javascript, value: "output.trim().length > context.vars.z", description: The last}
""",
    )
    suite = import_promptfoo(source, tmp_path, Diagnostics())
    assert suite is not None
    assert [line.strip(" -") for line in suite.text.partition("validate:")[2].splitlines() if line] == [
        "check s_says_more_than_one_thing()",
        "# == HEADING ==",
        "check s_x_test_output_1_output_length_at_least_context_vars_w() > 0",
        "# Kept: it says more than the name, which is cut after some of so many words",
        "check s_kept_it_says_more_than_the_name_which_is_cut()",
        "check s_the_last()",
    ]


def test_rows_are_apart_where_a_value_is_that_of_many(tmp_path: Path) -> None:
    row = "  - {vars: {q: %s, kind: %s}, assert: [{type: contains, value: x}, {type: is-json}]}\n"
    rows = [row % (f"q{number}", "old" if number < 8 else "new") for number in range(16)]
    text, cases = imported(f"prompts: ['{{{{q}}}} {{{{kind}}}}']\ntests:\n{''.join(rows)}", tmp_path)
    assert [case.input.message for case in cases][7:9] == ["q7 old", "q8 new"]
    assert [text.count(f"inputs: {{kind: {kind}}}\n") for kind in ("old", "new")] == [1, 1]
    assert text.count("kind") == 3


def test_two_tests_are_rows_where_that_is_shorter(tmp_path: Path) -> None:
    text, cases = imported(
        """
        prompts: ["Say {{q}}"]
        tests:
          - {vars: {q: a, x: 1}, assert: [{type: contains, value: a}, {type: llm-rubric, value: "Is it {{q}}?"}]}
          - {vars: {q: b}, assert: [{type: contains, value: b}, {type: llm-rubric, value: Is it b?}]}
        """,
        tmp_path,
    )
    assert text == dedent("""\
        prompt: Say {{q}}
        eval:
          test_cases:
            - name: "{{q}}"
              for_each:
                - {q: a, x: 1, expected: a, rubric: "Is it a?"}
                - {q: b, expected: b, rubric: "Is it b?"}
              validate:
                - contains "{{expected}}"
                - judge "{{rubric}}"
        """)
    assert [case.rubric[0].criteria for case in cases if case.rubric] == ["Is it a?", "Is it b?"]

    text, _ = imported("prompts: ['{{q}}']\ntests: [{vars: {q: a}, assert: [{type: contains, value: a}]}]", tmp_path)
    assert "for_each" not in text


def test_rows_have_lists_numbers_and_places_in_any_order(tmp_path: Path) -> None:
    text, cases = imported(
        """
        prompts: ["{{q}}"]
        tests:
          - vars: {q: a}
            assert:
              - {type: contains-any, value: [b, c]}
              - {type: javascript, value: output.length < 30}
              - {type: javascript, value: JSON.parse(output).ok === true}
          - vars: {q: d}
            assert:
              - {type: javascript, value: JSON.parse(output).ok === false}
              - {type: contains-any, value: [e, "{{q}}"]}
              - {type: javascript, value: output.length < 40}
          - vars: {q: f}
            assert: [{type: is-json}]
          - vars: {q: g}
            assert:
              - {type: contains-any, value: [b, c]}
              - {type: javascript, value: output.length < 5}
              - {type: javascript, value: JSON.parse(output).ok === true}
        """,
        tmp_path,
    )
    assert (
        text.partition("test_cases:\n")[2]
        == """\
    - name: "{{q}}"
      for_each:
        - {q: a, expected: [b, c], length: 30, ok: true}
        - {q: d, expected: [e, d], length: 40, ok: false}
        - {q: g, expected: [b, c], length: 5, ok: true}
      validate:
        - contains any of {{expected}}
        - length < {{length}} chars
        - at ok equals {{ok}}

    - {name: f, inputs: {q: f}}
"""
    )
    assert [case.expect.response_contains_any for case in cases] == [(("b", "c"),), (("e", "d"),), (("b", "c"),), None]


def test_rows_do_not_leave_the_part_of_the_suite_that_a_comment_begins(tmp_path: Path) -> None:
    test = "  - {vars: {q: %s}, assert: [{type: equals, value: X}]}\n"
    before, behind = [test % each for each in "abc"], [test % each for each in "def"]
    other = "  # Others\n  - {vars: {q: x}, assert: [{type: is-json}]}\n"
    text, _ = imported(f"prompts: ['{{{{q}}}}']\ntests:\n{''.join([*before, other, *behind])}", tmp_path)
    rows, others = text.split("    # Others\n")
    assert [each.count("- q: ") for each in (rows, others)] == [3, 3]


def test_metrics_are_criteria_of_one_weight(tmp_path: Path) -> None:
    config = "prompts: ['{{q}}']\ntests: [{vars: {q: a}, assert: [%s]}]"
    asserted = "{type: contains, value: %s, metric: '%s'}"
    text, [case] = imported(config % ", ".join(asserted % each for each in (("b", "B"), ("c", "C"))), tmp_path)
    assert "  criteria: [B, C]\n" in text
    assert [each.weight for each in case.criteria or ()] == [1, 1]
    text, [case] = imported(config % ", ".join(asserted % each for each in (("b", "B"), ("c", "C (d): e"))), tmp_path)
    assert '  criteria:\n    - B\n    - name: "C (d): e"\n' in text
    assert [each.name for each in case.criteria or ()] == ["B", "C (d): e"]


def test_a_judge_is_asked_without_white_space_around_it(tmp_path: Path) -> None:
    config = "prompts: [Hi]\ntests: [{assert: [{type: llm-rubric, value: ' Is it kind?\n\n', %s}]}]"
    text, [case] = imported(config % "weight: 2", tmp_path)
    assert '- {type: judge, rule: "Is it kind?", weight: 2}\n' in text
    assert [each.criteria for each in case.rubric or ()] == ["Is it kind?"]
    text, [case] = imported(config % "weight: 2, threshold: 0.5", tmp_path)
    assert '- {type: judge, rule: "Is it kind?", min: 0.5, scale: 1, weight: 2}\n' in text
    assert [each.min_score for each in case.rubric or ()] == [0.5]


def test_texts_and_flags_are_no_rows_of_one_case(tmp_path: Path) -> None:
    code = "JSON.parse(output).ok === %s"
    test = f"  - {{vars: {{q: %s}}, assert: [{{type: latency, threshold: %s}}, {{type: javascript, value: {code}}}]}}\n"
    tests = [("a", 2000, "true"), ("b", 3000, "'x'"), ("c", 4000, "'y'"), ("d", 5000, "false")]
    text, cases = imported(f"prompts: ['{{{{q}}}}']\ntests:\n{''.join(test % each for each in tests)}", tmp_path)
    assert "- {q: a, latency: 2, ok: true}\n" in text
    assert "- {q: b, latency: 3, ok: x}\n" in text
    assert [case.expect.max_latency_ms for case in cases] == [2000, 5000, 3000, 4000]


def test_comments_that_are_settings_or_introduce_none_do_not_stay(tmp_path: Path) -> None:
    text, _ = imported(
        """\
        prompts: ["{{q}}"]
        # Usage:
        #   promptfoo eval -c here.yaml
        #
        # tracing:
        #   enabled: true # for now

        # ╔══════════╗
        # ║  BASICS  ║
        # ╚══════════╝
        # Note: what is asked
        # - question: the first
        # - answer: the second
        tests:
          # Simple ones
          # - vars:
          #     question: Where?
          #   # - old: model
          - {vars: {q: a}, assert: [{type: contains, value: x}]}
        """,
        tmp_path,
    )
    shown = [line.strip("# ") for line in text.splitlines() if line.strip().startswith("#")]
    assert shown == ["BASICS", "Note: what is asked", "- question: the first", "- answer: the second", "Simple ones"]


def test_tests_without_descriptions_are_called_as_they_are_elsewhere(tmp_path: Path) -> None:
    asserted = "assert: [{type: contains, value: x}]"
    tests = [
        f"  - {{name: By name, vars: {{q: a}}, {asserted}}}\n",
        f"  - {{id: BY_ID, vars: {{q: b}}, {asserted}}}\n",
        f"  - {{id: unused, description: By description, vars: {{q: c}}, {asserted}}}\n",
    ]
    head, _, cases = all_of(f"prompts: ['{{{{q}}}}']\ntests:\n{''.join(tests)}", tmp_path)
    assert [case.id.partition("/")[2] for case in cases] == ["by_name", "by_id", "by_description"]
    assert head == []

    comments = ["  # First\n", "  # Second: 名\n", "  # Much to be said\n  # of the third\n"]
    tests = [f"{comment}  - {asserted}\n" for comment in comments]
    text, cases = imported(f"prompts: [Hi]\ntests:\n{''.join(tests)}", tmp_path)
    assert [case.id.partition("/")[2] for case in cases] == ["first", "second", "test_3"]
    assert [line.strip() for line in text.splitlines() if "#" in line] == [
        "# Second: 名",
        "# Much to be said",
        "# of the third",
    ]


def test_rows_are_called_by_the_questions_themselves(tmp_path: Path) -> None:
    questions = [f"{letter} riddle that begins {'very ' * 30}slowly?" for letter in "ABC"]
    tests = "".join(f"  - {{vars: {{q: '{q}'}}, assert: [{{type: equals, value: x}}]}}\n" for q in questions)
    text, cases = imported(f"prompts: ['{{{{q}}}}']\ntests:\n{tests}", tmp_path)
    assert '- name: "{{q}}"\n' in text
    assert [case.input.message for case in cases] == questions


def test_the_head_says_in_one_line_what_configurations_are_for(tmp_path: Path) -> None:
    config = "prompts: [Hi]\nproviders: [echo]\nevaluateOptions: {a: 1}\noutputPath: x\n"
    head, _, _ = all_of(f"{config}tests: [{{assert: [{{type: is-json}}]}}]\n", tmp_path)
    what = (
        "the providers `echo` (promptfooconfig.yaml:2:12), `evaluateOptions` (promptfooconfig.yaml:3:1), `outputPath`"
    )
    assert head == [f"not imported: {what} (promptfooconfig.yaml:4:1): {IN_CONFIGURATION}"]


def test_rows_say_only_what_differs_from_most(tmp_path: Path) -> None:
    days = [1, 1, True, 1, 1, "1", 1, 1]
    places = ["Dubai, in the United Arab Emirates, for a week in the coming spring"] * 7 + ["Paris"]
    test = "  - {vars: {q: question %s, place: '%s', days: %s}, assert: [{type: equals, value: %s}]}\n"
    tests = [test % (n, places[n], json.dumps(day), "word" * (n + 1)) for n, day in enumerate(days)]
    text, cases = imported(f"prompts: ['{{{{q}}}} {{{{place}}}} {{{{days}}}}']\ntests:\n{''.join(tests)}", tmp_path)
    assert text.count("Dubai") == 1
    assert "- {q: question 1, expected: wordword}\n" in text
    assert "- {q: question 2, days: true, expected: wordwordword}\n" in text
    assert "- {q: question 7, place: Paris, expected: " in text
    assert [case.input.inputs["days"] for case in cases if case.input.inputs] == days
    assert [case.input.inputs["place"] for case in cases if case.input.inputs] == places


def test_columns_have_no_names_that_mean_something_else(tmp_path: Path) -> None:
    code = "JSON.parse(output)%s === '%s'"
    for place in (".name", ".this", ".id"):
        tests = (
            f"  - {{vars: {{q: {q}}}, assert: [{{type: javascript, value: {code % (place, q)}}}]}}\n" for q in "abcd"
        )
        text, cases = imported(f"prompts: ['{{{{q}}}}']\ntests:\n{''.join(tests)}", tmp_path)
        assert f'at {place[1:]} equals "{{{{expected}}}}"\n' in text
        assert [case.id[-1] for case in cases] == [*"abcd"]


def test_columns_fill_no_prompt_that_lacks_them(tmp_path: Path) -> None:
    tests = "".join(f"  - {{vars: {{q: {q}}}, assert: [{{type: equals, value: {q}{q}}}]}}\n" for q in "abcd")
    text, cases = imported(f"prompts: ['{{{{q}}}}{{{{expected}}}}']\ntests:\n{tests}", tmp_path)
    assert "- {q: a, wanted: aa}\n" in text
    assert [case.input.message for case in cases] == [*"abcd"]


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("desk/promptfooconfig.yaml", "desk"),
        ("desk/evals/promptfooconfig.yaml", "desk"),
        ("desk/evals/promptfoo/promptfooconfig.yaml", "desk"),
        ("desk/promptfoo.yaml", "desk"),
        ("desk/evals/promptfooconfig.refunds.yaml", "desk-refunds"),
        ("desk/evals/refunds.yaml", "refunds"),
    ],
)
def test_a_suite_has_the_nearest_name_that_says_something(tmp_path: Path, path: str, name: str) -> None:
    file = tmp_path / path
    file.parent.mkdir(parents=True)
    text = 'prompts: ["{{q}}"]\ntests: [{vars: {q: Hi}, assert: [{type: equals, value: Hi}]}]\n'
    made = import_promptfoo(Source(str(file), text), file.parent, Diagnostics())
    assert made is not None
    assert f"suite: {name}\n" in made.text
