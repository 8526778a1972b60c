"""Markdown for pull requests: how sure changes are, where failures stand, what would settle them, and its length."""

from __future__ import annotations

import re

import msgspec
from hypothesis import example, given
from markdown_it import MarkdownIt
from msgspec.structs import replace

from evalc.compare.suites import compare_suites
from evalc.compare.totals import Flips
from evalc.model.reports import ComparedSuite
from evalc.model.result import AssertionResult, CaseResult, GateResult, Significance, SuiteResult
from evalc.model.suite import Place
from evalc.report import ReportedRun
from evalc.report.markdown import COMMENT_BYTES, comment, markdown
from tests.report.results import case, suite
from tests.report.runs import HOSTILE, place, reported, saying, texts


def failing(identity: str, line: str, number: int, message: str = "no") -> CaseResult:
    broken = AssertionResult(
        at="/expect/checks/0", outcome="failed", field="x", line=line, message=message, place=place(number)
    )
    return case(identity, status="failed", error=f"x: {message}", assertions=(broken,), place=place(1))


def significance(pairs: int, regressed: int, newly: int) -> Significance:
    flips = Flips()
    for number in range(pairs):
        now = number >= regressed and not regressed <= number < regressed + newly
        flips.add(number < regressed or now, now or regressed <= number < regressed + newly, error=False)
    return flips.significance()


def written(run: ReportedRun, **options: object) -> str:
    return b"".join(comment(run, **options)).decode()  # type: ignore[arg-type]


def compared(regressed: int, newly: int) -> SuiteResult:
    found = significance(100, regressed, newly)
    return replace(suite(*(case(f"c{n}") for n in range(100))), baseline_run_id="run-0", significance=found)


def test_it_says_how_sure_a_change_is_and_how_many_cases_or_repeats_would_decide() -> None:
    text = written(reported(compared(5, 2)))
    change = "inconclusive&#58; 5 of 100 cases regressed, 2 newly pass"
    assert f"| get_weather &#40;golden&#41; | 100/100 passed | **-3.0 points**, {change}" in text
    assert "| since the baseline | now | change |" in text
    assert "\n- the baseline is `run-0`\n" in text
    settled = "about 500 more cases would settle it, or at least `--repeat 7` here and in the baseline"
    assert f"**What would decide:**\n\n- the change since the baseline: {settled}\n" in text
    sure = written(reported(compared(12, 0)))
    assert "**-12.0 points**, worse&#58; 12 of 100 cases regressed" in sure
    assert "What would decide" not in sure
    assert "no number of cases would settle it\n" in written(reported(compared(3, 3)))
    assert "points" not in written(reported(compared(0, 0)))


def test_an_undecided_gate_says_how_many_cases_would_decide() -> None:
    gate = GateResult(
        gate="minPassRate",
        limit=0.9,
        value=0.92,
        passed=False,
        confidence=0.95,
        verdict="undecided",
        more_cases=140,
    )
    text = written(replace(reported(suite(case("a"))), gates=(gate,), exit_code=1))
    assert "\n- pass rate 0.92, at least 0.9 is needed: about 140 more cases would settle it\n" in text


def test_several_suites_are_compared_together_too() -> None:
    text = written(reported(compared(4, 0), replace(compared(4, 0), suite="other")))
    assert text.count("inconclusive") == 2
    assert "| **all suites** | 200/200 passed | **-4.0 points**, worse&#58; 8 of 200" in text


def test_scores_are_compared_with_those_of_the_run_before() -> None:
    def scored(score: float) -> ComparedSuite:
        criteria = [{"name": "tone", "weight": 1, "score": score, "scoredBy": "linked"}]
        cases = [{"id": f"c{n}", "passed": True, "durationMs": 1000 * score, "criteria": criteria} for n in range(100)]
        found = {"toolName": "weather_api", "suite": "get_weather", "tier": "golden", "cases": cases}
        return msgspec.convert({**found, "summary": {"criteria": criteria}}, ComparedSuite)

    pair = compare_suites(scored(0.9), scored(0.8), names=("run-0", "run-1"))
    text = written(replace(reported(compared(0, 0)), comparisons=(pair,)))
    assert "| · score | 0.800 | -0.100 &#40;95 % interval -0.100 to -0.100&#41; worse |" in text
    assert "· tone" not in text
    assert "| · latency, median | 800ms | was 900ms |" in text


def test_regressions_are_named_and_a_comment_folds_them() -> None:
    run = reported(replace(compared(2, 0), regressions=("w/a@1", "w/b")))
    listed = "- get_weather.golden: regressions: `w/a@1`, `w/b`\n"
    assert f"<details><summary>Regressions</summary>\n\n{listed}\n</details>" in written(run)
    assert listed in b"".join(markdown(run)).decode()


def addressed(found: Place) -> str:
    return f"https://code.example/{found.file}#L{found.line}"


def test_groups_lead_to_their_lines_and_one_case_of_each_is_shown() -> None:
    many = [failing(f"a{n}", f'contains "{n}"', 7) for n in range(5)] + [failing("b", "valid json", 9)]
    run = replace(reported(suite(*many)), address=addressed)
    text = written(run)
    link = "[`evals/weather.eval.yaml:7`](https://code.example/evals/weather.eval.yaml#L7)"
    assert "### 6 failures for 2 reasons" in text
    assert f"| 5 | `contains …`: no | {link} | `a0`, `a1`, `a2` and 2 more |" in text
    assert f"**failed** `a0` in get_weather.golden, at {link}\n" in text
    assert (text.count("```text"), text.count("**failed** `a1`")) == (2, 0)
    whole = b"".join(markdown(run)).decode()
    assert (whole.count("```text"), whole.count(link)) == (6, 6)


def test_a_comment_is_cut_to_what_the_host_takes_and_says_what_is_left_out() -> None:
    cases = [failing(f"c{n}", f"check_{'ab'[n % 2] * (n // 2)}", n + 1) for n in range(900)]
    cases += [failing(f"d{n}", f"check_{'ab'[n % 2] * (n // 2)}", n + 1) for n in range(900)]
    text = written(reported(suite(*cases)), marker="<!-- evalc: pr-comment x -->", ending="the end")
    assert 60_000 < len(text.encode()) <= COMMENT_BYTES
    [(reasons, rows, more)] = re.findall(
        r"for (\d+) reasons\n.*?--\|\n((?:\|.*\n)+)\n- and (\d+) more\n", text, re.DOTALL
    )
    assert rows.count("\n") + int(more) == int(reasons)
    assert "more cases are not shown" in text
    assert text.startswith("<!-- evalc: pr-comment x -->\n")
    assert text.endswith("</details>\n\nthe end\n")
    assert text.count("<details>") == text.count("</details>") == 2


@given(texts)
@example(HOSTILE[3])
@example(HOSTILE[5])
@example(HOSTILE[17])
def test_nothing_that_an_agent_says_leaves_its_block(said: str) -> None:
    text = written(replace(reported(suite(saying(said), saying("next"))), address=addressed))
    tokens = MarkdownIt("commonmark").enable("table").parse(text)
    kinds = [token.type for token in tokens]
    html = [token.content.strip() for token in tokens if token.type == "html_block"]
    folds = ["<details><summary>Suites</summary>", "</details>"]
    assert html[1:] == [*folds, folds[0].replace("Suites", "Cases that did not pass"), folds[1]]
    assert (kinds.count("fence"), kinds.count("heading_open"), kinds.count("table_open")) == (2, 1, 1)
    inline = [child for token in tokens for child in token.children or ()]
    assert not {"html_inline", "image"} & {each.type for each in inline}
    names = {each.content for each in inline if each.type == "code_inline"}
    assert names == {"w/hostile", "evals/weather.eval.yaml:13"}
    links = [each.attrs["href"] for each in inline if each.type == "link_open"]
    assert links == ["https://code.example/evals/weather.eval.yaml#L13"] * 2


def test_no_line_is_a_command_to_gitlab() -> None:
    text = written(reported(suite(saying("```\n/close\n\n/merge\n```\n/approve"))))
    assert not re.search("^/", text, re.MULTILINE)


def test_the_verdict_is_that_of_the_run() -> None:
    gate = GateResult(gate="minPassRate", limit=0.4, value=0.5, passed=True)
    run = replace(reported(suite(case("a"), failing("b", "valid json", 3))), gates=(gate,), exit_code=0)
    text = b"".join(markdown(run)).decode()
    assert text.startswith("## ✅ evalc: 1 of 2 cases passed\n\n**passed&#58; 1 of 2 cases, 1 failure allowed**\n")
    assert b"".join(markdown(replace(run, exit_code=3))).startswith("## ❌".encode())


def test_it_says_what_the_run_cost() -> None:
    result = suite(case("a"))
    costly = replace(result, summary=replace(result.summary, estimated_cost_usd=0.5, judge_cost_usd=0.125))
    run = reported(costly, replace(costly, suite="other"), suite(case("b"), tool="free"))
    assert "\ncost &#36;&#8203;1, of which judges &#36;&#8203;0.25\n" in written(run)
