"""Checks of files that the agent wrote."""

from __future__ import annotations

import pytest

from evalc.check.tree import At, Check, File, Not, Of, Test
from evalc.model.answer import MOST_WRITTEN, WrittenFile
from tests.runtime.checks.conftest import Ask

WRITTEN = (
    WrittenFile(path="report.md", size=16, text="# Summary\nTotal: 12"),
    WrittenFile(path="out/data.json", size=13, text='{"total": 12}'),
    WrittenFile(path="chart.png", size=5_000),
)


def of(path: str, check: Check) -> Check:
    return Of(File(path), check)


@pytest.mark.parametrize(
    ("check", "outcome", "message"),
    [
        (of("report.md", Test("contains", "Total")), "passed", None),
        (
            of("report.md", Test("contains", "Risks")),
            "failed",
            "report.md is `# Summary\\nTotal: 12`, expected it to contain `Risks`",
        ),
        (of("out/data.json", Of(At("total"), Test("is", 12))), "passed", None),
        (of("out/data.json", Of(At("total"), Test("is", 13))), "failed", "out/data.json.total is 12, expected 13"),
        (of("report.md", Of(At("total"), Test("is", 12))), "failed", None),
        (of("chart.png", Test("exists")), "passed", None),
        (of("chart.png", Not(Test("exists"))), "failed", None),
        (of("chart.png", Test("contains", "a")), "failed", None),
        (of("chart.png", Not(Test("contains", "a"))), "failed", None),
        (of("gone.md", Test("exists")), "failed", "gone.md is not there"),
        (of("gone.md", Not(Test("exists"))), "passed", None),
        (of("gone.md", Test("contains", "a")), "failed", "gone.md was not written"),
        (of("gone.md", Not(Test("contains", "a"))), "failed", "gone.md was not written"),
        (of("gone.json", Of(At("error"), Not(Test("exists")))), "failed", "gone.json was not written"),
    ],
)
def test_a_file_is_asked_as_a_response_is(ask: Ask, check: Check, outcome: str, message: str | None) -> None:
    """Of what was not written and of what has no text, only `exists` can be asked, under `not` too."""
    verdict = ask(check, "Done.", written=WRITTEN)
    assert verdict.outcome == outcome
    if message is not None:
        assert verdict.message == message


@pytest.mark.parametrize(
    ("sizes", "is_kept"),
    [((), True), ((100_000, 100_000), True), ((100_000, 100_000, 99_990), False), ((300_000, 90_000), True)],
)
def test_a_text_that_there_was_no_room_for_is_no_failure_of_the_agent(
    ask: Ask, sizes: tuple[int, ...], is_kept: bool
) -> None:
    before = [WrittenFile(path=f"{size}.md", size=size, text="a" if size <= 100_000 else None) for size in sizes]
    written = (*before, WrittenFile(path="z.json", size=50))
    for check in (Test("contains", "a"), Not(Test("contains", "a")), Of(At("a"), Test("exists"))):
        assert ask(of("z.json", check), written=written).outcome == ("failed" if is_kept else "error")
    assert ask(of("z.json", Test("exists")), written=written).outcome == "passed"
    if 300_000 in sizes:
        assert ask(of("300000.md", Test("contains", "a")), written=written).outcome == "error"


def test_an_agent_without_a_folder_is_not_asked_for_files(ask: Ask) -> None:
    for check in (Test("exists"), Not(Test("exists")), Test("contains", "a")):
        verdict = ask(of("report.md", check), "Done.")
        assert verdict.outcome == "error"
        assert (
            verdict.message == "report.md: only programs and coding agents have a folder in which they can write files"
        )


def test_it_is_not_known_that_a_file_is_missing_where_not_all_are_kept(ask: Ask) -> None:
    many = tuple(WrittenFile(path=f"{number}.md", size=1, text="a") for number in range(MOST_WRITTEN))
    assert ask(of("gone.md", Not(Test("exists"))), written=many).outcome == "error"
    assert ask(of("0.md", Test("exists")), written=many).outcome == "passed"


@pytest.mark.parametrize(
    ("check", "outcome"),
    [
        (Test("exists"), "passed"),
        (Not(Test("exists")), "failed"),
        (Test("contains", "a"), "failed"),
        (Not(Test("contains", "a")), "failed"),
        (Test("empty"), "failed"),
        (Of(At("total"), Not(Test("exists"))), "failed"),
    ],
)
def test_of_a_file_that_was_given_and_left_as_it_was_only_exists_can_be_asked(
    ask: Ask, check: Check, outcome: str
) -> None:
    verdict = ask(of("given.json", check), written=WRITTEN, unchanged=("given.json",))
    assert verdict.outcome == outcome
    if "exists" not in str(check) or isinstance(check, Of):
        assert verdict.message == "given.json is as the agent was given it"


def test_it_is_not_known_that_a_file_was_removed_where_not_all_that_were_left_are_listed(ask: Ask) -> None:
    left = tuple(f"{number}.md" for number in range(MOST_WRITTEN + 1))
    gone = of("gone.md", Not(Test("exists")))
    assert ask(gone, written=WRITTEN, unchanged=left).outcome == "passed"
    assert ask(gone, written=WRITTEN, unchanged=left[:-1], all_unchanged=False).outcome == "error"
    assert ask(of("0.md", Not(Test("exists"))), written=WRITTEN, unchanged=left).outcome == "failed"
    assert ask(of("report.md", Test("exists")), written=WRITTEN, unchanged=left).outcome == "passed"


def test_a_text_that_a_file_lacks_is_not_marked_in_the_response(ask: Ask) -> None:
    assert ask(of("report.md", Test("contains", "Risks")), "Done.", written=WRITTEN).finding is None
    place = of("out/data.json", Of(At("total"), Test("contains", "Risks")))
    assert ask(place, '{"out/data": {"json": 1}}', written=WRITTEN).finding is None
