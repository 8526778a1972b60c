"""Finds what an expression of code asks of an answer, as conditions of evalc."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final

from evalc.check.translate import lines as ln
from evalc.check.translate import names
from evalc.check.translate.lines import Both, Condition, Fact, NoLine, Part, Place, Test, fact, joined, negated
from evalc.check.translate.python import path_steps, regex

if TYPE_CHECKING:
    from evalc.check.translate.verbs import Verbs

Denoted = Place | Part | Condition
"""The value of an expression: a place of the answer, something else, or a condition."""

_OPERATORS: Final[Mapping[type[ast.cmpop], str]] = {
    ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!=",
    ast.In: "in", ast.NotIn: "not in", ast.Is: "==", ast.IsNot: "!=",
}  # fmt: skip
_CALL_NAME: Final = frozenset({"name", "tool", "toolname", "functionname"})
_ARGUMENTS: Final = frozenset({"params", "args", "arguments", "parameters", "input", "toolinput"})
_CALLS: Final = Part("calls")
_SOME: Final = {(">", 0), (">=", 1), ("!=", 0)}
_NONE: Final = {("==", 0), ("<", 1), ("<=", 0)}


class Meaning:
    """Reads one expression; `notes` gathers the rows that say what differs beyond the bounds."""

    def __init__(self, notes: set[str], verbs: Verbs) -> None:
        self.notes = notes
        self._verbs = verbs
        self._variables: dict[str, Denoted] = {}

    # --- conditions ---

    def condition(self, node: ast.expr) -> Condition:
        """The condition that an expression is."""
        match node:
            case ast.UnaryOp(ast.Not(), of):
                return negated(self.condition(of))
            case ast.BoolOp(op, several):
                return joined("and" if isinstance(op, ast.And) else "or", map(self.condition, several))
            case ast.Compare(left, ops, rights):
                pairs = zip([left, *rights], map(type, ops), rights, strict=False)
                return joined("and", [self._comparison(a, _OPERATORS[op], b) for a, op, b in pairs])
        return self._truth_of(self.denoted(node))

    def _truth(self, of: Place | Part) -> Condition:
        """Ask for a value that JavaScript and Python take for true."""
        match of:
            case Place("response", ()):
                return self.size(">", of, 0)
            case Part("size"):
                return self.compared(">", of, 0)
            case Part("calls" | "listed"):
                return self.compared(">", Part("size", of), 0)
            case Part("occurrences" | "found", place, text):
                return self.contains(place, text)
            case _:
                raise NoLine

    def _comparison(self, left: ast.expr, op: str, right: ast.expr) -> Condition:
        if op in ("in", "not in"):
            found = self._member(self.denoted(left), self.denoted(right))
            return found if op == "in" else negated(found)
        for one, other in ((left, right), (right, left)):
            match one:
                case ast.Call(ast.Name("sorted"), [inner], []) if ast.unparse(inner) == ast.unparse(other):
                    return self._when(op, Test(self._json(self.denoted(inner)), ln.described("sorted")))
                case ast.Call(ast.Name("len"), [ast.Call(ast.Name("set"), [inner], [])], []):
                    if ast.unparse(other) == f"len({ast.unparse(inner)})":
                        return self._when(op, Test(self._json(self.denoted(inner)), ln.described("unique")))
        match left, right:
            case ast.Call(ast.Attribute(of, "get"), [ast.Constant(str() as key)], []), ast.Constant(None):
                return self._when(op, self._nullish(self._place(of).member(key)))
            case ast.Call(ast.Attribute(_, "find"), [ast.Lambda()], []), ast.Name("__undefined__"):
                return self._when(op, negated(self.compared(">", Part("size", self.denoted(left).of), 0)))  # type: ignore[union-attr]
            case _, ast.Name("__undefined__"):
                return self._when(op, Test(self._place(left), ln.MISSING))
        first, second = self.denoted(left), self.denoted(right)
        if isinstance(first, Part) and first.kind == "literal":
            first, second, op = second, first, ln.MIRRORED[op]
        if not isinstance(second, Part):
            raise NoLine
        return self.compared(op, first, second.value if second.kind == "literal" else second)

    def _when(self, op: str, condition: Condition) -> Condition:
        if op not in ("==", "!="):
            raise NoLine
        return condition if op == "==" else negated(condition)

    def _nullish(self, place: Place) -> Condition:
        return joined("or", (Test(place, ln.MISSING), Test(self._json(place), ln.described("null"))))

    def compared(self, op: str, left: Denoted, right: Any) -> Condition:
        """A comparison with a literal."""
        is_number = isinstance(right, int | float) and not isinstance(right, bool)
        match left:
            case Place() if isinstance(right, Part) and right.kind == "approx":
                return self._when(op, Test(self._json(left), ln.within(right.value, right.of)))
            case Part("type" | "typeof" as kind, of):
                name = right.of if isinstance(right, Part) and right.kind == "unknown" else right
                if kind == "typeof" and name == "object":  # of lists and of null, too
                    raise NoLine
                return self._when(op, self.typed(of, name))
            case Place() if not isinstance(right, Part):
                return self._when(op, self.equal(left, right)) if op in ("==", "!=") else self._ordered(op, left, right)
            case Part("names" | "set of names" as kind) if isinstance(right, list):
                return self._when(op, self._names(kind, right))
            case Part("call name") if isinstance(right, str):
                return self._when(op, Fact("", "", (right,)))
            case Part("success") if isinstance(right, bool):
                return self._when(op, ln.SUCCEEDS if right else negated(ln.SUCCEEDS))
            case Test() | Fact() | Both() if isinstance(right, bool | None):  # `re.search(..) is not None`
                return self._when(op, left if right else negated(left))
            case Part() if is_number:
                return self._number(op, left, right)
        raise NoLine

    def _number(self, op: str, left: Part, number: float) -> Condition:
        match left:
            case Part("run", word, unit):
                return self.run(op, word, unit, number)
            case Part("measure", place, word):
                return Test(place, ln.measured(word, op, number))
            case Part("size", Place() as place):
                return self.size(op, place, number)
            case Part("size", Part() as of):
                return self._sized(op, of, number)
            case Part("distance", place, middle) if op == "<=":
                return Test(place, ln.within(number, middle))
            case Part("found" | "occurrences" as kind, place, text):
                limits = -1 if kind == "found" else 0
                if (op, number) in ((">", limits), (">=", limits + 1), ("!=", limits)):
                    return self.contains(place, text)
                if (op, number) in (("==", limits), ("<", limits + 1), ("<=", limits)):
                    return negated(self.contains(place, text))
                if kind == "found" and (op, number) == ("==", 0):
                    return self.edge(place, "starts with", text)
                if kind == "occurrences":
                    folded = self._folded(place, text)
                    return Test(place.plain(), ln.occurring(text, op, number, folded=folded))
        raise NoLine

    def _ordered(self, op: str, place: Place, number: Any) -> Condition:
        return Test(self._json(place), ln.compared(op, number))

    def _folded(self, place: Place, text: Any) -> bool:
        """Whether case is ignored; refuses a text that is never in a text of one case."""
        if not place.folded:
            return False
        self.notes.add("case")
        if not isinstance(text, str) or text != (text.lower() if place.folded == "lower" else text.upper()):
            raise NoLine
        return True

    def equal(self, place: Place, value: Any) -> Condition:
        """Ask that a place is a value."""
        folded = self._folded(place, value)
        if place.trimmed and value == "":
            return self.size("==", place, 0)
        if place.trimmed:
            return self._trimmed(place, r"^\s*", value, r"\s*$", folded=folded)
        if folded:
            return Test(place.plain(), ln.asked(f"equals {ln.literal(value)} ignoring case"))
        if place == Place() and not isinstance(value, str):
            raise NoLine
        return Test(place, ln.equal(value))

    def edge(self, place: Place, verb: str, text: Any) -> Condition:
        """Ask that a text starts or ends with another."""
        if not isinstance(text, str):
            raise NoLine
        folded = self._folded(place, text)
        if place.trimmed:
            before, after = (r"^\s*", "") if verb == "starts with" else ("", r"\s*$")
            return self._trimmed(place, before, text, after, folded=folded)
        return Test(place.plain(), ln.asked(f"{verb} {ln.literal(text)}{' ignoring case' * folded}"))

    def _trimmed(self, place: Place, before: str, text: Any, after: str, *, folded: bool) -> Condition:
        if not isinstance(text, str) or not text or text != text.strip():
            raise NoLine
        self.notes.add("spaces")
        return Test(place.plain(), ln.matches(before + ln.escaped(text) + after, "i" * folded))

    def contains(self, place: Place, value: Any) -> Condition:
        """Ask that a text or a list contains a value."""
        if place.root == "response" and not isinstance(value, str):
            raise NoLine
        if place.trimmed and (not isinstance(value, str) or value != value.strip()):
            raise NoLine
        return Test(place.plain(), ln.contains(value, folded=self._folded(place, value)))

    def matches(self, place: Denoted, pattern: Part) -> Condition:
        """Ask that a text matches a regular expression."""
        if not isinstance(place, Place) or place.folded or place.trimmed:
            raise NoLine
        if pattern.foreign:
            self.notes.add("pattern")
        return Test(place, ln.matches(pattern.of, pattern.value))

    def _json(self, place: Denoted) -> Place:
        if not isinstance(place, Place) or place.root == "response" or place.folded or place.trimmed:
            raise NoLine
        return place

    def _place(self, node: ast.expr) -> Place:
        return self._json(self._known(self.denoted(node)))

    def run(self, op: str, word: str, unit: str, number: float) -> Condition:
        """A limit of the run."""
        if unit == "?":  # seconds or milliseconds?
            if number < 100:
                raise NoLine
            unit = "ms"
            self.notes.add("seconds")
        if word == "latency" and unit == "ms" and number >= 1000 and number % 500 == 0:
            number, unit = number / 1000, "s"
        limit = f"${ln.number_of(number)}" if unit == "$" else f"{ln.number_of(number)}{unit}"
        return fact(f"{word} {op} {limit}", f"{word} {ln.OPPOSITE[op]} {limit}")

    def _sized(self, op: str, of: Part, number: float) -> Condition:
        match of:
            case Part("items", place):
                return Test(place, ln.measured("count", op, number))
            case Part("words" | "lines" as word, place):
                return Test(place, ln.measured(word, op, number))
            case Part("calls", str() as tool):
                return self.times(tool, op, number)
            case Part("calls" | "names"):
                n = ln.whole(number)
                return fact(f"tool count {op} {n}", f"tool count {ln.OPPOSITE[op]} {n}")
            case Part("listed") if (op, number) in _SOME:
                return self.quantified("any", of)
            case Part("listed") if (op, number) in _NONE:
                return negated(self.quantified("any", of))
            case Part("listed"):
                return self.times(self._tool_of(of), op, number)
        raise NoLine

    def size(self, op: str, place: Place, number: float) -> Condition:
        """A comparison of the length of a text or a list."""
        if place.folded or (place.trimmed and (op, number) not in _SOME | _NONE):
            raise NoLine
        if place.trimmed:
            test = Test(place.plain(), ln.Predicate("non-empty", "not non-empty"))
            return test if (op, number) in _SOME else negated(test)
        if place.root == "response":
            return Test(place, ln.measured("length", op, number))
        if place.path and place.path[-1] == "*":
            place = Place(place.root, place.path[:-1])
        elif not _is_plural(place):  # a text or a list?
            either = [Test(place, ln.measured(word, op, number)) for word in ("count", "length")]
            texts = [" or ".join(map(ln.written, each)) for each in (either, map(negated, either))]
            return fact(f"({texts[0]})", f"({texts[1]})")
        else:
            self.notes.add("length")
        return Test(place, ln.measured("count", op, number))

    def times(self, tool: str, op: str, number: float) -> Condition:
        """How often a tool is called."""
        n = int(ln.whole(number))
        called, never = (f"tool {ln.name_of(tool)} {word}" for word in ("called", "not called"))
        if (op, n) in _SOME | _NONE:
            return fact(called, never) if (op, n) in _SOME else fact(never, called)
        often = "once" if n == 1 else f"{n} times"
        least, most = {">=": n, ">": n + 1}, {"<=": n, "<": n - 1}
        if op in least:
            return fact(f"{called} at least {least[op]} times", f"{called} at most {least[op] - 1} times")
        if op in most:
            return fact(f"{called} at most {most[op]} times", f"{called} at least {most[op] + 1} times")
        return self._when(op, fact(f"{called} {often}", f"{never} {often}"))

    def typed(self, of: Denoted, name: object) -> Condition:
        """Ask that a place has a type."""
        place, word = self._json(of), names.TYPES.get(name) if isinstance(name, str) else None
        if name in ("NoneType", "null", "undefined"):
            return Test(place, ln.MISSING if name == "undefined" else ln.described("null"))
        if word is None or name == "float":
            raise NoLine
        if word == "integer":
            self.notes.add("integer")
        return Test(place, ln.described(f"{'an' if word[0] in 'io' else 'a'} {word}"))

    def _names(self, kind: str, listed: list[Any]) -> Condition:
        if kind == "names":
            return fact(f"tools called {ln.names_of(listed)}", f"not tools called {ln.names_of(listed)}")
        return joined("and", [fact(f"tools {word} {ln.names_of(listed)}") for word in ("include", "only")])

    def _has_key(self, of: Denoted, key: Any) -> Condition:
        if not isinstance(key, str):
            raise NoLine
        return Test(self._json(of).member(key), ln.EXISTS)

    def _member(self, item: Denoted, of: Denoted) -> Condition:
        """`item in of`."""
        match item, of:
            case Part("literal", _, str() as key), Place("json" | "call", ()) | Part("keys"):
                return self._has_key(of.of if isinstance(of, Part) else of, key)
            case Part("literal", _, value), Place():
                if "*" in of.path:
                    before, after = ln.cut(of)
                    return ln.items("any", before, Test(after, ln.equal(value)))
                if of == Place("item") and re.fullmatch(r"\w+", str(value)):
                    raise NoLine  # a key of the item, or a part of it?
                self.notes.update({"item"} if of.root != "response" else ())
                return self.contains(of, value)
            case Part("literal", _, str() as tool), Part("names" | "set of names"):
                return self.times(tool, ">=", 1)
            case Part("literal", _, value), Part("listed"):
                return self.quantified("any", of, lambda found: self.compared("==", found, value))
            case Place(), Part("literal", _, list() as values) if all(isinstance(each, str) for each in values) or (
                item.root != "response" and not item.folded
            ):
                if item.trimmed:
                    raise NoLine
                folded = all(self._folded(item, value) for value in values)
                return Test(item.plain(), ln.asked(ln.one_of(values).text + " ignoring case" * folded))
            case Part("call name"), Part("literal", _, list() as tools) if tools:
                return Fact("", "", tuple(tools))
        raise NoLine

    # --- quantifiers ---

    def quantified(
        self, quantifier: str, of: Denoted, asked: Callable[[Denoted], Condition] | None = None
    ) -> Condition:
        """A condition of any or every item of what is listed."""
        kept: list[tuple[str, ast.expr]] = []
        value: tuple[str, ast.expr] | None = None
        if isinstance(of, Part) and of.kind == "listed":
            kept, value = of.value
            of = of.of

        def inside(item: Denoted) -> Condition:
            conditions = [self._asked(each, item) for each in kept]
            if asked:
                conditions.append(asked(self._with(value, item, self.denoted) if value else item))
            return joined("and", conditions)

        match of:
            case Part("listed"):
                return self.quantified(quantifier, of, inside) if not kept or quantifier == "any" else _none()
            case Part("literal", _, list() as values) if 0 < len(values) <= 20:
                each = [inside(Part("literal", None, one)) for one in values]
                return joined("or" if quantifier == "any" else "and", each)
            case Part("names"):
                return self._of_calls(quantifier, None, inside(Part("call name")))
            case Part("calls", tool):
                if kept and quantifier == "every" and asked:
                    tool, kept = self._tool_of(Part("listed", of, (kept, None))), []
                return self._of_calls(quantifier, tool, inside(Part("call", tool)))
            case Place() if not (kept and asked and quantifier == "every"):
                before, after = ln.cut(of) if "*" in of.path else (self._json(of), Place("item"))
                found = inside(after)
                several = found.parts if quantifier == "any" and isinstance(found, Both) and found.word == "or" else ()
                return joined("or", [ln.items(quantifier, before, part) for part in several or (found,)])
        raise NoLine

    def _with(self, function: tuple[str, ast.expr], value: Denoted, read: Callable[[ast.expr], Any]) -> Any:
        before = self._variables.copy()
        self._variables[function[0]] = value
        try:
            return read(function[1])
        finally:
            self._variables = before

    def _asked(self, function: tuple[str, ast.expr], value: Denoted) -> Condition:
        return self._with(function, value, self.condition)  # type: ignore[no-any-return]

    def _of_calls(self, quantifier: str, tool: str | None, inside: Condition) -> Condition:
        several = inside.parts if isinstance(inside, Both) and inside.word == "and" else (inside,)
        named = [part.tools for part in several if isinstance(part, Fact) and part.tools]
        others = [part for part in several if isinstance(part, Test)]
        if len(named) + len(others) < len(several):
            outcome = (quantifier, *several)
            if tool is None and outcome in (("every", ln.SUCCEEDS), ("any", negated(ln.SUCCEEDS))):
                return ln.NO_ERRORS if quantifier == "every" else negated(ln.NO_ERRORS)
            raise NoLine
        if tool is None and len(named) != 1:
            raise NoLine
        tools = (tool,) if tool else named[0]
        if quantifier == "every" and not tool:
            if others:
                raise NoLine
            return fact(f"tools only {ln.names_of(tools)}")
        if not others:
            return joined("or", [self.times(each, ">=", 1) for each in tools])
        return joined("or", [ln.calls(quantifier, each, joined("and", others)) for each in tools])

    def _tool_of(self, listed: Part) -> str:
        """The tool whose calls a filter on names gives."""
        kept, value = listed.value
        if listed.of == _CALLS and len(kept) == 1 and value is None:
            found = self._asked(kept[0], Part("call"))
            if isinstance(found, Fact) and len(found.tools) == 1:
                return found.tools[0]
        raise NoLine

    # --- what an expression is ---

    def denoted(self, node: ast.expr) -> Denoted:
        """The value of an expression, or the condition that it is."""
        match node:
            case ast.Name(name):
                return self._name(name)
            case ast.Attribute(of, key):
                return self._expectation(node) or self._attribute(of, key)
            case ast.Subscript(of, ast.Constant(str() | int() as key)) if not isinstance(key, bool):
                found = self._known(self.denoted(of), used=True)
                if isinstance(key, int) and isinstance(found, Place) and not _is_plural(found):
                    raise NoLine  # a letter of a text, or an item?
                return found.member(key)  # type: ignore[union-attr]
            case ast.Call(function, arguments, keywords):
                return self._expectation(node) or self._call(function, arguments, keywords)
            case ast.GeneratorExp(elt, [one]) | ast.ListComp(elt, [one]) | ast.SetComp(elt, [one]):
                return self._comprehension(node, elt, one)
            case ast.BinOp(left, ast.Sub(), right):
                return Part("difference", self._place(left), self._constant(right))
            case ast.Compare() | ast.BoolOp() | ast.UnaryOp(ast.Not()):
                return self.condition(node)
        return Part("literal", None, self._constant(node))

    def _constant(self, node: ast.expr) -> Any:
        try:
            value = (
                [ast.literal_eval(each) for each in node.elts] if isinstance(node, ast.Set) else ast.literal_eval(node)
            )
        except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
            raise NoLine from None
        return list(value) if isinstance(value, tuple) else value

    def _name(self, name: str) -> Denoted:
        if name in self._variables:
            return self._variables[name]
        known = names.key(name)
        if name == "__root__" or known in names.JSON:
            self.notes.add("fence")
            return Place("json")
        if known in names.CALL_NAMES or known in names.CALLS:
            return Part("names") if known in names.CALL_NAMES else _CALLS
        if known in names.RUNS:
            return Part("run", *names.RUNS[known])
        return Place() if known in names.RESPONSE else Part("unknown", name)

    def _known(self, found: Denoted, *, used: bool = False) -> Denoted:
        """A bare name that is used as a list or an object is taken for a member of the response's JSON."""
        if isinstance(found, Part) and found.kind == "unknown":
            if names.key(found.of) in names.NO_PATHS or not _is_plural(Place("json", (found.of,))):
                raise NoLine
            self.notes.add("fence")
            return Place("json", (found.of,))
        if used and not isinstance(found, Place):
            if isinstance(found, Part) and found.kind == "call":
                return _Call(found.of)  # type: ignore[return-value]
            raise NoLine
        if used and found.root == "response":  # type: ignore[union-attr]
            self.notes.add("fence")
        return found

    def _attribute(self, of: ast.expr, key: str) -> Denoted:
        found, known = self.denoted(of), names.key(key)
        if found == Part("unknown", "pm") and key == "response":
            return Place()
        if found == Part("unknown", "usage") and known in names.RUNS:
            return Part("run", *names.RUNS[known])
        if key == "length" and isinstance(found := self._known(found), Place | Part):
            return Part("size", found)
        match found:
            case Place("response", (), "", False) if known in names.RESPONSE:
                return found  # `result.output`
            case Place("response", (), "", False) if known in names.CALLS:
                return _CALLS
            case Place("response", ()) if known in names.RUNS:
                return Part("run", *names.RUNS[known])
            case Place("response", ()) if known in names.NOT_JSON and ast.unparse(of) != "output":
                raise NoLine
        return self._known(found, used=True).member(key)  # type: ignore[union-attr]

    def _comprehension(self, node: ast.expr, value: ast.expr, one: ast.comprehension) -> Denoted:
        if not isinstance(one.target, ast.Name) or one.is_async:
            raise NoLine
        name, of = one.target.id, self._known(self.denoted(one.iter))
        kept = [(name, condition) for condition in one.ifs]
        mapped = None if isinstance(value, ast.Name) and value.id == name else (name, value)
        found = self._listed(of, kept, mapped)
        if isinstance(node, ast.SetComp):
            return Part("set of names") if found == Part("names") else _none()
        return found

    def _listed(self, of: Denoted, kept: list[tuple[str, ast.expr]], value: tuple[str, ast.expr] | None) -> Denoted:
        if isinstance(of, Part) and of.kind == "listed":
            before, mapped = of.value
            if not mapped:
                of, kept = of.of, [*before, *kept]
        if of == _CALLS and value and not kept and self._with(value, Part("call"), self._tried) == Part("call name"):
            return Part("names")
        return Part("listed", of, (kept, value)) if kept or value else of

    def _tried(self, node: ast.expr) -> Denoted | None:
        try:
            return self.denoted(node)
        except NoLine:
            return None

    def _expectation(self, node: ast.expr) -> Condition | None:
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
        denoted = [self.denoted(each) for each in given or ()]
        values = [each.value if isinstance(each, Part) and each.kind == "literal" else each for each in denoted]
        if "toBeCloseTo" in words:
            raise NoLine  # digits, where others take a distance
        verb, found = " ".join(words), self.denoted(subject)
        if re.search(r"[cC]alled", verb):
            return self._verbs.called(found, verb, values)
        if re.fullmatch(r"(?:.* )?(?:an?|toBeTypeOf)", verb) and len(values) == 1:
            verb, values = f"{verb} {values[0]}", []
        return self._verbs.asked(self._known(found), verb, values)

    def _call(self, function: ast.expr, arguments: list[ast.expr], keywords: list[ast.keyword]) -> Denoted:
        name = ast.unparse(function)
        named = {each.arg or "": each.value for each in keywords}
        if found := re.fullmatch(r"re\.(search|match|fullmatch|findall)", name):
            whole = {"match": "^(?:{})", "fullmatch": "^(?:{})$"}.get(found[1], "{}")
            pattern, text, flags = (*arguments, named.get("flags"), None)[:3]
            if not isinstance(pattern, ast.Constant) or text is None or set(named) - {"flags"}:
                raise NoLine
            return self.matches(self.denoted(text), regex(pattern.value, flags, whole))
        if name in _FUNCTIONS:
            try:
                return _FUNCTIONS[name](self, *arguments, **named)
            except TypeError:  # other arguments than it takes
                raise NoLine from None
        if isinstance(function, ast.Attribute) and not named:
            return self._method(self._known(self.denoted(function.value)), names.key(function.attr), arguments)
        raise NoLine

    def _method(self, of: Denoted, method: str, arguments: list[ast.expr]) -> Denoted:
        match arguments:
            case [ast.Lambda(ast.arguments(args=[parameter]), body)]:
                item = (parameter.arg, body)
                if method in ("every", "all", "some", "any"):
                    return self.quantified(_QUANTIFIERS[method], of, lambda found: self._asked(item, found))
                if method == "find":
                    return Part("item", self._listed(of, [item], None))
                if method in ("filter", "map"):
                    return self._listed(of, *(([item], None) if method == "filter" else ([], item)))
                raise NoLine
        given = [self.denoted(each) for each in arguments]
        if method in ("includes", "contains", "include") and len(given) == 1:
            return self._member(given[0], of)
        if isinstance(of, Part) and of.kind == "regex" and method in ("test", "exec") and len(given) == 1:
            return self.matches(given[0], of)
        if not isinstance(of, Place):
            raise NoLine
        return self._text_method(of, method, given) or self._json_method(of, method, given)

    def _text_method(self, of: Place, method: str, given: list[Denoted]) -> Denoted | None:
        match of, method, given:
            case Place(), "match", [Part("regex") as pattern]:
                return self.matches(of, pattern)
            case Place(), "startswith" | "endswith", [Part("literal", _, list() as texts)]:
                return joined("or", [self.edge(of, f"{method.removesuffix('with')} with", text) for text in texts])
            case Place(), "startswith" | "endswith", [Part("literal", _, text)]:
                return self.edge(of, f"{method.removesuffix('with')} with", text)
            case Place(), "lower" | "casefold" | "tolowercase" | "tolocalelowercase" | "upper" | "touppercase", []:
                return of._replace(folded="upper" if "upper" in method else "lower")
            case Place(), "strip" | "trim", []:
                return of._replace(trimmed=True)
            case Place(), "count" | "indexof" | "find" | "rfind" | "lastindexof", [
                Part("literal", _, str() as text)
            ] if text:
                return (
                    Part("occurrences" if method == "count" else "found", of, text) if not _is_plural(of) else _none()
                )
            case Place(), "splitlines", []:
                return self._split("lines", of)
            case Place(), "split", [Part("literal", _, "\n") | Part("regex", r"\r?\n" | r"\n", "")]:
                return self._split("lines", of)
            case Place(), "split", [] | [Part("literal", _, " ") | Part("regex", r"\s+", "")]:
                return self._split("words", of)
        return None

    def _json_method(self, of: Place, method: str, given: list[Denoted]) -> Denoted:
        match method, given:
            case "text", [] if of == Place():
                return of
            case "json", [] if of == Place():
                self.notes.add("fence")
                return Place("json")
            case "get", [Part("literal", _, str() as key)]:
                return of.member(key)
            case "hasownproperty", [Part("literal", _, key)]:
                return self._has_key(of, key)
            case "keys", []:
                return Part("keys", of)
        raise NoLine

    def _split(self, word: str, of: Place) -> Part:
        self.notes.add(word)
        return Part(word, of.plain())

    # --- functions ---

    def _loads(self, text: ast.expr) -> Denoted:
        if self.denoted(text) not in (Place(), Place(trimmed=True)):
            raise NoLine
        self.notes.add("fence")
        return Place("json")

    def _isinstance(self, of: ast.expr, kind: ast.expr) -> Condition:
        name = ast.unparse(kind)
        if name in ("(int, float)", "(float, int)"):
            self.notes.add("integer")
            name = "number"
        return self.typed(self.denoted(of), "list" if name == "Array" else name)

    def _all(self, quantifier: str, of: ast.expr) -> Condition:
        listed = self._known(self.denoted(of))
        if not isinstance(listed, Part) or listed.kind != "listed" or not listed.value[1]:
            raise NoLine
        return self.quantified(quantifier, listed, self._truth_of)

    def _truth_of(self, found: Denoted) -> Condition:
        return self._truth(found) if isinstance(found, Place | Part) else found

    def _set(self, of: ast.expr) -> Denoted:
        found = self.denoted(of)
        if found == Part("names"):
            return Part("set of names")
        if not isinstance(found, Part) or found.kind != "literal":
            raise NoLine
        return found

    def _abs(self, of: ast.expr) -> Denoted:
        found = self.denoted(of)
        if not isinstance(found, Part) or found.kind != "difference":
            raise NoLine
        return Part("distance", found.of, found.value)

    def _approx(self, number: ast.expr, **named: ast.expr) -> Denoted:
        if set(named) != {"abs"}:
            raise NoLine
        return Part("approx", self._constant(number), self._constant(named["abs"]))

    def _at(self, path: ast.expr) -> Denoted:
        steps = path_steps(self._constant(path))
        if not steps:
            raise NoLine
        is_size = steps[-1] == "length" and len(steps) > 1
        return Part("size", Place("json", steps[:-1])) if is_size else Place("json", steps)


_QUANTIFIERS: Final = {"every": "every", "all": "every", "some": "any", "any": "any"}
_FUNCTIONS: Final[Mapping[str, Callable[..., Denoted]]] = {
    "len": lambda self, of: Part("size", self._known(self.denoted(of))),
    "isinstance": Meaning._isinstance,
    "all": lambda self, of: self._all("every", of),
    "any": lambda self, of: self._all("any", of),
    "set": Meaning._set,
    "list": lambda self, of: self.denoted(of),
    "type": lambda self, of: Part("type", self.denoted(of)),
    "__type__": lambda self, of: Part("type", self.denoted(of)),
    "__typeof__": lambda self, of: Part("typeof", self.denoted(of)),
    "__regex__": lambda self, source, flags: Part(
        "regex", self._constant(source), "".join(sorted(self._constant(flags)))
    ),
    "__nullish__": lambda self, of: self._nullish(self._place(of)),
    "__has__": lambda self, of, key: self._has_key(self._known(self.denoted(of)), self._constant(key)),
    "__at__": Meaning._at,
    "bool": lambda self, of: self.condition(of),
    "Boolean": lambda self, of: self.condition(of),
    "abs": Meaning._abs,
    "Math.abs": Meaning._abs,
    "approx": Meaning._approx,
    "pytest.approx": Meaning._approx,
    "json.loads": Meaning._loads,
    "JSON.parse": Meaning._loads,
    "Array.isArray": lambda self, of: self.typed(self.denoted(of), "array"),
    "Number.isInteger": lambda self, of: Test(self._place(of), ln.described("an integer")),
    "Object.keys": lambda self, of: Part("keys", self._place(of)),
}
"""Functions that are known."""


class _Call:
    """The call that a function is about."""

    def __init__(self, tool: str | None) -> None:
        self._tool = tool

    def member(self, key: object) -> Denoted:
        """Its name, its arguments or whether it succeeded."""
        known = names.key(str(key))
        if known in _CALL_NAME and self._tool is None:
            return Part("call name")
        if known in _ARGUMENTS:
            return Place("call")
        if known in ("success", "succeeded") and self._tool is None:
            return ln.SUCCEEDS
        if known == "function":
            return Part("call", self._tool)
        raise NoLine


def _none() -> Any:
    raise NoLine


def _is_plural(place: Place) -> bool:
    """Whether a place is a list by its name."""
    name = place.path[-1] if place.path else "data" if place.root == "json" else ""
    return isinstance(name, str) and bool(re.search(r"[^su]s$|List$|_list$|^(?:data|list|children|people)$", name))
