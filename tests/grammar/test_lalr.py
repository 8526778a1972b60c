"""The law of the tables: a text has the parse tree that lark gives it, or stumbles where lark's parser does."""

from __future__ import annotations

from functools import cache
from typing import Any, cast

import lark
from hypothesis import example, given, settings
from hypothesis import strategies as st

from evalc.grammar.build_tables import STARTS, lark_parser
from evalc.grammar.lalr import Language, Stumble, Token, Tree, read
from tests.support.laws import examples

parser_of = cache(lark_parser)

_PIECES: dict[Language, tuple[str, ...]] = {
    "check": (
        *("contains", "not", "and", "||", "for", "matches", "equals to", "any", "of", "json", "length", "judge", "in"),
        *(
            "at",
            "tool a.b",
            "one of",
            "check f",
            "(",
            ")",
            "[",
            "]",
            ",",
            "{{a}}",
            "{",
            "}",
            ":",
            "=",
            "4/5",
            "..",
            "<",
        ),
        *("at least", "more than", "3", "$.a", "a[*].b", "a.b[0]", "has fields", "as string", '"a"', "'b'", "/a/", "/"),
        *("every", "item of a", "call", "call of b", "call 2 of b", "has", "returns", "fails with", "tools", "called"),
        *("is", "should", "the response", "sorted by a", "a list", "email", "in English", "missing", "within", "once"),
        *("times", "before", "total tokens", "latency", "tool count", "ms", "$", "%", "words", "true", "null", "nötig"),
        *(
            "no tool errors",
            "turn 2",
            "numbers from tools",
            "code block",
            "ignoring case",
            "similar to",
            "!",
            "!=",
            "\n",
        ),
    ),
    "rule": (
        *(
            "min",
            "max",
            ":",
            ",",
            "3",
            "1.5",
            "words",
            "strict",
            "schema",
            "a.json",
            "fields",
            "headings",
            "a.b",
            "[0]",
        ),
        *("string", "/a/", "/a/i", "(b|c)", "<=", "ms", "s", "$", "-1", "\n", "é"),
    ),
    "criterion": ("clarity", "a name", "(", ")", "0.3", "30", "%", ":", "A text: (b)", "\n", "é"),
    "template": (
        *("{{a}}", "{{ a.b }}", "{{#if a}}", "{{else}}", "{{/if}}", "{{#unless a}}", "{{/unless}}", "{{#each a}}"),
        *(
            "{{/each}}",
            "{{seed:a.b}}",
            "{{snapshot: x}}",
            "{{seed:}}",
            "{{",
            "}}",
            "{",
            "}",
            "\\",
            "\\{{",
            "text",
            "\n",
        ),
    ),
}


@st.composite
def texts(draw: st.DrawFn) -> tuple[Language, str, str]:
    language = draw(st.sampled_from(sorted(_PIECES)))
    start = draw(st.sampled_from(STARTS[language]))
    pieces = draw(st.lists(st.sampled_from(_PIECES[language]) | st.text(max_size=2), max_size=10))
    return language, start, draw(st.sampled_from(["", " "])).join(pieces)


def by_lark(language: Language, start: str, text: str) -> Any:
    """The tree as data, else the place and the terminals of a stumble, as lark's own parser has them."""
    parser = parser_of(language)
    try:
        return as_data(parser.parse(text, start=start))
    except lark.UnexpectedInput:
        pass
    at = len(text)
    reader = parser.parse_interactive(text, start=start)
    try:
        for _ in reader.iter_parse():
            pass
        reader.feed_eof()  # type: ignore[no-untyped-call]
    except lark.UnexpectedCharacters as stop:
        at = cast("int", stop.pos_in_stream)
    except lark.UnexpectedToken as stop:
        # lark puts its end-of-text token at the start of the last real one
        at = len(text) if stop.token.type == "$END" else stop.token.start_pos or 0
    return Stumble(at, frozenset(reader.accepts()))  # type: ignore[no-untyped-call]


def as_data(node: Any) -> Any:
    if isinstance(node, Tree | lark.Tree):
        return node.type if isinstance(node, Tree) else str(node.data), [as_data(child) for child in node.children]
    assert isinstance(node, Token | lark.Token)
    return node.type, str(node), node.start_pos, node.end_pos


@given(texts())
@example(("check", "line", 'not (contains "a" ignoring case and json) or at a.b[0] not matches /x/i for "c d"'))
@example(("check", "line", 'check f([1, {"a": null}], b=true) and tool t.p one of ["a", "b"]'))
@example(("check", "line", "tools one of [[a, b], none] or has fields a as string, 'b'"))
@example(("check", "line", "(json"))
@example(("check", "line", ""))
@example(("check", "line", "json  "))
@example(("check", "line", "json é"))
@example(("check", "line", 'every item of a has b "c", d at least 3 and !(any call of t fails with contains "e")'))
@example(("check", "line", "at a[*].b is in English or tool t called at least twice for x"))
@example(("rule", "structure", "fields: a.b: string, c"))
@example(("rule", "regex", "  /a/ "))
@example(("template", "template", ""))
@example(("template", "template", "a {{#if b}}c{{#each d}}{{e}}{{/each}}{{else}}f{{/if}} \\{{ {{g"))
@settings(max_examples=examples(1_000))
def test_a_text_is_read_as_lark_reads_it(given_text: tuple[Language, str, str]) -> None:
    read_ = read(*given_text)
    assert (read_ if isinstance(read_, Stumble) else as_data(read_)) == by_lark(*given_text)
