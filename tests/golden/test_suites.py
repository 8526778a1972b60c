"""Suites that use the whole language: their IR as text, with places, and the compiled JSON.

`pytest --update-goldens` writes both anew; the change is then read before it is kept.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import evalc
from evalc.dsl.build_rule import CHECK_TYPES
from tests.support.ir_text import ir_text

FOLDER = Path(__file__).parent / "suites"
SUITES = sorted(FOLDER.glob("*.eval.yaml"))


@pytest.mark.parametrize("path", SUITES, ids=lambda path: path.name)
def test_meaning_and_json(path: Path, update_goldens: bool) -> None:
    compilation = evalc.compile(evalc.Source(path.name, path.read_text(encoding="utf-8")))
    assert [str(problem) for problem in compilation.problems if problem.severity == "error"] == []
    # The version of evalc stands in the metadata and is not what the golden is about.
    texts = {"ir.txt": "".join(ir_text(suite.ir, places=True) for suite in compilation.suites[:1])}
    texts |= {suite.file_name: b"".join(suite.encode()).decode() for suite in compilation.suites}
    stem = path.name.removesuffix(".eval.yaml")
    assert {file.name for file in FOLDER.glob(f"{stem}.*")} == {path.name, *(f"{stem}.{name}" for name in texts)}
    for name, text in texts.items():
        golden = FOLDER / f"{stem}.{name}"
        shown = text.replace(f'"evalc {evalc.__version__}"', '"evalc VERSION"')
        if update_goldens:
            golden.write_text(shown, encoding="utf-8")
        assert shown == golden.read_text(encoding="utf-8")


def test_one_suite_has_checks_of_every_type_and_no_problem() -> None:
    path = FOLDER / "language.eval.yaml"
    assert set(re.findall(r"\btype: (\w+)", path.read_text(encoding="utf-8"))) == set(CHECK_TYPES)
    assert evalc.check(path) == ()


def test_the_spellings_of_the_whole_language_compile_alike() -> None:
    """Case by case the mappings, the lines and the `expect:` block of one suite assert the same."""
    compilation = evalc.compile(FOLDER / "spellings.eval.yaml")
    (suite,) = compilation.suites
    mapped, lined, transcribed = (case.expect for case in suite.cases())
    assert mapped == lined == transcribed
