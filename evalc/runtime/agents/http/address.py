"""Where requests go, over which route, and with which headers."""

from __future__ import annotations

import base64
import functools
import ipaddress
import os
import re
import ssl
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Self, final
from urllib.parse import SplitResult, unquote, urlsplit

from evalc.base.errors import AgentUnavailable, UsageError
from evalc.base.installed import CREDENTIAL_HEADERS

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


IDLE_SECONDS: Final = 2.0
"""How long a connection is kept idle. Common servers drop it after five seconds: a request that meets a server in the
act of closing is lost, and may not be sent again."""


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Tls:
    """How the other side's certificate is looked at: not at all, by the usual authorities, or by those of a file."""

    verify: bool = True
    authorities: Path | None = None


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Connecting:
    """How connections are made, wherever they lead.

    Attributes:
        tls: how the other side's certificate is looked at.
        seconds: how long connecting may take; None leaves it to whoever sends.
    """

    tls: Tls = field(default_factory=Tls)
    seconds: float | None = None


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """How a host is reached.

    Attributes:
        proxy: the URL of the HTTP proxy before it.
        tls: the certificates that are trusted; for `http:` none.
        connect_seconds: how long connecting may take; None leaves it to whoever sends.
    """

    proxy: str | None
    tls: ssl.SSLContext
    connect_seconds: float | None = None


def route_to(url: SplitResult, connecting: Connecting) -> Route:
    """The route to the host of a URL.

    Proxies come from HTTP_PROXY, HTTPS_PROXY and NO_PROXY as everywhere, but are never used for the loopback
    interface: an agent on this machine is not to be had through a proxy.

    Raises:
        UsageError: when the proxy is of no kind that can be used, or the file of authorities cannot be read.
    """
    context = _tls_context(connecting.tls) if url.scheme == "https" else _no_tls_context()
    return Route(proxy=_proxy_for(url), tls=context, connect_seconds=connecting.seconds)


def _proxy_for(url: SplitResult) -> str | None:
    # Deferred for start-up time: the module brings http.client and email with it.
    from urllib.request import getproxies, proxy_bypass  # noqa: PLC0415

    host = url.hostname or ""
    if _is_loopback(host) or proxy_bypass(host):
        return None
    proxies = getproxies()
    proxy = proxies.get(url.scheme) or proxies.get("all")
    if proxy is None:
        return None
    proxy = proxy if "://" in proxy else f"http://{proxy}"
    if not proxy.startswith(("http://", "https://")):
        raise UsageError(f"a `{urlsplit(proxy).scheme}:` proxy is not supported, only `http:` and `https:`")
    return proxy


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


@functools.cache
def _tls_context(tls: Tls) -> ssl.SSLContext:
    # One for all sessions: each would take 20 ms and most of a megabyte.
    if tls.authorities is not None:
        try:
            return _checking(ssl.create_default_context(cafile=tls.authorities), tls)
        except OSError as error:  # ssl.SSLError too
            reason = "it holds no certificates" if isinstance(error, ssl.SSLError) else error.strerror
            raise UsageError(f"the certificates in `{tls.authorities}` cannot be used: {reason}") from None
    if os.environ.get("SSL_CERT_FILE") or os.environ.get("SSL_CERT_DIR"):
        return _checking(ssl.create_default_context(), tls)
    import certifi  # noqa: PLC0415 - for start-up: `https:` only

    return _checking(ssl.create_default_context(cafile=certifi.where()), tls)


def _checking(context: ssl.SSLContext, tls: Tls) -> ssl.SSLContext:
    if not tls.verify:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    return context


@functools.cache
def _no_tls_context() -> ssl.SSLContext:
    # For `http:`, so that no certificates are read; it trusts none.
    return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)


class NotConnected(AgentUnavailable):
    """There was no connection, so nothing was sent, and sending it again is safe."""


def no_connection(error: BaseException) -> AgentUnavailable:
    """The error for a failure to connect; a certificate that is not trusted will not be so at the next attempt."""
    for seen in _causes(error):
        if isinstance(seen, ssl.SSLCertVerificationError):
            why = seen.verify_message.rstrip(".")
            return AgentUnavailable(f"no connection: the server's certificate is not trusted: {why}")
    return NotConnected(f"no connection: {reason_of(error)}")


def reason_of(error: BaseException) -> str:
    """The words of the operating system, which libraries replace by their own."""
    for seen in _causes(error):
        if isinstance(seen, ConnectionError) and seen.errno:
            return os.strerror(seen.errno)
        if isinstance(seen, OSError) and seen.strerror:
            return seen.strerror
    return str(error) or type(error).__name__


def _causes(error: BaseException) -> Iterator[BaseException]:
    """The exception, and those that it was made of."""
    seen: BaseException | None = error
    while seen is not None:
        if isinstance(seen, BaseExceptionGroup):
            seen = seen.exceptions[0]
        yield seen
        seen = seen.__cause__ or seen.__context__


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
