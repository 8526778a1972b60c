"""Parses `text/event-stream` bodies by the rules of the WHATWG HTML standard."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, final

from evalc.base.errors import AgentProtocolError
from evalc.base.terminal import excerpt

_LINE_END: Final = re.compile(rb"\r\n|\n|\r")
_BOM: Final = b"\xef\xbb\xbf"


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class ServerSentEvent:
    """An event: its name, its data with its lines joined by line feeds, and the id that was given last."""

    name: str = "message"
    data: str = ""
    last_id: str = ""


@final
class EventParser:
    """Takes pieces of a stream, cut anywhere. An event that no empty line ended is not one: it was cut off.

    The standard puts U+FFFD where a stream is not UTF-8. An answer is never graded with characters that nobody sent, so
    that is an error here.
    """

    def __init__(self) -> None:
        self._line: list[bytes] = []
        self._after_return = False
        self._at_start = True
        self._name = ""
        self._data: list[str] = []
        self._last_id = ""

    def feed(self, piece: bytes) -> Iterator[ServerSentEvent]:
        """The events that end within this piece.

        Raises:
            AgentProtocolError: it is not UTF-8.
        """
        if self._after_return and piece:
            # The second half of a line end whose first half ended the piece before.
            piece = piece.removeprefix(b"\n")
            self._after_return = False
        if not piece:
            return
        self._after_return = piece.endswith(b"\r")
        *ended, begun = _LINE_END.split(piece)
        for end in ended:
            self._line.append(end)
            line = b"".join(self._line)
            self._line.clear()
            if (event := self._take(line)) is not None:
                yield event
        self._line.append(begun)

    def _take(self, line: bytes) -> ServerSentEvent | None:
        if self._at_start:
            line = line.removeprefix(_BOM)
            self._at_start = False
        if not line:
            return self._dispatched()
        try:
            field, _, value = line.decode().partition(":")
        except UnicodeDecodeError:
            raise AgentProtocolError("the stream is not UTF-8", excerpt(line)) from None
        value = value.removeprefix(" ")
        match field:
            case "data":
                self._data.append(value)
            case "event":
                self._name = value
            case "id" if "\0" not in value:
                self._last_id = value
            case _:  # a comment, `retry`, which is for those who reconnect, or a field that nobody knows
                pass
        return None

    def _dispatched(self) -> ServerSentEvent | None:
        name, data = self._name, self._data
        self._name, self._data = "", []
        if not data:
            return None
        return ServerSentEvent(name=name or "message", data="\n".join(data), last_id=self._last_id)
