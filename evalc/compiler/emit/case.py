"""Emits a case of the IR: its texts filled, its checks in canonical order."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from operator import attrgetter
from pathlib import Path, PurePath
from typing import Any, Final, final, get_args

import msgspec

from evalc.base.files import is_link, is_there
from evalc.base.source import Source, Span
from evalc.compiler import ir
from evalc.compiler.emit.check import checks_of, label_of
from evalc.compiler.emit.emission import Emission, count_in_case, number_in_case, number_of, repetitions_of
from evalc.compiler.fill import fill, root_of, text_of_input, variables
from evalc.compiler.libraries import SchemaLoader, from_root, named_file
from evalc.compiler.merge import GivenText, MergedCase
from evalc.compiler.names import Names, Variant, check_inputs
from evalc.compiler.rows import Row
from evalc.compiler.shape import is_timestamp
from evalc.diagnostics import Diagnostics, Finding, Problem
from evalc.dsl.build_case import CaseTree, FixtureTree, StubAnswerTree, StubTree, UserTree
from evalc.dsl.build_prompt import PromptTree
from evalc.dsl.nodes import Mapping, Node, Report, items_of
from evalc.dsl.places import node_at
from evalc.dsl.scalars import to_plain
from evalc.dsl.tree import Str
from evalc.grammar.parse import parse_template
from evalc.model import case as m
from evalc.model.json import pointer_step


def message_of(emission: Emission, messages: tuple[m.Message, ...] | None) -> str | None:
    """The message of the case; None if there is none or it could not be made."""
    tree, prompt = emission.case.tree, emission.variant.prompt
    if tree.user is not None:
        return emission.text(tree.user.opens or tree.user.goal)
    if tree.turns is not None:
        return emission.text(tree.turns[0]) if tree.turns else None
    if tree.message is not None:
        return emission.text(tree.message)
    if tree.has_own_words:
        return next((message.content for message in reversed(messages or ()) if message.role == "user"), "")
    if prompt is not None:
        return None if prompt.template is None else fill(prompt.template, emission.inputs)
    if tree.prompt_id is not None or emission.names.wants_prompt:
        return None
    if emission.given:
        span = (tree.inputs_key or tree.name).span
        emission.problems.add(tree.source, span, Finding("EV410", case=tree.name.value))
        return "\n".join(f"{name}: {text_of_input(given.value)}" for name, given in emission.given.items())
    if not emission.case.partial:
        emission.problems.add(tree.source, tree.span, Finding("EV409", case=tree.name.value))
    return None


def system_of(emission: Emission, prompt: PromptTree) -> str | None:
    """The prompt's role and instructions. They are metadata to other tools: what is not a template of ours stays."""
    return "\n\n".join(_filled_where_known(emission, part) for part in prompt.system) or None


def _filled_where_known(emission: Emission, text: str) -> str:
    parse = parse_template(text) if "{{" in text else None
    if parse is None or parse.node is None or parse.faults:
        return text
    names = {variable.name for variable, _ in variables(parse.node.parts)}
    known = emission.known
    return fill(parse.node, emission.inputs) if all(root_of(name, known) for name in names) else text


def messages_of(emission: Emission, node: Node) -> tuple[m.Message, ...] | None:
    """The messages of a conversation, the templates in their contents filled."""
    if _report_roles_as_keys(emission, node):
        return None
    messages = emission.typed(emission.case.tree.source, node, tuple[m.Message, ...], "`messages`")
    if messages is None:
        return None
    filled: list[m.Message] = []
    for index, message in enumerate(messages):
        place = node_at(node, f"/{index}/content")
        content = emission.text(Str(place.at, message.content))
        filled.append(m.Message(role=message.role, content=content or ""))
    return tuple(filled)


def follow_ups_of(emission: Emission, turns: tuple[Str, ...]) -> tuple[str, ...] | None:
    """The user's messages after the first, templates filled."""
    return tuple(emission.text(say) or "" for say in turns[1:]) or None


def user_of(emission: Emission, tree: UserTree) -> m.SimulatedUser:
    """The simulated user, templates filled."""
    most = number_of(emission.case.tree.source, tree.max_turns, "max_turns", emission.problems)
    usual = m.SimulatedUser(goal="").max_turns
    return m.SimulatedUser(
        goal=emission.filled(tree.goal, "the user's goal") or "",
        persona=emission.text(tree.persona),
        facts={name: emission.text(value) or "" for name, value in tree.facts},
        opens=emission.filled(tree.opens, "what the user says first"),
        max_turns=usual if most is None or most == usual else int(most),
        stop_when=emission.text(tree.stop_when),
    )


def _report_roles_as_keys(emission: Emission, messages: Node) -> bool:
    """Whether there are items such as `user: Hello`, each of which is reported as one mistake."""
    found = False
    for item in items_of(messages):
        if isinstance(item, Mapping) and len(item.pairs) == 1 and item.pairs[0][0].text in get_args(m.Role):
            key = item.pairs[0][0]
            finding = Finding(
                "EV301",
                what="an item of `messages`",
                expected="`role` and `content`",
                found=f"`{key.text}`",
                corrected=f"{{role: {key.text}, content: ...}}",
            )
            emission.problems.add(emission.case.tree.source, key.span, finding)
            found = emission.failed = True
    return found


def files_of(emission: Emission, trees: tuple[FixtureTree, ...]) -> dict[str, str] | None:
    """The files of the attempt's folder by their paths there; paths of files begin at the project's root."""
    found: dict[str, str] = {}
    for given, text in trees:
        path, name = _named_path(emission, text), given
        if path is None:
            continue
        if name is None:  # a path that leads upwards keeps its name
            written = PurePath(emission.text(text) or "")
            name = path.name if ".." in written.parts or written.is_absolute() else written.as_posix()
        elif ".." in PurePath(name).parts or PurePath(name).is_absolute():
            what, expected = "the path of a file in the attempt's folder", "a path below that folder"
            emission.fail(
                emission.case.tree.source, text.span, Finding("EV301", what=what, expected=expected, found=f"`{name}`")
            )
        found[name] = from_root(path)
    return found or None


def skill_of(emission: Emission, text: Str) -> str | None:
    """The folder of the skill, from the project's root."""
    path = _named_path(emission, text)
    return None if path is None else from_root(path)


def _named_path(emission: Emission, text: Str) -> Path | None:
    """The path of a file or folder that the case names; None if there is none, which is reported."""
    tree = emission.case.tree
    value = emission.filled(text, "the path of a file")
    problems = Diagnostics()
    path = None if value is None else named_file(tree.source, Str(text.at, value), problems)
    if path is not None and not is_there(path):
        problems.add(tree.source, text.span, Finding("EV600", path=value, link=is_link(path)))
    emission.failed |= bool(len(problems))
    emission.problems.extend(problems)
    return None if len(problems) else path


_JSON_OBJECT: Final = dict[str, Any]


@final
class CaseEmitter(msgspec.Struct, frozen=True, kw_only=True):
    """Makes the cases of one suite."""

    home: Source  # the source of the suite
    tier: m.Tier  # its tier, which a case's own goes before
    names: Names  # what its names mean
    schemas: SchemaLoader  # where the JSON Schemas come from that its checks name
    # where a name of nobody has been reported: cases share texts, by defaults, rules and aliases
    unknown: set[tuple[str, Span]] = msgspec.field(default_factory=set)

    def tier_of(self, tree: CaseTree) -> m.Tier:
        """The tier of a case."""
        return self.tier if tree.tier is None else msgspec.convert(tree.tier.value, m.Tier)

    def emit(
        self,
        case: MergedCase,
        row: Row | None,
        variant: Variant,
        problems: Diagnostics | None,
        *,
        like: ir.Case | None = None,
    ) -> ir.Case:
        """The case; what is wrong is reported, unless `problems` is None because all of it was reported before.

        `like` is the case of another row of the table, with which nothing is wrong: only what a row fills is made.
        """
        given = case.inputs(row)
        inputs = dict(variant.defaults)
        for name, value in given.items():
            inputs[name] = value.value
        emission = Emission(
            self.home,
            case,
            row,
            variant,
            self.tier if case.tree.tier is None else self.tier_of(case.tree),
            self.names,
            self.schemas,
            given,
            inputs,
            not (variant.partial or case.inputs_partial),
            Diagnostics(),
            problems is None and like is not None,
            like is not None,
        )
        if not (problems is None or case.tree.has_own_words):
            _check_inputs(emission)
        fields = _filled_fields(emission)
        fields |= _fixed_fields(emission) if like is None else {"wheres": like.wheres | _wheres_of_row(emission)}
        fields["partial"] = case.partial or emission.failed
        made = ir.Case(**fields) if like is None else msgspec.structs.replace(like, **fields)
        if problems is not None and len(emission.problems):
            for problem in _each_once(emission.problems):
                if problem.code != "EV205" or self._is_first_at(problem):
                    problems.add(problem.source, problem.span, problem.finding)
        return made

    def _is_first_at(self, problem: Problem) -> bool:
        place = problem.source.name, problem.span
        is_first = place not in self.unknown
        self.unknown.add(place)
        return is_first


def _each_once(problems: Diagnostics) -> Iterator[Problem]:
    """The problems; of what a text and a value lack of a row, that of the value: no block may stand around it."""
    of_values = {(each.span, each.finding.message()) for each in problems if each.finding.fields.get("bare")}
    for problem in problems:
        is_of_text = not problem.finding.fields.get("bare")
        if not (of_values and is_of_text and (problem.span, problem.finding.message()) in of_values):
            yield problem


def _check_inputs(emission: Emission) -> None:
    """Report inputs that are not as they are declared, of a case that is sent with what they fill."""
    case, variant = emission.case, emission.variant
    check_inputs(
        case,
        emission.given,
        emission.row,
        variant.declared,
        partial=variant.partial,
        required=variant.required,
        problems=emission.problems,
    )


def _fixed_fields(emission: Emission) -> dict[str, Any]:
    """The fields that are the same for all rows of a table, by name."""
    case, tree = emission.case, emission.case.tree
    fields: dict[str, Any] = {}
    if case.picked:
        fields["repeat"], fields["require"] = repetitions_of(emission)
        fields["max_turns"] = count_in_case(emission, "max_turns")
        fields["threshold"] = number_in_case(emission, "threshold")
    if tree.created_at is not None:
        fields["created_at"] = tree.created_at.value
        if not is_timestamp(tree.created_at.value):
            emission.problems.add(tree.source, tree.created_at.span, Finding("EV307", value=tree.created_at.value))
    if tree.reference_data is not None:
        data = emission.typed(tree.source, tree.reference_data, _JSON_OBJECT, "`reference_data`")
        fields["reference_data"] = data
    fields["tier"] = emission.tier
    fields["difficulty"] = _difficulty(case, emission.tier)
    if tree.stubs is not None or len(case.layers) > 1:
        fields["stubs"], fields["stub_answers"] = _stubs(emission)
    fields["variant"] = emission.variant.name
    fields["where"] = tree.name.at
    fields["wheres"] = _wheres(emission)
    return fields


def _filled_fields(emission: Emission) -> dict[str, Any]:
    """The fields that contain inputs, by name: those that differ between the rows of a table."""
    case, tree = emission.case, emission.case.tree
    checks, links = checks_of(emission)
    messages = None if tree.messages is None else messages_of(emission, tree.messages)
    message = message_of(emission, messages)
    emission.failed |= message is None
    name = tree.name.value if emission.row is None else _of_row(emission, tree.name, "the name")
    fields: dict[str, Any] = {
        "id": _id(emission, name),
        "name": name,
        "description": name,
        "message": message or "",
        "messages": messages,
        "inputs": emission.plain_inputs() if emission.given else None,
        "checks": checks,
        "links": links,
    }
    prompt = emission.variant.prompt
    if prompt is not None and prompt.tree.system:
        fields["system"] = system_of(emission, prompt.tree)
    seldom = _written(tree)
    for written, (field, filled) in zip(seldom, _FILLED.values(), strict=True) if any(seldom) else ():
        if written is not None:
            fields[field] = filled(emission, written)
    fields["description"] = fields["description"] or name
    if emission.asks_files and fields.get("files") is None:
        fields["files"] = {}  # an empty folder
    if case.tags is not None:
        fields["tags"] = _tags(emission, case.tags)
    if case.allowed:
        fields["allow"] = _allowed(emission)
    if "label" in case.picked:
        fields["label"] = label_of(emission)
    return fields


_FILLED: Final[dict[str, tuple[str, Callable[[Emission, Any], Any]]]] = {
    "description": ("description", Emission.text),
    "turns": ("follow_ups", follow_ups_of),
    "user": ("user", user_of),
    "expected": ("expected", Emission.text),
    "files": ("files", files_of),
    "skill": ("skill", skill_of),
    "bug_ref": ("bug_ref", lambda emission, text: emission.text(text) or None),
    **{key: (key, partial(Emission.reason, key=key)) for key in ("expected_failure", "skip", "archived")},
}
"""The keys of a case that are seldom written, with the field of each and how it is filled."""
_written: Final = attrgetter(*_FILLED)


def _tags(emission: Emission, given: tuple[GivenText, ...]) -> tuple[str, ...]:
    """The tags, each once; a list gives one an item, and a tag that the inputs leave empty is left out."""
    tags = [(each.text.value, tag) for each in given for tag in emission.texts(each.text, each.source)]
    return tuple(dict.fromkeys(tag for written, tag in tags if tag or not written))


def _allowed(emission: Emission) -> dict[str, str] | None:
    """The faults that do not count, each with the reason."""
    reasons = {name: emission.reason(why.text, name, why.source) for name, why in emission.case.allowed.items()}
    return {name: reason for name, reason in reasons.items() if reason is not None} or None


def _of_row(emission: Emission, text: Str, what: str) -> str:
    """A text that shows the cases of a table apart, filled by the row; without a row it is what it is."""
    if emission.row is None or "{{" not in text.value:
        return text.value
    return (emission.filled(text, what) or "").strip()


def _id(emission: Emission, name: str) -> str:
    """The id: as it is given, else of the suite and the name; a row and a prompt that is compared add their own."""
    tree, row, variant = emission.case.tree, emission.row, emission.variant
    base = _of_row(emission, tree.id, "the id") if tree.id is not None else f"{emission.names.suite}/{name}"
    if row is None and variant.name is None:
        return base
    added = (None if row is None else row.key or None, variant.name)
    return "@".join([base, *[each for each in added if each is not None]])


def _difficulty(case: MergedCase, tier: m.Tier) -> m.Difficulty | None:
    """The case's own; the defaults' where its tier knows difficulties and has no other one."""
    written = case.tree.difficulty
    if written is None and tier == "regression":
        return "regression"
    if written is None and tier == "labeled":
        picked = case.picked.get("difficulty")
        if picked is None:
            return "straightforward"
        written = picked.value
    difficulty: m.Difficulty | None = None
    if written is not None:
        difficulty = msgspec.convert(written.value, m.Difficulty)
    return difficulty


def _stubs(emission: Emission) -> tuple[dict[str, Any] | None, dict[str, tuple[m.StubAnswer, ...]] | None]:
    """The stubs that are results, and those whose answers depend on the call."""
    stubs = _stubs_by_tool(emission)
    if stubs is None:
        return None, None
    results: dict[str, Any] = {}
    answers: dict[str, tuple[m.StubAnswer, ...]] = {}
    for name, (source, stub) in stubs.items():
        report = partial(emission.problems.add, source)
        result = stub.every_result
        if result is not None:
            results[name] = to_plain(result, report)
        else:
            answers[name] = tuple([_stub_answer(each, report) for each in stub.answers])
    return results if results or not answers else None, answers or None


def _stubs_by_tool(emission: Emission) -> dict[str, tuple[Source, StubTree]] | None:
    """The stubs: the case's own go before those of the defaults."""
    layers = [layer.fields for layer in reversed(emission.case.layers) if layer.fields.stubs is not None]
    found = {stub.name.text: (fields.source, stub) for fields in layers for stub in fields.stubs or ()}
    return found if layers else None


def _stub_answer(tree: StubAnswerTree, report: Report) -> m.StubAnswer:
    when: Any = None if tree.when is None else to_plain(tree.when, report)
    sequence = tuple([m.StubResult(**_result(each, report)) for each in tree.sequence or ()])
    return m.StubAnswer(when=when, sequence=sequence or None, **_result(tree, report))


def _result(tree: StubAnswerTree, report: Report) -> dict[str, Any]:
    answer = msgspec.UNSET if tree.answer is None else to_plain(tree.answer, report)
    return {"answer": answer, "error": None if tree.error is None else tree.error.value}


# --- places ----------------------------------------------------------------------------------------------------------


_OF_ROW: Final = ("/id", "/input/inputs")
"""The fields of a case that depend on the row."""


def _wheres(emission: Emission) -> dict[str, ir.Where]:
    """Where the fields of the case were written, by their JSON pointers."""
    case, tree, row = emission.case, emission.case.tree, emission.row
    wheres = _wheres_of_input(emission)
    seldom = _placed(tree)
    for pointer, text in zip(_PLACED, seldom, strict=True) if any(seldom) else ():
        if text is not None:
            wheres[pointer] = text.at
    if tree.stubs is not None or len(case.layers) > 1:
        wheres |= _wheres_of_stubs(emission)
    for pointer, name in _PICKED if case.picked else ():
        picked = case.pick(name)
        if picked is not None:
            wheres[pointer] = emission.at(picked.source, picked.value)
    if row is not None:
        wheres |= _wheres_of_row(emission)
    elif tree.inputs_key is not None:
        wheres["/input/inputs"] = tree.inputs_key.at
    return wheres


def _wheres_of_stubs(emission: Emission) -> dict[str, ir.Where]:
    """Where the names of stubs are written; of answers that depend on the call, each of them and what it depends on."""
    wheres: dict[str, ir.Where] = {}
    for name, (source, stub) in (_stubs_by_tool(emission) or {}).items():
        depends = stub.every_result is None
        at = f"/{'stubAnswers' if depends else 'stubs'}/{pointer_step(name)}"
        wheres[at] = emission.at(source, stub.name)
        for index, answer in enumerate(stub.answers if depends else ()):
            wheres[f"{at}/{index}"] = emission.at(source, answer)
            for key, value in () if answer.when is None else answer.when.pairs:
                argument = f"{at}/{index}/when/{pointer_step(key.text)}"
                wheres[f"#{argument}"] = emission.at(source, key)
                wheres[argument] = emission.at(source, value)
    return wheres


def _wheres_of_row(emission: Emission) -> dict[str, ir.Where]:
    """Where what a row gives was written: its place in the table."""
    row = emission.row
    return {} if row is None else dict.fromkeys(_OF_ROW, ir.Located(row.source, row.span))


def _wheres_of_input(emission: Emission) -> dict[str, ir.Where]:
    tree, prompt = emission.case.tree, emission.variant.prompt
    wheres: dict[str, ir.Where] = {}
    if tree.user is not None:
        wheres["/input/message"] = wheres["/input/user"] = tree.user.span
    elif tree.turns:
        wheres["/input/message"] = tree.turns[0].at
        for index, say in enumerate(tree.turns[1:]):
            wheres[f"/input/followUps/{index}"] = say.at
    elif tree.message is not None:
        wheres["/input/message"] = tree.message.at
    elif prompt is not None and not tree.has_own_words:
        wheres["/input/message"] = emission.at(prompt.tree.source, prompt.tree.text)
    return wheres


_PLACED: Final = {
    "/id": "id",
    "/description": "description",
    "/createdAt": "created_at",
    "/bugRef": "bug_ref",
    "/expected": "expected",
    "/expectedFailure": "expected_failure",
    "/skip": "skip",
    "/archived": "archived",
}
_placed: Final = attrgetter(*_PLACED.values())
"""The texts of a case that are seldom written, by their pointers."""
_PICKED: Final = (
    ("/difficulty", "difficulty"),
    ("/threshold", "threshold"),
    ("/maxTurns", "max_turns"),
    ("/repeat", "repeat"),
    ("/require", "require"),
)
