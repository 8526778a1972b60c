"""Opens, reads and writes regular files within limits; finds a project, links out of it, and what git says has changed.

What cannot be done is an OSError whose `strerror` says why: `NotRegular`, `TooLarge` and `LeadsOut` are such. An
invalid path, such as one with NUL, is a ValueError.
"""

from __future__ import annotations

import errno
import os
import re
import stat
import sys
import time
import weakref
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Final, NamedTuple, Self, final

from evalc.base.errors import UsageError

if TYPE_CHECKING:
    import subprocess

    from pathspec import GitIgnoreSpec

JSON_LIMIT: Final = 256_000_000
"""The largest JSON file that is read by default, in bytes."""


# --- opening ---------------------------------------------------------------------------------------------------------

# On a named pipe a plain open would wait for a writer; Windows knows neither flag of the first, and needs the second.
_OPEN_FLAGS: Final = (
    os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
)


class NotRegular(OSError):
    """Something that is not a regular file, of a `kind` such as "a named pipe"; `strerror` says so."""

    def __init__(self, path: Path, kind: str) -> None:
        super().__init__(errno.EINVAL, f"it is {kind}", str(path))
        self.kind = kind


def open_file(path: Path) -> BinaryIO:
    """A regular file, open for reading; the caller closes it."""
    # Looked at before it is opened, since opening some devices acts on them, and again after the open, since by then
    # the path may name something else.
    _require_regular(path, path.stat())
    file = os.fdopen(os.open(path, _OPEN_FLAGS), "rb")
    try:
        _require_regular(path, os.fstat(file.fileno()))
    except OSError:
        file.close()
        raise
    return file


def _require_regular(path: Path, status: os.stat_result) -> None:
    if not stat.S_ISREG(status.st_mode):
        raise NotRegular(path, _kind(status.st_mode))


def _kind(mode: int) -> str:
    if stat.S_ISDIR(mode):
        return "a folder"
    if stat.S_ISFIFO(mode):
        return "a named pipe"
    if stat.S_ISSOCK(mode):
        return "a socket"
    return "a device"


# --- the project -----------------------------------------------------------------------------------------------------

NAMES: Final = ("evalc.toml", "evalc.config.json", "pyproject.toml")
"""The files that may configure evalc, in the order in which one folder's are preferred."""
_LARGEST: Final = 16_000_000
_HEAD_OF_BASELINE: Final = 40
"""In bytes; a byte order mark may come before it."""


class Project(NamedTuple):
    """A project's root, and its configuration file if it has one."""

    root: Path
    file: Path | None


def find_project(start: Path) -> Project:
    """The nearest folder upwards from `start` with a configuration or `.git`; without one, `start` itself."""
    for folder in (start, *start.parents):
        for name in NAMES:
            file = folder / name
            if (file.is_file() or file.is_symlink()) and (name != "pyproject.toml" or _mentions_evalc(file)):
                return Project(folder, file)
        if (folder / ".git").exists():
            return Project(folder, None)
    return Project(start, None)


def _mentions_evalc(pyproject: Path) -> bool:
    """Whether a pyproject.toml seems to have a table for evalc; it is parsed only then."""
    try:
        with open_file(pyproject) as file:
            return b"tool.evalc" in file.read(_LARGEST)
    except OSError:
        return False


def is_accepted_baseline(file: Path) -> bool:
    """Whether a file is what `evalc accept` writes, whatever a merge made of it, rather than evals or a result."""
    try:
        if link_out(file) is not None:
            return False
        with open_file(file) as opened:
            return b'"baseline"' in opened.read(_HEAD_OF_BASELINE)
    except (OSError, ValueError):
        return False


def below_working_folder(path: Path) -> Path:
    """The path as the working folder sees it, where it lies below."""
    working = Path.cwd()
    return path.relative_to(working) if path.is_absolute() and path.is_relative_to(working) else path


def is_below(path: Path, root: Path) -> bool:
    """Whether a path, its links followed, lies below a root; a path that cannot exist lies nowhere."""
    try:
        return path.resolve().is_relative_to(root)
    except (OSError, RuntimeError, ValueError):
        return False


def is_there(path: Path) -> bool:
    """Whether something is at a path; a path that cannot exist, such as one with too long a name, has nothing."""
    try:
        return path.exists()
    except OSError:
        return False


def is_link(path: Path) -> bool:
    """Whether a link is at a path, wherever it leads; a path that cannot exist has none."""
    try:
        return path.is_symlink()
    except OSError:
        return False


def is_named(path: Path) -> bool:
    """Whether a folder has something of this name, also a link that leads nowhere: a reader then says so."""
    return os.path.lexists(path)


def exclusion(patterns: Iterable[str]) -> GitIgnoreSpec:
    """The patterns of `exclude`; those that are invalid, such as a `!` alone, match nothing, as for git."""
    from pathspec import GitIgnoreSpec  # noqa: PLC0415 - for start-up: only a search of folders needs it

    return GitIgnoreSpec.from_lines(filter(is_pattern, patterns))


def is_pattern(line: str) -> bool:
    """Whether a line is a pattern of a `.gitignore`."""
    from pathspec import GitIgnoreSpec  # noqa: PLC0415 - as above

    try:
        GitIgnoreSpec.from_lines([line])
    except ValueError:
        return False
    return True


def project_root(path: Path) -> Path:
    """The root of the project that a file or folder belongs to: what a suite may open lies below it."""
    folder = path.resolve()
    if not folder.is_dir():
        folder = folder.parent
    project = find_project(folder)
    working = Path.cwd()
    if project.root == folder and project.file is None and folder.is_relative_to(working):
        return working  # no project at all: the working folder is one
    return project.root


# --- Agent Skills ----------------------------------------------------------------------------------------------------

SKILL_FILE: Final = "SKILL.md"
"""Its manifest: a folder with this file is a skill."""
_SKILL_NAME: Final = re.compile(rb"^name:[ \t]*[\"']?(\w[\w.-]*)", re.MULTILINE)


def skill_name(folder: Path) -> str:
    """The name that a skill gives itself, else that of its folder."""
    try:
        found = _SKILL_NAME.search(read_beginning(folder / SKILL_FILE, 10_000))
    except (OSError, ValueError):
        found = None
    return folder.resolve().name if found is None else found[1].decode(errors="replace")


# --- links -----------------------------------------------------------------------------------------------------------

MOST_LINKS: Final = 40
"""On the way to one file; as many as Linux follows."""


class Link(NamedTuple):
    """A symbolic link, by a path without links on the way to it, and where it leads in the end."""

    path: Path
    target: Path


def links_to(path: Path) -> Iterator[Link]:
    """The links on the way to a path, in the order in which the system follows them."""
    absolute = Path.cwd() / path
    here, pending = absolute.anchor, [*reversed(absolute.parts[1:])]
    followed = 0
    while pending and followed < MOST_LINKS:
        part = pending.pop()
        if part == os.pardir:
            here = os.path.dirname(here)  # noqa: PTH120 - called for each part of each path
            continue
        there = os.path.join(here, part)  # noqa: PTH118 - as above
        try:
            is_link = stat.S_ISLNK(os.lstat(there).st_mode)
        except OSError:  # what cannot be looked at cannot be opened
            return
        if not is_link:
            here = there
            continue
        followed += 1
        yield Link(Path(there), Path(os.path.realpath(there)))
        led = Path(here) / os.readlink(there)  # noqa: PTH115 - as above
        here = led.anchor
        pending += reversed(led.parts[1:])


def link_out(path: Path) -> Path | None:
    """The first link on the way to a path that leads out of the project it lies in; None if there is none."""
    for link in links_to(path):
        project = find_project(link.path.parent)
        if _is_project(project):
            root = project.root
        elif link.path.is_relative_to(Path.cwd()) and not _is_root(link.target):
            root = Path.cwd()
        else:  # as `/tmp` may be a link, or the folder of a project
            continue
        if not link.target.is_relative_to(root):
            return link.path
    return None


def _is_project(project: Project) -> bool:
    return project.file is not None or (project.root / ".git").exists()


def _is_root(folder: Path) -> bool:
    project = find_project(folder)
    return project.root == folder and _is_project(project)


class LeadsOut(OSError):
    """A path on which a link leads out of the project that the link lies in; `strerror` says so."""

    def __init__(self, path: Path, link: Path) -> None:
        super().__init__(errno.EACCES, "a link on the way to it leads out of the project", str(path))
        self.link = link


def refuse_link_out(path: Path) -> None:
    """Refuse a path on which a link leads out of the project that the link lies in.

    The author of the project may have put the link there. What lies elsewhere is read and written only where a user
    names it by a path that goes through no such link.
    """
    link = link_out(path)
    if link is not None:
        raise LeadsOut(path, link)


# --- reading and writing ---------------------------------------------------------------------------------------------


class TooLarge(OSError):
    """More bytes than the limit; `strerror` says so."""

    @classmethod
    def of(cls, path: Path, limit: int) -> Self:
        """More than so many bytes."""
        size = f"{limit // 1_000_000} MB" if limit >= 1_000_000 else f"{limit} bytes"
        return cls(errno.EFBIG, f"it is larger than {size}", str(path))


def make_folder(path: Path) -> None:
    """Make a folder, and those above it, where they do not exist."""
    refuse_link_out(path)
    path.mkdir(parents=True, exist_ok=True)


def read_limited(path: Path, limit: int) -> bytes:
    """The bytes of a regular file that has at most so many."""
    with open_regular(path) as file:
        if os.fstat(file.fileno()).st_size > limit:
            raise TooLarge.of(path, limit)
        data = file.read(limit + 1)
    if len(data) > limit:
        raise TooLarge.of(path, limit)
    return data


def read_beginning(path: Path, size: int) -> bytes:
    """How a regular file begins: at most so many bytes."""
    with open_regular(path) as file:
        return file.read(size)


def open_regular(path: Path) -> BinaryIO:
    """A regular file to which no link leads out of a project, open for reading; the caller closes it."""
    refuse_link_out(path)
    return open_file(path)


_PATIENCE_SECONDS: Final = 10


@contextmanager
def only_writer(folder: Path) -> Iterator[None]:
    """Keep other processes that ask for the same from changing files of a folder, from reading them to writing them.

    The system ends the lock with the process, however that ends.
    """
    if sys.platform == "win32":  # which opens no folders
        yield
        return
    descriptor = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        until = time.monotonic() + _PATIENCE_SECONDS
        while not lock(descriptor):
            if time.monotonic() > until:
                raise OSError(errno.EAGAIN, "another process is writing to it", str(folder))
            time.sleep(0.02)
        yield
    finally:
        os.close(descriptor)


def lock(descriptor: int) -> bool:
    """Lock an open file or folder until it is closed; false if another process has it.

    Where there are no locks, as on Windows and some network file systems, everybody gets one.
    """
    if sys.platform == "win32":
        return True
    import fcntl  # noqa: PLC0415 - for start-up: few commands write what was read before

    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        pass
    return True


def write_atomic(path: Path, data: bytes | Iterable[bytes]) -> None:
    """Put `data` into the file at `path`: afterwards it holds all of it, or what it held before.

    A symbolic link is followed and its target replaced. An existing file keeps its permissions.
    """
    refuse_link_out(path)
    target = Path(os.path.realpath(path))
    mode = _mode_of(target)
    temporary = target.with_name(f".evalc-{os.urandom(8).hex()}.tmp")
    try:
        # Created with the mode that the umask gives to any new file.
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o666)
        try:
            with os.fdopen(descriptor, "wb", 1_000_000) as file:  # results have many small pieces
                file.writelines((data,) if isinstance(data, bytes) else data)
                file.flush()
                if mode is not None:
                    temporary.chmod(mode)
                os.fsync(file.fileno())
            temporary.replace(target)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise
        _sync_folder(target.parent)
    except OSError as error:
        if error.errno is None or error.filename not in (None, str(temporary)):
            raise  # the data cannot be had
        raise OSError(error.errno, error.strerror, str(path)) from error


def _mode_of(target: Path) -> int | None:
    """The permissions of an existing file; None if there is none."""
    try:
        status = target.lstat()
    except FileNotFoundError:
        return None
    if stat.S_ISLNK(status.st_mode):  # only a loop is still a link once all links are followed
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(target))
    if stat.S_ISDIR(status.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(target))
    if not stat.S_ISREG(status.st_mode):
        raise OSError(errno.EINVAL, "Not a regular file", str(target))
    return stat.S_IMODE(status.st_mode)


def _sync_folder(folder: Path) -> None:
    """Make the renaming last, where the system can open folders."""
    if not hasattr(os, "O_DIRECTORY"):
        return
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


# --- what git says ---------------------------------------------------------------------------------------------------
# git is called with arguments, never by a shell; no hook, monitor or external differ of the repository is run. Where it
# cannot answer, that is a UsageError.

_DIFF: Final = (
    "diff",
    "--name-only",
    "--no-renames",
    "--no-ext-diff",
    "--no-textconv",
    "--ignore-submodules=none",
    "-z",
)
_QUIETLY: Final = ("-c", "core.fsmonitor=false", "-c", f"core.hooksPath={os.devnull}", "--no-optional-locks")


def commit_of(ref: str, folder: Path) -> str:
    """The hash of the commit that a name means."""
    _top(folder)
    found = _git(folder, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{ref}^{{commit}}")
    if found.returncode != 0:
        raise UsageError(f"`--changed-since {ref}`: git knows no such commit")
    return os.fsdecode(found.stdout).strip()


def changed_files(commit: str, folder: Path) -> frozenset[Path]:
    """The files and links that differ from the commit; new files that git does not ignore, too.

    So may those that git was set not to look at, by `git update-index --assume-unchanged` or `--skip-worktree`.

    A link is named itself, by a path without links on the way to it: git knows where it leads, and not what is there.
    So is the folder of another repository, such as a submodule, for any change below it.
    """
    top = _top(folder).resolve()
    listings = (
        (*_DIFF, commit, "--"),
        ("ls-files", "--others", "--exclude-standard", "-z"),
    )
    unseen = (name[2:] for name in _names(top, "ls-files", "-v", "-z") if name[0].islower() or name[0] == "S")
    return frozenset(top / name for name in chain(unseen, *(_names(top, *listing) for listing in listings)))


def deleted_files(commit: str, folder: Path) -> list[Path]:
    """The files of the commit that are not there any more, in the order of their names."""
    top = _top(folder).resolve()
    return [top / name for name in _names(top, *_DIFF, "--diff-filter=D", commit, "--")]


def ignored_files(files: Iterable[Path], folder: Path) -> frozenset[Path]:
    """Those of the files, given by absolute paths, that git ignores and does not track.

    A file in another repository within this one, such as a submodule, is ignored where the folder of that is.
    """
    top = _top(folder).resolve()
    asked = {_repository_of(file, top) or file for file in files if file.is_relative_to(top)}
    if not asked:
        return frozenset()
    done = _git(top, "check-ignore", "-z", "--stdin", given=b"\0".join(map(os.fsencode, asked)))
    if done.returncode not in (0, 1):  # 1: none is ignored
        raise UsageError(f"git cannot say what it ignores: {_first_line(done.stderr)}")
    return frozenset(Path(os.fsdecode(name)) for name in done.stdout.split(b"\0") if name)


def _repository_of(file: Path, top: Path) -> Path | None:
    """The folder of the outermost repository within that of `top` that a file is in."""
    folders = (folder for folder in reversed(file.parents) if folder != top and folder.is_relative_to(top))
    return next((folder for folder in folders if (folder / ".git").exists()), None)


def _names(top: Path, *arguments: str) -> Iterator[str]:
    done = _git(top, *arguments)
    if done.returncode != 0:
        raise UsageError(f"git cannot say what has changed: {_first_line(done.stderr)}")
    return (os.fsdecode(name) for name in done.stdout.split(b"\0") if name)


def _top(folder: Path) -> Path:
    found = _git(folder, "rev-parse", "--show-toplevel")
    if found.returncode != 0:
        raise UsageError(f"`--changed-since` needs a git repository, and `{folder}` is in none")
    return Path(os.fsdecode(found.stdout.rstrip(b"\n")))


def _git(folder: Path, *arguments: str, given: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    import subprocess  # noqa: PLC0415 - for start-up: few commands ask git

    try:
        return subprocess.run(  # noqa: S603 - arguments, no shell
            ["git", *_QUIETLY, *arguments],  # noqa: S607 - the user's own git
            cwd=folder,
            input=given,
            capture_output=True,
            check=False,
        )
    except OSError as error:
        raise UsageError(f"`--changed-since` needs git, which cannot be run: {error.strerror}") from error


def _first_line(message: bytes) -> str:
    return message.decode(errors="replace").strip().partition("\n")[0]


# --- temporary folders -----------------------------------------------------------------------------------------------


_FOLDER: Final = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_NOFOLLOW", 0)
_YOUNG_SECONDS: Final = 60
"""For so long nobody removes a folder that is not locked: its process may be about to lock it."""


@final
class TemporaryFolder:
    """A folder that is removed with this object, or when the process ends."""

    def __init__(self) -> None:
        from tempfile import mkdtemp  # noqa: PLC0415 - for start-up: few runs need one

        self.path = Path(mkdtemp(dir=temporary_home()))
        weakref.finalize(self, _remove, self.path, os.getpid())


def temporary_home() -> Path:
    """The folder of this process among the system's temporary files. Those of killed processes are removed."""
    home = _home_of(os.getpid())
    if not home.is_dir():  # somebody has cleaned up
        _home_of.cache_clear()
        home = _home_of(os.getpid())
    return home


@cache
def _home_of(process: int) -> Path:
    import atexit  # noqa: PLC0415 - for start-up
    from tempfile import gettempdir, mkdtemp  # noqa: PLC0415 - the same

    prefix = "evalc-process-"
    home = Path(mkdtemp(prefix=prefix))
    atexit.register(_remove, home, process)
    with suppress(OSError):  # Windows opens no folders
        lock(os.open(home, _FOLDER))  # until the process ends, however it does
        there_are_locks = not _is_free(home)
        for folder in Path(gettempdir()).glob(f"{prefix}*") if there_are_locks else ():
            with suppress(OSError):  # a link, or what somebody else removes just now
                if time.time() - folder.lstat().st_mtime > _YOUNG_SECONDS and _is_free(folder):
                    _remove(folder, process)
    return home


def _is_free(folder: Path) -> bool:
    """Whether no process holds a folder, as far as that can be known."""
    descriptor = os.open(folder, _FOLDER)
    try:
        return lock(descriptor)
    finally:
        os.close(descriptor)


def _remove(folder: Path, owner: int) -> None:
    from shutil import rmtree  # noqa: PLC0415 - as above; `tempfile` has imported it

    if os.getpid() == owner:  # and not a process that code of others has forked
        rmtree(folder, ignore_errors=True)
