"""Draws `docs/demo.svg`, the terminal picture of the README, from two real commands: `make picture`.

The picture is the same every time: durations and the id of the run, which never are, are replaced.
"""

from __future__ import annotations

import io
import os
import pty
import re
import subprocess
import sys
from pathlib import Path
from typing import Final

from rich.console import Console
from rich.terminal_theme import TerminalTheme
from rich.text import Text

ROOT: Final = Path(__file__).parents[1]
PICTURE: Final = ROOT / "docs" / "demo.svg"
WIDTH: Final = 110
MOST_PROBLEMS: Final = 4
CELL: Final = 12.2
"""How wide rich draws a character."""

RUN_ID: Final = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
FIXED_RUN_ID: Final = "01a1f3c2-5b7e-7d40-9c1a-8e2f6b4d7a90"
DURATION: Final = re.compile(r"\b\d+ms\b")
LEADING_SPACES: Final = re.compile(r'x="([\d.]+)"( y="[\d.]+") textLength="([\d.]+)"([^>]*>)((?:&#160;)+)')

BACKGROUND: Final = (13, 17, 23)
FOREGROUND: Final = (201, 209, 217)
BLACK, RED, GREEN, YELLOW = (110, 118, 129), (255, 123, 114), (63, 185, 80), (210, 153, 34)
BLUE, MAGENTA, CYAN, WHITE = (88, 166, 255), (188, 140, 255), (57, 197, 207), (240, 246, 252)
THEME: Final = TerminalTheme(BACKGROUND, FOREGROUND, [BLACK, RED, GREEN, YELLOW, BLUE, MAGENTA, CYAN, WHITE])


def main() -> None:
    """Draw the picture."""
    console = Console(record=True, width=WIDTH, file=io.StringIO(), color_system="truecolor", force_terminal=True)
    for line in picture_lines():
        # A line longer than the terminal would be wrapped by it; here it is cut, as the picture is to be read.
        console.print(Text.from_ansi(line), no_wrap=True, overflow="ellipsis", crop=True, highlight=False)
    PICTURE.parent.mkdir(exist_ok=True)
    svg = tidy(console.export_svg(title="evalc", theme=THEME, unique_id="evalc"))
    PICTURE.write_text(svg, encoding="utf-8")


def picture_lines() -> list[str]:
    """The lines of the terminal, with their colours."""
    check = ("check", "examples/mistakes")
    run = ("run", "examples/code-review", "--agent", "demo")
    return [command_line(check), *first_problems(output_of(check)), "", command_line(run), *steady(output_of(run))]


def command_line(arguments: tuple[str, ...]) -> str:
    """A command after its prompt."""
    return f"\x1b[1;32m$\x1b[0m \x1b[1mevalc {' '.join(arguments)}\x1b[0m"


def first_problems(output: str) -> list[str]:
    """The first problems that fit into the picture's width, how many are left out, and the line with the counts."""
    *problems, counts = output.rstrip("\n").split("\n\n")
    fitting = [problem for problem in problems if max(map(len, plain(problem).splitlines())) <= WIDTH]
    left_out = f"\x1b[2m... and {len(problems) - MOST_PROBLEMS} more\x1b[0m"
    return [*"\n\n".join([*fitting[:MOST_PROBLEMS], left_out, counts]).splitlines()]


def plain(text: str) -> str:
    """A text without its colours."""
    return re.sub(r"\x1b\[[0-9;]*m", "", text)


def steady(output: str) -> list[str]:
    """The lines of a run without what is another each time; the demo agent answers within a millisecond."""
    return DURATION.sub("0ms", RUN_ID.sub(FIXED_RUN_ID, output)).splitlines()


def output_of(arguments: tuple[str, ...]) -> str:
    """The output of a command on a terminal of the picture's width."""
    environment = {**os.environ, "COLUMNS": str(WIDTH), "TERM": "xterm-256color"}
    environment.pop("NO_COLOR", None)
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "evalc", *arguments]
    with subprocess.Popen(
        command, cwd=ROOT, env=environment, stdin=subprocess.DEVNULL, stdout=theirs, stderr=subprocess.DEVNULL
    ):
        os.close(theirs)
        return b"".join(iter(lambda: read_some(ours), b"")).decode().replace("\r\n", "\n")


def read_some(terminal: int) -> bytes:
    """The next bytes of a terminal; none where its other end is closed, which Linux reports as an error."""
    try:
        return os.read(terminal, 65536)
    except OSError:
        return b""


def tidy(svg: str) -> str:
    """The SVG less its fonts from the network, with leading spaces, which some programs drop, as an indentation."""
    svg = re.sub(r"@font-face \{.*?\}\s*", "", svg, flags=re.DOTALL)
    return "".join(f"{line.rstrip()}\n" for line in LEADING_SPACES.sub(indented, svg).splitlines())


def indented(text: re.Match[str]) -> str:
    """The head of a text element that begins behind its leading spaces."""
    x, y, length, rest, spaces = text.groups()
    shift = len(spaces) // len("&#160;") * CELL
    return f'x="{float(x) + shift:g}"{y} textLength="{max(float(length) - shift, 0):g}"{rest}'


if __name__ == "__main__":
    main()
