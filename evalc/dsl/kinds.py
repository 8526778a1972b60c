"""From a document to what kind of eval file it is, told by its content."""

from __future__ import annotations

import re
from enum import Enum

from evalc.diagnostics.near import nearest
from evalc.dsl.nodes import Mapping, Node


class Kind(Enum):
    """What a YAML document can be to evalc."""

    SUITE = "suite"
    PROMPT = "prompt file"
    CASES = "external cases file"
    SHARED = "shared rules file"


_OUTER_YAML_KEY = re.compile(r"^(eval|test_cases|prompt_id)[ \t]*:", re.MULTILINE)
_JSON_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[\[\]{}]', re.DOTALL)
_COLON = re.compile(r"\s*:")
_JSON_KEYS = frozenset({'"eval"', '"test_cases"', '"cases"'})
_EVAL_NAME = re.compile(r".*\.eval\.(ya?ml|json)")


_OF_SUITES = frozenset({"suite", "tool", "tier", "prompt", "prompts", "prompt_file", "prompt_id"})


def kind_of_document(node: Node | None) -> Kind | None:
    """The kind of a document, or None when it is something else."""
    if not isinstance(node, Mapping):
        return None
    keys = {key.text for key, _ in node.pairs}
    if {"id", "prompt"} <= keys and "suite" not in keys:
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


def probably_meant(node: Node | None, *, by_name: bool) -> str | None:
    """The misspelt top-level key that kept a document from being recognised, if there is one.

    The likeness of its name is enough only `by_name`, where the document has to be an eval; elsewhere what it holds
    must show it, since other tools' files have keys such as `tests`.
    """
    if not isinstance(node, Mapping):
        return None
    keys = {key.text for key, _ in node.pairs}
    for key, value in node.pairs:
        if key.text in {"eval", "test_cases"}:
            continue
        if by_name and nearest(key.text, ("eval", "test_cases")):
            return key.text
        inside = {inner.text for inner, _ in value.pairs} if isinstance(value, Mapping) else set()
        if nearest(key.text, ("eval",)) and inside & {"test_cases", "criteria"}:
            return key.text
        if nearest(key.text, ("test_cases",)) and keys & {"suite", "tool", "prompt_id"}:
            return key.text
    return None


def is_eval_name(name: str) -> bool:
    """Whether a file has the name of an eval file (`x.eval.yaml`), so that it has to be one."""
    return _EVAL_NAME.fullmatch(name) is not None


def looks_like_eval(text: str) -> bool:
    """Whether a text that could not be read was probably meant as an eval file."""
    return _OUTER_YAML_KEY.search(text) is not None or _has_outer_json_key(text)


def _has_outer_json_key(text: str) -> bool:
    """Whether a text that begins as an object of JSON has a key of eval files in that object, not deeper."""
    depth = 0
    for token in _JSON_TOKEN.finditer(text) if text.lstrip().startswith("{") else ():
        if depth == 1 and token[0] in _JSON_KEYS and _COLON.match(text, token.end()):
            return True
        depth += {"{": 1, "[": 1, "}": -1, "]": -1}.get(token[0], 0)
    return False
