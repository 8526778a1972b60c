"""Where requests to a provider go, and the headers that authorize them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, final
from urllib.parse import SplitResult

from evalc.base.errors import UsageError
from evalc.base.providers import Provider
from evalc.runtime.agents.http.address import checked_url
from evalc.runtime.agents.http.headers import SENT_ANYWAY, checked_headers
from evalc.runtime.agents.model.api import Api
from evalc.runtime.agents.model.chat_completions import ChatCompletions
from evalc.runtime.agents.model.messages import Messages
from evalc.runtime.agents.model.options import Access
from evalc.runtime.agents.model.responses import Responses

_KEY_HEADERS: Final = frozenset({"authorization", "x-api-key", "api-key"})


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """An API at a place: the URL of its requests, and their headers. `home` says that it is the provider's own."""

    api: Api
    url: str
    headers: Mapping[str, str]
    home: bool


def endpoint_of(provider: Provider, access: Access, api: Api | None = None) -> Endpoint:
    """Where a provider's API is reached; `api` replaces the configured API.

    Raises:
        UsageError: the URL or a header cannot be used, or the provider itself is asked without a key.
    """
    name = provider.name
    base = checked_url(access.base_url or provider.home, whose=f"the `base_url` of `{name}`, as a")
    if base.username is not None:
        raise UsageError(f"the `base_url` of `{name}` holds credentials: they belong into its `headers`")
    home = base.hostname == checked_url(provider.home).hostname
    headers = {name.lower(): value for name, value in checked_headers(access.headers).items()}
    if home and access.key is None and not _KEY_HEADERS & headers.keys():
        raise UsageError(f"`{name}` needs a key: set the environment variable `{access.key_variable}`")
    api = api or api_of(provider, access, home=home)
    return Endpoint(api=api, url=_url(base, api), headers=_sent_anyway(api, access) | headers, home=home)


def api_of(provider: Provider, access: Access, *, home: bool = False) -> Api:
    """How the API is spoken; `home` says that it is the provider's own server."""
    match access.api if access.api in provider.apis else provider.apis[0]:
        case "chat":
            return ChatCompletions(limit="max_completion_tokens") if home else ChatCompletions()
        case "responses":
            return Responses()
        case "messages":
            return Messages()


def _url(base: SplitResult, api: Api) -> str:
    """The base URL with the API's path appended, which may already have the `/v1` that some write there."""
    path = base.path.rstrip("/")
    if api.path.startswith("/v1/"):
        path = path.removesuffix("/v1")
    return base._replace(path=path + api.path, fragment="").geturl()


def _sent_anyway(api: Api, access: Access) -> dict[str, str]:
    try:
        keyed = {name.lower(): value for name, value in checked_headers(api.headers(access.key)).items()}
    except UsageError:
        raise UsageError(f"the value of `{access.key_variable}` has a character that HTTP does not allow") from None
    return {**SENT_ANYWAY, **keyed}
