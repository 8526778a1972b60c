"""Plays a simulated user, and checks that the user could have said what the player says.

Whether words say the value of a fact, word for word or in another form, can be decided wrongly only in the user's
favour: an honest paraphrase must pass more often than a denial is found.
"""

from __future__ import annotations

import asyncio
import re
import unicodedata
from collections.abc import Iterator, Sequence
from typing import Any, Final, final

import msgspec

from evalc.base.errors import AgentError, AgentTimeout, PlayerError
from evalc.base.guard import TimeLimit, is_of_the_run
from evalc.check.texts import NotJson, parse_leniently
from evalc.model.answer import AgentRequest, AgentResponse, AnsweredTurn, PlayedUser, Usage
from evalc.model.case import SimulatedUser
from evalc.runtime.agents import Session
from evalc.runtime.checks.grounding import folded, numbers_in, numbers_in_words, unfounded_numbers
from evalc.runtime.checks.words import number, quoted, shown

_WHOLE_WORDS: Final = 4
"""Up to so many words and numbers of a value all have to be said; of a longer value, half of them."""
_INFLECTED: Final = 4
"""Letters from which on a word may have an ending, as in `nights` and `Oslosta`."""
_LONGEST_ENDING: Final = 4
"""Letters that an ending has at most: `Oslofjord` is another place."""
_SHORTEST_CODE: Final = 4
_WORD: Final = re.compile(r"[^\W\d_]+")
_CODE: Final = re.compile(r"\b[^\W\d_]+\d\w*")
_MINOR: Final = """
    a an and any are as at by for from i in is it me my no none not of on or our per that the their to with without
    yes true false null unknown st nd rd th
"""
"""Words that a paraphrase leaves out or replaces. A value of nothing else, such as `yes`, can be said in any words."""
_MINOR_WORDS: Final = frozenset(_MINOR.split())
_MONTHS: Final = "january february march april may june july august september october november december"
_MONTH_OF: Final = {
    name: number for number, month in enumerate(_MONTHS.split(), 1) for name in (month, month[:3], month[:4])
}
_ISO_DATE: Final = re.compile(r"\b(\d{4})-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])\b")
_DATE: Final = re.compile(r"\b(?:(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})|(\d{1,2})[-/.](\d{1,2})[-/.](\d{4}))\b")
_FULL_HOUR: Final = re.compile(r"(?<=\d)[:.]00\b")
_TWELVE_HOURS: Final = re.compile(r"\b(0?[1-9]|1[0-2])(?:[:.]([0-5]\d))?\s*([ap])\.?m\b", re.IGNORECASE)
_NEGATION: Final = re.compile(
    r"\b(?:no(?!\.?\s*\d)|non|not|none|nor|neither|never|without|cannot)\b|n['\u2019]t\b"
    r"|\b(?:do|does|did|is|are|was|were|wo|ca|would|should|could|have|has|had)nt\b",
    re.IGNORECASE,
)
"""A word that turns a fact round; `no. 7` is a number."""
_EXCLUSION: Final = re.compile(
    r"\b(?:nothing|nobody|nope|zero|free|less|avoid\w*|except\w*|exclud\w+|skip\w*|declin\w+|refus\w+|hat(?:e|es|ed|ing)"
    r"|dislik\w+|allerg\w+|intoleran\w+|against|instead|rather|other|but|only|un\w+|from|after|later|earliest|least"
    r"|before|earlier|latest|until|most|over|under|above|below)\b",
    re.IGNORECASE,
)
"""Other words for a negation, as in `nut-free` and, for `not before 9`, `from 9 on`."""
_SEVERAL: Final = re.compile(r"(?<!\d)/|/(?!\d)|[&+]|\b(?:or|and)\b", re.IGNORECASE)
"""The separators of several values."""
_LIKE_A_VALUE: Final = re.compile(r"\d|(?!I\b)[^\W\d_a-z]\w*")
"""A number, or a word that does not begin with a small letter."""
_YEAR: Final = re.compile(r"\b(?:19|20)\d\d\b")


def says(text: str, value: str) -> bool:
    """Whether a text says the value of a fact.

    Capitals, accents, punctuation, the order of words, their endings, a year, and the unit of a number do not count.
    Numbers and months may be written in words or digits. Negations, am and pm, and the order of an ISO date do.
    """
    text, value = _plain(text), _plain(value)
    if not value.isascii() and value.casefold() in text.casefold():
        return True  # of scripts that do not divide words by spaces
    if any(map(str.isdigit, value)) and len(value) >= _SHORTEST_CODE and _is_in_one_piece(value, text):
        return True
    halves, said_halves = _halves(value), _halves(text)
    if halves and said_halves and halves.isdisjoint(said_halves):
        return False
    text = _with_dates_in_words(_with_24_hours(text), _ISO_DATE.findall(value))
    return any(_says_parts(text, form) for form in {value, _TWELVE_HOURS.sub(_in_24_hours, value)})


def gives(text: str, value: str) -> bool:
    """Whether an outright statement of a fact gives its value, and does not deny it, as `not Oslo` does.

    Neither may it name another value beside it, as `Paris (Oslo)` and `Paris or Oslo` do.
    """
    outside = re.sub(r"\([^()]*\)", " ", text)
    named = [text] if _SEVERAL.search(value) or not outside.strip() else _SEVERAL.split(outside)
    others = (each for each in named if ":" not in each and _LIKE_A_VALUE.search(each))
    if not says(text, value) or not all(says(each, value) for each in others):
        return False
    denied = re.compile(
        rf"(?:{_NEGATION.pattern}|instead of|rather than)[\s-]+(?:(?:a|an|any|at|in|of|on|the|to)\s+)?(\w+)",
        re.IGNORECASE,
    )
    words = {word for word in re.findall(r"\w+", _plain(value).casefold()) if word not in _MINOR_WORDS}
    return _NEGATION.search(value) is not None or words.isdisjoint(
        match[1].casefold() for match in denied.finditer(_plain(text))
    )


def _says_parts(text: str, value: str) -> bool:
    parts = list(_parts(text, _with_dates_in_words(value, [])))
    if len(parts) > _WHOLE_WORDS:
        return sum(parts) >= len(parts) / 2
    if parts and _NEGATION.search(value) and not (_NEGATION.search(text) or _EXCLUSION.search(text)):
        return False
    return all(parts)


def given_for(name: str, text: str) -> Iterator[str]:
    """The value that a text states for a fact of this name, as in `City: Paris`."""
    words = r"[\s_-]+".join(map(re.escape, re.split(r"[\s_-]+", name)))
    pattern = rf"(?:^|[\n.,;])\s*(?:my\s+|the\s+)?{words}\s*[:=]\s*(\S.*?)(?=$|[\n,;]|[.!?](?:\s|$))"
    return (match[1] for match in re.finditer(pattern, text, re.IGNORECASE))


def _parts(text: str, value: str) -> Iterator[bool]:
    """Of each code, number and word that a value needs to be recognised by, whether the text says it."""
    dated = _DATE.search(value) is not None
    text, value = _divided(text), _divided(value)
    codes = [code for code in _CODE.findall(value) if not any(numbers_in(code))]
    yield from (_is_in_one_piece(code, text) for code in codes)
    words = _WORD.findall(text.casefold())
    months = {_MONTH_OF[word] for word in words if word in _MONTH_OF}
    needed = [word for word in _WORD.findall(_CODE.sub(" ", value).casefold()) if word not in _MINOR_WORDS]
    if dated or any(word in _MONTH_OF for word in needed):
        value = _YEAR.sub(" ", value)
    # A hyphen between numbers is not the sign of the second.
    numbers = list(numbers_in(re.sub(r"(?<=\d)-(?=\d)", " ", _FULL_HOUR.sub("", value))))
    yield from (_has(number.text, text, *(months if dated else ())) for number in numbers)
    if not numbers or len(needed) > 1 or not _MONTH_OF.keys().isdisjoint(needed):  # else it is a unit
        yield from (_is_said(word, words, months, text) for word in needed)


def _is_said(word: str, words: list[str], months: set[int], text: str) -> bool:
    if any(other == word or _inflects(word, other) for other in words):
        return True
    if any(_inflects(other, word) and len(other) <= len(word) + _LONGEST_ENDING for other in words):
        return True
    if (month := _MONTH_OF.get(word)) is not None:
        return month in months or _has(str(month), text)
    return any(_has(str(number), text) for number in numbers_in_words(word))


def _has(number: str, *sources: str | int) -> bool:
    """Whether a number is said, and not another number that it is when rounded."""
    return not unfounded_numbers(number, sources, rounded=False)


def _inflects(longer: str, word: str) -> bool:
    """Whether a word is another one with an ending."""
    return len(word) >= _INFLECTED and longer.startswith(word)


def _halves(text: str) -> set[str]:
    """The halves of the day of the times in a text, where it says so."""
    return {time[3].casefold() for time in _TWELVE_HOURS.finditer(text)}


def _with_24_hours(text: str) -> str:
    """The text, and its times of half a day once more as those of a whole one."""
    return " ".join([text, *map(_in_24_hours, _TWELVE_HOURS.finditer(text))])


def _in_24_hours(time: re.Match[str]) -> str:
    hour = int(time[1]) % 12 + (12 if time[3].casefold() == "p" else 0)
    return f"{hour}:{time[2] or '00'}"


def _with_dates_in_words(text: str, only: Sequence[tuple[str, ...]]) -> str:
    """The text with its ISO dates in words; if only some count, without the others."""

    def in_words(date: re.Match[str]) -> str:
        year, month, day = date.groups()
        return "" if only and date.groups() not in only else f"{int(day)} {_MONTHS.split()[int(month) - 1]} {year}"

    return _ISO_DATE.sub(in_words, text)


def _plain(text: str) -> str:
    """The text without accents and underscores."""
    decomposed = unicodedata.normalize("NFKD", text)
    return "".join(" " if each == "_" else each for each in decomposed if not unicodedata.combining(each))


def _divided(text: str) -> str:
    """The text with its dates as numbers of their own, where `-03` and `14.3` are none."""
    return _DATE.sub(lambda date: re.sub(r"\D", " ", date[0]), text)


def _is_in_one_piece(code: str, text: str) -> bool:
    """Whether a code or a telephone number is in a text, which may divide it otherwise."""
    code, text = ("".join(filter(str.isalnum, each.casefold())) for each in (code, text))
    return re.search(rf"(?<!\d){code}(?!\d)", text) is not None


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
"""The instructions of a model that plays a user; authors of other players may read it in the documentation."""

_LONGEST: Final = 2_000
_ASKED: Final = 2
"""How often a player is asked for one message: once more where the first cannot be used."""
_OUT_OF_ROLE: Final = re.compile(
    r"^\s*(?:assistant|agent|user)\s*:|\bas an ai\b|\blanguage model\b|\bsimulated user\b|\bmy (?:goal|persona) is\b|"
    r"\bthese instructions\b",
    re.IGNORECASE,
)
_ADDRESS: Final = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+|https?://[^\s\"'<>]+")


class _Unusable(Exception):
    """An answer that is not of the agreed form, or that this user could not give; the message says why."""


class _Said(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
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
    """The answer of a player.

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

    async def next(self, turns: Sequence[AnsweredTurn]) -> str | None:
        """The message of the user after these turns; None if the user is done.

        Raises:
            PlayerError: whoever plays the user broke, or left its goal, its facts or its role.
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
        raise PlayerError(complaint)

    def _request(self, turns: Sequence[AnsweredTurn], complaint: str | None) -> AgentRequest:
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
        limit = TimeLimit(self._timeout_ms)
        self.played = self.played._replace(requests=self.played.requests + 1)
        try:
            response = await self._session.send(msgspec.structs.replace(request, deadline=limit.begin()))
        except BaseException as error:  # a player in Python may raise anything
            is_late = limit.end()
            if is_of_the_run(error):
                raise
            if is_late or isinstance(error, AgentTimeout):
                raise PlayerError(f"no message within {number(self._timeout_ms)} ms") from None
            if isinstance(error, asyncio.CancelledError):
                raise PlayerError("it was cancelled from inside") from None
            said = str(error) if isinstance(error, AgentError) else f"{type(error).__name__}: {error}"
            raise PlayerError(shown(said, 300)) from None
        else:
            limit.end()
        finally:
            limit.close()
        self._count(response.usage)
        return response

    def _count(self, usage: Usage | None) -> None:
        if usage is not None and usage.cost_usd is not None:
            self.played = self.played._replace(cost_usd=(self.played.cost_usd or 0.0) + usage.cost_usd)

    # --- what such a user could say ---

    def _check(self, said: _Said, turns: Sequence[AnsweredTurn]) -> None:
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

    def _check_words(self, say: str, turns: Sequence[AnsweredTurn]) -> None:
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
