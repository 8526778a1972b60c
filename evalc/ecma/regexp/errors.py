"""The exceptions of regular expressions."""

from __future__ import annotations


class RegexpError(Exception):
    """A regular expression gave no answer."""


class PatternError(RegexpError):
    """The pattern is not one: `message` says why, `[offset, end)` where, in code points of the pattern."""

    def __init__(self, offset: int, end: int, message: str) -> None:
        super().__init__(offset, end, message)
        self.offset = offset
        self.end = end
        self.message = message

    def __str__(self) -> str:
        return self.message


class RegexpTimeout(RegexpError):
    """The match did not end within its deadline."""

    def __init__(self, timeout: float) -> None:
        super().__init__(timeout)
        self.timeout = timeout

    def __str__(self) -> str:
        return f"the regular expression did not end within {self.timeout:g} s"
