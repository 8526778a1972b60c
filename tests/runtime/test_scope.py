"""The suites that a run should have had."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from evalc.runtime.store.scope import Place, Scope, in_project, names_in_project, scope_paths

FILE = "evals/team/weather.eval.yaml"


@pytest.mark.parametrize(
    ("path", "has"),
    [
        ("evals", True),
        ("evals/team", True),
        (FILE, True),
        ("evals/team/*.yaml", True),
        ("evals/*", True),
        ("evals/*/weather*", True),
        ("**/weather.eval.yaml", True),
        ("evals/**/*.yaml", True),
        ("**", True),
        ("eva", False),
        ("evals/*.yaml", False),
        ("evals/team/other.eval.yaml", False),
        ("evals/te", False),
        ("evals/*/team", False),
        ("../evals", False),
    ],
)
def test_the_paths_that_lead_to_a_file(path: str, has: bool) -> None:
    assert Scope((path,)).has(Place(FILE), "labeled") == has
    assert Scope(("nowhere", path)).has(Place(FILE), "labeled") == has
    assert not Scope((path,)).has(Place(), "labeled")


def test_the_whole_project_has_everything_even_what_is_of_no_known_file() -> None:
    assert Scope().has(Place(FILE), "labeled")
    assert Scope().has(Place(), "labeled")
    assert not Scope(tiers=("golden",)).has(Place(FILE), "labeled")


@pytest.mark.parametrize(
    "flags",
    [
        {},
        {"looked_at": None},
        {"looked_at": "evals"},
        {"looked_at": [1]},
        {"looked_at": [], "prompt_id": "p"},
        {"looked_at": [], "wanted": 5},
        {"looked_at": [], "configured": {"paths": 5}},
        {"looked_at": [], "wanted": {"keywords": ""}},
        {"looked_at": [], "wanted": {"tags": ["a"]}},
        {"looked_at": [], "wanted": {"ids": ["a"]}},
        {"looked_at": [], "wanted": {"cases": ["a/b"]}},
        {"looked_at": [], "wanted": {"failed_from": "r"}},
        {"looked_at": [], "wanted": {"changed_since": "main"}},
        {"looked_at": [], "wanted": {"shard": [1, 2]}},
    ],
)
def test_a_run_that_selected_cases_does_not_say(flags: dict[str, Any]) -> None:
    assert Scope.of(flags) is None


def test_a_run_of_what_failed_that_nothing_failed_in_looked_at_everything() -> None:
    assert Scope.of({"looked_at": [], "wanted": {"failed_from": "r", "else_all": True, "none_failed": True}}) == Scope()


def test_how_often_cases_run_selects_nothing() -> None:
    flags = {"looked_at": ["evals"], "wanted": {"repeat": 3, "tiers": ["golden"]}}
    assert Scope.of(flags) == Scope(("evals",), ("golden",))


def test_paths_are_from_the_project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "evals" / "team").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "evals")
    assert scope_paths(["team", "./team/", str(tmp_path / "evals" / "team")], tmp_path, whole=False) == ("evals/team",)
    assert scope_paths(["team", ".."], tmp_path, whole=False) == ()
    assert scope_paths(["."], tmp_path, whole=False) == ("evals",)
    assert scope_paths(["../evals"], tmp_path, whole=True) == ()
    assert in_project("../..", tmp_path) == ".."
    assert in_project("a\0b", tmp_path).endswith("a\0b")


def test_a_link_on_the_way_to_the_project_is_followed(tmp_path: Path) -> None:
    project, other = tmp_path / "project", tmp_path / "other"
    (project / "real").mkdir(parents=True)
    (project / "evals").symlink_to("real")
    other.symlink_to(project)
    (tmp_path / "inside").symlink_to(project / "real")
    for root in (project, other):
        for way in (project, other):
            assert in_project(str(way), root) == "."
            assert in_project(str(way / "evals" / "*.yaml"), root) == "evals/*.yaml"
        assert in_project(str(tmp_path / "inside" / "gone.yaml"), root) == "real/gone.yaml"


def test_a_file_has_the_paths_of_all_links_on_the_way(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    project = tmp_path / "project"
    for folder in ("store", "evals"):
        (project / folder).mkdir(parents=True)
    (project / "evals" / "lk").symlink_to("../store")
    (project / "ev").symlink_to("evals")
    (project / "store" / "out").symlink_to(tmp_path)
    (project / "store" / "loop").symlink_to("loop")
    names = ("ev/lk/u.yaml", "evals/lk/u.yaml", "store/u.yaml")
    assert names_in_project("project/ev/lk/u.yaml", project) == names
    assert names_in_project(str(tmp_path / "project" / "evals" / "lk" / "u.yaml"), project) == names[1:]
    assert names_in_project("project/store/u.yaml", project) == names[2:]
    assert names_in_project("project/ev/*", project) == ("ev/*", "evals/*")
    assert names_in_project("project/store/out/u.yaml", project) == ("store/out/u.yaml",)
    assert names_in_project("project/store/loop/u.yaml", project)[0] == "store/loop/u.yaml"
    assert names_in_project("elsewhere", project) == ("../elsewhere",)
    assert names_in_project("a\0b", project)[0].endswith("a\0b")
    assert scope_paths(["project/ev"], project, whole=False) == ("ev", "evals")
    file = Place(names[0], names[1:])
    assert [Scope((path,)).has(file, "labeled") for path in ("ev", "evals", "store", "evals/lk", "st")] == [
        True
    ] * 4 + [False]
