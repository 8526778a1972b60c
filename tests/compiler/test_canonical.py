"""Checks in canonical words: `evalc fmt --canonical` changes lines, and never what they compile to."""

from __future__ import annotations

from pathlib import Path

import pytest

import evalc
from evalc.base.source import Source
from evalc.dsl.format import canonical
from evalc.model.json import to_json

ROOT = Path(__file__).parents[2]
FILES = sorted(path for folder in ("examples", "tests/golden/suites") for path in (ROOT / folder).rglob("*.eval.yaml"))


def suite(*lines: str) -> str:
    checks = "".join(f"        - {line}\n" for line in lines)
    return (
        f"suite: s\neval:\n  criteria: [a]\n  test_cases:\n    - name: c\n      message: hi\n      validate:\n{checks}"
    )


@pytest.mark.parametrize(
    ("line", "written"),
    [
        ("contains 'x' for a", "'contains \"x\" for a'"),
        ("length>=5   chars", "'length >= 5 chars'"),
        ("at x not contains 'y'", "'at x not contains \"y\"'"),
        ("json matching 'a.schema.json'", "'json matching \"a.schema.json\"'"),
        ("any_of: [contains 'x', non-empty]", "any_of: ['contains \"x\"', non-empty]"),
        ("matches '^a'", "'matches /^a/'"),
        ('"contains \\"{{x}}\\""', '"contains \\"{{x}}\\""'),
        ("judge 'Is it kind?'  >= 1/1", "'judge \"Is it kind?\"'"),
        ("no such check", "no such check"),
        ("{type: contains, rule: x}", "{type: contains, rule: x}"),
    ],
)
def test_a_line_is_written_in_canonical_words(line: str, written: str) -> None:
    assert canonical(Source("s.eval.yaml", suite(line))) == suite(written)


def test_rules_that_suites_share_are_written_in_canonical_words() -> None:
    text = "rules:\n  polite:\n    - contains 'please'\n"
    assert canonical(Source("r.yaml", text)) == text.replace("contains 'please'", "'contains \"please\"'")


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_an_eval_file_compiles_to_the_same(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert compiled(path, canonical(Source(str(path), text))) == compiled(path, text)


def compiled(path: Path, text: str) -> list[bytes]:
    compilation = evalc.compile(evalc.Source(str(path), text))
    return [to_json(case) for suite in compilation.suites for case in suite.cases()]
