"""Write the table of settings in `specs/configuration.md` anew, from their declarations."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from evalc.config.setting import Key
from evalc.config.settings import ALL_KEYS
from evalc.setup.flags import FLAGS

PAGE = Path(__file__).parent.parent / "specs" / "configuration.md"
HEAD = "| key | flag | what it says | default |\n|---|---|---|---|\n"
TABLE = re.compile(re.escape(HEAD) + r"(?:\|.*\n)*")


def with_table(page: str) -> str:
    """The page with the table as it has to be."""
    return TABLE.sub(lambda _: HEAD + "".join(rows()), page)


def rows() -> Iterator[str]:
    """A row for each key."""
    for key in ALL_KEYS.values():
        flag = key.setting.flag
        shown = f"`{flag}`" if flag and FLAGS[flag.removeprefix("--").replace("-", "_")].shown != "nowhere" else ""
        yield f"| `{key.name}` | {shown} | {key.setting.sentence.replace('|', chr(92) + '|')} | {default_of(key)} |\n"


def default_of(key: Key) -> str:
    """The default of a key, also if its value may come from the environment."""
    plain = "" if key.setting.otherwise else key.default
    match plain:
        case "":
            said = key.setting.otherwise
        case None | ():
            said = "none"
        case bool():
            said = f"`{str(plain).lower()}`"
        case _:
            said = f"`{plain}`"
    return f"`{key.setting.variable}`, else {said}" if key.setting.variable else said


if __name__ == "__main__":
    PAGE.write_text(with_table(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
