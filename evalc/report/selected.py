"""From a choice of cases to the words about it."""

from __future__ import annotations

from evalc.model.suite import Selected


def selected_line(selected: Selected | None, total: int) -> str:
    """`2 of 40 cases selected`; where all of them are, how many."""
    if selected is None:
        return f"{total} case{'' if total == 1 else 's'}"
    return f"{selected.cases} of {selected.of} case{'' if selected.of == 1 else 's'} selected"
