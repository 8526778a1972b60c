"""Runs cases against an agent. Needs no compiler: a compiled file is enough.

The defaults that settings, options and agents share are stated here, and nowhere else.
"""

from typing import Final

CONCURRENCY: Final = 1
"""How many cases run at a time."""

TIMEOUT_MS: Final = 60_000
"""The time for an attempt at a case (contract, timeoutMs), and for one score of a judge."""

RETRIES: Final = 2
"""How often a request is repeated after a fault of the connection, or where the answer is "not now"."""

MAX_BODY: Final = 16 * 1024 * 1024
"""Bytes of an answer that are read at most."""

LOCAL_TOKENS: Final = 8192
"""How many tokens a conversation with a model on this machine may have."""

LOADING_MS: Final = 120_000
"""The time for loading such a model."""
