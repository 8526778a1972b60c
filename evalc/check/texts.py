"""Reads texts as checks ask of them: their JSON, as `JSON.parse` does, and the parts of their Markdown.

All of it takes linear time. Markdown is CommonMark with the tables and the bare addresses of GitHub.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, Literal, NoReturn

from evalc.base.json_fault import fault_of
from evalc.ecma import trim

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

_LINE_END: Final = re.compile(r"\r\n?")
_FENCED: Final = re.compile(
    r"^ {0,3}(([`~])\2{2,}+)(?!(?<=`)[^\n]*`)[^\n]*(.*?)(?:\n {0,3}\1\2*[^\S\n]*$|\Z)", re.MULTILINE | re.DOTALL
)
_LONGEST_EXACT: Final = 300


def fenced_blocks(markdown: str) -> list[str]:
    """The text in code fences; a fence that is not closed ends with the text."""
    return [block[3].removeprefix("\n") for block in _FENCED.finditer(_LINE_END.sub("\n", markdown))]


class NotJson(Exception):
    """The text is not JSON; the message says why, and where."""


def parse(text: str) -> Any:
    """`JSON.parse(text)`: no NaN, no trailing comma; the last of equal keys wins.

    Raises:
        NotJson: it is not JSON.
        RecursionError: it is nested more deeply than can be read.
    """
    try:
        return _decoder.decode(text)
    except json.JSONDecodeError as error:
        fault = fault_of(error, text)
        raise NotJson(f"{fault.found} ({fault.where(text)})") from error
    except ValueError as error:
        raise NotJson(str(error)) from error


def parse_leniently(text: str) -> Any:
    """The JSON of the whole text, or of its one fenced block.

    Raises:
        NotJson: neither is JSON, or there are several blocks.
        RecursionError: it is nested more deeply than can be read.
    """
    try:
        return parse(trim(text))
    except NotJson:
        blocks = fenced_blocks(text)
        if not blocks:
            raise
        if len(blocks) > 1:
            raise NotJson(f"there are {len(blocks)} fenced blocks") from None
        return parse(trim(blocks[0]))


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"`{constant}` is not JSON")


def _number(digits: str) -> int | float:
    """Whole numbers are exact, as long as a float could hold them: reading longer ones would take quadratic time."""
    return int(digits) if len(digits) <= _LONGEST_EXACT else float(digits)


_decoder: Final = json.JSONDecoder(parse_constant=_refuse, parse_int=_number)


Part = Literal["table", "list", "code block", "link", "heading"]

_BLOCKS: Final[dict[Part, tuple[str, ...]]] = {
    "table": ("table_open",),
    "list": ("bullet_list_open", "ordered_list_open"),
    "code block": ("fence", "code_block"),
    "heading": ("heading_open",),
}
_ADDRESS: Final = re.compile(r"(?<![\w/])(?:https?://|www\.)\w")
_LANGUAGE: Final = re.compile(r"[^\s{}.,:=]+")
_NAMES: Final = {
    "c#": "csharp",
    "c++": "cpp",
    "cs": "csharp",
    "golang": "go",
    "js": "javascript",
    "kt": "kotlin",
    "md": "markdown",
    "py": "python",
    "python3": "python",
    "rb": "ruby",
    "rs": "rust",
    "sh": "bash",
    "shell": "bash",
    "ts": "typescript",
    "yml": "yaml",
}
"""Aliases of the languages of code blocks."""


def headings(markdown: str) -> list[str]:
    """The headings in order, as a reader sees them: trimmed, and without Markdown's marks."""
    tokens = _parser().parse(markdown)
    return [plain(tokens[index + 1].content) for index, token in enumerate(tokens) if token.type == "heading_open"]


def plain(line: str) -> str:
    """A line of Markdown as a reader sees it: ``the `code` `` and `**Summary**` become `the code` and `Summary`."""
    return trim("".join(_texts(_parser(inline=True).parseInline(line))))


def has(markdown: str, part: Part, language: str | None = None) -> bool:
    """Whether the text has the part; a code block in a language is fenced, and its info string begins with the name."""
    if part == "link":
        inline = _flat(_parser(inline=True).parse(markdown))
        return any(
            each.type == "link_open" or (each.type == "text" and _ADDRESS.search(each.content)) for each in inline
        )
    found = [token for token in _parser().parse(markdown) if token.type in _BLOCKS[part]]
    return bool(found) if language is None else any(_language(token.info) == _language(language) for token in found)


def _language(info: str) -> str:
    found = _LANGUAGE.search(info)
    name = found[0].casefold() if found else ""
    return _NAMES.get(name, name)


def _texts(tokens: list[Token]) -> Iterator[str]:
    for token in _flat(tokens):
        if token.type in ("text", "code_inline"):
            yield token.content
        elif token.type in ("softbreak", "hardbreak"):
            yield " "


def _flat(tokens: list[Token]) -> Iterator[Token]:
    for token in tokens:
        yield token
        yield from _flat(token.children or [])


@lru_cache(maxsize=2)
def _parser(*, inline: bool = False) -> MarkdownIt:
    from markdown_it import MarkdownIt  # noqa: PLC0415 - 40 ms, for the few suites that ask Markdown

    parser = MarkdownIt("commonmark").enable("table")
    if not inline:
        parser.core.ruler.disable("inline")
    return parser
