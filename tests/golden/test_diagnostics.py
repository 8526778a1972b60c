"""Renderings of problems, word for word: one Markdown file per problem, the source above, the rendering below.

`pytest --update-goldens` writes the renderings anew; the change is then read before it is kept.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import evalc
from evalc.diagnostics.render import render_text

GOLDENS = sorted((Path(__file__).parent / "diagnostics").glob("*.md"))
_GOLDEN = re.compile(
    r"(?P<head>.*?```(?P<language>yaml|json)\n(?P<source>.*?)```\n\n```text\n)(?P<said>.*?)```\n", re.DOTALL
)


def read(path: Path) -> re.Match[str]:
    match = _GOLDEN.fullmatch(path.read_text(encoding="utf-8"))
    assert match is not None, f"{path.name} is no golden: a ```yaml or ```json block, then a ```text block"
    return match


@pytest.mark.parametrize("path", GOLDENS, ids=lambda path: path.stem)
def test_rendering(path: Path, update_goldens: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    golden = read(path)
    monkeypatch.chdir(tmp_path)  # schemas and prompts are looked for here, and there are none
    name = "example.json" if golden["language"] == "json" else "example.eval.yaml"
    said = render_text(evalc.check(evalc.Source(name, golden["source"])))
    said = said.replace(str(tmp_path), "/project")
    if update_goldens:
        path.write_text(f"{golden['head']}{said}```\n", encoding="utf-8")
    assert said == read(path)["said"]


def test_goldens_cover_all_families() -> None:
    said = "".join(read(path)["said"] for path in GOLDENS)
    families = {code[2] for code in re.findall(r"\[(EV\d{3})\]", said)}
    assert len(GOLDENS) >= 40
    assert families >= {"1", "2", "3", "4", "5", "6"}
