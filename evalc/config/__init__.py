"""The settings of a command: each declared once, with its key, its values, its default and what it means.

The reader of configurations, their JSON Schema, the flags, `evalc config` and the table in the documentation all
follow from these declarations.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, Literal, TypeVar, final

from evalc.base import PROVIDERS, TOKENS, provider_of
from evalc.base.files import is_accepted_baseline, is_named
from evalc.config import kinds as k
from evalc.config.http import credentials_in, variables_of
from evalc.config.tables import (
    AGENTS,
    MODELS,
    AgentTable,
    JudgeTable,
    LocalTable,
    ModelTable,
    NamedAgentTable,
    PaceTable,
    ProviderTable,
    Setting,
    Table,
    declared_for,
    declared_in,
    provider_table,
)
from evalc.dsl.kinds import Key, Shape
from evalc.runtime import CONCURRENCY

if TYPE_CHECKING:
    from evalc.dsl.walk import Fields

T = TypeVar("T")

_SIMILARITY: Final[k.Kind[Literal["edit-distance", "embeddings"]]] = k.one_of("edit-distance", "embeddings")


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
    rpm = PaceTable.rpm
    timeout_ms = PaceTable.timeout_ms
    tools = Setting(k.PATH, None, examples=("tools/tools.exports.ts",), flag="--", also="toolRegistryPath").says(
        "The file with the agent's tools, to offer them to models and to check their names: JSON, or a TypeScript or "
        "JavaScript module."
    )
    checks = Setting(k.FILES, (), examples=(["evals/checks.py"],)).says(
        "The files that declare checks of the project: Python with `@evalc.custom_check`, JavaScript or TypeScript."
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
    max_errors = Setting(
        k.whole(1, 1_000_000), None, examples=(5,), otherwise="20 at the start that cannot reach the agent", flag="--"
    ).says("Stop after this many cases that end in error.")
    all_assertions = Setting(k.FLAG, False, flag="--").says("Run every assertion of a case, even after one has failed.")
    user = Setting(k.TEXT, None, examples=("openai:gpt-4o-mini",), flag="--").says(
        f"Who plays simulated users: {MODELS}, `python:MODULE:NAME`, a URL, `local` or `replay:DIR`."
    )
    similarity = Setting(_SIMILARITY, "edit-distance").says(
        "How `similar` compares: by edit distance, or by the meaning that a small model finds."
    )
    otel = Setting(k.RECEIVER, None, examples=("http://localhost:4318",), flag="--").says(
        "Export the run to an OTLP receiver, such as `http://localhost:4318`, and give agents its trace context; `env` "
        "for `OTEL_EXPORTER_OTLP_ENDPOINT`."
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

    agents = Setting[tuple[tuple[str, NamedAgentTable], ...]](
        AGENTS, (), examples=({"fast": {"use": "openai:gpt-4o-mini", "temperature": 0}},), secret=True
    ).says("Agents by name, each a table with `use` and the settings that hold for it alone.")

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
        return conventional if is_named(conventional) else None

    @property
    def files(self) -> tuple[Path, ...]:
        """The files that count for every suite: the configuration, and what it names.

        They are the seed manifest, the tool registry, the snapshot, the files of checks, and the folders of skills.
        """
        named = (self.file, self.seed_file, self.tools, self.snapshot, *self.checks, *self.skills)
        return tuple(Path(file) for file in named if file is not None)

    @property
    def skills(self) -> tuple[Path, ...]:
        """The folders of the skills that agents are given in every case."""
        return (*(self.agent.skills or ()), *(each for _, named in self.agents for each in named.skills or ()))

    def secret_values(self, environ: Mapping[str, str]) -> tuple[str, ...]:
        """The values that must be struck out of whatever is written, whatever their length.

        They are those of the variables named by `secrets`, the keys of the models' providers, those filled into
        headers, configured credentials, and the tokens of code hosts.
        """
        asked = [*self.providers.values(), *(agent for _, agent in self.agents)]
        headers = [*self.agent.headers, *self.judge.headers, *(each for table in asked for each in table.headers)]
        names = {*self.secrets, *TOKENS, *(table.key_variable for table in asked), *variables_of(tuple(headers))}
        values = {environ.get(name, "") for name in names} | {*credentials_in(tuple(headers))}
        return tuple(sorted(values - {""}))

    def for_agent(self, agent: str) -> Settings:
        """The settings that hold for an agent, which is then the only one: under a name, its own win, but for flags."""
        named = dict(self.agents).get(agent)
        if named is None:
            return self.replace(agent=self.agent.replace(use=(agent,)))
        provider = provider_of(named.use)
        own = {} if provider is None else {provider.name: named.over(self.providers[provider.name])}
        return named.over(self, but_for=self.given).replace(
            agent=named.over(self.agent).replace(use=(named.use,)),
            model=named.over(self.model),
            local=named.over(self.local),
            providers={**self.providers, **own},
        )

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
    """Every setting, the agent first."""
    yield AgentTable.use.within("agent")
    yield from declared_in(Settings)
    for name, table in _TABLES.items():
        yield from (each.within(name) for each in declared_in(table))
    for name, provider in PROVIDERS.items():
        own = {"base_url": {"variable": provider.base_url_variable}, "key_variable": {"default": provider.key_variable}}
        yield from (each.within(name, **own.get(each.name, {})) for each in declared_for(provider))


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
