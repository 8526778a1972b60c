"""`evalc challenge`: would these evals notice a broken agent?"""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from evalc import extras
from evalc.base.errors import UsageError
from evalc.base.terminal import counted, visible
from evalc.cli.ending import ExitCode
from evalc.cli.fix import difference, write_unless_changed
from evalc.cli.flags import refuse_no_share, settings_of_run, sound_settings_from
from evalc.cli.options import (
    Config,
    Json,
    Judge,
    JudgeSamples,
    NoJudgeCache,
    OutputDir,
    Prompts,
    SeedManifest,
    Tools,
)
from evalc.cli.streams import print_error, print_problems
from evalc.cli.supervision import supervise

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalc.config.settings import Settings
    from evalc.model.reports import Strength
    from evalc.runtime.store.past.resume import PastRun


def challenge(  # noqa: PLR0913, PLR0917 - one parameter a flag
    paths: Annotated[
        list[str],
        typer.Argument(metavar="PATH...|RUN", help="Eval files and folders; or a run: its id, its folder, or latest."),
    ],
    min_strength: Annotated[
        float | None,
        typer.Option("--min-strength", metavar="X", help="Exit with 1 below this strength, from 0 to 1."),
    ] = None,
    fix: Annotated[
        bool,
        typer.Option(
            "--fix", help="Add the missing checks to the eval files, as far as recorded answers prove them right."
        ),
    ] = False,
    diff: Annotated[bool, typer.Option("--diff", help="Print what --fix would add, without changing files.")] = False,
    judge: Judge = None,
    judge_samples: JudgeSamples = None,
    no_judge_cache: NoJudgeCache = False,
    max_cost: Annotated[
        float | None, typer.Option("--max-cost", metavar="USD", min=0, help="How much judging may cost, in US dollars.")
    ] = None,
    prompts: Prompts = None,
    seed_manifest: SeedManifest = None,
    tools: Tools = None,
    output_dir: OutputDir = None,
    json: Json = False,
    config: Config = None,
) -> int:
    """Plant faults in answers, and report what the checks miss.

    No agent is asked.
    Eval files are challenged with broken agents: silent, refusing, echoing, calling the wrong tools. A run is
    challenged with its own good answers after small changes to a number, a negation, a sentence or an argument.

    \b
    Examples:
      evalc challenge evals/ --min-strength 0.8
      evalc run --agent demo && evalc challenge latest --fix
    """
    refuse_no_share("--min-strength", min_strength)
    from evalc import api  # noqa: PLC0415 - for start-up: `--help` challenges nothing
    from evalc.model.json import to_json  # noqa: PLC0415 - as above
    from evalc.report.strength import strength_lines  # noqa: PLC0415 - as above
    from evalc.setup.run import runs_code_of_others  # noqa: PLC0415 - as above

    of = _run_among(paths, sound_settings_from(config, output_dir=output_dir))
    settings = (partial(sound_settings_from, config) if of is None else partial(settings_of_run, of, config))(
        judge=judge or None,
        judge_samples=judge_samples,
        no_judge_cache=no_judge_cache,
        max_cost=max_cost,
        prompts=prompts,
        seed_manifest=seed_manifest,
        tools=tools,
        output_dir=output_dir,
    )
    if judge and runs_code_of_others(settings):
        supervise(settings.judge.timeout_ms, lambda: "; no file was changed")
    fixing = fix or diff
    good = _good_answers(settings) if fixing and of is None else None
    finished = api.challenge_paths(paths, settings=settings, of=of, good=good, fixing=fixing)
    print_problems(finished.problems, sys.stderr)
    if diff:
        for insertion in finished.insertions:
            sys.stdout.writelines(difference(insertion.source, insertion.text))
    elif json:
        sys.stdout.write(to_json(finished.strength).decode() + "\n")
    else:
        sys.stdout.writelines(f"{line}\n" for line in strength_lines(finished.strength))
    if fixing:
        _add(finished.insertions, dry=diff)
    return _exit_code(finished.strength, min_strength)


def _run_among(paths: Sequence[str], settings: Settings) -> PastRun | None:
    """The run that is named; None where eval files are."""
    from evalc.runtime.store.past.resume import find_run  # noqa: PLC0415 - for start-up
    from evalc.runtime.store.past.runs import LATEST  # noqa: PLC0415 - as above

    if len(paths) != 1:
        return None
    path = Path(paths[0])
    if path.exists() and not (path / "journal.jsonl").is_file():
        return None
    try:
        return find_run(paths[0], settings.results_folder)
    except UsageError:
        if paths[0].startswith(LATEST):
            raise
        return None  # then it is told as an eval file that is not there


def _good_answers(settings: Settings) -> PastRun:
    from evalc.runtime.store.past.resume import find_run  # noqa: PLC0415 - for start-up
    from evalc.runtime.store.past.runs import LATEST  # noqa: PLC0415 - as above

    try:
        return find_run(LATEST, settings.results_folder)
    except UsageError:
        raise UsageError(
            "`--fix` writes only lines that recorded answers pass, and there is no run: `evalc run` records some"
        ) from None


def _add(insertions: Sequence[extras.challenge.Insertion], *, dry: bool) -> None:
    """Write the files, unless `dry`, and say what was added to them, or would be."""
    verb, written = "would add" if dry else "added", 0
    for insertion in insertions:
        if not dry and not write_unless_changed(insertion.source, insertion.text):
            continue
        name = visible(insertion.source.name)
        for id_, lines in insertion.lines.items():
            written += len(lines)
            sys.stderr.writelines(f"{name}: {visible(id_)}: {verb} {visible(line)}\n" for line in lines)
    sys.stderr.write("nothing to fix\n" if not written else f"{verb} {counted(written, 'line')}\n")


def _exit_code(strength: Strength, least: float | None) -> ExitCode:
    if least is None:
        return ExitCode.OK
    if strength.strength is None:
        print_error("nothing was challenged, so there is no strength to reach")
        return ExitCode.FAILED
    return ExitCode.FAILED if strength.strength < least else ExitCode.OK
