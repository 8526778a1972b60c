"""Tool registries that are modules: what is read of them, what is said to be unreadable, and that nothing is run."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalc.diagnostics import Diagnostics
from evalc.tools import modules
from evalc.tools.load import RegistryFile, load_tools
from evalc.tools.modules import Exported, ExportLists, Module
from tests.tools.reading import read

TOOL = '{ name: "get_weather", description: "Gets the weather", version: "1.2.0", parameters: { type: "object" } }'


def description(folder: Path, expression: str, before: str = "") -> Any:
    text = f"{before}\nexport const t = {{ name: 't', description: {expression}, parameters: {{}} }};"
    return read(folder, {"tools.ts": text}).tools["t"].description


@pytest.mark.parametrize(
    "text",
    [
        f"export const weatherTool = {TOOL};",
        f"export const weatherTool: ToolDefinition<X> = {TOOL} as const satisfies ToolDefinition;",
        f"export default {TOOL}",
        f"export default [{TOOL}] as const;",
        f"export default defineTool({TOOL});",
        f"export const t = new Tool<Args>({TOOL});",
        f"export const t = tool(async () => 1, {TOOL});",
        f"const t = {TOOL};\nexport {{ t as anything }};",
        f"const t = {TOOL};\nexport default t;\nexport {{ t }};\nexport const ALL = [t];",
        f"const t = {TOOL};\nexport = t;",
        f"export const tools = {{ get_weather: {TOOL} }};",
        "export const x = { get_weather: tool({ description: 'Gets the weather', parameters: { type: 'object' } }) };",
        f'export const t = {{ type: "function", function: {TOOL} }};',
        f"const base = {TOOL};\nexport const t = {{ ...base, execute: () => fetch('x') }};",
        f"const list = [{TOOL}];\nexport const all = [...list];\nexport const frozen = Object.freeze(list);",
        f"export const t = Object.freeze({TOOL});\nexport type T = typeof t;\nexport enum C {{}}",
    ],
)
def test_every_way_to_export_a_tool_is_read(text: str, tmp_path: Path) -> None:
    found = read(tmp_path, {"tools.exports.ts": text})
    assert found.problems == []
    (tool,) = found.tools.values()
    assert (tool.name, tool.description, tool.parameters) == ("get_weather", "Gets the weather", {"type": "object"})
    assert found.tools.complete


@pytest.mark.parametrize(
    "text",
    [f"module.exports = [{TOOL}];", f"exports.t = {TOOL};", f"const t = {TOOL};\nmodule.exports.t = t;"],
)
def test_commonjs_is_read(text: str, tmp_path: Path) -> None:
    assert list(read(tmp_path, {"tools.cjs": text}).tools) == ["get_weather"]
    user = 'const { t } = require("./tools.cjs");\nmodule.exports = { x: require("./tools.cjs") };'
    assert list(read(tmp_path, {"index.cjs": user}).tools) == ["get_weather"]


@pytest.mark.parametrize(
    ("files", "names"),
    [
        ({"b.ts": "export { a as x } from './a';", "a.ts": f"export const a = {TOOL};"}, ["get_weather"]),
        ({"b.ts": "export { default as x } from './a.js';", "a.ts": f"export default {TOOL};"}, ["get_weather"]),
        ({"b.ts": "export * from './a';", "a/index.mjs": f"export const a = {TOOL};"}, ["get_weather"]),
        ({"b.ts": "export * as ns from './a';", "a.jsx": f"export const a = {TOOL};"}, ["get_weather"]),
        ({"b.js": "import d from './a';\nexport { d };", "a.cjs": f"module.exports = {TOOL};"}, ["get_weather"]),
        ({"b.ts": "import * as all from './a';\nexport const A = Object.values(all);",
          "a.tsx": f"export const a = {TOOL};"}, ["get_weather"]),
        ({"b.ts": "export * from './a';\nexport default 1;", "a.ts": f"export default {TOOL};"}, []),
        # A cycle, whose values do not refer to each other.
        ({"b.ts": f"import {{ y }} from './a';\nexport const b = {TOOL};\nexport {{ y }};",
          "a.ts": "import { b } from './b';\nexport const all = [b];\nexport const y = {name: 'y', description: ''};"},
         ["get_weather", "y"]),
        ({"b.ts": "export * from './a';", "a.ts": f"export * from './b';\nexport const a = {TOOL};"}, ["get_weather"]),
    ],
)  # fmt: skip
def test_re_exports_are_followed(files: dict[str, str], names: list[str], tmp_path: Path) -> None:
    found = read(tmp_path, files)
    assert [problem for problem in found.problems if "EV660" not in problem] == []
    assert list(found.registry or ()) == names


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        (r'"a\n\"b\" é \u{1F600} \x41"', 'a\n"b" é 😀 A'),
        ("'it\\'s'", "it's"),
        ("`two\nlines`", "two\nlines"),
        ("`${'in'}side`", "inside"),
        ("'a' + \"b\" + `c`", "abc"),
        (" + ".join(["'x'"] * 2000), "x" * 2000),
        ("['a', 'b'].join(' ')", "a b"),
        ("`\n  a\n`.trim()", "a"),
        ("(('a' as string)!)", "a"),
    ],
)
def test_texts_are_what_they_are_in_javascript(expression: str, value: str, tmp_path: Path) -> None:
    assert description(tmp_path, expression) == value


@pytest.mark.parametrize(
    ("expression", "before"),
    [
        ("process.env.D", ""),
        ("describe()", ""),
        ("`a ${1 + 1}`", ""),
        ("D", "let D = 'a';\nD = 'b';"),
        ("D", "const D = D;"),
        ("D", "import { D } from 'a-package';"),
        ("D.x", "const D = { x: 'a' };\nD.x = 'b';"),
        ("flag ? 'a' : 'b'", ""),
        ("unknown", ""),
    ],
)
def test_computed_values_are_reported_and_never_guessed(expression: str, before: str, tmp_path: Path) -> None:
    text = f"{before}\nexport const t = {{ name: 't', description: {expression}, parameters: {{}} }};"
    found = read(tmp_path, {"tools.ts": text})
    assert found.tools["t"].description is None
    assert found.tools["t"].description_hash is None
    (problem,) = found.problems
    assert " EV663 the `description` of a tool cannot be read: " in problem


def test_values_that_something_unknown_may_replace_are_not_trusted(tmp_path: Path) -> None:
    found = read(tmp_path, {"tools.js": "export const t = { name: 't', description: 'd', ...rest() };"})
    assert (len(found.tools), found.tools.complete) == (0, False)
    assert "what follows it may replace it" in found.problems[0]


def test_a_changed_tool_is_not_trusted(tmp_path: Path) -> None:
    found = read(tmp_path, {"tools.js": f"export const t = {TOOL};\nt.description = compute();"})
    assert (len(found.tools), found.tools.complete) == (0, False)
    assert "something assigns to it later" in found.problems[0]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("export * from './gone';", "b.ts:1:15 EV664 there is no module `./gone`"),
        ("export { x } from './a';", "b.ts:1:10 EV663 the export `x` cannot be read: its module does not export `x`"),
        ("export { x } from 'pkg';", "b.ts:1:10 EV663 the export `x` cannot be read: it comes from the package `pkg`"),
        ("export * from '../../outside';", "b.ts:1:15 EV608 `../../outside` lies outside of the project"),
        ("export const t = make();", "b.ts:1:18 EV663 the export `t` cannot be read: `make` would have to be called"),
        ("export const t = defineTool({ description: 'x' });", "b.ts:1:29 EV661 the `name` of a tool is to be a text"),
        ("export const t = { name: 1, description: 'x' };", "b.ts:1:20 EV661 the `name` of a tool is to be a text"),
        (f"export const a = {TOOL};\nexport const b = {TOOL};", "b.ts:2:20 EV662 the tool `get_weather` is defined"),
        ("export const t = {{{;", "b.ts:1:"),
        ("const x = 1;", "b.ts:1:1 EV660 "),
        ("", "b.ts:1:1 EV660 "),
    ],
)
def test_mistakes_are_reported_at_their_places(text: str, problem: str, tmp_path: Path) -> None:
    (tmp_path / "outside.ts").write_text(f"export const t = {TOOL};")
    root = tmp_path / "project" / "src"
    root.mkdir(parents=True)
    found = read(root, {"b.ts": text, "a.ts": ""})
    assert found.problems[0].startswith(problem)
    assert "get_weather" not in (found.registry or {}) or "EV662" in problem


def test_a_link_out_of_the_project_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "outside.ts").write_text(f"export const t = {TOOL};")
    root = tmp_path / "project"
    root.mkdir()
    (root / "a.ts").symlink_to(tmp_path / "outside.ts")
    found = read(root, {"b.ts": "export * from './a';"})
    assert found.problems[0].startswith("b.ts:1:15 EV608")


def test_zod_schemas_are_read(tmp_path: Path) -> None:
    text = """
        import { z } from "zod";
        export const t = { name: "t", description: "T", schema: z.object({
          city: z.string().min(1).describe("A city"),
          days: z.number().int().optional(),
          unit: z.enum(["c", "f"]).default("c"),
          kind: z.literal("x"),
          tags: z.array(z.string()),
          any: z.union([z.string(), z.number()]),
          maybe: z.string().nullable(),
          n: z.coerce.number(),
        }).strict() };
    """
    parameters = read(tmp_path, {"tools.ts": text}).tools["t"].parameters
    assert parameters == {
        "type": "object",
        "properties": {
            "city": {"type": "string", "description": "A city"},
            "days": {"type": "integer"},
            "unit": {"type": "string", "enum": ["c", "f"]},
            "kind": {"const": "x"},
            "tags": {"type": "array", "items": {"type": "string"}},
            "any": {},
            "maybe": {},
            "n": {},
        },
        "required": ["city", "kind", "tags", "any", "maybe", "n"],
        "additionalProperties": False,
    }


def test_a_mapping_of_zod_schemas_is_the_schema_of_their_object(tmp_path: Path) -> None:
    text = "export const t = { name: 't', inputSchema: { a: z.string(), b: z.number().optional() } };"
    assert read(tmp_path, {"tools.ts": text}).tools["t"].parameters == {
        "type": "object",
        "properties": {"a": {"type": "string"}, "b": {"type": "number"}},
        "required": ["a"],
        "additionalProperties": False,
    }


def test_properties_that_cannot_be_read_may_hold_anything(tmp_path: Path) -> None:
    properties = "{ a: make(), b: { type: 'string' } }"
    text = f"export const t = {{ name: 't', parameters: {{ type: 'object', properties: {properties} }} }};"
    tool = read(tmp_path, {"tools.ts": text}).tools["t"]
    assert tool.parameters == {"type": "object", "properties": {"a": {}, "b": {"type": "string"}}}
    spread = "export const t = { name: 't', parameters: { type: 'object', properties: { ...shared, b: {} } } };"
    assert read(tmp_path, {"spread.ts": spread}).tools["t"].parameters is None


def test_nothing_is_run(tmp_path: Path) -> None:
    ran = tmp_path / "ran"
    text = f"require('fs').writeFileSync({str(ran)!r}, ''); export const t = {TOOL};"
    assert list(read(tmp_path, {"tools.js": text}).tools) == ["get_weather"]
    assert not ran.exists()


@pytest.mark.parametrize(
    "text",
    [
        "export const a = " + "[" * 100_000 + "]" * 100_000,
        "export const a = " + "(" * 100_000 + "1" + ")" * 100_000,
        "export const a = " + "{a:" * 50_000 + "1" + "}" * 50_000,
        "export const a = " + "f(" * 50_000 + ")" * 50_000,
        "export const a = 'x'" + " + 'x'" * 50_000,
        "export const a = " + "x." * 50_000 + "y",
        "export const a0 = [];" + "".join(f"const a{n + 1} = a{n};" for n in range(5_000)) + "export { a5000 }",
        "const a0 = {x: 1};"
        + "".join(f"const a{n + 1} = {{x: a{n}, y: a{n}}};" for n in range(60))
        + "export const t = {name: 't', parameters: a60};",
        "export const a = `${`" * 20_000,
        "{" * 100_000,
    ],
    ids=["lists", "parentheses", "objects", "calls", "sum", "members", "names", "doubling", "templates", "unclosed"],
)  # fmt: skip
def test_hostile_modules_end_in_an_answer(text: str, tmp_path: Path) -> None:
    found = read(tmp_path, {"tools.ts": text})
    assert found.registry is not None or found.problems


@given(text=st.text(st.sampled_from("export const t={}[]()'`\"$:,.*/\\\n from\0éz"), max_size=60))
def test_any_text_ends_in_an_answer(text: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.getbasetemp()
    path = folder / "any.tsx"
    path.write_text(text, encoding="utf-8")
    problems = Diagnostics()
    load_tools(RegistryFile(path, folder), problems)
    assert all(problem.span.start <= problem.span.end <= len(problem.source.text) for problem in problems)


def test_a_module_of_many_exports_is_read_whole(tmp_path: Path) -> None:
    lines = [f'export const t{n} = {{name: "t{n}", description: "größer", schema: {{}}}};\n' for n in range(3000)]
    found = read(tmp_path, {"tools.ts": "".join(lines)})
    assert (found.tools.size, found.problems) == (3000, [])


@pytest.mark.parametrize(
    "barrel",
    [
        "import {{ {names} }} from './all';\nexport const tools = [{names}];",
        "export {{ {names} }} from './all';",
    ],
)
def test_exports_of_a_module_are_listed_and_searched_once(
    barrel: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked_for: list[Path] = []
    listed: list[Module] = []
    candidates, lists = modules._candidates, ExportLists._listed

    def looking(path: Path) -> Iterator[Path]:
        looked_for.append(path)
        return candidates(path)

    def listing(self: ExportLists, module: Module) -> Iterator[Exported]:
        listed.append(module)
        return lists(self, module)

    monkeypatch.setattr(modules, "_candidates", looking)
    monkeypatch.setattr(ExportLists, "_listed", listing)
    names = [f"t{number}" for number in range(300)]
    text = "\n".join(f"export const {name} = {{ name: '{name}', description: 'd' }};" for name in names)
    found = read(tmp_path, {"tools.ts": barrel.format(names=", ".join(names)), "all.ts": text})
    assert (list(found.tools), found.problems) == (names, [])
    assert len(looked_for) == 1
    assert len(listed) == 2


def test_modules_that_export_each_other_and_themselves_are_read_once(tmp_path: Path) -> None:
    def module(name: str, following: str) -> str:
        return f"export * from './{following}'; export const {name} = {{ name: '{name}', description: 'd' }};"

    files = {f"{name}.ts": module(name, following) for name, following in ("ab", "bc", "ca")}
    files["a.ts"] += "export * from './a'; export { b as again } from './c';"
    found = read(tmp_path, files)
    assert (sorted(found.tools), found.problems) == (["a", "b", "c"], [])


def test_a_named_module_that_does_not_parse_is_an_error(tmp_path: Path) -> None:
    broken = "export const a = { name: 'a', description: 'd' };\nexport const b = = 3;"
    [problem] = read(tmp_path, {"tools.ts": broken}).problems
    assert problem.startswith("tools.ts:2:16 EV667 the module `")
    within = read(tmp_path, {"barrel.ts": "export * from './tools';"})
    assert within.problems == ["tools.ts:2:16 EV663 this part cannot be read: it does not parse"]
    assert (list(within.tools), within.tools.complete) == (["a"], False)
