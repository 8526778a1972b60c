"""Coding agents such as Claude Code: what they are called by, and what their events say. Both are in `coding.toml`.

A skill is loaded by a call of the tool `Skill` that names it. Where an agent loads one in another way, as by reading
its `SKILL.md`, such a call is added behind it.
"""

from __future__ import annotations

import hashlib
import os
import re
import shlex
import shutil
import stat
import tomllib
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, Final, final

import msgspec

from evalc.base.errors import FULL, AgentError, AgentProtocolError, EvalcError, MachineFailed
from evalc.base.files import is_below, make_folder, open_regular, read_limited, skill_name
from evalc.base.terminal import excerpt, well_formed
from evalc.model.answer import (
    LONGEST_WRITTEN,
    MOST_WRITTEN,
    NOT_LOOKED_AT,
    AgentResponse,
    ToolCall,
    WrittenFile,
    has_room,
)
from evalc.model.case import SKILL_TOOL
from evalc.model.suite import Copied
from evalc.runtime.agents import wire
from evalc.runtime.mapping import JsonPath

TABLE: Final = Path(__file__).with_name("coding.toml")
_LARGEST: Final = 100_000
SKILLS: Final = ".agents/skills"
"""Where programs without a profile find skills."""
_MANIFEST: Final = re.compile(r"[/\\]skills[/\\]+(?:[^/\\\s\"']+[/\\]+)*?(?P<name>[\w.-]+)[/\\]+SKILL\.md(?!\.?\w)")
_NOT_COPIED: Final = (".git", ".evalc", ".venv", "__pycache__", "evals", "node_modules")
"""The parts of a skill that no agent is given: above all the evals, which say what is asked of it."""

_PIECE: Final = 1 << 20


@final
class Profile(msgspec.Struct, frozen=True, kw_only=True):
    """A coding agent: an entry of the table."""

    title: str
    command: tuple[str, ...]
    skills: str
    answer: dict[str, str]
    without: tuple[str, ...] = ()

    def call(self, arguments: str) -> str:
        """The command line, with what the user adds to it; a `-` at its end stays there."""
        *begin, end = self.command
        if end == "-":
            return f"{shlex.join(begin)} {arguments} -"
        return f"{shlex.join(self.command)} {arguments}"

    def answer_in(self, printed: bytes) -> AgentResponse:
        """The answer that the events of a whole run give.

        Raises:
            AgentError: it ended without one.
            AgentProtocolError: the events are of another shape.
        """
        events = [*_events(printed)]
        found = {name: wire.value_at(path, events) for name, path in _paths(tuple(self.answer.items())).items()}
        if failure := found["failure"]:
            raise AgentError(f"{self.title} failed: {excerpt(str(failure))}")
        if found["response"] is None:
            last = excerpt(printed.rstrip().rpartition(b"\n")[2])
            raise AgentProtocolError(f"{self.title} ended without an answer{last and f': {last}'}")
        results = {each["id"]: each for each in found.get("results") or () if each.get("id")}
        calls = [_call(each, results.get(each.get("id"))) for each in found["tool_calls"] or ()]
        usage = {name: value for name in _USED if (value := found.get(name)) is not None}
        answer = wire.answer_of({"response": found["response"], "toolCalls": calls, "usage": usage})
        model = found.get("model") if isinstance(found.get("model"), str) else None
        return msgspec.structs.replace(answer, tool_calls=tuple(with_skills(answer.tool_calls)), model=model)


_USED: Final = ("input_tokens", "output_tokens", "cost_usd")


@cache
def profiles() -> Mapping[str, Profile]:
    """The profiles by the kinds of agents."""
    return msgspec.convert(tomllib.loads(read_limited(TABLE, _LARGEST).decode()), dict[str, Profile])


@cache
def _paths(answer: tuple[tuple[str, str], ...]) -> Mapping[str, JsonPath]:
    return {name: JsonPath.of(text) for name, text in answer}


def _events(printed: bytes) -> Iterator[dict[str, Any]]:
    """The lines that are JSON objects; programs print warnings among them."""
    for line in printed.splitlines():
        if line.lstrip().startswith(b"{"):
            with suppress(AgentProtocolError):
                event = wire.decode_json(line)
                if isinstance(event, dict):
                    yield event


def _call(found: Mapping[str, Any], result: Mapping[str, Any] | None) -> dict[str, Any]:
    """A call as the contract has it, with its result where that is another event."""
    call = {key: value for key, value in found.items() if value is not None}
    if isinstance(call.get("params"), dict):
        call["params"] = {key: value for key, value in call["params"].items() if value is not None}
    if result is not None:
        given, failed = result.get("result"), bool(result.get("failed"))
        text = given if isinstance(given, str) else msgspec.json.encode(given).decode()
        call |= {"success": not failed, **({"error": text or "it failed"} if failed else {"result": given})}
    return call


def with_skills(calls: Iterable[ToolCall]) -> Iterator[ToolCall]:
    """The calls; each that loads a skill in another way is followed by a call of `Skill`."""
    loaded: set[str] = set()
    for call in calls:
        yield call
        name = call.params.get("skill") if call.name == SKILL_TOOL else None
        names = [name] if isinstance(name, str) else []
        if names and ":" in names[0]:  # a skill of a plugin, `PLUGIN:NAME`
            loaded.add(names[0])
            names = [names[0].rpartition(":")[2]]
        elif not names and call.success is not False:
            text = msgspec.json.encode(call.params).decode().replace("\\\\", "\\")
            names = [found["name"] for found in _MANIFEST.finditer(text)]
        elif names:
            loaded.add(names[0])
        for each in dict.fromkeys(names):
            if each not in loaded:
                loaded.add(each)
                yield ToolCall(name=SKILL_TOOL, params={"skill": each}, success=True)


# --- the folder of an attempt ----------------------------------------------------------------------------------------


def fill(folder: Path, files: Mapping[str, str], root: Path, skills: Iterable[Path], below: str) -> None:
    """Copy the files of a case into a folder, and skills below it.

    Raises:
        AgentError: something cannot be copied.
        MachineFailed: the disk is full.
    """
    try:
        for name, path in files.items():
            _copy(root / path, folder, name)
        for skill in skills:
            _copy(skill, folder, f"{below}/{skill_name(skill)}", *_NOT_COPIED)
    except (OSError, shutil.Error) as error:
        why = f"the folder of the attempt cannot be made: {excerpt(str(error))}"
        # `shutil` has only the texts of what it met.
        is_full = any(f"[Errno {number}]" in str(error) for number in FULL)
        raise (MachineFailed if is_full else AgentError)(why) from None


def content_hash(copied: Iterable[Copied], root: Path, but_for: Iterable[Path] = ()) -> str | None:
    """The hash of what `fill` would copy, without the paths `but_for`; None for nothing.

    What cannot be read has a hash, too: the attempts say why.
    """
    digest = hashlib.sha256()
    found = dict.fromkeys(copied)
    left_out = {path.resolve() for path in but_for}
    for each in found:
        source = (root / each.path).resolve()
        digest.update(b"\0\0")
        for path in sorted(_files_below(source, _NOT_COPIED if each.is_skill else (), left_out)):
            digest.update(os.fsencode(path.relative_to(source)) + b"\0" + _content_of(path))
    return digest.hexdigest()[:12] if found else None


def _files_below(source: Path, skipped: Collection[str], left_out: Collection[Path]) -> Iterator[Path]:
    """The files and links below a folder; a file itself."""
    if not source.is_dir():
        yield source
    for parent, below, names in os.walk(source):
        paths = [Path(parent, name) for name in (*names, *below) if name not in skipped]
        paths = [path for path in paths if path not in left_out]
        yield from (path for path in paths if path.name in names or path.is_symlink())
        below[:] = [path.name for path in paths if path.name in below]  # of links `walk` follows none


def _content_of(path: Path) -> bytes:
    try:
        if path.is_symlink():
            return b"link " + os.fsencode(path.readlink())
        content = hashlib.sha256()
        with open_regular(path) as file:
            while piece := file.read(_PIECE):
                content.update(piece)
        return content.digest()
    except OSError as error:
        return b"error %d" % (error.errno or 0)


def stamps_in(folder: Path) -> dict[str, tuple[int, int, int]]:
    """The files in a folder by their paths there, each with what is another once it is written; shallow ones first.

    Links, hidden folders and those of installed packages are left out.
    """
    found: dict[str, tuple[int, int, int]] = {}
    for parent, below, names in os.walk(folder):
        below[:] = [name for name in below if not name.startswith(".") and name not in NOT_LOOKED_AT]
        for name in names:
            path = Path(parent, name)
            with suppress(OSError):
                status = path.lstat()
                if stat.S_ISREG(status.st_mode):
                    found[str(path.relative_to(folder))] = (status.st_mtime_ns, status.st_size, status.st_ino)
    return dict(sorted(found.items(), key=lambda each: (each[0].count(os.sep), each[0])))


def files_in(folder: Path, before: Mapping[str, object]) -> tuple[tuple[WrittenFile, ...], tuple[str, ...]]:
    """The files in a folder that are not as they were `before`, and the paths of those that are.

    The former have their texts, as far as these are not too long.
    """
    stamps = stamps_in(folder)
    changed = [(path, stamp[1]) for path, stamp in stamps.items() if before.get(path) != stamp]
    unchanged = [_shown_path(path) for path, stamp in stamps.items() if before.get(path) == stamp]
    written: list[WrittenFile] = []
    for path, size in changed[:MOST_WRITTEN]:
        text = None
        if has_room(size, written):
            with suppress(OSError, EvalcError, UnicodeDecodeError):
                text = read_limited(folder / path, LONGEST_WRITTEN).decode()
        written.append(WrittenFile(path=_shown_path(path), size=size, text=text))
    return tuple(written), tuple(unchanged)


def _shown_path(path: str) -> str:
    return well_formed(path.replace(os.sep, "/"))


def _copy(source: Path, folder: Path, name: str, *skipped: str) -> None:
    """Copy a file, or a folder without what is skipped; links stay links, and nothing is copied through one."""
    target = folder / name
    if not is_below(target, folder.resolve()):
        raise AgentError(f"`{name}` would lie outside of the folder of the attempt")
    if source.is_dir():
        shutil.copytree(source, target, symlinks=True, dirs_exist_ok=True, ignore=shutil.ignore_patterns(*skipped))
    else:
        make_folder(target.parent)
        shutil.copy2(source, target)
