"""Options of the whole suite: `--update-goldens` writes what the goldens hold instead of comparing with it."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from tests.support.laws import BRIEF

# Time is measured in `benchmarks/`: a busy machine fails no test. The laws are tried on the same examples everywhere,
# so that a red run can be run again; EVALC_EXPLORE=1 looks for new ones.
settings.register_profile("evalc", deadline=None, derandomize=os.environ.get("EVALC_EXPLORE") != "1")
settings.register_profile("brief", settings.get_profile("evalc"), max_examples=BRIEF)
settings.load_profile("evalc")


# Whoever runs the tests keeps a home without their key in it.
os.environ["EVALC_CACHE_KEY"] = "a key that is no secret"

# Hundreds of processes are started: each would compile evalc anew where images of containers set this.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

# No test pulls the plug, so nothing has to reach the disk.
os.fsync = lambda fd: None

os.environ.pop("GITHUB_ACTIONS", None)  # a summary is fenced there; the tests ask for that themselves

# A shell starts what it runs in the background with Ctrl-C ignored, and so would be every process of a test.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """One more worker than there are processors: some tests wait for processes, a browser or a cluster."""
    return (os.cpu_count() or 1) + 1


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-goldens", action="store_true", help="write the goldens anew")


@pytest.fixture
def update_goldens(request: pytest.FixtureRequest) -> bool:
    return bool(request.config.getoption("--update-goldens"))


@pytest.fixture(autouse=True)
def _forget_modules(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Agents and checks of a test are modules in its folder: another test may have some of the same name."""
    before = set(sys.modules)
    yield
    folder = tmp_path_factory.getbasetemp()
    for name in sys.modules.keys() - before:
        file = getattr(sys.modules[name], "__file__", None)
        if file and folder in Path(file).parents:
            del sys.modules[name]
