"""The law of short cuts: a mapping that is built as most are is what building it with care gives."""

from __future__ import annotations

import pytest

from evalc.base.source import Source
from evalc.diagnostics.problem import Diagnostics, Problem
from evalc.dsl import build_check
from evalc.dsl.build_rule import CHECK_TYPES
from evalc.dsl.build_suite import SuiteTree, build_suite
from evalc.dsl.document_kind import kind_of_document
from evalc.dsl.nodes import Mapping
from evalc.dsl.read_yaml import read_yaml

RULES = (
    "{{language}} is",
    "ok",
    "null",
    "''",
    '"\\n"',
    "[a]",
    "min:100",
    "(a|b)",
    "(a",
    "/a/zz",
    "object",
    "&x words",
    "*x",
)


def built(source: Source) -> tuple[SuiteTree, list[Problem]]:
    problems = Diagnostics()
    (document,) = read_yaml(source, lambda span, finding: problems.add(source, span, finding))
    assert isinstance(document, Mapping)
    kind = kind_of_document(document)
    assert kind is not None
    return build_suite(source, document, kind, problems), list(problems)


@pytest.mark.parametrize("criterion", ["", ", criterion: clarity", ", criterion: ~", ", criterion: [a]"])
@pytest.mark.parametrize("type_", CHECK_TYPES)
def test_a_short_cut_leads_to_the_same_tree(type_: str, criterion: str, monkeypatch: pytest.MonkeyPatch) -> None:
    checks = "".join(f"        - {{type: {type_}, rule: {rule}{criterion}}}\n" for rule in ("&x words", *RULES))
    text = f"suite: s\neval:\n  test_cases:\n    - name: a\n      message: hi\n      validate:\n{checks}"
    source = Source("s.eval.yaml", text)
    by_short_cut = built(source)
    monkeypatch.setattr(build_check, "_as_most", lambda _item: None)
    assert built(source) == by_short_cut
