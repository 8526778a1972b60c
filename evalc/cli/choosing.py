"""From the flags that choose cases to what is wanted, by the attributes of a `Wanted`."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from evalc.errors import UsageError


def wanted_cases(
    named: Sequence[str],
    *,
    keywords: str | None,
    tags: Sequence[str],
    not_tags: Sequence[str],
    ids: Sequence[str],
    tiers: Sequence[str],
    failed_from: str | None,
    last_failed: bool,
    changed_since: str | None,
    repeat: int | None,
) -> Mapping[str, Any]:
    """What is given of the cases; nothing where nothing is. `named` are the arguments, `PATH::CASE` among them.

    Raises:
        UsageError: the flags do not go together.
    """
    if failed_from is not None and last_failed:
        raise UsageError("`--last-failed` is `--failed-from latest`, and all cases where none failed: give one of them")
    _refuse_unknown_tiers(tiers)
    wanted = {
        "cases": [argument for argument in named if names_case(argument)],
        "keywords": keywords,
        "tags": [*tags, *(f"!{tag}" for tag in not_tags)],
        "ids": [*ids],
        "tiers": [*tiers],
        "failed_from": "latest" if last_failed else failed_from,
        "else_all": last_failed,
        "changed_since": changed_since,
        "repeat": repeat,
    }
    return {name: value for name, value in wanted.items() if value not in (None, False, [])}


def names_case(argument: str) -> bool:
    """Whether an argument is `PATH::CASE`, rather than a file that is called so."""
    return "::" in argument and not os.path.lexists(argument)


def path_of(argument: str) -> str:
    """The path of `PATH::CASE`; any other argument as it is."""
    return argument.partition("::")[0] if names_case(argument) else argument


def _refuse_unknown_tiers(tiers: Sequence[str]) -> None:
    from evalc.dsl.build_case import TIERS  # noqa: PLC0415 - for start-up: only where tiers are named

    for tier in tiers:
        if tier not in TIERS:
            raise UsageError(f"`--tier {tier}`: the tiers are {', '.join(f'`{known}`' for known in TIERS)}")
