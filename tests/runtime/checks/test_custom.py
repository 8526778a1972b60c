"""Checks of installed packages: what they are given, what they may say, and all that they may do wrong."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

import msgspec
import pytest

from evalc.check.forms import check_of, record_of
from evalc.check.tree import Check
from evalc.model.answer import ToolCall, Usage
from evalc.model.case import Case, Input, Message
from evalc.runtime.checks import Evidence, View
from evalc.runtime.checks.evaluate import evaluate
from tests.runtime.checks.conftest import Ask
from tests.support.packages import install

SOURCE = """
import asyncio
import threading
from evalc.checks import Answer, Outcome

recorded = []

def yes(answer): return True
def no(answer): return False
def why(answer, *args, **options): return Outcome(passed=False, reason=f"{answer.text} {args} {options}")
def at_most(answer: Answer, most: int, *, unit: str = "chars") -> Outcome:
    count = len(answer.text if unit == "chars" else answer.text.split())
    return Outcome(passed=count <= most, reason=f"{count} {unit}, expected at most {most}")
async def later(answer):
    await asyncio.sleep(0)
    return Outcome(passed=True)
def remembers(answer):
    recorded.append(answer)
    return True
def meddles(answer):
    answer.tool_calls[0].params["city"] = "Rome"
    answer.inputs["city"].append("Rome")
    answer.reference_data.clear()
    return True
def raises(answer): raise ValueError("no\\x1b[31m luck")
def asserts(answer): assert False, "pytest habits"
def stops(answer): raise StopIteration
def exits(answer): raise SystemExit(0)
def interrupts(answer): raise KeyboardInterrupt
async def cancels(answer): raise asyncio.CancelledError
def nothing(answer): pass
def one(answer): return 1
def text(answer): return "passed"
def odd(answer): return Outcome(passed="yes")
class Unspeakable(Exception):
    def __str__(self): raise RuntimeError
def unspeakable(answer): raise Unspeakable
def hangs(answer): threading.Event().wait()
async def hangs_async(answer): threading.Event().wait()
constant = 42
"""
NAMES = (
    "yes no why at_most later remembers meddles raises asserts stops exits interrupts cancels nothing one text odd "
    "unspeakable hangs hangs_async constant"
)


@pytest.fixture(autouse=True)
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    checks = {name: name for name in NAMES.split()} | {"missing": "not_there"}
    install(tmp_path / "good", monkeypatch, module="checks_of_a_test", source=SOURCE, checks=checks)
    install(tmp_path / "bad", monkeypatch, module="does_not_import", source="import nowhere", checks={"broken": "f"})


@pytest.mark.parametrize("name", ["yes", "later"])
def test_true_and_a_passed_outcome_pass(ask: Ask, name: str) -> None:
    verdict = ask(check_of({"type": "check", "name": name}), "x")
    assert (verdict.outcome, verdict.score, verdict.message) == ("passed", 1.0, None)


def test_false_and_a_failed_outcome_fail(ask: Ask) -> None:
    verdict = ask(check_of({"type": "check", "name": "no"}), "x")
    assert (verdict.outcome, verdict.score, verdict.message) == ("failed", 0.0, "no does not hold")
    verdict = ask(check_of({"type": "check", "name": "at_most", "args": (2,), "options": {"unit": "words"}}), "a b c")
    assert (verdict.outcome, verdict.message) == ("failed", "at_most: 3 words, expected at most 2")
    assert (
        ask(check_of({"type": "check", "name": "at_most", "args": (3,), "options": {"unit": "words"}}), "a b c").outcome
        == "passed"
    )


def test_a_reason_is_one_short_printable_line(ask: Ask) -> None:
    message = ask(check_of({"type": "check", "name": "why"}), "\x1b[2J\n" * 1_000).message or ""
    assert message.startswith("why: \\x1b[2J\\n")
    assert len(message) < 3_000
    assert message.isprintable()


BREAKING = {
    "raises": "ValueError: no\\x1b[31m luck (checks_of_a_test.py:",
    "asserts": "AssertionError: pytest habits",
    "stops": "StopIteration (checks_of_a_test.py:",
    "exits": "SystemExit: 0 (checks_of_a_test.py:",
    "interrupts": "KeyboardInterrupt (checks_of_a_test.py:",
    "cancels": "CancelledError (",
    "unspeakable": "Unspeakable (checks_of_a_test.py:",
    "nothing": "it returned nothing: return true, false, a number or an `evalc.Outcome`",
    "one": "it returned a number, which a line compares (`check one(..) >= 0.7`), or which scores a criterion",
    "text": "it returned a `str` that says neither yes nor no: return true, false,",
    "odd": "it returned a `Outcome` that says neither yes nor no",
    "constant": "the package does not offer a function, but a `int`",
    "missing": "AttributeError: module 'checks_of_a_test' has no attribute 'not_there'",
    "broken": "ModuleNotFoundError: No module named 'nowhere' (does_not_import.py:1)",
    "nobody": "no installed package offers `nobody`",
}


@pytest.mark.parametrize("name", BREAKING)
def test_whatever_goes_wrong_is_an_error(ask: Ask, name: str) -> None:
    verdict = ask(check_of({"type": "check", "name": name}), "x")
    assert verdict.outcome == "error"
    assert (verdict.message or "").startswith(f"{name}: {BREAKING[name]}")
    assert ask(check_of({"type": "not", "check": {"type": "check", "name": name}}), "x").outcome == "error"


def test_arguments_that_it_does_not_take_are_an_error(ask: Ask) -> None:
    verdict = ask(check_of({"type": "check", "name": "at_most", "options": {"unti": "words"}}), "x")
    assert verdict.outcome == "error"
    assert "TypeError: at_most() got an unexpected keyword argument 'unti'" in (verdict.message or "")


@pytest.mark.parametrize("name", ["hangs", "hangs_async"])
def test_one_that_never_returns_is_left_behind(ask: Ask, name: str) -> None:
    verdict = ask(check_of({"type": "check", "name": name}), "x", timeout_ms=50)
    assert (verdict.outcome, verdict.message) == ("error", f"{name}: no answer within 50 ms")


def _custom(name: str) -> Check:
    return check_of({"type": "check", "name": name})


def test_others_go_on_while_one_is_waited_for() -> None:
    async def both() -> float:
        evidence = Evidence(response="x", timeout_ms=5_000)
        slow = asyncio.create_task(evaluate(_custom("hangs_async"), View.of(evidence)))
        await asyncio.sleep(0.01)
        started = time.monotonic()
        assert (await evaluate(_custom("yes"), View.of(evidence))).outcome == "passed"
        slow.cancel()
        with pytest.raises(asyncio.CancelledError):
            await slow
        return time.monotonic() - started

    assert asyncio.run(both()) < 5


CASE = Case(
    id="s/one",
    description="",
    input=Input(message="Hi", messages=(Message(role="user", content="Hi"),), inputs={"city": ["Paris"]}),
    expected="Bonjour",
    reference_data={"a": 1},
)
CALLS = (ToolCall(name="get_weather", params={"city": "Paris"}),)


def test_it_is_given_the_answer_and_its_case(ask: Ask) -> None:
    import checks_of_a_test  # type: ignore[import-not-found]  # installed by the fixture

    usage = Usage(cost_usd=0.5)
    assert (
        ask(
            check_of({"type": "check", "name": "remembers"}),
            "x",
            tool_calls=CALLS,
            duration_ms=3,
            usage=usage,
            case=CASE,
        ).score
        == 1
    )
    (answer,) = checks_of_a_test.recorded
    checks_of_a_test.recorded.clear()
    assert (answer.text, answer.tool_calls, answer.duration_ms, answer.usage) == ("x", CALLS, 3, usage)
    assert (answer.case_id, answer.message, answer.expected) == ("s/one", "Hi", "Bonjour")
    assert answer.messages == ({"role": "user", "content": "Hi"},)
    assert (answer.inputs, answer.reference_data) == ({"city": ["Paris"]}, {"a": 1})


def test_of_a_conversation_it_is_given_what_was_said(ask: Ask) -> None:
    import checks_of_a_test

    sent = msgspec.structs.replace(CASE.input, message="Hi", messages=None, follow_ups=("And now?",))
    case = msgspec.structs.replace(CASE, input=sent)
    said = ("Hi", "And now?")
    answers = ((1, "Yes?"), (2, "Done."))
    turns = tuple(Evidence(response=text, case=case, turn=turn, said=said[:turn]) for turn, text in answers)
    for check in (
        check_of({"type": "check", "name": "remembers"}),
        check_of({"type": "turn", "turn": 2, "check": {"type": "check", "name": "remembers"}}),
    ):
        assert ask(check, "Yes?\n\nDone.", case=case, turns=turns, said=said).outcome == "passed"
    whole, second = checks_of_a_test.recorded
    checks_of_a_test.recorded.clear()
    assert (whole.text, whole.message) == ("Yes?\n\nDone.", "Hi")
    assert [each["content"] for each in whole.messages] == ["Hi", "Yes?", "And now?", "Done."]
    assert (second.text, second.message) == ("Done.", "And now?")


def test_changes_by_a_check_are_its_own(ask: Ask) -> None:
    assert ask(check_of({"type": "check", "name": "meddles"}), "x", tool_calls=CALLS, case=CASE).outcome == "passed"
    assert CALLS[0].params == {"city": "Paris"}
    assert CASE.input.inputs == {"city": ["Paris"]}
    assert CASE.reference_data == {"a": 1}


def test_tokens_in_its_arguments_are_filled(ask: Ask) -> None:
    check = check_of(
        {
            "type": "check",
            "name": "why",
            "args": ("{{seed:a}}", ["{{seed:b}}", 1]),
            "options": {"k": {"x": "{{seed:a}}!"}},
        }
    )
    assert ask(check, "r", seed={"a": 1, "b": "two"}).message == "why: r ('1', ['two', 1]) {'k': {'x': '1!'}}"
    verdict = ask(check, "r", seed={"a": 1})
    assert (verdict.outcome, verdict.skipped_tokens) == ("skipped", ("{{seed:b}}",))


def test_at_a_place_it_sees_the_text_there(ask: Ask) -> None:
    verdict = ask(
        check_of({"type": "at", "path": "a.b", "check": {"type": "check", "name": "why"}}), '{"a": {"b": "here"}}'
    )
    assert verdict.message == "a.b: why: here () {}"


def test_a_judge_that_is_composed_is_an_error_until_there_is_one(ask: Ask) -> None:
    judge = check_of({"type": "judge", "dimension": "tone", "criteria": "Is it kind?", "minScore": 1})
    verdict = ask(check_of({"type": "any_of", "checks": ({"type": "contains", "value": "x"}, record_of(judge))}), "y")
    assert (verdict.outcome, verdict.message) == ("error", "needs a judge, and none is configured")
    assert (
        ask(check_of({"type": "any_of", "checks": ({"type": "contains", "value": "x"}, record_of(judge))}), "x").outcome
        == "passed"
    )
