"""Options of the whole suite: `--update-goldens` writes what the goldens hold instead of comparing with it."""

from __future__ import annotations

import pytest
from hypothesis import settings

# Time is measured in `benchmarks/`: a busy machine fails no test.
settings.register_profile("evalc", deadline=None)
settings.load_profile("evalc")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-goldens", action="store_true", help="write the goldens anew")


@pytest.fixture
def update_goldens(request: pytest.FixtureRequest) -> bool:
    return bool(request.config.getoption("--update-goldens"))
