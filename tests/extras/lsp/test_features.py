"""Each feature of the language server, asked for by a real client."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from lsprotocol import types as lsp
from pygls.exceptions import JsonRpcException

import evalc
from evalc.base.source import Source
from evalc.dsl.read_yaml import texts_of
from evalc.extras.lsp.completion import continuation
from evalc.extras.lsp.workspace import path_of
from tests.extras.lsp.conftest import FILES, write_project
from tests.extras.lsp.editor import Editor

WEATHER = "weather.eval.yaml"
RULES = "shared/rules.eval.yaml"
GREET = "greet.eval.yaml"


def where(editor: Editor, found: list[lsp.Location]) -> list[tuple[str, str]]:
    """The files of locations, and what stands there."""
    names = [(each.uri.removeprefix(f"{editor.root.as_uri()}/"), each.range) for each in found]
    return sorted((name, editor.text_at(name, range_)) for name, range_ in names)


# --- diagnostics ---


def test_a_mistake_is_reported_while_it_is_typed_and_taken_back_when_it_is_gone(editor: Editor) -> None:
    assert editor.open(WEATHER) == []
    [problem] = editor.edit(WEATHER, "message: What is the weather in", "mesage: What is the weather in")[:1]
    assert (problem.code, problem.source, problem.severity) == ("EV201", "evalc", lsp.DiagnosticSeverity.Error)
    assert problem.message.startswith("`mesage` is not a key of a test case\ndid you mean `message`?\n")
    assert editor.text_at(WEATHER, problem.range) == "mesage"
    assert editor.edit(WEATHER, "mesage", "message") == []


def test_a_file_that_is_no_eval_is_left_alone(editor: Editor) -> None:
    assert editor.open("docker-compose.yaml", "services:\n  web: {image: nginx}\n  web: {}\n") == []
    assert editor.open("rules.yaml", "rules:\n  - alert: down\n") == []
    assert editor.open("broken.yaml", "a: [1,\n") == []
    assert editor.open("package.json", '{"name": "x"}') == []
    assert [each.code for each in editor.open("x.eval.yaml", "a: 1\n")] == ["EV640"]
    assert [each.code for each in editor.open("y.eval.yaml", "eval:\n  test_cases: [\n")] != []


def test_unsaved_text_of_a_shared_file_counts_for_files_that_include_it(editor: Editor) -> None:
    editor.open(WEATHER)
    editor.open(RULES)
    editor.edit(RULES, "polite:", "politely:")
    uri = editor.uri(WEATHER)
    [problem] = editor.until(lambda each: each.uri == uri and len(each.diagnostics) > 0)
    assert problem.code == "EV213"


def test_problems_of_another_file_are_reported_there_and_taken_back_on_closing(editor: Editor, root: Path) -> None:
    (root / RULES).write_text('rules:\n  polite:\n    - containz "x"\n')
    editor.open(WEATHER)
    uri = editor.uri(RULES)
    assert [each.code for each in editor.until(lambda each: each.uri == uri)] == ["EV203"]
    editor.close(WEATHER)
    assert editor.until(lambda each: each.uri == uri and not each.diagnostics) == []


def test_a_changed_configuration_is_read_when_it_is_saved(editor: Editor, root: Path) -> None:
    editor.open(WEATHER, FILES[WEATHER].replace("use: short", "length >= 0"))
    uri = editor.uri(WEATHER)
    assert [each.severity for each in editor.problems(WEATHER)] == [lsp.DiagnosticSeverity.Warning]
    (root / "evalc.toml").write_text(FILES["evalc.toml"] + "strict = true\n")
    changed = lsp.FileEvent((root / "evalc.toml").as_uri(), lsp.FileChangeType.Changed)
    editor.client.workspace_did_change_watched_files(lsp.DidChangeWatchedFilesParams([changed]))
    found = editor.until(
        lambda each: each.uri == uri and lsp.DiagnosticSeverity.Error in {d.severity for d in each.diagnostics}
    )
    assert found


def test_a_changed_file_of_checks_is_read_when_it_is_saved(editor: Editor, root: Path) -> None:
    def save(name: str, text: str) -> None:
        (root / name).write_text(text)
        changed = lsp.FileEvent((root / name).as_uri(), lsp.FileChangeType.Changed)
        editor.client.workspace_did_change_watched_files(lsp.DidChangeWatchedFilesParams([changed]))

    declared = "import evalc\n\n\n@evalc.custom_check\ndef ok(answer):\n    return True\n\n\nraise SystemExit\n"
    save("own.py", declared)
    save("evalc.toml", FILES["evalc.toml"] + 'checks = ["own.py"]\n')
    assert editor.open(WEATHER, FILES[WEATHER].replace("use: short", "check ok()")) == []
    save("own.py", declared.replace("ok", "fine"))
    uri = editor.uri(WEATHER)
    assert editor.until(lambda each: each.uri == uri and [found.code for found in each.diagnostics] == ["EV203"])


def test_in_a_long_file_shared_parts_are_checked_once_the_author_pauses(editor: Editor) -> None:
    cases = "".join(f"    - {{name: case_{n}, message: hi, validate: [json]}}\n" for n in range(30))
    assert editor.open("long.eval.yaml", f"suite: long\neval:\n  test_cases:\n{cases}") == []
    [problem] = editor.edit("long.eval.yaml", "case_7, message", "case_7, mesage")[:1]
    assert (problem.code, problem.range.start.line) == ("EV201", 10)
    assert editor.edit("long.eval.yaml", "case_7, mesage", "case_8, message") == []
    uri = editor.uri("long.eval.yaml")
    [problem] = editor.until(lambda each: each.uri == uri and each.version == 3 and len(each.diagnostics) > 0)
    assert problem.code == "EV206"


def test_fixes_that_are_asked_for_at_once_are_those_of_the_newest_text(editor: Editor) -> None:
    editor.open(WEATHER)
    path, old = editor.root / WEATHER, "tools called"
    at = editor.texts[path].index(old)
    range_ = lsp.Range(editor.place(WEATHER, at), editor.place(WEATHER, at + len(old)))
    editor.texts[path] = editor.texts[path].replace(old, "toolz called")
    editor.change(WEATHER, lsp.TextDocumentContentChangePartial(range_, "toolz called"))
    assert editor.actions(WEATHER, "tool|z")
    assert [each.code for each in editor.problems(WEATHER)] == ["EV203"]


@pytest.mark.parametrize("encoding", list(lsp.PositionEncodingKind))
def test_columns_are_counted_as_the_client_counts(tmp_path: Path, encoding: lsp.PositionEncodingKind) -> None:
    with Editor(tmp_path, encoding=encoding) as editor:
        assert editor.server.capabilities.position_encoding == encoding
        [problem] = editor.open(
            WEATHER, "suite: a\n\U0001f600\u00e9z: 1\neval: {test_cases: [{name: a, message: b, validate: [json]}]}\n"
        )
        units = {"utf-8": 7, "utf-16": 4, "utf-32": 3}[encoding.value]
        assert (problem.range.start.character, problem.range.end.character) == (0, units)
        place = lsp.Position(1, units)
        editor.change(WEATHER, lsp.TextDocumentContentChangePartial(lsp.Range(lsp.Position(1, 0), place), "tier"))
        editor.change(
            WEATHER, lsp.TextDocumentContentChangePartial(lsp.Range(lsp.Position(1, 6), lsp.Position(1, 7)), "golden")
        )
        assert {each.code for each in editor.problems(WEATHER)} == {"EV406"}


def test_edits_behind_characters_that_other_editors_count_in_another_way(editor: Editor) -> None:
    """YAML forbids U+2028, but a text that is being edited has it all the same; for Python it ends a line."""
    text = FILES[WEATHER].replace("One city", "\U0001f600 \u2028 \x0c \U0001f600 z")
    assert {each.code for each in editor.open(WEATHER, text)} == {"EV110"}
    editor.edit(WEATHER, "\U0001f600 z", "\U0001f600 zz")
    assert editor.edit(WEATHER, "\u2028 \x0c ", "") == []
    problem = editor.edit(WEATHER, "message: What is the weather?", "mesage: What is the weather?")[0]
    assert (problem.code, editor.text_at(WEATHER, problem.range)) == ("EV201", "mesage")


# --- hover ---


@pytest.mark.parametrize(
    ("cursor", "shown"),
    [
        ("  test_ca|ses", "test_cases"),
        ("contai|ns", "case-sensitively"),
        ("tools cal|led", "**tools called**"),
        ("type: not_con|tains", "**not_contains**"),
        ("name: rig|ht", "criterion, weight 0.75, 75 % of the score"),
        ("criterion: rig|ht", "Says what is so."),
        ("use: poli|te", 'not contains "stupid" for tone'),
        ("cities[|0]", "is `Paris` in the seed manifest"),
        ("called [get_|weather", "- `city`: Its name."),
    ],
)
def test_hover(editor: Editor, cursor: str, shown: str) -> None:
    editor.open(WEATHER)
    assert shown in editor.hover(WEATHER, cursor)


def test_hover_over_nothing(editor: Editor) -> None:
    editor.open(WEATHER)
    assert editor.hover(WEATHER, "One ci|ty") in {"", editor.hover(WEATHER, "One| city")}
    editor.open("x.yaml", "")
    assert editor.hover("x.yaml", "|") == ""


# --- completion ---


@pytest.mark.parametrize(
    ("old", "new", "cursor", "offered"),
    [
        ("      description: One city\n", "      thr\n", "      thr|", {"threshold", "tags"}),
        ("      description: One city\n", "      \n", "paris\n      |\n", {"threshold", "description"}),
        ("suite: weather\n", "suite: weather\nti\n", "\nti|", {"tier", "gates"}),
        ("suite: weather\n", "suite: weather\ntier: \n", "tier: |", {"golden", "labeled"}),
        ("- use: short\n", "- con\n", "- con|\n", {"contains", "contains any of", "use", "type"}),
        ("- use: short\n", '- contains "a" \n', '"a" |\n', {"for", "and", "ignoring"}),
        ("- use: short\n", '- contains "a" for \n', "for |\n", {"right", "tone"}),
        ("- use: short\n", "- use: \n", "use: |\n", {"polite", "short"}),
        ("- use: short\n", "- tools called [\n", "called [|\n", {"get_weather"}),
        ("- use: short\n", "- tool get_weather.\n", "weather.|\n", {"city", "days"}),
        ("- use: short\n", "- type: st\n", "type: st|\n", {"starts_with", "structure"}),
        ("- use: short\n", "- {type: contains, ru}\n", "ru|}", {"rule", "criterion"}),
        ("criterion: right", "criterion: ", "criterion: |", {"right", "tone"}),
        ("{{seed:cities[0].name}}", "{{seed:}}", "{{seed:|}}", {"cities[0].name"}),
        ("[shared/rules.eval.yaml]", "[sh]", "[sh|]", {"shared/rules.eval.yaml"}),
        ("      description: One city\n", "      stubs: {t: {}}\n", "t: {|}", {"when", "answer", "error", "sequence"}),
        ("      description: One city\n", "      stubs: {t: [{when: {a: 1}, an}]}\n", "an|}", {"answer", "sequence"}),
        ("      description: One city\n", "      stubs: {t: {sequence: [{er}]}}\n", "er|}", {"error", "answer"}),
    ],
)
def test_completion(editor: Editor, old: str, new: str, cursor: str, offered: set[str]) -> None:
    editor.open(WEATHER, FILES[WEATHER].replace(old, new, 1))
    found = editor.completions(WEATHER, cursor)
    assert offered <= found.keys()


def test_paths_into_the_rows_of_a_case_are_completed(editor: Editor, root: Path) -> None:
    (root / "r.jsonl").write_text('{"id": 1, "order": {"items": [{"sku": "A1"}]}, "not a name": 1}\n{"note": null}\n')
    case = "    - name: a\n      inputs: {shop: {town: Rome}}\n      for_each: r.jsonl\n      validate: [non-empty]\n"
    name = "paths.eval.yaml"
    editor.open(name, f'suite: s\neval:\n  test_cases:\n{case}      message: "Is {{{{o}}}}?"\n')
    offered = editor.completions(name, "{{o|}}")
    expected = {"id", "order", "order.items", "order.items[0]", "order.items[0].sku", "note", "shop", "shop.town"}
    assert expected <= set(offered)
    assert "not a name" not in offered


def test_a_completion_replaces_what_has_been_typed_and_says_what_it_is_for(editor: Editor) -> None:
    editor.open(WEATHER, FILES[WEATHER].replace("      description: One city\n", "      thr\n", 1))
    item = editor.completions(WEATHER, "      thr|")["threshold"]
    assert isinstance(item.text_edit, lsp.TextEdit)
    assert "      threshold: \n" in editor.applied(WEATHER, [item.text_edit])
    assert isinstance(item.documentation, lsp.MarkupContent)
    assert "score" in item.documentation.value
    assert "name" not in editor.completions(WEATHER, "      thr|")  # it is there already


def test_inputs_of_a_prompt_elsewhere_are_offered(editor: Editor) -> None:
    editor.open(GREET, FILES[GREET].replace("inputs: {name: Ann}", "inputs: {}").replace("contains", "contains any of"))
    assert "name" in editor.completions(GREET, "inputs: {|}")
    editor.edit(GREET, "greet-v1", "g")
    assert "greet-v1" in editor.completions(GREET, "prompt_id: g|")


@pytest.mark.parametrize(
    ("text", "cursor", "label", "written"),
    [
        ('{"metadata": {}, "cases": [{"id": "a", "in"}]}', '"in|"', "input", '"input"}'),
        ('{"metadata": {}, "cases": [{"id": "a", }]}', '"a", |}', "expect", '"expect":'),
        ('{"metadata": {"tier": "go"}, "cases": []}', '"go|"', "golden", '"golden"}'),
        ('{"metadata": {"tier": }, "cases": []}', '"tier": |}', "golden", '"golden"}'),
    ],
)
def test_eval_json_is_completed_by_its_own_keys(
    editor: Editor, text: str, cursor: str, label: str, written: str
) -> None:
    editor.open("weather.golden.json", text)
    found = editor.completions("weather.golden.json", cursor)
    assert "suite" not in found
    edit = found[label].text_edit
    assert isinstance(edit, lsp.TextEdit)
    assert written in editor.applied("weather.golden.json", [edit])


def test_hover_in_eval_json(editor: Editor) -> None:
    editor.open(
        "weather.golden.json", '{"metadata": {}, "cases": [{"id": "a", "expect": {"responseContains": ["x"]}}]}'
    )
    assert "**expect**" in editor.hover("weather.golden.json", '"exp|ect"')


def test_a_key_in_quotes_stays_in_them(editor: Editor) -> None:
    editor.open(WEATHER, FILES[WEATHER].replace("      description: One city\n", '      "thr":\n', 1))
    edit = editor.completions(WEATHER, '"thr|"')["threshold"].text_edit
    assert isinstance(edit, lsp.TextEdit)
    assert '      "threshold":\n' in editor.applied(WEATHER, [edit])


def test_inside_a_text_nothing_is_offered(editor: Editor) -> None:
    editor.open(WEATHER, FILES[WEATHER].replace("- use: short\n", '- contains "tools \n', 1))
    assert editor.completions(WEATHER, '"tools |\n') == {}


# --- names ---


@pytest.mark.parametrize(
    ("cursor", "file", "text"),
    [
        ("use: poli|te", RULES, "polite"),
        ("use: sho|rt", WEATHER, "short"),
        ("for rig|ht", WEATHER, "right"),
        ("criterion: rig|ht", WEATHER, "right"),
        ("[shared/ru|les", RULES, ""),
        ("cities[0].na|me", "seed.json", '"name"'),
        ("called [get_|weather", "tools.json", ""),
    ],
)
def test_definition(editor: Editor, cursor: str, file: str, text: str) -> None:
    editor.open(WEATHER)
    assert where(editor, editor.definition(WEATHER, cursor)) == [(file, text)]


def test_the_definition_of_a_prompt_and_of_its_inputs(editor: Editor) -> None:
    editor.open(GREET)
    assert where(editor, editor.definition(GREET, "greet|-v1")) == [("prompts/greet.prompt.yaml", "greet-v1")]
    assert where(editor, editor.definition(GREET, "inputs: {na|me")) == [("prompts/greet.prompt.yaml", "name")]


def test_nothing_has_no_definition(editor: Editor) -> None:
    editor.open(WEATHER)
    assert editor.definition(WEATHER, "One ci|ty") == []
    assert editor.references(WEATHER, "One ci|ty") == []


def test_references_of_a_rule_go_over_files(editor: Editor) -> None:
    editor.open(RULES)
    assert where(editor, editor.references(RULES, "poli|te")) == [(RULES, "polite"), (WEATHER, "polite")]
    assert where(editor, editor.references(RULES, "poli|te", declarations=False)) == [(WEATHER, "polite")]


def test_a_project_that_is_reached_through_a_link_is_one(editor: Editor, root: Path, tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(root)
    name = os.path.relpath(link / WEATHER, root)
    editor.texts[root / name] = text = (
        FILES[WEATHER].replace("use: polite", "use: polite # twice").replace("use: short", "use: polite")
    )
    assert {each.code for each in editor.open(name, text)} <= {"EV503", "EV504", "EV505"}
    found = [each for each in editor.references(name, "use: poli|te # twice") if each.uri.endswith(WEATHER)]
    assert len(found) == 2  # of the text in the editor, not of the one on disk
    assert {each.uri for each in found} == {editor.uri(name)}


def test_a_rule_of_the_same_name_elsewhere_is_another(editor: Editor, root: Path) -> None:
    (root / "other.eval.yaml").write_text(
        FILES[WEATHER].replace("include: [shared/rules.eval.yaml]\n", "").replace("short:", "polite:")
    )
    editor.open(RULES)
    assert where(editor, editor.references(RULES, "poli|te")) == [(RULES, "polite"), (WEATHER, "polite")]


def test_renaming_a_criterion_renames_it_in_the_rules_that_suites_share(editor: Editor) -> None:
    editor.open(WEATHER)
    edits = editor.rename(WEATHER, '"to|ne (0.25)', "kindness")
    assert {name: len(each) for name, each in edits.items()} == {WEATHER: 1, RULES: 1}
    assert GREET not in edits  # which has a criterion of its own of that name


def test_renaming_keeps_a_project_sound(editor: Editor, root: Path) -> None:
    editor.open(WEATHER)
    for cursor, name in (("use: poli|te", "civil"), ('"to|ne (0.25)', "kindness"), ("name: rig|ht", "correct")):
        for file, edits in editor.rename(WEATHER, cursor, name).items():
            path = root / file
            editor.texts.setdefault(path, path.read_text())
            text = editor.applied(file, edits)
            editor.texts[path] = text
            path.write_text(text)
            if file == WEATHER:
                editor.change(WEATHER, lsp.TextDocumentContentChangeWholeDocument(text))
        editor.problems(WEATHER)
    assert editor.open(WEATHER) == []
    assert "use: civil" in editor.texts[root / WEATHER]


def test_renaming_an_input_stays_in_its_suite(editor: Editor) -> None:
    suite = "suite: %s\ninputs: [city]\nprompt: Say {{city}} and \\{{city}}\n"
    suite += "eval: {test_cases: [{name: a, inputs: {city: x}, expected: y}]}\n"
    editor.open(WEATHER, f"{suite % 'one'}---\n{suite % 'two'}")
    edits = editor.rename(WEATHER, "suite: one\ninputs: [ci|ty", "town")[WEATHER]
    assert [edit.range.start.line for edit in edits] == [1, 2, 3]
    assert "{{town}} and \\{{city}}" in editor.applied(WEATHER, edits)


def test_a_file_that_a_link_leads_out_of_the_project_is_not_renamed_in(
    editor: Editor, root: Path, tmp_path: Path
) -> None:
    (tmp_path / "out.eval.yaml").write_text(FILES[WEATHER])
    (root / "out.eval.yaml").symlink_to(tmp_path / "out.eval.yaml")
    editor.open(WEATHER)
    editor.open("out.eval.yaml")
    assert editor.rename(WEATHER, "use: poli|te", "civil").keys() == {WEATHER, RULES}
    with pytest.raises(JsonRpcException, match="a link leads out of the project"):
        editor.rename("out.eval.yaml", "sho|rt:", "brief")


@pytest.mark.parametrize("name", ["two words", "", "true", "9", "a: b", "right"])
def test_a_name_that_cannot_be_is_refused(editor: Editor, name: str) -> None:
    editor.open(WEATHER)
    with pytest.raises(JsonRpcException):
        editor.rename(WEATHER, '"to|ne (0.25)', name)


def test_only_what_has_a_name_of_its_own_can_be_renamed(editor: Editor) -> None:
    editor.open(WEATHER)
    with pytest.raises(JsonRpcException, match="only rules, criteria"):
        editor.rename(WEATHER, "called [get_|weather", "x")
    ask = editor.client.text_document_prepare_rename_async
    assert editor.wait(ask(lsp.PrepareRenameParams(**editor.at(WEATHER, "called [get_|weather")))) is None
    found = editor.wait(ask(lsp.PrepareRenameParams(**editor.at(WEATHER, "use: poli|te"))))
    assert isinstance(found, lsp.Range)
    assert editor.text_at(WEATHER, found) == "polite"


def test_highlights(editor: Editor) -> None:
    editor.open(WEATHER)
    ask = editor.client.text_document_document_highlight_async
    found = editor.wait(ask(lsp.DocumentHighlightParams(**editor.at(WEATHER, "name: rig|ht")))) or []
    assert [editor.text_at(WEATHER, each.range) for each in found] == ["right"] * 3


# --- the document as a whole ---


def test_symbols(editor: Editor) -> None:
    editor.open(WEATHER)
    found = editor.wait(
        editor.client.text_document_document_symbol_async(lsp.DocumentSymbolParams(editor.document(WEATHER)))
    )
    [suite] = found or ()
    assert isinstance(suite, lsp.DocumentSymbol)
    assert suite.name == "weather"
    assert [each.name for each in suite.children or ()] == ["right", "tone", "short", "paris", "nowhere"]
    for each in (suite, *(suite.children or ())):
        assert each.range.start <= each.selection_range.start
        assert each.selection_range.end <= each.range.end


def test_cases_are_found_in_the_workspace(editor: Editor) -> None:
    editor.open(WEATHER)
    found = editor.wait(editor.client.workspace_symbol_async(lsp.WorkspaceSymbolParams("nwhr"))) or []
    assert [(each.name, each.container_name) for each in found] == [("nowhere", "weather")]
    found = editor.wait(editor.client.workspace_symbol_async(lsp.WorkspaceSymbolParams(""))) or []
    assert {each.name for each in found} == {"ann", "nowhere", "paris", "right", "short", "tone"}


def test_formatting(editor: Editor) -> None:
    untidy = FILES[WEATHER].replace("name: paris", "name:   'paris'").replace("{name: right,", "{ name: right,")
    editor.open(WEATHER, untidy)
    tidy = editor.applied(WEATHER, editor.formatting(WEATHER))
    assert "    - name: paris\n" in tidy
    editor.open(GREET, tidy)
    assert editor.formatting(GREET) == []


def test_a_broken_document_is_not_formatted(editor: Editor) -> None:
    for name, text in (("broken.eval.yaml", "eval: [\n"), ("compose.yaml", "a:   1\n"), ("a.golden.json", "[ ]")):
        editor.open(name, text)
        assert editor.formatting(name) == []


def test_hints_are_shares_of_the_score(editor: Editor) -> None:
    editor.open(WEATHER)
    everything = lsp.Range(lsp.Position(0, 0), lsp.Position(1000, 0))
    params = lsp.InlayHintParams(editor.document(WEATHER), everything)
    found = editor.wait(editor.client.text_document_inlay_hint_async(params)) or []
    assert [hint.label for hint in found] == ["75 %", "25 %"]


# --- fixes ---


def test_a_sure_cure_is_preferred(editor: Editor) -> None:
    editor.open(WEATHER, FILES[WEATHER].replace('contains "{{seed:cities[0].name}}"', 'contains "a: b"'))
    [title, *_] = actions = editor.actions(WEATHER, 'contains "a|: b"')
    assert actions[title].is_preferred
    assert "- 'contains \"a: b\" for right'\n" in editor.fixed(WEATHER, actions[title])


def test_a_near_name_is_offered_without_being_preferred(editor: Editor) -> None:
    editor.open(WEATHER, FILES[WEATHER].replace("- tools called", "- toolz called"))
    actions = editor.actions(WEATHER, "tool|z")
    assert actions
    for action in actions.values():
        assert not action.is_preferred
        assert action.diagnostics


def test_a_warning_can_be_ignored_on_its_line(editor: Editor) -> None:
    editor.open(WEATHER, FILES[WEATHER].replace("use: short", "length >= 0"))
    action = editor.actions(WEATHER, "leng|th >= 0")["Ignore EV501 on this line"]
    assert "- length >= 0 # evalc: ignore[EV501]\n" in editor.fixed(WEATHER, action)


@pytest.mark.parametrize(
    "check",
    [
        "\"contains 'a\n            b' or contains ''\"",
        'not contains "secret\n          word" or length >= 0',
        "|\n          length >= 0\n",
        ">-\n          length >= 0\n          chars",
        "length\n            >= 0 chars",
    ],
)
def test_ignoring_a_warning_changes_no_text(editor: Editor, root: Path, check: str) -> None:
    before = FILES[WEATHER].replace("use: short", check)
    editor.open(WEATHER, before)
    [problem] = evalc.check(Source(str(root / WEATHER), before))
    action = editor.actions(WEATHER, problem.span.start)[f"Ignore {problem.code} on this line"]
    after = editor.fixed(WEATHER, action)
    texts = [[text[slice(*span)] for span in texts_of(Source("x", text), holding="")] for text in (before, after)]
    assert texts[0] == texts[1]
    assert evalc.check(Source(str(root / WEATHER), after)) == ()


def test_all_safe_fixes_at_once(editor: Editor) -> None:
    sound = FILES[WEATHER].replace("use: short", 'contains "Tokyo"').replace("tools called", "tools not called")
    editor.open(WEATHER, sound.replace('"Tokyo"', "Tokyo").replace("type: not_contains", "type: not-contains"))
    [action] = editor.actions(WEATHER, "suite|", lsp.CodeActionKind.SourceFixAll).values()
    assert editor.fixed(WEATHER, action) == sound.replace("type: not_contains", "type: not-contains")
    assert editor.actions(WEATHER, "suite|", lsp.CodeActionKind.Refactor) == {}


# --- runs ---


def test_a_case_is_run_and_its_verdict_stands_above_it(editor: Editor, root: Path) -> None:
    (root / "evalc.toml").write_text(FILES["evalc.toml"] + 'agent = "demo"\n')
    editor.open(WEATHER)
    titles = [lens.command.title for lens in editor.lenses(WEATHER) if lens.command is not None]
    assert titles == ["run all", "run", "run"]
    lens = [lens for lens in editor.lenses(WEATHER) if lens.command is not None and lens.command.title == "run"][1]
    assert lens.command is not None
    params = lsp.ExecuteCommandParams(lens.command.command, list(lens.command.arguments or ()))
    said = editor.wait(editor.client.workspace_execute_command_async(params))
    assert said is not None
    assert "read 1 suite" in said
    titles = [lens.command.title for lens in editor.lenses(WEATHER) if lens.command is not None]
    assert titles[:3] == ["run all", "run", "passed, score 1.00"] or titles[2].startswith("passed")
    shown = [
        lens for lens in editor.lenses(WEATHER) if lens.command is not None and lens.command.command == "evalc.show"
    ]
    assert shown[0].command is not None
    params = lsp.ExecuteCommandParams("evalc.show", list(shown[0].command.arguments or ()))
    text = editor.wait(editor.client.workspace_execute_command_async(params))
    assert text is not None
    run = lsp.ExecuteCommandParams("evalc.run", [editor.uri(WEATHER), "weather/paris"])
    editor.wait(editor.client.workspace_execute_command_async(run))
    titles = [lens.command.title for lens in editor.lenses(WEATHER) if lens.command is not None]
    assert len(titles) == 5  # a run of one case leaves the verdicts on the others
    assert text.startswith("# weather/nowhere: passed")
    assert "    What is the weather?" in text


def test_a_shown_case_is_a_file_that_goes_with_the_session(tmp_path: Path) -> None:
    write_project(tmp_path)
    (tmp_path / "evalc.toml").write_text(FILES["evalc.toml"] + 'agent = "demo"\n')
    with Editor(tmp_path) as editor:
        editor.open(WEATHER)
        arguments = [editor.uri(WEATHER), "weather/paris"]
        for command in ("evalc.run", "evalc.show", "evalc.show"):
            params = lsp.ExecuteCommandParams(command, arguments)
            text = editor.wait(editor.client.workspace_execute_command_async(params))
        first, again = [path_of(shown.uri) for shown in editor.client.shown_documents]
        assert first == again
        assert first.name == "weather-paris.md"
        assert first.read_text(encoding="utf-8") == text
    assert not first.parent.exists()


def test_a_command_with_wrong_arguments_is_refused(editor: Editor) -> None:
    for arguments in ([], ["file:///nowhere.yaml", "x"], [1, 2]):
        with pytest.raises(JsonRpcException):
            editor.wait(
                editor.client.workspace_execute_command_async(lsp.ExecuteCommandParams("evalc.show", arguments))
            )
    assert editor.open(WEATHER) == []


def test_a_document_that_is_not_open_is_refused(editor: Editor) -> None:
    params = lsp.HoverParams(lsp.TextDocumentIdentifier(editor.uri(WEATHER)), lsp.Position(0, 0))
    with pytest.raises(JsonRpcException, match="is not open"):
        editor.wait(editor.client.text_document_hover_async(params))


@pytest.mark.parametrize(
    ("before", "offered", "left_out"),
    [
        ("at x ", {"contains", "is a date", "has a table", "count"}, {"called", "fails", "latency"}),
        ("latency ", {"between", ">=", "one of"}, {"contains", "is unique", "json", "empty", "words"}),
        ("(json and at items count ", {"between", "<="}, {"starts with", "is a date"}),
        ("tools ", {"called", "include", "one of"}, {"contains", "is a date"}),
        ("any call of book ", {"has", "fails", "returns"}, {"called", "contains"}),
    ],
)
def test_a_predicate_is_offered_where_its_subject_can_be_asked(
    before: str, offered: set[str], left_out: set[str]
) -> None:
    found = continuation(before)
    assert found is not None
    assert offered <= set(found.words)
    assert not left_out & set(found.words)
