"""A search leaves out the files that git ignores: held against git itself."""

from __future__ import annotations

import os
import subprocess
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evalc.compiler.discover import Finder, GitIgnore, Tracked
from tests.support.laws import examples

NAMES = st.sampled_from(["x.json", "y.json", "é.json", "a b.json", "[a].json", "!n.json", "#h.json", "t*.json"])
FILES = st.builds(
    lambda folders, name: "/".join([*folders, name]), st.lists(st.sampled_from(["a", "dir"]), max_size=3), NAMES
)
PIECES = st.sampled_from([*"abx*?/!\\ #[]-", "dir", ".json", "é", "**", "[ab]", "[!a]", "[a-z]", "[[:alpha:]]", "[]a]"])
COMMON = st.sampled_from(["*.json", "!*.json", "*", "!*", "!x.json", "dir/", "!dir/", "/x.json", "!/x.json"])
LINES = st.one_of(
    COMMON,
    st.sampled_from(["*/", "!*/", "/a", "!/a", "a/**", "**/b", "a/**/b", "/*", "**/x.json", "!a/x.json"]),
    st.lists(PIECES, min_size=1, max_size=6).map("".join),
)
SOME = st.lists(st.one_of(COMMON, COMMON, COMMON, LINES), max_size=3)
IGNORING = st.fixed_dictionaries({"": SOME, "a": SOME, "dir": SOME, "a/dir": SOME})
ALWAYS = ["x.json", "a/x.json", "a/y.json", "dir/x.json", "a/dir/x.json", "a/dir/y.json"]


def git(folder: Path, *arguments: str, given: bytes = b"", codes: tuple[int, ...] = (0,)) -> bytes:
    done = subprocess.run(["git", *arguments], cwd=folder, input=given, capture_output=True, check=False)
    assert done.returncode in codes, done.stderr
    return done.stdout


def made(folder: Path, files: list[str], ignoring: dict[str, list[str]]) -> list[str]:
    """Make the files that can be there together; those that were made."""
    kept = []
    for name in files:
        path = folder / name
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("{}")
        except OSError:  # a file has the name of a folder
            continue
        kept.append(name)
    for where, lines in ignoring.items():
        if (folder / where).is_dir():
            (folder / where / ".gitignore").write_bytes("".join(f"{line}\n" for line in lines).encode())
    return kept


@settings(max_examples=examples(120))
@given(st.lists(FILES, max_size=4), IGNORING, st.integers(0, 2**12))
def test_a_search_finds_what_git_tracks_and_what_it_does_not_ignore(
    files: list[str], ignoring: dict[str, list[str]], tracked: int
) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve()
        git(folder, "init", "-q")
        kept = made(folder, list(dict.fromkeys((*ALWAYS, *files))), ignoring)
        chosen = [each for index, each in enumerate(kept) if tracked >> index & 1]
        if chosen:
            git(folder, "update-index", "--add", "-z", "--stdin", given=b"\0".join(map(os.fsencode, chosen)))
        listed = git(folder, "ls-files", "-z", "--cached", "--others", "--exclude-standard").split(b"\0")
        expected = sorted({os.fsdecode(each) for each in listed if each.endswith(b".json")})
        found = sorted(str(path.relative_to(folder)) for path in Finder().search(folder, (".json",)))
        assert found == expected


@settings(max_examples=examples(100))
@given(st.lists(LINES, min_size=1, max_size=3))
def test_a_line_matches_what_git_says_it_matches(lines: list[str]) -> None:
    names = ["a", "b", "ab", "x.json", "\u00e9.json", "a b", "[a]", "!n", "#h", "t*", "]", "\\", "*", "a-z", "-"]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve()
        git(folder, "init", "-q")
        text = "".join(f"{line}\n" for line in lines).encode()
        (folder / ".gitignore").write_bytes(text)
        ignored = git(folder, "check-ignore", "-z", "--stdin", given=b"\0".join(map(os.fsencode, names)), codes=(0, 1))
        expected = {os.fsdecode(each) for each in ignored.split(b"\0") if each}
        own = GitIgnore(folder, text)
        assert {each for each in names if own.decides(folder / each, is_folder=False)} == expected


@pytest.mark.parametrize("is_split", [False, True])
@pytest.mark.parametrize("version", ["2", "3", "4"])
def test_an_index_of_every_version_is_read(tmp_path: Path, version: str, is_split: bool) -> None:
    git(tmp_path, "init", "-q")
    names = ["a.json", "dir/deep/b.json", "dir/deep/c.json", "é/d.json", "x" * 200 + "/e.json"]
    for each in names:
        (tmp_path / each).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / each).write_text("{}")
    git(tmp_path, "add", "-A")
    git(tmp_path, "update-index", f"--index-version={version}", *(["--split-index"] * is_split))
    if is_split:  # into a part of its own
        (tmp_path / "later.json").write_text("{}")
        names.append("later.json")
        git(tmp_path, "add", "-A")
    if version == "3":
        git(tmp_path, "update-index", "--skip-worktree", "a.json")
    tracked = Tracked.around(tmp_path.resolve() / "dir")
    assert all(tracked.has(tmp_path.resolve() / each) for each in names)
    assert tracked.has(tmp_path.resolve() / "dir" / "deep")
    assert not tracked.has(tmp_path.resolve() / "dir" / "d")
    assert not tracked.has(tmp_path.resolve().parent)


def test_an_index_with_long_hashes_and_that_of_a_worktree(tmp_path: Path) -> None:
    main = tmp_path / "main"
    main.mkdir()
    git(main, "init", "-q", "--object-format=sha256")
    (main / "a.json").write_text("{}")
    git(main, "add", "-A")
    git(main, "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "-m", "first", "--no-gpg-sign")
    git(main, "worktree", "add", "-q", "../other")
    for top in (main, tmp_path / "other"):
        assert Tracked.around(top.resolve()).has(top.resolve() / "a.json")


@given(st.binary(max_size=200))
def test_a_damaged_index_tracks_nothing_and_raises_nothing(data: bytes) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve()
        (folder / ".git").mkdir()
        (folder / ".git" / "index").write_bytes(b"DIRC\0\0\0\2\0\0\0\3" + data)
        Tracked.around(folder).has(folder / "a")


def test_a_deeper_file_undoes_a_higher_one_and_what_is_tracked_is_never_ignored(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    files = ["evals/t.json", "evals/deep/u.json", "out/kept.json", "out/new.json", "other/v.json"]
    made(tmp_path, files, {"": ["*.json", "out/"], "evals": ["!*.json"], "evals/deep": ["u.json"]})
    git(tmp_path, "add", "-f", "out/kept.json")
    found = Finder().search(tmp_path, (".json",))
    assert [str(path.relative_to(tmp_path)) for path in found] == ["evals/t.json", "out/kept.json"]
    assert [path.name for path in Finder().search(tmp_path / "out", (".json",))] == ["kept.json"]


def test_a_line_of_many_stars_is_matched_in_linear_time(tmp_path: Path) -> None:
    own = GitIgnore(tmp_path, b"*a" * 60 + b"b\n" + b"/" + b"*?" * 60 + b"b\n")
    assert own.decides(tmp_path / ("a" * 250), is_folder=False) is None
