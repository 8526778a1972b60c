"""Asks promptfoo itself for its verdicts on generated assertions: `make test-promptfoo`.

Each test has tool calls and assertions about them, or a response, assertions about it, some of them in sets, and
mostly a threshold. promptfoo is installed into a temporary folder (needs Node and npm) and asked whether the test
passes. What it says is kept in `tests/extras/importers/promptfoo_verdicts.json`, against which `make test` holds the
imported suites.
"""

from __future__ import annotations

import json
import random
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, Final

from benchmarks.peers import PROMPTFOO

ROOT: Final = Path(__file__).parents[2]
VERDICTS: Final = ROOT / "tests" / "extras" / "importers" / "promptfoo_verdicts.json"
TESTS: Final = 600
SCORED: Final = 150
TOOLS: Final = ("book", "quote", "cancel_order")
VALUES: Final = (1, 2, 2.5, "Paris", "", True, None, [1, "a"], {"c": 1}, {"c": 1, "d": "x"})

PROGRAM: Final = """
import { readFileSync, writeFileSync } from "node:fs";
import promptfoo from "promptfoo";

const tests = JSON.parse(readFileSync("tests.json", "utf8"));
const verdicts = [];
for (const { assert, threshold, calls, response } of tests) {
  if (calls === undefined) {
    const test = { assert, vars: {}, ...(threshold === undefined ? {} : { threshold }) };
    const asked = { prompt: "x", test, providerResponse: { output: response } };
    verdicts.push((await promptfoo.assertions.runAssertions(asked)).pass);
    continue;
  }
  const spans = calls.map(({ name, args }, index) => ({
    spanId: `${index}`, name: `call ${index}`, startTime: index, endTime: index,
    attributes: { "tool.name": name, "tool.arguments": JSON.stringify(args) },
  }));
  const traceData = { traceId: "t", evaluationId: "e", testCaseId: "c", spans };
  let passes = true;
  for (const assertion of assert) {
    const asked = { assertion, test: {}, providerResponse: { output: "x" }, traceId: "t", traceData };
    passes = (await promptfoo.assertions.runAssertion(asked)).pass && passes;
  }
  verdicts.push(passes);
}
writeFileSync("verdicts.json", JSON.stringify(verdicts));
process.exit(0);
"""


def main() -> int:
    """Ask promptfoo, and keep what it says."""
    if shutil.which("npm") is None:
        print("this needs Node and npm", file=sys.stderr)
        return 2
    tests = [*generated(random.Random(2026)), *scored(random.Random(2026))]
    with tempfile.TemporaryDirectory() as folder:
        install = ["npm", "install", "--prefix", folder, "--no-audit", "--no-fund", PROMPTFOO]
        subprocess.run(install, check=True, capture_output=True)
        (Path(folder) / "ask.mjs").write_text(PROGRAM)
        (Path(folder) / "tests.json").write_text(json.dumps(tests))
        subprocess.run(["node", "ask.mjs"], cwd=folder, check=True, stdout=subprocess.DEVNULL)
        passes = json.loads((Path(folder) / "verdicts.json").read_text())
    lines = [json.dumps({**test, "passes": passed}) for test, passed in zip(tests, passes, strict=True)]
    VERDICTS.write_text("[\n" + ",\n".join(lines) + "\n]\n")
    print(f"{PROMPTFOO} passes {sum(passes)} of {len(passes)} tests; kept in {VERDICTS.relative_to(ROOT)}")
    return 0


def generated(pick: random.Random) -> list[dict[str, Any]]:
    """Tests with one to three assertions about up to five calls; the calls often fit them."""
    tests = []
    for _ in range(TESTS):
        calls = [{"name": pick.choice(TOOLS), "args": arguments(pick)} for _ in range(pick.randrange(6))]
        tests.append({"assert": [assertion(pick, calls) for _ in range(pick.randint(1, 3))], "calls": calls})
    return tests


WORDS: Final = ("red", "green", "blue", "Grey", "black")
THRESHOLDS: Final = (0.25, 0.3, 0.5, 0.6, 0.66, 0.7, 0.75, 0.8, 0.9, 1)


def scored(pick: random.Random) -> list[dict[str, Any]]:
    """Tests with a response of a few words, one to five assertions, maybe a set of others, and mostly a threshold."""
    tests = []
    for _ in range(SCORED):
        asserts = [weighted(pick, of_text(pick)) for _ in range(pick.randint(1, 4))]
        if pick.random() < 0.5:
            members = [weighted(pick, of_text(pick)) for _ in range(pick.randint(1, 4))]
            some = {"threshold": pick.choice(THRESHOLDS)} if pick.random() < 0.7 else {}
            asserts.append(weighted(pick, {"type": "assert-set", "assert": members, **some}))
        words = pick.sample(WORDS, pick.randint(0, 4))
        response = " ".join(words) if pick.random() < 0.8 else json.dumps(words)
        some = {"threshold": pick.choice(THRESHOLDS)} if pick.random() < 0.75 else {}
        tests.append({"assert": asserts, **some, "response": response})
    return tests


def weighted(pick: random.Random, asserted: dict[str, Any]) -> dict[str, Any]:
    """The assertion, sometimes with a weight."""
    return asserted | ({"weight": pick.choice((0, 0.3, 0.5, 1, 2, 3))} if pick.random() < 0.35 else {})


def of_text(pick: random.Random) -> dict[str, Any]:
    """An assertion about the text of a response, which holds or not."""
    word, two = pick.choice(WORDS), pick.sample(WORDS, 2)
    return pick.choice(
        [
            {"type": "contains", "value": word},
            {"type": "not-contains", "value": word},
            {"type": "contains-any", "value": two},
            {"type": "not-contains-all", "value": two},
            {"type": "regex", "value": f"{word}$"},
            {"type": "starts-with", "value": word},
            {"type": "javascript", "value": f"output.length > {pick.randint(3, 12)}"},
            {"type": "word-count", "value": {"min": 1, "max": pick.randint(1, 4)}},
            {"type": "is-json"},
            {"type": "not-is-json"},
        ]
    )


def arguments(pick: random.Random) -> dict[str, Any]:
    """The arguments of a call."""
    return {name: pick.choice(VALUES) for name in ("x", "y") if pick.random() < 0.7}


def assertion(pick: random.Random, calls: list[dict[str, Any]]) -> dict[str, Any]:
    """An assertion of any kind that evalc imports."""
    called = [call["name"] for call in calls] or list(TOOLS)
    near = [pick.choice(called) if pick.random() < 0.8 else pick.choice(TOOLS) for _ in range(pick.randint(1, 3))]
    count = {"min": pick.randint(0, 2), "max": pick.randint(2, 4)}
    kind, value = pick.choice(
        [
            ("tool-used", near[0]),
            ("tool-used", near),
            ("tool-used", {"name": near[0], **count}),
            ("tool-used", {"name": near[0], "min": count["max"] - 1}),
            ("tool-sequence", near),
            ("tool-sequence", {"steps": [{"name": name} for name in sorted(near)]}),
            ("tool-sequence", {"mode": "exact", "steps": called}),
            ("step-count", {"type": "tool", **count}),
            *[("tool-args-match", tool_args(pick, calls))] * 4,
        ]
    )
    inverse = "not-" if pick.random() < 0.3 else ""
    return {"type": f"{inverse}trajectory:{kind}", "value": value}


def tool_args(pick: random.Random, calls: list[dict[str, Any]]) -> dict[str, Any]:
    """A tool with arguments, mostly some of those of a call."""
    like = pick.choice(calls) if calls and pick.random() < 0.8 else {"name": pick.choice(TOOLS), "args": {}}
    args = {name: value for name, value in like["args"].items() if pick.random() < 0.8}
    return {"name": like["name"], "args": args or {"x": pick.choice(VALUES)}}


if __name__ == "__main__":
    sys.exit(main())
