"""What can be wrong with the syntax of a YAML or JSON text (EV100-EV130, EV156, EV157)."""

from __future__ import annotations

from typing import ClassVar, Final

from evalc.base.terminal import counted
from evalc.diagnostics.meant_line import MeantLine
from evalc.diagnostics.near import Slip, listed, slip_of
from evalc.diagnostics.problem import Finding, Severity

_ESCAPES: Final = {"\x00": r"\0", "\x85": r"\N", "\u2028": r"\L", "\u2029": r"\P"}


class NotYaml(Finding, frozen=True, kw_only=True):
    """The text is not YAML.

    YAML's grammar does not allow this here, and no more specific code describes it; an unknown directive
    (`%...`) is an example. evalc stops reading there: the rest of the file is not checked.

    Example:
        %YAML 3.0
        ---
        suite: greeting
        eval:
          test_cases:
            - name: hello
              message: Say hello
              validate:
                - contains "hello"

    Cure:
        suite: greeting
        eval:
          test_cases:
            - name: hello
              message: Say hello
              validate:
                - contains "hello"
    """

    code: ClassVar[str] = "EV100"

    def message(self) -> str:
        return "this is not YAML"

    def help(self) -> str:
        return "this is not allowed here; if it is meant as text, put it in quotes"


class TabIndent(Finding, frozen=True, kw_only=True):
    """A line is indented with a tab.

    YAML allows only spaces for indentation, since editors disagree on how wide a tab is. Set your editor to
    write spaces in YAML files.
    """

    code: ClassVar[str] = "EV101"

    def message(self) -> str:
        return "tabs cannot indent YAML"

    def label(self) -> str:
        return "use spaces"

    def help(self) -> str:
        return "indent with spaces"


class UnexpectedColon(Finding, frozen=True, kw_only=True):
    """A colon makes a key where no key is allowed.

    `: ` turns the text before it into a key, and a key cannot be inside another key's value on the same line.
    Often the colon is meant as text, and the text needs quotes; or the line before is not finished, or the
    indentation is wrong.

    Example:
        suite: greeting
        eval:
          test_cases:
            - name: hello
              message: Say hello
              validate:
                - contains "hello"
                - contains "a: b" or contains "c: d"

    Cure:
        suite: greeting
        eval:
          test_cases:
            - name: hello
              message: Say hello
              validate:
                - contains "hello"
                - 'contains "a: b" or contains "c: d"'
    """

    code: ClassVar[str] = "EV102"
    quoted: str

    def message(self) -> str:
        return "this colon makes a key of the text before it, and no key is allowed here"

    def label(self) -> str:
        return "not a key"

    def help(self) -> str:
        if self.quoted:
            return _quote("the text", self.quoted)
        return "look at the line above: its value continues on this line; to start a new key, indent it like that line"


class UnclosedQuote(Finding, frozen=True, kw_only=True):
    """A quote is opened and never closed.

    The text that begins with the quote has no end. The place that is shown is where it opens; the missing quote
    is most often on the same line.

    Example:
        suite: greeting
        eval:
          test_cases:
            - name: hello
              message: Say hello
              validate:
                - contains "hello"
                - 'non-empty

    Cure:
        suite: greeting
        eval:
          test_cases:
            - name: hello
              message: Say hello
              validate:
                - contains "hello"
                - 'non-empty'
    """

    code: ClassVar[str] = "EV103"
    quote: str

    def message(self) -> str:
        return f"this `{self.quote}` is never closed"

    def label(self) -> str:
        return "opened here"

    def help(self) -> str:
        if self.quote == "'":
            return "close it; an apostrophe inside single quotes is written twice"
        return 'close it; a double quote inside double quotes is written `\\"`'


class UnclosedBracket(Finding, frozen=True, kw_only=True):
    """A bracket is opened and never closed.

    A list in `[...]` or a mapping in `{...}` has no end. The place that is shown is where it opens; most often
    the closing bracket is missing on the same line.

    Example:
        suite: greeting
        eval:
          test_cases:
            - name: hello
              message: Say hello
              validate:
                - contains "hello"
              tags: [a, b

    Cure:
        suite: greeting
        eval:
          test_cases:
            - name: hello
              message: Say hello
              validate:
                - contains "hello"
              tags: [a, b]
    """

    code: ClassVar[str] = "EV104"
    bracket: str
    closing: str
    before_comment: bool = False

    def message(self) -> str:
        return f"this `{self.bracket}` is never closed"

    def label(self) -> str:
        return "opened here"

    def help(self) -> str:
        if self.before_comment:
            return f"a `#` begins a comment on this line; write the `{self.closing}` before it, or quote the text"
        return f"close it with `{self.closing}`; if the bracket is meant as text, quote the text"


class BadIndentation(Finding, frozen=True, kw_only=True):
    """The indentation of a line matches none of the blocks that it could belong to.

    In YAML the indentation says what belongs together: all keys of a mapping start in the same column, and so do
    all dashes of a list.

    Example:
        suite: greeting
        eval:
          test_cases:
            - name: hello
              message: Say hello
              validate:
                - contains "hello"
               - non-empty

    Cure:
        suite: greeting
        eval:
          test_cases:
            - name: hello
              message: Say hello
              validate:
                - contains "hello"
                - non-empty
    """

    code: ClassVar[str] = "EV105"
    indent: int
    known: tuple[int, ...]
    item: bool

    def message(self) -> str:
        if self.indent in self.known:
            found, others = ("a list item", "keys") if self.item else ("a key", "list items")
            return f"{found} is not allowed among the {others} of this column"
        return f"no block around this line is indented by {counted(self.indent, 'space')}"

    def help(self) -> str:
        if not self.known:
            return "a document holds one value: start the line where the others start, or a new document with `---`"
        if self.indent in self.known:
            return "indent it so that it belongs to the value above it, or move it next to its own kind"
        return f"indent it by {_spaces_listed(self.known)}, as the lines around it"


class ReservedCharacter(Finding, frozen=True, kw_only=True):
    """A text begins with a character that YAML reserves.

    An unquoted text cannot begin with `@`, a backquote, `%`, `,`, `]`, `}`, or with `- ` or `? ` after a key.
    In quotes, any text is allowed.

    Example:
        suite: greeting
        eval:
          test_cases:
            - name: hello
              message: @bot say hello
              validate:
                - contains "hello"

    Cure:
        suite: greeting
        eval:
          test_cases:
            - name: hello
              message: '@bot say hello'
              validate:
                - contains "hello"
    """

    code: ClassVar[str] = "EV106"
    character: str
    quoted: str

    def message(self) -> str:
        return (
            f"an unquoted text cannot begin with `{self.character}`"
            if self.character != "`"
            else "an unquoted text cannot begin with a backquote"
        )

    def help(self) -> str:
        return _quote("it", self.quoted)


class BadYamlEscape(Finding, frozen=True, kw_only=True):
    r"""A double-quoted text holds an escape that does not exist.

    In double quotes a backslash begins an escape: `\n`, `\t`, `\"`, `\\`, `\x41`, `\u00e9`, `\U0001F600`, `\N`,
    `\L`, `\P` and a few more. Write regular expressions in single quotes, where a backslash is literal.

    Example:
        suite: greeting
        eval:
          test_cases:
            - name: hello
              message: Say hello
              validate:
                - contains "hello"
                - "matches /\d+/"

    Cure:
        suite: greeting
        eval:
          test_cases:
            - name: hello
              message: Say hello
              validate:
                - contains "hello"
                - 'matches /\d+/'
    """

    code: ClassVar[str] = "EV107"
    escape: str

    def message(self) -> str:
        return f"`{self.escape}` is not an escape"

    def help(self) -> str:
        if self.escape[1:2] in {"u", "U"}:
            return r"write the character itself, or its code point with eight digits: `\U0001F600`"
        return r"write `\\` for a backslash, or use single quotes, where a backslash is literal"


class MissingColon(Finding, frozen=True, kw_only=True):
    """A line among the keys of a mapping has no key.

    Each line of a mapping is `key: value`, with a space after the colon. This line has no colon, or no space
    after it, or it belongs to the value above and is not indented.

    Example:
        suite: greeting
        tool greet
        eval:
          test_cases:
            - name: hello
              message: Say hello
              validate:
                - contains "hello"

    Cure:
        suite: greeting
        tool: greet
        eval:
          test_cases:
            - name: hello
              message: Say hello
              validate:
                - contains "hello"
    """

    code: ClassVar[str] = "EV108"
    text: str

    def message(self) -> str:
        return "there is no `key:` in this line"

    def label(self) -> str:
        return "`: ` expected"

    def help(self) -> str:
        return "write `key: value` with a space after the colon, or indent the line if it belongs to the value above"


class TextBehindValue(Finding, frozen=True, kw_only=True):
    """There is text after the end of a value.

    A value in quotes or brackets ends with its closing quote or bracket, an alias with its name. Nothing may
    follow it on the line.

    Example:
        suite: greeting
        eval:
          test_cases:
            - name: hello
              message: Say hello
              validate:
                - contains "hello"
                - "hello" or so

    Cure:
        suite: greeting
        eval:
          test_cases:
            - name: hello
              message: Say hello
              validate:
                - contains "hello"
                - contains "hi" or contains "hey"
    """

    code: ClassVar[str] = "EV109"
    quoted: str

    def message(self) -> str:
        return "the value has ended before this"

    def label(self) -> str:
        return "belongs to nothing"

    def help(self) -> str:
        return _quote("the whole text", self.quoted)


class ForbiddenCharacter(Finding, frozen=True, kw_only=True):
    """The text holds a character that YAML does not allow.

    Control characters are not allowed in YAML outside escapes. The line breaks U+0085, U+2028 and U+2029, which
    no editor shows, are rejected as well: programs disagree on whether they end a line. So is a byte order mark
    after the beginning, since some readers drop it and others keep it.
    """

    code: ClassVar[str] = "EV110"
    character: str
    times: int

    def message(self) -> str:
        again = f" ({self.times} times in this file)" if self.times > 1 else ""
        return f"the character U+{ord(self.character):04X} is not allowed here{again}"

    def help(self) -> str:
        escape = _ESCAPES.get(self.character) or rf"\x{ord(self.character):02X}"
        if ord(self.character) > 0xFF and self.character not in _ESCAPES:
            return "remove it"
        return f"remove it, or write `{escape}` in a double-quoted text"


class DuplicateKey(Finding, frozen=True, kw_only=True):
    """A mapping holds the same key twice.

    Only one of the two values can be used, and programs disagree on which. evalc keeps the first while it checks
    the rest of the file.

    Example:
        suite: greeting
        eval:
          test_cases:
            - name: hello
              message: Say hello
              validate:
                - contains "hello"
              message: Say hi

    Cure:
        suite: greeting
        eval:
          test_cases:
            - name: hello
              message: Say hello
              validate:
                - contains "hello"
    """

    code: ClassVar[str] = "EV111"
    key: str
    first_line: int

    def message(self) -> str:
        return f"the key `{_shown(self.key)}` is repeated here"

    def label(self) -> str:
        return f"first on line {self.first_line}"

    def help(self) -> str:
        return "remove one of the two, or join them"


class KeyNotText(Finding, frozen=True, kw_only=True):
    """A key is a list or a mapping.

    The keys of an eval are texts. A list or a mapping as a key is most often a text with brackets that needs
    quotes.

    Example:
        suite: greeting
        eval:
          test_cases:
            - name: hello
              message: Say hello
              validate:
                - contains "hello"
        x-notes:
          [a, b]: c

    Cure:
        suite: greeting
        eval:
          test_cases:
            - name: hello
              message: Say hello
              validate:
                - contains "hello"
        x-notes:
          '[a, b]': c
    """

    code: ClassVar[str] = "EV112"

    def message(self) -> str:
        return "a key must be a text"

    def help(self) -> str:
        return "if the brackets are meant as text, put the whole text in quotes"


class BadMerge(Finding, frozen=True, kw_only=True):
    """A merge key names something that is not a mapping.

    `<<: *base` inserts the pairs of the mapping `base` here, and `<<: [*a, *b]` those of several mappings, where
    the first wins. Nothing else can be merged.

    Example:
        suite: greeting
        eval:
          test_cases:
            - name: hello
              message: Say hello
              validate:
                - contains "hello"
        x-notes:
          <<: base

    Cure:
        suite: greeting
        eval:
          test_cases:
            - name: hello
              message: Say hello
              validate:
                - contains "hello"
        x-notes:
          base: none
    """

    code: ClassVar[str] = "EV113"

    def message(self) -> str:
        return "`<<` takes a mapping or a list of mappings"

    def help(self) -> str:
        return "name an anchor of a mapping: `<<: *base`"


class UnknownAlias(Finding, frozen=True, kw_only=True):
    """An alias names an anchor that does not exist.

    `*name` refers to the value that `&name` marks earlier in the same document. Nothing above this place is
    marked so. If the star is meant as text, the text needs quotes.

    Example:
        suite: greeting
        eval:
          test_cases:
            - name: hello
              message: Say hello
              validate:
                - contains "hello"
        x-notes: *hello

    Cure:
        suite: greeting
        eval:
          test_cases:
            - name: hello
              message: Say hello
              validate:
                - contains "hello"
        x-notes: '*hello'
    """

    code: ClassVar[str] = "EV114"
    name: str
    known: tuple[str, ...]

    def message(self) -> str:
        return f"there is no anchor `&{_shown(self.name)}` above this alias"

    def slip(self) -> Slip | None:
        return slip_of(self.name, self.known)

    def help(self) -> str:
        if not self.known:
            return "this document has no anchor above this place; if the star is meant as text, put the text in quotes"
        return f"the anchors above are {listed(_shown(name) for name in self.known[:20])}"


class RecursiveAlias(Finding, frozen=True, kw_only=True):
    """An alias is inside the value that it refers to.

    Such a value would contain itself and never end.

    Example:
        suite: greeting
        eval:
          test_cases:
            - name: hello
              message: Say hello
              validate:
                - contains "hello"
        x-notes: &all
          again: *all

    Cure:
        suite: greeting
        eval:
          test_cases:
            - name: hello
              message: Say hello
              validate:
                - contains "hello"
        x-notes: &all
          again: none
    """

    code: ClassVar[str] = "EV115"
    name: str

    def message(self) -> str:
        return f"`*{_shown(self.name)}` is inside the value that it refers to"

    def help(self) -> str:
        return "remove the alias, or end the anchored value before it"


class ForbiddenTag(Finding, frozen=True, kw_only=True):
    """A tag is not one of YAML's core tags.

    An eval file is data: tags that name types of a programming language, or your own types, have no meaning in
    it. The core tags `!!str`, `!!int`, `!!float`, `!!bool`, `!!null`, `!!seq` and `!!map` are allowed.

    Example:
        suite: greeting
        eval:
          test_cases:
            - name: hello
              message: !greet Say hello
              validate:
                - contains "hello"

    Cure:
        suite: greeting
        eval:
          test_cases:
            - name: hello
              message: Say hello
              validate:
                - contains "hello"
    """

    code: ClassVar[str] = "EV116"
    tag: str

    def message(self) -> str:
        return f"the tag `{_shown(self.tag)}` has no meaning here"

    def help(self) -> str:
        return "remove it; if the exclamation mark is meant as text, put the text in quotes"


class TagMismatch(Finding, frozen=True, kw_only=True):
    """A value does not match its tag.

    A core tag such as `!!int` says what kind of value follows. This value cannot be read as that kind.

    Example:
        suite: greeting
        eval:
          test_cases:
            - name: hello
              message: !!seq Say hello
              validate:
                - contains "hello"

    Cure:
        suite: greeting
        eval:
          test_cases:
            - name: hello
              message: !!str Say hello
              validate:
                - contains "hello"
    """

    code: ClassVar[str] = "EV117"
    tag: str

    def message(self) -> str:
        return f"the value is not what `{_shown(self.tag)}` says"

    def help(self) -> str:
        return "remove the tag, or change the value"


class UnquotedTemplate(Finding, frozen=True, kw_only=True):
    """A template needs quotes here.

    `{{` at the beginning of an unquoted text is two opening brackets to YAML, and `: `, ` #` and commas inside
    a template have their YAML meaning as well. In quotes, and in block texts under `|` or `>`, a template
    is left as it is.

    Example:
        suite: greeting
        eval:
          test_cases:
            - name: hello
              message: {{greeting}}
              inputs: {greeting: Say hello}
              validate:
                - contains "hello"

    Cure:
        suite: greeting
        eval:
          test_cases:
            - name: hello
              message: '{{greeting}}'
              inputs: {greeting: Say hello}
              validate:
                - contains "hello"
    """

    code: ClassVar[str] = "EV118"
    quoted: str

    def message(self) -> str:
        return "YAML reads this template as brackets"

    def label(self) -> str:
        return "quote it"

    def help(self) -> str:
        return _quote("the whole text", self.quoted)


class NumberNotRepresentable(Finding, frozen=True, kw_only=True):
    """A number is too large, or not a number.

    JSON, to which evals are compiled, has no infinity and no not-a-number; a number like `1e400` is beyond what
    a computer's numbers can hold, and whole numbers of thousands of digits are refused because reading them
    takes too long. In quotes it is a text.

    Example:
        suite: greeting
        eval:
          criteria: [warmth]
          test_cases:
            - name: hello
              message: Say hello
              validate:
                - contains "hello"
              threshold: .inf

    Cure:
        suite: greeting
        eval:
          criteria: [warmth]
          test_cases:
            - name: hello
              message: Say hello
              validate:
                - contains "hello"
              threshold: 0.8
    """

    code: ClassVar[str] = "EV119"
    text: str

    def message(self) -> str:
        return f"`{_shown(self.text)}` is not a number that JSON can hold"

    def help(self) -> str:
        return "write a finite number, or quote it if it is meant as text"


class ColonInString(Finding, frozen=True, kw_only=True):
    """A colon inside an unquoted check turns it into a mapping.

    To YAML, `- contains "a: b"` is a mapping with the key `contains "a` and the value `b"`: quotes in the
    middle of an unquoted text do not protect its colon. Put the whole line in single quotes.

    Example:
        suite: greeting
        eval:
          test_cases:
            - name: hello
              message: Say hello
              validate:
                - contains "hello"
                - contains "a: b"

    Cure:
        suite: greeting
        eval:
          test_cases:
            - name: hello
              message: Say hello
              validate:
                - contains "hello"
                - 'contains "a: b"'
    """

    code: ClassVar[str] = "EV120"
    quoted: str

    def message(self) -> str:
        return "YAML splits this line at the colon"

    def label(self) -> str:
        return "read as a mapping"

    def help(self) -> str:
        return _quote("the whole line", self.quoted)


class CommentInString(Finding, frozen=True, kw_only=True):
    """A `#` inside an unquoted check turns the rest of it into a comment.

    To YAML, ` #` begins a comment in an unquoted text, even between quotes in its middle: of `contains "a #b"`
    only `contains "a` is left. Put the whole line in single quotes.

    Example:
        suite: greeting
        eval:
          test_cases:
            - name: hello
              message: Say hello
              validate:
                - contains "hello"
                - contains "a #b"

    Cure:
        suite: greeting
        eval:
          test_cases:
            - name: hello
              message: Say hello
              validate:
                - contains "hello"
                - 'contains "a #b"'
    """

    code: ClassVar[str] = "EV121"
    quoted: str

    def message(self) -> str:
        return "YAML reads the rest of this line as a comment"

    def label(self) -> str:
        return "read as a comment"

    def help(self) -> str:
        return _quote("the whole line", self.quoted)


class CommaInString(Finding, frozen=True, kw_only=True):
    """A comma inside an unquoted check in `[...]` splits it.

    To YAML, `[contains "a, b"]` is a list of two texts, `contains "a` and `b"`: quotes in the middle of an
    unquoted text do not protect its comma. Put the whole check in single quotes.

    Example:
        suite: greeting
        eval:
          test_cases:
            - name: hello
              message: Say hello
              validate: [contains "hello, you"]

    Cure:
        suite: greeting
        eval:
          test_cases:
            - name: hello
              message: Say hello
              validate: ['contains "hello, you"']
    """

    code: ClassVar[str] = "EV122"
    quoted: str

    def message(self) -> str:
        return "YAML splits this text at the comma"

    def label(self) -> str:
        return "read as several list items"

    def help(self) -> str:
        return _quote("the whole text", self.quoted)


class BadBlockHeader(Finding, frozen=True, kw_only=True):
    """The first line of a block text is not right.

    After `|` or `>`, only `+` or `-`, one digit from 1 to 9 (the number of spaces that indent the text) and a
    comment are allowed. The text itself begins on the next line, indented with spaces.

    Example:
        suite: greeting
        eval:
          test_cases:
            - name: hello
              message: | Say hello
              validate:
                - contains "hello"

    Cure:
        suite: greeting
        eval:
          test_cases:
            - name: hello
              message: |
                Say hello
              validate:
                - contains "hello"
    """

    code: ClassVar[str] = "EV123"

    def message(self) -> str:
        return "the text of a block begins on the line below its `|` or `>`"

    def help(self) -> str:
        return "write `|` or `>` alone at the end of the line, and the text below it, indented with spaces"


class BadAnchor(Finding, frozen=True, kw_only=True):
    """A value begins with `*` or `&`, and no name of an anchor follows.

    In YAML, `&name` marks a value and `*name` refers to it. The name follows at once, is made of letters, digits, `-`
    and `_`, and ends with the value or at a space. Most often the sign is meant as text, as in Markdown's
    `*hello*`: then the text needs quotes.

    Example:
        suite: greeting
        eval:
          test_cases:
            - name: hello
              message: *hello* world
              validate:
                - contains "hello"

    Cure:
        suite: greeting
        eval:
          test_cases:
            - name: hello
              message: '*hello* world'
              validate:
                - contains "hello"
    """

    code: ClassVar[str] = "EV124"
    sign: str
    quoted: str

    def message(self) -> str:
        what = "an alias" if self.sign == "*" else "an anchor"
        return f"YAML reads this `{self.sign}` as the beginning of {what}, but no name follows"

    def help(self) -> str:
        return _quote("it, if it is meant as text", self.quoted)


class MissingComma(Finding, frozen=True, kw_only=True):
    """The items of `[...]` or `{...}` are not separated by commas.

    The items of a list or mapping in brackets are separated by commas, and `: `, brackets and quotes have a
    meaning inside them. A text that holds such a character needs quotes.

    Example:
        suite: greeting
        eval:
          test_cases:
            - name: hello
              message: Say hello
              validate:
                - contains "hello"
              tags: ['a' 'b']

    Cure:
        suite: greeting
        eval:
          test_cases:
            - name: hello
              message: Say hello
              validate:
                - contains "hello"
              tags: ['a', 'b']
    """

    code: ClassVar[str] = "EV125"
    closing: str

    def message(self) -> str:
        return f"`,` or `{self.closing}` is expected here"

    def help(self) -> str:
        return "put a comma between the items; quote a text that holds brackets, colons or quotes"


class StrayBracket(Finding, frozen=True, kw_only=True):
    """A closing bracket closes nothing.

    No bracket of its kind is open here: it is extra, of the wrong kind, or part of a text that needs quotes.

    Example:
        suite: greeting
        eval:
          test_cases:
            - name: hello
              message: Say hello
              validate:
                - contains "hello"
              tags: [a, b]]

    Cure:
        suite: greeting
        eval:
          test_cases:
            - name: hello
              message: Say hello
              validate:
                - contains "hello"
              tags: [a, b]
    """

    code: ClassVar[str] = "EV126"
    bracket: str
    opening: str

    def message(self) -> str:
        if self.opening:
            return f"`{self.bracket}` cannot close the `{self.opening}` that is open here"
        return f"this `{self.bracket}` closes nothing"

    def help(self) -> str:
        return "remove it, or quote the text that it belongs to"


class InvalidJson(Finding, frozen=True, kw_only=True):
    """A JSON file is not valid JSON.

    A file whose name ends with `.json` holds one JSON value. JSON is stricter than YAML: texts and keys are in double
    quotes, commas separate items but do not follow the last one, and there are no comments. evalc does not read the
    file beyond this place.
    """

    code: ClassVar[str] = "EV127"
    found: str
    cure: str = ""

    def message(self) -> str:
        return self.found

    def help(self) -> str:
        return self.cure


class NumberNotJson(Finding, frozen=True, kw_only=True):
    """A number of a JSON file cannot be read.

    JSON has no `NaN` and no `Infinity`, though some programs write them; a number like `1e400` is beyond what a
    computer's numbers can hold; and whole numbers of thousands of digits are refused because reading them takes
    too long.
    """

    code: ClassVar[str] = "EV128"
    text: str

    def message(self) -> str:
        return f"`{_shown(self.text)}` is not a number that JSON can hold"

    def help(self) -> str:
        return "write a finite number, or put it in double quotes"


class HalfCharacter(Finding, frozen=True, kw_only=True):
    r"""An escape is half of a character.

    JSON writes a character beyond U+FFFF as two `\u` escapes, a high one and a low one, and in double quotes YAML may
    do so too. One without the other means nothing and cannot be written as UTF-8.

    Example:
        suite: greeting
        eval:
          test_cases:
            - name: hello
              message: "Say hello \ud83d"
              validate:
                - contains "hello"

    Cure:
        suite: greeting
        eval:
          test_cases:
            - name: hello
              message: "Say hello \ud83d\ude00"
              validate:
                - contains "hello"
    """

    code: ClassVar[str] = "EV129"
    escape: str

    def message(self) -> str:
        return f"`{self.escape}` is half of a character"

    def help(self) -> str:
        return "write both halves (`\\ud83d\\ude00`), or the character itself"


def _shown(text: str) -> str:
    """A text of the author's, short enough for a sentence."""
    return text if len(text) <= 40 else text[:39] + "…"


def _quote(what: str, quoted: str) -> str:
    """How to put a text right that needs quotes: the text itself, unless it is too long to be read in a message."""
    return f"quote {what}: {quoted}" if 0 < len(quoted) <= 200 else f"put {what} in single quotes"


def _spaces_listed(counts: tuple[int, ...]) -> str:
    *first, last = sorted(counts)
    return f"{', '.join(map(str, first))} or {counted(last, 'space')}" if first else counted(last, "space")


class BracketInItem(Finding, frozen=True, kw_only=True):
    """A check that holds a list is unquoted in a list in brackets.

    YAML reads the inner `[` as the start of a list, which is not allowed there, and stops. Give the check a line of
    its own (`- tools called [a]`), or put it in quotes.

    Example:
        suite: greeting
        eval:
          test_cases:
            - name: hello
              message: Say hello
              validate: [tools called [greet], non-empty]

    Cure:
        suite: greeting
        eval:
          test_cases:
            - name: hello
              message: Say hello
              validate: ['tools called [greet]', non-empty]
    """

    code: ClassVar[str] = "EV130"
    quoted: str

    def message(self) -> str:
        return "YAML cannot read brackets within an item of a list in brackets"

    def help(self) -> str:
        return f"{_quote('the item', self.quoted)}, or give it a line of its own"


class CutOffText(Finding, frozen=True, kw_only=True):
    """A `#` cuts off a text that is sent or checked.

    In YAML a `#` after a space begins a comment unless the text is in quotes: of `message: Where is order #4711?` only
    `Where is order` is left. Put the whole text in quotes. If a comment is meant, write a space after its `#`.

    Example:
        suite: orders
        eval:
          test_cases:
            - name: status
              message: Where is order #4711?
              validate:
                - contains "4711"

    Cure:
        suite: orders
        eval:
          test_cases:
            - name: status
              message: 'Where is order #4711?'
              validate:
                - contains "4711"
    """

    code: ClassVar[str] = "EV156"
    quoted: str
    meant_line: MeantLine | None = None

    def message(self) -> str:
        return "a `#` begins a comment here and cuts this text off"

    def label(self) -> str:
        return "cut off at ` #`"

    def help(self) -> str:
        if self.meant_line is not None:
            return f"{self.meant_line.help()}; write `# ` with a space if a comment is meant"
        return _quote_or_space(self.quoted)


class CutOffWords(Finding, frozen=True, kw_only=True):
    """A `#` cuts off a name, a description or another text that is neither sent nor checked.

    In YAML a `#` after a space begins a comment unless the text is in quotes. Put the whole text in quotes. If a
    comment is meant, write a space after its `#`.

    Example:
        suite: orders
        eval:
          test_cases:
            - name: status
              description: From ticket #4711
              message: Where is my order?
              validate:
                - contains "order"

    Cure:
        suite: orders
        eval:
          test_cases:
            - name: status
              description: 'From ticket #4711'
              message: Where is my order?
              validate:
                - contains "order"
    """

    code: ClassVar[str] = "EV157"
    severity: ClassVar[Severity] = "warning"
    quoted: str

    def message(self) -> str:
        return "a `#` begins a comment here and cuts this text off"

    def label(self) -> str:
        return "cut off at ` #`"

    def help(self) -> str:
        return _quote_or_space(self.quoted)


def _quote_or_space(quoted: str) -> str:
    if not quoted:
        return "write `# ` with a space if a comment is meant, else put the whole text in quotes"
    return f"{_quote('the whole text', quoted)}; write `# ` with a space if a comment is meant"
