"""Ids of runs."""

from __future__ import annotations

import time
import uuid
from pathlib import Path

import pytest

from evalc.runtime.store.runs import began_at, new_run_id


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
