"""Reads lines in words: other tools' assertions, Hurl and Karate, Gherkin, and English."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from evalc.check.languages import language_named
from evalc.check.tree import At, Check, Items, Measure, Not, Of, Test, Tools, Turn, Which, within
from evalc.grammar.write_check import NoLine
from evalc.model.json import path_of_key
from evalc.translate import names
from evalc.translate import trees as to
from evalc.translate.code import constant, read_javascript, read_jq, read_python, regex
from evalc.translate.expressions import Denoted, Meaning, size_of
from evalc.translate.names import pattern
from evalc.translate.trees import OPPOSITE, Part, Place, joined, negated, negated_if, none, refuse_if

_QUOTES: Final = "\"'"
_NO_NAMES: Final = names.KINDS | names.COUNTS.keys() | {"any", "missing", "no", "off", "on", "unknown", "yes"}
"""The words that may be no value when they stand where an argument has one without quotes."""
LONGEST: Final = 2_000
"""The longest line that is looked at."""
READERS: Final = {"javascript": read_javascript, "js": read_javascript, "python": read_python, "jq": read_jq}
"""The readers of code, by the names of languages."""
_NEGATIONS: Final = frozenset({"not", "never", "no", "without", "cannot"})
_BETWEEN: Final = {
    ",? (?:but )?not": "and not",
    ",? (?:(?:but )?without|rather than|instead of)": "and not",
    " and/or": "or",
    " &": "and",
}
"""Words and signs between two texts, and the word that each means."""
_IS_NEEDED: Final = re.compile(r"\b(?:ha(?:ve|s)|needs?) to\b")
_OF_ALL: Final = (Measure, Turn)
"""Steps of what a verb without a subject may follow."""
_OF_RESPONSE: Final = re.compile(r"json|has a|is in|judge|matches /")
_OF_JSON: Final = ("exists", "not exists", "equals true", "equals false")


class Words(Meaning):
    """Reads a line or a verb."""

    def condition(self, text: str, depth: int = 0) -> Check:
        """The condition that a line is, in whatever language it is."""
        code, text = text.strip(), pattern("<SHELL>").sub("", text.strip())
        text = pattern("<BARE>").sub(_bracketed, text)
        text = pattern("<UNMARKED>").sub(lambda found: f"{found['NOT']}n't" if found["NOT"] else found[0], text)
        text = pattern("<COUNTED>").sub(lambda found: names.COUNTS.get(found[0], found[0]), text)
        text = pattern("<LIMITS>").sub(r"\g<S>\g<O> \g<N>\g<U>\g<W> \g<J> \g<S>\g<P> \g<M>\g<U>\g<W>", text)
        for between, joint in _BETWEEN.items() if depth == 0 else ():
            parted = pattern(f"(?P<before>.*?<TEXT>){between} (?P<behind><TEXT>.*)").fullmatch(text)
            if parted is not None and not (_is_negative(parted["before"]) and "without" in between):
                text = f"{parted['before']} {joint} {parted['behind']}"
        language, _, inner = text.partition(" ")
        inner = inner.strip()[1:-1] if pattern("<TEXT>").fullmatch(inner.strip()) else inner
        ways: list[Callable[[], Check]] = [
            lambda: self.code(language.rstrip(":"), inner),
            lambda: self._turn(text, depth),
            lambda: negated(self.condition((pattern("<FAILING>").fullmatch(text) or none())[1], depth + 1)),
            lambda: self._whole(text),
            lambda: self.clause(text),
            lambda: self.code("python", code),
            lambda: self.code("js", text),
            lambda: self.code("jq" if re.match(r"[.\[]|\(\.|(?:has|all|any)\(|(?:keys|type) ==", text) else "", text),
            lambda: self._split(text, depth),
        ]
        before = set(self.notes)
        for way in ways if 0 < len(text) <= LONGEST and depth <= 8 else ():
            try:
                found = way()
                to.written(found)
            except (NoLine, RecursionError):
                self.notes.intersection_update(before)
                continue
            return found
        raise NoLine

    def code(self, language: str, code: str) -> Check:
        """Read an expression of a language."""
        refuse_if(language not in READERS or len(code) > LONGEST)
        found = self.condition_of(READERS[language](code.strip()))
        steps = [part.step for part in within(found) if isinstance(part, Of)] if language == "jq" else []
        if "all" not in code and any(isinstance(step, Items) and step.which == "every" for step in steps):
            raise NoLine  # several outputs
        return found

    def _turn(self, text: str, depth: int) -> Check:
        number, ordinal, rest = (pattern("<TURN>").fullmatch(text) or none()).groups()
        check = self.condition(rest, depth + 1)
        refuse_if(isinstance(check, Of) and isinstance(check.step, Turn))
        return Of(Turn(int(number or names.COUNTS[ordinal])), check)

    def _split(self, text: str, depth: int) -> Check:
        refuse_if(pattern(r"(?<![\w-])but\s+<TEXT>").search(text))  # `does not contain "x" but "y"`
        is_mixed = len(_pieces(text, r"or|\|\|")) > 1 and len(_pieces(text, "and|&&|but")) > 1
        refuse_if(is_mixed and len(_pieces(text, "or|and|but")) > 1)  # which of them is of the two?
        for word, joint in (("or", r"or|\|\|"), ("and", r"and|&&|but")):
            first, *others = _pieces(text, joint)
            # `contains "x" and not "y"`
            elided = pattern(r"(?!\w+ (?:call|item) of)([A-Za-z' -]+?)\s*<TEXT>").fullmatch(first)
            verb = elided[1] if elided and not pattern("<SEVERAL>$").search(elided[1]) else "("
            again = verb if _is_negative(verb) else rf"\g<1>{verb}"  # `does not contain "x" and not "y"` denies both
            refuse_if(again == verb and word == "or" and any(each.startswith("not ") for each in others))
            refuse_if(any(re.match("(?:not )?an? ", each) for each in others))  # `contains a link or an email address`
            pieces = [first, *(pattern("^(not )?(?=<TEXT>$)").sub(f"{again} ", each) for each in others)]
            is_neither = elided and _is_negative(first) and all(map(pattern("<TEXT>").fullmatch, others))
            if others:  # `does not start with "x" or "y"`
                return joined("and" if is_neither else word, self._operands(word, pieces, depth + 1))
        negation = re.match(r"(?:not |!(?!=))", text) or none()
        often = pattern("<TIMES>$").search(text)
        refuse_if(often and re.fullmatch(r"\w+(?: times?)?", often["TIMES"]))  # never twice, but three times?
        refuse_if(text[0] == "!" and re.search("[<>=]", pattern(r"<TEXT>|\(.*\)").sub("", text[1:])))
        return negated(self.condition(text[negation.end() :], depth + 1))

    def _operands(self, word: str, pieces: list[str], depth: int) -> Iterator[Check]:
        """The conditions between `and` or `or`, unless one may share the subject or the negation of those before it."""
        has_subject = has_negation = False
        for piece in pieces:
            check = self.condition(piece, depth)
            if (has_subject or (has_negation and not _is_negative(piece))) and self._is_bare(piece):
                raise NoLine  # `at x is not a number or text`, `is not valid JSON or empty`
            free = _OF_ALL if piece.startswith("tool") else (*_OF_ALL, Tools)  # `calls book and mentions "x"`
            has_subject |= any(isinstance(part, Of) and not isinstance(part.step, free) for part in within(check))
            has_negation |= word == "or" and _is_negative(piece)
            yield check

    def _is_bare(self, piece: str) -> bool:
        """Whether a condition is a verb or a noun that names no subject."""
        try:
            return self.subject(piece) == (Place(), piece) and (piece.isalpha() or bool(self.clause(piece)))
        except NoLine:
            return False

    def _whole(self, text: str) -> Check:
        """A line that stands in the table as a whole."""
        for whole, line in names.LINES.items():
            if not (found := pattern(whole).fullmatch(text)):
                continue
            slots = {key: each for key, each in found.groupdict().items() if each is not None}
            tools = [slots[key] for key in ("T", "U") if key in slots]
            default = "<=" if line.startswith("latency") else "==" if line.startswith("tool") else ""
            op = slots.get("OP", "==").strip() or default
            if not op or any(tool.lower() in names.NAMES["no_tool"] or language_named(tool) for tool in tools):
                continue
            if re.search(r"\buses? [A-Z][a-z]+\b(?!_)|\buses? [A-Z]+(?:-\d+)?(?!\w)", text):
                continue  # `uses Python`, `does not use UTF-8`
            if "with" in slots:
                which: Which = "no" if line.startswith("no ") else "every" if line.startswith("every ") else "any"
                check = to.with_arguments(tools[0], self._arguments(slots["with"]), which)
                return joined("and", [self.times(tools[0], "==", 1), check]) if "once" in slots else check
            listed = _tools(slots["L"]) if "L" in slots else []
            slots |= {"L": f"[{', '.join(listed)}]", "COUNT": str(len(listed)), "TIMES": _often(slots.get("TIMES", ""))}
            slots |= {key: json.dumps(each, ensure_ascii=False) for key, each in slots.items() if key == "Q"}
            if "RX" in slots:
                found_in = regex(slots["RX"])
                slots["RX"] = "/" + re.sub(r"(?<!\\)/", r"\/", found_in.of) + "/" + found_in.value
            if "FIELDS" in slots:
                slots["FIELDS"] = ", ".join(re.split(r", ?(?:and )?| and ", slots["FIELDS"]))
            slots |= {"N": f"{float(slots['CENTS']) / 100:g}"} if "CENTS" in slots else {}
            slots |= {"OP": operator_of(op), "UNIT": names.UNITS.get(slots.get("UNIT", "ms"), "?")}
            return to.read(line.format_map({**slots, "T": tools[0] if tools else ""}))
        raise NoLine

    def _arguments(self, text: str) -> list[Check]:
        """`{"city": "Paris"}`, `city="Paris", nights=2`, `city "Paris" and nights at least 2`."""
        if text.startswith("{"):
            return to.arguments(constant(read_javascript(text)))
        apart = pattern("<UNQUOTED>").fullmatch(text)
        asked = [self._argument(piece) for piece in (text.split() if apart else _pieces(text, r",|and"))]
        steps = {part.step for part in asked if isinstance(part, Of) and isinstance(part.step, At)}
        return asked if len(steps) == len(asked) else none()

    def _argument(self, text: str) -> Check:
        refuse_if(pattern("<OTHER>").match(text))
        found = pattern("<ARGUMENT>").fullmatch(text)
        if found and (literal := pattern("<LITERAL>").fullmatch(found[2])):
            return to.arguments({found[1]: _literal(literal, found[2])[0]})[0]
        if found and re.fullmatch(r"[A-Z][\w-]*", found[2]):
            refuse_if(found[1][0].isupper() or names.key(found[2]) in _NO_NAMES)
            return to.arguments({found[1]: found[2]})[0]
        refuse_if(pattern("<TIMES>$").search(text))  # are these the calls?
        return self.clause(f"at {text.removeprefix('the ')}")

    # --- a subject, a verb and values ---

    def clause(self, text: str) -> Check:
        """SUBJECT VERB VALUES, and what follows them."""
        if pattern("(?i)(?:<TEXT>|[^\"'])*words? ?<TEXT>").match(text):
            self.notes.add("word")
        for phrase, meant in names.PHRASES.items():
            text = pattern(phrase).sub(meant, text)
        shorter = pattern("<CASE>").sub("", text)
        subject, rest = self.subject(shorter)
        subject = subject if shorter == text else to.ignoring_case(subject)
        verb, values, between, tail = _parted(rest)
        if re.match(r"(?:an? |any |every |each |all |no )?(?:item|call)s? of\b|(?:an?|the)\b", rest) and values:
            raise NoLine  # `no item of x "y"`, `a contains "y"`
        if isinstance(subject, Place) and (found := pattern("<MEASURED>").fullmatch(verb)) and values:
            measure = names.MEASURES.get(found[1], "items")
            subject, verb = _measure(subject, measure, is_each=text.startswith("at ")), found[2]
        meant, is_negative = words_of(verb)
        phrase = names.VERBS.get(meant, "")
        match values:
            case [dict() as members] if text.startswith("match ") and not (is_negative or tail):
                is_each = text.startswith("match each ")
                if phrase == "contains {}":
                    return self._members(subject if isinstance(subject, Place) else none(), members, is_each=is_each)
                if meant in ("", "==") and subject == Place() and not is_each:
                    return Test("json", ("strict", _schema(members)))
        refuse_if(text.startswith("match ") and '"#' in json.dumps(values))  # a marker of Karate's
        if phrase == "contains {}" and isinstance(subject, Place) and "[]" in subject.path and text.startswith("at "):
            raise NoLine  # of every item, where other tools mean any
        if (share := pattern("<SHARE>").fullmatch(tail)) and phrase == "judge {}":
            values, tail = [*values, float(share[1])], ""
        elif pattern("<TIMES>").fullmatch(tail) and phrase == "contains {}" and not is_negative:
            place, case = subject.unfolded() if isinstance(subject, Place) else none()
            return place.asks(_test(phrase, *values, f"{case} {_often(tail)}"))
        if tail:
            subject, verb = _with_unit(subject, verb, tail)
        if between:
            verb, values = _several(verb, values, between)
        if not verb:
            verb = bare_operator(subject)
            refuse_if(isinstance(subject, Place) or not values)
        return self.asked(subject, verb, values)

    def _members(self, place: Place, members: Mapping[str, Any], *, is_each: bool) -> Check:
        """Karate's questions about the members of an object, or of each item: values, or markers such as `#number`."""
        refuse_if("[]" in place.path or not members or (to.is_list(place.path) and not is_each))
        pairs = [((Place("item") if is_each else place).member(key), value) for key, value in members.items()]
        marked = [(of, value, isinstance(value, str) and value.startswith("#")) for of, value in pairs]
        asked = [self.typed(of, value[1:]) if is_type else of.asks(to.equal(value)) for of, value, is_type in marked]
        return to.items("every", place, joined("and", asked)) if is_each else joined("and", asked)

    def subject(self, text: str) -> tuple[Denoted, str]:
        """Find the subject of a line, and the rest of it."""
        for beginning, kind in names.SUBJECTS.items():
            if (found := pattern(f"(?i:{beginning})").match(text)) and (rest := text[found.end() :].strip()):
                try:
                    place = _place_at(found["path"], is_key=text.startswith(("at '", 'at "')))
                except NoLine:
                    continue
                if kind in ("chars", "items") and isinstance(place, Place):
                    place = _measure(place, kind, is_each=text.startswith("at "))
                return place, "is of type " * (kind == "type") + rest
        words = re.match(r"(?:the )?((?:[A-Za-z_-]+ ?){1,5})", text)
        known = words[1].split() if words else []
        for size in range(len(known), 0, -1):
            phrase = names.key("".join(known[:size]))
            phrase = phrase if phrase == "responsetime" else phrase.removeprefix("response") or phrase
            rest = re.sub(rf"^(?:the )?{' +'.join(known[:size])}\s*", "", text)
            if phrase in names.NAMES["call_names"] or (phrase in names.NAMES["calls"] and "[" in rest):
                return Part("names"), rest
            if phrase in names.RUNS and not rest.startswith("."):
                return Part("run", *names.RUNS[phrase]), rest
            if phrase in names.MEASURES and not re.match(r"(?:of|in) |\.", rest):
                return Part("measure", Place(), names.MEASURES[phrase]), rest
        return Place(), pattern(r"(?i)^(?:match )?<R>(?![\w.\[(])\s*:?\s*").sub("", text)

    # --- verbs ---

    def asked(self, subject: Denoted, verb: str, values: list[Any]) -> Check:
        """Read a verb about a subject, with the values that follow it."""
        meant, is_negative = words_of(verb)
        refuse_if(not meant and not re.search(r"\b(?:is|are|be|value)\b|[Bb]e$|^\W*(?:not)?\W*$", verb))  # `has "x"`
        check = self._asked(subject, meant or "equals" * bool(values), values)
        return to.denied(subject, check) if is_negative else check

    def _asked(self, subject: Denoted, meant: str, values: list[Any]) -> Check:
        if meant[:1] == "i" and meant[1:] in names.VERBS and not (meant in names.VERBS or meant in names.OPERATORS):
            subject, meant = to.ignoring_case(subject), meant[1:]  # `icontains`
        is_folded = isinstance(subject, Place) and bool(subject.unfolded()[1])
        phrase = (not is_folded and names.OPERATORS.get(meant)) or names.VERBS.get(meant, "")
        self.notes.update({"word"} if phrase == "contains {}" and meant.endswith("word") else ())
        match phrase, values:
            case _ if phrase.startswith("called"):
                tool = subject.of if isinstance(subject, Part) and subject.kind == "unknown" else none()
                return self._whole(f"{tool} {_phrased(phrase, values)}")
            case op, [value] if op in OPPOSITE:
                return self.compared(op, subject, value)
            case ("equals {}", [_]) | ("equals true" | "equals false", []) if subject != Place():
                return self.compared("==", subject, (*values, phrase == "equals true")[0])
            case "", [value] if (size := re.fullmatch("(?:length|size)(.+)", meant)) and size[1] in names.OPERATORS:
                return self.compared(names.OPERATORS[size[1]], Part("size", subject), value)
            case "length {}", [limits]:
                word = "items" if "count" in meant else "chars"
                of = _measure(subject, word, is_each=False) if isinstance(subject, Place) else Part("size", subject)
                return self.limits(of, limits if isinstance(limits, dict) else {"==": limits})
            case "between {} and {}", [low, high] | [[low, high]]:
                if not isinstance(subject, Place) or not subject.path:
                    return self.limits(subject, {">=": low, "<=": high})
                refuse_if(isinstance(low, int | float) and isinstance(high, int | float) and low > high)
                values = [low, high]
            case "contains {}", [tool] if subject == Part("names"):
                return self.times(tool, ">=", 1)
            case "is empty", [] if subject in (Part("calls"), Part("names")):
                return to.NO_CALLS
        place = subject if isinstance(subject, Place) else none()
        if not phrase and not values:
            return self._described(place, meant)
        if _OF_RESPONSE.match(phrase) and place == Place():
            return self._of_response(phrase, values)
        refuse_if(not phrase or (phrase in _OF_JSON if place == Place() else _OF_RESPONSE.match(phrase)))
        return self._of_place(place, phrase, values)

    def _of_place(self, place: Place, phrase: str, values: list[Any]) -> Check:
        unfolded, case = place.unfolded()
        match phrase, values:
            case "starts with {}" | "ends with {}", [text]:
                return self.said(place, phrase.replace(" with {}", "_with"), text)
            case "contains {}", [value]:
                is_of_items = "[]" in place.path and not case
                refuse_if(isinstance(value, list | dict) and not is_of_items)  # any or all of them?
                is_digits = unfolded == Place() and type(value) in (int, float)
                return self.contains(place, str(value) if is_digits else value)
            case "contains any of {}" | "contains all of {}" | "contains none of {}" | "one of {}", _:
                listed = values[0] if len(values) == 1 and isinstance(values[0], list) else values
                if not listed or (len(listed) == 1 and isinstance(listed[0], str) and "," in listed[0]):
                    raise NoLine  # promptfoo splits it
                refuse_if(not all(isinstance(each, str | int | float | None) for each in listed))
                refuse_if(phrase == "one of {}" and [*map(type, values)] == [str])  # `in "abc"`
                if len(listed) == 1 and phrase != "one of {}":
                    return negated_if("none" in phrase, self._of_place(place, "contains {}", listed))
                check = _test(phrase, listed, case)
                return negated(unfolded.asks(check.check)) if isinstance(check, Not) else unfolded.asks(check)
            case "matches {}", [source]:
                found = regex(source) if isinstance(source, str) else source
                is_pattern = isinstance(found, Part) and found.kind == "regex"
                flags = "".join(sorted({*found.value, *("i" * bool(case))})) if is_pattern else none()
                return self.matches(unfolded, found._replace(value=flags))
            case "members {}", [dict() as members] if not any(isinstance(each, dict) for each in members.values()):
                return self._members(place, members, is_each=False)
            case "keys {}", [[*keys]] | [*keys] if keys and place == Place("json"):
                parts = {"type": "object", "properties": {key: {} for key in keys}, "required": keys}
                return Test("json", ("strict", {**parts, "additionalProperties": False}))
            case "within {1} of {0}", [_, int() | float() as distance] if distance < 0:
                raise NoLine
            case "property {}", [str() as name, *value] if len(value) < 2:
                return place.member(name).asks(to.equal(value[0]) if value else Test("exists"))
        return unfolded.asks(_test(phrase, *values, case))

    def _of_response(self, phrase: str, values: list[Any]) -> Check:
        match phrase, values:
            case "judge {}", [question, int() | float() as threshold] if 0 < threshold <= 1:
                refuse_if(round(threshold * 10, 9) % 1)
                self.notes.add("judge")
                return _test(phrase, question, f" >= {round(threshold * 10, 9):g}/10")
            case "is in {}", [language]:
                return Test("language", language_named(str(language)) or none())
            case "json" | "json matching {}", [schema]:
                is_file = isinstance(schema, str) and re.fullmatch(r"[\w./-]+\.json", schema)
                return _test("json matching {}", schema, "") if is_file or isinstance(schema, dict) else none()
        return _test(phrase, *values, "")

    def _described(self, place: Place, meant: str) -> Check:
        """A type, a format or a language."""
        shorter = re.sub(r"^(?:type|instance|(?:written|answers?|responds?|reply|replies|speaks?)?in|valid)", "", meant)
        bare = meant if meant in names.TYPES else shorter
        if bare in names.TYPES:
            return self.typed(place, bare)
        if bare in names.FORMATS:
            return place.asks(Test("format", names.FORMATS[bare]))
        return Test(
            "language", (len(bare) > 3 and bare != meant and place == Place() and language_named(bare)) or none()
        )

    def limits(self, subject: Denoted, limits: Mapping[str, Any]) -> Check:
        """`{min: 1, max: 3}` and the like."""
        return joined("and", [self.compared(operator_of(str(op)), subject, value) for op, value in limits.items()])


def _schema(value: Any) -> dict[str, Any]:
    """The schema of what Karate takes for equal: values, and markers such as `#number`."""
    match value:
        case dict():
            parts = {key: _schema(each) for key, each in value.items()}
            return {"type": "object", "properties": parts, "required": [*parts], "additionalProperties": False}
        case str() if value.startswith("#"):
            return {
                "type": value[1:] if value[1:] in ("string", "number", "boolean", "array", "object", "null") else none()
            }
    refuse_if('"#' in json.dumps(value))
    return {"const": value}


def _place_at(path: str, *, is_key: bool) -> Denoted:
    """The place at a path, which other tools write in quotes; a text in quotes right behind `at` is one key."""
    key = path[1:-1] if path[0] in "\"'" else path
    if not is_key and re.fullmatch(r"[\w-]+(?:/[\w-]+)+", key):
        key = key.replace("/", ".")  # json_spec
    if is_key and not re.fullmatch(r"[\w-]+", key):
        return Place("json", path_of_key(key)) if "\\" not in path and key[:1] != "$" else none()
    return size_of(to.at(key))


def _is_negative(text: str) -> bool:
    """Whether words outside of quotes negate."""
    words = re.findall("[a-z]+", pattern("<TEXT>").sub("", text).replace("n't", " not").lower())
    return not _NEGATIONS.isdisjoint(words)


def words_of(verb: str) -> tuple[str, bool]:
    """The words of a verb that mean something, run together, and whether they are negated."""
    verb = re.sub(r"^(?:(?:should|must) )?(?:is|are|be) (?=[<>=!]+$)", "", verb.strip())
    if verb in names.OPERATORS:
        return verb, False
    refuse_if(re.search(r"[^\w\s:'-]|[^\x00-\x7f]", verb))
    apart = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", verb.replace("n't", " not")).lower().strip()
    apart = re.sub(r"\bno (longer|more|less|fewer|later|greater) than$", r"no\1than", apart)
    words = re.findall(r"[a-z0-9]+", apart)
    negative = [word for word in words if word in _NEGATIONS]
    refuse_if(("not" in negative and _IS_NEEDED.search(apart)) or ("can" in words and not negative))  # it may or not
    meant = [word for word in words if word not in names.NAMES["noise"]]
    if len(negative) == 1:  # two negations are left for nobody to know
        meant.remove(negative[0])
    return "".join(meant), len(negative) == 1


def operator_of(words: str) -> str:
    """The operator that words mean."""
    meant, negative = words_of(words)
    op = names.OPERATORS.get(meant) or none()
    return OPPOSITE[op] if negative else str(op)


def bare_operator(subject: Denoted) -> str:
    """The comparison with a number right behind a subject: what a run spends has a limit, what is counted is exact."""
    is_spent = isinstance(subject, Part) and subject.kind == "run" and subject.of not in ("calls", "errors")
    return "<=" if is_spent else "=="


def _test(phrase: str, *rest: Any) -> Check:
    """The check that a phrase is behind a subject, with its values and what follows."""
    *values, tail = rest
    check = to.read(f"at x {_phrased(phrase, values)}{tail}")
    return check.check if isinstance(check, Of) else none()


def _phrased(phrase: str, values: list[Any]) -> str:
    """A phrase with values in its places."""
    refuse_if(phrase.count("{") != len(values) or any(isinstance(value, Part) for value in values))
    try:
        return phrase.format(*(json.dumps(value, ensure_ascii=False) for value in values))
    except (TypeError, ValueError):
        raise NoLine from None


def _often(times: str) -> str:
    """`exactly three times`, as the language has it."""
    return re.sub(r"[a-z]+", lambda word: names.COUNTS.get(word[0], word[0]), times.replace("no more than", "at most"))


def _bracketed(bare: re.Match[str]) -> str:
    """promptfoo's `contains-any: refund, money back`, as a list of texts."""
    texts = (each[1:-1] if each[0] in _QUOTES else each for each in pattern("<ITEM>").findall(bare["L"]))
    return f"{bare['W']} [{', '.join(json.dumps(text, ensure_ascii=False) for text in texts)}]"


def _several(verb: str, values: list[Any], between: set[str]) -> tuple[str, list[Any]]:
    """Values after one another, under a verb that says what they are."""
    words, negative = words_of(verb)
    phrase = names.VERBS.get(words, words)
    match phrase, *between:
        case "between {} and {}", "and":
            return verb, values
        case _, joint if joint in names.JOINTS.get(phrase, ()):
            return verb, [values]
        case "contains {}" | "equals {}" | "", "or":
            return f"{'not ' * negative}{'contains any' if phrase == 'contains {}' else 'one of'}", [values]
        case "contains {}", "and" if not negative:
            return "contains all", [values]
    raise NoLine


def _measure(place: Place, word: str, *, is_each: bool) -> Part:
    """A measure of a place; of `[*]`, one of each item or, in other tools, of the list."""
    if "[]" in place.path and not is_each:
        return Part("size", place) if place.path.endswith("[]") and word in ("chars", "items") else none()
    return Part("size", place) if word == "chars" and "[]" not in place.path else Part("measure", place, word)


def _with_unit(subject: Denoted, verb: str, tail: str) -> tuple[Denoted, str]:
    """`at most 5 words`, `has 3 items`."""
    tail = re.sub(r" (?:long|in total|in length)$", "", tail)
    verb = re.sub(r"^(?:should |must )?(?:has|have|is|be|contains?|of)(?: (?!between)|$)", "", verb) or "=="
    of = (
        "items"
        if tail in ("items", "elements", "entries", "item")
        else names.MEASURES.get(tail) or names.MEASURES.get(f"{tail}s") or none()
    )
    if isinstance(subject, Part):
        return (subject, verb) if (subject.kind, subject.value) == ("measure", of) else none()
    refuse_if(not isinstance(subject, Place) or (of == "items" and not subject.path))
    return Part("measure", subject, of), verb


def _parted(text: str) -> tuple[str, list[Any], set[str], str]:
    """The verb before the first literal, the literals, the words between them, and what follows."""
    values: list[Any] = []
    between: set[str] = set()
    literal, joint = pattern("<LITERAL>"), pattern("<JOINT>")
    starts = (m.start() for m in literal.finditer(text) if not m.start() or text[m.start() - 1] in " =<>([:≤≥!")
    start = next(starts, None)
    if start is None:
        return text.strip(), [], between, ""
    at = start
    while True:
        value, at = _literal(literal.match(text, at) or none(), text)
        values.append(value)
        found = joint.match(text, at)
        if found is None or not literal.match(text, found.end()):
            break
        between.add("and" if "to" in found.groups() else found[1] or found[2] or ",")
        at = found.end()
    if len(between) > 1:
        between.discard(",")
    tail = text[at:].strip()
    return text[:start].strip().rstrip(":(").strip(), values, between, "" if tail in (")", ".") else tail


def _literal(found: re.Match[str], text: str) -> tuple[Any, int]:
    """The value of a literal, and its end."""
    match found.lastgroup:
        case "text":
            return _string(found["text"]), found.end()
        case "regex" | "flags":
            return Part("regex", found["regex"].replace(r"\/", "/"), "".join(sorted(found["flags"]))), found.end()
        case "word":
            return constant(names.CONSTANTS.get(found["word"], found["word"])), found.end()
        case "open":
            end = next((token.end() for token, depth in _tokens(text, "(?!)", found.start()) if depth == 0), 0)
            bare = pattern(r"(<TEXT>)|(?<=[\[,\s])(?!true|false|null)([A-Za-z_][\w-]*)(?=\s*[,\]])")
            quoted = bare.sub(lambda name: name[1] or f'"{name[2]}"', text[found.start() : end])
            return constant(read_javascript(quoted)), end
        case "file":
            return found["file"].removeprefix("./"), found.end()
    digits = re.sub(r"[_,$]", "", found["number"])
    number = float(digits) if "." in digits else int(digits)
    unit = names.UNITS.get((found["unit"] or "").strip(), "$" * found["number"].startswith("$"))
    return Part("quantity", number, unit) if unit else number, found.end()


def _string(text: str) -> str:
    """A text in quotes; the escapes of what is no JSON are a pattern's own."""
    try:
        return str(json.loads(text)) if "\\" in text and text[0] == '"' else text[1:-1] if "\\" not in text else none()
    except ValueError:
        return text[1:-1]


def _tokens(text: str, others: str, start: int = 0) -> Iterator[tuple[re.Match[str], int]]:
    """The brackets, texts and patterns of a text, and other tokens, with the depth of brackets behind each."""
    depth = 0
    for found in pattern(rf"<TEXT>|(?<=\s)/(?:\\.|[^/\\\n])+/[a-z]*|[\[\]{{}}()]|{others}").finditer(text, start):
        depth += (found[0] in "[{(") - (found[0] in "]})")
        yield found, depth


def _pieces(text: str, joint: str) -> list[str]:
    """The text between words that stand outside of quotes, brackets and patterns."""
    pieces, start = [], 0
    for found, depth in _tokens(text, rf"{',|' * joint.startswith(',')}(?<![\w-])(?:{joint})(?![\w-])"):
        between = re.search(r"between[^,]*$", text[start : found.start()])
        if depth == 0 and re.fullmatch(joint, found[0]) and not between:
            pieces.append(text[start : found.start()].strip())
            start = found.end()
    return [*pieces, text[start:].strip()]


def _tools(text: str) -> list[str]:
    """Names of tools after one another."""
    text = text.strip().removeprefix("the ").removesuffix(" tools")
    pieces = [each for each in re.split(r"\s*(?:,|\band then\b|\bthen\b|\band\b)\s*", text) if each]
    found = [piece.strip("\"'`") for piece in pieces]
    if not found or any(not re.fullmatch(r"[A-Za-z_][\w-]*", each) or each in names.NAMES["no_tool"] for each in found):
        raise NoLine
    return found
