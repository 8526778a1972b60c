"""The law of shapes: a check read by way of its shape is the check that lark's parse of it gives."""

from __future__ import annotations

from hypothesis import example, given, settings
from hypothesis import strategies as st

from evalc.grammar.check_nodes import check_line
from evalc.grammar.shapes import parse_by_shape

_WORDS = (
    *("contains", "not", "and", "or", "for", "matches", "matches ", "equals", "any of", "json", "length >=", "judge"),
    *("at", "tool a.b", "one of", "check f", "(", ")", "[", "]", ",", "{", "}", ":", "=", "4/5", "1..2", ">=", "3"),
    *("name", "has fields", '""', "''", '"a"', "'b c'", '"it\'s"', "'say \"x\"'", '"a\\"b"', "'\\'", '"', "'"),
    *("/a/", '/a"b/i', "/[/']/", "/\\//u", "/", "\n"),
)
_LINES = st.lists(st.sampled_from(_WORDS), max_size=12).map(" ".join)
_CHECKS = st.builds(
    "{} {}{} {} for {}".format,
    st.sampled_from(["contains", "equals", "not contains", "matches", "matches ", "at 'a' contains"]),
    st.sampled_from(["", " ", "\t"]),
    st.one_of(
        st.text("ab\"'\\/[]{} é\n", max_size=8).map('"{}"'.format),
        st.text("ab\"'\\/[]{} é\n", max_size=8).map("'{}'".format),
        st.text("ab\"'\\/[]{} é\n", max_size=8).map("/{}/i".format),
    ),
    st.sampled_from(["", "and json", "or contains 'x'", 'and equals "y" and matches /z"/']),
    st.sampled_from(["name", '"a name"', "'a'", "3"]),
)


@given(st.one_of(_LINES, _CHECKS))
@example('matches  /a"b"c/')
@example('matches /a "[b" c/')
@example("matches /a/ and contains 'b/'")
@example('contains "a" and contains "bcd" and contains ""')
@example('judge "q" >= 4/5 or matches /\'/')
@example("contains 'it\"s' for 'b'")
@example('at "a b" json and at \'c\' has fields "x" as string, y and has headings "1", "2"')
@example('check f("a", ["b", {"c": 1}], name="x") or check "g"() or json matching "s.json"')
@example('check f({"a": 1, "b": 2})')
@example('json lenient matching "s.json" or contains "x"')
@example('check f("a", schema="b")')
@example('tools one of [["a", b], none] and tool "a".b one of ["x", "y"] and tool c."d" not matches /e/i')
@example('similar to "x" >= 80% and contains "y" ignoring case and latency <= 2 s')
@settings(max_examples=1_000)
def test_a_check_read_by_its_shape_is_the_check_read_with_care(text: str) -> None:
    assert parse_by_shape(text) == check_line(text)
