"""Checks of a response's structure: JSON, its fields, the headings of Markdown."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal

import msgspec
from msgspec import Meta

from evalc.model.checks.declaration import Declared, Field, Heading, Label
from evalc.model.paths import only_key

JsonMode = Literal["strict", "lenient", "object", "array"]
FieldType = Literal["string", "number", "integer", "boolean", "array", "object", "null"]


class Json(Declared, frozen=True, kw_only=True, tag="json"):
    """The response is JSON, and valid against the schema if there is one.

    `strict`: the whole response. `lenient`: the whole response or its one fenced block. `object`, `array`: strict,
    and of that type.
    """

    begins: ClassVar = ("json",)
    examples: ClassVar = ("strict", "lenient", "object", "array", "schema:answer.schema.json")
    contract: ClassVar = (Field("json_valid"),)
    of_response: ClassVar = True

    mode: Annotated[JsonMode, Meta(description="How much of the response must be JSON; all of it by default.")] = (
        "strict"
    )
    schema: Annotated[
        dict[str, Any] | bool | None, Meta(description="The JSON Schema that the response must be valid against.")
    ] = None

    def has_field(self) -> bool:
        return self.mode == "strict" and self.schema is None


class RequiredField(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """A field that `structure` requires: a path such as `meta.title` or `items[].id`, and a type or any."""

    path: Annotated[Label, Meta(description="The field, such as `meta.title` or `items[].id`.")]
    type: Annotated[FieldType | None, Meta(description="The type of its value.")] = None


class Structure(Declared, frozen=True, kw_only=True, tag="structure"):
    """The response has these JSON fields, or these Markdown headings."""

    begins: ClassVar = ("has fields", "has headings")
    examples: ClassVar = (
        "fields:title,content",
        "fields:meta.title:string,items[].id:number",
        "headings:Summary,Risks",
    )
    contract: ClassVar = (Field("required_keys", "keys"),)
    of_response: ClassVar = True

    fields: Annotated[tuple[RequiredField, ...], Meta(description="The JSON fields that the response has.")] = ()
    headings: Annotated[tuple[Heading, ...], Meta(description="The Markdown headings that the response has.")] = ()

    def has_field(self) -> bool:
        flat = all(field.type is None and only_key(field.path) is not None for field in self.fields)
        return bool(self.fields) and not self.headings and flat

    @property
    def keys(self) -> tuple[str | None, ...]:
        """The fields as keys, without a path."""
        return tuple(only_key(field.path) for field in self.fields)


JsonCheck = Json | Structure
