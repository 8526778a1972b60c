"""Reads a result file's totals, and its cases one at a time.

A file of any other layout is read as a whole, which takes memory with the number of its cases.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeVar, final

import msgspec

from evalc.base.files import open_regular
from evalc.model.result import CaseResult, SkippedCase, SuiteResult
from evalc.runtime.store.past.results import read_result

_LISTS: Final = (b'  "cases": [', b'  "skipped": [')
_ITEM: Final = b"    {"
_ITEM_ENDS: Final = (b"    }", b"    },")
_LIST_ENDS: Final = (b"  ]", b"  ],")


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class LoadedSuite:
    """A suite of a past run: `result` is everything in the file but its cases, run and skipped, which are read anew."""

    result: SuiteResult
    cases: Iterable[CaseResult]
    skipped: Iterable[SkippedCase]


def read_suite(file: Path) -> LoadedSuite:
    """The suite of a result file.

    Raises:
        UsageError: it cannot be read, is too large, or is not a result.
    """
    result = _totals(file)
    if result is not None:
        return LoadedSuite(
            result=result,
            cases=_Streamed(file, _LISTS[0], CaseResult),
            skipped=_Streamed(file, _LISTS[1], SkippedCase),
        )
    whole = read_result(file, SuiteResult)
    rest = msgspec.structs.replace(whole, cases=(), skipped=())
    return LoadedSuite(result=rest, cases=whole.cases, skipped=whole.skipped)


def _totals(file: Path) -> SuiteResult | None:
    """The result without its cases; None if the file is not laid out as evalc does, or is not a result."""
    kept: list[bytes] = []
    inside = False
    cases = 0
    try:
        with open_regular(file) as lines:
            for line in lines:
                bare = line.rstrip(b"\r\n")
                if inside:
                    inside = bare not in _LIST_ENDS
                    cases += bare == _ITEM
                    if not inside:
                        kept.append(bare)
                else:
                    kept.append(bare)
                    inside = bare in _LISTS
        result = msgspec.json.decode(b"\n".join(kept), type=SuiteResult)
    except (OSError, ValueError, msgspec.DecodeError, RecursionError):
        return None
    # Of another layout, cases are in what is kept, or there are fewer items than the summary says.
    summary = result.summary
    return result if not result.cases and cases == summary.total_cases + summary.skipped else None


Item = TypeVar("Item", bound=msgspec.Struct)


@final
class _Streamed(Iterable[Item]):
    """The items of a list of a result file, each decoded when it is its turn."""

    def __init__(self, file: Path, opening: bytes, kind: type[Item]) -> None:
        self._file = file
        self._opening = opening
        self._decoder = msgspec.json.Decoder(kind)

    def __iter__(self) -> Iterator[Item]:
        with open_regular(self._file) as lines:
            for line in lines:
                if line.rstrip(b"\r\n") == self._opening:
                    break
            item: list[bytes] = []
            for line in lines:
                bare = line.rstrip(b"\r\n")
                if bare in _LIST_ENDS:
                    return
                item.append(bare)
                if bare in _ITEM_ENDS:
                    item[-1] = _ITEM_ENDS[0]
                    yield self._decoder.decode(b"\n".join(item))
                    item.clear()
