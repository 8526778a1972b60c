"""Runs, rescores or merges what was chosen: with agents, judges and gates as the settings say."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Coroutine, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

import msgspec
from msgspec.structs import replace

from evalc import extras
from evalc.base import AGENT_KINDS, CODING, PROVIDERS, collector_off, kind_of, names_offered, provider_of
from evalc.base.errors import AgentError, UsageError
from evalc.base.files import below_working_folder
from evalc.base.guard import DaemonThread
from evalc.checks import ProjectChecks
from evalc.config import ALL_KEYS, Settings
from evalc.config.http import expanded
from evalc.config.kinds import in_camel_case
from evalc.config.tables import JudgeTable, ModelTable, Setting
from evalc.diagnostics import Diagnostics
from evalc.diagnostics.near import typo_of
from evalc.model.case import Gates
from evalc.model.json import short_hash
from evalc.model.suite import Copied
from evalc.report import ReportedSuite
from evalc.report.words import nothing_ran
from evalc.runtime.agents import Access, Agent, HttpOptions, ModelOptions, NamedAgent, Sampling, Sending, Tls
from evalc.runtime.agents.http import Address, shown_url
from evalc.runtime.agents.model.apis import input_price
from evalc.runtime.agents.python import agent_of
from evalc.runtime.agents.recording import RecordingAgent, name_recorded_in
from evalc.runtime.agents.spec import AgentSettings, Serving, agent_for, secrets_of
from evalc.runtime.checks.similarity import load_embeddings
from evalc.runtime.judges.cache import JudgeCache
from evalc.runtime.judges.panel import JudgeSettings, Panel, judge_for, seated
from evalc.runtime.run.engine import NOBODY, LocalEngine, Observer, RunOptions, local_models
from evalc.runtime.run.gates import Limits
from evalc.runtime.run.run import run_suites
from evalc.runtime.run.tokens import capture_snapshot, load_object
from evalc.runtime.store.journal import Asked, kept_snapshot
from evalc.runtime.store.redact import SHORTEST, Redactor
from evalc.runtime.store.runs import LATEST, new_run_id, write_closing
from evalc.setup.compile import checks_in, line_of
from evalc.setup.finished import Run
from evalc.tools import ToolRegistry

if TYPE_CHECKING:
    from evalc.runtime.run.again_merge import Part
    from evalc.runtime.run.finish import FinishedRun
    from evalc.runtime.store.resume import PastRun
    from evalc.setup.request import Start, ToRun


Running = Callable[[], Coroutine[Any, Any, Run]]
"""Runs the compiled suites."""

_BEGINS_SECONDS: Final = 5
_LOOP_STOPPED: Final = "Event loop stopped before Future completed."
_WHERE_FINISHED: Final = "what was finished is in the journal, if the run is saved"


def to_the_end(compiled: Callable[[], Running]) -> Run:
    """Compile, and then run in an event loop of its own; where a loop runs already, as in a notebook, in a thread.

    Not in one step: within a loop Ctrl-C and a request to terminate are heard only where something is awaited, and
    compiling awaits nothing.
    """
    with collector_off():
        running = compiled()
    try:
        return asyncio.run(running()) if asyncio._get_running_loop() is None else _in_a_thread(running)
    except asyncio.CancelledError:  # by Ctrl-C it would be a KeyboardInterrupt
        raise AgentError(f"the run was cancelled by the agent; {_WHERE_FINISHED}") from None
    except RuntimeError as error:
        if str(error) != _LOOP_STOPPED:
            raise
        raise AgentError(f"the agent stopped the event loop; {_WHERE_FINISHED}") from None


def _in_a_thread(running: Running) -> Run:
    begun: Future[tuple[asyncio.AbstractEventLoop, asyncio.Task[Any]]] = Future()

    async def followed() -> Run:
        begun.set_result((asyncio.get_running_loop(), cast(asyncio.Task[Any], asyncio.current_task())))
        return await running()

    with ThreadPoolExecutor(1) as pool:
        try:
            return pool.submit(asyncio.run, followed()).result()
        except KeyboardInterrupt:
            with suppress(TimeoutError):  # where it came before the thread began
                loop, task = begun.result(_BEGINS_SECONDS)
                loop.call_soon_threadsafe(task.cancel)
            raise


async def run(what: ToRun, start: Start, observer: Observer = NOBODY) -> Run:
    """Run the suites against the agents: specs that the settings describe, or agents and objects of the caller."""
    settings, shard, request = start.settings, what.selection.shard, start.request
    past, record = request.past, None if request.record is None else Path(request.record)
    if settings.confidence is not None and gates_of(settings) is None:
        raise UsageError(
            "`confidence` is how sure the gates of a run have to be, and this run has none: add one, such as "
            "`--min-pass-rate 0.9`"
        )
    if shard is not None and settings.stop_when_sure:
        raise UsageError("`--stop-when-sure` looks at the cases of a whole run: it cannot be used with `--shard`")
    if record is not None and settings.engine != "local":
        raise UsageError("`--record` writes files on this machine: it cannot be used with `--engine ray`")
    _refuse_what_is_missing(what)
    exporter = exporter_of(settings)
    agents = _agents(request.agents, settings, what.tools)
    snapshot = None if past is None else _snapshot_of(past)
    options = await options_of(
        settings, os.environ, what.tools, snapshot, is_judged=what.is_judged, is_played=what.is_played
    )
    specs = [agent for agent in request.agents or settings.agent.use if isinstance(agent, str)]
    none_failed = {"wanted": msgspec.to_builtins(what.selection)} if what.selection.none_failed else {}
    options = replace(
        with_their_own(options, settings, request.agents or settings.agent.use, agents),
        run_id=start.run_id,
        flags={**start.flags, **none_failed},
        limits=replace(options.limits, max_fail=request.max_fail),
        checks=options.checks.joined_by(what.functions) if what.functions else options.checks,
        traced=exporter is not None,
        asked=asked_of(settings, specs, os.environ, what.tools, options.redactor),
        skills_hash=copied_hash(_skills_of(specs, settings), settings),
        retry_errors=request.retry_errors,
        command=start.command,
    )
    if past is not None:
        options = replace(options, output_dir=past.folder.parent, resumed=past.folder)
    if start.temporary is not None:
        options = replace(options, made_in=start.temporary.path)
    if shard is not None:  # what decides a run decides the merged one
        judged = options.rubrics_always or any(suite.tier == "rubric" for suite in what.suites)
        options = replace(options, gates=None, baseline=None, rubrics_always=judged)
    served = [*agents, *([] if options.user is None else [options.user])]  # what records one hides what it is
    if record is not None:
        agents = [recorded(agent, record, settings, what.tools, options) for agent in agents]
        if options.user is not None:
            options = replace(options, user=recorded(options.user, record, settings, None, options))
    async with local_models(served, options.panel, observer):
        finished = await run_suites(what.suites, agents, options, observer=observer)
    closed = _closed(what, finished, settings, options, await _exported(finished, exporter))
    return replace(closed, temporary=start.temporary)


async def rescore(what: ToRun, past: PastRun, settings: Settings, observer: Observer) -> Run:
    """Check the answers of a past run again, with the checks of the suites."""
    from evalc.runtime.run.again_rescore import rescore_suites  # noqa: PLC0415 - for start-up: a run needs none of it

    _refuse_what_is_missing(what)
    asked = settings.replace(snapshot=None)
    options = await options_of(
        asked, os.environ, what.tools, _snapshot_of(past), is_judged=what.is_judged, is_played=what.is_played
    )
    # What is configured is for runs: a rescored one shows what has changed since the run that it is made of.
    baseline = options.baseline if "baseline" in settings.given else None
    options = replace(options, run_id=new_run_id(settings.results_folder), baseline=baseline)
    async with local_models((), options.panel, observer):
        finished = await rescore_suites(what.suites, past, options, observer=observer)
    return _closed(what, finished, settings, options)


async def merge(what: ToRun, parts: Sequence[Part], settings: Settings, observer: Observer) -> Run:
    """Merge the runs of all shards into one run, judged and compared as a whole."""
    from evalc.runtime.run.again_merge import merge_suites  # noqa: PLC0415 - for start-up, as above

    # Nothing is asked, and nothing checked.
    asked = settings.replace(snapshot=None, checks=(), judge=settings.judge.replace(use=()))
    options = await options_of(asked, os.environ, what.tools)
    options = replace(options, run_id=new_run_id(settings.results_folder))
    return _closed(what, await merge_suites(what.suites, parts, options, observer=observer), settings, options)


def _unprotected(names: Iterable[str], environ: Mapping[str, str]) -> Iterator[str]:
    """Warnings of variables that `secrets` names, and whose values stay in what is written."""
    for name in names:
        value = environ.get(name, "").strip()
        if value and len(value) < SHORTEST:
            yield f"the value of `{name}` in `secrets` has fewer than {SHORTEST} characters, and is not struck out"
        elif name not in environ and (typo := typo_of(name, environ)) is not None:
            yield f"`{name}` in `secrets` is not set, and the value of `{typo.meant}` is not struck out"


def _snapshot_of(past: PastRun) -> object:
    """The snapshot that a run was checked with; None if it had none."""
    return None if past.header is None else kept_snapshot(past.header)


def _refuse_what_is_missing(what: ToRun) -> None:
    """Before the agent is paid for answers that nobody could judge."""
    if what.needs_judge is not None:
        raise UsageError(
            f"the case `{what.needs_judge}` needs a judge: name one with `--judge`, such as `--judge openai:MODEL`, or "
            "with `judge` in the configuration"
        )
    if what.needs_user is not None:
        raise UsageError(
            f"the case `{what.needs_user}` has a simulated user: name who plays it with `--user`, such as `--user "
            "openai:MODEL`, or with `user` in the configuration"
        )
    if what.asks_language:
        extras.refuse_missing("language")


def _closed(
    what: ToRun, finished: FinishedRun, settings: Settings, options: RunOptions, warning: str | None = None
) -> Run:
    """The finished run, once what it says beside its suites is kept for whoever asks later.

    It warns where no case ran, so that nothing was verified.
    """
    idle = nothing_ran(finished.summary) if what.selection.shard is None else None
    run = Run(
        finished=finished,
        problems=what.problems,
        notes=(*what.notes, *_unprotected(settings.secrets, os.environ), *filter(None, (idle, warning))),
        strict=settings.strict,
        selected=what.selected,
        inventory=what.inventory,
        redact=options.redactor.redact,
        checks=checks_in(settings),
    )
    unwritten = write_closing(finished.folder, run.closing, options.redactor)
    return run if unwritten is None else msgspec.structs.replace(run, notes=(*run.notes, unwritten))


async def _exported(finished: FinishedRun, exporter: extras.otel.Exporter | None) -> str | None:
    """Export the run if that is asked for; what is to be said where it could not be done."""
    if exporter is None:
        return None
    suites = tuple(ReportedSuite(result=suite.result, cases=suite.cases()) for suite in finished.suites)
    # In a thread, for Ctrl-C and for callers whose event loop has other work.
    thread = DaemonThread()
    try:
        warning = await thread.call(lambda: exporter.export(finished.run_id, finished.summary, suites))
    finally:
        thread.abandon()
    return None if warning is None else str(warning)


def _agents(given: Sequence[object], settings: Settings, tools: ToolRegistry | None) -> Sequence[Agent]:
    """The agents that a caller gives, of whose specs the settings know; if none are given, those of the settings."""
    if not given:
        return agents_of(settings, os.environ, tools)
    named = iter(agents_of(settings, os.environ, tools) if any(isinstance(agent, str) for agent in given) else ())
    return [next(named) if isinstance(agent, str) else agent_of(agent) for agent in given]


def agents_of(settings: Settings, environ: Mapping[str, str], tools: ToolRegistry | None) -> tuple[Agent, ...]:
    """The agents that the settings name, at least one; `tools` are what they are offered where they are models."""
    if not settings.agent.use:
        raise UsageError(
            "no agent is named: use --agent, in Python `agent=...`, or `agent` in the configuration (try --agent demo)"
        )
    redactor = redactor_of(settings, environ)
    with _without_secrets(redactor):
        return tuple(_agent(each, settings, environ, tools, redactor) for each in settings.agent.use)


def _agent(
    named: str, settings: Settings, environ: Mapping[str, str], tools: ToolRegistry | None, redactor: Redactor
) -> Agent:
    own = _settings_for(named, settings)
    (spec,) = own.agent.use
    if spec != named and named in names_offered("evalc.agents"):
        raise UsageError(f"the agent `{named}` of the configuration has the name of an installed package's: rename it")
    agent = agent_for(spec, settings=replace(_agent_settings(own, environ, tools), redactor=redactor))
    return agent if spec == named else NamedAgent(named, agent)


def _settings_for(agent: str, settings: Settings) -> Settings:
    """The settings that hold for one agent: of a recorded agent, those of the agent that was recorded."""
    own = settings.for_agent(_table_of(agent, settings) or agent)
    return own.replace(agent=own.agent.replace(use=(agent,))) if kind_of(agent) == "replay" else own


def _table_of(agent: str, settings: Settings) -> str:
    """The name under which the configuration has settings for an agent; empty if it has none."""
    name = name_recorded_in(agent.partition(":")[2]) if kind_of(agent) == "replay" else agent
    return name if name in dict(settings.agents) else ""


@contextmanager
def _without_secrets(redactor: Redactor) -> Iterator[None]:
    """Strikes secrets out of why something cannot be loaded, which may quote what its code says, and that anything."""
    try:
        yield
    except UsageError as error:
        raise type(error)(redactor.redact(str(error))) from None


_OURS: Final = frozenset(AGENT_KINDS) - {"python"}
"""The kinds of agents and judges that are evalc's own code; of every other kind somebody else's runs in the process."""


def _everybody(settings: Settings) -> Iterator[tuple[str, Settings]]:
    """The agents, judges and players of users that a run asks, by their specs, with the settings that hold for each."""
    for own in (_settings_for(each, settings) for each in settings.agent.use):
        yield own.agent.use[0], own
    others = _for_others(settings)
    yield from ((spec, others) for spec in (*settings.judge.use, *([] if settings.user is None else [settings.user])))


def _for_others(settings: Settings) -> Settings:
    """The settings as they hold for judges and for who plays users, whom no header of an agent concerns."""
    return settings.replace(agent=settings.agent.replace(use=(), headers=()))


def runs_code_of_others(settings: Settings) -> bool:
    """Whether an agent, a judge, what makes the snapshot or a check is code that runs in this process."""
    snapshot = settings.snapshot or ""
    return (
        bool(settings.checks)
        or snapshot.startswith("python:")
        or any(kind_of(spec) not in _OURS for spec, _ in _everybody(settings))
    )


def recorded(agent: Agent, folder: Path, settings: Settings, tools: ToolRegistry | None, options: RunOptions) -> Agent:
    """The agent, whose every exchange is written to a folder."""
    own = settings.for_agent(agent.endpoint) if isinstance(agent, NamedAgent) else settings
    return RecordingAgent(agent, folder, model=_model(own, tools), http=_http_options(own), redactor=options.redactor)


def _agent_settings(settings: Settings, environ: Mapping[str, str], tools: ToolRegistry | None = None) -> AgentSettings:
    asked = {provider_of(spec) for spec, _ in _everybody(settings)}
    return AgentSettings(
        brought=settings.brought,
        named=tuple(dict(settings.agents)),
        skills=settings.agent.skills,
        headers=expanded(settings.agent.headers, environ),
        project_root=settings.root,
        http=_http_options(settings),
        providers={
            name: _access(name, settings, environ, is_asked=provider in asked) for name, provider in PROVIDERS.items()
        },
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
        sending=Sending(
            tls=Tls(verify=table.verify_tls, authorities=table.ca_file),
            connect_seconds=None if connect is None else connect / 1000,
            retries=table.retries,
        ),
    )


def _access(name: str, settings: Settings, environ: Mapping[str, str], *, is_asked: bool) -> Access:
    """How a provider's API is reached: as configured, else as the environment says it to its own library too.

    Of a provider that is not asked, the variables in headers need not be set.
    """
    table = settings.providers[name]
    return Access(
        base_url=_base_url(name, settings, environ),
        key=environ.get(table.key_variable) or None,
        key_variable=table.key_variable,
        headers=expanded(table.headers, environ) if is_asked else {},
        api=table.api,
    )


def _base_url(name: str, settings: Settings, environ: Mapping[str, str]) -> str | None:
    """Where a provider's API is said to be; None for its own server."""
    return settings.providers[name].base_url or environ.get(PROVIDERS[name].base_url_variable) or None


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
    own = settings.for_agent(agent)
    (spec,) = own.agent.use
    provider = provider_of(spec)
    if provider is None:
        return lambda _: None
    url = _base_url(provider.name, own, environ) or provider.home
    return partial(input_price, model=spec.partition(":")[2].strip(), url=url)


def exporter_of(settings: Settings) -> extras.otel.Exporter | None:
    """The exporter to OpenTelemetry; None if none is asked for."""
    if settings.otel is None:
        return None
    url = None if settings.otel == "env" else settings.otel
    return extras.otel.Exporter(url, content=settings.otel_content)


def redactor_of(settings: Settings, environ: Mapping[str, str]) -> Redactor:
    """Strikes out what may be written nowhere: secrets of the configuration, and within agents' and judges' specs."""
    asked = ((spec, _agent_settings(own, environ)) for spec, own in _everybody(settings))
    unasked = ((agent.use, AgentSettings()) for _, agent in settings.agents)
    of_specs = (secret for spec, own in (*asked, *unasked) for secret in secrets_of(spec, settings=own))
    return Redactor((*settings.secret_values(environ), *of_specs))


async def options_of(
    settings: Settings,
    environ: Mapping[str, str],
    tools: ToolRegistry | None,
    snapshot: object = None,
    *,
    is_judged: bool = True,
    is_played: bool = True,
) -> RunOptions:
    """The options of a run. `snapshot` is that of an earlier run.

    Without one it is captured here, once, just before the run (contract, 4. Snapshot Data). Judges and a player whom no
    case asks are left out, so that their keys need not be there.
    """
    redactor = redactor_of(settings, environ)
    address = settings.engine.partition(":")[2] or settings.ray_address
    with _without_secrets(redactor):
        return RunOptions(
            output_dir=settings.results_folder,
            engine=LocalEngine() if settings.engine == "local" else extras.ray.RayEngine(address),
            concurrency=settings.concurrency,
            rpm=settings.rpm,
            timeout_ms=settings.timeout_ms,
            seed=seed_of(settings),
            snapshot=await _captured(settings) if snapshot is None else snapshot,
            registry=tools,
            baseline=settings.baseline or (LATEST if settings.fail_on_regression else None),
            accepted=settings.accepted_baseline,
            gates=gates_of(settings),
            limits=Limits(max_cost=settings.max_cost, max_errors=settings.max_errors),
            all_assertions=settings.all_assertions,
            panel=panel_of(settings, environ, redactor) if is_judged else None,
            user=_user_of(settings, environ, redactor) if is_played else None,
            checks=_checks_of(settings),
            line_of=line_of,
            embeddings=load_embeddings() if settings.similarity == "embeddings" else None,
            rubrics_always=settings.judge.rubrics == "always",
            stop_when_sure=settings.stop_when_sure,
            redactor=redactor,
            root=settings.root,
        )


def with_their_own(
    options: RunOptions, settings: Settings, given: Sequence[object], agents: Sequence[Agent]
) -> RunOptions:
    """The options, with how fast each agent is asked and how long it may take; the `agents` are those `given`."""
    specs = {agent.endpoint: spec for spec, agent in zip(given, agents, strict=True) if isinstance(spec, str)}
    own = {name: _settings_for(spec, settings) for name, spec in specs.items()}
    return replace(
        options, of_agents={name: {"rpm": each.rpm, "timeout_ms": each.timeout_ms} for name, each in own.items()}
    )


def longest_ms(settings: Settings) -> float:
    """The time that an attempt at a case may take, in milliseconds, of the agent that may take the longest."""
    return max((settings.timeout_ms, *(own.timeout_ms for _, own in _everybody(settings))))


def _checks_of(settings: Settings) -> ProjectChecks:
    """The checks of the project's files, imported before anything is asked."""
    files = tuple(map(os.path.abspath, settings.checks))
    checks = ProjectChecks(files=files, root=settings.root.resolve())
    if not files:
        return checks
    from evalc.compiler.custom import declared_in  # noqa: PLC0415 - for start-up: few projects have such checks

    found = checks.by_name()
    for file in files:
        for name, *_ in declared_in(Path(file), Diagnostics()):
            if name not in found:
                raise UsageError(
                    f"`{below_working_folder(Path(file))}` declares a check `{name}`, and has none once it is "
                    "imported: something else there takes its name, or a decorator puts another function in its place"
                )
    return checks


def panel_of(settings: Settings, environ: Mapping[str, str], redactor: Redactor) -> Panel | None:
    """The judges of a run; None if no judge is named."""
    if not settings.judge.use:
        return None
    behind_url = any(spec.lower().startswith(("http:", "https:")) for spec in settings.judge.use)
    judge_settings = JudgeSettings(
        reached=_agent_settings(_for_others(settings), environ),
        sampling=_sampling(settings.judge),
        headers=expanded(settings.judge.headers, environ) if behind_url else {},
    )
    with _without_secrets(redactor):
        judges = [judge_for(spec, settings=judge_settings) for spec in settings.judge.use]
    return Panel(
        seats=seated(judges, settings.judge.samples),
        timeout_ms=settings.judge.timeout_ms,
        cache=JudgeCache(settings.judge_cache_folder, redactor, environ) if settings.judge.cache else None,
        redactor=redactor,
    )


def _user_of(settings: Settings, environ: Mapping[str, str], redactor: Redactor) -> Agent | None:
    """The player of simulated users; None if nobody is named."""
    if settings.user is None:
        return None
    # Told what to do by evalc, and offered no tools: what is configured for the agent's model is nothing to it.
    reached = replace(_agent_settings(_for_others(settings), environ), http=HttpOptions(), redactor=redactor)
    try:
        return agent_for(settings.user, settings=replace(reached, model=ModelOptions()))
    except UsageError as error:
        raise UsageError(f"nobody can play users: {error}") from None


async def _captured(settings: Settings) -> object:
    if settings.snapshot is None:
        return None
    return await capture_snapshot(settings.snapshot, project_root=settings.root, brought=settings.brought)


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


def seed_of(settings: Settings) -> dict[str, Any] | None:
    """The seed manifest; None if there is none."""
    path = settings.seed_file
    return None if path is None else load_object(path, "seed manifest")


def copied_hash(copied: Iterable[Copied], settings: Settings) -> str | None:
    """The hash of the contents of what agents are given copies of, less what evalc writes itself; None for nothing."""
    if not (given := tuple(copied)):
        return None
    from evalc.runtime.agents.coding import content_hash  # noqa: PLC0415 - for start-up: few suites give files

    return content_hash(given, settings.root, (*settings.written_paths, settings.root / ".evalc"))


HTTP: Final = ("method", "body", "response", "stream", "accepted_statuses", "redirects", "headers")
COMMAND: Final = ("skills",)
MODEL: Final = ("system_prompt", "temperature", "max_tokens", "seed", "extra_body")
JUDGE: Final = ("temperature", "max_tokens", "seed", "extra_body")
PROVIDER: Final = ("base_url", "api", "headers")
LOCAL: Final = ("context_tokens",)
_WITH_FOLDER: Final = frozenset({"command", *CODING})
_HASHED: Final = frozenset({"model.system_prompt", "openai.base_url", "anthropic.base_url"})
"""Texts that evalc does not treat as secrets, but that may be long or contain some."""


def asked_of(
    settings: Settings,
    agents: Sequence[str],
    environ: Mapping[str, str],
    tools: ToolRegistry | None,
    redactor: Redactor,
) -> Asked:
    """The settings that decide what is sent and how answers are read, as far as they are not their defaults.

    `agents` are specs and names: an agent of a caller is not configured. `tools` are what models are offered;
    `redactor` strikes secrets out of what is hashed.
    """
    asked: dict[str, Any] = {}
    specs = []
    for agent in map(str.strip, agents):
        own, name = _settings_for(agent, settings), _table_of(agent, settings)
        (spec,) = own.agent.use
        table = f"agents.{name}." if name else ""
        specs.append(spec)
        asked |= {f"{table}use": shown_url(spec)} if table else {}
        asked |= {f"{table}timeoutMs": own.timeout_ms} if own.timeout_ms != settings.timeout_ms else {}
        for each, value in _kept(_of_agent(spec), own, environ, redactor):
            asked[f"{table}{in_camel_case(each.attribute)}" if table else each.recorded] = value
    asked |= {each.recorded: value for each, value in _kept(_of_others(settings), settings, environ, redactor)}
    queried = [Address.of(spec).url for spec in specs if kind_of(spec) in {"http", "https"} and "?" in spec]
    if queried:  # results do not show the values of a query, which may be secrets
        asked["agent"] = _hash("\n".join(queried))
    if tools is not None and any(map(_is_model, specs)):
        offered = [(tool.name, tool.description, tool.parameters) for tool in tools.values()]
        asked["tools"] = _hash(msgspec.json.encode(offered).decode())
    return asked


def _skills_of(agents: Sequence[str], settings: Settings) -> Iterator[Copied]:
    """The skills that agents are given in every case, by specs and names of the agents."""
    for own in (_settings_for(agent.strip(), settings) for agent in agents):
        if kind_of(own.agent.use[0]) in _WITH_FOLDER:
            yield from (Copied(str(skill), is_skill=True) for skill in own.agent.skills or ())


def _of_agent(spec: str) -> Iterator[str]:
    """The names of the settings that concern an agent."""
    kind = kind_of(spec)
    if kind in _WITH_FOLDER:
        yield from _in("agent", COMMAND)
    if kind in {"http", "https", "replay"}:
        yield from _in("agent", HTTP)
    if _is_model(spec) or kind == "replay":
        yield from _in("model", MODEL)
    yield from _reached(spec)


def _of_others(settings: Settings) -> Iterator[str]:
    """The names of the settings that concern judges and the player."""
    for spec in settings.judge.use:
        yield "judge.timeout"
        if _is_model(spec):
            yield from _in("judge", JUDGE)
        elif kind_of(spec) in {"http", "https"}:
            yield "judge.headers"
        yield from _reached(spec)
    if settings.user is not None:
        yield from _reached(settings.user)


def _in(table: str, keys: Sequence[str]) -> Iterator[str]:
    return (f"{table}.{key}" for key in keys)


def _is_model(spec: str) -> bool:
    return provider_of(spec) is not None or kind_of(spec) == "local"


def _reached(spec: str) -> Iterator[str]:
    """The settings of how a model is reached, whether it is an agent, a judge or a player."""
    provider = provider_of(spec)
    if provider is not None:
        yield from (name for key in PROVIDER if (name := f"{provider.name}.{key}") in ALL_KEYS)
    elif kind_of(spec) == "local":
        yield from _in("local", LOCAL)


def _kept(
    names: Iterable[str], settings: Settings, environ: Mapping[str, str], redactor: Redactor
) -> Iterator[tuple[Setting[Any], Any]]:
    """The settings of these names that are not as by default, each with its value as a journal may keep it."""
    for setting in (ALL_KEYS[name] for name in dict.fromkeys(names)):
        value = _kept_value(setting, settings, environ, redactor)
        if value is not None:
            yield setting, value


def _kept_value(setting: Setting[Any], settings: Settings, environ: Mapping[str, str], redactor: Redactor) -> Any:
    """The value as a journal may keep it; None for the default. Of headers these are the names."""
    value = settings.value_of(setting)
    if value == setting.default and setting.variable:
        value = environ.get(setting.variable) or value
    if value == setting.default:
        return None
    if setting.attribute == "headers":
        return sorted(name.lower() for name, _ in value)
    if setting.secret or setting.name in _HASHED:
        return _hash(redactor.redact(repr(value)))
    if isinstance(value, msgspec.Struct):
        parts = msgspec.structs.asdict(value)
        return {name: path.text for name, path in parts.items() if path is not None}
    if isinstance(value, tuple):  # as it is read back
        return [os.path.relpath(each, settings.root) if isinstance(each, Path) else each for each in value]
    return value


def _hash(text: str) -> dict[str, str]:
    return {"hash": short_hash(text)}
