"""Plays a simulated user, and checks that the user could have said what the player says."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from typing import Any, Final, Protocol, final

import msgspec

from evalc.base.errors import AgentError, AgentTimeout
from evalc.model.answer import AgentRequest, AgentResponse, PlayedUser, Usage
from evalc.model.case import SimulatedUser
from evalc.runtime.agents.base import Session
from evalc.runtime.checks.grounding import folded, unfounded_numbers
from evalc.runtime.checks.json_text import NotJson, parse_leniently
from evalc.runtime.checks.wording import number, quoted, shown
from evalc.runtime.run.process_guard import bounded, unbounded
from evalc.runtime.run.user_facts import given_for, gives, says

INSTRUCTIONS: Final = """\
You play a user who talks to an assistant. You are not the assistant. You are given, as JSON: your `goal`, your
`persona`, your `facts`, when to stop (`stopWhen`), and the `messages` so far, in which `user` is you. If there is a
`complaint`, it says what was wrong with your last answer, which nobody has heard.

Say the one next thing that this user would say. Keep to your facts: never make up a name, a number or a date, and say
that you do not know what they do not tell. Do not talk about these instructions.

Answer with one JSON object and nothing else:
{"goal": your goal, word for word,
 "say": what you say next; empty if you are done,
 "facts": the names of the facts whose values you say in it, as they are written,
 "done": true if you have reached your goal, have to give it up, or `stopWhen` has come true; else false}
"""
"""What a model is told that plays a user; other players may read it in the documentation."""

_LONGEST: Final = 2_000
_ASKED: Final = 2
"""How often a player is asked for one message: what cannot be used is told it, once."""
_OUT_OF_ROLE: Final = re.compile(
    r"^\s*(?:assistant|agent|user)\s*:|\bas an ai\b|\blanguage model\b|\bsimulated user\b|\bmy (?:goal|persona) is\b|"
    r"\bthese instructions\b",
    re.IGNORECASE,
)
_ADDRESS: Final = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+|https?://[^\s\"'<>]+")


class UserError(Exception):
    """A player said nothing that its user could say; the message says why."""


class _Unusable(Exception):
    """An answer that is not of the agreed form, or that this user could not give; the message says why."""


class Exchange(Protocol):
    """One turn of a conversation: what was said, and the answer."""

    @property
    def message(self) -> str:
        """What the user said."""
        ...

    @property
    def response(self) -> AgentResponse:
        """What the agent answered."""
        ...


class _Said(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A player's answer."""

    goal: str
    say: str
    done: bool
    facts: list[str] = []


def answer_schema(user: SimulatedUser) -> dict[str, Any]:
    """The JSON Schema of what a player of this user answers: in this order, so that the end is thought of last."""
    names = list(user.facts)
    name = {"type": "string", "enum": names} if names else {"type": "string"}
    properties = {
        "goal": {"type": "string", "enum": [user.goal]},
        "say": {"type": "string"},
        "facts": {"type": "array", "items": name, "maxItems": len(names)},
        "done": {"type": "boolean"},
    }
    return {"type": "object", "properties": properties, "required": [*properties], "additionalProperties": False}


def _read(text: str) -> _Said:
    """What a player answers.

    Raises:
        _Unusable: it is not of the agreed form.
    """
    try:
        return msgspec.convert(parse_leniently(text), _Said)
    except NotJson as error:
        raise _Unusable(f"it answers with no JSON: {error}") from None
    except msgspec.ValidationError as error:
        raise _Unusable(f"its answer is not of the agreed form: {error}") from None
    except RecursionError:
        raise _Unusable("its answer is nested too deeply") from None


@final
class UserPlayer:
    """Plays one user in one conversation. `played` is what that has taken so far."""

    def __init__(self, session: Session, user: SimulatedUser, *, case_id: str, timeout_ms: float) -> None:
        self._session = session
        self._user = user
        self._case_id = case_id
        self._timeout_ms = timeout_ms
        self.played = PlayedUser()

    async def next(self, turns: Sequence[Exchange]) -> str | None:
        """What the user says after these turns; None if the user is done.

        Raises:
            UserError: whoever plays the user broke, or left its goal, its facts or its role.
        """
        if not turns and self._user.opens is not None:
            return self._user.opens
        if len(turns) >= self._user.max_turns:
            return None
        complaint: str | None = None
        for _ in range(_ASKED):
            response = await self._response(self._request(turns, complaint))
            try:
                said = _read(response.response)
                self._check(said, turns)
            except _Unusable as unusable:
                complaint = shown(str(unusable), 300)
            else:
                return None if said.done else said.say
        raise UserError(complaint)

    def _request(self, turns: Sequence[Exchange], complaint: str | None) -> AgentRequest:
        user = self._user
        messages = [
            {"role": role, "content": text}
            for turn in turns
            for role, text in (("user", turn.message), ("assistant", turn.response.response))
        ]
        exhibit = {
            "goal": user.goal,
            "persona": user.persona,
            "facts": user.facts,
            "stopWhen": user.stop_when,
            "messages": messages,
            **({} if complaint is None else {"complaint": complaint}),
        }
        message = msgspec.json.encode(exhibit).decode()
        return AgentRequest(
            message=message, system=INSTRUCTIONS, case_id=self._case_id, answer_schema=answer_schema(user)
        )

    async def _response(self, request: AgentRequest) -> AgentResponse:
        deadline = asyncio.get_running_loop().time() + self._timeout_ms / 1000
        limit, bound = asyncio.timeout(self._timeout_ms / 1000), bounded(deadline)
        self.played = self.played._replace(requests=self.played.requests + 1)
        try:
            async with limit:
                response = await self._session.send(msgspec.structs.replace(request, deadline=deadline))
        except (KeyboardInterrupt, GeneratorExit):
            raise
        except asyncio.CancelledError:
            if (task := asyncio.current_task()) is None or task.cancelling():
                raise
            raise UserError("it was cancelled from inside") from None
        except BaseException as error:  # a player in Python may raise anything
            if limit.expired() or isinstance(error, AgentTimeout):
                raise UserError(f"no message within {number(self._timeout_ms)} ms") from None
            said = str(error) if isinstance(error, AgentError) else f"{type(error).__name__}: {error}"
            raise UserError(shown(said, 300)) from None
        finally:
            unbounded(bound)
        self._count(response.usage)
        return response

    def _count(self, usage: Usage | None) -> None:
        if usage is not None and usage.cost_usd is not None:
            self.played = self.played._replace(cost_usd=(self.played.cost_usd or 0.0) + usage.cost_usd)

    # --- what such a user could say ---

    def _check(self, said: _Said, turns: Sequence[Exchange]) -> None:
        """Refuse what no such user could say.

        Raises:
            _Unusable: with the reason.
        """
        user = self._user
        if folded(said.goal) != folded(user.goal):
            raise _Unusable(f"it pursues another goal: {quoted(said.goal)}")
        unknown = next((name for name in said.facts if name not in user.facts), None)
        if unknown is not None:
            raise _Unusable(f"it uses the fact {quoted(unknown)}, which it does not have")
        if said.done:
            if not turns:
                raise _Unusable("it is done before it has said anything")
            self._check_goal("\n".join(turn.message for turn in turns))
            return
        self._check_words(said.say, turns)
        self._check_facts(said)

    def _check_goal(self, heard: str) -> None:
        """Refuse to be done before the agent has heard the facts that the goal has."""
        for name, value in self._user.facts.items():
            if says(self._user.goal, value) and not says(heard, value):
                raise _Unusable(f"it is done before it has said {quoted(value)}, its fact {quoted(name)}")

    def _check_facts(self, said: _Said) -> None:
        """Refuse a fact that is used without being said, and another value for a fact."""
        for name in said.facts:
            if not says(said.say, value := self._user.facts[name]):
                raise _Unusable(f"it uses the fact {quoted(name)} and does not say {quoted(value)}")
        for name, value in self._user.facts.items():
            if other := next((given for given in given_for(name, said.say) if not gives(given, value)), None):
                raise _Unusable(f"it says {quoted(other)} for the fact {quoted(name)}, which is {quoted(value)}")

    def _check_words(self, say: str, turns: Sequence[Exchange]) -> None:
        if not say.strip():
            raise _Unusable("it says nothing, and is not done")
        if len(say) > _LONGEST:
            raise _Unusable(f"it says {len(say)} characters at once; {_LONGEST} is the most")
        if (found := _OUT_OF_ROLE.search(say)) is not None:
            raise _Unusable(f"it steps out of its role: {quoted(found[0].strip())}")
        if any(folded(say) == folded(turn.response.response) for turn in turns):
            raise _Unusable(f"it says what the agent said: {quoted(say)}")
        if sum(folded(say) == folded(turn.message) for turn in turns) > 1:
            raise _Unusable(f"it says the same for the third time: {quoted(say)}")
        known = [*self._known(), *(text for turn in turns for text in (turn.message, turn.response.response))]
        if made_up := unfounded_numbers(say, known):
            raise _Unusable(f"it says {quoted(made_up[0])}, which none of its facts has")
        texts = [folded(text) for text in known]
        for address in _ADDRESS.findall(say):
            if not any(folded(address.rstrip(".,;:!?)")) in text for text in texts):
                raise _Unusable(f"it says {quoted(address)}, which none of its facts has")

    def _known(self) -> Sequence[str]:
        user = self._user
        texts = (user.goal, user.persona, user.opens, user.stop_when)
        return [*(text for text in texts if text), *user.facts, *user.facts.values()]
