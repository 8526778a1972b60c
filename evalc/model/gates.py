"""What a suite or a run has to reach as a whole: gates as eval files, compiled files and configurations have them."""

from __future__ import annotations

import msgspec


class Gates(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True, rename="camel"):
    """What is asked of a suite as a whole. Where any is given, they decide in place of "no case failed".

    `min_pass_rate` is the least share of the cases that pass, `min_score` the least score, both from 0 to 1;
    `max_p95_ms` the time in milliseconds that 95 % of the cases keep to; `fail_on_regression` asks that no case fails
    which passed in the baseline. With `confidence`, above 0.5 and below 1, a gate holds or fails only where that is
    certain, and is undecided otherwise. `recall` and `precision` are the least of each class that has a label, by its
    name, and `macro_f1` the least mean of the classes' F1.
    """

    min_pass_rate: int | float | None = None
    min_score: int | float | None = None
    max_p95_ms: int | float | None = None
    fail_on_regression: bool | None = None
    confidence: int | float | None = None
    recall: dict[str, int | float] | None = None
    precision: dict[str, int | float] | None = None
    macro_f1: int | float | None = None

    def __bool__(self) -> bool:
        """Whether anything is asked."""
        limits = (self.min_pass_rate, self.min_score, self.max_p95_ms, self.macro_f1)
        by_class = self.recall or self.precision
        return bool(self.fail_on_regression or by_class) or any(limit is not None for limit in limits)
