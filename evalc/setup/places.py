"""Finds where the cases in a report were authored."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, final

from evalc.config.settings import Settings

if TYPE_CHECKING:
    from evalc.model.suite import Place


@final
class AuthoredPlaces:
    """Compiles each file once, when the first of its cases is asked for.

    Results hold the places of what did not pass; those of what passed would make them twice as long.

    Args:
        settings: how eval files are compiled.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._files: dict[str, Mapping[str, Mapping[str, Place]]] = {}

    def of(self, file: str, id_: str) -> Mapping[str, Place]:
        """The places of the parts of a case, by JSON pointers from its root; empty if it is not in the file."""
        if file not in self._files:
            self._files[file] = self._read(file)
        return self._files[file].get(id_, {})

    def _read(self, file: str) -> Mapping[str, Mapping[str, Place]]:
        # For start-up: only where a report tells of checks that passed.
        from evalc.compiler.pipeline import compile_sources  # noqa: PLC0415
        from evalc.setup.compile import options_for  # noqa: PLC0415

        compilation = compile_sources([file], options_for(self._settings))
        suites = [suite.to_suite() for suite in compilation.suites]
        return {located.case.id: located.places for suite in suites for located in suite.cases}
