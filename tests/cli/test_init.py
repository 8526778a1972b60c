"""`evalc init`: the project that it writes works."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tomllib
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
import yaml

from evalc import __version__
from evalc.extras.scaffold import found, found_in
from evalc.extras.scaffold.found import TITLES
from evalc.runtime.agents.frameworks import FRAMEWORKS
from tests.cli.conftest import Invoke

NEXT = "  evalc run --agent demo\n  evalc accept    # for CI: commit evals/baseline.json\n"


def evalc(*arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "evalc", *arguments]
    return subprocess.run(command, capture_output=True, text=True, cwd=folder, check=False)


def test_the_project_passes_its_own_evals(tmp_path: Path) -> None:
    begun = evalc("init", "my evals", folder=tmp_path)
    assert begun.returncode == 0
    assert begun.stdout.endswith(f"\n\nNext:\n  cd 'my evals' && evalc check\n{NEXT}")
    project = tmp_path / "my evals"
    checked = evalc("check", "--strict", folder=project)
    assert (checked.returncode, checked.stdout) == (0, "all good: 2 suites\n")
    locked = evalc("lock", "--check", folder=project)
    assert (locked.returncode, locked.stdout) == (0, "there is no case to lock: only cases of `tier: regression` are\n")
    ran = evalc("run", "--agent", "demo", "--json", folder=project)
    assert ran.returncode == 0
    summary = json.loads(ran.stdout)["summary"]
    assert (summary["totalCases"], summary["passed"], summary["skippedAssertions"], summary["score"]) == (3, 3, 0, 1)


@pytest.fixture
def empty(project: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = project / "empty"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


def files_of(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_the_working_folder_is_the_default(invoke: Invoke, empty: Path) -> None:
    outcome = invoke("init")
    assert outcome.code == 0
    written = [line.removeprefix("wrote ") for line in outcome.out.split("\n\n")[0].splitlines()]
    assert sorted(written) == sorted(files_of(empty))
    assert outcome.out.endswith(f"Next:\n  evalc check\n{NEXT}")


def test_the_tables_that_are_commented_out_can_be_used(
    invoke: Invoke, empty: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    invoke("init")
    monkeypatch.setenv("CHAT_TOKEN", "t")
    configuration = empty / "evalc.toml"
    text = configuration.read_text()
    for table in ("agents.fast", "agent"):
        configuration.write_text(text.partition(f"# [{table}]")[0] + uncommented(text, f"# [{table}]"))
        assert invoke("check").code == 0
    assert tomllib.loads(configuration.read_text())["agent"]["response"] == {"response": "output.text"}


def uncommented(text: str, first: str) -> str:
    """The block that begins with a line, without the signs of comments."""
    _, begin, rest = text.partition(first)
    return re.sub("(?m)^# ", "", (begin + rest).partition("\n\n")[0])


def test_the_schema_that_the_suites_name_is_there(invoke: Invoke, empty: Path) -> None:
    invoke("init")
    suites = sorted(empty.glob("evals/*.yaml"))
    assert len(suites) == 2
    for suite in suites:
        named = suite.read_text().splitlines()[0].removeprefix("# yaml-language-server: $schema=")
        assert "$defs" in json.loads((suite.parent / named).read_text())


def test_nothing_is_overwritten(invoke: Invoke, empty: Path) -> None:
    (empty / "evals").write_text("not a folder")
    before = files_of(empty)
    outcome = invoke("init")
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err == "error: nothing was written, since this is in the way: `evals`\n"
    assert files_of(empty) == before


def test_missing_files_are_added_beside_a_configuration(invoke: Invoke, empty: Path) -> None:
    (empty / "evalc.toml").write_text("strict = true\n")
    outcome = invoke("init")
    assert outcome.code == 0
    assert "wrote evalc.toml" not in outcome.out
    assert "wrote evals/weather.eval.yaml" in outcome.out
    assert (empty / "evalc.toml").read_text() == "strict = true\n"
    for configured in ('agent = "python:bot.py:answer"\n', '[agents.mine]\nuse = "python:bot.py:answer"\n'):
        (empty / "evalc.toml").write_text(configured)
        (empty / ".gitignore").unlink()
        assert "Other agents" not in invoke("init").out
    assert invoke("run", "--agent", "demo").code == 0


def test_evals_are_left_alone(invoke: Invoke, empty: Path) -> None:
    (empty / "evals").mkdir()
    (empty / "evals" / "own.eval.yaml").write_text("suite: own\n")
    assert invoke("init").code == 0
    assert [file.name for file in (empty / "evals").iterdir()] == ["own.eval.yaml"]
    assert (empty / "evalc.toml").exists()


def test_a_link_that_leads_nowhere_is_in_the_way(invoke: Invoke, empty: Path) -> None:
    (empty / "evalc.toml").symlink_to(empty / "nowhere")
    assert "`evalc.toml`" in invoke("init").err


def test_a_second_time_nothing_is_missing(invoke: Invoke, empty: Path) -> None:
    invoke("init")
    before = files_of(empty)
    outcome = invoke("init")
    assert (outcome.code, outcome.out) == (0, "nothing is missing: all of it is there\n")
    assert files_of(empty) == before


def test_the_report_of_a_project_is_not_committed(invoke: Invoke, empty: Path) -> None:
    invoke("init")
    invoke("run", "--agent", "demo")
    assert invoke("report").err == "wrote report.html\n"
    assert "report.html" in (empty / ".gitignore").read_text().splitlines()


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("*.log", "*.log\nevals/build/\nevals/results/\nreport.html\n"),
        ("evals/results/\n", "evals/results/\nevals/build/\nreport.html\n"),
        ("evals/build/\r\nevals/results/\r\nreport.html\r\n", "evals/build/\r\nevals/results/\r\nreport.html\r\n"),
    ],
)
def test_an_existing_gitignore_is_added_to(invoke: Invoke, empty: Path, before: str, after: str) -> None:
    (empty / ".gitignore").write_bytes(before.encode())
    assert invoke("init").code == 0
    assert (empty / ".gitignore").read_bytes().decode() == after


COMMIT = "0123456789abcdef0123456789abcdef01234567"


@pytest.mark.parametrize(
    ("noted", "requirement"),
    [
        (None, f"evalc=={__version__}"),
        ({"url": "https://example.org/evalc-9.9.whl", "archive_info": {}}, "evalc @ https://example.org/evalc-9.9.whl"),
        (
            {"url": "https://example.org/evalc.git", "vcs_info": {"vcs": "git", "commit_id": COMMIT}},
            f"evalc @ git+https://example.org/evalc.git@{COMMIT}",
        ),
        (
            {"url": "ssh://git@example.org/evalc", "vcs_info": {"vcs": "git", "commit_id": COMMIT}},
            f"evalc @ git+ssh://git@example.org/evalc@{COMMIT}",
        ),
        ({"url": "file:///home/me/evalc", "dir_info": {"editable": True}}, f"evalc=={__version__}"),
        ({"url": 5}, f"evalc=={__version__}"),
    ],
)
def test_the_workflow_installs_evalc_from_where_it_came(
    invoke: Invoke, empty: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, noted: Any, requirement: str
) -> None:
    installed = tmp_path / "site" / "evalc-9.9.dist-info"
    installed.mkdir(parents=True)
    (installed / "METADATA").write_text("Metadata-Version: 2.1\nName: evalc\nVersion: 9.9\n")
    if noted is not None:
        (installed / "direct_url.json").write_text(json.dumps(noted))
    monkeypatch.syspath_prepend(str(installed.parent))
    assert invoke("init").err == ""
    workflow = yaml.safe_load((empty / ".github" / "workflows" / "evals.yml").read_text())
    assert workflow["env"] == {"EVALC": requirement}
    assert workflow["permissions"]["pull-requests"] == "write"
    assert workflow["jobs"]["evals"]["steps"][-1]["run"].endswith(" -o github -o pr-comment")


def test_a_file_is_no_folder(invoke: Invoke, empty: Path) -> None:
    (empty / "taken").write_text("")
    outcome = invoke("init", "taken")
    assert (outcome.code, outcome.err) == (2, "error: `taken` is not a folder\n")


# --- fitting the folder ----------------------------------------------------------------------------------------------

FUNCTION = 'def answer(message: str) -> str:\n    return "You said: " + message\n'
PROMPTFOO = """\
prompts: ["Say {{word}}"]
providers: [openai:chat:gpt-4o]
tests:
  - vars: {word: hello}
    assert: [{type: contains, value: hello}, {type: llm-rubric, value: It is polite}]
"""
EXAMPLES = """\
id: greet-v1
prompt: Greet {{name}}
inputs: [{name: name}]
examples: [{name: ann, inputs: {name: Ann}, expected_output: Greets Ann}]
"""
PROMPT = """\
id: "sum: up"
prompt: Sum up {{text}} in {{most}} words{{#if tone}}, {{tone}}{{/if}}
inputs: [{name: text}, {name: most, default: 5}, {name: tone, required: false}]
"""
SKILL = "---\nname: csv\ndescription: Sums columns {{here}}\n---\n# CSV\n"
SKILL_EVALS = """\
{"skill_name": "csv", "evals": [
  {"id": 1, "prompt": "Sum {{it}}", "expected_output": "A total",
   "assertions": ["It is \\"right\\"", {"text": "Short"}]},
  {"id": 2, "prompt": "Hello", "expectations": ["Greets"]}]}
"""
FASTAPI = """\
from fastapi import APIRouter, FastAPI
from pydantic import BaseModel

router = APIRouter(prefix="/v1")

class Question(BaseModel):
    question: str

@router.get("/health")
def health(): ...

@router.post("/ask")
async def ask_it(asked: Question):
    return {"answer": asked.question}

app = FastAPI()
app.include_router(router)

if __name__ == "__main__":
    import uvicorn
    uvicorn.run(app, port=PORT)
"""


def prepared(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


def agent_in(folder: Path) -> Any:
    return tomllib.loads((folder / "evalc.toml").read_text()).get("agent")


@pytest.mark.parametrize(
    ("files", "found", "agent", "suite"),
    [
        ({"bot.py": FUNCTION}, "`answer` in bot.py", "python:bot.py:answer", "first.eval.yaml"),
        ({"promptfooconfig.yaml": PROMPTFOO}, "the model `openai:gpt-4o`", "openai:gpt-4o", "empty.eval.yaml"),
        ({"prompts/greet.yaml": EXAMPLES}, "the prompt `greet-v1`", "demo", "greet-v1.cases.yaml"),
        ({"prompts/sum.yaml": PROMPT}, "the prompt `sum: up`", "demo", "sum-up.cases.yaml"),
        (
            {"SKILL.md": SKILL, "b/bot2.py": FUNCTION},
            "`answer` in b/bot2.py",
            "python:b/bot2.py:answer",
            "csv.eval.yaml",
        ),
    ],
    ids=["function", "promptfoo", "examples", "prompt", "skill and agent"],
)
def test_a_project_fits_its_folder(
    invoke: Invoke,
    empty: Path,
    monkeypatch: pytest.MonkeyPatch,
    files: dict[str, str],
    found: str,
    agent: str,
    suite: str,
) -> None:
    prepared(empty, files)
    outcome = invoke("init")
    assert outcome.code == 0
    assert outcome.out.startswith(f"found {found}")
    assert f"wrote evals/{suite}\n\nNext:\n  evalc check\n  evalc run\n" in outcome.out
    assert ("`demo` stands in" in outcome.err) == (agent == "demo")
    assert agent_in(empty) == agent
    assert "--agent" not in (empty / ".github/workflows/evals.yml").read_text()
    assert [file.name for file in (empty / "evals").iterdir() if file.name != "evals.json"] == [suite]
    checked = invoke("check", "--strict")
    assert (checked.code, checked.out.startswith("all good: 1 suite")) == (0, True), checked
    workflow = yaml.safe_load((empty / ".github/workflows/evals.yml").read_text())["jobs"]["evals"]["steps"]
    assert workflow[2]["run"] == 'pip install "$EVALC"'
    assert ("OPENAI_API_KEY" in workflow[-1]["env"]) == agent.startswith("openai:")
    if agent.startswith("openai:"):
        monkeypatch.delenv("OPENAI_API_KEY", raising=False)
        assert "set the environment variable `OPENAI_API_KEY`" in invoke("run").err
    else:
        assert "results in evals/results/" in invoke("run").out
    before = files_of(empty / "evals")
    assert invoke("init").out == "nothing is missing: all of it is there\n"
    assert files_of(empty / "evals") == before


@pytest.mark.parametrize("above", ["", "skills/csv/", ".claude/skills/csv/"])
@pytest.mark.parametrize("has_evals", [False, True])
def test_a_skill_is_run_with_and_without(invoke: Invoke, empty: Path, above: str, has_evals: bool) -> None:
    prepared(empty, {f"{above}SKILL.md": SKILL, **({f"{above}evals/evals.json": SKILL_EVALS} if has_evals else {})})
    outcome = invoke("init")
    said = ", with 2 evals" if has_evals else ""
    assert outcome.out.startswith(f"found the skill `csv` in {above}SKILL.md{said}\n")
    settings = tomllib.loads((empty / "evalc.toml").read_text())
    assert settings["paths"] == [f"{above}evals" if has_evals else "evals"]
    assert settings["agent"] == ["with-skill", "without-skill"]
    assert settings["agents"] == {
        "with-skill": {"use": "claude-code"},
        "without-skill": {"use": "claude-code", "skills": []},
    }
    assert (empty / "evals" / "csv.eval.yaml").exists() is not has_evals
    checked = invoke("check", "--strict")
    assert (checked.code, checked.out.splitlines()[0]) == (0, "all good: 1 suite")
    with_skill = invoke("run", "--agent", "command:ls .agents/skills/csv", "--judge", "python:math:floor")
    assert "the answer is not JSON: SKILL.md" in with_skill.out
    assert invoke("init").out == "nothing is missing: all of it is there\n"


def test_several_skills_with_evals_go_together(invoke: Invoke, empty: Path) -> None:
    for name in ("b", "a"):
        files = {f"skills/{name}/SKILL.md": SKILL, f"skills/{name}/evals/evals.json": SKILL_EVALS}
        prepared(empty, {path: text.replace("csv", name) for path, text in files.items()})
    assert "found the skill `a` in skills/a/SKILL.md, with 2 evals; and 1 other with evals\n" in invoke("init").out
    assert invoke("check").out.startswith("all good: 2 suites\n")


class Served(BaseHTTPRequestHandler):
    """Answers as the app of FastAPI would."""

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        body = json.dumps({"answer": f"{self.path}: {asked['question']}"}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args: object) -> None: ...


def test_an_app_of_fastapi_is_asked_in_its_own_words(invoke: Invoke, empty: Path) -> None:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Served)
    Thread(target=server.serve_forever, daemon=True).start()
    port = server.server_address[1]
    try:
        prepared(empty, {"desk/main.py": FASTAPI.replace("PORT", str(port)), "requirements.txt": "fastapi"})
        outcome = invoke("init")
        assert "found `POST /v1/ask` in desk/main.py (FastAPI)\n" in outcome.out
        assert f"Next:\n  uvicorn desk.main:app --port {port}    # your agent, in another terminal\n" in outcome.out
        ran = invoke("run", "--json")
        workflow = yaml.safe_load((empty / ".github/workflows/evals.yml").read_text())
        install, _, _, start, _ = [step["run"] for step in workflow["jobs"]["evals"]["steps"] if "run" in step]
        assert install == 'pip install "$EVALC" -r requirements.txt'
        assert start.startswith(f"uvicorn desk.main:app --port {port} & curl ")
        assert start.endswith(f" --retry-connrefused http://127.0.0.1:{port}/")
    finally:
        server.shutdown()
        server.server_close()
    assert (ran.code, json.loads(ran.out)["summary"]["passed"]) == (0, 1), ran
    assert "/v1/ask: Hello! What can you help me with?" in ran.out


@pytest.mark.parametrize(
    ("text", "argument"), [("[project]\nname = 'x'\n", " ."), ("[tool.x]\n", ""), ("[", ""), (None, "")]
)
def test_the_workflow_installs_what_the_project_needs(
    invoke: Invoke, empty: Path, text: str | None, argument: str
) -> None:
    prepared(empty, {"bot.py": FUNCTION} | ({} if text is None else {"pyproject.toml": text}))
    invoke("init")
    assert f'- run: pip install "$EVALC"{argument}\n' in (empty / ".github/workflows/evals.yml").read_text()


def agents_of(folder: Path) -> list[str]:
    return [agent.line.removeprefix('agent = "python:').removesuffix('"') for agent in found_in(folder).agents]


def test_the_agents_of_frameworks_are_found_without_the_frameworks() -> None:
    """The examples of frameworks, which `make test-frameworks` runs as they are named here."""
    examples = Path(__file__).parents[2] / "examples" / "frameworks"
    found = {agent.line.split(":")[1]: agent.what for agent in reversed(found_in(examples).agents)}
    assert set(FRAMEWORKS) <= set(TITLES)
    for file in sorted(examples.glob("*_desk.py")):
        if file.name not in {"crewai_desk.py", "claude_agent_sdk_desk.py"}:  # a function, and a class
            assert re.fullmatch(rf"`agent` in {file.name} \((makes an agent of )?[\w ]+\)", found[file.name])


@pytest.mark.parametrize(
    ("text", "names"),
    [
        (
            "from agents import Agent\nbilling = Agent()\nhelper = Agent()\ndesk = Agent(handoffs=[billing])",
            "helper desk billing",
        ),
        (
            "import pydantic_ai as p\nspare: p.Agent[int, str] = p.Agent[int, str]('m')\nagent = p.Agent('m')",
            "agent spare",
        ),
        (
            "import re, langgraph.graph as l\ng = l.StateGraph(S)\nflow = g.compile()\nx = re.compile()",
            "flow",
        ),
        ("from langgraph.graph import StateGraph\ndef build():\n  g = StateGraph(S)\n  return g.compile()", "build"),
        ("from crewai import Agent\ndef _hidden():\n  return Agent()\ndef make(n):\n  return Agent()", ""),
        ("from mine import Agent\nagent = Agent()", ""),
        ("async def chat(messages: list[dict], model='m'):\n  return ''", "chat"),
        ("def ask(question: str): print(question)", ""),
        ("def answer(message: Message): return ''", ""),
        ("def answer(message: str, user: str): return ''", ""),
        ("def reply(message):\n  yield ''\n  return ''", ""),
        ("@tool\ndef answer(message: str): return ''", ""),
        ("class answer:\n  def answer(message): return ''", ""),
    ],
)
def test_agents_are_distinguished_from_other_code(tmp_path: Path, text: str, names: str) -> None:
    (tmp_path / "code.py").write_text(text)
    assert agents_of(tmp_path) == [f"code.py:{name}" for name in names.split()]


def test_a_module_of_a_package_is_named_as_such(tmp_path: Path) -> None:
    prepared(
        tmp_path, {"src/desk/__init__.py": "", "src/desk/bot.py": FUNCTION, "a-b/__init__.py": "", "a-b/c.py": FUNCTION}
    )
    assert agents_of(tmp_path) == ["a-b/c.py:answer", "src.desk.bot:answer"]


def test_a_module_of_the_project_is_no_framework(tmp_path: Path) -> None:
    prepared(tmp_path, {"agents/__init__.py": "", "app.py": "from agents import Agent\nagent = Agent()\n"})
    assert agents_of(tmp_path) == []


def test_the_likeliest_is_taken_and_the_others_are_listed(invoke: Invoke, empty: Path) -> None:
    agent = "from agents import Agent\nagent = Agent()\n"
    prepared(empty, {"bot.py": FUNCTION, "a/deep.py": agent, "promptfooconfig.yaml": PROMPTFOO, "p.yaml": PROMPT})
    outcome = invoke("init")
    assert agent_in(empty) == "python:a/deep.py:agent"
    assert outcome.out.endswith(
        """
Other agents, for evalc.toml:
  agent = "python:bot.py:answer"    # `answer` in bot.py
  agent = "openai:gpt-4o"    # the model `openai:gpt-4o` in promptfooconfig.yaml

Other evals:
  prompt_id: "sum: up"    # the prompt `sum: up` in p.yaml
"""
    )


def test_files_of_the_project_are_left_as_they_are(invoke: Invoke, empty: Path) -> None:
    prepared(empty, {"bot.py": FUNCTION, "evalc.toml": "strict = true\n", "evals/own.eval.yaml": "suite: own\n"})
    outcome = invoke("init")
    assert "found" not in outcome.out
    assert 'Other agents, for evalc.toml:\n  agent = "python:bot.py:answer"' in outcome.out
    assert (empty / "evalc.toml").read_text() == "strict = true\n"
    assert [file.name for file in (empty / "evals").iterdir()] == ["own.eval.yaml"]


def test_unreadable_files_are_skipped_and_nothing_is_run(invoke: Invoke, empty: Path, tmp_path: Path) -> None:
    outside = prepared(tmp_path / "outside", {"bot.py": FUNCTION, "SKILL.md": SKILL})
    sources = {
        "torn.py": "def answer(message:\n",
        "deep.py": f"import agents\nx = {'(' * 500}1{')' * 500}\n",
        "minus.py": f"import agents\nx = {'-' * 100_000}1\n",
        "run.py": f"import agents\nopen({str(empty / 'ran')!r}, 'w')\n",
        "odd.py": 'x = "\\d"  # of agents\n',
        "chain.py": "from agents import Agent\nx = Agent" + ".a()" * 900,
        "promptfooconfig.yaml": "tests: [",
        "p.yaml": "id: [\nprompt: {a: *b}\n",
        "q.yaml": "id: 5\nprompt: 7\n",
        "SKILL.md": "---\nname: [\n---\n",
        "x/SKILL.md": "---\n- a\n---\n",
        "y/SKILL.md": "no front matter",
        ".venv/lib/bot.py": FUNCTION,
        "node_modules/bot.py": FUNCTION,
        "own/pyvenv.cfg": "",
        "own/bot.py": FUNCTION,
        "tests/bot.py": FUNCTION,
        "test_bot.py": FUNCTION,
    }
    prepared(empty, sources)
    (empty / "bytes.py").write_bytes(b"\xff\xfe\0def answer(message): return 1")
    (empty / "null.py").write_bytes(b"def answer(message): return '\0'")
    (empty / "bot.py").symlink_to(outside / "bot.py")
    (empty / "linked").symlink_to(outside)
    os.mkfifo(empty / "pipe.py")
    (empty / "large.py").write_text(FUNCTION + "#" * 1_000_000)
    outcome = invoke("init")
    assert (outcome.code, "found" in outcome.out, "Warning" in outcome.err) == (0, False, False), outcome
    assert outcome.out.endswith(NEXT)
    assert not (empty / "ran").exists()


@pytest.mark.parametrize("limit", ["_MOST_FILES", "_MOST_BYTES", "_MOST_ENTRIES"])
def test_a_search_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limit: str) -> None:
    prepared(tmp_path, {f"{letter}.py": FUNCTION for letter in "abcdef"})
    monkeypatch.setattr(found, limit, 3 if limit != "_MOST_BYTES" else 2 * len(FUNCTION) + 1)
    assert len(agents_of(tmp_path)) == 3


def test_evals_that_cannot_be_imported_leave_a_first_suite(invoke: Invoke, empty: Path) -> None:
    torn = "prompts: [a]\nproviders: [x]\ntests:\n  - assert: [{type: nothing-known}]\n"
    prepared(empty, {"promptfooconfig.yaml": torn, "own_agent.py": FUNCTION})
    outcome = invoke("init")
    assert (
        "promptfooconfig.yaml cannot be imported: `evalc import promptfooconfig.yaml -o evals/` says why" in outcome.err
    )
    assert "wrote evals/first.eval.yaml" in outcome.out
