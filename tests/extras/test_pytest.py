"""Eval files as tests of pytest, in real sessions of it: one test per case, and failures without tracebacks."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

import evalc.dsl.read_events
import evalc.extras.pytest.session  # noqa: F401 - sessions within this process forget what they import themselves
from evalc.config.load import load_settings
from evalc.report.words import main_reason
from evalc.runtime.run.again_load import load_run
from evalc.runtime.store.runs import find_results, read_closing
from evalc.setup.compile import soundly_compiled
from tests.cli.test_named_agents import TAKES_FIVE_SECONDS

pytest_plugins = ["pytester"]

SUITE = """\
suite: weather
eval:
  test_cases:
    - name: paris
      message: What is the weather in Paris?
      tags: [slow, skip]
      validate:
        - contains "cloudy in Pari"
    - name: rome
      message: What is the weather in Rome?
      tags: [needs-key]
      validate:
        - not contains "Rome"
    - name: known
      message: What is the weather in Rome?
      expected_failure: not taught yet
      validate:
        - contains "Berlin"
    - name: better
      message: What is the weather in Paris?
      expected_failure: not taught yet
      validate:
        - contains "Paris"
    - name: skipped
      message: What is the weather in Rome?
      skip: not now
      validate:
        - contains "Berlin"
    - name: retired
      message: What is the weather in Rome?
      archived: long gone
      validate:
        - contains "Berlin"
"""
UNVERIFIED = """\
eval:
  test_cases:
    - name: seeded
      message: Hello
      validate:
        - contains "{{seed:greeting}}"
"""


@pytest.fixture(autouse=True)
def only_what_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("PYTEST_ADDOPTS", "PYTEST_XDIST_WORKER", "FORCE_COLOR", "PY_COLORS"):
        monkeypatch.delenv(name, raising=False)


WITHOUT = [part for name in ("asyncio", "pytest-lsp", "hypothesispytest") for part in ("-p", f"no:{name}")]
"""Plugins that only come with what the tests need are none of a user's session."""


def run(pytester: pytest.Pytester, *arguments: str) -> pytest.RunResult:
    """A session within this process, which takes a tenth of the time of one of its own."""
    return pytester.runpytest_inprocess("-p", "no:cacheprovider", *WITHOUT, *arguments)


def write(pytester: pytest.Pytester, name: str, text: str) -> Path:
    file = pytester.path / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")
    return file


def test_nothing_is_collected_or_imported_where_evals_are_not_asked_for(pytester: pytest.Pytester) -> None:
    write(pytester, "weather.eval.yaml", SUITE)
    pytester.makepyfile("""
        import sys

        def test_it():
            ours = {name for name in sys.modules if name.split(".")[0] == "evalc"}
            assert ours == {"evalc", "evalc.extras", "evalc.extras.pytest"}
            assert not {"httpx", "msgspec", "asyncio", "yaml"} & set(sys.modules)
    """)
    others = (*WITHOUT, "-p", "no:anyio", "-p", "no:xdist")
    pytester.runpytest_subprocess(*others).assert_outcomes(passed=1)


def test_a_test_a_case(pytester: pytest.Pytester) -> None:
    write(pytester, "evals/weather.eval.yaml", SUITE)
    result = run(pytester, "--evalc-agent", "demo", "-rA", "-vv", "--strict-markers")
    result.assert_outcomes(passed=1, failed=2, xfailed=1, skipped=2)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(
        [
            "*weather/rome*",
            '*→ not contains "Rome"',
            '*found "Rome" in response',
            "*at evals/weather.eval.yaml:13:11",
            "*response: I have no weather data for Rome.",
            "*^^^^ found here",
            "*the response (32 characters):",
            "*weather/better*",
            "*passed, but a failure was expected: not taught yet",
            "PASSED evals/weather.eval.yaml::weather/paris",
            "SKIPPED *archived: long gone",
            "XFAIL evals/weather.eval.yaml::weather/known - not taught yet",
            'FAILED evals/weather.eval.yaml::weather/rome - not contains "Rome": found "Rome" in response',
        ]
    )
    assert "Traceback" not in result.stdout.str()
    assert ".py:" not in result.stdout.str()


@pytest.mark.parametrize(
    ("choice", "passed", "failed"),
    [
        (("-k", "paris"), 1, 0),
        (("-m", "slow"), 1, 0),
        (("-m", "needs-key"), 0, 1),
        (("evals/weather.eval.yaml::weather/paris",), 1, 0),
    ],
)
def test_cases_are_chosen_as_tests_are(
    pytester: pytest.Pytester, choice: tuple[str, ...], passed: int, failed: int
) -> None:
    write(pytester, "evals/weather.eval.yaml", SUITE)
    outcomes = run(pytester, "--evalc-agent", "demo", "--strict-markers", *choice).parseoutcomes()
    assert (outcomes.get("passed", 0), outcomes.get("failed", 0)) == (passed, failed)


@pytest.mark.parametrize("name", ["weather.eval.YAML", "Weather.Eval.yml"])
def test_names_in_capitals_are_collected_as_evalc_finds_them(pytester: pytest.Pytester, name: str) -> None:
    write(pytester, name, SUITE)
    outcome = run(pytester, "--collect-only", "-q", "--evalc-agent", "demo")
    outcome.stdout.fnmatch_lines([f"{name}::weather/paris"])


def test_the_last_failed_are_run_again(pytester: pytest.Pytester) -> None:
    write(pytester, "weather.eval.yaml", SUITE)
    demo = (*WITHOUT, "--evalc-agent", "demo")
    pytester.runpytest_inprocess(*demo).assert_outcomes(passed=1, failed=2, xfailed=1, skipped=2)
    pytester.runpytest_inprocess(*demo, "--lf").assert_outcomes(failed=2)


def test_each_worker_of_xdist_runs_and_writes_its_own_cases(pytester: pytest.Pytester) -> None:
    write(pytester, "evals/weather.eval.yaml", SUITE)
    result = pytester.runpytest_subprocess("--evalc-agent", "demo", "-n", "2", "--evalc-output-dir", "out")
    result.assert_outcomes(passed=1, failed=2, xfailed=1, skipped=2)
    result.stdout.fnmatch_lines(["*results in *out*", 'FAILED *::weather/rome - → not contains "Rome"'])
    ids = Counter(
        case.id
        for folder in (pytester.path / "out").iterdir()
        if folder.is_dir()
        for suite in load_run(find_results(str(folder), pytester.path))[0].suites
        for case in suite.cases
    )
    assert ids == Counter(f"weather/{name}" for name in ("paris", "rome", "known", "better"))
    # Results are no eval files, wherever they lie.
    run(pytester, "--evalc-agent", "demo", "-k", "paris").assert_outcomes(passed=1, deselected=5)


def test_pytest_names_the_line_and_the_reason_that_results_have(pytester: pytest.Pytester) -> None:
    write(pytester, "weather.eval.yaml", SUITE)
    result = run(pytester, "--evalc-agent", "demo", "--evalc-output-dir", "out")
    (folder,) = [folder for folder in (pytester.path / "out").iterdir() if folder.is_dir()]
    (suite,) = load_run(find_results(str(folder), pytester.path))[0].suites
    broken = [case for case in suite.cases if not case.passed]
    assert [case.id for case in broken] == ["weather/rome", "weather/better"]
    for case in broken:
        reason = main_reason(case)
        assert reason is not None
        said = [f"*→ {reason.check or reason.message}", *([f"*{reason.message}"] if reason.check else [])]
        result.stdout.fnmatch_lines([*said, f"*at {reason.place}"])


def test_records_of_a_session_are_kept_with_its_results(pytester: pytest.Pytester) -> None:
    write(pytester, "weather.eval.yaml", SUITE.replace("eval:\n", "threshold: 0.9\neval:\n  criteria: [clear]\n"))
    run(pytester, "--evalc-agent", "demo", "--evalc-output-dir", "out")
    (folder,) = [folder for folder in (pytester.path / "out").iterdir() if folder.is_dir()]
    closing, unread = read_closing(folder)
    assert unread == ()
    assert "weather (labeled)" in "".join(closing.below)


def test_mistakes_are_one_error_of_collection(pytester: pytest.Pytester) -> None:
    write(pytester, "a.eval.yml", "eval: {test_cases: [{name: a, message: hi, validate: [contians 'x']}, {name: b}]}\n")
    result = run(pytester, "--evalc-agent", "demo")
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(
        ["*ERROR collecting a.eval.yml*", "error[[]EV*", " --> a.eval.yml:1:*", "*errors in 1 file*"]
    )
    assert "Traceback" not in result.stdout.str()


def test_json_is_collected_less_what_is_compiled_from_a_file_beside_it(pytester: pytest.Pytester) -> None:
    envelope = {
        "metadata": {"toolName": "t", "tier": "labeled", "generatedBy": "evalc 0.1.0"},
        "cases": [
            {
                "id": "t/a",
                "description": "d",
                "difficulty": "edge",
                "input": {"message": "Hi"},
                "expect": {"responseNonEmpty": True},
            },
        ],
    }
    write(pytester, "other/t.labeled.json", json.dumps(envelope))
    run(pytester, "--evalc-agent", "demo").assert_outcomes(passed=1)
    write(pytester, "other/t.eval.yaml", UNVERIFIED.replace("{{seed:greeting}}", "weather"))
    result = run(pytester, "--evalc-agent", "demo", "--collect-only", "-q")
    result.stdout.fnmatch_lines(["other/t.eval.yaml::t/seeded"])
    result.stdout.no_fnmatch_line("*labeled.json*")
    run(pytester, "--evalc-agent", "demo", "other/t.labeled.json").assert_outcomes(passed=1)


def test_a_case_that_verified_nothing_passes_with_a_warning_and_fails_under_strict(pytester: pytest.Pytester) -> None:
    write(pytester, "a.eval.yaml", UNVERIFIED)
    # Of its own, since every session within this process inherits that warnings are errors.
    result = pytester.runpytest_subprocess("--evalc-agent", "demo")
    result.assert_outcomes(passed=1, warnings=1)
    result.stdout.fnmatch_lines(["*EvalcWarning: a/seeded: nothing was checked, no value for {{seed:greeting}}"])
    result = run(pytester, "--evalc-agent", "demo", "-W", "error")
    result.assert_outcomes(failed=1)
    assert "Traceback" not in result.stdout.str()
    result = run(pytester, "--evalc-agent", "demo", "--evalc-strict")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*nothing was checked, no value for {{seed:greeting}}"])


@pytest.mark.parametrize(
    "agent",
    [
        "lambda message: 'It is 17 degrees'",
        "evalc.ScriptedAgent(default='It is 17 degrees')",
        "'python:bot:answer'",
        "Bot()",
    ],
)
def test_a_fixture_gives_the_agent(pytester: pytest.Pytester, agent: str) -> None:
    pytester.makeini("[pytest]\nevalc = true\n")
    pytester.makepyfile(bot="async def answer(message):\n    return 'It is 17 degrees'\n")
    pytester.makeconftest(f"""
        import evalc, pytest

        class Bot:
            async def run(self, message):
                return "It is 17 degrees"

        @pytest.fixture(scope="session")
        def evalc_agent():
            return {agent}
    """)
    write(pytester, "a.eval.yaml", UNVERIFIED.replace("{{seed:greeting}}", "17"))
    run(pytester).assert_outcomes(passed=1)


def test_an_agent_that_breaks_is_an_error_in_words(pytester: pytest.Pytester) -> None:
    pytester.makeini("[pytest]\nevalc = true\n")
    pytester.makeconftest("""
        import pytest

        def broken(message):
            raise RuntimeError("out of \\x1b[31mpaper")

        @pytest.fixture(scope="session")
        def evalc_agent():
            return broken
    """)
    write(pytester, "a.eval.yaml", UNVERIFIED.replace("{{seed:greeting}}", "17"))
    result = run(pytester)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        ["*error: the agent or a check broke*", "*→ agent: RuntimeError: out of ?x1b[[]31mpaper*"]
    )
    assert "Traceback" not in result.stdout.str()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--evalc-agent", "pythn:x:y"), "error: `pythn` names no kind of agent*"),
        (("-o", "evalc=true"), "*error: no agent is named*"),
        (("--evalc-agent", "demo", "--evalc-config", "absent.yaml"), "*absent.yaml*"),
    ],
)
def test_missing_parts_are_reported_without_a_traceback(
    pytester: pytest.Pytester, options: tuple[str, ...], message: str
) -> None:
    write(pytester, "a.eval.yaml", UNVERIFIED.replace("{{seed:greeting}}", "17"))
    result = run(pytester, *options)
    assert result.ret in (pytest.ExitCode.TESTS_FAILED, pytest.ExitCode.INTERRUPTED)
    result.stdout.fnmatch_lines([message])
    assert "Traceback" not in result.stdout.str()


def test_a_named_agent_has_a_time_of_its_own(pytester: pytest.Pytester) -> None:
    write(pytester, "hello.eval.yaml", "eval: {test_cases: [{name: hi, message: Hello, validate: [non-empty]}]}\n")
    write(pytester, "five_seconds.py", TAKES_FIVE_SECONDS)
    table = '[agents.slow]\nuse = "python:five_seconds.py:agent"\ntimeout = "1m"\n'
    write(pytester, "evalc.toml", f'agent = "slow"\ntimeout = "1s"\n{table}')
    for flags in (["--evalc-agent", "slow"], ["-o", "evalc=true"]):
        run(pytester, *flags).assert_outcomes(passed=1)
    run(pytester, "--evalc-agent", "python:five_seconds.py:agent").assert_outcomes(failed=1)


JUDGED = """\
suite: tone
eval:
  test_cases:
    - {name: plain, message: Hello, validate: [non-empty]}
    - {name: kind, message: Hello, validate: ['judge "Is it kind?" >= 4/5']}
    - {name: later, message: Hello, skip: not now, validate: ['judge "Is it kind?" >= 4/5']}
    - {name: traveller, user: {goal: find the weather, persona: a child}, validate: [non-empty]}
"""


def test_keys_are_needed_of_judges_and_players_whom_a_chosen_case_asks(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    write(pytester, "tone.eval.yaml", JUDGED)
    write(pytester, "evalc.toml", 'judge = ["openai:gpt-x"]\nuser = "anthropic:claude-x"\n')
    run(pytester, "--evalc-agent", "demo", "-k", "plain or later").assert_outcomes(passed=1, skipped=1, deselected=2)
    judged = run(pytester, "--evalc-agent", "demo", "-k", "plain or kind")
    judged.assert_outcomes(failed=2, deselected=2)
    judged.stdout.fnmatch_lines(["error: `openai` needs a key*"])
    played = run(pytester, "--evalc-agent", "demo", "-k", "traveller")
    played.assert_outcomes(failed=1, deselected=3)
    played.stdout.fnmatch_lines(["error: nobody can play users: `anthropic` needs a key*"])


def test_secrets_are_struck_out(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET_OF_TESTS", "hunter2-hunter2")
    write(pytester, "evals.config.json", json.dumps({"secrets": ["SECRET_OF_TESTS"]}))
    pytester.makeini("[pytest]\nevalc = true\nevalc_config = evals.config.json\n")
    pytester.makeconftest("""
        import pytest

        @pytest.fixture(scope="session")
        def evalc_agent():
            return lambda message: "the key is hunter2-hunter2"
    """)
    write(pytester, "a.eval.yaml", UNVERIFIED.replace("{{seed:greeting}}", "17"))
    result = run(pytester, "--junit-xml", "report.xml")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*the key is [*][*][*]"])
    assert "hunter2" not in result.stdout.str()
    assert "hunter2" not in (pytester.path / "report.xml").read_text(encoding="utf-8")


def test_the_options_are_in_the_help(pytester: pytest.Pytester) -> None:
    run(pytester, "--help").stdout.fnmatch_lines(
        ["evals of LLM agents*", "*--evalc-agent=SPEC*", "*--evalc-output-dir=DIR*"]
    )


def test_files_that_are_excluded_are_no_tests(
    pytester: pytest.Pytester,
) -> None:
    pytester.makeini("[pytest]\nevalc = true\n")
    write(pytester, "evalc.toml", "exclude = ['!', 'drafts/']\n")  # `!` alone matches nothing
    write(pytester, "drafts/weather.eval.yaml", SUITE)
    write(pytester, "weather.eval.yaml", SUITE)
    found = run(pytester, "--evalc-agent", "demo", "--collect-only", "-q")
    found.stdout.fnmatch_lines(["weather.eval.yaml::*paris"])
    found.stdout.no_fnmatch_line("*drafts*")


PROMPT = """\
id: greeting-v1
name: Greeting
prompt: Greet {{city}}
inputs:
  - {name: city, required: true}
tool: greet
"""
PROMPT_WITH_EVALS = (
    PROMPT
    + """\
eval:
  test_cases:
    - name: oslo
      inputs: {city: Oslo}
      validate:
        - non-empty
"""
)


def collected(pytester: pytest.Pytester, *arguments: str) -> list[str]:
    """The tests that pytest finds."""
    found = run(pytester, "--evalc-agent", "demo", "--collect-only", "-q", *arguments)
    return [line for line in found.stdout.lines if "::" in line]


@pytest.mark.parametrize(
    "named", [(), ("evals",), ("evals/greet.prompt.yaml",), ("./evals/../evals/greet.prompt.yaml",)]
)
def test_prompt_files_with_evals_are_collected(pytester: pytest.Pytester, named: tuple[str, ...]) -> None:
    write(pytester, "evals/greet.prompt.yaml", PROMPT_WITH_EVALS)
    write(pytester, "evals/without.prompt.yaml", PROMPT.replace("greeting", "other"))
    write(pytester, "evals/of-another-kind.yaml", "services:\n  web: {image: x}\n")
    write(pytester, "evals/broken.yaml", "a: [")
    write(pytester, "evals/data.json", "[1, 2")
    assert collected(pytester, *named) == ["evals/greet.prompt.yaml::greeting-v1/oslo"]


def test_pytest_finds_the_cases_that_a_run_finds(pytester: pytest.Pytester) -> None:
    for folder in ("evals", "ignored", "excluded", "evals/results"):
        write(pytester, f"{folder}/weather.eval.yaml", SUITE.replace("weather\n", f"{folder[-3:]}\n", 1))
    write(pytester, "plain.yaml", PROMPT_WITH_EVALS)
    write(pytester, "evalc.toml", "exclude = ['excluded/']\nagent = 'demo'\n")
    write(pytester, ".gitignore", "ignored/\n")
    (pytester.path / ".git").mkdir()
    suites = soundly_compiled(["."], load_settings(Path.cwd(), None, []).sound(), None).suites
    expected = {located.case.id for suite in suites for located in suite.to_suite().cases}
    found = collected(pytester)
    assert {line.partition("::")[2] for line in found} == expected
    assert {line.partition("::")[0] for line in found} == {"evals/weather.eval.yaml", "plain.yaml"}


def test_a_named_file_is_collected_whatever_leaves_it_out(pytester: pytest.Pytester) -> None:
    pytester.makeini("[pytest]\nevalc_files = *.eval.yaml\n")
    write(pytester, "plain.yaml", PROMPT_WITH_EVALS)
    write(pytester, "drafts/weather.eval.yaml", SUITE)
    write(pytester, ".gitignore", "drafts/\n")
    assert collected(pytester) == []
    assert collected(pytester, "plain.yaml") == ["plain.yaml::greeting-v1/oslo"]
    assert len(collected(pytester, "drafts/weather.eval.yaml")) == 6
    assert collected(pytester, "plain.yaml::greeting-v1/oslo") == ["plain.yaml::greeting-v1/oslo"]


def test_a_named_file_without_evals_is_an_error_that_says_so(pytester: pytest.Pytester) -> None:
    write(pytester, "compose.yaml", "services:\n  web: {image: x}\n")
    result = run(pytester, "--evalc-agent", "demo", "compose.yaml")
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["error*EV640*"])
