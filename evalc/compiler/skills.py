"""Reads the evals of Agent Skills, `evals/evals.json` and `evals/trigger-eval.json`, as the suites that they are.

Their nodes are rewritten as those of an eval file, each at its own place; from there on both go one way. A sentence is
a question for a judge, unless it says exactly what a check says. A query that should trigger the skill has a label.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple, final

from evalc.base.files import SKILL_FILE, is_there, project_root, skill_name
from evalc.base.source import Source
from evalc.diagnostics import Diagnostics, Finding
from evalc.diagnostics.near import typo_of
from evalc.diagnostics.raised import unknown_key
from evalc.dsl.document_kind import LISTS_OF_SKILLS
from evalc.dsl.nodes import Mapping, Node, Scalar, Sequence, Stretch, fields_of, items_of, one_or_many
from evalc.dsl.walk import described, is_null
from evalc.model.case import TRIGGERS
from evalc.model.suite import slug
from evalc.translate.sentences import check_in

_ABOUT: Final = ("skill_name", "skill", *LISTS_OF_SKILLS)
_SENTENCES: Final = ("assertions", "expectations", "expected_behavior")
_CALLED: Final = {"prompt": "message", "query": "message", "expected_output": "expected"}
_NAMES: Final = ("name", "eval_name", "id")
_KNOWN: Final = (*_NAMES, "prompt", "query", *_SENTENCES, "expected_output", "files", "tags", "should_trigger")
_NOTES: Final = frozenset(
    (
        *("_meta", "about", "agent_name", "author", "category", "context", "description", "family", "metadata", "note"),
        *("notes", "skills", "priority", "purpose", "rationale", "reason", "schema_version", "title", "version", "why"),
    )
)
"""Keys that speak to readers, and say nothing that could be checked."""
_IN_ASSERTION: Final = ("text", "description", "assertion", "statement", "expectation", "check")
_TRIGGERED: Final = dict(zip(("true", "false"), TRIGGERS, strict=True))


class Skill(NamedTuple):
    """The skill that a file of evals is of: its folder, and its name there; without a manifest the folder counts."""

    folder: Path
    name: str
    has_manifest: bool

    @classmethod
    def around(cls, file: Path) -> Skill:
        """The skill of a file, which is in its folder `evals`, or beside its manifest."""
        here = file.parent
        folder = next((each for each in (here, *here.resolve().parents[:2]) if (each / SKILL_FILE).is_file()), None)
        if folder is not None:
            return cls(folder, skill_name(folder), has_manifest=True)
        folder = here.resolve().parent if here.resolve().name == "evals" else here
        return cls(folder, skill_name(folder), has_manifest=False)


@final
class SkillEvals:
    """One file of evals on its way to a suite.

    Attributes:
        exact: the sentences that became checks: the place of each, and the line of the check.
        judged: how many sentences are questions for a judge.
    """

    def __init__(self, source: Source, problems: Diagnostics) -> None:
        self.exact: list[tuple[str, str]] = []
        self.judged = 0
        self._source = source
        self._problems = problems
        self._skill = Skill.around(Path(source.name))
        self._unread: set[str] = set()
        self._missing: set[str] = set()
        self._names: set[str] = set()

    def as_suite(self, document: Node) -> Mapping:
        """The file as a suite."""
        is_one = isinstance(document, Mapping) and fields_of(document).keys().isdisjoint(LISTS_OF_SKILLS)
        given = {} if is_one else self._known(document, _ABOUT, "a file of evals of a skill")
        named = next((given[key] for key in _ABOUT[:2] if isinstance(given.get(key), Scalar)), None)
        name = named.text if isinstance(named, Scalar) else self._skill.name
        lists = (
            [document] if isinstance(document, Sequence) else [given[key] for key in LISTS_OF_SKILLS if key in given]
        )
        items = [item for each in lists for item in items_of(each)] or [document] * is_one
        triggers = bool(items) and all("should_trigger" in fields_of(item) for item in items)
        skill = self._skill.name if self._skill.has_manifest else name
        made = tuple(self._case(item, skill, number, triggers=triggers) for number, item in enumerate(items, 1))
        parts = [slug(name) or slug(self._skill.folder.resolve().name) or "skill"]
        parts += ["triggers"] * triggers + [slug(Path(self._source.name).stem)] * is_one
        at = document.at if named is None else named.at
        cases = Sequence(lists[0].at if lists else document.at, made)
        return _mapping(document.at, ("suite", _text(at, "-".join(filter(None, parts)))), ("test_cases", cases))

    def _known(self, node: Node, known: tuple[str, ...], what: str) -> dict[str, Node]:
        """The values that say something, by their keys; other keys are reported."""
        given = fields_of(node)
        for key, _ in node.pairs if isinstance(node, Mapping) else ():
            if key.text in (*known, *_NOTES, *self._unread):
                continue
            self._unread.add(key.text)
            near = typo_of(key.text, known)
            is_typo = near is not None and near.meant not in given
            finding = unknown_key(key.text, what, known) if is_typo else Finding("EV642", key=key.text, known=known)
            self._report(key, finding)
        return {key: value for key, value in given.items() if not (is_null(value) or _is_blank(value))}

    def _report(self, node: Node, finding: Finding) -> None:
        self._problems.add(self._source, node.span, finding)

    def _case(self, item: Node, skill: str, number: int, *, triggers: bool) -> Node:
        """One eval as a case; what is not one is left to whoever reads cases."""
        if not isinstance(item, Mapping):
            return item
        given = self._known(item, _KNOWN, "an eval of a skill")
        name = self._name(item, given, f"{'query' if triggers else 'eval'}-{number}")
        pairs: list[tuple[str, Node]] = [("name", name)]
        pairs += [(_CALLED[name], _as_written(given[name])) for name in _CALLED if name in given]
        checks = [check for key in _SENTENCES if key in given for check in self._sentences(key, given[key])]
        if not checks and "expected_output" in given and "should_trigger" not in given:
            checks = [self._asked(given["expected_output"])]
        if checks:
            pairs.append(("validate", Sequence(item.at, tuple(checks))))
        if "should_trigger" in given:
            pairs.append(("label", self._label(given["should_trigger"], skill)))
        if isinstance(given.get("tags"), Sequence):
            pairs.append(("tags", given["tags"]))
        if "files" in given:
            pairs.append(("files", self._files(given["files"])))
        if self._skill.has_manifest:
            pairs.append(("skill", _text(item.at, self._from_here(self._skill.folder))))
        return _mapping(item.at, *pairs)

    def _name(self, item: Mapping, given: dict[str, Node], otherwise: str) -> Scalar:
        named = next((given[key] for key in _NAMES if isinstance(given.get(key), Scalar)), None)
        if not isinstance(named, Scalar):
            return _text(item.pairs[0][0].at if item.pairs else item.at, otherwise)
        name = f"eval-{named.text}" if named.text.isdigit() else named.text
        if name in self._names:  # as files may repeat one; their ids differ
            name = f"{name}-{otherwise}"
        self._names.add(name)
        return _text(named.at, name)

    # --- sentences ---

    def _sentences(self, key: str, value: Node) -> Iterator[Node]:
        for each in one_or_many(value):
            sentence = each
            if isinstance(each, Mapping):
                keys = fields_of(each)
                sentence = next((keys[name] for name in _IN_ASSERTION if isinstance(keys.get(name), Scalar)), each)
            if isinstance(sentence, Scalar) and not _is_blank(sentence):
                yield self._asked(sentence)
            else:
                expected = "a sentence, or an object with one as `text`"
                what = f"an item of `{key}`"
                self._report(each, Finding("EV301", what=what, expected=expected, found=described(each)))

    def _asked(self, sentence: Node) -> Node:
        """The check that a sentence says, else the question for the judge."""
        line = check_in(sentence.text) if isinstance(sentence, Scalar) else None
        if line is None:
            self.judged += 1
            return _mapping(sentence.at, ("judge", _as_written(sentence)))
        position = self._source.position(sentence.start)
        self.exact.append((f"{self._source.name}:{position.line}:{position.column}", line))
        return _text(sentence.at, line)

    # --- triggers ---

    def _label(self, should: Node, skill: str) -> Node:
        """The label: whether the skill is loaded, or another that is named."""
        if isinstance(should, Scalar) and should.text in _TRIGGERED:
            expected = _TRIGGERED[should.text]
        elif isinstance(should, Scalar) and should.style != "plain":
            skill, expected = should.text.strip(), _TRIGGERED["true"]
        else:
            what, found = "`should_trigger`", described(should)
            self._report(should, Finding("EV301", what=what, expected="`true` or `false`", found=found))
            expected = _TRIGGERED["true"]
        return _mapping(
            should.at, ("expected", _text(should.at, expected)), ("from", _text(should.at, f"skill {skill}"))
        )

    # --- files ---

    def _files(self, value: Node) -> Node:
        """The files by the paths that they have in the attempt's folder, each where it is found."""
        if not isinstance(value, Sequence):
            return value
        pairs = []
        for each in value.items:
            path = fields_of(each).get("path") if isinstance(each, Mapping) else each
            if not isinstance(path, Scalar):
                self._report(
                    each, Finding("EV301", what="an item of `files`", expected="a path", found=described(each))
                )
            elif (found := self._found(path.text)) is not None:
                pairs.append((path, _text(path.at, found)))
            elif path.text not in self._missing:
                self._missing.add(path.text)
                self._report(path, Finding("EV643", path=path.text))
        return Mapping(value.at, tuple(pairs))

    def _found(self, path: str) -> str | None:
        """The path from this file: it is written from the skill's folder, from this one's or from the project's."""
        here = Path(self._source.name).parent
        tried = (self._skill.folder, here, project_root(here))
        folder = next((each for each in tried if is_there(each / path)), None)
        if folder is None or Path(path).is_absolute():
            return None if folder is None else path
        return f"{self._from_here(folder)}/{path}"

    def _from_here(self, folder: Path) -> str:
        return Path(os.path.relpath(folder, Path(self._source.name).parent)).as_posix()


def _is_blank(node: Node) -> bool:
    return isinstance(node, Scalar) and not node.text.strip()


def _mapping(at: Stretch, *pairs: tuple[str, Node]) -> Mapping:
    return Mapping(at, tuple((Scalar(value.at, key, "plain"), value) for key, value in pairs))


def _text(at: Stretch, text: str) -> Scalar:
    return Scalar(at, text, "double")


def _as_written(node: Node) -> Node:
    """A text in which double braces are what they are: these files know no templates."""
    return _text(node.at, node.text.replace("{{", r"\{{")) if isinstance(node, Scalar) else node
