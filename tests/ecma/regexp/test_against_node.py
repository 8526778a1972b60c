"""Thousands of patterns and texts: what is a pattern, and what matches, as Node has it."""

from __future__ import annotations

from collections.abc import Iterable

from evalc.ecma.regexp import Regexp, compile_pattern, escape
from evalc.ecma.regexp.nodes import PatternError
from evalc.ecma.regexp.parser import parse
from evalc.ecma.regexp.quickjs import engine
from evalc.ecma.regexp.vacuity import matches_everything, matches_nothing
from tests.ecma.conftest import Node, drawn
from tests.ecma.regexp import patterns

ANSWERS = """data.map(([pattern, flags, texts]) => {
    try {
        const regexp = new RegExp(pattern, flags);
        return texts.map((text) => regexp.test(text));
    } catch (error) {
        return error.message;
    }
})"""

Case = tuple[str, str, list[str]]


def cases(seed: int, count: int, texts: int) -> list[Case]:
    random = drawn(seed)
    made: list[Case] = []
    while len(made) < count:
        pattern, flags = patterns.pattern(random), random.choice(patterns.FLAGS)
        if not is_explained(pattern, flags):
            made.append((pattern, flags, [patterns.text(random) for _ in range(texts)]))
    return made


def is_explained(pattern: str, flags: str) -> bool:
    """Whether Node answers wrongly: under `v` V8's `[^]` is odd, so that to it `/a[^]$/v` does not match `ab`."""
    return "[^]" in pattern and "v" in flags


def is_pattern(pattern: str, flags: str) -> bool:
    try:
        parse(pattern, flags)
    except PatternError:
        return False
    return True


def compiled(made: Iterable[Case], answers: Iterable[list[bool] | str]) -> list[tuple[Regexp, str, bool]]:
    """The patterns that both sides accept, with each of their texts and Node's answer."""
    return [
        (compile_pattern(pattern, flags), text, answer)
        for (pattern, flags, texts), theirs in zip(made, answers, strict=True)
        if not isinstance(theirs, str)
        for text, answer in zip(texts, theirs, strict=True)
    ]


def test_valid_patterns_are_those_of_node(node: Node) -> None:
    made = cases(1, 6000, 0)
    theirs = node(ANSWERS, made)
    differences = [
        (pattern, flags, answer)
        for (pattern, flags, _), answer in zip(made, theirs, strict=True)
        # Names that exclude each other are of ECMAScript 2025, newer than some Nodes.
        if is_pattern(pattern, flags) == isinstance(answer, str) and "Duplicate capture" not in answer
    ]
    assert differences == []


def test_re2_answers_as_node_does(node: Node) -> None:
    made = cases(2, 6000, 4)
    asked = [
        (regexp, text, ours, answer)
        for regexp, text, answer in compiled(made, node(ANSWERS, made))
        if (ours := regexp.by_re2(text)) is not None
    ]
    assert len(asked) > 5000
    assert [case for case in asked if case[2] != case[3]] == []


def test_quickjs_answers_as_node_does(node: Node) -> None:
    made = cases(3, 4000, 2)
    asked = compiled(made, node(ANSWERS, made))
    assert len(asked) > 3000
    differences = [
        (regexp, text, answer)
        for regexp, text, answer in asked
        if engine().test(regexp.for_quickjs, regexp.tree.flags, text, 30) != answer
    ]
    assert differences == []


def test_the_front_door_answers_as_node_does(node: Node) -> None:
    made = cases(6, 10_000, 3)
    asked = compiled(made, node(ANSWERS, made))
    assert len(asked) > 10_000
    assert {regexp.tree.flags for regexp, _, _ in asked} == {"".join(sorted(flags)) for flags in patterns.FLAGS}
    differences = [case for case in asked if case[0].test(case[1], timeout=30) != case[2]]
    assert differences == []


def test_vacuous_patterns_are_so_in_node(node: Node) -> None:
    made = cases(4, 6000, 4)
    asked = compiled(made, node(ANSWERS, made))
    everything = [case for case in asked if matches_everything(case[0].tree)]
    nothing = [case for case in asked if matches_nothing(case[0].tree)]
    assert len(everything) > 500
    assert len(nothing) > 100
    assert [case for case in everything if not case[2]] == []
    assert [case for case in nothing if case[2]] == []


def test_escaped_texts_match_themselves(node: Node) -> None:
    random = drawn(5)
    texts = [patterns.text(random) for _ in range(1000)] + [chr(code) for code in range(0x300)]
    whole = (
        "data.map(([p, t]) => ['', 'u', 'v'].every((f) => new RegExp(`^${p}$`, f).test(t) && new RegExp(`[${p}x]`, f)))"
    )
    answers = node(whole, [(escape(text), text) for text in texts])
    assert [text for text, answer in zip(texts, answers, strict=True) if not answer] == []
