"""Draws eval JSON as tool-forge writes it, and as evalc compiles it."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

TEXTS = st.one_of(
    st.sampled_from(
        [
            "Paris", "$12.50", 'say "hi"', "it's", "a: b", "a #b", "- x", "{{name}}", "\\{{x}}", "{{", "{{#if a}}",
            "line\nbreak", "tab\there", "two\n\n  deep\n", "yes", "null", "1.50", "é ü", "°C", "{{seed:a.b}}", " edge ",
            "\\", "<script>", "%", "@at", "`tick`", "? q", "a,b", "[x]", "{y}", "日本",
            "\u00a0", "\x07", "\u2028", "🎉",
            "'", '"',
        ]
    ),
    st.text(st.characters(exclude_categories=("Cs", "Cn")), min_size=1, max_size=12),
)  # fmt: skip
PLAIN_TEXTS = TEXTS.filter(lambda text: "{{seed:" not in text and "{{snapshot:" not in text)
FILLED = PLAIN_TEXTS.filter(lambda text: bool(text.strip()))
REASONS = FILLED.map("since {}".format) | st.sampled_from([False, 0, None, "#4711"])
NAMES = st.sampled_from(
    ["get_weather", "get-forecast", "github.search", "none", "not", "with space", 'quo"te', "ünï", "count"]
)
PATTERNS = st.sampled_from(
    [r"^def .*:", r"\d{4}", "a/b", r"[/]x", r"\/", "(a|b)+", r"it's \"so\"", r"\u00e9", "{{name}}", "a b"]
)
NUMBERS = st.one_of(st.integers(1, 100_000), st.sampled_from([0.5, 1.25, 2500.5, 1e-7, 30_000]))
VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-5, 10**18), st.sampled_from([0.1, -2.5, 1e300]), PLAIN_TEXTS),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(PLAIN_TEXTS, inner, max_size=3)),
    max_leaves=6,
)


def optional(**fields: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries({}, optional=fields)


PARAMS = st.one_of(
    st.fixed_dictionaries(
        {"tool": NAMES, "paramName": NAMES, "assertion": st.sampled_from(["equals", "contains"]), "value": TEXTS}
    ),
    st.fixed_dictionaries(
        {
            "tool": NAMES,
            "paramName": NAMES,
            "assertion": st.just("oneOf"),
            "value": st.lists(TEXTS, min_size=1, max_size=3),
        }
    ),
    st.fixed_dictionaries({"tool": NAMES, "paramName": NAMES, "assertion": st.just("matches"), "value": PATTERNS}),
    st.fixed_dictionaries({"tool": NAMES, "paramName": NAMES, "assertion": st.sampled_from(["exists", "notExists"])}),
)
LEAVES = st.one_of(
    st.builds(lambda value: {"type": "icontains", "value": value}, TEXTS),
    st.builds(lambda value: {"type": "equals", "value": value}, TEXTS),
    st.builds(lambda value: {"type": "starts_with", "value": value}, TEXTS),
    st.builds(
        lambda low, up: {"type": "length", "min": low, "max": low + up, "unit": "words"},
        st.integers(1, 9),
        st.integers(0, 9),
    ),
    st.just({"type": "regex", "pattern": "todo", "flags": "im"}),
    st.sampled_from([{"type": "json", "mode": "lenient"}, {"type": "json", "schema": {"type": "object"}}]),
    st.just({"type": "structure", "fields": [{"path": "a.b"}, {"path": "items[].id", "type": "number"}]}),
    st.builds(lambda heading: {"type": "structure", "headings": [heading]}, FILLED),
)
CHECKS = st.one_of(
    LEAVES,
    st.builds(lambda one, two: {"type": "any_of", "checks": [one, two]}, LEAVES, LEAVES),
    st.builds(lambda check: {"type": "not", "check": check}, LEAVES),
    st.builds(lambda check: {"type": "at", "path": "items[0].title", "check": check}, LEAVES.filter(
        lambda check: check["type"] in ("icontains", "equals", "starts_with")
    )),
)  # fmt: skip
EXPECT = optional(
    toolsCalled=st.lists(NAMES, max_size=3),
    toolsNotCalled=st.lists(NAMES, min_size=1, max_size=2),
    toolParams=st.lists(PARAMS, min_size=1, max_size=3),
    noToolErrors=st.just(True),
    responseContains=st.lists(TEXTS, min_size=1, max_size=3),
    responseContainsAny=st.lists(st.lists(TEXTS, min_size=1, max_size=3), min_size=1, max_size=2),
    responseNotContains=st.lists(TEXTS, min_size=1, max_size=2),
    responseMatches=st.lists(PATTERNS, min_size=1, max_size=2),
    maxLatencyMs=NUMBERS,
    maxTokens=st.integers(1, 4000),
    minLength=st.integers(1, 10),
    maxLength=st.integers(10, 5000),
    jsonValid=st.just(True),
    requiredKeys=st.lists(st.sampled_from(["title", "a b", "content-type"]), min_size=1, max_size=2, unique=True),
    typeChecks=st.dictionaries(st.sampled_from(["title", "a b"]), st.sampled_from(["string", "array"]), min_size=1),
    minToolCalls=st.integers(1, 2),
    maxToolCalls=st.integers(2, 4),
    maxCost=st.sampled_from([0.02, 1, 0.000001]),
    regexPattern=PATTERNS,
    copOutPhrases=st.lists(TEXTS, min_size=1, max_size=2),
    checks=st.lists(CHECKS, min_size=1, max_size=3),
).map(lambda expect: {"responseNonEmpty": True, **expect})


LIKE_STUBS = st.dictionaries(st.sampled_from(["answer", "error", "when", "eror", "errors", "sequence"]), VALUES)
"""Results of tools with the keys by which YAML says how calls are answered."""


@st.composite
def envelopes(draw: st.DrawFn) -> dict[str, Any]:
    """An envelope of labeled cases."""
    cases = []
    for index in range(draw(st.integers(1, 3))):
        case = {
            "id": draw(st.sampled_from([f"ls-get-weather-{index:03}", f"get_weather/case {index}", f"odd:{index}"])),
            "description": draw(FILLED),
            "difficulty": draw(st.sampled_from(["straightforward", "ambiguous", "edge"])),
            "input": {
                "message": draw(PLAIN_TEXTS),
                **draw(optional(inputs=st.dictionaries(FILLED, VALUES, min_size=1, max_size=2))),
            },
            "expect": draw(EXPECT),
        }
        case |= draw(
            optional(
                stubs=st.dictionaries(FILLED, VALUES | LIKE_STUBS | st.lists(LIKE_STUBS, max_size=2), max_size=2),
                stubAnswers=st.just({"a stub": [{"when": {"x": [1]}, "sequence": [{"answer": None}]}, {"error": "e"}]}),
                maxTurns=st.integers(1, 9),
                referenceData=st.dictionaries(FILLED, VALUES, max_size=2),
                expected=FILLED,
                threshold=st.sampled_from([0, 0.5, 1]),
                tags=st.lists(FILLED, min_size=1, max_size=3, unique=True),
                skip=REASONS,
                archived=REASONS,
                expectedFailure=REASONS,
                allow=st.dictionaries(st.just("refusal"), REASONS),
                rubric=st.lists(
                    st.fixed_dictionaries(
                        {"dimension": FILLED, "maxScore": st.integers(1, 5), "criteria": PLAIN_TEXTS}
                    ),
                    min_size=1,
                    max_size=2,
                ),
            )
        )
        if case.get("stubs") == {} and "stubAnswers" in case:
            del case["stubs"]  # which says nothing more, and YAML has no word for it
        cases.append(case)
    metadata = {"toolName": "get_weather", "tier": "labeled", **draw(optional(toolVersion=FILLED, description=FILLED))}
    return {"metadata": metadata, "cases": cases}
