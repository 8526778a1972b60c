"""Seed manifests and snapshots."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from evalc.base.errors import UsageError
from evalc.runtime.run.tokens import load_seed, load_snapshot, parse_snapshot

LOADERS: list[Callable[[Path], Any]] = [load_seed, load_snapshot]


@pytest.mark.parametrize("load", LOADERS)
def test_an_object_is_read(tmp_path: Path, load: Callable[[Path], Any]) -> None:
    (tmp_path / "s.json").write_text('\ufeff{"a": [1.5, null]}')
    assert load(tmp_path / "s.json") == {"a": [1.5, None]}


@pytest.mark.parametrize("load", LOADERS)
@pytest.mark.parametrize(
    ("data", "where"),
    [
        (b'{\n "a": oops}', "s.json:2:7"),
        (b"[1]", "s.json:1:1"),
        (b'{"a": NaN}', "s.json"),
        (b'{"a":\n "\xff"}', "s.json:2"),
        (b"", "s.json:1:1"),
        (b"[" * 100_000, "s.json"),
        (b'{"a": ' + b"9" * 5000 + b"}", "s.json"),
    ],
)
def test_all_else_is_refused_with_its_place(
    tmp_path: Path, load: Callable[[Path], Any], data: bytes, where: str
) -> None:
    (tmp_path / "s.json").write_bytes(data)
    with pytest.raises(UsageError) as caught:
        load(tmp_path / "s.json")
    assert str(caught.value).startswith(f"{tmp_path}/{where}: the ")


@pytest.mark.parametrize("load", LOADERS)
def test_a_file_that_is_not_there_is_refused(tmp_path: Path, load: Callable[[Path], Any]) -> None:
    for path in (tmp_path / "gone.json", tmp_path):
        with pytest.raises(UsageError, match=r"cannot be read|is a folder, not a file"):
            load(path)


def test_a_snapshot_from_elsewhere_names_its_origin() -> None:
    assert parse_snapshot(b"{}", "http://x/") == {}
    with pytest.raises(UsageError, match="http://x/:1:1: the snapshot is not a JSON object"):
        parse_snapshot(b"1", "http://x/")


@pytest.mark.parametrize("load", LOADERS)
def test_an_endless_file_is_refused(
    load: Callable[[Path], Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("evalc.runtime.run.tokens._LARGEST", 1_000)
    with pytest.raises(UsageError, match=r"`/dev/zero` is a device, not a file"):
        load(Path("/dev/zero"))
    (tmp_path / "large.json").write_text(" " * 1_001)
    with pytest.raises(UsageError, match=r"is larger than 0 MB"):
        load(tmp_path / "large.json")
