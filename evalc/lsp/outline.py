"""The contents of a text: its YAML documents, and the suites, shared rules and prompts that they are."""

from __future__ import annotations

from typing import final

import msgspec

from evalc.base.source import Source
from evalc.diagnostics.problem import Diagnostics
from evalc.dsl.build_suite import build_prompt, build_shared_file, build_suite
from evalc.dsl.document_kind import Kind, has_evals, kind_of_document
from evalc.dsl.nodes import Mapping, Node
from evalc.dsl.read_yaml import read_yaml
from evalc.dsl.tree import PromptTree, SharedTree, SuiteTree


@final
class Outline(msgspec.Struct, frozen=True, kw_only=True):
    """The trees of a text, without what is broken in it.

    Attributes:
        source: the text.
        documents: its YAML documents.
        kinds: the kinds of those documents that are of evalc's.
        suites: those that have test cases.
        shared: those that other files include.
        prompts: those that other files name; a suite's own prompt is in the suite.
    """

    source: Source
    documents: tuple[Node, ...]
    kinds: frozenset[Kind]
    suites: tuple[SuiteTree, ...]
    shared: tuple[SharedTree, ...]
    prompts: tuple[PromptTree, ...]

    @property
    def shares(self) -> tuple[SharedTree, ...]:
        """The rules, defaults and includes of its suites and of what other files include."""
        return (*(suite.shared for suite in self.suites), *self.shared)


def outline(source: Source) -> Outline:
    """The outline of a YAML text; what is wrong with it is left out, and told elsewhere."""
    ignored = Diagnostics()
    nodes = read_yaml(source, lambda _span, _finding: None)
    suites: list[SuiteTree] = []
    shared: list[SharedTree] = []
    prompts: list[PromptTree] = []
    kinds: set[Kind] = set()
    for node in nodes:
        kind = kind_of_document(node)
        if kind is None or not isinstance(node, Mapping):
            continue
        kinds.add(kind)
        if kind is Kind.SHARED:
            shared.append(build_shared_file(source, node, ignored))
        elif kind is Kind.PROMPT and not has_evals(node):
            prompt = build_prompt(source, node, ignored)
            prompts += [] if prompt is None else [prompt]
        else:
            suites.append(build_suite(source, node, kind, ignored))
    return Outline(
        source=source,
        documents=tuple(node for node in nodes if node is not None),
        kinds=frozenset(kinds),
        suites=tuple(suites),
        shared=tuple(shared),
        prompts=tuple(prompts),
    )
