"""Opens the journal of a run: a new one, or that of a run that did not end."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import cache, partial
from pathlib import Path
from typing import Any

from evalc.base.errors import UsageError
from evalc.base.files import make_folder
from evalc.model.suite import Suite
from evalc.runtime.run.run_options import RunOptions
from evalc.runtime.run.scope import names_in_project
from evalc.runtime.store.journal import Journal
from evalc.runtime.store.journaled import FILE_NAME, Header, JournaledSuite, data_hash
from evalc.runtime.store.past.resume import refuse_another_run
from evalc.runtime.store.written import Redactor, encoded, redacted


def begin_run(suites: Sequence[Suite], endpoints: Sequence[str], options: RunOptions) -> Journal:
    """The journal, to which nobody else writes; `endpoints` are what results call the agents.

    Raises:
        UsageError: it cannot be made or opened, or is that of another run.
    """
    header = header_of(suites, endpoints, options)
    return (
        new_journal(header, options) if options.resumed is None else _resumed(suites, header, options, options.resumed)
    )


def header_of(
    suites: Sequence[Suite], endpoints: Sequence[str], options: RunOptions, *, rescored_from: str | None = None
) -> Header:
    """The header of the journal of a run that begins now."""
    return Header(
        run_id=options.run_id,
        timestamp=datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        agent_endpoint=", ".join(endpoints),
        options={
            "concurrency": options.concurrency,
            "rpm": options.rpm,
            "timeoutMs": options.timeout_ms,
            "allAssertions": options.all_assertions,
            # With the seats, since a judge asked three times is a different measure from a judge asked once.
            "judges": None if options.panel is None else list(options.panel.names),
            "judgements": None if options.panel is None else len(options.panel.seats),
            "asked": options.asked,
            "user": None if options.user is None else options.user.endpoint,
            "rubricsAlways": options.rubrics_always or None,
            "similarity": None if options.embeddings is None else "embeddings",
            "baseline": options.baseline,
            "seedHash": data_hash(options.seed),
            # Whole, not hashed alone: it was true once, and a run can only be finished or understood with it.
            "snapshot": options.snapshot,
            "snapshotHash": data_hash(options.snapshot),
        },
        flags=kept_flags(options.flags, endpoints, options.redactor),
        rescored_from=rescored_from,
        suites=journaled_suites(suites, options.root),
    )


def journaled_suites(suites: Sequence[Suite], root: Path | None) -> tuple[JournaledSuite, ...]:
    """The suites as the header names them; `root` is the project's folder."""
    # A file may have many suites.
    names_of = cache(lambda origin: () if root is None or origin.startswith("<") else names_in_project(origin, root))
    return tuple(
        JournaledSuite(
            suite=suite.name,
            tool_name=suite.tool_name,
            tier=suite.tier,
            file_hash=suite.file_hash,
            origin=suite.origin,
            cases=suite.size,
            agent=suite.agent,
            file=next(iter(names_of(suite.origin)), None),
            also=names_of(suite.origin)[1:],
        )
        for suite in suites
    )


def new_journal(header: Header, options: RunOptions) -> Journal:
    """The journal of a new run, in a folder of its own.

    Raises:
        UsageError: it cannot be made.
    """
    return Journal(_make_folder(options.output_dir, options.run_id) / FILE_NAME, header, options.redactor)


def _resumed(suites: Sequence[Suite], header: Header, options: RunOptions, folder: Path) -> Journal:
    """The journal of the run that is resumed, known to be of these suites and options."""
    now, _ = redacted(header, encoded(header), options.redactor)
    journal = Journal.resumed(
        folder / FILE_NAME, header, options.redactor, check=lambda past: refuse_another_run(past, now)
    )
    try:
        for number, suite in enumerate(suites):
            _refuse_other_cases(suite, journal.cases.ids(number), journal.header.run_id)
    except BaseException:
        journal.close()
        raise
    return journal


def _refuse_other_cases(suite: Suite, journaled: Iterator[tuple[int, str]], run_id: str) -> None:
    """The same file may have been run with another choice of its cases."""
    cases = enumerate(suite.cases)
    for number, name in journaled:
        located = next(located for index, located in cases if index == number)
        if located.case.id != name:
            raise UsageError(f"the run `{run_id}` cannot be resumed: the case `{name}` is now `{located.case.id}`")


def _make_folder(output_dir: Path, run_id: str) -> Path:
    folder = output_dir / run_id
    try:
        make_folder(output_dir)
        folder.mkdir()
    except FileExistsError:
        raise UsageError(f"the run's folder `{folder}` already exists, or something else has its name") from None
    except OSError as error:
        raise UsageError(f"the run's folder `{folder}` cannot be made: {error.strerror}") from error
    return folder


def kept_flags(flags: Mapping[str, Any], endpoints: Sequence[str], redactor: Redactor | None) -> dict[str, Any]:
    """The flags as a journal may keep them: None for agents if one of their names holds more than results may show."""
    kept = dict(flags)
    agents = kept.get("agent")
    if agents and not all(map(partial(_is_shown, redactor=redactor), agents, endpoints)):
        kept["agent"] = None
    if redactor and any(redactor.redact(judge) != judge for judge in kept.get("judge") or ()):
        del kept["judge"]  # The header names the judges without secrets; a run without them is refused.
    return kept


def _is_shown(agent: str, endpoint: str, *, redactor: Redactor | None) -> bool:
    """Whether an agent's spec holds no more than what results call it."""
    return endpoint.startswith(agent) and (redactor is None or redactor.redact(agent) == agent)
