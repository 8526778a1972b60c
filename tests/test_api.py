"""The Python API, called as it should be and as it should not."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any, cast

import pytest

import evalc
from evalc.errors import UsageError

SUITE = evalc.Source(
    "greeting.eval.yaml", "eval: {test_cases: [{name: hi, message: Say hello, validate: [contains 'hello']}]}"
)


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.filterwarnings("error")
def test_where_an_event_loop_runs_there_is_a_word_about_the_other_function() -> None:
    async def call() -> None:
        evalc.run(SUITE, agent="demo")

    with pytest.raises(UsageError, match=r"await `evalc.run_async`"):
        asyncio.run(call())


def test_two_runs_at_a_time_do_not_meet() -> None:
    async def call() -> list[evalc.Run]:
        agent = evalc.ScriptedAgent(default="hello")
        return await asyncio.gather(*(evalc.run_async(SUITE, agent=agent) for _ in range(2)))

    first, second = asyncio.run(call())
    assert (first.exit_code, second.exit_code) == (0, 0)
    assert first.run_id != second.run_id


@pytest.mark.parametrize(("agent", "kind"), [(lambda message: message, "function"), (3, "int")])
def test_what_is_no_agent_is_a_mistake_of_usage(agent: object, kind: str) -> None:
    with pytest.raises(UsageError, match=f"a `{kind}` is no agent"):
        evalc.run(SUITE, agent=cast(Any, agent))
    assert not Path("evals").exists()
