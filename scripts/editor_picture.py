"""Draws `docs/editor.svg`: a text, a cursor in it, and what `evalc lsp` offers there (`make picture`)."""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from html import escape
from pathlib import Path
from typing import Final, NamedTuple

from tests.external.editor import LanguageServer, Offer

PICTURE: Final = Path(__file__).parents[1] / "docs" / "editor.svg"
FILE: Final = "weather.eval.yaml"
EXAMPLE: Final = """\
suite: weather
tool: get_weather
eval:
  criteria:
    - "grounded (0.6): Says what the tools said"
    - "tone (0.4): Stays kind"
  test_cases:
    - name: umbrella
      message: Do I need an umbrella in Paris today?
      validate:
        - tools called [get_weather]
        - contains any of ["rain", "umbrella"] for grounded
        - not |
"""

CELL: Final = 8.4
LINE: Final = 21
MARGIN: Final = 18
TITLE: Final = 38
GUTTER: Final = 44
MOST_OFFERS: Final = 10
WIDTH: Final = 860
LIST_WIDTH: Final = 200

BACKGROUND: Final = "#0d1117"
FRAME: Final = "#30363d"
POPUP: Final = "#161b22"
CHOSEN: Final = "#1f4a7d"
TEXT: Final = "#c9d1d9"
FAINT: Final = "#6e7681"
KEY: Final = "#7ee787"
STRING: Final = "#a5d6ff"
COMMENT: Final = "#8b949e"
LIGHTS: Final = ("#ff5f57", "#febc2e", "#28c840")

_TOKEN: Final = re.compile(
    r"""
    (?P<comment>\#[ ].*) | (?P<string>"(?:[^"\\]|\\.)*") | (?P<key>[\w-]+(?=:)) | (?P<mark>[-:\[\]{},])
    | (?P<text>[^\s"\#\[\]{},:-]+ | \S)
    """,
    re.VERBOSE,
)
_FONTS: Final = "ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace"
_COLOURS: Final = {"comment": COMMENT, "string": STRING, "key": KEY, "mark": FAINT, "text": TEXT}


class Pane(NamedTuple):
    """A file in an editor: its name, its text with `|` where the cursor is, and what is offered there."""

    file: str
    text: str
    offers: Sequence[Offer]


def draw(pane: Pane, picture: Path) -> None:
    """Draw the pane."""
    picture.write_text("\n".join(_svg(pane)) + "\n", encoding="utf-8")


def _svg(pane: Pane) -> Iterator[str]:
    before = pane.text.rpartition("|")[0]
    lines = before.split("\n")
    offers = pane.offers[:MOST_OFFERS]
    height = TITLE + (len(lines) + len(offers) + 1) * LINE + 2 * MARGIN
    yield f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" viewBox="0 0 {WIDTH} {height}">'
    yield f"<title>Completion in {escape(pane.file)}</title>"
    yield f"<style>text{{font:14px {_FONTS};white-space:pre}}</style>"
    yield _box(0.5, 0.5, WIDTH - 1, height - 1, fill=BACKGROUND, radius=9)
    for index, colour in enumerate(LIGHTS):
        yield f'<circle cx="{22 + 20 * index}" cy="20" r="6" fill="{colour}"/>'
    yield _text(WIDTH / 2 - len(pane.file) * CELL / 2, 25, pane.file, COMMENT)
    for number, line in enumerate(lines, start=1):
        y = TITLE + MARGIN + number * LINE
        yield _text(GUTTER - len(str(number)) * CELL, y, str(number), FAINT)
        yield from _coloured(line, GUTTER + MARGIN, y)
    x, y = GUTTER + MARGIN + len(lines[-1]) * CELL, TITLE + MARGIN + len(lines) * LINE
    yield f'<rect x="{x + 1:g}" y="{y - 15:g}" width="2" height="19" fill="{STRING}"/>'
    yield from _popup(offers, x, y + 9)
    yield "</svg>"


def _popup(offers: Sequence[Offer], x: float, y: float) -> Iterator[str]:
    """The list of what is offered, the first chosen, and the sentence that belongs to it."""
    yield _box(x, y, LIST_WIDTH, len(offers) * LINE + 8, fill=POPUP, radius=4)
    yield f'<rect x="{x + 1:g}" y="{y + 4:g}" width="{LIST_WIDTH - 2}" height="{LINE}" fill="{CHOSEN}"/>'
    for row, offer in enumerate(offers):
        yield _text(x + 12, y + 19 + row * LINE, offer.label, TEXT)
    sentence = offers[0].documentation if offers else ""
    yield _box(x + LIST_WIDTH + 6, y, len(sentence) * CELL + 24, LINE + 8, fill=POPUP, radius=4)
    yield _text(x + LIST_WIDTH + 18, y + 19, sentence, TEXT)


def _coloured(line: str, x: float, y: float) -> Iterator[str]:
    for token in _TOKEN.finditer(line):
        yield _text(x + token.start() * CELL, y, token.group(), _COLOURS[str(token.lastgroup)])


def _text(x: float, y: float, text: str, colour: str) -> str:
    """A text that takes as many cells as it has characters, whatever the font."""
    length = f' textLength="{len(text) * CELL:g}"' if text else ""
    return f'<text x="{x:g}" y="{y:g}" fill="{colour}"{length}>{escape(text, quote=False)}</text>'


def _box(x: float, y: float, width: float, height: float, *, fill: str, radius: int) -> str:
    return (
        f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="{radius}" '
        f'fill="{fill}" stroke="{FRAME}"/>'
    )


def asked(text: str) -> list[Offer]:
    """Completions that the language server offers at `|` in the text."""
    before, _, after = text.rpartition("|")
    command = [sys.executable, "-m", "evalc", "lsp"]
    with (
        tempfile.TemporaryDirectory() as folder,
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process,
    ):
        server = LanguageServer(process)
        server.start(Path(folder))
        file = Path(folder) / FILE
        server.open(file, before + after)
        lines = before.split("\n")
        offers = server.complete(file, len(lines) - 1, len(lines[-1]))
        process.terminate()
    return offers


if __name__ == "__main__":
    draw(Pane(FILE, EXAMPLE, asked(EXAMPLE)), PICTURE)
