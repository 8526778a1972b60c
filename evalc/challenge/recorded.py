"""Collects the answers of a run, for the cases as they are now."""

from __future__ import annotations

from collections.abc import Sequence

from evalc.challenge.strength import GoodAnswers
from evalc.errors import UsageError
from evalc.model.suite import Suite
from evalc.runtime.agents.fingerprint import fingerprint_of
from evalc.runtime.run.ask import AgentAnswer, request_of
from evalc.runtime.store import journaled
from evalc.runtime.store.past.answers import recorded_answers
from evalc.runtime.store.past.resume import PastRun

Key = tuple[str, str, str]


def answers_of(past: PastRun, suites: Sequence[Suite]) -> tuple[GoodAnswers, dict[Key, str]]:
    """The recorded answers of each case, of all agents and attempts; and why a case has none that can be used.

    Raises:
        UsageError: the run has no answers.
    """
    read = journaled.read_journal(past.folder / journaled.FILE_NAME)
    if read is None:
        raise UsageError(f"the run `{past.run_id}` has no answers: it ended before its journal began")
    header, cases = read
    sent = {
        (suite.tool_name, suite.tier, located.case.id): fingerprint_of(request_of(located.case))
        for suite in suites
        for located in suite.cases
    }
    answers: dict[Key, list[AgentAnswer]] = {}
    unusable = dict.fromkeys(sent, "no recorded answer")
    for number, suite in enumerate(header.suites):
        for case, name in cases.ids(number):
            key = suite.tool_name, suite.tier, name
            entry = cases.entry(number, case)
            if key not in sent or entry is None:
                continue
            if entry.struck:
                unusable[key] = "secrets were struck out of its recorded answer"
            elif entry.sent != sent[key]:
                unusable[key] = "what it sends has changed since its answer was recorded"
            else:
                unusable.pop(key, None)
                answers.setdefault(key, []).extend(recorded_answers(entry))
    return answers, unusable
