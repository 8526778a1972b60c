"""Options of the compiler: where prompts are, how folders are searched, how strict to be."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, final

import msgspec

from evalc.compiler.discover import Finder

if TYPE_CHECKING:
    from evalc.compiler.libraries import PromptLibrary
    from evalc.tools.load import RegistryFile


@final
class CompileOptions(msgspec.Struct, frozen=True, kw_only=True):
    """Options of a compilation."""

    strict: bool = False  # warnings of the EV5xx family are errors
    prompts: Path | None = None  # the folder where prompts are looked up by id; None: the project's root
    prompt_id: str | None = None  # only the suites of this prompt are compiled
    checks: tuple[Path, ...] = ()  # the Python files that declare the project's checks
    # the folder whose `evalc.lock` the regression cases are compared with; None: with none
    lock_folder: Path | None = None
    tools: RegistryFile | None = None  # the tool registry that names of tools are looked up in; None: they are not
    # names of inputs that the agent is sent whether or not a template uses them
    inputs_sent: frozenset[str] = frozenset()
    judged: bool = False  # whether the project has a judge, who scores the criteria that no check names
    finder: Finder = msgspec.field(default_factory=Finder)  # how folders are searched
    # the prompts of the project, read already; None: they are read when they are needed
    known_prompts: PromptLibrary | None = None
    # where compiled files will be written: those of the same suites there are replaced; None: nowhere
    output_folder: Path | None = None
    hashed: bool = False  # whether the hashes of the compiled files will be asked for
    # takes in what is needed no more, up to a limit, where the process ends soon; None: it is let go. Taking syntax
    # trees apart is a twentieth of the time that a check takes.
    kept_alive: list[object] | None = None
