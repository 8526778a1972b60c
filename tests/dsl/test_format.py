"""The formatter: its laws over generated files, and its style on files written by hand."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from hypothesis import HealthCheck, assume, given, settings
from ruamel.yaml import YAML
from ruamel.yaml.scanner import RoundTripScanner, ScannerError

import evalc
from evalc.dsl.format import Unformattable, format_text
from evalc.dsl.format.same import same_documents
from evalc.dsl.nodes import Node
from evalc.dsl.read_yaml import read_yaml
from evalc.source import Source
from tests.dsl.commented_yaml import eval_files

EXAMPLES = sorted((Path(__file__).parents[2] / "examples").rglob("*.yaml"))
laws = settings(max_examples=300, deadline=None, suppress_health_check=list(HealthCheck))


def read(text: str) -> list[Node | None] | None:
    """The nodes of a sound text; None of another one."""
    broken: list[object] = []
    nodes = read_yaml(Source("t", text), lambda span, finding: broken.append(finding))
    return None if broken else nodes


def comments(text: str) -> list[str]:
    """The comments, as an independent scanner of YAML sees them."""
    found: list[str] = []
    scanner = RoundTripScanner(loader=YAML())
    reader = scanner.loader.Reader(None, loader=scanner.loader)  # type: ignore[no-untyped-call]
    reader.stream = text
    return found


@laws
@given(eval_files())
def test_it_is_idempotent_and_keeps_data_and_comments(text: str) -> None:
    before = read(text)
    assume(before is not None)
    once = format_text(text)
    assert format_text(once) == once
    after = read(once)
    assert before is not None
    assert after is not None
    assert same_documents(before, after)
