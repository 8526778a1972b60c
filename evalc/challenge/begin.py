"""Challenges what was compiled: the suites by themselves, or the answers of a run."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import msgspec

from evalc.base.errors import UsageError
from evalc.base.source import Source
from evalc.challenge.fix import Insertion, insertions
from evalc.challenge.strength import Challenge, GoodAnswers, challenge
from evalc.compiler.compiled import Compilation
from evalc.config.settings import Settings
from evalc.diagnostics.problem import Diagnostics, Problem
from evalc.dsl.sources import read_source
from evalc.model.answer import AgentAnswer
from evalc.model.reports import Strength
from evalc.model.suite import CaseKey, KnownSuites, Suite
from evalc.runtime.agents.wire import fingerprint_of
from evalc.runtime.judges.panel import JudgePool
from evalc.runtime.local_model.served import local_models
from evalc.runtime.run.ask import request_of
from evalc.runtime.store import journaled
from evalc.runtime.store.journaled import kept_snapshot
from evalc.runtime.store.past.answers import recorded_answers
from evalc.runtime.store.past.resume import PastRun
from evalc.setup.compile import compiled, policy_of
from evalc.setup.run import options_of
from evalc.setup.to_run import ToRun


class Finished(NamedTuple):
    """A finished challenge: what it found, the warnings about the eval files, and files with lines to be inserted."""

    strength: Strength
    problems: Sequence[Problem]
    insertions: Sequence[Insertion] = ()


async def run_challenge(
    what: ToRun, settings: Settings, *, of: PastRun | None, good: PastRun | None, fixing: bool
) -> Finished:
    """Challenge suites.

    Args:
        what: the suites.
        settings: how they are checked, and who judges.
        of: the run whose answers are changed; None challenges the suites by themselves.
        good: a run whose answers every inserted line has to pass; None is `of`.
        fixing: find lines to insert.

    Raises:
        UsageError: the run has no answers, or a file that the settings name cannot be used.
    """
    # No agent is asked, and nobody plays a user: what they need may be missing. A judge costs money: one is asked only
    # where the command line names it.
    judges = settings.judges if "judges" in settings.given else ()
    asked = msgspec.structs.replace(settings, snapshot_source=None, agent_endpoints=(), user=None, judges=judges)
    options = await options_of(asked, os.environ, what.tools)
    answers = of or good
    recorded, unusable = ({}, {}) if answers is None else answers_of(answers, what.suites)
    snapshot = None if answers is None or answers.header is None else kept_snapshot(answers.header)
    how = Challenge(
        options=replace(options.of_cases, all_assertions=True, snapshot=snapshot),
        tools=what.tools,
        run_id=None if of is None else of.run_id,
        recorded=recorded,
        unusable=unusable,
        max_cost=settings.max_cost,
    )
    async with local_models((), options.panel, None):
        how.bench = None if options.panel is None else JudgePool(options.panel)
        try:
            found = await challenge(what.suites, how)
        finally:
            if how.bench is not None:
                await how.bench.close()
    if not fixing:
        return Finished(found.strength, what.problems)

    def compile_(source: Source) -> Compilation:
        return compiled([source], settings, policy_of(settings), errors_stay=True)

    files = await insertions(found.curable, lambda path: read_source(path, Diagnostics().add), compile_, how.options)
    return Finished(found.strength, what.problems, files)


def answers_of(past: PastRun, suites: Sequence[Suite]) -> tuple[GoodAnswers, dict[CaseKey, str]]:
    """The recorded answers of each case, of all agents and attempts; and why a case has no usable answer.

    Raises:
        UsageError: the run has no answers.
    """
    read = journaled.read_journal(past.folder / journaled.FILE_NAME)
    if read is None:
        raise UsageError(f"the run `{past.run_id}` has no answers: it ended before its journal began")
    header, cases = read
    sent = {
        CaseKey(suite.key, located.case.id): fingerprint_of(request_of(located.case))
        for suite in suites
        for located in suite.cases
    }
    known = KnownSuites((suite.key, suite.tool_name) for suite in suites)
    answers: dict[CaseKey, list[AgentAnswer]] = {}
    unusable = dict.fromkeys(sent, "no recorded answer")
    for number, suite in enumerate(header.suites):
        for case, name in cases.ids(number):
            key = next((key for each in known.candidates(suite) if (key := CaseKey(each, name)) in sent), None)
            entry = cases.entry(number, case)
            if key is None or entry is None:
                continue
            if entry.struck:
                unusable[key] = "secrets were struck out of its recorded answer"
            elif entry.sent != sent[key]:
                unusable[key] = "what it sends has changed since its answer was recorded"
            else:
                unusable.pop(key, None)
                answers.setdefault(key, []).extend(recorded_answers(entry))
    return answers, unusable
