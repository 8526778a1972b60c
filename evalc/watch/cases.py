"""The cases of compiled suites by what they say, so that those that have changed are known."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from evalc.compiler.compiled import CompiledSuite
from evalc.model.json import short_hash, to_json
from evalc.model.suite import CaseKey


def fingerprints(suites: Iterable[CompiledSuite]) -> dict[CaseKey, str]:
    """The hash of every case that would be run, in source order."""
    return {
        CaseKey(suite.key, case.id): short_hash(to_json(case))
        for suite in suites
        for case in suite.cases()
        if case.running
    }


def changed(before: Mapping[CaseKey, str], now: Mapping[CaseKey, str]) -> list[CaseKey]:
    """The cases that are new, or say something else than before."""
    return [key for key, digest in now.items() if before.get(key) != digest]
