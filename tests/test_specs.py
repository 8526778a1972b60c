"""The pages of the documentation: examples compile, links lead somewhere, tables name all that the code knows."""

from __future__ import annotations

import ast
import importlib.util
import re
from pathlib import Path
from typing import Any

import pytest

import evalc
from evalc.check.predicates import PREDICATES
from evalc.check.shapes import RECORDS
from evalc.cli.ending import ExitCode
from evalc.config import ALL_KEYS, KEY_OF_FLAG
from evalc.config.load import load_settings
from evalc.config.tables import spelled
from evalc.diagnostics.catalogue import entries
from evalc.dsl.build_case import CASE
from evalc.dsl.build_expect import EXPECT
from evalc.dsl.build_prompt import PROMPT_SPEC
from evalc.dsl.build_rule import CHECK_TYPES, PARAM_OPS
from evalc.dsl.build_suite import DOCUMENTS
from evalc.model import case as m
from evalc.setup.flags import FLAGS, KEYWORDS
from tests.support.pages import PAGES, ROOT, Block, blocks

LINKING = (
    *PAGES,
    *sorted((ROOT / "docs" / "decisions").glob("*.md")),
    *(ROOT / name for name in ("ARCHITECTURE.md", "CONTRIBUTING.md", "SECURITY.md", "examples/README.md")),
)
ALL = tuple(block for page in PAGES for block in blocks(page))


def tagged(*tags: str) -> list[object]:
    """Examples that stand for themselves; `tests/cli/test_readme.py` tries those that are files of a project."""
    return [
        pytest.param(block, id=f"{block.page}:{block.line}") for block in ALL if block.tag in tags and not block.title
    ]


def section(page: str, heading: str) -> str:
    """The text of a page from a heading to the next one of its level."""
    text = (ROOT / "specs" / page).read_text(encoding="utf-8")
    level = heading.partition(" ")[0]
    return re.split(rf"^{level} ", text.split(f"\n{heading}\n", 1)[1], maxsplit=1, flags=re.MULTILINE)[0]


def rows(text: str) -> set[str]:
    """The texts between backticks in the first two cells of the rows of a text's tables."""
    cells = (row.split("|")[1:3] for row in text.splitlines() if row.startswith("|"))
    return {name for pair in cells for cell in pair for name in re.findall(r"`([^`]+)`", cell)}


@pytest.mark.parametrize("block", tagged("yaml", "json"))
def test_a_whole_example_has_no_problems(block: Block) -> None:
    source = evalc.Source(f"example.{'eval.yaml' if block.tag == 'yaml' else 'json'}", block.text)
    compilation = evalc.compile(source, prompts=ROOT / "examples")
    assert [str(problem) for problem in compilation.problems] == []
    assert compilation.suites


@pytest.mark.parametrize("block", tagged("toml"))
def test_a_configuration_has_no_problems(block: Block, tmp_path: Path) -> None:
    (tmp_path / "evalc.toml").write_text(block.text, encoding="utf-8")
    assert [str(problem) for problem in load_settings(tmp_path).problems] == []


@pytest.mark.parametrize("block", tagged("python fragment"))
def test_a_part_of_a_program_is_python(block: Block) -> None:
    compile(block.text, f"{block.page}:{block.line}", "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)


@pytest.mark.parametrize("block", tagged("python"))
def test_a_program_runs(block: Block, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    exec(compile(block.text, f"{block.page}:{block.line}", "exec"), {})
    assert [file.name for file in tmp_path.iterdir()] == re.findall(r'run\.save\("(.+?)"', block.text)


def test_every_block_says_what_it_is() -> None:
    known = {"yaml", "json", "toml", "text", "sh", "console", "python", "csv", "groovy", "sql", "elisp", "js"}
    parts = {f"{language} {what}" for language in ("yaml", "json", "toml") for what in ("fragment", "wrong", "cure")}
    parts |= {"python fragment", "sh fragment"}
    assert {block.tag for block in ALL} <= known | parts


def test_the_compiled_example_is_what_the_compiler_writes() -> None:
    yaml, json = (block for block in ALL if block.page == "specs/case-model.md")
    (compiled,) = evalc.compile(evalc.Source("greeting.eval.yaml", yaml.text)).suites
    (shown,) = evalc.compile(evalc.Source("greeter.labeled.json", json.text)).suites
    assert list(compiled.cases()) == list(shown.cases())
    assert compiled.metadata == shown.metadata


def test_the_page_of_diagnostics_is_fresh() -> None:
    script = script_named("write_diagnostics_page")
    assert (ROOT / "specs" / "diagnostics.md").read_text(encoding="utf-8") == script.page(), "run `make pages`"


def test_the_tables_of_settings_and_keywords_are_fresh() -> None:
    hidden = {spelled(name) for name, flag in FLAGS.items() if flag.shown == "nowhere"}
    named = [*(name.removesuffix(".use") for name in ALL_KEYS), *KEY_OF_FLAG]
    script = script_named("write_settings_table")
    for path, expected in zip(script.TABLES, ({*named} - hidden, {*KEYWORDS}), strict=True):
        page = path.read_text(encoding="utf-8")
        assert rows(page) >= expected
        assert script.page(path) == page, "run `make pages`"


def script_named(name: str) -> Any:
    """A module of `scripts/`."""
    spec = importlib.util.spec_from_file_location(name, ROOT / "scripts" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    return script


def test_the_index_of_diagnostics_names_every_code() -> None:
    text = (ROOT / "specs" / "diagnostics.md").read_text(encoding="utf-8").partition("\n# Entries\n")[0]
    assert re.findall(r"^\| \[(EV\d{3})\]", text, re.MULTILINE) == list(entries())


def test_every_code_on_a_page_exists() -> None:
    named = {code for page in PAGES for code in re.findall(r"\bEV\d{3}\b", page.read_text(encoding="utf-8"))}
    assert named <= set(entries())


def test_links_between_pages_lead_somewhere() -> None:
    for page in LINKING:
        for target, anchor in re.findall(r"\]\(([\w./-]*)(?:#([\w-]+))?\)", page.read_text(encoding="utf-8")):
            file = page if not target else page.parent / target
            assert file.exists(), f"{page.name}: {target}"
            if anchor and file.suffix == ".md":
                headings = re.findall(r"^#+ (.*)$", file.read_text(encoding="utf-8"), re.MULTILINE)
                slugs = {re.sub(r"[^\w -]", "", heading).lower().replace(" ", "-") for heading in headings}
                assert anchor in slugs, f"{page.name}: {target}#{anchor}"


def test_the_menu_of_the_site_has_every_page_once() -> None:
    listed = re.findall(r"^ +- (\S+\.md)$", (ROOT / "mkdocs.yml").read_text(encoding="utf-8"), re.MULTILINE)
    pages = [path for folder in ("docs", "docs/guides", "specs") for path in (ROOT / folder).glob("*.md")]
    assert sorted(listed) == sorted(set(listed))
    assert {path.relative_to(ROOT).as_posix() for path in pages} <= set(listed)
    assert [path for path in listed if not (ROOT / path).is_file()] == []


def test_the_readme_says_what_was_measured() -> None:
    measured = (ROOT / "benchmarks" / "results" / "run.md").read_text(encoding="utf-8")
    (seconds,) = re.findall(r"^\| evalc, YAML \| ([\d.]+) ", measured, re.MULTILINE)
    (memory,) = re.findall(r"^1,000,000 rows of a table: \d+ s, (\d+) MB", measured, re.MULTILINE)
    said = " ".join((ROOT / "README.md").read_text(encoding="utf-8").split())
    assert f"10,000 cases of three checks take {float(seconds):.1f} seconds from YAML" in said
    assert f"a million rows runs in {memory} MB of memory" in said


# --- tables ----------------------------------------------------------------------------------------------------------


def test_the_table_of_checks_has_every_type() -> None:
    assert set(CHECK_TYPES) <= rows(section("language.md", "## Checks"))


def test_the_tables_of_subjects_and_predicates_are_those_of_the_declarations() -> None:
    page = (ROOT / "specs" / "language.md").read_text(encoding="utf-8")
    written = {line for row in PREDICATES.values() for line in row.examples}
    assert all(any(f"{line}`" in row for row in page.splitlines() if row.startswith("|")) for line in written)
    assert script_named("write_check_tables").with_tables(page) == page, "run `make pages`"


def test_the_operators_of_parameters_are_all_there() -> None:
    assert all(f"`{op}`" in section("language.md", "## Checks") for op in PARAM_OPS)


def test_the_table_of_cases_has_every_key() -> None:
    assert rows(section("language.md", "## Cases")) >= set(CASE.keys)


def test_the_keys_of_suites_are_all_there() -> None:
    text = section("language.md", "## Suites")
    keys = {key for keys in DOCUMENTS.values() for key in keys} | set(PROMPT_SPEC)
    assert sorted(key for key in keys if f"`{key}`" not in text) == []


def test_the_tables_of_the_case_model_have_every_field() -> None:
    for record, heading in ((m.Metadata, "## `metadata`"), (m.Case, "## A case"), (m.Expect, "## `expect`")):
        assert rows(section("case-model.md", heading)) >= set(record.__struct_encode_fields__), heading
    assert rows(section("case-model.md", "## `expect`")) >= set(EXPECT.keys)


def test_the_table_of_the_models_checks_is_whole() -> None:
    text = section("case-model.md", "### `checks`")
    for type_, record in RECORDS.items():
        assert f"`{type_}`" in text
        assert all(f"`{field}`" in text for field in record.__struct_encode_fields__)


def test_the_table_of_exit_codes_is_whole() -> None:
    table = section("runner.md", "## Exit codes")
    assert {int(code) for code in re.findall(r"^\| (\d+) \|", table, re.MULTILINE)} == set(map(int, ExitCode))
