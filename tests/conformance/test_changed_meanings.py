"""Lines whose meaning has changed, as data: what they say from now on, and the same rows in the pages."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Final

import msgspec

from evalc.grammar.read_check import read_check
from evalc.model.answer import ToolCall
from evalc.runtime.checks import Evidence, View
from evalc.runtime.checks.evaluate import evaluate
from tests.conformance.documents import FOLDER, Entry, with_key

_PAGE: Final = (Path(FOLDER).parent / "language.md").read_text(encoding="utf-8")


@with_key("untilNow")
def test_a_line_says_what_it_says_from_now_on(entry: Entry) -> None:
    line = read_check(entry["line"]).node
    assert line is not None
    agent = entry["agent"]
    calls = tuple(msgspec.convert(call, ToolCall) for call in agent["toolCalls"])
    evidence = Evidence(response=agent["response"], tool_calls=calls, seed=entry.get("seed"))
    assert asyncio.run(evaluate(line.check, View.of(evidence))).outcome == entry["fromNowOn"] != entry["untilNow"]


@with_key("untilNow")
def test_the_page_of_the_language_has_a_row_for_each_line(entry: Entry) -> None:
    calls = entry["agent"]["toolCalls"]
    shown = [f"{call['name']}({json.dumps(call['params'])})" for call in calls] or [entry["agent"]["response"]]
    cells = [f"`{entry['line']}`", "; ".join(f"`{each}`" for each in shown), entry["untilNow"], entry["fromNowOn"]]
    assert f"| {' | '.join(cells)} | {entry['rule']} |" in _PAGE
