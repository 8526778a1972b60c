"""Settings from files, flags and the environment, under each of their names, and problems at their places."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from evalc.base.errors import UsageError
from evalc.config import ALL_KEYS, Settings, shape
from evalc.config.http import expanded
from evalc.config.load import Override, load_settings
from evalc.config.tables import AgentTable
from evalc.diagnostics.render import render_text
from evalc.dsl.kinds import Shape
from evalc.runtime.mapping import JsonPath, Values


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / ".git").mkdir()
    return tmp_path


def load(folder: Path, text: str, name: str = "evalc.toml") -> Settings:
    """The settings of a configuration without problems."""
    (folder / name).write_text(text, encoding="utf-8")
    return load_settings(folder).sound()


def problems_of(folder: Path, text: str, name: str = "evalc.toml") -> list[str]:
    """The problems of a configuration, one per line."""
    (folder / name).write_bytes(text.encode())
    return [str(problem) for problem in load_settings(folder).problems]


# --- names -----------------------------------------------------------------------------------------------------------

PLAIN = """
    agent = ["python:a:b", "demo"]
    judge = "openai:m"
    seed_manifest = "s.json"
    output_dir = "out"
    baseline = "latest"
    timeout = "1.5s"
    tools = "t.json"
    snapshot = "s.json"
    max_p95 = "2m"
"""
IN_TABLES = """
    seed_manifest = "s.json"
    output_dir = "out"
    baseline = "latest"
    timeout = "1500ms"
    tools = "t.json"
    snapshot = "s.json"
    max_p95 = "120s"
    [agent]
    use = ["python:a:b", "demo"]
    [judge]
    use = ["openai:m"]
"""
OF_THE_CONTRACT = """
    agentEndpoint = ["python:a:b", "demo"]
    judges = [" openai:m "]
    seedManifestPath = "s.json"
    outputDir = "out"
    baselineRunId = "latest"
    timeoutMs = 1500
    toolRegistryPath = "t.json"
    snapshotSource = "s.json"
    maxP95Ms = 120_000
"""


@pytest.mark.parametrize("text", [PLAIN, IN_TABLES, OF_THE_CONTRACT])
def test_each_name_of_a_setting_is_read(folder: Path, text: str) -> None:
    found = load(folder, text)
    assert (found.agent.use, found.judge.use) == (("python:a:b", "demo"), ("openai:m",))
    assert (found.seed_manifest, found.results_folder, found.tools) == (
        folder / "s.json",
        folder / "out",
        folder / "t.json",
    )
    assert (found.baseline, found.snapshot) == ("latest", str(folder / "s.json"))
    assert (found.timeout_ms, found.max_p95_ms) == (1500, 120_000)
    assert found.configured == {
        *("agent.use", "judge.use", "seed_manifest", "output_dir", "baseline"),
        *("timeout", "tools", "snapshot", "max_p95"),
    }


def test_every_key_has_one_name_and_every_other_spelling_is_of_one_setting() -> None:
    tables = {name: key.holds for name, key in shape().keys.items() if isinstance(key.holds, Shape)}
    into = {key.into for each in (shape(), *tables.values()) for key in each.keys.values() if key.into}
    assert into == set(ALL_KEYS)
    assert all(name.islower() or key.sentence.startswith("As `") for name, key in shape().keys.items())


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('timeout = "3s"\ntimeoutMs = 3', "2:1: error[EV684]: `timeoutMs` and `timeout` are two names of one setting"),
        ('judges = "a"\njudge = "b"', "2:1: error[EV684]: `judge` and `judges` are two names of one setting"),
        ('agentEndpoint = "a"\n[agent]\nuse = "b"', "3:1: error[EV684]: `agent.use` and `agentEndpoint` are two"),
        ("maxCost = 1\nmax_cost = 1", "2:1: error[EV684]: `max_cost` and `maxCost` are two names of one setting"),
        ('[judge]\ntimeoutMs = 3\ntimeout = "3s"', "3:1: error[EV684]: `judge.timeout` and `timeoutMs` are two names"),
        (
            'agent.response = {tool_calls = "a", toolCalls = "b"}',
            "1:37: error[EV684]: `toolCalls` and `agent.response.tool_calls` are two names of one setting",
        ),
        (
            'agent = "demo"\n[agent]\nretries = 0',
            "error[EV620]: this is not valid TOML: this key is set already; in the table it is called `use`",
        ),
    ],
)
def test_two_names_of_a_setting_are_an_error(folder: Path, text: str, problem: str) -> None:
    (found,) = problems_of(folder, text)
    assert problem in found


# --- where settings come from ----------------------------------------------------------------------------------------


def test_without_a_configuration_every_default_holds(folder: Path) -> None:
    loaded, problems = load_settings(folder)
    assert problems == ()
    assert (loaded.root, loaded.file) == (folder, None)
    assert (loaded.agent.use, loaded.concurrency, loaded.timeout_ms, loaded.agent.retries) == ((), 1, 60_000, 2)
    assert loaded.results_folder == folder / "evals" / "results"
    assert loaded.seed_file is None
    assert (loaded.snapshot, loaded.paths, loaded.strict, loaded.all_assertions) == (None, (), False, False)


def test_the_conventional_seed_manifest_is_taken_where_it_exists(folder: Path) -> None:
    (folder / "evals").mkdir()
    (folder / "evals" / "seed-manifest.json").write_text("{}")
    assert load_settings(folder).settings.seed_file == folder / "evals" / "seed-manifest.json"


def test_relative_paths_start_at_the_files_folder(folder: Path) -> None:
    (folder / "a" / "b").mkdir(parents=True)
    (folder / "evalc.toml").write_text('paths = ["evals"]\nprompts = "p"\noutput_dir = "out"\n')
    loaded = load_settings(folder / "a" / "b").settings
    assert (loaded.root, loaded.paths) == (folder, ("../../evals",))
    assert (loaded.prompts, loaded.results_folder) == (folder / "p", folder / "out")


def test_pyproject(folder: Path) -> None:
    assert load(folder, "[tool.other]\nx = 1\n[tool.evalc]\nconcurrency = 3\n", "pyproject.toml").concurrency == 3
    assert problems_of(folder, "[tool.evalc.agent]\nretrys = 1\n", "pyproject.toml") == [
        "pyproject.toml:2:1: error[EV621]: `retrys` is not a key of `agent`"
    ]


def test_an_explicit_file_replaces_the_nearest(folder: Path) -> None:
    (folder / "evalc.toml").write_text("concurrency = 2\n")
    (folder / "ci").mkdir()
    (folder / "ci" / "ci.json").write_text('{"concurrency": 8, "prompts": "p"}')
    loaded = load_settings(folder, Path("ci/ci.json")).settings
    assert (loaded.root, loaded.concurrency, loaded.prompts) == (folder, 8, folder / "ci" / "p")
    (problem,) = load_settings(folder, Path("nope.toml")).problems
    assert str(problem) == "nope.toml:1:1: error[EV600]: there is no file `nope.toml`"


def test_overrides_win_and_start_from_the_working_folder(folder: Path) -> None:
    (folder / "a").mkdir()
    (folder / "evalc.toml").write_text('concurrency = 2\nprompts = "p"\nsnapshot_enabled = false\n')
    overrides = [
        Override("concurrency", 5, "--concurrency"),
        Override("prompts", Path("q"), "--prompts"),
        Override("snapshotSource", "https://host/snapshot", "--snapshot"),
        Override("agent.use", ("demo", "local"), "--agent"),
    ]
    loaded = load_settings(folder / "a", overrides=overrides).settings
    assert (loaded.concurrency, loaded.prompts, loaded.agent.use) == (5, folder / "a" / "q", ("demo", "local"))
    assert loaded.snapshot == "https://host/snapshot"
    assert loaded.given == {"concurrency", "prompts", "snapshot", "agent.use"}
    assert loaded.configured == {"snapshot_enabled"}


@pytest.mark.parametrize(
    ("override", "message"),
    [
        (Override("concurrency", 0, "--concurrency"), "`--concurrency` must be between 1 and 10000"),
        (Override("agent.use", [None], "--agent"), "an item of `--agent` must be a text, not null"),
        (
            Override("timeout", "30", "--timeout"),
            "`--timeout` must be a time with its unit, such as `30s`, `500ms` or `2m`",
        ),
    ],
)
def test_an_override_that_its_key_does_not_take_is_named_as_it_was_said(
    folder: Path, override: Override, message: str
) -> None:
    with pytest.raises(UsageError) as caught:
        load_settings(folder, overrides=[override])
    assert str(caught.value) == message


def test_null_is_unset_and_no_item(folder: Path) -> None:
    assert problems_of(folder, '{"concurrency": null, "agent": null, "paths": [null]}', "evalc.config.json") == [
        "evalc.config.json:1:48: error[EV622]: an item of `paths` must be a text, not null"
    ]


def test_a_configured_snapshot_can_be_switched_off(folder: Path) -> None:
    assert load(folder, 'snapshot = "s.json"\nsnapshot_enabled = false\n').snapshot is None


# --- values ----------------------------------------------------------------------------------------------------------


def test_everything_at_once(folder: Path) -> None:
    found = load(
        folder,
        """
        secrets = ["API_KEY"]
        paths = ["evals", "more/*.yaml"]
        exclude = ["old/**"]
        concurrency = "auto"
        rpm = 90
        select = ["EV5", "ev203"]
        [severity]
        EV5 = "error"
        [per_file_ignores]
        "evals/legacy/**" = ["EV5"]
        [agent]
        headers = { Authorization = "Bearer ${API_KEY}" }
        method = "PUT"
        body = { q = "{{message}}", n = [1, true] }
        accepted_statuses = [202]
        verify_tls = false
        ca_file = "/etc/ca.pem"
        connect_timeout = "500ms"
        [agent.response]
        response = "out.text"
        tool_calls = "calls || `[]`"
        [agent.stream]
        text = "delta"
        done = "last"
        [openai]
        base_url = "http://localhost:1"
        [judge]
        cache = false
        timeout = "1s"
        """,
    )
    assert (found.secrets, found.paths, found.exclude) == (("API_KEY",), ("evals", "more/*.yaml"), ("old/**",))
    assert (found.concurrency, found.rpm, found.select) == ("auto", 90, ("EV5", "EV203"))
    assert (found.severity, found.per_file_ignores) == ((("EV5", "error"),), (("evals/legacy/**", ("EV5",)),))
    agent = found.agent
    assert (agent.method, agent.accepted_statuses, agent.verify_tls) == ("PUT", (202,), False)
    assert (agent.ca_file, agent.connect_timeout_ms) == (Path("/etc/ca.pem"), 500)
    assert (agent.response.response, agent.response.name) == (JsonPath.of("out.text"), None)
    assert agent.stream is not None
    assert agent.body is not None
    assert agent.body.fill(Values(message="Hi", messages=(), case_id="", inputs={})) == {"q": "Hi", "n": [1, True]}
    assert found.providers["openai"].base_url == "http://localhost:1"
    assert (found.judge.cache, found.judge.timeout_ms) == (False, 1000)
    assert "Bearer" not in repr(found)


def test_a_body_may_be_a_text_of_json(folder: Path) -> None:
    body = load(folder, """agent.body = '''{"q": ["{{id}}"], "none": null}'''""").agent.body
    assert body is not None
    assert body.fill(Values(message="", messages=(), case_id="c", inputs={})) == {"q": ["c"], "none": None}


def test_every_problem_is_found_at_its_place(folder: Path) -> None:
    text = (
        "concurency = 4\n"
        'timeoutMs = "60 s"\n'
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
        "evalc.toml:2:13: error[EV622]: `timeoutMs` must be a number of milliseconds, not a text",
        "evalc.toml:4:3: error[EV622]: an item of `paths` must be a text, not a number",
        "evalc.toml:5:17: error[EV623]: `retries` must be between 0 and 10",
        "evalc.toml:6:1: error[EV625]: `snapshotEnabled` is true and there is no `snapshot`",
        "evalc.toml:7:12: error[EV623]: an item of `secrets` must be the name of an environment variable",
        "evalc.toml:8:2: error[EV621]: `agnet` is not a key of the configuration",
        "evalc.toml:10:9: error[EV623]: `X A` must be a header, whose name has letters, digits and dashes",
        "evalc.toml:11:7: error[EV622]: `X-B` must be a text, not a number",
        "evalc.toml:12:7: error[EV623]: `X-C` must be a text in which every `${` begins a variable, such as `${A_KEY}`",
    ]


@pytest.mark.parametrize(
    ("text", "advice"),
    [
        ("retries = 3", "`retries` belongs in the table `agent`"),
        ("temperature = 0", "`temperature` belongs in the table `model` or `judge`"),
        ("[agent]\nretries = 3\nconcurrency = 4", "`concurrency` belongs at the top, outside of every table"),
        ("colour = 3", "the keys of the configuration are `agent`, `seed_manifest`, "),
        ("[agent.fast]\nuse = 'demo'", "`fast` belongs in the table `agents`, if it names an agent: `[agents.fast]`"),
        ("[local]\nmodels = 3", "the keys of `local` are `context_tokens`, `load_timeout`"),
    ],
)
def test_help_says_where_a_key_belongs(folder: Path, text: str, advice: str) -> None:
    (folder / "evalc.toml").write_text(text)
    (problem,) = load_settings(folder).problems
    assert problem.finding.help().startswith(advice)


REFUSED = [
    ("concurrency = true", "15", "`concurrency` must be a whole number, not true"),
    ("concurrency = 1.5", "15", "`concurrency` must be a whole number, not a number with a fraction"),
    ("concurrency = 10001", "15", "`concurrency` must be between 1 and 10000"),
    ('concurrency = "4"', "15", "`concurrency` must be a whole number, or `auto`"),
    ("timeout = 30", "11", "`timeout` must be a time with its unit, such as `30s`, `500ms` or `2m`, not a number"),
    ('timeout = "30"', "11", "`timeout` must be a time with its unit, such as `30s`, `500ms` or `2m`"),
    ('timeout = "0s"', "11", "`timeout` must be above 0"),
    ("timeoutMs = 0", "13", "`timeoutMs` must be above 0"),
    ("timeoutMs = inf", "13", "`timeoutMs` must be above 0"),
    ("timeoutMs = nan", "13", "`timeoutMs` must be above 0"),
    ("agent = ' '", "9", "`agent` must be a text that is not empty"),
    ("agent = []", "9", "`agent` must be a text, or a list of at least one"),
    ("agent = 1", "9", "`agent` must be a text, a list of texts or a table, not a number"),
    ('agent = ["a", "a"]', "9", "`agent` must be agents that are each named once"),
    ("model = 1", "9", "`model` must be a table, not a number"),
    ("output_dir = 2026-01-01", "14", "`output_dir` must be a text, not a date or time"),
    ('output_dir = "a\\u0000b"', "14", "`output_dir` must be a path, which has no NUL character"),
    ("strict = 'yes'", "10", "`strict` must be true or false, not a text"),
    ("exclude = 'a'", "11", "`exclude` must be a list of texts, not a text"),
    ("agent.headers = []", "17", "`headers` must be a table of headers, not a list"),
    ('agent.headers.A = "a\\r\\nB: c"', "19", "`A` must be a text without line ends and other control characters"),
    ('agent.method = "GET"', "16", "`method` must be one of `POST`, `PUT`, `PATCH`"),
    ("agent.accepted_statuses = 202", "27", "`accepted_statuses` must be a list of statuses, not a number"),
    ("agent.accepted_statuses = [[202]]", "28", "an item of `accepted_statuses` must be 202 or 206"),
    ('agent.response.response = "a..b"', "27", "`response` must be a JMESPath expression: `.` at character 3 is not"),
    ('agent.response.tool_cals = "a"', "16", "`tool_cals` is not a key of `response`"),
    ("agent.response.name = 1", "23", "`name` must be a text, not a number"),
    ('agent.stream = {done = "x"}', "16", "`stream` must be a table with the path of the `text` of an event"),
    ('agent.body.q = ["{{mesage}}"]', "17", "an item of `q` must be one with the placeholders"),
    ("""agent.body = '{"q": ["{{mesage}}"]}'""", "14", "an item of `q` must be one with the placeholders"),
    ('agent.body = "{"', "14", "`body` must be valid JSON: "),
    ("""agent.body = '{"m": {{messages}}}'""", "14", "`body` must be valid JSON: "),
    (
        'agent.body = "7"',
        "14",
        "`body` must be a table, a list, or a text that holds one of them as JSON, not a number",
    ),
    ("model.extra_body.a = [inf]", "23", "an item of `a` must be a value that JSON has"),
    ("judge = 5", "9", "`judge` must be a text, a list of texts or a table, not a number"),
    ("judge = [5]", "10", "an item of `judge` must be a text, not a number"),
    ('judge = ["a", "a"]', "9", "`judge` must be judges that are each named once"),
    ("judge.samples = 0", "17", "`samples` must be between 1 and 99"),
    ('judge.rubrics = "never"', "17", "`rubrics` must be one of `passed`, `always`"),
    ('confidence = "many"', "14", "`confidence` must be a share such as `95%` or 0.95"),
    ('tools = "../t.json"', "9", "`tools` names `../t.json`, which lies outside the project"),
    ('select = "EV5"', "10", "`select` must be a list of codes, not a text"),
    ('select = ["EV5", "EV5O1"]', "18", "an item of `select` must be a code or the beginning of some: `EV5O1` is not"),
    ('ignore = ["EV103"]', "11", "an item of `ignore` must be a code that can be ignored: `EV103` cannot be"),
    ('severity = "error"', "12", "`severity` must be a table of codes, not a text"),
    ('severity.EV501 = "fatal"', "18", "`EV501` must be `error`, `warning` or `off`"),
    ("severity.EV501 = []", "18", "`EV501` must be `error`, `warning` or `off`"),
    ('severity."" = "off"', "15", "`` must be a code or the beginning of some: `` is not a code"),
    ('severity.EV1 = "off"', "16", "`EV1` must be a code that can be ignored: "),
    ('per_file_ignores = ["a"]', "20", "`per_file_ignores` must be a table of patterns, not a list"),
    ('per_file_ignores = {"a" = ["EV9"]}', "28", "an item of `a` must be a code or the beginning of some: "),
    ('per_file_ignores = {"!" = ["EV5"]}', "27", "`!` must be under a pattern as in a `.gitignore`"),
]


@pytest.mark.parametrize(("line", "column", "message"), REFUSED)
def test_values_that_a_key_does_not_take(folder: Path, line: str, column: str, message: str) -> None:
    (found,) = problems_of(folder, f"{line}\n")
    place, _, said = found.partition(": error[")
    assert (place, said.partition("]: ")[2][: len(message)]) == (f"evalc.toml:1:{column}", message)


def test_a_value_with_a_problem_leaves_its_default(folder: Path) -> None:
    (folder / "evalc.toml").write_text('concurrency = 0\ntimeout = "5ms"\n')
    assert load_settings(folder).settings.concurrency == 1
    assert load_settings(folder).settings.timeout_ms == 5


# --- texts that are no configuration ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("evalc.toml", "a = 1\nconcurrency 4\n", "2:13: error[EV620]: this is not valid TOML: a `=` is expected after"),
        ("evalc.toml", "a = [1,\r\n\r\n", "1:8: error[EV620]: this is not valid TOML: a value is expected here"),
        ("evalc.toml", "x = " + "9" * 5000, "1:1: error[EV620]: this is not valid TOML: a number has too many digits"),
        ("evalc.toml", "x = " + "[" * 5000, "1:1: error[EV620]: this is not valid TOML: it is nested too deeply"),
        ("evalc.config.json", '{"a": 1,}', "1:8: error[EV620]: this is not valid JSON: a comma is not allowed after"),
        ("evalc.config.json", "[" * 100_000, "1:1: error[EV620]: this is not valid JSON: it is nested too deeply"),
        (
            "evalc.config.json",
            '{"a": ' + "[" * 5_000 + "]" * 5_000 + "}",
            "1:1: error[EV620]: this is not valid JSON: it is nested too deeply",
        ),
        ("evalc.config.json", '{"timeout": NaN}', "1:13: error[EV620]: this is not valid JSON: NaN"),
        ("evalc.config.json", "", "1:1: error[EV620]: this is not valid JSON: the text is empty"),
        ("evalc.config.json", "[1]", "1:1: error[EV622]: the configuration must be a table, not a list"),
        ("evalc.config.json", '{"strict": true, "strict": true}', "1:18: error[EV624]: `strict` is repeated here"),
        ("evalc.toml", "\ufeffstrict = true\r\nconcurrency = 0\r\n", "2:15: error[EV623]: `concurrency` must be"),
    ],
)
def test_texts_that_are_no_configuration(folder: Path, name: str, text: str, message: str) -> None:
    (found,) = problems_of(folder, text, name)
    assert found.startswith(f"{name}:{message}")


def test_bytes_that_are_not_utf8(folder: Path) -> None:
    (folder / "evalc.toml").write_bytes(b'agent = "\xff"\n')
    (problem,) = load_settings(folder).problems
    assert (problem.code, problem.start) == ("EV605", (1, 10))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.binary(max_size=60) | st.text("[]{}\"'=:,.\n agentheaders1", max_size=60).map(str.encode))
def test_no_bytes_break_it(folder: Path, data: bytes) -> None:
    for name in ("evalc.toml", "evalc.config.json"):
        (folder / name).write_bytes(data)
        loaded = load_settings(folder, Path(name))
        assert loaded.settings.root == folder
        render_text(loaded.problems)


anything: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 300) | st.floats() | st.sampled_from(["", "{{", "{{b}}", "${A", "a b"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text("aE V5{}", max_size=4), inner, max_size=3)
        | inner.map(json.dumps)
    ),
    max_leaves=6,
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.sampled_from(sorted(ALL_KEYS)), anything)
def test_no_value_breaks_it(folder: Path, name: str, value: Any) -> None:
    document: Any = value
    for step in reversed(name.split(".")):
        document = {step: document}
    (folder / "evalc.config.json").write_text(json.dumps(document), encoding="utf-8")
    render_text(load_settings(folder, Path("evalc.config.json")).problems)


# --- secrets ---------------------------------------------------------------------------------------------------------

SECRET = "sk-planted-secret"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("evalc.toml", f'agent.headers = {{ "A B" = "{SECRET}", C = "{SECRET} ${{" }}\n'),
        ("evalc.toml", f'[agent.haeders]\nAuthorization = "{SECRET}"\n[agent]\nheaders.A = """{SECRET}${{"""\n'),
        ("evalc.toml", f'[agent.body]\nkey = "{SECRET} {{{{nothing}}}}"'),
        ("evalc.toml", f'apiKey = "{SECRET}"\n'),
        ("evalc.toml", f'secrets = ["{SECRET}", {{ x = "{SECRET}" }}]\n'),
        ("evalc.toml", f'agent = {{ headers = {{ A = "{SECRET}" }}\n'),
        ("evalc.toml", f'agent = [{{ headers = {{ A = "{SECRET}" }} }}]\n'),
        ("evalc.toml", f'agent.headers.A = "{SECRET}\n'),
        ("evalc.toml", f'agent.headers.A = "{SECRET}" x\n'),
        ("evalc.config.json", f'{{"agent": {{"headers": {{"A B": "{SECRET}", "C": ["{SECRET}"]}}}}}}'),
        ("evalc.config.json", f'{{"agent": {{"headers": {{"A": "{SECRET}", }}}}}}'),
        ("evalc.config.json", f'{{"apiKey": "{SECRET}"}}'),
        ("evalc.config.json", f'["{SECRET}"]'),
        (
            "pyproject.toml",
            f'[tool.other]\nengine = "{SECRET}"\nx.concurrency = "{SECRET}"\n[tool.evalc]\ntimeout = 3\n',
        ),
    ],
)
def test_a_secret_in_the_file_is_not_shown(folder: Path, name: str, text: str) -> None:
    (folder / name).write_text(text)
    problems = load_settings(folder).problems
    assert problems
    assert SECRET not in render_text(problems)


@pytest.mark.parametrize(
    "text", ['timeout = "60 seconds"', 'agent = ["demo", "demo"]', 'judge.use = ["local", "local"]']
)
def test_a_harmless_value_is_shown(folder: Path, text: str) -> None:
    (folder / "evalc.toml").write_text(text)
    assert text in render_text(load_settings(folder).problems)


def with_headers(**headers: str) -> Settings:
    return Settings(root=Path("/project"), agent=AgentTable(headers=tuple(headers.items())), secrets=("OTHER",))


def test_headers_are_filled_from_the_environment() -> None:
    found = with_headers(Authorization="Bearer ${KEY}", Both="${A}-${B}", Plain="$5").agent.headers
    environ = {"KEY": "k", "A": "1", "B": "${KEY}"}
    assert expanded(found, environ) == {"Authorization": "Bearer k", "Both": "1-${KEY}", "Plain": "$5"}


def test_a_missing_variable_is_named() -> None:
    with pytest.raises(UsageError, match=r"^the environment variable `KEY`, which the header `X` needs, is not set$"):
        expanded((("X", "${KEY}"),), {})


def test_a_value_that_would_break_the_header_is_not_quoted() -> None:
    with pytest.raises(UsageError) as caught:
        expanded((("X", "${KEY}"),), {"KEY": "planted\r\nY: z"})
    assert "planted" not in str(caught.value)
    assert "`X`" in str(caught.value)


def test_secret_values() -> None:
    found = with_headers(Authorization="Bearer literal-token", X="${KEY}", Y="plain-value")
    environ = {"KEY": "from-header", "OTHER": "from-list", "UNRELATED": "free"}
    assert set(found.secret_values(environ)) == {"Bearer literal-token", "literal-token", "from-header", "from-list"}
    assert with_headers(X="${KEY}").secret_values({"OTHER": ""}) == ()


def test_no_key_is_the_author_s_own_in_a_configuration(tmp_path: Path) -> None:
    (tmp_path / "evalc.toml").write_text('x-foo = 1\n[judge]\nx-api-key = "k"\n[agent.response]\nx-y = "a"\n')
    assert [problem.code for problem in load_settings(tmp_path).problems] == ["EV621"] * 3
