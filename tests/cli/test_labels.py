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


def test_every_report_tells_the_classes(invoke: Invoke, project: Path) -> None:
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
