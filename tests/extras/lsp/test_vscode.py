"""The extension for Visual Studio Code: what it is built to, its client against the server, and its colours."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from evalc.extras.lsp.completion import phrases
from tests.test_specs import script_named

EXTENSION = Path(__file__).parents[3] / "editors" / "vscode"
SECONDS = 120.0


@pytest.fixture(scope="module")
def node() -> str:
    """Node, where `make vscode` has built the extension."""
    executable = shutil.which("node")
    if executable is None or not (EXTENSION / "evalc.vsix").is_file():
        pytest.skip("`make vscode` has built nothing: the extension for Visual Studio Code was not tested")
    return executable


def test_the_package_has_what_an_editor_needs(node: str) -> None:
    with zipfile.ZipFile(EXTENSION / "evalc.vsix") as package:
        names = {name.removeprefix("extension/") for name in package.namelist()}
        manifest = json.loads(package.read("extension/package.json"))
    assert {"dist/extension.js", "language-configuration.json", "syntaxes/evalc.tmLanguage.json"} <= names
    assert not [name for name in names if name.startswith(("node_modules", "test"))]
    assert manifest["main"] == "./dist/extension.js"
    [grammar] = manifest["contributes"]["grammars"]
    assert grammar["path"].removeprefix("./") in names


def test_the_client_of_the_extension_starts_the_server(node: str, tmp_path: Path) -> None:
    file = tmp_path / "a.eval.yaml"
    file.write_text("suite: a\neval:\n  test_cases:\n    - {name: x, mesage: hi, validate: [json]}\n")
    script, bundle = EXTENSION / "test" / "client.mjs", EXTENSION / "dist" / "extension.js"
    command = [node, str(script), str(bundle), str(tmp_path), str(file), sys.executable, "-m", "evalc", "lsp"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False)
    assert done.returncode == 0, done.stderr[-2_000:]
    reported = json.loads(done.stdout)
    assert reported["uri"] == file.as_uri()
    assert [(each["code"], each["line"]) for each in reported["diagnostics"]] == [("EV201", 4)]


def test_a_missing_server_is_reported(node: str, tmp_path: Path) -> None:
    file = tmp_path / "a.eval.yaml"
    file.write_text("suite: a\n")
    script, bundle = EXTENSION / "test" / "client.mjs", EXTENSION / "dist" / "extension.js"
    command = [node, str(script), str(bundle), str(tmp_path), str(file), "no-such-program"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False)
    assert done.returncode == 1
    assert 'pip install "evalc[lsp]"' in done.stderr


# --- colours ---


def coloured(node: str, text: str) -> list[list[tuple[str, str]]]:
    """The tokens of each line, each with its innermost scope."""
    command = [node, str(EXTENSION / "test" / "tokens.cjs")]
    done = subprocess.run(command, input=text, capture_output=True, text=True, timeout=SECONDS, check=True)
    return [[(token, scopes[-1]) for token, scopes in line] for line in json.loads(done.stdout)]


def test_the_grammar_is_that_of_the_parser() -> None:
    script = script_named("write_textmate_grammar")
    assert json.loads(script.GRAMMAR.read_text(encoding="utf-8")) == script.grammar(), "run `make pages`"


def test_checks_are_coloured_in_every_place_where_they_stand(node: str) -> None:
    text = """validate:
  - contains "a {{x}}" and not matches /a b/i for clarity # why
  - 'contains "a: b"'
  - validate: [contains "x", json]"""
    plain, quoted, flow = (dict(line) for line in coloured(node, text)[1:])
    assert plain["contains"] == plain["matches"] == quoted["contains"] == flow["json"] == "keyword.control.check.evalc"
    assert plain["and"] == plain["not"] == plain["for"] == "keyword.operator.evalc"
    assert (plain["{{x}}"], plain["a b"]) == ("variable.other.template.evalc", "string.regexp.evalc")
    assert (plain["clarity"], plain[" why"]) == ("entity.name.tag.criterion.evalc", "comment.line.number-sign.yaml")
    assert quoted["a: b"] == "string.quoted.double.evalc"


def test_other_yaml_keeps_its_colours(node: str) -> None:
    text = 'name: contains\nlist:\n  - contains: x\n  - json: 1\n  - jsonl\ntext: |\n  - contains "x"\n'
    scopes = {scope for line in coloured(node, text) for _, scope in line}
    assert not [scope for scope in scopes if scope.endswith(".evalc") and scope != "source.evalc"]


PHRASES = sorted({phrase.words for phrase in phrases() if phrase.words})


@pytest.mark.parametrize("phrase", PHRASES)
def test_every_subject_and_predicate_is_coloured(
    phrase: str, coloured_phrases: dict[str, list[tuple[str, str]]]
) -> None:
    tokens = [token for token, scope in coloured_phrases[phrase] if scope.endswith(".evalc") and "meta" not in scope]
    assert {word for token in tokens for word in token.split()}.issuperset(phrase.split())


@pytest.fixture(scope="module")
def coloured_phrases(node: str) -> dict[str, list[tuple[str, str]]]:
    """The tokens of a line with each phrase of a check, all from one start of Node."""
    lines = coloured(node, "".join(f"- at x {phrase} 1 of t\n" for phrase in PHRASES))
    return dict(zip(PHRASES, lines, strict=False))
