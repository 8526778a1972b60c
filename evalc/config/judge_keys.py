"""From the values of the keys about judges to what `Settings` holds of them."""

from __future__ import annotations

from typing import Any

from evalc.config.refused import Folders, Refused, described, read_parts


def judges(value: Any, _: Folders) -> tuple[str, ...]:
    """The judges: a text, or a list of them."""
    if isinstance(value, str):
        value = [value]
    if not isinstance(value, list | tuple):
        raise Refused("a text, or a list of texts", found=described(value))
    found = tuple(read_parts(enumerate(value), lambda _, item: _judge(item)))
    if len(set(found)) < len(found):
        raise Refused("judges that are each named once: `judge.samples` asks one several times")
    return found


def _judge(value: Any) -> str:
    if not isinstance(value, str):
        raise Refused("a text", found=described(value))
    if not value.strip():
        raise Refused("a text that is not empty")
    return value.strip()
