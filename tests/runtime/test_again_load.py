"""The suite of a result file, whose cases are read one at a time where the file is laid out as evalc does it."""

from __future__ import annotations

import json
import tracemalloc
from collections import deque
from pathlib import Path

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evalc.base.errors import UsageError
from evalc.model.result import CaseResult, SkippedCase, SuiteResult
from evalc.runtime.run.again_load import read_suite
from tests.report.results import case, suite

TEXTS = st.text(max_size=20) | st.sampled_from(["\n    }\n  ]", '  "cases": [', "    {", "\u2028", "\r\n"])
SKIPPED = SkippedCase(id="s", description="d", reason='\n  ],\n  "skipped": [', archived=False)


def result_of(cases: list[CaseResult], skipped: int = 0) -> SuiteResult:
    made = suite(*cases)
    summary = msgspec.structs.replace(made.summary, total_cases=len(cases), skipped=skipped)
    return msgspec.structs.replace(made, cases=tuple(cases), skipped=(SKIPPED,) * skipped, summary=summary)


def written(folder: Path, result: SuiteResult, indent: int = 2) -> Path:
    file = folder / "weather.labeled.json"
    file.write_bytes(msgspec.json.format(msgspec.json.encode(result), indent=indent) + b"\n")
    return file


@settings(deadline=None)
@given(texts=st.lists(TEXTS, max_size=4), skipped=st.integers(0, 2), indent=st.sampled_from([2, 2, 0, 1, 4]))
def test_results_read_back_as_written(
    tmp_path_factory: pytest.TempPathFactory, texts: list[str], skipped: int, indent: int
) -> None:
    cases = [msgspec.structs.replace(case(f"c{n}"), description=text) for n, text in enumerate(texts)]
    result = result_of(cases, skipped)
    read = read_suite(written(tmp_path_factory.mktemp("run"), result, indent))
    for _ in range(2):
        assert tuple(read.cases) == result.cases
        assert tuple(read.skipped) == result.skipped
    assert read.result == msgspec.structs.replace(result, cases=(), skipped=())


def test_a_result_of_another_program_is_read_too(tmp_path: Path) -> None:
    result = result_of([case("a"), case("b")])
    data = json.loads(msgspec.json.encode(result))
    file = tmp_path / "weather.labeled.json"
    for text in (json.dumps(data), json.dumps(data, indent=2), json.dumps(dict(reversed(data.items())), indent=2)):
        file.write_text(text)
        assert tuple(read_suite(file).cases) == result.cases


@pytest.mark.parametrize("text", ["", "{}", "[]", '{\n  "cases": [\n    {\n    }\n  ]\n}', '{\n  "cases": [\n    {\n'])
def test_files_that_are_no_results_are_reported(tmp_path: Path, text: str) -> None:
    file = tmp_path / "x.json"
    file.write_text(text)
    with pytest.raises(UsageError, match="is not a suite result"):
        read_suite(file)


@pytest.mark.parametrize(("old", "new"), [('"passed": true', '"passed": 1'), ('"response"', f'"x": {"[" * 100_000}')])
def test_a_damaged_case_is_reported_when_it_is_its_turn(tmp_path: Path, old: str, new: str) -> None:
    file = written(tmp_path, result_of([case("a"), case("b")]))
    head, found, tail = file.read_text().rpartition(old)
    assert found
    file.write_text(head + new + tail)
    cases = iter(read_suite(file).cases)
    assert next(cases).id == "a"
    with pytest.raises(UsageError, match=f"the file `{file}` is not a suite result: "):
        next(cases)


def test_memory_does_not_grow_with_the_cases(tmp_path: Path) -> None:
    def peak(cases: int) -> int:
        file = written(tmp_path, result_of([case(f"c{n}") for n in range(cases)]))
        tracemalloc.start()
        deque(read_suite(file).cases, maxlen=0)
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return most

    peak(10)
    assert peak(4_000) < 2 * peak(400)
