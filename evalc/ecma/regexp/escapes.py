r"""Parses what follows a `\` in a pattern."""

from __future__ import annotations

import re
from typing import Final

from evalc.ecma.regexp import properties
from evalc.ecma.regexp.nodes import CharacterSet, Property
from evalc.ecma.regexp.scanner import Scanner

_CONTROLS: Final = {"t": 0x09, "n": 0x0A, "v": 0x0B, "f": 0x0C, "r": 0x0D}
_SYNTAX_CHARACTERS: Final = "^$\\.*+?()[]{}|/"
_LETTER: Final = re.compile("[A-Za-z]")
_LETTER_DIGIT_OR_LINE: Final = re.compile("[A-Za-z0-9_]")
_OCTAL: Final = re.compile("[0-3][0-7]{0,2}|[4-7][0-7]?")
_HEX_2: Final = re.compile("[0-9A-Fa-f]{2}")
_HEX_4: Final = re.compile("[0-9A-Fa-f]{4}")
_LOW_HALF: Final = re.compile(r"\\u([Dd][C-Fc-f][0-9A-Fa-f]{2})")
_BRACED_HEX: Final = re.compile(r"\{0*([0-9A-Fa-f]{1,6})\}")
_PROPERTY: Final = re.compile(r"\{(?:([A-Za-z_]+)=)?([A-Za-z0-9_]+)\}")


def character_set(scanner: Scanner, start: int) -> CharacterSet | Property | None:
    r"""The set that the letter after the `\` names, which is consumed; None if it names none."""
    letter = scanner.peek()
    match letter:
        case "d" | "D" | "s" | "S" | "w" | "W":
            scanner.at += 1
            return CharacterSet(start=scanner.offset(start), end=scanner.end_offset(scanner.at), letter=letter)
        case "p" | "P" if scanner.unicode:
            scanner.at += 1
            return _property(scanner, start, negated=letter == "P")
        case _:
            return None


def _property(scanner: Scanner, start: int, *, negated: bool) -> Property:
    written = scanner.take(_PROPERTY)
    if written is None:
        raise scanner.error(f"`\\{scanner.units[start + 1]}` needs a property, as in `\\p{{Letter}}`", start)
    name, value = (written[1], written[2]) if written[1] else (written[2], None)
    strings = scanner.sets and value is None and name in properties.OF_STRINGS
    if not strings and not properties.is_known(name, value):
        raise scanner.error(f"there is no Unicode property `{written[0][1:-1]}`", start)
    if strings and negated:
        raise scanner.error(f"`\\P` cannot negate `{name}`, which holds texts of several characters", start)
    return Property(
        start=scanner.offset(start),
        end=scanner.end_offset(scanner.at),
        name=name,
        value=value,
        negated=negated,
        strings=strings,
    )


def character_escape(scanner: Scanner, start: int, *, in_class: bool, also: str = "") -> int:
    r"""The character that the escape means; the scanner is after the `\` and is left after the escape.

    Args:
        scanner: the pattern.
        start: the index of the `\`.
        in_class: whether it is between brackets.
        also: the punctuation that may be escaped here under `u` and `v`, beside the syntax characters.
    """
    if not scanner:
        raise scanner.error("a `\\` at the end escapes nothing", start)
    letter = scanner.peek()
    if letter in "0123456789":
        return _digits(scanner, start)
    scanner.at += 1
    match letter:
        case "t" | "n" | "v" | "f" | "r":
            return _CONTROLS[letter]
        case "c":
            return _control(scanner, start, in_class=in_class)
        case "x":
            code = scanner.take(_HEX_2)
            if code is None and scanner.unicode:
                raise scanner.error("`\\x` needs two hexadecimal digits", start)
            return int(code[0], 16) if code else ord("x")
        case "u":
            return _unicode(scanner, start)
        case _:
            return _identity(scanner, start, letter, also)


def _digits(scanner: Scanner, start: int) -> int:
    following = scanner.peek(2)
    if following[0] == "0" and not following[1:].isdecimal():
        scanner.at += 1
        return 0
    if scanner.unicode:
        scanner.at += 1
        raise scanner.error(f"`\\{following[0]}` is neither a character nor a group of this pattern", start)
    if octal := scanner.take(_OCTAL):
        return int(octal[0], 8)
    scanner.at += 1
    return ord(following[0])


def _control(scanner: Scanner, start: int, *, in_class: bool) -> int:
    shape = _LETTER_DIGIT_OR_LINE if in_class and not scanner.unicode else _LETTER
    if letter := scanner.take(shape):
        return ord(letter[0]) % 32
    if scanner.unicode:
        raise scanner.error("`\\c` needs a letter", start)
    scanner.at -= 1  # the backslash is literal, and so is the c
    return ord("\\")


def _unicode(scanner: Scanner, start: int) -> int:
    if scanner.unicode and (braced := scanner.take(_BRACED_HEX)):
        code = int(braced[1], 16)
        if code > 0x10FFFF:
            raise scanner.error("there is no character beyond `\\u{10FFFF}`", start)
        return code
    if not (digits := scanner.take(_HEX_4)):
        if scanner.unicode:
            raise scanner.error("`\\u` needs four hexadecimal digits, or some in braces", start)
        return ord("u")
    code = int(digits[0], 16)
    if scanner.unicode and 0xD800 <= code <= 0xDBFF and (low := scanner.take(_LOW_HALF)):
        return 0x10000 + (code - 0xD800 << 10) + (int(low[1], 16) - 0xDC00)
    return code


def _identity(scanner: Scanner, start: int, character: str, also: str) -> int:
    if scanner.unicode and character not in _SYNTAX_CHARACTERS and character not in also:
        raise scanner.error(f"`\\{character}` means nothing under the flag `{'v' if scanner.sets else 'u'}`", start)
    if scanner.names and character == "k":
        raise scanner.error("`\\k` needs the name of a group, as in `\\k<name>`", start)
    return ord(character)
