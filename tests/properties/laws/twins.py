"""Laws of a suite and the eval JSON that says the same: one compiles to the other, and each reads back as itself."""

from __future__ import annotations

import json
from typing import Any

import msgspec

from evalc.check.contract import rank
from evalc.compiler import ir
from evalc.compiler.compiled import CompiledSuite
from evalc.compiler.lower import verify
from evalc.model.case import Envelope
from tests.properties.trying import Tried, compiled_text, encoded
from tests.support.ir_text import ir_text


def is_its_twin(tried: Tried) -> None:
    """The suite and the JSON that a hand would write for it compile to equal JSON."""
    ours = {name: json.loads(text) for name, text in tried.texts.items()}
    twins = {name: compiled_text(json.dumps(twin), name) for name, twin in tried.project.twins.items()}
    assert ours == {name: json.loads(encoded(twin)) for name, twin in twins.items()}


def reads_back(tried: Tried) -> None:
    """`read_json(write_json(ir)) == ir`, and the IR's own text and the bytes say so too."""
    for suite in tried.suites:
        text = tried.texts[suite.file_name]
        again = compiled_text(text, suite.file_name)
        for each in (suite, again):
            verify(each.ir)
            for case in each.ir.cases:
                ranks = [rank(item.check) for item in case.checks]
                assert ranks == sorted(ranks)
        assert _meaning(again) == _meaning(suite)
        assert encoded(again) == text
        assert len(msgspec.json.decode(text, type=Envelope).cases) == len(suite)
        if suite.ir.cases.tiers == (suite.ir.tier,):
            assert ir_text(again.ir) == ir_text(suite.ir)


def _meaning(suite: CompiledSuite) -> list[Any]:
    """All that the IR of one tier says, but for names that JSON has no place for, and for places."""
    criteria = [(item.name, item.weight, item.description) for item in suite.ir.criteria]
    cases = [_meaning_of(case) for case in suite.ir.cases.of_tier(suite.tier)]
    return [suite.ir.tool, suite.ir.threshold, criteria, cases]


def _meaning_of(case: ir.Case) -> list[Any]:
    return [
        [getattr(case, name) for name in case.__struct_fields__ if name not in _PLACES],
        [item.check for item in case.checks],
        [(link.criterion, link.checks, link.weight) for link in case.links],
    ]


_PLACES = {"name", "checks", "links", "where", "wheres"}
