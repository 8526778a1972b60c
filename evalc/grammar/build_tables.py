"""Builds the saved parser tables: `python -m evalc.grammar.build_tables`."""

from __future__ import annotations

from evalc.grammar.lalr import STARTS, build, encoded, table_path


def main() -> None:
    """Write the table of every language."""
    for language in STARTS:
        table_path(language).write_bytes(encoded(build(language)))


if __name__ == "__main__":
    main()
