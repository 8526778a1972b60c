"""Sentences are counted as their reader would."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalc.ecma import length_of, sentences


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (0, ""),
        (0, " \n "),
        (1, "Hello"),
        (2, "Hello. World."),
        (1, "It costs 3.50 euros."),
        (2, "No. The order has not shipped."),
        (1, "See No. 5 there."),
        (1, "Use fruit, e.g. apples, or i.e. Pears."),
        (1, "Dr. Smith met J. Smith and George W. Bush."),
        (2, "So do I. Then we go."),
        (2, "We meet at 5 p.m. Then we eat."),
        (1, "We meet at 5 p.m. and eat."),
        (1, '"Stop!" she said.'),
        (2, '"Stop!" She ran.'),
        (2, "Wait... what? No."),
        (3, "它很好。你呢？我也是"),  # noqa: RUF001 - a full-width mark is meant
        (2, "「好。」他说。"),
        (4, "Here are three:\n\n- one\n- two\n- three"),
        (3, "1. First point.\n2. Second point.\n3. Third"),
        (1, "A wrapped\nline of text."),
        (1, "# Title\nText here."),
        (1, "Text\n## Title"),
        (2, "First one!? Second one!!"),
        (1, "The U.S. Government said so."),
        (2, "Apples, pears, etc. They are fine."),
        (1, "Version 2.0.1 is at example.com."),
        (1, "---\n\nHello\n\n***"),
        (2, "यह अच्छा है। वह भी।"),
        (2, "هل أنت بخير؟ نعم."),
        (2, "It took 20 ms. The end."),
        (1, "**Bold.** and more"),
        (2, "**Bold.** And more"),
        (2, "(It is so.) Yes."),
        (3, "Yes! No? Ok."),
        (2, "is it ok? yes it is."),
        (1, "z. B. Äpfel und z.B. Birnen"),
        (2, "1. Do this. Then that."),
        (2, "Hi.\r\n\r\nBye."),
        (1, "Figure it out vs. Bob."),
        (2, "It is 42. The end."),
    ],
)
def test_sentences_are_counted_as_their_reader_would(number: int, text: str) -> None:
    assert length_of(text, "sentences") == number


WORDS = st.sampled_from(["One", "two", "3.50", "e.g.", "Dr.", "U.S.", "example.com"])


@given(st.lists(st.tuples(st.lists(WORDS), st.sampled_from([".", "!", "?", "...", '."', "?!"])), min_size=1))
def test_sentences_between_marks_are_counted(parts: list[tuple[list[str], str]]) -> None:
    text = " ".join(f"{' '.join(['So', *words, 'end'])}{mark}" for words, mark in parts)
    assert length_of(text, "sentences") == len(parts)


@given(st.text("aB1.!? \n-#\"'。"))
def test_sentences_are_parts_of_the_text_in_their_order(text: str) -> None:
    at = 0
    for sentence in sentences(text):
        assert any(map(str.isalnum, sentence))
        at = text.index(sentence, at) + len(sentence)


@pytest.mark.parametrize("part", [".", "‼x", "a. ", ".)", "\n", ". (", "a.", "\n- ", "。", ".\"'", "\n  ", "# "])
def test_hostile_texts_are_split_in_one_pass(part: str) -> None:
    assert length_of(part * 200_000, "sentences") >= 0
