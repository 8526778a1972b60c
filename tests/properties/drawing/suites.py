"""Draws whole eval files without errors, and the eval JSON that says the same."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any, Final, final

from hypothesis import strategies as st

from tests.properties.drawing.cases import DECLARED, DEFAULTS, Case, Data, cases, template
from tests.properties.drawing.checks import Draw, chosen
from tests.properties.drawing.sharing import Files, add_defaults, add_prompt, add_rows, merged, move_to_rules
from tests.properties.drawing.worlds import DATA_SCHEMA
from tests.properties.drawing.yaml_text import yaml_text

_CRITERIA: Final[tuple[tuple[Any, Data], ...]] = (
    ({"name": "facts", "weight": 0.5, "description": "All: of them"}, {"weight": 0.5, "description": "All: of them"}),
    ("facts (50%): All of them", {"weight": 0.5, "description": "All of them"}),
    ("facts", {"weight": 1}),
)
_MORE_CRITERIA: Final[tuple[tuple[Any, Data], ...]] = (
    ({"clear tone (0.5)": "Kind #1"}, {"weight": 0.5, "description": "Kind #1"}),
    ("clear tone (0)", {"weight": 0}),
)
_GATES: Final = {
    "min_pass_rate": ("minPassRate", 0.9),
    "min_score": ("minScore", 0),
    "max_p95": ("maxP95Ms", 2500.5),
    "fail_on_regression": ("failOnRegression", True),
}
"""Gates of a suite: the name in YAML, the name in JSON, a value."""
_IN_YAML: Final = {"max_p95": "2.5005s"}
"""The value of a gate in YAML, where JSON has another."""
_SURE_GATES: Final = {"min_pass_rate": ("minPassRate", 0.4), "confidence": ("confidence", 0.55)}
"""The same with a confidence that one case can have."""
_TIERS: Final = ("labeled", "labeled", "golden", "regression", "rubric")


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Project:
    """Files of a project, by path, of which `main`, with its documents, is to be compiled; its twins by file name."""

    files: Files
    main: str
    documents: tuple[Data, ...]
    twins: dict[str, Data]
    cases: tuple[Case, ...]

    def write(self, folder: Path) -> Path:
        """Write the files into a folder, and give the path of the eval file."""
        for name, text in self.files.items():
            path = folder / name
            path.parent.mkdir(exist_ok=True)
            path.write_text(text, encoding="utf-8", newline="")
        return folder / self.main


@st.composite
def projects(draw: Draw, *, judges: bool = True, max_cases: int = 2) -> Project:
    """One eval file with everything that it names; it has no errors."""
    style = draw(st.integers(0, 2**16))
    files: Files = {"evalc.toml": "", "data.schema.json": json.dumps(DATA_SCHEMA)}
    documents: list[Data] = []
    twins: dict[str, Data] = {}
    drawn: list[Case] = []
    for number in range(draw(st.sampled_from([1, 1, 1, 2]))):
        suite = _Suite(draw, number, files, style, judges=judges, max_cases=max_cases)
        documents.append(suite.document)
        twins |= suite.twins()
        drawn += suite.cases
    files["drawn.eval.yaml"] = yaml_text(documents, style)
    return Project(files=files, main="drawn.eval.yaml", documents=tuple(documents), twins=twins, cases=tuple(drawn))


class _Suite:
    """One suite as it is drawn: its document, and its cases."""

    def __init__(self, draw: Draw, number: int, files: Files, style: int, *, judges: bool, max_cases: int) -> None:
        self.name = f"suite-{number}" if number else "drawn.one"
        self._head: Data = {}
        self._variants: dict[str, str] = {}
        self._criteria, written_criteria = _criteria(draw)
        self._tier = chosen(draw, _TIERS if judges else _TIERS[:-1])
        self._defaults: Data = {}
        how = chosen(draw, ("none", "prompt", "prompts", "prompt_file", "prompt_id", "prompt file", "external"))
        declared = how in ("prompt file", "external", "prompt_id") or (how != "none" and draw(st.booleans()))
        self._prompt(draw, how, files, declared=declared)
        self._prompted = how != "none"
        names = [each["name"] for each in self._criteria]
        self.cases = [
            cases(
                draw,
                f"case_{number}_{index}",
                chosen(draw, (self._tier, self._tier, "labeled")),
                names,
                declared=declared,
                judges=judges,
            )
            for index in range(draw(st.integers(1, max_cases)))
        ]
        items = [(case, case.in_yaml()) for case in self.cases]
        for case, data in items:
            if case.tier != self._tier:
                data["tier"] = case.tier
            if case.message is None and not case.messages and draw(st.integers(0, 3)) == 0:
                add_prompt(draw, case, data, files, style)
            if case.id is None and draw(st.integers(0, 2)) == 0:
                add_rows(draw, case, data, files)
        match chosen(draw, ("nothing", "rules", "rules", "defaults", "merge")):
            case "rules":
                self._head |= move_to_rules(draw, items, files, style)
            case "defaults":
                self._head |= add_defaults(draw, items, files, style, names, prompted=how != "none")
            case "merge":
                self._head |= merged(items)
            case _:
                pass
        evals: Data = {"criteria": written_criteria} if written_criteria else {}
        evals["test_cases"] = [data for _, data in items]
        spread = how == "external" or draw(st.integers(0, 3)) == 0
        self.document: Data = {**self._head, **(evals if spread and how != "prompt file" else {"eval": evals})}

    def _prompt(self, draw: Draw, how: str, files: Files, *, declared: bool) -> None:
        """The head: who the suite is, and the prompt in one of the places where it can stand."""
        head: Data = {"suite": self.name, "tool": f"tool_{self.name}".replace("-", "_").replace(".", "_")}
        if how == "prompt file":
            head = {"tool": head["tool"], "id": self.name, "version": "1.0", "model_compatibility": ["any"]}
        if self._tier != "labeled" or draw(st.booleans()):
            head["tier"] = self._tier
        if draw(st.booleans()):
            head |= {"tool_version": "1.2.0", "tool_description": "Does: it", "registry_size": 4}
            head |= {"threshold": 0.5} if self._criteria else {}
        if draw(st.booleans()):
            gates = chosen(draw, (_GATES, _SURE_GATES))
            head |= {
                "description": "For: readers",
                "gates": {key: _IN_YAML.get(key, value) for key, (_, value) in gates.items()},
            }
        text = template(draw)
        self._variants = {"": text}
        inputs: Data = {"inputs": chosen(draw, DECLARED)} if declared else {}
        if declared:
            self._defaults = DEFAULTS
        prompt_file = {"id": f"prompt-{self.name}", "prompt": text, **inputs}
        match how:
            case "prompt" | "prompt file":
                head |= {"prompt": text, **inputs}
            case "prompts":
                long = template(draw)
                self._variants = {"short": text, "long-1": long.strip()}
                files[f"{self.name}.long.txt"] = long
                head |= {"prompts": {"short": text, "long-1": {"file": f"{self.name}.long.txt"}}, **inputs}
            case "prompt_file":
                self._variants = {"": text.strip()}
                files[f"{self.name}.txt"] = text
                head |= {"prompt_file": f"{self.name}.txt", **inputs}
            case "prompt_id" | "external":
                files[f"{self.name}.prompt.yaml"] = yaml_text([prompt_file], 0)
                head["prompt_id"] = prompt_file["id"]
            case _:
                pass
        self._head = head

    def twins(self) -> dict[str, Data]:
        """The eval JSON of each tier, by the name of its file."""
        tool = self._head["tool"]
        metadata: Data = {"toolName": tool, "suite": self.name}
        if "tool_version" in self._head:
            digest = sha256(self._head["tool_description"].encode()).hexdigest()[:12]
            metadata |= {
                "toolVersion": "1.2.0",
                "descriptionHash": digest,
                "description": "Does: it",
                "registrySize": 4,
            }
            metadata |= {"threshold": 0.5} if self._criteria else {}
        if "gates" in self._head:
            gates = _SURE_GATES if "confidence" in self._head["gates"] else _GATES
            metadata["gates"] = dict(gates.values())
        if self._criteria:
            metadata["criteria"] = self._criteria
        found: dict[str, Data] = {}
        for case in self.cases:
            name = f"{self.name}.{case.tier}.json"
            envelope = found.setdefault(name, {"metadata": {**metadata, "tier": case.tier}, "cases": []})
            envelope["cases"] += self._in_json(case)
        return found

    def _in_json(self, case: Case) -> Iterator[Data]:
        variants: dict[str, str | None] = {"": None}
        if case.prompt is not None:
            variants = {"": case.prompt}
        elif case.message is None and not case.messages:
            variants = {**self._variants} if self._prompted else variants
        for row in case.rows or [{}]:
            key = f"@{row.get('key', row.get('id'))}" if row else ""
            for variant, prompt in variants.items():
                identity = (case.id or f"{self.name}/{case.name}") + key + (f"@{variant}" if variant else "")
                defaults = self._defaults if case.prompt is None else DEFAULTS
                whole = case.in_json(identity, prompt, row, defaults, self._criteria)
                yield {**whole, "variant": variant} if variant else whole


def _criteria(draw: Draw) -> tuple[list[Data], list[Any]]:
    """The criteria of a suite, in JSON and as they are written."""
    names = ("facts", "clear tone")[: draw(st.integers(0, 2))]
    picked = [chosen(draw, options) for _, options in zip(names, (_CRITERIA, _MORE_CRITERIA), strict=False)]
    meant = [{"name": name, **said} for name, (_, said) in zip(names, picked, strict=True)]
    return meant, [written for written, _ in picked]
