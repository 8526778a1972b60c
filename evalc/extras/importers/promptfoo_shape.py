"""Shapes an imported suite as people write one: what all cases have is said once."""

from __future__ import annotations

import json
import re
from collections.abc import Container, Sequence
from typing import Any, Final

from evalc.dsl.write_yaml import Noted

_LIMIT: Final = re.compile(r"(latency|cost) <= \S+")


def taken_out(cases: Sequence[dict[str, Any]], given: Container[str]) -> dict[str, Any]:
    """Take out the checks that all cases have, and inputs that are `given`; the key `defaults` that says them."""
    if len(cases) < 2:
        return {}
    checks: dict[str, list[Noted]] = {}
    for case in cases:
        for each in case["validate"].value:
            checks.setdefault(json.dumps(each.value), []).append(each)
    had = [[each.value for each in case["validate"].value] for case in cases]
    shared = {
        key: Noted(each[0].value, tuple(comment for one in each for comment in one.comments))
        for key, each in checks.items()
        if len(each) > 1 and all(each[0].value in own or _limited(each[0].value) & _limited(*own) for own in had)
    }
    inputs = {
        name: value
        for name, value in cases[0].get("inputs", {}).items()
        if name in given and all(case["inputs"].get(name, ...) == value for case in cases)
    }
    for case in cases:
        rest = {name: value for name, value in case.get("inputs", {}).items() if name not in inputs}
        own = [each for each in case["validate"].value if json.dumps(each.value) not in shared]
        comments = case["validate"].comments
        for key, left in (("inputs", rest), ("validate", Noted(own, comments) if own else None)):
            if left:
                case[key] = left
            else:
                case.pop(key, None)
        if comments and not own:
            last = [*case][-1]
            case[last] = Noted(case[last], comments)
    found = {key: value for key, value in (("inputs", inputs), ("validate", [*shared.values()])) if value}
    return {"defaults": found} if found else {}


def _limited(*entries: object) -> set[str]:
    """The measures that the entries limit. A limit of a case replaces that of the defaults."""
    return {found[1] for each in entries if isinstance(each, str) and (found := _LIMIT.fullmatch(each))}
