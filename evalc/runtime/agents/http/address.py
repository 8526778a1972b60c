"""Splits a URL into where requests go, the header of its credentials, and what people may see."""

from __future__ import annotations

import base64
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Self, final
from urllib.parse import SplitResult, unquote, urlsplit

from evalc.base.errors import UsageError

_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f]")
_IS_URL: Final = re.compile(r"\s*[A-Za-z][A-Za-z0-9+.-]*://")
_LONGEST_URL: Final = 65_536


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """Where requests go.

    Attributes:
        url: without user, password and fragment.
        shown: for people: the values of its query are struck out too.
        authorization: the header that user and password become; none if there are none.
    """

    url: str
    shown: str
    authorization: Mapping[str, str]

    @classmethod
    def of(cls, url: str, *, whose: str = "the agent's") -> Self:
        """The address that a URL is.

        Raises:
            UsageError: when a transport cannot send to it (see `checked_url`).
        """
        parts = checked_url(url, whose=whose)
        return cls(
            url=parts._replace(netloc=_host_and_port(parts), fragment="").geturl(),
            shown=without_credentials(parts),
            authorization=_basic_authorization(parts),
        )


def checked_url(url: str, *, whose: str = "the agent's") -> SplitResult:
    """The URL, checked to be one that a transport can send to; `whose` it is, for messages.

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
        return without_credentials(urlsplit(text))
    except ValueError:  # it cannot be read, which is told where it is used
        return f"{text.partition('://')[0]}://***"


def without_credentials(parts: SplitResult) -> str:
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
