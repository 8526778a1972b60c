"""Finds the way to a host: the proxy before it, and the certificates that are trusted."""

from __future__ import annotations

import functools
import ipaddress
import os
import ssl
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, final
from urllib.parse import SplitResult, urlsplit

from evalc.base.errors import UsageError

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
