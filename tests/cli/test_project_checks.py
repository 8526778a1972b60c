"""Checks that a project declares in Python files: found without running them, run with their arguments."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

import evalc
from evalc.checks import _checks_of as by_name
from tests.cli.conftest import Invoke

CHECKS = """\
import functools

import evalc


@evalc.custom_check
def max_links(answer: evalc.Answer, most: int, *, to: str = "") -> bool:
    return answer.text.count("https://" + to) <= most


@evalc.custom_check
async def overlap(answer, text):
    words = set(text.split())
    return len(words & set(answer.text.split())) / len(words)


def helper(answer):
    return True


@evalc.custom_check
def breaks(answer):
    raise ValueError("no luck")
"""
SUITE = """\
suite: links
eval:
  test_cases:
    - name: few
      message: Which flights go to Rome?
      validate:
"""


@pytest.fixture
def declared(project: Path) -> Path:
    """A project that names its file of checks, which is named as no other module of the tests."""
    file = project / "evals" / "checks_of_a_project.py"
    file.write_text(CHECKS)
    configure(project, file)
    return project


def configure(project: Path, *files: Path) -> None:
    names = [str(file.relative_to(project)) for file in files]
    (project / "evalc.toml").write_text(f"checks = {names}\nagent = 'demo'\n")


def suite_of(project: Path, *lines: str) -> None:
    for file in (project / "evals").glob("*.yaml"):
        file.unlink()
    (project / "evals" / "links.eval.yaml").write_text(SUITE + "".join(f"        - {line}\n" for line in lines))


def test_checks_of_the_project_are_run(invoke: Invoke, declared: Path) -> None:
    suite_of(declared, "check max_links(0)", 'check max_links(most=3, to="x")', 'not check overlap("zebra") >= 0.7')
    outcome = invoke("run")
    assert (outcome.code, "1/1 passed" in outcome.out) == (0, True)
    suite_of(declared, "check max_links(-1)")
    outcome = invoke("run")
    assert (outcome.code, "→ check max_links(-1)\n      max_links does not hold" in outcome.out) == (1, True)


def test_a_check_that_raises_is_an_error_with_its_line(invoke: Invoke, declared: Path) -> None:
    suite_of(declared, "check breaks()")
    outcome = invoke("run")
    assert outcome.code == 3
    assert "→ check breaks()\n      breaks: ValueError: no luck (checks_of_a_project.py:23)" in outcome.out


def test_no_check_of_the_project_is_run_after_the_verdict(invoke: Invoke, declared: Path) -> None:
    suite_of(declared, 'contains "never said"', "check breaks()")
    outcome = invoke("run")
    assert (outcome.code, "breaks" in outcome.out) == (1, False)
    assert invoke("run", "--all-assertions").code == 3


def test_a_share_is_compared(invoke: Invoke, declared: Path) -> None:
    suite_of(declared, 'check overlap("zebra") >= 0.7')
    outcome = invoke("run")
    assert (outcome.code, "overlap is 0, expected at least 0.7" in outcome.out) == (1, True)


def test_a_share_scores_its_criterion(invoke: Invoke, declared: Path) -> None:
    (declared / "evals" / "checks_of_a_project.py").write_text(
        CHECKS
        + "\n\n@evalc.custom_check\ndef half(answer):\n    return evalc.Outcome(score=0.5)\n"
        + "\n\n@evalc.custom_check\ndef much(answer):\n    return 2\n"
        + "\n\n@evalc.custom_check\ndef endless(answer):\n    return float('inf')\n"
        + "\n\n@evalc.custom_check\ndef nan(answer):\n    return evalc.Outcome(passed=True, score=float('nan'))\n"
    )
    suite_of(declared, "check half() for style", "non-empty for style")
    file = declared / "evals" / "links.eval.yaml"
    file.write_text(file.read_text().replace("eval:\n", "eval:\n  criteria: ['style (1): Good']\n"))
    (suite,) = json.loads(invoke("run", "--json").out)["suites"]
    assert (suite["cases"][0]["status"], suite["cases"][0]["score"]) == ("passed", 0.75)
    for line, why in {
        "check half()": "half: it returned a number, which a line compares",
        "not check half() for style": "half: it returned a number, which a line compares",
        "json or check half() for style": "half: it returned a number, which a line compares",
        "not check nan() >= 0.5": "nan: it measured NaN, which is no number",
        "check endless() >= 0.5": "endless: it measured Infinity, which is no number",
        "check nan() for style": "nan: it measured NaN, which is no number",
        "check much() for style": "much: a criterion is scored from 0 to 1, and it returned 2",
    }.items():
        file.write_text(SUITE.replace("eval:\n", "eval:\n  criteria: ['style (1): Good']\n") + f"        - {line}\n")
        outcome = invoke("run")
        assert (outcome.code, why in outcome.out) == (3, True)


WRONG = {
    "check max_lnks(3)": "7:17 error[EV203]: no check of the project or of an installed package is called `max_lnks`",
    "check helper()": "7:17 error[EV203]: no check of the project or of an installed package is called `helper`",
    "check max_links()": "7:17 error[EV222]: `max_links` also needs `most`",
    "check max_links(1, 2)": "7:17 error[EV222]: too many positional arguments for `max_links`: 2, at most 1",
    'check max_links(1, too="x")': "7:17 error[EV222]: `max_links` has no parameter `too`",
    "not check max_links(1, most=2)": "7:21 error[EV222]: `max_links` is given `most` twice",
    'response contains "x" and check overlap()': "7:43 error[EV222]: `overlap` also needs `text`",
}


@pytest.mark.parametrize("line", WRONG)
def test_mistakes_are_found_before_anything_runs(invoke: Invoke, declared: Path, line: str) -> None:
    (declared / "evals" / "checks_of_a_project.py").write_text(CHECKS + "\n\nraise SystemExit('imported')\n")
    suite_of(declared, f"'{line}'" if '"' in line else line)
    outcome = invoke("check", "--format", "json")
    (problem,) = evalc.check("evals")
    column = problem.start.column - ('"' in line)
    assert (
        f"{problem.start.line}:{column} {problem.severity}[{problem.code}]: {problem.finding.message()}" == WRONG[line]
    )
    assert outcome.code == 2


def test_checks_in_json_are_held_to_their_functions_too(invoke: Invoke, declared: Path) -> None:
    suite_of(declared, "check max_links(1)")
    assert invoke("compile", "-o", "built").code == 0
    built = declared / "built" / "links.labeled.json"
    assert invoke("run", str(built)).code == 0
    text = json.loads(built.read_text())
    text["cases"][0]["expect"]["checks"][0]["args"] = [1, 2]
    built.write_text(json.dumps(text))
    assert "EV222" in invoke("check", str(built)).out


def test_the_usual_file_is_named_where_the_configuration_does_not_name_it(invoke: Invoke, declared: Path) -> None:
    (declared / "evals" / "checks.py").write_text(CHECKS)
    configure(declared)
    suite_of(declared, "check max_links(3)", "check nothing()")
    lines = invoke("check").out.splitlines()
    (hint,) = [line for line in lines if "it is declared in `evals/checks.py`" in line]
    assert 'add `checks = ["evals/checks.py"]` to `evalc.toml`' in hint


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "def max_links(:\n",
            "checks_of_a_project.py:1:15: error[EV223]: this cannot be read as Python: invalid syntax",
        ),
        (
            "x = " + "-" * 100_000 + "1",
            "checks_of_a_project.py:1:1: error[EV223]: this cannot be read as Python: it is nested too",
        ),
        (
            CHECKS + "\n\n@evalc.custom_check\ndef max_links(answer, most):\n    return True\n",
            "error[EV206]: the check `max_links` is repeated here",
        ),
        (
            "from evalc import custom_check as mine\n\n@mine\ndef max_links():\n    return True\n",
            "checks_of_a_project.py:4:5: error[EV222]: the check `max_links` has no parameter for the answer",
        ),
    ],
)
def test_mistakes_in_the_file_of_checks(invoke: Invoke, declared: Path, text: str, expected: str) -> None:
    (declared / "evals" / "checks_of_a_project.py").write_text(text)
    suite_of(declared, "check max_links(3)")
    (problem,) = evalc.check("evals")  # and none that follows from it
    assert expected in str(problem)


def test_a_file_that_is_not_there_is_reported(invoke: Invoke, declared: Path) -> None:
    configure(declared, declared / "evals" / "missing.py")
    outcome = invoke("check")
    assert (outcome.code, "missing.py" in outcome.out) == (2, True)


def test_a_file_that_cannot_be_imported_stops_the_run_before_anything_is_sent(invoke: Invoke, declared: Path) -> None:
    (declared / "evals" / "checks_of_a_project.py").write_text("import nowhere_at_all\n")
    suite_of(declared, "non-empty")
    outcome = invoke("run")
    assert outcome.code == 2
    assert (
        "`checks_of_a_project` cannot be imported: ModuleNotFoundError: No module named 'nowhere_at_all'" in outcome.err
    )


@pytest.mark.parametrize(
    "more",
    [
        "def max_links(answer, most):\n    return True\n",
        "from other_checks_of_a_project import *\n",
        "max_links = functools.partial(max_links)\n",
    ],
)
def test_a_check_that_is_another_once_it_is_imported_stops_the_run(invoke: Invoke, declared: Path, more: str) -> None:
    (declared / "evals" / "other_checks_of_a_project.py").write_text(CHECKS)
    (declared / "evals" / "checks_of_a_project.py").write_text(f"{CHECKS}\n\n{more}")
    suite_of(declared, "non-empty")
    outcome = invoke("run")
    assert (outcome.code, outcome.out) == (2, "")
    assert (
        "`evals/checks_of_a_project.py` declares a check `max_links`, and has none once it is imported" in outcome.err
    )


def test_merging_imports_nothing(invoke: Invoke, declared: Path) -> None:
    suite_of(declared, "check max_links(3)")
    for part in ("1/2", "2/2"):
        invoke("run", "--shard", part, "--output-dir", "parts")
    (declared / "evals" / "checks_of_a_project.py").write_text(CHECKS + "\n\nraise SystemExit('imported')\n")
    sys.modules.pop("checks_of_a_project")
    by_name.cache_clear()
    outcome = invoke("merge", *map(str, (declared / "parts").glob("*/")))
    assert (outcome.code, "1/1 passed" in outcome.out) == (0, True)


def test_reports_hold_nothing_that_a_check_prints(invoke: Invoke, declared: Path) -> None:
    (declared / "evals" / "checks_of_a_project.py").write_text(CHECKS.replace("raise", "print('printed')  #"))
    suite_of(declared, "not check breaks()", "non-empty")
    for command in ("run", "challenge"):
        outcome = invoke(command, "evals", "--json")
        assert json.loads(outcome.out)
        assert "printed" in outcome.err


def test_the_file_that_is_run_is_the_one_that_was_read(
    invoke: Invoke, declared: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = declared / "inner"
    (project / "evals").mkdir(parents=True)
    (project / "sub").mkdir()
    (project / "evals" / "checks_of_a_project.py").write_text(CHECKS)
    configure(project, project / "evals" / "checks_of_a_project.py")
    suite_of(project, "check max_links(3)")
    # As a path from `sub` it would be this one, if it counted from the project's folder.
    (declared / "evals" / "checks_of_a_project.py").write_text("raise SystemExit('imported')\n")
    monkeypatch.chdir(project / "sub")
    assert invoke("run", "../evals").code == 0


def test_a_declared_check_is_called_as_the_function_it_is() -> None:
    @evalc.custom_check
    def max_links(answer: evalc.Answer, most: int) -> bool:
        """Count the links."""
        return answer.text.count("https://") <= most

    assert max_links(evalc.Answer(text="https://a https://b"), 2) is True
    assert max_links(evalc.Answer(text="https://a https://b"), most=1) is False
    assert max_links.__doc__ == "Count the links."


SCRIPT = """\
module.exports = (output, context) => output.includes(context.vars.city);
module.exports.longer = (output, { config }) => ({ pass: output.length > config.than, score: 0, reason: "too short" });
module.exports.share = async (output) => output.length / 100;
"""


@pytest.fixture
def scripted(project: Path) -> Path:
    """A project that names a file of checks in JavaScript."""
    (project / "evals" / "names-city.js").write_text(SCRIPT)
    configure(project, project / "evals" / "names-city.js")
    return project


def scripts_of(project: Path, *lines: str) -> None:
    suite_of(project, *lines)
    suite = project / "evals" / "links.eval.yaml"
    asked = "message: What is the weather in {{city}}?\n      inputs: {city: Tokyo}\n"
    suite.write_text(suite.read_text().replace("message: Which flights go to Rome?\n", asked))


def test_functions_of_javascript_are_checks(invoke: Invoke, scripted: Path) -> None:
    scripts_of(scripted, 'check "names-city"() > 0', "check longer(than=3)", "check share(answer=1, call=2) >= 0.01")
    assert invoke("check").code == 0
    assert invoke("run").code == 0
    scripts_of(scripted, "check longer(than=300)", "not check share() > 0.99")
    outcome = invoke("run")
    assert (outcome.code, "longer: too short" in outcome.out) == (1, True)


@pytest.mark.parametrize(
    ("text", "line", "expected"),
    [
        (SCRIPT, "check longr()", "is called `longr`"),
        (SCRIPT, "check longer(3)", "error[EV222]: too many positional arguments for `longer`"),
        ("export default (", "check longer()", "error[EV223]: this cannot be read as JavaScript"),
        (
            "import { a } from './a.js';\n",
            "check longer()",
            "read as a file of checks: `evals/names-city.js` imports `./a.js`, and there is no such file",
        ),
    ],
)
def test_mistakes_in_and_about_javascript(invoke: Invoke, scripted: Path, text: str, line: str, expected: str) -> None:
    (scripted / "evals" / "names-city.js").write_text(text)
    scripts_of(scripted, line)
    assert expected in invoke("check").out


def test_a_file_of_javascript_imports_others_of_the_project(invoke: Invoke, scripted: Path) -> None:
    (scripted / "evals" / "names-city.js").write_text("export * from '../lib/longer.ts';\n")
    (scripted / "lib").mkdir()
    (scripted / "lib" / "longer.ts").write_text(
        "import than from './than.json';\nexport const longer = (o: string) => o.length > than;\n"
        "export const shorter = (o: string) => !longer(o);\n"
    )
    (scripted / "lib" / "than.json").write_text("3")
    scripts_of(scripted, "check longer()", "not check shorter()")
    assert (invoke("check").code, invoke("run").code) == (0, 0)
    scripts_of(scripted, "check shorter()")
    assert invoke("run").code == 1


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("require('fs');\nmodule.exports = () => true;\n", "cannot be read: it asks for `require`"),
        ("exports.a = () => true;\nif (1) delete exports.a;\n", "declares a check `a`, and has none"),
    ],
)
def test_javascript_that_cannot_be_used_stops_the_run(invoke: Invoke, scripted: Path, text: str, expected: str) -> None:
    (scripted / "evals" / "names-city.js").write_text(text)
    scripts_of(scripted, "non-empty")
    outcome = invoke("run")
    assert (outcome.code, expected in outcome.err) == (2, True)


def test_two_files_of_javascript_with_one_name_stop_the_run(invoke: Invoke, scripted: Path) -> None:
    (scripted / "evals" / "more.js").write_text("Object.assign(exports, { share: () => 1 });\n")
    configure(scripted, scripted / "evals" / "names-city.js", scripted / "evals" / "more.js")
    scripts_of(scripted, "check share() > 0.99")
    outcome = invoke("run")
    assert (outcome.code, "two files of `checks` declare a check `share`" in outcome.err) == (2, True)


def test_javascript_that_throws_fails_even_behind_not(invoke: Invoke, scripted: Path) -> None:
    (scripted / "evals" / "names-city.js").write_text("module.exports = (output) => output.a.b;\n")
    scripts_of(scripted, 'not check "names-city"() > 0')
    outcome = invoke("run")
    assert (outcome.code, "names-city: TypeError: " in outcome.out) == (1, True)


def test_javascript_that_asks_for_more_is_an_error_of_its_case(invoke: Invoke, scripted: Path) -> None:
    (scripted / "evals" / "names-city.js").write_text("module.exports = (output) => fetch(output) || true;\n")
    scripts_of(scripted, 'check "names-city"()')
    outcome = invoke("run")
    assert (outcome.code, "names-city: it asks for `fetch`" in outcome.out) == (3, True)


def test_an_outcome_of_a_reason_alone_fails_even_behind_not(invoke: Invoke, declared: Path) -> None:
    refuses = "\n\n@evalc.custom_check\ndef refuses(answer):\n    return evalc.Outcome(reason='it is no JSON')\n"
    (declared / "evals" / "checks_of_a_project.py").write_text(CHECKS + refuses)
    suite_of(declared, "not check refuses() >= 0.5")
    outcome = invoke("run")
    assert (outcome.code, "refuses: it is no JSON" in outcome.out) == (1, True)
