"""The catalogue: an example yields its code, its cure nothing; what reports a code gives the fields of its words."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

import evalc
from evalc.config.load import load_settings
from evalc.diagnostics import Finding
from evalc.diagnostics.catalogue import CONDITION, FIELD, SAVED, Entry, Wording, entries, saved_table
from evalc.diagnostics.fixing import fixed

ALL = entries()
PACKAGE = Path(evalc.__file__).parent

HEAD = "eval:\n  test_cases:\n    - name: a\n      message: hi\n      validate:\n"

WITHOUT_EXAMPLE = {
    "EV101": "editors would make spaces of a tab",
    "EV110": "a control character is not seen",
    "EV127": "JSON syntax, shown in words",
    "EV128": "likewise",
    "EV211": "takes several files",
    "EV222": "takes a file of checks",
    "EV223": "likewise",
    "EV230": "takes a tool registry",
    "EV231": "likewise",
    "EV232": "likewise",
    "EV233": "likewise",
    "EV234": "likewise",
    "EV235": "likewise",
    "EV413": "is reported by `compile` alone",
    "EV420": "is about an agent and a judge, which no file names",
    "EV450": "takes a lock",
    "EV451": "likewise",
    "EV452": "is about the lock itself",
    "EV453": "takes a lock",
}


FIXED_BY_FIX = {
    "EV131": HEAD + "        - contains Tokyo\n",
    "EV301": HEAD + "        - non-empty\n      tags: smoke\n",
}
"""Examples as a safe fix leaves them, where their cure says otherwise."""


def check(source: evalc.Source) -> tuple[evalc.Problem, ...]:
    return tuple(evalc.check(source))


def problems_of(entry: Entry, text: str, folder: Path) -> list[evalc.Problem]:
    is_json = text.lstrip().startswith("{")
    if entry.code.startswith(("EV62", "EV684")):
        file = folder / ("evalc.config.json" if is_json else "evalc.toml")
        file.write_text(text)
        return list(load_settings(folder).problems)
    return list(evalc.check(evalc.Source("example.json" if is_json else "example.eval.yaml", text)))


@pytest.mark.parametrize("code", [code for code, entry in ALL.items() if entry.example])
def test_the_example_yields_exactly_its_code_and_the_cure_nothing(code: str, tmp_path: Path) -> None:
    entry = ALL[code]
    found = problems_of(entry, entry.example, tmp_path)
    assert {problem.code for problem in found} == {code}, "\n".join(map(str, found))
    if entry.cure:
        assert [str(problem) for problem in problems_of(entry, entry.cure, tmp_path)] == []


@pytest.mark.parametrize("code", [code for code, entry in ALL.items() if entry.example and not code.startswith("EV62")])
def test_a_fix_of_the_example_leaves_fewer_problems(code: str, tmp_path: Path) -> None:
    entry = ALL[code]
    problems = problems_of(entry, FIXED_BY_FIX.get(code, entry.example), tmp_path)
    source = problems[0].source
    assert all(entry.fixable for problem in problems if problem.fix is not None and problem.fix.is_safe)
    result = fixed(source, problems, check, selected=lambda _: True)
    assert (result.text == source.text) != bool(result.fixes)
    assert bool(result.fixes) == entry.fixable
    assert len(check(evalc.Source(source.name, result.text))) == len(problems) - result.fixes


def test_every_finding_has_an_example_or_a_reason_to_have_none() -> None:
    without = {code for code, entry in ALL.items() if not entry.example}
    about_files = {code for code in without if code.startswith("EV6")}
    assert without - about_files == set(WITHOUT_EXAMPLE)


def test_an_example_that_can_be_cured_has_a_cure() -> None:
    without = {code for code, entry in ALL.items() if entry.example and not entry.cure}
    assert without == {"EV209"}, "the prompt that would cure EV209 is another file"


def test_the_saved_table_is_fresh() -> None:
    assert SAVED.read_bytes() == saved_table(), "run `python -m evalc.grammar.build_tables`"


def test_codes_are_unique_and_of_their_family() -> None:
    written = re.findall(r"^EV\S+", SAVED.with_name("catalogue.txt").read_text(encoding="utf-8"), re.MULTILINE)
    assert written == list(ALL)
    assert all(re.fullmatch(r"EV[1-7]\d\d", code) for code in ALL)


@cache
def raised() -> dict[str, list[tuple[str, frozenset[str]]]]:
    """For each code the places of the source that report it, and the fields that they give."""
    found: dict[str, list[tuple[str, frozenset[str]]]] = defaultdict(list)
    for file in sorted(PACKAGE.rglob("*.py")):
        tree = ast.parse(file.read_text(encoding="utf-8"))
        for call in ast.walk(tree):
            if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "Finding":
                fields = frozenset(keyword.arg or "**" for keyword in call.keywords)
                for code in _codes(call.args[0], tree):
                    found[code].append((f"{file.relative_to(PACKAGE)}:{call.lineno}", fields))
    return found


def _codes(code: ast.expr, tree: ast.Module) -> Iterator[str]:
    """The codes that an expression may be: a text, a choice of two, or a name of such a choice or of a `Literal`."""
    if isinstance(code, ast.Name):
        for node in ast.walk(tree):
            if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == code.id:
                yield from _codes(node.value, tree)
            if isinstance(node, ast.arg) and node.arg == code.id and node.annotation is not None:
                yield from _codes(node.annotation, tree)
    for node in ast.walk(code):
        if isinstance(node, ast.Constant):
            yield str(node.value)


def asked(line: Wording) -> set[str]:
    """The fields in the condition of a line."""
    return {found["name"] for found in map(CONDITION.fullmatch, line.condition.split(" and ")) if found is not None}


def named(line: Wording) -> set[str]:
    """The fields in the text of a line."""
    return {found["name"] for found in FIELD.finditer(line.text)}


LATER = {
    "EV131": {"line", "before_comment"},
    "EV158": {"path", "line"},
    "EV159": {"path", "line"},
    "EV203": {"line"},
}
"""The fields that `Finding.replaced` gives to what another room has found."""


@pytest.mark.parametrize("code", ALL)
def test_every_code_is_reported_somewhere_with_the_fields_of_its_words(code: str) -> None:
    lines = [line for kind in ALL[code].lines.values() for line in kind]
    assert raised()[code], "no place reports it"
    for place, fields in raised()[code]:
        unknown = fields - {"fix"}.union(*map(asked, lines), *map(named, lines))
        assert not unknown, f"{place} gives {unknown}, which no words of {code} take"
        for line in lines:
            missing = named(line) - fields - LATER.get(code, set())
            assert not asked(line) <= fields or not missing, (
                f"{place} does not give {missing}, which `{line.text}` takes"
            )


def test_only_codes_of_the_catalogue_are_reported() -> None:
    assert raised().keys() == ALL.keys()


def test_fixes_are_made_in_one_way_which_decides_whether_they_are_safe() -> None:
    for file in PACKAGE.rglob("*.py"):
        calls = [node for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))) if isinstance(node, ast.Call)]
        assert not [call for call in calls if ast.unparse(call.func) in {"Fix", "Fix._make"}], file


def test_an_explanation_for_a_terminal() -> None:
    assert ALL["EV621"].explanation() == (
        "EV621 (error)\n\nA key that is not a setting.\n\nA misspelt setting would silently keep its default.\n\n"
        "Example:\n\n    concurency = 4\n\nCure:\n\n    concurrency = 4\n"
    )
    assert max(map(len, ALL["EV505"].explanation().split("\n"))) <= 88
    assert ALL["EV121"].explanation().startswith("EV121 (error, in safe cases fixable with `evalc check --fix`)\n")


@pytest.mark.parametrize("text", ["EV1 A: b\n", "EV100 NotYaml: it\n  mesage: x\n", "EV100 NotYaml: it\n   example:\n"])
def test_an_invalid_entry_is_not_read(text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "catalogue.txt"
    file.write_text(text, encoding="utf-8")
    monkeypatch.setattr("evalc.diagnostics.catalogue.TABLE", file)
    with pytest.raises(ValueError, match="`"):
        saved_table()


@pytest.mark.parametrize(("what", "noun"), [("operator", "an operator"), ("tier", "a tier"), ("unit", "a unit")])
def test_a_noun_has_its_article(what: str, noun: str) -> None:
    assert Finding("EV302", what=what, value="x", choices=("y",)).message() == f"`x` is not {noun}"
