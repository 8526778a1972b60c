"""EV68x: comments that ask evalc to be silent (`# evalc: ignore[EV501]`), and do not do what they seem to."""

from __future__ import annotations

from typing import ClassVar

from evalc.diagnostics.near import Slip, as_code, nearest
from evalc.diagnostics.problem import Finding, Severity


class UnusedIgnore(Finding, frozen=True, kw_only=True):
    """An ignore comment that silences nothing.

    What it was written for has been put right, or has moved to another line. Left where it is, it would silence the
    next warning on its line, which nobody has seen yet. It is told once the files are free of errors, because an
    error can keep a warning from being found.

    Example:
        eval:
          test_cases:
            - {name: a, message: hi, validate: [contains "x"]} # evalc: ignore[EV501]

    Cure:
        eval:
          test_cases:
            - {name: a, message: hi, validate: [contains "x"]}
    """

    code: ClassVar[str] = "EV680"
    severity: ClassVar[Severity] = "warning"
    name: str
    of_file: bool

    def message(self) -> str:
        what = f"`{self.name}`" if self.name else "any code"
        return f"no warning of {what} is reported {'in this file' if self.of_file else 'on this line'}"

    def help(self) -> str:
        return "remove it"


class ErrorNotIgnored(Finding, frozen=True, kw_only=True):
    """An ignore comment names an error.

    Comments silence warnings. A file with an error cannot be compiled or run, and a comment that hid the error would
    hide the reason.

    Example:
        eval:
          test_cases:
            - {name: a, message: hi, validate: [contains "x"]} # evalc: ignore[EV201]

    Cure:
        eval:
          test_cases:
            - {name: a, message: hi, validate: [contains "x"]}
    """

    code: ClassVar[str] = "EV681"
    severity: ClassVar[Severity] = "warning"
    name: str

    def message(self) -> str:
        return f"`{self.name}` is an error, and comments can ignore only warnings"

    def help(self) -> str:
        return "fix the error, and remove the code from the comment"


class UnreadableIgnore(Finding, frozen=True, kw_only=True):
    """An ignore comment holds something that is not a code.

    A comment that evalc does not understand silences nothing. Put the codes in brackets, separated by commas:
    `# evalc: ignore[EV501, EV504]`. The beginning of a code means all codes that begin with it, as in `ignore[EV5]`;
    without brackets, the comment silences every warning of the line.

    Example:
        eval:
          test_cases:
            - {name: a, message: hi, validate: [contains "x"]} # evalc: ignore[EV5O1]

    Cure:
        eval:
          test_cases:
            - {name: a, message: hi, validate: [contains "x"]}
    """

    code: ClassVar[str] = "EV682"
    severity: ClassVar[Severity] = "warning"
    name: str
    known: tuple[str, ...]

    def message(self) -> str:
        return f"`{self.name}` is not a code" if self.name else "put the codes to ignore in brackets"

    def slip(self) -> Slip | None:
        near = nearest(as_code(self.name), self.known)
        return None if near is None else Slip(self.name, near)

    def help(self) -> str:
        return "write `# evalc: ignore[EV501]`, with commas between several codes"


class LateIgnoreFile(Finding, frozen=True, kw_only=True):
    """An ignore comment for the whole file comes after the beginning of the file.

    Whoever opens the file has to see what is ignored in it, so the comment must be above the first key.

    Example:
        eval:
          # evalc: ignore-file[EV501]
          test_cases:
            - {name: a, message: hi, validate: [length >= 1 chars]}

    Cure:
        eval:
          test_cases:
            - {name: a, message: hi, validate: [length >= 1 chars]}
    """

    code: ClassVar[str] = "EV683"
    severity: ClassVar[Severity] = "warning"

    def message(self) -> str:
        return "this comment comes too late in the file to apply to all of it"

    def help(self) -> str:
        return "move it above the first key of the file"
