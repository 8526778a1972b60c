"""Translates sentences that say exactly what a check says, such as "The answer is between 110 and 210 words."

A sentence is translated whole or not at all, and nothing is guessed: "mentions the price" stays a sentence, since its
text is neither quoted nor a name. What "the output" contains may be in a file that the agent wrote; only its measure is
the answer's.
"""

from __future__ import annotations

import json
import re
from typing import Final

_ANSWER: Final = "(?:(?:the|its|your) )?(?:final )?(?:response|answer|reply|message)|it"
_BE: Final = "is|are|has|have|contains?|(?:should|must) (?:be|have|contain)|stays?|be"
_NEVER: Final = "(?P<never>(?:does|do|must|should) not |never )?"
_MUST: Final = "(?:(?:must|should) )?"
_SAYS: Final = "(?:contains?|includes?|mentions?|says?)"
_QUOTED: Final = r"""(?:`[^`]+`|"[^"]+"|“[^”]+”|(?<!\w)'[^']+'(?!\w))"""
_JOINED: Final = f"(?P<texts>{_QUOTED}(?:(?:, ?(?:and|or)?| (?:and|or)) ?{_QUOTED})*)"
_KIND: Final = "(?:(?:the|all of|both) )?(?:(?:exact|literal) )?(?:(?P<kind>word|phrase|text|string|term)s?:? )?"
_N: Final = r"(\d{1,3}(?:,\d{3})+|\d+)"
_BOUNDS: Final = {
    f"between {_N} and {_N}": "between {} and {}",
    f"{_N} ?(?:-|\u2013|to) ?{_N}": "between {} and {}",
    f"(?:at most|up to|(?:no|not) (?:more|longer) than|a maximum of) {_N}": "<= {}",
    f"(?:does|must|should) not exceed {_N}": "<= {}",
    f"(?:at least|no (?:fewer|less) than|a minimum of) {_N}": ">= {}",
    f"(?:under|below|fewer than|less than) {_N}": "< {}",
    f"(?:over|more than) {_N}": "> {}",
    f"exactly {_N}": "== {}",
}
_UNIT: Final = "(?P<unit>word|character|char|sentence|line)s?(?: long| in length| total)?"
_WHOLE: Final = re.compile(r"[A-Za-z0-9](?:[\w.+#' -]*[A-Za-z0-9])?")
"""The texts that are found as whole words: `\\b` stands between ASCII and the rest."""
_WORD: Final = re.compile(r"(?P<quote>[`\"']?)(?P<words>[A-Za-z]+(?:[' -][A-Za-z]+){0,7})(?P=quote)")
_AND_OR: Final = re.compile("(?:^| )(?:and|or) ")
_LONGEST: Final = 500
_SHORT: Final = 3


def check_in(sentence: str) -> str | None:
    """The line of the check that a sentence says; None for a sentence that says something else, or more."""
    text = " ".join(sentence.split()).removesuffix(".")
    if len(text) > _LONGEST or "{{" in text:
        return None
    for pattern, bound in _MEASURES:
        if (found := pattern.fullmatch(text)) is not None:
            *numbers, unit = found.groups()
            return f"{unit.lower().removesuffix('acter')}s {bound.format(*(each.replace(',', '') for each in numbers))}"
    return next((line(found) for form, line in _FORMS if (found := form.fullmatch(text)) is not None), None)


def _contains(found: re.Match[str]) -> str | None:
    """The check that each of the quoted texts occurs, or any of them, or after "not" none of them."""
    texts, never = re.findall(_QUOTED, found["texts"]), "" if found["never"] is None else "not "
    links = set(re.findall(r"\b(and|or)\b", re.sub(_QUOTED, " ", found["texts"]).lower()))
    if len(links) > 1 or (len(texts) > 1 and not links) or (never and "and" in links):
        return None
    if len({text[0] == "`" for text in texts}) > 1:
        return None
    if any(_is_word(text, found["kind"]) for text in texts):
        wholes = [_whole(text[1:-1]) for text in texts]
        link = " and " if never or "and" in links else " or "
        return link.join(f"{never}matches /{whole}" for whole in wholes) if all(wholes) else None
    if len(texts) == 1:
        return f"{never}contains {_compared(*texts)}"
    which = "none of" if never else "any of" if links == {"or"} else "all of"
    return f"contains {which} [{', '.join(map(_literal, texts))}]{_case(texts[0])}"


def _mentions(found: re.Match[str]) -> str | None:
    """The check that a name occurs: of other words only a reader knows which would do, too."""
    whole = _whole(found["name"], is_name=True) if len(found["name"]) > 1 else None
    return whole and f"{'' if found['never'] is None else 'not '}matches /{whole}"


def _at_an_end(found: re.Match[str]) -> str | None:
    """The check that a response begins or ends with a quoted text."""
    is_end = found["verb"].lower().startswith("end")
    if not _is_word(found["text"], found["kind"]):
        return f"{'ends' if is_end else 'starts'} with {_compared(found['text'])}"
    pattern, _, flags = (_whole(found["text"][1:-1]) or "").rpartition("/")
    return f"matches /{'' if is_end else '^'}{pattern}{'$' if is_end else ''}/{flags}" if pattern else None


def _without(found: re.Match[str]) -> str | None:
    """The check that none of some words occurs, each as a whole word."""
    listed = found["words"] or found["in_brackets"] or found["texts"]
    *first, last = listed.strip().split(",")  # where there are commas, `and` before the last stands within a text
    words = [_WORD.fullmatch(word) for word in (*map(str.strip, first), *_AND_OR.split(last.strip())) if word]
    if None in words or any(map(_AND_OR.search, first)):
        return None
    return rf"not matches /\b(?:{'|'.join(word['words'] for word in words if word)})\b/i"


def _is_word(quoted: str, kind: str | None) -> bool:
    """Whether a quoted text is meant as a whole word: a short one, such as `no`, is a part of many others."""
    kind, text = (kind or "").lower(), quoted[1:-1]
    is_short = len(text) <= _SHORT and text.isalpha() and kind not in {"text", "string"}
    return quoted[0] != "`" and (kind in {"word", "term"} or is_short)


def _whole(text: str, *, is_name: bool = False) -> str | None:
    """The rest of a pattern for a text as whole words; that of a short name, such as `Go` or `IT`, is exact."""
    if _WHOLE.fullmatch(text) is None:
        return None
    escaped = re.sub(r"[.+]", r"\\\g<0>", text)
    return rf"\b{escaped}\b/{'' if len(text) <= _SHORT and (is_name or text.isupper()) else 'i'}"


def _compared(quoted: str) -> str:
    """A text as a check compares it: code in backticks exactly, other texts in any case."""
    return f"{_literal(quoted)}{_case(quoted)}"


def _case(quoted: str) -> str:
    return "" if quoted[0] == "`" else " ignoring case"


def _literal(quoted: str) -> str:
    return json.dumps(quoted[1:-1], ensure_ascii=False)


_MEASURES: Final = [
    (re.compile(f"(?:(?:{_ANSWER}|(?:the )?output) )?(?:(?:{_BE}) )?{bounds} {_UNIT}", re.IGNORECASE), line)
    for bounds, line in _BOUNDS.items()
]
_FORMS: Final = [
    (re.compile(f"(?:(?:{_ANSWER}) )?{form}", re.IGNORECASE), line)
    for form, line in {
        f"{_MUST}(?P<verb>starts?|begins?|ends?) with {_KIND}(?P<text>{_QUOTED})": _at_an_end,
        "(?:is|must be|should be) (?:valid|well-formed) JSON": lambda _: "json",
        f"{_NEVER}{_MUST}{_SAYS} {_KIND}{_JOINED}": _contains,
        rf"{_NEVER}(?-i:{_MUST})mentions? (?-i:(?P<name>[A-Z][\w.+#-]*(?: [A-Z0-9][\w.+#-]*){{0,3}}))": _mentions,
        rf"(?:{_SAYS}|uses?) none of (?:the|these) (?:[\w-]+ ){{0,3}}(?:words|phrases|terms)"
        rf"(?:: ?(?P<words>[^()\[\]]+)| ?\((?P<in_brackets>[^()\[\]]+)\)| {_JOINED})": _without,
    }.items()
]
