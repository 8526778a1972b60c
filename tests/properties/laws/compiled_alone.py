"""Laws of compiled JSON: any runner of the contract can run it, and it can be imported back."""

from __future__ import annotations

import asyncio
import json
import re
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import msgspec
from jsonschema import Draft202012Validator

import evalc
from evalc.check.contract import assertions
from evalc.check.tree import Some, asks
from evalc.diagnostics import Diagnostics
from evalc.extras.importers import import_tool_forge
from evalc.extras.importers.imported import Imported
from evalc.model.answer import AgentRequest, AgentResponse
from evalc.model.case import Case
from evalc.model.result import CaseResult
from evalc.model.suite import LocatedCase
from evalc.runtime.run.case import CaseOptions
from tests.properties.drawing.worlds import DATA, PROSE, SEED, answer
from tests.properties.trying import Tried, compiled, encoded
from tests.support.asking import run_case
from tests.support.contract_runner import Outcome, run_by_contract
from tests.support.contract_schema import CONTRACT_SCHEMA

_NO_JUDGE = "needs a judge, and none is configured"
_CONTRACT = Draft202012Validator(CONTRACT_SCHEMA)


def is_run_by_any_runner(tried: Tried) -> None:
    """A compiled file is of the contract's form, and a runner of the contract finds what evalc's own finds."""
    asyncio.run(_is_run(tried))


async def _is_run(tried: Tried) -> None:
    worlds = {case.name: case.world for case in tried.project.cases}
    for suite in tried.suites:
        envelope = json.loads(tried.texts[suite.file_name])
        assert [error.message for error in _CONTRACT.iter_errors(envelope)] == []
        requires = {*envelope["metadata"].get("requires", ())}
        for located, plain in zip(suite.located(), envelope["cases"], strict=True):
            drawn_for = worlds[_name(located.case.id)]
            for world in (PROSE, DATA):
                result = await _run(_without_user(located), answer(world))
                assert world is not drawn_for or _holds(located.case, result), result
                _is_what_the_contract_says(result, run_by_contract(plain, answer(world), SEED), plain, requires)


def _without_user(located: LocatedCase) -> LocatedCase:
    """The case as a runner of the contract has it, which knows of no simulated user and sends the message."""
    case = located.case
    sent = msgspec.structs.replace(case.input, user=None)
    return located._replace(case=msgspec.structs.replace(case, input=sent))


def _name(identity: str) -> str:
    """The name of the drawn case that an id is of: `drawn.one/case_0@...`, `ls-own-case_0-001`."""
    found = re.search(r"case_\d+_\d+", identity)
    assert found is not None
    return found[0]


def _holds(case: Case, result: CaseResult) -> bool:
    """Whether the case came out as it was drawn: without a judge, what asks for one is an error."""
    if case.rubric:
        return result.error == f"judge: {_NO_JUDGE}" or _asks_within(case, result)
    return result.status in ("passed", "unverified") or _ungated(result) or _asks_within(case, result)


def _asks_within(case: Case, result: CaseResult) -> bool:
    """Whether only a group that asks a judge, which none of its other parts settled, ended it."""
    groups = [assertion.check for assertion in assertions(case.expect)]
    asked = any(asks(check, "judge") for check in groups if isinstance(check, Some))
    return asked and isinstance(result.error, str) and result.error.endswith(_NO_JUDGE)


def _ungated(result: CaseResult) -> bool:
    """Whether only a threshold failed it, for want of anything that is scored."""
    return isinstance(result.error, str) and result.error.startswith("threshold: nothing was scored")


def _is_what_the_contract_says(ours: CaseResult, theirs: Outcome, plain: dict[str, Any], requires: set[str]) -> None:
    """A runner that knows the contract's fields alone finds no other failure, and misses only what `requires` names."""
    if theirs.failed is not None:
        assert isinstance(ours.error, str)
        assert ours.error.startswith(f"{theirs.failed}: ")
    elif not requires and "rubric" not in plain:
        assert ours.passed or ours.status == "unverified" or _ungated(ours)
    if not requires and "criteria" not in plain:
        assert (ours.assertions_run, ours.assertions_skipped) == (theirs.run, theirs.skipped)


def comes_back(tried: Tried) -> None:
    """Imported, a compiled file is YAML that compiles to the same.

    One thing is warned of instead: no key of a case says its `variant`, the name of the one among the suite's prompts
    that its message was made of. The message is what it was.
    """
    for name, text in tried.texts.items():
        problems = Diagnostics()
        imported = import_tool_forge(evalc.Source(name, text), problems)
        assert imported is not None
        compiled_again = json.loads(_compiled(imported))
        read = json.loads(text)
        variants = [case.pop("variant", None) for case in read["cases"]]
        assert compiled_again == read
        assert [problem.code for problem in problems] == ["EV653" for variant in variants if variant is not None]


async def _run(located: LocatedCase, response: AgentResponse) -> CaseResult:
    class Answering:
        async def send(self, request: AgentRequest) -> AgentResponse:
            return response

    return (await run_case(located, Answering(), CaseOptions(seed=SEED))).result


def _compiled(imported: Imported) -> str:
    with TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "evalc.toml").touch()
        (suite,) = compiled(imported.write(folder))
        return encoded(suite)
