"""What can be wrong with a text of a small language: a check, rule or criterion (EV13x), a template (EV15x)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import ClassVar, Final, Literal, final

from evalc.diagnostics.catalogue.names import UnknownCheck
from evalc.diagnostics.meant_line import MeantLine
from evalc.diagnostics.near import Slip, slip_of
from evalc.diagnostics.problem import Finding
from evalc.model.checks import Check
from evalc.model.checks.declaration import beginnings, members, type_name

_CURLY_QUOTES: Final = ("\u201c", "\u201d", "\u2018", "\u2019")
_QUOTED_NAME: Final = re.compile(r"`([^`]+)`")

CHECK_LINES: Final = tuple(dict.fromkeys(line for kind in members(Check) for line in beginnings(kind) if line != "not"))
"""How each check begins on one line."""


_BARE_WORDS: Final = re.compile(r"[a-z -]+")
"""Words to write as they are: `at PATH count` is a form, of which somebody has to fill in the capitals."""


def _check_words() -> Iterator[tuple[str, str]]:
    """What may begin a check or be meant for its beginning, each with the words that the check is written in."""
    for line in (*CHECK_LINES, "not"):
        word = line.partition(" ")[0]
        yield word, word
    taken: set[str] = set()
    for kind in members(Check):
        begin = next(iter(beginnings(kind)), kind.line.partition(" {")[0])
        if begin and begin not in taken:
            yield type_name(kind), begin
        taken.add(begin)


CHECK_WORDS: Final = {word: line for word, line in _check_words() if _BARE_WORDS.fullmatch(line)}


def unknown_check(word: str, *, called: bool = False) -> UnknownCheck:
    """The finding for a line that begins with an unknown word; `called`: a parenthesis follows the word."""
    near = slip_of(word, CHECK_WORDS)
    of_a_package = f"check {word}" if called else ""
    return UnknownCheck(name=word, known=CHECK_LINES, meant=of_a_package if near is None else CHECK_WORDS[near.meant])


def _either(names: tuple[str, ...]) -> str:
    """The names as a choice: `a, b or c`."""
    *most, last = names
    return f"{', '.join(most)} or {last}" if most else last


@final
class Unexpected(Finding, frozen=True, kw_only=True):
    """A check, a rule or a criterion has a syntax error.

    The message names what evalc expected at that place.

    Example:
        eval:
          test_cases:
            - name: a
              message: hi
              validate:
                - contains hello

    Cure:
        eval:
          test_cases:
            - name: a
              message: hi
              validate:
                - contains "hello"
    """

    code: ClassVar[str] = "EV131"

    expected: tuple[str, ...]
    found: str
    meant_line: MeantLine | None = None
    before_comment: bool = False

    def message(self) -> str:
        found = f"found `{self.found}`" if self.found else "found the end"
        return f"expected {_either(self.expected)} here, {found}"

    def slip(self) -> Slip | None:
        if self.meant_line is not None:
            return None
        return slip_of(self.found, [name for expected in self.expected for name in _QUOTED_NAME.findall(expected)])

    def help(self) -> str:
        if self.meant_line is not None:
            return self.meant_line.help()
        if self.before_comment:
            return "a `#` begins a comment on this line; put the whole line in quotes if it belongs to a text"
        return "put texts in straight quotes, `\"` or `'`" if self.found in _CURLY_QUOTES else ""


@final
class UnterminatedText(Finding, frozen=True, kw_only=True):
    """A text in quotes has no closing quote.

    The closing quote is the same character as the opening one. A quote inside the text is written with a
    backslash before it, or you put the text in the other kind of quotes.

    Example:
        eval:
          test_cases:
            - name: a
              message: hi
              validate:
                - contains "hello

    Cure:
        eval:
          test_cases:
            - name: a
              message: hi
              validate:
                - contains "hello"
    """

    code: ClassVar[str] = "EV132"

    quote: str

    def message(self) -> str:
        return f"this text has no closing `{self.quote}`"

    def label(self) -> str:
        return "opened here"


@final
class BadEscape(Finding, frozen=True, kw_only=True):
    r"""A text in quotes holds a backslash that escapes nothing.

    Texts take the escapes of JSON. A backslash before any other character would be silently kept by one reader and
    dropped by another, so it is an error; `\\` is a backslash.

    Example:
        eval:
          test_cases:
            - name: a
              message: hi
              validate:
                - contains "C:\data"

    Cure:
        eval:
          test_cases:
            - name: a
              message: hi
              validate:
                - contains "C:\\data"
    """

    code: ClassVar[str] = "EV133"

    escape: str

    def message(self) -> str:
        if len(self.escape) == 6:
            return f"`{self.escape}` is half of a surrogate pair, not a character"
        return f"`{self.escape}` is not an escape"

    def label(self) -> str:
        if len(self.escape) == 6:
            return "its other half must be next to it"
        return "" if self.escape == "\\u" else f"a backslash is written `\\{self.escape}`"

    def help(self) -> str:
        return r"the escapes are `\"`, `\'`, `\\`, `\/`, `\b`, `\f`, `\n`, `\r`, `\t` and `\u` with four hex digits"


@final
class UnterminatedPattern(Finding, frozen=True, kw_only=True):
    r"""A regular expression has no closing slash.

    A slash inside the pattern is written `\/`; inside a class, `[/]`, it is literal, so a class that is
    not closed hides the closing slash too.

    Example:
        eval:
          test_cases:
            - name: a
              message: hi
              validate:
                - matches /hello

    Cure:
        eval:
          test_cases:
            - name: a
              message: hi
              validate:
                - matches /hello/
    """

    code: ClassVar[str] = "EV134"

    def message(self) -> str:
        return "this pattern has no closing `/`"

    def label(self) -> str:
        return "opened here"

    def help(self) -> str:
        return "a class that begins with `[` must end with `]`, and a pattern ends on the line that it begins on"


@final
class BadFlag(Finding, frozen=True, kw_only=True):
    """A regular expression has a flag that cannot be used.

    The flags are ECMAScript's `i`, `m`, `s`, `u` and `v`. `g` and `y` do not change whether a text matches: they make
    an expression remember where it stopped, so that the same check could pass once and fail the next time. A pattern
    for an argument of a tool takes no flags, because the contract has no place for them; `(?i:...)` does what `i` does.

    Example:
        eval:
          test_cases:
            - name: a
              message: hi
              validate:
                - matches /hello/g

    Cure:
        eval:
          test_cases:
            - name: a
              message: hi
              validate:
                - matches /hello/
    """

    code: ClassVar[str] = "EV135"

    flag: str
    why: Literal["unknown", "stateful", "twice", "u and v", "argument"]

    def message(self) -> str:
        match self.why:
            case "unknown":
                return f"`{self.flag}` is not a flag of a regular expression"
            case "stateful":
                return f"the flag `{self.flag}` makes a regular expression remember where it stopped"
            case "twice":
                return f"the flag `{self.flag}` is repeated"
            case "u and v":
                return "the flags `u` and `v` exclude each other"
            case "argument":
                return f"a pattern for an argument takes no flags, and this has `{self.flag}`"

    def label(self) -> str:
        return "leave it out"

    def help(self) -> str:
        if self.why == "unknown":
            return r"the flags are `i`, `m`, `s`, `u` and `v`; a slash inside a pattern is written `\/`"
        if self.why == "argument":
            return "`(?i:...)` around a part of the pattern does what the flag `i` does"
        return ""


@final
class BadNumber(Finding, frozen=True, kw_only=True):
    """A number is out of place or out of range.

    Lengths, counts and limits are not negative, what is counted is whole, and no number has more than 15 digits.

    Example:
        eval:
          test_cases:
            - name: a
              message: hi
              validate:
                - length >= -5

    Cure:
        eval:
          test_cases:
            - name: a
              message: hi
              validate:
                - length >= 5
    """

    code: ClassVar[str] = "EV136"

    number: str
    why: Literal["negative", "fraction", "long"]

    def message(self) -> str:
        match self.why:
            case "negative":
                return f"`{self.number}` is negative"
            case "fraction":
                return f"`{self.number}` is not a whole number"
            case "long":
                return "this number has more than 15 digits"

    def label(self) -> str:
        match self.why:
            case "negative":
                return "expected zero or more"
            case "fraction":
                return "expected a whole number"
            case "long":
                return ""


@final
class MixedAndOr(Finding, frozen=True, kw_only=True):
    """`and` and `or` are mixed without parentheses.

    Readers disagree on which of the two binds tighter, so parentheses must say it.

    Example:
        eval:
          test_cases:
            - name: a
              message: hi
              validate:
                - contains "a" and contains "b" or contains "c"

    Cure:
        eval:
          test_cases:
            - name: a
              message: hi
              validate:
                - (contains "a" and contains "b") or contains "c"
    """

    code: ClassVar[str] = "EV137"

    word: Literal["and", "or"]

    def message(self) -> str:
        other = "or" if self.word == "and" else "and"
        return f"this `{self.word}` follows an `{other}` without parentheses"

    def label(self) -> str:
        return "put parentheses around one of the groups"


@final
class ResponseNeeded(Finding, frozen=True, kw_only=True):
    """A check of the response follows a check of a tool's parameter without saying `response`.

    In `tool get_weather.city contains "Paris" and contains "sunny"` the second check reads as if it were about the
    parameter too. The word `response` says what it is about, or `tool get_weather.city` where the parameter is meant.

    Example:
        eval:
          test_cases:
            - name: a
              message: hi
              validate:
                - tool get_weather.city contains "Paris" and contains "sunny"

    Cure:
        eval:
          test_cases:
            - name: a
              message: hi
              validate:
                - tool get_weather.city contains "Paris" and response contains "sunny"
    """

    code: ClassVar[str] = "EV138"

    parameter: str
    """The parameter that the check may be about as well, such as `tool get_weather.city`; empty if it cannot be."""

    def message(self) -> str:
        return "a check of the response that follows a `tool` check must begin with `response`"

    def label(self) -> str:
        about_parameter = f", or `{self.parameter}` if it is about the parameter" if self.parameter else ""
        return f"write `response` before it{about_parameter}"


@final
class BeyondLimit(Finding, frozen=True, kw_only=True):
    """A text is too long or too deeply nested to be meant.

    The limits keep a generated or hostile file from holding up the compiler.

    Example:
        eval:
          test_cases:
          - name: a
            message: hi
            validate:
            - (((((((((((((((((((((((((((((((((((((((((((((((((((json)))))))))))))))))))))))))))))))))))))))))))))))))))

    Cure:
        eval:
          test_cases:
          - name: a
            message: hi
            validate:
            - json
    """

    code: ClassVar[str] = "EV139"

    what: Literal["length", "depth"]
    limit: int

    def message(self) -> str:
        if self.what == "length":
            return f"this text has more than {self.limit:,} characters"
        return f"this is nested more than {self.limit} levels deep"


@final
class UnclosedBlock(Finding, frozen=True, kw_only=True):
    """A template's block is opened and never closed.

    `{{#if name}}` ends with `{{/if}}`, `{{#unless name}}` with `{{/unless}}`, `{{#each name}}` with `{{/each}}`.

    Example:
        prompt: "Hi{{#if name}} {{name}}"
        inputs:
          - {name: name, required: true}
        eval:
          test_cases:
            - name: a
              inputs: {name: Ann}
              validate:
                - contains "Ann"

    Cure:
        prompt: "Hi{{#if name}} {{name}}{{/if}}"
        inputs:
          - {name: name, required: true}
        eval:
          test_cases:
            - name: a
              inputs: {name: Ann}
              validate:
                - contains "Ann"
    """

    code: ClassVar[str] = "EV150"

    helper: str

    def message(self) -> str:
        return f"this `#{self.helper}` is never closed"

    def label(self) -> str:
        return f"needs a `{{{{/{self.helper}}}}}`"


@final
class WrongCloser(Finding, frozen=True, kw_only=True):
    """A template's block is closed by the closing tag of another.

    Blocks nest: the block that was opened last is closed first.

    Example:
        prompt: "Hi{{#if name}} {{name}}{{/unless}}"
        inputs:
          - {name: name, required: true}
        eval:
          test_cases:
            - name: a
              inputs: {name: Ann}
              validate:
                - contains "Ann"

    Cure:
        prompt: "Hi{{#if name}} {{name}}{{/if}}"
        inputs:
          - {name: name, required: true}
        eval:
          test_cases:
            - name: a
              inputs: {name: Ann}
              validate:
                - contains "Ann"
    """

    code: ClassVar[str] = "EV151"

    helper: str
    tag: str

    def message(self) -> str:
        return f"`{self.tag}` does not close the `#{self.helper}` that is open here"

    def label(self) -> str:
        return f"expected `{{{{/{self.helper}}}}}`"


@final
class StrayTag(Finding, frozen=True, kw_only=True):
    """A template's `{{else}}` or closing tag belongs to no block.

    `{{else}}` may appear once inside `{{#if}}` or `{{#unless}}`; a closing tag needs an opening one before it.

    Example:
        eval:
          test_cases:
            - name: a
              message: "Hi{{/if}}"
              validate:
                - contains "hello"

    Cure:
        eval:
          test_cases:
            - name: a
              message: "Hi"
              validate:
                - contains "hello"
    """

    code: ClassVar[str] = "EV152"

    tag: str

    def message(self) -> str:
        return f"`{self.tag}` belongs to no block"


@final
class UnknownHelper(Finding, frozen=True, kw_only=True):
    """A template uses a block helper that does not exist.

    The helpers are `#if`, `#unless` and `#each`.

    Example:
        eval:
          test_cases:
            - name: a
              message: "Hi {{#foreach}}"
              validate:
                - contains "hello"

    Cure:
        eval:
          test_cases:
            - name: a
              message: "Hi"
              validate:
                - contains "hello"
    """

    code: ClassVar[str] = "EV153"

    helper: str

    def message(self) -> str:
        return f"`{self.helper}` is not a block helper"

    def slip(self) -> Slip | None:
        if "each" in self.helper.lower():
            return Slip(self.helper, "each")
        return slip_of(self.helper, ("if", "unless", "each"))

    def help(self) -> str:
        return "the helpers are `#if`, `#unless` and `#each`"


@final
class EmptyTag(Finding, frozen=True, kw_only=True):
    r"""A template's braces hold no name.

    To write two literal opening braces, use `\{{`.

    Example:
        eval:
          test_cases:
            - name: a
              message: "Hi {{}}"
              validate:
                - contains "hello"

    Cure:
        eval:
          test_cases:
            - name: a
              message: "Hi"
              validate:
                - contains "hello"
    """

    code: ClassVar[str] = "EV154"

    def message(self) -> str:
        return "these braces hold no name"

    def help(self) -> str:
        return r"write two literal braces as `\{{`"


@final
class BadTag(Finding, frozen=True, kw_only=True):
    r"""Two opening braces begin nothing that a template knows.

    A name holds letters, digits, `_`, `-` and dots; helpers take exactly one name; and every tag ends with `}}`. Two
    literal opening braces are written `\{{`.

    Example:
        eval:
          test_cases:
            - name: a
              message: 'Hi {{ first name }}'
              validate:
                - contains "hello"

    Cure:
        eval:
          test_cases:
            - name: a
              message: 'Hi \{{ first name }}'
              validate:
                - contains "hello"
    """

    code: ClassVar[str] = "EV155"

    tag: str
    closed: bool

    def message(self) -> str:
        if self.closed:
            return f"`{self.tag}` is not a tag of a template"
        return "these braces are never closed"

    def label(self) -> str:
        return "" if self.closed else "needs a `}}`"

    def help(self) -> str:
        return (
            "a tag is `{{name}}`, `{{#if name}}`, `{{#unless name}}`, `{{#each name}}`, `{{else}}`, `{{seed:path}}` "
            r"or `{{snapshot:path}}`; write two literal braces as `\{{`"
        )
