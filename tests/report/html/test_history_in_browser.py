"""The history in a real browser: a plot a measure, a table that says the same, and this run marked in both."""

from __future__ import annotations

from msgspec.structs import replace

from tests.report.html.conftest import Shown
from tests.report.html.sample import answered, reported, suite, trends


def test_each_measure_has_its_course_its_value_and_its_step(shown: Shown) -> None:
    page = shown(reported(), trends=trends())
    history = page.get_by_role("region", name="History", exact=True)
    assert history.locator(".course h3").all_inner_texts() == [
        "get_weather (labeled) 12 runs",
        "get_weather (golden) 2 runs",
    ]
    labeled = history.locator(".course").first
    assert labeled.locator("li .criterion").all_inner_texts() == ["passed", "score", "grounded", "tone"]
    labels = [each.get_attribute("aria-label") for each in history.get_by_role("img").all()]
    assert labels[3] == "tone over 12 runs: from 0.96 to 0.96, at least 0.96, at most 0.96"
    assert labels[4] == "passed over 2 runs: from 80 % to 100 %, at least 80 %, at most 100 %"
    golden = history.locator(".course").nth(1)
    assert golden.locator("li").count() == 1  # nothing was scored
    assert golden.locator("li .number").inner_text() == "100 %"
    assert golden.locator("li .step").text_content() == "▲ up by 20.0"


def test_a_course_in_which_nothing_moved_is_one_line(shown: Shown) -> None:
    _, golden = trends()
    still = replace(golden, points=tuple(replace(point, pass_rate=1.0) for point in golden.points))
    page = shown(reported(), trends=[still])
    course = page.locator(".course")
    assert course.locator("h3").inner_text() == "get_weather (golden) unchanged over 2 runs: passed 100 %"
    assert course.locator("svg").count() == 0
    course.locator("summary").click()
    assert course.locator("tbody tr").count() == 2


def test_a_run_without_a_value_breaks_the_line(shown: Shown) -> None:
    page = shown(reported(), trends=trends())
    tone = page.locator(".course").first.locator("li").nth(3)
    assert tone.locator(".dot").count() == 8
    line = tone.locator(".line").get_attribute("d")
    assert line is not None
    assert (line.count("M"), line.count("L")) == (1, 7)
    labeled, _ = trends()
    holed = replace(labeled.points[5], pass_rate=None)
    page = shown(reported(), trends=[replace(labeled, points=(*labeled.points[:5], holed, *labeled.points[6:]))])
    line = page.locator(".course .line").first.get_attribute("d")
    assert line is not None
    assert (line.count("M"), line.count("L")) == (2, 9)


def test_the_table_says_what_the_plots_show_and_keys_open_it(shown: Shown) -> None:
    page = shown(reported(), trends=trends())
    page.locator(".course summary").first.focus()
    page.keyboard.press("Enter")
    table = page.locator(".course table").first
    assert table.locator("thead th").all_inner_texts() == ["began (UTC)", "run", "passed", "score", "grounded", "tone"]
    assert table.locator("tbody tr").count() == 12
    now = table.locator("[aria-current]")
    assert (now.count(), now.locator("td").first.inner_text()) == (1, "01a1f3c2-5b7e-7d40-9c1a-8e2f6b4d7a90")
    assert table.locator("tbody tr").last.locator("td").last.inner_text() == "\u2013"
    assert page.locator(".course").first.locator(".here").count() == 4


def test_an_older_run_is_marked_among_later_ones(shown: Shown) -> None:
    labeled, _ = trends()
    later = replace(labeled.points[0], run="later", pass_rate=0.1)
    page = shown(reported(), trends=[replace(labeled, points=(*labeled.points, later))])
    assert "this run" in str(page.locator(".course li").first.locator("title").nth(11).text_content())
    assert page.locator(".course li .number").first.inner_text() != "10 %"


def test_without_earlier_runs_there_is_no_history(shown: Shown) -> None:
    page = shown(reported())
    assert page.locator("#history").is_hidden()


def test_names_of_all_kinds_stay_texts(shown: Shown) -> None:
    labeled, _ = trends()
    name = "<img src=x onerror='window.ran = 1'>\u202e"
    names = ("__proto__", "constructor", name)
    points = tuple(replace(point, run=name, criteria=dict.fromkeys(names[1:], 0.5)) for point in labeled.points)
    hostile = replace(labeled, tool_name=name, agent_endpoint=name, criteria=names, points=points)
    page = shown([suite([answered("a", "b")])], trends=[hostile])
    assert page.locator("#history img").count() == 0
    assert page.locator(".course .criterion").all_inner_texts() == [
        "passed",
        "score",
        "constructor",
        name.replace("\u202e", "U+202E"),
    ]
    assert page.evaluate("window.ran") is None


def test_many_runs_are_cut_to_the_newest_and_a_narrow_screen_and_paper_hold_them(shown: Shown) -> None:
    page = shown(reported(), trends=trends(200), viewport={"width": 390, "height": 800})
    assert page.locator(".course h3").first.inner_text() == "get_weather (labeled) the last 60 of 200 runs"
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    page.emulate_media(media="print")
    assert page.locator("#courses").evaluate("node => node.scrollHeight <= node.clientHeight + 4")
    assert page.locator(".course details").first.is_hidden()
