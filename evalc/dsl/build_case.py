"""Declares the keys of test cases and of the `defaults:` that every case inherits, and builds their trees."""

from __future__ import annotations

import re
from typing import Any, Final, NamedTuple

import msgspec

from evalc.base.source import Source, Span
from evalc.diagnostics import Finding
from evalc.diagnostics.near import typo_of
from evalc.dsl import kinds as k
from evalc.dsl.build_check import build_checks
from evalc.dsl.build_expect import build_expect
from evalc.dsl.nodes import InSource, Mapping, Node, Scalar, Sequence, fields_of, is_cut
from evalc.dsl.scalars import NO_REASONS, reason_of
from evalc.dsl.tree import CheckTree, Num, Str
from evalc.dsl.walk import Fields, described
from evalc.grammar.parse import parse_place
from evalc.model.case import BROKEN_AGENTS, CHALLENGERS, MUTATIONS

# --- the trees -------------------------------------------------------------------------------------------------------


class InputValue(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """An input that a case gives."""

    name: Str
    value: Node


class ForEachTree(msgspec.Struct, frozen=True, kw_only=True):
    """The rows that a case is repeated for, from a list or a file. `key` names the column that ids come from."""

    span: Span
    rows: tuple[Mapping, ...] = ()
    file: Str | None = None
    key: Str | None = None


class Requirement(InSource, frozen=True, kw_only=True):
    """How many of the repetitions have to pass: a number of them, perhaps out of so many, or a share."""

    count: int | None = None
    of: int | None = None
    share: float | None = None


class LabelTree(InSource, frozen=True, kw_only=True):
    """The class that the agent should give, and where its answer has it, as `Label.source` of the model says it."""

    expected: Str
    source: str


class UserTree(msgspec.Struct, frozen=True, kw_only=True):
    """A simulated user. `span` is that of the key."""

    span: Span
    goal: Str | None = None
    persona: Str | None = None
    facts: tuple[tuple[str, Str], ...] = ()
    opens: Str | None = None
    max_turns: Num | None = None
    stop_when: Str | None = None


class StubAnswerTree(InSource, frozen=True, kw_only=True):
    """An answer of a stub: a result, an error or a sequence of these; `when` is what it depends on."""

    when: Mapping | None = None
    answer: Node | None = None
    error: Str | None = None
    sequence: tuple[StubAnswerTree, ...] | None = None


class StubTree(NamedTuple):
    """A stub: the name of its tool, and its answers; a result by itself is the one answer."""

    name: Scalar
    answers: tuple[StubAnswerTree, ...]

    @property
    def every_result(self) -> Node | None:
        """The result of every call; None if it depends on the call, or a call fails."""
        first, *others = self.answers
        return None if others or first.when is not None else first.answer


class FixtureTree(NamedTuple):
    """A file for the folder of an attempt: its path there, unless that is the path itself, and where it is."""

    name: str | None
    path: Str


class CaseFields(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """Fields that `defaults:` may give every case, and a case itself.

    `inputs_partial` says that an input which is not among its own may yet have been given.
    """

    source: Source
    difficulty: Str | None = None
    inputs: tuple[InputValue, ...] | None = None
    inputs_partial: bool = False
    inputs_key: InSource | None = None
    checks: tuple[CheckTree, ...] = ()
    stubs: tuple[StubTree, ...] | None = None
    max_turns: Num | None = None
    threshold: Num | None = None
    tags: tuple[Str, ...] | None = None
    allow: tuple[tuple[str, Str | None], ...] | None = None
    label: LabelTree | None = None
    repeat: Num | None = None
    require: Requirement | None = None
    partial: bool = False


class CaseTree(CaseFields, frozen=True, kw_only=True, gc=False):
    """A test case. `inherits` says that it takes in the defaults.

    A name that is not there is empty, at the first key.
    """

    name: Str
    id: Str | None = None
    description: Str | None = None
    tier: Str | None = None
    created_at: Str | None = None
    bug_ref: Str | None = None
    prompt_id: Str | None = None
    message: Str | None = None
    messages: Node | None = None
    turns: tuple[Str, ...] | None = None
    user: UserTree | None = None
    expected: Str | None = None
    rubric: Node | None = None
    reference_data: Node | None = None
    for_each: ForEachTree | None = None
    expected_failure: Str | None = None
    skip: Str | None = None
    files: tuple[FixtureTree, ...] | None = None
    skill: Str | None = None
    archived: Str | None = None
    inherits: bool = True

    @property
    def span(self) -> Span:
        """The place of its name."""
        return self.name.span

    @property
    def has_own_words(self) -> bool:
        """Whether it says itself what is sent, in place of a prompt: a list of messages that is empty says nothing."""
        if self.message is not None or self.turns is not None or self.user is not None:
            return True
        return self.messages is not None and not (isinstance(self.messages, Sequence) and not self.messages.items)


# --- reading ---------------------------------------------------------------------------------------------------------

_COUNT: Final = re.compile(r"(?P<count>[0-9]{1,9})(?:\s*/\s*(?P<of>[0-9]{1,9}))?")
_SHARE: Final = re.compile(r"(?P<percent>[0-9]{1,9}(?:\.[0-9]+)?)\s*%")
_ALONE: Final = re.compile(r"\s*\{\{[^{}]*\}\}\s*")
"""A template and nothing else."""
TIERS: Final = ("golden", "labeled", "regression", "rubric")
DIFFICULTIES: Final = ("straightforward", "ambiguous", "edge", "regression")


def _requirement(fields: Fields, key: str) -> Requirement | None:
    """The requirement; whether it can be met is seen where the number of repetitions is known."""
    text = fields.text(key)
    if text is None:
        return None
    written = text.value.strip()
    if match := _COUNT.fullmatch(written):
        of = None if match["of"] is None else int(match["of"])
        return Requirement(text.at, count=int(match["count"]), of=of)
    if match := _SHARE.fullmatch(written):
        return Requirement(text.at, share=float(match["percent"]) / 100)
    expected = "a number of repetitions such as `8`, `8/10` or `80%`"
    fields.fault(text.span, Finding("EV301", what="`require`", expected=expected, found=f"`{text.value}`"))
    return None


def _allowed(fields: Fields, key: str) -> Any:
    """The faults that do not count for the case, each with its reason; without one the fault counts."""
    fields.forbid_empty(key)
    return ALLOW.read(fields, key)


def _tags(fields: Fields, key: str) -> tuple[Str, ...] | None:
    """The tags: a list of texts, or a template that a list fills."""
    node = fields.node(key)
    text = fields.text(key) if isinstance(node, Scalar) and _ALONE.fullmatch(node.text) else None
    return fields.texts(key) if text is None else (text,)


def _inputs(fields: Fields, key: str) -> tuple[InputValue, ...] | None:
    mapping = fields.mapping(key)
    if mapping is None:
        return None
    return tuple([InputValue(name=Str(name.at, name.text), value=value) for name, value in mapping.pairs])


LABEL_PLACES: Final = "`response`, `at PATH` for a place in a JSON response, or `skill NAME`"
"""Places that `from:` of a label takes, in words."""


def _label(fields: Fields, key: str) -> LabelTree | None:
    """The class that the agent should give."""
    fields.forbid_empty(key)
    read: LabelTree | None = LABEL.read(fields, key)
    return None if read is None else msgspec.structs.replace(read, at=fields.key(key).at)


def _build_label(inner: Fields, given: dict[str, Any]) -> LabelTree | None:
    place: Str | None = given.get("from")
    source = "response" if place is None else label_source(place.value.strip())
    if place is not None and source is None:
        inner.fault(place.span, Finding("EV301", what="`from`", expected=LABEL_PLACES, found=f"`{place.value}`"))
    expected = given.get("expected")
    if expected is None or source is None or inner.partial:
        return None
    return LabelTree(inner.anchor.at, expected=expected, source=source)


def label_source(written: str) -> str | None:
    """Read `from:` of a label as the model has it; None if it says nothing that is known."""
    if written == "response":
        return "response"  # the default itself, which is not written
    if re.fullmatch(r"skill \S+", written):
        return written
    path = parse_place(written)
    return None if path is None else f"at {path}"


def _reason(fields: Fields, key: str) -> Str | None:
    """Why a case is skipped, retired or expected to fail; a template is read when it is filled."""
    text = fields.text(key)
    if text is None or "{{" in text.value:
        return text
    return text if reason_of(text.value, key, lambda finding: fields.fault(text.span, finding)) is not None else None


class _Turn(NamedTuple):
    """A turn: the user's message, and the checks of the answer."""

    say: Str
    checks: tuple[CheckTree, ...]


def _build_turn(_inner: Fields, given: dict[str, Any]) -> _Turn | None:
    return None if given.get("say") is None else _Turn(given["say"], given.get("validate", ()))


def _turns(fields: Fields, key: str) -> tuple[_Turn, ...]:
    """The turns of a conversation; what is not a turn is reported and left out."""
    fields.forbid_empty(key)
    node = fields.node(key)
    if node is not None and not isinstance(node, Sequence):
        fields.wrong(node, "`turns`", "a list with `say`, and `validate` for its checks, in each item")
        return ()
    turns = [(number, TURN.take(fields, item, "a turn")) for number, item in enumerate(fields.items(key) or (), 1)]
    return tuple(
        _Turn(turn.say, tuple(msgspec.structs.replace(check, turn=number) for check in turn.checks))
        for number, turn in turns
        if turn is not None
    )


def _user(fields: Fields, key: str) -> UserTree | None:
    """A simulated user."""
    fields.forbid_empty(key)
    given: dict[str, Any] | None = USER.read(fields, key)
    return None if given is None else UserTree(span=fields.key(key).span, **given)


def _stubs(fields: Fields, key: str) -> tuple[StubTree, ...] | None:
    """The stubs; an answer with something wrong in it is reported and left out."""
    node = fields.mapping(key)
    if node is None:
        return None
    stubs = []
    for name, value in fields.tree.pairs(node) or ():
        items = fields.tree.items(value) or (value,)
        if any(_depends_on_calls(fields, item) for item in items):
            answers = [STUB.take(fields, item, "") for item in items]
            if sound := tuple([answer for answer in answers if answer is not None]):
                stubs.append(StubTree(name, sound))
            continue
        for item in items:
            _report_misspelt(fields, item)
        stubs.append(StubTree(name, (StubAnswerTree(value.at, answer=value),)))
    return tuple(stubs)


def _when(fields: Fields, key: str) -> Mapping | None:
    """The arguments that a call must have; at least one."""
    fields.forbid_empty(key)
    node: Mapping | None = fields.mapping(key)
    if node is not None and not node.pairs and not is_cut(node):
        fields.fault(fields.key(key), Finding("EV309", what=f"`{key}`"))
    return node


def _depends_on_calls(fields: Fields, value: Node) -> bool:
    """Whether a value says how calls are answered; any other value is the result of every call."""
    return any(name.text in STUB.keys for name, _ in fields.tree.pairs(value) or ())


def _report_misspelt(fields: Fields, value: Node) -> None:
    """Report a result of the tool whose every key is a misspelt key of a stub; a plural is not misspelt."""
    names = [name for name, _ in fields.tree.pairs(value) or ()]
    for name in names:
        typo = typo_of(name.text, STUB.keys)
        if typo is None or name.text == f"{typo.meant}s":
            return
    for name in names:
        fields.warn(name, Finding("EV428", key=name.text, known=STUB.known))


def _build_stub(inner: Fields, given: dict[str, Any]) -> StubAnswerTree | None:
    """An answer of a stub, which says one thing."""
    if not inner.allow_one(_SAID) and not inner.has_typos:
        inner.require(_SAID[0], why="say what the tool returns with `answer:`, or why it fails with `error:`")
    inner.forbid_empty("error")
    if "answer" in inner and "answer" not in given:  # null, which is a result as any other
        given["answer"] = inner.by_key["answer"][1]
    return None if inner.partial else StubAnswerTree(inner.anchor.at, **given)


_SAID: Final = ("answer", "error", "sequence")
"""The keys of which an answer of a stub has one."""


def _files(fields: Fields, key: str) -> tuple[FixtureTree, ...] | None:
    """The files of the attempt's folder: a list of paths, or a mapping of the paths there to those of the files."""
    node = fields.node(key)
    if node is None or (pairs := fields.tree.pairs(node)) is None:
        texts = None if node is None else fields.texts(key)
        return None if texts is None else tuple(FixtureTree(None, text) for text in texts)
    named = [(name.text, fields.text_of(value, f"the file `{name.text}`")) for name, value in pairs]
    return tuple(FixtureTree(name, path) for name, path in named if path is not None)


def _rubric(fields: Fields, key: str) -> Node | None:
    """A rubric with the names of the case model, whose records its entries are."""
    node: Node | None = fields.node(key)
    if not isinstance(node, Sequence):
        return node
    items = tuple(_renamed(item) if isinstance(item, Mapping) else item for item in node.items)
    return msgspec.structs.replace(node, items=items)


_JSON_NAMES: Final = {"max_score": "maxScore", "min_score": "minScore"}


def _renamed(mapping: Mapping) -> Mapping:
    """A mapping whose keys have their names in JSON, unless it has a key of that name as well."""
    names = {ours: name for ours, name in _JSON_NAMES.items() if name not in fields_of(mapping)}
    pairs = ((msgspec.structs.replace(key, text=names.get(key.text, key.text)), value) for key, value in mapping.pairs)
    return msgspec.structs.replace(mapping, pairs=tuple(pairs))


def _for_each(fields: Fields, key: str) -> ForEachTree | None:
    """The rows of a case; None if it has none, or if they are not a table, which is reported."""
    fields.forbid_empty(key)
    match fields.node(key):
        case Scalar():
            file = fields.filled(key)
            return None if file is None else ForEachTree(span=file.span, file=file)
        case Sequence():
            return _listed(fields, key, None)
        case Mapping() as node:
            tree: ForEachTree | None = FOR_EACH.take(fields, node, "`for_each`")
            return tree
        case _:
            return None


def _build_for_each(inner: Fields, given: dict[str, Any]) -> ForEachTree | None:
    if "rows" not in inner:
        inner.forbid_empty("file")
    key, file = given.get("key"), given.get("file")
    if file is not None:
        inner.allow_one(("file", "rows"))
        return ForEachTree(span=file.span, file=file, key=key)
    if "rows" in inner:
        inner.forbid_empty("rows")
        return _listed(inner, "rows", key)
    if not inner.partial:
        why = "add `rows:` with a list, or `file:`"
        inner.fault(inner.anchor.span, Finding("EV202", key="rows", what="`for_each`", why=why))
    return None


def _listed(fields: Fields, key: str, column: Str | None) -> ForEachTree | None:
    items = fields.items(key)
    if items is None:
        return None
    if not items and not is_cut(fields.node(key)):
        fields.fault(fields.key(key), Finding("EV309", what=f"`{key}`"))
    rows = tuple(row for row in (_row(fields, item) for item in items) if row is not None)
    return ForEachTree(span=fields.key(key).span, rows=rows, key=column)


def _row(fields: Fields, item: Node) -> Mapping | None:
    if isinstance(item, Mapping):
        fields.partial |= item.cut
        return None if item.cut else item
    fields.fault(item, Finding("EV301", what="a row of `for_each`", expected="a mapping", found=described(item)))
    return None


def _build_case(fields: Fields, given: dict[str, Any]) -> CaseTree:
    """The case; one without a usable name goes by its place in the file, and says that it is partial."""
    given["partial"] = fields.partial
    if "name" not in given:
        given |= {"name": Str(fields.anchor.at, ""), "partial": True}
    return CaseTree(**_merged(fields, given))


def _build_defaults(fields: Fields, given: dict[str, Any]) -> CaseFields:
    return CaseFields(**_merged(fields, given), partial=fields.partial)


def _merged(fields: Fields, given: dict[str, Any]) -> dict[str, Any]:
    """The fields of a case's tree: its checks are in one list, wherever they are written."""
    if "inputs" in given:
        given["inputs_key"] = InSource(fields.key("inputs").at)
    has_no_rows = "for_each" in fields.by_key and given.get("for_each") is None
    given["inputs_partial"] = has_no_rows or fields.has_hole("inputs")
    turns: tuple[_Turn, ...] | None = given.pop("turns", None)
    if turns is not None:
        given["turns"] = tuple(turn.say for turn in turns)
    of_turns = () if turns is None else tuple(check for turn in turns for check in turn.checks)
    given["checks"] = given.pop("validate", ()) + given.pop("expect", ()) + of_turns
    given["source"] = fields.source
    return given


def _any_case(*words: str) -> str:
    """A pattern of words whose letters are small or capital."""
    return "|".join("".join(f"[{x.upper()}{x}]" if x.isalpha() else x for x in word) for word in words)


# --- the keys --------------------------------------------------------------------------------------------------------

_CHECKS: Final = k.Kind(k.filled_list_of(k.ref("check")), read=build_checks, texts="checks")
_REASON: Final = k.Kind(
    {
        # What says no counts as absent; what says neither why nor no is not a reason.
        **k.TEXT.schema,
        "not": k.any_of(
            {"const": True},
            {"type": "number", "not": {"const": 0}},
            {"type": "string", "pattern": rf"^\s*({_any_case(*NO_REASONS, 'n/a', '<na>')}|[A-Za-z]|[1-9][0-9]*|-)\s*$"},
        ),
    },
    read=_reason,
)
_MAPPING: Final = k.Kind(k.free_mapping(), read=Fields.mapping, texts="data")
_ROW: Final[k.Schema] = {"type": "object"}
_REQUIREMENT: Final[k.Schema] = {
    "type": ["string", "integer", "null"],
    "pattern": r"^\s*[0-9]{1,9}(\s*/\s*[0-9]{1,9}|(\.[0-9]+)?\s*%)?\s*$",
    "minimum": 0,
    "maximum": 999_999_999,
}

TURN: Final = k.Shape(
    "a turn",
    {
        "say": k.Key(
            k.SENT,
            "What the user says; a template.",
            ("A room for two, please.",),
            required=True,
            aka=("user", "message", "content", "prompt"),
        ),
        "validate": k.Key(
            _CHECKS,
            "The checks of the answer and of the calls of this turn.",
            aka=("expect", "assert", "asserts", "assertions", "checks"),
        ),
    },
    name="turn",
    where="in a turn",
    expected="a mapping with `say`, and `validate` for its checks",
    build=_build_turn,
)
USER: Final = k.Shape(
    "a simulated user",
    {
        "goal": k.Key(
            k.Text(k.TEXT.schema, filled=True),
            "What the user wants.",
            ("Book a room in Paris for two nights",),
            required=True,
        ),
        "persona": k.Key(k.TEXT, "Who the user is, and how the user speaks.", ("Polite, says one thing at a time",)),
        "facts": k.Key(
            k.MapOf(
                k.TEXT,
                {"type": ["object", "null"], "additionalProperties": k.TEXT.schema},
                called="the fact",
                texts="data",
            ),
            "All that the user knows, by name.",
            ({"city": "Paris", "nights": 2},),
        ),
        "opens": k.Key(k.FILLED, "What the user says first.", ("I need a room.",)),
        "max_turns": k.Key(k.COUNT, "How many turns the conversation may take; by default 10."),
        "stop_when": k.Key(k.TEXT, "When the user is done.", ("The desk has confirmed the booking",)),
    },
    name="user",
    title="simulated user",
    where="in `user`",
)
_RESULT: Final = {
    "answer": k.Key(
        k.ANYTHING,
        "What the tool returns, any JSON.",
        ({"temperature": 21},),
        aka=("result", "return", "returns", "response", "value", "output"),
    ),
    "error": k.Key(
        k.FILLED,
        "Why the call fails.",
        ("the service is down",),
        aka=("raise", "raises", "throw", "throws", "fail", "fails", "exception"),
    ),
}
STUB_RESULT: Final = k.Shape(
    "an answer of `sequence`",
    _RESULT,
    name="stubResult",
    title="answer of a sequence",
    expected="a mapping with `answer` or `error`",
    build=_build_stub,
    narrow={"oneOf": [{"required": [key]} for key in _RESULT]},
)


class _Stub(k.Shape):
    otherwise = "a result of the tool that has such keys goes under `answer:`"


STUB: Final = _Stub(
    "a stub",
    {
        "when": k.Key(
            k.Kind({"type": "object", "minProperties": 1}, read=_when, texts="data"),
            "The arguments that a call must have to get this answer; others that it has do not matter.",
            ({"city": "Paris"},),
            aka=("if", "match", "matches", "args", "arguments", "params", "with"),
        ),
        **_RESULT,
        "sequence": k.Key(
            k.ListOf(STUB_RESULT, filled=True),
            "The answers of the first call, the second call and so on; the last one answers all calls after it.",
            ([{"error": "the service is down"}, {"answer": {"temperature": 21}}],),
            aka=("answers", "responses", "results"),
        ),
    },
    name="stub",
    expected="a mapping with `answer`, `error` or `sequence`",
    build=_build_stub,
    narrow={"oneOf": [{"required": [key]} for key in _SAID]},
)
LABEL: Final = k.Shape(
    "`label`",
    {
        "expected": k.Key(k.FILLED, "The class that the agent should give.", required=True),
        "from": k.Key(
            k.Text(
                {"type": "string", "pattern": r"^\s*(response\s*$|at\s+\S|skill \S+\s*$)"},
                filled=True,
                texts="settings",
            ),
            "Where the answer has it: `response`, or `at PATH` for a place in it; or `skill NAME`, loaded or not.",
        ),
    },
    name="label",
    build=_build_label,
)
FOR_EACH: Final = k.Shape(
    "`for_each`",
    {
        "rows": k.Key(
            k.Kind(k.list_of(_ROW, minItems=1), texts="data"),
            "The rows, each with its values by name.",
            ([{"city": "Paris"}],),
        ),
        "file": k.Key(
            k.FILLED,
            "The path of a CSV or JSONL file with the rows, relative to this file.",
            ("cities.csv",),
            aka=("from", "path", "source"),
        ),
        "key": k.Key(
            k.FILLED,
            "The column that tells the rows apart, or a path in it; by default `id` or `name`, else their numbers.",
            ("city",),
        ),
    },
    name="forEach",
    title="for_each",
    build=_build_for_each,
    narrow={
        "if": {"required": ["rows"]},
        "then": {"properties": {"file": {"type": "null"}}},
        "else": {"properties": {"file": k.NAME.schema}, "required": ["file"]},
    },
)
ALLOW: Final = k.Shape(
    "`allow`",
    {
        name: k.Key(
            _REASON,
            f"The agent {BROKEN_AGENTS[name]}."
            if name in BROKEN_AGENTS
            else f"In a recorded answer, {MUTATIONS[name]}.",
        )
        for name in CHALLENGERS
    },
    name="allow",
    build=lambda inner, given: tuple((name, given.get(name)) for name in CHALLENGERS if name in inner),
    narrow={"minProperties": 1},
)
_DEPENDS: Final[k.Schema] = {"type": "object", "anyOf": [{"required": [key]} for key in STUB.keys]}
_STUB_SCHEMA: Final[k.Schema] = {
    "if": _DEPENDS,
    "then": STUB.schema,
    "else": {
        "if": {"type": "array", "contains": _DEPENDS},
        "then": k.list_of(STUB.schema),
        "else": k.any_of(k.anything(), STUB.schema),  # for editors, which offer its keys
    },
}
CASE: Final = k.Shape(
    "a test case",
    {
        "name": k.Key(
            k.NAME,
            "The case's name, which its results go by; unique in the suite. Rows may fill it.",
            ("basic_code_review",),
            required="add `name:`: results are matched by it",
        ),
        "description": k.Key(k.TEXT, "What the case is about; by default its name."),
        "id": k.Key(
            k.FILLED,
            "The id that results and baselines know the case by; by default `SUITE/NAME`. Rows may fill it.",
            ("rg-get-weather-001",),
        ),
        "tier": k.Key(k.Choice(TIERS), "The tier of this case, where it is another than the suite's."),
        "difficulty": k.Key(k.Choice(DIFFICULTIES), "How hard the case is; by default `straightforward`."),
        "created_at": k.Key(
            k.TEXT, "When the case was written, as ISO 8601 has it; regression cases need it.", ("2026-03-02",)
        ),
        "bug_ref": k.Key(
            k.TEXT, "The issue or commit that a regression case comes from; regression cases need it.", ("#17",)
        ),
        "prompt_id": k.Key(k.TEXT, "The `id` of a prompt for this case alone."),
        "message": k.Key(
            k.SENT,
            "The message that is sent instead of the prompt; may be a template.",
            ("What is the weather in Paris?",),
            aka=(
                *("input", "prompt", "question", "query", "user_message", "user_input", "msg", "ask", "request"),
                *("utterance", "content", "text", "task", "instruction"),
            ),
        ),
        "messages": k.Key(k.Kind(k.list_of(k.ref("Message")), texts="data"), "A conversation for chat agents."),
        "turns": k.Key(
            k.Kind(k.filled_list_of(TURN.schema), read=_turns, texts="own"),
            "A conversation, turn by turn: what the user says, and checks of each answer.",
            ([{"say": "A room for two, please.", "validate": ['contains "when"']}],),
            excludes=("message", "messages", "label"),
        ),
        "user": k.Key(
            k.Kind(USER.schema, read=_user, texts="own"),
            "A simulated user, who holds the conversation.",
            excludes=("turns", "message", "messages", "label"),
        ),
        "inputs": k.Key(
            k.Kind(k.free_mapping(), read=_inputs, texts="data"),
            "The values that fill the prompt, by name.",
            ({"language": "Python"},),
            aka=("vars", "variables", "parameters"),
        ),
        "for_each": k.Key(
            k.Kind(k.any_of(k.filled_list_of(_ROW), k.NAME.schema, FOR_EACH.schema), read=_for_each, texts="own"),
            "One case a row: a list of rows, or a CSV or JSONL file.",
            ([{"city": "Paris"}, {"city": "Rome"}], "cities.csv"),
            aka=("dataset", "data", "rows", "table"),
        ),
        "inherit": k.Key(k.FLAG, "Whether the case takes the suite's `defaults`; by default true.", into="inherits"),
        "expected": k.Key(
            k.SENT,
            "A text that describes the answer: what a judge compares with.",
            aka=("expected_output", "ideal", "reference", "answer"),
        ),
        "validate": k.Key(
            _CHECKS, "The checks.", aka=("assert", "asserts", "assertions", "checks", "should", "must", "expectations")
        ),
        "expect": k.Key(
            k.Kind(k.or_absent(k.ref("expect")), read=build_expect, texts="own"),
            "Checks in the field names of the compiled file.",
        ),
        "stubs": k.Key(
            k.Kind({**k.free_mapping(), "additionalProperties": _STUB_SCHEMA}, read=_stubs, texts="data"),
            "The answers of tools, by their names: a result, or answers that depend on the call.",
            ({"get_weather": [{"when": {"city": "Paris"}, "answer": {"temperature": 21}}, {"error": "no such city"}]},),
        ),
        "max_turns": k.Key(k.COUNT, "How many turns the agent may take."),
        "rubric": k.Key(
            k.Kind(k.list_of(k.ref("RubricDimension")), read=_rubric, texts="own"),
            "The dimensions that a judge scores.",
        ),
        "reference_data": k.Key(_MAPPING, "Ground truth for a judge."),
        "threshold": k.Key(k.SHARE, "The least score of the case, from 0 to 1.", (0.8,)),
        "repeat": k.Key(k.COUNT, "How often the case runs.", (10,), aka=("runs", "times", "retries")),
        "require": k.Key(
            k.Kind(_REQUIREMENT, read=_requirement, texts="settings"),
            "How many of the repeated runs have to pass.",
            ("8/10", 8, "80%"),
        ),
        "files": k.Key(
            k.Kind(
                k.any_of(k.list_of(k.text()), {"type": "object", "additionalProperties": k.text()}),
                read=_files,
                texts="data",
            ),
            "Files for the folder of each attempt, relative to this file; or the paths there, each with its file.",
            (["data/sales.csv"], {"report.pdf": "fixtures/long-report.pdf"}),
        ),
        "skill": k.Key(
            k.FILLED,
            "The folder of the Agent Skill that the case is about, relative to this file.",
            ("..",),
        ),
        "expected_failure": k.Key(
            _REASON, "Why the case is known to fail.", ("the agent overlooks SQL injection",), aka=("xfail",)
        ),
        "skip": k.Key(_REASON, "Why the case does not run.", ("the service is down",)),
        "archived": k.Key(_REASON, "Why a locked regression case is retired.", ("the tool is gone",)),
        "tags": k.Key(
            k.Kind(k.any_of(k.list_of(k.text()), {"type": "string", "pattern": _ALONE.pattern}), read=_tags),
            "Words to choose cases by; templates, and a list of an input or a row as a whole.",
            (["smoke"], "{{tags}}"),
        ),
        "allow": k.Key(
            k.Kind(k.or_absent(ALLOW.schema), read=_allowed),
            "Faults that `evalc challenge` does not count for this case, each with the reason.",
            ({"refusal": "asks for something forbidden"},),
        ),
        "label": k.Key(
            k.Kind(k.or_absent(LABEL.schema), read=_label, texts="own"),
            "The class that the agent should give, and where its answer has it; `response`, by default, or `at PATH`.",
            ({"expected": "{{intent}}", "from": "at intent"},),
        ),
    },
    name="case",
    where="in a case",
    stands_alone=True,
    build=_build_case,
)
"""A test case: the one statement of its keys."""
DEFAULTS: Final = k.Shape(
    "`defaults`",
    CASE.only(
        "inputs",
        "validate",
        "expect",
        "difficulty",
        "stubs",
        "max_turns",
        "threshold",
        "tags",
        "repeat",
        "require",
        "allow",
        "label",
    ),
    name="defaults",
    where="in `defaults`",
    build=_build_defaults,
)
