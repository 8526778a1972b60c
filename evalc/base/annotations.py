"""Writes a message about a line as GitHub Actions and SARIF read it."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final, Literal
from urllib.parse import quote

from evalc.base.files import below_working_folder
from evalc.base.terminal import visible


def annotation(
    level: Literal["error", "warning", "notice"], properties: Mapping[str, str], lines: Iterable[str]
) -> str:
    """One command, without a line end. The lines are its message. Controls are written as escapes, everywhere."""
    shown = ",".join(f"{name}={_escaped_property(visible(value))}" for name, value in properties.items())
    message = "\n".join(map(visible, lines))
    return f"::{level} {shown}::{_escaped(message)}"


def _escaped(text: str) -> str:
    """Escape a text so that the runner of a workflow reads back exactly it."""
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _escaped_property(text: str) -> str:
    return _escaped(text).replace(":", "%3A").replace(",", "%2C")


SCHEMA: Final = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"

_PLACEHOLDER: Final = re.compile(r"\{(\d+)\}")


def message_text(text: str) -> str:
    """The text as a message: nothing in it is taken for a link or a placeholder."""
    return _PLACEHOLDER.sub(r"{{\1}}", sound(text).replace("](", r"\]("))


def artifact_location(name: str) -> dict[str, str]:
    """The file's place: relative to the working folder where it lies below, as a link is written."""
    path = below_working_folder(Path(name))
    written = quote(_bytes_of(path.as_posix()), safe="/")
    return {"uri": f"file://{written}"} if path.is_absolute() else {"uri": written, "uriBaseId": "%SRCROOT%"}


def sound(text: str) -> str:
    """The text without lone surrogates, which readers of JSON refuse."""
    return text.encode("utf-8", "backslashreplace").decode()


def _bytes_of(name: str) -> bytes:
    try:
        return os.fsencode(name)
    except UnicodeEncodeError:  # a name that no file has
        return name.encode("utf-8", "backslashreplace")
