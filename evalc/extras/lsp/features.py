"""Features of editors: problems and their fixes, style, shares, hover, places of names, symbols."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import Final

from lsprotocol import types as lsp

from evalc.base import collector_off
from evalc.base.files import link_out
from evalc.base.source import Source, Span
from evalc.base.terminal import counted, in_common
from evalc.compiler.pipeline import is_json
from evalc.diagnostics import Fix, Problem
from evalc.diagnostics.fixing import fixed
from evalc.dsl.build_case import CaseTree
from evalc.dsl.build_suite import SharedTree, SuiteTree
from evalc.dsl.format import Unformattable, format_text
from evalc.dsl.places import locate
from evalc.dsl.read_yaml import texts_of
from evalc.dsl.tree import Str
from evalc.extras.lsp.completion import ScalarPlace, Shapes, described_type, phrase_at, place_at, shapes_of
from evalc.extras.lsp.names import KnownNames, Location, Mention, mention_at, mentions, occurrences, share_of
from evalc.extras.lsp.workspace import Document, Encoding, Workspace, beside, range_in, uri_of
from evalc.setup.compile import problems_of
from evalc.tools import Tool

SOURCE: Final = "evalc"
_SEVERITIES: Final = {"error": lsp.DiagnosticSeverity.Error, "warning": lsp.DiagnosticSeverity.Warning}


# --- problems --------------------------------------------------------------------------------------------------------


def diagnostic(problem: Problem, encoding: Encoding) -> lsp.Diagnostic:
    """A problem with what to do about it."""
    finding = problem.finding
    lines = [finding.message(), finding.label(), *finding.help().splitlines()]
    return lsp.Diagnostic(
        range=range_in(problem.source, _visible(problem.source, problem.span), encoding),
        message="\n".join(filter(None, lines)),
        severity=_SEVERITIES[problem.severity],
        code=problem.code,
        source=SOURCE,
        related_information=_related(problem, encoding) or None,
    )


def _visible(source: Source, span: Span) -> Span:
    """The stretch up to the end of its first line: an editor would underline a whole block."""
    end = source.text.find("\n", span.start, span.end)
    return Span(span.start, span.end if end < 0 else max(end, span.start + 1))


def _related(problem: Problem, encoding: Encoding) -> list[lsp.DiagnosticRelatedInformation]:
    places: list[tuple[str, Source, Span]] = []
    if problem.alias is not None:
        places.append(("used by this alias", problem.source, problem.alias))
    if problem.row is not None:
        places.append(("first seen with this row", *problem.row))
    return [
        lsp.DiagnosticRelatedInformation(lsp.Location(uri_of(source.name), range_in(source, span, encoding)), message)
        for message, source, span in places
    ]


# --- fixes -----------------------------------------------------------------------------------------------------------


_IGNORE: Final = "# evalc: ignore"


def actions(
    workspace: Workspace, document: Document, range_: lsp.Range, problems: Sequence[Problem], only: Sequence[str] | None
) -> list[lsp.CodeAction]:
    """Actions for the problems that begin or end within a range of a document."""
    span = Span(document.offset(range_.start), document.offset(range_.end))
    found: list[lsp.CodeAction] = []
    if _is_requested(lsp.CodeActionKind.QuickFix, only):
        near = [each for each in problems if each.span.start <= span.end and span.start <= each.span.end]
        for problem in near:
            found += [] if problem.fix is None else [_quick_fix(workspace, document, problem, problem.fix)]
        found += _ignoring(workspace, document, near)
    if _is_requested(lsp.CodeActionKind.SourceFixAll, only):
        found += _fix_all(workspace, document, problems)
    return found


def _is_requested(kind: lsp.CodeActionKind, only: Sequence[str] | None) -> bool:
    return not only or any(str(kind.value).startswith(each) for each in only)


def _quick_fix(workspace: Workspace, document: Document, problem: Problem, fix: Fix) -> lsp.CodeAction:
    edit = lsp.TextEdit(document.range_of(Span(fix.edit.start, fix.edit.end)), fix.edit.text)
    return lsp.CodeAction(
        title=fix.title,
        kind=lsp.CodeActionKind.QuickFix,
        diagnostics=[diagnostic(problem, workspace.encoding)],
        is_preferred=fix.is_safe,
        edit=lsp.WorkspaceEdit(changes={document.uri: [edit]}),
    )


def _ignoring(workspace: Workspace, document: Document, problems: Sequence[Problem]) -> Iterator[lsp.CodeAction]:
    """An ignore comment for each warning on a line that has none yet; above a line where a text goes on in the next."""
    source = document.source
    for problem in problems:
        line = source.line(problem.start.line)
        if problem.severity != "warning" or "#" in line or is_json(source):
            continue
        start = source.offset(problem.start._replace(column=1))
        end, comment = start + len(line), f"{_IGNORE}[{problem.code}]"
        texts = [text for text in texts_of(source, holding="") if text.start < end]
        if not any(end < text.end for text in texts):
            edit = lsp.TextEdit(document.range_of(Span(end, end)), f" {comment}")
        elif not any(text.start < start <= text.end for text in texts):
            indent = line[: len(line) - len(line.lstrip(" "))]
            edit = lsp.TextEdit(document.range_of(Span(start, start)), f"{indent}{comment}\n")
        else:
            continue
        yield lsp.CodeAction(
            title=f"Ignore {problem.code} on this line",
            kind=lsp.CodeActionKind.QuickFix,
            diagnostics=[diagnostic(problem, workspace.encoding)],
            edit=lsp.WorkspaceEdit(changes={document.uri: [edit]}),
        )


def _fix_all(workspace: Workspace, document: Document, problems: Sequence[Problem]) -> Iterator[lsp.CodeAction]:
    """The edit that `evalc check --fix` would make, with its proof that nothing new goes wrong."""
    check = partial(problems_of, settings=workspace.settings(document.path))
    if not any(problem.fix is not None and problem.fix.is_safe for problem in problems):
        return
    codes = {problem.code for problem in problems}
    with collector_off():
        done = fixed(document.source, check(document.source), check, selected=lambda problem: problem.code in codes)
    if done.fixes:
        whole = document.range_of(Span(0, len(document.source.text)))
        yield lsp.CodeAction(
            title=f"Fix {counted(done.fixes, 'problem')} (evalc check --fix)",
            kind=lsp.CodeActionKind.SourceFixAll,
            edit=lsp.WorkspaceEdit(changes={document.uri: [lsp.TextEdit(whole, done.text)]}),
        )


# --- style -----------------------------------------------------------------------------------------------------------


def formatting(workspace: Workspace, document: Document) -> list[lsp.TextEdit]:
    """The one edit that formats a document, as short as it can be; none if it cannot be formatted."""
    if is_json(document.source) or not workspace.outline(document).kinds:
        return []
    before = document.source.text
    try:
        after = format_text(before)
    except Unformattable:
        return []
    if after == before:
        return []
    start = before.rfind("\n", 0, in_common(before, after)) + 1
    end = in_common(before[start:][::-1], after[start:][::-1])
    return [lsp.TextEdit(document.range_of(Span(start, len(before) - end)), after[start : len(after) - end])]


# --- shares of the score ---------------------------------------------------------------------------------------------


def hints(workspace: Workspace, document: Document, range_: lsp.Range) -> list[lsp.InlayHint]:
    """The hints within a range of a document."""
    shown = Span(document.offset(range_.start), document.offset(range_.end))
    found: list[lsp.InlayHint] = []
    for suite in workspace.outline(document).suites:
        for criterion in suite.criteria:
            share = share_of(criterion, suite.criteria)
            end = (criterion.name if criterion.weight is None else criterion.weight).span.end
            if share is not None and shown.start <= end <= shown.end:
                place = document.range_of(Span(end, end)).start
                found.append(lsp.InlayHint(place, share, padding_left=True, tooltip="its share of the score"))
    return found


# --- hover -----------------------------------------------------------------------------------------------------------


_LONGEST_VALUE: Final = 500


def hover(workspace: Workspace, document: Document, position: lsp.Position) -> lsp.Hover | None:
    """The hover at a place; None if nothing is known of it."""
    offset = document.offset(position)
    found = workspace.around(document, offset)
    known = KnownNames(workspace, document, offset)
    mention = mention_at(mentions(found), offset)
    text = None if mention is None else _of_mention(known, mention)
    if mention is not None and text is not None:
        return _hover(document, text, mention.span)
    place = place_at(found.documents, offset)
    if place is None:
        return None
    text = _of_place(shapes_of(found), document, place, offset)
    return _hover(document, text, Span(place.scalar.start, place.scalar.end)) if text else None


def _hover(document: Document, text: str, span: Span) -> lsp.Hover:
    return lsp.Hover(lsp.MarkupContent(lsp.MarkupKind.Markdown, text), document.range_of(span))


def _of_mention(known: KnownNames, mention: Mention) -> str | None:
    name = mention.name
    match mention.kind:
        case "criterion" if criterion := next((each for each in known.criteria if each.name.value == name), None):
            share = share_of(criterion, known.criteria)
            weight = "" if criterion.weight is None else f", weight {criterion.weight.value:g}"
            of_all = "" if share is None else f", {share} of the score"
            return _lines(f"**{name}**: criterion{weight}{of_all}", criterion.description or "")
        case "rule" if rule := next((each for each in known.rules if each.name.value == name), None):
            checks = (f"- {rule.source.text[slice(*check.span)]}" for check in rule.checks)
            return "\n".join([f"**{name}**: rule", "", "```yaml", *checks, "```"])
        case "input" if declared := next((each for each in known.inputs if each.name.value == name), None):
            type_ = "" if declared.type is None else f", {declared.type.value}"
            options = ", ".join(f"`{each.value}`" for each in declared.options or ())
            required = "required" if declared.required else "optional"
            return _lines(f"**{name}**: {required} input{type_}", options and f"one of {options}")
        case "tool" if tool := known.tools.get(name):
            return _tool(tool)
        case "seed":
            value, file = known.seed_value(name), known.settings.seed_file
            if value is not None:
                return f"`{name}` is `{value[:_LONGEST_VALUE]}` in the seed manifest"
            why = "no seed manifest is configured" if file is None else f"`{file}` has none"
            return f"`{name}` has no value: {why}"
        case _:
            return None


def _tool(tool: Tool) -> str:
    properties = (tool.parameters or {}).get("properties", {})
    required = set((tool.parameters or {}).get("required", ()))
    lines = [
        f"- `{name}`{'' if name in required else ' (optional)'}: {shape.get('description', shape.get('type', ''))}"
        for name, shape in properties.items()
        if isinstance(shape, dict)
    ]
    return "\n".join([f"**{tool.name}**: tool", "", tool.description or "", "", *lines]).strip()


def _of_place(shapes: Shapes, document: Document, place: ScalarPlace, offset: int) -> str:
    """The description of a key or a check."""
    scalar = place.scalar
    if place.is_key:
        sentence = shapes.described(place)
        return _lines(f"**{scalar.text}**", sentence) if sentence else ""
    if place.keys[-1:] == ("type",) and (described := described_type(scalar.text)):
        return described
    if shapes.is_check(place):
        token, length = Span(scalar.start, scalar.end), len(scalar.text)
        ends = (locate(document.source, token, index, index + 1).end for index in range(length))
        phrase = phrase_at(scalar.text, next((index for index, end in enumerate(ends) if end > offset), length))
        return "" if phrase is None else phrase.described
    return shapes.described(place)


def _lines(*parts: str) -> str:
    return "\n\n".join(filter(None, parts))


# --- places of names -------------------------------------------------------------------------------------------------


_RENAMED: Final = frozenset({"rule", "criterion", "prompt", "input"})
_NAME: Final = re.compile(r"[A-Za-z_][\w-]*")
_WORDS_OF_YAML: Final = frozenset({"true", "false", "null"})


class NotRenamed(Exception):
    """Why a name cannot be changed."""


def definition(workspace: Workspace, document: Document, position: lsp.Position) -> list[lsp.Location]:
    """Where the name at a place is declared; of a file, the file."""
    mention = _mention(workspace, document, position)
    if mention is None:
        return []
    known = KnownNames(workspace, document, mention.span.start)
    match mention.kind:
        case "file":
            path = beside(document.path, mention.name)
            return [_beginning(path)] if path is not None and path.is_file() else []
        case "seed":
            place = known.seed_place(mention.name)
            return [] if place is None else [_location(workspace, *place)]
        case "tool":
            tool = known.tools.get(mention.name)
            return [] if tool is None or tool.place is None else [_beginning(Path(tool.place.file), tool.place.line)]
        case "input":
            place = known.input_place(mention.name)
            return [] if place is None else [_location(workspace, *place)]
        case _:
            found = occurrences(workspace, document.path, mention)
            return [_location(workspace, each.source, each.mention.span) for each in found if each.mention.defines]


def references(
    workspace: Workspace, document: Document, position: lsp.Position, *, declarations: bool
) -> list[lsp.Location]:
    """Every use in the project of the name at a place."""
    mention = _mention(workspace, document, position)
    found = [] if mention is None else occurrences(workspace, document.path, mention)
    return [
        _location(workspace, each.source, each.mention.span)
        for each in found
        if declarations or not each.mention.defines
    ]


def highlights(workspace: Workspace, document: Document, position: lsp.Position) -> list[lsp.DocumentHighlight]:
    """Every use in its document of the name at a place."""
    mention = _mention(workspace, document, position)
    found = mentions(workspace.outline(document))
    same = [] if mention is None else [each for each in found if each[:2] == mention[:2]]
    kinds = {True: lsp.DocumentHighlightKind.Write, False: lsp.DocumentHighlightKind.Read}
    return [lsp.DocumentHighlight(document.range_of(each.span), kinds[each.defines]) for each in same]


def prepare_rename(workspace: Workspace, document: Document, position: lsp.Position) -> lsp.Range | None:
    """The name at a place, if it can be changed; None if there is none."""
    mention = _mention(workspace, document, position)
    return None if mention is None or mention.kind not in _RENAMED else document.range_of(mention.span)


def rename(workspace: Workspace, document: Document, position: lsp.Position, name: str) -> lsp.WorkspaceEdit:
    """The edits that give the thing at a place another name, in every file that names it.

    Raises:
        NotRenamed: nothing there can be renamed, or the name needs quotes somewhere.
    """
    mention = _mention(workspace, document, position)
    if mention is None or mention.kind not in _RENAMED:
        raise NotRenamed("only rules, criteria, inputs and ids of prompts can be renamed")
    if not _NAME.fullmatch(name) or name.lower() in _WORDS_OF_YAML:
        raise NotRenamed(f"`{name}` is not a name: use letters, digits, `-` and `_`, beginning with a letter")
    if link_out(document.path) is not None:
        raise NotRenamed("a link leads out of the project here, where nothing is written")
    found = occurrences(workspace, document.path, mention)
    _refuse_taken(workspace, found, mention, name)
    changes: dict[str, list[lsp.TextEdit]] = {}
    for each in found:
        edits = changes.setdefault(_uri(workspace, each.source), [])
        edits.append(lsp.TextEdit(range_in(each.source, each.mention.span, workspace.encoding), name))
    return lsp.WorkspaceEdit(changes=changes)


def _refuse_taken(workspace: Workspace, found: Iterable[Location], mention: Mention, name: str) -> None:
    """Refuse a name that something else of the same kind has already."""
    for path in {Path(each.source.name) for each in found}:
        outline = workspace.outline_of(path)
        taken = () if outline is None else mentions(outline)
        if any(each.defines and (each.kind, each.name) == (mention.kind, name) for each in taken):
            raise NotRenamed(f"there is another {mention.kind} `{name}` in {path.name}")


def _mention(workspace: Workspace, document: Document, position: lsp.Position) -> Mention | None:
    return mention_at(mentions(workspace.outline(document)), document.offset(position))


def _location(workspace: Workspace, source: Source, span: Span) -> lsp.Location:
    return lsp.Location(_uri(workspace, source), range_in(source, span, workspace.encoding))


def _uri(workspace: Workspace, source: Source) -> str:
    """The address of a source; of an open document, as the editor writes it."""
    uri = uri_of(source.name)
    document = workspace.get(uri)
    return uri if document is None else document.uri


def _beginning(path: Path, line: int = 1) -> lsp.Location:
    place = lsp.Position(line - 1, 0)
    return lsp.Location(uri_of(path), lsp.Range(place, place))


# --- symbols ---------------------------------------------------------------------------------------------------------


_MOST_FOUND: Final = 500


def symbols(workspace: Workspace, document: Document) -> list[lsp.DocumentSymbol]:
    """The contents of a document, as a tree."""
    found = workspace.outline(document)
    starts = [suite.span.start for suite in found.suites]
    ends = [*starts[1:], len(found.source.text)]
    suites = [_suite(document, suite, end) for suite, end in zip(found.suites, ends, strict=False)]
    shared = [symbol for each in found.shared for symbol in _rules(document, each)]
    prompts = [
        _symbol(document, each.id, lsp.SymbolKind.File, "prompt") for each in found.prompts if each.id is not None
    ]
    return [*suites, *shared, *prompts]


def _suite(document: Document, suite: SuiteTree, end: int) -> lsp.DocumentSymbol:
    children = [
        *(_symbol(document, each.name, lsp.SymbolKind.Property, each.description or "") for each in suite.criteria),
        *_rules(document, suite.shared),
        *_cases(document, suite.cases, end),
    ]
    title = suite.name or (None if suite.prompt is None else suite.prompt.id)
    name = Path(document.path).name if title is None else title.value
    whole = document.range_of(Span(suite.span.start, end))
    return lsp.DocumentSymbol(
        name=name or "suite",
        kind=lsp.SymbolKind.Module,
        range=whole,
        selection_range=document.range_of(suite.span if title is None else title.span),
        detail="" if suite.tier is None else suite.tier.value,
        children=[each for each in children if whole.start <= each.range.start and each.range.end <= whole.end],
    )


def _rules(document: Document, shared: SharedTree) -> Iterator[lsp.DocumentSymbol]:
    for rule in shared.rules:
        yield _symbol(document, rule.name, lsp.SymbolKind.Function, "rule")


def _cases(document: Document, cases: Iterable[CaseTree], end: int) -> Iterator[lsp.DocumentSymbol]:
    listed = list(cases)
    for case, following in zip(listed, [*listed[1:], None], strict=False):
        until = end if following is None else following.span.start
        text = document.source.text[case.span.start : until].rstrip().rstrip("-").rstrip()
        whole = Span(case.span.start, max(case.span.start + len(text), case.name.span.end))
        description = "" if case.description is None else case.description.value
        yield _symbol(document, case.name, lsp.SymbolKind.Method, description, whole)


def _symbol(
    document: Document, name: Str, kind: lsp.SymbolKind, detail: str, whole: Span | None = None
) -> lsp.DocumentSymbol:
    whole = whole or name.span
    around = Span(min(whole.start, name.span.start), max(whole.end, name.span.end))
    return lsp.DocumentSymbol(
        name=name.value or "(no name)",
        kind=kind,
        range=document.range_of(around),
        selection_range=document.range_of(name.span),
        detail=detail,
    )


def workspace_symbols(workspace: Workspace, folders: Iterable[Path], query: str) -> list[lsp.WorkspaceSymbol]:
    """The cases, rules and criteria of the folders whose names have the letters of the query in their order."""
    paths = chain.from_iterable(workspace.project_files(folder / "x.eval.yaml") for folder in folders)
    found = chain.from_iterable(_matching(workspace, path, query.lower()) for path in paths)
    return [*islice(found, _MOST_FOUND)]


def _matching(workspace: Workspace, path: Path, query: str) -> Iterator[lsp.WorkspaceSymbol]:
    outline = workspace.outline_of(path)
    for suite in () if outline is None else outline.suites:
        names = [
            *((case.name, lsp.SymbolKind.Method) for case in suite.cases),
            *((rule.name, lsp.SymbolKind.Function) for rule in suite.shared.rules),
            *((criterion.name, lsp.SymbolKind.Property) for criterion in suite.criteria),
        ]
        for name, kind in names:
            letters = iter(name.value.lower())
            if outline is not None and all(letter in letters for letter in query):
                place = lsp.Location(uri_of(path), range_in(outline.source, name.span, workspace.encoding))
                container = None if suite.name is None else suite.name.value or None
                yield lsp.WorkspaceSymbol(
                    location=place, name=name.value or "(no name)", kind=kind, container_name=container
                )
