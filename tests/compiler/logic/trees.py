"""Strategies for checks that have much to do with each other, and for answers that are likely to satisfy them."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any, Final

import msgspec
from hypothesis import strategies as st

from evalc.check.tree import (
    All,
    Argument,
    At,
    Bounds,
    Call,
    Check,
    Failure,
    Items,
    Measure,
    Not,
    Of,
    Result,
    Some,
    Step,
    Test,
    Tools,
    Turn,
)
from evalc.check.values import FORMATS
from evalc.model.answer import ToolCall, Usage
from evalc.runtime.checks import Beside, CheckOutcome, Evidence, View
from evalc.runtime.checks.evaluate import evaluate

_TEXTS: Final = [
    *("a", "b", "ab", "abc", "A", "Ab", "abc b", " ", "\n", "a\nb", "\r", "\r\n", "ß", "SS", "ss", "\u017f", "İ", "i"),
    *("🎉", "é", "e\u0301", "", "1", "12", "null", '"a"', "{", "[", "undefined", "fine", "```json\n[1]\n```", "\u00a0"),
    *('{"a": "b"}', '{"a": 1, "b": {"a": "ab"}}', "[1]", "[]", '[{"a": "abc"}]', '{"a.b": 1}', "# A", "a b", "12 a"),
    *('{"a":["a","ab"],"b":[1,2]}', '{"b":[{"a":1},{"a":"a"}]}', '["b","a"]', "2026-01-31", "1.5", "true", "1,2"),
    *("{{seed:x}}", "a{{seed:x}}", "{{seed:x}}b", "{{seed:y}} {{seed:x}}", "{{ seed:x }}b", "a{{seed:y}}"),
]
_PATTERNS: Final = [
    *("a", "^a", "^ab$", "b$", r"\d+", "a.*b", "a|b", r"\bab\b", "(ab)+", "[ab]{2}", "(?!a)", "(?=ab)a", "(?i:a)b"),
    *(r"^\s*$", r"\S", "a^", "", "^", "x*", "(?<=a)b", "^[^]*$", "🎉", "^.", "ss", "^a[^]", "ab?c", r"(a)\1", "a\nb"),
]
_JSON: Final[list[Any]] = [
    *(1, 1.0, 1.5, 2, 12, True, False, None, "1", "a", "ab", "", " ", "[1]", "null", "2026-01-31"),
    *([1], [15], [], ["a"], ["ab", "a"], [1, 2], [2, 1.0], {"a": 1}, {}, {"a": "ab", "b": [1]}, [{"a": 1}, {"a": "a"}]),
    *("{{seed:x}}", ["{{seed:x}}"]),
]
TEXTS: Final = st.sampled_from(_TEXTS)
VALUES: Final = st.one_of(TEXTS, st.sampled_from(_JSON))
_TOOLS: Final = st.sampled_from(["t", "u", "v"])
_NAMES: Final = st.lists(_TOOLS, max_size=3).map(tuple)
_PATHS: Final = st.sampled_from(["a", "b", "b.a", '["a.b"]', "[0]", "[0].a", "b[0]", "a[1]", ""])
_EVERY: Final = st.sampled_from(["a[]", "b[]", "b[].a", "[]", "[].a"])
_NUMBERS: Final = st.sampled_from([-1, 0, 1, 1.5, 2, 3, 5])
_TYPES: Final = ["string", "number", "integer", "boolean", "array", "object", "null"]
_SCHEMAS: Final[list[Any]] = [None, None, None, True, False, {}, {"type": "object"}, {"type": "array"}]

_BOUNDS: Final = st.one_of(
    st.builds(lambda least, most: Bounds(min=least, max=most), *[st.none() | _NUMBERS] * 2),
    st.builds(lambda above, below: Bounds(above=above, below=below), *[st.none() | _NUMBERS] * 2),
    _NUMBERS.map(lambda number: Bounds(min=number, max=number)),
)
_BETWEEN: Final = st.builds(Test, st.just("between"), _BOUNDS)


def _tests(predicate: str, operands: st.SearchStrategy[Any], *, folds: bool = False) -> st.SearchStrategy[Test]:
    return st.builds(Test, st.just(predicate), operands, st.booleans() if folds else st.just(False))


def _several(values: st.SearchStrategy[Any]) -> st.SearchStrategy[tuple[Any, ...]]:
    return st.lists(values, min_size=1, max_size=3).map(tuple)


OF_VALUES: Final[dict[str, st.SearchStrategy[Test]]] = {
    "contains": _tests("contains", st.one_of(TEXTS, VALUES), folds=True),
    "contains_any": _tests("contains_any", _several(VALUES), folds=True),
    "contains_all": _tests("contains_all", _several(TEXTS), folds=True),
    "occurs": _tests("occurs", st.tuples(TEXTS, _BOUNDS), folds=True),
    "matches": _tests(
        "matches", st.tuples(st.sampled_from(_PATTERNS), st.sampled_from(["", "", "", "i", "m", "s", "u"]))
    ),
    "equals": _tests("equals", TEXTS, folds=True),
    "is": _tests("is", st.sampled_from([value for value in _JSON if not isinstance(value, str)])),
    "one_of": _tests("one_of", st.one_of(st.just(()), _several(VALUES)), folds=True),
    "starts_with": _tests("starts_with", TEXTS, folds=True),
    "ends_with": _tests("ends_with", TEXTS, folds=True),
    "similar": _tests("similar", st.tuples(TEXTS, st.sampled_from([0, 0.5, 0.8, 1, 2]))),
    "between": _BETWEEN,
    "within": _tests("within", st.tuples(st.sampled_from([0, 0.5, 1]), _NUMBERS)),
    "exists": _tests("exists", st.none()),
    "empty": _tests("empty", st.none()),
    "non_empty": _tests("non_empty", st.none()),
    "is_a": _tests("is_a", st.sampled_from(_TYPES)),
    "format": _tests("format", st.sampled_from([*FORMATS])),
    "sorted": _tests("sorted", st.tuples(st.booleans(), st.sampled_from([None, "a"]))),
    "unique": _tests("unique", st.none()),
    "markdown": _tests("markdown", st.just(("list", None))),
    "structure": _tests(
        "structure",
        st.tuples(
            st.lists(st.tuples(_PATHS | _EVERY, st.sampled_from([None, *_TYPES[:6]])), max_size=2).map(tuple),
            st.lists(st.sampled_from(["A", "a", "b"]), max_size=1).map(tuple),
        ),
    ),
    "json": _tests(
        "json", st.tuples(st.sampled_from(["strict", "lenient", "object", "array"]), st.sampled_from(_SCHEMAS))
    ),
    "numbers_from": _tests("numbers_from", st.sampled_from([("tools",), ("message",), ("tools", "message")])),
    "quotes_from": _tests("quotes_from", st.just(("tools",))),
}
"""The predicates of values, each with operands of its own."""
_OF_TEXT: Final = st.one_of(
    *(OF_VALUES[name] for name in ("contains", "equals", "starts_with", "ends_with", "matches"))
)
_OF_NAMES: Final = st.one_of(
    _tests("called", _NAMES),
    _tests("acceptable", st.lists(st.one_of(_NAMES, st.just(("__none__",))), min_size=1, max_size=2).map(tuple)),
    *(_tests(predicate, _NAMES) for predicate in ("not_called", "include", "in_order", "only")),
    _tests("before", st.tuples(_TOOLS, _TOOLS)),
    _tests("no_errors", st.none()),
)


def _of(step: st.SearchStrategy[Step], check: st.SearchStrategy[Any]) -> st.SearchStrategy[Check]:
    return st.builds(Of, step, check)


def _maybe_not(check: st.SearchStrategy[Any]) -> st.SearchStrategy[Check]:
    return st.one_of(check, check, check.map(Not))


_MEASURES: Final = st.sampled_from([Measure(unit) for unit in ("chars", "words", "lines", "bytes")])


_PREDICATES: Final = st.sampled_from([*OF_VALUES])


@st.composite
def _any_test(draw: st.DrawFn) -> Test:
    return draw(OF_VALUES[draw(_PREDICATES)])


_AT_PLACES: Final = _maybe_not(_any_test() | _any_test() | _of(_MEASURES | st.just(Measure("items")), _BETWEEN))


@st.composite
def _of_places(draw: st.DrawFn) -> Check:
    return draw(_AT_PLACES)


_PARTS: Final = _of(st.builds(At, st.sampled_from(["p", "q", "p.a", "p[0]"])), _of_places())
_OF_ITEMS: Final = st.one_of(_of_places(), _of(st.builds(At, st.just("a")), _of_places()))
_OF_CALL: Final = st.one_of(
    _PARTS,
    st.lists(_PARTS, min_size=2, max_size=2).map(lambda parts: All(tuple(parts))),
    _of(st.builds(Result), st.one_of(_of_places(), _of(st.builds(At, st.just("a")), _of_places()))),
    _of(st.builds(Failure), _OF_TEXT),
    _tests("fails", st.none()),
)
_LEAVES: Final[st.SearchStrategy[Check]] = st.one_of(
    _maybe_not(_OF_TEXT),
    _any_test(),
    _of(_MEASURES, _BETWEEN),
    _of(st.sampled_from([Measure("tokens"), Measure("ms"), Measure("items")]), _BETWEEN),
    _maybe_not(_of(st.sampled_from([Measure("errors"), Measure("total_tokens"), Measure("input_tokens")]), _BETWEEN)),
    _of(st.builds(At, _PATHS), _of_places()),
    _of(st.builds(At, st.sampled_from(["a", "b"])), _of_places()),
    _of(st.builds(Items, _EVERY, st.sampled_from(["any", "every", "no"])), _OF_ITEMS),
    _of(st.just(Tools()), _OF_NAMES),
    _of(st.builds(Measure, st.just("calls"), st.sampled_from(["", "t", "u"])), _BETWEEN),
    _of(
        st.builds(Call, st.sampled_from(["t", "t", "u"]), st.just("first")),
        _of(st.builds(Argument, st.sampled_from(["p", "p", "q"])), _of_places()),
    ),
    _of(st.builds(Call, _TOOLS, st.sampled_from(["any", "every", "no", 1, 2])), _OF_CALL),
)


@st.composite
def _leaves(draw: st.DrawFn) -> Check:
    return draw(_LEAVES)


LEAVES: Final = _leaves()
_IN_TURNS: Final = _of(st.sampled_from([Turn(1), Turn(2)]), _maybe_not(LEAVES))


def _compositions(checks: st.SearchStrategy[Check]) -> st.SearchStrategy[Check]:
    several = _several(checks)
    return st.one_of(st.builds(Not, checks), st.builds(Some, several), st.builds(All, several))


CHECKS: Final = st.recursive(st.one_of(LEAVES, LEAVES, LEAVES, _IN_TURNS), _compositions, max_leaves=5)

_ARGUMENTS: Final = st.dictionaries(st.sampled_from(["p", "q"]), VALUES)
_CALLS: Final = st.lists(
    st.builds(
        ToolCall,
        name=_TOOLS,
        params=_ARGUMENTS,
        result=st.sampled_from([1, "a 12", [], {"a": "ab"}, '{"a":1}']),
        success=st.sampled_from([True, True, False, None]),
    ),
    max_size=3,
).map(tuple)
_SEEDS: Final = st.sampled_from(["", "a", "b", " ", "abc", "\n", "ß", 1])
_ITEMS: Final = st.lists(st.one_of(VALUES, VALUES.map(lambda v: {"a": v})), max_size=2)
_WRITTEN: Final = st.one_of(
    VALUES,
    st.dictionaries(st.sampled_from(["a", "b", "a.b"]), VALUES, max_size=2),
    st.builds(lambda value: {"b": {"a": value}}, VALUES),
    st.builds(lambda items: {"b": items}, _ITEMS),
    _ITEMS,
).map(lambda value: msgspec.json.encode(value).decode())
"""JSON with the values that checks speak of at the places that they look at."""
_PIECES: Final = st.lists(st.one_of(TEXTS, _WRITTEN), max_size=3)
_MODES: Final[st.SearchStrategy[Any]] = st.sampled_from(["executed", "executed", "routing"])
_DURATIONS: Final = st.integers(0, 5)
_USAGES: Final = st.sampled_from([None, Usage(input_tokens=3), Usage(input_tokens=1, output_tokens=2)])


@st.composite
def _one_answer(draw: st.DrawFn) -> Evidence:
    """An answer made of the texts that checks speak of, with the values of the tokens in it."""
    seed = {"x": draw(_SEEDS), "y": draw(_SEEDS)}
    pieces = draw(_PIECES)
    response = "".join(pieces[:1] if draw(st.booleans()) else pieces)
    for name, value in seed.items():
        response = response.replace(f"{{{{seed:{name}}}}}", str(value))
    return Evidence(
        response=response,
        tool_calls=draw(_CALLS),
        tool_mode=draw(_MODES),
        duration_ms=draw(_DURATIONS),
        usage=draw(_USAGES),
        seed=seed,
    )


_ONE_ANSWER: Final = _one_answer()


@st.composite
def answers(draw: st.DrawFn) -> Evidence:
    """An answer, or a conversation of two, each of which is checked by itself, too."""
    whole = draw(_ONE_ANSWER)
    if not draw(st.booleans()):
        return whole
    turns = [msgspec.structs.replace(draw(_ONE_ANSWER), seed=whole.seed, turn=number) for number in (1, 2)]
    return msgspec.structs.replace(whole, turns=tuple(turns))


def outcomes(checks: Sequence[Check], evidence: Evidence, *, in_case: bool = False) -> list[CheckOutcome]:
    """The runner's verdict of each check; in a case those of calls of a tool compete with each other."""

    beside = Beside(checks if in_case else ())

    async def run() -> list[CheckOutcome]:
        return [(await evaluate(check, View.of(evidence, beside))).outcome for check in checks]

    return asyncio.run(run())
