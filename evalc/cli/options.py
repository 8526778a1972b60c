"""The options that commands share, as typer declares them."""

from __future__ import annotations

from typing import Annotated

import typer

DATA = "Inputs"

Config = Annotated[
    str | None, typer.Option("--config", metavar="FILE", help="Use this configuration instead of the nearest one.")
]
Prompts = Annotated[
    str | None,
    typer.Option(
        "--prompts", metavar="DIR", help="The folder of the prompts that eval files name by id.", rich_help_panel=DATA
    ),
]
Tools = Annotated[
    str | None,
    typer.Option(
        "--tools",
        "--tool-registry",
        metavar="PATH",
        rich_help_panel=DATA,
        help="The file with the agent's tools, to check their names: JSON, or a TypeScript or JavaScript module.",
    ),
]
OutputDir = Annotated[
    str | None, typer.Option("--output-dir", metavar="DIR", help="Where runs are. Default: evals/results.")
]
Strict = Annotated[
    bool, typer.Option("--strict", help="Treat checks that cannot fail, and cases that verify nothing, as errors.")
]
