"""From settings to what a run needs: the agent, and options with seed manifest, snapshot, tools and secrets."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from evalc.config import Settings
from evalc.errors import UsageError
from evalc.runtime.agents.base import Agent
from evalc.runtime.agents.spec import AgentSettings, agent_for, secrets_of
from evalc.runtime.capture import capture_snapshot
from evalc.runtime.redact import Redactor
from evalc.runtime.run_suite import RunOptions
from evalc.runtime.seed import load_seed
from evalc.tools.registry import ToolRegistry, UnsupportedRegistry, load_registry


def agent_of(settings: Settings, environ: Mapping[str, str]) -> Agent:
    """The agent that the settings name.

    Raises:
        UsageError: they name none, or one that cannot be had.
    """
    if settings.agent_endpoint is None:
        raise UsageError("no agent is named: use --agent, or `agentEndpoint` in the configuration (try --agent demo)")
    return agent_for(settings.agent_endpoint, settings=_agent_settings(settings, environ))


def _agent_settings(settings: Settings, environ: Mapping[str, str]) -> AgentSettings:
    return AgentSettings(
        headers=settings.expanded_headers(environ), retries=settings.retries, project_root=settings.root
    )


def _secrets(settings: Settings, environ: Mapping[str, str]) -> tuple[str, ...]:
    """Every value that may be written nowhere: those of the configuration, and those within the agent's spec."""
    spec = settings.agent_endpoint
    of_agent = () if spec is None else secrets_of(spec, settings=_agent_settings(settings, environ))
    return (*settings.secret_values(environ), *of_agent)


async def options_of(settings: Settings, environ: Mapping[str, str]) -> tuple[RunOptions, tuple[str, ...]]:
    """The options of a run, and what the user should know about them.

    The snapshot is captured here, once, just before the run (contract, 4. Snapshot Data).

    Raises:
        UsageError: a file that a flag names is not there, or a file that is there cannot be used.
    """
    notes: list[str] = []
    options = RunOptions(
        output_dir=settings.results_folder,
        concurrency=settings.concurrency,
        timeout_ms=settings.timeout_ms,
        seed=_seed(settings, notes),
        snapshot=None if settings.snapshot_source is None else await capture_snapshot(settings.snapshot_source),
        registry=_registry(settings, notes),
        baseline=settings.baseline_run_id,
        all_assertions=settings.all_assertions,
        redactor=Redactor(_secrets(settings, environ)),
    )
    return options, tuple(notes)


def _seed(settings: Settings, notes: list[str]) -> object:
    path = settings.seed_manifest
    if path is None or _is_absent(path, "seed_manifest_path", "seed manifest", settings, notes):
        return None
    return load_seed(path)


def _registry(settings: Settings, notes: list[str]) -> ToolRegistry | None:
    path = settings.tool_registry_path
    if path is None or _is_absent(path, "tool_registry_path", "tool registry", settings, notes):
        return None
    try:
        return load_registry(path)
    except UnsupportedRegistry as unsupported:
        notes.append(f"{unsupported}; staleness is not checked")
        return None


def _is_absent(path: Path, attribute: str, what: str, settings: Settings, notes: list[str]) -> bool:
    """Whether a file is not there that only the configuration names: said, and gone without."""
    if path.exists() or attribute in settings.given:
        return False
    notes.append(f"the {what} `{path}` of the configuration is not there")
    return True
