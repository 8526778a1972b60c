"""`evalc run` of some of the cases."""

from __future__ import annotations

import csv
import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
from junitparser import JUnitXml

from tests.cli.conftest import Invoke, Outcome

CITIES = """\
suite: cities
eval:
  test_cases:
    - {name: paris, tags: [smoke], message: What is the weather in Paris?, validate: [contains "Paris"]}
    - {name: tokyo, message: What is the weather in Tokyo?, validate: [contains "Lima"]}
    - {name: cairo, tags: [slow], message: What is the weather in Cairo?, validate: [contains "Cairo"]}
"""


@pytest.fixture
def cities(project: Path) -> Path:
    file = project / "evals" / "cities.eval.yaml"
    file.write_text(CITIES)
    return file


def ran(outcome: Outcome) -> list[str]:
    report = json.loads(outcome.out)
    return [case["id"] for suite in report["suites"] for case in suite["cases"]]


@pytest.mark.parametrize(
    ("arguments", "ids"),
    [
        (["evals/cities.eval.yaml::tokyo"], ["cities/tokyo"]),
        (["evals/cities.eval.yaml::*o"], ["cities/tokyo", "cities/cairo"]),
        (["evals/cities.eval.yaml::tokyo", "evals/cities.eval.yaml::paris"], ["cities/paris", "cities/tokyo"]),
        (["evals", "evals/cities.eval.yaml::tokyo"], ["cities/tokyo", "weather/paris"]),
        (["-k", "paris"], ["cities/paris", "weather/paris"]),
        (["--tag", "smoke", "--tag", "slow"], ["cities/paris", "cities/cairo"]),
        (["--not-tag", "smoke", "--filter", "cities/*"], ["cities/tokyo", "cities/cairo"]),
        (["--tier", "labeled", "--filter", "/^w/"], ["weather/paris"]),
    ],
)
def test_selected_cases_run(invoke: Invoke, cities: Path, arguments: list[str], ids: list[str]) -> None:
    assert ran(invoke("run", *arguments, "--agent", "demo", "--json")) == ids


@pytest.mark.parametrize("name", ["x::y.eval.yaml", "x::", "::x.eval.yaml"])
def test_names_of_files_may_hold_what_parts_path_and_case(invoke: Invoke, cities: Path, name: str) -> None:
    file = cities.with_name(name)
    cities.rename(file)
    for argument in (f"evals/{name}::tokyo", f"evals/{name}::cities/tokyo"):
        assert ran(invoke("run", argument, "--agent", "demo", "--json")) == ["cities/tokyo"]
    assert len(ran(invoke("run", f"evals/{name}", "--agent", "demo", "--json"))) == 3
    listed = invoke("run", f"evals/{name}::*o", "--dry-run").out.splitlines()
    assert listed[:2] == [f"evals/{name}::cities/tokyo", f"evals/{name}::cities/cairo"]


def test_the_summary_and_the_result_say_what_was_selected(invoke: Invoke, cities: Path) -> None:
    outcome = invoke("run", "--agent", "demo", "--tag", "smoke", "-o", "report.json")
    assert outcome.code == 0
    assert "\n  1 of 3 cases selected\n" in outcome.out
    assert "\n  1 of 4 cases selected\n" in outcome.out
    (suite,) = json.loads(Path("report.json").read_text())["suites"]
    assert suite["selected"] == {"cases": 1, "of": 3, "by": ["--tag smoke"]}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["-k", "nowhere"], "`-k nowhere` selects none of 4 cases"),
        (["-k", "(paris"], "`-k (paris`: expected `)`, `and` or `or`, found its end at column 7"),
        (["evals/cities.eval.yaml::tokio"], "`evals/cities.eval.yaml::tokio` names no case; near are `tokyo`"),
        (["evals/cities.eval.yaml::"], "`evals/cities.eval.yaml::` names no case after `::`"),
        (["--tier", "gold"], "`--tier gold`: the tiers are `golden`, `labeled`, `regression`, `rubric`"),
        (["--last-failed=latest"], "there is no run"),
        (["--last-failed=nope"], "`nope` is "),
        (["--changed-since", "HEAD"], "`--changed-since` needs a git repository"),
    ],
)
def test_a_choice_that_cannot_be_made(invoke: Invoke, cities: Path, arguments: list[str], message: str) -> None:
    outcome = invoke("run", *arguments, "--agent", "demo")
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err.startswith(f"error: {message}")
    assert not (cities.parent / "results").exists()


def test_last_failed_runs_what_failed_then_everything(invoke: Invoke, cities: Path) -> None:
    assert len(ran(invoke("run", "--lf", "--agent", "demo", "--json"))) == 4
    assert ran(invoke("run", "--lf", "--agent", "demo", "--json")) == ["cities/tokyo"]
    cities.write_text(CITIES.replace('"Lima"', '"Tokyo"'))
    assert ran(invoke("run", "--lf", "--agent", "demo", "--json")) == ["cities/tokyo"]
    assert len(ran(invoke("run", "--lf", "--agent", "demo", "--json"))) == 4


def test_last_failed_runs_all_of_what_the_newest_run_did_not_have(invoke: Invoke, cities: Path) -> None:
    run = json.loads(invoke("run", "evals/weather.eval.yaml", "--agent", "demo", "--json").out)["runId"]
    outcome = invoke("run", "evals/cities.eval.yaml", "--lf", "--agent", "demo")
    assert outcome.code == 1
    assert f"the run `{run}` has none of these suites, so all of their cases run" in outcome.out
    assert "2/3 passed" in outcome.out


@pytest.mark.parametrize("preview", [(), ("--dry-run", "-q"), ("--dry-run",)])
def test_last_failed_runs_all_of_a_renamed_suite(invoke: Invoke, cities: Path, preview: tuple[str, ...]) -> None:
    other = cities.with_name("other.eval.yaml")
    other.write_text(CITIES.replace("suite: cities", "suite: other"))
    run = json.loads(invoke("run", "--agent", "demo", "--json").out)["runId"]
    cities.write_text(CITIES.replace("suite: cities", "suite: towns"))
    outcome = invoke("run", "--lf", "--agent", "demo", *preview)
    assert f"the run `{run}` does not have the suite `towns` (labeled), so all of its cases run" in (
        outcome.err if preview else outcome.out
    )
    if not preview:
        assert "4 of 7 cases" in outcome.out  # the failed one of `other`, and `towns`


def test_last_failed_runs_all_where_the_failed_case_has_another_name(invoke: Invoke, cities: Path) -> None:
    run = json.loads(invoke("run", "--agent", "demo", "--json").out)["runId"]
    cities.write_text(CITIES.replace("name: tokyo", "name: kyoto"))
    outcome = invoke("run", "--lf", "--agent", "demo")
    assert outcome.code == 1
    assert f"no case of these suites failed in the run `{run}`, so all of them run" in outcome.out


def test_last_failed_keeps_what_failed_and_was_not_reached(invoke: Invoke, cities: Path) -> None:
    weather = cities.with_name("weather.eval.yaml")
    weather.write_text(weather.read_text().replace('contains "Paris"', 'contains "Lima"'))
    assert len(ran(invoke("run", "--agent", "demo", "--json"))) == 4
    assert ran(invoke("run", "--lf", "-x", "--agent", "demo", "--json")) == ["cities/tokyo"]
    cities.write_text(CITIES.replace('"Lima"', '"Tokyo"'))
    assert ran(invoke("run", "--lf", "--agent", "demo", "--json")) == ["cities/tokyo", "weather/paris"]
    assert ran(invoke("run", "--lf", "--agent", "demo", "--json")) == ["weather/paris"]


@pytest.mark.parametrize(
    "part", [("-k", "cities"), ("evals/cities.eval.yaml::paris",), ("--tag", "!slow"), ("--shard", "1/2"), ("-x",)]
)
def test_last_failed_keeps_what_failed_and_was_not_chosen_since(
    invoke: Invoke, cities: Path, part: tuple[str, ...]
) -> None:
    weather = cities.with_name("weather.eval.yaml")
    weather.write_text(weather.read_text().replace('contains "Paris"', 'contains "Lima"'))
    assert len(ran(invoke("run", "--agent", "demo", "--json"))) == 4
    failed = ["cities/tokyo", "weather/paris"]
    for _ in range(2):
        invoke("run", *part, "--agent", "demo")
        assert invoke("run", "--lf", "--dry-run", "-q").out.splitlines() == failed
    invoke("rescore", "latest")
    assert invoke("run", "--lf", "--dry-run", "-q").out.splitlines() == failed


def test_a_run_without_these_suites_does_not_say_which_of_their_cases_failed(invoke: Invoke, cities: Path) -> None:
    run = json.loads(invoke("run", "evals/weather.eval.yaml", "--agent", "demo", "--json").out)["runId"]
    outcome = invoke("run", "evals/cities.eval.yaml", f"--last-failed={run}", "--agent", "demo")
    assert outcome.code == 2
    assert outcome.err == (
        f"error: the run `{run}` has none of these suites, so it does not say which of their cases failed\n"
    )


def test_the_failed_of_a_run_by_its_id(invoke: Invoke, cities: Path) -> None:
    first = json.loads(invoke("run", "--agent", "demo", "--json").out)["runId"]
    invoke("run", "--agent", "demo", "-k", "paris")
    assert ran(invoke("run", f"--last-failed={first}", "--agent", "demo", "--json")) == ["cities/tokyo"]


@pytest.mark.parametrize("flags", [(), ("--dry-run",), ("--dry-run", "-q")])
def test_where_nothing_failed_there_is_nothing_to_do(invoke: Invoke, cities: Path, flags: tuple[str, ...]) -> None:
    run = json.loads(invoke("run", "--agent", "demo", "-k", "paris", "--json").out)["runId"]
    outcome = invoke("run", "--last-failed=latest", "--agent", "demo", *flags)
    message = f"nothing to run: no case of these suites failed in the run `{run}`\n"
    assert (outcome.code, outcome.out, outcome.err) == (0, "", message)
    assert len(list((cities.parent / "results").glob("*/"))) == 1


def test_where_there_is_nothing_to_do_the_reports_say_so(invoke: Invoke, cities: Path) -> None:
    run = json.loads(invoke("run", "--agent", "demo", "-k", "paris", "--json").out)["runId"]
    names = ("a.json", "a.html", "a.xml", "xunit:b.xml", "a.md", "a.csv", "a.sarif", "a.txt", "github:a.github")
    outputs = [argument for name in names for argument in ("-o", name)]
    why = f"nothing to run: no case of these suites failed in the run `{run}`"
    outcome = invoke("run", "--last-failed=latest", "--agent", "demo", *outputs, "-o", "-")
    assert (outcome.code, outcome.err) == (0, f"{why}\n")
    written = {name.rpartition(":")[2]: Path(name.rpartition(":")[2]).read_text(encoding="utf-8") for name in names}
    assert json.loads(written["a.json"])["suites"] == []
    assert outcome.out == written["a.json"]
    assert list(JUnitXml.fromstring(written["a.xml"].encode())) == []
    assert list(JUnitXml.fromstring(written["b.xml"].encode())) == []
    assert list(csv.DictReader(written["a.csv"].splitlines())) == []
    assert json.loads(written["a.sarif"])["runs"][0]["results"] == []
    assert why in written["a.txt"]
    assert "results in" not in written["a.txt"]
    assert "nothing to run" in written["a.md"]
    assert "nothing to run" in written["a.html"]
    assert written["a.github"] == f"::warning title=evalc::{why}\n"
    again = invoke("run", "--last-failed=latest", "--agent", "demo", *outputs)
    assert (again.code, again.out) == (0, "")


def test_a_plan_without_an_agent(invoke: Invoke, cities: Path) -> None:
    out = invoke("run", "evals/cities.eval.yaml", "--dry-run").out
    assert "\nto each agent: 3 requests, about " in out
    assert out.splitlines()[3].endswith(" of input; none is named, so that no price is known")


def test_a_plan_counts_the_turns_of_conversations(invoke: Invoke, cities: Path) -> None:
    turns = "turns: [{say: one two}, {say: three}]"
    cities.write_text(f"eval: {{test_cases: [{{name: c, repeat: 2, {turns}, validate: [non-empty]}}]}}")
    out = invoke("run", "evals/cities.eval.yaml", "--agent", "demo", "--dry-run", "-v").out
    assert "::cities/c  4 requests in 2 turns, about 10 tokens\n" in out
    assert "\nto demo: 4 requests, about 10 tokens of input" in out


def test_a_recording_is_not_written_to_an_empty_name(invoke: Invoke, cities: Path) -> None:
    outcome = invoke("run", "--agent", "demo", "--record", "")
    assert (outcome.code, outcome.err) == (2, "error: `--record` names no folder; the working folder is `.`\n")


def test_a_failed_case_that_is_gone_is_an_error(invoke: Invoke, cities: Path) -> None:
    invoke("run", "--agent", "demo")
    cities.write_text(CITIES.replace("name: tokyo", "name: kyoto"))
    outcome = invoke("run", "--last-failed=latest", "--agent", "demo")
    assert outcome.code == 2
    assert re.fullmatch(r"error: `--last-failed=[\w-]+` selects none of 4 cases\n", outcome.err)


def test_the_latest_baseline_is_a_whole_run_where_there_is_one(invoke: Invoke, cities: Path) -> None:
    whole = json.loads(invoke("run", "--agent", "demo", "--min-pass-rate", "0", "--json").out)["runId"]
    invoke("run", "--agent", "demo", "-k", "paris")
    report = json.loads(invoke("run", "--agent", "demo", "--baseline", "latest", "--json").out)
    cities_now = next(suite for suite in report["suites"] if suite["toolName"] == "cities")
    assert cities_now["baselineRunId"] == whole


def git(*arguments: str) -> None:
    author = ("-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false")
    subprocess.run(["git", *author, *arguments], check=True, capture_output=True)


PARTS: dict[str, str] = {
    "shared.eval.yaml": 'rules:\n  sound: [contains "Paris"]\n',
    "prompt.txt": "What is the weather in {{city}}?",
    "rows.csv": "name,city\na,Paris\n",
    "schema.json": '{"type": "string"}',
}
MADE_OF_PARTS = """\
suite: parts
prompt_file: prompt.txt
include: [shared.eval.yaml]
inputs: [city]
eval:
  test_cases:
    - name: row
      for_each: rows.csv
      validate: [use: sound, 'not json matching "schema.json"']
"""


@pytest.mark.parametrize("part", [*PARTS, "parts.eval.yaml", "new.eval.yaml"])
def test_suites_that_have_changed_since_a_commit(invoke: Invoke, project: Path, part: str) -> None:
    (project / ".git").rmdir()
    evals = project / "evals"
    for name, text in {**PARTS, "parts.eval.yaml": MADE_OF_PARTS}.items():
        (evals / name).write_text(text)
    git("init", "-q")
    git("add", "-A")
    git("commit", "-q", "-m", "first")
    unchanged = invoke("run", "--changed-since", "HEAD", "--agent", "demo")
    assert unchanged.code == 0
    assert unchanged.err.startswith("nothing to run: no file of these suites has changed since `")
    if part == "new.eval.yaml":
        (evals / part).write_text(CITIES)
        expected = "cities"
    else:
        (evals / part).write_text((evals / part).read_text() + "\n")
        expected = "parts"
    report = json.loads(invoke("run", "--changed-since", "HEAD", "--agent", "demo", "--json").out)
    assert [suite["toolName"] for suite in report["suites"]] == [expected]


def ran_once_changed(invoke: Invoke, file: Path) -> list[str]:
    """Return the cases that run once a file is not as it was committed; before, none does."""
    git("init", "-q")
    git("add", "-A")
    git("commit", "-q", "-m", "first")
    run = ("run", "--changed-since", "HEAD", "--agent", "demo")
    assert invoke(*run).err.startswith("nothing to run")
    file.write_text((file.read_text() if file.exists() else "") + "\n")
    return ran(invoke(*run, "--json"))


@pytest.mark.parametrize("part", ["evalc.toml", "seed.json", "tools.json", "snapshot.json", "own_checks.py"])
def test_a_change_of_what_every_suite_reads_is_one_of_every_suite(invoke: Invoke, project: Path, part: str) -> None:
    (project / ".git").rmdir()
    (project / "evalc.toml").write_text(
        'seedManifest = "seed.json"\ntools = "tools.json"\nsnapshot = "snapshot.json"\nchecks = ["own_checks.py"]\n'
    )
    for name in ("seed.json", "snapshot.json", "own_checks.py"):
        (project / name).write_text("{}")
    (project / "tools.json").write_text(
        '[{"name": "get_weather", "description": "", "parameters": {"type": "object"}}]'
    )
    assert ran_once_changed(invoke, project / part)


GIVEN = """
suite: given
eval:
  test_cases:
    - name: files
      message: Sum it up
      for_each: {key: bill, rows: [{bill: bill.txt}, {bill: other.txt}]}
      files: ["{{bill}}", folder]
      validate: [non-empty]
    - name: skill
      message: Sum it up
      skill: ../skills/bills
      validate: [non-empty]
"""


@pytest.mark.parametrize("is_compiled", [False, True])
@pytest.mark.parametrize(
    "part",
    ["evals/bill.txt", "evals/other.txt", "evals/folder/in/it.txt", "skills/bills/SKILL.md", "skills/bills/new.py"],
)
def test_a_change_of_what_an_agent_is_given_is_one_of_the_suite(
    invoke: Invoke, project: Path, part: str, is_compiled: bool
) -> None:
    (project / ".git").rmdir()
    for file in ("evals/bill.txt", "evals/other.txt", "evals/folder/in/it.txt", "skills/bills/SKILL.md"):
        (project / file).parent.mkdir(parents=True, exist_ok=True)
        (project / file).write_text("---\nname: bills\ndescription: Reads bills\n---\n")
    (project / "evals" / "given.eval.yaml").write_text(GIVEN)
    if is_compiled:
        assert invoke("compile", "evals/given.eval.yaml", "-o", "evals").code == 0
        (project / "evals" / "given.eval.yaml").unlink()
    assert ran_once_changed(invoke, project / part) == ["given/files@bill.txt", "given/files@other.txt", "given/skill"]


@pytest.mark.parametrize("part", ["skills/mail/SKILL.md", "imported.js", "words.json"])
def test_a_change_of_skills_of_agents_and_of_imported_checks_is_one_of_every_suite(
    invoke: Invoke, project: Path, part: str
) -> None:
    (project / ".git").rmdir()
    (project / "skills" / "mail").mkdir(parents=True)
    (project / "skills" / "mail" / "SKILL.md").write_text("---\nname: mail\ndescription: Writes mails\n---\n")
    (project / "words.json").write_text("[]")
    (project / "imported.js").write_text('import words from "./words.json";\nexport const ok = () => !words.length;\n')
    (project / "own.js").write_text('export { ok } from "./imported.js";\n')
    (project / "evalc.toml").write_text(
        'checks = ["own.js"]\n[agents.own]\nuse = "command:cat"\nskills = ["skills/mail"]\n'
    )
    assert ran_once_changed(invoke, project / part)


@pytest.mark.parametrize("part", [*PARTS, "parts.eval.yaml"])
@pytest.mark.parametrize("links", [1, 2])
def test_a_suite_whose_file_is_behind_a_link_that_leads_elsewhere_now_has_changed(
    invoke: Invoke, project: Path, part: str, links: int
) -> None:
    (project / ".git").rmdir()
    for store in ("one", "two"):
        (project / "store" / store).mkdir(parents=True)
        made_of_parts = MADE_OF_PARTS.replace(part, f"linked/{part}")
        for name, text in {**PARTS, "parts.eval.yaml": made_of_parts}.items():
            (project / "store" / store / name if name == part else project / "evals" / name).write_text(text)
    link = project / "evals" / "linked"
    link.symlink_to("../store/one" if links == 1 else "../between", target_is_directory=True)
    if links == 2:
        link = project / "between"
        link.symlink_to("store/one", target_is_directory=True)
    if part == "parts.eval.yaml":
        for name, text in PARTS.items():
            for store in ("one", "two"):
                (project / "store" / store / name).write_text(text)
    git("init", "-q")
    git("add", "-A")
    git("commit", "-q", "-m", "first")
    run = ("run", "evals", "--changed-since", "HEAD", "--agent", "demo")
    assert invoke(*run).err.startswith("nothing to run")
    target = str(link.readlink()).replace("one", "two")
    link.unlink()
    link.symlink_to(target, target_is_directory=True)
    report = json.loads(invoke(*run, "--json").out)
    assert [suite["toolName"] for suite in report["suites"]] == ["parts"]


@pytest.mark.parametrize("is_committed", [False, True])
def test_a_change_in_a_submodule_is_one_of_the_suites_that_its_files_are_part_of(
    invoke: Invoke, project: Path, is_committed: bool
) -> None:
    (project / ".git").rmdir()
    library, rules = project / "library", project / "library" / "shared.eval.yaml"
    library.mkdir()
    rules.write_text(PARTS["shared.eval.yaml"])
    commit = ("add", "-A"), ("commit", "-q", "-m", "one more")
    for command in (("init", "-q"), *commit):
        git("-C", "library", *command)
    for name, text in {
        **PARTS,
        "parts.eval.yaml": MADE_OF_PARTS.replace("shared.eval", "../library/shared.eval"),
    }.items():
        (project / "evals" / name).write_text(text)
    git("init", "-q")
    git("config", "diff.ignoreSubmodules", "all")
    for command in commit:
        git(*command)
    run = ("run", "evals", "--changed-since", "HEAD", "--agent", "demo")
    assert invoke(*run).err.startswith("nothing to run")
    rules.write_text(rules.read_text() + "\n")
    for command in commit if is_committed else ():
        git("-C", "library", *command)
    report = json.loads(invoke(*run, "--json").out)
    assert [suite["toolName"] for suite in report["suites"]] == ["parts"]


def test_an_eval_file_that_was_deleted_since_a_commit_is_named(invoke: Invoke, cities: Path) -> None:
    (cities.parent.parent / ".git").rmdir()
    git("init", "-q")
    git("add", "-A")
    git("commit", "-q", "-m", "first")
    git("rm", "-q", "evals/cities.eval.yaml")
    run = ("run", "--changed-since", "HEAD", "--agent", "demo")
    named = "and not missed by this run: `evals/cities.eval.yaml`\n"
    nothing = invoke(*run)
    assert (nothing.code, nothing.err.startswith("nothing to run"), nothing.err.endswith(named)) == (0, True, True)
    weather = cities.parent / "weather.eval.yaml"
    weather.write_text(weather.read_text() + "\n")
    assert "`evals/cities.eval.yaml`" in invoke(*run).out


@pytest.mark.parametrize("bit", ["--assume-unchanged", "--skip-worktree"])
def test_a_file_that_git_was_set_not_to_look_at_may_have_changed(invoke: Invoke, project: Path, bit: str) -> None:
    (project / ".git").rmdir()
    git("init", "-q")
    git("add", "-A")
    git("commit", "-q", "-m", "first")
    run = ("run", "--changed-since", "HEAD", "--agent", "demo")
    assert invoke(*run).err.startswith("nothing to run")
    git("update-index", bit, "evals/weather.eval.yaml")
    assert ran(invoke(*run, "--json"))


def test_a_table_that_git_ignores_may_have_changed(invoke: Invoke, project: Path) -> None:
    (project / ".git").rmdir()
    evals = project / "evals"
    (project / ".gitignore").write_text("*.csv\n")
    for name, text in {**PARTS, "parts.eval.yaml": MADE_OF_PARTS}.items():
        (evals / name).write_text(text)
    git("init", "-q")
    git("add", "-A")
    git("commit", "-q", "-m", "first")
    report = json.loads(invoke("run", "--changed-since", "HEAD", "--agent", "demo", "--json").out)
    assert [suite["toolName"] for suite in report["suites"]] == ["parts"]


def test_a_run_of_a_choice_is_resumed_with_it(invoke: Invoke, cities: Path) -> None:
    first = invoke("run", "--agent", "demo", "--not-tag", "slow", "evals/cities.eval.yaml", "--json")
    run: dict[str, Any] = json.loads(first.out)
    (cities.parent / "results" / run["runId"] / "cities.labeled.json").unlink()
    again = invoke("run", "--resume", run["runId"], "--json")
    assert ran(again) == ["cities/paris", "cities/tokyo"]
    refused = invoke("run", "--resume", run["runId"], "-k", "paris")
    assert refused.code == 2
    assert "leave out what chooses others" in refused.err


def test_a_list_of_the_cases(invoke: Invoke, cities: Path) -> None:
    listed = invoke("run", "--dry-run", "--tag", "!slow")
    assert (listed.code, listed.err) == (0, "")
    assert listed.out.splitlines() == [
        "evals/cities.eval.yaml::cities/paris",
        "evals/cities.eval.yaml::cities/tokyo",
        "evals/weather.eval.yaml::weather/paris",
        "to each agent: 3 requests, about 21 tokens of input; none is named, so that no price is known",
        "answers, tools and further turns come on top; nothing was sent",
        "3 of 4 cases selected",
    ]
    assert invoke("run", "--dry-run", "-q", "-k", "cairo").out == "cities/cairo\n"
    for line in listed.out.splitlines()[:3]:
        assert invoke("run", line, "--dry-run").code == 0
    assert not (cities.parent / "results").exists()


def test_a_dry_run_shows_the_requests(invoke: Invoke, cities: Path) -> None:
    plan = invoke("run", "evals/cities.eval.yaml", "--dry-run", "-v", "--repeat", "3", "--agent", "openai:gpt-4o")
    assert plan.code == 0
    assert plan.out.splitlines() == [
        "evals/cities.eval.yaml::cities/paris  3 requests, about 7 tokens each",
        "evals/cities.eval.yaml::cities/tokyo  3 requests, about 7 tokens each",
        "evals/cities.eval.yaml::cities/cairo  3 requests, about 7 tokens each",
        "to openai:gpt-4o: 9 requests, about 63 tokens of input, cost about $0.0001575",
        "answers, tools and further turns come on top; nothing was sent",
        "3 cases",
    ]
    assert "cost n/a" in invoke("run", "--dry-run", "--agent", "http://user:hidden-word@localhost/").out
    assert "hidden-word" not in invoke("run", "--dry-run", "--agent", "http://user:hidden-word@localhost/").out


def test_messages_about_a_selection_hold_no_secret(
    invoke: Invoke, cities: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CHAT_TOKEN", "planted-secret-1")
    Path("evalc.toml").write_text('secrets = ["CHAT_TOKEN"]')
    for arguments in (["-k", "planted-secret-1"], ["-k", "(planted-secret-1"], ["--filter", "/planted-secret-1(/"]):
        outcome = invoke("run", *arguments, "--agent", "demo")
        assert outcome.code == 2
        assert "planted-secret-1" not in outcome.err
    chosen = invoke("run", "-k", "paris or planted-secret-1", "--agent", "demo", "-o", "report.html")
    written = [
        chosen.out,
        chosen.err,
        *(file.read_text() for file in Path().rglob("*.*") if file.is_file() and file.suffix not in {".db", ".toml"}),
    ]
    assert "1/1 passed" in chosen.out
    assert not any("planted-secret-1" in text for text in written)


def test_changes_with_renamed_files_worktrees_and_odd_names(
    invoke: Invoke, cities: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (cities.parent.parent / ".git").rmdir()
    git("init", "-q")
    git("add", "-A")
    git("commit", "-q", "-m", "first")
    git("mv", "evals/cities.eval.yaml", "evals/towns.eval.yaml")
    since = ("run", "--agent", "demo", "--changed-since")
    assert len(ran(invoke(*since, "HEAD", "--json"))) == 3
    for odd in ("--output=pwned", "-p", "", "a\nb"):
        outcome = invoke(*since, odd)
        assert outcome.code == 2
        assert outcome.err.endswith("git knows no such commit\n")
    assert not Path("pwned").exists()
    git("worktree", "add", "-q", "tree")
    changed = Path("tree/evals/weather.eval.yaml")
    changed.write_text(changed.read_text() + "\n")
    monkeypatch.chdir(changed.parent)
    assert ran(invoke(*since, "HEAD", "--json")) == ["weather/paris"]


def test_an_id_that_evalc_has_printed_names_its_case(invoke: Invoke, cities: Path) -> None:
    outcome = invoke("run", "cities/tokyo", "--agent", "demo", "--json")
    assert ran(outcome) == ["cities/tokyo"]
    both = invoke("run", str(cities), "cities/tokyo", "cities/paris", "--agent", "demo", "--json")
    assert sorted(ran(both)) == ["cities/paris", "cities/tokyo"]


def test_an_unknown_name_is_an_error_beside_a_known_one(invoke: Invoke, cities: Path) -> None:
    outcome = invoke("run", "cities/paris", "cities/pariss", "--agent", "demo")
    assert outcome.code == 2
    assert "`cities/pariss` is neither a path nor the id of a case; near are `cities/paris`" in outcome.err


def test_a_folder_that_is_not_there_is_no_id(invoke: Invoke, cities: Path) -> None:
    outcome = invoke("run", "evalz/", "--agent", "demo")
    assert outcome.code == 2
    assert "there is no file `evalz`" in outcome.err
