"""From settings to what a run needs: the agent, and options with seed manifest, snapshot, tools and secrets."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from evalc.config import Settings
from evalc.config.settings import expanded
from evalc.errors import UsageError
from evalc.model.gates import Gates
from evalc.runtime.agents.base import Agent
from evalc.runtime.agents.http.options import HttpOptions
from evalc.runtime.agents.http.route import Connecting, Tls
from evalc.runtime.agents.model.endpoint import HOMES
from evalc.runtime.agents.model.options import Access, ModelOptions, Sampling
from evalc.runtime.agents.model.prices import input_price
from evalc.runtime.agents.record import RecordingAgent
from evalc.runtime.agents.spec import AgentSettings, agent_for, secrets_of
from evalc.runtime.checks.embedding import load_embeddings
from evalc.runtime.judges.cache import JudgeCache
from evalc.runtime.judges.kinds import JudgeSettings, judge_for
from evalc.runtime.judges.panel import Panel, seated
from evalc.runtime.local_model.serving import Serving
from evalc.runtime.run.capture import capture_snapshot
from evalc.runtime.run.run_options import RunOptions
from evalc.runtime.run.seed import load_seed
from evalc.runtime.run.stop_policy import Limits
from evalc.runtime.store.past.runs import LATEST
from evalc.runtime.store.redact import Redactor
from evalc.tools.registry import ToolRegistry

if TYPE_CHECKING:
    from evalc.report.otel.exporter import Exporter


def agents_of(settings: Settings, environ: Mapping[str, str], tools: ToolRegistry | None) -> tuple[Agent, ...]:
    """The agents that the settings name, at least one; `tools` are what they are offered where they are models.

    Raises:
        UsageError: they name none, or one that cannot be had.
    """
    if not settings.agent_endpoints:
        raise UsageError("no agent is named: use --agent, or `agentEndpoint` in the configuration (try --agent demo)")
    redactor = redactor_of(settings, environ)
    agent_settings = replace(_agent_settings(settings, environ, tools), redactor=redactor)
    return tuple(agent_for(spec, settings=agent_settings) for spec in settings.agent_endpoints)


_OURS: Final = frozenset({"http", "https", "openai", "anthropic", "command", "replay", "local", "demo"})
"""The kinds of agents and judges that are evalc's own code; of every other kind somebody else's runs in the process."""


def runs_code_of_others(settings: Settings) -> bool:
    """Whether an agent, a judge or what makes the snapshot is code that runs in this process."""
    specs = [*settings.agent_endpoints, *settings.judges]
    snapshot = settings.snapshot_source or ""
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
        headers=settings.expanded_headers(environ),
        retries=settings.retries,
        project_root=settings.root,
        http=_http_options(settings),
        openai=_openai(settings, environ),
        anthropic=_anthropic(settings, environ),
        model=_model(settings, tools),
        local=Serving(context_tokens=settings.local_context_tokens, load_ms=settings.local_load_timeout_ms),
    )


def _http_options(settings: Settings) -> HttpOptions:
    connect = settings.connect_timeout_ms
    return HttpOptions(
        method=settings.method,
        body=settings.body,
        answer=settings.answer_paths,
        stream=settings.stream_paths,
        redirects=settings.redirects,
        connecting=Connecting(
            tls=Tls(verify=settings.verify_tls, authorities=settings.ca_file),
            seconds=None if connect is None else connect / 1000,
        ),
    )


def _openai(settings: Settings, environ: Mapping[str, str]) -> Access:
    """How OpenAI's API is reached: as configured, else as the environment says it to OpenAI's own library too."""
    return Access(
        base_url=settings.openai_base_url or environ.get("OPENAI_BASE_URL") or None,
        key=environ.get(settings.openai_key_variable) or None,
        key_variable=settings.openai_key_variable,
        headers=_headers_of("openai", settings.openai_headers, settings, environ),
        api=settings.openai_api,
    )


def _anthropic(settings: Settings, environ: Mapping[str, str]) -> Access:
    """How Anthropic's API is reached: as configured, else as the environment says it to Anthropic's own library too."""
    return Access(
        base_url=settings.anthropic_base_url or environ.get("ANTHROPIC_BASE_URL") or None,
        key=environ.get(settings.anthropic_key_variable) or None,
        key_variable=settings.anthropic_key_variable,
        headers=_headers_of("anthropic", settings.anthropic_headers, settings, environ),
    )


def _headers_of(
    provider: str, headers: tuple[tuple[str, str], ...], settings: Settings, environ: Mapping[str, str]
) -> Mapping[str, str]:
    """A provider's headers; of one that is not asked, the variables need not be set."""
    specs = (*settings.agent_endpoints, *settings.judges)
    asked = any(spec.strip().lower().startswith(f"{provider}:") for spec in specs)
    return expanded(headers, environ) if asked else {}


def _model(settings: Settings, tools: ToolRegistry | None) -> ModelOptions:
    sampling = Sampling(
        temperature=settings.model_temperature,
        max_tokens=settings.model_max_tokens,
        seed=settings.model_seed,
        extra=dict(settings.model_extra_body),
    )
    return ModelOptions(system=settings.model_system_prompt, sampling=sampling, tools=tools)


def price_of(agent: str, settings: Settings, environ: Mapping[str, str]) -> Callable[[int], float | None]:
    """What so many tokens of input cost, in US dollars; None where the agent has no price that is known."""
    provider, _, model = agent.strip().partition(":")
    match provider.lower():
        case "openai":
            url = settings.openai_base_url or environ.get("OPENAI_BASE_URL") or HOMES["openai"]
        case "anthropic":
            url = settings.anthropic_base_url or environ.get("ANTHROPIC_BASE_URL") or HOMES["anthropic"]
        case _:
            return lambda _: None
    return partial(input_price, model=model.strip(), url=url)


def exporter_of(settings: Settings) -> Exporter | None:
    """What exports the run to OpenTelemetry; None where that is not asked for.

    Raises:
        UsageError: the extra `otel` is not installed.
    """
    if settings.otel is None:
        return None
    try:
        # For start-up time, and because it is an extra.
        from evalc.report.otel.exporter import Exporter  # noqa: PLC0415
    except ImportError:
        raise UsageError("`otel` needs packages that are not installed: pip install 'evalc[otel]'") from None
    return Exporter(None if settings.otel == "env" else settings.otel, content=settings.otel_content)


def redactor_of(settings: Settings, environ: Mapping[str, str]) -> Redactor:
    """What strikes the secrets out of all that is written."""
    return Redactor(_secrets(settings, environ))


def _secrets(settings: Settings, environ: Mapping[str, str]) -> tuple[str, ...]:
    """Every value that may be written nowhere: those of the configuration, those within agents' and judges' specs."""
    specs = (*settings.agent_endpoints, *settings.judges)
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
        concurrency=settings.concurrency,
        rpm=settings.rpm,
        timeout_ms=settings.timeout_ms,
        seed=_seed(settings),
        snapshot=await _snapshot(settings, redactor),
        registry=tools,
        baseline=settings.baseline_run_id or (LATEST if settings.fail_on_regression else None),
        accepted=settings.accepted_baseline,
        gates=_gates(settings),
        limits=Limits(max_cost=settings.max_cost),
        all_assertions=settings.all_assertions,
        panel=panel_of(settings, environ, redactor),
        embeddings=load_embeddings() if settings.similarity == "embeddings" else None,
        rubrics_always=settings.judge_rubrics == "always",
        redactor=redactor,
    )


def panel_of(settings: Settings, environ: Mapping[str, str], redactor: Redactor) -> Panel | None:
    """Who judges a run; None where no judge is named.

    Raises:
        UsageError: there is no such judge, or one cannot be had.
    """
    if not settings.judges:
        return None
    judge_settings = _judge_settings(settings, environ)
    judges = [judge_for(spec, settings=judge_settings) for spec in settings.judges]
    return Panel(
        seats=seated(judges, settings.judge_samples),
        timeout_ms=settings.judge_timeout_ms,
        cache=JudgeCache(settings.judge_cache_folder, redactor, environ) if settings.judge_cache else None,
        redactor=redactor,
    )


def _judge_settings(settings: Settings, environ: Mapping[str, str]) -> JudgeSettings:
    sampling = Sampling(
        temperature=settings.judge_temperature,
        max_tokens=settings.judge_max_tokens,
        seed=settings.judge_seed,
        extra=dict(settings.judge_extra_body),
    )
    behind_url = any(spec.lower().startswith(("http:", "https:")) for spec in settings.judges)
    return JudgeSettings(
        reached=_agent_settings(settings, environ),
        sampling=sampling,
        headers=expanded(settings.judge_headers, environ) if behind_url else {},
    )


async def _snapshot(settings: Settings, redactor: Redactor) -> object:
    if settings.snapshot_source is None:
        return None
    try:
        return await capture_snapshot(settings.snapshot_source, project_root=settings.root)
    except UsageError as error:  # it may quote what the snapshot's code says, and that may say anything
        raise UsageError(redactor.redact(str(error))) from None


def _gates(settings: Settings) -> Gates | None:
    """What the run as a whole has to reach; None where nothing is asked of it."""
    gates = Gates(
        min_pass_rate=settings.min_pass_rate,
        min_score=settings.min_score,
        max_p95_ms=settings.max_p95_ms,
        fail_on_regression=settings.fail_on_regression or None,
    )
    return gates or None


def _seed(settings: Settings) -> object:
    path = settings.seed_manifest
    return None if path is None else load_seed(path)
