"""Settings from the environment."""

from __future__ import annotations

from pathlib import Path

import pytest

from evalc.base.errors import UsageError
from evalc.config.http import expanded
from evalc.config.settings import AgentTable, Settings


def with_headers(**headers: str) -> Settings:
    return Settings(root=Path("/project"), agent=AgentTable(headers=tuple(headers.items())), secrets=("OTHER",))


def test_headers_are_filled_from_the_environment() -> None:
    settings = with_headers(Authorization="Bearer ${KEY}", Both="${A}-${B}", Plain="$5")
    environ = {"KEY": "k", "A": "1", "B": "${KEY}"}
    assert expanded(settings.agent.headers, environ) == {"Authorization": "Bearer k", "Both": "1-${KEY}", "Plain": "$5"}


def test_a_missing_variable_is_named() -> None:
    with pytest.raises(UsageError, match=r"^the environment variable `KEY`, which the header `X` needs, is not set$"):
        expanded((("X", "${KEY}"),), {})


def test_a_value_that_would_break_the_header_is_not_quoted() -> None:
    with pytest.raises(UsageError) as caught:
        expanded((("X", "${KEY}"),), {"KEY": "planted\r\nY: z"})
    assert "planted" not in str(caught.value)
    assert "`X`" in str(caught.value)


def test_secret_values() -> None:
    settings = with_headers(Authorization="Bearer literal-token", X="${KEY}", Y="plain-value")
    environ = {"KEY": "from-header", "OTHER": "from-list", "UNRELATED": "free"}
    assert set(settings.secret_values(environ)) == {"Bearer literal-token", "literal-token", "from-header", "from-list"}


def test_unset_variables_are_no_secrets() -> None:
    assert with_headers(X="${KEY}").secret_values({"OTHER": ""}) == ()
