"""Scores a response where no exact check does: by a judge, by the terms of `expected`, by the class of its label."""

from __future__ import annotations

import re
from typing import Final

import msgspec

from evalc.base.errors import JudgeError
from evalc.check.tree import At, Test
from evalc.check.values import text_of
from evalc.ecma import class_name, trim
from evalc.model.answer import AgentResponse, Question
from evalc.model.case import SKILL_TOOL, TRIGGERS, Label
from evalc.model.result import JudgedScore, LabelResult
from evalc.runtime.checks import PASSED, Evidence, Verdict, View, broken, failed
from evalc.runtime.checks.subjects import led_to
from evalc.runtime.checks.words import listed, number, quoted, shown

PASSING_SHARE: Final = 0.6
"""The share of the key terms that must occur."""
_LONGEST_REASON: Final = 240
_AS_EXPECTED: Final = (
    "Does the answer say or do what the author expects of it (`expected`)? Other words for the same thing will do, and "
    "so will more than that; something that is missing or contradicts it will not."
)
_LETTERS: Final = re.compile(r"[^\W\d_]{4,}")
_STOP_WORDS: Final = """
    about above after again against also although always among another because been before being below between both
    cannot could does doing down during each either else even ever every from further given have having here hers
    herself himself however include includes including into itself just less like likely made make makes many maybe
    mention mentions mentioned might more most much must myself need needs neither never none only other others ought
    ours ourselves over perhaps provide provides rather response same shall should since some something such than that
    their theirs them themselves then there therefore these they thing things this those though through thus together
    toward towards under unless until upon very want wants well were what whatever when where whether which while whom
    whose will with within without would your yours yourself yourselves
"""

STOP_WORDS: Final = frozenset(_STOP_WORDS.split())
"""Words that say nothing about a subject. Fixed: a change would change scores."""


async def judged(test: Test, view: View) -> Verdict:
    """Whether the text scores at least the least score; without one, every score passes.

    Which of a scale's steps is enough is the author's line, so a check that has one passes or fails, and counts 1 or 0
    in a criterion; one without counts the share of the scale that it reached.
    """
    dimension, max_score, criteria, min_score = test.operand
    if view.evidence.judge is None:
        return broken("needs a judge, and none is configured")
    question = Question(name=dimension, criteria=criteria, max_score=max_score)
    try:
        score = await view.evidence.judge.score(question, text_of(view.text))
    except JudgeError as error:
        return broken(str(error))
    if min_score is None:
        return Verdict(outcome="passed", score=score.score / score.max_score, judged=score)
    if score.score >= min_score:
        return Verdict(outcome="passed", score=1.0, judged=score)
    message = (
        f"`{shown(dimension)}` scored {number(score.score)} of {number(max_score)}, "
        f"and at least {number(min_score)} is needed{_because(score)}"
    )
    return Verdict(outcome="failed", message=message, judged=score)


async def as_expected(evidence: Evidence) -> Verdict:
    """Whether the answer is what `expected` describes, if a case checks nothing else and there is a judge."""
    verdict = await judged(Test("judge", ("expected", 1, _AS_EXPECTED, 1)), View.of(evidence))
    if verdict.outcome != "failed" or verdict.judged is None:
        return verdict
    message = f"the judge finds that the response is not as expected{_because(verdict.judged)}"
    return msgspec.structs.replace(verdict, message=message)


def _because(score: JudgedScore) -> str:
    """The judge's reason, as the end of a message."""
    return f": {shown(score.reason, _LONGEST_REASON)}" if score.reason else ""


def expected_text(expected: str, response: str) -> Verdict:
    """The verdict on an expected text: it scores 1 if it occurs, ignoring case, else the share of its key terms."""
    stripped, text = trim(expected).casefold(), response.casefold()
    if stripped in text:
        return PASSED
    terms = key_terms(stripped)
    if not terms:
        return failed(f"expected {quoted(expected)} in response but not found")
    missing = [term for term in terms if term not in text]
    found = len(terms) - len(missing)
    share = found / len(terms)
    if share >= PASSING_SHARE:
        return Verdict(outcome="passed", score=share)
    least = f"expected at least {PASSING_SHARE:.0%}; missing: {listed(missing)}"
    message = f"found {found} of {len(terms)} key terms in response, {least}"
    return Verdict(outcome="failed", message=message, score=share)


def key_terms(text: str) -> tuple[str, ...]:
    """The distinct words of four letters and more, case-folded, in their order, without stop words."""
    return tuple(word for word in dict.fromkeys(_LETTERS.findall(text.casefold())) if word not in STOP_WORDS)


def label_result(label: Label, answer: AgentResponse | None) -> LabelResult:
    """The expected class and the given one, which are equal if and only if the label's check passes.

    A response gives no class if it did not come in time, is blank, or has nothing or null at the label's place. Only
    the label `null` accepts null. An agent that does not report its calls does not say whether it loads a skill.
    """
    if label.skill is not None:
        loads = answer is not None and any(
            call.name == SKILL_TOOL and call.params.get("skill") == label.skill for call in answer.tool_calls
        )
        says = answer is not None and (loads or answer.reports_calls)
        return LabelResult(expected=label.expected, predicted=TRIGGERS[not loads] if says else None)
    response = None if answer is None else answer.response
    expected = class_name(label.expected, label.path)
    place = None if response is None else View.of(Evidence(response=response))
    subject = led_to(At(label.path), place) if place is not None and label.path is not None else place
    if not isinstance(subject, View) or subject.fault is not None:
        return LabelResult(expected=expected, predicted=None)
    given = class_name(text_of(subject.value), label.path)
    names_one = given == expected or (trim(given) != "" and subject.value is not None)
    return LabelResult(expected=expected, predicted=given if names_one else None)
