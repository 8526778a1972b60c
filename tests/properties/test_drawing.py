"""Every key, type of check and tag of templates that the checker knows can be drawn for the laws."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterator
from typing import Any, Final

from hypothesis import Phase, given, seed, settings
from hypothesis import strategies as st

from evalc.base.source import Source, Span
from evalc.diagnostics import Finding
from evalc.dsl.build_case import CASE, DEFAULTS, FOR_EACH
from evalc.dsl.build_check import GROUPS, LINK_KEYS, USE
from evalc.dsl.build_expect import EXPECT
from evalc.dsl.build_prompt import INPUT, PROMPT_SPEC, VARIANT
from evalc.dsl.build_rule import CHECK_TYPES
from evalc.dsl.build_suite import CRITERION, DOCUMENTS, EVAL, GATES
from evalc.dsl.document_kind import Kind
from evalc.dsl.read_yaml import read_yaml
from evalc.dsl.scalars import to_plain
from evalc.grammar.lalr import load
from tests.properties.drawing.checks import LABELED, MANY, ONCE, Draw, Spelt, about, judged
from tests.properties.drawing.suites import Project, projects
from tests.properties.drawing.worlds import DATA, PROSE
from tests.support.laws import examples

_KEPT: Final = (*DOCUMENTS[Kind.SUITE], "id", "prompt", "inputs", "version", "model_compatibility")
_UNREAD: Final = frozenset(PROMPT_SPEC) - frozenset(_KEPT)
"""PromptSpec's keys that evalc keeps unread, for which two stand; `role` and `instructions`, which no import says."""
_CLASSES: Final = frozenset({"label", "recall", "precision", "macro_f1"})
"""Not drawn yet in defaults and as gates, which need labels of all cases (tests/cli/test_labels.py)."""
_TAG: Final = re.compile("|".join(f"(?P<{each.name}>{each.pattern})" for each in load("template").terminals))
"""Finds whatever may stand in a template; the last group is what it is."""
_THIS: Final = "{{this}}"
_ROUNDS: Final = 12
_TAGS: Final = (*(_TAG.groupindex.keys() - {"WORDS", "BRACES"}), _THIS)
"""The tags of templates, and the variable that only `#each` has."""
_KNOWN: Final[dict[str, Collection[str]]] = {
    "document": (*(key for keys in DOCUMENTS.values() for key in keys if key not in _UNREAD), *EVAL.keys),
    "case": CASE.keys.keys() - {"files", "skill"},  # which name files of the working folder's project
    "defaults": tuple(key for key in DEFAULTS.keys if key not in _CLASSES),
    "expect": EXPECT.keys,
    "for_each": FOR_EACH.keys,
    "gates": tuple(key for key in GATES.keys if key not in {*_CLASSES, "max_p95_ms"}),  # `max_p95` in its old spelling
    "criterion": CRITERION.keys,
    "input": INPUT.keys,
    "variant": tuple(key for key in VARIANT.keys if key != "id"),  # not drawn yet: a variant that is looked up
    "validate": (*LINK_KEYS, *GROUPS, USE),
    "template": _TAGS,
}
"""The keys, types and tags that the checker knows, by their place."""


@st.composite
def one_of_each(draw: Draw) -> list[Spelt]:
    """A check of each maker, in both worlds."""
    made = [
        make(draw, world) for world in (PROSE, DATA) for make in {**MANY, **ONCE, **LABELED, **about(world)}.values()
    ]
    return [*made, judged(draw)]


def test_every_type_of_check_is_drawn() -> None:
    mappings: set[str] = set()
    records: set[str] = set()

    @settings(max_examples=examples(20))
    @given(one_of_each())
    def note(drawn: list[Spelt]) -> None:
        mappings.update(spelt.mapping["type"] for spelt in drawn if "type" in spelt.mapping)
        records.update(spelt.record["type"] for spelt in drawn)
        records.update(spelt.record["check"]["type"] for spelt in drawn if spelt.record["type"] == "at")

    note()
    assert {*CHECK_TYPES} - mappings == set()
    assert {*CHECK_TYPES, "at", "check"} - records == set()


def test_the_whole_language_is_drawn() -> None:
    drawn: dict[str, set[str]] = defaultdict(set)

    def note(project: Project) -> None:
        texts = [text for name, text in project.files.items() if name.endswith((".yaml", ".txt"))]
        for text in texts:
            tags = list(_TAG.finditer(text.replace("\\\\", "\\")))
            drawn["template"].update(tag.lastgroup or "" for tag in tags)
            drawn["template"].update(_THIS for tag in tags if tag[0] == _THIS)
        for name, text in project.files.items():
            for document in _documents(name, text) if name.endswith(".yaml") else ():
                for place, keys in _keys(document):
                    drawn[place].update(keys)

    missing: dict[str, set[str]] = {}
    for number in range(_ROUNDS):  # some keys come once in hundreds of projects
        drawing = settings(max_examples=300, phases=[Phase.generate], database=None)(given(projects())(note))
        seed(number)(drawing)()
        missing = {place: keys for place, known in _KNOWN.items() if (keys := {*known} - drawn[place])}
        if not missing:
            break
    assert missing == {}


def _keys(document: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """The keys of a document and of what stands in it, each with what it is a key of."""
    yield "document", document
    inner = {**document, **document.get("eval", {})}
    for place in ("defaults", "gates"):
        yield place, inner.get(place, ())
    yield from (("criterion", each) for each in inner.get("criteria", ()) if isinstance(each, dict))
    yield from (("variant", each) for each in inner.get("prompts", {}).values() if isinstance(each, dict))
    declared = inner.get("inputs", ())
    named = declared.values() if isinstance(declared, dict) else declared
    yield from (("input", each) for each in named if isinstance(each, dict))
    for holder in (*inner.get("test_cases", ()), inner.get("defaults", {})):
        yield from (("validate", each) for each in holder.get("validate", ()) if isinstance(each, dict))
        yield "expect", holder.get("expect", ())
        yield "for_each", holder["for_each"] if isinstance(holder.get("for_each"), dict) else ()
    yield from (("case", case) for case in inner.get("test_cases", ()))


def _documents(name: str, text: str) -> Iterator[Any]:
    for node in read_yaml(Source(name, text), _refuse):
        assert node is not None
        yield to_plain(node, _refuse)


def _refuse(_span: Span, finding: Finding) -> None:
    raise AssertionError(finding.message())
