"""Draws eval files as people write them: every style, odd indentation, comments anywhere, blank lines.

Every comment holds a `§`, and nothing else does.
"""

from __future__ import annotations

from hypothesis import strategies as st

Draw = st.DrawFn

WORDS = ("contains", "refund", "Paris", "it's", "100", "1.50", "yes", "null", "007", "a_b", "x-y", "ünï", "{{name}}")
AWKWARD = (
    'say "hi"',
    "a: b",
    "a #b",
    "- dash",
    "#tag",
    "[x, y]",
    "{{name}}: {{#if name}}y{{/if}}",
    "",
    " edge ",
    "é\\n",
)


@st.composite
def texts(draw: Draw) -> str:
    """A scalar on one line, quoted where it must be, and often where it need not be."""
    value = draw(
        st.one_of(
            st.lists(st.sampled_from(WORDS), min_size=1, max_size=4).map(" ".join),
            st.sampled_from(AWKWARD),
        )
    )
    single = "'" + value.replace("'", "''") + "'"
    double = '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
    if value in AWKWARD or value.startswith("{"):
        return draw(st.sampled_from([single, double]))
    return draw(st.sampled_from([value, single, double]))


@st.composite
def flows(draw: Draw, depth: int = 2) -> str:
    """A flow collection on one line, with odd spaces."""
    kind = draw(st.sampled_from(["text", "list", "map"] if depth else ["text"]))
    space = draw(st.sampled_from(["", " ", "  "]))
    if kind == "text":
        value = draw(st.sampled_from(["a", '"b"', "'c'", "1", '"1"', "true", '"yes"', '"a, b"', '"x: y"']))
        return str(value)
    items = [draw(flows(depth - 1)) for _ in range(draw(st.integers(0, 3)))]
    if kind == "list":
        return f"[{space}{f'{space},{space}'.join(items)}{space}]"
    pairs = [f"k{index}:{space or ' '}{item}" for index, item in enumerate(items)]
    return "{" + space + f",{space}".join(pairs) + space + "}"


@st.composite
def block_scalars(draw: Draw, indent: int) -> list[str]:
    """A header and the lines of a body that stands at `indent`."""
    header = draw(st.sampled_from(["|", "|-", "|+", ">", ">-", ">+"]))
    body = draw(st.lists(st.sampled_from(["text", "  more", "# no comment", "", "- x", "a: b  "]), max_size=4))
    if not body or not body[0].strip() or body[0].startswith(" "):
        body = ["first", *body]
    return [header, *(" " * indent + line if line else "" for line in body)]


@st.composite
def noise(draw: Draw, indent: int) -> list[str]:
    """Comments and blank lines in front of an entry."""
    lines = []
    for _ in range(draw(st.sampled_from([0, 0, 0, 1, 1, 2, 3]))):
        column = max(0, indent + draw(st.sampled_from([0, 0, 0, -2, 2, 1, -40])))
        comment = draw(st.sampled_from(["# why§", "#tight§", "#  - old: §entry", '# "quoted§', "#: §"]))
        lines.append(draw(st.sampled_from(["", "", "   ", " " * column + comment])))
    return lines


@st.composite
def entries(draw: Draw, indent: int, depth: int) -> list[str]:
    """The lines of a value that begins on the line of its key or dash; the first is what follows there."""
    behind = draw(st.sampled_from(["", "", "", "  # behind§", " #x§"]))
    kind = draw(st.sampled_from(["text", "flow", "block", "folded", "wide", "map", "list"][: 7 if depth else 5]))
    step = draw(st.sampled_from([1, 2, 2, 2, 3, 4]))
    match kind:
        case "text":
            return [draw(texts()) + behind]
        case "flow":
            return [draw(flows()) + behind]
        case "block":
            return draw(block_scalars(indent + step))
        case "folded":
            return ['"begins', "", " " * (indent + step) + 'and ends"' + behind]
        case "wide":
            return ["[a,", " " * (indent + step) + "b, # in §it", " " * (indent + step) + "c", " " * (indent + 1) + "]"]
        case "map":
            return [behind.lstrip(), *draw(mappings(indent + step, depth - 1))]
        case _:
            own = draw(st.sampled_from([indent, indent + step]))
            return [behind.lstrip(), *draw(lists(own, depth - 1))]


@st.composite
def mappings(draw: Draw, indent: int, depth: int) -> list[str]:
    lines: list[str] = []
    for index in range(draw(st.integers(1, 3))):
        key = draw(st.sampled_from([f"x-{index}", f'"x-{index}"', f"'x {index}'"]))
        value = draw(entries(indent, depth))
        lines += draw(noise(indent))
        lines.append(" " * indent + key + ":" + draw(st.sampled_from([" ", "   "])) + value[0])
        lines += value[1:]
    return lines


@st.composite
def lists(draw: Draw, indent: int, depth: int) -> list[str]:
    lines: list[str] = []
    for index in range(draw(st.integers(1, 3))):
        lines += draw(noise(indent))
        gap = draw(st.sampled_from([1, 1, 3]))
        if depth and draw(st.booleans()):
            inner = draw(mappings(indent + 1 + gap, depth - 1))
            while inner[0].strip() == "" or inner[0].lstrip().startswith("#"):
                inner.pop(0)
            lines.append(" " * indent + "-" + " " * gap + inner[0].lstrip())
            lines += inner[1:]
        elif depth and index and draw(st.booleans()):
            lines += [
                " " * indent + "-" + draw(st.sampled_from(["", " # at the §dash"])),
                *draw(mappings(indent + 2, 0)),
            ]
        else:
            value = draw(entries(indent, 0))
            lines.append(" " * indent + "-" + " " * gap + value[0])
            lines += value[1:]
    return lines


@st.composite
def eval_files(draw: Draw) -> str:
    """A suite that compiles, among whose keys stands anything that YAML can say."""
    step = draw(st.sampled_from([1, 2, 4]))
    in_list = draw(st.sampled_from([0, step]))
    lines: list[str] = [*draw(noise(0)), "suite: s", *draw(noise(0))]
    lines += draw(st.sampled_from([[], ["x-any:", *draw(mappings(step, 3))], ["x-any:", *draw(lists(in_list, 3))]]))
    lines += [*draw(noise(0)), "eval:", *draw(noise(step)), " " * step + "test_cases:"]
    case, inner = step + in_list, step + in_list + 2
    for index in range(draw(st.integers(1, 3))):
        lines += draw(noise(case))
        name = draw(st.sampled_from([f"c{index}", f'"c{index}"']))
        lines += [" " * case + f"- name:  {name}", *draw(noise(inner)), " " * inner + "message: " + "hello there"]
        if draw(st.booleans()):
            value = draw(entries(inner, 2))
            lines += [" " * inner + "x-more: " + value[0], *value[1:]]
        lines += [*draw(noise(inner)), " " * inner + "validate:"]
        at = inner + draw(st.sampled_from([0, 2, 4]))
        for _ in range(draw(st.integers(1, 3))):
            lines += draw(noise(at))
            lines.append(" " * at + "- " + draw(st.sampled_from(CHECKS)) + draw(st.sampled_from(["", "   # said§"])))
    lines += draw(noise(0))
    ending = draw(st.sampled_from(["\n", "\r\n"]))
    return ending.join(lines) + draw(st.sampled_from(["", ending, ending * 3]))


CHECKS = (
    'contains "parcel"',
    "'contains \"a: b\"'",
    '"contains \\"a #b\\""',
    '"not contains \\"yes\\""',
    "{ type: contains,rule:  'x' }",
    "{type: icontains, rule: 'min:5'}",
    "matches /\\d+/",
    "any_of: [ 'contains \"q\"', non-empty ]",
)
