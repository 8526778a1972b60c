"""From a compiled suite to `NAME.json.map`, and back: where each part of the compiled file was authored."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import msgspec

from evalc.diagnostics.problem import Diagnostics
from evalc.files import JSON_LIMIT, read_source
from evalc.model.codec import short_hash
from evalc.model.suite import Place
from evalc.source import Source

_VERSION = 1


class _SourceMap(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A source map. `file_hash` is that of the compiled file, so that a map is not believed of another one."""

    version: int
    source: str
    source_hash: str
    file_hash: str
    places: dict[str, Place]


def encode_source_map(source: Source, file_hash: str, places: dict[str, Place]) -> bytes:
    """The bytes of a source map: JSON pointers into the compiled file, each with its place in the source."""
    import hashlib  # noqa: PLC0415 - for start-up: OpenSSL is loaded with it, and most files are not hashed

    digest = hashlib.sha256(source.text.encode()).hexdigest()
    content = _SourceMap(version=_VERSION, source=source.name, source_hash=digest, file_hash=file_hash, places=places)
    return msgspec.json.format(msgspec.json.encode(content), indent=2) + b"\n"


def read_source_map(compiled: Source) -> Mapping[str, Place]:
    """The places of a compiled file, from the map beside it.

    Empty when there is none, when it cannot be read, or when the file has changed since: its own places are told then.
    """
    path = Path(f"{compiled.name}.map")
    if not path.is_file():
        return {}
    source = read_source(path, Diagnostics().add, limit=JSON_LIMIT)
    try:
        found = msgspec.json.decode(source.text, type=_SourceMap) if source is not None else None
    except (msgspec.DecodeError, UnicodeEncodeError):
        return {}
    if found is None or found.version != _VERSION or found.file_hash != short_hash(compiled.text):
        return {}
    return found.places
