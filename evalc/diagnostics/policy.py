"""Decides which problems are reported, and how severe they are: by policies, and by `# evalc: ignore[EV501]` comments.

The rule: a policy decides over every finding of a `check`, except those that kept a file from being read (EV1xx,
EV60x to EV62x, EV684): nobody knows what they hide, so they are always errors. When files are compiled or run, it
decides over warnings, and over errors of meaning that do not block: the suite can be lowered all the same.

A comment at the end of a line silences the warnings that start on that line; on a line of its own, those of the next
line that is not a comment; as `ignore-file` above the first key, those of the file. Errors that block, since the suite
cannot be lowered, are never silenced.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import Final, Literal, final

import msgspec

from evalc.base.source import Source, Span
from evalc.diagnostics.near import as_code, did_you_mean
from evalc.diagnostics.problem import Diagnostics, Problem, Severity

Level = Literal["error", "warning", "off"]

_UNREAD: Final = ("EV1", "EV60", "EV61", "EV62", "EV684")
_STRICT: Final = ("EV5", "EV619", "EV7")


class BadSelector(ValueError):
    """A text that selects nothing that it may select; the message says why."""


def selector(text: str) -> str:
    """A code, or the beginning of some (`EV5`, `EV`), in capitals.

    Raises:
        BadSelector: when no code begins so.
    """
    wanted = text.strip().upper()
    if not wanted.startswith("EV") or not any(code.startswith(wanted) for code in codes()):
        near = did_you_mean(as_code(wanted), codes())
        raise BadSelector(f"`{text}` is not a code{': ' + near if near else '; `evalc explain` lists them all'}")
    return wanted


def silencer(text: str) -> str:
    """A selector of findings at least one of which may be left out of a report.

    Raises:
        BadSelector: there are none.
    """
    wanted = selector(text)
    if wanted.startswith(_UNREAD):
        raise BadSelector(f"`{text}` cannot be ignored: nobody knows what an error of this kind hides")
    return wanted


def selects(selectors: Iterable[str], code: str) -> int:
    """How closely the selectors name a code: the length of the longest that it begins with, 0 for none."""
    return max((len(wanted) for wanted in selectors if code.startswith(wanted)), default=0)


@cache
def codes() -> tuple[str, ...]:
    """Every code there is."""
    from evalc.diagnostics.catalogue import entries  # noqa: PLC0415 - only where somebody names codes

    return tuple(entries())


@final
class Selection(msgspec.Struct, frozen=True):
    """Codes to report, all without any, and codes to leave out; of the two, the closer match wins."""

    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()

    def takes(self, code: str) -> bool:
        """Whether a finding with this code is reported."""
        chosen = selects(self.select, code) if self.select else 1
        return chosen > selects(self.ignore, code)


@final
class Policy(msgspec.Struct, frozen=True, kw_only=True):
    """What is reported, and as what.

    Attributes:
        strict: warnings of the families EV5xx and EV7xx (checks and gates that tell nothing) and EV619 are errors.
        selections: what is reported has to be taken by each of them.
        severities: levels of codes; the selector that names a code closest wins, over `strict` too.
        per_file: patterns of files, as in a `.gitignore`, each with what is left out there.
        root: the folder that the patterns count from.
    """

    strict: bool = False
    selections: tuple[Selection, ...] = ()
    severities: tuple[tuple[str, Level], ...] = ()
    per_file: tuple[tuple[str, tuple[str, ...]], ...] = ()
    root: Path = Path()

    def reported(self, problems: Sequence[Problem], *, errors_stay: bool) -> tuple[Problem, ...]:
        """The problems that are reported, each with the severity that it has under the policy.

        Args:
            problems: what was found, each with the severity of its finding.
            errors_stay: whether errors that block stay errors, whatever the policy says.
        """
        judged = (self._judged(problem, errors_stay=errors_stay) for problem in problems)
        return tuple(problem for problem in judged if problem is not None)

    def _judged(self, problem: Problem, *, errors_stay: bool) -> Problem | None:
        code = problem.code
        if problem.severity == "error" and ((errors_stay and problem.finding.entry.blocks) or code.startswith(_UNREAD)):
            return problem
        level = self._level(code, problem.severity)
        if level == "off" or not all(selection.takes(code) for selection in self.selections):
            return None
        if self.per_file and selects(self._left_out_of(problem.source.name), code):
            return None
        return problem if level == problem.severity else msgspec.structs.replace(problem, severity=level)

    def _level(self, code: str, default: Severity) -> Level:
        named = [(len(wanted), level) for wanted, level in self.severities if code.startswith(wanted)]
        if named:
            return max(named)[1]
        return "error" if self.strict and code.startswith(_STRICT) else default

    def _left_out_of(self, name: str) -> tuple[str, ...]:
        path = os.path.relpath(os.path.abspath(name), self.root)  # noqa: PTH100 - links stay as they are written
        # What of a name is not UTF-8 no pattern can name either.
        return _left_out(self.per_file, Path(path).as_posix().encode(errors="replace").decode())


@cache
def _left_out(per_file: tuple[tuple[str, tuple[str, ...]], ...], path: str) -> tuple[str, ...]:
    """What is left out of the file at `path`, by all the patterns that it matches."""
    from pathspec import GitIgnoreSpec  # noqa: PLC0415 - only if there are such patterns

    if path.startswith("../"):
        return ()
    matching = (left_out for pattern, left_out in per_file if GitIgnoreSpec.from_lines([pattern]).match_file(path))
    return tuple(wanted for left_out in matching for wanted in left_out)


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
        complete: the sources that were checked completely: no error prevented that.
        texts: the places of the texts of a source; asked only about sources that mention ignore comments.
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
    return problem.severity == "warning" or not problem.finding.entry.blocks
