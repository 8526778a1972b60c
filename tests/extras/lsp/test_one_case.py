"""The check of the one case that was edited finds what a check of the whole file would."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lsprotocol import types as lsp

from evalc.base.source import Span
from evalc.diagnostics import Problem
from evalc.diagnostics.fixing import ends_the_file
from evalc.extras.lsp.workspace import Document, DocumentProblems, Workspace

HEAD = """suite: many
eval:
  criteria:
    - "right (0.5): Right"
    - {name: kind, weight: 0.5}
  test_cases:
"""
TAIL = "threshold: 0.5\n"
PIECES = [
    "x",
    '"',
    "- ",
    ":",
    "\n",
    '        - containz "a"\n',
    " for rigth",
    "# ",
    "  ",
    "[",
    "{{seed:a}}",
    "length >= 0",
    "'",
    "\t",
]


def case(number: int) -> str:
    return f"""    - name: case_{number}
      message: Say {number}
      validate:
        - contains "{number}" for right
        - not contains "sorry" for kind
"""


def opened(cases: int = 25, *, head: str = HEAD, tail: str = TAIL) -> tuple[Workspace, Document, DocumentProblems]:
    workspace = Workspace()
    text = head + "".join(map(case, range(cases))) + tail
    document = workspace.open(Path("/nowhere/a.eval.yaml").as_uri(), text, 1)
    return workspace, document, workspace.check(document)


def replace(document: Document, start: int, end: int, text: str) -> None:
    range_ = document.range_of(Span(start, end))
    document.change([lsp.TextDocumentContentChangePartial(range_, text)], document.version + 1)


def own_problems(checked: DocumentProblems | None) -> tuple[Problem, ...]:
    return () if checked is None else next(iter(checked.problems.values()))


def places(checked: DocumentProblems) -> list[tuple[str, int, int, str]]:
    [problems] = checked.problems.values()
    return [(each.code, *each.span, each.finding.message()) for each in problems]


@given(data=st.data())
def test_it_finds_what_a_check_of_the_whole_file_finds(data: st.DataObject) -> None:
    workspace, document, checked = opened()
    for _ in range(data.draw(st.integers(1, 4))):
        text = document.source.text
        number = data.draw(st.sampled_from([0, 7, 24]))
        at = text.find(f"case_{number}\n")
        if at < 0:
            break
        start = data.draw(st.integers(at, at + 120))
        end = data.draw(st.integers(start, min(start + 5, len(text))))
        replace(document, start, min(end, len(text)), data.draw(st.sampled_from(PIECES)))
        found = workspace.check_case(document, checked)
        document.edited = None
        whole = workspace.check(document, checked if found is None else found)
        is_shared = any(each.code == "EV206" for each in own_problems(whole))  # an id that stands twice
        # A quote that is opened here (EV103) may be closed in another case.
        is_torn = any(each.code == "EV103" for each in own_problems(found))
        is_torn |= any(map(ends_the_file, own_problems(whole)))
        if found is not None and not is_shared and not is_torn:
            assert places(found) == places(whole)
        checked = whole if found is None or is_shared or data.draw(st.booleans()) else found


def test_several_edits_of_one_case_are_one_check() -> None:
    workspace, document, checked = opened()
    at = document.source.text.index("name: case_7")
    replace(document, at, at + 4, "nme")
    replace(document, at, at + 3, "naame")
    found = workspace.check_case(document, checked)
    assert found is not None
    assert places(found) == places(workspace.check(document))
    assert [code for code, *_ in places(found)] == ["EV201"]


def test_edits_of_several_cases_are_checked_as_a_whole() -> None:
    workspace, document, checked = opened()
    for number in (3, 20):
        at = document.source.text.index(f"name: case_{number}\n")
        replace(document, at, at, "x")
    assert workspace.check_case(document, checked) is None


def test_problems_behind_the_case_move_with_it() -> None:
    workspace, document, _ = opened()
    at = document.source.text.index('contains "20"')
    replace(document, at, at + 8, "containz")
    checked = workspace.check(document)
    document.edited = None
    at = document.source.text.index("Say 3\n")
    replace(document, at, at, "more\n      description: ")
    found = workspace.check_case(document, checked)
    assert found is not None
    moved = [each for each in places(found) if each[0] == "EV203"]
    assert document.source.text[slice(*moved[0][1:3])] == "containz"
    assert moved == [each for each in places(workspace.check(document)) if each[0] == "EV203"]


@pytest.mark.parametrize("paused", [False, True], ids=["at once", "after a pause"])
def test_a_mended_syntax_error_brings_back_what_stands_behind_it(*, paused: bool) -> None:
    workspace, document, _ = opened()
    at = document.source.text.index('contains "20"')
    replace(document, at, at + 8, "containz")
    checked = workspace.check(document)
    at = document.source.text.index('        - contains "3"')
    for length, typed in enumerate("    x", 1):
        document.edited = None
        replace(document, at + length - 1, at + length - 1, typed)
        broken = workspace.check_case(document, checked)
        assert broken is not None
        checked = broken
    [problems] = checked.problems.values()
    assert any(map(ends_the_file, problems))
    assert "EV203" not in {each.code for each in problems}
    document.edited = None
    if paused:
        checked = workspace.check(document, checked)
    replace(document, at, at + 5, "")
    found = workspace.check_case(document, checked)
    assert found is not None
    assert places(found) == places(workspace.check(document))
    assert [code for code, *_ in places(found)] == ["EV203"]


def test_text_behind_a_syntax_error_is_not_read() -> None:
    workspace, document, _ = opened()
    at = document.source.text.index('        - contains "3"')
    replace(document, at, at, "    x")
    checked = workspace.check(document)
    document.edited = None
    at = document.source.text.index('contains "20"')
    replace(document, at, at + 8, "containz")
    found = workspace.check_case(document, checked)
    assert found is not None
    assert places(found) == places(workspace.check(document))
    document.edited = None
    at = document.source.text.index('    x        - contains "3"')
    replace(document, at, at + 5, "")
    assert workspace.check_case(document, found) is None


def test_problems_of_the_whole_file_are_reported_by_its_check() -> None:
    workspace, document, checked = opened()
    at = document.source.text.index("case_7\n")
    replace(document, at, at + 6, "case_8")
    found = workspace.check_case(document, checked)
    assert found is not None
    assert places(found) == []
    assert places(workspace.check(document)) != []


def test_where_cases_may_need_each_other_all_are_read() -> None:
    for head, tail in ((HEAD, "---\nsuite: b\n"), (HEAD.replace("many", "&many many"), TAIL), ("", "")):
        workspace, document, checked = opened(head=head, tail=tail)
        assert not document.cases
        replace(document, 40, 40, "x")
        assert workspace.check_case(document, checked) is None


def test_an_edit_over_the_bounds_of_a_case_makes_others_of_them() -> None:
    workspace, document, checked = opened()
    at = document.source.text.index("    - name: case_9\n")
    replace(document, at - 3, at + 3, "")
    assert workspace.check_case(document, checked) is None
    workspace, document, checked = opened()
    replace(document, 2, 3, "x")
    assert workspace.check_case(document, checked) is None
    document.change([lsp.TextDocumentContentChangeWholeDocument("suite: x\n")], 9)
    assert workspace.check_case(document, checked) is None
