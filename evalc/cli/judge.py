"""`evalc calibrate`: measures how far a judge agrees with people's labels."""

from __future__ import annotations

import asyncio
import os
import sys
from collections import Counter
from typing import TYPE_CHECKING, Annotated

import typer

from evalc.base.errors import JudgeError, UsageError
from evalc.base.terminal import Screen, counted, visible
from evalc.cli.ending import ExitCode
from evalc.cli.flags import sound_settings_from
from evalc.cli.options import Config, Json, Judge, JudgeSamples, NoJudgeCache
from evalc.cli.streams import print_error, print_warning
from evalc.cli.supervision import supervise

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evalc.cli.labels import Labelled
    from evalc.compare.corrected import Estimate
    from evalc.runtime.judges.calibrate import Calibration
    from evalc.runtime.judges.panel import Panel

_MOST_SHOWN = 20


def calibrate(
    labels: Annotated[
        str,
        typer.Argument(
            metavar="FILE",
            help="A CSV file with the columns response and label, and optionally case, message, question, criterion, "
            "reference and maxScore.",
        ),
    ],
    judge: Judge = None,
    judge_samples: JudgeSamples = None,
    no_judge_cache: NoJudgeCache = False,
    json: Json = False,
    config: Config = None,
) -> int:
    """Measure how well a judge agrees with human labels.

    The judge scores answers that people have labelled.

    \b
    Example:
      evalc calibrate labels.csv --judge openai:MODEL
    """
    # For start-up: `--help` judges nothing.
    from evalc.cli.labels import BadLabels, read_labels  # noqa: PLC0415
    from evalc.model.json import to_json  # noqa: PLC0415
    from evalc.setup.run import panel_of, redactor_of, runs_code_of_others  # noqa: PLC0415

    settings = sound_settings_from(
        config, judge=judge or None, judge_samples=judge_samples, no_judge_cache=no_judge_cache
    )
    try:
        rows = read_labels(labels)
    except BadLabels as bad:
        for fault in bad.faults:
            print_error(fault)
        return ExitCode.USAGE
    panel = panel_of(settings, os.environ, redactor_of(settings, os.environ))
    if panel is None:
        raise UsageError("no judge is named: use `--judge`, or `judge` in the configuration")
    if runs_code_of_others(settings):
        supervise(settings.judge.timeout_ms, lambda: "")
    found = asyncio.run(_calibrated(rows, panel))
    if json:
        sys.stdout.buffer.write(to_json(found) + b"\n")
    else:
        sys.stdout.writelines(f"{line}\n" for line in _lines(found))
    return ExitCode.AGENT if found.unjudged else ExitCode.OK


async def _calibrated(rows: Sequence[Labelled], panel: Panel) -> Calibration:
    import msgspec  # noqa: PLC0415 - for start-up, as are those that follow

    from evalc.model.answer import Exhibit  # noqa: PLC0415
    from evalc.report.progress import Progress  # noqa: PLC0415
    from evalc.runtime.judges.calibrate import LabelledAnswer, Unjudged, calibration_of  # noqa: PLC0415
    from evalc.runtime.judges.panel import JudgePool  # noqa: PLC0415
    from evalc.runtime.judges.panel_member import Meter  # noqa: PLC0415
    from evalc.runtime.run.local_models import local_models  # noqa: PLC0415
    from evalc.runtime.run.process_guard import exits_told, watched  # noqa: PLC0415
    from evalc.runtime.store.written import encoded, redacted  # noqa: PLC0415

    pairs: list[LabelledAnswer] = []
    unlabelled: list[float] = []
    unjudged: list[Unjudged] = []
    blocked: list[str] = []
    meter = Meter()
    with (
        exits_told(),
        watched(blocked),
        Progress(sys.stderr, Screen.of(sys.stderr, os.environ), drawn=sys.stderr.isatty()) as progress,
    ):
        async with local_models((), panel, progress), JudgePool(panel) as bench:
            for row in rows:
                _, shown = redacted(row.exhibit, encoded(row.exhibit), panel.redactor)
                try:
                    judged = await bench.score(row.question, msgspec.json.decode(shown, type=Exhibit), meter)
                except JudgeError as error:
                    unjudged.append(Unjudged(line=row.line, case=row.case, error=str(error)))
                    continue
                if row.label is None:
                    unlabelled.append(judged.score / judged.max_score)
                else:
                    pairs.append(
                        LabelledAnswer(
                            line=row.line,
                            case=row.case,
                            label=row.label,
                            score=judged.score,
                            max_score=judged.max_score,
                            reason=judged.reason,
                            length=len(row.exhibit.response),
                        )
                    )
    partly = [f"{fact}: {counted(n, 'answer')} scored by the others" for fact, n in Counter(meter.unscored).items()]
    for warning in (*blocked, *partly):
        print_warning(warning)
    return calibration_of(panel.names, pairs, unjudged, unlabelled)


def _lines(found: Calibration) -> Iterator[str]:
    yield f"{', '.join(map(visible, found.judges))} on {found.answers} labelled answers"
    yield f"  accuracy        {_share(found.accuracy)}"
    yield f"  kappa           {_share(found.kappa)}"
    yield f"  weighted kappa  {_share(found.weighted_kappa)}"
    if found.uncorrected is not None:
        yield f"  {found.unlabelled} answers without a label: mean score {found.uncorrected:.2f}{_corrected(found)}"
    if found.length_bias is not None:
        yield f"  {_length_bias(found.length_bias)}"
    if found.confusion:
        yield "  label  score  answers"
        yield from (f"  {each.label:>5g}  {each.score:>5g}  {each.count:>7}" for each in found.confusion)
    for pair in found.disagreements[:_MOST_SHOWN]:
        reason = f": {visible(pair.reason)}" if pair.reason else ""
        yield f"  line {pair.line}, {visible(pair.case)}: label {pair.label:g}, score {pair.score:g}{reason}"
    if (more := len(found.disagreements) - _MOST_SHOWN) > 0:
        yield f"  ... and {more} more disagreements: --json lists them all"
    yield from (f"  line {each.line}, {visible(each.case)}: no score: {visible(each.error)}" for each in found.unjudged)


def _corrected(found: Calibration) -> str:
    if found.corrected is None:
        return ", which too few labels correct"
    mean = found.corrected
    return f", corrected by the labels {mean.value:.2f} (95 % interval {mean.low:.2f} to {mean.high:.2f})"


def _length_bias(bias: Estimate) -> str:
    """What the correlation of score minus label with the answer's length says."""
    words = f"r = {bias.value:.2f}, 95 % interval {bias.low:.2f} to {bias.high:.2f}"
    if bias.low <= 0 <= bias.high:
        return f"no length bias is shown ({words})"
    return f"length bias: {'longer' if bias.value > 0 else 'shorter'} answers are scored too high ({words})"


def _share(value: float | None) -> str:
    return "unknown" if value is None else f"{value:.2f}"
