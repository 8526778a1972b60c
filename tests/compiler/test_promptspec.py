"""PromptSpec, PromptOS's form of a prompt: every key of it is accepted at every place, and a prompt blocks nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

import evalc

KEYS: Final = {
    "id": "summary-v1",
    "name": "Summary",
    "description": "Summarises a text.",
    "category": "writing",
    "role": "You are an editor.",
    "model_compatibility": "[any]",
    "version": "1.0.0",
    "author": "Ada",
    "last_updated": "2026-01-02",
    "tags": "[text]",
    "outputs": "[{name: summary, type: string, description: The summary}]",
    "prompt": "Summarise {{text}} in a {{tone}} tone.",
    "examples": "[{name: one, inputs: {text: Hello}, expected_output: Hi}]",
    "notes": "[Keep it short]",
    "usage": "{when: often}",
    "contexts": "[{name: style}]",
    "instructions": "[Be brief]",
    "dependencies": "[{id: tone-v1, version: 1.0.0, reason: The tone}]",
}
INPUT_KEYS: Final = {
    "name": "tone",
    "label": "Tone",
    "type": "select",
    "required": "false",
    "default": "warm",
    "placeholder": "Choose one",
    "options": "[warm, dry]",
    "description": "How it sounds",
}
TYPES: Final = {"text": "a", "textarea": "a", "select": "a", "number": "3", "boolean": "true"}
EVAL: Final = "eval:\n  criteria: [{name: brief, description: Is short, weight: 1}]\n  test_cases:\n"
CASE: Final = "    - {name: one, inputs: {text: Hello}, expected: Hi, validate: [non-empty]}\n"


def prompt(**more: str) -> str:
    flow = ", ".join(f"{key}: {value}" for key, value in INPUT_KEYS.items())
    inputs = f"\n  - {{name: text, label: Text, type: textarea, placeholder: Paste it}}\n  - {{{flow}}}"
    return "".join(f"{key}: {value}\n" for key, value in {**KEYS, "inputs": inputs, **more}.items())


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / ".git").mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(name: str, text: str) -> None:
    path = Path(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def findings(path: str = ".") -> list[str]:
    return [f"{problem.severity} {problem.code} {problem.finding.message()}" for problem in evalc.check(path)]


def messages(path: str = ".") -> list[tuple[str, str]]:
    return [(case.id, case.input.message) for suite in evalc.compile(path).suites for case in suite.cases()]


SENT: Final = "Summarise Hello in a warm tone."


def test_a_prompt_without_evals() -> None:
    write("prompts/summary.yaml", prompt())
    assert findings() == findings("prompts/summary.yaml") == []
    assert evalc.compile(".").inventory.read == "1 prompt"


def test_a_prompt_with_an_eval_block_runs() -> None:
    write("summary.yaml", prompt() + EVAL + CASE)
    assert findings() == []
    assert messages() == [("summary-v1/one", SENT)]
    run = evalc.run("summary.yaml", agent=evalc.ScriptedAgent({SENT: "Hi"}))
    assert (run.exit_code, run.summary.passed) == (0, 1)


def test_cases_that_look_the_prompt_up() -> None:
    write("prompts/summary.yaml", prompt())
    write("evals/summary.eval.yaml", "prompt_id: summary-v1\n" + EVAL + CASE)
    assert findings() == []
    assert messages() == [("summary/one", SENT)]


def test_a_suite_that_names_the_file() -> None:
    write("prompts/summary.yaml", prompt())
    write("summary.eval.yaml", "prompt_file: prompts/summary.yaml\n" + EVAL + CASE)
    assert findings() == []
    assert messages() == [("summary/one", SENT)]


def test_the_inputs_of_a_suite() -> None:
    flow = ", ".join(f"{key}: {value}" for key, value in INPUT_KEYS.items())
    write("a.eval.yaml", f"prompt: Be {{{{tone}}}}.\ninputs:\n  - {{{flow}}}\n{EVAL}    - {{name: a, expected: b}}\n")
    by_name = ", ".join(f"{key}: {value}" for key, value in INPUT_KEYS.items() if key != "name")
    write("b.eval.yaml", f"prompt: Be {{{{t}}}}.\ninputs:\n  t: {{{by_name}}}\n{EVAL}    - {{name: a, expected: b}}\n")
    assert {line.split()[0] for line in findings()} <= {"warning"}
    assert messages() == [("a/a", "Be warm."), ("b/a", "Be warm.")]


@pytest.mark.parametrize("type_", TYPES)
def test_the_types_of_inputs(type_: str) -> None:
    text = f"id: p\nprompt: '{{{{a}}}}'\ninputs: [{{name: a, type: {type_}}}]\neval: {{test_cases: "
    write("p.yaml", text + f"[{{name: a, inputs: {{a: {TYPES[type_]}}}, validate: [non-empty]}}]}}\n")
    assert findings() == []


def test_keys_of_the_library_s_own_are_kept() -> None:
    write("p.yaml", prompt(reviewed_by="Bo", license="MIT", parameters="{temperature: 0}") + EVAL + CASE)
    assert findings() == []


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("instructions:", "instruction:", "warning EV219 `instruction` is not a key of a prompt file that evalc reads"),
        (
            "required: false",
            "requried: false",
            "warning EV219 `requried` is not a key of a declared input that evalc reads",
        ),
        ("prompt:", "promt:", "error EV201 `promt` is not a key of a prompt file"),
        ("  test_cases:", "  test_case:", "error EV201 `test_case` is not a key of `eval`"),
    ],
)
def test_a_near_miss_is_reported(old: str, new: str, message: str) -> None:
    write("p.yaml", (prompt() + EVAL + CASE).replace(old, new))
    assert findings() == [message]


@pytest.mark.parametrize("typo", ["inputz", "promt"])
def test_a_prompt_that_no_case_uses_blocks_nothing(typo: str) -> None:
    write("prompts/broken.yaml", prompt().replace("id: summary-v1", "id: broken").replace(typo.replace("z", "s"), typo))
    write("prompts/odd.yaml", "id: odd\nprompt: {a: 1}\ninputs: 12\n")
    write("a.eval.yaml", "eval: {test_cases: [{name: a, message: hi, validate: [non-empty]}]}\n")
    assert {line.split()[0] for line in findings()} == {"warning"}
    assert messages() == [("a/a", "hi")]


def test_the_mistakes_of_a_prompt_that_a_case_uses_are_errors() -> None:
    write("prompts/odd.yaml", "id: odd\nprompt: Say hi.\ninputs: 12\n")
    write("evals/a.eval.yaml", "prompt_id: odd\neval: {test_cases: [{name: a, validate: [non-empty]}]}\n")
    assert [line.split()[:2] for line in findings()] == [["error", "EV301"]]
    assert [line.split()[:2] for line in findings("evals")] == [["error", "EV301"]]


def test_cases_in_two_folders_are_two_suites() -> None:
    for name in ("summary", "haiku"):
        write(f"prompts/{name}/prompt.yaml", f"id: {name}-v1\nprompt: Write a {name}.\n")
        write(f"prompts/{name}/cases.yaml", f"prompt_id: {name}-v1\ntest_cases: [{{name: a, validate: [non-empty]}}]\n")
    assert findings() == []
    assert messages() == [("haiku-v1/a", "Write a haiku."), ("summary-v1/a", "Write a summary.")]


def test_the_id_of_a_prompt_need_not_be_a_slug() -> None:
    write("p.yaml", prompt(id="Summary of Texts") + EVAL + CASE)
    assert findings() == []
    assert [name for name, _ in messages()] == ["Summary-of-Texts/one"]


LIBRARY: Final = {
    "prompts/coding/code-review.yaml": "code-review-v1",
    "prompts/writing/summary.yaml": "summary-v1",
    "prompts/writing/haiku.yaml": "haiku-v1",
}
MORE_CASES: Final = "prompt_id: {id}\ntest_cases:\n  - {{name: {name}, inputs: {{text: Hi}}, validate: [non-empty]}}\n"


@pytest.mark.parametrize(
    ("file", "suite"),
    [
        ("eval/test_cases/{name}/cases.yaml", "{id}-cases"),
        ("evals/{name}/tests.yaml", "{id}-tests"),
        ("evals/{name}.yaml", "{id}-eval"),
        ("evals/{name}.cases.yaml", "{id}-cases"),
        ("prompts/{id}/cases.yaml", "{id}-cases"),
        ("evals/{id}.eval.yaml", "{id}-eval"),
        ("{name}/eval/test_cases/cases.yaml", "{id}-cases"),
        ("prompts/{name}/review/cases.yaml", "{id}-review-cases"),
        ("prompts/{name}/review/eval.yaml", "{id}-review-eval"),
        ("prompts/{name}/my.cases.yaml", "{id}-my-cases"),
        ("prompts/{name}/my.yaml", "{id}-my"),
        ("prompts/{name}/{id}-short.yaml", "{id}-short"),
    ],
)
def test_a_library_whose_prompts_have_evals_and_cases_in_other_files(file: str, suite: str) -> None:
    for path, id_ in LIBRARY.items():
        write(path, prompt(id=id_) + EVAL + CASE)
        name = Path(path).stem
        write(file.format(name=name, id=id_), MORE_CASES.format(id=id_, name="one"))
    assert findings() == []
    suites = {(each.ir.name, each.ir.tool, each.file_name) for each in evalc.compile(".").suites}
    names = {*LIBRARY.values(), *(suite.format(name=Path(path).stem, id=id_) for path, id_ in LIBRARY.items())}
    assert suites == {(name, name, f"{name}.labeled.json") for name in names}
    run = evalc.run(".", agent=evalc.ScriptedAgent(default="Hi"), output_dir=Path("runs"))
    assert (run.exit_code, run.summary.passed, run.summary.suites) == (0, 6, 6)


@pytest.mark.parametrize("evals", ["", EVAL + CASE], ids=["prompts without evals", "prompts with evals"])
def test_folders_and_files_of_one_name_that_belong_to_other_prompts_are_other_suites(evals: str) -> None:
    for category in ("code", "writing"):
        id_ = f"{category}-review-v1"
        write(f"{category}/review/prompt.yaml", prompt(id=id_) + evals)
        for file in ("cases.yaml", "eval.yaml", "my.cases.yaml"):
            write(f"{category}/review/{file}", MORE_CASES.format(id=id_, name="two"))
    assert findings() == []
    alone = messages("writing/review/cases.yaml")
    assert set(alone) < set(messages())
    suites = [suite.ir.name for suite in evalc.compile(".").suites]
    assert len(set(suites)) == len(suites) == (8 if evals else 6)


def test_the_error_of_two_suites_of_one_name_says_what_they_are_named_after() -> None:
    write("prompts/summary.yaml", prompt() + EVAL + CASE)
    for folder in ("a", "b"):
        write(f"{folder}/short.yaml", MORE_CASES.format(id="summary-v1", name="two"))
        write(f"{folder}/plain.yaml", "eval: {test_cases: [{name: a, message: hi, validate: [non-empty]}]}\n")
    write("c.yaml", "suite: plain\neval: {test_cases: [{name: a, message: hi, validate: [non-empty]}]}\n")
    by_file, by_id = "(named after its file)", "(named after its prompt's id and its path)"
    first, short = f"{Path('a/plain.yaml')}:1 {by_file}", f"{Path('a/short.yaml')}:1 {by_id}"
    second = "error EV210 this is a second suite"
    assert sorted(findings()) == [
        f"{second} `plain` {by_file} in the tier labeled; the first is {first}",
        f"{second} `plain` in the tier labeled; the first is {first}",
        f"{second} `summary-v1-short` {by_id} in the tier labeled; the first is {short}",
    ]


def test_the_name_of_cases_does_not_depend_on_what_is_compiled_with_them() -> None:
    write("prompts/summary.yaml", prompt() + EVAL + CASE)
    write("evals/short/cases.yaml", MORE_CASES.format(id="summary-v1", name="two"))
    assert messages("evals/short/cases.yaml") == [("summary-v1-short-cases/two", "Summarise Hi in a warm tone.")]
    assert ("summary-v1-short-cases/two", "Summarise Hi in a warm tone.") in messages()


def test_cases_at_the_root_of_a_project_are_not_called_as_its_folder() -> None:
    write("prompts/summary.yaml", prompt() + EVAL + CASE)
    write("cases.yaml", MORE_CASES.format(id="summary-v1", name="two"))
    assert [id_ for id_, _ in messages()] == ["summary-v1-cases/two", "summary-v1/one"]


def test_cases_of_a_prompt_without_evals_are_called_as_the_prompt() -> None:
    write("prompts/summary.yaml", prompt())
    write("evals/short/cases.yaml", MORE_CASES.format(id="summary-v1", name="two"))
    assert [id_ for id_, _ in messages()] == ["summary-v1/two"]
