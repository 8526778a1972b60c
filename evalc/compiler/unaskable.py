"""Finds what a check in JSON asks of a subject that can never be asked it. Lines are refused where they are read."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from evalc.check.forms import CALL_HAS, Record, check_of, form_of
from evalc.check.predicates import PREDICATES, Kind
from evalc.check.subjects import ASKS, GIVES
from evalc.check.tree import (
    OF_TEXT,
    Argument,
    At,
    Call,
    Failure,
    Items,
    Measure,
    Not,
    Result,
    Step,
    Test,
    Tools,
    steps_of,
)
from evalc.diagnostics.problem import Finding

Kinds = frozenset[Kind]

_ANY: Final = Kinds(GIVES)
_CALL: Final = Kinds({"call"})
_PLACE: Final = Kinds({"value", "call"})
_TEXT: Final = Kinds({"value"})


def unaskable(
    record: Record, at: str = "", subject: str = "response", kind: Kind = "value"
) -> Iterator[tuple[str, Finding]]:
    """The findings about a check of a subject of this kind, each with the JSON pointer to it."""
    type_ = record["type"]
    if type_ == CALL_HAS:
        return
    own, test = steps_of(form_of(record).tree)
    for step in steps_of(check_of(record))[0][: len(own)]:
        asks, gives = _kinds(step)
        if kind not in asks:
            yield _finding(record, at, subject, kind, asks)
            return
        subject, kind = type_, gives
    while isinstance(test, Not):
        test = test.check
    if isinstance(test, Test) and kind not in PREDICATES[test.predicate].on:
        yield _finding(record, at, subject, kind, PREDICATES[test.predicate].on)
    if "check" in record:
        yield from unaskable(record["check"], f"{at}/check", subject, kind)
    for index, part in enumerate(record.get("checks", ())):
        yield from unaskable(part, f"{at}/checks/{index}", subject, kind)


def _kinds(step: Step) -> tuple[Kinds, Kind]:
    """The kinds of subjects that a step starts from, and the kind that it leads to."""
    match step:
        case Call():
            return _ANY, "call"
        case Tools():
            return _ANY, "names"
        case Measure(of):
            return _TEXT if of in OF_TEXT or of == "items" else _ANY, "number"
        case Argument() | Result() | Failure():
            return _CALL, "value"
        case At() | Items():
            return _PLACE, "value"
        case _:
            return _ANY, "value"


def _finding(record: Record, at: str, subject: str, kind: Kind, asks: Kinds) -> tuple[str, Finding]:
    finding = Finding("EV160", subject=subject, given=GIVES[kind], predicate=record["type"], asks=ASKS[asks])
    return f"{at}/type", finding
