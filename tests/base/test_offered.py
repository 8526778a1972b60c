"""Names that installed packages offer, without an import, and the objects behind them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from evalc import base
from evalc.base.errors import UsageError
from tests.support.packages import install

BROKEN = "raise RuntimeError('imported')"


def test_names_are_known_without_an_import(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(tmp_path, monkeypatch, module="offering_names", source=BROKEN, checks={"b": "f", "a.c": "f"})
    assert base.names_offered("evalc.checks") == ("a.c", "b")
    assert "offering_names" not in sys.modules


def test_a_name_leads_to_its_object(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(tmp_path, monkeypatch, module="offering_one", source="class here:\n    it = 42", checks={"a": "here.it"})
    assert base.load_offered("evalc.checks", "a") == 42


def test_a_name_that_nobody_offers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(tmp_path, monkeypatch, module="offering_other", source="", checks={"a": "f"})
    with pytest.raises(UsageError, match=r"^no installed package offers `b`$"):
        base.load_offered("evalc.checks", "b")


def test_a_name_that_two_packages_offer_is_neither_of_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(tmp_path / "1", monkeypatch, module="second", source=BROKEN, checks={"a": "f"})
    install(tmp_path / "2", monkeypatch, module="first", source=BROKEN, checks={"a": "f"})
    assert base.names_offered("evalc.checks") == ("a",)
    with pytest.raises(UsageError, match=r"^`a` is offered by several packages: `first`, `second`$"):
        base.load_offered("evalc.checks", "a")


def test_metadata_is_not_even_imported_before_it_is_needed() -> None:
    program = (
        "import sys, evalc.base, evalc.checks, evalc.runtime.checks.evaluate, evalc.grammar.parse;"
        "print('importlib.metadata' in sys.modules, 'rapidfuzz' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "False False\n", "")
