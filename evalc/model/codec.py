"""Encodes and decodes records of the model: one canonical JSON, the same on every machine."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, final

import msgspec

from evalc.model.case import Case, Envelope, Metadata

_encoder = msgspec.json.Encoder()


def to_json(record: Any) -> bytes:
    """The record as one line of JSON, UTF-8, fields in the order of the model, without a line end."""
    return _encoder.encode(record)


@final
class EnvelopeWriter:
    """The bytes of a compiled file in their order, indented by two: its head, each case, and its end."""

    def __init__(self, metadata: Metadata) -> None:
        self.head = b'{\n  "metadata": ' + _indented(metadata) + b',\n  "cases": ['
        self._separator = b"\n    "

    def case(self, case: Case) -> bytes:
        """The bytes of the next case."""
        separator, self._separator = self._separator, b",\n    "
        return separator + _indented(case, depth=4)

    def end(self) -> bytes:
        """The bytes after the last case."""
        return b"]\n}\n" if self._separator == b"\n    " else b"\n  ]\n}\n"


def encode_envelope(metadata: Metadata, cases: Iterable[Case]) -> Iterator[bytes]:
    """The bytes of a compiled file, streamed: metadata, then a case at a time."""
    writer = EnvelopeWriter(metadata)
    yield writer.head
    yield from map(writer.case, cases)
    yield writer.end()


def _indented(record: Any, depth: int = 2) -> bytes:
    pretty = msgspec.json.format(_encoder.encode(record), indent=2)
    return pretty.replace(b"\n", b"\n" + b" " * depth)


def decode_envelope(data: bytes) -> Envelope:
    """Read a compiled file that is known to be valid.

    Raises:
        msgspec.ValidationError: when a field is missing, unknown or of the wrong type.
        msgspec.DecodeError: when it is not JSON.
    """
    return msgspec.json.decode(data, type=Envelope)


def short_hash(data: bytes | str) -> str:
    """`sha256(data)[0:12]`, the contract's hash of descriptions and eval files."""
    import hashlib  # noqa: PLC0415 - for start-up: OpenSSL is loaded with it, and most files are not hashed

    return hashlib.sha256(data.encode() if isinstance(data, str) else data).hexdigest()[:12]
