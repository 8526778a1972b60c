"""Parses ECMAScript patterns; without the flags `u` and `v`, as leniently as Annex B."""

from __future__ import annotations

import re
from typing import Final, final

from evalc.ecma.regexp.classes import Scanner, character_class, character_escape, character_set
from evalc.ecma.regexp.nodes import (
    Alternation,
    AnyCharacter,
    Backreference,
    Character,
    Group,
    LineEnd,
    LineStart,
    Look,
    Pattern,
    PatternError,
    PatternSequence,
    Repeat,
    Term,
    WordBoundary,
)

MAX_LENGTH: Final = 10_000
"""Characters of the longest pattern: an engine's time to compile one is under no deadline of its own."""

MAX_GROUPS: Final = 254
"""Capturing groups in a pattern: the engine has room for no more."""

FLAGS: Final = "imsuv"

_BRACES: Final = re.compile(r"\{([0-9]+)(?:(,)([0-9]*))?\}")
_LOOKS: Final = {"(?=": (False, False), "(?!": (False, True), "(?<=": (True, False), "(?<!": (True, True)}
_MODIFIERS: Final = re.compile(r"\(\?([A-Za-z]*)(-?)([A-Za-z]*):")
_BACKREFERENCE: Final = re.compile("[1-9][0-9]{0,5}")
_RUN: Final = re.compile(r"[\w ,;:'\"!#%&<>=~@`/-]+(?![*+?{])", re.ASCII)
"""Literal characters: most of most patterns."""
_NAME: Final = re.compile("<([^>]*)>")
_NAME_ESCAPE: Final = re.compile(r"\\u(?:([0-9A-Fa-f]{4})|\{0*([0-9A-Fa-f]{1,6})\})")
_SURROGATE_PAIR: Final = re.compile("[\ud800-\udbff][\udc00-\udfff]")


def parse(pattern: str, flags: str = "") -> Pattern:
    """The tree of a pattern.

    Raises:
        PatternError: the pattern or its flags are malformed, or exceed a limit.
    """
    _check_flags(pattern, flags)
    if len(pattern) > MAX_LENGTH:
        raise PatternError(MAX_LENGTH, len(pattern), f"the pattern is longer than {MAX_LENGTH} characters")
    return _Parser(pattern, "".join(sorted(flags))).pattern()


def _check_flags(pattern: str, flags: str) -> None:
    end = len(pattern)
    for flag in flags:
        if flag not in FLAGS:
            raise PatternError(end, end, f"unknown flag `{flag}`: the flags are i, m, s, u and v")
        if flags.count(flag) > 1:
            raise PatternError(end, end, f"the flag `{flag}` is given twice")
    if "u" in flags and "v" in flags:
        raise PatternError(end, end, "the flags `u` and `v` exclude each other")


@final
class _Parser:
    def __init__(self, pattern: str, flags: str) -> None:
        self._source = pattern
        self._flags = flags
        self._scanner = Scanner(pattern, flags)
        self._groups, named = _survey(self._scanner.units, nested=self._scanner.sets)
        self._scanner.names = self._scanner.names or named
        self._group = 0
        self._multiline = "m" in flags
        self._dot_all = "s" in flags
        self._alternations = 0
        self._branch: tuple[tuple[int, int], ...] = ()
        self._named: dict[str, list[tuple[tuple[int, int], ...]]] = {}
        self._references: list[tuple[str, int, int]] = []

    def pattern(self) -> Pattern:
        scanner = self._scanner
        body = self._disjunction()
        if scanner:
            raise scanner.error("`)` closes no group", scanner.at, scanner.at + 1)
        for name, start, end in self._references:
            if name not in self._named:
                raise scanner.error(f"no group is named `{name}`", start, end)
        return Pattern(source=self._source, flags=self._flags, body=body, groups=self._group)

    def _disjunction(self) -> Term:
        scanner = self._scanner
        start = scanner.at
        outer, alternation = self._branch, self._alternations
        self._alternations += 1
        self._branch = (*outer, (alternation, 0))
        branches = [self._alternative()]
        while scanner.eat("|"):
            self._branch = (*outer, (alternation, len(branches)))
            branches.append(self._alternative())
        self._branch = outer
        if len(branches) == 1:
            return branches[0]
        return Alternation(start=scanner.offset(start), end=scanner.end_offset(scanner.at), branches=tuple(branches))

    def _alternative(self) -> Term:
        scanner = self._scanner
        start = scanner.at
        items: list[Term] = []
        while scanner and scanner.peek() not in "|)":
            if run := scanner.take(_RUN):
                items += [
                    Character(start=scanner.offset(at), end=scanner.end_offset(at + 1), code=ord(character))
                    for at, character in enumerate(run[0], run.start())
                ]
            else:
                items.append(self._term())
        if len(items) == 1:
            return items[0]
        end = max(scanner.end_offset(scanner.at), scanner.offset(start))
        return PatternSequence(start=scanner.offset(start), end=end, items=tuple(items))

    def _term(self) -> Term:
        start = self._scanner.at
        atom = self._atom()
        match atom:
            case LineStart() | LineEnd() | WordBoundary():
                return atom
            case Look() if atom.behind or self._scanner.unicode:
                return atom
            case _:
                return self._quantified(atom, start)

    def _atom(self) -> Term:
        scanner = self._scanner
        start = scanner.at
        character = scanner.peek()
        if character == "(":
            return self._parenthesized()
        if character == "[":
            return character_class(scanner)
        scanner.at += 1
        first, end = scanner.offset(start), scanner.end_offset(scanner.at)
        match character:
            case "\\":
                return self._escaped(start)
            case "^":
                return LineStart(start=first, end=end, multiline=self._multiline)
            case "$":
                return LineEnd(start=first, end=end, multiline=self._multiline)
            case ".":
                return AnyCharacter(start=first, end=end, dot_all=self._dot_all)
            case "*" | "+" | "?":
                raise scanner.error(f"there is nothing before `{character}` to repeat", start)
            case "{" if braces := _BRACES.match(scanner.units, start):
                raise scanner.error(f"there is nothing before `{braces[0]}` to repeat", start, braces.end())
            case "{" | "}" | "]" if scanner.unicode:
                raise scanner.error(f"`{character}` must be written `\\{character}`", start)
            case _:
                return Character(start=first, end=end, code=ord(character))

    def _quantified(self, atom: Term, start: int) -> Term:
        scanner = self._scanner
        at = scanner.at
        most: int | None
        if scanner.eat("*"):
            least, most = 0, None
        elif scanner.eat("+"):
            least, most = 1, None
        elif scanner.eat("?"):
            least, most = 0, 1
        elif braces := scanner.take(_BRACES):
            least = _count(braces[1])
            most = least if not braces[2] else _count(braces[3]) if braces[3] else None
            if most is not None and least > most:
                raise scanner.error("the numbers of a quantifier are in the wrong order", at)
        else:
            return atom
        greedy = not scanner.eat("?")
        end = scanner.end_offset(scanner.at)
        return Repeat(start=scanner.offset(start), end=end, body=atom, min=least, max=most, greedy=greedy)

    def _escaped(self, start: int) -> Term:
        scanner = self._scanner
        if found := character_set(scanner, start):
            return found
        match scanner.peek():
            case ("b" | "B") as letter:
                scanner.at += 1
                end = scanner.end_offset(scanner.at)
                return WordBoundary(start=scanner.offset(start), end=end, negated=letter == "B")
            case "k" if scanner.names:
                scanner.at += 1
                to: int | str | None = self._group_name(start)
                self._references.append((str(to), start, scanner.at))
            case _:
                to = self._group_number()
        if to is not None:
            return Backreference(start=scanner.offset(start), end=scanner.end_offset(scanner.at), to=to)
        code = character_escape(scanner, start, in_class=False)
        return Character(start=scanner.offset(start), end=scanner.end_offset(scanner.at), code=code)

    def _group_number(self) -> int | None:
        """The number of a group of this pattern, which is passed; other digits are octal, or an error under u and v."""
        digits = _BACKREFERENCE.match(self._scanner.units, self._scanner.at)
        if digits is None or int(digits[0]) > self._groups:
            return None
        self._scanner.at = digits.end()
        return int(digits[0])

    def _parenthesized(self) -> Term:
        scanner = self._scanner
        start = scanner.at
        scanner.descend(start)
        for opening, (behind, negated) in _LOOKS.items():
            if scanner.eat(opening):
                body = self._body(start)
                end = scanner.end_offset(scanner.at)
                look = Look(start=scanner.offset(start), end=end, behind=behind, negated=negated, body=body)
                scanner.ascend()
                return look
        group = self._grouped(start)
        scanner.ascend()
        return group

    def _grouped(self, start: int) -> Group:
        scanner = self._scanner
        index: int | None = None
        name: str | None = None
        modifiers = ""
        outer = self._multiline, self._dot_all
        if scanner.peek(3) == "(?<" or scanner.peek(2) != "(?":
            self._group = index = self._group + 1
            if index > MAX_GROUPS:
                raise scanner.error(f"a pattern has at most {MAX_GROUPS} capturing groups", start, start + 1)
            scanner.at += 1
            if scanner.eat("?"):
                name = self._declared_name(start)
        else:
            modifiers = self._modifiers(start)
        body = self._body(start)
        self._multiline, self._dot_all = outer
        return Group(
            start=scanner.offset(start),
            end=scanner.end_offset(scanner.at),
            index=index,
            name=name,
            modifiers=modifiers,
            body=body,
        )

    def _body(self, start: int) -> Term:
        body = self._disjunction()
        if not self._scanner.eat(")"):
            raise self._scanner.error("`(` is never closed", start, start + 1)
        return body

    def _modifiers(self, start: int) -> str:
        scanner = self._scanner
        written = scanner.take(_MODIFIERS)
        if written is None:
            raise scanner.error("`(?` begins no kind of group", start, start + 2)
        added, minus, removed = written.groups()
        letters = added + removed
        if len(set(letters)) < len(letters) or set(letters) - set("ims") or (minus and not letters):
            raise scanner.error(f"`{written[0]}` does not set or clear each of i, m and s at most once", start)
        self._multiline = "m" in added or (self._multiline and "m" not in removed)
        self._dot_all = "s" in added or (self._dot_all and "s" not in removed)
        return added + minus + removed

    def _declared_name(self, start: int) -> str:
        name = self._group_name(start)
        for other in self._named.setdefault(name, []):
            if not _exclude_each_other(other, self._branch):
                raise self._scanner.error(f"two groups that can both match are named `{name}`", start)
        self._named[name].append(self._branch)
        return name

    def _group_name(self, start: int) -> str:
        scanner = self._scanner
        written = scanner.take(_NAME)
        if written is None:
            raise scanner.error("put the name of a group between `<` and `>`", start)
        try:
            name = _SURROGATE_PAIR.sub(_joined, _NAME_ESCAPE.sub(_unescaped, written[1]))
        except ValueError:
            name = ""
        if not name or not _starts_name(name[0]) or not all(map(_continues_name, name)):
            raise scanner.error(f"`{written[1]}` cannot be the name of a group", start)
        return name


def _survey(units: str, *, nested: bool) -> tuple[int, bool]:
    """How many capturing groups a pattern has, and whether one has a name: what `\\1` and `\\k` mean hangs on it."""
    count, named, depth, at = 0, False, 0, 0
    while at < len(units):
        match units[at]:
            case "\\":
                at += 1
            case "[" if nested or depth == 0:
                depth += 1
            case "]" if depth:
                depth -= 1
            case "(" if depth == 0:
                name = units.startswith("(?<", at) and units[at + 3 : at + 4] not in {"=", "!"}
                named = named or name
                count += name or not units.startswith("(?", at)
        at += 1
    return count, named


def _exclude_each_other(left: tuple[tuple[int, int], ...], right: tuple[tuple[int, int], ...]) -> bool:
    """Whether two places are in different branches of one alternation."""
    branches = dict(left)
    return any(branches.get(alternation, branch) != branch for alternation, branch in right)


def _count(digits: str) -> int:
    digits = digits.lstrip("0")
    return int(digits or 0) if len(digits) < 19 else 10**18


def _unescaped(escape: re.Match[str]) -> str:
    return chr(int(escape[1] or escape[2], 16))


def _joined(pair: re.Match[str]) -> str:
    return pair[0].encode("utf-16", "surrogatepass").decode("utf-16")


def _starts_name(character: str) -> bool:
    return character == "$" or character.isidentifier()


def _continues_name(character: str) -> bool:
    return character in "$\u200c\u200d" or f"a{character}".isidentifier()
