"""Foundations of all rooms: exceptions, sources, files, terminals, and the names that packages offer."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def collector_off() -> Iterator[None]:
    """Leave the collector out while modules are imported or files compiled: what it would look through is needed."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            if gc.get_freeze_count() == 0:
                # What was made counts as old from now on. As young, all of it would be looked through at once.
                gc.freeze()
                gc.unfreeze()
            gc.enable()
