"""A problem is a finding at a place; diagnostics are a sorted list of problems."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, final

import msgspec

from evalc.base.source import AliasedSpan, Position, Source, Span
from evalc.diagnostics.near import Typo

if TYPE_CHECKING:
    from evalc.diagnostics.catalogue import Entry

_SAFE_TO_ADD: Final = frozenset("\"'[],% ")
_LONGEST_SHOWN: Final = 60
_BEFORE_TEXT: Final = frozenset(("", *" \t\r\n[{,:"))
_BEHIND_TEXT: Final = frozenset(("", *" \t\r\n]},:"))
"""Characters that may follow a text in quotes; beside a quote, a quote would be an escape."""
_SUGGESTED: Final = frozenset(("line", "corrected", "quoted", "advice", "note"))
"""The fields that say what to write instead, beside a fix."""
_OF_CONFIGURATION: Final = frozenset(("EV621",))
"""The configuration is not among the files that are fixed."""
_NEEDS_CARE: Final = re.compile(r"""["'\\\r\n\t]""")
"""Characters that cannot be put into a text whose quotes are unknown."""

Severity = Literal["error", "warning"]


class Edit(NamedTuple):
    """A stretch of a source text, and its replacement."""

    start: int
    end: int
    text: str


class Fix(NamedTuple):
    """An edit that cures a problem, what it does in words, and whether it may be made unseen."""

    edit: Edit
    title: str
    is_safe: bool

    def moved(self, by: int) -> Fix:
        """The fix in a text that is longer or shorter in front of it."""
        start, end, text = self.edit
        return self._replace(edit=Edit(start + by, end + by, text))

    @classmethod
    def of(cls, text: str, start: int, end: int, new: str, *, sure: bool = False) -> Fix | None:
        """Write `new` in place of a stretch of the text; None if YAML would not read the quotes that it adds as quotes.

        Args:
            text: the text of the source.
            start: where the stretch begins.
            end: where it ends.
            new: what to write there.
            sure: whether nothing else can be meant; such a fix is safe if it only adds quotes, brackets, commas or `%`.
        """
        raw = text[start:end]
        opens, closes = new.startswith(("'", '"')), new.endswith(("'", '"'))
        if opens and text[max(start - 1, 0) : start] not in _BEFORE_TEXT:
            return None
        if closes and text[end : end + 1] not in _BEHIND_TEXT:
            return None
        return cls(Edit(start, end, new), _title(raw, new), sure and _only_adds(raw, new))


@final
class Finding:
    """A mistake without its place: a code of the catalogue, and the values of its fields.

    Args:
        code: the stable code, such as `EV203`; `catalogue.txt` has its words.
        fix: the edit that cures it, where the place that finds it knows one.
        fields: what was found, by the names that the words of the code have for it.
    """

    __slots__ = ("code", "fields", "fix", "offers")

    def __init__(self, code: str, /, *, fix: Fix | None = None, **fields: Any) -> None:
        self.code = code
        self.fix = fix
        self.fields = fields
        self.offers = True
        """Whether its suggestion helps: false once it was tried and left errors."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Finding) and all(getattr(self, it) == getattr(other, it) for it in self.__slots__)

    def __hash__(self) -> int:
        return hash((self.code, frozenset(self.fields.items())))

    def __repr__(self) -> str:
        return f"Finding({', '.join((repr(self.code), *(f'{name}={value!r}' for name, value in self.fields.items())))})"

    @property
    def entry(self) -> Entry:
        """The catalogue's entry of the code."""
        from evalc.diagnostics.catalogue import entries  # noqa: PLC0415 - for start-up: most files have no problem

        return entries()[self.code]

    def replaced(self, fix: Fix | None = None, /, **fields: Any) -> Finding:
        """The finding with other values of some fields, and with a fix."""
        return Finding(self.code, fix=fix or self.fix, **(self.fields | fields))

    def typo(self) -> Typo | None:
        """The name that is wrong at the place, and the name that was probably meant."""
        return self.entry.typo(self.fields) if self.offers else None

    def message(self) -> str:
        """A plain sentence that says what was found, without a full stop."""
        return self.entry.line("message", self.fields).said(self.fields)

    def label(self) -> str:
        """A few words beside the caret underline (`did you mean ...?`); may be empty."""
        label = self.entry.line("label", self.fields).said(self.fields)
        if label:
            return label
        typo = self.typo()
        return "" if typo is None else typo.question

    def help(self) -> str:
        """Advice, as a sentence or a list of what is allowed; may be empty."""
        return self.entry.line("help", self.fields).said(self.fields)


class Fault(NamedTuple):
    """A finding inside a text that does not know its file: offsets count from that text's start."""

    start: int
    end: int
    finding: Finding


@final
class Problem(msgspec.Struct, frozen=True, kw_only=True):
    """A finding at its place in a source.

    Attributes:
        alias: the place of an alias that inserts the text.
        row: the place of the first row whose case has it, for findings that may differ from row to row.
    """

    source: Source
    span: Span
    finding: Finding
    severity: Severity
    alias: Span | None = None
    row: tuple[Source, Span] | None = None

    @property
    def code(self) -> str:
        """The stable code, such as `EV203`."""
        return self.finding.code

    @property
    def start(self) -> Position:
        """Line and column of the first character."""
        return self.source.position(self.span.start)

    @property
    def end(self) -> Position:
        """Line and column just after the last character."""
        return self.source.position(self.span.end)

    @property
    def fix(self) -> Fix | None:
        """The edit that may cure it, if there is one."""
        finding, text = self.finding, self.source.text
        if not finding.offers or finding.fix is not None:
            return finding.fix
        start, end = self.span
        typo = finding.typo()
        if typo is None or _NEEDS_CARE.search(typo.meant) or self.code in _OF_CONFIGURATION:
            return None
        if typo.written is None:
            return Fix.of(text, start, start, f"{typo.meant} ")
        if not typo.written:
            quotes = int(text[start : start + 1] in ("'", '"') and text[start] == text[end - 1])
            return Fix.of(text, start + quotes, end - quotes, typo.meant)
        if text.count(typo.written, start, end) != 1:
            return None
        at = text.index(typo.written, start)
        return Fix.of(text, at, at + len(typo.written), typo.meant)

    def without_suggestion(self) -> Problem:
        """The problem without a fix, and without the words that suggest one."""
        fields = self.finding.fields
        finding = Finding(self.code, **(fields | dict.fromkeys(_SUGGESTED & fields.keys(), "")))
        finding.offers = False
        return msgspec.structs.replace(self, finding=finding)

    @property
    def note(self) -> str:
        """Where else to look: at the alias by which what is wrong got where it is, or at a row; else empty."""
        if self.alias is not None:
            line, column = self.source.position(self.alias.start)
            return f"it is used by the alias `{self.source.text[slice(*self.alias)]}` on line {line}, column {column}"
        if self.row is not None:
            source, span = self.row
            return f"first seen with the row on line {source.position(span.start).line} of `{source.name}`"
        return ""

    def __str__(self) -> str:
        line, column = self.start
        return f"{self.source.name}:{line}:{column}: {self.severity}[{self.code}]: {self.finding.message()}"


@final
class Diagnostics:
    """A growing collection of problems, read in the order of their files, lines and columns."""

    def __init__(self) -> None:
        self._problems: dict[tuple[str, str, int, int, int, Finding], Problem] = {}

    def add(
        self,
        source: Source,
        span: Span,
        finding: Finding,
        *,
        row: tuple[Source, Span] | None = None,
        at_most: Severity = "error",
    ) -> None:
        """Record a finding at a place; the same finding at the same place is recorded once, with its first row."""
        severity: Severity = "warning" if at_most == "warning" else finding.entry.severity
        alias = span.alias if isinstance(span, AliasedSpan) else None
        problem = Problem(source=source, span=span, finding=finding, severity=severity, alias=alias, row=row)
        self._problems.setdefault((source.name, source.text, source.first_line, *span, finding), problem)

    def extend(self, problems: Iterable[Problem], *, at_most: Severity = "error") -> None:
        """Record problems that were collected elsewhere, none of them as more severe than `at_most`."""
        for problem in problems:
            self.add(problem.source, problem.span, problem.finding, row=problem.row, at_most=at_most)

    @property
    def has_errors(self) -> bool:
        """Whether any problem is an error."""
        return any(problem.severity == "error" for problem in self._problems.values())

    @property
    def block(self) -> bool:
        """Whether any problem is an error with which nothing can be made of a suite."""
        return any(problem.severity == "error" and problem.finding.entry.blocks for problem in self._problems.values())

    def __len__(self) -> int:
        return len(self._problems)

    def __iter__(self) -> Iterator[Problem]:
        return iter(sorted(self._problems.values(), key=_order))


def _only_adds(raw: str, new: str) -> bool:
    """Whether a text is another with only quotes, brackets, commas or `%` added."""
    for character in raw:
        added, found, new = new.partition(character)
        if not found or not _SAFE_TO_ADD.issuperset(added):
            return False
    return _SAFE_TO_ADD.issuperset(new)


def _title(raw: str, new: str) -> str:
    if not raw:
        return f"Insert `{new.strip()}`"
    return f"Put {_shown(raw)} in quotes" if new[1:-1] == raw else f"Replace {_shown(raw)} with {_shown(new)}"


def _shown(text: str) -> str:
    line = " ".join(text.split())
    return f"`{line if len(line) <= _LONGEST_SHOWN else line[: _LONGEST_SHOWN - 3] + '...'}`"


def _order(problem: Problem) -> tuple[str, int, int, int, str, str]:
    source = problem.source
    return (source.name, source.first_line, *problem.span, problem.code, problem.finding.message())
