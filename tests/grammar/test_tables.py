"""The saved tables: fresh, used where they fit, made anew where they do not; no lark where one fits."""

from __future__ import annotations

import logging
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import lark
import pytest

from evalc.grammar import build_tables, lalr
from evalc.grammar.lalr import STARTS, Language, Stumble, build, encoded, grammar, load, read, table_path

LANGUAGES = tuple(STARTS)


@pytest.fixture
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder of tables of its own, and nothing loaded yet."""
    monkeypatch.setattr(lalr, "table_path", lambda language: tmp_path / f"{language}.table.json")
    load.cache_clear()
    yield tmp_path
    load.cache_clear()


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_saved_table_is_fresh(language: Language) -> None:
    assert table_path(language).read_bytes() == encoded(build(language)), "run `python -m evalc.grammar.build_tables`"


@pytest.mark.parametrize("spoiled", [None, b"", b"{}", encoded(build("criterion")).replace(b"NAME", b"WORD")])
def test_a_table_that_does_not_fit_is_done_without(elsewhere: Path, spoiled: bytes | None) -> None:
    if spoiled is not None:
        (elsewhere / "criterion.table.json").write_bytes(spoiled)
    assert not isinstance(read("criterion", "criterion", "clarity (0.3)"), Stumble)


def test_a_table_is_taken_where_it_fits(elsewhere: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (elsewhere / "criterion.table.json").write_bytes(encoded(build("criterion")))
    monkeypatch.delattr(lalr, "build")
    assert not isinstance(read("criterion", "criterion", "clarity (0.3)"), Stumble)


def test_the_tables_are_written_where_they_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(build_tables, "table_path", lambda language: tmp_path / f"{language}.table.json")
    build_tables.main()
    written = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert written == {table_path(language).name: table_path(language).read_bytes() for language in LANGUAGES}


def with_grammar(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setattr(lalr, "grammar", lambda _language: text)


def test_a_terminal_without_a_name_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with_grammar(monkeypatch, 'criterion: NAME "!"\nNAME: /[a-z]+/')
    with pytest.raises(ValueError, match="a terminal of `criterion` has no name"):
        build("criterion")


def test_a_word_that_is_also_a_name_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with_grammar(monkeypatch, 'criterion: NAME | WORD\nNAME: /[a-z]+/\nWORD: "word"')
    with pytest.raises(ValueError, match="also matched by another terminal"):
        build("criterion")


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_grammar_has_no_conflicts(language: Language, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG, logger=lark.logger.name):
        lark.Lark(grammar(language), parser="lalr", start=list(STARTS[language]), debug=True)
    assert [record.message for record in caplog.records if "conflict" in record.message.lower()] == []


def test_reading_needs_no_lark() -> None:
    program = (
        "import sys; from evalc.grammar.parse import parse_check, parse_template, parse_rule, parse_criterion;"
        "assert parse_check('json').node and parse_template('{{a}}').node and parse_criterion('a (0.5): b').node;"
        "assert parse_rule('regex', '/a/').node and parse_check('not json or').faults;"
        "assert 'lark' not in sys.modules"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
