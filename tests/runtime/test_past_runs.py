"""Finding an earlier run by its name: every command finds it in the same way."""

from __future__ import annotations

from pathlib import Path

import pytest

from evalc.base.errors import UsageError
from evalc.runtime.store.runs import find_folder, has_results, steps_back
from tests.support.past import NEW, OLD, result, save


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    """An output folder with two runs that ended, and a later run that did not."""
    save(tmp_path, result(True, run_id=OLD))
    save(tmp_path, result(True, run_id=NEW))
    (tmp_path / "01a00000-0000-7000-8000-000000000000").mkdir()
    (tmp_path / "history.db").write_bytes(b"")
    return tmp_path


@pytest.mark.parametrize(
    ("name", "found"),
    [("latest", NEW), ("latest~0", NEW), ("latest~1", OLD), (OLD, OLD), ("0199", NEW), ("01890", OLD)],
)
def test_by_age_id_and_the_beginning_of_an_id(runs: Path, name: str, found: str) -> None:
    assert find_folder(name, runs, has_results) == runs / found


def test_by_path(runs: Path) -> None:
    assert find_folder(str(runs / OLD), runs / "elsewhere", has_results) == runs / OLD


@pytest.mark.parametrize(
    "name", ["gone", "019", "01a0", "latest~", "latest~x", "latest~-1", "Latest", "x" * 5000, "a\0b", "../gone"]
)
def test_names_of_no_run_are_errors(runs: Path, name: str) -> None:
    assert find_folder(name, runs, has_results) is None


def test_an_empty_name_is_not_the_working_folder(runs: Path) -> None:
    with pytest.raises(UsageError, match="an empty text names no run"):
        find_folder("", runs, has_results)


def test_a_beginning_of_several_is_refused(runs: Path) -> None:
    save(runs, result(True, run_id=f"{OLD[:-1]}1"))
    with pytest.raises(UsageError, match=f"2 runs begin with `0189`: `{OLD}`, `{OLD[:-1]}1`"):
        find_folder("0189", runs, has_results)
    assert find_folder(OLD, runs, has_results) == runs / OLD


def test_further_back_than_there_are_runs(runs: Path) -> None:
    with pytest.raises(UsageError, match=r"there are only 2 runs in `.*`, so none is `latest~2`"):
        find_folder("latest~2", runs, has_results)
    assert find_folder("latest~2", runs / "gone", has_results) is None


def test_a_folder_called_latest_is_reached_by_its_path(runs: Path) -> None:
    save(runs, result(True), run="latest")
    assert steps_back("latest") == 0
    assert find_folder(str(runs / "latest"), runs, has_results) == runs / "latest"
