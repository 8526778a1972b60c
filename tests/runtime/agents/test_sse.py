"""Event streams, by the rules of the WHATWG standard."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalc.base.errors import AgentProtocolError
from evalc.runtime.agents.http.events import EventParser, ServerSentEvent


def events(*pieces: bytes) -> list[ServerSentEvent]:
    parser = EventParser()
    return [event for piece in pieces for event in parser.feed(piece)]


def event(data: str, name: str = "message", last_id: str = "") -> ServerSentEvent:
    return ServerSentEvent(name=name, data=data, last_id=last_id)


@pytest.mark.parametrize(
    ("stream", "expected"),
    [
        (b"data: a\n\n", [event("a")]),
        (b"data:a\r\rdata: b\r\n\r\n", [event("a"), event("b")]),
        (b"data:  a\n\n", [event(" a")]),
        (b"data: YHOO\ndata: +2\ndata: 10\n\n", [event("YHOO\n+2\n10")]),
        (b"\xef\xbb\xbfdata: a\n\n", [event("a")]),
        (b"\xef\xbb\xbf\xef\xbb\xbfdata: a\n\n", []),
        (b": a comment\n\n:\ndata: a\n\n", [event("a")]),
        (b"event: done\ndata: x\n\ndata: y\n\n", [event("x", "done"), event("y")]),
        (b"event: lost\n\ndata: y\n\n", [event("y")]),
        (
            b"id: 1\ndata: a\n\ndata: b\n\nid\ndata: c\n\n",
            [event("a", last_id="1"), event("b", last_id="1"), event("c")],
        ),
        (b"id: 1\0\ndata: a\n\n", [event("a")]),
        (b"data\n\ndata\ndata\n\ndata:", [event(""), event("\n")]),
        (b"retry: 10\nunknown: x\ndata: a\n\n", [event("a")]),
        (b"data: cut off\n", []),
        (b"", []),
    ],
)
def test_the_rules(stream: bytes, expected: list[ServerSentEvent]) -> None:
    assert events(stream) == expected
    assert events(*(bytes([byte]) for byte in stream)) == expected


@pytest.mark.parametrize("stream", [b"data: \xff\n\n", b": \xc3\n\n", b"id: \xed\xa0\x80\n\n"])
def test_a_stream_that_is_not_utf_8_is_an_error(stream: bytes) -> None:
    with pytest.raises(AgentProtocolError, match="the stream is not UTF-8"):
        events(*(bytes([byte]) for byte in stream))
    assert events("data: é€😀\n\n".encode()) == [event("é€😀")]


@given(
    st.lists(
        st.sampled_from([b"data: a", b"data:", b"id: 1", b"event: e", b":", b"\n", b"\r", b"\r\n", b"\xef\xbb\xbf"])
    ),
    st.lists(st.integers(0, 200)),
)
def test_where_a_stream_is_cut_makes_no_difference(parts: list[bytes], cuts: list[int]) -> None:
    stream = b"".join(parts)
    places = sorted({0, len(stream), *(cut for cut in cuts if cut < len(stream))})
    pieces = [stream[start:end] for start, end in pairwise(places)]
    assert events(*pieces, b"") == events(stream)
