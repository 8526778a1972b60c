"""Makes texts with one mistake each, by one change of a valid file, from the tables beside this file.

A table is named after the valid file that it changes. Each of its entries is a code and what is wrong, the text that
is replaced (`- `, found once in the file) and its replacement (`+ `), in which `«` marks the place of the mistake:

    EV203 a misspelt type
    - type: contains
    + type: «containz

A line `! why` says that the compiler does not get it right yet. `⟨9⟩` stands for the character U+0009, and `⟨50*(⟩`
for fifty parentheses.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

HERE: Final = Path(__file__).parent
VALID: Final = HERE / "valid"

_HEAD = re.compile(r"(EV\d{3}) (.+)")
_CHARACTER = re.compile(r"⟨([0-9A-F]+)⟩")
_TIMES = re.compile(r"⟨(\d+)\*(.+?)⟩")


class Mistake(NamedTuple):
    """A text with one mistake: the code it has to yield, and where."""

    base: str
    what: str
    code: str
    line: int
    column: int
    old: str
    new: str
    text: str
    not_yet: str


def _mistakes() -> Iterator[Mistake]:
    for table in sorted((HERE / "mistakes").glob("*.txt")):
        base = table.name.removesuffix(".txt")
        valid = (VALID / base).read_text(encoding="utf-8")
        for entry in table.read_text(encoding="utf-8").strip("\n").split("\n\n"):
            yield _made(base, valid, entry.split("\n"))


def _made(base: str, valid: str, entry: list[str]) -> Mistake:
    head = _HEAD.fullmatch(entry[0])
    assert head is not None, f"{base}: {entry[0]!r} is no code with a name"
    old, marked = _side(entry, "-"), _TIMES.sub(lambda times: int(times[1]) * times[2], _side(entry, "+"))
    marked = _CHARACTER.sub(lambda character: chr(int(character[1], 16)), marked)
    assert valid.count(old) == 1, f"{base}: {old!r} stands {valid.count(old)} times in the file"
    assert marked.count("«") == 1, f"{base}: {entry[0]!r} marks no place"
    start = valid.index(old)
    before = valid[:start] + marked[: marked.index("«")]
    new = marked.replace("«", "")
    text = valid[:start] + new + valid[start + len(old) :]
    line = before.count("\n") + 1
    return Mistake(base, head[2], head[1], line, len(before) - before.rfind("\n"), old, new, text, _side(entry, "!"))


def _side(entry: list[str], sign: str) -> str:
    """The lines that begin with a sign, without it."""
    return "\n".join(line[2:] for line in entry[1:] if line.startswith(sign))


MISTAKES: Final = tuple(_mistakes())
