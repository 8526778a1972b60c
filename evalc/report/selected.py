"""From a choice of cases to the words about it."""

from __future__ import annotations

from evalc.model.suite import Selected
from evalc.report.numbers import counted


def selected_line(selected: Selected | None, total: int) -> str:
    """`2 of 40 cases selected`; where all of them are, how many."""
    if selected is None:
        return counted(total, "case")
    return f"{selected.cases} of {counted(selected.of, 'case')} selected"
