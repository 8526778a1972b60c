"""From a key to the header that carries it to OpenAI and to servers that speak its APIs."""

from __future__ import annotations


def bearer(key: str | None) -> dict[str, str]:
    """`Authorization: Bearer KEY`; nothing where there is no key, as on a local server."""
    return {} if key is None else {"Authorization": f"Bearer {key}"}
