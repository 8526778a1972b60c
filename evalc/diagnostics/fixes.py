"""Finds the edits that cure a problem: a sure edit, or edits that a reader has to look at."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from evalc.diagnostics.catalogue.config import UnknownSetting
from evalc.diagnostics.catalogue.names import MissingKey, UnknownCheck, UnknownCriterion, UnknownKey
from evalc.diagnostics.catalogue.syntax_grammar import ResponseNeeded, Unexpected
from evalc.diagnostics.catalogue.syntax_yaml import (
    BadAnchor,
    BracketInItem,
    ColonInString,
    CommaInString,
    CommentInString,
    CutOffText,
    CutOffWords,
    ReservedCharacter,
    UnexpectedColon,
    UnquotedTemplate,
)
from evalc.diagnostics.catalogue.values import NotAChoice, WrongType
from evalc.diagnostics.meant_line import MeantLine
from evalc.diagnostics.near import same_spelling
from evalc.diagnostics.problem import Finding, Problem
from evalc.source import Span

FIXABLE: Final[tuple[type[Finding], ...]] = (
    UnquotedTemplate,
    ColonInString,
    CommentInString,
    CommaInString,
    BracketInItem,
    UnexpectedColon,
    ReservedCharacter,
    BadAnchor,
    Unexpected,
    MissingKey,
    UnknownKey,
    UnknownCheck,
    UnknownCriterion,
    NotAChoice,
    WrongType,
)
"""The findings that may have a sure cure; whether one has depends on its text."""

_WORDS: Final = re.compile(r"[A-Za-z][\w-]*(?: [A-Za-z][\w-]*)*", re.ASCII)
_CHECK: Final = re.compile(r"""(?:[^"#]|"(?:[^"\\]|\\.)*"|(?<=[^ \t])#)*""")
_NEEDS_CARE: Final = re.compile(r"""["'\\\r\n\t]""")
"""What cannot be put into a text whose quotes nobody has looked at."""
_LONGEST_SHOWN: Final = 60
_IN_BRACKETS: Final = frozenset("[]{},")
_BEFORE_COMMENT: Final = re.compile(r"[ \t]#")
_TEMPLATE: Final = re.compile(r"\{\{[^{}\r\n\"']*\}\}")


class Edit(NamedTuple):
    """A stretch of a source text, and its replacement."""

    start: int
    end: int
    text: str


class ProposedFix(NamedTuple):
    """An edit that may cure a problem: what it does, in words, and whether it certainly is what was meant."""

    title: str
    edit: Edit
    is_sure: bool


def cures_for(problem: Problem) -> tuple[ProposedFix, ...]:
    """The sure cure of a problem if it has one, else every one that its message offers, the likeliest first."""
    sure = edit_for(problem)
    edits = [sure] if sure is not None else dict.fromkeys(_unsafe_edits(problem))
    return tuple(ProposedFix(_title(edit, problem), edit, sure is not None) for edit in edits)


def edit_for(problem: Problem, *, unsafe: bool = False) -> Edit | None:
    """The edit that cures the problem and changes nothing else; None if that is not sure.

    With `unsafe`, it may be the likeliest of those that the message offers, too.
    """
    edit = _sure_edit(problem)
    return next(_unsafe_edits(problem), None) if edit is None and unsafe else edit


def _title(edit: Edit, problem: Problem) -> str:
    raw = problem.source.text[edit.start : edit.end]
    if not raw:
        return f"Insert `{edit.text.strip()}`"
    return (
        f"Put {_shown(raw)} in quotes" if edit.text[1:-1] == raw else f"Replace {_shown(raw)} with {_shown(edit.text)}"
    )


def _shown(text: str) -> str:
    line = " ".join(text.split())
    return f"`{line if len(line) <= _LONGEST_SHOWN else line[: _LONGEST_SHOWN - 3] + '...'}`"


def _unsafe_edits(problem: Problem) -> Iterator[Edit]:
    """The edits that a message offers, and that a reader has to look at."""
    match problem.finding:
        case Unexpected(meant_line=line) | UnknownCheck(meant_line=line) | MissingKey(meant_line=line) if (
            line is not None
        ):
            for item in line.items:
                yield _rewritten(problem, line, item)
        case CutOffText(meant_line=line) if line is not None:
            yield _rewritten(problem, line, line.items[0])
        case CutOffText(quoted=quoted) | CutOffWords(quoted=quoted) if quoted and (edit := _quoted(problem, quoted)):
            yield edit
        case MissingKey(instead=(start, end, text)):
            yield Edit(start, end, text)
        case WrongType(what=what, corrected=corrected) if corrected and "..." not in corrected:
            start, end = problem.span
            at = problem.source.text.rfind(key := f"{what.strip('`')}:", 0, start)
            if at >= 0 and not problem.source.text[at + len(key) : start].strip(" "):
                yield Edit(at, end, corrected)
        case UnknownSetting():
            pass  # the configuration is not among the files that are fixed
        case ResponseNeeded():
            yield Edit(problem.span.start, problem.span.start, "response ")
        case finding if (slip := finding.slip()) is not None:
            place = _place_within(slip.written, problem)
            if place is not None and not _NEEDS_CARE.search(slip.meant):
                yield Edit(*place, slip.meant)
        case _:
            pass


def _sure_edit(problem: Problem) -> Edit | None:
    match problem.finding:
        case UnquotedTemplate(quoted=quoted):
            return _quoted(problem, quoted) if _is_whole(problem.source.text[slice(*problem.span)]) else None
        case (
            ColonInString(quoted=quoted)
            | CommentInString(quoted=quoted)
            | CommaInString(quoted=quoted)
            | BracketInItem(quoted=quoted)
        ):
            return _quoted_check(problem, quoted)
        case UnexpectedColon(quoted=quoted) | ReservedCharacter(quoted=quoted) | BadAnchor(quoted=quoted) if quoted:
            return _quoted_about(problem, quoted)
        case Unexpected(meant_line=line) | UnknownCheck(meant_line=line) | MissingKey(meant_line=line) if (
            line is not None and line.is_sure
        ):
            return _rewritten(problem, line, line.items[0])
        case UnknownCheck(name=name, known=known, meant=meant, offered=None):
            return _respelt(problem, name, (meant,) if meant else known)
        case (
            UnknownKey(key=name, known=known)
            | UnknownCriterion(name=name, known=known)
            | NotAChoice(value=name, choices=known)
        ):
            return _respelt(problem, name, known)
        case WrongType(what=what, corrected=corrected):
            return _revalued(problem, what.strip("`"), corrected)
        case _:
            return None


def _quoted(problem: Problem, quoted: str) -> Edit | None:
    """Put quotes around the raw text that `quoted` holds, which ends where the problem ends.

    A text of several lines would be folded in another way once it is quoted.
    """
    raw = quoted[1:-1].replace("''", "'")
    start = problem.span.end - len(raw)
    if start < 0 or problem.source.text[start : problem.span.end] != raw or re.search(r"[\r\n]", raw):
        return None
    return Edit(start, problem.span.end, quoted)


def _quoted_check(problem: Problem, quoted: str) -> Edit | None:
    """Put quotes around a check; a comment after it stays a comment."""
    edit = _quoted(problem, quoted)
    if edit is None:
        return None
    raw = problem.source.text[edit.start : edit.end]
    check = _CHECK.match(raw)
    if check is None or check.end() == len(raw):
        return edit
    text = check[0].rstrip()
    # What is neither part of the check nor a comment is a string that nobody closed.
    return edit._replace(end=edit.start + len(text), text=_in_quotes(text)) if raw[check.end()] == "#" else None


def _quoted_about(problem: Problem, quoted: str) -> Edit | None:
    """Put quotes around the raw text of the problem; whether a `#` in it begins a comment nobody knows."""
    raw = quoted[1:-1].replace("''", "'")
    start = problem.source.text.rfind(raw, 0, problem.span.start + len(raw))
    is_there = start <= problem.span.start < start + len(raw)
    return Edit(start, start + len(raw), quoted) if is_there and " #" not in raw and raw[0] != "-" else None


def _rewritten(problem: Problem, meant: MeantLine, item: str) -> Edit:
    """Put a check that may be meant in the place of the item of a list that was written."""
    text = problem.source.text
    line = item.removeprefix("- ")
    is_quoted = line[0] in "'\""
    in_flow = not text[: meant.start].rstrip(" ").endswith("-")
    if not is_quoted and (text[meant.start] in "'\"" or (in_flow and _IN_BRACKETS.intersection(line))):
        line = _in_quotes(line)
    return Edit(meant.start, meant.end, line)


def _in_quotes(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _is_whole(raw: str) -> bool:
    """Whether an unquoted template ends where the text does that was meant.

    Templates without quotes inside are hidden from YAML, so that it finds the end of a text that begins with one. Of
    other texts that begin with braces nobody knows the end.
    """
    if _BEFORE_COMMENT.search(_TEMPLATE.sub("", raw)):
        return False  # it may be a comment after all
    return not raw.startswith("{{") or _TEMPLATE.match(raw) is not None


def _respelt(problem: Problem, name: str, known: Iterable[str]) -> Edit | None:
    """Put the known name in the place of the same name in another spelling."""
    meant = same_spelling(name, known)
    if meant is None or not _WORDS.fullmatch(meant):
        return None
    place = _place_of(name, problem)
    return Edit(*place, meant) if place is not None else None


def _revalued(problem: Problem, key: str, corrected: str) -> Edit | None:
    """Put the value of the corrected line in the place of the value, where the line keeps its key."""
    value = corrected.removeprefix(f"{key}: ")
    return None if value == corrected or "..." in value else Edit(*problem.span, value)


def _place_of(name: str, problem: Problem) -> Span | None:
    """The place of the name itself: the whole span, or what is between the quotes in it."""
    start, end = problem.span
    raw = problem.source.text[start:end]
    if raw == name:
        return Span(start, end)
    if raw in (f'"{name}"', f"'{name}'"):
        return Span(start + 1, end - 1)
    return None


def _place_within(name: str, problem: Problem) -> Span | None:
    """The place of the name in the span, if it occurs once; of no name, the key that the span is."""
    start, end = problem.span
    raw = problem.source.text[start:end]
    if not name:
        quotes = int(raw[:1] in ("'", '"') and raw[:1] == raw[-1:])
        return Span(start + quotes, end - quotes)
    return Span(start + raw.index(name), start + raw.index(name) + len(name)) if raw.count(name) == 1 else None
