"""The coverage page: every case has a row, and every name in a row stands for something."""

from __future__ import annotations

import re
from fnmatch import fnmatchcase

from tests.conformance.documents import FOLDER, documents

_REPOSITORY = FOLDER.parents[1]
_NAME = re.compile(r"`((?:tests/)?[\w.*-]+/[\w.*/-]+)`")
_IDS = [f"{document.name}/{entry['name']}" for document in documents() for entry in document.cases]


def _named() -> set[str]:
    names = set(_NAME.findall((FOLDER / "COVERAGE.md").read_text(encoding="utf-8")))
    return {name for name in names if not name.startswith(("evals/", "file/"))}


def test_names_of_cases_are_unique() -> None:
    assert len(set(_IDS)) == len(_IDS)


def test_every_name_stands_for_something() -> None:
    unknown = [
        name
        for name in _named()
        if not any(fnmatchcase(identity, name) for identity in _IDS)
        and not (name.startswith("tests/") and (_REPOSITORY / name).exists())
    ]
    assert unknown == []


def test_every_case_has_a_row() -> None:
    names = _named()
    assert [identity for identity in _IDS if not any(fnmatchcase(identity, name) for name in names)] == []


def test_the_readme_lists_every_file() -> None:
    readme = (FOLDER / "README.md").read_text(encoding="utf-8")
    assert [document.name for document in documents() if f"`{document.name}.json`" not in readme] == []
