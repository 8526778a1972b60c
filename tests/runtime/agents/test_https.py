"""HTTPS spoken to a real server: whose certificates are trusted, by all who send requests."""

from __future__ import annotations

import ssl
from collections.abc import Callable
from pathlib import Path

import pytest
import trustme

from evalc.base.errors import AgentUnavailable, EvalcError
from evalc.runtime.agents import Access, HttpOptions, Sending, Tls
from evalc.runtime.agents.http import transport
from evalc.runtime.agents.spec import AgentSettings, agent_for
from evalc.runtime.judges.panel import JudgeSettings, Panel, judge_for, seated
from tests.runtime.judges.scripted import score
from tests.support.asking import ask, failure
from tests.support.servers import answers, serving

EVERYTHING = {
    "response": "Hello",
    "choices": [{"message": {"content": "Hello"}, "finish_reason": "stop"}],
    "score": 4,
}
"""An answer for an agent, a model and a judge alike."""


@pytest.fixture(scope="module")
def authority() -> trustme.CA:
    return trustme.CA()


@pytest.fixture(scope="module")
def ca_file(authority: trustme.CA, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("authority") / "ca.pem"
    authority.cert_pem.write_to_path(str(path))
    return path


def certified(authority: trustme.CA, host: str = "127.0.0.1") -> ssl.SSLContext:
    """A server's TLS context with a certificate of the authority for this host."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert(host).configure_cert(context)
    return context


def settings(tls: Tls, url: str = "") -> AgentSettings:
    return AgentSettings(
        http=HttpOptions(sending=Sending(tls=tls)),
        providers={"openai": Access(base_url=url, key_variable="OPENAI_API_KEY")},
    )


def asks_agent(url: str, tls: Tls) -> None:
    assert ask(agent_for(url, settings=settings(tls))).response == "Hello"


def asks_model(url: str, tls: Tls) -> None:
    assert ask(agent_for("openai:small", settings=settings(tls, url))).response == "Hello"


def asks_judge(url: str, tls: Tls) -> None:
    judge = judge_for(url, settings=JudgeSettings(reached=settings(tls)))
    assert score(Panel(seats=seated([judge], 1))).score == 4


ASKING = (asks_agent, asks_model, asks_judge)
Asks = Callable[[str, Tls], None]


@pytest.mark.parametrize("asks", ASKING)
def test_a_certificate_of_a_named_authority_is_trusted(asks: Asks, authority: trustme.CA, ca_file: Path) -> None:
    with serving(answers(EVERYTHING), tls=certified(authority)) as server:
        asks(server.url, Tls(authorities=ca_file))


@pytest.mark.parametrize("asks", ASKING)
def test_without_looking_at_certificates_any_will_do(asks: Asks, authority: trustme.CA) -> None:
    with serving(answers(EVERYTHING), tls=certified(authority, "elsewhere.example")) as server:
        asks(server.url, Tls(verify=False))


@pytest.mark.parametrize("asks", ASKING)
def test_a_certificate_of_nobody_known_is_not_trusted(asks: Asks, authority: trustme.CA) -> None:
    with serving(answers(EVERYTHING), tls=certified(authority)) as server:
        with pytest.raises(EvalcError, match="no connection: the server's certificate is not trusted: unable to get"):
            asks(server.url, Tls())
        assert server.requests == []


def test_a_certificate_for_another_host_is_not_trusted_and_not_tried_again(
    authority: trustme.CA, ca_file: Path
) -> None:
    with serving(answers(EVERYTHING), tls=certified(authority, "elsewhere.example")) as server:
        raised = failure(agent_for(server.url, settings=settings(Tls(authorities=ca_file))))
    assert type(raised) is AgentUnavailable, "a NotConnected would be tried again"
    assert "not trusted: IP address mismatch, certificate is not valid for '127.0.0.1'" in str(raised)


def test_the_file_may_be_named_by_the_environment(
    authority: trustme.CA, ca_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(ca_file))
    # What is kept was made without it.
    monkeypatch.setattr(transport, "_tls_context", transport._tls_context.__wrapped__)
    with serving(answers(EVERYTHING), tls=certified(authority)) as server:
        asks_agent(server.url, Tls())
