"""`evalc run`: from eval files and an agent to results and a report."""

from __future__ import annotations

import os
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from evalc.cli import run_flags as flags
from evalc.cli.ending import ExitCode
from evalc.cli.flags import standard_input
from evalc.cli.instead import list_cases, list_requests, print_settings
from evalc.cli.options import Config, Prompts, Strict, Tools
from evalc.cli.outputs import Outputs, outputs_of
from evalc.cli.printing import inventory_lines, print_error, print_problems, shown_path
from evalc.cli.reporting import Shown, report, report_nothing
from evalc.cli.standard_output import lent_streams, standard_output_alone
from evalc.cli.supervision import supervise
from evalc.cli.termination import termination_as_interrupt
from evalc.errors import NothingToDo
from evalc.terminal import Screen

if TYPE_CHECKING:
    from evalc.report.console import Detail
    from evalc.setup.run_request import RunRequest


def run_evals(  # noqa: PLR0913, PLR0917 - one parameter a flag
    paths: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[PATH[::CASE]]...",
            help="Eval files, folders or globs; cases of them by id, name or glob; ids of cases. - is standard input.",
            show_default=False,
        ),
    ] = None,
    evals: Annotated[
        list[str] | None,
        typer.Option("--eval", metavar="PATH", rich_help_panel=flags.CHOICE, help="The same as PATH; may be repeated."),
    ] = None,
    agent: flags.Agents = None,
    prompt_id: Annotated[
        str | None,
        typer.Option(
            "--prompt-id", metavar="ID", rich_help_panel=flags.CHOICE, help="Run only the suites of this prompt."
        ),
    ] = None,
    keywords: flags.Keywords = None,
    tags: flags.Tags = None,
    not_tags: flags.NotTags = None,
    filters: flags.Filters = None,
    tiers: flags.Tiers = None,
    failed_from: flags.FailedFrom = None,
    last_failed: flags.LastFailed = False,
    changed_since: flags.ChangedSince = None,
    repeat: flags.Repeat = None,
    prompts: Prompts = None,
    concurrency: Annotated[
        str | None,
        typer.Option(
            "--concurrency",
            metavar="N|auto",
            rich_help_panel=flags.HOW,
            help="How many cases run at a time. Default: 1.",
        ),
    ] = None,
    rpm: Annotated[
        int | None,
        typer.Option(
            "--rpm", metavar="N", rich_help_panel=flags.HOW, help="Send at most N requests a minute to the agent."
        ),
    ] = None,
    timeout_ms: Annotated[
        float | None,
        typer.Option(
            "--timeout-ms",
            metavar="N",
            rich_help_panel=flags.HOW,
            help="The time for one case, in milliseconds. Default: 60000.",
        ),
    ] = None,
    seed_manifest: Annotated[
        str | None,
        typer.Option(
            "--seed-manifest", metavar="FILE", rich_help_panel=flags.DATA, help="Where {{seed:...}} values come from."
        ),
    ] = None,
    snapshot: Annotated[
        str | None,
        typer.Option(
            "--snapshot", metavar="SOURCE", rich_help_panel=flags.DATA, help="Where {{snapshot:...}} values come from."
        ),
    ] = None,
    tools: Tools = None,
    env_file: flags.EnvFile = None,
    judge: flags.Judge = None,
    judge_samples: flags.JudgeSamples = None,
    rubrics: flags.Rubrics = None,
    no_judge_cache: flags.NoJudgeCache = False,
    fail_fast: flags.FailFast = False,
    max_fail: flags.MaxFail = None,
    max_cost: flags.MaxCost = None,
    min_pass_rate: flags.MinPassRate = None,
    min_score: flags.MinScore = None,
    max_p95_ms: flags.MaxP95 = None,
    fail_on_regression: flags.FailOnRegression = False,
    baseline: Annotated[
        str | None,
        typer.Option(
            "--baseline",
            metavar="RUN",
            rich_help_panel=flags.GATES,
            help="Compare with a run: its id, a path, or latest, which is evals/baseline.json or the last green run.",
        ),
    ] = None,
    all_assertions: Annotated[
        bool,
        typer.Option(
            "--all-assertions",
            rich_help_panel=flags.HOW,
            help="Run every assertion of a case, even after one has failed.",
        ),
    ] = False,
    strict: Strict = False,
    output_dir: Annotated[
        str | None,
        typer.Option(
            "--output-dir", metavar="DIR", rich_help_panel=flags.SHOWN, help="Where results go. Default: evals/results."
        ),
    ] = None,
    quiet: flags.Quiet = False,
    verbose: flags.Verbose = False,
    durations: flags.Durations = None,
    json: Annotated[
        bool, typer.Option("--json", rich_help_panel=flags.SHOWN, help="Print the report as JSON.")
    ] = False,
    output: Outputs = None,
    otel: flags.Otel = None,
    resume: Annotated[
        str | None,
        typer.Option(
            "--resume",
            metavar="RUN",
            rich_help_panel=flags.INSTEAD,
            help="Finish a run that did not end: its id, its folder, or latest.",
        ),
    ] = None,
    record: Annotated[
        str | None,
        typer.Option(
            "--record",
            metavar="DIR",
            rich_help_panel=flags.HOW,
            help="Record what is sent and answered, for --agent replay:DIR.",
        ),
    ] = None,
    collect_only: flags.CollectOnly = False,
    dry_run: flags.DryRun = False,
    show_settings: flags.ShowSettings = False,
    config: Config = None,
) -> int:
    """Run evals against an agent.

    Without PATH, run the paths of the configuration, else the working folder. A flag wins over the configuration.

    \b
    Examples:
      evalc run evals/ --agent demo
      evalc run evals/weather.golden.json --agent http://localhost:3000/chat
      evalc run evals/weather.eval.yaml::paris
      evalc run -k "paris and not slow" --min-pass-rate 0.9
      evalc run --resume latest
    """
    given_flags = {
        "agent": agent or None,
        "all_assertions": all_assertions,
        "baseline": baseline,
        "fail_on_regression": fail_on_regression,
        "judge": judge or None,
        "judge_samples": judge_samples,
        "no_judge_cache": no_judge_cache,
        "rubrics": rubrics,
        "max_cost": max_cost,
        "max_p95_ms": max_p95_ms,
        "min_pass_rate": min_pass_rate,
        "min_score": min_score,
        "otel": otel,
        "concurrency": int(concurrency) if concurrency is not None and concurrency.isdecimal() else concurrency,
        "output_dir": output_dir,
        "prompts": prompts,
        "rpm": rpm,
        "seed_manifest": seed_manifest,
        "snapshot": snapshot,
        "strict": strict,
        "timeout_ms": timeout_ms,
        "tools": tools,
    }
    # For start-up: `--help` runs nothing.
    from evalc import api  # noqa: PLC0415
    from evalc.report.progress import Progress, draws  # noqa: PLC0415
    from evalc.setup.choice import is_case_id, path_of, wanted_cases  # noqa: PLC0415
    from evalc.setup.run import redactor_of, runs_code_of_others  # noqa: PLC0415
    from evalc.setup.run_request import RunRequest, resumed  # noqa: PLC0415

    named = (*(paths or ()), *(evals or ()))
    given = RunRequest(
        flags=given_flags,
        paths=tuple(path_of(name) for name in named if not is_case_id(name)),
        config=config,
        prompt_id=prompt_id,
        record=record,
        env_file=env_file,
        wanted=wanted_cases(
            named,
            keywords=keywords,
            tags=tags or (),
            not_tags=not_tags or (),
            ids=filters or (),
            tiers=tiers or (),
            failed_from=failed_from,
            last_failed=last_failed,
            changed_since=changed_since,
            repeat=repeat,
        ),
    )
    if resume is not None:
        given = resumed(given, resume)
    settings = given.settings()
    if show_settings:
        return print_settings(settings)
    start = given.start(settings, max_fail=1 if fail_fast else max_fail)
    looked_at = given.looked_at(settings)
    stdin = standard_input(looked_at)
    if collect_only or dry_run:
        what = api.paths_to_run(
            looked_at, settings=settings, prompt_id=given.prompt_id, stdin=stdin, wanted=start.wanted
        )
        print_problems(what.problems, sys.stderr)
        return list_cases(what, quiet=quiet) if collect_only else list_requests(what, settings, quiet=quiet)
    outputs = outputs_of(output or (), as_json=json)
    folder = settings.results_folder / start.run_id if given.past is None else given.past.folder
    if runs_code_of_others(settings):
        supervise(settings.timeout_ms, lambda: _advice(given, folder))
    with standard_output_alone() as stdout:
        screen, drawn = Screen.of(sys.stderr, os.environ), draws(sys.stderr, os.environ)
        progress = Progress(sys.stderr, screen, drawn=drawn)
        try:
            with termination_as_interrupt(), progress, lent_streams():
                finished = api.run_paths(
                    looked_at,
                    settings=settings,
                    prompt_id=given.prompt_id,
                    stdin=stdin,
                    observer=progress,
                    start=start,
                    reports=[asked.file for asked in outputs if asked.file is not None],
                )
        except KeyboardInterrupt:
            _say_interrupted(given, folder, progress.so_far())
            return ExitCode.INTERRUPTED
        except NothingToDo as nothing:
            report_nothing(start.run_id, str(nothing), stdout, outputs)
            raise
        print_problems(finished.problems, sys.stderr)
        detail: Detail = "quiet" if quiet else "verbose" if verbose else "normal"
        shown = Shown(detail=detail, slowest=durations or 0, settings=settings)
        report(finished, stdout, outputs, redact=redactor_of(settings, os.environ).redact, shown=shown)
        if not quiet:
            stdout.flush()
            sys.stderr.writelines(inventory_lines(finished.inventory, verbose=verbose))
    return finished.exit_code


def _say_interrupted(given: RunRequest, folder: Path, so_far: str) -> None:
    if folder.exists():
        sys.stderr.write(f"{so_far}\n")
    print_error(f"interrupted{_advice(given, folder) or '; nothing was run'}")


def _advice(given: RunRequest, folder: Path) -> str:
    """What has become of the cases of a run that did not end, where it had begun."""
    if not folder.exists():
        return ""
    return f"; what was finished is kept, and `{_how_to_resume(given, folder)}` runs the rest"


def _how_to_resume(given: RunRequest, folder: Path) -> str:
    """The command that goes on with a run that was interrupted, where its id is found."""
    where = (("--config", given.config), ("--output-dir", given.flags.get("output_dir")))
    said = (word for flag, value in where if value for word in (flag, shown_path(Path(value))))
    return shlex.join(["evalc", "run", "--resume", folder.name, *said])
