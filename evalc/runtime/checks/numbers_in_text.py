"""Finds the numbers in a text, as people write them: in digits, and small ones in words."""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal
from typing import Final, NamedTuple

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
        (?P<sign>(?<![^\W_])(?<![)\]}}%.,])[-\u2212])?
        (?<!\d)
        (?:(?<![{_LETTERS}_])|(?<=(?<![{_LETTERS}\d_])_)|(?<=(?<![{_LETTERS}\d_])__)|(?<=(?<![{_LETTERS}\d_])___)|{_after_currency()})
        (?P<whole>\d{{1,3}}(?:[,\u00a0\u202f']\d{{3}})+(?!\d)|\d+|(?<!\d\.)(?=\.\d))
        (?P<fraction>\.\d+)?
        (?P<exponent>[eE][+-]?\d{{1,3}}(?![{_LETTERS}\d]))?
        (?P<scale>
            \s?(?:%|(?:percent|thousand|million|billion|trillion)(?![{_LETTERS}\d]))|(?:[kKM]|bn)(?![{_LETTERS}\d])
            |[千천]|[百千]?[万萬]|만|[亿億억]|兆|พัน|หมื่น|แสน|ล้าน
        )?""",
    re.VERBOSE,
)
"""A number as people write it. Digits within a word, as in `B2` and `room_2`, are not a number."""
_SCALES: Final = {
    "%": -2,
    "percent": -2,
    "k": 3,
    "thousand": 3,
    "m": 6,
    "million": 6,
    "bn": 9,
    "billion": 9,
    "trillion": 12,
    **dict.fromkeys("千천", 3),
    **dict.fromkeys("万萬만", 4),
    **dict.fromkeys(("百万", "百萬"), 6),
    **dict.fromkeys(("千万", "千萬"), 7),
    **dict.fromkeys("亿億억", 8),
    "兆": 12,
    "พัน": 3,
    "หมื่น": 4,
    "แสน": 5,
    "ล้าน": 6,
}
"""The power of ten that a word after a number means."""
_WORDS: Final = (
    *("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"),
    *("thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"),
)
_UNITS: Final = _WORDS[1:10]
_TENS: Final = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_SMALL: Final = {word: number for number, word in enumerate(_WORDS)} | {
    word: number * 10 for number, word in enumerate(_TENS, 2)
}
_HAN: Final = {
    word: number for number, words in enumerate(("零〇", "一", "二两兩", *"三四五六七八九十")) for word in words
}
_NUMBER_WORD: Final = re.compile(
    rf"\b(?:(?P<ten>{'|'.join(_TENS)})(?:[-\s](?P<unit>{'|'.join(_UNITS)}))?|(?P<small>{'|'.join(_SMALL)}))\b"
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
        whole = "".join(character for character in match["whole"] if character.isdigit())
        fraction, exponent = match["fraction"] or "", match["exponent"] or ""
        value = Decimal(f"{whole or '0'}{fraction}{exponent}")
        half = Decimal(5).scaleb(-max(len(fraction) - 1, 0) - 1 + int(exponent[1:] or 0))
        word = (match["scale"] or "").strip().lower()
        signed = value.copy_negate() if match["sign"] else value
        yield Number(match[0].strip(), signed, half, _SCALES.get(word, 0))


def amounts_with_commas(text: str) -> Iterator[tuple[re.Match[str], Number]]:
    """The numbers of a text that have a comma before two decimals, where they can also be read as two numbers."""
    for match in _DECIMAL_COMMA.finditer(text):
        sign = "-" if match["sign"] else ""
        value = Decimal(f"{sign}{match['whole'].replace('.', '')}.{match['fraction']}")
        yield match, Number(match[0], value, Decimal("0.005"), 0)


def numbers_in_words(text: str) -> Iterator[Decimal]:
    """The numbers up to 99 that a text has in English or Chinese words."""
    for match in _NUMBER_WORD.finditer(text.lower()):
        if match["han"]:
            yield Decimal(_HAN.get(match["tens"], 1) * 10 + _HAN.get(match["ones"], 0))
        elif match["digit"]:
            yield Decimal(_HAN[match["digit"]])
        else:
            yield Decimal(_SMALL[match["ten"] or match["small"]] + _SMALL.get(match["unit"], 0))
