"""Reads files of environment variables in the format of dotenv.

`NAME=value`, with or without `export` in front; values in single quotes are literal, those in double quotes
know the escapes `\\n`, `\\r`, `\\t`, `\\"`, `\\$` and `\\\\`; `#` begins a comment. Nothing is filled in.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import msgspec

from evalc.base.errors import UsageError
from evalc.base.files import read_limited
from evalc.config.settings import Settings

_LARGEST: Final = 1_000_000
_LINE: Final = re.compile(r"\s*(?:export\s+)?(?P<name>[A-Za-z_][A-Za-z0-9_]*)?(?P<before>\s*)(?P<sign>=)?[ \t]*")
_DOUBLE: Final = re.compile(r'"(?P<text>(?:[^"\\]|\\.)*)"')
_SINGLE: Final = re.compile(r"'(?P<text>[^']*)'")
_BARE: Final = re.compile(r"(?P<text>(?:[^\s#]|(?<=\S)#|[ \t]+(?=[^\s#]))*)")
_ESCAPE: Final = re.compile(r"\\(.)")
_ESCAPES: Final = {"n": "\n", "r": "\r", "t": "\t"}
_SECRET_NAME: Final = re.compile(
    r"(?:^|_)(?:API)?(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIALS?)(?:_|$)", re.IGNORECASE
)
_SHORTEST_SECRET: Final = 8


def with_env_file(settings: Settings, file: str) -> Settings:
    """The settings, with the variables of a file in the environment if it does not have them.

    Raises:
        UsageError: the file cannot be read.
    """
    variables = read_env_file(Path(file))
    for name, value in variables.items():
        os.environ.setdefault(name, value)
    return msgspec.structs.replace(settings, secrets=(*settings.secrets, *secrets_among(variables)))


def read_env_file(path: Path) -> Mapping[str, str]:
    """The variables of the file; of two with one name, the last.

    Raises:
        UsageError: it cannot be read, or a line is not a variable. No message contains a value.
    """
    try:
        text = read_limited(path, _LARGEST).decode("utf-8-sig")
    except OSError as error:
        raise UsageError(f"`--env-file {path}` cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise UsageError(f"`--env-file {path}` is not UTF-8: byte {error.start + 1}") from None
    lines = enumerate(text.splitlines(), start=1)
    return dict(_variable(line, f"{path}:{number}") for number, line in lines if not _is_idle(line))


def secrets_among(variables: Mapping[str, str]) -> tuple[str, ...]:
    """The names of the variables that are secrets by their names, such as `API_KEY`, and long enough to be any."""
    return tuple(
        name for name, value in variables.items() if _SECRET_NAME.search(name) and len(value) >= _SHORTEST_SECRET
    )


def _is_idle(line: str) -> bool:
    return not line.strip() or line.lstrip().startswith("#")


def _variable(line: str, place: str) -> tuple[str, str]:
    head = _LINE.match(line)
    assert head is not None  # noqa: S101 - for the type checker: every part of it may be missing
    if head["name"] is None:
        raise _error(place, head.start("before"), "expected the name of a variable")
    if head["sign"] is None:
        raise _error(place, head.end("before"), "expected `=` after the name")
    quote = line[head.end() : head.end() + 1]
    form = {'"': _DOUBLE, "'": _SINGLE}.get(quote, _BARE)
    value = form.match(line, head.end())
    if value is None:
        raise _error(place, head.end(), "the closing quote is missing")
    rest = line[value.end() :]
    if rest.strip() and not (rest[0].isspace() and rest.lstrip().startswith("#")) and not rest.startswith("#"):
        raise _error(place, value.end(), "expected nothing more after the value")
    text = value["text"]
    if "\0" in text:
        raise _error(place, head.end(), "a value cannot hold NUL")
    if quote == '"':
        text = _ESCAPE.sub(lambda match: _ESCAPES.get(match[1], match[1]), text)
    return head["name"], text


def _error(place: str, offset: int, what: str) -> UsageError:
    return UsageError(f"{place}:{offset + 1}: {what}")
