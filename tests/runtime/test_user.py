"""Forms of words that say the value of a fact, and words that say another value."""

from __future__ import annotations

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalc.runtime.run.user import given_for, gives, says

SAID = [
    ("Oslo", "Oslo, please."),
    ("Oslo", "to OSLO!"),
    ("Oslo", "Oslo's the place"),
    ("Oslo", "haluan huoneen Oslosta"),
    ("Oslo", "Oslo (Norway)"),
    ("smoking or not", "smoking or not"),
    ("Zürich", "To Zurich."),
    ("New York", "york, the new one"),
    ("new_york", "New York"),
    ("3", "For three nights."),
    ("3", "For 3 nights."),
    ("three", "3 of us"),
    ("3 nights", "Three."),
    ("3 nights", "3 nights, please"),
    ("two adults", "We are 2 adults."),
    ("two adults", "an adult, that is two"),
    ("1500", "It was 1,500 in all."),
    ("1,500 EUR", "1500 euros"),
    ("€285", "285 euros at most"),
    ("2027-03-14", "On March 14th."),
    ("2027-03-14", "14 March 2027"),
    ("2027-03-14", "on the 14th of Mar, 2027"),
    ("14 March 2027", "2027-03-14"),
    ("14 March 2027", "the 14th of March"),
    ("14.3.2027", "March 14"),
    ("March 14", "14/3/2027"),
    ("09:00", "at 9 am"),
    ("18:30", "at 18:30"),
    ("10:30 pm", "at 10:30 PM, please"),
    ("10:30 pm", "at 10.30 p.m."),
    ("10:30 pm", "at 22:30"),
    ("10:30 pm", "at 10:30"),
    ("22:30", "at 10:30 pm"),
    ("9 am", "at 09:00"),
    ("12 am", "at 0:00"),
    ("9 am", "from 9 am to 5 pm"),
    ("2026-03-02", "from 2026-03-01 to 2026-03-02"),
    ("2026-03-02", "from 2026-03-01 to 2 March"),
    ("2 March 2026", "2026-03-02"),
    ("2026-03-02", "02/03/2026"),
    ("2", "2.0 of them"),
    ("no window", "not at the window"),
    ("no window", "I don't like windows"),
    ("no window", "anything but a window"),
    ("no peanuts", "peanut-free"),
    ("not vegan", "I am not a vegan"),
    ("not before 9 am", "from 9 am on"),
    ("no smoking", "non-smoking"),
    ("window", "not the aisle, the window"),
    ("order no. 5", "order 5"),
    ("A100", "order a-100"),
    ("EUR999", "999 euros"),
    ("B2", "seat b2"),
    ("QX7-99B", "It is Q X 7 9 9 B."),
    ("+47 12345678", "+47 12 34 56 78"),
    ("+47 12 34 56 78", "my number is +4712345678."),
    ("ann@example.com", "Write to Ann@example.com."),
    ("12 Main Street", "Main Street 12"),
    ("no nuts", "without nuts"),
    ("yes", "I would like breakfast."),
    ("false", "I do not smoke."),
    ("none", "nothing at all"),
    ("", "whatever"),
    ("東京", "東京でお願いします"),
    ("三", "3 泊です"),
    ("กรุงเทพ", "ไปกรุงเทพครับ"),
    ("bought a red lamp on 3 March which arrived broken", "My red lamp of 3 March came broken."),
]
UNSAID = [
    ("Oslo", "Paris, please."),
    ("Oslo", "I would like a room."),
    ("Oslo", ""),
    ("New York", "New Delhi"),
    ("Anna Berg", "I am Anna Holm."),
    ("3", "For two nights."),
    ("3", "For 13 nights."),
    ("3 nights", "For 13 nights."),
    ("3 nights", "For nights on end."),
    ("2027-03-14", "On March 15th."),
    ("2027-03-14", "On April 14th."),
    ("14 March 2027", "2027-04-14"),
    ("March", "in April"),
    ("3", "in March"),
    ("A100", "order A200"),
    ("B2", "seat B21"),
    ("B2", "seat 2"),
    ("+47 12345678", "+47 12345679"),
    ("12 Main Street", "14 Main Street"),
    ("12 Main Street", "12 Wall Street"),
    ("ann@example.com", "bob@example.com"),
    ("no nuts", "without milk"),
    ("no window", "Window, please."),
    ("not vegan", "I am vegan."),
    ("no smoking", "Smoking"),
    ("10:30 pm", "at 10:30 am"),
    ("10 am", "at 10 p.m."),
    ("10:30 pm", "at 11:30"),
    ("2026-03-02", "2026-02-03"),
    ("2026-03-02", "2025-03-02"),
    ("2 March 2026", "2026-02-03"),
    ("2", "2.4"),
    ("two", "1.6"),
    ("東京", "大阪でお願いします"),
    ("Oslo", "Oslofjord"),
    ("bought a red lamp on 3 March which arrived broken", "My blue chair was lost."),
]


@pytest.mark.parametrize(("value", "text"), SAID)
def test_words_that_say_a_value(value: str, text: str) -> None:
    assert says(text, value)


@pytest.mark.parametrize(("value", "text"), UNSAID)
def test_words_that_do_not_say_a_value(value: str, text: str) -> None:
    assert not says(text, value)


@pytest.mark.parametrize(
    ("value", "given"),
    [
        *[pair for pair in SAID if pair[0]],
        ("500 EUR", "500 EUR/night"),
        ("500 EUR", "500 EUR or less"),
        ("50 km", "50 km/h"),
        ("Oslo", "Oslo or nothing"),
        ("Oslo", "I want Oslo or I leave"),
        ("Oslo", "Oslo please / nights: 3"),
        ("a@b.no", "a@b.no / phone unknown"),
        ("Oslo", "I want Oslo"),
    ],
)
def test_words_that_say_a_value_give_it(value: str, given: str) -> None:
    assert gives(given, value)


@pytest.mark.parametrize(
    ("value", "given"),
    [
        ("vegan", "not vegan"),
        ("vegan", "I'm not a vegan"),
        ("smoking", "no smoking"),
        ("smoking", "non-smoking"),
        ("window", "without window"),
        ("Oslo", "isn't Oslo"),
        ("Oslo", "Paris (Oslo)"),
        ("Oslo", "Paris or Oslo"),
        ("Oslo", "Oslo/Bergen"),
        ("Oslo", "Oslo and Paris"),
        ("Oslo", "Paris & Oslo"),
        ("Oslo", "Paris instead of Oslo"),
        ("500 EUR", "500 EUR or 600"),
        *UNSAID,
    ],
)
def test_words_that_give_another_value(value: str, given: str) -> None:
    assert not gives(given, value)


@given(st.text(), st.text(), st.text())
def test_who_says_a_value_as_it_is_written_says_it(before: str, value: str, after: str) -> None:
    assert says(f"{before}\n{value}\n{after}", value)


@given(st.text(), st.text(st.sampled_from(string.ascii_letters + " -_.:=0123456789")), st.text())
def test_any_text_can_be_asked_about(text: str, name: str, value: str) -> None:
    assert isinstance(says(text, value), bool)
    assert all(isinstance(given, str) for given in given_for(name, f"{text}\n{name}: {value}"))


@pytest.mark.parametrize(
    ("name", "text", "found"),
    [
        ("city", "City: Paris, nights: 3", ["Paris"]),
        ("nights", "City: Paris, nights: 3", ["3"]),
        ("arrival_time", "Hello. My arrival time = 18:30. Thanks", ["18:30"]),
        ("email", "E-mail me. Email: ann@example.com.", ["ann@example.com"]),
        ("order", "A question about my order: where is it?", []),
        ("city", "The city is nice, isn't it?", []),
        ("city", "Velocity: 3", []),
    ],
)
def test_words_that_give_a_value_outright(name: str, text: str, found: list[str]) -> None:
    assert list(given_for(name, text)) == found
