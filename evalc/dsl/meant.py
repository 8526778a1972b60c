"""Finds the check that was meant by a line that is not a check.

Other tools' words and code are translated. Otherwise, the parser says where the line stops
making sense; only there, a misspelt keyword is corrected, or the rest of the line is put in quotes or brackets.
Everything else stays as it was written. A line is offered only if it is a check.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from functools import cache
from typing import Final, NamedTuple

from evalc.check.languages import language_named
from evalc.check.predicates import TOOL, texts_of
from evalc.diagnostics.near import typo_of
from evalc.dsl.quoting import is_check
from evalc.grammar.lalr import Following, following, load
from evalc.grammar.read_check import read_check, unclear_halves
from evalc.grammar.unexpected import words_of
from evalc.translate import translated

_LONGEST: Final = 1_000
_MOST_REPAIRS: Final = 8
_BARE: Final = re.compile(r"[\w .-]+")
_ABOUT: Final = re.compile(
    r"(?:(?:should be|is) )?(?<!most )(?<!least )"
    r"(?:(?<![\w-])(?:about|approximately|around|roughly)(?= )|~=?|≈) ?(?=[-\d{])"
)
_LINK: Final = re.compile(r"""(?P<line>.+\S)(?P<link>\s+for\s+(?:[A-Za-z_][\w-]*|"[^"\\]*"|'[^'\\]*'))""", re.ASCII)
_TAIL: Final = re.compile(r"(?<=\w)(?: ignoring case(?: for [A-Za-z_][\w-]*)?| for [A-Za-z_][\w-]*)$", re.ASCII)


class Meant(NamedTuple):
    """The line that was meant. It is sure if only quotes and brackets were added.

    The note says how it differs from the original.
    """

    line: str
    is_sure: bool
    note: str = ""


def meant_by(text: str) -> Meant | None:
    """The check that was probably meant by a line, also by one with the full stop of a sentence; None if unclear."""
    if len(text) > _LONGEST or text != text.strip():
        return None
    meant, sentence = _meant_by(text), text.removesuffix(".")
    if meant is not None or sentence == text:
        return meant
    meant = Meant(sentence, False) if is_check(sentence) else _meant_by(sentence)
    return None if meant is None else meant._replace(is_sure=False)


def _meant_by(text: str) -> Meant | None:
    meant = Meant(text, True)
    for _ in range(_MOST_REPAIRS):
        repaired = _translated(meant.line) or _repaired(meant.line)
        if repaired is None:
            return None
        meant = Meant(repaired.line, meant.is_sure and repaired.is_sure, repaired.note)
        if is_check(meant.line):
            return None if any(unclear_halves(meant.line)) else meant
    return None


def hints(text: str) -> dict[str, str]:
    """The lines that a line may stand for where none is surely meant, by the fields of the messages that name them."""
    found = {
        "near": _ABOUT.sub("within 1 of ", text, count=1),
        "in_seconds": f"{text}s" if _WITHOUT_UNIT.search(text) else "",
        "own": f"check {text}" if _CALL.fullmatch(text) else "",
        "text": f"contains {_NAME.sub(_in_quotes, text)}" if _ONE_TEXT.fullmatch(text) else "",
        "place": "" if is_keyword(text.partition(" ")[0]) else _PLACE.sub(r"at \g<0>", _NAME.sub(_in_quotes, text)),
        "whole": _ANSWER.sub(r"equals \1", text),
        "part": _ANSWER.sub(r"contains \1", text),
        "exact": _TOOLS.sub(_called("called"), text),
        "include": _TOOLS.sub(_called("include"), text),
        "any_of": _NAMES_LISTED.sub(_listed("any of"), text),
        "all_of": _NAMES_LISTED.sub(_listed("all of"), text),
        "tail": _with_tail(text),
        "words": _UNQUOTED.sub(r'\1 "\2"', text),
        "calls": _of_call(text),
        "beside": _BESIDE.sub("at ", text),
        "judged": _question(text),
    }
    optional = {"optional": text} if _MAY_BE.match(text) else {}
    return optional | {name: line for name, line in found.items() if line not in ("", text) and _is_clear(line)}


def _is_clear(line: str) -> bool:
    return is_check(line) and not any(unclear_halves(line))


def _with_tail(text: str) -> str:
    """The line whose text ends before words that may belong to the check: `contains rain for q`; else empty."""
    tail = _TAIL.search(text)
    meant = _meant_by(text[: tail.start()]) if tail is not None else None
    return "" if tail is None or meant is None else f"{meant.line}{tail[0]}"


def _called(how: str) -> Callable[[re.Match[str]], str]:
    """Writes a check of tools that are listed without a word of how: `tools [search]`."""
    return lambda found: f"tools {how} [{found[1].replace(chr(34), '')}]"


def _listed(which: str) -> Callable[[re.Match[str]], str]:
    """Writes a check of texts that are listed without a word of any or all of them: `contains Tokyo, Paris`."""

    def write(found: re.Match[str]) -> str:
        return f"{found['before']} {which} [{_NAME.sub(_in_quotes, found['texts'])}]{found['link'] or ''}"

    return write


def _of_call(text: str) -> str:
    """The line that asks what a part of an entry in a list of calls is; empty for any other text."""
    found = _CALL_IN_LIST.match(text)
    if found is None:
        return ""
    return (
        f"tools include [{found['value']}]"
        if found["name"]
        else f"any call of book has {found['key']} {found['value']}"
    )


def _question(text: str) -> str:
    """The line that asks a judge about the answer, for a sentence; empty for any other text."""
    words = text.removesuffix(".")
    if not _SENTENCE.fullmatch(words) or _HALF_WRITTEN.match(words):
        return ""
    if '"' in words and is_keyword(words.split(maxsplit=1)[0]):
        return ""  # rather a check with a mistake in it
    return f"judge '{words}'" if '"' in words and "'" not in words else f"judge {json.dumps(words, ensure_ascii=False)}"


def meant_by_pair(words: str, rule: str | None, text: str | None, written: str) -> str | None:
    """The check that was probably meant by a key (`words`) and its value; None if that is unclear.

    `rule` is the value as it is written, unless it is in quotes; `text` is the text that it is, unless it is a list or
    a mapping. `written` is the key, the value, and what is between them: their colon is only left out where it is not
    part of a text.
    """
    if not _BARE.fullmatch(words):
        return None
    as_rule = None if rule is None else f"{words} {rule}".strip()
    is_text = text is not None and (rule is None or may_be_text(rule, of=words))
    as_text = f"{words} {json.dumps(text, ensure_ascii=False)}" if is_text else None
    candidates = [line for line in (as_rule, as_text) if line is not None]
    sound = next((line for line in candidates if is_check(line)), None)
    if sound is not None:
        return sound
    with_colon = None if rule is None else written
    of_rule = as_rule if _following(words).at >= len(words) else None
    tried = (meant_by(line) for line in (with_colon, as_text, of_rule) if line is not None)
    meant = next((each for each in tried if each is not None), None)
    if meant is None and as_rule is not None and _SENTENCE.fullmatch(as_rule):  # `never: contains Rome`
        meant = _translated(as_rule) or _in_other_words(as_rule)
    return None if meant is None else meant.line


def meant_by_words(before: str, text: str) -> str | None:
    """The check that was probably meant by words that join or deny texts: `a or b`, `not Paris`; None for other words.

    `before` is the line up to them. What is denied has to be a name, since `not found` is a text as it is, and `and`
    joins what is not to occur, where a text with it would pass what holds either half.
    """
    if (curly := _CURLY.fullmatch(text)) is not None:
        line = f"{before}{json.dumps(curly[1], ensure_ascii=False)}"
        return line if is_check(line) else None
    found = _JOINED.fullmatch(text)
    if found is None or len(text.split()) > _MOST_JOINED:
        return None
    lead, joined = found["lead"] or "", found["joined"]
    pieces = _JOINT.split(joined)
    texts, joints = pieces[::2], {joint.strip(" ,") for joint in pieces[1::2]}
    is_clear = bool(joints & {"or", "nor", "and not", "but not"}) or (_DENIES.search(before) and "and" in joints)
    is_lead = lead and (lead.split()[-1] == "of" or joints or _NAME.fullmatch(joined))
    if not (is_clear or is_lead) or not all(map(_TEXT.fullmatch, texts)):
        return None
    pieces[::2] = [json.dumps(text, ensure_ascii=False) for text in texts]
    line = f"{before}{lead}{''.join(pieces)}"
    if is_check(line):
        return line
    meant = _translated(line)
    return None if meant is None else meant.line


def _translated(text: str) -> Meant | None:
    """The line that says the same as one in other words; what it counts for stays."""
    linked = _LINK.fullmatch(text)
    for line, link in ((text, ""), *([] if linked is None else [linked.groups()])):
        found = translated(line)
        check = None if found is None else read_check(found.line + link).node
        if found is None or check is None:
            continue
        tools = {text for role, text in texts_of(check.check) if role is TOOL}
        if not any(map(is_keyword, map(str, tools))):  # a word of the language is no name there: `tools called once`
            return Meant(found.line + link, False, found.note)
    return None


def _following(text: str) -> Following:
    return following(load("check"), "line", text)


def _repaired(line: str) -> Meant | None:
    """The line with a repair where the parser stops."""
    follows = _following(line)
    before, rest = line[: follows.at], line[follows.at :]
    for terminal, phrase, replacement in _PHRASES:
        if terminal in follows.terminals and (found := phrase.match(rest)) is not None:
            said = before.rstrip() if replacement == ".." else before
            return Meant(f"{said}{found.expand(replacement)}{rest[found.end() :]}", False)
    return (
        _quoted(before, rest, follows.terminals)
        or _with_names_quoted(before, rest, follows.terminals)
        or _respelt(before, rest, follows.terminals)
    )


# --- quotes and brackets ---------------------------------------------------------------------------------------------

_VALUES: Final = frozenset(
    (
        *("STRING", "TEMPLATE", "REGEXP", "SCHEMA", "ANY", "ALL", "NONE", "ONE_OF", "NUMBER", "DOLLAR", "LSQB"),
        *("LBRACE", "TRUE", "FALSE", "NULL"),
    )
)
"""Terminals one of which can follow the words of a check that lack only a value."""
_LETTERS: Final = r"[^\W\d_]+"
_HYPHENED: Final = rf"{_LETTERS}(?:['\u2019-]{_LETTERS})*"
_WORD: Final = re.compile(rf"{_LETTERS}(?:['\u2019]{_LETTERS})*")
_TEXT: Final = re.compile(r"(?!.*(?:\.\w|(?<!\w)/|(?<!\w)&|&(?!\w)|(?<!\w)['!\u2019]))[\w '\u2019.!?:;/&%°@#$€+-]+")
"""A text that may lack its quotes: it has no operator, path, list or quote."""
_PATTERN: Final = re.compile(r"(?!.*(?:\w\.\w|\$\.|\[\*\]|[=<>~]=))[^\s/\"'{}]+")
_WORDS: Final = re.compile(f"{_HYPHENED}(?: {_HYPHENED})*")
_NAMES: Final = re.compile(r"[A-Za-z_][\w-]*(?: ?, ?[A-Za-z_][\w-]*)*", re.ASCII)
_SURE_NAMES: Final = re.compile(r"[,_A-Z0-9-]")
_DESCRIBES: Final = re.compile(
    "an?|the|th(?:is|at|[eo]se)|some|each|n?either|both|all|(?:an)?other|its|his|her|their|our|your|my|wh(?:at|ich)|such"
    "|exactly|more|most|less|least|few(?:er|est)?|many|much|several|enough|about|over|under|up|between"
    "|(?:some|any|every|no)thing|one|two|three|four|five|six|seven|eight|nine|ten|once|twice"
    "|(?:lower|upper)[ -]?case|capital(?:ized)?|valid|is|are|be|been|was|were"
    "|emojis?|urls?|links?|numbers|digits|dates|names|prices|jargon|slang|typos|mistakes|code|markdown|html|bullets|quotes"
    "|citations|sources|examples|competitors|personal|private|sensitive|confidential|offensive|inappropriate"
)
"""Words that begin the description of a text rather than a text: `contains an email address`."""
_NAME: Final = re.compile(r"""(?<![\w"'])[A-Z][\w-]*(?: (?:[A-Z][\w-]*|\d+\b))*(?!["'])""")
_MANY: Final = re.compile(r"(?:[a-z-]+ )*[a-z-]*[a-rt-z]s|profanity")
"""Words of which the last is a plural."""
_NAME_AND_MORE: Final = re.compile(
    rf"{_NAME.pattern} (?:if|unless|when|whenever|while|without|instead|rather|except|because|though|until)\b"
)
"""A name and when it is to be there, or with what: `Paris if asked`."""
_JOINTS: Final = re.compile(r"\b(?:AND|OR|NOT|NOR|BUT)\b|(?<= )(?:And|Or|Nor|But)\b")
_LEADING: Final = re.compile(r"(?:either|neither|both|any of|all of|none of) ")
_THE_WORD: Final = re.compile(r"the (?:words?|phrase|name|text|letters?) [A-Z]")
_FOR: Final = re.compile(r"\bfor\b")
_ANSWERS: Final = re.compile(r"(?:yes|no)(?: or (?:yes|no))?", re.IGNORECASE)
_CHOICE: Final = re.compile(r"[a-z]\w*(?:, [a-z]\w*)*,? or [a-z]\w*")
_CHOSEN: Final = re.compile(r"\b(?!or\b)\w+")
_LINKS: Final = frozenset(("but", "except", "instead", "nor", "rather", "unless"))
"""Words that stand between texts, or between checks, more often than within a text, as `first` does behind it."""
_OTHERS: Final = re.compile("similar|equivalent|so|such|others?|else|equal|longer|shorter|later")
_JOINED: Final = re.compile(
    r"(?P<lead>(?:not|no|either|neither|both|any of|all of|none of|one of) )?(?P<open>\[)?(?P<joined>.+?)(?(open)\])"
)
_CURLY: Final = re.compile(r"[“„\u2018]([^“”„\u2018\u2019]*)[“”\u2019]")
_JOINT: Final = re.compile(r"(,? (?:and not|but not|or|nor|and) |, )")
_MOST_JOINED: Final = 8
_DENIES: Final = re.compile(r"\b(?:not|never|none|no)\b|n't\b")
_ADDRESS: Final = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+|(?:https?://|www\.)[^\s\"'\\]+\w/?")
_SENTENCE_END: Final = re.compile(r"(?<!\.)\b[^\W\d_]{4,}\.$")
"""The end of a sentence, unless it may be that of an abbreviation."""
_SAID: Final = r"\b(?:contain|mention|include)s?"
_SAYS: Final = re.compile(rf"{_SAID} $")
_TEXTS: Final = rf"""(?:{_NAME.pattern}|"[^"\\]*")"""
_NAMES_LISTED: Final = re.compile(rf"^(?P<before>.*{_SAID}) (?P<texts>{_TEXTS}(?:, {_TEXTS})+)(?P<link> for [\w-]+)?$")
_UNQUOTED: Final = re.compile(rf"^(.*{_SAID}) ([a-z\d][\w '-]*)$")
_ANSWER: Final = re.compile(r'^(?:the )?(?:answer|output|response|reply):? ("[^"\\]*")$')
_TOOLS: Final = re.compile(
    r'^tools (?!(?:called|used|include[ds]?|only|any|all|every|each|none)\b)\[?("?\w[^\[\]]*\w"?)\]?$'
)
_ONE_TEXT: Final = re.compile(_TEXTS)
_CALL: Final = re.compile(r"[A-Za-z_]\w*\(.*\)")
_MAY_BE: Final = re.compile(
    r"(?:(?:it|the \w+) )?(?:may|can|could|might|optionally|ideally|preferably|usually|often|sometimes|rarely|hardly"
    r"|seldom|need not|(?:do|does|should)(?: not|n't) (?:have|need) to) "
)
_WITHOUT_UNIT: Final = re.compile(r"latency\s[^\w]*\s?[\d.]+$")
_CALL_IN_LIST: Final = re.compile(
    r"(?:assert )?(?:[$\w]*\.)?tool_?[cC]alls?(?:\[[^\]]*\]|\.at\(-?\d+\))\??\.(?:function\.)?"
    r"(?:(?P<name>name|tool|tool_?[nN]ame)|(?:params|args|arguments|parameters|input)"
    r"(?:\??\.|\[[\"'])(?P<key>\w+)(?:[\"']\])?)\s*(?:={1,3}|equals|is)\s*(?P<value>[\"'\w].*)"
)
_BESIDE: Final = re.compile(r"^\$\.(?=(?:tool_?[cC]alls|usage)\b)")
_PLACE: Final = re.compile(  # the measures of other tools are no places
    r"^(?!m(?:ax|in)_|\w*(?:Metric|relevanc|faithful|toxicit|hallucinat|similarit|coheren|perplex))"
    r"[A-Za-z_][\w.]* (?:is |must be |should be )?"
    r"(?:equals |contains |(?:less|more) than |above |below |over |under |at (?:least|most) |[<>=!]=? ?)?[\"'\d].*$"
)
_SENTENCE: Final = re.compile(rf"{_HYPHENED}(?:,? (?:[\w'\u2019-]+|\$?\d[\d,.]*%?|\"[^\"\\]*\"))+[!?]?")
_HALF_WRITTEN: Final = re.compile(
    r"(?:at (?!least|most)|(?:tools?|call|check|judge|turn|json|latency|cost|tokens|length|matches"
    "|(?:any|every|no) (?:call|item)) )"
)
"""How a line begins that is about what evalc measures or finds, with a mistake."""
_FORMATS: Final = re.compile("json|html|xml|yaml|csv|markdown|python|javascript|sql|latex", re.IGNORECASE)
_OF_WORDS: Final = re.compile(r"[a-z(].*\(\?!")
_IN_QUESTIONS: Final = frozenset(
    ("answer", "are", "be", "do", "does", "has", "have", "is", "must", "response", "should", "the")
)
"""Words of the language that a question may hold."""


@cache
def is_keyword(word: str) -> bool:
    """Whether a word is a keyword of the language of checks."""
    return _keyword().fullmatch(word) is not None


@cache
def _keyword() -> re.Pattern[str]:
    terminals = [each for each in load("check").terminals if each.name not in {"A", "BARE_NAME"}]
    return re.compile("|".join(each.pattern for each in terminals if _OF_WORDS.match(each.pattern)))


def may_be_text(unquoted: str, *, of: str) -> bool:
    """Whether unquoted words can be the text of a check: nothing in them belongs to the language."""
    is_pattern = of.endswith(("regex", "matches")) and _PATTERN.fullmatch(unquoted)
    return bool(is_pattern or _TEXT.fullmatch(unquoted)) and _says_no_more(unquoted, of)


def _says_no_more(unquoted: str, before: str) -> bool:
    """Whether no word is a keyword, and the words do not describe a text; a question may do both."""
    words = _WORD.findall(unquoted.lower())
    if not _is_question(before) and (not _LINKS.isdisjoint(words) or words[1:][-1:] in (["first"], ["last"], ["only"])):
        return False
    if any(is_keyword(word) and not (_is_question(before) and word in _IN_QUESTIONS) for word in words):
        return False
    if not _is_question(before) and (_NAME_AND_MORE.match(unquoted) or _is_ban(before, unquoted)):
        return False
    return _is_question(before) or not unquoted[:1].isalpha() or not _DESCRIBES.fullmatch(words[0])


def _is_ban(before: str, unquoted: str) -> bool:
    """Whether words that are not to occur may be what is not to be said: the words `internal systems` rarely are."""
    return bool(_DENIES.search(before) and (_MANY.fullmatch(unquoted) or _FORMATS.fullmatch(unquoted)))


def _is_question(before: str) -> bool:
    return before.rstrip().endswith("judge")


def _quoted(before: str, rest: str, terminals: frozenset[str]) -> Meant | None:
    """The line with the rest of it in quotes or brackets, if the words before it lack nothing else."""
    if not before.endswith((" ", ",")) or not rest or not terminals <= _VALUES:
        return None
    if "LSQB" in terminals and "STRING" not in terminals and is_check(f"{before}[name]"):
        return _names(before, rest)
    if "STRING" in terminals and _ADDRESS.fullmatch(rest):
        return Meant(f'{before}"{rest}"', False)
    if not _says_no_more(rest, before):
        return None
    if "LSQB" in terminals and before.rstrip().endswith(" of"):
        return _texts(before, rest, "[{}]")
    if "STRING" not in terminals:
        return None
    if before.rstrip().endswith("headings"):
        return _texts(before, rest, "{}")
    is_sure = _is_name(rest)
    if "REGEXP" in terminals and not is_sure:
        return Meant(f"{before}/{rest}/", False) if _PATTERN.fullmatch(rest) else None
    if not _TEXT.fullmatch(rest):
        return None
    if _SENTENCE_END.search(rest) and _SAYS.search(before):
        return Meant(f'{before}"{rest[:-1]}"', False)
    return Meant(f'{before}"{rest}"', is_sure or (_is_question(before) and not re.search(r"[\d&/]", rest)))


def _with_names_quoted(before: str, rest: str, terminals: frozenset[str]) -> Meant | None:
    """The line with each name in the rest of it in quotes, where words of the language stand among them.

    `for` may be part of a text as well as name a criterion. Where no text can stand, the line is one in other words.
    """
    if "STRING" not in terminals:
        return _in_other_words(before + rest)
    if ("LSQB" in terminals and before.rstrip().endswith(" of")) or _FOR.search(rest) or _is_question(before):
        return None
    if _is_ban(before, rest):
        return None
    if _THE_WORD.match(rest):
        return _in_other_words(before + rest)
    if _ANSWERS.fullmatch(rest) or (terminals <= _VALUES and _is_choice(rest)):
        return Meant(f"{before}{_CHOSEN.sub(_in_quotes, rest)}", False)
    lowered = _JOINTS.sub(lambda joint: joint[0].lower(), rest)
    if not _NAME.match(lowered) and not _LEADING.match(lowered):
        return None
    if not terminals <= _VALUES:  # `is`, behind which a word may also describe the text
        names = _NAME.findall(lowered)
        denies = _DENIES.search(before) and not before.startswith(("at ", "tool "))
        if denies or any(map(_is_kind, names)) or any(_translated(f"is {name.lower()}") for name in names):
            return None
    line = f"{before}{_NAME.sub(_in_quotes, lowered)}"
    return Meant(line, False) if is_check(line) or _translated(line) is not None else None


def _in_other_words(text: str) -> Meant | None:
    """The line that a sentence with names is, the first word with or without its capital: `It says Rome`."""
    text = _JOINTS.sub(lambda joint: joint[0].lower(), text)
    for sentence in dict.fromkeys((text[:1].lower() + text[1:], text)):
        line = _NAME.sub(_in_quotes, sentence)
        if line == sentence or any(map(_is_kind, _NAME.findall(sentence))) or _FOR.search(sentence):
            continue
        if is_check(line):
            return Meant(line, False)
        if (found := _translated(line)) is not None:
            return found
    return None


def _is_choice(text: str) -> bool:
    """Whether a text is words with `or` between them, none of which describes others."""
    words = _CHOSEN.findall(text) if _CHOICE.fullmatch(text) else ()
    return bool(words) and not any(_DESCRIBES.fullmatch(word) or _OTHERS.fullmatch(word) for word in words)


def _is_kind(name: str) -> bool:
    """Whether a name says what a text is, in which language or format, or is a word of checks: it may be no text."""
    if _ANSWERS.fullmatch(name):
        return False
    is_language = len(name) > len("yes") and language_named(name) is not None
    return is_language or _FORMATS.fullmatch(name) is not None or any(map(is_keyword, name.lower().split()))


def _in_quotes(text: re.Match[str]) -> str:
    return json.dumps(text[0], ensure_ascii=False)


def _names(before: str, rest: str) -> Meant | None:
    """The line with brackets around the names of its list; a part of a name, as in `lookup_order`, is no keyword."""
    names = rest.lower().replace(",", " ").split()
    if not _NAMES.fullmatch(rest) or any(map(is_keyword, names)) or _DESCRIBES.fullmatch(names[0]):
        return None
    return Meant(f"{before}[{rest}]", _SURE_NAMES.search(rest) is not None)


def _texts(before: str, rest: str, form: str) -> Meant | None:
    """The texts between the commas of the rest, each in quotes."""
    pieces = re.split(r"(\s*,\s*)", rest)
    texts = pieces[::2]
    if not all(_TEXT.fullmatch(text) for text in texts):
        return None
    pieces[::2] = [f'"{text}"' for text in texts]
    return Meant(f"{before}{form.format(''.join(pieces))}", all(map(_is_name, texts)))


def _is_name(text: str) -> bool:
    """Whether a text is words with capital letters, or of a script without: it does not describe another text."""
    words = text.split() if _WORDS.fullmatch(text) else ()
    return bool(words) and all(len(word) > 1 and not word[0].islower() and not word[1].isupper() for word in words)


# --- other words and misspelt ones -----------------------------------------------------------------------------------

_LIMITED: Final = "length|words|lines|sentences|bytes|latency|cost"
_PHRASES: Final = (
    (
        "STRING",
        re.compile(r"[“„”]([^“„”\"\\]*)[“”]|`([^`\"\\]*)`|\u2018([^\u2018\u2019\"\\]*)\u2019(?!\w)"),
        r'"\1\2\3"',
    ),
    ("NOT", re.compile(r"(?:(?:may|can) ?not|(?:does|do|must|should)n['\u2019]?t|never)(?= \w)"), "not"),
    ("IGNORING", re.compile(r"\(?case[ -]insensitive\)?(?![\w-])"), "ignoring case"),
    ("MORE_THAN", re.compile(r"(?:greater|higher|larger) than(?= )"), "more than"),
    ("LESS_THAN", re.compile(r"(?:lower|smaller|fewer) than(?= )"), "less than"),
    ("LENGTH", re.compile(rf"max(?:imum)?[ _-]({_LIMITED}):? (?=[$\d])"), r"\1 <= "),
    ("LENGTH", re.compile(rf"min(?:imum)?[ _-]({_LIMITED}):? (?=[$\d])"), r"\1 >= "),
    ("TIMES", re.compile(r"\Z"), " times"),
    ("DOTS", re.compile(r" ?(?:-|\u2013|to) ?(?=\d)"), ".."),
    ("DESCENDING", re.compile(r"desc(?![\w-])"), "descending"),
)
"""Phrases that people write in place of a terminal, and the words with exactly that meaning."""
_MISSPELT: Final = re.compile(r"[^\W\d][\w-]*")


def _respelt(before: str, rest: str, terminals: frozenset[str]) -> Meant | None:
    """The line with the keyword that may be meant by the word where the parser stops."""
    found = _MISSPELT.match(rest)
    if found is None:
        return None
    words = {word for terminal in terminals for word in words_of(terminal) if word.isalpha()}
    # Of words that are as near, that of the same length is meant: `toolz` is `tools`, not `tool`.
    typo = typo_of(found[0], sorted(words, key=lambda word: (abs(len(word) - len(found[0])), word)))
    return None if typo is None else Meant(f"{before}{typo.meant}{rest[found.end() :]}", False)
