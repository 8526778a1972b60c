"""Decisions of the language where the source documents leave something open, one by one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import evalc
from evalc.config.load import load_settings
from evalc.model.case import Case, CheckLink
from evalc.setup.compile import problems_of
from tests.support.checking import codes


def suite_of(cases: str, head: str = "") -> str:
    return f"suite: s\n{head}eval:\n  criteria: ['c (1): d']\n  test_cases:\n{cases}"


def compiled(cases: str, head: str = "") -> list[Case]:
    compilation = evalc.compile(evalc.Source("s.eval.yaml", suite_of(cases, head)))
    assert [str(problem) for problem in compilation.problems if problem.severity == "error"] == []
    return [case for suite in compilation.suites for case in suite.cases()]


def said(cases: str, head: str = "") -> list[str]:
    return codes(suite_of(cases, head))


def case_with(validate: str, more: str = "message: hi") -> str:
    return f"    - {{name: a, {more}, validate: [{validate}]}}\n"


def test_an_empty_list_of_called_tools_asserts_that_none_was_called() -> None:
    (case,) = compiled(case_with("'tools called []'"))
    assert case.expect.tools_called == ()


@pytest.mark.parametrize(
    ("validate", "at"),
    [
        ("length 1..5 for c", ("/expect/minLength", "/expect/maxLength")),
        ("tool count 1..5 for c", ("/expect/minToolCalls", "/expect/maxToolCalls")),
    ],
)
def test_a_line_that_lowers_to_two_fields_is_one_check_of_its_criterion(validate: str, at: tuple[str, ...]) -> None:
    (case,) = compiled(case_with(validate))
    assert case.criteria is not None
    assert case.criteria[0].checks == (CheckLink(at=at),)
    assert case.unlinked is None


def test_two_lines_that_fill_one_range_are_two_checks() -> None:
    (case,) = compiled(case_with("length >= 2, length <= 5"))
    assert case.unlinked == (CheckLink(at=("/expect/minLength",)), CheckLink(at=("/expect/maxLength",)))


def test_two_fields_of_expect_that_are_one_range_are_one_check() -> None:
    (case,) = compiled("    - {name: a, message: hi, expect: {minLength: 2, maxLength: 5}}\n")
    assert case.unlinked is None


def test_expected_alone_is_a_check_and_a_weak_one() -> None:
    assert said("    - {name: a, message: hi, expected: docstrings}\n") == ["EV411"]
    assert said(case_with("json", "message: hi, expected: docstrings")) == []


@pytest.mark.parametrize(
    ("validate", "code"),
    [
        ('contains ""', "EV501"),
        ("length >= 0", "EV501"),
        ("matches /a*/", "EV501"),
        ("matches /a^/", "EV502"),
        ("latency <= 0s", "EV502"),
        ('contains "" or json', "EV501"),
        ('not contains "" or length 5..2', "EV502"),
        ('tool t.p contains ""', "EV501"),
        ("tool t.p matches /x*/", "EV501"),
    ],
)
def test_a_check_that_decides_nothing(validate: str, code: str) -> None:
    cases = f"    - name: a\n      message: hi\n      validate:\n        - non-empty\n        - {validate}\n"
    assert said(cases) == [code]


def test_vacuity_is_an_error_when_strict() -> None:
    source = evalc.Source("s.eval.yaml", suite_of(case_with("json, length >= 0")))
    assert [problem.severity for problem in evalc.check(source)] == ["warning"]
    assert [problem.severity for problem in evalc.check(source, strict=True)] == ["error"]


def test_a_case_without_a_prompt_sends_its_inputs() -> None:
    cases = case_with("json", "inputs: {city: Paris, days: 1.50, tags: [a, 1], none: null}")
    assert said(cases) == ["EV410"]
    assert compiled(cases)[0].input.message == 'city: Paris\ndays: 1.50\ntags: ["a", 1]\nnone: '


def test_ids() -> None:
    cases = compiled(case_with("json") + "    - {name: b, id: ls-x-001, message: hi, validate: [json]}\n")
    assert [case.id for case in cases] == ["s/a", "ls-x-001"]


@pytest.mark.parametrize(
    ("tier", "validate", "code"),
    [
        ("golden", "non-empty, no tool errors, 'tools called [t]', matches /x/", "EV403"),
        ("golden", "non-empty, no tool errors, 'tools called [t]', tokens <= 5", "EV403"),
        ("golden", "non-empty, no tool errors, 'tools called [t]', 'tools not called [u]'", "EV407"),
        ("golden", "non-empty, no tool errors", "EV406"),
        ("regression", "matches /x/", "EV403"),
        ("regression", "'contains \"{{snapshot:a}}\"'", "EV404"),
        ("labeled", "'tools called [t]', 'tools one of [[t]]'", "EV402"),
        ("golden", "non-empty, no tool errors, 'tools called [t]', matches /x/i", ""),
        ("regression", "'contains \"{{seed:a}}\"', json, cost <= $1", ""),
    ],
)
def test_the_tiers_keep_their_rules(tier: str, validate: str, code: str) -> None:
    more = "message: hi, created_at: 2026-05-03, bug_ref: x" if tier == "regression" else "message: hi"
    assert said(case_with(validate, more), f"tier: {tier}\n") == ([code] if code else [])


def test_a_suite_of_several_tiers_is_a_file_a_tier() -> None:
    cases = (
        "    - {name: a, message: hi, validate: [json]}\n"
        "    - {name: b, tier: regression, created_at: 2026-05-03, bug_ref: x, message: hi, validate: [json]}\n"
        "    - {name: c, message: hi, validate: [json]}\n"
    )
    compilation = evalc.compile(evalc.Source("s.eval.yaml", suite_of(cases, "tool: get_x\n")))
    names = [(suite.file_name, [case.id for case in suite.cases()]) for suite in compilation.suites]
    assert names == [("s.labeled.json", ["s/a", "s/c"]), ("s.regression.json", ["s/b"])]


def test_difficulties_have_defaults() -> None:
    first, second = compiled(
        case_with("json")
        + "    - {name: b, tier: regression, created_at: 2026-05-03, bug_ref: x, message: hi, validate: [json]}\n"
    )
    assert (first.difficulty, first.description, second.difficulty) == ("straightforward", "a", "regression")


def test_weights() -> None:
    def with_weights(*weights: Any) -> list[str]:
        criteria = ", ".join(f"{{name: c{index}, weight: {weight}}}" for index, weight in enumerate(weights))
        return codes(
            f"eval: {{criteria: [{criteria}], test_cases: [{{name: a, message: hi, validate: [json for c0]}}]}}\n"
        )

    assert with_weights(0.3, 0.7) == []
    assert with_weights(0.3, 0.3) == ["EV305"]
    assert with_weights(30, 70) == ["EV305", "EV305"]
    assert with_weights(0, 0) == ["EV304"]
    assert with_weights(-1, 2) == ["EV303"]
    assert with_weights(".inf", 1) == ["EV119"]


def test_a_parameter_assertion_that_needs_a_value() -> None:
    cases = "    - {name: a, message: hi, expect: {toolParams: [{tool: t, paramName: p, assertion: equals}]}}\n"
    assert said(cases) == ["EV414"]


def test_one_value_twice_is_an_error_and_inside_a_composition_another_check() -> None:
    assert said(case_with("latency <= 1s, latency <= 2s")) == ["EV412"]
    (case,) = compiled(case_with("latency <= 1s, latency <= 2s or json"))
    assert case.expect.max_latency_ms == 1000
    assert case.expect.checks is not None
    assert len(case.expect.checks) == 1


def test_inputs_are_escaped_in_patterns_and_are_no_templates() -> None:
    (case,) = compiled(
        "    - name: a\n      message: 'say {{word}}'\n      inputs: {word: 'a.b{{x}}'}\n"
        "      validate:\n        - 'matches \"^{{word}}$\"'\n        - 'contains \"{{word}}\"'\n"
    )
    assert case.input.message == "say a.b{{x}}"
    assert case.expect.response_contains == ("a.b{{x}}",)
    (pattern,) = case.expect.response_matches or ()
    assert pattern.startswith("^")
    assert r"\.b\{\{x\}\}" in pattern


# --- criteria that no check names ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("head", "checks", "found"),
    [
        ("", ["json"], ["EV424"]),
        ("", ["json", "json"], ["EV424"]),
        ("", ["json for a", "json"], ["EV425"]),
        ("", ["json for a", "json for b"], []),
        ("tier: rubric\n", ["json"], []),
        ("", ['judge "Kind?" >= 3/5'], []),
        ("", ['turn 1 judge "Kind?" >= 3/5'], []),
    ],
)
def test_criteria_that_no_check_names_have_one_score(head: str, checks: list[str], found: list[str]) -> None:
    cases = ", ".join(f"{{name: c{index}, message: hi, validate: ['{check}']}}" for index, check in enumerate(checks))
    suite = f"{head}eval: {{criteria: [a, b], test_cases: [{cases}]}}\n"
    assert codes(suite) == found
    assert codes(suite.replace("[a, b]", "[a]").replace("for b", "for a")) == [
        code for code in found if code not in ("EV424", "EV425")
    ]


def test_a_judge_of_the_project_scores_the_criteria_that_no_check_names(tmp_path: Path) -> None:
    case = "{name: c, message: hi, validate: [json]}"
    source = evalc.Source("s.eval.yaml", f"eval: {{criteria: ['a (0.5): x', 'b (0.5): y'], test_cases: [{case}]}}\n")
    for judges, found in (("", ["EV424"]), ('judge = ["openai:gpt"]', [])):
        (tmp_path / "evalc.toml").write_text(judges + "\n")
        settings = load_settings(tmp_path).settings
        assert [problem.code for problem in problems_of(source, settings=settings)] == found
