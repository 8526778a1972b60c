"""Concurrency changes only durations: 200 cases against a real server, one at a time and sixteen at a time."""

from __future__ import annotations

import asyncio
import json
import zlib
from pathlib import Path
from typing import Any

import pytest

import evalc
from tests.support.servers import Exchange, serving

CASES = 200


async def _answer(exchange: Exchange) -> None:
    """Answer what the message asks for, some sooner and some later; the order of arrival plays no part."""
    message: str = exchange.request.json["message"]
    await asyncio.sleep(zlib.crc32(message.encode()) % 8 / 1000)
    number = int(message.removeprefix("message "))
    if number % 23 == 0:
        await exchange.respond(500, b"out of order")
        return
    calls = [{"name": "count", "success": number % 13 != 0, "durationMs": 1, "params": {"to": number}}]
    answer = {"response": f"{message}: {'odd' if number % 2 else 'even'}", "toolCalls": calls if number % 3 else []}
    await exchange.respond(200, json.dumps(answer).encode())


def _eval_file() -> dict[str, Any]:
    criteria = [{"name": "parity", "weight": 0.3}, {"name": "routing", "weight": 0.7}]
    links = {"parity": "/expect/responseContains/0", "routing": "/expect/toolsCalled"}
    cases = [
        {
            "id": f"ls-count-{number:03}",
            "description": f"case {number}",
            "difficulty": "straightforward",
            "input": {"message": f"message {number}"},
            "expect": {
                "toolsCalled": ["count"],
                "noToolErrors": True,
                "responseContains": ["even", "{{seed:greeting}}", "{{snapshot:absent}}"],
            },
            "criteria": [{**criterion, "checks": [{"at": [links[str(criterion["name"])]]}]} for criterion in criteria],
        }
        for number in range(1, CASES + 1)
    ]
    return {"metadata": {"toolName": "count", "tier": "labeled", "criteria": criteria}, "cases": cases}


def _without_what_varies(run: evalc.Run) -> dict[str, Any]:
    (file,) = run.folder.glob("*.json")
    result: dict[str, Any] = json.loads(file.read_bytes())
    for key in ("runId", "timestamp"):
        del result[key]
    del result["summary"]["totalDurationMs"]
    for case in result["cases"]:
        del case["durationMs"]
    return result


def test_sixteen_at_a_time_are_as_one_at_a_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "count.labeled.json"
    path.write_text(json.dumps(_eval_file()), encoding="utf-8")
    seed = tmp_path / "seed.json"
    seed.write_text(json.dumps({"greeting": "message"}), encoding="utf-8")
    with serving(_answer) as server:
        one, many = (
            evalc.run(path, agent=server.url, seed_manifest=seed, output_dir=tmp_path / "runs", concurrency=concurrency)
            for concurrency in (1, 16)
        )
        assert server.connections >= 17
    result = _without_what_varies(one)
    assert [case["id"] for case in result["cases"]] == [f"ls-count-{number:03}" for number in range(1, CASES + 1)]
    statuses = {case["status"] for case in result["cases"]}
    assert statuses == {"passed", "failed", "error"}
    assert result == _without_what_varies(many)
