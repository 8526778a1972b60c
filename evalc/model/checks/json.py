"""Checks of a response's structure: JSON, its fields and values, the headings of Markdown."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal

import msgspec
from msgspec import Meta

from evalc.model.checks.declaration import Arguments, Declared, Field, Heading, Label
from evalc.model.json import only_key

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


class Number(Declared, frozen=True, kw_only=True, tag="number"):
    """The response, or a place of it, is a JSON number within the bounds, both inclusive."""

    begins: ClassVar = ("at PATH >=",)
    examples: ClassVar = ("min:18", "min:0,max:1", 30)
    of_response: ClassVar = True

    min: Annotated[int | float | None, Meta(description="The least number allowed.")] = None
    max: Annotated[int | float | None, Meta(description="The greatest number allowed.")] = None


class Count(Declared, frozen=True, kw_only=True, tag="count"):
    """The response, or a place of it, is a JSON array with so many items; the bounds are inclusive."""

    begins: ClassVar = ("at PATH count",)
    examples: ClassVar = ("min:2,max:5", 3)
    of_response: ClassVar = True

    min: Annotated[int | None, Meta(description="The least number of items allowed.")] = None
    max: Annotated[int | None, Meta(description="The greatest number of items allowed.")] = None


class Value(Declared, frozen=True, kw_only=True, tag="value"):
    """The response, or a place of it, is this JSON value. Numbers are compared as numbers."""

    begins: ClassVar = ("at PATH equals",)
    examples: ClassVar = (30, True, [1, 2])
    of_response: ClassVar = True

    value: Annotated[Any, Arguments, Meta(description="The value, of any JSON type.")]


JsonCheck = Json | Structure | Number | Count | Value
