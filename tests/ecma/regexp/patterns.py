"""Draws patterns, well-formed and not, and texts that they may match."""

from __future__ import annotations

from random import Random

FLAGS = ("", "i", "m", "s", "im", "ims", "u", "iu", "mu", "su", "imsu", "v", "iv", "msv", "imsv")
"""Those that a check may have; `g` and `y` are about where the next match begins."""

_CHARACTERS = "aabbkKsS1_ -/.\n\r\t\u00a0\u2028é\u017f\u212a\ufeff"
_ASTRAL = "😀\ud83d\ude00"
_ESCAPES = (
    *(r"\d", r"\D", r"\s", r"\S", r"\w", r"\W", r"\b", r"\B", r"\t", r"\n", r"\v", r"\f", r"\r", r"\0", r"\x61", r"\x"),
    *(
        r"\u0061",
        r"\u2028",
        r"\u",
        r"\cA",
        r"\c",
        r"\.",
        r"\/",
        r"\-",
        r"\^",
        r"\1",
        r"\2",
        r"\8",
        r"\07",
        r"\a",
        r"\e",
    ),
    *(r"\k", r"\k<n>", r"\p{L}", r"\P{Lu}", r"\p{ASCII}", r"\p{Nope}", r"\u{61}", r"\ud83d\ude00", r"\ud83d", r"\_"),
)
_QUANTIFIERS = ("*", "+", "?", "*?", "+?", "??", "{2}", "{0,2}", "{1,}", "{,2}", "{2,1}", "{", "}", "{1", "**")
_GROUPS = ("(", "(", "(?:", "(?:", "(?=", "(?!", "(?<=", "(?<!", "(?<n>", "(?<m>", "(?", "(?<")
_SET_OPERATORS = ("", "", "", "&&", "--", "&", "-")


def pattern(random: Random, depth: int = 3) -> str:
    """A pattern that is often well-formed."""
    return "|".join(
        "".join(_term(random, depth) for _ in range(random.randint(0, 4)))
        for _ in range(random.choice((1, 1, 1, 2, 3)))
    )


def text(random: Random) -> str:
    """A short text of the characters that patterns are made of."""
    alphabet = _CHARACTERS + (_ASTRAL if random.random() < 0.2 else "")
    if random.random() < 0.4:
        alphabet = "abkKsS1_ -/.\n\t"
    return "".join(random.choice(alphabet) for _ in range(random.randint(0, 8)))


def _term(random: Random, depth: int) -> str:
    kind = random.random()
    if kind < 0.35:
        atom = _character(random)
    elif kind < 0.5:
        atom = random.choice(_ESCAPES)
    elif kind < 0.6:
        atom = random.choice("..^$^$]}")
    elif kind < 0.75 or depth == 0:
        atom = _class(random, depth)
    else:
        atom = random.choice(_GROUPS) + pattern(random, depth - 1) + (")" if random.random() < 0.97 else "")
    return atom + (random.choice(_QUANTIFIERS) if random.random() < 0.25 else "")


def _class(random: Random, depth: int) -> str:
    members = "".join(_member(random, depth) + random.choice(_SET_OPERATORS) for _ in range(random.randint(0, 3)))
    return "[" + random.choice(("", "", "^")) + members + ("]" if random.random() < 0.97 else "")


def _member(random: Random, depth: int) -> str:
    kind = random.random()
    if kind < 0.3:
        return _character(random)
    if kind < 0.5:
        return random.choice(
            ("a-c", "A-z", "0-9", "b-a", r"\t-\r", "\\d-a", "a-\\w", "é-\u2028", "😀-😁", r"\x41-\x7a")
        )
    if kind < 0.8 or depth == 0:
        return random.choice((*_ESCAPES, r"\q{ab|c}", r"\q{}", r"\p{RGI_Emoji}", "^", "(", "|"))
    return _class(random, depth - 1)


def _character(random: Random) -> str:
    return random.choice(_ASTRAL if random.random() < 0.03 else _CHARACTERS)
