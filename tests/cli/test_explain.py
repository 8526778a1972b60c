"""`evalc explain`."""

from __future__ import annotations

from evalc.diagnostics.catalogue import entries
from tests.cli.conftest import Invoke


def test_a_code_is_understood_however_it_is_spelt(invoke: Invoke) -> None:
    for code in ("EV203", "ev203", "203", "EV2O3", "2o3"):
        outcome = invoke("explain", code)
        assert (outcome.code, outcome.out) == (0, entries()["EV203"].explanation())


def test_without_a_code_all_are_listed(invoke: Invoke) -> None:
    outcome = invoke("explain")
    assert outcome.code == 0
    assert [line[:5] for line in outcome.out.splitlines()] == list(entries())
    assert "EV203  A check that does not exist.\n" in outcome.out


def test_an_unknown_code(invoke: Invoke) -> None:
    outcome = invoke("explain", "EV000")
    assert (outcome.code, outcome.err) == (2, "error: `EV000` is not a code; `evalc explain` lists them all\n")
