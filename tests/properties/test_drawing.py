"""What the laws are tried on: every type of check can be drawn, as a mapping, as a line and as the model's record."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from evalc.dsl.build_rule import CHECK_TYPES
from tests.properties.drawing.checks import LABELED, MANY, ONCE, Draw, Spelt, about, judged
from tests.properties.drawing.worlds import DATA, PROSE


@st.composite
def one_of_each(draw: Draw) -> list[Spelt]:
    """A check of each maker, in both worlds."""
    made = [
        make(draw, world) for world in (PROSE, DATA) for make in {**MANY, **ONCE, **LABELED, **about(world)}.values()
    ]
    return [*made, judged(draw)]


def test_every_type_of_check_is_drawn() -> None:
    mappings: set[str] = set()
    records: set[str] = set()

    @settings(max_examples=20)
    @given(one_of_each())
    def note(drawn: list[Spelt]) -> None:
        mappings.update(spelt.mapping["type"] for spelt in drawn if isinstance(spelt.mapping, dict))
        records.update(spelt.record["type"] for spelt in drawn)

    note()
    assert {*CHECK_TYPES} - mappings == set()
    assert {*CHECK_TYPES, "at", "check"} - records == set()
