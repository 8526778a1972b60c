"""Writes workflow commands of GitHub Actions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Literal

from evalc.terminal import visible


def annotation(
    level: Literal["error", "warning", "notice"], properties: Mapping[str, str], lines: Iterable[str]
) -> str:
    """One command, without a line end. The lines are its message. Controls are written as escapes, everywhere."""
    shown = ",".join(f"{name}={_escaped_property(visible(value))}" for name, value in properties.items())
    message = "\n".join(map(visible, lines))
    return f"::{level} {shown}::{_escaped(message)}"


def _escaped(text: str) -> str:
    """What the runner of a workflow reads back as the text, and as nothing else."""
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _escaped_property(text: str) -> str:
    return _escaped(text).replace(":", "%3A").replace(",", "%2C")
