"""Runs functions that files of JavaScript export, in QuickJS: with what they are given, and nothing else.

What Node has and the engine has not, such as `require` and `fetch`, ends the call in an error, even where the code
catches it: what it then returned would be no verdict. So do texts that depend on a language, of which the engine
knows none, and dates that engines read differently.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from functools import cache
from hashlib import sha256
from typing import Any, Final

from evalc.ecma.quickjs import Engine, EngineError

TIMEOUT: Final = 10.0
"""The seconds that a call may take."""

_PROGRAM: Final = r"""
var $answer;
((([names, methods, keys]) => {
  const parse = JSON.parse, stringify = JSON.stringify, apply = Reflect.apply;
  let missing = "";
  const lacks = (what) => { missing ||= what; throw new Error(missing); };
  const refuse = (object, name, what) =>
    Object.defineProperty(object, name, { configurable: true, get: () => lacks(what ?? "`" + name + "`") });
  for (const name of names) refuse(globalThis, name);
  for (const type of [Array, BigInt, Date, Number, String])
    for (const name of methods) if (name in type.prototype) refuse(type.prototype, name);
  const isDate = /^[+-]?\d{4,6}(-\d\d(-\d\d)?)?(T\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)?)?$/;
  const read = (text) =>
    typeof text !== "string" || isDate.test(text) || lacks("a `Date` of a text that is not ISO 8601");
  const parseDate = Date.parse;
  Date.parse = (text) => read(text) && parseDate(text);
  globalThis.Date = new Proxy(Date, {
    construct: (target, given, made) => (given.length === 1 && read(given[0]), Reflect.construct(target, given, made)),
  });
  Date.prototype.constructor = Date;
  globalThis.console = new Proxy({}, { get: () => () => {} });

  const shown = (error) => (error instanceof Error ? error.name + ": " + error.message : String(error));
  const failed = (error) => {
    if (missing) return stringify({ error: `it asks for ${missing}, which a check does not have` });
    return stringify({ [error instanceof InternalError ? "error" : "threw"]: shown(error) });
  };
  const said = (value) => {
    if (missing) return failed();
    if (typeof value === "boolean" || typeof value === "number") return stringify({ value, text: String(value) });
    const { pass, score, reason } = value ?? {};
    if (typeof pass === "boolean" && typeof score === "number" && typeof reason === "string")
      return stringify({ value: pass, reason });
    const kind = value === null ? "null" : typeof value;
    return stringify({ threw: `it returned ${kind}, and not true, false, a number or {pass, score, reason}` });
  };
  const exported = (text) => {
    const module = { exports: {} };
    new Function("module", "exports", text)(module, module.exports);
    const found = module.exports;
    const named = typeof found === "object" || typeof found === "function" ? { ...found } : {};
    if (typeof found === "function") named.default ??= found;
    return named;
  };
  let functions, calls = 0;
  return (request) => {
    const call = ++calls;
    missing = "";
    $answer = stringify({ error: "its promise is never kept" });
    try {
      const [text, name, output, context] = parse(request);
      functions ??= exported(text);
      if (name === null) {
        if (missing) return failed();
        return stringify({ names: Object.keys(functions).filter((each) => typeof functions[each] === "function") });
      }
      for (const key of keys) refuse(context, key, "`context." + key + "`");
      const value = functions[name](output, context);
      if (typeof value?.then !== "function") return said(value);
      const keep = (make) => (kept) => { if (call === calls) $answer = make(kept); };
      value.then(keep(said), keep(failed));
    } catch (error) {
      return failed(error);
    }
  };
})(NOT_THERE))
"""
NAMES: Final = tuple(
    """\
    AbortController AbortSignal Blob BroadcastChannel Buffer CustomEvent Event EventTarget File FormData Headers Intl
    MessageChannel ReadableStream Request Response TextDecoder TextEncoder TransformStream URL URLSearchParams
    WebAssembly WebSocket WritableStream __dirname __filename clearImmediate clearInterval clearTimeout crypto fetch
    global navigator process require setImmediate setInterval setTimeout structuredClone""".split()  # noqa: SIM905 - as people read it
)
"""The names that Node has, and a check has not."""
METHODS: Final = ("localeCompare", "toLocaleDateString", "toLocaleString", "toLocaleTimeString")
"""The methods that depend on a language."""
KEYS: Final = ("logProbs", "metadata", "provider", "providerResponse", "test", "trace")
"""The keys that other tools have in a context; here each is an error, and not `undefined`."""
_EXPORT: Final = re.compile(
    r"^export\s+(?:(?P<default>default)\s+|(?=(?:async\s+)?(?:function\s*\*?|class|const|let|var)\s+(?P<name>[\w$]+))"
    r"|\{(?P<names>[^}]*)\}\s*;?)",
    re.MULTILINE,
)
_COMMENT: Final = re.compile(r"/\*[\s\S]*?\*/|(?<!\S)//.*")
_IMPORT: Final = re.compile(r"^import\b[^(\n]*|^export\b.*\bfrom\b.*|(?<![\w$.])import\s*\(.*", re.MULTILINE)


class ScriptError(Exception):
    """A file of JavaScript cannot be used, or a function of it gave no verdict."""


def functions_of(text: str) -> tuple[str, ...]:
    """The names of the functions that a file exports; `default` for one without a name.

    Raises:
        ScriptError: it fails, or asks for what is not there.
    """
    if (imported := _IMPORT.search(_COMMENT.sub("", text))) is not None:
        raise ScriptError(f"`{imported[0].strip()}`: a file of checks is on its own")
    said = _asked(_as_script(text), None, None, {})
    if "threw" in said:
        raise ScriptError(said["threw"])
    return tuple(said["names"])


def caller(text: str, name: str) -> Callable[[str, dict[str, Any]], tuple[bool | float | None, str]]:
    """A function that calls one of a file's, with an output and a context: its verdict or measure, and a reason.

    Nothing is the verdict of code that throws, or returns anything else. It raises `ScriptError`.
    """
    script = _as_script(text)

    def call(output: str, context: dict[str, Any]) -> tuple[bool | float | None, str]:
        said = _asked(script, name, output, context)
        if "threw" in said:
            return None, said["threw"]
        value = said["value"]
        return (value if isinstance(value, bool) else float(said["text"])), said.get("reason", "")

    return call


def _asked(script: str, name: str | None, output: str | None, context: dict[str, Any]) -> Any:
    try:
        said = _engine().ask(
            [script, name, output, context], TIMEOUT, sha256(script.encode("utf-8", "surrogatepass")).hexdigest()
        )
    except TimeoutError:
        raise ScriptError(f"it did not end within {TIMEOUT:g} s") from None
    except EngineError as error:
        raise ScriptError(str(error)) from error
    if not (isinstance(said, dict) and said.keys() & {"error", "threw", "names" if name is None else "value"}):
        raise ScriptError("it changes how values are written as JSON")
    if "error" in said:
        raise ScriptError(said["error"])
    return said


@cache
def _engine() -> Engine:
    return Engine("checks in JavaScript", _PROGRAM.replace("NOT_THERE", json.dumps([NAMES, METHODS, KEYS])))


def _as_script(text: str) -> str:
    """A module as what CommonJS would have it."""
    behind: list[str] = []

    def instead(found: re.Match[str]) -> str:
        if found["default"]:
            return "exports.default = "
        names = (found["names"] or "").split(",") if found["names"] is not None else [found["name"]]
        for each in filter(None, map(str.strip, names)):
            name, _, alias = each.partition(" as ")
            behind.append(f"exports[{(alias or name).strip()!r}] = {name.strip()};")
        return ""

    script = _EXPORT.sub(instead, text)
    return text if script == text else "\n".join(('"use strict";', script, *behind))
