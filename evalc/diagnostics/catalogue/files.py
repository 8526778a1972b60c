"""Files: what is wrong before a text is read (EV60x), limits, tables, includes (EV61x), kinds of files (EV64x)."""

from __future__ import annotations

from typing import ClassVar

from evalc.base.terminal import counted
from evalc.diagnostics.near import Slip
from evalc.diagnostics.problem import Finding, Severity


class FileMissing(Finding, frozen=True, kw_only=True):
    """The file does not exist.

    A path on the command line or in a file names something that does not exist. Paths on the command line count from
    the working folder, paths in a file from the folder of that file.
    """

    code: ClassVar[str] = "EV600"
    path: str

    def message(self) -> str:
        return f"there is no file `{self.path}`"


class NotAFile(Finding, frozen=True, kw_only=True):
    """The path is not a regular file.

    It names a folder, a named pipe, a socket or a device instead of a file. Reading a pipe could
    wait forever, so evalc does not try; to read from a program, name `-` and pipe the program's output into evalc.
    """

    code: ClassVar[str] = "EV601"
    path: str
    kind: str

    def message(self) -> str:
        return f"`{self.path}` is {self.kind}, not a file"

    def help(self) -> str:
        return "" if self.kind == "a folder" else "name `-` to read from standard input"


class FileUnreadable(Finding, frozen=True, kw_only=True):
    """The file exists and cannot be read.

    The operating system refused: most often the permissions of the file, or of a folder above it, do not allow it.
    """

    code: ClassVar[str] = "EV602"
    path: str
    reason: str

    def message(self) -> str:
        return f"`{self.path}` cannot be read: {self.reason}"

    def help(self) -> str:
        return "change its permissions; `exclude` in the configuration leaves it out of searches"


class SymlinkLoop(Finding, frozen=True, kw_only=True):
    """The path is a symbolic link that leads back to itself.

    Following it would never end. Remove the link or let it point to a file.
    """

    code: ClassVar[str] = "EV603"
    path: str

    def message(self) -> str:
        return f"`{self.path}` is a symbolic link that leads back to itself"


class FileTooLarge(Finding, frozen=True, kw_only=True):
    """The file is larger than the limit.

    Reading a file takes memory several times its size, so there is a limit: 32 MB for YAML and 256 MB for JSON unless
    a flag raises it. Big tables of rows belong in a CSV or JSONL file under `for_each`, which is read row by row.
    """

    code: ClassVar[str] = "EV604"
    path: str
    limit: int

    def message(self) -> str:
        return f"`{self.path}` is larger than {_megabytes(self.limit)}"

    def help(self) -> str:
        return "split the file, or put its rows in a CSV or JSONL file and name it under `for_each`"


class NotUtf8(Finding, frozen=True, kw_only=True):
    """The file is not UTF-8.

    The text holds a byte that UTF-8 does not allow at that place: most often the file was saved in an older encoding
    such as Latin-1 or Windows-1252. What it means cannot be told for sure, so nothing is guessed.
    Save the file as UTF-8.
    """

    code: ClassVar[str] = "EV605"
    byte: int

    def message(self) -> str:
        return f"the byte 0x{self.byte:02X} is not UTF-8"

    def help(self) -> str:
        return "save the file as UTF-8"


class NotUtf8ButUtf16(Finding, frozen=True, kw_only=True):
    """The file is UTF-16 or UTF-32.

    It begins with the byte order mark of one of these encodings, as some editors and PowerShell's `>` write it.
    Save the file as UTF-8.
    """

    code: ClassVar[str] = "EV606"
    encoding: str

    def message(self) -> str:
        return f"the file is {self.encoding}, not UTF-8"

    def help(self) -> str:
        return "save the file as UTF-8"


class HoldsNul(Finding, frozen=True, kw_only=True):
    """The file holds a NUL byte, so it is not text.

    Neither YAML nor JSON may hold the character U+0000 as it is. A file with NUL bytes is most often no text file at
    all, or was damaged when it was copied. In a double-quoted text the character is written as an escape.
    """

    code: ClassVar[str] = "EV607"

    def message(self) -> str:
        return "the file holds a NUL byte: it is not a text"


class OutsideProject(Finding, frozen=True, kw_only=True):
    """A path in an eval file leads out of the project.

    A suite opens no file outside the project's root: the nearest folder upwards with a configuration or a `.git`,
    else the working folder. Else a suite of someone else's could send any file of yours to an agent.
    """

    code: ClassVar[str] = "EV608"
    path: str
    root: str

    def message(self) -> str:
        return f"`{self.path}` lies outside of the project"

    def help(self) -> str:
        return f"the project's root is {self.root}"


class NestedTooDeep(Finding, frozen=True, kw_only=True):
    """Values are nested deeper than the limit.

    No eval needs a hundred levels of lists and mappings; a file that has them was most often generated by mistake.
    evalc does not read deeper values. Aliases count as the values they refer to. A flag raises the limit.
    """

    code: ClassVar[str] = "EV610"
    limit: int

    def message(self) -> str:
        return f"values are nested more than {self.limit} levels deep"


class ExpandsTooFar(Finding, frozen=True, kw_only=True):
    """The aliases of a document expand to more values than the limit.

    A few lines of aliases of aliases can expand to billions of values. evalc counts the values that aliases and merge
    keys expand to before it builds anything, and leaves them out beyond the limit. A flag raises the limit.
    """

    code: ClassVar[str] = "EV611"
    limit: int

    def message(self) -> str:
        return f"the aliases up to here expand to more than {self.limit:,} values"


class BadTable(Finding, frozen=True, kw_only=True):
    """A file that `for_each:` names cannot be read as a table of rows.

    Rows come from a CSV file, whose first line names the columns, or from a JSON Lines file with an object a line.
    """

    code: ClassVar[str] = "EV612"
    path: str
    reason: str

    def message(self) -> str:
        return f"`{self.path}` {self.reason}"

    def help(self) -> str:
        return "rows come from a .csv file with a header, or from a .jsonl file with an object a line"


class BadRow(Finding, frozen=True, kw_only=True):
    """A row of a CSV or JSON Lines file cannot be read.

    Every row has as many cells as the header names columns; put a cell that holds a comma, a quote or a line break
    in double quotes, and write a quote in it twice.
    A line of a `.jsonl` file is one JSON object.
    """

    code: ClassVar[str] = "EV613"
    reason: str

    def message(self) -> str:
        return f"this row {self.reason}"


class MoreRowFaults(Finding, frozen=True, kw_only=True):
    """More is wrong with the rows of a file than is worth telling one by one.

    What is wrong with one row is often wrong with all. The first problems are told in full, the others counted.
    """

    code: ClassVar[str] = "EV614"
    more: int

    def message(self) -> str:
        return f"{counted(self.more, 'more problem')} in these rows"


class CannotInclude(Finding, frozen=True, kw_only=True):
    """A file that `include:` names cannot be included.

    What is included is a shared rules file: a document with `rules:`, `defaults:` or `include:` and without cases of
    its own. Files may include files, and none may come back to itself.
    """

    code: ClassVar[str] = "EV615"
    path: str
    reason: str

    def message(self) -> str:
        return f"`{self.path}` cannot be included: {self.reason}"


class FolderLoop(Finding, frozen=True, kw_only=True):
    """A link to a folder leads back to a folder above it.

    What is in that folder is read once, so nothing is lost; but a search that followed the link would never end.
    """

    code: ClassVar[str] = "EV616"
    severity: ClassVar[Severity] = "warning"
    path: str

    def message(self) -> str:
        return f"the link `{self.path}` leads back to a folder above it, and is not followed"

    def help(self) -> str:
        return "remove the link, or add it to `exclude` in the configuration"


class LinkLeadsOut(Finding, frozen=True, kw_only=True):
    """A search found a link that leads out of the project.

    A search of folders stays within the project, so the evals behind the link are not run. To run them, name the
    folder that the link leads to on the command line. To silence the warning, add the link to `exclude`.
    """

    code: ClassVar[str] = "EV617"
    severity: ClassVar[Severity] = "warning"
    path: str
    root: str

    def message(self) -> str:
        return f"the link `{self.path}` leads out of the project, and is not followed"

    def help(self) -> str:
        return f"the project's root is {self.root}; name what the link leads to, or add the link to `exclude`"


class LinkedFileLeadsOut(Finding, frozen=True, kw_only=True):
    """A link on the way to a file leads out of the project.

    A link in a repository can lead to any file of the machine that checks the repository out: a key, another project,
    the environment of the process. evalc neither reads nor writes through such a link, whether the link is the file
    itself or a folder above it. The project is the nearest folder upwards from the link that has a configuration or a
    `.git`, else the working folder. Put the file into the project, or name the file that the link leads to on the
    command line.
    """

    code: ClassVar[str] = "EV618"
    path: str
    link: str

    def message(self) -> str:
        if self.link == self.path:
            return f"the link `{self.path}` leads out of the project"
        return f"`{self.path}` is reached by the link `{self.link}`, which leads out of the project"

    def help(self) -> str:
        return "put the file into the project, or name the file itself on the command line"


class NearMiss(Finding, frozen=True, kw_only=True):
    """A file looks like evals and is not read as evals.

    Its content is of no kind that evalc knows, so its cases are not run. A suite in YAML has `suite:` and `eval:`, or
    `suite:` and `test_cases:` at the top of a document; eval JSON is `{"metadata": ..., "cases": [...]}` or an array of
    cases that each have `input`, and `expect` or `rubric`. `--strict` makes this an error. If the file belongs to
    another tool, add it to `exclude`.
    """

    code: ClassVar[str] = "EV619"
    severity: ClassVar[Severity] = "warning"
    path: str
    holds: str

    def message(self) -> str:
        return f"`{self.path}` has {self.holds}, and is not an eval file: it is skipped"

    def help(self) -> str:
        return "a suite has `suite:` and `test_cases:`, eval JSON has `metadata` and `cases`; or `exclude` the file"


class ResultFile(Finding, frozen=True, kw_only=True):
    """The file is the result of a run, not an eval.

    `evalc run` writes result files beside the evals they came from; they hold what was found, not what to ask.
    """

    code: ClassVar[str] = "EV641"
    path: str

    def message(self) -> str:
        return f"`{self.path}` is the result of a run, not an eval file"

    def help(self) -> str:
        return "name the eval file that was run"


def _megabytes(size: int) -> str:
    return f"{size / 1_000_000:g} MB"


class NotAnEvalFile(Finding, frozen=True, kw_only=True):
    """The file is of no kind that evalc knows.

    A suite has `eval:`; a prompt file has `id` and `prompt`; an external cases file has `prompt_id` and
    `test_cases`; eval JSON is `{"metadata": ..., "cases": [...]}` or an array of cases. Below a misspelt key, evalc
    checks the rest as if the key were right.

    Example:
        evl:
          test_cases:
            - {name: a, message: hi, validate: [contains "x"]}

    Cure:
        eval:
          test_cases:
            - {name: a, message: hi, validate: [contains "x"]}
    """

    code: ClassVar[str] = "EV640"
    path: str
    key: str = ""
    """The key at the place that makes it so, if it is misspelt, and the one that was meant."""
    meant: str = ""
    is_of_promptfoo: bool = False

    def message(self) -> str:
        return f"`{self.key}` is not a key of an eval file" if self.meant else f"`{self.path}` is not an eval file"

    def slip(self) -> Slip | None:
        return Slip("", self.meant) if self.meant else None

    def help(self) -> str:
        if self.is_of_promptfoo:
            return f"it is a configuration of promptfoo: `evalc import {self.path}` makes an eval file of it"
        return (
            "a suite has `eval:` (or `suite:` and `test_cases:`), a prompt file `id:` and `prompt:`, cases `prompt_id:`"
        )
