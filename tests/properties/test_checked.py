"""A check by several processes finds what a check by one does: in whole projects, in damaged ones, in the corpus."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import count
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evalc.compiler import sound
from evalc.compiler.checked import check_sources
from evalc.compiler.options import CompileOptions
from evalc.compiler.pipeline import Compiler, Text, compile_sources
from evalc.compiler.sound import find_sound
from evalc.dsl.parts import parts_of
from evalc.source import Source
from tests.corpus.mistakes import MISTAKES, VALID
from tests.corpus.test_corpus import VALID_FILES
from tests.properties.drawing.suites import Project, projects

OPTIONS = CompileOptions()


@pytest.fixture(autouse=True)
def told(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[int]]:
    """What the shares of the processes come to, computed here one after the other; how many they were each time."""
    shares: list[int] = []

    def one_by_one(work: Callable[[object], bytes], pieces: Sequence[object]) -> Iterator[bytes]:
        shares.append(len(pieces))
        yield from map(work, pieces)

    monkeypatch.setattr(sound, "side_by_side", one_by_one)
    yield shares
    assert shares  # else nothing was tried


def found(subjects: Sequence[Path | Source], processes: int) -> tuple[list[str], int]:
    """The problems, and how many eval files there were."""
    if processes == 1:
        compilation = compile_sources(subjects, OPTIONS)
    else:
        compilation = check_sources(subjects, OPTIONS, processes=processes, least=1)
    return [f"{problem}{problem.span}{problem.note}" for problem in compilation.problems], compilation.files


@st.composite
def damaged(draw: st.DrawFn, text: str) -> str:
    """The text with a few of its lines left out, written twice, moved or merged with the next."""
    lines = text.splitlines(keepends=True)
    for _ in range(draw(st.integers(1, 3))):
        at = draw(st.integers(0, len(lines) - 1))
        match draw(st.sampled_from(["out", "twice", "moved", "in", "cut"])):
            case "out" if len(lines) > 1:
                del lines[at]
            case "twice":
                lines.insert(at, lines[at])
            case "moved":
                lines.insert(draw(st.integers(0, len(lines) - 1)), lines.pop(at))
            case "in":
                lines[at] = f" {lines[at]}"
            case _:
                lines[at] = lines[at][: len(lines[at]) // 2].rstrip("\n") + "\n"
    return "".join(lines)


@settings(max_examples=300)
@given(project=projects(max_cases=5), data=st.data())
def test_a_drawn_project_has_the_same_problems(
    tmp_path_factory: pytest.TempPathFactory, project: Project, data: st.DataObject
) -> None:
    main = project.write(tmp_path_factory.mktemp("project"))
    processes = data.draw(st.integers(2, 5))
    assert found([main], processes) == found([main], 1)
    main.write_text(data.draw(damaged(project.files[project.main])), encoding="utf-8", newline="")
    assert found([main], processes) == found([main], 1)


def test_the_mistakes_of_the_corpus_are_the_same(told: list[int]) -> None:
    for mistake in MISTAKES:
        if not mistake.base.endswith((".toml", ".json")):
            source = Source(str(VALID / mistake.base), mistake.text)
            assert found([source], 3) == found([source], 1), mistake.what
    assert len(told) > 200


def test_files_that_are_sound_in_themselves_may_clash() -> None:
    text = "suite: {name}\neval: {{test_cases: [{{name: a, message: Hi, validate: ['contains \"a\"']}}]}}\n"
    sources = [Source(f"{n}.eval.yaml", text.format(name=name)) for n, name in enumerate(["s", "other", "s"])]
    problems, files = found(sources, 3)
    assert (problems, files) == found(sources, 1)
    assert [problem[: len("2.eval.yaml:1:8")] for problem in problems] == ["2.eval.yaml:1:8"]


def test_whole_folders_have_the_same_problems(tmp_path: Path) -> None:
    numbers = count()
    for path in VALID_FILES:
        (tmp_path / path.name).write_bytes(path.read_bytes())
    for mistake in MISTAKES[::20]:
        if mistake.base.endswith(".eval.yaml"):
            (tmp_path / f"{next(numbers)}.eval.yaml").write_text(mistake.text, encoding="utf-8", newline="")
    assert found([tmp_path], 4) == found([tmp_path], 1)
    assert next(numbers) > 5


def suite(*cases: str, head: str = "") -> str:
    """A suite of these cases, each with a check."""
    written = (f'    - {{{case}, validate: [contains "{n}"]}}\n' for n, case in enumerate(cases))
    return f"suite: s\n{head}eval:\n  test_cases:\n{''.join(written)}"


ASKS = "prompt: 'Say {{word}} to {{name}}'\n"
GIVES = "inputs: {word: hi, name: you}"
SOUND = suite(*(f"name: {n}, {GIVES}" for n in "abcdef"), head=ASKS)
CLASHING = {
    "names in several parts": suite(*(f"name: {n}, message: Hi" for n in "abca")),
    "ids in several parts": suite(*(f"name: {n}, id: i{n % 3}, message: Hi" for n in range(4))),
    "an id that a name makes": suite("name: a, message: Hi", "name: b, message: Hi", "name: c, id: s/a, message: Hi"),
}


def test_a_suite_is_sound_in_all_its_parts() -> None:
    source = Source("s.eval.yaml", SOUND)
    ((_, facts),) = find_sound([Text(source, named=True)], Compiler(OPTIONS), 4).items()
    assert facts.is_eval
    assert facts.outputs == ("s.labeled.json",)
    assert len(facts.names) == len(facts.ids) == 6
    assert len(parts_of(SOUND, 4)) == 4
    assert found([source], 4) == ([], 1)


def test_an_input_that_only_other_parts_give_is_missing() -> None:
    text = suite(*(f"name: {n}, {GIVES}" for n in "abc"), "name: d, inputs: {word: 1}", head=ASKS)
    source = Source("s.eval.yaml", text)
    problems, files = found([source], 4)
    assert (problems, files) == found([source], 1)
    assert len(problems) == 1


@pytest.mark.parametrize("text", CLASHING.values(), ids=CLASHING)
def test_parts_that_are_sound_in_themselves_may_clash(text: str) -> None:
    source = Source("s.eval.yaml", text)
    assert find_sound([Text(source, named=True)], Compiler(OPTIONS), 4) == {}
    for part in parts_of(text, 4):
        Compiler(OPTIONS).of_sound_texts().add(Text(Source("s.eval.yaml", part), named=True))
    problems, files = found([source], 4)
    assert (problems, files) == found([source], 1)
    assert problems
