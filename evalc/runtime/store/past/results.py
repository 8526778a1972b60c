"""Reads the results of an earlier run, as far as they are needed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeVar, final

import msgspec
from msgspec.structs import replace

from evalc.base.errors import UsageError
from evalc.base.files import TooLarge, read_limited
from evalc.model.suite import SuiteKey, key_of
from evalc.runtime.run.scope import Configured, Place
from evalc.runtime.store.file_names import possible_names
from evalc.runtime.store.journaled import FILE_NAME, Header, read_header
from evalc.runtime.store.past.runs import age, find_folder, has_results, result_files, run_folders

LARGEST: Final = 4_000_000_000
"""The bytes of a result file that is read."""

T = TypeVar("T")
Record = TypeVar("Record", bound=msgspec.Struct)


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class PastResults:
    """The result files of a run.

    Attributes:
        name: what the run is called.
        folder: where the files are.
        files: all of them, or the named one.
        is_part: whether a file was named.
    """

    name: str
    folder: Path
    files: tuple[Path, ...]
    is_part: bool = False


def find_results(name: str, output_dir: Path) -> PastResults:
    """The results of the run called `name`, which may be the path of a single result file, too.

    Raises:
        UsageError: there is no such run, or it has no results.
    """
    path = find_folder(name, output_dir, lambda path: path.is_file() or bool(result_files(path)))
    if path is None:
        raise UsageError(f"`{name}` is neither a run with results in `{output_dir}` nor a result file or folder")
    if path.is_file():
        return PastResults(name=path.name, folder=path.parent, files=(path,), is_part=True)
    return PastResults(name=path.resolve().name, folder=path, files=tuple(result_files(path)))


def header_beside(folder: Path) -> Header | None:
    """The header of the run whose results a folder holds, those of all agents or of one.

    None if it has no journal that can be read, as the runs of other runners.
    """
    try:
        return (
            read_header(folder / FILE_NAME) if (folder / FILE_NAME).exists() else read_header(folder.parent / FILE_NAME)
        )
    except UsageError:
        return None


def places_in(header: Header | None) -> Mapping[SuiteKey, Place]:
    """Where the suites of a run were found, as its journal says."""
    if header is None:
        return {}
    try:
        configured = Configured.of(header.flags)
    except msgspec.ValidationError:
        configured = Configured()
    places = ((key_of(suite), Place(suite.file, suite.also, (configured.file,))) for suite in header.suites)
    return {key: place if configured.finds(place) else replace(place, configs=()) for key, place in places}


def results_before(later: PastResults, output_dir: Path) -> PastResults:
    """The results of the run before another one: of those that began earlier, the newest that has most of its suites.

    Raises:
        UsageError: none has any of them.
    """
    suites = {name for file in later.files for name in _names_of(file)}
    at = later.folder.resolve()
    shared = {
        folder: len(suites & {file.name for file in result_files(folder)})
        for folder in run_folders(output_dir, has_results)
        if age(folder) < age(later.folder) and not at.is_relative_to(folder.resolve())
    }
    found = max(filter(shared.get, shared), key=lambda folder: (shared[folder], age(folder)), default=None)
    if found is None:
        raise UsageError(f"no run in `{output_dir}` that began before `{later.name}` has any of its suites")
    return find_results(str(found), output_dir)


class _Head(msgspec.Struct, frozen=True, rename="camel"):
    tool_name: str
    tier: str
    suite: str | None = None


def _names_of(file: Path) -> Iterator[str]:
    """The name of a result's file, and those that it may have in other runs."""
    yield file.name
    with suppress(UsageError):
        head = read_result(file, _Head)
        yield from possible_names(key_of(head), head.tool_name)


def read_results(results: PastResults, kind: type[Record], warnings: list[str]) -> Iterator[Record]:
    """The results one after the other; a file that is not a result adds a warning.

    Raises:
        UsageError: none of the files is a result.
    """
    return each_result(results, lambda file: read_result(file, kind), warnings)


def each_result(results: PastResults, read: Callable[[Path], T], warnings: list[str]) -> Iterator[T]:
    """What `read` makes of each file; a file that is not a result adds a warning.

    Raises:
        UsageError: none of the files is a result.
    """
    failures = 0
    for file in results.files:
        try:
            yield read(file)
        except UsageError as error:
            failures += 1
            if failures == len(results.files):
                raise
            warnings.append(str(error))


def read_result(file: Path, kind: type[Record], *, what: str = "file") -> Record:
    """Read as much of an EvalSuiteResult as `kind` has fields for; `what` is what messages call the file.

    Raises:
        UsageError: it cannot be read, is too large, or is not such a result.
    """
    if not file.is_file():  # a named pipe would be waited for, and a device may have no end
        raise UsageError(f"the {what} `{file}` is neither a file nor a folder")
    try:
        return msgspec.json.decode(read_limited(file, LARGEST), type=kind)
    except TooLarge:
        raise UsageError(f"the {what} `{file}` is larger than {LARGEST // 1_000_000_000} GB") from None
    except OSError as error:
        raise UsageError(f"the {what} `{file}` cannot be read: {error.strerror}") from error
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise UsageError(f"the {what} `{file}` is not a suite result: {error}") from error
