"""The schema of the configuration and its reader: what the one takes, the other takes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hypothesis import example, given, settings
from hypothesis import strategies as st
from msgspec import NODEFAULT

from evalc.config.setting import Folders, Key, Refused
from evalc.config.settings import ALL_KEYS, Settings
from evalc.schema.published import configuration
from tests.schema.corpus import validator

FOLDERS = Folders(Path("/project"), Path("/project"))
ALL: dict[tuple[str, ...], Key] = {key.path: key for key in ALL_KEYS.values()}

OF_CODES = {"select", "ignore", "severity", "perFileIgnores"}
"""The keys that hold codes, of which the schema only knows what they look like."""

scalars = st.none() | st.booleans() | st.integers(-2, 10_002) | st.floats(-1, 2) | st.text(max_size=8)
values = scalars | st.lists(scalars, max_size=2) | st.dictionaries(st.text("aA- ", max_size=3), scalars, max_size=2)


def is_read(key: Key, value: Any) -> bool:
    if value is None:
        return True  # JSON's "not set"
    try:
        key.setting.value.read(value, FOLDERS)
    except Refused:
        return False
    return True


@settings(deadline=None)
@given(st.sampled_from(sorted(ALL)), values)
@example(("select",), ["EV5", " ev201 "])
@example(("severity",), {"EV5": "off"})
@example(("perFileIgnores",), {"drafts/": ["EV501"]})
@example(("concurrency",), 0)
@example(("concurrency",), 10_000)
@example(("timeoutMs",), 0)
@example(("agentEndpoint",), " ")
@example(("agentEndpoint",), [])
@example(("agentEndpoint",), ["demo", "demo"])
@example(("judges",), [])
@example(("judges",), ["openai:a", "openai:a"])
@example(("outputDir",), "a\0b")
@example(("secrets",), ["A_KEY", "no key"])
@example(("agent", "headers"), {"X-Key": "Bearer ${KEY}", "Y": "costs $5"})
@example(("agent", "headers"), {"X-Key": "Bearer ${KEY"})
@example(("agent", "headers"), {"X Key": "a"})
@example(("agent", "headers"), {"X-Key": "a\n"})
@example(("agent", "retries"), 11)
def test_schema_and_reader_agree(path: tuple[str, ...], value: Any) -> None:
    document: Any = value
    for name in reversed(path):
        document = {name: document}
    # To a schema a whole number is whole however it is written, and only ECMAScript's white space is white.
    if (isinstance(value, float) and value.is_integer()) or not str(value).isascii():
        return
    valid, read = validator("config").is_valid(document), is_read(ALL[path], value)
    assert (valid >= read) if path[0] in OF_CODES else (valid == read)


def test_unknown_keys_are_rejected() -> None:
    assert validator("config").is_valid({"concurrency": 4, "agent": {"retries": 0}})
    assert not validator("config").is_valid({"concurency": 4})
    assert not validator("config").is_valid({"agent": {"retry": 0}})


def test_defaults_are_those_of_the_settings() -> None:
    plain = Settings(root=Path("/project"))
    assert {name: key.default for name, key in ALL_KEYS.items() if key.default != plain.value_of(key)} == {
        "agent.response": NODEFAULT  # made anew
    }
    properties = configuration()["properties"]
    assert (properties["concurrency"]["default"], properties["judge"]["properties"]["cache"]["default"]) == (1, True)
