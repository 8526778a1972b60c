"""Draws one case: how it is written in YAML, and what it means in the case model."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final, final

from hypothesis import strategies as st

from tests.properties.drawing.checks import LABELED, MANY, ONCE, Draw, Make, Spelt, about, chosen, judged
from tests.properties.drawing.compositions import group, holding
from tests.properties.drawing.twin import (
    LISTS,
    Meant,
    asserted,
    fields_of,
    filled,
    judges_in,
    read_only_fields_of,
    shown,
)
from tests.properties.drawing.worlds import COMMON, DATA, World, worlds

Data = dict[str, Any]

# --- inputs ----------------------------------------------------------------------------------------------------------

DEFAULTS: Final[Data] = {"count": 18}
_DESCRIBING: Final = {
    "label": "A",
    "placeholder": "b",
    "description": "a: b",
    "example": "Paris",
    "examples": ["Paris"],
    "validation": "any",
}
"""Texts of a declaration that are for readers."""
DECLARED: Final[tuple[Any, ...]] = (
    [
        {"name": "name", "type": "string", "options": [*COMMON]},
        {"name": "count", "type": "integer", "default": 18},
        {"name": "flag", "type": "boolean", "required": False},
        {"name": "items", "required": False},
    ],
    {
        "name": {"required": True, **_DESCRIBING},
        "count": 18,
        "flag": {"required": False, "x-why": "a"},
        "items": {"required": False},
    },
)
"""Two spellings of one declaration, to which `DEFAULTS` belongs."""


def given_inputs(draw: Draw, *, declared: bool) -> Data:
    """The inputs of a case: all of them where nothing declares them."""
    inputs: Data = {"name": chosen(draw, COMMON)}
    optional: Data = {
        "count": 18,
        "flag": draw(st.booleans()),
        "items": chosen(draw, ([], ["a: b"], ["x", "it's", "#"])),
    }
    return inputs | {name: value for name, value in optional.items() if not declared or draw(st.booleans())}


# --- what is sent ----------------------------------------------------------------------------------------------------

_PIECES: Final = (
    "Say it's {{name}}",
    "{{#if flag}}yes: {{count}}{{else}}no{{/if}}",
    " \\{{ #not",
    "{{#unless flag}}, {{ name }}!{{/unless}}",
    "\n{{#each items}}- {{this}}\n{{/each}}x",
    '"quoted" \\ ',
)


def template(draw: Draw) -> str:
    """A text with templates in it, never empty."""
    return "Q" + "".join(draw(st.lists(st.sampled_from(_PIECES), max_size=3)))


# --- checks ----------------------------------------------------------------------------------------------------------


def link(draw: Draw, spelt: Spelt, criteria: list[str]) -> tuple[Any, Meant]:
    """An entry of `validate:` for a check, linked to a criterion or not, and what it means."""
    criterion = chosen(draw, (None, *criteria))
    weight = draw(st.integers(1, 3))
    as_mapping = isinstance(spelt.mapping, dict) and draw(st.booleans())
    if not as_mapping:
        named = "" if criterion is None else f" for {criterion if criterion.isidentifier() else repr(criterion)}"
        return spelt.line + named, Meant(spelt.record, criterion)
    written = {**spelt.mapping, **({} if criterion is None else {"criterion": criterion})}
    return ({**written, "weight": weight} if weight > 1 else written), Meant(spelt.record, criterion, weight)


@final
@dataclass(slots=True, kw_only=True)
class Checks:
    """The checks of a case as they are written, and as they are meant, in one order."""

    validate: list[Any] = field(default_factory=list)
    expect: Data = field(default_factory=dict)
    meant: list[Meant] = field(default_factory=list)
    by_expect: dict[str, list[Meant]] = field(default_factory=dict)

    @property
    def meant_by_expect(self) -> list[Meant]:
        """The checks of `expect`, in the order of its keys."""
        return [meant for each in self.by_expect.values() for meant in each]

    def add(self, draw: Draw, spelt: Spelt, criteria: list[str]) -> None:
        """Write a check in one of its spellings."""
        fields = read_only_fields_of(spelt.record) if draw(st.booleans()) else {}
        fields = fields or fields_of(spelt.record)
        place = draw(st.integers(0, 5))
        if fields and place < 3 and self._has_room(fields):
            for name, value in fields.items():
                self.expect[name] = [*self.expect.get(name, []), *value] if name in LISTS else value
            self.by_expect.setdefault(next(iter(fields)), []).append(Meant(spelt.record))
        elif place == 3 and not judges_in(spelt.record):
            self.expect.setdefault("checks", []).append(spelt.record)
            self.by_expect.setdefault("checks", []).append(Meant(spelt.record, literally=True))
        else:
            written, meant = link(draw, spelt, criteria)
            self.validate.append(written)
            self.meant.append(meant)

    def _has_room(self, fields: Data) -> bool:
        return all(name in LISTS or name not in self.expect for name in fields)


def makers(world: World, tier: str) -> dict[str, Make]:
    """The checks that a case may hold once each at the top."""
    return {**MANY, **ONCE, **about(world), **(LABELED if tier == "labeled" else {})}


def checks(draw: Draw, world: World, tier: str, criteria: list[str], *, judges: bool) -> Checks:
    """At least one check; none that fills a field twice."""
    known = makers(world, tier)
    kinds = draw(st.lists(st.sampled_from(sorted(known)), min_size=1, max_size=4, unique=True))
    if {"tools_called", "tools_acceptable"} <= {*kinds}:
        kinds.remove("tools_acceptable")
    written = Checks()
    for kind in kinds:
        written.add(draw, known[kind](draw, world), criteria)
    if draw(st.booleans()):
        written.add(draw, holding(draw, world), criteria)
    if draw(st.integers(0, 5)) == 0:
        parts = [MANY[chosen(draw, sorted(MANY))](draw, world) for _ in range(2)]
        written.add(draw, group(draw, "all_of", parts), criteria)
    if judges and draw(st.integers(0, 7)) == 0:
        asked = judged(draw)
        within = draw(st.booleans())
        written.add(draw, group(draw, "any_of", [holding(draw, world), asked]) if within else asked, criteria)
    return written


# --- the rest --------------------------------------------------------------------------------------------------------

_RUBRIC: Final = (
    [
        {"dimension": "accuracy", "max_score": 5, "criteria": "true: #1", "min_score": 4},
        {"dimension": "x", "criteria": "c"},
    ],
    [
        {"dimension": "accuracy", "maxScore": 5, "criteria": "true: #1", "minScore": 4},
        {"dimension": "x", "criteria": "c"},
    ],
)
"""A rubric in YAML and in JSON."""

_ANSWERS: Final = [
    {"when": {"city": "#1", "of": {"a": [None]}}, "answer": None},
    {"sequence": [{"error": "no: it's"}, {"answer": {"when": "{{name}}"}}]},
]
"""Answers of a stub that depend on the call, of which JSON has a field of its own."""

_SAME: Final[dict[str, tuple[str, tuple[Any, ...]]]] = {
    "description": ("description", ("About {{name}}: \\{{", "#1", "it's")),
    "expected": ("expected", ("{{name}} - or so", "yes")),
    "tags": ("tags", (["slow"], ["a b", "#", "of {{name}}"])),
    "threshold": ("threshold", (0.5, 1)),
    "stubs": (
        "stubs",
        ({"get_weather": {"t": [1, None, {}]}, "book.table": "ok"}, {"get_weather": _ANSWERS, "book.table": "ok"}),
    ),
    "max_turns": ("maxTurns", (1, 7)),
    "expected_failure": ("expectedFailure", ("known: #4", "of {{name}}: #4")),
    "skip": ("skip", ("too slow", "no {{name}}")),
    "archived": ("archived", ("old", "old \\{{ {{name}}")),
    "allow": ("allow", ({"refusal": "asked: #4"}, {"silent": "of {{name}}", "negated": "yes, it may"})),
    "reference_data": ("referenceData", ({"a": [1.5, "b: c"]},)),
}
"""Fields whose value is the same in both forms: the name in YAML, the name in JSON, values."""


_FILLED: Final = ("description", "expected", "tags", "expectedFailure", "skip", "archived", "allow")
"""Those whose texts are templates, by their names in JSON."""


def extras(draw: Draw, tier: str, *, scored: bool) -> tuple[Data, Data]:
    """Other fields of a case, in YAML and in JSON; a threshold only if there is a score."""
    written: Data = {}
    meant: Data = {}
    names = [name for name in (*_SAME, "repeat", "difficulty", "x-mine") if scored or name != "threshold"]
    for name in draw(st.lists(st.sampled_from(names), max_size=3, unique=True)):
        if name == "repeat":
            times = draw(st.integers(2, 9))
            spelled = chosen(draw, (None, 1, f"{times - 1}/{times}", "100%"))
            count = {None: None, 1: 1, "100%": times}.get(spelled, times - 1)
            written |= {"repeat": times, **({} if spelled is None else {"require": spelled})}
            meant |= {"repeat": times, **({} if count is None else {"require": count})}
        elif name == "difficulty" and tier == "labeled":
            written[name] = meant[name] = chosen(draw, ("straightforward", "ambiguous", "edge"))
        elif name == "x-mine":
            written[name] = {"any": ["thing", None]}
        elif name in _SAME:
            other, values = _SAME[name]
            written[name] = meant[other] = chosen(draw, values)
    if tier == "regression":
        written |= {"created_at": "2026-01-02T03:04:05Z", "bug_ref": "BUG-1: #7"}
        meant |= {"createdAt": "2026-01-02T03:04:05Z", "bugRef": "BUG-1: #7"}
    if tier == "rubric" or "reference_data" in written:
        written["rubric"], meant["rubric"] = _RUBRIC
    return written, meant


_LABEL: Final = {"expected": "a #b", "from": "at meta.title"}
"""A label, the same in both forms, that the answer of `DATA` gives."""
_LABEL_CHECK: Final[Data] = {"type": "at", "path": "meta.title", "check": {"type": "equals", "value": "a #b"}}
"""The check that the label brings."""
_USER: Final[Data] = {
    "persona": "Polite: #1",
    "facts": {"city": "Oslo", "nights": 3},
    "opens": "Hello",
    "max_turns": 4,
    "stop_when": "it is booked",
}
_SOME_OF_USER: Final = st.sets(st.sampled_from(sorted(_USER)))

# --- the case --------------------------------------------------------------------------------------------------------


@final
@dataclass(slots=True, kw_only=True)
class Case:
    """A case as it is drawn.

    `message` is a template, None where a prompt is sent: `prompt`, one of its own, else the suite's. `in_turns`: it is
    written as a conversation of one turn, which means the same.
    `inherited` is what defaults say of it, in JSON.
    """

    name: str
    tier: str
    world: World
    inputs: Data
    message: str | None
    messages: list[dict[str, str]]
    in_turns: bool
    user: Data
    checks: Checks
    written: Data
    meant: Data
    id: str | None = None
    prompt: str | None = None
    inherited: Data = field(default_factory=dict)
    rows: list[Data] = field(default_factory=list)
    defaults: list[Meant] = field(default_factory=list)
    tags: list[str] = field(default_factory=list)

    def in_yaml(self) -> Data:
        """The item of `test_cases:`, but for its tier and its rows."""
        sent: Data = {} if self.message is None else {"message": self.message}
        if self.in_turns:
            sent = {"turns": [{"say": self.message}]}
        if self.user:
            sent = {"user": self.user}
        if self.messages:
            sent["messages"] = self.messages
        data = {"name": self.name, **({"id": self.id} if self.id else {}), **sent, **self.written}
        if self.inputs:
            data["inputs"] = self.inputs
        if self.checks.validate:
            data["validate"] = self.checks.validate
        return {**data, "expect": self.checks.expect} if self.checks.expect else data

    def _sent(self, prompt: str | None, values: Data) -> str:
        """The message: its own, what the user said last, the prompt, or the inputs themselves."""
        said = [each["content"] for each in self.messages if each["role"] == "user"]
        text = self.message if self.message is not None else said[-1] if said else prompt
        if text is None:
            return "\n".join(f"{name}: {shown(value)}" for name, value in values.items())
        return str(filled(text, values))

    def in_json(self, identity: str, prompt: str | None, row: Data, defaults: Data, criteria: list[Data]) -> Data:
        """The case of the model that one row of it means."""
        meant = self.inherited | self.meant
        for name in ("stubs", "allow"):
            if name in meant:
                meant[name] = self.inherited.get(name, {}) | self.meant.get(name, {})
        if _ANSWERS in meant.get("stubs", {}).values():
            results = {name: stub for name, stub in meant.pop("stubs").items() if stub is not _ANSWERS}
            meant |= {"stubAnswers": {"get_weather": _ANSWERS}} | ({"stubs": results} if results else {})
        given = meant.pop("inputs", {}) | self.inputs | row
        values = defaults | given
        sent: Data = {"message": self._sent(prompt, values)}
        if self.user:
            facts = {name: str(value) for name, value in self.user.get("facts", {}).items()}
            user = {**self.user, **({"facts": facts} if facts else {})}
            renamed = {"max_turns": "maxTurns", "stop_when": "stopWhen"}
            sent |= {"user": {renamed.get(key, key): user[key] for key in user}}
        if self.messages:
            sent["messages"] = [{**each, "content": filled(each["content"], values)} for each in self.messages]
        described: Data = {key: filled(meant[key], values) for key in _FILLED if key in meant}
        own = {check.record["type"] for check in (*self.checks.meant, *self.checks.meant_by_expect)}
        inherited = [check for check in self.defaults if check.record["type"] != "latency" or "latency" not in own]
        checks_ = [*inherited, *self.checks.meant, *self.checks.meant_by_expect]
        checks_ += [Meant(_LABEL_CHECK)] if "label" in meant else []
        difficulty = {"labeled": "straightforward", "regression": "regression"}.get(self.tier)
        return {
            "id": identity,
            "description": self.name,
            **({"difficulty": difficulty} if difficulty else {}),
            **meant,
            **described,
            **({"tags": [*self.tags, *described.get("tags", [])]} if self.tags else {}),
            "input": {**sent, **({"inputs": given} if given else {})},
            **asserted(checks_, values, criteria, meant.get("rubric", [])),
        }


def cases(draw: Draw, name: str, tier: str, criteria: list[str], *, declared: bool, judges: bool) -> Case:
    """One case of a suite, with its inputs and a message, where it does not send the suite's prompt."""
    world = draw(worlds)
    written, meant = extras(draw, tier, scored=bool(criteria))
    how = chosen(draw, ("suite", "suite", "message", "messages", "both", "turns", "user"))
    user: Data = {} if how != "user" else {"goal": "Q", **{key: _USER[key] for key in sorted(draw(_SOME_OF_USER))}}
    messages = []
    if how in ("messages", "both"):
        messages = [{"role": "system", "content": template(draw)}] if draw(st.booleans()) else []
        messages.append({"role": "user", "content": template(draw)})
        if draw(st.booleans()):
            messages.append({"role": "assistant", "content": template(draw)})
    if world is DATA and how not in ("turns", "user") and draw(st.integers(0, 3)) == 0:
        written["label"] = meant["label"] = _LABEL
    drawn = checks(draw, world if tier == "regression" else world.with_snapshot(), tier, criteria, judges=judges)
    return Case(
        name=name,
        id=f"ls-own-{name}-001" if draw(st.integers(0, 5)) == 0 else None,
        tier=tier,
        world=world,
        inputs=given_inputs(draw, declared=declared),
        message=user.get("opens", "Q") if user else template(draw) if how in ("message", "both", "turns") else None,
        messages=messages,
        in_turns=how == "turns",
        user=user,
        checks=drawn,
        written=written,
        meant=meant,
    )
