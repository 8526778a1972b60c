"""Checks of the response's text."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from msgspec import Meta

from evalc.model.checks.declaration import Declared, Field, Pattern, Text

LengthUnit = Literal["chars", "words", "lines", "bytes"]


class _TextCheck(Declared, frozen=True, kw_only=True):
    of_response: ClassVar = True


class Contains(_TextCheck, frozen=True, kw_only=True, tag="contains"):
    """The response contains the text, case-sensitively."""

    line: ClassVar = "contains {value}"
    examples: ClassVar = ("type hint",)
    contract: ClassVar = (Field("response_contains", "value", each=True),)
    empty: ClassVar = "passes"

    value: Annotated[Text, Meta(description="The text.")]


class NotContains(_TextCheck, frozen=True, kw_only=True, tag="not_contains"):
    """The response does not contain the text."""

    line: ClassVar = "not contains {value}"
    examples: ClassVar = ("I don't know",)
    contract: ClassVar = (Field("response_not_contains", "value", each=True),)
    empty: ClassVar = "fails"

    value: Annotated[Text, Meta(description="The text.")]


class IContains(_TextCheck, frozen=True, kw_only=True, tag="icontains"):
    """The response contains the text, ignoring case (both are case-folded)."""

    line: ClassVar = "contains {value} ignoring case"
    examples: ClassVar = ("refund",)
    empty: ClassVar = "passes"

    value: Annotated[Text, Meta(description="The text.")]


class ContainsAny(_TextCheck, frozen=True, kw_only=True, tag="contains_any"):
    """The response contains at least one of the texts."""

    line: ClassVar = "contains any of {values}"
    examples: ClassVar = (["rain", "umbrella"],)
    contract: ClassVar = (Field("response_contains_any", "values", each=True),)
    empty: ClassVar = "passes"

    values: Annotated[tuple[Text, ...], Meta(description="The texts, one of which must occur.")]


class Regex(_TextCheck, frozen=True, kw_only=True, tag="regex"):
    """The response matches the pattern: `new RegExp(pattern, flags).test(response)`."""

    line: ClassVar = "matches {pattern}"
    examples: ClassVar = ("/^def .*:/m",)
    contract: ClassVar = (Field("response_matches", "pattern", each=True),)

    pattern: Annotated[Pattern, Meta(description="The pattern, an ECMAScript regular expression.")]
    flags: Annotated[str, Meta(description="Its flags: any of `i`, `m`, `s`, `u`, `v`.")] = ""

    def has_field(self) -> bool:
        return not self.flags  # the contract's patterns have none


class Equals(_TextCheck, frozen=True, kw_only=True, tag="equals"):
    """The response is exactly the text."""

    line: ClassVar = "equals {value}"
    examples: ClassVar = ("42",)

    value: Annotated[Text, Meta(description="The text.")]


class StartsWith(_TextCheck, frozen=True, kw_only=True, tag="starts_with"):
    """The response starts with the text."""

    line: ClassVar = "starts with {value}"
    examples: ClassVar = ("Dear",)
    empty: ClassVar = "passes"

    value: Annotated[Text, Meta(description="The text.")]


class EndsWith(_TextCheck, frozen=True, kw_only=True, tag="ends_with"):
    """The response ends with the text."""

    line: ClassVar = "ends with {value}"
    examples: ClassVar = ("Best regards",)
    empty: ClassVar = "passes"

    value: Annotated[Text, Meta(description="The text.")]


class NonEmpty(_TextCheck, frozen=True, kw_only=True, tag="non_empty"):
    """The response contains more than white space, as JavaScript trims it."""

    line: ClassVar = "non-empty"
    contract: ClassVar = (Field("response_non_empty"),)


class Length(_TextCheck, frozen=True, kw_only=True, tag="length"):
    """The length of the response is within the bounds, both inclusive. Characters are Unicode code points."""

    line: ClassVar = "length {bounds} {unit}"
    examples: ClassVar = ("min:100", "max:2000", "min:20,max:80 words")
    contract: ClassVar = (Field("min_length", "min", once=True), Field("max_length", "max", once=True))

    min: Annotated[int | None, Meta(description="The least number allowed.")] = None
    max: Annotated[int | None, Meta(description="The greatest number allowed.")] = None
    unit: Annotated[LengthUnit, Meta(description="What is counted; characters by default.")] = "chars"

    def has_field(self) -> bool:
        # A lower bound of 0 asserts nothing in the contract.
        return (self.min, self.max) != (None, None) and self.min != 0 and self.unit == "chars"


class Similar(_TextCheck, frozen=True, kw_only=True, tag="similar"):
    """The response is similar to the text, by edit distance: 1 is the same text, 0 shares nothing with it."""

    line: ClassVar = "similar to {value} >= {threshold}"

    value: Annotated[Text, Meta(description="The text.")]
    threshold: Annotated[int | float, Meta(description="The least similarity that passes, from 0 to 1.")] = 0.8


TextCheck = (
    Contains
    | NotContains
    | IContains
    | ContainsAny
    | Regex
    | Equals
    | StartsWith
    | EndsWith
    | NonEmpty
    | Length
    | Similar
)
