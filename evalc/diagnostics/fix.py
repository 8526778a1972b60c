"""A fix: an edit that cures a problem, made where the problem is found."""

from __future__ import annotations

from typing import Final, NamedTuple

_SAFE_TO_ADD: Final = frozenset("\"'[],% ")
_LONGEST_SHOWN: Final = 60
_BEFORE_TEXT: Final = frozenset(("", *" \t\r\n[{,:"))
_BEHIND_TEXT: Final = frozenset(("", *" \t\r\n]},:"))
"""What YAML lets stand directly beside a text in quotes; beside a quote, a quote would be an escape."""


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


def _only_adds(raw: str, new: str) -> bool:
    """Whether a text is another with nothing but quotes, brackets, commas or `%` added."""
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
