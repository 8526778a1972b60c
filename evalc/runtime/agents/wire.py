"""Encodes and hashes requests to agents as JSON, and decodes answers of the agreed shape, or by configured paths.

The agreed shape is the contract's AgentResponse, `{response, toolCalls: [{name, success, durationMs, params}]}`,
or `{text, toolsCalled}`, whose tools may be bare names. Unknown keys are ignored, and keys may be written in
snake_case. A lone surrogate, which JSON can spell and UTF-8 cannot, becomes U+FFFD, as in JavaScript's
`toWellFormed`: whatever reads an answer may encode it.

An answer with an `error` is no answer, and a call has its parameters under one key: what an agent says must never be
dropped where a check would then pass.
"""

from __future__ import annotations

import hashlib
import inspect
import json
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from math import isfinite
from types import NoneType, UnionType
from typing import Any, Final, NoReturn

import msgspec

from evalc.base.errors import AgentError, AgentProtocolError
from evalc.base.json_fault import RepeatedKey, unique_keys
from evalc.base.terminal import excerpt, well_formed
from evalc.model.answer import AgentRequest, AgentResponse, ToolCall, Usage
from evalc.model.json import is_number
from evalc.model.numbers import shown_number
from evalc.runtime.mapping import AnswerPaths, JsonPath, NotSearchable

CALLS: Final = ("toolCalls", "tool_calls", "toolsCalled", "tools_called")
"""The keys under which an answer may have its tool calls; the first that holds some counts."""
PARAMS: Final = ("params", "arguments", "args", "input", "parameters")
"""The keys under which a call may have its parameters: the contract's, and those of OpenAI, LangChain and Anthropic."""


# --- requests --------------------------------------------------------------------------------------------------------


def request_fields(request: AgentRequest) -> dict[str, Any]:
    """`{"message": ...}`, and `"messages"` where the case has them; of a conversation, its id as `"session"`."""
    fields: dict[str, Any] = {"message": request.message}
    if request.messages:
        fields["messages"] = [dict(message) for message in request.messages]
    if request.conversation is not None:
        fields["session"] = request.conversation
    return fields


def encode_request(request: AgentRequest) -> bytes:
    """The request as JSON in UTF-8."""
    if not request.messages:
        # Most are this simple, and a run sends many.
        return msgspec.json.encode({"message": well_formed(request.message)})
    return encode_body(request_fields(request))


def encode_body(body: object) -> bytes:
    """The body of a request as JSON in UTF-8."""
    return msgspec.json.encode(json_value(body, "request"))


def sent_fields(request: AgentRequest) -> dict[str, Any]:
    """The fields of a request that an agent is sent, by the names that the case model has for it."""
    fields: dict[str, Any] = {
        "message": request.message,
        "messages": list(map(dict, request.messages)),
        "system": request.system,
        "stubs": request.stubs,
        "maxTurns": request.max_turns,
        "inputs": dict(request.inputs),
    }
    if request.stub_answers is not None:
        fields["stubAnswers"] = msgspec.to_builtins(request.stub_answers)
    if request.follow_ups:
        fields["followUps"] = list(request.follow_ups)
    if request.user is not None:
        fields["user"] = request.user
    if request.files:
        fields["files"] = dict(request.files)
    if request.skill is not None:
        fields["skill"] = request.skill
    return fields


def fingerprint_of(request: AgentRequest) -> str:
    """The hash of what of a request an agent is sent."""
    return fingerprint(sent_fields(request))


def fingerprint(fields: Mapping[str, Any]) -> str:
    """The hash of fields, 128 bits in hexadecimal; the order of keys does not count."""
    try:
        json = msgspec.json.encode(fields, order="sorted")
    except UnicodeEncodeError:  # half a surrogate pair
        json = msgspec.json.encode(json_value(fields, "request"), order="sorted")
    return hashlib.blake2b(json, digest_size=16).hexdigest()


# --- answers ---------------------------------------------------------------------------------------------------------

_MOST_NAMES: Final = 12
_FIELDS: Final = ("response", "text", *CALLS, "usage", "error")
_CALL_FIELDS: Final = ("name", "success", "durationMs", "duration_ms", *PARAMS, "result", "error")
_USAGE_FIELDS: Final = ("inputTokens", "input_tokens", "outputTokens", "output_tokens", "costUsd", "cost_usd")
_BY_NAMES: Final = AnswerPaths()
_OR_MAP: Final = ", or map them (`agent.response.params` in the configuration)"


def answer_fields(response: AgentResponse) -> dict[str, Any]:
    """The response as `{response, toolCalls}`, ready for JSON."""
    return {"response": response.response, "toolCalls": [msgspec.to_builtins(call) for call in response.tool_calls]}


def decode_answer(body: bytes, paths: AnswerPaths = _BY_NAMES) -> AgentResponse:
    """Read an answer that is JSON text. What has a path is taken from there, all else from where the contract has it.

    Raises:
        AgentProtocolError: it is not JSON, not of that shape, or a path finds nothing; it carries the body, shortened.
        AgentError: it has an `error`.
    """
    try:
        document = decode_json(body)
        return answer_of(document if paths == _BY_NAMES else _mapped(document, paths))
    except AgentProtocolError as error:
        raise AgentProtocolError(str(error), excerpt(body)) from None


def answer_of(answer: object) -> AgentResponse:
    """Read an answer that is a text, a mapping of the agreed shape, or an object with these attributes.

    Raises:
        AgentProtocolError: it is none of these; it names the key and what was found there.
        AgentError: it has an `error`, whatever else is in it.
    """
    if isinstance(answer, str):
        return AgentResponse(response=well_formed(answer), reports_calls=False)
    fields = _fields_of(answer, _FIELDS, "the answer")
    if (failure := reported_failure(fields)) is not None:
        raise AgentError(f"the answer has {failure}")
    near = _near_calls(fields)
    response = AgentResponse(
        response=_text(fields, answer),
        tool_calls=_tool_calls(fields),
        usage=_usage(fields.get("usage")),
        reports_calls=calls_in(fields) is not None and near is None,
        near_calls=near,
    )
    if isinstance(answer, AgentResponse):
        return msgspec.structs.replace(
            answer, response=response.response, tool_calls=response.tool_calls, usage=response.usage
        )
    return response


def _text(fields: Mapping[str, Any], answer: object) -> str:
    for key in ("response", "text"):
        if key in fields:
            if not isinstance(fields[key], str):
                raise AgentProtocolError(f"{_wrong(key, fields[key], 'a text')}{_others(answer)}")
            return well_formed(fields[key])
    raise AgentProtocolError(
        f"the answer has neither `response` nor `text`{_others(answer)}; name the field with its text in "
        '`[agent.response]` of the configuration, as in `response = "output.text"`'
    )


def _others(answer: object) -> str:
    """The names that an answer has, for a message that none of them is known as its text."""
    names = list(answer) if isinstance(answer, Mapping) else list(getattr(answer, "__dict__", ()))
    if not isinstance(answer, Mapping):
        names += [name for name, held in inspect.getmembers_static(type(answer)) if isinstance(held, property)]
    listed = [f"`{excerpt(str(name))}`" for name in names if not str(name).startswith("_")]
    return f"; it has {', '.join(listed[:_MOST_NAMES])}" if listed else ""


def calls_in(fields: Mapping[str, Any]) -> tuple[str, Any] | None:
    """The tool calls, unread, with their key; None if there are none."""
    given = [(key, calls) for key in CALLS if (calls := fields.get(key)) is not None]
    return next((found for found in given if found[1]), given[0] if given else None)


def _tool_calls(fields: Mapping[str, Any]) -> tuple[ToolCall, ...]:
    if (found := calls_in(fields)) is None:
        return ()
    key, calls = found
    if not isinstance(calls, Sequence) or isinstance(calls, str | bytes):
        raise _wrong(key, calls, "a list")
    return tuple(_tool_call(call, f"{key}[{index}]") for index, call in enumerate(calls))


def _tool_call(call: object, place: str) -> ToolCall:
    if isinstance(call, str):
        return ToolCall(name=well_formed(call))
    fields = _fields_of(call, _CALL_FIELDS, f"`{place}`")
    name = fields.get("name")
    if not isinstance(name, str):
        raise _wrong(f"{place}.name", name, "a text")
    success = fields.get("success")
    if success is not None and not isinstance(success, bool):
        raise _wrong(f"{place}.success", success, "true or false")
    duration = fields.get("durationMs", fields.get("duration_ms"))
    if duration is not None and not is_number(duration):
        raise _wrong(f"{place}.durationMs", duration, "a number")
    # Of evalc's own calls `arguments` are what the model wrote where that is no JSON object.
    arguments = call.arguments if isinstance(call, ToolCall) else None
    params = _params({"params": call.params} if isinstance(call, ToolCall) else fields, place)
    result, error = fields.get("result", msgspec.UNSET), _error_of(fields.get("error"), place)
    if success is None and error is msgspec.UNSET and (near := _near(fields, _NEAR_ERRORS, bool)) is not None:
        error = _error_of(fields[near], place)
    if success is None and (error is not msgspec.UNSET or _near(fields, _FAILED, lambda value: value is True)):
        success = False
    return ToolCall(
        name=well_formed(name),
        success=success,
        duration_ms=duration,
        params=params,
        arguments=arguments,
        result=result if result is msgspec.UNSET else json_value(result, f"{place}.result"),
        error=error,
    )


def _params(fields: Mapping[str, Any], place: str) -> dict[str, Any]:
    """The parameters of a call, wherever they are: an object, or a text that holds one as JSON."""
    given = [key for key in PARAMS if fields.get(key) is not None]
    if len(given) > 1:
        raise AgentProtocolError(f"`{place}` has both `{given[0]}` and `{given[1]}`: send only its parameters{_OR_MAP}")
    if not given:
        if (near := _near(fields, _NEAR_PARAMS, _holds_params)) is not None:
            raise AgentProtocolError(f"`{place}` has `{near}` and no `params`: call them `params`{_OR_MAP}")
        return {}
    (key,) = given
    value = fields[key]
    if isinstance(value, str):
        value = _params_of(value)
    if not isinstance(value, Mapping | None):
        raise _wrong(f"{place}.{key}", value, "an object")
    params: dict[str, Any] = json_value(value or {}, f"{place}.{key}")
    return params


def _holds_params(value: object) -> bool:
    """Whether a value is not empty, as text of JSON either."""
    return value.strip() not in ("", "{}", "[]", "null") if isinstance(value, str) else bool(value)


def _params_of(text: str) -> object:
    """The parameters that a text of JSON holds, as model providers send them; an empty text holds none."""
    try:
        return decode_unambiguous(text.encode(errors="surrogatepass")) if text.strip() else None
    except AgentProtocolError as error:
        why = str(error).removeprefix("the answer ")
        raise AgentProtocolError(f"the parameters of a tool call are a text that {why}: {excerpt(text)}") from None


def _error_of(error: object, place: str) -> str | msgspec.UnsetType:
    """The error of a tool that failed, as a text; unset if there is no error."""
    if error is None or error is msgspec.UNSET or error is False or error == "":
        return msgspec.UNSET
    if isinstance(error, str):
        return well_formed(error)
    return msgspec.json.encode(json_value(error, f"{place}.error")).decode()


def _usage(usage: object) -> Usage | None:
    """The usable part of `usage`. It is not part of the contract: values that are not numbers are ignored."""
    if usage is None:
        return None
    try:
        fields = _fields_of(usage, _USAGE_FIELDS, "`usage`")
    except AgentProtocolError:
        return None
    cost = fields.get("costUsd", fields.get("cost_usd"))
    found = Usage(
        input_tokens=_number_of(fields.get("inputTokens", fields.get("input_tokens"))),
        output_tokens=_number_of(fields.get("outputTokens", fields.get("output_tokens"))),
        cost_usd=cost if is_number(cost) else None,
    )
    return None if found == Usage() else found


def _number_of(value: object) -> Any:
    """The value where it is a number; one without a fraction as an integer."""
    if not is_number(value):
        return None
    return int(value) if isinstance(value, float) and value.is_integer() else value


def count_of(value: object) -> int | None:
    """The value where it is a count."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def _fields_of(value: object, known: Sequence[str], place: str) -> Mapping[str, Any]:
    """The value itself when it is a mapping, else its attributes of the known names or of near ones."""
    if isinstance(value, Mapping):
        return value
    fields = {name: getattr(value, name) for name in known if hasattr(value, name)}
    near = [name for name in dir(value) if bare(name) in _NEAR]
    fields |= {name: held for name in near if not callable(held := getattr(value, name, None))}
    if not fields:
        if place == "the answer" and (others := _others(value)):
            raise AgentProtocolError(f"{place} is {kind_of(value)} with neither `response` nor `text`{others}")
        expected = "an object or a text" if place == "the answer" else "an object"
        advice = "; join its pieces to one text" if hasattr(value, "__next__") or hasattr(value, "__anext__") else ""
        raise AgentProtocolError(f"{place} is {kind_of(value)}, not {expected}{advice}")
    return fields


# --- answers of an agent's own shape ---------------------------------------------------------------------------------


def _mapped(document: object, paths: AnswerPaths) -> dict[str, Any]:
    fields = dict(document) if isinstance(document, Mapping) else {}
    if paths.response is not None:
        text = fields["response"] = _required(paths.response, document, "response")
        if not isinstance(text, str):
            advice = f"; `{paths.response.text} | [0]` is the first of them" if isinstance(text, list) else ""
            found = f"finds {kind_of(text)}, not a text"
            raise AgentProtocolError(f"the path `{paths.response.text}` of `response` {found}{advice}")
    if paths.tool_calls is not None:
        while (near := near_calls_in(fields)) is not None:
            del fields[near]
        fields["toolCalls"] = _required(paths.tool_calls, document, "toolCalls")
    _, calls = calls_in(fields) or ("", None)
    if isinstance(calls, list):
        fields["toolCalls"] = [mapped_call(call, paths) for call in calls]
    usage = {
        "inputTokens": value_at(paths.input_tokens, document),
        "outputTokens": value_at(paths.output_tokens, document),
        "costUsd": value_at(paths.cost_usd, document),
    }
    if any(value is not None for value in usage.values()):
        fields["usage"] = usage
    return fields


def mapped_call(call: object, paths: AnswerPaths) -> object:
    """A tool call, its fields under the names that the contract has for them.

    Raises:
        AgentProtocolError: when a path finds nothing.
    """
    fields = dict(call) if isinstance(call, Mapping) else {}
    if paths.params is not None:
        fields = {key: value for key, value in fields.items() if key not in PARAMS}
    for name, path in (
        ("name", paths.name),
        ("success", paths.success),
        ("durationMs", paths.duration_ms),
        ("params", paths.params),
    ):
        if path is not None:
            fields[name] = _required(path, call, name)
    for name, path in (("result", paths.result), ("error", paths.error)):
        if (value := value_at(path, call)) is not None:
            fields[name] = value
    return fields or call


def _required(path: JsonPath, document: object, key: str) -> Any:
    value = value_at(path, document)
    if value is None:
        raise AgentProtocolError(f"the path `{path.text}` of `{key}` matches nothing")
    return value


def value_at(path: JsonPath | None, document: object) -> Any:
    """The value that a path finds; None if there is nothing, or no path.

    Raises:
        AgentProtocolError: when it cannot be applied to what is there.
    """
    try:
        return None if path is None else path.find(document)
    except NotSearchable as error:
        raise AgentProtocolError(f"the path {error}") from None


# --- calls and errors under names that are near ----------------------------------------------------------------------

_NEAR_CALLS: Final = frozenset(
    f"{before}{name}{after}"
    for name in ("tool", "tools", "function", "functions")
    for before, after in (
        *(("", "call"), ("", "calls"), ("", "called"), ("called", ""), ("", "use"), ("", "uses"), ("", "used")),
        *(("used", ""), ("", "invocation"), ("", "invocations")),
    )
) | {"tools", "calls"}
_OFFERED: Final = ("tools", "functions")
_HOLDS_NO_CALLS: Final = frozenset((*_OFFERED, *PARAMS, "usage", "tool_choice", "logprobs"))
_CALL_TYPE: Final = re.compile(
    r"(?i)(?:^|[._-])(?:tool|function)(?:$|[._-])|(?:tool|function)[._-]?(?:calls?|use[sd]?|invocations?)|_call(?:$|[._-])|_use$"
)
_RESULT_TYPE: Final = re.compile(r"(?i)result|output|list|approval|fail|error|reference|[_-]response$")
_NEAR_PARAMS: Final = frozenset(
    f"{owner}{name}"
    for owner in ("", "tool", "call", "function")
    for name in (*PARAMS, "param", "parameter", "argument", "arg", "inputs", "kwargs")
)
_NEAR_ERRORS: Final = frozenset(
    ("error", "errors", "err", "errormessage", "errormsg", "exception", "exceptions", "exceptionmessage", "failure")
)
_FAILED: Final = frozenset(("iserror", "haserror", "failed", "hasfailed"))
"""The flags of calls that failed, such as that of MCP."""
_NEAR: Final = _NEAR_CALLS | _NEAR_PARAMS | _NEAR_ERRORS | _FAILED


def _near_calls(fields: Mapping[str, Any]) -> str | None:
    """A key that probably holds tool calls that nobody reads.

    Where an agreed key is there, `tools` are those on offer, and what has the same value says the same.
    """
    if (found := calls_in(fields)) is None:
        return near_calls_in(fields) or unread_call_in(fields)
    others = {key: value for key, value in fields.items() if value and value != found[1] and key not in _OFFERED}
    return near_calls_in(others)


def near_calls_in(fields: Mapping[str, Any]) -> str | None:
    """A key that is not one for tool calls and probably holds some: a list, an object, or either as JSON in a text."""
    return _near(fields, _NEAR_CALLS, lambda value: isinstance(value, list | tuple | Mapping) or _is_json(value))


def refuse_unread_calls(answer: object, read: Iterable[object] = ()) -> None:
    """Refuse an answer, or an event of one, that has something like a tool call which is none of those that were read.

    Raises:
        AgentProtocolError: it has one.
    """
    if (place := unread_call_in(answer, read)) is not None:
        raise AgentProtocolError(f"`{place}` looks like a tool call, and evalc does not read it")


def unread_call_in(answer: object, read: Iterable[object] = ()) -> str | None:
    """The place of something like a tool call, however deep: a key, or a mapping with a `type`, like that of calls.

    Args:
        answer: the answer as JSON, or an event of one.
        read: the values in it that were read as calls, or that need not be.
    """
    known = {id(value) for value in read}
    seen: set[int] = set()  # what Python code returns may hold itself
    pending = [("", answer)]
    while pending:
        place, value = pending.pop()
        if id(value) in seen:
            continue
        if isinstance(value, list | Mapping):
            seen.add(id(value))
        if isinstance(value, list):
            pending += [(f"{place}[{index}]", item) for index, item in enumerate(value)]
        elif isinstance(value, Mapping) and id(value) not in known:
            type_ = value.get("type")
            if isinstance(type_, str) and _RESULT_TYPE.search(type_):
                continue
            if isinstance(type_, str) and is_call_type(type_):
                return place or excerpt(type_)
            for key, held in value.items():
                inside = f"{place}.{key}" if place else str(key)
                is_read = id(held) in known or (isinstance(held, list) and all(id(item) in known for item in held))
                if not is_read and key not in _OFFERED and near_calls_in({key: held or None}) is not None:
                    return inside
                if key not in _HOLDS_NO_CALLS:
                    pending.append((inside, held))
    return None


def is_call_type(type_: object) -> bool:
    """Whether a `type` is that of a tool call, or of a piece of one, rather than of its result."""
    return isinstance(type_, str) and _CALL_TYPE.search(type_) is not None and _RESULT_TYPE.search(type_) is None


def _is_json(value: object) -> bool:
    return isinstance(value, str) and value.lstrip().startswith(("[", "{"))


def _near(fields: Mapping[str, Any], names: Collection[str], holds: Callable[[Any], bool]) -> str | None:
    """The first key that has one of the names, spelt in any case, and whose value counts."""
    return next((key for key, value in fields.items() if bare(key) in names and holds(value)), None)


def bare(key: object) -> str:
    """A key in any case, with or without the signs between its words; nothing for what is no text."""
    return key.lower().replace("_", "").replace("-", "") if isinstance(key, str) else ""


def reported_failure(fields: Mapping[str, Any]) -> str | None:
    """The error that an answer has under `error` or a similar name, and under which; None if it did not fail."""
    if (failure := failure_in(fields)) is not None:
        return f"an `error`: {failure}"
    if (near := _near(fields, _NEAR_ERRORS, bool)) is None:
        return None
    failure = failure_in({"error": fields[near]})
    return f"`{near}`, which counts as an `error` (if it is none, call it something else): {failure}"


def failure_in(fields: Mapping[str, Any]) -> str | None:
    """The `error` of an answer as text, shortened; None if there is no error, as where it is null, false or empty."""
    error = fields.get("error")
    if not error:
        return None
    if isinstance(error, Mapping):
        error = next((word for key in ("message", "type") if isinstance(word := error.get(key), str) and word), error)
    return excerpt(str(error))


# --- JSON ------------------------------------------------------------------------------------------------------------

_KINDS: Final[tuple[tuple[type | UnionType, str], ...]] = (
    (NoneType, "null"),
    (int | float, "a number"),
    (str, "a text"),
    (list | tuple, "a list"),
    (Mapping, "an object"),
)
_MOST_BITS: Final = 13_000
"""Those of integers that Python writes out, of nearly 4,000 digits."""


def decode_json(body: bytes) -> object:
    """The value of a JSON text.

    Raises:
        AgentProtocolError: when it is not JSON, not UTF-8 or nested too deeply.
    """
    try:
        return msgspec.json.decode(body)
    except RecursionError:
        raise AgentProtocolError("the answer is nested too deeply") from None
    except (msgspec.DecodeError, ValueError):
        # msgspec is stricter than JSON where texts spell lone surrogates or numbers exceed a double.
        return _decode_json_leniently(body)


def decode_unambiguous(body: bytes) -> object:
    """The value of a JSON text in which no object has a key twice, as in `{"force": true, "force": false}`.

    Raises:
        AgentProtocolError: as for `decode_json`, and where a key is repeated.
    """
    return _decode_json_leniently(body, pairs=unique_keys)


def _decode_json_leniently(body: bytes, pairs: Callable[[list[tuple[str, Any]]], object] | None = None) -> object:
    try:
        return json.loads(body.decode("utf-8-sig"), parse_constant=_refuse_constant, object_pairs_hook=pairs)
    except UnicodeDecodeError:
        raise AgentProtocolError("the answer is not UTF-8") from None
    except RecursionError:
        raise AgentProtocolError("the answer is nested too deeply") from None
    except RepeatedKey as error:
        raise AgentProtocolError(f"the answer has the key `{excerpt(error.key)}` twice") from None
    except ValueError:
        found = "is empty" if not body.strip() else "is not JSON"
        raise AgentProtocolError(f"the answer {found}") from None


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(name)


def json_value(value: object, place: str) -> Any:
    """The value as plain JSON data that any encoder accepts; integers stay exact, and NaN and infinities are null."""
    try:
        return _plain(value, place)
    except RecursionError:
        raise AgentProtocolError(f"`{place}` is nested too deeply") from None


def _plain(value: object, place: str) -> Any:
    match value:
        case str():
            return well_formed(value)
        case int() if value.bit_length() > _MOST_BITS:
            raise AgentProtocolError(f"`{place}` is {shown_number(value)}, which is too long")
        case float() if not isfinite(value):
            return None  # as JSON is written of it, so that what is checked is what is kept
        case None | bool() | int() | float():
            return value
        case Mapping():
            return {well_formed(str(key)): _plain(item, f"{place}.{key}") for key, item in value.items()}
        case list() | tuple():
            return [_plain(item, f"{place}[{index}]") for index, item in enumerate(value)]
        case _:
            raise AgentProtocolError(f"`{place}` is {kind_of(value)}, which JSON cannot say")


def _wrong(key: str, value: object, expected: str) -> AgentProtocolError:
    return AgentProtocolError(f"`{key}` is {kind_of(value)}, not {expected}")


def kind_of(value: object) -> str:
    """The kind of a value, in a word or two for messages."""
    if isinstance(value, bool):
        return "true" if value else "false"
    for kinds, words in _KINDS:
        if isinstance(value, kinds):
            return words
    return f"a Python `{type(value).__name__}`"


# --- amounts ---------------------------------------------------------------------------------------------------------

_MOST_TOKENS: Final = 10**12
_MOST_USD: Final = 10**6
_MOST_MS: Final = 10**10


def refuse_absurd(response: AgentResponse) -> None:
    """Refuse an answer whose amounts are impossible.

    Raises:
        AgentProtocolError: one of them is negative, not finite, or beyond all reason.
    """
    if response.usage is not None:
        refuse_absurd_usage(response.usage)
    if response.duration_ms is not None:
        _refuse("durationMs", response.duration_ms, _MOST_MS)
    for index, call in enumerate(response.tool_calls):
        if call.duration_ms is not None:
            _refuse(f"toolCalls[{index}].durationMs", call.duration_ms, _MOST_MS)


def refuse_absurd_usage(usage: Usage) -> None:
    """Refuse what was used if it cannot have been.

    Raises:
        AgentProtocolError: as for `refuse_absurd`.
    """
    for name, tokens in (("inputTokens", usage.input_tokens), ("outputTokens", usage.output_tokens)):
        if tokens is not None:
            _refuse(f"usage.{name}", tokens, _MOST_TOKENS)
            if not isinstance(tokens, int):
                raise AgentProtocolError(f"`usage.{name}` is {shown_number(tokens)}, not a whole number")
    if usage.cost_usd is not None:
        _refuse("usage.costUsd", usage.cost_usd, _MOST_USD)


def _refuse(name: str, amount: float, most: int) -> None:
    if not 0 <= amount <= most:  # as NaN is not, either
        raise AgentProtocolError(f"`{name}` is {shown_number(amount)}; it has to be between 0 and {most:,}")
