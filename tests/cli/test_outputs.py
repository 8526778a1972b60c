"""`-o [FORMAT:]FILE`: what is asked for, what is refused before anything runs, and what is written whatever happens."""

from __future__ import annotations

import csv
import json
import os
from pathlib import Path

import pytest

from evalc.base.errors import UsageError
from evalc.cli.run import Output, outputs_of
from evalc.report.formats import WRITERS
from evalc.report.outputs import FORMATS, Format
from tests.cli.conftest import SUITE, Invoke
from tests.support.weather import FAILING


@pytest.mark.parametrize(
    ("asked", "chosen", "file"),
    [
        ("report.json", "json", "report.json"),
        ("out/page.HTML", "html", "out/page.HTML"),
        ("a.htm", "html", "a.htm"),
        ("a.xml", "junit", "a.xml"),
        ("a.md", "markdown", "a.md"),
        ("a.csv", "csv", "a.csv"),
        ("a.sarif", "sarif", "a.sarif"),
        ("a.sarif.json", "sarif", "a.sarif.json"),
        ("a.txt", "text", "a.txt"),
        ("report", "json", "report"),
        ("junit:report.txt", "junit", "report.txt"),
        ("json:with:colons", "json", "with:colons"),
        ("./with:colon", "json", "./with:colon"),
        ("C:report.csv", "csv", "C:report.csv"),
        ("csv:C:/report", "csv", "C:/report"),
        ("-", "json", None),
        ("csv:-", "csv", None),
        ("github", "github", None),
        ("github:notes", "github", "notes"),
    ],
)
def test_outputs_by_their_names(project: Path, asked: str, chosen: Format, file: str | None) -> None:
    assert outputs_of([asked]) == (Output(format=chosen, file=None if file is None else Path(file)),)


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        (["junitt:a.xml"], "`junitt` is not a report format; did you mean `junit`?"),
        (
            ["pdf:a.pdf"],
            (
                "`pdf` is not a report format; there are `text`, `json`, `html`, `junit`, `xunit`, `markdown`, `csv`, "
                "`parquet`, `github`, `sarif`, `pr-comment`"
            ),
        ),
        (["csv:"], "`--output` names no file"),
        ([""], "`--output` names no file"),
        (["csv=a.csv"], "`-o csv=a.csv`: a format is followed by a colon, as in `-o csv:a.csv`"),
        (["csv"], "`-o csv` names no file; write `-o csv:FILE`, or `-o csv:-` for standard output"),
        (["-", "csv:-"], "only one output goes to standard output"),
        (["github", "-"], "only one output goes to standard output"),
        (["a.json", "junit:a.json"], "`--output` names the file `a.json` twice"),
        (["a.json", "csv:evals/../a.json"], "`--output` names the file `evals/../a.json` twice"),
        (["evals"], "`--output` is to name a file, and `evals` is a folder"),
        (["csv:/dev/null"], "`--output` must name a file, and `/dev/null` is not a file"),
        (
            ["evals/weather.eval.yaml"],
            "`--output` would overwrite evals: `evals/weather.eval.yaml` has the name of an eval file",
        ),
        (["text:x.golden.json"], "`--output` would overwrite evals: `x.golden.json` has the name of an eval file"),
        (["x.Labeled.JSON"], "`--output` would overwrite evals: `x.Labeled.JSON` has the name of an eval file"),
    ],
)
def test_invalid_outputs_are_refused(project: Path, asked: list[str], message: str) -> None:
    with pytest.raises(UsageError) as refused:
        outputs_of(asked)
    assert str(refused.value) == message


@pytest.mark.parametrize(
    "read", ["evals/cases.json", "evals/rows.csv", "evals/seed-manifest.json", "evalc.toml", "tools.json", "now.json"]
)
def test_inputs_of_the_run_are_not_overwritten(invoke: Invoke, project: Path, read: str) -> None:
    (project / "evals" / "cases.json").write_text(
        '[{"id": "a", "description": "b", "difficulty": "straightforward", "input": {"message": "hi"}, '
        '"expect": {"minLength": 1}}]'
    )
    (project / "evals" / "rows.csv").write_text("name,city\na,Paris\n")
    (project / "evals" / "rows.eval.yaml").write_text(
        "eval: {test_cases: [{name: r, for_each: rows.csv, message: 'in {{city}}', validate: [contains \"Paris\"]}]}"
    )
    (project / "evals" / "seed-manifest.json").write_text("{}")
    (project / "tools.json").write_text('[{"name": "get_weather"}]')
    (project / "now.json").write_text("{}")
    (project / "evalc.toml").write_text('tools = "tools.json"\nsnapshot = "now.json"\n')
    before = (project / read).read_bytes()
    outcome = invoke("run", "--agent", "demo", "-o", f"json:./{read}")
    assert outcome.code == 2
    assert outcome.err.endswith(
        f"error: `--output` would overwrite `{read}`, which is not a report in the format `json`\n"
    )
    assert (project / read).read_bytes() == before
    assert not (project / "evals" / "results").exists()


def test_a_report_that_the_run_reads_is_not_written_over(invoke: Invoke, project: Path) -> None:
    (project / "then.json").write_text('{"runId": "then", "suites": []}')
    outcome = invoke("run", "--agent", "demo", "--snapshot", "then.json", "-o", "./then.json")
    assert outcome.code == 2
    assert outcome.err.endswith("error: `--output` would overwrite `then.json`, which the run reads\n")


@pytest.mark.parametrize("chosen", FORMATS)
def test_only_reports_are_overwritten(project: Path, invoke: Invoke, chosen: Format) -> None:
    invoke("run", "--agent", "demo", "--env-file", _written("my.env", "KEY=secret"))
    invoke("history")
    _written("agent.py", "def answer(message):\n    return message\n")
    _written("page.html", "<!doctype html>\n<html lang=en><title>Mine</title>")
    there = [path for path in project.rglob("*") if path.is_file()]
    assert {"history.db", "journal.jsonl", "weather.labeled.json", "my.env"} <= {path.name for path in there}
    before = [path.read_bytes() for path in there]
    for path in there:
        with pytest.raises(UsageError, match="would overwrite"):
            outputs_of([f"{chosen}:{path}"])
    assert invoke("report", "-o", f"{chosen}:my.env").code == 2
    assert [path.read_bytes() for path in there] == before


def _written(name: str, text: str) -> str:
    Path(name).write_text(text)
    return name


def test_files_of_the_run_are_not_overwritten(invoke: Invoke, project: Path) -> None:
    agent = (
        "import pathlib\ndef answer(message):\n    pathlib.Path('kept.txt').write_text('kept')\n    return 'Paris'\n"
    )
    _written("writing.py", agent)
    outcome = invoke("run", "--agent", "python:writing:answer", "-o", "json:kept.txt", "-o", "a.csv")
    assert outcome.code == 70
    assert outcome.err.endswith("error: `kept.txt`: not overwritten, since it is not a report\n")
    assert (project / "kept.txt").read_text() == "kept"
    assert (project / "a.csv").exists()


@pytest.mark.parametrize("chosen", FORMATS)
def test_a_report_is_written_over_an_earlier_one(invoke: Invoke, project: Path, chosen: Format) -> None:
    Path("report").touch()  # as `mktemp` makes one
    for text in (FAILING, FAILING, None):
        (project / "evals" / "weather.eval.yaml").write_text(text or SUITE)
        assert invoke("run", "--agent", "demo", "-o", f"{chosen}:report").code == (0 if text is None else 1)
    assert invoke("run", "--agent", "demo", "--agent", "command:cat -u", "-o", f"{chosen}:report").code == 3
    assert invoke("report", "-o", f"{chosen}:report").code == 0


def test_a_report_that_went_through_another_tool_is_written_over(invoke: Invoke, project: Path) -> None:
    assert invoke("run", "--agent", "demo", "-o", "report.json").code == 0
    Path("report.json").write_text(json.dumps(json.loads(Path("report.json").read_bytes()), indent=4))
    assert invoke("run", "--agent", "demo", "-o", "report.json").code == 0


def test_nothing_is_run_where_an_output_is_refused(invoke: Invoke, project: Path) -> None:
    outcome = invoke("run", "--agent", "demo", "-o", "a.json", "-o", "pdf:a.pdf")
    assert outcome.code == 2
    assert outcome.err.startswith("error: `pdf` is not a report format; ")
    assert not (project / "evals" / "results").exists()
    assert invoke("run", "--agent", "demo", "--json", "-o", "csv:-").code == 2


def test_every_format_is_written_also_where_a_case_fails(invoke: Invoke, project: Path) -> None:
    (project / "evals" / "weather.eval.yaml").write_text(FAILING)
    names = ("a.json", "a.html", "a.xml", "a.md", "a.csv", "a.sarif", "a.txt")
    outputs = [argument for name in (*names, "github:a.github") for argument in ("-o", f"{name}")]
    outcome = invoke("run", "--agent", "demo", *outputs)
    assert outcome.code == 1
    assert outcome.out == (project / "a.txt").read_text(encoding="utf-8")
    for name in (*names, "a.github"):
        assert "expected 'Paris'" in (project / name).read_text(encoding="utf-8"), name
    assert invoke("run", "--agent", "command:false", "-o", "b.csv").code == 3
    [row] = csv.DictReader((project / "b.csv").read_text(encoding="utf-8").splitlines())
    assert row["status"] == "error"


def test_one_report_takes_the_place_of_the_summary(invoke: Invoke) -> None:
    outcome = invoke("run", "--agent", "demo", "-o", "csv:-")
    assert outcome.out.startswith('"suite","tier",')
    assert "1/1 passed" not in outcome.out


def test_a_report_that_breaks_keeps_no_other_from_being_written(
    invoke: Invoke, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise KeyError("sensitive")

    monkeypatch.setattr("evalc.report.junit.render", broken)
    monkeypatch.setitem(WRITERS, "sarif", broken)
    outcome = invoke("run", "--agent", "demo", "-o", "a.xml", "-o", "b.sarif", "-o", "c.csv")
    assert outcome.code == 70
    assert (project / "c.csv").exists()
    assert "1/1 passed" in outcome.out
    assert "another report could not be written: KeyError" in outcome.err
    assert "sensitive" not in outcome.err


def test_every_file_that_cannot_be_written_is_reported(
    invoke: Invoke, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(path: Path, _: object) -> None:
        raise OSError(28, "No space left on device", str(path))

    monkeypatch.setattr("evalc.report.outputs.write_atomic", full)
    monkeypatch.setattr("evalc.runtime.store.results.write_atomic", lambda path, data: path.write_bytes(b"".join(data)))
    outcome = invoke("run", "--agent", "demo", "-o", "a.xml", "-o", "b.csv")
    assert outcome.code == 70
    assert "1/1 passed" in outcome.out
    assert outcome.err.endswith(
        "error: another report could not be written: `b.csv`: No space left on device\n"
        "error: `a.xml`: No space left on device\n"
    )


@pytest.mark.parametrize("command", [("run",), ("run", "-v"), ("run", "-q"), ("show", "-v")])
def test_github_obeys_nothing_in_a_summary(
    invoke: Invoke, project: Path, monkeypatch: pytest.MonkeyPatch, command: tuple[str, ...]
) -> None:
    (project / "commands.py").write_text("def agent(message):\n    return 'hi\\n::error::pwned\\n::add-mask::passed'\n")
    invoke("run", "--agent", "python:commands:agent")
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    lines = invoke(*command, *(("--agent", "python:commands:agent") if command[0] == "run" else ())).out.splitlines()
    token = lines[0].removeprefix("::stop-commands::")
    assert len(token) >= 32
    assert lines[-1] == f"::{token}::"
    assert token not in "".join(lines[1:-1])


def test_github_gets_annotations_that_the_agent_cannot_write(
    invoke: Invoke, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (project / "evals" / "weather.eval.yaml").write_text(FAILING)
    (project / "summary.md").write_text("before\n")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(project / "summary.md"))
    lines = invoke("run", "--agent", "demo", "-o", "github").out.splitlines()
    begin, token = lines[0].rsplit("::", 1)
    assert begin == "::stop-commands"
    end = lines.index(f"::{token}::")
    assert "0/1 passed" in "\n".join(lines[1:end])
    [annotation] = lines[end + 1 :]
    assert annotation.startswith("::error file=evals/weather.eval.yaml,line=9,col=11,title=weather/rome%3A failed::")
    summary = (project / "summary.md").read_text(encoding="utf-8")
    assert summary.startswith("before\n## ❌ evalc: 0 of 1 case passed")
    os.mkfifo(project / "pipe")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(project / "pipe"))
    assert "pipe`: it is a named pipe" in invoke("run", "--agent", "demo", "-o", "github").err
    monkeypatch.delenv("GITHUB_STEP_SUMMARY")
    assert invoke("run", "--agent", "demo", "-o", "github").code == 1


def test_a_run_of_then_is_reported_and_rescored_in_the_same_formats(invoke: Invoke, project: Path) -> None:
    invoke("run", "--agent", "demo", "-o", "then.xml", "-o", "then.csv")
    assert invoke("report", "-o", "now.xml", "-o", "now.csv").err == "wrote now.xml\nwrote now.csv\n"
    for suffix in ("xml", "csv"):
        assert (project / f"now.{suffix}").read_bytes() == (project / f"then.{suffix}").read_bytes()
    assert not (project / "report.html").exists()
    assert json.loads(invoke("report", "-o", "-").out)["summary"]["passed"] == 1
    assert invoke("rescore", "latest", "-o", "again.csv").code == 0
    assert (project / "again.csv").read_bytes().count(b"\r\n") == 2


def test_the_page_stands_beside_the_run_that_it_was_compared_with(invoke: Invoke, project: Path) -> None:
    invoke("run", "--agent", "demo")
    assert invoke("run", "--agent", "demo", "--baseline", "latest", "-o", "page.html").code == 0
    assert '"baseline":{' in (project / "page.html").read_text(encoding="utf-8")
