"""The headers of an answer, whichever library carried it."""

from __future__ import annotations

from evalc.runtime.agents.http.connections import Headers


def test_names_are_found_in_any_case() -> None:
    headers = Headers([(b"Content-Type", b"text/plain"), (b"RETRY-AFTER", b"3")])
    assert (headers["content-type"], headers["CONTENT-TYPE"], headers.get("Retry-After")) == ("text/plain",) * 2 + (
        "3",
    )
    assert headers.get("location") is None
    assert dict(headers) == {"content-type": "text/plain", "retry-after": "3"}
    assert len(headers) == 2


def test_repeated_headers_are_joined() -> None:
    assert Headers([(b"via", b"a"), (b"Via", b"b")])["via"] == "a, b"


def test_bytes_beyond_ascii_are_utf_8_or_latin_1() -> None:
    headers = Headers([(b"location", "/é".encode()), (b"server", "é".encode("latin-1"))])
    assert (headers["location"], headers["server"]) == ("/é", "é")
