"""A run that is killed, interrupted or out of disk, at whatever moment: resumed, it is what it would have been."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import time
from pathlib import Path

import pytest

from tests.faults.killing import Site, awaited_journal, finished, kill_until_finished, make_site

CASES = 500


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> tuple[Site, float]:
    """A run that nobody disturbed, and how many seconds it took."""
    site = make_site(tmp_path_factory.mktemp("undisturbed"), CASES)
    started = time.perf_counter()
    assert site.begin().wait() == 3
    return site, time.perf_counter() - started


def test_a_killed_run_is_finished_without_a_case_lost_doubled_or_asked_again(
    undisturbed: tuple[Site, float], tmp_path: Path
) -> None:
    whole, seconds = undisturbed
    site = make_site(tmp_path, CASES)
    outcome = kill_until_finished(site, random.Random(5), seconds / 2, kills=6)
    assert outcome.wrong == ()
    assert outcome.landed >= 1
    assert finished(site.results) == finished(whole.results)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_run_ends_in_order_and_is_finished_later(
    undisturbed: tuple[Site, float], tmp_path: Path, number: signal.Signals
) -> None:
    whole, seconds = undisturbed
    site = make_site(tmp_path, CASES)
    process = site.begin()
    journal = awaited_journal(site, process)
    time.sleep(random.Random(number).uniform(0, seconds / 3))  # the random moment
    process.send_signal(number)
    code = process.wait()
    # 3 where it had finished before; the signal's number where the interpreter was already on its way out.
    assert code in (130, 3, -number)
    assert journal.read_bytes().endswith(b"\n")
    assert "Traceback" not in site.output()
    is_reporting = len([*journal.parent.glob("*.json")]) == 2  # both suites were done, and it was saying so
    if code == 130 and not is_reporting:
        assert f"`evalc run --resume {journal.parent.name} --output-dir results` runs the rest" in site.output()
    assert site.start("--resume", "latest").wait() == 3
    assert finished(site.results) == finished(whole.results)


def test_a_full_disk_keeps_what_was_finished(undisturbed: tuple[Site, float], tmp_path: Path) -> None:
    whole, _ = undisturbed
    site = make_site(tmp_path, CASES)
    (journal,) = whole.results.glob("*/journal.jsonl")
    process = site.begin(largest_file=journal.stat().st_size // 2)
    assert process.wait() == 70
    assert "the run's journal cannot be written: File too large" in site.output()
    assert "Traceback" not in site.output()
    assert site.start("--resume", "latest").wait() == 3
    assert finished(site.results) == finished(whole.results)


def test_a_closed_pipe_takes_nothing_of_the_run(undisturbed: tuple[Site, float], tmp_path: Path) -> None:
    whole, _ = undisturbed
    site = make_site(tmp_path, CASES)
    process = site.begin("--json", stdout=subprocess.PIPE)
    assert process.stdout is not None
    process.stdout.close()
    assert process.wait() == 141
    assert finished(site.results) == finished(whole.results)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_may_not_be_written_ends_the_run_before_it_begins(tmp_path: Path) -> None:
    site = make_site(tmp_path, CASES)
    site.results.mkdir(mode=0o500)
    assert site.begin().wait() == 2
    assert "cannot be made: Permission denied" in site.output()
    assert site.asked() == []
