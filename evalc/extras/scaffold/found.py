"""Finds what a folder has to evaluate: agents, and what first evals can be made of. It reads files, and runs none."""

from __future__ import annotations

import ast
import os
import re
import warnings
from collections import deque
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import islice
from operator import itemgetter
from pathlib import Path, PurePosixPath
from shlex import quote
from typing import Any, Final, NamedTuple

import msgspec

from evalc.base.files import read_limited
from evalc.base.source import Source
from evalc.base.terminal import counted
from evalc.dsl.document_kind import Kind, has_evals, has_examples, is_of_promptfoo, is_of_skills, kind_of_document
from evalc.dsl.nodes import Node
from evalc.dsl.read_yaml import read_yaml
from evalc.dsl.scalars import to_plain
from evalc.dsl.write_yaml import write_yaml
from evalc.grammar.write_check import escaped
from evalc.model.suite import slug


class Agent(NamedTuple):
    """An agent: what it is, its line in `evalc.toml`, and the command that starts it if it is a server."""

    what: str
    line: str
    start: str = ""


class Evals(NamedTuple):
    """Material for a first suite.

    `text` is the suite, and `file` its name; without a text, `evalc import` makes it of `source`, unless `folders` have
    it as it is. `instead` is the line by which it is used if something else comes first, `judge` the line of the judge
    that it needs, and `agents` the line that names agents if none was found, an empty line, and their tables.
    """

    what: str
    source: str
    instead: str
    file: str = ""
    text: str = ""
    judge: str = ""
    folders: Sequence[str] = ()
    agents: str = ""


class Found(NamedTuple):
    """Everything that was found, the likeliest first."""

    agents: Sequence[Agent] = ()
    evals: Sequence[Evals] = ()


def found_in(folder: Path) -> Found:
    """Look through a folder, within limits. Links are not followed, and files that cannot be read are skipped."""
    files = dict(_files(folder))
    documents = {path: _documents(path, text) for path, text in files.items() if _is_yaml(path)}
    models = {path: [*_models(path, nodes)] for path, nodes in documents.items()}
    evals = [*_promptfoo(documents, models, files), *_prompts(documents), *_skills(files)]
    agents = [*_in_python(files), *(agent for named in models.values() for agent in named)]
    return Found(agents, [each for _, each in sorted(evals)])


# --- files -----------------------------------------------------------------------------------------------------------

_LARGEST: Final = 1_000_000
_MOST_FILES: Final = 2_000
_MOST_BYTES: Final = 20_000_000
_MOST_ENTRIES: Final = 50_000

_SKIPPED: Final = frozenset(
    {"build", "dist", "env", "node_modules", "site-packages", "test", "tests", "venv", "__pycache__"}
)
_SEEN: Final = (".agents", ".claude")
"""The hidden folders that have skills."""

_OF_PROMPTFOO: Final = re.compile(r"promptfooconfig\.(?:ya?ml|json)")
_OF_PROMPTS: Final = re.compile(r"(?s)(?=.*^id\s*:)(?=.*^prompt\s*:)", re.MULTILINE)
_SKILL: Final = "SKILL.md"
_EVALS_OF_SKILL: Final = "evals.json"


def _files(folder: Path) -> Iterator[tuple[str, str]]:
    """The files that may be of use, by their paths below the folder, those in shallow folders first."""
    waiting, entries, files, size = deque([folder]), 0, 0, 0
    while waiting and entries < _MOST_ENTRIES:
        try:
            with os.scandir(waiting.popleft()) as listing:
                inside = sorted(islice(listing, _MOST_ENTRIES - entries), key=lambda entry: entry.name)
        except OSError:
            continue
        entries += len(inside)
        if any(entry.name == "pyvenv.cfg" for entry in inside):
            continue
        for entry in inside:
            with suppress(OSError, ValueError):
                if entry.is_dir(follow_symlinks=False):
                    if entry.name in _SEEN or not (entry.name in _SKIPPED or entry.name.startswith(".")):
                        waiting.append(Path(entry.path))
                elif entry.is_file(follow_symlinks=False) and _may_be_of_use(entry.name):
                    if files == _MOST_FILES or size >= _MOST_BYTES:
                        return
                    text = read_limited(Path(entry.path), _LARGEST).decode()
                    files, size = files + 1, size + len(text)
                    path = Path(entry.path).relative_to(folder).as_posix()
                    path.encode()  # a name that is no text cannot be written
                    yield path, text


def _may_be_of_use(name: str) -> bool:
    if name.endswith(".py"):
        return not name.startswith(("test_", "conftest.")) and not name.endswith("_test.py")
    return name in {_SKILL, _EVALS_OF_SKILL} or _is_yaml(name)


def _is_yaml(path: str) -> bool:
    return path.endswith((".yaml", ".yml")) or _OF_PROMPTFOO.fullmatch(_name(path)) is not None


def _name(path: str) -> str:
    return path.rpartition("/")[2]


def _documents(path: str, text: str) -> Sequence[Node | None]:
    if _OF_PROMPTFOO.fullmatch(_name(path)) or _OF_PROMPTS.match(text):
        return read_yaml(Source(path, text))
    return ()


# --- evals -----------------------------------------------------------------------------------------------------------

_Ranked = tuple[tuple[int, int, str], Evals]
_ASKS_A_JUDGE: Final = re.compile(r"\b(?:llm-rubric|g-eval|model-graded|factuality|answer-relevance)\b")
_MODEL: Final = re.compile(r"(openai|anthropic):(?:(?:chat|responses|messages):)?([\w.\-/]+)")
_STANDARD_JUDGE: Final = 'agent = "openai:gpt-4o-mini"'


def _ranked(rank: int, path: str, evals: Evals) -> _Ranked:
    return (rank, path.count("/"), path), evals


def _promptfoo(
    documents: Mapping[str, Sequence[Node | None]], models: Mapping[str, Sequence[Agent]], files: Mapping[str, str]
) -> Iterator[_Ranked]:
    for path, nodes in documents.items():
        if _OF_PROMPTFOO.fullmatch(_name(path)) and any(map(is_of_promptfoo, nodes)):
            agent = models[path][0].line if models[path] else _STANDARD_JUDGE
            judge = agent.replace("agent", "judge", 1) if _ASKS_A_JUDGE.search(files[path]) else ""
            what = f"{path}, a configuration of promptfoo"
            yield _ranked(0, path, Evals(what, path, f"evalc import {quote(path)} -o evals/", judge=judge))


def _models(path: str, nodes: Sequence[Node | None]) -> Iterator[Agent]:
    """The models that a configuration of promptfoo names."""
    config = to_plain(nodes[0]) if _OF_PROMPTFOO.fullmatch(_name(path)) and nodes else None
    given = (config.get("providers") or config.get("targets")) if isinstance(config, dict) else None
    for each in given if isinstance(given, list) else [given]:
        named = each.get("id") if isinstance(each, dict) else each
        if isinstance(named, str) and (model := _MODEL.fullmatch(named)) is not None:
            spec = f"{model[1]}:{model[2]}"
            yield Agent(f"the model `{spec}` in {path}", _setting(spec))


def _prompts(documents: Mapping[str, Sequence[Node | None]]) -> Iterator[_Ranked]:
    """Prompts of PromptOS that have no evals yet."""
    for path, nodes in documents.items():
        for node in nodes:
            if node is None or kind_of_document(node) is not Kind.PROMPT or has_evals(node):
                continue
            prompt = to_plain(node)
            if not isinstance(prompt_id := prompt["id"], str) or not slug(prompt_id):
                continue
            what = f"the prompt `{prompt_id}` in {path}"
            if has_examples(node):
                yield _ranked(1, path, Evals(f"{what}, with examples", path, f"evalc import {quote(path)} -o evals/"))
                continue
            suite, file = _suite_of_prompt(prompt), f"{slug(prompt_id)}.cases.yaml"
            yield _ranked(3, path, Evals(what, path, f"prompt_id: {_text(prompt_id)}", file, suite))


def _suite_of_prompt(prompt: Mapping[str, Any]) -> str:
    declared = prompt.get("inputs")
    named = [each for each in declared if isinstance(each, dict)] if isinstance(declared, list) else []
    needed = [each for each in named if each.get("required", True) is True and "default" not in each]
    inputs = {each["name"]: f"(an example of {each['name']})" for each in needed if isinstance(each.get("name"), str)}
    case = {"name": "first_answer", **({"inputs": inputs} if inputs else {}), "validate": ["non-empty"]}
    head = _head("Say what the prompt is filled with, and what has to be in the answers.")
    return write_yaml({"prompt_id": prompt["id"], "test_cases": [case]}, head=head)


def _skills(files: Mapping[str, str]) -> Iterator[_Ranked]:
    """The skills; those that have evals go together, since these are eval files as they stand."""
    ready: dict[str, str] = {}
    for path, text in files.items():
        front = re.match(r"---\r?\n(.*?)\r?\n---", text, re.DOTALL) if _name(path) == _SKILL else None
        skill = next(map(to_plain, read_yaml(Source(path, front[1]))), None) if front else None
        if not isinstance(skill, dict) or not isinstance(name := skill.get("name"), str) or not slug(name):
            continue
        folder = PurePosixPath(path).parent
        if count := _evals_of_skill(files.get((folder / "evals" / _EVALS_OF_SKILL).as_posix(), "")):
            ready[path] = f"the skill `{name}` in {path}, with {counted(count, 'eval')}"
            continue
        suite = _suite_of_skill(name, skill.get("description"), folder)
        file, instead = f"{slug(name)}.eval.yaml", f"evalc init {quote(str(folder))}"
        what = f"the skill `{name}` in {path}"
        yield _ranked(4, path, Evals(what, path, instead, file, suite, agents=_WITH_AND_WITHOUT))
    if ready:
        first, *others = sorted(ready, key=lambda path: (path.count("/"), path))
        what = f"{ready[first]}; and {counted(len(others), 'other')} with evals" if others else ready[first]
        folders = tuple((PurePosixPath(path).parent / "evals").as_posix() for path in (first, *others))
        judge, agents = 'judge = "anthropic:claude-haiku-4-5"', _WITH_AND_WITHOUT
        instead = f"evalc run {quote(folders[0])}"
        yield _ranked(2, first, Evals(what, first, instead, judge=judge, folders=folders, agents=agents))


_WITH_AND_WITHOUT: Final = """\
agent = ["with-skill", "without-skill"]
timeout = "10m"

# A coding agent, once with the skill that a case is about, once with none; or "codex", or "command:...".
[agents.with-skill]
use = "claude-code"

[agents.without-skill]
use = "claude-code"
skills = []"""


def _evals_of_skill(text: str) -> int:
    """How many evals a file has, if it is what evalc takes as it stands."""
    data: Any = None
    with suppress(msgspec.DecodeError, RecursionError):
        data = msgspec.json.decode(text)
    if not is_of_skills(data):
        return 0
    return len(data if isinstance(data, list) else data.get("evals") or ())


def _suite_of_skill(name: str, description: object, folder: PurePosixPath) -> str:
    about = {"description": description} if isinstance(description, str) and description.strip() else {}
    message = escaped(f"What can you do with the skill `{name}`?")
    case = {
        "name": "first_answer",
        "message": message,
        "skill": str(PurePosixPath("..") / folder),
        "validate": ["non-empty"],
    }
    head = _head("Ask what a user of the skill asks.")
    return write_yaml({"suite": slug(name), **about, "eval": {"test_cases": [case]}}, head=head)


FIRST_SUITE: Final = "first.eval.yaml"


def first_suite(agent: Agent) -> str:
    """A suite for an agent of which nothing else is known."""
    message = "Hello! What can you help me with?"
    checks = ["non-empty", "no tool errors", "latency <= 30s"]
    case = {"name": "first_answer", "message": message, "validate": checks}
    head = _head(
        f"The first suite for {agent.what}.", "Ask what your users ask, and say what has to be in the answers:"
    )
    more = ('  - contains "Tokyo"', "  - tools called [search]")
    return write_yaml({"suite": "first", "eval": {"test_cases": [case]}}, head=(*head, *more))


def _head(*lines: str) -> tuple[str, ...]:
    return ("yaml-language-server: $schema=../.evalc/schema/language.json", *lines)


# --- agents in Python ------------------------------------------------------------------------------------------------

TITLES: Final[Mapping[str, str]] = {
    "agent_framework": "Microsoft Agent Framework",
    "agents": "OpenAI Agents SDK",
    "agno": "Agno",
    "crewai": "CrewAI",
    "google.adk": "Google ADK",
    "langchain": "LangChain",
    "langchain_core": "LangChain",
    "langgraph": "LangGraph",
    "llama_index": "LlamaIndex",
    "pydantic_ai": "Pydantic AI",
    "smolagents": "smolagents",
    "strands": "Strands Agents",
}
"""The frameworks, by the packages from which their agents are imported."""

_MAKES_AGENTS: Final = re.compile(r"\w*(?:Agent|AgentWorkflow|Crew|Team)|create_(?:\w+_)?agent")
_MAIN: Final = re.compile(r"(?:root_|main_|triage_)?agent|assistant|bot|crew|graph|orchestrator|supervisor|triage")
_ANSWERS: Final = re.compile(
    r"(?:(?:run|call|ask|query|invoke)_)?(?:agent|assistant|bot|chatbot)|answer(?:_question)?|ask|chat|reply|respond"
    r"|(?:get|generate|make)_(?:answer|reply|response)|(?:handle|process)_message"
)
_MAY_HOLD: Final = re.compile(rf"uvicorn|fastapi|{'|'.join(map(re.escape, TITLES))}|def (?:{_ANSWERS.pattern})\b")
_MESSAGES: Final = ("message", "messages", "prompt", "question", "query", "user_message", "user_input", "input", "text")
_REPLIES: Final = ("response", "answer", "reply", "output", "message", "content", "text", "result")
_PORT: Final = 8000
_Function = ast.FunctionDef | ast.AsyncFunctionDef
_Rank = tuple[int, int, int, str, int]


class _Module:
    """A file of Python: what it imports, and its statements."""

    def __init__(self, path: str, tree: ast.Module, files: Container[str]) -> None:
        self.path = path
        self.tree = tree
        self.imported = {name: origin for name, origin in _imports(tree) if not _is_own(origin, files)}
        self.graphs = {name for name, call in _called(ast.walk(tree)) if self.origin(call).startswith("langgraph.")}
        self.dotted = path.removesuffix(".py").replace("/", ".")
        is_in_package = (PurePosixPath(path).parent / "__init__.py").as_posix() in files
        self.target = self.dotted if is_in_package and self.dotted.replace(".", "_").isidentifier() else path

    def origin(self, node: ast.AST) -> str:
        """The full name of what is called or named, as far as imports say."""
        names: list[str] = []
        while isinstance(node, ast.Call | ast.Subscript | ast.Attribute):
            names += [node.attr] if isinstance(node, ast.Attribute) else []
            node = node.func if isinstance(node, ast.Call) else node.value
        top = self.imported.get(node.id) if isinstance(node, ast.Name) else None
        return ".".join((top, *reversed(names))) if top else ""


def _imports(tree: ast.Module) -> Iterator[tuple[str, str]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for each in node.names:
                top = each.name.partition(".")[0]
                yield (each.asname, each.name) if each.asname else (top, top)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield from ((each.asname or each.name, f"{node.module}.{each.name}") for each in node.names)


def _is_own(origin: str, files: Container[str]) -> bool:
    """Whether a name is imported from a module of the project, which may be called as a framework is."""
    top = origin.partition(".")[0]
    return f"{top}.py" in files or f"{top}/__init__.py" in files


def _in_python(files: Mapping[str, str]) -> list[Agent]:
    modules = []
    for path, text in files.items():
        if path.endswith(".py") and _MAY_HOLD.search(text) and (tree := _parsed(text)) is not None:
            modules.append(_Module(path, tree, files))
    ranked = [each for module in modules for each in (*_objects(module), *_functions(module))]
    return [agent for _, agent in sorted([*ranked, *_served(modules)], key=itemgetter(0))]


def _parsed(text: str) -> ast.Module | None:
    with warnings.catch_warnings(), suppress(SyntaxError, ValueError, RecursionError, MemoryError):
        warnings.simplefilter("ignore")
        return ast.parse(text)
    return None


def _rank(kind: int, doubt: int, module: _Module, node: ast.AST) -> _Rank:
    return kind, doubt, module.path.count("/"), module.path, getattr(node, "lineno", 0)


def _python(module: _Module, name: str, of: str = "") -> Agent:
    said = f"`{name}` in {module.path}" + (f" ({of})" if of else "")
    return Agent(said, _setting(f"python:{module.target}:{name}"))


def _setting(spec: str) -> str:
    return f"agent = {_text(spec)}"


def _text(text: str) -> str:
    """A text in TOML."""
    return msgspec.json.encode(text).decode()


def _objects(module: _Module) -> Iterator[tuple[_Rank, Agent]]:
    """The objects of frameworks, and the functions that make one; those that are given to another come last."""
    found = dict(_made(module, module.tree.body))
    parts = {each.id for _, value in found.values() for each in ast.walk(value) if isinstance(each, ast.Name)}
    for name, (title, value) in found.items():
        doubt = 2 if name in parts else 0 if _MAIN.fullmatch(name) else 1
        yield _rank(0, doubt, module, value), _python(module, name, title)
    for function in module.tree.body:
        if isinstance(function, _Function) and not _parameters(function) and not function.name.startswith("_"):
            made = dict(_made(module, function.body))
            for each in ast.walk(function):
                made_of = _title(module, each.value, made) if isinstance(each, ast.Return) else None
                if made_of is not None:
                    yield _rank(1, 0, module, function), _python(module, function.name, f"makes an agent of {made_of}")
                    break


def _title(module: _Module, value: ast.expr | None, made: Mapping[str, tuple[str, ast.Call]]) -> str | None:
    """The framework of a value, if it is an agent."""
    if isinstance(value, ast.Name) and value.id in made:
        return made[value.id][0]
    return _framework(module, value) if isinstance(value, ast.Call) else None


def _made(module: _Module, body: Iterable[ast.stmt]) -> Iterator[tuple[str, tuple[str, ast.Call]]]:
    """The names to which agents of frameworks are assigned, with the framework and the call."""
    for name, call in _called(body):
        if (title := _framework(module, call)) is not None:
            yield name, (title, call)


def _called(nodes: Iterable[ast.AST]) -> Iterator[tuple[str, ast.Call]]:
    """The names that are assigned what a call returns, with the call."""
    for node in nodes:
        value = node.value if isinstance(node, ast.Assign | ast.AnnAssign) else None
        target = node.targets[0] if isinstance(node, ast.Assign) else getattr(node, "target", None)
        if isinstance(value, ast.Call) and isinstance(target, ast.Name):
            yield target.id, value


def _framework(module: _Module, call: ast.Call) -> str | None:
    """The framework whose agent a call makes: by a class or function of it, or by compiling a graph."""
    origin = module.origin(call)
    parts = origin.split(".")
    if isinstance(call.func, ast.Attribute) and call.func.attr == "compile":
        root: ast.AST = call.func
        while isinstance(root, ast.Attribute | ast.Call):
            root = root.value if isinstance(root, ast.Attribute) else root.func
        is_graph = isinstance(root, ast.Name) and (root.id in module.graphs or origin.startswith("langgraph."))
        return TITLES["langgraph"] if is_graph else None
    title = TITLES.get(parts[0]) or TITLES.get(".".join(parts[:2]))
    return title if _MAKES_AGENTS.fullmatch(parts[-1]) else None


def _functions(module: _Module) -> Iterator[tuple[_Rank, Agent]]:
    """The functions that by their names and parameters answer a message."""
    for node in module.tree.body:
        if not isinstance(node, _Function) or node.decorator_list or not _ANSWERS.fullmatch(node.name):
            continue
        match _parameters(node):
            case [ast.arg(arg=name, annotation=annotation)] if name in _MESSAGES and _is_plain(annotation, name):
                inside = [*ast.walk(node)]
                returns = any(isinstance(each, ast.Return) and each.value is not None for each in inside)
                if returns and not any(isinstance(each, ast.Yield | ast.YieldFrom) for each in inside):
                    yield _rank(2, 0, module, node), _python(module, node.name)


def _parameters(function: _Function) -> list[ast.arg]:
    """The parameters that have to be given."""
    arguments = function.args
    positional = [*arguments.posonlyargs, *arguments.args]
    named = zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
    required = positional[: len(positional) - len(arguments.defaults)]
    return [*required, *(each for each, default in named if default is None)]


def _is_plain(annotation: ast.expr | None, name: str) -> bool:
    if annotation is None or name == "messages":
        return True
    return isinstance(annotation, ast.Name | ast.Constant) and ast.unparse(annotation).strip("'\"") == "str"


def _served(modules: Sequence[_Module]) -> Iterator[tuple[_Rank, Agent]]:
    """The routes of FastAPI that take a message, those whose form is known first."""
    apps = [
        (module, name)
        for module in modules
        for name, call in _called(module.tree.body)
        if _of_fastapi(module, call) == "FastAPI"
    ]
    if not apps:
        return
    port = next((port for module in modules if (port := _port(module))), _PORT)
    for module in modules:
        prefixes = _prefixes(module)
        for node in module.tree.body:
            if not isinstance(node, _Function):
                continue
            for path in _posted(node, prefixes):
                home, app = next((each for each in apps if each[0] is module), apps[0])
                body, reply = _body(node, module), _reply(node, module)
                asked = (
                    ""
                    if body in {None, "message"}
                    else f', body = {{ {body} = "{_PLACEHOLDERS.get(body, _MESSAGE)}" }}'
                )
                said = "" if reply in {None, "response", "text"} else f', response = {{ response = "{reply}" }}'
                url = _text(f"http://127.0.0.1:{port}{path}")
                line = f"agent = {{ use = {url}{asked}{said} }}" if asked or said else f"agent = {url}"
                start = f"uvicorn {home.dotted}:{app} --port {port}"
                what = f"`POST {path}` in {module.path} (FastAPI)"
                yield _rank(3, body is None, module, node), Agent(what, line, start)


_MESSAGE: Final = "{{message}}"
_PLACEHOLDERS: Final[Mapping[str | None, str]] = {"messages": "{{messages}}"}


def _prefixes(module: _Module) -> dict[str, str]:
    """The apps and routers of a file by name, with the beginnings of their paths."""
    return {
        name: next((_constant(each.value) for each in call.keywords if each.arg == "prefix"), "")
        for name, call in _called(module.tree.body)
        if _of_fastapi(module, call) in {"FastAPI", "APIRouter"}
    }


def _of_fastapi(module: _Module, call: ast.Call) -> str:
    origin = module.origin(call)
    return origin.rpartition(".")[2] if origin.startswith("fastapi.") else ""


def _posted(function: _Function, prefixes: Mapping[str, str]) -> Iterator[str]:
    for each in function.decorator_list:
        if not isinstance(each, ast.Call) or not isinstance(each.func, ast.Attribute) or each.func.attr != "post":
            continue
        owner, path = each.func.value, _constant(each.args[0]) if each.args else ""
        if isinstance(owner, ast.Name) and owner.id in prefixes and path.startswith("/") and "{" not in path:
            yield prefixes[owner.id] + path


def _constant(node: ast.expr) -> str:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


def _port(module: _Module) -> int:
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Call) and module.origin(node) == "uvicorn.run":
            for each in node.keywords:
                if each.arg == "port" and isinstance(each.value, ast.Constant) and type(each.value.value) is int:
                    return each.value.value
    return 0


def _fields(module: _Module, name: ast.expr | None) -> Iterator[str]:
    """The fields that a class of the file declares."""
    for each in module.tree.body:
        if isinstance(name, ast.Name) and isinstance(each, ast.ClassDef) and each.name == name.id:
            fields = (field.target for field in each.body if isinstance(field, ast.AnnAssign))
            yield from (field.id for field in fields if isinstance(field, ast.Name))


def _body(function: _Function, module: _Module) -> str | None:
    """The field of the request that has the message."""
    fields = {field for each in function.args.args for field in _fields(module, each.annotation)}
    fields |= {_constant(each.slice) for each in ast.walk(function) if isinstance(each, ast.Subscript)}
    return next((each for each in _MESSAGES if each in fields), None)


def _reply(function: _Function, module: _Module) -> str | None:
    """The field of the answer that has its text."""
    models = [function.returns]
    for each in function.decorator_list:
        models += [keyword.value for keyword in getattr(each, "keywords", ()) if keyword.arg == "response_model"]
    fields = {field for model in models for field in _fields(module, model)}
    for node in ast.walk(function):
        if isinstance(node, ast.Return) and isinstance(node.value, ast.Dict):
            fields |= {_constant(key) for key in node.value.keys if key is not None}
    return next((each for each in _REPLIES if each in fields), None)
