"""Runs functions that files of JavaScript export, in QuickJS: with what they are given, and nothing else.

What Node has and the engine has not, such as `require` and `fetch`, ends the call in an error, even where the code
catches it: what it then returned would be no verdict. So do texts that depend on a language, of which the engine
knows none, and dates that engines read differently.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from functools import cache, lru_cache
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Final

from evalc.ecma.modules import ScriptError, Scripts, parsed, text_of, within
from evalc.ecma.quickjs import Engine, EngineError

if TYPE_CHECKING:
    from tree_sitter import Node

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
    const isOf = (type, ...keys) => keys.every((key) => value[key] === undefined || typeof value[key] === type);
    if (
      typeof pass === "boolean" && typeof score === "number" && typeof reason === "string" && isOf("string", "comment")
      && isOf("object", "assertion", "namedScores", "namedScoreWeights", "tokensUsed")
      && Array.isArray(value.componentResults ?? [])
    )
      return stringify({ value: pass, reason });
    const kind = value === null ? "null" : typeof value;
    return stringify({ threw: `it returned ${kind}, and not true, false, a number or {pass, score, reason}` });
  };
  const define = (object, name, get) => Object.defineProperty(object, name, { enumerable: true, get });
  const load = (files, name, loaded) => {
    if (loaded.has(name)) return loaded.get(name);
    const [code, imports, isEs] = files[name], module = { exports: {} };
    loaded.set(name, module);
    const imported = (path) => load(files, imports[path], loaded).exports;
    const given = {
      require: imported,
      import: (path, names = []) => {
        const found = imported(path);
        const all = files[imports[path]][2] ? found : { ...found, default: found };
        for (const each of names)
          if (!(each in all)) throw new SyntaxError(`\`${path}\` has no export \`${each}\``);
        return all;
      },
      export: (values, areThose) => {
        for (const each of Object.keys(values))
          if (!areThose) define(module.exports, each, values[each]);
          else if (each !== "default" && !(each in module.exports)) define(module.exports, each, () => values[each]);
      },
    };
    new Function("$module", ...(isEs ? [] : ["module", "exports"]), code)(given, module, module.exports);
    return module;
  };
  const exported = (files) => {
    const found = load(files, Object.keys(files)[0], new Map()).exports;
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
      const [files, name, output, context] = parse(request);
      functions ??= exported(files);
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


def functions_of(files: Scripts) -> tuple[str, ...]:
    """The names of the functions that the first file exports; `default` for one without a name.

    Raises:
        ScriptError: a file fails, or asks for what is not there.
    """
    said = _asked(files, None, None, {})
    if "threw" in said:
        raise ScriptError(said["threw"])
    return tuple(said["names"])


def caller(files: Scripts, name: str) -> Callable[[str, dict[str, Any]], tuple[bool | float | None, str]]:
    """A function that calls one of the first file's, with an output and a context: a verdict or measure, and a reason.

    Nothing is the verdict of code that throws, or returns anything else. It raises `ScriptError`.
    """

    def call(output: str, context: dict[str, Any]) -> tuple[bool | float | None, str]:
        said = _asked(files, name, output, context)
        if "threw" in said:
            return None, said["threw"]
        value = said["value"]
        return (value if isinstance(value, bool) else float(said["text"])), said.get("reason", "")

    return call


def _asked(files: Scripts, name: str | None, output: str | None, context: dict[str, Any]) -> Any:
    key = sha256(json.dumps(files).encode()).hexdigest()
    try:
        said = _engine().ask([files, name, output, context], TIMEOUT, key)
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


# --- code that is not run ---------------------------------------------------------------------------------------------

_FUNCTIONS: Final = frozenset(
    {"arrow_function", "function_declaration", "function_expression", "generator_function", "method_definition"}
)
_REMEMBERED: Final = 256
"""How many texts of code are remembered: a file of assertions is asked about for each that names it."""
_TRUE_OR_FALSE: Final = frozenset(
    {"Boolean", "endsWith", "every", "hasOwnProperty", "includes", "isArray", "isFinite", "isInteger", "isNaN", "some",
     "startsWith", "test"}
)  # fmt: skip
"""The functions and methods of JavaScript that return true or false."""


@lru_cache(_REMEMBERED)
def used_in_script(code: str) -> frozenset[str]:
    """The names that JavaScript uses, its members as `.name`, and those of a name as `name.member`, or `name.[`."""
    found: set[str] = set()
    for node in within(parsed(code)):
        match node.type:
            case "identifier" | "shorthand_property_identifier" | "import":
                found.add(text_of(node))
            case "member_expression" | "subscript_expression":
                of, member = node.child_by_field_name("object"), text_of(node.child_by_field_name("property")) or "["
                found.add(f".{member}")
                if of is not None and of.type == "identifier":
                    found.add(f"{text_of(of)}.{member}")
    return frozenset(found)


def body_of_function(code: str) -> str:
    """The statements of a function whose value is that of a line of JavaScript; constants may stand before it."""
    code = re.sub(r";+\s*\Z", "", code.strip())
    if not re.match(r"(?:const|let|var)\s", code):
        return f"return {code}"
    statements = [each for each in parsed(code).named_children if each.type != "comment"]
    if len(statements) < 2 or not text_of(statements[-2]).endswith(";"):
        return code
    data, at = code.encode("utf-8", "surrogatepass"), statements[-1].start_byte
    return (data[:at] + b"return " + data[at:]).decode("utf-8", "surrogatepass")


def is_surely_verdict(code: str) -> bool:
    """Whether JavaScript is, or returns, true or false, or an object that says whether it passes."""
    root = parsed(code if "\n" in code else body_of_function(code))
    returned = [each.named_children for each in within(root, _FUNCTIONS) if each.type == "return_statement"]
    return bool(returned) and all(len(each) == 1 and _says(each[0]) for each in returned)


def _says(node: Node) -> bool:
    field = node.child_by_field_name
    match node.type:
        case "true" | "false":
            return True
        case "parenthesized_expression":
            return _says(node.named_children[0])
        case "unary_expression":
            return text_of(field("operator")) == "!"
        case "binary_expression":
            operator = text_of(field("operator"))
            if operator in ("&&", "||"):
                return all(_says(each) for each in (field("left"), field("right")) if each)
            return operator in ("==", "!=", "===", "!==", "<", "<=", ">", ">=", "in", "instanceof")
        case "ternary_expression":
            return all(_says(each) for each in (field("consequence"), field("alternative")) if each)
        case "call_expression":
            called = field("function")
            return text_of(called.child_by_field_name("property") or called if called else None) in _TRUE_OR_FALSE
        case "object":
            return any(text_of(pair.child_by_field_name("key") or pair) == "pass" for pair in node.named_children)
    return False
