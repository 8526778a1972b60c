"""The declaration of a setting, and the tables with settings of agents, models, judges, and of an agent with a name."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from copy import copy
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Generic, Literal, Self, TypeVar, final, overload

import msgspec

from evalc.base import AGENT_KINDS, CODING, MODEL_FORMS, PROVIDERS, ApiName, Provider, kind_of
from evalc.config import kinds as k
from evalc.config.http import ANSWER_PATHS, BODY, EXTRA_BODY, HEADERS, STREAM_PATHS
from evalc.dsl.kinds import Key, Schema, Shape
from evalc.runtime import LOADING_MS, LOCAL_TOKENS, RETRIES, TIMEOUT_MS
from evalc.runtime.mapping import AnswerPaths, StreamPaths

if TYPE_CHECKING:
    from evalc.dsl.walk import Fields
    from evalc.runtime.agents import Method

T = TypeVar("T")
OfTable = TypeVar("OfTable", bound="Table")

MODELS: Final = ", ".join(f"`{form}`" for form in MODEL_FORMS)
_API: Final[k.Kind[ApiName]] = k.one_of("chat", "responses")
_METHOD: Final[k.Kind[Method]] = k.one_of("POST", "PUT", "PATCH")
_RUBRICS: Final[k.Kind[Literal["passed", "always"]]] = k.one_of("passed", "always")
_A_KEY: Final = {"Authorization": "Bearer ${AGENT_KEY}"}


def spelled(name: str) -> str:
    """A flag as it is written, from its name in Python."""
    return f"--{name.replace('_', '-')}"


@final
class Setting(msgspec.Struct, Generic[T], eq=False):
    """The declaration of a setting. In a table it is the attribute that holds the value."""

    kind: k.Kind[T] | Shape  # the values that it takes
    default: T  # what holds if nothing is said
    examples: tuple[Any, ...] = ()  # values that editors offer
    otherwise: str = ""  # what holds if it is not set, unless the default says that
    flag: str = ""  # the flag that wins over the configuration; `--` alone stands for that of its key
    also: str = ""  # what it is called at the top of a configuration besides: by the contract, or by earlier versions
    variable: str = ""  # the environment variable that holds if nothing else is said
    secret: bool = False  # whether its value may hold a secret, so that it is never shown
    attribute: str = ""  # the attribute of its table
    name: str = ""  # its key with its table in front, as in `judge.samples`
    sentence: str = ""  # what it says, for the schema, the docs and the help text of its flag

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


class ModelTable(SamplingTable):
    """How an agent that is a model is asked."""

    system_prompt = Setting(k.TEXT, None, examples=("Answer briefly.",)).says(
        "The system prompt, instead of the prompt file's `role` and `instructions`."
    )


class HttpTable(Table):
    """How an agent is called over HTTP."""

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


class CommandTable(Table):
    """The skills of an agent that is a program."""

    skills = Setting[tuple[Path, ...] | None](
        k.FILES, None, examples=(["skills/invoices"],), otherwise="the skill that a case is about"
    ).says("The folders of the Agent Skills that a program finds in the folder of each attempt; `[]` for none.")


class PaceTable(Table):
    """How fast an agent is asked, and how long it may take."""

    rpm = Setting(k.whole(1, 1_000_000), None, examples=(600,), otherwise="no limit", flag="--").says(
        "Send at most N requests a minute to the agent."
    )
    timeout_ms = Setting(k.DURATION, TIMEOUT_MS, flag="--").says("The time for each attempt at a case, such as `90s`.")


@final
class AgentTable(HttpTable, CommandTable):
    """The agent, and how it is called over HTTP."""

    use = Setting(
        k.AGENTS,
        (),
        examples=("http://localhost:3000/chat", [f"{each.name}:{each.example}" for each in PROVIDERS.values()]),
        flag="--agent",
        also="agentEndpoint",
    ).says(
        f"The agent: a URL, {MODELS}, `python:MODULE:NAME` or `python:FILE.py:NAME`, `command:...`, `local`, "
        "`replay:DIR`, `demo`, or a name from `agents`; each of several gets every case."
    )


class ProviderTable(Table):
    """How a provider's API is reached, or a server that speaks it."""

    base_url = Setting(
        k.TEXT, None, examples=("http://localhost:8080/v1",), otherwise="the provider's own server"
    ).says("Where the API is.")
    api = Setting(_API, "chat").says("Which API is asked: Chat Completions or Responses.")
    key_variable = Setting(k.VARIABLE_NAME, "").says("The environment variable with the key.")
    headers = HttpTable.headers


def declared_for(provider: Provider) -> Iterator[Setting[Any]]:
    """The settings of a provider; with one API it has none for which of them is asked."""
    return (each for each in declared_in(ProviderTable) if each.name != "api" or len(provider.apis) > 1)


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
    ).says(f"Who scores criteria and rubrics: a URL, {MODELS}, `python:MODULE:NAME` or `local`; several are a panel.")
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


# --- agents by name, as in `[agents.fast]` ----------------------------------------------------------------------------


_NAME: Final = r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}"
_OF_MODELS: Final = (HttpTable.retries, HttpTable.verify_tls, HttpTable.ca_file, HttpTable.connect_timeout_ms)
"""The settings of agents behind a URL by which models are reached, too."""


@final
class NamedAgentTable(HttpTable, CommandTable, ModelTable, ProviderTable, LocalTable, PaceTable):
    """An agent that has a name: what it is, and the settings that hold for it alone."""

    use = Setting(k.TEXT, "", examples=AgentTable.use.examples[:1]).says("The agent, as `--agent` takes it.")

    def over(self, table: OfTable, but_for: Collection[str] = ()) -> OfTable:
        """A table of settings, where this agent's own win, but for those of some names."""
        declared = {each.attribute for each in declared_in(type(table)) if each.name not in but_for}
        own = declared & vars(self).keys()
        return table.replace(**{name: vars(self)[name] for name in own})

    def said(self) -> Iterator[tuple[Setting[Any], Any]]:
        """Its own settings, and their values."""
        return ((each, vars(self)[each.attribute]) for each in AGENT_KEYS.values() if each.attribute in vars(self))


AGENT_KEYS: Final[Mapping[str, Setting[Any]]] = {each.name: each for each in declared_in(NamedAgentTable)}
"""The settings that tables of agents may have, by their names."""


def _keys_of(kind: str) -> Iterator[Setting[Any]]:
    """The settings that hold for an agent of a kind, but for `use`."""
    if kind in {"http", "https"}:
        yield from declared_in(HttpTable)
    if kind in {"command", *CODING}:
        yield from declared_in(CommandTable)
    if kind in {*PROVIDERS, "local", "replay"}:
        yield from declared_in(ModelTable)
    if kind in PROVIDERS:
        yield from declared_for(PROVIDERS[kind])
        yield from _OF_MODELS
    if kind == "local":
        yield from declared_in(LocalTable)
    if kind == "replay":
        yield HttpTable.body
    yield from declared_in(PaceTable)


_CALLED: Final = {
    **dict.fromkeys(("http", "https"), "an agent behind a URL"),
    **{name: f"a model of {provider.title}" for name, provider in PROVIDERS.items()},
    "local": "a model on this machine",
    "command": "a program",
    **dict.fromkeys(CODING, "a coding agent"),
    "replay": "a recorded agent",
}


@cache
def agent_shape(kind: str | None = None) -> k.TableShape:
    """The shape of the table of an agent of a kind; None has the keys of every kind."""
    keys: dict[str, Key] = {}
    for each in AGENT_KEYS.values() if kind is None else (NamedAgentTable.use, *_keys_of(kind)):
        keys.update(each.spellings())
    keys["use"] = keys["use"]._replace(required="a table with `use`, which says what the agent is")
    what = "" if kind is None else _CALLED.get(kind, f"an agent of the kind `{kind}`")
    return k.TableShape(what, keys, title="agents", where="in the table of an agent")


@final
class _Agents(Shape):
    """Tables of agents, under names of the author's own."""

    def take(self, fields: Fields, node: k.Value, what: str) -> tuple[tuple[str, NamedAgentTable], ...] | None:
        if not isinstance(node.data, dict):
            fields.wrong(node, what, "a table of agents")
            return None
        try:
            return k.each_of(node.pairs, lambda pair: _named(fields, *pair, node.data))
        except k.Wrong:
            return None

    def definition(self) -> Schema:
        return {
            "type": "object",
            "propertyNames": {"pattern": rf"^{_NAME}(?!\n)$", "not": {"enum": [*AGENT_KINDS]}},
            "additionalProperties": agent_shape().definition(),
        }


def _named(fields: Fields, key: k.Value, table: k.Value, others: Mapping[str, Any]) -> tuple[str, NamedAgentTable]:
    called = f"`agents.{key.text}`"
    if not re.fullmatch(_NAME, key.text):
        raise key._replace(what=called).refused("a name of letters, digits, `.`, `_` and `-`")
    if (kind := key.text.lower()) in AGENT_KINDS:
        raise key._replace(what=called).refused(f"another name: `{kind}` is a kind of agent")
    if not isinstance(table.data, dict):
        raise table._replace(what=called).mistyped("a table")
    use, reading = table.data.get("use"), table.reading
    if isinstance(use, str) and use.strip() in others:
        raise table.at(("use",)).refused("what the agent is, and not the name of another")
    met = reading.said, reading.values
    reading.said, reading.values = {}, {}  # of this agent alone
    shape = agent_shape(kind_of(use) if isinstance(use, str) and use.strip() else None)
    inner = fields.inside(table, shape, called)
    given = shape.of(inner)
    reading.said, reading.values = met
    if inner.partial:
        raise k.Wrong
    return key.text, NamedAgentTable(**{AGENT_KEYS[name].attribute: value for name, value in given.items()})


AGENTS: Final = _Agents("", {}, title="agents")
