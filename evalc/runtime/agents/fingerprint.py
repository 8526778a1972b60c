"""Hashes what an agent is sent: requests that it cannot tell apart have the same hash."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

import msgspec

from evalc.runtime.agents import wire
from evalc.runtime.agents.base import AgentRequest


def sent_fields(request: AgentRequest) -> dict[str, Any]:
    """What of a request an agent is sent, by the names that the case model has for it."""
    fields: dict[str, Any] = {
        "message": request.message,
        "messages": [dict(message) for message in request.messages],
        "system": request.system,
        "stubs": request.stubs,
        "maxTurns": request.max_turns,
        "inputs": dict(request.inputs),
    }
    if request.follow_ups:
        fields["followUps"] = list(request.follow_ups)
    if request.user is not None:
        fields["user"] = request.user
    return fields


def fingerprint_of(request: AgentRequest) -> str:
    """The hash of what of a request an agent is sent."""
    return fingerprint(sent_fields(request))


def fingerprint(fields: Mapping[str, Any]) -> str:
    """The hash of fields, 128 bits in hexadecimal; the order of keys does not count."""
    try:
        json = msgspec.json.encode(fields, order="sorted")
    except UnicodeEncodeError:  # half a surrogate pair
        json = msgspec.json.encode(wire.json_value(fields, "request"), order="sorted")
    return hashlib.blake2b(json, digest_size=16).hexdigest()
