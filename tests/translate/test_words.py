"""Lines and mappings in the words of other tools become the line of evalc that says the same, or none."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evalc.grammar.read_check import read_check
from evalc.translate import translated
from evalc.translate.names import NOTES
from tests.support.laws import examples
from tests.translate.test_code import (
    JAVASCRIPT_OF_OBJECTS,
    JAVASCRIPT_OF_TEXTS,
    PYTHON_OF_OBJECTS,
    PYTHON_OF_TEXTS,
)

ONLY = '{"type": "object", "properties": {"a": {}, "b": {}}, "required": ["a", "b"], "additionalProperties": false}'
LINES = {
    # promptfoo
    'icontains "Paris"': 'contains "Paris" ignoring case',
    'contains-any ["a", "b"]': 'contains any of ["a", "b"]',
    'not-icontains "x"': 'not contains "x" ignoring case',
    'starts-with "Hi"': 'starts with "Hi"',
    "not-regex /a+b/": "not matches /a+b/",
    'is-json {"type": "object"}': 'json matching {"type": "object"}',
    "word-count 50": "length == 50 words",
    "word-count between 5 and 10": "length >= 5 words and length <= 10 words",
    "latency 2000": "latency <= 2s",
    "latency < 2000": "latency < 2s",
    'llm-rubric "Is it kind?"': 'judge "Is it kind?"',
    'javascript output.includes("x")': 'contains "x"',
    'python "x" in output': 'contains "x"',
    # Hurl, Karate, Postman
    'jsonpath "$.name" exists': "at name exists",
    'jsonpath "$.items" count == 2': "at items count == 2",
    'jsonpath "$.name" isString': "at name is a text",
    'jsonpath "$.user.name" startsWith "A"': 'at user.name starts with "A"',
    'jsonpath "$.n" not == 4': None,
    'body contains "x"': 'contains "x"',
    "duration < 1500": "latency < 1.5s",
    "match response.name == '#string'": "at name is a text",
    "match response.name == 'Ann'": 'at name equals "Ann"',
    "match each items[*].price == '#number'": "every item of items has price is a number",
    "pm.expect(json.total).to.eql(5)": "at total == 5",
    # Chai and Jest
    'expect(response).toContain("x")': 'contains "x"',
    'expect(response).not.toContain("x")': 'not contains "x"',
    "expect(response).toMatch(/x/i)": "matches /x/i",
    'expect(response).toMatch("x.y")': 'contains "x.y"',
    'expect(response).toEqual(expect.stringContaining("x"))': 'contains "x"',
    "expect(response).not.toEqual(expect.stringMatching(/x/))": "not matches /x/",
    'expect(json.tags).toEqual(expect.arrayContaining(["x", "y"]))': 'at tags contains all of ["x", "y"]',
    "expect(json.count).toEqual(expect.any(Number))": "at count is a number",
    "expect(json.items).toBeInstanceOf(Array)": "at items is a list",
    'expect(json).toMatchObject({id: 1, name: "x"})': 'at id == 1 and at name equals "x"',
    'expect(json.user).toEqual(expect.objectContaining({name: "x"}))': 'at user.name equals "x"',
    'expect(search).toHaveBeenCalledWith(expect.objectContaining({q: "x"}))': 'any call of search has q "x"',
    'pm.expect(json.tags).to.include.members(["x", "y"])': 'at tags contains all of ["x", "y"]',
    'pm.expect(json).to.have.all.keys("a", "b")': f"json matching {ONLY}",
    'assert set(data) == {"a", "b"}': f"json matching {ONLY}",
    'data.keys() == {"a", "b"}': f"json matching {ONLY}",
    'keys == ["a", "b"]': f"json matching {ONLY}",
    'type == "array"': "is a list",
    'expect(response.endsWith("x")).toBeFalsy()': 'not ends with "x"',
    'expect(response.endsWith("x")).not.toBeFalsy()': 'ends with "x"',
    'expect(json).toHaveProperty("user.name", "Ann")': 'at user.name equals "Ann"',
    'expect(json.user).not.toHaveProperty("name.first")': "at user.name.first not exists",
    'pm.expect(pm.response.text()).to.not.include("x")': 'not contains "x"',
    "data['total'] == pytest.approx(50, rel=0.05)": "at total within 2.5 of 50",
    "search.call_count >= 2": "tool search called at least 2 times",
    "assert not search.called": "tools not called [search]",
    'tools_called.count("search") == 2': "tool search called 2 times",
    "data['total'] == pytest.approx(-50, rel=0.05)": None,
    "len(response) <= 10 * 2": "length <= 20 chars",
    "float(response) > 5": "response > 5",
    "Number(response) === 5": "response == 5",
    'actual_output does not contain "x"': 'not contains "x"',
    "completion_time < 5": "latency < 5s",
    'Object.keys(data).includes("x")': "at x exists",
    '"x" in list(data.keys())': "at x exists",
    'list(data["tags"]) == ["x"]': 'at tags equals ["x"]',
    'jsonpath "$.at" isIsoDate': "at at is a date-time",
    'expect(json.items).to.be.an("array")': "at items is a list",
    "expect(json.total).toBeLessThan(5)": "at total < 5",
    "expect(json.total).toBeGreaterThanOrEqual(5)": "at total >= 5",
    "expect(json.name).toBeNull()": "at name equals null",
    "expect(json.name).to.not.be.undefined": "at name exists",
    "expect(json.items).toHaveLength(3)": "at items count == 3",
    "expect(json).to.have.property('name')": "at name exists",
    "expect(book).toHaveBeenCalledTimes(2)": "tool book called 2 times",
    "expect(book).not.toHaveBeenCalled()": "tools not called [book]",
    # jq
    ".a.b == 4": "at a.b == 4",
    ".items | map(.price) | all(. > 0)": "every item of items has price > 0",
    "all(.items[]; .price > 0)": "every item of items has price > 0",
    "[.items[] | select(.price > 100)] | length == 0": "no item of items has price > 100",
    '.tags == ["a", "b"]': 'at tags equals ["a", "b"]',
    "jq '.items | length > 2'": "at items count > 2",
    # Gherkin and English
    "Then the response should be valid JSON": "json",
    'the response should contain "a" or "b"': 'contains any of ["a", "b"]',
    'contains "a" and not "b"': 'contains "a" and not contains "b"',
    "calls get_weather once": "tool get_weather called once",
    "never calls cancel": "tools not called [cancel]",
    'calls book with city "Paris" and nights 2': 'any call of book has city "Paris", nights 2',
    "calls search and then book": "tools in order [search, book]",
    "max_tool_calls 3": "tool count <= 3",
    "responseTime < 1500ms": "latency < 1.5s",
    "answers in under 2 seconds": "latency < 2s",
    'pattern "A: \\d+"': "matches /A: \\d+/",
    "the response should have 3 lines": "length == 3 lines",
    "50 words or fewer": "length <= 50 words",
    'all(c.name in ["search", "book"] for c in tool_calls)': "tools only [search, book]",
    'result.output == "OK"': 'equals "OK"',
    'typeof json.error === "undefined"': "at error not exists",
    "type(data['x']) is NoneType": "at x equals null",
    'any(len(i["name"]) > 3 for i in items)': (
        "any item of items has name count > 3 or any item of items has name length > 3 chars"
    ),
    'not any(len(i["name"]) > 3 for i in items)': (
        "no item of items has name count > 3 and no item of items has name length > 3 chars"
    ),
    "never calls refund or cancel": "tools not called [refund, cancel]",
    "faster than 2 seconds": "latency < 2s",
    "less than 3 seconds": "latency < 3s",
    "within 500 ms": "latency <= 500ms",
    "is in JSON format": "json",
    "the answer is formatted as valid JSON": "json",
    'assert len(response) < 9, "too long"': "length < 9 chars",
    'in the second turn, the answer contains "x"': 'turn 2 contains "x"',
    'tool pay result contains "done"': 'any call of pay returns contains "done"',
    'the pay tool\'s output mentions "done"': 'any call of pay returns contains "done"',
    "tool pay does not fail": "no call of pay fails",
    "at least 20 words": "length >= 20 words",
    "match response.items == '#[2]'": "at items count == 2",
    'contains neither "a" nor "b"': 'not contains any of ["a", "b"]',
    "answers in French": "is in French",
    'the response should have the field "name"': "at name exists",
    "does not call any tool": "tools called []",
    "pm.expect(pm.response.responseTime).to.be.below(200)": "latency < 200ms",
    "ends with a question mark": 'ends with "?"',
    'should not mention "x" at the end': 'not ends with "x"',
    "no longer than 40 characters": "length <= 40 chars",
    "total tokens 500": "total tokens <= 500",
    "tool_calls 3": "tool count == 3",
    "total tokens is at most 500": "total tokens <= 500",
    "in turn 2 the reply should contain 'x'": 'turn 2 contains "x"',
    'g_eval "Is it right?" >= 0.7': 'judge "Is it right?" >= 7/10',
    "not (len(data['p']) > 4 or data['q'] == 1)": "(at p count <= 4 or at p length <= 4 chars) and at q not equals 1",
    "search should be called fewer than 3 times": "tool search called less than 3 times",
    # What is negated, or of each item, stays so.
    'not starts with "a" or "b"': 'not starts with "a" and not starts with "b"',
    'at x does not end with "a" or "b"': 'at x not ends with "a" and at x not ends with "b"',
    'doesn\'t start with "a" or "b"': 'not starts with "a" and not starts with "b"',
    'not matches "x" or "y"': "not matches /x/ and not matches /y/",
    'at status is not "a" and not "b"': 'at status not equals "a" and at status not equals "b"',
    'does not start with "a" and not "b"': 'not starts with "a" and not starts with "b"',
    "not calls search exactly twice": "not tool search called 2 times",
    'never says "x" or "y"': 'not contains any of ["x", "y"]',
    'icontains "a" or not "b"': 'contains "a" ignoring case or not contains "b" ignoring case',
    "at names[*] length not 0": "every item of names not length == 0 chars",
    "at names[*] length === 5": "every item of names length == 5 chars",
    "at items[*].price ne 5": "every item of items has price not equals 5",
    "at items[*].price is not greater than 5": "every item of items has price <= 5",
    'jsonpath "$.names[*]" count == 2': "at names count == 2",
    'jsonpath "$.items[*].price" count == 2': None,
    # A text in quotes behind `at` is one key.
    'not at "a.b" in 5': 'at "a.b" not one of [5]',
    'at "items[0]" should be one of 1': 'at "items[0]" one of [1]',
    'jsonpath "a.b" is 5': "at a.b == 5",
    "without tool errors": "no tool errors",
    "the response must have a field x equal to 5": "at x == 5",
    'calls book and mentions "x"': 'tools include [book] and contains "x"',
    "calls book with start 1 and end 2": "any call of book has start 1, end 2",
    "calls book with city Oslo, nights 3": 'any call of book has city "Oslo", nights 3',
    'book was called with nights=2, city="Oslo"': 'any call of book has nights 2, city "Oslo"',
    "trajectory:tool-args-match book city=Oslo nights=2": 'any call of book has city "Oslo", nights 2',
    'ToolCall(name="book", input_parameters={"city": "Oslo"})': 'any call of book has city "Oslo"',
    "not-trajectory:tool-used book": "tools not called [book]",
    "trajectory:tool-sequence search, book": "tools in order [search, book]",
    "tool_call_count(search) == 2": "tool search called 2 times",
    "expect tool search to be called twice": "tool search called 2 times",
    "book not in tools_called": "tools not called [book]",
    "expect(tools.book).toHaveBeenCalledTimes(2)": "tool book called 2 times",
    'expect(book).toHaveBeenNthCalledWith(2, {city: "Oslo"})': 'call 2 of book has city "Oslo"',
    "expect(search).toHaveBeenCalledBefore(book)": "tool search called before book",
    "expect(json.price).toBeCloseTo(9.99, 2)": "at price > 9.985 and at price < 9.995",
    "expect(json.price).not.toBeCloseTo(10)": "at price <= 9.995 or at price >= 10.005",
    "expect(latency).toBeLessThan(1000) // ms": "latency < 1s",
    'icontains-any: refund, "money back"': 'contains any of ["refund", "money back"] ignoring case',
    "icontains-any refund|voucher": 'contains any of ["refund", "voucher"] ignoring case',
    'contains-all "a, b" "c"': 'contains all of ["a, b", "c"]',
    "contains-any: don't, isnt it, 'it is'": 'contains any of ["don\'t", "isnt it", "it is"]',
    "regex isnt .*": "matches /isnt .*/",
    'contains-any: "a" or "b"': 'contains any of ["a", "b"]',
    "contains-any: a, b and latency < 2s": 'contains any of ["a", "b"] and latency < 2s',
    '.response == "x"': 'equals "x"',
    '.response.a | test("x")': "at response.a matches /x/",
    ".response.total > 4": "at response.total > 4",
    "output.includes(`isnt`)": 'contains "isnt"',
    '.x | test("IN(a,b)")': "at x matches /IN(a,b)/",
    '$.items[*].name all contain "salt and pepper"': 'every item of items has name contains "salt and pepper"',
    "language: no": "is in Norwegian",
    "is JSON with the key id": "json and has fields id",
    "search_tool in tools_called": "tools include [search_tool]",
    "not-regex (?i)as an ai": "not matches /as an ai/i",
    "tokenUsage.total < 500": "total tokens < 500",
    "usage.cost <= $0.02": "cost <= $0.02",
    "$.usage.outputTokens < 200": "output tokens < 200",
    "$.usage.costUsd < 0.01": "cost < $0.01",
    "$.usage.credits < 5": "at usage.credits < 5",
    'GEval(criteria="It is kind")': 'judge "It is kind"',
    "LLM judge: it is kind": 'judge "it is kind"',
    "language == es": "is in Spanish",
    "num_sentences(output) <= 3": "sentences <= 3",
    'contains_any(output, ["a", "b"])': 'contains any of ["a", "b"]',
    'starts_with(response, "a")': 'starts with "a"',
    'res.body.includes("a")': 'contains "a"',
    'response.rstrip().endswith("a")': r"matches /a\s*$/",
    'Path("out/report.md").exists()': 'file "out/report.md" exists',
    '.response | test("a")': "matches /a/",
    '.priority | IN("low", "high")': 'at priority one of ["low", "high"]',
    "length(items) >= 2": "at items count >= 2",
    "$.items[*].price all < 50": "every item of items has price < 50",
    "$.day =~ /^2/": "at day matches /^2/",
    "keep it under 3 sentences": "sentences < 3",
    "Then the response time should be < 1 sec": "latency < 1s",
    'the JSON response should have key "id"': "at id exists",
    "is valid JSON with the keys id and name": "json and has fields id, name",
    'either "a" or "b" is mentioned': 'contains any of ["a", "b"]',
    'doesnt contain "a"': 'not contains "a"',
    'says "a" somewhere, upper or lower case doesn\'t matter': 'contains "a" ignoring case',
    'calls search with q containing "x"': 'any call of search has q contains "x"',
    "book is called with nights greater than 1 and city set to 'x'": 'any call of book has nights > 1, city "x"',
    "calls book with nights between 1 and 5": "any call of book has nights 1..5",
    'calls search with the q not "x"': 'any call of search has q not equals "x"',
    'search is called with q "x" or "y"': 'any call of search has q one of ["x", "y"]',
    'search was never called with q "x"': 'no call of search has q "x"',
    'search should not have been called with q "x"': 'no call of search has q "x"',
    "never calls book with nights over 5": "no call of book has nights > 5",
    'search is always called with q "x"': 'every call of search has q "x"',
    'tool "x" should never have been called': "tools not called [x]",
    "no_tool_calls": "tools called []",
    'tool_called("search")': "tools include [search]",
    'not tool_called("search")': "tools not called [search]",
    "tool_called('search', times=2)": "tool search called 2 times",
    'tool_was_called("search", args={"q": "x"})': 'any call of search has q "x"',
    'calls search with q containing "x" and the answer mentions "y"': (
        'any call of search has q contains "x" and contains "y"'
    ),
    "tool_not_called: search": "tools not called [search]",
    "calls book only after search": "tools not called [book] or tool search called before book",
    "only calls book after calling search": "tools not called [book] or tool search called before book",
    "if it calls book, it must call search first": "tools not called [book] or tool search called before book",
    "must not call pay unless ask was called before": "tools not called [pay] or tool ask called before pay",
    "never calls pay without calling ask first": "tools not called [pay] or tool ask called before pay",
    "tools called in order: search, then book": "tools in order [search, book]",
    "expected_tools: [search, book]": "tools include [search, book]",
    "only uses the search and book tools": "tools only [search, book]",
    "at total is greater than 5 and less than 9": "at total > 5 and at total < 9",
    "at total is lower than 5 or higher than 9": "at total < 5 or at total > 9",
    "has fewer than 9 words and more than 5": "length < 9 words and length > 5 words",
    "the answer has more than 5 but fewer than 9 words": "length > 5 words and length < 9 words",
    "word count at least 5 and at most 9": "length >= 5 words and length <= 9 words",
    "is longer than 5 words and shorter than 9 words": "length > 5 words and length < 9 words",
    'mentions "x" more than 2 but fewer than 5 times': (
        'contains "x" more than 2 times and contains "x" less than 5 times'
    ),
    "words at least 5 but not more than 9": "length >= 5 words and length <= 9 words",
    "latency > 1s and < 5s": "latency > 1s and latency < 5s",
    "the number of items in a is 3": "at a count == 3",
    "the length of a is 3": "at a count == 3 or at a length == 3 chars",
    'the JSON must not have a "x" field': "at x not exists",
    'Then the JSON should have a field "id"': "at id exists",
    'the "items" array should have 3 elements': "at items count == 3",
    'the "total" field should be greater than 5': "at total > 5",
    'uses the word "x" no more than twice': 'contains "x" at most 2 times',
    'must not use the word "x"': 'not contains "x"',
    'uses the "search" tool twice': "tool search called 2 times",
    "trajectory unordered match [search, book]": "tools include [search, book] and tool count == 2",
    "trajectory_strict_match [search, book]": "tools called [search, book]",
    r"not-regex \d{3}/\d{4}": r"not matches /\d{3}\/\d{4}/",
    'trajectory:tool-args-match search {"q": "x"}': 'any call of search has q "x"',
    "tool-call-count search == 1": "tool search called once",
    "tool-call-count search <= 2": "tool search called at most 2 times",
    "search.assert_not_called()": "tools not called [search]",
    'search.assert_called_once_with(q="x")': 'tool search called once and any call of search has q "x"',
    'search.assert_any_call(q="x")': 'any call of search has q "x"',
    'search.assert_called_with(q="x")': None,  # of the last call
    'tool "search" args.limit == 2': "tool search.limit == 2",
    'tool_args(search).query contains "x"': 'tool search.query contains "x"',
    'only tools allowed: ["search", "read"]': "tools only [search, read]",
    "only search is called": "tools only [search]",
    "search comes before book": "tool search called before book",
    "the greeting comes before the answer": None,
    "no more than 3 tools calls": "tool count <= 3",
    "it costs less than 2 cents": "cost < $0.02",
    "usage.inputTokens + usage.outputTokens <= 200": "total tokens <= 200",
    "llm-rubric: refuses to write malware": 'judge "refuses to write malware"',
    "toxicity: the output must not be toxic": 'judge "the output must not be toxic"',
    "the tone is friendly and warm": 'judge "the tone is friendly and warm"',
    "it politely refuses to give a dosage": 'judge "it politely refuses to give a dosage"',
    "the response should be polite": 'judge "the response should be polite"',
    "the response contains no PII": 'judge "the response contains no PII"',
    "does not hallucinate": 'judge "does not hallucinate"',
    "is not polite": None,
    "language is French": "is in French",
    "language is formal": None,
    "there must be no email address in the answer": r"not matches /[^\s@]+@[^\s@]+\.[^\s@]+/",
    "the number 15 appears in the answer": r"matches /(?<![\d.,])15(?!\d|[.,]\d)/",
    r'pattern(r"A:\s*\d+")': r"matches /A:\s*\d+/",
    'match("42", location="end")': 'ends with "42"',
    "Then the response should contain a markdown link": None,  # `has a link` takes a bare address for one
    'Then the JSON at "user/name" should be "Ann"': 'at user.name equals "Ann"',
    "$.items.length() > 1": "at items count > 1",
    'output of turn 1 includes "x"': 'turn 1 contains "x"',
    "match response.nick == '#null'": "at nick equals null",
    "match response contains {total: 240, id: '#number'}": "at total == 240 and at id is a number",
    "match response.items contains {id: 1}": None,  # of any item
    "match each response.items contains {id: '#number', name: 'x'}": 'every item of items has id is a number, name "x"',
    "match response == {id: '#number'}": (
        'json matching {"type": "object", "properties": {"id": {"type": "number"}}, "required": ["id"], '
        '"additionalProperties": false}'
    ),
    "match response == {id: ['#number']}": None,
    "match response.user == {id: '#number'}": None,
    "match response.tags == ['#string']": None,
    "the answer mentions Paris": 'contains "Paris"',
    "the answer mentions Markdown": None,
    "contains Spanish": None,
    "the answer contains a link": r"matches /https?:\/\/[^\s\/]/",
    "there must be a date in the form YYYY-MM-DD": r"matches /\b\d\d\d\d-\d\d-\d\d\b/",
    "mentions Python code": None,
    "the reply does not contain the word sorry": 'not contains "sorry"',
    "latency threshold 3000": "latency <= 3s",
    "cost limit 0.002": "cost <= $0.002",
    "the answer took less than 3 seconds": "latency < 3s",
    "the answer is friendly and offers more help": 'judge "the answer is friendly and offers more help"',
    "Then the response should politely decline the request": 'judge "the response should politely decline the request"',
    'await judge("Is it formal?")': 'judge "Is it formal?"',
    'model_graded_qa("Names Lima")': 'judge "Names Lima"',
    'match("Paris", location="begin")': 'starts with "Paris"',
    "ToolCorrectness expected_tools=[search, book]": "tools include [search, book]",
    "trajectory:tool-used search at most 2": "tool search called at most 2 times",
    'tool_calls includes "search"': "tools include [search]",
    'tool_call search args query="flights"': 'any call of search has query "flights"',
    'the weather tool was called with the city "Oslo"': 'any call of weather has city "Oslo"',
    'tool "search" called with city == "Rome"': 'any call of search has city "Rome"',
    'there are at least 2 items in the list "orders"': "at orders count >= 2",
    'pm.response.to.have.jsonBody("user.id")': "at user.id exists",
    'json_schema_match {"type": "object"}': 'json matching {"type": "object"}',
    "expect(response).to.have.length.below(50)": "length < 50 chars",
    "!toolCalls.some(c => c.success === false)": "tool errors < 1",
    ".usage.costUsd < 0.05": "cost < $0.05",
    # What must not be there, as people say it.
    'avoids mentioning "x"': 'not contains "x"',
    'the answer must avoid the words "x" or "y"': 'not contains any of ["x", "y"]',
    'without "x"': 'not contains "x"',
    'no mention of "x"': 'not contains "x"',
    'excludes "x"': 'not contains "x"',
    'does not avoid "x"': None,
    'not "x"': 'not contains "x"',
    'no "x"': 'not contains "x"',
    'fail if it contains "x"': 'not contains "x"',
    'fails when the answer mentions "x" or "y"': 'not contains any of ["x", "y"]',
    'fails if it does not contain "x"': 'contains "x"',
    'pass if it contains "x"': 'contains "x"',
    '"x" should not appear': 'not contains "x"',
    '"x" must never be mentioned': 'not contains "x"',
    '"x" is not in the answer': 'not contains "x"',
    '"x" is in the answer': 'contains "x"',
    '"x" or "y" is mentioned': None,
    'contains "x", not "y"': 'contains "x" and not contains "y"',
    'says "x", but not "y"': 'contains "x" and not contains "y"',
    "calls search but not book": "tools include [search] and tools not called [book]",
    "calls search, not book": "tools include [search] and tools not called [book]",
    "calls search or book": "tools include [search] or tools include [book]",
    "the tool search must not be called more than once": "tool search called at most 1 times",
    'contains "x" rather than "y"': 'contains "x" and not contains "y"',
    'contains "x" without "y"': 'contains "x" and not contains "y"',
    'contains "x" but without "y"': 'contains "x" and not contains "y"',
    'contains "x" & "y"': 'contains all of ["x", "y"]',
    'contains "x" and/or "y"': 'contains any of ["x", "y"]',
    'contains "x & y"': None,
    '1) contains "x"': 'contains "x"',
    '• contains "x"': 'contains "x"',
    'contains "x" at the beginning': 'starts with "x"',
    'does not contain "x" and not "y"': 'not contains "x" and not contains "y"',
    'not contains "x", not "y"': 'not contains "x" and not contains "y"',
    'does not contain "x" or not "y"': None,
    'mentions at least one of "x", "y"': 'contains any of ["x", "y"]',
    'does not contain "x" without "y"': None,
    'not contains "x" instead of "y"': None,
    'the name "x" must not appear': 'not contains "x"',
    "between one and three sentences": "sentences >= 1 and sentences <= 3",
    "must not use tools": "tools called []",
    "do not call any tools": "tools called []",
    'must begin with the word "x"': 'starts with "x"',
    'ends in "!"': 'ends with "!"',
    "contains 20%": 'contains "20%"',
    "calls at most two tools": "tool count <= 2",
    # Numbers in words.
    "at most three sentences": "sentences <= 3",
    "fewer than five sentences": "sentences < 5",
    "less then 50 words": "length < 50 words",
    "is one sentence": "sentences == 1",
    "no more than one tool call": "tool count <= 1",
    'contains "at most three sentences"': None,
    'contains exactly "x y"': 'contains "x y"',
    'contains the exact phrase "x y"': 'contains "x y"',
    'contains the phrases "x" and "y"': 'contains all of ["x", "y"]',
    "contains the number 42": r"matches /(?<![\d.,])42(?!\d|[.,]\d)/",
    # The calls are the answer's, and not in the JSON of its text.
    ".tool_calls | length == 2": "tool count == 2",
    "$.toolCalls[0].params.limit <= 10": None,
    '.toolCalls[0].result.status == "ok"': None,
}


@pytest.mark.parametrize("text", LINES)
def test_a_line_in_other_words_has_its_line(text: str) -> None:
    found = translated(text)
    assert (found and found.line) == LINES[text]


MAPPINGS: list[tuple[dict[str, Any], str | None]] = [
    ({"type": "contains", "value": "x"}, 'contains "x"'),
    ({"type": "not-icontains-any", "value": ["x", "y"]}, 'not contains any of ["x", "y"] ignoring case'),
    ({"assert": "equals", "expected": "x"}, 'equals "x"'),
    ({"type": "regex", "pattern": "x", "flags": "i"}, "matches /x/i"),
    ({"type": "latency", "threshold": 1500}, "latency <= 1.5s"),
    ({"type": "cost", "threshold": 0.002}, "cost <= $0.002"),
    ({"type": "javascript", "value": "output.length < 5"}, "length < 5 chars"),
    ({"type": "llm-rubric", "value": "Is it kind?"}, 'judge "Is it kind?"'),
    ({"type": "llm-rubric", "value": "Is it kind?", "threshold": 0.8}, 'judge "Is it kind?" >= 8/10'),
    ({"tool": "book", "called_with": {"city": "Oslo"}}, 'any call of book has city "Oslo"'),
    ({"path": "$.total", "op": "lt", "value": 3}, "at total < 3"),
    ({"jsonpath": "$.a", "exists": True}, "at a exists"),
    ({"jsonpath": "$.a", "exists": False}, "at a not exists"),
    ({"contains_all": ["x", "y"]}, 'contains all of ["x", "y"]'),
    ({"contains": ["x", "y"]}, None),
    ({"type": "contains-any", "value": "x,y"}, None),
    ({"contains": "x", "ignoreCase": True}, 'contains "x" ignoring case'),
    ({"type": "length", "max": 40}, "length <= 40 chars"),
    ({"expect": "json.total", "toBe": 5}, "at total == 5"),
    ({"total_tokens": 500}, "total tokens <= 500"),
    ({"tool_calls": 3}, "tool count == 3"),
    ({"max_words": 50}, "length <= 50 words"),
    ({"length": {"min": 1, "max": 3}}, "length >= 1 chars and length <= 3 chars"),
    ({"json": {"status": "ok", "items": {"count": 2}}}, 'at status equals "ok" and at items count == 2'),
    ({"tool": "book", "args": {"city": "Paris"}}, 'any call of book has city "Paris"'),
    ({"tool": "book", "args": {"guest": {"name": "Ann"}}}, 'any call of book has guest {"name": "Ann"}'),
    ({"tool": "book", "args": {"guest": {}}}, "any call of book has guest {}"),
    ({"tool": "book", "args": {"nights": {"gt": 3}}}, None),  # tests rather than an object
    ({"tool": "book", "args": {"nights": {"$gte": 3, "max": 5}}}, None),
    ({"tool": "book", "args": {"city": {"contains": "Par"}}}, None),
    ({"tool": "book", "args": {"nights": "> 3"}}, None),
    ({"json": {"total": ">= 3"}}, None),
    ({"tool": "book", "times": 2}, "tool book called 2 times"),
    ({"tool-call": "book with city=Paris"}, None),
    ({"not": ['contains "a"', 'contains "b"']}, None),
    ({"jsonpath": "$.a", "is": "number"}, None),
    ({"jsonpath": "$.a", "is": "x"}, 'at a equals "x"'),
    ({"jsonpath": "$.a", "within": [5, 0.1]}, None),
    ({"jsonpath": "$.a", "count": {"min": 2}}, "at a count >= 2"),
    ({"not": {"contains": "x"}}, 'not contains "x"'),
    ({"any": ["contains 'x'", {"contains": "y"}]}, 'contains "x" or contains "y"'),
    ({"jq": ".a == 1"}, "at a == 1"),
    ({"contains_table": True}, "has a table"),
    ({"includes_url": False}, r"not matches /https?:\/\/[^\s\/]/"),
    ({"type": "contains", "value": "x", "weight": 2}, None),
    ({"type": "contains"}, None),
    ({"contains": True}, None),
    ({"containsAny": {"x": 1}}, None),
    ({"haskey": None}, None),
    ({"between": []}, None),
    ({"path": "$.total", "between": [1, 240]}, "at total 1..240"),
    ({"path": "$.items[*].price", "not": {"gt": 5}}, "every item of items has price <= 5"),
    ({"path": "$.items[*].price", "not": {"gt": 5, "lt": 9}}, None),
    ({"path": "$.items[*].price", "isEmpty": False}, "every item of items has price non-empty"),
    ({"path": "$.items[*]", "count": 2}, "at items count == 2"),
    ({"path": "$.items[*].tags", "count": 2}, None),
]


@pytest.mark.parametrize(("pairs", "line"), MAPPINGS)
def test_a_mapping_in_other_words_has_its_line(pairs: dict[str, Any], line: str | None) -> None:
    found = translated(pairs)
    assert (found and found.line) == line


NEAR_MISSES = """
jsonpath "" exists
jsonpath ""name" exists
1if x
toolCalls.some(c => c.name === "book" && c.params.city)
len({c.name for c in tool_calls}) == 1
response.lastIndexOf("x") === 0
at name contains any /x/i
contains /x/
llm-rubric "x" >= 0.75
total tokens 2s
.tags | contains(["a", "b"])
sum_is_not_here if False else "x" in response
contains an address in Paris
contains the name of the city
does not not contain "x"
is a refusal
is-refusal
contains something like "x"
about 20 words
contains "x" near "y"
tokens < 500
error_count == 0
tool_calls[0].name == "search"
len(messages) < 5
response.status == 200
response.status_code < 400
latency < 2
duration < 2
total > 5
latancy < 2000
words.length < 5
data["ok"]
"Tokyo" in response.lower()
response > 5
sum(i["price"] for i in items) == 60
jq '[.items[].price] | add == 60'
response.replace("a", "b") == "b"
re.search(r"(?P<n>x)", response)
re.search(pattern, response)
re.search("x", response, re.X)
json.loads(response)["a"] == json.loads(response)["b"]
typeof json.x === "object"
json.items.every(i => i.tags.some(t => t === "a"))
response.includes(name)
response.length < limit
`${name}` === response
eval("1")
calls a tool
calls the tool
uses the right tool
contains "x" but only once or twice
matches the style of "x"
similarity >= 0.8
faithfulness > 0.9
levenshtein "abc" 3
contains either
ends with a joke
expect(response)
expect(response).toBeTruthy()
expect(response).toMatch(pattern)
expect(response).toMatchSnapshot()
not
and
( contains "x"
contains "x" and
javascript file://check.js
python import os
at items[-1].price > 5
.items[-1].price > 5
.items[] | .price > 5
json.items.find(i => i.a === 1).b === 2
response.includes("x") ? 1 : 0
a = 5
the final result of the search contains "x" somewhere
the tool fails
has no "x"
does "x"
response == "a" or "b"
response_time < 2
response[0] == "A"
data["name"][0] == "A"
data["tags"].count("new") == 2
response.search(/x/)
!response.indexOf("x")
response.find("x")
len(re.findall("x", response)) == 2
choices.length === 1
toolCalls.some(c => c.name !== "book")
(json.tags || toolCalls).includes("x")
any("a" in response for i in items)
any(i["x"] > 1 and "a" in response for i in items)
json.items.every(i => json.total > 5)
toolCalls.some(c => c.name === "book" && response.includes("x"))
all(len(i["name"]) > 3 for i in items)
isinstance(data["x"], float)
response.strip() == " OK"
" x" in response.strip()
all(c.name for c in tool_calls)
sorted(data["p"], reverse=True) == data["p"]
set(data["tags"]) == {"a", "b"}
exact "Paris" [search]
the price is between 10 and 20
expect(json.total).toBeCloseTo(price, 1)
expect(json.total).toBeCloseTo(20, digits)
expect(json.total).toBeCloseTo(20, -2)
expect(json.total).toBeCloseTo(20, 400)
expect(json.total).toBeCloseTo(20, true)
expect(json.total).toBeCloseTo(true)
expect(json.total).toBeCloseTo(1e300)
expect(console.log).toHaveBeenCalled()
expect(response.book).toHaveBeenCalledTimes(2)
expect(book).toHaveBeenNthCalledWith(0, {city: "Oslo"})
calls book with city Oslo and Rome
calls book with Oslo
calls book with Oslo Airport
calls book with nights Two
calls book with city Empty
calls book with city Unknown
calls book with confirmed Yes
expected_tool in tools_called
tool_name in tool_names
keep it short
keep it real and under 5 words
contains_any(["a", "b"], output)
starts_with(name, "a")
num_sentences(output, 3)
foo(response, "a")
is JSON with id and name
language: xx
contains-any [a
contains-any: a, or b
contains-any: refund or voucher
contains-any: a b c
contains-any: a; b
contains-any: a, b ignoring case
contains-any "a" "b" case insensitive
contains-any: `a`, `b`
contains-any: “a”, “b”
contains-any /a/, b
contains-any: "a\\"b", c
usage.response contains "x"
usage.words < 500
contains "a =~ /b/"
$.items[*].price all > 5 and < 50
Path("out/report.md")
language is no
is JSON with fields sorted
is JSON with keys id and nothing
is JSON with fields id, name and more
contains "a" || contains "b" but not contains "c"
contains "a" or contains "b" && not contains "c"
Object.keys(JSON.parse(response)).length === 2
match response.items == '#? _ > 0'
contains "{{x}}" and len(response) < 4 and foo
at x is not a number or text
at x is a number and text
at x icontains "a" or ends-with "b"
is not valid JSON or nonblank
expect(response).not.toContain("x") || nonblank
tools called [a] but not [b]
contains "a" or contains "b" but not contains "c"
says "a" or says "b" and says "c"
says "a" and says "b" or says "c"
at total > 5 or at total < 0 but not at total == 7
tools include [a] but do not include "b"
calls book with city "Paris" and mentions "x"
does not contain "x" but "y"
does not contain "x" or not "y"
contains all of "x" or "y"
contains any of "x" and "y"
contains both "x" or "y"
contains a link or an email address
contains "x" and not a link
not calls search twice
uses "please" at most twice
does not use "please"
never uses "please"
the "x" field
calls search with limit more than 5 but less than 9
contains "x" and more than 5
at x should not be lower than 5 or higher than 9
at x is not less than 5 and higher than 9
never calls pay without asking first
calls search with q "x" and not limit 5
must not call pay unless ask was called
if it calls book, it must call search
calls book only after the user agreed
calls search with q containing "x" twice
calls search with q "x" exactly once
calls search with q "x" and q "y"
calls search with q "x" before book
calls search with "x"
calls search with q
calls search with a q
calls search without q "x"
not search is called 3 times
!data.price > 5
response in "abc"
list(data) == ["x"]
data.includes("x")
expect(json).toContain("x")
mock_search.assert_not_called()
search_mock.assert_called_once_with(city="x")
expect(mockSearch).toHaveBeenCalled()
mock_search.call_count == 2
expect(json).toMatchObject({user: {name: "x"}})
expect(json.items).toMatchObject([{id: 1}])
expect(json).toEqual(expect.not.objectContaining({id: 1}))
expect(response).toEqual(expect.anything())
expect(json.user).to.have.keys("a", "b")
expect(json).to.have.any.keys("a", "b")
set(tags) == {"a", "b"}
sum(i["price"] for i in data["items"]) == 2
math.isclose(data["total"], 20, rel_tol=0.1)
expect(json.ok).toBeTruthy()
!total == 5
no field x exists
without property a exists
any item has field x > 5
the number of field x > 5
the tool result field x is 5
the response doesn't have a field "name" exists
tools were not called
tool was not called
nor tool errors
something tool errors
no item of a "ab"
no item of a icontains "ab"
a contains "x"
the contains "x"
at "$.a.b" greater than 5
at items[*].tags not item "x"
does not have to contain "x"
should not need to mention "x"
can contain "x"
can mention "x" or "y"
uses emojis
uses markdown
does not use jargon
never uses emojis
uses bullets and headings
uses French
uses Python
does not use UTF-8
asks before calling book
confirms before book
waits before it calls book
""".strip().splitlines()


@pytest.mark.parametrize("text", NEAR_MISSES)
def test_a_line_without_a_sure_meaning_has_no_translation(text: str) -> None:
    assert translated(text) is None


@pytest.mark.parametrize("text", [text for text in LINES if LINES[text] and not text.startswith("assert")])
@pytest.mark.parametrize("more", [" somehow", " or so", " foo()", ' "y"'])
def test_no_word_is_dropped(text: str, more: str) -> None:
    found, plain = translated(text + more), translated(text)
    assert found is None or plain is None or found.line != plain.line


PIECES = """at $.items[*].price response contains not any of each json tool called book == <= 5 ( ) && { } [ ] , .
! len( expect( .to .not with : is a in and or => i | all( ms % ' ` "x" /x/i"""
WORDS = PIECES.split()


@settings(max_examples=examples(400))
@given(st.one_of(st.text(max_size=60), st.lists(st.sampled_from([*WORDS, *LINES]), max_size=12).map(" ".join)))
def test_no_line_raises(text: str) -> None:
    found = translated(text)
    assert found is None or ("\n" not in found.line and found.line.strip())


@pytest.mark.parametrize(
    "piece", ["(", "-", "!", "not ", "[", "{", "a.b", "x => ", "[*]", ". | ", '"', "/", "a and ", "the "]
)
@pytest.mark.parametrize("times", [900, 5000])
def test_no_deep_or_long_line_raises(piece: str, times: int) -> None:
    assert translated(piece * times) is None
    assert translated({"jq": piece * times}) is None


SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=8), st.sampled_from([*WORDS, *LINES])
)
NAMES = "type value at path op contains not json tool args any threshold length max min expect jq name called times"
KEYS = st.sampled_from(NAMES.split())


@settings(max_examples=examples(400))
@given(
    st.recursive(
        SCALARS, lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(KEYS, inner, max_size=3))
    )
)
def test_no_mapping_raises(pairs: Any) -> None:
    if isinstance(pairs, dict):
        found = translated(pairs)
        assert found is None or found.line


@pytest.mark.parametrize("text", ['contains the word "cat"', 'the word "cat" appears', 'containsWord "cat"'])
def test_a_word_within_another_is_noted(text: str) -> None:
    found = translated(text)
    assert found is not None
    assert found == ('contains "cat"', NOTES["word"])
    assert translated({"type": "contains-word", "value": "cat"}) == found


def test_a_word_in_quotes_is_not_noted() -> None:
    found = translated('icontains-any ["password", "token"]')
    assert found == ('contains any of ["password", "token"] ignoring case', "")


def test_the_page_and_the_messages_have_the_same_notes() -> None:
    page = (Path(__file__).parents[2] / "specs" / "language.md").read_text(encoding="utf-8")
    table = page.partition("| what differs |\n|---|---|\n")[2].partition("\n\n")[0]
    rows = [line.rsplit(" | ", 1)[1].removesuffix(" |") for line in table.splitlines()]
    assert sorted(rows) == sorted(NOTES.values())


def test_every_line_is_one_of_the_language() -> None:
    originals = [*PYTHON_OF_TEXTS, *PYTHON_OF_OBJECTS, *JAVASCRIPT_OF_TEXTS, *JAVASCRIPT_OF_OBJECTS]
    found = [translation.line for text in originals if (translation := translated(text))]
    lines = [*found, *filter(None, LINES.values()), *(line for _, line in MAPPINGS if line)]
    assert [line for line in lines if read_check(line).faults] == []
