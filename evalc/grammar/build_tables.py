"""Builds the saved tables of the parsers and of the catalogue: `python -m evalc.grammar.build_tables`."""

from __future__ import annotations

from evalc.diagnostics.catalogue import SAVED, saved_table
from evalc.grammar.lalr import STARTS, build, encoded, table_path


def main() -> None:
    """Write the table of every language, and that of the catalogue of findings."""
    for language in STARTS:
        table_path(language).write_bytes(encoded(build(language)))
    SAVED.write_bytes(saved_table())


if __name__ == "__main__":
    main()
