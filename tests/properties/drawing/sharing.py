"""Rewrites cases with what suites share: rules, defaults, includes, rows, merge keys."""

from __future__ import annotations

import csv
import io
import json
from typing import Any, Final

from hypothesis import strategies as st

from tests.properties.drawing.cases import DECLARED, Case, Data, link, template
from tests.properties.drawing.checks import Draw, chosen, contains, not_contains
from tests.properties.drawing.twin import Meant
from tests.properties.drawing.worlds import COMMON
from tests.properties.drawing.yaml_text import MERGE, yaml_text

Files = dict[str, str]


def move_to_rules(draw: Draw, items: list[tuple[Case, Data]], files: Files, style: int) -> Data:
    """Put checks of some cases into named rules, in this file and in an included one; the head that says so."""
    here: Data = {}
    there: Data = {}
    for index, (_, data) in enumerate(items):
        entries = data.get("validate", ())
        if not entries or draw(st.integers(0, 2)):
            continue
        moved = draw(st.integers(1, len(entries)))
        rules = chosen(draw, (here, there))
        rules[f"rule_{index}"] = entries[:moved]
        if draw(st.booleans()):
            rules[f"outer {index}"] = [{"use": f"rule_{index}"}]
            data["validate"] = [{"use": f"outer {index}"}, *entries[moved:]]
        else:
            data["validate"] = [{"use": f"rule_{index}"}, *entries[moved:]]
    head: Data = {"rules": here} if here else {}
    if there:
        shared = f"shared/rules-{len(files)}.eval.yaml"
        head["include"] = chosen(draw, ([shared], shared))
        files[shared] = yaml_text([{"rules": there}], style)
        files["shared/data.schema.json"] = files["data.schema.json"]  # a path in a check is relative to its file
    return head


_LAID_UNDER: Final[dict[str, tuple[str, Any]]] = {
    "inputs": ("inputs", {"count": 18}),
    "difficulty": ("difficulty", "edge"),
    "stubs": ("stubs", {"get_weather": "any", "book.table": None}),
    "max_turns": ("maxTurns", 5),
    "threshold": ("threshold", 0.25),
    "repeat": ("repeat", 9),
    "require": ("require", 1),
    "allow": ("allow", {"silent": "may be", "truncated": "laid under"}),
}
"""Fields of defaults beside checks and tags: the name in YAML, the name in JSON, a value."""


def add_defaults(
    draw: Draw, items: list[tuple[Case, Data]], files: Files, style: int, criteria: list[str], *, prompted: bool
) -> Data:
    """Give all cases what a suite and a file that it includes lay under them; the head that says so.

    Inputs only where they are not themselves what is sent, line by line.
    """
    shared = [contains(chosen(draw, (*COMMON, "{{name}}"))), not_contains("never: y")]
    links = [link(draw, spelt, criteria) for spelt in draw(st.lists(st.sampled_from(shared), min_size=1, max_size=2))]
    defaults: Data = {"validate": [written for written, _ in links], "tags": ["every"]}
    meant = [check for _, check in links]
    if draw(st.booleans()):
        defaults["validate"].append("latency <= 40s")
        meant.append(Meant({"type": "latency", "max": 40_000}))
    if draw(st.booleans()):
        defaults["expect"] = {"responseContains": ["rain"]}
        meant.append(Meant({"type": "contains", "value": "rain"}))
    more = draw(st.lists(st.sampled_from(sorted(_LAID_UNDER)), max_size=3, unique=True))
    if not criteria:
        more = [key for key in more if key != "threshold"]
    defaults |= {key: _LAID_UNDER[key][1] for key in more if key != "inputs" or prompted}
    head: Data = {"defaults": defaults}
    tags = ["every"]
    if draw(st.booleans()):
        head = {"include": ["base.yaml"], **head}
        files["base.yaml"] = yaml_text([{"defaults": {"validate": ['contains "18"'], "tags": ["base"]}}], style)
        meant = [Meant({"type": "contains", "value": "18"}), *meant]
        tags = ["base", *tags]
    for case, data in items:
        if draw(st.integers(0, 3)) == 0:
            data["inherit"] = False
        else:
            case.defaults, case.tags = meant, tags
            case.inherited = {
                name: value
                for key, (name, value) in _LAID_UNDER.items()
                if key in defaults and (key != "difficulty" or case.tier == "labeled")
            }
    return head


def add_rows(draw: Draw, case: Case, data: Data, files: Files) -> None:
    """Make a case one of rows, in the file or beside it, whose columns are over its inputs."""
    names = draw(st.lists(st.sampled_from(COMMON), min_size=1, max_size=2, unique=True))
    column = chosen(draw, ("key", "id"))
    case.rows = [{column: f'k{index}: "a", b', "name": name} for index, name in enumerate(names)]
    keyed: Data = {"key": "key"} if column == "key" else {}
    match chosen(draw, ("here", "csv", "jsonl")):
        case "here":
            data["for_each"] = {"rows": case.rows, **keyed} if keyed else case.rows
        case kind:
            file = f"{case.name}.{kind}"
            files[file] = _csv(case.rows) if kind == "csv" else "".join(json.dumps(row) + "\n" for row in case.rows)
            data["for_each"] = {"file": file, **keyed} if keyed else file


def _csv(rows: list[Data]) -> str:
    written = io.StringIO()
    table = csv.DictWriter(written, list(rows[0]))
    table.writeheader()
    table.writerows(rows)
    return written.getvalue()


def add_prompt(draw: Draw, case: Case, data: Data, files: Files, style: int) -> None:
    """Give a case its own prompt, in a file that is looked up by its id."""
    case.prompt = template(draw)
    data["prompt_id"] = f"prompt of {case.name}"
    prompt = {"id": data["prompt_id"], "prompt": case.prompt, "inputs": chosen(draw, DECLARED)}
    files[f"{case.name}.prompt.yaml"] = yaml_text([prompt], style)


def merged(items: list[tuple[Case, Data]]) -> Data:
    """Let a merge key bring the tags of the first case that has some into each that has the same; the head for it."""
    tagged = [data for _, data in items if "tags" in data]
    if not tagged:
        return {}
    tags = tagged[0]["tags"]
    base: Any = {"tags": tags, "x-merged": 1}
    for data in tagged:
        if data["tags"] == tags:
            del data["tags"]
            data[MERGE] = base
    return {"x-base": base}
