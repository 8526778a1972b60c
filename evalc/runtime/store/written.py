"""Encodes records for files: what JSON cannot hold is replaced, secrets are struck out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, Protocol, TypeVar

import msgspec

from evalc.runtime.agents.wire import well_formed

Record = TypeVar("Record", bound=msgspec.Struct)


def _foreign(value: object) -> str:
    """The text of what JSON has no form for; the subclasses of `str` are texts."""
    return str.__str__(value) if isinstance(value, str) else repr(value)


_encoder: Final = msgspec.json.Encoder(enc_hook=_foreign)


class Redacting(Protocol):
    """Strikes secrets out."""

    def redact(self, text: str) -> str:
        """The text without secrets."""
        ...

    def redact_bytes(self, data: bytes) -> bytes:
        """The encoded text without secrets."""
        ...


def encoded(record: msgspec.Struct) -> bytes:
    """The record as one line of JSON.

    Agents send what JSON cannot hold: an object of Python becomes its `repr`, half a surrogate pair U+FFFD.

    Raises:
        Exception: of any kind, where not even that can be done: a value that holds itself, a `repr` that raises.
    """
    try:
        return _encoder.encode(record)
    except Exception:  # what a foreign object raises when it is looked at is not ours to foresee
        return _encoder.encode(_with_texts(msgspec.to_builtins(record, enc_hook=_foreign), well_formed))


def redacted(record: Record, json: bytes, redactor: Redacting | None) -> tuple[Record, bytes]:
    """The record and its JSON without secrets; the very same where there are none."""
    if redactor is None:
        return record, json
    struck = redactor.redact_bytes(json)
    if struck == json:
        return record, json
    try:
        return msgspec.json.decode(struck, type=type(record)), struck
    except (msgspec.DecodeError, UnicodeDecodeError):
        # It stood where a number must: then the digits are no secret, and only the texts are changed.
        struck = _encoder.encode(_with_texts(msgspec.json.decode(json), redactor.redact))
        return msgspec.json.decode(struck, type=type(record)), struck


def _with_texts(value: Any, change: Callable[[str], str]) -> Any:
    """The value with every text in it changed."""
    match value:
        case str():
            return change(value)
        case dict():
            return {_with_texts(key, change): _with_texts(item, change) for key, item in value.items()}
        case list() | tuple():
            return [_with_texts(item, change) for item in value]
        case _:
            return value
