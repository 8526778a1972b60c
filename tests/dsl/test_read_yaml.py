"""The YAML reader: what it builds, what it reports and where, and what it does not let anybody do to it."""

from __future__ import annotations

import io
import json
import random
import re
import string
from collections.abc import Iterator

import pytest
import yaml
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from ruamel.yaml import YAML

from evalc.base.source import Source, Span
from evalc.diagnostics import Finding
from evalc.dsl import read_events as module
from evalc.dsl.nodes import Mapping, Node, Scalar, Sequence, YamlLimits, stretch
from evalc.dsl.read_yaml import read_yaml
from evalc.dsl.scalars import to_plain
from tests.support.laws import examples

Found = list[tuple[Span, Finding]]


def read(text: str, limits: YamlLimits | None = None) -> tuple[list[Node | None], Found]:
    found: Found = []
    documents = read_yaml(
        Source("test", text), lambda span, finding: found.append((span, finding)), limits or YamlLimits()
    )
    return documents, found


def clean(text: str) -> Node:
    documents, found = read(text)
    assert found == []
    assert len(documents) == 1
    assert documents[0] is not None
    return documents[0]


def plain(text: str) -> object:
    return to_plain(clean(text), lambda span, finding: pytest.fail(f"{span} {finding}"))


@pytest.fixture(params=["libyaml", "pure"])
def parser(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    if request.param == "pure":
        monkeypatch.setattr(module, "_EventParser", yaml.BaseLoader)
    elif not yaml.__with_libyaml__:
        pytest.skip("PyYAML has no libyaml here")
    return str(request.param)


def scalar(start: int, end: int, text: str) -> Scalar:
    return Scalar(stretch(start, end), text, "plain")


# --- nodes -----------------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("parser")
def test_block_collections_end_behind_their_last_child() -> None:
    text = "a:\n  - x\n  - y # why\n\n# more\nb: [1,\n 2]\n"
    assert clean(text) == Mapping(
        stretch(0, text.index("]") + 1),
        (
            (scalar(0, 1, "a"), Sequence(stretch(5, 14), (scalar(7, 8, "x"), scalar(13, 14, "y")))),
            (scalar(29, 30, "b"), Sequence(stretch(32, 39), (scalar(33, 34, "1"), scalar(37, 38, "2")))),
        ),
    )


@pytest.mark.usefixtures("parser")
@pytest.mark.parametrize(
    ("text", "raw", "style"),
    [
        ("k: v", "v", "plain"),
        ("k: &x !!str v # c", "v", "plain"),
        ("k: !!str &x 'v'", "'v'", "single"),
        ('k: "v"', '"v"', "double"),
        ("k: |\n  v\n\n\nl: 1", "|\n  v\n", "literal"),
        ("k: |+\n  v\n\n\nl: 1", "|+\n  v\n\n\n", "literal"),
        ("k: >-\r\n  v\r\n\r\nl: 1", ">-\r\n  v\r\n", "folded"),
        ("k: >-\n  v", ">-\n  v", "folded"),
        ("😀: 𝄞 v\r\n", "𝄞 v", "plain"),
    ],
)
def test_the_span_of_a_scalar_is_its_token(text: str, raw: str, style: str) -> None:
    root = clean(text)
    assert isinstance(root, Mapping)
    value = root.pairs[0][1]
    assert isinstance(value, Scalar)
    assert text[value.start : value.end] == raw
    assert value.style == style


@pytest.mark.usefixtures("parser")
def test_anchors_and_tags_stand_before_a_collection() -> None:
    text = "k: &x !!map\n  a: 1\nl: &y !!seq [1]\n"
    root = clean(text)
    assert [text[value.start : value.end] for _, value in root.pairs] == ["a: 1", "[1]"]  # type: ignore[union-attr]


@pytest.mark.usefixtures("parser")
def test_a_block_collection_ends_behind_an_alias() -> None:
    text = "a: &x [1]\nb:\n  - 2\n  - *x\n"
    root = clean(text)
    assert isinstance(root, Mapping)
    assert text[root.pairs[1][1].start : root.end] == "- 2\n  - *x"
    alias = root.pairs[1][1].items[1]  # type: ignore[union-attr]
    assert alias.items is root.pairs[0][1].items  # type: ignore[union-attr]
    assert alias.alias is not None
    assert text[slice(*alias.alias)] == "*x"


@pytest.mark.usefixtures("parser")
def test_documents() -> None:
    documents, found = read("--- a\n---\n--- ''\n---\nb: 1\n...\n")
    assert found == []
    assert [type(document) for document in documents] == [Scalar, type(None), Scalar, Mapping]
    assert read("")[0] == []
    assert read("# only a comment\n")[0] == []


@pytest.mark.usefixtures("parser")
def test_merge_keys() -> None:
    text = "x: &x {a: 1, b: 1}\ny: &y {b: 2, c: 2}\nz: {<<: [*x, *y], c: 3}\nw:\n  <<: *y\n  d: 4\n'<<': text\n"
    assert plain(text) == {
        "x": {"a": 1, "b": 1},
        "y": {"b": 2, "c": 2},
        "z": {"a": 1, "b": 1, "c": 3},
        "w": {"b": 2, "c": 2, "d": 4},
        "<<": "text",
    }


def test_anchors_end_with_their_document() -> None:
    _, found = read("&x a\n---\n*x\n")
    assert [finding.code for _, finding in found] == ["EV114"]


# --- what is reported ------------------------------------------------------------------------------------------------

PROBLEMS = [
    # text, code, the text underlined
    ("a: b\n\tc: d\n", "EV101", "\t"),
    ("a:\n\t\t- b\n", "EV101", "\t\t"),
    ("a: |\n x\n\ty: z\n", "EV101", "\t"),
    ("a: b: c\n", "EV102", ":"),
    ("a: b\n c: d\n", "EV102", ":"),
    ("key\nb: c\n", "EV102", ":"),
    ('a: "xy\nz\n', "EV103", '"'),
    ("a: 'xy", "EV103", "'"),
    ('a: "x\n---\ny"', "EV103", '"'),
    ("a: [1, 2\nb: c\n", "EV104", "["),
    ("a: {x: 1\nb: c\n", "EV104", "{"),
    ("a: [1, [2, 3]", "EV104", "["),
    ("a:\n    b: 1\n  c: 2\n", "EV105", "c: 2"),
    ("a: 1\n- b\n", "EV105", "- b"),
    ("- a\nb: c\n", "EV105", "b: c"),
    (" a: b\nc: d", "EV105", "c: d"),
    ("a: @x", "EV106", "@"),
    ("a: `x`", "EV106", "`"),
    ("a: - b", "EV106", "-"),
    ("a: , b", "EV106", ","),
    ('a: "\\q"', "EV107", "\\q"),
    ('a: "x\\xZZ"', "EV107", "\\xZZ"),
    ('a: "x\\ud83d"\nb: c\n', "EV129", "\\ud83d"),
    ('a: "\\\\\\uDE00x"', "EV129", "\\uDE00"),
    ('a: "\\ud83d\\ud83d\\ude00"', "EV129", "\\ud83d"),
    ('a: "\\U0000d83d"', "EV129", "\\U0000d83d"),
    ('"\\udead": b', "EV129", "\\udead"),
    ("a: b\nxyz\nc: d\n", "EV108", "xyz"),
    ('a: "b" c', "EV109", "c"),
    ("a: [1] c", "EV109", "c"),
    ('"a" b', "EV109", "b"),
    ("a: b\x85c\n", "EV110", "\x85"),
    ("a: b\u2028c\n", "EV110", "\u2028"),
    ("a: b\0c\n", "EV110", "\0"),
    ("a: b\x1bc\n", "EV110", "\x1b"),
    ("a: b\ud800c\n", "EV110", "\ud800"),
    ("\ufeffa: b\n", "EV110", "\ufeff"),
    ("a: 1\nb: 2\na: 3\n", "EV111", "a"),
    ("{a: 1, 'a': 3}", "EV111", "'a'"),
    ("[a, b]: 1\n", "EV112", "[a, b]"),
    ("? - a\n: 1\n", "EV112", "- a"),
    ("a: {<<: b}\n", "EV113", "b"),
    ("a: {<<: [{c: 1}, 2]}\n", "EV113", "2"),
    ("a: *b\n", "EV114", "*b"),
    ("a: &b [*b]\n", "EV115", "*b"),
    ("a: !!python/object:os.system x\n", "EV116", "!!python/object:os.system"),
    ("a: !x [1]\n", "EV116", "!x"),
    ("a: &b !x {c: d}\n", "EV116", "!x"),
    ("a: !x!y z", "EV116", "!x!y"),
    ("a: !!int [1]\n", "EV117", "!!int"),
    ("a: !!seq text\n", "EV117", "!!seq"),
    ("rule: {{seed:x}}\n", "EV118", "{{seed:x}}"),
    ("rule: {{seed:x}} and more # c\n", "EV118", "{{seed:x}} and more"),
    ("a: {{#if x}}y{{/if}}\nb: c\n", "EV118", "{{#if x}}y{{/if}}"),
    ("a: [Hello {{name}}, b]\n", "EV118", "Hello {{name}}"),
    ("a: Hello {{ name: x }}\n", "EV118", "Hello {{ name: x }}"),
    ("{{x}}: y\n", "EV118", "{{x}}"),
    ("a: {{\n x}}\n", "EV118", "{{\n x}}"),
    ("a: |x\n b", "EV123", "x"),
    ("a: & x", "EV124", "&"),
    ("a: *", "EV124", "*"),
    ("a: ['a' 'b']", "EV125", "'"),
    ("a: [a, , b]", "EV125", ","),
    ("a: [1, 2]]", "EV126", "]"),
    ("a: [1, 2}", "EV126", "}"),
    ("a: }", "EV126", "}"),
    ("%YAML 3.0\n---\na", "EV100", "%"),
]


@pytest.mark.usefixtures("parser")
@pytest.mark.parametrize(("text", "code", "underlined"), PROBLEMS)
def test_each_problem_has_its_code_and_place(text: str, code: str, underlined: str) -> None:
    _, found = read(text)
    assert [(finding.code, text[span.start : span.end]) for span, finding in found] == [(code, underlined)]
    finding = found[0][1]
    assert finding.message()
    assert not finding.message().endswith(".")
    assert isinstance(finding.label() + finding.help(), str)


def test_unclosed_brackets_and_quotes_are_shown_where_they_open() -> None:
    text = "a: 1\nb: [1, 2\nc: 3\n"
    assert read(text)[1][0][0].start == text.index("[")
    text = 'a: 1\nb: "x\nc: 3\n'
    assert read(text)[1][0][0].start == text.index('"')


@pytest.mark.parametrize(
    ("text", "help_holds"),
    [
        ("rule: {{seed:x}}'s\n", "'{{seed:x}}''s'"),
        ("a: it's b: c\n", "'it''s b: c'"),
        ('- contains "a: b" or contains "c: d"\n', '\'contains "a: b" or contains "c: d"\''),
        ("a: @x y # no\n", "'@x y # no'"),
        ('a: "b "c" d"\n', """'b "c" d'"""),
        ("a:\n  b: c\n   d:\n     - e\n", "indent it like that line"),
        ("a: *b* c\n", "'*b* c'"),
        ("a:\n  - b: c\n   d: e\n", "indent it by 4 spaces"),
        ("a:\n  - b: c\n d: e\n", "indent it by 0 or 2 spaces"),
        ("a:\n  * b c\n", "`- b c`"),
        ("a:\n  - b\n  -c d\n", "`- c d`"),
        ('a: "b" or "c"\n', """'"b" or "c"'"""),
        ('- "b" is in the answer\n', '`- contains "b"`'),
        ('- "b" must not appear\n', '`- not contains "b"`'),
        ('- contains: "b" or "c"\n', '`- contains any of ["b", "c"]`'),
    ],
)
def test_the_help_prints_the_text_as_it_must_be_quoted(text: str, help_holds: str) -> None:
    assert help_holds in read(text)[1][0][1].help()


def test_templates_are_read_on_as_texts() -> None:
    text = 'a: {{x}}\nb: "{{y: z}}"\nc: |\n  {{#if d}}e{{/if}}\nf: g {{h}}\ni: ["{{", "}}"]\nj: {k: {l: m}}\n'
    documents, found = read(text)
    assert [finding.code for _, finding in found] == ["EV118"]
    assert documents[0] is not None
    assert to_plain(documents[0], lambda *_: None) == {
        "a": "{{x}}",
        "b": "{{y: z}}",
        "c": "{{#if d}}e{{/if}}\n",
        "f": "g {{h}}",
        "i": ["{{", "}}"],
        "j": {"k": {"l": "m"}},
    }


@pytest.mark.usefixtures("parser")
def test_in_double_quotes_two_halves_are_a_character_as_in_json() -> None:
    text = r"""{"a\ud83d\ude00": "\\\ud83D\uDE00{{x}}\\ud83d\\ude00", "b": '\ud83d\ude00', c: \ud83d\ude00 \ud83d}"""
    assert plain(text) == {"a😀": r"\😀{{x}}\ud83d\ude00", "b": r"\ud83d\ude00", "c": r"\ud83d\ude00 \ud83d"}
    document = {"key": ["😀", "\\ud83d", "\U0010ffff\\"]}
    assert plain(json.dumps(document)) == document


def test_an_escaped_private_character_is_not_taken_for_a_masked_one() -> None:
    assert plain('a: "\\ue000 {{x}} \\U0000e001"\n') == {"a": "\ue000 {{x}} \ue001"}


def test_behind_half_of_a_character_the_text_is_read_on() -> None:
    documents, found = read('a: "x\\ud83dy"\nb: 1\nb: 2\n')
    assert [finding.code for _, finding in found] == ["EV129", "EV111"]
    assert documents[0] is not None
    assert to_plain(documents[0], lambda *_: None) == {"a": "x\ufffdy", "b": 1}


def test_a_text_of_private_characters_keeps_them() -> None:
    private = "".join(map(chr, range(0xE000, 0xE020)))
    assert plain(f"a: {private} {{{{x}}}}\n") == {"a": private + " {{x}}"}


def test_a_syntax_error_leaves_what_stands_before_it() -> None:
    documents, found = read("a: 1\na: 2\n---\n{b: [1, {c: 2, d\ne: @\n")
    assert [finding.code for _, finding in found] == ["EV111", "EV104"]
    first, second = documents
    assert isinstance(first, Mapping)
    assert not first.cut
    assert isinstance(second, Mapping)
    assert second.cut
    inner = second.pairs[0][1]
    assert isinstance(inner, Sequence)
    assert inner.cut


def test_behind_a_value_without_an_end_the_text_is_read_on() -> None:
    documents, found = read("a: 1\nb: [1, {c: 2, d\n  e: x\nf: 'y\n---\ng: @\n")
    assert list(dict.fromkeys(finding.code for _, finding in found)) == ["EV104", "EV103", "EV106"]
    first, second = documents
    assert isinstance(first, Mapping)
    assert not first.cut
    assert [(key.text, value.text, value.style) for key, value in first.pairs if isinstance(value, Scalar)] == [
        ("a", "1", "plain"),
        ("b", "[1, {c: 2, d\n  e: x", "hole"),
        ("f", "'y", "hole"),
    ]
    assert isinstance(second, Mapping)


def test_a_key_without_its_value_is_dropped_at_a_syntax_error() -> None:
    documents, _ = read("a: 1\nb: |x\n")
    assert documents == [Mapping(stretch(0, 6), ((scalar(0, 1, "a"), scalar(3, 4, "1")),), cut=True)]


def test_duplicate_keys_name_the_line_of_the_first_and_keep_it() -> None:
    documents, found = read("a: 1\nb: 2\n\na: 3\n")
    assert "line 1" in found[0][1].label()
    assert documents[0] is not None
    assert to_plain(documents[0], lambda *_: None) == {"a": 1, "b": 2}


def test_forbidden_characters_are_counted_and_hide_nothing_behind_them() -> None:
    documents, found = read("a: x\x85y\x85\nb: 1\nb: 2\n")
    assert [finding.code for _, finding in found] == ["EV110", "EV111"]
    assert "2 times" in found[0][1].message()
    assert r"\N" in found[0][1].help()
    assert len(documents) == 1


# --- hostile texts ---------------------------------------------------------------------------------------------------


def bomb(levels: int) -> str:
    lines = ["a0: &a0 [x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, levels)]
    return "\n".join(lines)


def count(node: Node | None) -> int:
    match node:
        case Sequence():
            return 1 + sum(map(count, node.items))
        case Mapping():
            return 1 + sum(count(value) for _, value in node.pairs)
        case _:
            return 1


def test_a_bomb_of_aliases_is_defused() -> None:
    documents, found = read(bomb(30), YamlLimits(expanded_nodes=10_000))
    assert [finding.code for _, finding in found] == ["EV611"]
    assert count(documents[0]) <= 10_000 + 400


def test_a_bomb_of_merge_keys_is_defused() -> None:
    lines = ["a0: &a0 {k0: 1, k1: 1}"]
    lines += [f"a{n}: &a{n} {{<<: [*a{n - 1}, *a{n - 1}], n{n}: [*a{n - 1}, *a{n - 1}]}}" for n in range(1, 40)]
    documents, found = read("\n".join(lines), YamlLimits(expanded_nodes=5_000))
    assert [finding.code for _, finding in found] == ["EV611"]
    assert count(documents[0]) <= 5_400


def test_aliases_do_not_get_round_the_depth_limit() -> None:
    chain = ["a0: &a0 " + "[" * 60 + "]" * 60, "a1: " + "[" * 60 + "*a0" + "]" * 60]
    _, found = read("\n".join(chain))
    assert [finding.code for _, finding in found] == ["EV610"]


@pytest.mark.parametrize(
    "text",
    [
        "[" * 100_000,
        "{a: " * 100_000,
        "".join(" " * level + "a:\n" for level in range(2_000)),
        "- " * 10_000 + "a",
        "? " * 10_000,
        "{" * 10_000 + "}" * 10_000,
    ],
)
@pytest.mark.usefixtures("parser")
def test_deep_nesting_is_stopped_at_the_limit(text: str) -> None:
    documents, found = read(text)
    codes = [finding.code for _, finding in found]
    assert "EV610" in codes
    assert set(codes) <= {"EV610", "EV112", "EV118"}
    assert len(documents) <= 1


def test_the_depth_limit_is_exact() -> None:
    assert read("[" * 100 + "]" * 100)[1] == []
    assert [finding.code for _, finding in read("[" * 101 + "]" * 101)[1]] == ["EV610"]


def test_a_scalar_of_ten_megabytes_is_one_scalar() -> None:
    root = clean("a: " + "x" * 10_000_000)
    assert isinstance(root, Mapping)
    assert root.pairs[0][1].end == 10_000_003


@pytest.mark.usefixtures("parser")
@pytest.mark.parametrize("text", ['a: "\\UFFFFFFFF"', f"%YAML {'9' * 5000}.1\n--- a", "%TAG ! !\n%TAG ! !\n--- a"])
def test_numbers_beyond_all_bounds_are_syntax_errors(text: str) -> None:
    assert len(read(text)[1]) == 1


def test_crlf_counts_as_one_line_end() -> None:
    text = "a: 1\r\nb: 2\r\nb: 3\r\n"
    _, found = read(text)
    assert Source("x", text).position(found[0][0].start) == (3, 1)


_SYNTAX = st.one_of(
    st.sampled_from(["a", "1", "😀", "~", ": ", ":", "- ", "-", "? ", "\n", "\n  ", "\n    ", "\r\n", " ", "\t"]),
    st.sampled_from(
        ["{", "}", "[", "]", ",", "#", " #", "'", '"', "\\", "{{", "}}", "<<: ", "|", ">", "|2-\n", ">+\n"]
    ),
    st.sampled_from(["&x ", "*x", "!!str ", "!", "---\n", "...\n", "%", "@", "\x85", "\0", "\ufeff"]),
)


@settings(max_examples=examples(400))
@given(st.lists(_SYNTAX, max_size=30).map("".join))
def test_whatever_is_read_has_places_inside_the_text(text: str) -> None:
    documents, found = read(text)
    for span, finding in found:
        assert 0 <= span.start <= span.end <= len(text) + 1
        assert finding.message()
    for document in documents:
        for node in walk(document):
            assert 0 <= node.start <= node.end <= len(text)
            if isinstance(node, Scalar) and node.style == "plain" and "\n" not in text and node.text:
                assert text[node.start : node.end] == node.text or "\ufeff" in text or found


@settings(max_examples=examples(150))
@given(st.lists(_SYNTAX, max_size=20).map("".join))
def test_both_parsers_read_the_same(text: str) -> None:
    with_libyaml = read(text)
    patch = pytest.MonkeyPatch()
    with patch.context() as context:
        context.setattr(module, "_EventParser", yaml.BaseLoader)
        with_python = read(text)
    if not with_libyaml[1] and not with_python[1]:
        assert with_libyaml == with_python


def walk(node: Node | None) -> Iterator[Node]:
    if node is None:
        return
    yield node
    match node:
        case Sequence():
            for item in node.items:
                yield from walk(item)
        case Mapping():
            for key, value in node.pairs:
                yield key
                yield from walk(value)
        case Scalar():
            pass


# --- against another reader ------------------------------------------------------------------------------------------

_CHARACTERS = st.text(
    st.one_of(
        st.sampled_from(string.ascii_letters + string.digits + " \n:#-,'\"\\{}[]&*!|>%@`~?\t"),
        st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"], exclude_characters="\u2028\u2029\ufeff"),
    ),
    max_size=25,
)
# A key is a text to evalc whatever it looks like, and a number to the others when it looks like one.
_KEYS = _CHARACTERS.map("k".__add__)
_DATA = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False), _CHARACTERS),
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(_KEYS, inner, max_size=4)),
    max_leaves=12,
)


def dumped_by_ruamel(data: object, flow: bool) -> str:
    writer = YAML(typ="safe", pure=True)
    writer.default_flow_style = flow
    writer.allow_unicode = True
    stream = io.StringIO()
    writer.dump(data, stream)
    return stream.getvalue()


def ruamel_reads(text: str) -> object:
    reader = YAML(typ="safe", pure=True)
    reader.version = (1, 2)
    return reader.load(text)


@settings(max_examples=examples(150))
@given(_DATA, st.booleans())
def test_ruamel_reads_what_ruamel_wrote_as_we_do(data: object, flow: bool) -> None:
    text = dumped_by_ruamel(data, flow)
    assume(not (flow and re.search(r"[\[{ ][:?]", text)))  # libyaml takes each such mark for that of a key
    documents, found = read(text)
    assert found == []
    node = documents[0] if documents else None
    ours = None if node is None else to_plain(node, lambda span, finding: pytest.fail(f"{span} {finding}"))
    assert ours == ruamel_reads(text)


@settings(max_examples=examples(150))
@given(_DATA, st.sampled_from([None, "'", '"', "|", ">"]), st.integers(20, 100), st.booleans())
def test_yaml_of_pyyaml_is_read_back(data: object, style: str | None, width: int, flow: bool) -> None:
    text = yaml.safe_dump(
        data, default_style=style, width=width, default_flow_style=flow, allow_unicode=True, line_break="\r\n"
    )
    documents, found = read(text)
    assert found == []
    node = documents[0] if documents else None
    problems: Found = []
    ours = None if node is None else to_plain(node, lambda span, finding: problems.append((span, finding)))
    assert problems == []
    assert ours == ruamel_reads(text)


def test_the_mask_of_templates_is_one_to_one() -> None:
    generator = random.Random(7)
    for _ in range(200):
        inner = "".join(generator.choice("ab:#, []/.") for _ in range(8))
        assert plain(f"a: |\n  x {{{{{inner}}}}} y\n") == {"a": f"x {{{{{inner}}}}} y\n"}
