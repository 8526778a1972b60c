"""Finds the edits that cure a problem: safe ones, which only add quotes and brackets, and ones to review."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from evalc.base.source import Span
from evalc.diagnostics.meant_line import MeantLine
from evalc.diagnostics.problem import Problem

_SAFE_TO_ADD: Final = frozenset("\"'[],% ")
_CHECK: Final = re.compile(r"""(?:[^"#]|"(?:[^"\\]|\\.)*"|(?<=[^ \t])#)*""")
_NEEDS_CARE: Final = re.compile(r"""["'\\\r\n\t]""")
"""What cannot be put into a text whose quotes nobody has looked at."""
_LONGEST_SHOWN: Final = 60
_IN_BRACKETS: Final = frozenset("[]{},")
_BEFORE_COMMENT: Final = re.compile(r"[ \t]#")
_LINE_END: Final = re.compile(r"\r\n|\n|\r")
_BEFORE_TEXT: Final = frozenset(("", *" \t\r\n[{,:"))
_BEHIND_TEXT: Final = frozenset(("", *" \t\r\n]},:"))
"""What YAML lets stand directly beside a text in quotes; beside a quote, a quote would be an escape."""
_TEMPLATE: Final = re.compile(r"\{\{[^{}\r\n\"']*\}\}")


class Edit(NamedTuple):
    """A stretch of a source text, and its replacement."""

    start: int
    end: int
    text: str


class ProposedFix(NamedTuple):
    """An edit that may cure a problem: what it does, in words, and whether it is safe to make unseen."""

    title: str
    edit: Edit
    is_safe: bool


def cures_for(problem: Problem) -> tuple[ProposedFix, ...]:
    """The safe fix of a problem if it has one, else every one that its message offers, the likeliest first."""
    edits = _edits(problem)
    safe = next((edit for edit in edits if is_safe(edit, problem)), None)
    return tuple(ProposedFix(_title(edit, problem), edit, safe is not None) for edit in ((safe,) if safe else edits))


def edit_for(problem: Problem, *, unsafe: bool = False) -> Edit | None:
    """The safe edit that cures the problem, or with `unsafe` the likeliest of all; None if there is none."""
    cure = next(iter(cures_for(problem)), None)
    return cure.edit if cure is not None and (cure.is_safe or unsafe) else None


def is_safe(edit: Edit, problem: Problem) -> bool:
    """Whether an edit only adds quotes, brackets, commas or `%`, and the finding is not in doubt about it."""
    if not problem.finding.entry.fixable:
        return False
    left = edit.text
    for character in problem.source.text[edit.start : edit.end]:
        added, found, left = left.partition(character)
        if not found or not _SAFE_TO_ADD.issuperset(added):
            return False
    line = problem.finding.fields.get("meant_line")
    return _SAFE_TO_ADD.issuperset(left) and (line is None or line.is_sure)


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


def _edits(problem: Problem) -> tuple[Edit, ...]:
    """The edits that cure a problem, each once, with the line ends of its source."""
    if not problem.finding.offers:
        return ()
    end = _LINE_END.search(problem.source.text)
    edits = (edit for edit in _offered(problem) if edit is not None and _stands_apart(edit, problem.source.text))
    return tuple(dict.fromkeys(edit._replace(text=edit.text.replace("\n", end[0])) if end else edit for edit in edits))


def _stands_apart(edit: Edit, text: str) -> bool:
    """Whether YAML reads the quotes that an edit adds as those of a text of its own."""
    before, behind = text[max(edit.start - 1, 0) : edit.start], text[edit.end : edit.end + 1]
    opens, closes = edit.text.startswith(("'", '"')), edit.text.endswith(("'", '"'))
    return (not opens or before in _BEFORE_TEXT) and (not closes or behind in _BEHIND_TEXT)


def _offered(problem: Problem) -> Iterator[Edit | None]:
    """The edits that a message offers, the likeliest first."""
    code, fields = problem.code, problem.finding.fields
    quoted: str = fields.get("quoted", "")
    line: MeantLine | None = fields.get("meant_line")
    slip = problem.finding.slip()
    if code == "EV118":
        yield _quoted(problem, quoted) if _is_whole(problem.source.text[slice(*problem.span)]) else None
    elif code in {"EV120", "EV121", "EV122", "EV130"}:
        yield _quoted_check(problem, quoted)
    elif code in {"EV102", "EV106", "EV124"} and quoted:
        yield _quoted_about(problem, quoted)
    elif line is not None:
        yield _rewritten(problem, line)
    elif code in {"EV156", "EV157"} and quoted:
        yield _quoted(problem, quoted)
    elif code == "EV202" and fields.get("instead"):
        yield Edit(*fields["instead"])
    elif code == "EV301" and (corrected := fields.get("corrected", "")) and "..." not in corrected:
        yield _revalued(problem, fields["what"].strip("`"), corrected)
    elif code == "EV138" and not fields["parameter"]:
        yield Edit(problem.span.start, problem.span.start, "response ")
    elif slip is not None and code != "EV621":  # the configuration is not among the files that are fixed
        place = _place_within(slip.written, problem)
        if place is not None and not _NEEDS_CARE.search(slip.meant):
            yield Edit(*place, slip.meant)


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


def _rewritten(problem: Problem, meant: MeantLine) -> Edit:
    """Put the check that may be meant in the place of the item of a list that was written."""
    text = problem.source.text
    line = meant.item.removeprefix("- ")
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


def _revalued(problem: Problem, key: str, corrected: str) -> Edit | None:
    """Put the corrected value in the place of the value, or the whole line where the key is another."""
    start, end = problem.span
    value = corrected.removeprefix(f"{key}: ")
    if value != corrected:
        return Edit(start, end, value)
    at = problem.source.text.rfind(before := f"{key}:", 0, start)
    if at < 0 or problem.source.text[at + len(before) : start].strip(" "):
        return None
    return Edit(at, end, corrected)


def _place_within(name: str, problem: Problem) -> Span | None:
    """The place of the name in the span, if it occurs once; of no name, the key that the span is."""
    start, end = problem.span
    raw = problem.source.text[start:end]
    if not name:
        quotes = int(raw[:1] in ("'", '"') and raw[:1] == raw[-1:])
        return Span(start + quotes, end - quotes)
    return Span(start + raw.index(name), start + raw.index(name) + len(name)) if raw.count(name) == 1 else None
