"""From source texts to everything that is wrong with them; what is sound need not become suites for that."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec

from evalc.compiler.compiled import Compilation
from evalc.compiler.lock import LOCK_NAME
from evalc.compiler.options import CompileOptions
from evalc.compiler.pipeline import Compiler, Text, is_json
from evalc.diagnostics.ignores import mentions_ignoring
from evalc.source import Source

if TYPE_CHECKING:
    from evalc.compiler.sound import Facts

LEAST: Final = 100_000
"""How many characters are worth a process of their own."""


def check_sources(
    subjects: Iterable[str | Path | Source],
    options: CompileOptions,
    *,
    processes: int | None = None,
    least: int = LEAST,
) -> Compilation:
    """The problems that `compile_sources` finds; its suites but for those of sound texts.

    Args:
        subjects: sources, and paths of files, folders and globs.
        options: how they are compiled.
        processes: how many processes may work on them side by side; None: as many as are of use here.
        least: how many characters are worth a process of their own.
    """
    wanted = list(subjects)
    compiler = Compiler(options)
    texts = list(compiler.open(wanted))
    sound = _sound(texts, compiler, processes, least) if _may_be_apart(options) else {}
    for text in texts:
        if text not in sound:
            compiler.add(text)
    if sound and _clash(compiler, sound.values()):  # where that is told is up to the order of all texts
        return check_sources(wanted, options, processes=1)
    compilation = compiler.finish()
    evals = sum(facts.is_eval for facts in sound.values())
    return msgspec.structs.replace(compilation, files=compilation.files + evals)


def _clash(compiler: Compiler, sound: Iterable[Facts]) -> bool:
    """Whether two suites are compiled to files of one name."""
    outputs = [*compiler.outputs, *(name for facts in sound for name in facts.outputs)]
    return len(set(outputs)) < len(outputs)


def _may_be_apart(options: CompileOptions) -> bool:
    """Whether sound suites are needed no more: the cases of a lock are looked up in them."""
    return options.lock_folder is None or not (options.lock_folder / LOCK_NAME).exists()


def _sound(texts: Sequence[Text], compiler: Compiler, processes: int | None, least: int) -> Mapping[Text, Facts]:
    """The texts in which nothing is wrong, as far as several processes have looked at them."""
    shared = [text for text in texts if not (is_json(text.source) or mentions_ignoring(text.source))]
    worth = sum(len(text.source.text) for text in shared) // least
    if worth < 2:
        return {}
    # For start-up: most checks are of little text.
    from evalc.compiler.sound import find_sound  # noqa: PLC0415
    from evalc.forks import useful_processes  # noqa: PLC0415

    processes = min(worth, useful_processes() if processes is None else processes)
    return find_sound(shared, compiler, processes) if processes > 1 else {}
