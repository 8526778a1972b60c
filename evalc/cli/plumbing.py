"""The commands for scripts, editors and other tools: compile, config, schema, lsp, demo-agent."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterable, Sequence
from enum import StrEnum
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import msgspec
import typer

from evalc import extras
from evalc.base import collector_off
from evalc.base.errors import UsageError
from evalc.base.files import make_folder, read_beginning, write_atomic
from evalc.base.terminal import shown_path, visible
from evalc.cli.ending import ExitCode, print_problems, with_standard_input
from evalc.cli.options import PathsOrStdin, settings_of, whole, with_flags
from evalc.config import ALL_KEYS, Settings
from evalc.config.tables import Setting
from evalc.runtime.mapping import JsonPath

if TYPE_CHECKING:
    from evalc.compiler.compiled import CompiledSuite


_BEGINNING: Final = 1_000_000
"""How many bytes of a file show whose it is: in a compiled file, those before its cases."""


@with_flags("prompts", "tools", "strict", "config")
def compile_files(
    files: PathsOrStdin = None,
    output: Annotated[
        str | None,
        typer.Option("--output", "-o", metavar="DIR", help="Where to write; - prints. Default: evals/build."),
    ] = None,
    source_map: Annotated[
        bool,
        typer.Option("--source-map", help="Also write NAME.json.map, which maps each part to its place in the source."),
    ] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Do not list the files that are written.")] = False,
    **flags: Any,
) -> int:
    """Compile eval files to JSON, one file per suite and tier.

    Without PATH, compile the paths of the configuration, else the working folder. If a file has errors, nothing is
    written.

    \b
    Examples:
      evalc compile evals/reviews.eval.yaml
      evalc compile evals/reviews.eval.yaml -o -
    """
    if output == "-" and source_map:
        raise UsageError("`--source-map` writes files: name a folder with `-o`")
    # For start-up: `--help` compiles nothing.
    from evalc.setup.compile import compiled, nothing_found, policy_of  # noqa: PLC0415

    settings = settings_of(flags)
    policy = policy_of(settings)
    subjects = with_standard_input(settings.looked_at(files or ()))
    folder = None if output == "-" else settings.build_folder if output is None else Path.cwd() / output
    with collector_off():
        compilation = compiled(subjects, settings, policy, errors_stay=True, output_folder=folder)
    unportable = tuple(problem for suite in compilation.suites if (problem := suite.portability()) is not None)
    warnings = policy.reported(unportable, errors_stay=True)
    print_problems((*compilation.problems, *warnings), sys.stderr)
    if compilation.has_errors:
        return ExitCode.USAGE
    if not compilation.suites:
        raise UsageError(nothing_found(subjects, compilation.inventory))
    suites = compilation.suites
    if folder is not None:
        _write_compiled(suites, folder, with_maps=source_map, quiet=quiet)
    else:  # one suite as in its file; several a line each, so that a reader can split them
        one, *more = suites
        sys.stdout.buffer.writelines((suite.encode_line() for suite in suites) if more else one.encode())
    return ExitCode.OK


def _write_compiled(suites: Sequence[CompiledSuite], folder: Path, *, with_maps: bool, quiet: bool) -> None:
    names = sorted((suite.file_name for suite in suites), key=str.casefold)
    for one, other in pairwise(names):
        if one.casefold() == other.casefold():
            raise UsageError(f"nothing was written: `{one}` and `{other}` are one file on some systems: rename a suite")
    _write_all(
        folder,
        ((suite.file_name, suite.encode) for suite in suites),
        is_ours=lambda beginning: b'"generatedBy": "evalc ' in beginning.partition(b'"cases"')[0],
        foreign="is there, and evalc has not compiled it",
        quiet=quiet,
    )
    if with_maps:
        for suite in suites:
            write_atomic(folder / f"{suite.file_name}.map", suite.source_map())


def _write_all(
    folder: Path,
    files: Iterable[tuple[str, Callable[[], bytes | Iterable[bytes]]]],
    *,
    is_ours: Callable[[bytes], bool],
    foreign: str,
    quiet: bool = False,
) -> None:
    """Write files into a folder, over none that is there but empty ones and those that begin as evalc's do."""
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"`{shown_path(folder)}` is not a folder")
    paths = {folder / name: content for name, content in files}
    for file in filter(Path.exists, paths):
        if (beginning := read_beginning(file, _BEGINNING)) and not is_ours(beginning):
            raise UsageError(f"nothing was written: `{shown_path(file)}` {foreign}")
    make_folder(folder)
    for file, content in paths.items():
        write_atomic(file, content())
        if not quiet:
            sys.stdout.write(f"wrote {shown_path(file)}\n")


@with_flags("config")
def show_config(**flags: Any) -> int:
    """Show the settings and where each comes from.

    \b
    Example:
      evalc config
    """
    return print_settings(settings_of(flags))


_STRUCK_OUT: Final = "***"


_EFFECTIVE: Final = {"output_dir": "results_folder", "seed_manifest": "seed_file"}
"""The attributes that say what holds if a setting is left out."""


def print_settings(settings: Settings) -> int:
    """Print each setting on a line, `key = value  # where from`."""
    from evalc.setup.runner import redactor_of  # noqa: PLC0415 - for start-up: `--help` reads no configuration

    redactor = redactor_of(settings, os.environ)
    origin = _file_of(settings)
    rows = [_row(settings, each) for each in ALL_KEYS.values() if not (settings.agents and each.name == "agents")]
    rows += [
        (f"agents.{name}.{each.name}", _shown(each, value), origin)
        for name, agent in settings.agents
        for each, value in agent.said()
    ]
    width = max(len(head) for head, _, _ in rows)
    for head, value, origin in rows:
        line = visible(redactor.redact(f"{head.ljust(width)} = {value}  # {origin}"))
        sys.stdout.write(f"{line}\n")
    return ExitCode.OK


def _row(settings: Settings, setting: Setting[Any]) -> tuple[str, str, str]:
    name, value = setting.name, settings.value_of(setting)
    if name in settings.given:
        return name, _shown(setting, value), setting.flag or "the command"
    if name in settings.configured:
        return name, _shown(setting, value), _file_of(settings)
    if setting.variable and os.environ.get(setting.variable):
        return name, _shown(setting, os.environ[setting.variable]), f"the environment: {setting.variable}"
    effective = getattr(settings, _EFFECTIVE[name]) if name in _EFFECTIVE else value
    return name, _shown(setting, effective), "default"


def _file_of(settings: Settings) -> str:
    return os.path.relpath(settings.file) if settings.file else "the configuration"


def _shown(setting: Setting[Any], value: Any) -> str:
    if value in (None, ()):
        return "none"
    if setting.secret and setting.name != "secrets":  # which are names
        names = [pair[0] for pair in value] if isinstance(value, tuple) else []
        return json.dumps(dict.fromkeys(names, _STRUCK_OUT)) if names else _STRUCK_OUT
    return json.dumps(_without_credentials(setting.written(value)), default=_plain, ensure_ascii=False)


def _without_credentials(value: Any) -> Any:
    """The value, URLs in it without passwords and without the values of their queries, however short they are."""
    from evalc.runtime.agents.http import shown_url  # noqa: PLC0415 - for start-up, as above

    match value:
        case str():
            return shown_url(value)
        case tuple() | list():
            return [_without_credentials(item) for item in value]
        case _:
            return value


def _plain(value: object) -> object:
    """A path as the working folder sees it, JMESPath as it is written, and of a record what is given."""
    if isinstance(value, JsonPath):
        return value.text
    if isinstance(value, Path):
        here = Path.cwd()
        return str(value.relative_to(here) if value.is_relative_to(here) else value)
    if isinstance(value, msgspec.Struct):
        return {name: part for name, part in msgspec.structs.asdict(value).items() if part is not None}
    return str(value)


_TITLE: Final = 200
"""Within how many bytes a schema has its title."""


class SchemaName(StrEnum):
    """Names of schemas."""

    LANGUAGE = "language"
    CASE = "case"
    CONFIG = "config"
    RESULT = "result"


def schema(
    name: Annotated[
        SchemaName | None,
        typer.Argument(metavar="[NAME]", help="language, case, config or result. Default, with -o: all of them."),
    ] = None,
    output: Annotated[
        str | None, typer.Option("--output", "-o", metavar="DIR", help="Write NAME.json into this folder.")
    ] = None,
) -> int:
    """Print a JSON Schema, for editors and other tools.

    There are schemas of eval files in YAML, compiled files, the configuration, and results.

    \b
    Examples:
      evalc schema language
      evalc schema -o schemas/
    """
    names = [name] if name is not None else list(SchemaName)
    if output is None and name is None:
        raise UsageError(f"name one of {', '.join(f'`{each}`' for each in names)}, or a folder for all with `-o`")
    from evalc.schema.published import file_name, schema_text  # noqa: PLC0415 - for start-up: loads tables

    if output is None:
        sys.stdout.buffer.write(schema_text(names[0]))
    else:
        _write_all(
            Path.cwd() / output,
            ((file_name(each), partial(schema_text, each)) for each in names),
            is_ours=lambda beginning: b'"title": "evalc: ' in beginning[:_TITLE],
            foreign="exists and is not a schema of evalc",
        )
    return ExitCode.OK


def lsp(
    _stdio: Annotated[
        bool, typer.Option("--stdio", hidden=True, help="Has no effect; accepted since some editors pass it.")
    ] = True,
) -> int:
    """Serve an editor with mistakes, completions and fixes.

    The server speaks the Language Server Protocol over standard input and output. It needs
    `pip install 'evalc[lsp]'`. docs/editors.md has the settings for VS Code, Neovim, Helix and Emacs.

    \b
    Example:
      evalc lsp
    """
    extras.refuse_missing("lsp")
    if sys.stdin is None or sys.stdin.isatty():
        raise UsageError("`evalc lsp` talks to an editor, not to a terminal: docs/editors.md says how to set one up")
    extras.lsp.serve()
    return ExitCode.OK


def demo_agent(
    host: Annotated[
        str, typer.Option(metavar="ADDRESS", help="The address to listen on. Default: 127.0.0.1.")
    ] = "127.0.0.1",
    port: Annotated[
        int, typer.Option(metavar="N", parser=whole(0, 65535), help="The port; 0 takes a free one. Default: 3000.")
    ] = 3000,
) -> int:
    """Serve the demo agent over HTTP until interrupted.

    The agent answers questions about the weather and reviews Python code, always in the same way.

    \b
    Examples:
      evalc demo-agent --port 3000
      evalc run evals/ --agent http://127.0.0.1:3000/chat
    """
    try:
        extras.demo.run_forever(host, port, ready=_announce)
    except KeyboardInterrupt:
        sys.stderr.write("\n")
    except OSError as error:
        raise UsageError(f"nobody can listen at `{host}`, port {port}: {error.strerror or error}") from None
    return ExitCode.OK


def _announce(url: str) -> None:
    sys.stdout.write(f"the demo agent answers at {url} (Ctrl-C ends it)\n")
    sys.stdout.flush()
