"""The check that an installed package provides."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar

from msgspec import Meta, field

from evalc.model.checks.declaration import Arguments, Declared


class Custom(Declared, frozen=True, kw_only=True, tag="check"):
    """A check that an installed package provides (entry point `evalc.checks`), called with JSON values."""

    begins: ClassVar = ("check NAME(...)",)
    of_response: ClassVar = True

    name: Annotated[str, Meta(description="The name of the check, as the package provides it.")]
    args: Annotated[tuple[Any, ...], Arguments, Meta(description="The arguments by position.")] = ()
    options: Annotated[dict[str, Any], Arguments, Meta(description="The arguments by name.")] = field(
        default_factory=dict
    )
