"""Breaks the code that verdicts rest on, one operator at a time, and sees whether a test notices: `make mutants`.

    python scripts/mutants.py [MODULE ...]

Each mutant is run in a copy of the tree, against the tests that are named for its module. The result, with every
survivor and why it may survive, stands in `benchmarks/results/mutants.md`; with a survivor that nobody has explained
the exit status is 1.
"""

from __future__ import annotations

import ast
import contextlib
import os
import platform
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from queue import SimpleQueue
from typing import Final, NamedTuple

ROOT: Final = Path(__file__).parents[1]
RESULTS: Final = ROOT / "benchmarks" / "results" / "mutants.md"
EXPLAINED: Final = ROOT / "benchmarks" / "mutants-explained.toml"
SECONDS: Final = 120
"""How long the tests of a mutant may take, so that endless ones are noticed."""

TARGETS: Final = {
    "runtime/run/score.py": ("tests/runtime/test_score.py", "tests/runtime/test_attempts.py"),
    "compare/totals.py": (
        "tests/runtime/test_score.py",
        "tests/runtime/test_pass_at_k.py",
        "tests/runtime/test_classified.py",
        "tests/compare",
    ),
    "ecma/__init__.py": (
        "tests/ecma/test_tokens.py",
        "tests/ecma/test_values.py",
        "tests/ecma/test_sentences.py",
        "tests/runtime/checks/test_tools.py",
        "tests/runtime/checks/test_texts.py",
    ),
    "compare/means.py": ("tests/compare",),
    "runtime/store/redact.py": (
        "tests/runtime/test_written.py",
        "tests/runtime/test_redact.py",
        "tests/runtime/test_any_encoding.py",
    ),
    "runtime/checks/evaluate.py": ("tests/runtime/checks", "tests/check/test_matrix.py", "tests/extras/test_doors.py"),
    "runtime/checks/subjects.py": ("tests/runtime/checks", "tests/check/test_matrix.py"),
    "check/texts.py": (
        "tests/runtime/checks/test_json_checks.py",
        "tests/runtime/checks/test_structure.py",
    ),
    "runtime/checks/similarity.py": (
        "tests/runtime/checks/test_similarity.py",
        "tests/runtime/checks/test_embedding.py",
    ),
    "runtime/checks/schema.py": ("tests/runtime/checks/test_json_checks.py",),
    "runtime/checks/judged.py": (
        "tests/runtime/checks/test_judged.py",
        "tests/runtime/checks/test_expected.py",
        "tests/runtime/checks/test_labels.py",
    ),
}
"""The modules, below `evalc/`, and the tests that must notice."""

_COMPARISONS: Final[dict[type[ast.cmpop], type[ast.cmpop]]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
}  # fmt: skip
_OPERATORS: Final[dict[type[ast.operator], type[ast.operator]]] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.FloorDiv, ast.Div: ast.Mult, ast.FloorDiv: ast.Mult,
    ast.Mod: ast.FloorDiv,
}  # fmt: skip
_NAMES: Final = {"min": "max", "max": "min", "any": "all", "all": "any"}


class Mutant(NamedTuple):
    """A module with one thing changed."""

    module: str
    line: int
    was: str
    now: str
    source: str

    @property
    def name(self) -> str:
        """The key of its explanation: the text of the line rather than its number, which moves."""
        text = (ROOT / "evalc" / self.module).read_text(encoding="utf-8").splitlines()[self.line - 1].strip()
        return f"{self.module}: {text}: {self.was} -> {self.now}"


def mutants_of(module: str) -> Iterator[Mutant]:
    """Every mutant of a module, in the order of its lines."""
    source = (ROOT / "evalc" / module).read_text(encoding="utf-8")
    tree = ast.parse(source)
    left_out = {id(inner) for outer in _unchanged(tree) for inner in ast.walk(outer)}
    starts = [0]
    for line in source.encode().splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    raw = source.encode()
    for node in ast.walk(tree):
        if id(node) in left_out or not isinstance(node, ast.expr | ast.stmt) or node.end_lineno is None:
            continue
        begin = starts[node.lineno - 1] + node.col_offset
        end = starts[node.end_lineno - 1] + (node.end_col_offset or 0)
        was = raw[begin:end].decode()
        for now in _changed(node):
            mutated = (raw[:begin] + now.encode() + raw[end:]).decode()
            yield Mutant(module, node.lineno, " ".join(was.split()), now, mutated)


def _unchanged(tree: ast.AST) -> Iterator[ast.AST]:
    """Nodes without behaviour: annotations, the settings of a class, texts with values in them."""
    for node in ast.walk(tree):
        match node:
            case ast.AnnAssign(annotation=annotation):
                yield annotation
            case ast.arg(annotation=ast.expr() as annotation):
                yield annotation
            case ast.FunctionDef(returns=ast.expr() as returns) | ast.AsyncFunctionDef(returns=ast.expr() as returns):
                yield returns
            case ast.JoinedStr():
                yield node
            case ast.ClassDef(keywords=keywords, decorator_list=decorators):
                yield from (keyword.value for keyword in keywords)
                yield from decorators
            case ast.Call(func=ast.Name(id="TypeVar" | "cast")):
                yield node


def _changed(node: ast.AST) -> Iterator[str]:
    """The expression or statement otherwise, as source."""
    match node:
        case ast.Compare(left=left, ops=[operator, *more], comparators=comparators) if type(operator) in _COMPARISONS:
            yield ast.unparse(ast.Compare(left, [_COMPARISONS[type(operator)](), *more], comparators))
        case ast.BinOp(left=left, op=operator, right=right) if type(operator) in _OPERATORS:
            yield f"({ast.unparse(ast.BinOp(left, _OPERATORS[type(operator)](), right))})"
        case ast.BoolOp(op=operator, values=values):
            other = ast.Or() if isinstance(operator, ast.And) else ast.And()
            yield f"({ast.unparse(ast.BoolOp(other, values))})"
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            yield ast.unparse(operand)
        case ast.Constant(value=bool() as value):
            yield str(not value)
        case ast.Constant(value=int() | float() as value):
            yield str(value + 1)
        case ast.Call(func=ast.Name(id=name)) if name in _NAMES:
            yield ast.unparse(ast.Call(ast.Name(_NAMES[name]), node.args, node.keywords))
        case ast.Return(value=ast.expr() as value) if not (isinstance(value, ast.Constant) and value.value is None):
            yield "return None"
        case ast.Continue():
            yield "break"
        case ast.IfExp(test=test) if not isinstance(test, ast.Compare | ast.BoolOp | ast.UnaryOp):
            yield f"({ast.unparse(ast.IfExp(ast.UnaryOp(ast.Not(), test), node.body, node.orelse))})"


def main() -> int:
    """Try every mutant, and write down what came of it."""
    modules = sys.argv[1:] or list(TARGETS)
    explained: dict[str, str] = tomllib.loads(EXPLAINED.read_text(encoding="utf-8")) if EXPLAINED.exists() else {}
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        trees: SimpleQueue[Path] = SimpleQueue()
        workers = os.cpu_count() or 1
        for number in range(workers):
            tree = Path(folder) / str(number)
            shutil.copytree(ROOT, tree, ignore=shutil.ignore_patterns(".git", ".venv*", ".*_cache", "__pycache__"))
            trees.put(tree)
        rows = [_tried(module, trees, workers) for module in modules]
    if not sys.argv[1:]:
        RESULTS.write_text(_page(rows, explained, time.monotonic() - began), encoding="utf-8")
    unexplained = [mutant.name for _, _, survivors in rows for mutant in survivors if mutant.name not in explained]
    for name in unexplained:
        print(f"survived: {name}")
    return 1 if unexplained else 0


def _tried(module: str, trees: SimpleQueue[Path], workers: int) -> tuple[str, int, list[Mutant]]:
    """How many mutants a module has, and which of them no test has noticed."""
    mutants = list(mutants_of(module))
    tree = trees.get()
    if not _passes(module, tree):
        raise SystemExit(f"the tests of {module} fail as it is")
    trees.put(tree)

    def survives(mutant: Mutant) -> bool:
        tree = trees.get()
        try:
            return not _is_noticed(mutant, tree)
        finally:
            trees.put(tree)

    with ThreadPoolExecutor(workers) as pool:
        survivors = [mutant for mutant, alive in zip(mutants, pool.map(survives, mutants), strict=True) if alive]
    print(f"{module}: {len(mutants) - len(survivors)} of {len(mutants)} noticed", flush=True)
    return module, len(mutants), survivors


def _is_noticed(mutant: Mutant, tree: Path) -> bool:
    file = tree / "evalc" / mutant.module
    sound = file.read_text(encoding="utf-8")
    file.write_text(mutant.source, encoding="utf-8")
    try:
        return not _passes(mutant.module, tree)
    except subprocess.TimeoutExpired:
        return True
    finally:
        file.write_text(sound, encoding="utf-8")


def _passes(module: str, tree: Path) -> bool:
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *TARGETS[module]]
    environment = {**os.environ, "PYTHONPATH": str(tree), "PYTHONDONTWRITEBYTECODE": "1"}
    process = subprocess.Popen(
        command,
        cwd=tree,
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        return process.wait(SECONDS) == 0
    finally:
        with contextlib.suppress(ProcessLookupError):  # a mutant may leave a process that runs for ever
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _page(rows: list[tuple[str, int, list[Mutant]]], explained: dict[str, str], seconds: float) -> str:
    machine = f"{os.cpu_count()} cores, {platform.system()}, Python {platform.python_version()}"
    lines = [
        "# Mutants",
        "",
        f"`make mutants`, on {datetime.now(UTC):%Y-%m-%d}, {machine}, {seconds / 60:.0f} minutes:",
        "",
        "| module | mutants | noticed | survivors explained |",
        "|---|---|---|---|",
    ]
    for module, count, survivors in rows:
        known = sum(mutant.name in explained for mutant in survivors)
        noticed = count - len(survivors)
        lines.append(
            f"| `{module}` | {count} | {noticed} ({noticed / max(count, 1):.1%}) | {known} of {len(survivors)} |"
        )
    lines += ["", "## Survivors", ""]
    for _, _, survivors in rows:
        lines += [f"- `{mutant.name}`: {explained.get(mutant.name, 'not explained')}" for mutant in survivors]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.exit(main())
