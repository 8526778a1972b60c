"""Tells by its content what kind of eval file a document is, or was meant to be."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Set
from enum import Enum
from typing import Final, NamedTuple

import msgspec

from evalc.diagnostics.near import nearest
from evalc.dsl.nodes import Mapping, Node, Scalar, Sequence, fields_of, items_of


class Kind(Enum):
    """Kinds of YAML documents."""

    SUITE = "suite"
    PROMPT = "prompt file"
    CASES = "external cases file"
    SHARED = "shared rules file"


class MisspeltKey(NamedTuple):
    """A top-level key that is not a key of an eval file, and the key that was meant."""

    key: Scalar
    meant: str


_EVAL_NAME: Final = re.compile(r".*\.eval\.(ya?ml|json)", re.IGNORECASE)
_NAME_LIKE_AN_EVAL: Final = re.compile(
    r".*\.(eval\.(ya?ml|json)|(prompt|cases)\.ya?ml|(golden|labeled|regression|rubric)\.jsonl?)", re.IGNORECASE
)
_OUTER_YAML_KEY: Final = re.compile(r"^\t*(eval|test_cases|prompt_id|suite)[ \t]*:", re.MULTILINE)
_WORDS_OF_CASES: Final = "expect|validate|test_cases|rubric"
_KEY_OF_CASES: Final = re.compile(
    rf"""(?P<quote>["'])(?:cases|{_WORDS_OF_CASES})(?P=quote)|(?<![\w.$-])(?:{_WORDS_OF_CASES})[ \t]*:"""
)
_KEY_OF_SKILLS: Final = re.compile(r'"(?:skill_name|should_trigger)"\s*:')
_JSON_TOKEN: Final = re.compile(r'"(?:[^"\\]|\\.)*"|[\[\]{}]', re.DOTALL)
_COLON: Final = re.compile(r"\s*:")

HEADS: Final = frozenset({"suite", "tool", "prompt_id"})
"""The keys, any of which makes a document with `test_cases` an eval."""
_OF_SUITES: Final = frozenset({*HEADS, "tier", "prompt", "prompts", "prompt_file"})
_OF_CASES: Final = frozenset({"validate", "expect", "expected"})
_CASE_LISTS: Final = ("test_cases", "cases", "tests")
"""Names that people give the list of test cases."""
_LISTS_OF_OTHERS: Final = frozenset({"cases", "eval_cases", "evalCases"})


def kind_of_document(node: Node | None) -> Kind | None:
    """The kind of a document, or None if it is something else."""
    if not isinstance(node, Mapping):
        return None
    keys = fields_of(node).keys()
    if "id" in keys and "suite" not in keys and ("prompt" in keys or _misspells_prompt(node, keys)):
        return Kind.PROMPT
    if "eval" in keys:
        return Kind.SUITE
    if "test_cases" in keys:
        if keys & {"suite", "tool"}:
            return Kind.SUITE
        if "prompt_id" in keys:
            return Kind.CASES
        return None
    if keys & {"rules", "defaults", "include"} and not keys & _OF_SUITES and not node.cut:
        return Kind.SHARED
    return None


def _misspells_prompt(node: Mapping, keys: Set[str]) -> bool:
    """Whether a document with an id has the other keys of a prompt file, and its prompt under a misspelt key."""
    if keys & _OF_SUITES or not keys & {"inputs", "eval"}:
        return False
    texts = (key.text for key, value in node.pairs if isinstance(value, Scalar))
    return any(nearest(key, ("prompt", *_OF_SUITES)) == "prompt" for key in texts)


def typo_in(node: Node | None, *, by_name: bool) -> MisspeltKey | None:
    """The top-level key that kept a document, or the evals in it, from being recognised, if there is one.

    The likeness of its name is enough only `by_name`, where the document has to be an eval; elsewhere what it holds
    must show it, since other tools' files have keys such as `tests`.
    """
    if not isinstance(node, Mapping) or tool_of(node):
        return None
    fields = fields_of(node)
    keys = fields.keys()
    for key, value in node.pairs:
        if key.text in {"eval", "test_cases"}:
            continue
        meant = _meant_by(key.text, value, keys, by_name=by_name)
        if meant is not None and meant not in keys:
            return MisspeltKey(key, meant)
    if "test_cases" in keys and (by_name or _holds_cases(fields.get("test_cases"))):
        for key, _ in node.pairs:
            head = nearest(key.text, (*HEADS, "eval"))
            if head is not None and key.text not in _OF_SUITES:
                return MisspeltKey(key, head)
    return None


def tool_of(node: Node | None) -> str:
    """The tool whose evals a document is, as `evalc import --from` names it; empty for any other document."""
    if is_of_promptfoo(node):
        return "promptfoo"
    match node:
        case Mapping():
            keys = fields_of(node).keys()
            may_be = not keys.isdisjoint(_LISTS_OF_OTHERS) and keys.isdisjoint(("eval", "test_cases"))
        case Sequence():
            may_be = True
        case _:
            return ""
    return tool_of_data(plain(node, _DEEPEST - 1)) if may_be else ""


def tool_of_data(data: object) -> str:
    """The tool whose evals plain data is, if not promptfoo: a dataset of pydantic-evals, or an eval set of ADK.

    ADK also reads lists of cases, and lists of turns.
    """
    if isinstance(data, dict):
        if any(isinstance(data.get(key), list) for key in ("eval_cases", "evalCases")):
            return "adk"
        cases = data.get("cases")
        listed = [each for each in cases if isinstance(each, dict)] if isinstance(cases, list) else []
        are_ours = "metadata" in data or any(not each.keys().isdisjoint(("id", "input", "expect")) for each in listed)
        return "pydantic-evals" if not are_ours and any("inputs" in each for each in listed) else ""
    cases = [each for each in data if isinstance(each, dict)] if isinstance(data, list) else []
    turns = [turn for each in cases for turn in (each["data"] if isinstance(each.get("data"), list) else [each])]
    expects = {"reference", "expected_tool_use"}
    return "adk" if any("query" in turn and expects & turn.keys() for turn in turns if isinstance(turn, dict)) else ""


def is_of_promptfoo(node: Node | None) -> bool:
    """Whether a document is a configuration of promptfoo, which `evalc import` translates."""
    fields = fields_of(node)
    keys = fields.keys()
    is_theirs = keys & {"tests", "scenarios", "defaultTest"} and keys & {"prompts", "providers", "targets"}
    return bool(is_theirs) and not keys & {"eval", "test_cases"} and not _holds_cases(fields.get("tests"))


def with_key(node: Node, typo: MisspeltKey) -> Mapping | None:
    """The document with the key that was meant, if its value has the form of that key's; else None."""
    forms: dict[str, type[Node]] = {"eval": Mapping, "test_cases": Sequence}
    value = fields_of(node).get(typo.key.text)
    if not isinstance(node, Mapping) or not isinstance(value, forms.get(typo.meant, Scalar)):
        return None
    key = msgspec.structs.replace(typo.key, text=typo.meant)
    return msgspec.structs.replace(
        node, pairs=tuple((key if each is typo.key else each, of) for each, of in node.pairs)
    )


def _meant_by(key: str, value: Node, keys: Set[str], *, by_name: bool) -> str | None:
    """The key that was meant: `eval`, `test_cases`, or None."""
    holds_evals = fields_of(value).keys() & {"test_cases", "criteria"}
    if holds_evals and (by_name or nearest(key, ("eval", "evaluation", "evals"))):
        return "eval"
    is_near = nearest(key, ("test_cases",)) and keys & HEADS
    if is_near or (nearest(key, _CASE_LISTS) and (by_name or keys & _OF_SUITES) and _holds_cases(value)):
        return "test_cases"
    return nearest(key, ("eval", "test_cases")) if by_name else None


def has_evals(node: Node) -> bool:
    """Whether a prompt file holds evals too."""
    return bool(fields_of(node).keys() & {"eval", "test_cases"})


def has_examples(node: Node) -> bool:
    """Whether a prompt file gives examples of what it is filled with and what comes of it."""
    return bool(items_of(fields_of(node).get("examples")))


LISTS_OF_SKILLS: Final = ("evals", "queries")
"""The keys under which files of Agent Skills have their cases."""


def is_of_skills(data: object) -> bool:
    """Whether decoded JSON is a file of evals, or of queries that trigger, of a skill."""
    if isinstance(data, dict):
        cases = next((data[key] for key in LISTS_OF_SKILLS if isinstance(data.get(key), list)), None)
        if cases is None:  # one eval alone
            return isinstance(data.get("query"), str) and "expected_behavior" in data
        return "skill_name" in data or _holds_evals(cases)
    return isinstance(data, list) and _holds_evals(data)


def _holds_evals(items: list[object]) -> bool:
    first = items[0] if items else None
    if not isinstance(first, dict) or not any(isinstance(first.get(key), str) for key in ("prompt", "query")):
        return False
    return not first.keys().isdisjoint(
        ("should_trigger", "expected_output", "expected_behavior", "assertions", "expectations")
    )


def _holds_cases(value: Node | None) -> bool:
    """Whether a value is a list in which something looks like a test case of ours."""
    return any(fields_of(item).keys() & _OF_CASES for item in items_of(value))


def is_eval_name(name: str) -> bool:
    """Whether a file has the name of an eval file (`x.eval.yaml`), so that it has to be one."""
    return _EVAL_NAME.fullmatch(name) is not None


def is_meant_as_eval(name: str, beginning: str) -> bool:
    """Whether a file that cannot be read was probably meant as evals: by its name, or by keys in its text."""
    return names_an_eval(name) or looks_like_eval(beginning)


def names_an_eval(name: str) -> bool:
    """Whether a file has a name that evals, their prompts or cases usually have, so that it has to be legible."""
    return _NAME_LIKE_AN_EVAL.fullmatch(name) is not None


def looks_like_eval(text: str) -> bool:
    """Whether a text that could not be read was probably meant as an eval file.

    If in doubt, it was: nobody would notice that the cases of a skipped file do not run.
    """
    keys = (_OUTER_YAML_KEY, _KEY_OF_CASES, _KEY_OF_SKILLS)
    return any(key.search(text) is not None for key in keys) or _has_outer_eval(text)


def _has_outer_eval(text: str) -> bool:
    """Whether a text that begins as an object of JSON has the key `eval` in that object, not deeper."""
    depth = 0
    for token in _JSON_TOKEN.finditer(text) if text.lstrip().startswith("{") else ():
        if depth == 1 and token[0] == '"eval"' and _COLON.match(text, token.end()):
            return True
        depth += {"{": 1, "[": 1, "}": -1, "]": -1}.get(token[0], 0)
    return False


# --- near misses -----------------------------------------------------------------------------------------------------

_DEEPEST: Final = 5
_TEST_CASES: Final = ("test_cases", "testCases", "TestCases", "test-cases", "testcases")
_SENT: Final = ("input", "inputs", "Input", "Inputs")
_CHECKED: Final = ("expect", "expects", "Expect", "Expects")


def plain(node: Node, depth: int = _DEEPEST) -> object:
    """The upper levels of a document as plain data, which are enough to know its kind."""
    if isinstance(node, Scalar) or not depth:
        return None
    if isinstance(node, Sequence):
        return [plain(item, depth - 1) for item in node.items]
    return {key.text: plain(value, depth - 1) for key, value in node.pairs}


def near_miss(data: object) -> str:
    """The part of a file of another kind that looks like evals, in words; empty if there is none."""
    for top in data if isinstance(data, list) else [data]:
        if not isinstance(top, dict):
            continue
        if "test_cases" in top or (isinstance(top.get("eval"), dict) and "test_cases" in top["eval"]):
            return "`test_cases`"
        if {"tests", "metadata"} <= top.keys():
            return "`tests` beside `metadata`"
    for each in _mappings(data, _DEEPEST):
        if (key := _first_of(each, _TEST_CASES)) and _has_cases(each[key]):
            return f"`{key}`"
        sent, checked = _first_of(each, _SENT), _first_of(each, _CHECKED)
        if sent and checked:
            return f"a list whose items have `{sent}` and `{checked}`"
    return ""


def _mappings(data: object, depth: int) -> Iterator[dict[str, object]]:
    """The mappings in the upper levels of plain data: it itself, and those in lists."""
    if isinstance(data, dict):
        yield data
    if depth:
        values = data if isinstance(data, list) else data.values() if isinstance(data, dict) else ()
        for value in values:
            if isinstance(value, list) or isinstance(data, list):
                yield from _mappings(value, depth - 1)


def _has_cases(value: object) -> bool:
    """Whether plain data is a list in which something looks like a test case."""
    of_cases = (*_OF_CASES, *_CHECKED)
    return isinstance(value, list) and any(isinstance(item, dict) and _first_of(item, of_cases) for item in value)


def _first_of(keys: Collection[object], names: Collection[str]) -> str:
    return next((each for each in names if each in keys), "")
