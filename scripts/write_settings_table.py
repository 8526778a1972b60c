"""Write the tables of settings and of the keywords of `evalc.run` anew, from their declarations."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from evalc.config import ALL_KEYS
from evalc.config.tables import Setting
from evalc.setup.flags import FLAGS, KEYWORDS, sentence_of, taken_by

ROOT = Path(__file__).parent.parent
ROWS = re.compile(r"\A(?:\|.*\n)*")


def keywords() -> Iterator[str]:
    """A row for each keyword of `evalc.run`."""
    for name in KEYWORDS:
        taken, sentence = (
            text.replace("|", chr(92) + "|") for text in (taken_by(name).removesuffix(" | None"), sentence_of(name))
        )
        yield f"| `{name}` | `{taken}` | {sentence} |\n"


def settings() -> Iterator[str]:
    """A row for each key."""
    for each in ALL_KEYS.values():
        flag = each.flag
        shown = f"`{flag}`" if flag and FLAGS[flag.removeprefix("--").replace("-", "_")].shown != "nowhere" else ""
        name, sentence = each.name.removesuffix(".use"), each.sentence.replace("|", chr(92) + "|")
        yield f"| `{name}` | {shown} | {sentence} | {default_of(each)} |\n"


def default_of(setting: Setting[Any]) -> str:
    """The default of a setting, also if its value may come from the environment."""
    plain = "" if setting.otherwise else setting.written(setting.default)
    match plain:
        case "":
            said = setting.otherwise
        case None | ():
            said = "none"
        case bool():
            said = f"`{str(plain).lower()}`"
        case _:
            said = f"`{plain}`"
    return f"`{setting.variable}`, else {said}" if setting.variable else said


TABLES = {
    ROOT / "specs" / "configuration.md": ("| key | flag | what it says | default |\n|---|---|---|---|\n", settings),
    ROOT / "docs" / "python.md": ("| keyword | takes | what it says |\n|---|---|---|\n", keywords),
}


def page(path: Path) -> str:
    """A page with its table as it has to be."""
    head, rows = TABLES[path]
    before, _, after = path.read_text(encoding="utf-8").partition(head)
    return before + head + "".join(rows()) + ROWS.sub("", after, count=1)


if __name__ == "__main__":
    for path in TABLES:
        path.write_text(page(path), encoding="utf-8")
