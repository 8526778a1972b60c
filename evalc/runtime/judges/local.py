"""The judge `local[:GGUF]`: a model on this machine."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager
from typing import Any, final

import msgspec

from evalc.runtime.agents.local import LocalAgent
from evalc.runtime.agents.model.options import ModelOptions, Sampling
from evalc.runtime.judges.base import JudgeSession
from evalc.runtime.judges.model import ModelJudge
from evalc.runtime.local_model.server import LocalServer


@final
class LocalJudge:
    """A model on this machine, asked as any model is."""

    def __init__(self, server: LocalServer, *, sampling: Sampling) -> None:
        self.local_server = server
        file = server.model.stat()
        self._judge = ModelJudge(
            LocalAgent(server, options=ModelOptions(sampling=sampling)),
            identity={"file": [file.st_size, file.st_mtime_ns], "sampling": msgspec.to_builtins(sampling)},
        )

    @property
    def name(self) -> str:
        """`local:` and the model's name."""
        return self._judge.name

    @property
    def identity(self) -> Mapping[str, Any]:
        """The model's name, its file as it is now, and how it is asked."""
        return self._judge.identity

    def session(self) -> AbstractAsyncContextManager[JudgeSession]:
        """Open it; the model is loaded where it is not yet."""
        return self._judge.session()
