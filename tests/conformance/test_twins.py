"""Twins, an eval in YAML and the same one in JSON: they compile to the same bytes and come to the same verdicts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import evalc
from tests.conformance.agents import Scripted, script_of
from tests.conformance.documents import FOLDER

TWINS = sorted(path.name.removesuffix(".eval.yaml") for path in (FOLDER / "twins").glob("*.eval.yaml"))

_VOLATILE = frozenset({"runId", "timestamp", "durationMs", "totalDurationMs", "evalFileHash", "place"})

twins = pytest.mark.parametrize("name", TWINS)


def _pair(name: str) -> tuple[Path, Path]:
    return FOLDER / "twins" / f"{name}.eval.yaml", FOLDER / "twins" / f"{name}.json"


def test_each_file_has_its_twin_and_its_agents() -> None:
    names = {path.name for path in (FOLDER / "twins").iterdir()}
    assert names == {f"{name}{ending}" for name in TWINS for ending in (".eval.yaml", ".json", ".agents.json")}
    assert len(TWINS) >= 10


@twins
def test_they_compile_to_the_same_bytes(name: str) -> None:
    authored, written = (_compiled(path) for path in _pair(name))
    assert json.loads(authored) == json.loads(written)
    assert authored == written


@twins
def test_they_come_to_the_same_verdicts(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    script = json.loads((FOLDER / "twins" / f"{name}.agents.json").read_text(encoding="utf-8"))
    (tmp_path / "strict_judges.py").write_text("def judge(query): return 0, query['response']\n")
    judged: dict[str, Any] = {"judge": "python:strict_judges:judge"} if name == "rubric" else {}
    data = {"seed_manifest": _written(tmp_path, "seed", script), "snapshot": _written(tmp_path, "snapshot", script)}
    verdicts: list[Any] = []
    for answer in script["agents"]:
        agent = Scripted(script_of({"agent": answer}))
        authored, written = (
            json.loads(evalc.run(path, agent=agent, output_dir=tmp_path / "runs", **data, **judged).to_json())
            for path in _pair(name)
        )
        assert _without_what_varies(authored) == _without_what_varies(written)
        verdicts.append([case.get("error") for case in authored["suites"][0]["cases"]])
    # Every answer was chosen to have verdicts of its own: otherwise the verdicts would be equal for want of any.
    assert len({json.dumps(verdict) for verdict in verdicts}) == len(verdicts)


def _compiled(path: Path) -> bytes:
    (suite,) = evalc.compile(path).suites
    return b"".join(suite.encode())


def _written(folder: Path, name: str, script: dict[str, Any]) -> Any:
    """The path of the data as a file, or None where the twins need none."""
    if name not in script:
        return None
    path = folder / f"{name}.json"
    path.write_text(json.dumps(script[name]), encoding="utf-8")
    return str(path)


def _without_what_varies(value: Any) -> Any:
    match value:
        case dict():
            return {key: _without_what_varies(item) for key, item in value.items() if key not in _VOLATILE}
        case list():
            return [_without_what_varies(item) for item in value]
        case _:
            return value
