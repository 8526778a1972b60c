"""Puts what is wrong with one case, which has been edited, among the problems of its document."""

from __future__ import annotations

from collections.abc import Mapping
from typing import final

import msgspec

from evalc.base.source import Source, Span
from evalc.diagnostics.fixing import ends_the_file
from evalc.diagnostics.problem import Problem
from evalc.lsp.document import uri_of


@final
class DocumentProblems(msgspec.Struct, frozen=True, kw_only=True):
    """What the compiler says of a document.

    Attributes:
        problems: by the address of the file that they are in; the document's own are there even if there are none.
        unread: while a syntax error in a case ends the file, what was last found after that case; None if that
            is not known.
    """

    problems: Mapping[str, tuple[Problem, ...]]
    unread: tuple[Problem, ...] | None = None


def with_case(before: DocumentProblems, source: Source, case: Span, found: list[Problem]) -> DocumentProblems | None:
    """The problems of a document in which one case has been edited; None if a check of all of it has to tell.

    Args:
        before: what was found before the edit.
        source: the text with the edit.
        case: the place of the case in it.
        found: what a check of the case alone has found, at the same offsets.
    """
    found = [_in(each, source) for each in found if case.start <= each.span.start < case.end]
    own = uri_of(source.name)
    behind_case = len(source.text) - case.end  # the length of what has only moved
    in_front, inside, behind = list[Problem](), list[Problem](), list[Problem]()
    for problem in before.problems.get(own, ()):
        if problem.source.name != source.name:
            in_front.append(problem)
        elif problem.span.start < case.start:
            in_front.append(_in(problem, source))
        elif len(problem.source.text) - problem.span.start <= behind_case:
            behind.append(problem)
        else:
            inside.append(problem)
    was_read, is_read = not any(map(ends_the_file, inside)), not any(map(ends_the_file, found))
    unread = before.unread
    if any(map(ends_the_file, in_front)):
        found, unread = [], None
    elif not is_read:
        behind, unread = [], (tuple(behind) if was_read else unread)
    elif not was_read:
        if unread is None:
            return None  # what follows has not been read before
        behind, unread = list(unread), None
    moved = [_moved(each, source, len(source.text) - len(each.source.text)) for each in behind]
    in_order = sorted((*in_front, *found, *moved), key=_place)
    return DocumentProblems(problems={**before.problems, own: tuple(in_order)}, unread=unread)


def _in(problem: Problem, source: Source) -> Problem:
    """The problem in a text that is the same in front of it, and there."""
    return msgspec.structs.replace(problem, source=source)


def _moved(problem: Problem, source: Source, by: int) -> Problem:
    """The problem in a text that is longer or shorter in front of it."""
    span = Span(problem.span.start + by, problem.span.end + by)
    return msgspec.structs.replace(problem, source=source, span=span, row=None, alias=None)


def _place(problem: Problem) -> tuple[int, int]:
    return problem.span.start, problem.span.end
