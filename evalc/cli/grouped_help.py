"""From a command with many options to a help text in which they stand in groups."""

from __future__ import annotations

from typing import Any, final

from typer.core import TyperCommand, TyperOption

from evalc.setup.run_flags import PANELS

_REST = "Options"


@final
class GroupedHelp(TyperCommand):
    """A command whose options are grouped by their `rich_help_panel`, without rich."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the groups in the order of `PANELS`; what has no group comes last."""
        groups: dict[str, list[tuple[str, str]]] = {panel: [] for panel in PANELS}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            if record is not None and isinstance(parameter, TyperOption):
                groups.setdefault(parameter.rich_help_panel or _REST, []).append(record)
        rest = groups.pop(_REST, [])
        for title, records in (*groups.items(), (_REST, rest)):
            if records:
                with formatter.section(title):
                    formatter.write_dl(records)
