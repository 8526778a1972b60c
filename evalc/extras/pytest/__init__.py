"""The pytest plugin: `pytest --evalc-agent SPEC` runs a test for each case of every eval file.

Every run of pytest loads this module, whether or not it has evals. So it imports only what pytest has, and does
nothing until it is asked for.
"""

from __future__ import annotations

import os
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest

if TYPE_CHECKING:
    from evalc.extras.pytest.session import EvalFile, EvalSession

_SUFFIXES: Final = (".yaml", ".yml", ".json")
_SESSION: Final[pytest.StashKey[EvalSession]] = pytest.StashKey()


def pytest_addoption(parser: pytest.Parser) -> None:
    """The options, each with an ini setting of the same meaning."""
    group = parser.getgroup("evalc", "evals of LLM agents, a test a case (evalc)")
    group.addoption("--evalc-agent", metavar="SPEC", help="Collect eval files, and run their cases against this agent.")
    group.addoption("--evalc-config", metavar="FILE", help="The configuration of evalc; else the nearest one upwards.")
    group.addoption(
        "--evalc-strict",
        action="store_true",
        default=None,
        help="Fail cases that verified nothing; checks that cannot fail are errors.",
    )
    group.addoption("--evalc-output-dir", metavar="DIR", help="Write results there, as `evalc run` does.")
    parser.addini("evalc", "Collect eval files, with the agent of the configuration.", type="bool", default=False)
    parser.addini("evalc_agent", "As --evalc-agent.")
    parser.addini("evalc_config", "As --evalc-config; relative to the rootdir.")
    parser.addini("evalc_strict", "As --evalc-strict.", type="bool", default=False)
    parser.addini("evalc_output_dir", "As --evalc-output-dir; relative to the rootdir.")
    parser.addini(
        "evalc_files", "Names of files that may hold evals; default: those that `evalc run` reads.", type="args"
    )


def pytest_configure(config: pytest.Config) -> None:
    """Begin, where evals are asked for."""
    config.addinivalue_line("markers", "evalc: a case of an eval file.")
    agent = config.getoption("evalc_agent") or config.getini("evalc_agent")
    if not agent and not config.getini("evalc"):
        return
    from evalc.extras.pytest.session import EvalSession  # noqa: PLC0415 - for start-up: most runs have no evals

    strict = config.getoption("evalc_strict")
    config.stash[_SESSION] = EvalSession(
        agent=agent or None,
        config=_path(config, "evalc_config"),
        strict=bool(config.getini("evalc_strict") if strict is None else strict),
        output_dir=_path(config, "evalc_output_dir"),
        release_output=lambda: _release_output(config),
    )


def _path(config: pytest.Config, name: str) -> Path | None:
    """The path that an option or a setting names: from the working folder the one, from the rootdir the other."""
    if option := config.getoption(name):
        return Path(config.invocation_params.dir, option)
    setting = config.getini(name)
    return config.rootpath / setting if setting else None


def _release_output(config: pytest.Config) -> None:
    """Give standard output and error back for good: what comes next is the last word of the process."""
    capturing = config.pluginmanager.getplugin("capturemanager")
    if capturing is not None:
        capturing.suspend_global_capture(in_=True)


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> EvalFile | None:
    """An eval file, where evals are asked for."""
    session = parent.config.stash.get(_SESSION, None)
    if session is None or file_path.suffix.lower() not in _SUFFIXES:
        return None
    is_named = _is_named(file_path, parent.config)
    patterns = parent.config.getini("evalc_files")
    name = file_path.name.lower()
    if patterns and not is_named and not any(fnmatchcase(name, pattern.lower()) for pattern in patterns):
        return None
    from evalc.extras.pytest.session import EvalFile  # noqa: PLC0415 - as above

    return EvalFile.from_parent(parent, path=file_path, evals=session, is_named=is_named)


def _is_named(file: Path, config: pytest.Config) -> bool:
    """Whether the file is among the arguments of the session, and not only its folder."""
    named = (str(argument).partition("::")[0] for argument in config.args)
    return any(os.path.abspath(config.invocation_params.dir / name) == str(file) for name in named)  # noqa: PTH100 - follows no link, as pytest


@pytest.fixture(scope="session")
def evalc_agent(pytestconfig: pytest.Config) -> object:
    """The agent that cases run against: a spec such as `demo` or `http://localhost:3000/chat`, from the options.

    Override it in a `conftest.py` to give a spec, an agent with `endpoint` and `session`, a function of the message, or
    an object with `run`, `send`, `invoke` or `ainvoke`. None is the agent of evalc's configuration.
    """
    return pytestconfig.getoption("evalc_agent") or pytestconfig.getini("evalc_agent") or None


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Close the agents, and write the results."""
    evals = session.config.stash.get(_SESSION, None)
    if evals is not None:
        evals.finish()
        if (output := getattr(session.config, "workeroutput", None)) is not None:
            output["evalc"] = evals.notes


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Take over what a worker of xdist has to say."""
    evals = node.config.stash.get(_SESSION, None)
    if evals is not None:
        evals.notes += getattr(node, "workeroutput", {}).get("evalc", ())


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say where the results are, and what else there is to know."""
    evals = terminalreporter.config.stash.get(_SESSION, None)
    if evals is not None and evals.notes:
        from evalc.base.terminal import visible  # noqa: PLC0415 - as above

        terminalreporter.section("evalc")
        for note in dict.fromkeys(evals.notes):
            terminalreporter.write_line(visible(note))
