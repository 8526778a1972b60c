"""Messages to and from agents and judges: requests, responses, calls of tools, turns."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

import msgspec

from evalc.model.case import StubAnswer, stubbed

if TYPE_CHECKING:
    from evalc.model.result import Status

ToolMode = Literal["executed", "stubbed", "routing", "injected"]
"""The ways in which calls of tools are answered.

The agent executed them, stubs answered all of them, they were only chosen, or the agent was given stubs of some.
"""

DEFAULT_TURNS: Final = 5
"""The iterations of the loop with stubs if a case does not say (contract, maxTurns)."""


class ToolCall(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """One tool call (contract, ToolCallRecord). `success` is None if the agent did not say.

    `arguments` is what the model wrote if that is not a JSON object; then there are no `params`. `result` is what the
    tool returned, any JSON, and `error` why it failed; each is unset if the agent does not say.
    """

    name: str
    success: bool | None = None
    duration_ms: float | None = None
    params: dict[str, Any] = {}
    arguments: str | None = None
    result: Any = msgspec.UNSET
    error: str | msgspec.UnsetType = msgspec.UNSET


class Usage(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """Usage of an answer, where the agent reports it; tokens as the provider counts them."""

    input_tokens: int | None = None
    output_tokens: int | None = None
    cost_usd: float | None = None


MOST_WRITTEN: Final = 100
"""The files of an attempt that are kept at most."""
LONGEST_WRITTEN: Final = 100_000
MOST_WRITTEN_TEXT: Final = 300_000
"""The bytes of one text, and of all texts of an attempt, that are kept."""
NOT_LOOKED_AT: Final = ("__pycache__", "node_modules", "venv")
"""The folders of an attempt whose files are not kept, beside those that are hidden."""


class WrittenFile(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """A file that an agent wrote: its path in the folder of the attempt, its size in bytes, and its text.

    A file that is not UTF-8, or too long to be kept, has no text.
    """

    path: str
    size: int
    text: str | None = None


def has_room(size: int, before: Iterable[WrittenFile]) -> bool:
    """Whether a text of so many bytes is kept behind the texts of these files."""
    kept = sum(file.size for file in before if file.text is not None)
    return size <= min(LONGEST_WRITTEN, MOST_WRITTEN_TEXT - kept)


class TraceContext(NamedTuple):
    """The context of a span by the W3C's Trace Context and Baggage: the values of the headers of these names."""

    traceparent: str
    baggage: str


class AgentRequest(msgspec.Struct, frozen=True, kw_only=True):
    """A request of a case: the message and, for agents that take them, the case's other inputs.

    `system` is the prompt file's role and instructions, for agents that are models only.
    `deadline` is the time of the event loop's clock from which an answer is too late; None if there is none.

    Of a conversation, a request is one turn: `turn` is its number from 1, `messages` end with what the user says now,
    and `conversation` is an id that is the same for all turns of one attempt. `state` is what the last answer had.
    `follow_ups` are the turns after the first, as the case has them, and `user` is who plays them; no agent is sent
    either.

    `files` and `skill` are what the case has for the folder of an attempt, for agents that work in one; with `files`
    that are empty, the folder is.

    `stubs` are results of tools by their names, and `stub_answers` the answers that depend on the call.

    `answer_schema` is the JSON Schema of the object that a judge or the player of a user has to answer with; None where
    an agent is tested. A model's API holds the model to it. Other kinds of agents may ignore it.

    `trace` is the context of the case's span where the run is exported to OpenTelemetry; None for judges and players.
    """

    message: str
    messages: tuple[Mapping[str, str], ...] = ()
    system: str | None = None
    stubs: dict[str, Any] | None = None
    stub_answers: Mapping[str, tuple[StubAnswer, ...]] | None = None
    max_turns: int = DEFAULT_TURNS
    case_id: str = ""
    inputs: Mapping[str, Any] = {}
    deadline: float | None = None
    turn: int | None = None
    conversation: str | None = None
    state: Any = None
    follow_ups: tuple[str, ...] = ()
    user: dict[str, Any] | None = None
    files: Mapping[str, str] | None = None
    skill: str | None = None
    answer_schema: Mapping[str, Any] | None = None
    trace: TraceContext | None = None

    @property
    def stubbed(self) -> Collection[str] | None:
        """The tools that have a stub; None if the case has no stubs."""
        return stubbed(self.stubs, self.stub_answers)


class AgentResponse(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """The agent's answer (contract, AgentResponse).

    Its duration is measured by the runner; `duration_ms` is that of an answer which was recorded earlier.
    `tool_mode` says what noToolErrors means for it.
    `finish_reason` is why a model stopped, in its provider's word, such as `stop`, `length` or `refusal`; `model` is
    its name, where the agent says it.
    `reports_calls` is false where the answer does not say which tools were called; `near_calls` is then a key of it
    that probably holds them. `state` is any JSON that the agent wants back with the next turn of the
    conversation. `took_files` says that the agent worked in a folder with the files of the case; `written` are the
    files that it wrote or changed there, up to now, and None if it had no folder. `unchanged` are the paths of those
    that it was given and that are there as they were. `all_unchanged` is false for an answer that was recorded with as
    many as are kept.
    """

    response: str
    tool_calls: tuple[ToolCall, ...] = ()
    usage: Usage | None = None
    tool_mode: ToolMode = "executed"
    finish_reason: str | None = None
    model: str | None = None
    duration_ms: float | None = None
    reports_calls: bool = True
    near_calls: str | None = None
    state: Any = None
    took_files: bool = False
    written: tuple[WrittenFile, ...] | None = None
    unchanged: tuple[str, ...] = ()
    all_unchanged: bool = True


class Question(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A question to a judge: the name of a dimension or criterion, the author's wording, and the top of the scale."""

    name: str
    criteria: str = ""
    max_score: int | float = 1

    @property
    def is_whole(self) -> bool:
        """Whether the steps of the scale are whole numbers."""
        return float(self.max_score).is_integer()


class Exhibit(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """Material for a judge, as JSON can say it: request, answer, and the ground truth that the case has.

    `written` are the files that the agent wrote; None if it had no folder to write in.
    """

    message: str = ""
    messages: tuple[dict[str, str], ...] = ()
    response: str
    tool_calls: tuple[dict[str, Any], ...] = ()
    written: tuple[WrittenFile, ...] | None = None
    expected: str | None = None
    reference_data: dict[str, Any] | None = None


class PlayedUser(NamedTuple):
    """Usage of playing the user: requests, and their cost in US dollars as far as known."""

    requests: int = 0
    cost_usd: float | None = None


class AgentAnswer(msgspec.Struct, frozen=True):
    """An agent's answer: a response, or the status and the words of its absence; and when.

    Of a conversation, the response is that of all its turns together, and `turns` are those that were answered.
    `unreachable` says that there is none since the agent could not be reached, and `unanswered` is the message of the
    turn that has none.
    """

    duration_ms: float
    response: AgentResponse | None
    status: Status = "passed"
    error: str | None = None
    turns: tuple[AnsweredTurn, ...] = ()
    user: PlayedUser | None = None
    unreachable: bool = False
    unanswered: str | None = None


class AnsweredTurn(NamedTuple):
    """A turn of a conversation: the message, the answer, and how long it took.

    `user` is what playing the user had taken up to this turn; None if nobody plays one.
    """

    message: str
    response: AgentResponse
    duration_ms: float
    user: PlayedUser | None = None
