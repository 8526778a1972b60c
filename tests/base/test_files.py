"""Reading and writing of files, and the project that they belong to."""

from __future__ import annotations

import errno
import os
import socket
import stat
import sys
from pathlib import Path

import pytest

from evalc.base.files import Project, find_project, lock, temporary_home, write_atomic
from evalc.base.source import Source, Span
from evalc.diagnostics import Finding
from evalc.dsl.sources import decode, read_source

Found = list[tuple[Source, Span, Finding]]


def read(path: Path, limit: int = 1000) -> tuple[Source | None, Found]:
    found: Found = []
    source = read_source(path, lambda *problem: found.append(problem), name="shown", limit=limit)
    return source, found


def code_of(found: Found) -> str:
    assert len(found) == 1
    source, _, finding = found[0]
    assert source.name == "shown"
    assert finding.message()
    return finding.code


def test_a_file_is_read_without_its_byte_order_mark(tmp_path: Path) -> None:
    file = tmp_path / "a.yaml"
    file.write_bytes(b"\xef\xbb\xbfa: \xc3\xa9\r\n")
    source, found = read(file)
    assert found == []
    assert source is not None
    assert source.text == "a: é\r\n"


def test_missing(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    (tmp_path / "dangling").symlink_to(tmp_path / "nothing")
    for name in ("nothing", "file/below", "dangling", "nul\0"):
        source, found = read(tmp_path / name)
        assert source is None
        assert code_of(found) == "EV600"


def test_a_special_file_does_not_block(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(tmp_path / "socket"))
        kinds = {}
        for path in (tmp_path, pipe, tmp_path / "socket", Path("/dev/zero")):
            source, found = read(path)
            assert source is None
            assert code_of(found) == "EV601"
            kinds[path.name] = found[0][2].message()
    assert "a folder" in kinds[tmp_path.name]
    assert "a named pipe" in kinds["pipe"]
    assert "a socket" in kinds["socket"]
    assert "a device" in kinds["zero"]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_permission(tmp_path: Path) -> None:
    file = tmp_path / "a.yaml"
    file.write_text("a")
    file.chmod(0)
    source, found = read(file)
    assert source is None
    assert code_of(found) == "EV602"


def test_a_name_too_long_is_unreadable(tmp_path: Path) -> None:
    source, found = read(tmp_path / ("x" * 5000))
    assert source is None
    assert code_of(found) == "EV602"


def test_symlink_loop(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to(tmp_path / "b")
    (tmp_path / "b").symlink_to(tmp_path / "a")
    source, found = read(tmp_path / "a")
    assert source is None
    assert code_of(found) == "EV603"


def test_too_large(tmp_path: Path) -> None:
    file = tmp_path / "a.yaml"
    file.write_bytes(b"x" * 1000)
    assert read(file)[1] == []
    file.write_bytes(b"x" * 1001)
    source, found = read(file)
    assert source is None
    assert code_of(found) == "EV604"


def test_a_file_whose_size_says_nothing_is_still_bounded() -> None:
    if not Path("/proc/self/maps").exists():
        pytest.skip("there is no such file here")
    assert code_of(read(Path("/proc/self/maps"), limit=10)[1]) == "EV604"


@pytest.mark.parametrize(
    ("data", "byte", "offset"),
    [
        (b"a: \xc3\xa9\xff b", "0xFF", 4),
        (b"\xef\xbb\xbfa: \xe9t\xe9", "0xE9", 3),
        (b"a: \xf0\x9f\x98", "0xF0", 3),
        (b"a: \xed\xa0\x80", "0xED", 3),
        (b"a: \xc0\x80", "0xC0", 3),
    ],
)
def test_bytes_that_are_not_utf8_keep_their_place(data: bytes, byte: str, offset: int) -> None:
    found: Found = []
    source = decode("shown", data, lambda *problem: found.append(problem))
    assert code_of(found) == "EV605"
    shown, span, finding = found[0]
    assert source is shown
    assert span.start == offset
    assert shown.text[offset] == "\ufffd"
    assert byte in finding.message()


@pytest.mark.parametrize(
    ("data", "code"),
    [
        ("a: b".encode("utf-16"), "EV606"),
        (b"\xfe\xff\0a", "EV606"),
        ("a: b".encode("utf-32"), "EV606"),
        ("a: b".encode("utf-16-le"), "EV607"),
        (b"\x89PNG\r\n\x1a\n\0\0", "EV607"),
    ],
)
def test_bytes_that_are_not_utf8_are_refused(data: bytes, code: str) -> None:
    found: Found = []
    assert decode("shown", data, lambda *problem: found.append(problem)) is None
    assert code_of(found) == code


# --- writing ---------------------------------------------------------------------------------------------------------


def test_a_new_file_gets_the_mode_of_the_umask(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        write_atomic(tmp_path / "a", b"text")
    finally:
        os.umask(before)
    assert (tmp_path / "a").read_bytes() == b"text"
    assert stat.S_IMODE((tmp_path / "a").stat().st_mode) == 0o640


def test_an_existing_file_keeps_its_mode(tmp_path: Path) -> None:
    file = tmp_path / "a"
    file.write_text("before")
    file.chmod(0o755)
    write_atomic(file, [b"af", b"ter"])
    assert file.read_text() == "after"
    assert stat.S_IMODE(file.stat().st_mode) == 0o755
    assert list(tmp_path.iterdir()) == [file]


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "a").write_text("before")
    (tmp_path / "link").symlink_to("folder/a")
    write_atomic(tmp_path / "link", b"after")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "folder" / "a").read_text() == "after"


def test_a_failure_leaves_what_was_there(tmp_path: Path) -> None:
    file = tmp_path / "a"
    file.write_text("before")

    def chunks() -> object:
        yield b"half"
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_atomic(file, chunks())  # type: ignore[arg-type]
    assert file.read_text() == "before"
    assert list(tmp_path.iterdir()) == [file]


def test_a_failed_write_is_an_os_error(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "loop").symlink_to("loop")
    for path in (tmp_path, tmp_path / "no" / "folder", tmp_path / "pipe", tmp_path / "loop", Path("/dev/null")):
        with pytest.raises(OSError, match=r"."):
            write_atomic(path, b"text")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["loop", "pipe"]


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


def test_a_file_that_cannot_be_written_is_named_and_not_its_copy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def failing(_: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", failing)
        with pytest.raises(OSError, match="No space left") as full:
            write_atomic(tmp_path / "notes", b"x")
    assert (full.value.errno, full.value.filename) == (errno.ENOSPC, str(tmp_path / "notes"))
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(FileNotFoundError) as missing:
        write_atomic(tmp_path / "nowhere" / "notes", b"x")
    assert missing.value.filename == str(tmp_path / "nowhere" / "notes")


@pytest.mark.skipif(sys.platform == "win32", reason="it has no locks of folders")
def test_temporary_folders_of_killed_processes_are_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    outside = tmp_path / "outside"
    outside.mkdir()
    names = ("abandoned", "held", "young", "link")
    folders = {name: tmp_path / f"evalc-process-{name}" for name in names}
    for folder in (folders["abandoned"], folders["held"], folders["young"]):
        (folder / "run").mkdir(parents=True)
    folders["link"].symlink_to(outside)
    for folder in (folders["abandoned"], folders["held"], outside):
        os.utime(folder, (0, 0))
    os.utime(folders["link"], (0, 0), follow_symlinks=False)
    held = os.open(folders["held"], os.O_RDONLY)
    assert lock(held)
    monkeypatch.setattr("os.getpid", lambda: 2**30)  # a process that has no folder yet
    home = temporary_home()
    os.close(held)
    assert home.parent == tmp_path
    assert not folders["abandoned"].exists()
    assert folders["held"].exists()
    assert folders["young"].exists()
    assert outside.exists()
