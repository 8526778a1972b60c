"""Fixes of lines that are not checks by `evalc check --fix`, word for word: a table with a row for each.

`pytest --update-goldens` writes the table anew; the change is then read before it is kept.
"""

from __future__ import annotations

import re
from pathlib import Path

import evalc
from evalc.diagnostics.fixing import fixed

GOLDEN = Path(__file__).parent / "fixes" / "lines.md"
HEAD = """\
suite: s
eval:
  criteria: [tone, waiting]
  test_cases:
    - name: a
      message: hi
      validate:
"""
KEPT = "-"


def rows() -> list[str]:
    """The first cell of each row."""
    cells = re.findall(r"^\| (`+) ?(.*?) ?\1 \|", GOLDEN.read_text(encoding="utf-8"), re.MULTILINE)
    return [cell.replace("\\|", "|") for _, cell in cells]


def row(line: str) -> str:
    cells = (line, made(line, unsafe=False), made(line, unsafe=True))
    return f"| {' | '.join(map(in_code, cells))} |"


def made(line: str, *, unsafe: bool) -> str:
    """The fixed line; `-` if there are no fixes."""
    source = evalc.Source("a.eval.yaml", f"{HEAD}        - {line}\n")
    result = fixed(source, evalc.check(source), evalc.check, selected=lambda _: True, unsafe=unsafe)
    return result.text.removeprefix(f"{HEAD}        - ").removesuffix("\n") if result.fixes else KEPT


def in_code(cell: str) -> str:
    if cell == KEPT:
        return cell
    fence = "``" if "`" in cell else "`"
    space = " " if cell.startswith("`") or cell.endswith("`") else ""
    return f"{fence}{space}{cell}{space}{fence}".replace("|", "\\|").replace("\n", " ")


def test_fixes(update_goldens: bool) -> None:
    head, rule, table = GOLDEN.read_text(encoding="utf-8").partition("| --- | --- | --- |\n")
    made_now = "".join(f"{row(line)}\n" for line in rows())
    if update_goldens:
        GOLDEN.write_text(f"{head}{rule}{made_now}", encoding="utf-8")
        table = made_now
    assert table == made_now


def test_the_table_has_enough_rows() -> None:
    assert len(rows()) >= 50
