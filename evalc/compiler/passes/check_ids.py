"""Reports ids that two rows or two prompts give to different cases."""

from __future__ import annotations

from evalc.compiler import ir
from evalc.compiler.fingerprints import Fingerprints
from evalc.diagnostics.catalogue.names import DuplicateName
from evalc.diagnostics.problem import Diagnostics


def check_ids(suite: ir.Suite, seen: Fingerprints, problems: Diagnostics) -> None:
    """Report cases whose id another one has: a row `Paris` of `weather`, and a case named `weather@Paris`.

    `seen` are the ids of earlier cases. Ids that are the same as they are written were
    reported where names are.
    """
    for case in suite.cases:
        if seen.add(case.id) is not None and "@" in case.id and not suite.from_json:
            problems.add(*suite.place(case.where), DuplicateName(what="id", name=case.id))
