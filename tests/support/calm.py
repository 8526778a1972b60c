"""An installed package that offers the check `calm`, which always holds."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from inspect import unwrap
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from evalc import base
from tests.support.packages import install

_SOURCE = '''
def calm(answer, *args, **options):
    """Hold."""
    return True
'''


@contextmanager
def offered() -> Iterator[Path]:
    """The package, installed in a folder that other processes can put on their path too."""
    with TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        install(Path(folder), patch, module="calm_check_of_tests", source=_SOURCE, checks={"calm": "calm"})
        # What is installed does not change while a law is tried a thousand times.
        patch.setattr(base, "_entry_points", cache(unwrap(base._entry_points)))
        yield Path(folder)
