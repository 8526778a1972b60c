"""The demo agent: it reviews code that a message shows, and otherwise answers about the weather with tool calls."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, Final, final

import msgspec

from evalc.model.answer import AgentRequest, AgentResponse, ToolCall
from evalc.runtime.agents.base import Session
from evalc.runtime.agents.demo.review import asks_for_review, review_message
from evalc.runtime.agents.demo.weather import (
    CITIES,
    LONGEST_FORECAST,
    SHORT_UNITS,
    Unit,
    UnknownCity,
    Weather,
    degrees,
    get_forecast,
    get_weather,
)

REFUSAL: Final = "I can only help with the weather and with reviews of Python code."
GREETING: Final = "Hello! Ask me about the weather in a city, or show me Python code to review."
WHICH_CITY: Final = "Which city do you mean?"

_INJECTION = re.compile(
    r"(ignore|disregard|forget)\b.{0,40}\b(instructions?|rules|prompt|above)|system prompt|"
    r"\b(reveal|print|show|tell)\b.{0,40}\b(prompt|password|secrets?|api[ _-]?keys?|credentials)",
    re.IGNORECASE | re.DOTALL,
)
_GREETING = re.compile(r"\s*(hi|hello|hey|good (morning|afternoon|evening))\b|what can you do", re.IGNORECASE)
_WEATHER = re.compile(
    r"\b(weather|forecasts?|temperatures?|degrees|rain\w*|snow\w*|sun(ny)?|cloud\w*|wind\w*|fog\w*|humid\w*|"
    r"umbrella|jacket|coat|hot(ter)?|warm(er)?|cold(er)?|cool(er)?|outside)\b",
    re.IGNORECASE,
)
_FORECAST = re.compile(r"\b(forecasts?|tomorrow|weekend|week|(next|coming) \w+ days?|[\w]+[- ]days?)\b", re.IGNORECASE)
_UMBRELLA = re.compile(r"\b(umbrella|raincoat|rain|raining)\b", re.IGNORECASE)
_COMPARE = re.compile(
    r"\b(compare|warmer|colder|cooler|hotter|versus|vs|difference between|which (city )?is)\b", re.IGNORECASE
)
_JSON = re.compile(r"\bjson\b", re.IGNORECASE)
_FAHRENHEIT = re.compile(r"fahrenheit|°\s*F\b", re.IGNORECASE)
_CELSIUS = re.compile(r"celsius|°\s*C\b", re.IGNORECASE)
_DAYS = re.compile(r"\b(\d{1,6}|one|two|three|four|five|six|seven)[- ]days?\b", re.IGNORECASE)
_NUMBERS: Final = ("one", "two", "three", "four", "five", "six", "seven")

_KNOWN_CITY = re.compile(r"\b(" + "|".join(map(re.escape, CITIES)) + r")\b", re.IGNORECASE)
_NAMED_CITY = re.compile(r"\b(?:in|for|at|than|and|or|to)\s+([A-Z][\w'-]{1,40}(?:\s[A-Z][\w'-]{1,40}){0,2})")
_ANY_CITY = re.compile(r"\b(?:weather|forecast|temperature|like|umbrella) (?:in|for|at) ([a-z][\w'-]{1,40})")
_NO_CITY = re.compile(
    r"(an?|the|my|your|this|that|next|json|celsius|fahrenheit|degrees|today|tomorrow|(mon|tues|wednes|thurs|fri|satur|"
    r"sun)day|weekend|week|all|both|one|two|three|four|five|six|seven)",
    re.IGNORECASE,
)


def answer(message: str) -> AgentResponse:
    """The answer to a message: always the same one."""
    if asks_for_review(message):
        return AgentResponse(response=review_message(message))
    return answer_about_weather(message)


@final
class DemoAgent:
    """A small deterministic agent inside the package, so that a fresh machine runs something real."""

    @property
    def endpoint(self) -> str:
        """`demo`."""
        return "demo"

    @asynccontextmanager
    async def session(self) -> AsyncIterator[Session]:
        """Open a session; the agent has no state."""
        yield self

    async def send(self, request: AgentRequest) -> AgentResponse:
        """Answer a request."""
        return answer(request.message)


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class _Question:
    """What a message asks: about which cities, of which days (0 for now), in which unit, in which form."""

    cities: tuple[str, ...]
    days: int
    unit: Unit | None
    as_json: bool
    compares: bool
    about_rain: bool

    @property
    def answer_unit(self) -> Unit:
        return self.unit or "celsius"


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class _Finding:
    """What the tools said of a city: no days where they do not know it."""

    city: str
    call: ToolCall
    days: tuple[Weather, ...]


def answer_about_weather(message: str) -> AgentResponse:
    """The answer to a message; a polite refusal where it is not about the weather."""
    if _INJECTION.search(message):
        return AgentResponse(response=REFUSAL)
    if not _WEATHER.search(message) and not (_FORECAST.search(message) and _cities(message)):
        return AgentResponse(response=GREETING if _GREETING.match(message) else REFUSAL)
    question = _understand(message)
    if not question.cities:
        return AgentResponse(response=WHICH_CITY)
    findings = [_find(city, question) for city in question.cities]
    response = _as_json(findings, question) if question.as_json else _as_text(findings, question)
    return AgentResponse(response=response, tool_calls=tuple(finding.call for finding in findings))


def _understand(message: str) -> _Question:
    unit: Unit | None = None
    if _FAHRENHEIT.search(message):
        unit = "fahrenheit"
    elif _CELSIUS.search(message):
        unit = "celsius"
    return _Question(
        cities=_cities(message),
        days=_days(message),
        unit=unit,
        as_json=_JSON.search(message) is not None,
        compares=_COMPARE.search(message) is not None,
        about_rain=_UMBRELLA.search(message) is not None,
    )


def _cities(message: str) -> tuple[str, ...]:
    """The cities that a message names, in its order: known ones by their table's name, others as written."""
    by_fold = {city.lower(): city for city in CITIES}
    found = {match.start(1): by_fold[match[1].lower()] for match in _KNOWN_CITY.finditer(message)}
    for pattern in (_NAMED_CITY, _ANY_CITY):
        for match in pattern.finditer(message):
            name = match[1]
            if not _KNOWN_CITY.search(name) and not _NO_CITY.fullmatch(name):
                found.setdefault(match.start(1), name[0].upper() + name[1:])
    return tuple(dict.fromkeys(found[start] for start in sorted(found)))


def _days(message: str) -> int:
    if not _FORECAST.search(message):
        return 0
    if number := _DAYS.search(message):
        word = number[1].lower()
        wanted = int(word) if word.isdigit() else _NUMBERS.index(word) + 1
        return max(1, min(wanted, LONGEST_FORECAST))
    lowered = message.lower()
    for word, days in (("tomorrow", 1), ("weekend", 2), ("week", LONGEST_FORECAST)):
        if word in lowered:
            return days
    return 3


def _find(city: str, question: _Question) -> _Finding:
    params: dict[str, Any] = {"city": city}
    if question.days:
        params["days"] = question.days
    elif question.unit:
        params["unit"] = question.unit
    try:
        days = get_forecast(city, question.days) if question.days else (get_weather(city),)
    except UnknownCity:
        days = ()
    name = "get_forecast" if question.days else "get_weather"
    # A look into the table takes less than a millisecond, and every answer is to be the same.
    call = ToolCall(
        name=name,
        success=bool(days),
        duration_ms=0,
        params=params,
        result=_result(days, question) if days else msgspec.UNSET,
        error=msgspec.UNSET if days else f"no city called {city}",
    )
    return _Finding(city=city, call=call, days=days)


def _result(days: tuple[Weather, ...], question: _Question) -> Any:
    """What a tool gives back: the weather of a day, or of each with its number."""
    records = [_record(day, question.answer_unit) for day in days]
    return [{"day": number, **record} for number, record in enumerate(records, 1)] if question.days else records[0]


def _as_text(findings: Sequence[_Finding], question: _Question) -> str:
    sentences = [_sentence(finding, question) for finding in findings]
    known = [finding for finding in findings if finding.days]
    if question.compares and len(known) > 1:
        sentences.append(_comparison(known, question.answer_unit))
    return " ".join(sentences)


def _sentence(finding: _Finding, question: _Question) -> str:
    city, unit = finding.city, question.answer_unit
    if not finding.days:
        return f"I have no weather data for {city}."
    if not question.days:
        today = finding.days[0]
        text = f"It is {_described(today, unit)} in {city}, with a humidity of {today.humidity}%."
    elif question.days == 1:
        text = f"Tomorrow it will be {_described(finding.days[0], unit)} in {city}."
    else:
        days = "; ".join(f"day {number}: {_described(day, unit)}" for number, day in enumerate(finding.days, 1))
        text = f"The forecast for {city}, {question.days} days: {days}."
    return f"{text} {_advice(finding)}" if question.about_rain else text


def _advice(finding: _Finding) -> str:
    if any(day.is_wet for day in finding.days):
        return f"Yes, take an umbrella in {finding.city}."
    return f"No, you do not need an umbrella in {finding.city}."


def _comparison(findings: Sequence[_Finding], unit: Unit) -> str:
    """Which city is warmest on the first day asked about."""
    first, second, *_ = sorted(findings, key=lambda finding: -finding.days[0].temperature)
    warmer = degrees(first.days[0].temperature, unit) - degrees(second.days[0].temperature, unit)
    if warmer == 0:
        return f"{first.city} and {second.city} are equally warm."
    plural = "" if warmer == 1 else "s"
    return f"{first.city} is warmer than {second.city} by {warmer} degree{plural}."


def _described(day: Weather, unit: Unit) -> str:
    joint = "with" if day.is_wet else "and"
    return f"{degrees(day.temperature, unit)}°{SHORT_UNITS[unit]} {joint} {day.condition}"


def _as_json(findings: Sequence[_Finding], question: _Question) -> str:
    documents = [_document(finding, question) for finding in findings]
    document = documents[0] if len(documents) == 1 else documents
    return msgspec.json.encode(document).decode()


def _document(finding: _Finding, question: _Question) -> dict[str, Any]:
    if not finding.days:
        return {"city": finding.city, "error": "no weather data"}
    days = [_record(day, question.answer_unit) for day in finding.days]
    return {"city": finding.city, "days": days} if question.days else {"city": finding.city, **days[0]}


def _record(day: Weather, unit: Unit) -> dict[str, Any]:
    return {
        "temperature": degrees(day.temperature, unit),
        "unit": unit,
        "condition": day.condition,
        "humidity": day.humidity,
    }
