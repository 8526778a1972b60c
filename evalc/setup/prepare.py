"""Makes of settings what a run needs: agents, judges, gates, secrets, and how they are asked."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final

import msgspec
from msgspec.structs import replace

from evalc import extras
from evalc.base.errors import UsageError
from evalc.base.installed import PROVIDERS, provider_of
from evalc.config.http import expanded
from evalc.config.settings import ALL_KEYS, JudgeTable, ModelTable, Setting, Settings
from evalc.model.case import Gates
from evalc.model.json import short_hash
from evalc.runtime.agents import Access, Agent, Connecting, HttpOptions, ModelOptions, Sampling, Tls
from evalc.runtime.agents.http import Address
from evalc.runtime.agents.model.apis import input_price
from evalc.runtime.agents.recording import RecordingAgent
from evalc.runtime.agents.spec import AgentSettings, Serving, agent_for, secrets_of
from evalc.runtime.checks.similarity import load_embeddings
from evalc.runtime.judges.cache import JudgeCache
from evalc.runtime.judges.panel import JudgeSettings, Panel, judge_for, seated
from evalc.runtime.run.engine import Engine, LocalEngine
from evalc.runtime.run.gates import Limits
from evalc.runtime.run.options import RunOptions
from evalc.runtime.run.tokens import capture_snapshot, load_object
from evalc.runtime.store.journal import Asked
from evalc.runtime.store.redact import Redactor
from evalc.runtime.store.runs import LATEST
from evalc.tools.registry import ToolRegistry


def agents_of(settings: Settings, environ: Mapping[str, str], tools: ToolRegistry | None) -> tuple[Agent, ...]:
    """The agents that the settings name, at least one; `tools` are what they are offered where they are models.

    Raises:
        UsageError: they name no agent, or an agent that is not available.
    """
    if not settings.agent.use:
        raise UsageError("no agent is named: use --agent, or `agent` in the configuration (try --agent demo)")
    redactor = redactor_of(settings, environ)
    agent_settings = replace(_agent_settings(settings, environ, tools), redactor=redactor)
    return tuple(agent_for(spec, settings=agent_settings) for spec in settings.agent.use)


_OURS: Final = frozenset({"http", "https", *PROVIDERS, "command", "replay", "local", "demo"})
"""The kinds of agents and judges that are evalc's own code; of every other kind somebody else's runs in the process."""


def _specs(settings: Settings) -> tuple[str, ...]:
    """Everybody whom a run asks: agents, judges, and who plays users."""
    return (*settings.agent.use, *settings.judge.use, *([] if settings.user is None else [settings.user]))


def runs_code_of_others(settings: Settings) -> bool:
    """Whether an agent, a judge or what makes the snapshot is code that runs in this process."""
    specs = _specs(settings)
    snapshot = settings.snapshot or ""
    return snapshot.startswith("python:") or any(spec.strip().partition(":")[0].lower() not in _OURS for spec in specs)


def recorded(agent: Agent, folder: Path, settings: Settings, tools: ToolRegistry | None, options: RunOptions) -> Agent:
    """The agent, whose every exchange is written to a folder.

    Raises:
        UsageError: nothing can be written there.
    """
    return RecordingAgent(
        agent, folder, model=_model(settings, tools), http=_http_options(settings), redactor=options.redactor
    )


def _agent_settings(settings: Settings, environ: Mapping[str, str], tools: ToolRegistry | None = None) -> AgentSettings:
    return AgentSettings(
        headers=expanded(settings.agent.headers, environ),
        retries=settings.agent.retries,
        project_root=settings.root,
        http=_http_options(settings),
        providers={name: _access(name, settings, environ) for name in PROVIDERS},
        model=_model(settings, tools),
        local=Serving(context_tokens=settings.local.context_tokens, load_ms=settings.local.load_timeout_ms),
    )


def _http_options(settings: Settings) -> HttpOptions:
    table = settings.agent
    connect = table.connect_timeout_ms
    return HttpOptions(
        method=table.method,
        body=table.body,
        answer=table.response,
        stream=table.stream,
        redirects=table.redirects,
        accepted=table.accepted_statuses,
        connecting=Connecting(
            tls=Tls(verify=table.verify_tls, authorities=table.ca_file),
            seconds=None if connect is None else connect / 1000,
        ),
    )


def _access(name: str, settings: Settings, environ: Mapping[str, str]) -> Access:
    """How a provider's API is reached: as configured, else as the environment says it to its own library too."""
    table = settings.providers[name]
    return Access(
        base_url=_base_url(name, settings, environ),
        key=environ.get(table.key_variable) or None,
        key_variable=table.key_variable,
        headers=_headers_of(name, settings, environ),
        api=table.api,
    )


def _base_url(name: str, settings: Settings, environ: Mapping[str, str]) -> str | None:
    """Where a provider's API is said to be; None for its own server."""
    return settings.providers[name].base_url or environ.get(PROVIDERS[name].base_url_variable) or None


def _headers_of(name: str, settings: Settings, environ: Mapping[str, str]) -> Mapping[str, str]:
    """A provider's headers; of a provider that is not asked, the variables need not be set."""
    specs = _specs(settings)
    asked = PROVIDERS[name] in map(provider_of, specs)
    return expanded(settings.providers[name].headers, environ) if asked else {}


def _model(settings: Settings, tools: ToolRegistry | None) -> ModelOptions:
    return ModelOptions(system=settings.model.system_prompt, sampling=_sampling(settings.model), tools=tools)


def _sampling(table: ModelTable | JudgeTable) -> Sampling:
    return Sampling(
        temperature=table.temperature,
        max_tokens=table.max_tokens,
        seed=table.seed,
        extra=dict(table.extra_body),
    )


def price_of(agent: str, settings: Settings, environ: Mapping[str, str]) -> Callable[[int], float | None]:
    """The price of so many tokens of input, in US dollars; None if the agent has no known price."""
    provider = provider_of(agent)
    if provider is None:
        return lambda _: None
    url = _base_url(provider.name, settings, environ) or provider.home
    return partial(input_price, model=agent.partition(":")[2].strip(), url=url)


def exporter_of(settings: Settings) -> extras.otel.Exporter | None:
    """The exporter to OpenTelemetry; None if none is asked for.

    Raises:
        UsageError: the extra `otel` is not installed.
    """
    if settings.otel is None:
        return None
    url = None if settings.otel == "env" else settings.otel
    return extras.otel.Exporter(url, content=settings.otel_content)


def redactor_of(settings: Settings, environ: Mapping[str, str]) -> Redactor:
    """The redactor that strikes secrets out of all that is written."""
    return Redactor(_secrets(settings, environ))


def _secrets(settings: Settings, environ: Mapping[str, str]) -> tuple[str, ...]:
    """Every value that may be written nowhere: those of the configuration, those within agents' and judges' specs."""
    specs = _specs(settings)
    agents = _agent_settings(settings, environ) if specs else None
    of_specs = [secret for spec in specs if agents for secret in secrets_of(spec, settings=agents)]
    return (*settings.secret_values(environ), *of_specs)


async def options_of(settings: Settings, environ: Mapping[str, str], tools: ToolRegistry | None) -> RunOptions:
    """The options of a run.

    The snapshot is captured here, once, just before the run (contract, 4. Snapshot Data).

    Raises:
        UsageError: a file that is named is not there, or cannot be used.
    """
    redactor = redactor_of(settings, environ)
    return RunOptions(
        output_dir=settings.results_folder,
        engine=_engine(settings),
        concurrency=settings.concurrency,
        rpm=settings.rpm,
        timeout_ms=settings.timeout_ms,
        seed=_seed(settings),
        snapshot=await _snapshot(settings, redactor),
        registry=tools,
        baseline=settings.baseline or (LATEST if settings.fail_on_regression else None),
        accepted=settings.accepted_baseline,
        gates=gates_of(settings),
        limits=Limits(max_cost=settings.max_cost),
        all_assertions=settings.all_assertions,
        panel=panel_of(settings, environ, redactor),
        user=_user_of(settings, environ, redactor),
        embeddings=load_embeddings() if settings.similarity == "embeddings" else None,
        rubrics_always=settings.judge.rubrics == "always",
        stop_when_sure=settings.stop_when_sure,
        redactor=redactor,
        root=settings.root,
    )


def _engine(settings: Settings) -> Engine:
    if settings.engine == "local":
        return LocalEngine()
    return extras.ray.RayEngine(settings.engine.partition(":")[2] or settings.ray_address)


def panel_of(settings: Settings, environ: Mapping[str, str], redactor: Redactor) -> Panel | None:
    """The judges of a run; None if no judge is named.

    Raises:
        UsageError: a judge is unknown or not available.
    """
    if not settings.judge.use:
        return None
    judge_settings = _judge_settings(settings, environ)
    judges = [judge_for(spec, settings=judge_settings) for spec in settings.judge.use]
    return Panel(
        seats=seated(judges, settings.judge.samples),
        timeout_ms=settings.judge.timeout_ms,
        cache=JudgeCache(settings.judge_cache_folder, redactor, environ) if settings.judge.cache else None,
        redactor=redactor,
    )


def _user_of(settings: Settings, environ: Mapping[str, str], redactor: Redactor) -> Agent | None:
    """The player of simulated users; None if nobody is named.

    Raises:
        UsageError: the player is unknown or not available.
    """
    if settings.user is None:
        return None
    # Told what to do by evalc, and offered no tools: what is configured for the agent's model is nothing to it.
    reached = replace(_agent_settings(settings, environ), http=HttpOptions(), headers={}, redactor=redactor)
    try:
        return agent_for(settings.user, settings=replace(reached, model=ModelOptions()))
    except UsageError as error:
        raise UsageError(f"nobody can play users: {error}") from None


def _judge_settings(settings: Settings, environ: Mapping[str, str]) -> JudgeSettings:
    behind_url = any(spec.lower().startswith(("http:", "https:")) for spec in settings.judge.use)
    return JudgeSettings(
        reached=_agent_settings(settings, environ),
        sampling=_sampling(settings.judge),
        headers=expanded(settings.judge.headers, environ) if behind_url else {},
    )


async def _snapshot(settings: Settings, redactor: Redactor) -> object:
    if settings.snapshot is None:
        return None
    try:
        return await capture_snapshot(settings.snapshot, project_root=settings.root)
    except UsageError as error:  # it may quote what the snapshot's code says, and that may say anything
        raise UsageError(redactor.redact(str(error))) from None


def gates_of(settings: Settings) -> Gates | None:
    """The gates of the run as a whole; None if there are none."""
    gates = Gates(
        min_pass_rate=settings.min_pass_rate,
        min_score=settings.min_score,
        max_p95_ms=settings.max_p95_ms,
        fail_on_regression=settings.fail_on_regression or None,
        confidence=settings.confidence,
    )
    return gates or None


def _seed(settings: Settings) -> object:
    path = settings.seed_file
    return None if path is None else load_object(path, "seed manifest")


HTTP: Final = ("method", "body", "response", "stream", "accepted_statuses", "redirects", "headers")
MODEL: Final = ("system_prompt", "temperature", "max_tokens", "seed", "extra_body")
JUDGE: Final = ("temperature", "max_tokens", "seed", "extra_body")
PROVIDER: Final = ("base_url", "api", "headers")
LOCAL: Final = ("context_tokens",)
_HASHED: Final = frozenset({"model.system_prompt", "openai.base_url", "anthropic.base_url"})
"""Texts that evalc does not treat as secrets, but that may be long or contain some."""


def asked_of(
    settings: Settings,
    agents: Sequence[str],
    environ: Mapping[str, str],
    tools: ToolRegistry | None,
    redactor: Redactor | None,
) -> Asked:
    """The settings that decide what is sent and how answers are read, as far as they are not their defaults.

    `agents` are specs: an agent of a caller is not configured. `tools` are what models are offered; `redactor` strikes
    secrets out of what is hashed.
    """
    asked: dict[str, Any] = {}
    for name in dict.fromkeys(_names(settings, agents)):
        setting = ALL_KEYS[name]
        value = _kept(setting, settings, environ, redactor)
        if value is not None:
            asked[setting.recorded] = value
    queried = [Address.of(spec).url for spec in agents if _kind(spec) in {"http", "https"} and "?" in spec]
    if queried:  # results do not show the values of a query, which may be secrets
        asked["agent"] = _hash("\n".join(queried))
    if tools is not None and any(map(_is_model, agents)):
        offered = [(tool.name, tool.description, tool.parameters) for tool in tools.values()]
        asked["tools"] = _hash(msgspec.json.encode(offered).decode())
    return asked


def _names(settings: Settings, agents: Sequence[str]) -> Iterator[str]:
    """The names of the settings that concern the agents, judges and the player."""
    for spec in agents:
        kind = _kind(spec)
        if kind in {"http", "https", "replay"}:
            yield from _in("agent", HTTP)
        if _is_model(spec) or kind == "replay":
            yield from _in("model", MODEL)
        yield from _reached(spec)
    for spec in settings.judge.use:
        yield "judge.timeout"
        if _is_model(spec):
            yield from _in("judge", JUDGE)
        elif _kind(spec) in {"http", "https"}:
            yield "judge.headers"
        yield from _reached(spec)
    if settings.user is not None:
        yield from _reached(settings.user)


def _in(table: str, keys: Sequence[str]) -> Iterator[str]:
    return (f"{table}.{key}" for key in keys)


def _kind(spec: str) -> str:
    return spec.strip().partition(":")[0].lower()


def _is_model(spec: str) -> bool:
    return provider_of(spec) is not None or _kind(spec) == "local"


def _reached(spec: str) -> Iterator[str]:
    """The settings of how a model is reached, whether it is an agent, a judge or a player."""
    provider = provider_of(spec)
    if provider is not None:
        yield from (name for key in PROVIDER if (name := f"{provider.name}.{key}") in ALL_KEYS)
    elif _kind(spec) == "local":
        yield from _in("local", LOCAL)


def _kept(setting: Setting[Any], settings: Settings, environ: Mapping[str, str], redactor: Redactor | None) -> Any:
    """The value as a journal may keep it; None for the default. Of headers these are the names."""
    value = settings.value_of(setting)
    if value == setting.default and setting.variable:
        value = environ.get(setting.variable) or value
    if value == setting.default:
        return None
    if setting.attribute == "headers":
        return sorted(name.lower() for name, _ in value)
    if setting.secret or setting.name in _HASHED:
        text = repr(value)
        return _hash(text if redactor is None else redactor.redact(text))
    if isinstance(value, msgspec.Struct):
        parts = msgspec.structs.asdict(value)
        return {name: path.text for name, path in parts.items() if path is not None}
    return list(value) if isinstance(value, tuple) else value  # as it is read back


def _hash(text: str) -> dict[str, str]:
    return {"hash": short_hash(text)}
