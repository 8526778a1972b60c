"""The collector is off while a file is compiled, and is afterwards what it was."""

from __future__ import annotations

import gc

import pytest

from evalc.base import collector_off


def test_the_collector_is_off_within_and_on_again_behind() -> None:
    assert gc.isenabled()
    with collector_off():
        assert not gc.isenabled()
    assert gc.isenabled()


def test_it_is_on_again_behind_an_exception() -> None:
    with pytest.raises(ValueError, match="broken"), collector_off():
        raise ValueError("broken")
    assert gc.isenabled()


def test_a_collector_that_was_off_stays_off() -> None:
    gc.disable()
    try:
        with collector_off():
            assert not gc.isenabled()
        assert not gc.isenabled()
    finally:
        gc.enable()
