"""Settings from files and flags, and problems at their places."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from evalc.base.errors import UsageError
from evalc.config.load import Override, load_settings
from evalc.diagnostics.render_text import render_text


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / ".git").mkdir()
    return tmp_path


def problems_of(folder: Path, text: str, name: str = "evalc.toml") -> list[str]:
    """The problems of a configuration, one per line."""
    (folder / name).write_bytes(text.encode())
    return [str(problem) for problem in load_settings(folder).problems]


def test_without_a_configuration_every_default_holds(folder: Path) -> None:
    loaded, problems = load_settings(folder)
    assert problems == ()
    assert (loaded.root, loaded.file) == (folder, None)
    assert (loaded.agent_endpoints, loaded.concurrency, loaded.timeout_ms, loaded.agent.retries) == ((), 1, 60_000, 2)
    assert loaded.results_folder == folder / "evals" / "results"
    assert loaded.seed_manifest is None
    assert (loaded.snapshot_source, loaded.paths, loaded.strict, loaded.all_assertions) == (None, (), False, False)


def test_the_conventional_seed_manifest_is_taken_where_it_exists(folder: Path) -> None:
    (folder / "evals").mkdir()
    (folder / "evals" / "seed-manifest.json").write_text("{}")
    assert load_settings(folder).settings.seed_manifest == folder / "evals" / "seed-manifest.json"


def test_the_contracts_own_example(folder: Path) -> None:
    text = """{
      "agentEndpoint": "http://localhost:3000/chat",
      "seedManifestPath": "evals/seed-manifest.json",
      "snapshotEnabled": false,
      "outputDir": "evals/results/",
      "baselineRunId": null,
      "concurrency": 1,
      "timeoutMs": 60000,
      "toolRegistryPath": "tools/tools.exports.ts"
    }"""
    assert problems_of(folder, text, "evalc.config.json") == []
    loaded = load_settings(folder).settings
    assert loaded.agent_endpoints == ("http://localhost:3000/chat",)
    assert loaded.seed_manifest == folder / "evals/seed-manifest.json"
    assert loaded.results_folder == folder / "evals/results"
    assert loaded.tool_registry_path == folder / "tools/tools.exports.ts"
    assert loaded.baseline_run_id is None
    assert loaded.snapshot_source is None


def test_evalcs_own_keys(folder: Path) -> None:
    text = """
        secrets = ["API_KEY"]
        snapshotSource = "snap.json"
        paths = ["evals", "more/*.yaml"]
        exclude = ["old/**"]
        prompts = "prompts"
        strict = true
        allAssertions = true
        [agent]
        retries = 0
        headers = { Authorization = "Bearer ${API_KEY}" }
    """
    assert problems_of(folder, text) == []
    loaded = load_settings(folder).settings
    assert loaded.secrets == ("API_KEY",)
    assert loaded.snapshot_source == str(folder / "snap.json")
    assert loaded.paths == ("evals", "more/*.yaml")
    assert loaded.exclude == ("old/**",)
    assert loaded.prompts == folder / "prompts"
    assert loaded.strict
    assert loaded.all_assertions
    assert loaded.agent.retries == 0
    assert loaded.agent.headers == (("Authorization", "Bearer ${API_KEY}"),)
    assert "Bearer" not in repr(loaded)


def test_relative_paths_start_at_the_files_folder(folder: Path) -> None:
    (folder / "a" / "b").mkdir(parents=True)
    (folder / "evalc.toml").write_text('paths = ["evals"]\nprompts = "p"\noutputDir = "out"\n')
    loaded = load_settings(folder / "a" / "b").settings
    assert loaded.root == folder
    assert loaded.paths == ("../../evals",)
    assert loaded.prompts == folder / "p"
    assert loaded.results_folder == folder / "out"


def test_pyproject(folder: Path) -> None:
    assert problems_of(folder, "[tool.other]\nx = 1\n[tool.evalc]\nconcurrency = 3\n", "pyproject.toml") == []
    assert load_settings(folder).settings.concurrency == 3
    assert problems_of(folder, "[tool.evalc.agent]\nretrys = 1\n", "pyproject.toml") == [
        "pyproject.toml:2:1: error[EV621]: `retrys` is not a key of `agent`"
    ]


def test_every_problem_is_found_at_its_place(folder: Path) -> None:
    text = (
        "concurency = 4\n"
        'timeoutMs = "60"\n'
        'paths = ["a",\n  3]\n'
        "agent.retries = -1\n"
        "snapshotEnabled = true\n"
        'secrets = ["not a name"]\n'
        "[agnet]\n"
        "[agent.headers]\n"
        '"X A" = "b"\n'
        "X-B = 1\n"
        'X-C = "${"\n'
    )
    assert problems_of(folder, text) == [
        "evalc.toml:1:1: error[EV621]: `concurency` is not a key of the configuration",
        "evalc.toml:2:13: error[EV623]: `timeoutMs` must be a time with its unit, such as `30s`, `500ms` or `2m`",
        "evalc.toml:4:3: error[EV622]: an item of `paths` must be a text, not a number",
        "evalc.toml:5:17: error[EV623]: `retries` must be between 0 and 10",
        "evalc.toml:6:1: error[EV625]: `snapshotEnabled` is true and there is no `snapshotSource`",
        "evalc.toml:7:12: error[EV623]: an item of `secrets` must be the name of an environment variable",
        "evalc.toml:8:2: error[EV621]: `agnet` is not a key of the configuration",
        "evalc.toml:10:9: error[EV623]: `X A` must be a header, whose name has letters, digits and dashes",
        "evalc.toml:11:7: error[EV622]: `X-B` must be a text, not a number",
        "evalc.toml:12:7: error[EV623]: `X-C` must be a text in which every `${` begins a variable, such as `${A_KEY}`",
    ]


def test_a_value_with_a_problem_leaves_its_default(folder: Path) -> None:
    (folder / "evalc.toml").write_text("concurrency = 0\ntimeoutMs = 5\n")
    assert load_settings(folder).settings.concurrency == 1
    assert load_settings(folder).settings.timeout_ms == 5


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("concurrency = true", "`concurrency` must be a whole number, not true"),
        ("concurrency = 1.5", "`concurrency` must be a whole number, not a number with a fraction"),
        ("concurrency = 10001", "`concurrency` must be between 1 and 10000"),
        ("timeoutMs = 0", "`timeoutMs` must be above 0"),
        ("timeoutMs = -5", "`timeoutMs` must be above 0"),
        ("timeoutMs = inf", "`timeoutMs` must be above 0"),
        ("timeoutMs = nan", "`timeoutMs` must be above 0"),
        ("agentEndpoint = ' '", "`agentEndpoint` must be a text that is not empty"),
        ("agentEndpoint = []", "`agentEndpoint` must be a text, or a list of at least one"),
        ("outputDir = 2026-01-01", "`outputDir` must be a text, not a date or time"),
        ('outputDir = "a\\u0000b"', "`outputDir` must be a path, which has no NUL character"),
        ("strict = 'yes'", "`strict` must be true or false, not a text"),
        ("exclude = 'a'", "`exclude` must be a list of texts, not a text"),
        ("agent = 1", "`agent` must be a table, not a number"),
        ("agent.headers = []", "`headers` must be a table of headers, not a list"),
        ('agent.headers.A = "a\\r\\nB: c"', "`A` must be a text without line ends and other control characters"),
    ],
)
def test_values_that_a_key_does_not_take(folder: Path, line: str, message: str) -> None:
    (found,) = problems_of(folder, f"{line}\n")
    assert found.partition("]: ")[2] == message


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        (
            "evalc.toml",
            "a = 1\nconcurrency 4\n",
            "evalc.toml:2:13: error[EV620]: this is not valid TOML: a `=` is expected after the key",
        ),
        (
            "evalc.toml",
            "a = [1,\r\n\r\n",
            "evalc.toml:1:8: error[EV620]: this is not valid TOML: a value is expected here",
        ),
        ("evalc.toml", "x = " + "9" * 5000, "evalc.toml:1:1: error[EV620]: this is not valid TOML: a number has too"),
        ("evalc.toml", "x = " + "[" * 5000, "evalc.toml:1:1: error[EV620]: this is not valid TOML: it is nested too"),
        (
            "evalc.config.json",
            '{"a": 1,}',
            "evalc.config.json:1:8: error[EV620]: this is not valid JSON: a comma is not allowed after the last item",
        ),
        ("evalc.config.json", "[" * 100_000, "evalc.config.json:1:1: error[EV620]: this is not valid JSON: it is nest"),
        (
            "evalc.config.json",
            '{"timeoutMs": NaN}',
            "evalc.config.json:1:15: error[EV620]: this is not valid JSON: NaN",
        ),
        ("evalc.config.json", "", "evalc.config.json:1:1: error[EV620]: this is not valid JSON: the text is empty"),
        (
            "evalc.config.json",
            "[1]",
            "evalc.config.json:1:1: error[EV622]: the configuration must be a table, not a li",
        ),
    ],
)
def test_texts_that_are_no_configuration(folder: Path, name: str, text: str, message: str) -> None:
    (found,) = problems_of(folder, text, name)
    assert found.startswith(message)


def test_bytes_that_are_not_utf8(folder: Path) -> None:
    (folder / "evalc.toml").write_bytes(b'agentEndpoint = "\xff"\n')
    (problem,) = load_settings(folder).problems
    assert (problem.code, problem.start) == ("EV605", (1, 18))


def test_a_byte_order_mark_and_crlf_change_no_place(folder: Path) -> None:
    assert problems_of(folder, "\ufeffstrict = true\r\nconcurrency = 0\r\n") == [
        "evalc.toml:2:15: error[EV623]: `concurrency` must be between 1 and 10000"
    ]


SECRET = "sk-planted-secret"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("evalc.toml", f'agent.headers = {{ "A B" = "{SECRET}", C = "{SECRET} ${{" }}\n'),
        ("evalc.toml", f'[agent.haeders]\nAuthorization = "{SECRET}"\n[agent]\nheaders.A = """{SECRET}${{"""\n'),
        ("evalc.toml", f'apiKey = "{SECRET}"\n'),
        ("evalc.toml", f'secrets = ["{SECRET}", {{ x = "{SECRET}" }}]\n'),
        ("evalc.toml", f'agent = {{ headers = {{ A = "{SECRET}" }}\n'),
        ("evalc.toml", f'agent.headers.A = "{SECRET}\n'),
        ("evalc.toml", f'agent.headers.A = "{SECRET}" x\n'),
        ("evalc.config.json", f'{{"agent": {{"headers": {{"A B": "{SECRET}", "C": ["{SECRET}"]}}}}}}'),
        ("evalc.config.json", f'{{"agent": {{"headers": {{"A": "{SECRET}", }}}}}}'),
        ("evalc.config.json", f'{{"apiKey": "{SECRET}"}}'),
        ("evalc.config.json", f'["{SECRET}"]'),
    ],
)
def test_a_secret_in_the_file_is_not_shown(folder: Path, name: str, text: str) -> None:
    (folder / name).write_text(text)
    problems = load_settings(folder).problems
    assert problems
    assert SECRET not in render_text(problems)


def test_a_harmless_value_is_shown(folder: Path) -> None:
    (folder / "evalc.toml").write_text('timeoutMs = "60 seconds"\n')
    assert 'timeoutMs = "60 seconds"' in render_text(load_settings(folder).problems)


def test_an_explicit_file_replaces_the_nearest(folder: Path) -> None:
    (folder / "evalc.toml").write_text("concurrency = 2\n")
    (folder / "ci").mkdir()
    (folder / "ci" / "ci.json").write_text('{"concurrency": 8, "prompts": "p"}')
    loaded = load_settings(folder, Path("ci/ci.json")).settings
    assert (loaded.root, loaded.concurrency, loaded.prompts) == (folder, 8, folder / "ci" / "p")


def test_an_explicit_file_must_be_there(folder: Path) -> None:
    (problem,) = load_settings(folder, Path("nope.toml")).problems
    assert str(problem) == "nope.toml:1:1: error[EV600]: there is no file `nope.toml`"


def test_overrides_win_and_start_from_the_working_folder(folder: Path) -> None:
    (folder / "a").mkdir()
    (folder / "evalc.toml").write_text('concurrency = 2\nprompts = "p"\nsnapshotEnabled = false\n')
    overrides = [
        Override("concurrency", 5, "--concurrency"),
        Override("prompts", "q", "--prompts"),
        Override("snapshotSource", "https://host/snapshot", "--snapshot"),
    ]
    loaded = load_settings(folder / "a", overrides=overrides).settings
    assert (loaded.concurrency, loaded.prompts) == (5, folder / "a" / "q")
    assert loaded.snapshot_source == "https://host/snapshot"


def test_a_caller_may_give_a_path(folder: Path) -> None:
    overrides = [Override("outputDir", Path("out"), "output_dir")]
    assert load_settings(folder, overrides=overrides).settings.results_folder == folder / "out"


def test_null_is_unset_and_no_item(folder: Path) -> None:
    assert problems_of(folder, '{"concurrency": null, "agent": null, "paths": [null]}', "evalc.config.json") == [
        "evalc.config.json:1:48: error[EV622]: an item of `paths` must be a text, not null"
    ]


def test_a_configured_snapshot_can_be_switched_off(folder: Path) -> None:
    (folder / "evalc.toml").write_text('snapshotSource = "s.json"\nsnapshotEnabled = false\n')
    assert load_settings(folder).settings.snapshot_source is None


def test_an_override_that_its_key_does_not_take_is_named_as_it_was_said(folder: Path) -> None:
    with pytest.raises(UsageError, match=r"^`--concurrency` must be between 1 and 10000$"):
        load_settings(folder, overrides=[Override("concurrency", 0, "--concurrency")])


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.binary(max_size=60) | st.text("[]{}\"'=:,.\n agentheaders1", max_size=60).map(str.encode))
def test_no_bytes_break_it(folder: Path, data: bytes) -> None:
    for name in ("evalc.toml", "evalc.config.json"):
        (folder / name).write_bytes(data)
        loaded = load_settings(folder, Path(name))
        assert loaded.settings.root == folder
        render_text(loaded.problems)


def test_problems_are_reported_by_policy(folder: Path) -> None:
    text = """
        select = ["EV5", "ev203"]
        ignore = ["EV504"]
        [severity]
        EV5 = "error"
        EV305 = "off"
        [perFileIgnores]
        "evals/legacy/**" = ["EV5"]
    """
    assert problems_of(folder, text) == []
    loaded = load_settings(folder).settings
    assert (loaded.select, loaded.ignore) == (("EV5", "EV203"), ("EV504",))
    assert loaded.severity == (("EV5", "error"), ("EV305", "off"))
    assert loaded.per_file_ignores == (("evals/legacy/**", ("EV5",)),)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('select = "EV5"', "1:10: error[EV622]: `select` must be a list of codes, not a text"),
        (
            'select = ["EV5", "EV5O1"]',
            "1:18: error[EV623]: an item of `select` must be a code or the beginning of some: ",
        ),
        ('ignore = ["EV103"]', "1:11: error[EV623]: an item of `ignore` must be a code that can be ignored: `EV103` "),
        ('severity = "error"', "1:12: error[EV622]: `severity` must be a table of codes, not a text"),
        ('severity.EV501 = "fatal"', "1:18: error[EV623]: `EV501` must be `error`, `warning` or `off`"),
        ("severity.EV501 = []", "1:18: error[EV623]: `EV501` must be `error`, `warning` or `off`"),
        ('[severity]\nEV1 = "off"', "2:7: error[EV623]: `EV1` must be a code that can be ignored: "),
        ('perFileIgnores = ["a"]', "1:18: error[EV622]: `perFileIgnores` must be a table of patterns, not a list"),
        ('perFileIgnores = {"a" = ["EV9"]}', "1:26: error[EV623]: an item of `a` must be a code or the beginning of"),
        ('perFileIgnores = {"!" = ["EV5"]}', "1:25: error[EV623]: `!` must be under a pattern as in a `.gitignore`"),
    ],
)
def test_codes_of_a_configuration(folder: Path, text: str, problem: str) -> None:
    (found,) = problems_of(folder, text)
    assert "evalc.toml:" + problem in found
