"""From the name of an earlier run to which of its cases passed (contract, Baseline Diffing)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
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


class _PastSuite(msgspec.Struct, frozen=True, rename="camel"):
    """What a comparison needs of an EvalSuiteResult, of whichever runner."""

    tool_name: str
    tier: str
    cases: tuple[_PastCase, ...]
    run_id: str | None = None


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Baseline:
    """An earlier run: by tool and tier, which case ids passed."""

    run_id: str
    suites: Mapping[tuple[str, str], Mapping[str, bool]]

    def of(self, tool_name: str, tier: str) -> Mapping[str, bool] | None:
        """Which cases of a suite passed then; None where the run did not have it."""
        return self.suites.get((tool_name, tier))


def find_baseline(name: str, output_dir: Path) -> Baseline | None:
    """The run called `name`: a run id, `latest`, or the path of a result file or of a run's folder.

    None where the latest run is asked for and there is none yet.

    Raises:
        UsageError: there is no such run, or its results cannot be read.
    """
    if name == LATEST:
        folders = sorted(_run_folders(output_dir), key=_age, reverse=True)
        return _load(_result_files(folders[0]), folders[0]) if folders else None
    folder = output_dir / name
    path = folder if _is_plain_name(name) and folder.is_dir() else Path(name)
    if path.is_file():
        return _load([path], path)
    if not path.is_dir():
        raise UsageError(f"the baseline `{name}` is neither a run in `{output_dir}` nor a result file or folder")
    files = _result_files(path)
    if not files:
        raise UsageError(f"the baseline `{path}` holds no results: the run did not end")
    return _load(files, path)


def _is_plain_name(name: str) -> bool:
    return Path(name).name == name


def _run_folders(output_dir: Path) -> Iterable[Path]:
    """The folders of runs that ended."""
    try:
        return [folder for folder in output_dir.iterdir() if folder.is_dir() and _result_files(folder)]
    except OSError:
        return []


def _result_files(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.json"))


def _age(folder: Path) -> tuple[float, str]:
    began = began_at(folder.name)
    return (folder.stat().st_mtime if began is None else began, folder.name)


def _load(files: Iterable[Path], origin: Path) -> Baseline:
    suites: dict[tuple[str, str], dict[str, bool]] = {}
    run_id: str | None = None
    for file in files:
        suite = _read(file)
        suites[suite.tool_name, suite.tier] = {case.id: case.passed for case in suite.cases}
        run_id = run_id or suite.run_id
    return Baseline(run_id=run_id or origin.name, suites=suites)


def _read(file: Path) -> _PastSuite:
    try:
        return msgspec.json.decode(file.read_bytes(), type=_PastSuite)
    except OSError as error:
        raise UsageError(f"the baseline `{file}` cannot be read: {error.strerror}") from error
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise UsageError(f"the baseline `{file}` is not a suite result: {error}") from error
