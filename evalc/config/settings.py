"""The settings: each declared once, with its key, its values, its default and what it means.

The reader of configurations, their JSON Schema, the flags, `evalc config` and the table in the documentation all
follow from these declarations.
"""

# Annotations are read while the module is imported, so they are not postponed.

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Final, Literal, TypeVar, final

import msgspec

from evalc.base.files import is_accepted_baseline
from evalc.base.providers import MODEL_FORMS, PROVIDERS, ApiName, Provider
from evalc.config import values as v
from evalc.config.http import ANSWER_PATHS, BODY, STREAM_PATHS, Headers, credentials_in, variables_of
from evalc.config.setting import Key, Setting, Table, keys_of
from evalc.runtime.mapping import AnswerPaths, BodyTemplate, StreamPaths

T = TypeVar("T")

_MODELS: Final = ", ".join(f"`{form}`" for form in MODEL_FORMS)
_A_KEY: Final = {"Authorization": "Bearer ${AGENT_KEY}"}
_FURTHER_FIELDS: Final = "Further fields of each request, which override all others."
_MOST_TOKENS: Final = v.whole(1, 2**31 - 1)
_SEED: Final = v.whole(-(2**63), 2**63 - 1)


@final
class AgentTable(Table, frozen=True, kw_only=True):
    """How an agent is called over HTTP."""

    headers: Annotated[
        Headers,
        Setting(
            v.HEADERS,
            "The headers of each request; `${NAME}` is replaced by an environment variable.",
            examples=(_A_KEY,),
            secret=True,
        ),
    ] = ()
    retries: Annotated[
        int, Setting(v.whole(0, 10), "How often a request is repeated after a fault of the connection.")
    ] = 2
    method: Annotated[
        Literal["POST", "PUT", "PATCH"], Setting(v.one_of("POST", "PUT", "PATCH"), "The method of each request.")
    ] = "POST"
    body: Annotated[
        BodyTemplate | None,
        Setting(
            BODY,
            "What is sent, as a table or as JSON in a text; `{{message}}`, `{{messages}}`, `{{id}}`, `{{session}}` and "
            "`{{input.NAME}}` are filled.",
            examples=({"question": "{{message}}"},),
            otherwise='`{"message": ...}`',
            secret=True,
        ),
    ] = None
    response: Annotated[
        AnswerPaths,
        Setting(
            ANSWER_PATHS,
            "Where to find each part of an answer, as JMESPath; `name` to `error` within each of the `toolCalls`.",
            examples=({"response": "output.text"},),
            otherwise="the fields of the contract",
        ),
    ] = msgspec.field(default_factory=AnswerPaths)
    stream: Annotated[
        StreamPaths | None,
        Setting(
            STREAM_PATHS,
            "Where to find each part of a streamed event, as JMESPath; `done` is true in the last event.",
            examples=({"text": "delta", "done": "finished"},),
            otherwise="the known shapes",
        ),
    ] = None
    redirects: Annotated[int, Setting(v.whole(0, 20), "How many redirects of an answer are followed.")] = 0
    accepted_statuses: Annotated[
        tuple[int, ...],
        Setting(
            v.ACCEPTED_STATUSES,
            "Which of the statuses 202 and 206 come with complete answers. Other answers with them are errors.",
            examples=((202,),),
        ),
    ] = ()
    verify_tls: Annotated[bool, Setting(v.FLAG, "Verify the certificates of servers: agents, models and judges.")] = (
        True
    )
    ca_file: Annotated[
        Path | None,
        Setting(
            v.CA_FILE,
            "The file of the authorities that certificates may come from.",
            examples=("ca.pem",),
            otherwise="the usual authorities",
        ),
    ] = None
    connect_timeout_ms: Annotated[
        float | None,
        Setting(
            v.MILLISECONDS,
            "How long connecting may take, in milliseconds, within the time of the case.",
            otherwise="that time",
        ),
    ] = None


@final
class ProviderTable(Table, frozen=True, kw_only=True):
    """How a provider's API is reached, or a server that speaks it."""

    base_url: Annotated[
        str | None,
        Setting(
            v.TEXT, "Where the API is.", examples=("http://localhost:8080/v1",), otherwise="the provider's own server"
        ),
    ] = None
    api: Annotated[
        ApiName, Setting(v.one_of("chat", "responses"), "Which API is asked: Chat Completions or Responses.")
    ] = "chat"
    key_variable: Annotated[str, Setting(v.VARIABLE_NAME, "The environment variable with the key.")] = ""
    headers: Annotated[
        Headers,
        Setting(
            v.HEADERS,
            "The headers of each request; `${NAME}` is replaced by an environment variable.",
            examples=(_A_KEY,),
            secret=True,
        ),
    ] = ()


@final
class ModelTable(Table, frozen=True, kw_only=True):
    """How an agent that is a model is asked."""

    system_prompt: Annotated[
        str | None,
        Setting(
            v.TEXT,
            "The system prompt, instead of the prompt file's `role` and `instructions`.",
            examples=("Answer briefly.",),
        ),
    ] = None
    temperature: Annotated[
        float | None, Setting(v.TEMPERATURE, "How freely the model answers.", otherwise="the provider's default")
    ] = None
    max_tokens: Annotated[
        int | None, Setting(_MOST_TOKENS, "How many tokens an answer may have.", otherwise="the provider's default")
    ] = None
    seed: Annotated[int | None, Setting(_SEED, "The seed of the answers, if the API takes one.")] = None
    extra_body: Annotated[
        tuple[tuple[str, Any], ...], Setting(v.EXTRA_BODY, _FURTHER_FIELDS, examples=({"top_p": 0.9},), secret=True)
    ] = ()


@final
class LocalTable(Table, frozen=True, kw_only=True):
    """How models on this machine are served."""

    context_tokens: Annotated[
        int,
        Setting(
            v.whole(256, 2**24), "How many tokens a conversation with a local model may have, its answer included."
        ),
    ] = 8192
    load_timeout_ms: Annotated[
        float, Setting(v.MILLISECONDS, "How long loading a local model may take, in milliseconds.")
    ] = 120_000


@final
class JudgeTable(Table, frozen=True, kw_only=True):
    """How judges are asked."""

    samples: Annotated[
        int,
        Setting(
            v.whole(1, 99), "How often each judge is asked for one score; the median counts.", flag="--judge-samples"
        ),
    ] = 1
    timeout_ms: Annotated[float, Setting(v.MILLISECONDS, "The time for one score, in milliseconds.")] = 60_000
    cache: Annotated[
        bool,
        Setting(v.FLAG, "Keep judgements in `.evalc/cache/judge`, and take them from there.", flag="--no-judge-cache"),
    ] = True
    rubrics: Annotated[
        Literal["passed", "always"],
        Setting(
            v.one_of("passed", "always"),
            "When the rubric tier runs: `passed` for the cases whose other tiers passed, or `always`.",
            flag="--rubrics",
        ),
    ] = "passed"
    temperature: Annotated[
        float | None, Setting(v.TEMPERATURE, "How freely the model answers.", otherwise="the provider's default")
    ] = None
    max_tokens: Annotated[
        int | None, Setting(_MOST_TOKENS, "How many tokens an answer may have.", otherwise="the provider's default")
    ] = None
    seed: Annotated[int | None, Setting(_SEED, "The seed of the answers, if the API takes one.")] = None
    extra_body: Annotated[
        tuple[tuple[str, Any], ...], Setting(v.EXTRA_BODY, _FURTHER_FIELDS, examples=({"top_p": 0.9},), secret=True)
    ] = ()
    headers: Annotated[
        Headers,
        Setting(
            v.HEADERS,
            "The headers of requests to judges behind a URL; `${NAME}` is replaced by an environment variable.",
            examples=(_A_KEY,),
            secret=True,
        ),
    ] = ()


def _unconfigured() -> Mapping[str, ProviderTable]:
    return {name: provider_table(provider) for name, provider in PROVIDERS.items()}


def provider_table(provider: Provider, **said: Any) -> ProviderTable:
    """The table of a provider, with what is said of it."""
    return ProviderTable(**{"api": provider.apis[0], "key_variable": provider.key_variable, **said})


@final
class Settings(Table, frozen=True, kw_only=True):
    """The settings of one command. Paths are absolute, except `paths`, which are as the working folder sees them.

    Attributes:
        root: the project's folder: the nearest one upwards with a configuration or `.git`, else the working folder.
        file: the configuration file, if there is one.
        given: the keys that a flag or a caller set, as in `judge.samples`.
        configured: the keys that the file sets, if no flag does.
        providers: the tables of the providers, by name.
    """

    root: Path
    file: Path | None = None
    given: frozenset[str] = frozenset()
    configured: frozenset[str] = frozenset()

    # The contract's (Runner Configuration).
    agent_endpoints: Annotated[
        tuple[str, ...],
        Setting(
            v.AGENTS,
            f"The agent: a URL, {_MODELS}, `python:MODULE:NAME`, `command:...`, `local`, `replay:DIR` or `demo`; "
            "each of several gets every case.",
            examples=(
                "http://localhost:3000/chat",
                [f"{provider.name}:{provider.example}" for provider in PROVIDERS.values()],
            ),
            key="agentEndpoint",
            flag="--agent",
        ),
    ] = ()
    seed_manifest_path: Annotated[
        Path | None,
        Setting(
            v.PATH,
            "The file that `{{seed:...}}` values come from.",
            examples=("evals/seed-manifest.json",),
            otherwise="`evals/seed-manifest.json`",
            flag="--seed-manifest",
        ),
    ] = None
    snapshot_enabled: Annotated[
        bool | None,
        Setting(v.FLAG, "`false` turns `snapshotSource` off; `true` without a `snapshotSource` is an error."),
    ] = None
    output_dir: Annotated[
        Path | None,
        Setting(
            v.PATH,
            "Where results go.",
            examples=("evals/results",),
            otherwise="`evals/results`",
            flag="--output-dir",
        ),
    ] = None
    baseline_run_id: Annotated[
        str | None,
        Setting(
            v.TEXT,
            "Compare with a run: its id, a path, or `latest`, which is `evals/baseline.json` or the last green run.",
            examples=("latest",),
            flag="--baseline",
        ),
    ] = None
    concurrency: Annotated[
        int | Literal["auto"],
        Setting(
            v.CONCURRENCY,
            "How many cases run at a time; `auto` finds out how many the agent keeps up with.",
            examples=(4, "auto"),
            flag="--concurrency",
        ),
    ] = 1
    engine: Annotated[
        str,
        Setting(
            v.ENGINE,
            "Where cases run: `local`, in this process, or `ray`, on a Ray cluster (`evalc[ray]`): `ray:HOST:PORT` of "
            "its head node, `ray:auto` for this machine's cluster; else the one of `RAY_ADDRESS`, or a new one for the "
            "run.",
            examples=("ray", "ray:auto"),
            flag="--engine",
        ),
    ] = "local"
    ray_address: Annotated[
        str | None,
        Setting(
            v.TEXT,
            "The Ray cluster: `HOST:PORT` of its head node, or `auto` for this machine's cluster.",
            examples=("auto",),
            otherwise="that of `RAY_ADDRESS`, or one on this machine for the run",
            flag="--ray-address",
        ),
    ] = None
    rpm: Annotated[
        int | None,
        Setting(
            v.whole(1, 1_000_000),
            "Send at most N requests a minute to the agent.",
            examples=(600,),
            otherwise="no limit",
            flag="--rpm",
        ),
    ] = None
    timeout_ms: Annotated[
        float,
        Setting(
            v.DURATION,
            "The time for each attempt at a case, such as `90s`.",
            examples=("30s", 30_000),
            otherwise="60s",
            flag="--timeout",
        ),
    ] = 60_000
    tool_registry_path: Annotated[
        Path | None,
        Setting(
            v.PATH,
            "The file with the agent's tools, to check their names: JSON, or a TypeScript or JavaScript module.",
            examples=("tools/tools.exports.ts",),
            flag="--tools",
        ),
    ] = None

    # Our own.
    snapshot_source: Annotated[
        str | None,
        Setting(
            v.SNAPSHOT,
            "Where `{{snapshot:...}}` values come from: a file, a URL, `python:MODULE:NAME` or `command:...`.",
            examples=("evals/snapshot.json",),
            flag="--snapshot",
        ),
    ] = None
    secrets: Annotated[
        tuple[str, ...],
        Setting(
            v.VARIABLE_NAMES,
            "Names of environment variables whose values are never written.",
            examples=(["OPENAI_API_KEY"],),
            secret=True,
        ),
    ] = ()
    paths: Annotated[
        tuple[str, ...],
        Setting(
            v.PATHS,
            "The eval files, folders and globs to check and run when the command names none.",
            examples=(["evals"],),
            otherwise="the working folder",
        ),
    ] = ()
    exclude: Annotated[
        tuple[str, ...],
        Setting(v.TEXTS, "Patterns of files to leave out, as in a `.gitignore`.", examples=(["drafts/"],)),
    ] = ()
    prompts: Annotated[
        Path | None,
        Setting(
            v.PATH,
            "The folder of the prompts that eval files name by id.",
            examples=("prompts",),
            otherwise="the project's folder",
            flag="--prompts",
        ),
    ] = None
    strict: Annotated[
        bool,
        Setting(v.FLAG, "Treat checks that cannot fail, and cases that verify nothing, as errors.", flag="--strict"),
    ] = False
    min_pass_rate: Annotated[
        float | None,
        Setting(
            v.SHARE,
            "Fail if a smaller share of the cases passes, from 0 to 1.",
            examples=(0.9,),
            flag="--min-pass-rate",
        ),
    ] = None
    min_score: Annotated[
        float | None,
        Setting(v.SHARE, "Fail if the score is lower, from 0 to 1.", examples=(0.8,), flag="--min-score"),
    ] = None
    max_p95_ms: Annotated[
        float | None,
        Setting(
            v.DURATION,
            "Fail if the 95th percentile of the durations is longer, such as `5s`.",
            examples=("5s", 5000),
            flag="--max-p95",
        ),
    ] = None
    fail_on_regression: Annotated[
        bool,
        Setting(
            v.FLAG,
            "Fail if a case that passed in the baseline fails or is missing. The baseline is `evals/baseline.json`, "
            "else the last green run of this agent.",
            flag="--fail-on-regression",
        ),
    ] = False
    confidence: Annotated[
        float | None,
        Setting(
            v.CONFIDENCE,
            "How sure gates have to be, such as `95%`; a gate that is less certain is undecided.",
            examples=("95%", 0.99),
            otherwise="gates compare what was measured",
            flag="--confidence",
        ),
    ] = None
    stop_when_sure: Annotated[
        bool,
        Setting(
            v.FLAG,
            "Stop as soon as the gates on pass rates and regressions, or the repeats of a case, are decided.",
            flag="--stop-when-sure",
        ),
    ] = False
    max_cost: Annotated[
        float | None,
        Setting(
            v.DOLLARS,
            "Stop before the total cost exceeds this amount, in US dollars.",
            examples=(5,),
            otherwise="no limit",
            flag="--max-cost",
        ),
    ] = None
    all_assertions: Annotated[
        bool,
        Setting(v.FLAG, "Run every assertion of a case, even after one has failed.", flag="--all-assertions"),
    ] = False
    judges: Annotated[
        tuple[str, ...],
        Setting(
            v.JUDGES,
            f"Who scores criteria and rubrics: a URL, {_MODELS}, `python:MODULE:NAME` or `local`; several are a panel.",
            examples=("openai:gpt-4o-mini", ["openai:gpt-4o-mini", "python:judging:tone"]),
            flag="--judge",
        ),
    ] = ()
    user: Annotated[
        str | None,
        Setting(
            v.TEXT,
            f"Who plays simulated users: {_MODELS}, `python:MODULE:NAME`, a URL, `local` or `replay:DIR`.",
            examples=("openai:gpt-4o-mini",),
            flag="--user",
        ),
    ] = None
    similarity: Annotated[
        Literal["edit-distance", "embeddings"],
        Setting(
            v.one_of("edit-distance", "embeddings"),
            "How `similar` compares: by edit distance, or by the meaning that a small model finds.",
        ),
    ] = "edit-distance"
    otel: Annotated[
        str | None,
        Setting(
            v.RECEIVER,
            "Export the run to an OTLP receiver, such as `http://localhost:4318`; `env` for "
            "`OTEL_EXPORTER_OTLP_ENDPOINT`.",
            examples=("http://localhost:4318",),
            flag="--otel",
        ),
    ] = None
    otel_content: Annotated[bool, Setting(v.FLAG, "Export messages and answers too.")] = False
    select: Annotated[
        tuple[str, ...],
        Setting(
            v.SELECTORS,
            "The codes, or beginnings of codes, of the problems to report.",
            examples=(["EV1", "EV2"],),
            otherwise="all",
        ),
    ] = ()
    ignore: Annotated[
        tuple[str, ...],
        Setting(
            v.SILENCERS,
            "The codes, or beginnings of codes, of the problems to leave out; the longer of two that name a code wins.",
            examples=(["EV504"],),
        ),
    ] = ()
    severity: Annotated[
        tuple[tuple[str, Literal["error", "warning", "off"]], ...],
        Setting(
            v.SEVERITIES,
            "Codes, or beginnings of codes, each with how severe its problems are; the longest wins.",
            examples=({"EV5": "error"},),
            otherwise="each code's own",
        ),
    ] = ()
    per_file_ignores: Annotated[
        tuple[tuple[str, tuple[str, ...]], ...],
        Setting(
            v.PER_FILE,
            "Patterns of files, as in a `.gitignore`, each with the codes to leave out there.",
            examples=({"drafts/": ["EV5"]},),
        ),
    ] = ()

    agent: AgentTable = AgentTable()
    providers: Mapping[str, ProviderTable] = msgspec.field(default_factory=_unconfigured)
    model: ModelTable = ModelTable()
    local: LocalTable = LocalTable()
    judge: JudgeTable = JudgeTable()

    def looked_at(self, paths: Sequence[T]) -> Sequence[T | str]:
        """What a command names, else the configuration's paths, else the working folder."""
        return paths or self.paths or (".",)

    @property
    def results_folder(self) -> Path:
        """Where results go: the configured folder, else `evals/results` of the project."""
        return self.output_dir or self.default_results_folder

    @property
    def default_results_folder(self) -> Path:
        """Where results go when nothing is configured."""
        return self.root / "evals" / "results"

    @property
    def accepted_baseline(self) -> Path:
        """The baseline that the project commits, which `evalc accept` writes."""
        return self.root / "evals" / "baseline.json"

    @property
    def build_folder(self) -> Path:
        """Where compiled files go when nothing else is named."""
        return self.root / "evals" / "build"

    @property
    def written_paths(self) -> tuple[Path, ...]:
        """The folders and files that evalc writes, also those of earlier runs that no flag led elsewhere."""
        baseline = (self.accepted_baseline,) if is_accepted_baseline(self.accepted_baseline) else ()
        return (self.results_folder, self.default_results_folder, self.build_folder, *baseline)

    @property
    def judge_cache_folder(self) -> Path:
        """Where judgements are kept."""
        return self.root / ".evalc" / "cache" / "judge"

    @property
    def seed_manifest(self) -> Path | None:
        """The seed manifest: the one named, else `evals/seed-manifest.json` of the project where it exists."""
        if self.seed_manifest_path is not None:
            return self.seed_manifest_path
        conventional = self.root / "evals" / "seed-manifest.json"
        return conventional if conventional.exists() else None

    def secret_values(self, environ: Mapping[str, str]) -> tuple[str, ...]:
        """The values that must be struck out of whatever is written, whatever their length.

        They are those of the variables named by `secrets`, the keys of the models' providers, those filled into
        headers, and configured credentials.
        """
        providers = self.providers.values()
        headers = [*self.agent.headers, *self.judge.headers, *(each for table in providers for each in table.headers)]
        names = {*self.secrets, *(table.key_variable for table in providers), *variables_of(tuple(headers))}
        values = {environ.get(name, "") for name in names} | {*credentials_in(tuple(headers))}
        return tuple(sorted(values - {""}))

    def value_of(self, key: Key) -> Any:
        """The value that a key has."""
        *table, _ = key.path
        holder: Any = self if not table else self.providers.get(table[0]) or getattr(self, table[0])
        return getattr(holder, key.attribute)


def _keys_of_provider(provider: Provider) -> Mapping[str, Key]:
    """The keys of a provider's table; a provider with one API has no key for it."""
    keys = {key.path[-1]: key for key in keys_of(ProviderTable, provider.name)}
    url = keys["baseUrl"]
    keys["baseUrl"] = url._replace(setting=url.setting._replace(variable=provider.base_url_variable))
    keys["keyVariable"] = keys["keyVariable"]._replace(default=provider.key_variable)
    if len(provider.apis) == 1:
        del keys["api"]
    return keys


KEYS: Final[Mapping[str, Key]] = {key.path[-1]: key for key in keys_of(Settings)}
"""The keys at the top of a configuration."""

_TABLES: Final[Mapping[str, type[Table]]] = {
    "agent": AgentTable,
    "model": ModelTable,
    "local": LocalTable,
    "judge": JudgeTable,
}

TABLES: Final[Mapping[str, Mapping[str, Key]]] = {
    **{name: {key.path[-1]: key for key in keys_of(table, name)} for name, table in _TABLES.items()},
    **{name: _keys_of_provider(provider) for name, provider in PROVIDERS.items()},
}
"""The tables of a configuration, each with its keys."""

TABLE_SENTENCES: Final[Mapping[str, str]] = {
    **{name: (table.__doc__ or "") for name, table in _TABLES.items()},
    **{name: f"How {each.title}'s API is reached, or a server that speaks it." for name, each in PROVIDERS.items()},
}
"""What each table is for."""

ALL_KEYS: Final[Mapping[str, Key]] = {key.name: key for keys in (KEYS, *TABLES.values()) for key in keys.values()}
"""Every key by its name, as in `judge.samples`."""

KEY_OF_FLAG: Final[Mapping[str, Key]] = {key.setting.flag: key for key in ALL_KEYS.values() if key.setting.flag}
"""The key that each flag wins over."""


def settings_of(values: Mapping[str, Any], **where: Any) -> Settings:
    """The settings from values by the names of their keys; `where` holds the attributes that no key sets."""
    by_table: dict[str, dict[str, Any]] = {name: {} for name in ("", *TABLES)}
    for name, value in values.items():
        by_table[name.rpartition(".")[0]][ALL_KEYS[name].attribute] = value
    tables: dict[str, Any] = {name: table(**by_table[name]) for name, table in _TABLES.items()}
    return Settings(
        **where,
        **by_table[""],
        **tables,
        providers={name: provider_table(provider, **by_table[name]) for name, provider in PROVIDERS.items()},
    )
