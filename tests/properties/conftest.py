"""The package whose check drawn suites use is installed for all of these tests."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.calm import offered

pytest.register_assert_rewrite("tests.properties.laws")


@pytest.fixture(scope="package", autouse=True)
def calm() -> Iterator[Path]:
    """The folder that it is installed in."""
    with offered() as folder:
        yield folder
