"""Makes the judge that `--judge` names: the table of the kinds of judges."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, final

import msgspec

from evalc import extras
from evalc.base.errors import UsageError
from evalc.base.installed import MODEL_FORMS, Provider, provider_of
from evalc.runtime.agents import ModelOptions, Sampling
from evalc.runtime.agents.spec import AgentSettings
from evalc.runtime.judges.base import Judge

FORMS: Final = ", ".join(
    f"`{form}`"
    for form in (*MODEL_FORMS, "local", "local:MODEL.gguf", "python:module:name", "http://...", "https://...")
)


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeSettings:
    """The configuration of judges; each kind takes its part.

    Attributes:
        reached: how providers, URLs and modules are reached: as for agents.
        sampling: how models are asked.
        headers: sent with every request to a judge behind a URL.
    """

    reached: AgentSettings
    sampling: Sampling = field(default_factory=Sampling)
    headers: Mapping[str, str] = field(default_factory=dict)


def judge_for(spec: str, *, settings: JudgeSettings) -> Judge:
    """The judge that a spec names.

    Raises:
        UsageError: the spec has no known form, or its judge is not available.
    """
    scheme, _, rest = spec.strip().partition(":")
    provider = provider_of(spec)
    match scheme.lower():
        case _ if provider is not None and rest.strip():
            return _model_judge(provider, rest.strip(), settings)
        case "local":
            return extras.local.judge_of(rest.strip(), settings.reached, settings.sampling)
        case "python" if rest:
            return _python_judge(rest, settings)
        case "http" | "https" if rest.startswith("//"):
            return _http_judge(spec.strip(), settings)
        case _:
            # Only the scheme is repeated: the rest may hold credentials.
            raise UsageError(f"`{scheme}` is not a judge: judges are {FORMS}")


# A kind is imported when it is asked for, for start-up time.


def _model_judge(provider: Provider, model: str, settings: JudgeSettings) -> Judge:
    from evalc.runtime.agents.http import headers_without_credentials  # noqa: PLC0415
    from evalc.runtime.agents.http.transport import Backoff  # noqa: PLC0415
    from evalc.runtime.agents.model.agent import ModelAgent  # noqa: PLC0415
    from evalc.runtime.agents.model.apis import endpoint_of  # noqa: PLC0415
    from evalc.runtime.judges.model import ModelJudge  # noqa: PLC0415

    reached = settings.reached
    access = reached.providers[provider.name]
    agent = ModelAgent(
        provider,
        model,
        access=access,
        options=ModelOptions(sampling=settings.sampling),
        connecting=reached.http.connecting,
        backoff=Backoff(retries=reached.retries),
        max_body=reached.max_body,
    )
    return ModelJudge(
        agent,
        identity={
            "url": endpoint_of(provider, access).url,
            "headers": headers_without_credentials(access.headers),
            "sampling": msgspec.to_builtins(settings.sampling),
        },
    )


def _python_judge(target: str, settings: JudgeSettings) -> Judge:
    from evalc.runtime.judges.other import PythonJudge  # noqa: PLC0415

    return PythonJudge(target, project_root=settings.reached.project_root)


def _http_judge(url: str, settings: JudgeSettings) -> Judge:
    from evalc.runtime.agents.http.transport import Backoff  # noqa: PLC0415
    from evalc.runtime.judges.other import HttpJudge  # noqa: PLC0415

    backoff = Backoff(retries=settings.reached.retries)
    return HttpJudge(url, headers=settings.headers, backoff=backoff, connecting=settings.reached.http.connecting)
