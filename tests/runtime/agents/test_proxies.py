"""Proxies of the environment: which hosts they serve, what they are sent, and what their failures become."""

from __future__ import annotations

import asyncio
import base64
import socket
import ssl
from pathlib import Path
from urllib.parse import urlsplit

import pytest
import trustme

from evalc.base.errors import AgentUnavailable, UsageError
from evalc.runtime.agents import HttpOptions, Sending, Tls
from evalc.runtime.agents.http.agent import HttpAgent
from evalc.runtime.agents.http.transport import NotConnected
from tests.support.asking import ask, ask_all, failure
from tests.support.servers import Behaviour, Exchange, Server, answers, echoes, hangs, serving

CREDENTIALS = "Basic " + base64.b64encode(b"ann:p@ss").decode()
ONCE = HttpOptions(sending=Sending(retries=0))


@pytest.fixture(autouse=True)
def _no_proxies(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)


def url_of(server: Server, credentials: str = "") -> str:
    """The URL of a proxy."""
    return f"http://{credentials}{urlsplit(server.url).netloc}"


def tunnels_to(server: Server) -> Behaviour:
    """Connect everybody who asks for a tunnel with this server."""

    async def behave(exchange: Exchange) -> None:
        assert exchange.request.method == "CONNECT"
        port = urlsplit(server.url).port
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        await exchange.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
        try:
            await asyncio.gather(_pass_on(exchange.reader, writer), _pass_on(reader, exchange.writer))
        finally:
            writer.close()

    return behave


async def _pass_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while data := await reader.read(65536):
        writer.write(data)
        await writer.drain()


def test_no_proxy_stands_before_loopback(monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(echoes) as server, serving(hangs) as proxy:
        monkeypatch.setenv("HTTP_PROXY", proxy.url)
        monkeypatch.setenv("http_proxy", proxy.url)
        assert ask(HttpAgent(server.url), "direct").response == "direct"
        assert proxy.connections == 0


def test_a_proxy_is_asked_for_the_whole_url(monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(echoes) as proxy:
        monkeypatch.setenv("http_proxy", url_of(proxy, "ann:p%40ss@"))
        monkeypatch.setenv("no_proxy", "inside.example")
        said = ask_all(HttpAgent("http://agent.invalid/chat"), "by proxy", "again")
        assert [each.response for each in said] == ["by proxy", "again"]
        assert proxy.connections == 1
    for request in proxy.requests:
        assert request.path == "http://agent.invalid/chat"
        assert request.headers["host"] == "agent.invalid"
        assert request.headers["proxy-authorization"] == CREDENTIALS


def test_a_proxy_without_a_scheme_speaks_http(monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(echoes) as proxy:
        monkeypatch.setenv("all_proxy", urlsplit(proxy.url).netloc)
        assert ask(HttpAgent("http://agent.invalid/chat"), "by proxy").response == "by proxy"


def test_hosts_that_are_named_have_no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(echoes) as proxy:
        monkeypatch.setenv("http_proxy", url_of(proxy))
        monkeypatch.setenv("no_proxy", "other.invalid,.agent.invalid")
        assert isinstance(failure(HttpAgent("http://the.agent.invalid/chat", options=ONCE)), NotConnected)
        assert proxy.connections == 0


def test_bytes_behind_an_answer_of_a_proxy_do_not_answer_the_next_request(monkeypatch: pytest.MonkeyPatch) -> None:
    async def answers_with_more(exchange: Exchange) -> None:
        body = b'{"response": "%s"}' % exchange.request.json["message"].encode()
        await exchange.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(body) + body + b"HTTP/1.1 200 OK")

    with serving(answers_with_more) as proxy:
        monkeypatch.setenv("http_proxy", url_of(proxy))
        said = ask_all(HttpAgent("http://agent.invalid/chat"), "one", "two")
        assert [each.response for each in said] == ["one", "two"]
        assert proxy.connections == 2


@pytest.fixture(scope="module")
def authority() -> trustme.CA:
    return trustme.CA()


@pytest.fixture
def trusting(authority: trustme.CA, tmp_path: Path) -> HttpOptions:
    """The options that trust the authority."""
    file = tmp_path / "ca.pem"
    authority.cert_pem.write_to_path(str(file))
    return HttpOptions(sending=Sending(tls=Tls(authorities=file)))


def certified(authority: trustme.CA, host: str) -> ssl.SSLContext:
    """The TLS context of a server with a certificate for this host."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert(host).configure_cert(context)
    return context


def test_https_goes_through_a_tunnel(
    authority: trustme.CA, trusting: HttpOptions, monkeypatch: pytest.MonkeyPatch
) -> None:
    tls = certified(authority, "agent.example")
    with serving(echoes, tls=tls) as server, serving(tunnels_to(server)) as proxy:
        monkeypatch.setenv("https_proxy", url_of(proxy, "ann:p%40ss@"))
        said = ask_all(HttpAgent("https://agent.example/chat", options=trusting), "hidden", "again")
        assert [each.response for each in said] == ["hidden", "again"]
    (connect,) = proxy.requests
    assert (connect.method, connect.path) == ("CONNECT", "agent.example:443")
    assert connect.headers["proxy-authorization"] == CREDENTIALS
    assert [request.path for request in server.requests] == ["/chat", "/chat"]
    assert all("proxy-authorization" not in request.headers for request in server.requests)


def test_a_proxy_that_speaks_tls_is_trusted_as_servers_are(
    authority: trustme.CA, trusting: HttpOptions, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serving(echoes, tls=certified(authority, "127.0.0.1")) as proxy:
        monkeypatch.setenv("http_proxy", proxy.url.removesuffix("/chat"))
        assert ask(HttpAgent("http://agent.invalid/chat", options=trusting), "by proxy").response == "by proxy"
        raised = failure(HttpAgent("http://agent.invalid/chat", options=ONCE))
    assert "the server's certificate is not trusted" in str(raised)


def test_a_certificate_behind_a_tunnel_is_looked_at(
    authority: trustme.CA, trusting: HttpOptions, monkeypatch: pytest.MonkeyPatch
) -> None:
    tls = certified(authority, "elsewhere.example")
    with serving(echoes, tls=tls) as server, serving(tunnels_to(server)) as proxy:
        monkeypatch.setenv("https_proxy", url_of(proxy))
        raised = failure(HttpAgent("https://agent.example/chat", options=trusting))
        assert len(proxy.requests) == 1
    assert type(raised) is AgentUnavailable, "a NotConnected would be tried again"
    assert "the server's certificate is not trusted: Hostname mismatch" in str(raised)


def test_a_tunnel_that_a_proxy_refuses_is_no_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(answers({}, status=407)) as proxy:
        monkeypatch.setenv("https_proxy", url_of(proxy))
        raised = failure(HttpAgent("https://agent.example/chat", options=ONCE))
    assert isinstance(raised, NotConnected)
    assert str(raised) == "no connection: 407 Status (https://agent.example/chat)"


def test_a_missing_proxy_is_no_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    monkeypatch.setenv("all_proxy", f"http://127.0.0.1:{port}")
    for scheme in ("http", "https"):
        raised = failure(HttpAgent(f"{scheme}://agent.example/chat", options=ONCE))
        assert str(raised) == f"no connection: Connection refused ({scheme}://agent.example/chat)"


def test_connecting_through_a_tunnel_has_its_time(trusting: HttpOptions, monkeypatch: pytest.MonkeyPatch) -> None:
    """The server behind the tunnel accepts connections, but speaks no TLS."""
    sending = Sending(tls=trusting.sending.tls, connect_seconds=0.2, retries=0)
    with serving(hangs) as server, serving(tunnels_to(server)) as proxy:
        monkeypatch.setenv("https_proxy", url_of(proxy))
        options = HttpOptions(sending=sending)
        with socket.create_server(("127.0.0.1", 0)) as listener:
            server.url = f"http://127.0.0.1:{listener.getsockname()[1]}/"
            raised = failure(HttpAgent("https://agent.example/chat", options=options))
    assert str(raised) == "no connection: it took too long (https://agent.example/chat)"


def test_a_proxy_of_another_kind_is_a_mistake_of_usage(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("all_proxy", "socks5://127.0.0.1:1080")
    with pytest.raises(UsageError, match="the proxy's URL begins with `socks5:`, not with `http:` or `https:`"):
        HttpAgent("http://agent.example/chat")


def test_a_proxy_that_cannot_be_read_is_a_mistake_of_usage(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("all_proxy", "http://ann:secret@proxy:port")
    with pytest.raises(UsageError, match="the proxy's URL cannot be read") as caught:
        HttpAgent("http://agent.example/chat")
    assert "secret" not in str(caught.value)
