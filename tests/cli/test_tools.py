"""`--tools`: the registry for `check`, `compile` and `run`, in every form that it has."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Invoke

BARREL = "export {{ t }} from './weather.tool';\nexport const other = {{ name: 'other', description: '' }};\n"
TOOL = "export const t = {{ name: 'weather', description: '{description}', version: '{version}' }};\n"
JSON = '[{{"name": "weather", "description": "{description}", "version": "{version}"}}, {{"name": "other"}}]'
CHAT = (
    '[{{"type": "function", "function": {{"name": "weather", "description": "{description}"}}}}, {{"name": "other"}}]'
)
MCP = '{{"result": {{"tools": [{{"name": "weather", "description": "{description}"}}, {{"name": "other"}}]}}}}'


def write(project: Path, form: str, description: str, version: str) -> str:
    texts = {"tools.ts": BARREL, "weather.tool.ts": TOOL} if form == "barrel" else {"tools.json": FORMS[form]}
    for name, text in texts.items():
        (project / name).write_text(text.format(description=description, version=version))
    return next(iter(texts))


FORMS = {"json": JSON, "chat": CHAT, "mcp": MCP}
SUITE = """\
suite: weather
eval:
  test_cases:
    - {name: paris, message: What is the weather in Paris?, validate: [non-empty]}
"""


@pytest.mark.parametrize("form", ["barrel", *FORMS])
def test_a_compiled_file_is_stale_when_its_tool_has_changed(form: str, project: Path, invoke: Invoke) -> None:
    (project / "evals" / "weather.eval.yaml").write_text(SUITE)
    tools = write(project, form, "The weather", "1.0.0")
    assert invoke("compile", "evals", "-o", "build", "--tools", tools).code == 0
    metadata = json.loads((project / "build" / "weather.labeled.json").read_bytes())["metadata"]
    assert metadata["registrySize"] == 2
    fresh = invoke("run", "build/weather.labeled.json", "--agent", "demo", "--tools", tools)
    assert (fresh.code, "generated against" in fresh.out) == (0, False)
    write(project, form, "Another", "2.0.0")
    stale = invoke("run", "build/weather.labeled.json", "--agent", "demo", "--tools", tools, "--json")
    (suite,) = json.loads(stale.out)["suites"]
    assert suite["stale"] is True
    assert suite["stalenessWarnings"][0].startswith(
        f"Evals for weather generated against description hash {metadata['descriptionHash']}, current is "
    )
    assert any("is version 2.0.0" in warning for warning in suite["stalenessWarnings"]) is (form in {"barrel", "json"})


def test_check_finds_unknown_tools(project: Path, invoke: Invoke) -> None:
    tools = write(project, "barrel", "", "")
    found = invoke("check", "evals", "--tools", tools)
    assert found.code == 2
    assert "error[EV230]: `get_weather` is not a tool of the registry" in found.out
    assert invoke("check", "evals").code == 0


def test_a_configured_registry_that_is_absent_is_a_warning(project: Path, invoke: Invoke) -> None:
    (project / "evalc.toml").write_text('tools = "tools/tools.exports.ts"\n')
    found = invoke("check", "evals")
    assert found.code == 0
    assert "warning[EV665]" in found.out
    assert invoke("check", "evals", "--tools", "gone.json").code == 2
