"""Named rules, `use`, `include`, `defaults` and `inherit`: what cases take in, and what is wrong with it."""

from __future__ import annotations

from pathlib import Path

import pytest

import evalc
from evalc.model.case import Case


@pytest.fixture(autouse=True)
def _in_a_project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "evalc.toml").touch()
    monkeypatch.chdir(tmp_path)


def compiled(text: str) -> dict[str, Case]:
    compilation = evalc.compile(evalc.Source("s.eval.yaml", text))
    assert [str(problem) for problem in compilation.problems if problem.severity == "error"] == []
    return {case.id: case for suite in compilation.suites for case in suite.cases()}


def places(*subjects: evalc.Source | str) -> list[str]:
    """Where problems stand, and their codes."""
    return [f"{p.source.name}:{p.start.line}:{p.start.column} {p.code}" for p in evalc.check(list(subjects))]


def source(text: str) -> evalc.Source:
    return evalc.Source("s.eval.yaml", text)


def case_with(validate: str, more: str = "message: hi") -> str:
    return f"eval: {{test_cases: [{{name: a, {more}, validate: [{validate}]}}]}}\n"


RULES = "rules: {polite: [not contains 'idiot', contains 'please' for tone], kind: [{use: polite}, contains 'dear']}\n"
CRITERIA = "eval:\n  criteria: ['tone (0.5): T', 'other (0.5): O']\n  test_cases:\n"


def test_a_rule_counts_as_its_checks_on_lines_of_their_own() -> None:
    case = compiled(RULES + CRITERIA + "    - {name: a, message: hi, validate: [{use: kind}]}\n")["s/a"]
    assert case.expect.response_contains == ("please", "dear")
    assert case.expect.response_not_contains == ("idiot",)
    assert case.criteria is not None
    assert [[link.at for link in criterion.checks or ()] for criterion in case.criteria] == [
        [("/expect/responseContains/0",)],
        [],
    ]


def test_a_use_gives_its_criterion_to_all_checks_and_its_weight_multiplies() -> None:
    uses = "{use: kind, criterion: other, weight: 2}"
    case = compiled(RULES + CRITERIA + f"    - {{name: a, message: hi, validate: [{uses}]}}\n")["s/a"]
    assert case.criteria is not None
    links = {criterion.name: criterion.checks for criterion in case.criteria}
    assert links["tone"] is None
    assert [(link.at[0], link.weight) for link in links["other"] or ()] == [
        ("/expect/responseContains/0", 2),
        ("/expect/responseContains/1", 2),
        ("/expect/responseNotContains/0", 2),
    ]


def test_within_a_composition_a_rule_is_all_of_its_checks() -> None:
    rules = "rules: {two: [contains 'a', contains 'b']}\n"
    twin = case_with("{any_of: [{all_of: [contains 'a', contains 'b']}, equals 'c']}")
    case = compiled(rules + case_with("{any_of: [{use: two}, equals 'c']}"))["s/a"]
    assert case.expect == compiled(twin)["s/a"].expect


def test_a_rule_with_a_criterion_cannot_stand_within_a_composition() -> None:
    text = RULES + CRITERIA + "    - {name: a, message: hi, validate: [{any_of: [{use: polite}, equals 'c']}]}\n"
    assert places(source(text)) == ["s.eval.yaml:5:52 EV311"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("rules: {polite: [contains 'a']}\n" + case_with("{use: polit}"), "2:61 EV213"),
        (case_with("{use: }"), "1:56 EV309"),
        ("rules: {a: [contains 'y']}\n" + case_with("{use: a, wieght: 2}"), "2:64 EV201"),
        ("rules: {a: [{use: b}], b: [{use: a}]}\n" + case_with("{use: a}"), "1:9 EV214"),
        ("rules: {a: [{use: a}]}\n" + case_with("contains 'x'"), "1:9 EV214"),
        ("rules: {a: [{use: b}]}\n" + case_with("contains 'x'"), "1:19 EV213"),
        ("rules: {a: []}\n" + case_with("contains 'x'"), "1:9 EV309"),
        ("rules: {a: }\n" + case_with("contains 'x'"), "1:9 EV309"),
        ("rules: [a]\n" + case_with("contains 'x'"), "1:8 EV301"),
        ("rules: {a: [containz 'x']}\n" + case_with("{use: a}"), "1:13 EV203"),
        ("defaults: {validat: [contains 'y']}\n" + case_with("contains 'x'"), "1:12 EV201"),
        ("include: [nowhere.yaml]\n" + case_with("contains 'x'"), "1:11 EV600"),
        ("include: [../../x.yaml]\n" + case_with("contains 'x'"), "1:11 EV608"),
        ("include: []\n" + case_with("contains 'x'"), "1:1 EV309"),
    ],
)
def test_mistakes(text: str, said: str) -> None:
    found = places(source(text))
    assert [f"s.eval.yaml:{said}"] == [place for place in found if "EV6" in place or "s.eval" in place]


def test_rules_that_double_each_other_are_stopped() -> None:
    doubled = "".join(f"  r{n + 1}: [{{use: r{n}}}, {{use: r{n}}}]\n" for n in range(60))
    text = f"rules:\n  r0: [contains 'x']\n{doubled}" + case_with("{use: r60}")
    assert {place.rpartition(" ")[2] for place in places(source(text))} == {"EV611"}


def test_a_long_chain_of_rules_is_stopped() -> None:
    chain = "".join(f"  r{n + 1}: [{{use: r{n}}}]\n" for n in range(3000))
    text = f"rules:\n  r0: [contains 'x']\n{chain}" + case_with("{use: r3000}")
    assert {place.rpartition(" ")[2] for place in places(source(text))} == {"EV610"}


# --- defaults --------------------------------------------------------------------------------------------------------


DEFAULTS = """defaults:
  validate: [length 10..20 chars, latency <= 5s, contains 'd']
  inputs: {x: 1, y: 2}
  tags: [base]
  threshold: 0.5
  stubs: {t: 1}
  max_turns: 3
  difficulty: edge
eval:
  criteria: [clarity]
  test_cases:
    - name: a
      message: "{{x}}{{y}}"
      inputs: {y: 3}
      tags: [own, base]
      stubs: {u: 2}
      validate: [length >= 15 chars, latency <= 1s]
    - {name: b, message: hi, inherit: false, validate: [contains 'b']}
"""


def test_defaults_are_merged_and_the_nearest_value_holds() -> None:
    cases = compiled(DEFAULTS)
    a, b = cases["s/a"], cases["s/b"]
    assert (a.expect.min_length, a.expect.max_length, a.expect.max_latency_ms) == (15, 20, 1000)
    assert a.expect.response_contains == ("d",)
    assert (a.input.message, a.input.inputs) == ("13", {"x": 1, "y": 3})
    assert (a.tags, a.threshold, a.stubs, a.max_turns, a.difficulty) == (
        ("base", "own"),
        0.5,
        {"t": 1, "u": 2},
        3,
        "edge",
    )
    assert (b.tags, b.threshold, b.stubs, b.difficulty) == (None, None, None, "straightforward")
    assert b.expect.response_contains == ("b",)


def test_one_value_twice_in_one_case_is_an_error() -> None:
    assert places(source(case_with("latency <= 1s, latency <= 2s")))[0].endswith(" EV412")


# --- include ---------------------------------------------------------------------------------------------------------


def write(name: str, text: str) -> None:
    path = Path(name)
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)


def test_rules_and_defaults_come_from_files_that_include_others() -> None:
    write(
        "shared/far.yaml", "rules: {far: [contains 'far']}\ndefaults: {validate: [latency <= 9s, length <= 9 chars]}\n"
    )
    write("shared/near.yaml", "include: far.yaml\nrules: {near: [{use: far}]}\ndefaults: {validate: [latency <= 2s]}\n")
    text = "include: [shared/near.yaml]\n" + case_with("{use: near}, {use: far}")
    case = compiled(text)["s/a"]
    assert case.expect.response_contains == ("far", "far")
    assert (case.expect.max_latency_ms, case.expect.max_length) == (2000, 9)


def test_a_mistake_in_an_included_file_is_reported_there_and_once() -> None:
    write("shared.yaml", "rules:\n  r:\n    - contains '{{nope}}'\n    - containz 'x'\n")
    text = "include: [shared.yaml]\nsuite: {}\n" + case_with("{use: r}")
    suites = [evalc.Source(f"{n}.eval.yaml", text.replace("{}", n)) for n in ("a", "b")]
    assert places(*suites) == ["shared.yaml:3:19 EV205", "shared.yaml:4:7 EV203"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("include: [s.yaml]\n", "s.yaml:1:11 EV615"),
        ("include: [back.yaml]\n", "back.yaml:1:11 EV615"),
        ("eval: {test_cases: []}\n", "s.eval.yaml:1:11 EV615"),
        ("just a text\n", "s.eval.yaml:1:11 EV615"),
        ("rules: {own: [contains 'x']}\n", "s.eval.yaml:2:9 EV206"),
        ("rules: {a: [contains 'x']\n", "s.yaml:1:8 EV104"),
    ],
)
def test_mistakes_of_includes(text: str, said: str) -> None:
    write("s.yaml", text)
    write("back.yaml", "include: [s.yaml]\n")
    found = places(source("include: [s.yaml]\nrules: {own: [contains 'y']}\n" + case_with("contains 'x'")))
    assert said in found


def test_a_finding_of_a_run_names_the_line_of_the_shared_file() -> None:
    write("shared.yaml", "rules:\n  r: [contains 'shared']\n")
    text = "include: [shared.yaml]\n" + case_with("{use: r}")
    (suite,) = evalc.compile(source(text)).suites
    (located,) = suite.located()
    assert str(located.places["/expect/responseContains/0"]) == "shared.yaml:2:7"


def test_a_shared_file_by_itself_is_checked_and_is_no_suite() -> None:
    write("shared.eval.yaml", "rules:\n  r: [containz 'x']\n")
    write("pipeline.yaml", "include: [other.yml]\nrules: whatever\n")
    assert places("shared.eval.yaml") == ["shared.eval.yaml:2:7 EV203"]
    assert places(".") == ["shared.eval.yaml:2:7 EV203"]
    write("shared.eval.yaml", "rules:\n  r: [contains 'x']\n")
    assert places(".") == []
