"""The law of `#`: no free text of an eval file loses its end to a comment without a finding, whatever its key."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

import evalc
from evalc.diagnostics import Problem
from evalc.diagnostics.fixing import applied
from evalc.dsl.build_case import CASE, FOR_EACH, LABEL, TURN, USER
from evalc.dsl.build_expect import EXPECT
from evalc.dsl.build_prompt import INPUT, PROMPT_SPEC, VARIANT
from evalc.dsl.build_suite import CRITERION, DOCUMENTS, EVAL, HOLDS
from evalc.dsl.document_kind import Kind
from tests.support.laws import examples

ERROR, WARNING = "EV156", "EV157"


@pytest.fixture(autouse=True)
def _project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An empty folder: for each `prompt_id` the prompts of the working folder are looked through."""
    monkeypatch.chdir(tmp_path)


OF_CASE = {
    ERROR: (
        "message: TEXT",
        "message: &m TEXT",
        "message:\n        TEXT",
        "messages: [{role: user, content: TEXT\n      }]",
        "messages:\n      - role: user\n        content: TEXT",
        "turns:\n      - say: TEXT\n        validate: [non-empty]",
        "user: {goal: TEXT\n      }",
        "user:\n        goal: TEXT",
        "user:\n        goal: g\n        persona: TEXT",
        "user:\n        goal: g\n        opens: TEXT",
        "user:\n        goal: g\n        stop_when: TEXT",
        "user:\n        goal: g\n        facts:\n          order: TEXT",
        "expected: TEXT",
        "inputs:\n        q: TEXT",
        "inputs:\n        q: [a, TEXT\n          ]",
        "inputs:\n        q:\n          - TEXT",
        "inputs:\n        q: {validate: {weight: TEXT\n        }}",
        "for_each:\n      - id: TEXT",
        "for_each:\n        rows:\n        - {a: TEXT\n          }",
        "for_each:\n        key: TEXT\n        rows: [{a: 1}]",
        "for_each:\n        file: TEXT",
        "for_each: TEXT",
        "validate:\n      - type: contains\n        rule: TEXT",
        "validate:\n      - type: contains\n        rule: x\n        at: TEXT",
        "validate:\n      - type: contains\n        rule: x\n        criterion: TEXT",
        "validate:\n      - any_of:\n        - type: contains\n          rule: TEXT",
        "validate:\n      - not:\n          type: contains\n          rule: TEXT",
        "validate:\n      - type: contains_any\n        rule:\n        - TEXT",
        "validate:\n      - {type: tool_param, tool: t, param: p, op: equals, value: TEXT\n        }",
        "validate:\n      - use: TEXT",
        "validate:\n      - type: judge\n        rule: TEXT",
        "expect:\n        responseContains:\n        - TEXT",
        "expect:\n        toolsCalled: [TEXT\n          ]",
        "expect:\n        toolParams:\n        - {tool: t, paramName: p, assertion: equals, value: TEXT\n          }",
        "stubs:\n        search: TEXT",
        "files:\n      - TEXT",
        "files:\n        a.csv: TEXT",
        "reference_data:\n        a: TEXT",
        "rubric:\n      - name: r\n        description: TEXT",
        "label:\n        expected: TEXT",
    ),
    WARNING: (
        "skill: TEXT",
        "description: TEXT",
        "id: TEXT",
        "created_at: TEXT",
        "bug_ref: TEXT",
        "prompt_id: TEXT",
        "tags:\n      - TEXT",
        "tags: [a, TEXT\n        ]",
        "skip: TEXT",
        "archived: TEXT",
        "expected_failure: TEXT",
        "allow:\n        refusal: TEXT",
        "x-note: TEXT",
    ),
}
OF_SUITE = {
    ERROR: (
        "prompt: TEXT",
        "prompts:\n  a: TEXT",
        "prompts:\n  a:\n    file: TEXT",
        "inputs:\n- name: q\n  default: TEXT",
        "inputs:\n- name: q\n  options:\n  - TEXT",
        "inputs:\n  q: TEXT",
        "inputs:\n  q:\n    default: TEXT",
        "defaults:\n  inputs:\n    q: TEXT",
        "rules:\n  polite:\n  - type: contains\n    rule: TEXT",
        "role: TEXT",
        "instructions:\n- TEXT",
        "criteria:\n- name: a\n  description: TEXT",
        "criteria:\n- a (0.5): TEXT",
        "x-note: &n TEXT\ndefaults:\n  inputs:\n    q: *n",
    ),
    WARNING: (
        "description: TEXT",
        "tool: TEXT",
        "tool_version: TEXT",
        "tool_description: TEXT",
        "prompt_file: TEXT",
        "prompt_id: TEXT",
        "include: TEXT",
        "include:\n- TEXT",
        "inputs:\n- name: q\n  description: TEXT",
        "inputs:\n  q:\n    placeholder: TEXT",
        "defaults:\n  tags:\n  - TEXT",
    ),
}
PLACES = [
    (code, f"suite: s\ntest_cases:\n    - name: n\n      {text}\n") for code, texts in OF_CASE.items() for text in texts
] + [
    (code, f"suite: s\n{text}\neval:\n  test_cases:\n    - name: n\n      message: hi\n")
    for code, texts in OF_SUITE.items()
    for text in texts
]
PROMPT_FILE = [
    (ERROR, "id: p\nprompt: TEXT\n"),
    (ERROR, "id: p\nprompt: hi\nrole: TEXT\n"),
    (WARNING, "id: p\nprompt: hi\nauthor: TEXT\n"),
    (WARNING, "id: p\nprompt: hi\nnotes:\n- TEXT\n"),
    (WARNING, "id: TEXT\nprompt: hi\n"),
    (WARNING, "rules: {}\ndescription: TEXT\n"),
    (WARNING, "suite: TEXT\ntest_cases:\n    - name: n\n      message: hi\n"),
    (WARNING, "suite: s\ntest_cases:\n    - name: TEXT\n      message: hi\n"),
]

# What a comment may hold beside its `#`, brackets and commas apart, which may end a text in brackets.
_CHARACTER = st.characters(codec="utf-8", exclude_categories=["Cc", "Cs", "Z"], exclude_characters="[]{},\ufeff")
REST = st.text(st.one_of(st.sampled_from(" \"'\\:#-&*"), _CHARACTER), max_size=12).map(str.strip)
FIRST = st.one_of(st.sampled_from("\"'\\#4!-"), _CHARACTER)
HEAD = st.from_regex(r"[A-Za-z][\w'\"?!.-]{0,5}( [\w'\"?!.\\-]{1,5}){0,2}", fullmatch=True)
BLANK = st.sampled_from((" ", "  ", "\t"))
TEXTS = st.builds("{}{}#{}{}".format, HEAD, BLANK, FIRST, REST)


def cut(problems: list[Problem]) -> list[Problem]:
    return [problem for problem in problems if problem.code in (ERROR, WARNING)]


def check(text: str, name: str = "s.eval.yaml") -> list[Problem]:
    return list(evalc.check(evalc.Source(name, text)))


def scalars(data: Any) -> Iterator[str]:
    if isinstance(data, dict):
        for key, value in data.items():
            yield from (*scalars(key), *scalars(value))
    elif isinstance(data, list):
        for item in data:
            yield from scalars(item)
    elif isinstance(data, str):
        yield data


@pytest.mark.parametrize(("code", "text"), [*PLACES, *PROMPT_FILE])
def test_no_key_loses_the_end_of_its_text_to_a_comment_in_silence(code: str, text: str) -> None:
    assert not cut(check(text.replace("TEXT", "Order 4711  # a comment")))
    assert not cut(check(text.replace("TEXT", "'Order #4711'")))

    @settings(max_examples=examples(20))
    @given(TEXTS, st.sampled_from(("\n", "\r\n")))
    def law(lost: str, line_end: str) -> None:
        written = text.replace("\n", line_end).replace("TEXT", lost)
        (problem,) = cut(check(written))
        assert problem.code == code
        assert problem.source.text[slice(*problem.span)] == lost
        if problem.fix is None:  # the whole text is wrong there in another way
            whole = written.replace(lost, "'" + lost.replace("'", "''") + "'")
            assert any(each.severity == "error" and each.code != code for each in check(whole))
            return
        assert not problem.fix.is_safe
        mended = applied(written, [problem.fix.edit])
        assert len(mended) - len(written) == 2 + lost.count("'")
        assert mended.count(line_end) == written.count(line_end)
        assert lost in scalars(yaml.safe_load(mended))
        assert not cut(check(mended))

    law()


EMPTIED = {
    "inputs: {y: 2, x: LOST\n      }": ERROR,
    "inputs: {x: LOST\n      , y: 2}": ERROR,
    "inputs: {'x':  LOST\n      }": ERROR,
    "inputs: {z: {x: LOST\n      }}": ERROR,
    "inputs: {q: [LOST\n      ]}": ERROR,
    "inputs: {q: [a, LOST\n      ]}": ERROR,
    "inputs: {q: ['a', LOST\n      # more\n      ]}": ERROR,
    "for_each:\n      - {id: k, q: LOST\n        }": ERROR,
    "expect:\n        responseNotContains: [q, LOST\n        ]": ERROR,
    "tags: [q, LOST\n        ]": WARNING,
}


@pytest.mark.parametrize(("text", "code"), EMPTIED.items())
@pytest.mark.parametrize("lost", ["#4711", "#4711 and more", "#4711, b", "#47]"])
@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_no_text_is_lost_to_a_comment_in_its_place_in_silence(text: str, code: str, lost: str, line_end: str) -> None:
    written = f"suite: s\ntest_cases:\n    - name: n\n      message: hi\n      {text}\n".replace("\n", line_end)
    assert not cut(check(written.replace("LOST", "# a comment")))
    assert not cut(check(written.replace("LOST", "#evalc: ignore[EV101]")))
    (problem,) = cut(check(written.replace("LOST", lost)))
    assert (problem.code, problem.source.text[slice(*problem.span)]) == (code, lost)
    assert (problem.fix is not None) == ("," not in lost and "]" not in lost)
    if problem.fix is not None:
        mended = applied(problem.source.text, [problem.fix.edit])
        assert lost in scalars(yaml.safe_load(mended))
        assert not cut(check(mended))


@pytest.mark.parametrize(
    "lines", ["[a,\n      #b,\n      c]", "[\n      #a\n      b,\n      c # d, #e\n      ]", "[a, # b, #c\n      d]"]
)
def test_an_item_on_a_line_of_its_own_may_be_left_out(lines: str) -> None:
    assert not cut(check(f"suite: s\ntest_cases:\n    - name: n\n      message: hi\n      tags: {lines}\n"))


def test_a_comment_between_items_has_no_fix() -> None:
    text = "suite: s\ntest_cases:\n    - name: n\n      message: hi\n      tags: [a, #b\n        c]\n"
    (problem,) = cut(check(text))
    assert (problem.code, problem.fix) == (WARNING, None)


@pytest.mark.parametrize(("code", "text"), [each for each in PLACES if each[1].startswith("suite: s\ntest_cases")])
def test_a_long_file_is_read_alike(code: str, text: str) -> None:
    long = text.replace("TEXT", "Order #4711") + "    # a comment\n" * 4000
    assert [problem.code for problem in cut(check(long))] == [code]


@given(st.sampled_from(("", "not ", "turn 1 ")), TEXTS, st.booleans())
def test_no_check_loses_its_end_to_a_comment_in_silence(negation: str, lost: str, in_quotes: bool) -> None:
    line = f'{negation}contains "{lost}"' if in_quotes else f"{negation}contains {lost}"
    text = f"suite: s\ntest_cases:\n  - name: a\n    message: hi\n    validate:\n      - {line}\n"
    found = [problem for problem in check(text) if problem.start.line == 6]
    assert any(problem.severity == "error" for problem in found)
    for problem in cut(found):
        if problem.fix is not None:
            mended = applied(text, [problem.fix.edit]).replace("''", "'")
            assert lost[lost.index("#") :] in mended.replace('\\"', '"').replace("\\\\", "\\")


@pytest.mark.parametrize(
    ("line", "mended"),
    [
        ("contains ticket #4711", "'contains \"ticket #4711\"'"),
        ("contains #4711", 'contains "#4711"'),
        ("matches /a #b/", "'matches /a #b/'"),
        ("non-empty #4711", None),
        ('contains "a" #b', None),
    ],
)
def test_a_check_that_is_cut_off_is_an_error(line: str, mended: str | None) -> None:
    text = f"suite: s\ntest_cases:\n  - name: a\n    message: hi\n    validate:\n      - {line}\n"
    (problem,) = check(text)
    assert problem.code == ERROR
    cured = None if problem.fix is None else applied(text, [problem.fix.edit])
    assert cured == (None if mended is None else text.replace(line, mended))


@pytest.mark.parametrize(
    "line",
    [
        "tier: golden #x",
        "repeat: 3 #x",
        "threshold: 0.5 #x",
        "validate: #x\n      - non-empty",
        "validate:\n      - type: length #x\n        min: 3",
        "message: hi #evalc: ignore",
        'message: "hi" #x',
        "message: a#x",
        "message: |\n        a #x",
    ],
)
def test_a_comment_that_hides_no_text_is_a_comment(line: str) -> None:
    assert not cut(check(f"suite: s\ntest_cases:\n    - name: n\n      {line}\n"))


def test_every_key_is_tried_or_holds_no_free_text() -> None:
    keys = {
        *CASE.keys, *TURN.keys, *USER.keys, *FOR_EACH.keys, *LABEL.keys, *CRITERION.keys, *VARIANT.keys, *EVAL.keys,
        *DOCUMENTS[Kind.SHARED], *DOCUMENTS[Kind.SUITE], *DOCUMENTS[Kind.CASES],
    }  # fmt: skip
    tried = " ".join(text for _, text in [*PLACES, *PROMPT_FILE])
    assert {key for key in keys if f"{key}:" not in tried and HOLDS.get(key) != "settings"} == set()
    assert {key for key in EXPECT.keys if HOLDS.get(key) == "settings"} == {
        "noToolErrors", "responseNonEmpty", "maxLatencyMs", "maxTokens", "minLength", "maxLength", "jsonValid",
        "typeChecks", "minToolCalls", "maxToolCalls", "maxCost",
    }  # fmt: skip
    assert {*INPUT.keys, *PROMPT_SPEC} & {key for key, holds in HOLDS.items() if holds == "settings"} == {"type"}


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("inputs: {q: order #12?}", ERROR),
        ("inputs: {q: order #12, r: x}", ERROR),
        ("tags: [a, order #12]", ERROR),
        ("tags: [a, order # 12]", "EV104"),
        ("validate:\n      - contains # 12", "EV131"),
    ],
)
def test_a_comment_that_hides_the_end_of_a_line_is_named(line: str, code: str) -> None:
    text = f"suite: s\ntest_cases:\n    - name: n\n      {line}\n      mesage: hi\n"
    found = [problem for problem in check(text) if problem.severity == "error"]
    assert found[0].code == code
    assert "`#` begins a comment" in found[0].finding.message() + found[0].finding.help()
    if code == ERROR:
        assert [problem.code for problem in found[1:]] == ["EV201"], "the rest of the file is read"
        assert found[0].fix is not None
        mended = applied(text, [found[0].fix.edit])
        assert "#12" in next(each for each in scalars(yaml.safe_load(mended)) if "#" in each)
