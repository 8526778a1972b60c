"""pass@k and pass^k, against all sets of k attempts."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import evalc
from evalc.compare.totals import RepeatedCases
from evalc.model.result import PASSING, Status
from evalc.report.console import repeats_line
from evalc.runtime.agents.python import PythonAgent

STATUSES: st.SearchStrategy[Status] = st.sampled_from(["passed", "failed", "error", "unverified"])


@given(st.lists(st.lists(STATUSES, min_size=1, max_size=7).map(tuple), min_size=1, max_size=5))
def test_they_are_shares_of_all_sets_of_k_attempts(cases: list[tuple[Status, ...]]) -> None:
    repeated = RepeatedCases()
    for case in cases:
        repeated.add(case, cut_short=False)
    answered = [[status in PASSING for status in case if status != "error"] for case in cases]
    for summary in repeated.summaries():
        sets = [list(combinations(case, summary.k)) for case in answered if len(case) >= summary.k]
        assert summary.cases == len(sets)
        at = sum(sum(map(any, each)) / len(each) for each in sets) / len(sets)
        hat = sum(sum(map(all, each)) / len(each) for each in sets) / len(sets)
        assert [summary.pass_at_k, summary.pass_hat_k] == pytest.approx([at, hat])
    most = max(map(len, answered))
    assert [summary.k for summary in repeated.summaries()] == sorted({k for k in (1, 2, 4, most) if 0 < k <= most})


SUITE = """
eval:
  test_cases:
    - {name: a, message: x, validate: [contains "yes"]}
    - {name: b, message: y, validate: [json]}
"""


def test_a_run_reports_them(tmp_path: Path) -> None:
    answers = iter(["yes", "yes", "no", "yes", *["no"] * 4])
    agent = PythonAgent.around(lambda _: next(answers))
    run = evalc.run(evalc.Source("s.eval.yaml", SUITE), agent=agent, output_dir=tmp_path, repeat=4, concurrency=1)
    (result,) = run.suites
    assert result.summary.repeats
    assert [(each.k, each.cases) for each in result.summary.repeats] == [(1, 2), (2, 2), (4, 2)]
    once, _, most = result.summary.repeats
    assert (once.pass_at_k, once.pass_hat_k) == (0.375, 0.375)
    assert (most.pass_at_k, most.pass_hat_k) == (0.5, 0.0)
    assert repeats_line(result.summary) == "pass@1 0.38 | pass@4 0.50 | pass^4 0.00 over 2 repeated cases"
