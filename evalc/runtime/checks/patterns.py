"""Evaluates a pattern by ECMAScript's rules within a bounded time."""

from __future__ import annotations

from evalc.ecma.regexp import PatternError, RegexpError, RegexpTimeout, compile_pattern, test_async
from evalc.model import checks as c
from evalc.runtime.checks.verdict import PASSED, Evidence, Verdict, broken, failed
from evalc.runtime.checks.wording import quoted, shown


async def regex(check: c.Regex, evidence: Evidence) -> Verdict:
    """Contract, 7. responseMatches."""
    return await matches(check.pattern, check.flags, evidence.response, "response")


async def matches(pattern: str, flags: str, text: str, name: str) -> Verdict:
    """`new RegExp(pattern, flags).test(text)`; `name` is what messages call the text."""
    try:
        found = await test_async(compile_pattern(pattern, flags), text)
    except RegexpTimeout as error:
        return broken(f"/{shown(pattern)}/{flags} ran longer than {error.timeout:g} s")
    except PatternError as error:
        return broken(f"/{shown(pattern)}/{flags} is not a regular expression: {shown(str(error))}")
    except RegexpError as error:
        return broken(f"/{shown(pattern)}/{flags} gave no answer: {shown(str(error))}")
    if found:
        return PASSED
    return failed(f"expected {name} to match /{shown(pattern)}/{flags} but got {quoted(text)}")
