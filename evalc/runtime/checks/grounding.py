"""Checks that the numbers and quotes of a response come from the results of its tools or the message.

Numbers in words, with units, currencies and separators of thousands are read from texts first.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from decimal import Decimal, localcontext
from typing import Any, Final, NamedTuple

import msgspec

from evalc.check.tree import Test
from evalc.check.values import text_of
from evalc.model.result import TextFinding
from evalc.runtime.checks import Evidence, Found, NoAnswer, View, broken, failed
from evalc.runtime.checks.words import listed, shown

_LETTERS: Final = (
    r"A-Za-z\u00aa\u00b5\u00ba\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u02b8\u0370-\u0373\u0376-\u052f\u1d00-\u1fff\u2c60-\u2c7f"
    r"\ua640-\ua69d\ua722-\ua7ff\uff21-\uff3a\uff41-\uff5a"
)
"""Latin, Greek and Cyrillic letters, which form words with digits. The letters of other scripts stand beside numbers:
many scripts have no spaces, and others join a preposition to the number.
"""
_CURRENCIES: Final = """
    AED AFN ALL AMD ANG AOA ARS AUD AWG AZN BAM BBD BDT BGN BHD BIF BMD BND BOB BRL BSD BTN BWP BYN BZD CAD
    CDF CHF CLP CNY COP CRC CUP CVE CZK DJF DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD GNF GTQ
    GYD HKD HNL HTG HUF IDR ILS INR IQD IRR ISK JMD JOD JPY KES KGS KHR KMF KPW KRW KWD KYD KZT LAK LBP LKR
    LRD LSL LYD MAD MDL MGA MKD MMK MNT MOP MRU MUR MVR MWK MXN MYR MZN NAD NGN NIO NOK NPR NZD OMR PAB PEN
    PGK PHP PKR PLN PYG QAR RON RSD RUB RWF SAR SBD SCR SDG SEK SGD SHP SLE SOS SRD SSP STN SVC SYP SZL THB
    TJS TMT TND TOP TRY TTD TWD TZS UAH UGX USD UYU UZS VED VES VND VUV WST XAF XCD XOF XPF YER ZAR ZMW ZWG
    BTC ETH RMB Ksh Rs RM Rp kr Kr Fr Tk zł
"""
"""Prefixes of an amount, often without a space: the codes of ISO 4217, and abbreviations."""


def _after_currency() -> str:
    names = _CURRENCIES.split()
    by_length = ("|".join(name for name in names if len(name) == length) for length in (2, 3))
    return "|".join(f"(?<=(?<![{_LETTERS}])(?:{alternatives}))" for alternatives in by_length)


_NUMBER: Final = re.compile(
    rf"""(?=[-\u2212.\d])
        (?P<sign>(?<![^\W_])(?<![)\]}}%.])[-\u2212])?
        (?<!\d)
        (?:(?<![{_LETTERS}_])|(?<=\d[xXh])|(?<=(?<![{_LETTERS}\d_])_)|(?<=(?<![{_LETTERS}\d_])__)|(?<=(?<![{_LETTERS}\d_])___)|{_after_currency()})
        (?P<whole>\d{{1,3}}(?:[,\u00a0\u202f']\d{{3}})+(?!\d)|\d+|(?<!\d\.)(?=\.\d))
        (?P<fraction>\.\d+)?
        (?P<exponent>[eE][+-]?\d{{1,3}}(?![{_LETTERS}\d]))?
        (?P<scale>
            \s?(?:%|(?:percent|thousand|million|billion|trillion)(?![{_LETTERS}\d]))|(?:[kKM]|bn)(?![{_LETTERS}\d])
            |[千천]|[百千]?[万萬]|만|[亿億억]|兆|พัน|หมื่น|แสน|ล้าน
        )?""",
    re.VERBOSE,
)
"""A number as people write it. Digits within a word, as in `B2`, are not a number; `30x40` and `2h30` are two."""
_GLUED: Final = re.compile(r"\d[xXh]\d")
_NUMBERS_BEFORE: Final = re.compile(rf"(?<![{_LETTERS}\d_])(?!0[xX])\d+(?:[xXh]\d+)*[xXh]\Z")
"""The text before the second number of `30x40`; those of `B2x40` are in a word, and `0x40` is no decimal number."""
_FARTHEST: Final = 40
_SCALES: Final = {
    word: power
    for power, words in (
        (-2, "% percent"),
        (3, "k thousand 千 천 พัน"),
        (4, "万 萬 만 หมื่น"),
        (5, "แสน"),
        (6, "m million 百万 百萬 ล้าน"),
        (7, "千万 千萬"),
        (8, "亿 億 억"),
        (9, "bn billion"),
        (12, "trillion 兆"),
    )
    for word in words.split()
}
"""The power of ten that a word after a number means."""
_WORDS: Final = (
    *("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"),
    *("thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"),
)
_TENS: Final = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_SMALL: Final = {
    **{word: number for number, word in enumerate(_WORDS)},
    **{word: number * 10 for number, word in enumerate(_TENS, 2)},
}
_HAN: Final = {
    word: number for number, words in enumerate(("零〇", "一", "二两兩", *"三四五六七八九十")) for word in words
}
_NUMBER_WORD: Final = re.compile(
    rf"\b(?:(?P<ten>{'|'.join(_TENS)})(?:[-\s](?P<unit>{'|'.join(_WORDS[1:10])}))?|(?P<small>{'|'.join(_SMALL)}))\b"
    r"|(?P<tens>[二三四五六七八九])?(?P<han>十)(?P<ones>[一二三四五六七八九])?|(?P<digit>[零〇一二两兩三四五六七八九])"
)
"""A number up to 99 in words, in small letters."""
_DECIMAL_COMMA: Final = re.compile(
    r"(?P<sign>(?<!\w)[-\u2212])?(?<![\w.,])(?P<whole>\d{1,3}(?:\.\d{3})+|\d+),(?P<fraction>\d\d)(?!\w|[.,]\d)"
)
"""An amount with a comma before its cents, as in `1.234,50`; it may also be two numbers of a list."""


class Number(NamedTuple):
    """A number in a text: as it is written, its value, half of its last digit, and the power of ten after it."""

    text: str
    value: Decimal
    half: Decimal
    scale: int


def numbers_in(text: str) -> Iterator[Number]:
    """The numbers that a text has in digits."""
    for match in _NUMBER.finditer(text):
        at = match.start("whole")
        if at > 1 and _GLUED.match(text, at - 2) and not _NUMBERS_BEFORE.search(text, max(at - _FARTHEST, 0), at):
            continue
        whole = "".join(character for character in match["whole"] if character.isdigit())
        fraction, exponent = match["fraction"] or "", match["exponent"] or ""
        value = Decimal(f"{whole or '0'}{fraction}{exponent}")
        half = Decimal(5).scaleb(-max(len(fraction) - 1, 0) - 1 + int(exponent[1:] or 0))
        word = (match["scale"] or "").strip().lower()
        signed = value.copy_negate() if match["sign"] else value
        yield Number(match[0].strip(), signed, half, _SCALES.get(word, 0))


def _amount(match: re.Match[str]) -> Number:
    """An amount with a comma before its cents."""
    sign = "-" if match["sign"] else ""
    value = Decimal(f"{sign}{match['whole'].replace('.', '')}.{match['fraction']}")
    return Number(match[0], value, Decimal("0.005"), 0)


def numbers_in_words(text: str) -> Iterator[Decimal]:
    """The numbers up to 99 that a text has in English or Chinese words."""
    for match in _NUMBER_WORD.finditer(text.lower()):
        if match["han"]:
            yield Decimal(_HAN.get(match["tens"], 1) * 10 + _HAN.get(match["ones"], 0))
        elif match["digit"]:
            yield Decimal(_HAN[match["digit"]])
        else:
            yield Decimal(_SMALL[match["ten"] or match["small"]] + _SMALL.get(match["unit"], 0))


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


def numbers_from(test: Test, view: View) -> Found:
    """Whether every number in the text occurs in a source, up to the rounding of its last digit."""
    return _verdict("number", unfounded_numbers(text_of(view.text), _sources(test, view.evidence)), test, view)


def unfounded_numbers(text: str, sources: Iterable[Any], *, rounded: bool = True) -> list[str]:
    """The numbers in a text, as they are written, that none of the JSON values has, each once.

    Unless it may not be `rounded`, a number is also founded on a number that becomes it by rounding.
    """
    with localcontext(prec=_PRECISION):
        text = _LIST_MARKER.sub("", text)
        if not any(numbers_in(text)):
            return []
        known = sorted({value for source in sources for value in _values(source)})

        def is_founded(number: Number) -> bool:
            return _stands_in(number if rounded else number._replace(half=Decimal()), known)

        claimed = numbers_in(_DECIMAL_COMMA.sub(lambda match: " " if is_founded(_amount(match)) else match[0], text))
        return list(dict.fromkeys(number.text for number in claimed if not is_founded(number)))


def quotes_from(test: Test, view: View) -> Found:
    """Whether every text in double quotes occurs in a source, ignoring case, runs of spaces and a last mark."""
    quotes = dict.fromkeys(next(filter(None, match)) for match in _QUOTE.findall(text_of(view.text)))
    if not quotes:
        return True
    leaves = (leaf for source in _sources(test, view.evidence) for leaf in _leaves(source))
    texts = [folded(leaf if isinstance(leaf, str) else msgspec.json.encode(leaf).decode()) for leaf in leaves]
    bare = {quote: folded(quote).rstrip(".,;:!?… ") or folded(quote) for quote in quotes}
    unknown = [quote for quote in quotes if not any(bare[quote] in text for text in texts)]
    return _verdict("quote", unknown, test, view)


def _verdict(what: str, unknown: list[str], test: Test, view: View) -> Found:
    if not unknown:
        return True
    few = listed(unknown[:_MOST_SHOWN])
    more = f" and {len(unknown) - _MOST_SHOWN} more" if len(unknown) > _MOST_SHOWN else ""
    words = {"tools": "the result of a tool", "message": "the message"}
    where = " or ".join(words[name] for name in test.operand)
    do = "does" if len(unknown) == 1 else "do"
    message = f"expected every {what} in {view.name or 'the response'} to be in {where} but {few}{more} {do} not"
    finding = TextFinding(kind="forbidden", text=shown(unknown[0]), path=view.where or None)
    return failed(message, None if view.where is None else finding)


# --- sources ---------------------------------------------------------------------------------------------------------


def _sources(test: Test, evidence: Evidence) -> Iterator[Any]:
    """The JSON values in which a number or a quote may occur.

    Raises:
        NoAnswer: the agent does not report the results of its calls.
    """
    if "message" in test.operand and evidence.case is not None:
        sent = evidence.case.input
        yield from (turn.content for turn in sent.messages or () if turn.role == "user")
        yield from evidence.said or (sent.message,)
    if "tools" in test.operand:
        calls = (*evidence.earlier_calls, *evidence.tool_calls)
        said = [each for call in calls for each in (call.result, call.error) if each is not msgspec.UNSET]
        if calls and not said:
            how = "map it by `agent.response.result` in the configuration"
            fault = f"the agent reports calls without their `result`, so what the tools said is not known ({how})"
            raise NoAnswer(broken(fault))
        yield from said


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


def _values(value: Any) -> Iterator[Decimal]:
    for leaf in _leaves(value):
        if isinstance(leaf, str):
            for number in numbers_in(leaf):
                yield number.value
                if number.scale:
                    yield number.value.scaleb(number.scale)
            yield from (_amount(match).value for match in _DECIMAL_COMMA.finditer(leaf))
            yield from numbers_in_words(leaf)
        else:
            yield Decimal(leaf) if isinstance(leaf, int) else Decimal(repr(leaf))


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
    return " ".join(text.split()).casefold()
