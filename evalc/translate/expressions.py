"""Finds what an expression of code asks of an answer."""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Callable, Mapping
from typing import Any, Final

from evalc.check.forms import together
from evalc.check.tree import Argument, At, Call, Check, Measured, Node, Not, Of, Some, Test, Which, conjuncts
from evalc.grammar.write_check import NoLine
from evalc.model.json import is_number
from evalc.model.numbers import MILLISECONDS
from evalc.translate import names
from evalc.translate import trees as to
from evalc.translate.code import constant, regex, rewritten
from evalc.translate.trees import Part, Place, joined, negated, negated_if, none, refuse_if

Denoted = Place | Part | Check
"""The value of an expression: a place of the answer, something else, or a condition."""

_OPERATORS: Final[Mapping[type[ast.cmpop], str]] = {
    ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "not ==",
    ast.In: "in", ast.NotIn: "not in", ast.Is: "==", ast.IsNot: "not ==",
}  # fmt: skip
_SUCCEEDS: Final = Of(Argument("call"), Of(At("success"), Test("is", True)))
_FAILS: Final = Of(Argument("call"), Of(At("success"), Test("is", False)))
_CALLS: Final = Part("calls")
_MOST_DIGITS: Final = 10
_VARIABLE: Final = re.compile(
    "[a-z]|(?:expected|required|forbidden)?_?(?:tool|call|function)?_?(?:name)?", re.IGNORECASE
)
"""A name that is more likely that of a variable than of a tool."""
_EXISTS: Final = Test("exists")
_ASKS_FOR_SOME: Final = {(">", 0): True, (">=", 1): True, ("==", 0): False, ("<", 1): False, ("<=", 0): False}
"""Whether a comparison of how many there are asks for some or for none."""


class Meaning:
    """Reads one expression; `notes` gathers the rows that say what differs beyond the bounds."""

    def __init__(self, notes: set[str]) -> None:
        self.notes = notes
        self._variables: dict[str, Denoted] = {}

    def asked(self, subject: Denoted, verb: str, values: list[Any]) -> Check:
        """Read a verb about a subject, with the values that follow it."""
        raise NotImplementedError

    # --- conditions ---

    def condition_of(self, node: ast.expr) -> Check:
        """The condition that an expression is."""
        match node:
            case ast.UnaryOp(ast.Not(), of):
                return negated(self.condition_of(of))
            case ast.BoolOp(op, several):
                return joined("and" if isinstance(op, ast.And) else "or", map(self.condition_of, several))
            case ast.Compare(left, ops, rights):
                pairs = zip([left, *rights], ops, rights, strict=False)
                return joined("and", [self._comparison(a, _OPERATORS[type(op)], b) for a, op, b in pairs])
        return self._truth(self.denoted(node))

    def _truth(self, of: Denoted) -> Check:
        """Ask for a value that JavaScript and Python take for true."""
        match of:
            case Place("call", "success" | "succeeded"):
                return _SUCCEEDS
            case Part("size"):
                return self.compared(">", of, 0)
            case Place("response") | Part("calls" | "listed"):
                return self.compared(">", Part("size", of), 0)
            case Part("found", place, (text, 0)):
                return self.contains(place, text)
            case Node():
                return of
        raise NoLine

    def _comparison(self, left: ast.expr, op: str, right: ast.expr) -> Check:
        if op.startswith("not "):
            return negated(self._comparison(left, op.removeprefix("not "), right))
        sign = {"<": ast.Lt(), "<=": ast.LtE(), "==": ast.Eq(), "in": ast.In()}.get(op)
        if sign and (idiom := rewritten(ast.Compare(left, [sign], [right]))):
            return self.condition_of(idiom)
        if op == "in":
            return self._member(self.denoted(left), self.denoted(right))
        first, second = self.denoted(left), self.denoted(right)
        if isinstance(first, Part) and first.kind == "literal":
            first, second, op = second, first, to.MIRRORED[op]
        second = second if isinstance(second, Part) else none()
        return self.compared(op, first, second.of if second.kind == "literal" else second)

    def compared(self, op: str, left: Denoted, right: Any) -> Check:
        """A comparison with a literal."""
        if op == "!=":
            return to.denied(left, self.compared("==", left, right))
        match left, right:
            case Part("type", of, is_vague), name if op == "==":
                name = right.of if isinstance(right, Part) and right.kind == "unknown" else name
                return self.typed(of, None if is_vague and name == "object" else name)
            case Part("run", word), Part("quantity", number, unit) if word == ("dollars" if unit == "$" else "ms"):
                return self.run(op, word, unit, number)
            case _, Part():
                raise NoLine
            case Place(), _:
                return self.equal(left, right) if op == "==" else _json(left).asks(to.compared(op, right))
            case Part("names", None), list() if op == "==":
                return to.called("called", right)
            case Part("names"), list() if op == "==":
                return joined("and", [to.called("include", right), to.called("only", right)])
            case Node(), bool() | None if op == "==":  # `re.search(..) is not None`
                return negated_if(not right, left)
            case Part(), _:
                return self._counted(op, left, right)
        raise NoLine

    def _counted(self, op: str, of: Part, number: Any) -> Check:
        """A comparison of a measure or of how many there are."""
        match of:
            case Part("run", word, unit):
                return self.run(op, word, unit, number)
            case Part("measure", Place() as place, word):
                return place.asks(to.measured(word, op, number))
            case Part("size", Place() as place):
                return self.size(op, place, number)
            case Part("size", Part("calls" | "names", None)):
                return to.measured("calls", op, number)
            case Part("size", Part("listed") as listed) if isinstance(number, int):
                is_some = _ASKS_FOR_SOME.get((op, number))
                if is_some is None:
                    return self.times(self._tool_of(listed), op, number)
                return negated_if(not is_some, self.quantified("any", listed))
            case Part("times", tool):
                return self.times(tool, op, number)
            case Part("found", place, (text, shift)) if isinstance(number, int):
                return self._found(op, place, text, number, shift)
        raise NoLine

    def _found(self, op: str, place: Place, text: str, number: int, shift: int) -> Check:
        """A comparison with how often a text occurs, or where it begins."""
        if (is_some := _ASKS_FOR_SOME.get((op, number + shift))) is not None:
            return negated_if(not is_some, self.contains(place, text))
        if shift:
            return self.said(place, "starts_with", text) if (op, number) == ("==", 0) else none()
        often = to.compared(op, number).operand  # type: ignore[union-attr]
        return place.plain().asks(Test("occurs", (text, often), self._folded(place, text)))

    def _folded(self, place: Place, text: Any) -> bool:
        """Whether case is ignored; refuses a text that is never in a text of one case."""
        if place.folded in ("", "any"):
            return place.folded == "any"
        self.notes.add("case")
        refuse_if(not isinstance(text, str) or text != (text.lower() if place.folded == "lower" else text.upper()))
        return True

    def equal(self, place: Place, value: Any) -> Check:
        """Ask that a place is a value."""
        if place.trimmed and not value:
            return self.size("==", place, 0)
        if isinstance(value, str):
            return self.said(place, "equals", value)
        return place.asks(to.equal(value)) if place != Place() else none()

    def said(self, place: Place, verb: str, text: Any) -> Check:
        """Ask that a text is another, or starts or ends with it."""
        folded = self._folded(place, text)
        refuse_if(not isinstance(text, str) or (place.trimmed and (not text or text != text.strip())))
        if not place.trimmed:
            return place.plain().asks(Test(verb, text, folded))
        self.notes.add("spaces")
        before, after = r"^\s*" * (verb != "ends_with"), r"\s*$" * (verb != "starts_with")
        escaped = re.sub(r"[][\\^$.*+?(){}|/]", r"\\\g<0>", text)
        return place.plain().asks(to.matches(before + escaped + after, "i" * folded))

    def contains(self, place: Place, value: Any) -> Check:
        """Ask that a text or a list contains a value."""
        if "[]" in place.path and not place.folded:
            before, after = place.cut()
            return to.items("any", before, after.asks(to.equal(value)))
        refuse_if((place.root == "response" or place.trimmed) and not isinstance(value, str))
        refuse_if(place == Place("json") or isinstance(value, list | dict))  # its text, or an item of it?
        refuse_if(place.trimmed and value != value.strip())
        self.notes.update({"item"} if place.root != "response" else ())
        return place.plain().asks(Test("contains", value, self._folded(place, value)))

    def matches(self, place: Denoted, pattern: Denoted) -> Check:
        """Ask that a text matches a regular expression."""
        match place, pattern:
            case Place(), Part("regex", source, flags, is_foreign):
                self.notes.update({"pattern"} if is_foreign else ())
                return place.asks(to.matches(source, flags))
        raise NoLine

    def _json(self, node: ast.expr) -> Place:
        return _json(self._known(self.denoted(node)))

    def run(self, op: str, word: Measured, unit: str, number: Any) -> Check:
        """A limit of the run."""
        check = to.measured(word, op, number)
        if unit == "?":  # seconds or milliseconds?
            self.notes.add("seconds")
            return check if number >= 100 else none()
        return to.measured(word, op, round(number * MILLISECONDS.get(unit, 1), 9))

    def size(self, op: str, place: Place, number: Any) -> Check:
        """A comparison of the length of a text or a list."""
        to.compared(op, number)  # is it a number?
        is_some = _ASKS_FOR_SOME.get((op, number))
        if place.trimmed and not place.folded and is_some is not None:
            return negated_if(not is_some, place.plain().asks(Test("non_empty")))
        if place.root == "response":
            return place.asks(to.measured("chars", op, number))
        if place.path.endswith("[]"):
            place = Place(place.root, place.path[:-2])
        elif "[]" in place.path:  # of each, or of all in all?
            raise NoLine
        elif not _is_plural(place):  # a text or a list?
            return to.either(place, op, number)
        else:
            self.notes.add("length")
        return place.asks(to.measured("items", op, number))

    def times(self, tool: Any, op: str, number: Any) -> Check:
        """How often a tool is called."""
        to.compared(op, number)  # is it a number?
        refuse_if(isinstance(tool, str) and " " in tool)  # `search with city=Paris`
        if (is_some := _ASKS_FOR_SOME.get((op, number))) is not None:
            return to.called("include" if is_some else "not_called", [tool])
        return to.measured("calls", op, number, tool if isinstance(tool, str) else none())

    def typed(self, of: Denoted, name: Any) -> Check:
        """Ask that a place has a type."""
        place, name = _json(of), names.key(name) if isinstance(name, str) else ""
        if name in ("nonetype", "null", "undefined"):
            return place.asks(Not(_EXISTS) if name == "undefined" else Test("is", None))
        word = names.TYPES.get(name) or none()
        refuse_if(name == "float")
        self.notes.update({"integer"} if word == "integer" or name in ("intfloat", "floatint") else ())
        return place.asks(Test("is_a", word))

    def _member(self, item: Denoted, of: Denoted) -> Check:
        """`item in of`."""
        match item, of:
            case Part("literal", str() as key), Place() if of == Place("json") or _is_arguments(of):
                return _json(of).member(key).asks(_EXISTS)
            case Part("literal", value), Place():
                refuse_if(of == Place("item") and str(value).isidentifier())  # a key of the item, or a part of it?
                return self.contains(of, value)
            case Part("literal" | "unknown" as kind, str() as tool), Part("names"):
                refuse_if(kind == "unknown" and _VARIABLE.fullmatch(tool))
                return self.times(tool, ">=", 1)
            case Part("literal", value), Part("listed"):
                return self.quantified("any", of, lambda found: self.compared("==", found, value))
            case Place(trimmed=False), Part("literal", [*values]):
                if not all(isinstance(each, str) for each in values) and (item.root == "response" or item.folded):
                    raise NoLine
                folded = all([self._folded(item, value) for value in values])  # noqa: C419 - each may refuse
                return item.plain().asks(Test("one_of", tuple(values or none()), folded))
        raise NoLine

    # --- quantifiers ---

    def quantified(self, quantifier: Which, of: Denoted, asked: Callable[[Denoted], Check] | None = None) -> Check:
        """A condition of any or every item of what is listed."""
        kept: list[tuple[str, ast.expr]] = []
        value: tuple[str, ast.expr] | None = None
        if isinstance(of, Part) and of.kind == "listed":
            (kept, value), of = of.value, of.of

        def inner(item: Denoted) -> Check:
            conditions = [self._with(each, item, self.condition_of) for each in kept]
            if asked:
                conditions.append(asked(self._with(value, item, self.denoted) if value else item))
            return joined("and", conditions)

        is_whole = quantifier == "any" or not kept
        match of:
            case Part("listed") if is_whole:
                return self.quantified(quantifier, of, inner)
            case Part("literal", [*values]) if 0 < len(values) <= 20:
                return joined("or" if quantifier == "any" else "and", [inner(Part("literal", one)) for one in values])
            case Part("names"):
                return self._of_calls(quantifier, None, inner(Place("call", "name")))
            case Part("calls", tool):
                if not is_whole and asked:
                    tool, kept = self._tool_of(Part("listed", of, (kept, None))), []
                return self._of_calls(quantifier, tool, inner(Place("call")))
            case Place() if is_whole or not asked:
                before, after = of.cut() if "[]" in of.path else (_json(of), Place("item"))
                found = inner(after)
                several = found.checks if quantifier == "any" and isinstance(found, Some) else (found,)
                return joined("or", [to.items(quantifier, before, part) for part in several])
        raise NoLine

    def _with(self, function: tuple[str, ast.expr], value: Denoted, read: Callable[[ast.expr], Any]) -> Any:
        before = self._variables.copy()
        self._variables[function[0]] = value
        try:
            return read(function[1])
        finally:
            self._variables = before

    def _of_calls(self, quantifier: Which, tool: str | None, condition: Check) -> Check:
        if tool is None and (quantifier, condition) == ("every", _SUCCEEDS):
            return to.NO_ERRORS
        if tool is None and quantifier == "any" and condition in (negated(_SUCCEEDS), _FAILS):
            return negated(to.NO_ERRORS)
        tools, asked = _parts_of_call(condition)
        refuse_if((tool is None) is not bool(tools) or (quantifier == "every" and not tool and asked))
        if quantifier == "every" and not tool:
            return to.called("only", tools)
        tools = (tool,) if tool else tools
        several = [Of(Call(name, quantifier), together(asked)) for name in tools] if asked else None
        return joined("or", several or [self.times(name, ">=", 1) for name in tools])

    def _tool_of(self, listed: Part) -> str:
        """The tool whose calls a filter on names gives."""
        kept, value = listed.value
        if listed.of == _CALLS and len(kept) == 1 and value is None:
            tools, asked = _parts_of_call(self._with(kept[0], Place("call"), self.condition_of))
            if len(tools) == 1 and not asked:
                return str(tools[0])
        raise NoLine

    # --- what an expression is ---

    def denoted(self, node: ast.expr) -> Denoted:
        """The value of an expression, or the condition that it is."""
        if expected := self._expectation(node):
            return expected
        if idiom := rewritten(node):
            return self.denoted(idiom)
        match node:
            case ast.Name(name):
                return self._name(name)
            case ast.Attribute(of, key):
                return self._attribute(of, key)
            case ast.Subscript(ast.Name("usage") as of, ast.Constant(str() as key)):
                return self._attribute(of, key)
            case ast.Subscript(of, ast.Constant(str() | int() as key)) if not isinstance(key, bool):
                found = self._known(self.denoted(of), used=True)
                if not isinstance(found, Place) or (isinstance(key, int) and not _is_plural(found)):
                    raise NoLine  # a letter of a text, or an item?
                return found.member(key)
            case ast.Call():
                return self._call(node)
            case ast.GeneratorExp(elt, [one]) | ast.ListComp(elt, [one]) | ast.SetComp(elt, [one]):
                return self._comprehension(node, elt, one)
            case ast.Compare() | ast.BoolOp() | ast.UnaryOp(ast.Not()):
                return self.condition_of(node)
        return Part("literal", constant(node))

    def _name(self, name: str) -> Denoted:
        if name in self._variables:
            return self._variables[name]
        known = names.key(name)
        if name == "__root__" or known in names.NAMES["json"]:
            self.notes.add("fence")
            return Place("json")
        if known in names.NAMES["call_names"] or known in names.NAMES["calls"]:
            return Part("names") if known in names.NAMES["call_names"] else _CALLS
        if known in names.RUNS:
            return Part("run", *names.RUNS[known])
        return Place() if known in names.NAMES["response"] else Part("unknown", name)

    def _known(self, found: Denoted, *, used: bool = False) -> Denoted:
        """A bare name that is used as a list or an object is taken for a member of the response's JSON."""
        if isinstance(found, Part) and found.kind == "unknown":
            refuse_if(names.key(found.of) in names.NAMES["no_paths"] or not _is_plural(Place("json").member(found.of)))
            self.notes.add("fence")
            return Place("json").member(found.of)
        if used and isinstance(found, Place) and found.root == "response":
            self.notes.add("fence")
        return found

    def _attribute(self, of: ast.expr, key: str) -> Denoted:
        known = names.key(key)
        if ast.unparse(of) == "__root__.usage" and known in names.RUNS:
            return Part("run", *names.RUNS[known])
        found = self.denoted(of)
        if ast.unparse(of) == "__root__" and known in names.NAMES["calls"]:
            return _CALLS  # they are the answer's, whose text has the JSON
        if known in names.RUNS and (found == Part("unknown", "usage") or found[:2] == ("response", "")):  # type: ignore[index]
            return Part("run", *names.RUNS[known])
        if isinstance(found, Part) and found.kind == "unknown" and known in ("called", "callcount"):  # of a mock
            check = self.asked(found, "called", [])
            return check if known == "called" else Part("times", found.of)
        found = self._known(found)
        if key == "length":
            return _size(found)
        if found == Place() and (known in names.NAMES["response"] or known in names.NAMES["calls"]):
            return self._name(key)  # `result.output`
        refuse_if(found == Place() and known in names.NAMES["not_json"] and ast.unparse(of) != "output")
        found = self._known(found, used=True)
        return found.member(key) if isinstance(found, Place) else none()

    def _comprehension(self, node: ast.expr, value: ast.expr, one: ast.comprehension) -> Denoted:
        name = one.target.id if isinstance(one.target, ast.Name) and not one.is_async else none()
        mapped = None if isinstance(value, ast.Name) and value.id == name else (name, value)
        kept, of = [(name, condition) for condition in one.ifs], self._known(self.denoted(one.iter))
        if isinstance(of, Part) and of.kind == "listed" and not of.value[1]:
            kept, of = [*of.value[0], *kept], of.of
        if of == _CALLS and mapped and not kept and _is_name(self._with(mapped, Place("call"), self.denoted)):
            of, mapped = Part("names"), None
        listed = Part("listed", of, (kept, mapped)) if kept or mapped else of
        if isinstance(node, ast.SetComp):
            return Part("names", "set") if listed == Part("names") else none()
        return listed

    def _expectation(self, node: ast.expr) -> Check | None:
        """Read `expect(x).not.toBe(1)`, in the words of Chai or Jest; None for other code."""
        words: list[str] = []
        given: list[ast.expr] | None = None
        while True:
            match node:
                case ast.Call(ast.Name("expect") | ast.Attribute(ast.Name("pm"), "expect"), [subject], []):
                    break
                case ast.Attribute(of, word) | ast.Subscript(of, ast.Constant(str() as word)):
                    words.insert(0, word)
                    node = of
                case ast.Call(ast.Attribute() | ast.Subscript() as function, arguments, []) if given is None:
                    given, node = arguments, function
                case _:
                    return None
        last = words[-1] if words else ""
        match subject:
            case ast.Attribute(ast.Name("tools" | "tool" | "agent"), name) if "alled" in last:
                subject = ast.Name(name)
        match given:
            case [ast.Call(ast.Attribute(ast.Name("expect"), kind), [inner], [])]:  # `toEqual(expect.any(Number))`
                given = [inner]
                words[-1] = last = last if "alled" in last else names.MATCHERS.get(kind) or none()
        denoted = [self.denoted(each) for each in given or ()]
        kinds = ("literal", "unknown") if last in ("toHaveBeenCalledBefore", "toHaveBeenCalledAfter") else ("literal",)
        values = [each.of if isinstance(each, Part) and each.kind in kinds else each for each in denoted]
        verb, found = " ".join(words), self.denoted(subject)
        match last, values:
            case "toBeCloseTo", [number, *digits] if len(digits) <= 1:
                return negated_if("not" in words, self._near(found, number, *digits))
            case "toMatch", [str()]:
                verb = verb.replace("toMatch", "toContain")  # a text is no pattern there
            case "toBeTruthy" | "toBeFalsy", [] if isinstance(found, Node):
                return negated_if((last == "toBeFalsy") is not ("not" in words), found)
            case "toHaveBeenNthCalledWith", [int() as number, asked] if number > 0 and isinstance(found, Part):
                return negated_if("not" in words, to.with_arguments(found.of, to.arguments(asked), number))
            case "toHaveProperty", [str() as path, *rest]:
                *steps, key = path.split(".")
                found, values = functools.reduce(Place.member, steps, _json(self._known(found))), [key, *rest]
            case "a" | "an" | "toBeTypeOf" | "toBeInstanceOf", [type_]:
                verb, values = f"{verb} {getattr(type_, 'of', type_)}", []
        return self.asked(found if "alled" in verb else self._known(found), verb, values)

    def _near(self, found: Denoted, number: Any, digits: Any = 2) -> Check:
        """Ask for less than half a unit of the last digit of difference, as Jest does."""
        refuse_if(not is_number(number) or type(digits) is not int or not 0 <= digits <= _MOST_DIGITS)
        half = 10.0**-digits / 2
        limits = {">": round(number - half, 12), "<": round(number + half, 12)}
        refuse_if(not limits[">"] < number < limits["<"])
        return joined("and", [self.compared(op, found, limit) for op, limit in limits.items()])

    def _call(self, node: ast.Call) -> Denoted:
        function, arguments, name = node.func, node.args, ast.unparse(node.func)
        named = {each.arg or "": each.value for each in node.keywords}
        if found := re.fullmatch(r"re\.(search|match|fullmatch|findall)", name):
            whole = {"match": "^(?:{})", "fullmatch": "^(?:{})$"}.get(found[1], "{}")
            match (*arguments, named.pop("flags", None)):
                case [ast.Constant(str() as source), text, flags, *_] if text and not named:
                    return self.matches(self.denoted(text), regex(source, flags, whole))
        refuse_if(named)
        if name in _FUNCTIONS:
            try:
                return _FUNCTIONS[name](self, *arguments)
            except TypeError:  # other arguments than it takes
                raise NoLine from None
        if isinstance(function, ast.Name) and arguments:
            return self._said_as_function(function.id, arguments)
        if isinstance(function, ast.Attribute):
            return self._method(self._known(self.denoted(function.value)), names.key(function.attr), arguments)
        raise NoLine

    def _said_as_function(self, name: str, arguments: list[ast.expr]) -> Denoted:
        """Read `starts_with(response, "Dear")`, `word_count(response)`."""
        of, *values = (self.denoted(each) for each in arguments)
        measure = names.MEASURES.get(names.key(name))
        if measure and of == Place() and not values:
            return Part("measure", of, measure)
        refuse_if(not isinstance(of, Place) or not values)
        given = [each.of if isinstance(each, Part) and each.kind == "literal" else none() for each in values]
        return self.asked(of, name.removeprefix("assert_").replace("_", " "), given)

    def _method(self, of: Denoted, method: str, arguments: list[ast.expr]) -> Denoted:
        match of, method, [self.denoted(each) for each in arguments]:
            case Place(), "startswith" | "endswith", [Part("literal", text)]:
                texts, verb = text if isinstance(text, list) else [text], method.replace("with", "_with")
                return joined("or", [self.said(of, verb, each) for each in texts])
            case Place(), "lower" | "upper", []:
                return of._replace(folded=method)
            case Place(), "strip", []:
                return of._replace(trimmed=True)
            case Place(), "count" | "find", [Part("literal", str() as text)]:
                return Part("found", of, (text, int(method != "count"))) if text and not _is_plural(of) else none()
            case Part("names", None), "count", [Part("literal", str() as tool)]:
                return Part("times", tool)
            case Place(), "lines" | "words", []:
                self.notes.add(method)
                return Part("split", of.plain(), method)
        raise NoLine

    # --- functions ---

    def _all(self, quantifier: Which, of: ast.expr) -> Check:
        listed = self._known(self.denoted(of))
        refuse_if(not isinstance(listed, Part) or listed.kind != "listed" or not listed.value[1])
        return self.quantified(quantifier, listed, self._truth)


_FUNCTIONS: Final[Mapping[str, Callable[..., Denoted]]] = {
    "len": lambda self, of: _size(self._known(self.denoted(of))),
    "isinstance": lambda self, of, kind: self.typed(self.denoted(of), ast.unparse(kind)),
    "list": lambda self, of: none() if (it := self._known(self.denoted(of))) == Place("json") else it,
    "all": lambda self, of: self._all("every", of),
    "any": lambda self, of: self._all("any", of),
    "set": lambda self, of: (
        Part("names", "set") if self.denoted(of) == Part("names") else Part("literal", constant(of))
    ),
    "type": lambda self, of: Part("type", self.denoted(of)),
    "__typeof__": lambda self, of: Part("type", self.denoted(of), "vague"),  # "object" is of lists and of null, too
    "__regex__": lambda _, source, flags: Part("regex", constant(source), "".join(sorted(constant(flags)))),
    "__search__": lambda self, pattern, text: self.matches(self.denoted(text), self.denoted(pattern)),
    "__asked__": lambda self, of, verb, *values: self.asked(self._json(of), constant(verb), [*map(constant, values)]),
    "__at__": lambda _, path: size_of(to.at(constant(path))),
    "json.loads": lambda self, of: self._name("json") if self.denoted(of) in (Place(), Place(trimmed=True)) else none(),
    "Number.isInteger": lambda self, of: self._json(of).asks(Test("is_a", "integer")),
}
"""Functions that are known."""


def _json(place: Denoted) -> Place:
    match place:
        case Place("json" | "item" | "call", _, "", False):
            return place
    raise NoLine


def _parts_of_call(condition: Check) -> tuple[tuple[Any, ...], list[Check]]:
    """The tools that a call is one of, and what is asked of its arguments."""
    tools: tuple[Any, ...] = ()
    asked: list[Check] = []
    for part in conjuncts(condition):
        match part:
            case Of(Argument("call"), Of(At(path), test)):
                key, _, rest = path.removeprefix("function.").partition(".")
            case _:
                raise NoLine
        match test, rest:
            case Test("equals" | "one_of" as word, named, False), "" if _is_name(Place("call", key)) and not tools:
                tools = named if word == "one_of" else (named,)
            case _ if rest and _is_arguments(Place("call", key)):
                asked.append(Of(At(rest), test))
            case _:
                raise NoLine
    return tools, asked


def _is_name(of: Denoted) -> bool:
    """Whether an expression is the name of a call."""
    return isinstance(of, Place) and of.root == "call" and names.key(of.path) in names.NAMES["call_name"]


def _size(of: Denoted) -> Part:
    is_split = isinstance(of, Part) and of.kind == "split"
    return Part("measure", of.of, of.value) if is_split else Part("size", of)  # type: ignore[union-attr]


def size_of(place: Place) -> Denoted:
    """A place, or the size that its last step asks for."""
    is_size = place.path.endswith(".length")
    return Part("size", place._replace(path=place.path.removesuffix(".length"))) if is_size else place


def _is_arguments(place: Place) -> bool:
    return place.root == "call" and names.key(place.path.removeprefix("function.")) in names.NAMES["arguments"]


def _is_plural(place: Place) -> bool:
    return to.is_list(place.path or ("data" if place.root == "json" else ""))
