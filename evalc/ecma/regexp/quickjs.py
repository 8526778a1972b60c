"""Matches patterns with QuickJS, whose backtracking may take longer than anyone will wait."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Final, final

from evalc.ecma.quickjs import Engine, EngineError
from evalc.ecma.regexp.nodes import PatternError, RegexpError, RegexpTimeout

_TEST: Final = """
((() => {
  const compiled = new Map();
  return (request) => {
    try {
      const [pattern, flags, text] = JSON.parse(request);
      const key = flags + "/" + pattern;
      let regexp = compiled.get(key);
      if (regexp === undefined) {
        if (compiled.size === 256) compiled.clear();
        compiled.set(key, (regexp = new RegExp(pattern, flags)));
      }
      return JSON.stringify(regexp.test(text));
    } catch (error) {
      return JSON.stringify({ error: error.name, message: error.message });
    }
  };
})())
"""


@final
class QuickJS(Engine):
    """The engine that matches patterns."""

    def __init__(self) -> None:
        super().__init__("regular expressions", _TEST)
        self._thread: ThreadPoolExecutor | None = None

    def test(self, pattern: str, flags: str, text: str, timeout: float) -> bool:
        """Whether `new RegExp(pattern, flags).test(text)`.

        Raises:
            PatternError: the engine refuses the pattern, all of it, as it is spelt here.
            RegexpTimeout: no answer within `timeout` seconds.
            RegexpError: the engine ran out of memory, crashed or could not be started.
        """
        try:
            answer = self.ask([pattern, flags, text], timeout)
        except TimeoutError as error:
            raise RegexpTimeout(timeout) from error
        except EngineError as error:
            raise RegexpError(str(error)) from error
        if isinstance(answer, bool):
            return answer
        if answer["error"] == "SyntaxError":
            raise PatternError(0, len(pattern), str(answer["message"]))
        raise RegexpError(f"the regular expression failed: {answer['message']}")

    async def test_async(self, pattern: str, flags: str, text: str, timeout: float) -> bool:
        """`test` without blocking the event loop."""
        if self._thread is None:
            # One thread: the worker answers one question at a time, and the loop's own threads stay free.
            self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="evalc-regexp")
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._thread, self.test, pattern, flags, text, timeout)

    def start_afresh(self) -> None:
        """Leave the thread to the parent, too."""
        super().start_afresh()
        self._thread = None


@cache
def engine() -> QuickJS:
    """The process's engine."""
    return QuickJS()
