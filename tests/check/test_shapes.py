"""The shapes of records: each form has one, and each misfit has its place."""

from typing import Any

import msgspec
import pytest

from evalc.check.forms import TYPES
from evalc.check.shapes import RECORDS, Check, sentence_of, worded_keys
from evalc.compiler.shape import mismatches
from tests.check.test_forms import RECORDS as WRITTEN


def misfits(record: Any) -> list[tuple[str, str, str]]:
    faults = mismatches(record, Check, what="a check")
    return [(pointer, finding.code, finding.message()) for pointer, finding in faults]


@pytest.mark.parametrize("record", WRITTEN, ids=lambda record: str(record["type"]))
def test_a_record_of_each_form_fits(record: dict[str, Any]) -> None:
    assert misfits(record) == []


def test_each_type_has_a_record_with_a_sentence_at_each_key() -> None:
    assert RECORDS.keys() - TYPES.keys() == {"call_has"}
    for type_, record in RECORDS.items():
        assert (record.__doc__ or "").endswith((".", "Nth, or no call."))
        for field in msgspec.structs.fields(record):
            sentence = msgspec.inspect.type_info(field.type)
            assert isinstance(sentence, msgspec.inspect.Metadata), (type_, field.name)
            assert (sentence.extra_json_schema or {})["description"]
    assert sentence_of("unique") == "No item of the list is there twice."


@pytest.mark.parametrize(
    ("record", "found"),
    [
        ({"type": "at", "path": "a"}, [("", "EV202", "a check has no `check`")]),
        ({"type": "number", "min": "3"}, [("/min", "EV301", "`min` must be a number, not `3`")]),
        ({"type": "usage", "of": None, "max": 1}, [("/of", "EV302", "`null` is not a value of `of`")]),
        (
            {"type": "measure", "of": None, "check": {"type": "exists"}},
            [("/of", "EV302", "`null` is not a value of `of`")],
        ),
        ({"type": "length", "min": 1.5}, [("/min", "EV301", "`min` must be a whole number, not `1.5`")]),
        ({"type": "latency"}, [("", "EV202", "a check has no `max`")]),
        ({"type": "latency", "max": None}, [("/max", "EV301", "`max` must be a number, not null")]),
        ({"type": "unique", "by": "a"}, [("#/by", "EV201", "`by` is not a key of a check")]),
        ({"type": "is_a", "of": "txt"}, [("/of", "EV302", "`txt` is not a value of `of`")]),
        ({"type": "not", "check": {"type": "nope"}}, [("/check/type", "EV203", "`nope` is not a check")]),
        ({"type": "format"}, [("", "EV202", "a check has no `of`")]),
        ({"type": "language", "of": "Englisch"}, [("/of", "EV302", "`Englisch` is not a value of `of`")]),
    ],
)
def test_each_misfit_is_named_at_its_place(record: Any, found: list[tuple[str, str, str]]) -> None:
    assert misfits(record) == found


@pytest.mark.parametrize("type_", ["number", "length", "count", "tool_count", "latency", "cost", "usage"])
def test_a_token_stands_for_a_number_and_no_other_text_does(type_: str) -> None:
    more = {"of": "total_tokens"} if type_ == "usage" else {}
    assert misfits({"type": type_, "max": "{{seed:limits.most}}", **more}) == []
    assert [code for _, code, _ in misfits({"type": type_, "max": "{{limits.most}}", **more})] == ["EV301"]


def test_scalars_are_texts_where_texts_or_words_stand() -> None:
    assert worded_keys("contains") == {"type", "value"}
    assert worded_keys("length") == {"type", "unit"}
    assert worded_keys("value") == worded_keys("number") == {"type"}
    assert worded_keys("tool_param") == {"type", "tool", "paramName", "assertion", "value"}
