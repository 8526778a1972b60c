"""The demo agent: the same answers everywhere about weather and Python code, without a key."""

from __future__ import annotations

import ast
import itertools
import re
import textwrap
import threading
import warnings
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager
from typing import Any, Final, Literal, final

import msgspec

from evalc.base.terminal import counted
from evalc.model.answer import AgentRequest, AgentResponse, ToolCall
from evalc.runtime.agents import Session

# --- the weather -----------------------------------------------------------------------------------------------------


Unit = Literal["celsius", "fahrenheit"]

SHORT_UNITS: Final[dict[Unit, str]] = {"celsius": "C", "fahrenheit": "F"}
LONGEST_FORECAST: Final = 7


@final
class Weather(msgspec.Struct, frozen=True):
    """The weather of a day: temperature in degrees Celsius, relative humidity in percent."""

    condition: str
    temperature: int
    humidity: int

    @property
    def is_wet(self) -> bool:
        """Whether one would want an umbrella."""
        return self.condition in ("rain", "drizzle", "showers", "thunderstorms", "snow")


CITIES: Final[dict[str, Weather]] = {
    "Berlin": Weather("rain", 12, 81),
    "Cairo": Weather("sunny", 33, 24),
    "Lima": Weather("drizzle", 18, 85),
    "London": Weather("rain", 13, 84),
    "Madrid": Weather("sunny", 27, 35),
    "Mumbai": Weather("thunderstorms", 30, 88),
    "Nairobi": Weather("partly cloudy", 24, 55),
    "New York": Weather("windy", 16, 58),
    "Oslo": Weather("snow", -2, 76),
    "Paris": Weather("cloudy", 17, 66),
    "Reykjavik": Weather("showers", 5, 79),
    "San Francisco": Weather("foggy", 15, 82),
    "Sydney": Weather("sunny", 22, 52),
    "Tokyo": Weather("clear", 21, 48),
}

# How many degrees a day is warmer than today, and whether its weather turns.
_TREND: Final = ((1, False), (2, False), (-1, True), (-3, True), (0, False), (1, False), (2, False))
_TURNS: Final = {
    "sunny": "partly cloudy",
    "clear": "cloudy",
    "partly cloudy": "showers",
    "cloudy": "rain",
    "foggy": "sunny",
    "windy": "rain",
    "snow": "cloudy",
}


def get_forecast(city: str, days: int) -> tuple[Weather, ...]:
    """The weather of the coming days, tomorrow first, at most seven; for 0 that of today. Empty for an unknown city."""
    today = CITIES.get(city)
    if today is None or not days:
        return () if today is None else (today,)
    return tuple(
        Weather(
            condition=_TURNS.get(today.condition, "partly cloudy") if turns else today.condition,
            temperature=today.temperature + warmer,
            humidity=today.humidity,
        )
        for warmer, turns in _TREND[:days]
    )


def degrees(temperature: int, unit: Unit) -> int:
    """A temperature in degrees Celsius in the unit asked for, rounded."""
    return temperature if unit == "celsius" else round(temperature * 9 / 5 + 32)


# --- reviews of code -------------------------------------------------------------------------------------------------


NO_CODE: Final = "Please show me the Python code that I should review."

_REVIEW: Final = re.compile(r"\breview\w*\b", re.IGNORECASE)
_CODE_WORD: Final = re.compile(
    r"\b(code|python|function|class|script|snippet|module|pull request|diff)\b", re.IGNORECASE
)
_FENCED: Final = re.compile(r"```[ \t]*(?:\w+[ \t]*\n|\n)?(.*?)(?:```|\Z)", re.DOTALL)
_CODE_START: Final = re.compile(
    r"(?:async[ \t]+def|def|class|import|from|try|with|for|while|if|@\w+)\b[^\n]*", re.MULTILINE
)

_MOST_STARTS: Final = 8

# Changing the warning filters is not safe in threads, and the server has many.
_filters = threading.Lock()


@final
class _Remark(msgspec.Struct, frozen=True, order=True):
    line: int
    issue: str
    suggestion: str


def asks_for_review(message: str) -> bool:
    """Whether the message wants a review of code, shown or not."""
    return bool(_REVIEW.search(message)) and bool(_CODE_WORD.search(message) or _shown_code(message))


def review_message(message: str) -> str:
    """The review of the code that the message shows: a summary, the issues and suggestions."""
    code = _shown_code(message)
    if not code.strip():
        return NO_CODE
    try:
        tree = _parse(code)
    except SyntaxError as error:
        return (
            f"Summary: the code is not valid Python.\n\nIssues:\n- line {error.lineno or 1}: syntax error: {error.msg}"
        )
    except (ValueError, RecursionError, MemoryError):
        return "Summary: the code cannot be read as Python."
    return _written(tree, sorted(set(_remarks(tree))))


def _shown_code(message: str) -> str:
    """The part of the message that is code: between fences, else from where it begins to look like code."""
    if fenced := _FENCED.search(message):
        return textwrap.dedent(fenced[1]).strip("\n")
    # Prose has words like `for` and `if` too, so the first part that can be parsed wins; a bound keeps this linear.
    starts = itertools.islice(_CODE_START.finditer(message), _MOST_STARTS)
    candidates = [message[start.start() :] for start in starts]
    if ":" in message:
        candidates.append(message.partition(":")[2])
    for candidate in candidates:
        if _parses(candidate):
            return textwrap.dedent(candidate).strip()
    looks_like_code = (text for text in candidates if re.match(r"\s*(def|class|import|@)\b", text))
    return next(looks_like_code, "")


def _parses(code: str) -> bool:
    try:
        tree = _parse(textwrap.dedent(code).strip())
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return any(not isinstance(node, ast.Expr | ast.AnnAssign) or isinstance(node.value, ast.Call) for node in tree.body)


def _parse(code: str) -> ast.Module:
    with _filters, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(code)


def _written(tree: ast.Module, remarks: Sequence[_Remark]) -> str:
    functions = sum(isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) for node in ast.walk(tree))
    classes = sum(isinstance(node, ast.ClassDef) for node in ast.walk(tree))
    found = f"{counted(functions, 'function')}, {counted(classes, 'class', 'es')}"
    if not remarks:
        return f"Summary: {found}; no issues found. The code looks good."
    issues = "\n".join(f"- line {remark.line}: {remark.issue}" for remark in remarks)
    suggestions = "\n".join(f"- {text}" for text in dict.fromkeys(remark.suggestion for remark in remarks))
    return f"Summary: {found}; {counted(len(remarks), 'issue')}.\n\nIssues:\n{issues}\n\nSuggestions:\n{suggestions}"


def _remarks(tree: ast.Module) -> Iterator[_Remark]:
    for node in ast.walk(tree):
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                yield from (*_of_docstring(node), *_of_type_hints(node), *_of_defaults(node))
            case ast.ClassDef():
                yield from _of_docstring(node)
            case ast.ExceptHandler():
                yield from _of_handler(node)
            case ast.Call(func=ast.Name(id="eval" | "exec" as name)):
                better = f"Consider replacing `{name}`, for data with `ast.literal_eval` or `json.loads`."
                yield _Remark(node.lineno, f"`{name}` runs any code that its text holds", better)
            case ast.Compare(ops=[ast.Eq() | ast.NotEq()], comparators=[ast.Constant(value=None)]):
                better = "Consider `is None` or `is not None`."
                yield _Remark(node.lineno, "comparison with `None` by equality", better)
            case ast.ImportFrom(names=[ast.alias(name="*")]):
                yield _Remark(node.lineno, "wildcard import", "Consider importing the names that are used.")


def _of_docstring(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> Iterator[_Remark]:
    if ast.get_docstring(node) is None:
        better = f"Consider adding a docstring to `{node.name}`."
        yield _Remark(node.lineno, f"missing docstring in `{node.name}`", better)


def _of_type_hints(node: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[_Remark]:
    for parameter in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs):
        if parameter.annotation is None and parameter.arg not in ("self", "cls"):
            named = f"`{parameter.arg}` of `{node.name}`"
            better = f"Consider adding a type hint to {named}."
            yield _Remark(parameter.lineno, f"missing type hint for {named}", better)
    if node.returns is None and node.name != "__init__":
        better = f"Consider adding a type hint for what `{node.name}` returns."
        yield _Remark(node.lineno, f"missing return type hint of `{node.name}`", better)


def _of_defaults(node: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[_Remark]:
    for default in (*node.args.defaults, *node.args.kw_defaults):
        match default:
            case (ast.List() | ast.Dict() | ast.Set() | ast.ListComp() | ast.DictComp() | ast.SetComp()) | ast.Call(
                func=ast.Name(id="list" | "dict" | "set")
            ):
                better = "Consider `None` as the default, and a new value inside the function."
                yield _Remark(default.lineno, f"mutable default argument in `{node.name}`", better)


def _of_handler(node: ast.ExceptHandler) -> Iterator[_Remark]:
    if node.type is None:
        better = "Consider naming the exceptions that you expect."
        yield _Remark(node.lineno, "bare `except` catches everything, Ctrl-C included", better)
    if all(isinstance(statement, ast.Pass) for statement in node.body):
        better = "Consider handling the exception, or logging it."
        yield _Remark(node.lineno, "the exception is swallowed", better)


# --- the agent -------------------------------------------------------------------------------------------------------


REFUSAL: Final = "I can only help with the weather and with reviews of Python code."
GREETING: Final = "Hello! Ask me about the weather in a city, or show me Python code to review."
WHICH_CITY: Final = "Which city do you mean?"

_INJECTION: Final = re.compile(
    r"(ignore|disregard|forget)\b.{0,40}\b(instructions?|rules|prompt|above)|system prompt|"
    r"\b(reveal|print|show|tell)\b.{0,40}\b(prompt|password|secrets?|api[ _-]?keys?|credentials)",
    re.IGNORECASE | re.DOTALL,
)
_GREETING: Final = re.compile(r"\s*(hi|hello|hey|good (morning|afternoon|evening))\b|what can you do", re.IGNORECASE)
_WEATHER: Final = re.compile(
    r"\b(weather|forecasts?|temperatures?|degrees|rain\w*|snow\w*|sun(ny)?|cloud\w*|wind\w*|fog\w*|humid\w*|"
    r"umbrella|jacket|coat|hot(ter)?|warm(er)?|cold(er)?|cool(er)?|outside)\b",
    re.IGNORECASE,
)
_FORECAST: Final = re.compile(
    r"\b(forecasts?|tomorrow|weekend|week|(next|coming) \w+ days?|[\w]+[- ]days?)\b", re.IGNORECASE
)
_UMBRELLA: Final = re.compile(r"\b(umbrella|raincoat|rain|raining)\b", re.IGNORECASE)
_COMPARE: Final = re.compile(
    r"\b(compare|warmer|colder|cooler|hotter|versus|vs|difference between|which (city )?is)\b", re.IGNORECASE
)
_JSON: Final = re.compile(r"\bjson\b", re.IGNORECASE)
_FAHRENHEIT: Final = re.compile(r"fahrenheit|°\s*F\b", re.IGNORECASE)
_CELSIUS: Final = re.compile(r"celsius|°\s*C\b", re.IGNORECASE)
_DAYS: Final = re.compile(r"\b(\d{1,6}|one|two|three|four|five|six|seven)[- ]days?\b", re.IGNORECASE)
_NUMBERS: Final = ("one", "two", "three", "four", "five", "six", "seven")

_KNOWN_CITY: Final = re.compile(r"\b(" + "|".join(map(re.escape, CITIES)) + r")\b", re.IGNORECASE)
_NAMED_CITY: Final = re.compile(r"\b(?:in|for|at|than|and|or|to)\s+([A-Z][\w'-]{1,40}(?:\s[A-Z][\w'-]{1,40}){0,2})")
_ANY_CITY: Final = re.compile(r"\b(?:weather|forecast|temperature|like|umbrella) (?:in|for|at) ([a-z][\w'-]{1,40})")
_NO_CITY: Final = re.compile(
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

    endpoint = "demo"

    @asynccontextmanager
    async def session(self) -> AsyncIterator[Session]:
        """Open a session; the agent has no state."""
        yield self

    async def send(self, request: AgentRequest) -> AgentResponse:
        """Answer a request."""
        return answer(request.message)


@final
class _Question(msgspec.Struct, frozen=True, kw_only=True):
    """The question of a message: about which cities, of which days (0 for now), in which unit, in which form."""

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
class _Finding(msgspec.Struct, frozen=True, kw_only=True):
    """The result of the tools for a city: no days if they do not know it."""

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
    if question.as_json:
        documents = [_document(finding, question) for finding in findings]
        response = msgspec.json.encode(documents if len(documents) > 1 else documents[0]).decode()
    else:
        response = _as_text(findings, question)
    return AgentResponse(response=response, tool_calls=tuple(finding.call for finding in findings))


def _understand(message: str) -> _Question:
    units: tuple[tuple[Unit, re.Pattern[str]], ...] = (("fahrenheit", _FAHRENHEIT), ("celsius", _CELSIUS))
    return _Question(
        cities=_cities(message),
        days=_days(message),
        unit=next((unit for unit, pattern in units if pattern.search(message)), None),
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
        days = int(word) if word.isdigit() else _NUMBERS.index(word) + 1
        return max(1, min(days, LONGEST_FORECAST))
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
    days = get_forecast(city, question.days)
    records = [_record(day, question.answer_unit) for day in days]
    numbered = [{"day": number, **record} for number, record in enumerate(records, 1)]
    # A look into the table takes less than a millisecond, and every answer is to be the same.
    call = ToolCall(
        name="get_forecast" if question.days else "get_weather",
        success=bool(days),
        duration_ms=0,
        params=params,
        result=(numbered if question.days else records[0]) if days else msgspec.UNSET,
        error=msgspec.UNSET if days else f"no city called {city}",
    )
    return _Finding(city=city, call=call, days=days)


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
    advice = "Yes, take" if any(day.is_wet for day in finding.days) else "No, you do not need"
    return f"{text} {advice} an umbrella in {city}." if question.about_rain else text


def _comparison(findings: Sequence[_Finding], unit: Unit) -> str:
    """The city that is warmest on the first day asked about."""
    first, second, *_ = sorted(findings, key=lambda finding: -finding.days[0].temperature)
    warmer = degrees(first.days[0].temperature, unit) - degrees(second.days[0].temperature, unit)
    if warmer == 0:
        return f"{first.city} and {second.city} are equally warm."
    plural = "" if warmer == 1 else "s"
    return f"{first.city} is warmer than {second.city} by {warmer} degree{plural}."


def _described(day: Weather, unit: Unit) -> str:
    joint = "with" if day.is_wet else "and"
    return f"{degrees(day.temperature, unit)}°{SHORT_UNITS[unit]} {joint} {day.condition}"


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


def run_forever(host: str, port: int, *, ready: Callable[[str], None]) -> None:
    """Serve the agent over HTTP until interrupted; `ready` is first called with the URL.

    Raises:
        OSError: when the port cannot be had.
    """
    from evalc.extras.demo.server import DemoServer  # noqa: PLC0415 - for start-up: most runs ask it in their process

    with DemoServer(host, port, answer) as server:
        ready(server.url)
        server.serve_forever()
