"""Every finding of the catalogue: its example yields exactly its code, and its cure yields nothing."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import evalc
from evalc.config.load import load_settings
from evalc.diagnostics.catalogue.index import findings
from evalc.diagnostics.explain import split_docstring
from evalc.diagnostics.problem import Finding

ALL = findings()
WITH_EXAMPLE = [entry for entry in ALL.values() if split_docstring(entry).example]
WITH_CURE = [entry for entry in ALL.values() if split_docstring(entry).cure]

WITHOUT_EXAMPLE = {
    "EV101": "a tab would not survive in a docstring",
    "EV110": "a control character would not",
    "EV127": "JSON syntax, shown in words",
    "EV128": "likewise",
    "EV211": "takes several files",
    "EV230": "takes a tool registry",
    "EV231": "likewise",
    "EV232": "likewise",
    "EV233": "likewise",
    "EV234": "likewise",
    "EV235": "likewise",
    "EV413": "is reported by `compile` alone",
    "EV420": "is about an agent and a judge, which no file names",
    "EV450": "takes a lock",
    "EV451": "likewise",
    "EV452": "is about the lock itself",
}


def problems_of(entry: type[Finding], text: str, folder: Path) -> list[evalc.Problem]:
    is_json = text.lstrip().startswith("{")
    if entry.__module__.endswith(".config"):
        file = folder / ("evalc.config.json" if is_json else "evalc.toml")
        file.write_text(text)
        return list(load_settings(folder).problems)
    return list(evalc.check(evalc.Source("example.json" if is_json else "example.eval.yaml", text)))


@pytest.mark.parametrize("entry", WITH_EXAMPLE, ids=lambda entry: str(entry.code))
def test_the_example_yields_exactly_its_code(entry: type[Finding], tmp_path: Path) -> None:
    found = problems_of(entry, split_docstring(entry).example, tmp_path)
    assert {problem.code for problem in found} == {entry.code}, "\n".join(map(str, found))


@pytest.mark.parametrize("entry", WITH_CURE, ids=lambda entry: str(entry.code))
def test_the_cure_yields_nothing(entry: type[Finding], tmp_path: Path) -> None:
    assert [str(problem) for problem in problems_of(entry, split_docstring(entry).cure, tmp_path)] == []


def test_every_finding_has_an_example_or_a_reason_to_have_none() -> None:
    without = {code for code, entry in ALL.items() if not split_docstring(entry).example}
    about_files = {code for code in without if code.startswith("EV6")}
    assert without - about_files == set(WITHOUT_EXAMPLE)


def test_an_example_that_can_be_cured_has_a_cure() -> None:
    without = {entry.code for entry in WITH_EXAMPLE} - {entry.code for entry in WITH_CURE}
    assert without == {"EV209"}, "the prompt that would cure EV209 is another file"


def test_codes_are_unique_and_of_their_family() -> None:
    assert all(re.fullmatch(r"EV[1-7]\d\d", code) for code in ALL)
    declared = [entry for entry in Finding.__subclasses__() if hasattr(entry, "code")]
    assert sorted(entry.code for entry in declared) == sorted(ALL)
