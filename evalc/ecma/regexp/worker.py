"""The worker process of QuickJS: reads a pattern, flags and a text a line, and answers a line each.

Run as a program, `python worker.py FOLDER`, FOLDER being where the package `quickjs` lies. It ends when its input does.
"""

from __future__ import annotations

import signal
import sys

_TEST = """
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


def main() -> None:
    """Answer requests until there are no more."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides when to end, and may still have questions
    # Isolated, the interpreter sees the standard library alone; the engine's folder is all that it needs beside it.
    sys.path.append(sys.argv[1])
    import quickjs  # type: ignore[import-untyped]  # noqa: PLC0415 - found only now

    context = quickjs.Context()
    context.set_memory_limit(512 * 1024 * 1024)
    test = context.eval(_TEST)
    answers = sys.stdout.buffer
    answers.write(b"ready\n")
    answers.flush()
    for line in sys.stdin.buffer:
        seconds, _, request = line.partition(b" ")
        # The parent ends this process at the deadline. Should the parent be gone by then, the alarm does it.
        signal.setitimer(signal.ITIMER_REAL, float(seconds) + 1)
        answer = test(request.decode("ascii"))
        signal.setitimer(signal.ITIMER_REAL, 0)
        answers.write(answer.encode("utf-8", "backslashreplace") + b"\n")
        answers.flush()


if __name__ == "__main__":
    main()
