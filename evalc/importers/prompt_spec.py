"""Imports the examples of a PromptOS prompt file as external cases."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from evalc.base.source import Source, Span
from evalc.compiler.slug import slug
from evalc.diagnostics.catalogue.imports import NothingToImport, NotImported
from evalc.diagnostics.near import nearest
from evalc.diagnostics.problem import Diagnostics
from evalc.dsl.document_kind import Kind, has_examples, kind_of_document
from evalc.dsl.fields import is_null
from evalc.dsl.nodes import Mapping, Node, Scalar, Sequence, span_of
from evalc.dsl.read_yaml import read_yaml
from evalc.dsl.scalars import to_plain
from evalc.dsl.write_yaml import NotWritable, write_yaml
from evalc.importers.imported import NO_COUNTERPART, CaseNames, Imported
from evalc.model.json import to_json

_ENDING: Final = ".cases.yaml"
_READ: Final = ("name", "description", "inputs", "expected_output")
"""The keys of an example that are read."""


def is_prompt_with_examples(document: Node | None) -> bool:
    """Whether a document is a prompt file with examples."""
    return document is not None and kind_of_document(document) is Kind.PROMPT and has_examples(document)


def import_prompt_spec(source: Source, problems: Diagnostics) -> Imported | None:
    """The cases of a prompt's examples; None if the file has errors or no examples, which is reported."""
    own = Diagnostics()
    documents = read_yaml(source, lambda span, finding: own.add(source, span, finding))
    problems.extend(own)
    if own.has_errors:
        return None
    prompt = next(filter(is_prompt_with_examples, documents), None)
    if not isinstance(prompt, Mapping):
        problems.add(source, Span(0, 0), NothingToImport(wanted="a prompt file with examples"))
        return None
    fields = {key.text: value for key, value in prompt.pairs}
    prompt_id = fields["id"]
    identity = prompt_id.text if isinstance(prompt_id, Scalar) else ""
    cases = [*_cases(source, fields["examples"], problems)]
    data = {"prompt_id": identity, "test_cases": cases}
    try:
        text = write_yaml(data, head=(f"Imported from the examples of {Path(source.name).name}.",))
    except NotWritable as refusal:
        problems.add(source, Span(0, 0), NotImported(what="the file", why=f"it cannot be written in YAML: {refusal}"))
        return None
    return Imported(text=text, file_name=(slug(identity) or "prompt") + _ENDING, cases=len(cases))


def _cases(source: Source, examples: Node, problems: Diagnostics) -> Iterator[dict[str, Any]]:
    names = CaseNames()
    for number, example in enumerate(examples.items if isinstance(examples, Sequence) else (), 1):
        if not isinstance(example, Mapping):
            problems.add(source, span_of(example), NotImported(what=f"example {number}", why="it is not a mapping"))
            continue
        plain: Any = to_plain(example, lambda span, finding: problems.add(source, span, finding))
        case: dict[str, Any] = {"name": names.make(str(plain.get("name") or ""), f"example {number}")}
        if plain.get("description"):
            case["description"] = _literal(str(plain["description"]))
        if isinstance(plain.get("inputs"), dict):
            case["inputs"] = plain["inputs"]
        for key, value in example.pairs:
            why = _why_not(key.text, value)
            if why:
                problems.add(source, span_of(key), NotImported(what=f"`{key.text}` of example {number}", why=why))
        expected = plain.get("expected_output")
        if expected in (None, ""):
            finding = NotImported(what=f"what example {number} expects", why="it has no `expected_output`")
            problems.add(source, span_of(example), finding)
            case["validate"] = ["non-empty"]
        else:
            case["expected"] = _literal(expected if isinstance(expected, str) else to_json(expected).decode())
        yield case


def _why_not(key: str, value: Node) -> str:
    """Why a key of an example is not imported; empty for those that are."""
    if key == "inputs":
        return "" if isinstance(value, Mapping) or is_null(value) else "inputs are a mapping"
    if key in _READ:
        return ""
    near = nearest(key, _READ)
    return f"an example has `{near}`" if near is not None else NO_COUNTERPART


def _literal(text: str) -> str:
    """A template that renders to the text, whatever braces are in it."""
    return text.replace("{{", r"\{{")
