"""ARCHITECTURE.md and the decisions: the rooms, their floors, the walk of a check, paths and names are the code's."""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from tests.support.pages import TESTS, names_in
from tests.test_calls import counting

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
DECISIONS = sorted(path for path in (ROOT / "docs" / "decisions").glob("*.md") if path.name != "README.md")
NO_ROOMS = {"__init__.py", "__main__.py", "py.typed", "__pycache__/"}


def section(heading: str) -> str:
    return PAGE.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]


def contract() -> dict[str, list[str]]:
    """The import contract of the layers."""
    config = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    (layers,) = (each for each in config["tool"]["importlinter"]["contracts"] if each.get("containers") == ["evalc"])
    return layers  # type: ignore[no-any-return]


def test_the_table_has_every_room_and_none_that_is_gone() -> None:
    assert sorted(listed("The rooms")) == sorted(inside(ROOT / "evalc"))
    assert sorted(listed("The extras")) == sorted(name.strip("/") for name in inside(ROOT / "evalc" / "extras"))


def listed(heading: str) -> list[str]:
    """The names in the first column of the section's table."""
    first_cells = re.findall(r"^\| (`.*?) \|", section(heading), re.MULTILINE)
    return [name for cell in first_cells for name in re.findall(r"`([^`]+)`", cell)]


def inside(folder: Path) -> set[str]:
    """The modules and packages; a folder may still hold caches of modules that have gone."""
    return {
        path.name + "/" * path.is_dir() for path in folder.iterdir() if path.is_file() or any(path.glob("*.py"))
    } - NO_ROOMS


def test_the_rooms_stand_on_the_floors_of_the_contract() -> None:
    floors = [layer.split(" | ") for layer in contract()["layers"]]
    floor_of = {room: number for number, floor in enumerate(floors) for room in floor}
    drawn = [room for name in listed("The rooms") if (room := re.sub(r"/$|\.py$", "", name)) in floor_of]
    assert sorted(drawn, key=floor_of.__getitem__) == drawn
    assert sorted(drawn) == sorted(floor_of)
    shared = re.findall(r"`(\w+)` and `(\w+)` share|neither do `(\w+)` and `(\w+)`", section("The rooms"))
    assert [[name for name in pair if name] for pair in shared] == [floor for floor in floors if len(floor) > 1]


def test_the_walk_of_a_check_is_the_one_that_a_run_takes() -> None:
    walk = re.findall(r"^\d+\. `([\w/]+\.py)` \(`([\w.]+)`\) ", section("The walk of one check"), re.MULTILINE)
    steps = [":".join(step) for step in walk]
    assert len(steps) > 20
    assert [called for called in counting().calls_of("run") if called in steps] == steps


def test_the_page_is_read_in_five_minutes() -> None:
    assert len(PAGE.split()) <= 1400


def test_every_file_on_the_page_is_in_a_room() -> None:
    named = re.findall(r"`((?:\w+/)+\w+\.\w+)`", PAGE)
    assert len(named) > 30
    assert [name for name in named if not ((ROOT / "evalc" / name).exists() or (ROOT / name).exists())] == []


@pytest.mark.parametrize("page", DECISIONS, ids=lambda page: page.stem)
def test_a_decision_is_a_short_page_of_the_common_form(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert 15 <= text.count("\n") <= 50
    headings = re.findall(r"^## (.*)$", text, re.MULTILINE)
    assert headings == [each for each in FORM if each in headings]
    assert {"Why", "Costs", "In the code"} <= set(headings)
    code = text.partition("## In the code\n")[2]
    assert "`evalc/" in code
    assert "`tests/" in code


FORM = ("Why", "Alternatives", "Costs", "Measured", "In the code")


@pytest.mark.parametrize("page", DECISIONS, ids=lambda page: page.stem)
def test_the_names_on_a_page_of_decisions_are_in_the_code(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    named = [(file, name) for file, name in TESTS.findall(text) if name]
    for file, names in re.findall(r"`(evalc/[\w/]+\.py)` \(([^)]+)\)", text):
        named += [(file, name) for name in re.findall(r"`([\w.]+)`", names)]
    assert [f"{file} has no {name}" for file, name in named if name not in names_in(ROOT / file)] == []


def test_the_index_of_decisions_has_each_page_by_its_title() -> None:
    index = (ROOT / "docs" / "decisions" / "README.md").read_text(encoding="utf-8")
    listed = re.findall(r"^- \[(.+)\]\(([\w-]+\.md)\): .+", index, re.MULTILINE)
    titles = [(page.read_text(encoding="utf-8").partition("\n")[0].removeprefix("# "), page.name) for page in DECISIONS]
    assert sorted(listed) == sorted(titles)


def test_every_path_that_is_named_exists() -> None:
    """Programs that `make` and `scripts/` start, and files that the pages of the project refer to."""
    named = [
        (file.name, path)
        for file in (ROOT / "Makefile", *ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("scripts/*.py"))
        if file.name != "history.md"
        for path in re.findall(
            r"(?<![\w./-])(?:evalc|tests|specs|docs|scripts|benchmarks)/[\w./-]*\w", file.read_text(encoding="utf-8")
        )
    ]
    assert len(named) > 50
    assert [each for each in named if not (ROOT / each[1]).exists()] == []


def test_every_dependency_has_its_reason() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    required = [
        *project["dependencies"],
        *(each for extra in project["optional-dependencies"].values() for each in extra),
    ]
    names = {name[0] for each in required if (name := re.match(r"[\w.-]+", each))}
    page = (ROOT / "docs" / "dependencies.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| ([^|]+) \|", page, re.MULTILINE)
    listed = {name for row in rows for name in re.split(r",? extra |, | ", row)}
    assert names <= listed


@cache
def modules() -> dict[str, ast.Module]:
    """The modules of evalc by their paths in it, as in `cli/main.py`."""
    files = sorted((ROOT / "evalc").rglob("*.py"))
    return {file.relative_to(ROOT / "evalc").as_posix(): ast.parse(file.read_text(encoding="utf-8")) for file in files}


PLAIN_READS = {"read_bytes", "read_text"}
OF_THE_PACKAGE = {
    "diagnostics/catalogue.py": "the package's own table of findings",
    "grammar/build_tables.py": "the grammars",
    "grammar/lalr.py": "the tables of the grammars",
    "report/html/__init__.py": "the page's own parts",
    "extras/scaffold/__init__.py": "the templates of a project, and what an installed package says of itself",
    "translate/names.py": "the words of other tools",
}
"""The modules that read files of an installed package, which nobody else has written."""


def test_files_are_read_in_one_way_that_nothing_blocks() -> None:
    found = {}
    for name, module in modules().items():
        calls = [node for node in ast.walk(module) if isinstance(node, ast.Call)]
        methods = [(call.func.attr, call) for call in calls if isinstance(call.func, ast.Attribute)]
        plain = [method for method, call in methods if method in PLAIN_READS or (method == "open" and reads(call))]
        plain += ["open" for call in calls if isinstance(call.func, ast.Name) and call.func.id == "open"]
        if plain:
            found[name] = plain
    assert set(found) == set(OF_THE_PACKAGE), "read with `evalc.base.files`"


def reads(call: ast.Call) -> bool:
    return any(isinstance(argument, ast.Constant) and argument.value in {"r", "rb"} for argument in call.args)


WRITES = {"write_bytes", "write_text", "mkdir", "os.open", "sqlite3.connect"}
THROUGH_NO_LINK = {
    "cli/ending.py": "the null device",
    "grammar/build_tables.py": "the package's own tables",
    "extras/importers/imported.py": "a folder that a caller from Python names",
    "extras/lsp/__init__.py": "a temporary folder",
}


def test_writers_look_for_links_out_of_the_project() -> None:
    for name, module in modules().items():
        called = [node.func for node in ast.walk(module) if isinstance(node, ast.Call)]
        calls = {ast.unparse(func) for func in called if isinstance(func, ast.Name | ast.Attribute)}
        writes = {call for call in calls if call in WRITES or call.rpartition(".")[2] in WRITES}
        if writes and name not in THROUGH_NO_LINK:
            text = (ROOT / "evalc" / name).read_text(encoding="utf-8")
            assert "refuse_link_out" in text or "make_folder" in text, f"{name}: {sorted(writes)}"


def test_each_module_imports_in_one_place() -> None:
    """Modules that are merged tend to keep the imports of both."""
    for file, module in modules().items():
        body = module.body
        imports = [node for node in body if isinstance(node, ast.Import | ast.ImportFrom)]
        first = body.index(imports[0]) if imports else 0
        assert body[first : first + len(imports)] == imports, file
        typing = [node for node in body if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"]
        assert len(typing) <= 1, file
        late = {name for node in typing for each in node.body for name in names_imported(each)}
        assert not late & {name for each in imports for name in names_imported(each)}, file


def names_imported(node: ast.stmt) -> set[str]:
    if not isinstance(node, ast.ImportFrom):
        return set()
    return {f"{node.module}.{alias.name}" for alias in node.names}


def test_no_module_imports_itself_through_others() -> None:
    left = {name: set(imported) for name, imported in imports().items()}
    while leaves := {name for name, imported in left.items() if not imported & left.keys()}:
        left = {name: imported - leaves for name, imported in left.items() if name not in leaves}
    assert not left, "these import each other in a circle, or one that does"


def imports() -> dict[str, set[str]]:
    """The modules of evalc that each imports when it is run or called, so not those for its types alone."""
    named = {
        ".".join(("evalc", *Path(file).with_suffix("").parts)).removesuffix(".__init__"): module
        for file, module in modules().items()
    }
    return {
        name: {
            target
            for imported, attribute in imported_names(module)
            for target in (f"{imported}.{attribute}" if f"{imported}.{attribute}" in named else imported,)
            if target in named and target != name
        }
        for name, module in named.items()
    }


def imported_names(node: ast.AST) -> Iterator[tuple[str, str]]:
    if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
        return
    if isinstance(node, ast.ImportFrom) and node.module:
        yield from ((node.module, alias.name) for alias in node.names)
    for child in ast.iter_child_nodes(node):
        yield from imported_names(child)
