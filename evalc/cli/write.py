"""The commands that help to write evals: init, check, fmt, import, watch, explain, lock."""

from __future__ import annotations

import os
import shlex
import sys
import time
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from shutil import get_terminal_size
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from evalc import extras
from evalc.base.errors import UsageError
from evalc.base.files import below_working_folder, make_folder, only_writer, write_atomic
from evalc.base.terminal import Screen, counted, first_of, shown_path, visible
from evalc.cli.checking import ProblemFormat, check_files, difference
from evalc.cli.ending import (
    ExitCode,
    inventory_lines,
    print_error,
    print_lines,
    print_problems,
    print_warning,
    standard_input,
)
from evalc.cli.importing import From, imported_suites
from evalc.cli.options import Paths, PathsOrStdin, settings_of, with_flags
from evalc.config.tables import spelled
from evalc.diagnostics import Diagnostics
from evalc.diagnostics.near import as_code
from evalc.setup.flags import several

if TYPE_CHECKING:
    from evalc.config import Settings
    from evalc.dsl.format import FormattedFile
    from evalc.extras.scaffold import Found
    from evalc.extras.watch import Seen, Watcher
    from evalc.model.suite import CaseKey

_STDIN: Final = "<stdin>"


def init(
    folder: Annotated[str, typer.Argument(metavar="[DIR]", help="The folder. Default: the working folder.")] = ".",
) -> int:
    """Set up a project with a first suite for what the folder has.

    evalc looks for agents in Python, apps of FastAPI, promptfooconfig.yaml, prompts of PromptOS and Agent Skills, and
    writes a configuration, a suite and a CI workflow. In a folder without any of these, there are two suites for the
    demo agent. evalc reads only files in the folder, runs none of them and overwrites nothing: it adds what is
    missing, and suites only if there are none.

    \b
    Example:
      evalc init my-evals
    """
    target = Path.cwd() / folder
    if target.exists() and not target.is_dir():
        raise UsageError(f"`{shown_path(target)}` is not a folder")
    obstacles = extras.scaffold.in_the_way(target)
    if obstacles:
        named = ", ".join(f"`{shown_path(path)}`" for path in obstacles)
        raise UsageError(f"nothing was written, since this is in the way: {named}")
    make_folder(target)
    found = extras.scaffold.found_in(target)
    lacks_evals = extras.scaffold.lacks_evals(target)
    written = list(extras.scaffold.write_project(target, found))
    for file, text in _first_suite(target, found) if lacks_evals else ():
        if not file.exists():
            make_folder(file.parent)
            write_atomic(file, text.encode())
            written.append(file)
    if not written:
        sys.stdout.write("nothing is missing: all of it is there\n")
        return ExitCode.OK
    agents = found.agents[: target / "evalc.toml" in written]
    evals = found.evals[:lacks_evals]
    print_lines(
        (f"found {visible(what)}" for what in [each.what for each in agents] + [each.what for each in evals]),
        sys.stdout,
    )
    print_lines((f"wrote {shown_path(file)}" for file in written), sys.stdout)
    change = "" if target.resolve() == Path.cwd().resolve() else f"cd {shlex.quote(folder)} && "
    start = "".join(f"  {change}{each.start}    # your agent, in another terminal\n" for each in agents if each.start)
    demo = "" if found.agents or found.evals else " --agent demo"
    sys.stdout.write(
        f"\nNext:\n{start}  {change}evalc check\n  evalc run{demo}\n"
        "  evalc accept    # for CI: commit evals/baseline.json\n"
    )
    others = [each for each in found.agents[len(agents) :] if not _is_configured(each.line, target)]
    _list_others("Other agents, for evalc.toml:", [(each.line, each.what) for each in others])
    _list_others("Other evals:", [(each.instead, each.what) for each in found.evals[len(evals) :]])
    if found.evals and not (found.agents or found.evals[0].agents) and target / "evalc.toml" in written:
        print_warning("no agent was found, so `demo` stands in: name yours in evalc.toml")
    return ExitCode.OK


def _is_configured(line: str, folder: Path) -> bool:
    """Whether the configuration of a folder names the agent of a line of TOML."""
    import tomllib  # noqa: PLC0415 - for start-up: of this command alone

    from evalc.config.load import load_settings  # noqa: PLC0415 - as above

    settings, agent = load_settings(folder).settings, tomllib.loads(line)["agent"]
    spec = agent if isinstance(agent, str) else agent["use"]
    return spec in settings.agent.use or any(spec == named.use for _, named in settings.agents)


_MOST_OTHERS: Final = 5


def _list_others(title: str, others: Sequence[tuple[str, str]]) -> None:
    if not others:
        return
    sys.stdout.write(f"\n{title}\n")
    sys.stdout.writelines(f"  {visible(line)}    # {visible(what)}\n" for line, what in others[:_MOST_OTHERS])
    if len(others) > _MOST_OTHERS:
        sys.stdout.write(f"  and {len(others) - _MOST_OTHERS} more\n")


_BY_WORDS: Final = """\
# Until evalc.toml names a judge, `expected` is compared by its words.
# evalc: ignore-file[EV411]
"""


def _first_suite(target: Path, found: Found) -> Iterator[tuple[Path, str]]:
    """The files of the first suite: of the likeliest evals that can be made into one, else of the agent alone."""
    folder = target / "evals"
    for evals in found.evals:
        if evals.folders:
            return
        if evals.text:
            yield folder / evals.file, evals.text
            return
        problems = Diagnostics()
        source = str(below_working_folder(target / evals.source))
        _, imported = next(imported_suites([source], From.AUTO, folder, problems), (source, None))
        if imported is None:
            print_warning(f"{visible(evals.source)} cannot be imported: `{visible(evals.instead)}` says why")
            continue
        if left_out := len(tuple(problems)):
            parts = counted(left_out, "part")
            print_warning(f"{parts} of {visible(evals.source)} not imported: the suite says which, and why")
        yield from ((folder / side.path, side.text) for side in imported.side_files)
        yield folder / imported.file_name, (_BY_WORDS if "expected:" in imported.text else "") + imported.text
        return
    if found.agents:
        yield folder / extras.scaffold.FIRST_SUITE, extras.scaffold.first_suite(found.agents[0])


@with_flags("prompts", "tools", "strict", "config")
def check(  # noqa: PLR0913, PLR0917 - an option each
    paths: PathsOrStdin = None,
    output_format: Annotated[
        ProblemFormat, typer.Option("--format", help="How to print the problems. Default: text.")
    ] = ProblemFormat.TEXT,
    select: Annotated[
        list[str] | None,
        typer.Option(
            "--select", metavar="CODES", help="Report only these codes: EV203, or EV5 for all codes that begin with it."
        ),
    ] = None,
    ignore: Annotated[
        list[str] | None,
        typer.Option(
            "--ignore",
            metavar="CODES",
            help="Do not report these codes. Of --select and --ignore, the longer match wins.",
        ),
    ] = None,
    fix: Annotated[bool, typer.Option("--fix", help="Apply safe fixes, such as missing quotes and brackets.")] = False,
    diff: Annotated[bool, typer.Option("--diff", help="Print what --fix would change, without changing it.")] = False,
    unsafe_fixes: Annotated[
        bool,
        typer.Option("--unsafe-fixes", help="With --fix or --diff: also apply fixes to review, such as near names."),
    ] = False,
    exit_zero: Annotated[bool, typer.Option("--exit-zero", help="Exit with 0 even if there are errors.")] = False,
    quiet: Annotated[bool, typer.Option("-q", "--quiet", help="Print only problems.")] = False,
    verbose: Annotated[bool, typer.Option("-v", "--verbose", help="Also list the files that were skipped.")] = False,
    origin: Annotated[
        From | None,
        typer.Option(
            "--from", metavar="TOOL", help="Read files of another tool, as `evalc import` does: promptfoo, ..."
        ),
    ] = None,
    **flags: Any,
) -> int:
    """Report every mistake in eval files.

    Without PATH, check the paths of the configuration, else the working folder. Errors that keep a file from being
    read are always reported; errors that are ignored here still keep a file from being compiled or run.

    \b
    Examples:
      evalc check evals/ --strict
      evalc check --select EV5 --format github
      evalc check evals/ --fix
      evalc check evals/ --unsafe-fixes --diff
    """
    return check_files(
        paths or (),
        output_format=output_format,
        select=select or (),
        ignore=ignore or (),
        fix=fix,
        diff=diff,
        unsafe_fixes=unsafe_fixes,
        exit_zero=exit_zero,
        quiet=quiet,
        verbose=verbose,
        origin=origin,
        **flags,
    )


@with_flags("config")
def fmt(
    paths: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[PATH]...", help="Eval files, folders or globs; - reads standard input and prints the result."
        ),
    ] = None,
    check: Annotated[
        bool,
        typer.Option(
            "--check", help="Write nothing; list the files that would change, and exit with 1 if there are any."
        ),
    ] = False,
    diff: Annotated[bool, typer.Option("--diff", help="Write nothing; print the changes.")] = False,
    canonical: Annotated[
        bool,
        typer.Option("--canonical", help="Write checks in the words of the documentation, too, where synonyms are."),
    ] = False,
    **flags: Any,
) -> int:
    """Format eval files in one style.

    evalc changes indentation, blank lines, spaces and quotes. Comments, the order of keys and the meaning stay as they
    are; so do the words of checks, but with --canonical. JSON and files with syntax errors are left alone. Without
    PATH, format the paths of the configuration, else the working folder.

    \b
    Examples:
      evalc fmt evals/
      evalc fmt --check --diff
      evalc fmt - < reviews.eval.yaml
    """
    settings = settings_of(flags)
    looked_at = settings.looked_at(paths or ())
    problems = Diagnostics()
    writes = not (check or diff)
    changed = unchanged = 0
    for file in _formatted(looked_at, settings, problems, canonical=canonical):
        changed, unchanged = changed + file.changed, unchanged + (not file.changed)
        if file.changed and diff:
            sys.stdout.writelines(difference(file.source, file.text))
        if file.changed and check:
            sys.stdout.write(f"would format {visible(file.source.name)}\n")
        if writes:
            _write_formatted(file)
    print_problems(tuple(problems), sys.stderr)
    if list(looked_at) != ["-"]:
        done, left = ("formatted", "left unchanged") if writes else ("would be formatted", "would be left unchanged")
        said = [f"{counted(number, 'file')} {what}" for number, what in ((changed, done), (unchanged, left)) if number]
        sys.stderr.write(f"{', '.join(said) or 'there is nothing to format'}\n")
    if problems.has_errors:
        return ExitCode.USAGE
    return ExitCode.FAILED if check and changed else ExitCode.OK


def _formatted(
    paths: Sequence[str], settings: Settings, problems: Diagnostics, *, canonical: bool
) -> Iterator[FormattedFile]:
    """The eval files of the paths, formatted; what keeps others from being formatted is reported."""
    # For start-up: `--help` formats nothing.
    from evalc.compiler.discover import Finder  # noqa: PLC0415
    from evalc.dsl.format import FormattedFile, format_file, format_source  # noqa: PLC0415
    from evalc.dsl.format import canonical as in_canonical_words  # noqa: PLC0415

    rewrite = in_canonical_words if canonical else None
    if "-" in paths:
        source = standard_input()
        text = format_source(source, problems, named=True, rewrite=rewrite)
        if text is not None:
            yield FormattedFile(source=source, text=text)
    finder = Finder(exclude=settings.exclude, outputs=settings.written_paths)
    for path, named, _ in finder.expand((path for path in paths if path != "-"), problems.add):
        file = (
            None
            if path.suffix.lower() in (".json", ".jsonl")
            else format_file(path, problems, named=named, rewrite=rewrite)
        )
        if file is not None:
            yield file


def _write_formatted(file: FormattedFile) -> None:
    if file.source.name == _STDIN:
        sys.stdout.buffer.write(file.text.encode())
    elif file.changed:
        write_atomic(Path(file.source.name), file.text.encode())
        sys.stdout.write(f"formatted {visible(file.source.name)}\n")


def explain(
    what: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[CODE|WORD]...", help="A code such as EV203, a check, a key or a setting. Default: list all codes."
        ),
    ] = None,
) -> int:
    """Explain a problem, a check, a key or a setting.

    Of a problem it says why it matters, and shows an example and a fix.

    \b
    Examples:
      evalc explain EV203
      evalc explain contains
      evalc explain "tools in order"
      evalc explain gates
    """
    from evalc.diagnostics.catalogue import entries  # noqa: PLC0415 - for start-up

    if not what:
        for entry in entries().values():
            print_lines([f"{entry.code}  {entry.summary}"], sys.stdout)
        return ExitCode.OK
    words = " ".join(what)
    known = entries().get(as_code(words))
    if known is not None:
        print_lines(known.explanation().splitlines(), sys.stdout)
        return ExitCode.OK
    from evalc.schema.topics import explained, meant  # noqa: PLC0415 - for start-up: the whole language

    said = explained(words)
    if said is None:
        near = meant(words) or "`evalc explain` lists all codes"
        raise UsageError(f"`{words}` is no code, check, key or setting; {near}")
    print_lines(said.splitlines(), sys.stdout)
    return ExitCode.OK


@with_flags("prompts", "config")
def lock(
    paths: Paths = None,
    check: Annotated[
        bool, typer.Option("--check", help="Write nothing; exit with 1 if the lock is out of date.")
    ] = False,
    **flags: Any,
) -> int:
    """Lock regression cases, so that changes to them are errors.

    These are the cases of `tier: regression`. New cases are locked, and archived cases are released. A case that has
    changed or is gone is an error here too, and so are weaker gates of its suite; to lock them again on purpose, delete
    their line in evalc.lock first.

    \b
    Examples:
      evalc lock
      evalc lock --check
    """
    # For start-up: `--help` compiles nothing.
    from evalc.compiler.lock import LOCK_NAME, locked_anew, read_lock, write_lock  # noqa: PLC0415
    from evalc.setup.compile import compiled, policy_of  # noqa: PLC0415

    settings = settings_of(flags)
    problems = Diagnostics()
    with only_writer(settings.root):
        locked = read_lock(settings.root, problems)
        looked_at = settings.looked_at(paths or ())
        compilation = compiled(looked_at, settings, policy_of(settings), errors_stay=True)
        problems.extend(compilation.problems)
        if problems.has_errors:
            print_problems(tuple(problems), sys.stderr)
            return ExitCode.USAGE
        anew = locked_anew(compilation.suites, locked)
        if anew.suites == locked.suites:
            message = (
                f"{LOCK_NAME} is up to date"
                if locked.suites
                else "there is no case to lock: only cases of `tier: regression` are"
            )
            print_lines([message], sys.stdout)
            return ExitCode.OK
        if check:
            earlier = [name for name, suite in locked.suites.items() if suite.gates is None]
            what = f"does not have the gates of {first_of(earlier, _MOST_NAMED, '`{}`'.format)} yet" if earlier else ""
            print_lines([f"{LOCK_NAME} {what or 'is not up to date'}: run `evalc lock`"], sys.stdout)
            return ExitCode.FAILED
        file = write_lock(anew)
    cases = sum(len(suite.cases) for suite in anew.suites.values())
    print_lines([f"wrote {shown_path(file)}: {counted(cases, 'locked case')}"], sys.stdout)
    return ExitCode.OK


_CLEAR: Final = "\x1b[2J\x1b[3J\x1b[H"
_MOST_NAMED: Final = 3


@with_flags("agent", "prompts", "tools", "config")
def watch(
    paths: Paths = None,
    no_run: Annotated[bool, typer.Option("--no-run", help="Only check; run nothing.")] = False,
    run_all: Annotated[bool, typer.Option("--run-all", hidden=True, help="What is done without `--no-run`.")] = False,
    also: Annotated[
        list[str] | None,
        typer.Option(
            "--also", metavar="PATH", help="Run every case when this file or folder changes, such as the agent's code."
        ),
    ] = None,
    **flags: Any,
) -> int:
    """Check on each save, and run the cases that changed.

    At the start, all cases run. A save during a run ends it if it changes what is run. The results are shown and not
    kept. Ctrl-C ends the command.

    \b
    Examples:
      evalc watch evals/ --agent demo
      evalc watch evals/ --agent python:agent:ask --also agent.py
    """
    if no_run and run_all:
        raise UsageError("`--run-all` and `--no-run` cannot go together")
    watcher = extras.watch.Watcher(paths or (), partial(settings_of, flags), also or ())
    passed_on = [part for name, value in flags.items() for each in several(value) for part in (spelled(name), each)]
    try:
        for seen in watcher.looks():
            runs = not no_run and bool(watcher.settings.agent.use)
            chosen = seen.to_run if runs else ()
            _show(watcher, seen, runs=runs, running=chosen)
            if chosen and watcher.run(chosen, passed_on):
                _show(watcher, seen, runs=runs)
    except KeyboardInterrupt:
        sys.stderr.write("\n")
    return ExitCode.OK


def _show(watcher: Watcher, seen: Seen, *, runs: bool, running: Sequence[CaseKey] = ()) -> None:
    """Show what is wrong, and, if nothing is, the state of all cases."""
    from evalc.report.progress import draws  # noqa: PLC0415 - for start-up

    drawn = draws(sys.stdout, os.environ)
    if drawn:
        sys.stdout.write(_CLEAR)
    if seen.compilation is None:
        print_error(seen.refusal)
    else:
        problems = seen.compilation.problems
        print_problems(problems, sys.stdout)
        print_lines(inventory_lines(seen.compilation.inventory, all_good=not problems), sys.stdout)
    if running:
        print_lines([f"running {first_of(running, _MOST_NAMED, lambda key: visible(key.id))}"], sys.stdout)
    elif runs and seen.is_sound:
        screen, height = Screen.of(sys.stdout, os.environ), get_terminal_size((80, 40)).lines
        sys.stdout.writelines(f"{line}\n" for line in watcher.board.lines(screen, height - 4))
    if drawn and not running:
        sys.stdout.write(f"watching since {time.strftime('%H:%M:%S')}; Ctrl-C ends it\n")
    sys.stdout.flush()
