"""Cases missing since the baseline are named, and as bad as a regression until that is accepted."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

import evalc
from tests.cli.conftest import Invoke, Outcome

CASES = """\
suite: {name}
eval:
  test_cases:
    - {{name: one, message: one, tags: [fast], validate: [contains "one"]}}
    - {{name: two, message: two, validate: [contains "two"]}}
"""
ONE = "\n".join(CASES.splitlines()[:4]) + "\n"
ROWS = """\
suite: table
eval:
  test_cases:
    - name: row
      message: "{{city}}"
      for_each: [ROWS]
      validate: ['contains "{{city}}"']
"""
AGENT = """\
import os
def echo(message):
    return "..." if "SILENT" in os.environ else message
def silent(message):
    return "..."
"""
ECHO, SILENT = "python:echoing:echo", "python:echoing:silent"
GATE = "--fail-on-regression"


@pytest.fixture(autouse=True)
def suites(project: Path) -> Path:
    """Two suites, in two folders."""
    (project / "evals" / "weather.eval.yaml").unlink()
    (project / "echoing.py").write_text(AGENT)
    for name in ("kept", "gone"):
        (project / "evals" / name).mkdir()
        (project / "evals" / name / f"{name}.eval.yaml").write_text(CASES.format(name=name))
    return project / "evals"


@pytest.fixture(params=["accepted", "latest", "named"])
def baseline(request: pytest.FixtureRequest, invoke: Invoke) -> tuple[str, ...]:
    """The flags that compare with a run of everything that passed, by any of its names."""
    run = json.loads(invoke("run", "--agent", ECHO, "--json").out)
    if request.param == "accepted":
        assert invoke("accept").code == 0
    return (GATE, "--baseline", run["runId"]) if request.param == "named" else (GATE,)


def run(invoke: Invoke, *arguments: str, agent: str = ECHO) -> Outcome:
    return invoke("run", *arguments, "--agent", agent)


def drop_suite(suites: Path) -> None:
    (suites / "gone" / "gone.eval.yaml").unlink()


def drop_case(suites: Path) -> None:
    (suites / "gone" / "gone.eval.yaml").write_text(ONE.format(name="gone"))


def rename_suite(suites: Path) -> None:
    file = suites / "gone" / "gone.eval.yaml"
    file.write_text(file.read_text().replace("suite: gone", "suite: other"))


def stop_being_evals(suites: Path) -> None:
    (suites / "gone" / "gone.eval.yaml").rename(suites / "gone" / "gone.eval.yaml.txt")


@pytest.mark.parametrize("change", [drop_suite, rename_suite, stop_being_evals])
@pytest.mark.parametrize(
    "paths", [(), (".",), ("evals",), ("evals/*",), ("evals/**/*.yaml",), ("evals/kept", "evals/g*")]
)
def test_a_suite_that_is_gone_fails_the_gate_by_name(
    invoke: Invoke, suites: Path, baseline: tuple[str, ...], change: object, paths: tuple[str, ...]
) -> None:
    if "--baseline" not in baseline and not (suites / "baseline.json").exists() and paths not in {(), (".",)}:
        run(invoke, *paths)  # the newest run that looked at the same files is what it is compared with
    assert callable(change)
    change(suites)
    outcome = run(invoke, *paths, *baseline)
    assert outcome.code == 1
    assert (
        "MISSING SUITES (1) since the baseline\n    - gone (labeled), 2 cases of evals/gone/gone.eval.yaml\n"
        in outcome.out
    )
    assert "0 regressions and 2 missing cases, none is allowed" in outcome.out
    assert "if what is missing was removed on purpose, `evalc accept` records that" in outcome.out
    accepted = invoke("accept")
    assert (accepted.code, run(invoke, *paths, GATE).code) == (0, 0)


def test_a_case_that_is_gone_fails_the_gate_by_name(invoke: Invoke, suites: Path, baseline: tuple[str, ...]) -> None:
    drop_case(suites)
    outcome = run(invoke, *baseline)
    assert outcome.code == 1
    assert "  MISSING (1) since " in outcome.out
    assert "    - gone/two\n" in outcome.out
    assert "0 regressions and 1 missing case, none is allowed" in outcome.out
    assert run(invoke, "evals/gone/gone.eval.yaml", *baseline).code == 1
    assert run(invoke, "evals/kept", *baseline).code == 0
    run(invoke, *baseline)
    assert invoke("accept").code == 0
    assert run(invoke, GATE).code == 0


@pytest.mark.parametrize("change", [drop_suite, drop_case])
def test_accept_drops_removed_cases(invoke: Invoke, suites: Path, change: object) -> None:
    run(invoke)
    invoke("accept")
    assert callable(change)
    change(suites)
    assert run(invoke).code == 0  # no gate asks
    output = invoke("accept").out
    assert ("no longer in it: the suite `gone (labeled)`\n" if change is drop_suite else "`gone/two`\n") in output
    accepted = (suites / "baseline.json").read_text()
    assert "gone/two" not in accepted
    assert ("gone/one" in accepted) == (change is drop_case)
    assert run(invoke, GATE).code == 0


@pytest.mark.parametrize(
    "choice",
    [
        ("evals/kept",),
        ("evals/kept/kept.eval.yaml",),
        ("evals/*/kept*",),
        ("-k", "one"),
        ("--tag", "fast"),
        ("--filter", "kept/*"),
        ("--tier", "labeled", "-k", "kept"),
        ("evals/kept/kept.eval.yaml::one",),
        ("kept/one",),
        ("--shard", "1/1"),
    ],
)
@pytest.mark.parametrize("change", [drop_suite, drop_case])
def test_deselected_cases_are_not_missing(
    invoke: Invoke, suites: Path, baseline: tuple[str, ...], choice: tuple[str, ...], change: object
) -> None:
    assert callable(change)
    change(suites)
    outcome = run(invoke, *choice, *baseline)
    assert (outcome.code, "MISSING" in outcome.out, "missing" in outcome.out) == (0, False, False)


@pytest.mark.parametrize(("change", "named"), [(drop_suite, "- gone (labeled), 2 cases"), (drop_case, "- gone/two")])
def test_a_removed_case_is_missing_if_no_case_failed_last(
    invoke: Invoke, suites: Path, baseline: tuple[str, ...], change: object, named: str
) -> None:
    assert callable(change)
    change(suites)
    outcome = run(invoke, "--last-failed", *baseline)
    assert (outcome.code, named in outcome.out) == (1, True)
    assert run(invoke, "--last-failed", GATE, "--baseline", "latest").code == 1


@pytest.mark.parametrize("flags", [("-x",), ("--maxfail", "1")])
def test_unreached_cases_are_not_missing_but_removed_ones_are(
    invoke: Invoke,
    suites: Path,
    baseline: tuple[str, ...],
    flags: tuple[str, ...],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("SILENT", "1")
    stopped = run(invoke, *flags, *baseline)
    assert (stopped.code, "REGRESSIONS (1)" in stopped.out, "MISSING" in stopped.out) == (1, True, False)
    drop_case(suites)
    output = run(invoke, *flags, *baseline).out
    assert "    - gone/two\n" in output.partition("MISSING (1)")[2]
    drop_suite(suites)
    assert "    - gone (labeled), 2 cases" in run(invoke, *flags, *baseline).out
    accepted = invoke("accept")
    assert (accepted.code, "no longer in it: the suite `gone (labeled)`" in accepted.out) == (
        0,
        (suites / "baseline.json").exists() and "kept/two" in (suites / "baseline.json").read_text(),
    )


def test_a_gate_that_is_decided_early_still_counts_what_is_gone(invoke: Invoke, suites: Path) -> None:
    rows = ", ".join(f"{{id: r{number}, city: C{number}}}" for number in range(60))
    (suites / "table.eval.yaml").write_text(ROWS.replace("ROWS", rows))
    run(invoke)
    invoke("accept")
    drop_suite(suites)
    outcome = run(invoke, GATE, "--min-pass-rate", "0.5", "--stop-when-sure")
    assert (outcome.code, "2 missing cases" in outcome.out) == (1, True)


def test_a_skipped_case_is_not_missing_since_its_file_says_why(invoke: Invoke, suites: Path) -> None:
    run(invoke)
    invoke("accept")
    file = suites / "gone" / "gone.eval.yaml"
    file.write_text(file.read_text().replace("name: two,", "name: two, skip: the service is down,"))
    outcome = run(invoke, GATE)
    assert (outcome.code, "MISSING" in outcome.out, "SKIPPED (1)" in outcome.out) == (0, False, True)


def test_a_suite_that_moved_is_the_same(invoke: Invoke, suites: Path) -> None:
    run(invoke)
    invoke("accept")
    (suites / "gone").rename(suites / "moved")
    assert run(invoke, GATE).code == 0


def test_a_file_that_is_broken_is_no_green_gate(invoke: Invoke, suites: Path) -> None:
    run(invoke)
    invoke("accept")
    (suites / "gone" / "gone.eval.yaml").write_text("suite: [gone\n")
    assert run(invoke, GATE).code == 2


def test_a_suite_that_is_excluded_now_is_missing(invoke: Invoke, suites: Path, project: Path) -> None:
    run(invoke)
    invoke("accept")
    (project / "evalc.toml").write_text('exclude = ["gone"]\n')
    assert "- gone (labeled)" in run(invoke, GATE).out


@pytest.fixture
def configs(project: Path) -> Path:
    """Two more configurations, of a folder each."""
    (project / "kept.toml").write_text('paths = ["evals/kept"]\n')
    (project / "gone.toml").write_text('exclude = ["kept/"]\n')
    return project


KEPT, GONE = ("--config", "kept.toml"), ("--config", "gone.toml")


def names_in_baseline(suites: Path) -> list[str]:
    return [suite["suite"] for suite in json.loads((suites / "baseline.json").read_text())["suites"]]


@pytest.mark.parametrize("accepted", [True, False])
def test_a_second_configuration_misses_nothing_of_the_first(
    invoke: Invoke, suites: Path, configs: Path, *, accepted: bool
) -> None:
    run(invoke)
    if accepted:
        invoke("accept")
    for config in (KEPT, GONE):
        outcome = run(invoke, *config, GATE)
        assert (outcome.code, "missing" in outcome.out.casefold()) == (0, False)
        assert invoke("diff").code == 0
        assert run(invoke, *config, "evals", GATE).code == 0
        if accepted:
            assert "no longer in it" not in invoke("accept").out
            assert names_in_baseline(suites) == ["gone", "kept"]
    drop_suite(suites)
    assert (run(invoke, *KEPT, GATE).code, run(invoke, GATE).code) == (0, 1)


@pytest.mark.parametrize("accepted", [True, False])
@pytest.mark.parametrize("change", ["paths = ['evals/gone']\n", "exclude = ['kept']\n", "exclude = ['evals/kept/']\n"])
@pytest.mark.parametrize("name", ["kept.toml", "evalc.toml"])
def test_a_configuration_that_hides_what_it_had_misses_it(
    invoke: Invoke, configs: Path, change: str, name: str, *, accepted: bool
) -> None:
    (configs / name).write_text("paths = ['evals']\n")
    run(invoke, "--config", name)
    if accepted:
        invoke("accept")
        run(invoke)
        invoke("accept")  # another configuration finds the same
    (configs / name).write_text(change)
    assert "- kept (labeled), 2 cases" in run(invoke, "--config", name, GATE).out


def test_suites_that_a_configuration_hides_stay_in_the_baseline_for_the_others(
    invoke: Invoke, suites: Path, configs: Path
) -> None:
    (configs / "kept.toml").write_text("")
    for config in ((), KEPT):
        run(invoke, *config)
        invoke("accept")
    (configs / "kept.toml").write_text('exclude = ["gone"]\n')
    assert run(invoke, *KEPT, GATE).code == 1
    assert "no longer in it" not in invoke("accept").out
    assert run(invoke, *KEPT, GATE).code == 0
    drop_suite(suites)
    assert (run(invoke, *KEPT, GATE).code, run(invoke, GATE).code) == (0, 1)
    assert "no longer in it: the suite `gone (labeled)`\n" in invoke("accept").out


def test_the_own_configuration_may_be_named(invoke: Invoke, suites: Path, project: Path) -> None:
    (project / "evalc.toml").write_text("paths = ['evals']\n")
    run(invoke)
    invoke("accept")
    assert "configs" not in (suites / "baseline.json").read_text()
    (project / "evalc.toml").write_text("paths = ['evals/kept']\n")
    for named in ((), ("--config", "evalc.toml"), ("--config", "evals/../evalc.toml")):
        assert "- gone (labeled), 2 cases" in run(invoke, *named, GATE).out


def test_the_paths_of_a_configuration_are_the_same_from_a_folder_below(
    invoke: Invoke, suites: Path, configs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (configs / "evalc.toml").write_text("paths = ['evals']\n")
    monkeypatch.syspath_prepend(configs)
    monkeypatch.chdir(suites / "kept")
    run(invoke, "--config", "../../kept.toml")
    invoke("accept")
    assert '"configs": ["kept.toml"]' in (suites / "baseline.json").read_text()
    run(invoke)
    invoke("accept")
    drop_suite(suites)
    assert run(invoke, "--config", str(configs / "kept.toml"), GATE).code == 0
    assert "- gone (labeled), 2 cases" in run(invoke, GATE).out


@pytest.fixture
def linked(suites: Path, project: Path) -> Path:
    """A suite that links lead to, and a link to all evals that a search meets before their folder."""
    (project / "store").mkdir()
    shared = project / "store" / "shared.eval.yaml"
    shared.write_text(CASES.format(name="shared"))
    (suites / "lk").symlink_to("../store")
    (project / "ev").symlink_to("evals")
    return shared


@pytest.mark.parametrize("path", ["ev", "evals", "ev/lk", "evals/lk", "store", "evals/*"])
def test_a_suite_is_missing_by_any_of_the_links_that_led_to_it(invoke: Invoke, linked: Path, path: str) -> None:
    run(invoke)
    invoke("accept")
    (linked.parent / "other.eval.yaml").write_text(CASES.format(name="other"))
    linked.unlink()
    assert "- shared (labeled), 2 cases" in run(invoke, path, GATE).out
    assert "shared" not in run(invoke, "evals/kept", GATE).out
    assert "- shared (labeled), 2 cases" in run(invoke, GATE).out
    run(invoke, path)
    assert "no longer in it: the suite `shared (labeled)`\n" in invoke("accept").out


def test_a_suite_is_missing_where_the_link_to_it_is_gone(invoke: Invoke, linked: Path, suites: Path) -> None:
    run(invoke, "evals")
    invoke("accept")
    (suites / "lk").unlink()
    assert "- shared (labeled), 2 cases" in run(invoke, "ev", GATE).out
    assert "- shared (labeled), 2 cases" in run(invoke, "evals", GATE).out


def test_from_a_folder_below_only_that_is_looked_at(
    invoke: Invoke, suites: Path, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (project / "evalc.toml").write_text("")
    run(invoke)
    invoke("accept")
    drop_suite(suites)
    monkeypatch.syspath_prepend(project)
    monkeypatch.chdir(suites / "kept")
    assert run(invoke, GATE).code == 0
    monkeypatch.chdir(suites)
    assert run(invoke, GATE).code == 1
    assert run(invoke, "gone", "kept", GATE).code == 1


def test_a_baseline_of_an_earlier_evalc_knows_no_files(invoke: Invoke, suites: Path) -> None:
    run(invoke)
    invoke("accept")
    file = suites / "baseline.json"
    written = json.loads(file.read_text())
    for suite in written["suites"]:
        del suite["file"]
    file.write_text(json.dumps(written))
    drop_suite(suites)
    assert run(invoke, "evals", GATE).code == 0
    assert run(invoke, GATE).code == 1


def test_shards_are_judged_when_they_are_merged(invoke: Invoke, suites: Path) -> None:
    run(invoke)
    invoke("accept")
    drop_suite(suites)
    for shard in ("1/2", "2/2"):
        assert run(invoke, "--shard", shard, GATE, "--output-dir", "parts").code == 0
    outcome = invoke("merge", *map(str, sorted(Path("parts").glob("*/"))))
    assert (outcome.code, "- gone (labeled), 2 cases" in outcome.out) == (1, True)
    merged = invoke("accept")
    assert "no longer in it: the suite `gone (labeled)`" in merged.out


def test_shards_of_some_cases_miss_nothing(invoke: Invoke, suites: Path) -> None:
    run(invoke)
    invoke("accept")
    drop_suite(suites)
    for shard in ("1/2", "2/2"):
        run(invoke, "--shard", shard, GATE, "-k", "kept", "--output-dir", "parts")
    assert invoke("merge", *map(str, sorted(Path("parts").glob("*/")))).code == 0
    assert "no longer in it" not in invoke("accept").out


@pytest.mark.parametrize("paths", [(), ("evals",)])
def test_a_run_that_is_resumed_misses_the_same(
    invoke: Invoke, suites: Path, baseline: tuple[str, ...], paths: tuple[str, ...]
) -> None:
    run(invoke, *paths)
    drop_suite(suites)
    drop = json.loads(run(invoke, *paths, *baseline, "--json").out)["runId"]
    journal = suites / "results" / drop / "journal.jsonl"
    journal.write_bytes(b"".join(journal.read_bytes().splitlines(keepends=True)[:2]))
    outcome = invoke("run", "--resume", drop)
    assert (outcome.code, "- gone (labeled), 2 cases" in outcome.out) == (1, True)
    assert invoke("show", drop).out.splitlines()[-8:-1] == outcome.out.splitlines()[-8:-1]


def test_a_rescored_run_names_what_is_gone(invoke: Invoke, suites: Path) -> None:
    run(invoke)
    drop_case(suites)
    outcome = invoke("rescore", "latest")
    assert "    - gone/two\n" in outcome.out


def test_several_agents_miss_it_once(invoke: Invoke, suites: Path) -> None:
    both = ("--agent", ECHO, "--agent", SILENT)
    invoke("run", *both)
    invoke("accept")
    drop_suite(suites)
    outcome = invoke("run", *both, GATE, "--json")
    assert [suite["suite"] for suite in json.loads(outcome.out)["missing"]] == ["gone"]
    assert outcome.code == 1
    assert "no longer in it: the suite `gone (labeled)`\n" in invoke("accept").out


def test_the_gate_of_a_suite_counts_its_own(invoke: Invoke, suites: Path) -> None:
    for name in ("kept", "gone"):
        file = suites / name / f"{name}.eval.yaml"
        file.write_text(file.read_text().replace("eval:", "gates: {fail_on_regression: true}\neval:"))
    run(invoke)
    drop_case(suites)
    file = suites / "gone" / "gone.eval.yaml"
    file.write_text(file.read_text().replace("eval:", "gates: {fail_on_regression: true}\neval:"))
    outcome = run(invoke, "--json")
    gates = {suite["toolName"]: suite["gates"][0] for suite in json.loads(outcome.out)["suites"]}
    assert (gates["kept"]["passed"], "missing" in gates["kept"]) == (True, False)
    assert (gates["gone"]["passed"], gates["gone"]["value"], gates["gone"]["missing"]) == (False, 1, 1)
    assert outcome.code == 1


def test_no_confidence_forgives_what_is_gone(invoke: Invoke, suites: Path) -> None:
    run(invoke)
    invoke("accept")
    drop_case(suites)
    outcome = run(invoke, GATE, "--confidence", "99%", "--json")
    (gate,) = json.loads(outcome.out)["gates"]
    assert (gate["passed"], gate["verdict"], outcome.code) == (False, "fails", 1)


def test_every_report_names_what_is_gone(invoke: Invoke, suites: Path, project: Path) -> None:
    run(invoke)
    invoke("accept")
    drop_case(suites)
    (suites / "kept" / "kept.eval.yaml").unlink()
    reports = ("r.txt", "r.json", "r.html", "r.xml", "r.md", "r.sarif", "github:r.log")
    outcome = run(invoke, GATE, *(word for report in reports for word in ("-o", report)))
    assert outcome.code == 1
    for report in reports:
        text = (project / report.removeprefix("github:")).read_text()
        assert "gone/two" in text
        assert "evals/kept/kept.eval.yaml" in text
    assert (project / "r.log").read_text().count("::error") == 3  # the gate, the cases, the suites
    suite = ElementTree.fromstring((project / "r.xml").read_text()).findall("testsuite")[1]
    assert (suite.get("name"), suite.get("tests")) == ("kept.labeled", "0")
    quiet = run(invoke, GATE, "-q").out
    assert "    - gone/two\n" in quiet
    assert "    - kept (labeled), 2 cases" in quiet


@pytest.mark.parametrize(
    ("change", "choice", "missing"),
    [
        (drop_case, (), ["gone/two"]),
        (drop_suite, (), ["gone (labeled)"]),
        (drop_suite, ("evals",), ["gone (labeled)"]),
        (drop_suite, ("evals/kept",), []),
        (drop_case, ("--filter", "*/one"), []),
        (drop_suite, ("-k", "one"), []),
    ],
)
def test_a_comparison_of_runs_names_what_is_gone(
    invoke: Invoke, suites: Path, change: object, choice: tuple[str, ...], missing: list[str]
) -> None:
    run(invoke)
    assert callable(change)
    change(suites)
    run(invoke, *choice)
    compared = invoke("diff", "--json")
    assert (compared.code, json.loads(compared.out)["missing"]) == (int(bool(missing)), missing)
    assert [name in invoke("diff").out.partition("missing: ")[2] for name in missing] == [True] * len(missing)


def test_a_skipped_case_is_not_missing_in_a_comparison(invoke: Invoke, suites: Path) -> None:
    run(invoke)
    file = suites / "gone" / "gone.eval.yaml"
    file.write_text(file.read_text().replace("name: two,", "name: two, skip: the service is down,"))
    run(invoke)
    assert invoke("diff").code == 0


def test_the_api_says_it_too(suites: Path) -> None:
    evalc.run(agent=ECHO)
    drop_suite(suites)
    finished = evalc.run(agent=ECHO, fail_on_regression=True)
    assert [suite.suite for suite in finished.missing] == ["gone"]
    assert finished.exit_code == 1


@pytest.mark.parametrize(("before", "now", "code"), [((1, 2, 3), (2, 3), 1), ((1, 3), (1, 2, 3), 0)])
def test_rows_that_differ_only_in_their_numbers(
    invoke: Invoke, suites: Path, before: tuple[int, ...], now: tuple[int, ...], code: int
) -> None:
    def write(rows: tuple[int, ...]) -> None:
        listed = ", ".join(f"{{city: C{number}}}" for number in rows)
        (suites / "table.eval.yaml").write_text(ROWS.replace("ROWS", listed))

    write(before)
    first = run(invoke)
    assert "known by their numbers" not in first.out
    invoke("accept")
    write(now)
    outcome = run(invoke, GATE)
    assert outcome.code == code
    assert "the rows of `table/row` seem to be known by their numbers: a row that is inserted or removed" in outcome.out
    assert ("    - table/row@3\n" in outcome.out.partition("MISSING")[2]) == (code == 1)


def test_a_new_table_is_compared_with_nothing(invoke: Invoke, suites: Path) -> None:
    run(invoke)
    invoke("accept")
    (suites / "gone" / "more.eval.yaml").write_text(ROWS.replace("ROWS", "{city: A}, {city: B}"))
    assert "known by their numbers" not in run(invoke, GATE).out
