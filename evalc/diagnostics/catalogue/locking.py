"""EV45x: regression cases that are locked, and the file that says so."""

from __future__ import annotations

from typing import ClassVar

from evalc.diagnostics.problem import Finding


class LockedCaseChanged(Finding, frozen=True, kw_only=True):
    """A regression case is not what it was when it was locked.

    A regression case holds a bug down that was found and fixed once. It is worth something because it stays as it
    is: a case that is bent until it passes holds nothing down. `evalc lock` writes each regression case
    into `evalc.lock`, and from then on a change of the case is an error; its prompt and its suite's criteria are
    part of it, its place in the file and its comments are not. Undo the change, or retire the case with
    `archived: "why"` and write a new one.
    """

    code: ClassVar[str] = "EV450"
    case: str
    changed: str = ""
    """What has changed, where the lock tells more than that something has."""

    def message(self) -> str:
        changed = f": {self.changed}" if self.changed else ""
        return f"the regression case `{self.case}` has changed since it was locked{changed}"

    def help(self) -> str:
        return 'undo the change, or retire the case with `archived: "why"` and write a new one'


class LockedCaseMissing(Finding, frozen=True, kw_only=True):
    """A locked regression case is gone from its suite, or the suite is gone from its file.

    A suite whose file was deleted, or that a `.gitignore` or `exclude` hides, is not run any more.
    Whoever deletes, renames or moves a locked case lets its bug come back unseen. Retire it with `archived: "why"`
    first: `evalc lock` then takes it out of `evalc.lock`, and it may go.
    """

    code: ClassVar[str] = "EV451"
    case: str
    suite: str
    file: str = ""
    """The file that held the suite, where the suite is gone."""

    def message(self) -> str:
        gone = f", and so is its suite, which was in `{self.file}`" if self.file else ""
        return f"the locked regression case `{self.case}` of `{self.suite}` is gone{gone}"

    def help(self) -> str:
        return 'restore it, or retire it with `archived: "why"` and run `evalc lock`'


class LockFileBroken(Finding, frozen=True, kw_only=True):
    """`evalc.lock` cannot be read.

    evalc uses nothing in it, so changed regression cases would go unnoticed. Most often a merge has left its conflict
    marks in the file: keep the lines of both sides.
    """

    code: ClassVar[str] = "EV452"
    what: str

    def message(self) -> str:
        return f"the lock cannot be read: {self.what}"

    def help(self) -> str:
        return "resolve the conflict, or take the file from version control; `evalc lock` writes it"
