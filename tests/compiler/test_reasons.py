"""Reasons, such as why a case is skipped, read alike in YAML, in rows and in eval JSON; tags, which rows fill too."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

import pytest

import evalc
from evalc.base.source import Source
from evalc.compiler.pipeline import CompileOptions, compile_sources
from evalc.model.case import Case

KEYS: Final = ("skip", "archived", "expected_failure")
NO: Final = (
    "false",
    "False",
    "no",
    "No",
    "off",
    "0",
    "0.0",
    "00",
    "-0.0",
    "0e0",
    "null",
    "~",
    '""',
    '"false"',
    '" no "',
    "",
)
YES: Final = ("true", "True", "yes", "YES", "on", "1", "1.0", "4711", "-1", "y", "x", '"true"', '" on "')
NEITHER: Final = (
    *(
        "none",
        "None",
        '"nan"',
        "NaN",
        "NaT",
        '"n/a"',
        "N/A",
        '"#N/A"',
        "NA",
        '"<NA>"',
        "n",
        "(none)",
        "nil",
        "undefined",
    ),
    *('"-"', '"--"', "—", '"?"', ".", '"#"', "inf", "infinity", '"0,0"', "0%", "1e5", "t", "f"),
)
"""Words that tools write into tables, and fillers of people."""

REASONS: Final = (
    "the service is down",
    "no reason at all",
    "true story",
    '"#4711"',
    "GH-12",
    "n/a on Mondays",
    "壊れた",
    "4711 of them",
)


def cases(source: Source) -> tuple[list[str], list[Case]]:
    """The codes of the errors in a file, and its cases."""
    compilation = compile_sources([source], CompileOptions())
    errors = [problem.code for problem in compilation.problems if problem.severity == "error"]
    return errors, [case for suite in compilation.suites for case in suite.cases()]


def in_yaml(more: str) -> Source:
    return Source(
        "s.eval.yaml",
        "suite: s\neval:\n  test_cases:\n    - name: a\n      message: hi\n      validate: [non-empty]\n" + more,
    )


def in_json(more: dict[str, Any]) -> Source:
    case = {"id": "s/a", "description": "a", "difficulty": "ambiguous", "input": {"message": "hi"}}
    case |= {"expect": {"responseNonEmpty": True}, **more}
    return Source("s.labeled.json", json.dumps({"metadata": {"toolName": "s", "tier": "labeled"}, "cases": [case]}))


def read(source: Source, key: str) -> tuple[list[str], list[str | None]]:
    errors, found = cases(source)
    return errors, [getattr(case, key) for case in found]


@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize("value", [*NO, *YES, *NEITHER, *REASONS])
def test_both_forms_and_rows_read_a_reason_alike(key: str, value: str) -> None:
    text = value.strip('"')
    expected: tuple[list[str], list[str | None]] = ([], [None])
    if value in (*YES, *NEITHER):
        expected = (["EV317"], [])
    elif value in REASONS:
        expected = ([], [text])
    assert read(in_yaml(f"      {key}: {value}\n"), key) == expected
    row = f'      {key}: "{{{{why}}}}"\n      for_each: [{{id: x, why: {value}}}]\n'
    assert read(in_yaml(row), key) == expected
    name = "expectedFailure" if key == "expected_failure" else key
    assert read(in_json({name: text}), key) == expected


@pytest.mark.parametrize("key", ["skip", "archived", "expectedFailure"])
@pytest.mark.parametrize(
    ("value", "says"), [(False, "no"), (0, "no"), (0.0, "no"), (None, "no"), (True, "yes"), (1, "yes"), (4711, "yes")]
)
def test_eval_json_reads_values_of_other_types_as_yaml_does(key: str, value: object, says: str) -> None:
    field = "expected_failure" if key == "expectedFailure" else key
    assert read(in_json({key: value}), field) == (([], [None]) if says == "no" else (["EV317"], []))
    allowed = cases(in_json({"allow": {"refusal": value}}))
    assert allowed[0] == ([] if says == "no" else ["EV317"])
    assert all(case.allow is None for case in allowed[1])


def test_a_list_is_no_reason_in_either_form() -> None:
    assert cases(in_yaml("      skip: [a]\n"))[0] == ["EV301"]
    assert cases(in_json({"skip": ["a"]}))[0] == ["EV301"]
    rows = '      skip: "{{why}}"\n      for_each: [{id: x, why: []}]\n'
    assert cases(in_yaml(rows))[0] == ["EV316"]


def test_rows_decide_each_for_itself_which_is_skipped_and_how_it_is_tagged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("rows.csv").write_text(
        "id,why,lang,bug\noslo,,no,1\nrome,no flights,it,2\nparis,false,,3\nbern,,all,4\n" + "x,,de,5\n"
    )
    Path("evalc.toml").touch()
    more = '      skip: "{{why}}"\n      bug_ref: "#{{bug}}"\n      tags: ["{{lang}}", all]\n      for_each: rows.csv\n'
    errors, found = cases(in_yaml(more))
    assert not errors
    assert [(case.skip, case.bug_ref, case.tags) for case in found] == [
        (None, "#1", ("no", "all")),
        ("no flights", "#2", ("it", "all")),
        (None, "#3", ("all",)),
        (None, "#4", ("all",)),
        (None, "#5", ("de", "all")),
    ]


@pytest.mark.parametrize("cell", ["true", "None", "nan", "1.0", "<NA>"])
def test_a_row_that_does_not_say_why_is_reported_at_the_row(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cell: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("evalc.toml").touch()
    Path("rows.csv").write_text(f"id,why\noslo,\nrome,{cell}\n")
    (problem,) = evalc.check(in_yaml('      skip: "{{why}}"\n      for_each: rows.csv\n'))
    assert (problem.code, problem.source.name.rsplit("/", 1)[-1]) == ("EV317", "rows.csv")
    assert problem.source.position(problem.span.start).line == 3


def test_unknown_names_in_tags_and_reasons_are_errors() -> None:
    for more in ('tags: ["{{x}}"]', 'skip: "{{x}}"', 'bug_ref: "{{x}}"', 'allow: {refusal: "{{x}}"}'):
        assert cases(in_yaml(f"      inputs: {{y: 1}}\n      {more}\n"))[0] == ["EV205"], more


def test_a_case_takes_back_what_the_defaults_allow() -> None:
    head = 'defaults: {allow: {refusal: "{{why}}", truncated: bug}, tags: ["{{why}}"]}\n'
    source = in_yaml("      inputs: {why: because}\n      allow: {truncated: false}\n")
    errors, (case,) = cases(Source("s.eval.yaml", head + source.text))
    assert not errors
    assert case.allow == {"refusal": "because"}
    assert case.tags == ("because",)


@pytest.mark.parametrize("rows", [3, 40])
def test_a_gate_counts_the_rows_that_run(rows: int) -> None:
    """Of rows that all are skipped no gate can say that there are too few to hold."""
    head = "gates: {min_pass_rate: 0.9, confidence: 95%}\n"
    table = "".join(f"        - {{id: r{row}, why: '{'' if row < 2 else 'down'}'}}\n" for row in range(rows))
    source = in_yaml(f'      skip: "{{{{why}}}}"\n      for_each:\n{table}')
    (problem,) = evalc.check(Source("s.eval.yaml", head + source.text))
    assert "2 cases" in problem.finding.message()
