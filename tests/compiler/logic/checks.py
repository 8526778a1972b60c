"""Strategies for checks that have much to do with each other, and for answers that are likely to satisfy them."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import Any, Final

import msgspec
from hypothesis import strategies as st

from evalc.check.forms import check_of
from evalc.model import checks as c
from evalc.model.answer import ToolCall
from evalc.runtime.checks.evaluate import evaluate
from evalc.runtime.checks.verdict import CheckOutcome, Evidence

_TEXTS: Final = [
    *("a", "b", "ab", "abc", "A", "Ab", "abc b", " ", "\n", "a\nb", "\r", "\r\n", "ß", "SS", "ss", "\u017f", "İ", "i"),
    *("🎉", "é", "e\u0301", "", "1", "12", "null", '"a"', "{", "[", "undefined", "fine", "```json\n[1]\n```", "\u00a0"),
    *('{"a": "b"}', '{"a": 1, "b": {"a": "ab"}}', "[1]", "[]", '[{"a": "abc"}]', '{"a.b": 1}', "# A", "a b", "12 a"),
    *("{{seed:x}}", "a{{seed:x}}", "{{seed:x}}b", "{{seed:y}} {{seed:x}}", "{{ seed:x }}b", "a{{seed:y}}"),
]
_PATTERNS: Final = [
    *("a", "^a", "^ab$", "b$", r"\d+", "a.*b", "a|b", r"\bab\b", "(ab)+", "[ab]{2}", "(?!a)", "(?=ab)a", "(?i:a)b"),
    *(r"^\s*$", r"\S", "a^", "", "^", "x*", "(?<=a)b", "^[^]*$", "🎉", "^.", "ss", "^a[^]", "ab?c", r"(a)\1", "a\nb"),
]
TEXTS: Final = st.sampled_from(_TEXTS)
_TOOLS: Final = st.sampled_from(["t", "u", "v"])
_NAMES: Final = st.lists(_TOOLS, max_size=3).map(tuple)
_PATHS: Final = st.sampled_from(["a", "b", "b.a", "a.b", "[0]", "[0].a", "[].a", "b[0]", ""])
_SMALL: Final = st.integers(0, 6)
_BOUNDS: Final = st.one_of(
    _SMALL.map(lambda low: {"min": low}),
    _SMALL.map(lambda high: {"max": high}),
    st.tuples(_SMALL, _SMALL).map(lambda pair: {"min": pair[0], "max": pair[1]}),
)
_TYPES: Final = st.sampled_from([None, "string", "number", "integer", "array", "object"])
_SCHEMAS: Final[list[Any]] = [None, None, None, True, False, {}, {"type": "object"}, {"type": "array"}]

_OF_TEXTS: Final[st.SearchStrategy[c.Check]] = st.one_of(
    st.builds(c.Contains, value=TEXTS),
    st.builds(c.NotContains, value=TEXTS),
    st.builds(c.IContains, value=TEXTS),
    st.builds(c.ContainsAny, values=st.lists(TEXTS, min_size=1, max_size=3).map(tuple)),
    st.builds(c.Equals, value=TEXTS),
    st.builds(c.StartsWith, value=TEXTS),
    st.builds(c.EndsWith, value=TEXTS),
    st.builds(c.Regex, pattern=st.sampled_from(_PATTERNS), flags=st.sampled_from(["", "", "i", "m", "s", "u"])),
    st.builds(
        lambda unit, bounds: c.Length(unit=unit, **bounds),
        st.sampled_from(["chars", "words", "lines", "bytes"]),
        _BOUNDS,
    ),
    st.builds(c.NonEmpty),
    st.builds(c.Similar, value=TEXTS, threshold=st.sampled_from([0, 0.5, 0.8, 1, 2])),
    st.builds(c.Tokens, max=st.integers(1, 4)),
    st.builds(c.NumbersFrom, sources=st.sampled_from([("tools",), ("message",), ("tools", "message")])),
    st.builds(c.QuotesFrom),
)
_NUMBERS: Final = st.sampled_from([-1, 0, 1, 1.5, 2, 3])
_OF_VALUES: Final[st.SearchStrategy[c.Check]] = st.one_of(
    st.builds(c.Number, min=st.one_of(st.none(), _NUMBERS), max=st.one_of(st.none(), _NUMBERS)),
    st.builds(lambda bounds: c.Count(**bounds), _BOUNDS),
    st.builds(c.Value, value=st.sampled_from([1, 1.0, True, 2, None, "1", "a", [1], [], {"a": 1}, "{{seed:x}}"])),
)
_OF_JSON: Final[st.SearchStrategy[c.Check]] = st.one_of(
    st.builds(c.Json, mode=st.sampled_from(["strict", "lenient", "object", "array"]), schema=st.sampled_from(_SCHEMAS)),
    st.builds(
        c.Structure,
        fields=st.lists(st.builds(c.RequiredField, path=_PATHS, type=_TYPES), max_size=2).map(tuple),
        headings=st.lists(st.sampled_from(["A", "a", "b"]), max_size=1).map(tuple),
    ),
    st.builds(c.At, path=_PATHS, check=_OF_TEXTS),
    st.builds(c.At, path=_PATHS, check=_OF_VALUES),
    _OF_VALUES,
    st.builds(c.At, path=_PATHS, check=st.builds(c.Not, check=_OF_TEXTS)),
)
_OF_PARAMS: Final[st.SearchStrategy[c.Check]] = st.one_of(
    st.builds(
        c.ToolParam,
        tool=st.sampled_from(["t", "u"]),
        param_name=st.sampled_from(["p", "q"]),
        assertion=st.sampled_from(["equals", "contains", "exists", "notExists"]),
        value=TEXTS,
    ),
    st.builds(
        c.ToolParam,
        tool=st.just("t"),
        param_name=st.just("p"),
        assertion=st.just("oneOf"),
        value=st.lists(TEXTS, min_size=1, max_size=3).map(tuple),
    ),
    st.builds(
        c.ToolParam,
        tool=st.just("t"),
        param_name=st.just("p"),
        assertion=st.just("matches"),
        value=st.sampled_from(_PATTERNS),
    ),
)
_ARG_TESTS: Final = st.sampled_from(
    [
        *(c.ArgTest(equals=value) for value in ("a", 1, None)),
        *(c.ArgTest(contains="a"), c.ArgTest(one_of=("ab", 2)), c.ArgTest(exists=True), c.ArgTest(exists=False)),
        *(c.ArgTest(min=1), c.ArgTest(max=1), c.ArgTest(matches="a"), c.ArgTest(min=1, max=2)),
    ]
)
_OF_ARGS: Final[st.SearchStrategy[c.Check]] = st.builds(
    c.CallHas,
    tool=_TOOLS,
    which=st.sampled_from(["any", "every", "no", 1, 2]),
    args=st.dictionaries(st.sampled_from(["p", "q"]), _ARG_TESTS, max_size=2),
)
_OF_TOOLS: Final[st.SearchStrategy[c.Check]] = st.one_of(
    st.builds(c.ToolsCalled, names=_NAMES),
    st.builds(
        c.ToolsAcceptable, sets=st.lists(st.one_of(_NAMES, st.just(("__none__",))), min_size=1, max_size=2).map(tuple)
    ),
    st.builds(c.ToolsNotCalled, names=_NAMES),
    st.builds(c.ToolsInclude, names=_NAMES),
    st.builds(c.ToolsInOrder, names=_NAMES),
    st.builds(c.ToolsOnly, names=_NAMES),
    st.builds(lambda bounds: c.ToolCount(**bounds), _BOUNDS),
    st.builds(c.NoToolErrors),
    st.builds(c.Latency, max=st.integers(1, 4)),
)
LEAVES: Final = st.one_of(_OF_TEXTS, _OF_TEXTS, _OF_JSON, _OF_TOOLS, _OF_PARAMS, _OF_ARGS)


_IN_TURNS: Final = st.builds(c.InTurn, turn=st.sampled_from([1, 2]), check=LEAVES)


def _compositions(checks: st.SearchStrategy[c.Check]) -> st.SearchStrategy[c.Check]:
    several = st.lists(checks, min_size=1, max_size=3).map(tuple)
    return st.one_of(
        st.builds(c.Not, check=checks), st.builds(c.AnyOf, checks=several), st.builds(c.AllOf, checks=several)
    )


CHECKS: Final = st.recursive(st.one_of(LEAVES, LEAVES, LEAVES, _IN_TURNS), _compositions, max_leaves=5)

_ARGUMENTS: Final = st.dictionaries(st.sampled_from(["p", "q"]), st.one_of(TEXTS, st.integers(0, 2), st.none()))
_CALLS: Final = st.lists(
    st.builds(
        ToolCall,
        name=_TOOLS,
        params=_ARGUMENTS,
        result=st.sampled_from([1, "a 12", []]),
        success=st.sampled_from([True, True, False]),
    ),
    max_size=3,
).map(tuple)
_VALUES: Final = st.sampled_from(["", "a", "b", " ", "abc", "\n", "ß", 1])


@st.composite
def _one_answer(draw: st.DrawFn) -> Evidence:
    """An answer made of the texts that checks speak of, with the values of the tokens in it."""
    seed = {"x": draw(_VALUES), "y": draw(_VALUES)}
    response = "".join(draw(st.lists(TEXTS, max_size=3)))
    for name, value in seed.items():
        response = response.replace(f"{{{{seed:{name}}}}}", str(value))
    return Evidence(
        response=response,
        tool_calls=draw(_CALLS),
        tool_mode=draw(st.sampled_from(["executed", "executed", "routing"])),
        duration_ms=draw(st.integers(0, 5)),
        seed=seed,
    )


@st.composite
def answers(draw: st.DrawFn) -> Evidence:
    """An answer, or a conversation of two, each of which is checked by itself, too."""
    whole = draw(_one_answer())
    if not draw(st.booleans()):
        return whole
    turns = [msgspec.structs.replace(draw(_one_answer()), seed=whole.seed, turn=number) for number in (1, 2)]
    return msgspec.structs.replace(whole, turns=tuple(turns))


def outcomes(checks: Iterable[c.Check], evidence: Evidence) -> list[CheckOutcome]:
    """The runner's verdict of each check."""

    async def run() -> list[CheckOutcome]:
        trees = [check_of(msgspec.to_builtins(check)) for check in checks]
        return [(await evaluate(tree, evidence, beside=trees if evidence.case else ())).outcome for tree in trees]

    return asyncio.run(run())
