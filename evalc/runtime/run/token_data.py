"""Loads the data that tokens name, or says where a file is wrong.

Contract, 3. Seed Manifest and 4. Snapshot Data.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final, NoReturn

from evalc.base.errors import UsageError
from evalc.base.files import NotRegular, TooLarge, read_limited
from evalc.base.json_fault import fault_of

_LARGEST: Final = 256_000_000


def load_json(path: Path, what: str) -> Any:
    """Read a file; `what` is its name in messages, such as `seed manifest`.

    Raises:
        UsageError: it cannot be read, is too large or is not JSON.
    """
    try:
        return parse_json(read_limited(path, _LARGEST), what, str(path))
    except TooLarge:
        raise UsageError(f"the {what} `{path}` is larger than {_LARGEST // 1_000_000} MB") from None
    except NotRegular as other:
        raise UsageError(f"the {what} `{path}` is {other.kind}, not a file") from None
    except OSError as error:
        raise UsageError(f"the {what} `{path}` cannot be read: {error.strerror}") from error


def parse_json(data: bytes, what: str, origin: str) -> Any:
    """Read JSON; NaN and infinities are not allowed.

    Raises:
        UsageError: it is not JSON, with `origin:line:column`.
    """
    text = ""
    try:
        text = data.decode("utf-8-sig")
        return json.loads(text, parse_constant=_refuse)
    except json.JSONDecodeError as error:
        fault = fault_of(error, text)
        line, column = fault.position(text)
        raise UsageError(f"{origin}:{line}:{column}: the {what} is not JSON: {fault.found}") from error
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise UsageError(f"{origin}:{line}: the {what} is not UTF-8") from error
    except RecursionError as error:
        raise UsageError(f"{origin}: the {what} is nested too deeply") from error
    except _NoNumber as error:
        raise UsageError(f"{origin}: the {what} is not JSON: {error}") from error
    except ValueError as error:
        raise UsageError(f"{origin}: the {what} holds a number of too many digits") from error


class _NoNumber(ValueError):
    """A constant that Python takes for a number of JSON."""


def _refuse(constant: str) -> NoReturn:
    raise _NoNumber(f"`{constant}` is not a JSON number")


def load_seed(path: Path) -> dict[str, Any]:
    """Read the manifest.

    Raises:
        UsageError: it cannot be read, is not JSON or no object.
    """
    seed = load_json(path, "seed manifest")
    if not isinstance(seed, dict):
        raise UsageError(f"{path}:1:1: the seed manifest is not a JSON object")
    return seed
