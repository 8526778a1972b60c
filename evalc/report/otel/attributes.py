"""Span attributes for the records of a result: OpenTelemetry's names if it has some, else `evalc.*`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final
from urllib.parse import urlsplit

import msgspec
from msgspec import UNSET

from evalc.base.providers import PROVIDERS
from evalc.model.result import AssertionResult, CaseDetails, CaseResult, Outcome, RunSummary, SuiteResult, Summary
from evalc.model.suite import key_of
from evalc.report.words import timed_out

Value = str | bool | int | float | Sequence[str]
Attributes = Mapping[str, Value]

_LONGEST_TEXT: Final = 20_000
_LONGEST_NAME: Final = 200
_MOST_CALLS: Final = 100

_MODELS: Final = (*PROVIDERS, "local")
"""The prefix before the model in the names of agents that are models."""

_LABELS: Final[Mapping[Outcome, str]] = {"passed": "pass", "failed": "fail", "skipped": "skipped", "error": "error"}


def of_run(run_id: str, summary: RunSummary) -> Attributes:
    """What is known of the run as a whole."""
    return _known({"evalc.run_id": run_id, "evalc.suites": summary.suites, **_totals(summary)})


def of_suite(result: SuiteResult) -> Attributes:
    """What is known of a suite; it is a success if no case of it failed."""
    status = "aborted" if result.stopped else "failure" if result.summary.failed else "success"
    return _known(
        {
            "test.suite.name": str(key_of(result)),
            "test.suite.run.status": status,
            "evalc.suite": key_of(result).name,
            "evalc.tool": result.tool_name,
            "evalc.tier": result.tier,
            "evalc.agent": result.agent_endpoint,
            "evalc.judges": result.judges,
            "evalc.warnings": (*result.staleness_warnings, *result.warnings),
            "evalc.regressions": len(result.regressions),
            "evalc.cost_usd": result.summary.estimated_cost_usd,
            **_totals(result.summary),
        }
    )


def of_agent(endpoint: str) -> Attributes:
    """Who was asked, and for what: a model for its next turn in a chat, any other agent to do its work."""
    url = endpoint
    asked: dict[str, Any] = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": endpoint}
    provider, _, model = endpoint.partition(":")
    if provider in _MODELS:
        model, _, url = model.partition(" at ")
        asked = {"gen_ai.operation.name": "chat", "gen_ai.provider.name": provider, "gen_ai.request.model": model}
    if url.startswith(("http://", "https://")):
        parts = urlsplit(url)
        asked["server.address"] = parts.hostname
        asked["server.port"] = parts.port or (443 if parts.scheme == "https" else 80)
    return _known(asked)


def of_case(case: CaseResult, *, content: bool) -> Attributes:
    """What is known of a case.

    Args:
        case: its result.
        content: whether what was sent and answered is among it.
    """
    details = case.details
    place = None if case.place is UNSET else case.place
    usage: Mapping[str, int | float] = details.usage or {}
    return _known(
        {
            "test.case.name": case.id,
            "test.case.result.status": "pass" if case.passed else "fail",
            "error.type": "timeout" if timed_out(case) else "_OTHER" if case.status == "error" else None,
            "code.file.path": place and place.file,
            "code.line.number": place and place.line,
            "gen_ai.usage.input_tokens": usage.get("inputTokens"),
            "gen_ai.usage.output_tokens": usage.get("outputTokens"),
            "gen_ai.response.finish_reasons": (details.finish_reason,) if details.finish_reason else None,
            "evalc.status": case.status,
            "evalc.score": case.score,
            "evalc.cost_usd": usage.get("costUsd"),
            "evalc.assertions.run": case.assertions_run,
            "evalc.assertions.skipped": case.assertions_skipped,
            "evalc.tools_called": tuple(name[:_LONGEST_NAME] for name in details.tools_called[:_MOST_CALLS]),
            "evalc.tags": case.tags,
            "evalc.variant": case.variant,
            "evalc.attempts": len(case.attempts) if case.attempts else None,
            "evalc.not_attempted": case.not_attempted,
            "evalc.flaky": case.flaky,
            **(_content(details) if content else {}),
        }
    )


def evaluations(case: CaseResult, *, content: bool) -> Iterator[Attributes]:
    """The attributes of each `gen_ai.evaluation.result`: of the case, of its criteria, of its assertions.

    An explanation quotes the answer, so that it is part of the content.
    """
    yield _evaluation("case", case.score, case.status, case.error if content else None)
    for criterion in case.criteria:
        reason = criterion.judged.reason if criterion.judged and content else None
        label = "unscored" if criterion.score is None else criterion.scored_by
        yield _evaluation(criterion.name, criterion.score, label, reason)
    for assertion in case.assertions:
        yield _assertion(assertion, content=content)


def _assertion(assertion: AssertionResult, *, content: bool) -> Attributes:
    """An assertion is named by its place in the case, since that stays the same whether or not it holds."""
    judged = assertion.judged
    measured = assertion.outcome in ("passed", "failed")
    score = judged.score if judged else float(assertion.outcome == "passed") if measured else None
    told = assertion.message or (judged and judged.reason)
    more = {
        "evalc.check": assertion.field,
        "evalc.max_score": judged and judged.max_score,
        "error.type": "_OTHER" if assertion.outcome == "error" else None,
    }
    name = assertion.at.removeprefix("/expect/").removeprefix("/")
    return {**_evaluation(name, score, _LABELS[assertion.outcome], told if content else None), **_known(more)}


def _evaluation(name: str, score: float | None, label: str | None, explanation: object) -> Attributes:
    return _known(
        {
            "gen_ai.evaluation.name": name,
            "gen_ai.evaluation.score.value": None if score is None else float(score),
            "gen_ai.evaluation.score.label": label,
            "gen_ai.evaluation.explanation": explanation,
        }
    )


def _totals(summary: Summary | RunSummary) -> dict[str, Any]:
    return {
        "evalc.cases.total": summary.total_cases,
        "evalc.cases.passed": summary.passed,
        "evalc.cases.failed": summary.failed,
        "evalc.cases.errors": summary.errors,
        "evalc.cases.unverified": summary.unverified,
        "evalc.cases.skipped": summary.skipped,
        "evalc.score": summary.score,
    }


def _content(details: CaseDetails) -> dict[str, Any]:
    """What was sent and answered, as JSON in the form that the conventions have for it."""
    sent = [(message.role, message.content) for message in details.messages or ()]
    if details.message:
        sent.append(("user", details.message))
    answered = details.response
    if details.turns is not UNSET and details.turns:
        *before, last = details.turns
        sent = [said for turn in before for said in (("user", turn.message), ("assistant", turn.response))]
        sent.append(("user", last.message))
        answered = last.response
    parts = [] if answered is None else [_text(answered)]
    calls = [_call(call) for call in details.tool_calls[:_MOST_CALLS]]
    answer = {"role": "assistant", "parts": [*parts, *calls], "finish_reason": details.finish_reason or "stop"}
    return {
        "gen_ai.input.messages": _json([{"role": role, "parts": [_text(text)]} for role, text in sent]),
        "gen_ai.output.messages": _json([answer]) if answer["parts"] else None,
    }


def _text(text: str) -> dict[str, Any]:
    return {"type": "text", "content": text[:_LONGEST_TEXT]}


def _call(call: Mapping[str, Any]) -> dict[str, Any]:
    params = call.get("params")
    written = _json(params)
    return {
        "type": "tool_call",
        "name": str(call.get("name", ""))[:_LONGEST_NAME],
        "arguments": params if len(written) <= _LONGEST_TEXT else written[:_LONGEST_TEXT],
    }


def _json(value: object) -> str:
    return msgspec.json.encode(value).decode()


def _known(values: Mapping[str, Any]) -> dict[str, Value]:
    """The attributes that have a value. OTLP has no integer of more than 64 bits, and agents say what they like."""
    return {
        name: (
            value[:_LONGEST_TEXT]
            if isinstance(value, str) and not name.endswith(".messages")
            else float(value)
            if isinstance(value, int) and not -(2**63) <= value < 2**63
            else value
        )
        for name, value in values.items()
        if value is not None and value is not UNSET and value != ()
    }
