"""Write the tables of subjects and predicates in `specs/language.md` anew, from their declarations."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from evalc.check.predicates import PREDICATES, SUBJECTS

PAGE = Path(__file__).parent.parent / "specs" / "language.md"
ROWS = re.compile(r"\A(?:\|.*\n)*")
HEADS = {"subjects": "| subject | what it is |\n|---|---|\n", "predicates": "| predicate | what it says |\n|---|---|\n"}


def with_tables(page: str) -> str:
    """The page with the tables as they have to be."""
    rows = {"subjects": subjects(), "predicates": predicates()}
    for name, head in HEADS.items():
        table = head + "".join(f"| {written} | {said} |\n" for written, said in rows[name])
        before, _, after = page.partition(head)
        page = before + table + ROWS.sub("", after, count=1)
    return page


def subjects() -> Iterator[tuple[str, str]]:
    """A row for each subject."""
    for subject in SUBJECTS:
        yield f"`{subject.line}`", subject.sentence


def predicates() -> Iterator[tuple[str, str]]:
    """A row for each predicate: how it is written behind its subject, and what it says."""
    for predicate in PREDICATES.values():
        yield ", ".join(f"`{line}`" for line in predicate.lines), predicate.sentence


if __name__ == "__main__":
    PAGE.write_text(with_tables(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
