"""Opens extras, each of which is entered by its door: `extras.otel` is all that others know of OpenTelemetry.

A door is the `__init__` of its package. It is imported when it is first opened, for start-up time, and never by an
import statement, so that an extra can be left out of an installation (the contracts in `pyproject.toml` see to it).
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from types import ModuleType

    from evalc.extras import (
        challenge,
        comment,
        demo,
        history,
        importers,
        language,
        local,
        lsp,
        otel,
        parquet,
        ray,
        scaffold,
        watch,
    )

__all__ = [
    "challenge",
    "comment",
    "demo",
    "history",
    "importers",
    "language",
    "local",
    "lsp",
    "otel",
    "parquet",
    "ray",
    "scaffold",
    "watch",
]

_NEEDS: Final = {
    "language": ("`is in LANGUAGE`", "py3langid"),
    "local": ("`local`", "xllamacpp"),
    "lsp": ("`evalc lsp`", "pygls"),
    "otel": ("`otel`", "opentelemetry.exporter.otlp.proto.http"),
    "parquet": ("`-o parquet:`", "pyarrow"),
    "ray": ("`--engine ray`", "ray"),
}
"""How those that need packages which are not evalc's are asked for, and what `pip install 'evalc[NAME]'` brings."""


def refuse_missing(name: str) -> None:
    """Do nothing where all that the extra needs is installed.

    Raises:
        UsageError: it is not; the message says what to install.
    """
    # For start-up, and since every session of pytest imports this module.
    from importlib.util import find_spec  # noqa: PLC0415

    from evalc.base.errors import UsageError  # noqa: PLC0415

    if name not in _NEEDS:
        return
    asked, package = _NEEDS[name]
    try:
        found = find_spec(package)
    except ModuleNotFoundError:  # what it is a part of
        found = None
    if found is None:
        raise UsageError(f"{asked} needs packages that are not installed: pip install 'evalc[{name}]'")


def __getattr__(name: str) -> ModuleType:
    """The door of that name, opened.

    Raises:
        UsageError: what it needs is not installed.
    """
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    refuse_missing(name)
    return import_module(f"{__name__}.{name}")
