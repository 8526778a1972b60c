"""Lines that say something else than in earlier versions are pointed to, and no others."""

from __future__ import annotations

import pytest

import evalc


def codes(line: str) -> set[str]:
    text = f"suite: s\neval:\n  test_cases:\n    - name: a\n      message: hi\n      validate:\n        - {line}\n"
    return {problem.code for problem in evalc.check(evalc.Source("s.eval.yaml", text))}


@pytest.mark.parametrize(
    "line",
    [
        "at $.total == 5",
        "at a.0 == 5",
        "{type: contains, at: $.total, rule: x}",
        '{type: contains, at: "a.0", rule: x}',
        "has fields $.total",
        "not has fields total, $.total",
        "has fields items.0.id as number",
        '{type: structure, rule: "fields:$.total"}',
        "{type: structure, rule: 'fields:[\"$.a\"], items.0'}",
        """{type: contains, at: '$["a.b"]', rule: x}""",
        "{type: call_has, tool: book, args: {$.city: Paris}}",
        'any call of book has $.city "Paris"',
        'any call of book has nights 2, $.city "Paris"',
        "not at total equals 5",
        """'at a.0 contains "x"'""",
        r'"at $.total contains \"x\""',
        'at tags count 2 and at tags contains "a"',
        'at tags count 2 and at tags contains any of ["a", "b"]',
    ],
)
def test_a_line_whose_meaning_has_changed_is_pointed_to(line: str) -> None:
    assert codes(line) == {"EV436"}


@pytest.mark.parametrize(
    "line",
    [
        "$.total == 5",  # no line until now
        'at "$.total" == 5',  # a key in quotes, as ever
        "at a[0] == 5",
        "at hashes.3f2a == 5",
        'has fields items[0], v1.5a, "$.total"',
        "has headings '1.5'",
        """{type: structure, rule: 'fields:["$.total"], items[0]'}""",
        "{type: structure, rule: 'headings:Version 1.5'}",
        "{type: call_has, tool: book, args: {'[\"$\"].city': Paris}}",
        "at a.1e0 == 5",
        """{type: contains, at: '["a.0"].b', rule: x}""",
        "{at: $.total, contains: x}",
        "at total not equals 5",
        'contains "costs $.50"',
        'at note contains "look at v1.5"',
        """at note contains 'at $.x'""",
        'not contains "at $.50"',
        "at tags count 2 and at tags contains 5",
        "at tags count 2 and at tags contains any of [5]",
    ],
)
def test_a_line_that_says_what_it_said_is_not(line: str) -> None:
    assert codes(line) == set()
