"""Scores a response against what a case says of it where no check does: `expected`, and the class of its label."""

from __future__ import annotations

import re
from typing import Final

import msgspec

from evalc.check.tree import At, Test
from evalc.check.values import text_of
from evalc.ecma.text import class_name, trim
from evalc.model.case import Label
from evalc.model.result import LabelResult
from evalc.runtime.checks.judged import because, judged
from evalc.runtime.checks.subjects import led_to
from evalc.runtime.checks.verdict import PASSED, Evidence, Verdict, View, failed
from evalc.runtime.checks.wording import listed, quoted

PASSING_SHARE: Final = 0.6
"""The share of the key terms that must occur."""
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


def expected_text(expected: str, response: str) -> Verdict:
    """Contained, ignoring case, scores 1; else the share of the key terms that occur, passing at 0.6."""
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


async def as_expected(evidence: Evidence) -> Verdict:
    """The answer is what `expected` describes, where a case checks nothing else and there is a judge."""
    verdict = await judged(Test("judge", ("expected", 1, _AS_EXPECTED, 1)), View.of(evidence))
    if verdict.outcome != "failed" or verdict.judged is None:
        return verdict
    message = f"the judge finds that the response is not as expected{because(verdict.judged)}"
    return msgspec.structs.replace(verdict, message=message)


def label_result(label: Label, response: str | None) -> LabelResult:
    """The expected class and the given one, which are equal if and only if the label's check passes.

    A response gives no class if it did not come in time, is blank, or has nothing or null at the label's place. Only
    the label `null` accepts null.
    """
    expected = class_name(label.expected, label.path)
    place = None if response is None else View.of(Evidence(response=response))
    subject = led_to(At(label.path), place) if place is not None and label.path is not None else place
    if not isinstance(subject, View) or subject.fault is not None:
        return LabelResult(expected=expected, predicted=None)
    given = class_name(text_of(subject.value), label.path)
    names_one = given == expected or (trim(given) != "" and subject.value is not None)
    return LabelResult(expected=expected, predicted=given if names_one else None)
