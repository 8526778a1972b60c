"""Files of JavaScript and the files that they import, as Node runs them; TypeScript is JavaScript without its types."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from shutil import which
from textwrap import dedent

import pytest

from evalc.ecma.modules import ScriptError, linked, script_of
from evalc.ecma.scripts import caller, functions_of


def words(text: str) -> list[str]:
    return [line for line in (" ".join(line.split()) for line in text.splitlines()) if line]


def written(folder: Path, files: dict[str, str]) -> Path:
    """The first of the files, which are written into a folder."""
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder / next(iter(files))


SAID = "\nfunction said(value) { return { pass: false, score: 0, reason: JSON.stringify(value) }; }\n"
LINKED = [
    {
        "a.mjs": "import one, { two as second, three } from './lib/b.mjs';\nimport * as all from './lib/b.mjs';\n"
        "export const say = () => said([one(), second, three(), Object.keys(all).sort(), all.five]);\n",
        "lib/b.mjs": "export default function one() { return two; }\nexport const two = 2, [four] = [4];\n"
        "export function three() { return one() + 1; }\nconst five = 5;\nexport { five, five as six };\n",
    },
    {
        "a.mjs": "import { say as of, two, b } from './b.mjs';\nimport { all } from './b.mjs';\n"
        "export default (text) => said([of(text), two, b, all.default('a')]);\n",
        "b.mjs": "export * from './c.mjs';\nexport { default as say, two } from './c.mjs';\n"
        "export * as all from './c.mjs';\n",
        "c.mjs": "let count = 0;\nexport default (text) => `${text} ${++count} ${two}`;\n"
        "export const { a: { c: two }, ...rest } = { a: { c: 1 }, d: 2 }, { b = 7 } = rest;\n",
    },
    {
        "a.mjs": "import all, { count } from './b.cjs';\nimport './c.mjs';\n"
        "import data from './d.json' with { type: 'json' };\n"
        "export default () => said([all.count(), count(), data.n, globalThis.seen]);\n",
        "b.cjs": "let n = 0;\nexports.count = () => ++n;\n",
        "c.mjs": "globalThis.seen = (globalThis.seen ?? 0) + 1;\n",
        "d.json": '{"n": [1, "a\u2028"]}',
    },
    {
        "a.cjs": "#!/usr/bin/env node\nconst { twice } = require('./lib');\nconst data = require('./data');\n"
        "module.exports = { say: (a) => said(twice(a) + data.word + require('./lib/index.js').calls()) };\n",
        "lib/index.js": "let calls = 0;\nconst own = require('./own');\n"
        "module.exports = { twice: (a) => (calls++, own(a)), calls: () => calls };\n",
        "lib/own.js": "module.exports = function (a) { return a + a; };\n",
        "data.json": '{"word": "x"}',
    },
    {
        "a.mjs": "export default function say(text) { return text.length > 3 ? said(text) : say(text + text); }\n"
        "export const other = () => say('a');\n"
    },
    {"a.mjs": "const two = 2\nexport default function (text) { return said(text + two) }\nsaid(1)\nexport { two }\n"},
    {"a.mjs": "export const say = (text) => said(`\nexport const a = 1;\nimport 'b';\n${text}`);\n"},
    {
        "a.mjs": "export const own = () => this;\nexport const add = (own) => { own = 1; };\n"
        "export default async () => said([own() === undefined, 5])\n"
    },
]
NODE = """
import(process.argv[1]).then(async (module) => {
  const say = module.say ?? module.default.say ?? module.default;
  process.stdout.write(JSON.stringify([(await say("ab")).reason, (await say("ab")).reason]));
});
"""


@pytest.mark.parametrize("files", LINKED, ids=range(len(LINKED)))
def test_files_that_import_others_do_as_in_node(tmp_path: Path, files: dict[str, str]) -> None:
    first = next(iter(files))
    file = written(tmp_path, files | {first: files[first] + SAID})
    program = which("node")
    if program is None:
        pytest.skip("node is not on PATH")
    said = subprocess.run([program, "-e", NODE, str(file)], capture_output=True, check=True, encoding="utf-8").stdout
    scripts = linked(file, tmp_path)
    call = caller(scripts, "say" if "say" in functions_of(scripts) else "default")
    assert json.loads(said) == [call("ab", {})[1] for _ in range(2)]


def test_typescript_imports_values_and_no_types(tmp_path: Path) -> None:
    file = written(
        tmp_path,
        {
            "a.ts": "import type { A } from 'promptfoo';\nimport { type B, C } from 'promptfoo';\n"
            "import D, { type E, twice } from './lib/b.js';\nimport * as all from './types';\n"
            "import { words } from './c';\nexport type { A };\nexport { type D, twice };\n"
            "export default (output: string, { vars }: C): boolean =>\n"
            "  twice(output as D).length > words.length + (all.no as number);\n",
            "lib/b.ts": "export type E = string;\nexport default interface D {}\n"
            "export const twice = (a: string): string => a + a;\n",
            "c/index.ts": "export { words } from '../d.json'\n",
            "d.json": '{"words": ["a", "b", "c"]}',
            "types.ts": "export const no: number = 0;\nexport interface T { a: string }\n",
        },
    )
    check = caller(linked(file, tmp_path), "default")
    assert [check("ab", {})[0], check("a", {})[0]] == [True, False]


@pytest.mark.parametrize(
    ("files", "why"),
    [
        ({"a.js": "import fs from 'node:fs';"}, "`a.js` imports `node:fs`, and a check has only files of its project"),
        ({"a.js": "require('./b')", "b.js": "export * from 'c';"}, "`b.js` imports `c`"),
        ({"a.js": "require('./b');"}, "`a.js` imports `./b`, and there is no such file"),
        ({"a.js": "import '../outside.js';"}, "`a.js` imports `../outside.js`, which lies outside of the project"),
        ({"a.js": "require('./link');"}, "`a.js` imports `./link`, which lies outside of the project"),
        ({"a.js": "require('./b/c')", "b/c.js": "require('../a.js')"}, "`b/c.js` and `a.js` import each other"),
        ({"a.js": "require('./b.ts')", "b.ts": "enum A { B }"}, "`b.ts` is more than JavaScript with types"),
        ({"a.js": "exports.a = () => import('./b.js');"}, "`a.js` uses `import('./b.js')`"),
        (
            {"a.js": "import { n } from './b';", "b.js": "export let n = 0;\nexport const add = () => n++;"},
            "`b.js` exports `n` and changes it",
        ),
    ],
)
def test_imports_that_are_refused(tmp_path: Path, files: dict[str, str], why: str) -> None:
    (tmp_path / "outside.js").write_text("module.exports = 1;")
    (tmp_path / "project").mkdir()
    (tmp_path / "project" / "link.js").symlink_to(tmp_path / "outside.js")
    file = written(tmp_path / "project", files)
    with pytest.raises(ScriptError, match=re.escape(why)):
        linked(file, tmp_path / "project")


@pytest.mark.parametrize(
    ("files", "why"),
    [
        (
            {"a.js": "import { no } from './b.js';\nexport const a = () => no;", "b.js": "export const b = 1;"},
            "`./b.js` has no export `no`",
        ),
        ({"a.js": "module.exports = require('./b.json');", "b.json": "{"}, "SyntaxError"),
        ({"a.js": "const b = require('./b');", "b.js": "require('fs');"}, "it asks for `require`"),
    ],
)
def test_a_file_that_fails_where_it_is_imported(tmp_path: Path, files: dict[str, str], why: str) -> None:
    with pytest.raises(ScriptError, match=why):
        functions_of(linked(written(tmp_path, files), tmp_path))


def test_types_are_taken_out() -> None:
    text = dedent("""\
        import type { A } from './a';
        type X = { a: number };
        export interface Y<T> extends Z { b?: string }
        declare const foo: string;
        function over(a: string): string;
        function over(a: any): any { return a as unknown as string; }
        export async function f<T extends X>(output: string, context?: { vars: any }): Promise<boolean> {
          const list = (output as any).list!.map((x: number): number => x ? x + 1 : 0) satisfies number[];
          const m = new Map<string, number>();
          let u!: string;
          return list.length > 1 && a < b ? 'x: y as z' : c!;
        }
        class C implements D { private readonly a?: string = "x"; b!: number; get<T>(k: T): T { return k } }
        export type { X };
        """)
    assert words(script_of(text, is_typed=True)[0]) == [
        '"use strict"; $module.export({ "f": () => f });',
        "function over(a ) { return a ; }",
        "async function f (output , context ) {",
        "const list = (output ).list .map((x ) => x ? x + 1 : 0) ;",
        "const m = new Map ();",
        "let u ;",
        "return list.length > 1 && a < b ? 'x: y as z' : c ;",
        "}",
        'class C { a = "x"; b ; get (k ) { return k } }',
    ]


def test_javascript_stays_as_it_is() -> None:
    text = "const re = /a: b/; // as any\nmodule.exports = (output) => output?.length ?? 0;\n"
    assert script_of(text, is_typed=True) == (text, [], False)


@pytest.mark.parametrize(
    "text",
    [
        "enum A { B }",
        "namespace A { export const b = 1 }",
        "const a = <string>b;",
        "class A { constructor(private b: string) {} }",
        "abstract class A {}",
        "@x class A {}",
        "import a = require('b');",
        "const a: = 1",
    ],
)
def test_more_than_types_is_refused(text: str) -> None:
    with pytest.raises(ScriptError, match="`it` is more than JavaScript with types"):
        script_of(text, is_typed=True)


def test_a_file_that_is_yet_to_be_written_imports_others(tmp_path: Path) -> None:
    written(tmp_path, {"lib/b.js": "module.exports = () => true;"})
    scripts = linked(tmp_path / "new" / "a.js", tmp_path, "exports.a = require('../lib/b');")
    assert caller(scripts, "a")("", {}) == (True, "")
