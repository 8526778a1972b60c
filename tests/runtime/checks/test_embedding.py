"""`similar` by meaning: the cosine of embeddings, where the configuration says so and nowhere else."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

import pytest

from evalc.base.errors import UsageError
from evalc.check.tree import Test
from evalc.config.load import Override, load_settings
from evalc.runtime.checks import Embeddings, Evidence, Verdict, View
from evalc.runtime.checks.evaluate import evaluate
from evalc.runtime.checks.similarity import by_meaning, load_embeddings
from evalc.setup.runner import options_of

VECTORS = {"rain": (1.0, 0.0), "wet": (0.8, 0.6), "cheese": (0.0, 1.0), "dry": (-1.0, 0.0), "almost": (1.0 + 1e-9, 0.0)}


def encode(texts: Sequence[str]) -> list[tuple[float, float]]:
    return [VECTORS[text] for text in texts]


def verdict(response: str, threshold: float, embeddings: Embeddings | None = None) -> Verdict:
    check = Test("similar", ("rain", threshold))
    return asyncio.run(
        evaluate(check, View.of(Evidence(response=response, embeddings=embeddings or by_meaning(encode))))
    )


@pytest.mark.parametrize(("response", "cosine"), [("wet", 0.8), ("cheese", 0.0), ("dry", 0.0), ("almost", 1.0)])
def test_the_similarity_is_the_cosine_from_0_to_1(response: str, cosine: float) -> None:
    assert by_meaning(encode)("rain", response) == cosine


def test_equal_texts_are_not_even_embedded() -> None:
    assert by_meaning(lambda _: pytest.fail("embedded"))("unknown", "unknown") == 1.0


def test_the_threshold_is_reached_or_not() -> None:
    assert verdict("wet", 0.8).outcome == "passed"
    failed = verdict("wet", 0.81)
    assert failed.outcome == "failed"
    assert failed.message == "expected response to be at least 0.81 similar to 'rain' in meaning but it is 0.8: 'wet'"


def test_it_takes_configuration(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    loaded = by_meaning(encode)
    monkeypatch.setattr("evalc.setup.runner.load_embeddings", lambda: loaded)

    def configured(**given: str) -> Embeddings | None:
        settings, problems = load_settings(tmp_path, None, [Override(*item, item[0]) for item in given.items()])
        assert not problems
        return asyncio.run(options_of(settings, {}, None)).embeddings

    assert configured() is None, "whatever is installed"
    assert configured(similarity="edit-distance") is None
    assert configured(similarity="embeddings") is loaded


def test_the_command_that_installs_them_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("evalc.runtime.checks.similarity.find_spec", lambda _: None)
    with pytest.raises(UsageError, match=r"pip install 'evalc\[embeddings\]'"):
        load_embeddings()
