"""Runs a test once for each API."""

from __future__ import annotations

import pytest

from tests.runtime.agents.model.apis import APIS, TestedApi


@pytest.fixture(params=APIS, ids=lambda api: api.name)
def api(request: pytest.FixtureRequest) -> TestedApi:
    """One of the three."""
    tested: TestedApi = request.param
    return tested
