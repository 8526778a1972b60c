"""What a configuration says, typed, with every default; and what it takes from the environment when a run needs it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, TypeVar, final

import msgspec

from evalc.errors import UsageError
from evalc.mapping.body import BodyTemplate
from evalc.mapping.records import AnswerPaths, StreamPaths

T = TypeVar("T")

_MAY_HOLD_SECRETS = frozenset(
    {"headers", "openai_headers", "anthropic_headers", "model_extra_body", "judge_extra_body", "judge_headers"}
)
_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")
_CREDENTIAL_HEADERS = frozenset({"authorization", "proxy-authorization", "cookie", "api-key", "x-api-key"})


@final
class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """The settings of one command. Paths are absolute, except `paths`, which are as the working folder sees them.

    Attributes:
        root: the project's folder: the nearest one upwards with a configuration or `.git`, else the working folder.
        file: the configuration file, if there is one.
        agent_endpoints: the agents' specs, such as a URL or `python:module:name`.
        seed_manifest_path: the seed manifest where one is named; see `seed_manifest`.
        snapshot_source: a file, a URL, `python:module:name` or `command:...`; None when snapshots are off.
        output_dir: where results go where it is named; see `results_folder`.
        baseline_run_id: a run id, `latest`, or the path of a result.
        concurrency: how many cases run at a time, from 1, or `auto`.
        rpm: how many requests go to the agent a minute at most.
        timeout_ms: the time of one case in milliseconds, above 0.
        tool_registry_path: the file with the current tools, for staleness and the names of tools in eval files.
        secrets: names of environment variables whose values may be written nowhere.
        headers: names and values of the HTTP agent's headers, values as configured; see `expanded_headers`.
        retries: how often a request is repeated after a fault of the connection.
        method: the method of each HTTP request.
        body: what the HTTP agent is sent; None is `{"message": ...}`.
        answer_paths: where in its answers things stand.
        stream_paths: where in the events of its streamed answers things stand.
        redirects: how many redirects of an answer are followed.
        verify_tls: whether its certificate is looked at.
        ca_file: the authorities that its certificate may come from, in place of the usual ones.
        connect_timeout_ms: how long connecting may take, in milliseconds.
        openai_base_url: where OpenAI's API is, or that of a server which speaks it; None for OpenAI itself.
        openai_api: which of OpenAI's APIs is meant: `chat` is Chat Completions.
        openai_key_variable: the environment variable with the key.
        openai_headers: names and values of headers for this API alone, values as configured.
        anthropic_base_url: where Anthropic's API is; None for Anthropic itself.
        anthropic_key_variable: the environment variable with the key.
        anthropic_headers: names and values of headers for this API alone, values as configured.
        model_system_prompt: the system prompt of agents that are models, in place of the prompt file's.
        model_temperature: how freely a model answers; None is its provider's default.
        model_max_tokens: how many tokens an answer may have; None is its provider's default.
        model_seed: the seed of a model's answers.
        model_extra_body: further fields of a request to a model, by name.
        similarity: whether `similar` compares by edit distance, or by embeddings.
        otel: the base URL of the OTLP receiver that runs are exported to; `env` for that of OpenTelemetry's variables.
        otel_content: whether what was sent and answered is exported too.
        local_context_tokens: how many tokens a conversation with a local model may have, its answer included.
        local_load_timeout_ms: how long loading one may take, in milliseconds.
        judges: who judges what only a judge can tell, as `--judge` names them.
        judge_samples: how often each of them is asked for one score.
        judge_timeout_ms: how long one may take for it.
        judge_cache: whether judgements are kept, and taken from those that are.
        judge_rubrics: when the rubric tier is run: where all others `passed`, or `always`.
        judge_temperature, judge_max_tokens, judge_seed, judge_extra_body: how judges that are models are asked.
        judge_headers: names and values of headers for judges behind a URL, values as configured.
        given: the attributes that a flag or a caller gave, rather than the file.
        configured: the attributes that the file gives, where no flag does.
        paths: what to run where the command names nothing: files, folders, globs.
        exclude: patterns of files to leave out when folders are searched, relative to `root`.
        prompts: the folder with the prompt files that eval files refer to by id.
        strict: whether checks that cannot fail and unverified cases are errors.
        min_pass_rate: the least share of the cases that pass, from 0 to 1.
        min_score: the least score of the run, from 0 to 1.
        max_p95_ms: the time in milliseconds that 95 % of the cases keep to.
        fail_on_regression: whether no case may fail that passed in the baseline.
        max_cost: what a run may cost, in US dollars.
        all_assertions: whether a case runs all its assertions, not only up to the first that fails.
        select: the codes, or beginnings of codes, of the problems that are reported; all where it is empty.
        ignore: those of the problems that are left out. The longer of two that name a code wins.
        severity: codes, or beginnings of codes, each with `error`, `warning` or `off`; the longest wins.
        per_file_ignores: patterns of files relative to `root`, as in a `.gitignore`, each with codes left out there.
    """

    root: Path
    file: Path | None = None
    agent_endpoints: tuple[str, ...] = ()
    seed_manifest_path: Path | None = None
    snapshot_source: str | None = None
    output_dir: Path | None = None
    baseline_run_id: str | None = None
    concurrency: int | Literal["auto"] = 1
    rpm: int | None = None
    timeout_ms: float = 60_000
    tool_registry_path: Path | None = None
    secrets: tuple[str, ...] = ()
    headers: tuple[tuple[str, str], ...] = ()
    retries: int = 2
    method: Literal["POST", "PUT", "PATCH"] = "POST"
    body: BodyTemplate | None = None
    answer_paths: AnswerPaths = msgspec.field(default_factory=AnswerPaths)
    stream_paths: StreamPaths | None = None
    redirects: int = 0
    verify_tls: bool = True
    ca_file: Path | None = None
    connect_timeout_ms: float | None = None
    openai_base_url: str | None = None
    openai_api: Literal["chat", "responses"] = "chat"
    openai_key_variable: str = "OPENAI_API_KEY"
    openai_headers: tuple[tuple[str, str], ...] = ()
    anthropic_base_url: str | None = None
    anthropic_key_variable: str = "ANTHROPIC_API_KEY"
    anthropic_headers: tuple[tuple[str, str], ...] = ()
    model_system_prompt: str | None = None
    model_temperature: float | None = None
    model_max_tokens: int | None = None
    model_seed: int | None = None
    model_extra_body: tuple[tuple[str, Any], ...] = ()
    similarity: Literal["edit-distance", "embeddings"] = "edit-distance"
    otel: str | None = None
    otel_content: bool = False
    local_context_tokens: int = 8192
    local_load_timeout_ms: float = 120_000
    judges: tuple[str, ...] = ()
    judge_samples: int = 1
    judge_timeout_ms: float = 60_000
    judge_cache: bool = True
    judge_rubrics: Literal["passed", "always"] = "passed"
    judge_temperature: float | None = None
    judge_max_tokens: int | None = None
    judge_seed: int | None = None
    judge_extra_body: tuple[tuple[str, Any], ...] = ()
    judge_headers: tuple[tuple[str, str], ...] = ()
    paths: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    prompts: Path | None = None
    strict: bool = False
    min_pass_rate: float | None = None
    min_score: float | None = None
    max_p95_ms: float | None = None
    fail_on_regression: bool = False
    max_cost: float | None = None
    all_assertions: bool = False
    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    severity: tuple[tuple[str, Literal["error", "warning", "off"]], ...] = ()
    per_file_ignores: tuple[tuple[str, tuple[str, ...]], ...] = ()
    given: frozenset[str] = frozenset()
    configured: frozenset[str] = frozenset()

    def __repr__(self) -> str:
        shown = (f"{name}={getattr(self, name)!r}" for name in self.__struct_fields__ if name not in _MAY_HOLD_SECRETS)
        return f"Settings({', '.join(shown)})"

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
    def written_folders(self) -> tuple[Path, ...]:
        """The folders in which evalc's own files are, also those of earlier runs that no flag led elsewhere."""
        return (self.results_folder, self.default_results_folder, self.build_folder)

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

    def expanded_headers(self, environ: Mapping[str, str]) -> dict[str, str]:
        """The headers with every `${NAME}` filled from the environment.

        Raises:
            UsageError: when a variable is not set, or its value cannot stand in a header.
        """
        return expanded(self.headers, environ)

    def secret_values(self, environ: Mapping[str, str]) -> tuple[str, ...]:
        """The values that must be struck out of whatever is written, whatever their length.

        They are those of the variables named by `secrets`, the keys of the models' providers, those filled into
        headers, and configured credentials.
        """
        headers = (*self.headers, *self.openai_headers, *self.anthropic_headers, *self.judge_headers)
        names = {*self.secrets, self.openai_key_variable, self.anthropic_key_variable}
        names |= {name for _, value in headers for name in _VARIABLE.findall(value)}
        values = {environ.get(name, "") for name in names}
        for header, value in headers:
            if header.lower() in _CREDENTIAL_HEADERS and not _VARIABLE.search(value):
                # A scheme stands before the credentials, which may be met alone: `Bearer TOKEN`.
                values.update((value, value.rpartition(" ")[2]))
        return tuple(sorted(values - {""}))


def expanded(headers: Iterable[tuple[str, str]], environ: Mapping[str, str]) -> dict[str, str]:
    """The headers with every `${NAME}` filled from the environment.

    Raises:
        UsageError: when a variable is not set, or its value cannot stand in a header.
    """
    return {name: _expanded(name, value, environ) for name, value in headers}


def _expanded(header: str, value: str, environ: Mapping[str, str]) -> str:
    missing = [name for name in _VARIABLE.findall(value) if name not in environ]
    if missing:
        raise UsageError(f"the environment variable `{missing[0]}`, which the header `{header}` needs, is not set")
    text = _VARIABLE.sub(lambda variable: environ[variable[1]], value)
    if not is_header_value(text):
        raise UsageError(f"the header `{header}` would hold a line end or another control character")
    return text


def is_header_value(text: str) -> bool:
    """Whether HTTP can carry the text as a header's value."""
    return not any(ord(character) < 32 or ord(character) == 127 for character in text)


def names_variables_well(value: str) -> bool:
    """Whether every `${` in the text begins a `${NAME}`."""
    return "${" not in _VARIABLE.sub("", value)
