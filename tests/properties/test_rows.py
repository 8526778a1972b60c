"""The law of tables: each row becomes the case, and brings about the problems, that it would alone beside the first."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from evalc.base.source import Source
from evalc.compiler.emit import suite as emit_suite
from evalc.compiler.pipeline import CompileOptions, compile_sources
from evalc.model.case import Case
from tests.support.laws import examples

CHECKS = (
    """'contains "{{a}}"'""",
    """'not contains "{{b}}"'""",
    """'equals "{{a}} and {{b}}"'""",
    """'matches /^{{a}}{2}$/'""",
    """'matches /x{{{b}}}/'""",
    """'matches /{{a}}+z/'""",
    """'contains any of ["{{a}}", "x"]'""",
    """'starts with "{{#if b}}{{b}}{{else}}y{{/if}}"'""",
    """'ends with "{{#each a}}{{this}}{{/each}}z"'""",
    """'at a.b equals "{{a}}"'""",
    """'called "t" with x = "{{a}}"'""",
    """'{{a}} is polite'""",
    """{type: icontains, rule: "{{b}}", weight: 2}""",
    """{type: regex, rule: "{{a}}|{{b}}"}""",
    """{any_of: ['contains "{{a}}"', 'contains "u"']}""",
    """{not: 'contains "{{b}}"'}""",
    """non-empty""",
    """length 5..200 chars""",
    """{use: both}""",
    """'contains "{{o.k[0]}}"'""",
    """'matches /{{o.k.0}}+z{{#if o.n}}{{o.n}}{{/if}}/'""",
)
CELLS = ("q r", "", "a+b(", "{{a}}", "{{seed:x.y}}", "null", '"/', 3, None, ["x", "y"])
VALUES = st.sampled_from(CELLS)
NESTED: tuple[Any, ...] = (
    {"k": ["y"]},
    {"k": ["z", "w"], "n": "m"},
    {"k": [["x"]]},
    {"k": []},
    {"kk": ["y"]},
    {},
    "text",
    None,
)
SOUND = {"a": "p", "b": "q", "o": NESTED[0]}
"""A row with which nothing is wrong, of which the others are made."""
ROWS = st.lists(
    st.fixed_dictionaries(
        {},
        optional={
            "a": VALUES,
            "b": VALUES,
            "o": st.sampled_from(NESTED),
            "why": st.sampled_from(("", "no", "down", "yes")),
        },
    ),
    min_size=1,
    max_size=3,
)

SUITE = """\
suite: s
rules:
  both: ['contains "{{a}}"', 'not contains "{{b}}"']
eval:
  test_cases:
    - name: t
      message: "{{a}}, {{b}}?"
      inputs: {b: usual, why: ""}
      skip: "{{why}}"
      tags: ["{{a}}", every]
      allow: {refusal: "{{b}}"}
      for_each: {file: %s, key: id}
      validate: [%s]
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("tables")
    (made / "evalc.toml").touch()
    return made


@pytest.fixture(autouse=True)
def _every_table_is_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(emit_suite, "MOST_KEPT", 0)


class Made(NamedTuple):
    """A compiled table: its cases, none if it has errors, and its problems by their places.

    That a check is redundant is left out: it is reported where it is so in every row.
    """

    cases: list[Case]
    problems: set[tuple[str, int, int, str]]


def made(folder: Path, rows: list[tuple[int, dict[str, Any]]], checks: list[str]) -> Made:
    """A table in which only these rows stand, each on the line of its number; the others are empty lines."""
    lines = {number: json.dumps({"id": f"r{number}", **row}) for number, row in rows}
    (folder / "t.jsonl").write_text("".join(lines.get(number, "") + "\n" for number in range(10)), encoding="utf-8")
    source = Source(str(folder / "s.eval.yaml"), SUITE % ("t.jsonl", ", ".join(checks)))
    compilation = compile_sources([source], CompileOptions(hashed=True))
    return Made(
        cases=[case for suite in compilation.suites for case in suite.cases()],
        problems={
            (problem.source.name, *problem.source.position(problem.span.start), problem.code)
            for problem in compilation.problems
            if problem.code not in {"EV504", "EV505", "EV506"}
        },
    )


@given(rows=ROWS, checks=st.lists(st.sampled_from(CHECKS), min_size=1, max_size=3, unique=True))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=examples(400))
def test_a_row_of_a_table_is_as_it_would_be_alone(folder: Path, rows: list[dict[str, Any]], checks: list[str]) -> None:
    sound, *others = [*enumerate([SOUND, *rows])]
    # Beside the first row, whose columns the table has: a name that no row gives at all is a mistake of the text.
    alone = [made(folder, [sound], checks), *(made(folder, [sound, row], checks) for row in others)]
    together = made(folder, [sound, *others], checks)
    assert together.problems == set().union(*(each.problems for each in alone))
    if all(each.cases for each in alone):
        assert together.cases == [each.cases[-1] for each in alone]
