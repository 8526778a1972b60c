"""Cases with labels: what is read from the answer, what reports say, and gates on classes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import evalc
from tests.cli.conftest import Invoke

SUITE = """\
suite: intents
gates: {gates}
eval:
  test_cases:
    - name: intent
      message: "{{{{text}}}}"
      for_each:
        - {{id: a, text: refund me, intent: refund}}
        - {{id: b, text: my money, intent: refund}}
        - {{id: c, text: where is it, intent: delivery}}
      label: {{expected: "{{{{intent}}}}", from: "{source}"}}
"""


def run(text: str, answers: dict[str, str], folder: Path) -> evalc.Run:
    return evalc.run(evalc.Source("intents.eval.yaml", text), agent=evalc.ScriptedAgent(answers), output_dir=folder)


IN_JSON = {"refund me": '{"intent": "refund"}', "my money": '{"intent": "delivery"}', "where is it": "none"}
PLAIN = {"refund me": " refund\n", "my money": "delivery", "where is it": " "}


@pytest.mark.parametrize(("source", "answers"), [("at intent", IN_JSON), ("response", PLAIN)])
def test_labels_are_read_from_the_answer(source: str, answers: dict[str, str], tmp_path: Path) -> None:
    made = run(SUITE.format(gates="{macro_f1: 0.5}", source=source), answers, tmp_path)
    (suite,) = made.suites
    assert [(case.label.expected, case.label.predicted, case.passed) for case in suite.cases if case.label] == [
        ("refund", "refund", True),
        ("refund", "delivery", False),
        ("delivery", None, False),
    ]
    labels = suite.summary.labels
    assert labels
    assert labels.cases == 3
    assert [labels.accuracy.value, labels.macro_f1] == pytest.approx([1 / 3, 1 / 3])
    (gate,) = suite.gates or ()
    assert (gate.gate, gate.passed) == ("macroF1", False)


@pytest.mark.parametrize(
    ("gates", "passes"),
    [
        ("{recall: {refund: 0.5}}", True),
        ("{recall: {refund: 0.51}}", False),
        ("{precision: {refund: 1}}", True),
        ("{precision: {delivery: 0.1}}", False),
        ("{recall: {refund: 0.5}, confidence: 95%}", False),
    ],
)
def test_gates_on_classes(gates: str, passes: bool, tmp_path: Path) -> None:
    assert (run(SUITE.format(gates=gates, source="at intent"), IN_JSON, tmp_path).exit_code == 0) is passes


def test_every_report_shows_the_classes(invoke: Invoke, project: Path) -> None:
    (project / "evals" / "weather.eval.yaml").write_text(
        """\
eval:
  test_cases:
    - {name: a, message: What is the weather in Paris?, label: {expected: It is 17°C and cloudy in Paris.}}
"""
    )
    outcome = invoke("run", "--agent", "demo", "-o", "markdown:r.md", "-o", "html:r.html", "-o", "json:r.json")
    assert "accuracy " in outcome.out
    assert "recall " in outcome.out
    assert "| suite | class | recall | precision | F1 |" in (project / "r.md").read_text()
    assert json.loads((project / "r.json").read_text())["suites"][0]["summary"]["labels"]["cases"] == 1
    assert "macroF1" in (project / "r.html").read_text()


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ('label: {expected: a, from: "at"}', "EV301"),
        ("label: {expected: a, from: answer}", "EV301"),
        ("label: {from: response}", "EV202"),
        ('label: {expected: ""}', "EV309"),
        ("label: refund", "EV301"),
        ("label: {expected: a, form: response}", "EV201"),
    ],
)
def test_a_label_that_is_none(text: str, code: str) -> None:
    source = evalc.Source(
        "a.eval.yaml", f"eval:\n  test_cases:\n    - {{name: a, message: hi, validate: [json], {text}}}\n"
    )
    assert [problem.code for problem in evalc.check(source)] == [code]


def test_a_gate_on_a_class_that_no_case_has() -> None:
    text = SUITE.format(gates="{recall: {refunds: 0.9}}", source="at intent")
    (problem,) = evalc.check(evalc.Source("a.eval.yaml", text))
    assert (problem.code, problem.finding.label()) == ("EV704", "did you mean `refund`?")
    text = "gates: {macro_f1: 0.5}\neval: {test_cases: [{name: a, message: hi, validate: [json]}]}"
    assert [problem.code for problem in evalc.check(evalc.Source("a.eval.yaml", text))] == ["EV704"]


def test_a_compiled_label_is_read_back(invoke: Invoke, project: Path) -> None:
    (project / "evals" / "weather.eval.yaml").write_text(
        SUITE.format(gates="{recall: {refund: 0.5}}", source="at intent")
    )
    assert invoke("compile", "evals", "-o", "out").code == 0
    (compiled,) = project.glob("out/*.json")
    again = evalc.compile(compiled)
    assert not again.problems
    (suite,) = again.suites
    assert [case.label.expected for case in suite.cases() if case.label] == ["refund", "refund", "delivery"]


ROWS = """\
eval:
  test_cases:
    - name: rows
      message: "{{text}}"
      for_each: {file: rows.csv, key: text}
      label: {expected: "{{intent}}"}
    - name: inputs
      message: hi
      inputs: {intent: ""}
      label: {expected: "{{intent}}"}
    - name: played
      inputs: {wish: " "}
      user: {goal: "{{wish}}", opens: "{{wish}}"}
      validate: [non-empty]
"""


def test_a_label_or_a_goal_that_its_inputs_leave_empty(tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text('text,intent\na,refund\nb,\nc," "\n')
    (tmp_path / "a.eval.yaml").write_text(ROWS)
    found = [
        (problem.code, Path(problem.source.name).name, problem.start.line, problem.finding.message())
        for problem in evalc.check(tmp_path / "a.eval.yaml")
    ]
    assert sorted(found) == [
        ("EV309", "a.eval.yaml", 10, "the label is empty"),
        ("EV309", "a.eval.yaml", 13, "the user's goal is empty"),
        ("EV309", "a.eval.yaml", 13, "what the user says first is empty"),
        ("EV309", "rows.csv", 3, "the label is empty"),
        ("EV309", "rows.csv", 4, "the label is empty"),
    ]


def test_a_mistake_in_a_label_of_an_included_file_is_reported_there(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / "shared.yaml").write_text('# Shared.\ndefaults:\n  label: {expected: "{{intnet}}"}\n')
    (tmp_path / "a.eval.yaml").write_text(
        "include: shared.yaml\neval: {test_cases: [{name: a, message: hi, inputs: {intent: x}}]}\n"
    )
    (problem,) = [each for each in evalc.check(tmp_path / "a.eval.yaml") if each.severity == "error"]
    assert (problem.code, Path(problem.source.name).name, problem.start) == ("EV205", "shared.yaml", (3, 24))


@pytest.mark.parametrize(
    ("label", "code"),
    [
        ({"expected": " "}, "EV309"),
        ({"expected": "a", "from": "answer"}, "EV301"),
        ({"expected": "a", "from": "at x"}, None),
    ],
)
def test_a_label_in_json_that_is_none(label: dict[str, str], code: str | None) -> None:
    case = {"id": "ls-a-001", "description": "A", "difficulty": "edge", "input": {"message": "hi"}}
    envelope = [{**case, "expect": {"responseContains": ["x"]}, "label": label}]
    problems = evalc.check(evalc.Source("a.labeled.json", json.dumps(envelope)))
    assert [problem.code for problem in problems] == ([] if code is None else [code])


def test_a_conversation_has_no_label() -> None:
    inherited = """\
defaults: {label: {expected: x}}
eval:
  test_cases:
    - {name: a, turns: [{say: hi}, {say: ho}], validate: [non-empty]}
    - {name: b, user: {goal: g}, validate: [non-empty]}
    - {name: c, inherit: false, user: {goal: g}, validate: [non-empty]}
"""
    found = [
        (problem.code, problem.start.line, problem.finding.message())
        for problem in evalc.check(evalc.Source("a.eval.yaml", inherited))
    ]
    assert found == [
        ("EV421", 4, "`label` cannot be used with `turns`"),
        ("EV421", 5, "`label` cannot be used with `user`"),
    ]
    case = {"id": "ls-a-001", "description": "A", "difficulty": "edge", "label": {"expected": "x"}}
    for sent, said in (({"followUps": ["ho"]}, "followUps"), ({"user": {"goal": "g"}}, "user")):
        envelope = [{**case, "input": {"message": "hi", **sent}, "expect": {"responseContains": ["x"]}}]
        (problem,) = evalc.check(evalc.Source("a.labeled.json", json.dumps(envelope)))
        assert (problem.code, problem.finding.message()) == ("EV421", f"`label` cannot be used with `{said}`")


def test_first_words_in_json_that_are_empty() -> None:
    case = {"id": "ls-a-001", "description": "A", "difficulty": "edge", "expect": {"responseContains": ["x"]}}
    envelope = [{**case, "input": {"message": "hi", "user": {"goal": "g", "opens": " "}}}]
    (problem,) = evalc.check(evalc.Source("a.labeled.json", json.dumps(envelope)))
    assert (problem.code, problem.finding.message()) == ("EV309", "`opens` is empty")
