"""Texts of agents in every report: real readers find the text, and obey nothing in it."""

from __future__ import annotations

import csv
import io
import json
import re
from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree

import xmlschema
from hypothesis import example, given
from junitparser import JUnitXml
from markdown_it import MarkdownIt

from evalc.base.terminal import shortened, visible
from evalc.report import console, formats, junit, markdown
from evalc.report.words import reasons
from tests.report.results import case, suite
from tests.report.runs import HOSTILE, every_status, place, reported, saying, texts

SCHEMA = xmlschema.XMLSchema(str(Path(__file__).parent / "junit.xsd"))
XUNIT = xmlschema.XMLSchema(str(Path(__file__).parent / "xunit.xsd"))
OBEYED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
"""Controls, marks that turn the direction of text, and what no encoding can hold."""


def everything(render: object, *said: str) -> str:
    run = reported(suite(*map(saying, said)))
    return b"".join(render(run)).decode()  # type: ignore[operator]


def test_junit_keeps_to_the_schema_and_counts_every_case() -> None:
    document = b"".join(junit.render(reported(every_status(), suite(tool="empty")))).decode()
    SCHEMA.validate(document)
    read = JUnitXml.fromstring(document.encode())
    first, empty = list(read)
    assert (first.tests, first.failures, first.errors, first.skipped) == (10, 4, 1, 4)
    assert (read.tests, read.failures, read.errors, read.skipped) == (10, 4, 1, 4)
    assert empty.tests == 0
    kinds = {each.name: [type(result).__name__ for result in each.result] for each in first}
    assert kinds == {
        "w/passed": [],
        "w/failed|1": ["Failure"],
        "w/slow": ["Failure"],
        "w/error": ["Error"],
        "w/unverified": ["Skipped"],
        "w/expected": ["Skipped"],
        "w/unexpected": ["Failure"],
        "w/flaky": ["Failure"],
        "w/skipped": ["Skipped"],
        "w/archived": ["Skipped"],
    }
    assert [each.result[0].type for each in first if each.name == "w/slow"] == ["timeout"]


def test_the_strict_form_keeps_to_what_jenkins_xunit_plugin_allows() -> None:
    run = reported(every_status(), suite(tool="empty"))
    document = b"".join(junit.render(run, strict=True)).decode()
    XUNIT.validate(document)
    assert not XUNIT.is_valid(b"".join(junit.render(run)).decode())
    [failed] = [each for each in ElementTree.fromstring(document).iter("testcase") if each.get("name") == "w/failed|1"]
    assert "  at evals/weather.eval.yaml:13:9" in failed.findtext("failure", "")


@given(texts)
@example(HOSTILE[2])
@example(HOSTILE[14])
@example(HOSTILE[16])
def test_junit_is_sound_whatever_is_said(said: str) -> None:
    document = everything(junit.render, said)
    SCHEMA.validate(document)
    assert not OBEYED.search(document)
    [found] = ElementTree.fromstring(document).iter("testcase")
    output = found.findtext("system-out", "")
    assert len(output) < 100_000
    assert bool(output) == bool(said)
    if said.isascii() and said.isprintable() and len(said) < 1_000:
        assert output == said


@given(texts)
@example(HOSTILE[5])
@example(HOSTILE[17])
def test_markdown_holds_it_in_one_block(said: str) -> None:
    document = everything(markdown.markdown, said, "next")
    assert not OBEYED.search(document)
    tokens = MarkdownIt("commonmark").enable("table").parse(document)
    kinds = [token.type for token in tokens]
    assert kinds.count("fence") == 2
    assert kinds.count("heading_open") == 2
    assert kinds.count("table_open") == 1
    assert "html_block" not in kinds
    inline = [child for token in tokens for child in token.children or ()]
    assert not {"link_open", "html_inline", "image"} & {each.type for each in inline}
    assert {each.content for each in inline if each.type == "code_inline"} == {"w/hostile"}


def test_names_in_tables_and_headings_are_names() -> None:
    name = "a | b `c` <b> @octocat [x](y) **z** \\| &amp; https://x.org #1 !2 &3 $4 GH-5 %v1 ~bug\n| new | row |"
    run = reported(suite(case(name, status="failed", error="no"), tool=name, warnings=(name,)))
    rendered = MarkdownIt("commonmark").enable("table").render(b"".join(markdown.markdown(run)).decode())
    apart = re.sub(r"@|https:|#|!|&(?=3)|\$|GH-|%|~", "\\g<0>\u200b", name)
    shown = apart.replace("\n", "\\n").replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    assert rendered.count(f"<td>{shown}.golden</td>") == 1
    assert rendered.count("<tr>") == 2
    assert f"<strong>failed</strong> {shown} in {shown}.golden</p>" in rendered
    assert not re.search(r"<(a|b|code|img)\b(?! class)", rendered)


@given(texts)
@example(HOSTILE[5])
@example("  `")
def test_the_id_of_a_case_is_text(said: str) -> None:
    document = b"".join(markdown.markdown(reported(suite(case(said, status="failed", error="no"))))).decode()
    tokens = MarkdownIt("commonmark").enable("table").parse(document)
    title = next(after for token, after in pairwise(tokens) if token.type == "paragraph_open")
    inline = title.children or []
    assert {each.type for each in inline} <= {"text", "strong_open", "strong_close", "code_inline", "text_special"}
    shown = "".join(each.content for each in inline).replace("\u200b", "")
    assert shown.split() == f"failed {shortened(visible(said), 200)} in get_weather.golden".split()


def test_markdown_is_cut_where_it_would_be_too_long_and_says_so() -> None:
    cases = [case(f"case-{index}", status="failed", error="x" * 1_500, place=place(3)) for index in range(2_000)]
    document = b"".join(markdown.markdown(reported(suite(*cases))))
    shown = document.count(b"**failed**")
    assert 500 < shown < 700
    assert len(document) < markdown.MOST_BYTES
    assert document.endswith(
        f"{2_000 - shown} more cases are not shown: the report is kept below 1000000 bytes.\n\n".encode()
    )


@given(texts)
@example("%")
@example(HOSTILE[4])
def test_annotations_are_one_command_each(said: str) -> None:
    document = everything(formats.github, said, "next")
    first, second, rest = document.split("\n")
    assert not rest
    assert first.startswith("::error file=evals/weather.eval.yaml,line=13,col=9,title=w/hostile%3A failed::")
    assert second.endswith("::next: next")
    assert not OBEYED.search(document.replace("\n", ""))
    message = first.split("::", 2)[2]
    read = message.replace("%0D", "\r").replace("%0A", "\n").replace("%25", "%")
    assert read == next(reasons(saying(said))).in_short()


@given(texts)
@example(HOSTILE[18])
def test_sarif_is_read_back(said: str) -> None:
    document = everything(formats.sarif, said)
    assert document.isascii()
    [result] = json.loads(document)["runs"][0]["results"]
    message = result["message"]["text"]
    assert not re.search(r"(?<!\{)\{\d+\}(?!\})", message)
    assert not re.search(r"(?<!\\)\]\(", message)
    assert not OBEYED.search(message)


@given(texts)
@example(HOSTILE[6])
@example(HOSTILE[13])
@example(HOSTILE[16])
def test_no_cell_is_a_formula(said: str) -> None:
    data = b"".join(formats.csv_table(reported(suite(saying(said), saying("next")))))
    assert not data.startswith(b"\xef\xbb\xbf")
    header, *rows = csv.reader(io.StringIO(data.decode(), newline=""))
    assert tuple(header) == formats.COLUMNS
    assert [len(row) for row in rows] == [len(header)] * 2
    for cell in [cell for row in rows for cell in row]:
        assert not cell.startswith(("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20"))
        assert len(cell) <= 32_767
        assert not OBEYED.search(cell)
    response = dict(zip(header, rows[0], strict=True))["response"]
    if said.isascii() and said.isprintable() and len(said) < 1_000:
        assert response in (said, f"'{said}")


@given(texts)
def test_the_text_holds_nothing_that_a_terminal_obeys(said: str) -> None:
    assert not OBEYED.search(everything(console.render, said).replace("\n", ""))
