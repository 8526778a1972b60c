"""Markdown is read as CommonMark with tables: headings as they are read, tables, lists, blocks of code and links."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalc.check.texts import Part, has, headings, plain

MARKDOWN = """\
# Summary #
Text
with lines
---
#NoHeading
```python
# comment
```
## Open `code` and **more** ##
    # indented

> quoted
---
###
Risks
=====
> # In a quote

1. ## In a list

***
===
<pre>
# in HTML
</pre>
"""


def test_headings_are_atx_and_setext_outside_code_and_html() -> None:
    found = ["Summary", "Text with lines", "Open code and more", "", "Risks", "In a quote", "In a list"]
    assert headings(MARKDOWN) == found


@pytest.mark.parametrize(
    ("heading", "read"),
    [
        (" Summary ", "Summary"),
        ("**Summary**", "Summary"),
        ("The `code`", "The code"),
        ("[Guide](https://example.com) ![of](x)", "Guide of"),
        (r"snake\_case", "snake_case"),
        ("a_b * c", "a_b * c"),
        ("Q&amp;A", "Q&A"),
    ],
)
def test_a_heading_is_compared_as_it_is_read(heading: str, read: str) -> None:
    assert plain(heading) == read
    assert headings(f"## {heading}") == [read]


@pytest.mark.parametrize(
    ("markdown", "part", "there"),
    [
        ("| a | b |\n|---|---|\n| 1 | 2 |", "table", True),
        ("a | b\n-|-\n1 | 2", "table", True),
        ("| a | b |\n| 1 | 2 |", "table", False),
        ("```\n| a | b |\n|---|---|\n```", "table", False),
        ("- one", "list", True),
        ("Then:\n\n1) one", "list", True),
        ("-one", "list", False),
        ("Then - one", "list", False),
        ("```\n- one\n```", "list", False),
        ("```\nx\n```", "code block", True),
        ("- a\n\n  ~~~ py\n  x\n  ~~~", "code block", True),
        ("    x", "code block", True),
        ("a `x` b", "code block", False),
        ("[a](b)", "link", True),
        ("[a]\n\n[a]: b", "link", True),
        ("[a]", "link", False),
        ("<https://example.com>", "link", True),
        ("see https://example.com.", "link", True),
        ("see www.example.com", "link", True),
        ("**see** (http://localhost:80)", "link", True),
        ("`https://example.com`", "link", False),
        ("```\nhttps://example.com\n```", "link", False),
        ("![a](b)", "link", False),
        ("https:// is a scheme", "link", False),
        ("# Risks", "heading", True),
        ("Risks\n=====", "heading", True),
        ("> ## Risks", "heading", True),
        ("#Risks", "heading", False),
        ("```\n# Risks\n```", "heading", False),
    ],
)
def test_parts(markdown: str, part: Part, there: bool) -> None:
    assert has(markdown, part) is there


@pytest.mark.parametrize(
    ("info", "language", "same"),
    [
        ("python", "python", True),
        ("py", "python", True),
        ("Python title=a.py", "py", True),
        ("python:a.py", "python", True),
        ("{.python}", "python", True),
        ("python3", "Python", True),
        ("js", "javascript", True),
        ("jsx", "javascript", False),
        ("c++", "cpp", True),
        ("c", "cpp", False),
        ("", "python", False),
    ],
)
def test_the_language_of_a_block_of_code(info: str, language: str, same: bool) -> None:
    assert has(f"text\n\n```{info}\nx\n```", "code block", language) is same
    assert not has("    x", "code block", language)


@given(st.text(alphabet="`~# -=a\n\r"))
def test_any_text_has_headings_of_one_line(markdown: str) -> None:
    assert all("\n" not in heading and "\r" not in heading for heading in headings(markdown))


@given(st.text(alphabet="ab*_`[]()!<>&\\ "))
def test_a_heading_is_found_by_how_it_is_written(heading: str) -> None:
    """Unless its end closes it."""
    if plain(heading) and not re.search(r"#\s*\Z", heading):
        assert headings(f"# {heading}") == [plain(heading.strip())]


@pytest.mark.parametrize(
    "part", ["# a\n", "- a\n", ">", "[", "![", "*a _", "|a", "|a|b|\n|-|-|\n", "`", "<a ", "[a]: x\n", "a\n"]
)
def test_hostile_markdown_is_read_in_linear_time(part: str) -> None:
    assert len(headings(part * 20_000)) in {0, 1, 20_000}
    assert has(part * 5_000, "link") in {True, False}
