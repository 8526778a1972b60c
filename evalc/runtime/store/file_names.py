"""Names the files that results are written to, and the folders of agents."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Final

from evalc.model.json import short_hash
from evalc.model.suite import Suite, SuiteKey

_LONGEST_SLUG: Final = 100


def file_names(suites: Sequence[Suite]) -> list[str]:
    """`<suite>.<tier>.json` for each suite; suites whose names have the same slug are identified by a hash.

    In a run of several agents each has a folder: `<agent>/<suite>.<tier>.json`.
    """
    folders = agent_folders([suite.agent for suite in suites if suite.agent is not None])
    plain = plain_names(dict.fromkeys(suite.key for suite in suites))
    names = [plain[suite.key] for suite in suites]
    return [
        name if suite.agent is None else f"{folders[suite.agent]}/{name}"
        for name, suite in zip(names, suites, strict=True)
    ]


def agent_folders(agents: Iterable[str]) -> Mapping[str, str]:
    """The name of each agent's folder; agents whose names have the same slug are identified by a hash."""
    slugs = {agent: _slug(agent, "agent") for agent in agents}
    taken = Counter(slug.casefold() for slug in slugs.values())
    return {
        agent: slug if taken[slug.casefold()] == 1 else f"{slug}-{short_hash(agent)}" for agent, slug in slugs.items()
    }


def plain_names(keys: Collection[SuiteKey]) -> Mapping[SuiteKey, str]:
    """The names of the files of different suites."""
    plain = [_name(key) for key in keys]
    taken = Counter(name.casefold() for name in plain)
    return {
        key: name if taken[name.casefold()] == 1 else _name_with_hash(key)
        for name, key in zip(plain, keys, strict=True)
    }


def possible_names(key: SuiteKey, tool_name: str) -> Collection[str]:
    """The names that files of a suite's results may have, whatever other suites were in the run.

    Earlier versions named them for the tool.
    """
    keys = (key, SuiteKey(tool_name, key.tier))
    return {*map(_name, keys), *map(_name_with_hash, keys)}


def _name(key: SuiteKey) -> str:
    return f"{_slug(key.name, 'suite')}.{_slug(key.tier, 'tier')}.json"


def _name_with_hash(key: SuiteKey) -> str:
    return f"{_slug(key.name, 'suite')}-{short_hash(key.name)}.{_slug(key.tier, 'tier')}.json"


def _slug(name: str, what: str) -> str:
    slug = re.sub(r"[^A-Za-z0-9]+", "-", name).strip("-")[:_LONGEST_SLUG]
    return slug or f"{what}-{short_hash(name)}"
