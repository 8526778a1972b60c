"""From how evalc was installed here to what pip installs the same from on another machine."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, distribution

import msgspec


class _Vcs(msgspec.Struct):
    vcs: str
    commit_id: str


class _Origin(msgspec.Struct):
    """What pip notes of a package that was installed from somewhere else than an index (PEP 610)."""

    url: str
    vcs_info: _Vcs | None = None


def requirement() -> str | None:
    """What `pip install` takes; None where evalc comes from this machine alone, as a folder or a file.

    A plain `evalc` is only what came from an index: on any other the name may be somebody else's.
    """
    try:
        installed = distribution("evalc")
    except PackageNotFoundError:
        return None
    origin = installed.read_text("direct_url.json")
    return f"evalc=={installed.version}" if origin is None else _from_elsewhere(origin)


def _from_elsewhere(noted: str) -> str | None:
    try:
        origin = msgspec.json.decode(noted, type=_Origin)
    except msgspec.DecodeError:
        return None
    if not origin.url.startswith(("https://", "http://", "ssh://")):
        return None
    if origin.vcs_info is None:
        return f"evalc @ {origin.url}"
    return f"evalc @ {origin.vcs_info.vcs}+{origin.url}@{origin.vcs_info.commit_id}"
