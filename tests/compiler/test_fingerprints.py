"""Many texts are distinguished in little memory."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from evalc.model.json import Fingerprints


@settings(deadline=None)
@given(st.lists(st.text(max_size=3)))
def test_the_first_number_of_each_text_is_found_again(texts: list[str]) -> None:
    seen, known = Fingerprints(), dict[str, int]()
    for number, text in enumerate(texts):
        assert seen.add(text, number) == known.get(text)
        known.setdefault(text, number)


def test_many_texts_are_distinguished() -> None:
    seen = Fingerprints()
    assert all(seen.add(f"row {number}", number) is None for number in range(100_000))
    assert [seen.add(f"row {number}") for number in (0, 1, 50_000, 99_999)] == [0, 1, 50_000, 99_999]
