"""Every conformance case that is a run: of one case, or of a whole eval file."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import evalc
from tests.conformance.documents import Entry, with_key
from tests.conformance.matching import differences
from tests.conformance.running import Outcome, run_entry


@with_key("case", "file")
def test_a_run(entry: Entry, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    expected = dict(entry["expected"])
    if expected.pop("rejected", False):
        assert not expected
        with pytest.raises(evalc.SourceError):
            run_entry(entry, tmp_path)
        assert not (tmp_path / "results").exists()
        return
    outcome = run_entry(entry, tmp_path)
    assert list(_unmet(expected, entry, outcome)) == []


def _unmet(expected: Entry, entry: Entry, outcome: Outcome) -> Iterator[str]:
    """The expectations that do not hold; those that are not about the result itself come first."""
    warnings = outcome.result["warnings"]
    for token in expected.pop("warnsOf", ()):
        if not any(token in warning for warning in warnings):
            yield f"no warning names {token}: {warnings}"
    if "sent" in expected:
        yield from differences([expected.pop("sent")], outcome.sent, at="sent")
    if "gated" in expected:
        yield from differences(expected.pop("gated"), outcome.gated, at="gated")
    result = outcome.result if "file" in entry else outcome.result["cases"][0]
    yield from differences(expected, result, names=outcome.names)
