"""Suites written in Python: they compile as their YAML does, with problems at the place of the Python call."""

from __future__ import annotations

import importlib
import inspect
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import evalc
from evalc.grammar.read_check import read_check
from evalc.suites import WRITERS
from tests.support.packages import install


@evalc.custom_check
def at_most(answer: evalc.Answer, most: int, *, of: str = "https://") -> bool:
    return answer.text.count(of) <= most


wrongly: Any = at_most


def _nothing() -> bool:
    return True


takes_nothing: Any = _nothing


def agent(message: str) -> dict[str, Any]:
    calls = ["search_flights"] if "flights" in message else []
    return {"text": f"about {message}", "toolCalls": calls}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".git").mkdir()
    return tmp_path


def desk(*more: Any) -> evalc.Suite:
    return evalc.Suite(
        "desk",
        criteria=["short (1): Brief"],
        gates={"min_pass_rate": 0.5},
        cases=[
            evalc.Case("rome", "Which flights go to Rome?", checks=["tools called [search_flights]", *more]),
            evalc.Case("brief", "hi", tags=["smoke"], checks=["words <= 1 for short"]),
            evalc.Case("talk", turns=[evalc.Turn("hi", ['contains "hi"']), evalc.Turn("bye", [{"contains": "bye"}])]),
            evalc.Case(
                "city",
                "Weather in {{city}}",
                for_each={"key": "city", "rows": [{"city": "Oslo"}, {"city": "Bergen"}]},
                checks=['contains "{{city}}"'],
            ),
        ],
    )


def test_a_suite_runs() -> None:
    run = evalc.run(desk(at_most(3)), agent=agent)
    assert [case.id for case in run.cases] == [
        "desk/rome",
        "desk/brief",
        "desk/talk",
        "desk/city@Oslo",
        "desk/city@Bergen",
    ]
    assert [case.id for case in run.failures] == ["desk/brief"]
    assert run.exit_code == 0
    place = run.failures[0].place
    line = _line_of('evalc.Case("brief"')
    assert (Path(str(place.file)).name, place.line) == (Path(__file__).name, line)  # type: ignore[union-attr]


def _line_of(text: str) -> int:
    return next(number for number, line in enumerate(Path(__file__).read_text().splitlines(), 1) if text in line)


def test_its_yaml_means_the_same() -> None:
    suite = desk()
    Path("desk.eval.yaml").write_text(suite.to_yaml())
    (here,), (there,) = evalc.compile(suite).suites, evalc.compile("desk.eval.yaml").suites
    assert list(here.cases()) == list(there.cases())
    assert here.metadata == there.metadata


def places(suite: evalc.Suite) -> list[tuple[str, str]]:
    """The codes of the problems, and the text of this file from the place of each to the end of its line."""
    lines = Path(__file__).read_text().splitlines()
    return [(problem.code, lines[problem.start.line - 1][problem.start.column - 1 :]) for problem in evalc.check(suite)]


def test_problems_are_at_the_text_in_the_call() -> None:
    assert places(
        evalc.Suite(
            "desk",
            cases=[
                evalc.Case("rome", "hi", allow={"tagz": ["x"]}, checks=['contains "x"']),
                evalc.Case("oslo", "hi {{x}}", checks=["tools calld [a]", wrongly(3, 4)]),
                evalc.Case(
                    "lima",
                    "hi",
                    checks=[
                        'contains "a" and',
                    ],
                ),
                evalc.Case("rome", "hi", checks=["non-empty"]),
            ],
        )
    ) == [
        ("EV201", 'tagz": ["x"]}, checks=[\'contains "x"\']),'),
        ("EV205", 'x}}", checks=["tools calld [a]", wrongly(3, 4)]),'),
        ("EV131", 'calld [a]", wrongly(3, 4)]),'),
        ("EV222", 'evalc.Case("oslo", "hi {{x}}", checks=["tools calld [a]", wrongly(3, 4)]),'),
        ("EV131", "evalc.Case("),
        ("EV206", 'rome", "hi", checks=["non-empty"]),'),
    ]


def test_a_problem_of_a_check_is_not_at_the_same_words_of_the_message() -> None:
    suite = evalc.Suite(
        "desk",
        cases=[
            evalc.Case("a", "Is contanz 'x' a check?", checks=["contanz 'x'"]),
            evalc.Case("b", turns=[evalc.Turn("contanz 'y'", ["contanz 'y'"]), evalc.Turn("hi", ["contanz 'y'"])]),
        ],
    )
    assert places(suite) == [
        ("EV203", "contanz 'x'\"]),"),
        ("EV203", 'contanz \'y\'"]), evalc.Turn("hi", ["contanz \'y\'"])]),'),
        ("EV203", "contanz 'y'\"])]),"),
    ]


def test_suggestions_are_tried_on_the_suite_that_they_are_for() -> None:
    """With its own checks, on the lines of its YAML: in Python both suites, and all their cases, are of one place."""
    first, second = (
        evalc.Suite(name, cases=[evalc.Case(each, "hi", checks=[at_most(3), "containz 'x'"]) for each in names])
        for name, names in (("a", "abc"), ("b", "d"))
    )
    problems = evalc.check([first, second])
    assert [problem.fix and problem.fix.edit.text for problem in problems] == ["contains 'x'"] * 4
    assert {problem.source for problem in problems} == {first, second}


def test_a_report_of_problems_shows_the_line_of_python() -> None:
    with pytest.raises(evalc.SourceError) as raised:
        evalc.run(evalc.Suite("a", cases=[evalc.Case("b", "hi", checks=["contans 'x'"])]), agent=agent)
    assert f"{Path(__file__).name}:{_line_of('contans')}:" in str(raised.value)
    assert str(raised.value).endswith("\n  help: write it as `- contains 'x'`")


def test_without_a_file_the_places_are_those_of_the_yaml() -> None:
    names: dict[str, Any] = {"evalc": evalc}
    cell = "suite = evalc.Suite('a', cases=[evalc.Case('b', 'hi', checks=['contans x'])])"
    exec(compile(cell, "<cell>", "exec"), names)
    (problem,) = evalc.check(names["suite"])
    assert str(problem).startswith("<a>:6:18: error[EV203]")
    assert names["suite"].line(problem.start.line) == "      validate: [contans x]"


def test_cases_of_a_function_are_at_its_call() -> None:
    def case(name: str) -> evalc.Case:
        return evalc.Case(name, "hi", checks=["nonsense"])

    suite = evalc.Suite("a", cases=[case("x"), case("y")])
    line = inspect.getsourcelines(case)[1] + 1
    assert [problem.start.line for problem in evalc.check(suite)] == [line, line]


@pytest.mark.parametrize(
    "check", [at_most(3), at_most(most=3), wrongly(1e-7), at_most(1, of='"a"'), at_most(0, of="é")]
)
def test_a_bound_check_is_the_line_that_says_the_same(check: Any) -> None:
    suite = evalc.Suite("a", cases=[evalc.Case("b", "hi", checks=[check])])
    assert evalc.check(suite) == ()
    (case,) = evalc.compile(suite).suites[0].cases()
    (record,) = case.expect.checks or ()
    assert (record["name"], tuple(record.get("args", ())), record.get("options", {})) == (
        check.name,
        check.args,
        check.options,
    )


def test_a_check_in_python_counts_for_a_criterion() -> None:
    @evalc.custom_check
    def half(answer: evalc.Answer) -> float:
        return 0.5

    suite = evalc.Suite(
        "a",
        criteria=["short (1): Brief"],
        cases=[evalc.Case("b", "hi", checks=[half().counting_for("short")])],
    )
    assert "check half() for short" in suite.to_yaml()
    (case,) = evalc.run(suite, agent=agent).cases
    assert (case.status, case.score) == ("passed", 0.5)


def test_a_stated_failure_stays_one_whatever_the_score() -> None:
    @evalc.custom_check
    def close(answer: evalc.Answer, passed: bool | None) -> evalc.Outcome:
        return evalc.Outcome(passed=passed, score=0.9, reason="too long")

    checks = [close(None) >= 0.5, close(True) > 0.5, close(None) <= 0.5, close(None) < 0.95, close(False) >= 0.5]
    suite = evalc.Suite(
        "a", cases=[evalc.Case(f"c{number}", "hi", checks=[check]) for number, check in enumerate(checks)]
    )
    assert "- check close(null) >= 0.5\n" in suite.to_yaml()
    assert [(case.status, case.error or None) for case in evalc.run(suite, agent=agent).cases] == [
        ("passed", None),
        ("passed", None),
        ("failed", "check: close is 0.9, expected at most 0.5"),
        ("passed", None),
        ("failed", "check: close: too long"),
    ]


def test_half_a_pair_cannot_be_written() -> None:
    with pytest.raises(ValueError, match="half of a surrogate pair"):
        evalc.Suite("a", cases=[evalc.Case("b", "\ud800", checks=["non-empty"])])


def having(word: str) -> Any:
    @evalc.custom_check
    def has(answer: evalc.Answer) -> bool:
        return word in answer.text

    return has()


def case_of(*checks: Any, **keys: Any) -> evalc.Case:
    return evalc.Case("b", "hi", checks=checks, **keys)


def test_two_checks_with_one_name_are_refused_where_either_could_be_meant(folder: Path) -> None:
    with pytest.raises(ValueError, match="two checks are called `has`"):
        evalc.Suite("a", cases=[case_of(having("a"), having("b"))])
    one, other = (evalc.Suite(word, cases=[case_of(having(word))]) for word in "ab")
    with pytest.raises(evalc.UsageError, match="two suites have brought a check `has`"):
        evalc.run([one, other], agent=lambda _: "b")
    (folder / "own_has.py").write_text("import evalc\n@evalc.custom_check\ndef has(answer):\n    return True\n")
    (folder / "evalc.toml").write_text('checks = ["own_has.py"]\n')
    with pytest.raises(evalc.UsageError, match="brought a check `has`, and another of the project"):
        evalc.run(one, agent=lambda _: "b")


def test_a_check_of_the_project_may_be_brought_too(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "evals").mkdir()
    (folder / "evals" / "own_words.py").write_text(
        "import evalc\n@evalc.custom_check\ndef says(answer, word):\n    return word in answer.text\n"
    )
    (folder / "evalc.toml").write_text('checks = ["evals/own_words.py"]\n')
    monkeypatch.syspath_prepend(str(folder))
    says: Any = importlib.import_module("evals.own_words").says
    suite = evalc.Suite("a", cases=[case_of(says("b")), evalc.Case("c", "hi", checks=[says("z")])])
    assert [case.status for case in evalc.run(suite, agent=lambda _: "b").cases] == ["passed", "failed"]


def test_a_check_of_a_package_is_not_taken_for_that_of_a_suite(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = "import evalc\n@evalc.custom_check\ndef has(answer):\n    return False\n"
    install(folder / "packages", monkeypatch, module="package_of_has", source=source, checks={"has": "has"})
    (folder / "a.eval.yaml").write_text("eval: {test_cases: [{name: b, message: hi, validate: [check has()]}]}\n")
    with pytest.raises(evalc.UsageError, match="a suite has brought a check `has`, and another"):
        evalc.run(["a.eval.yaml", evalc.Suite("c", cases=[case_of(having("b"))])], agent=lambda _: "b")
    has: Any = importlib.import_module("package_of_has").has
    assert len(evalc.run(["a.eval.yaml", evalc.Suite("c", cases=[case_of(has())])], agent=lambda _: "b").failures) == 2


@pytest.mark.parametrize(
    ("make", "why"),
    [
        (lambda: case_of("non-empty", validate=["json"]), "`checks` and `validate` say the same"),
        (lambda: evalc.Turn("hi", ["non-empty"], validate=["json"]), "`checks` and `validate` say the same"),
        (lambda: evalc.Suite("a", cases=[case_of("json")], eval={"defaults": {}}), "`eval` is made of"),
        (lambda: evalc.Suite("a", cases=[case_of("json")], suite="b"), "`suite` is made of"),
        (lambda: evalc.Case("b", "hi", checks="non-empty"), "`checks` is a list of checks"),
        (lambda: evalc.Case("b", "hi", checks=wrongly(3)), "`checks` is a list of checks"),
        (lambda: evalc.Suite("a", cases=[wrongly(3)]), "`cases` are made by `evalc.Case`"),
        (lambda: evalc.Case("b", turns=[wrongly(3)]), "`turns` are made by `evalc.Turn`"),
        (lambda: evalc.Suite("a", cases=[case_of("json", tags={1: 2})]), "`1` is no key: a key is a text"),
        (lambda: evalc.Suite("a", cases=[case_of(at_most)]), "`at_most` is a check without its arguments"),
        (lambda: evalc.Suite("a", cases=[case_of(agent)]), "`agent` is a function: a check is the call of one under"),
        (lambda: evalc.Suite("a", cases=[case_of(wrongly({1}))]), "set is not JSON"),
        (lambda: evalc.Suite("a", cases=[case_of(wrongly(b"x"))]), "bytes is not JSON"),
        (lambda: evalc.custom_check(lambda _: True), "a check needs a name"),
        (lambda: evalc.custom_check(partial(agent, message="")), "a check needs a name"),
        (lambda: evalc.custom_check(takes_nothing), "`_nothing` has no parameter for the answer"),
    ],
)
def test_wrong_calls_are_refused_where_they_are_made(make: Any, why: str) -> None:
    with pytest.raises(TypeError, match=why):
        make()


@pytest.mark.parametrize("number", [float("nan"), float("inf")])
def test_numbers_that_json_does_not_know_are_no_arguments(number: float) -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        evalc.Suite("a", cases=[case_of(wrongly(number))])


def test_data_that_hold_themselves_cannot_be_written() -> None:
    data: dict[str, Any] = {}
    data["data"] = data
    with pytest.raises(ValueError, match="nested too deeply, or hold themselves"):
        evalc.Suite("a", cases=[case_of("json", reference_data=data)])


def test_a_function_of_all_its_arguments_takes_any() -> None:
    @evalc.custom_check
    def anything(*given: Any) -> bool:
        return given[1:] == (1, 2)

    run = evalc.run(evalc.Suite("a", cases=[case_of(anything(1, 2))]), agent=agent)
    assert run.exit_code == 0


TWO = """\
# Both of them.
suite: one
eval: {test_cases: [{name: a, message: hi, validate: [non-empty]}]}
---
suite: two
eval:
  test_cases:
    - {name: b, message: hi, validate: [contains "hi"]}
    - {name: c, message: hi, validate: [contans "hi"]}
"""


def test_a_suite_of_a_file_is_the_file(folder: Path) -> None:
    (folder / "evals").mkdir()
    (folder / "evals" / "rows.csv").write_text("city\nOslo\nBergen\n")
    file = folder / "evals" / "desk.eval.yaml"
    case = '{name: c, message: "{{city}}", for_each: rows.csv, validate: [\'contains "{{city}}"\']}'
    file.write_text(f"suite: desk\neval:\n  test_cases:\n    - {case}\n")
    suite = evalc.Suite.from_file("evals/desk.eval.yaml")
    assert suite.to_yaml() == file.read_text()
    assert [(case.name, case.data["message"]) for case in suite.cases] == [("c", "{{city}}")]
    ours, theirs = (evalc.run(each, agent=lambda message: message) for each in (suite, "evals/desk.eval.yaml"))
    assert [(case.id, case.status) for case in ours.cases] == [(case.id, case.status) for case in theirs.cases]
    assert ours.suites[0].metadata == theirs.suites[0].metadata
    more = evalc.Suite("more", cases=[*suite.cases[:0], case_of("json"), evalc.Case("d", "hi", checks=["json"])])
    assert [case.name for case in more.cases] == ["b", "d"]


def test_one_of_several_suites_of_a_file_keeps_its_places(folder: Path) -> None:
    (folder / "two.eval.yaml").write_text(TWO)
    with pytest.raises(evalc.UsageError, match=r"has the suites `one`, `two`: name one, as in .*suite='one'"):
        evalc.Suite.from_file("two.eval.yaml")
    with pytest.raises(evalc.UsageError, match="has no suite `three`: it has `one`, `two`"):
        evalc.Suite.from_file("two.eval.yaml", suite="three")
    (folder / "same.eval.yaml").write_text(f"{TWO}---\n{TWO}")
    with pytest.raises(evalc.UsageError, match="has 2 suites that are called `two`"):
        evalc.Suite.from_file("same.eval.yaml", suite="two")
    two = evalc.Suite.from_file("two.eval.yaml", suite="two")
    assert [case.name for case in two.cases] == ["b", "c"]
    (problem,) = evalc.check(two)
    assert str(problem).startswith("two.eval.yaml:9:41: error[EV203]")
    assert [case.name for case in evalc.Suite.from_file("two.eval.yaml", suite="one").cases] == ["a"]
    assert evalc.check(evalc.Suite.from_file("two.eval.yaml", suite="one")) == ()


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("trip.prompt.yaml", "id: trip\nprompt: Hi\neval: {test_cases: [{name: a, validate: [non-empty]}]}\n"),
        ("x.golden.json", '[{"name": "a", "input": {"message": "hi"}, "expect": {"responseContains": ["hi"]}}]'),
        ("x.json", '{"cases": [{"name": "a", "input": {"message": "hi"}, "expect": {"responseContains": ["h"]}}]}'),
        ("x.cases.yaml", "prompt_id: x\ntest_cases: [{name: a, message: hi, validate: [non-empty]}]\n"),
    ],
)
def test_a_suite_is_read_from_every_kind_of_file(folder: Path, name: str, text: str) -> None:
    (folder / name).write_text(text)
    suite = evalc.Suite.from_file(folder / name)
    assert [case.name for case in suite.cases] == ["a"]
    assert [str(problem.finding) for problem in evalc.check(suite)] == [
        str(problem.finding) for problem in evalc.check(folder / name)
    ]


def test_a_file_that_cannot_be_read_is_an_error_of_the_file(folder: Path) -> None:
    (folder / "bytes.eval.yaml").write_bytes(b"suite: \xff\n")
    for name in ("nothing.eval.yaml", "bytes.eval.yaml", "."):
        with pytest.raises(evalc.SourceError, match=r"error\[EV6"):
            evalc.Suite.from_file(name)
    (folder / "broken.eval.yaml").write_text("suite: [\n")
    broken = evalc.Suite.from_file("broken.eval.yaml")
    assert broken.cases == ()
    assert [problem.severity for problem in evalc.check(broken)] == ["error"]


@pytest.mark.parametrize(
    ("make", "meant"),
    [
        (lambda: evalc.Case("a", mesage="hi"), r"`evalc\.Case` .* `mesage`; did you mean `message`\?"),
        (lambda: evalc.Case("a", "hi", chekcs=["json"]), r"did you mean `checks`\?"),
        (lambda: evalc.Case("a", "hi", assertions=["json"]), r"did you mean `checks`\?"),
        (lambda: evalc.Case("a", turn=[]), r"did you mean `turns`\?"),
        (lambda: evalc.Case("a", colour="red"), "argument `colour`$"),
        (lambda: evalc.Turn("hi", check=["json"]), r"`evalc\.Turn` .*did you mean `checks`\?"),
        (lambda: evalc.Suite("a", cases=[], critera=[]), r"`evalc\.Suite` .*did you mean `criteria`\?"),
        (lambda: evalc.Suite("a", cases=[], gate={}), r"did you mean `gates`\?"),
        (lambda: evalc.check("evals", strct=True), r"`evalc\.check` .* `strct`; did you mean `strict`\?"),  # type: ignore[call-arg]
        (lambda: evalc.compile("evals", prompt="p"), r"`evalc\.compile` .*did you mean `prompts`\?"),  # type: ignore[call-arg]
        (lambda: evalc.Outcome(pased=True), "`pased`; it takes `passed`, `reason` and `score`"),  # type: ignore[call-arg]
    ],
)
def test_a_misspelt_keyword_is_answered_with_the_near_one(make: Any, meant: str) -> None:
    with pytest.raises(TypeError, match=meant):
        make()


def test_keys_of_the_author_are_taken() -> None:
    keys: dict[str, Any] = {"x-owner": "Ann"}
    suite = evalc.Suite("a", cases=[evalc.Case("b", "hi", checks=["json"], **keys)], **keys)
    assert evalc.check(suite) == ()


ODD = 'it\'s "a: b", {c} #\n\\d {{city}} \\{{#if x}}'


def test_values_are_quoted_in_the_lines_of_checks() -> None:
    checks = [
        evalc.contains(ODD),
        evalc.contains_any_of([ODD, "b"]),
        f"not {evalc.contains(f'{ODD}!')}",
        f"at a.b {evalc.within(0.0000001, 20)}",
        f"{evalc.judge(ODD)} for kind",
    ]
    asked = evalc.Case("b", "hi", inputs={"city": "Rome"}, checks=checks)
    suite = evalc.Suite("a", criteria=["kind (1): Is it?"], cases=[asked])
    (case,) = evalc.compile(suite).suites[0].cases()
    expect = case.expect
    assert (expect.response_contains, expect.response_contains_any) == ((ODD,), ((ODD, "b"),))
    assert expect.response_not_contains == (f"{ODD}!",)
    with pytest.raises(TypeError, match=r"`evalc\.within` writes `within \{\} of \{\}`, and is given 1 values"):
        evalc.within(5)
    with pytest.raises(TypeError, match="set is not JSON"):
        evalc.contains({1})


def test_every_line_that_takes_values_has_its_function() -> None:
    assert WRITERS.keys() == {name for name, home in vars(evalc)["_HOMES"].items() if home == "evalc.suites"} - {
        *("Case", "Suite", "Turn")
    }
    samples: dict[str, list[Any]] = {"one_of": [["a"]], "similar_to": ["a", 0.5], "within": [0.5, 20]}
    for name, write in WRITERS.items():
        several: list[Any] = [["a", "b"]] if name.endswith("_of") else ["a"]
        line = write(*samples.get(name, several))
        assert read_check(line).node is not None, line
        assert str(getattr(evalc, name).__doc__).startswith("The line of a check, `")
