"""Records at the end of a run beside its suites: kept, read back, and never in the way."""

from __future__ import annotations

from pathlib import Path

import pytest

from evalc.model.result import GateResult
from evalc.model.suite import Selected
from evalc.runtime.store.redact import Redactor
from evalc.runtime.store.runs import CLOSING_FILE, Closing, read_closing, write_closing

CLOSING = Closing(
    gates=(GateResult(gate="minPassRate", limit=0.9, value=0.5, passed=False),),
    below=("weather (labeled): threshold: score 0.5 is below 0.9",),
    selected=Selected(cases=1, of=2, by=("-k x",)),
    warnings=("look out",),
)


def test_it_is_read_as_it_was_written_and_gone_where_there_is_nothing_to_say(tmp_path: Path) -> None:
    assert write_closing(tmp_path, CLOSING, None) is None
    assert read_closing(tmp_path) == (CLOSING, ())
    assert write_closing(tmp_path, Closing(), None) is None
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
    warning = write_closing(tmp_path / "gone", CLOSING, None)
    assert warning is not None
    assert warning.startswith("`evalc show` will not know the gates and warnings of the run: ")
