"""The front door: what matches, in time or not, from threads and event loops; and literal patterns."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evalc.ecma import regexp as ecma
from evalc.ecma.regexp import compile_pattern, escape
from evalc.ecma.regexp.nodes import PatternError, RegexpTimeout

CATASTROPHE = r"^(a+)+\1$"
LONG = "a" * 40 + "b"


@pytest.mark.parametrize(
    ("pattern", "flags", "text", "matches"),
    [
        ("b+", "", "abb", True),
        ("^b", "", "a\nb", False),
        ("^b", "m", "a\nb", True),
        ("^b", "m", "a\u2028b", True),
        ("a.b", "", "a\u2028b", False),
        (r"\s", "", "\ufeff", True),
        ("^.$", "", "😀", False),
        ("^.$", "u", "😀", True),
        (r"^\ud83d", "", "😀", True),
        (r"^\ud83d", "u", "😀", False),
        (r"^\ud83d$", "u", "\ud83d", True),
        ("\u212a", "i", "k", False),
        ("\u212a", "iu", "k", True),
        ("(?<=a)b", "", "ab", True),
        (r"(?<n>.)\k<n>", "", "abb", True),
        ("(?<n>a)|(?<n>b)", "", "b", True),
        ("(?i:a)b", "", "Ab", True),
        ("(?i:a)b", "", "AB", False),
        (r"\p{Script=Greek}", "u", "π", True),
        (r"[\p{L}--[a-z]]", "v", "a", False),
        (r"^\p{RGI_Emoji}$", "v", "👨‍👩‍👧", True),
        # What QuickJS itself takes for an error:
        ("a-b/(?=c)", "v", "a-b/c", True),
        (r"[\d-a--](?=c)", "", "-c", True),
    ],
)
def test_matches(pattern: str, flags: str, text: str, matches: bool) -> None:
    regexp = compile_pattern(pattern, flags)
    assert regexp.test(text, timeout=30) is matches
    assert asyncio.run(ecma.test_async(regexp, text, timeout=30)) is matches


def test_a_compiled_pattern_is_kept() -> None:
    assert compile_pattern("kept", "i") is compile_pattern("kept", "i")
    assert repr(compile_pattern("kept", "i")) == "Regexp(/kept/i)"


def test_a_malformed_pattern_is_refused() -> None:
    with pytest.raises(PatternError, match="`\\(` is never closed"):
        compile_pattern("(")


def test_an_unknown_script_is_the_engines_to_refuse() -> None:
    regexp = compile_pattern(r"-\p{Script=Nowhere}", "u")
    with pytest.raises(PatternError, match="script") as caught:
        regexp.test("a")
    assert (caught.value.offset, caught.value.end) == (0, 19)
    with pytest.raises(PatternError, match="script") as caught:
        asyncio.run(ecma.test_async(regexp, "a"))
    assert (caught.value.offset, caught.value.end) == (0, 19)


def test_a_catastrophic_pattern_ends_at_its_deadline_and_the_next_test_works() -> None:
    with pytest.raises(RegexpTimeout, match=r"did not end within 0\.1 s"):
        compile_pattern(CATASTROPHE).test(LONG, timeout=0.1)
    assert compile_pattern("(?<=a)b").test("ab", timeout=30)


def test_catastrophic_patterns_are_linear_in_re2() -> None:
    assert compile_pattern("^(a+)+$").test("a" * 100_000 + "b") is False


def test_a_long_text_reaches_the_engine_whole() -> None:
    assert compile_pattern("(?=x)x$").test("y" * 1_000_000 + "x", timeout=30)


def test_the_event_loop_goes_on_while_the_engine_works() -> None:
    async def main() -> list[str]:
        order: list[str] = []

        async def match() -> None:
            with pytest.raises(RegexpTimeout):
                await ecma.test_async(compile_pattern(CATASTROPHE), LONG, timeout=0.3)
            order.append("match")

        async def other() -> None:
            for _ in range(3):
                await asyncio.sleep(0)
            order.append("other")

        await asyncio.gather(match(), other())
        return order

    assert asyncio.run(main()) == ["other", "match"]


def test_threads_get_their_own_answers() -> None:
    def ask(number: int) -> bool:
        return compile_pattern(f"(?<=a){number}$").test(f"a{number}", timeout=30) and not compile_pattern(
            f"(?<=b){number}$"
        ).test(f"a{number}", timeout=30)

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(ask, range(200)))


@settings(deadline=None)
@given(st.text() | st.text(alphabet="^$\\.*+?()[]{}|/-&!, \n\ud83d\ude00az09\u2028"))
def test_an_escaped_text_matches_itself_alone(text: str) -> None:
    for before, flags in (("", ""), (r"\0", ""), (r"\cA", "u"), ("", "v")):
        lead = {"": "", r"\0": "\0", r"\cA": "\x01"}[before]
        regexp = compile_pattern(f"^{before}{escape(text)}$", flags)
        assert regexp.test(lead + text, timeout=30)
        assert not regexp.test(lead + text + "x", timeout=30)


@pytest.mark.parametrize(
    ("text", "pattern"),
    [
        ("", ""),
        ("type hint", r"\x74ype\x20hint"),
        ("(a|b)", r"\(a\|b\)"),
        ("a-z", r"\x61\x2dz"),
        ("\n\u2028\ud83d", r"\n\u2028\ud83d"),
        ("é😀", "é😀"),
    ],
)
def test_escapes(text: str, pattern: str) -> None:
    assert escape(text) == pattern


@pytest.mark.parametrize("flags", ["", "u", "v"])
def test_an_escaped_text_may_stand_in_a_class(flags: str) -> None:
    regexp = compile_pattern(f"^[{escape('^-]a&&')}]+$", flags)
    assert regexp.test("&a]-^")
    assert not regexp.test("b")
