"""The configuration keys of the contract: which values they take, and what holds without them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import evalc
from evalc.config import Settings
from evalc.config.load import load_settings
from tests.conformance.documents import Entry, documents, with_key
from tests.conformance.matching import differences
from tests.support.servers import echoes, serving


@with_key("configuration")
def test_the_settings(entry: Entry, tmp_path: Path) -> None:
    (tmp_path / "evalc.config.json").write_text(json.dumps(entry["configuration"]), encoding="utf-8")
    settings, problems = load_settings(tmp_path)
    assert any(problem.severity == "error" for problem in problems) is entry["expected"].get("rejected", False)
    if not problems:
        assert list(differences(_expected(entry["expected"], tmp_path), _by_key(settings))) == []


def test_a_run_takes_everything_from_the_configuration(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (printed,) = (entry["configuration"] for entry in _cases() if entry["name"] == "as-printed")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "evals").mkdir()
    case = {
        "id": "ls-greet-001",
        "description": "a greeting",
        "difficulty": "straightforward",
        "input": {"message": "Hello"},
        "expect": {"responseContains": ["{{seed:greeting}}"]},
    }
    path = tmp_path / "evals" / "greet.labeled.json"
    path.write_text(json.dumps([case]), encoding="utf-8")
    (tmp_path / printed["seedManifestPath"]).write_text('{"greeting": "Hello"}', encoding="utf-8")
    with serving(echoes) as server:
        configuration = printed | {"agentEndpoint": server.url}
        (tmp_path / "evalc.config.json").write_text(json.dumps(configuration), encoding="utf-8")
        run = evalc.run(path)
    (file,) = (tmp_path / printed["outputDir"] / run.run_id).glob("*.json")
    result = json.loads(file.read_bytes())
    assert result["agentEndpoint"] == server.url
    assert result["baselineRunId"] is None
    assert [(case["passed"], case["assertionsRun"]) for case in result["cases"]] == [(True, 1)]
    (absent,) = run.problems
    assert printed["toolRegistryPath"] in absent.finding.message()


def _cases() -> list[Entry]:
    return next(document.cases for document in documents() if document.name == "configuration")


def _expected(settings: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Paths count from the configuration's folder."""
    paths = ("seedManifestPath", "outputDir", "toolRegistryPath")
    return {key: str(folder / value) if value and key in paths else value for key, value in settings.items()}


def _by_key(settings: Settings) -> dict[str, Any]:
    return {
        "agentEndpoint": next(iter(settings.agent.use), None),
        "seedManifestPath": _text(settings.seed_file),
        "snapshotEnabled": settings.snapshot is not None,
        "outputDir": _text(settings.output_dir),
        "baselineRunId": settings.baseline,
        "concurrency": settings.concurrency,
        "timeoutMs": settings.timeout_ms,
        "toolRegistryPath": _text(settings.tools),
    }


def _text(path: Path | None) -> str | None:
    return None if path is None else str(path)
