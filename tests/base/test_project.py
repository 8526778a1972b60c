"""Where a project begins, and which configuration holds in it."""

from __future__ import annotations

from pathlib import Path

import pytest

from evalc.base.files import Project, find_project


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / ".git").mkdir()
    (tmp_path / "evals" / "deep").mkdir(parents=True)
    return tmp_path


def test_the_nearest_folder_with_a_configuration(project: Path) -> None:
    (project / "evalc.toml").touch()
    (project / "evals" / "evalc.config.json").touch()
    nearest = Project(project / "evals", project / "evals" / "evalc.config.json")
    assert find_project(project / "evals" / "deep") == nearest
    assert find_project(project) == Project(project, project / "evalc.toml")


def test_the_folder_with_git_ends_the_search(project: Path) -> None:
    (project / "evals" / ".git").mkdir()
    (project / "evalc.toml").touch()
    assert find_project(project / "evals" / "deep") == Project(project / "evals", None)


def test_the_folder_with_git_is_itself_looked_at(project: Path) -> None:
    (project / "evalc.toml").touch()
    assert find_project(project / "evals" / "deep") == Project(project, project / "evalc.toml")


def test_a_pyproject_counts_only_with_a_table_for_evalc(project: Path) -> None:
    pyproject = project / "evals" / "pyproject.toml"
    pyproject.write_text("[project]\nname = 'x'\n")
    assert find_project(project / "evals") == Project(project, None)
    pyproject.write_text("[tool.evalc]\n")
    assert find_project(project / "evals") == Project(project / "evals", pyproject)


def test_in_one_folder_evalcs_own_file_is_preferred(project: Path) -> None:
    for name in ("pyproject.toml", "evalc.config.json", "evalc.toml"):
        (project / name).write_text("[tool.evalc]\n")
    assert find_project(project).file == project / "evalc.toml"


def test_a_folder_of_that_name_is_no_configuration(project: Path) -> None:
    (project / "evalc.toml").mkdir()
    assert find_project(project) == Project(project, None)


def test_a_git_file_marks_a_worktree(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / ".git").write_text("gitdir: elsewhere")
    assert find_project(tmp_path / "a").root == tmp_path
