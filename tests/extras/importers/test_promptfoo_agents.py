"""The providers and the grader of a promptfoo configuration become lines for evalc's."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

from evalc.base.source import Source
from evalc.config.load import settings_with
from evalc.diagnostics import Diagnostics
from evalc.extras.importers.imported import IN_CONFIGURATION
from evalc.extras.importers.promptfoo import import_promptfoo

TESTS = "prompts: ['{{a}}']\ntests: [{vars: {a: b}, assert: [{type: is-json}]}]\n"


def lines_of(config: str) -> tuple[list[str], list[str]]:
    """The lines for `evalc.toml`, and what is not imported."""
    problems = Diagnostics()
    suite = import_promptfoo(Source("promptfooconfig.yaml", dedent(config) + TESTS), Path(), problems)
    assert suite is not None
    begin = "# for evalc.toml: "
    lines = [line.removeprefix(begin) for line in suite.text.splitlines() if line.startswith(begin)]
    return lines, [problem.finding.message() for problem in problems]


def test_models_are_agents(tmp_path: Path) -> None:
    lines, problems = lines_of("""\
        providers:
          - openai:gpt-4o
          - anthropic:messages:claude-x
          - {id: openai:responses:gpt-x, label: "Kleines Modell", config: {temperature: 0, max_output_tokens: 9}}
          - xai:grok-x: {config: {apiBaseUrl: "http://x/v1", tools: [y], apiKey: "secret"}}
          - bedrock:z
          - file://p.py
        defaultTest: {options: {provider: {id: openai:chat:judge-x, config: {temperature: 0.5}}}}
        """)
    assert lines == [
        'agents.kleines-modell = { use = "openai:gpt-x", api = "responses", temperature = 0, max_tokens = 9 }',
        'agents.grok-x = { use = "openai:grok-x", base_url = "http://x/v1", key_variable = "XAI_API_KEY" }',
        'agent = ["openai:gpt-4o", "anthropic:claude-x", "kleines-modell", "grok-x"]',
        'judge = { use = "openai:judge-x", temperature = 0.5 }',
    ]
    why = IN_CONFIGURATION
    assert problems == [
        f"not imported: the providers `bedrock:z`, `file://p.py`: {why}",
        "not imported: `tools`, `apiKey` of the provider `xai:grok-x`: no setting says the same",
    ]
    config = tmp_path / "evalc.toml"
    config.write_text("\n".join(lines))
    settings = settings_with(str(config), {}).sound()
    assert settings.agent.use == ("openai:gpt-4o", "anthropic:claude-x", "kleines-modell", "grok-x")
    assert (settings.judge.use, settings.judge.temperature) == (("openai:judge-x",), 0.5)


def test_one_model_and_a_grader_of_another_kind() -> None:
    lines, problems = lines_of("""\
        targets: openai:gpt-4o
        defaultTest: {options: {provider: {embedding: openai:embedding:x}}}
        """)
    assert lines == ['agent = "openai:gpt-4o"']
    assert problems == [f"not imported: `provider`: {IN_CONFIGURATION}"]
