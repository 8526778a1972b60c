"""Makes the agents that installed packages offer as `NAME:ARGUMENT`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NoReturn

from evalc.base import installed
from evalc.base.errors import UsageError
from evalc.base.guard import said_by
from evalc.runtime.agents.base import Agent
from evalc.runtime.mapping import or_rather


def installed_agent(name: str, argument: str) -> Agent | None:
    """The agent that a package makes; None if none offers one of this name.

    Raises:
        UsageError: when the package cannot be loaded, makes no agent, or refuses the argument.
    """
    if name not in installed.names("evalc.agents"):
        return None
    try:
        factory = installed.load("evalc.agents", name)
    except UsageError:
        raise
    except Exception as error:
        raise UsageError(f"the package of the agent `{name}` cannot be imported: {said_by(error)}") from error
    if not callable(factory):
        raise UsageError(f"the package of the agent `{name}` offers no function but a `{type(factory).__name__}`")
    try:
        agent: object = factory(argument)
    except UsageError:
        raise
    except Exception as error:
        raise UsageError(f"the agent `{name}` cannot be made: {said_by(error)}") from error
    return _checked(name, agent)


def unknown_agent(name: str, forms: Sequence[str]) -> NoReturn:
    """Say that this kind of agent is unknown; `forms` are the known specs.

    Raises:
        UsageError: always.
    """
    offered = installed.names("evalc.agents")
    packages = f", or of an installed package: {', '.join(f'`{offer}:...`' for offer in offered)}" if offered else ""
    near = or_rather(name, (*dict.fromkeys(form.partition(":")[0] for form in forms), *offered))
    listed = ", ".join(f"`{form}`" for form in forms)
    raise UsageError(f"`{name}` names no kind of agent{near}; an agent is one of {listed}{packages}")


def _checked(name: str, agent: object) -> Agent:
    """The agent, known to have what an agent has; what these give is known when they are called."""
    endpoint = getattr(agent, "endpoint", None)
    if not isinstance(endpoint, str) or not callable(getattr(agent, "session", None)):
        kind = type(agent).__name__
        raise UsageError(f"the agent `{name}` is a `{kind}`, which has not the `endpoint` and `session` of an agent")
    return agent  # type: ignore[return-value]
