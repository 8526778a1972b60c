"""Writes the results of a test session as a run's folder, as `evalc run` does."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import NamedTuple, final

import msgspec

from evalc import extras
from evalc.base.errors import UsageError
from evalc.model.suite import LocatedCase, Selected, Suite
from evalc.runtime.agents.wire import fingerprint_of
from evalc.runtime.run.ask import request_of
from evalc.runtime.run.finish import Ending, finish_run
from evalc.runtime.run.options import RunOptions
from evalc.runtime.run.run import begin_run
from evalc.runtime.store.journal import CaseRun
from evalc.runtime.store.runs import Closing, write_closing


class _Ran(NamedTuple):
    """A case of a suite, and its result."""

    located: LocatedCase
    run: CaseRun


@final
class Results:
    """Collects results while tests run, and writes them when no more are to come."""

    def __init__(self) -> None:
        self._ran: dict[tuple[int, str], dict[int, _Ran]] = defaultdict(dict)

    def add(self, endpoint: str, number: tuple[int, int], located: LocatedCase, run: CaseRun) -> None:
        """Keep a result, of a case that is run again the last; `number` is that of its suite, and its own there."""
        suite, case = number
        self._ran[suite, endpoint][case] = _Ran(located, run)

    def write(self, suites: Sequence[Suite], options: RunOptions, warnings: tuple[str, ...] = ()) -> Iterator[str]:
        """Write what was run of the suites, with the session's warnings, and say where; or why not."""
        keys = sorted(self._ran)
        endpoints = tuple(dict.fromkeys(endpoint for _, endpoint in keys))
        ran = [[cases[number] for number in sorted(cases)] for cases in map(self._ran.__getitem__, keys)]
        written = [
            _of(suites[number], cases, endpoint if len(endpoints) > 1 else None)
            for (number, endpoint), cases in zip(keys, ran, strict=True)
        ]
        names = [(suite.key, suite.agent) for suite in written]
        if len(set(names)) < len(names):
            yield "no results are written: two suites have the same name and tier, so their files would collide"
            return
        try:
            journal = begin_run(written, endpoints, options)
        except UsageError as error:
            yield f"no results are written: {error}"
            return
        try:
            for suite, cases in enumerate(ran):
                for index, case in enumerate(cases):
                    journal.append(suite, index, case.run, sent=fingerprint_of(request_of(case.located.case)))
            finished = finish_run(written, journal, Ending(registry=options.registry, redactor=options.redactor))
        except OSError as error:
            yield f"no results are written: {error}"
            return
        finally:
            journal.close()
        closing = Closing(below=finished.below_threshold, warnings=warnings)
        failures = (extras.history.register(finished), write_closing(finished.folder, closing, options.redactor))
        yield f"results in {finished.folder}"
        yield from filter(None, failures)


def _of(suite: Suite, ran: Sequence[_Ran], agent: str | None) -> Suite:
    """The suite, with the cases that were run."""
    chosen = Selected(cases=len(ran), of=suite.size, by=("pytest",))
    return msgspec.structs.replace(
        suite,
        cases=tuple(case.located for case in ran),
        size=len(ran),
        agent=agent,
        selected=None if chosen.cases == chosen.of else chosen,
    )
