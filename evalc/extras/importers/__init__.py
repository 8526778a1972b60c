"""Tells which tool a text comes from, and imports it."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path

from evalc.base.source import Source, Span
from evalc.compiler.lift import is_eval_json, read_document
from evalc.diagnostics.problem import Diagnostics, Finding
from evalc.dsl.read_yaml import read_yaml
from evalc.extras.importers.imported import Imported
from evalc.extras.importers.other import import_prompt_spec, import_tool_forge, is_prompt_with_examples
from evalc.extras.importers.promptfoo import import_promptfoo, is_promptfoo

__all__ = ["ImportFormat", "Imported", "import_source"]


class ImportFormat(StrEnum):
    """The tools whose evals can be imported."""

    TOOL_FORGE = "tool-forge"
    PROMPTFOO = "promptfoo"
    PROMPTOS = "promptos"


def import_source(source: Source, tool: ImportFormat | None, folder: Path, problems: Diagnostics) -> Imported | None:
    """The suite made of a text, for `folder`; None if the text has errors, which are reported.

    Without a `tool`, the text itself says whose it is.
    """
    match tool or _tool_of(source, problems):
        case ImportFormat.TOOL_FORGE:
            return import_tool_forge(source, problems)
        case ImportFormat.PROMPTFOO:
            return import_promptfoo(source, folder, problems)
        case ImportFormat.PROMPTOS:
            return import_prompt_spec(source, problems)
        case None:
            if not problems.has_errors:
                expected = "eval JSON, a promptfoo configuration or a prompt file with examples"
                problems.add(source, Span(0, 0), Finding("EV652", expected=expected))
            return None


def _tool_of(source: Source, problems: Diagnostics) -> ImportFormat | None:
    """Whose evals a text holds; if its errors hide that, these are reported."""
    unheard = Diagnostics()
    is_json = source.text.lstrip()[:1] in ("{", "[")
    if is_json and is_eval_json(read_document(source, unheard)):
        return ImportFormat.TOOL_FORGE
    own = Diagnostics()
    documents = read_yaml(source, lambda span, finding: own.add(source, span, finding))
    if any(map(is_promptfoo, documents)):
        return ImportFormat.PROMPTFOO
    if any(map(is_prompt_with_examples, documents)):
        return ImportFormat.PROMPTOS
    problems.extend(unheard if is_json and unheard.has_errors else own)
    return None
