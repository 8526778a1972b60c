"""The targets of the fuzzer, on which its findings are replayed: each runs a reader on any text.

A target passes when it returns. Findings about the text are its daily bread; an exception is a bug.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from typing import Final

from evalc.base.source import Source
from evalc.compiler.pipeline import CompileOptions, compile_sources
from evalc.diagnostics import Finding
from evalc.dsl.nodes import YamlLimits
from evalc.dsl.read_events import read_events
from evalc.dsl.read_lines import read_lines
from evalc.grammar.parse import RULE_TYPES, parse_criterion, parse_rule, parse_template
from evalc.grammar.read_check import read_check

_OPTIONS: Final = CompileOptions()


def compile_text(text: str, name: str = "fuzzed.eval.yaml") -> None:
    """Compile a text, down to the bytes of its compiled form where it has no errors."""
    compilation = compile_sources([Source(name, text)], _OPTIONS)
    for problem in compilation.problems:
        problem.finding.message(), problem.finding.help(), problem.finding.label()
        assert 0 <= problem.span.start <= problem.span.end <= len(problem.source.text)
    for suite in compilation.suites:
        for case in suite.cases():
            assert case.id


def lines(text: str) -> None:
    """The reader of plain lines: what it reads, the careful reader reads the same, and has nothing to say of."""
    found: list[Finding] = []
    source = Source("fuzzed.yaml", text)
    documents = read_events(source, lambda _span, finding: found.append(finding), YamlLimits())
    if any(finding.code == "EV110" for finding in found):
        return  # such a text never comes to `read_lines`
    root = read_lines(text, depth=YamlLimits().depth)
    if root is not None:
        assert (documents, found) == ([root], [])


def template(text: str) -> None:
    """A prompt, and a text of a check."""
    parse_template(text)
    parse_template(text, lenient=True)
    _within("prompt", text)


def check(text: str) -> None:
    """A check, and a criterion, on one line."""
    read_check(text)
    parse_criterion(text)
    _within("line", text)


def rule(text: str) -> None:
    """The `rule:` of every type that has a language of its own."""
    for type_ in RULE_TYPES:
        parse_rule(type_, text)
    _within("rule", text)


def _within(place: str, text: str) -> None:
    """Compile a suite that holds the text; JSON's quotes are YAML's."""
    quoted = json.dumps(text)
    compile_text(_SUITES[place].replace("TEXT", quoted.replace("\\u2028", "\\L").replace("\\u2029", "\\P")))


_SUITES: Final = {
    "prompt": "{suite: a, prompt: TEXT, eval: {test_cases: [{name: a, inputs: {b: 1}, validate: [non-empty]}]}}",
    "line": "{suite: a, eval: {criteria: [a], test_cases: [{name: a, message: hi, validate: [TEXT]}]}}",
    "rule": "{suite: a, eval: {test_cases: [{name: a, message: hi, validate: ["
    "{type: regex, rule: TEXT}, {type: length, rule: TEXT}]}]}}",
}

TARGETS: Final[dict[str, Callable[[str], None]]] = {
    "yaml": compile_text,
    "lines": lines,
    "json": partial(compile_text, name="fuzzed.json"),
    "template": template,
    "check": check,
    "rule": rule,
}
"""Functions to fuzz, by the name that `python -m tests.fuzz.drive` takes."""
