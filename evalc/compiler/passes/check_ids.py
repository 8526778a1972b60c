"""From the ids that rows and prompts give their cases to those that two cases have."""

from __future__ import annotations

from evalc.compiler import ir
from evalc.diagnostics.catalogue.names import DuplicateName
from evalc.diagnostics.problem import Diagnostics


def check_ids(suite: ir.Suite, seen: set[int], problems: Diagnostics) -> None:
    """Report cases whose id another one has: a row `Paris` of `weather`, and a case named `weather@Paris`.

    Of very many cases only the hashes of ids are kept, in `seen`. Ids that are the same as they are written were
    reported where names are.
    """
    for case in suite.cases:
        hashed = hash(case.id)
        if hashed in seen and "@" in case.id and not suite.from_json:
            problems.add(*suite.place(case.where), DuplicateName(what="id", name=case.id))
        seen.add(hashed)
