"""From suites that would be run to lines about what would be sent, and what that may cost."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

from evalc.model.case import Case
from evalc.model.suite import Suite
from evalc.runtime.checks.limits import count_tokens
from evalc.runtime.run.expectations import skipped_case
from evalc.terminal import visible

Price = Callable[[int], float | None]
"""What so many tokens of input cost, in US dollars; None where that is not known."""


def plan_lines(suites: Iterable[Suite], *, prices: Mapping[str, Price], quiet: bool) -> Iterator[str]:
    """The cases with the requests that each takes and the tokens of its message; the sums under them for each agent."""
    requests = tokens = 0
    for suite in suites:
        yield f"{visible(suite.tool_name)} ({visible(suite.tier)})"
        for located in suite.cases:
            times, each = _requests(located.case), _tokens(located.case)
            requests, tokens = requests + times, tokens + times * each
            if not quiet:
                yield f"  {visible(located.case.id)}  {_sent(times, each)}"
    sent = f"{_counted(requests, 'request')}, about {_counted(tokens, 'token')} of input"
    for agent, price in prices.items():
        cost = price(tokens)
        shown = "n/a" if cost is None else f"about ${cost:.6g}"
        yield f"to {visible(agent)}: {sent}, cost {shown}"
    if not prices:
        yield f"to each agent: {sent}; none is named, so that no price is known"
    yield "answers, tools and further turns come on top; nothing was sent"


def _requests(case: Case) -> int:
    """How often the case is sent at least; a model with stubs is asked further times."""
    return 0 if skipped_case(case) is not None else case.repeat or 1


def _tokens(case: Case) -> int:
    sent = case.input
    texts = [message.content for message in sent.messages] if sent.messages else [sent.message]
    return sum(map(count_tokens, (*texts, sent.system or "")))


def _sent(times: int, tokens: int) -> str:
    return "skipped" if not times else f"{_counted(times, 'request')}, about {_counted(tokens, 'token')} each"


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"
