"""EV65x: what can go wrong when files are rewritten or taken over from elsewhere."""

from __future__ import annotations

from typing import ClassVar

from evalc.diagnostics.problem import Finding, Severity


class NotFormatted(Finding, frozen=True, kw_only=True):
    """The formatter left the file as it was.

    `evalc fmt` compares what a file means before and after. Where its own result would mean something else, or would
    not be sound YAML, it writes nothing. That is a defect of the formatter: please report it with the file.
    """

    code: ClassVar[str] = "EV650"
    reason: str

    def message(self) -> str:
        """What would have happened."""
        return f"the file is unchanged: formatting {self.reason}"


class NotImported(Finding, frozen=True, kw_only=True):
    """Something in the file has no counterpart in an eval file, and was left out.

    `evalc import` takes over what means the same here. Everything else is named by a warning at its place, and by a
    comment `# not imported: ...` at its place in the written suite.
    """

    code: ClassVar[str] = "EV651"
    severity: ClassVar[Severity] = "warning"
    what: str
    why: str

    def message(self) -> str:
        """What was left out, and why."""
        return f"not imported: {self.what}: {self.why}"


class NothingToImport(Finding, frozen=True, kw_only=True):
    """The file is nothing that `evalc import` knows.

    It reads the eval JSON of tool-forge (an envelope `{metadata, cases}`, or an array of cases), the configuration
    of promptfoo in YAML or JSON (a mapping with `prompts`, `tests`, `scenarios` or `defaultTest`), and prompt files of
    PromptOS that have `examples`.
    """

    code: ClassVar[str] = "EV652"
    wanted: str

    def message(self) -> str:
        """What it was expected to be."""
        return f"this is not {self.wanted}"

    def help(self) -> str:
        """What can be imported."""
        return (
            "`--from tool-forge` reads `{metadata, cases}`, `--from promptfoo` a mapping with `prompts` and `tests`, "
            "`--from promptos` a prompt with `examples`"
        )


class ImportedDiffers(Finding, frozen=True, kw_only=True):
    """The written suite does not compile to exactly what was imported.

    Some JSON can be written by hand that no eval file compiles to, such as several checks that count as one for a
    criterion. The suite means the same or nearly so; compare the case.
    """

    code: ClassVar[str] = "EV653"
    severity: ClassVar[Severity] = "warning"
    what: str

    def message(self) -> str:
        """What differs."""
        return f"{self.what} cannot be written exactly in YAML: the imported suite compiles to something else there"


class WrongShape(Finding, frozen=True, kw_only=True):
    """A value of the promptfoo configuration is not of the type that promptfoo takes there.

    What it was meant to say cannot be told, so the suite is not written. Put it right in promptfoo's file first.
    """

    code: ClassVar[str] = "EV654"
    what: str
    expected: str

    def message(self) -> str:
        """What is where."""
        return f"{self.what} has to be {self.expected}"


class ImportedApproximately(Finding, frozen=True, kw_only=True):
    """Something means nearly the same in an eval file as in the file that it was imported from.

    The message says where the two differ. It is reported once for a file, at the first place that it concerns.
    """

    code: ClassVar[str] = "EV655"
    severity: ClassVar[Severity] = "warning"
    what: str
    why: str

    def message(self) -> str:
        """What differs."""
        return f"imported with a difference: {self.what}: {self.why}"
