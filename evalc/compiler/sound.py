"""From texts to those in which nothing is wrong, found by several processes: a check needs to know no more of them.

Most checks find nothing, in much text. What is sound in all its parts is sound, if the parts do not clash: so a large
text is cut between its cases, each process compiles some of the parts, and tells what shows whether they clash. Of
whatever has a problem, only the whole text says which and where: it is compiled as ever.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import closing
from functools import partial
from typing import Final, NamedTuple, final

import msgspec

from evalc.compiler.compiled import outputs_of
from evalc.compiler.pipeline import Compiler, Text
from evalc.diagnostics.problem import NotSound
from evalc.dsl.parts import parts_of
from evalc.forks import side_by_side
from evalc.source import Source


@final
class Facts(msgspec.Struct, frozen=True, kw_only=True, array_like=True):
    """What there is to know of a text in which nothing is wrong.

    Attributes:
        is_eval: whether it is an eval file at all.
        outputs: the names of the files that its suites are compiled to.
        names: hashes of the names of its cases.
        ids: hashes of the ids of its cases.
    """

    is_eval: bool
    outputs: tuple[str, ...]
    names: frozenset[int]
    ids: frozenset[int]


def find_sound(texts: Sequence[Text], compiler: Compiler, processes: int) -> Mapping[Text, Facts]:
    """The texts in which nothing is wrong, but for what one of them may have against another.

    Each process has a compilation like `compiler`; that itself is left as it is.
    """
    size = sum(len(text.source.text) for text in texts)
    parts = [part for at, text in enumerate(texts) for part in _parts(at, text, size / processes)]
    if len(parts) == 1:
        return {}  # nothing can be done side by side
    told: dict[int, list[Facts]] = {part.of: [] for part in parts}
    with closing(side_by_side(partial(_told, compiler=compiler), _shared_out(parts, processes))) as answers:
        for answer in answers:
            for of, facts in [] if answer is None else _ANSWER.decode(answer):
                if facts is None:
                    told.pop(of, None)
                elif of in told:
                    told[of].append(facts)
            if not told:
                break  # no need to wait for the others
    counts = Counter(part.of for part in parts)
    whole = {of: _whole(facts) for of, facts in told.items() if len(facts) == counts[of]}
    return {texts[of]: facts for of, facts in whole.items() if facts is not None}


# --- parts of texts, and shares of the parts -----------------------------------------------------------------------


class _Part(NamedTuple):
    """A part of a text, or all of it, and which of the texts that is."""

    of: int
    text: Text


def _parts(at: int, text: Text, share: float) -> Iterator[_Part]:
    written = text.source.text
    for part in parts_of(written, round(len(written) / share)):
        yield _Part(at, text if part is written else Text(Source(text.source.name, part), text.named))


def _shared_out(parts: Sequence[_Part], processes: int) -> list[list[_Part]]:
    """The parts, the longest first, each to the process that has the least to do."""
    shares: list[list[_Part]] = [[] for _ in range(min(processes, len(parts)))]
    sizes = [0] * len(shares)
    for part in sorted(parts, key=lambda part: -len(part.text.source.text)):
        least = sizes.index(min(sizes))
        shares[least].append(part)
        sizes[least] += len(part.text.source.text)
    return shares


# --- in each process -----------------------------------------------------------------------------------------------


def _told(share: Sequence[_Part], compiler: Compiler) -> bytes:
    """The facts of each part, None for one with a problem; other parts of its text are of no interest then."""
    told: list[tuple[int, Facts | None]] = []
    sound = compiler.of_sound_texts()
    for of, text in share:
        if (of, None) not in told:
            try:
                told.append((of, _facts_of(text, sound)))
            except NotSound:
                told.append((of, None))
                sound = compiler.of_sound_texts()  # which has not stopped half way
    return msgspec.msgpack.encode(told)


_ANSWER: Final = msgspec.msgpack.Decoder(list[tuple[int, Facts | None]])


def _facts_of(text: Text, compiler: Compiler) -> Facts:
    added = compiler.add(text)
    suites = [suite for suite, _ in added or ()]
    return Facts(
        is_eval=added is not None,
        outputs=tuple(name for suite in suites for name in outputs_of(suite)),
        names=frozenset(hash(part.name) for suite in suites for part in suite.cases.parts),
        ids=frozenset().union(*(ids for _, ids in added or ())),
    )


# --- parts that are put together again -----------------------------------------------------------------------------


def _whole(parts: Sequence[Facts]) -> Facts | None:
    """What the facts of all parts of a text come to; None where the parts clash."""
    first, *others = parts
    if not others:
        return first
    names, ids = [part.names for part in parts], [part.ids for part in parts]
    if not (all(names) and _are_apart(names) and _are_apart(ids)):
        return None
    outputs = dict.fromkeys(name for part in parts for name in part.outputs)
    return Facts(
        is_eval=True,
        outputs=tuple(outputs),
        names=frozenset().union(*names),
        ids=frozenset().union(*ids),
    )


def _are_apart(sets: Collection[frozenset[int]]) -> bool:
    return sum(map(len, sets)) == len(frozenset().union(*sets))
