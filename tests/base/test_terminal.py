"""Text for a terminal: nothing that it would obey, in the columns that it takes."""

from __future__ import annotations

import io
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalc.base.terminal import Screen, cells, padded, painted, shortened, visible


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain — text ✓", "plain — text ✓"),
        ("\x1b[31mred\x1b[0m", r"\x1b[31mred\x1b[0m"),
        ("\x9b31m", r"\x9b31m"),
        ("a\tb\r\nc", r"a\tb\r\nc"),
        ("\x07\x00", r"\x07\x00"),
        ("evil\u202etxt", r"evil\u202etxt"),
        ("\u2028", r"\u2028"),
        ("\ud800", r"\ud800"),
        ("\U000e0041", r"\U000e0041"),
        ("a\u00a0b", "a\u00a0b"),
        ("👩\u200d💻", "👩\u200d💻"),
    ],
)
def test_characters_that_a_terminal_obeys_or_hides_are_escaped(text: str, shown: str) -> None:
    assert visible(text) == shown


@pytest.mark.parametrize(("name", "shown"), [("\udcc3\udcbc.yaml", "ü.yaml"), ("\udcc3.yaml", r"\udcc3.yaml")])
def test_names_that_python_took_for_ascii_are_read(monkeypatch: pytest.MonkeyPatch, name: str, shown: str) -> None:
    monkeypatch.setattr("evalc.base.terminal._NAMES_ARE_UTF_8", False)
    assert visible(name) == shown


@given(st.text())
def test_no_control_and_no_surrogate_survives(text: str) -> None:
    shown = visible(text)
    assert not [c for c in shown if unicodedata.category(c) in ("Cc", "Cs", "Zl", "Zp")]
    assert not set(shown) & set("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200e\u200f")
    assert visible(shown) == shown
    shown.encode("utf-8")


@pytest.mark.parametrize(
    ("text", "width"), [("abc", 3), ("天気", 4), ("e\u0301", 1), ("\uff21\uff22", 4), ("👩\u200d", 2), ("", 0)]
)
def test_cells(text: str, width: int) -> None:
    assert cells(text) == width


@given(st.text(), st.integers(0, 20))
def test_shortened_fits_and_is_the_text_where_it_does(text: str, width: int) -> None:
    shown = visible(text)
    short = shortened(shown, width)
    assert cells(short) <= width
    assert (short == shown) == (cells(shown) <= width)


def test_padded_counts_cells() -> None:
    assert padded("天気", 6) == "天気  "
    assert padded("long", 2) == "long"


def test_painted_only_when_on() -> None:
    assert painted("x", "red", on=True) == "\x1b[1;31mx\x1b[0m"
    assert painted("x", "red", on=False) == "x"
    assert painted("", "red", on=True) == ""


class Terminal(io.TextIOWrapper):
    """A stream that says that it is a terminal."""

    def __init__(self, encoding: str = "utf-8") -> None:
        super().__init__(io.BytesIO(), encoding=encoding)

    def isatty(self) -> bool:
        return True


def test_a_terminal_has_colours_and_its_own_width() -> None:
    assert Screen.of(Terminal(), {"COLUMNS": "100"}) == Screen(color=True, width=100, unicode=True)


@pytest.mark.parametrize("environ", [{"NO_COLOR": "1"}, {"TERM": "dumb"}])
def test_colours_can_be_declined(environ: dict[str, str]) -> None:
    assert not Screen.of(Terminal(), {"COLUMNS": "100", **environ}).color


def test_an_empty_no_color_declines_nothing() -> None:
    assert Screen.of(Terminal(), {"NO_COLOR": ""}).color


@pytest.mark.parametrize(("columns", "width"), [("12", 40), ("0", 80), ("x", 80), ("9" * 5000, 99999)])
def test_a_width_is_at_least_forty_columns(columns: str, width: int) -> None:
    assert Screen.of(Terminal(), {"COLUMNS": columns}).width == width


def test_colours_can_be_asked_for_anywhere() -> None:
    plain = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
    assert Screen.of(plain, {"FORCE_COLOR": "1"}).color
    assert not Screen.of(plain, {"FORCE_COLOR": "1", "NO_COLOR": "1"}).color
    assert not Screen.of(plain, {"FORCE_COLOR": ""}).color


def test_a_pipe_has_no_colours() -> None:
    plain = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
    assert Screen.of(plain, {"COLUMNS": "50"}) == Screen(color=False, width=120, unicode=True)


def test_an_encoding_without_the_symbols_is_noticed() -> None:
    assert not Screen.of(Terminal("ascii"), {}).unicode
    assert not Screen.of(Terminal("latin-1"), {}).unicode
