"""Previews of a run, which send nothing: its cases, its requests, its settings."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import msgspec

from evalc.base.terminal import counted, visible
from evalc.cli.ending import ExitCode, print_warning
from evalc.config.settings import ALL_KEYS, Setting, Settings
from evalc.model.case import Case
from evalc.model.suite import Suite
from evalc.report.words import selected_line
from evalc.runtime.agents.http import shown_url
from evalc.runtime.checks.subjects import count_tokens
from evalc.runtime.run.attempts import skipped_case
from evalc.setup.runner import price_of, redactor_of

if TYPE_CHECKING:
    from evalc.report.console import Detail
    from evalc.setup.request import ToRun


def print_settings(settings: Settings) -> int:
    """The settings, and where each comes from."""
    sys.stdout.writelines(f"{line}\n" for line in settings_lines(settings, os.environ))
    return ExitCode.OK


def list_cases(to_run: ToRun, settings: Settings, *, detail: Detail) -> int:
    """Print the cases as `PATH::ID`, then how much would be sent, and what that costs; `quiet` leaves the ids alone."""
    if detail == "quiet":
        sys.stdout.writelines(f"{visible(located.case.id)}\n" for suite in to_run.suites for located in suite.cases)
        _print_notes(to_run)
        return ExitCode.OK
    redactor = redactor_of(settings, os.environ)
    prices = {redactor.redact(shown_url(agent)): price_of(agent, settings, os.environ) for agent in settings.agent.use}
    lines = _plan_lines(to_run.suites, prices=prices, verbose=detail == "verbose")
    total = sum(suite.size for suite in to_run.suites)
    sys.stdout.writelines(f"{line}\n" for line in (*lines, selected_line(to_run.selected, total)))
    _print_notes(to_run)
    if to_run.needs_user is not None:
        print_warning(f"the case `{to_run.needs_user}` has a simulated user, and nobody plays it: add `--user`")
    if to_run.needs_judge is not None:
        print_warning(f"the case `{to_run.needs_judge}` needs a judge, and none is named: add `--judge`")
    return ExitCode.OK


def _print_notes(to_run: ToRun) -> None:
    for note in to_run.notes:
        print_warning(note)


Price = Callable[[int], float | None]
"""The price of so many tokens of input, in US dollars; None if unknown."""


def _plan_lines(suites: Iterable[Suite], *, prices: Mapping[str, Price], verbose: bool) -> Iterator[str]:
    """The cases, `verbose` with the requests that each takes; under them the sums for each agent."""
    requests = tokens = 0
    for suite in suites:
        for located in suite.cases:
            times, each = _attempts(located.case), list(_tokens(located.case))
            requests, tokens = requests + times * len(each), tokens + times * sum(each)
            more = f"  {_sent(located.case, times, each)}" if verbose else ""
            yield f"{visible(suite.origin)}::{visible(located.case.id)}{more}"
    sent = f"{counted(requests, 'request')}, about {counted(tokens, 'token')} of input"
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


def _sent(case: Case, times: int, tokens: Sequence[int]) -> str:
    if not times:
        return "skipped"
    requests, user = counted(times * len(tokens), "request"), case.input.user
    more = "" if user is None else f", up to {user.max_turns} turns with a simulated user"
    if len(tokens) == 1:
        return f"{requests}, about {counted(tokens[0], 'token')} each{more}"
    return f"{requests} in {len(tokens)} turns, about {counted(times * sum(tokens), 'token')}{more}"


_STRUCK_OUT: Final = "***"
_EFFECTIVE: Final = {"output_dir": "results_folder", "seed_manifest": "seed_file"}
"""The attributes that say what holds if a setting is left out."""


def settings_lines(settings: Settings, environ: Mapping[str, str]) -> Iterator[str]:
    """A line a setting, `key = value  # where from`."""
    redactor = redactor_of(settings, environ)
    rows = [_row(settings, environ, each) for each in ALL_KEYS.values()]
    width = max(len(head) for head, _, _ in rows)
    for head, value, origin in rows:
        yield visible(redactor.redact(f"{head.ljust(width)} = {value}  # {origin}"))


def _row(settings: Settings, environ: Mapping[str, str], setting: Setting[Any]) -> tuple[str, str, str]:
    name, value = setting.name, settings.value_of(setting)
    if name in settings.given:
        return name, _shown(setting, value), setting.flag or "the command"
    if name in settings.configured:
        return name, _shown(setting, value), os.path.relpath(settings.file) if settings.file else "the configuration"
    if setting.variable and environ.get(setting.variable):
        return name, _shown(setting, environ[setting.variable]), f"the environment: {setting.variable}"
    effective = getattr(settings, _EFFECTIVE[name]) if name in _EFFECTIVE else value
    return name, _shown(setting, effective), "default"


def _shown(setting: Setting[Any], value: Any) -> str:
    if value in (None, ()):
        return "none"
    if setting.secret and setting.name != "secrets":  # which are names
        names = [pair[0] for pair in value] if isinstance(value, tuple) else []
        return json.dumps(dict.fromkeys(names, _STRUCK_OUT)) if names else _STRUCK_OUT
    return json.dumps(_without_credentials(setting.written(value)), default=_plain, ensure_ascii=False)


def _without_credentials(value: Any) -> Any:
    """The value, URLs in it without passwords and without the values of their queries, however short they are."""
    match value:
        case str():
            return shown_url(value)
        case tuple() | list():
            return [_without_credentials(item) for item in value]
        case _:
            return value


def _plain(value: object) -> object:
    """A path as the working folder sees it; of a record what is given; any other value as it says itself."""
    if isinstance(value, Path):
        here = Path.cwd()
        return str(value.relative_to(here) if value.is_relative_to(here) else value)
    if isinstance(value, msgspec.Struct):
        return {name: part for name, part in msgspec.structs.asdict(value).items() if part is not None}
    return str(value)
