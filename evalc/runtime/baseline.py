"""From the name of an earlier run to which of its cases passed (contract, Baseline Diffing)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import final

import msgspec

from evalc.errors import UsageError
from evalc.runtime.run_id import began_at

LATEST = "latest"


class _PastCase(msgspec.Struct, frozen=True):
    id: str
    passed: bool


class _SuiteResult(msgspec.Struct, frozen=True, rename="camel"):
    """What a comparison needs of an EvalSuiteResult, of whichever runner."""

    tool_name: str
    tier: str
    cases: tuple[_PastCase, ...]
    run_id: str | None = None


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class PastSuite:
    """A suite of an earlier run: which case ids passed."""

    run_id: str
    passed: Mapping[str, bool]


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Baseline:
    """What a run is compared with: past suites by tool and tier. `name` is what was asked for."""

    name: str
    suites: Mapping[tuple[str, str], PastSuite]

    def of(self, tool_name: str, tier: str) -> PastSuite | None:
        """The suite as it was; None where the baseline does not have it."""
        return self.suites.get((tool_name, tier))


def find_baseline(name: str, output_dir: Path, file_names: Sequence[str]) -> Baseline | None:
    """The run called `name`: a run id, `latest`, or the path of a result file or of a run's folder.

    The latest is that of each suite: the newest run which has its result file, one of `file_names`. None where there
    is no such run yet.

    Raises:
        UsageError: there is no such run, or its results cannot be read.
    """
    if name == LATEST:
        folders = sorted(_run_folders(output_dir), key=_age, reverse=True)
        newest = (next((folder / file for folder in folders if (folder / file).is_file()), None) for file in file_names)
        files = [file for file in newest if file is not None]
        return _load(files, name) if files else None
    folder = output_dir / name
    path = folder if _is_plain_name(name) and _is_there(folder) else Path(name)
    if not _is_there(path):
        raise UsageError(f"the baseline `{name}` is neither a run in `{output_dir}` nor a result file or folder")
    files = _result_files(path) if path.is_dir() else [path]
    if not files:
        raise UsageError(f"the baseline `{path}` holds no results: the run did not end")
    return _load(files, name)


def _is_there(path: Path) -> bool:
    try:
        return path.exists()
    except OSError:  # a name that is too long, a folder that may not be read
        return False


def _is_plain_name(name: str) -> bool:
    return Path(name).name == name


def _run_folders(output_dir: Path) -> Iterable[Path]:
    """The folders of runs that ended."""
    try:
        return [folder for folder in output_dir.iterdir() if folder.is_dir() and _result_files(folder)]
    except OSError:
        return []


def _result_files(folder: Path) -> list[Path]:
    return sorted(file for file in folder.glob("*.json") if file.is_file())


def _age(folder: Path) -> tuple[float, str]:
    began = began_at(folder.name)
    return (folder.stat().st_mtime if began is None else began, folder.name)


def _load(files: Iterable[Path], name: str) -> Baseline:
    suites: dict[tuple[str, str], PastSuite] = {}
    for file in files:
        suite = _read(file)
        passed = {case.id: case.passed for case in suite.cases}
        suites[suite.tool_name, suite.tier] = PastSuite(run_id=suite.run_id or file.parent.name, passed=passed)
    return Baseline(name=name, suites=suites)


def _read(file: Path) -> _SuiteResult:
    if not file.is_file():  # a named pipe would be waited for, and a device may have no end
        raise UsageError(f"the baseline `{file}` is neither a file nor a folder")
    try:
        return msgspec.json.decode(file.read_bytes(), type=_SuiteResult)
    except OSError as error:
        raise UsageError(f"the baseline `{file}` cannot be read: {error.strerror}") from error
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise UsageError(f"the baseline `{file}` is not a suite result: {error}") from error
