"""A report says which lines are proved and what each turn and suite notices; the rows of a table are one finding."""

from __future__ import annotations

import evalc
from evalc.base.terminal import Screen
from evalc.dsl.quoting import quoted_line
from evalc.model.reports import Strength, Survivor
from evalc.report.others import strength_lines
from tests.extras.challenge.conftest import Challenging

WIDE = Screen(width=1000)
ROOM = """\
suite: desk
eval:
  test_cases:
    - name: room
      turns:
        - {say: "A room in Rome, please.", validate: [FIRST]}
        - {say: "3 nights", validate: ['contains "330"', any call of book has nights 3]}
"""
STRICT = """contains "110", 'any call of find has city "Rome"'"""
FIND = evalc.ToolCall(name="find", params={"city": "Rome"}, success=True)
BOOK = evalc.ToolCall(name="book", params={"nights": 3}, success=True)
TURNS = [
    evalc.AgentResponse(response="The hotel costs 110 euros a night. How many nights?", tool_calls=(FIND,)),
    evalc.AgentResponse(response="Thank you! I have booked 3 nights for 330 euros.", tool_calls=(BOOK,)),
]
PARIS = evalc.AgentResponse(response="Thank you! Order A1 is shipped and arrives on 2026-11-27.")


def survivors(strength: Strength) -> list[Survivor]:
    return [survivor for case in strength.cases for survivor in case.survivors]


def one_case(*checks: str, more: str = "") -> str:
    items = "".join(f"\n        - {quoted_line(check)}" for check in checks)
    case = f"    - name: it\n      message: Where is A1?\n      {more}\n      validate:{items}\n"
    return f"suite: orders\neval:\n  test_cases:\n{case}"


# --- turns -----------------------------------------------------------------------------------------------------------


def test_faults_are_put_into_every_turn(challenged: Challenging) -> None:
    blind, strict = (challenged(ROOM.replace("FIRST", first), TURNS).strength for first in ("non-empty", STRICT))
    (weak,), (strong,) = blind.cases, strict.cases
    assert [each.turn for each in weak.turns] == [1, 2]
    assert weak.turns[0].killed == 0
    assert weak.turns[0].mutants == strong.turns[0].mutants > 0
    assert strong.turns[0].killed > 0
    assert weak.turns[1] == strong.turns[1]
    assert sum(each.mutants for each in weak.turns) == weak.mutants
    assert f"room: {weak.killed} of {weak.mutants} noticed (turn 1: 0 of {weak.turns[0].mutants}, turn 2:" in "\n".join(
        strength_lines(blind, WIDE, verbose=True)
    )


def test_a_line_against_a_fault_in_a_turn_is_of_that_turn_or_of_all(challenged: Challenging) -> None:
    finished = challenged(ROOM.replace("FIRST", 'contains "hotel"'), TURNS)
    (insertion,) = finished.insertions
    assert {'- contains "110"', "- turn 1 tools called [find]"} <= set(insertion.lines["desk/room"])
    assert {survivor.turn for survivor in survivors(finished.strength)} == {1, 2}
    assert challenged(insertion.text, TURNS).strength.strength == 1


def test_a_broken_agent_spoils_each_turn_of_a_good_conversation(challenged: Challenging) -> None:
    finished = challenged(ROOM.replace("FIRST", STRICT))
    (case,) = finished.strength.cases
    assert case.undecided == 0
    assert {(each.challenger, each.turn) for each in case.survivors} >= {("tool-errors", 1), ("tool-errors", 2)}


def test_tools_that_an_earlier_turn_calls_are_not_called_again(challenged: Challenging) -> None:
    suite = ROOM.replace("FIRST", STRICT) + "      validate: ['tools called [find, book]']\n"
    (case,) = challenged(suite).strength.cases
    assert case.undecided == 0


# --- lines that are proved -------------------------------------------------------------------------------------------


def test_without_recorded_answers_no_line_is_proved(challenged: Challenging) -> None:
    found = survivors(challenged(one_case("non-empty")).strength)
    assert {survivor.line for survivor in found} > {None, "- not json"} - {None}
    assert not any(survivor.proved for survivor in found)
    assert not any(survivor.wording for survivor in found)


def test_the_lines_that_are_proved_are_those_that_fix_adds(challenged: Challenging) -> None:
    finished = challenged(one_case('contains any of ["shipped", "sent"]'), [PARIS])
    proved = {survivor.line for survivor in survivors(finished.strength) if survivor.proved}
    assert proved == {line for insertion in finished.insertions for line in insertion.lines["orders/it"]}
    assert proved
    shown = [line.strip() for line in strength_lines(finished.strength, WIDE, verbose=True)]
    assert {line.partition(": ")[2] for line in shown if line.startswith("would notice it")} == proved


def test_a_line_that_would_make_a_check_redundant_is_unproved(challenged: Challenging) -> None:
    answer = evalc.AgentResponse(response="It has the train.")
    finished = challenged(one_case('contains any of ["train", "boat"]'), [answer])
    unproved = [each for each in survivors(finished.strength) if each.line is not None and not each.proved]
    assert finished.insertions == []
    assert all(
        f"unproved: {each.line}" in "\n".join(strength_lines(finished.strength, WIDE, verbose=True))
        for each in unproved
    )


def test_one_recorded_answer_warns_that_lines_fix_its_wording(challenged: Challenging) -> None:
    finished = challenged(one_case("non-empty"), [PARIS])
    of_words = {survivor.line: survivor.wording for survivor in survivors(finished.strength)}
    assert of_words == {'- contains "2026-11-27"': False, '- contains "Thank"': True, '- contains "is shipped"': True}
    (warning,) = finished.strength.warnings
    assert warning.startswith("1 case has one recorded answer")
    assert "--repeat 4" in warning
    assert 'would notice it, and fixes the wording: - contains "Thank"' in "\n".join(
        strength_lines(finished.strength, WIDE, verbose=True)
    )


def test_facts_come_before_words(challenged: Challenging) -> None:
    lines = [survivor.line for survivor in survivors(challenged(one_case("non-empty"), [PARIS]).strength)]
    assert lines[0] == '- contains "2026-11-27"'  # and not its year, its month and its day
    assert lines[-1] in ('- contains "Thank"', '- contains "is shipped"')


def test_several_recorded_answers_need_no_warning(challenged: Challenging) -> None:
    other = evalc.AgentResponse(response="Thank you for asking. A1 comes on 2026-11-27.")
    finished = challenged(one_case("non-empty", more="repeat: 2"), [PARIS, other])
    assert finished.strength.warnings == ()
    assert not any(survivor.wording for survivor in survivors(finished.strength))


def test_a_number_is_kept_with_its_unit(challenged: Challenging) -> None:
    answer = evalc.AgentResponse(response="I have booked 2 nights in all.")
    found = survivors(challenged(one_case("non-empty"), [answer]).strength)
    assert {each.line for each in found if each.challenger == "number-changed"} == {'- contains "2 nights"'}


# --- places, suites, checks ------------------------------------------------------------------------------------------


def test_the_rows_of_a_table_are_one_finding(challenged: Challenging) -> None:
    suite = """\
    suite: a
    eval:
      test_cases:
        - name: city
          message: Trains to {{city}}?
          for_each: [{id: p, city: Paris}, {id: r, city: Rome}, {id: o, city: Oslo}]
          validate: ['contains "{{city}}"']
    """
    call = evalc.ToolCall(name="find", params={}, success=True)
    answers = [
        evalc.AgentResponse(response=f"A train to {city} leaves at noon.", tool_calls=(call,))
        for city in ("Paris", "Rome", "Oslo")
    ]
    strength = challenged(suite, answers).strength
    assert [case.id for case in strength.cases] == ["a/city@p", "a/city@r", "a/city@o"]
    shown = list(strength_lines(strength, WIDE, verbose=True))
    (head,) = [line for line in shown if "a/city@" in line]
    assert head.startswith(f"  a/city@p and 2 more cases: {strength.killed} of {strength.mutants} noticed")
    (dropped,) = [line for line in shown if "call-dropped:" in line]
    assert dropped.endswith("(3 times)")
    assert sum("- tools called [find]" in line for line in shown) == 2  # against a call that is dropped, and repeated


def test_each_suite_has_a_strength(challenged: Challenging) -> None:
    two = """\
    suite: a
    eval:
      test_cases: [{name: it, message: Hello, validate: [non-empty]}]
    ---
    suite: b
    eval:
      test_cases: [{name: it, message: Hello, validate: [equals "Hello you"]}]
    """
    strength = challenged(two).strength
    assert [(each.suite, each.cases) for each in strength.suites] == [("a", 1), ("b", 1)]
    weak, strong = strength.suites
    assert (weak.strength or 0) < (strong.strength or 0)
    assert weak.mutants + strong.mutants == strength.mutants
    assert f"{strong.killed} of {strong.mutants}" in "\n".join(strength_lines(strength, WIDE, verbose=True))


def test_a_check_that_no_fault_reaches_was_not_tried(challenged: Challenging) -> None:
    checks = ("tools called []", "latency <= 5s", 'not contains "sorry"', 'contains "2026-11-27"')
    strength = challenged(one_case(*checks), [PARIS]).strength
    tried = {check.check: check.mutants for check in strength.checks}
    assert (tried["tools called []"], tried["latency <= 5s"]) == (0, 0)
    shown = "\n".join(strength_lines(strength, WIDE, verbose=True))
    idle, untried = shown.partition("Checks that noticed nothing\n")[2].split(
        "Checks that were not tried, since no fault"
    )
    assert 'not contains "sorry"' in idle
    assert "tools called []" not in idle
    assert "tools called []" in untried
    assert "latency" in untried


def test_a_check_of_an_argument_is_tried_by_faults_in_that_argument(challenged: Challenging) -> None:
    calls = (evalc.ToolCall(name="book", params={"city": "Rome", "nights": 3}, success=True),)
    answer = evalc.AgentResponse(response="Booked.", tool_calls=calls)
    checks = ["any call of book has nights 3", 'tool book.city equals "Rome"']
    strength = challenged(one_case(*checks), [answer]).strength
    counts = {check.check: (check.killed, check.mutants) for check in strength.checks}
    assert counts[checks[1]][0] == counts[checks[1]][1] < strength.mutants
