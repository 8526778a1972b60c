"""Hooks of MkDocs for `make docs`: the site has the pages of the repository where they stand, one page for each
diagnostics code, and one for each file of an example that a page links to.
"""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page
from write_diagnostics_page import entry_text, index

from evalc.diagnostics.catalogue import entries

ROOT: Final = Path(__file__).parents[1]
PAGES: Final = ("docs/**/*.*", "specs/**/*.md", "benchmarks/results/*.md", "examples/*.md", "[ACS]*.md")
CODE: Final = "diagnostics/{}.md"  # from the page of diagnostics
LINK: Final = re.compile(r"(?<=\]\()([\w./-]+)(?=[#)])")
CODE_OR_LINK: Final = re.compile(
    r"^```.*?^```|`[^`\n]+`|\[[^\]\n]*\]\([^)\n]*\)|\b(EV\d{3})\b", re.MULTILINE | re.DOTALL
)


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Give headings the anchors that they have on GitHub."""
    config.mdx_configs["toc"]["slugify"] = slug
    return config


def slug(heading: str, _separator: str) -> str:
    """The anchor of a heading."""
    return re.sub(r"[^\w -]", "", heading).lower().replace(" ", "-")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """The pages of the repository, under their paths there, so that links lead where they do on GitHub."""
    themes = [file for file in files if file.generated_by is None and file.src_dir != config.docs_dir]
    pages = [path for pattern in PAGES for path in sorted(ROOT.glob(pattern))]
    shown = {linked for page in pages if page.suffix == ".md" for linked in linked_files(page)} - set(pages)
    texts: dict[str, str | Path] = {name_of(page): page for page in pages}
    texts |= {f"{name_of(file)}.md": listing(file) for file in sorted(shown)}
    texts |= {"specs/diagnostics.md": index(CODE)}
    texts |= {
        page_of(code): f"{entry_text(entry)[1:]}\n[All codes](../diagnostics.md)\n" for code, entry in entries().items()
    }
    return Files([*themes, *(file_of(config, name, text) for name, text in texts.items())])


def page_of(code: str) -> str:
    """The page of a code."""
    return f"specs/{CODE.format(code.lower())}"


def name_of(path: Path) -> str:
    """The path of a file within the repository."""
    return path.relative_to(ROOT).as_posix()


def linked_files(page: Path) -> Iterator[Path]:
    """The files that a page links to and that are no pages."""
    for target in LINK.findall(page.read_text(encoding="utf-8")):
        file = (page.parent / target).resolve()
        if file.is_file() and file.suffix != ".md":
            yield file


def listing(file: Path) -> str:
    """A page with the text of a file, or with the cells of a notebook."""
    text = file.read_text(encoding="utf-8")
    if file.suffix != ".ipynb":
        return f"# {name_of(file)}\n\n````{file.suffix[1:]}\n{text.rstrip()}\n````\n"
    cells = ((cell["cell_type"], "".join(cell["source"])) for cell in json.loads(text)["cells"])
    return "\n\n".join(said if kind == "markdown" else f"```python\n{said}\n```" for kind, said in cells)


def file_of(config: MkDocsConfig, name: str, text: str | Path) -> File:
    """A file of the site; what is in `docs/` stands at its root."""
    content: dict[str, Any] = {"content": text} if isinstance(text, str) else {"abs_src_path": str(text)}
    file = File.generated(config, name, **content)
    file.dest_uri = file.dest_uri.removeprefix("docs/")
    return file


def on_page_markdown(markdown: str, page: Page, files: Files, **_: Any) -> str:
    """A page as Python's Markdown reads it: names of languages alone, links to the pages of files and of codes."""
    here = posixpath.dirname(page.file.src_uri)
    known = {code: posixpath.relpath(page_of(code), here or ".") for code in entries()}
    known.pop(posixpath.basename(page.file.src_uri).removesuffix(".md").upper(), None)

    def with_link(found: re.Match[str]) -> str:
        code = found[1]
        return f"[{code}]({known[code]})" if code in known else found[0]

    def to_listing(found: re.Match[str]) -> str:
        path = posixpath.normpath(posixpath.join(here, found[0]))
        if files.get_file_from_path(f"{path}.md") is not None:
            return f"{found[0]}.md"
        return posixpath.join(found[0], "README.md") if found[0].endswith("/") else found[0]

    markdown = CODE_OR_LINK.sub(with_link, LINK.sub(to_listing, markdown))
    markdown = re.sub(r"^(```\w+) (?:fragment|wrong|cure)(?= title=|$)", r"\1", markdown, flags=re.MULTILINE)
    return re.sub(r"^\|.*$", lambda row: re.sub(r"`[^`]+`", without_escapes, row[0]), markdown, flags=re.MULTILINE)


def without_escapes(code: re.Match[str]) -> str:
    """Code in a table, where GitHub asks for a backslash before a bar."""
    return code[0].replace("\\|", "|")
