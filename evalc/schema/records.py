"""Generates definitions for records of the model, with a description at every key."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from typing import Any, Final

import msgspec

from evalc.check.shapes import RECORDS, Check
from evalc.config.kinds import in_camel_case
from evalc.dsl.build_case import CASE, LABEL, STUB, USER
from evalc.dsl.build_expect import EXPECT, TOOL_PARAM
from evalc.dsl.build_suite import CRITERION, GATES, WITH_BLOCK
from evalc.dsl.document_kind import Kind
from evalc.dsl.kinds import Schema, Shape, ref


def _as_in_yaml(shape: Shape) -> dict[str, str]:
    """The sentences of a shape's keys, by the names of the case model: what both call so, both mean."""
    return {in_camel_case(key): each.sentence for key, each in shape.keys.items()}


_TOTALS: Final = {
    "totalCases": "How many cases ran.",
    "passed": "How many of them passed.",
    "failed": "How many of them did not, those that ended in an error included.",
    "errors": "How many of them ended in an error of the agent or of a check.",
    "unverified": "How many passed without a single assertion that could be evaluated.",
    "expectedFailures": "How many failed as their authors said they would.",
    "unexpectedPasses": "How many passed although a failure was expected.",
    "flaky": "How many repeated cases passed in some attempts and not in others.",
    "skipped": "How many cases did not run, because they are skipped or archived.",
    "skippedAssertions": "How many assertions were skipped for values that could not be resolved.",
    "totalDurationMs": "How long the cases took in all, in milliseconds.",
    "score": "The weighted score from 0 to 1; null where nothing was scored.",
}

SENTENCES: Final[Mapping[str, Mapping[str, str]]] = {
    "Metadata": _as_in_yaml(WITH_BLOCK[Kind.SUITE])
    | {
        "toolName": "The tool that the evals are about; by default from the file's name.",
        "suite": "The suite's name; by default the tool.",
        "tier": "The tier of the cases; by default from the file's name.",
        "descriptionHash": "The first 12 digits of the SHA-256 of the tool's description.",
        "description": "The tool's description that the evals were written for.",
        "generatedBy": "What wrote the file.",
        "criteria": "What the answers are scored by, with weights.",
        "requires": "The assertions that a runner which knows only the contract would not check.",
    },
    "Gates": _as_in_yaml(GATES)
    | {
        "minScore": "The least score, from 0 to 1.",
        "maxP95Ms": "The time in milliseconds that 95 % of the cases keep to.",
    },
    "Case": _as_in_yaml(CASE)
    | {
        "id": "The id that results and baselines know the case by; unique in the file.",
        "description": "What the case is about.",
        "difficulty": "How hard the case is.",
        "createdAt": "When the case was written, as ISO 8601 has it.",
        "bugRef": "The issue or commit that a regression case comes from.",
        "input": "What is sent to the agent.",
        "expect": "What the case asserts.",
        "criteria": "The criteria, each with the checks that count for it.",
        "unlinked": "Assertions of no criterion that count as one check.",
        "label": "The class that the agent should give, and where its answer has it.",
        "stubs": "The results of tools, by their names.",
        "stubAnswers": "The answers of tools that depend on the call, by their names.",
        "variant": "The variant of the prompt that the case runs with.",
    },
    "StubAnswer": _as_in_yaml(STUB),
    "StubResult": _as_in_yaml(STUB),
    "Label": _as_in_yaml(LABEL),
    "Input": {
        "message": "The text that is sent.",
        "messages": "A conversation, for chat agents.",
        "followUps": "What the user says next, after each answer: the case is a conversation.",
        "user": "Who plays the user in a conversation whose turns are not written down.",
        "system": "The prompt's role and instructions: the system prompt of agents that are models.",
        "inputs": "The values that the message was made from, by name.",
        "files": "The files of each attempt's folder, by their paths there.",
        "skill": "The folder of the skill that the case is about.",
    },
    "SimulatedUser": _as_in_yaml(USER),
    "Message": {"role": "Who speaks.", "content": "What is said."},
    "Expect": _as_in_yaml(EXPECT),
    "ToolParamExpectation": _as_in_yaml(TOOL_PARAM),
    "CheckLink": {
        "at": "JSON pointers from the case to the assertions, which pass together.",
        "weight": "How often the check counts; by default 1.",
    },
    "Criterion": _as_in_yaml(CRITERION)
    | {"name": "The criterion's name.", "checks": "The checks of the case that count for it."},
    "RubricDimension": {
        "dimension": "What is judged.",
        "maxScore": "The best score that the judge can give; by default 1.",
        "criteria": "What a good answer is.",
        "minScore": "The least score that passes.",
    },
    # --- results ---
    "SuiteResult": {
        "runId": "The id of the run, which its suites share.",
        "timestamp": "When the suite began, as ISO 8601 has it.",
        "tier": "The tier of the suite.",
        "toolName": "The tool that the suite is about.",
        "suite": "The suite's name; null where an earlier version or another runner wrote the result.",
        "agentEndpoint": "The agent that was asked.",
        "metadata": "What the tools and the eval file were at that time.",
        "stalenessWarnings": "What has changed since the evals were written.",
        "cases": "The results of the cases, in their order.",
        "skipped": "The cases that did not run, and why.",
        "summary": "The totals.",
        "baselineRunId": "The run that this one was compared with.",
        "regressions": "The ids of the cases that passed in the baseline and do not now.",
        "newPasses": "The ids of the cases that pass and did not in the baseline.",
        "significance": "What the verdicts that are not those of the baseline say.",
        "came": "The ids of the cases that the baseline does not have.",
        "changed": "The ids of the cases that are other cases than those of the baseline.",
        "went": "The ids of the cases of the baseline that the suite no longer has.",
        "rescoredFrom": "The run whose answers `evalc rescore` checked again; absent where an agent was asked.",
        "stale": "Whether anything has changed since the evals were written.",
        "warnings": "What else is to be known.",
        "gates": "The verdicts on the suite's gates.",
        "selected": "Which of the cases were chosen, where it was not all.",
        "stopped": "Why the run sent no more cases.",
        "decided": "Whether the run sent no more cases because the gates were decided.",
        "judges": "Who judged what only a judge can tell.",
        "similarity": "How `similar` compared texts where it was not by edit distance: `embeddings`.",
    },
    "Significance": {
        "pairs": "How many cases of both runs ended in error in neither.",
        "regressed": "How many of them passed in the baseline and do not now.",
        "newlyPassed": "How many of them pass and did not in the baseline.",
        "errors": "How many cases of both runs ended in error in one of them, and are left out.",
        "pValue": "How likely verdicts change as unevenly where nothing has changed: McNemar's exact test, two-sided.",
        "verdict": "What the change is, at a level of 5 %; `unchanged` where no verdict changed.",
        "moreCases": "About how many more cases would settle what is inconclusive; null where nothing can be said.",
    },
    "GateResult": {
        "gate": "The gate's name.",
        "label": "The class that the gate is about.",
        "limit": "What is asked for: of `failOnRegression`, no regression.",
        "value": "What was measured; null where there was nothing to measure.",
        "passed": "Whether the gate is met.",
        "newFailures": "Of `failOnRegression`, how many of the `value` fail and are not in the baseline.",
        "missing": "Of `failOnRegression`, how many of the `value` are cases of the baseline that are gone.",
        "confidence": "How sure the gate has to be.",
        "verdict": "Whether the gate holds or fails, where that is certain; else `undecided`.",
        "moreCases": "About how many cases more would decide; null where that cannot be said.",
    },
    "Selected": {
        "cases": "How many cases were chosen.",
        "of": "How many cases the suite has.",
        "by": "What chose them, as the command said it.",
    },
    "ResultMetadata": {
        "toolVersion": "The version of the tool.",
        "descriptionHash": "The first 12 digits of the SHA-256 of the tool's description.",
        "registrySize": "How many tools there were.",
        "evalFileHash": "The first 12 digits of the SHA-256 of the eval file.",
    },
    "CaseResult": {
        "id": "The id of the case.",
        "description": "What the case is about.",
        "passed": "Whether every assertion that could be evaluated holds.",
        "status": "How the case ended.",
        "durationMs": "How long the case took, in milliseconds.",
        "startedAt": "When the agent was first asked, as ISO 8601 has it, of a run that is exported to OpenTelemetry.",
        "endedAt": "When its last answer came, or the time for that was up.",
        "assertionsRun": "How many assertions were evaluated.",
        "assertionsSkipped": "How many were skipped for values that could not be resolved.",
        "score": "The weighted score from 0 to 1; null where nothing was scored.",
        "criteria": "The scores by criterion.",
        "error": "Why the case did not pass.",
        "errorAt": "The JSON pointer from the case to the assertion that the error quotes.",
        "timedOut": "Whether no answer came in time.",
        "details": "What the agent answered and did.",
        "assertions": "The assertions that were reached.",
        "place": "Where the case was written.",
        "row": "The row of a table that the case is made from.",
        "attempts": "The repeated runs of the case.",
        "flaky": "Whether some attempts passed and others did not.",
        "expectedFailure": "Why the case was expected to fail.",
        "label": "The expected class, and the class that the agent gave.",
        "notAttempted": "How many attempts were left out, since they could not change how the case ends.",
        "variant": "The variant of the prompt that the case ran with.",
        "caseHash": "A hash of the case, by which another case under the same id is noticed.",
        "tags": "Words to choose cases by.",
    },
    "AttemptResult": {
        "status": "How the attempt ended.",
        "durationMs": "How long the attempt took, in milliseconds.",
        "score": "The weighted score from 0 to 1; null where nothing was scored.",
        "error": "Why the attempt did not pass.",
        "response": "The response, secrets struck out.",
    },
    "SkippedCase": {
        "id": "The id of the case.",
        "description": "What the case is about.",
        "reason": "Why it did not run.",
        "archived": "Whether it is retired rather than skipped.",
        "stopped": "Whether the run did not get to it: it had stopped, or cases of other tiers failed.",
    },
    "CriterionResult": {
        "name": "The criterion's name.",
        "weight": "How much the criterion counts.",
        "score": "Its score from 0 to 1; null where nothing scored it.",
        "scoredBy": "What scored it.",
        "judged": "What a judge said of it.",
    },
    "JudgedScore": {
        "score": "The score; of several judges the median.",
        "maxScore": "The top of the scale, which begins at 0.",
        "reason": "Why, in the words of the judge; of several, of the one nearest to the median.",
        "spread": "How far the scores of several judges lie apart.",
    },
    "CaseDetails": {
        "toolsCalled": "The names of the tools that were called, in order.",
        "responseLength": "How many characters the response has.",
        "skippedTokens": "The tokens that could not be resolved.",
        "response": "The response, secrets struck out.",
        "toolCalls": "The calls of tools as they came, secrets struck out.",
        "usage": "What the agent says that it used.",
        "judgeUsage": "What judging used: requests, answers that were cached, tokens and cost.",
        "finishReason": "Why a model stopped, in its provider's word.",
        "model": "The model that answered, where the agent says it.",
        "nearCalls": "The key of the answer that probably holds the tool calls, where none has the agreed name.",
        "message": "The message that was sent, shortened, secrets struck out.",
        "messages": "The conversation that was sent, where it was one, each message shortened.",
        "turns": "Of a conversation, the turns that were answered.",
        "unanswered": "Of a conversation that broke, the message that was not answered, shortened, secrets struck out.",
        "userUsage": "What playing the user took: requests and cost.",
        "written": "The files that the agent wrote in the folder of the attempt, where it had one.",
        "unchanged": "The paths of the files that the agent was given there and left as they were, 100 at most.",
    },
    "WrittenFile": {
        "path": "Its path in the folder of the attempt.",
        "size": "Its size in bytes.",
        "text": "Its text, secrets struck out, unless it is long or no UTF-8.",
    },
    "TurnDetails": {
        "message": "What the user said, shortened, secrets struck out.",
        "response": "The answer, secrets struck out.",
        "calls": "How many of the case's calls of tools are those of this turn.",
        "durationMs": "How long the answer took, in milliseconds.",
        "usage": "What the agent says that it used.",
        "written": "The files that the agent had written by its end, where they are not those of the case.",
        "unchanged": "The paths of the files that it had left as they were, where they are not those of the case.",
    },
    "AssertionResult": {
        "at": "The JSON pointer from the case to the assertion.",
        "field": "The contract's field, or the check's type, that the assertion belongs to.",
        "line": "Of what did not pass, the check as authors write it, filled, with long texts cut.",
        "outcome": "How the assertion ended.",
        "turn": "The number of the turn of a conversation that it is about, where it is about one.",
        "message": "Why it did not pass.",
        "place": "Where it was written.",
        "judged": "What a judge said.",
        "finding": "What a check of texts found.",
    },
    "TextFinding": {
        "kind": "Whether the text is missing, forbidden, or differs from the response.",
        "text": "The text that the check expected or forbade.",
        "path": "The place of the JSON response that was looked at; absent for the whole response.",
    },
    "Place": {"file": "The file.", "line": "The line, counted from 1.", "column": "The column, counted from 1."},
    "Summary": {
        **_TOTALS,
        "estimatedCostUsd": "What the answers and their judges cost in US dollars, as far as it is known.",
        "judgeCostUsd": "How much of that the judges cost.",
        "scoredWeight": "The share of the criteria's weight that was scored.",
        "criteria": "The scores by criterion.",
        "labels": "How well the cases were classified.",
        "repeats": "How repeated cases do in k attempts: 1, 2, 4 and so on, and the most at a case.",
        "slices": "The pass rates of the cases with each tag that some have, 200 tags at most.",
        "cutShort": "How many repeated cases a run that stops when it is sure ended before their last attempt.",
    },
    "LabelResult": {
        "expected": "The class that the agent should have given.",
        "predicted": "The class that it gave; null where the answer has none.",
    },
    "Slice": {
        "tag": "The tag.",
        "passed": "How many cases with it passed.",
        "of": "How many there are that did not end in error.",
        "errors": "How many ended in error.",
        "rate": "The pass rate; null where it is of none.",
        "low": "The lower end of Wilson's interval (95 %).",
        "high": "The upper end of it.",
    },
    "RateEstimate": {
        "value": "The share; null where it is of none.",
        "low": "The lower end of Wilson's interval (95 %).",
        "high": "The upper end of it.",
        "of": "How many it is a share of.",
    },
    "ClassSummary": {
        "name": "The class.",
        "recall": "How often it was given where it was expected.",
        "precision": "How often it was expected where it was given.",
        "f1": "The harmonic mean of recall and precision.",
    },
    "ConfusedClasses": {
        "expected": "The class that was expected.",
        "predicted": "The class that was given; null where the answer has none.",
        "cases": "In how many cases.",
    },
    "LabelSummary": {
        "cases": "How many cases have a label and did not end in error.",
        "accuracy": "The share of these that were classified rightly.",
        "macroF1": "The mean of the classes' F1.",
        "classes": "The classes, by name.",
        "confusion": "How often each class was given for each.",
    },
    "RepeatSummary": {
        "k": "How many attempts.",
        "cases": "How many cases have this many attempts that did not end in error.",
        "passAtK": "The chance that at least one of k attempts passes: the mean over these cases.",
        "passHatK": "The chance that all of k attempts pass: the mean over these cases.",
    },
    "CriterionSummary": {
        "name": "The criterion's name.",
        "weight": "How much the criterion counts.",
        "score": "Its mean from 0 to 1 over the cases that scored it.",
        "cases": "How many cases scored it.",
        "of": "How many cases there were.",
        "scoredBy": "What scored it in any of them.",
    },
    "RunResult": {
        "runId": "The id of the run.",
        "suites": "The results of the suites.",
        "summary": "The totals of all suites.",
        "gates": "The verdicts on the gates of the run.",
        "missing": "The suites of the baseline that the run should have had.",
    },
    "MissingSuite": {
        "suite": "The suite's name.",
        "tier": "The tier of the suite.",
        "cases": "How many cases of it the baseline has.",
        "file": "Where it was, from the project's folder; absent where that is not known.",
    },
    "RunSummary": {
        **_TOTALS,
        "suites": "How many suites ran.",
        "regressions": "How many cases passed in the baseline and do not now.",
        "newPasses": "How many cases pass and did not in the baseline.",
    },
}
"""The keys by the names of their records; checks describe their fields where they are declared."""


TYPE: Final = "What is checked."
_LIMITS: Mapping[str, Schema] = {
    "threshold": {"minimum": 0, "maximum": 1},
    "minPassRate": {"minimum": 0, "maximum": 1},
    "maxP95Ms": {"exclusiveMinimum": 0},
    "macroF1": {"minimum": 0, "maximum": 1},
    "confidence": {"exclusiveMinimum": 0.5, "exclusiveMaximum": 1},
    "maxTurns": {"minimum": 1},
    "weight": {"minimum": 0},
}
"""Limits of numbers beyond their types, by key."""


def definitions(*records: Any) -> dict[str, Schema]:
    """The definitions of the records, and of all that they hold, by name."""
    components = _components(*records)
    if "Expect" in components:
        components |= _components(Check)
    defined = {name: _adapted(component, SENTENCES.get(name, {})) for name, component in components.items()}
    if "Expect" in defined:
        defined["Expect"]["properties"]["checks"]["items"] = ref("Check")
    return {**defined, **_vocabulary(components)}


def _components(*types: Any) -> dict[str, Schema]:
    return msgspec.json.schema_components(types, ref_template="#/$defs/{name}")[1]


def _adapted(component: Schema, sentences: Mapping[str, str]) -> Schema:
    """A record's schema as msgspec has it, in fewer words and with a sentence at each key."""
    properties = {
        key: _described(value, sentences.get(key, TYPE if key == "type" else "")) | _LIMITS.get(key, {})
        for key, value in component.get("properties", {}).items()
    }
    summary = inspect.cleandoc(component.get("description", "")).partition("\n\n")[0]
    adapted = component | {
        "description": " ".join(summary.split()),
        "properties": properties,
        "patternProperties": {"^x-": {}},
        "additionalProperties": False,
    }
    record = RECORDS.get(component["properties"].get("type", {}).get("enum", [""])[0])
    alternatives = getattr(record, "asks_one_of", ())
    return adapted | ({"anyOf": [{"required": [key]} for key in alternatives]} if alternatives else {})


def _described(schema: Schema, sentence: str) -> Schema:
    """A key's schema with the sentence that a check declares with its field."""
    declared = {key: value for key, value in schema.items() if key != "description"}
    return {"description": sentence or schema.get("description", ""), **_simple(declared)}


def _simple(schema: Any) -> Any:
    """The schema without defaults that say nothing, and with `anyOf` only where `type` would not do."""
    if isinstance(schema, list):
        return [_simple(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    if "discriminator" in schema:
        return ref("Check")
    simple = {key: _simple(value) for key, value in schema.items() if not (key == "default" and not value)}
    alternatives = simple.get("anyOf", ())
    if alternatives and all("$ref" not in each for each in alternatives):
        return _merged(alternatives)
    return simple


def _merged(alternatives: Sequence[Schema]) -> Schema:
    """One schema for alternatives that are of different types, so that their keywords do not meet."""
    types = [each["type"] for each in alternatives if "type" in each]
    if "number" in types and "integer" in types:
        types.remove("integer")
    choices = [choice for each in alternatives for choice in each.get("enum", ())]
    if choices and len(types) > types.count("null"):
        return {"anyOf": [*alternatives]}
    if choices:
        return {"enum": [*choices, *([None] if "null" in types else [])]}
    rest = {key: value for each in alternatives for key, value in each.items() if key != "type"}
    return {"type": types, **rest}


def _vocabulary(components: Mapping[str, Schema]) -> dict[str, Schema]:
    """The checks, distinguished by their `type`: a definition of its own where any record holds them."""
    tags = {type_: record.__name__ for type_, record in RECORDS.items() if record.__name__ in components}
    if not tags:
        return {}
    chosen = [{"if": {"properties": {"type": {"const": tag}}}, "then": ref(name)} for tag, name in tags.items()]
    return {
        "Check": {
            "title": "Check",
            "description": "A check of evalc's own, or a composition.",
            "type": "object",
            "properties": {"type": {"description": TYPE, "enum": [*tags]}},
            "required": ["type"],
            "allOf": chosen,
        }
    }
