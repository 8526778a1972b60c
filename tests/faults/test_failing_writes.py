"""Let every write of every command fail once, in each way that writes fail: nothing is lost, and no file is torn."""

from __future__ import annotations

import errno
import json
import os
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, Literal

import pytest

from tests.cli.conftest import Invoke, invoke, project

__all__ = ["invoke", "project"]

Kind = Literal["ENOSPC", "EIO", "short"]

SUITE = """\
suite: weather
eval:
  test_cases:
    - {name: paris, message: 'Weather in Paris?', validate: [contains "Paris"]}
    - {name: rome, message: 'Weather in Rome?', validate: [contains "Rome"]}
    - {name: held, tier: regression, id: w-1, created_at: 2026-05-03, bug_ref: "#1", message: hi, validate: [non-empty]}
"""
MESSY = "suite:   messy\neval:\n  test_cases:\n  - {name: a, message: hi, validate: [contains Tokyo]}\n"
PROMPTFOO = "prompts: [Hi]\nproviders: [openai:gpt-4]\ntests:\n  - assert: [{type: contains, value: x}]\n"


class _File:
    """A file whose writes may fail."""

    def __init__(self, file: Any, hit: Callable[[], None]) -> None:
        self._file = file
        self._hit = hit

    def __enter__(self) -> _File:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)

    def writelines(self, pieces: Any) -> None:
        for piece in pieces:
            self._hit()
            self._file.write(piece)


class Faults:
    """Lets the write number `at` fail: making a folder; opening, writing, cutting, making it last, putting in place."""

    def __init__(self, at: int, kind: Kind) -> None:
        self._at = at
        self._kind = kind
        self._calls = 0
        self.happened = False

    def _fails(self) -> bool:
        self._calls += 1
        self.happened |= self._calls == self._at
        return self._calls == self._at

    def _hit(self, *named: Any) -> None:
        if self._fails():
            number = errno.EIO if self._kind == "EIO" else errno.ENOSPC
            raise OSError(number, os.strerror(number), *map(str, named[:1]))

    @contextmanager
    def injected(self) -> Iterator[None]:
        opens, writes, files = os.open, os.write, os.fdopen

        def open_(path: Any, flags: int, *more: Any, **named: Any) -> int:
            if flags & (os.O_WRONLY | os.O_RDWR):
                self._hit(path)
            return opens(path, flags, *more, **named)

        def write(descriptor: int, data: Any) -> int:
            if self._kind == "short" and self._fails():
                return writes(descriptor, bytes(data)[: len(data) // 2])
            if self._kind != "short":
                self._hit()
            return writes(descriptor, data)

        def failing(call: Callable[..., Any], *, is_named: bool) -> Callable[..., Any]:
            def called(*arguments: Any, **named: Any) -> Any:
                self._hit(*arguments if is_named else ())
                return call(*arguments, **named)

            return called

        def file(descriptor: int, mode: str = "r", *more: Any, **named: Any) -> Any:
            opened = files(descriptor, mode, *more, **named)
            return _File(opened, self._hit) if mode == "wb" else opened

        with pytest.MonkeyPatch.context() as patch:
            for name, fault in (
                ("open", open_),
                ("write", write),
                ("fsync", failing(os.fsync, is_named=False)),
                ("ftruncate", failing(os.ftruncate, is_named=False)),
                ("replace", failing(os.replace, is_named=True)),
                ("mkdir", failing(os.mkdir, is_named=True)),
                ("fdopen", file),
            ):
                patch.setattr(os, name, fault)
            yield


def files_of(folder: Path) -> dict[str, bytes]:
    """The files of the folder without the history, which is made anew from the rest."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not path.name.startswith("history.db")
    }


def prepare(folder: Path) -> None:
    for path in sorted(folder.rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()
    (folder / "evals").mkdir()
    (folder / "evalc.toml").touch()
    (folder / "evals" / "weather.eval.yaml").write_text(SUITE)


def statuses(folder: Path) -> dict[str, str]:
    found: dict[str, str] = {}
    for file in folder.glob("evals/results/*/*.json"):
        found |= {case["id"]: case["status"] for case in json.loads(file.read_bytes())["cases"]}
    return found


@pytest.mark.parametrize("kind", ["ENOSPC", "EIO", "short"])
def test_a_run_loses_nothing(invoke: Invoke, project: Path, kind: Kind) -> None:
    prepare(project)
    assert invoke("run", "--agent", "demo").code == 0
    expected = statuses(project)
    assert len(expected) == 3
    at = 0
    while True:
        at += 1
        prepare(project)
        faults = Faults(at, kind)
        with faults.injected():
            outcome = invoke("run", "--agent", "demo", "-o", "report.json")
        if not faults.happened:
            break
        runs = [journal.parent for journal in project.glob("evals/results/*/journal.jsonl")]
        assert outcome.code in {0, 70}, outcome.err
        assert "evalc broke" not in outcome.err
        assert not list(project.rglob("*.tmp")), at
        if outcome.code == 0:
            assert statuses(project) == expected, outcome.err
        elif runs:
            assert invoke("run", "--resume", runs[0].name, "--agent", "demo", str(project / "evals")).code == 0
            assert statuses(project) == expected
    assert at > 5


def begun(invoke: Invoke, project: Path, *, torn: bool = False) -> None:
    """A run that ended, or a torn journal."""
    assert invoke("run", "--agent", "demo").code == 0
    if torn:
        (journal,) = project.glob("evals/results/*/journal.jsonl")
        lines = journal.read_bytes().splitlines(keepends=True)
        journal.write_bytes(b"".join([*lines[:2], lines[2][:50]]))
        for result in journal.parent.glob("*.json"):
            result.unlink()


def in_shards(invoke: Invoke, project: Path) -> None:
    for part in ("1", "2"):
        assert invoke("run", "--agent", "demo", "--shard", f"{part}/2", "--output-dir", f"part-{part}").code == 0
        (run,) = (project / f"part-{part}").glob("*-*/")
        run.rename(project / f"shard-{part}")


PAST: dict[str, tuple[Callable[[Invoke, Path], None], Sequence[str]]] = {
    "finished": (begun, ("run", "--resume", "latest")),
    "torn": (partial(begun, torn=True), ("run", "--resume", "latest")),
    "rescored": (begun, ("rescore", "latest")),
    "merged": (in_shards, ("merge", "shard-1", "shard-2")),
    "recorded": (lambda *_: None, ("run", "--agent", "demo", "--record", "tape")),
}


@pytest.mark.parametrize("kind", ["ENOSPC", "EIO"])
@pytest.mark.parametrize("past", PAST)
def test_a_run_of_a_past_one_says_where_it_cannot_write(invoke: Invoke, project: Path, past: str, kind: Kind) -> None:
    prepared, words = PAST[past]
    at = 0
    while True:
        at += 1
        prepare(project)
        prepared(invoke, project)
        runs = [journal.parent.name for journal in project.glob("evals/results/*/journal.jsonl")]
        command = [runs[0] if word == "latest" else word for word in words]
        faults = Faults(at, kind)
        with faults.injected():
            outcome = invoke(*command)
        if not faults.happened:
            assert outcome.code == 0
            break
        assert outcome.code in {0, 70}, outcome.err
        if outcome.code == 70:
            assert re.search(r"error: .*`\S+`.*: (No space left on device|Input/output error)", outcome.err), (
                outcome.err
            )
        assert not list(project.rglob("*.tmp")), at
        assert invoke(*command).code == 0, at
        assert len(statuses(project)) == 3
    assert at > 20


@pytest.mark.parametrize("kind", ["ENOSPC", "EIO"])
@pytest.mark.parametrize(
    "command",
    [
        ("compile", "-o", "build"),
        ("lock",),
        ("fmt", "evals"),
        ("check", "--fix", "evals"),
        ("import", "promptfoo.yaml", "-o", "imported.eval.yaml"),
        ("init", "new"),
        ("schema", "-o", "schemas"),
        ("accept",),
        ("report", "-o", "report.html"),
    ],
    ids=lambda command: command[0],
)
def test_a_command_leaves_each_file_as_it_was_or_whole(
    invoke: Invoke, project: Path, command: tuple[str, ...], kind: Kind
) -> None:
    def prepared() -> None:
        prepare(project)
        (project / "evals" / "messy.eval.yaml").write_text(MESSY)
        (project / "promptfoo.yaml").write_text(PROMPTFOO)
        if command[0] in {"accept", "report"}:
            (project / "evals" / "messy.eval.yaml").unlink()
            assert invoke("run", "--agent", "demo").code == 0

    prepared()
    if command[0] in {"lock", "compile"}:
        (project / "evals" / "messy.eval.yaml").unlink()
    done = invoke(*command).code
    after = {name: content for name, content in files_of(project).items() if "results" not in name}
    at = 0
    while True:
        at += 1
        prepared()
        if command[0] in {"lock", "compile"}:
            (project / "evals" / "messy.eval.yaml").unlink()
        before = files_of(project)
        faults = Faults(at, kind)
        with faults.injected():
            outcome = invoke(*command)
        if not faults.happened:
            assert outcome.code == done
            break
        assert "evalc broke" not in outcome.err
        now = files_of(project)
        assert outcome.code == (done if now.keys() >= after.keys() and done == outcome.code else 70), outcome.err
        volatile = {name for name in now if name.endswith((".html", "baseline.json")) or "results" in name}
        wrong = [name for name in now if name not in volatile and now[name] not in (before.get(name), after.get(name))]
        assert (wrong, [name for name in now if name.endswith(".tmp")], before.keys() - now.keys()) == ([], [], set())
    assert at > 1
