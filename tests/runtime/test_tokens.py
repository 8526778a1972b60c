"""Seed manifests and snapshots: read, taken from files, URLs and code, and refused with clear words."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import Any

import pytest

from evalc.base.errors import UsageError
from evalc.runtime.run.tokens import capture_snapshot, load_object, parse_object


def test_an_object_is_read(tmp_path: Path) -> None:
    (tmp_path / "s.json").write_text('\ufeff{"a": [1.5, null]}')
    assert load_object(tmp_path / "s.json", "snapshot") == {"a": [1.5, None]}


@pytest.mark.parametrize(
    ("data", "where"),
    [
        (b'{\n "a": oops}', "s.json:2:7"),
        (b"[1]", "s.json:1:1"),
        (b'{"a": NaN}', "s.json"),
        (b'{"a":\n "\xff"}', "s.json:2"),
        (b"", "s.json:1:1"),
        (b"[" * 100_000, "s.json"),
        (b'{"a": ' + b"9" * 5000 + b"}", "s.json"),
    ],
)
def test_all_else_is_refused_with_its_place(tmp_path: Path, data: bytes, where: str) -> None:
    (tmp_path / "s.json").write_bytes(data)
    with pytest.raises(UsageError) as caught:
        load_object(tmp_path / "s.json", "snapshot")
    assert str(caught.value).startswith(f"{tmp_path}/{where}: the ")


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    for path in (tmp_path / "gone.json", tmp_path):
        with pytest.raises(UsageError, match=r"cannot be read|is a folder, not a file"):
            load_object(path, "snapshot")


def test_a_snapshot_from_elsewhere_names_its_origin() -> None:
    assert parse_object(b"{}", "snapshot", "http://x/") == {}
    with pytest.raises(UsageError, match="http://x/:1:1: the snapshot is not a JSON object"):
        parse_object(b"1", "snapshot", "http://x/")


def test_an_endless_file_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("evalc.runtime.run.tokens.JSON_LIMIT", 1_000)
    with pytest.raises(UsageError, match=r"`/dev/zero` is a device, not a file"):
        load_object(Path("/dev/zero"), "snapshot")
    (tmp_path / "large.json").write_text(" " * 1_001)
    with pytest.raises(UsageError, match=r"is larger than 0 MB"):
        load_object(tmp_path / "large.json", "snapshot")


MODULE = """
import asyncio, os, threading

def plain():
    return {"price": 178.5, "here": os.path.basename(os.getcwd())}

async def waiting():
    await asyncio.sleep(0)
    return {"price": 2}

class Source:
    @staticmethod
    def capture():
        return {"price": 3}

def breaks():
    raise ValueError("no market today")

def leaves():
    raise SystemExit(0)

def a_list():
    return [1]

def a_set():
    return {"a": {1}}

def a_nan():
    return {"a": float("nan")}

def round():
    value = {}
    value["self"] = value
    return value

def large():
    return {"a": "x" * 5000}

def hangs():
    threading.Event().wait()

def wants(one):
    return {}

number = 3
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project whose root has the module `live_data`."""
    (tmp_path / "live_data.py").write_text(MODULE)
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.setattr("evalc.runtime.run.tokens._MAX_BODY", 4000)
    return tmp_path


def captured(source: str, project: Path) -> dict[str, Any]:
    return asyncio.run(capture_snapshot(source, project_root=project))


@pytest.mark.parametrize(("name", "price"), [("plain", 178.5), ("waiting", 2), ("Source.capture", 3)])
def test_snapshots_from_functions(project: Path, name: str, price: float) -> None:
    assert captured(f"python:live_data:{name}", project)["price"] == price


def test_snapshots_from_programs_in_the_project(project: Path) -> None:
    script = "import json, os; print(json.dumps({'price': 1, 'here': os.listdir()}))"
    snapshot = captured(f'command:{sys.executable} -c "{script}"', project)
    assert snapshot["price"] == 1
    assert "live_data.py" in snapshot["here"]


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("breaks", r"ValueError: no market today \(live_data.py:17\)"),
        ("leaves", r"SystemExit: 0"),
        ("a_list", r"the snapshot is not a JSON object"),
        ("a_set", r"what it returns is not JSON: TypeError: Object of type set"),
        ("a_nan", r"what it returns is not JSON: ValueError: Out of range float"),
        ("round", r"what it returns is not JSON: ValueError: Circular"),
        ("large", r"it is longer than 4000 bytes"),
        ("wants", r"TypeError: wants\(\) missing 1 required"),
        ("number", r"is a `int`, not a function"),
        ("plane", r"has no `plane`; there is `plain`"),
    ],
)
def test_a_function_that_gives_no_snapshot(project: Path, name: str, words: str) -> None:
    with pytest.raises(UsageError, match=f"^the snapshot from `python:live_data:{name}`:.*{words}"):
        captured(f"python:live_data:{name}", project)


@pytest.mark.parametrize(
    ("script", "words"),
    [
        ("import sys; sys.exit('no market today')", "exit status 1: no market today$"),
        ("print([1])", "the snapshot is not a JSON object$"),
        ("print('price')", "1:1: the snapshot is not JSON"),
        ("pass", "the snapshot is not JSON"),
        ("print('{' + 5000 * ' ' + '}')", "longer than 4000 bytes$"),
    ],
)
def test_a_program_that_gives_no_snapshot(project: Path, script: str, words: str) -> None:
    with pytest.raises(UsageError, match=f"^the snapshot's command:.*{words}"):
        captured(f'command:{sys.executable} -c "{script}"', project)


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("command:no-such-program-here", "the program `no-such-program-here` does not exist"),
        ("command:", "the command names no program"),
        ("python:live_data", "is not of the form `python:module:name`"),
        ("python:no_such_module_here:x", "`no_such_module_here` cannot be imported: ModuleNotFoundError"),
    ],
)
def test_code_that_is_not_there(project: Path, source: str, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        captured(source, project)


@pytest.mark.parametrize(
    "source",
    [
        "python:live_data:hangs",
        f'command:{sys.executable} -c "import threading; threading.Event().wait()"',
    ],
)
def test_code_that_never_ends_is_left(project: Path, source: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("evalc.runtime.run.tokens._SECONDS", 0.2)
    with pytest.raises(UsageError, match=r": nothing arrived within 0\.2 s$"):
        captured(source, project)
