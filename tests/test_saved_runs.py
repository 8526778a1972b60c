"""Runs from Python: those of files stay in the folder of results, those of objects only if that is asked for."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import evalc


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "tmp").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "tmp"))
    project = tmp_path / "project"
    (project / ".git").mkdir(parents=True)
    monkeypatch.chdir(project)
    return project


SUITE = evalc.Suite("desk", criteria=["kind (1): Is it?"], cases=[evalc.Case("hi", "hi", checks=["non-empty"])])


def echo(message: str) -> str:
    return message


def mute(message: str) -> str:
    return ""


def run(subject: Any = SUITE, agent: Any = echo, **flags: Any) -> evalc.Run:
    return evalc.run(subject, agent=agent, judge=lambda _: 1.0, **flags)


def files(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.rglob("*") if path.is_file())


@pytest.mark.parametrize("subject", [SUITE, [SUITE, evalc.Source("b.eval.yaml", SUITE.to_yaml().replace("desk", "b"))]])
def test_a_run_of_objects_leaves_nothing(folder: Path, subject: Any) -> None:
    first, second = run(subject), run(subject, agent=mute)
    assert [case.status for case in first.cases] == ["passed"] * len(first.suites)
    assert first.suites[0].cases == first.cases[:1]
    assert second.diff(first).regressions == len(second.failures) == len(second.suites)
    assert files(folder) == []
    second.save("report.txt")
    second.save(folder.parent / "report.html")
    assert files(folder) == ["report.txt"]
    assert "results in" not in (folder / "report.txt").read_text()
    assert first.folder.is_dir()
    del first, second
    gc.collect()
    assert list((folder.parent / "tmp").glob("*/*")) == []


@pytest.mark.parametrize(
    ("subject", "flags", "where"),
    [
        (SUITE, {"save": True}, "evals/results"),
        (SUITE, {"output_dir": "out"}, "out"),
        ("desk.eval.yaml", {}, "evals/results"),
        (["desk.eval.yaml", evalc.Suite("b", cases=[evalc.Case("b", "b", checks=["json"])])], {}, "evals/results"),
        (None, {}, "evals/results"),
    ],
)
def test_results_stay_where_they_are_asked_for(folder: Path, subject: Any, flags: Any, where: str) -> None:
    (folder / "desk.eval.yaml").write_text(SUITE.to_yaml())
    assert run(subject, **flags).folder.parent == folder / where
    assert files(folder / where)


def test_a_configuration_that_says_where_runs_go_asks_for_them(folder: Path) -> None:
    (folder / "evalc.toml").write_text('output_dir = "runs"\n')
    saved = run()
    assert saved.folder.parent == folder / "runs"
    assert run(save=False).diff(saved.folder).regressions == 0
    assert len(list((folder / "runs").iterdir())) == 1


def test_a_run_of_files_need_not_stay(folder: Path) -> None:
    (folder / "desk.eval.yaml").write_text(SUITE.to_yaml())
    assert run("desk.eval.yaml", save=False).summary.passed == 1
    assert files(folder) == ["desk.eval.yaml"]


def test_runs_that_are_not_saved_are_compared_with_saved_ones() -> None:
    saved = run(save=True)
    assert [suite.baseline_run_id for suite in run(baseline="latest").suites] == [saved.run_id]


def test_names_of_runs_need_runs_that_are_saved(folder: Path) -> None:
    unsaved, saved = run(), run(save=True)
    with pytest.raises(evalc.UsageError, match="`latest~1` names a saved run, and this one is not saved: run with"):
        unsaved.diff("latest~1")
    with pytest.raises(evalc.UsageError, match="a run of a suite in Python is only kept with `save=True`"):
        saved.diff(unsaved.run_id)
    with pytest.raises(evalc.UsageError, match=r"it has no `journal\.jsonl`; a run of a suite in Python is only kept"):
        run(resume=unsaved.run_id)
    for command in (["run", "--resume", unsaved.run_id], ["rescore", unsaved.run_id], ["show", unsaved.run_id]):
        done = subprocess.run([sys.executable, "-m", "evalc", *command], capture_output=True, text=True, check=False)
        assert "is only kept with `save=True`" in done.stderr


@pytest.mark.parametrize(
    ("flags", "error", "message"),
    [
        ({"save": False, "output_dir": "out"}, evalc.UsageError, "`save=False` keeps no results: leave it out beside"),
        ({"save": "report.html"}, TypeError, r"`save` of `evalc\.run` takes `bool \| None`, not `str`"),
        ({"saved": True}, TypeError, r"`saved`; did you mean `save`\?"),
    ],
)
def test_save_has_its_values_and_contradicts_nothing(
    folder: Path, flags: Any, error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        run(**flags)
    assert files(folder) == []


@pytest.mark.parametrize("how", ["raise KeyboardInterrupt", "pass", "import os; os.fork() or sys.exit()"])
def test_nothing_stays_behind_when_the_process_ends(folder: Path, how: str) -> None:
    program = f"""
import evalc, sys
def agent(message):
    {how}
    return message
run = evalc.run(evalc.Suite("a", cases=[evalc.Case("b", "hi", checks=["non-empty"])]), agent=agent)
print(run.cases[0].status)
"""
    environ = {**os.environ, "TMPDIR": str(folder.parent / "tmp")}
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False, env=environ)
    assert (done.stdout == "passed\n") == (how != "raise KeyboardInterrupt"), done.stderr
    assert list((folder.parent / "tmp").iterdir()) == []
    assert files(folder) == []
