"""`evalc rescore`: checks the recorded answers of a run again, as a new run."""

from __future__ import annotations

import os
from typing import Annotated

import typer

from evalc.cli.flags import settings_of_run, sound_settings_from
from evalc.cli.options import (
    AllAssertions,
    Config,
    Json,
    Judge,
    JudgeSamples,
    NoJudgeCache,
    OutputDir,
    Prompts,
    SeedManifest,
    Strict,
    Tools,
)
from evalc.cli.reporting import Outputs, Shown, make_and_report, outputs_of
from evalc.cli.supervision import supervise


def rescore(  # noqa: PLR0913, PLR0917 - one parameter a flag
    run: Annotated[str, typer.Argument(metavar="RUN", help="The run: its id, its folder, or latest.")],
    paths: Annotated[
        list[str] | None,
        typer.Argument(metavar="[PATH]...", help="The eval files. Default: those of the run."),
    ] = None,
    prompts: Prompts = None,
    seed_manifest: SeedManifest = None,
    tools: Tools = None,
    baseline: Annotated[
        str | None,
        typer.Option(
            "--baseline", metavar="RUN", help="Compare with this run: its id, a path, or latest. Default: RUN."
        ),
    ] = None,
    all_assertions: AllAssertions = False,
    judge: Judge = None,
    judge_samples: JudgeSamples = None,
    no_judge_cache: NoJudgeCache = False,
    strict: Strict = False,
    output_dir: OutputDir = None,
    json: Json = False,
    output: Outputs = None,
    config: Config = None,
) -> int:
    """Check the recorded answers of a run with the current checks.

    No agent is asked. The result is a new run, compared with the run that the answers are from.

    \b
    Examples:
      evalc rescore latest
      evalc rescore 01a200e6-7046-7eeb-9a38-ddbabec8cf21 evals/
    """
    from evalc import api  # noqa: PLC0415 - for start-up: `--help` runs nothing
    from evalc.runtime.store.past.resume import find_run  # noqa: PLC0415 - as above
    from evalc.setup.run import redactor_of, runs_code_of_others  # noqa: PLC0415 - as above

    outputs = outputs_of(output or (), as_json=json)
    past = find_run(run, sound_settings_from(config, output_dir=output_dir).results_folder)
    settings = settings_of_run(
        past,
        config,
        all_assertions=all_assertions,
        output_dir=output_dir,
        prompts=prompts,
        seed_manifest=seed_manifest,
        strict=strict,
        tools=tools,
        baseline=baseline,
        judge=judge or None,
        judge_samples=judge_samples,
        no_judge_cache=no_judge_cache,
    )
    untouched = "the run that was rescored is as it was"
    if runs_code_of_others(settings):
        supervise(settings.timeout_ms, lambda: f"; {untouched}")
    return make_and_report(
        lambda progress: api.rescore_paths(paths or (), past, settings=settings, observer=progress),
        outputs,
        redact=redactor_of(settings, os.environ).redact,
        shown=Shown(),
        untouched=untouched,
    )
