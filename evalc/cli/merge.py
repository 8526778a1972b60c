"""`evalc merge`: merges the runs of all shards into one run, judged as a whole."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from evalc.base.errors import UsageError
from evalc.cli.flags import sound_settings_from
from evalc.cli.options import Config, Json, OutputDir
from evalc.cli.reporting import Outputs, Shown, make_and_report, outputs_of
from evalc.setup.run_flags import modern

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalc.config.settings import Settings
    from evalc.runtime.store.past.merge import Part

_TAKEN_OVER: Final = (
    "baseline",
    "confidence",
    "fail_on_regression",
    "max_p95",
    "min_pass_rate",
    "min_score",
    "prompts",
    "strict",
    "tools",
)
"""The flags of the shards that decide the run as a whole, or say what it is compiled from."""


def merge_runs(
    runs: Annotated[
        list[str], typer.Argument(metavar="RUN_DIR...", help="The runs of all shards: their folders, or ids.")
    ],
    json: Json = False,
    output: Outputs = None,
    output_dir: OutputDir = None,
    config: Config = None,
) -> int:
    """Merge the runs of all shards into one run.

    The eval files must be as they were. Gates, baseline and history apply to the whole run, with the flags that the
    shards were run with.

    \b
    Example:
      evalc run --shard 1/2 --output-dir parts
      evalc run --shard 2/2 --output-dir parts
      evalc merge parts/*/
    """
    from evalc import api  # noqa: PLC0415 - for start-up: `--help` runs nothing
    from evalc.runtime.store.past.merge import read_parts  # noqa: PLC0415 - as above
    from evalc.runtime.store.past.resume import find_run  # noqa: PLC0415 - as above
    from evalc.setup.run import redactor_of  # noqa: PLC0415 - as above

    where = sound_settings_from(config, output_dir=output_dir).results_folder
    parts = read_parts([find_run(name, where) for name in runs])
    settings = _settings_of(parts, config, output_dir)
    outputs = outputs_of(output or (), as_json=json)
    return make_and_report(
        lambda progress: api.merge_runs(parts, settings=settings, observer=progress),
        outputs,
        redact=redactor_of(settings, os.environ).redact,
        shown=Shown(settings=settings),
        untouched="the parts are as they were",
    )


def _settings_of(parts: Sequence[Part], config: str | None, output_dir: str | None) -> Settings:
    """The settings of the working folder, with the flags of the shards that decide the run as a whole."""
    said: dict[str, Any] = {}
    for part in parts:
        given = modern(part.header.flags)
        flags = {name: value for name in _TAKEN_OVER if (value := given.get(name)) is not None}
        if part is not parts[0] and flags != said:
            raise UsageError(f"{part.name} was run with other gates, baseline or tools than {parts[0].name}")
        said = flags
    return sound_settings_from(config, output_dir=output_dir, **said)
