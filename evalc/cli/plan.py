"""From suites that would be run to lines about what would be sent, and what that may cost."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

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
            times, each = _attempts(located.case), list(_tokens(located.case))
            requests, tokens = requests + times * len(each), tokens + times * sum(each)
            if not quiet:
                user = located.case.input.user
                more = "" if user is None else f", up to {user.max_turns} turns with a simulated user"
                yield f"  {visible(located.case.id)}  {_sent(times, each)}{more}"
    sent = f"{_counted(requests, 'request')}, about {_counted(tokens, 'token')} of input"
    for agent, price in prices.items():
        cost = price(tokens)
        shown = "n/a" if cost is None else f"about ${cost:.6g}"
        yield f"to {visible(agent)}: {sent}, cost {shown}"
    if not prices:
        yield f"to each agent: {sent}; none is named, so that no price is known"
    yield "answers, tools and further turns come on top; nothing was sent"


def _attempts(case: Case) -> int:
    return 0 if skipped_case(case) is not None else case.repeat or 1


def _tokens(case: Case) -> Iterator[int]:
    """The tokens of each request that the case takes at least; a model with stubs is asked further times.

    Each turn of a conversation has what was said before it, as far as that is known: the answers are not.
    """
    sent = case.input
    texts = [message.content for message in sent.messages] if sent.messages else [sent.message]
    tokens = sum(map(count_tokens, (*texts, sent.system or "")))
    yield tokens
    for text in sent.follow_ups or ():
        tokens += count_tokens(text)
        yield tokens


def _sent(times: int, tokens: Sequence[int]) -> str:
    if not times:
        return "skipped"
    requests = _counted(times * len(tokens), "request")
    if len(tokens) == 1:
        return f"{requests}, about {_counted(tokens[0], 'token')} each"
    return f"{requests} in {len(tokens)} turns, about {_counted(times * sum(tokens), 'token')}"


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"
