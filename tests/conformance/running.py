"""Runs a conformance case: a project on disk, one run or two, the result file."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import evalc
from evalc.model.json import short_hash
from tests.conformance.agents import Script, Scripted, judging, script_of, served
from tests.conformance.documents import Entry
from tests.support.servers import serving


class Outcome(NamedTuple):
    """The result of a run.

    Attributes:
        result: the suite's result file.
        sent: what the agent was sent, in order.
        gated: whether a gate failed the run.
        names: what the texts in angle brackets stand for.
    """

    result: dict[str, Any]
    sent: list[dict[str, Any]]
    gated: bool
    names: Mapping[str, object]


def eval_file(entry: Mapping[str, Any]) -> tuple[str, Any]:
    """The name and the content of the eval file: the one given, or an envelope around the only case."""
    if "file" in entry:
        return entry["file"]["name"], entry["file"]["content"]
    metadata = {"toolName": "get_weather", "tier": "labeled"}
    return "get-weather.labeled.json", {"metadata": metadata, "cases": [entry["case"]]}


def run_entry(entry: Entry, folder: Path) -> Outcome:
    """Run the case in a project made in `folder`, which is the working folder.

    Raises:
        evalc.SourceError: the eval file is refused.
    """
    with _judge(entry) as judge:
        return _run_entry(_Project(entry, folder, judge), entry)


def _run_entry(project: _Project, entry: Entry) -> Outcome:
    names: dict[str, object] = {}
    baseline: str | None = None
    if "baseline" in entry:
        past = entry["baseline"]
        path = project.write_eval_file({**entry, **past})
        baseline = evalc.run(path, agent=Scripted(script_of(past)), **project.options).run_id
        names["<run id of the baseline>"] = baseline
    path = project.write_eval_file(entry)
    names["<hash of the eval file>"] = short_hash(path.read_bytes())
    with _agent(entry) as (agent, sent):
        names["<url of the agent>"] = agent
        run = evalc.run(path, agent=agent, baseline=baseline, **project.options)
    (file,) = run.folder.glob("*.json")
    return Outcome(json.loads(file.read_bytes()), sent, bool(run.finished.below_threshold), names)


class _Project:
    """The files of a run, and the options that name them."""

    def __init__(self, entry: Entry, folder: Path, judge: str | None) -> None:
        self._evals = folder / "evals"
        self._evals.mkdir()
        configuration: dict[str, Any] = dict(entry.get("options", {}))
        if judge is not None:
            configuration |= {"judges": [judge], "judge": {"cache": False}}
        if "seed" in entry:
            # Where the contract's convention has it: no configuration names it.
            _write(self._evals / "seed-manifest.json", entry["seed"])
        if "registry" in entry:
            configuration["toolRegistryPath"] = "tools.json"
            _write(folder / "tools.json", {"tools": entry["registry"]})
        _write(folder / "evalc.config.json", configuration)
        self.options: dict[str, Any] = {"output_dir": folder / "results"}
        if "snapshot" in entry:
            _write(folder / "snapshot.json", entry["snapshot"])
            self.options["snapshot"] = str(folder / "snapshot.json")

    def write_eval_file(self, entry: Mapping[str, Any]) -> Path:
        name, content = eval_file(entry)
        return _write(self._evals / name, content)


@contextmanager
def _agent(entry: Entry) -> Iterator[tuple[Any, list[dict[str, Any]]]]:
    script: Script = script_of(entry)
    if entry.get("transport") != "http":
        agent = Scripted(script)
        yield agent, agent.sent
        return
    sent: list[dict[str, Any]] = []
    with serving(served(script)) as server:
        yield server.url, sent
        sent += [request.json for request in server.requests]


@contextmanager
def _judge(entry: Entry) -> Iterator[str | None]:
    """The URL of the judge that the case scripts, if it does."""
    if "judge" not in entry:
        yield None
        return
    with serving(judging(entry["judge"])) as server:
        yield server.url


def _write(path: Path, content: Any) -> Path:
    path.write_text(json.dumps(content, ensure_ascii=False, indent=2), encoding="utf-8")
    return path
