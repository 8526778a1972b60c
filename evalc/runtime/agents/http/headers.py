"""Checks configured headers for what HTTP can carry, and adds evalc's own."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from evalc.base.errors import UsageError
from evalc.base.providers import CREDENTIAL_HEADERS

SENT_ANYWAY: Final[Mapping[str, str]] = {
    "content-type": "application/json",
    "accept": "application/json",
    # A body is capped as it comes, so it must come as long as it is.
    "accept-encoding": "identity",
    "user-agent": "evalc",
}
"""What every request is sent with that has JSON for a body, unless it is configured otherwise."""

_FRAMING: Final = frozenset({"content-length", "transfer-encoding"})
_NAME: Final = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_VALUE: Final = re.compile(r"[\t\x20-\x7e]*")


def checked_headers(headers: Mapping[str, str]) -> dict[str, str]:
    """The headers, known to be ones that HTTP can carry.

    Raises:
        UsageError: when one is not; the message does not repeat its value, which may be a secret.
    """
    for name, value in headers.items():
        if name.lower() in _FRAMING:
            raise UsageError(f"header `{name}` follows from the request and cannot be set")
        if not _NAME.fullmatch(name):
            raise UsageError(f"`{name}` cannot be the name of an HTTP header")
        if not _VALUE.fullmatch(value):
            raise UsageError(f"the value of header `{name}` has a character that HTTP does not allow")
    return dict(headers)


def without_credentials(headers: Mapping[str, str]) -> dict[str, str]:
    """The headers that may decide what is answered; which user or key asks does not."""
    return {name.lower(): value for name, value in headers.items() if name.lower() not in CREDENTIAL_HEADERS}


def merged(*layers: Mapping[str, str]) -> dict[str, str]:
    """The headers of all layers; a later one replaces an earlier one of the same name in any case."""
    headers: dict[str, tuple[str, str]] = {}
    for layer in layers:
        headers.update({name.lower(): (name, value) for name, value in layer.items()})
    return dict(headers.values())
