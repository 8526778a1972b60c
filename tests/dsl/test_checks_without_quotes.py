"""Checks whose signs mean something to YAML: each is found whole, and a safe fix puts it in quotes."""

from __future__ import annotations

import pytest

import evalc
from evalc.base.source import Source
from evalc.diagnostics.fixing import fixed

HEAD = "eval:\n  test_cases:\n    - name: a\n      message: hi\n      validate:\n"

TAKEN_APART = [
    ('        - !contains "x"', "EV106"),
    ('        - !contains "x" and json', "EV106"),
    ('        - !(contains "x" or json)', "EV106"),
    ("        - !json  # why", "EV106"),
    ("        - != 5", "EV106"),
    ('        - != "x"', "EV106"),
    ("        - >= 5", "EV106"),
    ("        - > 100 words", "EV106"),
    ('        - json matching {"type": "object"}', "EV120"),
    ('        - contains "a" or json matching {"type": "object", "required": ["a"]}', "EV120"),
    ('        - at x == {"a": [1, 2]}', "EV120"),
    ("        [non-empty, at items[*].price > 0]", "EV130"),
    ('        [non-empty, at x == {"a": 1}]', "EV130"),
    ('        [non-empty, !contains "x"]', "EV106"),
    ("        [>= 5, non-empty]", "EV106"),
]


@pytest.mark.parametrize(("line", "code"), TAKEN_APART)
def test_a_check_that_yaml_takes_apart_is_quoted(line: str, code: str) -> None:
    source = Source("a.eval.yaml", f"{HEAD}{line}\n")
    problems = [problem for problem in evalc.check(source) if problem.severity == "error"]
    assert [problem.code for problem in problems] == [code]
    result = fixed(source, evalc.check(source), evalc.check, selected=lambda _: True)
    assert [problem for problem in evalc.check(Source(source.name, result.text)) if problem.severity == "error"] == []
    assert result.text.replace("'", "") == source.text


def test_a_tag_takes_no_word_from_a_check() -> None:
    problems = evalc.check(Source("a.eval.yaml", f"{HEAD}        - !tool book calld\n"))
    assert [problem.code for problem in problems] == ["EV116"]


def test_a_block_of_text_is_none_of_them() -> None:
    assert evalc.check(Source("a.eval.yaml", f'{HEAD}        - >\n          contains "x"\n')) == ()
