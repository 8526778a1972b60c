"""Extras are opened by name, and each says what to install where that is missing."""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path

import pytest

from evalc import extras
from tests.cli.conftest import Invoke, invoke, project

__all__ = ["invoke", "project"]

ROOT = Path(__file__).parents[2]
BY_PYTEST = {"pytest"}  # pytest opens its plugin by an entry point


def test_every_extra_has_a_door_and_every_door_an_extra() -> None:
    folders = {path.parent.name for path in (ROOT / "evalc" / "extras").glob("*/__init__.py")}
    assert folders - BY_PYTEST == set(extras.__all__)
    for name in extras._NEEDS.keys() - {"local"}:
        assert getattr(extras, name).__name__ == f"evalc.extras.{name}"


def test_packages_of_an_extra_are_an_extra_of_the_installation() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert set(extras._NEEDS) <= set(project["optional-dependencies"])


def test_nobody_names_what_is_behind_a_door() -> None:
    for file in (ROOT / "evalc").rglob("*.py"):
        own = file.relative_to(ROOT / "evalc").parts[:2]
        for name, behind in re.findall(r"evalc\.extras\.(\w+)\.(\w+)", file.read_text(encoding="utf-8")):
            assert own == ("extras", name), f"{file} names `{name}.{behind}`"


ASKED = {
    "local": ("run", "--agent", "local"),
    "lsp": ("lsp",),
    "otel": ("run", "--agent", "demo", "--otel", "http://localhost:4318"),
    "parquet": ("run", "--agent", "demo", "-o", "runs.parquet"),
    "ray": ("run", "--agent", "demo", "--engine", "ray", "--concurrency", "2"),
}


@pytest.mark.parametrize("name", ASKED)
def test_without_its_packages_nothing_is_run_and_it_says_what_to_install(
    name: str, invoke: Invoke, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked, package = extras._NEEDS[name]
    monkeypatch.delitem(vars(extras), name, raising=False)
    monkeypatch.setitem(sys.modules, package, None)
    outcome = invoke(*ASKED[name])
    expected = f"error: {asked} needs packages that are not installed: pip install 'evalc[{name}]'\n"
    assert (outcome.code, outcome.out, outcome.err) == (2, "", expected)
    assert not (project / "evals" / "results").exists()


def test_without_its_packages_no_run_asks_for_a_language(
    invoke: Invoke, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    suite = project / "evals" / "weather.eval.yaml"
    suite.write_text("suite: s\ntest_cases:\n  - {name: a, message: hi, validate: [response is in French]}\n")
    monkeypatch.delitem(vars(extras), "language", raising=False)
    monkeypatch.setitem(sys.modules, "py3langid", None)
    outcome = invoke("run", "--agent", "demo")
    asked, _ = extras._NEEDS["language"]
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err == f"error: {asked} needs packages that are not installed: pip install 'evalc[language]'\n"
    assert not (project / "evals" / "results").exists()
