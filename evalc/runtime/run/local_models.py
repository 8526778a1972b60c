"""Loads the local models of a run before it begins, and ends them with it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from typing import Protocol, runtime_checkable

from evalc.base.errors import AgentUnavailable, UsageError
from evalc.runtime.agents import Agent
from evalc.runtime.judges.panel import Panel


@runtime_checkable
class LoadObserver(Protocol):
    """Hears that a run waits for models."""

    def loading(self, name: str, size: int) -> None:
        """A model of so many bytes is being loaded."""
        ...


class ModelServer(ABC):
    """The server of a model on this machine, as the `local_server` of an agent or a judge.

    A base class, since agents and judges of other kinds may be anybody's code, with anything by that name.
    """

    name: str  # the model's name
    size: int  # the model's size in bytes

    @abstractmethod
    async def url(self) -> str:
        """Where it answers; it is started if it has not been.

        Raises:
            AgentUnavailable: it could not be started, or has ended since.
        """

    @abstractmethod
    def close(self) -> None:
        """End it."""


@asynccontextmanager
async def local_models(agents: Sequence[Agent], panel: Panel | None, observer: object) -> AsyncIterator[None]:
    """Load the local models of a run; they end with the block.

    Raises:
        UsageError: one cannot be loaded, so that nothing can be run.
    """
    servers = tuple(dict.fromkeys(_servers(agents, panel)))
    try:
        for server in servers:
            if isinstance(observer, LoadObserver):
                observer.loading(server.name, server.size)
            try:
                await server.url()
            except AgentUnavailable as error:
                raise UsageError(str(error)) from None
        yield
    finally:
        for server in servers:
            server.close()


def _servers(agents: Sequence[Agent], panel: Panel | None) -> Iterator[ModelServer]:
    judges = () if panel is None else (seat.judge for seat in panel.seats)
    for each in (*agents, *judges):
        if isinstance(server := getattr(each, "local_server", None), ModelServer):
            yield server
