"""Checks that what the response says comes from the results of tools, or from the message: its numbers, its quotes."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from decimal import Decimal, localcontext
from typing import Any, Final

import msgspec

from evalc.model import checks as c
from evalc.model.result import TextFinding
from evalc.runtime.checks.numbers_in_text import Number, amounts_with_commas, numbers_in, numbers_in_words
from evalc.runtime.checks.verdict import PASSED, Evidence, Verdict, broken, failed
from evalc.runtime.checks.wording import listed, shown

_MOST_SHOWN: Final = 5
_PRECISION: Final = 100
"""In digits; a longer number has to occur in a source literally."""
_LIST_MARKER: Final = re.compile(r"^[ \t>*#-]*\d{1,3}[.)](?=\s)", re.MULTILINE)
_QUOTE: Final = re.compile(
    r"""(?:(?<![^\s:(\[{<=\u2013\u2014-])"|(?!(?<=\d)"[\dxX\u00d7])"(?![\s.,;:!?)\]}…]|\Z))([^"\n]+)"
        |“([^”\n]+)”|„([^“”\n]+)[“”]|«([^»\n]+)»|「([^」\n]+)」""",
    re.VERBOSE,
)
"""A quote. A straight mark after a text and before a space can only end a quote; else it is the mark of inches."""
_SPACES: Final = re.compile(r"\s+")


def numbers_from(check: c.NumbersFrom, evidence: Evidence) -> Verdict:
    """Whether every number in the response occurs in a source, up to the rounding of its last digit."""
    sources = _sources(check.sources, evidence)
    if not isinstance(sources, Verdict):
        unknown = unfounded_numbers(evidence.response, sources)
        return PASSED if not unknown else _ungrounded("number", unknown, check.sources)
    return sources if any(numbers_in(_LIST_MARKER.sub("", evidence.response))) else PASSED


def unfounded_numbers(text: str, sources: Iterable[Any], *, rounded: bool = True) -> list[str]:
    """The numbers in a text, as they are written, that none of the JSON values has, each once.

    Unless it may not be `rounded`, a number is also founded on one that becomes it by rounding.
    """
    with localcontext(prec=_PRECISION):
        text = _LIST_MARKER.sub("", text)
        if not any(numbers_in(text)):
            return []
        known = sorted({value for source in sources for value in _values(source)})

        def is_founded(number: Number) -> bool:
            return _stands_in(number if rounded else number._replace(half=Decimal()), known)

        pieces: list[str] = []
        at = 0
        for match, amount in amounts_with_commas(text):
            if is_founded(amount):
                pieces.append(text[at : match.start()])
                at = match.end()
        claimed = numbers_in(" ".join([*pieces, text[at:]]))
        return list(dict.fromkeys(number.text for number in claimed if not is_founded(number)))


def quotes_from(check: c.QuotesFrom, evidence: Evidence) -> Verdict:
    """Whether every text in double quotes occurs in a source, ignoring case, runs of spaces and a last mark."""
    quotes = list(dict.fromkeys(next(filter(None, match)) for match in _QUOTE.findall(evidence.response)))
    if not quotes:
        return PASSED
    sources = _sources(check.sources, evidence)
    if isinstance(sources, Verdict):
        return sources
    texts = [folded(text) for source in sources for text in _texts(source)]
    unknown = [quote for quote in quotes if not _is_in(folded(quote), texts)]
    return PASSED if not unknown else _ungrounded("quote", unknown, check.sources)


def _ungrounded(what: str, unknown: list[str], sources: tuple[c.Source, ...]) -> Verdict:
    few = listed(unknown[:_MOST_SHOWN])
    more = f" and {len(unknown) - _MOST_SHOWN} more" if len(unknown) > _MOST_SHOWN else ""
    words = {"tools": "the result of a tool", "message": "the message"}
    where = " or ".join(words[source] for source in sources)
    do = "does" if len(unknown) == 1 else "do"
    message = f"expected every {what} in the response to be in {where} but {few}{more} {do} not"
    return failed(message, TextFinding(kind="forbidden", text=shown(unknown[0])))


# --- sources ---------------------------------------------------------------------------------------------------------


def _sources(names: tuple[c.Source, ...], evidence: Evidence) -> list[Any] | Verdict:
    """The JSON values in which a number or a quote may occur."""
    found: list[Any] = []
    if "message" in names and evidence.case is not None:
        sent = evidence.case.input
        messages = [turn.content for turn in sent.messages or () if turn.role == "user"]
        found += [*messages, *(evidence.said or [sent.message])]
    if "tools" in names:
        calls = (*evidence.earlier_calls, *evidence.tool_calls)
        found += [call.result for call in calls if call.result is not msgspec.UNSET]
        found += [call.error for call in calls if call.error is not msgspec.UNSET]
        if calls and all(call.result is msgspec.UNSET and call.error is msgspec.UNSET for call in calls):
            return broken(
                "the agent reports calls without their `result`, so nothing tells what the tools said (map it by "
                "`agent.response.result` in the configuration)"
            )
    return found


def _leaves(value: Any) -> Iterator[Any]:
    """The texts and numbers in a JSON value, those of its keys included."""
    pending = [value]
    while pending:
        match pending.pop():
            case dict() as record:
                pending += record.keys()
                pending += record.values()
            case list() as items:
                pending += items
            case None | bool():
                pass
            case leaf:
                yield leaf


def _texts(value: Any) -> Iterator[str]:
    return (leaf if isinstance(leaf, str) else msgspec.json.encode(leaf).decode() for leaf in _leaves(value))


def _values(value: Any) -> Iterator[Decimal]:
    for leaf in _leaves(value):
        if isinstance(leaf, str):
            for number in numbers_in(leaf):
                yield number.value
                if number.scale:
                    yield number.value.scaleb(number.scale)
            yield from (amount.value for _, amount in amounts_with_commas(leaf))
            yield from numbers_in_words(leaf)
        else:
            yield Decimal(leaf) if isinstance(leaf, int) else Decimal(repr(leaf))


# --- numbers and quotes ----------------------------------------------------------------------------------------------


def _stands_in(number: Number, known: list[Decimal]) -> bool:
    """Whether one of the known numbers is this one, or becomes it when it is rounded to as many digits."""
    if len(number.text) >= _PRECISION:
        at = bisect_left(known, number.value)
        return at < len(known) and known[at] == number.value
    for power in {0, number.scale}:
        value, half = number.value.scaleb(power), number.half.scaleb(power)
        at = bisect_left(known, value - half)
        if at < len(known) and known[at] <= value + half:
            return True
    return False


def folded(text: str) -> str:
    """The text with each run of spaces as one, none around it, and no difference between capitals and small letters."""
    return _SPACES.sub(" ", text).strip().casefold()


def _is_in(quote: str, texts: Iterable[str]) -> bool:
    bare = quote.rstrip(".,;:!?… ") or quote
    return any(bare in text for text in texts)
