"""Changes since a commit, of a real repository."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from evalc.base.errors import UsageError
from evalc.base.files import changed_files, commit_of


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    git(tmp_path, "init", "-q")
    for name in ("kept", "edited", "staged", "gone", "ä b\n"):
        (tmp_path / name).write_text("before")
    (tmp_path / ".gitignore").write_text("ignored\n")
    git(tmp_path, "add", "-A")
    git(tmp_path, "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "-m", "first", "--no-gpg-sign")
    return tmp_path


def git(folder: Path, *arguments: str) -> None:
    subprocess.run(["git", *arguments], cwd=folder, check=True, capture_output=True)


def test_edited_staged_new_and_removed_files_have_changed(repository: Path) -> None:
    for name in ("edited", "staged", "new", "ignored", "ä b\n"):
        (repository / name).write_text("after")
    (repository / "gone").unlink()
    git(repository, "add", "staged")
    folder = repository / "sub"
    folder.mkdir()
    (folder / "deep").write_text("new")
    changed = changed_files(commit_of("HEAD", folder), folder)
    names = {str(path.relative_to(repository.resolve())) for path in changed}
    assert names == {"edited", "staged", "new", "gone", "ä b\n", "sub/deep"}


def test_programs_that_a_repository_configures_are_not_run(repository: Path) -> None:
    marker = repository / "ran"
    script = repository / "script"
    script.write_text(f"#!/bin/sh\ntouch '{marker}'\n")
    script.chmod(0o755)
    for key in ("core.fsmonitor", "diff.external", "diff.d.textconv", "diff.d.command"):
        git(repository, "config", key, str(script))
    (repository / ".gitattributes").write_text("* diff=d\n")
    hook = repository / ".git" / "hooks" / "post-index-change"
    hook.write_text(script.read_text())
    hook.chmod(0o755)
    (repository / "edited").write_text("after")
    assert repository.resolve() / "edited" in changed_files(commit_of("HEAD", repository), repository)
    assert not marker.exists()


@pytest.mark.parametrize("ref", ["nope", "--output=x", "", "HEAD^{tree}"])
def test_a_ref_that_is_no_commit(repository: Path, ref: str) -> None:
    with pytest.raises(UsageError, match="git knows no such commit"):
        commit_of(ref, repository)
    assert not (repository / "x").exists()


def test_outside_of_a_repository(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"needs a git repository, and `.*` is in none"):
        commit_of("HEAD", tmp_path)


def test_without_git(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    with pytest.raises(UsageError, match="needs git, which cannot be run"):
        commit_of("HEAD", repository)


def test_a_link_has_changed_where_it_leads_elsewhere(repository: Path) -> None:
    for name in ("one", "two"):
        (repository / name).mkdir()
        (repository / name / "a").write_text(name)
    (repository / "link").symlink_to("one", target_is_directory=True)
    git(repository, "add", "-A")
    git(repository, "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "-m", "second", "--no-gpg-sign")
    (repository / "link").unlink()
    (repository / "link").symlink_to("two", target_is_directory=True)
    assert changed_files(commit_of("HEAD", repository), repository) == {repository.resolve() / "link"}
