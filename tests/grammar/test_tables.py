"""The saved tables: fresh, small, and all that reading needs; grammars that are not sound get none."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import lark
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalc.grammar import build_tables
from evalc.grammar.build_tables import STARTS, build, encoded
from evalc.grammar.lalr import Language, load, table_path

LANGUAGES = tuple(STARTS)


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_saved_table_is_fresh(language: Language) -> None:
    assert table_path(language).read_bytes() == encoded(build(language)), "run `python -m evalc.grammar.build_tables`"


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_table_is_small(language: Language) -> None:
    assert table_path(language).stat().st_size <= 68_000


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_two_states_are_the_same(language: Language) -> None:
    """Beside the states that end a text, in which nothing else may follow."""
    table = load(language)
    ends = {last for _, last in table.starts.values()}
    rows = [tuple(row.items()) for state, row in enumerate(table.states) if state not in ends]
    assert len(rows) == len(set(rows))
    assert len(table.rules) == len(set(table.rules))


def test_the_tables_are_written_where_they_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(build_tables, "table_path", lambda language: tmp_path / f"{language}.table.json")
    build_tables.main()
    written = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert written == {table_path(language).name: table_path(language).read_bytes() for language in LANGUAGES}


def with_grammar(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setattr(build_tables, "grammar", lambda _language: text)


def test_a_terminal_without_a_name_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with_grammar(monkeypatch, 'criterion: NAME "=>"\nNAME: /[a-z]+/')
    with pytest.raises(ValueError, match="a terminal of `criterion` has no name"):
        build("criterion")


def test_a_word_that_is_also_a_name_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with_grammar(monkeypatch, 'criterion: NAME | WORD\nNAME: /[a-z]+/\nWORD: "word"')
    with pytest.raises(ValueError, match="also matched by another terminal"):
        build("criterion")


@pytest.mark.parametrize(
    ("text", "conflict"),
    [
        ("criterion: a | b\na: NAME\nb: NAME\nNAME: /[a-z]+/", "Reduce/Reduce"),
        ("criterion: NAME | NAME criterion criterion\nNAME: /[a-z]+/", "Shift/Reduce"),
        ("criterion: NAME | WORD\nNAME: /[a-z]+/\nWORD: /word/", "Collision between Terminals"),
    ],
)
def test_a_grammar_with_a_conflict_is_refused(monkeypatch: pytest.MonkeyPatch, text: str, conflict: str) -> None:
    with_grammar(monkeypatch, text)
    with pytest.raises((lark.LarkError, lark.exceptions.LexError), match=conflict):
        build("criterion")


@pytest.mark.parametrize("language", LANGUAGES)
@given(st.data())
def test_tokens_begin_as_the_table_says(language: Language, data: st.DataObject) -> None:
    """A scanner is only made of the terminals that may begin with the next character."""
    terminal = data.draw(st.sampled_from(load(language).terminals))
    token = data.draw(st.from_regex(rf"\A(?:{terminal.pattern})"))
    assert token[0] in terminal.begins or not " " <= token[0] <= "~"


def test_reading_needs_no_lark() -> None:
    program = (
        "import sys; from evalc.grammar.parse import parse_template, parse_rule, parse_criterion, read_check;"
        "assert read_check('json').node and parse_template('{{a}}').node and parse_criterion('a (0.5): b').node;"
        "assert parse_rule('regex', '/a/').node and read_check('not json or').faults;"
        "assert 'lark' not in sys.modules"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
