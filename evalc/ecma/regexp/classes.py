"""Parses character classes, the text between brackets."""

from __future__ import annotations

import re
from typing import Final, Literal

from evalc.ecma.regexp.escapes import character_escape, character_set
from evalc.ecma.regexp.nodes import (
    Character,
    CharacterSet,
    Class,
    ClassMember,
    Property,
    Range,
    SetOperation,
    Strings,
)
from evalc.ecma.regexp.scanner import Scanner

_SET_SYNTAX: Final = "()[]{}/-\\|"
_SET_PUNCTUATION: Final = "&-!#%,:;<=>@`~"
_DOUBLED: Final = re.compile(r"([&!#$%*+,.:;<=>?@^`~])\1")


def character_class(scanner: Scanner) -> Class:
    """The class that begins at the scanner's `[`."""
    start = scanner.at
    scanner.descend(start)
    scanner.at += 1
    negated = scanner.eat("^")
    members = _set_members(scanner, start) if scanner.sets else _members(scanner, start)
    scanner.ascend()
    if negated and any(_holds_strings(member) for member in members):
        raise scanner.error("a class that holds texts of several characters cannot be negated", start)
    return Class(
        start=scanner.offset(start),
        end=scanner.end_offset(scanner.at),
        negated=negated,
        members=tuple(members),
    )


def _members(scanner: Scanner, opening: int) -> list[ClassMember]:
    members: list[ClassMember] = []
    while not scanner.eat("]"):
        start = scanner.at
        first = _atom(scanner, opening)
        if scanner.peek() != "-" or scanner.peek(2) in {"-", "-]"}:
            members.append(first)
            continue
        dash = scanner.at
        scanner.at += 1
        last = _atom(scanner, opening)
        if isinstance(first, Character) and isinstance(last, Character):
            members.append(_range(scanner, start, first, last))
        elif scanner.unicode:
            raise scanner.error("a range of characters needs a character at both its ends", start)
        else:
            members += (first, _character(scanner, dash, dash + 1, ord("-")), last)
    return members


def _atom(scanner: Scanner, opening: int) -> Character | CharacterSet | Property:
    _expect_more(scanner, opening)
    start = scanner.at
    if not scanner.eat("\\"):
        scanner.at += 1
        return _character(scanner, start, scanner.at, ord(scanner.units[start]))
    if found := character_set(scanner, start):
        return found
    code = 0x08 if scanner.eat("b") else character_escape(scanner, start, in_class=True, also="-")
    return _character(scanner, start, scanner.at, code)


def _set_members(scanner: Scanner, opening: int) -> list[ClassMember]:
    """The members of a class under `v`: a union, or one chain of a single operator."""
    members: list[ClassMember] = []
    while not scanner.eat("]"):
        start = scanner.at
        if scanner.peek(2) in {"&&", "--"}:
            if len(members) != 1 or isinstance(members[0], Range):
                raise scanner.error(f"`{scanner.peek(2)}` needs a single character or set before it", start, start + 2)
            return [_operation(scanner, opening, members[0])]
        first = _operand(scanner, opening)
        if isinstance(first, Character) and scanner.peek() == "-" and scanner.peek(2) != "--":
            scanner.at += 1
            last = _operand(scanner, opening)
            if not isinstance(last, Character):
                raise scanner.error("a range of characters needs a character at both its ends", start)
            members.append(_range(scanner, start, first, last))
        else:
            members.append(first)
    return members


def _operation(scanner: Scanner, opening: int, first: ClassMember) -> SetOperation:
    operator: Literal["&&", "--"] = "&&" if scanner.peek(2) == "&&" else "--"
    operands = [first]
    while not scanner.eat("]"):
        start = scanner.at
        _expect_more(scanner, opening)
        if not scanner.eat(operator) or (operator == "&&" and scanner.peek() == "&"):
            raise scanner.error(f"expected `{operator}` or `]`", start, start + 1)
        operands.append(_operand(scanner, opening))
    return SetOperation(start=first.start, end=operands[-1].end, operator=operator, operands=tuple(operands))


def _operand(scanner: Scanner, opening: int) -> Character | CharacterSet | Property | Class | Strings:
    _expect_more(scanner, opening)
    start = scanner.at
    if scanner.peek() == "[":
        return character_class(scanner)
    if scanner.eat("\\q{"):
        return _strings(scanner, start)
    if scanner.peek() == "\\" and scanner.peek(2) != "\\b":
        scanner.at += 1
        if found := character_set(scanner, start):
            return found
        scanner.at -= 1
    return _set_character(scanner)


def _set_character(scanner: Scanner) -> Character:
    start = scanner.at
    character = scanner.peek()
    if scanner.eat("\\b"):
        code = 0x08
    elif scanner.eat("\\"):
        code = character_escape(scanner, start, in_class=True, also=_SET_PUNCTUATION)
    elif character in _SET_SYNTAX:
        raise scanner.error(f"`{character}` must be written `\\{character}` in a class", start, start + 1)
    elif doubled := scanner.take(_DOUBLED):
        raise scanner.error(f"`{doubled[0]}` is reserved in a class under the flag `v`", start)
    else:
        scanner.at += 1
        code = ord(character)
    return _character(scanner, start, scanner.at, code)


def _strings(scanner: Scanner, start: int) -> Strings:
    texts: list[str] = []
    text = ""
    while not scanner.eat("}"):
        _expect_more(scanner, start)
        if scanner.eat("|"):
            texts.append(text)
            text = ""
        else:
            text += chr(_set_character(scanner).code)
    return Strings(start=scanner.offset(start), end=scanner.end_offset(scanner.at), texts=(*texts, text))


def _expect_more(scanner: Scanner, opening: int) -> None:
    if not scanner:
        raise scanner.error(f"`{scanner.units[opening]}` is never closed", opening)


def _range(scanner: Scanner, start: int, first: Character, last: Character) -> Range:
    if first.code > last.code:
        raise scanner.error("the ends of a range of characters are in the wrong order", start)
    return Range(start=first.start, end=last.end, first=first.code, last=last.code)


def _character(scanner: Scanner, start: int, end: int, code: int) -> Character:
    return Character(start=scanner.offset(start), end=scanner.end_offset(end), code=code)


def _holds_strings(member: ClassMember) -> bool:
    """MayContainStrings of ECMA-262: whether the set can match other than exactly one character."""
    match member:
        case Property():
            return member.strings
        case Strings():
            return any(len(text) != 1 for text in member.texts)
        case Class():
            return not member.negated and any(_holds_strings(inner) for inner in member.members)
        case SetOperation(operator="&&"):
            return all(_holds_strings(operand) for operand in member.operands)
        case SetOperation():
            return _holds_strings(member.operands[0])
        case _:
            return False
