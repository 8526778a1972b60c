"""Reads which checks a file declares: functions under `@evalc.custom_check` of Python, or exports of JavaScript.

The file is never run. Import this only where a project has such files.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import Any, Final

from evalc.base.files import project_root
from evalc.base.source import Position, Source, Span
from evalc.compiler.discover import shown
from evalc.diagnostics import Diagnostics, Finding
from evalc.dsl.sources import read_source
from evalc.ecma.modules import SCRIPTS, ScriptError, linked
from evalc.tools.modules import ExportLists, Expression, ModuleLoader

_DECORATOR: Final = "custom_check"
_DEF: Final = re.compile(r"(?:async\s+)?def\s+(\w+)")


def declared_in(file: Path, problems: Diagnostics) -> Iterator[tuple[str, Source, Span, Signature]]:
    """The checks that a file declares: their names, where these stand, and their parameters but the answer."""
    if file.suffix in SCRIPTS:
        yield from _exported_by(file, problems)
        return
    source = read_source(file, problems.add, name=shown(file))
    if source is None:
        return
    try:
        tree = ast.parse(source.text, source.name)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        at = Position(getattr(error, "lineno", None) or 1, getattr(error, "offset", None) or 1)
        reason = error.msg if isinstance(error, SyntaxError) else str(error) or "it is nested too deeply"
        problems.add(
            source, Span(source.offset(at), source.offset(at) + 1), Finding("EV223", language="Python", reason=reason)
        )
        return
    decorators = {_DECORATOR}
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and node.module in ("evalc", "evalc.checks"):
            decorators |= {name.asname for name in node.names if name.name == _DECORATOR and name.asname}
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        if any(_last_name(decorator) in decorators for decorator in node.decorator_list):
            span = _name_of(node, source)
            if (signature := _signature(node.args)) is None:
                problems.add(source, span, Finding("EV222", name=node.name, takes_nothing=True))
            else:
                yield node.name, source, span, signature


_OF_SCRIPTS: Final = Signature([Parameter("config", Parameter.VAR_KEYWORD)])
_NO_FUNCTIONS: Final = frozenset({"array", "false", "null", "number", "object", "string", "template_string", "true"})


def _exported_by(file: Path, problems: Diagnostics) -> Iterator[tuple[str, Source, Span, Signature]]:
    """The functions that a file of JavaScript exports; one without a name is called as the file is."""
    found = Diagnostics()
    root = project_root(file)
    loader = ModuleLoader(root, found)
    module = loader.open(file, shown(file))
    if module is None:
        problems.extend(found)
        return
    source = module.script.source
    for fault in found:
        problems.add(source, fault.span, Finding("EV223", language="JavaScript", reason="it does not parse here"))
    try:
        linked(file, root, source.text)
    except ScriptError as error:
        problems.add(source, Span(0, 0), Finding("EV223", language="a file of checks", reason=str(error)))
        return
    for name, export, of in ExportLists(loader).of(module):
        node = export.node if isinstance(export, Expression) and of is module else None
        if name == "default" and node is not None and node.type == "object":
            for member in node.named_children:
                named = next((member.child_by_field_name(field) for field in ("key", "name")), None) or member
                yield module.script.text(named), source, module.script.place(named).span, _OF_SCRIPTS
        elif node is None or node.type not in _NO_FUNCTIONS:
            span = module.script.place(node).span if node is not None else Span(0, 0)
            yield file.stem if name == "default" else name, source, span, _OF_SCRIPTS


def _last_name(node: ast.expr) -> str:
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""


def _name_of(function: ast.FunctionDef | ast.AsyncFunctionDef, source: Source) -> Span:
    """Where its name stands, or the beginning of its line."""
    start = source.offset(Position(function.lineno, 1))
    found = _DEF.match(source.line(function.lineno))
    return Span(start, start) if found is None else Span(start + found.start(1), start + found.end(1))


def _signature(arguments: ast.arguments) -> Signature | None:
    """The parameters of a function after the first; None if there is no first one, which is given the answer."""
    positional = [*arguments.posonlyargs, *arguments.args]
    if not positional and arguments.vararg is None:
        return None
    without_default = len(positional) - len(arguments.defaults)
    parameters = [
        Parameter(
            each.arg,
            Parameter.POSITIONAL_ONLY if index < len(arguments.posonlyargs) else Parameter.POSITIONAL_OR_KEYWORD,
            default=Parameter.empty if index < without_default else ...,
        )
        for index, each in enumerate(positional)
    ][1:]
    if arguments.vararg is not None:
        parameters.append(Parameter(arguments.vararg.arg, Parameter.VAR_POSITIONAL))
    for each, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        empty = Parameter.empty if default is None else ...
        parameters.append(Parameter(each.arg, Parameter.KEYWORD_ONLY, default=empty))
    if arguments.kwarg is not None:
        parameters.append(Parameter(arguments.kwarg.arg, Parameter.VAR_KEYWORD))
    return Signature(parameters)


def signature_of(function: Callable[..., Any]) -> Signature:
    """The parameters of a check's function but the answer."""
    first, *others = signature(function).parameters.values()
    return Signature([first, *others] if first.kind is Parameter.VAR_POSITIONAL else others)


def misfit(name: str, signature: Signature, args: Sequence[Any], options: Mapping[str, Any]) -> Finding | None:
    """The finding about arguments that a function does not take, or lacks."""
    by_place = [each for each in signature.parameters.values() if each.kind <= Parameter.POSITIONAL_OR_KEYWORD]
    by_name = [each.name for each in signature.parameters.values() if each.kind in _NAMED]
    kinds = {each.kind for each in signature.parameters.values()}
    if len(args) > len(by_place) and Parameter.VAR_POSITIONAL not in kinds:
        return Finding("EV222", name=name, most=len(by_place), found=len(args), takes=_shown(signature))
    given = {each.name for each in by_place[: len(args)]}
    for option in options:
        if option in given or (option not in by_name and Parameter.VAR_KEYWORD not in kinds):
            known = tuple(each for each in by_name if each not in given)
            takes = _shown(signature)
            return Finding("EV222", name=name, argument=option, twice=option in given, known=known, takes=takes)
    for each in signature.parameters.values():
        is_variable = each.kind in (Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD)
        if each.default is Parameter.empty and not is_variable and each.name not in given.union(options):
            return Finding("EV222", name=name, missing=each.name, takes=_shown(signature))
    return None


_NAMED: Final = (Parameter.POSITIONAL_OR_KEYWORD, Parameter.KEYWORD_ONLY)


def _shown(signature: Signature) -> str:
    """The parameters as Python writes them."""
    return str(signature).replace("=Ellipsis", "=...")
