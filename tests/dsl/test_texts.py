"""Where the texts of a YAML source stand, as far as a `#` in them could be taken for a comment."""

from __future__ import annotations

import pytest

from evalc.base.source import Source
from evalc.dsl.read_yaml import texts_of


@pytest.mark.parametrize(
    ("text", "texts"),
    [
        ("a: b # c\n", []),
        ("a: 'b # c' # d\n", ["'b # c'"]),
        ('a: "b\n  # c"\n', ['"b\n  # c"']),
        ("a: b#c\n'#': [d, '#']\n", ["b#c", "'#'", "'#'"]),
        ("a: | # b\n  c # d\n# e\n", ["\n  c # d\n"]),
        ("a: >- # b\r\n  c\r\n", []),
        ("a: &x '#'\nb: *x\n---\n- '# #'\n", ["'#'", "'# #'"]),
        ("a: &x ['#']\nb: [*x, *x]\n", ["'#'"]),
        ("a: '#'\nb: [", ["'#'"]),
        ("", []),
    ],
)
def test_texts(text: str, texts: list[str]) -> None:
    assert [text[span.start : span.end] for span in sorted(set(texts_of(Source("a.yaml", text))))] == texts
