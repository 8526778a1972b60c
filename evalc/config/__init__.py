"""The settings of a command: each declared once, with its key, its values, its default and what it means.

The reader of configurations, their JSON Schema, the flags, `evalc config` and the table in the documentation all
follow from these declarations.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, Generic, Literal, Self, TypeVar, final, overload

import msgspec

from evalc.base import MODEL_FORMS, PROVIDERS, ApiName, Provider
from evalc.base.files import is_accepted_baseline
from evalc.config import kinds as k
from evalc.config.http import ANSWER_PATHS, BODY, EXTRA_BODY, HEADERS, STREAM_PATHS, credentials_in, variables_of
from evalc.dsl.kinds import Key, Shape
from evalc.runtime import CONCURRENCY, LOADING_MS, LOCAL_TOKENS, RETRIES, TIMEOUT_MS
from evalc.runtime.mapping import AnswerPaths, StreamPaths

if TYPE_CHECKING:
    from evalc.dsl.walk import Fields
    from evalc.runtime.agents import Method

T = TypeVar("T")

_MODELS: Final = ", ".join(f"`{form}`" for form in MODEL_FORMS)
_API: Final[k.Kind[ApiName]] = k.one_of("chat", "responses")
_METHOD: Final[k.Kind[Method]] = k.one_of("POST", "PUT", "PATCH")
_RUBRICS: Final[k.Kind[Literal["passed", "always"]]] = k.one_of("passed", "always")
_SIMILARITY: Final[k.Kind[Literal["edit-distance", "embeddings"]]] = k.one_of("edit-distance", "embeddings")
_A_KEY: Final = {"Authorization": "Bearer ${AGENT_KEY}"}


def spelled(name: str) -> str:
    """A flag as it is written, from its name in Python."""
    return f"--{name.replace('_', '-')}"


@final
class Setting(msgspec.Struct, Generic[T], eq=False):
    """The declaration of a setting. In a table it is the attribute that holds the value.

    Attributes:
        kind: the values that it takes.
        default: what holds if nothing is said.
        examples: values that editors offer.
        otherwise: what holds if it is not set, unless the default says that.
        flag: the flag that wins over the configuration; `--` alone stands for that of its key.
        also: what it is called at the top of a configuration besides: by the contract, or by earlier versions.
        variable: the environment variable that holds if nothing else is said.
        secret: whether its value may hold a secret, so that it is never shown.
        attribute: the attribute of its table.
        name: its key with its table in front, as in `judge.samples`.
        sentence: what it says, for the schema, the docs and the help text of its flag.
    """

    kind: k.Kind[T] | Shape
    default: T
    examples: tuple[Any, ...] = ()
    otherwise: str = ""
    flag: str = ""
    also: str = ""
    variable: str = ""
    secret: bool = False
    attribute: str = ""
    name: str = ""
    sentence: str = ""

    def says(self, sentence: str) -> Self:
        """The setting with what it says, in one sentence."""
        self.sentence = sentence
        return self

    def __set_name__(self, _table: type, attribute: str) -> None:
        self.attribute = attribute
        self.name = attribute.removesuffix("_ms") if self.kind is k.DURATION else attribute
        self.flag = spelled(self.name) if self.flag == "--" else self.flag

    @overload
    def __get__(self, table: None, owner: type) -> Self: ...

    @overload
    def __get__(self, table: Table, owner: type) -> T: ...

    def __get__(self, table: Table | None, owner: type) -> Self | T:
        return self if table is None else self.default

    @property
    def path(self) -> Sequence[str]:
        """The name in parts: a table, if the key is in one, and the key."""
        return self.name.split(".")

    @property
    def recorded(self) -> str:
        """The name in the journals of runs, as the contract spells keys."""
        return ".".join([*self.path[:-1], k.in_camel_case(self.attribute)])

    def written(self, value: Any) -> Any:
        """A value as a configuration has it: `30s`."""
        return k.shown_duration(value) if self.kind is k.DURATION and value is not None else value

    def within(self, table: str, **said: Any) -> Self:
        """The setting as a key of a table, where some of it may be otherwise."""
        return msgspec.structs.replace(self, name=f"{table}.{self.name}", **said)

    def spellings(self) -> Iterator[tuple[str, Key]]:
        """The keys that are read: the setting's own, and as the contract spells it."""
        default = self.written(self.default)
        said = {"default": default} if isinstance(default, bool | int | float) or default != self.default else {}
        key, other = self.path[-1], k.in_camel_case(self.attribute)
        holds = k.Named(self.name, self.kind, **said)
        yield key, Key(holds, self.sentence, self.examples, into=self.name)
        if self.kind is k.DURATION:
            holds = k.Named(self.name, k.MILLISECONDS)
            yield other, Key(holds, f"As `{key}`, in milliseconds.", into=self.name)
        elif other != key:
            yield other, Key(holds, f"As `{key}`.", into=self.name)


class Table:
    """Settings that belong together, and cannot be changed. What may be a secret is not in its `repr`."""

    def __init__(self, **said: Any) -> None:
        unknown = [name for name in said if not hasattr(type(self), name)]
        if unknown:
            raise TypeError(f"a `{type(self).__name__}` has no `{unknown[0]}`")
        self.__dict__.update(said)

    def replace(self, **said: Any) -> Self:
        """The same settings, but for some."""
        other = copy(self)
        other.__init__(**said)  # type: ignore[misc]
        return other

    def __repr__(self) -> str:
        shown = [
            f"{each.attribute}={getattr(self, each.attribute)!r}" for each in declared_in(type(self)) if not each.secret
        ]
        return f"{type(self).__name__}({', '.join(shown)})"


def declared_in(table: type[Table]) -> Iterator[Setting[Any]]:
    """The settings that a table declares."""
    for owner in table.__mro__:
        yield from (each for each in vars(owner).values() if isinstance(each, Setting))


class SamplingTable(Table):
    """How a model is asked."""

    temperature = Setting(k.TEMPERATURE, None, otherwise="the provider's default").says("How freely the model answers.")
    max_tokens = Setting(k.whole(1, 2**31 - 1), None, otherwise="the provider's default").says(
        "How many tokens an answer may have."
    )
    seed = Setting(k.whole(-(2**63), 2**63 - 1), None).says("The seed of the answers, if the API takes one.")
    extra_body = Setting(EXTRA_BODY, (), examples=({"top_p": 0.9},), secret=True).says(
        "Further fields of each request, which override all others."
    )


@final
class ModelTable(SamplingTable):
    """How an agent that is a model is asked."""

    system_prompt = Setting(k.TEXT, None, examples=("Answer briefly.",)).says(
        "The system prompt, instead of the prompt file's `role` and `instructions`."
    )


@final
class AgentTable(Table):
    """The agent, and how it is called over HTTP."""

    use = Setting(
        k.AGENTS,
        (),
        examples=("http://localhost:3000/chat", [f"{each.name}:{each.example}" for each in PROVIDERS.values()]),
        flag="--agent",
        also="agentEndpoint",
    ).says(
        f"The agent: a URL, {_MODELS}, `python:MODULE:NAME` or `python:FILE.py:NAME`, `command:...`, `local`, "
        "`replay:DIR` or `demo`; each of several gets every case."
    )
    headers = Setting(HEADERS, (), examples=(_A_KEY,), secret=True).says(
        "The headers of each request; `${NAME}` is replaced by an environment variable."
    )
    retries = Setting(k.whole(0, 10), RETRIES).says("How often a request is repeated after a fault of the connection.")
    method = Setting(_METHOD, "POST").says("The method of each request.")
    body = Setting(
        BODY, None, examples=({"question": "{{message}}"},), otherwise='`{"message": ...}`', secret=True
    ).says(
        "What is sent, as a table or as JSON in a text; `{{message}}`, `{{messages}}`, `{{id}}`, `{{session}}` and "
        "`{{input.NAME}}` are filled."
    )
    response = Setting[AnswerPaths](
        ANSWER_PATHS, AnswerPaths(), examples=({"response": "output.text"},), otherwise="the fields of the contract"
    ).says("Where to find each part of an answer, as JMESPath; `name` to `error` within each of the `tool_calls`.")
    stream = Setting[StreamPaths | None](
        STREAM_PATHS, None, examples=({"text": "delta", "done": "finished"},), otherwise="the known shapes"
    ).says("Where to find each part of a streamed event, as JMESPath; `done` is true in the last event.")
    redirects = Setting(k.whole(0, 20), 0).says("How many redirects of an answer are followed.")
    accepted_statuses = Setting(k.ACCEPTED_STATUSES, (), examples=([202],)).says(
        "Which of the statuses 202 and 206 come with complete answers. Other answers with them are errors."
    )
    verify_tls = Setting(k.FLAG, True).says("Verify the certificates of servers: agents, models and judges.")
    ca_file = Setting(k.CA_FILE, None, examples=("ca.pem",), otherwise="the usual authorities").says(
        "The file of the authorities that certificates may come from."
    )
    connect_timeout_ms = Setting(k.DURATION, None, examples=("5s",), otherwise="that time").says(
        "How long connecting may take, within the time of the case."
    )


@final
class ProviderTable(Table):
    """How a provider's API is reached, or a server that speaks it."""

    base_url = Setting(
        k.TEXT, None, examples=("http://localhost:8080/v1",), otherwise="the provider's own server"
    ).says("Where the API is.")
    api = Setting(_API, "chat").says("Which API is asked: Chat Completions or Responses.")
    key_variable = Setting(k.VARIABLE_NAME, "").says("The environment variable with the key.")
    headers = AgentTable.headers


@final
class LocalTable(Table):
    """How models on this machine are served."""

    context_tokens = Setting(k.whole(256, 2**24), LOCAL_TOKENS).says(
        "How many tokens a conversation with a local model may have, its answer included."
    )
    load_timeout_ms = Setting(k.DURATION, LOADING_MS).says("How long loading a local model may take.")


@final
class JudgeTable(SamplingTable):
    """The judges, and how they judge."""

    use = Setting(
        k.JUDGES,
        (),
        examples=("openai:gpt-4o-mini", ["openai:gpt-4o-mini", "python:judging:tone"]),
        flag="--judge",
        also="judges",
    ).says(f"Who scores criteria and rubrics: a URL, {_MODELS}, `python:MODULE:NAME` or `local`; several are a panel.")
    samples = Setting(k.whole(1, 99), 1, flag="--judge-samples").says(
        "How often each judge is asked for one score; the median counts."
    )
    timeout_ms = Setting(k.DURATION, TIMEOUT_MS).says("The time for one score.")
    cache = Setting(k.FLAG, True, flag="--no-judge-cache").says(
        "Keep judgements in `.evalc/cache/judge`, and take them from there."
    )
    rubrics = Setting(_RUBRICS, "passed", flag="--").says(
        "When the rubric tier runs: `passed` for the cases whose other tiers passed, or `always`."
    )
    headers = Setting(HEADERS, (), examples=(_A_KEY,), secret=True).says(
        "The headers of requests to judges behind a URL; `${NAME}` is replaced by an environment variable."
    )


def provider_table(provider: Provider, **said: Any) -> ProviderTable:
    """The table of a provider, with what is said of it."""
    return ProviderTable(**{"api": provider.apis[0], "key_variable": provider.key_variable, **said})


@final
class Settings(Table):
    """The settings of one command. Paths are absolute, except `paths`, which are as the working folder sees them.

    Attributes:
        root: the project's folder: the nearest one upwards with a configuration or `.git`, else the working folder.
        file: the configuration file, if there is one.
        given: the keys that a flag or a caller set, as in `judge.samples`.
        configured: the keys that the file sets, if no flag does.
        providers: the tables of the providers, by name.
        brought: the functions and objects that a caller brings as judges and as the user, by what follows `python:` in
            the specs that stand for them.
    """

    root: Path = Path()
    file: Path | None = None
    given: frozenset[str] = frozenset()
    configured: frozenset[str] = frozenset()
    brought: Mapping[str, object] = MappingProxyType({})

    seed_manifest = Setting(
        k.PATH,
        None,
        examples=("evals/seed-manifest.json",),
        otherwise="`evals/seed-manifest.json`",
        flag="--",
        also="seedManifestPath",
    ).says("The file that `{{seed:...}}` values come from.")
    snapshot_enabled = Setting(k.FLAG, None).says(
        "`false` turns `snapshot` off; `true` without a `snapshot` is an error."
    )
    output_dir = Setting(k.PATH, None, examples=("evals/results",), otherwise="`evals/results`", flag="--").says(
        "Where results go."
    )
    baseline = Setting(k.TEXT, None, examples=("latest",), flag="--", also="baselineRunId").says(
        "Compare with a run: its id, a path, or `latest`, which is `evals/baseline.json` or the last green run."
    )
    concurrency = Setting[int | Literal["auto"]](k.CONCURRENCY, CONCURRENCY, examples=(4, "auto"), flag="--").says(
        "How many cases run at a time; `auto` finds out how many the agent keeps up with."
    )
    engine = Setting(k.ENGINE, "local", examples=("ray", "ray:auto"), flag="--").says(
        "Where cases run: `local`, in this process, or `ray`, on a Ray cluster (`evalc[ray]`): `ray:HOST:PORT` of its "
        "head node, `ray:auto` for this machine's cluster; else the one of `RAY_ADDRESS`, or a new one for the run."
    )
    ray_address = Setting(
        k.TEXT,
        None,
        examples=("auto",),
        otherwise="that of `RAY_ADDRESS`, or one on this machine for the run",
        flag="--",
    ).says("The Ray cluster: `HOST:PORT` of its head node, or `auto` for this machine's cluster.")
    rpm = Setting(k.whole(1, 1_000_000), None, examples=(600,), otherwise="no limit", flag="--").says(
        "Send at most N requests a minute to the agent."
    )
    timeout_ms = Setting(k.DURATION, TIMEOUT_MS, flag="--").says("The time for each attempt at a case, such as `90s`.")
    tools = Setting(k.PATH, None, examples=("tools/tools.exports.ts",), flag="--", also="toolRegistryPath").says(
        "The file with the agent's tools, to offer them to models and to check their names: JSON, or a TypeScript or "
        "JavaScript module."
    )
    checks = Setting(k.FILES, (), examples=(["evals/checks.py"],)).says(
        "The Python files that declare checks of the project, with `@evalc.custom_check`."
    )
    snapshot = Setting(k.SNAPSHOT, None, examples=("evals/snapshot.json",), flag="--", also="snapshotSource").says(
        "Where `{{snapshot:...}}` values come from: a file, a URL, `python:MODULE:NAME` or `command:...`."
    )
    secrets = Setting(k.VARIABLE_NAMES, (), examples=(["OPENAI_API_KEY"],), secret=True).says(
        "Names of environment variables whose values are never written."
    )
    paths = Setting(k.PATHS, (), examples=(["evals"],), otherwise="the working folder").says(
        "The eval files, folders and globs to check and run when the command names none."
    )
    exclude = Setting(k.TEXTS, (), examples=(["drafts/"],)).says(
        "Patterns of files to leave out, as in a `.gitignore`."
    )
    prompts = Setting(k.PATH, None, examples=("prompts",), otherwise="the project's folder", flag="--").says(
        "The folder of the prompts that eval files name by id."
    )
    strict = Setting(k.FLAG, False, flag="--").says(
        "Treat checks that cannot fail, and cases that verify nothing, as errors."
    )
    min_pass_rate = Setting(k.SHARE, None, examples=(0.9,), flag="--").says(
        "Fail if a smaller share of the cases passes, from 0 to 1."
    )
    min_score = Setting(k.SHARE, None, examples=(0.8,), flag="--").says("Fail if the score is lower, from 0 to 1.")
    max_p95_ms = Setting(k.DURATION, None, examples=("5s",), flag="--").says(
        "Fail if the 95th percentile of the durations is longer, such as `5s`."
    )
    fail_on_regression = Setting(k.FLAG, False, flag="--").says(
        "Fail if a case that passed in the baseline fails or is missing. The baseline is `evals/baseline.json`, "
        "else the last green run of this agent."
    )
    confidence = Setting(
        k.CONFIDENCE, None, examples=("95%", 0.99), otherwise="gates compare what was measured", flag="--"
    ).says("How sure gates have to be, such as `95%`; a gate that is less certain is undecided.")
    stop_when_sure = Setting(k.FLAG, False, flag="--").says(
        "Stop as soon as the gates on pass rates and regressions, or the repeats of a case, are decided."
    )
    max_cost = Setting(k.DOLLARS, None, examples=(5,), otherwise="no limit", flag="--").says(
        "Stop before the total cost exceeds this amount, in US dollars."
    )
    all_assertions = Setting(k.FLAG, False, flag="--").says("Run every assertion of a case, even after one has failed.")
    user = Setting(k.TEXT, None, examples=("openai:gpt-4o-mini",), flag="--").says(
        f"Who plays simulated users: {_MODELS}, `python:MODULE:NAME`, a URL, `local` or `replay:DIR`."
    )
    similarity = Setting(_SIMILARITY, "edit-distance").says(
        "How `similar` compares: by edit distance, or by the meaning that a small model finds."
    )
    otel = Setting(k.RECEIVER, None, examples=("http://localhost:4318",), flag="--").says(
        "Export the run to an OTLP receiver, such as `http://localhost:4318`; `env` for `OTEL_EXPORTER_OTLP_ENDPOINT`."
    )
    otel_content = Setting(k.FLAG, False).says("Export messages and answers too.")
    select = Setting(k.SELECTORS, (), examples=(["EV1", "EV2"],), otherwise="all").says(
        "The codes, or beginnings of codes, of the problems to report."
    )
    ignore = Setting(k.SILENCERS, (), examples=(["EV504"],)).says(
        "The codes, or beginnings of codes, of the problems to leave out; the longer of two that name a code wins."
    )
    severity = Setting(k.SEVERITIES, (), examples=({"EV5": "error"},), otherwise="each code's own").says(
        "Codes, or beginnings of codes, each with how severe its problems are; the longest wins."
    )
    per_file_ignores = Setting(k.PER_FILE, (), examples=({"drafts/": ["EV5"]},)).says(
        "Patterns of files, as in a `.gitignore`, each with the codes to leave out there."
    )

    agent: AgentTable = AgentTable()
    providers: Mapping[str, ProviderTable] = {name: provider_table(provider) for name, provider in PROVIDERS.items()}
    model: ModelTable = ModelTable()
    local: LocalTable = LocalTable()
    judge: JudgeTable = JudgeTable()

    def looked_at(self, paths: Sequence[T]) -> Sequence[T | str]:
        """The paths that a command names, else the configuration's paths, else the working folder."""
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
    def seed_file(self) -> Path | None:
        """The seed manifest: the one named, else `evals/seed-manifest.json` of the project where it exists."""
        if self.seed_manifest is not None:
            return self.seed_manifest
        conventional = self.root / "evals" / "seed-manifest.json"
        return conventional if conventional.exists() else None

    @property
    def files(self) -> tuple[Path, ...]:
        """The files that count for every suite: configuration, seed manifest, tool registry, snapshot and checks."""
        named = (self.file, self.seed_file, self.tools, self.snapshot, *self.checks)
        return tuple(Path(file) for file in named if file is not None)

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

    def value_of(self, setting: Setting[Any]) -> Any:
        """The value that a setting has."""
        *table, _ = setting.path
        holder: Any = self if not table else self.providers.get(table[0]) or getattr(self, table[0])
        return getattr(holder, setting.attribute)


# --- the keys --------------------------------------------------------------------------------------------------------

_TABLES: Final[Mapping[str, type[Table]]] = {
    "agent": AgentTable,
    "model": ModelTable,
    "local": LocalTable,
    "judge": JudgeTable,
}


def _declared() -> Iterator[Setting[Any]]:
    """Every setting, the agent first; a provider with one API has none for it."""
    yield AgentTable.use.within("agent")
    yield from declared_in(Settings)
    for name, table in _TABLES.items():
        yield from (each.within(name) for each in declared_in(table))
    for name, provider in PROVIDERS.items():
        own = {"base_url": {"variable": provider.base_url_variable}, "key_variable": {"default": provider.key_variable}}
        for each in declared_in(ProviderTable):
            if each.name != "api" or len(provider.apis) > 1:
                yield each.within(name, **own.get(each.name, {}))


ALL_KEYS: Final[Mapping[str, Setting[Any]]] = {each.name: each for each in _declared()}
"""Every setting by its name, as in `judge.samples`."""

KEY_OF_FLAG: Final[Mapping[str, Setting[Any]]] = {each.flag: each for each in ALL_KEYS.values() if each.flag}
"""The setting that each flag wins over."""


class _TableShape(k.TableShape):
    """A table; with only `use` it may be written as the value alone: `agent = "demo"`."""

    def __init__(self, name: str, keys: Mapping[str, Key]) -> None:
        super().__init__("", keys, title=name, narrow={"type": ["object", "null"]})
        self.use = keys["use"].holds if "use" in keys else None
        table = self.definition()
        self.schema = table if self.use is None else {"anyOf": [self.use.schema, table]}

    def read(self, fields: Fields, key: str) -> Any:
        value = fields.node(key)
        if self.use is None or value is None or isinstance(value.data, dict):
            return super().read(fields, key)
        if not isinstance(value.data, str | list):
            return value.mistyped("a text, a list of texts or a table")
        return self.use.read(fields, key)


@cache
def shape() -> Shape:
    """The shapes that a configuration is read by; built when one is read."""
    groups: dict[str, dict[str, Key]] = defaultdict(dict)
    for each in ALL_KEYS.values():
        groups[each.name.rpartition(".")[0]].update(each.spellings())
    top: dict[str, Key] = {}
    for name, keys in groups.items():
        top |= {name: Key(_TableShape(name, keys), _sentence_of(name))} if name else keys
    for each in ALL_KEYS.values():
        if each.also:
            holds = k.Named(each.name, each.kind)
            top[each.also] = Key(holds, f"As `{each.name.removesuffix('.use')}`.", into=each.name)
    return k.TableShape("the configuration", top, title="evalc: configuration")


def _sentence_of(table: str) -> str:
    if table in _TABLES:
        return _TABLES[table].__doc__ or ""
    return f"How {PROVIDERS[table].title}'s API is reached, or a server that speaks it."


def with_values(values: Mapping[str, Any], **where: Any) -> Settings:
    """The settings from values by the names of their keys; `where` holds the attributes that no key sets."""
    by_table: dict[str, dict[str, Any]] = defaultdict(dict)
    for name, value in values.items():
        by_table[name.rpartition(".")[0]][ALL_KEYS[name].attribute] = value
    tables: dict[str, Any] = {name: table(**by_table[name]) for name, table in _TABLES.items()}
    providers = {name: provider_table(provider, **by_table[name]) for name, provider in PROVIDERS.items()}
    return Settings(**where, **by_table[""], **tables, providers=providers)
