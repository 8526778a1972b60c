"""Applies `# evalc: ignore[EV501]` comments to problems, and reports comments that do nothing.

At the end of a line such a comment silences the warnings that start on this line; on a line of its own, those of the
next line that is no comment; as `ignore-file` above the first key, those of the file. Errors that block, since nothing
can be made of the suite, are never silenced.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Final

from evalc.diagnostics.problem import Diagnostics, Problem
from evalc.source import Source, Span

Texts = Callable[[Source], Iterable[Span]]
"""Finds the stretches of a YAML source that are texts, in which a `#` begins no comment."""

_MARK: Final = "evalc: ignore"


def mentions_ignoring(source: Source) -> bool:
    """Whether there may be such comments in a source; JSON has no comments."""
    return not source.name.lower().endswith(".json") and _MARK in source.text


def silenced(problems: Sequence[Problem], complete: Iterable[Source], texts: Texts) -> Sequence[Problem]:
    """The problems without the warnings that comments ask to ignore, and with those about the comments themselves.

    Args:
        problems: what was found.
        complete: the sources in which everything was found that there is to find: no error stood in the way.
        texts: where the texts of a source stand; asked only about sources that mention ignore comments.
    """
    sources = {problem.source: False for problem in problems} | dict.fromkeys(complete, True)
    mentioning = [source for source in sources if mentions_ignoring(source)]
    if not mentioning:
        return problems
    # Deferred for start-up: few files have such comments.
    from evalc.diagnostics.ignore_comments import IgnoreComments  # noqa: PLC0415

    kept = Diagnostics()
    comments = {source: IgnoreComments.of(source, texts(source), kept) for source in mentioning}
    for problem in problems:
        silencing = comments.get(problem.source)
        if silencing is None or not _may_be_silenced(problem) or not silencing.take(problem):
            kept.extend((problem,))
    for source in mentioning:
        if sources[source]:
            comments[source].report_unused(kept)
    return tuple(kept)


def _may_be_silenced(problem: Problem) -> bool:
    return problem.severity == "warning" or not problem.finding.blocks
