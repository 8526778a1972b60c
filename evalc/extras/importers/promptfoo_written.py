"""The text of the files of checks that are written beside the suite of a promptfoo configuration."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

NAME: Final = "\0"
"""Stands for the name of a function in its text."""

JAVASCRIPT: Final = """\
// The JavaScript of {source}. evalc runs it if its configuration names this file under `checks`.
"""
HELPERS: Final = """\
const read = (value) => { try { return JSON.parse(value); } catch { return value; } };
const transformed = (value) => {
  if (value === null || value === undefined) throw new Error("the transform returned no value");
  return value;
};
const text = (value) => (typeof value === "string" ? value : JSON.stringify(value));
const isJson = (value) => { try { JSON.parse(value); return true; } catch { return false; } };
"""
WITH_TEST: Final = """\
const withTest = (check) => (output, context) => {
  const { test, ...config } = context.config;
  const own = { value: Object.keys(config).length ? config : undefined };
  return check(output, Object.create(context, { test: { value: { ...test, vars: context.vars } }, config: own }));
};
"""
MAKES: Final = """\
exports.make = async (vars) => {
  const value = await (MADE)(JSON.parse(vars));
  const pass = typeof value === "object" && value !== null && !Object.values(value).includes(undefined);
  return { pass, score: 1, reason: JSON.stringify(value) ?? "" };
};
"""
ASKED_OF_TEXT: Final[Mapping[str, str]] = {
    "contains": "text(output).includes(VALUE)",
    "icontains": "text(output).toLowerCase().includes(VALUE.toLowerCase())",
    "contains-any": "VALUE.some((each) => text(output).includes(each))",
    "icontains-any": "VALUE.some((each) => text(output).toLowerCase().includes(each.toLowerCase()))",
    "contains-all": "VALUE.every((each) => text(output).includes(each))",
    "icontains-all": "VALUE.every((each) => text(output).toLowerCase().includes(each.toLowerCase()))",
    "equals": "text(output) === VALUE",
    "starts-with": "text(output).startsWith(VALUE)",
    "regex": "new RegExp(VALUE).test(text(output))",
    "is-json": "isJson(text(output))",
}
"""JavaScript that asks of an output, whatever it is, what an assertion does."""
PYTHON: Final = '''\
"""The Python of {source}. evalc runs it if its configuration names this file under `checks`."""

import asyncio
import json
import sys
from pathlib import Path
from runpy import run_path

import evalc


def context_of(answer, config):
    return {{"vars": dict(answer.inputs), "prompt": answer.message, **({{"config": config}} if config else {{}})}}


def read(text):
    try:
        return json.loads(text)
    except ValueError:
        return text


def outcome(function, answer, config, threshold=None, output_of=str):
    try:
        said = function(output_of(answer.text), context_of(answer, config))
        said = asyncio.run(said) if asyncio.iscoroutinefunction(function) else said
        said = json.loads(json.dumps(said, allow_nan=False))
        if isinstance(said, str):
            said = json.loads(said if said.startswith("{{") else said.lower())
        if isinstance(said, dict):
            passed, score, reason = said.get("pass", said.get("pass_")), said.get("score"), said.get("reason")
            if type(passed) is not bool or type(score) not in (int, float) or type(reason) is not str:
                raise TypeError("it returned no {{pass, score, reason}}")
            return evalc.Outcome(passed=passed and (threshold is None or score >= threshold), reason=reason)
        if not isinstance(said, bool):
            said = said > 0 if threshold is None else said >= threshold
        return evalc.Outcome(passed=said)
    except Exception as error:
        return evalc.Outcome(reason=f"{{type(error).__name__}}: {{error}}")


def function_of(file, name):
    path = Path(__file__).parent / file
    sys.path.append(str(path.parent))
    return run_path(str(path))[name]
'''
PYTHON_CHECK: Final = """

@evalc.custom_check
def NAME(answer, **config):
    return outcome(NAME_said, answer, configLEASTREAD)
"""
