"""Files that are made to hurt, given to `evalc check`: a diagnostic, exit code 2, soon, and in little memory."""

from __future__ import annotations

import os
import re
import resource
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

MEMORY = 1_000_000_000
"""Memory that a process may map, in bytes; Python and its libraries are some 300 MB of it."""
PATIENCE = 60.0
"""Seconds after which a process hangs: many times what any of these takes on a busy machine."""

SUITE = 'suite: a\neval:\n  test_cases:\n    - name: b\n      message: hi\n      validate: [contains "x"]\n'


class Ended(NamedTuple):
    """How a process ended: its exit code, the codes that it printed, and all that it printed."""

    exit_code: int
    codes: set[str]
    printed: str


def limited() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


def check(*paths: str, folder: Path) -> Ended:
    """`evalc check PATHS` in a folder, with bounded memory and time."""
    done = subprocess.run(
        [sys.executable, "-m", "evalc", "check", *paths],
        cwd=folder,
        capture_output=True,
        timeout=PATIENCE,
        preexec_fn=limited,
        check=False,
    )
    printed = done.stdout.decode() + done.stderr.decode()
    return Ended(done.returncode, set(re.findall(r"\[(EV\d{3})\]", printed)), printed)


def bomb(times: int = 9) -> str:
    """Each line stands for the one above ten times."""
    lines = ["a0: &a0 [lol, lol, lol, lol, lol, lol, lol, lol, lol, lol]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, times)]
    return "x-bomb:\n" + "".join(f"  {line}\n" for line in lines) + SUITE


def merge_bomb(times: int = 40) -> str:
    """Each line merges the one above twice."""
    lines = ["m0: &m0 {a: 1}", *(f"m{n}: &m{n} {{b{n}: [*m{n - 1}, *m{n - 1}]}}" for n in range(1, times))]
    return "x-bomb:\n" + "".join(f"  {line}\n" for line in lines) + SUITE


TEXTS: dict[str, tuple[bytes, set[str]]] = {
    "a bomb of aliases": (bomb().encode(), {"EV611"}),
    "a bomb of aliases in pairs": (merge_bomb().encode(), {"EV611"}),
    "flow lists in lists": (SUITE.encode() + b"x-a: " + b"[" * 10_000, {"EV610"}),
    "mappings in mappings": (SUITE.encode() + b"x-a:" + b" {a:" * 10_000, {"EV610"}),
    "blocks in blocks": (
        SUITE.encode() + b"x-a:\n" + b"".join(b" " * depth + b"a:\n" for depth in range(1, 3_000)),
        {"EV610"},
    ),
    "dashes in dashes": (SUITE.encode() + b"x-a:\n  " + b"- " * 10_000, {"EV610"}),
    "a scalar of 20 MB": (SUITE.encode() + b"x-long: " + b"a" * 20_000_000 + b"\nsuite: b\n", {"EV111"}),
    "a quote that is never closed": (SUITE.encode() + b'x-long: "' + b"a " * 2_000_000, {"EV103"}),
    "a check of 5 MB": (SUITE.replace('contains "x"', "contains " + "x" * 5_000_000).encode(), {"EV139"}),
    "parentheses in a check": (SUITE.replace('contains "x"', "(" * 20_000).encode(), {"EV131"}),
    "a pattern of nested groups": (
        SUITE.replace('[contains "x"]', "['matches /" + "(" * 5_000 + ")" * 5_000 + "/']").encode(),
        {"EV306"},
    ),
    "tags in a message": (SUITE.replace("hi", "'" + "{{#if a}}" * 20_000 + "'").encode(), {"EV139"}),
    "invalid UTF-8": (SUITE.replace("hi", "caf").encode().replace(b"caf", b"caf\xe9"), {"EV605"}),
    "UTF-16": (SUITE.encode("utf-16"), {"EV606"}),
    "a NUL byte": (SUITE.replace("hi", "h\0i").encode(), {"EV607"}),
    "nothing but NUL bytes": (b"\0" * 100_000, {"EV607"}),
    "a control character": (SUITE.replace("hi", "h\x07i").encode(), {"EV110"}),
    "a terminal's escape": (SUITE.replace("suite: a", "suite: \x1b[31mred").encode(), {"EV110", "EV308"}),
    "more than 32 MB": (SUITE.encode() + b"# long\n" * 5_000_000, {"EV604"}),
    "an alias of itself": (SUITE.encode() + b"x-a: &a [*a]\n", {"EV115"}),
    "a number of many digits": (SUITE.encode() + b"threshold: " + b"9" * 100_000 + b"\n", {"EV119"}),
}


@pytest.mark.parametrize(("text", "codes"), TEXTS.values(), ids=TEXTS)
def test_a_hostile_text(text: bytes, codes: set[str], tmp_path: Path) -> None:
    (tmp_path / "a.eval.yaml").write_bytes(text)
    ended = check("a.eval.yaml", folder=tmp_path)
    assert (ended.exit_code, ended.codes) == (2, codes), ended.printed[:2_000]
    assert "Traceback" not in ended.printed
    assert "\x1b[31mred" not in ended.printed
    assert len(ended.printed) < 20_000


JSON_TEXTS: dict[str, tuple[bytes, set[str]]] = {
    "lists in lists": (b"[" * 10_000 + b"]" * 10_000, {"EV610"}),
    "objects in objects": (b'{"cases":' * 10_000, {"EV610"}),
    "a text of 20 MB": (b'{"metadata": {}, "cases": ["' + b"a" * 20_000_000, {"EV127"}),
    "a number of many digits": (b'{"metadata": {}, "cases": [' + b"9" * 100_000 + b"]}", {"EV128"}),
    "half of a character": (b'{"metadata": {}, "cases": ["\\ud800"]}', {"EV129"}),
}


@pytest.mark.parametrize(("text", "codes"), JSON_TEXTS.values(), ids=JSON_TEXTS)
def test_a_hostile_json_text(text: bytes, codes: set[str], tmp_path: Path) -> None:
    (tmp_path / "a.json").write_bytes(text)
    ended = check("a.json", folder=tmp_path)
    assert ended.exit_code == 2
    assert codes <= ended.codes, ended.printed[:2_000]
    assert "Traceback" not in ended.printed


def a_pipe(path: Path) -> None:
    os.mkfifo(path)


def a_folder(path: Path) -> None:
    path.mkdir()


def a_loop(path: Path) -> None:
    path.symlink_to(path.name)


def a_loop_of_two(path: Path) -> None:
    path.symlink_to("other")
    (path.parent / "other").symlink_to(path.name)


def a_device(path: Path) -> None:
    path.symlink_to("/dev/zero")


def a_dangling_link(path: Path) -> None:
    path.symlink_to("nowhere")


@pytest.mark.parametrize(
    ("make", "code"),
    [
        (a_pipe, "EV601"),
        (a_loop, "EV603"),
        (a_loop_of_two, "EV603"),
        (a_device, "EV618"),
        (a_dangling_link, "EV600"),
    ],
)
def test_a_path_that_is_no_file(make: Callable[[Path], None], code: str, tmp_path: Path) -> None:
    make(tmp_path / "a.eval.yaml")
    ended = check("a.eval.yaml", folder=tmp_path)
    assert (ended.exit_code, ended.codes) == (2, {code}), ended.printed


@pytest.mark.parametrize("make", [a_pipe, a_folder, a_loop, a_device])
def test_a_search_passes_what_is_no_file(make: Callable[[Path], None], tmp_path: Path) -> None:
    make(tmp_path / "a.eval.yaml")
    (tmp_path / "b.eval.yaml").write_text(SUITE)
    ended = check(".", folder=tmp_path)
    assert "Traceback" not in ended.printed
    assert ended.codes <= {"EV601", "EV603", "EV618"}


def test_a_folder_that_leads_back_to_itself(tmp_path: Path) -> None:
    (tmp_path / "b.eval.yaml").write_text(SUITE)
    (tmp_path / "again").symlink_to(tmp_path, target_is_directory=True)
    ended = check(".", folder=tmp_path)
    assert (ended.exit_code, ended.codes) == (0, {"EV616"}), ended.printed


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(b"\xef\xbb\xbf" + SUITE.encode(), id="a byte order mark"),
        pytest.param(SUITE.replace("\n", "\r\n").encode(), id="CRLF"),
        pytest.param(SUITE.rstrip().encode(), id="no end of line"),
    ],
)
def test_sources_that_only_look_hostile_are_read(text: bytes, tmp_path: Path) -> None:
    (tmp_path / "a.eval.yaml").write_bytes(text)
    assert check("a.eval.yaml", folder=tmp_path)[:2] == (0, set())


def test_lines_are_counted_behind_a_byte_order_mark_and_crlf(tmp_path: Path) -> None:
    text = SUITE.replace("contains", "contians").replace("\n", "\r\n")
    (tmp_path / "a.eval.yaml").write_bytes(b"\xef\xbb\xbf" + text.encode())
    ended = check("a.eval.yaml", folder=tmp_path)
    assert "a.eval.yaml:6:18" in ended.printed, ended.printed
    assert ended.codes == {"EV203"}
