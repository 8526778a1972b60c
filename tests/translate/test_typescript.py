"""TypeScript is JavaScript once its types are taken out."""

from __future__ import annotations

from textwrap import dedent

import pytest

from evalc.grammar.write_check import NoLine
from evalc.translate.typescript import javascript_of


def words(text: str) -> list[str]:
    return [line for line in (" ".join(line.split()) for line in text.splitlines()) if line]


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
    assert words(javascript_of(text)) == [
        "function over(a ) { return a ; }",
        "export async function f (output , context ) {",
        "const list = (output ).list .map((x ) => x ? x + 1 : 0) ;",
        "const m = new Map ();",
        "let u ;",
        "return list.length > 1 && a < b ? 'x: y as z' : c ;",
        "}",
        'class C { a = "x"; b ; get (k ) { return k } }',
    ]


def test_javascript_stays_as_it_is() -> None:
    text = "const re = /a: b/; // as any\nexport default (output) => output?.length ?? 0;\n"
    assert javascript_of(text) == text


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
    with pytest.raises(NoLine):
        javascript_of(text)
