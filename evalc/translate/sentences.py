"""Translates sentences that say exactly what a check says, such as "The answer is between 110 and 210 words."

A sentence is translated whole or not at all, and nothing is guessed: "mentions the price" stays a sentence, since its
text is neither quoted nor a name. What "the output" contains may be in a file that the agent wrote; only its measure is
the answer's.
"""

from __future__ import annotations

import json
import re
from typing import Final

_ANSWER: Final = r"(?:(?:the|its|your)\s+)?(?:final\s+)?(?:response|answer|reply|message)"
_BE: Final = r"(?:is|are|has|have|contains?|(?:should|must)\s+(?:be|have|contain)|stays?|be)"
_SAYS: Final = r"(?:contains?|includes?|mentions?|says?)"
_HOW: Final = rf"(?P<never>(?:does|do|must|should)\s+not\s+|never\s+)?(?:(?:must|should)\s+)?(?P<verb>{_SAYS})\s+"
_QUOTED: Final = r"""(?:`[^`]+`|"[^"]+"|“[^”]+”|(?<!\w)'[^']+'(?!\w))"""
_JOINED: Final = rf"(?P<texts>{_QUOTED}(?:(?:,\s*(?:and|or)?|\s+(?:and|or))\s*{_QUOTED})*)"
_KIND: Final = (
    r"(?:(?:the|all\s+of|both)\s+)?(?:(?:exact|literal)\s+)?(?:(?P<kind>word|phrase|text|string|term)s?:?\s+)?"
)
_UNIT: Final = r"(?P<unit>word|character|char|sentence|line)s?(?:\s+long|\s+in\s+length|\s+total)?"
_N: Final = r"\d{1,3}(?:,\d{3})+|\d+"
_BOUNDS: Final = {
    rf"between\s+({_N})\s+and\s+({_N})": "between {} and {}",
    rf"({_N})\s*(?:-|\u2013|to)\s*({_N})": "between {} and {}",
    rf"(?:at\s+most|up\s+to|(?:no|not)\s+(?:more|longer)\s+than|a\s+maximum\s+of)\s+({_N})": "<= {}",
    rf"(?:does|must|should)\s+not\s+exceed\s+({_N})": "<= {}",
    rf"(?:at\s+least|no\s+(?:fewer|less)\s+than|a\s+minimum\s+of)\s+({_N})": ">= {}",
    rf"(?:under|below|fewer\s+than|less\s+than)\s+({_N})": "< {}",
    rf"(?:over|more\s+than)\s+({_N})": "> {}",
    rf"exactly\s+({_N})": "== {}",
}
_MEASURES: Final = [
    (re.compile(rf"(?:(?:{_ANSWER}|(?:the\s+)?output|it)\s+)?(?:{_BE}\s+)?{bounds}\s+{_UNIT}", re.IGNORECASE), line)
    for bounds, line in _BOUNDS.items()
]
_CONTAINS: Final = re.compile(rf"(?:(?:{_ANSWER}|it)\s+)?{_HOW}{_KIND}{_JOINED}", re.IGNORECASE)
_MENTIONS: Final = re.compile(
    rf"(?:(?i:{_ANSWER}|it)\s+)?(?P<never>(?i:does|do|must|should)\s+(?i:not)\s+|(?i:never)\s+)?"
    r"(?:(?:must|should)\s+)?(?i:mentions?)\s+(?P<name>[A-Z][\w.+#-]*(?:\s[A-Z0-9][\w.+#-]*){0,3})"
)
"""A name is mentioned by its name; of other words only a reader knows which would do, too."""
_WHOLE: Final = re.compile(r"[A-Za-z0-9](?:[\w.+#' -]*[A-Za-z0-9])?")
"""The texts that are found as whole words: `\\b` stands between ASCII and the rest."""
_WITHOUT: Final = re.compile(
    rf"(?:(?:{_ANSWER}|it)\s+)?(?:{_SAYS}|uses?)\s+none\s+of\s+(?:the|these)\s+(?:[\w-]+\s+){{0,3}}"
    rf"(?:words|phrases|terms)(?::\s*(?P<words>[^()\[\]]+)|\s*\((?P<in_brackets>[^()\[\]]+)\)|\s+{_JOINED})",
    re.IGNORECASE,
)
_STARTS: Final = re.compile(
    rf"(?:(?:{_ANSWER}|it)\s+)?(?:(?:must|should)\s+)?(?P<verb>starts?|begins?|ends?)\s+with\s+{_KIND}(?P<text>{_QUOTED})",
    re.IGNORECASE,
)
_IS_JSON: Final = re.compile(rf"(?:(?:{_ANSWER}|it)\s+)?(?:is|must be|should be)\s+(?:valid|well-formed)\s+JSON", re.I)
_WORD: Final = re.compile(r"(?P<quote>[`\"']?)(?P<words>[A-Za-z]+(?:[' -][A-Za-z]+){0,7})(?P=quote)")
_AND_OR: Final = re.compile(r"(?:^|\s+)(?:and|or)\s+")
_LONGEST: Final = 500
_SHORT: Final = 3


def check_in(sentence: str) -> str | None:
    """The line of the check that a sentence says; None for a sentence that says something else, or more."""
    text = " ".join(sentence.split()).removesuffix(".")
    if len(text) > _LONGEST or "{{" in text:
        return None
    for pattern, bound in _MEASURES:
        if (found := pattern.fullmatch(text)) is not None:
            unit = f"{found['unit'].lower().removesuffix('acter')}s"
            numbers = [each.replace(",", "") for each in found.groups() if each and each[0].isdigit()]
            return f"{unit} {bound.format(*numbers)}"
    if (found := _STARTS.fullmatch(text)) is not None:
        return _at_an_end(found["text"], is_end=found["verb"].lower().startswith("end"), kind=found["kind"])
    if _IS_JSON.fullmatch(text):
        return "json"
    if (found := _CONTAINS.fullmatch(text)) is not None:
        return _contains(found["texts"], is_not=found["never"] is not None, kind=found["kind"])
    if (found := _MENTIONS.fullmatch(text)) is not None and len(name := found["name"]) > 1:
        whole = _whole(name, is_name=True)
        return whole and f"{'' if found['never'] is None else 'not '}matches /{whole}"
    found = _WITHOUT.fullmatch(text)
    return None if found is None else _without(found["words"] or found["in_brackets"] or found["texts"])


def _contains(joined: str, *, is_not: bool, kind: str | None) -> str | None:
    """The check that each of the quoted texts occurs, or any of them, or after "not" none of them."""
    texts = re.findall(_QUOTED, joined)
    links = set(re.findall(r"\b(and|or)\b", re.sub(_QUOTED, " ", joined).lower()))
    if len(links) > 1 or (len(texts) > 1 and not links) or (is_not and "and" in links):
        return None
    one_case = {text[0] == "`" for text in texts}
    if len(one_case) > 1:
        return None
    never = "not " if is_not else ""
    if any(_is_word(text, kind) for text in texts):
        wholes = [_whole(text[1:-1]) for text in texts]
        link = " and " if is_not or "and" in links else " or "
        return link.join(f"{never}matches /{whole}" for whole in wholes) if all(wholes) else None
    if len(texts) == 1:
        return f"{never}contains {_compared(texts[0])}"
    which = "none of" if is_not else "any of" if links == {"or"} else "all of"
    listed = ", ".join(map(_literal, texts))
    return f"contains {which} [{listed}]{'' if one_case == {True} else ' ignoring case'}"


def _at_an_end(quoted: str, *, is_end: bool, kind: str | None) -> str | None:
    """The check that a response begins or ends with a quoted text."""
    if not _is_word(quoted, kind):
        return f"{'ends' if is_end else 'starts'} with {_compared(quoted)}"
    whole = _whole(quoted[1:-1])
    if whole is None:
        return None
    pattern, _, flags = whole.rpartition("/")
    return f"matches /{pattern}$/{flags}" if is_end else f"matches /^{pattern}/{flags}"


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


def _without(listed: str) -> str | None:
    """The check that none of some words occurs, each as a whole word."""
    *first, last = listed.strip().split(",")  # where there are commas, `and` before the last stands within a text
    split = [*map(str.strip, first), *_AND_OR.split(last.strip())]
    words = [_WORD.fullmatch(word) for word in split if word]
    if None in words or any(_AND_OR.search(word) for word in first):
        return None
    return rf"not matches /\b(?:{'|'.join(word['words'] for word in words if word)})\b/i"


def _compared(quoted: str) -> str:
    """A text as a check compares it: code in backticks exactly, other texts in any case."""
    return _literal(quoted) if quoted[0] == "`" else f"{_literal(quoted)} ignoring case"


def _literal(quoted: str) -> str:
    return json.dumps(quoted[1:-1], ensure_ascii=False)
