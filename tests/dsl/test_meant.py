"""Lines that are no checks, and the checks that they were probably meant as."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import evalc
from evalc.dsl.meant import Meant, hints, is_keyword, meant_by, meant_by_pair
from evalc.grammar.read_check import read_check

HEAD = "suite: s\neval:\n  test_cases:\n    - name: a\n      message: hi\n      validate:\n        - "
SAFE = [
    ("contains Tokyo", 'contains "Tokyo"'),
    ("not contains New York", 'not contains "New York"'),
    ("contains 東京", 'contains "東京"'),
    ("at title contains Tokyo", 'at title contains "Tokyo"'),
    ("tool x.y equals Tokyo", 'tool x.y equals "Tokyo"'),
    ("matches Tokyo", 'matches "Tokyo"'),
    ("contains any of Secret, Password", 'contains any of ["Secret", "Password"]'),
    ("has headings Summary, Risks", 'has headings "Summary", "Risks"'),
    ("begins with Dear", 'begins with "Dear"'),
    ("tools include lookup_order, book", "tools include [lookup_order, book]"),
    ("judge Is it kind?", 'judge "Is it kind?"'),
]

UNSAFE = [
    ("contains hello", 'contains "hello"'),
    ("toolz called [a]", "tools called [a]"),
    ("contains OK", 'contains "OK"'),
    ("not contains Q&A", 'not contains "Q&A"'),
    ("matches ^a+$", "matches /^a+$/"),
    ("not matches ssn|password", "not matches /ssn|password/"),
    ("contains any of secret, password", 'contains any of ["secret", "password"]'),
    ("has headings Summary, Next steps", 'has headings "Summary", "Next steps"'),
    ("doesn't contain foo bar", 'not contain "foo bar"'),
    ("must not contain x", 'must not contain "x"'),
    ('never contains "x"', 'not contains "x"'),
    ("total-tokens < 500 for y", "total tokens < 500 for y"),
    ("contains 'a' or 'b'", 'contains any of ["a", "b"]'),
    ("contains “hello”", 'contains "hello"'),
    ("not contains \u2018London\u2019", 'not contains "London"'),
    ("contains `hello` for x", 'contains "hello" for x'),
    ('contains "x" (case insensitive) for y', 'contains "x" ignoring case for y'),
    ('icontains "x"', 'contains "x" ignoring case'),
    ("max 30 words", "length <= 30 words"),
    ('containz "x"', 'contains "x"'),
    ("containz x", 'contains "x"'),
    ('not-contains "x"', 'not contains "x"'),
    ("NonEmpty", "non-empty"),
    ("any call of t with qty 2", "any call of t has qty 2"),
    ('no call of t with qty >= 2, city "Paris" for x', 'no call of t has qty >= 2, city "Paris" for x'),
    ("call 2 of t where guest.adults is 2", "call 2 of t has guest.adults 2"),
    ("every item of items with price > 0", "every item of items has price > 0"),
    ("every item of items price > 0", "every item of items has price > 0"),
    ('any item of items guest.name = "Ann", price >= 1', 'any item of items has guest.name "Ann", price >= 1'),
    ("no call of t qty > 2", "no call of t has qty > 2"),
    ("has keys a, b", "has fields a, b"),
    ('at meta has keys "a", b.c as number', "at meta has fields a, b.c as number"),
    ("has the field $.a.b", "has fields a.b"),
    ("max length 100", "length <= 100"),
    ("maximum length: 100 words", "length <= 100 words"),
    ("at summary min words 5", "at summary words >= 5"),
    ("max latency 2s", "latency <= 2s"),
    ("max_cost 0.02", "cost <= 0.02"),
    ("at items is sorted asc", "at items is sorted"),
    ("is sorted desc", "is sorted descending"),
    ("any call of t with qty=2", "any call of t has qty 2..2"),
    ("every item in items has price > 0", "every item of items has price > 0"),
    ("every item of items has price greater than 0", "every item of items has price more than 0"),
    ("no call of t has n lower than 5, city exists", "no call of t has n less than 5, city exists"),
    ('has fields ["a", "b"]', "has fields a, b"),
    ("contains key findings", 'contains "key findings"'),
    ("at items sorted by price", "at items is sorted by price"),
    ("not has the fields [a, b.c]", "not has fields a, b.c"),
    ("at meta has properties items[].id as number", "at meta has fields items[].id as number"),
    ("at items is sorted by price desc", "at items is sorted descending by price"),
    ("is sorted ascending by price", "is sorted by price"),
    ("is sorted by price asc for x", "is sorted by price for x"),
    ('has a heading called "Summary"', 'has headings "Summary"'),
    ('has a heading "Summary"', 'has headings "Summary"'),
    ('not has a heading "Summary"', 'not has headings "Summary"'),
    # Names and answers among words of the language.
    ("tool search called 2", "tool search called 2 times"),
    ("contains Paris or Rome", 'contains any of ["Paris", "Rome"]'),
    ("Contains Paris And Rome", 'contains all of ["Paris", "Rome"]'),
    ("contains Paris OR Rome", 'contains any of ["Paris", "Rome"]'),
    ("does not contain Paris or New York", 'not contains any of ["Paris", "New York"]'),
    ("includes Paris, Rome and Berlin", 'contains all of ["Paris", "Rome", "Berlin"]'),
    ("mentions neither Paris nor Rome", 'not contains any of ["Paris", "Rome"]'),
    ("contains Paris but not London", 'contains "Paris" and not contains "London"'),
    ("contains Paris AND contains Rome", 'contains "Paris" and contains "Rome"'),
    (
        "the answer should mention Paris and not mention London",
        'the answer should mention "Paris" and not mention "London"',
    ),
    ("contains Paris, not London", 'contains "Paris" and not contains "London"'),
    ("avoids mentioning London", 'not contains "London"'),
    ("must begin with the word Dear", 'starts with "Dear"'),
    ("contains www.example.com/a", 'contains "www.example.com/a"'),
    ("contains info@example.com", 'contains "info@example.com"'),
    ("says No", 'contains "No"'),
    ("The word Paris must not appear", 'not contains "Paris"'),
    ("2-3 sentences", "2..3 sentences"),
    ("10 to 20 words", "10..20 words"),
    ("It says Paris", 'contains "Paris"'),
    ("Paris is mentioned", 'contains "Paris"'),
    ("London must not appear", 'not contains "London"'),
    ("doesnt contain London", 'not contain "London"'),
    ("Should NOT contain London", 'should not contain "London"'),
    # The end of a sentence is no part of a text.
    ("contains Paris.", 'contains "Paris"'),
    ("not contains London.", 'not contains "London"'),
    ("Response contains Paris.", 'contains "Paris"'),
    ("The bot should not mention Kubernetes or Docker", 'not contains any of ["Kubernetes", "Docker"]'),
    ("at city is not Paris or Rome", 'at city not one of ["Paris", "Rome"]'),
    ("the answer should mention Paris and not mention London.", 'contains "Paris" and not contains "London"'),
    ("has fewer than 50 words.", "length < 50 words"),
    ("length < 50 words.", "length < 50 words"),
    ("does not call search.", "tools not called [search]"),
    ("is polite.", 'judge "is polite"'),
    ("contains Acme Inc.", 'contains "Acme Inc."'),
    ("ends with Goodbye.", 'ends with "Goodbye."'),
    ("mentions Paris exactly twice", 'contains "Paris" 2 times'),
    ("contains Paris at most once", 'contains "Paris" at most once'),
    ("contains Paris (case insensitive)", 'contains "Paris" ignoring case'),
    ("the answer is Paris", 'the answer is "Paris"'),
    ("answer is yes or no", 'one of ["yes", "no"]'),
    ("equals no", 'equals "no"'),
    ("contains hello or goodbye", 'contains any of ["hello", "goodbye"]'),
]


@pytest.mark.parametrize(
    ("written", "meant", "is_sure"), [*((*each, True) for each in SAFE), *((*each, False) for each in UNSAFE)]
)
def test_meant_checks(written: str, meant: str, is_sure: bool) -> None:
    assert read_check(written).faults
    found = meant_by(written)
    assert found is not None
    assert found._replace(note="") == Meant(meant, is_sure)


@pytest.mark.parametrize(
    "written",
    [
        "",
        "contains",
        "contains [a]",
        'contains "a',
        "latency <= 30",
        "x" * 5_000,
        # The rest may belong to the language.
        "contains a and json",
        "contains thanks for waiting",
        "contains hello ignoring case",
        "contains text message",
        "contains Thanks for waiting",
        "contains Terms and conditions",
        "contains one or more",
        "does not mention Paris nor London",
        "does not mention Paris but London",
        "must not mention Paris unless asked",
        "mentions Paris first",
        "contains Paris only",
        # A half would read as if it shared the words of another one.
        "must not start with Paris or end with London",
        "at total is a numbr and non-empty",
        "at total is greater than 5 and greater than 6 or more",
        "contains hello or similar",
        "is polite or friendly",
        "the answer is French",
        "the answer is Markdown",
        "contains Paris before London",
        "London and Rome must not appear",
        "does not mention Paris without London",
        "should mention Paris if asked",
        "mentions Paris when asked about France",
        "is Friendly",
        "is not Friendly or Rude",
        "is not Paris",
        "judge Paris or Rome",
        "The capital is Paris",
        "Tokyo weather is mentioned",
        "contains one moment",
        "has headings Summary and Risks",
        "contains Tokyo, Paris",
        'any call of t with qty 2 and contains "x"',  # which may be about the call
        'every call of t with city "Rome" or "Paris"',
        'any call of t with args {"a": 1}',
        'any call of t with result "x"',
        'any call of t where contains "x"',
        'any item of items with starts "x"',
        "every item of items value > 5",
        "every item of items always > 5",
        "every item of items size > 5",
        "every item of items exceeds 5",
        "every item of items type is number",
        "every item of items has > 3",
        "any call of book has >= 3",
        "any call of book is > 3",
        "any call of book count > 3",
        "every item of items price",
        'any item of items named "x"',
        "at x price > 5",
        "has only keys a, b",
        "has key findings",
        "has keys a and b",
        "has at least keys a, b",
        "every item in items has price > 0 and rating > 1",
        "is sorted by price or name",
        "max tokens 100",  # of the response, or all
        "max latency 2",
        "max length 100 or so",
        'contains at least 2 of ["a", "b"]',
        "has a heading",
        "contains A|B",
        "tools called search&book",
        # The rest may describe a text.
        "starts with a capital letter",
        "does not mention internal systems",
        "never contains semicolons",
        "does not contain HTML",
        "contains emojis",
        "does not contain emojis",
        "does not mention competitors",
        "must not contain personal information",
        "similar to a polite refusal",
        "tools called once",
        "Contains: TOOL",
        # A word that is not mistyped.
        "at x is falsy",
        # The words before are not all that a text needs.
        "any call of book has guest present",
        "no tools",
        "latency called once",
        'similar to "x" > 0.8',
    ],
)
def test_nothing_is_guessed_where_nobody_can_say(written: str) -> None:
    assert meant_by(written) is None


@pytest.mark.parametrize(
    ("words", "rule", "meant"),
    [
        ("contains", '"x"', 'contains "x"'),
        ("contains", "x", 'contains "x"'),
        ("not contains", "Q&A", 'not contains "Q&A"'),
        ("does not contain", "x", 'does not contain "x"'),
        ("length", "100..200", "length 100..200"),
        ("length", "at most 5 words", "length at most 5 words"),
        ("json", "", "json"),
        ("contains note", "x", 'contains "note: x"'),
        ("tools called", "[a]", "tools called [a]"),
        ("not contains 'Total", "5'", None),
        ("matches /a", "b/k", None),
        ("length", "3 words", "length 3 words"),
        ("nonsense", "x", None),
        ("never", "contains Rome", 'not contains "Rome"'),
        ("includes at least one of", "Paris, Rome", 'contains any of ["Paris", "Rome"]'),
        ("must not mention", "Paris or Rome", 'not contains any of ["Paris", "Rome"]'),
        ("the tone", "friendly", None),
    ],
)
def test_a_pair(words: str, rule: str, meant: str | None) -> None:
    assert meant_by_pair(words, rule, rule, f"{words}: {rule}") == meant


def test_a_pair_whose_value_is_in_quotes_is_a_text() -> None:
    assert meant_by_pair("contains", None, "a: b", "contains: 'a: b'") == 'contains "a: b"'
    assert meant_by_pair("length", None, "5", "length: '5'") is None


def test_a_list_is_not_a_text() -> None:
    assert meant_by_pair("contains", "[a, b]", None, "contains: [a, b]") is None


def test_words_of_the_language_are_known() -> None:
    assert all(map(is_keyword, ("contains", "mentions", "for", "not", "chars", "ms", "strict", "matches", "latency")))
    assert not any(map(is_keyword, ("a", "tokyo", "ignored", "q", "containers")))


_WORDS = st.sampled_from(
    [
        "contains",
        "not",
        "does",
        "is",
        "json",
        "or",
        "and",
        '"a"',
        "'b'",
        "tools",
        "tool x.y",
        "called",
        "one of",
        "[",
        "matches",
        "latency",
        "sec",
        "“",
        "&&",
        "x",
        "length",
        "<",
        "9",
        "for",
    ]
)


@given(st.lists(_WORDS, max_size=9).map(" ".join) | st.text(max_size=40))
def test_guessed_lines_are_checks(text: str) -> None:
    meant = meant_by(text)
    for line in (None if meant is None else meant.line, meant_by_pair("contains", text, text, f"contains: {text}")):
        assert line is None or not read_check(line).faults


@pytest.mark.parametrize(
    ("written", "line"),
    [
        ("at total is about 20", "at total within 1 of 20"),
        ("at total approximately 19.5", "at total within 1 of 19.5"),
        ("every item of prices should be around -3", "every item of prices within 1 of -3"),
        ("about 20", "within 1 of 20"),
        ("response ~= 20", "response within 1 of 20"),
        ("tool t.p is roughly {{n}}", "tool t.p within 1 of {{n}}"),
    ],
)
def test_how_near_is_asked(written: str, line: str) -> None:
    assert meant_by(written) is None
    problem = next(each for each in evalc.check(evalc.Source("s.eval.yaml", f"{HEAD}{written}\n")) if each.fix is None)
    assert problem.finding.help() == f"how near? for instance `- {line}`"


@pytest.mark.parametrize(
    "written", ["contains about 20", "at most about 20", "about", "at total about", 'judge "x" >= about 3']
)
def test_how_near_is_not_asked(written: str) -> None:
    problems = evalc.check(evalc.Source("s.eval.yaml", f"{HEAD}{written}\n"))
    assert problems
    assert not any("how near" in each.finding.help() for each in problems)


@pytest.mark.parametrize(
    ("written", "line"),
    [
        ("not: contains London", 'not: contains "London"'),
        ("{not: contains London}", 'not: contains "London"'),
        ("not: at total is about 20", "not: at total within 1 of 20"),
        ("not: [contains London]", '- contains "London"'),
    ],
)
def test_the_line_under_not_is_shown_with_it(written: str, line: str) -> None:
    (problem,) = evalc.check(evalc.Source("s.eval.yaml", f"{HEAD}{written}\n"))
    assert f"`{line}`" in problem.finding.help()


@pytest.mark.parametrize(
    "written",
    [
        "explains why the flight was delayed",
        "The bot should greet the user by name.",
        "is short",
        "contains a phone number",
        "lists at least 3 cities",
        "has no spelling mistakes",
    ],
)
def test_a_sentence_that_is_no_check_may_be_asked_of_a_judge(written: str) -> None:
    (problem,) = evalc.check(evalc.Source("s.eval.yaml", f"{HEAD}{written}\n"))
    line = f'judge "{written.removesuffix(".")}"'
    assert (problem.fix, problem.finding.help().removesuffix("?").endswith(f"`- {line}`")) == (None, True)
    assert read_check(line).node is not None


@pytest.mark.parametrize(
    "written",
    ["nonsense", "at x is falsy", "score > 0.8", "tool search called twce", "latency < 2", 'contains "x" fro q'],
)
def test_a_line_that_is_no_sentence_is_not_asked_of_a_judge(written: str) -> None:
    (problem,) = evalc.check(evalc.Source("s.eval.yaml", f"{HEAD}{written}\n"))
    assert "judge" not in problem.finding.help()


@pytest.mark.parametrize(
    ("written", "said"),
    [
        (
            "contains Tokyo, Rome",
            'any of them, or all? write `- contains any of ["Tokyo", "Rome"]` or `- contains all of ["Tokyo", "Rome"]`',
        ),
        (
            'contains "a", "b" for q',
            'any of them, or all? write `- contains any of ["a", "b"] for q` or `- contains all of ["a", "b"] for q`',
        ),
        (
            "does not mention internal systems",
            (
                'the exact words, as in `- does not mention "internal systems"`, or their meaning, which a judge '
                'decides, as in `- judge "does not mention internal systems"`?'
            ),
        ),
        (
            "mentions 14 days",
            (
                'the exact words, as in `- mentions "14 days"`, or their meaning, which a judge decides, as in '
                '`- judge "mentions 14 days"`?'
            ),
        ),
        (
            "contains rain for q",
            'where does the text end? write `- contains "rain" for q` or `- contains "rain for q"`',
        ),
        ("contains Rome for q", 'where does the text end? for instance `- contains "Rome" for q`'),
        ("starts with Dear for q", 'where does the text end? for instance `- starts with "Dear" for q`'),
        (
            "contains rain ignoring case for q",
            (
                'where does the text end? write `- contains "rain" ignoring case for q` or '
                '`- contains "rain ignoring case for q"`'
            ),
        ),
        (
            "contains: Tokyo, Rome",
            'any of them, or all? write `- contains any of ["Tokyo", "Rome"]` or `- contains all of ["Tokyo", "Rome"]`',
        ),
        ("answer: yes", 'all of the answer, or a part of it? write `- equals "yes"` or `- contains "yes"`'),
        (
            "tools: [search, book]",
            (
                "only these tools, or others as well? write `- tools called [search, book]` or "
                "`- tools include [search, book]`"
            ),
        ),
        (
            "tools: search",
            "only these tools, or others as well? write `- tools called [search]` or `- tools include [search]`",
        ),
        ("max_links(0)", "a check of your own is called by `check`: `- check max_links(0)`"),
        ("Paris", 'to look for it, write `- contains "Paris"`'),
        ('"Paris"', 'to look for it, write `- contains "Paris"`'),
        ("not: London", 'to look for it, write `not: contains "London"`'),
        ('name is "Anna"', 'if you mean a field of the JSON, write a check such as `- at name is "Anna"`'),
        ("city is Rome", 'if you mean a field of the JSON, write a check such as `- at city is "Rome"`'),
        (
            "total is more than 10",
            "if you mean a field of the JSON, write a check such as `- at total is more than 10`",
        ),
        ("score > 0.8", "if you mean a field of the JSON, write a check such as `- at score > 0.8`"),
        (
            'toolCalls[0].name == "search"',
            'the calls of a tool are found by its name, for instance `- tools include ["search"]`',
        ),
        (
            "result.tool_calls[-1].args['city'] == 'Rome'",
            "the calls of a tool are found by its name, for instance `- any call of book has city 'Rome'`",
        ),
        ("$.usage.cost exists", "this is not in the JSON of the response; where it is, write `- at usage.cost exists`"),
        (
            "$.toolCalls is a list",
            "this is not in the JSON of the response; where it is, write `- at toolCalls is a list`",
        ),
        ("latency < 2", "seconds, or milliseconds? `- latency < 2s` is in seconds"),
        ('may contain "Paris"', "every check has to hold: leave out what is optional"),
        ("does not have to mention Paris", "every check has to hold: leave out what is optional"),
        (
            'sounds as "x" does',
            """evalc knows no check in these words; a judge can decide it, as in `- judge 'sounds as "x" does'`""",
        ),
    ],
)
def test_lines_that_may_be_meant_are_shown(written: str, said: str) -> None:
    head = HEAD.replace("eval:", "eval:\n  criteria: [q]")
    (problem,) = evalc.check(evalc.Source("s.eval.yaml", f"{head}{written}\n"))
    assert (problem.fix, problem.finding.help()) == (None, said)


@pytest.mark.parametrize("written", ["answer_relevancy >= 0.7", "max_steps <= 2", "data.total > 5 and < 10"])
def test_a_line_that_is_of_no_field_shows_none(written: str) -> None:
    (problem,) = evalc.check(evalc.Source("s.eval.yaml", f"{HEAD}{written}\n"))
    assert "field of JSON" not in str(problem.finding.help())


def test_a_word_is_shown_with_its_apostrophe() -> None:
    (problem,) = evalc.check(evalc.Source("s.eval.yaml", f"{HEAD}doesn't shout\n"))
    assert problem.finding.message() == "`doesn't` is not a check"


@pytest.mark.parametrize(
    "line", ["tools called", "tools used", "tools include", "tools only", "tools none", "tools all"]
)
def test_a_word_of_how_tools_are_called_is_no_name_of_a_tool(line: str) -> None:
    assert hints(line).keys().isdisjoint({"exact", "include"})
