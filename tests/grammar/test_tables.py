"""The saved tables: fresh, used where they fit, done without where they do not; no lark before the first parse."""

from __future__ import annotations

import logging
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import lark
import pytest

from evalc.grammar import build_tables, lark_tables
from evalc.grammar.lark_tables import STARTS, Language, grammar, load, read, table, table_path

LANGUAGES = tuple(STARTS)


def contents(parser: lark.Lark) -> tuple[Any, ...]:
    """What a parser is made of, without the numbers of its states, which differ from build to build."""
    terminals = sorted((each.name, each.pattern.to_regexp(), each.priority) for each in parser.terminals)
    rules = sorted(
        (str(rule.origin.name), [str(symbol.name) for symbol in rule.expansion], str(rule.alias))
        for rule in parser.rules
    )
    return terminals, rules, sorted(parser.options.start), parser.options.lexer, parser.options.maybe_placeholders


@pytest.fixture
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder of tables of its own, and nothing loaded yet."""
    monkeypatch.setattr(lark_tables, "table_path", lambda language: tmp_path / f"{language}.bin")
    load.cache_clear()
    yield tmp_path
    load.cache_clear()


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_saved_table_is_fresh(language: Language) -> None:
    saved, current = table_path(language).read_bytes(), table(language)
    if saved.partition(b"\n")[0] != current.partition(b"\n")[0]:
        pytest.skip("saved by another lark or Python")
    assert saved.partition(b"\0")[0] == current.partition(b"\0")[0], "run `python -m evalc.grammar.build_tables`"
    load.cache_clear()
    assert contents(load(language)) == contents(lark_tables.build(language))


@pytest.mark.parametrize("spoiled", [None, b"", b"lark 0.0.0 python 3.0\n"])
def test_a_table_that_does_not_fit_is_done_without(elsewhere: Path, spoiled: bytes | None) -> None:
    if spoiled is not None:
        (elsewhere / "criterion.bin").write_bytes(spoiled)
    assert not isinstance(read("criterion", "criterion", "clarity (0.3)"), lark_tables.Stumble)


def test_a_table_is_taken_where_it_fits(elsewhere: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (elsewhere / "criterion.bin").write_bytes(table("criterion"))
    monkeypatch.delattr(lark_tables, "build")
    assert not isinstance(read("criterion", "criterion", "clarity (0.3)"), lark_tables.Stumble)


def test_the_tables_are_written_where_they_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(build_tables, "table_path", lambda language: tmp_path / f"{language}.bin")
    build_tables.main()
    assert sorted(path.stem for path in tmp_path.iterdir()) == sorted(LANGUAGES)


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_grammar_has_no_conflicts(language: Language, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG, logger=lark.logger.name):
        lark.Lark(grammar(language), parser="lalr", start=list(STARTS[language]), debug=True)
    assert [record.message for record in caplog.records if "conflict" in record.message.lower()] == []


def test_the_front_door_opens_without_lark() -> None:
    program = (
        "import sys; from evalc.grammar.parse import parse_check, parse_template; parse_template('plain');"
        "assert 'lark' not in sys.modules; parse_check('json'); assert 'lark' in sys.modules"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
