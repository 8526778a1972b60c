"""The variables of promptfoo's tests, as the inputs of cases."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, Final, final

from evalc.dsl.scalars import to_plain
from evalc.extras.importers.imported import Unmappable
from evalc.extras.importers.promptfoo_prompts import Prompt
from evalc.extras.importers.promptfoo_source import CODE, FILE, Configuration
from evalc.extras.importers.promptfoo_templates import filled, uses, without_environment
from evalc.extras.importers.promptfoo_tests import PromptfooTest, Tests
from evalc.model.json import to_json

_MEDIA: Final = re.compile(
    r"\.(?:pdf|jpe?g|png|gif|bmp|webp|svg|mp[34]|webm|ogg|mov|avi|wmv|mkv|m4[av]|wav|aac|flac|wma|aiff|opus)\Z", re.I
)
_SECRET: Final = re.compile(r"(?:\A|/)\.env[^/]*\Z", re.IGNORECASE)
_LONGEST: Final = 100_000


@final
class Variables:
    """The variables of a configuration's tests."""

    def __init__(self, given: Configuration, reader: Tests) -> None:
        self._given = given
        self._reader = reader
        self._unknown: set[str] = set()  # those of which the head says that they are not known

    def of(self, test: PromptfooTest, prompts: Mapping[str, Prompt]) -> dict[str, Any]:
        """The values of a test's variables, but for those that only promptfoo knows.

        Raises:
            Unmappable: one is not known and a prompt asks for it, or one uses the answer to another test.
        """
        values: dict[str, Any] = {}
        left_out: dict[str, str] = {}
        for name, value in test.vars.items():
            text = value if isinstance(value, str) else ""
            if any(uses(text, each) for each in self._reader.stored):
                raise Unmappable(f"its variable `{name}` uses the answer to another test")
            filled_in, lacking = without_environment(text, self._given.environment) if "{{" in text else (text, "")
            if filled_in != text:
                test.unknown = (*test.unknown, name)
            path = filled_in.removeprefix(FILE) if filled_in.startswith(FILE) else ""
            if lacking and path:
                left_out[name] = f"the environment is not read, and `{lacking}` names its file"
            elif CODE.search(path):
                left_out[name] = f"`{path}` is code, and an eval file runs none"
            elif _MEDIA.search(path):
                values[name] = path
                self._say_of_variable(test, name, "it is the path of a file, of which promptfoo sends what it holds")
            else:
                try:
                    values[name] = self._of_file(name, filled_in if text else value)
                except Unmappable:
                    if "*" not in test.unknown:
                        raise
                    values[name] = value  # which the code may read in a way of its own
                if lacking:
                    why = f"the environment is not read, so `{lacking}` is filled as where it is not set"
                    self._say_of_variable(test, name, why)
        found, faults = _filled(values)
        left_out |= faults
        left_out |= dict.fromkeys(_using(left_out, values), "it uses another that is not imported")
        values = {name: value for name, value in found.items() if name not in left_out}
        asked = {name for each in prompts.values() for name in each.variables}
        for name, why in left_out.items():
            if name in asked and self._reader.shared.get(name) != test.vars[name]:
                raise Unmappable(f"in its variable `{name}`, {why}")  # the prompt is about it
        for name, why in left_out.items():
            self._say_of_variable(test, name, why, is_left_out=True)
        test.unknown = (*test.unknown, *_using(test.unknown, test.vars))
        return values

    def _say_of_variable(self, test: PromptfooTest, name: str, why: str, *, is_left_out: bool = False) -> None:
        """Say in the head, once for each variable, that it is another one here or is left out."""
        test.is_whole = False
        test.unknown = (*test.unknown, name)
        if name not in self._unknown:
            self._unknown.add(name)
            say = self._given.leave_out if is_left_out else self._given.differ
            self._given.head.append(say(test.source, test.node, f"the variable `{name}`", why))

    def _of_file(self, name: str, value: Any) -> Any:
        """The value of a variable; the text of the file that it names, as promptfoo reads it."""
        if not isinstance(value, str) or not value.startswith(FILE):
            return value
        path = value.removeprefix(FILE)
        try:
            if _SECRET.search(path):
                raise Unmappable(f"`{path}` may hold secrets")
            source = self._given.read(path)
            if len(source.text) > _LONGEST:
                raise Unmappable(f"`{path}` has more than {_LONGEST:,} characters")
            is_yaml = path.endswith((".yaml", ".yml"))
            return to_json(to_plain(self._given.document(source))).decode() if is_yaml else source.text.strip()
        except Unmappable as reason:
            raise Unmappable(f"its variable `{name}` is in a file: {reason}") from reason


def _using(names: Iterable[str], values: Mapping[str, Any]) -> list[str]:
    """The variables, but for these, that are filled with one of them, or with another that is."""
    found = [*names]
    for known in found:  # which grows
        found += [each for each, text in values.items() if each not in found and uses(str(text), known)]
    return [name for name in found if name not in {*names}]


def _filled(values: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, str]]:
    """The variables with the templates in them filled by each other, as promptfoo fills them, and why some are not.

    Promptfoo takes the line break off the end of a variable.
    """
    values = {name: value.removesuffix("\n") if isinstance(value, str) else value for name, value in values.items()}
    found: dict[str, Any] = {}
    faults: dict[str, str] = {}
    for name, value in values.items():
        try:
            has_tag = isinstance(value, str) and any(opening in value for opening in ("{{", "{%", "{#"))
            found[name] = filled(value, values) if has_tag else value
        except Unmappable as reason:
            faults[name] = f"{reason}"
    return found, faults
