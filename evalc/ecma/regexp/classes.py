"""Reads the characters, escapes and classes of a pattern."""

# ruff: noqa: SIM905 - one long text is read and compared with the standard more easily than a list of literals

from __future__ import annotations

import re
from typing import Final, Literal, final

from evalc.ecma.regexp.nodes import (
    Character,
    CharacterRange,
    CharacterSet,
    Class,
    ClassMember,
    PatternError,
    Property,
    SetOperation,
    Strings,
)

_BEYOND_UTF16: Final = re.compile("[\ud800-\udfff\U00010000-\U0010ffff]")


@final
class Scanner:
    """A place in a pattern, and the modes in which it is read."""

    def __init__(self, pattern: str, flags: str) -> None:
        self.unicode = "u" in flags or "v" in flags
        self.sets = "v" in flags
        self.at = 0  # the index in `units` of what is read next
        # the pattern as code points (`u` and `v`) or as UTF-16 code units (neither), one character each
        self.units = pattern
        self._offsets: list[int] | None = None
        if _BEYOND_UTF16.search(pattern):
            self.units, self._offsets = _split(pattern, whole=self.unicode)
        # whether `\k` must be a reference to a name: under `u` and `v`, or if a group has a name
        self.names = self.unicode
        self._depth = 0

    def __bool__(self) -> bool:
        return self.at < len(self.units)

    def offset(self, at: int) -> int:
        """The offset in the pattern of the unit at index `at`."""
        return at if self._offsets is None else self._offsets[at]

    def end_offset(self, at: int) -> int:
        """The offset in the pattern at which a stretch ends whose units end before index `at`."""
        if self._offsets is None or at == 0:
            return at
        behind = self._offsets[at]
        return behind if behind > self._offsets[at - 1] else behind + 1

    def peek(self, length: int = 1) -> str:
        """The next units; fewer at the end of the pattern."""
        return self.units[self.at : self.at + length]

    def eat(self, expected: str) -> bool:
        """Whether the next units are these; then they are passed."""
        if not self.units.startswith(expected, self.at):
            return False
        self.at += len(expected)
        return True

    def take(self, shape: re.Pattern[str]) -> re.Match[str] | None:
        """The stretch of this shape that begins here, which is consumed; None if there is none."""
        match = shape.match(self.units, self.at)
        if match:
            self.at = match.end()
        return match

    def error(self, message: str, start: int, end: int | None = None) -> PatternError:
        """An error about the units from index `start` to `end`, or to the present place."""
        end = self.at if end is None else end
        return PatternError(self.offset(start), max(self.end_offset(end), self.offset(start)), message)

    def descend(self, start: int, limit: int = 100) -> None:
        """One level of nesting more. The limit keeps every walk over the tree within the interpreter's stack."""
        self._depth += 1
        if self._depth > limit:
            raise self.error(f"groups are nested more than {limit} deep", start, start + 1)

    def ascend(self) -> None:
        """One level of nesting less."""
        self._depth -= 1


def _split(pattern: str, *, whole: bool) -> tuple[str, list[int]]:
    units: list[str] = []
    offsets: list[int] = []
    for offset, character in enumerate(pattern):
        code = ord(character)
        if whole and 0xDC00 <= code <= 0xDFFF and units and "\ud800" <= units[-1] <= "\udbff":
            units[-1] = chr(0x10000 + (ord(units[-1]) - 0xD800 << 10) + (code - 0xDC00))
        elif not whole and code > 0xFFFF:
            units += (chr(0xD800 + (code - 0x10000 >> 10)), chr(0xDC00 + (code & 0x3FF)))
            offsets += (offset, offset)
        else:
            units.append(character)
            offsets.append(offset)
    offsets.append(len(pattern))
    return "".join(units), offsets


_CONTROLS: Final = {"t": 0x09, "n": 0x0A, "v": 0x0B, "f": 0x0C, "r": 0x0D}
SYNTAX_CHARACTERS: Final = "^$\\.*+?()[]{}|/"
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
    strings = scanner.sets and value is None and name in _OF_STRINGS
    if not strings and not _is_known(name, value):
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
    r"""The character that the escape means; the scanner is after the `\` at `start`, and is left after the escape.

    `also` is the punctuation that may be escaped here under `u` and `v`, beside the syntax characters.
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
    if scanner.unicode and character not in SYNTAX_CHARACTERS and character not in also:
        raise scanner.error(f"`\\{character}` means nothing under the flag `{'v' if scanner.sets else 'u'}`", start)
    if scanner.names and character == "k":
        raise scanner.error("`\\k` needs the name of a group, as in `\\k<name>`", start)
    return ord(character)


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
            if len(members) != 1 or isinstance(members[0], CharacterRange):
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


def _range(scanner: Scanner, start: int, first: Character, last: Character) -> CharacterRange:
    if first.code > last.code:
        raise scanner.error("the ends of a range of characters are in the wrong order", start)
    return CharacterRange(start=first.start, end=last.end, first=first.code, last=last.code)


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


# --- the names in `\p{...}`; those of scripts are left to the engine, since they grow yearly --------------------------

_OF_STRINGS: Final = frozenset(
    "Basic_Emoji Emoji_Keycap_Sequence RGI_Emoji"
    " RGI_Emoji_Modifier_Sequence RGI_Emoji_Flag_Sequence RGI_Emoji_Tag_Sequence RGI_Emoji_ZWJ_Sequence".split()
)

_CATEGORIES: Final = frozenset(
    "C Other Cc Control cntrl Cf Format Cn Unassigned Co Private_Use Cs Surrogate"
    " L Letter LC Cased_Letter Ll Lowercase_Letter Lm Modifier_Letter Lo Other_Letter Lt Titlecase_Letter"
    " Lu Uppercase_Letter M Mark Combining_Mark Mc Spacing_Mark Me Enclosing_Mark Mn Nonspacing_Mark"
    " N Number Nd Decimal_Number digit Nl Letter_Number No Other_Number"
    " P Punctuation punct Pc Connector_Punctuation Pd Dash_Punctuation Pe Close_Punctuation Pf Final_Punctuation"
    " Pi Initial_Punctuation Po Other_Punctuation Ps Open_Punctuation"
    " S Symbol Sc Currency_Symbol Sk Modifier_Symbol Sm Math_Symbol So Other_Symbol"
    " Z Separator Zl Line_Separator Zp Paragraph_Separator Zs Space_Separator".split()
)

_BINARY: Final = frozenset(
    "ASCII ASCII_Hex_Digit AHex Alphabetic Alpha Any Assigned Bidi_Control Bidi_C Bidi_Mirrored Bidi_M"
    " Case_Ignorable CI Cased Changes_When_Casefolded CWCF Changes_When_Casemapped CWCM Changes_When_Lowercased CWL"
    " Changes_When_NFKC_Casefolded CWKCF Changes_When_Titlecased CWT Changes_When_Uppercased CWU Dash"
    " Default_Ignorable_Code_Point DI Deprecated Dep Diacritic Dia Emoji Emoji_Component EComp Emoji_Modifier EMod"
    " Emoji_Modifier_Base EBase Emoji_Presentation EPres Extended_Pictographic ExtPict Extender Ext"
    " Grapheme_Base Gr_Base Grapheme_Extend Gr_Ext Hex_Digit Hex IDS_Binary_Operator IDSB IDS_Trinary_Operator IDST"
    " ID_Continue IDC ID_Start IDS Ideographic Ideo Join_Control Join_C Logical_Order_Exception LOE Lowercase Lower"
    " Math Noncharacter_Code_Point NChar Pattern_Syntax Pat_Syn Pattern_White_Space Pat_WS Quotation_Mark QMark"
    " Radical Regional_Indicator RI Sentence_Terminal STerm Soft_Dotted SD Terminal_Punctuation Term"
    " Unified_Ideograph UIdeo Uppercase Upper Variation_Selector VS White_Space space"
    " XID_Continue XIDC XID_Start XIDS".split()
)


def _is_known(name: str, value: str | None) -> bool:
    """Whether `\\p{name}` or `\\p{name=value}` is allowed in a pattern; of a script's name only the shape counts."""
    match name:
        case "General_Category" | "gc" if value is not None:
            return value in _CATEGORIES
        case "Script" | "sc" | "Script_Extensions" | "scx" if value is not None:
            return True
        case _:
            return value is None and (name in _CATEGORIES or name in _BINARY)
