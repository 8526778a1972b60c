"""What a name means, and everywhere that it is named in the project."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from evalc.base.source import Source
from evalc.lsp.mentions import Mention, mentions
from evalc.lsp.outline import Outline
from evalc.lsp.workspace import Workspace


class Location(NamedTuple):
    """A mention in a source."""

    source: Source
    mention: Mention


def occurrences(workspace: Workspace, path: Path, mention: Mention) -> list[Location]:
    """Where a project names the same thing as a mention in one of its files does, the mention among them."""
    files = _Files(workspace, path.resolve())
    match mention.kind:
        case "rule":
            return [*_of_rule(files, mention)]
        case "criterion":
            return [*_of_criterion(files, mention)]
        case "input":
            return [each for each in files.named(files.path, mention) if each.mention.document == mention.document]
        case _:
            return [each for path in files.all() for each in files.named(path, mention)]


class _Files:
    """The files of a project, and what they name."""

    def __init__(self, workspace: Workspace, path: Path) -> None:
        self.path = path
        self._workspace = workspace
        self._mentions: dict[Path, tuple[Mention, ...]] = {}

    def all(self) -> list[Path]:
        """Every file of the project."""
        return list(self._workspace.project_files(self.path))

    def closure(self, path: Path) -> list[Path]:
        """A file and those that it includes, the nearest first."""
        return list(self._workspace.closure(path))

    def outline(self, path: Path) -> Outline | None:
        """The contents of a file."""
        return self._workspace.outline_of(path)

    def named(self, path: Path, mention: Mention) -> Iterator[Location]:
        """Where a file names what the mention does, as far as kind and name say."""
        found = self.outline(path)
        if found is None:
            return
        if path not in self._mentions:
            self._mentions[path] = mentions(found)
        for each in self._mentions[path]:
            if (each.kind, each.name) == (mention.kind, mention.name):
                yield Location(found.source, each)

    def defining(self, path: Path, mention: Mention) -> Path | None:
        """The nearest file of the closure that declares the name."""
        declares: Callable[[Path], bool] = lambda each: any(  # noqa: E731 - read beside its use
            named.mention.defines for named in self.named(each, mention)
        )
        return next(filter(declares, self.closure(path)), None)


def _of_rule(files: _Files, mention: Mention) -> Iterator[Location]:
    """A rule is declared in one file, and named in those that include it and declare none of that name nearer."""
    home = files.defining(files.path, mention)
    for path in files.all():
        if any(True for _ in files.named(path, mention)) and files.defining(path, mention) == home:
            yield from files.named(path, mention)


def _of_criterion(files: _Files, mention: Mention) -> Iterator[Location]:
    """A criterion belongs to a suite; rules that suites share tie the criteria of one name together."""
    paths = [path for path in files.all() if any(True for _ in files.named(path, mention))]
    shared = {path for path in paths if (found := files.outline(path)) is not None and not found.suites}
    pending: list[tuple[Path, int]] = [(files.path, -1 if files.path in shared else mention.document)]
    seen: set[tuple[Path, int]] = set()
    while pending:
        node = pending.pop()
        if node in seen:
            continue
        seen.add(node)
        path, document = node
        here = [each for each in files.named(path, mention) if document in {-1, each.mention.document}]
        yield from here
        if path in shared:
            includers = [other for other in paths if other not in shared and path in files.closure(other)]
            pending += [
                (other, each.mention.document)
                for other in includers
                for each in files.named(other, mention)
                if each.mention.defines
            ]
        else:
            pending += [(each, -1) for each in files.closure(path) if each in shared]
