"""The eval files that the schemas are held against: examples, twins, the corpus, and the catalogue's texts."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from jsonschema import Draft202012Validator

import evalc
from evalc.diagnostics.catalogue import entries
from evalc.dsl.read_yaml import read_yaml
from evalc.dsl.scalars import to_plain
from evalc.schema.published import SCHEMAS

ROOT = Path(__file__).parents[2]


class Text(NamedTuple):
    """The text of an eval file, and what it goes by."""

    name: str
    content: str

    @property
    def is_json(self) -> bool:
        """Whether it is eval JSON."""
        return self.content.lstrip().startswith("{")

    def problems(self) -> list[evalc.Problem]:
        """The problems that the checker finds."""
        ending = ".json" if self.is_json else ".eval.yaml"
        name = self.name if self.name.endswith((".yaml", ".json")) else self.name + ending
        return list(evalc.check(evalc.Source(name, self.content)))

    def documents(self) -> list[Any]:
        """Its data, as the checker's own readers see them; none where it is no YAML or JSON."""
        if self.is_json:
            try:
                return [json.loads(self.content)]
            except ValueError:
                return []
        source = evalc.Source(self.name, self.content)
        read = read_yaml(source, lambda *_: None)
        return [to_plain(node, lambda *_: None) for node in read if node is not None]

    def rejections(self) -> list[str]:
        """The messages of the schema."""
        schema = validator("case" if self.is_json else "language")
        return [error.message for document in self.documents() for error in schema.iter_errors(document)]


@cache
def validator(name: str) -> Draft202012Validator:
    """The schema of a name, ready to validate with."""
    return Draft202012Validator(SCHEMAS[name]())


def files() -> Iterator[Text]:
    """The valid eval files in YAML: examples, conformance twins, the corpus, and one with every type of check."""
    folders = ("examples", "specs/conformance", "tests/corpus/valid", "tests/schema")
    for path in sorted(path for folder in folders for path in ROOT.glob(f"{folder}/**/*.yaml")):
        if "mistakes" not in path.relative_to(ROOT).parts:
            yield Text(str(path.relative_to(ROOT)), path.read_text())


def examples_of_findings() -> Iterator[Text]:
    """The example of each finding about eval files."""
    for code, entry in entries().items():
        example = entry.example
        if example and not code.startswith(("EV62", "EV684")):
            yield Text(code, example)


def cures_of_findings() -> Iterator[Text]:
    """The cure of each finding about eval files."""
    for code, entry in entries().items():
        cure = entry.cure
        if cure and not code.startswith(("EV62", "EV684")):
            yield Text(code, cure)
