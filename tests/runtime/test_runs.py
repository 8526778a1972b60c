"""Ids of runs, earlier runs by their names, and the file that closes a run."""

from __future__ import annotations

import time
import uuid
from pathlib import Path

import pytest

from evalc.base.errors import UsageError
from evalc.model.result import GateResult
from evalc.model.suite import Selected
from evalc.runtime.store.redact import NO_SECRETS, Redactor
from evalc.runtime.store.runs import (
    CLOSING_FILE,
    Closing,
    began_at,
    find_folder,
    has_results,
    new_run_id,
    read_closing,
    steps_back,
    write_closing,
)
from tests.support.past import NEW, OLD, result, save


def test_an_id_is_a_uuid_of_version_7_that_sorts_by_time(monkeypatch: pytest.MonkeyPatch) -> None:
    ids = []
    for seconds in (1, 2, 1_800_000_000):
        monkeypatch.setattr(time, "time_ns", lambda seconds=seconds: seconds * 10**9 + 5_000_000)
        ids.append(new_run_id())
        assert began_at(ids[-1]) == seconds + 0.005
    assert sorted(ids) == ids
    assert {(uuid.UUID(each).version, uuid.UUID(each).variant) for each in ids} == {(7, uuid.RFC_4122)}


def test_ids_of_one_moment_differ() -> None:
    assert len({new_run_id() for _ in range(1000)}) == 1000


def test_later_runs_sort_later_though_the_clock_was_ahead(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time, "time_ns", lambda: 4_000_000_000 * 10**9)
    ahead = new_run_id(tmp_path)
    monkeypatch.setattr(time, "time_ns", lambda: 1_800_000_000 * 10**9)
    assert new_run_id(tmp_path) < ahead, "it is not there"
    for name in (ahead, "ffffffff-ffff-7fff-bfff-ffffffffffff", "zzz"):
        (tmp_path / name).mkdir()
    for _ in range(3):
        later = new_run_id(tmp_path)
        assert max(ahead, later) == later
        (tmp_path / later).mkdir()
        ahead = later


def test_other_names_have_no_time() -> None:
    assert began_at(str(uuid.uuid4())) is None
    assert began_at("latest") is None


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


CLOSING = Closing(
    gates=(GateResult(gate="minPassRate", limit=0.9, value=0.5, passed=False),),
    below=("weather (labeled): threshold: score 0.5 is below 0.9",),
    selected=Selected(cases=1, of=2, by=("-k x",)),
    warnings=("look out",),
)


def test_it_is_read_as_it_was_written_and_gone_where_there_is_nothing_to_say(tmp_path: Path) -> None:
    assert write_closing(tmp_path, CLOSING, NO_SECRETS) is None
    assert read_closing(tmp_path) == (CLOSING, ())
    assert write_closing(tmp_path, Closing(), NO_SECRETS) is None
    assert list(tmp_path.iterdir()) == []
    assert read_closing(tmp_path) == (Closing(), ())


def test_secrets_do_not_reach_it(tmp_path: Path) -> None:
    write_closing(tmp_path, Closing(warnings=("hunter2hunter2",)), Redactor(["hunter2hunter2"]))
    assert b"hunter2" not in (tmp_path / CLOSING_FILE).read_bytes()


@pytest.mark.parametrize("data", [b"", b"{", b"[]", b'{"gates": [{}]}', b'"\xff"', b"[" * 100_000])
def test_whatever_stands_there_a_warning_is_all_that_comes_of_it(tmp_path: Path, data: bytes) -> None:
    (tmp_path / CLOSING_FILE).write_bytes(data)
    closing, [warning] = read_closing(tmp_path)
    assert closing == Closing()
    assert "is not what a run said at its end" in warning


def test_a_folder_that_is_gone_is_a_warning(tmp_path: Path) -> None:
    warning = write_closing(tmp_path / "gone", CLOSING, NO_SECRETS)
    assert warning is not None
    assert warning.startswith("`evalc show` will not know the gates and warnings of the run: ")
