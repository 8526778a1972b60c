"""The checks of promptfoo's tests, as entries of `validate:`, each with the comments above it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, Final, NamedTuple, final

from evalc.base.source import Source
from evalc.check.contract import single_values
from evalc.check.tree import (
    All,
    At,
    Bounds,
    Call,
    Check,
    Not,
    Of,
    Some,
    Step,
    Test,
    all_of,
    asks,
    conjuncts,
    some_of,
    within,
)
from evalc.diagnostics import Finding
from evalc.dsl.nodes import Node, fields_of
from evalc.dsl.write_yaml import Noted
from evalc.extras.importers.imported import Schemas, Unmappable, entry_of, name_of
from evalc.extras.importers.promptfoo_assertions import checks_of, ignored_keys, is_graded
from evalc.extras.importers.promptfoo_code import COMMENT, Code, with_values
from evalc.extras.importers.promptfoo_scores import Scored, enough_of, members_of, weight_of
from evalc.extras.importers.promptfoo_source import FILE, Configuration
from evalc.extras.importers.promptfoo_templates import uses
from evalc.extras.importers.promptfoo_tests import PromptfooTest
from evalc.grammar.write_check import AS_TEMPLATES
from evalc.model.json import is_number
from evalc.translate.trees import negated

_SHORT: Final = 60


class _Found(NamedTuple):
    """The check of an assertion, with the comments above it, and the set that it counts for."""

    check: Check
    assertion: Mapping[str, Any]
    notes: tuple[str, ...]
    of_set: tuple[int, float] | None = None


@final
class Checks:
    """The checks of a configuration's tests.

    Attributes:
        of_default: comments on `defaultTest`, and on what of it is not imported.
        metrics: the metrics that they count for.
        compares_meanings: whether one compares the meanings of texts.
    """

    def __init__(self, given: Configuration, schemas: Schemas) -> None:
        self.of_default: list[str] = []
        self.metrics: dict[str, None] = {}
        self.compares_meanings = False
        self._given = given
        self._schemas = schemas
        self._is_folding_noted = False

    def of(
        self, test: PromptfooTest, values: Mapping[str, Any], code: Code, stored: Iterable[str]
    ) -> tuple[list[Noted], list[str]]:
        """The entries of `validate:`, and comments to stand behind the last of them.

        The `values` are those of the variables, and `stored` are the variables that are answers to other tests.

        Raises:
            Unmappable: promptfoo passes the test always, or never.
        """
        waiting: list[str] = []
        found: list[_Found] = []
        are_all = True
        for source, node, data, is_inherited, of_set in _asserted(test):
            lost = self.of_default if is_inherited else waiting
            above = self._given.comments_above(source, node)
            if not isinstance(data, dict):
                self._given.problems.add(source, node.span, Finding("EV654", what="an assertion", expected="a mapping"))
                continue
            if _weighs_nothing(data):
                why = "its weight is 0, so it decides nothing in promptfoo; here every check has to hold"
                lost += [*above, self._given.leave_out(source, _type_of(node), f"`{data.get('type')}`", why)]
                continue
            try:
                self._refuse_unknown({**data, "of": test.transform}, (*test.unknown, *stored))
                fields = {**data, COMMENT: " ".join(above)} if above else data
                checks, differences = checks_of(fields, values, test.transform, self._keep_schema, code)
            except Unmappable as reason:
                lost += [*above, self._given.leave_out(source, _type_of(node), _shown(data), f"{reason}")]
                test.is_whole = are_all = False
                continue
            counted, notes = self._notes(source, node, data, values, checks)
            waiting += [*([] if _are_named(_functions_of(checks), " ".join(above)) else above), *notes]
            for why in differences:
                waiting.append(self._given.differ(source, _type_of(node), f"`{data.get('type')}`", why))
                test.is_whole = False
            found.append(_Found(all_of(checks), counted, tuple(waiting), of_set))
            waiting = []
        if is_number(test.threshold):
            found = self._enough(test, found, are_all=are_all)
        entries, behind = self._entries(found)
        return entries, [*behind, *waiting]

    def _notes(
        self, source: Source, node: Node, data: Mapping[str, Any], values: Mapping[str, Any], checks: Sequence[Check]
    ) -> tuple[Mapping[str, Any], list[str]]:
        """An assertion that is imported, with its metric filled in, and what is to be said of it."""
        type_, notes = f"`{data.get('type')}`", list[str]()
        if "{{" in str(data.get("metric", "")):
            try:
                data = {**data, "metric": with_values(str(data["metric"]), values)}
            except Unmappable as reason:
                notes.append(self._given.leave_out(source, node, f"`metric` of {type_}", f"{reason}"))
        if isinstance(said := data.get("description"), str) and not _are_named(_functions_of(checks), said):
            notes.append(said)
        for key, why in ignored_keys(data).items():
            notes.append(self._given.leave_out(source, node, f"`{key}` of {type_}", why))
        self.compares_meanings |= any(asks(each, "similar") for each in checks)
        if "icontains" in str(data.get("type")):
            self._note_folding(source, node, type_)
        return data, notes

    def _entries(self, found: Sequence[_Found]) -> tuple[list[Noted], list[str]]:
        """The entries of `validate:` that the checks of a test are, and comments of those that others include."""
        single = [(part, data, notes) for check, data, above, _ in found for part, notes in _parts(check, above)]
        scored = [not data.keys().isdisjoint(("metric", "weight")) for _, data, _ in single]
        placed = _of_one_test([check for check, _, _ in single], scored=scored)
        entries, behind = list[Noted](), list[str]()
        for kept, (_, data, notes) in zip(placed, single, strict=True):
            if kept is None:
                behind += notes
            else:
                entries.append(Noted(self._entry(kept, data), notes))
        return entries, behind

    def _enough(self, test: PromptfooTest, found: list[_Found], *, are_all: bool) -> list[_Found]:
        """The checks that hold where the score of a test reaches its threshold."""
        what, threshold = f"`threshold: {test.threshold}`", float(str(test.threshold))
        if not 0 < threshold <= 1:
            raise Unmappable(f"with {what}, promptfoo passes it always, or never")
        if not found:
            return []
        try:
            if not are_all:
                raise Unmappable("not all that counts for it is imported")
            scored = [Scored(check, weight_of(data), is_graded(data, check), of) for check, data, _, of in found]
            needed, some, differences = enough_of(scored, threshold)
        except Unmappable as reason:
            why = f"{reason}; in promptfoo a score of that much is enough, here every check has to hold"
            test.comments.append(self._given.leave_out(test.source, test.node, what, why))
            test.is_whole = False
            return found
        for why in differences:
            test.comments.append(self._given.differ(test.source, test.node, what, why))
            test.is_whole = False
        kept = [each._replace(check=needed[index]) for index, each in enumerate(found) if index in needed]
        if some is not None:
            others = [each for index, each in enumerate(found) if index not in needed]
            notes = [note for each in others for note in each.notes]
            if any("metric" in each.assertion for each in others):
                why = "a check within a composition has no criterion of its own"
                notes.append(self._given.leave_out(test.source, test.node, "`metric`", why))
            kept.append(_Found(some, {}, (*notes, f"for {what} of promptfoo")))
        return kept

    def _entry(self, check: Check, assertion: Mapping[str, Any]) -> object:
        """The entry of `validate:` that is a check with its metric and weight."""
        metric, weight = assertion.get("metric"), assertion.get("weight", 1)
        criterion = metric if isinstance(metric, str) and metric and "{{" not in metric else None
        if criterion is not None:
            self.metrics.setdefault(criterion)
        is_weight = is_number(weight) and weight >= 0
        return entry_of(_with_lists(check), criterion, weight if is_weight else 1, AS_TEMPLATES, self._keep_schema)

    def _refuse_unknown(self, assertion: Mapping[str, Any], unknown: Sequence[str]) -> None:
        """Refuse an assertion that uses a variable whose value is not known here."""
        text, value = json.dumps(assertion), assertion.get("value")
        path = value.removeprefix(FILE).partition(":")[0] if isinstance(value, str) and value.startswith(FILE) else ""
        code = self._given.read(path).text if path and unknown else ""
        for name in unknown:
            may_use = uses(text + code, name) or re.search(r"\b(?:import|require)\b", code)
            if may_use or (name == "*" and text.count(FILE) > bool(path)):
                why = "code makes a variable that it may use" if name == "*" else f"`{name}` is not known here"
                raise Unmappable(why)

    def _keep_schema(self, schema: object) -> str:
        if isinstance(schema, str):
            self._given.read(schema, (".json",))
            return self._given.relative(schema)
        return self._schemas.keep(schema)

    def _note_folding(self, source: Source, node: Node, type_: str) -> None:
        """Report, once for the file, how cases of letters are compared, and say so in the head of the suite."""
        if not self._is_folding_noted:
            self._is_folding_noted = True
            why = "`ignoring case` takes `ß` for `ss` and the ligature `ﬁ` for `fi`, which promptfoo does not"
            self._given.head.append(self._given.differ(source, _type_of(node), type_, why))


# --- parts -----------------------------------------------------------------------------------------------------------


def _functions_of(checks: Sequence[Check]) -> list[str]:
    """The names of the functions that checks call."""
    tests = (each for check in checks for each in within(check) if isinstance(each, Test))
    return [each.operand[0] for each in tests if each.predicate == "check"]


def _are_named(functions: Sequence[str], said: str) -> bool:
    """Whether the names of functions say all that this says."""
    words = name_of(said, longest=len(said))
    return bool(words) and any(each.endswith(f"_{words}") for each in functions)


_OfSet = tuple[int, float] | None


def _asserted(test: PromptfooTest) -> Iterator[tuple[Source, Node, Any, bool, _OfSet]]:
    """The assertions of a test, with whether `defaultTest` has them, and the set where a score decides."""
    for index, (source, node, data) in enumerate((*test.inherited, *test.assertions)):
        members, of_set = [data], None
        if is_number(test.threshold) and isinstance(data, dict) and data.get("type") == "assert-set":
            with suppress(Unmappable):  # which is said of the set
                members, of_set = members_of(data), (index, weight_of(data))
        yield from ((source, node, each, index < len(test.inherited), of_set) for each in members)


def _parts(check: Check, notes: tuple[str, ...]) -> Iterator[tuple[Check, tuple[str, ...]]]:
    """The checks that all have to hold, the first with the notes."""
    first, *more = conjuncts(check)
    yield first, notes
    yield from ((each, ()) for each in more)


def _weighs_nothing(assertion: Mapping[str, Any]) -> bool:
    weight = assertion.get("weight")
    return weight == 0 and not isinstance(weight, bool) and assertion.get("type") != "assert-set"


def _shown(assertion: Mapping[str, Any]) -> str:
    """An assertion that is lost, with its value where that is short; of code, the reason shows it."""
    type_, value = assertion.get("type"), assertion.get("value")
    is_code = str(type_).endswith(("javascript", "python"))
    is_short = isinstance(value, str) and 0 < len(value) <= _SHORT and not {"`", "\n"} & {*value} and not is_code
    return f"`{type_}: {value}`" if is_short else f"`{type_}`"


def _type_of(node: Node) -> Node:
    """The `type` of an assertion, where messages about it point."""
    return fields_of(node).get("type", node)


# --- alike checks ----------------------------------------------------------------------------------------------------


def _with_lists(check: Check) -> Check:
    """The check with `contains any of` and `contains all of` for `or` and `and` between texts that it contains."""
    match check:
        case Not(inner):
            return Not(_with_lists(inner))
        case Some(checks) | All(checks):
            predicate = "contains_any" if isinstance(check, Some) else "contains_all"
            parts: list[Check] = []
            for each in map(_with_lists, checks):
                texts, before = _contained(each, predicate), _contained(parts[-1], predicate) if parts else None
                if texts and before and texts[0] == before[0]:
                    parts[-1] = Test(predicate, (*before[1], *texts[1]), texts[0])
                else:
                    parts.append(each)
            return some_of(parts) if isinstance(check, Some) else all_of(parts)
        case Test("contains_any" | "contains_all", (str(text),), ignoring_case):
            return Test("contains", text, ignoring_case)
        case _:
            return check


def _contained(check: Check, predicate: str) -> tuple[bool, tuple[str, ...]] | None:
    """Whether a check that texts are contained ignores case, and the texts; None for any other."""
    match check:
        case Test("contains", str(text), ignoring_case):
            return ignoring_case, (text,)
        case Test(name, tuple(texts), ignoring_case) if name == predicate:
            return ignoring_case, texts
        case _:
            return None


def _of_one_test(checks: Sequence[Check], *, scored: Sequence[bool]) -> Sequence[Check | None]:
    """The checks of a test as they are in a case; None for a check that an earlier one includes.

    One call may answer several assertions of promptfoo, where `any call of` would want a call for each: if a call could
    have the arguments of two, both deny that there is none. A case has a limit once: the narrowest, which counts for
    the metric or weight of a check that is `scored`.
    """
    placed: list[Check | None] = []
    limits: dict[Step, int] = {}
    plain: list[Check] = []
    for check, is_scored in zip(checks, scored, strict=True):
        if not is_scored and check in plain:
            placed.append(None)
            continue
        plain += () if is_scored else (check,)
        number = len(placed)
        index = limits.setdefault(check.step, number) if isinstance(check, Of) and single_values(check) else number
        both = None if index == number or (is_scored and scored[index]) else _both(placed[index], check)
        if both is not None:
            placed.append(None)
            kept = number if is_scored else index
            placed[index], placed[kept] = None, both
            limits = {step: kept if at == index else at for step, at in limits.items()}
        elif isinstance(check, Of) and any(_may_be_one_call(check, other) for other in checks):
            placed.append(Not(negated(check)))
        else:
            placed.append(check)
    return placed


def _both(first: Check | None, second: Check) -> Check | None:
    """The one check that holds where both do; None if there is none."""
    match first, second:
        case Of(step, Test("between", Bounds() as one)), Of(_, Test("between", Bounds() as other)):
            if any(bound is not None for bound in (one.above, one.below, other.above, other.below)):
                return first if one == other else None
            least = max((bound for bound in (one.min, other.min) if bound is not None), default=None)
            most = min((bound for bound in (one.max, other.max) if bound is not None), default=None)
            is_empty = least is not None and most is not None and least > most
            return None if is_empty else Of(step, Test("between", Bounds(least, most)))
        case _:
            return first if first == second else None


def _may_be_one_call(one: Check, other: Check) -> bool:
    """Whether one call of a tool could be what a check requires, and what another one requires."""
    match one, other:
        case Of(Call(tool), asked), Of(Call(same), also_asked) if tool == same and one is not other:
            tests, others = _tests(asked), _tests(also_asked)
            return all(others.get(path, test) == test for path, test in tests.items())
        case _:
            return False


def _tests(asked: Check) -> dict[str, Check]:
    """The tests of a call's arguments by their paths."""
    parts = conjuncts(asked)
    return {part.step.path: part.check for part in parts if isinstance(part, Of) and isinstance(part.step, At)}
