"""JSON Schemas as promptfoo reads them: with Ajv, in its strict mode, as draft 7."""

from __future__ import annotations

from typing import Any, Final

from evalc.base.source import Source
from evalc.compiler.libraries import unusable
from evalc.diagnostics import Diagnostics
from evalc.dsl.scalars import to_plain
from evalc.extras.importers.imported import Unmappable, documents_of
from evalc.extras.importers.promptfoo_templates import has_template
from evalc.model.json_schema import FORMATS, schemas_within

_DRAFT_7: Final = "http://json-schema.org/draft-07/schema#"
_KEYWORDS: Final = frozenset(
    """\
    $comment $defs $id $ref $schema additionalItems additionalProperties allOf anyOf const contains contentEncoding
    contentMediaType default definitions dependencies deprecated description else enum examples exclusiveMaximum
    exclusiveMinimum format if items maxItems maxLength maxProperties maximum minItems minLength minProperties minimum
    multipleOf not oneOf pattern patternProperties properties propertyNames readOnly required then title type
    uniqueItems writeOnly""".split()  # noqa: SIM905 - as people read it
)
_OF_DRAFT_7: Final = ("additionalItems", "dependencies")
"""Keywords that mean something else, or nothing, in later drafts, and so does a list of `items`."""


def as_read(schema: Any) -> tuple[Any, bool]:
    """A schema, with its draft where that counts, and whether it has formats, of which each checker has its rules.

    A text is YAML.

    Raises:
        Unmappable: promptfoo refuses it, or reads it in another way.
    """
    if isinstance(schema, str):
        if has_template(schema):
            raise Unmappable("there is a template inside of the schema")
        documents = documents_of(Source("schema", schema), Diagnostics()) or [None]
        schema = to_plain(documents[0])
    if not isinstance(schema, dict):
        raise Unmappable("the schema is no mapping")
    if str(schema.get("$schema", _DRAFT_7)).rstrip("#") != _DRAFT_7.rstrip("#"):
        raise Unmappable("promptfoo reads schemas of draft 7 alone")
    is_of_draft, formats = False, False
    for _, part in schemas_within(schema):
        if unknown := [key for key in part if key not in _KEYWORDS]:
            raise Unmappable(f"promptfoo refuses the keyword `{unknown[0]}` of its schema, or reads it otherwise")
        if "format" in part and part["format"] not in FORMATS:
            raise Unmappable(f"the format `{part['format']}` of its schema is not checked here")
        if "$ref" in part and len(part.keys() - {"$ref", "$comment", "description", "title", "definitions", "$defs"}):
            raise Unmappable("what stands beside a `$ref` of its schema counts in promptfoo")
        formats |= "format" in part
        is_of_draft |= any(key in part for key in _OF_DRAFT_7) or isinstance(part.get("items"), list)
    read = {"$schema": _DRAFT_7, **schema} if is_of_draft else schema
    flaw = unusable({"$schema": _DRAFT_7, **schema})
    if flaw is not None:
        raise Unmappable(f"its schema {flaw.reason}")
    return read, formats
