"""Templates: every tag with its places, how blocks nest, what is said where they do not."""

from __future__ import annotations

import pytest

from evalc.grammar.nodes import MAX_DEPTH, MAX_FAULTS, Each, If, Part, TemplateToken, Variable, Words
from evalc.grammar.parse import MAX_TEMPLATE, parse_template


def words(start: int, value: str) -> Words:
    return Words(start=start, end=start + len(value), value=value)


def variable(start: int, end: int, name: str) -> Variable:
    return Variable(start=start, end=end, name=name)


TEMPLATES: list[tuple[str, tuple[Part, ...]]] = [
    ("", ()),
    ("plain } { text \\{", (words(0, "plain } { text \\{"),)),
    ("a {{name}}\n", (words(0, "a "), variable(4, 8, "name"), words(10, "\n"))),
    ("{{ a.b-c }}", (variable(3, 8, "a.b-c"),)),
    ("{{ a.b[0][12].c-d }}", (variable(3, 17, "a.b[0][12].c-d"),)),
    (
        "{{#each a[0].b}}{{this.c}}{{/each}}",
        (Each(start=0, end=35, name=variable(8, 14, "a[0].b"), body=(variable(18, 24, "this.c"),)),),
    ),
    ("{{#if a[0]}}{{/if}}", (If(start=0, end=19, name=variable(6, 10, "a[0]"), then=()),)),
    ("{{elsewhere}}{{iff}}", (variable(2, 11, "elsewhere"), variable(15, 18, "iff"))),
    ('{"a": {{x}}}', (words(0, '{"a": '), variable(8, 9, "x"), words(11, "}"))),
    ("{{#if a}}x{{/if}}", (If(start=0, end=17, name=variable(6, 7, "a"), then=(words(9, "x"),)),)),
    (
        "{{ #if a }}x{{ else }}y{{ /if }}",
        (If(start=0, end=32, name=variable(7, 8, "a"), then=(words(11, "x"),), otherwise=(words(22, "y"),)),),
    ),
    ("{{#unless a}}{{/unless}}", (If(start=0, end=24, name=variable(10, 11, "a"), negated=True, then=()),)),
    (
        "{{#each xs}}{{this}}, {{/each}}",
        (Each(start=0, end=31, name=variable(8, 10, "xs"), body=(variable(14, 18, "this"), words(20, ", "))),),
    ),
    ("{{seed: a.b[0] }}", (TemplateToken(start=0, end=17, source="seed", path="a.b[0]", text="{{seed: a.b[0] }}"),)),
    (
        "{{snapshot:a } b}}",
        (TemplateToken(start=0, end=18, source="snapshot", path="a } b", text="{{snapshot:a } b}}"),),
    ),
    (r"\{{x}}", (Words(start=0, end=3, value="{{"), words(3, "x}}"))),
    (r"\\{{x}}", (words(0, "\\"), Words(start=1, end=4, value="{{"), words(4, "x}}"))),
]


@pytest.mark.parametrize(("text", "parts"), TEMPLATES)
def test_one_template(text: str, parts: tuple[Part, ...]) -> None:
    node, faults = parse_template(text)
    assert faults == ()
    assert node is not None
    assert node.parts == parts
    assert (node.start, node.end) == (0, len(text))
    assert parse_template(text, lenient=True).node == node


FAULTS = [
    ("a {{#if x}}b", [(2, 11, "EV150", "this `#if` is never closed", "needs a `{{/if}}`")]),
    (
        "{{#if x}}{{#each y}}{{this}}",
        [
            (0, 9, "EV150", "this `#if` is never closed", "needs a `{{/if}}`"),
            (9, 20, "EV150", "this `#each` is never closed", "needs a `{{/each}}`"),
        ],
    ),
    (
        "{{#if x}}{{/unless}}",
        [(9, 20, "EV151", "`{{/unless}}` does not close the `#if` that is open here", "expected `{{/if}}`")],
    ),
    (
        "{{#if x}}{{#each y}}{{/if}}",
        [(20, 27, "EV151", "`{{/if}}` does not close the `#each` that is open here", "expected `{{/each}}`")],
    ),
    ("x{{/if}}", [(1, 8, "EV152", "`{{/if}}` belongs to no block", "")]),
    ("{{ else }}", [(0, 10, "EV152", "`{{ else }}` belongs to no block", "")]),
    ("{{#if a}}{{else}}{{else}}{{/if}}", [(17, 25, "EV152", "`{{else}}` belongs to no block", "")]),
    ("{{#each a}}{{else}}{{/each}}", [(11, 19, "EV152", "`{{else}}` belongs to no block", "")]),
    ("{{#foreach x}}", [(3, 10, "EV153", "`foreach` is not a block helper", "did you mean `each`?")]),
    ("{{# unles x}}", [(4, 9, "EV153", "`unles` is not a block helper", "did you mean `unless`?")]),
    ("{{}}", [(0, 4, "EV154", "these braces hold no name", "")]),
    ("{{ first name }}", [(0, 16, "EV155", "`{{ first name }}` is not a tag of a template", "")]),
    ("{{#if}}", [(0, 7, "EV155", "`{{#if}}` is not a tag of a template", "")]),
    ("{{seed: }}", [(0, 10, "EV155", "`{{seed: }}` is not a tag of a template", "")]),
    ("a {{name", [(2, 4, "EV155", "these braces are never closed", "needs a `}}`")]),
    (
        "{{}} {{ a",
        [
            (0, 4, "EV154", "these braces hold no name", ""),
            (5, 7, "EV155", "these braces are never closed", "needs a `}}`"),
        ],
    ),
    ("{{#if a}}" * 10_000, [(450, 459, "EV139", "this is nested more than 50 levels deep", "")]),
    (
        "{{#if a}}" * 51 + "{{/if}}" * 51,
        [(450, 459, "EV139", "this is nested more than 50 levels deep", "")],
    ),
]


@pytest.mark.parametrize(("text", "said"), FAULTS, ids=[text[:30] for text, _ in FAULTS])
def test_faults(text: str, said: list[tuple[int, int, str, str, str]]) -> None:
    node, faults = parse_template(text)
    assert node is None
    assert [(at, end, found.code, found.message(), found.label()) for at, end, found in faults] == said


@pytest.mark.parametrize("text", ["{{}} {{ a", "{{/if}} {{else}}", "{{#foreach x}}", "{{{x}}}", "{{"])
def test_where_checks_are_read_braces_that_open_nothing_are_texts(text: str) -> None:
    node, faults = parse_template(text, lenient=True)
    assert faults == ()
    assert node is not None
    assert "".join(part.value for part in node.parts if isinstance(part, Words)) == text


def test_where_checks_are_read_an_open_block_is_a_fault_all_the_same() -> None:
    assert [fault.finding.code for fault in parse_template("{{#if x}}{{", lenient=True).faults] == ["EV150"]


def test_blocks_nest_up_to_their_limit() -> None:
    assert parse_template("{{#if a}}" * MAX_DEPTH + "{{/if}}" * MAX_DEPTH).faults == ()


def test_only_a_text_with_tags_has_a_longest_length() -> None:
    assert parse_template("x" * (MAX_TEMPLATE + 1)).faults == ()
    (fault,) = parse_template("{{a}}" + "x" * MAX_TEMPLATE).faults
    assert (fault.start, fault.finding.code) == (MAX_TEMPLATE, "EV139")


def test_faults_are_counted_out() -> None:
    assert len(parse_template("{{}}" * 1_000).faults) == MAX_FAULTS
