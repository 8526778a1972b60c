"""The front door: its names, its docstrings as they stand, and what its functions promise."""

from __future__ import annotations

import asyncio
import doctest
import importlib
import inspect
import json
import os
import pydoc
import signal
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
from typer.main import get_command

import evalc
from evalc import api
from evalc.model.answer import AgentResponse
from evalc.runtime.agents import recording
from evalc.setup import runner
from evalc.setup.flags import FLAGS, RunFlags, _OldFlags, sentence_of
from tests.support.command_line import app

PUBLIC = {
    "AgentError",
    "AgentProtocolError",
    "AgentResponse",
    "AgentTimeout",
    "AgentUnavailable",
    "Answer",
    "Case",
    "Compilation",
    "EvalcError",
    "Outcome",
    "Problem",
    "Run",
    "ScriptedAgent",
    "Source",
    "SourceError",
    "Suite",
    "ToolCall",
    "Turn",
    "UsageError",
    "check",
    "compile",
    "contains",
    "contains_all_of",
    "contains_any_of",
    "custom_check",
    "ends_with",
    "equals",
    "judge",
    "matches",
    "one_of",
    "run",
    "run_async",
    "similar_to",
    "starts_with",
    "within",
}


def test_the_public_names_are_these_and_all_there() -> None:
    assert set(evalc.__all__) == PUBLIC
    assert all(getattr(evalc, name).__doc__ for name in PUBLIC)
    assert set(dir(evalc)) == PUBLIC | {"__version__"}


@pytest.mark.parametrize("module", [api, recording], ids=lambda module: str(module.__name__))
def test_the_docstrings_run(module: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    outcome = doctest.testmod(module, optionflags=doctest.ELLIPSIS)
    assert outcome.attempted > 0
    assert outcome.failed == 0


def test_a_public_name_stays_when_a_package_of_that_name_is_imported() -> None:
    importlib.import_module("evalc.check.values")
    assert all(not isinstance(getattr(evalc, name), ModuleType) for name in PUBLIC)


def test_importing_evalc_imports_nothing_else_of_it() -> None:
    code = "import sys, evalc; print(sorted(name for name in sys.modules if name.startswith('evalc.')))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_source_with_errors_is_not_run(tmp_path: Path) -> None:
    source = evalc.Source("x.eval.yaml", "eval: {test_cases: [{name: a, message: hi}]}")
    with pytest.raises(evalc.SourceError) as raised:
        evalc.run(source, agent=evalc.ScriptedAgent(default="hello"), output_dir=tmp_path)
    assert [problem.code for problem in raised.value.problems] == ["EV401"]
    assert list(tmp_path.iterdir()) == []


OF_A_TERMINAL = {
    *("quiet", "verbose", "durations", "json", "output"),
    *("dry_run", "show_settings", "help_all", "x", "from"),
}
"""The flags that are nothing to a call: it gets the results, `maxfail` is more than `-x`, and nothing is imported."""


def test_a_call_takes_every_flag_of_the_command() -> None:
    command: Any = get_command(app)
    options = [parameter.opts for parameter in command.commands["run"].params if parameter.param_type_name == "option"]
    flags = {opts[0].lstrip("-").replace("-", "_") for opts in options}
    assert {"keywords" if flag == "k" else flag for flag in flags} - OF_A_TERMINAL == FLAGS.keys() - {"save"}


@pytest.mark.parametrize("function", [evalc.run, evalc.run_async, evalc.compile, evalc.check])
def test_help_has_every_keyword_with_its_sentence(function: Any) -> None:
    (_, *keywords) = inspect.signature(function).parameters.values()
    names = [each.name for each in keywords]
    if function in (evalc.run, evalc.run_async):
        assert {*names, *_OldFlags.__annotations__} == RunFlags.__annotations__.keys()
    assert {each.kind for each in keywords} == {inspect.Parameter.KEYWORD_ONLY}
    assert {each.annotation for each in keywords if each.default is False} == {"bool"}
    text = " ".join(pydoc.plain(pydoc.render_doc(function)).split()) + " "
    assert [name for name in names if f" {name}: {sentence_of(name)} " not in text] == []


def test_a_misspelt_keyword_is_an_error_of_types_too() -> None:
    with pytest.raises(TypeError, match=r"did you mean `agent`\?"):
        evalc.run("evals", agnt="demo")  # type: ignore[call-arg]


CITIES = """\
suite: cities
eval:
  test_cases:
    - {name: paris, tags: [smoke], message: in Paris?, validate: [contains "Paris"]}
    - {name: tokyo, message: in Tokyo?, validate: [contains "Lima"]}
    - {name: cairo, tags: [slow], message: in Cairo?, validate: [contains "Cairo"]}
"""
ECHO = evalc.ScriptedAgent({f"in {city}?": city for city in ("Paris", "Tokyo", "Cairo")})


@pytest.fixture
def cities(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".git").mkdir()
    file = tmp_path / "cities.eval.yaml"
    file.write_text(CITIES)
    return file


def ids(run: evalc.Run) -> list[str]:
    return [case.id for suite in run.suites for case in suite.cases]


@pytest.mark.parametrize(
    ("subject", "flags", "chosen"),
    [
        (None, {}, ["paris", "tokyo", "cairo"]),
        ("cities.eval.yaml::*o", {}, ["tokyo", "cairo"]),
        (Path("cities.eval.yaml"), {"keywords": "paris or cairo"}, ["paris", "cairo"]),
        (None, {"tag": "smoke"}, ["paris"]),
        (None, {"tag": ["smoke", "slow", "!slow"]}, ["paris"]),
        (None, {"filter": "/[ck]y?/", "tier": "labeled"}, ["paris", "tokyo", "cairo"]),
        (None, {"filter": ("cities/t*",)}, ["tokyo"]),
    ],
)
def test_a_call_chooses_cases(cities: Path, subject: Any, flags: Any, chosen: list[str]) -> None:
    assert ids(evalc.run(subject, agent=ECHO, **flags)) == [f"cities/{name}" for name in chosen]


def test_a_call_runs_what_failed_and_has_gates(cities: Path) -> None:
    first = evalc.run(agent=ECHO, min_pass_rate=0.6)
    assert (first.exit_code, first.summary.failed) == (0, 1)
    again = evalc.run(agent=ECHO, last_failed=first.run_id, repeat=2, baseline=first.run_id)
    assert (ids(again), again.exit_code) == (["cities/tokyo"], 1)
    assert [suite.baseline_run_id for suite in again.suites] == [first.run_id]
    assert evalc.run(agent=ECHO, maxfail=1, min_score=0).exit_code == 1
    cities.write_text(CITIES.replace("Lima", "Tokyo"))
    healed = evalc.run(agent=ECHO)
    with pytest.raises(evalc.UsageError, match="nothing to run: no case of these suites failed"):
        evalc.run(agent=ECHO, last_failed=healed.folder)


def test_a_call_asks_several_agents_and_records_them(cities: Path) -> None:
    run = evalc.run(agent=["demo", ECHO], record=Path("said"), keywords="paris")
    assert [suite.agent_endpoint for suite in run.suites] == ["demo", "scripted"]
    assert {file.parent.name.partition("-")[0] for file in Path("said").rglob("*.json")} == {"demo", "scripted"}
    replayed = evalc.run(agent=f"replay:{next(Path('said').glob('scripted*'))}", keywords="paris")
    assert replayed.summary.passed == 1


def test_a_call_asks_functions_and_objects(cities: Path) -> None:
    def newest(messages: list[dict[str, str]]) -> str:
        return messages[-1]["content"]

    class Echo:
        async def run(self, message: str, messages: list[dict[str, str]]) -> str:
            return f"{message} {len(messages)}"

    run = evalc.run(agent=[newest, Echo], keywords="paris")
    place = f"python:{__name__}:test_a_call_asks_functions_and_objects"
    assert [suite.agent_endpoint for suite in run.suites] == [f"{place}.newest", f"{place}.Echo"]
    assert run.summary.passed == 2


def test_results_name_the_model_that_answered(cities: Path) -> None:
    run = evalc.run(agent=lambda message: AgentResponse(response=message, model="m-1"), keywords="paris")
    assert [case.details.model for suite in run.suites for case in suite.cases] == ["m-1"]


JUDGED = """
suite: judged
eval:
  criteria: ["kind (1): Is it kind?"]
  test_cases:
    - {name: a, message: hi, validate: [non-empty]}
    - name: guest
      user: {persona: A guest, goal: To say goodbye, max_turns: 2}
      validate: [contains "bye"]
"""


def test_functions_judge_and_play_users(cities: Path) -> None:
    cities.write_text(JUDGED)

    def kind(question: dict[str, Any]) -> tuple[float, str]:
        return (question["question"]["maxScore"], "kind") if "bye" in question["response"] else (0, "curt")

    def strict(question: dict[str, Any]) -> float:
        return 0.0

    def play(exhibit: str) -> str:
        user = json.loads(exhibit)
        over = bool(user["messages"])
        return json.dumps({"goal": user["goal"], "say": "" if over else "bye", "facts": [], "done": over})

    def parrot(message: str) -> str:
        return message

    run = evalc.run(agent=parrot, judge=kind, user=play, output_dir="out")
    assert [(case.id, case.status, case.score) for case in run.cases] == [
        ("judged/a", "passed", 0.0),
        ("judged/guest", "passed", 1.0),
    ]
    (criterion,) = run.cases[1].criteria
    assert criterion.judged is not None
    several = evalc.run(agent=parrot, judge=[kind, strict], user=play, output_dir="out")
    scripted = evalc.ScriptedAgent(default=json.dumps({"goal": "To say goodbye", "say": "", "facts": [], "done": True}))
    assert evalc.run(agent=parrot, judge=kind, user=scripted, output_dir="out").summary.total_cases == 2
    assert several.summary.passed == 2
    with pytest.raises(TypeError, match=r"`judge` of `evalc\.run` takes .*, not `int`"):
        evalc.run(agent=parrot, judge=5)  # type: ignore[arg-type]


def test_a_function_makes_the_snapshot(cities: Path) -> None:
    cities.write_text(CITIES.replace('contains "Lima"', "'contains \"{{snapshot:city}}\"'"))

    async def now() -> dict[str, str]:
        return {"city": "Tokyo"}

    assert evalc.run(agent=ECHO, snapshot=now).summary.passed == 3
    with pytest.raises(evalc.UsageError, match=r"the snapshot from `python:.*odd`: what it returns is not JSON"):
        evalc.run(agent=ECHO, snapshot=odd)


def odd() -> object:
    return {"city": {1}}


def test_a_call_resumes_a_run(cities: Path) -> None:
    run = evalc.run(agent=ECHO, keywords="not tokyo", timeout="5s")
    journal = run.folder / "journal.jsonl"
    journal.write_bytes(b"".join(journal.read_bytes().splitlines(keepends=True)[:2]))
    with pytest.raises(evalc.UsageError, match="no agent is named"):
        evalc.run(resume=run.run_id)
    again = evalc.run(agent=ECHO, resume="latest")
    assert (again.run_id, ids(again)) == (run.run_id, ["cities/paris", "cities/cairo"])


def test_a_run_is_true_where_all_is_well(cities: Path) -> None:
    assert evalc.run(agent=ECHO, keywords="paris")
    failed = evalc.run(agent=evalc.ScriptedAgent({}), keywords="paris")
    assert (bool(failed), failed.exit_code == 0) == (False, False)


def test_a_run_of_a_call_is_resumed_from_the_command_line(cities: Path) -> None:
    run = evalc.run(agent="demo", keywords="paris", output_dir="out", min_pass_rate=0)
    assert run.exit_code == 0
    (run.folder / "cities.labeled.json").unlink()
    command = [sys.executable, "-m", "evalc", "run", "--resume", "latest", "--output-dir", "out"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "running cities (labeled): 1 case\nread 1 suite\n")
    assert "cities/paris" in done.stdout


@pytest.mark.parametrize(
    ("flags", "error", "message"),
    [
        ({"keyword": "paris"}, TypeError, r"got an unexpected keyword argument `keyword`; did you mean `keywords`\?"),
        ({"concurency": 4}, TypeError, r"did you mean `concurrency`\?"),
        ({"nothing_like_it": 4}, TypeError, "argument `nothing_like_it`$"),
        ({"repeat": 0}, evalc.UsageError, "what chooses cases has a value that cannot be: Expected `int` >= 1"),
        ({"keywords": 5}, TypeError, r"^`keywords` of `evalc\.run` takes `str \| None`, not `int`$"),
        ({"maxfail": "1"}, TypeError, "`maxfail` of .* takes `int .*, not `str`"),
        ({"maxfail": True}, TypeError, "`maxfail` of .*, not `bool`"),
        ({"record": 3}, TypeError, "`record` of .* takes `str .* Path .*, not `int`"),
        ({"concurrency": 1.5}, TypeError, "`concurrency` of .*, not `float`"),
        ({"concurrency": "x"}, evalc.UsageError, "`--concurrency` must be a whole number, or `auto`"),
        ({"timeout": 5}, TypeError, "`timeout` of .*, not `int`"),
        ({"timeout": "5"}, evalc.UsageError, "`--timeout` must be a time with its unit, such as `30s`"),
        ({"not_tag": ["slow", 5]}, TypeError, r"`not_tag` of .*, not `list\[int \| str\]`"),
        ({"tier": b"golden"}, TypeError, "`tier` of .*, not `bytes`"),
        ({"strict": "no"}, TypeError, "`strict` of .* takes `bool`, not `str`"),
        ({"agent": object()}, evalc.UsageError, "`python:object` is a `object`, not a function"),
        ({"agent": b"demo"}, evalc.UsageError, "`python:bytes` is a `bytes`, not"),
        (
            {"agent": SimpleNamespace(endpoint=5, session=print)},
            evalc.UsageError,
            "`python:types:SimpleNamespace` is a `SimpleNamespace`, not",
        ),
        ({"agent": []}, evalc.UsageError, "the list of agents is empty"),
        ({"maxfail": 0}, evalc.UsageError, "`--maxfail` has to be 1 or above"),
        ({"min_pass_rate": 2}, evalc.UsageError, "`--min-pass-rate` must be between 0 and 1"),
        ({"tier": "gold"}, evalc.UsageError, "`--tier gold`: the tiers are"),
        ({"failed_from": "a", "last_failed": True}, evalc.UsageError, "give one of them"),
        ({"resume": "nope"}, evalc.UsageError, "`nope` is neither a run"),
    ],
)
def test_a_call_that_cannot_be_done(cities: Path, flags: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        evalc.run(**{"agent": ECHO, **flags})
    assert not (cities.parent / "evals").exists()


@pytest.mark.parametrize("given", [None, False])
def test_none_and_false_are_not_given(cities: Path, given: Any) -> None:
    flags = dict.fromkeys(("strict", "last_failed", "all_assertions"), given)
    assert len(ids(evalc.run(agent=ECHO, maxfail=None, tag=None, config=None, **flags))) == 3


@pytest.mark.parametrize(
    ("subject", "error", "message"),
    [
        ([], evalc.UsageError, "the list of what is to be run is empty"),
        (iter(()), evalc.UsageError, "the list of what is to be run is empty"),
        ("", evalc.UsageError, "an empty text names no eval files"),
        (["cities.eval.yaml", ""], evalc.UsageError, "an empty text names no eval files"),
        (b"cities.eval.yaml", TypeError, r"`Source` or `evalc.Suite\(NAME, cases=\[...\]\)`, not as `bytes`"),
        (5, TypeError, "not as `int`"),
        ([None], TypeError, "not as `NoneType`"),
        ([["cities.eval.yaml"]], TypeError, r"not as `list\[str\]`"),
        (evalc.Source("x.eval.yaml", 5), TypeError, "both of them `str`, not `str` and `int`"),  # type: ignore[arg-type]
        ("a\0b", evalc.SourceError, "there is no file"),
        ("x" * 5000, evalc.SourceError, "cannot be read: file name too long"),
    ],
)
def test_a_file_without_evals_does_not_mean_all_files(
    cities: Path, subject: Any, error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        evalc.run(subject, agent=ECHO)
    assert not (cities.parent / "evals").exists()


def test_a_call_takes_paths_from_anything_that_gives_them(cities: Path) -> None:
    assert len(ids(evalc.run(Path().glob("*.yaml"), agent=ECHO))) == 3
    assert evalc.check(path for path in ["cities.eval.yaml"]) == ()
    with pytest.raises(TypeError, match="not as `NoneType`"):
        evalc.compile(None)  # type: ignore[arg-type]


def test_a_call_runs_where_an_event_loop_runs(cities: Path) -> None:
    async def within() -> None:
        assert len(ids(evalc.run(agent=ECHO))) == len(ids(await evalc.run_async(agent=ECHO))) == 3

    asyncio.run(within())


def test_a_run_in_a_loop_is_interrupted(cities: Path) -> None:
    asked: list[str] = []

    async def slow(message: str) -> str:
        asked.append(message)
        os.kill(os.getpid(), signal.SIGINT)
        await asyncio.sleep(60)
        return message

    async def within() -> None:
        with pytest.raises(KeyboardInterrupt):
            evalc.run(agent=slow)

    loop = asyncio.new_event_loop()  # as a notebook has it: it leaves Ctrl-C to whoever is called
    loop.run_until_complete(within())
    loop.close()
    assert len(asked) == 1


def test_a_run_in_a_loop_is_interrupted_while_its_thread_begins(cities: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked, ended = threading.Event(), threading.Event()

    async def slow(message: str) -> str:
        asked.set()
        try:
            await asyncio.sleep(60)
        finally:
            ended.set()
        return message

    class Interrupted(ThreadPoolExecutor):
        def submit(self, *args: Any, **options: Any) -> Any:
            super().submit(*args, **options)
            asked.wait(10)
            raise KeyboardInterrupt

    async def within() -> None:
        monkeypatch.setattr(runner, "ThreadPoolExecutor", Interrupted)
        with pytest.raises(KeyboardInterrupt):
            evalc.run(agent=slow)

    loop = asyncio.new_event_loop()
    loop.run_until_complete(asyncio.wait_for(within(), 30))
    loop.close()
    assert ended.is_set()


# --- a run to look at ------------------------------------------------------------------------------------------------


@pytest.fixture
def finished(cities: Path) -> evalc.Run:
    return evalc.run(agent=ECHO)


def test_a_run_shows_its_totals_on_a_line(finished: evalc.Run) -> None:
    assert repr(finished).startswith(f"<Run {finished.run_id}: 2/3 passed | 1 failed | 0 skipped assertions | ")


def test_a_run_says_what_failed_first_and_which_gate_is_not_met(finished: evalc.Run, cities: Path) -> None:
    (failure,) = finished.failures
    assert repr(finished).endswith(f' total; {failure.id}: contains "Lima": {failure.assertions[-1].message}>')
    gated = repr(evalc.run(agent=ECHO, min_pass_rate=0.9))
    assert "ms total; pass rate 0.67, at least 0.9 is needed; " in gated
    cities.write_text(CITIES.replace('contains "Lima"', "non-empty"))
    assert repr(evalc.run(agent=ECHO)).endswith(" total>")


def test_a_run_is_a_table_in_a_notebook(cities: Path) -> None:
    cities.write_text(CITIES.replace('contains "Lima"', 'contains "<Lima>"'))
    page = evalc.run(agent=ECHO)._repr_html_()
    assert page.index("cities/tokyo") < page.index("cities/paris")
    assert (page.count("<tr"), "&lt;Lima&gt;" in page, "<Lima>" in page) == (4, True, False)


def test_cases_and_failures_can_be_indexed(finished: evalc.Run) -> None:
    assert [case.id for case in finished.cases] == ["cities/paris", "cities/tokyo", "cities/cairo"]
    (failure,) = finished.failures
    assert (failure.id, failure.answer, finished.suites[0].cases[1]) == ("cities/tokyo", "Tokyo", failure)


def test_a_run_is_compared_with_an_earlier_one(cities: Path, finished: evalc.Run) -> None:
    cities.write_text(CITIES.replace("Lima", "Tokyo"))
    later = evalc.run(agent=ECHO)
    for before in (finished, finished.run_id, finished.folder, "latest~1"):
        assert (later.diff(before).new_passes, later.diff(before).regressions) == (1, 0)
    assert later.diff().before == finished.run_id
    with pytest.raises(evalc.UsageError, match="are the same run"):
        later.diff(later)


@pytest.mark.parametrize(("name", "beginning"), [("report.html", "<!doctype html>"), ("r.csv", '"suite","tier"')])
def test_a_run_is_saved_in_the_format_of_the_name(finished: evalc.Run, name: str, beginning: str) -> None:
    finished.save(name)
    assert Path(name).read_text().startswith(beginning)


def test_a_name_that_says_no_format_is_refused(finished: evalc.Run) -> None:
    with pytest.raises(evalc.UsageError, match=r"`report\.foo` says no format: end it with"):
        finished.save("report.foo")
    finished.save("report.foo", "markdown")
    assert "cities/tokyo" in Path("report.foo").read_text()
    with pytest.raises(evalc.UsageError, match="there is no format `foo`: the formats are"):
        finished.save("report.html", "foo")  # type: ignore[arg-type]


def test_a_file_that_is_no_report_is_not_overwritten(finished: evalc.Run) -> None:
    Path("labels.csv").write_text("response,label\n")
    with pytest.raises(FileExistsError, match="not a report"):
        finished.save("labels.csv")
    assert Path("labels.csv").read_text() == "response,label\n"
    finished.save("cases.csv")
    finished.save("cases.csv")


def test_a_run_becomes_a_data_frame(finished: evalc.Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", SimpleNamespace(DataFrame=dict, __spec__=object()))
    frame = finished.to_frame()
    assert (frame["case"], frame["status"][1]) == (["cities/paris", "cities/tokyo", "cities/cairo"], "failed")


def test_without_a_library_of_data_frames_it_says_which_to_install(
    finished: evalc.Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("pandas", "polars"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(evalc.UsageError, match="needs pandas or polars"):
        finished.to_frame()
