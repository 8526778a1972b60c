"""Return what rows fill beside texts and checks: names, ids, tags, reasons, labels and descriptions of cases."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import evalc
from evalc.model.case import Case

HEAD = """suite: s
eval:
  test_cases:
    - name: %s
      message: "Where is {{order.sku}}?"
      for_each: r.jsonl
      validate: [non-empty]
"""


@pytest.fixture(autouse=True)
def _in_a_project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "evalc.toml").touch()
    monkeypatch.chdir(tmp_path)


def rows(*given: dict[str, object]) -> None:
    Path("r.jsonl").write_text("\n".join(json.dumps(row) for row in given))


def written(name: str = "a", more: str = "") -> evalc.Source:
    return evalc.Source("s.eval.yaml", HEAD % json.dumps(name) + more)


def cases(source: evalc.Source) -> list[Case]:
    compilation = evalc.compile(source)
    assert [str(problem) for problem in compilation.problems] == []
    (suite,) = compilation.suites
    made = list(suite.cases())
    assert made == list(suite.cases()), "a second time"
    return made


def said(source: evalc.Source) -> list[str]:
    found = evalc.check(source)
    return [f"{p.source.name}:{p.start.line}:{p.start.column} {p.code}" for p in found]


FIRST: dict[str, object] = {"id": 1, "order": {"sku": "A1", "kind": "room"}}
SECOND: dict[str, object] = {"id": 2, "order": {"sku": "B2", "kind": "desk"}}


def test_an_id_that_rows_fill_is_the_whole_id() -> None:
    rows(FIRST, {"id": 2, "order": {"sku": "B2 \n", "kind": "desk"}})
    made = cases(written(more='      id: "order-{{order.sku}}"\n'))
    assert [case.id for case in made] == ["order-A1", "order-B2"]


def test_a_key_may_be_a_path_into_the_row() -> None:
    rows(FIRST, SECOND)
    keyed = evalc.Source("s.eval.yaml", (HEAD % "a").replace("r.jsonl", "{file: r.jsonl, key: order.sku}"))
    assert [case.id for case in cases(keyed)] == ["s/a@A1", "s/a@B2"]
    rows(FIRST, FIRST, {"order": {}})
    assert said(keyed) == ["r.jsonl:2:28 EV206", "r.jsonl:3:1 EV215"]


def test_a_name_that_rows_fill_is_in_the_id_and_the_description() -> None:
    rows(FIRST, SECOND)
    made = cases(written("{{order.kind}} {{order.sku}}"))
    assert [(case.id, case.description) for case in made] == [
        ("s/room A1", "room A1"),
        ("s/desk B2", "desk B2"),
    ]


def test_an_id_keeps_the_key_that_is_asked_for_or_that_alone_distinguishes_rows() -> None:
    rows(FIRST, SECOND)
    source = written(more='      id: "{{order.kind}}"\n')
    asked = evalc.Source("s.eval.yaml", source.text.replace("r.jsonl", "{file: r.jsonl, key: id}"))
    assert [case.id for case in cases(asked)] == ["room@1", "desk@2"]
    same = written(more='      id: "x-{{shop}}"\n      inputs: {shop: north}\n')
    assert [case.id for case in cases(same)] == ["x-north@1", "x-north@2"]


def test_rows_that_fill_ids_need_no_key_of_their_own() -> None:
    rows({"name": "same", **FIRST, "id": "same"}, {"name": "same", **SECOND, "id": "same"})
    assert [case.id for case in cases(written("{{order.sku}}"))] == ["s/A1", "s/B2"]
    rows({"order": FIRST["order"]}, {"order": SECOND["order"]})
    assert [case.id for case in cases(written("{{order.sku}}"))] == ["s/A1", "s/B2"]


@pytest.mark.parametrize(
    ("second", "place"),
    [
        ({"order": {"sku": "A1"}}, "r.jsonl:2:1 EV206"),
        ({"order": {"sku": ""}}, "r.jsonl:2:1 EV309"),
        ({"order": {}}, "r.jsonl:2:11 EV180"),
        ({"oder": {"sku": "A1"}}, "r.jsonl:2:1 EV208"),
    ],
)
def test_a_row_that_fills_no_id_of_its_own_is_named(second: dict[str, object], place: str) -> None:
    rows({"order": {"sku": "A1"}}, second)
    source = written("{{order.sku}}")
    message = evalc.Source("s.eval.yaml", source.text.replace('"Where is {{order.sku}}?"', "hi"))
    assert said(message) == [place]


def test_two_tables_may_fill_the_same_template_of_a_name() -> None:
    rows(FIRST)
    more = written("{{order.sku}}").text
    more += '    - name: "{{order.sku}}"\n      message: hi\n      validate: [non-empty]\n'
    more += "      for_each: [{order: {sku: C3}}]\n"
    assert [case.id for case in cases(evalc.Source("s.eval.yaml", more))] == ["s/A1", "s/C3"]
    clash = evalc.Source("s.eval.yaml", more.replace("C3", "A1"))
    assert said(clash) == ["s.eval.yaml:11:19 EV206"]


@pytest.mark.parametrize("written_as", ['"{{tags}}"', '["{{tags}}"]', '\n        - "{{ tags }}"'])
def test_tags_are_a_list_of_the_row(written_as: str) -> None:
    rows({**FIRST, "tags": ["smoke", 7, None]}, {**SECOND, "tags": "slow"}, {"id": 3, "order": {"sku": "C3"}})
    made = cases(written(more=f"      tags: {written_as}\n"))
    assert [case.tags for case in made] == [("smoke", "7"), ("slow",), ()]
    with_others = cases(written(more='      tags: ["{{order.sku}}", "{{tags}}", "{{order.sku}}"]\n'))
    assert [case.tags for case in with_others] == [("A1", "smoke", "7"), ("B2", "slow"), ("C3",)]


def test_a_tag_is_one_text() -> None:
    rows({**FIRST, "tags": ["smoke", ["deep"]]})
    assert said(written(more='      tags: "{{tags}}"\n')) == ["r.jsonl:1:69 EV316"]
    rows({**FIRST, "tags": ["smoke"]})
    assert said(written(more='      tags: "x {{tags}}"\n')) == ["s.eval.yaml:8:13 EV301"]
    assert said(written(more='      tags: ["x {{tags}}"]\n')) == ["s.eval.yaml:8:19 EV316"]


@pytest.mark.parametrize(
    ("cell", "reason"), [("down", "down"), ("", None), (False, None), (None, None), ("#17", "#17"), (0, None)]
)
def test_a_reason_that_a_row_leaves_empty_is_no_reason(cell: object, reason: str | None) -> None:
    rows({**FIRST, "why": cell}, SECOND)
    more = '      skip: "{{why}}"\n      expected_failure: "{{why}}"\n'
    first, second = cases(written(more=more))
    assert (first.skip, first.expected_failure) == (reason, reason)
    assert (second.skip, second.expected_failure) == (None, None), "the row has no such key"


def test_a_label_and_a_description_are_filled_by_path() -> None:
    rows(FIRST, SECOND)
    more = '      label: {expected: "{{order.kind}}"}\n      description: "{{order.kind}} {{order}}"\n'
    first, _ = cases(written(more=more))
    assert first.label is not None
    assert first.label.expected == "room"
    assert first.description == 'room {"sku": "A1", "kind": "room"}'


def test_names_and_ids_without_rows_are_what_they_are() -> None:
    text = 'suite: s\neval:\n  test_cases:\n    - {name: "{{x}}", message: hi, inputs: {x: 1}, validate: [non-empty]}\n'
    assert [case.id for case in cases(evalc.Source("s.eval.yaml", text))] == ["s/{{x}}"]


def test_a_name_that_is_empty_for_want_of_an_input_is_no_second_mistake() -> None:
    def said(rows: str, more: str = "") -> list[str]:
        checks = '[\'tool "{{t}}" called\', \'tool "{{t}}".p contains "x"\', \'has headings "{{h}}"\']'
        case = f"name: a, message: hi, validate: {checks}, for_each: {{key: id, rows: {rows}}}{more}"
        text = f"suite: s\neval: {{test_cases: [{{{case}}}]}}\n"
        return [problem.code for problem in evalc.check(evalc.Source("s.eval.yaml", text)) if problem.code != "EV427"]

    sound, skip = "{id: 1, t: u, h: v}", ', skip: "{{why}}"'
    assert said(f"[{sound}, {{id: 2, h: v}}]") == ["EV208"]
    assert said("[{id: 1, u: u, h: v}]") == ["EV205", "EV205"]
    assert said(f"[{sound}, {{id: 2, t: ' ', h: v}}]") == ["EV309", "EV309"]
    assert said(f"[{sound}, {{id: 2, t: '', why: later}}]", skip) == []
    assert said(f"[{{id: 2, t: '', why: later}}, {sound}]", skip) == []


def test_a_row_that_is_skipped_may_lack_what_all_checks_of_its_case_need() -> None:
    def said(why: str) -> list[str]:
        rows = f"[{{id: 1, v: 2}}, {{id: 2, why: {why}}}]"
        case = "name: a, message: hi, skip: '{{why}}', validate: ['at a == {{v}}']"
        text = f"suite: s\neval: {{test_cases: [{{{case}, for_each: {{key: id, rows: {rows}}}}}]}}\n"
        return [problem.code for problem in evalc.check(evalc.Source("s.eval.yaml", text))]

    assert said("later") == []
    assert said("''") == ["EV208"]


def test_assertions_of_rows_behind_a_skipped_one_are_required(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("evalc.compiler.emit.suite.MOST_KEPT", 0)
    case = "name: a, message: hi, skip: '{{why}}', validate: ['tools only [\"{{t}}\"]']"
    rows = "[{id: 1, t: '', why: later}, {id: 2, t: u}]"
    text = f"suite: s\neval: {{test_cases: [{{{case}, for_each: {{key: id, rows: {rows}}}}}]}}\n"
    (suite,) = evalc.compile(evalc.Source("s.eval.yaml", text)).suites
    assert [len(case.expect.checks or ()) for case in suite.cases()] == [0, 1]
    assert suite.metadata.requires == ("checks.tools_only",)
