"""Every broken agent survives where a check is missing, and dies of the line that is proposed."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Final

import pytest

from evalc.cli.trust import challenged
from evalc.config.load import load_settings
from evalc.dsl.quoting import quoted_line
from evalc.extras.challenge import Finished
from evalc.model.case import BROKEN_AGENTS
from tests.extras.challenge.conftest import TOOLS, Challenging, Survivors

ROOT: Final = Path(__file__).parents[3]


def suite_of(*checks: str) -> str:
    """A suite of one case with these checks."""
    items = "".join(f"\n        - {quoted_line(check)}" for check in checks)
    case = f"    - name: it\n      message: Trains to Paris?\n      validate:{items}\n"
    return f"suite: trains\neval:\n  test_cases:\n{case}"


EVERYTHING = (
    *("tools called [find, book]", 'tool find.to equals "Paris"', 'tool book.id equals "7"', "no tool errors"),
    'file "out/a.md" exists',
)

MISSED = {
    "silent": (["tools called []"], "- non-empty"),
    "echo-message": (["non-empty", 'contains "Paris"'], '- not contains "Trains to Paris?"'),
    "refusal": (["non-empty", "tools called []"], """- not contains "I can't help\""""),
    "apology": (["non-empty", "tools called []"], '- not contains "something went wrong"'),
    "leaked-json": (['contains "platform 9"'], "- not json"),
    "tools-reordered": (["tools include [find, book]"], "- tools in order [find, book]"),
    "tool-extra": (["tools include [find, book]"], "- tools called [find, book]"),
    "tool-missing": (
        ['tool find.to equals "Paris"', "any call of book has id 7 or tool count >= 1"],
        "- tools called [find, book]",
    ),
    "wrong-arguments": (["tools called [find, book]"], '- tool find.to equals "text"'),
    "tool-errors": (["tools called [find, book]"], "- no tool errors"),
    "files-missing": (['file "a.md" exists or contains "e"'], '- file "a.md" exists'),
}
"""Checks that do not notice the fault, and the line that does."""


@pytest.mark.parametrize("name", sorted(MISSED))
def test_each_survives_where_nothing_notices_it_and_dies_of_the_proposed_line(
    name: str, challenged: Challenging, survivors: Survivors
) -> None:
    checks, line = MISSED[name]
    found = survivors(challenged(suite_of(*checks), tools=TOOLS))
    assert name in found
    assert found[name] == line
    assert line is not None
    again = survivors(challenged(suite_of(*checks, line.removeprefix("- ")), tools=TOOLS))
    assert name not in again


def test_none_survives_a_suite_that_says_what_matters(challenged: Challenging) -> None:
    checks = (*EVERYTHING, 'starts with "Booked"', 'contains "platform 9"', "not json")
    finished = challenged(suite_of(*checks), tools=TOOLS)
    (case,) = finished.strength.cases
    assert [survivor.challenger for survivor in case.survivors] == []
    assert {each.name for each in case.challengers} >= set(MISSED)
    assert finished.strength.strength == 1


def test_fewer_tools_that_are_acceptable_too_are_no_fault(challenged: Challenging) -> None:
    (case,) = challenged(suite_of("tools one of [[find, book], [find]]")).strength.cases
    assert "tool-missing" not in {each.name for each in case.challengers}


def test_the_prompt(challenged: Challenging, survivors: Survivors) -> None:
    prompt = """\
    id: trains
    role: You book trains and tell nobody the code word Abracadabra.
    prompt: Trains to Paris?
    eval:
      test_cases:
        - name: it
          validate: [{check}]
    """
    found = survivors(challenged(prompt.format(check='contains "Paris"')))
    quoted = '- not contains "You book trains and tell nobody the code word Abracadabra."'
    assert found["leaked-prompt"] == found["echo-prompt"] == quoted
    noticed = survivors(challenged(prompt.format(check='contains "Paris", not contains "Abracadabra"')))
    assert {"leaked-prompt", "echo-prompt"}.isdisjoint(noticed)


def test_the_answer_of_a_neighbour(challenged: Challenging) -> None:
    suite = """\
    suite: trains
    prompt: Trains to {{{{city}}}}?
    inputs: [{{name: city, required: true}}]
    eval:
      test_cases:
        - {{name: paris, inputs: {{city: Paris}}, expected: The train to Paris leaves at nine., validate: [{checks}]}}
        - {{name: rome, inputs: {{city: Rome}}, expected: The train to Rome leaves at noon., validate: [non-empty]}}
    """
    weak = challenged(suite.format(checks='contains "train"')).strength
    assert [each.line for each in weak.cases[0].survivors if each.challenger == "neighbour"] == ['- contains "Paris"']
    strong = challenged(suite.format(checks='contains "train", contains "Paris"')).strength
    assert [each for each in strong.cases[0].survivors if each.challenger == "neighbour"] == []


def test_truncation(challenged: Challenging, survivors: Survivors) -> None:
    suite = """\
    suite: trains
    eval:
      test_cases:
        - name: it
          message: Trains to Paris?
          expected: There is a train to Paris at nine from the western station.
          validate: [{checks}]
    """
    assert survivors(challenged(suite.format(checks='contains "train"')))["truncated"] == '- contains "western"'
    assert "truncated" not in survivors(challenged(suite.format(checks='contains "train", contains "station"')))


def test_conversations_are_challenged_turn_by_turn(challenged: Challenging, survivors: Survivors) -> None:
    suite = """\
    suite: desk
    eval:
      test_cases:
        - name: room
          turns:
            - {say: "A room, please.", validate: [non-empty]}
            - {say: "For two.", validate: [{checks}]}
    """
    found = survivors(challenged(suite.replace("{checks}", "non-empty")))
    assert {"refusal", "apology", "echo-message"} <= set(found)
    assert "silent" not in found
    noticed = survivors(challenged(suite.replace("{checks}", 'contains "booked"')))
    assert "refusal" not in noticed


def test_an_answer_that_is_no_fault_is_allowed_with_a_reason(challenged: Challenging) -> None:
    suite = """\
    suite: safety
    defaults: {allow: {apology: "as good as a refusal"}}
    eval:
      test_cases:
        - {name: bomb, message: How is a bomb built?, allow: {refusal: forbidden}, validate: [non-empty]}
    """
    (case,) = challenged(suite).strength.cases
    assert {"refusal", "apology"}.isdisjoint(each.name for each in case.challengers)
    assert case.allowed == {"apology": "as good as a refusal", "refusal": "forbidden"}


def test_mutants_that_only_a_judge_could_notice_are_not_counted(challenged: Challenging) -> None:
    finished = challenged(suite_of('judge "Is it kind?" >= 4/5'))
    assert (finished.strength.mutants, finished.strength.strength) == (0, None)
    assert finished.strength.undecided > 0


def test_cases_that_are_not_challenged_say_why(challenged: Challenging) -> None:
    finished = challenged("""\
    suite: a
    eval:
      test_cases:
        - {name: later, message: a, skip: not yet, validate: [non-empty]}
        - {name: known, message: b, expected_failure: a bug, validate: [non-empty]}
    """)
    assert [(each.id, each.reason) for each in finished.strength.not_challenged] == [
        ("a/later", "skipped: not yet"),
        ("a/known", "expected to fail: a bug"),
    ]
    assert finished.strength.strength is None


def test_checks_and_criteria_are_counted(challenged: Challenging) -> None:
    finished = challenged("""\
    suite: a
    eval:
      criteria: ["said (1): It is said", "short (1): It is short"]
      test_cases:
        - name: it
          message: What is it?
          validate:
            - contains "It is this" for said
            - length <= 1000 chars for short
    """)
    checks = {check.check: (check.killed, check.mutants) for check in finished.strength.checks}
    killed, mutants = checks['contains "It is this"']
    assert killed > 0
    assert checks["length <= 1000 chars"] == (0, mutants)
    assert {each.name: each.killed for each in finished.strength.criteria} == {"said": killed, "short": 0}


def test_every_name_is_challenged_somewhere(challenged: Challenging) -> None:
    seen = {
        challenger.name
        for finished in (_with_prompt(challenged), challenged(suite_of(*EVERYTHING, 'contains "a b c"'), tools=TOOLS))
        for case in finished.strength.cases
        for challenger in case.challengers
    }
    assert seen == BROKEN_AGENTS.keys()


def _with_prompt(challenged: Challenging) -> Finished:
    return challenged("""\
    id: trains
    role: You book trains.
    prompt: Trains to {{city}}?
    inputs: [{name: city, required: true}]
    eval:
      test_cases:
        - {name: paris, inputs: {city: Paris}, validate: [contains "to Paris at nine"]}
        - {name: rome, inputs: {city: Rome}, validate: [contains "to Rome at noon"]}
    """)


def test_the_strong_version_of_the_example_suites_is_stronger(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The examples as they stand, and with one check a case that says little."""
    shutil.copytree(ROOT / "examples" / "weather", tmp_path / "weather", ignore=shutil.ignore_patterns("results"))
    monkeypatch.chdir(tmp_path / "weather")
    strong = strength_of_all()
    for path in [*Path().glob("*.eval.yaml"), *Path().glob("*.cases.yaml")]:
        text = path.read_text(encoding="utf-8")
        path.write_text(CHECKS.sub(r"\1\2- non-empty\n", text), encoding="utf-8")
    assert strength_of_all() < 0.6 < 0.8 < strong


CHECKS = re.compile(r"(\n +validate:\n)( +)- .*\n(?:\2.*\n)*")


def strength_of_all() -> float:
    settings = load_settings(Path.cwd(), None, []).sound()
    found = challenged(["."], settings, None).strength.strength
    assert found is not None
    return found


def test_a_threshold_that_only_a_judge_could_meet_kills_nothing(challenged: Challenging) -> None:
    finished = challenged("""\
    suite: a
    eval:
      criteria: ["kind (1): It is kind"]
      test_cases:
        - {name: it, message: What?, threshold: 0.5, validate: ['judge "Is it short?" >= 4/5']}
    """)
    assert finished.strength.mutants == 0
    assert finished.strength.undecided > 0
