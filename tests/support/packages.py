"""Makes installed packages with entry points from the source of a module."""

from __future__ import annotations

from collections.abc import Mapping
from inspect import unwrap
from pathlib import Path

import pytest

from evalc import base


def install(
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    *,
    module: str,
    source: str,
    checks: Mapping[str, str] | None = None,
    agents: Mapping[str, str] | None = None,
) -> None:
    """Install a module whose objects, by name, are offered as checks and agents, until the test ends."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{module}.py").write_text(source, encoding="utf-8")
    metadata = folder / f"{module}-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {module}\nVersion: 1.0\n", encoding="utf-8")
    groups = {"evalc.checks": checks or {}, "evalc.agents": agents or {}}
    lines = [
        line
        for group, offers in groups.items()
        for line in (f"[{group}]", *(f"{name} = {module}:{target}" for name, target in offers.items()))
    ]
    (metadata / "entry_points.txt").write_text("\n".join((*lines, "")), encoding="utf-8")
    monkeypatch.syspath_prepend(folder)
    forget_installed(monkeypatch)


def forget_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Look the installed packages up anew, now and after the test."""
    monkeypatch.setattr(base, "_entry_points", unwrap(base._entry_points))
