"""Functions of JavaScript: what they are given, what they return, and all that they do not have."""

from __future__ import annotations

import re
from typing import Any

import pytest

from evalc.ecma import scripts
from evalc.ecma.modules import Script, ScriptError, Scripts, script_of
from evalc.ecma.scripts import caller, functions_of


def alone(text: str) -> Scripts:
    code, _, is_es = script_of(text)
    return {"": Script(code, {}, is_es)}


def called(body: str, output: str = "", **context: Any) -> tuple[bool | float | None, str]:
    return caller(alone(f"exports.check = (output, context) => {body}"), "check")(output, {"vars": {}, **context})


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("module.exports = (output) => true;", ("default",)),
        ("module.exports = { a() {}, b: () => 1, c: 5 };", ("a", "b")),
        ("exports.a = () => 1;\nmodule.exports.b = function () {};", ("a", "b")),
        ("export default (output) => true;", ("default",)),
        ("/** @type {import('./a').Check} */\nexports.a = () => 1; // import(\n// import('b')", ("a",)),
        ("export default async function named(output) {}\nexport function a() {}", ("default", "a")),
        ("export const a = () => 1, b = 5;\nfunction c() {}\nexport { c, c as d };", ("a", "c", "d")),
        ("const a = 5;", ()),
        ("module.exports = null;", ()),
    ],
)
def test_the_functions_that_a_file_exports(text: str, names: tuple[str, ...]) -> None:
    assert functions_of(alone(text)) == names


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (
            "import fs from 'fs';\nexport default () => true;",
            "it` imports `fs`, and a check has only files of its project",
        ),
        ("exports.a = () => import('node:fs').then(() => true, () => true);", "`it` uses `import('node:fs')`"),
        ("const fs = require('fs');", "it asks for `require`, which a check does not have"),
        ("try { require('fs') } catch {}", "it asks for `require`"),
        ("export default (", "SyntaxError"),
        ("throw new Error('no luck');", "Error: no luck"),
        ("Object.prototype.toJSON = () => 'error';", "it changes how values are written as JSON"),
        ("Object.prototype.toJSON = () => ({});", "it changes how values are written as JSON"),
    ],
)
def test_a_file_that_cannot_be_used(text: str, why: str) -> None:
    with pytest.raises(ScriptError, match=re.escape(why)):
        functions_of(alone(text))


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("output.length > 3", (True, "")),
        ("output === context.vars.word", (True, "")),
        ("JSON.parse('[1.5]')[0]", (1.5, "")),
        ("Infinity", (float("inf"), "")),
        ("({ pass: false, score: 0.5, reason: 'too short' })", (False, "too short")),
        ("Promise.resolve().then(() => output === 'hello')", (True, "")),
        ("(console.log(output), /^h.*o$/u.test(output))", (True, "")),
        ("new Date('2026-02-30T00:00:00Z').toISOString() === '2026-03-02T00:00:00.000Z'", (True, "")),
        ("new Date() instanceof Date && new Date(2026, 1, 1).getMonth() === 1", (True, "")),
    ],
)
def test_the_verdict_of_a_function(body: str, said: tuple[bool | float, str]) -> None:
    assert called(body, "hello", vars={"word": "hello"}) == said


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ("undefined", "it returned undefined, and not true, false, a number or {pass, score, reason}"),
        ("'pass'", "it returned string"),
        ("null", "it returned null"),
        ("({ pass: true })", "it returned object"),
        ("output.a.b", "TypeError"),
        ("answer.length > 3", "ReferenceError: answer is not defined"),
        ("Promise.reject(new Error('no luck'))", "Error: no luck"),
        ("(() => { throw 5 })()", "5"),
    ],
)
def test_code_that_throws_or_returns_anything_else_has_no_verdict(body: str, why: str) -> None:
    value, reason = called(body, "hello")
    assert (value, why in reason) == (None, True)


def test_a_promise_that_is_never_kept_is_an_error() -> None:
    with pytest.raises(ScriptError, match="its promise is never kept"):
        called("new Promise(() => {})")


@pytest.mark.parametrize(
    "asks",
    [
        "require('fs')",
        "process.env",
        "fetch('https://example.com')",
        "new URL(output)",
        "setTimeout(() => 1)",
        "clearTimeout(1)",
        "new Event('a')",
        "context.test",
        "context.providerResponse?.cost",
        "'a'.localeCompare('B')",
        "(1234.5).toLocaleString()",
        "new Date('May 1, 2026')",
        "Date.parse('1 2')",
    ],
)
def test_asking_for_more_is_an_error_even_if_it_is_caught(asks: str) -> None:
    with pytest.raises(ScriptError, match="which a check does not have"):
        called(f"{{ try {{ {asks}; return false; }} catch {{ return true; }} }}")


def test_a_file_is_evaluated_once_and_sees_nothing_of_others() -> None:
    counts = caller(alone("let calls = 0;\nglobalThis.seen = 1;\nexports.n = () => ++calls;"), "n")
    assert [counts("", {}), counts("", {})] == [(1, ""), (2, "")]
    assert called("typeof seen === 'undefined'") == (True, "")


def test_a_promise_that_is_kept_in_a_later_call_answers_nothing() -> None:
    keeps = "let keep;\nexports.p = (output) => { keep?.(true); return new Promise((kept) => { keep = kept; }); };"
    check = caller(alone(keeps), "p")
    for _ in range(2):
        with pytest.raises(ScriptError, match="its promise is never kept"):
            check("", {})


def test_an_error_of_one_call_is_not_that_of_the_next() -> None:
    check = caller(alone("exports.c = (output) => (output ? require('fs') : true);"), "c")
    with pytest.raises(ScriptError, match="it asks for `require`"):
        check("x", {})
    assert check("", {}) == (True, "")


def test_a_call_ends_at_its_deadline(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scripts, "TIMEOUT", 0.3)
    with pytest.raises(ScriptError, match=r"it did not end within 0\.3 s"):
        called("{ while (true); }")
    assert called("true") == (True, "")


def test_a_text_with_half_a_character_is_given_as_it_is() -> None:
    assert called(r"output === '\ud83d'", "\ud83d") == (True, "")
