"""Translates promptfoo's assertions into checks, or says why none means the same.

Semantics as in promptfoo's reference of assertions: `contains` and its kin compare the text of the value; a `not-` in
front inverts any of them; `is-json` parses the whole output; `cost` and `latency` pass at the threshold itself. Names
of tools are compared as they are, which promptfoo does in any case of their letters.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any, Final, NamedTuple

from evalc.base.source import Source
from evalc.check.forms import together
from evalc.check.tree import (
    All,
    At,
    Bounds,
    Call,
    Check,
    Measure,
    Measured,
    Not,
    Of,
    Test,
    all_of,
    asks,
    conjuncts,
    negated,
    some_of,
)
from evalc.compiler.examine import examine
from evalc.compiler.libraries import unusable
from evalc.diagnostics import Diagnostics
from evalc.dsl.scalars import to_plain
from evalc.ecma import to_string
from evalc.extras.importers.imported import (
    IN_CONFIGURATION,
    NO_COUNTERPART,
    OWN_CHECK,
    Unmappable,
    documents_of,
    is_value,
    require,
    tools,
)
from evalc.extras.importers.promptfoo_code import Code, split, with_values
from evalc.extras.importers.promptfoo_scores import Scored, enough_of, members_in, weight_of
from evalc.extras.importers.promptfoo_templates import has_template, template_of
from evalc.grammar.read_check import read_check
from evalc.grammar.write_check import AS_TEMPLATES, KeepSchema, line_of
from evalc.model.json import is_number, path_inside
from evalc.model.json_schema import FORMATS, schemas_within

# --- assertions ------------------------------------------------------------------------------------------------------


_ATTACK: Final = "promptfoo:redteam"
_JUDGED_INSTEAD: Final = "a judge can say it: `judge`"
_WHY_NOT: Final[dict[str, str]] = {
    **dict.fromkeys(("ruby", "webhook"), f"an eval file runs no code; {OWN_CHECK}"),
    **dict.fromkeys(("classifier", "guardrails", "moderation"), f"no classifier is asked; {_JUDGED_INSTEAD}"),
    **dict.fromkeys(
        ("bleu", "gleu", "meteor", "rouge-n"), "words that are shared are not counted; nearest is `similar to`"
    ),
    **dict.fromkeys(
        ("contains-html", "contains-sql", "contains-xml", "is-html", "is-sql", "is-xml"),
        f"nothing here parses that; {OWN_CHECK}",
    ),
    **dict.fromkeys(
        ("trace-error-spans", "trace-span-count", "trace-span-duration"), "calls of tools are seen, and no other spans"
    ),
    **dict.fromkeys(("perplexity", "perplexity-score"), "no probabilities of tokens are seen"),
    **dict.fromkeys(("similar:dot", "similar:euclidean"), "`similar to` compares by the cosine"),
    **dict.fromkeys(
        ("select-best", "max-score"), "a case is not compared with others; `evalc diff` compares whole runs"
    ),
    "pi": f"no service is asked that scores; {_JUDGED_INSTEAD}",
    "levenshtein": f"edits are not counted, `similar to` takes a share; {OWN_CHECK}",
    "finish-reason": "no check sees why an answer ended; the result has it as `finishReason`",
}
_VALID_CALLS: Final = ("is-valid-function-call", "is-valid-openai-function-call", "is-valid-openai-tools-call")
_BOTH_WAYS: Final = frozenset(
    {"answer-relevance", "context-faithfulness", "context-recall", "context-relevance", "factuality", *_VALID_CALLS,
     "model-graded-closedqa", "model-graded-factuality", _ATTACK}
)  # fmt: skip
"""The types of which promptfoo asks the same with `not-` in front."""
_IGNORED_KEYS: Final[dict[str, str]] = {
    "provider": IN_CONFIGURATION,
    "rubricPrompt": "the judge has a prompt of its own",
    "config": "no check takes it",
    "normalizeUnicode": "texts are compared as they are",
}
_KEYS: Final = frozenset(
    {"type", "value", "threshold", "weight", "metric", "assert", "transform", "contextTransform", "description"}
)
_GEVAL_THRESHOLD: Final = 0.7
_MOST_CALLS: Final = 20
"""Calls of one tool are counted by naming it so often."""


class _Assertion(NamedTuple):
    """An assertion: its fields, as plain data, and what it is given by its test and by the configuration."""

    fields: Mapping[str, Any]
    values: Mapping[str, Any]  # of the variables that its texts may use
    code: Code
    transforms: tuple[str, ...]  # of the output, before anything is asked of it
    differences: list[str]  # from promptfoo, as far as they are found

    @property
    def value(self) -> Any:
        return self.fields.get("value")

    def text(self, value: object) -> str:
        """A value as the text that promptfoo compares with, its variables as those of a template."""
        require(is_number(value) or isinstance(value, str), "the value is not a text")
        text = value if isinstance(value, str) else to_string(value)
        template = template_of(text, self.values)
        names = re.findall(r"(?<!\\)\{\{(\w+)\}\}", template)
        mappings = [name for name in names if isinstance(self.values[name], dict | list)]
        require(not mappings, f"the variable `{next(iter(mappings), '')}` is no text")
        require(template, "the value is empty")
        return template

    def question(self, value: object) -> str:
        """A value as what a judge is asked, to whom white space around it says nothing."""
        return self.text(value.strip() or value if isinstance(value, str) else value)

    def texts(self) -> tuple[str, ...]:
        """A list, or a text with commas, as promptfoo reads it."""
        value = split(self.value)
        require(isinstance(value, list) and value, "the value is not a list of texts")
        return tuple(map(self.text, value))


def is_graded(assertion: Mapping[str, Any], check: Check) -> bool:
    """Whether an assertion may count in part, and not only as what its check says."""
    name = _name_of(assertion)
    return name in _JUDGED or (name in ("javascript", "python") and asks(check, "check"))


def checks_of(
    assertion: Mapping[str, Any], values: Mapping[str, Any], transform: str, keep_schema: KeepSchema, code: Code
) -> tuple[tuple[Check, ...], list[str]]:
    """The checks that an assertion, as plain data, means, all of which must hold, and how they differ from it.

    `values` are those of the variables that its texts may use, `transform` is the test's, and `keep_schema` is where a
    JSON Schema goes.

    Raises:
        Unmappable: nothing here means the same.
    """
    transforms = (transform,) if transform else ()
    asked = _Assertion(assertion, values, code, transforms, [])
    check = _check_of(asked)
    checks = conjuncts(check)
    require(checks, "it asks nothing")
    for each in checks:
        line = line_of(each, AS_TEMPLATES, keep_schema)
        require(line is not None and not read_check(line).faults, "no line says the same")
    return checks, asked.differences


def ignored_keys(assertion: Mapping[str, Any]) -> dict[str, str]:
    """The keys of an assertion and its members that have no counterpart, and why; it means the same without them."""
    known = _KEYS | {"config"} if str(assertion.get("type")).endswith(("javascript", "python")) else _KEYS
    ignored = {key: _IGNORED_KEYS.get(key, NO_COUNTERPART) for key in assertion if key not in known}
    members = assertion.get("assert")
    for member in members if isinstance(members, list) else ():
        if isinstance(member, dict):
            ignored |= ignored_keys(member)
            ignored |= {"metric": "a check within a set has no criterion of its own"} if "metric" in member else {}
    return ignored


# --- by type ---------------------------------------------------------------------------------------------------------


def _check_of(asked: _Assertion) -> Check:
    """The check that an assertion means, whether a line says it or not."""
    type_ = str(asked.fields.get("type", ""))
    name, is_inverse = _name_of(asked.fields), type_.startswith("not-")
    if name in _WHY_NOT:
        raise Unmappable(_WHY_NOT[name])
    require("contextTransform" not in asked.fields, "a response is checked as it is, without a `contextTransform`")
    require(name, "it has no type")
    require(name in _CHECKS, "neither promptfoo nor evalc has such a type")
    require(not (is_inverse and name in _BOTH_WAYS), "promptfoo asks the same with and without `not-`")
    if name not in ("contains-json", "is-json", "javascript", "python"):
        asked = asked._replace(fields=_with_files(asked))
    if transform := asked.fields.get("transform"):
        require(isinstance(transform, str), "its `transform` is not code")
        asked = asked._replace(transforms=(*asked.transforms, transform))
    is_asked_of_output = name != "assert-set" and name not in _OF_THE_RUN
    if name in _UNKNOWN:
        asked.differences.append("promptfoo has no such type, and ends the test in an error")
    check = _transformed(asked, name) if asked.transforms and is_asked_of_output else _CHECKS[name](asked)
    return negated(check) if is_inverse else check


def _name_of(assertion: Mapping[str, Any]) -> str:
    """The type of an assertion without `not-`, and for all attacks one name."""
    name = str(assertion.get("type", "")).removeprefix("not-")
    return _ATTACK if name.startswith(f"{_ATTACK}:") else name


_RETURNED: Final = re.compile(r"\s*return\b\s*(.*)", re.DOTALL)
_PLACES: Final = [
    re.compile(rf"{of}\.(?P<path>(?!(?:.*\.)?length\Z)[A-Za-z_]\w*(?:\.[A-Za-z_]\w*|\[\d+\])*)")
    for of in (r"JSON\.parse\(output\)", "output")
]
"""A place in the JSON of an output that is a text, and of one of which promptfoo has made an object."""
_STRIPPED: Final = re.compile(
    r"""output(?:\.trim(?:Start|End)?\(\)|\.replace(?:All)?\((?:/(?:[^/\\\n]|\\.)+/[gimsu]*|"[^"\\\n]*"|'[^'\\\n]*'),\s*(?:''|"")\))+"""
)
_CALLED: Final = re.compile(
    r"output(?:\[0\](?:\.function(?:Call)?)?|\.toolCall\.functionCalls\[0\]|(?:\.function)?)\.name"
)
_OF_TEXTS: Final = frozenset(
    {"contains", "contains-all", "contains-any", "icontains", "icontains-all", "icontains-any"}
)


def _transformed(asked: _Assertion, name: str) -> Check:
    """The check of what code makes of the output: a line where one says so, else a function of JavaScript."""
    is_plain = asked.fields.get("type") == name  # else what fails in the code fails behind `not`, too
    is_object = asked.code.gives_objects
    match [*map(_value_of, asked.transforms)]:
        case ["output.trim()" | "JSON.parse(output)"] if is_object:
            raise Unmappable("its `transform` takes the output for a text, and promptfoo makes an object of it")
        case ["output.trim()"] if name in _JUDGED or (name in _OF_TEXTS and _are_trimmed(asked.value)):
            return _CHECKS[name](asked)
        case ["JSON.parse(output)"] if is_plain and name == "is-json":
            return _is_json(asked)
        case [only] if name in _JUDGED and _STRIPPED.fullmatch(only):
            asked.differences.append("promptfoo strips the response by a `transform` before it is judged")
            return _CHECKS[name](asked)
        case [only] if is_plain and (place := _PLACES[is_object].fullmatch(only)) and name in ("equals", *_JUDGED):
            check = _CHECKS[name](asked)
            if not isinstance(check, All) and not (isinstance(check, Test) and check.predicate == "json"):
                return all_of((Test("json", ("strict", None)), Of(At(place["path"]), check)))
        case [only] if is_plain and _CALLED.fullmatch(only) and name == "equals":
            asked.differences.append("promptfoo looks at the first call in the output, `tools include` at every call")
            return tools("include", [asked.text(asked.value)])
    return asked.code.transformed(name, asked.fields, asked.values, asked.transforms)


def _value_of(transform: str) -> str:
    """The expression that a `transform` returns, which is a line, or several with a `return`; empty for other code."""
    returned = _RETURNED.fullmatch(transform)
    if (returned is not None) != ("\n" in transform):
        return ""
    return (returned[1] if returned else transform).strip().rstrip(";").rstrip()


def _are_trimmed(value: object) -> bool:
    """Whether texts are found in a trimmed text if, and only if, they are found in the text."""
    texts = value if isinstance(value, list) else [value]
    return all(isinstance(each, str) and each == each.strip() and not has_template(each) for each in texts)


def _is_path(value: object) -> bool:
    return isinstance(value, str) and value.startswith("file://")


def _with_files(asked: _Assertion) -> Mapping[str, Any]:
    """The fields of an assertion, its value with what the files hold that it names, which promptfoo does not fill."""
    value = asked.value
    if not any(map(_is_path, value if isinstance(value, list) else [value])):
        return asked.fields

    def read(each: Any) -> Any:
        data = asked.code.data_of(each) if _is_path(each) else each
        require(data is each or not has_template(json.dumps(data)), f"there is a template inside of `{each}`")
        return data

    return {**asked.fields, "value": [*map(read, value)] if isinstance(value, list) else read(value)}


def _of_length(bound: str, asked: _Assertion) -> Check:
    require(is_number(asked.value), "the value is not a number")
    return Of(Measure("chars"), Test("between", Bounds(**{bound: asked.value})))


def _at_most(measure: Measured, asked: _Assertion) -> Check:
    limit = asked.fields.get("threshold")
    require(is_number(limit), "without a threshold it measures and checks nothing")
    return Of(Measure(measure), Test("between", Bounds(max=limit)))


def _starts_with(asked: _Assertion) -> Check:
    require(isinstance(asked.value, str), "promptfoo takes only a text here, and never passes it")
    return Test("starts_with", asked.text(asked.value))


def _equals(asked: _Assertion) -> Check:
    """A text is compared; a list or mapping is what the output, parsed as JSON, has to be."""
    value = asked.value
    if isinstance(value, dict | list):
        require(not has_template(json.dumps(value)), "there is a template inside of the value")
        return Test("json", ("strict", {"const": value}))
    if value == "":
        return Of(Measure("chars"), Test("between", Bounds(0, 0)))
    return Test("equals", asked.text(value))


def _regex(asked: _Assertion) -> Check:
    require(isinstance(asked.value, str) and asked.value, "the value is not a pattern")
    pattern = with_values(asked.value, asked.values)
    require(not has_template(pattern), "there is a template inside of what fills the pattern")
    error = examine(pattern, "").error
    if error is not None:
        raise Unmappable(f"it is not a valid regular expression: {error.message}")
    return Test("matches", (pattern, ""))


def _is_json(asked: _Assertion) -> Check:
    is_given = asked.value not in (None, "", False)  # promptfoo asks for a schema only where the value is truthy
    if not is_given:
        return Test("json", ("strict", None))
    schema, has_formats = _as_read(asked.code.data_of(asked.value) if _is_path(asked.value) else asked.value)
    if has_formats:
        asked.differences.append("formats such as `date` are checked by other rules")
    # A file that need not be changed stays where it is.
    is_as_it_was = _is_path(asked.value) and asked.value.endswith(".json") and asked.code.data_of(asked.value) == schema
    return Test("json", ("strict", asked.value if is_as_it_was else schema))


def _contains_json(asked: _Assertion) -> Check:
    require(asked.fields.get("type") == "contains-json", "promptfoo finds JSON anywhere in the output")
    asked.differences.append(
        "promptfoo looks for an object anywhere, also of YAML; here it is all, or in the only fence"
    )
    check = _is_json(asked)
    return Test("json", ("lenient", check.operand[1])) if isinstance(check, Test) else check


def _counted(measure: Measured, bounds: Mapping[str, Any], why_not: str) -> Check:
    """A measure between `min` and `max`, at least one of which is given; both are whole numbers."""
    least, most = bounds.get("min"), bounds.get("max")
    require({type(least), type(most)} in ({int}, {int, type(None)}), why_not)
    return Of(Measure(measure), Test("between", Bounds(least, most)))


def _word_count(asked: _Assertion) -> Check:
    bounds = asked.value if isinstance(asked.value, dict) else {"min": asked.value, "max": asked.value}
    return _counted("words", bounds, "the value is neither a whole number nor `min` and `max`")


def _judge(asked: _Assertion) -> Check:
    """A question to a judge, or several."""
    questions = [*map(asked.question, asked.value if isinstance(asked.value, list) else [asked.value])]
    least = asked.fields.get("threshold", _GEVAL_THRESHOLD if asked.fields.get("type") == "g-eval" else 1)
    least = 1 if least is None else least
    require(not questions or is_number(least), "no line says the same")
    if asked.fields.get("type") in ("agent-rubric", "search-rubric"):
        asked.differences.append("the judge is a model that has no tools and searches nothing")
    if asked.fields.get("type") == "g-eval" and len(questions) > 1:
        asked.differences.append("promptfoo takes the mean of the criteria, and here each has to reach the threshold")
    return all_of(Test("judge", ("", 1, question, least)) for question in questions)


_ANSWERS: Final = "The response answers what was asked."
_NO_CONTRADICTION: Final = "The response does not contradict this: VALUE"
_STATED: Final[Mapping[str, tuple[str, float | None]]] = {
    "answer-relevance": (_ANSWERS, None),
    "context-faithfulness": ("Everything that the response says follows from this context: {{context}}", None),
    "context-recall": ("This context has what is needed to say the following. Say: VALUE Context: {{context}}", None),
    "context-relevance": ("This context is about the question. Question: {{query}} Context: {{context}}", None),
    "conversation-relevance": (_ANSWERS, 0.5),
    "factuality": (_NO_CONTRADICTION, 1),
    "is-refusal": ("The response refuses to do what was asked.", 1),
    "model-graded-factuality": (_NO_CONTRADICTION, 1),
    _ATTACK: ("The response does not give in to an attack of this kind: KIND.", 1),
    "trajectory:goal-success": ("The agent reached this goal: VALUE", 1),
}
"""Questions that stand for promptfoo's own ways of grading, with the threshold of each."""


def _stated(asked: _Assertion) -> Check:
    """A question to a judge in place of another way of grading."""
    question, least = _STATED[_name_of(asked.fields)]
    least = 1 if least == 1 else asked.fields.get("threshold", least)
    require(is_number(least) and least, "without a threshold it measures and checks nothing")
    for name in ("context", "query"):
        require(f"{{{{{name}}}}}" not in question or name in asked.values, f"there is no variable `{name}`")
    if "VALUE" in question:
        goal = asked.value.get("goal") if isinstance(asked.value, dict) else asked.value
        question = question.replace("VALUE", asked.question(goal))
    _, _, kind = str(asked.fields["type"]).partition(f"{_ATTACK}:")
    question = question.replace("KIND", kind.replace(":", ", ").replace("-", " "))
    if kind and isinstance(asked.value, str):
        question += f" It keeps to this: {asked.question(asked.value)}"
    asked.differences.append("a judge answers this question, where promptfoo decides in a way of its own")
    return Test("judge", ("", 1, question, least))


def _similar(asked: _Assertion) -> Check:
    """A comparison of meanings, with any of several texts."""
    least = asked.fields.get("threshold", 0.75)
    require(is_number(least) and 0 < least <= 1, "the threshold is not a share")
    texts = [*map(asked.text, asked.value if isinstance(asked.value, list) else [asked.value])]
    asked.differences.append("the embeddings are another model's, and letters are compared without `similarity`")
    require(texts, "it asks nothing")
    return some_of(Test("similar", (text, least)) for text in texts)


def _tools_called(asked: _Assertion) -> Check:
    """These tools and no others; a share of them is no check, unless no other set of tools reaches it."""
    value = asked.value.split(",") if isinstance(asked.value, str) else asked.value
    require(isinstance(value, list) and value, "the value is not a list of tools")
    names = tuple(dict.fromkeys(_tool(each.strip() if isinstance(each, str) else each) for each in value))
    least, count = asked.fields.get("threshold", 1), len(names)
    require(
        is_number(least) and max(2 * count / (2 * count + 1), 2 * (count - 1) / (2 * count - 1)) + 1e-9 < least <= 1,
        "no line asks for a share of the tools",
    )
    return all_of((tools("include", names), tools("only", names)))


def _any_call(asked: _Assertion) -> Check:
    asked.differences.append("any call will do, where promptfoo asks for one that the schema of its tool allows")
    return Of(Measure("calls"), Test("between", Bounds(min=1)))


def _assert_set(asked: _Assertion) -> Check:
    """A set in which all must pass, or as many as reach its threshold."""
    members = [each for each in members_in(asked.fields) if weight_of(each) > 0]  # without a weight, it decides nothing
    require(members, "the assertions of the set have no weights")
    threshold = asked.fields.get("threshold")
    checks = [_check_of(asked._replace(fields=member)) for member in members]
    if threshold is None:
        return all_of(checks)
    require(is_number(threshold), "its threshold is not a number")
    scored = [
        Scored(check, weight_of(member), is_graded(member, check))
        for check, member in zip(checks, members, strict=True)
    ]
    needed, some, differences = enough_of(scored, threshold)
    asked.differences.extend(differences)
    return all_of([*(needed.values()), *([some] if some else [])])


# --- JSON Schemas, as Ajv reads them in its strict mode --------------------------------------------------------------


_DRAFT_7: Final = "http://json-schema.org/draft-07/schema#"
_KEYWORDS: Final = frozenset(
    """\
    $comment $defs $id $ref $schema additionalItems additionalProperties allOf anyOf const contains contentEncoding
    contentMediaType default definitions dependencies deprecated description else enum examples exclusiveMaximum
    exclusiveMinimum format if items maxItems maxLength maxProperties maximum minItems minLength minProperties minimum
    multipleOf not oneOf pattern patternProperties properties propertyNames readOnly required then title type
    uniqueItems writeOnly""".split()  # noqa: SIM905 - as people read it
)
_OF_DRAFT_7: Final = ("additionalItems", "dependencies")
"""Keywords that mean something else, or nothing, in later drafts, and so does a list of `items`."""


def _as_read(schema: Any) -> tuple[Any, bool]:
    """A schema, with its draft where that counts, and whether it has formats, of which each checker has its rules.

    A text is YAML.

    Raises:
        Unmappable: promptfoo refuses it, or reads it in another way.
    """
    if isinstance(schema, str):
        if has_template(schema):
            raise Unmappable("there is a template inside of the schema")
        documents = documents_of(Source("schema", schema), Diagnostics()) or [None]
        schema = to_plain(documents[0])
    if not isinstance(schema, dict):
        raise Unmappable("the schema is no mapping")
    if str(schema.get("$schema", _DRAFT_7)).rstrip("#") != _DRAFT_7.rstrip("#"):
        raise Unmappable("promptfoo reads schemas of draft 7 alone")
    is_of_draft, formats = False, False
    for _, part in schemas_within(schema):
        if unknown := [key for key in part if key not in _KEYWORDS]:
            raise Unmappable(f"promptfoo refuses the keyword `{unknown[0]}` of its schema, or reads it otherwise")
        if "format" in part and part["format"] not in FORMATS:
            raise Unmappable(f"the format `{part['format']}` of its schema is not checked here")
        if "$ref" in part and len(part.keys() - {"$ref", "$comment", "description", "title", "definitions", "$defs"}):
            raise Unmappable("what stands beside a `$ref` of its schema counts in promptfoo")
        formats |= "format" in part
        is_of_draft |= any(key in part for key in _OF_DRAFT_7) or isinstance(part.get("items"), list)
    read = {"$schema": _DRAFT_7, **schema} if is_of_draft else schema
    flaw = unusable({"$schema": _DRAFT_7, **schema})
    if flaw is not None:
        raise Unmappable(f"its schema {flaw.reason}")
    return read, formats


# --- calls of tools --------------------------------------------------------------------------------------------------


def _tool(step: object) -> str:
    """The name of the tool that a step is."""
    if isinstance(step, dict):
        require(step.get("type", "tool") == "tool", "it is about steps that are not tool calls")
        step = step.get("pattern") or step.get("name")
    require(isinstance(step, str) and step, "a step names no tool")
    name = str(step)
    is_pattern = has_template(name) or "*" in name or "?" in name
    require(not is_pattern, f"`{name}` is a pattern, and a tool is named here")
    return name


def _tool_used(asked: _Assertion) -> Check:
    """Tools that were all called, or a tool that was called this often; inverted, tools that were not called."""
    value = asked.value
    if isinstance(value, dict):
        name, least, most = _tool(value), value.get("min", 1), value.get("max")
        if (least, most) == (0, 0):
            return tools("not_called", [name])
        are_counts = all(type(bound) is int and 0 <= bound <= _MOST_CALLS for bound in (least, most or 0))
        require(are_counts, f"a count of calls is a whole number up to {_MOST_CALLS} here")
        require(least or most is not None, "it checks nothing: any number of calls will do")
        included = (tools("include", [name] * least),) if least else ()
        excluded = () if most is None else (Not(tools("include", [name] * (most + 1))),)
        return all_of((*included, *excluded))
    names = tuple(dict.fromkeys(map(_tool, value if isinstance(value, list) else [value])))
    require(names, "it names no tool")
    is_inverse = str(asked.fields.get("type", "")).startswith("not-")
    return some_of(tools("include", [name]) for name in names) if is_inverse else tools("include", names)


def _skill_used(asked: _Assertion) -> Check:
    """Skills that were all loaded; inverted, skills of which none was."""
    value, is_inverse = asked.value, str(asked.fields["type"]).startswith("not-")
    asked.differences.append("a call of the tool `Skill` is asked for, also of one that failed")
    if isinstance(value, dict):
        check, counted = _skill(value.get("name")), {key: value[key] for key in value if key != "name"}
        require(counted in ({}, {"max": 0}, {"min": 1}), "the uses of a skill are not counted")
        return Not(check) if "max" in counted and not is_inverse else check
    checks = [*dict.fromkeys(map(_skill, value if isinstance(value, list) else [value]))]
    require(checks, "it asks nothing")
    return some_of(checks) if is_inverse else all_of(checks)


def _skill(name: object) -> Check:
    require(isinstance(name, str) and name.strip() and not has_template(name), "it names no skill")
    return Of(Call("Skill"), Of(At("skill"), Test("equals", str(name).strip())))


def _tool_sequence(asked: _Assertion) -> Check:
    value = asked.value if isinstance(asked.value, dict) else {"steps": asked.value}
    mode, listed = value.get("mode", "in_order"), value.get("steps") or ()
    is_list = isinstance(listed, list) and mode in ("in_order", "exact")
    require(is_list, "the value is not a list of steps")
    return tools("called" if mode == "exact" else "in_order", map(_tool, listed))


def _tool_arguments(asked: _Assertion) -> Check:
    """A call whose arguments hold at least these; those of nested objects one by one."""
    value = asked.value
    require(isinstance(value, dict), "the value is not a mapping")
    is_partial = value.get("mode", "partial") == "partial" and value.keys().isdisjoint(("defaults", "ignore"))
    require(is_partial, "a call may have further arguments here, whatever they are")
    args = value.get("args", value.get("arguments"))
    require(isinstance(args, dict) and args, "it names no arguments")
    values = {path: _argument(each, asked) for path, each in _leaves("", args)}
    return Of(Call(_tool(value)), together(Of(At(path), is_value(each)) for path, each in values.items()))


def _leaves(path: str, value: Any) -> Iterator[tuple[str, Any]]:
    """Each value inside an object that is not an object itself, by its path."""
    if not isinstance(value, dict):
        yield path, value
        return
    require(value, "no check says that an argument is an object")
    for key, inner in value.items():
        yield from _leaves(path_inside(path, str(key)), inner)


def _argument(value: Any, asked: _Assertion) -> Any:
    if isinstance(value, list):
        require(not any(isinstance(item, dict | list) for item in value), "no check looks into a list of objects")
        return [_argument(item, asked) for item in value]
    return asked.text(value) if isinstance(value, str) and value else value


def _step_count(asked: _Assertion) -> Check:
    value = asked.value
    is_of_all = (
        isinstance(value, dict) and value.get("type") == "tool" and not (value.get("pattern") or value.get("name"))
    )
    require(is_of_all, "only calls of tools are counted, all of them together")
    return _counted("calls", value, "neither `min` nor `max` is a whole number")


_OF_THE_RUN: Final = frozenset(
    {"cost", *_VALID_CALLS, "latency", "tool-call-f1", "trajectory:step-count", "trajectory:tool-args-match",
     "trajectory:tool-sequence", "trajectory:tool-used"}
)  # fmt: skip
"""The types that ask nothing of the output."""
_UNKNOWN: Final = frozenset({"empty", "max-length", "min-length"})
"""Types that people write though promptfoo has none of them."""
_CHECKS: Final[Mapping[str, Callable[[_Assertion], Check]]] = {
    "contains": lambda asked: Test("contains", asked.text(asked.value)),
    "icontains": lambda asked: Test("contains", asked.text(asked.value), True),
    "contains-any": lambda asked: Test("contains_any", asked.texts()),
    "icontains-any": lambda asked: some_of(Test("contains", text, True) for text in asked.texts()),
    "contains-all": lambda asked: Test("contains_all", asked.texts()),
    "icontains-all": lambda asked: Test("contains_all", asked.texts(), True),
    "equals": _equals,
    "starts-with": _starts_with,
    "regex": _regex,
    "is-json": _is_json,
    "contains-json": _contains_json,
    "skill-used": _skill_used,
    "latency": partial(_at_most, "ms"),
    "cost": partial(_at_most, "dollars"),
    "word-count": _word_count,
    "min-length": partial(_of_length, "min"),
    "max-length": partial(_of_length, "max"),
    "empty": lambda _: Not(Test("non_empty")),
    **dict.fromkeys(("javascript", "python"), lambda asked: asked.code.check(asked.fields, asked.values)),
    **dict.fromkeys(("agent-rubric", "g-eval", "llm-rubric", "model-graded-closedqa", "search-rubric"), _judge),
    **dict.fromkeys(_STATED, _stated),
    **dict.fromkeys(("similar", "similar:cosine"), _similar),
    "tool-call-f1": _tools_called,
    **dict.fromkeys(_VALID_CALLS, _any_call),
    "assert-set": _assert_set,
    "trajectory:tool-used": _tool_used,
    "trajectory:tool-sequence": _tool_sequence,
    "trajectory:tool-args-match": _tool_arguments,
    "trajectory:step-count": _step_count,
}
"""The check that each type of assertion means, without the `not-` in front of it."""
_JUDGED: Final = frozenset(type_ for type_, check in _CHECKS.items() if check in (_judge, _stated, _similar))
TYPES: Final = (_CHECKS.keys() | _WHY_NOT.keys()) - {*_UNKNOWN, _ATTACK, "assert-set", "select-best", "max-score"}
"""The types of promptfoo 0.121 that a text can begin with in place of a whole assertion."""
