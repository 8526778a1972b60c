"""From a JSON file that a user names to its value, or to a message that says where it is wrong."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final, NoReturn

from evalc.errors import UsageError

_LARGEST: Final = 256_000_000


def load_json(path: Path, what: str) -> Any:
    """Read a file; `what` is its name in messages, such as `seed manifest`.

    Raises:
        UsageError: it cannot be read, is too large or is not JSON.
    """
    try:
        with path.open("rb") as file:
            data = file.read(_LARGEST + 1)  # a device may have no end
    except OSError as error:
        raise UsageError(f"the {what} `{path}` cannot be read: {error.strerror}") from error
    if len(data) > _LARGEST:
        raise UsageError(f"the {what} `{path}` is larger than {_LARGEST // 1_000_000} MB")
    return parse_json(data, what, str(path))


def parse_json(data: bytes, what: str, origin: str) -> Any:
    """Read JSON; NaN and its kin are none.

    Raises:
        UsageError: it is not JSON, with `origin:line:column`.
    """
    try:
        return json.loads(data.decode("utf-8-sig"), parse_constant=_refuse)
    except json.JSONDecodeError as error:
        where = f"{origin}:{error.lineno}:{error.colno}"
        raise UsageError(f"{where}: the {what} is not JSON: {error.msg[:1].lower()}{error.msg[1:]}") from error
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise UsageError(f"{origin}:{line}: the {what} is not UTF-8") from error
    except RecursionError as error:
        raise UsageError(f"{origin}: the {what} is nested too deeply") from error
    except ValueError as error:
        raise UsageError(f"{origin}: the {what} is not JSON: {error}") from error


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"`{constant}` is not a JSON number")
