"""Write the table of settings in `specs/configuration.md` anew, from their declarations."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from evalc.config import ALL_KEYS, Setting
from evalc.setup.flags import FLAGS

PAGE = Path(__file__).parent.parent / "specs" / "configuration.md"
HEAD = "| key | flag | what it says | default |\n|---|---|---|---|\n"
TABLE = re.compile(re.escape(HEAD) + r"(?:\|.*\n)*")


def with_table(page: str) -> str:
    """The page with the table as it has to be."""
    return TABLE.sub(lambda _: HEAD + "".join(rows()), page)


def rows() -> Iterator[str]:
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


if __name__ == "__main__":
    PAGE.write_text(with_table(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
