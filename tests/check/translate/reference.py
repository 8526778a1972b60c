"""Decides lines that the translator writes, apart from evalc: a reading of the language by regular expressions."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Callable
from typing import Any

OPERATORS: dict[str, Callable[[Any, Any], bool]] = {
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
    "==": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
}
MISSING = object()
WORDS = re.compile(r"\S+")


def holds(line: str, output: dict[str, Any]) -> bool:
    """Whether a line holds for `{"response": ..., "toolCalls": [...]}`."""
    for word, decide in (("or", any), ("and", all)):
        pieces = split(line, f" {word} ")
        if len(pieces) > 1:
            return decide([holds(piece, output) for piece in pieces])
    if line.startswith("(") and line.endswith(")"):
        return holds(line[1:-1], output)
    if line.startswith("not "):
        return not holds(line[4:], output)
    return asks_calls(line, output) if "tool" in line or "call of" in line else asks_response(line, output["response"])


def asks_calls(line: str, output: dict[str, Any]) -> bool:
    names = [call["name"] for call in output["toolCalls"]]
    if found := re.fullmatch(r"tool count (\S+) (\d+)", line):
        return OPERATORS[found[1]](len(names), int(found[2]))
    if found := re.fullmatch(r"tools called \[(.*)\]", line):
        return names == [name for name in found[1].split(", ") if name]
    if found := re.fullmatch(r"tools only \[(.*)\]", line):
        return set(names) <= set(found[1].split(", "))
    if found := re.fullmatch(r"tools include \[(.*)\]", line):
        return set(names) >= set(found[1].split(", "))
    if line == "no tool errors":
        return all(call["success"] for call in output["toolCalls"])
    if line == "tool errors >= 1":
        return not all(call["success"] for call in output["toolCalls"])
    if found := re.fullmatch(r"tool (\w+) (not )?called(?: (once|(?:at (least|most) )?(\d+) times))?", line):
        count, number = names.count(found[1]), 1 if found[3] == "once" else int(found[5] or 1)
        op = "<=" if found[4] == "most" else ">=" if found[4] or not found[3] else "=="
        return OPERATORS[op](count, number) is not bool(found[2])
    found = re.fullmatch(r"(any|every|no) call of (\w+) has (.*)", line)
    assert found, line
    arguments = [call["params"] for call in output["toolCalls"] if call["name"] == found[2]]
    return quantified(found[1], arguments, f"has {found[3]}")


def asks_response(line: str, response: str) -> bool:
    if found := re.fullmatch(r"(any|every|no) item of (\S+) (.*)", line):
        return quantified(found[1], at(json.loads(response), found[2]), found[3])
    if found := re.fullmatch(r"at (\S+) (.*)", line):
        return asked(at(json.loads(response), found[1]), found[2])
    return asked(response, line)


def split(line: str, word: str) -> list[str]:
    depth, quoted, pieces, start, index = 0, False, [], 0, 0
    while index < len(line):
        character = line[index]
        if character == "\\":
            index += 1
        elif character == '"':
            quoted = not quoted
        elif not quoted:
            depth += (character in "([{") - (character in ")]}")
            if depth == 0 and line.startswith(word, index):
                pieces.append(line[start:index])
                start = index + len(word)
        index += 1
    return [*pieces, line[start:]]


def at(value: Any, path: str) -> Any:
    for name, index in re.findall(r"([A-Za-z_]\w*)|\[(\d+)\]", path):
        try:
            value = value[name or int(index)]
        except (KeyError, IndexError, TypeError):
            return MISSING
    return value


def quantified(quantifier: str, values: Any, clause: str) -> bool:
    each = [
        all(asked(at(value, (cut := part.split(" ", 1))[0]), cut[1]) for part in split(clause[4:], ", "))
        if clause.startswith("has ")
        else asked(value, clause)
        for value in values
    ]
    return {"any": any(each), "every": all(each), "no": not any(each)}[quantifier]


def asked(value: Any, clause: str) -> bool:
    clause = re.sub(r"^is not ", "not is ", clause)
    if clause.startswith("not ") and clause != "not exists":
        return value is not MISSING and not asked(value, clause[4:])
    if clause in ("exists", "not exists"):
        return (value is MISSING) is (clause == "not exists")
    folded = clause.endswith(" ignoring case")
    verb, _, rest = clause.removesuffix(" ignoring case").partition(" ")
    fold = str.casefold if folded else (lambda text: text)
    if value is MISSING:
        return False
    if verb in OPERATORS:
        return isinstance(value, int | float) and OPERATORS[verb](value, float(rest))
    if found := re.fullmatch(r"(length|words|lines|count)(?: (\S+))? (\d+)", clause):
        measured = {
            "length": len,
            "count": len,
            "words": lambda t: len(WORDS.findall(t)),
            "lines": lambda t: len(t.splitlines()),
        }
        if isinstance(value, str) is (found[1] == "count"):
            return False
        measure: Callable[[Any], int] = measured[found[1]]
        return OPERATORS[found[2] or "=="](measure(value), int(found[3]))
    if found := re.fullmatch(r"within (\S+) of (\S+)", clause):
        return bool(abs(value - float(found[2])) <= float(found[1]))
    if found := re.fullmatch(r'contains ("(?:[^"\\]|\\.)*") (?:(\S+) )?(\d+) times', clause):
        return OPERATORS[found[2] or "=="](value.count(json.loads(found[1])), int(found[3]))
    if verb in ("is", "non-empty"):
        return described(value, rest or verb)
    return asks_text(value, verb, rest, clause, fold)


def asks_text(value: Any, verb: str, rest: str, clause: str, fold: Callable[[str], str]) -> bool:
    if verb == "matches":
        pattern, _, flags = rest[1:].rpartition("/")
        return bool(re.search(pattern.replace("$", r"\Z"), value, re.I * ("i" in flags) | re.A))
    if verb in ("starts", "ends"):
        method = str.startswith if verb == "starts" else str.endswith
        return method(fold(value), fold(json.loads(rest.removeprefix("with "))))
    expected = json.loads(
        clause[clause.index("[") :] if verb == "one" else rest if verb in ("contains", "equals") else clause
    )
    if verb == "contains":
        return fold(expected) in fold(value) if isinstance(value, str) else expected in value
    if verb == "one":
        return fold(value) in list(map(fold, expected))
    same_type = isinstance(value, bool) is isinstance(expected, bool)
    return bool(fold(value) == fold(expected) if isinstance(expected, str) else value == expected and same_type)


def described(value: Any, word: str) -> bool:
    if word == "non-empty":
        return bool(value.strip() if isinstance(value, str) else value)
    if word == "null":
        return value is None
    if word == "sorted":
        return bool(value == sorted(value))
    if word == "unique":
        return len(set(value)) == len(value)
    types: dict[str, Any] = {
        "a text": str,
        "a number": int | float,
        "an integer": int,
        "a list": list,
        "an object": dict,
        "a boolean": bool,
    }
    return isinstance(value, types[word]) and isinstance(value, bool) is (word == "a boolean")


def in_node(originals: list[str], outputs: list[dict[str, Any]]) -> list[list[bool]] | None:
    """Node's verdict on each original for each output; None without Node."""
    node = shutil.which("node")
    if node is None:
        return None
    program = """
const [originals, outputs] = JSON.parse(require("fs").readFileSync(0, "utf8"));
const said = originals.map((code) => outputs.map(({response, toolCalls}) => {
  let json; try { json = JSON.parse(response); } catch {}
  const items = json?.items;
  const run = new Function("response", "output", "json", "items", "toolCalls", `return (${code})`);
  try { return Boolean(run(response, response, json, items, toolCalls)); }
  catch { return false; }
}));
process.stdout.write(JSON.stringify(said));
"""
    given = json.dumps([originals, outputs])
    finished = subprocess.run(
        [node, "-e", program], input=given, capture_output=True, encoding="utf-8", timeout=60, check=True
    )
    said: list[list[bool]] = json.loads(finished.stdout)
    return said
