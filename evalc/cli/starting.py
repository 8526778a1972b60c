"""From the flags of `evalc run` to what is run: what they say, or what those of the run that is resumed said."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, final

from evalc.cli.flags import paths_to_look_at, sound_settings_from
from evalc.cli.printing import shown_path
from evalc.errors import UsageError

if TYPE_CHECKING:
    from evalc.config import Settings
    from evalc.runtime.resume import PastRun
    from evalc.runtime.select import Wanted

_NOT_KEPT: Final = frozenset({"output_dir", "otel", "snapshot"})
"""The flags that a resumed run does not take from its journal: where it is found says the folder of results, the
journal itself has the snapshot, and no journal decides who is sent the results."""


_HARMLESS: Final = frozenset({"demo", "openai", "anthropic"})
"""The kinds of agents that run no code of this machine; a URL is none of them, as it is sent configured headers."""


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """What a command line says of a run.

    `flags` are by their names in Python; None and False are not given. `wanted` is what it says of the cases, as the
    attributes of a `Wanted`.
    """

    flags: Mapping[str, Any]
    paths: Sequence[str] = ()
    config: str | None = None
    prompt_id: str | None = None
    record: str | None = None
    env_file: str | None = None
    wanted: Mapping[str, Any] = field(default_factory=dict)

    def kept(self) -> dict[str, Any]:
        """What of it the journal keeps for the one that resumes the run, so that its id is all that has to be said."""
        said = {name: value for name, value in self.flags.items() if value not in (None, False)}
        said |= {
            "config": self.config,
            "prompt_id": self.prompt_id,
            "record": self.record,
            "env_file": self.env_file,
            "wanted": self.wanted or None,
        }
        return {name: value for name, value in said.items() if value is not None and name not in _NOT_KEPT}

    def settings(self) -> Settings:
        """The settings of the run.

        Raises:
            SourceError: the configuration has errors.
        """
        return sound_settings_from(self.config, **self.flags)

    def of_cases(self) -> Wanted:
        """What is wanted of the cases."""
        import msgspec  # noqa: PLC0415 - for start-up: `--help` runs nothing

        from evalc.runtime.select import Wanted  # noqa: PLC0415 - for start-up: `--help` runs nothing

        return msgspec.convert(self.wanted, Wanted)

    def pinned(self, settings: Settings) -> Given:
        """The same, with the run and the commit that it means by names which stay.

        Raises:
            UsageError: there is no such run or commit.
        """
        import msgspec  # noqa: PLC0415 - for start-up: `--help` runs nothing

        from evalc.setup_choice import pinned  # noqa: PLC0415 - for start-up: `--help` runs nothing

        return replace(self, wanted=msgspec.to_builtins(pinned(self.of_cases(), settings)))

    def looked_at(self, settings: Settings) -> Sequence[str]:
        """The paths of what is run."""
        paths = paths_to_look_at(self.paths, settings)
        if not self.paths and self.prompt_id is not None and settings.prompts is not None:
            return (*paths, str(settings.prompts))  # where the prompt's own evals stand
        return paths


def resumed(given: Given, past: PastRun, *, ours: bool) -> Given:
    """What the run was begun with, and over it what is given now.

    Args:
        given: what is given now.
        past: the run.
        ours: whether it lies among the project's own runs. The journal of any other may come from anyone: it may not
            say what code is run, who is sent credentials, and which files are read or written.

    Raises:
        UsageError: something has to be given again.
    """
    if past.header is None:
        if not given.paths:
            raise UsageError(
                f"the journal of the run `{past.run_id}` holds nothing yet: name what to run, "
                f"as in `evalc run PATH --resume {past.run_id}`"
            )
        return given
    if given.wanted:
        raise UsageError("`--resume` runs the cases that the run was begun with: leave out what chooses others")
    said = {name: value for name, value in past.header.flags.items() if name not in _NOT_KEPT}
    now = {name: value for name, value in given.flags.items() if value not in (None, False)}
    if said.get("agent", "") is None and "agent" not in now:
        raise UsageError("the value of `--agent` is not in the journal, since it may hold secrets: give it again")
    if not ours:
        _refuse_what_a_stranger_may_say(given, said, now)
    origins = dict.fromkeys("-" if suite.origin == "<stdin>" else suite.origin for suite in past.header.suites)
    config, prompt_id, record, env_file, wanted = (
        said.pop(name, None) for name in ("config", "prompt_id", "record", "env_file", "wanted")
    )
    return Given(
        flags={name: now.get(name, said.get(name)) for name in given.flags},
        paths=given.paths or tuple(origins),
        config=given.config or config,
        prompt_id=given.prompt_id or prompt_id,
        record=given.record or record,
        env_file=given.env_file or env_file,
        wanted=wanted or {},
    )


def _refuse_what_a_stranger_may_say(given: Given, said: Mapping[str, Any], now: Mapping[str, Any]) -> None:
    missing = [
        f"`{flag}`"
        for flag, wanted in (
            ("--agent", "agent" not in now and not _is_harmless(said.get("agent"))),
            ("--judge", "judge" not in now and not _is_harmless(said.get("judge"))),
            ("--config", given.config is None and said.get("config") is not None),
            ("--env-file", given.env_file is None and said.get("env_file") is not None),
            ("--record", given.record is None and said.get("record") is not None),
        )
        if wanted
    ]
    if missing:
        raise UsageError(
            "the run does not lie among the project's own, so its journal does not decide what is run, read or "
            f"written: give {', '.join(missing)} again"
        )


def _is_harmless(specs: object) -> bool:
    """Whether anyone may name these agents or judges."""
    listed = specs if isinstance(specs, list) else [] if specs is None else [specs]
    return all(str(spec).strip().lower().partition(":")[0] in _HARMLESS for spec in listed)


def how_to_resume(given: Given, folder: Path) -> str:
    """The command that goes on with a run that was interrupted, where its id is found."""
    where = (("--config", given.config), ("--output-dir", given.flags.get("output_dir")))
    said = (word for flag, value in where if value for word in (flag, shown_path(Path(value))))
    return shlex.join(["evalc", "run", "--resume", folder.name, *said])
