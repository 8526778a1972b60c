"""Explains a code of the catalogue: what is wrong, why it matters, an example and its cure."""

from __future__ import annotations

import inspect
import textwrap
from typing import NamedTuple

from evalc.diagnostics.fixes import FIXABLE
from evalc.diagnostics.problem import Finding

_WIDTH = 88
_FIXABLE = ", in safe cases fixable with `evalc check --fix`"


class Explanation(NamedTuple):
    """The parts of a finding's docstring. `why` may be empty; example and cure are texts of files, or empty."""

    summary: str
    why: str
    example: str
    cure: str


def split_docstring(finding: type[Finding]) -> Explanation:
    """The parts of the finding's docstring, each without its indentation."""
    text = inspect.cleandoc(finding.__doc__ or "")
    prose, _, rest = text.partition("\nExample:\n")
    example, _, cure = rest.partition("\nCure:\n")
    summary, _, why = prose.partition("\n\n")
    return Explanation(" ".join(summary.split()), why.strip(), _block(example), _block(cure))


def explain(finding: type[Finding]) -> str:
    """What `evalc explain CODE` prints, with a line end."""
    parts = split_docstring(finding)
    blocks = [
        f"{finding.code} ({finding.severity}{_FIXABLE if finding in FIXABLE else ''})",
        textwrap.fill(parts.summary, _WIDTH),
        *(textwrap.fill(" ".join(paragraph.split()), _WIDTH) for paragraph in parts.why.split("\n\n") if paragraph),
    ]
    if parts.example:
        blocks.append("Example:\n\n" + textwrap.indent(parts.example, "    ").rstrip())
    if parts.cure:
        blocks.append("Cure:\n\n" + textwrap.indent(parts.cure, "    ").rstrip())
    return "\n\n".join(blocks) + "\n"


def _block(text: str) -> str:
    """An indented block as the text of a file: no common indentation, no empty lines around, one line end."""
    inner = textwrap.dedent(text).strip("\n")
    return f"{inner}\n" if inner else ""
