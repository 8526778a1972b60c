"""`evalc run`: from eval files and an agent to results and a report."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TextIO

import typer

from evalc.cli.ending import ExitCode
from evalc.cli.flags import Config, Prompts, Strict, paths_to_look_at, sound_settings_from, standard_input
from evalc.cli.printing import print_error, print_problems, shown_path
from evalc.errors import UsageError
from evalc.terminal import Screen

if TYPE_CHECKING:
    from evalc.api import Run


def run_evals(  # noqa: PLR0913, PLR0917 - one parameter a flag
    paths: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[PATH]...", help="Eval files, folders or globs; - is standard input.", show_default=False
        ),
    ] = None,
    evals: Annotated[
        list[str] | None, typer.Option("--eval", metavar="PATH", help="The same as PATH; may be repeated.")
    ] = None,
    agent: Annotated[
        str | None,
        typer.Option(metavar="AGENT", help="http://..., python:MODULE:NAME, command:..., or demo."),
    ] = None,
    prompt_id: Annotated[
        str | None, typer.Option("--prompt-id", metavar="ID", help="Run only the suites of this prompt.")
    ] = None,
    prompts: Prompts = None,
    concurrency: Annotated[
        int | None, typer.Option("--concurrency", metavar="N", help="How many cases run at a time. Default: 1.")
    ] = None,
    timeout_ms: Annotated[
        float | None, typer.Option("--timeout-ms", metavar="N", help="The time for one case. Default: 60000.")
    ] = None,
    seed_manifest: Annotated[
        str | None,
        typer.Option("--seed-manifest", metavar="FILE", help="Where {{seed:...}} values come from."),
    ] = None,
    snapshot: Annotated[
        str | None,
        typer.Option("--snapshot", metavar="SOURCE", help="Where {{snapshot:...}} values come from."),
    ] = None,
    tool_registry: Annotated[
        str | None, typer.Option("--tool-registry", metavar="PATH", help="The current tools, to notice stale evals.")
    ] = None,
    baseline: Annotated[
        str | None,
        typer.Option("--baseline", metavar="RUN", help="Compare with a run: its id, a path, or latest."),
    ] = None,
    all_assertions: Annotated[
        bool, typer.Option("--all-assertions", help="Run every assertion of a case, not only up to the first failed.")
    ] = False,
    strict: Strict = False,
    output_dir: Annotated[
        str | None, typer.Option("--output-dir", metavar="DIR", help="Where results go. Default: evals/results.")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print the report as JSON.")] = False,
    output: Annotated[
        str | None, typer.Option("--output", "-o", metavar="FILE", help="Also write the report as JSON to a file.")
    ] = None,
    config: Config = None,
) -> int:
    """Run evals against an agent.

    Without PATH, run the paths of the configuration, else the working folder. A flag wins over the configuration.

    \b
    Examples:
      evalc run evals/ --agent demo
      evalc run --eval evals/get-weather.golden.json --agent http://localhost:3000/chat
      evalc run --prompt-id code-review-v1 --json
    """
    settings = sound_settings_from(
        config,
        agent=agent,
        all_assertions=all_assertions,
        baseline=baseline,
        concurrency=concurrency,
        output_dir=output_dir,
        prompts=prompts,
        seed_manifest=seed_manifest,
        snapshot=snapshot,
        strict=strict,
        timeout_ms=timeout_ms,
        tool_registry=tool_registry,
    )
    from evalc import api  # noqa: PLC0415 - for start-up: `--help` runs nothing
    from evalc.report.progress import Progress  # noqa: PLC0415 - likewise

    named = (*(paths or ()), *(evals or ()))
    looked_at = paths_to_look_at(named, settings)
    if not named and prompt_id is not None and settings.prompts is not None:
        looked_at = (*looked_at, str(settings.prompts))  # where the prompt's own evals stand
    file = _to_write(output) if output is not None else None
    stdin = standard_input(looked_at)
    with _standard_output() as stdout:
        try:
            screen = Screen.of(sys.stderr, os.environ)
            with _termination_as_interrupt(), Progress(sys.stderr, screen, drawn=sys.stderr.isatty()) as progress:
                finished = api.run_paths(
                    looked_at, settings=settings, prompt_id=prompt_id, stdin=stdin, observer=progress
                )
        except KeyboardInterrupt:
            print_error(f"interrupted; what was finished is in {shown_path(settings.results_folder)}")
            return ExitCode.INTERRUPTED
        print_problems(finished.problems, sys.stderr)
        _report(finished, stdout, as_json=json, file=file)
    return finished.exit_code


def _to_write(output: str) -> Path:
    """The file of `--output`, looked at before the run, which would be for nothing otherwise."""
    file = Path(output)
    if file.is_dir():
        raise UsageError(f"`--output` is to name a file, and `{output}` is a folder")
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"the folder of `--output` cannot be made: `{file.parent}`: {error.strerror}") from None
    return file


@contextmanager
def _standard_output() -> Iterator[TextIO]:
    """Standard output, for the report alone: what an agent prints goes to standard error, by whatever way."""
    report = _with_descriptor_of_its_own(sys.stdout)
    with redirect_stdout(sys.stderr):
        yield report
        report.flush()


def _with_descriptor_of_its_own(stdout: TextIO) -> TextIO:
    """The stream, which other programs and extensions that print cannot reach any more.

    What was its descriptor is standard error's to the end of the process: agents may print when they are shut down.
    """
    try:
        shared = stdout.fileno()
        own = os.dup(shared)
        os.dup2(sys.stderr.fileno(), shared)
    except OSError:  # not a file, as in tests
        return stdout
    return os.fdopen(own, "w", encoding=stdout.encoding, errors=stdout.errors)


@contextmanager
def _termination_as_interrupt() -> Iterator[None]:
    """Let a request to terminate end the run as Ctrl-C does: in order, and with a word about finished work."""
    previous = signal.signal(signal.SIGTERM, lambda *_: signal.raise_signal(signal.SIGINT))
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, previous)


def _report(run: Run, stdout: TextIO, *, as_json: bool, file: Path | None) -> None:
    """Write the file, then print: where one of them fails, the other is there."""
    try:
        if file is not None:
            _write(file, run.to_json())
    finally:
        if as_json:
            stdout.buffer.write(run.to_json())
        else:
            _print_summary(run, stdout)


def _write(file: Path, report: bytes) -> None:
    from evalc.atomic import write_atomic  # noqa: PLC0415 - for start-up

    try:
        write_atomic(file, report)
    except OSError as error:  # which names a temporary file
        raise OSError(error.errno, error.strerror, str(file)) from error


def _print_summary(run: Run, stdout: TextIO) -> None:
    """The console summary; cases are read from disk one at a time."""
    from evalc.report.console import run_lines, suite_lines  # noqa: PLC0415 - for start-up

    screen = Screen.of(stdout, os.environ)
    finished = run.finished
    for suite in finished.suites:
        lines = suite_lines(suite.result, screen, cases=suite.cases(), skipped=suite.skipped())
        stdout.writelines(f"{line}\n" for line in chain(lines, [""]))
    folder = Path(shown_path(finished.folder))
    warnings = (*run.notes, *finished.warnings)
    closing = run_lines(finished.run_id, folder, finished.summary, screen, gates=finished.gates, warnings=warnings)
    stdout.writelines(f"{line}\n" for line in closing)
