"""Reads lines in words: other tools' assertions, Hurl and Karate, Gherkin, and English."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Callable
from typing import Any, Final

from evalc.check.translate import lines as ln
from evalc.check.translate import names
from evalc.check.translate.javascript import read_javascript
from evalc.check.translate.jq import read_jq
from evalc.check.translate.lines import Condition, NoLine, Part, Place, Test, fact, joined, negated, written
from evalc.check.translate.meaning import Denoted
from evalc.check.translate.python import path_steps, read_python
from evalc.check.translate.verbs import Verbs, operator_of, with_arguments, words_of

LONGEST: Final = 2_000
"""The longest line that is looked at."""
_TEXT: Final = r"""(?:"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')"""
_PATH: Final = r"""[A-Za-z_$][\w$-]*(?:\.[\w$-]+|\[(?:\d*|\*|"[^"]*"|'[^']*')\])*"""
_TIMES: Final = (
    r"(?P<bound>exactly |only |just |at least |at most |no more than |more than |less than |fewer than )?"
    r"(?P<often>once|twice|thrice|(?:\d+|one|two|three|four|five) times?)"
)
_RESPONSE: Final = (
    r"(?:the |its )?(?:agent's |bot's |model's |assistant's |actual |final |model )?"
    r"(?:response|answer|output|reply|completion|body|result)(?: text| body)?"
)
_TOOL: Final = r"(?:the )?(?:tools? )?[`\"']?(?P<T>[A-Za-z_][\w-]*)[`\"']?(?: tool)?"
_COMPARING: Final = (
    r"(?P<OP>(?:in |within |is |be |should be |no |not )?(?:under|below|less than|fewer than|more than|over|at most|"
    r"at least|up to|longer than|within|exactly|[<>]=?|==) |)"
)
_SLOTS: Final = {
    "<T>": _TOOL,
    "<U>": _TOOL.replace("?P<T>", "?P<U>"),
    "<L>": r"\[?(?P<L>[^()\[\]]+)\]?",
    "<TIMES>": _TIMES,
    "<IS>": r"(?:(?:is|was|gets|be|been|has been|should|must|have) )*",
    "<A>": r"(?:(?:the )?(?:agent|model|assistant|bot|it) )?(?:should |must )?",
    "<R>": _RESPONSE,
    "<OP>": _COMPARING,
    "<N>": r"(?P<N>\d+(?:\.\d+)?)",
    "<UNIT>": r"(?P<UNIT>[a-z]+)",
    "<V>": r'(?P<V>"[^"\\]*")',
    "<TOOL>": r"(?:the )?(?:tool [\"'`]?(?P<T>[A-Za-z_][\w-]*)[\"'`]?|(?P<U>[A-Za-z_][\w-]*) tool(?:'s)?)",
}
_COUNTS: Final = {"once": 1, "twice": 2, "thrice": 3, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5}
_ORDINALS: Final = {"first": 1, "second": 2, "third": 3, "fourth": 4, "fifth": 5}
_SHELL: Final = re.compile(
    r"^(?:(?:given|when|then|and|but|assert|assert that|verify|verify that|check that|ensure|ensure that|expect"
    r"|expect that|make sure|make sure that|\*)\s+)+(?![=<>!(.])",
    re.IGNORECASE,
)
_CASE: Final = re.compile(
    r"[,(]?\s*(?:(?:ignoring|ignore|ignores) (?:the )?case|case[- ]?insensitive(?:ly)?|regardless of case"
    r"|(?:upper|lower) or (?:upper|lower) ?case|(?:in )?(?:any|either) case)\)?$",
    re.IGNORECASE,
)
_LITERAL: Final = re.compile(
    rf"(?P<text>{_TEXT})|/(?P<regex>(?:[^/\\\[\r\n]|\\.|\[(?:[^\]\\]|\\.)*\])+)/(?P<flags>[a-z]*)(?![\w/.])"
    r"|(?P<open>[\[{])"
    r"|(?P<word>(?:true|false|null|None|True|False)\b)"
    r"|(?P<number>\$?-?\d+(?:[_,]\d{3})*(?:\.\d+)?)"
    r"(?P<unit> ?(?:ms|s|seconds?|secs?|milliseconds?|minutes?)\b)?(?![\w.])"
    r"|(?P<file>(?:[\w.-]+/)*[\w.-]+\.json\b)"
)
_JOINT: Final = re.compile(r"\s*(?:,\s*(?:(and|or|nor)\s+)?|\s(and|or|nor|to)\s+)")
_WORDS: Final = {"true": True, "True": True, "false": False, "False": False, "null": None, "None": None}
_KARATE: Final = {
    "#string": "string", "#number": "number", "#boolean": "boolean", "#array": "array", "#object": "object",
    "#null": "null", "#notnull": "not null", "#uuid": "uuid", "#present": "present", "#notpresent": "not present",
}  # fmt: skip
_MEASURED: Final = re.compile(
    r"(?:(?:should )?ha(?:s|ve) )?(?:an? )?(count|length|size|words|lines|sentences|characters|bytes)(?: of)?\s*(\S.*)"
)
_MATCH: Final = r"(?:match each |match )?(?:the )?(?:value )?"
_SUBJECTS: Final = {
    re.compile(pattern.replace("<P>", f"(?P<path>{_TEXT}|{_PATH})"), re.IGNORECASE): kind
    for pattern, kind in {
        r"(?:the )?(?:number of (?:items|elements) (?:in|of|at)|(?:length|size|count) of) (?:at )?<P>\s*": "size",
        r"at (?!least|most)<P> (?:has )?(?:length|size)\s*(?=[=<>!\d])": "size",
        r"(?:the )?type of (?:at )?<P>(?: is| ==| =)\s*": "type",
        r"(?:.*? )??(?:json ?path|json_path|json key|json field|path|field|key|property|value (?:at|of)) <P>\s*": "",
        rf"{_MATCH}at (?!(?:least|most) \d)<P>\s*": "",
        rf"{_MATCH}(?P<path>\$[.\[](?:[\w$.-]|\[(?:\d+|\*)\])*)\s*": "",
        r"match (?:each )?(?:response\.)?(?!response\b)<P>\s*": "",
        r"(?:the )?(?:response|json|body|data)\.(?P<path>[A-Za-z_]\w*(?:\.\w+|\[\d+\])*)(?![\w(.])\s+(?=[a-z])": "",
        r"(?P<path>\.[A-Za-z_][\w.]*(?:\[\d+\][\w.]*)*)\s+(?=[=<>!]|in |is |not |contains |exists)": "",
        r"the (?P<path>\w+)(?: (?:field|value|key|property))? (?:in|of) the JSON(?: (?:response|answer|body))?\s*": "",
    }.items()
}


class Lines:
    """Reads a line; `notes` gathers the rows that say what differs beyond the bounds."""

    def __init__(self, notes: set[str]) -> None:
        self.notes = notes
        self.verbs = Verbs(notes)
        self.meaning = self.verbs.meaning

    def condition(self, text: str, depth: int = 0) -> Condition:
        """The condition that a line is, in whatever language it is."""
        code, text = text.strip(), _SHELL.sub("", text.strip())
        ways: list[Callable[[], Condition]] = [
            lambda: self._in_language(text),
            lambda: self._turn(text, depth),
            lambda: self._whole(text),
            lambda: self.clause(text),
            lambda: self.meaning.condition(read_python(code)),
            lambda: self.meaning.condition(read_javascript(text)),
            lambda: self.code("jq" if re.match(r"[.\[]|\(\.|(?:has|all|any)\(", text) else "", text),
            lambda: self._split(text, depth),
        ]
        before = set(self.notes)
        for way in ways if 0 < len(text) <= LONGEST and depth <= 8 else ():
            try:
                found = way()
                written(found)
            except NoLine:
                self.notes.intersection_update(before)
                continue
            return found
        raise NoLine

    def _in_language(self, text: str) -> Condition:
        language, _, code = text.partition(" ")
        code = code.strip()
        return self.code(language.rstrip(":"), code[1:-1] if re.fullmatch(_TEXT, code) else code)

    def code(self, language: str, code: str) -> Condition:
        """Read an expression of a language."""
        readers = {"javascript": read_javascript, "js": read_javascript, "python": read_python, "jq": read_jq}
        if language not in readers or "\n" in code.strip() or len(code) > LONGEST:
            raise NoLine
        found = self.meaning.condition(readers[language](code.strip()))
        if language == "jq" and isinstance(found, Test) and "*" in found.place.path:
            raise NoLine  # several outputs
        return found

    def _turn(self, text: str, depth: int) -> Condition:
        found = re.fullmatch(r"(?:(?:in|on|at|after) )?turn (\d+)[,:]? (.+)", text)
        found = found or re.fullmatch(
            r"(?:in )?the (first|second|third|fourth|fifth) (?:reply|response|answer|turn),? (.+)", text
        )
        if not found:
            raise NoLine
        inner = written(self.condition(found[2], depth + 1), inner=True)
        if inner.startswith("turn "):
            raise NoLine
        return fact(f"turn {_ORDINALS.get(found[1]) or int(found[1])} {inner}")

    def _split(self, text: str, depth: int) -> Condition:
        for word, pattern in (("or", r"or|\|\|"), ("and", r"and|&&|but")):
            first, *others = _pieces(text, pattern)
            elided = re.fullmatch(rf"(.*?)\s*{_TEXT}", first)  # `contains "x" and not "y"`
            verb = elided[1] if elided and re.fullmatch(r"[A-Za-z' -]+", elided[1]) else "("
            pieces = [first, *(re.sub(rf"^(not )?(?={_TEXT}$)", rf"\g<1>{verb} ", each) for each in others)]
            if others:
                return joined(word, [self.condition(piece, depth + 1) for piece in pieces])  # type: ignore[arg-type]
        if found := re.match(r"(?:not |!(?!=))", text):
            return negated(self.condition(text[found.end() :], depth + 1))
        raise NoLine

    def _whole(self, text: str) -> Condition:
        """A line that stands in the table as a whole."""
        for pattern, line in _whole_lines():
            if (found := pattern.fullmatch(text)) and not names.NO_TOOL & {
                found.groupdict().get("T"),
                found.groupdict().get("U"),
            }:
                return self._filled(line, {key: each for key, each in found.groupdict().items() if each is not None})
        raise NoLine

    def _filled(self, line: str, slots: dict[str, str]) -> Condition:
        tools: dict[str, str] = {key: slots[key] for key in ("T", "U") if key in slots}
        if "U" in tools:
            tools.setdefault("T", tools["U"])
        if any(tool.lower() in names.NO_TOOL for tool in tools.values()):
            raise NoLine
        if line.endswith("{TIMES}"):
            return self.meaning.times(tools["T"], *(_often(slots) if "often" in slots else (">=", 1)))
        if "with" in slots:
            return with_arguments(tools["T"], _arguments(slots["with"]))
        if not slots.get("OP", "x").strip() and not line.startswith(("latency", "tool")):
            raise NoLine
        listed = _tools(slots["L"]) if "L" in slots else []
        op = operator_of(slots["OP"]) if slots.get("OP", "").strip() else "<=" if "latency" in line else "=="
        unit = names.UNITS.get(slots.get("UNIT", "ms"), "")
        if unit not in ("ms", "s", "m"):
            raise NoLine
        filled: dict[str, Any] = {"L": ln.names_of(listed), "COUNT": len(listed), "OP": op, "UNIT": unit}
        text = line.format_map({**tools, **slots, **filled})
        opposite = text.replace(f" {op} ", f" {ln.OPPOSITE[op]} ") if "{OP}" in line else _OPPOSITES.get(line)
        return fact(text, opposite)

    # --- a subject, a verb and values ---

    def clause(self, text: str) -> Condition:
        """SUBJECT VERB VALUES, and what follows them."""
        shorter = _CASE.sub("", text)
        folded = shorter != text
        subject, rest = self.subject(shorter)
        is_match = shorter.startswith("match ")
        quoted = re.fullmatch(
            rf"the (?:word|text|phrase|string) ({_TEXT}) (?:appears|occurs|is mentioned|is used)(.*)", rest
        )
        verb, values, between, tail = _parted(f"contains {quoted[1]}{quoted[2]}" if quoted else rest)
        if not values and (found := re.fullmatch(r"(.*(?:start|end|begin)s? with) (?:an? )?([a-z ]+)", verb)):
            verb, values = found[1], [names.MARKS[names.key(found[2])] if names.key(found[2]) in names.MARKS else _no()]
        if is_match and values:
            subject, verb, values = _karate(subject, verb, values)
        if isinstance(subject, Place) and (found := _MEASURED.fullmatch(verb)) and values:
            measure = names.MEASURES.get(found[1], "length") if found[1] != "count" else "count"
            subject, verb = _measure(subject, measure), found[2]
        if folded and not values:
            raise NoLine
        meant = names.VERBS.get(words_of(verb)[0], words_of(verb)[0])
        share = re.fullmatch(r"(?:>=|with (?:a )?threshold(?: of)?) (0\.\d+|1(?:\.0)?)", tail)
        if tail in ("at end", "at the end") and meant in ("match", "contain"):
            verb, tail = "ends with", ""
        elif share and meant == "judge":
            values, tail = [*values, float(share[1])], ""
        elif found := re.fullmatch(r"(\w+ )?or (less|fewer|more|lower|higher)", tail):
            verb = f"{verb} {'at least' if found[2] in ('more', 'higher') else 'at most'}"
            tail = (found[1] or "").strip()
        often = re.fullmatch(_TIMES, tail)
        if often and meant == "contain" and not words_of(verb)[1] and isinstance(subject, Place):
            (value,) = values
            return Test(subject, ln.occurring(value, *_often(often.groupdict()), folded=folded))
        if tail:
            subject, verb = _with_unit(subject, verb, tail)
        if between:
            verb, values = self._several(verb, values, between)
        if not verb and (isinstance(subject, Place) or not values):
            raise NoLine
        if not verb and isinstance(subject, Part) and subject.of in ("latency", "cost"):
            verb = "<="
        return self.verbs.asked(subject, verb or "==", values, folded=folded)

    def _several(self, verb: str, values: list[Any], between: set[str]) -> tuple[str, list[Any]]:
        """Values after one another, under a verb that says what they are."""
        words, negative = words_of(verb)
        meant = names.VERBS.get(words, words)
        match meant, sorted(between):
            case ("between", ["and"]) | ("containany" | "containnone" | "oneof", [","] | ["or"]):
                return verb, values if meant == "between" else [values]
            case "containnone", ["nor"]:
                return verb, [values]
            case ("containall", [","] | ["and"]) | ("containnone", ["and"]):
                return verb, [values]
            case ("contain" | "equal" | "", ["or"]):
                return f"{'not ' * negative}{'contains any' if meant == 'contain' else 'one of'}", [values]
            case "contain", ["and"] if not negative:
                return "contains all", [values]
        raise NoLine

    def subject(self, text: str) -> tuple[Denoted, str]:
        """Find the subject of a line, and the rest of it."""
        for pattern, kind in _SUBJECTS.items():
            if found := pattern.match(text):
                path, rest = found["path"], text[found.end() :].strip()
                steps = path_steps(path[1:-1] if path[0] in "\"'" else path)
                if not steps or not rest:
                    continue
                is_size = steps[-1] == "length" and len(steps) > 1
                place = Place("json", steps[:-1] if is_size else steps)
                subject = Part("size", place) if is_size or kind == "size" else place
                return subject, "is of type " * (kind == "type") + rest
        words = re.match(r"(?:the )?((?:[A-Za-z_-]+ ?){1,5})", text)
        known = words[1].split() if words else []
        for size in range(len(known), 0, -1):
            phrase = names.key("".join(known[:size]))
            phrase = phrase if phrase == "responsetime" else phrase.removeprefix("response") or phrase
            rest = re.sub(rf"^(?:the )?{' +'.join(known[:size])}\s*", "", text)
            if phrase in names.CALL_NAMES or (phrase in names.CALLS and "[" in rest):
                return Part("names"), rest
            if phrase in names.RUNS and not rest.startswith("."):
                return Part("run", *names.RUNS[phrase]), rest
            if phrase in names.MEASURES and not re.match(r"(?:of|in) |\.", rest):
                return Part("measure", Place(), names.MEASURES[phrase]), rest
        found = re.match(rf"(?:match )?{_RESPONSE}(?![\w.\[(])\s*:?\s*", text, re.IGNORECASE)
        return Place(), text[found.end() :] if found else text


_OPPOSITES: Final = {
    "no tool errors": "tool errors >= 1",
    "tools called []": "tool count >= 1",
    "tool {T} not called": None,
}


def _whole_lines() -> list[tuple[re.Pattern[str], str]]:
    if not _WHOLE:
        for pattern, line in names.LINES.items():
            full = re.sub(r"(?<!\?P)<[A-Z]+>", lambda slot: _SLOTS[slot[0]], pattern)
            _WHOLE.append((re.compile(full), line))
    return _WHOLE


_WHOLE: Final[list[tuple[re.Pattern[str], str]]] = []


def _no() -> Any:
    raise NoLine


def _karate(subject: Denoted, verb: str, values: list[Any]) -> tuple[Denoted, str, list[Any]]:
    """Markers of types and sizes within texts."""
    marker = values[0] if len(values) == 1 and isinstance(values[0], str) else ""
    if marker in _KARATE:
        return subject, f"{verb.replace('==', '')} {_KARATE[marker]}", []
    size = re.fullmatch(r"#\[(\d+)\]", marker)
    if size and isinstance(subject, Place):
        return _measure(subject, "count"), verb, [int(size[1])]
    return (subject, verb, values) if not marker.startswith("#") else _no()


def _measure(place: Place, word: str) -> Part:
    if word == "count":
        return Part("size", Part("items", place))
    return Part("size", place) if word == "length" else Part("measure", place, word)


def _with_unit(subject: Denoted, verb: str, tail: str) -> tuple[Denoted, str]:
    """`at most 5 words`, `has 3 items`."""
    tail = re.sub(r" (?:long|in total|in length)$", "", tail)
    verb = re.sub(r"^(?:should |must )?(?:has|have|is|be|contains?|of)(?: (?!between)|$)", "", verb) or "=="
    if isinstance(subject, Part):
        if subject.kind == "measure" and names.MEASURES.get(tail) == subject.value:
            return subject, verb
        raise NoLine
    if tail in names.MEASURES:
        return Part("measure", subject, names.MEASURES[tail]), verb
    if tail in ("items", "elements", "entries", "item") and isinstance(subject, Place) and subject.path:
        return _measure(subject, "count"), verb
    raise NoLine


def _often(slots: dict[str, Any]) -> tuple[str, int]:
    first = slots["often"].split()[0]
    bound = (slots.get("bound") or "").strip()
    return "==" if bound in ("", "exactly", "only", "just") else operator_of(bound), _COUNTS.get(first) or int(first)


def _parted(text: str) -> tuple[str, list[Any], set[str], str]:
    """The verb before the first literal, the literals, the words between them, and what follows."""
    values: list[Any] = []
    between: set[str] = set()
    start = next(
        (m.start() for m in _LITERAL.finditer(text) if not m.start() or text[m.start() - 1] in " =<>([:≤≥!"), None
    )
    if start is None:
        return text.strip(), [], between, ""
    at = start
    while True:
        found = _LITERAL.match(text, at)
        if found is None:
            raise NoLine
        value, at = _value(found, text)
        values.append(value)
        joint = _JOINT.match(text, at)
        if joint is None or not _LITERAL.match(text, joint.end()):
            break
        between.add("and" if "to" in joint.groups() else joint[1] or joint[2] or ",")
        at = joint.end()
    if len(between) > 1:
        between.discard(",")
    tail = text[at:].strip()
    return text[:start].strip().rstrip(":(").strip(), values, between, "" if tail in (")", ".") else tail


def _value(found: re.Match[str], text: str) -> tuple[Any, int]:
    match found.lastgroup:
        case "text":
            return _string(found["text"]), found.end()
        case "regex" | "flags":
            return Part("regex", found["regex"].replace(r"\/", "/"), "".join(sorted(found["flags"]))), found.end()
        case "word":
            return _WORDS[found["word"]], found.end()
        case "open":
            end = _closing(text, found.start())
            return loose_value(text[found.start() : end]), end
        case "file":
            return found["file"].removeprefix("./"), found.end()
    digits = re.sub(r"[_,$]", "", found["number"])
    number = float(digits) if "." in digits else int(digits)
    unit = names.UNITS.get((found["unit"] or "").strip(), "$" * found["number"].startswith("$"))
    return Part("quantity", number, unit) if unit else number, found.end()


def _string(text: str) -> str:
    """A text in quotes."""
    if "\\" not in text:
        return text[1:-1]
    try:
        return str(json.loads(text)) if text[0] == '"' else _no()
    except ValueError:
        return text[1:-1]  # a pattern, whose escapes are its own


def _closing(text: str, start: int) -> int:
    depth = 0
    for found in re.compile(rf"{_TEXT}|[\[\]{{}}()]").finditer(text, start):
        depth += (found[0] in "[{(") - (found[0] in "]})")
        if depth == 0:
            return found.end()
    raise NoLine


def loose_value(text: str) -> Any:
    """JSON, or a list or an object whose names have no quotes."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        pass
    bare = {"true": "True", "false": "False", "null": "None"}
    name = re.compile(rf"({_TEXT})|(?<![\w\"'])([A-Za-z_][\w-]*)(?![\w\"'(])")
    quoted = name.sub(lambda m: m[1] or bare.get(m[2], m[2] if m[2] in _WORDS else f'"{m[2]}"'), text)
    try:
        return ast.literal_eval(quoted)
    except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError):
        raise NoLine from None


def _pieces(text: str, pattern: str) -> list[str]:
    """The text between words that stand outside of quotes, brackets and patterns."""
    pieces, depth, start = [], 0, 0
    token = re.compile(rf"{_TEXT}|(?<=\s)/(?:\\.|[^/\\\n])+/[a-z]*|[\[\]{{}}()]|(?<![\w-])(?:{pattern})(?![\w-])")
    for found in token.finditer(text):
        depth += (found[0] in "[{(") - (found[0] in "]})")
        between = re.search(r"between[^,]*$", text[start : found.start()])
        if depth == 0 and re.fullmatch(pattern, found[0]) and not between:
            pieces.append(text[start : found.start()].strip())
            start = found.end()
    return [*pieces, text[start:].strip()]


def _tools(text: str) -> list[str]:
    """Names of tools after one another."""
    pieces = [each for each in re.split(r"\s*(?:,|\band then\b|\bthen\b|\band\b)\s*", text.strip()) if each]
    found = [piece.strip("\"'`") for piece in pieces]
    if not found or any(not re.fullmatch(r"[A-Za-z_][\w-]*", each) or each in names.NO_TOOL for each in found):
        raise NoLine
    return found


def _arguments(text: str) -> Any:
    """`{"city": "Paris"}`, `city="Paris", nights=2`, `city "Paris" and nights 2`."""
    if text.startswith("{"):
        return loose_value(text)
    arguments: dict[str, Any] = {}
    for piece in _pieces(text, r",|and"):
        pair = re.fullmatch(r"[\"'`]?([A-Za-z_]\w*)[\"'`]?(?:\s*[=:]\s*|\s+(?:equal to |of |is )?)(.+)", piece)
        literal = _LITERAL.fullmatch(pair[2]) if pair else None
        if not pair or not literal or pair[1] in arguments:
            raise NoLine
        arguments[pair[1]], _ = _value(literal, pair[2])
    return arguments
