"""The HTML report in a real browser: it shows all there is and runs none of it, and keyboards reach everything."""

from __future__ import annotations

import shlex
from pathlib import Path

import msgspec
import pytest
from playwright.sync_api import Browser, Page, expect

from evalc.cli.calibrate import read_labels
from evalc.model.result import (
    AssertionResult,
    CaseResult,
    ClassSummary,
    ConfusedClasses,
    CriterionResult,
    JudgedScore,
    LabelResult,
    LabelSummary,
    RateEstimate,
    Significance,
    Slice,
    TextFinding,
    TurnDetails,
)
from tests.report.html.accessible import sound
from tests.report.html.conftest import Shown
from tests.report.html.sample import answered, reported, suite, trends

HOSTILE = (
    "<script>window.ran = 1</script>",
    "</script><script>window.ran = 1</script>",
    "<!--<script>window.ran = 1//",
    "]]></script><img src=x onerror='window.ran = 1'>",
    '"><svg onload="window.ran = 1">',
    "<iframe srcdoc='<script>parent.ran = 1</script>'></iframe>",
    "<a href='javascript:window.ran = 1' autofocus onfocus='window.ran = 1'>x</a>",
    "<img src='http://127.0.0.1:9/leak.png'><link rel=stylesheet href='http://127.0.0.1:9/x.css'>",
    "<style>@import 'http://127.0.0.1:9/x.css'; * {display: none}</style>",
    "<meta http-equiv=refresh content='0;url=http://127.0.0.1:9/'>",
    "<base href='http://127.0.0.1:9/'><form action=x><input name=count id=count>",
    "${window.ran = 1}{{constructor.constructor('window.ran = 1')()}}",
    "__proto__",
    "a\u2028window.ran = 1\u2029",
    "\x00\x1b[31mred\x1b[0m\x07",
    "safe\u202egnp.exe",
    "half \ud800 pair",
    "\U000e0041\u200b",
)


def _statuses(page: Page) -> list[str]:
    return [text.strip() for text in page.locator("#rows .status .word").all_inner_texts()]


def test_it_says_how_the_run_went(shown: Shown) -> None:
    page = shown(reported())
    assert page.title() == "25/29 passed · http://localhost:3000/chat · evalc"
    verdict = page.locator("#verdict").inner_text()
    assert "86.2" in verdict
    assert "25 of 29 cases passed" in verdict
    assert "failed 2" in verdict
    notices = page.locator("#notices").inner_text()
    assert "at least 0.97 is needed" in notices
    assert "Tool description has changed" in notices
    assert page.locator("#scores li li").count() == 2  # the criteria
    visible = page.locator("#latency svg").get_attribute("aria-label")
    assert visible is not None
    assert visible.startswith("Half of 29 cases took up to ")


SCROLLING = """() => [...document.querySelectorAll("body *")]
  .filter(node => node.id !== "details" && /auto|scroll/.test(getComputedStyle(node).overflow))
  .map(node => node.outerHTML.slice(0, 200))"""


@pytest.mark.parametrize("width", [390, 800, 1280])
def test_nothing_within_the_page_scrolls(shown: Shown, width: int) -> None:
    agents = [suite([answered("a" * 60, "b")], agent=f"http://a-long-name-of-{n}.example/chat") for n in range(6)]
    page = shown([*reported(), *agents], trends=trends(), viewport={"width": width, "height": 800})
    page.locator(".course summary").first.click()
    assert page.evaluate(SCROLLING) == []
    assert page.evaluate("document.documentElement.scrollWidth") == width
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    assert page.evaluate("details.scrollWidth - details.clientWidth") == 0
    assert page.evaluate(SCROLLING) == []


@pytest.mark.parametrize(
    ("agents", "names"),
    [
        (("python:desk:Careful", "python:desk:Cheap"), ["Careful", "Cheap"]),
        (("http://a/", "http://a/b"), ["http://a/", "http://a/b"]),
        (("openai:x", "anthropic:x"), ["openai:x", "anthropic:x"]),
    ],
)
def test_agents_are_named_without_what_they_have_in_common(
    shown: Shown, agents: tuple[str, ...], names: list[str]
) -> None:
    page = shown([suite([answered("tokyo", "It is mild.")], agent=agent) for agent in agents])
    assert page.locator("#versions th[scope=col]").all_inner_texts() == names
    assert page.locator("#about").inner_text().endswith(", ".join(agents))


def test_no_script_of_an_answer_runs_and_its_text_is_shown(shown: Shown) -> None:
    page = shown([suite([answered(f"case {number} {text}", text) for number, text in enumerate(HOSTILE)])])
    for _ in HOSTILE:
        page.keyboard.press("j")
        page.keyboard.press("Enter")
        assert page.locator("#details script, #details iframe, #details img, #details style").count() == 0
    assert page.evaluate("window.ran") is None
    page.locator("#query").fill("onerror")
    page.locator("#rows .row").click()
    assert page.locator("#details section:has(h3:text-is('Response')) pre").inner_text() == HOSTILE[3]


MARKDOWN = """## Refunds
You get **10 *working* days** for `a | b`, see [the terms](https://example.com/a_(b)) ![logo](https://example.com/l.png).

1. Open \\*bookings\\*
   - *snake_case*
2. [Confirm](javascript:alert(1)) <img src=x onerror=alert(1)>

| Fare | |
|---|--:|
| Flex | 0 |

> So

```
<b>code</b>
"""


def test_an_answer_in_markdown_is_rendered_and_its_source_a_click_away(shown: Shown) -> None:
    page = shown([suite([answered("refund", MARKDOWN)])], "#get_weather.labeled%2Frefund")
    answer = page.locator(".markdown")
    assert answer.locator("strong").all_inner_texts() == ["10 working days"]
    assert answer.locator("em").all_inner_texts() == ["working", "snake_case"]
    assert answer.locator(":scope > p code").all_inner_texts() == ["a | b"]
    assert answer.locator("ol > li").first.inner_text().startswith("Open *bookings*")
    assert answer.locator("ol > li ul > li").all_inner_texts() == ["snake_case"]
    assert answer.locator("th").all_inner_texts() == ["Fare"]
    assert answer.locator("td.right").all_inner_texts() == ["", "0"]
    assert answer.locator("pre").inner_text() == "<b>code</b>\n"
    assert answer.locator("img, b").count() == 0
    links = answer.locator("a").evaluate_all("links => links.map(link => [link.textContent, link.href, link.rel])")
    rel = "noopener noreferrer nofollow"
    assert links == [
        ["the terms", "https://example.com/a_(b)", rel],
        ["image: logo", "https://example.com/l.png", rel],
    ]
    assert "Confirm (javascript:alert(1)) <img src=x onerror=alert(1)>" in answer.inner_text()
    sound(page)
    page.get_by_role("button", name="Source").press("Enter")
    assert page.locator(".answer pre").inner_text() == MARKDOWN
    page.get_by_role("button", name="Source").press("Enter")
    expect(answer).to_be_visible()


def test_markdown_in_which_something_is_marked_shows_its_source_first(shown: Shown) -> None:
    before = answered("refund", MARKDOWN.replace("10", "12"))
    page = shown([suite([answered("refund", MARKDOWN)], baseline={"refund": before})], "#get_weather.labeled%2Frefund")
    assert page.locator(".version .answer ins").all_inner_texts() == ["10"]
    page.get_by_role("button", name="Source").last.click()
    assert page.locator(".markdown strong").all_inner_texts() == ["10 working days"]


HURTFUL = (
    *("> ", "- ", "[", "![](", "**a ", "*_", "`", "`a``", "|", "|\n-\n", "\\\n", "<a:"),
    *(f"{' ' * depth * 2}- **x**\n" for depth in (1, 2, 3)),
)


def test_markdown_made_to_hurt_is_shown(shown: Shown) -> None:
    nested = "\n".join(f"{' ' * depth * 2}- **x**" for depth in range(150))
    texts = [*(piece * (20_000 // len(piece)) for piece in HURTFUL), nested]
    page = shown([suite([answered(f"a{number}", f"# x\n{text}") for number, text in enumerate(texts)])])
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    for number in range(len(texts)):
        expect(page.locator("#details-title")).to_have_text(f"a{number}")
        assert page.locator(".markdown .heading").first.inner_text() == "x"
        page.keyboard.press("j")


@pytest.mark.parametrize(
    ("text", "visible"),
    [
        ("safe\u202egnp.exe", "safeU+202Egnp.exe"),
        ("\x1b[31mred", "U+001B[31mred"),
        ("a\x00b", "aU+0000b"),
        ("half \ud800 pair", "half U+D800 pair"),
        ("\U000e0041\u200b", "U+E0041U+200B"),
    ],
)
def test_invisible_characters_are_shown_as_numbers(shown: Shown, text: str, visible: str) -> None:
    page = shown([suite([answered(text, text)])])
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    assert page.locator("#details section:has(h3:text-is('Response')) pre").inner_text() == visible
    assert page.locator("#details-title").inner_text() == visible
    assert text not in page.title()


def test_a_long_answer_is_shortened_and_says_so(shown: Shown) -> None:
    page = shown([suite([answered("long", "x" * 1_000_000)])])
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    details = page.locator("#details")
    assert "the first 20,000 of 1,000,000 characters" in details.inner_text()
    folded = page.locator("#details .block.folded")
    assert folded.count() == 1
    details.get_by_role("button", name="Show all").click()
    assert folded.count() == 0


def test_ten_thousand_cases_are_a_few_rows(shown: Shown) -> None:
    page = shown(reported(10_000))
    rows = page.locator("#rows .row")
    assert 0 < rows.count() < 50
    page.evaluate("scrollTo(0, document.body.scrollHeight)")
    expect(page.locator("#rows .row[aria-rowindex='10007']")).to_be_visible()
    assert rows.count() < 50
    indexes = rows.evaluate_all("rows => rows.map(row => Number(row.getAttribute('aria-rowindex')))")
    assert indexes == list(range(indexes[0], 10_008))
    page.locator("#query").fill("tunis-416")
    assert rows.count() == 0
    page.locator("#query").fill("tunis-415 sky")
    assert rows.count() == 1
    assert page.locator("#count").inner_text() == "1 of 10,006 cases"


def test_filters_and_order(shown: Shown) -> None:
    page = shown(reported())
    assert _statuses(page)[:4] == ["failed", "error", "failed", "unexpected pass"]
    failed = page.locator("#statuses button[data-status=failed]")
    failed.click()
    assert failed.get_attribute("aria-pressed") == "true"
    assert page.locator("#count").inner_text() == "2 of 30 cases"
    page.get_by_label("Filter by suite").select_option("1")
    expect(page.locator("#none")).to_be_visible()
    page.locator("#reset").click()
    assert page.locator("#count").inner_text() == "30 cases"
    page.get_by_label("Filter by criterion").select_option("grounded")
    assert set(_statuses(page)) == {"failed"}
    page.get_by_label("Filter by criterion").select_option("")
    page.get_by_label("Filter by tag").select_option("smoke")
    assert page.locator("#count").inner_text() == "5 of 30 cases"
    page.get_by_label("Filter by tag").select_option("")
    page.locator("#columns").get_by_role("button", name="Case").click()
    page.locator("#columns").get_by_role("button", name="Case").click()
    assert page.locator("#rows .row a").first.inner_text() == "weather/turin"
    assert page.locator("#columns .case").get_attribute("aria-sort") == "descending"


def test_failures_are_grouped_by_reason_and_a_group_filters_the_list(shown: Shown) -> None:
    failed = [_failing(f"flight-{n}", "no tool errors", f"timed out after {n} ms") for n in range(3)]
    failed += [_failing(f"policy-{n}", 'contains "10 days"', "'10 days' is not there") for n in range(9)]
    failed += [_failing(f"other-{n}", f"length <= {word} words", "too long") for n, word in enumerate("abcdef")]
    page = shown([suite([*failed, answered("tokyo", "It is mild.")], baseline={"flight-0": answered("flight-0", "x")})])
    groups = page.get_by_role("region", name="18 cases did not pass, for 8 reasons")
    assert groups.get_by_role("button").count() == 7  # six groups, and the rest on demand
    assert groups.get_by_role("button").first.inner_text().split("\n")[0] == "9"
    page.get_by_role("button", name="Show 2 more").click()
    assert groups.locator("li:visible").count() == 8
    flights = groups.get_by_role("button", name="no tool errors")
    assert "timed out after … ms" in flights.inner_text()
    assert "1 new" in flights.inner_text()
    flights.press("Enter")
    assert flights.get_attribute("aria-pressed") == "true"
    assert page.locator("#count").inner_text() == "3 of 20 cases"
    sound(page)
    flights.press("Enter")
    assert page.locator("#count").inner_text() == "20 cases"
    flights.click()
    page.get_by_role("button", name="Clear", exact=True).click()
    assert flights.get_attribute("aria-pressed") == "false"
    expect(page.locator("#clear")).to_be_hidden()


def _failing(identity: str, line: str, message: str) -> CaseResult:
    check = AssertionResult(at="/expect/checks/0", outcome="failed", field="x", message=message, line=line)
    return msgspec.structs.replace(
        answered(identity, "no"),
        status="failed",
        passed=False,
        error=f"x: {message}",
        error_at=check.at,
        assertions=(check,),
    )


@pytest.mark.parametrize(
    ("exit_code", "word", "why"),
    [(1, "Failed", "3 of 29 cases failed, 1 gate is not met"), (0, "Passed", "25 of 29 cases, 3 failures allowed")],
)
def test_the_verdict_is_said_in_words(shown: Shown, exit_code: int, word: str, why: str) -> None:
    page = shown(reported(), exit_code=exit_code)
    assert page.locator("#verdict .big").inner_text().endswith(word)
    assert page.locator("#verdict .ended").inner_text().endswith(why)


@pytest.mark.parametrize("size", [24, 10_000])
def test_the_first_case_is_on_the_first_screen(shown: Shown, size: int) -> None:
    page = shown(reported(size), trends=trends(), exit_code=1, viewport={"width": 1440, "height": 900})
    box = page.locator("#rows .row").first.bounding_box()
    assert box is not None
    assert box["y"] + box["height"] <= 900


def test_buttons_lead_to_the_parts_below_the_cases(shown: Shown) -> None:
    page = shown(reported(1_000), trends=trends())
    parts = page.get_by_role("navigation", name="Parts of the report")
    assert parts.get_by_role("button").all_inner_texts() == ["Cases", "Latency", "History"]
    parts.get_by_role("button", name="History").click()
    expect(page.locator("#history-title")).to_be_focused()
    expect(page.locator("#history-title")).to_be_in_viewport()


def test_the_keyboard_reaches_everything(shown: Shown) -> None:
    page = shown(reported())
    page.keyboard.press("j")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("k")
    page.keyboard.press("Enter")
    title = page.locator("#details-title")
    assert title.inner_text() == "weather/cairo"
    assert title.evaluate("node => node === document.activeElement")
    page.keyboard.press("j")
    assert page.locator("#details-title").inner_text() == "weather/accra"
    page.keyboard.press("Escape")
    expect(page.locator("#details")).to_be_hidden()
    assert page.evaluate("document.activeElement.textContent") == "weather/accra"
    page.keyboard.press("/")
    page.keyboard.type("jk?/tokyo")
    assert page.locator("#query").input_value() == "jk?/tokyo"
    page.keyboard.press("Escape")
    assert page.locator("#query").input_value() == ""
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("?")
    expect(page.get_by_role("dialog")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_be_hidden()


def test_an_address_opens_its_case(shown: Shown) -> None:
    page = shown(reported(), "#get_weather.labeled%2Fweather%2Fdakar")
    assert page.locator("#details-title").inner_text() == "weather/dakar"
    page.get_by_role("button", name="Close", exact=True).click()
    assert page.url.endswith("#")


def test_the_address_keeps_what_is_asked_for_and_back_closes_a_case(shown: Shown) -> None:
    page = shown(reported())
    page.locator("#statuses button[data-status=failed]").click()
    page.locator("#query").fill("weather °c")
    page.get_by_label("Filter by suite").select_option("0")
    page.locator("#columns").get_by_role("button", name="Time").click()
    page.locator("#rows .row").first.click()
    page.keyboard.press("j")
    title, address = page.locator("#details-title").inner_text(), page.url
    page.reload()
    expect(page.locator("#details-title")).to_have_text(title)
    assert page.locator("#count").inner_text() == "2 of 30 cases"
    assert page.locator("#query").input_value() == "weather °c"
    assert page.locator("#columns .duration").get_attribute("aria-sort") == "ascending"
    page.keyboard.press("Escape")
    expect(page.locator("#details")).to_be_hidden()
    page.go_back()
    expect(page.locator("#details-title")).to_have_text(title)
    assert page.url == address
    page.go_back()  # past the case that was opened first: it and the one after it are one step
    expect(page.locator("#details")).to_be_hidden()
    assert page.locator("#count").inner_text() == "2 of 30 cases"


def test_an_address_of_several_agents_names_the_agent(shown: Shown) -> None:
    suites = [suite([answered("tokyo", f"It is {word}.")], agent=f"{word} & co") for word in ("mild", "warm")]
    page = shown(suites, "#get_weather.labeled%2Ftokyo?agent=warm%20%26%20co")
    assert "It is warm." in page.locator(".version", has_text="this case").inner_text()
    page.keyboard.press("Escape")
    assert page.url.endswith("#")
    page.locator("#matrix a").first.click()
    assert page.url.endswith("#get_weather.labeled%2Ftokyo?agent=mild%20%26%20co")
    page = shown(suites, "#get_weather.labeled%2Ftokyo")
    assert "It is mild." in page.locator(".version", has_text="this case").inner_text()


def test_an_address_that_asks_for_nothing_there_shows_an_empty_list(shown: Shown) -> None:
    page = shown(reported(), "#gone?status=gone&suite=x&sort=constructor&tag=%zz")
    assert page.locator("#count").inner_text() == "0 of 30 cases"
    page.locator("#reset").click()
    assert page.locator("#count").inner_text() == "30 cases"


def test_the_details_of_a_failure(shown: Shown) -> None:
    page = shown(reported(), "#get_weather.labeled%2Fweather%2Fcairo")
    details = page.locator("#details")
    text = details.inner_text()
    assert "evals/weather.eval.yaml:16:11 (the file has changed since the run)" in text
    assert page.locator(".line.here").inner_text() == '16- contains "°C" or contains "degrees" for grounded'
    assert "What is the weather in Cairo?" in text
    assert 'get_weather(city: "Cairo", units: "metric")' in text
    assert "$0.00076" in text
    assert page.locator(".version h4").all_inner_texts() == ["baseline", "this case"]
    assert "°C and" in page.locator(".version del").first.inner_text()
    assert page.locator(".version").nth(1).locator("ins").count() > 0


def test_attempts_judges_and_conversations(shown: Shown) -> None:
    page = shown(reported(), "#get_weather.labeled%2Fweather%2Flagos")
    assert page.locator("#details").get_by_text("Sent by").count() == 0
    _go_to(page, "perth")
    assert page.locator(".attempts li").count() == 3
    _go_to(page, "paris")
    assert "Judge: 3 of 4. Friendly, but" in page.locator("#details").inner_text()
    _go_to(page, "quito")
    assert page.locator("#details h3", has_text="Sent by assistant").count() == 1


def test_a_conversation_is_shown_turn_by_turn(shown: Shown) -> None:
    case = answered("tokyo", "When?\n\nBooked.")
    details = msgspec.structs.replace(
        case.details,
        tool_calls=(
            {"name": "search", "success": True, "durationMs": 1, "params": {}, "result": ["<b>Ritz</b>"]},
            {"name": "book", "success": False, "durationMs": 1, "params": {"nights": 2}, "error": "no room"},
        ),
        turns=(
            TurnDetails(message="A room <i>please</i>", response="When?", calls=0, duration_ms=3),
            TurnDetails(message="Now", response="Booked.", calls=2, duration_ms=4),
        ),
    )
    failed = AssertionResult(
        at="/expect/checks/0", outcome="failed", line="contains 'x'", message="expected 'x'", turn=2
    )
    case = msgspec.structs.replace(case, status="failed", passed=False, details=details, assertions=(failed,))
    page = shown([suite([case])], "#get_weather.labeled%2Ftokyo")
    first, second = (page.locator("#details section", has=page.locator("h3", has_text=f"Turn {n}")) for n in (1, 2))
    assert "A room <i>please</i>" in first.inner_text()
    assert "search" not in first.inner_text()
    visible = second.inner_text()
    for text in ("Now", 'search() → ["<b>Ritz</b>"]', "book(nights: 2) failed: no room", "Booked.", "contains 'x'"):
        assert text in visible
    assert second.locator("img, b i").count() == 0
    assert page.locator("#details h3", has_text="Response").count() == 0


def test_verdicts_of_people_are_kept_and_saved_for_calibration(shown: Shown, tmp_path: Path) -> None:
    asked = CriterionResult(
        name="tone", weight=1, score=0.75, scored_by="judge", judged=JudgedScore(score=3, max_score=4)
    )
    hostile = '=HYPERLINK("x")\r\n"So", he said\u2028'
    case = msgspec.structs.replace(answered("paris", hostile), criteria=(asked,))
    page = shown([suite([case, answered("rome", "Yes."), answered("oslo", "No.")])])
    expect(page.locator("#save-labels")).to_be_hidden()
    page.locator("#rows .row").nth(1).click()
    page.keyboard.press("n")
    page.keyboard.press("y")
    page.get_by_role("group", name="Your verdict on the answer").get_by_role("button", name="bad").click()
    page.keyboard.press("k")
    page.get_by_role("group", name="Your score of tone").get_by_role("button", name="3").press("Enter")
    sound(page)
    page.reload()
    pressed = page.locator(".verdict [aria-pressed=true]")
    expect(pressed).to_have_text("3")
    with page.expect_download() as download:
        page.get_by_role("button", name="Save labels.csv (2)").click()
    assert download.value.suggested_filename == "labels.csv"
    download.value.save_as(tmp_path / "labels.csv")
    faults: list[str] = []
    rows = read_labels(str(tmp_path / "labels.csv"), faults)
    assert faults == []
    assert [(row.case, row.question.name, row.question.max_score, row.label) for row in rows] == [
        ("paris", "tone", 4, 3),
        ("rome", "quality", 1, 0),
    ]
    assert rows[0].exhibit.response == f"'{hostile}"
    pressed.click()
    page.keyboard.press("j")
    page.keyboard.press("n")
    expect(page.locator("#save-labels")).to_be_hidden()


def test_conversations_stand_side_by_side_where_they_differ(shown: Shown) -> None:
    def talk(*turns: tuple[str, str, int]) -> CaseResult:
        case = answered("oslo", "".join(response for _, response, _ in turns))
        details = msgspec.structs.replace(
            case.details,
            tool_calls=tuple({"name": "book", "params": {"people": people}} for _, _, people in turns if people),
            turns=tuple(
                TurnDetails(message=message, response=response, calls=bool(people), duration_ms=1)
                for message, response, people in turns
            ),
        )
        return msgspec.structs.replace(case, details=details)

    hello, other = ("Hello", "For how many?", 0), ("I am Ann", "For how many?", 0)
    case = talk(hello, ("Two", "Booked.", 1))
    before = talk(hello, ("Two", "Booked.", 2), ("Bye", "Good bye!", 0))
    page = shown([suite([case], baseline={"oslo": before})], "#get_weather.labeled%2Foslo")
    first, second, third = (page.locator("#details section").filter(has_text=f"Turn {n}") for n in (1, 2, 3))
    assert "the same in baseline" in first.inner_text()
    assert first.locator(".version").count() == 0
    assert second.locator(".user pre").all_inner_texts() == ["Two"]
    assert second.locator(".version h4").all_inner_texts() == ["baseline", "this case"]
    assert second.locator(".version del").all_inner_texts() == ["2"]
    assert second.locator(".version ins").all_inner_texts() == ["1"]
    assert third.locator(".version pre").all_inner_texts() == ["Bye", "Good bye!"]
    assert "The conversation had ended." in third.locator(".version").last.inner_text()
    sound(page)
    page = shown([suite([talk(other)], baseline={"oslo": talk(hello)})], "#get_weather.labeled%2Foslo")
    assert page.locator(".version .user pre").all_inner_texts() == ["Hello", "I am Ann"]


def test_agents_stand_side_by_side(shown: Shown) -> None:
    mild, warm = (suite([answered("tokyo", f"It is {word}.")], agent=word) for word in ("mild", "warm"))
    page = shown([mild, warm])
    assert page.locator("h1").inner_text() == "2 agents"
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    assert page.locator(".version h4").all_inner_texts() == ["warm", "mild · this case"]
    assert page.locator(".version del").last.inner_text() == "warm"
    assert page.locator(".version ins").last.inner_text() == "mild"


def test_calls_that_differ_stand_side_by_side(shown: Shown) -> None:
    one, two = (
        msgspec.structs.replace(
            answered("oslo", "Booked."),
            details=msgspec.structs.replace(
                answered("oslo", "Booked.").details,
                tool_calls=(
                    {
                        "name": "book",
                        "result": "QX7F2A",
                        "params": {"flight": "LH1824", "people": people, "a b": [2**70, "x: y"]},
                    },
                ),
            ),
        )
        for people in (1, 2)
    )
    page = shown([suite([one], baseline={"oslo": two})], "#get_weather.labeled%2Foslo")
    called = page.locator(".called")
    assert called.nth(0).inner_text() == f'book(flight: "LH1824", people: 2, "a b": [{2**70}, "x: y"])'
    assert called.nth(0).locator("del").all_inner_texts() == ["2"]
    assert called.nth(1).locator("ins").all_inner_texts() == ["1"]
    page.locator("#query").fill("QX7F2A")
    assert page.locator("#count").inner_text() == "1 of 2 cases"
    call = page.locator(".calls details")
    call.locator("summary").press("Enter")
    assert '"people": 1' in call.inner_text()


def test_answers_with_little_in_common_are_not_compared_word_by_word(shown: Shown) -> None:
    before = answered("oslo", "Certainly, dear guest: nothing easier, said the clerk.")
    page = shown([suite([answered("oslo", "No room.")], baseline={"oslo": before})], "#get_weather.labeled%2Foslo")
    assert page.locator(".version pre").last.inner_text() == "No room."
    assert page.locator(".version > .block ins, .version > .block del").count() == 0


def test_findings_of_checks_are_marked_in_the_answer(shown: Shown) -> None:
    case = _failing("rome", "numbers from tools", "'79' is in no tool result")
    found = msgspec.structs.replace(case.assertions[0], finding=TextFinding(kind="forbidden", text="79"))
    differs = msgspec.structs.replace(found, finding=TextFinding(kind="differs", text="Three flights, from 89 EUR"))
    details = msgspec.structs.replace(case.details, response="Three flights, from 79 EUR.")
    page = shown([suite([msgspec.structs.replace(case, details=details, assertions=(found,))])])
    page.locator("#rows .row").first.click()
    assert page.locator("#details mark").all_inner_texts() == ["79"]
    page = shown([suite([msgspec.structs.replace(case, details=details, assertions=(differs,))])])
    page.locator("#rows .row").first.click()
    assert page.locator("#details mark").all_inner_texts() == ["79"]


def test_checks_stand_by_their_lines_the_failing_one_first(shown: Shown) -> None:
    case = _failing("rome", "no tool errors", "search: timed out")
    passed = AssertionResult(at="/expect/checks/1", outcome="passed", line='contains "EUR"')
    page = shown([suite([msgspec.structs.replace(case, assertions=(passed, *case.assertions))])])
    page.locator("#rows .row").first.click()
    details = page.locator("#details")
    assert details.locator(".failing .at").all_inner_texts() == ["no tool errors"]
    assert details.inner_text().count("search: timed out") == 1
    every = details.locator("section", has=page.locator("h3", has_text="All checks"))
    assert every.locator(".at").all_inner_texts() == ['contains "EUR"', "no tool errors"]


def test_a_case_is_copied_as_markdown_and_as_a_command(shown: Shown) -> None:
    page = shown(reported(), "#get_weather.labeled%2Fweather%2Fcairo")
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.get_by_role("button", name="Copy the command").click()
    expect(page.locator(".copies [role=status]")).to_have_text("Copied.")
    command = page.evaluate("navigator.clipboard.readText()")
    assert shlex.split(command) == [
        *("evalc", "run", "evals/weather.eval.yaml::weather/cairo", "--agent", "http://localhost:3000/chat")
    ]
    page.get_by_role("button", name="Copy as Markdown").click()
    text = page.evaluate("navigator.clipboard.readText()")
    assert text.startswith("### ✗ `weather/cairo`: failed")
    assert "**message**\n\n```\nWhat is the weather in Cairo?\n```" in text
    assert f"```\n{command}\n```" in text
    sound(page)


@pytest.mark.parametrize("identity", ["it's; rm -rf ~", "$(x) `y`\n```", "a b"])
def test_a_hostile_id_stays_one_word_of_the_command(shown: Shown, identity: str) -> None:
    page = shown([suite([answered(identity, "```\n# x\n````")])])
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.get_by_role("button", name="Copy the command").click()
    command = page.evaluate("navigator.clipboard.readText()")
    assert shlex.split(command) == ["evalc", "run", identity, "--agent", "http://localhost:3000/chat"]
    page.get_by_role("button", name="Copy as Markdown").click()
    text = page.evaluate("navigator.clipboard.readText()")
    assert "\n`````\n```\n# x\n````\n`````" in text


def test_no_command_is_offered_that_a_terminal_would_obey_when_it_is_pasted(shown: Shown) -> None:
    page = shown([suite([answered("a\x1b[201~\rreboot", "hi")])])
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    assert page.locator(".copies button").all_inner_texts() == ["Copy as Markdown"]


def test_rows_that_passed_show_their_message(shown: Shown) -> None:
    page = shown(reported())
    page.locator("#query").fill("weather/tokyo")
    assert page.locator("#rows .row .why").first.inner_text() == "What is the weather in Tokyo?"


def test_cases_of_several_agents_name_them_and_stand_in_a_table(shown: Shown) -> None:
    answers = {"mild": ["tokyo", "paris"], "warm": ["tokyo", "paris"], "cold": ["paris"]}
    page = shown(
        [suite([answered(city, f"It is {word}.") for city in cities], agent=word) for word, cities in answers.items()]
    )
    page.evaluate("document.getElementById('cases').scrollIntoView()")
    expect(page.locator("#rows .row", has_text="tokyo").locator(".badge")).to_have_text(["mild", "warm"])
    table = page.locator("#matrix table")
    assert table.locator("thead th").all_inner_texts() == ["Case", "mild2 of 2", "warm2 of 2", "cold1 of 1"]
    assert table.locator("tbody tr").count() == 2
    assert page.locator("#latency h3").all_inner_texts() == ["mild", "warm", "cold"]
    assert page.locator("#latency figure").count() == 3
    table.locator("tbody a").first.click()
    expect(page.locator("#details")).to_be_visible()


def test_agents_are_compared_measure_by_measure_and_a_column_filters(shown: Shown) -> None:
    good = [answered("tokyo", "It is mild."), msgspec.structs.replace(answered("oslo", "Cold."), duration_ms=900.0)]
    bad = [_failing("tokyo", "no tool errors", "timed out"), answered("oslo", "Cold.")]
    page = shown([suite(good, agent="careful"), suite(bad, agent="cheap")], viewport={"width": 1440, "height": 900})
    table = page.get_by_role("region", name="Agents", exact=True).locator("table")
    assert table.locator("th[scope=col]").all_inner_texts() == ["careful", "cheap"]
    assert table.locator("tbody tr").first.locator("td").all_inner_texts() == ["100 %", "50 %"]
    assert table.locator("tbody tr").first.locator(".best").all_inner_texts() == ["100 %"]
    assert table.locator("tbody tr", has_text="p95").locator(".best").all_inner_texts() == ["100 ms"]
    sound(page)
    table.get_by_role("button", name="cheap").click()
    assert page.locator("#rows .badge:not(.bad)").all_inner_texts() == ["cheap", "cheap", "cheap"]  # one was skipped
    page.reload()
    assert page.get_by_role("button", name="cheap").first.get_attribute("aria-pressed") == "true"
    assert "passed\n" not in page.locator("#verdict .tiles").inner_text()  # that of both would be that of none


def test_variants_of_a_prompt_are_compared_too_and_named_with_their_agents(shown: Shown) -> None:
    def cases(agent: str) -> list[CaseResult]:
        made = (answered(f"tokyo@{variant}", f"{agent} {variant}") for variant in ("plain", "polite"))
        return [msgspec.structs.replace(case, variant=case.id.partition("@")[2]) for case in made]

    page = shown([suite(cases(agent), agent=agent) for agent in ("careful", "cheap")])
    names = ["careful · plain", "careful · polite", "cheap · plain", "cheap · polite"]
    assert page.locator("#versions th[scope=col]").all_inner_texts() == names
    page.locator("#rows .row").first.click()
    titles = page.locator(".version h4").all_inner_texts()
    assert titles == ["careful · polite", "careful · plain · this case", "cheap · plain", "cheap · polite"]


def test_a_confusion_matrix_names_recall_and_its_cells_filter(shown: Shown) -> None:
    given = [("refund", "refund"), ("refund", "delivery"), ("refund", None), ("delivery", "delivery")]
    cases = [
        msgspec.structs.replace(answered(f"t{n}", "x"), label=LabelResult(expected=expected, predicted=predicted))
        for n, (expected, predicted) in enumerate(given)
    ]
    made = suite(cases)
    rate = RateEstimate(value=1 / 3, low=0.1, high=0.8, of=3)
    labels = LabelSummary(
        cases=4,
        accuracy=rate,
        macro_f1=0.5,
        classes=tuple(ClassSummary(name=name, recall=rate, precision=rate, f1=0.5) for name in ("delivery", "refund")),
        confusion=tuple(ConfusedClasses(expected=one, predicted=other, cases=1) for one, other in given),
    )
    summary = msgspec.structs.replace(made.result.summary, labels=labels)
    made = msgspec.structs.replace(made, result=msgspec.structs.replace(made.result, summary=summary))
    page = shown([made])
    table = page.locator(".confusion")
    heads = ["Expected", "delivery", "refund", "no label", "recall", "F1"]
    assert table.locator("thead th").all_inner_texts() == heads
    assert table.locator("tbody tr").nth(1).locator("td").all_inner_texts() == ["1", "1", "1", "0.33", "0.50"]
    assert table.locator("tbody tr").last.locator("td").all_inner_texts() == ["0.33", "0.33", "", "", ""]
    sound(page)
    table.get_by_role("button", name="refund taken for no label: 1 case").click()
    assert page.locator("#rows .row a").all_inner_texts() == ["t2"]
    page.reload()
    assert page.locator("#rows .row a").all_inner_texts() == ["t2"]


def test_changes_since_the_baseline_say_what_they_prove(shown: Shown) -> None:
    before = {f"c{n}": answered(f"c{n}", "x") for n in range(10)}
    made = suite([*(_failing(f"c{n}", "no tool errors", "no") for n in range(9)), answered("c9", "x")], baseline=before)
    proved = Significance(
        pairs=10, regressed=9, newly_passed=0, errors=0, p_value=0.0039, verdict="worse", more_cases=None
    )
    page = shown([msgspec.structs.replace(made, result=msgspec.structs.replace(made.result, significance=proved))])
    strip = page.locator("#verdict")
    assert "worse: 9 of 10 cases regressed" in strip.inner_text()
    assert "p = 0.0039" in strip.inner_text()
    assert strip.locator(".step").first.text_content() == " ▼ down by 90.0 points"


def test_a_page_of_one_agent_has_no_table_of_agents(shown: Shown) -> None:
    page = shown(reported())
    expect(page.locator("#agents")).to_be_hidden()
    assert page.locator("#latency figure").count() == 1


def test_a_narrow_screen_gives_the_details_all_of_it(shown: Shown) -> None:
    page = shown(reported(), viewport={"width": 390, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    box = page.locator("#details").bounding_box()
    assert box is not None
    assert (box["x"], box["width"]) == (0, 390)
    assert page.evaluate("document.getElementById('page').inert") is True


def test_paper_holds_every_failure_with_what_was_said(shown: Shown) -> None:
    page = shown(reported())
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    page.emulate_media(media="print")
    assert page.locator("#printed article").count() == 4
    assert page.locator("#printed article .excerpt").count() == 2
    expect(page.locator("#printed h3", has_text="weather/cairo")).to_be_visible()
    expect(page.locator("#cases")).to_be_hidden()
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert page.locator("#printed article").count() == 0


def test_without_scripts_it_says_the_result_the_reasons_and_what_failed(
    shown: Shown, browser: Browser, root: Path
) -> None:
    failed = [_failing(f"<b>{n}</b>", f'contains "{n}"', f"'{n}<script>' is not \u202ethere") for n in range(310)]
    shown([suite([*failed, answered("fine", "Yes.")])], exit_code=1)
    context = browser.new_context(java_script_enabled=False, viewport={"width": 390, "height": 800})
    page = context.new_page()
    page.goto((root / "report.html").as_uri())
    assert page.title() == "1 of 311 cases passed · evalc"
    text = page.locator("noscript")
    assert "Failed 310 of 311 cases failed, 1 gate is not met" in text.inner_text()
    assert "310 contains … … is not \\u202ethere" in text.inner_text()
    assert text.locator("li", has_text="<b>7</b> contains").inner_text() == (
        "<b>7</b> contains \"7\" '7<script>' is not \\u202ethere"
    )
    assert text.locator("li").last.inner_text() == "and 10 more"
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    expect(page.locator("#page")).to_be_hidden()
    context.close()


@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 390)])
def test_axe_finds_nothing(shown: Shown, scheme: str, width: int) -> None:
    size = {"width": width, "height": 800}
    page = shown(reported(), trends=trends(), color_scheme=scheme, reduced_motion="reduce", viewport=size)
    sound(page)
    page.locator(".course summary").first.click()
    sound(page)
    page.locator("#query").fill("no such case")
    sound(page)
    page.locator("#query").fill("")
    for case in ("cairo", "perth"):
        _go_to(page, case)
        sound(page)
    page.keyboard.press("Escape")
    page.evaluate("document.getElementById('help').showModal()")
    sound(page)


def _go_to(page: Page, case: str) -> None:
    page.evaluate(f"location.hash = 'get_weather.labeled%2Fweather%2F{case}'")
    expect(page.locator("#details-title")).to_have_text(f"weather/{case}")


def test_pass_rates_by_tag_stand_beside_the_scores(shown: Shown) -> None:
    first, second = reported()
    german = Slice(tag="lang=de", passed=9, of=20, errors=0, rate=0.45, low=0.25, high=0.67)
    summary = msgspec.structs.replace(first.result.summary, slices=(german,))
    page = shown(
        [msgspec.structs.replace(first, result=msgspec.structs.replace(first.result, summary=summary)), second]
    )
    row = page.locator("#scores li li", has_text="passed of lang=de")
    assert "0.45" in row.inner_text()
    assert "over 20 cases" in (row.text_content() or "")


def test_cases_that_are_only_counted_are_among_the_totals(shown: Shown, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("evalc.report.html.MOST_PASSED", 3)
    page = shown([suite([answered(f"m/{number}", "ok") for number in range(5)])])
    expect(page.locator("#count")).to_have_text("4 cases")  # one of them was skipped
    expect(page.locator("#verdict .legend")).to_contain_text("passed 5")
    expect(page.locator("#notices")).to_contain_text("of 5 cases that passed, 2 are only counted here")
    expect(page.locator("#latency figcaption")).to_contain_text("Half of 5 cases")


def test_a_case_of_which_nothing_is_verified_any_more_is_a_regression(shown: Shown) -> None:
    passed = [answered(f"m/{number}", "ok") for number in range(2)]
    failed = msgspec.structs.replace(answered("m/2", "no"), status="failed", passed=False)
    lapsed = [msgspec.structs.replace(case, status="unverified", passed=True) for case in (passed[0], failed)]
    page = shown([suite([*lapsed, passed[1]], baseline={case.id: case for case in (*passed, failed)})])
    badges = page.locator("#rows .badge").all_inner_texts()
    assert [badge for badge in badges if badge in ("regression", "new pass")] == ["regression"]
