"""Paths of tokens against the contract's own algorithm, which Node runs to the letter on the same data."""

from __future__ import annotations

import re
from random import Random
from typing import Final

from evalc.ecma import Unresolved, resolve
from tests.ecma.conftest import Node, drawn

# Contract, Resolution Algorithm, 3 and 4. Beside the text stands whether a step took what is no data of the object or
# array itself: something inherited, the length of a list, a character of a text.
LETTER: Final = r"""data.map(([seed, path]) => {
    let value = seed, foreign = false;
    const step = (key) => {
        const isData = Array.isArray(value) ? key !== "length" : typeof value === "object";
        foreign ||= !isData || !Object.hasOwn(value, key);
        value = value[key];
    };
    for (const segment of path.split(".")) {
        const indexed = /^(\w+)\[(\d+)\]$/.exec(segment);
        for (const key of indexed ? [indexed[1], Number(indexed[2])] : [segment]) {
            if (value === undefined || value === null) return [null, foreign];
            step(key);
        }
    }
    if (value === undefined || value === null) return [null, foreign];
    return [typeof value === "object" ? JSON.stringify(value) : String(value), foreign];
})"""

WHITE_SPACE: Final = "white space round a path is left out"
OWN_DATA: Final = "only an object's own keys and a list's items are data"
SEVERAL: Final = "several indexes in a row"
ANY_NAME: Final = "an index behind a name with other characters than `\\w`"


def explanation(path: str, foreign: bool) -> str | None:
    """Why evalc differs from the letter of the contract on purpose (specs/deviations.md), if it may here."""
    if path != path.strip():
        return WHITE_SPACE
    for segment in path.split("."):
        if re.fullmatch(r".*\[\d+\]\[\d+\]", segment):
            return SEVERAL
        if re.fullmatch(r".*\[\d+\]", segment) and not re.fullmatch(r"[A-Za-z0-9_]+\[\d+\]", segment):
            return ANY_NAME
    return OWN_DATA if foreign else None


def test_paths_lead_where_the_contract_says(node: Node) -> None:
    random = drawn(1)
    asked: list[tuple[object, str]] = []
    while len(asked) < 10_000:
        seed = _object(random, 4)
        asked += [(seed, _path(random, seed)) for _ in range(5)]
    resolved = [resolve(f"{{{{seed:{path}}}}}", seed, None) for seed, path in asked]
    ours = [None if isinstance(text, Unresolved) else text for text in resolved]
    explained: set[str] = set()
    for (data, path), our, (their, foreign) in zip(asked, ours, node(LETTER, asked), strict=True):
        if our != their:
            reason = explanation(path, foreign)
            assert reason is not None, (data, path, our, their)
            explained.add(reason)
    assert explained == {WHITE_SPACE, OWN_DATA, SEVERAL, ANY_NAME}
    assert sum(text is not None for text in ours) > 2000


KEYS: Final = (
    "a",
    "b",
    "price",
    "_x",
    "0",
    "1",
    "00",
    "a b",
    "ü",
    "length",
    "constructor",
    "__proto__",
    "x-y",
    "",
    "[0]",
)


def _object(random: Random, depth: int) -> dict[str, object]:
    return {random.choice(KEYS): _value(random, depth - 1) for _ in range(random.randint(1, 4))}


def _value(random: Random, depth: int) -> object:
    match random.randint(0, 9 if depth else 5):
        case 0:
            return None
        case 1:
            return random.choice((True, False))
        case 2:
            return random.choice(("", "text", "{{seed:a}}", "}}"))
        case 3 | 4 | 5:
            return random.choice((0, 150.0, 178.5, -0.0, 1e21, 1e-7, random.uniform(-1e9, 1e9)))
        case 6 | 7:
            return [_value(random, depth - 1) for _ in range(random.randint(0, 3))]
        case _:
            return _object(random, depth)


def _path(random: Random, seed: object) -> str:
    """A path that often leads somewhere: it follows the data, and strays now and then."""
    segments: list[str] = []
    value = seed
    while not segments or (isinstance(value, dict | list) and random.random() < 0.8):
        segment = random.choice([*value]) if isinstance(value, dict) and random.random() < 0.9 else random.choice(KEYS)
        value = value.get(segment) if isinstance(value, dict) else None
        while isinstance(value, list) and random.random() < 0.7:
            index = random.randint(0, len(value))
            segment += f"[{'0' * (random.random() < 0.1)}{index}]"
            value = value[index] if index < len(value) else None
        segments.append(segment)
    if random.random() < 0.1:
        segments.append(random.choice(("length", "constructor", "0", "toString", "[0]", "a[", "a]", "a[x]")))
    return " " * (random.random() < 0.05) + ".".join(segments)
