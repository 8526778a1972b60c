"""Explanations of the words that authors write: checks, keys of eval files, settings; made of their declarations."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

from evalc.check.predicates import PREDICATES, SUBJECTS
from evalc.config import ALL_KEYS
from evalc.diagnostics.near import did_you_mean
from evalc.dsl.build_case import CASE, DEFAULTS, FOR_EACH, LABEL, STUB, TURN, USER
from evalc.dsl.build_prompt import INPUT
from evalc.dsl.build_suite import CRITERION, DOCUMENTS, EVAL, GATES
from evalc.dsl.document_kind import Kind
from evalc.dsl.kinds import Key

_KEYS: Final[Mapping[str, Mapping[str, Key]]] = {
    "a suite": DOCUMENTS[Kind.SUITE],
    "`eval`": EVAL.keys,
    "a case": CASE.keys,
    "`defaults`": DEFAULTS.keys,
    "a criterion": CRITERION.keys,
    "`for_each`": FOR_EACH.keys,
    "`gates`": GATES.keys,
    "a turn": TURN.keys,
    "`user`": USER.keys,
    "`label`": LABEL.keys,
    "a stub": STUB.keys,
    "an input": INPUT.keys,
}
_BELOW: Final = {
    "for_each": FOR_EACH.keys,
    "gates": GATES.keys,
    "turns": TURN.keys,
    "user": USER.keys,
    "label": LABEL.keys,
    "criteria": CRITERION.keys,
}
"""The keys below a key."""


class Topic(NamedTuple):
    """A word that authors write, and its explanation."""

    names: tuple[str, ...]
    heading: str
    lines: tuple[str, ...]

    def is_called(self, words: str) -> bool:
        """Whether one of its names is these words, or begins with them."""
        return any(f"{name} ".startswith(f"{words} ") for name in self.names)


def explained(words: str) -> str | None:
    """The explanation of these words, and of all that begins with them; None if there is none."""
    sought = " ".join(words.lower().split())
    found = [topic for topic in _topics() if topic.is_called(sought)]
    return "\n".join("\n".join((topic.heading, *(f"  {line}" for line in topic.lines), "")) for topic in found) or None


def meant(words: str) -> str:
    """The near word as a question, or an empty text."""
    return did_you_mean(words.lower(), [name for topic in _topics() for name in topic.names])


def _topics() -> Iterator[Topic]:
    for predicate in PREDICATES.values():
        begun = (_literal(each) for each in (predicate.line, *predicate.examples))
        names = tuple(dict.fromkeys(filter(None, begun)))
        examples = tuple(f"- {line}" for line in predicate.lines)
        yield Topic(names, f"{names[0]} (check)", (predicate.sentence, *examples))
    for subject in SUBJECTS:
        name = " ".join(word for word in subject.line.split() if not word.isupper() and "." not in word)
        yield Topic((name,), f"{subject.line} (subject of a check)", (subject.sentence,))
    for where, keys in _KEYS.items():
        for name, key in keys.items():
            if key.sentence:
                lines = (key.sentence, *_examples(name, key.examples), *_rows(_BELOW.get(name, {})))
                yield Topic((name, *key.aka), f"{name} (key of {where})", lines)
    for setting in ALL_KEYS.values():
        kind = f"setting, {setting.flag}" if setting.flag else "setting"
        lines = (setting.sentence, *_examples(setting.name, setting.examples))
        yield Topic((setting.name, setting.name.rpartition(".")[2]), f"{setting.name} ({kind})", lines)


def _literal(line: str) -> str:
    """The words with which a line begins, up to what it is given."""
    words: list[str] = []
    for word in line.split():
        if not word.replace("-", "").replace("{}", "").isalpha():
            break
        words.append(word.replace("{}", ""))
    return " ".join(words)


def _examples(name: str, values: tuple[Any, ...]) -> Iterator[str]:
    return (f"{name}: {json.dumps(value, ensure_ascii=False)}" for value in values)


def _rows(keys: Mapping[str, Key]) -> Iterator[str]:
    """A line for each key, its name and what it is for."""
    width = max(map(len, keys), default=0)
    return (f"{name:<{width}}  {key.sentence}" for name, key in keys.items() if key.sentence)
