"""Resolves the names of a suite and its tool, the prompt of each case and its inputs."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from copy import copy
from functools import cache, cached_property, partial
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, final

import msgspec

from evalc import base
from evalc.base.files import project_root
from evalc.base.source import Source, Span, is_within, where_used
from evalc.compiler.fill import readings, root_of, tokens, variables
from evalc.compiler.libraries import PromptLibrary, named_file, read_named, read_prompts
from evalc.compiler.merge import GivenInput, MergedCase, MergedSuite
from evalc.compiler.rows import Row
from evalc.diagnostics import Diagnostics, Finding
from evalc.diagnostics.near import nearest
from evalc.dsl import nodes as n
from evalc.dsl.build_case import CaseTree, StubAnswerTree
from evalc.dsl.build_prompt import InputTree, PromptTree
from evalc.dsl.build_rule import CHECK_TYPES
from evalc.dsl.build_suite import SuiteTree
from evalc.dsl.nodes import Node, Scalar, one_or_many, stretch
from evalc.dsl.places import locate
from evalc.dsl.read_yaml import texts_of
from evalc.dsl.scalars import Kind, kind_of, to_plain
from evalc.dsl.tree import Str
from evalc.dsl.walk import described, is_null
from evalc.ecma import trim
from evalc.grammar import nodes as g
from evalc.grammar.parse import parse_template
from evalc.model.json import composed
from evalc.model.suite import is_slug, slug

if TYPE_CHECKING:
    from inspect import Signature

Declared = Mapping[str, InputTree]


def check_inputs(
    case: MergedCase,
    inputs: Mapping[str, GivenInput],
    row: Row | None,
    declared: Declared | None,
    *,
    partial: bool,
    required: Set[str],
    problems: Diagnostics,
) -> None:
    """Report inputs that are given and not declared or not allowed; and in the order of declarations, missing ones.

    `inputs` are those that the case gives, or its `row` does. `partial` says that there may have been more
    declarations.
    """
    own = frozenset() if row is None else frozenset(cell.name.value for cell in row.cells)
    typos: set[str | None] = set()  # misspelt inputs, which are reported already
    for name, given in inputs.items():
        tree = None if declared is None else declared.get(name)
        if tree is not None:
            finding = _misfit(tree, given.value)
            if finding is not None:
                problems.add(given.source, given.value.span, finding)
        elif declared is not None and not partial and (name not in own or _is_typo(name, declared, inputs)):
            problems.add(given.source, given.name.span, Finding("EV207", name=name, known=tuple(declared)))
            typos.add(nearest(name, declared))
    if required <= inputs.keys():
        return
    missing = required - inputs.keys() - typos
    if not missing or case.tree.partial or case.inputs_partial or (partial and declared is None):
        return
    of = case.tree
    source, span = (of.source, (of.inputs_key or of.name).span) if row is None else (row.source, row.span)
    places = {name: index for index, name in enumerate(declared or ())}
    for name in sorted(missing, key=lambda name: (places.get(name, 0), name)):
        problems.add(source, span, Finding("EV208", name=name, case=of.name.value))


def _is_typo(name: str, declared: Declared, inputs: Mapping[str, GivenInput]) -> bool:
    """Whether a column, which checks may use by itself, seems to be meant for an input that is not given."""
    near = nearest(name, declared)
    return near is not None and near not in inputs


# --- types -----------------------------------------------------------------------------------------------------------


def _misfit(tree: InputTree, value: Node) -> Finding | None:
    """The finding about a value of a declared input."""
    if (tree.type is None and not tree.options) or is_null(value):
        return None
    expected = None if tree.type is None else _unlike(_TYPES.get(tree.type.value.strip().lower(), ""), value)
    if expected is not None:
        return Finding("EV314", name=tree.name.value, expected=expected, found=described(value))
    options = tuple(option.value for option in tree.options or ())
    for item in one_or_many(value) if options else ():
        if isinstance(item, Scalar) and item.text not in options:
            return Finding("EV315", name=tree.name.value, value=item.text, options=options)
    return None


_TYPES: Final = {
    **dict.fromkeys(("string", "str", "text", "textarea", "multiline", "markdown", "code", "url", "email"), "text"),
    **dict.fromkeys(("integer", "int"), "integer"),
    **dict.fromkeys(("number", "float", "double", "decimal"), "number"),
    **dict.fromkeys(("boolean", "bool"), "boolean"),
    **dict.fromkeys(("array", "list", "multiselect", "string[]", "array of strings", "list of strings"), "list"),
    **dict.fromkeys(("object", "dict", "map", "mapping", "record"), "mapping"),
}
"""The names of types that prompt files use; what another one asks for is not known, so nothing is checked."""

_NUMBERS: Final[dict[str, tuple[str, frozenset[Kind]]]] = {
    "integer": ("a whole number", frozenset({"int"})),
    "number": ("a number", frozenset({"int", "float"})),
    "boolean": ("true or false", frozenset({"bool"})),
}


def _unlike(type_: str, value: Node) -> str | None:
    """The type that a value is not, in words; None if it fits.

    A scalar counts by its text: in a prompt `"3"` and `3` are the same.
    """
    match type_:
        case "text":
            return None if isinstance(value, Scalar) else "a text"
        case "list":
            # A text in place of a list: one item, or a list that is written out, as tables of rows have it.
            return "a list" if isinstance(value, n.Mapping) else None
        case "mapping":
            return "a mapping" if isinstance(value, n.Sequence) else None
        case "":
            return None
    words, kinds = _NUMBERS[type_]
    if isinstance(value, Scalar) and kind_of(Scalar(value.at, value.text, "plain")) in kinds:
        return None
    return words


_NAMES_OF_CASES: Final = frozenset({"cases", "test_cases", "test-cases", "tests", "eval", "evals"})
_COMMENT: Final = re.compile(r"#(?<!\S#)")
"""The beginning of a comment outside of texts."""
_TEMPLATE: Final = re.compile(r"(?<!\\)\{\{\s*(?P<name>[A-Za-z_][\w.-]*)\s*\}\}")
_OTHER_BRACES: Final = re.compile(r"(?<![{\\])\$?\{\s*(?P<name>[A-Za-z_][\w.-]*)\s*\}(?!\})")
"""Matches a name in the braces of other template languages, such as `{city}` and `${city}`."""


@final
class ResolvedPrompt(msgspec.Struct, frozen=True, kw_only=True, dict=True):
    """A prompt with its parsed template; `template` is None if the template has faults."""

    tree: PromptTree
    template: g.Template | None

    @cached_property
    def unguarded(self) -> frozenset[str]:
        """The names that it cannot do without."""
        parts = () if self.template is None else self.template.parts
        return frozenset(variable.name for variable, may_be_absent in variables(parts) if not may_be_absent)

    @cached_property
    def unguarded_paths(self) -> tuple[str, ...]:
        """Those of them that may be paths into an input."""
        return tuple(name for name in self.unguarded if len(readings(name)) > 1)


@final
class Variant(msgspec.Struct, frozen=True, kw_only=True, dict=True):
    """A prompt or message that a case is sent with."""

    name: str | None = None  # the prompt's name among those that the suite compares; None if it compares none
    prompt: ResolvedPrompt | None  # the prompt; None if there is none, or it was not found
    declared: Mapping[str, InputTree] | None  # the declared inputs by name; None if nothing declares any
    # whether there may have been more declarations: some are wrong, or the prompt could not be found
    partial: bool = False
    given: frozenset[str] = frozenset()  # every input that some case gives

    @cached_property
    def defaults(self) -> dict[str, Node]:
        """The defaults of the declared inputs."""
        return {name: tree.default for name, tree in (self.declared or {}).items() if tree.default is not None}

    @cached_property
    def alone(self) -> Variant:
        """The same without a prompt."""
        return msgspec.structs.replace(self, name=None, prompt=None)

    @cached_property
    def required(self) -> Set[str]:
        """The inputs that are declared as required; where none is declared, those that the prompt cannot do without."""
        if self.declared is not None:
            return {name for name, tree in self.declared.items() if tree.required}
        if self.prompt is None:
            return frozenset()
        roots = (root_of(path, self.given) for path in self.prompt.unguarded_paths)
        return (self.prompt.unguarded & self.given).union(root for root in roots if root is not None)


_USUAL: Final = Path("evals") / "checks.py"
"""Where a project's checks usually are; the configuration has to name even that file."""


@final
class CustomChecks:
    """The checks of a project: of the files that its configuration names, and of the packages that are installed."""

    def __init__(self, files: Sequence[Path], root: Path | None, problems: Diagnostics) -> None:
        self._files = files
        self._root = root
        self._declared: dict[str, Signature] = {}
        self._is_whole = True  # whether all that the files declare could be read
        for file in files:
            of_file = Diagnostics()
            for name, source, span, signature in _declared_in(file, of_file):
                if name in self._declared:
                    problems.add(source, span, Finding("EV206", what="check", name=name))
                self._declared[name] = signature
            self._is_whole = self._is_whole and not len(of_file)
            problems.extend(of_file)

    def beside(self, source: Source) -> CustomChecks:
        """These checks, and those that a suite in Python has brought."""
        if not source.functions:
            return self
        from evalc.compiler.custom import signature_of  # noqa: PLC0415 - as below

        both = copy(self)
        both._declared = self._declared | {name: signature_of(each) for name, each in source.functions.items()}
        return both

    def fault(self, name: str, args: Sequence[Any], options: Mapping[str, Any]) -> Finding | None:
        """The finding about a call of a check; None if it can be called so, as far as is known without its package."""
        if name in self._declared:
            from evalc.compiler.custom import misfit  # noqa: PLC0415 - for start-up: few projects have such checks

            return misfit(name, self._declared[name], args, options)
        offered = (*self._declared, *base.names_offered("evalc.checks"))
        if name in offered or not self._is_whole:
            return None
        file = "" if self._root is None else self._unnamed(self._root, name)
        known = (*offered, *CHECK_TYPES)
        return Finding("EV203", name=name, of_package=True, offered=offered, known=known, file=file)

    def _unnamed(self, root: Path, name: str) -> str:
        """The usual file, if it declares the check and the configuration does not name it."""
        file = root / _USUAL
        if not file.is_file() or any(each.exists() and file.samefile(each) for each in self._files):
            return ""
        return _USUAL.as_posix() if name in (each for each, *_ in _declared_in(file, Diagnostics())) else ""


def _declared_in(file: Path, problems: Diagnostics) -> Iterator[tuple[str, Source, Span, Signature]]:
    from evalc.compiler.custom import declared_in  # noqa: PLC0415 - as above

    return declared_in(file, problems)


@final
class Names(msgspec.Struct, frozen=True, kw_only=True):
    """Resolves the names of a suite."""

    suite: str  # the suite's name, a slug
    tool: str  # the tool's name
    variants: tuple[Variant, ...]  # the suite's prompts; a suite that compares none has one
    wants_prompt: bool  # whether it names one
    case_prompts: Mapping[str, ResolvedPrompt]  # the prompts that cases name themselves, by id
    checks: CustomChecks  # the checks that are not evalc's own
    given: frozenset[str]  # every input that some case gives
    given_partial: bool  # whether cases may have been meant to give more

    def variants_of(self, case: CaseTree) -> tuple[Variant, ...]:
        """The variants that a case is sent with; a case with words or a prompt of its own is sent once."""
        if case.prompt_id is not None:
            return (_named(self.case_prompts.get(case.prompt_id.value), self.given),)
        if case.message is not None:
            return (self.variants[0].alone,)
        if case.has_own_words:
            first = self.variants[0]  # its role and instructions precede a conversation, if no others compete
            return (first if first.name is None else first.alone,)
        return self.variants


def resolve_names(
    suite: MergedSuite,
    library: PromptLibrary,
    checks: CustomChecks,
    inputs_sent: frozenset[str],
    problems: Diagnostics,
) -> Names:
    """Look up every name of a suite and report those that mean nothing."""
    tree = suite.tree
    name = suite_name(tree, library.find, problems)
    given = frozenset(_given_by(suite.cases))
    names = Names(
        suite=name,
        tool=name if tree.tool is None else _checked_slug(tree.source, tree.tool, "tool's name", problems) or name,
        variants=tuple(_variants(tree, given, library, problems)),
        wants_prompt=_wants_prompt(tree),
        case_prompts=_case_prompts(tree, library, problems),
        checks=checks.beside(tree.source),
        given=given,
        given_partial=any(map(attrgetter("inputs_partial"), suite.cases)),
    )
    _check_unique(tree, name, problems)
    _check_prompt_variables(tree, names, problems)
    for source, declaration in _declarations(tree, names):
        if declaration.default is not None:  # it has to be a JSON value, which the declaration itself allows
            to_plain(declaration.default, partial(problems.add, source))
            finding = _misfit(declaration, declaration.default)
            if finding is not None:
                problems.add(source, declaration.default.span, finding)
    comments_of = cache(_Comments)
    _check_used(tree, names, inputs_sent, comments_of(tree.source), problems)
    known = given.union(each.name.value for each in tree.inputs or ())
    _check_braces(tree, known, comments_of(tree.source), problems)
    _check_stubs(suite.cases, known, comments_of, problems)
    return names


def _given_by(cases: Sequence[MergedCase]) -> set[str]:
    given = {item.name.value for case in cases for layer in case.layers for item in layer.fields.inputs or ()}
    return given.union(*(case.rows.columns for case in cases if case.rows is not None))


# --- names of the suite ----------------------------------------------------------------------------------------------


def suite_name(tree: SuiteTree, find: Callable[[str], Sequence[PromptTree]], problems: Diagnostics) -> str:
    """The name that the suite gives itself, else its prompt's id or its file's name; a prompt's id need not be a slug.

    Where a prompt with evals is a suite itself, its external cases are another. `find` gives the prompts with an id.
    """
    if tree.name is not None:
        return _checked_slug(tree.source, tree.name, "suite's name", problems) or "suite"
    by_file = slug(stem(tree.source.name)) or "suite"
    if tree.prompt is not None:
        return by_file if tree.prompt.id is None else _slug_of(tree.prompt.id.value) or by_file
    by_prompt = "" if tree.prompt_id is None else _slug_of(tree.prompt_id.value)
    if tree.prompt_id is None or not by_prompt:
        return by_file
    if _is_called_cases(by_file):
        label, kind = _named_by_folder(Path(tree.source.name)), by_file
    else:
        label = by_file.removesuffix(".cases")
        kind = "" if label == by_file else "cases"
    is_plain = not kind or by_file.lower() == "cases"
    if is_plain and not any(prompt.has_evals for prompt in find(tree.prompt_id.value)):
        return by_prompt if kind else by_file
    return _name_of_cases(by_prompt, label, kind)


def _name_of_cases(prompt: str, label: str, kind: str) -> str:
    """A name that begins with the prompt's id: files and folders of one name may belong to several prompts.

    It does not depend on what else is compiled, since baselines go by it.
    """
    if label.startswith(f"{prompt}-"):
        label = label[len(prompt) + 1 :]
    elif f"{prompt}-".startswith(f"{label}-"):
        label = ""
    return "-".join(filter(None, (prompt, label, kind or ("" if label else "eval"))))


def _slug_of(id_: str) -> str:
    return id_ if is_slug(id_) else slug(id_)


def _is_called_cases(name: str) -> bool:
    return name.lower() in _NAMES_OF_CASES


def _named_by_folder(file: Path) -> str:
    """The nearest folder within the project whose name is not such a general one; empty if there is none."""
    folders = file.resolve().parent.relative_to(project_root(file)).parts
    return next((slug(folder) for folder in reversed(folders) if not _is_called_cases(folder)), "")


def _checked_slug(source: Source, name: Str, what: str, problems: Diagnostics) -> str:
    if not is_slug(name.value):
        problems.add(source, name.span, Finding("EV308", what=what, value=name.value, suggestion=slug(name.value)))
        return slug(name.value)
    return name.value


def stem(name: str) -> str:
    """A file's name without its folder and its endings: `x/code-review.eval.yaml` is `code-review`."""
    return re.sub(r"(?i)(\.eval)?\.(ya?ml|jsonl?)$", "", Path(name).name)


def _check_unique(tree: SuiteTree, suite: str, problems: Diagnostics) -> None:
    """Report criteria with one name, and cases with one id: a case's own, or the id made from its name."""
    first: dict[str, Str] = {}
    for criterion in tree.criteria:
        _note(tree.source, "criterion", criterion.name, criterion.name.value, first, problems)
    first_ids: dict[str, Str] = {}
    for case in tree.cases:
        if case.for_each is not None and "{{" in (case.name if case.id is None else case.id).value:
            continue  # each row fills it, and what comes of that is compared where cases are
        if case.id is not None:
            _note(tree.source, "id", case.id, case.id.value, first_ids, problems)
        elif case.name.value:
            _note(tree.source, "test case", case.name, f"{suite}/{case.name.value}", first_ids, problems)


def _note(source: Source, what: str, name: Str, id_: str, first: dict[str, Str], problems: Diagnostics) -> None:
    earlier = first.setdefault(id_ if id_.isascii() else composed(id_), name)
    if earlier is not name:
        line = source.position(earlier.span.start).line
        problems.add(source, where_used(name.span), Finding("EV206", what=what, name=name.value, line=line))


# --- prompts ---------------------------------------------------------------------------------------------------------


def _variants(
    tree: SuiteTree, given: frozenset[str], library: PromptLibrary, problems: Diagnostics
) -> Iterator[Variant]:
    def found(own: PromptTree | None, file: Str | None, id_: Str | None) -> ResolvedPrompt | None:
        if own is not None:
            return _resolved(own, problems)
        if file is not None:
            return _from_file(tree, file, problems)
        return None if id_ is None else _by_id(tree.source, id_, library, problems)

    if not tree.prompts:
        yield _variant(tree, given, None, found(tree.prompt, tree.prompt_file, tree.prompt_id))
    for variant in tree.prompts:
        text = variant.text
        own = None if text is None else PromptTree(source=tree.source, text=text, inputs=tree.inputs)
        yield _variant(tree, given, variant.name.value, found(own, variant.file, variant.id))


def _variant(tree: SuiteTree, given: frozenset[str], name: str | None, prompt: ResolvedPrompt | None) -> Variant:
    inputs = prompt.tree.inputs if prompt is not None and prompt.tree.inputs is not None else tree.inputs
    partial = tree.inputs_partial or (_wants_prompt(tree) if prompt is None else prompt.tree.partial)
    return Variant(name=name, prompt=prompt, declared=_by_name(inputs), partial=partial, given=given)


def _named(prompt: ResolvedPrompt | None, given: frozenset[str]) -> Variant:
    if prompt is None:
        return Variant(prompt=None, declared=None, partial=True)
    return Variant(prompt=prompt, declared=_by_name(prompt.tree.inputs), partial=prompt.tree.partial, given=given)


def _wants_prompt(tree: SuiteTree) -> bool:
    return any((tree.prompt, tree.prompts, tree.prompt_file, tree.prompt_id, tree.prompt_partial))


def _case_prompts(tree: SuiteTree, library: PromptLibrary, problems: Diagnostics) -> dict[str, ResolvedPrompt]:
    named: dict[str, Str] = {}
    for case in tree.cases:
        if case.prompt_id is not None:
            named.setdefault(case.prompt_id.value, case.prompt_id)
    found = {id_: _by_id(tree.source, written, library, problems) for id_, written in named.items()}
    return {id_: prompt for id_, prompt in found.items() if prompt is not None}


def _by_id(source: Source, prompt_id: Str, library: PromptLibrary, problems: Diagnostics) -> ResolvedPrompt | None:
    prompts = library.find(prompt_id.value)
    if len(prompts) == 1:
        return _resolved(prompts[0], problems)
    if prompts:
        files = tuple(sorted(prompt.source.name for prompt in prompts))
        problems.add(source, prompt_id.span, Finding("EV211", id=prompt_id.value, files=files, count=len(files)))
    else:
        finding = Finding("EV209", id=prompt_id.value, known=library.ids, folder=str(library.folder))
        problems.add(source, prompt_id.span, finding)
    return None


def _from_file(tree: SuiteTree, file: Str, problems: Diagnostics) -> ResolvedPrompt | None:
    path = named_file(tree.source, file, problems)
    source = None if path is None else read_named(path, tree.source, file, problems)
    if path is None or source is None:
        return None
    if path.suffix.lower() in {".yaml", ".yml"}:
        prompts = read_prompts(source, problems)
        if not prompts:
            problems.add(tree.source, file.span, Finding("EV202", key="prompt", what=f"the prompt file `{file.value}`"))
        return _resolved(prompts[0], problems) if prompts else None
    said = trim(source.text) if path.suffix.lower() == ".txt" else source.text
    start = source.text.find(said)
    text = Str(stretch(start, start + len(said)), said)
    return _resolved(PromptTree(source=source, text=text, inputs=tree.inputs), problems)


def _resolved(tree: PromptTree, problems: Diagnostics) -> ResolvedPrompt:
    parse = parse_template(tree.text.value)
    for fault in parse.faults:
        problems.add(tree.source, locate(tree.source, tree.text.span, fault.start, fault.end), fault.finding)
    for token in tokens(parse.node.parts) if parse.node is not None else ():
        span = locate(tree.source, tree.text.span, token.start, token.end)
        problems.add(tree.source, span, Finding("EV405", token=token.text, where="a prompt"))
    return ResolvedPrompt(tree=tree, template=parse.node)


# --- inputs ----------------------------------------------------------------------------------------------------------


def _by_name(inputs: tuple[InputTree, ...] | None) -> dict[str, InputTree] | None:
    return None if inputs is None else {tree.name.value: tree for tree in inputs}


def _declarations(tree: SuiteTree, names: Names) -> Iterator[tuple[Source, InputTree]]:
    """Every declared input, and the file that declares it."""
    yield from ((tree.source, declared) for declared in tree.inputs or ())
    for prompt in _prompts(names):
        if prompt.tree.inputs is not tree.inputs:
            yield from ((prompt.tree.source, declared) for declared in prompt.tree.inputs or ())


def _prompts(names: Names) -> Iterator[ResolvedPrompt]:
    yield from (variant.prompt for variant in names.variants if variant.prompt is not None)
    yield from names.case_prompts.values()


def _check_prompt_variables(tree: SuiteTree, names: Names, problems: Diagnostics) -> None:
    """Report the names in prompts that nothing declares and no case gives.

    Where some declarations or inputs are lacking because they are wrong, none; where something else of the suite is
    wrong, those that seem to be misspelt.
    """
    named = [_named(prompt, names.given) for prompt in names.case_prompts.values()]
    for variant in (*names.variants, *named):
        prompt, declared = variant.prompt, variant.declared
        if prompt is None or prompt.template is None or variant.partial or (declared is None and names.given_partial):
            continue
        known = frozenset(declared) if declared is not None else names.given
        for variable, _ in variables(prompt.template.parts):
            if root_of(variable.name, known) is None and (not tree.partial or nearest(variable.name, known)):
                span = locate(prompt.tree.source, prompt.tree.text.span, variable.start, variable.end)
                finding = Finding("EV205", name=variable.name, known=tuple(sorted(known)))
                problems.add(prompt.tree.source, span, finding)


def _check_used(
    tree: SuiteTree, names: Names, inputs_sent: frozenset[str], comments: _Comments, problems: Diagnostics
) -> None:
    """Report inputs that the suite declares and nothing uses, if that is sure: all its templates are at hand.

    A case with neither prompt nor message sends its inputs themselves, and some are sent beside the message.
    """
    prompts = list(_prompts(names))
    if tree.partial or tree.shared.includes or any(prompt.template is None for prompt in prompts):
        return
    if not prompts and (_wants_prompt(tree) or not all(map(attrgetter("has_own_words"), tree.cases))):
        return
    texts = [text for prompt in prompts for text in (prompt.tree.text.value, *prompt.tree.system)]
    for declared in tree.inputs or ():
        name = declared.name.value
        use = re.compile(rf"\{{\{{[^}}]*\b{re.escape(name)}\b")
        if name not in inputs_sent and not any(map(use.search, texts)) and not any(comments.outside(use)):
            problems.add(tree.source, declared.name.span, Finding("EV217", name=name))


def _check_braces(tree: SuiteTree, known: frozenset[str], comments: _Comments, problems: Diagnostics) -> None:
    """Report names in the braces of another template language, which are plain text."""
    text = tree.source.text
    start = text.rfind("\n---", 0, tree.span.start) + 1  # where the suite's document begins, of several
    end = text.find("\n---", tree.span.start)
    for found in comments.outside(_OTHER_BRACES, start, end if end >= 0 else len(text)) if known else ():
        if found["name"] in known:
            finding = Finding("EV224", written=found[0], name=found["name"])
            problems.add(tree.source, Span(*found.span()), finding)


def _check_stubs(
    cases: Sequence[MergedCase],
    known: frozenset[str],
    comments_of: Callable[[Source], _Comments],
    problems: Diagnostics,
) -> None:
    """Report names in the braces of templates in what stubs answer and depend on, which is plain text."""
    if not known:
        return
    layers = [layer.fields for case in cases for layer in case.layers if layer.fields.stubs]
    for fields in {id(fields): fields for fields in layers}.values():
        source = fields.source
        spans = (span for stub in fields.stubs or () for answer in stub.answers for span in _said_by_stub(answer))
        for span in spans:
            for found in comments_of(source).outside(_TEMPLATE, *span):
                if root_of(found["name"], known) is not None:
                    problems.add(source, Span(*found.span()), Finding("EV225", written=found[0], name=found["name"]))


def _said_by_stub(answer: StubAnswerTree) -> Iterator[Span]:
    yield from (part.span for part in (answer.when, answer.answer, answer.error) if part is not None)
    for each in answer.sequence or ():
        yield from _said_by_stub(each)


@final
class _Comments:
    """The comments of a source; its YAML is read only where a `#` may be part of a text."""

    def __init__(self, source: Source) -> None:
        self._source = source

    def outside(self, pattern: re.Pattern[str], start: int = 0, end: int = sys.maxsize) -> Iterator[re.Match[str]]:
        """The matches outside of comments: first those that no `#` precedes on their lines."""
        doubtful: list[re.Match[str]] = []
        for found in pattern.finditer(self._source.text, start, end):
            if is_within(found.start(), self._possible):
                doubtful.append(found)
            else:
                yield found
        yield from (found for found in doubtful if not is_within(found.start(), self._sure))

    @cached_property
    def _possible(self) -> list[Span]:
        return self._begun_outside(())

    @cached_property
    def _sure(self) -> list[Span]:
        return self._begun_outside(sorted(texts_of(self._source)))

    def _begun_outside(self, texts: Sequence[Span]) -> list[Span]:
        """The comments, of which each goes on to the end of its line, if these are all texts that hold a `#`."""
        text = self._source.text
        comments: list[Span] = []
        for sign in _COMMENT.finditer(text):
            start = sign.start()
            if not is_within(start, comments[-1:]) and not is_within(start, texts):
                end = text.find("\n", start)
                comments.append(Span(start, end if end >= 0 else len(text)))
        return comments
