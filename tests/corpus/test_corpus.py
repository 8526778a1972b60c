"""The corpus: each mistake yields exactly its code at its line and column, and the valid files yield nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

import evalc
from evalc.config.load import load_settings
from evalc.diagnostics.catalogue import entries
from tests.corpus.mistakes import MISTAKES, VALID, Mistake

NOT_EVALS = {"evalc.toml", "prompt.txt", "weather.schema.json"}
VALID_FILES = sorted(path for path in VALID.iterdir() if path.is_file() and path.name not in NOT_EVALS)

ADVICE = frozenset(("EV427", "EV436"))
"""Warnings that spellings of the corpus bring: of arguments whose call nothing asks for, of meanings that changed."""

ELSEWHERE = {
    "EV158": "is about a schema's file: tests/compiler/test_schema_advice.py",
    "EV159": "likewise",
    "EV161": "is about languages: tests/grammar/test_units_and_languages.py",
    "EV162": "is about lists in a line: tests/grammar/test_read_faults.py",
    "EV163": "is about mappings of other tools: tests/dsl/test_meant.py",
    "EV170": "is about mappings that name predicates: tests/dsl/test_asked.py",
    "EV180": "takes nested rows: tests/compiler/test_paths.py",
    "EV181": "takes a template without quotes: tests/compiler/test_blanks.py",
    "EV211": "takes a folder of prompts: tests/compiler",
    "EV222": "takes a file of checks: tests/cli/test_project_checks.py",
    "EV223": "likewise",
    "EV224": "is about braces of other tools: tests/compiler/test_silent.py",
    "EV225": "is about templates in stubs: tests/compiler/test_stubs.py",
    "EV230": "takes a tool registry: tests/compiler/passes/test_tools.py",
    "EV231": "likewise",
    "EV232": "likewise",
    "EV233": "likewise",
    "EV234": "likewise",
    "EV235": "likewise",
    "EV413": "is reported by `compile` alone: tests/cli",
    "EV420": "is reported by the command line alone: tests/cli/test_judge_needed.py",
    "EV427": "is about a whole case: tests/compiler/passes/test_vacuity.py",
    "EV436": "is about earlier versions: tests/conformance",
    "EV437": "is about halves of a line: tests/grammar/test_unclear_halves.py",
    "EV438": "is about words in a mapping or a path: tests/dsl/test_asked.py",
    "EV439": "is about the name of an argument: tests/dsl/test_asked.py",
    "EV440": "is about a number right behind a measure: tests/dsl/test_asked.py",
    "EV442": "is about several checks below `not`: tests/dsl/test_asked.py",
    "EV441": "is about what several contain: tests/dsl/test_asked.py",
    "EV450": "takes a lock file: tests/cli/test_lock.py",
    "EV451": "likewise",
    "EV452": "is about the lock file: likewise",
    "EV453": "likewise",
    "EV602": "takes a file without permissions: tests/base/test_files.py",
    "EV603": "takes a symbolic link: tests/faults/test_hostile_sources.py",
    "EV604": "takes 32 MB: likewise",
    "EV605": "takes bytes that are no text: likewise",
    "EV606": "likewise",
    "EV607": "likewise",
    "EV613": "is found in a file of rows: tests/compiler",
    "EV614": "likewise",
    "EV616": "takes a symbolic link: tests/compiler/test_skipped.py",
    "EV617": "likewise",
    "EV618": "takes a symbolic link: tests/faults/test_links_out.py",
    "EV619": "is about files that a search finds: tests/compiler/test_skipped.py",
    "EV624": "is about a configuration in JSON: tests/config",
    "EV641": "takes a result file: tests/compiler",
    "EV642": "is about evals of Agent Skills: tests/compiler/test_skills.py",
    "EV643": "likewise",
    "EV650": "is reported by `fmt` alone",
    "EV651": "is reported by `import` alone",
    "EV652": "likewise",
    "EV653": "likewise",
    "EV654": "likewise",
    "EV655": "likewise",
    "EV656": "likewise",
    "EV660": "is about a tool registry: tests/tools",
    "EV661": "likewise",
    "EV662": "likewise",
    "EV663": "likewise",
    "EV664": "likewise",
    "EV665": "likewise",
    "EV666": "likewise",
    "EV667": "likewise",
    "EV695": "is about a schema's file: tests/compiler/test_schema_advice.py",
}
"""The codes that no single change of one file's text yields."""


def found(mistake: Mistake, folder: Path) -> list[tuple[str, int, int]]:
    """The code, line and column of every problem."""
    if mistake.base.endswith(".toml"):
        (folder / mistake.base).write_text(mistake.text, encoding="utf-8")
        problems = load_settings(folder).problems
    else:
        problems = evalc.check(evalc.Source(str(VALID / mistake.base), mistake.text))
    return [(problem.code, *problem.start) for problem in problems if problem.code not in ADVICE - {mistake.code}]


def parameters() -> list[object]:
    """Every mistake, those that are not found yet marked as such."""
    return [
        pytest.param(
            mistake,
            id=f"{mistake.base}: {mistake.what}",
            marks=[pytest.mark.xfail(reason=mistake.not_yet, strict=True)] if mistake.not_yet else [],
        )
        for mistake in MISTAKES
    ]


@pytest.mark.parametrize("mistake", parameters())
def test_a_mistake_yields_its_code_at_its_place_and_nothing_else(mistake: Mistake, tmp_path: Path) -> None:
    assert found(mistake, tmp_path) == [(mistake.code, mistake.line, mistake.column)]


@pytest.mark.parametrize("file", VALID_FILES, ids=lambda file: file.name)
def test_a_valid_file_yields_nothing(file: Path) -> None:
    assert [str(problem) for problem in evalc.check(file) if problem.code not in ADVICE] == []


def test_the_valid_configuration_yields_nothing() -> None:
    assert list(load_settings(VALID).problems) == []


def test_the_corpus_is_large_and_each_of_its_mistakes_is_another() -> None:
    assert len(VALID_FILES) >= 12
    assert len([mistake for mistake in MISTAKES if not mistake.not_yet]) >= 150
    assert len({(mistake.base, mistake.text) for mistake in MISTAKES}) == len(MISTAKES)


def test_every_code_is_in_the_corpus_or_has_a_reason_not_to_be() -> None:
    covered = {mistake.code for mistake in MISTAKES}
    assert set(entries()) - covered == set(ELSEWHERE) & set(entries())
