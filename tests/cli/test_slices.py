"""Pass rates by tag, and by a column that fills a tag: in results, reports and comparisons."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from evalc.compare.suites import compare_suites
from evalc.compare.totals import Slices, wilson
from evalc.model.reports import ComparedCase, ComparedSuite
from evalc.model.result import SliceComparison
from tests.cli.conftest import Invoke

ROWS = ", ".join(f"{{id: {lang}{n}, lang: {lang}, n: {n}}}" for lang in ("de", "fr") for n in range(10))
SUITE = f"""\
suite: tickets
eval:
  test_cases:
    - name: ticket
      message: "{{{{lang}}}} {{{{n}}}}"
      for_each: [{ROWS}]
      tags: [all, "lang={{{{lang}}}}"]
      validate: ['contains "ok"']
"""
AGENT = """\
import json, pathlib

def answer(message):
    lang, n = message.split()
    return "no" if int(n) < json.loads(pathlib.Path("bad.json").read_text())[lang] else "ok"
"""


@pytest.fixture
def tickets(project: Path) -> Path:
    """A project whose agent fails some of the rows."""
    (project / f"{project.name}.py").write_text(AGENT)  # a module is loaded once in a process
    (project / "evals" / "weather.eval.yaml").write_text(SUITE)
    fails(project, de=0, fr=6)
    return project


def fails(project: Path, **bad: int) -> None:
    """Let the agent fail that many rows of each language."""
    (project / "bad.json").write_text(json.dumps(bad))


def run(invoke: Invoke) -> str:
    return invoke("run", "--agent", f"python:{Path.cwd().name}.py:answer").out


def test_the_rate_of_each_tag_that_some_cases_have(tickets: Path, invoke: Invoke) -> None:
    out = run(invoke)
    assert "  by tag\n    lang=fr   4/10  0.40 (0.16 to 0.69)\n    lang=de  10/10  1.00 (0.72 to 1.00)\n" in out
    (suite,) = json.loads(invoke("show", "latest", "--json").out)["suites"]
    low, high = wilson(4, 10) or (0, 0)
    rates = {each.pop("tag"): each for each in suite["summary"]["slices"]}
    assert rates["lang=fr"] == {"passed": 4, "of": 10, "errors": 0, "rate": 0.4, "low": low, "high": high}
    assert rates.keys() == {"lang=de", "lang=fr"}  # `all` would be the rate of the suite once more
    assert "| lang=fr | 4/10 | 0.40 (0.16 to 0.69) |" in invoke("show", "latest", "-o", "markdown:-").out


def test_the_console_shows_none_where_every_case_passed(tickets: Path, invoke: Invoke) -> None:
    fails(tickets, de=0, fr=0)
    assert "by tag" not in run(invoke)


def test_a_suite_without_tags_has_no_slices(tickets: Path, invoke: Invoke) -> None:
    path = tickets / "evals" / "weather.eval.yaml"
    path.write_text("\n".join(line for line in SUITE.splitlines() if "tags:" not in line))
    out = run(invoke)
    assert "6 failed" in out
    assert "by tag" not in out
    (suite,) = json.loads(invoke("show", "latest", "--json").out)["suites"]
    assert "slices" not in suite["summary"]


def test_a_comparison_shows_the_slice_that_got_worse(tickets: Path, invoke: Invoke) -> None:
    fails(tickets, de=0, fr=0)
    run(invoke)
    fails(tickets, de=1, fr=8)
    run(invoke)
    lines = invoke("diff", "latest~1", "latest", "-v").out.splitlines()
    (worse,) = [line for line in lines if line.startswith("    tag lang=fr")]
    assert "100 % → 20 %" in worse
    assert worse.endswith("worse          p = 0.0156 for all tags together")
    assert any(line.startswith("    tag lang=de") and line.endswith("may be chance") for line in lines)
    (suite,) = json.loads(invoke("diff", "latest~1", "latest", "--json").out)["suites"]
    assert [(each["tag"], each["verdict"]) for each in suite["slices"]] == [
        ("lang=de", "inconclusive"),
        ("lang=fr", "worse"),
    ]


def test_broken_cases_are_left_out_and_counted() -> None:
    slices = Slices()
    for number in range(4):
        slices.add(["a"], passed=number < 2, error=number == 3)
    (found,) = slices.summaries(6)
    assert (found.tag, found.passed, found.of, found.errors) == ("a", 2, 3, 1)


def test_a_case_that_has_a_tag_twice_is_one_case() -> None:
    slices = Slices()
    for tags in (["a", "a"], []):
        slices.add(tags, passed=True, error=False)
    assert [(each.tag, each.passed, each.of) for each in slices.summaries(2)] == [("a", 1, 1)]


def test_of_very_many_tags_those_with_the_most_cases_are_kept() -> None:
    slices = Slices()
    for number in range(1_000):
        slices.add([f"row{number}", f"group{number % 150}"], passed=True, error=False)
    kept = [each.tag for each in slices.summaries(1_000)]
    assert len(kept) == 200
    assert {f"group{number}" for number in range(150)} <= set(kept)


def noisy(rng: random.Random, tags: int, *, rate: float) -> tuple[SliceComparison, ...]:
    """Two runs of an agent that has not changed, of twelve cases a tag."""

    def past() -> ComparedSuite:
        cases = tuple(
            ComparedCase(id=f"c{number}", passed=rng.random() < rate, tags=(f"t{number % tags}",))
            for number in range(tags * 12)
        )
        return ComparedSuite(tool_name="a", tier="labeled", cases=cases)

    return compare_suites(past(), past(), names=("a", "b")).slices


def test_slices_that_have_not_changed_seldom_seem_to() -> None:
    rng = random.Random(1)
    runs = 150
    wrong = sum(any(each.verdict in ("better", "worse") for each in noisy(rng, 8, rate=0.6)) for _ in range(runs))
    assert wrong / runs <= 0.05 + 4 * (0.05 * 0.95 / runs) ** 0.5
