"""From `require:` to how many repetitions have to pass: `8/10`, `8` or `80%`."""

from __future__ import annotations

import re
from typing import Final

from evalc.diagnostics.catalogue.values import WrongType
from evalc.dsl.fields import Fields
from evalc.dsl.tree import Requirement

_COUNT: Final = re.compile(r"(?P<count>[0-9]{1,9})(?:\s*/\s*(?P<of>[0-9]{1,9}))?")
_SHARE: Final = re.compile(r"(?P<percent>[0-9]{1,9}(?:\.[0-9]+)?)\s*%")


def build_requirement(fields: Fields) -> Requirement | None:
    """The requirement; whether it can be met is seen where the number of repetitions is known."""
    text = fields.text("require")
    if text is None:
        return None
    written = text.value.strip()
    if match := _COUNT.fullmatch(written):
        of = None if match["of"] is None else int(match["of"])
        return Requirement(span=text.span, count=int(match["count"]), of=of)
    if match := _SHARE.fullmatch(written):
        return Requirement(span=text.span, share=float(match["percent"]) / 100)
    expected = "a number of repetitions as `8`, `8/10` or `80%`"
    fields.fault(text.span, WrongType(what="`require`", expected=expected, found=f"`{text.value}`"))
    return None
