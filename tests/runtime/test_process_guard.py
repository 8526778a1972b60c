"""Whose code holds up the event loop: the agent's, or what ours imports when it is first needed."""

from __future__ import annotations

import sys
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from evalc.base.guard import _outermost

SLOW = """\
import sys
seen = __import__("tests.runtime.test_process_guard", fromlist=["blocking"]).blocking(sys._getframe())
"""


def blocking(frame: FrameType) -> str | None:
    """The module whose code is found to block where this frame runs, up to the code that stands for the run's."""
    found = _outermost(frame)
    return None if found is None else str(found.f_globals["__name__"])


@pytest.mark.parametrize(("package", "found"), [("evalc.somewhere", None), ("the_agent", "the_agent")])
def test_an_import_of_ours_is_not_the_agents(
    package: str, found: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "slow_library", raising=False)
    (tmp_path / "slow_library.py").write_text(SLOW)
    run: dict[str, Any] = {"__name__": package}
    exec("def imports():\n    import slow_library\n    return slow_library.seen", run)
    loop: dict[str, Any] = {"__name__": "asyncio.events"}
    exec("def _run(called):\n    return called()", loop)
    assert loop["_run"](run["imports"]) == found
