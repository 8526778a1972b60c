"""The command line for tests that call it in their own process, made once: making it takes as long as a small run."""

from __future__ import annotations

from functools import cache

import typer.testing

from evalc.cli.app import command_line

app = command_line()
vars(typer.testing)["_get_command"] = cache(vars(typer.testing)["_get_command"])
