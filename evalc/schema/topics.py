"""Explanations of the words that authors write: checks, keys of eval files, settings; made of their declarations."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

from evalc.check.predicates import PREDICATES, SUBJECTS, Predicate, Subject
from evalc.check.tree import Test, within
from evalc.config import ALL_KEYS
from evalc.diagnostics.near import did_you_mean
from evalc.dsl.build_case import CASE, DEFAULTS, FOR_EACH, LABEL, STUB, TURN, USER
from evalc.dsl.build_prompt import INPUT
from evalc.dsl.build_suite import CRITERION, DOCUMENTS, EVAL, GATES
from evalc.dsl.document_kind import Kind
from evalc.dsl.kinds import Key
from evalc.grammar.read_check import read_check

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
    """The explanation of these words and all that begins with them, or of a line of a check; None if there is none."""
    sought = " ".join(words.lower().split())
    found = [topic for topic in _topics() if topic.is_called(sought)] or _of_line(words)
    return "\n".join("\n".join((topic.heading, *(f"  {line}" for line in topic.lines), "")) for topic in found) or None


def _of_line(line: str) -> list[Topic]:
    """Explain what a line asks and of which subject; its values may be left out, as in `tools called`."""
    subjects = {subject: found for subject in SUBJECTS if (found := re.match(_beginning(subject), line)) is not None}
    check = read_check(line).node
    asked = {part.predicate for part in within(check.check) if isinstance(part, Test)} if check is not None else set()
    rests = {line[found.end() :].strip() for found in subjects.values() if check is None} - {""}
    predicates = {name: _of_predicate(predicate) for name, predicate in PREDICATES.items()}
    named = [topic for name, topic in predicates.items() if name in asked or any(map(topic.is_called, rests))]
    return [*named, *map(_of_subject, subjects)] if named else []


def _beginning(subject: Subject) -> str:
    """A pattern of the lines that begin with a subject: `tool search called once` begins with `tool NAME called`."""
    words = re.sub("[A-Z]+", r"\\S+", re.escape(subject.line))
    return rf"{words}(?![\w-])"


def meant(words: str) -> str:
    """The near word as a question, or an empty text."""
    return did_you_mean(words.lower(), [name for topic in _topics() for name in topic.names])


def _topics() -> Iterator[Topic]:
    yield from map(_of_predicate, PREDICATES.values())
    yield from map(_of_subject, SUBJECTS)
    for where, keys in _KEYS.items():
        for name, key in keys.items():
            if key.sentence:
                lines = (key.sentence, *_examples(name, key.examples), *_rows(_BELOW.get(name, {})))
                yield Topic((name, *key.aka), f"{name} (key of {where})", lines)
    for setting in ALL_KEYS.values():
        kind = f"setting, {setting.flag}" if setting.flag else "setting"
        lines = (setting.sentence, *_examples(setting.name, setting.examples))
        yield Topic((setting.name, setting.name.rpartition(".")[2]), f"{setting.name} ({kind})", lines)


def _of_predicate(predicate: Predicate) -> Topic:
    begun = (_literal(each) for each in (predicate.line, *predicate.examples))
    names = tuple(dict.fromkeys(filter(None, begun)))
    return Topic(names, f"{names[0]} (check)", (predicate.sentence, *(f"- {line}" for line in predicate.lines)))


def _of_subject(subject: Subject) -> Topic:
    name = " ".join(word for word in subject.line.split() if not word.isupper() and "." not in word)
    return Topic((name,), f"{subject.line} (subject of a check)", (subject.sentence,))


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
