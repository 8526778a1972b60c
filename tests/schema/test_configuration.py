"""The schema of the configuration and its reader: what the one takes, the other takes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hypothesis import example, given, settings
from hypothesis import strategies as st

from evalc.config import ALL_KEYS, Settings, shape
from evalc.config.kinds import Folders
from evalc.config.load import Reading
from evalc.diagnostics import Finding
from evalc.dsl.kinds import Key, Shape
from evalc.schema.published import configuration
from tests.schema.corpus import validator

FOLDERS = Folders(Path("/project"), Path("/project"))
KEYS: dict[str, Key] = {
    name: key
    for table, each in [("", shape()), *((f"{name}.", key.holds) for name, key in shape().keys.items())]
    if isinstance(each, Shape)
    for name, key in ((f"{table}{name}", key) for name, key in each.keys.items() if key.into)
}
"""Every key in each of its spellings."""

OF_CODES = {"select", "ignore", "severity", "per_file_ignores"}
"""The settings that hold codes, of which the schema only knows what they look like."""

scalars = st.none() | st.booleans() | st.integers(-2, 10_002) | st.floats(-1, 2) | st.text(max_size=8)
values = scalars | st.lists(scalars, max_size=2) | st.dictionaries(st.text("aA- ", max_size=3), scalars, max_size=2)


def is_read(document: Any) -> bool:
    found: list[Finding] = []
    Reading(FOLDERS, lambda _, finding: found.append(finding)).read(shape(), document, {})
    return all(finding.code == "EV625" for finding in found)  # is about two keys


@settings(deadline=None)
@given(st.sampled_from(sorted(KEYS)), values)
@example("select", ["EV5", " ev201 "])
@example("severity", {"EV5": "off"})
@example("per_file_ignores", {"drafts/": ["EV501"]})
@example("concurrency", 0)
@example("concurrency", 10_000)
@example("timeoutMs", 0)
@example("timeout", "30s")
@example("timeout", "0.0ms")
@example("timeout", "1 m")
@example("timeout", "1e5s")
@example("timeout", 30)
@example("agentEndpoint", " ")
@example("agentEndpoint", [])
@example("agentEndpoint", ["demo", "demo"])
@example("judge.use", [])
@example("judges", ["openai:a", "openai:a"])
@example("output_dir", "a\0b")
@example("secrets", ["A_KEY", "no key"])
@example("agent.headers", {"X-Key": "Bearer ${KEY}", "Y": "costs $5"})
@example("agent.headers", {"X-Key": "Bearer ${KEY"})
@example("agent.headers", {"X Key": "a"})
@example("agent.headers", {"X-Key": "a\n"})
@example("agent.retries", 11)
def test_schema_and_reader_agree(name: str, value: Any) -> None:
    document: Any = value
    for key in reversed(name.split(".")):
        document = {key: document}
    # To a schema a whole number is whole however it is written, and only ECMAScript's white space is white.
    if (isinstance(value, float) and value.is_integer()) or not str(value).isascii():
        return
    valid, read = validator("config").is_valid(document), is_read(document)
    assert (valid >= read) if KEYS[name].into in OF_CODES else (valid == read)


def test_unknown_keys_are_rejected() -> None:
    assert validator("config").is_valid({"concurrency": 4, "agent": {"retries": 0}})
    assert not validator("config").is_valid({"concurency": 4})
    assert not validator("config").is_valid({"agent": {"retry": 0}})


def test_the_agent_is_a_text_a_list_or_a_table() -> None:
    for agent, taken in ((["demo"], True), ("demo", True), ({"use": "demo"}, True), (5, False), ([{}], False)):
        assert validator("config").is_valid({"agent": agent}) is is_read({"agent": agent}) is taken


def test_defaults_are_those_of_the_settings() -> None:
    plain = Settings()
    assert [name for name, each in ALL_KEYS.items() if each.default != plain.value_of(each)] == []
    properties = configuration()["properties"]
    cache = properties["judge"]["anyOf"][1]["properties"]["cache"]
    assert (properties["concurrency"]["default"], properties["timeout"]["default"], cache["default"]) == (
        1,
        "60s",
        True,
    )
