"""Where HTTP requests go, with which headers, and what of that people are shown."""

from __future__ import annotations

import base64
import re
from collections.abc import Mapping
from typing import Final, Self, final
from urllib.parse import SplitResult, unquote, urlsplit

import msgspec

from evalc.base import CREDENTIAL_HEADERS
from evalc.base.errors import UsageError

_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f]")
_IS_URL: Final = re.compile(r"\s*[A-Za-z][A-Za-z0-9+.-]*://")
_LONGEST_URL: Final = 65_536


@final
class Address(msgspec.Struct, frozen=True, kw_only=True):
    """Where requests go."""

    url: str  # without user, password and fragment
    shown: str  # for people: the values of its query are struck out too
    authorization: Mapping[str, str]  # the header that user and password become; none if there are none

    @classmethod
    def of(cls, url: str, *, whose: str = "the agent's") -> Self:
        """The address that a URL is.

        Raises:
            UsageError: when a transport cannot send to it (see `checked_url`).
        """
        parts = checked_url(url, whose=whose)
        return cls(
            url=parts._replace(netloc=_host_and_port(parts), fragment="").geturl(),
            shown=url_without_credentials(parts),
            authorization=_basic_authorization(parts),
        )


def checked_url(url: str, *, whose: str = "the agent's") -> SplitResult:
    """The URL, checked to be a URL that a transport can send to; `whose` it is, for messages.

    Raises:
        UsageError: when it is not; the message does not repeat the URL, which may hold credentials.
    """
    try:
        if _CONTROL.search(url):
            raise ValueError("it has a control character")
        if len(url) > _LONGEST_URL:
            raise ValueError("it is too long")
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
        (host or "").encode("idna")  # what the resolver will do
    except ValueError as error:
        # The library quotes what it cannot read; after an `@` it may have taken a password for a port.
        reason = "is there a character in the credentials to write as %XX?" if "@" in url else str(error)
        raise UsageError(f"{whose} URL cannot be read: {reason}") from None
    if parts.scheme not in ("http", "https"):
        raise UsageError(f"{whose} URL begins with `{parts.scheme}:`, not with `http:` or `https:`")
    if not host:
        raise UsageError(f"{whose} URL names no host")
    return parts


def shown_url(text: str) -> str:
    """A text for people: a URL without its credentials, anything else as it is."""
    if not _IS_URL.match(text):
        return text
    try:
        return url_without_credentials(urlsplit(text))
    except ValueError:  # it cannot be read, which is reported where it is used
        return f"{text.partition('://')[0]}://***"


def url_without_credentials(parts: SplitResult) -> str:
    """The URL for people: without user, password and fragment, and with `***` for the values of its query."""
    fields = [field.partition("=") for field in parts.query.split("&")] if parts.query else []
    # A field without `=` may be the secret itself.
    query = "&".join(f"{name}=***" if equals else "***" for name, equals, _ in fields)
    return parts._replace(netloc=_host_and_port(parts), query=query, fragment="").geturl()


def _host_and_port(parts: SplitResult) -> str:
    return parts.netloc.rpartition("@")[2]


def _basic_authorization(parts: SplitResult) -> dict[str, str]:
    if parts.username is None:
        return {}
    pair = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
    return {"Authorization": "Basic " + base64.b64encode(pair.encode()).decode()}


DEFAULT_HEADERS: Final[Mapping[str, str]] = {
    "content-type": "application/json",
    "accept": "application/json",
    # A body is capped as it comes, so it must come as long as it is.
    "accept-encoding": "identity",
    "user-agent": "evalc",
}
"""The headers of every request with a JSON body, unless they are configured otherwise."""

_FRAMING: Final = frozenset({"content-length", "transfer-encoding"})
_NAME: Final = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_VALUE: Final = re.compile(r"[\t\x20-\x7e]*")


def checked_headers(headers: Mapping[str, str]) -> dict[str, str]:
    """The headers, known to be valid in HTTP.

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


def headers_without_credentials(headers: Mapping[str, str]) -> dict[str, str]:
    """The headers that may decide what is answered; which user or key asks does not."""
    return {name.lower(): value for name, value in headers.items() if name.lower() not in CREDENTIAL_HEADERS}


def merged(*layers: Mapping[str, str]) -> dict[str, str]:
    """The headers of all layers; a later one replaces an earlier one of the same name in any case."""
    headers: dict[str, tuple[str, str]] = {}
    for layer in layers:
        headers.update({name.lower(): (name, value) for name, value in layer.items()})
    return dict(headers.values())
