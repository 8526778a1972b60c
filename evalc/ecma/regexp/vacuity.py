"""Says what is certain about a pattern: that it matches every text, none, or only those with some text."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Literal

from evalc.ecma.regexp import nodes
from evalc.ecma.regexp.nodes import (
    Alternation,
    AnyCharacter,
    Character,
    CharacterSet,
    Class,
    ClassMember,
    Group,
    LineEnd,
    LineStart,
    Look,
    Pattern,
    Property,
    Repeat,
    Term,
)

LiteralKind = Literal["has", "begins", "is"]


def matches_everything(pattern: Pattern) -> bool:
    """Whether the pattern matches every text. True only if that is certain."""
    return _always(pattern.body)


def matches_nothing(pattern: Pattern) -> bool:
    """Whether the pattern matches no text at all. True only if that is certain."""
    return _never(pattern.body)


def literal_text(pattern: Pattern) -> tuple[str, LiteralKind] | None:
    """The text that the pattern is another spelling of: one to contain (`a`), to start with (`^a`) or to be (`^a$`)."""
    if "i" in pattern.flags:
        return None
    items = _in_sequence(pattern.body)
    begins = bool(items) and isinstance(items[0], LineStart) and not items[0].multiline
    ends = len(items) > 1 and isinstance(items[-1], LineEnd) and not items[-1].multiline
    text = "".join(map(_plain, items[begins : len(items) - ends]))
    if len(text) != len(items) - begins - ends or not text or (ends and not begins):
        return None
    return text, "is" if ends else "begins" if begins else "has"


def required_texts(pattern: Pattern) -> tuple[str, ...]:
    """Texts that occur in every text that the pattern matches: its runs of plain characters.

    With the flag `i`, they occur there in any case, as ECMAScript folds cases.
    """
    return tuple(_runs(_in_sequence(pattern.body)))


def is_local(pattern: Pattern, *, at_start: bool = False) -> bool:
    """Whether the text around a match is irrelevant: the pattern looks at no edge but, with `at_start`, the first."""
    return _is_local(pattern.body, (LineStart,) if at_start else ())


def _is_local(term: Term, allowed: tuple[type, ...]) -> bool:
    match term:
        case LineStart() | LineEnd() | nodes.WordBoundary() | Look():
            return isinstance(term, allowed)
        case Group() | Repeat():
            return _is_local(term.body, allowed)
        case nodes.PatternSequence():
            return all(_is_local(item, allowed) for item in term.items)
        case Alternation():
            return all(_is_local(branch, allowed) for branch in term.branches)
        case _:
            return True


def _runs(items: Sequence[Term]) -> Iterator[str]:
    run = ""
    for item in items:
        character = _plain(item)
        if run and not character:
            yield run
        run = run + character if character else ""
    if run:
        yield run


def _plain(term: Term) -> str:
    """The character that the term is; none for half a surrogate pair, which texts may spell in two ways."""
    is_plain = isinstance(term, Character) and term.code <= 0xFFFF and not 0xD800 <= term.code <= 0xDFFF
    return chr(term.code) if is_plain and isinstance(term, Character) else ""


def _always(term: Term) -> bool:
    """A search succeeds in every text: it may begin anywhere, so an empty match at one end is enough."""
    match term:
        case Alternation():
            return any(map(_always, term.branches))
        case Group():
            return _always(term.body)
        case _:
            items = _in_sequence(term)
            return all(map(_empty_at_start, items)) or all(map(_empty_at_end, items)) or _spans_everything(items)


def _spans_everything(items: Sequence[Term]) -> bool:
    """From start to end over all there is (`^[\\s\\S]*$`), or with multiline over the first line (`^.*$`)."""
    for at, item in enumerate(items):
        if not _empty_at_start(item):
            break
        before, after = items[:at], items[at + 1 :]
        if _eats(item, _is_any) and all(map(_empty_at_start, before)) and all(map(_empty_at_end, after)):
            return True
        if _eats(item, _is_any_in_line) and all(map(_empty_at_start, before)) and all(map(_empty_at_line_end, after)):
            return True
    return False


def _eats(term: Term, one: Callable[[Term], bool]) -> bool:
    """Any number of `one`, none included."""
    match term:
        case Group():
            return _eats(term.body, one)
        case Repeat(min=0, max=None):
            return one(_bare(term.body))
        case _:
            return False


def _empty(term: Term, holds: Callable[[Term], bool]) -> bool:
    """The term can match the empty text, wherever the assertions that `holds` names hold."""
    match term:
        case nodes.PatternSequence():
            return all(_empty(item, holds) for item in term.items)
        case Alternation():
            return any(_empty(branch, holds) for branch in term.branches)
        case Group():
            return _empty(term.body, holds)
        case Repeat():
            return term.min == 0 or _empty(term.body, holds)
        case Look(negated=True):
            return _never(term.body)
        case Look():
            return _empty(term.body, holds)
        case _:
            return holds(term)


def _empty_at_start(term: Term) -> bool:
    return _empty(term, lambda place: isinstance(place, LineStart))


def _empty_at_end(term: Term) -> bool:
    return _empty(term, lambda place: isinstance(place, LineEnd))


def _empty_at_line_end(term: Term) -> bool:
    return _empty(term, lambda place: isinstance(place, LineEnd) and place.multiline)


def _never(term: Term) -> bool:
    match term:
        case Alternation():
            return all(map(_never, term.branches))
        case Group():
            return _never(term.body)
        case Repeat():
            return term.min > 0 and _never(term.body)
        case Look(negated=True):
            return _empty(term.body, lambda _: False)
        case Look():
            return _never(term.body)
        case Class():
            return (term.negated and _is_all(term.members)) or not (term.negated or term.members)
        case nodes.PatternSequence():
            items = _in_sequence(term)
            return any(map(_never, items)) or _leaves_the_text(items)
        case _:
            return False


def _leaves_the_text(items: Sequence[Term]) -> bool:
    """Something must precede the text's start, or follow its end: `a^`, `$a`."""
    consumed = ended = False
    for item in items:
        if consumed and isinstance(item, LineStart) and not item.multiline:
            return True
        consumes = _consumes(item)
        if ended and consumes:
            return True
        consumed = consumed or consumes
        ended = ended or (isinstance(item, LineEnd) and not item.multiline)
    return False


def _consumes(term: Term) -> bool:
    """Every match of the term is of one character at least."""
    match term:
        case Character() | AnyCharacter() | CharacterSet():
            return True
        case Property():
            return not term.strings
        case Class():
            return all(isinstance(member, Character | CharacterSet | nodes.CharacterRange) for member in term.members)
        case Group():
            return _consumes(term.body)
        case Repeat():
            return term.min > 0 and _consumes(term.body)
        case Alternation():
            return all(map(_consumes, term.branches))
        case nodes.PatternSequence():
            return any(map(_consumes, term.items))
        case _:
            return False


def _in_sequence(term: Term) -> list[Term]:
    """The terms that follow one another, plain groups opened."""
    match term:
        case nodes.PatternSequence():
            return [inner for item in term.items for inner in _in_sequence(item)]
        case Group():
            return [term] if "i" in term.modifiers else _in_sequence(term.body)
        case _:
            return [term]


def _bare(term: Term) -> Term:
    while isinstance(term, Group):
        term = term.body
    return term


def _is_any(term: Term) -> bool:
    """One character, whichever it is."""
    match term:
        case AnyCharacter():
            return term.dot_all
        case Class():
            return not term.members if term.negated else _is_all(term.members)
        case _:
            return False


def _is_any_in_line(term: Term) -> bool:
    return isinstance(term, AnyCharacter) or _is_any(term)


def _is_all(members: Sequence[ClassMember]) -> bool:
    """Whether the members hold a set and its complement (`\\s` and `\\S`)."""
    letters = {member.letter for member in members if isinstance(member, CharacterSet)}
    return any(letter.upper() in letters for letter in letters if letter.islower())
