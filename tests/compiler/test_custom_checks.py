"""Checks that installed packages provide: their spellings, their arguments, and names that nobody provides."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

import evalc
from tests.support.checking import case_of, found
from tests.support.laws import examples
from tests.support.packages import install


@pytest.fixture(autouse=True)
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A package that says what it was called with, and may not be imported before it is run."""
    source = """
from evalc.checks import Outcome

def told(answer, *args, **options):
    return Outcome(passed=answer.text == "yes", reason=f"{args} {options}")
"""
    checks = {"told": "told", "no_pii": "told", "org.max-links": "told"}
    install(tmp_path, monkeypatch, module="compiled_checks_of_a_test", source=source, checks=checks)


def encoded(text: str, name: str = "example.eval.yaml") -> bytes:
    compilation = evalc.compile(evalc.Source(name, text))
    assert [str(problem) for problem in compilation.problems if problem.severity == "error"] == []
    return b"".join(compilation.suites[0].encode())


def checks(validate: str, **more: str) -> list[dict[str, Any]]:
    (case,) = msgspec.json.decode(encoded(case_of(validate, **more)))["cases"]
    (written,) = case["expect"].values()
    assert isinstance(written, list)
    return written


SPELLINGS: dict[str, dict[str, Any]] = {
    "['check no_pii()']": {"name": "no_pii"},
    "[{type: no_pii}]": {"name": "no_pii"},
    """['check told("x")']""": {"name": "told", "args": ["x"]},
    "[{type: told, rule: x}]": {"name": "told", "args": ["x"]},
    """['check org.max-links(-3, [null, true], to="x")']""": {
        "name": "org.max-links",
        "args": [-3, [None, True]],
        "options": {"to": "x"},
    },
    "[{type: org.max-links, rule: [-3, [null, true]], to: x}]": {
        "name": "org.max-links",
        "args": [-3, [None, True]],
        "options": {"to": "x"},
    },
    """['check told(it={"a": {"b": []}})']""": {"name": "told", "options": {"it": {"a": {"b": []}}}},
    "[{type: told, it: {a: {b: []}}, x-note: mine}]": {"name": "told", "options": {"it": {"a": {"b": []}}}},
}


@pytest.mark.parametrize("validate", SPELLINGS)
def test_spellings(validate: str) -> None:
    assert checks(validate) == [{"type": "check", **SPELLINGS[validate]}]
    assert "compiled_checks_of_a_test" not in sys.modules


def test_templates_in_arguments_are_filled_and_tokens_stay() -> None:
    line = """['check told("{{who}}", [{"k": "{{who}} {{seed:a}}"}])']"""
    mapping = """[{type: told, rule: ["{{who}}", [{k: "{{who}} {{seed:a}}"}]]}]"""
    for validate in (line, mapping):
        (check,) = checks(validate, more="inputs: {who: Ann}, ")
        assert check["args"] == ["Ann", [{"k": "Ann {{seed:a}}"}]]


def test_templates_in_arguments_are_filled_where_expect_writes_the_check_too() -> None:
    written = "{type: check, name: told, args: ['{{who}}', 3], options: {to: ['x {{who}}'], x-k: '{{seed:a}}'}}"
    (_, check) = checks("['check told()']", more=f"inputs: {{who: Ann}}, expect: {{checks: [{written}]}}, ")
    assert (check["args"], check["options"]) == (["Ann", 3], {"to": ["x Ann"], "x-k": "{{seed:a}}"})


BRACES = {
    # in a mapping, in a line, what both mean
    r"\{{who}}": (r"\{{who}}", "{{who}}"),
    r"\\{{who}}": (r"\\\{{who}}", r"\{{who}}"),
    r"\{": (r"\\{", r"\{"),
    "{{": ("{{", "{{"),
}


@pytest.mark.parametrize("written", BRACES)
def test_escaped_braces_in_arguments_are_braces(written: str) -> None:
    in_line, meant = BRACES[written]
    line = f"""['check told("{in_line}", to="{in_line}")']"""
    mapping = f"[{{type: told, rule: ['{written}'], to: '{written}'}}]"
    for validate in (line, mapping):
        (check,) = checks(validate, more="inputs: {who: Ann}, ")
        assert (check["args"], check["options"]) == ([meant], {"to": meant})


MISTAKES = {
    "['check no_piii()']": ["1:62 EV203"],
    "['check contains(1)']": ["1:62 EV203"],
    "['not (json or check nobody())']": ["1:75 EV203"],
    "[{type: no_pi, rule: x}]": ["1:62 EV203"],
    """['check told("{{whom}}")']""": ["1:70 EV205"],
    """[{type: told, deep: [{k: "{{whom}}"}]}]""": ["1:82 EV205"],
    "[{any_of: [{type: told, criterion: c}, json]}]": ["1:78 EV201"],
}


@pytest.mark.parametrize("validate", MISTAKES)
def test_mistakes(validate: str) -> None:
    assert found(case_of(validate)) == MISTAKES[validate]


def said(text: str, name: str = "example.eval.yaml") -> list[tuple[str, str, str]]:
    problems = evalc.check(evalc.Source(name, text))
    return [(it.finding.message(), it.finding.label(), it.finding.help()) for it in problems]


def test_a_name_near_to_one_that_is_installed() -> None:
    message = "no check of the project or of an installed package is called `no_piii`"
    provided = "there is `no_pii`, `org.max-links`, `told`"
    assert said(case_of("['check no_piii()']")) == [(message, "did you mean `no_pii`?", provided)]
    assert said(case_of("['check contains(1)']"))[0][1] == ""
    ((message, label, known),) = said(case_of("[{type: no_piii}]"))
    assert (message, label) == ("`no_piii` is not a check", "did you mean `no_pii`?")
    assert known.endswith("judge, no_pii, org.max-links, told")


def test_names_in_json_are_looked_up_too() -> None:
    case = {
        "id": "a/b",
        "description": "d",
        "difficulty": "edge",
        "input": {"message": "hi"},
        "expect": {"checks": [{"type": "not", "check": {"type": "check", "name": "nobody", "args": [{"x-a": 1}]}}]},
    }
    text = msgspec.json.encode([case]).decode()
    (problem,) = (problem for problem in evalc.check(evalc.Source("a.json", text)) if problem.severity == "error")
    assert problem.code == "EV203"
    assert text[problem.span.start : problem.span.end] == '"nobody"'


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.sampled_from([0.5, -1.25]) | st.text("ab'\"\\é{"),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("xyz", min_size=1), inner, max_size=3),
    max_leaves=6,
)


def as_written(value: Any) -> Any:
    r"""A value as a suite has to say it: its texts are templates there, in which `\{{` is a literal `{{`."""
    match value:
        case str():
            return value.replace("{{", r"\{{")
        case list():
            return [as_written(item) for item in value]
        case dict():
            return {key: as_written(item) for key, item in value.items()}
        case _:
            return value


@given(args=st.lists(JSON_VALUES, max_size=3), options=st.dictionaries(st.sampled_from("abc"), JSON_VALUES, max_size=2))
@example(args=["{{who}}", [{"x": "\\\\{{"}]], options={"a": "\\{{"})
@settings(max_examples=examples(60), suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_written_check_reads_back_the_same(args: list[Any], options: dict[str, Any]) -> None:
    import yaml

    check = {"type": "told", "rule": as_written(args), **as_written(options)}
    suite = {"suite": "s", "eval": {"test_cases": [{"name": "a", "message": "hi", "validate": [check]}]}}
    first = encoded(yaml.safe_dump(suite))
    assert encoded(first.decode(), "s.labeled.json") == first
    (case,) = msgspec.json.decode(first)["cases"]
    (written,) = case["expect"]["checks"]
    assert (written.get("args", []), written.get("options", {})) == (args, options)


def test_it_runs(tmp_path: Path) -> None:
    source = evalc.Source("example.eval.yaml", case_of("['check told(1, b=2) or check no_pii()']"))
    run = evalc.run(source, agent=evalc.ScriptedAgent(default="yes"), output_dir=tmp_path)
    assert [case.status for suite in run.suites for case in suite.cases] == ["passed"]
    run = evalc.run(source, agent=evalc.ScriptedAgent(default="no"), output_dir=tmp_path)
    (case,) = (case for suite in run.suites for case in suite.cases)
    assert (case.status, case.error) == (
        "failed",
        "any_of: expected one of 2 checks to hold but none does: told: (1,) {'b': 2}; no_pii: () {}",
    )
