"""A line that is translated from code says what the code says, which is run."""

from __future__ import annotations

import asyncio
import json
import math
import re
import shutil
import subprocess
from random import Random
from typing import Any

import pytest

from evalc.grammar.read_check import read_check
from evalc.model.answer import ToolCall
from evalc.runtime.checks import Evidence, View
from evalc.runtime.checks.evaluate import evaluate
from evalc.translate import translated


def drawn_texts() -> list[dict[str, Any]]:
    draw = Random(9)
    texts = [
        "Tokyo",
        "tokyo is TOKYO",
        "Dear Ann, order 12.",
        "OK",
        " OK \n",
        "a b c d",
        "a\nb\nc",
        "Sorry, no.",
        "ok",
        "x",
        "x x x",
        " \n",
        "",
    ]
    texts += ["".join(draw.choices("Tokyo OK.x\n 12", k=draw.randint(1, 40))) for _ in range(60)]
    return [{"response": text, "toolCalls": drawn_calls(draw)} for text in texts]


def drawn_calls(draw: Random) -> list[dict[str, Any]]:
    return [
        {
            "name": draw.choice(["search", "book", "pay"]),
            "success": draw.random() > 0.3,
            "params": {"nights": draw.randint(1, 4), "city": draw.choice(["Paris", "Rome"])},
        }
        for _ in range(draw.randint(1, 3))
    ]


def drawn_objects() -> list[dict[str, Any]]:
    """JSON in which each member has the type that the originals compare it with; lists are not empty."""
    draw = Random(10)
    found = []
    for _ in range(80):
        value = {
            "total": draw.choice([0, 12.5, 20, 20.25, 240, 241]),
            "ok": draw.random() > 0.5,
            "name": draw.choice(["Ann", "ann", "Bo", "Christopher"]),
            "status": draw.choice(["ok", "done", "OK", "failed"]),
            "tags": draw.sample(["a", "b", "new", "newer"], draw.randint(1, 3)),
            "prices": [draw.randint(1, 5) for _ in range(draw.randint(1, 4))],
            "items": [
                {"price": draw.choice([-1, 0, 2, 5]), "sku": draw.choice(["A1", "B"])}
                for _ in range(draw.randint(1, 4))
            ],
            "user": {"email": draw.choice(["a@b.c", "", None])},
        }
        if draw.random() > 0.5:
            value["error"] = draw.choice(["bad", None])
        found.append({"response": json.dumps(value), "toolCalls": []})
    return found


PYTHON_OF_TEXTS = """
"Tokyo" in response
"Tokyo" not in response
"tokyo" in response.lower()
response.startswith("Dear")
not response.endswith(".")
response == "OK"
response.strip() == "OK"
response.lower() == "ok"
len(response) < 10
len(response) > 0 and not "x" in response
3 <= len(response) <= 20
re.search(r"tokyo", response, re.I)
re.search("order [0-9]+", response) is not None
re.match(r"[A-Z]", response)
re.fullmatch("[a-z ]+", response)
any(w in response for w in ["Tokyo", "OK"])
all(w in response for w in ["o", "k"])
not any(w in response for w in ("Tokyo", "x"))
response.count("x") == 3
response.count("x") >= 2
response.find("x") == -1
response in ["OK", "x"]
len(response.split()) <= 2
len(response.strip()) > 0
response.strip() != ""
response.startswith(("To", "Dear"))
len(tool_calls) == 2
[c["name"] for c in tool_calls] == ["search", "book"]
"search" in [c["name"] for c in tool_calls]
any(c.name == "book" for c in tool_calls)
any(c.name == "book" and c.params["nights"] >= 2 for c in tool_calls)
any(c["name"] == "book" and c["params"]["city"] == "Paris" and c["params"]["nights"] < 3 for c in tool_calls)
all(c.success for c in tool_calls)
not all(c.success for c in tool_calls)
len([c for c in tool_calls if c.name == "book"]) == 1
sum(c.name == "book" for c in tool_calls) <= 1
sum(1 for c in tool_calls if c.name == "book") >= 2
[c.name for c in tool_calls].count("book") == 1
len([c for c in tool_calls if c.name == "book"]) >= 2
{c["name"] for c in tool_calls} == {"search", "book"}
""".strip().splitlines()

PYTHON_OF_OBJECTS = """
json.loads(response)["total"] <= 240
data["total"] == 20
0 < data["total"] < 240
data["ok"] is True
data["ok"] == False
data["name"] == "Ann"
data["name"].lower() == "ann"
data["name"] in ("Ann", "Bo")
data["status"] not in ["ok", "done"]
data["name"].startswith("A") or data["total"] > 100
len(data["items"]) == 2
len(data["name"]) <= 3
"new" in data["tags"]
"new" not in data["tags"]
all(i["price"] > 0 for i in items)
any(i["price"] < 0 or i["sku"] == "A1" for i in data["items"])
not any(i["sku"] == "A1" and i["price"] >= 2 for i in data["items"])
len([i for i in items if i["price"] < 0]) == 0
"A1" in [i["sku"] for i in data["items"]]
all(p >= 2 for p in data["prices"])
data["prices"] == sorted(data["prices"])
len(set(data["prices"])) == len(data["prices"])
isinstance(data["name"], str)
isinstance(data["items"], list)
isinstance(data["total"], (int, float))
abs(data["total"] - 20) <= 0.5
abs(data["total"] - 20) < 0.25
math.isclose(data["total"], 20, abs_tol=0.3)
data["tags"] == ["a", "b"]
"error" in data
"error" not in data
data.get("error") is None
data["items"][0]["price"] >= 2
re.search("^A", data["name"])
data["name"] != "Ann" and not data["total"] >= 240
""".strip().splitlines()

JAVASCRIPT_OF_TEXTS = r"""
response.includes("Tokyo")
!response.includes("Tokyo")
output.toLowerCase().includes("tokyo") && output.length > 10
response.startsWith("Dear") || response.endsWith(".")
response === "OK"
response.trim() === "OK"
response.length < 10
response.length !== 0
/order \d+/i.test(response)
!/[xyz]/.test(response)
!!response.match(/T.kyo/)
response.indexOf("x") !== -1
response.indexOf("T") === 0
["Tokyo", "OK"].some(w => response.includes(w))
["o", "k"].every((w) => response.includes(w))
["OK", "x"].includes(response)
response.trim().length > 0
toolCalls.length === 2
toolCalls.some(c => c.name === "book" && c.params.nights >= 2)
!toolCalls.some(c => c.name === "book")
toolCalls.every(c => c.success)
toolCalls.map(c => c.name).includes("pay")
toolCalls.filter(c => c.name === "book").length === 1
toolCalls.filter((c) => { return c.name === "book" }).length > 0
!(response.includes("x") && response.includes("k"))
""".strip().splitlines()

JAVASCRIPT_OF_OBJECTS = r"""
JSON.parse(response).total <= 240
JSON.parse(output).ok === true
(() => { const d = JSON.parse(output); return d.total <= 240 })()
(function () { const d = JSON.parse(output); const list = d.items; return list.some(i => i.price < 0); })()
json.ok !== true
json.name === "Ann" || json.total > 100
240 > json.total
["ok", "done"].includes(json.status)
json.items.length === 2
json.tags.includes("new")
!json.tags.includes("new")
items.every(i => i.price > 0)
json?.items?.some(i => i.sku === "A1" && i.price >= 2)
!json.items.some((item) => item.price < 0)
json.items.filter(i => i.price < 0).length === 0
json.items.map(i => i.sku).includes("A1")
Array.isArray(json.items)
typeof json.name === "string"
typeof json.total === 'number' && json.total >= 0
json.error === undefined
json.error == null
json.error !== null || json.error === undefined
json["name"].startsWith("A")
/^[A-Z]/.test(json.name)
json.name.length > 3
"error" in json
Object.keys(json).includes("error")
json.hasOwnProperty("error")
Math.abs(json.total - 20) <= 0.5
Math.abs(json.total - 20) < 0.25
json.items[0].sku === "A1"
json.prices.every(p => p >= 2)
!(json.total > 100 || json.ok === true)
""".strip().splitlines()


def line_of(original: str) -> str:
    found = translated(original)
    assert found is not None, original
    return found.line


def verdicts(line: str, outputs: list[dict[str, Any]]) -> list[bool]:
    """Whether a line holds for each output."""
    read = read_check(line).node
    assert read is not None, line
    check = read.check

    async def each() -> list[bool]:
        return [(await evaluate(check, View.of(evidence(output)))).outcome == "passed" for output in outputs]

    return asyncio.run(each())


def evidence(output: dict[str, Any]) -> Evidence:
    calls = tuple(ToolCall(**call) for call in output["toolCalls"])
    return Evidence(response=output["response"], tool_calls=calls)


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


@pytest.mark.parametrize(
    ("originals", "outputs"),
    [(PYTHON_OF_TEXTS, drawn_texts()), (PYTHON_OF_OBJECTS, drawn_objects())],
    ids=["texts", "objects"],
)
def test_a_line_says_what_the_python_says(originals: list[str], outputs: list[dict[str, Any]]) -> None:
    for original in originals:
        line = line_of(original)
        for output, verdict in zip(outputs, verdicts(line, outputs), strict=True):
            assert verdict is in_python(original, output), (original, line, output)


def in_python(original: str, output: dict[str, Any]) -> bool:
    class Record(dict[str, Any]):
        __getattr__ = dict.__getitem__

    response = output["response"]
    names: dict[str, Any] = {"re": re, "json": json, "response": response}
    names["tool_calls"] = [Record(call) for call in output["toolCalls"]]
    if response.startswith("{"):
        names["data"] = json.loads(response)
        names["items"] = names["data"]["items"]
    names["math"] = math
    return bool(eval(original, names))


@pytest.mark.parametrize(
    ("originals", "outputs"),
    [(JAVASCRIPT_OF_TEXTS, drawn_texts()), (JAVASCRIPT_OF_OBJECTS, drawn_objects())],
    ids=["texts", "objects"],
)
def test_a_line_says_what_the_javascript_says(originals: list[str], outputs: list[dict[str, Any]]) -> None:
    said = in_node(originals, outputs)
    if said is None:
        pytest.skip("node is not on PATH")
    for original, expected in zip(originals, said, strict=True):
        line = line_of(original)
        for output, verdict, other in zip(outputs, verdicts(line, outputs), expected, strict=True):
            assert verdict is other, (original, line, output)


def test_both_verdicts_occur_for_nearly_every_original() -> None:
    """The drawn outputs distinguish an original from its opposite."""
    of_texts = [(line_of(o), drawn_texts()) for o in PYTHON_OF_TEXTS]
    of_objects = [(line_of(o), drawn_objects()) for o in PYTHON_OF_OBJECTS]
    one_sided = [line for line, outputs in of_texts + of_objects if len(set(verdicts(line, outputs))) == 1]
    assert len(one_sided) <= 4, one_sided
