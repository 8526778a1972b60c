"""`evalc compile`."""

from __future__ import annotations

import json
from pathlib import Path

from tests.cli.conftest import SUITE, Invoke


def test_the_default_folder(invoke: Invoke, project: Path) -> None:
    outcome = invoke("compile", "evals/weather.eval.yaml")
    assert (outcome.code, outcome.out, outcome.err) == (0, "wrote evals/build/weather.labeled.json\n", "")
    compiled = json.loads((project / "evals/build/weather.labeled.json").read_text())
    assert compiled["metadata"]["toolName"] == "weather"
    assert [case["id"] for case in compiled["cases"]] == ["weather/paris"]
    assert not (project / "evals/build/weather.labeled.json.map").exists()


def test_quietly(invoke: Invoke, project: Path) -> None:
    outcome = invoke("compile", "-q", "evals/weather.eval.yaml")
    assert (outcome.code, outcome.out, outcome.err) == (0, "", "")
    assert (project / "evals/build/weather.labeled.json").exists()


def test_without_a_path(invoke: Invoke, project: Path) -> None:
    (project / "b.eval.yaml").write_text(SUITE.replace("suite: weather", "suite: other"))
    assert len(invoke("compile").out.splitlines()) == 2
    (project / "evalc.toml").write_text('paths = ["evals"]\n')
    assert invoke("compile").out == "wrote evals/build/weather.labeled.json\n"


def test_a_folder_and_source_maps(invoke: Invoke, project: Path) -> None:
    outcome = invoke("compile", "evals", "-o", "out/deep", "--source-map")
    assert (outcome.code, outcome.out) == (0, "wrote out/deep/weather.labeled.json\n")
    places = json.loads((project / "out/deep/weather.labeled.json.map").read_text())
    assert places["source"] == "evals/weather.eval.yaml"


def test_only_compiled_files_are_overwritten(invoke: Invoke, project: Path) -> None:
    mine = project / "evals" / "weather.labeled.json"
    for text in ("[]", '{"metadata": {"toolName": "weather", "generatedBy": "me"}, "cases": ["\\"evalc "]}'):
        mine.write_text(text)
        outcome = invoke("compile", "evals/weather.eval.yaml", "-o", "evals")
        assert (outcome.code, outcome.out) == (2, "")
        assert outcome.err == (
            "error: nothing was written: `evals/weather.labeled.json` is there, and evalc has not compiled it\n"
        )
        assert mine.read_text() == text
    mine.unlink()
    for _ in range(2):
        assert invoke("compile", "evals/weather.eval.yaml", "-o", "evals").code == 0


def test_printing_one_suite_gives_the_file(invoke: Invoke, project: Path) -> None:
    invoke("compile", "evals")
    printed = invoke("compile", "evals", "-o", "-")
    assert printed.out == (project / "evals/build/weather.labeled.json").read_text()


def test_printing_several_suites_gives_a_line_each(invoke: Invoke, project: Path) -> None:
    (project / "evals" / "b.eval.yaml").write_text(SUITE.replace("suite: weather", "suite: other"))
    lines = invoke("compile", "evals", "-o", "-").out.splitlines()
    assert {json.loads(line)["metadata"]["toolName"] for line in lines} == {"weather", "other"}
    assert len(lines) == 2


def test_standard_input(invoke: Invoke) -> None:
    assert json.loads(invoke("compile", "-", "-o", "-", stdin=SUITE).out)["metadata"]["tier"] == "labeled"


def test_with_an_error_nothing_is_written(invoke: Invoke, project: Path) -> None:
    (project / "evals" / "b.eval.yaml").write_text(SUITE.replace("contains", "containz"))
    outcome = invoke("compile", "evals")
    assert (outcome.code, outcome.out) == (2, "")
    assert "error[EV203]" in outcome.err
    assert not (project / "evals" / "build").exists()


def test_a_file_where_the_folder_should_be(invoke: Invoke, project: Path) -> None:
    (project / "out").write_text("")
    outcome = invoke("compile", "evals", "-o", "out")
    assert (outcome.code, outcome.err) == (2, "error: `out` is not a folder\n")


def test_maps_are_not_printed(invoke: Invoke) -> None:
    outcome = invoke("compile", "evals", "-o", "-", "--source-map")
    assert (outcome.code, outcome.err) == (2, "error: `--source-map` writes files: name a folder with `-o`\n")


def test_a_configuration_with_errors_ends_it(invoke: Invoke, project: Path) -> None:
    (project / "evalc.toml").write_text("concurency = 1\n")
    outcome = invoke("compile", "evals")
    assert (outcome.code, outcome.out) == (2, "")
    assert "error[EV621]" in outcome.err


def test_a_failure_of_compiled_json_names_the_line_of_the_yaml(invoke: Invoke, project: Path) -> None:
    authored = project / "evals" / "failing.eval.yaml"
    authored.write_text("eval:\n  test_cases:\n    - name: a\n      message: hi\n      validate: [contains 'zzz']\n")
    assert invoke("compile", str(authored), "-o", "out", "--source-map").code == 0
    compiled = project / "out" / "failing.labeled.json"
    assert "failing.eval.yaml:5:18\n" in invoke("run", str(compiled), "--agent", "demo").out
    compiled.write_text(compiled.read_text().replace("zzz", "yyy"))
    output = invoke("run", str(compiled), "--agent", "demo").out
    assert "failing.eval.yaml" not in output, "the map is of another file"
    assert "failing.labeled.json:" in output
