"""A project with a bit of everything that names something."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.extras.lsp.editor import Editor

FILES = {
    "evalc.toml": 'tools = "tools.json"\nseed_manifest = "seed.json"\n',
    "seed.json": '{\n  "cities": [\n    {"name": "Paris"}\n  ]\n}\n',
    "tools.json": """[{
  "name": "get_weather", "description": "The weather of a city.",
  "parameters": {"type": "object", "required": ["city"],
    "properties": {"city": {"type": "string", "description": "Its name."}, "days": {"type": "integer"}}}
}]
""",
    "shared/rules.eval.yaml": """rules:
  polite:
    - not contains "stupid" for tone
""",
    "prompts/greet.prompt.yaml": """id: greet-v1
prompt: Greet {{name}}.
inputs:
  - {name: name, required: true}
""",
    "weather.eval.yaml": """suite: weather
tool: get_weather
include: [shared/rules.eval.yaml]
rules:
  short:
    - length <= 200 chars
eval:
  criteria:
    - {name: right, description: Says what is so., weight: 0.75}
    - "tone (0.25): Stays kind."
  test_cases:
    - name: paris
      description: One city
      message: What is the weather in Paris?
      validate:
        - contains "{{seed:cities[0].name}}" for right
        - tools called [get_weather]
        - use: polite
        - use: short
    - name: nowhere
      message: What is the weather?
      validate:
        - type: not_contains
          rule: Paris
          criterion: right
""",
    "greet.eval.yaml": """suite: greet
prompt_id: greet-v1
eval:
  criteria:
    - "tone (1): Stays kind."
  test_cases:
    - name: ann
      inputs: {name: Ann}
      validate:
        - contains "Ann" for tone
""",
}


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Editor]:
    """A client whose server stays for all tests of a module, since a start takes longer than a test."""
    with Editor(tmp_path_factory.mktemp("project")) as editor:
        yield editor


@pytest.fixture
def root(session: Editor) -> Path:
    """The folder of the project, with the same files for each test."""
    shutil.rmtree(session.root)
    write_project(session.root)
    return session.root


@pytest.fixture
def editor(session: Editor, root: Path) -> Iterator[Editor]:
    """A client with the project as its workspace, and nothing open."""
    yield session
    session.close_all()


def write_project(root: Path) -> None:
    """Write the files of the project."""
    for name, text in FILES.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
