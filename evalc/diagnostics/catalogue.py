"""The catalogue: what every code says, why it matters, and an example with its cure, as people write `catalogue.txt`.

An entry begins with `EV302 NotAChoice: SUMMARY`, with flags in parentheses after the name: `warning`, `does not block`,
`fixable`. Why it matters is indented below. The lines `message:`, `label:` and `help:` name fields in braces, as in
`{choices:listed}`; a name behind two braces is not a field. Of several lines of a kind, the first whose condition holds
is said: `help if known: ...`, `message if name and not quote=': ...`. `fix: {name} -> {meant}` offers one name in place
of another, `fix: {name} -> near {known}` the nearest of the known names, `fix: insert TEXT` a text before the place.
The lines of an example are marked as in a diff: those with `-` are wrong, those with `+` are their cure.

`python -m evalc.grammar.build_tables` saves the entries as JSON, from which they are read: 1 ms, only for a problem.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final, Literal, final

import msgspec

from evalc.base.terminal import first_of
from evalc.diagnostics.near import Typo, listed, typo_of

Kind = Literal["message", "label", "help", "fix"]

TABLE: Final = Path(__file__).with_name("catalogue.txt")
SAVED: Final = Path(__file__).with_name("catalogue.table.json")

_ENTRY: Final = re.compile(r"(?P<code>EV\d{3}) (?P<name>\w+)(?: \((?P<flags>[^)]*)\))?: (?P<summary>.+)")
_LINE: Final = re.compile(r"  (?P<kind>message|label|help|fix)(?: if (?P<condition>.+?))?:(?: (?P<text>.*))?")
CONDITION: Final = re.compile(r"(?P<is_not>not )?(?P<name>\w+)(?::(?P<form>\w+))?(?:=(?P<value>.+))?")
FIELD: Final = re.compile(r"(?<!\{)\{(?P<name>\w+)(?::(?P<form>[^{} ]+))?\}")
_MOST_LISTED: Final = 20
_WIDTH: Final = 88
_LONGEST_NAME: Final = 40
_LONGEST_QUOTED: Final = 200

_FORMS: Final[dict[str, Callable[[Any], str]]] = {
    "a": lambda noun: f"{'an' if noun[0] in 'aeio' else 'a'} {noun}",
    "listed": listed,
    "some": lambda names: first_of(names, _MOST_LISTED, "`{}`".format),
    "joined": ", ".join,
    "either": lambda names: " or ".join(filter(None, (", ".join(names[:-1]), names[-1]))),
    "and": lambda names: " and ".join(map("`{}`".format, names)),
    "or": lambda names: " or ".join(map("`{}`".format, names)),
    "short": lambda text: text if len(text) <= _LONGEST_NAME else text[: _LONGEST_NAME - 1] + "…",
    "brief": lambda text: text if len(text) <= _LONGEST_QUOTED else "",
    "template": "{{{{{}}}}}".format,
    "curly": lambda text: text if text in ("\u201c", "\u201d", "\u2018", "\u2019") else "",
    "beyond_ascii": lambda text: "" if text.isascii() else text,
}
"""How a field may be written, apart from the forms that Python's `format` has."""


@final
class Wording(msgspec.Struct, frozen=True):
    """One way to say a message, and the condition of it."""

    text: str
    condition: str = ""

    def fits(self, fields: Mapping[str, Any]) -> bool:
        """Whether the condition holds."""
        return all(_holds(part, fields) for part in self.condition.split(" and ")) if self.condition else True

    def said(self, fields: Mapping[str, Any]) -> str:
        """The text with the fields in it."""
        return FIELD.sub(lambda found: _written(fields[found["name"]], found["form"]), self.text)


@final
class Entry(msgspec.Struct, frozen=True, kw_only=True):
    """The catalogue's entry of a code."""

    code: str  # the stable code, such as `EV203`
    name: str  # a name for programs, such as `UnknownCheck`
    severity: Literal["error", "warning"]  # how severe it is unless a policy says otherwise
    blocks: bool  # whether nothing sound can be made of a suite while this is an error, whatever the user says of it
    fixable: bool  # whether it may have a safe fix; whether one has depends on its text
    summary: str  # one sentence
    why: str  # paragraphs about why it matters; may be empty
    example: str  # the text of a file that yields exactly this code; may be empty
    cure: str  # the same file put right; may be empty
    lines: dict[Kind, tuple[Wording, ...]]  # the ways to say its message, its label and its help

    def line(self, kind: Kind, fields: Mapping[str, Any]) -> Wording:
        """The first line of a kind whose condition holds; an empty one if there is none."""
        return next((line for line in self.lines.get(kind, ()) if line.fits(fields)), Wording(""))

    def explanation(self) -> str:
        """The output of `evalc explain CODE`, with a line end."""
        fixable = ", in safe cases fixable with `evalc check --fix`" if self.fixable else ""
        blocks = [
            f"{self.code} ({self.severity}{fixable})",
            textwrap.fill(self.summary, _WIDTH),
            *(textwrap.fill(" ".join(paragraph.split()), _WIDTH) for paragraph in self.why.split("\n\n") if paragraph),
        ]
        for title, text in (("Example", self.example), ("Cure", self.cure)):
            if text:
                blocks.append(f"{title}:\n\n{textwrap.indent(text, '    ').rstrip()}")
        return "\n\n".join(blocks) + "\n"

    def typo(self, fields: Mapping[str, Any]) -> Typo | None:
        """The name that is wrong at the place, and the name that was probably meant; None if the words offer none."""
        text = self.line("fix", fields).text
        if not text:
            return None
        if text.startswith("insert "):
            return Typo(None, text.removeprefix("insert "))
        written, near, offered = re.split(r"-> (near )?", text)
        name = Wording(written.strip()).said(fields)
        meant = fields[offered.strip("{}")]
        if near:
            return typo_of(name, meant)
        return Typo(name, meant) if meant else None


@cache
def entries() -> dict[str, Entry]:
    """The entries by code, in the order of the codes."""
    return {entry.code: entry for entry in msgspec.json.decode(SAVED.read_bytes(), type=tuple[Entry, ...])}


def saved_table() -> bytes:
    """Encode the table to save, one entry per line."""
    lines = (
        msgspec.json.encode(entry, order="deterministic") for entry in _entries_of(TABLE.read_text(encoding="utf-8"))
    )
    return b"[" + b",\n".join(lines) + b"]\n"


def _holds(condition: str, fields: Mapping[str, Any]) -> bool:
    found = CONDITION.fullmatch(condition)
    if found is None:
        raise ValueError(f"`{condition}` is not a condition")
    value = fields.get(found["name"])
    if found["form"]:
        value = value and _written(value, found["form"])
    is_so = bool(value) if found["value"] is None else str(value) == found["value"]
    return is_so != bool(found["is_not"])


def _written(value: Any, form: str | None) -> str:
    if form is None:
        return str(value)
    return _FORMS[form](value) if form in _FORMS else format(value, form)


def _entries_of(text: str) -> Iterator[Entry]:
    for part in re.split(r"^(?=EV)", text, flags=re.MULTILINE)[1:]:
        head, *rest = part.splitlines()
        found = _ENTRY.fullmatch(head)
        if found is None:
            raise ValueError(f"`{head}` does not begin an entry")
        flags = set((found["flags"] or "").split(", "))
        if not flags <= {"", "warning", "does not block", "fixable"}:
            raise ValueError(f"`{found['flags']}` are not flags")
        why, lines, example = _parts(rest)
        yield Entry(
            code=found["code"],
            name=found["name"],
            severity="warning" if "warning" in flags else "error",
            blocks="does not block" not in flags,
            fixable="fixable" in flags,
            summary=found["summary"],
            why="\n".join(line[4:] for line in why),
            example=_side(example, "-"),
            cure=_side(example, "+") if any(line[4:5] in ("-", "+") for line in example) else "",
            lines=lines,
        )


def _parts(rest: list[str]) -> tuple[list[str], dict[Kind, tuple[Wording, ...]], list[str]]:
    """The paragraphs below the summary, the words, and the example."""
    why: list[str] = []
    lines: dict[Kind, tuple[Wording, ...]] = {}
    example: list[str] = []
    block = why
    for each in rest:
        if found := _LINE.fullmatch(each):
            kind: Kind = found["kind"]  # type: ignore[assignment]  # one of them, by the expression
            lines[kind] = (*lines.get(kind, ()), Wording(found["text"] or "", found["condition"] or ""))
        elif each == "  example:":
            block = example
        elif each.startswith("    ") or not each:
            block.append(each)
        else:
            raise ValueError(f"`{each}` is no part of an entry")
    return why, lines, example


def _side(block: list[str], mark: Literal["-", "+"]) -> str:
    """The lines of a diff that one side has."""
    return "".join(f"{line[6:]}\n" for line in block if line[4:5] in ("", " ", mark))
