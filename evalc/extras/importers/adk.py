"""Imports eval sets of Google's Agent Development Kit, in each form that it reads.

Semantics as in `google.adk.evaluation`: the criteria are those of `test_config.json` beside the eval set, else the
trajectory of tool calls, exactly, and a ROUGE-1 score of the response of at least 0.8.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple, final

from evalc.base.source import Source, Span
from evalc.check.tree import Check, Test
from evalc.diagnostics import Diagnostics, Finding
from evalc.dsl.document_kind import tool_of_data
from evalc.dsl.nodes import Node, fields_of, items_of
from evalc.dsl.scalars import to_plain
from evalc.dsl.sources import read_source
from evalc.dsl.write_yaml import Noted
from evalc.extras.importers.imported import (
    FURTHER,
    Imported,
    Importing,
    Unmappable,
    as_template,
    call_with,
    document_of,
    documents_of,
    entry,
    tools,
)
from evalc.model.json import is_number
from evalc.model.suite import slug

_CONFIG: Final = "test_config.json"
_DEFAULT: Final[dict[str, Any]] = {"tool_trajectory_avg_score": 1.0, "response_match_score": 0.8}
_TRAJECTORY: Final = "tool_trajectory_avg_score"
_MATCH: Final = "response_match_score"
_JUDGED_MATCH: Final = "final_response_match_v2"
_RUBRICS: Final = "rubric_based_final_response_quality_v1"
_ORDERS: Final[Mapping[object, str]] = {0: "EXACT", 1: "IN_ORDER", 2: "ANY_ORDER"}
_OF_CASES: Final = frozenset(
    (
        *("eval_id", "conversation", "conversation_scenario", "session_input", "creation_timestamp", "rubrics"),
        *("name", "data", "initial_session", "final_session_state"),
    )
)
_OF_SETS: Final = frozenset(("eval_set_id", "name", "description", "eval_cases", "creation_timestamp"))


def import_adk(source: Source, problems: Diagnostics) -> Imported | None:
    """The suite of an eval set; None if the file has errors or no case comes over, which is reported."""
    expected = "an eval set of ADK with `eval_cases`"
    root = document_of(source, problems, lambda root: tool_of_data(to_plain(root)) == "adk", expected)
    return None if root is None else _Importer(source, problems).imported(root)


class _Turn(NamedTuple):
    """A turn of any of the forms: the words of the user, and what is expected of the answer."""

    node: Node
    says: str
    answer: str
    calls: Sequence[tuple[str, Mapping[str, Any]]]
    rubrics: Sequence[Node]


@final
class _Importer(Importing):
    def imported(self, root: Node) -> Imported | None:
        path = Path(self.source.name)
        self.head.append(f"Imported from {path.name} (ADK).")
        self.criteria = self._criteria(path.parent / _CONFIG)
        top = _snake(root)
        self.head += self.further(top, _OF_SETS)
        items = items_of(top.get("eval_cases", root))
        if not top and any("query" in fields_of(each) for each in items):
            items = (root,)  # the turns of one case
        name = str(to_plain(top.get("eval_set_id", top.get("name"))) or path.name.partition(".")[0])
        described = to_plain(top.get("description")) or to_plain(top.get("name"))
        keys = {"description": described} if isinstance(described, str) and described not in ("", name) else {}
        named = [(_called(each), each) for each in items]
        return self.imported_cases(slug(name) or "evalset", keys, named, self._case)

    def _criteria(self, config: Path) -> dict[str, Mapping[str, Any]]:
        """The criteria by their names, each with its `threshold` and what else it says."""
        source = read_source(config, Diagnostics().add) if config.is_file() else None
        documents = None if source is None else documents_of(source, self.problems)
        given = _snake_data(to_plain(documents[0])).get("criteria") if documents else _DEFAULT
        criteria: dict[str, Mapping[str, Any]] = {}
        for name, each in given.items() if isinstance(given, dict) else ():
            criteria[name] = _snake_data(each) if isinstance(each, dict) else {"threshold": each}
            if name not in (_TRAJECTORY, _MATCH, _JUDGED_MATCH, _RUBRICS):
                finding = Finding("EV651", what=f"the criterion `{name}`", why="nearest is `judge`")
                self.problems.add(source or self.source, Span(0, 0), finding)
                self.head.append(finding.message())
                self.is_whole = False
        said = ", ".join(f"`{name}` {each.get('threshold', '')}".rstrip() for name, each in criteria.items())
        self.head.append(f"Criteria: {said or 'none'} ({_CONFIG if documents else 'the default of ADK'}).")
        return criteria

    # --- cases ---

    def _case(self, node: Node) -> tuple[dict[str, Any], list[str]]:
        values = _snake(node)
        comments = self.further(values, _OF_CASES)
        states = [_snake(values.get(key)).get("state") for key in ("session_input", "initial_session")]
        for state in (*states, values.get("final_session_state")):
            if state is not None and to_plain(state):
                why = "the state of a session is the agent's own; nearest is `inputs`, or `stubs` for its tools"
                comments.append(self.leave_out(state, "the state of the session", why))
        rubrics = items_of(values.get("rubrics"))
        if "conversation_scenario" in values:
            checks = self._rubrics(node, rubrics)
            case = self._scenario(_snake(values["conversation_scenario"]))
            case |= {"validate": Noted(checks)} if checks else {}
            is_checked = bool(checks)
        else:
            turns = [*self._turns(values.get("conversation", values.get("data", node)))]
            written = [self._turn(turn, rubrics, "say" if len(turns) > 1 else "message") for turn in turns]
            case = {"turns": written} if len(turns) > 1 else dict(*written)
            is_checked = any("validate" in each for each in written)
        if not is_checked:
            raise Unmappable("nothing of it is checked here")
        return case, comments

    def _scenario(self, scenario: Mapping[str, Node]) -> dict[str, Any]:
        """The simulated user of a scenario."""
        opens, goal, persona = (
            to_plain(scenario.get(key)) for key in ("starting_prompt", "conversation_plan", "user_persona")
        )
        persona = persona.get("description") if isinstance(persona, dict) else persona
        user = {"goal": goal, "opens": opens, "persona": persona}
        return {"user": {key: as_template(each) for key, each in user.items() if isinstance(each, str) and each}}

    def _turns(self, node: Node) -> Iterator[_Turn]:
        for each in items_of(node):
            values = _snake(each)
            if "query" in values:
                uses = [_snake(use) for use in items_of(values.get("expected_tool_use"))]
                calls = [(to_plain(use.get("tool_name")), to_plain(use.get("tool_input"))) for use in uses]
                says, answer = to_plain(values["query"]), to_plain(values.get("reference"))
            else:
                says, answer = _text_of(values.get("user_content")), _text_of(values.get("final_response"))
                calls = [*_calls_of(_snake(values.get("intermediate_data")))]
            named = [(name, args or {}) for name, args in calls if isinstance(name, str) and name]
            yield _Turn(each, str(says), str(answer or ""), named, items_of(values.get("rubrics")))

    def _turn(self, turn: _Turn, rubrics: Sequence[Node], key: str) -> dict[str, Any]:
        """A turn, or a case of one: what is said, and the checks of the answer."""
        if not turn.says.strip():
            raise Unmappable("in it, the user says nothing")
        checks = [
            *self._calls(turn, is_alone=key == "message"),
            *self._answer(turn),
            *self._rubrics(turn.node, [*rubrics, *turn.rubrics]),
        ]
        return {key: as_template(turn.says), **({"validate": Noted(checks)} if checks else {})}

    # --- checks ---

    def _calls(self, turn: _Turn, *, is_alone: bool) -> Iterator[Noted]:
        criterion = self.criteria.get(_TRAJECTORY)
        if criterion is None:
            return
        order = criterion.get("match_type", "EXACT")
        order = _ORDERS.get(order, order) if isinstance(order, int) else str(order).upper()
        has_arguments = bool(turn.calls) and not criterion.get("ignore_args")
        notes: list[str] = []
        if criterion.get("threshold") != 1 and not is_alone:
            why = "there it is a mean over turns; here the calls of each turn have to be right"
            notes += self.differs(turn.node, f"the threshold of `{_TRAJECTORY}`", why)
        if has_arguments:
            notes += self.differs(turn.node, "the arguments of calls", FURTHER)
        if has_arguments and order == "IN_ORDER" and len(turn.calls) > 1:
            why = "their names are in order, and their arguments are asked of any call"
            notes += self.differs(turn.node, "the order of calls", why)
        checks: list[Check] = []
        names = [name for name, _ in turn.calls]
        seen: Counter[str] = Counter()
        for name, arguments in turn.calls if has_arguments else ():
            seen[name] += 1
            if arguments:
                checks.append(call_with(name, seen[name] if order == "EXACT" else "any", arguments))
        # To ask for the arguments of a call is to ask for the call.
        is_implied = order != "EXACT" and len(turn.calls) == len(checks) == 1
        if (turn.calls or order == "EXACT") and not is_implied:
            predicate = {"EXACT": "called", "IN_ORDER": "in_order"}.get(order, "include")
            checks.insert(0, tools(predicate, names))
        yield from (entry(check, () if number else notes) for number, check in enumerate(checks))

    def _answer(self, turn: _Turn) -> Iterator[Noted]:
        if not turn.answer.strip():
            return
        if (criterion := self.criteria.get(_MATCH)) is not None:
            why = "ADK compares words (ROUGE-1) and takes the mean over turns, `similar to` compares letters"
            notes = self.differs(turn.node, f"`{_MATCH}`", why)
            least = criterion.get("threshold")
            least = least if is_number(least) and 0 < least <= 1 else _DEFAULT[_MATCH]
            yield entry(Test("similar", (turn.answer, least)), notes)
        if _JUDGED_MATCH in self.criteria:
            yield entry(_judge(f"Does it say the same as this answer? {turn.answer}"))

    def _rubrics(self, node: Node, rubrics: Sequence[Node]) -> list[Noted]:
        """The questions of rubrics: those of the criterion, and those that are given."""
        criterion = self.criteria.get(_RUBRICS)
        if criterion is None:
            why = f"the criterion `{_RUBRICS}` is not asked"
            self.head += [self.leave_out(each, "a rubric", why, decides=False) for each in rubrics]
            return []
        own = criterion.get("rubrics")
        texts = [_rubric(each) for each in (*(own if isinstance(own, list) else ()), *map(to_plain, rubrics))]
        asked = [text for text in dict.fromkeys(texts) if text]
        notes: tuple[str, ...] = ()
        if len(asked) > 1 and criterion.get("threshold") != 1:
            notes = self.differs(node, f"`{_RUBRICS}`", "there a share of the rubrics has to hold, here all of them")
        return [entry(_judge(text), () if number else notes) for number, text in enumerate(asked)]


def _called(case: Node) -> str:
    values = _snake(case)
    return str(to_plain(values.get("eval_id", values.get("name"))) or "")


def _judge(question: str) -> Check:
    return Test("judge", ("", 1, " ".join(question.split()), 1))


def _rubric(rubric: Any) -> str:
    content = _snake_data(_snake_data(rubric).get("rubric_content"))
    return str(content.get("text_property") or "")


# --- reading ---------------------------------------------------------------------------------------------------------


def _snake(node: Node | None) -> dict[str, Node]:
    """The entries of a mapping, `evalId` as `eval_id`."""
    return {_snake_key(key): value for key, value in fields_of(node).items()}


def _snake_data(data: Any) -> dict[str, Any]:
    return {_snake_key(str(key)): value for key, value in data.items()} if isinstance(data, dict) else {}


def _snake_key(key: str) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", key).lower()


def _text_of(content: Node | None) -> str:
    """The text of a content.

    Raises:
        Unmappable: a part of it is not a text.
    """
    parts = items_of(_snake(content).get("parts"))
    if any("text" not in fields_of(part) and not _snake(part).keys() & {"thought"} for part in parts):
        raise Unmappable("a part of it is not a text")
    return "".join(str(to_plain(fields_of(part).get("text")) or "") for part in parts)


def _calls_of(data: Mapping[str, Node]) -> Iterator[tuple[Any, Any]]:
    """The names and arguments of calls: those of `tool_uses`, or those in the events of an invocation."""
    uses = [*items_of(data.get("tool_uses"))]
    for event in items_of(data.get("invocation_events")):
        parts = items_of(_snake(_snake(event).get("content")).get("parts"))
        uses += [_snake(part)["function_call"] for part in parts if "function_call" in _snake(part)]
    for use in uses:
        values = fields_of(use)
        yield to_plain(values.get("name")), to_plain(values.get("args"))
