"""`evalc calibrate`: labelled answers in, agreement out; mistakes of the file at their places."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from evalc.base.errors import UsageError
from evalc.cli.calibrate import read_labels
from tests.cli.conftest import Invoke

JUDGE = """
def tone(query):
    if "broken" in query["response"]:
        raise ValueError("no idea")
    return (1 if "please" in query["response"] else 0), "it says please or not"
"""
LABELS = 'case,question,response,label\na,Kind?,"Yes, please",1\nb,Kind?,no,1\nc,Kind?,"never\never",0\n'


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".git").mkdir()
    (tmp_path / "kindness.py").write_text(JUDGE)
    (tmp_path / "labels.csv").write_text(LABELS)
    return tmp_path


CALIBRATE = ("calibrate", "labels.csv")


def test_the_agreement_is_printed(project: Path, invoke: Invoke) -> None:
    outcome = invoke(*CALIBRATE, "--judge", "python:kindness:tone")
    assert outcome.code == 0
    assert outcome.out == (
        "python:kindness:tone on 3 labelled answers\n"
        "  accuracy        0.67\n"
        "  kappa           0.40\n"
        "  weighted kappa  0.40\n"
        "  label  score  answers\n"
        "      0      0        1\n"
        "      1      0        1\n"
        "      1      1        1\n"
        "  line 3, b: label 1, score 0: it says please or not\n"
    )


def test_answers_without_judgement_are_no_agreement(project: Path, invoke: Invoke) -> None:
    (project / "labels.csv").write_text("response,label\nplease,1\nbroken,1\n")
    outcome = invoke(*CALIBRATE, "--judge", "python:kindness:tone", "--json")
    found = json.loads(outcome.out)
    assert outcome.code == 3
    assert (found["answers"], found["accuracy"]) == (1, 1.0)
    assert [each["line"] for each in found["unjudged"]] == [3]


def test_a_judge_of_a_panel_that_gives_no_score_is_warned_of(project: Path, invoke: Invoke) -> None:
    (project / "panelled.py").write_text(f"{JUDGE}also = tone\ndef broken(query): raise ValueError(query)\n")
    outcome = invoke(
        *CALIBRATE, *(flag for name in ("tone", "also", "broken") for flag in ("--judge", f"python:panelled:{name}"))
    )
    message = "the judge `python:panelled:broken` gave no score (ValueError): 3 answers scored by the others"
    assert (outcome.code, outcome.err.count(message)) == (0, 1)


def test_a_judge_has_to_be_named(project: Path, invoke: Invoke) -> None:
    outcome = invoke(*CALIBRATE)
    assert (outcome.code, "no judge is named" in outcome.err) == (2, True)


def test_every_mistake_is_printed(project: Path, invoke: Invoke) -> None:
    (project / "labels.csv").write_text("response,label\nx,one\ny,two\n")
    outcome = invoke(*CALIBRATE, "--judge", "python:kindness:tone")
    assert outcome.code == 2
    assert outcome.err.count("error: labels.csv:") == 2


@pytest.mark.parametrize(
    ("text", "faults"),
    [
        ("response,lable\nx,1\n", ["1:10: no column `lable` is known"]),
        ("response,response,label\n", ["1:10: the column `response` is there twice"]),
        ("response\nx\n", ["1:1: the header lacks the column `label`"]),
        (
            'response,label\n"a\nb",x\nc,-1\n',
            ["3:4: `label` must be a number from 0, not `x`", "4:3: `label` must be a number"],
        ),
        ("response,label,maxScore\nx,6,5\ny,0,0\n", ["2:3: the label 6 is above the scale's 5", "3:5: `maxScore` has"]),
        ("response,label\nx\n", ["2:1: 1 cell, and the header names 2 columns"]),
        ('response,label\n"x', ["2:1: not CSV"]),
        ("response,label\nx,nan\n", ["2:3: `label` must be a number from 0"]),
        ("response,label\nx,1_0\n", ["2:3: `label` must be a number from 0, not `1_0`"]),
        ("response,label\nx, 1\n", ["2:3: `label` must be a number from 0, not ` 1`"]),
        ("response,label\nx,१\n", ["2:3: `label` must be a number from 0, not `१`"]),
        ("response,label\nx,1e400\n", ["2:3: `label` must be a number from 0, not `1e400`"]),
        ("response,label,maxScore\nx,1,1_0\n", ["2:5: `maxScore` must be a number from 0, not `1_0`"]),
    ],
)
def test_mistakes_are_reported_at_their_places(project: Path, text: str, faults: list[str]) -> None:
    (project / "labels.csv").write_text(text)
    lines: list[str] = []
    read_labels("labels.csv", lines)
    assert len(lines) == len(faults)
    for line, fault in zip(lines, faults, strict=True):
        assert line.startswith(f"labels.csv:{fault}")


def test_a_file_without_answers(project: Path) -> None:
    (project / "labels.csv").write_text("response,label\n")
    with pytest.raises(UsageError, match="has no labelled answers"):
        read_labels("labels.csv", [])


def test_answers_without_labels_are_judged_and_their_mean_is_corrected(project: Path, invoke: Invoke) -> None:
    rows = [
        "response,label",
        *["please do,1"] * 4,
        *["please not,0"] * 2,
        *["no,0"] * 6,
        *["please,"] * 6,
        *["never,"] * 6,
    ]
    (project / "labels.csv").write_text("\n".join(rows) + "\n")
    outcome = invoke(*CALIBRATE, "--judge", "python:kindness:tone")
    assert outcome.code == 0
    assert "12 answers without a label: mean score 0.50, corrected by the labels 0.33 (95 % interval" in outcome.out
    found = json.loads(invoke(*CALIBRATE, "--judge", "python:kindness:tone", "--json").out)
    assert (found["answers"], found["unlabelled"], found["uncorrected"]) == (12, 12, 0.5)
    assert found["corrected"]["value"] == pytest.approx(0.5 - 2 / 12)
    assert found["lengthBias"]["value"] > 0
    (project / "labels.csv").write_text("response,label\nplease,\n")
    assert "has no labelled answers" in invoke(*CALIBRATE, "--judge", "python:kindness:tone").err
