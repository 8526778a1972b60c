"""Finds what no case looks at: tools and their arguments, tools that look alike, seed values, criteria, prompts."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations, islice
from typing import Any, Final, NamedTuple, final, get_args

from evalc.check.contract import assertions
from evalc.check.forms import type_of
from evalc.check.predicates import texts_of
from evalc.check.tree import Argument, At, Call, Check, Measure, Not, Of, Test, Tools, conjuncts, parts_of
from evalc.compare.totals import DECIMALS
from evalc.compiler import ir
from evalc.compiler.compiled import CompiledSuite
from evalc.dsl.places import locate
from evalc.ecma import find_tokens
from evalc.extras.challenge.answers import number_in, tools_in
from evalc.grammar import nodes as g
from evalc.model.case import Case
from evalc.model.reports import Coverage, Kind, Part, ToolCoverage
from evalc.tools import Tool, ToolRegistry


def branches_of(suite: ir.Suite) -> dict[str, bool]:
    """The branches of the suite's prompts, in words with their places, and whether a case renders them."""
    found: dict[str, bool] = {}
    for prompt in suite.prompts:
        parts = prompt.template.parts
        rendered = {
            (branch, tag.start)
            for case in suite.cases
            if case.running and case.wheres.get("/input/message") == prompt.where
            for branch, tag in _branches(parts, {**prompt.defaults, **(case.inputs or {})})
        }
        for branch, tag in _branches(parts):
            found[f"{_place(suite, prompt, tag)}: {branch}"] = (branch, tag.start) in rendered
    return found


def prompts_of(suite: ir.Suite, *, judged: bool) -> dict[str, bool]:
    """The suite's prompts by their places, and whether a case renders each and looks at what comes of it.

    Of the others, any instruction could be removed, and no case would notice. `judged`: a judge scores criteria.
    """
    looks = judged and bool(suite.criteria)
    rendered = {case.wheres.get("/input/message") for case in suite.cases if case.running and (looks or _looks(case))}
    return {_place(suite, prompt, prompt.template): prompt.where in rendered for prompt in suite.prompts}


def _looks(case: ir.Case) -> bool:
    """Whether a case looks at what was said or done, and not only at how long that took and what it cost."""
    return bool(case.expected) or not all(type_of(each.check) in ("latency", "cost") for each in case.checks)


def _place(suite: ir.Suite, prompt: ir.PromptTemplate, tag: g.Node) -> str:
    source, span = suite.place(prompt.where)
    line, column = source.position(locate(source, span, tag.start, tag.end).start)
    return f"{source.name}:{line}:{column}"


def _branches(
    parts: tuple[g.Part, ...], inputs: Mapping[str, Any] | None = None, this: Any = None
) -> Iterator[tuple[str, g.If | g.Each]]:
    """The branches that these inputs render, as `compiler/fill` chooses them, or all branches; each with its tag."""
    for part in parts:
        match part:
            case g.If(name=name):
                value = this if name.name == "this" and this is not None else (inputs or {}).get(name.name)
                ways = (True, False) if inputs is None else (bool(value) is not part.negated,)
                for taken in ways:
                    word = "unless" if part.negated else "if"
                    said = f"{{{{#{word} {name.name}}}}} {'taken' if taken else 'not taken'}"
                    yield said, part
                for taken in ways:
                    yield from _branches(part.then if taken else part.otherwise, inputs, this)
            case g.Each(name=name):
                value = (inputs or {}).get(name.name)
                items = value if isinstance(value, list) else [] if value is None else [value]
                for item in [None] if inputs is None else items:
                    yield f"{{{{#each {name.name}}}}} with an item", part
                    yield from _branches(part.body, inputs, item)
            case _:
                continue


_ALIKE: Final = 0.5
"""The share of their distinctive words that two descriptions have in common, from which on they are alike."""
_DISTINCTIVE: Final = re.compile(r"[^\W\d_]{4,}")
_STEP: Final = re.compile(r"[^.\[\]]+")
_MOST_SEED_VALUES: Final = 10_000


def coverage_of(
    compiled: Sequence[CompiledSuite], tools: ToolRegistry | None, seed: Mapping[str, object] | None, *, judged: bool
) -> Coverage:
    """Measure the coverage of compiled suites; `judged` says that a judge scores criteria without checks.

    Without a tool registry there is no total: nobody knows how many tools no case looks at.
    """
    seen = _Seen()
    things: dict[Kind, dict[str, bool]] = {kind: {} for kind in get_args(Kind)}
    for suite in compiled:
        things["promptBranches"] |= branches_of(suite.ir)
        things["prompts"] |= prompts_of(suite.ir, judged=judged)
        criteria: dict[str, bool] = {each.name: judged for each in suite.head.criteria or ()}
        for case in suite.cases():
            if case.running:
                seen.add(suite.tier, case)
                for name in _scored(case):
                    criteria[name] = True
        things["criteria"] |= {f"{name} of {suite.key.title()}": scored for name, scored in criteria.items()}
    found = tuple(seen.tool(tool) for tool in (tools or {}).values())
    things["tools"] = {each.name: each.cases > 0 for each in found}
    things["arguments"] = {f"{each.name}.{name}": n > 0 for each in found for name, n in each.arguments.items()}
    things["toolPairs"] = {f"{one} and {two}": seen.distinguishes(one, two) for one, two in _alike(tools or {})}
    paths = islice(() if seed is None else _leaves(seed, ()), _MOST_SEED_VALUES)
    things["seedValues"] = {_written(path): seen.reads(path) for path in paths}
    parts = tuple(_part(kind, looked_at) for kind, looked_at in things.items() if looked_at)
    covered, total = sum(part.covered for part in parts), sum(part.total for part in parts)
    unknown: tuple[Kind, ...] = ("tools", "arguments", "toolPairs") if tools is None else ()
    return Coverage(
        coverage=round(covered / total, DECIMALS) if total and not unknown else None,
        covered=covered,
        total=total,
        parts=parts,
        tools=found,
        unknown=unknown,
    )


class _Choice(NamedTuple):
    """Tools in an ambiguous case: those it requires, those it rules out, whether it allows no others."""

    required: frozenset[str]
    ruled_out: frozenset[str]
    exact: bool


@final
class _Seen:
    """Parts that the cases so far look at."""

    def __init__(self) -> None:
        self._ambiguous: set[_Choice] = set()
        self._tiers: dict[str, Counter[str]] = defaultdict(Counter)
        self._difficulties: dict[str, Counter[str]] = defaultdict(Counter)
        self._arguments: Counter[tuple[str, str]] = Counter()
        self._tokens: set[tuple[str, ...]] = set()

    def add(self, tier: str, case: Case) -> None:
        """Take in a case."""
        checks = [each for assertion in assertions(case.expect) for each in _all(assertion.check)]
        required = frozenset(name for check in checks for name in _required_tools(check))
        for name in required:
            self._tiers[name][tier] += 1
            self._difficulties[name][case.difficulty or "none"] += 1
        self._arguments.update({argument for check in checks for argument in _arguments(check)})
        if case.difficulty == "ambiguous":
            of_names = [check.check for check in checks if isinstance(check, Of) and isinstance(check.step, Tools)]
            named = [(test.predicate, test.operand) for test in of_names if isinstance(test, Test)]
            ruled_out = frozenset(name for predicate, names in named if predicate == "not_called" for name in names)
            exact = any(predicate in ("called", "acceptable", "only") for predicate, _ in named)
            self._ambiguous.add(_Choice(required, ruled_out, exact))
        tokens = [token for check in checks for _, text in texts_of(check) for token in find_tokens(str(text))]
        self._tokens |= {tuple(_STEP.findall(token.path)) for token in tokens if token.source == "seed"}

    def distinguishes(self, one: str, two: str) -> bool:
        """Whether an ambiguous case wants one of two tools, and fails where the other is called."""
        return any(
            (one in choice.required) != (two in choice.required)
            and (choice.exact or not choice.ruled_out.isdisjoint({one, two} - choice.required))
            for choice in self._ambiguous
        )

    def tool(self, tool: Tool) -> ToolCoverage:
        """The coverage of a tool."""
        schema = tool.parameters or {}
        properties = schema.get("properties")
        names = list(properties) if isinstance(properties, Mapping) else []
        return ToolCoverage(
            name=tool.name,
            cases=self._tiers[tool.name].total(),
            tiers=dict(self._tiers[tool.name]),
            difficulties=dict(self._difficulties[tool.name]),
            arguments={name: self._arguments[tool.name, name] for name in names},
        )

    def reads(self, path: tuple[str, ...]) -> bool:
        """Whether a token names the value, or a value that contains it."""
        return any(path[: len(token)] == token for token in self._tokens)


def _all(check: Check) -> Iterator[Check]:
    """A check and all that it is composed of, but for what is negated."""
    yield check
    if not isinstance(check, Not):
        for part, _ in parts_of(check):
            yield from _all(part)


def _required_tools(check: Check) -> Iterable[str]:
    """The tools that a check requires to be called."""
    match check:
        case Of(Tools(), Test("not_called" | "only")) | Of(Call(_, "no")):
            return ()
        case Of(Measure("calls"), Test("between", bounds)) if number_in(bounds) <= 0:
            return ()
        case Of(Tools() | Call()) | Of(Measure("calls"), Test("between")):
            return tools_in(check)
        case _:
            return ()


def _arguments(check: Check) -> Iterator[tuple[str, str]]:
    match check:
        case Of(Call(tool), Of(Argument(name))):
            yield tool, name.partition(".")[0]
        case Of(Call(tool), inner):
            parts = conjuncts(inner)
            paths = [part.step.path for part in parts if isinstance(part, Of) and isinstance(part.step, At)]
            yield from ((tool, _STEP.findall(path)[0]) for path in paths if _STEP.search(path))
        case _:
            return


def _scored(case: Case) -> Iterator[str]:
    """The criteria that checks of the case score: those linked to them, else those linked to none."""
    linked = {pointer for each in case.criteria or () for link in each.checks or () for pointer in link.at}
    unlinked = any(assertion.at not in linked for assertion in assertions(case.expect))
    for criterion in case.criteria or ():
        if criterion.checks or unlinked:
            yield criterion.name


def _alike(tools: Mapping[str, Tool]) -> Iterator[tuple[str, str]]:
    """The pairs of tools whose descriptions say nearly the same."""
    words = {tool.name: set(map(str.lower, _DISTINCTIVE.findall(tool.description or ""))) for tool in tools.values()}
    for one, two in combinations(words, 2):
        both = words[one] | words[two]
        if words[one] and words[two] and len(words[one] & words[two]) / len(both) >= _ALIKE:
            yield one, two


def _leaves(value: object, path: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """The paths of the values in the seed manifest that hold no others."""
    match value:
        case dict():
            for key, inner in value.items():
                yield from _leaves(inner, (*path, str(key)))
        case list():
            for index, inner in enumerate(value):
                yield from _leaves(inner, (*path, str(index)))
        case _:
            yield path


def _written(path: tuple[str, ...]) -> str:
    return "".join(f"[{step}]" if step.isdigit() else f".{step}" for step in path).removeprefix(".")


def _part(kind: Kind, things: Mapping[str, bool]) -> Part:
    missing = tuple(name for name, covered in things.items() if not covered)
    return Part(kind=kind, total=len(things), covered=len(things) - len(missing), missing=missing)
