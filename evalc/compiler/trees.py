"""The trees of checks that the passes read, until the compiler holds trees itself."""

from __future__ import annotations

from functools import lru_cache

import msgspec

from evalc.check.forms import check_of
from evalc.check.tree import Check, Node
from evalc.model import checks as c
from evalc.model.json import to_json


def tree_of(check: c.Check | Check) -> Check:
    """The tree of a check."""
    return check if isinstance(check, Node) else _tree(to_json(check))


@lru_cache(4096)
def _tree(written: bytes) -> Check:
    return check_of(msgspec.json.decode(written))
