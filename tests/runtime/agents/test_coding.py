"""Coding agents: what they are called with, where they work, and what their events say, by recorded streams."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest

from evalc.base import CODING
from evalc.base.errors import AgentError, UsageError
from evalc.model.answer import AgentRequest, AgentResponse, ToolCall, Usage, WrittenFile
from evalc.runtime.agents.coding import Profile, profiles, with_skills
from evalc.runtime.agents.process import CommandAgent, coding_agent
from tests.support.asking import ask, failure

STREAMS = Path(__file__).with_name("streams")
CLAUDE = (
    "-p --output-format stream-json --verbose --permission-mode acceptEdits --allowedTools Skill "
    "--setting-sources project"
)
PROGRAM = """#!/bin/sh
# prints how it was called, then a recorded stream
{ echo "$@"; cat; echo; pwd; find . -type f | sort; echo "$CLAUDECODE"; } > "$CALLED"
echo "warning: the weather is nice"
cat "$STREAM"
exit ${STATUS:-0}
"""


@pytest.fixture
def called(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Programs of the names of coding agents, and the file with how they were called."""
    (tmp_path / "bin").mkdir()
    for kind, profile in profiles().items():
        program = tmp_path / "bin" / profile.command[0]
        program.write_text(PROGRAM.replace("$STREAM", str(STREAMS / f"{kind}.jsonl")))
        program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("CALLED", str(tmp_path / "called.txt"))
    monkeypatch.setenv("CLAUDECODE", "1")
    return tmp_path / "called.txt"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A project with a skill."""
    skill = tmp_path / "project" / "skills" / "tables"
    (skill / "evals" / "files").mkdir(parents=True)
    (skill / "evals" / "evals.json").write_text("[]")
    (skill / "evals" / "files" / "sales.csv").write_text("a,b")
    (skill / "SKILL.md").write_text("---\nname: 'table-cleaner'\n---\n")
    return tmp_path / "project"


def recorded(kind: str) -> AgentResponse:
    return profiles()[kind].answer_in((STREAMS / f"{kind}.jsonl").read_bytes())


def test_each_kind_has_a_profile() -> None:
    assert tuple(profiles()) == CODING


def test_a_stream_of_claude_code() -> None:
    assert recorded("claude-code") == AgentResponse(
        response="The table has one row.",
        tool_calls=(
            ToolCall(
                name="Bash",
                success=True,
                params={"command": "head sales.csv", "description": "Look at the file"},
                result="a,b\n1,2",
            ),
            ToolCall(
                name="Skill",
                success=True,
                params={"skill": "table-cleaner", "args": "sales.csv"},
                result="Launching skill: table-cleaner",
            ),
            ToolCall(
                name="Write",
                success=False,
                params={"file_path": "/etc/x", "content": "1"},
                error="Permission to use Write has been denied.",
            ),
        ),
        usage=Usage(input_tokens=2111, output_tokens=58, cost_usd=0.0421),
        model="claude-sonnet-4-5-20250929",
    )


def test_a_stream_of_codex() -> None:
    answer = recorded("codex")
    assert answer.response == "The table has one row."
    assert answer.usage == Usage(input_tokens=24763, output_tokens=122)
    assert [(call.name, call.success) for call in answer.tool_calls] == [
        ("command_execution", True),
        ("Skill", True),
        ("command_execution", False),
        ("search", True),
        ("file_change", True),
    ]
    assert answer.tool_calls[1].params == {"skill": "table-cleaner"}
    assert answer.tool_calls[3].params == {"q": "pandas"}
    assert answer.tool_calls[4].params == {"changes": [{"path": "clean.csv", "kind": "add"}]}


def events(*each: object) -> bytes:
    return b"".join(json.dumps(event).encode() + b"\n" for event in each)


@pytest.mark.parametrize(
    ("kind", "stream", "said"),
    [
        (
            "claude-code",
            events({"type": "result", "subtype": "success", "is_error": True, "result": "Invalid API key"}),
            "Claude Code failed: Invalid API key",
        ),
        (
            "claude-code",
            events({"type": "result", "subtype": "error_max_turns", "is_error": True, "usage": {}}),
            "Claude Code failed: error_max_turns",
        ),
        ("claude-code", b"", "Claude Code ended without an answer"),
        ("claude-code", b"{torn", "Claude Code ended without an answer: {torn"),
        ("claude-code", events([1], 2, {"type": "x"}), 'Claude Code ended without an answer: {"type": "x"}'),
        (
            "codex",
            events(
                {"type": "error", "message": "reconnecting"}, {"type": "turn.failed", "error": {"message": "quota"}}
            ),
            "Codex failed: quota",
        ),
        ("codex", events({"type": "turn.completed", "usage": {"input_tokens": 1, "output_tokens": 0}}), "Codex ended"),
    ],
)
def test_a_stream_without_an_answer(kind: str, stream: bytes, said: str) -> None:
    with pytest.raises(AgentError) as raised:
        profiles()[kind].answer_in(stream)
    assert str(raised.value).startswith(said)


def test_an_error_that_was_overcome_is_none() -> None:
    stream = events(
        {"type": "error", "message": "reconnecting"},
        {"type": "item.completed", "item": {"type": "agent_message", "text": "Done."}},
        {"type": "turn.completed", "usage": {"input_tokens": 1, "output_tokens": 2}},
    )
    assert profiles()["codex"].answer_in(stream) == AgentResponse(
        response="Done.", usage=Usage(input_tokens=1, output_tokens=2)
    )


@pytest.mark.parametrize(
    ("params", "loaded"),
    [
        ({"file_path": "/tmp/x/.claude/skills/a-b/SKILL.md"}, ["a-b"]),
        ({"file_path": "C:\\x\\.claude\\skills\\a\\SKILL.md"}, ["a"]),
        ({"command": "cat .agents/skills/a/SKILL.md .agents/skills/b/SKILL.md"}, ["a", "b"]),
        ({"command": "cat ~/.codex/skills/.system/creator/SKILL.md"}, ["creator"]),
        ({"command": "ls .agents/skills/*/SKILL.md"}, []),
        ({"file_path": "skills.md"}, []),
        ({"file_path": "/x/skills/a/references/SKILL.md.txt"}, []),
    ],
)
def test_a_skill_is_loaded_by_reading_it(params: dict[str, str], loaded: list[str]) -> None:
    call = ToolCall(name="Read", success=True, params=params)
    derived = [each for each in with_skills([call, call]) if each.name == "Skill"]
    assert [each.params["skill"] for each in derived] == loaded
    assert [*with_skills([ToolCall(name="Read", success=False, params=params)])][1:] == []


def test_a_skill_of_a_plugin_goes_by_its_own_name_too() -> None:
    calls = [ToolCall(name="Skill", params={"skill": each}) for each in ("pack:tables", "tables", "other")]
    assert [each.params["skill"] for each in with_skills(calls)] == ["pack:tables", "tables", "tables", "other"]


@pytest.mark.parametrize(
    ("spec", "line", "skills"),
    [
        (
            "claude-code",
            CLAUDE,
            ".claude/skills",
        ),
        (
            "claude-code:--model haiku",
            f"{CLAUDE} --model haiku",
            ".claude/skills",
        ),
        ("codex", "exec --json --skip-git-repo-check --sandbox workspace-write -", ".agents/skills"),
        ("codex:-m o4", "exec --json --skip-git-repo-check --sandbox workspace-write -m o4 -", ".agents/skills"),
    ],
)
def test_a_program_works_in_a_folder_of_its_own(called: Path, root: Path, spec: str, line: str, skills: str) -> None:
    agent = coding_agent(spec, root, None, 1_000_000)
    assert agent.endpoint == spec
    files = {"evals/files/sales.csv": "skills/tables/evals/files/sales.csv"}
    answer = ask(agent, AgentRequest(message="Clean it.\nNow.", files=files, skill="skills/tables"))
    assert (answer.response, answer.took_files) == ("The table has one row.", True)
    first, *message, folder, file, manifest, nested = called.read_text().splitlines()
    kind = spec.partition(":")[0]
    assert (first, message) == (line, ["Clean it.", "Now."])
    assert (file, manifest) == (f"./{skills}/table-cleaner/SKILL.md", "./evals/files/sales.csv")
    assert nested == ("" if kind == "claude-code" else "1")
    assert Path(folder).name.startswith("evalc-")
    assert not Path(folder).exists()


def test_the_skills_of_an_agent_are_configured(called: Path, root: Path) -> None:
    request = AgentRequest(message="Hi", skill="skills/tables")
    for skills, found in (((), 0), ((root / "skills" / "tables",), 1), (None, 1)):
        ask(coding_agent("codex", root, skills, 1_000_000), request)
        assert called.read_text().count("SKILL.md") == found


def test_a_conversation_is_an_error(called: Path, root: Path) -> None:
    agent = coding_agent("codex", root, None, 1_000_000)
    request = AgentRequest(message="Hi", conversation="c", turn=1, messages=({"role": "user", "content": "Hi"},))
    assert str(failure(agent, request)) == "Codex is sent one message, and the case is a conversation"
    assert not called.exists()


def test_a_program_that_fails(called: Path, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STATUS", "3")
    agent = coding_agent("codex", root, None, 1_000_000)
    assert str(failure(agent)) == "the command ended with exit status 3"
    request = AgentRequest(message="Hi", files={"a": "gone.csv"})
    assert str(failure(agent, request)).startswith("the folder of the attempt cannot be made: [Errno 2]")


WRITING = """\
import os, sys
sys.stdin.read()
print('{"response": "Done."}')
for path in ("out/report.md", ".cache/x", "node_modules/y"):
    os.makedirs(os.path.dirname(path))
    open(path, "w").write("# Sales\\n")
open("data.csv", "a").write("c")
open("chart.png", "wb").write(b"\\x89PNG\\xff")
open("long.txt", "w").write("a" * 200_000)
os.symlink(sys.argv[1], "link.txt")
"""


def test_files_that_a_program_writes_are_kept(root: Path, tmp_path: Path) -> None:
    (root / "write.py").write_text(WRITING)
    for name in ("data.csv", "same.csv", "outside.txt"):
        (root / name).write_text("a,b")
    agent = CommandAgent(f"{sys.executable} write.py {tmp_path / 'outside.txt'}", project_root=root)
    answer = ask(agent, AgentRequest(message="Hi", files={"data.csv": "data.csv", "same.csv": "same.csv"}))
    assert answer.written == (
        WrittenFile(path="chart.png", size=5),
        WrittenFile(path="data.csv", size=4, text="a,bc"),
        WrittenFile(path="long.txt", size=200_000),
        WrittenFile(path="out/report.md", size=8, text="# Sales\n"),
    )


def test_an_agent_that_has_no_folder_says_nothing_of_files(called: Path, root: Path) -> None:
    (root / "answer.py").write_text('print(\'{"response": "Done."}\')')
    assert ask(CommandAgent(f"{sys.executable} answer.py", project_root=root)).written is None
    assert ask(coding_agent("codex", root, None, 1_000_000)).written == ()


@pytest.mark.parametrize("name", ["../a.csv", "linked/out/a.csv"])
def test_no_file_is_copied_out_of_the_folder_of_an_attempt(called: Path, root: Path, tmp_path: Path, name: str) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (root / "linked").mkdir()
    (root / "linked" / "out").symlink_to(outside)
    (root / "a.csv").write_text("a")
    request = AgentRequest(message="Hi", files={"linked": "linked", name: "a.csv"})
    said = failure(coding_agent("codex", root, None, 1_000_000), request)
    assert str(said) == f"`{name}` would lie outside of the folder of the attempt"
    assert (called.exists(), [*outside.iterdir()]) == (False, [])


def test_a_program_that_is_not_installed(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(root))
    with pytest.raises(UsageError, match=r"^Codex is not installed: there is no program `codex`$"):
        coding_agent("codex", root, None, 1_000_000)


def test_the_paths_of_profiles_are_all_used() -> None:
    known = {"response", "failure", "tool_calls", "results", "model", "input_tokens", "output_tokens", "cost_usd"}
    for profile in profiles().values():
        assert isinstance(profile, Profile)
        assert {"response", "failure", "tool_calls"} <= profile.answer.keys() <= known
