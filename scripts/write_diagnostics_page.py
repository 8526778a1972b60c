"""Writes `specs/diagnostics.md` from the catalogue: `python scripts/write_diagnostics_page.py`."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import Final

from evalc.diagnostics.catalogue import Entry, entries

PAGE: Final = Path(__file__).parents[1] / "specs" / "diagnostics.md"

FAMILIES: Final = {
    "EV10-12": "YAML and JSON",
    "EV13": "The one-line forms of checks, rules and criteria",
    "EV15": "Templates",
    "EV16": "Predicates and their subjects",
    "EV17": "Checks in their mapping form",
    "EV18": "Values of inputs and rows",
    "EV2": "Names",
    "EV3": "Values",
    "EV4": "What the contract and the case model ask",
    "EV5": "Checks that decide nothing",
    "EV7": "Gates that decide nothing",
    "EV60-61": "Files and limits",
    "EV62": "The configuration",
    "EV64": "Kinds of files",
    "EV65": "Formatting and importing",
    "EV66": "The tool registry",
    "EV680-683": "Comments that ask for silence",
    "EV684-689": "Names of settings",
    "EV69": "JSON Schemas",
}
"""The families by the first digits of their codes; `EV10-12` takes in EV10, EV11 and EV12."""

HEAD: Final = """\
<!-- Written by scripts/write_diagnostics_page.py from evalc/diagnostics/catalogue.txt: change that, not this page. -->

# Diagnostics

Everything that evalc can say about a file. `evalc explain CODE` prints an entry of this page in the terminal. An
error keeps a suite from being compiled and run; a warning does not. `--strict` makes errors of the warnings EV5xx and
EV7xx, of EV619, and of what a schema says in vain (EV158, EV159, EV695).

`# evalc: ignore[EV501]` at the end of a line, or on a line of its own above, silences warnings that start there;
`# evalc: ignore-file[EV501]` above the first key silences those of the file. The
[configuration](configuration.md#configuration) says for a project what is reported, and how severe it is; `evalc check`
also has `--select` and `--ignore`. `--fix` applies safe fixes, such as missing quotes; with `--unsafe-fixes`, it
applies every fix that a message offers.

A code, once published, keeps its meaning. The words of a message may change.
"""


def page() -> str:
    """The whole page."""
    return "\n".join([index(), "# Entries\n", *map(entry_text, entries().values())])


def index(address: str = "#{}") -> str:
    """The table of each family, in which a code leads to the address of its entry."""
    return "\n".join([HEAD, *_tables(address)])


def _tables(address: str) -> Iterator[str]:
    for family, members in groupby(entries().values(), _family):
        yield f"## {family}\n"
        yield "| code | severity | what it says |\n|---|---|---|"
        for entry in members:
            summary = entry.summary.replace("|", "\\|")
            yield f"| [{entry.code}]({address.format(entry.code.lower())}) | {entry.severity} | {summary} |"
        yield ""


def entry_text(entry: Entry) -> str:
    """The section of an entry."""
    parts = [f"## {entry.code}\n\n{entry.summary}\n"]
    if entry.why:
        parts.append(f"{entry.why}\n")
    if entry.example:
        parts.append(f"Example:\n\n```{_language(entry)} wrong\n{entry.example}```\n")
    if entry.cure:
        parts.append(f"Cure:\n\n```{_language(entry)} cure\n{entry.cure}```\n")
    return "\n".join(parts)


def _family(entry: Entry) -> str:
    (family,) = (family for digits, family in FAMILIES.items() if _belongs(entry.code, digits))
    return family


def _belongs(code: str, digits: str) -> bool:
    """Whether a code begins with the digits, or with one of their range."""
    first, _, last = digits.removeprefix("EV").partition("-")
    return int(first) <= int(code[2 : 2 + len(first)]) <= int(last or first)


def _language(entry: Entry) -> str:
    if entry.example.startswith(("{", "[")):
        return "json"
    return "toml" if entry.code.startswith(("EV62", "EV684")) else "yaml"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
