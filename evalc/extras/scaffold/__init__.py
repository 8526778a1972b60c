"""Creates the files of a new project for what its folder has, or says what is in their way."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, distribution
from importlib.resources import files
from pathlib import Path
from typing import Final

import msgspec

from evalc import __version__
from evalc.base.files import make_folder, read_limited, write_atomic
from evalc.dsl.document_kind import names_an_eval
from evalc.extras.scaffold.found import FIRST_SUITE, Agent, Evals, Found, first_suite, found_in
from evalc.schema.published import schema_text

__all__ = [
    "FIRST_SUITE",
    "Agent",
    "Evals",
    "Found",
    "first_suite",
    "found_in",
    "in_the_way",
    "lacks_evals",
    "write_project",
]

_WORKFLOW: Final = ".github/workflows/evals.yml"

_LARGEST: Final = 1_000_000
_TEMPLATES: Final[Mapping[str, str]] = {
    "evalc.toml": "evalc.toml",
    "evals/weather.eval.yaml": "evals/weather.eval.yaml",
    "evals/get-weather.golden.eval.yaml": "evals/get-weather.golden.eval.yaml",
    "evals/seed-manifest.json": "evals/seed-manifest.json",
    _WORKFLOW: "github/evals.yml",
}
"""The files of a project, and what each is written from."""

_CONFIGURATION: Final = "evalc.toml"
_NO_AGENT: Final = '# agent = "http://localhost:3000/chat"'
"""Where the configuration says which agent there is."""
_PATHS: Final = b'paths = ["evals"]'
_STAND_IN: Final = """\
# "demo" only stands in: it knows the weather, and nothing of this project.
agent = "demo\""""

# Parts of the workflow:
_EVALC: Final = 'EVALC: ""'
_INSTALL: Final = 'pip install "$EVALC"'
_PREPARE: Final = "      # Install and start here"
_DEMO: Final = " --agent demo"
_KEYS: Final = re.compile(r'"(openai|anthropic):')

_SCHEMA: Final = ".evalc/schema/language.json"
_IGNORE: Final = ".gitignore"
_EVALS: Final = "evals/"


def in_the_way(folder: Path) -> tuple[Path, ...]:
    """Files where the project has folders, folders where it has files, and links that lead nowhere."""
    files = [folder / name for name in (*_TEMPLATES, _SCHEMA, _IGNORE)]
    folders = {parent for file in files for parent in file.parents if parent.is_relative_to(folder)}
    occupied = {path for path in files if (path.is_symlink() or path.exists()) and not path.is_file()}
    blocked = {path for path in folders if (path.is_symlink() or path.exists()) and not path.is_dir()}
    return tuple(sorted(occupied | blocked))


def write_project(folder: Path, found: Found) -> Iterator[Path]:
    """Write the files of a project that are missing, but for a suite of what was found; yields each that is written.

    If nothing was found, there are suites for the demo agent. They are missing only where there is no folder of evals,
    which may be anybody's.

    Raises:
        OSError: a file cannot be written.
    """
    contents = {name: _template(source) for name, source in _TEMPLATES.items()}
    contents[_SCHEMA] = schema_text("language")
    named = ""
    if found.agents or found.evals:
        evals = found.evals[0] if found.evals else None
        with_tables = "" if found.agents or evals is None else evals.agents
        line, _, tables = with_tables.partition("\n\n")
        agent = found.agents[0].line if found.agents else line or _STAND_IN
        named = "\n".join(filter(None, (agent, evals and evals.judge)))
        configuration = contents[_CONFIGURATION].replace(_NO_AGENT.encode(), named.encode())
        configuration += f"\n{tables}\n".encode() if tables else b""
        if evals is not None and evals.folders:
            configuration = configuration.replace(_PATHS, f"paths = {json.dumps([*evals.folders])}".encode())
        contents[_CONFIGURATION] = configuration
    contents[_WORKFLOW] = _workflow(contents[_WORKFLOW].decode(), folder, found, named).encode()
    has_evals = (folder / _EVALS).exists() or found.agents or found.evals
    for name, content in contents.items():
        path = folder / name
        if path.exists() or (has_evals and name.startswith(_EVALS)):
            continue
        make_folder(path.parent)
        write_atomic(path, content)
        yield path
    ignored = _with_missing_lines(folder / _IGNORE, _template("gitignore").decode())
    if ignored is not None:
        write_atomic(folder / _IGNORE, ignored)
        yield folder / _IGNORE


def _workflow(text: str, folder: Path, found: Found, named: str) -> str:
    """The workflow, with what the agent that the configuration names needs: its packages, its server, its keys."""
    text = text.replace(_EVALC, f"EVALC: {json.dumps(_requirement())}")
    if not named:
        return text
    text = text.replace(_DEMO, "")
    if found.agents:
        text = text.replace(_INSTALL, _INSTALL + _packages(folder))
        if start := found.agents[0].start:
            url = f"http://127.0.0.1:{start.rpartition(' ')[2]}/"
            wait = f"curl --silent --output /dev/null --retry 20 --retry-delay 1 --retry-connrefused {url}"
            text = text.replace(_PREPARE, f"      - run: {start} & {wait}\n{_PREPARE}")
    keys = dict.fromkeys(f"{name.upper()}_API_KEY" for name in _KEYS.findall(named))
    return text + "".join(f"          {key}: ${{{{ secrets.{key} }}}}\n" for key in keys)


def _packages(folder: Path) -> str:
    """The arguments of pip that install what the project says that it needs."""
    if (folder / "requirements.txt").is_file():
        return " -r requirements.txt"
    with suppress(OSError, ValueError):
        if "project" in tomllib.loads(read_limited(folder / "pyproject.toml", _LARGEST).decode()):
            return " ."
    return ""


def lacks_evals(folder: Path) -> bool:
    """Whether no file in the folder of evals has the name of one."""
    evals = folder / _EVALS
    return not evals.is_dir() or not any(names_an_eval(each.name) for each in evals.iterdir())


def _template(name: str) -> bytes:
    return files("evalc.extras.scaffold").joinpath("project", *name.split("/")).read_bytes()


def _with_missing_lines(file: Path, lines: str) -> bytes | None:
    """The file with those of the lines that it lacks at its end; None if it has them all."""
    present = read_limited(file, _LARGEST) if file.exists() else b""
    known = {line.strip() for line in present.splitlines()}
    missing = [line for line in lines.encode().splitlines() if line not in known]
    if not missing:
        return None
    gap = b"" if not present or present.endswith(b"\n") else b"\n"
    return present + gap + b"".join(line + b"\n" for line in missing)


class _Vcs(msgspec.Struct):
    vcs: str
    commit_id: str


class _Origin(msgspec.Struct):
    """Pip's note on a package that was installed from elsewhere than an index (PEP 610)."""

    url: str = ""
    vcs_info: _Vcs | None = None


def _requirement() -> str:
    """The requirement for CI: the commit or the URL that evalc came from, else its version."""
    with suppress(PackageNotFoundError, msgspec.DecodeError):
        origin = msgspec.json.decode(distribution("evalc").read_text("direct_url.json") or "{}", type=_Origin)
        if origin.url.startswith(("https://", "http://", "ssh://")):
            vcs = origin.vcs_info
            return f"evalc @ {origin.url}" if vcs is None else f"evalc @ {vcs.vcs}+{origin.url}@{vcs.commit_id}"
    return f"evalc=={__version__}"
