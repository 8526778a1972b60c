"""Judgements that are kept: what they are kept under, and what becomes of spoilt ones."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest

from evalc.model.answer import Exhibit, Question
from evalc.runtime.judges.cache import JudgeCache, cache_key, key_of
from evalc.runtime.judges.model import Score
from evalc.runtime.judges.panel import Meter
from evalc.runtime.store.redact import Redactor
from tests.runtime.judges.scripted import EXHIBIT, TONE, ScriptedJudge, panel, says, score


def entries(folder: Path) -> list[Path]:
    return sorted(folder.glob("*/*.json"))


def test_kept_judgements_are_not_asked_again(tmp_path: Path) -> None:
    judge, cache, meter = ScriptedJudge(says(4, 1)), JudgeCache(tmp_path), Meter()
    first = score(panel(judge, cache=cache), meter=meter)
    assert score(panel(judge, cache=cache), meter=meter) == first
    assert (len(judge.asked), judge.sessions) == (1, 1), "a session is not even opened"
    assert (meter.requests, meter.cached) == (1, 1)
    assert (tmp_path / ".gitignore").read_text().endswith("*\n")


@pytest.mark.parametrize(
    ("question", "exhibit"),
    [
        ({"name": "other"}, {}),
        ({"criteria": "Is it kind"}, {}),
        ({"max_score": 4}, {}),
        ({}, {"response": "Sunny"}),
        ({}, {"message": "?"}),
        ({}, {"messages": ({"role": "user", "content": "?"},)}),
        ({}, {"expected": "Sun"}),
        ({}, {"reference_data": {"a": 1}}),
        ({}, {"tool_calls": ({"name": "t", "params": {}},)}),
    ],
)
def test_whatever_a_judge_looks_at_is_part_of_the_key(question: dict[str, Any], exhibit: dict[str, Any]) -> None:
    identity = {"judge": "j"}
    changed = key_of(
        identity, 0, msgspec.structs.replace(TONE, **question), msgspec.structs.replace(EXHIBIT, **exhibit)
    )
    assert changed != key_of(identity, 0, TONE, EXHIBIT) == key_of({"judge": "j"}, 0, TONE, EXHIBIT)


def test_judge_options_and_seat_are_part_of_the_key() -> None:
    keys = {
        key_of(identity, sample, TONE, EXHIBIT)
        for identity in ({"judge": "a"}, {"judge": "b"}, {"judge": "a", "sampling": {"temperature": 0}})
        for sample in (0, 1)
    }
    assert len(keys) == 6


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"\xff",
        b"[]",
        b'{"score": 9, "reason": "", "judge": "", "question": ""}',
        b'{"score": "5"}',
        b"[" * 9999,
    ],
)
def test_a_spoilt_entry_is_asked_for_again_and_written_anew(tmp_path: Path, content: bytes) -> None:
    judge, cache = ScriptedJudge(says(4)), JudgeCache(tmp_path)
    score(panel(judge, cache=cache))
    (entry,) = entries(tmp_path)
    good = entry.read_bytes()
    entry.write_bytes(content)
    assert score(panel(judge, cache=cache)).score == 4
    assert (len(judge.asked), entry.read_bytes()) == (2, good)


def test_a_planted_judgement_decides_nothing(tmp_path: Path) -> None:
    """One from another user, one of this user's for another question, and one changed by hand."""
    judge = ScriptedJudge(says(4))
    ours, theirs = (JudgeCache(tmp_path, environ={"EVALC_CACHE_KEY": key * 16}) for key in ("a", "b"))
    assert score(panel(judge, cache=theirs)).score == 4
    (entry,) = entries(tmp_path)
    assert score(panel(judge, cache=ours)).score == 4
    assert len(judge.asked) == 2
    assert ours.get("ab" * 32, TONE) is None
    (tmp_path / "ab").mkdir()
    (tmp_path / "ab" / f"{'ab' * 31}.json").write_bytes(entry.read_bytes())
    assert ours.get("ab" * 32, TONE) is None, "it was given for something else"
    entry.write_bytes(entry.read_bytes().replace(b'"score":4', b'"score":5'))
    assert score(panel(judge, cache=ours)).score == 4
    assert len(judge.asked) == 3


def test_the_key_of_a_user_is_made_once_and_is_nobody_elses(tmp_path: Path) -> None:
    environ = {"XDG_STATE_HOME": str(tmp_path / "state")}
    key = cache_key(environ)
    file = tmp_path / "state" / "evalc" / "judge-cache.key"
    assert key == file.read_bytes() == cache_key(environ)
    assert len(key) == 32
    assert file.stat().st_mode & 0o077 == 0
    assert cache_key({"XDG_STATE_HOME": str(tmp_path / "other")}) != key
    assert cache_key({**environ, "EVALC_CACHE_KEY": "k" * 16}) == b"k" * 16


def test_without_a_key_nothing_is_kept_or_taken(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for environ in ({"XDG_STATE_HOME": str(tmp_path / "file")}, {"EVALC_CACHE_KEY": "short"}):
        judge, cache = ScriptedJudge(says(4)), JudgeCache(tmp_path / "cache", environ=environ)
        assert score(panel(judge, cache=cache)).score == score(panel(judge, cache=cache)).score == 4
        assert (len(judge.asked), entries(tmp_path / "cache")) == (2, [])


def test_failed_judgements_are_not_kept(tmp_path: Path) -> None:
    judge, cache = ScriptedJudge(says("no", "no", 3)), JudgeCache(tmp_path)
    with pytest.raises(Exception, match="twice"):
        score(panel(judge, cache=cache))
    assert entries(tmp_path) == []
    assert score(panel(judge, cache=cache)).score == 3


def test_code_is_asked_every_time(tmp_path: Path) -> None:
    judge, cache = ScriptedJudge(says(4), cached=False), JudgeCache(tmp_path)
    score(panel(judge, cache=cache))
    score(panel(judge, cache=cache))
    assert (len(judge.asked), entries(tmp_path)) == (2, [])


def test_samples_of_one_judge_are_kept_apart(tmp_path: Path) -> None:
    judge, cache = ScriptedJudge(says(1, 5, 4)), JudgeCache(tmp_path)
    first = score(panel(judge, samples=3, cache=cache))
    assert len(entries(tmp_path)) == 3
    assert score(panel(judge, samples=3, cache=cache)) == first
    assert len(judge.asked) == 3


def test_secrets_are_struck_out_of_what_is_written(tmp_path: Path) -> None:
    cache = JudgeCache(tmp_path, Redactor(["hunter2-hunter2"]))
    cache.put("ab" * 32, Score(1, "it says hunter2-hunter2"), judge="j", question=TONE)
    (entry,) = entries(tmp_path)
    assert b"hunter2" not in entry.read_bytes()
    assert cache.get("ab" * 32, TONE) == Score(1, "it says ***")


def test_a_folder_that_cannot_be_written_only_costs_the_cache(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    cache = JudgeCache(tmp_path / "file" / "cache")
    assert score(panel(ScriptedJudge(says(4)), cache=cache)).score == 4


def test_a_score_of_another_scale_is_no_answer(tmp_path: Path) -> None:
    cache = JudgeCache(tmp_path)
    cache.put("ab" * 32, Score(4, ""), judge="j", question=TONE)
    assert cache.get("ab" * 32, Question(name="tone", max_score=1)) is None
    assert cache.get("cd" * 32, TONE) is None
    assert isinstance(EXHIBIT, Exhibit)
