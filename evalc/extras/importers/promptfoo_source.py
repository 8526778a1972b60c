"""A promptfoo configuration on its way to a suite: the files that it names, and what of it is left out."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any, Final, NamedTuple, final

from evalc.base.files import is_below, project_root
from evalc.base.source import Source
from evalc.diagnostics import Diagnostics, Finding
from evalc.dsl.nodes import Node
from evalc.dsl.read_yaml import read_yaml
from evalc.dsl.scalars import to_plain
from evalc.dsl.sources import read_source
from evalc.ecma.modules import Scripts, linked
from evalc.extras.importers.imported import Unmappable, documents_of, left_out
from evalc.extras.importers.promptfoo_templates import has_template
from evalc.model.json import key_of_step

FILE: Final = "file://"
DATA_FILES: Final = (".yaml", ".yml", ".json")
CODE: Final = re.compile(r"\.(?:[cm]?[jt]s|py)\Z", re.IGNORECASE)
"""The end of the name of a file that promptfoo runs."""
_MOST_FILES: Final = 100
_DEEPEST: Final = 20
_MOST_VALUES: Final = 100_000
"""How many values the `$ref`s of one place may have, since each may point to others many times."""
_NO_COMMENT: Final = re.compile(r"yaml-language-server:|.*\bpromptfoo(?:\.dev/|(?:@\S+)?\ (?:eval|view)\b)")
"""Comments for an editor or about promptfoo's pages and commands."""
_SETTING: Final = re.compile(
    r"""-\ ["'{]|-\ [\w.-]+:\S|
    (?:-\ )?(?:apiKey|assert|config|defaultTest|delay|description|env|id|label|max\w+|options|prompts|providers?|
    temperature|tests|threshold|type|value|vars|weight|[A-Z]+_API_KEY):(?:\s|$)""",
    re.VERBOSE,
)
"""Comments of settings that are to have no effect."""
_KEY: Final = re.compile(r"[a-z_][\w.-]*:(?:\s|$)")
_LIKE_SETTING: Final = re.compile(rf"#|{_KEY.pattern}|[\]\[{{}}]")
"""Such comments as well, beside one, or where all of several lines are alike and one is a key."""
_FRAME: Final = "\u2551\u2502|\t "
"""The sides of a box around comments."""


class Loss(NamedTuple):
    """The parts of a comment: something is not imported, or with a difference (`how`), why, and its place."""

    how: str
    what: str
    why: str
    place: str = ""


def _prose_of(block: Sequence[str], *, is_dropped: bool) -> list[str]:
    """The comments that speak to readers, of lines that stand together, and none that introduces only others.

    It `is_dropped` what stands below them.
    """
    said = [comment for comment in block if re.search(r"[^\W\d_]", comment)]
    alike = [comment for comment in said if _LIKE_SETTING.match(comment)]
    are_settings = any(map(_SETTING.match, said)) and len(alike) * 2 >= len(said)
    are_settings = are_settings or (len(said) > 1 and alike == said and any(map(_KEY.match, said)))
    found: list[str] = []
    for comment in reversed(said):
        if _NO_COMMENT.match(comment) or _SETTING.match(comment) or (are_settings and comment in alike):
            is_dropped = True
        elif not (is_dropped and comment.endswith(":")):
            found.append(comment)
            is_dropped = False
    return found[::-1]


@final
class Configuration:
    """The text of a configuration, the folder of the suite, and the problems found so far."""

    def __init__(self, source: Source, folder: Path, problems: Diagnostics) -> None:
        self.source = source
        self.problems = problems
        self.head: list[str] = []
        self.losses: dict[str, Loss] = {}  # by the comments that say them
        self._folder = folder
        self._beside = Path(source.name).parent
        self._root = project_root(Path(source.name))
        self._kept: set[tuple[str, int]] = set()  # where the comments are that the suite has

    # --- files beside it ---

    def read(self, path: str, endings: tuple[str, ...] = ("",)) -> Source:
        """A file that the configuration names, if it has such an ending and lies within the project."""
        path = path.removeprefix(FILE)
        if not path.endswith(endings):
            raise Unmappable(f"`{path}` is not a file that can be imported ({', '.join(endings)})")
        file = self._beside / path
        if not is_below(file, self._root):
            raise Unmappable(f"`{path}` lies outside of the project")
        found = Diagnostics()
        source = read_source(file, found.add)
        if source is None:
            raise Unmappable(next(iter(found)).finding.message())
        self.problems.extend(
            found, at_most="warning"
        )  # bytes that are not UTF-8: promptfoo reads `\ufffd` for them, too
        return source

    def linked(self, file: Path) -> Scripts:
        """A file of JavaScript with those of the project that it imports.

        Raises:
            ScriptError: it imports what is no file of the project.
        """
        return linked(file, self._root)

    def matching(self, path: str) -> list[str]:
        """The path, or the paths that a pattern matches."""
        path = path.removeprefix(FILE)
        if "*" not in path:
            return [path]
        begin, _, rest = path.partition("*")
        if ".." in Path(rest).parts or not is_below(self._beside / begin, self._root):
            raise Unmappable(f"`{path}` lies outside of the project")
        try:
            found = sorted(islice(self._beside.glob(path), _MOST_FILES))
        except (ValueError, NotImplementedError, OSError) as error:
            raise Unmappable(f"`{path}` is no pattern of files") from error
        if not found:
            raise Unmappable(f"`{path}` matches no file")
        return [Path(os.path.relpath(each, self._beside)).as_posix() for each in found]

    def relative(self, path: str) -> str:
        """A path that counts from the configuration as a path that counts from the suite's folder."""
        return self.relative_to_suite(self._beside / path.removeprefix(FILE))

    def relative_to_suite(self, path: Path) -> str:
        """A path, relative to the suite's folder."""
        return Path(os.path.relpath(path, self._folder)).as_posix()

    def in_project(self, path: str) -> str:
        """A path that counts from the suite's folder as a path that counts from the root of the project."""
        return Path(os.path.relpath(self._folder / path, self._root)).as_posix()

    def document(self, source: Source) -> Node:
        """The only document of a file of YAML or JSON."""
        documents = documents_of(source, Diagnostics())
        if documents is None or len(documents) != 1 or documents[0] is None:
            raise Unmappable("it is not one document of YAML or JSON")
        return documents[0]

    # --- data in it ---

    def plain(self, node: Node) -> Any:
        """A node as plain data, with what its `$ref`s point to in the configuration."""
        data = to_plain(node)
        if '"$ref"' not in self.source.text and "$ref:" not in self.source.text:
            return data
        try:
            return self._resolved(data, _DEEPEST, iter(range(_MOST_VALUES)))
        except StopIteration:
            return data

    @cached_property
    def environment(self) -> dict[str, str]:
        """The variables of the environment that the configuration itself sets, as texts without templates."""
        given = self._whole.get("env") if isinstance(self._whole, dict) else None
        texts = {name: each for name, each in given.items() if isinstance(each, str)} if isinstance(given, dict) else {}
        return {name: text for name, text in texts.items() if not has_template(text)}

    @cached_property
    def _whole(self) -> Any:
        documents = read_yaml(self.source)
        return to_plain(documents[0]) if documents else None

    def _resolved(self, data: Any, depth: int, room: Iterator[int]) -> Any:
        next(room)
        match data:
            case {"$ref": str(pointer), **own} if pointer.startswith("#/") and depth:
                target = self._whole
                for step in pointer[2:].split("/"):
                    target = target.get(key_of_step(step)) if isinstance(target, dict) else None
                found = self._resolved(target, depth - 1, room)
                return found | own if isinstance(found, dict) else found
            case dict():
                return {key: self._resolved(value, depth, room) for key, value in data.items()}
            case list():
                return [self._resolved(value, depth, room) for value in data]
            case _:
                return data

    def comments_above(self, source: Source, node: Node) -> list[str]:
        """The comments of a YAML file above a node, indented as it is, unless the suite has them."""
        text = source.text
        at = text.rfind("\n", 0, node.start) + 1
        before = text[at : node.start]
        if not source.name.endswith(DATA_FILES[:2]) or before.strip(" -"):
            return []
        column = len(before) - len(before.lstrip(" "))
        blocks: list[list[str]] = [[]]
        while at:
            start = text.rfind("\n", 0, at - 1) + 1
            line = text[start:at].strip()
            if (line and not line.startswith("#")) or (source.name, start) in self._kept:
                break
            self._kept.add((source.name, start))
            if not line.strip("#"):
                blocks.append([])
            elif text.startswith("#", start + column):
                blocks[-1].append(line.lstrip("#").strip(_FRAME))
            at = start
        found: list[str] = []
        is_dropped = False
        for block in blocks:  # from below
            prose = _prose_of(block[::-1], is_dropped=is_dropped)
            is_dropped = bool(block) and not prose
            found = [*prose, *found]
        return found

    # --- what is left out ---

    def leave_out(self, source: Source, node: Node, what: str, why: str) -> str:
        """Report what is not imported; the comment that says so in the suite, empty if one says so already."""
        comment = left_out(self.problems, source, node.span, what, why)
        if comment:
            place = comment.rpartition(" (")[2].removesuffix(")")
            self.losses[comment] = Loss(comment.partition(":")[0], what, why, place)
        return comment

    def differ(self, source: Source, node: Node, what: str, why: str) -> str:
        """Report what is imported with a difference; the comment that says so in the suite."""
        finding = Finding("EV655", what=what, why=why)
        self.problems.add(source, node.span, finding)
        self.losses[finding.message()] = Loss(finding.message().partition(":")[0], what, why)
        return finding.message()

    def say_in_head(self, node: Node, what: str, why: str, source: Source | None = None) -> None:
        """Report what is not imported, and say so in the head of the suite."""
        self.head.append(self.leave_out(source or self.source, node, what, why))

    def expect(self, source: Source, node: Node, what: str, expected: str) -> None:
        """Report what is not of the form that promptfoo expects."""
        self.problems.add(source, node.span, Finding("EV654", what=what, expected=expected))
