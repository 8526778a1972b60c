"""Ids that look alike: `é` as one character and as `e` with an accent is one id, wherever ids come from."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

import evalc
from evalc.model.json import Fingerprints, composed

ONE, OTHER = "caf\u00e9", "cafe\u0301"
CASE: Final = "message: '{{k}}', validate: [non-empty]"
JSON_CASE: Final = {"description": "a", "input": {"message": "hi"}, "expect": {"responseContains": ["a"]}}
JSON: Final = {
    "metadata": {"toolName": "s", "tier": "labeled"},
    "cases": [{"id": ONE} | JSON_CASE, {"id": OTHER} | JSON_CASE],
}


def suite(*cases: str, head: str = "") -> str:
    listed = "".join(f"  - {{{case}, {CASE}}}\n" for case in cases)
    return f"suite: s\neval:\n{head}  test_cases:\n{listed}"


WRITTEN: Final[Mapping[str, str]] = {
    "names": suite(f"name: {ONE}", f"name: {OTHER}").replace("{{k}}", "hi"),
    "ids": suite(f"name: a, id: x/{ONE}", f"name: b, id: x/{OTHER}").replace("{{k}}", "hi"),
    "rows": suite(f"name: a, for_each: {{rows: [{{k: {ONE}}}, {{k: {OTHER}}}], key: k}}"),
    "a table": suite("name: a, for_each: {file: rows.csv, key: k}"),
    "a row and a case": suite(
        f"name: a, for_each: {{rows: [{{k: {ONE}}}], key: k}}", f'name: "a@{OTHER}", inputs: {{k: b}}'
    ),
    "criteria": suite("name: a", head=f"  criteria: [{ONE}, {OTHER}]\n").replace("{{k}}", "hi"),
    "eval JSON": json.dumps(JSON),
}


@pytest.mark.parametrize("way", WRITTEN)
def test_ids_that_differ_only_in_normalization_are_one(
    way: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("rows.csv").write_text(f"k\n{ONE}\n{OTHER}\n", encoding="utf-8")
    file = Path("s.json" if way == "eval JSON" else "s.eval.yaml")
    file.write_text(WRITTEN[way], encoding="utf-8")
    codes = [problem.code for problem in evalc.check(str(file)) if problem.severity == "error"]
    assert codes == ["EV206"]


@given(st.text(max_size=8), st.sampled_from(["NFC", "NFD"]))
def test_every_form_of_a_text_is_seen_as_one(text: str, form: str) -> None:
    seen = Fingerprints()
    assert seen.add(text, 7) is None
    assert seen.add(unicodedata.normalize(form, text)) == 7  # type: ignore[arg-type]
    assert composed(unicodedata.normalize("NFD", text)) == composed(text)
