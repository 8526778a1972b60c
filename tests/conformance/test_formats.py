"""Formats as data: each name that a check may use has ten texts that have it and ten that lack it."""

from __future__ import annotations

from evalc.check.values import FORMATS, has_format
from tests.conformance.documents import Entry, documents, with_key


@with_key("format")
def test_a_format_distinguishes_its_texts_from_others(entry: Entry) -> None:
    assert [text for text in entry["has"] if not has_format(text, entry["format"])] == []
    assert [text for text in entry["lacks"] if has_format(text, entry["format"])] == []


def test_every_format_has_twenty_texts() -> None:
    entries = [entry for document in documents() for entry in document.cases if "format" in entry]
    assert {entry["format"] for entry in entries} == set(FORMATS)
    assert all(len(set(entry["has"])) == len(set(entry["lacks"])) == 10 for entry in entries)
