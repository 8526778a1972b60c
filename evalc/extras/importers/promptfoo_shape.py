"""Shapes an imported suite as people write one: what is lost often, and long texts, are said once."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from evalc.check.contract import single_values
from evalc.check.tree import All, At, Bounds, Call, Check, Not, Of, Some, Step, Test, all_of, some_of
from evalc.dsl.write_yaml import Anchored, Noted
from evalc.extras.importers.imported import LONG_TEXT, CaseNames
from evalc.extras.importers.promptfoo_source import Loss
from evalc.translate.trees import negated

_OFTEN: Final = 3
_MOST_PLACES: Final = 20


# --- losses ----------------------------------------------------------------------------------------------------------


def losses_once(
    cases: Sequence[Noted], head: Sequence[str], lists: Sequence[list[str]], losses: Mapping[str, Loss]
) -> tuple[list[Noted], list[str]]:
    """The cases without the comments on what is lost three times or more, and the head, which says that once.

    It is taken out of the other `lists` of comments, too.
    """
    said = [*head, *(each for comments in lists for each in comments)]
    said += [comment for case in cases for comment in comments_of(case)]
    groups: dict[tuple[str, str], list[Loss]] = {}
    for loss in (losses[comment] for comment in said if comment in losses):
        groups.setdefault((loss.how, loss.why), []).append(loss)
    in_head = Counter((losses[comment].how, losses[comment].why) for comment in head if comment in losses)
    often = {key for key, each in groups.items() if len(each) >= _OFTEN or in_head[key] > 1}

    def others(comments: Iterable[str]) -> tuple[str, ...]:
        return tuple(
            each for each in comments if each not in losses or (losses[each].how, losses[each].why) not in often
        )

    for comments in lists:
        comments[:] = others(comments)
    found = []
    for case in cases:
        checks = case.value["validate"]
        entries = [Noted(entry.value, others(entry.comments)) for entry in checks.value]
        case.value["validate"] = Noted(entries, others(checks.comments))
        found.append(Noted(case.value, others(case.comments)))
    return found, [*others(head), *(_all_of(each) for key, each in groups.items() if key in often)]


def _all_of(losses: Sequence[Loss]) -> str:
    """One comment for losses that have the same reason."""
    places: dict[str, list[str]] = {}
    for loss in losses:
        places.setdefault(loss.what, []).append(loss.place)
    parts = (f"{what}{_places(each)}" for what, each in places.items())
    return f"{losses[0].how}: {', '.join(parts)}: {losses[0].why}"


def _places(places: Sequence[str]) -> str:
    """The places of one file after the other, as ` (a.yaml:1:3)` or `, 3 times (a.yaml:1:3, 2:3, b.yaml:1:5)`."""
    files = ["", *(place.partition(":")[0] for place in places)]
    shown = [
        place.removeprefix(f"{file}:") if file == before else place
        for place, file, before in zip(places, files[1:], files, strict=False)
    ]
    more = f" and {len(shown) - _MOST_PLACES} more" if len(shown) > _MOST_PLACES else ""
    listed = f" ({', '.join(shown[:_MOST_PLACES])}{more})" if any(shown) else ""
    return f", {len(shown)} times{listed}" if len(shown) > 1 else listed


def comments_of(case: Noted) -> tuple[str, ...]:
    """The comments above a case and within its checks."""
    checks = case.value.get("validate", Noted(()))
    within = (comment for entry in checks.value for comment in entry.comments)
    return tuple(filter(None, (*case.comments, *within, *checks.comments)))


# --- long texts ------------------------------------------------------------------------------------------------------


def said_once(cases: Sequence[Noted]) -> None:
    """Write inputs and messages that are long and repeated once, and refer to them elsewhere."""
    places = [
        (holder, key)
        for case in cases
        for holder, keys in (
            (case.value, ("message", "messages")),
            (case.value.get("inputs"), case.value.get("inputs")),
        )
        if isinstance(holder, dict)
        for key in keys or ()
        if key in holder
    ]
    sizes = Counter(json.dumps(holder[key]) for holder, key in places)
    names: dict[str, str] = {}
    taken = CaseNames()
    for holder, key in places:
        text = json.dumps(holder[key])
        if sizes[text] > 1 and (len(text) > LONG_TEXT or key == "messages"):
            is_first = text not in names
            name = names.setdefault(text, "") or taken.make(key, "text")
            names[text] = name
            holder[key] = Anchored(holder[key], name, is_alias=not is_first)


# --- checks ----------------------------------------------------------------------------------------------------------


def with_lists(check: Check) -> Check:
    """The check with `contains any of` and `contains all of` for `or` and `and` between texts that it contains."""
    match check:
        case Not(inner):
            return Not(with_lists(inner))
        case Some(checks) | All(checks):
            predicate = "contains_any" if isinstance(check, Some) else "contains_all"
            parts: list[Check] = []
            for each in map(with_lists, checks):
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


# --- the checks of one test ------------------------------------------------------------------------------------------


def of_one_test(checks: Sequence[Check], *, scored: Sequence[bool]) -> Sequence[Check | None]:
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
    parts = asked.checks if isinstance(asked, All) else (asked,)
    return {part.step.path: part.check for part in parts if isinstance(part, Of) and isinstance(part.step, At)}
