"""Where requests go, with which headers, and what is refused before anything is sent."""

from __future__ import annotations

import pytest

from evalc.base import PROVIDERS
from evalc.base.errors import UsageError
from evalc.runtime.agents import Access, ModelOptions, Sampling
from evalc.runtime.agents.model.agent import ModelAgent
from evalc.runtime.agents.model.apis import endpoint_of


def access(base_url: str | None = None, key: str | None = "k", **more: str) -> Access:
    return Access(base_url=base_url, key=key, key_variable="THE_KEY", headers=more)


@pytest.mark.parametrize(
    ("provider", "base_url", "url"),
    [
        ("openai", None, "https://api.openai.com/v1/chat/completions"),
        ("openai", "http://localhost:8080/v1/", "http://localhost:8080/v1/chat/completions"),
        ("openai", "https://host/v1?api-version=2", "https://host/v1/chat/completions?api-version=2"),
        ("anthropic", None, "https://api.anthropic.com/v1/messages"),
        ("anthropic", "http://localhost:8080", "http://localhost:8080/v1/messages"),
        ("anthropic", "http://localhost:8080/v1", "http://localhost:8080/v1/messages"),
    ],
)
def test_urls(provider: str, base_url: str | None, url: str) -> None:
    assert endpoint_of(PROVIDERS[provider], access(base_url)).url == url


def test_the_key_goes_where_each_provider_wants_it() -> None:
    assert endpoint_of(PROVIDERS["openai"], access()).headers["authorization"] == "Bearer k"
    assert endpoint_of(PROVIDERS["anthropic"], access()).headers["x-api-key"] == "k"


def test_configured_headers_go_before_all_others() -> None:
    headers = endpoint_of(PROVIDERS["openai"], access(None, "k", Authorization="Basic x", Extra="1")).headers
    assert (headers["authorization"], headers["extra"]) == ("Basic x", "1")


@pytest.mark.parametrize("provider", ["openai", "anthropic"])
def test_the_provider_itself_needs_a_key_and_a_local_server_none(provider: str) -> None:
    with pytest.raises(UsageError) as caught:
        endpoint_of(PROVIDERS[provider], access(key=None))
    assert str(caught.value) == f"`{provider}` needs a key: set the environment variable `THE_KEY`"
    local = endpoint_of(PROVIDERS[provider], access("http://127.0.0.1:1", None))
    assert not {"authorization", "x-api-key"} & local.headers.keys()


def test_a_header_may_stand_for_the_key() -> None:
    assert endpoint_of(PROVIDERS["openai"], access(None, None, Authorization="Bearer x")).home


def test_openai_itself_limits_answers_by_a_field_of_its_own() -> None:
    assert (
        endpoint_of(PROVIDERS["openai"], access()).api
        != endpoint_of(PROVIDERS["openai"], access("http://127.0.0.1:1")).api
    )


@pytest.mark.parametrize("base_url", ["ftp://host", "nonsense", "http://user:planted@host", "http://[", "http://h\nx"])
def test_base_urls_that_cannot_be_used(base_url: str) -> None:
    with pytest.raises(UsageError) as caught:
        endpoint_of(PROVIDERS["openai"], access(base_url))
    assert "base_url" in str(caught.value)
    assert "planted" not in str(caught.value)


def test_a_key_that_http_cannot_carry_is_not_repeated() -> None:
    with pytest.raises(UsageError, match="the value of `THE_KEY` has a character that HTTP does not allow") as caught:
        endpoint_of(PROVIDERS["openai"], access(None, "planted\nkey"))
    assert "planted" not in str(caught.value)


def test_the_endpoint_names_the_model_and_where_it_is_not_the_providers_own() -> None:
    assert ModelAgent(PROVIDERS["openai"], "gpt-x", access=access()).endpoint == "openai:gpt-x"
    local = ModelAgent(PROVIDERS["anthropic"], "tiny", access=access("http://127.0.0.1:1?k=secret"))
    assert local.endpoint == "anthropic:tiny at http://127.0.0.1:1/v1/messages?k=***"


def test_a_seed_is_refused_where_the_api_knows_none() -> None:
    options = ModelOptions(sampling=Sampling(seed=1))
    with pytest.raises(UsageError, match="`seed` is configured, and the API that is asked knows none"):
        ModelAgent(PROVIDERS["anthropic"], "m", access=access(), options=options)


def test_a_spec_names_a_model() -> None:
    with pytest.raises(UsageError, match="`openai:` names no model, as `openai:MODEL` does"):
        ModelAgent(PROVIDERS["openai"], "", access=access())
