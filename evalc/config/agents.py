"""Agents by name, as in `[agents.fast]`: each says what it is, and the settings that hold for it alone."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any, Final, TypeVar, final

from evalc.base import AGENT_KINDS, CODING, PROVIDERS, kind_of
from evalc.config import kinds as k
from evalc.config.tables import (
    AgentTable,
    CommandTable,
    HttpTable,
    LocalTable,
    ModelTable,
    PaceTable,
    ProviderTable,
    Setting,
    Table,
    declared_for,
    declared_in,
)
from evalc.dsl.kinds import Key, Schema, Shape

if TYPE_CHECKING:
    from evalc.dsl.walk import Fields

T = TypeVar("T", bound=Table)

_NAME: Final = r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}"
_OF_MODELS: Final = (HttpTable.retries, HttpTable.verify_tls, HttpTable.ca_file, HttpTable.connect_timeout_ms)
"""The settings of agents behind a URL by which models are reached, too."""


@final
class NamedAgentTable(HttpTable, CommandTable, ModelTable, ProviderTable, LocalTable, PaceTable):
    """An agent that has a name."""

    use = Setting(k.TEXT, "", examples=AgentTable.use.examples[:1]).says("The agent, as `--agent` takes it.")

    def over(self, table: T, but_for: Collection[str] = ()) -> T:
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
