"""The diagnostics as data: each case is found to be wrong exactly where it says; no code is without a case."""

from __future__ import annotations

from pathlib import Path

import pytest

from evalc.diagnostics.catalogue import entries
from tests.conformance.diagnosing import found
from tests.conformance.documents import Entry, documents, with_key

ELSEWHERE = {
    "EV413": "is reported by `compile` alone: tests/cli",
    "EV420": "is reported by `evalc check` alone: tests/cli/test_judge_needed.py",
    "EV602": "takes a file without permissions, which an administrator can read: tests/base/test_files.py",
    "EV616": "takes a symbolic link: tests/compiler/test_skipped.py",
    "EV617": "likewise",
    "EV650": "says that the formatter is broken",
    "EV666": "takes more modules than a case should hold: tests/tools",
}
"""The codes that no files can show."""


@with_key("diagnose")
def test_the_files_are_wrong_where_the_case_says(entry: Entry, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert found(entry, tmp_path) == entry["finds"]


def test_every_code_has_a_case() -> None:
    cases = [entry for document in documents() for entry in document.cases if "diagnose" in entry]
    covered = {one["code"] for entry in cases for one in entry["finds"]}
    missing = set(entries()) - covered - set(ELSEWHERE)
    assert missing == set(), "write a case for these codes into specs/conformance/diagnostics.json"
